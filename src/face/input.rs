//! Reads whole files with a limit: an endless stream, or a file larger than any map, is refused before memory runs out.
//!
//! ```
//! let text = bspkit::face::input::read("docs/checks.md".as_ref())?;
//! assert!(!text.is_empty());
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::face::shown;
use crate::{Error, ErrorKind, Result};

/// The most bytes of a file. No part of a map is larger, since its sizes are signed 32-bit numbers.
const MOST: u64 = 0x7FFF_FFFF;

/// The most bytes of a pipe or a device, which have no known size and may be endless.
const MOST_STREAMED: u64 = 1 << 28;

/// A reader that fails if there are more bytes than the limit.
struct Bounded<R> {
    from: R,
    left: u64,
}

/// Opens a file for reading.
///
/// # Errors
/// The file cannot be read, or is too large.
pub fn open(path: &Path) -> Result<impl Read + use<>> {
    let opened = File::open(path).and_then(|from| {
        let there = from.metadata()?;
        match there.is_file() {
            true if there.len() > MOST => Err(too_large()),
            true => Ok(Bounded { from, left: MOST }),
            false => Ok(Bounded { from, left: MOST_STREAMED }),
        }
    });
    opened.map_err(|error| cannot_read(path, error))
}

/// All bytes of a file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|error| cannot_read(path, error))?;
    Ok(bytes)
}

/// The text of a file in UTF-8, without a byte order mark.
///
/// # Errors
/// As [`open`]; the file is not UTF-8 text. Files of Windows programs in UTF-16 are named as such.
pub fn text(path: &Path) -> Result<String> {
    let bytes = read(path)?;
    let wrong = |why: &str| Error::new(ErrorKind::Argument, format!("{} is {why}", shown(path)));
    if let Some(why) = utf16(&bytes) {
        return Err(wrong(why).with_hint("save it as UTF-8"));
    }
    let start = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    match std::str::from_utf8(&bytes[start..]) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let line = memchr::memchr_iter(b'\n', &bytes[..start + error.valid_up_to()]).count() + 1;
            Err(wrong(&format!("not UTF-8 text: line {line} has other bytes")))
        }
    }
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a text is that begins with a byte order mark of UTF-16.
pub fn utf16(bytes: &[u8]) -> Option<&'static str> {
    (bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")).then_some("UTF-16 text, not UTF-8")
}

/// Standard input, with the limit of a file, since it may be a map.
pub fn stdin() -> impl Read {
    Bounded { from: io::stdin().lock(), left: MOST }
}

pub(crate) fn cannot_read(path: &Path, error: io::Error) -> Error {
    Error::io(format!("cannot read {}", shown(path)), error)
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
