//! What goes with removed records, and what must stay.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::change::{Change, Source};
use super::{Edit, Options, refused};
use crate::bsp::Bsp;
use crate::dialect::{Each, Limit, Unit, Whose};
use crate::error::{Error, Hint, Result};
use crate::links::{How, Link, Links, Site, Word, parted};
use crate::record::Order;

// What goes with removed records: entries of lists, and, if the caller asks for it, all that needs them.

/// The removed records of each list.
pub(super) type Removed = BTreeMap<usize, Vec<bool>>;

/// How many of those who need a record an error lists.
const LISTED: usize = 10;

/// Those who need a removed record.
#[derive(Default)]
pub(super) struct Needed {
    first: Option<String>,
    by: Vec<String>,
    count: usize,
}

impl Needed {
    pub(super) fn add(&mut self, what: impl FnOnce() -> String, by: impl FnOnce() -> String) {
        self.first.get_or_insert_with(what);
        self.count += 1;
        if self.by.len() < LISTED {
            self.by.push(by());
        }
    }

    /// The error that lists them, if there are any. Those who need it could be removed too.
    pub(super) fn into_error(self) -> Option<Error> {
        self.into_final_error().map(|error| error.with_hint(Hint::Cascade))
    }

    /// The error that lists them, if there are any. They cannot be removed.
    pub(super) fn into_final_error(self) -> Option<Error> {
        let first = self.first?;
        let more = self.count - self.by.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("{first} is still needed: by {}{more}", self.by.join(", "));
        let lump = first.split('[').next().unwrap_or_default();
        Some(refused(lump, message))
    }
}

/// The records that the edit removes, and those that go with them. Each reference is followed once, however long the
/// chains are.
pub(super) fn close(links: &Links<'_>, edit: &Edit, options: &Options) -> Result<Removed> {
    let removed = edit.removes(links);
    let new = removed.iter().map(|(site, gone)| (*site, numbers(gone))).collect();
    let by = links.links.iter().map(|_| None).collect();
    let shares = BTreeMap::new();
    let mut closing = Closing { links, edit, options, removed, new, by, shares, needed: Needed::default() };
    loop {
        // Runs have no chains: no list leads to itself over one. So they are read when all else is done.
        if !closing.follow_numbers() {
            closing.follow_runs();
        }
        if let Some(error) = std::mem::take(&mut closing.needed).into_error() {
            return Err(error);
        }
        if closing.new.is_empty() && (options.exact || !closing.parts()) {
            return Ok(closing.removed);
        }
    }
}

/// The numbers of the records that are set.
fn numbers(gone: &[bool]) -> Vec<usize> {
    (0..gone.len()).filter(|record| gone[*record]).collect()
}

struct Closing<'c, 'a> {
    links: &'c Links<'a>,
    edit: &'c Edit,
    options: &'c Options,
    removed: Removed,
    /// Removed records whose references have not been followed.
    new: BTreeMap<usize, Vec<usize>>,
    /// Who refers to each record, by link, once that is needed.
    by: Vec<Option<Referring>>,
    /// For lists with several records for each of another list: that list, and where those of each begin.
    shares: BTreeMap<usize, Option<(usize, Vec<usize>)>>,
    needed: Needed,
}

impl Closing<'_, '_> {
    /// Removes a record; whether it was there.
    fn remove(&mut self, site: usize, record: usize) -> bool {
        let len = self.links.sites[site].len();
        let own = self.removed.entry(site).or_insert_with(|| vec![false; len]);
        let is_new = own.get_mut(record).is_some_and(|gone| !std::mem::replace(gone, true));
        if is_new {
            self.new.entry(site).or_default().push(record);
        }
        is_new
    }

    /// The records that a record names, as it is after the edit.
    fn named(&self, link: &Link, record: usize) -> Option<(usize, usize)> {
        let from = &self.links.sites[link.from];
        let bytes = self.edit.replaced(link.from, from.record.size, record);
        let len = self.links.sites[link.to].len();
        let (first, count) = link.named(bytes.unwrap_or_else(|| from.record(record)), len)?;
        let end = usize::try_from(first.saturating_add(count)).unwrap_or(usize::MAX);
        usize::try_from(first).ok().map(|first| (first, end.min(len))).filter(|(first, end)| first < end)
    }

