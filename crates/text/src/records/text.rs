//! Records as text: JSON, CSV, and fields of many records.

use std::io::BufRead;

use csv::{ReaderBuilder, Writer};
use serde_json::value::RawValue;

use super::{List, Lump, wrong_line};
use bspkit::bytes::escaped;
use bspkit::json::{Members, syntax};
use bspkit::query::{Query, Value};
use bspkit::record::{self, Cell, FieldInfo, FlagNames, Meaning, RecordInfo, Shape, Text};
use bspkit::{Bsp, Error, ErrorKind, Result, near};

// Records as JSON: one line with an object per record, with the fields in the order of the struct.

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

/// Reads the records of a file into lists, in the order of the lump.
pub(super) fn parse_json(lump: &Lump<'_>, names: FlagNames, mut file: impl BufRead) -> Result<Vec<List>> {
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

/// Writes the bytes of a JSON value to a part of a record; a list may be words, as `0 0 1`, each as a single value is.
///
/// # Errors
/// The value does not fit: the message names the field and the reason.
pub fn parse_value(shape: Shape, meaning: Meaning, text: &str, to: &mut [u8], names: FlagNames) -> Result<(), String> {
    if let Shape::Array(item, count) = shape
        && !matches!(item, Shape::Array(..) | Shape::Record(_))
        && !text.trim_start().starts_with('[')
    {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words.len() != count {
            let there = if words.len() == 1 { "is 1 word".to_owned() } else { format!("are {} words", words.len()) };
            return Err(format!("there {there}, but {count} are needed; as JSON, a list is in brackets"));
        }
        let places = to.chunks_exact_mut(item.size().max(1));
        return words.iter().zip(places).try_for_each(|(word, to)| record::fill(*item, meaning, word, to, names));
    }
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

// Records as CSV: a header line, and a column for every number and name.

/// Prints records line by line.
pub(super) struct Printer {
    cells: Vec<Cell>,
    names: FlagNames,
    lines: Writer<Vec<u8>>,
}

impl Printer {
    pub(super) fn new(record: &RecordInfo, names: FlagNames) -> Result<Self> {
        let cells = Cell::all(record.fields);
        let mut lines = Writer::from_writer(Vec::new());
        lines.write_record(cells.iter().map(|cell| &cell.path)).map_err(unprinted_cells)?;
        Ok(Printer { cells, names, lines })
    }

    pub(super) fn print(&mut self, record: &[u8]) -> Result<()> {
        for cell in &self.cells {
            self.lines.write_field(cell.print(record, self.names).to_string()).map_err(unprinted_cells)?;
        }
        self.lines.write_record(None::<&[u8]>).map_err(unprinted_cells)
    }

    /// The number of printed bytes that were not taken yet.
    pub(super) fn size(&self) -> usize {
        self.lines.get_ref().len()
    }

    pub(super) fn take(&mut self) -> Result<Vec<u8>> {
        let lines = std::mem::replace(&mut self.lines, Writer::from_writer(Vec::new()));
        lines.into_inner().map_err(|error| Error::io("cannot print CSV", error.into_error()))
    }
}

fn unprinted_cells(error: ::csv::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot print CSV").with_source(error)
}

fn unread(what: &str, error: ::csv::Error) -> Error {
    let kind = if error.is_io_error() { ErrorKind::Io } else { ErrorKind::Argument };
    Error::new(kind, what).with_source(error)
}

/// Reads the records of a file.
pub(super) fn parse_csv(record: &RecordInfo, names: FlagNames, file: impl BufRead) -> Result<List> {
    let cells = Cell::all(record.fields);
    let mut lines = ReaderBuilder::new().flexible(true).from_reader(file);
    let heading = lines.headers().map_err(|error| unread("cannot read the header line", error))?.clone();
    let columns = columns(&cells, heading.iter()).map_err(|why| wrong_line(1, &why))?;
    let mut list = List { bytes: Vec::new(), lines: Vec::new() };
    let bytes = &mut list.bytes;
    for line in lines.records() {
        let line = line.map_err(|error| unread("cannot read a line", error))?;
        let number = line.position().and_then(|position| usize::try_from(position.line()).ok()).unwrap_or(0);
        if line.len() != columns.len() {
            let why = format!("it has {} columns, but the header has {}", line.len(), columns.len());
            return Err(wrong_line(number, &why));
        }
        list.lines.push(number);
        let start = bytes.len();
        bytes.resize(start + record.size, 0);
        for (cell, text) in columns.iter().zip(line.iter()) {
            let parsed = cell.parse(text, &mut bytes[start..], names);
            parsed.map_err(|why| wrong_line(number, &format!("field {}: {why}", cell.path)))?;
        }
    }
    Ok(list)
}

/// The cells in the order of the columns. Each must occur once.
fn columns<'c, 'h>(cells: &'c [Cell], heading: impl Iterator<Item = &'h str>) -> Result<Vec<&'c Cell>, String> {
    let mut missing: Vec<&Cell> = cells.iter().collect();
    let mut columns = Vec::new();
    for name in heading {
        let Some(at) = missing.iter().position(|cell| cell.path == name) else {
            let twice = cells.iter().any(|cell| cell.path == name);
            return Err(if twice {
                format!("the column {name} is given twice")
            } else {
                let paths: Vec<_> = cells.iter().map(|cell| &cell.path).collect();
                format!("there is no field {name}; {}", near::or_all(name, &paths, "the fields are"))
            });
        };
        columns.push(missing.remove(at));
    }
    match missing.first() {
        None => Ok(columns),
        Some(cell) => Err(format!("the column {} is missing", cell.path)),
    }
}

// Fields of many records as text: a value, its JSON, or rows of CSV.

/// A value as text: a number or a name as plain text, and a list, a struct or a whole record as JSON. `None` if the
/// path leads nowhere.
///
/// ```
/// use bspkit_text::records::value_text;
/// use bspkit::query::Query;
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
/// Query::parse("planes[0].normal[1]")?.each(&map, &[], |_, value| {
///     assert_eq!(value_text(value, &[]).as_deref(), Some("-0.0"));
///     Ok(true)
/// })?;
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn value_text(value: Value<'_>, names: FlagNames) -> Option<String> {
    match value {
        Value::Part { shape: shape @ (Shape::Number(_) | Shape::Name(_)), meaning, bytes } => {
            Some(record::print(shape, meaning, bytes, names).to_string())
        }
        Value::Part { .. } => Some(value_json(value, names)),
        Value::Name(name) => Some(escaped(name).to_string()),
        Value::Nowhere => None,
    }
}

/// A value as JSON; `null` if the path leads nowhere.
pub fn value_json(value: Value<'_>, names: FlagNames) -> String {
    let mut out = Vec::new();
    match value {
        Value::Part { shape, meaning, bytes } => print_value(&mut out, shape, meaning, bytes, names),
        // Writing to memory cannot fail.
        Value::Name(name) => serde_json::to_writer(&mut out, &escaped(name).to_string()).unwrap_or_default(),
        Value::Nowhere => out.extend_from_slice(b"null"),
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Rows of CSV: the index of the record, and a column for every number and name of the field.
///
/// ```
/// use bspkit_text::records::CsvRows;
/// use bspkit::query::Query;
/// let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
/// let query = Query::parse("planes[0].normal")?;
/// let mut rows = CsvRows::new(&query, &map, &[])?;
/// query.each(&map, &[], |index, value| rows.push(index, value).map(|()| true))?;
/// let text = String::from_utf8(rows.finish()?).unwrap();
/// assert!(text.starts_with("index,normal[0],normal[1],normal[2]\n0,"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct CsvRows {
    cells: Vec<Cell>,
    names: FlagNames,
    lines: Writer<Vec<u8>>,
}

impl CsvRows {
    /// Begins with the header line.
    ///
    /// # Errors
    /// As [`Query::find`].
    pub fn new(query: &Query, bsp: &Bsp<'_>, names: FlagNames) -> Result<Self> {
        let cells = query.cells(bsp, names)?;
        let mut lines = Writer::from_writer(Vec::new());
        let columns: Vec<&str> = match cells.is_empty() {
            true => vec![query.field()],
            false => cells.iter().map(|cell| &*cell.path).collect(),
        };
        lines.write_record([&["index"][..], &columns].concat()).map_err(unprinted_fields)?;
        Ok(CsvRows { cells, names, lines })
    }

    /// Adds the row of a record. All its columns are empty if the path leads nowhere.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be printed.
    pub fn push(&mut self, index: usize, value: Value<'_>) -> Result<()> {
        let mut row = vec![index.to_string()];
        match value {
            Value::Part { bytes, .. } => {
                row.extend(self.cells.iter().map(|cell| cell.print(bytes, self.names).to_string()));
            }
            Value::Name(name) => row.push(escaped(name).to_string()),
            Value::Nowhere => row.resize(1 + self.cells.len().max(1), String::new()),
        }
        self.lines.write_record(&row).map_err(unprinted_fields)
    }

    /// The text.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be printed.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.lines.into_inner().map_err(|error| Error::io("cannot print CSV", error.into_error()))
    }
}

fn unprinted_fields(error: ::csv::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot print CSV").with_source(error)
}
