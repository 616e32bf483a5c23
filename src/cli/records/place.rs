//! `LUMP[INDEX].FIELD` and `LUMP[INDEX].FIELD=VALUE`.

use anyhow::Result;
use bspkit::record::{Part, Shape};
use bspkit::{Bsp, Error, ErrorKind};

use super::Content;

/// A record of a lump, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace {
    pub(crate) lump: String,
    pub(crate) index: usize,
    /// The path of the part; empty for the whole record.
    pub(crate) field: String,
}

/// A part of a record and the value that it shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) place: RecordPlace,
    pub(crate) value: String,
}

impl RecordPlace {
    /// Reads `LUMP[INDEX]` or `LUMP[INDEX].FIELD`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no place: say LUMP[INDEX].FIELD, like planes[0].normal[2]");
        let (lump, rest) = text.split_once('[').ok_or_else(wrong)?;
        let (index, rest) = rest.split_once(']').ok_or_else(wrong)?;
        let field = if rest.is_empty() {
            ""
        } else {
            rest.strip_prefix('.').filter(|field| !field.is_empty()).ok_or_else(wrong)?
        };
        let index = index.parse().map_err(|_| format!("`{index}` is no index of a record, which is counted from 0"))?;
        Ok(RecordPlace { lump: lump.to_owned(), index, field: field.to_owned() })
    }

    /// Finds it in a map.
    pub(crate) fn find<'a>(&self, bsp: &Bsp<'a>) -> Result<Found<'a>> {
        let content = Content::find(bsp, &self.lump)?;
        let records = content.one()?;
        let (record, count) = (records.record, records.count());
        let name = match records.list {
            "" => content.name.clone(),
            list => format!("{}.{list}", content.name),
        };
        if self.index >= count {
            let there = match count.checked_sub(1) {
                None => "no records".to_owned(),
                Some(last) => format!("the records 0 to {last}"),
            };
            let message = format!("{name} has {there}, and none with the index {}", self.index);
            return Err(Error::new(ErrorKind::NotFound, message).into());
        }
        let start = records.range.start + self.index * record.size;
        let part = Part::find(record.fields, &self.field);
        let part = part.map_err(|why| Error::new(ErrorKind::NotFound, format!("{}: {why}", content.name)))?;
        Ok(Found { content, start, part })
    }
}

/// Where a part of a record stands in its lump.
pub(crate) struct Found<'a> {
    pub(crate) content: Content<'a>,
    /// Where the record begins.
    pub(crate) start: usize,
    pub(crate) part: Part,
}

impl Found<'_> {
    /// The part's place in the lump's bytes.
    pub(crate) fn place(&self) -> std::ops::Range<usize> {
        let start = self.start + self.part.offset;
        start..start + self.part.shape.size()
    }

    /// Whether it is one number or name.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.part.shape, Shape::Number(_) | Shape::Name(_))
    }
}

impl Assignment {
    /// Reads `LUMP[INDEX].FIELD=VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (place, value) = text.split_once('=').ok_or_else(|| format!("there is no `=` in `{text}`"))?;
        Ok(Assignment { place: RecordPlace::parse(place)?, value: value.to_owned() })
    }
}
