//! Writes files that are not maps: completely or not at all, and over existing files only on request.
//!
//! ```
//! use bspkit::disk::put::put;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("note.txt");
//! put(&path, b"one", false)?;
//! assert!(put(&path, b"two", false).is_err());
//! put(&path, b"two", true)?;
//! assert_eq!(std::fs::read(&path)?, b"two");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::disk::shown;
use crate::file::{Temporary, is_read_only, names, read_only};
use crate::{Error, ErrorKind, Hint, Result};

/// Writes a file. An existing file with the same bytes is left as it is; another one is replaced only with `force`. A
/// symbolic link is not followed.
///
/// # Errors
/// [`ErrorKind::Refused`] for an existing file that is not replaced; [`ErrorKind::Io`] for what the system refuses.
pub fn put(path: &Path, data: &[u8], force: bool) -> Result<()> {
    if let Some(there) = there(path)? {
        if !there.is_file() {
            return Err(no_file(path, &there));
        }
        let is_same = u64::try_from(data.len()) == Ok(there.len()) && fs::read(path).is_ok_and(|old| *old == *data);
        match (is_same, force) {
            (true, _) => return Ok(()),
            (_, false) => return Err(exists(path, "with other content")),
            (_, true) => {}
        }
    }
    stream(path, force, |file| file.write_all(data).map_err(|error| Error::new(ErrorKind::Io, error.to_string())))
}

/// Writes a file in pieces: first to a temporary file in the same folder, which then gets its name. So the file that is
/// replaced can be read during the write.
///
/// # Errors
/// As [`put`], and those of `write`.
pub fn stream(path: &Path, force: bool, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    names::refuse(path)?;
    refuse(path, force)?;
    let temporary = Temporary::beside(path).map_err(|error| cannot(path, error))?;
    let mut file = BufWriter::new(temporary.file());
    write(&mut file).map_err(|error| error.within(format!("cannot write {}", shown(path))))?;
    file.into_inner().map_err(|error| cannot(path, error.into_error()))?;
    let named = match force {
        true => temporary.persist(path).map(drop),
        false => temporary.persist_new(path).map(drop),
    };
    named.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path, "already"),
        _ => cannot(path, error),
    })
}

/// Creates a folder, and the folders that it is in, if they are not there.
///
/// # Errors
/// [`ErrorKind::Refused`] for a name that Windows does not allow, on Windows; [`ErrorKind::Io`].
///
/// ```
/// let base = tempfile::tempdir()?;
/// bspkit::disk::put::folder(&base.path().join("a/b"))?;
/// assert!(base.path().join("a/b").is_dir());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn folder(path: &Path) -> Result<()> {
    names::refuse(path)?;
    let failed = |error| Error::io(format!("cannot create the folder {}", shown(path)), error);
    fs::create_dir_all(path).map_err(failed)
}

/// Refuses an existing file, except with `force`, one that is read-only, and anything else: a folder, a link, a device.
///
/// # Errors
/// [`ErrorKind::Refused`].
pub fn refuse(path: &Path, force: bool) -> Result<()> {
    match there(path)? {
        Some(there) if !there.is_file() => Err(no_file(path, &there)),
        Some(_) if !force => Err(exists(path, "already")),
        Some(there) if is_read_only(&there) => Err(read_only(path).with_hint("make it writable")),
        _ => Ok(()),
    }
}

/// The error about something that is there and cannot be replaced by a file.
fn no_file(path: &Path, there: &Metadata) -> Error {
    let what = match () {
        () if there.is_dir() => "is a folder",
        () if there.is_symlink() => "is a symbolic link, which is not followed",
        () => "exists and is not a regular file",
    };
    Error::new(ErrorKind::Refused, format!("{} {what}", shown(path)))
}

/// The file, folder or link with this name; `None` if there is certainly none.
fn there(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(there) => Ok(Some(there)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(cannot(path, error)),
    }
}

fn cannot(path: &Path, error: io::Error) -> Error {
    Error::io(format!("cannot write {}", shown(path)), error)
}

fn exists(path: &Path, how: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{} exists {how}", shown(path))).with_hint(Hint::Replace)
}
