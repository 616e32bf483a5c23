//! The new places of the records of a list, as one side has them, and where numbers of the other side lead then.

use bspkit::record::Order;

/// The place of a record that was removed.
pub(crate) const GONE: usize = usize::MAX;

/// The place of a record that is not there, or is not known: it was removed or replaced among records that are alike,
/// or among others that changed.
pub(crate) const LOST: usize = usize::MAX - 1;

/// Where the records of a list are; a list without moves has each of them where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    /// The new index of each old record, [`GONE`] or [`LOST`].
    pub(crate) place: Vec<usize>,
    /// The old record of each new one; [`GONE`] for those that are new.
    pub(crate) from: Vec<usize>,
    /// The first record from each one on that is not gone, and the last one up to it.
    next: Vec<usize>,
    last: Vec<usize>,
    /// How many records before each one are not followed by the record that followed them.
    breaks: Vec<usize>,
    is_ordered: bool,
    /// The numbers that the base has for the old records, if these are not those of the base.
    names: Vec<usize>,
}

impl Moves {
    /// The moves with these new places of the old records, in a list of `len` new ones.
    pub(crate) fn new(place: Vec<usize>, len: usize) -> Self {
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
        Moves { place, from, next, last, breaks, is_ordered, names: Vec::new() }
    }

    /// The moves of a side whose records have these numbers in the base; new ones have other numbers.
    pub(crate) fn with_names(self, base: &Moves) -> Self {
        let name = |(at, old): (usize, &usize)| if *old < LOST { *old } else { base.place.len() + at };
        Moves { names: base.from.iter().enumerate().map(name).collect(), ..self }
    }

    /// The number that the base has for a record.
    pub(crate) fn name(&self, old: i64) -> i64 {
        let name = usize::try_from(old).ok().and_then(|old| self.names.get(old));
        name.and_then(|name| i64::try_from(*name).ok()).unwrap_or(old)
    }

    /// Moves of which nothing is known.
    pub(crate) fn lost(old: usize, new: usize) -> Self {
        Moves::new(vec![LOST; old], new)
    }

    /// The same moves with some records of which nothing is known.
    pub(crate) fn without(mut self, unknown: &[usize]) -> Self {
        unknown.iter().for_each(|old| self.place[*old] = LOST);
        Moves::new(self.place, self.from.len())
    }

    /// Numbers of the new list as they are, of records whose old ones are known.
    pub(crate) fn known(&self) -> Self {
        let known = |(new, from): (usize, &usize)| if *from < LOST { new } else { LOST };
        Moves::new(self.from.iter().enumerate().map(known).collect(), self.from.len())
    }

    /// If it is known of each new record which old one it is, all other old ones are gone.
    pub(crate) fn if_full(mut self) -> Self {
        if self.is_uncertain() && self.from.iter().all(|old| *old < LOST) {
            self.place.iter_mut().filter(|to| **to == LOST).for_each(|to| *to = GONE);
            return Moves::new(self.place, self.from.len());
        }
        self
    }

    pub(crate) fn is_uncertain(&self) -> bool {
        self.place.contains(&LOST)
    }

    /// Whether records are gone, and nothing else happened to the list.
    pub(crate) fn only_removes(&self) -> bool {
        self.is_ordered && !self.is_uncertain() && self.from.iter().all(|old| *old < LOST)
    }

    /// Whether the first records are where they were.
    pub(crate) fn keeps(&self, count: usize) -> bool {
        count <= self.place.len() && self.place[..count].iter().enumerate().all(|(old, new)| old == *new)
    }

    /// Whether a record that stays is at another place.
    pub(crate) fn shifts(&self) -> bool {
        self.place.iter().enumerate().any(|(old, new)| *new < LOST && *new != old)
    }

    fn index(&self, old: i64) -> Option<usize> {
        usize::try_from(old).ok().filter(|old| *old < self.place.len())
    }

    /// The new index that a number names, or the reason why it names nothing.
    pub(crate) fn one(&self, old: i64) -> Result<i64, &'static str> {
        match self.index(old).map(|old| self.place[old]) {
            None => Err("it names a record that is not there"),
            Some(GONE) => Err("the other side removes the record that it names"),
            Some(LOST) => Err("it names a record that the other side changes, and it is not known which one it is now"),
            Some(new) => i64::try_from(new).map_err(|_| "its number is too large"),
        }
    }

    /// The new first record and the count of a run.
    pub(crate) fn run(&self, first: i64, count: i64, order: Order) -> Result<(i64, i64), &'static str> {
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
    pub(crate) fn mark(&self, old: i64, marks: Marks<'_>) -> i64 {
        let is_lost = self.index(old).is_some_and(|old| self.place[old] == LOST);
        match marks {
            Marks::Blurred(_) if is_lost => i64::MIN,
            _ => self.one(old).unwrap_or_else(|_| i64::MIN / 2 + self.name(old)),
        }
    }

    /// What a run is compared by: its first and its last record that stay.
    pub(crate) fn marks(&self, first: i64, count: i64, marks: Marks<'_>) -> [i64; 2] {
        let last = first.saturating_add(count - 1);
        let mark = |old: i64| self.mark(old, marks);
        let Some((from, to)) = self.index(first).zip(self.index(last)) else {
            return [mark(first), mark(last)];
        };
        let wide = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        match (self.next[from], self.last[to]) {
            (from, to) if from != GONE && to != GONE && from <= to => [mark(wide(from)), mark(wide(to))],
            _ => [mark(first), mark(last)],
        }
    }
}

