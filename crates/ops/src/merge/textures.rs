//! Textures in the map, and names of materials, one by one. Where a side adds, removes or moves textures, they are put
//! together as records are, so that the numbers of faces follow. Names keep their numbers. If a side did anything else
//! to the lump, it is left to others.

use std::collections::BTreeMap;

use super::lists::{Records, index};
use super::{Conflict, Desk, Side, Sides, Subject, is_of_both, is_same, twin};
use crate::align::lists::Lists;
use crate::align::textures::{each, slot_of, with_textures};
use bspkit::bytes::{Data, escaped};
use bspkit::content::texdata::{STRINGS, TABLE, TextureStrings};
use bspkit::content::textures::Textures;
use bspkit::file::{Slot, SlotId};
use bspkit::{Bsp, Draft, Result};

/// The records of the base and of both sides. If a side changed the textures in the map, these are records too.
pub(super) fn lists<'m, 'a>(sides: &Sides<'m, 'a>) -> Result<[Lists<'m, 'a>; 3]> {
    let maps = [sides.base, sides.ours, sides.theirs];
    let is_changed = slot_of(sides.base).is_some_and(|slot| {
        let is_alike = |side: &Bsp<'_>| twin(side, slot).is_some_and(|twin| is_same(sides.base, slot, side, twin));
        !is_alike(sides.ours) || !is_alike(sides.theirs)
    });
    if is_changed { with_textures(maps) } else { each(maps, Lists::of) }
}

/// The lumps of textures and of their names with the changes of both sides.
pub(super) fn merge<'a>(
    sides: &Sides<'_, 'a>,
    records: Option<&Records<'_, '_, 'a>>,
    desk: &mut Desk<'_>,
) -> Result<BTreeMap<SlotId, Vec<u8>>> {
    let mut merged = BTreeMap::new();
    if let Some(slot) = slot_of(sides.base) {
        let rows = records.and_then(|records| Some((records, records.rows(slot.id)?)));
        if let Some((records, rows)) = rows {
            merged.insert(slot.id, Moved { sides, records, slot, rows }.merge(desk)?);
        } else if is_of_both(sides, slot) {
            let edit = |draft: &mut Draft<'a>, index: usize, bytes: &[u8]| {
                draft.edit::<Textures<'_>>()?.replace(index, bytes.to_vec())
            };
            let all = [sides.base, sides.ours, sides.theirs].map(textures);
            let things = Things { lump: &slot.name, what: "texture", show: &shown };
            let list = List { things, slots: &[slot], edit: &edit };
            merged.extend(list.merge(sides, all, desk)?);
        }
    }
    let found = (sides.base.slot(STRINGS).ok(), sides.base.slot(TABLE).ok());
    let is_still = || records.is_none_or(|records| records.moves_of(TABLE, 0).is_none());
    if let (Some(strings), Some(table)) = found
        && is_of_both(sides, strings)
        && is_still()
    {
        let edit =
            |draft: &mut Draft<'a>, index: usize, name: &[u8]| draft.edit::<TextureStrings<'_>>()?.rename(index, name);
        let all = [sides.base, sides.ours, sides.theirs].map(|map| {
            let names = map.lens::<TextureStrings<'_>>().ok()?;
            (0..names.len()).map(|index| names.get(index).ok().map(<[u8]>::to_vec)).collect::<Option<Vec<_>>>()
        });
        let show = |name: &[u8]| escaped(name).to_string().into_bytes();
        let things = Things { lump: TABLE, what: "name", show: &show };
        let list = List { things, slots: &[strings, table], edit: &edit };
        merged.extend(list.merge(sides, all, desk)?);
    }
    Ok(merged)
}

/// The bytes of each texture of a map; empty for one that is missing. `None` if they cannot be read.
fn textures(map: &Bsp<'_>) -> Option<Vec<Vec<u8>>> {
    let textures = map.lens::<Textures<'_>>().ok()?;
    let one = |index: usize| Some(textures.get(index).ok()?.map_or_else(Vec::new, |one| one.bytes().to_vec()));
    (0..textures.len()).map(one).collect()
}

