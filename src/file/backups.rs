//! Backups of a file: their names, their order, and the way back.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::target::{before_rename, folder, sync_folder};
use crate::error::{Error, ErrorKind, Hint, Result};

/// The name of a backup of a file by its number: `dm4.bsp.bak`, `dm4.bsp.bak.1`, ...
fn name(target: &Path, suffix: &OsStr, number: u32) -> PathBuf {
    let mut name = [target.as_os_str(), suffix].into_iter().collect::<OsString>();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
}

/// How many names after the last one are looked for that were not in the list of the folder.
const AHEAD: u32 = 32;

/// The highest number: a longer one, such as a date, is not of a save.
const MOST: u32 = 99_999;

/// The numbers of the backups that are there, in the order in which they were made. Names in between may be missing: no
/// save gives them again.
fn there(target: &Path, suffix: &OsStr) -> BTreeSet<u32> {
    let is_there = |number: &u32| fs::symlink_metadata(name(target, suffix, *number)).is_ok();
    let mut found: BTreeSet<u32> = listed(target, suffix).into_iter().filter(is_there).collect();
    found.extend(Some(0).filter(is_there));
    // The list may be older than the last backups, and not every folder can be read.
    let mut number = found.last().map_or(0, |last| last + 1);
    let mut end = number + AHEAD;
    while number < end.min(MOST + 1) {
        if is_there(&number) {
            found.insert(number);
            end = number + AHEAD;
        }
        number += 1;
    }
    found
}

/// The files of a folder whose names end in a number, at one time.
struct List {
    folder: PathBuf,
    read: Instant,
    /// How long it took to read it.
    took: Duration,
    /// The numbers by the rest of the name.
    numbers: HashMap<OsString, Vec<u32>>,
}

/// A list is used for as many times the time that it took to read it: many maps in a large folder would take the square
/// of their number.
const REUSED: u32 = 20;

static LAST: Mutex<Option<List>> = Mutex::new(None);

/// The numbers after 0 in the list of the folder.
fn listed(target: &Path, suffix: &OsStr) -> Vec<u32> {
    let (folder, Some(base)) = (folder(target), target.file_name()) else { return Vec::new() };
    let base = [base, suffix].into_iter().collect::<OsString>();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let list = match last.take() {
        Some(list) if list.folder == folder && list.read.elapsed() < list.took * REUSED => list,
        _ => List::read(folder),
    };
    last.insert(list).numbers.get(&base).cloned().unwrap_or_default()
}

impl List {
    fn read(folder: &Path) -> Self {
        let start = Instant::now();
        let mut numbers: HashMap<OsString, Vec<u32>> = HashMap::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = PathBuf::from(entry.file_name());
            let number = name.extension().and_then(OsStr::to_str).filter(|text| !text.starts_with(['0', '+']));
            let number = number.and_then(|text| text.parse().ok()).filter(|number| *number <= MOST);
            if let (Some(base), Some(number)) = (name.file_stem(), number) {
                numbers.entry(base.to_owned()).or_default().push(number);
            }
        }
        List { folder: folder.to_path_buf(), read: Instant::now(), took: start.elapsed(), numbers }
    }
}

/// The names for the next backup, the first one after all that are there: where one in between is missing, its name
/// would make the backup an older one.
pub(super) fn next_names(target: &Path, suffix: &OsStr) -> impl Iterator<Item = PathBuf> + use<> {
    let first = there(target, suffix).last().map_or(0, |last| last + 1);
    let (target, suffix) = (target.to_path_buf(), suffix.to_owned());
    (first..=MOST).map(move |number| name(&target, &suffix, number))
}

/// The backups of a file with this suffix, as [`SaveOptions::backup`](super::SaveOptions::backup) makes them, the
/// oldest first. Of a symbolic link they are beside the file that it leads to.
///
/// ```
/// use bspkit::{Bsp, Layout, SaveOptions, file};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("rooms.bsp");
/// std::fs::copy("tests/maps/q2/own_rooms.bsp", &path)?;
/// let old = std::fs::read(&path)?;
///
/// let mut draft = Bsp::open(&path)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// draft.plan(Layout::Keep)?.save_with(&path, &SaveOptions::default().backup(".bak"))?;
///
/// let backups = file::backups(&path, ".bak".as_ref())?;
/// file::take_back(&path, &backups[0], false)?;
/// assert_eq!(std::fs::read(&path)?, old);
/// assert!(file::backups(&path, ".bak".as_ref())?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Refused`] if a folder or a link has the name of a backup. [`ErrorKind::Io`] if the file is not there.
pub fn backups(path: &Path, suffix: &OsStr) -> Result<Vec<PathBuf>> {
    let target = real_file(path)?;
    let found: Vec<PathBuf> = there(&target, suffix).into_iter().map(|number| name(&target, suffix, number)).collect();
    let is_file = |name: &PathBuf| fs::symlink_metadata(name).is_ok_and(|there| there.is_file());
    match found.iter().find(|name| !is_file(name)) {
        None => Ok(found),
        Some(other) => {
            let message = format!("{} has the name of a backup and is not a file", other.display());
            Err(Error::new(ErrorKind::Refused, message).with_hint("give it another name"))
        }
    }
}

