//! Records on the command line: what LUMP names, and records as text.

mod blank;
mod csv;
pub(crate) mod json;
mod place;

use std::collections::HashSet;
use std::io::BufRead;

use anyhow::{Context, Result};
use bspkit::bytes::{ByteOrder, Data};
use bspkit::dialect::{Form, Game, Records, Role};
use bspkit::record::FlagNames;
use bspkit::{Bsp, Error, ErrorKind, Slot, SlotId};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

pub(crate) use blank::{RecordName, told_by_name};
pub(crate) use json::{parse_value, print_record, print_value};
pub(crate) use place::{Assignment, RecordPlace};

/// How records look in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// An object on a line for each record
    Json,
    /// A heading, then a line for each record
    Csv,
    /// The lump's bytes
    Raw,
}

impl Format {
    /// How files of this format are called.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Json => "jsonl",
            Format::Csv => "csv",
            Format::Raw => "bin",
        }
    }

    /// The format that a file's name says it has.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        let known = [("jsonl", Format::Json), ("json", Format::Json), ("ndjson", Format::Json), ("csv", Format::Csv)];
        let raw = ["bin", "raw", "lump"].map(|raw| (raw, Format::Raw));
        let all = known.into_iter().chain(raw);
        all.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, format)| format)
    }
}

/// A lump with the records in it, or in the list of it that was named.
pub(crate) struct Content<'a> {
    pub(crate) slot: SlotId,
    pub(crate) name: String,
    /// The lump's bytes, decompressed, with little-endian numbers.
    pub(crate) bytes: Data<'a>,
    /// The same with numbers as the file has them.
    raw: Data<'a>,
    /// Where records stand in them; nothing where there are none.
    pub(crate) parts: Vec<Records>,
    /// Whether the lump has several lists and all of them are meant.
    pub(crate) has_lists: bool,
    /// Why there are no records.
    why: String,
}

impl<'a> Content<'a> {
    /// Finds what LUMP names: a number, a name or a role, and perhaps `.list` behind it.
    pub(crate) fn find(bsp: &Bsp<'a>, lump: &str) -> Result<Self> {
        match (bsp.slot(lump), lump.rsplit_once('.')) {
            (Ok(slot), _) => Content::read(bsp, slot, None),
            (Err(error), None) => Err(error.into()),
            (Err(error), Some((before, list))) => match bsp.slot(before) {
                Ok(slot) => Content::read(bsp, slot, Some(list)),
                Err(_) => Err(error.into()),
            },
        }
    }

    /// Reads a slot, or one list in it.
    pub(crate) fn read(bsp: &Bsp<'a>, slot: &Slot, list: Option<&str>) -> Result<Self> {
        let raw = bsp.bytes(slot.id)?;
        let bytes = match bsp.byte_order() {
            ByteOrder::Little => raw.clone(),
            ByteOrder::Big => bsp.little_endian(slot.id)?,
        };
        let (parts, why) = match bsp.row(slot) {
            Err(why) => (Vec::new(), why),
            Ok(row) => {
                let cut = |why: String| malformed(slot, why);
                let what = match row.form {
                    Form::Lens(what) => format!("it holds {what}"),
                    _ if bytes.is_empty() => "it is empty".to_owned(),
                    _ => String::new(),
                };
                (row.parts(&bytes).map_err(cut)?, what)
            }
        };
        let (slot, name, has_lists) = (slot.id, slot.name.clone(), parts.len() > 1);
        let content = Content { slot, name, bytes, raw, has_lists, parts, why };
        match list {
            None => Ok(content),
            Some(list) => content.only(list),
        }
    }

    /// Takes a slot as bytes, whatever is in it.
    pub(crate) fn raw(bsp: &Bsp<'a>, slot: &Slot) -> Result<Self> {
        let (raw, name, why) = (bsp.bytes(slot.id)?, slot.name.clone(), "it is taken as bytes".to_owned());
        Ok(Content { slot: slot.id, name, bytes: raw.clone(), raw, parts: Vec::new(), has_lists: false, why })
    }

    fn only(mut self, list: &str) -> Result<Self> {
        let names: Vec<_> = self.parts.iter().map(|part| part.list).filter(|name| !name.is_empty()).collect();
        self.parts.retain(|part| !part.list.is_empty() && part.list.eq_ignore_ascii_case(list));
        self.has_lists = false;
        if self.parts.is_empty() {
            let error = Error::new(ErrorKind::NotFound, format!("{} has no list {list}", self.name));
            return Err(
                if names.is_empty() { error } else { error.hint(format!("it has {}", names.join(", "))) }.into()
            );
        }
        Ok(self)
    }

    /// The format that is used where none is named.
    pub(crate) fn format(&self) -> Format {
        if self.parts.is_empty() { Format::Raw } else { Format::Json }
    }

    /// The one array of records that is meant.
    pub(crate) fn one(&self) -> Result<&Records> {
        match &self.parts[..] {
            [part] => Ok(part),
            [] => {
                let message = format!("{} has no records: {}", self.name, self.why);
                Err(Error::new(ErrorKind::Unsupported, message).hint("its bytes are the format `raw`").into())
            }
            parts => {
                let names: Vec<_> = parts.iter().map(|part| format!("{}.{}", self.name, part.list)).collect();
                let message = format!("{} has several lists of records", self.name);
                Err(Error::new(ErrorKind::Argument, message).hint(format!("say which: {}", names.join(", "))).into())
            }
        }
    }

