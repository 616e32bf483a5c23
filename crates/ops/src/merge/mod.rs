//! Merges two edits of the same map: entities by identity, records one by one, embedded files by name, and every other
//! lump from the side that changed it. What both sides changed is a conflict: it is listed, and the merged map has our
//! side of it.
//!
//! An edit is values and moves. What a side did to the records of each list is found by their content, and proven
//! by the numbers that name them (`align`). The merged map has the records in the order of the side that moved them,
//! and the numbers of the other side follow. What is not known for certain, or cannot follow, is a conflict.
//!
//! ```
//! use bspkit_ops::merge::merge;
//! use bspkit::{Bsp, Layout};
//! let base = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let edited = |class: &str, key: &str, value: &str| {
//!     let mut draft = base.draft();
//!     draft.entities()?.first_class(class)?.set(key, value)?;
//!     Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())
//! };
//! let (ours, theirs) = (edited("light", "light", "150")?, edited("worldspawn", "message", "The Place")?);
//! let merged = merge(&base, &ours, &theirs)?;
//! assert!(merged.conflicts.is_empty());
//! let map = Bsp::from_vec(merged.draft.plan(Layout::Keep)?.to_vec())?;
//! assert_eq!(map.entities()?.get(0).unwrap().get("message"), Some(&b"The Place"[..]));
//!
//! let other = edited("light", "light", "200")?;
//! let conflict = &merge(&base, &ours, &other)?.conflicts[0];
//! assert_eq!(conflict.to_string(), "ENTITIES: #6 light: both sides change `light`");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod blocks;
mod entities;
mod files;
mod light;
mod lists;
mod textures;
mod torn;
mod values;

use crate::align::textures::slot_of;
use crate::compare::rest_of_header;
use crate::patch::Patch;
use bspkit::bytes::escaped;
use bspkit::dialect::{Form, Role};
use bspkit::file::{Bounds, Layout, SegmentKind, Slot, SlotId};
use bspkit::{Bsp, Compression, Data, Draft, Error, ErrorKind, Result, Rope};
use lists::Records;

/// The result of a merge.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged<'a> {
    /// The edits that make our map the merged one; or those that make it from their map, if only they changed what is
    /// outside of all lumps.
    pub draft: Draft<'a>,
    /// Everything that both sides changed. The draft has our side of it.
    pub conflicts: Vec<Conflict>,
    /// The names of lumps that are as theirs.
    pub theirs: Vec<String>,
    /// The names of lumps that have changes of both sides.
    pub both: Vec<String>,
    /// Whether what is outside of all lumps is theirs: only they changed it.
    pub outside_is_theirs: bool,
    /// What is wrong in the merged map because it is so in theirs, and what may be wrong: values of entities that may
    /// name a model, under keys that nothing declares, where the other side gives models other numbers.
    pub doubts: Vec<String>,
}

/// The base and the two sides.
struct Sides<'s, 'a> {
    base: &'s Bsp<'a>,
    ours: &'s Bsp<'a>,
    theirs: &'s Bsp<'a>,
}

/// Where the new content of a slot comes from.
enum Source<'a> {
    Ours,
    Theirs,
    /// Both.
    New(Rope<'a>),
}

/// Merges the changes from `base` to `theirs` with those from `base` to `ours`.
///
/// # Errors
/// [`ErrorKind::Refused`] if the maps are of different dialects or versions; as [`Draft::set`].
pub fn merge<'a>(base: &Bsp<'a>, ours: &Bsp<'a>, theirs: &Bsp<'a>) -> Result<Merged<'a>> {
    merge_with(base, ours, theirs, &mut |_| None)
}