    /// Follows the numbers that name one record that was removed since the last time; whether any was, and the edit is
    /// not refused for it.
    fn follow_numbers(&mut self) -> bool {
        let links = self.links;
        let mut found = Vec::new();
        let new = std::mem::take(&mut self.new);
        for (number, link) in links.links.iter().enumerate().filter(|(_, link)| is_number(link)) {
            let Some(gone) = new.get(&link.to) else { continue };
            let by = match self.by[number].take() {
                Some(by) => by,
                None => Referring::new(self, link),
            };
            for record in gone {
                by.of(*record).for_each(|from| found.extend(self.goes(link, from, *record)));
            }
            self.by[number] = Some(by);
        }
        found.into_iter().for_each(|(site, record)| _ = self.remove(site, record));
        !self.new.is_empty() && self.needed.count == 0
    }

    /// Follows all runs with a removed record.
    fn follow_runs(&mut self) {
        let links = self.links;
        let mut found = Vec::new();
        for link in links.links.iter().filter(|link| is_whole(link)) {
            let Some(gone) = self.removed.get(&link.to).cloned() else { continue };
            let next = next_of(&gone);
            for record in 0..links.sites[link.from].len() {
                let named = self.named(link, record).filter(|(first, end)| next[*first] < *end);
                if let Some((first, _)) = named.filter(|(first, end)| !stays_bounded(links, link, *first..*end, &gone))
                {
                    found.extend(self.goes(link, record, next[first]));
                }
            }
        }
        found.into_iter().for_each(|(site, record)| _ = self.remove(site, record));
    }

    /// What goes with a removed record because this one refers to it: a list and the number in it.
    fn goes(&mut self, link: &Link, record: usize, gone: usize) -> Option<(usize, usize)> {
        if link.is_weak() {
            return None;
        }
        let from = &self.links.sites[link.from];
        let (is_bound, owner) = owner(self.links, link);
        if self.removed.get(&owner).is_some_and(|own| own.get(record) == Some(&true)) {
            return None;
        }
        if is_bound && self.belongs_to_removed(link.from, record) {
            return None;
        }
        if from.listed || self.options.cascade && !is_bound {
            let can_be_without = link.none().is_some() || is_optional(link);
            return (from.listed || !can_be_without).then_some((owner, record));
        }
        let what = || format!("{}[{gone}]", self.links.sites[link.to].name);
        self.needed.add(what, || format!("{}[{record}].{}", from.name, link.field));
        None
    }

    /// Whether a record belongs, as one of several, to a removed record.
    fn belongs_to_removed(&mut self, site: usize, record: usize) -> bool {
        let links = self.links;
        let Some((owner, starts)) = self.shares.entry(site).or_insert_with(|| links.shares(site)) else { return false };
        let own = starts.partition_point(|start| *start <= record).checked_sub(1);
        let gone = self.removed.get(owner);
        own.is_some_and(|own| gone.is_some_and(|gone| gone.get(own) == Some(&true)))
    }

