//! Whole maps: their lumps, the places of lumps, and everything in the files around lumps.

use super::change::{Change, How, WordChange};
use super::kind::Kind;
use super::outside;
use super::{Comparison, Found, Sides, bytes, is_same_form, kind, pairs};
use crate::bsp::Bsp;
use crate::dialect::Form;
use crate::file::Slot;

/// The two files that were compared.
///
/// ```
/// use bspkit::op::compare;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let files = compare::whole(&map, &map, 10).files.unwrap();
/// assert!(files.is_equal && files.dialects == ("quake2", "quake2") && files.versions == (38, 38));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Files {
    /// Whether all bytes are equal.
    pub is_equal: bool,
    /// Their sizes in bytes.
    pub sizes: (usize, usize),
    /// The short names of their dialects.
    pub dialects: (&'static str, &'static str),
    /// Their version numbers.
    pub versions: (i32, i32),
    /// The lumps of maps of two dialects that cannot be compared, since their content is not of the same form.
    pub skipped: Vec<String>,
}

/// Everything in which two map files differ. At most `most` differences of each lump are listed. Files that differ in
/// any byte never give an empty list.
///
/// Of maps of two dialects only lumps with content of the same form are compared: entities, embedded files, and lumps
/// of the same name and struct. [`Files::skipped`] names the others.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit::op::compare::{self, Kind};
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let packed = Bsp::from_vec(map.draft().plan(Layout::Repack)?.to_vec())?;
/// assert!(compare::maps(&map, &packed, 10)?.lumps.is_empty());
/// let found = compare::whole(&map, &packed, 10);
/// assert!(found.touched().is_empty() && found.moved() > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn whole(old: &Bsp<'_>, new: &Bsp<'_>, most: usize) -> Comparison {
    compare(old, new, most, None)
}

/// As [`whole`], of some lumps and parts only: `wanted` is given the kind and the name of each lump.
///
/// ```
/// use bspkit::op::compare::{self, Kind};
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let box_map = bspkit::Bsp::open("tests/maps/q2/own_box.bsp")?;
/// let found = compare::chosen(&map, &box_map, 10, &|kind, _| kind == Kind::Entities);
/// assert!(found.lumps.len() == 1 && found.lumps[0].lump == "ENTITIES");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn chosen(old: &Bsp<'_>, new: &Bsp<'_>, most: usize, wanted: &dyn Fn(Kind, &str) -> bool) -> Comparison {
    compare(old, new, most, Some(wanted))
}

/// Which lumps are wanted, by kind and name; `None` for all.
type Wanted<'w> = Option<&'w dyn Fn(Kind, &str) -> bool>;

fn compare(old: &Bsp<'_>, new: &Bsp<'_>, most: usize, wanted: Wanted<'_>) -> Comparison {
    let [old_bytes, new_bytes] = [old.container().bytes(), new.container().bytes()];
    let is_same_dialect = old.dialect() == new.dialect();
    let mut files = Files {
        is_equal: old_bytes == new_bytes,
        sizes: (old_bytes.len(), new_bytes.len()),
        dialects: (old.dialect().name, new.dialect().name),
        versions: (old.version(), new.version()),
        skipped: Vec::new(),
    };
    let mut lumps = Vec::new();
    if files.is_equal && is_same_dialect {
        return Comparison { lumps, files: Some(files) };
    }
    let sides = Sides { is_whole: true, ..Sides::new(old, new) };
    let is_wanted = |kind, name: &str| wanted.is_none_or(|wanted| wanted(kind, name));
    for (old_slot, new_slot) in if is_same_dialect { pairs(old, new) } else { by_content(old, new) } {
        let found = match (old_slot, new_slot) {
            (Some(old_slot), Some(new_slot)) => {
                let is_wanted = is_wanted(kind(old, old_slot), &old_slot.name);
                both(&sides, [old_slot, new_slot], most, is_wanted)
            }
            (Some(slot), None) if is_same_dialect => Found::whole(old, slot, How::Removed),
            (None, Some(slot)) if is_same_dialect => Found::whole(new, slot, How::Added),
            (Some(slot), None) | (None, Some(slot)) => {
                files.skipped.extend((!slot.stored.is_empty()).then(|| slot.name.clone()));
                continue;
            }
            (None, None) => continue,
        };
        lumps.push(found.lump);
    }
    if is_same_dialect {
        let is_moved = lumps.iter().any(|lump| lump.sizes.0 != lump.sizes.1 || !lump.changes.is_empty());
        lumps.extend(outside::compare(old, new, is_moved, most).into_iter().map(|found| found.lump));
    }
    for lump in &mut lumps {
        let (keeps_content, keeps_place) = (is_wanted(lump.kind, &lump.lump), is_wanted(Kind::Places, &lump.lump));
        lump.changes.retain(|change| match change {
            Change::Place(..) => keeps_place,
            // That of an empty lump.
            Change::Word(word) if word.name == "offset" => keeps_place,
            _ => keeps_content,
        });
        if !keeps_content {
            (lump.touched, lump.hows, lump.more) = Default::default();
        }
    }
    lumps.retain(|lump| !lump.changes.is_empty() || lump.more > 0);
    if lumps.is_empty() && wanted.is_none() && is_same_dialect {
        // Bytes that no rule above looks at: nothing may go unnamed.
        let mut found = Found::part("file", Kind::Gaps, files.sizes, most);
        bytes::compare(&[old_bytes.into(), new_bytes.into()], &mut found);
        lumps.push(found.lump);
    }
    Comparison { lumps, files: Some(files) }
}

