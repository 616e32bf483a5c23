//! Records of a lump, in one array or in several lists.

use std::collections::{HashMap, HashSet};

use super::Found;
use super::change::{Change, FieldChange, How, RecordChange};
use crate::dialect::{Records, Row};
use crate::op::align::{Hunk, hunks};
use crate::op::diff::longest_rise;
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

/// Records with the same content at another index.
#[derive(Default)]
struct Moved {
    /// By the new index the old one.
    from: HashMap<usize, usize>,
    /// The old indices.
    gone: HashSet<usize>,
    /// The new indices of those that are in their order: records before them were added or removed.
    stays: HashSet<usize>,
}

impl Moved {
    /// How many records of a hunk are listed.
    fn listed(&self, hunk: &Hunk) -> usize {
        let both = hunk.old.len().min(hunk.new.len());
        let is_changed =
            |at: &usize| !self.gone.contains(&(hunk.old.start + at)) && !self.from.contains_key(&(hunk.new.start + at));
        let changed = (0..both).filter(is_changed).count();
        let removed = hunk.old.clone().filter(|index| !self.gone.contains(index)).count();
        let others = hunk.new.clone().filter(|index| !self.stays.contains(index)).count();
        removed + others - changed
    }
}

/// Finds the records that were moved: those that occur once among the old records that differ, and once among the new
/// ones. None if that would make the list of differences longer. A record of one number is not moved: it has another
/// value.
fn moved(old: &[u8], new: &[u8], record: &RecordInfo, hunks: &[Hunk]) -> Moved {
    let mut moved = Moved::default();
    if record.fields.len() < 2 || hunks.is_empty() {
        return moved;
    }
    let of = |bytes: &'_ [u8], index: usize| bytes[index * record.size..(index + 1) * record.size].to_vec();
    // The places of each content in both arrays, and how often it is there.
    let mut known: HashMap<Vec<u8>, [(usize, usize); 2]> = HashMap::new();
    for hunk in hunks {
        hunk.old.clone().for_each(|index| {
            let place = &mut known.entry(of(old, index)).or_default()[0];
            *place = (index, place.1 + 1);
        });
        hunk.new.clone().for_each(|index| {
            let place = &mut known.entry(of(new, index)).or_default()[1];
            *place = (index, place.1 + 1);
        });
    }
    moved.from =
        known.values().filter(|[old, new]| old.1 == 1 && new.1 == 1).map(|[old, new]| (new.0, old.0)).collect();
    if moved.from.is_empty() {
        return moved;
    }
    moved.gone = moved.from.values().copied().collect();
    let stays = longest_rise(&pairing(new.len() / record.size, hunks, &moved.from));
    moved.stays = moved.from.keys().copied().filter(|index| stays[*index]).collect();
    let by_index = hunks.iter().map(|hunk| hunk.old.len().max(hunk.new.len())).sum::<usize>();
    let listed = hunks.iter().map(|hunk| moved.listed(hunk)).sum::<usize>();
    if listed <= by_index { moved } else { Moved::default() }
}

/// For each new record the old one: between hunks all records are equal.
fn pairing(count: usize, hunks: &[Hunk], from: &HashMap<usize, usize>) -> Vec<Option<usize>> {
    let mut pairing = Vec::with_capacity(count);
    let mut old = 0;
    for hunk in hunks {
        pairing.extend((old..hunk.old.start).map(Some));
        pairing.extend(hunk.new.clone().map(|index| from.get(&index).copied()));
        old = hunk.old.end;
    }
    let rest = count - pairing.len();
    pairing.extend((old..old + rest).map(Some));
    pairing
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
        let [mut removed, mut added] = [Vec::new(), Vec::new()];
        for at in 0..both {
            let (from, index) = (hunk.old.start + at, hunk.new.start + at);
            if moved.gone.contains(&from) || moved.from.contains_key(&index) {
                removed.push(from);
                added.push(index);
                continue;
            }
            let (old, new) = (of(old, from), of(new, index));
            if old == new {
                continue;
            }
            let fields = if self.found.has_room() { self.fields(&old, &new) } else { Vec::new() };
            self.run(RecordChange { how: How::Changed, list, index, count: 1, from: None, fields });
        }
        removed.extend(hunk.old.start + both..hunk.old.end);
        added.extend(hunk.new.start + both..hunk.new.end);
        // Moved records are listed where they are now.
        let removed = removed.into_iter().filter(|index| !moved.gone.contains(index));
        let removed = removed.map(|index| (How::Removed, index, None));
        let added = added.into_iter().filter(|index| !moved.stays.contains(index));
        let added = added.map(|index| match moved.from.get(&index) {
            Some(from) => (How::Moved, index, Some(*from)),
            None => (How::Added, index, None),
        });
        let mut run: Option<RecordChange> = None;
        for (how, index, from) in removed.chain(added) {
            match run.as_mut().filter(|run| {
                let (next, next_from) = (run.index + run.count, run.from.map(|from| from + run.count));
                (run.how, next, next_from) == (how, index, from)
            }) {
                Some(run) => run.count += 1,
                None => {
                    let next = RecordChange { how, list, index, count: 1, from, fields: Vec::new() };
                    run.replace(next).into_iter().for_each(|run| self.run(run));
                }
            }
        }
        run.into_iter().for_each(|run| self.run(run));
    }

    /// Adds records to which the same happened.
    fn run(&mut self, change: RecordChange) {
        self.found.count(change.how, change.count, |touched| &mut touched.records);
        self.found.add(|| Change::Record(change));
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
