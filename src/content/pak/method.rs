//! Method 14: LZMA with a header of 9 bytes, where lumps have one of 17.

use super::record::LzmaEntryHeader;
use crate::file::lzma;
use crate::record::{Field, Record};
use crate::{Error, ErrorKind, Result};

pub(super) const STORED: u16 = 0;
pub(super) const LZMA: u16 = 14;

/// The versions of the format that readers of stored and of LZMA files need, as Valve's writer states them.
pub(super) const STORED_NEEDS: u16 = 10;
pub(super) const LZMA_NEEDS: u16 = 63;

/// The version of the LZMA SDK that Source SDK 2013 states; readers do not look at it.
const SDK: (u8, u8) = (9, 38);

/// Extensions of files that an engine cannot play if they are compressed: it reads them in pieces, which needs a stored
/// file.
const NEVER: [&[u8]; 5] = [b"mp3", b"wav", b"ogg", b"ani", b"vcs"];

/// Whether files of this name must not be compressed.
pub(super) fn is_read_in_pieces(name: &[u8]) -> bool {
    let extension = name.rsplit(|byte| *byte == b'.').next().filter(|extension| extension.len() < name.len());
    extension.is_some_and(|extension| NEVER.iter().any(|never| never.eq_ignore_ascii_case(extension)))
}

/// Decompresses a file and returns how many bytes follow its stream.
pub(super) fn unpack(stored: &[u8], size: usize) -> Result<(Vec<u8>, usize)> {
    let header = LzmaEntryHeader::decode(stored).filter(|header| header.properties_size == 5);
    let malformed = || Error::new(ErrorKind::Malformed, "the LZMA data is damaged: it does not begin with a header");
    let header = header.ok_or_else(malformed)?;
    lzma::decode(header.properties, &stored[LzmaEntryHeader::SIZE..], size)
}

/// Compresses a file.
pub(super) fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = vec![0; LzmaEntryHeader::SIZE];
    let properties = lzma::encode(bytes, lzma::DECLARED_DICTIONARY, &mut packed)?;
    let header = LzmaEntryHeader { major: SDK.0, minor: SDK.1, properties_size: 5, properties };
    packed[..LzmaEntryHeader::SIZE].copy_from_slice(&header.encode());
    Ok(packed)
}
