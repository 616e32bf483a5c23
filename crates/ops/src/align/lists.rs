//! Finds out what one side did to the records of each list: which ones are where they were, which ones moved, and which
//! ones are gone or new.
//!
//! Records are compared by what they mean: a number that names a record is the same number if it names the same record.
//! So lists are aligned after those that they refer to. What is found is proven by the numbers that name the records:
//! after a move they name the new places, after an edit of values they name the old ones.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::moves::{GONE, LOST, Marks, Moves};
use super::rows::{Contents, Rows, Votes};
use super::units::{Unit, units};
use bspkit::bytes::Data;
use bspkit::content::entities::Entities;
use bspkit::dialect::{EntityForm, Form, Role};
use bspkit::links::{Links, Site};
use bspkit::record::{Cell, Meaning, Shape};
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
        Ok(Lists::with(map, map.links()?))
    }

    /// The records of a map, where some lumps may be taken for others than it has.
    pub(crate) fn with(map: &'m Bsp<'a>, links: Links<'a>) -> Self {
        let lens = links.sites.iter().map(Site::len).collect();
        Lists { map, links, lens }
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
            self.links.shares(site).is_some_and(|(to, starts)| {
                // One record for each of another list; or several, which go with it.
                let is_each = starts.iter().enumerate().all(|(at, start)| at == *start);
                let only_removes = |moves: &Option<Moves>| moves.as_ref().is_some_and(Moves::only_removes);
                is_each && ours[to] == ours[site] && theirs[to] == theirs[site]
                    || [ours, theirs].iter().all(|side| only_removes(&side[to]) && only_removes(&side[site]))
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
    /// The lists that each list refers to, or whose records its own ones belong to.
    targets: Vec<Vec<usize>>,
    /// The place of each list in the order in which they are aligned.
    rank: Vec<usize>,
    /// What the records of each list are compared by, of both maps; empty for lists that are equal.
    rows: Vec<Rows>,
    /// How often what is known of each list has changed.
    changes: Vec<usize>,
    found: Vec<Option<Found>>,
}

/// What the records of a list alone say of it, as long as what is known of its targets has not changed.
struct Found {
    moves: Option<Moves>,
    changes: Vec<usize>,
}

/// The lists and the numbers of the records that entities name, by a hash of all else that the entity has.
type Named = HashMap<(u64, usize), Vec<(usize, i64)>>;

/// What the numbers that name records of a list say.
#[derive(Clone, Default)]
struct Evidence {
    /// How many name records that moved.
    named: usize,
    /// The records that moved, for each number that leads to the new place.
    follow: Vec<usize>,
    /// The same for each number that still has the old place.
    stay: Vec<usize>,
}

/// What a side did to each list of the base. Both have the same lists.
pub(crate) fn motions(base: &Lists<'_, '_>, side: &Lists<'_, '_>) -> Result<Vec<Option<Moves>>> {
    let targets = targets(&base.links);
    let order = order(&targets);
    let count = base.links.sites.len();
    let mut rank = vec![0; count];
    order.iter().enumerate().for_each(|(at, site)| rank[*site] = at);
    // Lists whose records are where they were although they have values of others.
    let mut is_still = vec![false; count];
    let (units, motions) = ([base.units(), side.units()], vec![None; count]);
    let (rows, changes, found) = (vec![Rows::default(); count], vec![0; count], (0..count).map(|_| None).collect());
    let mut all = Alignment { base, side, units, motions, targets, rank, rows, changes, found };
    for round in 0..ROUNDS {
        let before = all.motions.clone();
        for &site in &order {
            if round == 0 || is_still[site] || all.motions[site].as_ref().is_some_and(Moves::is_uncertain) {
                let moves = if is_still[site] { None } else { all.motion(site) };
                all.set(site, moves);
            }
        }
        all.settle(&order)?;
        let evidence = all.evidence()?;
        for (site, mut evidence) in evidence.into_iter().enumerate() {
            let is_shifted = all.motions[site].as_ref().is_some_and(Moves::shifts);
            if !is_shifted || base.links.sites[site].parallel.is_some() {
                continue;
            }
            let is_resized = base.lens[site] != side.lens[site];
            let Evidence { named, follow, stay } = &mut evidence;
            if !follow.is_empty() || is_resized {
                all.leave_named(site, stay);
            }
            if stay.is_empty() && (!follow.is_empty() || is_resized || *named == 0) {
                continue;
            }
            if follow.is_empty() && !stay.is_empty() && !is_resized && round + 1 < ROUNDS {
                is_still[site] = true;
                all.set(site, None);
                continue;
            }
            let is_confirmed = !stay.is_empty() && follow.len() >= CONFIRMED * stay.len();
            let moves = match all.motions[site].clone().filter(|_| is_confirmed) {
                Some(moves) => moves.without(&evidence.doubtful()),
                None => Moves::lost(base.lens[site], side.lens[site]),
            };
            all.set(site, Some(moves));
        }
        if all.motions == before {
            break;
        }
    }
    all.close(&order);
    Ok(all.motions)
}

/// The lists that each list refers to, or whose records its own ones belong to.
fn targets(links: &Links<'_>) -> Vec<Vec<usize>> {
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); links.sites.len()];
    links.links.iter().for_each(|link| targets[link.from].push(link.to));
    for (site, targets) in targets.iter_mut().enumerate() {
        targets.extend(links.shares(site).map(|(to, _)| to));
        targets.sort_unstable();
        targets.dedup();
    }
    targets
}

