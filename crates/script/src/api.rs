//! What scripts can call, and what a script may use: steps, time, memory.

use std::any::TypeId;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use rhai::{
    Array, Blob, Dynamic, Engine, EvalAltResult, FnNamespace, FuncRegistration, ImmutableString, Map as Object, Module,
    RhaiNativeFunc,
};

use super::report::Fault;
use super::values::{is_equal, signed, text};
use bspkit::bytes::wide;
use bspkit::{Error, ErrorKind, Hint};

// What scripts can call. Each function is declared once, with its usage and a sentence: the reference in
// `docs/scripts.md` is made from these.

/// The result of a function that scripts call.
pub(super) type Res<T> = Result<T, Box<EvalAltResult>>;

/// A function, property or variable of scripts, for the reference.
///
/// ```
/// let vectors = bspkit_script::reference().into_iter().find(|entry| entry.usage == "vec(x, y, z)").unwrap();
/// assert_eq!(vectors.group, "Vectors and angles");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The section of the reference.
    pub group: &'static str,
    /// How it is written in a script.
    pub usage: &'static str,
    /// A sentence that says what it does.
    pub does: &'static str,
}

impl Entry {
    /// The name of the function or property: the last word before the parentheses.
    pub(super) fn name(&self) -> &'static str {
        let usage = self.usage.split(['(', '=']).next().unwrap_or_default().trim_end();
        usage.rsplit(['.', ' ']).next().unwrap_or_default()
    }
}

/// Registers functions.
pub(super) struct Api {
    pub(super) module: Module,
    pub(super) entries: Vec<Entry>,
    group: &'static str,
}

