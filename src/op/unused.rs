//! Records that nothing needs: what is left over by compilers and by edits.
//!
//! Which lumps have records that serve only those that refer to them is a fact of the dialect
//! ([`crate::dialect::Dialect::owned`]). Records of other lumps are content. So are the world, records whose number has
//! a meaning, and models that an entity names. Whatever these refer to, directly or over others, is used; the rest is
//! not. The time is linear in the records and their references.

mod bits;
mod marks;

use crate::bsp::{Bsp, Links};
use crate::content::entities::Entities;
use crate::draft::follow::{entities, plain};
use crate::error::Result;
use marks::Marks;

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

fn entities_of<'a>(map: &Bsp<'a>) -> Result<Option<Entities<'a>>> {
    Ok(entities::read(map)?.map(|(_, entities)| entities))
}
