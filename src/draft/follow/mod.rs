//! Records that move, are removed or are added, with all that refers to them: indices, runs, values of entities, rows
//! of visibility, and lumps that run parallel.
//!
//! What refers to what is declared beside the structs and rows of the dialects; nothing here knows a dialect. An edit
//! is computed as a whole, in time that is linear in the lumps that it reads, and then put into the draft. If a number
//! cannot follow, nothing is changed, and the error names it.

mod apply;
mod cascade;
mod change;
mod copies;
mod outside;
mod references;

use std::collections::BTreeMap;
use std::ops::Range;

use super::Draft;
use crate::dialect::{Key, Role};
use crate::error::{Error, ErrorKind, Hint, Place, Result};
use crate::links::{Links, Site};
use crate::record::Record;
use cascade::Removed;
use change::{Change, Source};
pub use references::{Branch, Branches, Reference, ReferenceTree, References};

/// What an edit of the order of records changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Followed {
    /// The fields that were changed, with the number of records in which they were.
    pub fields: Vec<FollowedField>,
    /// The records that were removed, by lump: those of the edit, and those that went with them.
    pub removed: Vec<FollowedRecords>,
    /// What may be wrong after the edit: values of entities that may name records and do not follow, and what refuses
    /// an edit that is not forced.
    pub warnings: Vec<String>,
}

/// A field whose numbers followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FollowedField {
    /// The lump, or the list in it.
    pub lump: String,
    /// The field, or the key of entities.
    pub field: String,
    /// The number of records.
    pub count: usize,
}

/// Records that were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FollowedRecords {
    /// The lump, or the list in it.
    pub lump: String,
    /// The number of records.
    pub count: usize,
}

/// Edits of the order and the number of records, with options. [`Draft::structure`] starts one.
///
/// ```
/// use bspkit::dialect::quake2;
/// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// let brushes = draft.table(quake2::BRUSHES)?.len();
/// let followed = draft.structure().splice(quake2::BRUSHES, 7..8, &[])?;
/// assert_eq!(draft.table(quake2::BRUSHES)?.len(), brushes - 1);
/// // Leafs do not list it any more, and later brushes have other numbers.
/// assert!(followed.fields.iter().any(|field| field.lump == "LEAFBRUSHES"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Structure<'d, 'a> {
    draft: &'d mut Draft<'a>,
    options: Options,
}

/// Records that replace those of a range, one by one; the rest of them is added or removed.
///
/// ```
/// use bspkit::Splice;
/// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// let one = Splice { range: 0..0, records: vec![0; 12] };
/// let followed = draft.structure().splice_lists(vec![("VERTEXES", vec![one])])?;
/// assert_eq!(followed.fields[0].lump, "EDGES");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Splice {
    /// The old records.
    pub range: Range<usize>,
    /// The new records, as bytes with little-endian numbers.
    pub records: Vec<u8>,
}

/// The options of an edit.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    cascade: bool,
    force: bool,
    /// Whether parts of removed wholes stay that the caller does not name.
    exact: bool,
    /// Whether counts that lumps state of each other must agree after this edit alone.
    whole: bool,
    /// Fields that are treated as if they had no meaning.
    ignored: Vec<String>,
}

impl<'a> Draft<'a> {
    /// Edits of the order and the number of records, which everything that refers to them follows.
    pub fn structure(&mut self) -> Structure<'_, 'a> {
        Structure { draft: self, options: Options::default() }
    }

    /// Brings the records of a lump into another order: record `i` of the new order is `permutation[i]` of the old one.
    /// Everything that refers to the records follows.
    ///
    /// ```
    /// use bspkit::dialect::quake2;
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// let texinfo = draft.table(quake2::TEXINFO)?.len();
    /// let reversed: Vec<usize> = (0..texinfo).rev().collect();
    /// let followed = draft.reorder(quake2::TEXINFO, &reversed)?;
    /// assert!(followed.fields.iter().any(|field| field.lump == "FACES" && field.field == "texinfo"));
    /// draft.reorder(quake2::TEXINFO, &reversed)?;
    /// assert!(draft.changes()?.is_empty());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Structure::reorder`].
    pub fn reorder<R: Record>(&mut self, key: Key<R>, permutation: &[usize]) -> Result<Followed> {
        self.structure().reorder(key, permutation)
    }

