//! The pakfile of a Source map: a zip of files that belong to the map.
//!
//! Bytes that are not edited stay: the local record, the data and the central record of every other file, with stale
//! checksums and odd names, and the bytes between them; only offsets are updated. Names are bytes. Engines look them up
//! without regard to case, and read `\` as `/`; so does [`Pak::find`].
//!
//! ```
//! use bspkit::content::pak::Pak;
//!
//! let mut pak = Pak::new(&Pak::XZP1);
//! pak.add("materials/my/wall.vmt", "LightmappedGeneric {}")?;
//! let bytes = pak.to_rope()?.to_data();
//!
//! let again = Pak::parse(bytes)?;
//! let [wall] = again.find("Materials\\My\\Wall.vmt")[..] else { panic!() };
//! assert_eq!(&*again.get(wall).unwrap().data()?, b"LightmappedGeneric {}");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod check;
mod edit;
mod entry;
mod order;
pub mod record;
mod write;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::lens::{Content, Reader};
pub use super::pattern::Pattern;
use crate::bytes::{self, ByteOrder, escaped, index};
use crate::dialect::{Dialect, Role};
use crate::record::{Field, Record};
use crate::{Data, Error, ErrorKind, Place, Result, Rope};
pub use check::CODES;
pub use edit::{Moves, Packed};
pub use entry::{Entry, Method, Time};
pub use order::Order;
use record::{CENTRAL, CentralHeader, END, EndRecord, LOCAL, LocalHeader, ZIP64_LOCATOR};
use write::Own;

/// The files of a pakfile, in the order of its directory.
///
/// Cloning shares the bytes.
#[derive(Clone, Debug)]
pub struct Pak<'a> {
    source: Arc<Source<'a>>,
    nodes: Vec<Node<'a>>,
    /// The files by their names, once many were looked up.
    by_name: ByName,
    /// Whether the data of files is placed in the order of the directory, and not as it was.
    is_sorted: bool,
}

/// A file: one of the source, by its index there, or a new one.
#[derive(Clone, Debug)]
enum Node<'a> {
    Source(u32),
    Own(Arc<Own<'a>>),
}