    /// Removes the parts of removed wholes, if nothing else refers to them; whether there were any.
    fn parts(&mut self) -> bool {
        let Closing { links, edit, .. } = *self;
        let mut found = Vec::new();
        for to in 0..links.sites.len() {
            let mut wholes = links.links.iter().filter(|link| link.to == to && is_whole(link));
            let own = self.removed.get(&to);
            if !wholes.any(|link| self.removed.contains_key(&link.from) || own.is_some() && is_optional(link)) {
                continue;
            }
            let next = own.map(|gone| next_of(gone));
            let len = links.sites[to].len();
            // How many removed wholes, and how many others, have each record.
            let (mut gone, mut needed) = (vec![0_i64; len + 1], vec![0_i64; len + 1]);
            for link in links.links.iter().filter(|link| link.to == to && !link.is_weak()) {
                let from = &links.sites[link.from];
                let clamp = |value: i64| usize::try_from(value.max(0)).map_or(len, |value| value.min(len));
                for (first, count) in edit.added(link.from, from.record.size).filter_map(|new| link.named(new, len)) {
                    needed[clamp(first)] += 1;
                    needed[clamp(first.saturating_add(count))] -= 1;
                }
                for record in 0..from.len() {
                    let bytes = edit.replaced(link.from, from.record.size, record);
                    let named = link.named(bytes.unwrap_or_else(|| from.record(record)), len);
                    let Some((first, count)) = named else { continue };
                    let is_emptied = |next: &Vec<usize>| next[clamp(first)] < clamp(first.saturating_add(count));
                    let is_gone =
                        self.removed.get(&owner(links, link).1).is_some_and(|gone| gone.get(record) == Some(&true))
                            || is_optional(link) && next.as_ref().is_some_and(is_emptied);
                    let counts = if is_gone { &mut gone } else { &mut needed };
                    if is_whole(link) || !is_gone {
                        counts[clamp(first)] += 1;
                        counts[clamp(first.saturating_add(count))] -= 1;
                    }
                }
            }
            let fixed = links.sites[to].row.order.fixed;
            let (mut of_gone, mut of_others) = (0, 0);
            for record in 0..len {
                of_gone += gone[record];
                of_others += needed[record];
                if of_gone > 0 && of_others == 0 && record >= fixed {
                    found.push((to, record));
                }
            }
        }
        found.into_iter().fold(false, |more, (to, record)| more | self.remove(to, record))
    }
}

/// More planes than any engine reads for one solid.
const MOST_PLANES: usize = 256;

/// Whether a run has the planes of a solid, and a record with the same bytes stays for each one that goes.
fn stays_bounded(links: &Links<'_>, link: &Link, run: Range<usize>, gone: &[bool]) -> bool {
    let How::Run(_, _, Order::Planes(fixed)) = link.how else { return false };
    let site = &links.sites[link.to];
    let is_gone = |record: &usize| gone.get(*record) == Some(&true);
    if run.len() > MOST_PLANES || run.clone().take(fixed).any(|record| is_gone(&record)) {
        return false;
    }
    let stays: HashSet<&[u8]> =
        run.clone().filter(|record| !is_gone(record)).map(|record| site.record(record)).collect();
    run.filter(is_gone).all(|record| stays.contains(site.record(record)))
}

/// Who refers to each record of a list by the numbers of one field.
struct Referring {
    /// The first one of each record.
    first: Vec<Option<usize>>,
    /// The next one after each one.
    next: Vec<Option<usize>>,
}

impl Referring {
    fn new(closing: &Closing<'_, '_>, link: &Link) -> Self {
        let [from, to] = [link.from, link.to].map(|site| closing.links.sites[site].len());
        let (mut first, mut next) = (vec![None; to], vec![None; from]);
        for record in (0..from).rev() {
            if let Some((named, _)) = closing.named(link, record) {
                next[record] = first[named].replace(record);
            }
        }
        Referring { first, next }
    }

    fn of(&self, record: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first.get(record).copied().flatten(), |record| self.next[*record])
    }
}

/// Whether a reference is a run that may become empty.
fn is_optional(link: &Link) -> bool {
    matches!(link.how, How::Run(_, _, Order::Optional))
}

/// The first record from each one on that is set.
fn next_of(gone: &[bool]) -> Vec<usize> {
    let mut next = vec![gone.len(); gone.len() + 1];
    for record in (0..gone.len()).rev() {
        next[record] = if gone[record] { record } else { next[record + 1] };
    }
    next
}

/// Whether a reference is one number that must name a record.
pub(super) fn is_number(link: &Link) -> bool {
    !matches!(link.how, How::Share(_) | How::Item(..) | How::Run(..))
}

/// Whether a reference leads to a node or leaf of a tree.
fn is_node(link: &Link) -> bool {
    matches!(link.how, How::Node | How::Leaf(_))
}

