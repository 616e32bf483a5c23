//! Ranges of bytes that go out of a lump, and where offsets into it go.

use std::ops::Range;

/// Ranges of bytes that go.
pub(crate) struct Cut {
    /// In order, apart from each other.
    gone: Vec<Range<usize>>,
    /// The bytes that are gone before each range.
    before: Vec<usize>,
    /// The size of the lump.
    len: usize,
}

impl Cut {
    /// Ranges in order, apart from each other, of a lump of this size.
    pub(crate) fn new(gone: Vec<Range<usize>>, len: usize) -> Self {
        let before = gone.iter().scan(0, |sum, range| {
            let before = *sum;
            *sum += range.len();
            Some(before)
        });
        Cut { before: before.collect(), gone, len }
    }

    /// Everything but these ranges, which may overlap and go beyond the end.
    pub(crate) fn all_but(mut kept: Vec<Range<usize>>, len: usize) -> Self {
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
        Cut::new(gone, len)
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.gone.is_empty()
    }

    /// How many bytes go.
    pub(crate) fn count(&self) -> usize {
        self.gone.iter().map(Range::len).sum()
    }

    /// The same part of a lump of another size that runs parallel, with records of this size. `None` if no whole
    /// records are parallel to it.
    pub(crate) fn parallel(&self, len: usize, record: usize) -> Option<Cut> {
        let scaled = |at: usize| {
            let scaled = at.checked_mul(len)?;
            let at = scaled.is_multiple_of(self.len).then(|| scaled / self.len)?;
            at.is_multiple_of(record).then_some(at)
        };
        let gone = self.gone.iter().map(|range| Some(scaled(range.start)?..scaled(range.end)?));
        Some(Cut::new(gone.collect::<Option<_>>()?, len))
    }

    /// What is left of the lump's bytes.
    pub(crate) fn left(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut left, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for range in &self.gone {
            left.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
            at = range.end;
        }
        left.extend_from_slice(bytes.get(at..).unwrap_or_default());
        left
    }

    /// Where an offset goes. Bytes that are gone leave the place where they were; what is beyond the end stays.
    pub(crate) fn offset(&self, old: i64) -> i64 {
        let Some(at) = usize::try_from(old).ok().filter(|at| *at <= self.len) else { return old };
        let Some(index) = self.gone.partition_point(|range| range.start <= at).checked_sub(1) else { return old };
        let new = at - self.before[index] - self.gone[index].len().min(at - self.gone[index].start);
        i64::try_from(new).unwrap_or(old)
    }

    /// Whether an offset is of bytes that are gone, after which nothing is left.
    pub(crate) fn takes_end(&self, old: i64) -> bool {
        let at = usize::try_from(old).ok().filter(|at| *at < self.len);
        self.gone.last().is_some_and(|last| last.end == self.len && at.is_some_and(|at| last.contains(&at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_follow_what_is_left() {
        let cut = Cut::all_but(vec![8..10, 2..4, 3..5, 20..30], 12);
        assert_eq!(cut.gone, [0..2, 5..8, 10..12]);
        assert_eq!((cut.left(b"abcdefghijkl"), cut.count()), (b"cdeij".to_vec(), 7));
        let offsets = [-1, 0, 2, 4, 6, 8, 9, 11, 12, 40].map(|old| cut.offset(old));
        assert_eq!(offsets, [-1, 0, 0, 2, 3, 3, 4, 5, 5, 40]);
        assert_eq!([-1, 6, 9, 10, 11, 12].map(|old| cut.takes_end(old)), [false, false, false, true, true, false]);
        assert!(!cut.is_nothing() && Cut::all_but(vec![0..9, 4..12], 12).is_nothing());
    }

    #[test]
    fn parallel_lumps_lose_whole_records() {
        let cut = Cut::new(vec![2..4, 10..12], 12);
        assert_eq!(cut.parallel(36, 3).unwrap().gone, [6..12, 30..36]);
        assert!(cut.parallel(36, 4).is_none() && cut.parallel(5, 1).is_none());
        assert_eq!(cut.parallel(0, 1).unwrap().left(b""), b"");
    }
}