    /// The bytes of the records of a part.
    pub(crate) fn records(&self, part: &Records) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes[part.range.clone()].chunks_exact(part.record.size)
    }

    /// How many bytes behind the records are no record.
    pub(crate) fn rest(&self) -> usize {
        let end = self.parts.iter().map(|part| part.range.start + part.count() * part.record.size).max();
        end.map_or(0, |end| if self.has_lists || self.parts[0].list.is_empty() { self.bytes.len() - end } else { 0 })
    }

    /// The bytes behind the last record of all lists.
    pub(crate) fn behind(&self) -> &[u8] {
        let end = self.parts.iter().map(|part| part.range.start + part.count() * part.record.size).max();
        &self.bytes[end.unwrap_or(self.bytes.len())..]
    }

    /// Prints the records; `write` says whether anybody reads on.
    pub(crate) fn print(
        &self,
        format: Format,
        names: FlagNames,
        mut write: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        const ENOUGH: usize = 1 << 16;
        let mut out = Vec::with_capacity(2 * ENOUGH);
        match format {
            Format::Raw => return write(&self.raw).map(drop),
            Format::Json if self.parts.is_empty() && !self.bytes.is_empty() => self.one().map(drop)?,
            Format::Json => {
                for part in &self.parts {
                    let list = if self.has_lists { part.list } else { "" };
                    for record in self.records(part) {
                        print_record(&mut out, list, part.record, record, names)?;
                        out.push(b'\n');
                        if out.len() >= ENOUGH && !write(&std::mem::take(&mut out))? {
                            return Ok(());
                        }
                    }
                }
            }
            Format::Csv => {
                let part = self.one()?;
                let mut lines = csv::Printer::new(part.record, names)?;
                for record in self.records(part) {
                    lines.print(record)?;
                    if lines.size() >= ENOUGH && !write(&lines.take()?)? {
                        return Ok(());
                    }
                }
                out = lines.take()?;
            }
        }
        write(&out).map(drop)
    }

    /// Reads a file of records and gives the lump's bytes with them: those of the format `raw` with numbers as the file of
    /// the map has them, others with little-endian ones.
    ///
    /// The file has as many records as the lump, unless `resize` says that it may have others.
    pub(crate) fn parse(
        &self,
        format: Format,
        names: FlagNames,
        resize: bool,
        mut file: impl BufRead,
    ) -> Result<Vec<u8>> {
        let mut lists = match format {
            Format::Raw => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                let (old, new) = (self.bytes.len(), bytes.len());
                if old != new && !resize && !self.parts.is_empty() {
                    let message = format!("the file has {new} bytes, and {} has {old}", self.name);
                    return Err(Error::new(ErrorKind::Argument, message).hint(RESIZE).into());
                }
                return Ok(bytes);
            }
            Format::Json if self.parts.is_empty() => return self.one().map(|_| Vec::new()),
            Format::Json => json::parse(self, names, file)?,
            Format::Csv => vec![csv::parse(self.one()?.record, names, file)?],
        };
        for (part, list) in self.parts.iter().zip(&lists) {
            let (old, new) = (part.count(), list.len() / part.record.size);
            if old != new && !resize {
                let name =
                    if part.list.is_empty() { self.name.clone() } else { format!("{}.{}", self.name, part.list) };
                let message = format!("the file has {new} records, and {name} has {old}");
                return Err(Error::new(ErrorKind::Argument, message).hint(RESIZE).into());
            }
        }
        let mut bytes = self.bytes.to_vec();
        // From the back, so that the ranges before stay true.
        for (part, list) in self.parts.iter().rev().zip(lists.drain(..).rev()) {
            if let Some(at) = part.count_at {
                let count = u32::try_from(list.len() / part.record.size).context("there are too many records")?;
                bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
            }
            let end = part.range.start + part.count() * part.record.size;
            bytes.splice(part.range.start..end, list);
        }
        Ok(bytes)
    }
}

const RESIZE: &str = "--resize loads it nevertheless; what refers to records by number does not follow";

fn malformed(slot: &Slot, why: String) -> Error {
    Error::new(ErrorKind::Malformed, format!("{}: {why}", slot.name))
}

/// What is wrong with a line of a file: the line's number, the field, the reason.
fn wrong_line(line: usize, why: &str) -> anyhow::Error {
    Error::new(ErrorKind::Argument, format!("line {line}: {why}")).into()
}

/// The game whose names for flags are meant: the one named, or the usual one for the map.
pub(crate) fn game(bsp: &Bsp<'_>, name: Option<&str>) -> Result<&'static Game> {
    match name {
        None => Ok(bsp.dialect().game(bsp.version())),
        Some(name) => Ok(bsp.dialect().game_by_name(name)?),
    }
}

/// The slots whose bytes a folder of files holds, each with the name of its file, without extension.
///
/// A game lump with members is its members: its own bytes are their directory, which says where in the file they stand.
pub(crate) fn file_stems<'b>(bsp: &'b Bsp<'_>) -> Vec<(&'b Slot, String)> {
    let has_members = bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
    let game = bsp.role(Role::GameLump).map(|slot| slot.id).filter(|_| has_members);
    let mut taken: HashSet<String> = HashSet::new();
    let slots = bsp.slots().iter().filter(|slot| Some(slot.id) != game);
    let named = slots.map(|slot| {
        let name: String =
            slot.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let stem = match slot.id {
            SlotId::Lump(index) => format!("{index:02}_{name}"),
            _ => name,
        };
        // Names need not be unique; the number of the slot is.
        let number = taken.len();
        let stem = if taken.insert(stem.to_ascii_lowercase()) { stem } else { format!("{stem}-{number}") };
        taken.insert(stem.to_ascii_lowercase());
        (slot, stem)
    });
    named.collect()
}

#[cfg(test)]
mod tests;