/// As [`merge`]; `settle` is asked for each conflict that can be settled alone, and may name the map whose content the
/// merged one gets. Such a conflict is not listed.
///
/// # Errors
/// As [`merge`].
pub fn merge_with<'a>(
    base: &Bsp<'a>,
    ours: &Bsp<'a>,
    theirs: &Bsp<'a>,
    settle: &mut dyn FnMut(&Conflict) -> Option<Side>,
) -> Result<Merged<'a>> {
    let sides = Sides { base, ours, theirs };
    sides.check_dialects()?;
    let mut desk = Desk::new(settle);
    let carrier = sides.carrier(&mut desk);
    let lists = match sides.need_records() {
        true => Some(textures::lists(&sides)?),
        false => None,
    };
    let records = match &lists {
        Some([base, ours, theirs]) => Records::of(&sides, [base, ours, theirs], &mut desk)?,
        None => None,
    };
    if lists.is_some() && records.is_none() {
        torn::torn(&sides).into_iter().for_each(|conflict| desk.push(conflict));
    }
    let mut ready = textures::merge(&sides, records.as_ref(), &mut desk)?;
    ready.extend(records.as_ref().into_iter().flat_map(Records::light));
    ready.extend(records.as_ref().map(|records| blocks::merge(&sides, records)).unwrap_or_default());
    let (mut draft, mut taken, mut both) = (carrier.draft(), Vec::new(), Vec::new());
    let is_cut = sides.has_cut_members(&mut desk);
    let is_kept = |slot: &Slot| sides.is_container(slot) || (is_cut && matches!(slot.id, SlotId::Game(_)));
    for slot in carrier.slots().iter().filter(|slot| !is_kept(slot)) {
        let source = match ready.remove(&slot.id) {
            Some(bytes) => Source::New(Rope::from(Data::from(bytes))),
            None => sides.source(slot, records.as_ref(), &mut desk)?,
        };
        let is_theirs = matches!(source, Source::Theirs);
        let mut is_ours = matches!(source, Source::Ours) && std::ptr::eq(carrier, ours);
        match source {
            Source::Ours => put(&mut draft, slot, ours)?,
            Source::Theirs => put(&mut draft, slot, theirs)?,
            Source::New(bytes) => draft.set(slot.id, bytes)?,
        }
        if let Some(compression) = compression(&sides, slot).filter(|wanted| *wanted != draft.compression(slot.id)) {
            draft.set_compression(slot.id, compression)?;
            is_ours = false;
        }
        if is_ours {
            continue;
        }
        let is_of = |map: &Bsp<'_>, is_content: bool| {
            let bytes =
                |own: &Slot| draft.bytes(slot.id).is_ok_and(|new| map.bytes(own.id).is_ok_and(|own| *own == *new));
            let is_same = |own: &Slot| map.draft().compression(own.id) == draft.compression(slot.id);
            twin(map, slot).is_some_and(|own| is_same(own) && (is_content || bytes(own)))
        };
        match (!is_theirs && is_of(ours, false), is_of(theirs, is_theirs)) {
            (true, _) => {}
            (false, true) => taken.push(slot.name.clone()),
            (false, false) => both.push(slot.name.clone()),
        }
    }
    let mut conflicts = desk.conflicts();
    let mut doubts = Vec::new();
    if conflicts.is_empty() {
        (conflicts, doubts) = torn::introduced(&sides, &draft)?;
    }
    let outside_is_theirs = std::ptr::eq(carrier, theirs);
    let moved = records.as_ref().filter(|records| !records.is_still());
    doubts.extend(moved.map_or(Ok(Vec::new()), |records| entities::doubts(&sides, records))?);
    Ok(Merged { draft, conflicts, theirs: taken, both, outside_is_theirs, doubts })
}

/// Merges what a patch of entities does to `base` with the changes from `base` to `ours`.
///
/// # Errors
/// As [`Patch::apply`] on the base; as [`merge`].
pub fn merge_patch<'a>(base: &Bsp<'a>, ours: &Bsp<'a>, patch: &Patch) -> Result<Merged<'a>> {
    let missing = || Error::new(ErrorKind::NotFound, "the map has no entity lump");
    let id = base.role(Role::Entities).ok_or_else(missing)?.id;
    let mut draft = base.draft();
    draft.set(id, patch.apply(&*base.entities()?)?)?;
    let theirs = Bsp::from_data(draft.plan(Layout::Keep)?.to_vec().into(), Some(base.dialect()))?;
    merge(base, ours, &theirs)
}

/// Gives a slot of the draft what it has in one of the maps.
fn put<'a>(draft: &mut Draft<'a>, slot: &Slot, from: &Bsp<'a>) -> Result<()> {
    let Some(other) = twin(from, slot).filter(|other| !is_same(draft.bsp(), slot, from, other)) else { return Ok(()) };
    draft.set(slot.id, from.bytes(other.id)?)?;
    if let Some(version) = other.version.filter(|_| other.version != slot.version) {
        draft.set_version(slot.id, version)?;
    }
    Ok(())
}