    /// Replaces a range of the records of a lump by others, fewer or more. Everything that refers to later records
    /// follows.
    ///
    /// # Errors
    /// As [`Structure::splice`].
    pub fn splice<R: Record>(&mut self, key: Key<R>, range: Range<usize>, records: &[R]) -> Result<Followed> {
        self.structure().splice(key, range, records)
    }

    /// Everything that refers to a record, and everything that it refers to.
    ///
    /// ```
    /// use bspkit::dialect::quake2;
    /// let draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// let references = draft.references(quake2::MODELS, 1)?;
    /// assert!(references.by.iter().any(|by| by.lump == "ENTITIES" && by.field == "model"));
    /// assert!(references.to.iter().any(|to| to.lump == "FACES"));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such record; those of an open lens that cannot be written.
    pub fn references<R: Record>(&self, key: Key<R>, index: usize) -> Result<References> {
        self.references_of(&site_name(key), index)
    }
}

impl<'a> Structure<'_, 'a> {
    /// Removes what needs a removed record too: the records that refer to it, the entities whose model it is, and the
    /// pairs of other entities. A field that has a number for none gets it instead.
    pub fn cascade(mut self, cascade: bool) -> Self {
        self.options.cascade = cascade;
        self
    }

    /// Makes edits although lumps of unknown content may refer to the records, or an engine has room for fewer of
    /// them; [`Followed::warnings`] has the reasons.
    pub fn force(mut self, force: bool) -> Self {
        self.options.force = force;
        self
    }

    /// Removes what the caller names and nothing else, not even parts of it that nothing else uses.
    pub fn exact(mut self) -> Self {
        self.options.exact = true;
        self
    }

    /// Refuses an edit that is not whole by itself, unless it is forced: after it a lump has another number of records
    /// than others call for, or a copied node or leaf is in no tree. Such a map is damaged, but one of several edits
    /// may leave it so until the next one.
    pub fn whole(mut self) -> Self {
        self.options.whole = true;
        self
    }

    /// Treats a field as if it did not refer to anything, to show that a test would see it.
    #[doc(hidden)]
    pub fn ignore(mut self, field: impl Into<String>) -> Self {
        self.options.ignored.push(field.into());
        self
    }

    /// As [`Draft::reorder`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the permutation does not have each index once. [`ErrorKind::Refused`], with the
    /// reason, if the order has a meaning that the new one would break, if a number would not fit its field, if the
    /// records belong to those of another lump, or if a lump of unknown content may refer to them. Also as
    /// [`Bsp::table`](crate::Bsp::table).
    pub fn reorder<R: Record>(self, key: Key<R>, permutation: &[usize]) -> Result<Followed> {
        self.draft.bsp().keyed(key)?;
        self.reorder_list(&site_name(key), permutation)
    }

    /// As [`Draft::splice`].
    ///
    /// The new records replace those of the range, one by one. If they are fewer, the others are removed: lists of
    /// what belongs together get shorter, and a record that something still needs is refused. If they are more, the
    /// others are added: they belong to the sets that the record before them belongs to. Numbers in new records name
    /// what they name before the edit.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the range is not one of the lump. [`ErrorKind::Refused`] as [`Self::reorder`], and,
    /// without [`Self::cascade`], with what needs a removed record.
    pub fn splice<R: Record>(self, key: Key<R>, range: Range<usize>, records: &[R]) -> Result<Followed> {
        self.draft.bsp().keyed(key)?;
        let mut bytes = vec![0; records.len() * R::SIZE];
        for (record, bytes) in records.iter().zip(bytes.chunks_exact_mut(R::SIZE)) {
            record.write(bytes);
        }
        self.splice_list(&site_name(key), range, bytes)
    }

    /// As [`Self::reorder`], for the records of a lump, or of a list as `LUMP.list`.
    ///
    /// # Errors
    /// As [`Self::reorder`].
    pub fn reorder_list(self, list: &str, permutation: &[usize]) -> Result<Followed> {
        let Structure { draft, options } = self;
        draft.follow(&options, |links| reorder(links, list, permutation))
    }

    /// As [`Self::splice`], with records as bytes with little-endian numbers.
    ///
    /// # Errors
    /// As [`Self::splice`]; [`ErrorKind::Argument`] if the bytes are not whole records.
    pub fn splice_list(self, list: &str, range: Range<usize>, records: Vec<u8>) -> Result<Followed> {
        let Structure { draft, options } = self;
        let splices = vec![Splice { range, records }];
        draft.follow(&options, |links| spliced(links, vec![(list, splices)]))
    }

    /// As [`Self::splice_list`], for many ranges of several lists at once, those of a list in order. All numbers in new
    /// records name what they name before the edit.
    pub fn splice_lists(self, lists: Vec<(&str, Vec<Splice>)>) -> Result<Followed> {
        let Structure { draft, options } = self;
        draft.follow(&options, |links| spliced(links, lists))
    }

    /// As [`Self::reorder_list`], for several lists at once.
    pub fn reorder_lists(self, lists: &[(&str, &[usize])]) -> Result<Followed> {
        let Structure { draft, options } = self;
        draft.follow(&options, |links| reorders(links, lists))
    }

    /// Removes records of several lists at once, each list by name with the numbers of its records. Only what is left
    /// counts as needing them.
    ///
    /// ```
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// let followed = draft.structure().remove(&[("BRUSHES", &[7, 9]), ("LEAFBRUSHES", &[0])])?;
    /// assert!(followed.removed.iter().any(|removed| removed.lump == "BRUSHES" && removed.count == 2));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::splice`].
    pub fn remove(self, lists: &[(&str, &[usize])]) -> Result<Followed> {
        let Structure { draft, options } = self;
        draft.follow(&options, |links| remove(links, lists))
    }

    /// Adds copies of the records of a range after them. Each copy is where its original is: in the same sets, and in
    /// the lists that name it, such as the brushes of leafs. A range that goes over the border of a set is copied part
    /// by part: the copies of each part follow it. Parts that a record shares with no other are copied with
    /// it, such as the sides of a brush, and so is a record that it names and that names it, such as a displacement
    /// and its face. Copies that belong together name each other.
    ///
    /// ```
    /// use bspkit::dialect::quake2;
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// let sides = draft.table(quake2::BRUSHSIDES)?.len();
    /// draft.structure().duplicate_list("BRUSHES", 7..8)?;
    /// let brushes = draft.table(quake2::BRUSHES)?;
    /// let [old, new] = [7, 8].map(|index| brushes.get(index).unwrap());
    /// assert_eq!(old.side_count, new.side_count);
    /// assert_ne!(old.first_side, new.first_side);
    /// assert_eq!(draft.table(quake2::BRUSHSIDES)?.len(), sides + usize::try_from(new.side_count)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::splice`]. [`ErrorKind::Refused`] for models, which share their faces and trees with no other:
    /// `models` of the crate `bspkit-ops` copies these.
    pub fn duplicate_list(self, list: &str, range: Range<usize>) -> Result<Followed> {
        let Structure { draft, options } = self;
        draft.follow(&options, |links| duplicate(links, list, range, &options))
    }
}

