//! What goes with removed records: entries of lists, and, if the caller asks for it, all that needs them.

use std::collections::BTreeMap;

use super::plan::Edit;
use super::{Options, refused};
use crate::bsp::{How, Link, Links};
use crate::dialect::Each;
use crate::error::{Error, Hint, Result};
use crate::record::Order;

/// The removed records of each list.
pub(super) type Removed = BTreeMap<usize, Vec<bool>>;

/// How many of those who need a record an error lists.
const LISTED: usize = 10;
/// How often all references are followed. Each time the ends of all chains are found.
const MOST_ROUNDS: usize = 200;

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

    /// The error that lists them, if there are any.
    pub(super) fn into_error(self) -> Option<Error> {
        let first = self.first?;
        let more = self.count - self.by.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("{first} is still needed: by {}{more}", self.by.join(", "));
        let lump = first.split('[').next().unwrap_or_default();
        Some(refused(lump, message).with_hint(Hint::Cascade))
    }
}

/// The records that the edit removes, and those that go with them.
pub(super) fn close(links: &Links<'_>, edit: &Edit, options: &Options) -> Result<Removed> {
    let mut removed = edit.removes(links);
    for _ in 0..MOST_ROUNDS {
        let (mut needed, mut more) = (Needed::default(), false);
        for link in &links.links {
            more |= round(links, link, edit, options, &mut removed, &mut needed);
        }
        if let Some(error) = needed.into_error() {
            return Err(error);
        }
        if !more && (options.exact || !parts(links, edit, &mut removed)) {
            return Ok(removed);
        }
    }
    let name = edit.site.map_or("", |site| links.sites[site].name.as_str());
    Err(refused(name, "what needs the removed records forms a chain that is too long"))
}

/// Removes the parts of removed wholes, if nothing else refers to them; whether there were any.
fn parts(links: &Links<'_>, edit: &Edit, removed: &mut Removed) -> bool {
    let mut more = false;
    for to in 0..links.sites.len() {
        let whole = |link: &&Link| link.to == to && matches!(link.how, How::Run(_, _, Order::Matters));
        if !links.links.iter().filter(whole).any(|link| removed.contains_key(&link.from)) {
            continue;
        }
        let len = links.sites[to].len();
        // How many removed wholes, and how many others, have each record.
        let (mut gone, mut needed) = (vec![0_i64; len + 1], vec![0_i64; len + 1]);
        for link in links.links.iter().filter(|link| link.to == to) {
            let (from, is_whole) = (&links.sites[link.from], whole(&link));
            for record in 0..from.len() {
                let bytes = edit.replaced(from.record.size, record).filter(|_| Some(link.from) == edit.site);
                let named = link.named(bytes.unwrap_or_else(|| from.record(record)), len);
                let Some((first, count)) = named else { continue };
                let clamp = |value: i64| usize::try_from(value.max(0)).map_or(len, |value| value.min(len));
                let is_gone = removed.get(&owner(links, link).1).is_some_and(|gone| gone.get(record) == Some(&true));
                let counts = if is_gone { &mut gone } else { &mut needed };
                if is_whole || !is_gone {
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
                let own = removed.entry(to).or_insert_with(|| vec![false; len]);
                more |= !std::mem::replace(&mut own[record], true);
            }
        }
    }
    more
}

/// Removes what goes with removed records, by the references of one field; whether there was any.
fn round(
    links: &Links<'_>,
    link: &Link,
    edit: &Edit,
    options: &Options,
    removed: &mut Removed,
    needed: &mut Needed,
) -> bool {
    let Some(gone) = removed.get(&link.to) else { return false };
    if matches!(link.how, How::Share(_) | How::Item(..) | How::Run(_, _, Order::Free | Order::InTurn)) {
        return false;
    }
    let mut before = Vec::new();
    if let How::Run(..) = link.how {
        before.reserve(gone.len() + 1);
        before.push(0_usize);
        before.extend(gone.iter().scan(0, |sum, gone| {
            *sum += usize::from(*gone);
            Some(*sum)
        }));
    }
    let from = &links.sites[link.from];
    let (is_bound, owner) = owner(links, link);
    let own = removed.get(&owner);
    let mut found = Vec::new();
    // Children usually follow their parents.
    for record in (0..from.len()).rev().filter(|record| own.is_none_or(|own| own.get(*record) != Some(&true))) {
        let bytes = edit.replaced(from.record.size, record).filter(|_| Some(link.from) == edit.site);
        let Some((first, count)) = link.named(bytes.unwrap_or_else(|| from.record(record)), gone.len()) else {
            continue;
        };
        let Some(named) = usize::try_from(first).ok() else { continue };
        let end = usize::try_from(first.saturating_add(count)).unwrap_or(usize::MAX).min(gone.len());
        let is_gone = match before.is_empty() {
            true => gone.get(named).copied().unwrap_or(false),
            false => named < end && before[named] < before[end],
        };
        if !is_gone {
            continue;
        }
        if from.listed || options.cascade && !is_bound {
            if from.listed || link.none().is_none() {
                found.push(record);
            }
        } else {
            let what = || {
                let named = (named..end.max(named + 1)).find(|index| gone[*index]).unwrap_or(named);
                format!("{}[{named}]", links.sites[link.to].name)
            };
            needed.add(what, || format!("{}[{record}].{}", from.name, link.field));
        }
    }
    let more = !found.is_empty();
    if more {
        let own = removed.entry(owner).or_insert_with(|| vec![false; links.sites[owner].len()]);
        let len = own.len();
        found.into_iter().filter(|record| *record < len).for_each(|record| own[record] = true);
    }
    more
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
