//! Laws of records that move, on one list of the map that its content chooses, and the content that must stay: each
//! record as a number that is computed from its bytes and from the content of what it refers to.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Failure, Law, Subject, broken, skipped};
use crate::bsp::Bsp;
use crate::bytes::{wide, word};
use crate::content::entities::Entities;
use crate::content::physics::PhysDisp;
use crate::dialect::{EntityForm, Role};
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::file::SlotId;
use crate::links::{How, Link, Links, Word};
use crate::record::{Cell, Meaning, Order};

// Laws of records that move, on one list of the map that its content chooses: an order and the way back, records that
// are added and removed.

/// How many lists are tried until one may come into another order.
const MOST_TRIED: usize = 4;

/// A generator of numbers, whose seed is the content of the map.
struct Random(u64);

impl Random {
    fn of(bsp: &Bsp<'_>) -> Self {
        let bytes = bsp.container().bytes();
        Random(hash(&bytes[..bytes.len().min(4096)]) ^ wide(bytes.len()))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).rev().for_each(|at| items.swap(at, self.below(at + 1)));
    }
}

/// The lists to which others refer, in an order that the seed gives, or the one of this name.
fn lists(links: &Links<'_>, only: Option<&str>, random: &mut Random) -> Vec<usize> {
    if let Some(name) = only {
        return links.site(name).into_iter().collect();
    }
    let is_referred = |site: &usize| links.links.iter().any(|link| link.to == *site);
    let mut lists: Vec<usize> = (0..links.sites.len()).filter(|site| links.sites[*site].len() > 1).collect();
    lists.retain(is_referred);
    random.shuffle(&mut lists);
    lists.truncate(MOST_TRIED);
    lists
}

/// After a list came into another order every reference leads to the same content, and the way back restores every
/// byte: two laws.
pub(super) fn reorder(bsp: &Bsp<'_>, subject: &Subject, links: &Links<'_>, only: Option<&str>) -> (Law, Law) {
    match try_reorder(bsp, subject, links, only) {
        Ok(laws) => laws,
        Err(failure) => (Err(failure), Err(skipped("no list came into another order"))),
    }
}

fn try_reorder(bsp: &Bsp<'_>, subject: &Subject, links: &Links<'_>, only: Option<&str>) -> Result<(Law, Law), Failure> {
    let (mut random, mut why) = (Random::of(bsp), skipped("it has no lists of records that others refer to"));
    for site in lists(links, only, &mut random) {
        let (name, order) = (&links.sites[site].name, order(links, site, &mut random));
        let list = &links.sites[site];
        if order.iter().enumerate().all(|(new, old)| list.record(new) == list.record(*old)) {
            continue;
        }
        let mut draft = bsp.draft();
        match (subject.reorder)(&mut draft, name, &order) {
            Err(error) if is_refused(bsp, &error) => {
                why = skipped(format!("{name} in another order: {error}"));
                continue;
            }
            done => done.map_err(|error| broken(format!("{name} in another order: {error}")))?,
        }
        let same = same_content(bsp, links, &draft, name);
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| back[*old] = new);
        let back = (subject.reorder)(&mut draft, name, &back);
        let back = back.map_err(|error| broken(format!("{name} in its old order: {error}")));
        return Ok((back.and_then(|()| unchanged(&draft, &format!("{name} in another order and back"))), same));
    }
    Err(why)
}

/// Whether the library may refuse an edit: it says so by name, and where the file has lost the bytes of lumps.
fn is_refused(bsp: &Bsp<'_>, error: &Error) -> bool {
    error.kind() == ErrorKind::Refused || bsp.container().damaged().next().is_some()
}

fn same_content(bsp: &Bsp<'_>, links: &Links<'_>, draft: &Draft<'_>, name: &str) -> Law {
    let unread = |error: Error| broken(format!("{name} in another order: {error}"));
    let Some(map) = draft.view().map_err(unread)? else { return Err(broken(format!("{name} keeps its order"))) };
    let new = map.links().map_err(unread)?;
    let changed = Changed::between((bsp, links), (&map, &new));
    // A lump that does not decompress has no content to compare.
    let old = Content::of(bsp, links, &changed).map_err(|error| skipped(error.to_string()))?;
    match old.difference(&Content::of(&map, &new, &changed).map_err(unread)?) {
        Some(other) => Err(broken(format!("{name} in another order: references of {other} lead to other content"))),
        None => Ok(()),
    }
}

