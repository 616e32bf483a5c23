//! Many new names in one edit: moves by patterns, and the check that no two files get one name.

use std::collections::{HashMap, HashSet};

use super::fresh::Own;
use super::{Pak, Pattern, name};
use crate::bytes::escaped;
use crate::content::texture_names::Renaming;
use crate::{Error, ErrorKind, Result};

/// More new names are not followed one by one.
const FEW: usize = 64;

/// How many names an error lists.
const MOST_LISTED: usize = 10;

/// A move of files by their names: those that match a pattern get a new name.
///
/// In the new name `*`, `**` and `?` are the text that the pattern's wildcards match, in their order, and `{1}` is the
/// text of the first of them. A pattern without a slash and without `**` is for the last part of a name; then a new
/// name without a slash leaves the file in its folder.
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
            if self.entry(*index)?.name() != name {
                name::check(name)?;
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
        let wanted: HashSet<Vec<u8>> = new.values().map(name::lookup_name).collect();
        let mut near: Vec<usize> = wanted.iter().flat_map(|name| self.find(name)).chain(new.keys().copied()).collect();
        near.sort_unstable();
        near.dedup();
        for index in near {
            let owner = *first.entry(name::lookup_name(name(index))).or_insert(index);
            let renamed = [owner, index].map(|index| new.contains_key(&index));
            let had_one_name = || renamed == [true; 2] && name::is_same(self.name(owner), self.name(index));
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
