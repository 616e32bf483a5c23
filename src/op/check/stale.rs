//! References by index to records that left their index.
//!
//! Whoever adds or removes records in the middle of a lump leaves all references to later records as they were: they
//! stay in range, so no other check finds them, and name other records.

use std::collections::HashMap;

use super::lumps::{Lump, Lumps, View};
use crate::bsp::Bsp;
use crate::content::entities::Entities;
use crate::dialect::{Records, Role};
use crate::draft::Draft;
use crate::error::Result;
use crate::op::compare::{Hunk, hunks};
use crate::record::{Cell, Meaning, Shape};

/// The references of one field that an edit should have updated.
///
/// ```
/// use bspkit::op::check;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.slot("planes")?.id;
/// let mut draft = map.draft();
/// draft.set(planes, map.bytes(planes)?[20..].to_vec())?; // without the first plane
/// let stale: Vec<check::Stale> = check::stale(&draft)?;
/// let faces = stale.iter().find(|stale| stale.lump == "FACES").unwrap();
/// assert_eq!((faces.field.as_str(), faces.target.as_str()), ("plane", "PLANES"));
/// assert!(faces.moved > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stale {
    /// The lump with the references.
    pub lump: String,
    /// The field that has them.
    pub field: String,
    /// The lump whose records were added or removed.
    pub target: String,
    /// How many references name another record than before.
    pub moved: usize,
    /// How many name a record that is not there any more.
    pub missing: usize,
}

impl std::fmt::Display for Stale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stale { lump, field, target, moved, missing } = self;
        write!(f, "{lump}.{field}: ")?;
        let s = |count: usize| if count == 1 { ("reference", "names") } else { ("references", "name") };
        let ((noun, verb), (other_noun, other_verb)) = (s(*moved), s(*missing));
        match (moved, missing) {
            (_, 0) => write!(f, "{moved} {noun} {verb} another record of {target} than before"),
            (0, _) => write!(f, "{missing} {other_noun} {other_verb} a record that {target} no longer has"),
            _ => write!(
                f,
                "{moved} {noun} {verb} another record of {target} than before, {missing} {other_verb} one that is gone"
            ),
        }
    }
}

/// The references by index that name other records after the edits of a draft, or none, because records were added to
/// a lump or removed from it. References that the draft changes are not listed.
///
/// # Errors
/// Those of an open lens that cannot be written.
pub fn stale(draft: &Draft<'_>) -> Result<Vec<Stale>> {
    let old = draft.bsp();
    let Some(new) = draft.view()? else { return Ok(Vec::new()) };
    let is_resized =
        |id| new.container().is_pending(id) && old.bytes(id).is_ok_and(|old| Ok(old.len()) != size(&new, id));
    if !old.slots().iter().any(|slot| is_resized(slot.id)) {
        return Ok(Vec::new());
    }
    let (old, new) = (Lumps::read(old, |_| true), Lumps::read(&new, |_| true));
    let targets = new.all.iter().filter(|lump| is_resized(lump.slot.id) && !draft.has_followed(lump.name));
    let targets: HashMap<&str, Target<'_>> =
        targets.filter_map(|new| Some((new.name, Target::of(old.lump(new.name)?, new)?))).collect();
    let mut search = Search { lumps: &new, targets, found: Vec::new() };
    if !search.targets.is_empty() {
        for lump in &new.all {
            if let Some(before) = old.lump(lump.name) {
                search.lump(before, lump);
            }
        }
        search.entities();
    }
    Ok(search.found)
}

fn size(bsp: &Bsp<'_>, id: crate::SlotId) -> Result<usize, ()> {
    bsp.bytes(id).map(|bytes| bytes.len()).map_err(drop)
}

/// Records to which others refer, before and after.
struct Target<'l> {
    name: &'l str,
    /// For each old index, up to and without it: how many records left their index.
    displaced: Vec<usize>,
    /// How many records there are now.
    len: usize,
}

