//! Fields of many records as text: a value, its JSON, or rows of CSV.

use ::csv::Writer;

use super::json::print_value;
use crate::bytes::escaped;
use crate::op::query::{Query, Value};
use crate::record::{self, Cell, FlagNames, Shape};
use crate::{Bsp, Error, ErrorKind, Result};

/// A value as text: a number or a name as plain text, and a list, a struct or a whole record as JSON. `None` if the
/// path leads nowhere.
///
/// ```
/// use bspkit::face::records::value_text;
/// use bspkit::op::query::Query;
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
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
/// use bspkit::face::records::CsvRows;
/// use bspkit::op::query::Query;
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
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
        lines.write_record([&["index"][..], &columns].concat()).map_err(unprinted)?;
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
        self.lines.write_record(&row).map_err(unprinted)
    }

    /// The text.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be printed.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.lines.into_inner().map_err(|error| Error::io("cannot print CSV", error.into_error()))
    }
}

fn unprinted(error: ::csv::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot print CSV").with_source(error)
}
