//! Names the entities of a patch as people would, so that it fits other versions of the map too.
//!
//! A name is a few pairs that no other entity has: of the keys that stay when a map is compiled again or gets more
//! entities. An entity without a name is found by all of its pairs, and equal ones by their order among these. The
//! number of its brush model is no name, since compilers number models anew; but it must be the expected one.

use std::collections::HashMap;

use super::changes;
use crate::content::entities::{Entities, Entity};
use crate::op::patch::{Expected, Finder, Match, Operation, PairKey, Patch, Spot, Target, is_brush_model};

/// The keys that name an entity if no other one has the same values, the best ones first.
const NAMING: [&[&[u8]]; 5] = [
    &[b"targetname"],
    &[b"classname", b"targetname"],
    &[b"classname", b"hammerid"],
    &[b"classname", b"origin"],
    &[b"classname", b"targetname", b"origin"],
];

/// A patch of entities by index, with the entities by name.
pub(super) fn named(old: &Entities<'_>, patch: Patch) -> Patch {
    let mut namer = Namer::new(old);
    let operations = patch.operations.into_iter().map(|operation| namer.operation(operation)).collect();
    Patch { entities: None, operations }
}

struct Namer<'e, 'a> {
    old: &'e Entities<'a>,
    finder: Finder<'e>,
    /// How many entities have the values of each row of [`NAMING`].
    counts: Vec<HashMap<Vec<&'e [u8]>, usize>>,
    known: HashMap<usize, Target>,
}

/// The first values of some keys, if all are there and not empty.
fn values<'e>(entity: &Entity<'e>, keys: &[&[u8]]) -> Option<Vec<&'e [u8]>> {
    keys.iter().map(|key| entity.get(key).filter(|value| !value.is_empty())).collect()
}

impl<'e, 'a> Namer<'e, 'a> {
    fn new(old: &'e Entities<'a>) -> Self {
        let count = |keys: &&[&[u8]]| {
            let mut counts: HashMap<Vec<&[u8]>, usize> = HashMap::new();
            old.iter().filter_map(|entity| values(&entity, keys)).for_each(|row| *counts.entry(row).or_default() += 1);
            counts
        };
        let counts = NAMING.iter().map(count).collect();
        Namer { old, finder: Finder::new(old), counts, known: HashMap::new() }
    }

    fn operation(&mut self, operation: Operation) -> Operation {
        match operation {
            Operation::Edit { on, expect, changes } => {
                let (on, expect) = self.target(on, expect, |_| true);
                Operation::Edit { on, expect, changes }
            }
            Operation::Replace { on, old, text } => {
                Operation::Replace { on: self.target(on, Vec::new(), |_| true).0, old, text }
            }
            Operation::Remove { on, expect } => {
                let is_kept =
                    |pair: &Expected| !is_brush_model(&pair.key.name, pair.value.as_deref().unwrap_or_default());
                let (on, expect) = self.target(on, expect, is_kept);
                Operation::Remove { on, expect }
            }
            Operation::Move { on, expect, to } => {
                let is_kept = |pair: &Expected| pair.key.name.eq_ignore_ascii_case(b"classname");
                let (on, expect) = self.target(on, expect, is_kept);
                Operation::Move { on, expect, to: self.spot(to) }
            }
            Operation::Add { pairs, to } => Operation::Add { pairs, to: to.map(|to| self.spot(to)) },
            Operation::AddText { text, to } => Operation::AddText { text, to: to.map(|to| self.spot(to)) },
            Operation::Text { .. } => operation,
        }
    }

    /// The name of a target, and what is expected of it: of an entity with a name only what is to be kept.
    fn target(
        &mut self,
        on: Target,
        mut expect: Vec<Expected>,
        is_kept: impl Fn(&Expected) -> bool,
    ) -> (Target, Vec<Expected>) {
        let Target::Index(index) = on else { return (on, expect) };
        let name = self.name(index);
        match &name {
            Target::Match(Match { only: false, .. }) => expect.retain(is_kept),
            Target::Match(_) => {
                // The number of the model, or that it has no model.
                let model = self.old.get(index).and_then(|entity| entity.get("model").map(<[u8]>::to_vec));
                if model.as_ref().is_none_or(|model| is_brush_model(b"model", model)) {
                    let key = PairKey::from("model");
                    expect
                        .extend((!expect.iter().any(|pair| pair.key == key)).then_some(Expected { key, value: model }));
                }
            }
            _ => {}
        }
        (name, expect)
    }

    fn spot(&mut self, spot: Spot) -> Spot {
        let (Spot::Before(target) | Spot::After(target)) = &spot;
        let name = match target {
            Target::Index(index) => self.name(*index),
            target => target.clone(),
        };
        match spot {
            Spot::Before(_) => Spot::Before(name),
            Spot::After(_) => Spot::After(name),
        }
    }

    fn name(&mut self, index: usize) -> Target {
        if let Some(known) = self.known.get(&index) {
            return known.clone();
        }
        let Some(entity) = self.old.get(index) else { return Target::Index(index) };
        let name = self.by_pairs(&entity).or_else(|| self.by_all(&entity)).unwrap_or(Target::Index(index));
        self.known.insert(index, name.clone());
        name
    }

    /// The name by the pairs that people name an entity by.
    fn by_pairs(&mut self, entity: &Entity<'e>) -> Option<Target> {
        let index = entity.index();
        let is_world = entity.class().is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn"));
        let world: &[&[u8]] = &[b"classname"];
        let rows = NAMING.into_iter().zip(&self.counts).filter(|(keys, counts)| {
            values(entity, keys).and_then(|row| counts.get(&row)).is_some_and(|count| *count == 1)
        });
        let rows: Vec<&[&[u8]]> = is_world.then_some(world).into_iter().chain(rows.map(|(keys, _)| keys)).collect();
        rows.into_iter().find_map(|keys| {
            let values = values(entity, keys)?;
            let pairs = keys.iter().zip(values).map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
            self.checked(index, Match { pairs, index: Some(index), ..Match::default() })
        })
    }

    /// The name by all pairs, and by the order among equal ones.
    fn by_all(&mut self, entity: &Entity<'e>) -> Option<Target> {
        let index = entity.index();
        let pairs = changes::list(entity).into_iter().filter(|(key, value)| !is_brush_model(key, value)).collect();
        let alike = self.finder.alike(entity.pairs().map(|pair| (pair.key, pair.value)));
        let (count, at) = (alike.len(), alike.binary_search(&index).ok()?);
        let (nth, count) = if count > 1 { (Some(at + 1), Some(count)) } else { (None, None) };
        self.checked(index, Match { pairs, only: true, nth, count, index: Some(index) })
    }

    /// The target, if it means this entity alone.
    fn checked(&mut self, index: usize, on: Match) -> Option<Target> {
        let target = Target::Match(on);
        (self.finder.find(&target) == Ok(vec![index])).then_some(target)
    }
}
