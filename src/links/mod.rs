//! The references of a map: which numbers in the records of which lump name records of which other lump. They are
//! compiled from what a dialect declares beside its structs and rows. Edits that move records, checks and merges go by
//! them, so a new reference is declared once.
//!
//! ```
//! use bspkit::links::Link;
//! let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let links = map.links()?;
//! let faces = links.named("FACES").unwrap();
//! let is_plane = |link: &&Link| links.sites[link.from].name == "FACES" && link.field == "plane";
//! let plane = links.links.iter().find(is_plane).unwrap();
//! assert_eq!(links.sites[plane.to].name, "PLANES");
//! let (first, count) = plane.named(faces.record(0), links.sites[plane.to].len()).unwrap();
//! assert!(first >= 0 && count == 1);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod link;

use std::convert::Infallible;
use std::ops::Range;
use std::sync::OnceLock;

use crate::bsp::{Bsp, Records};
use crate::bytes::{Data, float};
use crate::dialect::{Blocks, Each, Form, Holds, LightLumps, LightModel, Parallel, Role, Row};
use crate::error::Result;
use crate::file::{Slot, SlotId};
use crate::record::{Cell, Count, Gone, Meaning, Number, Part, RecordInfo, Shape};
pub use link::{How, Link, Word, parted, star, stars};
use link::{Test, When};
pub(crate) use link::{Unless, plain};

/// The records of a lump, or of a list in it, as references see them: the start of a link, or its end.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let links = map.links()?;
/// let faces = links.named("FACES").unwrap();
/// let (count, first_edges) = (faces.len(), faces.column("first_edge"));
/// assert_eq!((faces.records().len(), first_edges.len()), (count, count));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[non_exhaustive]
pub struct Site<'a> {
    /// The slot of the lump.
    pub slot: SlotId,
    /// `LUMP`, or `LUMP.list`.
    pub name: String,
    /// The row that describes the lump.
    pub row: &'static Row,
    /// Their struct.
    pub record: &'static RecordInfo,
    /// The bytes of the whole slot, with numbers little-endian.
    pub bytes: Data<'a>,
    /// The range of the whole records in them.
    pub range: Range<usize>,
    /// The offset of their count, if they have one.
    pub count_at: Option<usize>,
    /// Whether records of other lists name them one by one, so that their order says something.
    pub listed: bool,
    /// The list whose records they belong to by their order.
    pub parallel: Option<Parallel>,
    /// A field: records with the same number in it follow each other.
    pub grouped: Option<&'static str>,
    /// What is before and after the index of a record in the names of embedded files that belong to it.
    pub files: &'static [(&'static str, &'static str)],
}

