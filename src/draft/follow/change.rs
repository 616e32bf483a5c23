//! Where the records of one list go, and where that leaves those who refer to them.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::links::{How, Link, Links};
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
    /// How many of the old records before each one leave their index; computed once it is needed, as the sums below.
    moved: OnceCell<Vec<usize>>,
    /// The old records of which copies follow them, as an edit of this list alone.
    copied: Option<Range<usize>>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Permuted {
        /// The sums of the new indices before each record, and of their squares.
        sums: OnceCell<Vec<(u128, u128)>>,
        /// How many records before each one are not followed by the record that followed them.
        breaks: OnceCell<Vec<usize>>,
    },
    /// Records are removed and added; those that stay keep their order.
    Spliced {
        /// The new index of the first record from here on that stays.
        next: OnceCell<Vec<usize>>,
        /// How many records before here stay.
        stay: OnceCell<Vec<usize>>,
    },
}

/// How many are true before each one, and in all.
fn sums_before(numbers: impl ExactSizeIterator<Item = bool>) -> Vec<usize> {
    let (mut sums, mut sum) = (Vec::with_capacity(numbers.len() + 1), 0);
    sums.push(0);
    for number in numbers {
        sum += usize::from(number);
        sums.push(sum);
    }
    sums
}

impl Change {
    /// The record `content[new]` comes to each place. `content` has every old record once.
    pub(super) fn permuted(content: Vec<usize>) -> Self {
        let mut place = vec![GONE; content.len()];
        content.iter().enumerate().for_each(|(new, old)| place[*old] = new);
        let kind = Kind::Permuted { sums: OnceCell::new(), breaks: OnceCell::new() };
        Change::new(place, content.into_iter().map(Source::Old).collect(), Vec::new(), kind)
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
        let kind = Kind::Spliced { next: OnceCell::new(), stay: OnceCell::new() };
        Change::new(place, content, replaced.to_vec(), kind)
    }

    /// As this change, in which copies of a range of records follow these.
    pub(super) fn with_copies_of(self, copied: Range<usize>) -> Self {
        Change { copied: Some(copied), ..self }
    }

    /// The new place of the copy of each old record that has one.
    pub(super) fn copies(&self) -> HashMap<usize, usize> {
        let copy = |(place, source): (usize, &Source)| match source {
            Source::New(_, Some(like)) => Some((*like, place)),
            _ => None,
        };
        self.content.iter().enumerate().filter_map(copy).collect()
    }

    fn new(place: Vec<usize>, content: Vec<Source>, replaced: Vec<(usize, usize)>, kind: Kind) -> Self {
        Change { place, content, replaced, moved: OnceCell::new(), copied: None, kind }
    }

    /// Whether no record of a range leaves its index.
    fn is_still(&self, from: usize, to: usize) -> bool {
        let moved = self.moved.get_or_init(|| sums_before(self.place.iter().enumerate().map(|(old, new)| old != *new)));
        moved[from] == moved[to]
    }

    /// Whether nothing is added before the end of a range that stays.
    fn is_end(&self, to: usize) -> bool {
        match &self.kind {
            Kind::Permuted { .. } => true,
            Kind::Spliced { next, .. } => next.get_or_init(|| self.next())[to] == to,
        }
    }

    /// The sums of new indices and of their squares before each record.
    fn sums(&self) -> Vec<(u128, u128)> {
        let (mut sums, mut sum) = (Vec::with_capacity(self.place.len() + 1), (0_u128, 0_u128));
        for new in &self.place {
            sums.push(sum);
            let number = u128::try_from(*new).unwrap_or(0);
            sum = (sum.0 + number, sum.1 + number * number);
        }
        sums.push(sum);
        sums
    }

    /// How many records before each one are not followed by the record that followed them.
    fn breaks(&self) -> Vec<usize> {
        sums_before(self.place.iter().enumerate().map(|(at, new)| self.place.get(at + 1) != Some(&(new + 1))))
    }

