//! Records whose sets follow each other: the faces of the models, and their leafs.

use super::change::{Change, Source};
use crate::bsp::{How, Link, Links};
use crate::record::Order;

/// The first record and the number of records that belong to each record of a list; `None` if they do not follow each
/// other, or not all of them are there.
pub(super) fn blocks(links: &Links<'_>, link: &Link) -> Option<Vec<(usize, usize)>> {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let skip = match link.how {
        How::Share(skip) => skip,
        How::Run(_, _, Order::InTurn) => 0,
        _ => return None,
    };
    let (mut next, mut blocks) = (skip, Vec::with_capacity(from.len()));
    for record in 0..from.len() {
        let (first, count) = match link.how {
            How::Share(_) => (next, usize::try_from(link.word.get(from.record(record))).ok()?),
            _ => match link.named(from.record(record), to.len()) {
                None => (next, 0),
                Some((first, count)) => (usize::try_from(first).ok()?, usize::try_from(count).ok()?),
            },
        };
        if first != next {
            return None;
        }
        blocks.push((first, count));
        next = first.checked_add(count).filter(|end| *end <= to.len())?;
    }
    Some(blocks)
}

/// The order of the records that belong to those of a list that comes into another order.
pub(super) fn follow(links: &Links<'_>, link: &Link, change: &Change) -> Option<Change> {
    let blocks = blocks(links, link).filter(|_| change.is_order())?;
    let start = blocks.first().map_or(0, |(first, _)| *first);
    let end = blocks.last().map_or(0, |(first, count)| first + count);
    let sources = change.content.iter().filter_map(|source| match source {
        Source::Old(old) => blocks.get(*old),
        Source::New(..) => None,
    });
    let moved = sources.flat_map(|(first, count)| *first..first + count);
    Some(Change::permuted((0..start).chain(moved).chain(end..links.sites[link.to].len()).collect()))
}