impl Site<'_> {
    /// How many records it has.
    pub fn len(&self) -> usize {
        self.range.len() / self.record.size
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record that an embedded file is for, by its name, and the place of the number in the name.
    pub fn named_by_file(&self, name: &[u8]) -> Option<(Range<usize>, usize)> {
        self.files.iter().find_map(|(before, after)| {
            let (start, end) = (before.len(), name.len().checked_sub(after.len())?);
            let is_form = name.get(..start)?.eq_ignore_ascii_case(before.as_bytes())
                && name[end..].eq_ignore_ascii_case(after.as_bytes());
            let digits = name.get(start..end).filter(|digits| is_form && digits.iter().all(u8::is_ascii_digit))?;
            Some((start..end, std::str::from_utf8(digits).ok()?.parse().ok()?))
        })
    }

    /// The bytes of a record; empty if there is none.
    pub fn record(&self, index: usize) -> &[u8] {
        let start = index.checked_mul(self.record.size);
        let range = start.and_then(|start| Some(start..start.checked_add(self.record.size)?));
        range.and_then(|range| self.all().get(range)).unwrap_or_default()
    }

    /// The bytes of all records, one after the other.
    pub fn all(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }

    /// Calls a function with some records and their numbers in a field. The type is matched once, not per record.
    #[inline]
    pub fn numbers(&self, word: Word, records: impl Iterator<Item = usize>, mut hand: impl FnMut(usize, &[u8], i64)) {
        let (all, size) = (self.all(), self.record.size);
        macro_rules! each {
            ($type:ty) => {
                for index in records {
                    let rest = index.checked_mul(size).and_then(|start| all.get(start..));
                    let Some(record) = rest.and_then(|rest| rest.get(..size)) else { continue };
                    let Some(number) = record.get(word.at..).and_then(|rest| rest.first_chunk()) else { continue };
                    hand(index, record, i64::from(<$type>::from_le_bytes(*number)));
                }
            };
        }
        match word.number {
            Number::U8 => each!(u8),
            Number::I8 => each!(i8),
            Number::U16 => each!(u16),
            Number::I16 => each!(i16),
            Number::U32 => each!(u32),
            Number::I32 => each!(i32),
            Number::F32 => {}
        }
    }

    /// Calls a function with the records whose number in a field is outside of a range, and with these numbers.
    pub fn outside(&self, word: Word, good: Range<i64>, hand: &mut dyn FnMut(usize, &[u8], i64)) {
        macro_rules! each {
            ($type:ty) => {
                for (index, record) in self.records().enumerate() {
                    let Some(number) = record.get(word.at..).and_then(|rest| rest.first_chunk()) else { continue };
                    let number = i64::from(<$type>::from_le_bytes(*number));
                    if !good.contains(&number) {
                        hand(index, record, number);
                    }
                }
            };
        }
        match word.number {
            Number::U8 => each!(u8),
            Number::I8 => each!(i8),
            Number::U16 => each!(u16),
            Number::I16 => each!(i16),
            Number::U32 => each!(u32),
            Number::I32 => each!(i32),
            Number::F32 => {}
        }
    }

    /// The bytes of each record.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.all().chunks_exact(self.record.size)
    }

    /// Whether bytes follow that are less than a record.
    pub fn is_ragged(&self) -> bool {
        matches!(self.row.form, Form::Array(_)) && self.range.end != self.bytes.len()
    }

    /// The number in a field of a record, which counts something.
    pub fn number(&self, field: &str, record: &[u8]) -> usize {
        let number = self.record.field(field).and_then(|field| match field.shape {
            Shape::Number(number) => number.integer(record.get(field.offset..)?),
            _ => None,
        });
        number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    }

    /// The numbers that a field of all records has; none if there is no such field, or if it is not one number.
    pub fn column(&self, field: &str) -> Vec<i64> {
        let Some(field) = self.record.field(field) else { return Vec::new() };
        let Shape::Number(number) = field.shape else { return Vec::new() };
        (0..self.len()).filter_map(|index| number.integer(self.record(index).get(field.offset..)?)).collect()
    }

    /// Whether its records are opposite pairs. Not all compilers write planes so.
    pub fn is_paired(&self) -> bool {
        let len = self.len();
        let is_pair = |pair: usize| self.is_opposite(self.record(2 * pair), self.record(2 * pair + 1));
        self.row.order.paired && len > 0 && len.is_multiple_of(2) && (0..len / 2).all(is_pair)
    }

    /// Whether two records of it are opposite planes.
    pub(crate) fn is_opposite(&self, one: &[u8], other: &[u8]) -> bool {
        self.plane().is_some_and(|mut numbers| {
            numbers.all(|at| {
                let sum = float(one, at).zip(float(other, at)).map(|(one, other)| one + other);
                sum.is_some_and(|sum| sum.abs() < 0.01)
            })
        })
    }

    /// A record with the opposite plane, and all else as it is; `None` if it is not a plane. No number of it is -0.
    pub fn opposite(&self, record: &[u8]) -> Option<Vec<u8>> {
        let mut other = record.to_vec();
        for at in self.plane()? {
            *other.get_mut(at..)?.first_chunk_mut()? = (0.0 - float(record, at)?).to_le_bytes();
        }
        Some(other)
    }

    /// Whether a record of it is a plane across one of the three axes that looks against the direction of that axis.
    pub fn is_against_axis(&self, record: &[u8]) -> bool {
        let normal = self.plane().into_iter().flatten().take(3);
        let normal: Vec<f32> = normal.filter_map(|at| float(record, at)).collect();
        normal.contains(&-1.0) && normal.iter().filter(|number| **number == 0.0).count() == 2
    }

    /// Where the four numbers of a plane are in a record: its normal, then its distance. `None` if it is not a plane.
    fn plane(&self) -> Option<impl Iterator<Item = usize> + use<>> {
        let (normal, distance) = (self.record.field("normal")?, self.record.field("distance")?);
        let end = normal.offset + normal.shape.size();
        let is_known = matches!(distance.shape, Shape::Number(_)) && distance.offset == end;
        is_known.then_some((normal.offset..end + 4).step_by(4))
    }
}

