//! Finds out what one side did to the records of each list: which ones are where they were, which ones moved, and which
//! ones are gone or new.
//!
//! Records are compared by what they mean: a number that names a record is the same number if it names the same record.
//! So lists are aligned after those that they refer to. What is found is proven by the numbers that name the records:
//! after a move they name the new places, after an edit of values they name the old ones.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::units::{Unit, units};
use crate::bsp::{Bsp, Links, Site};
use crate::bytes::Data;
use crate::content::entities::Entities;
use crate::dialect::{EntityForm, Role};
use crate::draft::entity_values;
use crate::error::Result;
use crate::op::align::{Hunk, aligned as differing};
use crate::record::{Cell, Meaning, Order};

/// How often lists are aligned anew after the numbers that name their records have contradicted what was found.
const ROUNDS: usize = 4;

/// The records of a map, and what they refer to.
pub(super) struct Lists<'m, 'a> {
    pub(super) map: &'m Bsp<'a>,
    pub(super) links: Links<'a>,
    /// The numbers of records.
    pub(super) lens: Vec<usize>,
}

impl<'m, 'a> Lists<'m, 'a> {
    pub(super) fn of(map: &'m Bsp<'a>) -> Result<Self> {
        let links = map.links()?;
        let lens = links.sites.iter().map(Site::len).collect();
        Ok(Lists { map, links, lens })
    }

    /// The units of each list.
    pub(super) fn units(&self) -> Vec<Vec<Unit<'_>>> {
        (0..self.links.sites.len()).map(|site| units(&self.links, site)).collect()
    }

    /// Whether another map has the same lists, with the same references.
    pub(super) fn is_like(&self, other: &Lists<'_, '_>) -> bool {
        let both = self.links.sites.iter().zip(&other.links.sites);
        let is_same = |(one, two): (&Site<'_>, &Site<'_>)| one.name == two.name && std::ptr::eq(one.record, two.record);
        let (one, two) = (self.units(), other.units());
        self.links.sites.len() == other.links.sites.len()
            && both.clone().all(is_same)
            && one
                .iter()
                .zip(&two)
                .all(|(one, two)| one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is_like(two)))
    }
}

/// The base and one side, list by list.
struct Alignment<'l, 'm, 'a> {
    base: &'l Lists<'m, 'a>,
    side: &'l Lists<'m, 'a>,
    units: [Vec<Vec<Unit<'l>>>; 2],
    motions: Vec<Option<Moves>>,
    /// Whether a list has been aligned.
    is_known: Vec<bool>,
}

/// The lists and the numbers of the records that entities name, by a hash of all else that the entity has.
type Named = HashMap<(u64, usize), Vec<(usize, i64)>>;

/// What the numbers that name records of a list say.
#[derive(Clone, Copy, Default)]
struct Evidence {
    /// How many lead to the new places of records that moved.
    follow: usize,
    /// How many still have the old places.
    stay: usize,
}

/// What a side did to each list of the base. Both have the same lists.
pub(super) fn motions(base: &Lists<'_, '_>, side: &Lists<'_, '_>) -> Result<Vec<Option<Moves>>> {
    let order = order(&base.links);
    let count = base.links.sites.len();
    // Lists whose records are where they were although they have values of others.
    let mut is_still = vec![false; count];
    let mut all =
        Alignment { base, side, units: [base.units(), side.units()], motions: vec![None; count], is_known: Vec::new() };
    for round in 0..ROUNDS {
        all.is_known = vec![false; count];
        for &site in &order {
            all.motions[site] = if is_still[site] { None } else { all.motion(site) };
            all.is_known[site] = true;
        }
        let evidence = all.evidence()?;
        let mut again = false;
        for site in 0..count {
            let is_shifted = all.motions[site].as_ref().is_some_and(Moves::shifts);
            if !is_shifted || base.links.sites[site].parallel.is_some() {
                continue;
            }
            let is_resized = base.lens[site] != side.lens[site];
            match evidence[site] {
                Evidence { stay: 0, follow } if follow > 0 || is_resized => {}
                Evidence { follow: 0, stay } if stay > 0 && !is_resized && round + 1 < ROUNDS => {
                    is_still[site] = true;
                    again = true;
                }
                _ => all.motions[site] = Some(Moves::lost(base.lens[site], side.lens[site])),
            }
        }
        if !again {
            break;
        }
    }
    Ok(all.motions)
}

/// The lists, each after those that it refers to, as far as they do not refer to each other.
fn order(links: &Links<'_>) -> Vec<usize> {
    let count = links.sites.len();
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); count];
    links.links.iter().for_each(|link| targets[link.from].push(link.to));
    for (site, targets) in targets.iter_mut().enumerate() {
        targets.extend(links.shares(site).map(|(to, _)| to));
        targets.sort_unstable();
        targets.dedup();
    }
    let (mut order, mut state) = (Vec::with_capacity(count), vec![0_u8; count]);
    for root in 0..count {
        let mut stack = vec![(root, 0)];
        while let Some((site, at)) = stack.pop() {
            if at == 0 && std::mem::replace(&mut state[site], 1) != 0 {
                continue;
            }
            match targets[site].get(at) {
                Some(to) => {
                    stack.push((site, at + 1));
                    if state[*to] == 0 {
                        stack.push((*to, 0));
                    }
                }
                None => order.push(site),
            }
        }
    }
    order
}