impl<'a> Pak<'a> {
    /// The comment that tools from the Orange Box on write at the end of a pakfile.
    pub const XZP1: [u8; 32] = *b"XZP1 0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    /// A pakfile without files, and with this comment in its end record. Until the first edit it has no bytes.
    pub fn new(comment: &[u8]) -> Pak<'a> {
        Pak {
            source: Arc::new(Source::empty(comment)),
            nodes: Vec::new(),
            by_name: ByName::default(),
            is_sorted: false,
        }
    }

    /// A pakfile without files, with the comment that the tools for this version write.
    pub fn empty(dialect: &Dialect, version: i32) -> Pak<'a> {
        match dialect.byte_order() {
            ByteOrder::Little if dialect.bare_paks.contains(&version) => Pak::new(b""),
            ByteOrder::Little => Pak::new(&Pak::XZP1),
            ByteOrder::Big => Pak::new(b"XZP2 2048"),
        }
    }

    /// Reads the directory of a pakfile; the files themselves are not read.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] for bytes that are not a zip, are cut off or contradict themselves;
    /// [`ErrorKind::Unsupported`] for zip64 and zips on several disks, which no engine reads.
    ///
    /// ```
    /// let error = bspkit::content::pak::Pak::parse("no zip").unwrap_err();
    /// assert_eq!(error.to_string(), "the pakfile is not a zip: it has no end record");
    /// ```
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        Ok(Pak::of(Arc::new(Source::parse(bytes.into())?)))
    }

    fn of(source: Arc<Source<'a>>) -> Self {
        // The format counts files in 16 bits.
        let nodes = (0..bytes::short(source.entries.len())).map(Node::Source).collect();
        Pak { source, nodes, by_name: ByName::default(), is_sorted: false }
    }

    /// Whether it was read from these bytes, which are not copied: a map's own.
    pub fn is_read_from(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(&*self.source.data, bytes)
    }

    /// The pakfile as it was read, without the edits.
    pub fn original(&self) -> Self {
        Pak::of(Arc::clone(&self.source))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All files.
    pub fn iter(&self) -> Iter<'_, 'a> {
        self.into_iter()
    }

    /// The file of this index.
    pub fn get(&self, index: usize) -> Option<Entry<'_, 'a>> {
        (index < self.len()).then(|| self.view(index))
    }

    /// The indices of all files whose name is the same to engines: without regard to case, and with `\` for `/`. There
    /// may be several; the one with this spelling comes first.
    pub fn find(&self, name: impl AsRef<[u8]>) -> Vec<usize> {
        let name = name.as_ref();
        let by_name = self.by_name.get(|| (0..self.len()).map(|index| self.name(index)));
        let mut found: Vec<usize> = match by_name {
            Some(by_name) => by_name.get(&lookup_name(name)).cloned().unwrap_or_default(),
            None => (0..self.len()).filter(|index| is_same(self.name(*index), name)).collect(),
        };
        found.sort_by_key(|index| self.name(*index) != name);
        found
    }

    /// The indices of all files that a pattern matches.
    pub fn select(&self, pattern: &Pattern) -> Vec<usize> {
        (0..self.len()).filter(|index| pattern.matches(self.name(*index))).collect()
    }

    /// The comment of the end record, by which tools mark the pakfile: empty, four NULs, `XZP1 0`, `XZP2 2048`.
    pub fn comment(&self) -> &[u8] {
        self.source.comment()
    }

    /// Whether it is a console's, whose directory other zip readers cannot read. It can be read but not edited.
    pub fn is_console(&self) -> bool {
        self.source.is_console
    }

    /// Whether anything differs from what was read.
    pub fn is_edited(&self) -> bool {
        let is_as_read =
            |(index, node): (usize, &Node<'a>)| matches!(node, Node::Source(at) if bytes::index(*at) == index);
        self.is_sorted
            || self.nodes.len() != self.source.entries.len()
            || !self.nodes.iter().enumerate().all(is_as_read)
    }

    fn view(&self, index: usize) -> Entry<'_, 'a> {
        Entry::new(self, index)
    }

    fn name(&self, index: usize) -> &[u8] {
        match &self.nodes[index] {
            Node::Source(at) => self.source.name(bytes::index(*at)),
            Node::Own(own) => own.name(),
        }
    }
}

iterator! {
    /// The files of a pakfile: [`Pak::iter`].
    Iter: Pak => Entry<'l, 'a>
}

impl<'a> Content<'a> for Pak<'a> {
    /// An empty lump is a pakfile without files, with the comment that the tools for this version write.
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let bsp = from.bsp();
        let no_lump = || Error::new(ErrorKind::NotFound, format!("{} maps have no pakfile", bsp.dialect().title));
        let slot = bsp.role(Role::Pak).ok_or_else(no_lump)?;
        let bytes = from.own(slot.id)?;
        if bytes.is_empty() {
            return Ok(Pak::empty(bsp.dialect(), bsp.version()));
        }
        Pak::parse(bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![if self.is_edited() { Some(self.to_rope()?) } else { None }])
    }
}

// Reading: the end record, then the directory. The files are not read, so listing costs only the directory.

/// A pakfile as it was read.
#[derive(Debug)]
struct Source<'a> {
    data: Data<'a>,
    entries: Vec<Central>,
    /// The directory, up to its last record.
    directory: Range<usize>,
    /// The offset of the end record; the length of `data` if there is none yet.
    end_at: usize,
    end: EndRecord,
    is_console: bool,
    /// The comment of a pakfile that has no bytes yet.
    new_comment: Vec<u8>,
}

/// A file's record in the directory.
#[derive(Clone, Copy, Debug)]
struct Central {
    header: CentralHeader,
    /// Where the record is.
    at: usize,
    /// Without the comment and, on consoles, without the extra field, which is missing there.
    end: usize,
}

impl Central {
    /// The whole record.
    fn range(&self) -> Range<usize> {
        self.at..self.end
    }

    fn name(&self) -> Range<usize> {
        let start = self.at + CentralHeader::SIZE;
        start..start + usize::from(self.header.name_length)
    }

    /// From the local header to the end of the data, where engines find both: by the lengths in the directory.
    fn claimed(&self) -> Option<(Range<usize>, usize)> {
        let start = index(self.header.local_offset);
        let names = usize::from(self.header.name_length) + usize::from(self.header.extra_length);
        let data = start.checked_add(LocalHeader::SIZE + names)?;
        Some((start..data.checked_add(index(self.header.stored_size))?, data))
    }
}

