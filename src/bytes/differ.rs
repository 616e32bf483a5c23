//! Where bytes differ.

use std::ops::Range;

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
    use super::*;
    use proptest::prelude::*;

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
}