    /// The new index of the first record from each one on that stays.
    fn next(&self) -> Vec<usize> {
        let mut next = vec![self.content.len(); self.place.len() + 1];
        for index in (0..self.place.len()).rev() {
            next[index] = if self.place[index] == GONE { next[index + 1] } else { self.place[index] };
        }
        next
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

    /// The new records that are added, and do not take the place of old ones.
    pub(super) fn added(&self) -> Vec<usize> {
        let mut replaced = self.replaced.iter().map(|(_, new)| *new).peekable();
        let content = self.content.iter().enumerate();
        let is_added = |(at, source): (usize, &Source)| match source {
            Source::New(index, _) if replaced.next_if_eq(&at).is_none() => Some(*index),
            _ => None,
        };
        content.filter_map(is_added).collect()
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
            && self.place.iter().enumerate().all(|(old, new)| old == *new)
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
        let (new, many) = match &self.kind {
            _ if self.len() == self.old_len() && self.is_still(from, to) && self.is_end(to) => return Ok(None),
            Kind::Permuted { breaks, .. } if order.is_whole() => {
                let breaks = breaks.get_or_init(|| self.breaks());
                match breaks[from] == breaks[to - 1] {
                    true => (self.place[from], to - from),
                    false => return Err(Why::Disordered),
                }
            }
            Kind::Permuted { sums, .. } => {
                let sums = sums.get_or_init(|| self.sums());
                (together(sums[from], sums[to], to - from).ok_or(Why::Apart)?, to - from)
            }
            Kind::Spliced { next, stay } => {
                let stay = stay.get_or_init(|| sums_before(self.place.iter().map(|new| *new != GONE)));
                let stays = stay[to] - stay[from];
                let next = next.get_or_init(|| self.next());
                if order == Order::Optional && stays < to - from {
                    return Ok(Some((i64::try_from(next[from]).unwrap_or(i64::MAX), 0)));
                }
                if let (Order::Planes(fixed), Some(copied)) = (order, &self.copied)
                    && (from + 1..=to).contains(&copied.end)
                {
                    let is_own = copied.start >= from && copied.end - from >= fixed;
                    let more = i64::try_from(copied.len()).unwrap_or(i64::MAX);
                    let new = i64::try_from(self.place[from]).unwrap_or(i64::MAX);
                    return if is_own { Ok(Some((new, count + more))) } else { Err(Why::Inside) };
                }
                // A plane goes where another record has the same one.
                if matches!(order, Order::Planes(_))
                    && (1..to - from).contains(&stays)
                    && next[to] - next[from] == stays
                {
                    let [new, stays] = [next[from], stays].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
                    return Ok(Some((new, stays)));
                }
                if order.is_whole() {
                    return self.whole(from..to, stays).map(|new| (new != first).then_some((new, count)));
                }
                // New records belong to the runs of the record before them.
                (next[from], if stays > 0 { next[to] - next[from] } else { 0 })
            }
        };
        let (new, many) = (i64::try_from(new).unwrap_or(i64::MAX), i64::try_from(many).unwrap_or(i64::MAX));
        Ok(((new, many) != (first, count)).then_some((new, many)))
    }

    /// The new first record of a run that stays as it is; `stays` of its records stay.
    fn whole(&self, run: Range<usize>, stays: usize) -> Result<i64, Why> {
        if stays < run.len() {
            return Err(Why::Gone);
        }
        let Some((first, last)) = self.place.get(run.start).zip(self.place.get(run.end.wrapping_sub(1))) else {
            return Err(Why::Damaged);
        };
        match last + 1 - first > run.len() {
            true => Err(Why::Inside),
            false => Ok(i64::try_from(*first).unwrap_or(i64::MAX)),
        }
    }

    /// A run that was out of range stays if no record of it moves.
    fn damaged(&self, first: i64, end: i64) -> Result<Option<(i64, i64)>, Why> {
        let clamp =
            |value: i64| usize::try_from(value.max(0)).map_or(self.old_len(), |value| value.min(self.old_len()));
        let (from, to) = (clamp(first), clamp(end));
        let stays = self.is_still(from, to.max(from)) && self.len() <= self.old_len();
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

// Records whose sets follow each other: the faces of the models, and their leafs.

/// The first record and the number of records that belong to each record of a list; `None` if they do not follow each
/// other, or not all of them are there.
pub(super) fn blocks(links: &Links<'_>, link: &Link) -> Option<Vec<(usize, usize)>> {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let skip = match link.how {
        How::Share(skip) => skip,
        How::Run(_, _, Order::InTurn | Order::Own) => 0,
        _ => return None,
    };
    let (mut next, mut blocks) = (skip, Vec::with_capacity(from.len()));
    for record in 0..from.len() {
        let (first, count) = match link.how {
            How::Share(_) => (next, usize::try_from(link.word.get(from.record(record))).ok()?),
            _ => match link.named(from.record(record), to.len()) {
                None => (next, 0),
                Some((first, count)) => (usize::try_from(first).ok()?, usize::try_from(count).ok()?),
            },
        };
        if first != next {
            return None;
        }
        blocks.push((first, count));
        next = first.checked_add(count).filter(|end| *end <= to.len())?;
    }
    Some(blocks)
}

/// The order of the records that belong to those of a list that comes into another order.
pub(super) fn follow(links: &Links<'_>, link: &Link, change: &Change) -> Option<Change> {
    let blocks = blocks(links, link).filter(|_| change.is_order())?;
    let start = blocks.first().map_or(0, |(first, _)| *first);
    let end = blocks.last().map_or(0, |(first, count)| first + count);
    let sources = change.content.iter().filter_map(|source| match source {
        Source::Old(old) => blocks.get(*old),
        Source::New(..) => None,
    });
    let moved = sources.flat_map(|(first, count)| *first..first + count);
    Some(Change::permuted((0..start).chain(moved).chain(end..links.sites[link.to].len()).collect()))
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

    /// As many records as before: one added after the first one, and the last one removed.
    #[test]
    fn a_run_grows_where_another_record_goes() {
        let content = vec![Source::Old(0), Source::New(0, None), Source::Old(1)];
        let change = Change::spliced(3, content, &[]);
        assert_eq!(change.run(0, 1, Order::Free), Ok(Some((0, 2))));
        assert_eq!(change.run(1, 2, Order::Free), Ok(Some((2, 1))));
        assert_eq!(change.run(0, 1, Order::Matters), Ok(None));
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
