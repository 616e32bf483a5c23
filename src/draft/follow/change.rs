//! Where the records of one list go, and where that leaves those who refer to them.

use std::collections::HashMap;
use std::ops::Range;

use crate::record::Order;

/// The new place of a record that is removed.
pub(super) const GONE: usize = usize::MAX;

/// What a new record is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// An old record.
    Old(usize),
    /// One of the records that the edit brings: its index among them, and the old record that it is a copy of.
    New(usize, Option<usize>),
}

impl Source {
    pub(super) fn old(self) -> Option<usize> {
        if let Source::Old(index) = self { Some(index) } else { None }
    }
}

/// Why a number cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It was out of range before, and would name other records after.
    Damaged,
    /// The record that it names is removed.
    Gone,
    /// New records would be among those of a run that must not change.
    Inside,
    /// The records of a run would not be together.
    Apart,
    /// The records of a run would have another order.
    Disordered,
}

impl Why {
    pub(super) fn text(self) -> &'static str {
        match self {
            Why::Damaged => "it names records that are not there, and would name others after the edit",
            Why::Gone => "it needs a record that is removed",
            Why::Inside => "its records are a whole, and new ones would be among them",
            Why::Apart => "its records would not be together",
            Why::Disordered => "its records would have another order",
        }
    }
}

/// The new places of the records of a list.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// The new index of each old record, or [`GONE`].
    place: Vec<usize>,
    /// What each new record is made from.
    pub(super) content: Vec<Source>,
    /// The old records whose place a new one takes, with that place.
    replaced: Vec<(usize, usize)>,
    /// How many of the old records before each one leave their index.
    moved: Vec<usize>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Permuted {
        /// The sums of the new indices before each record, and of their squares.
        sums: Vec<(u128, u128)>,
        /// How many records before each one are not followed by the record that followed them.
        breaks: Vec<usize>,
    },
    /// Records are removed and added; those that stay keep their order.
    Spliced {
        /// The new index of the first record from here on that stays.
        next: Vec<usize>,
        /// One more than the new index of the last record before here that stays.
        end: Vec<usize>,
        /// How many records before here stay.
        stay: Vec<usize>,
    },
}

impl Change {
    /// The record `content[new]` comes to each place. `content` has every old record once.
    pub(super) fn permuted(content: Vec<usize>) -> Self {
        let mut place = vec![GONE; content.len()];
        content.iter().enumerate().for_each(|(new, old)| place[*old] = new);
        let (mut sums, mut breaks) = (Vec::with_capacity(place.len() + 1), Vec::with_capacity(place.len() + 1));
        let (mut sum, mut broken) = ((0_u128, 0_u128), 0);
        for (index, new) in place.iter().enumerate() {
            sums.push(sum);
            breaks.push(broken);
            let number = u128::try_from(*new).unwrap_or(0);
            sum = (sum.0 + number, sum.1 + number * number);
            broken += usize::from(place.get(index + 1) != Some(&(new + 1)));
        }
        sums.push(sum);
        breaks.push(broken);
        Change::new(place, content.into_iter().map(Source::Old).collect(), Vec::new(), Kind::Permuted { sums, breaks })
    }

    /// The records of a list of `len` records after some are removed and others are added. `content` has the old ones
    /// in their order; `replaced` are the old records whose place a new one takes.
    pub(super) fn spliced(len: usize, content: Vec<Source>, replaced: &[(usize, usize)]) -> Self {
        let mut place = vec![GONE; len];
        for (new, source) in content.iter().enumerate() {
            if let Source::Old(old) = source {
                place[*old] = new;
            }
        }
        replaced.iter().for_each(|(old, new)| place[*old] = *new);
        let (mut end, mut stay) = (Vec::with_capacity(len + 1), Vec::with_capacity(len + 1));
        let (mut last, mut count) = (0, 0);
        for new in &place {
            end.push(last);
            stay.push(count);
            if *new != GONE {
                (last, count) = (new + 1, count + 1);
            }
        }
        end.push(last);
        stay.push(count);
        let mut next = vec![content.len(); len + 1];
        for index in (0..len).rev() {
            next[index] = if place[index] == GONE { next[index + 1] } else { place[index] };
        }
        Change::new(place, content, replaced.to_vec(), Kind::Spliced { next, end, stay })
    }

