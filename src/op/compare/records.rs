//! Records of a lump, in one array or in several lists.

use super::Found;
use super::align::{Hunk, hunks};
use super::change::{Change, FieldChange, How, RecordChange};
use crate::dialect::{Records, Row};
use crate::record::{Cell, FlagNames, RecordInfo};

pub(super) fn compare(row: &Row, [old, new]: [&[u8]; 2], names: FlagNames, found: &mut Found) {
    let (Ok(old_parts), Ok(new_parts)) = (row.parts(old), row.parts(new)) else { return };
    // An empty lump does not have lists.
    let known = if old_parts.len() < new_parts.len() { &new_parts } else { &old_parts };
    for (at, part) in known.iter().enumerate() {
        let (old, new) = (records(old, old_parts.get(at)), records(new, new_parts.get(at)));
        let mut list = List { name: part.list, record: part.record, cells: Vec::new(), names, found };
        for hunk in hunks(old, new, part.record.size) {
            list.add(old, new, &hunk);
        }
    }
}

/// The bytes of whole records.
fn records<'b>(bytes: &'b [u8], part: Option<&Records>) -> &'b [u8] {
    part.and_then(|part| bytes.get(part.range.start..part.range.start + part.count() * part.record.size))
        .unwrap_or_default()
}

struct List<'f> {
    name: &'static str,
    record: &'static RecordInfo,
    /// The parts of a record; found when the first one differs.
    cells: Vec<Cell>,
    names: FlagNames,
    found: &'f mut Found,
}

impl List<'_> {
    fn add(&mut self, old: &[u8], new: &[u8], hunk: &Hunk) {
        let (size, list) = (self.record.size, self.name);
        let of = |bytes: &[u8], index: usize| bytes[index * size..(index + 1) * size].to_vec();
        let both = hunk.old.len().min(hunk.new.len());
        for at in 0..both {
            let (from, index) = (hunk.old.start + at, hunk.new.start + at);
            let (old, new) = (of(old, from), of(new, index));
            if old == new {
                continue;
            }
            self.found.touched().records += 1;
            let fields = if self.found.has_room() { self.fields(&old, &new) } else { Vec::new() };
            self.found.add(|| Change::Record(RecordChange { how: How::Changed, list, index, fields }));
        }
        let removed = (hunk.old.start + both..hunk.old.end).map(|index| (How::Removed, index));
        let added = (hunk.new.start + both..hunk.new.end).map(|index| (How::Added, index));
        for (how, index) in removed.chain(added) {
            self.found.touched().records += 1;
            self.found.add(|| Change::Record(RecordChange { how, list, index, fields: Vec::new() }));
        }
    }

    /// The fields in which two records differ.
    fn fields(&mut self, old: &[u8], new: &[u8]) -> Vec<FieldChange> {
        if self.cells.is_empty() {
            self.cells = Cell::all(self.record.fields);
        }
        let differs = |cell: &&Cell| old.get(cell.place.clone()) != new.get(cell.place.clone());
        let change = |cell: &Cell| {
            let [old, new] = [old, new].map(|record| cell.print(record, self.names));
            FieldChange { field: cell.path.clone(), old, new }
        };
        self.cells.iter().filter(differs).map(change).collect()
    }
}
