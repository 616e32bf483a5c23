//! Lumps with a block for each record of a list, such as the collision models of brush models: block by block. A block
//! goes where its record goes, and the numbers in it are those of the merged map.

use std::collections::BTreeMap;

use super::lists::Records;
use super::{Sides, is_same, twin};
use crate::align::moves::GONE;
use bspkit::Bsp;
use bspkit::bytes::word;
use bspkit::file::{Slot, SlotId};

/// A number of a record that the merged map has not. No lump has it.
const NOT_THERE: i32 = i32::MIN;

/// The lumps with blocks that neither side has as the merged map has to have them. One of which anything is not clear
/// is left out.
pub(super) fn merge(sides: &Sides<'_, '_>, records: &Records<'_, '_, '_>) -> BTreeMap<SlotId, Vec<u8>> {
    let mut merged = BTreeMap::new();
    for (id, ..) in &records.links(0).blocks {
        let Some(slot) = sides.base.container().slot(*id) else { continue };
        let (Some(ours), Some(theirs)) = (twin(sides.ours, slot), twin(sides.theirs, slot)) else { continue };
        let is_equal = is_same(sides.ours, ours, sides.theirs, theirs);
        let by_ours = !is_same(sides.base, slot, sides.ours, ours);
        let by_theirs = !is_equal && !is_same(sides.base, slot, sides.theirs, theirs);
        let is_settled = records.right(slot, [by_ours, by_theirs]).is_some();
        if is_settled || [ours.version, theirs.version] != [slot.version, slot.version] {
            continue;
        }
        let maps = [(sides.base, slot), (sides.ours, ours), (sides.theirs, theirs)];
        let mut side = 0..maps.len();
        let all = maps.map(|(map, slot)| Blocks::of(map, slot, records, side.next()?));
        let [Some(base), Some(ours), Some(theirs)] = all else { continue };
        let bytes = put_together(&base, &ours, &theirs).filter(|bytes| is_whole(sides.base, slot, bytes));
        if let Some(bytes) = bytes {
            merged.insert(*id, sides.ours.in_own_order(*id, bytes.into()).to_vec());
        }
    }
    merged
}

/// The blocks of one map, with the numbers of the merged one.
struct Blocks {
    /// The numbers of their records, in order.
    order: Vec<i32>,
    of: BTreeMap<i32, Vec<u8>>,
    /// What is after them.
    rest: Vec<u8>,
}

impl Blocks {
    /// `None` if it is not known which block belongs to which record, or what the numbers in the lump name.
    fn of(map: &Bsp<'_>, slot: &Slot, records: &Records<'_, '_, '_>, side: usize) -> Option<Self> {
        let links = records.links(side);
        let (.., blocks) = links.blocks.iter().find(|(id, ..)| *id == slot.id)?;
        let mut bytes = map.little_endian(slot.id).ok()?.to_vec();
        let places = links.places.iter().find(|(id, ..)| *id == slot.id);
        if places.is_none() && map.row(slot).ok()?.order.places.is_some() {
            return None;
        }
        for (at, moves) in places.iter().flat_map(|(.., lump, places)| {
            let moves = records.moves_of(lump, side);
            places.iter().filter_map(move |at| Some((*at, moves?)))
        }) {
            let new = moves.one(i64::from(word(&bytes, at)?)).ok().and_then(|new| i32::try_from(new).ok());
            put(&mut bytes, at, new.unwrap_or(NOT_THERE))?;
        }
        let moves = records.moves_of(blocks.lump, side);
        let (mut order, mut of, mut end) = (Vec::new(), BTreeMap::new(), 0);
        for block in (blocks.find)(&bytes)? {
            end = block.range.end;
            let old = word(&bytes, block.at)?;
            let place = moves.map(|moves| moves.place.get(usize::try_from(old).ok()?).copied());
            let new = match place {
                None => old,
                Some(Some(GONE)) => continue,
                Some(place) => i32::try_from(place?).ok()?,
            };
            put(&mut bytes, block.at, new)?;
            order.push(new);
            if of.insert(new, bytes.get(block.range)?.to_vec()).is_some() {
                return None;
            }
        }
        Some(Blocks { order, of, rest: bytes.get(end..)?.to_vec() })
    }

    /// The records that two maps have blocks of, in the order of one.
    fn common<'b>(&'b self, other: &'b Blocks) -> impl Iterator<Item = &'b i32> {
        self.order.iter().filter(|number| other.of.contains_key(number))
    }
}

fn put(bytes: &mut [u8], at: usize, number: i32) -> Option<()> {
    bytes.get_mut(at..at + 4)?.copy_from_slice(&number.to_le_bytes());
    Some(())
}

/// What the lump becomes, if no block has changes of both sides and both have them in one order.
fn put_together(base: &Blocks, ours: &Blocks, theirs: &Blocks) -> Option<Vec<u8>> {
    let is_ordered = |one: &Blocks, other: &Blocks| one.common(other).eq(other.common(one));
    if !is_ordered(ours, theirs) || !is_ordered(base, ours) || !is_ordered(base, theirs) {
        return None;
    }
    let mut merged = Vec::new();
    let added = theirs.order.iter().filter(|number| !ours.of.contains_key(number));
    for number in ours.order.iter().chain(added) {
        let [before, mine, other] = [base, ours, theirs].map(|blocks| blocks.of.get(number));
        merged.extend(changed(before, mine, other)?.into_iter().flatten());
    }
    merged.extend(changed(&base.rest, &ours.rest, &theirs.rest)?);
    Some(merged)
}

/// Whether all records that the lump names are in the merged map.
fn is_whole(map: &Bsp<'_>, slot: &Slot, bytes: &[u8]) -> bool {
    let places = map.row(slot).ok().and_then(|row| row.order.places);
    let is_there = |at: usize| word(bytes, at).is_some_and(|number| number != NOT_THERE);
    places.is_none_or(|places| (places.find)(bytes).is_some_and(|places| places.into_iter().all(is_there)))
}

/// What one side changed; `None` if both did.
fn changed<T: PartialEq>(base: T, ours: T, theirs: T) -> Option<T> {
    match (base == ours, base == theirs || ours == theirs) {
        (_, true) => Some(ours),
        (true, false) => Some(theirs),
        (false, false) => None,
    }
}
