//! Which records of one array are which of another: in time by their number.
//!
//! ```
//! use bspkit_ops::align::{Hunk, hunks};
//! let found: Vec<Hunk> = hunks(b"abcd", b"axcd", 1);
//! assert_eq!(found, [Hunk { old: 1..2, new: 1..2 }]);
//! ```

pub(crate) mod lists;
pub(crate) mod moves;
mod reading;
mod rows;
pub(crate) mod textures;
pub(crate) mod units;

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::ops::Range;

use crate::diff::longest_rise;
pub use reading::{Doubt, Reading, Why};

/// Above this number of records that differ, those of two arrays are compared by their indices.
const MOST_ALIGNED: usize = 1 << 20;

/// How often records between those that occur once are looked at again: there, others may occur once.
const DEEPEST: u32 = 8;

/// Records that differ: their indices in the old array, and in the new one. Between these, all records are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The records of the old array.
    pub old: Range<usize>,
    /// Those of the new one.
    pub new: Range<usize>,
}

/// The records of an array.
struct Array<'b> {
    bytes: &'b [u8],
    size: usize,
}

impl<'b> Array<'b> {
    fn get(&self, index: usize) -> &'b [u8] {
        self.bytes.get(index * self.size..(index + 1) * self.size).unwrap_or_default()
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.size
    }
}

/// The records that differ. Arrays of one length are compared index by index; in others records were added or removed,
/// and what stayed is found again by those that occur once. A record has at least one byte, whatever the size says.
pub fn hunks(old: &[u8], new: &[u8], size: usize) -> Vec<Hunk> {
    let size = size.max(1);
    if old.len() / size == new.len() / size {
        let mut hunks = Vec::new();
        same_length(&Array { bytes: old, size }, &Array { bytes: new, size }, &mut hunks);
        return hunks;
    }
    aligned(old, new, size)
}

/// The records that differ if any of them may have been added or removed.
pub(super) fn aligned(old: &[u8], new: &[u8], size: usize) -> Vec<Hunk> {
    let (old, new) = (Array { bytes: old, size }, Array { bytes: new, size });
    let mut hunks = Vec::new();
    split(&old, &new, Hunk { old: 0..old.len(), new: 0..new.len() }, DEEPEST, &mut hunks);
    hunks
}

/// Adds the differences of a part of both arrays.
fn split(old: &Array<'_>, new: &Array<'_>, mut rest: Hunk, depth: u32, hunks: &mut Vec<Hunk>) {
    trim(old, new, &mut rest);
    let anchors = if depth > 0 { anchors(old, new, &rest) } else { Vec::new() };
    if anchors.is_empty() {
        hunks.extend(Some(rest).filter(|rest| !rest.old.is_empty() || !rest.new.is_empty()));
        return;
    }
    for (old_at, new_at) in anchors {
        let before = Hunk { old: rest.old.start..old_at, new: rest.new.start..new_at };
        split(old, new, before, depth - 1, hunks);
        (rest.old.start, rest.new.start) = (old_at + 1, new_at + 1);
    }
    split(old, new, rest, depth - 1, hunks);
}

/// The differences of arrays of one length. Blocks that are equal are passed over as a whole.
fn same_length(old: &Array<'_>, new: &Array<'_>, hunks: &mut Vec<Hunk>) {
    let per_block = (4096 / old.size).max(1);
    let block = per_block * old.size;
    let blocks = old.bytes.chunks(block).zip(new.bytes.chunks(block)).enumerate();
    for (number, _) in blocks.filter(|(_, (old, new))| old != new) {
        let first = number * per_block;
        for index in (first..(first + per_block).min(old.len())).filter(|index| old.get(*index) != new.get(*index)) {
            match hunks.last_mut() {
                Some(last) if last.new.end == index => (last.old.end, last.new.end) = (index + 1, index + 1),
                _ => hunks.push(Hunk { old: index..index + 1, new: index..index + 1 }),
            }
        }
    }
}

/// Leaves out equal records at both ends.
fn trim(old: &Array<'_>, new: &Array<'_>, hunk: &mut Hunk) {
    while !hunk.old.is_empty() && !hunk.new.is_empty() && old.get(hunk.old.start) == new.get(hunk.new.start) {
        hunk.old.start += 1;
        hunk.new.start += 1;
    }
    while !hunk.old.is_empty() && !hunk.new.is_empty() && old.get(hunk.old.end - 1) == new.get(hunk.new.end - 1) {
        hunk.old.end -= 1;
        hunk.new.end -= 1;
    }
}

/// Records that occur once on both sides, as many as are in the same order: the indices of each.
fn anchors(old: &Array<'_>, new: &Array<'_>, within: &Hunk) -> Vec<(usize, usize)> {
    if within.old.is_empty() || within.new.is_empty() || within.old.len().max(within.new.len()) > MOST_ALIGNED {
        return Vec::new();
    }
    let mut pairing = vec![None; within.new.len()];
    for (old, new) in pairs_once(old, new, std::slice::from_ref(within)) {
        pairing[new - within.new.start] = Some(old);
    }
    let stays = longest_rise(&pairing);
    let paired = pairing.iter().enumerate().filter(|(at, _)| stays[*at]);
    paired.filter_map(|(at, old)| Some(((*old)?, within.new.start + at))).collect()
}

