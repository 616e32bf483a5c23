//! The builder makes a file from a directory and lumps, in the dialect's order, each lump at a multiple of 4.
//!
//! It can also make what compilers do not write, but real files have: gaps, shared and overrunning entries, tails,
//! other alignments. The tests use it for cases that no available map has.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use crate::bytes::{align_up, escaped};
use crate::dialect::{Dialect, Key, Magic, Role, Row};
use crate::error::{Error, ErrorKind, Result};
use crate::file::directory::{
    BloodlinesTrailer, BspxEntry, BspxHeader, DirectoryShape, Entry, EntryFields, GameLumpEntry, XashHeader,
};
use crate::file::lzma;
use crate::record::{Field, Record, encode_in};

/// Makes a new map.
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
    /// An empty map of a dialect, with its first version and its usual directory.
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

    /// Sets the version number.
    #[must_use]
    pub fn version(mut self, version: i32) -> Self {
        self.version = version;
        self
    }

    /// Sets the shape of the directory: a dialect can have several, such as Quake III's with 18 entries.
    #[must_use]
    pub fn shape(mut self, shape: DirectoryShape) -> Self {
        self.shape = shape;
        self
    }

    /// Sets the map revision, if the header has one.
    #[must_use]
    pub fn revision(mut self, revision: i32) -> Self {
        self.revision = revision;
        self
    }

    /// Sets the checksum, if the header has one.
    #[must_use]
    pub fn checksum(mut self, checksum: u32) -> Self {
        self.checksum = checksum;
        self
    }

    /// Sets the bytes of a lump.
    #[must_use]
    pub fn lump(mut self, index: usize, bytes: impl Into<Vec<u8>>) -> Self {
        let part = self.part(index);
        part.bytes = bytes.into();
        part.unpacked = 0;
        self
    }

    /// Sets the bytes of the lump with this role.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if maps of the dialect have no such lump.
    pub fn role(self, role: Role, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let missing = || Error::new(ErrorKind::NotFound, format!("{} maps have no {role}", self.dialect.title));
        let index = self.dialect.role(role).ok_or_else(missing)?;
        Ok(self.lump(index, bytes))
    }

    /// Sets the records of a lump, in the byte order of the dialect's files. If the lump's version has other records,
    /// it gets a version that has these.
    ///
    /// ```
    /// use bspkit::dialect::{QUAKE2, Role, quake2};
    /// use bspkit::{Bsp, Builder};
    /// let floor = quake2::Plane { normal: [0.0, 0.0, 1.0], distance: -8.0, kind: 2 };
    /// let builder = Builder::new(&QUAKE2).role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")?;
    /// let bytes = builder.table(quake2::PLANES, &[floor])?.build()?;
    /// assert_eq!(Bsp::parse(&bytes)?.table(quake2::PLANES)?.get(0)?, floor);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if maps of the dialect have no such lump; [`ErrorKind::Unsupported`] if it is not an
    /// array of these records.
    pub fn table<R: Record>(mut self, key: Key<R>, records: &[R]) -> Result<Self> {
        let (lump, title) = (key.lump(), self.dialect.title);
        let missing = || Error::new(ErrorKind::NotFound, format!("{title} maps have no lump {lump}"));
        let index = self.dialect.lumps.iter().position(|known| known.name == lump).ok_or_else(missing)?;
        let is_it = |row: &&Row| row.record().is_some_and(|record| (record.type_id)() == TypeId::of::<R>());
        let other = || {
            let message = format!("{lump} of {title} maps is not an array of {}", R::INFO.name);
            Error::new(ErrorKind::Unsupported, message)
        };
        let row = self.dialect.rows_of(lump).find(is_it).ok_or_else(other)?;
        let order = self.shape.order();
        let bytes: Vec<u8> = records.iter().flat_map(|record| encode_in(order, record)).collect();
        let version = &mut self.part(index).version;
        if !row.versions.is_empty() && !row.versions.contains(version) {
            *version = row.versions[0];
        }
        Ok(self.lump(index, bytes))
    }

    /// Sets the bytes of a lump and compresses them; an empty lump stays empty.
    ///
    /// # Errors
    /// As [`lzma::compress`].
    pub fn compressed_lump(mut self, index: usize, bytes: &[u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Ok(self.lump(index, bytes));
        }
        let packed = lzma::compress_for(bytes, self.dialect.rules.dictionary, lzma::Level::default())?;
        let part = self.part(index);
        (part.bytes, part.unpacked) = (packed, bytes.len());
        Ok(self)
    }

    /// Sets the version of a lump, if entries have one.
    #[must_use]
    pub fn lump_version(mut self, index: usize, version: i32) -> Self {
        self.part(index).version = version;
        self
    }

    /// Sets the bytes between the previous lump and the padding of this one.
    #[must_use]
    pub fn gap_before(mut self, index: usize, bytes: impl Into<Vec<u8>>) -> Self {
        self.part(index).gap = bytes.into();
        self
    }

    /// Sets the alignment of a lump's offset. It is 4 otherwise; 1 means none.
    #[must_use]
    pub fn align(mut self, index: usize, alignment: usize) -> Self {
        self.part(index).alignment = Some(alignment);
        self
    }

    /// Adds a member of the game lump, by its common name: `sprp`.
    #[must_use]
    pub fn game_lump(mut self, id: [u8; 4], version: u16, bytes: impl Into<Vec<u8>>) -> Self {
        let stored = bytes.into();
        self.members.push(Member { id, version, flags: 0, length: stored.len(), stored });
        self
    }

    /// Adds a member of the game lump and compresses it.
    ///
    /// # Errors
    /// As [`lzma::compress`].
    pub fn compressed_game_lump(mut self, id: [u8; 4], version: u16, bytes: &[u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Ok(self.game_lump(id, version, bytes));
        }
        let stored = lzma::compress_for(bytes, self.dialect.rules.dictionary, lzma::Level::default())?;
        self.members.push(Member { id, version, flags: 1, length: bytes.len(), stored });
        Ok(self)
    }

    /// Adds flags to the member that was added last. Bit 0 says whether it is compressed.
    #[must_use]
    pub fn game_lump_flags(mut self, flags: u16) -> Self {
        if let Some(member) = self.members.last_mut() {
            member.flags |= flags;
        }
        self
    }

    /// Adds the empty member that ends a list with compressed members. Its offset is 0; on consoles it is the end of
    /// the last member.
    #[must_use]
    pub fn game_lump_end(mut self) -> Self {
        self.members.push(Member { id: [0; 4], version: 0, flags: 0, stored: Vec::new(), length: 0 });
        self
    }

    /// Sets the alignment of the game lump's members. bspzip uses 4; compilers leave no gaps.
    #[must_use]
    pub fn align_game_lumps(mut self, alignment: usize) -> Self {
        self.members_at = alignment;
        self
    }

    /// Sets a lump of Xash3D's extra header. The header is written if there is such a lump.
    #[must_use]
    pub fn extra(mut self, index: usize, bytes: impl Into<Vec<u8>>) -> Self {
        self.extra.insert(index, bytes.into());
        self
    }

    /// Adds an entry of the BSPX block. The block is written if there is an entry.
    #[must_use]
    pub fn bspx(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.bspx.push((name.to_string(), bytes.into()));
        self
    }

    /// Sets the order of the lumps in the file. Lumps that it does not name follow in the dialect's order.
    #[must_use]
    pub fn order(mut self, order: &[usize]) -> Self {
        self.order = order.to_vec();
        self
    }

    /// Sets the directory entry of a lump, whatever its bytes are.
    #[must_use]
    pub fn entry(mut self, index: usize, fields: EntryFields) -> Self {
        self.entries.insert(index, fields);
        self
    }

    /// Adds the trailer of a Bloodlines map after the last lump. The file is not padded then.
    #[must_use]
    pub fn trailer(mut self) -> Self {
        self.trailer = true;
        self
    }

    /// Adds bytes after everything else. The file is not padded then.
    #[must_use]
    pub fn tail(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.tail = bytes.into();
        self
    }

    /// Leaves out the padding at the end of the file (to a multiple of 4, or to the size that consoles need).
    #[must_use]
    pub fn unpadded(mut self) -> Self {
        self.padded = false;
        self
    }

    fn part(&mut self, index: usize) -> &mut Part {
        self.lumps.entry(index).or_default()
    }
}

