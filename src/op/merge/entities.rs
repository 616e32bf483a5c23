//! Entities: two patches of the base, joined.

use std::collections::{BTreeSet, HashMap};

use super::{Conflict, Sides};
use crate::bytes::escaped;
use crate::content::entities::{Entities, Entity};
use crate::error::Result;
use crate::file::Slot;
use crate::op::diff::diff;
use crate::op::patch::{Change, Operation, Patch, Target};
use crate::{Data, Rope};

/// The entity text with the changes of both sides; those of theirs that conflict are left out. `None` if nothing can be
/// merged.
pub(super) fn merge<'a>(sides: &Sides<'_, 'a>, slot: &Slot, conflicts: &mut Vec<Conflict>) -> Result<Option<Rope<'a>>> {
    let mut conflict = |message: String| conflicts.push(Conflict { lump: slot.name.clone(), message });
    let read = |bsp: &crate::Bsp<'a>| Entities::parse(bsp.bytes(slot.id)?, bsp.entity_rules());
    let (mut base, ours, theirs) = (read(sides.base)?, read(sides.ours)?, read(sides.theirs)?);
    // What both sides have already is not refused here.
    base.for_any_engine();
    let (ours, theirs) = (diff(&base, &ours)?, diff(&base, &theirs)?);
    let is_whole = |patch: &Patch| matches!(patch.operations[..], [Operation::Text { .. }]);
    if is_whole(&ours) || is_whole(&theirs) {
        conflict("both sides change it, and one of them the text between entities".to_owned());
        return Ok(None);
    }
    let mut kept = Kept::new(&base, &ours.operations);
    let mut all = ours.operations.clone();
    for operation in theirs.operations {
        match kept.fits(operation) {
            Fit::Whole(operation) => all.push(operation),
            Fit::Known => {}
            Fit::Conflict(rest, messages) => {
                messages.into_iter().for_each(&mut conflict);
                all.extend(rest);
            }
        }
    }
    // First changes, then additions and moves, and removals at the end; each as the sides have them.
    all.sort_by_key(|operation| match operation {
        Operation::Edit { .. } | Operation::Replace { .. } => 0,
        Operation::Remove { .. } => 2,
        _ => 1,
    });
    let patch = Patch { entities: Some(base.len()), operations: all };
    match patch.apply(&base) {
        Ok(bytes) => Ok(Some(Rope::from(Data::from(bytes)))),
        Err(error) => {
            conflict(format!("the changes of both sides do not fit together: {error}"));
            Ok(None)
        }
    }
}

/// What our side does.
struct Kept<'o, 'e> {
    base: &'e Entities<'e>,
    /// What is done to the pairs or the text of an entity.
    content: HashMap<usize, &'o Operation>,
    moved: HashMap<usize, &'o Operation>,
    removed: BTreeSet<usize>,
    added: Vec<&'o Operation>,
}

/// Whether an operation of their side fits.
enum Fit {
    Whole(Operation),
    /// Our side does it already.
    Known,
    /// It does not: what is left of it, and why.
    Conflict(Option<Operation>, Vec<String>),
}

/// The keys that say who an entity is.
const IDENTITY: [&str; 4] = ["hammerid", "targetname", "model", "origin"];

fn index(operation: &Operation) -> Option<usize> {
    match operation {
        Operation::Edit { on: Target::Index(index), .. }
        | Operation::Replace { on: Target::Index(index), .. }
        | Operation::Remove { on: Target::Index(index), .. }
        | Operation::Move { on: Target::Index(index), .. } => Some(*index),
        _ => None,
    }
}

impl<'o, 'e> Kept<'o, 'e> {
    fn new(base: &'e Entities<'e>, operations: &'o [Operation]) -> Self {
        let (content, moved, removed) = (HashMap::new(), HashMap::new(), BTreeSet::new());
        let mut kept = Kept { base, content, moved, removed, added: Vec::new() };
        for operation in operations {
            match (operation, index(operation)) {
                (Operation::Remove { .. }, Some(index)) => drop(kept.removed.insert(index)),
                (Operation::Move { .. }, Some(index)) => drop(kept.moved.insert(index, operation)),
                (_, Some(index)) => drop(kept.content.insert(index, operation)),
                (_, None) => kept.added.push(operation),
            }
        }
        kept
    }

