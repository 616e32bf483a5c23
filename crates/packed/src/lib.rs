//! Maps where collections and servers keep them: compressed (`.bsp.bz2`, `.bsp.gz`, `.bsp.zst`), and in the archives of
//! games (`.pk3`, `.pk4`, `.zip`, `.pak`, `.vpk`).
//!
//! | what | where |
//! |---|---|
//! | a compressed map is read and written | [`Form`] |
//! | the maps in an archive | [`archive`] |
//!
//! ```
//! use bspkit_packed::Form;
//! let map = std::fs::read("../../tests/maps/q2/own_rooms.bsp")?;
//! let form = Form::of("own_rooms.bsp.bz2".as_ref()).unwrap();
//! let mut packed = Vec::new();
//! form.pack(&map, &mut packed)?;
//! assert!(packed.len() < map.len() / 2);
//! assert_eq!(form.unpack(&packed[..])?, map);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod archive;
mod gzip;
mod zstd;

use std::io::{self, Read, Write};
use std::path::Path;

use bspkit::{Error, ErrorKind, Result};

/// The largest map, in bytes, that is taken out of a compressed file or an archive: it is in memory.
pub const MOST: u64 = 1 << 29;

/// How a single file is compressed.
///
/// ```
/// use bspkit_packed::Form;
/// assert_eq!(Form::of("maps/dm4.BSP.gz".as_ref()), Some(Form::Gzip));
/// assert_eq!(Form::of("maps/dm4.bsp".as_ref()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RFC 1952: `.gz`. The header has no name and no time, so that the same map gives the same file.
    Gzip,
    /// `.bz2`, in blocks of 900,000 bytes: what Source servers offer to clients.
    Bzip2,
    /// RFC 8878: `.zst`.
    Zstd,
}

impl Form {
    /// The form of a file, by its extension.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "gz" => Some(Form::Gzip),
            "bz2" => Some(Form::Bzip2),
            "zst" => Some(Form::Zstd),
            _ => None,
        }
    }

    /// The form of bytes without a name, by how they begin: no map begins so.
    ///
    /// ```
    /// use bspkit_packed::Form;
    /// assert_eq!(Form::of_bytes(b"BZh91AY"), Some(Form::Bzip2));
    /// assert_eq!(Form::of_bytes(b"IBSP"), None);
    /// ```
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1F, 0x8B, 8, ..] => Some(Form::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Form::Bzip2),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Form::Zstd),
            _ => None,
        }
    }

    /// The bytes that were compressed.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] for a stream that is damaged or cut short; [`ErrorKind::TooLarge`] for more than
    /// [`MOST`] bytes; [`ErrorKind::Io`].
    pub fn unpack(self, packed: impl Read) -> Result<Vec<u8>> {
        match self {
            Form::Gzip => gzip::unpack(packed),
            Form::Bzip2 => {
                let mut bytes = Vec::new();
                read_into(&mut bytes, bzip2::read::MultiBzDecoder::new(packed)).map(|()| bytes)
            }
            Form::Zstd => zstd::unpack(packed),
        }
    }

    /// Writes the compressed bytes.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn pack(self, bytes: &[u8], to: impl Write) -> io::Result<()> {
        match self {
            Form::Gzip => {
                let mut stream = flate2::write::GzEncoder::new(to, flate2::Compression::best());
                stream.write_all(bytes)?;
                stream.finish().map(drop)
            }
            Form::Bzip2 => {
                let mut stream = bzip2::write::BzEncoder::new(to, bzip2::Compression::best());
                stream.write_all(bytes)?;
                stream.finish().map(drop)
            }
            Form::Zstd => {
                let mut to = to;
                let level = ruzstd::encoding::CompressionLevel::Fastest;
                to.write_all(&ruzstd::encoding::compress_to_vec(bytes, level))
            }
        }
    }
}

fn damaged() -> Error {
    Error::new(ErrorKind::Malformed, "the compressed data is damaged")
}

/// A save would lose them.
fn other_bytes() -> Error {
    Error::new(ErrorKind::Malformed, "bytes that are not compressed follow the compressed data")
}