    fn new(place: Vec<usize>, content: Vec<Source>, replaced: Vec<(usize, usize)>, kind: Kind) -> Self {
        let mut moved = Vec::with_capacity(place.len() + 1);
        let mut total = 0;
        for (old, new) in place.iter().enumerate() {
            moved.push(total);
            total += usize::from(old != *new);
        }
        moved.push(total);
        Change { place, content, replaced, moved, kind }
    }

    /// The change of a list that has several records for each one of this list: `old` says where those of an old record
    /// are, `new` how many a new one has.
    pub(super) fn expanded(
        &self,
        old: impl Fn(usize) -> Range<usize>,
        new: impl Fn(usize, Option<usize>) -> usize,
    ) -> Self {
        let len = self.old_len().checked_sub(1).map_or(0, |last| old(last).end);
        let replaced: HashMap<usize, usize> = self.replaced.iter().map(|(old, new)| (*new, *old)).collect();
        let (mut content, mut fresh) = (Vec::with_capacity(len), 0);
        for (at, source) in self.content.iter().enumerate() {
            match (*source, replaced.get(&at)) {
                (Source::Old(index), _) => content.extend(old(index).map(Source::Old)),
                (Source::New(index, _), Some(place)) if new(index, None) == old(*place).len() => {
                    content.extend(old(*place).map(Source::Old));
                }
                (Source::New(index, like), _) => {
                    let copies = like.map(&old);
                    for nth in 0..copies.as_ref().map_or_else(|| new(index, None), ExactSizeIterator::len) {
                        content.push(Source::New(fresh, copies.as_ref().map(|copies| copies.start + nth)));
                        fresh += 1;
                    }
                }
            }
        }
        match self.kind {
            Kind::Permuted { .. } => Change::permuted(content.into_iter().filter_map(Source::old).collect()),
            Kind::Spliced { .. } => Change::spliced(len, content, &[]),
        }
    }

    /// The new records that take the place of old ones or are added, in order.
    pub(super) fn fresh(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        self.content.iter().filter_map(|source| match source {
            Source::New(index, like) => Some((*index, *like)),
            Source::Old(_) => None,
        })
    }

    /// How many records there were.
    pub(super) fn old_len(&self) -> usize {
        self.place.len()
    }

    /// How many records there are after the edit.
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    /// Whether no record leaves its index, is removed or added.
    pub(super) fn is_nothing(&self) -> bool {
        self.len() == self.old_len()
            && self.moved.last() == Some(&0)
            && !self.content.iter().any(|source| matches!(source, Source::New(..)))
    }

    /// Whether it only brings the records into another order.
    pub(super) fn is_order(&self) -> bool {
        matches!(self.kind, Kind::Permuted { .. })
    }

    /// Whether a record is removed.
    pub(super) fn removes(&self) -> bool {
        self.place.contains(&GONE)
    }

    /// The new index of an old record.
    pub(super) fn place(&self, old: usize) -> Option<usize> {
        self.place.get(old).copied()
    }

    /// The new index that a number names; `None` if it stays.
    pub(super) fn index(&self, old: i64) -> Result<Option<i64>, Why> {
        let Some(index) = usize::try_from(old).ok().filter(|old| *old < self.old_len()) else {
            let is_there = usize::try_from(old).is_ok_and(|old| old < self.len());
            return if is_there { Err(Why::Damaged) } else { Ok(None) };
        };
        match self.place[index] {
            GONE => Err(Why::Gone),
            new if new == index => Ok(None),
            new => Ok(i64::try_from(new).ok()),
        }
    }