/// All references between the records of a map: [`Bsp::links`].
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
/// let links = map.links()?;
/// let faces = links.site("FACES").unwrap();
/// let to_faces = links.links.iter().filter(|link| link.to == faces);
/// let mut from: Vec<&str> = to_faces.map(|link| links.sites[link.from].name.as_str()).collect();
/// from.sort();
/// assert_eq!(from, ["MARKSURFACES", "MODELS", "NODES"]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[non_exhaustive]
pub struct Links<'a> {
    pub(crate) bsp: Bsp<'a>,
    /// The lists of records; links name them by their index.
    pub sites: Vec<Site<'a>>,
    /// The fields that name records.
    pub links: Vec<Link>,
    /// Lumps with blocks that belong to records.
    pub blocks: Vec<(SlotId, String, Blocks)>,
    /// Lumps with numbers of records of another lump, and their offsets.
    pub places: Vec<(SlotId, String, &'static str, Vec<usize>)>,
    /// Lumps with parts that belong to records, in a form of their own.
    pub parts: Vec<(SlotId, String, Parallel)>,
    /// Lumps in which others refer to bytes.
    pub(crate) offsets: Vec<&'static str>,
    /// Lumps that may refer to records in an unknown way, with the reason.
    pub unknown: Vec<(String, Holds, String)>,
    /// What [`Links::torn_text`] found.
    pub(crate) torn: OnceLock<Option<(String, String)>>,
}

/// The content of a slot, for [`Links::among`].
///
/// ```
/// use bspkit::links::{Content, Links};
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let slot = map.slot("faces")?;
/// let faces = Content { row: map.row(slot)?, lists: map.lists("faces")?, bytes: map.little_endian(slot.id)? };
/// let links = Links::among(&map, |of| Ok((of.id == slot.id).then(|| faces.clone())));
/// assert_eq!(links.sites.len(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone)]
pub struct Content<'a> {
    /// The row that describes it.
    pub row: &'static Row,
    /// Its records, list by list.
    pub lists: Vec<Records<'a>>,
    /// Its bytes, with numbers little-endian.
    pub bytes: Data<'a>,
}

impl<'a> Bsp<'a> {
    /// The references between the records of the map.
    ///
    /// # Errors
    /// Those of a lump that cannot be decompressed, or whose lists do not fit.
    pub fn links(&self) -> Result<Links<'a>> {
        self.links_with(|_| None)
    }

    /// The references, where some lumps are taken for other records than those that the map has in them.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// let links = map.links_with(|_| None)?;
    /// assert_eq!(links.sites.len(), map.links()?.sites.len());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bsp::links`].
    pub fn links_with(&self, mut other: impl FnMut(&Slot) -> Option<Content<'a>>) -> Result<Links<'a>> {
        let mut all = Links::new(self);
        for slot in self.slots() {
            if let Some(content) = other(slot) {
                all.add(slot, &content);
                continue;
            }
            let row = match self.row(slot) {
                Ok(row) if slot.length != 0 || row.record().is_some() => row,
                _ if slot.length == 0 => continue,
                Ok(row) => row,
                Err(why) => {
                    all.add_unknown(slot, why.to_string());
                    continue;
                }
            };
            let is_array = matches!(row.form, Form::Array(_) | Form::Lists(_));
            let bytes = match is_array || row.order.places.is_some() {
                true => self.little_endian(slot.id)?,
                false => Data::from(Vec::new()),
            };
            all.add(slot, &Content { row, lists: Records::lists(slot, row, bytes.clone())?, bytes });
        }
        all.compile();
        Ok(all)
    }
}

