//! Mapped maps into which another program writes while they are read. Every command looks when it is done with a map,
//! and a file that was shortened ends the program with a sentence and exit status 2, not by a signal.

use std::cell::{Cell, RefCell};
use std::path::Path;

use anyhow::Result;
use bspkit::Bsp;
use bspkit::bytes::wide;

/// How many maps a thread remembers. Most commands have one or two at once.
const MOST: usize = 8;

thread_local! {
    /// The mapped maps that this thread has opened since it looked last.
    static OPENED: RefCell<Vec<Watched>> = const { RefCell::new(Vec::new()) };
    /// The size of the first map that this thread took out of another file since it was asked last.
    static TAKEN_OUT: Cell<u64> = const { Cell::new(0) };
}

/// A map of this size was taken out of a compressed file or an archive.
pub(crate) fn takes_out(bytes: usize) {
    TAKEN_OUT.set(if TAKEN_OUT.get() == 0 { wide(bytes) } else { TAKEN_OUT.get() });
}

/// The size in bytes of the map that was taken out of a compressed file or an archive; 0 if none was. Asked once.
pub(crate) fn taken_out() -> u64 {
    TAKEN_OUT.take()
}

struct Watched {
    bsp: Bsp<'static>,
    _listed: system::Listed,
}

/// Opens a map, which may be mapped and shortened while its directory is read.
pub(crate) fn open<T>(open: impl FnOnce() -> T) -> T {
    let _opening = system::opening();
    open()
}

/// From now on a map is watched, until [`looked_after`].
pub(crate) fn begin(path: &Path, bsp: &Bsp<'static>) {
    if !bsp.is_mapped() {
        return;
    }
    let watched = Watched { bsp: bsp.clone(), _listed: system::list(path, bsp.container().bytes()) };
    OPENED.with_borrow_mut(|opened| {
        // A command that opens one map after the other is done with the first ones.
        if opened.len() == MOST && opened[0].bsp.check_mapped().is_ok() {
            opened.remove(0);
        }
        opened.push(watched);
    });
}

/// Ends the watch of the maps that this thread has opened, and returns what was done with them.
///
/// # Errors
/// Another program wrote into one of them, so that what was read may be of two files; the error of what was done.
pub(crate) fn looked_after<T>(done: Result<T>) -> Result<T> {
    let opened = OPENED.take();
    let Err(changed) = opened.iter().try_for_each(|watched| watched.bsp.check_mapped()) else { return done };
    match done {
        Ok(_) => Err(changed.into()),
        // What was read is why it failed, or it may be.
        Err(error) => Err(error.context(changed)),
    }
}

#[cfg(unix)]
#[allow(unsafe_code)]
mod system {
    use std::ffi::c_void;
    use std::path::Path;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
    use std::time::Duration;

    use crate::stop::{self, SHORTENED};
    use crate::talk::shown;

    /// How many maps are listed with their names, and the most bytes of a sentence. Others have one without a name.
    const PLACES: usize = 64;
    const LONGEST: usize = 480;
    const UNNAMED: &[u8] = b"error: another program shortened a map while it was read, or its disk failed\n";

