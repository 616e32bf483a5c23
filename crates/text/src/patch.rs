//! Patches of entities as JSON. The schema is `docs/schema/patch.schema.json`.
//!
//! ```
//! use bspkit_text::patch;
//!
//! let text = br#"{"bspkit_patch": 1, "operations": [{"op": "edit", "on": {"index": 0},
//!     "changes": [{"do": "set", "key": "message", "value": "The Place"}]}]}"#;
//! let patch = patch::read(text)?;
//! assert_eq!(patch.operations.len(), 1);
//! assert_eq!(patch::read(patch::write(&patch).as_bytes())?, patch);
//! # Ok::<(), bspkit::Error>(())
//! ```

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use bspkit::bytes::escaped;
use bspkit::content::entities::Key;
use bspkit::content::select::Selector;
use bspkit::json::{Members, base64, text_and_raw};
use bspkit::{Error, ErrorKind, Result as ErrorResult, near};
use bspkit_ops::patch::{Change, Expected, Match, Operation, Patch, Spot, Target};

/// Reads a patch. An unknown member is refused.
///
/// # Errors
/// The text is not a patch: the message says where and why.
pub fn read(text: &[u8]) -> ErrorResult<Patch> {
    read_patch(text).map_err(|why| Error::new(ErrorKind::Argument, why))
}

/// The patch as indented JSON.
pub fn write(patch: &Patch) -> String {
    format!("{:#}\n", write_patch(patch))
}

// Reads a patch from JSON. Unknown members and values are refused, with their path.

type Result<T> = std::result::Result<T, String>;

/// The supported version.
const VERSION: usize = 1;

/// An object whose members are taken one by one.
struct ReadObject<'t> {
    path: String,
    members: Vec<(String, &'t RawValue)>,
    asked: Vec<&'static str>,
}

/// Reads a patch. An error names the path in the document.
fn read_patch(text: &[u8]) -> Result<Patch> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let mut object = ReadObject::of(raw, "")?;
    match object.number("bspkit_patch")? {
        Some(VERSION) => {}
        Some(version) => return Err(format!("bspkit_patch: version {version} is not supported, only {VERSION}")),
        None => return Err("bspkit_patch is missing: add the version, \"bspkit_patch\": 1".to_owned()),
    }
    let patch = Patch {
        entities: object.number("entities")?,
        operations: object.list("operations", read_operation)?,
        result: None,
    };
    let result = match object.take("result") {
        Some(raw) => {
            let mut sums = ReadObject::of(raw, "result")?;
            let (entities, operations) = (sums.checksum("entities_crc32")?, sums.checksum("operations_crc32")?);
            sums.done()?;
            // Operations that were edited lead elsewhere.
            entities.filter(|_| operations == Some(checksum(&patch)))
        }
        None => None,
    };
    let patch = Patch { result, ..patch };
    object.done()?;
    Ok(patch)
}

fn read_operation(mut object: ReadObject<'_>) -> Result<Operation> {
    let operation = match object.word("op")?.as_str() {
        "edit" => Operation::Edit {
            on: object.target("on")?,
            expect: object.expected()?,
            changes: object.list("changes", read_change)?,
        },
        "replace" => Operation::Replace {
            on: object.target("on")?,
            old: object.bytes("old", "old_raw")?,
            text: object.need_bytes("text", "text_raw")?,
        },
        "remove" => Operation::Remove { on: object.target("on")?, expect: object.expected()? },
        "move" => Operation::Move {
            on: object.target("on")?,
            expect: object.expected()?,
            to: object.spot()?.ok_or_else(|| format!("{}: `before` or `after` is missing", object.path))?,
        },
        "add" => match object.bytes("text", "text_raw")? {
            Some(text) => Operation::AddText { text, to: object.spot()? },
            None => Operation::Add { pairs: object.list("pairs", pair)?, to: object.spot()? },
        },
        "text" => Operation::Text { old: object.checksum("crc32")?, text: object.need_bytes("text", "text_raw")? },
        other => {
            let known = "edit, replace, remove, move, add, text";
            return Err(format!("{}: `{other}` is not an operation; the operations are {known}", object.below("op")));
        }
    };
    object.done()?;
    Ok(operation)
}

fn read_change(mut object: ReadObject<'_>) -> Result<Change> {
    let change = match object.word("do")?.as_str() {
        "set" => Change::Set { key: object.key()?, value: object.need_bytes("value", "raw")? },
        "add" => match object.key()? {
            Key { name, nth: None } => Change::Add { key: name, value: object.need_bytes("value", "raw")? },
            _ => return Err(format!("{}: a pair is added after the others, so its key has no number", object.path)),
        },
        "unset" => Change::Unset { key: object.key()? },
        "rename" => Change::Rename { key: object.key()?, to: object.need_bytes("to", "to_raw")? },
        other => {
            let place = object.below("do");
            return Err(format!("{place}: `{other}` is not a change; the changes are set, add, unset, rename"));
        }
    };
    object.done()?;
    Ok(change)
}

