//! What a script may use: steps, time, memory.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rhai::{Dynamic, Engine};

/// The most bytes of a string, and of all strings in one array or object.
const MOST_STRING: usize = 4 << 20;
/// The most items of an array with those of the arrays in it. There are fewer entities than this in any map.
const MOST_ITEMS: usize = 1 << 18;
/// The most members of an object with those of the objects in it.
const MOST_MEMBERS: usize = 1 << 16;
/// The most variables at once.
const MOST_VARIABLES: usize = 256;
/// How deep calls of functions may be nested.
const MOST_CALLS: usize = 64;
/// How deep expressions may be nested, in functions too.
const MOST_DEEP: usize = 64;
/// The stack that all this needs. Arrays and objects can be nested as deep as they have items, and are dropped by
/// recursion.
pub(super) const STACK: usize = 256 << 20;

/// The bounds of a script. It is stopped with an error at each of them, and then nothing of it is saved.
///
/// Besides these a string has at most 4 MiB, an array 262,144 items and an object 65,536 members, with those of all
/// values in it; there are at most 256 variables in a function, 64 calls in each other and 64 levels of expressions.
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
    /// The memory of the whole process in bytes, without files that are only mapped. It is measured on Linux and
    /// Windows, about every 5 milliseconds; elsewhere only the bounds of single values hold.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 200_000_000, time: Duration::from_secs(60), memory: 2 << 30 }
    }
}

/// Why a script was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Time,
    Memory,
}

impl Limits {
    /// Sets the bounds of an engine; they count from now on.
    pub(super) fn apply(&self, engine: &mut Engine) {
        apply_to_values(engine);
        engine.set_max_operations(self.steps.max(1));
        let (end, most) = (Instant::now() + self.time, self.memory);
        let looked = Mutex::new(Instant::now());
        engine.on_progress(move |steps| {
            // The clock costs about as much as a step.
            if steps % 16 != 0 {
                return None;
            }
            let now = Instant::now();
            let mut looked = looked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if now.duration_since(*looked) < Duration::from_millis(5) {
                return None;
            }
            *looked = now;
            let stop = match memory() {
                _ if now > end => Some(Stop::Time),
                Some(bytes) if bytes > most => Some(Stop::Memory),
                _ => None,
            };
            stop.map(Dynamic::from)
        });
    }
}

/// The bounds of values and of the syntax.
pub(super) fn apply_to_values(engine: &mut Engine) {
    engine.set_max_string_size(MOST_STRING);
    engine.set_max_array_size(MOST_ITEMS);
    engine.set_max_map_size(MOST_MEMBERS);
    engine.set_max_variables(MOST_VARIABLES);
    engine.set_max_call_levels(MOST_CALLS);
    engine.set_max_expr_depths(MOST_DEEP, MOST_DEEP);
}

/// The memory of this process that is not part of a file, in bytes, where the system says it.
#[cfg(windows)]
fn memory() -> Option<u64> {
    memory_stats::memory_stats().and_then(|stats| stats.virtual_mem.try_into().ok())
}

/// The memory of this process that is not part of a file, in bytes, where the system says it.
#[cfg(not(windows))]
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = text.split(' ').skip(1).map_while(|number| number.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    // A page has at least 4 KiB; where it has more, the bound is met later.
    Some(resident.saturating_sub(shared) * 4096)
}

/// The most bytes of a string.
pub(super) fn string_size() -> usize {
    MOST_STRING
}

/// The most items of an array, with those of the arrays in it.
pub(super) fn array_size() -> usize {
    MOST_ITEMS
}

/// A sentence for each bound of a value.
pub(super) fn sentence(what: &str) -> String {
    match what {
        what if what.contains("string") => {
            format!("a string, or all strings of a value, have more than {MOST_STRING} bytes")
        }
        what if what.contains("array") => {
            format!("an array has more than {MOST_ITEMS} items, with those of the arrays in it")
        }
        _ => format!("an object has more than {MOST_MEMBERS} members, with those of the objects in it"),
    }
}

/// The sentences for bounds of the language.
pub(super) fn too_many_variables() -> String {
    format!("there are more than {MOST_VARIABLES} variables")
}

pub(super) fn too_many_calls() -> String {
    format!("functions call each other more than {MOST_CALLS} deep")
}
