//! Files that another program has open. Windows neither opens nor replaces them then; other systems do.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// How often an action is tried, and the time between two tries: together two seconds.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Does an action on the file at `path`, again and again while another program has the file open, for at most two
/// seconds.
///
/// # Errors
/// Those of the action; a sentence if another program still has the file open.
pub(super) fn patiently<T>(path: &Path, mut action: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 1..TRIES {
        match action() {
            Err(error) if is_busy(&error, path) => sleep(PAUSE),
            done => return done,
        }
    }
    action().map_err(|error| match is_busy(&error, path) {
        true => io::Error::new(error.kind(), "another program has it open, perhaps the game: close it there first"),
        false => error,
    })
}

#[cfg(windows)]
fn is_busy(error: &io::Error, path: &Path) -> bool {
    use std::os::windows::fs::OpenOptionsExt;

    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    let is_shared = |error: &io::Error| matches!(error.raw_os_error(), Some(SHARING_VIOLATION | LOCK_VIOLATION));
    // A rename over an open file and one without permission give the same error. Opening the file for nobody else
    // makes a difference between them.
    let alone = || std::fs::File::options().read(true).share_mode(0).open(path);
    is_shared(error) || error.raw_os_error() == Some(ACCESS_DENIED) && alone().is_err_and(|error| is_shared(&error))
}

#[cfg(not(windows))]
fn is_busy(_: &io::Error, _: &Path) -> bool {
    false
}
