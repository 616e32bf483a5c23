//! The entity text: whether engines read it as intended, and whether the models that it names exist.
//!
//! Equal keys, keys and values without quotes, comments and bytes beyond ASCII are legal, not findings.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::code::{
    Code, ENTITY_BRACE, ENTITY_CLASS, ENTITY_ENGINES, ENTITY_LETTERS, ENTITY_MODEL, ENTITY_NO_EXTENT, ENTITY_NO_MODEL,
    ENTITY_NUL, ENTITY_QUOTES, ENTITY_RECORD, ENTITY_SIZE, ENTITY_STRUCTURE, ENTITY_SYNTAX, ENTITY_TAIL, ENTITY_TARGET,
    ENTITY_TOKEN, ENTITY_UNREAD, ENTITY_WORLD,
};
use super::lumps::{Lump, Lumps};
use super::sink::{At, Sink};
use crate::bsp::{Bsp, Links};
use crate::bytes::escaped;
use crate::content::entities::{DiagnosticKind, Entities, Entity, Flaw, Output, OutputField, Pair};
use crate::dialect::{BrushClasses, Engine, EntityForm, Role, TextEffect, TextTrait};
use crate::draft::entity_values;

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
    fn all(entity: Entity<'e>) -> Self {
        Looked { pairs: 0..entity.pairs().len(), entity, is_of_records: true }
    }

    /// Whether values refer to records that are to be looked at.
    pub(super) fn has_references(&self, bsp: &Bsp<'_>) -> bool {
        let has_model = || self.entity.all("model").any(|model| model.starts_with(b"*"));
        self.is_of_records && (has_model() || !entity_values(bsp, &self.entity).is_empty())
    }
}

/// Whether a pair says to which records its entity refers, or that it has to.
pub(super) fn is_of_records(bsp: &Bsp<'_>, pair: &Pair<'_>) -> bool {
    let keys = bsp.dialect().entity_references.iter().map(|reference| reference.key);
    let mut keys = keys.chain(["classname", "model"]);
    keys.any(|key| pair.key.eq_ignore_ascii_case(key.as_bytes()))
}

/// Whether values of entities refer to records of a lump.
pub(super) fn refer_to(bsp: &Bsp<'_>, lump: &str) -> bool {
    bsp.dialect().entity_references.iter().any(|reference| reference.lump.split('.').next() == Some(lump))
}

/// Returns the entities, if they can be read.
pub(super) fn check<'a>(
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
    let world = entities.get(0).and_then(|first| first.class().map(<[u8]>::to_vec));
    if !world.as_ref().is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn")) {
        sink.add(&ENTITY_WORLD, At::lump(lump).record(0), || match &world {
            Some(class) => format!("the first entity is a {}, not worldspawn", shown(class)),
            None => "there is no first entity with the class worldspawn".into(),
        });
    }
    let models = lumps.role(Role::Models).map(|models| models.len());
    for Looked { entity, pairs, is_of_records } in these.clone() {
        check_tokens(lump, most, &entity, pairs, sink);
        if is_of_records {
            if let Some(models) = models {
                check_model(lump, &entity, models, sink);
            }
            check_class(lump, lumps.bsp.dialect().brush_classes, &entity, sink);
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
            DiagnosticKind::NoNul => &ENTITY_NUL,
            DiagnosticKind::BytesBehindNul => &ENTITY_TAIL,
            DiagnosticKind::TouchingBrace
            | DiagnosticKind::UnquotedToken
            | DiagnosticKind::Comment
            | DiagnosticKind::ManyNuls => continue,
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

/// Classes whose entities are brush models.
fn check_class(lump: &str, classes: &BrushClasses, entity: &Entity<'_>, sink: &mut Sink) {
    let Some(class) = entity.class().filter(|class| classes.needs(class)) else { return };
    if entity.get("model").is_some_and(|model| !model.is_empty()) {
        return;
    }
    let at = At::lump(lump).record(entity.index());
    match classes.refusal {
        Some(refusal) => sink.add(&ENTITY_NO_MODEL, at, || {
            format!("a {} without a model; engines refuse the map with \"{refusal}\"", shown(class))
        }),
        None => sink.add(&ENTITY_NO_EXTENT, at, || format!("a {} without a model has no extent", shown(class))),
    }
}

/// Keys whose value is the name of the entities that an entity acts on, in all families.
const TARGETS: [&str; 5] = ["target", "killtarget", "pathtarget", "deathtarget", "combattarget"];

fn is_target(key: &[u8]) -> bool {
    TARGETS.iter().any(|target| key.eq_ignore_ascii_case(target.as_bytes()))
}

/// Whether a key gives a name by which others may call an entity: its own, its class (for outputs), or the name of
/// entities that a game makes, as `NPCTargetname`.
fn is_name(key: &[u8]) -> bool {
    let suffix = key.len().checked_sub(b"targetname".len()).map(|start| &key[start..]);
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b"targetname")) || key.eq_ignore_ascii_case(b"classname")
}

/// Whether a pair gives a name or calls one.
pub(super) fn is_of_targets(pair: &Pair<'_>) -> bool {
    is_name(pair.key) || is_target(pair.key) || output_of(pair.value).is_some()
}

/// The names that targets and outputs give, and no entity has. A game may make an entity of that name while it runs.
pub(super) fn check_targets(lump: &str, entities: &Entities<'_>, sink: &mut Sink) {
    let pairs = || entities.iter().flat_map(|entity| entity.pairs());
    let names: HashSet<Vec<u8>> =
        pairs().filter(|pair| is_name(pair.key)).map(|pair| pair.value.to_ascii_lowercase()).collect();
    let sorted: BTreeSet<&[u8]> = names.iter().map(Vec::as_slice).collect();
    for entity in entities.iter() {
        for pair in entity.pairs() {
            let is_target = is_target(pair.key);
            let output = if is_target { None } else { output_of(pair.value) };
            let name = match &output {
                Some(output) => output.field(OutputField::Target),
                None if is_target => pair.value,
                None => continue,
            };
            let lower = name.to_ascii_lowercase();
            let is_there = match lower.split_last() {
                // `!activator` and others are not names; an output without a target goes nowhere by intent.
                None => true,
                _ if lower[0] == b'!' => true,
                Some((b'*', start)) => sorted.range(start..).next().is_some_and(|name| name.starts_with(start)),
                _ => names.contains(&lower),
            };
            if !is_there {
                sink.add(&ENTITY_TARGET, At::lump(lump).record(entity.index()), || {
                    format!("its {} names `{}`, and no entity has this name", shown(pair.key), shown(name))
                });
            }
        }
    }
}

/// The output that a value is; most values are distinguished by their separators alone.
fn output_of(value: &[u8]) -> Option<Output> {
    let is_possible = |separator| value.iter().filter(|byte| **byte == separator).count() == 4;
    (is_possible(Output::ESCAPE) || is_possible(Output::COMMA)).then(|| Output::parse(value)).flatten()
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
    for value in entities.flat_map(|entity| entity_values(bsp, &entity)) {
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