/// The compression of a slot: that of the map that changed it.
fn compression(sides: &Sides<'_, '_>, slot: &Slot) -> Option<Compression> {
    let maps = [sides.base, sides.ours, sides.theirs];
    let [base, ours, theirs] = maps.map(|map| Some(map.draft().compression(twin(map, slot)?.id)));
    if ours == base { theirs } else { ours }
}

/// The same slot of another map.
fn twin<'b>(bsp: &'b Bsp<'_>, slot: &Slot) -> Option<&'b Slot> {
    match slot.id {
        SlotId::Lump(_) | SlotId::Extra(_) => bsp.container().slot(slot.id),
        _ => bsp.slots().iter().find(|other| other.name == slot.name),
    }
}

/// Whether a slot has the same content in two maps, compressed or not.
fn is_same(one: &Bsp<'_>, slot: &Slot, other: &Bsp<'_>, twin: &Slot) -> bool {
    let is_packed = [(one, slot), (other, twin)].iter().any(|(map, slot)| map.decompressed_size(slot.id).is_some());
    let content = || one.bytes(slot.id).is_ok_and(|one| other.bytes(twin.id).is_ok_and(|other| *one == *other));
    slot.version == twin.version && (one.stored(slot.id)[..] == other.stored(twin.id)[..] || is_packed && content())
}

/// Whether both sides changed a slot, each in its own way.
fn is_of_both(sides: &Sides<'_, '_>, slot: &Slot) -> bool {
    let is_alike = |one: &Bsp<'_>, other: &Bsp<'_>| {
        twin(one, slot).zip(twin(other, slot)).is_some_and(|(own, twin)| is_same(one, own, other, twin))
    };
    !is_alike(sides.base, sides.ours) && !is_alike(sides.base, sides.theirs) && !is_alike(sides.ours, sides.theirs)
}

/// Whether other slots lie within a slot.
fn holds_slots(bsp: &Bsp<'_>, slot: &Slot) -> bool {
    slot.is_top_level() && bsp.slots().iter().any(|other| is_member(other) && holds(slot, other))
}

/// Whether a slot is a member of a game lump, and not an empty one.
fn is_member(slot: &Slot) -> bool {
    matches!(slot.id, SlotId::Game(_)) && !slot.stored.is_empty()
}

fn holds(slot: &Slot, other: &Slot) -> bool {
    slot.stored.start <= other.stored.start && other.stored.end <= slot.stored.end
}

/// What a map has outside of its lumps.
#[derive(PartialEq)]
struct Outside<'b> {
    names: Vec<&'b str>,
    /// What the directory says of slots and no edit can set: a size after decompression of bytes that are not so
    /// compressed, unknown flags, and a length beyond the end of the file.
    words: Vec<(SlotId, [Option<i32>; 2], Option<u16>)>,
    /// What is between the slots and after them.
    bytes: Vec<u8>,
    revision: Option<i32>,
    /// Words of the header that have no other place: a checksum of the lumps, for example.
    header: Vec<u8>,
}

impl<'b> Outside<'b> {
    fn of(bsp: &'b Bsp<'_>) -> Self {
        let names = bsp.slots().iter().map(|slot| slot.name.as_str()).collect();
        let words = |slot: &Slot| {
            let size = slot.unpacked.filter(|size| *size != 0 && bsp.compression_oddity(slot.id).is_some());
            let flags = bsp.member_flags(slot.id).filter(|flags| flags & !1 != 0);
            let length = Some(slot.length).filter(|_| !matches!(slot.bounds, Bounds::Inside | Bounds::Empty));
            (size.is_some() || flags.is_some() || length.is_some()).then_some((slot.id, [size, length], flags))
        };
        let mut bytes = Vec::new();
        for segment in bsp.container().segments() {
            if matches!(segment.kind, SegmentKind::Gap | SegmentKind::BspxGap | SegmentKind::Tail) {
                // Lumps that shrink or move leave zeros, which are not content.
                bytes.extend(bsp.container().bytes()[segment.range].iter().filter(|byte| **byte != 0));
            }
        }
        let words = bsp.slots().iter().filter_map(words).collect();
        Outside { names, words, bytes, revision: bsp.revision(), header: rest_of_header(bsp) }
    }
}

