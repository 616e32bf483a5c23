//! Names of entities that targets and outputs give.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;

use super::entities::shown;
use super::finding::{At, ENTITY_TARGET, Sink};
use bspkit::content::entities::{Entities, Output, OutputField};

/// Keys whose value is the name of the entities that an entity acts on, in all families.
const TARGETS: [&str; 5] = ["target", "killtarget", "pathtarget", "deathtarget", "combattarget"];

pub(super) fn is_target(key: &[u8]) -> bool {
    TARGETS.iter().any(|target| key.eq_ignore_ascii_case(target.as_bytes()))
}

/// Whether a key gives a name by which others may call an entity: its own, its class (in Source), or the name of
/// entities that a game makes, as `NPCTargetname`.
pub fn is_name(key: &[u8]) -> bool {
    let suffix = key.len().checked_sub(b"targetname".len()).map(|start| &key[start..]);
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b"targetname")) || key.eq_ignore_ascii_case(b"classname")
}

/// Whether a game makes entities of this name or class in every map, for outputs.
fn is_made_by_game(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"player")
}

/// A target or an output that gives a name that no entity of the map has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered<'e> {
    /// The number of the entity that gives the name.
    pub entity: usize,
    /// The number of the pair in the entity.
    pub pair: usize,
    /// The key of the pair.
    pub key: &'e [u8],
    /// The name, as it is written.
    pub name: &'e [u8],
}

/// The names that targets and outputs give, and no entity has; each once for a key of an entity. In Source they may be
/// those of classes. A game may make an entity of that name while it runs.
///
/// ```
/// use bspkit::{content::entities::Entities, dialect::EntityRules};
/// use bspkit_ops::check::unanswered;
/// let text = r#"{ "target" "lift" } { "targetname" "Lift" "target" "door" }"#;
/// let mut names = Vec::new();
/// unanswered(&Entities::parse(text, EntityRules::QUAKE2)?, |it| names.push((it.entity, it.name.to_vec())));
/// assert_eq!(names, [(1, b"door".to_vec())]);
/// // Quake tells letters of another case apart.
/// unanswered(&Entities::parse(text, EntityRules::QUAKE)?, |it| names.push((it.entity, it.name.to_vec())));
/// assert_eq!(names[1..], [(0, b"lift".to_vec()), (1, b"door".to_vec())]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn unanswered(entities: &Entities<'_>, mut each: impl FnMut(Unanswered<'_>)) {
    let pairs = || entities.iter().flat_map(|entity| entity.pairs());
    let rules = entities.rules();
    let is_class = |key: &[u8]| key.eq_ignore_ascii_case(b"classname");
    // Many maps have no targets.
    let names = LazyCell::new(|| {
        let named = pairs().filter(|pair| is_name(pair.key) && (rules.classes_are_names || !is_class(pair.key)));
        Names(named.map(|pair| rules.as_found(pair.value)).collect())
    });
    for entity in entities.iter() {
        // An entity may name another one often.
        let mut said = HashSet::new();
        for (number, pair) in entity.pairs().enumerate() {
            let is_target = is_target(pair.key);
            let output = if is_target { None } else { output_of(pair.value) };
            let name = match &output {
                Some(output) => output.field(OutputField::Target),
                None if is_target => pair.value,
                None => continue,
            };
            let as_found = rules.as_found(name);
            let is_there = match as_found.first() {
                // `!activator` and others are not names; an output without a target goes nowhere by intent.
                None | Some(b'!') => true,
                _ if output.is_some() && is_made_by_game(&as_found) => true,
                _ => names.have(&as_found),
            };
            if !is_there && said.insert((pair.key, as_found)) {
                each(Unanswered { entity: entity.index(), pair: number, key: pair.key, name });
            }
        }
    }
}

/// Names of entities as they are found.
struct Names(BTreeSet<Vec<u8>>);

impl Names {
    /// Whether one is this name, or begins with it up to a `*` at its end.
    fn have(&self, name: &[u8]) -> bool {
        match name.split_last() {
            Some((b'*', start)) => {
                let from = (Bound::Included(start), Bound::Unbounded);
                self.0.range::<[u8], _>(from).next().is_some_and(|name| name.starts_with(start))
            }
            _ => self.0.contains(name),
        }
    }
}

/// The names of [`unanswered`], as findings.
pub(super) fn check_targets(lump: &str, entities: &Entities<'_>, sink: &mut Sink) {
    unanswered(entities, |it| {
        sink.add(&ENTITY_TARGET, At::lump(lump).record(it.entity), || {
            format!("its {} names `{}`, and no entity has this name", shown(it.key), shown(it.name))
        });
    });
}

/// The output that a value is; most values are distinguished by their separators alone.
pub(super) fn output_of(value: &[u8]) -> Option<Output> {
    /// Four separators, an input and two numbers.
    const LEAST: usize = 7;
    if value.len() < LEAST || memchr::memchr2(Output::ESCAPE, Output::COMMA, value).is_none() {
        return None;
    }
    let is_possible = |separator| value.iter().filter(|byte| **byte == separator).count() == 4;
    (is_possible(Output::ESCAPE) || is_possible(Output::COMMA)).then(|| Output::parse(value)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bspkit::dialect::EntityRules;

    fn missing(rules: EntityRules, text: &str) -> Vec<String> {
        let mut names = Vec::new();
        unanswered(&Entities::parse(text, rules).unwrap(), |it| names.push(String::from_utf8_lossy(it.name).into()));
        names
    }

    #[test]
    fn a_class_is_a_name_in_source_alone() {
        let output = r#"{ "classname" "relay" "OnTrigger" "relay,Kill,,0,-1" "OnUser1" "func_*,Kill,,0,-1" }"#;
        assert_eq!(missing(EntityRules::SOURCE, output), ["func_*"]);
        let target = r#"{ "classname" "light" "target" "light" "killtarget" "li*" }"#;
        assert!(missing(EntityRules::SOURCE, target).is_empty());
        for rules in [EntityRules::QUAKE, EntityRules::GOLDSRC, EntityRules::QUAKE2, EntityRules::QUAKE3] {
            assert_eq!(missing(rules, target), ["light", "li*"]);
        }
    }

    #[test]
    fn letters_of_another_case_are_other_names_in_quake_and_goldsrc() {
        let text = r#"{ "target" "lamp" "killtarget" "LA*" } { "targetname" "Lamp" }"#;
        for rules in [EntityRules::QUAKE, EntityRules::GOLDSRC] {
            assert_eq!(missing(rules, text), ["lamp", "LA*"]);
        }
        for rules in [EntityRules::QUAKE2, EntityRules::QUAKE3, EntityRules::QFUSION, EntityRules::SOURCE] {
            assert!(missing(rules, text).is_empty());
        }
    }
}