fn malformed(what: String) -> Error {
    Error::new(ErrorKind::Malformed, what)
}

impl<'a> Source<'a> {
    fn empty(comment: &[u8]) -> Self {
        let end = EndRecord {
            signature: END,
            disk: 0,
            directory_disk: 0,
            count_here: 0,
            count: 0,
            directory_size: 0,
            directory_offset: 0,
            // Longer comments do not fit the format.
            comment_length: u16::try_from(comment.len()).unwrap_or(u16::MAX),
        };
        let new_comment = comment[..usize::from(end.comment_length)].to_vec();
        let (data, entries, is_console) = (Data::from(Vec::new()), Vec::new(), is_consoles(comment));
        Source { data, entries, directory: 0..0, end_at: 0, end, is_console, new_comment }
    }

    fn parse(data: Data<'a>) -> Result<Self> {
        let (end_at, end) = find_end(&data)?;
        check_end(&data, end_at, &end)?;
        let comment = &data[end_at + EndRecord::SIZE..][..usize::from(end.comment_length)];
        let is_console = is_consoles(comment);
        let start = index(end.directory_offset);
        let mut entries = Vec::with_capacity(usize::from(end.count));
        let mut at = start;
        for number in 0..end.count {
            let entry = central(&data[..end_at], at, is_console).map_err(|what| {
                let message = format!("the pakfile's directory is damaged: file {number} of {} {what}", end.count);
                malformed(message)
            })?;
            at = entry.end;
            entries.push(entry);
        }
        Ok(Source { entries, directory: start..at, end_at, end, is_console, new_comment: Vec::new(), data })
    }

    fn comment(&self) -> &[u8] {
        if self.data.is_empty() {
            return &self.new_comment;
        }
        &self.data[self.end_at + EndRecord::SIZE..][..usize::from(self.end.comment_length)]
    }

    fn name(&self, index: usize) -> &[u8] {
        &self.data[self.entries[index].name()]
    }

    /// How many bytes after the last record the end record counts as directory; 0 if its count cannot be right.
    fn counted_beyond(&self) -> Option<usize> {
        let beyond = index(self.end.directory_size).checked_sub(self.directory.len())?;
        (beyond <= self.end_at.saturating_sub(self.directory.end)).then_some(beyond)
    }

    /// Where the directory goes on after the files that the end record counts: readers that go by its bytes find more
    /// files there.
    fn uncounted(&self) -> Option<usize> {
        let at = self.directory.end;
        (at < self.end_at && self.data[at..].starts_with(&CENTRAL)).then_some(at)
    }

    /// Where another end record begins after the one that was read, in the comment or after it: readers that take the
    /// last one read another directory, and it may become the right one where the files before it move.
    fn other_end(&self) -> Option<usize> {
        let from = self.end_at + END.len();
        let after = self.data.get(from..)?;
        let at = memchr::memmem::rfind(after, &END)?;
        (after.len() - at >= EndRecord::SIZE).then_some(from + at)
    }

    /// The name in a file's local header.
    fn local_name(&self, entry: &Central) -> Option<&[u8]> {
        let name = index(entry.header.local_offset).checked_add(LocalHeader::SIZE)?;
        let length = usize::from(self.local(entry)?.name_length);
        self.data.get(name..name.checked_add(length)?)
    }

    /// The local header of a file, where there is one.
    fn local(&self, entry: &Central) -> Option<LocalHeader> {
        let header = LocalHeader::decode(self.data.get(index(entry.header.local_offset)..)?)?;
        (header.signature == LOCAL).then_some(header)
    }
}

/// Whether a comment marks the zip as a console's.
fn is_consoles(comment: &[u8]) -> bool {
    comment.starts_with(b"XZP2")
}

fn central(data: &[u8], at: usize, is_console: bool) -> Result<Central, &'static str> {
    let header = data.get(at..).and_then(CentralHeader::decode).ok_or("is cut off")?;
    if header.signature != CENTRAL {
        return Err("has no record there");
    }
    let extra = if is_console { 0 } else { header.extra_length };
    let lengths = [header.name_length, extra, header.comment_length].map(usize::from);
    let end = at + CentralHeader::SIZE + lengths.iter().sum::<usize>();
    if end > data.len() {
        return Err("is cut off");
    }
    if [header.stored_size, header.size, header.local_offset].contains(&u32::MAX) {
        return Err("is of zip64, which no engine reads");
    }
    Ok(Central { header, at, end })
}