impl<'s, 'a> Sides<'s, 'a> {
    fn check_dialects(&self) -> Result<()> {
        let all = [("the base", self.base), ("ours", self.ours), ("theirs", self.theirs)];
        let first = |bsp: &Bsp<'_>| (bsp.dialect().name, bsp.version());
        if all.iter().all(|(_, bsp)| first(bsp) == first(self.base)) {
            return Ok(());
        }
        let kinds = all.map(|(what, bsp)| format!("{what} is {} version {}", bsp.dialect().name, bsp.version()));
        let message = format!("maps of different dialects cannot be merged: {}", kinds.join(", "));
        Err(Error::new(ErrorKind::Refused, message))
    }

    /// The map that the merged one is made from: theirs if only they changed what is outside of all lumps.
    fn carrier(&self, desk: &mut Desk<'_>) -> &'s Bsp<'a> {
        let (base, ours, theirs) = (Outside::of(self.base), Outside::of(self.ours), Outside::of(self.theirs));
        if theirs == base || theirs == ours {
            return self.ours;
        }
        if ours == base {
            return self.theirs;
        }
        let message = "both sides change what is outside of all lumps: the list of lumps, sizes of lumps that are not \
                       compressed, bytes of no lump, the revision, other words of the header";
        desk.refuse("", message);
        self.ours
    }

    /// Whether a slot only holds other slots in one of the maps: they are merged one by one.
    fn is_container(&self, slot: &Slot) -> bool {
        let maps = [self.base, self.ours, self.theirs];
        maps.into_iter().any(|map| twin(map, slot).is_some_and(|own| holds_slots(map, own)))
    }

    /// Whether one side cuts the game lump, such that members lie outside of it and cannot be written, and the other
    /// side changes a member. That is a conflict, and all members are ours.
    fn has_cut_members(&self, desk: &mut Desk<'_>) -> bool {
        let strays = |map: &Bsp<'_>| {
            let is_stray = |slot: &&Slot| !map.slots().iter().any(|other| other.is_top_level() && holds(other, slot));
            map.slots().iter().filter(|slot| is_member(slot)).filter(is_stray).count()
        };
        let changes = |side: &Bsp<'_>| {
            let is_new = |slot: &Slot| twin(side, slot).is_none_or(|twin| !is_same(self.base, slot, side, twin));
            self.base.slots().iter().any(|slot| is_member(slot) && is_new(slot))
        };
        for (whose, side, other) in [("our", self.ours, self.theirs), ("their", self.theirs, self.ours)] {
            if strays(side) > strays(self.base) && changes(other) {
                let message =
                    format!("{whose} side cuts it before its members end, and the other side changes members");
                let lump = self.base.role(Role::GameLump).map_or("", |slot| slot.name.as_str());
                desk.refuse(lump, message);
                return true;
            }
        }
        false
    }

    /// Whether a side changed records, and the other one anything.
    fn need_records(&self) -> bool {
        let changed =
            |side: &Bsp<'_>, slot: &Slot| twin(side, slot).is_some_and(|twin| !is_same(self.base, slot, side, twin));
        let is_list =
            |slot: &Slot| self.base.row(slot).is_ok_and(|row| matches!(row.form, Form::Array(_) | Form::Lists(_)));
        let slots = || self.base.slots().iter().filter(|slot| !self.is_container(slot));
        [self.ours, self.theirs].into_iter().all(|side| slots().any(|slot| changed(side, slot)))
            && (slots().any(|slot| is_list(slot) && (changed(self.ours, slot) || changed(self.theirs, slot)))
                || light::is_of_both(self))
    }

    fn source(&self, slot: &Slot, records: Option<&Records<'_, '_, 'a>>, desk: &mut Desk<'_>) -> Result<Source<'a>> {
        let twins = (twin(self.base, slot), twin(self.ours, slot), twin(self.theirs, slot));
        let (Some(base), Some(ours), Some(theirs)) = twins else {
            // Only the map that everything else is put into has it, or it was removed there.
            return Ok(if twins.1.is_some() { Source::Ours } else { Source::Theirs });
        };
        let by_theirs = !is_same(self.base, base, self.theirs, theirs);
        let by_ours = !is_same(self.base, base, self.ours, ours);
        let is_equal = is_same(self.ours, ours, self.theirs, theirs);
        let role = self.ours.role_of(slot.id);
        if role == Some(Role::Entities) && (by_ours || by_theirs) {
            return entities::merge(self, slot, records, desk);
        }
        if let Some(records) = records {
            let is_textures = slot_of(self.base).is_some_and(|own| own.id == base.id);
            if records.has(base.id) && !is_textures {
                return self.lists(records, [base, ours, theirs], [by_ours, by_theirs && !is_equal], desk);
            }
            if role == Some(Role::Pak) {
                records.files(self, desk);
            } else {
                match records.beside(base, [by_ours, by_theirs && !is_equal], desk) {
                    Some(Side::Theirs) => return Ok(Source::Theirs),
                    None => return Ok(Source::Ours),
                    Some(_) => {}
                }
            }
        }
        match (by_ours, by_theirs) {
            (_, false) => return Ok(Source::Ours),
            (false, true) => return Ok(Source::Theirs),
            (true, true) if is_equal => return Ok(Source::Ours),
            (true, true) => {}
        }
        let count = desk.len();
        if role == Some(Role::Pak)
            && let Some(bytes) = files::merge(self, slot, desk)?
        {
            return Ok(Source::New(bytes));
        }
        if desk.len() > count {
            return Ok(Source::Ours);
        }
        let values = [self.base, self.ours, self.theirs].map(|map| Some(summary(map, slot)));
        let conflict = Conflict::lump(&slot.name, "both sides change it").with(Subject::Lump, values);
        Ok(match desk.decide(conflict) {
            Side::Ours => Source::Ours,
            Side::Theirs => Source::Theirs,
            Side::Base => Source::New(self.base.bytes(base.id)?.into()),
        })
    }

    /// The records of a slot.
    fn lists(
        &self,
        records: &Records<'_, '_, 'a>,
        [base, ours, theirs]: [&Slot; 3],
        [by_ours, by_theirs]: [bool; 2],
        desk: &mut Desk<'_>,
    ) -> Result<Source<'a>> {
        let from = match (records.leader(base.id), by_ours, by_theirs) {
            (Some(side), ..) => side,
            (None, false, true) => Side::Theirs,
            _ => Side::Ours,
        };
        let by_both = by_ours && by_theirs;
        if !by_both && !records.is_touched(base.id, from) && !records.is_woven(base.id) {
            return Ok(if from == Side::Theirs { Source::Theirs } else { Source::Ours });
        }
        if [ours.version, theirs.version] != [base.version, base.version] {
            desk.refuse(&base.name, "both sides change it, and one of them its version");
            return Ok(Source::Ours);
        }
        let bytes = records.merge(self, base, from, desk)?;
        let map = if from == Side::Theirs { self.theirs } else { self.ours };
        Ok(Source::New(map.in_own_order(base.id, bytes.into()).into()))
    }
}

