//! Whether a map has everything already that a patch changes: then the patch does not fit, and nothing is wrong.

use bspkit::content::entities::{Entities, Entity};

use super::fit::Finder;
use super::{Change, Expected, Match, Operation, PairKey, Patch, Spot, Target};

impl Patch {
    /// Whether the map has all results of the patch: entities with the changed pairs, those that are added, none of
    /// those that are removed. That something is missing shows nothing by itself: a patch that only removes or moves
    /// is never done.
    pub(super) fn is_done(&self, entities: &Entities<'_>) -> bool {
        let shows = |operation: &Operation| !matches!(operation, Operation::Remove { .. } | Operation::Move { .. });
        let mut finder = Finder::new(entities);
        self.operations.iter().any(shows)
            && self.operations.iter().all(|operation| match operation {
                Operation::Edit { on, expect, changes } => is_edited(&mut finder, on, expect, changes),
                Operation::Replace { text, .. } => entities.iter().any(|entity| entity.bytes() == text),
                Operation::Remove { on: Target::Index(_) | Target::Select(..), .. } => false,
                Operation::Remove { on, .. } => finder.find(on).map_or(0, |found| found.len()) == 0,
                Operation::Move { on, to, .. } => is_beside(&mut finder, on, to),
                Operation::Add { pairs, .. } => {
                    !finder.alike(pairs.iter().map(|(key, value)| (&key[..], &value[..]))).is_empty()
                }
                Operation::AddText { text, .. } => entities.iter().any(|entity| entity.bytes() == text),
                Operation::Text { text, .. } => *text == entities.to_bytes(),
            })
    }
}

/// Whether entities have the pairs that an edit gives them.
fn is_edited(finder: &mut Finder<'_>, on: &Target, expect: &[Expected], changes: &[Change]) -> bool {
    let found = match on {
        Target::Index(_) | Target::Select(..) => finder.find(on).unwrap_or_default(),
        Target::Match(on) => {
            let mut pairs = on.pairs.clone();
            changes.iter().for_each(|change| change.foresee(&mut pairs));
            let found = finder.having(&Match { pairs, ..on.clone() });
            if found.len() < on.count.filter(|_| on.nth.is_none()).unwrap_or(1) {
                return false;
            }
            found
        }
    };
    let entities: Vec<Entity<'_>> = found.iter().map(|index| finder.entities[*index].clone()).collect();
    !entities.is_empty() && entities.iter().all(|entity| changes.iter().all(|change| change.is_done(entity, expect)))
}

/// Whether entities are on the side of another one where a move puts them.
fn is_beside(finder: &mut Finder<'_>, on: &Target, to: &Spot) -> bool {
    let (Spot::Before(beside) | Spot::After(beside)) = to;
    let (Ok(found), Ok(beside)) = (finder.find(on), finder.find_one(beside)) else { return false };
    found.iter().all(|index| match to {
        Spot::Before(_) => *index < beside,
        Spot::After(_) => *index > beside,
    })
}

impl Change {
    /// Makes the change in the pairs by which an entity is found.
    fn foresee(&self, pairs: &mut Vec<(Vec<u8>, Vec<u8>)>) {
        let places = |pairs: &[(Vec<u8>, Vec<u8>)], key: &PairKey| -> Vec<usize> {
            let all = pairs.iter().enumerate().filter(|(_, (name, _))| name.eq_ignore_ascii_case(&key.name));
            let all = all.map(|(place, _)| place);
            match key.nth {
                Some(nth) => all.skip(nth.saturating_sub(1)).take(1).collect(),
                None => all.collect(),
            }
        };
        match self {
            Change::Set { key, value } => match &places(pairs, key)[..] {
                [] => pairs.push((key.name.clone(), value.clone())),
                found => found.iter().for_each(|place| pairs[*place].1.clone_from(value)),
            },
            Change::Unset { key } => places(pairs, key).iter().rev().for_each(|place| drop(pairs.remove(*place))),
            Change::Add { key, value } => pairs.push((key.clone(), value.clone())),
            Change::Rename { key, to } => places(pairs, key).iter().for_each(|place| pairs[*place].0.clone_from(to)),
        }
    }

    /// Whether an entity looks as it does after the change.
    fn is_done(&self, entity: &Entity<'_>, expect: &[Expected]) -> bool {
        let was = |key: &PairKey| expect.iter().find(|pair| pair.key == *key).and_then(|pair| pair.value.as_deref());
        match self {
            Change::Set { key, value } => entity.all(&key.name).any(|found| found == value),
            Change::Add { key, value } => entity.all(key).any(|found| found == value),
            Change::Unset { key } | Change::Rename { key, .. } => match was(key) {
                Some(was) => entity.all(&key.name).all(|found| found != was),
                None => entity.get(&key.name).is_none(),
            },
        }
    }
}