impl Bsp<'_> {
    /// The lumps that an offset leads to, in a record of this row whose struct names `usual`. Light is found by the
    /// first list of faces that has any, so that one offset may lead to two lumps.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/source/room_v21.bsp")?;
    /// let faces = map.row(map.slot("FACES")?)?;
    /// assert_eq!(map.offset_lumps(faces, "LIGHTING"), ["LIGHTING_HDR"]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn offset_lumps(&self, row: &Row, usual: &'static str) -> Vec<&'static str> {
        let has_any = |name: &str| self.slots().iter().any(|slot| slot.name == name && slot.length > 0);
        let mut lit: Vec<&str> = match self.dialect().light {
            LightModel::Faces(model) if model.lumps.iter().any(|lumps| lumps.light == usual) => {
                let own = model.lumps.iter().filter(|lumps| lumps.copied.is_none() && has_any(lumps.light));
                let faces = |lumps: &LightLumps| lumps.faces_of(|name| Ok::<_, Infallible>(has_any(name)));
                own.filter(|lumps| faces(lumps) == Ok(Some(row.lump))).map(|lumps| lumps.light).collect()
            }
            _ => Vec::new(),
        };
        lit.dedup();
        if lit.is_empty() { vec![row.order.instead_of(usual)] } else { lit }
    }
}

impl<'a> Links<'a> {
    /// The references between some records of a map: those that `read` returns for each slot, in the order of
    /// [`Bsp::slots`]. `None` leaves a slot out; an error is the reason why its content is not known, and
    /// [`Links::doubts`] has it. So a map can be looked at of which not all can be read.
    pub fn among(map: &Bsp<'a>, mut read: impl FnMut(&Slot) -> Result<Option<Content<'a>>, String>) -> Self {
        let mut all = Links::new(map);
        for slot in map.slots() {
            match read(slot) {
                Ok(Some(content)) => all.add(slot, &content),
                Ok(None) => {}
                Err(why) => all.add_unknown(slot, why),
            }
        }
        all.compile();
        all
    }

    /// No records yet: those of all lumps are added, and then [`Self::compile`] finds the references.
    fn new(bsp: &Bsp<'a>) -> Self {
        Links {
            bsp: bsp.clone(),
            sites: Vec::new(),
            links: Vec::new(),
            blocks: Vec::new(),
            places: Vec::new(),
            parts: Vec::new(),
            offsets: Vec::new(),
            unknown: Vec::new(),
            torn: OnceLock::new(),
        }
    }

    /// Adds a lump with content that is not known.
    fn add_unknown(&mut self, slot: &Slot, why: String) {
        self.unknown.push((slot.name.clone(), Holds::Unknown, why));
    }

    /// Adds the records of a lump, and what belongs to records of others.
    fn add(&mut self, slot: &Slot, content: &Content<'a>) {
        let Content { row, lists: records, bytes } = content;
        if row.order.holds != Holds::Nothing {
            let why = "its numbers are not declared one by one".to_owned();
            self.unknown.push((slot.name.clone(), row.order.holds, why));
        }
        if let Some(places) = &row.order.places {
            match (places.find)(bytes) {
                Some(found) => self.places.push((slot.id, slot.name.clone(), places.lump, found)),
                None => {
                    let holds = Holds::Only(std::slice::from_ref(&places.lump));
                    self.unknown.push((slot.name.clone(), holds, "its layout is not known".to_owned()));
                }
            }
        }
        self.blocks.extend(row.order.blocks.map(|blocks| (slot.id, slot.name.clone(), blocks)));
        if let (Form::Lens(_), Some(parallel)) = (row.form, row.order.parallel) {
            self.parts.push((slot.id, slot.name.clone(), parallel));
        }
        let lists = if let Form::Lists(lists) = row.form { lists } else { &[] };
        for records in records {
            let (list, span) = (lists.iter().find(|list| list.name == records.list()), records.span());
            self.sites.push(Site {
                slot: slot.id,
                name: records.name().to_owned(),
                row,
                record: span.record,
                bytes: bytes.clone(),
                range: span.range.start..span.range.start + span.count() * span.record.size,
                count_at: span.count_at,
                listed: list.map_or(row.order.listed, |list| list.listed),
                parallel: list.map_or(row.order.parallel, |list| list.parallel),
                grouped: list.map_or(row.order.grouped, |list| list.grouped),
                files: list.map_or(&[], |list| list.files),
            });
        }
    }

