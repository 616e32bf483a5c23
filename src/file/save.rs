//! How files are saved: a temporary file is written beside the target, synced, then renamed over it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use tempfile::{Builder, NamedTempFile, PersistError};

use super::names;
use super::plan::Plan;
use super::target::{self, Origin, Stamp, patiently, unlimited};
use super::{Layout, backups};
use crate::bytes::wide;
use crate::error::{Error, ErrorKind, Hint, Result};

// How files are saved: a temporary file is written beside the target, synced, then renamed over it.

/// How to save: with a backup, by force.
///
/// ```
/// let options = bspkit::SaveOptions::default().backup(".bak");
/// assert!(!options.force);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Save an edit of a damaged map, one whose directory claims bytes that the file does not have, and replace a file
    /// that is read-only.
    pub force: bool,
    /// Keep the file that is replaced under its name with this suffix. A backup that exists is never overwritten:
    /// the next one gets a number.
    pub backup: Option<OsString>,
    /// Replace a file that another program has changed since the map was read from it; what that program wrote is lost,
    /// but for the backup.
    pub over_changes: bool,
}

impl SaveOptions {
    /// Keeps the file that is replaced, under its name with this suffix.
    #[must_use]
    pub fn backup(mut self, suffix: impl Into<OsString>) -> Self {
        self.backup = Some(suffix.into());
        self
    }

    /// Saves an edit of a damaged map, and replaces a file that is read-only.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Replaces a file that another program has changed since the map was read from it.
    #[must_use]
    pub fn over_changes(mut self, over_changes: bool) -> Self {
        self.over_changes = over_changes;
        self
    }
}

/// The result of a save.
///
/// ```
/// let path = tempfile::tempdir()?.keep().join("rooms.ent");
/// let saved = bspkit::file::replace(&path, &Default::default(), |_| Ok(()))?;
/// assert!(saved.backup.is_none() && saved.warnings.is_empty());
/// # std::fs::remove_dir_all(path.parent().unwrap())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// The backup of the replaced file, if one was made.
    pub backup: Option<PathBuf>,
    /// Warnings for the user: hard links that keep the old content, attributes that are lost.
    pub warnings: Vec<String>,
    /// Of a map: how many bytes were written into files, without names and attributes. 0 for other files.
    pub written: u64,
    /// Why the file was written as a whole, though the layout was [`crate::Layout::Patch`].
    pub whole: Option<String>,
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
    /// The bytes go to a temporary file in the same folder, are synced, and take the target's name in one step; the map
    /// that the plan was made from may be that target. A symbolic link is followed. Permissions are kept; on Linux and
    /// macOS extended attributes too; on Windows the attributes, such as read-only and hidden, but not the access list:
    /// the new file has the one that new files of the folder get. There a file that another program has open is tried
    /// for two seconds and then refused.
    ///
    /// A map that was opened by [`crate::Bsp::open`] is only saved over the file that it was read from: if another
    /// program has changed or replaced that file since, the save is refused, and the map has to be opened again. That
    /// holds for a second save from the same [`crate::Bsp`] as well, which would undo the first one; who goes on with a
    /// draft after a save uses [`crate::Draft::save`]. A change is detected from size, modification time, device, file
    /// number and the system's own time of change, which no program can put back (on Windows from size and modification
    /// time). On Unix the target is locked (`flock`) while it is
    /// checked and replaced, so that the second of two simultaneous saves is refused.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for an edit of a damaged map without `force`; [`ErrorKind::Refused`] if the target is
    /// read-only without `force`, or if another program has changed it; [`ErrorKind::Io`] if the target is not a
    /// regular file or the system reports an error. In each case the old file is complete and unchanged.
    ///
    /// ```
    /// use bspkit::{Bsp, Layout, SaveOptions};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rooms.bsp");
    /// std::fs::copy("tests/maps/q2/own_rooms.bsp", &path)?;
    ///
    /// let mut draft = Bsp::open(&path)?.draft();
    /// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    /// let saved = draft.plan(Layout::Keep)?.save_with(&path, &SaveOptions::default().backup(".bak"))?;
    /// assert_eq!(saved.backup, Some(folder.path().join("rooms.bsp.bak")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<Saved> {
        self.save_to(path.as_ref(), options).map(|(saved, _)| saved)
    }

    /// Saves, and returns the origin that the new file is.
    pub(crate) fn save_to(&self, path: &Path, options: &SaveOptions) -> Result<(Saved, Option<Origin>)> {
        self.check_force(options.force)?;
        let whole = match self.layout() {
            Layout::Patch => match self.patch_into(path, options)? {
                Ok(patched) => return Ok(patched),
                Err(why) => Some(why),
            },
            _ => None,
        };
        let origin = self.container().origin.as_deref();
        let (saved, origin) = Replacing::of(path, options, origin)?.by(|file| self.write_whole(file))?;
        Ok((Saved { whole, written: wide(self.size()), ..saved }, origin))
    }

    /// Refuses what a save to `path` would refuse before it writes, though the map may be edited: a read-only file, one
    /// that another program has changed, a folder that is not there.
    ///
    /// # Errors
    /// As [`Plan::save_with`].
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// let plan = map.draft().plan(bspkit::Layout::Keep)?;
    /// assert!(plan.check_target("no such folder/rooms.bsp", &Default::default()).is_err());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check_target(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<()> {
        let replacing = Replacing::of(path.as_ref(), options, self.container().origin.as_deref())?;
        let folder = fs::metadata(target::folder(&replacing.target));
        folder.map(drop).map_err(|error| replacing.cannot("write", error))
    }

    /// Refuses an edit of a damaged map without force, as saves do: for who gives the new bytes away and does not save.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`].
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// assert!(map.draft().plan(bspkit::Layout::Keep)?.check_force(false).is_ok());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check_force(&self, force: bool) -> Result<()> {
        match self.needs_force().filter(|_| !force) {
            None => Ok(()),
            Some(reason) => {
                let message = format!("the map is damaged ({reason}) and an edit of it may make that worse");
                Err(Error::new(ErrorKind::Damaged, message).with_hint(Hint::Force))
            }
        }
    }
}

