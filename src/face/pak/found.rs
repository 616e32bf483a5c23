//! The files of a folder, which can become embedded files.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::content::pak::{is_of_system, lookup_name};
use crate::face::{input, shown};
use crate::file::names::path_hazard;
use crate::{Error, ErrorKind, Result};

/// How embedded files get their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// In lower case and with `/` for `\`, the form in which engines look them up. Files that file managers create are
    /// left out, and those whose names are hazardous on a disk.
    Normal,
    /// As they are written, and all of them.
    AsIs,
}

impl Names {
    /// The name of an embedded file.
    ///
    /// ```
    /// use bspkit::face::pak::Names;
    /// assert_eq!(Names::Normal.name(b"Materials\\Wall.vmt"), b"materials/wall.vmt");
    /// assert_eq!(Names::AsIs.name(b"Materials\\Wall.vmt"), b"Materials\\Wall.vmt");
    /// ```
    pub fn name(self, written: &[u8]) -> Vec<u8> {
        if self == Names::Normal { lookup_name(written) } else { written.to_vec() }
    }

    /// Why a file that was found in a folder is left out: file managers create it, or no map should write such a file
    /// to somebody's disk ([`path_hazard`]).
    ///
    /// ```
    /// use bspkit::face::pak::Names; assert!(Names::Normal.leaves_out(b"materials/Thumbs.db").is_some() &&
    /// Names::Normal.leaves_out(b".env").is_some()); assert_eq!(Names::Normal.leaves_out(b"materials/wall.vmt"), None);
    /// ```
    pub fn leaves_out(self, path: &[u8]) -> Option<&'static str> {
        match self {
            Names::AsIs => None,
            Names::Normal if is_of_system(path) => Some("file managers and version control create it"),
            Names::Normal => path_hazard(path),
        }
    }
}

/// A file below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundFile {
    /// The path below the folder, with `/` between its parts.
    pub name: Vec<u8>,
    /// The path on disk.
    pub path: PathBuf,
}

/// All files below a folder, also those that [`is_of_system`], each folder's sorted by name.
///
/// # Errors
/// [`ErrorKind::Io`] if the folder cannot be read; [`ErrorKind::Refused`] for a symbolic link below it, since it can
/// lead out of the folder, and for what is neither a file nor a folder.
pub fn files_in(folder: &Path) -> Result<Vec<FoundFile>> {
    let mut found = Vec::new();
    let mut waiting = vec![FoundFile { name: Vec::new(), path: folder.to_path_buf() }];
    while let Some(FoundFile { name, path }) = waiting.pop() {
        let there = match name.is_empty() {
            true => fs::metadata(&path),
            false => fs::symlink_metadata(&path),
        };
        let there = there.map_err(|error| input::cannot_read(&path, error))?;
        let refused = |what: &str| Err(Error::new(ErrorKind::Refused, format!("{} {what}", shown(&path))));
        match there {
            _ if there.is_dir() => waiting.extend(entries(&path, &name)?.into_iter().rev()),
            // A repository may have links.
            _ if !there.is_file() && is_of_system(&name) => {}
            _ if there.is_symlink() => return refused("is a symbolic link, which is not followed"),
            _ if !there.is_file() => return refused("is neither a file nor a folder"),
            _ => found.push(FoundFile { name, path }),
        }
    }
    Ok(found)
}

fn entries(folder: &Path, below: &[u8]) -> Result<Vec<FoundFile>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| input::cannot_read(folder, error))?;
    let mut names: Vec<OsString> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    let prefix = if below.is_empty() { Vec::new() } else { [below, b"/"].concat() };
    let found =
        |file: OsString| FoundFile { name: [&prefix[..], file.as_encoded_bytes()].concat(), path: folder.join(&file) };
    Ok(names.into_iter().map(found).collect())
}
