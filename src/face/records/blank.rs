//! Records by the name of their type, for `build`, which has no map to detect them from.

use crate::bytes::Data;
use crate::dialect::{Counted, Dialect, Form, Row};
use crate::record::RecordInfo;
use crate::{Bsp, Error, ErrorKind, Slot, SlotId};

use super::Lump;

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
    let types = |row| records(row).iter().map(|record| (record.type_id)()).collect::<Vec<_>>();
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