    /// The list that the records of a list belong to by their order, and the first of them for each of its records,
    /// followed by how many there have to be. `None` if they belong to none, or if there are none.
    pub fn shares(&self, index: usize) -> Option<(usize, Vec<usize>)> {
        let site = self.sites.get(index).filter(|site| !site.is_empty())?;
        let parallel = site.parallel?;
        let to = self.referred(parallel.lump).filter(|to| *to != index)?;
        let other = &self.sites[to];
        let count = |record: usize| match parallel.each {
            Each::Several => site.len() / other.len().max(1),
            Each::Counted(field) => other.number(field, other.record(record)),
            Each::One | Each::Twin | Each::Part => 1,
        };
        let mut starts = Vec::with_capacity(other.len() + 1);
        let mut next = 0_usize;
        for record in 0..other.len() {
            starts.push(next);
            next = next.saturating_add(count(record));
        }
        starts.push(next);
        Some((to, starts))
    }

    /// Whether a list is the lump of a role.
    pub(crate) fn is_role(&self, site: usize, role: Role) -> bool {
        self.bsp.role(role).is_some_and(|slot| slot.id == self.sites[site].slot)
    }

    /// Whether a list is that of nodes, of leafs, or of the models that have these.
    pub(crate) fn is_tree(&self, site: usize) -> bool {
        [Role::Nodes, Role::Leafs, Role::Models].into_iter().any(|role| self.is_role(site, role))
    }

    /// The site of a name.
    pub fn site(&self, name: &str) -> Option<usize> {
        self.sites.iter().position(|site| site.name == name)
    }

