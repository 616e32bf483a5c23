//! Light of faces, where both sides changed it: one removes the light of faces or adds some, the other as well, or
//! changes it in place. The bytes of a lump are cut where the light of a face begins or ends; each piece goes where its
//! face goes.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::{Sides, is_same, twin};
use crate::align::lists::Lists;
use crate::align::moves::{LOST, Moves};
use crate::luxels::{is_shared, offsets};
use bspkit::Result;
use bspkit::bytes::{Data, word};
use bspkit::content::lightmap::{Light as Lens, LightSet};
use bspkit::dialect::Role;
use bspkit::file::{Slot, SlotId};

/// How often pieces may be covered by light in all: faces share light, but not all with all.
const MOST_COVERED: usize = 1 << 24;

/// The bit of an offset of light that is not in the merged map, so that it differs from all other offsets.
const NOT_THERE: u32 = 1 << 31;

/// A lump of light with the changes of both sides.
pub(super) struct Light {
    pub(super) slot: SlotId,
    pub(super) bytes: Vec<u8>,
    /// For the base, ours and theirs: ranges of the lump, in order, and where they begin in the merged one.
    places: [Vec<(Range<usize>, u32)>; 3],
}

impl Light {
    /// The offset in the merged map of an offset of one map.
    pub(super) fn follow(&self, side: usize, offset: u32) -> u32 {
        let Ok(at) = usize::try_from(offset) else { return offset };
        let next = self.places[side].partition_point(|(range, _)| range.start <= at);
        let found = next.checked_sub(1).map(|last| &self.places[side][last]).filter(|(range, _)| at < range.end);
        let new = found.and_then(|(range, new)| new.checked_add(u32::try_from(at - range.start).ok()?));
        new.unwrap_or(offset)
    }

    /// Gives the record of one map the offsets of the merged map.
    pub(super) fn put(&self, side: usize, fields: &[usize], record: &mut [u8]) {
        for at in fields {
            let offset = word(record, *at).map(i32::cast_unsigned).filter(|offset| *offset < NOT_THERE);
            if let (Some(offset), Some(bytes)) = (offset, record.get_mut(*at..*at + 4)) {
                bytes.copy_from_slice(&self.follow(side, offset).to_le_bytes());
            }
        }
    }
}

/// Whether both sides changed a lump of light, each in its own way.
pub(super) fn is_of_both(sides: &Sides<'_, '_>) -> bool {
    let is_of_both = |slot: &Slot| super::is_of_both(sides, slot);
    let is_other = |slot: &&Slot| !matches!(sides.base.role_of(slot.id), Some(Role::Entities | Role::Pak));
    sides.base.slots().iter().filter(is_other).any(is_of_both)
        && sides
            .base
            .lens::<Lens<'_>>()
            .is_ok_and(|light| light.sets().iter().any(|set| sides.base.slot(set.lump()).is_ok_and(is_of_both)))
}

