//! Ctrl-C, SIGTERM and a closed terminal or console window: a file that is being saved is finished or removed, and the
//! exit status is 130.

use std::sync::atomic::{AtomicBool, Ordering};

use super::talk::{CLEAR, STOPPED};

/// Whether there are several maps. Then a signal lets the maps in progress finish.
static FINISHES: AtomicBool = AtomicBool::new(false);
static IS_ASKED: AtomicBool = AtomicBool::new(false);
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on the first signal lets the maps in progress finish, and the second one ends the program at once.
pub(crate) fn finish_maps_in_progress() {
    FINISHES.store(true, Ordering::SeqCst);
}

/// Whether the program was asked to end.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::SeqCst)
}

/// From now on signals end the program in order.
pub(crate) fn listen(quiet: bool) {
    IS_QUIET.store(quiet, Ordering::SeqCst);
    system::listen();
}

/// Ends the program, or lets the maps in progress finish. This runs in a thread of its own.
fn heed(may_finish: bool) {
    if may_finish && FINISHES.load(Ordering::SeqCst) && !IS_ASKED.swap(true, Ordering::SeqCst) {
        if !IS_QUIET.load(Ordering::SeqCst) {
            say("stopping after the maps in progress; a second signal stops at once");
        }
        return;
    }
    bspkit::file::abandon();
    // Whoever reads the output leaves the pager first; it would stay on the terminal without its program.
    super::pager::wait();
    std::process::exit(STOPPED.into());
}

/// Prints a message in place of the progress bar. Errors of stderr are ignored.
fn say(text: &str) {
    use std::io::{IsTerminal, Write, stderr};
    let clear = if stderr().is_terminal() { CLEAR } else { "" };
    let _ = stderr().write_all(format!("{clear}{text}\n").as_bytes());
}

#[cfg(unix)]
mod system {
    use std::io::Read;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

    pub(super) fn listen() {
        // Reaching the limit of the file size becomes an error of the write and does not end the program.
        let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
        // Without a handler a signal ends the program as usual.
        let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded()) else { return };
        // If the thread cannot be started, signals end the program at once.
        let started = std::thread::Builder::new().spawn(move || signals.forever().for_each(|_| super::heed(true)));
        drop(started);
    }

    /// The signals that end a run. A signal that was ignored when the program started stays ignored, as under `nohup`
    /// or for a background job of a script. If the system does not report the ignored signals, SIGHUP is left to its
    /// default.
    fn heeded() -> Vec<i32> {
        // The system does not tell the size of this file: with room for all of it, it is read at once.
        let mut status = [0; 4096];
        let length = std::fs::File::open("/proc/self/status").and_then(|mut file| file.read(&mut status)).unwrap_or(0);
        let status = String::from_utf8_lossy(&status[..length]);
        let ignored =
            status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
        match ignored {
            Some(mask) => {
                [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| mask >> (signal - 1) & 1 == 0).collect()
            }
            None => vec![SIGINT, SIGTERM],
        }
    }
}

#[cfg(windows)]
#[allow(unsafe_code)]
mod system {
    use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

    pub(super) fn listen() {
        // SAFETY: the handler is a function, so it lives as long as the program. The system calls it in a new thread,
        // where it may wait for locks.
        unsafe { SetConsoleCtrlHandler(Some(heed), 1) };
    }

    /// Handles an event. When the window is closed, the user logs off or the system shuts down, the system ends the
    /// program a few seconds later, so no map is waited for.
    extern "system" fn heed(event: u32) -> i32 {
        super::heed(matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT));
        1
    }
}

/// This system has no signals.
#[cfg(not(any(unix, windows)))]
mod system {
    pub(super) fn listen() {
        let _ = super::heed;
    }
}
