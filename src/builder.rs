//! Builder: a directory and lumps make a file, in the dialect's order, each lump at a multiple of 4.
//!
//! It also makes what compilers never write and real files have anyway: gaps, shared and overrunning entries,
//! tails, other alignments. The tests build with it what no real map at hand shows.

mod lay;

use std::collections::BTreeMap;

use crate::dialect::Dialect;
use crate::error::Result;
use crate::file::directory::{DirectoryShape, EntryFields};
use crate::file::lzma;

/// Makes a map from nothing.
///
/// ```
/// use bspkit::{Bsp, Builder, dialect};
/// let bytes = Builder::new(&dialect::QUAKE2).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").build()?;
/// let map = Bsp::parse(&bytes)?;
/// assert_eq!(map.dialect().name, "quake2");
/// assert_eq!(map.entities()?.len(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    dialect: &'static Dialect,
    version: i32,
    shape: DirectoryShape,
    revision: i32,
    checksum: u32,
    lumps: BTreeMap<usize, Part>,
    members: Vec<Member>,
    members_at: usize,
    extra: BTreeMap<usize, Vec<u8>>,
    bspx: Vec<(String, Vec<u8>)>,
    order: Vec<usize>,
    entries: BTreeMap<usize, EntryFields>,
    trailer: bool,
    tail: Vec<u8>,
    padded: bool,
}

/// A lump and how it is put into the file.
#[derive(Clone, Debug, Default)]
struct Part {
    bytes: Vec<u8>,
    version: i32,
    unpacked: usize,
    gap: Vec<u8>,
    alignment: Option<usize>,
}

#[derive(Clone, Debug)]
struct Member {
    id: [u8; 4],
    version: u16,
    flags: u16,
    stored: Vec<u8>,
    length: usize,
}

impl Builder {
    /// An empty map of a dialect: its first version, its usual directory.
    pub fn new(dialect: &'static Dialect) -> Self {
        Builder {
            dialect,
            version: dialect.versions[0],
            shape: dialect.shapes[0],
            revision: 0,
            checksum: 0,
            lumps: BTreeMap::new(),
            members: Vec::new(),
            members_at: 1,
            extra: BTreeMap::new(),
            bspx: Vec::new(),
            order: Vec::new(),
            entries: BTreeMap::new(),
            trailer: false,
            tail: Vec::new(),
            padded: true,
        }
    }

    /// Another version number.
    #[must_use]
    pub fn version(mut self, version: i32) -> Self {
        self.version = version;
        self
    }

    /// Another of the dialect's directories: Quake III's with 18 entries, say.
    #[must_use]
    pub fn shape(mut self, shape: DirectoryShape) -> Self {
        self.shape = shape;
        self
    }

    /// The map revision, where the header has one.
    #[must_use]
    pub fn revision(mut self, revision: i32) -> Self {
        self.revision = revision;
        self
    }

    /// The checksum in the header, where there is one.
    #[must_use]
    pub fn checksum(mut self, checksum: u32) -> Self {
        self.checksum = checksum;
        self
    }

    /// The bytes of a lump.
    #[must_use]
    pub fn lump(mut self, index: usize, bytes: impl Into<Vec<u8>>) -> Self {
        let part = self.part(index);
        part.bytes = bytes.into();
        part.unpacked = 0;
        self
    }

    /// The bytes of a lump, to be compressed.
    ///
    /// # Errors
    /// As [`lzma::compress`].
    pub fn compressed_lump(mut self, index: usize, bytes: &[u8]) -> Result<Self> {
        let packed = lzma::compress_for(bytes, self.dialect.rules.dictionary)?;
        let part = self.part(index);
        (part.bytes, part.unpacked) = (packed, bytes.len());
        Ok(self)
    }

    /// The version of a lump, where entries have one.
    #[must_use]
    pub fn lump_version(mut self, index: usize, version: i32) -> Self {
        self.part(index).version = version;
        self
    }

    /// Bytes between the lump before and this one, directly before its padding.
    #[must_use]
    pub fn gap_before(mut self, index: usize, bytes: impl Into<Vec<u8>>) -> Self {
        self.part(index).gap = bytes.into();
        self
    }

    /// Another alignment of a lump's offset than 4; 1 for none.
    #[must_use]
    pub fn align(mut self, index: usize, alignment: usize) -> Self {
        self.part(index).alignment = Some(alignment);
        self
    }

    /// A member of the game lump, by the name that people use: `sprp`.
    #[must_use]
    pub fn game_lump(mut self, id: [u8; 4], version: u16, bytes: impl Into<Vec<u8>>) -> Self {
        let stored = bytes.into();
        self.members.push(Member { id, version, flags: 0, length: stored.len(), stored });
        self
    }

    /// A member of the game lump, compressed.
    ///
    /// # Errors
    /// As [`lzma::compress`].
    pub fn compressed_game_lump(mut self, id: [u8; 4], version: u16, bytes: &[u8]) -> Result<Self> {
        let stored = lzma::compress_for(bytes, self.dialect.rules.dictionary)?;
        self.members.push(Member { id, version, flags: 1, length: bytes.len(), stored });
        Ok(self)
    }

    /// More flags of the member that was added last; bit 0 says whether it is compressed.
    #[must_use]
    pub fn game_lump_flags(mut self, flags: u16) -> Self {
        if let Some(member) = self.members.last_mut() {
            member.flags |= flags;
        }
        self
    }

    /// The empty member that ends a list with compressed ones: without offset, but on consoles where the last one ends.
    #[must_use]
    pub fn game_lump_end(mut self) -> Self {
        self.members.push(Member { id: [0; 4], version: 0, flags: 0, stored: Vec::new(), length: 0 });
        self
    }

    /// The alignment of the game lump's members: 4 as bspzip puts them, where compilers leave no gaps.
    #[must_use]
    pub fn align_game_lumps(mut self, alignment: usize) -> Self {
        self.members_at = alignment;
        self
    }

    /// A lump of Xash3D's extra header, which is written where there is one.
    #[must_use]
    pub fn extra(mut self, index: usize, bytes: impl Into<Vec<u8>>) -> Self {
        self.extra.insert(index, bytes.into());
        self
    }

    /// An entry of the BSPX block, which is written where there is one.
    #[must_use]
    pub fn bspx(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.bspx.push((name.to_string(), bytes.into()));
        self
    }

    /// Another order of the lumps in the file; those that it does not name follow in the dialect's.
    #[must_use]
    pub fn order(mut self, order: &[usize]) -> Self {
        self.order = order.to_vec();
        self
    }

    /// What the directory is to say of a lump, whatever is there.
    #[must_use]
    pub fn entry(mut self, index: usize, fields: EntryFields) -> Self {
        self.entries.insert(index, fields);
        self
    }

    /// The trailer of a Bloodlines map after the last lump; nothing pads the file then.
    #[must_use]
    pub fn trailer(mut self) -> Self {
        self.trailer = true;
        self
    }

    /// Bytes after everything else; nothing pads the file then.
    #[must_use]
    pub fn tail(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.tail = bytes.into();
        self
    }

    /// No padding of the file's end to a multiple of 4, or of what consoles want.
    #[must_use]
    pub fn unpadded(mut self) -> Self {
        self.padded = false;
        self
    }

    fn part(&mut self, index: usize) -> &mut Part {
        self.lumps.entry(index).or_default()
    }
}
