//! How a map gets into memory: mapped where that is possible and asked for, else read.

use std::fs;
use std::io;
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
        let message = format!("{} is no map: it has {} bytes, and maps end at 2 GiB", path.display(), metadata.len());
        return Err(Error::new(ErrorKind::TooLarge, message));
    }
    if metadata.is_file() && metadata.len() > 0 {
        // On Windows a mapped file cannot be replaced, and a save in place has to do just that.
        #[cfg(all(feature = "mmap", unix))]
        return Ok(Data::shared(map::file(path).map_err(cannot)?));
    }
    Ok(Data::from(fs::read(path).map_err(cannot)?))
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
