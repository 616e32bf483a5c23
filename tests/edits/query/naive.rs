//! Records as JSON, and what queries should find in them: each value is looked at by itself, and nothing is compiled.

use std::collections::BTreeMap;

use bspkit::dialect::Form;
use bspkit::record::{Cell, FlagNames, Meaning, Shape};
use bspkit::{Bsp, Error};
use bspkit_text::records::{Format, Lump};
use serde_json::Value;

/// Larger lumps are left to smaller maps: the evaluator takes a hundred times their size.
const MOST: usize = 1 << 18;

pub(crate) struct Naive {
    lumps: BTreeMap<String, (Vec<Cell>, Vec<Value>)>,
    /// The names of records that are not in them, by lump.
    names: BTreeMap<&'static str, Vec<String>>,
}

impl Naive {
    pub(crate) fn new(map: &Bsp<'_>, flags: FlagNames) -> Self {
        let mut lumps = BTreeMap::new();
        for slot in map.slots().iter().filter(|slot| slot.stored.len() < MOST) {
            let Ok(Form::Array(record)) = map.row(slot).map(|row| row.form) else { continue };
            let Ok(lump) = Lump::read(map, slot) else { continue };
            let mut text = Vec::new();
            let print = lump.print(Format::Json, flags, |piece| {
                text.extend_from_slice(piece);
                Ok::<_, Error>(true)
            });
            print.unwrap();
            let records = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let records = records.map(|line| serde_json::from_slice(line).unwrap()).collect();
            lumps.insert(slot.name.clone(), (Cell::all(record.fields), records));
        }
        Naive { lumps, names: BTreeMap::from([("TEXTURES", miptex(map)), ("TEXDATA_STRING_TABLE", strings(map))]) }
    }

    /// Queries, and the records that each has to find.
    pub(crate) fn cases(&self) -> Vec<(String, Vec<usize>)> {
        let mut cases = Vec::new();
        for (lump, (cells, records)) in &self.lumps {
            let Some(last) = records.len().checked_sub(1) else { continue };
            // Of long lumps fewer values are tried: each takes time for all records.
            let indices = if last < 2000 { vec![0, last / 2, last] } else { vec![last / 2] };
            for cell in cells.iter().take(if last < 2000 { 24 } else { 8 }) {
                for index in indices.iter().copied() {
                    let value = at(&records[index], &cell.path);
                    let text = said(value);
                    let is_it = |record: &Value| equal(at(record, &cell.path), value);
                    cases.push((format!("{lump}[{}={text}]", cell.path), of(records, is_it)));
                    if let Some(number) = number(value) {
                        let is_more =
                            |record: &Value| self::number(at(record, &cell.path)).is_some_and(|own| own > number);
                        cases.push((format!("{lump}[{}>{text}]", cell.path), of(records, is_more)));
                    }
                    self.followed(lump, cell, index, &mut cases);
                }
            }
            let half = |record: usize| record.div_ceil(2)..record;
            let range: Vec<usize> = (0..records.len()).filter(|index| half(last).contains(index)).collect();
            cases.push((format!("{lump}[{}..{last}]", half(last).start), range));
        }
        cases
    }

    /// Queries by a value of the record that an index names.
    fn followed(&self, lump: &str, cell: &Cell, index: usize, cases: &mut Vec<(String, Vec<usize>)>) {
        let (Meaning::Index { lump: target, none, .. }, Shape::Number(_)) = (cell.meaning, cell.shape) else { return };
        let records = &self.lumps[lump].1;
        let named = |record: &Value, count: usize| {
            let number = at(record, &cell.path).as_i64().unwrap();
            usize::try_from(number).ok().filter(|index| *index < count && !none.contains(&number))
        };
        if let Some(names) = self.names.get(target).filter(|names| !names.is_empty()) {
            let name = |record: &Value| named(record, names.len()).map(|index| names[index].clone());
            let Some(own) = name(&records[index]).filter(|own| !own.contains('\\')) else { return };
            let found = of(records, |record| name(record).as_ref() == Some(&own));
            cases.push((format!("{lump}[{}~/^{}$/]", cell.path, regex::escape(&own).replace('/', r"\/")), found));
        }
        let Some((cells, targets)) = self.lumps.get(target) else { return };
        // Another lump is referred to where this one is left out.
        let Some(own) = named(&records[index], targets.len()) else { return };
        for inner in cells.iter().take(4) {
            let value = at(&targets[own], &inner.path);
            let is_it = |record: &Value| {
                named(record, targets.len()).is_some_and(|index| equal(at(&targets[index], &inner.path), value))
            };
            let query = format!("{lump}[{}.{}={}]", cell.path, inner.path, said(value));
            cases.push((query, of(records, is_it)));
        }
    }
}

