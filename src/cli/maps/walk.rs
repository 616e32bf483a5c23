//! The maps in a folder and in the folders in it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Error, anyhow};
use bspkit::ErrorKind;
use bspkit::face::folder::is_unpacked;

use super::{MapFile, Trouble};
use crate::cli::show::shown;

/// An entry of a folder that waits to be read.
struct Entry {
    path: PathBuf,
    name: PathBuf,
    has_twin: bool,
}

/// All maps below a folder, sorted by name.
///
/// Waiting folders are in a list and not on the call stack, and a visited folder is recognized by its number in the
/// file system. So the time for a deep folder grows only in proportion to its depth.
pub(super) fn folder(root: &Path) -> Vec<Result<MapFile, Trouble>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![Entry { path: root.to_path_buf(), name: PathBuf::new(), has_twin: false }];
    while let Some(Entry { path, name, has_twin }) = waiting.pop() {
        let there = fs::metadata(&path);
        if there.as_ref().is_ok_and(Metadata::is_dir) {
            match entries(&path, &name, &mut seen) {
                Ok(entries) => waiting.extend(entries.into_iter().rev()),
                Err(error) => {
                    let error = Error::new(error).context(format!("cannot read {}", shown(&path)));
                    found.push(Err(Trouble { path, name, error, is_map: true }));
                }
            }
        } else if name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp")) {
            found.push(match there {
                // Opening a pipe would wait for a writer. A file without metadata fails later, when it is opened.
                Ok(there) if !there.is_file() => {
                    let error = bspkit::Error::new(ErrorKind::Io, format!("{} is not a file", shown(&path)));
                    Err(Trouble { path, name, error: error.into(), is_map: true })
                }
                _ => Ok(MapFile { path, name, target: None, is_one_of_many: true, has_twin }),
            });
        }
    }
    if found.is_empty() {
        let error = anyhow!("there is no map (*.bsp) in {}", shown(root));
        let (path, name) = (root.to_path_buf(), root.to_path_buf());
        found.push(Err(Trouble { path, name, error, is_map: false }));
    }
    found
}

/// All unpacked maps below a folder, sorted by name.
pub(super) fn unpacked(root: &Path) -> Vec<Result<MapFile, Trouble>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![(root.to_path_buf(), PathBuf::new())];
    while let Some((path, name)) = waiting.pop() {
        if is_unpacked(&path) {
            found.push(Ok(MapFile { path, name, target: None, is_one_of_many: true, has_twin: true }));
            continue;
        }
        match entries(&path, &name, &mut seen) {
            Ok(entries) => {
                let folders = entries.into_iter().filter(|entry| entry.path.is_dir());
                waiting.extend(folders.rev().map(|entry| (entry.path, entry.name)));
            }
            Err(error) => {
                let error = Error::new(error).context(format!("cannot read {}", shown(&path)));
                found.push(Err(Trouble { path, name, error, is_map: true }));
            }
        }
    }
    if found.is_empty() {
        let error = anyhow!("there is no unpacked map (a folder with manifest.json) in {}", shown(root));
        let (path, name) = (root.to_path_buf(), root.to_path_buf());
        found.push(Err(Trouble { path, name, error, is_map: false }));
    }
    found
}

/// The entries of a folder, sorted by name. Empty for a folder that was visited before, which a symbolic link can lead
/// back to.
fn entries(folder: &Path, below: &Path, seen: &mut HashSet<FolderId>) -> io::Result<Vec<Entry>> {
    if !seen.insert(id(folder)?) {
        return Ok(Vec::new());
    }
    let mut names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()?;
    names.sort();
    let mut stems = HashSet::new();
    let entry = |file: OsString| {
        let name = below.join(&file);
        let is_map = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp"));
        let has_twin =
            is_map && !stems.insert(Path::new(&file).with_extension("").into_os_string().to_ascii_lowercase());
        Entry { path: folder.join(&file), name, has_twin }
    };
    Ok(names.into_iter().map(entry).collect())
}

/// Identifies a folder.
#[cfg(unix)]
type FolderId = (u64, u64);
#[cfg(not(unix))]
type FolderId = PathBuf;

#[cfg(unix)]
fn id(folder: &Path) -> io::Result<FolderId> {
    use std::os::unix::fs::MetadataExt;
    let there = fs::metadata(folder)?;
    Ok((there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn id(folder: &Path) -> io::Result<FolderId> {
    // Some systems have no full paths, or none this long. A path that leads back ends at the limit of their length.
    Ok(fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf()))
}
