//! Errors of scripts: the place in the script, what is wrong, and which functions were called.

use std::fmt;
use std::sync::Arc;

use rhai::{EvalAltResult, ParseError, ParseErrorType, Position};

use super::api::{Api, Entry};
use super::bounds;
use super::values;
use crate::{Error, ErrorKind, Hint};

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

pub(super) fn register(api: &mut Api) {
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
                None => plain(values::text(&value).unwrap_or_default()),
            },
            E::ErrorVariableNotFound(name, _) => {
                let near = self.near(&name, self.words());
                (ErrorKind::NotFound, format!("there is no variable `{name}`"), near)
            }
            E::ErrorFunctionNotFound(called, _) => self.no_function(&called),
            E::ErrorTooManyOperations(_) => {
                bound(format!("the script has taken {} steps", self.steps), Some(Hint::Limit("steps")))
            }
            E::ErrorTooManyVariables(_) => bound(bounds::too_many_variables(), None),
            E::ErrorStackOverflow(_) => bound(bounds::too_many_calls(), None),
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
        let close = crate::near(name, words.filter(|word| word != name));
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
