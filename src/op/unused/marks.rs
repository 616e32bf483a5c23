//! Which records are used: marked in sets of bits, and followed word by word.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::bits::{Bits, ones};
use crate::bsp::{Bsp, How, Link, Links};
use crate::bytes::word;
use crate::content::entities::Entities;
use crate::dialect::EntityForm;
use crate::draft::follow::entities;

/// The even numbers of 64.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// Which records are used, while that is found out.
pub(super) struct Marks<'l, 'a> {
    links: &'l Links<'a>,
    lists: Vec<List<'l>>,
    /// What blocks that belong to a record refer to.
    held: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    found: Found,
}

/// What the records of a list refer to.
#[derive(Default)]
struct List<'l> {
    fields: Vec<&'l Link>,
    /// Lists of which each record has a share: where the shares begin.
    shares: Vec<(usize, Vec<usize>)>,
    /// Whether blocks belong to its records.
    holds: bool,
    /// Whether its records belong to those of another list, and all of them do.
    belongs: Option<bool>,
}

/// The records that were found, by list.
struct Found {
    used: Vec<Bits>,
    removed: Vec<Option<Bits>>,
    /// Lists whose records 2n and 2n + 1 go together: even where some are not opposite, others stay so.
    is_paired: Vec<bool>,
    /// Used records whose references were not followed, 64 in a word; lists whose records refer to nothing have none.
    open: Vec<Vec<u64>>,
    /// The words of these that are not 0. First in, first out: then most words are full before they are followed.
    queue: VecDeque<(usize, usize)>,
}

impl Found {
    /// These records are used. Each record is new once, however many ranges it is in.
    #[inline]
    fn range(&mut self, site: usize, start: usize, end: usize) {
        let end = end.min(self.used[site].len());
        // Most references are to one record, which is known already.
        if start < end && (end - start > 1 || !self.used[site].has(start)) {
            self.add(site, start, end);
        }
    }

    fn add(&mut self, site: usize, start: usize, end: usize) {
        let Found { used, removed, is_paired, open, queue } = self;
        let (open, removed) = (&mut open[site], &removed[site]);
        // A removed record does not need the other one of its pair: [`Found::next`] finds it.
        let is_whole = is_paired[site] && removed.is_none();
        let (start, end) = if is_whole { (start & !1, end + (end & 1)) } else { (start, end) };
        used[site].add(start, end, |at, new| {
            let new = new & !removed.as_ref().map_or(0, |removed| removed.word(at));
            if let Some(open) = open.get_mut(at).filter(|_| new != 0) {
                if *open == 0 {
                    queue.push_back((site, at));
                }
                *open |= new;
            }
        });
    }

    /// A word of records whose references are to be followed, with those that go with them.
    fn next(&mut self) -> Option<(usize, usize, u64)> {
        let (site, at) = self.queue.pop_front()?;
        let bits = std::mem::take(&mut self.open[site][at]);
        let Some(removed) = self.removed[site].as_ref().filter(|_| self.is_paired[site]) else {
            return Some((site, at, bits));
        };
        let others = (bits & EVEN) << 1 | (bits >> 1) & EVEN;
        Some((site, at, bits | self.used[site].insert(at, others) & !removed.word(at)))
    }
}

impl<'l, 'a> Marks<'l, 'a> {
    pub(super) fn new(map: &Bsp<'_>, links: &'l Links<'a>) -> Self {
        let mut lists: Vec<List<'l>> = links.sites.iter().map(|_| List::default()).collect();
        for link in links.links.iter().filter(|link| !link.is_weak()) {
            match link.how {
                How::Share(skip) => lists[link.from].shares.push((link.to, starts(links, link, skip))),
                _ => lists[link.from].fields.push(link),
            }
        }
        for index in 0..links.sites.len() {
            let Some((owner, starts)) = links.shares(index) else { continue };
            let is_whole = starts.last() == Some(&links.sites[index].len());
            lists[index].belongs = Some(is_whole);
            if is_whole {
                lists[owner].shares.push((index, starts));
            }
        }
        let held = held(map, links);
        held.keys().for_each(|(owner, _)| lists[*owner].holds = true);
        let open = lists.iter().zip(&links.sites).map(|(list, site)| {
            let is_end = list.fields.is_empty() && list.shares.is_empty() && !list.holds;
            vec![0; if is_end { 0 } else { site.len().div_ceil(64) }]
        });
        let found = Found {
            open: open.collect(),
            used: links.sites.iter().map(|site| Bits::new(site.len())).collect(),
            removed: links.sites.iter().map(|_| None).collect(),
            is_paired: links.sites.iter().map(|site| site.row.order.paired).collect(),
            queue: VecDeque::new(),
        };
        Marks { links, lists, held, found }
    }

    /// Whether the records of a list belong to those of another one and all of them do; `None` if they belong to none.
    pub(super) fn belongs(&self, site: usize) -> Option<bool> {
        self.lists[site].belongs
    }