fn unchanged(draft: &Draft<'_>, doing: &str) -> Law {
    match draft.changes().map_err(|error| broken(error.to_string()))?.first() {
        Some(slot) => Err(broken(format!("{doing}: {slot:?} does not have its old bytes"))),
        None => Ok(()),
    }
}

/// A record that is added and removed again leaves every byte as it was.
pub(super) fn splice(bsp: &Bsp<'_>, subject: &Subject, links: &Links<'_>, only: Option<&str>) -> Law {
    let (mut random, mut why) = (Random::of(bsp), skipped("it has no lists of records that others refer to"));
    for at in lists(links, only, &mut random) {
        let site = &links.sites[at];
        let segments: Vec<Range<usize>> = segments(links, at).concat();
        let Some(segment) = segments.get(random.below(segments.len())).filter(|segment| !segment.is_empty()) else {
            continue;
        };
        let (end, count) = (segment.end, if site.is_paired() { 2.min(segment.len()) } else { 1 });
        let copies: Vec<u8> = (end - count..end).flat_map(|index| site.record(index).to_vec()).collect();
        let (mut draft, name) = (bsp.draft(), &site.name);
        match (subject.splice)(&mut draft, name, end..end, copies) {
            Err(error) if is_refused(bsp, &error) => {
                why = skipped(format!("{name}[{end}] is added: {error}"));
                continue;
            }
            done => done.map_err(|error| broken(format!("{name}[{end}] is added: {error}")))?,
        }
        let removed = (subject.splice)(&mut draft, name, end..end + count, Vec::new());
        // What is added at the end moves nothing, so that lumps of unknown content refuse only its removal. A plane
        // more can make pairs of planes that were none, of which one does not go alone.
        let is_doubtful = || links.doubts(at).next().is_some() || site.row.order.paired && !site.is_paired();
        if let Some(error) = removed.as_ref().err().filter(|error| is_refused(bsp, error) && is_doubtful()) {
            why = skipped(format!("{name}[{end}] is added and removed: {error}"));
            continue;
        }
        removed.map_err(|error| broken(format!("{name}[{end}] is added and removed: {error}")))?;
        return unchanged(&draft, &format!("{name}[{end}] is added and removed"));
    }
    Err(why)
}

/// An order in which nothing that belongs together is parted.
fn order(links: &Links<'_>, site: usize, random: &mut Random) -> Vec<usize> {
    let fixed = links.sites[site].row.order.fixed.min(links.sites[site].len());
    let mut order: Vec<usize> = (0..fixed).collect();
    for mut turn in segments(links, site) {
        random.shuffle(&mut turn);
        order.extend(turn.into_iter().flatten());
    }
    order
}

/// Ranges of records that may change places: those of each inner list, with each other.
fn segments(links: &Links<'_>, site: usize) -> Vec<Vec<Range<usize>>> {
    let (list, len) = (&links.sites[site], links.sites[site].len());
    // How many wholes have the place before each record within them, and the ends of sets that follow each other.
    let (mut within, mut is_end) = (vec![0_i64; len + 2], vec![false; len + 1]);
    let mut whole = |start: usize, end: usize| {
        within[start + 1] += 1;
        within[end.max(start + 1)] -= 1;
    };
    if list.row.order.paired {
        (0..len / 2).for_each(|pair| whole(2 * pair, 2 * pair + 2));
    }
    links.stretches(site).into_iter().for_each(|stretch| whole(stretch.start, stretch.end));
    if let Some(word) =
        list.grouped.and_then(|field| list.record.field(field)).and_then(|field| Word::of(field.offset, field.shape))
    {
        let mut start = 0;
        for at in 1..=len {
            if at == len || word.get(list.record(at)) != word.get(list.record(start)) {
                whole(start, at);
                start = at;
            }
        }
    }
    for link in links.links.iter().filter(|link| link.to == site) {
        each_run(links, link, |start, end| match link.how {
            How::Share(_) | How::Run(_, _, Order::InTurn) => (is_end[start], is_end[end]) = (true, true),
            How::Run(_, _, Order::Own) => {
                whole(start, end);
                (is_end[start], is_end[end]) = (true, true);
            }
            _ => whole(start, end),
        });
    }
    let (mut turns, mut turn) = (Vec::new(), Vec::new());
    let (mut depth, mut start) = (0, list.row.order.fixed.min(len));
    for at in 1..=len {
        depth += within[at];
        if at <= start || depth > 0 && at < len {
            continue;
        }
        turn.push(start..at);
        start = at;
        if is_end[at] {
            turns.push(std::mem::take(&mut turn));
        }
    }
    turns.push(turn);
    turns
}