/// Adds all bytes of a stream, up to [`MOST`] with those that are there.
fn read_into(bytes: &mut Vec<u8>, stream: impl Read) -> Result<()> {
    let left = (MOST + 1).saturating_sub(bspkit::bytes::wide(bytes.len()));
    match stream.take(left).read_to_end(bytes) {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(too_large()),
        Err(error) => Err(damaged().with_source(error)),
        Ok(_) if bspkit::bytes::wide(bytes.len()) > MOST => Err(too_large()),
        Ok(_) => Ok(()),
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::TooLarge, format!("it has more than {MOST} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Content of several pieces, each compressed by itself.
    fn pieces(form: Form) -> (Vec<u8>, [Vec<u8>; 2]) {
        let content = std::fs::read("../../tests/maps/q2/own_rooms.bsp").unwrap();
        let half = content.len() / 2;
        let packed = [&content[..half], &content[half..]].map(|piece| {
            let mut packed = Vec::new();
            form.pack(piece, &mut packed).unwrap();
            packed
        });
        (content, packed)
    }

    #[test]
    fn a_file_of_several_pieces_is_all_of_them() {
        for form in [Form::Gzip, Form::Bzip2, Form::Zstd] {
            let (content, [one, two]) = pieces(form);
            assert!(form.unpack(&[one.clone(), two.clone()].concat()[..]).unwrap() == content, "{form:?}");
            for end in [&b"own"[..], b"four and more bytes"] {
                assert!(form.unpack(&[&one[..], &two, end].concat()[..]).is_err(), "{form:?}");
                assert!(form.unpack(end).is_err(), "{form:?}");
            }
            assert!(form.unpack(&[&one[..], &two[..two.len() - 1]].concat()[..]).is_err(), "{form:?}");
        }
    }

    #[test]
    fn zeros_may_follow_gzip_and_nothing_else() {
        let (content, [one, two]) = pieces(Form::Gzip);
        let unpack = |end: &[u8]| Form::Gzip.unpack(&[&one[..], &two, end].concat()[..]);
        assert!(unpack(&[0; 70_000]).unwrap() == content);
        for end in [&b"own"[..], &[0, 0, 1], &[&[0; 10][..], &one].concat()] {
            let error = unpack(end).unwrap_err();
            assert_eq!(error.to_string(), "bytes that are not compressed follow the compressed data");
        }
    }

    #[test]
    fn frames_that_readers_skip_may_be_anywhere() {
        let (content, [one, two]) = pieces(Form::Zstd);
        let skipped = [&0x184D_2A5A_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"own"].concat();
        let all = [&skipped[..], &one, &skipped, &two, &skipped].concat();
        assert!(Form::Zstd.unpack(&all[..]).unwrap() == content);
        assert!(Form::Zstd.unpack(&all[..all.len() - 1]).is_err());
        assert_eq!(Form::Zstd.unpack(&skipped[..]).unwrap(), b"");
        assert!(Form::Zstd.unpack(&b""[..]).is_err());
    }

    /// A frame has a checksum of its content, and may say its size.
    #[test]
    fn a_frame_with_another_content_is_refused() {
        let raw = |descriptor: u8, size: u8, content: &[u8], sum: &[u8]| {
            let block = (u32::try_from(content.len()).unwrap() << 3 | 1).to_le_bytes();
            let start = [&0xFD2F_B528_u32.to_le_bytes()[..], &[descriptor, size]].concat();
            [&start[..], &block[..3], content, sum].concat()
        };
        let unpack = |frame: Vec<u8>| Form::Zstd.unpack(&frame[..]);
        // A frame of one segment with its size, and without a checksum.
        assert_eq!(unpack(raw(0x20, 3, b"own", b"")).unwrap(), b"own");
        for size in [2, 4] {
            assert!(unpack(raw(0x20, size, b"own", b"")).is_err(), "{size}");
        }
        // With one: the lower half of XXH64.
        let sum = [0x6F, 0x77, 0x6E, 0];
        assert!(unpack(raw(0x24, 3, b"own", &sum)).is_err());
        let (content, [mut one, two]) = pieces(Form::Zstd);
        let last = one.len() - 1;
        one[last] ^= 1;
        assert!(Form::Zstd.unpack(&one[..]).is_err());
        one[last] ^= 1;
        assert!(Form::Zstd.unpack(&[one, two].concat()[..]).unwrap() == content);
    }
}
