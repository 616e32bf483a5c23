//! Writes the lists that change and those that refer to them: each list once, record by record.

use std::collections::BTreeMap;

use super::apply::Changes;
use super::change::{Change, Source, Why};
use super::{Followed, refused, turn};
use crate::bsp::{How, Link, Links, Site, Unless};
use crate::bytes::short;
use crate::error::Result;
use crate::file::SlotId;
use crate::record::Order;

pub(super) struct Rewrite<'r, 'a> {
    pub(super) links: &'r Links<'a>,
    pub(super) changes: &'r Changes,
    pub(super) followed: &'r mut Followed,
}

impl Rewrite<'_, '_> {
    /// The new bytes of all slots with records that change.
    pub(super) fn all(&mut self) -> Result<BTreeMap<SlotId, Vec<u8>>> {
        let links = self.links;
        let mut lists: BTreeMap<SlotId, Vec<(usize, Vec<u8>)>> = BTreeMap::new();
        for (index, site) in links.sites.iter().enumerate() {
            let active: Vec<&Link> = links
                .links
                .iter()
                .filter(|link| link.from == index && self.changes.of.contains_key(&link.to))
                .collect();
            if active.is_empty() && !self.changes.of.contains_key(&index) {
                continue;
            }
            let mut bytes = self.records(index);
            for group in active.chunk_by(|one, other| is_one_array(one, other)) {
                self.follow(site, group, &mut bytes)?;
            }
            lists.entry(site.slot).or_default().push((index, bytes));
        }
        Ok(lists.into_iter().map(|(slot, lists)| (slot, self.assemble(lists))).collect())
    }

    /// The records of a list in their new order, with their old numbers.
    fn records(&self, index: usize) -> Vec<u8> {
        let site = &self.links.sites[index];
        let Some(change) = self.changes.of.get(&index) else { return site.bytes[site.range.clone()].to_vec() };
        let (size, none) = (site.record.size, Vec::new());
        let fresh = self.changes.fresh.get(&index).unwrap_or(&none);
        let mut bytes = Vec::with_capacity(change.len() * size);
        // What follows each other before and after is copied at once.
        let follows = |one: &Source, other: &Source| match (one, other) {
            (Source::Old(one), Source::Old(other)) | (Source::New(one, _), Source::New(other, _)) => one + 1 == *other,
            _ => false,
        };
        for sources in change.content.chunk_by(follows) {
            bytes.extend_from_slice(match sources[0] {
                Source::Old(old) => {
                    let start = site.range.start + old * size;
                    &site.bytes[start..start + sources.len() * size]
                }
                Source::New(new, _) => fresh.get(new * size..(new + sources.len()) * size).unwrap_or_default(),
            });
        }
        bytes
    }

    /// The slot's bytes with new lists.
    fn assemble(&self, mut lists: Vec<(usize, Vec<u8>)>) -> Vec<u8> {
        lists.sort_by_key(|(index, _)| self.links.sites[*index].range.start);
        let Some((first, _)) = lists.first() else { return Vec::new() };
        let site = &self.links.sites[*first];
        if lists.len() == 1 && site.range == (0..site.bytes.len()) {
            return lists.pop().map_or_else(Vec::new, |(_, bytes)| bytes);
        }
        let mut old = self.links.sites[*first].bytes.to_vec();
        for (index, bytes) in &lists {
            let site = &self.links.sites[*index];
            if let Some(at) = site.count_at {
                old[at..at + 4].copy_from_slice(&short(bytes.len() / site.record.size).to_le_bytes());
            }
        }
        let (mut new, mut at) = (Vec::with_capacity(old.len()), 0);
        for (index, bytes) in lists {
            let range = self.links.sites[index].range.clone();
            new.extend_from_slice(&old[at..range.start]);
            new.extend(bytes);
            at = range.end;
        }
        new.extend_from_slice(&old[at..]);
        new
    }

