//! What the records of a list are compared by, and which of the old ones are which of the new ones by that alone.

use std::collections::HashMap;
use std::ops::Range;

use super::moves::{GONE, LOST, Moves};
use super::{Hunk, aligned as differing};

/// A record of the base and one of the side that a number names in the same place of the same record: how often.
pub(super) type Votes = HashMap<(usize, usize), usize>;

/// What the records of a list say, one after the other.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) bytes: Vec<u8>,
    /// The end of each record's content.
    pub(super) ends: Vec<usize>,
}

impl Contents {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

/// The records of a list: a number for each content, the same in both maps.
#[derive(Clone, Default)]
pub(super) struct Rows {
    pub(super) old: Vec<usize>,
    pub(super) new: Vec<usize>,
    /// How many old and how many new records have each content.
    counts: Vec<[usize; 2]>,
}

impl Rows {
    pub(super) fn of(old: &Contents, new: &Contents) -> Self {
        let mut numbers: HashMap<&[u8], usize> = HashMap::with_capacity(old.ends.len());
        let mut counts: Vec<[usize; 2]> = Vec::new();
        let mut number = |content, side: usize| {
            let number = *numbers.entry(content).or_insert(counts.len());
            if number == counts.len() {
                counts.push([0, 0]);
            }
            counts[number][side] += 1;
            number
        };
        let old = old.iter().map(|content| number(content, 0)).collect();
        let new = new.iter().map(|content| number(content, 1)).collect();
        Rows { old, new, counts }
    }

    /// A list of the same length: its records are where they were, unless some have the content that others had.
    pub(super) fn moved(&self) -> Option<Moves> {
        let differ = || self.old.iter().zip(&self.new).filter(|(old, new)| old != new);
        let mut before = vec![false; self.counts.len()];
        differ().for_each(|(old, _)| before[*old] = true);
        differ().any(|(_, new)| before[*new]).then(|| self.aligned(true))
    }

    /// The records that their content does not tell for certain: it is that of others as well, or it was not found.
    pub(super) fn unsure(&self, place: &[usize]) -> Vec<bool> {
        self.old.iter().zip(place).map(|(row, place)| *place >= LOST || self.counts[*row] != [1, 1]).collect()
    }

    /// The places of records with those of the uncertain ones as numbers name them. Records that no number names are as
    /// good as each other if they have the same content.
    pub(super) fn settled(
        &self,
        mut place: Vec<usize>,
        unsure: &[bool],
        votes: &Votes,
        is_named: &[bool],
    ) -> Vec<usize> {
        let Rows { old, new, .. } = self;
        let mut owner = vec![GONE; new.len()];
        let certain = place.iter().enumerate().filter(|(index, to)| **to < LOST && !unsure[*index]);
        certain.for_each(|(index, to)| owner[*to] = index);
        let mut all: Vec<(bool, usize, usize, usize)> =
            votes.iter().map(|(&(one, to), &count)| (old[one] != new[to], usize::MAX - count, one, to)).collect();
        all.sort_unstable();
        // A record with other content is only the one that is named if no number names another one.
        let mut candidates: HashMap<usize, usize> = HashMap::new();
        votes.keys().for_each(|(one, _)| *candidates.entry(*one).or_default() += 1);
        let mut is_done: Vec<bool> = unsure.iter().map(|unsure| !unsure).collect();
        for (is_other, _, one, to) in all {
            let is_clear = !is_other || candidates[&one] == 1 && place[one] >= LOST;
            if !is_done[one] && owner[to] == GONE && is_clear {
                (place[one], owner[to], is_done[one]) = (to, one, true);
            }
        }
        let mut open: Vec<usize> = Vec::new();
        for one in (0..old.len()).filter(|one| !is_done[*one]) {
            match owner.get_mut(place[one]) {
                Some(owner) if *owner == GONE => *owner = one,
                _ => open.push(one),
            }
        }
        let mut free: HashMap<usize, Vec<usize>> = HashMap::new();
        (0..new.len()).rev().filter(|to| owner[*to] == GONE).for_each(|to| free.entry(new[to]).or_default().push(to));
        let mut alike: HashMap<usize, Vec<usize>> = HashMap::new();
        open.into_iter().for_each(|one| alike.entry(old[one]).or_default().push(one));
        for (row, alike) in alike {
            let free = free.get(&row).map_or(&[][..], |free| &free[..]);
            let is_free = alike.len() <= free.len() && alike.iter().all(|one| !is_named[*one]);
            let is_last = alike.len() == 1 && free.len() == 1;
            let is_gone = free.is_empty() && alike.iter().all(|one| place[*one] == GONE);
            for (at, one) in alike.into_iter().enumerate() {
                place[one] = match (is_free || is_last, is_gone) {
                    (true, _) => free[free.len() - 1 - at],
                    (false, true) => GONE,
                    (false, false) => LOST,
                };
            }
        }
        place
    }

