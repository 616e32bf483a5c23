//! Reads whole files with a limit: an endless stream, or a file larger than any map, is refused before memory runs out.
//!
//! ```
//! let text = bspkit::disk::input::read("docs/checks.md".as_ref())?;
//! assert!(!text.is_empty());
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::disk::shown;
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

/// Whether a file or folder exists. One that the system cannot look at, such as on a faulty disk, is an error and not
/// one that does not exist.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn is_there(path: &Path) -> Result<bool> {
    let there = crate::file::there(path);
    there.map(|there| there.is_some()).map_err(|error| cannot_read(path, error))
}

/// The text of a file in UTF-8, without a byte order mark.
///
/// # Errors
/// As [`open`]; the file is not UTF-8 text. Files of Windows programs in UTF-16 are named as such.
pub fn text(path: &Path) -> Result<String> {
    let bytes = read(path)?;
    refuse_utf16(path, &bytes)?;
    let text = without_mark(&bytes);
    match std::str::from_utf8(text) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let line = memchr::memchr_iter(b'\n', &text[..error.valid_up_to()]).count() + 1;
            let message = format!("{} is not UTF-8 text: line {line} has other bytes", shown(path));
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

/// The byte order mark of UTF-8, with which some programs of Windows begin a text.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether a text begins with the byte order mark of UTF-8.
pub fn has_mark(text: &[u8]) -> bool {
    text.starts_with(MARK)
}

/// A text without the byte order mark of UTF-8.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Whether a text begins with a byte order mark of UTF-16.
pub fn is_utf16(text: &[u8]) -> bool {
    text.starts_with(b"\xFF\xFE") || text.starts_with(b"\xFE\xFF")
}

/// Refuses the text of a file if it is UTF-16, which PowerShell writes by `>`.
///
/// # Errors
/// It is UTF-16. The file is named.
pub fn refuse_utf16(path: &Path, text: &[u8]) -> Result<()> {
    if !is_utf16(text) {
        return Ok(());
    }
    let name = if path == Path::new("-") { "the text from stdin".to_owned() } else { shown(path) };
    let error = Error::new(ErrorKind::Argument, format!("{name} is UTF-16 text, not UTF-8"));
    Err(error.with_hint("save it as UTF-8; `>` of PowerShell writes UTF-16, `>` of cmd and the option -o do not"))
}

/// Standard input, with the limit of a file, since it may be a map.
pub fn stdin() -> impl Read {
    Bounded { from: io::stdin().lock(), left: MOST }
}

/// The error of a file that cannot be read, with the cause.
pub fn cannot_read(path: &Path, error: io::Error) -> Error {
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
