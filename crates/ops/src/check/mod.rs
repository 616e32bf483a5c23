//! Finds the faults of a map: everything that makes an engine refuse it or read bytes that do not exist.
//!
//! A finding has a code that never changes its meaning, a severity, a place and a sentence. What the formats allow is
//! not a finding, however unusual: `docs/checks.md` has the table, with the exceptions and the source of each fact.
//! Nothing is changed.

mod finding;
mod light;
mod lumps;
mod options;
mod physics;
mod references;
mod shapes;
mod targets;
mod tree;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use bspkit::bytes::escaped;
use bspkit::content::entities::{DiagnosticKind, Entities, Entity, Flaw, Pair};
use bspkit::dialect::{ClassRules, Engine, EntityForm, NeededKey, Role, TextEffect, TextTrait, Unit};
use bspkit::file::SlotId;
use bspkit::finding::{Code, Finding};
use bspkit::links::Links;
use bspkit::{Bsp, Draft, Result};
pub(super) use finding::{At, LISTED, Sink, UNUSED_RECORDS};
pub use finding::{CODES, Denied, code, few};
use finding::{
    ENTITY_BRACE, ENTITY_CLASS, ENTITY_END, ENTITY_ENGINES, ENTITY_LETTERS, ENTITY_MODEL, ENTITY_NO_EXTENT,
    ENTITY_NO_KEY, ENTITY_NO_MODEL, ENTITY_NO_WORLD, ENTITY_NUL, ENTITY_QUOTES, ENTITY_RECORD, ENTITY_SIZE,
    ENTITY_STRUCTURE, ENTITY_SYNTAX, ENTITY_TAIL, ENTITY_TOKEN, ENTITY_UNREAD, ENTITY_WORLD,
};
pub use light::places_light;
use lumps::{Lump, Lumps};
pub use lumps::{Usage, usage};
pub use options::Options;
pub use physics::places_solids;
pub(crate) use physics::shapes_of;
pub use references::{Stale, stale};
pub use targets::{Unanswered, is_name, unanswered};
use targets::{check_targets, is_target, output_of};

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
    let new = all(&view);
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
    tree::check(lumps, sink);
    tree::check_visibility(lumps, sink);
    light::check(lumps, sink);
    shapes::check_rules(lumps, sink);
    light::check_textures(lumps, sink);
    shapes::check_surfaces(lumps, sink);
    shapes::check_displacements(lumps, sink);
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
    if bsp.bytes(slot.id).is_ok_and(|text| has_no_end(&text)) {
        sink.add(&ENTITY_END, At::lump(&slot.name), || NO_END.to_owned());
    }
}

const NO_END: &str =
    "no NUL ends the text, and its size is a multiple of 16: in memory no zero follows, and engines read on";

/// Engines copy the text into memory that is filled with zeros up to a multiple of 16 or 32 bytes. Where none follows,
/// they read on.
fn has_no_end(text: &[u8]) -> bool {
    !text.is_empty() && text.len().is_multiple_of(16) && memchr::memchr(0, text).is_none()
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

// The entity text: whether engines read it as intended, and whether the models that it names exist.
//
// Equal keys, keys and values without quotes, comments and bytes beyond ASCII are legal, not findings.

/// An entity to look at.
#[derive(Clone)]
struct Looked<'e> {
    entity: Entity<'e>,
    /// The pairs to look at.
    pairs: Range<usize>,
    /// Whether to look at the records to which the entity refers.
    is_of_records: bool,
}

impl<'e> Looked<'e> {
    fn all(entity: Entity<'e>) -> Self {
        Looked { pairs: 0..entity.pairs().len(), entity, is_of_records: true }
    }

    /// Whether values refer to records that are to be looked at.
    fn has_references(&self, bsp: &Bsp<'_>) -> bool {
        let has_model = || self.entity.all("model").any(|model| model.starts_with(b"*"));
        self.is_of_records && (has_model() || !self.entity.record_values(bsp.dialect()).is_empty())
    }
}

