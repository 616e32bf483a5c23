//! The law of comparisons: a byte that differs is named, and nothing else.

use std::collections::BTreeSet;

use bspkit::dialect::Role;
use bspkit::{Bsp, Data, SegmentKind, SlotId};
use bspkit_ops::compare::{Change, Comparison, Kind};

/// Compares two maps.
pub(crate) type Compare = fn(&Bsp<'_>, &Bsp<'_>, usize) -> Comparison;

pub(crate) fn lines(found: &Comparison) -> Vec<String> {
    let lumps = found.lumps.iter();
    lumps.flat_map(|lump| lump.changes.iter().map(|change| change.line(&lump.lump).to_string())).collect()
}

/// The lumps and parts in which more than the place differs.
pub(crate) fn names(found: &Comparison) -> BTreeSet<&str> {
    let lumps = found.lumps.iter();
    let differs = |change: &Change| !matches!(change, Change::Place(..));
    lumps.filter(|lump| lump.changes.iter().any(differs) || lump.more > 0).map(|lump| &*lump.lump).collect()
}

/// Whether it is a part of the file and not a lump.
fn is_part(found: &Comparison, name: &str) -> bool {
    found.lumps.iter().any(|lump| lump.lump == name && matches!(lump.kind, Kind::Header | Kind::Gaps))
}

pub(crate) fn read(map: &Bsp<'_>, bytes: Vec<u8>) -> Option<Bsp<'static>> {
    Bsp::from_data(Data::from(bytes), Some(map.dialect())).ok()
}

fn is_nested(name: &str) -> bool {
    name.starts_with("game:") || name.starts_with("bspx:") || name.starts_with("extra:")
}

/// Some bytes of each segment; of the header every third one, which reaches each byte of a word.
fn places(map: &Bsp<'_>, most: usize) -> Vec<usize> {
    let mut places = Vec::new();
    for segment in map.container().segments() {
        let range = segment.range;
        let step = if segment.kind == SegmentKind::Header { 3 } else { (range.len() / most).max(1) | 1 };
        places.extend(range.clone().step_by(step));
        places.push(range.end - 1);
    }
    places
}

/// The lumps that may be named if this byte is another one, and whether all of them must be, and nothing else.
fn expected(map: &Bsp<'_>, at: usize) -> (BTreeSet<String>, bool) {
    let shape = map.container().shape();
    let segment = map.container().segments().into_iter().find(|segment| segment.range.contains(&at)).unwrap();
    let name = |id: SlotId| map.container().slot(id).unwrap().name.clone();
    let mut names: BTreeSet<String> = segment.slots.iter().map(|id| name(*id)).collect();
    if at < shape.header_size() {
        let entry = (0..shape.count).find(|index| {
            let start = shape.entry_offset(*index);
            (start..start + shape.entry.size()).contains(&at)
        });
        names.extend(entry.map(|index| name(SlotId::Lump(index))));
    }
    let is_outer = |id: &SlotId| map.role_of(*id) == Some(Role::GameLump) || matches!(id, SlotId::Bspx(_));
    (names, segment.kind == SegmentKind::Slots && !segment.slots.iter().any(is_outer))
}

/// A flipped bit anywhere is named: in lumps, headers, directories, gaps, and after the last lump. About `most` places
/// of each segment are tried.
pub(crate) fn every_byte_is_named(map: &Bsp<'_>, most: usize, compare: Compare) -> Result<(), String> {
    let same = compare(map, map, 10);
    if !same.lumps.is_empty() {
        return Err(format!("a map differs from itself: {:?}", lines(&same)));
    }
    places(map, most).into_iter().try_for_each(|at| byte_is_named(map, at, compare))
}

/// A flipped bit of this byte is named. A file that does not open is not compared.
pub(crate) fn byte_is_named(map: &Bsp<'_>, at: usize, compare: Compare) -> Result<(), String> {
    let mut bytes = map.container().bytes().to_vec();
    bytes[at] ^= if at.is_multiple_of(2) { 1 } else { 0x80 };
    let Some(new) = read(map, bytes) else { return Ok(()) };
    let found = compare(map, &new, 10);
    let (named, (wanted, exactly)) = (names(&found), expected(map, at));
    if named.is_empty() && found.moved() == 0 {
        return Err(format!("byte {at} is not named"));
    }
    let is_wanted = |lump: &&str| wanted.contains(*lump) || is_part(&found, lump) || is_nested(lump);
    let is_right = match exactly {
        true => named.iter().copied().eq(wanted.iter().map(String::as_str)),
        false => named.iter().all(is_wanted),
    };
    match is_right {
        true => Ok(()),
        false => Err(format!("byte {at} names {named:?} and not {wanted:?}: {:?}", lines(&found))),
    }
}
