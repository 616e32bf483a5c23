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

mod by_name;
mod check;
mod edit;
mod entry;
mod fresh;
mod method;
mod moves;
pub(super) mod name;
mod pack;
mod read;
pub mod record;
mod sort;
mod time;
mod update;
mod write;

use std::sync::Arc;

use by_name::ByName;
pub use check::{Finding, Severity};
pub use entry::{Entry, Method};
pub use moves::Moves;
pub use name::{is_of_system, lookup_name};
pub use pack::Packed;
pub use sort::Order;
pub use time::Time;

use super::lens::{Content, Reader};
pub use super::pattern::Pattern;
use crate::bytes::{self, ByteOrder};
use crate::dialect::{Dialect, Role};
use crate::{Data, Error, ErrorKind, Place, Result, Rope};
use fresh::Own;
use read::Source;

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
    pub(crate) fn empty(dialect: &Dialect, version: i32) -> Pak<'a> {
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

    /// Whether it was read from these bytes.
    pub(crate) fn is_read_from(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(&*self.source.data, bytes)
    }

    /// The pakfile as it was read.
    pub(crate) fn original(&self) -> Self {
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
            None => (0..self.len()).filter(|index| name::is_same(self.name(*index), name)).collect(),
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
