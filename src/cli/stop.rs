//! Ctrl-C, SIGTERM and a closed terminal: a file that is being saved is finished or removed, and the exit status is
//! 130.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use super::talk::{CLEAR, STOPPED};

/// Whether there are several maps. Then a signal lets the maps in progress finish.
static FINISHES: AtomicBool = AtomicBool::new(false);
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first signal lets the maps in progress finish, and the second one ends the program at once.
pub(crate) fn finish_maps_in_progress() {
    FINISHES.store(true, Ordering::SeqCst);
}

/// Whether the program was asked to end.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::SeqCst)
}

/// Handles signals in a separate thread.
#[cfg(unix)]
pub(crate) fn listen(quiet: bool) {
    use signal_hook::consts::SIGXFSZ;
    // Reaching the limit of the file size becomes an error of the write and does not end the program.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    // Without a handler a signal ends the program as usual.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded()) else { return };
    // If the thread cannot be started, signals end the program at once.
    let started = std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            if FINISHES.load(Ordering::SeqCst) && !IS_ASKED.swap(true, Ordering::SeqCst) {
                if !quiet {
                    say("stopping after the maps in progress; a second signal stops at once");
                }
                continue;
            }
            bspkit::file::abandon();
            std::process::exit(STOPPED.into());
        }
    });
    drop(started);
}

/// The signals that end a run. A signal that was ignored when the program started stays ignored, as under `nohup` or
/// for a background job of a script. If the system does not report the ignored signals, SIGHUP is left to its default.
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

/// Ctrl-C ends the program as usual.
#[cfg(not(unix))]
pub(crate) fn listen(_quiet: bool) {}

/// Prints a message in place of the progress bar. Errors of stderr are ignored.
#[cfg(unix)]
fn say(text: &str) {
    use std::io::{IsTerminal, Write, stderr};
    let clear = if stderr().is_terminal() { CLEAR } else { "" };
    let _ = stderr().write_all(format!("{clear}{text}\n").as_bytes());
}