    fn fits(&mut self, operation: Operation) -> Fit {
        let Some(index) = index(&operation) else { return self.fits_as_added(operation) };
        let (ours, is_removed) = (self.content.get(&index).copied(), self.removed.contains(&index));
        let no = |what: &str| Fit::Conflict(None, vec![format!("{}: {what}", self.label(index))]);
        match (&operation, ours) {
            (Operation::Remove { .. }, _) if is_removed => Fit::Known,
            (Operation::Remove { .. }, Some(_)) => no("our side changes it, and theirs removes it"),
            (Operation::Remove { .. }, None) if self.moved.contains_key(&index) => {
                no("our side moves it, and theirs removes it")
            }
            (_, _) if is_removed => no("our side removes it, and theirs changes or moves it"),
            (Operation::Move { to, .. }, _) => match self.moved.get(&index) {
                Some(Operation::Move { to: ours, .. }) if ours == to => Fit::Known,
                Some(_) => no("both sides move it"),
                None => Fit::Whole(operation),
            },
            (_, None) => Fit::Whole(operation),
            (_, Some(ours)) if is_equal(ours, &operation) => Fit::Known,
            (Operation::Edit { .. }, Some(Operation::Edit { changes, .. })) => {
                self.fits_beside(index, operation, changes)
            }
            _ => no("both sides change it, and one of them its text apart from pairs"),
        }
    }

    /// An edit of an entity beside ours: changes of other keys fit.
    fn fits_beside(&self, index: usize, operation: Operation, ours: &[Change]) -> Fit {
        let Operation::Edit { on, expect, changes } = operation else { return Fit::Known };
        let (mut rest, mut messages) = (Vec::new(), Vec::new());
        for change in changes {
            let names = keys(&change);
            let beside: Vec<&Change> =
                ours.iter().filter(|ours| keys(ours).iter().any(|key| names.contains(key))).collect();
            match beside[..] {
                [] => rest.push(change),
                [ours] if *ours == change => {}
                _ => {
                    let names: Vec<String> = names.iter().map(|name| format!("`{}`", escaped(name))).collect();
                    messages.push(format!("{}: both sides change {}", self.label(index), names.join(" and ")));
                }
            }
        }
        let rest = (!rest.is_empty()).then_some(Operation::Edit { on, expect, changes: rest });
        match (rest, messages.is_empty()) {
            (Some(rest), true) => Fit::Whole(rest),
            (None, true) => Fit::Known,
            (rest, false) => Fit::Conflict(rest, messages),
        }
    }

    fn fits_as_added(&mut self, operation: Operation) -> Fit {
        if let Some(at) = self.added.iter().position(|ours| is_equal(ours, &operation)) {
            self.added.swap_remove(at);
            return Fit::Known;
        }
        match self.added.iter().find(|ours| is_same_entity(ours, &operation)) {
            Some(_) => Fit::Conflict(None, vec![format!("both sides add {}", described(&operation))]),
            None => Fit::Whole(operation),
        }
    }

    /// `#6 light`
    fn label(&self, index: usize) -> String {
        let class = |entity: Entity<'_>| entity.class().map(|class| format!(" {}", escaped(class)));
        format!("#{index}{}", self.base.get(index).and_then(class).unwrap_or_default())
    }
}

/// Whether both do the same, wherever added entities go.
fn is_equal(one: &Operation, other: &Operation) -> bool {
    match (one, other) {
        (Operation::Edit { changes, .. }, Operation::Edit { changes: other, .. }) => changes == other,
        (Operation::Replace { text, .. }, Operation::Replace { text: other, .. })
        | (Operation::AddText { text, .. }, Operation::AddText { text: other, .. }) => text == other,
        (Operation::Add { pairs, .. }, Operation::Add { pairs: other, .. }) => pairs == other,
        _ => false,
    }
}

/// The keys that a change is about, in lower case.
fn keys(change: &Change) -> Vec<Vec<u8>> {
    match change {
        Change::Set { key, .. } | Change::Unset { key } => vec![key.name.to_ascii_lowercase()],
        Change::Add { key, .. } => vec![key.to_ascii_lowercase()],
        Change::Rename { key, to } => vec![key.name.to_ascii_lowercase(), to.to_ascii_lowercase()],
    }
}

fn value<'p>(operation: &'p Operation, key: &str) -> Option<&'p [u8]> {
    let Operation::Add { pairs, .. } = operation else { return None };
    pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case(key.as_bytes())).map(|(_, value)| &value[..])
}

/// Whether two added entities are the same one by their class and by a key that says who they are.
fn is_same_entity(one: &Operation, other: &Operation) -> bool {
    let is_like = |key: &str| value(one, key).is_some() && value(one, key) == value(other, key);
    is_like("classname") && IDENTITY.iter().any(|key| is_like(key))
}

fn described(operation: &Operation) -> String {
    let class = value(operation, "classname").unwrap_or(b"an entity");
    let key = IDENTITY.iter().find_map(|key| Some((key, value(operation, key)?)));
    let by = key.map(|(key, value)| format!(" with {key} `{}`", escaped(value))).unwrap_or_default();
    format!("{}{by}, with other pairs", escaped(class))
}