impl<'l> Target<'l> {
    /// `None` if it has as many records as before, or other ones.
    fn of(old: &'l Lump<'_>, new: &'l Lump<'_>) -> Option<Self> {
        let (before, after) = (View::of(old)?, View::of(new)?);
        if (before.record.type_id)() != (after.record.type_id)() || before.len() == after.len() {
            return None;
        }
        let size = after.record.size;
        let record = |view: &View<'l>, index: usize| view.bytes.get(index * size..(index + 1) * size);
        let mut displaced = Vec::with_capacity(before.len() + 1);
        displaced.push(0);
        let mut total = 0;
        let places = new_places(&hunks(before.bytes, after.bytes, size), before.len());
        for (index, place) in places.into_iter().enumerate() {
            // An equal record at the same index is as good.
            let is_there = place == Some(index) || record(&before, index) == record(&after, index);
            total += usize::from(!is_there);
            displaced.push(total);
        }
        Some(Target { name: new.name, displaced, len: after.len() })
    }

    /// Whether one of these records is not at its index any more, and whether it names one that is not there at all.
    fn is_stale(&self, first: i64, count: i64) -> Option<bool> {
        let first = usize::try_from(first).ok()?;
        let end = first.checked_add(usize::try_from(count).ok()?)?;
        let displaced = self.displaced.get(end)? - self.displaced.get(first)?;
        (displaced > 0).then_some(end > self.len)
    }
}

/// For each old record its new index, if it is still there.
fn new_places(hunks: &[Hunk], len: usize) -> Vec<Option<usize>> {
    let mut places = Vec::with_capacity(len);
    let mut new = 0;
    for hunk in hunks {
        let equal = hunk.old.start - places.len();
        places.extend((0..equal).map(|at| Some(new + at)));
        places.extend(
            hunk.old.clone().enumerate().map(|(at, _)| Some(hunk.new.start + at).filter(|at| *at < hunk.new.end)),
        );
        new = hunk.new.end;
    }
    let equal = len - places.len();
    places.extend((0..equal).map(|at| Some(new + at)));
    places
}

/// How the numbers of a field refer to records.
enum Reading<'c> {
    /// The index of a record, unless it is one of these.
    Index(&'static [i64]),
    /// The first of several records, whose number is in another field.
    Run(&'c Cell),
    /// A node, if it is not negative.
    Node,
    /// A leaf, if it is negative.
    Leaf,
    /// An edge, in one of two directions.
    Edge,
}

impl Reading<'_> {
    /// The first record and the number of records that a number names.
    fn named(&self, value: i64, count: i64) -> Option<(i64, i64)> {
        match self {
            Reading::Index(none) => (!none.contains(&value)).then_some((value, 1)),
            Reading::Run(_) => (count > 0).then_some((value, count)),
            Reading::Node => (value >= 0).then_some((value, 1)),
            Reading::Leaf => (value < 0).then_some((-1 - value, 1)),
            Reading::Edge => Some((value.checked_abs()?, 1)),
        }
    }
}

/// The records of one list, before and after.
struct Sides<'b> {
    old: &'b [u8],
    new: &'b [u8],
    size: usize,
    /// The old index of each new record.
    from: Vec<Option<usize>>,
}

impl Sides<'_> {
    /// The number of a cell in a new record; `None` if it is another one than before, or the record is new.
    fn kept(&self, cell: &Cell, record: usize) -> Option<i64> {
        let Shape::Number(number) = cell.shape else { return None };
        let get = |bytes: &[u8], record: usize| number.integer(bytes.get(record * self.size + cell.place.start..)?);
        let (new, from) = (get(self.new, record)?, self.from.get(record).copied().flatten()?);
        (get(self.old, from) == Some(new)).then_some(new)
    }
}

struct Search<'s, 'l> {
    lumps: &'s Lumps<'l>,
    targets: HashMap<&'s str, Target<'s>>,
    found: Vec<Stale>,
}

