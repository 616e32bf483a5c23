//! What a script may use: steps, time, memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use rhai::{Dynamic, Engine};

use super::fault::Fault;
use crate::{Error, ErrorKind, Hint};

/// The most bytes of a string that a call makes or takes apart, and of the text of an array or object.
pub(super) const MOST_STRING: usize = 4 << 20;
/// The most items that a call makes at once.
pub(super) const MOST_ITEMS: usize = 1 << 22;
/// How deep arrays and objects may be nested in a value that a call takes out of another one.
pub(super) const MOST_NESTED: usize = 1 << 12;
/// The most variables at once.
const MOST_VARIABLES: usize = 256;
/// How deep calls of functions may be nested.
const MOST_CALLS: usize = 64;
/// How deep expressions may be nested, in functions too.
const MOST_DEEP: usize = 64;
/// How often time and memory are looked at.
const PAUSE: Duration = Duration::from_millis(2);
/// The stack that all this needs. The engine copies and drops nested values by recursion. Each layer of a value that
/// is made of a copy takes time for all layers in it, so that a script has no time for more than this holds; what is
/// not copied has the bound [`MOST_NESTED`].
pub(super) const STACK: usize = 512 << 20;

/// The bounds of a script. It is stopped with an error at each of them, and then nothing of it is saved.
///
/// Besides these a call makes a string of at most 4 MiB and an array of at most 4,194,304 items; there are at most 256
/// variables in a function, 64 calls in each other and 64 levels of expressions.
///
/// ```
/// use bspkit::face::script::{Limits, Script, Settings};
/// let endless = Script::compile("endless.rhai", "loop {}")?;
/// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
/// let mut limits = Limits::default();
/// limits.steps = 1_000_000;
/// let error = endless.run(&mut draft, &Settings::default().limits(limits)).unwrap_err();
/// assert_eq!(error.to_string(), "endless.rhai:1:6: the script has taken 1000000 steps");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Steps: statements, parts of expressions, calls. One pass over the pairs of a map with 20,000 entities takes
    /// about a million.
    pub steps: u64,
    /// The time for one map.
    pub time: Duration,
    /// The memory of the whole process in bytes, without files that are only mapped. It is measured about every
    /// 2 milliseconds, where the system says it (Linux, Windows, macOS, FreeBSD). The script is stopped at its next
    /// step, which is after at most one more copy of a value that it has.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 200_000_000, time: Duration::from_secs(60), memory: 2 << 30 }
    }
}

/// Stops a script at its next step.
///
/// The engine can measure values itself, but then it measures a whole array after each call with it. So another
/// thread looks at the clock and at the memory, and each step only at a flag.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Watched>);

#[derive(Default)]
struct Watched {
    is_stopped: AtomicBool,
    is_done: AtomicBool,
    why: Mutex<Option<Error>>,
}

impl Watch {
    /// Stops the script; the first reason counts.
    pub(super) fn stop(&self, why: Error) {
        self.0.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.0.is_stopped.store(true, Ordering::Release);
    }

    /// Why it was stopped.
    pub(super) fn take(&self) -> Option<Error> {
        self.0.why.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Looks at time and memory until the script ends.
    pub(super) fn look(&self, limits: &Limits) {
        let begun = Instant::now();
        while !self.0.is_done.load(Ordering::Acquire) {
            let over = |what, sentence: &str| {
                self.stop(Error::new(ErrorKind::TooLarge, sentence).with_hint(Hint::Limit(what)));
            };
            match memory() {
                _ if begun.elapsed() > limits.time => over("time", "the script takes too long"),
                Some(bytes) if bytes > limits.memory => {
                    over("memory", "the program uses more memory than a script may use");
                }
                _ => {}
            }
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Ends [`Watch::look`] on a thread.
    pub(super) fn end(&self, thread: &Thread) {
        self.0.is_done.store(true, Ordering::Release);
        thread.unpark();
    }

    /// Lets an engine look at the flag.
    pub(super) fn apply(&self, engine: &mut Engine) {
        let watch = self.clone();
        engine.on_progress(move |_| {
            let is_stopped = watch.0.is_stopped.load(Ordering::Acquire);
            is_stopped.then(|| watch.take().map_or(Dynamic::UNIT, |why| Dynamic::from(Fault::new(why))))
        });
    }
}

/// The bounds of the syntax.
pub(super) fn apply_to_syntax(engine: &mut Engine) {
    engine.set_max_variables(MOST_VARIABLES);
    engine.set_max_call_levels(MOST_CALLS);
    engine.set_max_expr_depths(MOST_DEEP, MOST_DEEP);
}

/// The memory of this process that is not part of a file, in bytes, where the system says it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn memory() -> Option<u64> {
    let bytes = |stats: memory_stats::MemoryStats| if cfg!(windows) { stats.virtual_mem } else { stats.physical_mem };
    memory_stats::memory_stats().and_then(|stats| bytes(stats).try_into().ok())
}

/// The memory of this process that is not part of a file, in bytes, where the system says it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split(' ').skip(1).map_while(|number| number.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    // A page has at least 4 KiB; where it has more, the bound is met later.
    Some(resident.saturating_sub(shared) * 4096)
}

/// Values that a call would make.
#[derive(Clone, Copy)]
pub(super) enum Large {
    String,
    Items,
    Nested,
}

impl Large {
    /// The error that says so.
    pub(super) fn error(self) -> Error {
        let message = match self {
            Large::String => format!("a string, or the text of a value, has more than {MOST_STRING} bytes"),
            Large::Items => format!("an array or a blob has more than {MOST_ITEMS} items"),
            Large::Nested => format!("arrays and objects are nested more than {MOST_NESTED} deep"),
        };
        Error::new(ErrorKind::TooLarge, message)
    }
}

/// The sentences for bounds of the language.
pub(super) fn too_many_variables() -> String {
    format!("there are more than {MOST_VARIABLES} variables")
}

pub(super) fn too_many_calls() -> String {
    format!("functions call each other more than {MOST_CALLS} deep")
}