/// Puts a backup in the place of the file, in one step; then the backup is gone.
///
/// # Errors
/// [`ErrorKind::Refused`] if the file is read-only, without `force`; [`ErrorKind::Io`]. Both files stay as they were.
pub fn take_back(path: &Path, backup: &Path, force: bool) -> Result<()> {
    let target = real_file(path)?;
    let there =
        fs::symlink_metadata(&target).map_err(|error| Error::io(format!("cannot read {}", path.display()), error))?;
    if there.permissions().readonly() && !force {
        let message = format!("{} is read-only", path.display());
        return Err(Error::new(ErrorKind::Refused, message).with_hint(Hint::Force));
    }
    let cannot =
        |error| Error::io(format!("cannot put {} in the place of {}", backup.display(), path.display()), error);
    if is_same(&target, backup) {
        // A rename to a second name of the same file does nothing.
        return fs::remove_file(backup).map_err(cannot);
    }
    before_rename(&target, &there).map_err(cannot)?;
    fs::rename(backup, &target).map_err(cannot)?;
    sync_folder(folder(&target)).map_err(cannot)
}

/// Removes the oldest backups of a file but for this many. The others get their numbers, so that their order stays
/// known. Returns how many were removed.
///
/// # Errors
/// As [`backups`]; [`ErrorKind::Io`] if one cannot be removed or renamed.
pub fn remove_backups(path: &Path, suffix: &OsStr, keep: usize) -> Result<usize> {
    let found = backups(path, suffix)?;
    let (gone, kept) = found.split_at(found.len().saturating_sub(keep));
    let cannot = |what: &str, backup: &Path, error| Error::io(format!("cannot {what} {}", backup.display()), error);
    // From the oldest on: after an error, what is left is the newest ones.
    for backup in gone {
        fs::remove_file(backup).map_err(|error| cannot("remove", backup, error))?;
    }
    let target = real_file(path)?;
    let names = (0..).map(|number| name(&target, suffix, number));
    for (backup, name) in kept.iter().zip(names).filter(|(backup, name)| *backup != name) {
        fs::rename(backup, name).map_err(|error| cannot("rename", backup, error))?;
    }
    Ok(gone.len())
}

/// The file that a save to a path replaces: where a symbolic link leads, else the path as it is.
///
/// # Errors
/// [`ErrorKind::Io`] if there is no such file.
///
/// ```
/// let map = std::path::Path::new("tests/maps/q2/own_rooms.bsp");
/// assert_eq!(bspkit::file::real_file(map)?, map);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn real_file(path: &Path) -> Result<PathBuf> {
    let cannot = |error| Error::io(format!("cannot read {}", path.display()), error);
    let there = fs::symlink_metadata(path).map_err(cannot)?;
    if there.is_symlink() { fs::canonicalize(path).map_err(cannot) } else { Ok(path.to_path_buf()) }
}

#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |path: &Path| fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()));
    number(one).is_some() && number(one) == number(other)
}

