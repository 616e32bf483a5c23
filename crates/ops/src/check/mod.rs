//! Finds the faults of a map: everything that makes an engine refuse it or read bytes that do not exist.
//!
//! A finding has a code that never changes its meaning, a severity, a place and a sentence. What the formats allow is
//! not a finding, however unusual: `docs/checks.md` has the table, with the exceptions and the source of each fact.
//! Nothing is changed.

mod entities;
mod finding;
mod light;
mod lumps;
mod options;
mod orders;
mod physics;
mod references;
mod shapes;
mod source;
mod targets;
mod tree;
mod unreadable;

use bspkit::content::entities::{Entities, Entity, Pair};
use bspkit::dialect::{Engine, Role, Unit};
use bspkit::file::SlotId;
use bspkit::finding::Finding;
use bspkit::links::Links;
use bspkit::{Bsp, Data, Draft, Error, ErrorKind, Hint, Layout, Plan, Result};
pub(crate) use entities::class_with_model;
use entities::{Looked, NO_END, check_entities, check_spawn, check_these, has_no_end, refer_to};
pub(super) use finding::{At, FILE_CUT, LISTED, Sink, UNUSED_RECORDS};
pub use finding::{CLASS_UNKNOWN, CODES, Denied, KEY_UNKNOWN, code, few};
use finding::{ENTITY_END, ENTITY_NO_WORLD, ENTITY_WORLD};
pub use light::places_light;
use lumps::Lumps;
pub use lumps::{Usage, usage};
pub use options::Options;
pub use physics::places_solids;
pub(crate) use physics::shapes_of;
pub use references::{Stale, stale};
pub use targets::{Unanswered, is_name, unanswered};
use targets::{check_targets, is_target, output_of};
pub use unreadable::{is_unreadable, unreadable};

/// All findings about a map, group by group. At most ten findings with the same code in the same lump are listed; one
/// more has the number of the others.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// use bspkit_ops::check;
/// let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// assert!(check::run(&map, &check::Options::default())?.is_empty());
///
/// let mut draft = map.draft();
/// draft.update(quake2::FACES, 3, |face| face.texinfo = 500)?;
/// let broken = Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// let findings = check::run(&broken, &check::Options::default())?;
/// assert_eq!(findings[0].code.name, "index-range");
/// assert_eq!(findings[0].place.record, Some(3));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`bspkit::ErrorKind::Argument`] for an engine that the dialect does not know.
pub fn run(bsp: &Bsp<'_>, options: &Options) -> Result<Vec<Finding>> {
    let mut sink = Sink::new(&options.allowed, options.listed());
    check(bsp, engine(bsp, options)?, None, &mut sink);
    Ok(sink.into_findings())
}

/// Everything that would be wrong with a map after the edits of a draft, and is not wrong now: of the content, since
/// placement keeps the directory as it should be. Listed as by [`run`].
///
/// What is wrong at the same place already, or elsewhere in the same words, is not new: entities and records may have
/// moved.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// use bspkit_ops::check;
/// let mut draft = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(quake2::FACES, 3, |face| face.texinfo = 500)?;
/// let findings = check::introduced(&draft, &check::Options::default())?;
/// assert_eq!(findings[0].code.name, "index-range");
///
/// let mut again = Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?.draft();
/// again.update(quake2::FACES, 3, |face| face.plane = 1)?;
/// assert!(check::introduced(&again, &check::Options::default())?.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`run`]; those of an open lens that cannot be written.
pub fn introduced(draft: &Draft<'_>, options: &Options) -> Result<Vec<Finding>> {
    Ok(of_edit(new_findings(draft, options)?))
}

