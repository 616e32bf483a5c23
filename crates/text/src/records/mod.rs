//! Records of a lump as JSON lines or CSV, and back, without loss.
//!
//! Floats are the shortest decimals that give the same bits; flags are names. [`Lump`] is a lump of a map with its
//! records; [`value_text`] and [`value_json`] print the fields that a [query](bspkit::query) finds.
//!
//! ```
//! use bspkit_text::records::{Format, Lump, Numbers};
//! use bspkit::{Bsp, Error};
//!
//! let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
//! let planes = Lump::find(&map, "planes")?;
//! let names = map.dialect().game(map.version()).flags;
//! let mut text = Vec::new();
//! planes.print(Format::Json, names, |piece| {
//!     text.extend_from_slice(piece);
//!     Ok::<_, Error>(true) // go on
//! })?;
//! assert!(text.starts_with(b"{\"normal\":["));
//!
//! // The same text gives the same bytes; `load` sets them in a draft.
//! let mut draft = map.draft();
//! planes.load(&mut draft, Format::Json, names, Numbers::Checked, &text[..])?;
//! assert!(draft.plan(Default::default())?.is_identity());
//! # Ok::<(), Error>(())
//! ```

mod follow;
#[cfg(test)]
mod tests;
mod text;

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use bspkit::bytes::{ByteOrder, Data};
use bspkit::dialect::{Counted, Dialect, Form, Role, Row, Span};
use bspkit::disk::names::Taken;
use bspkit::file::names::hazard;
use bspkit::record::{FlagNames, RecordInfo};
use bspkit::{Bsp, Error, ErrorKind, Hint, ListName, Place, Result, Slot, SlotId};
pub use follow::Numbers;
pub(crate) use follow::{NewLump, take};
pub use text::{CsvRows, parse_value, print_value, value_json, value_text};

/// The format of a file of records.
///
/// ```
/// use bspkit_text::records::Format;
/// assert_eq!(Format::of_extension("JSONL"), Some(Format::Json));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line, one per record
    Json,
    /// A header line, then one line per record
    Csv,
    /// The bytes of the lump
    Raw,
}

impl Format {
    /// The extension of files of this format.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Json => "jsonl",
            Format::Csv => "csv",
            Format::Raw => "bin",
        }
    }

    /// The format of files with this extension, in any case.
    pub fn of_extension(extension: &str) -> Option<Self> {
        let known = [("jsonl", Format::Json), ("json", Format::Json), ("ndjson", Format::Json), ("csv", Format::Csv)];
        let raw = ["bin", "raw", "lump"].map(|raw| (raw, Format::Raw));
        let all = known.into_iter().chain(raw);
        all.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, format)| format)
    }
}

/// A lump with its records, or with one of its lists.
///
/// ```
/// use bspkit_text::records::Lump;
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
/// let lump = Lump::find(&map, "planes")?;
/// assert_eq!((lump.name(), lump.records().len()), ("PLANES", 1));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lump<'a> {
    slot: SlotId,
    name: String,
    /// The lump's bytes, decompressed, with little-endian numbers.
    bytes: Data<'a>,
    /// The decompressed bytes with numbers in the byte order of the file.
    raw: Data<'a>,
    /// The ranges of the records in the bytes; empty if there are no records.
    parts: Vec<Span>,
    /// Whether the lump has several lists and all of them are included.
    has_lists: bool,
    /// Why there are no records.
    why: String,
}

impl<'a> Lump<'a> {
    /// Finds a lump by its number, name or role, or one list of it by `LUMP.LIST`.
    ///
    /// # Errors
    /// The map has no such lump or list; or the lump cannot be read.
    pub fn find(bsp: &Bsp<'a>, lump: &str) -> Result<Self> {
        let (slot, list) = bsp.list_named(lump)?;
        let mut found = Lump::read(bsp, slot)?;
        if list.is_some() {
            found.parts = bsp.lists(lump)?.iter().map(|list| list.span().clone()).collect();
            found.has_lists = false;
        }
        Ok(found)
    }