/// Replaces the file at `path` by the bytes that `write` writes, as a whole or not at all; see [`Plan::save_with`].
///
/// # Errors
/// [`ErrorKind::Refused`] if the target is read-only without `force`, or if another program changes it meanwhile;
/// [`ErrorKind::Io`]. In each case the old file is complete and unchanged.
///
/// ```
/// use std::io::Write;
/// use bspkit::{SaveOptions, file::replace};
/// let path = tempfile::tempdir()?.keep().join("rooms.ent");
/// replace(&path, &SaveOptions::default(), |mut file| file.write_all(b"{}"))?;
/// let saved = replace(&path, &SaveOptions::default().backup(".bak"), |mut file| file.write_all(b"{ }"))?;
/// assert_eq!(std::fs::read(saved.backup.unwrap())?, b"{}");
/// # std::fs::remove_dir_all(path.parent().unwrap())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replace(
    path: impl AsRef<Path>,
    options: &SaveOptions,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<Saved> {
    Replacing::of(path.as_ref(), options, None)?.by(write).map(|(saved, _)| saved)
}

/// A file that a save will replace or create.
pub(super) struct Replacing<'p> {
    /// The path that the user gave.
    path: &'p Path,
    /// The path with symbolic links resolved.
    target: PathBuf,
    old: Option<Metadata>,
    /// The state that the file must keep until it is replaced.
    stamp: Option<Stamp>,
    /// The file that the new bytes are taken from.
    origin: Option<&'p Origin>,
    backup: Option<&'p OsStr>,
    /// A lock on the file, if the caller has it already.
    lock: Option<File>,
}

