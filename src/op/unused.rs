//! Records that nothing needs: what is left over by compilers and by edits.
//!
//! Which lumps have records that serve only those that refer to them is a fact of the dialect
//! ([`crate::dialect::Dialect::owned`]). Records of other lumps are content. So are the world, records whose number has
//! a meaning, and models that an entity names. Whatever these refer to, directly or over others, is used; the rest is
//! not. The time is linear in the records and their references.

use std::collections::{BTreeMap, HashMap};

use crate::bsp::{Bsp, How, Link, Links};
use crate::bytes::word;
use crate::dialect::EntityForm;
use crate::draft::follow::{entities, plain};
use crate::error::Result;

/// The records of a map that nothing needs.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// use bspkit::op::unused::Unused;
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
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

    /// As [`Unused::of`], where all records of some lists count as needed: those for whose names, `LUMP` or
    /// `LUMP.list`, the function is true.
    ///
    /// # Errors
    /// As [`Unused::of`].
    pub fn keeping(map: &Bsp<'_>, is_kept: &dyn Fn(&str) -> bool) -> Result<Self> {
        Unused::find(map, &[], is_kept)
    }

    /// The records that nothing would need after some records are removed, and these. Each list has a name and the
    /// numbers of its records. Use [`Unused::beyond`] to leave out what is unused now.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// use bspkit::op::unused::Unused;
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

    /// The lists as [`crate::Structure::remove`] takes them.
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
        links.links.retain(|link| format!("{}.{}", sites[link.from], plain(&link.field)) != field);
        links.places.retain(|(_, name, lump, _)| format!("{name}.{}", lump.to_lowercase()) != field);
        Unused::in_links(map, &links, &[], &|_| false)
    }

    fn find(map: &Bsp<'_>, removed: &[(&str, &[usize])], is_kept: &dyn Fn(&str) -> bool) -> Result<Self> {
        Unused::in_links(map, &map.links()?, removed, is_kept)
    }

    fn in_links(
        map: &Bsp<'_>,
        links: &Links<'_>,
        removed: &[(&str, &[usize])],
        is_kept: &dyn Fn(&str) -> bool,
    ) -> Result<Self> {
        let owned = map.dialect().owned;
        let is_owned: Vec<bool> = {
            let mut owners = vec![false; links.sites.len()];
            owned.iter().filter_map(|lump| links.referred(lump)).for_each(|site| owners[site] = true);
            owners
        };
        let mut marks = Marks::new(map, links);
        for (list, records) in removed {
            if let Some(site) = links.site(list) {
                records.iter().for_each(|record| marks.remove(site, *record));
            }
        }
        for (index, site) in links.sites.iter().enumerate() {
            let belongs = links.shares(index).map(|(_, starts)| starts.last() == Some(&site.len()));
            if site.is_ragged() {
                marks.all(index);
            }
            match belongs {
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
        marks.entities(map)?;
        marks.follow();
        let lists = links.sites.iter().enumerate().filter(|(index, site)| is_owned[*index] && site.parallel.is_none());
        let lists = lists.map(|(index, site)| UnusedRecords {
            list: site.name.clone(),
            lump: map.container().slot(site.slot).map_or_else(|| site.name.clone(), |slot| slot.name.clone()),
            records: marks.unused(index),
            total: site.len(),
            size: site.record.size,
            doubts: links.doubts(index).map(|(name, _)| name.to_owned()).collect(),
        });
        Ok(Unused { lists: lists.filter(|list| !list.records.is_empty()).collect() })
    }
}

/// Which records are used, while that is found out.
struct Marks<'l, 'a> {
    links: &'l Links<'a>,
    /// The fields of each list.
    from: Vec<Vec<&'l Link>>,
    /// For each list those that belong to its records: where those of each record begin.
    beside: Vec<Vec<(usize, Vec<usize>)>>,
    /// For fields that are shares: where those of each record begin.
    shares: HashMap<*const Link, Vec<usize>>,
    /// What blocks that belong to a record refer to.
    held: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    /// The first record from each one on that is not known to be used.
    next: Vec<Vec<usize>>,
    /// Lists whose records 2n and 2n + 1 go together: even where some are not opposite, others stay so.
    is_paired: Vec<bool>,
    removed: HashMap<usize, Vec<bool>>,
    /// Used records whose references were not followed.
    open: Vec<(usize, usize)>,
}

impl<'l, 'a> Marks<'l, 'a> {
    fn new(map: &Bsp<'_>, links: &'l Links<'a>) -> Self {
        let mut from = vec![Vec::new(); links.sites.len()];
        let mut shares = HashMap::new();
        for link in &links.links {
            from[link.from].push(link);
            if let How::Share(skip) = link.how {
                let site = &links.sites[link.from];
                let count = |record: usize| usize::try_from(link.word.get(site.record(record))).unwrap_or(0);
                let starts = (0..site.len()).scan(skip, |start, record| {
                    *start = start.saturating_add(count(record));
                    Some(*start)
                });
                shares.insert(std::ptr::from_ref(link), std::iter::once(skip).chain(starts).collect());
            }
        }
        let mut beside = vec![Vec::new(); links.sites.len()];
        for index in 0..links.sites.len() {
            let shares = links.shares(index);
            if let Some((owner, starts)) = shares.filter(|(_, starts)| starts.last() == Some(&links.sites[index].len()))
            {
                beside[owner].push((index, starts));
            }
        }
        Marks {
            links,
            from,
            beside,
            shares,
            held: held(map, links),
            next: links.sites.iter().map(|site| (0..=site.len()).collect()).collect(),
            is_paired: links.sites.iter().map(|site| site.row.order.paired).collect(),
            removed: HashMap::new(),
            open: Vec::new(),
        }
    }

    fn remove(&mut self, site: usize, record: usize) {
        let len = self.links.sites[site].len();
        if let Some(gone) = self.removed.entry(site).or_insert_with(|| vec![false; len]).get_mut(record) {
            *gone = true;
        }
    }

    fn all(&mut self, site: usize) {
        self.range(site, 0, self.links.sites[site].len());
    }

    /// These records are used. Each record is visited once, however many ranges it is in.
    fn range(&mut self, site: usize, start: usize, end: usize) {
        let len = self.links.sites[site].len();
        let removed = self.removed.get(&site);
        let mut at = first(&mut self.next[site], start.min(len));
        while at < end.min(len) {
            self.next[site][at] = at + 1;
            if removed.is_none_or(|removed| !removed[at]) {
                self.open.push((site, at));
            }
            at = first(&mut self.next[site], at + 1);
        }
    }

    /// What values of entities name.
    fn entities(&mut self, map: &Bsp<'_>) -> Result<()> {
        let Some((_, text)) = entities::read(map)? else { return Ok(()) };
        let mut with_number: HashMap<&str, HashMap<i64, Vec<usize>>> = HashMap::new();
        for value in text.iter().flat_map(|entity| entities::values(map, &entity)) {
            let Some(site) = self.links.referred(value.reference.lump) else { continue };
            match value.reference.form {
                EntityForm::Starred | EntityForm::Index => self.one(site, value.number),
                EntityForm::Field(field) => {
                    let records = with_number.entry(field).or_insert_with(|| {
                        let mut records: HashMap<i64, Vec<usize>> = HashMap::new();
                        let numbers = entities::numbers(&self.links.sites[site], field);
                        numbers.into_iter().enumerate().for_each(|(at, number)| {
                            records.entry(number).or_default().push(at);
                        });
                        records
                    });
                    let records = records.get(&value.number).cloned().unwrap_or_default();
                    records.into_iter().for_each(|record| self.range(site, record, record + 1));
                }
            }
        }
        Ok(())
    }

    fn one(&mut self, site: usize, record: i64) {
        if let Ok(record) = usize::try_from(record) {
            self.range(site, record, record.saturating_add(1));
        }
    }

    /// Follows all references of used records.
    fn follow(&mut self) {
        while let Some((site, record)) = self.open.pop() {
            let links = self.links;
            if self.is_paired[site] {
                self.range(site, record / 2 * 2, record / 2 * 2 + 2);
            }
            for at in 0..self.from[site].len() {
                let link = self.from[site][at];
                match self.shares.get(&std::ptr::from_ref(link)) {
                    Some(starts) => {
                        let (start, end) = (starts[record], starts[record + 1]);
                        self.range(link.to, start, end);
                    }
                    None => {
                        let named = link.named(links.sites[site].record(record), links.sites[link.to].len());
                        let Some((start, count)) = named else { continue };
                        let end = usize::try_from(start.saturating_add(count)).unwrap_or(0);
                        self.range(link.to, usize::try_from(start.max(0)).unwrap_or(usize::MAX), end);
                    }
                }
            }
            for at in 0..self.beside[site].len() {
                let (other, starts) = &self.beside[site][at];
                let (other, start, end) = (*other, starts[record], starts[record + 1]);
                self.range(other, start, end);
            }
            for (to, index) in self.held.remove(&(site, record)).unwrap_or_default() {
                self.range(to, index, index + 1);
            }
        }
    }

    fn unused(&self, site: usize) -> Vec<usize> {
        let removed = self.removed.get(&site);
        let len = self.links.sites[site].len();
        let is_unused = |at: &usize| self.next[site][*at] == *at || removed.is_some_and(|removed| removed[*at]);
        (0..len).filter(is_unused).collect()
    }
}

/// The first record from this one on that is not used; the way there becomes shorter.
fn first(next: &mut [usize], mut at: usize) -> usize {
    while next[at] != at {
        next[at] = next[next[at]];
        at = next[at];
    }
    at
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
