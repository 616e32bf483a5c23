//! The file that a save replaces: its state, a lock on it, and the attributes that the new file keeps.

use std::collections::VecDeque;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use super::Access;
use crate::bytes::Data;
use crate::error::{Error, ErrorKind, Result};
#[cfg(not(unix))]
pub(super) use elsewhere::*;
#[cfg(unix)]
pub(super) use unix::*;

/// A file as it was at one time. A program that writes to it, or puts another file in its place, changes this.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// What no program can set as it likes.
    system: Option<System>,
}

/// What the system alone says of a file.
#[derive(Clone, Copy, Debug)]
struct System {
    /// The device, and the number of the file there.
    identity: (u64, u64),
    /// The last change of the content or of anything else about the file (`st_ctime`), in seconds and nanoseconds.
    changed: (i64, i64),
    /// How many names the file has.
    names: u64,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (&self.system, &other.system) {
            // A new or removed name is a change too, but not one that could be lost.
            (Some(one), Some(other)) => {
                one.identity == other.identity && (one.changed == other.changed || one.names != other.names)
            }
            (one, other) => one.is_none() == other.is_none(),
        };
        is_same && (self.size, self.modified) == (other.size, other.modified)
    }
}

impl Stamp {
    pub(super) fn new(file: &Metadata) -> Self {
        Stamp { size: file.len(), modified: file.modified().ok(), system: system(file) }
    }

    /// Whether both are of one file, whatever it contains.
    pub(super) fn is_file_of(&self, other: &Stamp) -> bool {
        let identity = |stamp: &Stamp| stamp.system.map(|system| system.identity);
        identity(self) == identity(other)
    }

    /// Whether the content is the same, as far as size and time can say.
    pub(super) fn has_content_of(&self, other: &Stamp) -> bool {
        (self.size, self.modified) == (other.size, other.modified)
    }

    /// The file at a path now; `None` if there is none.
    ///
    /// # Errors
    /// The system does not say: then there may be one.
    pub(super) fn now(path: &Path) -> io::Result<Option<Self>> {
        Ok(there(path)?.map(|file| Stamp::new(&file)))
    }

    /// Whether a lock is on this file, and not on one that had its name before.
    pub(super) fn is_locked_by(&self, lock: &File) -> bool {
        // Where files have no numbers, the lock is a file of its own.
        self.system.is_none() || lock.metadata().is_ok_and(|file| self.is_file_of(&Stamp::new(&file)))
    }
}

