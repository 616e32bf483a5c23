//! The records that a model needs, and which of them another map may have already.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::graph::Graph;
use crate::bsp::{Bsp, How, Link, Links};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind, Place, Result};

/// The records of each list.
pub(super) type Needed = BTreeMap<usize, BTreeSet<usize>>;

/// The error for a copy that cannot be made.
#[cold]
pub(super) fn refused(lump: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message.into()).at(Place::default().lump(lump))
}

/// Whether the records of a list serve only those that refer to them.
pub(super) fn is_owned(dialect: &Dialect, links: &Links<'_>, site: usize) -> bool {
    dialect.owned.iter().any(|lump| links.referred(lump) == Some(site))
}

/// What becomes of a number that names a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The records from the first to the end are needed.
    Needed(usize, usize),
    /// It names the same record in every map: its number has a meaning.
    Fixed,
    /// Another map has a record of its own for it.
    Theirs,
    /// It is not followed; garbage, maybe.
    Loose,
}

/// What a number of a record of the model's map names. `None` if it names none.
pub(super) fn named(
    map: &Bsp<'_>,
    links: &Links<'_>,
    models: usize,
    link: &Link,
    record: usize,
) -> Result<Option<Named>> {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let Some((first, count)) = link.named(from.record(record), to.len()) else { return Ok(None) };
    if matches!(link.how, How::Perhaps) {
        // A hull that all models share belongs to the world.
        let is_world = link.word.get(from.record(record)) == link.word.get(from.record(0));
        return Ok(Some(match link.from == models {
            true if is_world => Named::Theirs,
            true => Named::Needed(usize::try_from(first).unwrap_or(0), usize::try_from(first + 1).unwrap_or(0)),
            false => Named::Loose,
        }));
    }
    let range = usize::try_from(first).ok().zip(first.checked_add(count).and_then(|end| usize::try_from(end).ok()));
    let Some((first, end)) = range.filter(|(_, end)| *end <= to.len()) else {
        let message = format!("{}[{record}].{} names records that are not there", from.name, link.field);
        return Err(refused(&from.name, message));
    };
    if first < to.row.order.fixed && matches!(link.how, How::Node) {
        return Err(refused(&from.name, format!("{}[{record}].{} is the tree of the world", from.name, link.field)));
    }
    if end <= to.row.order.fixed || to.row.order.fixed > 0 && !is_owned(map.dialect(), links, link.to) {
        return Ok(Some(Named::Fixed));
    }
    Ok(Some(Named::Needed(first, end)))
}

/// All records that a model needs, with itself.
pub(super) fn needed(map: &Bsp<'_>, graph: &Graph<'_, '_>, models: usize, model: usize) -> Result<Needed> {
    let links = graph.links;
    let (mut needed, mut open) = (Needed::new(), vec![(models, model)]);
    while let Some((site, record)) = open.pop() {
        if !needed.entry(site).or_default().insert(record) {
            continue;
        }
        if links.sites[site].is_paired() {
            open.push((site, record ^ 1));
        }
        let known = |needed: &Needed, site: usize, record: usize| {
            needed.get(&site).is_some_and(|known| known.contains(&record))
        };
        for link in graph.links_of(site) {
            let range = match link.how {
                How::Share(_) => graph.share(link, record).map(|range| (range.start, range.end)),
                _ => match named(map, links, models, link, record)? {
                    Some(Named::Needed(first, end)) => Some((first, end)),
                    _ => None,
                },
            };
            if let Some((first, end)) = range {
                open.extend((first..end).filter(|at| !known(&needed, link.to, *at)).map(|at| (link.to, at)));
            }
        }
        for (other, starts) in &graph.beside[site] {
            let range = starts.get(record..record + 2).map_or(0..0, |pair| pair[0]..pair[1]);
            open.extend(range.filter(|at| !known(&needed, *other, *at)).map(|at| (*other, at)));
        }
    }
    Ok(needed)
}

/// Whether one of several equal records of a list is enough: everything that refers to them names one of them, and
/// nothing belongs to them by their order.
pub(super) fn is_shared(graph: &Graph<'_, '_>, site: usize) -> bool {
    let links = graph.links;
    let mut to = links.links.iter().filter(|link| link.to == site).peekable();
    let is_one =
        |link: &Link| matches!(link.how, How::Index(_) | How::Next | How::Bits(_)) && !links.sites[link.from].listed;
    to.peek().is_some() && to.all(is_one) && graph.beside[site].is_empty() && links.sites[site].parallel.is_none()
}

/// The records of a list by their bytes.
pub(super) fn by_bytes<'l>(links: &'l Links<'_>, site: usize, pairs: bool) -> HashMap<&'l [u8], usize> {
    let site = &links.sites[site];
    let size = site.record.size * if pairs { 2 } else { 1 };
    let mut found = HashMap::new();
    for (at, record) in site.all().chunks_exact(size).enumerate() {
        found.entry(record).or_insert(at);
    }
    found
}
