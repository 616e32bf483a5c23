//! Reads a patch from JSON. Unknown members and values are refused, with their path.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::bytes::escaped;
use crate::content::select::Selector;
use crate::face::records::Members;
use crate::near;
use crate::op::patch::{Change, Expected, Match, Operation, PairKey, Patch, Spot, Target};

type Result<T> = std::result::Result<T, String>;

/// The supported version.
const VERSION: usize = 1;

/// An object whose members are taken one by one.
struct Object<'t> {
    path: String,
    members: Vec<(String, &'t RawValue)>,
    asked: Vec<&'static str>,
}

/// Reads a patch. An error names the path in the document.
pub(super) fn read(text: &[u8]) -> Result<Patch> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let mut object = Object::of(raw, "")?;
    match object.number("bspkit_patch")? {
        Some(VERSION) => {}
        Some(version) => return Err(format!("bspkit_patch: version {version} is not supported, only {VERSION}")),
        None => return Err("bspkit_patch is missing: add the version, \"bspkit_patch\": 1".to_owned()),
    }
    let patch = Patch { entities: object.number("entities")?, operations: object.list("operations", operation)? };
    object.done()?;
    Ok(patch)
}

fn operation(mut object: Object<'_>) -> Result<Operation> {
    let operation = match object.word("op")?.as_str() {
        "edit" => Operation::Edit {
            on: object.target("on")?,
            expect: object.expected()?,
            changes: object.list("changes", change)?,
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
        "text" => Operation::Text { old: object.checksum()?, text: object.need_bytes("text", "text_raw")? },
        other => {
            let known = "edit, replace, remove, move, add, text";
            return Err(format!("{}: `{other}` is not an operation; the operations are {known}", object.below("op")));
        }
    };
    object.done()?;
    Ok(operation)
}

fn change(mut object: Object<'_>) -> Result<Change> {
    let change = match object.word("do")?.as_str() {
        "set" => Change::Set { key: object.key()?, value: object.need_bytes("value", "raw")? },
        "add" => match object.key()? {
            PairKey { name, nth: None } => Change::Add { key: name, value: object.need_bytes("value", "raw")? },
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

fn pair(mut object: Object<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let pair = (object.need_bytes("key", "key_raw")?, object.need_bytes("value", "raw")?);
    object.done()?;
    Ok(pair)
}

fn expected(mut object: Object<'_>) -> Result<Expected> {
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

impl<'t> Object<'t> {
    fn of(raw: &'t RawValue, path: &str) -> Result<Self> {
        let at = if path.is_empty() { "the patch" } else { path };
        let Members(members) = serde_json::from_str(raw.get()).map_err(|_| format!("{at} is not an object"))?;
        let object = Object { path: path.to_owned(), members, asked: Vec::new() };
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
                Err(format!("{} and {place} differ: leave one of them out", self.below(name)))
            }
            _ => Ok(Some(bytes)),
        }
    }

    fn need_bytes(&mut self, name: &'static str, raw_name: &'static str) -> Result<Vec<u8>> {
        self.bytes(name, raw_name)?.ok_or_else(|| format!("{} is missing", self.below(name)))
    }

    /// A key: `KEY#2` as a string, or the name in base64 and the number as `nth`.
    fn key(&mut self) -> Result<PairKey> {
        let is_raw = self.members.iter().any(|(name, _)| name == "key_raw");
        let name = self.need_bytes("key", "key_raw")?;
        let nth = if is_raw { self.number("nth")? } else { None };
        let split = std::str::from_utf8(&name).ok().filter(|_| !is_raw).and_then(numbered);
        let key = match split {
            Some((short, nth)) => PairKey { name: short.as_bytes().to_vec(), nth: Some(nth) },
            None => PairKey { name, nth },
        };
        match key.nth {
            Some(0) => Err(format!("{}: equal keys are counted from 1", self.below("key"))),
            _ => Ok(key),
        }
    }

    fn list<T>(&mut self, name: &'static str, read: impl Fn(Object<'t>) -> Result<T>) -> Result<Vec<T>> {
        let items: Option<Vec<&'t RawValue>> = self.value(name, "list")?;
        let items = items.ok_or_else(|| format!("{} is missing", self.below(name)))?;
        let place = self.below(name);
        let rows = items.into_iter().enumerate();
        rows.map(|(index, raw)| read(Object::of(raw, &format!("{place}[{index}]"))?)).collect()
    }

    fn expected(&mut self) -> Result<Vec<Expected>> {
        let is_there = self.members.iter().any(|(name, _)| name == "expect");
        self.asked.push("expect");
        if is_there { self.list("expect", expected) } else { Ok(Vec::new()) }
    }

    fn target(&mut self, name: &'static str) -> Result<Target> {
        let raw = self.take(name).ok_or_else(|| format!("{} is missing", self.below(name)))?;
        let mut object = Object::of(raw, &self.below(name))?;
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

    fn checksum(&mut self) -> Result<Option<u32>> {
        let Some(text) = self.value::<String>("crc32", "string")? else { return Ok(None) };
        let is_hex = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u32::from_str_radix(&text, 16).ok().filter(|_| is_hex);
        number.map(Some).ok_or_else(|| format!("{} is not a checksum of eight hex digits", self.below("crc32")))
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
pub(super) fn numbered(key: &str) -> Option<(&str, usize)> {
    let (name, number) = key.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (name, number.parse().unwrap_or(usize::MAX)))
}
