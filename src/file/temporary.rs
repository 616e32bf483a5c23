//! Files that are not whole yet: each has a name of its own beside the one that it is to become, and takes that in one
//! step.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile};

/// The files of this process that are not whole. They get and lose their names under this lock.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is written beside its target and removed where it does not come to be that.
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
    // After the file: it is removed before it is forgotten.
    _listed: Listed,
}

/// A path that is listed as long as this lives.
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
    /// Those of the system; a folder that is missing is named.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let folder = super::target::folder(target);
        let mut builder = Builder::new();
        builder.prefix(".bspkit-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // What any new file gets; the umask applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = unfinished();
        let file = builder.tempfile_in(folder).map_err(|error| plain(error, folder))?;
        unfinished.insert(file.path().to_path_buf());
        let _listed = Listed(file.path().to_path_buf());
        Ok(Temporary { file, _listed })
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives it the target's name; a file that has it is replaced.
    ///
    /// # Errors
    /// Those of the system; the file is gone then, and the target is as it was.
    pub fn persist(self, target: &Path) -> io::Result<()> {
        let Temporary { file, _listed } = self;
        let _unfinished = unfinished();
        file.persist(target).map(drop).map_err(|failed| failed.error)
    }

    /// Gives it a name that no file has.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], and those of the system.
    pub fn persist_new(self, target: &Path) -> io::Result<()> {
        let Temporary { file, _listed } = self;
        let _unfinished = unfinished();
        file.persist_noclobber(target).map(drop).map_err(|failed| failed.error)
    }
}

/// Removes the files of all saves that run, and lets no save begin or end any more: for a program that is about to
/// exit. Every target is the old file or the new one, whole, and nothing else is left.
///
/// Saves wait for ever from here on, in whatever thread they are.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // What is gone already needs no removing.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

/// The system's error without the name of the temporary file, which means nothing to anybody.
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
    fn what_is_not_finished_is_listed_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let listed = || unfinished().iter().filter(|path| path.starts_with(folder.path())).count();
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
