//! The structs that locate lumps: directory entries of every shape, and the headers around them.

use crate::bytes::ByteOrder;
use crate::record::{Field, Record, decode_in, encode_in, records};

records! {
    /// A lump of the idTech family: `lump_t` of bspfile.h and qfiles.h.
    pub struct Entry(8) {
        /// Bytes from the start of the file.
        pub offset: i32,
        /// Bytes, without padding.
        pub length: i32,
    }

    /// A lump of a Source map: `lump_t` of the Source SDK's bspfile.h.
    pub struct SourceEntry(16) {
        /// Bytes from the start of the file.
        pub offset: i32,
        /// Bytes as stored.
        pub length: i32,
        /// The lump's own version; garbage in known cases.
        pub version: i32,
        /// 0, or the size after decompression (the field was named `fourCC` before).
        pub unpacked: i32,
    }

    /// A lump of a Left 4 Dead 2 map: the fields of [`SourceEntry`] in another order.
    pub struct Left4Dead2Entry(16) {
        /// The lump's own version.
        pub version: i32,
        /// Bytes from the start of the file.
        pub offset: i32,
        /// Bytes as stored.
        pub length: i32,
        /// 0, or the size after decompression.
        pub unpacked: i32,
    }

    /// A member of a Source map's game lump: `dgamelump_t`.
    pub struct GameLumpEntry(16) {
        /// Four characters in one number, the first in its highest byte: `prps` in a little-endian file is `sprp`.
        pub id: u32,
        /// Bit 0: compressed.
        pub flags: u16,
        /// The member's own version.
        pub version: u16,
        /// Bytes from the start of the file; on consoles from the start of the game lump.
        pub offset: i32,
        /// Bytes after decompression.
        pub length: i32,
    }

    /// The header before the entries of a BSPX block (bspx.txt of FTE).
    pub struct BspxHeader(8) {
        /// `BSPX`.
        pub magic: [u8; 4],
        /// How many entries follow.
        pub count: i32,
    }

    /// An entry of a BSPX block.
    pub struct BspxEntry(32) {
        /// Up to 23 characters, padded with NULs.
        pub name: [u8; 24],
        /// Bytes from the start of the file.
        pub offset: i32,
        /// Bytes.
        pub length: i32,
    }

    /// The extra header after the header of an Xash3D map with extra lumps. The twelve [`Entry`]s of these follow it.
    pub struct XashHeader(8) {
        /// `XASH`.
        pub magic: [u8; 4],
        /// 4.
        pub version: i32,
    }

    /// The last ten bytes of a Vampire: Bloodlines map whose entities were moved to the end of the file.
    pub struct BloodlinesTrailer(10) {
        /// The offset of lump 0.
        pub entities_offset: u32,
        /// `QnDbTm`.
        pub signature: [u8; 6],
    }

    /// The header before the lump in a lump file: `lumpfileheader_t`.
    pub struct LumpFileHeader(20) {
        /// Where the lump begins: 20, the size of this.
        pub lump_offset: i32,
        /// The lump's index.
        pub id: i32,
        /// The lump's own version.
        pub version: i32,
        /// Bytes of the lump.
        pub length: i32,
        /// The revision of the map.
        pub revision: i32,
    }

    /// The header before a compressed lump of a Source map: `lzma_header_t`.
    pub struct LzmaHeader(17) {
        /// `LZMA`.
        pub magic: [u8; 4],
        /// Bytes after decompression.
        pub unpacked: u32,
        /// Bytes of the stream that follows.
        pub packed: u32,
        /// One byte for `lc`, `lp` and `pb`, then the dictionary's size.
        pub properties: [u8; 5],
    }
}

/// The fields of a lump's entry, whatever its shape.
///
/// ```
/// use bspkit::file::directory::EntryShape;
/// let fields = EntryShape::Plain.read(&[160, 0, 0, 0, 8, 0, 0, 0]).unwrap();
/// assert_eq!((fields.offset, fields.length, fields.version), (160, 8, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryFields {
    /// Bytes from the start of the file.
    pub offset: i32,
    /// Bytes as stored.
    pub length: i32,
    /// The lump's own version, if entries have one.
    pub version: Option<i32>,
    /// 0 or the size after decompression, if entries have it.
    pub unpacked: Option<i32>,
}

/// How an entry of the lump directory is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryShape {
    /// [`Entry`].
    Plain,
    /// [`SourceEntry`].
    Source,
    /// [`SourceEntry`], big-endian.
    SourceBig,
    /// [`Left4Dead2Entry`].
    Left4Dead2,
}

impl EntryShape {
    /// The entry's size in bytes.
    pub const fn size(self) -> usize {
        match self {
            EntryShape::Plain => Entry::SIZE,
            EntryShape::Source | EntryShape::SourceBig => SourceEntry::SIZE,
            EntryShape::Left4Dead2 => Left4Dead2Entry::SIZE,
        }
    }

    /// The byte order of its numbers. The whole file has this order, except zip files and compressed data in it.
    pub const fn order(self) -> ByteOrder {
        match self {
            EntryShape::SourceBig => ByteOrder::Big,
            EntryShape::Plain | EntryShape::Source | EntryShape::Left4Dead2 => ByteOrder::Little,
        }
    }