/// The last end record; if its comment contains another one by chance, the one that fits the directory.
fn find_end(data: &[u8]) -> Result<(usize, EndRecord)> {
    let ends = memchr::memmem::rfind_iter(data, &END);
    let whole = ends.filter_map(|at| {
        let end = EndRecord::decode(&data[at..])?;
        (at + EndRecord::SIZE + usize::from(end.comment_length) <= data.len()).then_some((at, end))
    });
    // A file within the pakfile may be a zip itself, so an end record far from the end is not searched for.
    let near = |at: usize| data.len() - at <= EndRecord::SIZE + usize::from(u16::MAX);
    let (mut last, mut empty) = (None, None);
    for (at, end) in whole.take_while(|(at, _)| near(*at)) {
        match check_end(data, at, &end) {
            // Zeros would match an empty directory anywhere.
            Ok(()) if end.count == 0 && index(end.directory_offset) != at => empty = empty.or(Some((at, end))),
            Ok(()) => return Ok((at, end)),
            Err(_) => last = last.or(Some((at, end))),
        }
    }
    let last = empty.or(last);
    last.ok_or_else(|| {
        let is_cut = data.starts_with(&LOCAL) || data.starts_with(&CENTRAL);
        let why = if is_cut { "is cut off" } else { "is not a zip" };
        malformed(format!("the pakfile {why}: it has no end record"))
    })
}

fn check_end(data: &[u8], at: usize, end: &EndRecord) -> Result<()> {
    let unsupported = |what: &str| Err(Error::new(ErrorKind::Unsupported, format!("the pakfile is {what}")));
    let has_locator = at.checked_sub(20).is_some_and(|before| data[before..].starts_with(&ZIP64_LOCATOR));
    if has_locator || end.directory_offset == u32::MAX || end.directory_size == u32::MAX {
        return unsupported("a zip64 file, which no engine reads");
    }
    if end.disk != 0 || end.directory_disk != 0 || end.count_here != end.count {
        return unsupported("one part of a zip on several disks, which no engine reads");
    }
    let (start, size) = (index(end.directory_offset), index(end.directory_size));
    let claim = || format!("the directory of {size} bytes at {start}");
    if start > at {
        return Err(malformed(format!("the pakfile is cut off: {} is after the end record at {at}", claim())));
    }
    if end.count > 0 && !data[start..at].starts_with(&CENTRAL) {
        let shift = at.checked_sub(size).filter(|real| data[*real..].starts_with(&CENTRAL));
        let why = shift.map_or(String::new(), |real| format!("; one that nothing points to begins at {real}"));
        return Err(malformed(format!("the pakfile contradicts itself: {} is not there{why}", claim())));
    }
    Ok(())
}

// The files of a pakfile by their names: many lookups and edits take linear time in all.

/// Fewer lookups go through all names, which is faster than a table.
const FEW: usize = 8;

/// Indices by names in the form in which engines look them up, in ascending order.
type Table = HashMap<Vec<u8>, Vec<usize>>;

/// A table that is made when the names are looked up often. Whoever changes names tells it, or clears it.
#[derive(Debug, Default)]
struct ByName {
    table: OnceLock<Table>,
    lookups: AtomicUsize,
}

impl Clone for ByName {
    fn clone(&self) -> Self {
        ByName { table: self.table.clone(), lookups: AtomicUsize::new(self.lookups.load(Ordering::Relaxed)) }
    }
}

impl ByName {
    /// The table, unless there were few lookups.
    fn get<'n, N: Iterator<Item = &'n [u8]>>(&self, names: impl FnOnce() -> N) -> Option<&Table> {
        if self.table.get().is_none() && self.lookups.fetch_add(1, Ordering::Relaxed) < FEW {
            return None;
        }
        Some(self.table.get_or_init(|| {
            let mut table = Table::new();
            for (index, name) in names().enumerate() {
                table.entry(lookup_name(name)).or_default().push(index);
            }
            table
        }))
    }

    /// A file was added after the others.
    fn push(&mut self, name: &[u8], index: usize) {
        if let Some(table) = self.table.get_mut() {
            table.entry(lookup_name(name)).or_default().push(index);
        }
    }