/// The lists, each after its targets, as far as they do not refer to each other.
fn order(targets: &[Vec<usize>]) -> Vec<usize> {
    let count = targets.len();
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
    fn set(&mut self, site: usize, moves: Option<Moves>) {
        if self.motions[site] != moves {
            self.motions[site] = moves;
            self.changes[site] += 1;
        }
    }

    /// What the records of a list alone say of it.
    fn motion(&mut self, site: usize) -> Option<Moves> {
        let changes: Vec<usize> = self.targets[site].iter().map(|to| self.changes[*to]).collect();
        if let Some(found) = self.found[site].as_ref().filter(|found| found.changes == changes) {
            return found.moves.clone();
        }
        let moves = self.fresh_motion(site);
        self.found[site] = Some(Found { moves: moves.clone(), changes });
        moves
    }

    fn fresh_motion(&mut self, site: usize) -> Option<Moves> {
        let (base, side) = (&self.base.links.sites[site], &self.side.links.sites[site]);
        if base.parallel.is_some()
            && let (Some((to, old)), Some((_, new))) = (self.base.links.shares(site), self.side.links.shares(site))
        {
            return self.parallel(site, to, &old, &new);
        }
        if base.all() == side.all() {
            return None;
        }
        self.rows[site] = self.rows(site);
        let rows = &self.rows[site];
        match rows.old.len() == rows.new.len() {
            true => rows.moved(),
            false => Some(rows.aligned(false)),
        }
    }

    /// Finds the records that their content alone does not tell, by the numbers that name them: those that refer to a
    /// list before the list.
    fn settle(&mut self, order: &[usize]) -> Result<()> {
        let is_own = |site: &usize| self.base.links.sites[*site].parallel.is_none();
        let (own, parallel): (Vec<usize>, Vec<usize>) = order.iter().copied().partition(is_own);
        for &site in own.iter().rev() {
            let Some(moves) = &self.motions[site] else { continue };
            let rows = &self.rows[site];
            let unsure = rows.unsure(&moves.place);
            if unsure.contains(&true) {
                let (votes, is_named) = self.votes(site, &unsure)?;
                let place = rows.settled(moves.place.clone(), &unsure, &votes, &is_named);
                let moves = Moves::new(place, rows.new.len());
                self.set(site, Some(moves));
            }
        }
        for site in parallel {
            let moves = self.motion(site);
            self.set(site, moves);
        }
        Ok(())
    }

    /// What is certain of records once no more can be found out.
    fn close(&mut self, order: &[usize]) {
        for &site in order {
            let moves = match self.base.links.sites[site].parallel {
                None => self.motions[site].clone().map(Moves::if_full),
                Some(_) => self.motion(site),
            };
            self.set(site, moves);
        }
    }

    /// What numbers say of uncertain records of a list, and which of these are named at all.
    fn votes(&self, site: usize, unsure: &[bool]) -> Result<(Votes, Vec<bool>)> {
        let (mut votes, mut is_named) = (Votes::new(), vec![false; unsure.len()]);
        let Rows { old: rows, new: others, .. } = &self.rows[site];
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

    /// What the records of a list are compared by: what they mean, in the numbers of the side.
    fn rows(&self, site: usize) -> Rows {
        let mut numbers: [Vec<Option<Moves>>; 2] = [vec![None; self.motions.len()], vec![None; self.motions.len()]];
        for &to in &self.targets[site] {
            numbers[0][to].clone_from(&self.motions[to]);
            // Numbers of records that are not certain are as good as each other.
            numbers[1][to] = self.motions[to].as_ref().map(Moves::known);
        }
        // References to lists that are aligned later are not compared.
        let hidden: Vec<bool> = self.rank.iter().map(|rank| *rank >= self.rank[site]).collect();
        let erased = self.erased(site);
        let both = self.base.lens.iter().zip(&self.side.lens);
        let ends: Vec<usize> = both.map(|(one, other)| *one.min(other)).collect();
        let contents = |which: usize| {
            let lists = [self.base, self.side][which];
            let numbers: Vec<Option<&Moves>> = numbers[which].iter().map(Option::as_ref).collect();
            let (mut contents, mut meaning) = (Contents::default(), Vec::new());
            for bytes in lists.links.sites[site].records() {
                let start = contents.bytes.len();
                contents.bytes.extend_from_slice(bytes);
                erased.iter().for_each(|place| contents.bytes[start..][place.clone()].fill(0));
                meaning.clear();
                for unit in &self.units[which][site] {
                    unit.meaning(bytes, &lists.lens, &numbers, &hidden, Marks::Blurred(&ends), &mut meaning);
                }
                contents.bytes.extend(meaning.iter().flat_map(|number| number.to_le_bytes()));
                contents.ends.push(contents.bytes.len());
            }
            contents
        };
        Rows::of(&contents(0), &contents(1))
    }

    /// The bytes of a record that do not tell what it is: numbers that name records, and offsets in a lump that the
    /// side has changed.
    fn erased(&self, site: usize) -> Vec<Range<usize>> {
        let mut erased: Vec<Range<usize>> =
            self.units[0][site].iter().flat_map(|unit| unit.bytes.iter().cloned()).collect();
        for cell in Cell::meant(self.base.links.sites[site].record.fields) {
            let Meaning::Offset { lump } = cell.meaning else { continue };
            let is_same = |lump: &&str| stored(self.base, lump).as_deref() == stored(self.side, lump).as_deref();
            if !self.base.map.offset_lumps(self.base.links.sites[site].row, lump).iter().all(is_same) {
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

    /// Leaves out the records that their name tells: one that no other record has in either map.
    fn leave_named(&self, site: usize, records: &mut Vec<usize>) {
        if records.is_empty() {
            return;
        }
        let (base, side) = (&self.base.links.sites[site], &self.side.links.sites[site]);
        let cells = Cell::all(base.record.fields);
        let Some(name) = cells.iter().find(|cell| matches!(cell.shape, Shape::Name(_))) else { return };
        let mut counts: HashMap<&[u8], [usize; 2]> = HashMap::new();
        for (which, list) in [base, side].into_iter().enumerate() {
            list.records().for_each(|record| counts.entry(&record[name.place.clone()]).or_default()[which] += 1);
        }
        records.retain(|record| counts.get(&base.record(*record)[name.place.clone()]) != Some(&[1, 1]));
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
        let Ok(record) = usize::try_from(old) else { return };
        self.follow.extend(Some(record).filter(|_| new == Some(place)));
        self.stay.extend(Some(record).filter(|_| new == Some(old)));
    }

    /// The records that at least as many numbers name at the old place as at the new one. One number among others that
    /// has the old place names another record now: one that has come to this place.
    fn doubtful(&self) -> Vec<usize> {
        let mut balance: HashMap<usize, isize> = self.stay.iter().map(|record| (*record, 0)).collect();
        for (records, by) in [(&self.stay, 1), (&self.follow, -1)] {
            for record in records {
                balance.get_mut(record).into_iter().for_each(|balance| *balance += by);
            }
        }
        balance.into_iter().filter(|(_, balance)| *balance >= 0).map(|(record, _)| record).collect()
    }
}
