//! Records that nothing needs: what is left over by compilers and by edits.
//!
//! Which lumps have records that serve only those that refer to them is a fact of the dialect
//! ([`bspkit::dialect::Dialect::owned`]). Records of other lumps are content. So are the world, records whose number
//! has a meaning, and models that an entity names, under any key. Whatever these refer to, directly or over others, is
//! used; the rest is not. The time is linear in the records and their references.

use std::collections::{BTreeMap, HashMap, VecDeque};

use bspkit::bytes::word;
use bspkit::content::entities::Entities;
use bspkit::dialect::{EntityForm, Role};
use bspkit::links::{How, Link, Links};
use bspkit::{Bsp, Result};

/// The records of a map that nothing needs.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// use bspkit_ops::unused::Unused;
/// let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let last = draft.table(quake2::TEXINFO)?.len();
/// draft.structure().duplicate_list("TEXINFO", last - 1..last)?;
/// let saved = Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// let more = Unused::of(&saved)?.beyond(&Unused::of(&map)?);
/// assert_eq!(more.list("TEXINFO"), [last]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unused {
    /// The lists that have unused records, in the order of the lumps.
    pub lists: Vec<UnusedRecords>,
}

/// The unused records of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusedRecords {
    /// The lump, or the list in it as `LUMP.list`.
    pub list: String,
    /// The lump.
    pub lump: String,
    /// Their numbers, in ascending order.
    pub records: Vec<usize>,
    /// How many records the list has.
    pub total: usize,
    /// The bytes of a record.
    pub size: usize,
    /// Lumps that may refer to the records in a way that is not known.
    pub doubts: Vec<String>,
}

impl Unused {
    /// The records that nothing needs.
    ///
    /// # Errors
    /// If the entities of the map, or the lumps that have references, cannot be read.
    pub fn of(map: &Bsp<'_>) -> Result<Self> {
        Unused::find(map, &[], &|_| false)
    }

    /// The records that nothing would need after some records are removed, and these. Each list has a name and the
    /// numbers of its records. Use [`Unused::beyond`] to leave out what is unused now.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// use bspkit_ops::unused::Unused;
    /// let with_model = Unused::without(&map, &[("MODELS", &[1])])?.beyond(&Unused::of(&map)?);
    /// assert_eq!(with_model.list("MODELS"), [1]);
    /// assert!(!with_model.list("FACES").is_empty() && !with_model.list("BRUSHES").is_empty());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Unused::of`].
    pub fn without(map: &Bsp<'_>, removed: &[(&str, &[usize])]) -> Result<Self> {
        Unused::find(map, removed, &|_| false)
    }

    /// What is unused here and not there.
    #[must_use]
    pub fn beyond(&self, other: &Unused) -> Unused {
        let lists = self.lists.iter().map(|list| {
            let known = other.list(&list.list);
            let records = list.records.iter().copied().filter(|record| known.binary_search(record).is_err());
            UnusedRecords { records: records.collect(), ..list.clone() }
        });
        Unused { lists: lists.filter(|list| !list.records.is_empty()).collect() }
    }

    /// The unused records of a list.
    pub fn list(&self, name: &str) -> &[usize] {
        self.lists.iter().find(|list| list.list == name).map_or(&[], |list| &list.records)
    }

    /// The lists as [`bspkit::Structure::remove`] takes them.
    pub fn to_remove(&self) -> Vec<(&str, &[usize])> {
        self.lists.iter().map(|list| (list.list.as_str(), &list.records[..])).collect()
    }

    /// As [`Unused::of`], where a field, as `LUMP.field`, counts as if it did not refer to anything: to show that a
    /// test would see it.
    ///
    /// # Errors
    /// As [`Unused::of`].
    #[doc(hidden)]
    pub fn ignoring(map: &Bsp<'_>, field: &str) -> Result<Self> {
        let mut links = map.links()?;
        let sites: Vec<String> = links.sites.iter().map(|site| site.name.clone()).collect();
        links.links.retain(|link| format!("{}.{}", sites[link.from], link.plain_field()) != field);
        links.places.retain(|(_, name, lump, _)| format!("{name}.{}", lump.to_lowercase()) != field);
        Ok(Unused::in_links(map, &links, entities_of(map)?.as_ref(), &[], &|_| false))
    }

