//! A set of the records of a list, 64 in a word.

/// The records from 0 on that are in the set.
pub(super) struct Bits {
    words: Vec<u64>,
    /// For each word the first one from there on that has room, over several steps.
    free: Vec<usize>,
    len: usize,
    /// How many are not in the set.
    left: usize,
}

impl Bits {
    /// None of this many records.
    pub(super) fn new(len: usize) -> Self {
        let words = len.div_ceil(64);
        Bits { words: vec![0; words], free: (0..=words).collect(), len, left: len }
    }

    /// How many records the list has.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    #[inline]
    pub(super) fn has(&self, record: usize) -> bool {
        self.words.get(record / 64).is_some_and(|word| word >> (record % 64) & 1 == 1)
    }

    /// Adds the records of a range, and calls a function for each word with new ones: its index, and their bits. Full
    /// words are skipped, so that the time does not depend on how many ranges have the same records.
    #[inline]
    pub(super) fn add(&mut self, start: usize, end: usize, mut new: impl FnMut(usize, u64)) {
        let end = end.min(self.len);
        if start >= end {
            return;
        }
        let (first, last) = (start / 64, (end - 1) / 64);
        if first == last {
            // Most ranges are short.
            let bits = self.insert(first, u64::MAX << (start % 64) & u64::MAX >> (63 - (end - 1) % 64));
            if bits != 0 {
                new(first, bits);
            }
            return;
        }
        let mut at = self.next(first);
        while at <= last {
            let low = if at == first { u64::MAX << (start % 64) } else { u64::MAX };
            let high = if at == last { u64::MAX >> (63 - (end - 1) % 64) } else { u64::MAX };
            let bits = self.insert(at, low & high);
            if bits != 0 {
                new(at, bits);
            }
            at = self.next(at + 1);
        }
    }

    /// Adds records of a word; returns the new ones.
    #[inline]
    pub(super) fn insert(&mut self, at: usize, bits: u64) -> u64 {
        let room = self.len - 64 * at;
        let bits = if room < 64 { bits & !(u64::MAX << room) } else { bits };
        let new = bits & !self.words[at];
        if new == 0 {
            return 0;
        }
        self.words[at] |= new;
        self.left -= usize::try_from(new.count_ones()).unwrap_or(0);
        if self.words[at] == u64::MAX {
            self.free[at] = at + 1;
        }
        new
    }

    /// The first word from this one on that has room; the way there becomes shorter.
    fn next(&mut self, mut at: usize) -> usize {
        while self.free[at] != at {
            self.free[at] = self.free[self.free[at]];
            at = self.free[at];
        }
        at
    }

    /// The bits of a word; none where there is no such word.
    pub(super) fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// The records that are not in the set, or that are in the other one, in ascending order.
    pub(super) fn others(&self, removed: Option<&Bits>) -> Vec<usize> {
        let mut others = Vec::new();
        if self.is_full() && removed.is_none() {
            return others;
        }
        for (at, word) in self.words.iter().enumerate() {
            let room = self.len - 64 * at;
            let all = if room < 64 { !(u64::MAX << room) } else { u64::MAX };
            let bits = !word & all | removed.map_or(0, |removed| removed.word(at));
            others.extend(ones(bits).map(|bit| 64 * at + bit));
        }
        others
    }
}

/// The numbers of the bits that are 1.
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = usize::try_from(bits.trailing_zeros()).ok().filter(|bit| *bit < 64)?;
        bits &= bits - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_is_new_once() {
        for len in [0, 1, 63, 64, 65, 200] {
            let (mut bits, mut model) = (Bits::new(len), vec![false; len]);
            for (start, end) in [(5, 5), (3, 9), (0, 64), (60, 70), (63, 65), (2, 500), (190, 200), (0, 0)] {
                let mut found = Vec::new();
                bits.add(start, end, |at, new| found.extend(ones(new).map(|bit| 64 * at + bit)));
                let new = (start..end.min(len)).filter(|record| !std::mem::replace(&mut model[*record], true));
                assert_eq!(found, new.collect::<Vec<_>>(), "{start}..{end} of {len}");
                let left: Vec<usize> = (0..len).filter(|record| !model[*record]).collect();
                assert_eq!(bits.others(None), left);
                assert!((0..len + 70).all(|record| bits.has(record) == (model.get(record) == Some(&true))));
            }
        }
    }
}
