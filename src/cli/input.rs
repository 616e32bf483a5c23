//! Files that a command reads whole: what could not end, or is larger than any map, is refused before memory ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No part of a map is larger: its numbers are signed and have 32 bits.
const MOST: u64 = 0x7FFF_FFFF;

/// A pipe does not say how much will come of it, and a device may have no end.
const MOST_STREAMED: u64 = 1 << 28;

/// A reader that fails where there is more to come than it may give.
struct Bounded<R> {
    from: R,
    left: u64,
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<impl Read> {
    let from = File::open(path)?;
    let there = from.metadata()?;
    match there.is_file() {
        true if there.len() > MOST => Err(too_large()),
        true => Ok(Bounded { from, left: MOST }),
        false => Ok(Bounded { from, left: MOST_STREAMED }),
    }
}

/// All bytes of a file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What comes from stdin, within the same bound.
pub(crate) fn stdin() -> impl Read {
    Bounded { from: io::stdin().lock(), left: MOST_STREAMED }
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "it has more bytes than any part of a map")
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.left).map_or(buffer.len(), |left| buffer.len().min(left.max(1)));
        let count = self.from.read(&mut buffer[..room])?;
        let read = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(read).ok_or_else(too_large)?;
        Ok(count)
    }
}