/// Whether values of entities refer to records of a lump.
fn refer_to(bsp: &Bsp<'_>, lump: &str) -> bool {
    bsp.dialect().entity_references.iter().any(|reference| reference.lump.split('.').next() == Some(lump))
}

/// Returns the entities, if they can be read.
fn check_entities<'a>(
    lumps: &Lumps<'a>,
    links: &Links<'_>,
    engine: Option<&'static Engine>,
    sink: &mut Sink,
) -> Option<Entities<'a>> {
    let lump = lumps.role_lump(Role::Entities).filter(|lump| !lump.bytes.is_empty())?;
    let entities = match Entities::parse(lump.bytes.clone(), lumps.bsp.entity_rules()) {
        Ok(entities) => entities,
        Err(error) => {
            sink.add(&ENTITY_UNREAD, At::lump(lump.name), || error.to_string());
            return None;
        }
    };
    check_text(lump, &entities, sink);
    check_these(lumps, links, engine, lump.name, &entities, entities.iter().map(Looked::all), sink);
    check_targets(lump.name, &entities, sink);
    Some(entities)
}

/// Checks the first entity, and some of the entities.
fn check_these<'e>(
    lumps: &Lumps<'_>,
    links: &Links<'_>,
    engine: Option<&'static Engine>,
    lump: &str,
    entities: &'e Entities<'_>,
    these: impl Iterator<Item = Looked<'e>> + Clone,
    sink: &mut Sink,
) {
    let most = engine.and_then(|engine| engine.max_token);
    let first = entities.get(0);
    if !first.as_ref().is_some_and(Entity::is_world) {
        let world = first.as_ref().and_then(Entity::class);
        sink.add(&ENTITY_WORLD, At::lump(lump).record(0), || match world {
            Some(class) => format!("the first entity is a {}, not worldspawn", shown(class)),
            None => "there is no first entity with the class worldspawn".into(),
        });
    }
    let models = lumps.role(Role::Models).map(|models| models.len());
    let rules = lumps.bsp.dialect().class_rules;
    let mut with_rules: HashMap<Option<&[u8]>, bool> = HashMap::new();
    for Looked { entity, pairs, is_of_records } in these.clone() {
        check_tokens(lump, most, &entity, pairs, sink);
        if is_of_records {
            if let Some(models) = models {
                check_model(lump, &entity, models, sink);
            }
            let has_rules = |class: Option<&[u8]>| class.is_some_and(|class| rules.has(class));
            let class = entity.class();
            if *with_rules.entry(class).or_insert_with(|| has_rules(class)) {
                check_class(lump, rules, &entity, sink);
            }
        }
    }
    let referring = these.clone().filter(|looked| looked.is_of_records).map(|looked| looked.entity);
    check_numbers(lump, lumps.bsp, links, referring, sink);
    // The chosen engine has its own limit for tokens, so the limits of the table do not apply.
    let is_length = |flaw: &Flaw| matches!(flaw.rule.what, TextTrait::KeyLonger(_) | TextTrait::ValueLonger(_));
    let flaws = these.flat_map(|looked| entities.flaws_of(&looked.entity, looked.pairs));
    for flaw in flaws.filter(|flaw| most.is_none() || !is_length(flaw)) {
        sink.add(code_of(&flaw), At::lump(lump).record(flaw.entity), || flaw.message.clone());
    }
}

/// The code for a rule of the dialect's table.
fn code_of(flaw: &Flaw) -> &'static Code {
    match (flaw.rule.what, flaw.rule.effect) {
        (TextTrait::KeyLonger(_) | TextTrait::ValueLonger(_), _) => &ENTITY_TOKEN,
        (TextTrait::BraceAlone, _) => &ENTITY_BRACE,
        (TextTrait::NoClass, _) => &ENTITY_CLASS,
        (TextTrait::Backslash | TextTrait::SpaceBehindKey, _) => &ENTITY_LETTERS,
        (TextTrait::MorePairs(_) | TextTrait::MoreBytes(_), TextEffect::Stops) => &ENTITY_SIZE,
        _ => &ENTITY_ENGINES,
    }
}

