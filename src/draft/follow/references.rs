//! Who refers to a record, and what it refers to: directly, and as a tree.

use std::collections::BTreeMap;

use super::{find, outside};
use crate::bsp::Bsp;
use crate::bytes::word;
use crate::content::entities::Entities;
use crate::dialect::EntityForm;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::links::{How, Link, Links};

// Who refers to a record, and what it refers to.

/// The references of a record in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct References {
    /// What refers to it, in the order of the lumps.
    pub by: Vec<Reference>,
    /// What it refers to, in the order of its fields.
    pub to: Vec<Reference>,
}

/// A reference from or to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Reference {
    /// The lump of the other record, or `LUMP.list`; `ENTITIES` for an entity.
    pub lump: String,
    /// The other record, or the first of several.
    pub record: usize,
    /// How many records there are from that one on.
    pub count: usize,
    /// The field that has the number, or the key.
    pub field: String,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Reference { lump, record, count, .. } = self;
        match count {
            1 => write!(f, "{lump}[{record}]"),
            _ => write!(f, "{lump}[{record}..{}]", record + count),
        }
    }
}

impl Draft<'_> {
    /// As [`Draft::references`], for a record of a lump, or of a list as `LUMP.list`.
    ///
    /// # Errors
    /// As [`Draft::references`].
    pub fn references_of(&self, list: &str, index: usize) -> Result<References> {
        let lookup = Lookup::of(self.view()?.unwrap_or_else(|| self.bsp.clone()))?;
        let site = lookup.site(list, index)?;
        let all = |is_by| lookup.references(site, index, is_by, usize::MAX).map(|found| found.list);
        Ok(References { by: all(true)?, to: all(false)? })
    }
}

/// What the references of records are found in.
pub(super) struct Lookup<'a> {
    map: Bsp<'a>,
    links: Links<'a>,
    entities: Option<Entities<'a>>,
}

impl<'a> Lookup<'a> {
    pub(super) fn of(map: Bsp<'a>) -> Result<Self> {
        let entities = outside::read(&map)?.map(|(_, entities)| entities);
        Ok(Lookup { links: map.links()?, entities, map })
    }

    /// The list of a name that has a record of this number.
    pub(super) fn site(&self, list: &str, index: usize) -> Result<usize> {
        let site = find(&self.links, list)?;
        let (len, name) = (self.links.sites[site].len(), self.name(site));
        if index >= len {
            let message = format!("{name} has {len} records, and no record {index}");
            return Err(Error::new(ErrorKind::NotFound, message).at(Place::default().lump(name)));
        }
        Ok(site)
    }

    pub(super) fn name(&self, site: usize) -> &str {
        &self.links.sites[site].name
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.links.site(name)
    }

    /// What refers to a record, or what it refers to; at most `most` are kept.
    pub(super) fn references(&self, site: usize, index: usize, is_by: bool, most: usize) -> Result<Listed> {
        let none = || Listed { list: Vec::new(), total: 0, most };
        let (links, mut found) = (&self.links, Found { by: none(), to: none() });
        for link in &links.links {
            if is_by && link.to == site {
                by_link(links, link, index, &mut found);
            }
            if !is_by && link.from == site {
                to(links, link, index, &mut found.to);
            }
        }
        beside(links, site, index, &mut found);
        if is_by {
            self.outside(site, index, &mut found)?;
        }
        Ok(if is_by { found.by } else { found.to })
    }
}

/// References that were found, and their number: millions of records may refer to one.
pub(super) struct Listed {
    pub(super) list: Vec<Reference>,
    pub(super) total: usize,
    most: usize,
}

impl Listed {
    fn add(&mut self, lump: &str, record: usize, count: usize, field: &str) {
        self.total += 1;
        if self.list.len() < self.most {
            self.list.push(Reference { lump: lump.to_owned(), record, count, field: field.to_owned() });
        }
    }
}

/// Both directions.
struct Found {
    by: Listed,
    to: Listed,
}

fn by_link(links: &Links<'_>, link: &Link, index: usize, found: &mut Found) {
    let (from, len) = (&links.sites[link.from], links.sites[link.to].len());
    let mut share = if let How::Share(skip) = link.how { skip } else { 0 };
    for record in 0..from.len() {
        let named = match link.how {
            How::Share(_) => {
                let count = usize::try_from(link.word.get(from.record(record))).unwrap_or(0);
                share = share.saturating_add(count);
                Some((share - count, count))
            }
            _ => link
                .named(from.record(record), len)
                .and_then(|(first, count)| usize::try_from(first).ok().zip(usize::try_from(count).ok())),
        };
        if named.is_some_and(|(first, count)| (first..first.saturating_add(count)).contains(&index)) {
            found.by.add(&from.name, record, 1, &link.field);
        }
    }
}

fn to(links: &Links<'_>, link: &Link, index: usize, found: &mut Listed) {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let named = link.named(from.record(index), to.len());
    if let Some((first, count)) = named.and_then(|(first, count)| Some((usize::try_from(first).ok()?, count))) {
        found.add(&to.name, first, usize::try_from(count).unwrap_or(0), &link.field);
    }
}

/// Records that belong to it by their order.
fn beside(links: &Links<'_>, site: usize, index: usize, found: &mut Found) {
    for (other, list) in links.sites.iter().enumerate() {
        let Some((to, starts)) = links.shares(other) else { continue };
        if starts.last() != Some(&list.len()) {
            continue;
        }
        if to == site
            && let Some([start, end]) = starts.get(index..index + 2)
            && start < end
        {
            found.by.add(&list.name, *start, end - start, "its order");
        } else if other == site {
            let owner = starts.partition_point(|start| *start <= index) - 1;
            found.to.add(&links.sites[to].name, owner, 1, "its order");
        }
    }
}

