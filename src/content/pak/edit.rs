//! Edits: adding, replacing, removing and renaming files, many moves at once, compressing and storing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::entry::{self, LZMA, STORED};
use super::record::UTF8_NAME;
use super::write::{Content, Own};
use super::{Entry, Method, Node, Pak, Pattern};
use crate::bytes::{escaped, wide};
use crate::content::pak;
use crate::content::texture_names::Renaming;
use crate::file::lzma::{self, Level, MOST_DECOMPRESSED};
use crate::threads::{COMPRESSION_MEMORY, in_parallel_within};
use crate::{Data, Error, ErrorKind, Result, near};

// Edits: adding, replacing, removing and renaming files.

/// Each method makes its edit or gives an error and changes nothing. All of them give [`ErrorKind::Refused`] for a
/// console's pakfile, and for names that no engine looks up.
impl<'a> Pak<'a> {
    /// Adds a file after the others; its name must be free.
    fn put(&mut self, name: &[u8], data: Data<'a>) -> Result<usize> {
        self.check_editable()?;
        pak::check(name)?;
        let own = Own::new(name, 0, None, Content::stored(data)?)?;
        self.by_name.push(name, self.nodes.len());
        self.nodes.push(Node::Own(Arc::new(own)));
        Ok(self.nodes.len() - 1)
    }