/// What a lump is, as a value of a conflict.
fn summary(map: &Bsp<'_>, slot: &Slot) -> Vec<u8> {
    let bytes = twin(map, slot).map(|twin| map.stored(twin.id));
    let bytes = bytes.as_deref().unwrap_or_default();
    format!("{} bytes, CRC-32 {:08x}", bytes.len(), crc32fast::hash(bytes)).into_bytes()
}

// What both sides changed, and who decides which side it gets.

/// One of three maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The map that both sides were made from.
    Base,
    /// Our map.
    Ours,
    /// Their map.
    Theirs,
}

impl Side {
    /// All of them; [`Conflict::values`] are in this order.
    pub const ALL: [Side; 3] = [Side::Base, Side::Ours, Side::Theirs];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Side::Base => "base",
            Side::Ours => "ours",
            Side::Theirs => "theirs",
        }
    }
}

/// What a conflict is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// What is outside of all lumps.
    Outside,
    /// A lump as a whole.
    Lump,
    /// An entity, by its index in the base, or the value of a key of it.
    Entity(usize, Option<Vec<u8>>),
    /// An entity that both sides add, by its place among those that theirs adds.
    Added(usize),
    /// A record of a list, by its index in the base, and a field of it.
    Record(String, usize, String),
    /// An embedded file.
    File(Vec<u8>),
}

/// Something that both sides changed.
///
/// ```
/// use bspkit_ops::merge::{Conflict, merge};
/// use bspkit::{Bsp, Layout};
/// let base = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let edited = |light: &str| {
///     let mut draft = base.draft();
///     draft.entities()?.first_class("light")?.set("light", light)?;
///     Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())
/// };
/// let merged = merge(&base, &edited("1")?, &edited("2")?)?;
/// let conflict: &Conflict = &merged.conflicts[0];
/// assert_eq!(conflict.name(), "#6.light");
/// let [before, ours, theirs] = conflict.values.as_ref().unwrap();
/// assert_eq!((ours.as_deref(), theirs.as_deref()), (Some(&b"1"[..]), Some(&b"2"[..])));
/// # assert!(before.is_some());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The lump; empty for what is outside of all lumps.
    pub lump: String,
    /// What it is about.
    pub subject: Subject,
    /// What both sides changed: a sentence without a capital and a full stop.
    pub message: String,
    /// What the base, ours and theirs have; `None` for what one does not have. Of lumps and embedded files it is their
    /// size and checksum, of moved files their names, of lists the number of records.
    pub values: Option<[Option<Vec<u8>>; 3]>,
    /// Whether it can be settled alone: by taking what one of the three maps has.
    pub can_settle: bool,
}