    /// Reads an entry; `None` if there are too few bytes.
    pub fn read(self, bytes: &[u8]) -> Option<EntryFields> {
        Some(match self {
            EntryShape::Plain => {
                let Entry { offset, length } = Entry::decode(bytes)?;
                EntryFields { offset, length, version: None, unpacked: None }
            }
            EntryShape::Source | EntryShape::SourceBig => {
                let SourceEntry { offset, length, version, unpacked } = decode_in(self.order(), bytes)?;
                EntryFields { offset, length, version: Some(version), unpacked: Some(unpacked) }
            }
            EntryShape::Left4Dead2 => {
                let Left4Dead2Entry { version, offset, length, unpacked } = Left4Dead2Entry::decode(bytes)?;
                EntryFields { offset, length, version: Some(version), unpacked: Some(unpacked) }
            }
        })
    }

    /// The bytes of an entry with these fields, without the fields that the shape does not have.
    pub fn write(self, fields: EntryFields) -> Vec<u8> {
        let EntryFields { offset, length, version, unpacked } = fields;
        let (version, unpacked) = (version.unwrap_or(0), unpacked.unwrap_or(0));
        match self {
            EntryShape::Plain => Entry { offset, length }.encode(),
            EntryShape::Source | EntryShape::SourceBig => {
                encode_in(self.order(), &SourceEntry { offset, length, version, unpacked })
            }
            EntryShape::Left4Dead2 => Left4Dead2Entry { version, offset, length, unpacked }.encode(),
        }
    }

    /// The offsets of its words in the entry.
    pub(crate) const fn words(self) -> EntryWords {
        match self {
            EntryShape::Plain => EntryWords { offset: 0, length: 4, version: None, unpacked: None },
            EntryShape::Source | EntryShape::SourceBig => {
                EntryWords { offset: 0, length: 4, version: Some(8), unpacked: Some(12) }
            }
            EntryShape::Left4Dead2 => EntryWords { offset: 4, length: 8, version: Some(0), unpacked: Some(12) },
        }
    }
}

/// The offsets of [`EntryFields`] in an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryWords {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) version: Option<usize>,
    pub(crate) unpacked: Option<usize>,
}

/// Where a dialect's lump directory is and how it is laid out.
///
/// ```
/// let shape = bspkit::dialect::QUAKE2.shapes[0];
/// assert_eq!((shape.first, shape.count, shape.header_size()), (8, 19, 160));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryShape {
    /// The offset of the first entry.
    pub first: usize,
    /// How many entries there are.
    pub count: usize,
    /// How an entry is laid out.
    pub entry: EntryShape,
    /// Bytes of the header after the last entry: Source's map revision.
    pub trailing: usize,
}

impl DirectoryShape {
    /// The size of the whole header in bytes.
    pub const fn header_size(&self) -> usize {
        self.first + self.count * self.entry.size() + self.trailing
    }

    /// The byte order of numbers in the file.
    pub const fn order(&self) -> ByteOrder {
        self.entry.order()
    }

    /// The offset of an entry.
    pub const fn entry_offset(&self, index: usize) -> usize {
        self.first + index * self.entry.size()
    }

    /// The fields of all entries; fewer than `count` if the file ends within the directory.
    pub fn entries<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = EntryFields> + use<'a> {
        let Self { first, count, entry, .. } = *self;
        let directory = bytes.get(first..).unwrap_or_default();
        directory.chunks_exact(entry.size()).take(count).filter_map(move |bytes| entry.read(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_record_is_honest(noise in proptest::collection::vec(any::<u8>(), 64)) {
            let entries = [Entry::INFO, SourceEntry::INFO, Left4Dead2Entry::INFO, GameLumpEntry::INFO, BspxEntry::INFO];
            let heads = [BspxHeader::INFO, XashHeader::INFO, BloodlinesTrailer::INFO, LumpFileHeader::INFO];
            for info in entries.into_iter().chain(heads).chain([LzmaHeader::INFO]) {
                let bytes = &noise[..info.size];
                prop_assert_eq!((info.reencode)(bytes), bytes, "{}", info.name);
            }
        }

        #[test]
        fn entry_words_point_at_their_fields(bytes: [u8; 16]) {
            for shape in [EntryShape::Plain, EntryShape::Source, EntryShape::SourceBig, EntryShape::Left4Dead2] {
                let order = shape.order();
                let fields = shape.read(&bytes).unwrap();
                let EntryWords { offset, length, version, unpacked } = shape.words();
                prop_assert_eq!(order.word(&bytes, offset), Some(fields.offset));
                prop_assert_eq!(order.word(&bytes, length), Some(fields.length));
                prop_assert_eq!(version.and_then(|at| order.word(&bytes, at)), fields.version);
                prop_assert_eq!(unpacked.and_then(|at| order.word(&bytes, at)), fields.unpacked);
                prop_assert_eq!(shape.write(fields), &bytes[..shape.size()]);
            }
        }
    }
}
