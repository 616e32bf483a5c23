//! Temporary files: each is written under its own name beside its target, and takes the target's name in one step.
//!
//! A program that is killed cannot remove its temporary files. Each is locked while its program runs, so the next
//! program that saves in that folder sees which ones have no owner, and removes them.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, PersistError};

use super::busy::patiently;
use super::target::{self, unlimited};

/// How names of temporary files begin and end.
const NAME: [&str; 2] = [".bspkit-", ".tmp"];

/// The temporary files of this process. They get and lose their names under this lock.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The folders in which this process has looked for files that killed programs left, as hashes.
static TIDY: Mutex<Option<HashSet<u64>>> = Mutex::new(None);

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is written beside its target. It is removed unless it takes the target's name.
///
/// ```
/// use std::io::Write;
/// use bspkit::file::Temporary;
///
/// let folder = tempfile::tempdir()?;
/// let target = folder.path().join("rooms.ent");
/// let temporary = Temporary::beside(&target)?;
/// temporary.file().write_all(b"{}")?;
/// assert!(!target.exists());
/// temporary.persist(&target)?;
/// assert_eq!(std::fs::read(&target)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Temporary {
    file: NamedTempFile,
    // The order of fields matters: the file is removed before its path leaves the list.
    _listed: Listed,
}

/// A path that is listed until this is dropped.
#[derive(Debug)]
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

impl Temporary {
    /// A new file in the folder of the target, with the permissions that new files have.
    ///
    /// # Errors
    /// The errors of the system; a missing folder is named.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let folder = target::folder(target);
        tidy(folder);
        let mut builder = Builder::new();
        builder.prefix(NAME[0]).suffix(NAME[1]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The permissions of any new file; the umask applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = unfinished();
        let file = loop {
            let file = builder.tempfile_in(unlimited(folder)).map_err(|error| plain(error, folder))?;
            if target::own(file.as_file()) {
                break file;
            }
        };
        unfinished.insert(file.path().to_path_buf());
        let _listed = Listed(file.path().to_path_buf());
        Ok(Temporary { file, _listed })
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives it the target's name, and replaces a file of that name; returns the file. On Windows a file that another
    /// program has open is not replaced; it is tried for two seconds.
    ///
    /// # Errors
    /// The errors of the system. The temporary file is removed then, and the target is unchanged.
    pub fn persist(self, target: &Path) -> io::Result<File> {
        self.name(target, NamedTempFile::persist)
    }

    /// Gives it a new name, unless a file has that name; returns the file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and those of the system.
    pub fn persist_new(self, target: &Path) -> io::Result<File> {
        self.name(target, without_clobber)
    }

    fn name(self, target: &Path, rename: fn(NamedTempFile, PathBuf) -> Result<File, PersistError>) -> io::Result<File> {
        let Temporary { file, _listed } = self;
        let target = unlimited(target);
        let mut file = Some(file);
        patiently(&target, || {
            let _unfinished = unfinished();
            let Some(unnamed) = file.take() else { return Err(io::Error::other("the file has its name already")) };
            rename(unnamed, target.clone()).map_err(|failed| {
                file = Some(failed.file);
                failed.error
            })
        })
    }
}

/// Removes the temporary files that programs left in a folder when they were killed. A process looks once in each
/// folder.
fn tidy(folder: &Path) {
    let mut hasher = std::hash::DefaultHasher::new();
    folder.hash(&mut hasher);
    let is_new = TIDY.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(hasher.finish());
    if !is_new {
        return;
    }
    let Ok(entries) = std::fs::read_dir(unlimited(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_temporary = |name: &str| name.starts_with(NAME[0]) && name.ends_with(NAME[1]);
        if name.to_str().is_some_and(is_temporary) {
            target::remove_unowned(&entry.path());
        }
    }
}

/// Gives a file a new name. Some file systems cannot do that in one step: there it is only looked before.
fn without_clobber(file: NamedTempFile, target: PathBuf) -> Result<File, PersistError> {
    file.persist_noclobber(&target).or_else(|failed| match failed.error.kind() {
        io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied => {
            match std::fs::symlink_metadata(&target) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => failed.file.persist(target),
                _ => Err(failed),
            }
        }
        _ => Err(failed),
    })
}

/// Removes the temporary files of all running saves, and stops all saves: for a program that is about to exit. Every
/// target is the complete old file or the complete new one, and no temporary file is left.
///
/// From here on saves in all threads wait forever.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // A file may have been removed already.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

/// The system's error without the name of the temporary file, which the user does not know.
fn plain(error: io::Error, folder: &Path) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        return io::Error::new(error.kind(), format!("there is no folder {}", folder.display()));
    }
    let inner = error.get_ref().and_then(|error| error.source()?.downcast_ref::<io::Error>());
    match inner.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_owner_is_removed_by_the_next_save() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let target = path("target");
        let owned = Temporary::beside(&target).unwrap();
        for name in [".bspkit-dead00.tmp", ".bspkit-mine.txt", "mine.tmp"] {
            std::fs::write(path(name), b"left").unwrap();
        }
        std::fs::create_dir(path(".bspkit-folder.tmp")).unwrap();
        // Another process: this one has looked in the folder already.
        TIDY.lock().unwrap().as_mut().unwrap().clear();
        let other = Temporary::beside(&target).unwrap();
        assert!(!path(".bspkit-dead00.tmp").exists(), "no program owns it");
        assert!(path(".bspkit-mine.txt").exists() && path("mine.tmp").exists() && path(".bspkit-folder.tmp").exists());
        owned.persist(&target).unwrap();
        other.persist(&target).unwrap();
    }

    #[test]
    fn what_is_not_finished_is_listed_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let listed = || unfinished().iter().filter(|path| path.starts_with(unlimited(folder.path()))).count();
        let target = folder.path().join("target");
        let (one, other) = (Temporary::beside(&target).unwrap(), Temporary::beside(&target).unwrap());
        assert_eq!((names(), listed()), (2, 2));
        drop(one);
        assert_eq!((names(), listed()), (1, 1));
        other.persist(&target).unwrap();
        assert_eq!((names(), listed()), (1, 0));
        let again = Temporary::beside(&target).unwrap();
        assert_eq!(again.persist_new(&target).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((names(), listed()), (1, 0));
    }
}
