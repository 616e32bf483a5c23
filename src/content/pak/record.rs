//! The records of a zip, as Valve's writer uses them (the Source SDK's zip_uncompressed.h; PKWARE's APPNOTE.TXT 6.3.x).

use crate::record::records;

/// Begins a local header.
pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// Begins a central record.
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
/// Begins the end record.
pub(super) const END: [u8; 4] = *b"PK\x05\x06";
/// Begins a data descriptor, where its writer gave it a signature.
pub(super) const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// Begins the locator of a zip64 end record, directly before the end record.
pub(super) const ZIP64_LOCATOR: [u8; 4] = *b"PK\x06\x07";

/// Bits of a record's flags.
pub(super) const ENCRYPTED: u16 = 1;
/// The sizes and the CRC are after the data, not in the local header.
pub(super) const HAS_DESCRIPTOR: u16 = 1 << 3;
/// The flag of LZMA data that ends with a marker.
pub(super) const HAS_END_MARKER: u16 = 1 << 1;
/// The flag of a name in UTF-8; without it zip readers take the name for that of another code page.
pub(super) const UTF8_NAME: u16 = 1 << 11;
/// The flags that describe the data and are wrong once it is stored in another way: options of the method, the
/// descriptor.
pub(super) const ABOUT_DATA: u16 = 0b1110;

records! {
    /// A local header: `ZIP_LocalFileHeader`. The name and the extra field follow, then the data.
    pub struct LocalHeader(30) {
        /// `PK\x03\x04`.
        pub signature: [u8; 4],
        /// The version of the format that a reader needs.
        pub version_needed: u16,
        /// Flags: encrypted, has a data descriptor and others; 0 in Valve's.
        pub flags: u16,
        /// How the data is stored.
        pub method: u16,
        /// The time as DOS keeps it; 0 in Valve's.
        pub time: u16,
        /// The date as DOS keeps it; 0 in Valve's.
        pub date: u16,
        /// The CRC-32 of the uncompressed data.
        pub crc: u32,
        /// The size of the stored data.
        pub stored_size: u32,
        /// The size of the data, uncompressed.
        pub size: u32,
        /// The length of the name.
        pub name_length: u16,
        /// The length of the extra field.
        pub extra_length: u16,
    }

    /// A record of the central directory: `ZIP_FileHeader`. The name, the extra field and a comment follow.
    pub struct CentralHeader(46) {
        /// `PK\x01\x02`.
        pub signature: [u8; 4],
        /// The version of the writer; 20 in Valve's.
        pub version_made_by: u16,
        /// The version of the format that a reader needs: 10, or 63 for LZMA.
        pub version_needed: u16,
        /// As in the local header.
        pub flags: u16,
        /// As in the local header.
        pub method: u16,
        /// As in the local header.
        pub time: u16,
        /// As in the local header.
        pub date: u16,
        /// As in the local header.
        pub crc: u32,
        /// As in the local header.
        pub stored_size: u32,
        /// As in the local header.
        pub size: u32,
        /// As in the local header.
        pub name_length: u16,
        /// The length of the extra field, with which engines find the data as well.
        pub extra_length: u16,
        /// The length of the comment.
        pub comment_length: u16,
        /// The disk on which the file begins.
        pub disk: u16,
        /// Bit 0: the file is a text.
        pub internal_attributes: u16,
        /// Attributes of the file system that it comes from.
        pub external_attributes: u32,
        /// Where the local header is, in bytes from the start of the pakfile.
        pub local_offset: u32,
    }

    /// The end record: `ZIP_EndOfCentralDirRecord`. The comment follows.
    pub struct EndRecord(22) {
        /// `PK\x05\x06`.
        pub signature: [u8; 4],
        /// The number of this disk.
        pub disk: u16,
        /// The disk on which the directory begins.
        pub directory_disk: u16,
        /// How many files the directory has on this disk.
        pub count_here: u16,
        /// How many files the directory has.
        pub count: u16,
        /// The directory's size in bytes.
        pub directory_size: u32,
        /// Where the directory begins, in bytes from the start of the pakfile.
        pub directory_offset: u32,
        /// The length of the comment.
        pub comment_length: u16,
    }

    /// The header before the stream of an LZMA entry: `ZIP_LZMA_Header`.
    pub struct LzmaEntryHeader(9) {
        /// The version of the LZMA SDK.
        pub major: u8,
        /// Its second number.
        pub minor: u8,
        /// The size of the properties: 5.
        pub properties_size: u16,
        /// lc, lp and pb in one byte, then the size of the dictionary.
        pub properties: [u8; 5],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_are_honest(noise in proptest::collection::vec(any::<u8>(), 64)) {
            for info in [LocalHeader::INFO, CentralHeader::INFO, EndRecord::INFO, LzmaEntryHeader::INFO] {
                let bytes = &noise[..info.size];
                prop_assert_eq!(&(info.reencode)(bytes)[..], bytes, "{}", info.name);
            }
        }
    }
}