impl Alignment<'_, '_, '_> {
    fn motion(&self, site: usize) -> Option<Moves> {
        let (base, side) = (&self.base.links.sites[site], &self.side.links.sites[site]);
        if base.parallel.is_some()
            && let (Some((to, old)), Some((_, new))) = (self.base.links.shares(site), self.side.links.shares(site))
        {
            return self.parallel(site, to, &old, &new);
        }
        if base.all() == side.all() {
            return None;
        }
        let (old, new) = (self.rows(0, site), self.rows(1, site));
        match old.len() == new.len() {
            true => moved(&old, &new),
            false => Some(aligned(&old, &new, false)),
        }
    }

    /// Records that belong to those of another list go where these go.
    fn parallel(&self, site: usize, to: usize, old: &[usize], new: &[usize]) -> Option<Moves> {
        let is_whole = |starts: &[usize], lists: &Lists<'_, '_>| starts.last() == Some(&lists.lens[site]);
        if !is_whole(old, self.base) || !is_whole(new, self.side) {
            return Some(Moves::lost(self.base.lens[site], self.side.lens[site]));
        }
        let master = match &self.motions[to] {
            None if old == new => return None,
            None => return Some(Moves::lost(self.base.lens[site], self.side.lens[site])),
            Some(moves) => moves,
        };
        let mut place = Vec::with_capacity(self.base.lens[site]);
        for (owner, own) in old.windows(2).enumerate() {
            let to = master.place[owner];
            let range = new.get(to..).and_then(|new| Some((*new.first()?, *new.get(1)?)));
            match range.filter(|(start, end)| end - start == own[1] - own[0]) {
                Some((start, end)) => place.extend(start..end),
                None => place.extend((own[0]..own[1]).map(|_| if to == GONE { GONE } else { LOST })),
            }
        }
        Some(Moves::new(place, self.side.lens[site]))
    }

    /// A hash of each record by what it means, in the numbers of the side.
    fn rows(&self, which: usize, site: usize) -> Vec<[u8; 16]> {
        let lists = [self.base, self.side][which];
        let numbers: Vec<Option<&Moves>> =
            self.motions.iter().map(|moves| moves.as_ref().filter(|_| which == 0)).collect();
        // References to lists that are not aligned yet are not compared.
        let hidden: Vec<bool> = self.is_known.iter().map(|is_known| !is_known).collect();
        let erased = self.erased(site);
        let (mut record, mut meaning) = (Vec::new(), Vec::new());
        let all = lists.links.sites[site].records().map(|bytes| {
            record.clear();
            record.extend_from_slice(bytes);
            meaning.clear();
            for unit in &self.units[which][site] {
                unit.meaning(bytes, &lists.lens, &numbers, &hidden, &mut meaning);
            }
            erased.iter().for_each(|place| record[place.clone()].fill(0));
            let mut row = [0; 16];
            for (half, row) in row.chunks_exact_mut(8).enumerate() {
                let mut hasher = DefaultHasher::new();
                (half, &record, &meaning).hash(&mut hasher);
                row.copy_from_slice(&hasher.finish().to_le_bytes());
            }
            row
        });
        all.collect()
    }

    /// The bytes of a record that do not tell what it is: numbers that name records, and offsets in a lump that the
    /// side has changed.
    fn erased(&self, site: usize) -> Vec<Range<usize>> {
        let mut erased: Vec<Range<usize>> =
            self.units[0][site].iter().flat_map(|unit| unit.bytes.iter().cloned()).collect();
        for cell in Cell::meant(self.base.links.sites[site].record.fields) {
            let Meaning::Offset { lump } = cell.meaning else { continue };
            if stored(self.base, lump).as_deref() != stored(self.side, lump).as_deref() {
                erased.push(cell.place);
            }
        }
        erased
    }

    /// What the numbers that name records say of those that moved.
    fn evidence(&self) -> Result<Vec<Evidence>> {
        let mut found = vec![Evidence::default(); self.motions.len()];
        let links = self.base.links.links.iter().zip(&self.side.links.links);
        for (link, own) in links.filter(|(link, _)| self.motions[link.to].is_some()) {
            let (from, side) = (&self.base.links.sites[link.from], &self.side.links.sites[link.from]);
            let Some(moves) = &self.motions[link.to] else { continue };
            for record in 0..from.len() {
                let place = self.motions[link.from].as_ref().map_or(record, |moves| moves.place[record]);
                if place >= LOST {
                    continue;
                }
                let old = link.named(from.record(record), self.base.lens[link.to]);
                let new = own.named(side.record(place), self.side.lens[link.to]);
                if let Some(((old, _), (new, _))) = old.zip(new) {
                    found[link.to].add(moves, old, new);
                }
            }
        }
        self.by_entities(&mut found)?;
        Ok(found)
    }

    /// The same for values of entities: those with the same other pairs are compared in their order.
    fn by_entities(&self, found: &mut [Evidence]) -> Result<()> {
        let values = |lists: &Lists<'_, '_>| -> Result<Named> {
            let mut all = HashMap::new();
            let Some(entities) = entities(lists.map)? else { return Ok(all) };
            let mut counts: HashMap<u64, usize> = HashMap::new();
            for entity in entities.iter() {
                let values = entity_values(lists.map, &entity);
                let named = values.iter().filter(|value| !matches!(value.reference.form, EntityForm::Field(_)));
                let named: Vec<_> = named
                    .filter_map(|value| Some((lists.links.referred(value.reference.lump)?, value.pair, value.number)))
                    .collect();
                if named.is_empty() {
                    continue;
                }
                let mut hasher = DefaultHasher::new();
                for (at, pair) in entity.pairs().enumerate() {
                    pair.key.hash(&mut hasher);
                    if named.iter().all(|(_, pair, _)| *pair != at) {
                        pair.value.hash(&mut hasher);
                    }
                }
                let hash = hasher.finish();
                let nth = counts.entry(hash).or_default();
                all.insert((hash, *nth), named.into_iter().map(|(site, _, number)| (site, number)).collect());
                *nth += 1;
            }
            // Of several alike, it is only known which is which if there are as many on both sides.
            all.retain(|(hash, nth), _| *nth == 0 && counts[hash] == 1);
            Ok(all)
        };
        if self.motions.iter().all(Option::is_none) {
            return Ok(());
        }
        let (old, new) = (values(self.base)?, values(self.side)?);
        for (key, old) in &old {
            for (one, other) in old.iter().zip(new.get(key).into_iter().flatten()) {
                if let Some(moves) = &self.motions[one.0] {
                    found[one.0].add(moves, one.1, other.1);
                }
            }
        }
        Ok(())
    }
}