    /// The mapped maps. The handler of a signal may neither lock nor allocate, so this is a table of atomics.
    static TABLE: [Entry; PLACES] = [const { Entry::new() }; PLACES];
    /// How many maps found no place in the table.
    static UNLISTED: AtomicUsize = AtomicUsize::new(0);
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    /// What there was before the handler.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    struct Entry {
        is_taken: AtomicBool,
        /// The mapping; the end is 0 while the entry is written.
        start: AtomicUsize,
        end: AtomicUsize,
        length: AtomicUsize,
        sentence: [AtomicU8; LONGEST],
    }

    impl Entry {
        const fn new() -> Self {
            Entry {
                is_taken: AtomicBool::new(false),
                start: AtomicUsize::new(0),
                end: AtomicUsize::new(0),
                length: AtomicUsize::new(0),
                sentence: [const { AtomicU8::new(0) }; LONGEST],
            }
        }
    }

    /// A mapping that is listed until this is dropped.
    pub(super) struct Listed(Option<&'static Entry>);

    impl Drop for Listed {
        fn drop(&mut self) {
            match self.0 {
                Some(entry) => {
                    entry.end.store(0, Ordering::SeqCst);
                    entry.is_taken.store(false, Ordering::SeqCst);
                }
                None => drop(UNLISTED.fetch_sub(1, Ordering::SeqCst)),
            }
        }
    }

    /// Until this is dropped, a signal may be of a map that is opened and has no place in the table so far.
    pub(super) fn opening() -> Listed {
        BEFORE.get_or_init(listen);
        UNLISTED.fetch_add(1, Ordering::SeqCst);
        Listed(None)
    }

    /// Lists a mapping, so that a signal from within it names the map.
    pub(super) fn list(path: &Path, mapped: &[u8]) -> Listed {
        BEFORE.get_or_init(listen);
        let sentence =
            format!("error: another program shortened {} while it was read, or its disk failed\n", shown(path));
        let is_free = |entry: &&Entry| !entry.is_taken.swap(true, Ordering::SeqCst);
        let Some(entry) = TABLE.iter().find(is_free) else {
            UNLISTED.fetch_add(1, Ordering::SeqCst);
            return Listed(None);
        };
        let sentence = if sentence.len() > LONGEST { UNNAMED } else { sentence.as_bytes() };
        entry.sentence.iter().zip(sentence).for_each(|(to, from)| to.store(*from, Ordering::SeqCst));
        entry.length.store(sentence.len(), Ordering::SeqCst);
        let range = mapped.as_ptr_range();
        entry.start.store(range.start.addr(), Ordering::SeqCst);
        entry.end.store(range.end.addr(), Ordering::SeqCst);
        Listed(Some(entry))
    }

    /// Installs the handler, and returns the one before.
    fn listen() -> libc::sigaction {
        // SAFETY: both structs may be all zeros. The handler is a function, and does only what a handler may do.
        unsafe {
            let mut new: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) = shortened;
            new.sa_sigaction = handler as libc::sighandler_t;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const new, &raw mut old);
            old
        }
    }

    /// The handler of SIGBUS: a page of a mapping is not there any more. It may be called within any other function, so
    /// it calls only `write`, `sigaction`, `nanosleep` and `_exit`, and reads atomics.
    extern "C" fn shortened(_: i32, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the system gives a handler that was installed with SA_SIGINFO a valid pointer; SIGBUS has an address.
        let address = unsafe { (*info).si_addr() }.addr();
        let is_it = |entry: &&Entry| {
            let (start, end) = (entry.start.load(Ordering::SeqCst), entry.end.load(Ordering::SeqCst));
            start <= address && address < end
        };
        let entry = TABLE.iter().find(is_it);
        let Some(before) = BEFORE.get() else { signal_hook::low_level::exit(2) };
        let wake = stop::wake();
        if entry.is_none() && UNLISTED.load(Ordering::SeqCst) == 0 {
            // Not ours: it happens again, and what was there before handles it.
            // SAFETY: the struct came from the system.
            unsafe { libc::sigaction(libc::SIGBUS, std::ptr::from_ref(before), std::ptr::null_mut()) };
            return;
        }
        if !IS_SAID.swap(true, Ordering::SeqCst) {
            match entry {
                Some(entry) => {
                    let mut sentence = [0; LONGEST];
                    sentence.iter_mut().zip(&entry.sentence).for_each(|(to, from)| *to = from.load(Ordering::SeqCst));
                    say(sentence.get(..entry.length.load(Ordering::SeqCst)).unwrap_or(UNNAMED), libc::STDERR_FILENO);
                }
                None => say(UNNAMED, libc::STDERR_FILENO),
            }
            wake.iter().for_each(|wake| say(&[SHORTENED], *wake));
        }
        if wake.is_some() {
            // The thread that ends the program removes temporary files. It needs a moment only.
            std::thread::sleep(Duration::from_secs(2));
        }
        signal_hook::low_level::exit(2);
    }

    fn say(text: &[u8], to: i32) {
        // SAFETY: the pointer and the length are of one slice.
        let _ = unsafe { libc::write(to, text.as_ptr().cast(), text.len()) };
    }
}

/// This system maps no files.
#[cfg(not(unix))]
mod system {
    pub(super) struct Listed;

    pub(super) fn opening() -> Listed {
        Listed
    }

    pub(super) fn list(_: &std::path::Path, _: &[u8]) -> Listed {
        Listed
    }
}
