//! Records as JSON: one line with an object per record, with the fields in the order of the struct.

use std::fmt;
use std::io::BufRead;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{List, Lump, wrong_line};
use crate::face::report::syntax;
use crate::near;
use crate::record::{self, FieldInfo, FlagNames, Meaning, RecordInfo, Shape, Text};
use crate::{Error, ErrorKind, Result};

/// The member that names the list of a record, in a lump with several lists.
const LIST: &str = "list";

/// Prints a record as an object. The name of its list comes first, if it has one.
pub(super) fn print_record(out: &mut Vec<u8>, list: &str, record: &RecordInfo, bytes: &[u8], names: FlagNames) {
    let start = out.len();
    print_value(out, Shape::Record(record.fields), Meaning::Plain, bytes, names);
    if !list.is_empty() {
        // The name of a list is a plain word from the table of the dialect, so it needs no escapes.
        out.splice(start..=start, format!("{{\"{LIST}\":\"{list}\",").into_bytes());
    }
}

/// Prints a part of a record as JSON.
pub fn print_value(out: &mut Vec<u8>, shape: Shape, meaning: Meaning, bytes: &[u8], names: FlagNames) {
    match shape {
        Shape::Record(fields) => {
            out.push(b'{');
            for (index, field) in fields.iter().enumerate() {
                out.extend_from_slice(if index > 0 { b",\"" } else { b"\"" });
                out.extend_from_slice(field.name.as_bytes());
                out.extend_from_slice(b"\":");
                let bytes = &bytes[field.offset..field.offset + field.shape.size()];
                print_value(out, field.shape, field.meaning, bytes, names);
            }
            out.push(b'}');
        }
        Shape::Array(item, _) => {
            out.push(b'[');
            for (index, bytes) in bytes.chunks_exact(item.size().max(1)).enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                print_value(out, *item, meaning, bytes, names);
            }
            out.push(b']');
        }
        _ => match record::print(shape, meaning, bytes, names) {
            Text::Number(number) => out.extend_from_slice(number.as_bytes()),
            // Writing to memory cannot fail.
            Text::Word(word) => serde_json::to_writer(out, &word).unwrap_or_default(),
        },
    }
}

/// All members of an object in their order, including equal ones.
pub(crate) struct Members<'t>(pub(crate) Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'t> Visitor<'t> for All {
            type Value = Members<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Members<'t>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// Reads the records of a file into lists, in the order of the lump.
pub(super) fn parse(lump: &Lump<'_>, names: FlagNames, mut file: impl BufRead) -> Result<Vec<List>> {
    let list = || List { bytes: Vec::new(), lines: Vec::new() };
    let mut lists: Vec<List> = lump.parts.iter().map(|_| list()).collect();
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let read = file.read_until(b'\n', &mut text);
        if read.map_err(|error| Error::io("cannot read the file", error))? == 0 {
            break;
        }
        let text = text.strip_prefix(b"\xEF\xBB\xBF").filter(|_| line == 1).unwrap_or(&text);
        if text.trim_ascii().is_empty() {
            continue;
        }
        let members = serde_json::from_slice(text).map_err(|error| {
            let column = if error.column() > 0 { format!(", column {}", error.column()) } else { String::new() };
            Error::new(ErrorKind::Argument, format!("line {line}{column}: {}", syntax(&error)))
        })?;
        parse_line(lump, &mut lists, line, members, names).map_err(|why| wrong_line(line, &why))?;
    }
    Ok(lists)
}

fn parse_line(
    lump: &Lump<'_>,
    lists: &mut [List],
    line: usize,
    Members(mut members): Members<'_>,
    names: FlagNames,
) -> Result<(), String> {
    let mut which = 0;
    if lump.has_lists {
        let known: Vec<_> = lump.parts.iter().map(|part| part.list).collect();
        let at = members.iter().position(|(name, _)| name == LIST);
        let at = at.ok_or_else(|| format!("the field `{LIST}` is missing; the lists are {}", known.join(", ")))?;
        let (_, name) = members.remove(at);
        let name: String = serde_json::from_str(name.get()).unwrap_or_default();
        let found = known.iter().position(|list| *list == name);
        which = found
            .ok_or_else(|| format!("there is no list `{name}`; {}", near::or_all(&name, &known, "the lists are")))?;
    }
    let (Some(part), Some(list)) = (lump.parts.get(which), lists.get_mut(which)) else { return Ok(()) };
    let start = list.bytes.len();
    list.bytes.resize(start + part.record.size, 0);
    list.lines.push(line);
    parse_members(part.record.fields, members, &mut list.bytes[start..], names, "")
}

/// Writes the bytes of a JSON value to a part of a record.
///
/// # Errors
/// The value does not fit: the message names the field and the reason.
pub fn parse_value(shape: Shape, meaning: Meaning, text: &str, to: &mut [u8], names: FlagNames) -> Result<(), String> {
    let raw = serde_json::from_str::<&RawValue>(text).map_err(|error| syntax(&error))?;
    parse_raw(shape, meaning, raw, to, names, "")
}

fn parse_members(
    fields: &[FieldInfo],
    members: Vec<(String, &RawValue)>,
    to: &mut [u8],
    names: FlagNames,
    path: &str,
) -> Result<(), String> {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let mut missing: Vec<&FieldInfo> = fields.iter().collect();
    for (name, value) in members {
        let Some(at) = missing.iter().position(|field| field.name == name) else {
            let twice = fields.iter().any(|field| field.name == name);
            let known: Vec<_> = fields.iter().map(|field| field.name).collect();
            return Err(match twice {
                true => format!("the field {} is given twice", below(&name)),
                false => {
                    format!("there is no field {}; {}", below(&name), near::or_all(&name, &known, "the fields are"))
                }
            });
        };
        let field = missing.remove(at);
        let to = &mut to[field.offset..field.offset + field.shape.size()];
        parse_raw(field.shape, field.meaning, value, to, names, &below(&name))?;
    }
    match missing.first() {
        None => Ok(()),
        Some(field) => Err(format!("the field {} is missing", below(field.name))),
    }
}

fn parse_raw(
    shape: Shape,
    meaning: Meaning,
    raw: &RawValue,
    to: &mut [u8],
    names: FlagNames,
    path: &str,
) -> Result<(), String> {
    let at = |why: String| if path.is_empty() { why } else { format!("field {path}: {why}") };
    let text = raw.get();
    match shape {
        Shape::Record(fields) => {
            let Members(members) = serde_json::from_str(text).map_err(|_| at(format!("`{text}` is not an object")))?;
            parse_members(fields, members, to, names, path)
        }
        Shape::Array(item, count) => {
            let items: Vec<&RawValue> =
                serde_json::from_str(text).map_err(|_| at(format!("`{text}` is not a list of {count}")))?;
            if items.len() != count {
                return Err(at(format!("the list has {} items, but {count} are needed", items.len())));
            }
            let places = to.chunks_exact_mut(item.size().max(1));
            for (index, (raw, to)) in items.into_iter().zip(places).enumerate() {
                parse_raw(*item, meaning, raw, to, names, &format!("{path}[{index}]"))?;
            }
            Ok(())
        }
        Shape::Name(_) if !text.starts_with('"') => Err(at(format!("`{text}` is not a string"))),
        _ if text.starts_with('"') => {
            let word: String = serde_json::from_str(text).map_err(|error| at(error.to_string()))?;
            record::fill(shape, meaning, &word, to, names).map_err(at)
        }
        _ => record::fill(shape, meaning, text, to, names).map_err(at),
    }
}