/// How a conflict shows a texture.
fn shown(bytes: &[u8]) -> Vec<u8> {
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    format!("{}, {} bytes, CRC-32 {:08x}", escaped(name), bytes.len(), crc32fast::hash(bytes)).into_bytes()
}

/// Textures that a side added, removed or moved.
struct Moved<'r, 'l, 'm, 'a> {
    sides: &'r Sides<'r, 'a>,
    records: &'r Records<'l, 'm, 'a>,
    slot: &'r Slot,
    /// For each texture of the merged map its number in the base, ours and theirs.
    rows: &'r [[usize; 3]],
}

impl Moved<'_, '_, '_, '_> {
    /// The lump of the merged map.
    fn merge(&self, desk: &mut Desk<'_>) -> Result<Vec<u8>> {
        let Moved { sides, records, slot, rows } = *self;
        let lead = records.leader(slot.id).unwrap_or(Side::Ours);
        let from = if lead == Side::Theirs { sides.theirs } else { sides.ours };
        let own = twin(from, slot).map_or(slot.id, |twin| twin.id);
        let all = [sides.base, sides.ours, sides.theirs].map(textures);
        let [Some(base), Some(ours), Some(theirs)] = &all else {
            desk.refuse(&slot.name, "a side adds, removes or moves textures, and not all of them can be read");
            return Ok(from.bytes(own)?.to_vec());
        };
        if records.is_torn(slot.id) {
            return Ok(from.bytes(own)?.to_vec());
        }
        self.check_removed([base, ours, theirs], desk);
        let of = |side: usize, row: &[usize; 3]| [base, ours, theirs][side].get(row[side]);
        let lead = index(lead);
        // What only the other side has comes after what the leading side has.
        let is_own = |row: &&[usize; 3]| of(lead, row).is_some();
        let stay = rows.iter().take_while(is_own).count();
        let mut kept = vec![false; [base, ours, theirs][lead].len()];
        rows[..stay].iter().for_each(|row| kept[row[lead]] = true);
        let is_ordered = rows[..stay].is_sorted_by_key(|row| row[lead]) && !rows[stay..].iter().any(|row| is_own(&row));
        let added: Vec<Option<Vec<u8>>> =
            rows[stay..].iter().map(|row| of(3 - lead, row).filter(|bytes| !bytes.is_empty()).cloned()).collect();
        let mut draft = from.draft();
        if !added.is_empty() {
            let bytes = draft.edit::<Textures<'_>>()?.with(&added)?;
            draft.set(own, bytes)?;
        }
        if kept.contains(&false) {
            kept.extend(added.iter().map(|_| true));
            match draft.edit::<Textures<'_>>()?.only(&kept)?.filter(|_| is_ordered) {
                Some(bytes) => draft.set(own, bytes)?,
                None => {
                    desk.refuse(&slot.name, "each side adds, removes or moves textures: it is not clear what both are")
                }
            }
        }
        for (at, row) in rows[..stay].iter().enumerate() {
            let (Some(ours), Some(theirs)) = (of(1, row), of(2, row)) else { continue };
            let Some(base) = of(0, row) else {
                if ours != theirs {
                    desk.refuse(&slot.name, format!("both sides add texture {at}, each another one"));
                }
                continue;
            };
            let things = Things { lump: &slot.name, what: "texture", show: &shown };
            let new = things.choose(row[0], [base, ours, theirs], desk);
            if Some(new) != of(lead, row) && draft.edit::<Textures<'_>>()?.replace(at, new.clone()).is_err() {
                desk.refuse(&slot.name, format!("texture {} is missing in one map, and not in another", row[0]));
            }
        }
        Ok(draft.bytes(own)?.to_vec())
    }

    /// Textures that one side removes, and the other one changes.
    fn check_removed(&self, [base, ours, theirs]: [&[Vec<u8>]; 3], desk: &mut Desk<'_>) {
        let mut stays = vec![false; base.len()];
        for row in self.rows.iter().filter(|row| row[0] < base.len()) {
            stays[row[0]] = true;
        }
        for old in (0..base.len()).filter(|old| !stays[*old]) {
            for (own, side, whose) in [(ours, Side::Ours, "our"), (theirs, Side::Theirs, "their")] {
                let place = self.records.place(self.slot.id, side, old);
                if own.get(place).is_some_and(|bytes| *bytes != base[old]) {
                    let name = String::from_utf8_lossy(&shown(&base[old])).into_owned();
                    let message = format!("{whose} side changes texture {old} ({name}), and the other one removes it");
                    let subject = Subject::Record(self.slot.name.clone(), old, String::new());
                    desk.push(Conflict { subject, ..Conflict::lump(&self.slot.name, message) });
                }
            }
        }
    }
}

