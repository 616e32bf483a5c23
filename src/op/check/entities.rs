//! The entity text: whether engines read it as it was meant, and whether the models are there that it names.
//!
//! Equal keys, keys and values without quotes, comments and bytes beyond ASCII are legal, and no finding.

use super::code::{
    Code, ENTITY_BRACE, ENTITY_MODEL, ENTITY_NUL, ENTITY_QUOTES, ENTITY_SIZE, ENTITY_STRUCTURE, ENTITY_SYNTAX,
    ENTITY_TAIL, ENTITY_TOKEN, ENTITY_UNREAD, ENTITY_WORLD,
};
use super::lumps::{Lump, Lumps};
use super::sink::{At, Sink};
use crate::bytes::escaped;
use crate::content::entities::{DiagnosticKind, Entities, Entity};
use crate::dialect::{Engine, EntityRules, Role};

/// Says how many entities there are, where that is known.
pub(super) fn check(lumps: &Lumps<'_>, engine: Option<&'static Engine>, sink: &mut Sink) -> Option<usize> {
    let lump = lumps.role_lump(Role::Entities).filter(|lump| !lump.bytes.is_empty())?;
    let mut rules = lumps.bsp.dialect().text;
    if let Some(most) = engine.and_then(|engine| engine.max_token) {
        (rules.max_token, rules.max_key) = (most, rules.max_key.min(most));
    }
    let entities = match Entities::parse(lump.bytes.clone(), rules) {
        Ok(entities) => entities,
        Err(error) => {
            sink.add(&ENTITY_UNREAD, At::lump(lump.name), || error.to_string());
            return None;
        }
    };
    check_text(lumps, lump, &entities, sink);
    let world = entities.get(0).and_then(|first| first.class().map(<[u8]>::to_vec));
    if !world.as_ref().is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn")) {
        sink.add(&ENTITY_WORLD, At::lump(lump.name).record(0), || match &world {
            Some(class) => format!("the first entity is a {}, not worldspawn", shown(class)),
            None => "there is no first entity with the class worldspawn".into(),
        });
    }
    let models = lumps.role(Role::Models).map(|models| models.len());
    for entity in entities.iter() {
        check_tokens(lump, &rules, &entity, sink);
        if let Some(models) = models {
            check_model(lump, &entity, models, sink);
        }
    }
    Some(entities.len())
}

/// Whether a word without quotes begins or ends at one: a quote is missing somewhere, and all behind it is read in
/// another way than it was meant.
fn touches_a_quote(text: &[u8], word: std::ops::Range<usize>) -> bool {
    let is_quote = |at: Option<usize>| at.and_then(|at| text.get(at)) == Some(&b'"');
    is_quote(word.start.checked_sub(1)) || is_quote(Some(word.end))
}

fn check_text(lumps: &Lumps<'_>, lump: &Lump<'_>, entities: &Entities<'_>, sink: &mut Sink) {
    let mut is_told = false;
    let reads_on = lumps.bsp.dialect().text.lone_brace_breaks;
    for diagnostic in entities.diagnostics() {
        let code: &'static Code = match diagnostic.kind {
            // Source warns of it and stops reading, the others stop altogether.
            DiagnosticKind::KeyWithoutValue if reads_on => &ENTITY_SYNTAX,
            DiagnosticKind::UnterminatedQuote => &ENTITY_SYNTAX,
            DiagnosticKind::MissingClosingBrace
            | DiagnosticKind::NestedBrace
            | DiagnosticKind::KeyWithoutValue
            | DiagnosticKind::StrayToken => &ENTITY_STRUCTURE,
            // The first one is where the quote is missing; all behind it follows from that.
            DiagnosticKind::UnquotedToken if !is_told && touches_a_quote(&lump.bytes, diagnostic.span.clone()) => {
                is_told = true;
                &ENTITY_QUOTES
            }
            DiagnosticKind::NoNul => &ENTITY_NUL,
            DiagnosticKind::BytesBehindNul => &ENTITY_TAIL,
            DiagnosticKind::UnquotedToken | DiagnosticKind::Comment | DiagnosticKind::ManyNuls => continue,
        };
        let at = At { record: diagnostic.entity, ..At::lump(lump.name).offset(diagnostic.span.start) };
        sink.add(code, at, || match *code == ENTITY_QUOTES {
            true => {
                "a word without quotes touches a quote; what is behind it is read in another way than it seems meant"
                    .to_owned()
            }
            false => diagnostic.kind.to_string(),
        });
    }
}

fn check_tokens(lump: &Lump<'_>, rules: &EntityRules, entity: &Entity<'_>, sink: &mut Sink) {
    let at = At::lump(lump.name).record(entity.index());
    let engines = rules.engines;
    let mut bytes = 0;
    for pair in entity.pairs() {
        bytes += pair.key.len() + pair.value.len() + 2;
        for (what, token, most) in
            [("key", pair.key, rules.max_key.min(rules.max_token)), ("value", pair.value, rules.max_token)]
        {
            if token.first() == Some(&b'}') || (token == b"{" && rules.lone_brace_breaks) {
                sink.add(&ENTITY_BRACE, at, || {
                    format!("{engines} take the {what} `{}` for a brace, in quotes or not", shown(token))
                });
            }
            if token.len() > most {
                sink.add(&ENTITY_TOKEN, at, || {
                    let len = token.len();
                    format!("the {what} `{}` has {len} bytes, and the engine reads {most}", shown(token))
                });
            }
        }
    }
    let pairs = entity.pairs().len();
    if let Some(most) = rules.max_pairs.filter(|most| pairs > *most) {
        sink.add(&ENTITY_SIZE, at, || format!("it has {pairs} pairs, and {engines} stop at more than {most}"));
    }
    if let Some(most) = rules.max_entity_bytes.filter(|most| bytes > *most) {
        sink.add(&ENTITY_SIZE, at, || {
            format!("its keys and values have {bytes} bytes, and {engines} stop at more than {most}")
        });
    }
}

/// `"model" "*12"` names the map's model 12. Other values are names of files.
fn check_model(lump: &Lump<'_>, entity: &Entity<'_>, models: usize, sink: &mut Sink) {
    for value in entity.all("model") {
        let Some(number) = value.strip_prefix(b"*") else { continue };
        let text = std::str::from_utf8(number).ok().map(str::trim);
        let at = At::lump(lump.name).record(entity.index());
        match text.and_then(|text| text.parse::<usize>().ok()) {
            Some(model) if model < models => {}
            Some(model) => sink.add(&ENTITY_MODEL, at, || format!("its model is *{model}, and the map has {models}")),
            None => sink.add(&ENTITY_MODEL, at, || format!("its model `{}` is no number of one", shown(value))),
        }
    }
}

/// A token on one line, cut where it is long.
fn shown(token: &[u8]) -> String {
    const MOST: usize = 40;
    let dots = if token.len() > MOST { "..." } else { "" };
    format!("{}{dots}", escaped(&token[..token.len().min(MOST)]))
}