    /// The new first record and count of a run; `None` if both stay.
    pub(super) fn run(&self, first: i64, count: i64, order: Order) -> Result<Option<(i64, i64)>, Why> {
        let end = first.saturating_add(count);
        let range = usize::try_from(first).ok().zip(usize::try_from(end).ok());
        let Some((from, to)) = range.filter(|(from, to)| from <= to && *to <= self.old_len()) else {
            return self.damaged(first, end);
        };
        let as_it_is = self.moved[from] == self.moved[to];
        let (new, many) = match &self.kind {
            _ if as_it_is && self.len() == self.old_len() => return Ok(None),
            Kind::Permuted { breaks, .. } if order == Order::Matters => match breaks[from] == breaks[to - 1] {
                true => (self.place[from], to - from),
                false => return Err(Why::Disordered),
            },
            Kind::Permuted { sums, .. } => (together(sums[from], sums[to], to - from).ok_or(Why::Apart)?, to - from),
            Kind::Spliced { stay, .. } if order == Order::Matters && stay[to] - stay[from] < to - from => {
                return Err(Why::Gone);
            }
            // New records belong to the runs of the record before them.
            Kind::Spliced { next, stay, .. } if order != Order::Matters && stay[from] < stay[to] => {
                (next[from], next[to] - next[from])
            }
            Kind::Spliced { next, .. } if order != Order::Matters => (next[from], 0),
            Kind::Spliced { next, end, .. } if end[to] - next[from] > to - from => return Err(Why::Inside),
            Kind::Spliced { next, .. } => (next[from], to - from),
        };
        let (new, many) = (i64::try_from(new).unwrap_or(i64::MAX), i64::try_from(many).unwrap_or(i64::MAX));
        Ok(((new, many) != (first, count)).then_some((new, many)))
    }

    /// A run that was out of range stays if no record of it moves.
    fn damaged(&self, first: i64, end: i64) -> Result<Option<(i64, i64)>, Why> {
        let clamp =
            |value: i64| usize::try_from(value.max(0)).map_or(self.old_len(), |value| value.min(self.old_len()));
        let (from, to) = (clamp(first), clamp(end));
        let stays = self.moved[from] == self.moved[to.max(from)] && self.len() <= self.old_len();
        if stays { Ok(None) } else { Err(Why::Damaged) }
    }
}

/// The least of some new indices if they follow each other: of all sets of different numbers those without gaps have
/// the least variance.
fn together(before: (u128, u128), after: (u128, u128), count: usize) -> Option<usize> {
    let count = u128::try_from(count).ok()?;
    let (sum, squares) = (after.0 - before.0, after.1 - before.1);
    let is_dense = count * squares - sum * sum == count * count * (count * count - 1) / 12;
    let least = (sum - count * (count - 1) / 2) / count;
    usize::try_from(least).ok().filter(|_| is_dense)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_permutation_follow_if_they_stay_together() {
        let change = Change::permuted(vec![3, 4, 5, 0, 2, 1]);
        assert_eq!(change.run(3, 3, Order::Matters), Ok(Some((0, 3))));
        assert_eq!(change.run(0, 3, Order::Free), Ok(Some((3, 3))));
        assert_eq!(change.run(0, 3, Order::Matters), Err(Why::Disordered));
        assert_eq!(change.run(2, 2, Order::Free), Err(Why::Apart));
        assert_eq!(change.run(5, 4, Order::Free), Err(Why::Damaged));
        assert_eq!((change.index(9), change.index(-1), change.index(2)), (Ok(None), Ok(None), Ok(Some(4))));
    }

    /// Three records, the second one removed, and two added after the first one.
    #[test]
    fn runs_grow_and_shrink() {
        let content = vec![Source::Old(0), Source::New(0, None), Source::New(1, None), Source::Old(2)];
        let change = Change::spliced(3, content, &[]);
        assert_eq!(change.run(0, 3, Order::Free), Ok(Some((0, 4))));
        assert_eq!(change.run(0, 1, Order::Free), Ok(Some((0, 3))));
        assert_eq!(change.run(1, 1, Order::Free), Ok(Some((3, 0))));
        assert_eq!(change.run(0, 2, Order::Matters), Err(Why::Gone));
        assert_eq!(change.run(2, 1, Order::Matters), Ok(Some((3, 1))));
        assert_eq!(
            (change.index(3), change.index(1), change.index(2)),
            (Err(Why::Damaged), Err(Why::Gone), Ok(Some(3)))
        );
    }

    #[test]
    fn numbers_without_gaps_have_the_least_variance() {
        let sums = |numbers: &[usize]| {
            let numbers = numbers.iter().map(|number| u128::try_from(*number).unwrap());
            numbers.fold((0, 0), |sum, number| (sum.0 + number, sum.1 + number * number))
        };
        assert_eq!(together((0, 0), sums(&[7, 5, 6]), 3), Some(5));
        assert_eq!(together((0, 0), sums(&[7, 5, 8]), 3), None);
        assert_eq!(together((0, 0), sums(&[4]), 1), Some(4));
    }
}