impl Search<'_, '_> {
    fn lump(&mut self, old: &Lump<'_>, new: &Lump<'_>) {
        let is_alike = |(old, new): &(&Records, &Records)| (old.record.type_id)() == (new.record.type_id)();
        for (before, part) in old.parts.iter().zip(&new.parts).filter(is_alike) {
            let cells = Cell::all(part.record.fields);
            let referring: Vec<_> = cells.iter().filter(|cell| !self.readings(cell, &cells).is_empty()).collect();
            if referring.is_empty() {
                continue;
            }
            let (old, size) = (bytes(old, before), part.record.size);
            let from = new_places(&hunks(bytes(new, part), old, size), part.count());
            let sides = Sides { old, new: bytes(new, part), size, from };
            for cell in referring {
                self.cell(new, part, cell, &cells, &sides);
            }
        }
    }

    fn cell(&mut self, lump: &Lump<'_>, part: &Records, cell: &Cell, cells: &[Cell], sides: &Sides<'_>) {
        let mut found = Vec::new();
        for (target, reading) in self.readings(cell, cells) {
            let (mut moved, mut missing) = (0, 0);
            for record in 0..part.count() {
                let Some(value) = sides.kept(cell, record) else { continue };
                let count = match &reading {
                    Reading::Run(count) => sides.kept(count, record).unwrap_or(0),
                    _ => 1,
                };
                match reading.named(value, count).and_then(|(first, count)| target.is_stale(first, count)) {
                    Some(true) => missing += 1,
                    Some(false) => moved += 1,
                    None => {}
                }
            }
            if moved + missing > 0 {
                let dot = if part.list.is_empty() { "" } else { "." };
                let name = format!("{}{dot}{}", lump.name, part.list);
                found.push(Stale {
                    lump: name,
                    field: cell.path.clone(),
                    target: target.name.to_owned(),
                    moved,
                    missing,
                });
            }
        }
        self.found.extend(found);
    }

    /// The lumps with other records to which the numbers of a cell refer.
    fn readings<'c>(&self, cell: &Cell, cells: &'c [Cell]) -> Vec<(&Target<'_>, Reading<'c>)> {
        let named = |name: &str| self.targets.get(self.lumps.referred(name)?.name);
        let role = |role: Role| self.targets.get(self.lumps.role_lump(role)?.name);
        let list = match cell.meaning {
            Meaning::Index { lump, none } => vec![(named(lump), Reading::Index(none))],
            Meaning::Run { lump, count, .. } => match cells.iter().find(|cell| cell.path == count.field) {
                Some(count) => vec![(named(lump), Reading::Run(count))],
                None => Vec::new(),
            },
            Meaning::Child => vec![(role(Role::Nodes), Reading::Node), (role(Role::Leafs), Reading::Leaf)],
            Meaning::Signed { lump } => vec![(named(lump), Reading::Edge)],
            Meaning::Branch { lump } | Meaning::Next { lump } => vec![(named(lump), Reading::Node)],
            _ => Vec::new(),
        };
        list.into_iter().filter_map(|(target, reading)| Some((target?, reading))).collect()
    }

    /// `"model" "*12"` of entities names a model.
    fn entities(&mut self) {
        let target = self.lumps.role_lump(Role::Models).and_then(|models| self.targets.get(models.name));
        let (Some(target), Some(lump)) = (target, self.lumps.role_lump(Role::Entities)) else { return };
        let Ok(entities) = Entities::parse(lump.bytes.clone(), self.lumps.bsp.entity_rules()) else { return };
        let (mut moved, mut missing) = (0, 0);
        for value in entities.iter().filter_map(|entity| entity.get("model")) {
            let number = value.strip_prefix(b"*").and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
            match number.and_then(|model| target.is_stale(model, 1)) {
                Some(true) => missing += 1,
                Some(false) => moved += 1,
                None => {}
            }
        }
        if moved + missing > 0 {
            let (target, field) = (target.name.to_owned(), "model".to_owned());
            self.found.push(Stale { lump: lump.name.to_owned(), field, target, moved, missing });
        }
    }
}

/// The bytes of the records of a list.
fn bytes<'b>(lump: &'b Lump<'_>, part: &Records) -> &'b [u8] {
    lump.bytes.get(part.range.start..part.range.start + part.count() * part.record.size).unwrap_or_default()
}