/// Methods that register a function of the library, by its registration. Their bounds are those of Rhai.
macro_rules! registered {
    ($($(#[$doc:meta])* fn $method:ident($self:ident $(, $text:ident)*) $registration:block)*) => {$(
        $(#[$doc])*
        pub(super) fn $method<A: 'static, const N: usize, const X: bool, R, const F: bool, C>(
            &mut $self,
            $($text: &'static str,)*
            call: C,
        ) where
            R: Send + Sync + Clone + 'static,
            C: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
        {
            let function: FuncRegistration = $registration;
            function.with_namespace(FnNamespace::Global).set_into_module(&mut $self.module, call);
        }
    )*};
}

impl Api {
    pub(super) fn new() -> Self {
        Api { module: Module::new(), entries: Vec::new(), group: "" }
    }

    /// Starts a section of the reference.
    pub(super) fn group(&mut self, group: &'static str) {
        self.group = group;
    }

    /// Adds an entry to the reference.
    pub(super) fn entry(&mut self, usage: &'static str, does: &'static str) -> &'static str {
        let entry = Entry { group: self.group, usage, does };
        self.entries.push(entry);
        entry.name()
    }

    registered! {
        /// A function or a method.
        fn call(self, usage, does) {
            FuncRegistration::new(self.entry(usage, does)).with_purity(true)
        }

        /// Another form of a function that has an entry: for other types of arguments, or an operator.
        fn also(self, name) {
            // Variables like `entities` are constants: their methods have to be pure, which they are as far as the
            // engine can see.
            FuncRegistration::new(name).with_purity(true)
        }

        /// A function that changes its first argument, which cannot be a constant.
        fn change(self, name) {
            FuncRegistration::new(name)
        }

        /// A property that is read.
        fn get(self, usage, does) {
            FuncRegistration::new_getter(self.entry(usage, does)).with_purity(true)
        }

        /// A property that is read, without an entry.
        fn getter(self, name) {
            FuncRegistration::new_getter(name).with_purity(true)
        }

        /// The same property, written. A constant cannot be changed by it.
        fn set(self, name) {
            FuncRegistration::new_setter(name)
        }

        /// `x[index]`, read.
        fn index(self) {
            FuncRegistration::new_index_getter().with_purity(true)
        }

        /// `x[index] = value` for a value of the script itself, which must not be a constant.
        fn change_index(self) {
            FuncRegistration::new_index_setter()
        }

        /// `x[index] = value`. Also for a constant, since what it changes is the map.
        fn set_index(self) {
            FuncRegistration::new_index_setter().with_purity(true)
        }
    }

    /// `for item in x`.
    pub(super) fn iterate<T, I>(&mut self, items: impl Fn(T) -> Res<I> + Send + Sync + 'static)
    where
        T: Clone + Send + Sync + 'static,
        I: Iterator<Item = Res<Dynamic>> + 'static,
    {
        self.module.set_iter_result(TypeId::of::<T>(), move |value: Dynamic| match value.try_cast::<T>() {
            Some(value) => match items(value) {
                Ok(items) => Box::new(items),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
            None => Box::new(std::iter::empty()),
        });
    }

    /// The name of a type in messages.
    pub(super) fn name<T: Clone + Send + Sync + 'static>(&mut self, name: &'static str) {
        self.module.set_custom_type::<T>(name);
    }
}

/// An error of the library, as scripts see it.
pub(super) fn fail(error: bspkit::Error) -> Box<EvalAltResult> {
    let fault = Dynamic::from(Fault::new(error));
    Box::new(EvalAltResult::ErrorRuntime(fault, rhai::Position::NONE))
}

/// An argument that is not valid.
pub(super) fn wrong(message: impl Into<String>) -> Box<EvalAltResult> {
    fail(bspkit::Error::new(bspkit::ErrorKind::Argument, message))
}

// What a script may use: steps, time, memory.

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
/// use bspkit_script::{Limits, Script, Settings};
/// let endless = Script::compile("endless.rhai", "loop {}")?;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?.draft();
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
#[cfg(any(windows, target_os = "macos", target_os = "freebsd"))]
fn memory() -> Option<u64> {
    let bytes = |stats: memory_stats::MemoryStats| if cfg!(windows) { stats.virtual_mem } else { stats.physical_mem };
    memory_stats::memory_stats().and_then(|stats| bytes(stats).try_into().ok())
}

/// Other systems do not say it.
#[cfg(not(any(windows, target_os = "macos", target_os = "freebsd", target_os = "linux", target_os = "android")))]
fn memory() -> Option<u64> {
    None
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

// Functions of the language that have no bounds of their own, with bounds.
//
// A call makes no value that is much larger than those it is given: what is given is in the memory, which is measured.
// No call gives a value without a copy of it, unless it is nested little: so nothing is nested deeper than a script
// has time for.

/// Refuses a string of more bytes than calls make.
pub(super) fn bounded_string(size: usize) -> Res<()> {
    if size > MOST_STRING { Err(fail(Large::String.error())) } else { Ok(()) }
}

/// Refuses more items than calls make.
fn bounded_items(count: u64) -> Res<usize> {
    usize::try_from(count).ok().filter(|count| *count <= MOST_ITEMS).ok_or_else(|| fail(Large::Items.error()))
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Replaces text; the result is measured before it is made.
fn replace(string: &mut ImmutableString, find: &str, new: &str) -> Res<()> {
    let count = string.matches(find).count();
    let size = string.len().saturating_add(count.saturating_mul(new.len()));
    bounded_string(size.saturating_sub(count * find.len()))?;
    *string = string.replace(find, new).into();
    Ok(())
}

/// Adds these letters again and again, up to this number of letters in all.
fn pad_string(string: &mut ImmutableString, letters: i64, with: &str) -> Res<()> {
    let more = unsigned(letters).saturating_sub(wide(string.chars().count()));
    let widest = with.chars().map(char::len_utf8).max().unwrap_or(0);
    let more = usize::try_from(more).unwrap_or(usize::MAX);
    bounded_string(more.saturating_mul(widest).saturating_add(string.len()))?;
    if more > 0 && !with.is_empty() {
        string.make_mut().extend(with.chars().cycle().take(more));
    }
    Ok(())
}

/// The number of values in a value, with itself.
fn count(value: &Dynamic) -> u64 {
    match (value.read_lock::<Array>(), value.read_lock::<Object>()) {
        (Some(array), _) => 1 + array.iter().map(count).sum::<u64>(),
        (_, Some(object)) => 1 + object.values().map(count).sum::<u64>(),
        _ => 1,
    }
}

/// Pads an array. The engine computes the new number of items in the width of the machine, where it may not fit.
fn pad(array: &mut Array, size: i64, item: Dynamic) -> Res<()> {
    let more = unsigned(size).saturating_sub(wide(array.len()));
    bounded_items(more.saturating_mul(count(&item)))?;
    array.extend((0..more).map(|_| item.clone()));
    Ok(())
}

fn pad_blob(blob: &mut Blob, size: i64, byte: i64) -> Res<()> {
    let size = bounded_items(unsigned(size))?;
    if size > blob.len() {
        blob.resize(size, byte.to_le_bytes()[0]);
    }
    Ok(())
}

fn blob(size: i64, byte: i64) -> Res<Blob> {
    let mut blob = Blob::new();
    pad_blob(&mut blob, size, byte).map(|()| blob)
}

/// The parts of a string.
fn split<'s, I: Iterator<Item = &'s str>>(string: &'s str, parts: impl FnOnce(&'s str) -> I) -> Res<Array> {
    bounded_string(string.len())?;
    match string.is_empty() {
        true => Ok(vec![string.into()]),
        false => Ok(parts(string).map(Into::into).collect()),
    }
}

fn parts(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0).max(1)
}

/// Whether a value is nested at most as deep as this.
fn is_flat(value: &Dynamic, depth: usize) -> bool {
    let is_flat_item = |item: &Dynamic| depth > 0 && is_flat(item, depth - 1);
    match (value.read_lock::<Array>(), value.read_lock::<Object>()) {
        (Some(array), _) => array.iter().all(is_flat_item),
        (_, Some(object)) => object.values().all(is_flat_item),
        _ => true,
    }
}

/// A value that a call took out of another one without a copy.
fn taken<T: Into<Dynamic> + Clone + Send + Sync + 'static>(value: T) -> Res<Dynamic> {
    let value = Dynamic::from(value);
    if is_flat(&value, MOST_NESTED) { Ok(value) } else { Err(fail(Large::Nested.error())) }
}

/// The items that a start and a length mean. A negative start counts from the end.
fn span(len: usize, start: i64, count: i64) -> Range<usize> {
    let places = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if start < 0 { len.saturating_sub(places) } else { places.min(len) };
    let count = usize::try_from(count).unwrap_or(if count < 0 { 0 } else { usize::MAX });
    start..start.saturating_add(count).min(len)
}

fn drain(array: &mut Array, start: i64, count: i64) -> Res<Dynamic> {
    taken(array.drain(span(array.len(), start, count)).collect::<Array>())
}

/// Keeps these items and gives the others. An empty part changes nothing.
fn retain(array: &mut Array, start: i64, count: i64) -> Res<Dynamic> {
    let kept = span(array.len(), start, count);
    if kept.is_empty() {
        return Ok(Array::new().into());
    }
    let mut others = array.split_off(kept.end);
    let kept = array.split_off(kept.start);
    others.splice(..0, std::mem::replace(array, kept));
    taken(others)
}

/// The start and the length of a range; nothing is before the first item.
fn of_range(start: i64, end: i64) -> (i64, i64) {
    let start = start.max(0);
    (start, end.max(start) - start)
}

fn of_inclusive(range: &RangeInclusive<i64>) -> (i64, i64) {
    of_range(*range.start(), range.end().saturating_add(1))
}

fn no_sleep() -> Res<()> {
    Err(wrong("a script cannot wait"))
}

pub(super) fn register(api: &mut Api) {
    strings(api);
    arrays(api);
    api.change("pad", pad_blob);
    api.also("blob", |size: i64| blob(size, 0));
    api.also("blob", blob);
    api.also("to_array", |blob: &mut Blob| {
        bounded_items(wide(blob.len()))?;
        Ok::<Array, Box<rhai::EvalAltResult>>(blob.iter().map(|byte| i64::from(*byte).into()).collect())
    });
    api.also("sleep", |_: i64| no_sleep());
    api.also("sleep", |_: f64| no_sleep());
    api.also("==", |a: Array, b: Array| is_equal(&a.into(), &b.into()));
    api.also("!=", |a: Array, b: Array| is_equal(&a.into(), &b.into()).map(|is| !is));
    api.also("==", |a: Object, b: Object| is_equal(&a.into(), &b.into()));
    api.also("!=", |a: Object, b: Object| is_equal(&a.into(), &b.into()).map(|is| !is));
    api.also("to_json", |object: &mut Object| text(&Dynamic::from(object.clone())));
}

fn strings(api: &mut Api) {
    let letter = |letter: char| letter.to_string();
    api.change("replace", replace);
    api.change("replace", move |s: &mut ImmutableString, a: char, b: &str| replace(s, &letter(a), b));
    api.change("replace", move |s: &mut ImmutableString, a: &str, b: char| replace(s, a, &letter(b)));
    api.change("replace", move |s: &mut ImmutableString, a: char, b: char| replace(s, &letter(a), &letter(b)));
    api.change("pad", pad_string);
    api.change("pad", move |s: &mut ImmutableString, letters: i64, with: char| pad_string(s, letters, &letter(with)));
    api.also("split", |s: &str| split(s, str::split_whitespace));
    api.also("split", |s: &str, by: &str| split(s, |s| s.split(by)));
    api.also("split", |s: &str, by: char| split(s, |s| s.split(by)));
    api.also("split", |s: &str, by: &str, most: i64| split(s, |s| s.splitn(parts(most), by)));
    api.also("split", |s: &str, by: char, most: i64| split(s, |s| s.splitn(parts(most), by)));
    api.also("split_rev", |s: &str, by: &str| split(s, |s| s.rsplit(by)));
    api.also("split_rev", |s: &str, by: char| split(s, |s| s.rsplit(by)));
    api.also("split_rev", |s: &str, by: &str, most: i64| split(s, |s| s.rsplitn(parts(most), by)));
    api.also("split_rev", |s: &str, by: char, most: i64| split(s, |s| s.rsplitn(parts(most), by)));
    api.also("to_chars", |s: &str| {
        bounded_string(s.len())?;
        Ok::<Array, Box<rhai::EvalAltResult>>(s.chars().map(Dynamic::from).collect())
    });
}

fn arrays(api: &mut Api) {
    api.change("pad", pad);
    api.change("take", |value: &mut Dynamic| taken(std::mem::take(value)));
    api.change("pop", |array: &mut Array| taken(array.pop().unwrap_or_default()));
    api.change("shift", |array: &mut Array| match array.is_empty() {
        true => Ok(Dynamic::UNIT),
        false => taken(array.remove(0)),
    });
    api.change("remove", |array: &mut Array, index: i64| {
        let place = if index < 0 { signed(array.len()).checked_add(index) } else { Some(index) };
        match place.and_then(|place| usize::try_from(place).ok()).filter(|place| *place < array.len()) {
            Some(place) => taken(array.remove(place)),
            None => Ok(Dynamic::UNIT),
        }
    });
    api.change("remove", |object: &mut Object, name: &str| taken(object.remove(name).unwrap_or_default()));
    api.change("split", |array: &mut Array, start: i64| drain(array, start, i64::MAX));
    api.change("drain", drain);
    api.change("drain", |array: &mut Array, range: Range<i64>| {
        let (start, count) = of_range(range.start, range.end);
        drain(array, start, count)
    });
    api.change("drain", |array: &mut Array, range: RangeInclusive<i64>| {
        let (start, count) = of_inclusive(&range);
        drain(array, start, count)
    });
    api.change("retain", retain);
    api.change("retain", |array: &mut Array, range: Range<i64>| {
        let (start, count) = of_range(range.start, range.end);
        retain(array, start, count)
    });
    api.change("retain", |array: &mut Array, range: RangeInclusive<i64>| {
        let (start, count) = of_inclusive(&range);
        retain(array, start, count)
    });
}

/// The functions that print values. The engine prints nested values by a recursion through all their layers, and all
/// of a text that a value has many times; it does so too where a function that prints fails. So this one does not
/// fail, but stops the script.
pub(super) fn register_own(api: &mut Api, watch: &Watch) {
    for name in ["to_string", "to_debug", "print", "debug"] {
        let printed = |watch: &Watch, value: Dynamic| -> ImmutableString {
            let text = text(&value).and_then(|text| bounded_string(text.len()).map(|()| text));
            text.unwrap_or_else(|error| {
                watch.stop(super::report::reason_of(*error));
                String::new()
            })
            .into()
        };
        let own = watch.clone();
        api.also(name, move |array: &mut Array| printed(&own, Dynamic::from(array.clone())));
        let own = watch.clone();
        api.also(name, move |object: &mut Object| printed(&own, Dynamic::from(object.clone())));
    }
}
