//! Finds out what one side did to the records of each list: which ones are where they were, which ones moved, and which
//! ones are gone or new.
//!
//! Records are compared by what they mean: a number that names a record is the same number if it names the same record.
//! So lists are aligned after those that they refer to. What is found is proven by the numbers that name the records:
//! after a move they name the new places, after an edit of values they name the old ones.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::moves::{GONE, LOST, Marks, Moves};
use super::units::{Unit, units};
use super::{Hunk, aligned as differing};
use bspkit::bytes::Data;
use bspkit::content::entities::Entities;
use bspkit::dialect::{EntityForm, Form, Role};
use bspkit::links::{Links, Site};
use bspkit::record::{Cell, Meaning};
use bspkit::{Bsp, Result};

/// How often lists are aligned anew, with what is known of those that they refer to and of those that refer to them.
const ROUNDS: usize = 5;

/// Numbers that contradict what was found of a list make all of it uncertain, unless this many times more confirm it.
const CONFIRMED: usize = 16;

/// The records of a map, and what they refer to.
pub(crate) struct Lists<'m, 'a> {
    pub(crate) map: &'m Bsp<'a>,
    pub(crate) links: Links<'a>,
    /// The numbers of records.
    pub(crate) lens: Vec<usize>,
}

impl<'m, 'a> Lists<'m, 'a> {
    pub(crate) fn of(map: &'m Bsp<'a>) -> Result<Self> {
        let links = map.links()?;
        let lens = links.sites.iter().map(Site::len).collect();
        Ok(Lists { map, links, lens })
    }

    /// The units of each list.
    pub(crate) fn units(&self) -> Vec<Vec<Unit<'_>>> {
        (0..self.links.sites.len()).map(|site| units(&self.links, site)).collect()
    }

    /// Whether the records of a list that both sides moved can be put together: they are all that its lump has, and
    /// others that belong to them by their order moved alike.
    pub(crate) fn may_weave(&self, site: usize, ours: &[Option<Moves>], theirs: &[Option<Moves>]) -> bool {
        let own = &self.links.sites[site];
        let is_whole = matches!(own.row.form, Form::Array(_)) && own.range.len() == own.bytes.len();
        let is_beside = own.parallel.is_none_or(|_| {
            // One record for each of another list.
            self.links.shares(site).is_some_and(|(to, starts)| {
                starts.iter().enumerate().all(|(at, start)| at == *start)
                    && ours[to] == ours[site]
                    && theirs[to] == theirs[site]
            })
        });
        is_whole && is_beside
    }

    /// Whether another map has the same lists, with the same references.
    pub(crate) fn is_like(&self, other: &Lists<'_, '_>) -> bool {
        let both = self.links.sites.iter().zip(&other.links.sites);
        let is_same = |(one, two): (&Site<'_>, &Site<'_>)| one.name == two.name && one.record == two.record;
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
    /// The place of each list in the order in which they are aligned.
    rank: Vec<usize>,
    /// What the records of each list are compared by, of both maps; empty for lists that are equal.
    rows: Vec<[Vec<[u8; 16]>; 2]>,
}

/// The lists and the numbers of the records that entities name, by a hash of all else that the entity has.
type Named = HashMap<(u64, usize), Vec<(usize, i64)>>;

/// What the numbers that name records of a list say.
#[derive(Clone, Default)]
struct Evidence {
    /// How many name records that moved.
    named: usize,
    /// How many lead to the new places of records that moved.
    follow: usize,
    /// Records that moved, for each number that still has the old place.
    stay: Vec<usize>,
}

/// A record of the base and one of the side that a number names in the same place of the same record: how often.
type Votes = HashMap<(usize, usize), usize>;

