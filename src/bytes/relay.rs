//! Old bytes with some ranges replaced and others appended: what follows a replaced range moves, and offsets follow.

use std::ops::Range;

/// New bytes made of old ones, and where the old ones are in them.
pub(crate) struct Relay<'o> {
    old: &'o [u8],
    /// How many of the old bytes are in `new`, or replaced there.
    used: usize,
    new: Vec<u8>,
    /// From which old offset on bytes have moved, and where that offset is now; in order.
    moves: Vec<(usize, usize)>,
}

impl<'o> Relay<'o> {
    pub(crate) fn new(old: &'o [u8]) -> Self {
        Relay { old, used: 0, new: Vec::with_capacity(old.len()), moves: Vec::new() }
    }

    /// Replaces a range, which starts at or after the end of the one before. What follows keeps its offset modulo the
    /// alignment: zeros fill the gap.
    pub(crate) fn replace(&mut self, range: Range<usize>, new: &[u8], alignment: usize) {
        self.new.extend_from_slice(&self.old[self.used..range.start]);
        self.new.extend_from_slice(new);
        self.used = range.end;
        if range.end < self.old.len() {
            let gap = (range.end + alignment - self.new.len() % alignment) % alignment;
            self.new.resize(self.new.len() + gap, 0);
        }
        // What starts with the range itself stays where it is.
        let from = range.end.max(range.start + 1);
        self.moves.push((from, self.new.len() + from - range.end));
    }

    /// Adds bytes after all others, at a multiple of the alignment, and gives their offset. No range can be replaced
    /// then.
    pub(crate) fn append(&mut self, new: &[u8], alignment: usize) -> usize {
        self.take_rest();
        self.new.resize(self.new.len().next_multiple_of(alignment), 0);
        let start = self.new.len();
        self.new.extend_from_slice(new);
        start
    }

    /// The last byte, with all old bytes taken.
    pub(crate) fn last(&mut self) -> Option<u8> {
        self.take_rest();
        self.new.last().copied()
    }

    /// What a word says now that said this offset into the old bytes. An offset past their end changes only if it would
    /// be within the new ones: then it is as far past these. `None` past 2 GiB.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn what_starts_with_an_empty_range_stays() {
        let mut relay = Relay::new(b"ab\0cd");
        relay.replace(2..2, b"new", 1);
        assert_eq!([0, 2, 3, 5, 9, -1].map(|says| relay.follow(says)), [0, 2, 6, 8, 9, -1].map(Some));
        assert_eq!(relay.into_bytes(), b"abnew\0cd");
    }

    proptest! {
        /// Old bytes are found where their offsets say, and what was past the end is past the end.
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
                // No caller makes an edit with two ranges that start at one place.
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