/// The records of a list that both sides moved, in the order of the merged map: their numbers in the base, ours and
/// theirs. `None` if it is not clear what both sides want: both change the order of what stays, both add records at the
/// same place within the list, or it is not known which record is which.
pub(crate) fn woven(ours: &Moves, theirs: &Moves) -> Option<Vec<[usize; 3]>> {
    if ours.is_uncertain() || theirs.is_uncertain() {
        return None;
    }
    // One side has the order of what stays; the other one removes records and adds some after those that stay.
    let (lead, other) = match (ours.is_ordered, theirs.is_ordered) {
        (_, true) => (1, 2),
        (true, false) => (2, 1),
        (false, false) => return None,
    };
    let (order, beside) = if lead == 1 { (ours, theirs) } else { (theirs, ours) };
    // The new records of the other side after each record of this one, from 1 on.
    let mut follow: Vec<Vec<usize>> = vec![Vec::new(); order.from.len() + 1];
    let mut after = 0;
    for (at, old) in beside.from.iter().enumerate() {
        match order.place.get(*old) {
            Some(place) if *place < LOST => after = place + 1,
            Some(_) => {}
            None => follow[after].push(at),
        }
    }
    let stays = |old: usize| beside.place.get(old).is_some_and(|place| *place < LOST);
    let end = order.from.iter().rposition(|old| stays(*old)).map_or(0, |last| last + 1);
    let mut rows = Vec::with_capacity(order.from.len().max(beside.from.len()));
    for (at, follow) in follow.iter().enumerate() {
        if let Some(old) = at.checked_sub(1).map(|at| order.from[at]) {
            let mut row = [old, at - 1, at - 1];
            row[other] = beside.place.get(old).copied().unwrap_or(GONE);
            if old >= LOST {
                rows.push(new_row(lead, at - 1));
            } else if stays(old) {
                rows.push(row);
            }
        }
        if !follow.is_empty() && at != end {
            let mut next = order.from[at..].iter().take_while(|old| !stays(**old));
            if next.any(|old| *old >= LOST) {
                return None;
            }
            rows.extend(follow.iter().map(|new| new_row(other, *new)));
        }
    }
    // At the end both sides may add records: those of the other side are the last ones.
    rows.extend(follow[end].iter().map(|new| new_row(other, *new)));
    Some(rows)
}

fn new_row(side: usize, new: usize) -> [usize; 3] {
    let mut row = [GONE; 3];
    row[side] = new;
    row
}

/// How numbers of records whose new places are not known are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks<'l> {
    /// Each is another one.
    Exact,
    /// All are the same. Where an empty run begins is compared too, up to the shorter length of each list: it says
    /// nothing of the record, but edits leave it as it is.
    Blurred(&'l [usize]),
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
        assert_eq!((moves.one(4), moves.marks(0, 2, Marks::Exact)), (Ok(4), [0, 0]));
        let moves = Moves::new(vec![0, LOST, 1], 2);
        assert!(moves.run(1, 2, Order::Free).is_err());
        assert_eq!(moves.run(0, 3, Order::Free), Ok((0, 2)));
        let moves = Moves::new(vec![2, 0, 1], 3);
        assert_eq!(moves.run(1, 2, Order::Free), Ok((0, 2)));
        assert!(moves.run(0, 2, Order::Free).is_err());
    }

    /// Five records; `None` is a new one.
    fn of(places: &[Option<usize>]) -> Moves {
        let mut place = vec![GONE; 5];
        places.iter().enumerate().filter_map(|(new, old)| Some((new, (*old)?))).for_each(|(new, old)| place[old] = new);
        Moves::new(place, places.len())
    }

    #[test]
    fn two_sides_of_a_list_are_put_together() {
        let all = [Some(0), Some(1), Some(2), Some(3), Some(4)];
        let both = |ours: &[Option<usize>], theirs: &[Option<usize>]| woven(&of(ours), &of(theirs));
        let base = |rows: Option<Vec<[usize; 3]>>| rows.map(|rows| rows.iter().map(|row| row[0]).collect::<Vec<_>>());
        // Both remove, one removes and the other adds, one adds and the other changes the order.
        let (one, two) = ([Some(0), Some(2), Some(3), Some(4)], [Some(0), Some(1), Some(2), Some(4)]);
        assert_eq!(base(both(&one, &two)), Some(vec![0, 2, 4]));
        assert_eq!(base(both(&two, &one)), Some(vec![0, 2, 4]));
        let added = [Some(0), Some(1), None, Some(2), Some(3), Some(4), None];
        assert_eq!(base(both(&one, &added)), Some(vec![0, GONE, 2, 3, 4, GONE]));
        assert_eq!(base(both(&added, &one)), Some(vec![0, GONE, 2, 3, 4, GONE]));
        let moved = [Some(1), Some(2), Some(3), Some(0), Some(4)];
        assert_eq!(base(both(&moved, &added)), Some(vec![1, GONE, 2, 3, 0, 4, GONE]));
        assert_eq!(base(both(&added, &moved)), Some(vec![1, GONE, 2, 3, 0, 4, GONE]));
        // Both add at the end; both add within the list; both change the order.
        let longer = [Some(0), Some(1), Some(2), Some(3), Some(4), None];
        assert_eq!(both(&longer, &longer).unwrap()[5..], [[GONE, 5, GONE], [GONE, GONE, 5]]);
        assert_eq!(both(&added, &added), None);
        let within = [Some(0), None, Some(2), Some(3), Some(4)];
        assert_eq!((both(&within, &added), both(&added, &within)), (None, None));
        assert_eq!(both(&moved, &[Some(1), Some(0), Some(2), Some(3), Some(4)]), None);
        assert_eq!(both(&moved, &all).map(|rows| rows.len()), Some(5));
    }
}