fn pair(mut object: ReadObject<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let pair = (object.need_bytes("key", "key_raw")?, object.need_bytes("value", "raw")?);
    object.done()?;
    Ok(pair)
}

fn read_expected(mut object: ReadObject<'_>) -> Result<Expected> {
    let key = object.key()?;
    // `null` means that the key must be absent. A missing value is an error.
    let value = match object.members.iter().position(|(name, raw)| name == "value" && raw.get() == "null") {
        Some(at) => {
            object.members.remove(at);
            None
        }
        None => Some(object.need_bytes("value", "raw")?),
    };
    object.done()?;
    Ok(Expected { key, value })
}

impl<'t> ReadObject<'t> {
    fn of(raw: &'t RawValue, path: &str) -> Result<Self> {
        let at = if path.is_empty() { "the patch" } else { path };
        let Members(members) = serde_json::from_str(raw.get()).map_err(|_| format!("{at} is not an object"))?;
        let object = ReadObject { path: path.to_owned(), members, asked: Vec::new() };
        let mut names: Vec<&str> = object.members.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(format!("{} is given twice", object.below(two[0]))),
            None => Ok(object),
        }
    }

    fn below(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn take(&mut self, name: &'static str) -> Option<&'t RawValue> {
        self.asked.push(name);
        let at = self.members.iter().position(|(member, _)| member == name)?;
        Some(self.members.remove(at).1)
    }

    /// A member of a type, if it exists.
    fn value<T: Deserialize<'t>>(&mut self, name: &'static str, what: &str) -> Result<Option<T>> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map(Some).map_err(|_| format!("{} is not a {what}", self.below(name)))
    }

    fn number(&mut self, name: &'static str) -> Result<Option<usize>> {
        self.value(name, "whole number")
    }

    fn word(&mut self, name: &'static str) -> Result<String> {
        self.value(name, "string")?.ok_or_else(|| format!("{} is missing", self.below(name)))
    }

    /// Bytes as a string, or in base64 if they are not text. If both exist they must be equal.
    fn bytes(&mut self, name: &'static str, raw_name: &'static str) -> Result<Option<Vec<u8>>> {
        let text: Option<String> = self.value(name, "string")?;
        let raw: Option<String> = self.value(raw_name, "string")?;
        let Some(raw) = raw else { return Ok(text.map(String::into_bytes)) };
        let place = self.below(raw_name);
        let bytes = BASE64_STANDARD.decode(raw).map_err(|error| format!("{place} is not base64: {error}"))?;
        match text {
            Some(text) if text != escaped(&bytes).to_string() && text.as_bytes() != bytes => {
                let name = self.below(name);
                Err(format!(
                    "{name} and {place} differ: {place} is the bytes in base64; {name} alone is a text without escapes"
                ))
            }
            _ => Ok(Some(bytes)),
        }
    }

    fn need_bytes(&mut self, name: &'static str, raw_name: &'static str) -> Result<Vec<u8>> {
        self.bytes(name, raw_name)?.ok_or_else(|| format!("{} is missing", self.below(name)))
    }

    /// A key: `KEY#2` as a string, or the name in base64 and the number as `nth`.
    fn key(&mut self) -> Result<Key> {
        let is_raw = self.members.iter().any(|(name, _)| name == "key_raw");
        let name = self.need_bytes("key", "key_raw")?;
        let nth = if is_raw { self.number("nth")? } else { None };
        let split = std::str::from_utf8(&name).ok().filter(|_| !is_raw).and_then(numbered);
        let key = match split {
            Some((short, nth)) => Key { name: short.as_bytes().to_vec(), nth: Some(nth) },
            None => Key { name, nth },
        };
        match key.nth {
            Some(0) => Err(format!("{}: equal keys are counted from 1", self.below("key"))),
            _ => Ok(key),
        }
    }

    fn list<T>(&mut self, name: &'static str, read: impl Fn(ReadObject<'t>) -> Result<T>) -> Result<Vec<T>> {
        let items: Option<Vec<&'t RawValue>> = self.value(name, "list")?;
        let items = items.ok_or_else(|| format!("{} is missing", self.below(name)))?;
        let place = self.below(name);
        let rows = items.into_iter().enumerate();
        rows.map(|(index, raw)| read(ReadObject::of(raw, &format!("{place}[{index}]"))?)).collect()
    }

    fn expected(&mut self) -> Result<Vec<Expected>> {
        let is_there = self.members.iter().any(|(name, _)| name == "expect");
        self.asked.push("expect");
        if is_there { self.list("expect", read_expected) } else { Ok(Vec::new()) }
    }

    fn target(&mut self, name: &'static str) -> Result<Target> {
        let raw = self.take(name).ok_or_else(|| format!("{} is missing", self.below(name)))?;
        let mut object = ReadObject::of(raw, &self.below(name))?;
        let has = |name: &str| object.members.iter().any(|(member, _)| member == name);
        let target = if has("match") {
            let pairs = object.list("match", pair)?;
            let only = object.value::<bool>("only", "truth value")?.unwrap_or(false);
            let (count, nth) = (object.number("count")?, object.number("nth")?);
            let (counted, path) = (count.unwrap_or(usize::MAX), &object.path);
            if pairs.is_empty() && !only {
                return Err(format!("{} is empty", object.below("match")));
            }
            if nth.is_some_and(|nth| nth == 0 || nth > counted) {
                return Err(format!("{path}.nth: entities are counted from 1 to `count`"));
            }
            Target::Match(Match { pairs, only, count, nth, index: object.number("index")? })
        } else if let Some(index) = object.number("index")? {
            Target::Index(index)
        } else if let Some(text) = object.value::<String>("select", "string")? {
            let place = object.below("select");
            let selector = Selector::parse(&text).map_err(|error| match error.hint() {
                Some(hint) => format!("{place}: {error}\n{hint}"),
                None => format!("{place}: {error}"),
            })?;
            Target::Select(selector, object.number("count")?)
        } else {
            object.asked.push("match");
            object.done()?;
            return Err(format!("{}: no entities are selected: add `index`, `match` or `select`", object.path));
        };
        object.done()?;
        Ok(target)
    }

    fn spot(&mut self) -> Result<Option<Spot>> {
        let has = |name: &str| self.members.iter().any(|(member, _)| member == name);
        match (has("before"), has("after")) {
            (true, true) => Err(format!("{}: `before` and `after` exclude each other", self.path)),
            (true, false) => Ok(Some(Spot::Before(self.target("before")?))),
            (false, true) => Ok(Some(Spot::After(self.target("after")?))),
            (false, false) => {
                self.asked.extend(["before", "after"]);
                Ok(None)
            }
        }
    }

    fn checksum(&mut self, name: &'static str) -> Result<Option<u32>> {
        let Some(text) = self.value::<String>(name, "string")? else { return Ok(None) };
        let is_hex = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(&text, 16).ok().filter(|_| is_hex);
        number.map(Some).ok_or_else(|| format!("{} is not a checksum of eight hex digits", self.below(name)))
    }

    /// Refuses members that were not taken.
    fn done(&self) -> Result<()> {
        match self.members.first() {
            None => Ok(()),
            Some((name, _)) => {
                let place = self.below(name);
                Err(format!("there is no field {place} here; {}", near::or_all(name, &self.asked, "the fields are")))
            }
        }
    }
}