/// Finds a word without quotes that has a quote in it or directly before it: a quote is missing somewhere, and the text
/// after it is read in another way than intended.
fn touches_a_quote(text: &[u8], word: Range<usize>) -> bool {
    text.get(word.start.saturating_sub(1)..word.end).is_some_and(|word| word.contains(&b'"'))
}

fn check_text(lump: &Lump<'_>, entities: &Entities<'_>, sink: &mut Sink) {
    let mut is_told = false;
    let rules = entities.rules();
    let reads_on = rules.rule(TextTrait::BraceAlone).is_some();
    let touching = rules.rule(TextTrait::TouchingBrace);
    for diagnostic in entities.diagnostics() {
        let code: &'static Code = match diagnostic.kind {
            // Source prints a warning and stops reading; the others refuse the map.
            DiagnosticKind::KeyWithoutValue if reads_on => &ENTITY_SYNTAX,
            DiagnosticKind::UnterminatedQuote => &ENTITY_SYNTAX,
            DiagnosticKind::MissingClosingBrace
            | DiagnosticKind::NestedBrace
            | DiagnosticKind::KeyWithoutValue
            | DiagnosticKind::BraceInToken
            | DiagnosticKind::StrayToken => &ENTITY_STRUCTURE,
            DiagnosticKind::TouchingBrace if touching.is_some() => &ENTITY_ENGINES,
            // The quote is missing at the first one; all later ones follow from that.
            DiagnosticKind::UnquotedToken if !is_told && touches_a_quote(&lump.bytes, diagnostic.span.clone()) => {
                is_told = true;
                &ENTITY_QUOTES
            }
            DiagnosticKind::NoNul if has_no_end(&lump.bytes) => {
                sink.add(&ENTITY_END, At::lump(lump.name), || NO_END.to_owned());
                continue;
            }
            DiagnosticKind::NoNul => &ENTITY_NUL,
            DiagnosticKind::BytesBehindNul => &ENTITY_TAIL,
            // Engines read comments, several NULs, and the first two where nothing else is wrong.
            _ => continue,
        };
        let at = At { record: diagnostic.entity, ..At::lump(lump.name).offset(diagnostic.span.start) };
        sink.add(code, at, || match (diagnostic.kind, touching) {
            (DiagnosticKind::UnquotedToken, _) => {
                "a word without quotes has a quote in it or touches one; the text after it may be read in \
                 another way than intended"
                    .to_owned()
            }
            (DiagnosticKind::TouchingBrace, Some(rule)) => {
                format!("{}; {} reads it as a letter and stops", diagnostic.kind, rule.engines)
            }
            _ => diagnostic.kind.to_string(),
        });
    }
}

/// Faults for every engine, and for an engine that reads tokens of at most this many bytes.
fn check_tokens(lump: &str, most: Option<usize>, entity: &Entity<'_>, pairs: Range<usize>, sink: &mut Sink) {
    let at = At::lump(lump).record(entity.index());
    for pair in entity.pairs_in(pairs) {
        if pair.value.first() == Some(&b'}') {
            sink.add(&ENTITY_BRACE, at, || {
                format!("engines read the value `{}` as a brace, in quotes or not", shown(pair.value))
            });
        }
        for (what, token) in [("key", pair.key), ("value", pair.value)] {
            if let Some(most) = most.filter(|most| token.len() > *most) {
                sink.add(&ENTITY_TOKEN, at, || {
                    let len = token.len();
                    format!("the {what} `{}` has {len} bytes, and the engine reads {most}", shown(token))
                });
            }
        }
    }
}

