//! The maps in a folder and in the folders in it.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Error, anyhow};
use bspkit::ErrorKind;
use bspkit::disk::names as disk_names;
use bspkit_text::folder::is_unpacked;

use super::{MapFile, Trouble};
use crate::talk::shown;
use crate::words::is_map_name;

/// An entry of a folder that waits to be read.
struct Entry {
    path: PathBuf,
    name: PathBuf,
    is_link: bool,
    has_twin: bool,
}

/// What waits to be read, in the order of names.
///
/// It is a list and not on the call stack, and a visited folder is recognized by its number in the file system. So the
/// time for a deep folder grows only in proportion to its depth. Links to folders wait until all other folders are
/// read: a folder that is there itself has its own name.
struct Waiting {
    entries: Vec<Entry>,
    links: VecDeque<Entry>,
    seen: HashSet<FolderId>,
}

impl Waiting {
    fn new(root: &Path) -> Self {
        let root = Entry { path: root.to_path_buf(), name: PathBuf::new(), is_link: true, has_twin: false };
        Waiting { entries: Vec::new(), links: VecDeque::from([root]), seen: HashSet::new() }
    }

    fn next(&mut self) -> Option<Entry> {
        while let Some(entry) = self.entries.pop() {
            if !entry.is_link || !entry.path.is_dir() {
                return Some(entry);
            }
            self.links.push_back(entry);
        }
        self.links.pop_front()
    }

    /// Adds the entries of a folder: none if it was visited before, which a symbolic link can lead back to.
    fn add(&mut self, folder: &Path, below: &Path) -> io::Result<()> {
        if !self.seen.insert(id(folder)?) {
            return Ok(());
        }
        let read = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_symlink())))
        };
        let mut names = fs::read_dir(folder)?.map(read).collect::<io::Result<Vec<(OsString, bool)>>>()?;
        names.sort();
        let mut stems = HashSet::new();
        let entry = |(file, is_link): (OsString, bool)| {
            let name = below.join(&file);
            let is_map = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp"));
            let has_twin =
                is_map && !stems.insert(Path::new(&file).with_extension("").into_os_string().to_ascii_lowercase());
            Entry { path: folder.join(&file), name, is_link, has_twin }
        };
        let entries: Vec<Entry> = names.into_iter().map(entry).collect();
        self.entries.extend(entries.into_iter().rev());
        Ok(())
    }
}

/// In the order of their names: what links lead to was found last.
fn sorted(mut found: Vec<Result<MapFile, Trouble>>) -> Vec<Result<MapFile, Trouble>> {
    let name = |found: &Result<MapFile, Trouble>| match found {
        Ok(map) => map.name.clone(),
        Err(trouble) => trouble.name.clone(),
    };
    found.sort_by_cached_key(name);
    found
}

/// A folder that cannot be read.
fn unread(path: PathBuf, name: PathBuf, error: io::Error) -> Trouble {
    let error = Error::new(error).context(format!("cannot read {}", shown(&path)));
    Trouble { path, name, error, is_map: true }
}

/// A folder in which nothing is.
fn empty(root: &Path, what: &str) -> Trouble {
    let error = anyhow!("there is no {what} in {}", shown(root));
    Trouble { path: root.to_path_buf(), name: root.to_path_buf(), error, is_map: false }
}

/// All maps below a folder, sorted by name.
pub(super) fn maps(root: &Path, passed: &mut usize) -> Vec<Result<MapFile, Trouble>> {
    let (mut found, mut waiting) = (Vec::new(), Waiting::new(root));
    while let Some(Entry { path, name, has_twin, .. }) = waiting.next() {
        let there = fs::metadata(&path);
        if there.as_ref().is_ok_and(Metadata::is_dir) {
            if let Err(error) = waiting.add(&path, &name) {
                found.push(Err(unread(path, name, error)));
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
        } else if is_map_name(&name) {
            *passed += 1;
        }
    }
    part_folders(&mut found);
    if found.is_empty() {
        found.push(Err(empty(root, "map (*.bsp)")));
    }
    sorted(found)
}

/// What belongs to a map lies in a folder of its name without the extension; of a map that has the name of a folder
/// with other maps in one of its whole name.
fn part_folders(found: &mut [Result<MapFile, Trouble>]) {
    let lower = |path: &Path| path.as_os_str().to_ascii_lowercase();
    let folders = |map: &MapFile| map.name.ancestors().skip(1).map(lower).collect::<Vec<_>>();
    let with_maps: HashSet<OsString> = found.iter().flatten().flat_map(folders).collect();
    for map in found.iter_mut().flatten() {
        map.has_twin |= with_maps.contains(&lower(&disk_names::in_game(&map.name).with_extension("")));
    }
}

/// All unpacked maps below a folder, sorted by name.
pub(super) fn unpacked(root: &Path) -> Vec<Result<MapFile, Trouble>> {
    let (mut found, mut waiting) = (Vec::new(), Waiting::new(root));
    while let Some(Entry { path, name, .. }) = waiting.next() {
        if !path.is_dir() {
            continue;
        }
        if is_unpacked(&path) {
            // A folder that already has the name of a map: `unpack` made it beside another folder of that stem.
            let is_named = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp"));
            let has_twin = !is_named || is_unpacked(&path.with_extension(""));
            found.push(Ok(MapFile { path, name, target: None, is_one_of_many: true, has_twin }));
        } else if let Err(error) = waiting.add(&path, &name) {
            found.push(Err(unread(path, name, error)));
        }
    }
    if found.is_empty() {
        found.push(Err(empty(root, "unpacked map (a folder with manifest.json)")));
    }
    sorted(found)
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