/// The name and the number of `KEY#2`.
fn numbered(key: &str) -> Option<(&str, usize)> {
    let (name, number) = key.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (name, number.parse().unwrap_or(usize::MAX)))
}

// Writes a patch as JSON.

type WriteObject = Map<String, Value>;

/// The patch as a document.
fn write_patch(patch: &Patch) -> Value {
    let mut object = WriteObject::new();
    object.insert("bspkit_patch".into(), 1.into());
    if let Some(entities) = patch.entities {
        object.insert("entities".into(), entities.into());
    }
    if let Some(result) = patch.result {
        let mut sums = WriteObject::new();
        for (name, sum) in [("entities_crc32", result), ("operations_crc32", checksum(patch))] {
            sums.insert(name.into(), format!("{sum:08x}").into());
        }
        object.insert("result".into(), sums.into());
    }
    object.insert("operations".into(), operations(patch));
    object.into()
}

fn operations(patch: &Patch) -> Value {
    patch.operations.iter().map(write_operation).collect()
}

/// The checksum of the operations, as they are written without blanks.
fn checksum(patch: &Patch) -> u32 {
    crc32fast::hash(operations(patch).to_string().as_bytes())
}

fn write_operation(operation: &Operation) -> Value {
    let mut object = WriteObject::new();
    let mut named = |name: &str| drop(object.insert("op".into(), name.into()));
    match operation {
        Operation::Edit { on, expect, changes } => {
            named("edit");
            object.insert("on".into(), target(on));
            write_expected(&mut object, expect);
            object.insert("changes".into(), changes.iter().map(write_change).collect());
        }
        Operation::Replace { on, old, text } => {
            named("replace");
            object.insert("on".into(), target(on));
            if let Some(old) = old {
                bytes(&mut object, "old", "old_raw", old);
            }
            bytes(&mut object, "text", "text_raw", text);
        }
        Operation::Remove { on, expect } => {
            named("remove");
            object.insert("on".into(), target(on));
            write_expected(&mut object, expect);
        }
        Operation::Move { on, expect, to } => {
            named("move");
            object.insert("on".into(), target(on));
            write_expected(&mut object, expect);
            spot(&mut object, Some(to));
        }
        Operation::Add { pairs: list, to } => {
            named("add");
            object.insert("pairs".into(), pairs(list));
            spot(&mut object, to.as_ref());
        }
        Operation::AddText { text, to } => {
            named("add");
            bytes(&mut object, "text", "text_raw", text);
            spot(&mut object, to.as_ref());
        }
        Operation::Text { old, text } => {
            named("text");
            if let Some(old) = old {
                object.insert("crc32".into(), format!("{old:08x}").into());
            }
            bytes(&mut object, "text", "text_raw", text);
        }
    }
    object.into()
}

