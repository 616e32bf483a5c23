//! Records of a lump, in one array or in several lists.

use std::collections::HashMap;

use super::Found;
use super::align::{Hunk, hunks};
use super::change::{Change, FieldChange, How, RecordChange};
use crate::dialect::{Records, Row};
use crate::record::{Cell, FlagNames, RecordInfo};

pub(super) fn compare(row: &Row, [old, new]: [&[u8]; 2], names: FlagNames, finds_moved: bool, found: &mut Found) {
    let (Ok(old_parts), Ok(new_parts)) = (row.parts(old), row.parts(new)) else { return };
    // An empty lump does not have lists.
    let known = if old_parts.len() < new_parts.len() { &new_parts } else { &old_parts };
    for (at, part) in known.iter().enumerate() {
        let (old, new) = (records(old, old_parts.get(at)), records(new, new_parts.get(at)));
        let mut list = List { name: part.list, record: part.record, cells: Vec::new(), names, found };
        let hunks = hunks(old, new, part.record.size);
        let moved = if finds_moved { moved(old, new, part.record, &hunks) } else { Moved::default() };
        hunks.iter().for_each(|hunk| list.add(old, new, hunk, &moved));
    }
}

/// Records that are at another index: by the new index the old one, and the other way round.
#[derive(Default)]
struct Moved {
    from: HashMap<usize, usize>,
    to: HashMap<usize, usize>,
}

/// Finds the records that were moved: those that occur once among the old records that differ, and once among the new
/// ones. A record of one number is not moved: it has another value.
fn moved(old: &[u8], new: &[u8], record: &RecordInfo, hunks: &[Hunk]) -> Moved {
    let mut moved = Moved::default();
    let has_parts = record.fields.len() > 1 && record.size > 4;
    if !has_parts || hunks.is_empty() {
        return moved;
    }
    let of = |bytes: &[u8], index: usize| bytes.get(index * record.size..(index + 1) * record.size).map(<[u8]>::to_vec);
    let mut known: HashMap<Vec<u8>, [Option<usize>; 2]> = HashMap::new();
    let mut twice: HashMap<Vec<u8>, ()> = HashMap::new();
    for (side, bytes) in [old, new].into_iter().enumerate() {
        let indices = hunks.iter().flat_map(|hunk| if side == 0 { hunk.old.clone() } else { hunk.new.clone() });
        for (index, content) in indices.filter_map(|index| Some((index, of(bytes, index)?))) {
            let places = known.entry(content.clone()).or_default();
            if places[side].replace(index).is_some() {
                twice.insert(content, ());
            }
        }
    }
    let once = known.iter().filter(|(content, _)| !twice.contains_key(*content));
    for (from, to) in once.filter_map(|(_, [old, new])| Some(((*old)?, (*new)?))) {
        moved.from.insert(to, from);
        moved.to.insert(from, to);
    }
    moved
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
    fn add(&mut self, old: &[u8], new: &[u8], hunk: &Hunk, moved: &Moved) {
        let (size, list) = (self.record.size, self.name);
        let of = |bytes: &[u8], index: usize| bytes[index * size..(index + 1) * size].to_vec();
        let both = hunk.old.len().min(hunk.new.len());
        let mut others = Vec::new();
        for at in 0..both {
            let (from, index) = (hunk.old.start + at, hunk.new.start + at);
            if moved.to.contains_key(&from) || moved.from.contains_key(&index) {
                others.push((How::Removed, from));
                others.push((How::Added, index));
                continue;
            }
            let (old, new) = (of(old, from), of(new, index));
            if old == new {
                continue;
            }
            self.found.touched().records += 1;
            let fields = if self.found.has_room() { self.fields(&old, &new) } else { Vec::new() };
            self.found.add(|| Change::Record(RecordChange { how: How::Changed, list, index, from: None, fields }));
        }
        let removed = (hunk.old.start + both..hunk.old.end).map(|index| (How::Removed, index));
        let added = (hunk.new.start + both..hunk.new.end).map(|index| (How::Added, index));
        for (how, index) in others.into_iter().chain(removed).chain(added) {
            let (how, from) = match how {
                // It is listed where it is now.
                How::Removed if moved.to.contains_key(&index) => continue,
                How::Added if moved.from.get(&index) == Some(&index) => continue,
                How::Added if moved.from.contains_key(&index) => (How::Moved, moved.from.get(&index).copied()),
                how => (how, None),
            };
            self.found.touched().records += 1;
            self.found.add(|| Change::Record(RecordChange { how, list, index, from, fields: Vec::new() }));
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