/// The file or folder at a path; `None` if there is certainly none.
///
/// # Errors
/// The system cannot look, for example because of a faulty disk: then nothing is known.
pub(crate) fn there(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(there) => Ok(Some(there)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn system(file: &Metadata) -> Option<System> {
    use std::os::unix::fs::MetadataExt;
    let identity = (file.dev(), file.ino());
    Some(System { identity, changed: (file.ctime(), file.ctime_nsec()), names: file.nlink() })
}

#[cfg(not(unix))]
fn system(_: &Metadata) -> Option<System> {
    None
}

/// The error about a file that may not be written.
pub(crate) fn read_only(path: &Path) -> Error {
    Error::new(ErrorKind::Refused, format!("{} is read-only", path.display()))
}

/// Whether a file may not be written. WASI has no permissions.
pub(crate) fn is_read_only(file: &Metadata) -> bool {
    !cfg!(target_os = "wasi") && file.permissions().readonly()
}

/// The file that a map was read from, in its state at that time.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    path: PathBuf,
    stamp: Stamp,
    /// The file itself, if its bytes are mapped and not read.
    mapped: Option<Arc<File>>,
    /// Whether this program wrote into the file, after all of the map was read.
    patched: Arc<AtomicBool>,
}

/// The state of files before and after the last patches of this program.
static PATCHES: Mutex<VecDeque<[Stamp; 2]>> = Mutex::new(VecDeque::new());

/// How many of these are kept: a map that was opened twice is looked at soon after its patch.
const MOST_PATCHES: usize = 64;

/// Notes that this program patched a file.
pub(super) fn note_patch(old: Stamp, new: Stamp) {
    let mut patches = PATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    patches.truncate(MOST_PATCHES - 1);
    patches.push_front([old, new]);
}

impl Origin {
    /// The origin of an opened file, before it is read. A device has none.
    pub(super) fn new(path: &Path, file: &Metadata) -> Option<Self> {
        let path = fs::canonicalize(path).ok().filter(|_| file.is_file())?;
        Some(Origin { path, stamp: Stamp::new(file), mapped: None, patched: Arc::default() })
    }

    /// The same origin of a map whose bytes are those of the open file.
    #[cfg(all(feature = "mmap", unix))]
    pub(super) fn mapped(self, file: File) -> Self {
        Origin { mapped: Some(Arc::new(file)), ..self }
    }

    /// The bytes of the file, mapped, if it is still the same one.
    pub(crate) fn map(&self) -> Option<(Data<'static>, Origin)> {
        let (data, origin) = super::read(&self.path, Access::Map).ok()?;
        origin.filter(|origin| origin.stamp == self.stamp).map(|origin| (data, origin))
    }

    /// The file, if its bytes are mapped.
    pub(super) fn file(&self) -> Option<&File> {
        self.mapped.as_deref()
    }

    /// Whether the bytes of the map are mapped and not read.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped.is_some()
    }

    /// Refuses a mapped file into which another program wrote since: the map then has bytes of both. Bytes that were
    /// read are the map's own.
    pub(crate) fn check_mapped(&self) -> Result<()> {
        if self.patched.load(Ordering::Relaxed) || self.is_patched_elsewhere() {
            Ok(())
        } else {
            self.check_unpatched()
        }
    }

    /// Whether what changed the file is a patch of the same map that was opened once more: it changes no bytes but the
    /// directory and those that no lump had.
    fn is_patched_elsewhere(&self) -> bool {
        let now = || Some(Stamp::new(&self.mapped.as_ref()?.metadata().ok()?));
        let patches = PATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = |now: Stamp| patches.iter().any(|[old, new]| *old == self.stamp && *new == now);
        !patches.is_empty() && now().is_some_and(is_ours)
    }

    /// Notes that this program writes into the file: what was read is no longer compared with it.
    pub(super) fn set_patched(&self) {
        self.patched.store(true, Ordering::Relaxed);
    }

    /// As [`Self::check_mapped`], and refuses a file into which this program wrote: it has bytes that the map had not.
    pub(super) fn check_unpatched(&self) -> Result<()> {
        let Some(file) = &self.mapped else { return Ok(()) };
        let is_same = file.metadata().is_ok_and(|now| {
            let now = Stamp::new(&now);
            // A file that lost its name was replaced as a whole, which changes nothing of its content.
            let has_name = fs::metadata(&self.path).is_ok_and(|named| Stamp::new(&named).is_file_of(&now));
            if has_name { now == self.stamp } else { now.has_content_of(&self.stamp) }
        });
        if is_same { Ok(()) } else { Err(written_meanwhile(&self.path)) }
    }

    /// The state of the file at `target` when the map was read, if the map was read from it.
    pub(super) fn stamp(&self, target: &Path) -> Option<&Stamp> {
        fs::canonicalize(target).is_ok_and(|target| target == self.path).then_some(&self.stamp)
    }
}