/// The records of some hunks that occur once in these on both sides: the old and the new index of each, in any order.
pub(crate) fn once(old: &[u8], new: &[u8], size: usize, hunks: &[Hunk]) -> Vec<(usize, usize)> {
    pairs_once(&Array { bytes: old, size }, &Array { bytes: new, size }, hunks)
}

/// About how many records are sorted at once, so that they stay in the cache of a processor.
const AT_ONCE: usize = 4096;

fn pairs_once(old: &Array<'_>, new: &Array<'_>, hunks: &[Hunk]) -> Vec<(usize, usize)> {
    let count = hunks.iter().map(|hunk| hunk.old.len() + hunk.new.len()).sum::<usize>();
    // Records with their hashes, in parts by the first bits of these; twice the index, and the side as the last bit.
    let bits = (count / AT_ONCE).next_power_of_two().ilog2();
    let part = |hash: u64| hash.checked_shr(u64::BITS - bits).map_or(0, |part| usize::try_from(part).unwrap_or(0));
    let each = |give: &mut dyn FnMut(u64, usize)| {
        for hunk in hunks {
            hunk.old.clone().for_each(|index| give(hash(old.get(index)), 2 * index));
            hunk.new.clone().for_each(|index| give(hash(new.get(index)), 2 * index + 1));
        }
    };
    let mut ends = vec![0_usize; 1 << bits];
    each(&mut |hash, _| ends[part(hash)] += 1);
    let mut start = 0;
    for end in &mut ends {
        start += *end;
        *end = start - *end;
    }
    let mut all = vec![(0, 0); count];
    each(&mut |hash, record| {
        let end = &mut ends[part(hash)];
        all[*end] = (hash, record);
        *end += 1;
    });
    let (mut pairs, mut start) = (Vec::new(), 0);
    for end in ends {
        let part = &mut all[start..end];
        part.sort_unstable();
        for same in part.chunk_by(|one, other| one.0 == other.0) {
            let [(_, one), (_, other)] = same else { continue };
            let (one, other) = if one % 2 == 0 { (*one, *other) } else { (*other, *one) };
            let (from, to) = (one / 2, other / 2);
            if one % 2 == 0 && other % 2 == 1 && old.get(from) == new.get(to) {
                pairs.push((from, to));
            }
        }
        start = end;
    }
    pairs
}

fn hash(record: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(record);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hunk(old: Range<usize>, new: Range<usize>) -> Hunk {
        Hunk { old, new }
    }

    #[test]
    fn what_is_added_and_removed_is_found() {
        assert_eq!(hunks(b"abcd", b"abxd", 1), [hunk(2..3, 2..3)]);
        assert_eq!(hunks(b"abcdef", b"bcdf", 1), [hunk(0..1, 0..0), hunk(4..5, 3..3)]);
        assert_eq!(hunks(b"abc", b"axbyc", 1), [hunk(1..1, 1..2), hunk(2..2, 3..4)]);
        assert_eq!(hunks(b"", b"ab", 2), [hunk(0..0, 0..1)]);
        assert_eq!(hunks(b"ab", b"ab", usize::MAX), []);
        assert_eq!(hunks(b"ab", b"a", 0), [hunk(1..2, 1..1)]);
        assert_eq!(hunks(b"aaaa", b"aaa", 1), [hunk(3..4, 3..3)]);
    }

    /// Many records, so that they are sorted in several parts.
    #[test]
    fn records_that_occur_once_are_found() {
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        let old: Vec<u32> = (0..20_000).collect();
        let mut new: Vec<u32> = (10_000..30_000).rev().collect();
        new.extend([10_500, 29_999]);
        let all = [hunk(0..old.len(), 0..new.len())];
        let mut found = once(&bytes(&old), &bytes(&new), 4, &all);
        found.sort_unstable();
        let wanted = (10_000..20_000).filter(|number| *number != 10_500).map(|number| (number, 29_999 - number));
        assert_eq!(found, wanted.collect::<Vec<_>>());
        assert!(once(&[], &[], 4, &[]).is_empty());
    }

    proptest! {
        /// The old array with its hunks replaced is the new one.
        #[test]
        fn hunks_lead_from_one_array_to_the_other(old in "[a-e]{0,40}", new in "[a-e]{0,40}") {
            let (mut made, mut at) = (String::new(), 0);
            for hunk in hunks(old.as_bytes(), new.as_bytes(), 1) {
                made += &old[at..hunk.old.start];
                prop_assert_eq!(made.len(), hunk.new.start);
                made += &new[hunk.new.clone()];
                at = hunk.old.end;
            }
            made += &old[at..];
            prop_assert_eq!(made, new);
        }
    }
}