    fn find(map: &Bsp<'_>, removed: &[(&str, &[usize])], is_kept: &dyn Fn(&str) -> bool) -> Result<Self> {
        Ok(Unused::in_links(map, &map.links()?, entities_of(map)?.as_ref(), removed, is_kept))
    }

    /// As [`Unused::of`], where the references and the entities of the map are known already.
    pub(super) fn in_links(
        map: &Bsp<'_>,
        links: &Links<'_>,
        entities: Option<&Entities<'_>>,
        removed: &[(&str, &[usize])],
        is_kept: &dyn Fn(&str) -> bool,
    ) -> Self {
        let mut is_owned = vec![false; links.sites.len()];
        let owned = map.dialect().owned.iter();
        owned.filter_map(|lump| links.referred(lump)).for_each(|site| is_owned[site] = true);
        let mut marks = Marks::new(map, links);
        for (list, records) in removed {
            if let Some(site) = links.site(list) {
                marks.remove(site, records);
            }
        }
        for (index, site) in links.sites.iter().enumerate() {
            if site.is_ragged() {
                marks.all(index);
            }
            match marks.belongs(index) {
                // They are used as those that they belong to are.
                Some(true) if !is_kept(&site.name) => {}
                // It is not known which of them belong to which records.
                Some(_) => {
                    marks.all(index);
                    site.parallel.and_then(|other| links.referred(other.lump)).into_iter().for_each(|to| marks.all(to));
                }
                None if is_owned[index] && !is_kept(&site.name) => marks.range(index, 0, site.row.order.fixed),
                None => marks.all(index),
            }
        }
        entities.into_iter().for_each(|entities| marks.entities(map, entities));
        marks.follow();
        let lists = links.sites.iter().enumerate().filter(|(index, site)| is_owned[*index] && site.parallel.is_none());
        let lists = lists.filter_map(|(index, site)| {
            let records = marks.unused(index);
            (!records.is_empty()).then(|| UnusedRecords {
                list: site.name.clone(),
                lump: map.container().slot(site.slot).map_or_else(|| site.name.clone(), |slot| slot.name.clone()),
                records,
                total: site.len(),
                size: site.record.size,
                doubts: links.doubts(index).map(|(name, _)| name.to_owned()).collect(),
            })
        });
        Unused { lists: lists.collect() }
    }
}

/// The entities of a map; `None` if it has no text.
pub(crate) fn entities_of<'a>(map: &Bsp<'a>) -> Result<Option<Entities<'a>>> {
    let Some(slot) = map.role(Role::Entities).filter(|slot| slot.length != 0) else { return Ok(None) };
    Entities::parse(map.bytes(slot.id)?, map.entity_rules()).map(Some)
}

// Which records are used: marked in sets of bits, and followed word by word.

/// The even numbers of 64.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// Which records are used, while that is found out.
struct Marks<'l, 'a> {
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
    /// Those of them without removed records. A removed record does not need the other one of its pair:
    /// [`Found::next`] finds it.
    is_whole: Vec<bool>,
    /// Used records whose references were not followed, 64 in a word; lists whose records refer to nothing have none.
    open: Vec<Vec<u64>>,
    /// The words of these that are not 0. First in, first out: then most words are full before they are followed.
    queue: VecDeque<(usize, usize)>,
}

impl Found {
    /// This record of the list is used. Most references are to one record.
    #[inline]
    fn one(&mut self, site: usize, record: usize) {
        let Found { used, removed, is_whole, open, queue, .. } = self;
        let (at, bit) = (record / 64, 1 << (record % 64));
        let new = used[site].insert(at, if is_whole[site] { bit | other(bit) } else { bit });
        if new != 0 && !open[site].is_empty() {
            put(site, at, new, &removed[site], &mut open[site], queue);
        }
    }

    /// These records are used. Each record is new once, however many ranges it is in.
    fn range(&mut self, site: usize, start: usize, end: usize) {
        let Found { used, removed, is_whole, open, queue, .. } = self;
        let (start, end) = (start, end.min(used[site].len()));
        if start < end {
            let (start, end) = if is_whole[site] { (start & !1, end + (end & 1)) } else { (start, end) };
            used[site].add(start, end, |at, new| put(site, at, new, &removed[site], &mut open[site], queue));
        }
    }