/// The findings that the edits of a draft add, of which a plan was made. Edits that add errors, and edits of a damaged
/// map, are refused without `force`.
///
/// ```
/// use bspkit::dialect::quake2;
/// use bspkit_ops::check;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(quake2::FACES, 3, |face| face.texinfo = 500)?;
/// let plan = draft.plan(bspkit::Layout::Keep)?;
/// assert_eq!(check::admit(&draft, &plan, false).unwrap_err().kind(), bspkit::ErrorKind::Refused);
/// assert_eq!(check::admit(&draft, &plan, true)?.len(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Refused`], [`ErrorKind::Damaged`]; as [`introduced`].
pub fn admit(draft: &Draft<'_>, plan: &Plan<'_>, force: bool) -> Result<Vec<Finding>> {
    plan.check_force(force)?;
    if plan.is_identity() {
        return Ok(Vec::new());
    }
    let findings = introduced(draft, &Options::default())?;
    match findings.iter().find(|finding| finding.is_error()).filter(|_| !force) {
        None => Ok(findings),
        Some(first) => {
            let message = format!("the edit would add errors to the map, such as {first}");
            Err(Error::new(ErrorKind::Refused, message).with_hint(Hint::Force))
        }
    }
}

/// Findings that an edit adds. Some games have start maps without a world, but an edit that takes the world away is
/// refused, as an edit of the first entity is.
pub fn of_edit(mut added: Vec<Finding>) -> Vec<Finding> {
    for lost in added.iter_mut().filter(|finding| *finding.code == ENTITY_WORLD) {
        lost.code = &ENTITY_NO_WORLD;
    }
    added
}

fn new_findings(draft: &Draft<'_>, options: &Options) -> Result<Vec<Finding>> {
    let engine = engine(draft.bsp(), options)?;
    let Some(view) = draft.view()? else { return Ok(Vec::new()) };
    let touched = touched(draft, &view);
    if let Some(findings) = introduced_by_edit(draft, &view, &touched, engine, options) {
        return Ok(findings);
    }
    let all = |bsp: &Bsp<'_>| {
        let mut sink = Sink::new(&options.allowed, options.listed().max(finding::COMPARED));
        check(bsp, engine, Some(&touched), &mut sink);
        sink
    };
    // New bytes of the whole game lump say themselves where its members are: only the saved map has them.
    let has_members = |slot: &SlotId| draft.bsp().role_of(*slot) == Some(Role::GameLump);
    let new = match touched.iter().any(has_members) {
        true => {
            let saved = draft.plan(Layout::Keep)?.to_vec();
            all(&Bsp::from_data(Data::from(saved), Some(draft.bsp().dialect()))?)
        }
        false => all(&view),
    };
    let mut found =
        if new.is_empty() { Vec::new() } else { new.without(all(draft.bsp()), options.listed()).into_findings() };
    found.extend(left_behind(draft, &view, options));
    Ok(found)
}

/// The slots that have other content, or another version.
fn touched(draft: &Draft<'_>, view: &Bsp<'_>) -> Vec<SlotId> {
    let slots = draft.bsp().slots().iter().zip(view.slots());
    let touched = slots.filter(|(old, new)| view.container().is_pending(new.id) || old.version != new.version);
    touched.map(|(old, _)| old.id).collect()
}

/// Of what [`introduced`] finds, the light and the collision models that do not go along with the edits; `view` is the
/// map with these.
pub fn left_behind(draft: &Draft<'_>, view: &Bsp<'_>, options: &Options) -> Vec<Finding> {
    let mut left = Sink::new(&options.allowed, options.listed());
    let touched = touched(draft, view);
    light::check_relit(draft.bsp(), view, &touched, &mut left);
    physics::check_left(draft, view, &touched, &mut left);
    left.into_findings()
}