    /// The last file is removed.
    fn remove_last(&mut self, name: &[u8]) {
        let Some(table) = self.table.get_mut() else { return };
        let name = lookup_name(name);
        if let Some(files) = table.get_mut(&name) {
            files.pop();
            if files.is_empty() {
                table.remove(&name);
            }
        }
    }

    /// A file has another name.
    fn rename(&mut self, old: &[u8], new: &[u8], index: usize) {
        let Some(table) = self.table.get_mut() else { return };
        let old = lookup_name(old);
        if let Some(files) = table.get_mut(&old) {
            files.retain(|file| *file != index);
            if files.is_empty() {
                table.remove(&old);
            }
        }
        let files = table.entry(lookup_name(new)).or_default();
        let at = files.partition_point(|file| *file < index);
        files.insert(at, index);
    }

    /// Files have other indices.
    fn clear(&mut self) {
        *self = ByName::default();
    }
}

// Names: which ones are the same to an engine, and which ones no engine could look up.

/// The longest path that engines look up, without the NUL after it (`MAX_PATH`).
const LONGEST: usize = 259;

/// Files that file managers and version control create, in lower case.
const FILES: [&[u8]; 8] = [
    b".ds_store",
    b".directory",
    b".gitattributes",
    b".gitignore",
    b".gitkeep",
    b"desktop.ini",
    b"ehthumbs.db",
    b"thumbs.db",
];

/// Folders of the same kind.
const FOLDERS: [&[u8]; 9] = [
    b"$recycle.bin",
    b".fseventsd",
    b".git",
    b".hg",
    b".spotlight-v100",
    b".svn",
    b".trashes",
    b"__macosx",
    b"system volume information",
];

/// Whether a file is one that file managers, archivers or version control create, by its path with `/`.
///
/// ```
/// use bspkit::content::pak::is_of_system;
/// assert!(is_of_system(b"materials/Thumbs.db") && is_of_system(b"__MACOSX/a.vmt") && is_of_system(b"._a.vmt"));
/// assert!(!is_of_system(b"materials/a.vmt"));
/// ```
pub fn is_of_system(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    let mut parts = path.rsplit(|byte| *byte == b'/');
    let last = parts.next().unwrap_or_default();
    FILES.contains(&last) || last.starts_with(b"._") || parts.any(|part| FOLDERS.contains(&part))
}

/// A name in the form in which engines look it up: names that are equal in this form are the same file to them.
///
/// ```
/// use bspkit::content::pak::lookup_name;
/// assert_eq!(lookup_name("Materials\\My\\Wall.vmt"), b"materials/my/wall.vmt");
/// ```
pub fn lookup_name(name: impl AsRef<[u8]>) -> Vec<u8> {
    name.as_ref().iter().map(|byte| folded(*byte)).collect()
}

/// A letter as engines compare it.
pub(super) fn folded(byte: u8) -> u8 {
    if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }
}

/// Whether two names are the same to engines.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    // Names in a pakfile often have the same beginning and different ends.
    one.len() == other.len()
        && one.iter().rev().zip(other.iter().rev()).all(|(one, other)| folded(*one) == folded(*other))
}

/// Why no engine looks for a file of this name, or no tool can put it on a disk.
fn problem(name: &[u8]) -> Option<&'static str> {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let mut parts = name.split(is_slash);
    match name {
        [] => Some("is empty"),
        _ if name.contains(&0) => Some("holds a NUL"),
        [first, ..] if is_slash(first) => Some("begins at the root, where engines find no file"),
        [_, b':', ..] => Some("names a drive, where engines find no file"),
        _ if parts.any(|part| part == b"..") => Some("leaves its folder with `..`"),
        _ if name.len() > LONGEST => Some("is longer than the 259 bytes that engines look up"),
        _ => None,
    }
}

/// Refuses names that no engine looks for.
fn check(name: &[u8]) -> Result<()> {
    let problem = problem(name).or_else(|| name.ends_with(b"/").then_some("is that of a folder"));
    match problem {
        Some(why) => {
            let message = format!("no file can be called `{}`: the name {why}", escaped(name));
            Err(Error::new(ErrorKind::Refused, message))
        }
        None => Ok(()),
    }
}
