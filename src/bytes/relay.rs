//! Ranges of bytes: old bytes with some ranges replaced, and where two byte strings differ.

use std::ops::Range;

// Old bytes with some ranges replaced and new bytes appended. Bytes after a replaced range move, and offsets are
// adjusted.

/// New bytes built from old ones, with a map from old offsets to new offsets.
pub(crate) struct Relay<'o> {
    old: &'o [u8],
    /// How many of the old bytes have been copied to `new` or replaced.
    used: usize,
    new: Vec<u8>,
    /// Pairs of an old offset and its new offset, in order. All bytes from that old offset on have moved by the same
    /// distance.
    moves: Vec<(usize, usize)>,
}

impl<'o> Relay<'o> {
    pub(crate) fn new(old: &'o [u8]) -> Self {
        Relay { old, used: 0, new: Vec::with_capacity(old.len()), moves: Vec::new() }
    }

    /// Replaces a range. Ranges are given in order and do not overlap. The bytes after the range keep their offset
    /// modulo the alignment: zeros fill the gap.
    pub(crate) fn replace(&mut self, range: Range<usize>, new: &[u8], alignment: usize) {
        self.new.extend_from_slice(&self.old[self.used..range.start]);
        self.new.extend_from_slice(new);
        self.used = range.end;
        if range.end < self.old.len() {
            let gap = (range.end + alignment - self.new.len() % alignment) % alignment;
            self.new.resize(self.new.len() + gap, 0);
        }
        // An offset equal to the start of the range does not change.
        let from = range.end.max(range.start + 1);
        self.moves.push((from, self.new.len() + from - range.end));
    }

    /// Appends bytes at a multiple of the alignment and returns their offset. After that no range can be replaced.
    pub(crate) fn append(&mut self, new: &[u8], alignment: usize) -> usize {
        self.take_rest();
        self.new.resize(self.new.len().next_multiple_of(alignment), 0);
        let start = self.new.len();
        self.new.extend_from_slice(new);
        start
    }

    /// The last byte after all old bytes have been copied.
    pub(crate) fn last(&mut self) -> Option<u8> {
        self.take_rest();
        self.new.last().copied()
    }

    /// The new value of an offset into the old bytes. An offset past the old end must stay past the new end: if the new
    /// bytes reach it, it moves by as much as the end did. `None` if the result exceeds 2 GiB.
    pub(crate) fn follow(&mut self, says: i32) -> Option<i32> {
        self.take_rest();
        let Ok(start) = usize::try_from(says) else { return Some(says) };
        let now = match start < self.old.len() {
            true => {
                let moved = self.moves.partition_point(|(from, _)| *from <= start).checked_sub(1);
                moved.map_or(start, |at| start - self.moves[at].0 + self.moves[at].1)
            }
            false if start < self.new.len() => start - self.old.len() + self.new.len(),
            false => start,
        };
        i32::try_from(now).ok()
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.take_rest();
        self.new
    }

    fn take_rest(&mut self) {
        self.new.extend_from_slice(&self.old[self.used..]);
        self.used = self.old.len();
    }
}

// Where bytes differ.

/// Ranges that have fewer equal bytes between them are one.
const APART: usize = 8;

/// How many bytes are compared at once.
const BLOCK: usize = 4096;

/// The ranges in which two byte strings differ, in order, as far as both have bytes. Ranges with fewer than eight equal
/// bytes between them are given as one.
///
/// ```
/// use bspkit::bytes::differences;
/// let found: Vec<_> = differences(b"the place of the light", b"the glade of the night").collect();
/// assert_eq!(found, [4..8, 17..18]);
/// ```
pub fn differences<'b>(old: &'b [u8], new: &'b [u8]) -> Differences<'b> {
    Differences { old, new, at: 0 }
}

/// The ranges that [`differences`] finds.
///
/// ```
/// let mut found: bspkit::bytes::Differences<'_> = bspkit::bytes::differences(b"a", b"b");
/// assert_eq!(found.next(), Some(0..1));
/// ```
#[derive(Clone, Debug)]
pub struct Differences<'b> {
    old: &'b [u8],
    new: &'b [u8],
    at: usize,
}