    /// Reads the lump of a slot.
    ///
    /// # Errors
    /// The slot cannot be read, or its lists contradict its size.
    pub fn read(bsp: &Bsp<'a>, slot: &Slot) -> Result<Self> {
        let raw = bsp.bytes(slot.id)?;
        let bytes = match bsp.byte_order() {
            ByteOrder::Little => raw.clone(),
            ByteOrder::Big => bsp.little_endian(slot.id)?,
        };
        let (parts, why) = match bsp.row(slot) {
            Err(why) => (Vec::new(), why.to_string()),
            Ok(row) => {
                let what = match row.form {
                    Form::Lens(what) => format!("it holds {what}"),
                    _ if bytes.is_empty() => "it is empty".to_owned(),
                    _ => String::new(),
                };
                (row.parts(&bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))?, what)
            }
        };
        let (slot, name, has_lists) = (slot.id, slot.name.clone(), parts.len() > 1);
        Ok(Lump { slot, name, bytes, raw, has_lists, parts, why })
    }

    /// Reads the lump of a slot as bytes, even if it has records.
    ///
    /// # Errors
    /// The slot cannot be read.
    pub fn raw(bsp: &Bsp<'a>, slot: &Slot) -> Result<Self> {
        let (raw, name, why) = (bsp.bytes(slot.id)?, slot.name.clone(), "it is read as bytes".to_owned());
        Ok(Lump { slot: slot.id, name, bytes: raw.clone(), raw, parts: Vec::new(), has_lists: false, why })
    }

    /// Its name in the map.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its records: one array, one for each list, or none.
    pub fn records(&self) -> &[Span] {
        &self.parts
    }

    /// JSON if there are records, otherwise the bytes.
    pub fn usual_format(&self) -> Format {
        if self.parts.is_empty() { Format::Raw } else { Format::Json }
    }

    /// The array of records, if there is exactly one.
    pub(crate) fn one(&self) -> Result<&Span> {
        match &self.parts[..] {
            [part] => Ok(part),
            [] => {
                let message = format!("{} has no records: {}", self.name, self.why);
                Err(Error::new(ErrorKind::Unsupported, message).with_hint("use the format `raw` for its bytes"))
            }
            parts => {
                let names: Vec<_> = parts.iter().map(|part| format!("{}.{}", self.name, part.list)).collect();
                Err(ListName::several(&self.name, &names))
            }
        }
    }

    /// The end of the last record of all lists.
    fn end(&self) -> Option<usize> {
        self.parts.iter().map(|part| part.range.start + part.count() * part.record.size).max()
    }

    /// The number of bytes after the last record.
    pub fn rest(&self) -> usize {
        let is_whole = self.has_lists || self.parts.first().is_some_and(|part| part.list.is_empty());
        self.end().filter(|_| is_whole).map_or(0, |end| self.bytes.len() - end)
    }

    /// The bytes after the last record of all lists.
    pub(crate) fn rest_bytes(&self) -> &[u8] {
        &self.bytes[self.end().unwrap_or(self.bytes.len())..]
    }

    /// Prints the records in pieces. `write` returns whether to continue.
    ///
    /// # Errors
    /// The lump has no records; or it has several lists and the format allows only one; or `write` failed.
    pub fn print<E: From<Error>>(
        &self,
        format: Format,
        names: FlagNames,
        mut write: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<(), E> {
        const ENOUGH: usize = 1 << 16;
        let mut out = Vec::with_capacity(2 * ENOUGH);
        match format {
            Format::Raw => return write(&self.raw).map(drop),
            Format::Json if self.parts.is_empty() && !self.bytes.is_empty() => self.one().map(drop)?,
            Format::Json => {
                for part in &self.parts {
                    let list = if self.has_lists { part.list } else { "" };
                    for record in self.bytes[part.range.clone()].chunks_exact(part.record.size) {
                        text::print_record(&mut out, list, part.record, record, names);
                        out.push(b'\n');
                        if out.len() >= ENOUGH && !write(&std::mem::take(&mut out))? {
                            return Ok(());
                        }
                    }
                }
            }
            Format::Csv => {
                let part = self.one()?;
                let mut lines = text::Printer::new(part.record, names)?;
                for record in self.bytes[part.range.clone()].chunks_exact(part.record.size) {
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

    /// Reads a file with records to add to the lump, which has one list, and returns their bytes, with little-endian
    /// numbers.
    ///
    /// ```
    /// use bspkit_text::records::{Format, Lump};
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// let vertexes = Lump::find(&map, "vertexes")?;
    /// let bytes = vertexes.rows(Format::Json, &[], &b"{\"point\":[1,2,3]}\n"[..])?;
    /// assert_eq!(bytes.len(), 12);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be read; or a line is wrong, which the message names with the reason; or the lump has no records
    /// or several lists.
    pub fn rows(&self, format: Format, names: FlagNames, mut file: impl BufRead) -> Result<Vec<u8>> {
        let record = self.one()?.record;
        match format {
            Format::Raw => read_all(&mut file),
            Format::Json => Ok(text::parse_json(self, names, file)?.into_iter().flat_map(|list| list.bytes).collect()),
            Format::Csv => Ok(text::parse_csv(record, names, file)?.bytes),
        }
    }

    /// Reads the lists of a file of records, with little-endian numbers.
    pub(crate) fn lists(&self, format: Format, names: FlagNames, mut file: impl BufRead) -> Result<Vec<List>> {
        match format {
            Format::Raw => {
                let (bytes, lines) = (read_all(&mut file)?, Vec::new());
                self.one().map(|_| vec![List { bytes, lines }])
            }
            Format::Json if self.parts.is_empty() => self.one().map(|_| Vec::new()),
            Format::Json => text::parse_json(self, names, file),
            Format::Csv => Ok(vec![text::parse_csv(self.one()?.record, names, file)?]),
        }
    }

    /// The bytes of the lump with other lists.
    pub(crate) fn assemble(&self, lists: &[List]) -> Result<Vec<u8>> {
        let mut bytes = self.bytes.to_vec();
        // From the last list to the first, so that the ranges of earlier lists stay valid.
        for (part, list) in self.parts.iter().zip(lists).rev() {
            if let Some(at) = part.count_at {
                let count = u32::try_from(list.bytes.len() / part.record.size);
                let count = count.map_err(|_| Error::new(ErrorKind::TooLarge, "there are too many records"))?;
                bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
            }
            let end = part.range.start + part.count() * part.record.size;
            bytes.splice(part.range.start..end, list.bytes.iter().copied());
        }
        Ok(bytes)
    }
}

/// Records of a file: their bytes, and the line of each. Bytes have no lines.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lines: Vec<usize>,
}

fn read_all(file: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| Error::io("cannot read the file", error))?;
    Ok(bytes)
}

fn other_size(message: String) -> Error {
    Error::new(ErrorKind::Argument, message).with_hint(Hint::Resize)
}

/// An error in a line of a file: the number of the line, the field and the reason.
fn wrong_line(line: usize, why: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("line {line}: {why}"))
}

// Names of lists of records, and names of files for slots.

/// The name of a lump, or of a list in it as `LUMP.list`, for a number, a name or a role.
///
/// # Errors
/// [`bspkit::ErrorKind::NotFound`] if the map has no such lump. Whether it has such a list is not looked at.
pub fn list_name(bsp: &Bsp<'_>, name: &str) -> Result<String> {
    let (slot, list) = bsp.list_named(name)?;
    Ok(list.map_or_else(|| slot.name.clone(), |list| format!("{}.{list}", slot.name)))
}

/// The slots that get a file in a folder, each with the name of its file, without extension. No two names are equal,
/// even without regard to case. All consist of letters, digits, `_`, `-` and `~`.
///
/// A game lump with members has no file; its members have files. Its own bytes are only the directory of the members.
pub fn file_stems<'b>(bsp: &'b Bsp<'_>) -> Vec<(&'b Slot, String)> {
    let has_members = bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
    let game = bsp.role(Role::GameLump).map(|slot| slot.id).filter(|_| has_members);
    let slots: Vec<&Slot> = bsp.slots().iter().filter(|slot| Some(slot.id) != game).collect();
    let mut taken = Taken::default();
    let named = slots.into_iter().enumerate().map(|(number, slot)| {
        let (stem, _) = taken.take(stem(slot).as_bytes(), number);
        (slot, String::from_utf8_lossy(&stem).into_owned())
    });
    named.collect()
}