    /// Adds a file after the others; if a file has a name that is the same to engines, gives that one new bytes.
    /// Returns the file's index.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if several names are the same to engines and none is spelled like this, besides those of
    /// all edits.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.add("A.TXT", "two")?;
    /// assert_eq!((pak.len(), pak.get(0).unwrap().name()), (1, &b"a.txt"[..]));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn add(&mut self, name: impl AsRef<[u8]>, data: impl Into<Data<'a>>) -> Result<usize> {
        let name = name.as_ref();
        if self.find(name).is_empty() {
            return self.put(name, data.into());
        }
        let index = self.one(name)?;
        self.replace(index, data).map(|()| index)
    }

    /// Gives a file new bytes; its name and its position stay. A file that was compressed is compressed again if that
    /// makes it smaller. Setting the bytes that it has is not an edit.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.replace(0, "two")?;
    /// assert_eq!(&*pak.get(0).unwrap().data()?, b"two");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn replace(&mut self, index: usize, data: impl Into<Data<'a>>) -> Result<()> {
        let data = data.into();
        self.check_editable()?;
        let entry = self.entry(index)?;
        if entry.data().is_ok_and(|old| *old == *data) {
            return Ok(());
        }
        let origin = self.origin(index);
        if let Some(node) = self.as_read(index, &data) {
            self.nodes[index] = node;
            return Ok(());
        }
        let mut content = Content::stored(data)?;
        if entry.method() == Method::Lzma && !entry::is_read_in_pieces(entry.name()) {
            let packed = entry::pack(&content.stored, Level::default())?;
            if packed.len() < content.stored.len() {
                content = Content { method: LZMA, stored: Data::from(packed), ..content };
            }
        }
        let own = Own::new(entry.name(), entry.record().flags & UTF8_NAME, origin, content)?;
        self.nodes[index] = Node::Own(Arc::new(own));
        Ok(())
    }

    /// Gives the pakfile a file of another one, with all that is stored of it there: its bytes as they are, name,
    /// method, times and other fields. A file of the same name keeps its position. Returns the file's index.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] as [`Pak::add`], and if the file's own header contradicts the directory.
    ///
    /// ```
    /// use bspkit::content::pak::{Method, Pak};
    /// let (mut one, mut other) = (Pak::new(b""), Pak::new(b""));
    /// one.add("A.vmt", "old")?;
    /// other.add("a.vmt", vec![b' '; 1000])?;
    /// other.compress(&[0], 1, Default::default())?;
    /// one.adopt(&other.get(0).unwrap())?;
    /// let file = one.get(0).unwrap();
    /// assert_eq!((one.len(), file.name(), file.method()), (1, &b"a.vmt"[..], Method::Lzma));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn adopt(&mut self, file: &Entry<'_, 'a>) -> Result<usize> {
        self.check_editable()?;
        let own = Own::altered(file.pak(), file.index(), file.name(), file.time())?;
        if self.find(file.name()).is_empty() {
            self.by_name.push(file.name(), self.nodes.len());
            self.nodes.push(Node::Own(Arc::new(Own { origin: None, ..own })));
            return Ok(self.nodes.len() - 1);
        }
        let index = self.one(file.name())?;
        let old = self.name(index).to_vec();
        self.nodes[index] = self.settled(Own { origin: self.origin(index), ..own });
        self.by_name.rename(&old, file.name(), index);
        Ok(index)
    }

    /// Removes files.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files.
    pub fn remove(&mut self, indices: &[usize]) -> Result<()> {
        self.check_editable()?;
        let mut goes = vec![false; self.len()];
        for index in indices {
            self.entry(*index)?;
            goes[*index] = true;
        }
        // The last file leaves all others their indices.
        match (indices, self.len().checked_sub(1)) {
            ([], _) => {}
            ([one], Some(last)) if *one == last => {
                let name = self.name(last).to_vec();
                self.by_name.remove_last(&name);
            }
            _ => self.by_name.clear(),
        }
        let mut goes = goes.into_iter();
        self.nodes.retain(|_| !goes.next().unwrap_or(false));
        Ok(())
    }

    /// Gives a file another name; all other fields of its records stay.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files; [`ErrorKind::Refused`] if another file has a name that is the
    /// same to engines, and if the file's own header contradicts the directory.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.rename(0, "A.txt")?;
    /// assert_eq!(pak.get(0).unwrap().name(), b"A.txt");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn rename(&mut self, index: usize, name: impl AsRef<[u8]>) -> Result<()> {
        self.rename_all(&[(index, name.as_ref().to_vec())])
    }

    /// The one file of a name: the one with this spelling, else the one whose name is the same to engines.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none; [`ErrorKind::Refused`] if there are several.
    pub fn one(&self, name: impl AsRef<[u8]>) -> Result<usize> {
        let name = name.as_ref();
        let found = self.find(name);
        let spelled_so = |index: &&usize| self.name(**index) == name;
        match (&found[..], found.iter().take_while(spelled_so).count()) {
            ([], _) => {
                let message = format!("the pakfile has no file `{}`", escaped(name));
                let names = (0..self.len()).map(|index| self.name(index));
                Err(near::or_none(Error::new(ErrorKind::NotFound, message), name, names))
            }
            ([one], _) | ([one, ..], 1) => Ok(*one),
            (several, _) => {
                let list = several.iter().map(|index| format!("#{index} {}", escaped(self.name(*index))));
                let message = format!("several files are called `{}`; to engines they are one", escaped(name));
                let hint = format!("they are {}", list.collect::<Vec<_>>().join(", "));
                Err(Error::new(ErrorKind::Refused, message).with_hint(hint))
            }
        }
    }

    pub(super) fn entry(&self, index: usize) -> Result<Entry<'_, 'a>> {
        let missing = || format!("no file {index}: the pakfile has {}", self.len());
        self.get(index).ok_or_else(|| Error::new(ErrorKind::NotFound, missing()))
    }

    pub(super) fn check_editable(&self) -> Result<()> {
        if let Some(at) = self.source.other_end() {
            let message = format!("the pakfile has another end record at {at}, which some readers take");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        if let Some(at) = self.source.uncounted() {
            let message =
                format!("the directory of the pakfile goes on at {at}, after the files that its end record counts");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        if !self.is_console() {
            return Ok(());
        }
        let what = escaped(self.comment().trim_ascii_end().split(|byte| *byte == 0).next().unwrap_or_default());
        let message = format!("the pakfile is a console's ({what}): its files can be read but not edited");
        Err(Error::new(ErrorKind::Refused, message))
    }

    /// The file of the source that this one replaces.
    pub(super) fn origin(&self, index: usize) -> Option<u32> {
        match &self.nodes[index] {
            Node::Source(at) => Some(*at),
            Node::Own(own) => own.origin,
        }
    }

    /// The node of an edited file; that of the source if the edit changes nothing.
    pub(super) fn settled(&self, own: Own<'a>) -> Node<'a> {
        match own.origin.filter(|_| own.is_as_in(&self.source)) {
            Some(at) => Node::Source(at),
            None => Node::Own(Arc::new(own)),
        }
    }

    /// The file as it was read, if these are its original bytes.
    fn as_read(&self, index: usize, data: &Data<'a>) -> Option<Node<'a>> {
        let node = Node::Source(self.origin(index)?);
        let before = Pak {
            source: Arc::clone(&self.source),
            nodes: vec![node.clone()],
            by_name: super::ByName::default(),
            is_sorted: false,
        };
        let is_same = before.name(0) == self.name(index) && before.view(0).data().is_ok_and(|old| *old == **data);
        is_same.then_some(node)
    }
}

// Many new names in one edit: moves by patterns, and the check that no two files get one name.

/// More new names are not followed one by one.
const FEW: usize = 64;

/// How many names an error lists.
const MOST_LISTED: usize = 10;

/// A move of files by their names: those that match a pattern get a new name.
///
/// In the new name `*`, `**` and `?` are the text that the pattern's wildcards match, in their order, and `{1}` is the
/// text of the first of them. A pattern without a slash and without `**` is for the last part of a name; then a new
/// name without a slash leaves the file in its folder. After `=` there is a name ([`Pattern::exact`]), and the new name
/// is taken as it is written.
///
/// ```
/// use bspkit::content::pak::Moves;
/// let moves = Moves::new("materials/maps/old/**", "materials/maps/new/**")?;
/// let new = moves.apply(b"materials/maps/old/sky/up.vmt");
/// assert_eq!(new.as_deref(), Some(&b"materials/maps/new/sky/up.vmt"[..]));
/// assert_eq!(Moves::new("*.txt", "*.cfg")?.apply(b"cfg/a.txt").as_deref(), Some(&b"cfg/a.cfg"[..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Moves {
    renaming: Renaming,
    /// Whether a file stays in its folder.
    keeps_folder: bool,
}

/// The wildcards of a pattern, longest first.
const WILDCARDS: [&[u8]; 4] = [b"**/", b"**", b"*", b"?"];

impl Moves {
    /// Reads a pattern and the new name.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the new name has wildcards, but not as many as the pattern; for a number that is not
    /// one of its wildcards.
    pub fn new(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Self> {
        let (old, new) = (old.as_ref(), new.as_ref());
        let has_slash = |name: &[u8]| name.iter().any(|byte| matches!(byte, b'/' | b'\\'));
        if let Some(name) = Pattern::exact(old) {
            return Ok(Moves { renaming: Renaming::exact(name, new), keeps_folder: false });
        }
        // Each wildcard is written as its number.
        let pattern = Pattern::whole(old);
        let (mut rest, mut text, mut used) = (new, Vec::new(), 0);
        while let [first, tail @ ..] = rest {
            let is_whole = |wildcard: &[u8]| !wildcard.ends_with(b"/") || pattern.is_folders(used);
            match WILDCARDS.iter().find(|wildcard| rest.starts_with(wildcard) && is_whole(wildcard)) {
                Some(wildcard) => {
                    used += 1;
                    text.extend_from_slice(format!("{{{used}}}").as_bytes());
                    rest = &rest[wildcard.len()..];
                }
                None => {
                    text.push(*first);
                    rest = tail;
                }
            }
        }
        let count = pattern.wildcards();
        if used > 0 && used != count {
            let message = format!("`{}` has {used} wildcards, and `{}` has {count}", escaped(new), escaped(old));
            let hint = "use as many, or {1} for the text of the first one, {2} for that of the second";
            return Err(Error::new(ErrorKind::Argument, message).with_hint(hint));
        }
        let is_of_any_folder = count > 0 && !has_slash(old) && !old.windows(2).any(|two| two == b"**");
        let renaming = Renaming::new(old, text)?;
        Ok(Moves { renaming, keeps_folder: is_of_any_folder })
    }

    /// The new name of a file; `None` if the pattern does not match.
    pub fn apply(&self, name: &[u8]) -> Option<Vec<u8>> {
        let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
        let last = name.iter().rposition(is_slash).filter(|_| self.keeps_folder).map_or(0, |at| at + 1);
        let new = self.renaming.apply(&name[last..])?;
        let folder = if new.iter().any(is_slash) { &[][..] } else { &name[..last] };
        Some([folder, &new].concat())
    }
}

impl<'a> Pak<'a> {
    /// Gives files other names, all at once: files can swap their names. All other fields of their records stay.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files; [`ErrorKind::Refused`] if a new name is that of another file
    /// to engines, with a list of those names, and if a file's own header contradicts the directory.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.add("b.txt", "two")?;
    /// pak.rename_all(&[(0, b"b.txt".to_vec()), (1, b"a.txt".to_vec())])?;
    /// assert_eq!(&*pak.get(pak.one("a.txt")?).unwrap().data()?, b"two");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn rename_all(&mut self, names: &[(usize, Vec<u8>)]) -> Result<()> {
        self.check_editable()?;
        let mut new: HashMap<usize, &[u8]> = HashMap::with_capacity(names.len());
        for (index, name) in names {
            let old = self.entry(*index)?.name();
            if old != name {
                // The entry of a folder stays one.
                let folder = name.strip_suffix(b"/").filter(|_| old.ends_with(b"/"));
                pak::check(folder.unwrap_or(name))?;
                new.insert(*index, name);
            }
        }
        self.check_free(&new)?;
        let altered = new.into_iter().map(|(index, name)| {
            let own = Own::altered(self, index, name, self.view(index).time())?;
            Ok((index, self.settled(own)))
        });
        let altered = altered.collect::<Result<Vec<_>>>()?;
        if altered.len() > FEW {
            self.by_name.clear();
        }
        for (index, node) in altered {
            let old = self.name(index).to_vec();
            self.nodes[index] = node;
            let new = self.name(index).to_vec();
            self.by_name.rename(&old, &new, index);
        }
        Ok(())
    }

    /// Refuses new names that are the same to engines as another one. Files that had one name may have one again.
    fn check_free(&self, new: &HashMap<usize, &[u8]>) -> Result<()> {
        let name = |index: usize| new.get(&index).copied().unwrap_or(self.name(index));
        let mut first: HashMap<Vec<u8>, usize> = HashMap::with_capacity(new.len());
        let mut taken = Vec::new();
        // Only files whose names are among the new ones can be in the way.
        let wanted: HashSet<Vec<u8>> = new.values().map(pak::lookup_name).collect();
        let mut near: Vec<usize> = wanted.iter().flat_map(|name| self.find(name)).chain(new.keys().copied()).collect();
        near.sort_unstable();
        near.dedup();
        for index in near {
            let owner = *first.entry(pak::lookup_name(name(index))).or_insert(index);
            let renamed = [owner, index].map(|index| new.contains_key(&index));
            let had_one_name = || renamed == [true; 2] && pak::is_same(self.name(owner), self.name(index));
            if owner != index && renamed.contains(&true) && !had_one_name() {
                taken.push((owner, index));
            }
        }
        let listed = |(one, other): &(usize, usize)| {
            let (renamed, there) = if new.contains_key(other) { (*other, *one) } else { (*one, *other) };
            let what = if new.contains_key(&there) { "would also have" } else { "has" };
            let (old, other) = (escaped(self.name(renamed)), escaped(self.name(there)));
            format!("`{}` for `{old}`: file #{there}, `{other}`, {what} that name", escaped(name(renamed)))
        };
        let message = match taken.len() {
            0 => return Ok(()),
            1 => "a new name is in use, and engines would find only one of the files".to_owned(),
            count => format!("{count} new names are in use, and engines would find only one of the files of each"),
        };
        let more = taken.len().saturating_sub(MOST_LISTED);
        let mut lines: Vec<String> = taken.iter().take(MOST_LISTED).map(listed).collect();
        lines.extend((more > 0).then(|| format!("and {more} more")));
        Err(Error::new(ErrorKind::Refused, message).with_hint(lines.join("\n")))
    }

    /// Gives files another time; all other fields of their records stay, and so does a second time in an extra field.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files; [`ErrorKind::Refused`] if a file's own header contradicts the
    /// directory.
    pub fn set_time(&mut self, indices: &[usize], time: super::Time) -> Result<()> {
        self.check_editable()?;
        let altered = indices.iter().filter_map(|index| match self.entry(*index) {
            Ok(entry) if entry.time() == time => None,
            entry => Some(entry.and_then(|entry| {
                let own = Own::altered(self, *index, entry.name(), time)?;
                Ok((*index, self.settled(own)))
            })),
        });
        let altered = altered.collect::<Result<Vec<_>>>()?;
        altered.into_iter().for_each(|(index, node)| self.nodes[index] = node);
        Ok(())
    }
}

// Compressing and storing many files, on all cores.

/// The result of storing files in another way.
///
/// ```
/// use bspkit::content::pak::{Method, Pak};
/// let mut pak = Pak::new(b"");
/// pak.add("a.vmt", vec![b' '; 1000])?;
/// pak.add("b.wav", vec![b' '; 1000])?;
/// let packed = pak.compress(&[0, 1], 2, Default::default())?;
/// assert_eq!((packed.changed, packed.kept), (1, 1));
/// assert_eq!(pak.get(1).unwrap().method(), Method::Stored);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Packed {
    /// How many files are now stored in another way.
    pub changed: usize,
    /// How many files stay as they are: they were stored that way already, or the other way is not possible or larger.
    pub kept: usize,
    /// The files that failed, with the reason. They stay as they are.
    pub failed: Vec<(usize, Error)>,
    /// The size of the changed files before and after, in bytes.
    pub bytes: (usize, usize),
}

impl<'a> Pak<'a> {
    /// Compresses files with LZMA where that makes them smaller, on this many threads; the result does not depend on
    /// their number, but on the level. Sounds and the like (`mp3`, `wav`, `ogg`, `ani`, `vcs`) stay as they are:
    /// engines read those in pieces and cannot if they are compressed.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there are fewer files, [`crate::ErrorKind::Refused`] for a console's pakfile;
    /// as [`Pak::check_total_size`].
    pub fn compress(&mut self, indices: &[usize], threads: usize, level: Level) -> Result<Packed> {
        self.check_total_size(indices)?;
        self.pack(
            indices,
            threads,
            |entry| lzma::memory_to_compress(entry.size()),
            |entry| {
                if entry.method() == Method::Lzma || entry::is_read_in_pieces(entry.name()) {
                    return Ok(None);
                }
                entry.check_lengths()?;
                let data = entry.data()?;
                // It could not be read again.
                if data.len() > MOST_DECOMPRESSED {
                    let message =
                        format!("it has {} bytes, and at most {MOST_DECOMPRESSED} are compressed", data.len());
                    return Err(Error::new(ErrorKind::TooLarge, message));
                }
                let packed = entry::pack(&data, level)?;
                let header = entry.record();
                let content = Content { method: LZMA, crc: header.crc, size: header.size, stored: Data::from(packed) };
                Ok((content.stored.len() < data.len()).then_some(content))
            },
        )
    }

    /// Stores files uncompressed, on this many threads.
    ///
    /// # Errors
    /// As [`Pak::compress`].
    pub fn store(&mut self, indices: &[usize], threads: usize) -> Result<Packed> {
        self.check_total_size(indices)?;
        self.pack(
            indices,
            threads,
            |entry| entry.memory(),
            |entry| {
                if entry.method() == Method::Stored {
                    return Ok(None);
                }
                entry.check_lengths()?;
                let header = entry.record();
                Ok(Some(Content { method: STORED, crc: header.crc, size: header.size, stored: entry.data()? }))
            },
        )
    }

    fn pack(
        &mut self,
        indices: &[usize],
        threads: usize,
        memory: impl Fn(&Entry<'_, 'a>) -> usize,
        content: impl Fn(&Entry<'_, 'a>) -> Result<Option<Content<'a>>> + Sync,
    ) -> Result<Packed> {
        self.check_editable()?;
        let mut entries = indices.iter().map(|index| self.entry(*index)).collect::<Result<Vec<_>>>()?;
        // The largest first, so that no thread works alone at the end.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.size()));
        entries.dedup_by_key(|entry| entry.index());
        let results = in_parallel_within(threads, COMPRESSION_MEMORY, &entries, memory, |entry| {
            let content = content(entry)?;
            Ok(content.map(|content| Own::restored(entry, self.origin(entry.index()), content)))
        });
        let mut done: Vec<_> = entries.iter().map(Entry::index).zip(results).collect();
        self.leave_what_is_too_much(&mut done);
        let mut packed = Packed::default();
        for (index, result) in done {
            match result {
                Ok(None) => packed.kept += 1,
                Err(error) => packed.failed.push((index, error)),
                Ok(Some(own)) => {
                    packed.changed += 1;
                    packed.bytes.0 += self.view(index).stored_size();
                    packed.bytes.1 += own.body.len();
                    self.nodes[index] = self.settled(own);
                }
            }
        }
        packed.failed.sort_by_key(|(index, _)| *index);
        Ok(packed)
    }

    /// Leaves the largest files as they are of a pakfile that could not be read again, as
    /// [`Pak::check_total_size`] refuses it.
    fn leave_what_is_too_much(&self, done: &mut [(usize, Result<Option<Own<'a>>>)]) {
        let total: u64 = (0..self.len()).map(|index| wide(self.view(index).size())).sum();
        let stored = (0..self.len()).map(|index| wide(self.view(index).stored_size())).sum::<u64>();
        let saved =
            |index: usize, own: &Own<'_>| wide(self.view(index).stored_size()).saturating_sub(wide(own.body.len()));
        let mut changed: Vec<(u64, usize)> = done
            .iter()
            .enumerate()
            .filter_map(|(at, (index, result))| Some((saved(*index, result.as_ref().ok()?.as_ref()?), at)))
            .collect();
        let mut stored = stored - changed.iter().map(|(saved, _)| saved).sum::<u64>().min(stored);
        changed.sort_unstable();
        while total > most_in_total(usize::try_from(stored).unwrap_or(usize::MAX)) {
            let Some((saved, at)) = changed.pop().filter(|(saved, _)| *saved > 0) else { return };
            stored += saved;
            let message = "all files would take more bytes than are ever decompressed";
            done[at].1 = Err(Error::new(ErrorKind::TooLarge, message));
        }
    }
}

/// The size in bytes that the files of any pakfile may have in total after decompression.
const ALWAYS_UNPACKED: usize = 256 << 20;

/// That of a pakfile of this size.
fn most_in_total(size: usize) -> u64 {
    wide(lzma::most_in_total(size).max(ALWAYS_UNPACKED))
}

impl Pak<'_> {
    /// Refuses files whose sizes, as the directory states them, are larger in total than in a real pakfile of this
    /// size: 256 MiB, or 64 times the size of the pakfile if that is more. Entries that share one body can claim a
    /// thousand times as much. Files that an edit made are not counted.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with both numbers.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.vmt", vec![b' '; 1000])?;
    /// pak.check_total_size(&[0])?;
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check_total_size(&self, indices: &[usize]) -> Result<()> {
        let is_source = |index: &&usize| matches!(self.nodes.get(**index), Some(Node::Source(_)));
        let sizes = indices.iter().filter(is_source).filter_map(|index| self.get(*index)).map(|entry| entry.size());
        // More than a 32-bit machine can address.
        let size: u64 = sizes.map(wide).sum();
        let most = most_in_total(self.source.data.len());
        if size <= most {
            return Ok(());
        }
        let message = format!("the files would take {size} bytes decompressed, more than {most} for this pakfile");
        Err(Error::new(ErrorKind::TooLarge, message)
            .with_hint("several entries may share one body, which a check of the pakfile reports"))
    }
}