/// The name of a key's records.
fn site_name<R: Record>(key: Key<R>) -> String {
    let dot = if key.list_name().is_empty() { "" } else { "." };
    format!("{}{dot}{}", key.lump(), key.list_name())
}

/// The site of a name, in upper or lower case.
fn find(links: &Links<'_>, name: &str) -> Result<usize> {
    let found = links.sites.iter().position(|site| site.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let names: Vec<&str> = links.sites.iter().map(|site| site.name.as_str()).collect();
        Error::new(ErrorKind::NotFound, format!("the map has no records {name}")).with_hint(crate::near::or_all(
            name,
            &names,
            "it has records in",
        ))
    })
}

#[cold]
fn refused(lump: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message.into()).at(Place::default().lump(lump))
}

// What an edit does to the lists that the caller names.

/// An edit, before it is known what follows. All numbers in it are those before the edit.
#[derive(Default)]
struct Edit {
    /// The lists with another order or other records.
    lists: BTreeMap<usize, List>,
    /// The records that are removed from other lists.
    removed: Removed,
}

/// What an edit does to a list.
struct List {
    /// The new records, as bytes.
    records: Vec<u8>,
    what: What,
    /// The range of which the new records are copies, if the caller names it.
    copied: Option<Range<usize>>,
}

enum What {
    /// The old record that comes to each place.
    Order(Vec<usize>),
    /// Ranges of old records that are replaced by new ones, in order.
    Splices(Vec<Spliced>),
}

