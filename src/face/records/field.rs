//! `LUMP[INDEX].FIELD`: a record of a lump, or a part of one.

use std::ops::Range;
use std::str::FromStr;

use super::{Lump, parse_value, print_value};
use crate::record::{self, FlagNames, Part, Shape};
use crate::{Bsp, Draft, Error, ErrorKind, Result};

/// A record of a lump, or a part of one.
///
/// ```
/// use bspkit::face::records::FieldPath;
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let names = map.dialect().game(map.version()).flags;
/// let path: FieldPath = "planes[0].normal[1]".parse()?;
/// assert_eq!(path.get(&map, names)?, "-0.0");
/// let mut draft = map.draft();
/// path.set(&mut draft, "0.5", names)?;
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldPath {
    /// The lump, or a list of it as `LUMP.LIST`.
    pub lump: String,
    /// The number of the record, counted from 0.
    pub index: usize,
    /// The path of the part; empty for the whole record.
    pub field: String,
}

/// A part of a record, and its range in the lump.
struct Found {
    part: Part,
    range: Range<usize>,
}

impl Found {
    /// Whether it is a single number or name.
    fn is_single(&self) -> bool {
        matches!(self.part.shape, Shape::Number(_) | Shape::Name(_))
    }
}

impl FromStr for FieldPath {
    type Err = Error;

    /// Reads `LUMP[INDEX]` or `LUMP[INDEX].FIELD`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |message: String| Error::new(ErrorKind::Argument, message);
        let bad = || wrong(format!("`{text}` is not a field: write LUMP[INDEX].FIELD, like planes[0].normal[2]"));
        let (lump, rest) = text.split_once('[').ok_or_else(bad)?;
        let (index, rest) = rest.split_once(']').ok_or_else(bad)?;
        let field = match rest {
            "" => "",
            rest => rest.strip_prefix('.').filter(|field| !field.is_empty()).ok_or_else(bad)?,
        };
        let bad_index = |_| wrong(format!("`{index}` is not the index of a record: write a number from 0"));
        Ok(FieldPath { lump: lump.to_owned(), index: index.parse().map_err(bad_index)?, field: field.to_owned() })
    }
}

impl std::fmt::Display for FieldPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dot = if self.field.is_empty() { "" } else { "." };
        write!(f, "{}[{}]{dot}{}", self.lump, self.index, self.field)
    }
}

impl FieldPath {
    /// The value as text: a number or a name as plain text; a list, a struct or a whole record as JSON.
    ///
    /// # Errors
    /// The map has no such lump, record or field.
    pub fn get(&self, bsp: &Bsp<'_>, names: FlagNames) -> Result<String> {
        let lump = Lump::find(bsp, &self.lump)?;
        let found = self.find(&lump)?;
        Ok(match found.is_single() {
            true => record::print(found.part.shape, found.part.meaning, &lump.bytes[found.range], names).to_string(),
            false => json(&found, &lump, names),
        })
    }

    /// The value as JSON.
    ///
    /// # Errors
    /// The map has no such lump, record or field.
    pub fn get_json(&self, bsp: &Bsp<'_>, names: FlagNames) -> Result<String> {
        let lump = Lump::find(bsp, &self.lump)?;
        Ok(json(&self.find(&lump)?, &lump, names))
    }

    /// Changes the value. The text has the form that [`get`](Self::get) returns. Only the field changes.
    ///
    /// # Errors
    /// The map has no such lump, record or field; or the value does not fit the field.
    pub fn set(&self, draft: &mut Draft<'_>, value: &str, names: FlagNames) -> Result<()> {
        let lump = Lump::find(draft.bsp(), &self.lump)?;
        let Found { part, range } = self.find(&lump)?;
        // Start from earlier edits of the draft. No value changes the size of a lump.
        let mut bytes = draft.little_endian(lump.slot)?.to_vec();
        let to = &mut bytes[range.clone()];
        let parsed = match (Found { part, range }).is_single() {
            true => record::parse(part.shape, part.meaning, value, to, names),
            false => parse_value(part.shape, part.meaning, value, to, names),
        };
        parsed.map_err(|why| Error::new(ErrorKind::Argument, why))?;
        draft.set_little_endian(lump.slot, bytes)
    }

    fn find(&self, lump: &Lump<'_>) -> Result<Found> {
        let records = lump.one()?;
        let (record, count) = (records.record, records.count());
        if self.index >= count {
            let there = match count.checked_sub(1) {
                None => "no records".to_owned(),
                Some(last) => format!("only the records 0 to {last}"),
            };
            let dot = if records.list.is_empty() { "" } else { "." };
            let name = format!("{}{dot}{}", lump.name, records.list);
            let message = format!("{name} has no record {}: it has {there}", self.index);
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        let part = Part::find(record.fields, &self.field);
        let part = part.map_err(|why| Error::new(ErrorKind::NotFound, format!("{}: {why}", lump.name)))?;
        let start = records.range.start + self.index * record.size + part.offset;
        Ok(Found { part, range: start..start + part.shape.size() })
    }
}

fn json(found: &Found, lump: &Lump<'_>, names: FlagNames) -> String {
    let mut out = Vec::new();
    print_value(&mut out, found.part.shape, found.part.meaning, &lump.bytes[found.range.clone()], names);
    String::from_utf8_lossy(&out).into_owned()
}