impl Iterator for Differences<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let (old, new) = (self.old.get(self.at..)?, self.new.get(self.at..)?);
        let mut blocks = old.chunks(BLOCK).zip(new.chunks(BLOCK)).enumerate();
        let differing = |(old, new): (&u8, &u8)| old != new;
        let start = blocks.find_map(|(block, (old, new))| {
            let length = old.len().min(new.len());
            let has_any = old[..length] != new[..length];
            let within = if has_any { old.iter().zip(new).position(differing) } else { None };
            within.map(|within| self.at + block * BLOCK + within)
        });
        let Some(start) = start else {
            self.at = self.old.len();
            return None;
        };
        let mut last = start;
        for (at, pair) in self.old.iter().zip(self.new).enumerate().skip(start) {
            if differing(pair) {
                last = at;
            } else if at - last >= APART {
                break;
            }
        }
        self.at = last + 1;
        Some(start..last + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The old bytes with the ranges of the new ones are the new bytes, and ranges begin and end with a difference.
        #[test]
        fn ranges_are_all_and_no_more(
            old in proptest::collection::vec(0..2_u8, 0..200),
            flips in proptest::collection::vec(any::<bool>(), 200),
            blocks in 0..2_usize,
        ) {
            let mut old = old;
            old.splice(0..0, vec![7; blocks * BLOCK - blocks]);
            let mut new = old.clone();
            new.iter_mut().rev().zip(&flips).filter(|(_, flip)| **flip).for_each(|(byte, _)| *byte ^= 1);
            let mut made = old.clone();
            let mut end = None;
            for range in differences(&old, &new) {
                prop_assert!(end.is_none_or(|end| range.start >= end + APART));
                prop_assert!(old[range.start] != new[range.start] && old[range.end - 1] != new[range.end - 1]);
                made[range.clone()].copy_from_slice(&new[range.clone()]);
                end = Some(range.end);
            }
            prop_assert_eq!(made, new);
        }
    }

    #[test]
    fn what_starts_with_an_empty_range_stays() {
        let mut relay = Relay::new(b"ab\0cd");
        relay.replace(2..2, b"new", 1);
        assert_eq!([0, 2, 3, 5, 9, -1].map(|says| relay.follow(says)), [0, 2, 6, 8, 9, -1].map(Some));
        assert_eq!(relay.into_bytes(), b"abnew\0cd");
    }

    proptest! {
        /// Adjusted offsets find the old bytes, and an offset past the end stays past the end.
        #[test]
        fn offsets_follow_their_bytes(
            old in vec(any::<u8>(), 0..60),
            cuts in vec((0..60usize, 0..9usize, vec(any::<u8>(), 0..9)), 0..6),
            appended in vec(vec(any::<u8>(), 0..9), 0..3),
            alignment in prop::sample::select(vec![1usize, 4]),
            past in 0..90i32,
        ) {
            let mut relay = Relay::new(&old);
            let (mut replaced, mut end) = (Vec::new(), 0);
            for (skip, len, new) in cuts {
                let start = end + skip.min(old.len() - end);
                end = start + len.min(old.len() - start);
                relay.replace(start..end, &new, alignment);
                replaced.push((start..end, new));
                if end == old.len() {
                    break;
                }
                // No caller replaces two ranges with the same start.
                end += 1;
            }
            let at: Vec<usize> = appended.iter().map(|new| relay.append(new, alignment)).collect();
            let all: Vec<i32> = (0..i32::try_from(old.len()).unwrap()).collect();
            let now: Vec<i32> = all.iter().map(|says| relay.follow(*says).unwrap()).collect();
            let outside = i32::try_from(old.len()).unwrap() + past;
            let outside_now = relay.follow(outside).unwrap();
            let new = relay.into_bytes();
            for (offset, now) in now.iter().map(|now| usize::try_from(*now).unwrap()).enumerate() {
                match replaced.iter().find(|(range, _)| range.contains(&offset) || range.start == offset) {
                    Some((range, bytes)) if range.start == offset => prop_assert!(new[now..].starts_with(bytes)),
                    Some(_) => {}
                    None => {
                        prop_assert_eq!(new[now], old[offset]);
                        prop_assert_eq!(now % alignment, offset % alignment);
                    }
                }
            }
            for (start, bytes) in at.into_iter().zip(&appended) {
                prop_assert!(new[start..].starts_with(bytes) && start % alignment == 0);
            }
            prop_assert!(usize::try_from(outside_now).unwrap() >= new.len());
            prop_assert!(outside_now == outside || usize::try_from(outside).unwrap() < new.len());
        }
    }
}
