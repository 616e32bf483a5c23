//! What a script says: data, findings, and messages.

use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Array, Dynamic};
use serde_json::Value;

use super::api::{Api, Res, fail};
use super::entities::Entity;
use super::guard::bounded_string;
use super::values::{json, text};
use crate::{Error, ErrorKind};

/// The most bytes that a script may report about one map.
const MOST_SAID: usize = 64 << 20;

/// Data that a script reports: a line of text, and the same as JSON.
///
/// ```
/// use bspkit::face::script::{Script, Settings};
/// let script = Script::compile("count.rhai", r#"report("lights", entities.select("light").len());"#)?;
/// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
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
/// use bspkit::face::script::{Script, Settings};
/// let script = Script::compile("lint.rhai", r#"finding("there are too many lights", entities[1]);"#)?;
/// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
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
/// use bspkit::face::script::{Script, Settings};
/// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
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