impl Lookup<'_> {
    /// Blocks, and values of entities.
    fn outside(&self, site: usize, index: usize, found: &mut Found) -> Result<()> {
        let Lookup { map, links, entities } = self;
        for (slot, name, blocks) in
            links.blocks.iter().filter(|(_, _, blocks)| links.referred(blocks.lump) == Some(site))
        {
            let bytes = map.little_endian(*slot)?;
            for (nth, block) in (blocks.find)(&bytes).into_iter().flatten().enumerate() {
                if word(&bytes, block.at).and_then(|number| usize::try_from(number).ok()) == Some(index) {
                    found.by.add(name, nth, 1, "model");
                }
            }
        }
        for (slot, name, _, places) in links.places.iter().filter(|(_, _, lump, _)| links.referred(lump) == Some(site))
        {
            let bytes = map.little_endian(*slot)?;
            let blocks = links.blocks.iter().find(|(other, ..)| other == slot);
            let ends: Vec<usize> = blocks.map_or_else(Vec::new, |(_, _, blocks)| {
                (blocks.find)(&bytes).unwrap_or_default().into_iter().map(|block| block.range.end).collect()
            });
            for at in places {
                if word(&bytes, *at).and_then(|number| usize::try_from(number).ok()) == Some(index) {
                    found.by.add(name, ends.partition_point(|end| end <= at), 1, "brush");
                }
            }
        }
        let Some(texts) = entities else { return Ok(()) };
        let number = i64::try_from(index).unwrap_or(i64::MAX);
        let mut own = BTreeMap::new();
        let at = |field| links.sites[site].column(field).get(index).copied();
        for value in texts.iter().flat_map(|entity| entity.record_values(map.dialect())) {
            if links.referred(value.reference.lump) != Some(site) {
                continue;
            }
            let is_it = match value.reference.form {
                EntityForm::Field(field) => own.entry(field).or_insert_with(|| at(field)) == &Some(value.number),
                EntityForm::Starred | EntityForm::Index => value.number == number,
            };
            if is_it {
                found.by.add("ENTITIES", value.entity, 1, value.reference.key);
            }
        }
        Ok(())
    }
}

// The references of a record, and what leads on from them, as a tree.

/// How many branches a tree has in all.
const MOST: usize = 2000;

/// What refers to a record and what it refers to, with what leads on from each.
///
/// ```
/// let draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// let tree = draft.reference_tree("MODELS", 1, 2, 20)?;
/// let faces = tree.to.branches.iter().find(|branch| branch.reference.lump == "FACES").unwrap();
/// assert!(faces.next.branches.iter().any(|branch| branch.reference.lump == "PLANES"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ReferenceTree {
    /// What refers to it.
    pub by: Branches,
    /// What it refers to.
    pub to: Branches,
}

/// References, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Branches {
    /// The references that are listed.
    pub branches: Vec<Branch>,
    /// How many more there are.
    pub more: usize,
}

/// A reference with those that lead on from it, in the same direction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Branch {
    /// The reference.
    #[cfg_attr(feature = "json", serde(flatten))]
    pub reference: Reference,
    /// Whether the way from the root has these records already: the branch ends here.
    pub is_cycle: bool,
    /// What leads on from the first of the records.
    pub next: Branches,
}

/// One direction of a tree.
struct Growth<'g, 'a> {
    lookup: &'g Lookup<'a>,
    is_by: bool,
    /// How many references are listed for a record.
    most: usize,
    /// How many branches there may still be.
    room: usize,
    /// The records from the root on.
    way: Vec<(String, usize)>,
}

impl Draft<'_> {
    /// The references of a record of a lump, or of a list as `LUMP.list`, in both directions, with those of what they
    /// lead to: `depth` levels, at most `most` for each record, and 2,000 in all. Of several records the branch goes on
    /// from the first one.
    ///
    /// # Errors
    /// As [`Draft::references`].
    pub fn reference_tree(&self, list: &str, index: usize, depth: usize, most: usize) -> Result<ReferenceTree> {
        let map = self.view()?.unwrap_or_else(|| self.bsp().clone());
        let lookup = Lookup::of(map)?;
        let site = lookup.site(list, index)?;
        let root = (lookup.name(site).to_owned(), index);
        let grow = |is_by: bool| {
            let mut growth = Growth { lookup: &lookup, is_by, most, room: MOST, way: vec![root.clone()] };
            growth.branches(index, depth)
        };
        Ok(ReferenceTree { by: grow(true)?, to: grow(false)? })
    }
}

impl Growth<'_, '_> {
    /// The branches of the record at the end of the way.
    fn branches(&mut self, index: usize, depth: usize) -> Result<Branches> {
        let site = self.way.last().and_then(|(name, _)| self.lookup.named(name));
        let Some(site) = site.filter(|_| depth > 0) else { return Ok(Branches::default()) };
        let found = self.lookup.references(site, index, self.is_by, self.most.min(self.room))?;
        let mut branches = Vec::new();
        for reference in found.list {
            let is_on_way = |(name, record): &(String, usize)| {
                *name == reference.lump && (reference.record..reference.record + reference.count).contains(record)
            };
            branches.push(Branch { is_cycle: self.way.iter().any(is_on_way), reference, next: Branches::default() });
        }
        self.room -= branches.len();
        for branch in branches.iter_mut().filter(|branch| !branch.is_cycle) {
            self.way.push((branch.reference.lump.clone(), branch.reference.record));
            branch.next = self.branches(branch.reference.record, depth - 1)?;
            self.way.pop();
        }
        let more = found.total - branches.len();
        Ok(Branches { branches, more })
    }
}