fn stem(slot: &Slot) -> String {
    let name = slot.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    let name: String = name.collect();
    match slot.id {
        SlotId::Lump(index) => format!("{index:02}_{name}"),
        _ if hazard(name.as_bytes()).is_some() => format!("_{name}"),
        _ => name,
    }
}

// Records by the name of their type, for `build`, which has no map to detect them from.

/// The records in a file: the name of the type and its size. For several lists, the names with `+` between them, and
/// the sum of the sizes.
pub(crate) struct RecordName<'n> {
    pub(crate) name: Option<&'n str>,
    pub(crate) size: Option<usize>,
}

fn records(row: &Row) -> Vec<&'static RecordInfo> {
    match row.form {
        Form::Array(record) => vec![record],
        Form::Lists(lists) => lists.iter().map(|list| list.record).collect(),
        _ => Vec::new(),
    }
}

fn name(row: &Row) -> (String, usize) {
    let records = records(row);
    let names: Vec<_> = records.iter().map(|record| record.name).collect();
    (names.join("+"), records.iter().map(|record| record.size).sum())
}

/// Whether two rows have the same records in the same lists.
fn is_same(one: &Row, other: &Row) -> bool {
    let types = |row| records(row);
    let lists = |row: &Row| matches!(row.form, Form::Lists(_));
    types(one) == types(other) && lists(one) == lists(other)
}