    /// What a run of this field becomes with too few records.
    fn single<'s>(&'s self, link: &'s Link, unless: Unless) -> Option<Single<'s>> {
        let is_index = |other: &&Link| other.from == link.to && other.to == unless.other;
        let fresh = self.changes.fresh.get(&link.to).map_or(&[][..], |fresh| &fresh[..]);
        let index = self.links.links.iter().find(is_index);
        Some(Single { unless, index, site: &self.links.sites[link.to], fresh })
    }

    /// Makes the numbers of a field follow, or the items of an array.
    fn follow(&mut self, site: &Site<'_>, group: &[&Link], bytes: &mut [u8]) -> Result<()> {
        let Some(link) = group.first() else { return Ok(()) };
        let Some(change) = self.changes.of.get(&link.to) else { return Ok(()) };
        let target = &self.links.sites[link.to].name;
        let follow = Follow { link, change, one: link.unless.and_then(|unless| self.single(link, unless)) };
        let turn = turn::blocks(self.links, link);
        let own = self.changes.of.get(&link.from);
        let start = turn.as_ref().and_then(|blocks| blocks.first()).map_or(0, |(first, _)| *first);
        let mut next = i64::try_from(start).unwrap_or(i64::MAX);
        let mut count = 0;
        for (index, record) in bytes.chunks_exact_mut(site.record.size).enumerate() {
            let followed = match link.how {
                How::Item(..) => items(group, change, record),
                How::Share(_) => {
                    let old = own.map_or(Some(index), |own| own.content.get(index).and_then(|source| source.old()));
                    let block = turn.as_ref().zip(old).and_then(|(blocks, old)| blocks.get(old));
                    block.map_or(Ok(false), |block| follow.share(record, *block, &mut next))
                }
                _ => follow.record(record),
            };
            let followed = followed.and_then(|changed| match (&turn, link.how) {
                (Some(_), How::Run(..)) => follow.in_turn(record, &mut next).map(|()| changed),
                _ => Ok(changed),
            });
            match followed {
                Ok(changed) => count += usize::from(changed),
                Err(why) => {
                    let message = format!("{}[{index}].{} cannot follow {target}: {why}", site.name, link.field);
                    return Err(refused(&site.name, message));
                }
            }
        }
        self.followed.note(&site.name, &link.field, count);
        Ok(())
    }
}

/// Whether two links are items of one array.
fn is_one_array(one: &Link, other: &Link) -> bool {
    matches!((one.how, other.how), (How::Item(..), How::Item(..))) && one.array() == other.array()
}

/// One field, record after record.
struct Follow<'f> {
    link: &'f Link,
    change: &'f Change,
    /// Of a run that may become an index.
    one: Option<Single<'f>>,
}

/// What becomes of the first number of a run that has so few records left that it is an index of another list.
struct Single<'f> {
    unless: Unless,
    /// The number of the other list in the records of the run.
    index: Option<&'f Link>,
    site: &'f Site<'f>,
    fresh: &'f [u8],
}

impl Single<'_> {
    /// The number, as it was before the edit: it follows then, as other indices do.
    fn number(&self, first: i64, change: &Change) -> i64 {
        let left = usize::try_from(first).ok().filter(|_| self.unless.count == 1);
        let record = left.and_then(|left| change.content.get(left)).and_then(|source| match source {
            Source::Old(old) => Some(self.site.record(*old)),
            Source::New(new, _) => self.fresh.chunks_exact(self.site.record.size).nth(*new),
        });
        record.zip(self.index).map_or(self.unless.none, |(record, link)| link.word.get(record))
    }
}

