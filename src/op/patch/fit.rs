//! Checks whether a patch fits the entities of a map: finds its entities and compares them with the expectations.

use std::fmt;

use super::{Expected, Operation, PairKey, Patch, Spot, Target};
use crate::bytes::escaped;
use crate::content::entities::{Entities, Entity};
use crate::content::select::Index;

/// The length of a text in messages.
const SHOWN: usize = 60;

/// The entities of an operation, by the indices before the patch.
pub(super) struct Meant {
    pub(super) on: Vec<usize>,
    pub(super) beside: Option<usize>,
}

/// The entities of each operation; or, if something does not fit, all reasons.
pub(super) fn meant(patch: &Patch, entities: &Entities<'_>) -> Result<Vec<Meant>, Vec<String>> {
    let mut wrong = Vec::new();
    if let Some(expected) = patch.entities.filter(|expected| *expected != entities.len()) {
        wrong.push(format!("the map has {} entities, and {expected} were expected", entities.len()));
    }
    let mut all = Vec::with_capacity(patch.operations.len());
    let mut finder = Index::new(entities);
    for (index, operation) in patch.operations.iter().enumerate() {
        let mut say = |what: String| wrong.push(format!("operations[{index}]: {what}"));
        let on = operation.on().map(|on| on.find(&mut finder));
        let on = on.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|why| {
            say(why);
            Vec::new()
        });
        for found in on.iter().filter_map(|&index| entities.get(index)) {
            operation.expected().iter().filter_map(|expected| expected.fails(&found)).for_each(&mut say);
        }
        let beside = operation.spot().map(|(Spot::Before(target) | Spot::After(target))| target.find_one(&mut finder));
        let beside = beside.transpose().unwrap_or_else(|why| {
            say(why);
            None
        });
        if let Some(beside) = beside.filter(|beside| on.contains(beside)) {
            say(format!("#{beside} cannot be moved before or after itself"));
        }
        match operation {
            Operation::Replace { old, .. } => match (&on[..], old) {
                ([one], Some(old)) => say_other_text(entities.get(*one), old, &mut say),
                ([] | [_], _) => {}
                (several, _) => {
                    say(format!("{} entities are selected, and only one can have this text", several.len()))
                }
            },
            Operation::Text { .. } if patch.operations.len() > 1 => {
                say("a whole text is the only operation of its patch".to_owned());
            }
            Operation::Text { old: Some(old), .. } if crc32fast::hash(&entities.to_bytes()) != *old => {
                say("the checksum of the entity text is not the expected one".to_owned());
            }
            _ => {}
        }
        all.push(Meant { on, beside });
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

fn say_other_text(entity: Option<Entity<'_>>, old: &[u8], say: &mut impl FnMut(String)) {
    if let Some(entity) = entity.filter(|entity| entity.bytes() != old) {
        say(format!("#{} has the text {}, and {} was expected", entity.index(), shown(entity.bytes()), shown(old)));
    }
}

impl Operation {
    fn on(&self) -> Option<&Target> {
        match self {
            Operation::Edit { on, .. }
            | Operation::Replace { on, .. }
            | Operation::Remove { on, .. }
            | Operation::Move { on, .. } => Some(on),
            Operation::Add { .. } | Operation::AddText { .. } | Operation::Text { .. } => None,
        }
    }

    fn expected(&self) -> &[Expected] {
        match self {
            Operation::Edit { expect, .. } | Operation::Remove { expect, .. } | Operation::Move { expect, .. } => {
                expect
            }
            _ => &[],
        }
    }

    pub(super) fn spot(&self) -> Option<&Spot> {
        match self {
            Operation::Move { to, .. } => Some(to),
            Operation::Add { to, .. } | Operation::AddText { to, .. } => to.as_ref(),
            _ => None,
        }
    }
}

impl Target {
    fn find(&self, entities: &mut Index<'_>) -> Result<Vec<usize>, String> {
        let (found, count) = match self {
            Target::Index(index) if *index < entities.len() => return Ok(vec![*index]),
            Target::Index(index) => return Err(format!("there is no entity #{index}: the map has {}", entities.len())),
            Target::Match(pairs, count) => (entities.with_pairs(pairs), Some(count.unwrap_or(1))),
            Target::Select(selector, count) => (entities.select(selector), *count),
        };
        match count {
            Some(count) if count != found.len() => {
                let were = if count == 1 { "was" } else { "were" };
                Err(format!("{self} means {}, and {count} {were} expected", number(found.len())))
            }
            None if found.is_empty() => Err(format!("{self} means no entity")),
            _ => Ok(found),
        }
    }

    fn find_one(&self, entities: &mut Index<'_>) -> Result<usize, String> {
        match self.find(entities)?[..] {
            [one] => Ok(one),
            ref several => Err(format!("{self} means {} entities, and a place needs exactly one", several.len())),
        }
    }
}

fn number(entities: usize) -> String {
    match entities {
        0 => "no entity".to_owned(),
        1 => "1 entity".to_owned(),
        several => format!("{several} entities"),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Index(index) => write!(f, "#{index}"),
            Target::Select(selector, _) => write!(f, "{selector}"),
            Target::Match(pairs, _) => {
                f.write_str("the entity with")?;
                let mut pairs = pairs.iter();
                pairs.try_for_each(|(key, value)| write!(f, " {} {}", shown(key), shown(value)))
            }
        }
    }
}

impl fmt::Display for PairKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nth = self.nth.map(|nth| format!("#{nth}")).unwrap_or_default();
        write!(f, "`{}{nth}`", escaped(&self.name))
    }
}

impl Expected {
    /// States what an entity has instead.
    fn fails(&self, entity: &Entity<'_>) -> Option<String> {
        let found = entity.all(&self.key.name).nth(self.key.nth.unwrap_or(1).saturating_sub(1));
        if found == self.value.as_deref() {
            return None;
        }
        let (index, key) = (entity.index(), &self.key);
        Some(match (found, &self.value) {
            (Some(found), Some(value)) => {
                format!("#{index}: {key} is {}, and {} was expected", shown(found), shown(value))
            }
            (Some(found), None) => {
                format!("#{index}: {key} is {}, and the key was expected not to be there", shown(found))
            }
            (None, value) => {
                format!("#{index} has no {key}, and {} was expected", shown(value.as_deref().unwrap_or_default()))
            }
        })
    }
}

/// The start of a text, on one line.
fn shown(text: &[u8]) -> String {
    let dots = if text.len() > SHOWN { "..." } else { "" };
    format!("`{}{dots}`", escaped(&text[..text.len().min(SHOWN)]))
}