/// `"model" "*12"` names the map's model 12. Other values are names of files.
fn check_model(lump: &str, entity: &Entity<'_>, models: usize, sink: &mut Sink) {
    for value in entity.all("model") {
        let Some(number) = value.strip_prefix(b"*") else { continue };
        let text = std::str::from_utf8(number).ok().map(str::trim);
        let at = At::lump(lump).record(entity.index());
        match text.and_then(|text| text.parse::<usize>().ok()) {
            Some(model) if model < models => {}
            Some(model) => sink.add(&ENTITY_MODEL, at, || format!("its model is *{model}, and the map has {models}")),
            None => sink.add(&ENTITY_MODEL, at, || format!("its model `{}` is not `*` and a number", shown(value))),
        }
    }
}

/// The class of an entity that needs a brush model.
pub(crate) fn class_with_model<'e>(classes: &ClassRules, entity: &Entity<'e>) -> Option<&'e [u8]> {
    let has = |key: &str| entity.get(key).is_some_and(|value| !value.is_empty());
    entity.class().filter(|class| classes.needs(class, has))
}

/// Classes whose entities are brush models, or need other keys.
fn check_class(lump: &str, classes: &ClassRules, entity: &Entity<'_>, sink: &mut Sink) {
    let missing = entity.class().and_then(|class| classes.missing(class, |key| entity.get(key).is_some()));
    if let Some(NeededKey { class, keys, refusal }) = missing {
        sink.add(&ENTITY_NO_KEY, At::lump(lump).record(entity.index()), || {
            let keys = keys.join(" or ");
            format!("a {class} without the key {keys}; engines refuse the map with \"{refusal}\"")
        });
    }
    let Some(class) = class_with_model(classes, entity) else { return };
    let at = At::lump(lump).record(entity.index());
    if let Some(model) = entity.get("model").filter(|model| !model.is_empty()) {
        if let Some(refusal) = classes.no_file.filter(|_| !model.starts_with(b"*")) {
            sink.add(&ENTITY_NO_MODEL, at, || {
                let (class, model) = (shown(class), shown(model));
                format!(
                    "a {class} with the model {model}, which is not one of the map; engines refuse it: it \"{refusal}\""
                )
            });
        }
        return;
    }
    match classes.refusal {
        Some(refusal) => sink.add(&ENTITY_NO_MODEL, at, || {
            format!("a {} without a model; engines refuse the map with \"{refusal}\"", shown(class))
        }),
        None => sink.add(&ENTITY_NO_EXTENT, at, || format!("a {} without a model has no extent", shown(class))),
    }
}

/// Numbers of area portals and occluders.
fn check_numbers<'e>(
    lump: &str,
    bsp: &Bsp<'_>,
    links: &Links<'_>,
    entities: impl Iterator<Item = Entity<'e>>,
    sink: &mut Sink,
) {
    let mut numbers: HashMap<&str, HashSet<i64>> = HashMap::new();
    for value in entities.flat_map(|entity| entity.record_values(bsp.dialect())) {
        let (reference, number) = (value.reference, value.number);
        let Some(site) = links.referred(reference.lump).map(|site| &links.sites[site]) else { continue };
        // A lump that lies outside of the file is a finding already.
        if bsp.container().slot(site.slot).is_some_and(|slot| slot.bounds.is_damaged()) {
            continue;
        }
        let is_there = match reference.form {
            EntityForm::Starred => continue,
            EntityForm::Index => usize::try_from(number).is_ok_and(|index| index < site.len()),
            EntityForm::Field(field) => {
                let all = || site.records().filter_map(|record| i64::try_from(site.number(field, record)).ok());
                numbers.entry(reference.lump).or_insert_with(|| all().collect()).contains(&number)
            }
        };
        if !is_there {
            let at = At::lump(lump).record(value.entity);
            sink.add(&ENTITY_RECORD, at, || {
                format!("its {} is {number}, and {} has none of this number", reference.key, site.name)
            });
        }
    }
}

/// A token on one line; a long one is shortened.
fn shown(token: &[u8]) -> String {
    const MOST: usize = 40;
    let dots = if token.len() > MOST { "..." } else { "" };
    format!("{}{dots}", escaped(&token[..token.len().min(MOST)]))
}