impl Follow<'_> {
    /// Makes the numbers of a record follow; whether they changed.
    fn record(&self, record: &mut [u8]) -> Result<bool, String> {
        let Follow { link, change, .. } = *self;
        let Some((first, count)) = link.named(record, change.old_len()) else { return Ok(self.shorten(record)) };
        let why = |why: Why| why.text().to_owned();
        if let How::Run(word, form, order) = link.how {
            let Some((new, many)) = change.run(first, count, order).map_err(why)? else { return Ok(false) };
            if many != count {
                let number = form.put(word.get(record), many).filter(|number| word.put(record, *number));
                number.ok_or_else(|| format!("{many} records do not fit its count"))?;
            }
            if let Some(one) = self.one.as_ref().filter(|one| one.unless.count == many) {
                let number = one.number(new, change);
                return match link.word.put(record, number) {
                    true => Ok(true),
                    false => Err(format!("{number} does not fit")),
                };
            }
            if new != first {
                link.put(record, new, change.old_len())?;
            }
            return Ok(true);
        }
        match change.index(first) {
            Ok(None) => Ok(false),
            Ok(Some(new)) => link.put(record, new, change.old_len()).map(|()| true),
            Err(Why::Gone) => match link.none().filter(|none| link.word.put(record, *none)) {
                Some(_) => Ok(true),
                None => Err(why(Why::Gone)),
            },
            Err(reason) => Err(why(reason)),
        }
    }

    /// Moves the start of a run of no records to the end of the list if it would be after that, which engines refuse;
    /// whether it was moved.
    fn shorten(&self, record: &mut [u8]) -> bool {
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let (old, new) = (wide(self.change.old_len()), wide(self.change.len()));
        let is_empty = matches!(self.link.how, How::Run(word, count, _) if count.of(word.get(record)) == 0);
        let is_empty = is_empty && self.link.applies(record);
        is_empty && (new + 1..=old).contains(&self.link.word.get(record)) && self.link.word.put(record, new)
    }

    /// A count of records that follow those of the records before.
    fn share(&self, record: &mut [u8], (first, count): (usize, usize), next: &mut i64) -> Result<bool, String> {
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        if count == 0 {
            return Ok(false);
        }
        let found = self.change.run(wide(first), wide(count), Order::Free).map_err(|why| why.text().to_owned())?;
        let (new, many) = found.unwrap_or((wide(first), wide(count)));
        if many > 0 && new != *next {
            return Err(NOT_IN_TURN.to_owned());
        }
        *next += many;
        match many == wide(count) || self.link.word.put(record, many) {
            true => Ok(many != wide(count)),
            false => Err(format!("{many} records do not fit its count")),
        }
    }

    /// Whether the records that belong to this one follow those of the one before.
    fn in_turn(&self, record: &[u8], next: &mut i64) -> Result<(), String> {
        let (first, count) = self.link.named(record, self.change.len()).unwrap_or((*next, 0));
        let is_next = first == *next;
        *next = first.saturating_add(count);
        if is_next { Ok(()) } else { Err(NOT_IN_TURN.to_owned()) }
    }
}

const NOT_IN_TURN: &str = "its records would not follow those of the record before";

/// The items of an array that are indices; those of removed records are left out.
fn items(group: &[&Link], change: &Change, record: &mut [u8]) -> Result<bool, String> {
    let (mut kept, mut count, mut changed) = (0, 0_i64, false);
    for link in group {
        let Some((old, _)) = link.named(record, change.old_len()) else { break };
        count += 1;
        let new = match change.index(old) {
            Err(Why::Gone) => continue,
            new => new.map_err(|why| why.text().to_owned())?.unwrap_or(old),
        };
        let to = group[kept];
        kept += 1;
        if to.word.get(record) != new {
            to.put(record, new, change.old_len())?;
            changed = true;
        }
    }
    let left = i64::try_from(kept).unwrap_or(i64::MAX);
    if let (Some(How::Item(word, form)), true) = (group.first().map(|link| link.how), left < count) {
        let number = form.put(word.get(record), left).filter(|number| word.put(record, *number));
        number.ok_or_else(|| format!("{left} items do not fit their count"))?;
        changed = true;
    }
    Ok(changed)
}
