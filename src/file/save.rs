//! The only place that writes to disk: a temporary file beside the target, synced, then renamed over it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::temporary::Temporary;
use crate::error::{Error, ErrorKind, Result};

/// How to save: with a backup, by force.
///
/// ```
/// let options = bspkit::SaveOptions::default().backup(".bak");
/// assert!(!options.force);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Save an edit of a damaged map, one whose directory claims bytes that the file does not have.
    pub force: bool,
    /// Keep the file that is replaced under its name with this suffix. A backup that exists is never overwritten:
    /// the next one gets a number.
    pub backup: Option<OsString>,
}

impl SaveOptions {
    /// Keeps the file that is replaced, under its name with this suffix.
    #[must_use]
    pub fn backup(mut self, suffix: impl Into<OsString>) -> Self {
        self.backup = Some(suffix.into());
        self
    }

    /// Saves an edit of a damaged map.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }
}

impl Plan<'_> {
    /// Saves to `path`, which is replaced as a whole or not at all; see [`Plan::save_with`].
    ///
    /// # Errors
    /// As [`Plan::save_with`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &SaveOptions::default()).map(drop)
    }

    /// Saves to `path` and says where the backup is, if one was made.
    ///
    /// The bytes go to a temporary file in the same folder, are synced, and take the target's name in one step; the
    /// map that the plan was made from may be that target. A symbolic link is followed, permissions stay.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for an edit of a damaged map without `force`; [`ErrorKind::Io`] where the target is no
    /// regular file or the disk says no. The old file is whole in each case.
    ///
    /// ```
    /// use bspkit::{Bsp, Layout, SaveOptions};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rooms.bsp");
    /// std::fs::copy("tests/maps/q2/own_rooms.bsp", &path)?;
    ///
    /// let mut draft = Bsp::open(&path)?.draft();
    /// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    /// let backup = draft.plan(Layout::Keep)?.save_with(&path, &SaveOptions::default().backup(".bak"))?;
    /// assert_eq!(backup, Some(folder.path().join("rooms.bsp.bak")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<Option<PathBuf>> {
        if let Some(reason) = self.needs_force().filter(|_| !options.force) {
            let message = format!("the map is damaged ({reason}) and an edit of it may make that worse");
            return Err(Error::new(ErrorKind::Damaged, message).hint("use --force to save it all the same"));
        }
        replace(path, options.backup.as_deref(), |file| self.write_to(file))
    }
}

/// Replaces the file at `path` by what `write` gives, as a whole or not at all, and says where the backup is, if a
/// suffix for one was given: how everything that is saved reaches the disk.
///
/// # Errors
/// [`ErrorKind::Io`], with the old file whole.
///
/// ```
/// use std::io::Write;
/// let path = tempfile::tempdir()?.keep().join("rooms.ent");
/// bspkit::file::replace(&path, None, |mut file| file.write_all(b"{}"))?;
/// let backup = bspkit::file::replace(&path, Some(".bak".as_ref()), |mut file| file.write_all(b"{ }"))?;
/// assert_eq!(std::fs::read(backup.unwrap())?, b"{}");
/// # std::fs::remove_dir_all(path.parent().unwrap())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replace(
    path: impl AsRef<Path>,
    backup: Option<&OsStr>,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<Option<PathBuf>> {
    let path = path.as_ref();
    let cannot = |what: &str, error| Error::io(format!("cannot {what} {}", path.display()), error);
    let target = follow_links(path).map_err(|error| cannot("follow", error))?;
    let old = match fs::metadata(&target) {
        Ok(old) if !old.is_file() => {
            return Err(cannot("replace", io::Error::other("it is no regular file")));
        }
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(cannot("look at", error)),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(folder).map_err(|error| cannot("write beside", error))?;
    let temporary = Temporary::beside(&target).map_err(|error| cannot("write beside", error))?;
    write(temporary.file()).map_err(|error| cannot("write", error))?;
    if let Some(old) = &old {
        keep_owner_and_mode(temporary.file(), old).map_err(|error| cannot("keep the permissions of", error))?;
    }
    temporary.file().sync_data().map_err(|error| cannot("write", error))?;
    let backup = match (&old, backup) {
        (Some(_), Some(suffix)) => Some(back_up(&target, suffix).map_err(|error| cannot("back up", error))?),
        _ => None,
    };
    temporary.persist(&target).map_err(|error| cannot("replace", error))?;
    Ok(backup)
}

/// The file that a chain of symbolic links leads to, which need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let to = fs::read_link(&path)?;
                path = path.parent().map_or_else(|| to.clone(), |folder| folder.join(&to));
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only a superuser may give files away, and only then there is something to keep.
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Gives the file a second name, so that it survives the rename; copies it where the file system has no links.
fn back_up(target: &Path, suffix: &OsStr) -> io::Result<PathBuf> {
    let mut base = target.as_os_str().to_owned();
    base.push(suffix);
    let numbered = (1..).map(|number: u32| {
        let mut name = base.clone();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    for name in std::iter::once(PathBuf::from(&base)).chain(numbered) {
        match fs::hard_link(target, &name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => {}
        }
        let copy = Temporary::beside(target)?;
        io::copy(&mut File::open(target)?, &mut copy.file())?;
        copy.file().sync_data()?;
        match copy.persist_new(&name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no name is free for the backup"))
}