/// What differs between two slots, with their places and the words of their entries.
fn both(sides: &Sides<'_>, [old, new]: [&Slot; 2], most: usize, is_wanted: bool) -> Found {
    let mut found = Found::new(sides.old, old, most);
    if is_wanted {
        sides.slots(old, new, &mut found);
        let is_packed = sides.old.decompressed_size(old.id).is_some();
        // The same content, compressed in another way.
        if found.is_empty() && is_packed && *sides.old.stored(old.id) != *sides.new.stored(new.id) {
            found.lump.changes.push(Change::Lump(How::Rewritten));
        }
    }
    if sides.old.dialect() == sides.new.dialect() {
        words(sides, [old, new], &mut found);
    }
    found
}

/// The place of a lump, and the words of its entry that say nothing else of what differs.
fn words(sides: &Sides<'_>, [old, new]: [&Slot; 2], found: &mut Found) {
    let mut word = |name: &'static str, old: i64, new: i64, is_implied: bool| {
        if old != new && !is_implied {
            found.lump.changes.push(Change::Word(WordChange { name, old, new }));
        }
    };
    let (was_empty, is_empty) = (old.stored.is_empty(), new.stored.is_empty());
    word("offset", old.offset.into(), new.offset.into(), !(was_empty && is_empty));
    word("length", old.length.into(), new.length.into(), old.stored.len() != new.stored.len());
    let sizes = [(sides.old, old), (sides.new, new)].map(|(bsp, slot)| bsp.decompressed_size(slot.id));
    let unpacked = [old, new].map(|slot| i64::from(slot.unpacked.unwrap_or(0)));
    word("decompressed size", unpacked[0], unpacked[1], sizes[0] != sizes[1]);
    let flags =
        [sides.old.member_flags(old.id), sides.new.member_flags(new.id)].map(|flags| i64::from(flags.unwrap_or(0)));
    word("flags", flags[0], flags[1], (flags[0] ^ flags[1]) == 1 && sizes[0].is_some() != sizes[1].is_some());
    if !was_empty && !is_empty && old.stored.start != new.stored.start {
        found.lump.changes.push(Change::Place(old.stored.start, new.stored.start));
    }
}

/// The slots of two maps of different dialects: those with content of the same form, by name or role.
fn by_content<'s>(old: &'s Bsp<'_>, new: &'s Bsp<'_>) -> Vec<(Option<&'s Slot>, Option<&'s Slot>)> {
    let is_comparable = |before: &Slot, after: &Slot| match (old.row(before), new.row(after)) {
        // Light and visibility depend on other lumps.
        (Ok(row), Ok(other)) => match kind(old, before) {
            Kind::Entities | Kind::Files => is_same_form(row, other),
            Kind::Records => !matches!(row.form, Form::Opaque(_)) && is_same_form(row, other),
            _ => false,
        },
        _ => false,
    };
    let mut is_taken = vec![false; new.slots().len()];
    let mut pairs = Vec::new();
    for slot in old.slots() {
        let role = old.role_of(slot.id);
        let is_other = |other: &Slot| other.name == slot.name || role.is_some() && new.role_of(other.id) == role;
        let found = new.slots().iter().position(|other| is_other(other) && is_comparable(slot, other));
        let found = found.filter(|at| !std::mem::replace(&mut is_taken[*at], true));
        pairs.push((Some(slot), found.map(|at| &new.slots()[at])));
    }
    let rest = new.slots().iter().zip(is_taken).filter(|(_, is_taken)| !is_taken);
    pairs.extend(rest.map(|(slot, _)| (None, Some(slot))));
    pairs
}

impl Comparison {
    /// How many lumps are at another place.
    pub fn moved(&self) -> usize {
        let is_moved = |change: &Change| matches!(change, Change::Place(..));
        self.lumps.iter().filter(|lump| lump.changes.iter().any(is_moved)).count()
    }
}