    /// A word of records whose references are to be followed, with those that go with them.
    fn next(&mut self) -> Option<(usize, usize, u64)> {
        let (site, at) = self.queue.pop_front()?;
        let bits = std::mem::take(&mut self.open[site][at]);
        let Some(removed) = self.removed[site].as_ref().filter(|_| self.is_paired[site]) else {
            return Some((site, at, bits));
        };
        Some((site, at, bits | self.used[site].insert(at, other(bits)) & !removed.word(at)))
    }
}

/// The other ones of the pairs of records of a word.
#[inline]
fn other(bits: u64) -> u64 {
    (bits & EVEN) << 1 | (bits >> 1) & EVEN
}

/// The references of these new records of a word are to be followed, if they have any.
fn put(
    site: usize,
    at: usize,
    new: u64,
    removed: &Option<Bits>,
    open: &mut [u64],
    queue: &mut VecDeque<(usize, usize)>,
) {
    let new = new & !removed.as_ref().map_or(0, |removed| removed.word(at));
    if let Some(open) = open.get_mut(at).filter(|_| new != 0) {
        if *open == 0 {
            queue.push_back((site, at));
        }
        *open |= new;
    }
}

impl<'l, 'a> Marks<'l, 'a> {
    fn new(map: &Bsp<'_>, links: &'l Links<'a>) -> Self {
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
        let is_paired: Vec<bool> = links.sites.iter().map(|site| site.row.order.paired).collect();
        let found = Found {
            open: open.collect(),
            used: links.sites.iter().map(|site| Bits::new(site.len())).collect(),
            removed: links.sites.iter().map(|_| None).collect(),
            is_whole: is_paired.clone(),
            is_paired,
            queue: VecDeque::new(),
        };
        Marks { links, lists, held, found }
    }

    /// Whether the records of a list belong to those of another one and all of them do; `None` if they belong to none.
    fn belongs(&self, site: usize) -> Option<bool> {
        self.lists[site].belongs
    }

    fn remove(&mut self, site: usize, records: &[usize]) {
        let len = self.links.sites[site].len();
        // The other ones of their pairs are found when those are followed.
        self.found.open[site].resize(len.div_ceil(64), 0);
        self.found.is_whole[site] = false;
        let removed = self.found.removed[site].get_or_insert_with(|| Bits::new(len));
        records.iter().for_each(|record| removed.add(*record, record.saturating_add(1), |_, _| ()));
    }

    fn all(&mut self, site: usize) {
        self.found.range(site, 0, self.links.sites[site].len());
    }

    /// These records are used.
    fn range(&mut self, site: usize, start: usize, end: usize) {
        self.found.range(site, start, end);
    }