impl<'p> Replacing<'p> {
    pub(super) fn of(path: &'p Path, options: &'p SaveOptions, origin: Option<&'p Origin>) -> Result<Self> {
        names::refuse(path)?;
        let cannot = |what: &str, error| Error::io(format!("cannot {what} {}", path.display()), error);
        let target = target::follow_links(path).map_err(|error| cannot("follow", error))?;
        let old = match fs::metadata(&target) {
            Ok(old) if !old.is_file() => return Err(cannot("replace", io::Error::other("it is not a regular file"))),
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot("look at", error)),
        };
        if old.as_ref().is_some_and(target::is_read_only) && !options.force {
            return Err(target::read_only(path).with_hint(Hint::OrForce("make it writable".to_owned())));
        }
        let known = origin.filter(|_| !options.over_changes).and_then(|origin| origin.stamp(&target)).cloned();
        let stamp = known.or_else(|| old.as_ref().map(Stamp::new));
        let backup = options.backup.as_deref();
        let replacing = Replacing { path, target, old, stamp, origin, backup, lock: None };
        replacing.check_unchanged()?;
        Ok(replacing)
    }

    /// The same, where the file must still be in this state, or still not be there. The caller may have locked it.
    pub(super) fn still(self, stamp: Option<Stamp>, lock: Option<File>) -> Result<Self> {
        let replacing = Replacing { stamp, lock, ..self };
        replacing.check_unchanged()?;
        Ok(replacing)
    }

    /// The same, where the caller may have locked the file.
    pub(super) fn locked(self, lock: Option<File>) -> Self {
        Replacing { lock, ..self }
    }

    /// Whether the file is the one that a map was read from, in the same state, and may be written into.
    pub(super) fn is_from(&self, origin: &Origin) -> bool {
        let is_same = |old: &Metadata| origin.stamp(&self.target) == Some(&Stamp::new(old));
        self.old.as_ref().is_some_and(|old| is_same(old) && !target::is_read_only(old))
    }

    /// Whether the file has other names (hard links): a backup may be one of them.
    pub(super) fn has_other_names(&self) -> bool {
        self.old.as_ref().is_some_and(|old| target::other_names(old).is_some())
    }

    /// Writes into the file itself, under a lock; `write` keeps it whole, and what it returns is returned. The file has
    /// `size` bytes then.
    pub(super) fn within<T>(
        self,
        size: usize,
        write: impl FnOnce(&File) -> io::Result<T>,
    ) -> Result<(T, Option<Origin>)> {
        let cannot = |what, error| self.cannot(what, error);
        let lock = target::lock(&self.target).map_err(|error| cannot("lock", error))?;
        let opened = patiently(&self.target, || File::options().write(true).open(unlimited(&self.target)));
        let file = opened.map_err(|error| cannot("write", error))?;
        self.check_unchanged()?;
        self.origin.map_or(Ok(()), Origin::check_unpatched)?;
        // A program that is about to exit waits for the new map.
        let unfinished = PATCHING.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(origin) = self.origin {
            origin.set_patched();
        }
        let done = write(&file).map_err(|error| cannot("write", error))?;
        drop(unfinished);
        // Systems may give all writes of some milliseconds one time: a program that read the file between two of these
        // would take it for the file that it read.
        let _ = file.set_modified(std::time::SystemTime::now());
        let new = if cfg!(unix) {
            file.metadata()
        } else {
            drop(file);
            fs::metadata(&self.target)
        };
        if let (Some(old), Ok(new)) = (self.stamp, &new) {
            target::note_patch(old, Stamp::new(new));
        }
        let named = fs::metadata(&self.target);
        drop(lock);
        // A program that takes no lock may have put another file there, or written into this one.
        if let Ok(new) = &new {
            let is_named = named.is_ok_and(|named| Stamp::new(&named).is_file_of(&Stamp::new(new)));
            if !is_named || new.len() != wide(size) {
                let message = format!("another program has replaced {} while it was written", self.path.display());
                let error = Error::new(ErrorKind::Refused, message);
                return Err(error.with_hint("the edit is not in the file, or not whole: look at it, and do it again"));
            }
        }
        Ok((done, new.ok().and_then(|new| Origin::new(&self.target, &new))))
    }

    /// Writes the new file and puts it in the place of the old one. The new file is the origin of the map from then on.
    pub(super) fn by(mut self, write: impl FnOnce(&File) -> io::Result<()>) -> Result<(Saved, Option<Origin>)> {
        let temporary = Temporary::beside(&self.target).map_err(|error| self.cannot("write", error))?;
        let mut saved = Saved::default();
        if let Some(old) = &self.old {
            // The permissions are set before the file has content.
            let lost = target::keep_attributes(temporary.file(), &self.target, old);
            saved.warnings = lost.map_err(|error| self.cannot("keep the permissions of", error))?;
            saved.warnings.extend(target::other_names(old));
        }
        write(temporary.file()).map_err(|error| self.cannot("write", error))?;
        temporary.file().sync_data().map_err(|error| self.cannot("write", error))?;
        let lock = match self.lock.take() {
            None => target::lock(&self.target).map_err(|error| self.cannot("replace", error))?,
            held => held,
        };
        self.check_unchanged()?;
        self.origin.map_or(Ok(()), Origin::check_unpatched)?;
        // A backup is a second name of the file, which could not be removed again while the file is open.
        target::wait(&self.target).map_err(|error| self.cannot("replace", error))?;
        saved.backup = self.back_up(&temporary)?;
        let new = self.rename(temporary).map_err(|error| {
            // The backup is a second name or a copy; the original file still exists.
            saved.backup.iter().for_each(|backup| drop(fs::remove_file(backup)));
            match error.kind() {
                io::ErrorKind::AlreadyExists => self.has_changed(),
                _ => self.cannot("replace", error),
            }
        })?;
        if let Some(Err(error)) = self.old.as_ref().map(|old| target::after_rename(&self.target, old)) {
            saved.warnings.push(format!("the attributes of the old file are lost: {error}"));
        }
        if let Err(error) = target::sync_folder(target::folder(&self.target)) {
            let warning = format!("the folder could not be synced, so a crash may restore the old file: {error}");
            saved.warnings.push(warning);
        }
        // Other saves wait until here, so that this is the state in which the new file was left.
        // Windows completes the time of a file when it is closed.
        let new = if cfg!(unix) {
            new.metadata()
        } else {
            drop(new);
            fs::metadata(&self.target)
        };
        let origin = new.ok().and_then(|new| Origin::new(&self.target, &new));
        drop(lock);
        Ok((saved, origin))
    }

    fn rename(&self, temporary: Temporary) -> io::Result<File> {
        // A file that came meanwhile is not replaced.
        let Some(old) = &self.old else { return temporary.persist_new(&self.target) };
        target::before_rename(&self.target, old)?;
        // After a failure the old file must be unchanged.
        temporary.persist(&self.target).inspect_err(|_| drop(target::after_rename(&self.target, old)))
    }

    /// Refuses if the file has changed since. A file that no longer exists is not refused: it has nothing to lose.
    fn check_unchanged(&self) -> Result<()> {
        let now = Stamp::now(&self.target).map_err(|error| self.cannot("look at", error))?;
        if now.is_none() || now == self.stamp { Ok(()) } else { Err(self.has_changed()) }
    }

    fn has_changed(&self) -> Error {
        let message = format!("another program has changed {} meanwhile, and that would be lost", self.path.display());
        Error::new(ErrorKind::Refused, message).with_hint("nothing was saved; do the edit again")
    }

    /// Gives the old file a second name, so that it survives the rename. It is copied where a second name would not be
    /// a backup: a program that writes into a third name of the file would change it, and a file of somebody else could
    /// not be removed again; and where the file system has no links.
    fn back_up(&self, temporary: &Temporary) -> Result<Option<PathBuf>> {
        let (Some(old), Some(suffix)) = (&self.old, self.backup) else { return Ok(None) };
        let is_alone = !self.has_other_names() && target::is_of_same_owner(old, temporary.file());
        for name in backups::next_names(&self.target, suffix) {
            let linked = is_alone.then(|| fs::hard_link(&self.target, &name));
            let made = match linked {
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
                Some(Ok(())) => Ok(()),
                _ => copy(&self.target, old, &name),
            };
            match made {
                Ok(()) => return Ok(Some(name)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.cannot("back up", error)),
            }
        }
        Err(self.cannot("back up", io::Error::other("no name is free for the backup")))
    }

    fn cannot(&self, what: &str, error: io::Error) -> Error {
        Error::io(format!("cannot {what} {}", self.path.display()), error)
    }
}

