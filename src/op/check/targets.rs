//! Names of entities that targets and outputs give.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};

use super::finding::{At, ENTITY_TARGET, Sink};
use super::shown;
use crate::content::entities::{Entities, Output, OutputField};

/// Keys whose value is the name of the entities that an entity acts on, in all families.
const TARGETS: [&str; 5] = ["target", "killtarget", "pathtarget", "deathtarget", "combattarget"];

pub(super) fn is_target(key: &[u8]) -> bool {
    TARGETS.iter().any(|target| key.eq_ignore_ascii_case(target.as_bytes()))
}

/// Whether a key gives a name by which others may call an entity: its own, its class (for outputs), or the name of
/// entities that a game makes, as `NPCTargetname`.
pub(super) fn is_name(key: &[u8]) -> bool {
    let suffix = key.len().checked_sub(b"targetname".len()).map(|start| &key[start..]);
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b"targetname")) || key.eq_ignore_ascii_case(b"classname")
}

/// The names that targets and outputs give, and no entity has. A game may make an entity of that name while it runs.
pub(super) fn check_targets(lump: &str, entities: &Entities<'_>, sink: &mut Sink) {
    let pairs = || entities.iter().flat_map(|entity| entity.pairs());
    // Many maps have no targets, and few have one with a wildcard.
    let names: LazyCell<HashSet<Vec<u8>>, _> = LazyCell::new(|| {
        pairs().filter(|pair| is_name(pair.key)).map(|pair| pair.value.to_ascii_lowercase()).collect()
    });
    let sorted: LazyCell<BTreeSet<&[u8]>, _> = LazyCell::new(|| names.iter().map(Vec::as_slice).collect());
    for entity in entities.iter() {
        // An entity may name another one often.
        let mut said = HashSet::new();
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
            if !is_there && said.insert((pair.key, lower)) {
                sink.add(&ENTITY_TARGET, At::lump(lump).record(entity.index()), || {
                    format!("its {} names `{}`, and no entity has this name", shown(pair.key), shown(name))
                });
            }
        }
    }
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