/// The lumps of light that both sides changed, by their names. `own` has where a side has the faces of the base. A lump
/// of which anything is not clear is left out.
pub(super) fn merge<'a, 'o>(
    sides: &Sides<'_, 'a>,
    lists: &Lists<'_, 'a>,
    own: impl Fn(usize) -> Option<[Option<&'o Moves>; 2]>,
) -> Result<BTreeMap<String, Light>> {
    let mut found = BTreeMap::new();
    let maps = [sides.base, sides.ours, sides.theirs];
    let [Ok(base), Ok(ours), Ok(theirs)] = maps.map(|map| map.lens::<Lens<'_>>()) else { return Ok(found) };
    for set in base.sets().iter().filter(|set| !set.is_pages()) {
        let Ok(slot) = sides.base.slot(set.lump()) else { continue };
        if is_shared(sides.base, &lists.links, set.lump()) {
            continue;
        }
        let own_set = |light: &'_ Lens<'_>| light.sets().iter().position(|other| other.lump() == set.lump());
        let is_changed = |map| twin(map, slot).is_some_and(|twin| !is_same(sides.base, slot, map, twin));
        let by_both = is_changed(sides.ours) && is_changed(sides.theirs);
        let (Some(mine), Some(other), true) = (own_set(&ours), own_set(&theirs), by_both) else { continue };
        let all = [set, &ours.sets()[mine], &theirs.sets()[other]];
        // Other lists may have offsets too, which follow, but no light of their own.
        let site_of = |name: &str| lists.links.sites.iter().position(|site| site.name.eq_ignore_ascii_case(name));
        let Some(faces) = site_of(set.placed_by()) else { continue };
        // Offsets in the lump, or in the one whose luxels it has in another form.
        let usual = site_of(set.lump()).and_then(|site| lists.links.sites[site].parallel).map(|parallel| parallel.lump);
        let is_placed = |lump: &str| !offsets(sides.base, &lists.links.sites[faces], lump).is_empty();
        let is_used = is_placed(set.lump()) || usual.is_some_and(is_placed);
        if !is_used || all.iter().any(|set| !set.faults().is_empty()) {
            continue;
        }
        let lumps = maps.map(|map| map.slot(set.lump()).and_then(|slot| map.little_endian(slot.id)));
        let [Ok(old), Ok(mine), Ok(other)] = lumps else { continue };
        // Both may have the same bytes, and have removed the light of different faces.
        let own = own(faces).filter(|[one, other]| one != other || super::is_of_both(sides, slot));
        let Some(own) = own else { continue };
        if let Some(light) = put_together(slot.id, all, own, [&old, &mine, &other]) {
            found.insert(set.lump().to_owned(), light);
        }
    }
    Ok(found)
}

/// Where a side has the pieces of the base: `None` for those that it removed.
struct Pieces {
    places: Vec<Option<usize>>,
    /// Where what it added begins.
    end: usize,
}

fn put_together(
    slot: SlotId,
    sets: [&LightSet; 3],
    own: [Option<&Moves>; 2],
    [base, ours, theirs]: [&Data<'_>; 3],
) -> Option<Light> {
    let mut cuts: Vec<usize> = vec![0, base.len()];
    cuts.extend(sets[0].blocks().iter().flat_map(|block| [block.whole().start, block.whole().end]));
    cuts.sort_unstable();
    cuts.dedup();
    let pieces: Vec<Range<usize>> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    let mine = Pieces::of(&cuts, sets[0], sets[1], own[0], ours.len())?;
    let other = Pieces::of(&cuts, sets[0], sets[2], own[1], theirs.len())?;
    let (mut bytes, mut places) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
    for (piece, both) in pieces.into_iter().zip(mine.places.iter().zip(&other.places)) {
        let len = piece.len();
        let absent = u32::try_from(piece.start).ok()? | NOT_THERE;
        let start = match both {
            (Some(_), Some(_)) => u32::try_from(bytes.len()).ok()?,
            _ => absent,
        };
        let (one, two) = (both.0.map(|start| start..start + len), both.1.map(|start| start..start + len));
        if let (Some(one), Some(two)) = (&one, &two) {
            let (old, one, two) = (base.get(piece.clone())?, ours.get(one.clone())?, theirs.get(two.clone())?);
            match (one == old, two == old) {
                (_, true) => bytes.extend_from_slice(one),
                (true, _) => bytes.extend_from_slice(two),
                _ if one == two => bytes.extend_from_slice(one),
                _ => return None,
            }
        }
        places[0].push((piece, start));
        places[1].extend(one.map(|range| (range, start)));
        places[2].extend(two.map(|range| (range, start)));
    }
    for (side, end, all) in [(1, mine.end, ours), (2, other.end, theirs)] {
        places[side].push((end..all.len(), u32::try_from(bytes.len()).ok()?));
        bytes.extend_from_slice(all.get(end..)?);
    }
    Some(Light { slot, bytes, places })
}

impl Pieces {
    fn of(cuts: &[usize], base: &LightSet, side: &LightSet, own: Option<&Moves>, len: usize) -> Option<Self> {
        let count = cuts.len() - 1;
        let blocks: HashMap<usize, Range<usize>> =
            side.blocks().iter().map(|block| (block.index(), block.whole())).collect();
        // Whether a piece has light of any face, and where the side has it.
        let (mut is_light, mut known, mut covered) = (vec![false; count], vec![None; count], 0_usize);
        for block in base.blocks() {
            let own = own.map_or(Some(block.index()), |moves| moves.place.get(block.index()).copied());
            let range = own.filter(|own| *own < LOST).and_then(|own| blocks.get(&own));
            let first = cuts.partition_point(|cut| *cut < block.whole().start);
            let pieces = (first..count).take_while(|piece| cuts[*piece] < block.whole().end);
            for piece in pieces {
                covered += 1;
                is_light[piece] = true;
                let Some(range) = range else { continue };
                let start = cuts[piece] - block.whole().start + range.start;
                if range.len() != block.whole().len() || known[piece].is_some_and(|known| known != start) {
                    return None;
                }
                known[piece] = Some(start);
            }
            if covered > MOST_COVERED {
                return None;
            }
        }
        // Light of faces that are gone is gone, or all of it stays.
        let lay = |goes: bool| {
            let (mut places, mut end) = (Vec::with_capacity(count), 0);
            for piece in 0..count {
                let is_gone = is_light[piece] && known[piece].is_none() && goes;
                if known[piece].is_some_and(|known| known != end) {
                    return None;
                }
                places.push((!is_gone).then_some(end));
                end += if is_gone { 0 } else { cuts[piece + 1] - cuts[piece] };
            }
            (end <= len).then_some(Pieces { places, end })
        };
        lay(true).or_else(|| lay(false))
    }
}
