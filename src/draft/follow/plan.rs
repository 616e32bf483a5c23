//! What an edit does to the one list that the caller names.

use std::ops::Range;

use super::cascade::Removed;
use super::change::{Change, Source};
use super::{find, rules};
use crate::bsp::{Links, Site};
use crate::error::{Error, ErrorKind, Place, Result};

/// An edit, before it is known what follows.
pub(super) struct Edit {
    /// The list with another order or other records; `None` if records are only removed.
    pub(super) site: Option<usize>,
    /// The new records, as bytes.
    pub(super) records: Vec<u8>,
    pub(super) what: What,
}

pub(super) enum What {
    /// The old record that comes to each place.
    Order(Vec<usize>),
    /// These records are removed from each list.
    Remove(Removed),
    /// The old records from `start` to `end` are replaced by new ones, some of which are copies of old ones.
    Splice { start: usize, end: usize, like: Vec<Option<usize>> },
}

pub(super) fn reorder(links: &Links<'_>, list: &str, permutation: &[usize]) -> Result<Edit> {
    let site = find(links, list)?;
    let len = links.sites[site].len();
    let mut seen = vec![false; len];
    let is_new = |index: &usize| seen.get_mut(*index).is_some_and(|seen| !std::mem::replace(seen, true));
    if permutation.len() != len || !permutation.iter().all(is_new) {
        let message = format!("an order of {len} records has each number from 0 on once; this one does not");
        return Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&links.sites[site].name)));
    }
    Ok(Edit { site: Some(site), records: Vec::new(), what: What::Order(permutation.to_vec()) })
}

pub(super) fn splice(links: &Links<'_>, list: &str, range: Range<usize>, records: Vec<u8>) -> Result<Edit> {
    let site = find(links, list)?;
    check_range(&links.sites[site], &range)?;
    let size = links.sites[site].record.size;
    if !records.len().is_multiple_of(size) {
        let message = format!("{} bytes are not whole records of {size}", records.len());
        return Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&links.sites[site].name)));
    }
    let like = vec![None; records.len() / size];
    Ok(Edit { site: Some(site), records, what: What::Splice { start: range.start, end: range.end, like } })
}

pub(super) fn duplicate(links: &Links<'_>, list: &str, range: Range<usize>) -> Result<Edit> {
    let site = find(links, list)?;
    check_range(&links.sites[site], &range)?;
    let records = range.clone().flat_map(|index| links.sites[site].record(index).to_vec()).collect();
    let like = range.clone().map(Some).collect();
    Ok(Edit { site: Some(site), records, what: What::Splice { start: range.end, end: range.end, like } })
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
    Ok(Edit { site: None, records: Vec::new(), what: What::Remove(removed) })
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
    /// The bytes of a record that the edit replaces in its place.
    pub(super) fn replaced(&self, size: usize, index: usize) -> Option<&[u8]> {
        let What::Splice { start, end, .. } = &self.what else { return None };
        let at = index.checked_sub(*start).filter(|_| index < *end)?;
        self.records.get(at * size..(at + 1) * size)
    }

    /// Which records it removes.
    pub(super) fn removes(&self, links: &Links<'_>) -> Removed {
        match (&self.what, self.site) {
            (What::Remove(removed), _) => removed.clone(),
            (What::Splice { start, end, like }, Some(site)) => {
                let mut gone = vec![false; links.sites[site].len()];
                gone[(start + like.len()).min(*end)..*end].fill(true);
                Removed::from([(site, gone)])
            }
            _ => Removed::new(),
        }
    }

    /// The new places of the records, after all that is removed is known.
    pub(super) fn change(&self, links: &Links<'_>, removed: &Removed) -> Result<Option<(usize, Change)>> {
        let Some(at) = self.site else { return Ok(None) };
        let (site, removed) = (&links.sites[at], removed.get(&at));
        let stays = |index: &usize| removed.is_none_or(|removed| !removed[*index]);
        let change = match &self.what {
            What::Remove(_) => return Ok(None),
            What::Order(permutation) => Change::permuted(permutation.clone()),
            What::Splice { start, end, like } => {
                let mut content = Vec::with_capacity(site.len() + like.len());
                content.extend((0..*start).filter(stays).map(Source::Old));
                let mut replaced = Vec::new();
                for (at, like) in like.iter().enumerate() {
                    if start + at < *end {
                        replaced.push((start + at, content.len()));
                    }
                    content.push(Source::New(at, *like));
                }
                content.extend((*end..site.len()).filter(stays).map(Source::Old));
                Change::spliced(site.len(), content, &replaced)
            }
        };
        rules::order(site, &change)?;
        Ok(Some((at, change)))
    }
}