fn engine(bsp: &Bsp<'_>, options: &Options) -> Result<Option<&'static Engine>> {
    match &options.engine {
        Some(name) => bsp.dialect().engine_by_name(name).map(Some),
        None => Ok(bsp.dialect().engine(bsp.version())),
    }
}

/// Checks a map; where only some slots were touched, what depends on these.
fn check(bsp: &Bsp<'_>, engine: Option<&'static Engine>, touched: Option<&[SlotId]>, sink: &mut Sink) {
    // Nothing but the checks of their own looks at these, and of the other lumps at those that entities refer to.
    let is_apart = |slot: &SlotId| matches!(bsp.role_of(*slot), Some(Role::Entities | Role::Pak));
    let apart = touched.filter(|touched| touched.iter().all(is_apart));
    let lumps =
        Lumps::read(bsp, |slot| apart.is_none_or(|touched| touched.contains(&slot.id) || refer_to(bsp, &slot.name)));
    let links = lumps.links();
    lumps::check_structure(&lumps, sink);
    match apart {
        None => check_records(&lumps, &links, sink),
        Some(_) => light::check_grid(bsp, sink),
    }
    let entities = check_entities(&lumps, &links, engine, sink);
    lumps::check_limits(&lumps, engine, entities.as_ref(), sink);
    // An edit is not at fault if it leaves something that nothing refers to.
    if touched.is_none() {
        references::check_unused(&lumps, &links, entities.as_ref(), sink);
    }
}

fn check_records(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    references::check(lumps, links, sink);
    orders::check_orders(lumps, links, sink);
    tree::check(lumps, sink);
    tree::check_visibility(lumps, sink);
    light::check(lumps, sink);
    shapes::check_rules(lumps, sink);
    light::check_textures(lumps, sink);
    shapes::check_surfaces(lumps, sink);
    source::check_displacements(lumps, sink);
    source::check_primitives(lumps, sink);
    shapes::check_bspx(lumps, sink);
    shapes::check_physics(lumps, links, sink);
}

// What an edit of entities or of the pakfile makes wrong. Only what it touched is looked at: nothing is parsed again,
// and no other lump is read unless touched entities refer to it.

/// The findings that an edit adds; `None` if it touched anything else, or if it is not known what of it is new.
fn introduced_by_edit(
    draft: &Draft<'_>,
    view: &Bsp<'_>,
    touched: &[SlotId],
    engine: Option<&'static Engine>,
    options: &Options,
) -> Option<Vec<Finding>> {
    let (old, edited) = (draft.bsp(), draft.opened::<Entities<'_>>());
    let is_read_from = |slot| {
        let bytes = old.bytes(slot).ok();
        edited.zip(bytes).is_some_and(|(edited, bytes)| edited.is_read_from(&bytes))
    };
    let is_known = |slot: &SlotId| match old.role_of(*slot) {
        Some(Role::Entities) => is_read_from(*slot) && view.container().slot(*slot).is_some_and(|slot| slot.length > 0),
        // Its own lens wrote it, and no record or entity depends on it.
        Some(Role::Pak) => view.container().is_rope(*slot),
        _ => false,
    };
    if !touched.iter().all(is_known) {
        return None;
    }
    let has_entities = touched.iter().any(|slot| old.role_of(*slot) == Some(Role::Entities));
    let edit = edited.filter(|_| has_entities).map(|new| Edit::of(view, new));
    // Each part is looked at on both sides only if something is found on the new one.
    let parts = [check_edited_entities, check_edited_limits, check_edited_grid].into_iter().flat_map(|check| {
        let look = |bsp, is_new| {
            let mut sink = Sink::new(&options.allowed, options.listed().max(finding::COMPARED));
            check(bsp, edit.as_ref().map(|edit| (edit, is_new)), touched, engine, &mut sink);
            sink
        };
        let new = look(view, true);
        if new.is_empty() { Vec::new() } else { new.without(look(old, false), options.listed()).into_findings() }
    });
    Some(parts.collect())
}

/// Whether a pair of an entity is the same as a pair of another one.
fn has_pair_of(entity: &Entity<'_>, at: usize, other: &Entity<'_>, other_at: usize) -> bool {
    let [pair, other] = [(entity, at), (other, other_at)].map(|(entity, at)| entity.pairs_in(at..at + 1).next());
    pair.is_some() && pair == other
}

/// An entity that is on one side only, or on both and not the same: the index before and the index now.
#[derive(Clone, Copy)]
struct Touched {
    before: Option<usize>,
    now: Option<usize>,
    /// How many first and last pairs are the same on both sides.
    first: usize,
    last: usize,
    /// Whether it has a pair that differs and says to which records it refers, or that it has to.
    is_of_records: bool,
}

/// An edit of entities.
struct Edit<'e, 'a> {
    old: Entities<'a>,
    new: &'e Entities<'a>,
    touched: Vec<Touched>,
    /// Whether names of entities were edited, or what calls entities by their names.
    is_of_targets: bool,
    /// Whether the distance between points of light was edited.
    is_of_grid: bool,
    /// Whether the game keeps as many entities as before, since nothing was edited by which it chooses.
    keeps_as_many: bool,
    /// The key that was edited last, since most edits are of one key.
    key: (Vec<u8>, KeyUse),
}

/// What a key says.
#[derive(Clone, Copy)]
struct KeyUse {
    /// To which records its entity refers, or that it has to.
    is_of_records: bool,
    /// A name, or what calls one.
    is_of_targets: bool,
    /// Whether the game keeps the entity.
    is_choosing: bool,
    /// The distance between points of light.
    is_of_grid: bool,
}

impl KeyUse {
    fn of(bsp: &Bsp<'_>, key: &[u8]) -> Self {
        let is = |name: &&str| key.eq_ignore_ascii_case(name.as_bytes());
        let mut of_records = bsp.dialect().entity_references.iter().map(|reference| reference.key);
        let mut choosing = ["targetname", "spawnflags"].iter().chain(bsp.dialect().checks.spawn.mode_keys);
        let is_class = is(&"classname");
        KeyUse {
            is_of_records: is_class
                || is(&"model")
                || of_records.any(|name| is(&name))
                || bsp.dialect().class_rules.reads(key),
            is_of_targets: is_name(key) || is_target(key),
            is_choosing: is_class || choosing.any(is),
            is_of_grid: is(&"gridsize"),
        }
    }
}

impl<'e, 'a> Edit<'e, 'a> {
    fn of(bsp: &Bsp<'_>, new: &'e Entities<'a>) -> Self {
        let old = new.original();
        let mut is_kept = vec![false; old.len()];
        let key = (Vec::new(), KeyUse::of(bsp, b""));
        let (touched, is_of_targets, is_of_grid, keeps_as_many) = (Vec::new(), false, false, true);
        let mut edit = Edit { old, new, touched, is_of_targets, is_of_grid, keeps_as_many, key };
        for index in 0..new.len() {
            let before = new.origin(index);
            before.into_iter().for_each(|before| is_kept[before] = true);
            if new.get(index).is_none_or(|entity| entity.is_edited()) {
                edit.touch(bsp, before, Some(index));
            }
        }
        for (before, _) in is_kept.iter().enumerate().filter(|(_, is_kept)| !**is_kept) {
            edit.touch(bsp, Some(before), None);
        }
        edit
    }

    /// Adds an entity. Of one with as many pairs as before, the pairs that differ are what was edited; of others those
    /// between the first and the last that do.
    fn touch(&mut self, bsp: &Bsp<'_>, before: Option<usize>, now: Option<usize>) {
        let old = before.and_then(|before| self.old.get(before));
        let new = now.and_then(|now| self.new.get(now));
        let is_one = old.is_some() != new.is_some();
        let mut touched = Touched { before, now, first: 0, last: 0, is_of_records: is_one };
        self.keeps_as_many &= !is_one;
        let mut look = |pair: Pair<'_>| {
            if self.key.0 != pair.key {
                self.key = (pair.key.to_vec(), KeyUse::of(bsp, pair.key));
            }
            let its = self.key.1;
            touched.is_of_records |= its.is_of_records;
            self.is_of_targets = self.is_of_targets || its.is_of_targets || output_of(pair.value).is_some();
            self.is_of_grid |= its.is_of_grid;
            self.keeps_as_many &= !its.is_choosing;
        };
        let (Some(old), Some(new)) = (&old, &new) else {
            old.iter().chain(&new).flat_map(Entity::pairs).for_each(look);
            self.touched.push(touched);
            return;
        };
        let (old_len, new_len) = (old.pairs().len(), new.pairs().len());
        let room = old_len.min(new_len);
        let is_same = |at: usize| has_pair_of(old, at, new, at);
        let first = (0..room).take_while(|at| is_same(*at)).count();
        let is_same_from_end = |at: usize| has_pair_of(old, old_len - 1 - at, new, new_len - 1 - at);
        // Of as many pairs the first one that differs is known.
        let rest = room - first - usize::from(old_len == new_len && first < room);
        let last = (0..rest).take_while(|at| is_same_from_end(*at)).count();
        // The first and the last of these differ.
        let is_edited = |at: &usize| old_len != new_len || *at == first || *at + 1 == room - last || !is_same(*at);
        for (entity, end) in [(old, old_len - last), (new, new_len - last)] {
            (first..end).filter(is_edited).flat_map(|at| entity.pairs_in(at..at + 1)).for_each(&mut look);
        }
        (touched.first, touched.last) = (first, last);
        self.touched.push(touched);
    }

    fn side(&self, is_new: bool) -> &Entities<'a> {
        if is_new { self.new } else { &self.old }
    }

    /// The touched entities of one side, each with the pairs that differ.
    fn these(&self, is_new: bool) -> impl Iterator<Item = Looked<'_>> + Clone {
        let side = self.side(is_new);
        self.touched.iter().filter_map(move |touched| {
            let entity = side.get(if is_new { touched.now } else { touched.before }?)?;
            let pairs = touched.first..entity.pairs().len() - touched.last;
            Some(Looked { entity, pairs, is_of_records: touched.is_of_records })
        })
    }
}

