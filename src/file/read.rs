//! How a map gets into memory: it is mapped if that is possible and enabled, otherwise read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::busy::patiently;
use super::target::{Origin, Stamp, written_meanwhile};
use crate::bytes::Data;
use crate::error::{Error, ErrorKind, Result};

/// The largest file in bytes: directories have signed 32-bit numbers.
const MOST: u64 = 0x7FFF_FFFF;

/// How the bytes of a file get into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// All are read at once.
    Read,
    /// The file is mapped, where systems and files allow it.
    Map,
}

/// Smaller files are read: that takes a tenth of a millisecond, and other programs cannot change what was read.
#[cfg(all(feature = "mmap", unix))]
const LEAST_MAPPED: u64 = 256 << 10;

/// The bytes of a file, and their origin. A file of more than 2 GiB is refused before it is read, and one into which
/// another program writes meanwhile afterwards.
pub(crate) fn read(path: &Path, access: Access) -> Result<(Data<'static>, Option<Origin>)> {
    let cannot = |error| Error::io(format!("cannot read {}", path.display()), error);
    // Opening a pipe waits for another program, so the kind of the file is checked first.
    if fs::metadata(path).map_err(cannot)?.is_dir() {
        return Err(cannot(io::Error::other("it is a folder")));
    }
    let file = patiently(path, || File::open(path)).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if metadata.is_file() && metadata.len() > MOST {
        return Err(too_large(path, &format!("{} bytes", metadata.len())));
    }
    let origin = Origin::new(path, &metadata);
    // On Windows a mapped file cannot be replaced, but a save in place must replace it.
    #[cfg(all(feature = "mmap", unix))]
    if access == Access::Map && metadata.is_file() && metadata.len() >= LEAST_MAPPED {
        let data = Data::shared(map::file(&file).map_err(cannot)?);
        return Ok((data, origin.map(|origin| origin.mapped(file))));
    }
    let _ = access;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // The size of a device or pipe is not known and may be unlimited.
    (&file).take(MOST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    let now = file.metadata().map_err(cannot)?;
    if metadata.is_file() && !Stamp::new(&now).has_content_of(&Stamp::new(&metadata)) {
        return Err(written_meanwhile(path));
    }
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= MOST => Ok((Data::from(bytes), origin)),
        _ => Err(too_large(path, "more bytes than that")),
    }
}

fn too_large(path: &Path, size: &str) -> Error {
    let message = format!("{} is not a map: maps have at most 2 GiB, and it has {size}", path.display());
    Error::new(ErrorKind::TooLarge, message)
}

/// The library's only unsafe line.
///
/// The mapping is read-only and shared: a save never writes to it, since it renames a new file over the name, which
/// does not change the mapped file. If another program writes into the file while it is open, the mapping changes too:
/// two reads of the same bytes may then differ. [`Origin::check_mapped`] sees that, and every save looks. If another
/// program shortens the file, a read past its new end stops the process by SIGBUS. So [`crate::Bsp::open`] reads, and
/// only who asks for a mapping has one: [`crate::Bsp::open_mapped`].
#[cfg(all(feature = "mmap", unix))]
#[allow(unsafe_code)]
mod map {
    use std::fs::File;
    use std::io;

    /// Maps a file for reading.
    pub(super) fn file(file: &File) -> io::Result<memmap2::Mmap> {
        // SAFETY: see the module; the bytes are only read through the shared slice.
        unsafe { memmap2::Mmap::map(file) }
    }
}
