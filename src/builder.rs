//! Builder: a directory and lumps make a file, in the dialect's order, each lump at a multiple of 4.
//!
//! It also makes what compilers never write and real files have all the same: gaps, shared and overrunning entries,
//! tails, other alignments. The tests build with it what no real map at hand shows.

use std::collections::BTreeMap;

use crate::bytes::align_up;
use crate::dialect::{Dialect, Magic};
use crate::error::{Error, ErrorKind, Result};
use crate::file::directory::{
    BloodlinesTrailer, BspxEntry, BspxHeader, DirectoryShape, Entry, EntryFields, GameLumpEntry, XashHeader,
};
use crate::file::lzma;
use crate::record::{Field, Record, encode_in};

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
    /// As [`lzma::pack`].
    pub fn compressed_lump(mut self, index: usize, bytes: &[u8]) -> Result<Self> {
        let packed = lzma::pack_for(bytes, self.dialect.rules.dictionary)?;
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
    /// As [`lzma::pack`].
    pub fn compressed_game_lump(mut self, id: [u8; 4], version: u16, bytes: &[u8]) -> Result<Self> {
        let stored = lzma::pack_for(bytes, self.dialect.rules.dictionary)?;
        self.members.push(Member { id, version, flags: 1, length: bytes.len(), stored });
        Ok(self)
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

    /// The trailer of a Bloodlines map behind the last lump; nothing pads the file then.
    #[must_use]
    pub fn trailer(mut self) -> Self {
        self.trailer = true;
        self
    }

    /// Bytes behind everything else; nothing pads the file then.
    #[must_use]
    pub fn tail(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.tail = bytes.into();
        self
    }

    /// No padding of the file's end to a multiple of 4.
    #[must_use]
    pub fn unpadded(mut self) -> Self {
        self.padded = false;
        self
    }

    /// The file.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a lump that the directory has no entry for, [`ErrorKind::TooLarge`] past 2 GiB.
    pub fn build(&self) -> Result<Vec<u8>> {
        let mut file = vec![0; self.shape.header_size()];
        if !self.extra.is_empty() {
            file.resize(file.len() + XashHeader::SIZE + crate::file::XASH_ENTRIES * Entry::SIZE, 0);
        }
        let mut fields =
            vec![EntryFields { offset: 0, length: 0, version: Some(0), unpacked: Some(0) }; self.shape.count];
        let game_lump = self.dialect.rules.game_lump.filter(|_| !self.members.is_empty());
        for index in self.file_order() {
            let part = self.lumps.get(&index).cloned().unwrap_or_default();
            let Some(fields) = fields.get_mut(index) else {
                let message = format!("the directory has no entry {index}, only {}", self.shape.count);
                return Err(Error::new(ErrorKind::Argument, message));
            };
            fields.version = Some(part.version);
            file.extend(&part.gap);
            let is_game_lump = game_lump == Some(index);
            if part.bytes.is_empty() && !is_game_lump {
                continue;
            }
            pad(&mut file, part.alignment.unwrap_or(4));
            fields.offset = offset(file.len())?;
            fields.unpacked = Some(offset(part.unpacked)?);
            if is_game_lump {
                self.put_members(&mut file)?;
            } else {
                file.extend(&part.bytes);
            }
            fields.length = offset(file.len())? - fields.offset;
        }
        self.put_extra(&mut file)?;
        self.put_bspx(&mut file)?;
        if self.trailer {
            let entities = self.dialect.rules.trailer_lump.and_then(|lump| fields.get(lump)).map(|lump| lump.offset);
            let entities_offset = u32::try_from(entities.unwrap_or(0)).unwrap_or(0);
            file.extend(BloodlinesTrailer { entities_offset, signature: *b"QnDbTm" }.encode());
        }
        file.extend(&self.tail);
        if self.padded && !self.trailer && self.tail.is_empty() {
            pad(&mut file, 4);
        }
        offset(file.len())?;

        let order = self.shape.order();
        let version_at = self.dialect.version_at();
        if let Magic::Ident(ident) = self.dialect.magic {
            file[..4].copy_from_slice(&ident);
        }
        file[version_at..version_at + 4].copy_from_slice(&order.word_bytes(self.version));
        if let Some(at) = self.dialect.revision_at {
            file[at..at + 4].copy_from_slice(&order.word_bytes(self.revision));
        }
        for (index, fields) in fields.iter().enumerate() {
            let fields = self.entries.get(&index).unwrap_or(fields);
            let (at, entry) = (self.shape.entry_offset(index), self.shape.entry.write(*fields));
            file[at..at + entry.len()].copy_from_slice(&entry);
        }
        Ok(file)
    }

    fn part(&mut self, index: usize) -> &mut Part {
        self.lumps.entry(index).or_default()
    }

    /// Every lump once: as asked for, then the dialect's order, then by index.
    fn file_order(&self) -> Vec<usize> {
        let mut order = self.order.clone();
        let rest = self.dialect.rules.write_order.iter().copied().chain(self.lumps.keys().copied());
        let known = |index: &usize| *index < self.shape.count || self.lumps.contains_key(index);
        for index in rest.filter(known) {
            if !order.contains(&index) {
                order.push(index);
            }
        }
        order
    }

    fn put_members(&self, file: &mut Vec<u8>) -> Result<()> {
        let (order, base) = (self.shape.order(), file.len());
        let is_relative = self.dialect.rules.relative_members;
        file.extend(order.word_bytes(offset(self.members.len())?));
        let mut at = file.len() + self.members.len() * GameLumpEntry::SIZE;
        let mut stored = Vec::new();
        for Member { id, version, flags, stored: bytes, length } in self.members.iter().cloned() {
            let is_end = id == [0; 4];
            let padding = if is_end { 0 } else { align_up(at, self.members_at) - at };
            stored.resize(stored.len() + padding, 0);
            at += padding;
            let place = match is_relative {
                true => at - base,
                false if is_end => 0,
                false => at,
            };
            let (id, offset, length) = (u32::from_be_bytes(id), offset(place)?, offset(length)?);
            file.extend(encode_in(order, &GameLumpEntry { id, flags, version, offset, length }));
            at += bytes.len();
            stored.extend(bytes);
        }
        file.extend(stored);
        Ok(())
    }

    fn put_extra(&self, file: &mut Vec<u8>) -> Result<()> {
        if self.extra.is_empty() {
            return Ok(());
        }
        let header = self.shape.header_size();
        let mut directory = XashHeader { magic: *b"XASH", version: 4 }.encode();
        for index in 0..crate::file::XASH_ENTRIES {
            let bytes = self.extra.get(&index).map_or(&[][..], |bytes| bytes);
            pad(file, 4);
            let (offset, length) = (offset(file.len())?, offset(bytes.len())?);
            directory.extend(Entry { offset, length }.encode());
            file.extend(bytes);
        }
        file[header..header + directory.len()].copy_from_slice(&directory);
        Ok(())
    }

    fn put_bspx(&self, file: &mut Vec<u8>) -> Result<()> {
        if self.bspx.is_empty() {
            return Ok(());
        }
        pad(file, 4);
        file.extend(BspxHeader { magic: *b"BSPX", count: offset(self.bspx.len())? }.encode());
        let mut at = file.len() + self.bspx.len() * BspxEntry::SIZE;
        for (name, bytes) in &self.bspx {
            let mut entry = BspxEntry { name: [0; 24], offset: offset(at)?, length: offset(bytes.len())? };
            entry.name.iter_mut().zip(name.bytes().take(23)).for_each(|(to, from)| *to = from);
            file.extend(entry.encode());
            at = align_up(at + bytes.len(), 4);
        }
        for (index, (_, bytes)) in self.bspx.iter().enumerate() {
            if index > 0 {
                pad(file, 4);
            }
            file.extend(bytes);
        }
        Ok(())
    }
}

fn pad(file: &mut Vec<u8>, alignment: usize) {
    file.resize(align_up(file.len(), alignment), 0);
}

fn offset(value: usize) -> Result<i32> {
    i32::try_from(value)
        .map_err(|_| Error::new(ErrorKind::TooLarge, format!("{value} bytes do not fit a file of at most 2 GiB")))
}
