//! Tables for other programs, one row after the other, as CSV or as lines of JSON: what databases and data frames read.
//!
//! ```
//! use bspkit_text::rows::{Format, Table};
//! for (format, text) in [
//!     (Format::Csv, "class,count\nlight,3\n"),
//!     (Format::JsonLines, "{\"class\":\"light\",\"count\":3}\n"),
//! ] {
//!     let mut table = Table::new(format, &["class", "count"]);
//!     table.header()?;
//!     table.row(&[b"light".as_slice().into(), 3.into()])?;
//!     assert_eq!(table.into_bytes()?, text.as_bytes());
//! }
//! # Ok::<(), bspkit::Error>(())
//! ```

use bspkit::bytes::escaped;
use bspkit::{Error, ErrorKind, Result};
use serde_json::Value;

/// The format of a table.
///
/// ```
/// use bspkit_text::rows::{Format, Table};
/// let mut table = Table::new(Format::Csv, &["key", "value"]);
/// table.row(&[b"message".as_slice().into(), b"a \"quote\"".as_slice().into()])?;
/// assert_eq!(table.into_bytes()?, b"message,\"a \"\"quote\"\"\"\n");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values as RFC 4180 has them; the first line has the names of the columns.
    Csv,
    /// An object of JSON in each line.
    JsonLines,
}

/// The value of a column.
///
/// ```
/// use bspkit_text::rows::Cell;
/// assert_eq!(Cell::from(3), Cell::Number(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'c> {
    /// Text; bytes that are not UTF-8 are written as `\xNN`.
    Text(&'c [u8]),
    /// A number.
    Number(u64),
}

impl<'c> From<&'c [u8]> for Cell<'c> {
    fn from(text: &'c [u8]) -> Self {
        Cell::Text(text)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Number(number)
    }
}

impl Cell<'_> {
    fn text(self) -> String {
        match self {
            // Escapes only where they are needed: a program that reads the table knows nothing of them.
            Cell::Text(text) => std::str::from_utf8(text).map_or_else(|_| escaped(text).to_string(), str::to_owned),
            Cell::Number(number) => number.to_string(),
        }
    }
}

/// Rows of a table, in memory.
///
/// ```
/// use bspkit_text::rows::{Format, Table};
/// assert!(Table::new(Format::Csv, &["key"]).into_bytes()?.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct Table {
    columns: &'static [&'static str],
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Csv(Box<csv::Writer<Vec<u8>>>),
    JsonLines(Vec<u8>),
}

impl Table {
    /// A table without rows.
    pub fn new(format: Format, columns: &'static [&'static str]) -> Self {
        let rows = match format {
            Format::Csv => Rows::Csv(Box::new(csv::Writer::from_writer(Vec::new()))),
            Format::JsonLines => Rows::JsonLines(Vec::new()),
        };
        Table { columns, rows }
    }

    /// Adds the names of the columns, where the format has such a line.
    ///
    /// # Errors
    /// None that can come.
    pub fn header(&mut self) -> Result<()> {
        match &mut self.rows {
            Rows::Csv(writer) => writer.write_record(self.columns).map_err(cannot),
            Rows::JsonLines(_) => Ok(()),
        }
    }

    /// Adds a row, with a cell for each column.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`]: there are fewer cells than columns, or more.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        if cells.len() != self.columns.len() {
            let message = format!("{} cells do not fit {} columns", cells.len(), self.columns.len());
            return Err(Error::new(ErrorKind::Argument, message));
        }
        match &mut self.rows {
            Rows::Csv(writer) => writer.write_record(cells.iter().map(|cell| cell.text())).map_err(cannot),
            Rows::JsonLines(out) => {
                let value = |cell: &Cell<'_>| match cell {
                    Cell::Text(_) => Value::String(cell.text()),
                    Cell::Number(number) => Value::from(*number),
                };
                let members = self.columns.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), value(cell)));
                out.extend(Value::Object(members.collect()).to_string().into_bytes());
                out.push(b'\n');
                Ok(())
            }
        }
    }

    /// The text.
    ///
    /// # Errors
    /// None that can come.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        match self.rows {
            Rows::Csv(writer) => writer.into_inner().map_err(|error| cannot(error.into_error().into())),
            Rows::JsonLines(out) => Ok(out),
        }
    }
}

fn cannot(error: csv::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot write a row").with_source(error)
}