// Builds the file: lumps in order, then the directories inside lumps, then the words of the header.

/// The size of a name of BSPX, with a NUL at its end.
const BSPX_NAME: usize = 24;

/// A lump that was not set.
static NOTHING: Part = Part { bytes: Vec::new(), version: 0, unpacked: 0, gap: Vec::new(), alignment: None };

impl Builder {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a lump that the directory has no entry for, for members of a game lump that there is
    /// not or that has other bytes too, for an alignment that is not a power of two, a lump that is twice in the order,
    /// a compressed lump where entries do not say so, and a name of BSPX of more than 23 bytes or with a NUL;
    /// [`ErrorKind::TooLarge`] past 2 GiB.
    pub fn build(&self) -> Result<Vec<u8>> {
        self.check()?;
        let mut file = vec![0; self.shape.header_size()];
        if !self.extra.is_empty() {
            file.resize(file.len() + XashHeader::SIZE + crate::file::XASH_ENTRIES * Entry::SIZE, 0);
        }
        let mut fields =
            vec![EntryFields { offset: 0, length: 0, version: Some(0), unpacked: Some(0) }; self.shape.count];
        let game_lump = self.dialect.rules.game_lump.filter(|_| !self.members.is_empty());
        for index in self.file_order() {
            let part = self.lumps.get(&index).unwrap_or(&NOTHING);
            let Some(fields) = fields.get_mut(index) else {
                let message = format!("the directory has {} entries, and so no entry {index}", self.shape.count);
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
            pad(&mut file, self.dialect.rules.end_alignment);
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
        if let Some(at) = self.dialect.stored_checksum_at() {
            file[at..at + 4].copy_from_slice(&self.checksum.to_le_bytes());
        }
        for (index, fields) in fields.iter().enumerate() {
            let fields = self.entries.get(&index).unwrap_or(fields);
            let (at, entry) = (self.shape.entry_offset(index), self.shape.entry.write(*fields));
            file[at..at + entry.len()].copy_from_slice(&entry);
        }
        Ok(file)
    }

    /// Refuses what would be left out or cut in silence.
    fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Argument, message));
        let places = self.entries.keys().map(|index| (*index, self.shape.count));
        let extra = self.extra.keys().map(|index| (*index, crate::file::XASH_ENTRIES));
        if let Some((index, count)) = places.chain(extra).find(|(index, count)| index >= count) {
            return wrong(format!("the directory has {count} entries, and so no entry {index}"));
        }
        let has_bytes = |index| self.lumps.get(&index).is_some_and(|part| !part.bytes.is_empty());
        match self.dialect.rules.game_lump {
            _ if self.members.is_empty() => {}
            None => return wrong(format!("{} maps have no game lump", self.dialect.title)),
            Some(index) if has_bytes(index) => return wrong("the game lump has members and other bytes".to_owned()),
            Some(_) => {}
        }
        let alignments = self.lumps.values().filter_map(|part| part.alignment).chain([self.members_at]);
        if let Some(other) = alignments.into_iter().find(|alignment| !alignment.is_power_of_two()) {
            return wrong(format!("{other} is not a power of two, and so not an alignment"));
        }
        let says_size = self.shape.entry.words().unpacked.is_some();
        if let Some((index, _)) = self.lumps.iter().find(|(_, part)| part.unpacked > 0 && !says_size) {
            let title = self.dialect.title;
            return wrong(format!(
                "entries of {title} maps have no size before compression: lump {index} cannot be compressed"
            ));
        }
        let mut seen = BTreeSet::new();
        if let Some(index) = self.order.iter().find(|index| !seen.insert(**index)) {
            return wrong(format!("the order has the lump {index} twice"));
        }
        let is_bad = |name: &&String| name.len() >= BSPX_NAME || name.contains('\0');
        match self.bspx.iter().map(|(name, _)| name).find(is_bad) {
            Some(name) => wrong(format!("`{}` is not a name of BSPX", escaped(name.as_bytes()))),
            None => Ok(()),
        }
    }

    /// Every lump once: in the order that was set, then in the dialect's order, then by index.
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
            let mut entry = BspxEntry { name: [0; BSPX_NAME], offset: offset(at)?, length: offset(bytes.len())? };
            entry.name.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
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
