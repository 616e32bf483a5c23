//! What goes along with a copied record: copies of the parts that it alone has, of the record that it names and that
//! names it, and of the entries of lists that name it. References between copies lead from copy to copy.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::apply::is_one_array;
use super::{Edit, Spliced, What, cascade, change, refused};
use crate::dialect::Role;
use crate::error::{Hint, Result};
use crate::links::{How, Link, Links};
use crate::record::Order;

/// The copies of a range of records.
pub(super) fn edit(links: &Links<'_>, site: usize, range: Range<usize>) -> Result<Edit> {
    if links.is_role(site, Role::Models) {
        let message = "a copy of a model alone would have the faces and the tree of another model";
        return Err(refused(&links.sites[site].name, message).with_hint(Hint::CopyModel));
    }
    let mut copying = Copying { links, copied: BTreeMap::new(), new: BTreeMap::new() };
    range.clone().for_each(|record| copying.copy(site, record));
    while let Some((site, records)) = copying.new.pop_first() {
        copying.follow(site, &records);
    }
    let mut edit = Edit::default();
    let mut is_one_block = true;
    for (list, copied) in &copying.copied {
        let blocks = match links.sites[*list].listed && *list != site {
            true => copied.iter().enumerate().filter(|(_, copied)| **copied).map(|(at, _)| at..at + 1).collect(),
            false => parted(links, *list, blocks(copied)),
        };
        is_one_block &= *list != site || blocks.len() == 1;
        let (mut records, mut splices) = (Vec::new(), Vec::new());
        for block in blocks {
            let end = if *list == site { block.end } else { after(links, *list, block.end) };
            let first = records.len() / links.sites[*list].record.size;
            for index in block.clone() {
                let mut record = links.sites[*list].record(index).to_vec();
                part(links, *list, copied, index, &mut record)?;
                records.extend(record);
            }
            splices.push(Spliced { start: end, end, first, like: block.map(Some).collect() });
        }
        // Those that are put to the end of the list come last.
        splices.sort_by_key(|splice| splice.end);
        edit.add(links, *list, records, What::Splices(splices))?;
    }
    if let Some(list) = edit.lists.get_mut(&site).filter(|_| is_one_block) {
        list.copied = Some(range);
    }
    Ok(edit)
}

struct Copying<'c, 'a> {
    links: &'c Links<'a>,
    /// Which records of each list are copied.
    copied: BTreeMap<usize, Vec<bool>>,
    /// Those of which it is not known yet what goes along.
    new: BTreeMap<usize, Vec<usize>>,
}

impl Copying<'_, '_> {
    fn copy(&mut self, site: usize, record: usize) {
        let len = self.links.sites[site].len();
        let copied = self.copied.entry(site).or_insert_with(|| vec![false; len]);
        if copied.get_mut(record).is_some_and(|copied| !std::mem::replace(copied, true)) {
            self.new.entry(site).or_default().push(record);
        }
    }

    /// Copies what goes along with records of a list.
    fn follow(&mut self, site: usize, records: &[usize]) {
        let links = self.links;
        let len = |site: usize| links.sites[site].len();
        for link in links.links.iter().filter(|link| link.from == site && is_copied(links, link.to)) {
            let named = |record: usize| {
                let (first, count) = link.named(links.sites[site].record(record), len(link.to))?;
                let end = usize::try_from(first.checked_add(count)?).ok()?;
                usize::try_from(first).ok().map(|first| first..end).filter(|named| named.end <= len(link.to))
            };
            if matches!(link.how, How::Run(_, _, order) if order.is_own()) {
                // Runs may overlap.
                let mut parts: Vec<Range<usize>> = records.iter().filter_map(|record| named(*record)).collect();
                parts.sort_unstable_by_key(|part| part.start);
                let mut next = 0;
                for part in parts {
                    (part.start.max(next)..part.end).for_each(|part| self.copy(link.to, part));
                    next = next.max(part.end);
                }
            } else if cascade::is_number(link) && link.to != site {
                let is_back = |back: &&Link| back.from == link.to && back.to == site && cascade::is_number(back);
                let backs: Vec<&Link> = links.links.iter().filter(is_back).collect();
                for record in records {
                    let Some(other) = named(*record).map(|named| named.start) else { continue };
                    let names = |back: &&Link| back.named(links.sites[link.to].record(other), len(site));
                    let is_it = |(first, _): (i64, i64)| usize::try_from(first) == Ok(*record);
                    if backs.iter().filter_map(names).any(is_it) {
                        self.copy(link.to, other);
                    }
                }
            }
        }
        let lists = |link: &&Link| link.to == site && links.sites[link.from].listed && cascade::is_number(link);
        for link in links.links.iter().filter(lists) {
            let mut is_copied = vec![false; len(site)];
            records.iter().for_each(|record| is_copied[*record] = true);
            for entry in 0..len(link.from) {
                let named = link.named(links.sites[link.from].record(entry), len(site));
                let named = named.and_then(|(first, _)| usize::try_from(first).ok());
                if named.is_some_and(|named| is_copied.get(named) == Some(&true)) {
                    self.copy(link.from, entry);
                }
            }
        }
    }
}

