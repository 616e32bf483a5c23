//! The new places of the records of a list, as one side has them, and where numbers of the other side lead then.

use crate::record::Order;

/// The place of a record that was removed.
pub(super) const GONE: usize = usize::MAX;

/// The place of a record that is not there, or is not known: it was removed or replaced among records that are alike,
/// or among others that changed.
pub(super) const LOST: usize = usize::MAX - 1;

/// Where the records of a list are; a list without moves has each of them where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moves {
    /// The new index of each old record, [`GONE`] or [`LOST`].
    pub(super) place: Vec<usize>,
    /// The old record of each new one; [`GONE`] for those that are new.
    pub(super) from: Vec<usize>,
    /// The first record from each one on that is not gone, and the last one up to it.
    next: Vec<usize>,
    last: Vec<usize>,
    /// How many records before each one are not followed by the record that followed them.
    breaks: Vec<usize>,
    is_ordered: bool,
}

impl Moves {
    /// The moves with these new places of the old records, in a list of `len` new ones.
    pub(super) fn new(place: Vec<usize>, len: usize) -> Self {
        let mut from = vec![GONE; len];
        for (old, new) in place.iter().enumerate() {
            if let Some(from) = from.get_mut(*new) {
                *from = old;
            }
        }
        let (mut next, mut last) = (vec![GONE; place.len() + 1], vec![GONE; place.len()]);
        for old in (0..place.len()).rev() {
            next[old] = if place[old] == GONE { next[old + 1] } else { old };
        }
        let (mut breaks, mut count, mut known) = (Vec::with_capacity(place.len()), 0, GONE);
        for (old, new) in place.iter().enumerate() {
            known = if *new == GONE { known } else { old };
            last[old] = known;
            breaks.push(count);
            count += usize::from(*new >= LOST || place.get(old + 1) != Some(&(new + 1)));
        }
        let stay = place.iter().filter(|new| **new < LOST);
        let is_ordered = stay.clone().zip(stay.skip(1)).all(|(one, other)| one < other);
        Moves { place, from, next, last, breaks, is_ordered }
    }

    /// Moves of which nothing is known.
    pub(super) fn lost(old: usize, new: usize) -> Self {
        Moves::new(vec![LOST; old], new)
    }

    /// Whether the first records are where they were.
    pub(super) fn keeps(&self, count: usize) -> bool {
        count <= self.place.len() && self.place[..count].iter().enumerate().all(|(old, new)| old == *new)
    }

    /// Whether a record that stays is at another place.
    pub(super) fn shifts(&self) -> bool {
        self.place.iter().enumerate().any(|(old, new)| *new < LOST && *new != old)
    }

    fn index(&self, old: i64) -> Option<usize> {
        usize::try_from(old).ok().filter(|old| *old < self.place.len())
    }

    /// The new index that a number names, or the reason why it names nothing.
    pub(super) fn one(&self, old: i64) -> Result<i64, &'static str> {
        match self.index(old).map(|old| self.place[old]) {
            None => Err("it names a record that is not there"),
            Some(GONE) => Err("the other side removes the record that it names"),
            Some(LOST) => Err("it names a record that the other side changes, and it is not known which one it is now"),
            Some(new) => i64::try_from(new).map_err(|_| "its number is too large"),
        }
    }

    /// The new first record and the count of a run.
    pub(super) fn run(&self, first: i64, count: i64, order: Order) -> Result<(i64, i64), &'static str> {
        let range = self.index(first).zip(self.index(first.saturating_add(count - 1)));
        let (from, to) = range.ok_or("it names records that are not there")?;
        let is_whole = self.place[to] < LOST && self.breaks[from] == self.breaks[to];
        let wide = |number: usize| i64::try_from(number).map_err(|_| "its number is too large");
        if is_whole {
            return Ok((wide(self.place[from])?, count));
        }
        match (order, self.is_ordered) {
            (Order::Matters, _) => return Err("the other side changes the records that it names, which are a whole"),
            (_, false) => return Err("the other side moves the records that it names away from each other"),
            _ => {}
        }
        let (from, to) = (self.next[from], self.last[to]);
        let (Some(&first), Some(&last)) = (self.place.get(from), self.place.get(to)) else {
            return Err("the other side removes all records that it names");
        };
        match (first < LOST && last < LOST, from <= to) {
            (true, true) => Ok((wide(first)?, wide(last + 1 - first)?)),
            (true, false) => Err("the other side removes all records that it names"),
            (false, _) => Err("the other side changes the records that it names, and it is not known where they end"),
        }
    }

    /// What a number is compared by: the same number for the same record.
    pub(super) fn mark(&self, old: i64) -> i64 {
        self.one(old).unwrap_or_else(|_| i64::MIN / 2 + old)
    }

    /// What a run is compared by: its first and its last record that stay.
    pub(super) fn marks(&self, first: i64, count: i64) -> [i64; 2] {
        let last = first.saturating_add(count - 1);
        let Some((from, to)) = self.index(first).zip(self.index(last)) else {
            return [self.mark(first), self.mark(last)];
        };
        let wide = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        match (self.next[from], self.last[to]) {
            (from, to) if from != GONE && to != GONE && from <= to => [self.mark(wide(from)), self.mark(wide(to))],
            _ => [self.mark(first), self.mark(last)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_what_is_removed_and_refuse_what_is_not_known() {
        // Five records: the second one is removed, and a new one is before the last.
        let moves = Moves::new(vec![0, GONE, 1, 2, 4], 5);
        assert_eq!(moves.run(0, 3, Order::Free), Ok((0, 2)));
        assert_eq!(moves.run(1, 2, Order::Free), Ok((1, 1)));
        assert_eq!(moves.run(2, 3, Order::Free), Ok((1, 4)));
        assert_eq!(moves.run(2, 2, Order::Matters), Ok((1, 2)));
        assert!(moves.run(2, 3, Order::Matters).is_err());
        assert!(moves.run(1, 1, Order::Free).is_err());
        assert!(moves.run(4, 2, Order::Free).is_err());
        assert_eq!((moves.one(4), moves.marks(0, 2)), (Ok(4), [0, 0]));
        let moves = Moves::new(vec![0, LOST, 1], 2);
        assert!(moves.run(1, 2, Order::Free).is_err());
        assert_eq!(moves.run(0, 3, Order::Free), Ok((0, 2)));
        let moves = Moves::new(vec![2, 0, 1], 3);
        assert_eq!(moves.run(1, 2, Order::Free), Ok((0, 2)));
        assert!(moves.run(0, 2, Order::Free).is_err());
    }
}
