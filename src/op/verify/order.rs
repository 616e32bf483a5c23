//! Laws of records that move, on one list of the map that its content chooses: an order and the way back, records that
//! are added and removed.

use std::ops::Range;

use super::content::{Changed, Content, hash};
use super::{Failure, Law, Subject, broken, skipped};
use crate::bsp::{Bsp, How, Link, Links, Word};
use crate::bytes::wide;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind};
use crate::record::Order;

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
        // What is added at the end moves nothing, so that lumps of unknown content refuse only its removal.
        if let Some(error) = removed.as_ref().err().filter(|error| is_refused(bsp, error) && !links.unknown.is_empty())
        {
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
