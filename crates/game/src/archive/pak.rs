//! PAK files: `PACK`, the offset and the length of the directory; in it for each file a name of 56 bytes, its offset
//! and its length. Source: `COM_LoadPackFile` of the engine of Quake.

use std::io::{Read as _, SeekFrom};

use bspkit::bytes::index;
use bspkit::{Error, ErrorKind, Result};

use super::{Source, too_large};

/// The bytes of the header and of an entry.
const HEADER: u32 = 12;
const ENTRY: usize = 64;
const NAME: usize = 56;

/// More bytes of directories are not read: engines take a few thousand files.
const MOST_DIRECTORY: u32 = 64 << 20;

pub(super) struct Pak {
    file: Box<dyn Source>,
    entries: Vec<Entry>,
}

struct Entry {
    name: Vec<u8>,
    start: u32,
    length: u32,
}

impl std::fmt::Debug for Pak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pak({} files)", self.entries.len())
    }
}

impl Pak {
    pub(super) fn new(mut file: Box<dyn Source>) -> Result<Self> {
        let header = bytes_at(&mut *file, 0, HEADER)?;
        let place = word(&header, 4).zip(word(&header, 8)).filter(|_| header.starts_with(b"PACK"));
        let Some((start, length)) = place else {
            return Err(Error::new(ErrorKind::Malformed, "it is not a PAK file"));
        };
        if length > MOST_DIRECTORY {
            return Err(too_large(index(MOST_DIRECTORY)));
        }
        let directory = bytes_at(&mut *file, start, length)?;
        let entry = |entry: &[u8]| {
            let name = entry.get(..NAME)?.split(|byte| *byte == 0).next()?;
            let name = name.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect();
            Some(Entry { name, start: word(entry, NAME)?, length: word(entry, NAME + 4)? })
        };
        let entries = directory.chunks_exact(ENTRY).filter_map(entry).collect();
        Ok(Pak { file, entries })
    }

    pub(super) fn names(&self) -> Vec<Vec<u8>> {
        self.entries.iter().map(|entry| entry.name.clone()).collect()
    }

    pub(super) fn read(&mut self, at: usize, most: usize) -> Result<Vec<u8>> {
        let Entry { start, length, .. } = self.entries[at];
        if index(length) > most {
            return Err(too_large(most));
        }
        bytes_at(&mut *self.file, start, length)
    }
}

/// Bytes of a file, from an offset on; an error if the file ends before.
fn bytes_at(file: &mut dyn Source, start: u32, length: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(start.into())).and_then(|_| file.take(length.into()).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(Error::new(ErrorKind::Io, "the archive cannot be read").with_source(error)),
        Ok(read) if read < index(length) => Err(Error::new(ErrorKind::Malformed, "the archive is cut short")),
        Ok(_) => Ok(bytes),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