fn target(target: &Target) -> Value {
    let mut object = WriteObject::new();
    let mut member = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.into(), value);
        }
    };
    match target {
        Target::Index(index) => member("index", Some((*index).into())),
        Target::Match(on) => {
            member("match", Some(pairs(&on.pairs)));
            member("only", on.only.then_some(true.into()));
            member("nth", on.nth.map(Value::from));
            member("count", on.count.map(Value::from));
            member("index", on.index.map(Value::from));
        }
        Target::Select(selector, count) => {
            member("select", Some(selector.to_string().into()));
            member("count", count.map(Value::from));
        }
    }
    object.into()
}

fn spot(object: &mut WriteObject, spot: Option<&Spot>) {
    match spot {
        Some(Spot::Before(on)) => drop(object.insert("before".into(), target(on))),
        Some(Spot::After(on)) => drop(object.insert("after".into(), target(on))),
        None => {}
    }
}

fn write_expected(object: &mut WriteObject, expected: &[Expected]) {
    let one = |Expected { key: name, value }: &Expected| {
        let mut object = WriteObject::new();
        key(&mut object, name);
        match value {
            Some(value) => bytes(&mut object, "value", "raw", value),
            None => drop(object.insert("value".into(), Value::Null)),
        }
        Value::from(object)
    };
    if !expected.is_empty() {
        object.insert("expect".into(), expected.iter().map(one).collect());
    }
}

fn write_change(change: &Change) -> Value {
    let mut object = WriteObject::new();
    let mut named = |name: &str| drop(object.insert("do".into(), name.into()));
    match change {
        Change::Set { key: name, value } => {
            named("set");
            key(&mut object, name);
            bytes(&mut object, "value", "raw", value);
        }
        Change::Add { key: name, value } => {
            named("add");
            key(&mut object, &Key::literal(name.clone()));
            bytes(&mut object, "value", "raw", value);
        }
        Change::Unset { key: name } => {
            named("unset");
            key(&mut object, name);
        }
        Change::Rename { key: name, to } => {
            named("rename");
            key(&mut object, name);
            bytes(&mut object, "to", "to_raw", to);
        }
    }
    object.into()
}

fn pairs(pairs: &[(Vec<u8>, Vec<u8>)]) -> Value {
    let one = |(key, value): &(Vec<u8>, Vec<u8>)| {
        let mut object = WriteObject::new();
        bytes(&mut object, "key", "key_raw", key);
        bytes(&mut object, "value", "raw", value);
        Value::from(object)
    };
    pairs.iter().map(one).collect()
}

/// `KEY#2` as one string. A key that itself ends like this, or is not UTF-8, is in base64, and its number is separate.
fn key(object: &mut WriteObject, key: &Key) {
    match (std::str::from_utf8(&key.name), key.nth) {
        (Ok(name), nth) if numbered(name).is_none() => {
            let nth = nth.map(|nth| format!("#{nth}")).unwrap_or_default();
            object.insert("key".into(), format!("{name}{nth}").into());
        }
        (_, nth) => {
            object.insert("key".into(), text_and_raw(&key.name).0.into());
            object.insert("key_raw".into(), base64(&key.name).into());
            if let Some(nth) = nth {
                object.insert("nth".into(), nth.into());
            }
        }
    }
}

/// Adds bytes: as a string, and by the second name in base64 if they are not UTF-8.
pub(crate) fn bytes(object: &mut WriteObject, name: &str, raw_name: &str, bytes: &[u8]) {
    let (text, raw) = text_and_raw(bytes);
    object.insert(name.into(), text.into());
    if let Some(raw) = raw {
        object.insert(raw_name.into(), raw.into());
    }
}