    /// The records of a name.
    pub fn named(&self, name: &str) -> Option<&Site<'a>> {
        self.sites.get(self.site(name)?)
    }

    /// The site that references to a lump lead to.
    pub fn referred(&self, lump: &str) -> Option<usize> {
        let name = self.bsp.referred(lump)?;
        // Of several lists the last one has what the lump is named after.
        self.site(name).or_else(|| self.sites.iter().rposition(|site| site.row.lump == name))
    }

    /// The stretches of a list that models have through their trees, if engines take all that is in such a stretch for
    /// the model's. One with records of another model is left out.
    pub(crate) fn stretches(&self, site: usize) -> Vec<Range<usize>> {
        let len = self.sites[site].len();
        let Some(head) = self.links.iter().find(|link| matches!(link.how, How::Node) && link.from != link.to) else {
            return Vec::new();
        };
        if !self.sites[site].row.order.stretched {
            return Vec::new();
        }
        let lists = |link: &Link| self.sites[link.from].listed && link.to == site;
        let is_listing = |list: usize| self.links.iter().any(|link| link.from == list && lists(link));
        let is_way = |link: &&Link| matches!(link.how, How::Node | How::Leaf(_)) || is_listing(link.to) || lists(link);
        let mut ways: Vec<Vec<&Link>> = self.sites.iter().map(|_| Vec::new()).collect();
        self.links.iter().filter(is_way).for_each(|link| ways[link.from].push(link));
        let mut seen: Vec<Vec<bool>> = self.sites.iter().map(|site| vec![false; site.len()]).collect();
        let (mut owners, mut ranges) = (vec![None; len], Vec::new());
        for model in 0..self.sites[head.from].len() {
            let (mut open, mut range, mut count) = (vec![(head.from, model)], len..0, 0);
            while let Some((list, record)) = open.pop() {
                for link in &ways[list] {
                    let most = self.sites[link.to].len();
                    let named = link.named(self.sites[list].record(record), most);
                    let Some((first, many)) = named.filter(|(first, _)| *first >= 0) else { continue };
                    let clamp = |value: i64| usize::try_from(value).map_or(most, |value| value.min(most));
                    for at in clamp(first)..clamp(first.saturating_add(many)) {
                        if std::mem::replace(&mut seen[link.to][at], true) {
                            continue;
                        }
                        if link.to == site {
                            owners[at] = Some(model);
                            range = range.start.min(at)..range.end.max(at + 1);
                            count += 1;
                        } else {
                            open.push((link.to, at));
                        }
                    }
                }
            }
            ranges.push((range, count));
        }
        let mut owned = vec![0; len + 1];
        (0..len).for_each(|at| owned[at + 1] = owned[at] + usize::from(owners[at].is_some()));
        let is_own = |(range, count): &(Range<usize>, usize)| {
            range.start < range.end && owned[range.end] - owned[range.start] == *count
        };
        ranges.into_iter().filter(is_own).map(|(range, _)| range).collect()
    }

    /// The lumps of unknown content that may refer to a lump, or run parallel to it, with the reasons.
    pub fn unknown_of<'l>(&'l self, lump: &'l str) -> impl Iterator<Item = (&'l str, &'l str)> {
        let may = move |holds: &Holds| match holds {
            Holds::Nothing => false,
            Holds::Only(lumps) => lumps.contains(&lump),
            Holds::Unknown => true,
        };
        let others = self.unknown.iter().filter(move |(name, holds, _)| may(holds) && *name != lump);
        others.map(|(name, _, why)| (name.as_str(), why.as_str()))
    }

    /// Finds the references.
    fn compile(&mut self) {
        let referred = |name: &str| self.referred(name);
        let role = |role: Role| referred(self.bsp.dialect().lumps.get(self.bsp.dialect().role(role)?)?.name);
        let (nodes, leafs) = (role(Role::Nodes), role(Role::Leafs));
        let node_count = nodes.and_then(|nodes| i64::try_from(self.sites[nodes].len()).ok()).unwrap_or(0);
        let (mut links, mut offsets) = (Vec::new(), Vec::new());
        for (from, site) in self.sites.iter().enumerate() {
            let word_of = |path: &str| {
                let part = Part::find(site.record.fields, path).ok()?;
                Word::of(part.offset, part.shape)
            };
            for cell in Cell::meant(site.record.fields) {
                let target = |lump: &'static str| referred(site.row.order.instead_of(lump));
                let beside = |name: &str| {
                    let before = cell.path.rfind('.').map_or(0, |dot| dot + 1);
                    word_of(&format!("{}{name}", &cell.path[..before]))
                };
                let word = match cell.shape {
                    Shape::Number(number) => Word { at: cell.place.start, number },
                    _ => Word { at: cell.place.start, number: Number::U8 },
                };
                let gone = match cell.meaning {
                    Meaning::Index { gone, .. } | Meaning::Perhaps { gone, .. } => gone,
                    Meaning::Next { .. } => Gone::Becomes(-1),
                    _ => Gone::Needed,
                };
                let link = |to: usize, how: How, when: Option<When>| {
                    let (field, meaning) = (cell.path.clone(), cell.meaning);
                    Link { from, to, field, meaning, word, how, when, gone, unless: None }
                };
                let mut push = |to: Option<usize>, how: How, when: Option<When>| {
                    links.extend(to.map(|to| link(to, how, when)));
                };
                let when = |count: Count, test: Test| Some(When { word: beside(count.field)?, count, test });
                match cell.meaning {
                    Meaning::Index { lump, none, .. } => push(target(lump), How::Index(none), None),
                    Meaning::Perhaps { lump, .. } => push(target(lump), How::Perhaps, None),
                    Meaning::Twin { lump, list, by } => {
                        let is_twin = |to: &usize| self.are_twins(site, (&cell.path, word), (list, by), *to);
                        push(target(lump).filter(is_twin), How::Index(&[]), None);
                    }
                    Meaning::Signed { lump } => push(target(lump), How::Signed, None),
                    Meaning::Bits { lump, mask } => push(target(lump), How::Bits(mask), None),
                    Meaning::Branch { lump } => push(target(lump), How::Node, None),
                    Meaning::Next { lump } => push(target(lump), How::Next, None),
                    Meaning::Share { lump, skip } => push(target(lump), How::Share(skip), None),
                    Meaning::Starred { lump } => push(target(lump), How::Starred(cell.shape.size()), None),
                    Meaning::Child => {
                        push(nodes, How::Node, None);
                        push(leafs, How::Leaf(node_count), None);
                    }
                    Meaning::Run { lump, count, order } => {
                        let Some(word) = beside(count.field) else { continue };
                        push(target(lump), How::Run(word, count, order), None);
                    }
                    Meaning::RunOr { lump, count, order, unless, other, none } => {
                        let Some(word) = beside(count.field) else { continue };
                        let one = target(other);
                        let unless_one = one.map(|other| Unless { count: unless, other, none });
                        let run = How::Run(word, count, order);
                        links.extend(target(lump).map(|to| {
                            let run = link(to, run, when(count, Test::IsNot(unless)));
                            Link { unless: unless_one, ..run }
                        }));
                        links.extend(one.map(|to| {
                            let index = link(to, How::Perhaps, when(count, Test::Is(unless)));
                            Link { gone: Gone::Forgotten(none), ..index }
                        }));
                    }
                    Meaning::Either { by, lists: [first, second] } => {
                        let by = Count::number(by);
                        push(target(first), How::Index(&[]), when(by, Test::Is(0)));
                        push(target(second), How::Index(&[]), when(by, Test::IsNot(0)));
                    }
                    Meaning::Items { lump, count } => {
                        let Some(item) = item(&cell.path) else { continue };
                        let array = &cell.path[..cell.path.rfind('[').unwrap_or(0)];
                        let before = array.rfind('.').map_or(0, |dot| dot + 1);
                        let path = format!("{}{}", &array[..before], count.field);
                        let Some(word) = word_of(&path) else { continue };
                        let test = Test::Above(item);
                        push(target(lump), How::Item(word, count), Some(When { word, count, test }));
                    }
                    Meaning::Offset { lump } => offsets.extend(self.bsp.offset_lumps(site.row, lump)),
                    _ => {}
                }
            }
        }
        self.links = links;
        self.offsets = offsets;
    }

    /// Whether the numbers in a field of all records are indices of a list, and those of at least nine in ten records
    /// that name these are the same: measured in 62 maps of Source, either all are, or some name nothing.
    fn are_twins(&self, site: &Site<'_>, own: (&str, Word), (list, by): (&str, &str), to: usize) -> bool {
        let (field, word) = own;
        let Some(twins) = self.named(list) else { return false };
        let numbers: Vec<i64> = site.records().map(|record| word.get(record)).collect();
        let end = i64::try_from(self.sites[to].len()).unwrap_or(0);
        if numbers.iter().any(|number| !(0..end).contains(number)) {
            return false;
        }
        let pairs = twins.column(by).into_iter().zip(twins.column(field));
        let named = pairs.filter_map(|(by, number)| Some((*numbers.get(usize::try_from(by).ok()?)?, number)));
        let (mut count, mut same) = (0_usize, 0);
        for (one, other) in named {
            count += 1;
            same += usize::from(one == other);
        }
        count > 0 && same * 10 >= count * 9
    }
}

/// The number of an item in a path: 3 of `faces[3]`.
fn item(path: &str) -> Option<i64> {
    path.strip_suffix(']')?.rsplit_once('[')?.1.parse().ok()
}
