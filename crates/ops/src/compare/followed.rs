//! Records whose numbers follow others: what a number names moved to another place in its list, and the record still
//! names it.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use super::light;
use crate::align::lists::{Lists, motions};
use crate::align::moves::{LOST, Moves};
use crate::align::textures::{each, slot_of, with_textures};
use crate::align::units::{Unit, units};
use bspkit::Bsp;
use bspkit::file::Slot;
use bspkit::links::How;

/// The records of two maps, and where those of the old one are in the new one.
pub(super) struct Followed<'s> {
    old: Lists<'s, 's>,
    new: Lists<'s, 's>,
    motions: Vec<Option<Moves>>,
}

/// The size of a key of a record in bytes.
pub(super) const KEY: usize = 8;

/// The bit of a key of a record that is not known to be in both maps.
const ALONE: u64 = 1 << 63;

impl<'s> Followed<'s> {
    /// `None` if no list has another number of records and no light another size, if the maps have other lists or
    /// little in common, or if one cannot be read: records are compared by their bytes then.
    pub(super) fn read(old: &'s Bsp<'s>, new: &'s Bsp<'s>) -> Option<Self> {
        let is_light_as_long = |slot: &Slot| {
            !light::is_light(old.dialect().light, &slot.name)
                || new.slot(&slot.name).is_ok_and(|other| old.size(slot) == new.size(other))
        };
        let is_light_as_long = old.slots().iter().all(is_light_as_long);
        let textures = [old, new].map(|map| slot_of(map).map(|slot| map.stored(slot.id)));
        let [old, new] =
            if textures[0] == textures[1] { each([old, new], Lists::of) } else { with_textures([old, new]) }.ok()?;
        if !old.is_like(&new) || old.lens == new.lens && is_light_as_long || !are_versions(&old, &new) {
            return None;
        }
        let motions = motions(&old, &new).ok()?;
        Some(Followed { old, new, motions })
    }

    /// The list of a lump.
    pub(super) fn list(&self, lump: &str, list: &str) -> Option<List<'_>> {
        let is_own = |name: &str| match name.strip_prefix(lump) {
            Some(rest) => rest == list || rest.strip_prefix('.') == Some(list),
            None => false,
        };
        let site = self.old.links.sites.iter().position(|site| is_own(&site.name))?;
        let numbers = self.motions.iter().map(Option::as_ref).collect();
        let units = units(&self.old.links, site);
        let names_moved = units.iter().flat_map(Unit::targets).any(|to| self.motions[to].is_some());
        Some(List { all: self, units, site, numbers, names_moved })
    }
}

/// Whether two maps are versions of one map: at least half of the records that refer to no others are in both.
fn are_versions(old: &Lists<'_, '_>, new: &Lists<'_, '_>) -> bool {
    let (mut common, mut all) = (0, 0);
    for (site, (before, after)) in old.links.sites.iter().zip(&new.links.sites).enumerate() {
        if old.links.links.iter().all(|link| link.from != site) {
            let known: HashSet<&[u8]> = before.records().collect();
            common += after.records().filter(|record| known.contains(record)).count();
            all += before.len().max(after.len());
        }
    }
    2 * common >= all
}

/// A list of records of both maps.
pub(super) struct List<'f> {
    all: &'f Followed<'f>,
    units: Vec<Unit<'f>>,
    site: usize,
    /// Where the records of each list moved.
    numbers: Vec<Option<&'f Moves>>,
    /// Whether its records name any that moved.
    pub(super) names_moved: bool,
}

impl List<'_> {
    /// The name of the list.
    pub(super) fn name(&self) -> &str {
        &self.all.old.links.sites[self.site].name
    }

    /// A key of each old and of each new record, 8 bytes each: the same for records that are known to be the same one,
    /// and for others with the same bytes.
    pub(super) fn keys(&self) -> [Vec<u8>; 2] {
        let moves = self.all.motions[self.site].as_ref();
        let [old, new] = [&self.all.old, &self.all.new].map(|lists| &lists.links.sites[self.site]);
        let alone = |record: &[u8]| {
            let mut hasher = DefaultHasher::new();
            hasher.write(record);
            hasher.finish() | ALONE
        };
        let known = |index: usize| u64::try_from(index).unwrap_or(ALONE);
        let old =
            old.records().enumerate().map(|(index, record)| match moves.map_or(index, |moves| moves.place[index]) {
                place if place < LOST => known(place),
                _ => alone(record),
            });
        let new =
            new.records().enumerate().map(|(index, record)| match moves.map_or(index, |moves| moves.from[index]) {
                from if from < LOST => known(index),
                _ => alone(record),
            });
        [old.flat_map(u64::to_le_bytes).collect(), new.flat_map(u64::to_le_bytes).collect()]
    }

    /// The old record of a new one.
    pub(super) fn before(&self, new: usize) -> Option<usize> {
        match &self.all.motions[self.site] {
            Some(moves) => moves.from.get(new).copied().filter(|old| *old < LOST),
            None => Some(new).filter(|new| *new < self.all.old.lens[self.site]),
        }
    }

    /// An old record with the numbers that what it names has in the new map. `None` if something is gone, if it is not
    /// known where it is, or if the record named more or fewer.
    pub(super) fn followed(&self, old: &[u8]) -> Option<Vec<u8>> {
        let (mut followed, lens) = (old.to_vec(), &self.all.old.lens);
        for unit in &self.units {
            unit.put(old, lens, &self.numbers, &mut followed).ok()?;
        }
        let is_as_long = |unit: &Unit<'_>| {
            unit.links().all(|link| match link.how {
                How::Run(count, ..) | How::Item(count, _) => count.get(&followed) == count.get(old),
                _ => true,
            })
        };
        self.units.iter().all(is_as_long).then_some(followed)
    }
}