fn stored<'a>(lists: &Lists<'_, 'a>, lump: &str) -> Option<Data<'a>> {
    Some(lists.map.stored(lists.map.slot(lump).ok()?.id))
}

/// The entities of a map; `None` if it has no text.
pub(super) fn entities<'a>(map: &Bsp<'a>) -> Result<Option<Entities<'a>>> {
    let slot = map.role(Role::Entities).filter(|slot| slot.length != 0);
    slot.map(|slot| Entities::parse(map.bytes(slot.id)?, map.entity_rules())).transpose()
}

impl Evidence {
    fn add(&mut self, moves: &Moves, old: i64, new: i64) {
        if let Some(place) = moves.one(old).ok().filter(|place| *place != old) {
            self.follow += usize::from(new == place);
            self.stay += usize::from(new == old);
        }
    }
}

/// A list of the same length: its records are where they were, unless some have the content that others had.
fn moved(old: &[[u8; 16]], new: &[[u8; 16]]) -> Option<Moves> {
    let differ: Vec<usize> = (0..old.len()).filter(|index| old[*index] != new[*index]).collect();
    let mut known: HashMap<&[u8; 16], [usize; 2]> = HashMap::new();
    for index in &differ {
        known.entry(&old[*index]).or_default()[0] += 1;
        known.entry(&new[*index]).or_default()[1] += 1;
    }
    let mut is_moved = false;
    for counts in known.values().filter(|[old, new]| *old > 0 && *new > 0) {
        if *counts != [1, 1] {
            return Some(Moves::lost(old.len(), new.len()));
        }
        is_moved = true;
    }
    is_moved.then(|| aligned(old, new, true))
}

/// Which records are which. Of records that are alike it is not known which ones are gone or new.
fn aligned(old: &[[u8; 16]], new: &[[u8; 16]], is_order: bool) -> Moves {
    let mut place = vec![GONE; old.len()];
    let (mut old_at, mut new_at) = (0, 0);
    let hunks = differing(old.as_flattened(), new.as_flattened(), 16);
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
    // What only one old and one new record have has moved: how many have it, and the last of them.
    let mut known: HashMap<&[u8; 16], [(usize, usize); 2]> = HashMap::new();
    for (side, rows) in [old, new].into_iter().enumerate() {
        for (index, row) in rows.iter().enumerate() {
            let own = &mut known.entry(row).or_default()[side];
            *own = (own.0 + 1, index);
        }
    }
    let mut owner = vec![GONE; new.len()];
    for (index, to) in place.iter().enumerate().filter(|(_, to)| **to < LOST) {
        owner[*to] = index;
    }
    for (index, row) in old.iter().enumerate() {
        let Some([(1, _), (1, to)]) = known.get(row).copied().filter(|[_, new]| new.1 != place[index]) else {
            continue;
        };
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

/// The old records among which records were removed or added: equal ones before and after them may be meant as well.
fn slide(old: &[[u8; 16]], new: &[[u8; 16]], from: &Range<usize>, to: &Range<usize>) -> Range<usize> {
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

// The new places of the records of a list, as one side has them, and where numbers of the other side lead then.

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