fn of(records: &[Value], is_it: impl Fn(&Value) -> bool) -> Vec<usize> {
    records.iter().enumerate().filter(|(_, record)| is_it(record)).map(|(index, _)| index).collect()
}

/// The value at a path such as `normal[2]` or `edges[0].span`.
fn at<'v>(record: &'v Value, path: &str) -> &'v Value {
    path.split(['.', '[']).fold(record, |value, name| match name.strip_suffix(']') {
        Some(number) => &value[number.parse::<usize>().unwrap()],
        None => &value[name],
    })
}

/// A value as it is written in a query.
fn said(value: &Value) -> String {
    match value {
        // A name ends at its first NUL, whatever follows in its field.
        Value::String(text) if text.contains("\\x00") => said(&text.split("\\x00").next().into()),
        Value::String(text) if text.contains(['"', ']']) => text.replace('"', r"\x22").replace(']', r"\x5d"),
        Value::String(text) => format!("\"{text}\""),
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap() as f32),
        number => number.to_string(),
    }
}

/// The number as a record has it: the parser of JSON may be off by a bit of 64.
fn number(value: &Value) -> Option<f64> {
    if value.is_f64() { value.as_f64().map(|wide| f64::from(wide as f32)) } else { value.as_f64() }
}

/// Names compare up to their first NUL, numbers as numbers, and other words letter by letter.
fn equal(one: &Value, other: &Value) -> bool {
    let text = |value: &Value| value.as_str().map(|text| text.split("\\x00").next().unwrap().to_owned());
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one == other,
        _ => text(one).is_some() && text(one) == text(other),
    }
}

/// The names in the texture lump of Quake and GoldSrc: a count, offsets, and at each offset 16 bytes.
fn miptex(map: &Bsp<'_>) -> Vec<String> {
    let slot = map.slots().iter().find(|slot| slot.name == "TEXTURES");
    let Some(bytes) = slot.and_then(|slot| map.bytes(slot.id).ok()) else { return Vec::new() };
    let word = |at: usize| Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().unwrap()));
    let count = usize::try_from(word(0).unwrap_or(0)).unwrap_or(0);
    let name = |index: usize| {
        let at = usize::try_from(word(4 + 4 * index)?).ok()?;
        Some(until_nul(bytes.get(at..at + 16)?))
    };
    (0..count).map(|index| name(index).unwrap_or_default()).collect()
}

/// The names of Source's materials: offsets into strings.
fn strings(map: &Bsp<'_>) -> Vec<String> {
    let read = |name: &str| map.slot(name).ok().and_then(|slot| map.bytes(slot.id).ok());
    let (Some(table), Some(bytes)) = (read("TEXDATA_STRING_TABLE"), read("TEXDATA_STRING_DATA")) else {
        return Vec::new();
    };
    let is_big = map.byte_order() == bspkit::bytes::ByteOrder::Big;
    let offsets = table.chunks_exact(4).map(|word| {
        let word: [u8; 4] = word.try_into().unwrap();
        if is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    });
    offsets.map(|at| bytes.get(at as usize..).map(until_nul).unwrap_or_default()).collect()
}

fn until_nul(bytes: &[u8]) -> String {
    bspkit::bytes::escaped(bytes.split(|byte| *byte == 0).next().unwrap()).to_string()
}