/// The old records from `start` to `end` are replaced by new ones, some of which are copies of old ones; `first` is the
/// index of the first one among all new records of the list.
struct Spliced {
    start: usize,
    end: usize,
    first: usize,
    like: Vec<Option<usize>>,
}

fn reorder(links: &Links<'_>, list: &str, permutation: &[usize]) -> Result<Edit> {
    reorders(links, &[(list, permutation)])
}

fn reorders(links: &Links<'_>, lists: &[(&str, &[usize])]) -> Result<Edit> {
    let mut edit = Edit::default();
    for (list, permutation) in lists {
        let site = find(links, list)?;
        let len = links.sites[site].len();
        let mut seen = vec![false; len];
        let is_new = |index: &usize| seen.get_mut(*index).is_some_and(|seen| !std::mem::replace(seen, true));
        if permutation.len() != len || !permutation.iter().all(is_new) {
            let message = format!("an order of {len} records has each number from 0 on once; this one does not");
            return Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&links.sites[site].name)));
        }
        edit.add(links, site, Vec::new(), What::Order(permutation.to_vec()))?;
    }
    Ok(edit)
}

fn spliced(links: &Links<'_>, lists: Vec<(&str, Vec<Splice>)>) -> Result<Edit> {
    let mut edit = Edit::default();
    for (list, splices) in lists {
        let at = find(links, list)?;
        let site = &links.sites[at];
        let wrong = |message| Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&site.name)));
        let (mut records, mut spliced, mut before): (_, Vec<Spliced>, _) = (Vec::new(), Vec::new(), 0);
        for Splice { range, records: new } in splices {
            check_range(site, &range)?;
            if range.start < before {
                return wrong(format!("the ranges that are replaced overlap at {}", range.start));
            }
            before = range.end;
            let size = site.record.size;
            if !new.len().is_multiple_of(size) {
                return wrong(format!("{} bytes are not whole records of {size}", new.len()));
            }
            let like = vec![None; new.len() / size];
            spliced.push(Spliced { start: range.start, end: range.end, first: records.len() / size, like });
            records.extend(new);
        }
        edit.add(links, at, records, What::Splices(spliced))?;
    }
    Ok(edit)
}

fn duplicate(links: &Links<'_>, list: &str, range: Range<usize>, options: &Options) -> Result<Edit> {
    let site = find(links, list)?;
    check_range(&links.sites[site], &range)?;
    if options.whole && !options.force && links.is_tree(site) && !links.is_role(site, Role::Models) {
        let message = "a copy of a node or leaf alone would be in no tree";
        return Err(refused(&links.sites[site].name, message).with_hint(Hint::Tree));
    }
    if let Some(owner) = copies::whole(links, site, &range).filter(|_| options.whole && !options.force) {
        let message = format!("a copy would be in no set: {owner} has its records as a whole, without others");
        return Err(refused(&links.sites[site].name, message).with_hint("a copy of what has them has copies of them"));
    }
    copies::edit(links, site, range)
}

fn remove(links: &Links<'_>, lists: &[(&str, &[usize])]) -> Result<Edit> {
    let mut removed = Removed::new();
    for (list, records) in lists {
        let site = find(links, list)?;
        let len = links.sites[site].len();
        let gone = removed.entry(site).or_insert_with(|| vec![false; len]);
        for index in *records {
            check_range(&links.sites[site], &(*index..index.saturating_add(1)))?;
            gone[*index] = true;
        }
    }
    Ok(Edit { removed, ..Edit::default() })
}