/// The rows with records that a lump of this name may have; equal ones only once.
fn rows(dialect: &'static Dialect, lump: &str, is_meant: impl Fn(&Row) -> bool) -> Vec<&'static Row> {
    let mut found: Vec<&'static Row> = Vec::new();
    for row in dialect.rows_of(lump).filter(|row| !records(row).is_empty() && is_meant(row)) {
        if !found.iter().any(|known| is_same(known, row)) {
            found.push(row);
        }
    }
    found
}

/// The name and the size of the records of a lump, if these identify one struct of the dialect.
pub(crate) fn distinct_name(bsp: &Bsp<'_>, slot: &Slot) -> Option<(String, usize)> {
    let row = bsp.row(slot).ok()?;
    let known = rows(bsp.dialect(), &slot.name, |other| name(other) == name(row));
    (known.len() == 1 && is_same(known[0], row)).then(|| name(row))
}

impl Lump<'static> {
    /// An empty lump, to be filled from a file. It has the named records, or else the only ones that a lump of this
    /// version may have in such a map. The second value is its row.
    pub(crate) fn blank(
        dialect: &'static Dialect,
        version: i32,
        lump: &str,
        lump_version: Option<i32>,
        wanted: &RecordName<'_>,
    ) -> Result<(Self, &'static Row), Error> {
        let is_named = |row: &Row| {
            let (name, size) = name(row);
            wanted.name.is_none_or(|wanted| wanted == name) && wanted.size.is_none_or(|wanted| wanted == size)
        };
        let fits = |row: &Row| {
            let lump_version = lump_version.unwrap_or(0);
            (row.maps.is_empty() || row.maps.contains(&version))
                && (row.versions.is_empty() || row.versions.contains(&lump_version))
        };
        let named = rows(dialect, lump, is_named);
        let fitting = rows(dialect, lump, |row| is_named(row) && fits(row));
        let row = match (&fitting[..], &named[..]) {
            ([row], _) | ([], [row]) => *row,
            ([], []) => {
                let error = Error::new(ErrorKind::Argument, format!("{lump} has no records of this kind"));
                let known = listed(&rows(dialect, lump, |_| true));
                return Err(if known.is_empty() { error } else { error.with_hint(format!("it may have {known}")) });
            }
            (several, named) => {
                let several = if several.is_empty() { named } else { several };
                let message = format!("{lump} may have records of several kinds");
                let hint = format!("choose one with `record` and `record_size`: {}", listed(several));
                return Err(Error::new(ErrorKind::Ambiguous, message).with_hint(hint));
            }
        };
        // Each list with a count has the count 0.
        let bytes = match row.form {
            Form::Lists(lists) => vec![0; 4 * lists.iter().filter(|list| list.counted != Counted::Nowhere).count()],
            _ => Vec::new(),
        };
        Ok((Lump::with(row, SlotId::Lump(0), lump, bytes)?, row))
    }

    /// A lump with these records, with little-endian numbers.
    pub(crate) fn with(row: &'static Row, slot: SlotId, lump: &str, bytes: Vec<u8>) -> Result<Self, Error> {
        let bytes = Data::from(bytes);
        let parts = row.parts(&bytes)?;
        let (name, has_lists, why) = (lump.to_owned(), parts.len() > 1, String::new());
        Ok(Lump { slot, name, raw: bytes.clone(), bytes, has_lists, parts, why })
    }
}

fn listed(rows: &[&Row]) -> String {
    let names: Vec<_> = rows.iter().map(|row| name(row)).map(|(name, size)| format!("{name} ({size})")).collect();
    names.join(", ")
}