#[cfg(not(unix))]
fn is_same(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    fn files(folder: &tempfile::TempDir) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let named =
            entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()));
        let mut all: Vec<_> = named.collect();
        all.sort();
        all
    }

    #[test]
    fn the_newest_backup_has_the_highest_number() {
        let folder = room(&[("a", "3"), ("a.bak", "0"), ("a.bak.1", "1"), ("a.bak.2", "2"), ("a.bakery", "x")]);
        let path = folder.path().join("a");
        let found = backups(&path, ".bak".as_ref()).unwrap();
        assert_eq!(found.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>(), "012");
        take_back(&path, found.last().unwrap(), false).unwrap();
        let left = [("a", "2"), ("a.bak", "0"), ("a.bak.1", "1"), ("a.bakery", "x")];
        assert_eq!(files(&folder), left.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    /// The name that is missing would be older than those after it.
    #[test]
    fn the_next_backup_comes_after_all_others() {
        let folder = room(&[("a", "3"), ("a.bak", "0"), ("a.bak.1", "1"), ("a.bak.9", "2")]);
        let next = |suffix: &str| next_names(&folder.path().join("a"), suffix.as_ref()).next().unwrap();
        assert_eq!(next(".bak"), folder.path().join("a.bak.10"));
        assert_eq!(next(".old"), folder.path().join("a.old"));
        fs::remove_file(folder.path().join("a.bak")).unwrap();
        assert_eq!(next(".bak"), folder.path().join("a.bak.10"));
        fs::write(folder.path().join("a.bak"), "0").unwrap();
        fs::remove_file(folder.path().join("a.bak.9")).unwrap();
        assert_eq!(next(".bak"), folder.path().join("a.bak.2"));
    }

    /// A date after the suffix was written by hand.
    #[test]
    fn a_long_number_is_no_backup() {
        let folder = room(&[("a", "3"), ("a.bak", "0"), ("a.bak.20261129", "x"), ("a.bak.4294967295", "x")]);
        let (path, suffix) = (folder.path().join("a"), ".bak".as_ref());
        assert_eq!(backups(&path, suffix).unwrap(), [folder.path().join("a.bak")]);
        assert_eq!(next_names(&path, suffix).next().unwrap(), folder.path().join("a.bak.1"));
    }

    /// Nothing is removed where not all can be.
    #[test]
    fn a_folder_is_no_backup() {
        let folder = room(&[("a", "3"), ("a.bak", "0"), ("a.bak.1", "1")]);
        fs::create_dir(folder.path().join("a.bak.2")).unwrap();
        let path = folder.path().join("a");
        assert_eq!(remove_backups(&path, ".bak".as_ref(), 1).unwrap_err().kind(), ErrorKind::Refused);
        assert!(folder.path().join("a.bak").exists());
    }

    #[test]
    fn a_read_only_file_is_not_replaced_without_force() {
        let folder = room(&[("a", "1"), ("a.bak", "0")]);
        let (path, backup) = (folder.path().join("a"), folder.path().join("a.bak"));
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(take_back(&path, &backup, false).unwrap_err().kind(), ErrorKind::Refused);
        take_back(&path, &backup, true).unwrap();
        assert_eq!(files(&folder), [("a".to_owned(), "0".to_owned())]);
    }

    /// Somebody removed some by hand. The next one still comes after all others, and so the order is known.
    #[test]
    fn backups_between_may_be_missing() {
        let numbered =
            [("a.bak.1", "1"), ("a.bak.20", "2"), ("a.bak.500", "5"), ("a.bak.0600", "x"), ("b.bak.700", "x")];
        let folder = room(&[&[("a", "9")][..], &numbered].concat());
        let (path, suffix) = (folder.path().join("a"), ".bak".as_ref());
        let found = backups(&path, suffix).unwrap();
        assert_eq!(found.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>(), "125");
        assert_eq!(next_names(&path, suffix).next().unwrap(), folder.path().join("a.bak.501"));
        assert_eq!(remove_backups(&path, suffix, 2).unwrap(), 1);
        let left = [("a", "9"), ("a.bak", "2"), ("a.bak.0600", "x"), ("a.bak.1", "5"), ("b.bak.700", "x")];
        assert_eq!(files(&folder), left.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn the_oldest_are_removed_and_the_others_numbered() {
        let folder = room(&[("a", "4"), ("a.bak", "0"), ("a.bak.1", "1"), ("a.bak.2", "2"), ("a.bak.3", "3")]);
        let path = folder.path().join("a");
        assert_eq!(remove_backups(&path, ".bak".as_ref(), 2).unwrap(), 2);
        let left = [("a", "4"), ("a.bak", "2"), ("a.bak.1", "3")];
        assert_eq!(files(&folder), left.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(remove_backups(&path, ".bak".as_ref(), 2).unwrap(), 0);
        assert_eq!(remove_backups(&path, ".bak".as_ref(), 0).unwrap(), 2);
    }

    /// A second name of the file itself: a rename would do nothing and leave it.
    #[cfg(unix)]
    #[test]
    fn a_second_name_of_the_file_goes() {
        let folder = room(&[("a", "1")]);
        let (path, backup) = (folder.path().join("a"), folder.path().join("a.bak"));
        fs::hard_link(&path, &backup).unwrap();
        take_back(&path, &backup, false).unwrap();
        assert_eq!(files(&folder), [("a".to_owned(), "1".to_owned())]);
    }
}
