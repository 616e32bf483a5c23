//! What an edit does to the lists that the caller names.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cascade::Removed;
use super::change::{Change, Source};
use super::{Splice, find, rules};
use crate::bsp::{Links, Site};
use crate::error::{Error, ErrorKind, Place, Result};

/// An edit, before it is known what follows. All numbers in it are those before the edit.
#[derive(Default)]
pub(super) struct Edit {
    /// The lists with another order or other records.
    pub(super) lists: BTreeMap<usize, List>,
    /// The records that are removed from other lists.
    removed: Removed,
}

/// What an edit does to a list.
pub(super) struct List {
    /// The new records, as bytes.
    pub(super) records: Vec<u8>,
    what: What,
}

enum What {
    /// The old record that comes to each place.
    Order(Vec<usize>),
    /// Ranges of old records that are replaced by new ones, in order.
    Splices(Vec<Spliced>),
}

/// The old records from `start` to `end` are replaced by new ones, some of which are copies of old ones; `first` is the
/// index of the first one among all new records of the list.
struct Spliced {
    start: usize,
    end: usize,
    first: usize,
    like: Vec<Option<usize>>,
}

pub(super) fn reorder(links: &Links<'_>, list: &str, permutation: &[usize]) -> Result<Edit> {
    reorders(links, &[(list, permutation)])
}

pub(super) fn reorders(links: &Links<'_>, lists: &[(&str, &[usize])]) -> Result<Edit> {
    let mut edit = Edit::default();
    for (list, permutation) in lists {
        let site = find(links, list)?;
        let len = links.sites[site].len();
        let mut seen = vec![false; len];
        let is_new = |index: &usize| seen.get_mut(*index).is_some_and(|seen| !std::mem::replace(seen, true));
        if permutation.len() != len || !permutation.iter().all(is_new) {
            let message = format!("an order of {len} records has each number from 0 on once; this one does not");
            return Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&links.sites[site].name)));
        }
        edit.add(links, site, Vec::new(), What::Order(permutation.to_vec()))?;
    }
    Ok(edit)
}

pub(super) fn splices(links: &Links<'_>, lists: Vec<(&str, Vec<Splice>)>) -> Result<Edit> {
    let mut edit = Edit::default();
    for (list, splices) in lists {
        let at = find(links, list)?;
        let site = &links.sites[at];
        let wrong = |message| Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&site.name)));
        let (mut records, mut spliced, mut before): (_, Vec<Spliced>, _) = (Vec::new(), Vec::new(), 0);
        for Splice { range, records: new } in splices {
            check_range(site, &range)?;
            if range.start < before {
                return wrong(format!("the ranges that are replaced overlap at {}", range.start));
            }
            before = range.end;
            let size = site.record.size;
            if !new.len().is_multiple_of(size) {
                return wrong(format!("{} bytes are not whole records of {size}", new.len()));
            }
            let like = vec![None; new.len() / size];
            spliced.push(Spliced { start: range.start, end: range.end, first: records.len() / size, like });
            records.extend(new);
        }
        edit.add(links, at, records, What::Splices(spliced))?;
    }
    Ok(edit)
}

pub(super) fn duplicate(links: &Links<'_>, list: &str, range: Range<usize>) -> Result<Edit> {
    let site = find(links, list)?;
    check_range(&links.sites[site], &range)?;
    let records = range.clone().flat_map(|index| links.sites[site].record(index).to_vec()).collect();
    let like = range.clone().map(Some).collect();
    let mut edit = Edit::default();
    let spliced = Spliced { start: range.end, end: range.end, first: 0, like };
    edit.add(links, site, records, What::Splices(vec![spliced]))?;
    Ok(edit)
}

pub(super) fn remove(links: &Links<'_>, lists: &[(&str, &[usize])]) -> Result<Edit> {
    let mut removed = Removed::new();
    for (list, records) in lists {
        let site = find(links, list)?;
        let len = links.sites[site].len();
        let gone = removed.entry(site).or_insert_with(|| vec![false; len]);
        for index in *records {
            check_range(&links.sites[site], &(*index..index.saturating_add(1)))?;
            gone[*index] = true;
        }
    }
    Ok(Edit { removed, ..Edit::default() })
}

fn check_range(site: &Site<'_>, range: &Range<usize>) -> Result<()> {
    let len = site.len();
    match range.start <= range.end && range.end <= len {
        true => Ok(()),
        false => {
            let message = format!("{} has {len} records, and no range {}..{}", site.name, range.start, range.end);
            Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&site.name)))
        }
    }
}

impl Edit {
    fn add(&mut self, links: &Links<'_>, site: usize, records: Vec<u8>, what: What) -> Result<()> {
        match self.lists.insert(site, List { records, what }) {
            None => Ok(()),
            Some(_) => {
                let error = Error::new(ErrorKind::Argument, "the list is given twice");
                Err(error.at(Place::default().lump(&links.sites[site].name)))
            }
        }
    }

    /// The new records of a list, as bytes.
    pub(super) fn records(&self, site: usize) -> &[u8] {
        self.lists.get(&site).map_or(&[], |list| &list.records)
    }

    /// The bytes of a record that the edit replaces in its place.
    pub(super) fn replaced(&self, site: usize, size: usize, index: usize) -> Option<&[u8]> {
        let list = self.lists.get(&site)?;
        let What::Splices(splices) = &list.what else { return None };
        let spliced = splices.get(splices.partition_point(|spliced| spliced.end <= index))?;
        let at = index.checked_sub(spliced.start).filter(|at| *at < spliced.like.len())? + spliced.first;
        list.records.get(at * size..(at + 1) * size)
    }

    /// Which records it removes.
    pub(super) fn removes(&self, links: &Links<'_>) -> Removed {
        let mut removed = self.removed.clone();
        for (site, list) in &self.lists {
            let What::Splices(splices) = &list.what else { continue };
            let len = links.sites[*site].len();
            let gone = removed.entry(*site).or_insert_with(|| vec![false; len]);
            for Spliced { start, end, like, .. } in splices {
                gone[(start + like.len()).min(*end)..*end].fill(true);
            }
        }
        removed
    }

    /// The new places of the records of each list, after all that is removed is known.
    pub(super) fn changes(&self, links: &Links<'_>, removed: &Removed) -> Result<Vec<(usize, Change)>> {
        let change = |(at, list): (&usize, &List)| {
            let (site, removed) = (&links.sites[*at], removed.get(at));
            let change = list.change(site, |index| removed.is_none_or(|removed| !removed[*index]));
            rules::order(site, &change).map(|()| (*at, change))
        };
        self.lists.iter().map(change).collect()
    }
}

impl List {
    fn change(&self, site: &Site<'_>, stays: impl Fn(&usize) -> bool) -> Change {
        let splices = match &self.what {
            What::Order(permutation) => return Change::permuted(permutation.clone()),
            What::Splices(splices) => splices,
        };
        let mut content = Vec::with_capacity(site.len() + self.records.len() / site.record.size);
        let (mut replaced, mut next) = (Vec::new(), 0);
        for Spliced { start, end, first, like } in splices {
            content.extend((next..*start).filter(&stays).map(Source::Old));
            for (at, like) in like.iter().enumerate() {
                if start + at < *end {
                    replaced.push((start + at, content.len()));
                }
                content.push(Source::New(first + at, *like));
            }
            next = *end;
        }
        content.extend((next..site.len()).filter(&stays).map(Source::Old));
        Change::spliced(site.len(), content, &replaced)
    }
}
