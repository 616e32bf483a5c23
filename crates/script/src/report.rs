//! What a script says: data, findings and messages, and errors with their place in the script.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Array, Dynamic, EvalAltResult, ParseError, ParseErrorType, Position};
use serde_json::Value;

use super::api::{self, Api, Entry, Res, bounded_string, fail};
use super::entities::Entity;
use super::values::{self, json, text};
use bspkit::{Error, ErrorKind, Hint};

// What a script says: data, findings, and messages.

/// The most bytes that a script may report about one map.
const MOST_SAID: usize = 64 << 20;

/// Data that a script reports: a line of text, and the same as JSON.
///
/// ```
/// use bspkit_script::{Script, Settings};
/// let script = Script::compile("count.rhai", r#"report("lights", entities.select("light").len());"#)?;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// let said = script.run(&mut draft, &Settings::default())?;
/// assert_eq!(said.reports[0].text, "lights 3");
/// assert_eq!(said.reports[0].json.to_string(), r#"["lights",3]"#);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reported {
    /// The values with a space between them.
    pub text: String,
    /// The value; an array if there are several.
    pub json: Value,
}

/// Something that a script finds wrong in a map.
///
/// ```
/// use bspkit_script::{Script, Settings};
/// let script = Script::compile("lint.rhai", r#"finding("there are too many lights", entities[1]);"#)?;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?.draft();
/// let said = script.run(&mut draft, &Settings::default())?;
/// assert_eq!((said.findings[0].entity, &*said.findings[0].message), (Some(1), "there are too many lights"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// A sentence.
    pub message: String,
    /// The index of the entity that it is about.
    pub entity: Option<usize>,
}

/// What a script said about a map.
///
/// ```
/// use bspkit_script::{Script, Settings};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?.draft();
/// let said = Script::compile("hello.rhai", r#"print("hello")"#)?.run(&mut draft, &Settings::default())?;
/// assert_eq!(said.messages, ["hello"]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Said {
    /// What `report` was called with.
    pub reports: Vec<Reported>,
    /// What `finding` was called with.
    pub findings: Vec<Found>,
    /// What `print` was called with.
    pub messages: Vec<String>,
    /// The size of all that in bytes.
    bytes: usize,
}

/// Where the functions put it.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Said>>);

impl Log {
    pub(super) fn take(&self) -> Said {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, bytes: usize, add: impl FnOnce(&mut Said)) -> Res<()> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Each of them takes some memory, even if it is empty.
        said.bytes += bytes + 64;
        if said.bytes > MOST_SAID {
            let message = format!("the script reports more than {} MiB", MOST_SAID >> 20);
            return Err(fail(Error::new(ErrorKind::TooLarge, message)));
        }
        add(&mut said);
        Ok(())
    }

    fn report(&self, values: &[Dynamic]) -> Res<()> {
        let texts = values.iter().map(text).collect::<Res<Vec<_>>>()?;
        let mut json = values.iter().map(json).collect::<Res<Vec<_>>>()?;
        let json = if json.len() == 1 { json.swap_remove(0) } else { Value::Array(json) };
        let text = texts.join(" ");
        self.add(2 * text.len(), |said| said.reports.push(Reported { text, json }))
    }

    fn find(&self, message: &str, entity: Option<usize>) -> Res<()> {
        let message = message.to_owned();
        self.add(message.len(), |said| said.findings.push(Found { message, entity }))
    }

    pub(super) fn print(&self, message: &str) {
        let message = message.to_owned();
        // What is too much is left out: a message is no data.
        self.add(message.len(), |said| said.messages.push(message)).ok();
    }
}

/// A line of CSV: values with a comma, a quote or a line break are in quotes.
fn csv(values: &Array) -> Res<String> {
    let mut size = 0;
    let cell = |value: &Dynamic| {
        let text = text(value)?;
        size += text.len();
        bounded_string(size)?;
        Ok(match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text,
        })
    };
    Ok(values.iter().map(cell).collect::<Res<Vec<_>>>()?.join(","))
}

/// `report` with each number of values: the engine has no functions of any number.
macro_rules! reports {
    ($api:ident, $log:ident: $($($value:ident)+;)+) => {
        $({
            let said = $log.clone();
            $api.also("report", move |$($value: Dynamic),+| said.report(&[$($value),+]));
        })+
    };
}