    /// Which records are which. Of records that are alike it is not known which ones are gone or new.
    pub(super) fn aligned(&self, is_order: bool) -> Moves {
        let Rows { old, new, counts } = self;
        let mut place = vec![GONE; old.len()];
        let (mut old_at, mut new_at) = (0, 0);
        let bytes = |rows: &[usize]| rows.iter().flat_map(|row| row.to_le_bytes()).collect::<Vec<_>>();
        let hunks = differing(&bytes(old), &bytes(new), size_of::<usize>());
        let mut doubts: Vec<Range<usize>> = Vec::new();
        for Hunk { old: from, new: to } in
            hunks.iter().cloned().chain([Hunk { old: old.len()..old.len(), new: new.len()..new.len() }])
        {
            (old_at..from.start).zip(new_at..to.start).for_each(|(old, new)| place[old] = new);
            (old_at, new_at) = (from.end, to.end);
            if from.is_empty() && to.is_empty() {
                continue;
            }
            if from.len() == to.len() && is_order {
                // Records of a list that has kept its length may have other values, each in its place.
                from.zip(to).for_each(|(old, new)| place[old] = new);
            } else if from.is_empty() || to.is_empty() {
                doubts.push(slide(old, new, &from, &to));
            } else {
                doubts.push(from);
            }
        }
        for old in doubts.into_iter().flatten() {
            place[old] = LOST;
        }
        // What only one old and one new record have has moved.
        let mut last = vec![GONE; counts.len()];
        new.iter().enumerate().for_each(|(index, row)| last[*row] = index);
        let mut owner = vec![GONE; new.len()];
        for (index, to) in place.iter().enumerate().filter(|(_, to)| **to < LOST) {
            owner[*to] = index;
        }
        for (index, row) in old.iter().enumerate() {
            let to = last[*row];
            if counts[*row] != [1, 1] || to == place[index] {
                continue;
            }
            if place[index] < LOST {
                owner[place[index]] = GONE;
            }
            place[index] = to;
            let other = std::mem::replace(&mut owner[to], index);
            if other != GONE {
                place[other] = LOST;
            }
        }
        Moves::new(place, new.len())
    }
}

/// The old records among which records were removed or added: equal ones before and after them may be meant as well.
fn slide(old: &[usize], new: &[usize], from: &Range<usize>, to: &Range<usize>) -> Range<usize> {
    let (rows, hunk) = if to.is_empty() { (old, from) } else { (new, to) };
    let (mut up, mut down) = (0, 0);
    while hunk.start > up && rows[hunk.start - up - 1] == rows[hunk.end - up - 1] && from.start > up {
        up += 1;
    }
    while hunk.end + down < rows.len()
        && rows[hunk.start + down] == rows[hunk.end + down]
        && from.end + down < old.len()
    {
        down += 1;
    }
    match up + down {
        // Nothing else can be meant: removed records are gone.
        0 => 0..0,
        _ => from.start - up..from.end + down,
    }
}