type Edit<'e, 'a> = dyn Fn(&mut Draft<'a>, usize, &[u8]) -> Result<()> + 'e;

/// Things of a lump that have numbers, and how a conflict shows one.
struct Things<'e> {
    lump: &'e str,
    what: &'e str,
    show: &'e dyn Fn(&[u8]) -> Vec<u8>,
}

impl Things<'_> {
    /// Of the bytes of a thing in the base, ours and theirs those of the side that changed it.
    fn choose<'v>(&self, number: usize, values: [&'v Vec<u8>; 3], desk: &mut Desk<'_>) -> &'v Vec<u8> {
        let [base, ours, theirs] = values;
        let side = match (ours == base, theirs == base || theirs == ours) {
            (_, true) => Side::Ours,
            (true, false) => Side::Theirs,
            (false, false) => {
                let message = format!("both sides change {} {number}", self.what);
                let subject = Subject::Record(self.lump.to_owned(), number, String::new());
                let shown = values.map(|value| Some((self.show)(value)));
                desk.decide(Conflict::lump(self.lump, message).with(subject, shown))
            }
        };
        values[index(side)]
    }
}

/// Things of a lump by their numbers, which stay.
struct List<'e, 'a> {
    things: Things<'e>,
    /// The slots that they are in.
    slots: &'e [&'e Slot],
    edit: &'e Edit<'e, 'a>,
}

impl<'a> List<'_, 'a> {
    /// The slots with the changes of both sides. None if a side did anything else to them, which is left to others.
    fn merge(
        &self,
        sides: &Sides<'_, 'a>,
        all: [Option<Vec<Vec<u8>>>; 3],
        desk: &mut Desk<'_>,
    ) -> Result<Vec<(SlotId, Vec<u8>)>> {
        let [Some(base), Some(ours), Some(theirs)] = all else { return Ok(Vec::new()) };
        if [ours.len(), theirs.len()] != [base.len(), base.len()] {
            return Ok(Vec::new());
        }
        for (map, side) in [(sides.ours, &ours), (sides.theirs, &theirs)] {
            let again = self.edited(sides.base, &base, side);
            let is_all = |again: Vec<(SlotId, Data<'a>)>| {
                let is_same = |(slot, bytes): (&&Slot, &(SlotId, Data<'a>))| {
                    twin(map, slot).is_some_and(|twin| map.bytes(twin.id).is_ok_and(|own| own[..] == bytes.1[..]))
                };
                self.slots.iter().zip(&again).all(is_same)
            };
            if !again.is_ok_and(is_all) {
                return Ok(Vec::new());
            }
        }
        let sides_of = |number: usize| [&base[number], &ours[number], &theirs[number]];
        let merged: Vec<Vec<u8>> =
            (0..base.len()).map(|number| self.things.choose(number, sides_of(number), desk).clone()).collect();
        let edited = self.edited(sides.base, &base, &merged)?;
        Ok(edited.into_iter().map(|(slot, bytes)| (slot, bytes.to_vec())).collect())
    }

    /// The slots of the base with other content of some of its things.
    fn edited(&self, base: &Bsp<'a>, old: &[Vec<u8>], new: &[Vec<u8>]) -> Result<Vec<(SlotId, Data<'a>)>> {
        let mut draft = base.draft();
        for (index, (_, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
            (self.edit)(&mut draft, index, new)?;
        }
        self.slots.iter().map(|slot| Ok((slot.id, draft.bytes(slot.id)?))).collect()
    }
}
