//! Numbers of records by the names of their fields.

use bspkit::{Bsp, Column, Records};

/// Some floats of a record.
pub(crate) fn floats<const N: usize>(column: &Column<'_>, record: usize, first: usize) -> [f32; N] {
    std::array::from_fn(|item| column.float(record, first + item))
}

/// A number of a record as an index; `None` if it is negative.
pub(crate) fn index(column: &Column<'_>, record: usize) -> Option<usize> {
    usize::try_from(column.get(record)).ok()
}

/// The index of a record that must be there.
pub(crate) fn below(column: &Column<'_>, record: usize, len: usize) -> Option<usize> {
    index(column, record).filter(|index| *index < len)
}

/// One column, if the records have such a field.
pub(crate) fn optional<'r>(records: &'r Records<'_>, field: &str) -> Option<Column<'r>> {
    records.columns([field]).ok().map(|[column]| column)
}

/// The records of a lump that a map may not have.
pub(crate) fn records<'a>(map: &Bsp<'a>, lump: &str) -> Option<Records<'a>> {
    map.records(lump).ok().filter(|records| !records.is_empty())
}

/// The bits of a number that may be negative.
pub(crate) fn bits(number: i64) -> u32 {
    i32::try_from(number).map_or_else(|_| u32::try_from(number).unwrap_or(0), i32::cast_unsigned)
}

/// A range of records that exists.
pub(crate) fn range(first: i64, count: i64, len: usize) -> Option<std::ops::Range<usize>> {
    let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
    Some(first..first.checked_add(count).filter(|end| *end <= len)?)
}