pub(super) fn register(api: &mut Api, log: &Log) {
    api.group("Reports");
    api.entry(
        "report(value, …)",
        "Prints data on stdout: up to eight values with a space between them. With `--json` they are in `reports`, \
         with objects and arrays as JSON.",
    );
    reports!(api, log: a; a b; a b c; a b c d; a b c d e; a b c d e f; a b c d e f g; a b c d e f g h;);
    let said = log.clone();
    api.call(
        "finding(message)",
        "Says that something is wrong in the map; the exit status is 1. `finding(message, entity)` says where.",
        move |message: &str| said.find(message, None),
    );
    let said = log.clone();
    api.also("finding", move |message: &str, entity: Entity| said.find(message, Some(entity.index()?)));
    api.entry("print(value)", "Prints a message on stderr.");
    api.call("csv(array)", "The values as a line of CSV.", |values: Array| csv(&values));
}

// Errors of scripts: the place in the script, what is wrong, and which functions were called.

/// The most characters of a line that are shown: a longer one would be wrapped.
const WIDTH: usize = 90;

/// An error of the library inside a script, which may catch it.
#[derive(Clone)]
pub(super) struct Fault(Arc<Error>);

impl Fault {
    pub(super) fn new(error: Error) -> Self {
        Fault(Arc::new(error))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error of the library that a function of scripts failed with.
pub(super) fn reason_of(error: EvalAltResult) -> Error {
    let fault = match error {
        EvalAltResult::ErrorRuntime(value, _) => value.try_cast::<Fault>(),
        _ => None,
    };
    let other = || Error::new(ErrorKind::Argument, "a value cannot be printed");
    fault.map_or_else(other, |Fault(error)| Arc::try_unwrap(error).unwrap_or_else(|_| other()))
}

pub(super) fn register_fault(api: &mut Api) {
    api.name::<Fault>("error");
    api.also("to_string", |fault: &mut Fault| fault.to_string());
    api.also("to_debug", |fault: &mut Fault| fault.to_string());
}

/// What an error message needs of a script.
pub(super) struct Context<'s> {
    pub(super) name: &'s str,
    pub(super) text: &'s str,
    pub(super) entries: &'s [Entry],
    pub(super) steps: u64,
}

impl Context<'_> {
    /// The error of a script that cannot be read.
    pub(super) fn syntax(&self, error: &ParseError) -> Error {
        let place = error.position();
        let is_unassignable = matches!(error.err_type(), ParseErrorType::AssignmentToInvalidLHS(_));
        let error =
            Error::new(ErrorKind::Argument, format!("{}: {}", self.place(place), lower(&error.err_type().to_string())));
        let way = match is_unassignable {
            true => Some(Hint::from("put it into a variable first: let e = entities[0]; e.light = 5;")),
            false => None,
        };
        let hints: Vec<Hint> = self.line(place).into_iter().map(Hint::Text).chain(way).collect();
        if hints.is_empty() { error } else { error.with_hint(Hint::Several(hints)) }
    }

    /// The error of a script that stopped.
    pub(super) fn stopped(&self, error: EvalAltResult) -> Error {
        let (mut error, mut calls) = (error, Vec::new());
        let mut place = error.position();
        while let EvalAltResult::ErrorInFunctionCall(name, _, inner, at) = error {
            place = if inner.position().is_none() { at } else { inner.position() };
            calls.push(format!("in `{name}`, called at {}", self.place(at)));
            error = *inner;
        }
        let mut hints: Vec<Hint> = self.line(place).into_iter().map(Hint::Text).collect();
        hints.extend(calls.into_iter().rev().map(Hint::Text));
        let (kind, message, hint) = self.reason(error);
        hints.extend(hint);
        let error = Error::new(kind, format!("{}: {message}", self.place(place)));
        if hints.is_empty() { error } else { error.with_hint(Hint::Several(hints)) }
    }

