//! Records that arguments name: `brushes[7]`, `faces[10..20]`.

use std::ops::Range;

use anyhow::Result;
use bspkit::{Error, ErrorKind};

/// A lump, or a list in it, and a range of records.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) list: String,
    pub(crate) range: Range<usize>,
}

impl std::str::FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not LUMP[INDEX] or LUMP[START..END]");
        let (list, range) = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')).ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let range = match range.split_once("..") {
            Some((start, end)) => number(start)?..number(end)?,
            None => {
                let index = number(range)?;
                index..index.checked_add(1).ok_or_else(wrong)?
            }
        };
        if list.is_empty() || range.end < range.start {
            return Err(wrong());
        }
        Ok(Target { list: list.to_owned(), range })
    }
}

impl Target {
    /// The error for a range that the lump does not have.
    pub(super) fn outside(&self, len: usize) -> anyhow::Error {
        let Range { start, end } = self.range;
        let message = format!("{} has {len} records, and no range {start}..{end}", self.list);
        Error::new(ErrorKind::Argument, message).into()
    }
}
