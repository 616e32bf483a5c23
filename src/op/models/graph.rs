//! What records refer to, over all references that are declared: numbers of fields, shares, and lists that run
//! parallel.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::bsp::{How, Link, Links};

/// The references of a map by the records that they come from.
pub(super) struct Graph<'g, 'a> {
    pub(super) links: &'g Links<'a>,
    /// The links of each list, with the starts of the shares if it is one.
    out: Vec<Vec<Out<'g>>>,
    /// The lists whose records belong to those of each list, and where those of each record begin.
    pub(super) beside: Vec<BTreeMap<usize, Vec<usize>>>,
}

/// A field, with the starts of its shares if it has these.
type Out<'g> = (&'g Link, Option<Vec<usize>>);

impl<'g, 'a> Graph<'g, 'a> {
    pub(super) fn new(links: &'g Links<'a>) -> Self {
        let mut graph = Graph {
            links,
            out: links.sites.iter().map(|_| Vec::new()).collect(),
            beside: links.sites.iter().map(|_| BTreeMap::new()).collect(),
        };
        for link in links.links.iter().filter(|link| !link.is_weak()) {
            let starts = if let How::Share(skip) = link.how { Some(shares(links, link, skip)) } else { None };
            graph.out[link.from].push((link, starts));
        }
        for other in 0..links.sites.len() {
            if let Some((owner, starts)) =
                links.shares(other).filter(|(_, starts)| starts.last() == Some(&links.sites[other].len()))
            {
                graph.beside[owner].insert(other, starts);
            }
        }
        graph
    }

    /// The links from a list.
    pub(super) fn links_of(&self, site: usize) -> impl Iterator<Item = &'g Link> {
        self.out[site].iter().map(|(link, _)| *link)
    }

    /// The records that belong to a record by their order, in the form of a count.
    pub(super) fn share(&self, link: &Link, record: usize) -> Option<Range<usize>> {
        let (_, starts) = self.out[link.from].iter().find(|(other, _)| std::ptr::eq(*other, link))?;
        let pair = starts.as_ref()?.get(record..record + 2)?;
        let len = self.links.sites[link.to].len();
        Some(pair[0].min(len)..pair[1].min(len))
    }

    /// Visits the ranges of records that a record refers to, and those that belong to it.
    pub(super) fn each(&self, site: usize, record: usize, mut visit: impl FnMut(usize, Range<usize>)) {
        let bytes = self.links.sites[site].record(record);
        for (link, starts) in &self.out[site] {
            let len = self.links.sites[link.to].len();
            let range = match starts {
                Some(starts) => starts.get(record..record + 2).map(|pair| pair[0]..pair[1]),
                None => link.named(bytes, len).map(|(first, count)| clamped(first, count, len)),
            };
            if let Some(range) = range.filter(|range| range.start < range.end) {
                visit(link.to, range.start.min(len)..range.end.min(len));
            }
        }
        for (other, starts) in &self.beside[site] {
            if let Some(pair) = starts.get(record..record + 2) {
                visit(*other, pair[0]..pair[1]);
            }
        }
    }
}

/// Where the records of each share begin, and the end of the last one.
fn shares(links: &Links<'_>, link: &Link, skip: usize) -> Vec<usize> {
    let site = &links.sites[link.from];
    let count = |record| usize::try_from(link.word.get(site.record(record))).unwrap_or(0);
    let ends = (0..site.len()).scan(skip, |end, record| {
        *end = end.saturating_add(count(record));
        Some(*end)
    });
    std::iter::once(skip).chain(ends).collect()
}

fn clamped(first: i64, count: i64, len: usize) -> Range<usize> {
    let clamp = |value: i64| usize::try_from(value.max(0)).map_or(len, |value| value.min(len));
    clamp(first)..clamp(first.saturating_add(count))
}