/// What an edit did to entities, with the side to look at: whether it is the new one.
type Side<'s, 'e, 'a> = Option<(&'s Edit<'e, 'a>, bool)>;

fn check_edited_entities(
    bsp: &Bsp<'_>,
    edit: Side<'_, '_, '_>,
    _: &[SlotId],
    engine: Option<&'static Engine>,
    sink: &mut Sink,
) {
    let Some(((edit, is_new), slot)) = edit.zip(bsp.role(Role::Entities)) else { return };
    let refers = edit.these(is_new).any(|looked| looked.has_references(bsp));
    let lumps = Lumps::read(bsp, |slot| refers && refer_to(bsp, &slot.name));
    let (links, side) = (lumps.links(), edit.side(is_new));
    check_these(&lumps, &links, engine, &slot.name, side, edit.these(is_new), sink);
    if edit.is_of_targets {
        check_targets(&slot.name, side, sink);
    }
    if !edit.keeps_as_many {
        check_spawn(&slot.name, side, sink);
    }
    if bsp.bytes(slot.id).is_ok_and(|text| has_no_end(&text)) {
        sink.add(&ENTITY_END, At::lump(&slot.name), || NO_END.to_owned());
    }
}

fn check_edited_grid(bsp: &Bsp<'_>, edit: Side<'_, '_, '_>, _: &[SlotId], _: Option<&'static Engine>, sink: &mut Sink) {
    if edit.is_some_and(|(edit, _)| edit.is_of_grid) {
        light::check_grid(bsp, sink);
    }
}

fn check_edited_limits(
    bsp: &Bsp<'_>,
    edit: Side<'_, '_, '_>,
    touched: &[SlotId],
    engine: Option<&'static Engine>,
    sink: &mut Sink,
) {
    let Some(engine) = engine else { return };
    let lumps = Lumps::read(bsp, |_| false);
    let is_touched = |lump: &str| {
        let mut slots = bsp.slots().iter().filter(|slot| slot.name == lump);
        slots.any(|slot| touched.contains(&slot.id))
    };
    let counts = edit.is_some_and(|(edit, _)| !edit.keeps_as_many);
    let limits = engine.limits.iter().filter(|limit| is_touched(limit.lump) && (counts || limit.unit != Unit::InGame));
    lumps::check_these(&lumps, engine, limits, edit.map(|(edit, is_new)| edit.side(is_new)), sink);
}