/// What a side did to each list of the base. Both have the same lists.
pub(crate) fn motions(base: &Lists<'_, '_>, side: &Lists<'_, '_>) -> Result<Vec<Option<Moves>>> {
    let order = order(&base.links);
    let count = base.links.sites.len();
    let mut rank = vec![0; count];
    order.iter().enumerate().for_each(|(at, site)| rank[*site] = at);
    // Lists whose records are where they were although they have values of others.
    let mut is_still = vec![false; count];
    let (units, motions) = ([base.units(), side.units()], vec![None; count]);
    let mut all = Alignment { base, side, units, motions, rank, rows: vec![Default::default(); count] };
    for round in 0..ROUNDS {
        let before = all.motions.clone();
        for &site in &order {
            if round == 0 || is_still[site] || all.motions[site].as_ref().is_some_and(Moves::is_uncertain) {
                all.motions[site] = if is_still[site] { None } else { all.motion(site) };
            }
        }
        all.settle(&order)?;
        let evidence = all.evidence()?;
        for (site, Evidence { named, follow, stay }) in evidence.into_iter().enumerate() {
            let is_shifted = all.motions[site].as_ref().is_some_and(Moves::shifts);
            if !is_shifted || base.links.sites[site].parallel.is_some() {
                continue;
            }
            let is_resized = base.lens[site] != side.lens[site];
            if stay.is_empty() && (follow > 0 || is_resized || named == 0) {
                continue;
            }
            if follow == 0 && !stay.is_empty() && !is_resized && round + 1 < ROUNDS {
                is_still[site] = true;
                all.motions[site] = None;
                continue;
            }
            let moves = all.motions[site].take();
            all.motions[site] = match moves.filter(|_| !stay.is_empty() && follow >= CONFIRMED * stay.len()) {
                Some(moves) => Some(moves.without(&stay)),
                None => Some(Moves::lost(base.lens[site], side.lens[site])),
            };
        }
        if all.motions == before {
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
    fn motion(&mut self, site: usize) -> Option<Moves> {
        let (base, side) = (&self.base.links.sites[site], &self.side.links.sites[site]);
        if base.parallel.is_some()
            && let (Some((to, old)), Some((_, new))) = (self.base.links.shares(site), self.side.links.shares(site))
        {
            return self.parallel(site, to, &old, &new);
        }
        if base.all() == side.all() {
            return None;
        }
        self.rows[site] = [self.rows(0, site), self.rows(1, site)];
        let [old, new] = &self.rows[site];
        match old.len() == new.len() {
            true => moved(old, new),
            false => Some(aligned(old, new, false)),
        }
    }

    /// Finds the records that their content alone does not tell, by the numbers that name them: those that refer to a
    /// list before the list.
    fn settle(&mut self, order: &[usize]) -> Result<()> {
        let is_own = |site: &usize| self.base.links.sites[*site].parallel.is_none();
        let (own, parallel): (Vec<usize>, Vec<usize>) = order.iter().copied().partition(is_own);
        for &site in own.iter().rev() {
            let Some(moves) = &self.motions[site] else { continue };
            let [old, new] = &self.rows[site];
            let unsure = unsure(old, new, &moves.place);
            if unsure.contains(&true) {
                let (votes, is_named) = self.votes(site, &unsure)?;
                let place = settled(old, new, moves.place.clone(), &unsure, &votes, &is_named);
                self.motions[site] = Some(Moves::new(place, new.len()));
            }
        }
        for site in parallel {
            self.motions[site] = self.motion(site);
        }
        Ok(())
    }

    /// What numbers say of uncertain records of a list, and which of these are named at all.
    fn votes(&self, site: usize, unsure: &[bool]) -> Result<(Votes, Vec<bool>)> {
        let (mut votes, mut is_named) = (Votes::new(), vec![false; unsure.len()]);
        let [rows, others] = &self.rows[site];
        let mut vote = |old: usize, new: usize| {
            if unsure.get(old) == Some(&true) && new < others.len() {
                *votes.entry((old, new)).or_default() += 1;
            }
        };
        let range = |(first, count): (i64, i64), len: usize| {
            let start = usize::try_from(first).unwrap_or(len).min(len);
            start..start.saturating_add(usize::try_from(count).unwrap_or(0)).min(len)
        };
        let links = self.base.links.links.iter().zip(&self.side.links.links);
        for (link, own) in links.filter(|(link, _)| link.to == site) {
            let (from, side) = (&self.base.links.sites[link.from], &self.side.links.sites[link.from]);
            for record in 0..from.len() {
                let Some(named) = link.named(from.record(record), rows.len()) else { continue };
                let old = range(named, rows.len());
                old.clone().for_each(|old| is_named[old] = true);
                let place = self.motions[link.from].as_ref().map_or(record, |moves| moves.place[record]);
                if place >= LOST {
                    continue;
                }
                let Some(named) = own.named(side.record(place), others.len()) else { continue };
                let new = range(named, others.len());
                if old.len() == new.len() {
                    old.zip(new).for_each(|(old, new)| vote(old, new));
                    continue;
                }
                // Some of a run were removed or added: those at both ends are known.
                let is_same = |(old, new): &(usize, usize)| rows[*old] == others[*new];
                let start = old.clone().zip(new.clone()).take_while(is_same).count();
                let end = old.clone().rev().zip(new.clone().rev()).take_while(is_same).count();
                let end = end.min(old.len().min(new.len()) - start);
                old.clone().zip(new.clone()).take(start).for_each(|(old, new)| vote(old, new));
                old.rev().zip(new.rev()).take(end).for_each(|(old, new)| vote(old, new));
            }
        }
        self.by_entities(&mut |list, old, new| {
            if let (true, Ok(old), Ok(new)) = (list == site, usize::try_from(old), usize::try_from(new)) {
                vote(old, new);
                is_named.get_mut(old).into_iter().for_each(|named| *named = true);
            }
        })?;
        Ok((votes, is_named))
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
        // Numbers of records that are not certain are as good as each other.
        let known: Vec<Option<Moves>> = match which {
            0 => Vec::new(),
            _ => self.motions.iter().map(|moves| moves.as_ref().map(Moves::known)).collect(),
        };
        let numbers: Vec<Option<&Moves>> =
            if which == 0 { &self.motions } else { &known }.iter().map(Option::as_ref).collect();
        // References to lists that are aligned later are not compared.
        let hidden: Vec<bool> = self.rank.iter().map(|rank| *rank >= self.rank[site]).collect();
        let erased = self.erased(site);
        let (mut record, mut meaning) = (Vec::new(), Vec::new());
        let all = lists.links.sites[site].records().map(|bytes| {
            record.clear();
            record.extend_from_slice(bytes);
            meaning.clear();
            for unit in &self.units[which][site] {
                unit.meaning(bytes, &lists.lens, &numbers, &hidden, Marks::Blurred, &mut meaning);
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
                let Some((old, _)) = link.named(from.record(record), self.base.lens[link.to]) else { continue };
                let place = self.motions[link.from].as_ref().map_or(record, |moves| moves.place[record]);
                let known = Some(place).filter(|place| *place < LOST).map(|place| side.record(place));
                let new = known.and_then(|record| own.named(record, self.side.lens[link.to]));
                found[link.to].add(moves, old, new.map(|(new, _)| new));
            }
        }
        self.by_entities(&mut |site, old, new| {
            if let Some(moves) = &self.motions[site] {
                found[site].add(moves, old, Some(new));
            }
        })?;
        Ok(found)
    }

    /// The same for values of entities: those with the same other pairs are compared in their order.
    fn by_entities(&self, hand: &mut dyn FnMut(usize, i64, i64)) -> Result<()> {
        let values = |lists: &Lists<'_, '_>| -> Result<Named> {
            let mut all = HashMap::new();
            let Some(entities) = entities(lists.map)? else { return Ok(all) };
            let mut counts: HashMap<u64, usize> = HashMap::new();
            for entity in entities.iter() {
                let values = entity.record_values(lists.map.dialect());
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
                hand(one.0, one.1, other.1);
            }
        }
        Ok(())
    }
}

fn stored<'a>(lists: &Lists<'_, 'a>, lump: &str) -> Option<Data<'a>> {
    Some(lists.map.stored(lists.map.slot(lump).ok()?.id))
}

/// The entities of a map; `None` if it has no text.
pub(crate) fn entities<'a>(map: &Bsp<'a>) -> Result<Option<Entities<'a>>> {
    let slot = map.role(Role::Entities).filter(|slot| slot.length != 0);
    slot.map(|slot| Entities::parse(map.bytes(slot.id)?, map.entity_rules())).transpose()
}

impl Evidence {
    /// A number of the base, and what it is in the side if that is known.
    fn add(&mut self, moves: &Moves, old: i64, new: Option<i64>) {
        let Some(place) = moves.one(old).ok().filter(|place| *place != old) else { return };
        self.named += 1;
        self.follow += usize::from(new == Some(place));
        self.stay.extend(usize::try_from(old).ok().filter(|_| new == Some(old)));
    }
}

/// A list of the same length: its records are where they were, unless some have the content that others had.
fn moved(old: &[[u8; 16]], new: &[[u8; 16]]) -> Option<Moves> {
    let differ: Vec<usize> = (0..old.len()).filter(|index| old[*index] != new[*index]).collect();
    let before: HashSet<&[u8; 16]> = differ.iter().map(|index| &old[*index]).collect();
    differ.iter().any(|index| before.contains(&new[*index])).then(|| aligned(old, new, true))
}

/// The records that their content does not tell for certain: it is that of others as well, or it was not found.
fn unsure(old: &[[u8; 16]], new: &[[u8; 16]], place: &[usize]) -> Vec<bool> {
    let mut counts: HashMap<&[u8; 16], [usize; 2]> = HashMap::new();
    old.iter().for_each(|row| counts.entry(row).or_default()[0] += 1);
    new.iter().for_each(|row| counts.entry(row).or_default()[1] += 1);
    let is_alone = |row: &[u8; 16]| counts.get(row) == Some(&[1, 1]);
    old.iter().zip(place).map(|(row, place)| *place >= LOST || !is_alone(row)).collect()
}

/// The places of records with those of the uncertain ones as numbers name them. Records that no number names are as
/// good as each other if they have the same content.
fn settled(
    old: &[[u8; 16]],
    new: &[[u8; 16]],
    mut place: Vec<usize>,
    unsure: &[bool],
    votes: &Votes,
    is_named: &[bool],
) -> Vec<usize> {
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
    let mut free: HashMap<&[u8; 16], Vec<usize>> = HashMap::new();
    (0..new.len()).rev().filter(|to| owner[*to] == GONE).for_each(|to| free.entry(&new[to]).or_default().push(to));
    let mut alike: HashMap<&[u8; 16], Vec<usize>> = HashMap::new();
    open.into_iter().for_each(|one| alike.entry(&old[one]).or_default().push(one));
    for (row, alike) in alike {
        let free = free.get(row).map_or(&[][..], |free| &free[..]);
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