fn check_range(site: &Site<'_>, range: &Range<usize>) -> Result<()> {
    let len = site.len();
    match range.start <= range.end && range.end <= len {
        true => Ok(()),
        false => {
            let message = format!("{} has {len} records, and no range {}..{}", site.name, range.start, range.end);
            Err(Error::new(ErrorKind::Argument, message).at(Place::default().lump(&site.name)))
        }
    }
}

impl Edit {
    fn add(&mut self, links: &Links<'_>, site: usize, records: Vec<u8>, what: What) -> Result<()> {
        match self.lists.insert(site, List { records, what, copied: None }) {
            None => Ok(()),
            Some(_) => {
                let error = Error::new(ErrorKind::Argument, "the list is given twice");
                Err(error.at(Place::default().lump(&links.sites[site].name)))
            }
        }
    }

    /// The new records of a list, as bytes.
    fn records(&self, site: usize) -> &[u8] {
        self.lists.get(&site).map_or(&[], |list| &list.records)
    }

    /// The bytes of a record that the edit replaces in its place.
    fn replaced(&self, site: usize, size: usize, index: usize) -> Option<&[u8]> {
        let list = self.lists.get(&site)?;
        let What::Splices(splices) = &list.what else { return None };
        let spliced = splices.get(splices.partition_point(|spliced| spliced.end <= index))?;
        let at = index.checked_sub(spliced.start).filter(|at| *at < spliced.like.len())? + spliced.first;
        list.records.get(at * size..(at + 1) * size)
    }

    /// The bytes of each record that the edit adds to a list, beside those that replace others.
    fn added(&self, site: usize, size: usize) -> impl Iterator<Item = &[u8]> {
        let list = self.lists.get(&site);
        let spliced = list.into_iter().flat_map(|list| match &list.what {
            What::Splices(splices) => &splices[..],
            What::Order(_) => &[],
        });
        let added = spliced.flat_map(|spliced| {
            spliced.first + spliced.like.len().min(spliced.end - spliced.start)..spliced.first + spliced.like.len()
        });
        added.filter_map(move |at| list?.records.get(at * size..(at + 1) * size))
    }

    /// Which records it removes.
    fn removes(&self, links: &Links<'_>) -> Removed {
        let mut removed = self.removed.clone();
        for (site, list) in &self.lists {
            let What::Splices(splices) = &list.what else { continue };
            let len = links.sites[*site].len();
            let gone = removed.entry(*site).or_insert_with(|| vec![false; len]);
            for Spliced { start, end, like, .. } in splices {
                gone[(start + like.len()).min(*end)..*end].fill(true);
            }
        }
        removed
    }

    /// The new places of the records of each list, after all that is removed is known.
    fn changes(&self, links: &Links<'_>, removed: &Removed) -> Result<Vec<(usize, Change)>> {
        let change = |(at, list): (&usize, &List)| {
            let (site, removed) = (&links.sites[*at], removed.get(at));
            let change = list.change(site, |index| removed.is_none_or(|removed| !removed[*index]));
            cascade::order(site, &change, self.records(*at)).map(|()| (*at, change))
        };
        self.lists.iter().map(change).collect()
    }
}

impl List {
    fn change(&self, site: &Site<'_>, stays: impl Fn(&usize) -> bool) -> Change {
        let splices = match &self.what {
            What::Order(permutation) => return Change::permuted(permutation.clone()),
            What::Splices(splices) => splices,
        };
        let mut content = Vec::with_capacity(site.len() + self.records.len() / site.record.size);
        let (mut replaced, mut next) = (Vec::new(), 0);
        for Spliced { start, end, first, like } in splices {
            content.extend((next..*start).filter(&stays).map(Source::Old));
            for (at, like) in like.iter().enumerate() {
                if start + at < *end {
                    replaced.push((start + at, content.len()));
                }
                content.push(Source::New(first + at, *like));
            }
            next = *end;
        }
        content.extend((next..site.len()).filter(&stays).map(Source::Old));
        let change = Change::spliced(site.len(), content, &replaced);
        match &self.copied {
            Some(copied) => change.with_copies_of(copied.clone()),
            None => change,
        }
    }
}
