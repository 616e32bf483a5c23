//! What rules did, as edits of the text: each entity once, with all of its changes, then additions and removals.
//!
//! An entity may pass through a state that no engine reads, such as one without a class between a deletion and an
//! insertion. Only the result is checked.

use std::collections::HashSet;

use super::apply::{Pair, Work};
use super::model::Report;
use crate::content::entities::{Entities, EntityMut};
use crate::{Error, ErrorKind, Result};

/// An edit that is refused, and the rule that wants it, by its number in the report.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) rule: Option<usize>,
}

impl Failure {
    /// The error with the place of the rule.
    pub(super) fn named(self, report: &Report<'_>) -> Error {
        match self.rule.and_then(|rule| report.rules.get(rule)) {
            Some(applied) => {
                let (file, at) = (&applied.file.name, applied.rule.at);
                let message = format!("the rule at {file}:{at} cannot be applied");
                Error::new(self.error.kind(), message).with_source(self.error)
            }
            None => self.error,
        }
    }
}

/// The entities after the rules; `None` if nothing changes.
pub(super) fn edited<'a>(work: &Work<'_>, old: &Entities<'a>) -> std::result::Result<Option<Entities<'a>>, Failure> {
    let mut entities = old.clone();
    let by = |rule: Option<&usize>| {
        let rule = rule.copied();
        move |error: Error| Failure { error, rule }
    };
    let is_there = |number: &usize| !work.removed.contains_key(number);
    for (&number, pairs) in work.changed.range(..work.old.len()).filter(|(number, _)| is_there(number)) {
        let mut last = work.changed_by.get(&number);
        let mut entity = entities.get_mut(number).map_err(by(last))?;
        let done = entity.all_at_once(|entity| write(entity, pairs, work.old[number].pairs().len(), &mut last));
        done.map_err(by(last))?;
    }
    for (&number, pairs) in work.changed.range(work.old.len()..).filter(|(number, _)| is_there(number)) {
        let pairs = pairs.iter().map(|pair| (&pair.key, &pair.value));
        let last = work.changed_by.get(&number).or_else(|| work.added.get(number - work.old.len()));
        entities.add(pairs).map_err(by(last))?;
    }
    let removed: Vec<usize> = work.removed.keys().copied().filter(|number| *number < work.old.len()).collect();
    if !removed.is_empty() {
        let first = removed.iter().min().and_then(|first| work.removed.get(first));
        entities.remove_all(&removed).map_err(by(first))?;
    }
    if !entities.is_edited() && !old.is_edited() {
        return Ok(None);
    }
    let read = Entities::parse(entities.to_bytes(), *entities.rules()).map_err(by(None))?.len();
    if read != entities.len() {
        let message = format!("the new text would be read as {read} entities instead of {}", entities.len());
        return Err(by(None)(Error::new(ErrorKind::Refused, message)));
    }
    Ok(Some(entities))
}

/// Gives an entity these pairs. Values and additions come first, so that the pairs keep their numbers, and new pairs
/// their neighbours' style. After an error `by` is the rule.
fn write<'w>(
    entity: &mut EntityMut<'_, '_>,
    pairs: &'w [Pair],
    before: usize,
    by: &mut Option<&'w usize>,
) -> Result<()> {
    let last = *by;
    let old: Vec<&[u8]> = entity.entity().pairs().map(|pair| pair.value).collect();
    let is_new = |pair: &&Pair| pair.by.is_some() && pair.origin.is_none_or(|origin| old[origin] != pair.value);
    for pair in pairs.iter().filter(is_new) {
        *by = pair.by.as_ref();
        entity.check_pair(pair.origin.is_none().then_some(&pair.key), &pair.value)?;
    }
    *by = last;
    let is_kept: HashSet<usize> = pairs.iter().filter_map(|pair| pair.origin).collect();
    let written = |pair: &'w Pair| pair.by.and(pair.origin).map(|origin| (origin, &pair.value[..]));
    entity.set_values(&pairs.iter().filter_map(written).collect::<Vec<_>>())?;
    let added = pairs.iter().filter(|pair| pair.origin.is_none()).map(|pair| (&pair.key[..], &pair.value[..]));
    let added: Vec<_> = added.collect();
    if !added.is_empty() {
        entity.push_all(&added)?;
    }
    entity.remove(&(0..before).filter(|origin| !is_kept.contains(origin)).collect::<Vec<_>>())
}