/// Calls a function for each run of records that a reference names, if all of them are there.
fn each_run(links: &Links<'_>, link: &Link, mut hand: impl FnMut(usize, usize)) {
    let (from, len) = (&links.sites[link.from], links.sites[link.to].len());
    let mut next = if let How::Share(skip) = link.how { skip } else { 0 };
    for record in from.records() {
        let (first, count) = match link.how {
            How::Share(_) => (next, usize::try_from(link.word.get(record)).unwrap_or(0)),
            How::Run(..) => {
                let named = link.named(record, len);
                let named =
                    named.and_then(|(first, count)| usize::try_from(first).ok().zip(usize::try_from(count).ok()));
                let Some(named) = named else { continue };
                named
            }
            _ => return,
        };
        next = first.saturating_add(count);
        if next <= len && count > 0 {
            hand(first, next);
        }
    }
}

// The content of records without their numbers: each record as a number that is computed from its bytes and from the
// content of the records that it refers to. Two maps that differ only in the order of records have the same.

/// How often references are followed: what a record refers to, and what that refers to.
const ROUNDS: usize = 2;

const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;

/// What an edit changed. Numbers that refer to lists that it did not change have to stay as they are.
pub(super) struct Changed {
    lists: Vec<bool>,
    slots: BTreeSet<SlotId>,
}

impl Changed {
    /// Compares a map with the same map after an edit.
    pub(super) fn between((map, old): (&Bsp<'_>, &Links<'_>), (after, new): (&Bsp<'_>, &Links<'_>)) -> Self {
        let pairs = old.sites.iter().zip(&new.sites);
        let is_same = |slot| map.bytes(slot).ok().zip(after.bytes(slot).ok()).is_some_and(|(old, new)| *old == *new);
        let differs = |slot: &SlotId| after.container().is_pending(*slot) && !is_same(*slot);
        let lists = pairs.map(|(old, new)| old.name != new.name || old.all() != new.all());
        let mut lists: Vec<bool> = lists.collect();
        // What goes along with records moves with them, though its bytes are the same where all of it is alike.
        let goes_along = |how| matches!(how, How::Share(_) | How::Run(_, _, Order::InTurn | Order::Own));
        for link in old.links.iter().filter(|link| goes_along(link.how)) {
            lists[link.to] |= lists[link.from];
        }
        let slots = map.slots().iter().map(|slot| slot.id).filter(differs);
        Changed { lists, slots: slots.collect() }
    }

    fn is(&self, site: usize) -> bool {
        self.lists.get(site) == Some(&true)
    }

    /// Whether the content of a slot that refers to these lumps has to be compared.
    fn reaches<'n>(&self, links: &Links<'_>, slot: SlotId, mut lumps: impl Iterator<Item = &'n str>) -> bool {
        self.slots.contains(&slot) || lumps.any(|lump| links.referred(lump).is_some_and(|site| self.is(site)))
    }

    /// The references to these lists.
    fn links<'l>(&self, links: &'l Links<'_>) -> impl Iterator<Item = &'l Link> {
        links.links.iter().filter(|link| self.is(link.to))
    }
}

/// The content of each list that an edit changed or that refers to one, in no order.
pub(super) struct Content(Vec<(String, Vec<u64>)>);

impl Content {
    pub(super) fn of(map: &Bsp<'_>, links: &Links<'_>, changed: &Changed) -> Result<Self> {
        let is_seen = |site: usize| changed.is(site) || changed.links(links).any(|link| link.from == site);
        let numbers = (0..links.sites.len()).map(|site| match is_seen(site) || is_beside(links, changed, site) {
            true => bytes(map, links, changed, site),
            false => Vec::new(),
        });
        let mut lists: Vec<Vec<u64>> = numbers.collect();
        for (slot, _, parallel) in &links.parts {
            let Some(site) = links.referred(parallel.lump).filter(|site| changed.is(*site)) else { continue };
            let version = map.container().slot(*slot).and_then(|slot| slot.version).unwrap_or(0);
            let Ok(solids) = PhysDisp::parse(map.little_endian(*slot)?, version) else { continue };
            for (index, record) in lists[site].iter_mut().enumerate().take(solids.len()) {
                *record = mix(*record, hash(solids.get(index).unwrap_or_default()));
            }
        }
        for _ in 0..ROUNDS {
            lists = round(links, changed, &lists);
        }
        let mut all: Vec<(String, Vec<u64>)> =
            links.sites.iter().map(|site| site.name.clone()).zip(lists.iter().cloned()).collect();
        all.extend(blocks(map, links, changed, &lists)?);
        all.extend(entities(map, links, changed, &lists)?);
        all.iter_mut().for_each(|(_, list)| list.sort_unstable());
        Ok(Content(all))
    }

