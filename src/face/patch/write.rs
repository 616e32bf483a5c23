//! Writes a patch as JSON.

use serde_json::{Map, Value};

use crate::face::report::{base64, text_and_raw};
use crate::op::patch::{Change, Expected, Operation, PairKey, Patch, Spot, Target};

type Object = Map<String, Value>;

/// The patch as a document.
pub(super) fn write(patch: &Patch) -> Value {
    let mut object = Object::new();
    object.insert("bspkit_patch".into(), 1.into());
    if let Some(entities) = patch.entities {
        object.insert("entities".into(), entities.into());
    }
    object.insert("operations".into(), patch.operations.iter().map(operation).collect());
    object.into()
}

fn operation(operation: &Operation) -> Value {
    let mut object = Object::new();
    let mut named = |name: &str| drop(object.insert("op".into(), name.into()));
    match operation {
        Operation::Edit { on, expect, changes } => {
            named("edit");
            object.insert("on".into(), target(on));
            expected(&mut object, expect);
            object.insert("changes".into(), changes.iter().map(change).collect());
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
            expected(&mut object, expect);
        }
        Operation::Move { on, expect, to } => {
            named("move");
            object.insert("on".into(), target(on));
            expected(&mut object, expect);
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
    let mut object = Object::new();
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

fn spot(object: &mut Object, spot: Option<&Spot>) {
    match spot {
        Some(Spot::Before(on)) => drop(object.insert("before".into(), target(on))),
        Some(Spot::After(on)) => drop(object.insert("after".into(), target(on))),
        None => {}
    }
}

fn expected(object: &mut Object, expected: &[Expected]) {
    let one = |Expected { key: name, value }: &Expected| {
        let mut object = Object::new();
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

fn change(change: &Change) -> Value {
    let mut object = Object::new();
    let mut named = |name: &str| drop(object.insert("do".into(), name.into()));
    match change {
        Change::Set { key: name, value } => {
            named("set");
            key(&mut object, name);
            bytes(&mut object, "value", "raw", value);
        }
        Change::Add { key: name, value } => {
            named("add");
            key(&mut object, &PairKey { name: name.clone(), nth: None });
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
        let mut object = Object::new();
        bytes(&mut object, "key", "key_raw", key);
        bytes(&mut object, "value", "raw", value);
        Value::from(object)
    };
    pairs.iter().map(one).collect()
}

/// `KEY#2` as one string. A key that itself ends like this, or is not UTF-8, is in base64, and its number is separate.
fn key(object: &mut Object, key: &PairKey) {
    match (std::str::from_utf8(&key.name), key.nth) {
        (Ok(name), nth) if super::read::numbered(name).is_none() => {
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

fn bytes(object: &mut Object, name: &str, raw_name: &str, bytes: &[u8]) {
    let (text, raw) = text_and_raw(bytes);
    object.insert(name.into(), text.into());
    if let Some(raw) = raw {
        object.insert(raw_name.into(), raw.into());
    }
}
