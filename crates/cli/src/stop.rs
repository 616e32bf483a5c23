//! Ctrl-C, SIGTERM and a closed terminal or console window: a file that is being saved is finished or removed, and the
//! exit status is 130.

use std::sync::atomic::{AtomicBool, Ordering};

use super::talk::{CLEAR, STOPPED};

#[cfg(unix)]
pub(crate) use system::{SHORTENED, wake};

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
#[allow(unsafe_code)]
mod system {
    use std::io::Read;
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::net::UnixStream;
    use std::sync::OnceLock;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::low_level::{exit, pipe};

    /// What a handler writes for the thread when a mapped file was shortened. Signals write another byte.
    pub(crate) const SHORTENED: u8 = b'!';

    /// Wakes the thread that ends the program.
    static WAKE: OnceLock<UnixStream> = OnceLock::new();

    /// Where a handler writes a byte to wake the thread; none if there is no thread. A handler may ask.
    pub(crate) fn wake() -> Option<RawFd> {
        WAKE.get().map(AsRawFd::as_raw_fd)
    }

    pub(super) fn listen() {
        // Reaching the limit of the file size becomes an error of the write and does not end the program.
        let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
        // Without a handler, or without the thread, a signal ends the program as usual.
        let Ok((reader, writer)) = UnixStream::pair() else { return };
        if std::thread::Builder::new().spawn(move || obey(reader)).is_err() {
            return;
        }
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
            let _ = writer.try_clone().and_then(|writer| pipe::register(signal, writer));
        }
        let _ = WAKE.set(writer);
    }

    /// Waits for the handlers. They cannot remove files themselves, since a list of files is locked.
    fn obey(mut wake: UnixStream) {
        let mut byte = [0];
        while wake.read_exact(&mut byte).is_ok() {
            if byte == [SHORTENED] {
                bspkit::file::abandon();
                exit(2);
            }
            super::heed(true);
        }
    }

    /// Whether a signal was ignored when the program started, as under `nohup` or for a background job of a script. It
    /// stays ignored.
    fn is_ignored(signal: i32) -> bool {
        // SAFETY: the struct may be all zeros, and the system only writes it.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_IGN
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
