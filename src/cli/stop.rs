//! Ctrl-C, and a terminal that is closed: whatever is being saved is finished or removed, and the exit status is 130.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use super::talk::{CLEAR, STOPPED};

/// Whether several maps are at work, of which those at hand are finished.
static FINISHES: AtomicBool = AtomicBool::new(false);
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// From now on a signal lets the maps at hand be finished, and a second one ends the program at once.
pub(crate) fn finish_maps_at_hand() {
    FINISHES.store(true, Ordering::SeqCst);
}

/// Whether the program was asked to end.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::SeqCst)
}

/// Waits for signals in a thread of its own.
#[cfg(unix)]
pub(crate) fn listen(quiet: bool) {
    use signal_hook::consts::SIGXFSZ;
    // A file that may not grow any more is an error of the write, and no end of the program.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    // Without it a signal ends the program as it does any other.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded()) else { return };
    // Without a thread for them they end the program at once.
    let started = std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            if FINISHES.load(Ordering::SeqCst) && !IS_ASKED.swap(true, Ordering::SeqCst) {
                if !quiet {
                    say("stopping: the maps at hand are finished first; once more to stop at once");
                }
                continue;
            }
            bspkit::file::abandon();
            std::process::exit(STOPPED.into());
        }
    });
    drop(started);
}

/// The signals that end a run. What whoever started the program had it ignore stays ignored: `nohup` is such a one, and
/// a shell whose script goes on behind its back. Where the system does not say what that is, a closed terminal ends the
/// program as it does any other.
#[cfg(unix)]
fn heeded() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    match ignored {
        Some(mask) => [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| mask >> (signal - 1) & 1 == 0).collect(),
        None => vec![SIGINT, SIGTERM],
    }
}

/// Ctrl-C ends the program as it does any other.
#[cfg(not(unix))]
pub(crate) fn listen(_quiet: bool) {}

/// Says something over the progress bar; whether anybody hears it makes no difference.
#[cfg(unix)]
fn say(text: &str) {
    use std::io::{IsTerminal, Write, stderr};
    let clear = if stderr().is_terminal() { CLEAR } else { "" };
    let _ = stderr().write_all(format!("{clear}{text}\n").as_bytes());
}