/// Whether a reference is a run that must stay whole.
pub(super) fn is_whole(link: &Link) -> bool {
    matches!(link.how, How::Run(_, _, order) if order.is_whole())
}

/// The list whose records decide about those with this reference, by the same numbers: a record that belongs to another
/// one goes with it, and only with it. Also whether they belong to others in another way.
fn owner(links: &Links<'_>, link: &Link) -> (bool, usize) {
    let parallel = links.sites[link.from].parallel;
    match parallel.and_then(|parallel| Some((parallel.each, links.referred(parallel.lump)?))) {
        None => (false, link.from),
        Some((Each::One | Each::Twin, owner)) => (false, owner),
        Some((_, owner)) => (owner != link.from, link.from),
    }
}

// What must stay: records with a meaning by their index, pairs, lumps that are found by bytes, limits of engines.

/// Whether the records of a list may come into this order. `fresh` are new records.
pub(super) fn order(site: &Site<'_>, change: &Change, fresh: &[u8]) -> Result<()> {
    let fixed = site.row.order.fixed.min(site.len());
    if let Some(moved) = (0..fixed).find(|index| change.place(*index) != Some(*index)) {
        let message =
            format!("{}[{moved}] has a meaning by its number, so that it can neither move nor be removed", site.name);
        return Err(refused(&site.name, message));
    }
    if site.is_paired() {
        return pairs(site, change, fresh);
    }
    Ok(())
}

/// The error if a record with a meaning by its number would go because others do, or a part of a tree: it goes only as
/// a whole, with its model. `named` are those that the edit names.
pub(super) fn reached(links: &Links<'_>, removed: &Removed, named: &Removed) -> Result<()> {
    for (at, gone) in removed {
        let site = &links.sites[*at];
        let is_named = |index: usize| named.get(at).is_some_and(|named| named[index]);
        let fixed = site.row.order.fixed.min(site.len());
        let has_trees = || links.links.iter().any(|link| link.from == *at && is_node(link));
        let is_tree =
            links.is_tree(*at) && has_trees() || links.links.iter().any(|link| link.to == *at && is_node(link));
        let checked = if is_tree { site.len() } else { fixed };
        let Some(index) = (0..checked).find(|index| gone[*index] && !is_named(*index)) else { continue };
        let why = if index < fixed { "it has a meaning by its number" } else { "it goes only with a whole tree" };
        let message =
            format!("{}[{index}] needs what is removed, itself or over others, and cannot go: {why}", site.name);
        let error = refused(&site.name, message);
        return Err(if is_tree { error.with_hint(Hint::Tree) } else { error });
    }
    Ok(())
}

/// Pairs stay pairs, and the even one of each stays even. New records are opposite too.
fn pairs(site: &Site<'_>, change: &Change, fresh: &[u8]) -> Result<()> {
    let whole = change.len().is_multiple_of(2);
    let record = |source: &Source| match source {
        Source::Old(index) => site.record(*index),
        Source::New(index, _) => fresh.get(index * site.record.size..).unwrap_or_default(),
    };
    let broken = change.content.chunks(2).position(|pair| match pair {
        [Source::Old(even), Source::Old(odd)] => !(even.is_multiple_of(2) && even + 1 == *odd),
        [one, other] => {
            let is_moved = one.old().is_some_and(|even| !even.is_multiple_of(2))
                || other.old().is_some_and(|odd| odd.is_multiple_of(2));
            is_moved || !site.is_opposite(record(one), record(other))
        }
        _ => true,
    });
    match broken.filter(|_| change.len() > 0).or((!whole).then_some(change.len() / 2)) {
        None => Ok(()),
        Some(pair) => {
            let message = format!(
                "{} come in opposite pairs, an even number and the next one, and {} would not be one",
                site.name,
                2 * pair
            );
            Err(refused(&site.name, message))
        }
    }
}

