//! The entity text: whether engines read it as intended, and whether the models and records that it names exist.
//!
//! Equal keys, keys and values without quotes, comments and bytes beyond ASCII are legal, not findings.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::entities::{DiagnosticKind, Entities, Entity, Flaw};
use bspkit::dialect::{ClassRules, Engine, EntityForm, NeededKey, Role, TextEffect, TextTrait};
use bspkit::finding::Code;
use bspkit::links::{Links, star};

use super::finding::{
    ENTITY_BRACE, ENTITY_CLASS, ENTITY_END, ENTITY_ENGINES, ENTITY_LETTERS, ENTITY_MODEL, ENTITY_NO_EXTENT,
    ENTITY_NO_KEY, ENTITY_NO_MODEL, ENTITY_NO_SPAWN, ENTITY_NUL, ENTITY_QUOTES, ENTITY_RECORD, ENTITY_SIZE,
    ENTITY_STRUCTURE, ENTITY_SYNTAX, ENTITY_TAIL, ENTITY_TOKEN, ENTITY_TWO_CLASSES, ENTITY_UNREAD, ENTITY_WORLD,
    ENTITY_WORLDS,
};
use super::lumps::{Lump, Lumps};
use super::targets::check_targets;
use super::{At, Sink};

pub(super) const NO_END: &str =
    "no NUL ends the text, and its size is a multiple of 16: in memory no zero follows, and engines read on";

/// Engines copy the text into memory that is filled with zeros up to a multiple of 16 or 32 bytes. Where none follows,
/// they read on.
pub(super) fn has_no_end(text: &[u8]) -> bool {
    !text.is_empty() && text.len().is_multiple_of(16) && memchr::memchr(0, text).is_none()
}

/// An entity to look at.
#[derive(Clone)]
pub(super) struct Looked<'e> {
    pub(super) entity: Entity<'e>,
    /// The pairs to look at.
    pub(super) pairs: Range<usize>,
    /// Whether to look at the records to which the entity refers.
    pub(super) is_of_records: bool,
}

impl<'e> Looked<'e> {
    pub(super) fn all(entity: Entity<'e>) -> Self {
        Looked { pairs: 0..entity.pairs().len(), entity, is_of_records: true }
    }

    /// Whether values refer to records that are to be looked at.
    pub(super) fn has_references(&self, bsp: &Bsp<'_>) -> bool {
        let has_model = || self.entity.all("model").any(|model| model.starts_with(b"*"));
        self.is_of_records && (has_model() || !self.entity.record_values(bsp.dialect()).is_empty())
    }
}

/// Whether values of entities refer to records of a lump.
pub(super) fn refer_to(bsp: &Bsp<'_>, lump: &str) -> bool {
    bsp.dialect().entity_references.iter().any(|reference| reference.lump.split('.').next() == Some(lump))
}

/// Returns the entities, if they can be read.
pub(super) fn check_entities<'a>(
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
    check_spawn(lump.name, &entities, sink);
    Some(entities)
}

/// Checks the first entity, and some of the entities.
pub(super) fn check_these<'e>(
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
        check_classes(lump, &entity, sink);
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

/// The classes of places where players start have these words in their names, in all games: `info_player_start`,
/// `info_survivor_position`, `team_CTF_redspawn`.
const SPAWNS: [&[u8]; 3] = [b"player", b"spawn", b"survivor"];

/// A map without a place where players start. A map that has only the world is a model of an item.
pub(super) fn check_spawn(lump: &str, entities: &Entities<'_>, sink: &mut Sink) {
    let is_spawn = |class: &[u8]| {
        let class = class.to_ascii_lowercase();
        class != b"worldspawn" && SPAWNS.iter().any(|word| memchr::memmem::find(&class, word).is_some())
    };
    // Most maps have many entities of few classes.
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let classes = || entities.iter().filter_map(|entity| entity.class());
    if entities.len() > 1 && !classes().any(|class| seen.insert(class) && is_spawn(class)) {
        sink.add(&ENTITY_NO_SPAWN, At::lump(lump), || "no entity is a place where players start".to_owned());
    }
}

/// One entity, one class: engines differ in which of several they take, and only the first entity is the world.
fn check_classes(lump: &str, entity: &Entity<'_>, sink: &mut Sink) {
    let at = At::lump(lump).record(entity.index());
    let mut classes = entity.all("classname");
    let Some(first) = classes.next() else { return };
    if let Some(other) = classes.find(|class| !class.eq_ignore_ascii_case(first)) {
        sink.add(&ENTITY_TWO_CLASSES, at, || {
            format!("it is a {} and a {}: some engines read the first, some the last", shown(first), shown(other))
        });
    }
    if entity.index() > 0 && entity.is_world() {
        sink.add(&ENTITY_WORLDS, at, || "it is a worldspawn, and only the first entity is the world".to_owned());
    }
}

/// `"model" "*12"` names the map's model 12. Other values are names of files.
fn check_model(lump: &str, entity: &Entity<'_>, models: usize, sink: &mut Sink) {
    for value in entity.all("model") {
        if !value.starts_with(b"*") {
            continue;
        }
        let at = At::lump(lump).record(entity.index());
        match star(value).and_then(|number| usize::try_from(number).ok()) {
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
pub(super) fn shown(token: &[u8]) -> String {
    const MOST: usize = 40;
    let dots = if token.len() > MOST { "..." } else { "" };
    format!("{}{dots}", escaped(&token[..token.len().min(MOST)]))
}