    /// The kind of an error, a sentence, and what can be done.
    fn reason(&self, error: EvalAltResult) -> (ErrorKind, String, Option<Hint>) {
        use EvalAltResult as E;
        let plain = |message: String| (ErrorKind::Argument, message, None);
        let bound = |message: String, hint: Option<Hint>| (ErrorKind::TooLarge, message, hint);
        match error {
            E::ErrorRuntime(value, _) | E::ErrorTerminated(value, _) => match value.clone().try_cast::<Fault>() {
                Some(Fault(error)) => (error.kind(), error.to_string(), error.hint().cloned()),
                // The script itself refuses the map.
                None => (ErrorKind::Refused, values::text(&value).unwrap_or_default(), None),
            },
            E::ErrorVariableNotFound(name, _) => {
                let near = self.near(&name, self.words());
                (ErrorKind::NotFound, format!("there is no variable `{name}`"), near)
            }
            E::ErrorFunctionNotFound(called, _) => self.no_function(&called),
            E::ErrorTooManyOperations(_) => {
                bound(format!("the script has taken {} steps", self.steps), Some(Hint::Limit("steps")))
            }
            E::ErrorTooManyVariables(_) => bound(api::too_many_variables(), None),
            E::ErrorStackOverflow(_) => bound(api::too_many_calls(), None),
            E::ErrorArrayBounds(len, index, _) => plain(format!("the array has {len} items, and no [{index}]")),
            E::ErrorStringBounds(len, index, _) => plain(format!("the string has {len} characters, and no [{index}]")),
            E::ErrorMismatchDataType(expected, actual, _) if actual.is_empty() => {
                plain(format!("{expected} is needed"))
            }
            E::ErrorMismatchDataType(expected, actual, _) => {
                plain(format!("{expected} is needed, and this is {actual}"))
            }
            E::ErrorFor(_) => plain("a loop cannot go over this value".to_owned()),
            E::ErrorNonPureMethodCallOnConstant(name, _) => {
                plain(format!("`{}` would change a constant", name.rsplit('$').next().unwrap_or_default()))
            }
            E::ErrorAssignmentToConstant(name, _) => plain(format!("`{name}` is a constant")),
            E::ErrorArithmetic(what, _) => plain(lower(&what)),
            E::ErrorParsing(kind, _) => plain(lower(&kind.to_string())),
            mut other => {
                // The place is said before.
                other.clear_position();
                plain(lower(&other.to_string()).replace("'i64'", "a number").replace("'f64'", "a number"))
            }
        }
    }

    /// The sentence for a call like `add (entities, i64)`.
    fn no_function(&self, called: &str) -> (ErrorKind, String, Option<Hint>) {
        let (name, arguments) = called.split_once(" (").unwrap_or((called, ""));
        let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
        let arguments = arguments.replace("i64", "a number").replace("f64", "a number");
        let types: Vec<&str> = arguments.split(", ").filter(|word| !word.is_empty()).collect();
        let nothing = || Hint::from("() is no value: what a key has that an entity does not have");
        let of_nothing = types.contains(&"()").then(nothing);
        if !name.contains(|letter: char| letter.is_alphanumeric()) {
            let message = format!("`{name}` cannot be used with {}", types.join(" and "));
            let of_text = types
                .iter()
                .any(|it| it.contains("string") || it.contains("str"))
                .then(|| Hint::from("a value is text: `e.key -= 5` calculates, and `e.number(\"key\")` is its number"));
            return (ErrorKind::Argument, message, of_nothing.or(of_text));
        }
        let usages: Vec<&str> = self.entries.iter().filter(|it| it.name() == name).map(|it| it.usage).collect();
        if usages.is_empty() {
            let names = self.entries.iter().map(|entry| entry.name().to_owned());
            let hint = of_nothing.or_else(|| self.near(name, names.chain(self.words())));
            let with = if types.is_empty() { String::new() } else { format!(" for ({})", types.join(", ")) };
            return (ErrorKind::NotFound, format!("there is no function `{name}`{with}"), hint);
        }
        let message = format!("`{name}` cannot be called with ({})", types.join(", "));
        (ErrorKind::Argument, message, Some(format!("it is called as {}", usages.join(", or ")).into()))
    }

    /// The words of the script, and the variables that are always there.
    fn words(&self) -> impl Iterator<Item = String> + use<'_> {
        let own = self.text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let given = self.entries.iter().filter(|entry| !entry.usage.contains(['.', '(', '['])).map(|entry| entry.usage);
        own.chain(given).map(str::to_owned)
    }

    fn near(&self, name: &str, words: impl Iterator<Item = String>) -> Option<Hint> {
        let close = bspkit::near(name, words.filter(|word| word != name));
        (!close.is_empty()).then(|| format!("did you mean {}?", close.join(" or ")).into())
    }

    /// `mirror.rhai:12:5`.
    fn place(&self, place: Position) -> String {
        match (place.line(), place.position()) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.name),
            (Some(line), None) => format!("{}:{line}", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// The line of the script, with a caret below the place. Of a long line the part around it.
    fn line(&self, place: Position) -> Option<String> {
        let line = self.text.lines().nth(place.line()?.checked_sub(1)?)?;
        let column = place.position()?.checked_sub(1)?;
        let shown: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let indent = shown.iter().take_while(|c| **c == ' ').count().min(column);
        let first = indent.max(column.saturating_sub(WIDTH - 20));
        let part: String = shown.iter().skip(first).take(WIDTH).collect();
        Some(format!("{}\n{}^", part.trim_end(), " ".repeat(column - first)))
    }
}

/// A sentence as messages have it: lower case, and without a full stop.
fn lower(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if letters.clone().next().is_some_and(|next| !next.is_uppercase()) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}