    /// The first list that another map does not have in the same way.
    pub(super) fn difference(&self, other: &Content) -> Option<&str> {
        let differ = self.0.iter().zip(&other.0).find(|(one, other)| one != other).map(|((name, _), _)| name.as_str());
        differ.or_else(|| (self.0.len() != other.0.len()).then_some("the map"))
    }
}

/// Whether the records of a list belong to those of one that changed, by their order.
fn is_beside(links: &Links<'_>, changed: &Changed, site: usize) -> bool {
    let parallel = links.sites[site].parallel;
    parallel.and_then(|parallel| links.referred(parallel.lump)).is_some_and(|to| changed.is(to))
}

/// The records of a list without the numbers that refer to others, and without the places of rows of visibility.
fn bytes(map: &Bsp<'_>, links: &Links<'_>, changed: &Changed, site: usize) -> Vec<u64> {
    let list = &links.sites[site];
    let own: Vec<&Link> = changed.links(links).filter(|link| link.from == site).collect();
    let visibility = map.role(Role::Visibility).map_or("", |slot| &slot.name);
    let is_row = |cell: &Cell| matches!(cell.meaning, Meaning::Offset { lump } if lump == visibility);
    let rows: Vec<_> = Cell::all(list.record.fields).into_iter().filter(is_row).map(|cell| cell.place).collect();
    let mut record = vec![0; list.record.size];
    let hashes = list.records().map(|bytes| {
        record.copy_from_slice(bytes);
        rows.iter().for_each(|row| record[row.clone()].fill(0));
        for link in &own {
            if range(links, link, bytes).is_some() {
                link.erase(&mut record);
            }
        }
        hash(&record)
    });
    hashes.collect()
}

/// The records that a number names, if all of them are there.
fn range(links: &Links<'_>, link: &Link, record: &[u8]) -> Option<(usize, usize)> {
    let len = links.sites[link.to].len();
    let (first, count) = link.named(record, len)?;
    let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
    first.checked_add(count).filter(|end| *end <= len).map(|end| (first, end))
}

/// Sums over the records of a list, so that a run of them takes constant time.
struct Sums {
    /// Of the records before each one.
    all: Vec<u64>,
    /// Of those records with the one after each.
    pairs: Vec<u64>,
}

impl Sums {
    fn of(list: &[u64]) -> Self {
        let sum = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut total = 0_u64;
            let mut sums = vec![0];
            sums.extend(numbers.map(|number| {
                total = total.wrapping_add(number);
                total
            }));
            sums
        };
        let pairs = sum(&mut list.windows(2).map(|pair| mix(pair[0], pair[1])));
        Sums { all: sum(&mut list.iter().map(|one| mix(*one, PRIME))), pairs }
    }

    /// What records from `start` to `end` are together, in this order or in any.
    fn run(&self, start: usize, end: usize, is_ordered: bool) -> u64 {
        let all = self.all[end].wrapping_sub(self.all[start]);
        let pairs = || self.pairs[end - 1].wrapping_sub(self.pairs[start]);
        if is_ordered && end > start { mix(all, pairs()) } else { all }
    }
}

