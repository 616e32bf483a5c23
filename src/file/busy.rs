//! Files that another program has open. Windows neither opens nor replaces them then; other systems do.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

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