impl Conflict {
    fn lump(lump: &str, message: impl Into<String>) -> Self {
        let subject = if lump.is_empty() { Subject::Outside } else { Subject::Lump };
        Conflict { lump: lump.to_owned(), subject, message: message.into(), values: None, can_settle: false }
    }

    /// Adds how many records a list has in each map.
    fn counted(self, counts: [usize; 3]) -> Self {
        let count = |count: usize| Some(format!("{count} record{}", if count == 1 { "" } else { "s" }).into_bytes());
        Conflict { values: Some(counts.map(count)), ..self }
    }

    fn with(self, subject: Subject, values: [Option<Vec<u8>>; 3]) -> Self {
        let values = values.iter().any(Option::is_some).then_some(values);
        Conflict { subject, values, can_settle: true, ..self }
    }

    /// Its name among all conflicts of the merge: `#6.light`, `#6`, `added[0]`, `FACES[3].side`, `ENTITIES`,
    /// `PAKFILE/own/a.txt`; empty for what is outside of all lumps. Several conflicts of one entity or record as a
    /// whole share its name.
    pub fn name(&self) -> String {
        match &self.subject {
            Subject::Outside => String::new(),
            Subject::Lump => self.lump.clone(),
            Subject::Entity(index, None) => format!("#{index}"),
            Subject::Entity(index, Some(key)) => format!("#{index}.{}", escaped(key)),
            Subject::Added(place) => format!("added[{place}]"),
            Subject::Record(list, index, field) if field.is_empty() => format!("{list}[{index}]"),
            Subject::Record(list, index, field) => format!("{list}[{index}].{field}"),
            Subject::File(name) => format!("{}/{}", self.lump, escaped(name)),
        }
    }

    /// Whether both sides add an entity or an embedded file: the base has none, and [`Side::Base`] takes neither.
    pub fn is_addition(&self) -> bool {
        match &self.subject {
            Subject::Added(_) => true,
            Subject::File(_) => self.values.as_ref().is_some_and(|[base, ..]| base.is_none()),
            _ => false,
        }
    }
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.subject {
            Subject::Record(list, index, _) => write!(f, "{list}[{index}]: {}", self.message),
            _ if self.lump.is_empty() => f.write_str(&self.message),
            _ => write!(f, "{}: {}", self.lump, self.message),
        }
    }
}

/// How many conflicts are listed; more are counted.
const MOST: usize = 10_000;

/// Collects conflicts, unless one is settled.
struct Desk<'d> {
    conflicts: Vec<Conflict>,
    more: usize,
    settle: &'d mut dyn FnMut(&Conflict) -> Option<Side>,
}

impl<'d> Desk<'d> {
    fn new(settle: &'d mut dyn FnMut(&Conflict) -> Option<Side>) -> Self {
        Desk { conflicts: Vec::new(), more: 0, settle }
    }

    fn push(&mut self, conflict: Conflict) {
        match self.conflicts.len() < MOST {
            true => self.conflicts.push(conflict),
            false => self.more += 1,
        }
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.conflicts.len() + self.more
    }

    fn conflicts(mut self) -> Vec<Conflict> {
        if self.more > 0 {
            self.conflicts.push(Conflict::lump("", format!("{} more conflicts are not listed", self.more)));
        }
        self.conflicts
    }

    /// The side that something gets that both changed: ours, if it is not settled.
    fn decide(&mut self, conflict: Conflict) -> Side {
        let side = if conflict.can_settle { (self.settle)(&conflict) } else { None };
        side.unwrap_or_else(|| {
            self.push(conflict);
            Side::Ours
        })
    }

    /// A conflict that cannot be settled alone.
    fn refuse(&mut self, lump: &str, message: impl Into<String>) {
        self.push(Conflict::lump(lump, message));
    }
}
