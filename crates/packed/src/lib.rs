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
    /// RFC 8878: `.zst`. It is read from one frame.
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
            Form::Gzip => bounded(flate2::read::MultiGzDecoder::new(packed)),
            Form::Bzip2 => bounded(bzip2::read::MultiBzDecoder::new(packed)),
            Form::Zstd => {
                // What the decoder says of damage are the names of its own types.
                let stream = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|_| damaged())?;
                bounded(stream).map_err(|error| if error.kind() == ErrorKind::Malformed { damaged() } else { error })
            }
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

/// All bytes of a stream, up to [`MOST`].
fn bounded(stream: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stream.take(MOST + 1).read_to_end(&mut bytes);
    match read {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(too_large()),
        Err(error) => Err(damaged().with_source(error)),
        Ok(read) if bspkit::bytes::wide(read) > MOST => Err(too_large()),
        Ok(_) => Ok(bytes),
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::TooLarge, format!("it has more than {MOST} bytes"))
}