/// Makes an empty file share all bytes of another one, where the file system can do that; otherwise it stays empty.
#[cfg(target_os = "linux")]
pub(super) fn share(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn share(_: &File, _: &File) -> bool {
    false
}

/// The error for a file whose bytes are of two states.
pub(super) fn written_meanwhile(path: &Path) -> Error {
    let message = format!("another program wrote into {} while it was read", path.display());
    Error::new(ErrorKind::Io, message).with_hint("open the map again once that program is done")
}

/// The file that a chain of symbolic links leads to, which need not exist.
pub(super) fn follow_links(path: &Path) -> io::Result<PathBuf> {
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

/// The folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path in a form whose length Windows does not limit. Its plain form has at most 259 characters.
#[cfg(windows)]
pub(super) fn unlimited(path: &Path) -> PathBuf {
    use std::ffi::OsString;
    use std::path::{Component, Prefix};

    let Ok(full) = std::path::absolute(path) else { return path.to_path_buf() };
    let mut parts = full.components();
    let mut long = OsString::from(r"\\?\");
    match parts.next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::Disk(_) => long.push(prefix.as_os_str()),
            Prefix::UNC(server, share) => {
                let share = [r"UNC\".as_ref(), server, r"\".as_ref(), share];
                share.iter().for_each(|part| long.push(part));
            }
            // It has no such form, or it is one.
            _ => return full,
        },
        _ => return full,
    }
    long.push(parts.as_path());
    PathBuf::from(long)
}

/// Only Windows limits the length of paths.
#[cfg(not(windows))]
pub(super) fn unlimited(path: &Path) -> PathBuf {
    path.to_path_buf()
}

// Files that another program has open. Windows neither opens nor replaces them then; other systems do.

/// How often an action is tried, and the time between two tries: together two seconds.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// How often an action that is denied is tried, if no other program has the file open: one that had it open may have
/// closed it in between, and a file that is being removed is denied until it is gone.
const TRIES_OF_DENIED: u32 = 10;

/// Does an action on the file at `path`, again and again while another program has the file open, for at most two
/// seconds.
///
/// # Errors
/// Those of the action; a sentence if another program still has the file open, or may have it.
pub(super) fn patiently<T>(path: &Path, mut action: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut turn = 0;
    loop {
        let error = match action() {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        turn += 1;
        let (is_busy, is_denied) = (is_busy(&error, path), is_denied(&error));
        let why = match (is_busy, is_denied) {
            (true, _) if turn >= TRIES => {
                "another program has it open, perhaps the game: close it there first".to_owned()
            }
            (false, true) if turn >= TRIES_OF_DENIED => {
                format!("{error}: another program uses it, or you have no right to")
            }
            (false, false) => return Err(error),
            _ => {
                sleep(PAUSE);
                continue;
            }
        };
        return Err(io::Error::new(error.kind(), why));
    }
}

/// Waits until no other program has the file at `path` open, so that it can be replaced.
///
/// # Errors
/// As [`patiently`], for a file that stays open.
#[cfg(windows)]
pub(super) fn wait(path: &Path) -> io::Result<()> {
    patiently(path, || match open_alone(path) {
        Err(error) if is_shared(&error) => Err(error),
        // Whatever else is wrong with it, replacing it says so.
        _ => Ok(()),
    })
}

/// Files that are open can be replaced.
#[cfg(not(windows))]
pub(super) fn wait(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(windows)]
fn is_busy(error: &io::Error, path: &Path) -> bool {
    // A rename over an open file and one without permission give the same error.
    let is_open = || open_alone(path).is_err_and(|error| is_shared(&error));
    is_shared(error) || is_denied(error) && is_open()
}

#[cfg(windows)]
fn is_denied(error: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    error.raw_os_error() == Some(ACCESS_DENIED)
}

/// Opens a file for this program alone, which fails if another one has it open.
#[cfg(windows)]
fn open_alone(path: &Path) -> io::Result<std::fs::File> {
    use std::os::windows::fs::OpenOptionsExt;
    std::fs::File::options().read(true).share_mode(0).open(path)
}

/// Whether an error means that another program has the file open, or a part of it locked.
#[cfg(windows)]
fn is_shared(error: &io::Error) -> bool {
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    const USER_MAPPED_FILE: i32 = 1224;
    matches!(error.raw_os_error(), Some(SHARING_VIOLATION | LOCK_VIOLATION | USER_MAPPED_FILE))
}

#[cfg(not(windows))]
fn is_busy(_: &io::Error, _: &Path) -> bool {
    false
}

#[cfg(not(windows))]
fn is_denied(_: &io::Error) -> bool {
    false
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
    use rustix::io::Errno;

    use super::*;

    /// Locks the file at `target` until the result is dropped; other saves wait. The lock is on the file itself, so
    /// that no lock file can be left. `None` if there is no file, or if the file system has no locks.
    ///
    /// # Errors
    /// Another program keeps a lock.
    pub(in crate::file) fn lock(target: &Path) -> io::Result<Option<File>> {
        const PATIENCE: Duration = Duration::from_secs(10);
        let Ok(file) = File::open(target) else { return Ok(None) };
        let start = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < PATIENCE => sleep(Duration::from_millis(5)),
                Err(Errno::WOULDBLOCK) => return Err(io::Error::other("another program keeps a lock on it")),
                Err(_) => return Ok(None),
            }
        }
    }

    /// Locks a new temporary file for as long as it is open, so that no other program takes it for an abandoned
    /// one. `false` if one has done so already.
    pub(in crate::file) fn own(file: &File) -> bool {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => false,
            // Where there are no locks no other program gets one either, so none removes it.
            _ => file.metadata().is_ok_and(|file| file.nlink() > 0),
        }
    }

    /// Removes a temporary file unless a program that is running owns it.
    pub(in crate::file) fn remove_unowned(path: &Path) {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = open(path, flags, Mode::empty()).map(File::from) else { return };
        let is_there = || {
            let (open, named) = (file.metadata().ok()?, fs::symlink_metadata(path).ok()?);
            Some(open.is_file() && (open.dev(), open.ino()) == (named.dev(), named.ino()))
        };
        // The name is looked at under the lock: its owner may just have renamed it.
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() && is_there() == Some(true) {
            let _ = fs::remove_file(path);
        }
    }

    /// Gives a new file the owner, the extended attributes and the permissions of the old one at `target`, and returns
    /// what could not be kept.
    ///
    /// # Errors
    /// The permissions could not be kept.
    pub(in crate::file) fn keep_attributes(file: &File, target: &Path, old: &Metadata) -> io::Result<Vec<String>> {
        // Only a superuser may give files away; members of a group may give them to it.
        let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
        let lost = extended::copy(target, file);
        let mode = |file: &Metadata| file.permissions().mode() & 0o7777;
        // Some file systems refuse to set permissions, even unchanged ones.
        if mode(&file.metadata()?) != mode(old) {
            file.set_permissions(old.permissions())?;
        }
        Ok(match lost[..] {
            [] => Vec::new(),
            _ => vec![format!("extended attributes of the old file are lost: {}", lost.join(", "))],
        })
    }

    /// A warning if the replaced file has other names (hard links), which keep the old content.
    pub(in crate::file) fn other_names(old: &Metadata) -> Option<String> {
        let others = old.nlink().checked_sub(1).filter(|others| *others > 0)?;
        let names = if others == 1 { "1 other name".to_owned() } else { format!("{others} other names") };
        Some(format!("the old file has {names} (hard links), which keep the old content"))
    }

    /// Whether a new file has the owner of the old one: then its folder lets this program remove either.
    pub(in crate::file) fn is_of_same_owner(old: &Metadata, new: &File) -> bool {
        new.metadata().is_ok_and(|new| new.uid() == old.uid())
    }

    /// Syncs a folder, so that a rename in it reaches the disk.
    pub(in crate::file) fn sync_folder(folder: &Path) -> io::Result<()> {
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Not every file system supports this, and not every folder is readable.
            Err(error) if [Some(5), Some(28)].contains(&error.raw_os_error()) => Err(error),
            _ => Ok(()),
        }
    }

    /// Renames over a file need no preparation.
    pub(in crate::file) fn before_rename(_: &Path, _: &Metadata) -> io::Result<()> {
        Ok(())
    }

    /// The new file has everything already.
    pub(in crate::file) fn after_rename(_: &Path, _: &Metadata) -> io::Result<()> {
        Ok(())
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    mod extended {
        use std::ffi::CStr;
        use std::fs::File;
        use std::path::Path;

        use rustix::fs::{XattrFlags, fgetxattr, fsetxattr, getxattr, listxattr};

        /// The most bytes that Linux takes for a list of names, or for a value.
        const MOST: usize = 64 << 10;

        /// Copies extended attributes, access lists among them, and gives the names of those that could not be copied.
        pub(super) fn copy(from: &Path, to: &File) -> Vec<String> {
            let mut names = vec![0; MOST];
            let Ok(length) = listxattr(from, &mut names[..]) else { return Vec::new() };
            let mut value = vec![0; MOST];
            let mut there = vec![0; MOST];
            let mut lost = Vec::new();
            for name in names[..length].split_inclusive(|byte| *byte == 0) {
                let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
                let copied = getxattr(from, name, &mut value[..]).and_then(|length| {
                    let value = &value[..length];
                    match fgetxattr(to, name, &mut there[..]) {
                        Ok(length) if there[..length] == *value => Ok(()),
                        _ => fsetxattr(to, name, value, XattrFlags::empty()),
                    }
                });
                // The system sets its own labels on every file.
                let is_systems = [&b"security."[..], b"trusted."].iter().any(|own| name.to_bytes().starts_with(own));
                if copied.is_err() && !is_systems {
                    lost.push(name.to_string_lossy().into_owned());
                }
            }
            lost
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    mod extended {
        /// This system has no extended attributes that can be copied here.
        pub(super) fn copy(_: &std::path::Path, _: &std::fs::File) -> Vec<String> {
            Vec::new()
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::*;

    /// The system removes the file when it is closed.
    #[cfg(windows)]
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;

    /// Locks the file at `target` until the result is dropped; other saves wait. Windows does not replace a file with a
    /// lock on it, so that the lock is a file of its own beside it. The system removes it when the program closes it or
    /// ends. `None` if there can be no such file.
    ///
    /// # Errors
    /// Another program keeps a lock.
    #[cfg(windows)]
    pub(in crate::file) fn lock(target: &Path) -> io::Result<Option<File>> {
        use std::os::windows::fs::OpenOptionsExt;

        let mut name = std::ffi::OsString::from(".bspkit-");
        name.push(target.file_name().unwrap_or_default());
        name.push(".lock");
        let path = unlimited(&folder(target).join(name));
        let mut options = File::options();
        options.write(true).create(true).share_mode(0).custom_flags(DELETE_ON_CLOSE);
        match super::patiently(&path, || options.open(&path)) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if path.exists() => Err(io::Error::new(error.kind(), "another program keeps a lock on it")),
            Err(_) => Ok(None),
        }
    }

    #[cfg(not(windows))]
    pub(in crate::file) fn lock(_: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// A file that is open is owned: on Windows a program can ask to be the only one that has it open.
    pub(in crate::file) fn own(_: &File) -> bool {
        true
    }

    /// Removes a temporary file unless a program that is running has it open.
    pub(in crate::file) fn remove_unowned(_path: &Path) {
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt;
            let mut options = File::options();
            drop(options.write(true).share_mode(0).custom_flags(DELETE_ON_CLOSE).open(_path));
        }
    }

    /// The rename would reset the attributes: [`after_rename`] sets them.
    pub(in crate::file) fn keep_attributes(_: &File, _: &Path, _: &Metadata) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    pub(in crate::file) fn other_names(_: &Metadata) -> Option<String> {
        None
    }

    pub(in crate::file) fn is_of_same_owner(_: &Metadata, _: &File) -> bool {
        true
    }

    pub(in crate::file) fn sync_folder(_: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Windows does not rename over a read-only file.
    pub(in crate::file) fn before_rename(target: &Path, old: &Metadata) -> io::Result<()> {
        if !is_read_only(old) {
            return Ok(());
        }
        let mut permissions = old.permissions();
        permissions.set_readonly(false);
        fs::set_permissions(target, permissions)
    }

    /// Gives the file at `target` the attributes of the old one. WASI has none.
    pub(in crate::file) fn after_rename(target: &Path, old: &Metadata) -> io::Result<()> {
        if cfg!(windows) { fs::set_permissions(target, old.permissions()) } else { Ok(()) }
    }
}

#[cfg(all(test, windows))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_length_can_be_given_to_the_system() {
        let long = |path: &str| unlimited(Path::new(path)).into_os_string().into_string().unwrap();
        assert_eq!(long(r"C:\maps/a.bsp"), r"\\?\C:\maps\a.bsp");
        assert_eq!(long(r"C:\maps\..\a.bsp. "), r"\\?\C:\a.bsp");
        assert_eq!(long(r"\\server\share\maps\a.bsp"), r"\\?\UNC\server\share\maps\a.bsp");
        assert_eq!(long(r"\\?\C:\a.bsp"), r"\\?\C:\a.bsp");
        assert!(long("a.bsp").starts_with(r"\\?\"));
        assert!(long("NUL").ends_with("NUL") && !long("NUL").starts_with(r"\\?\"));
    }
}
