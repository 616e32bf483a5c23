//! The references of a record, and what leads on from them, as a tree.

use super::references::{Lookup, Reference};
use crate::draft::Draft;
use crate::error::Result;

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
