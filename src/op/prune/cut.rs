//! Bytes that go, and the offsets that follow.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::bsp::{Links, Word};
use crate::bytes::Data;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;
use crate::record::{Cell, Meaning};

/// Ranges of bytes that go.
pub(super) struct Cut {
    /// In order, apart from each other.
    gone: Vec<Range<usize>>,
    /// The bytes that are gone before each range.
    before: Vec<usize>,
    len: usize,
}

impl Cut {
    /// Everything but these ranges, which may overlap and go beyond the end.
    pub(super) fn all_but(mut kept: Vec<Range<usize>>, len: usize) -> Self {
        kept.sort_by_key(|range| range.start);
        let (mut gone, mut at) = (Vec::new(), 0);
        for range in kept {
            if range.start.min(len) > at {
                gone.push(at..range.start.min(len));
            }
            at = at.max(range.end).min(len);
        }
        if at < len {
            gone.push(at..len);
        }
        let before = gone.iter().scan(0, |sum, range| {
            let before = *sum;
            *sum += range.len();
            Some(before)
        });
        Cut { before: before.collect(), gone, len }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.gone.is_empty()
    }

    /// Whether all ranges begin and end at multiples of a number.
    pub(super) fn is_whole(&self, size: usize) -> bool {
        let is_whole = |at: usize| at.is_multiple_of(size);
        self.gone.iter().all(|range| is_whole(range.start) && is_whole(range.end))
    }

    /// What is left of bytes, where `from` bytes of the cut are `to` bytes here.
    pub(super) fn apply(&self, bytes: &[u8], from: usize, to: usize) -> Vec<u8> {
        let (mut left, mut at) = (Vec::with_capacity(bytes.len()), 0);
        let scale = |offset: usize| (offset / from * to).min(bytes.len());
        for range in &self.gone {
            left.extend_from_slice(&bytes[at..scale(range.start)]);
            at = scale(range.end);
        }
        left.extend_from_slice(&bytes[at..]);
        left
    }

    /// Where an offset goes. Bytes that are gone leave the place where they were.
    fn offset(&self, old: i64) -> i64 {
        let Some(at) = usize::try_from(old).ok().filter(|at| *at < self.len) else { return old };
        let Some(index) = self.gone.partition_point(|range| range.start <= at).checked_sub(1) else { return old };
        let new = at - self.before[index] - self.gone[index].len().min(at - self.gone[index].start);
        i64::try_from(new).unwrap_or(old)
    }
}

/// The numbers of all records that have this meaning for a lump, by list.
pub(super) fn numbers(links: &Links<'_>, lump: &str, named: fn(Meaning) -> Option<&'static str>) -> Vec<(usize, Word)> {
    let mut found = Vec::new();
    for (index, site) in links.sites.iter().enumerate() {
        let instead =
            |lump| site.row.order.instead.iter().find(|(usual, _)| *usual == lump).map_or(lump, |(_, to)| *to);
        for cell in Cell::meant(site.record.fields) {
            if named(cell.meaning).is_some_and(|other| instead(other) == lump) {
                found.extend(Word::of(cell.place.start, cell.shape).map(|word| (index, word)));
            }
        }
    }
    found
}

/// The offsets in a lump.
pub(super) fn offsets(links: &Links<'_>, lump: &str) -> Vec<(usize, Word)> {
    numbers(links, lump, |meaning| match meaning {
        Meaning::Offset { lump } => Some(lump),
        _ => None,
    })
}

/// Gives numbers of records new values.
pub(super) fn renumber(
    draft: &mut Draft<'_>,
    links: &Links<'_>,
    numbers: &[(usize, Word)],
    new: impl Fn(i64) -> i64,
) -> Result<()> {
    let mut slots: BTreeMap<SlotId, Vec<u8>> = BTreeMap::new();
    for (index, word) in numbers {
        let site = &links.sites[*index];
        let bytes = slots.entry(site.slot).or_insert_with(|| site.bytes.to_vec());
        for (at, record) in bytes[site.range.clone()].chunks_exact_mut(site.record.size).enumerate() {
            let old = word.get(record);
            if !word.put(record, new(old)) {
                let message = format!("{} does not fit its field", new(old));
                return Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(&site.name).record(at)));
            }
        }
    }
    slots.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes))
}

/// Removes bytes of a lump; offsets into it follow.
pub(super) fn cut(
    draft: &mut Draft<'_>,
    links: &Links<'_>,
    slot: SlotId,
    lump: &str,
    old: &Data<'_>,
    cut: &Cut,
) -> Result<()> {
    let offsets = offsets(links, lump);
    draft.set_little_endian(slot, cut.apply(old, 1, 1))?;
    renumber(draft, links, &offsets, |old| cut.offset(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_what_is_left() {
        let cut = Cut::all_but(vec![8..10, 2..4, 3..5, 20..30], 12);
        assert_eq!(cut.gone, [0..2, 5..8, 10..12]);
        assert_eq!(cut.apply(b"abcdefghijkl", 1, 1), b"cdeij");
        let offsets = [-1, 0, 2, 4, 6, 8, 9, 11, 12, 40].map(|old| cut.offset(old));
        assert_eq!(offsets, [-1, 0, 0, 2, 3, 3, 4, 5, 12, 40]);
        assert!(!cut.is_whole(2) && !cut.is_nothing());
    }
}
