//! How a map gets into memory: mapped where that is possible and asked for, else read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::bytes::Data;
use crate::error::{Error, ErrorKind, Result};

/// No directory reaches further: its numbers are signed and have 32 bits.
const MOST: u64 = 0x7FFF_FFFF;

/// The bytes of a file; one of more than 2 GiB is refused unread.
pub(crate) fn read(path: &Path) -> Result<Data<'static>> {
    let cannot = |error| Error::io(format!("cannot read {}", path.display()), error);
    let metadata = fs::metadata(path).map_err(cannot)?;
    if metadata.is_dir() {
        return Err(cannot(io::Error::other("it is a folder")));
    }
    if metadata.is_file() && metadata.len() > MOST {
        return Err(too_large(path, &format!("{} bytes", metadata.len())));
    }
    if metadata.is_file() && metadata.len() > 0 {
        // On Windows a mapped file cannot be replaced, and a save in place has to do just that.
        #[cfg(all(feature = "mmap", unix))]
        return Ok(Data::shared(map::file(path).map_err(cannot)?));
    }
    let mut bytes = Vec::new();
    // A device may have no end.
    File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= MOST => Ok(Data::from(bytes)),
        _ => Err(too_large(path, "more bytes than that")),
    }
}

fn too_large(path: &Path, size: &str) -> Error {
    let message = format!("{} is no map: maps end at 2 GiB, and it has {size}", path.display());
    Error::new(ErrorKind::TooLarge, message)
}

/// The crate's only unsafe line.
///
/// The mapping is read-only and private, and a save never writes to it: it renames a new file over the name, which
/// leaves the mapped one whole. What remains is that another program may cut the file short while it is open, which
/// ends this one; a library user who cannot have that leaves the feature `mmap` off.
#[cfg(all(feature = "mmap", unix))]
#[allow(unsafe_code)]
mod map {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    /// Maps a file for reading.
    pub(super) fn file(path: &Path) -> io::Result<memmap2::Mmap> {
        let file = File::open(path)?;
        // SAFETY: see the module; the bytes are only ever read through the shared slice.
        unsafe { memmap2::Mmap::map(&file) }
    }
}