/// Adds to each record what it refers to, and what belongs to it by its order.
fn round(links: &Links<'_>, changed: &Changed, lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let sums: Vec<Sums> = lists.iter().map(|list| Sums::of(list)).collect();
    let mut new = lists.to_vec();
    for (number, link) in (1..).zip(&links.links).filter(|(_, link)| changed.is(link.to)) {
        let mut next = if let How::Share(skip) = link.how { skip } else { 0 };
        let (target, is_ordered) = (&sums[link.to], matches!(link.how, How::Run(_, _, order) if order.is_whole()));
        for (record, own) in links.sites[link.from].records().zip(&mut new[link.from]) {
            let named = match link.how {
                How::Share(_) => {
                    let end = next.saturating_add(usize::try_from(link.word.get(record)).unwrap_or(0));
                    Some((std::mem::replace(&mut next, end), end)).filter(|(_, end)| *end < target.all.len())
                }
                _ => range(links, link, record),
            };
            if let Some((start, end)) = named {
                // Items of an array are a set.
                let what = if matches!(link.how, How::Item(..)) { 0 } else { number };
                *own = own.wrapping_add(mix(target.run(start, end, is_ordered), what));
            }
        }
    }
    for (site, own_sums) in sums.iter().enumerate() {
        let Some((to, starts)) = links.shares(site).filter(|(to, _)| changed.is(*to)) else { continue };
        if starts.last().is_none_or(|total| *total != links.sites[site].len()) {
            continue;
        }
        for (range, own) in starts.windows(2).zip(&mut new[to]) {
            *own = own.wrapping_add(mix(own_sums.run(range[0], range[1], true), PRIME));
        }
    }
    new
}

/// Blocks without the numbers of the records that they belong to and refer to, with the content of these.
fn blocks(map: &Bsp<'_>, links: &Links<'_>, changed: &Changed, lists: &[Vec<u64>]) -> Result<Vec<(String, Vec<u64>)>> {
    let mut all = Vec::new();
    for (slot, name, blocks) in &links.blocks {
        let others = links.places.iter().filter(|(other, ..)| other == slot).map(|(_, _, lump, _)| *lump);
        if !changed.reaches(links, *slot, others.chain([blocks.lump])) {
            continue;
        }
        let mut bytes = map.little_endian(*slot)?.to_vec();
        let found = (blocks.find)(&bytes).unwrap_or_default();
        let mut numbers = |lump: &str, at: usize| {
            let site = links.referred(lump).filter(|site| changed.is(*site))?;
            let record = usize::try_from(word(&bytes, at)?).ok()?;
            let content = lists.get(site)?.get(record).copied()?;
            bytes.get_mut(at..at + 4)?.fill(0);
            Some((at, content))
        };
        let places = links.places.iter().filter(|(other, ..)| other == slot);
        let mut contents: Vec<(usize, u64)> = places
            .flat_map(|(_, _, lump, places)| places.iter().map(move |at| (*lump, *at)))
            .chain(found.iter().map(|block| (blocks.lump, block.at)))
            .filter_map(|(lump, at)| numbers(lump, at))
            .collect();
        contents.sort_unstable();
        let list = found.iter().map(|block| {
            let start = contents.partition_point(|(at, _)| *at < block.range.start);
            let own = contents[start..].iter().take_while(|(at, _)| *at < block.range.end);
            own.fold(hash(bytes.get(block.range.clone()).unwrap_or_default()), |sum, (_, content)| mix(sum, *content))
        });
        all.push((name.clone(), list.collect()));
    }
    Ok(all)
}

/// What values of entities refer to.
fn entities(
    map: &Bsp<'_>,
    links: &Links<'_>,
    changed: &Changed,
    lists: &[Vec<u64>],
) -> Result<Option<(String, Vec<u64>)>> {
    let Some(slot) = map.role(Role::Entities).filter(|slot| slot.length > 0) else { return Ok(None) };
    if !changed.reaches(links, slot.id, map.dialect().entity_references.iter().map(|reference| reference.lump)) {
        return Ok(None);
    }
    let Ok(entities) = Entities::parse(map.bytes(slot.id)?, map.entity_rules()) else { return Ok(None) };
    let mut values = Vec::new();
    for value in entities.iter().flat_map(|entity| entity.record_values(map.dialect())) {
        let list =
            links.referred(value.reference.lump).filter(|site| changed.is(*site)).and_then(|site| lists.get(site));
        let record =
            usize::try_from(value.number).ok().filter(|_| !matches!(value.reference.form, EntityForm::Field(_)));
        let content = list.zip(record).and_then(|(list, record)| list.get(record).copied());
        let number = value.number.to_le_bytes();
        values.push(mix(content.unwrap_or_else(|| hash(&number)), wide(value.entity)));
    }
    Ok(Some((slot.name.clone(), values)))
}

/// A number that differs for different bytes, with a chance that is as good as none.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let all = words.iter().fold(PRIME, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(mix(all, wide(bytes.len())), |sum, byte| mix(sum, u64::from(*byte)))
}

fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one.rotate_left(23) ^ other).wrapping_mul(PRIME);
    mixed ^ (mixed >> 29)
}