    pub(super) fn remove(&mut self, site: usize, records: &[usize]) {
        let len = self.links.sites[site].len();
        // The other ones of their pairs are found when those are followed.
        self.found.open[site].resize(len.div_ceil(64), 0);
        let removed = self.found.removed[site].get_or_insert_with(|| Bits::new(len));
        records.iter().for_each(|record| removed.add(*record, record.saturating_add(1), |_, _| ()));
    }

    pub(super) fn all(&mut self, site: usize) {
        self.found.range(site, 0, self.links.sites[site].len());
    }

    /// These records are used.
    pub(super) fn range(&mut self, site: usize, start: usize, end: usize) {
        self.found.range(site, start, end);
    }

    /// What values of entities name.
    pub(super) fn entities(&mut self, map: &Bsp<'_>, text: &Entities<'_>) {
        let mut with_number: HashMap<&str, HashMap<i64, Vec<usize>>> = HashMap::new();
        for value in text.iter().flat_map(|entity| entities::values(map, &entity)) {
            let Some(site) = self.links.referred(value.reference.lump) else { continue };
            match value.reference.form {
                EntityForm::Starred | EntityForm::Index => {
                    if let Ok(record) = usize::try_from(value.number) {
                        self.range(site, record, record.saturating_add(1));
                    }
                }
                EntityForm::Field(field) => {
                    let records = with_number.entry(field).or_insert_with(|| {
                        let mut records: HashMap<i64, Vec<usize>> = HashMap::new();
                        let numbers = entities::numbers(&self.links.sites[site], field);
                        numbers.into_iter().enumerate().for_each(|(at, number)| {
                            records.entry(number).or_default().push(at);
                        });
                        records
                    });
                    let records = records.get(&value.number).map_or(&[][..], |records| records);
                    records.iter().for_each(|record| self.found.range(site, *record, record + 1));
                }
            }
        }
    }

    /// Follows all references of used records.
    pub(super) fn follow(&mut self) {
        let Marks { links, lists, held, found } = self;
        while let Some((site, at, bits)) = found.next() {
            let (list, records) = (&lists[site], &links.sites[site]);
            for link in &list.fields {
                let len = links.sites[link.to].len();
                if found.used[link.to].is_full() {
                    continue;
                }
                // Ranges that follow each other are one.
                let mut run = 0..0;
                let single = link.indices(len);
                records.numbers(link.word, ones(bits).map(|bit| 64 * at + bit), |_, record, value| {
                    if let Some(index) = usize::try_from(value).ok().filter(|index| *index < single) {
                        found.range(link.to, index, index + 1);
                        return;
                    }
                    let Some((start, count)) = link.states(value, record, len) else { return };
                    let end = usize::try_from(start.saturating_add(count)).unwrap_or(0);
                    let start = usize::try_from(start.max(0)).unwrap_or(usize::MAX);
                    if start != run.end {
                        found.range(link.to, run.start, run.end);
                        run = start..start;
                    }
                    run.end = run.end.max(end);
                });
                found.range(link.to, run.start, run.end);
            }
            for (to, starts) in &list.shares {
                for record in ones(bits).map(|bit| 64 * at + bit) {
                    found.range(*to, starts[record], starts[record + 1]);
                }
            }
            if list.holds {
                let held = ones(bits).filter_map(|bit| held.remove(&(site, 64 * at + bit)));
                held.flatten().for_each(|(to, index)| found.range(to, index, index + 1));
            }
        }
    }

    /// The records that are not used, in ascending order.
    pub(super) fn unused(&self, site: usize) -> Vec<usize> {
        self.found.used[site].others(self.found.removed[site].as_ref())
    }
}

/// Where the share of each record begins, and the end of the last one.
fn starts(links: &Links<'_>, link: &Link, skip: usize) -> Vec<usize> {
    let count = |record| usize::try_from(link.word.get(record)).unwrap_or(0);
    let ends = links.sites[link.from].records().scan(skip, |end, record| {
        *end = end.saturating_add(count(record));
        Some(*end)
    });
    std::iter::once(skip).chain(ends).collect()
}

/// Numbers in content that is not an array, by the record whose block they are in. Those in no block belong to the
/// world.
fn held(map: &Bsp<'_>, links: &Links<'_>) -> BTreeMap<(usize, usize), Vec<(usize, usize)>> {
    let mut held: BTreeMap<(usize, usize), Vec<(usize, usize)>> = BTreeMap::new();
    for (slot, _, lump, places) in &links.places {
        let (Some(to), Ok(bytes)) = (links.referred(lump), map.little_endian(*slot)) else { continue };
        let Some((_, _, blocks)) = links.blocks.iter().find(|(other, ..)| other == slot) else { continue };
        let Some(owner) = links.referred(blocks.lump) else { continue };
        let found = (blocks.find)(&bytes).unwrap_or_default();
        let mut found = found.iter().peekable();
        for at in places {
            while found.next_if(|block| block.range.end <= *at).is_some() {}
            let block = found.peek().filter(|block| block.range.contains(at));
            let record = block.and_then(|block| usize::try_from(word(&bytes, block.at)?).ok()).unwrap_or(0);
            let index = word(&bytes, *at).and_then(|index| usize::try_from(index).ok());
            held.entry((owner, record)).or_default().extend(index.map(|index| (to, index)));
        }
    }
    held
}
