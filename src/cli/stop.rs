//! Ctrl-C: whatever is being saved is finished or removed, and the exit status is 130.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether several maps are at work, of which those at hand are finished.
static FINISHES: AtomicBool = AtomicBool::new(false);
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// What shells say of a program that Ctrl-C ended.
pub(crate) const STATUS: u8 = 130;

/// From now on a signal lets the maps at hand be finished, and a second one ends the program at once.
pub(crate) fn finish_maps_at_hand() {
    FINISHES.store(true, Ordering::SeqCst);
}

/// Whether the program was asked to end.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::SeqCst)
}

/// Waits for SIGINT and SIGTERM in a thread of its own.
#[cfg(unix)]
pub(crate) fn listen(quiet: bool) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Without it a signal ends the program as it does any other.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if FINISHES.load(Ordering::SeqCst) && !IS_ASKED.swap(true, Ordering::SeqCst) {
                if !quiet {
                    say("stopping: the maps at hand are finished first; once more to stop at once");
                }
                continue;
            }
            bspkit::file::abandon();
            std::process::exit(STATUS.into());
        }
    });
}

/// Ctrl-C ends the program as it does any other.
#[cfg(not(unix))]
pub(crate) fn listen(_quiet: bool) {}

/// Says something over the progress bar; whether anybody hears it makes no difference.
#[cfg(unix)]
fn say(text: &str) {
    use std::io::{IsTerminal, Write, stderr};
    let clear = if stderr().is_terminal() { super::maps::CLEAR } else { "" };
    let _ = stderr().write_all(format!("{clear}{text}\n").as_bytes());
}