/// Whether groups of records, and those of a model, stay together in the list that is edited. `fresh` are new records.
pub(super) fn together(links: &Links<'_>, index: usize, change: &Change, fresh: &[u8]) -> Result<()> {
    let site = &links.sites[index];
    if change.is_order()
        && let Some(stretch) = links.stretches(index).into_iter().find(|stretch| {
            let [first, count] = [stretch.start, stretch.len()].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
            change.run(first, count, Order::Free).is_err()
        })
    {
        let message = format!(
            "{}[{}..{}] are those of a model, and would not follow each other: some engines take for a model all from \
             the lowest to the highest number",
            site.name, stretch.start, stretch.end
        );
        return Err(refused(&site.name, message));
    }
    let word = site.grouped.and_then(|field| site.record.field(field)).and_then(|field| {
        let word = Word::of(field.offset, field.shape);
        word.map(|word| (field.name, word))
    });
    let Some((field, word)) = word else { return Ok(()) };
    let new = |source: &Source| match source {
        Source::Old(old) => word.get(site.record(*old)),
        Source::New(new, _) => word.get(fresh.get(new * site.record.size..).unwrap_or_default()),
    };
    if parted(site.records().map(|record| word.get(record))).next().is_some() {
        return Ok(());
    }
    match parted(change.content.iter().map(new)).next() {
        None => Ok(()),
        Some((_, number)) => {
            let message = format!(
                "records of {} with the same {field} follow each other, and those with {number} would not: engines \
                 read them as one group",
                site.name
            );
            Err(refused(&site.name, message))
        }
    }
}

/// Whether a list can be edited at all.
pub(super) fn target(links: &Links<'_>, site: &Site<'_>) -> Result<()> {
    let is_other = |lump: &str| links.referred(lump).is_none_or(|to| links.sites[to].name != site.name);
    if let Some(parallel) = site.parallel.filter(|parallel| is_other(parallel.lump)) {
        let message = format!("its records belong to those of {} by their order; edit {0}", parallel.lump);
        return Err(refused(&site.name, message));
    }
    if site.row.order.placed {
        return Err(refused(
            &site.name,
            "the place of each of its records is its meaning: none can move, be added or go",
        ));
    }
    match links.offsets.contains(&site.row.lump) {
        true => Err(refused(&site.name, "others refer to bytes in it, not to records: its records cannot move")),
        false => Ok(()),
    }
}

/// Something that may be wrong after an edit: the lump, and a sentence.
pub(super) type Doubt = (String, String);

/// What may be wrong after the edit.
pub(super) fn doubts(map: &Bsp<'_>, links: &Links<'_>, changes: &[(usize, &Change)]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (index, change) in changes {
        let site = &links.sites[*index];
        let moves = (0..change.old_len()).any(|index| change.place(index) != Some(index));
        for (name, why) in links.doubts(*index).filter(|_| moves) {
            let message = match name == site.name {
                true => format!("{name} {why}, so that not all of its records are known"),
                false => format!("{name} may refer to {}, and cannot follow: {why}", site.name),
            };
            doubts.push((site.name.clone(), message));
        }
        let engine = map.dialect().engine(map.version());
        let limits = engine.into_iter().flat_map(|engine| engine.limits.iter().map(move |limit| (engine, limit)));
        let is_own = |limit: &Limit| limit.lump == site.name && limit.unit == Unit::Records;
        for (engine, limit) in limits.filter(|(_, limit)| is_own(limit) && limit.whose != Whose::Compiler) {
            if change.len() > limit.most && change.len() > change.old_len() {
                let message = format!(
                    "{} would have {} records, and {} reads at most {}",
                    site.name,
                    change.len(),
                    engine.title,
                    limit.most
                );
                doubts.push((site.name.clone(), message));
            }
        }
    }
    doubts
}

/// The error about what may be wrong, or the warnings if the edit is forced.
pub(super) fn settled(doubts: Vec<Doubt>, options: &Options) -> Result<Vec<String>> {
    match doubts.first() {
        Some((lump, message)) if !options.force => Err(refused(lump, message).with_hint(Hint::Force)),
        _ => {
            let mut warnings: Vec<String> = doubts.into_iter().map(|(_, message)| message).collect();
            warnings.dedup();
            Ok(warnings)
        }
    }
}