/// Copies a file with its permissions to a new name that no file has.
fn copy(from: &Path, old: &Metadata, to: &Path) -> io::Result<()> {
    let copy = Temporary::beside(from)?;
    target::keep_attributes(copy.file(), from, old)?;
    io::copy(&mut File::open(from)?, &mut copy.file())?;
    copy.file().sync_data()?;
    copy.persist_new(to).map(drop)
}

// Temporary files: each is written under its own name beside its target, and takes the target's name in one step.
//
// A program that is killed cannot remove its temporary files. Each is locked while its program runs, so the next
// program that saves in that folder sees which ones have no owner, and removes them.

/// How names of temporary files begin and end.
const NAME: [&str; 2] = [".bspkit-", ".tmp"];

/// The temporary files of this process. They get and lose their names under this lock.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Files that are being patched are under this lock, together.
static PATCHING: RwLock<()> = RwLock::new(());

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
    // A patch takes milliseconds. None begins from here on.
    std::mem::forget(PATCHING.write().unwrap_or_else(PoisonError::into_inner));
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

    /// A program that takes no lock, between the first byte that is written and the last one.
    #[cfg(unix)]
    #[test]
    fn what_replaces_a_file_while_it_is_written_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("map"), folder.path().join("other"));
        let options = SaveOptions::default();
        let write = |meanwhile: &dyn Fn()| {
            std::fs::write(&path, b"old").unwrap();
            std::fs::write(&other, b"another").unwrap();
            Replacing::of(&path, &options, None).unwrap().within(3, |mut file| {
                io::Write::write_all(&mut file, b"new")?;
                meanwhile();
                Ok(())
            })
        };
        assert!(write(&|| {}).is_ok());
        let error = write(&|| std::fs::rename(&other, &path).unwrap()).unwrap_err();
        assert!(error.to_string().contains("has replaced"), "{error}");
        let copy = || assert!(std::fs::copy(&other, &path).unwrap() > 3);
        assert!(write(&copy).is_err());
        assert!(write(&|| std::fs::remove_file(&path).unwrap()).is_err());
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