/// Takes out of a copy what names records of its own list that name the original, and will not name the copy: the
/// neighbors of a displacement.
fn part(links: &Links<'_>, list: usize, copied: &[bool], original: usize, record: &mut [u8]) -> Result<()> {
    let site = &links.sites[list];
    let is_own =
        |link: &&Link| (link.from, link.to) == (list, list) && matches!(link.how, How::Index(_) | How::Item(..));
    let own: Vec<&Link> = links.links.iter().filter(is_own).collect();
    let named = |link: &Link, record: &[u8]| usize::try_from(link.named(record, site.len())?.0).ok();
    let is_parted = |other: usize| {
        copied.get(other) == Some(&false) && own.iter().any(|back| named(back, site.record(other)) == Some(original))
    };
    for group in own.chunk_by(|one, other| is_one_array(one, other)) {
        let before: Vec<usize> = group.iter().map_while(|link| named(link, record)).collect();
        let after: Vec<usize> = before.iter().copied().filter(|other| !is_parted(*other)).collect();
        if before.len() == after.len() {
            continue;
        }
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let mut is_put = group.iter().zip(&after).all(|(link, other)| link.word.put(record, wide(*other)));
        is_put &= match group[0].how {
            How::Item(word, form) => {
                form.put(word.get(record), wide(after.len())).is_some_and(|count| word.put(record, count))
            }
            _ => group[0].none().is_some_and(|none| group[0].word.put(record, none)),
        };
        if !is_put {
            let message = format!("a copy of {}[{original}] would name records that do not name it", site.name);
            return Err(refused(&site.name, message));
        }
    }
    Ok(())
}

/// Whether the records of a list are copied along: those that belong to others by their order follow anyway.
fn is_copied(links: &Links<'_>, site: usize) -> bool {
    links.sites[site].parallel.is_none()
}

/// The ranges of records that are set.
fn blocks(copied: &[bool]) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for record in (0..copied.len()).filter(|record| copied[*record]) {
        match blocks.last_mut().filter(|block| block.end == record) {
            Some(block) => block.end += 1,
            None => blocks.push(record..record + 1),
        }
    }
    blocks
}

/// The blocks in parts whose records are in the same sets. New records belong to the sets of the record before them, so
/// that the copies of each part, which follow it, are in its sets.
fn parted(links: &Links<'_>, list: usize, blocks: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if blocks.iter().all(|block| block.len() < 2) {
        return blocks;
    }
    let borders = borders(links, list);
    let parts = blocks.into_iter().flat_map(|block| {
        let inner = borders.range(block.start + 1..block.end).copied();
        let starts: Vec<usize> = std::iter::once(block.start).chain(inner).collect();
        let ends: Vec<usize> = starts[1..].iter().copied().chain([block.end]).collect();
        starts.into_iter().zip(ends).map(|(start, end)| start..end)
    });
    parts.collect()
}

/// Where sets of records of a list begin and end: those of models, nodes and leafs, and what models have through their
/// trees.
fn borders(links: &Links<'_>, list: usize) -> BTreeSet<usize> {
    let mut borders = BTreeSet::new();
    for link in links.links.iter().filter(|link| link.to == list) {
        let (from, len) = (&links.sites[link.from], links.sites[list].len());
        match link.how {
            How::Run(_, _, Order::Free | Order::InTurn) => {
                let named = (0..from.len()).filter_map(|record| link.named(from.record(record), len));
                let ends = named.flat_map(|(first, count)| [first, first.saturating_add(count)]);
                borders.extend(ends.filter_map(|end| usize::try_from(end).ok()));
            }
            How::Share(_) => {
                let blocks = change::blocks(links, link).unwrap_or_default();
                borders.extend(blocks.into_iter().flat_map(|(first, count)| [first, first + count]));
            }
            _ => {}
        }
    }
    borders.extend(links.stretches(list).into_iter().flat_map(|stretch| [stretch.start, stretch.end]));
    borders
}

/// The first record that has one of these records in a run that nothing can be added to.
pub(super) fn whole(links: &Links<'_>, list: usize, range: &Range<usize>) -> Option<String> {
    let len = links.sites[list].len();
    let is_closed = |link: &&Link| matches!(link.how, How::Run(_, _, Order::Matters | Order::Optional | Order::Own));
    links.links.iter().filter(|link| link.to == list).filter(is_closed).find_map(|link| {
        let from = &links.sites[link.from];
        let has_one = |record: &usize| {
            let Some((first, count)) = link.named(from.record(*record), len) else { return false };
            let Ok(first) = usize::try_from(first) else { return false };
            let end = first.saturating_add(usize::try_from(count).unwrap_or(0));
            first.max(range.start) < end.min(range.end)
        };
        (0..from.len()).find(has_one).map(|record| format!("{}[{record}]", from.name))
    })
}

/// Where the copies of parts are put: after the parts, but not among those of another whole.
fn after(links: &Links<'_>, list: usize, end: usize) -> usize {
    let len = links.sites[list].len();
    let wholes = links.links.iter().filter(|link| link.to == list && cascade::is_whole(link));
    let mut runs = wholes.flat_map(|link| {
        let from = &links.sites[link.from];
        (0..from.len()).filter_map(move |record| link.named(from.record(record), len))
    });
    let end_of = i64::try_from(end).unwrap_or(i64::MAX);
    let is_among = runs.any(|(first, count)| first < end_of && end_of < first.saturating_add(count));
    if is_among { len } else { end }
}
