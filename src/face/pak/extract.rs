//! Embedded files written to disk, only below the named folder.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Placed, paths};
use crate::bytes::escaped;
use crate::content::pak::{Entry, Pak};
use crate::face::names::path as os_path;
use crate::face::put::{self, put};
use crate::face::shown;
use crate::threads::{WORKING_MEMORY, in_parallel_within};
use crate::{Error, ErrorKind, Result};

/// An embedded file that [`extract`] wrote, or why it did not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Extracted {
    /// The index of the embedded file.
    pub index: usize,
    /// Where it was written.
    pub path: Result<PathBuf>,
    /// What the user should know: another path than the name says, a wrong checksum.
    pub warnings: Vec<String>,
}

/// Writes embedded files below a folder, decompressed, by the paths of [`paths`]. Folders are created. The result has
/// an entry for each file, in the order of `indices`; entries for folders are not in it.
///
/// A file is refused, and the others are written, if [`paths`] gives it no path, if its path contains a symbolic link,
/// or, without `force`, if there is a file with other bytes.
///
/// # Errors
/// [`Pak::check_total_size`]; [`ErrorKind::Io`] if the folder cannot be created.
///
/// ```
/// use bspkit::content::pak::Pak;
/// use bspkit::face::pak::extract;
/// let folder = tempfile::tempdir()?;
/// let mut pak = Pak::new(b"");
/// pak.add("sound\\hit.wav", "RIFF")?;
/// let done = extract(&pak, &[0], folder.path(), 1, false)?;
/// assert_eq!(done[0].path.as_deref().ok(), Some(&*folder.path().join("sound/hit.wav")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extract(pak: &Pak<'_>, indices: &[usize], folder: &Path, threads: usize, force: bool) -> Result<Vec<Extracted>> {
    pak.check_total_size(indices)?;
    put::folder(folder)?;
    let mut made = HashSet::new();
    let planned = paths(pak, indices).into_iter().filter_map(|placed| plan(pak, placed, folder, &mut made));
    let all: Vec<Extracted> = planned.collect();
    let memory = |file: &Extracted| pak.get(file.index).map_or(0, |entry| entry.memory());
    let written =
        in_parallel_within(threads, WORKING_MEMORY, &all, memory, |file| match (pak.get(file.index), &file.path) {
            (Some(entry), Ok(path)) => write(&entry, path, force),
            _ => Ok(None),
        });
    let done = all.into_iter().zip(written).map(|(Extracted { index, path, mut warnings }, written)| {
        let path = path.and_then(|path| {
            warnings.extend(written?);
            Ok(path)
        });
        let name = || pak.get(index).map_or(String::new(), |entry| escaped(entry.name()).to_string());
        Extracted { index, path: path.map_err(|error| error.within(format!("cannot extract {}", name()))), warnings }
    });
    Ok(done.collect())
}

/// The path of a file whose folders are there; nothing for an entry of a folder that was created.
fn plan(pak: &Pak<'_>, placed: Placed, folder: &Path, made: &mut HashSet<PathBuf>) -> Option<Extracted> {
    let Placed { index, path, is_folder, first } = placed;
    let entry = pak.get(index)?;
    let path = path.map_err(|why| Error::new(ErrorKind::Refused, why)).and_then(|path| {
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let above = if is_folder { parts.len() } else { parts.len().saturating_sub(1) };
        let mut path = make_folders(folder, &parts[..above], made)?;
        parts[above..].iter().try_for_each(|last| os_path(last).map(|last| path.push(last)))?;
        Ok(path)
    });
    if is_folder && path.is_ok() {
        return None;
    }
    let mut warnings = Vec::new();
    if let (Some(first), Ok(path)) = (first, &path) {
        let (own, other) = (escaped(entry.name()), pak.get(first));
        let other = other.map_or(String::new(), |other| escaped(other.name()).to_string());
        let place = shown(path);
        warnings.push(format!("`{own}` has the same name as file #{first}, `{other}`: written to {place}"));
    }
    Some(Extracted { index, path, warnings })
}

/// Creates the folders of a path below `base`. Symbolic links are refused.
fn make_folders(base: &Path, parts: &[&[u8]], made: &mut HashSet<PathBuf>) -> Result<PathBuf> {
    let mut path = base.to_path_buf();
    for part in parts {
        path.push(os_path(part)?);
        if made.contains(&path) {
            continue;
        }
        let refused = |why: &str| Err(Error::new(ErrorKind::Refused, format!("{} is {why}", shown(&path))));
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => return refused("a symbolic link, which is not followed"),
            Ok(there) if there.is_dir() => {}
            Ok(_) => return refused("a file, but a folder is needed"),
            Err(_) => put::folder(&path)?,
        }
        made.insert(path.clone());
    }
    Ok(path)
}

/// Writes a file; a warning if its bytes do not have the checksum of the directory.
fn write(entry: &Entry<'_, '_>, path: &Path, force: bool) -> Result<Option<String>> {
    let data = entry.data()?;
    put(path, &data, force)?;
    let warning = || format!("`{}` does not have the checksum that the directory states", escaped(entry.name()));
    Ok((!entry.has_crc_of(&data)).then(warning))
}
