//! Records as CSV: a header line, and a column for every number and name.

use std::io::BufRead;

use ::csv::{ReaderBuilder, Writer};

use super::{List, wrong_line};
use crate::near;
use crate::record::{Cell, FlagNames, RecordInfo};
use crate::{Error, ErrorKind, Result};

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
        lines.write_record(cells.iter().map(|cell| &cell.path)).map_err(unprinted)?;
        Ok(Printer { cells, names, lines })
    }

    pub(super) fn print(&mut self, record: &[u8]) -> Result<()> {
        for cell in &self.cells {
            self.lines.write_field(cell.print(record, self.names).to_string()).map_err(unprinted)?;
        }
        self.lines.write_record(None::<&[u8]>).map_err(unprinted)
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

fn unprinted(error: ::csv::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot print CSV").with_source(error)
}

fn unread(what: &str, error: ::csv::Error) -> Error {
    let kind = if error.is_io_error() { ErrorKind::Io } else { ErrorKind::Argument };
    Error::new(kind, what).with_source(error)
}

/// Reads the records of a file.
pub(super) fn parse(record: &RecordInfo, names: FlagNames, file: impl BufRead) -> Result<List> {
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