    /// What values of entities name.
    fn entities(&mut self, map: &Bsp<'_>, text: &Entities<'_>) {
        // What may name a model is enough for it to stay.
        for model in text.iter().flat_map(|entity| entity.loose_models(map.dialect())) {
            if let (Some(site), Ok(record)) = (self.links.referred(model.lump), usize::try_from(model.number)) {
                self.range(site, record, record.saturating_add(1));
            }
        }
        let mut with_number: HashMap<&str, HashMap<i64, Vec<usize>>> = HashMap::new();
        for value in text.iter().flat_map(|entity| entity.record_values(map.dialect())) {
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
                        let numbers = self.links.sites[site].column(field);
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
    fn follow(&mut self) {
        let Marks { links, lists, held, found } = self;
        while let Some((site, at, bits)) = found.next() {
            let (list, records) = (&lists[site], &links.sites[site]);
            for link in &list.fields {
                let len = links.sites[link.to].len();
                if found.used[link.to].is_full() {
                    continue;
                }
                let these = ones(bits).map(|bit| 64 * at + bit);
                if link.indices(len) == len {
                    // Other numbers name no record.
                    records.numbers(link.word, these, |_, _, value| {
                        if let Some(index) = usize::try_from(value).ok().filter(|index| *index < len) {
                            found.one(link.to, index);
                        }
                    });
                    continue;
                }
                // Ranges that follow each other are one.
                let mut run = 0..0;
                records.numbers(link.word, these, |_, record, value| {
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
    fn unused(&self, site: usize) -> Vec<usize> {
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

// A set of the records of a list, 64 in a word.

/// The records from 0 on that are in the set.
struct Bits {
    words: Vec<u64>,
    /// For each word the first one from there on that has room, over several steps.
    free: Vec<usize>,
    len: usize,
    /// How many words have room.
    left: usize,
}

impl Bits {
    /// None of this many records.
    fn new(len: usize) -> Self {
        let words = len.div_ceil(64);
        Bits { words: vec![0; words], free: (0..=words).collect(), len, left: words }
    }

    /// How many records the list has.
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Adds the records of a range, and calls a function for each word with new ones: its index, and their bits. Full
    /// words are skipped, so that the time does not depend on how many ranges have the same records.
    #[inline]
    fn add(&mut self, start: usize, end: usize, mut new: impl FnMut(usize, u64)) {
        let end = end.min(self.len);
        if start >= end {
            return;
        }
        let (first, last) = (start / 64, (end - 1) / 64);
        if first == last {
            // Most ranges are short.
            let bits = self.insert(first, u64::MAX << (start % 64) & u64::MAX >> (63 - (end - 1) % 64));
            if bits != 0 {
                new(first, bits);
            }
            return;
        }
        let mut at = self.next(first);
        while at <= last {
            let low = if at == first { u64::MAX << (start % 64) } else { u64::MAX };
            let high = if at == last { u64::MAX >> (63 - (end - 1) % 64) } else { u64::MAX };
            let bits = self.insert(at, low & high);
            if bits != 0 {
                new(at, bits);
            }
            at = self.next(at + 1);
        }
    }

    /// Adds records of a word; returns the new ones.
    #[inline]
    fn insert(&mut self, at: usize, bits: u64) -> u64 {
        let all = self.all(at);
        let word = &mut self.words[at];
        let new = bits & all & !*word;
        *word |= new;
        if new != 0 && *word == all {
            self.free[at] = at + 1;
            self.left -= 1;
        }
        new
    }

    /// All records of a word.
    #[inline]
    fn all(&self, at: usize) -> u64 {
        let room = self.len - 64 * at;
        if room < 64 { !(u64::MAX << room) } else { u64::MAX }
    }

    /// The first word from this one on that has room; the way there becomes shorter.
    fn next(&mut self, mut at: usize) -> usize {
        while self.free[at] != at {
            self.free[at] = self.free[self.free[at]];
            at = self.free[at];
        }
        at
    }

    /// The bits of a word; none where there is no such word.
    fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// The records that are not in the set, or that are in the other one, in ascending order.
    fn others(&self, removed: Option<&Bits>) -> Vec<usize> {
        let mut others = Vec::new();
        if self.is_full() && removed.is_none() {
            return others;
        }
        for (at, word) in self.words.iter().enumerate() {
            let bits = !word & self.all(at) | removed.map_or(0, |removed| removed.word(at));
            others.extend(ones(bits).map(|bit| 64 * at + bit));
        }
        others
    }
}

/// The numbers of the bits that are 1.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = usize::try_from(bits.trailing_zeros()).ok().filter(|bit| *bit < 64)?;
        bits &= bits - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_is_new_once() {
        for len in [0, 1, 63, 64, 65, 200] {
            let (mut bits, mut model) = (Bits::new(len), vec![false; len]);
            for (start, end) in [(5, 5), (3, 9), (0, 64), (60, 70), (63, 65), (2, 500), (190, 200), (0, 0)] {
                let mut found = Vec::new();
                bits.add(start, end, |at, new| found.extend(ones(new).map(|bit| 64 * at + bit)));
                let new = (start..end.min(len)).filter(|record| !std::mem::replace(&mut model[*record], true));
                assert_eq!(found, new.collect::<Vec<_>>(), "{start}..{end} of {len}");
                let left: Vec<usize> = (0..len).filter(|record| !model[*record]).collect();
                assert_eq!(bits.others(None), left);
                let has = |record: usize| bits.word(record / 64) >> (record % 64) & 1 == 1;
                assert!((0..len + 70).all(|record| has(record) == (model.get(record) == Some(&true))));
                assert_eq!(bits.is_full(), left.is_empty());
            }
        }
    }
}
