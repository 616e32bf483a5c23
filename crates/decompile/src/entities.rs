//! Entities as an editor has them: without what compilers add.

use bspkit::content::entities::{DiagnosticKind, Entities};
use bspkit::dialect::Role;
use bspkit::{Bsp, Result};

use crate::report::Counts;
use crate::source::Point;
use crate::tools::Family;

/// An entity of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Its keys and values in their order, but for those that compilers add.
    pub(crate) pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// The model that it has; the world has the first one.
    pub(crate) model: Option<usize>,
    /// Whether it names a model that the map does not have.
    pub(crate) is_dangling: bool,
    /// Where its model is.
    pub(crate) origin: Point,
    /// The number that its editor gave it (Source).
    pub(crate) id: Option<u32>,
    /// The comments before it and in it, line by line.
    pub(crate) comments: Vec<Vec<u8>>,
}

impl Given {
    /// The first value of a key, whose case does not matter.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.pairs.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| &value[..])
    }
}

/// When a key was added by a compiler.
struct Added {
    key: &'static str,
    /// The beginning of the classes that it is added to.
    class: &'static str,
    families: &'static [Family],
    /// Whether a value was.
    is_added: fn(&Given, &[u8]) -> bool,
}

const ALL: &[Family] = &[Family::Quake, Family::Quake2, Family::Quake3, Family::Source];

fn always(_: &Given, _: &[u8]) -> bool {
    true
}

fn number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// Lights that can be switched get styles from 32 on.
fn is_switchable(entity: &Given, value: &[u8]) -> bool {
    let has_name = ["targetname", "_target_name"].iter().any(|key| entity.get(key.as_bytes()).is_some());
    has_name && number(value).is_some_and(|style| style >= 32.0)
}

const ADDED: &[Added] = &[
    Added { key: "style", class: "light", families: ALL, is_added: is_switchable },
    Added { key: "style", class: "func_areaportal", families: &[Family::Quake2], is_added: always },
    Added { key: "compiler", class: "worldspawn", families: &[Family::Quake], is_added: always },
    Added { key: "_q3map2_version", class: "worldspawn", families: &[Family::Quake3], is_added: always },
    Added { key: "_q3map2_cmdline", class: "worldspawn", families: &[Family::Quake3], is_added: always },
    Added { key: "world_mins", class: "worldspawn", families: &[Family::Source], is_added: always },
    Added { key: "world_maxs", class: "worldspawn", families: &[Family::Source], is_added: always },
    Added { key: "portalnumber", class: "func_areaportal", families: &[Family::Source], is_added: always },
    Added { key: "occludernumber", class: "func_occluder", families: &[Family::Source], is_added: always },
];

/// The entities of a map, and which keys of them were taken away: the entity and the key.
pub(crate) fn read(map: &Bsp<'_>, family: Family) -> Result<(Vec<Given>, Vec<Taken>)> {
    let entities = map.entities()?;
    let is_model = |lump: &str| map.role(Role::Models).is_some_and(|slot| slot.name == lump);
    let models = map.records(Role::Models).map_or(0, |models| models.len());
    let (mut found, mut taken) = (Vec::with_capacity(entities.len()), Vec::new());
    for entity in entities.iter() {
        let values = entity.record_values(map.dialect());
        let model = values.iter().find(|value| is_model(value.reference.lump));
        let number = model.and_then(|value| usize::try_from(value.number).ok()).filter(|number| *number < models);
        let mut given = Given {
            pairs: entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect(),
            model: number,
            is_dangling: model.is_some() && number.is_none(),
            origin: entity
                .vector("origin")
                .filter(|origin| origin.iter().all(|part| part.is_finite()))
                .unwrap_or_default(),
            id: None,
            comments: Vec::new(),
        };
        if let Some(value) = model {
            given.pairs.remove(value.pair);
        }
        if entity.index() == 0 && entity.is_world() {
            (given.model, given.origin, given.is_dangling) = (Some(0), [0.0; 3], false);
        }
        let index = entity.index();
        let mut take = |given: &mut Given, key: &[u8]| -> Option<Vec<u8>> {
            let at = given.pairs.iter().position(|(own, _)| own.eq_ignore_ascii_case(key))?;
            let (key, value) = given.pairs.remove(at);
            taken.push(Taken { entity: index, key, value: value.clone() });
            Some(value)
        };
        for added in ADDED.iter().filter(|added| added.families.contains(&family)) {
            let is_its = given.get(b"classname").is_some_and(|class| {
                class.get(..added.class.len()).is_some_and(|start| start.eq_ignore_ascii_case(added.class.as_bytes()))
            });
            let value = given.get(added.key.as_bytes());
            if is_its && value.is_some_and(|value| (added.is_added)(&given, value)) {
                take(&mut given, added.key.as_bytes());
            }
        }
        if family == Family::Source
            && let Some(id) = take(&mut given, b"hammerid")
        {
            given.id = std::str::from_utf8(&id).ok().and_then(|id| id.trim().parse().ok());
        }
        found.push(given);
    }
    add_comments(&entities, &mut found)?;
    Ok((found, taken))
}

/// Gives each comment of the text to the entity that it is in or before; what follows the last one is the last one's.
fn add_comments(entities: &Entities<'_>, found: &mut [Given]) -> Result<()> {
    let text = entities.to_bytes();
    let ends: Vec<usize> = entities.iter().map(|entity| entity.span().map_or(0, |span| span.end)).collect();
    for comment in entities.lost_in_canonical()?.iter().filter(|lost| lost.kind == DiagnosticKind::Comment) {
        let bytes = text.get(comment.span.clone()).unwrap_or_default();
        let (start, end) = if bytes.starts_with(b"/*") { (2, bytes.strip_suffix(b"*/")) } else { (2, None) };
        let inside = end.unwrap_or(bytes).get(start..).unwrap_or_default();
        let owner = ends.partition_point(|end| *end <= comment.span.start).min(found.len().saturating_sub(1));
        let Some(owner) = found.get_mut(owner) else { continue };
        let lines = inside.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
        owner.comments.extend(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
    }
    Ok(())
}

/// Names what the text of the entities has that is in no entity, or in another one than its mapper meant.
pub(crate) fn name_damage(map: &Bsp<'_>, counts: &mut Counts) {
    let Ok(entities) = map.entities() else { return };
    for diagnostic in entities.diagnostics().iter() {
        let why = match diagnostic.kind {
            DiagnosticKind::UnterminatedQuote => "a quote is never closed",
            DiagnosticKind::MissingClosingBrace => "a closing brace is missing",
            DiagnosticKind::NestedBrace => "an opening brace is inside an entity",
            DiagnosticKind::KeyWithoutValue => "a key has no value",
            DiagnosticKind::StrayToken => "a word is outside entities",
            DiagnosticKind::BytesBehindNul => "it goes on after its end",
            _ => continue,
        };
        counts.leave_out("part of the entities", why, diagnostic.span.start);
    }
}

/// A pair that a compiler added.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) entity: usize,
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

/// The value of a key that was taken from an entity, as a number.
pub(crate) fn taken_number(taken: &[Taken], entity: usize, key: &[u8]) -> Option<i64> {
    let pair = taken.iter().find(|pair| pair.entity == entity && pair.key.eq_ignore_ascii_case(key))?;
    std::str::from_utf8(&pair.value).ok()?.trim().parse().ok()
}
