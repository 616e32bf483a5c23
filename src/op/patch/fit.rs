//! Checks whether a patch fits the entities of a map: finds its entities and compares them with the expectations.

use std::collections::{HashMap, HashSet};

use super::find::{Candidate, shown};
use super::{Change, Expected, Finder, Match, Operation, Patch, Spot, Target};
use crate::content::entities::{Entities, Entity};
use crate::error::{Error, ErrorKind, Hint, Result};

/// How many entities are named that a target may mean.
const NAMED: usize = 3;
/// For how many targets they are named.
const TARGETS: usize = 10;

/// How the entities of a patch are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Each target means what it says, and everything that is expected is there.
    #[default]
    Exact,
    /// A target that means none or too many takes the entity that has the most of its pairs, and pairs that a change
    /// does not touch may be other ones. [`Located::guesses`] says all of it.
    Guess,
}

/// An entity of a patch, and where it was found.
///
/// ```
/// use bspkit::op::diff::diff;
/// use bspkit::op::patch::Search;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let (old, mut draft, mut other) = (map.entities()?, map.draft(), map.draft());
/// draft.entities()?.first_class("light")?.set("light", "150")?;
/// let patch = diff(&old, &*draft.entities()?)?;
/// other.entities()?.add([("classname", "info_null")])?; // an entity more, before the light
/// other.entities()?.move_after(20, 0)?;
/// let located = patch.locate(other.entities()?, Search::Exact)?;
/// assert_eq!((located.found[0].was, located.found[0].index), (Some(6), 7));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of the operation.
    pub operation: usize,
    /// What the patch calls it.
    pub target: String,
    /// Its index in the map that the patch was made from, if the patch says so.
    pub was: Option<usize>,
    /// Its index.
    pub index: usize,
}

/// A patch whose entities were found in a map.
#[derive(Clone, Debug)]
pub struct Located<'p, 'e, 'a> {
    pub(super) patch: &'p Patch,
    pub(super) entities: &'e Entities<'a>,
    pub(super) meant: Vec<Meant>,
    /// The entities that the operations change, remove or move, if the patch names them by pairs.
    pub found: Vec<Found>,
    /// What was guessed, and what is not as it was expected: a sentence each. Empty for [`Search::Exact`].
    pub guesses: Vec<String>,
}

/// The entities of an operation, by the indices before the patch.
#[derive(Clone, Debug)]
pub(super) struct Meant {
    pub(super) on: Vec<usize>,
    pub(super) beside: Option<usize>,
}

impl Patch {
    /// Finds the entities of the patch in a map, and checks everything that it expects.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if the patch does not fit; the hint lists all reasons, with entities that may be meant.
    pub fn locate<'p, 'e, 'a>(&'p self, entities: &'e Entities<'a>, search: Search) -> Result<Located<'p, 'e, 'a>> {
        let mut fit = Fit {
            finder: Finder::new(entities),
            search,
            taken: HashSet::new(),
            guessed: HashMap::new(),
            named: 0,
            wrong: Vec::new(),
            guesses: Vec::new(),
        };
        let (meant, found) = fit.all(self, entities);
        if !fit.wrong.is_empty() {
            let number = fit.wrong.len();
            let is = if number == 1 { "is" } else { "are" };
            let message = format!("the patch does not fit: {number} of its expectations {is} not met");
            let mut hints = vec![Hint::Text(fit.wrong.join("\n"))];
            hints.extend((fit.named > 0).then_some(Hint::Guess));
            return Err(Error::new(ErrorKind::Refused, message).with_hint(Hint::Several(hints)));
        }
        Ok(Located { patch: self, entities, meant, found, guesses: fit.guesses })
    }
}

struct Fit<'p, 'e> {
    finder: Finder<'e>,
    search: Search,
    /// The entities that a target means without doubt, or that were guessed: no other one is guessed to be these.
    taken: HashSet<usize>,
    guessed: HashMap<&'p Match, usize>,
    /// For how many targets entities were named that they may mean.
    named: usize,
    wrong: Vec<String>,
    guesses: Vec<String>,
}

impl<'p> Fit<'p, '_> {
    fn all(&mut self, patch: &'p Patch, entities: &Entities<'_>) -> (Vec<Meant>, Vec<Found>) {
        if let Some(expected) = patch.entities.filter(|expected| *expected != entities.len()) {
            self.forgive(format!("the map has {} entities, and {expected} were expected", entities.len()));
        }
        // First what is clear.
        let clear: Vec<_> =
            patch.operations.iter().map(|operation| operation.on().map(|on| self.finder.find(on))).collect();
        self.taken = clear.iter().flatten().flatten().flatten().copied().collect();
        let (mut all, mut found) = (Vec::with_capacity(clear.len()), Vec::new());
        for (number, (operation, clear)) in patch.operations.iter().zip(clear).enumerate() {
            let on = match (clear, operation.on()) {
                (Some(Ok(on)), _) => on,
                (Some(Err(why)), Some(target)) => {
                    self.unclear(number, target, operation.expected(), why, true).into_iter().collect()
                }
                _ => Vec::new(),
            };
            if let (Some(target @ Target::Match(matching)), [index]) = (operation.on(), &on[..]) {
                found.push(Found { operation: number, target: target.to_string(), was: matching.index, index: *index });
            }
            let beside = operation.spot().and_then(|(Spot::Before(target) | Spot::After(target))| {
                match self.finder.find_one(target) {
                    Ok(beside) => Some(beside),
                    Err(why) => self.unclear(number, target, &[], why, false),
                }
            });
            self.check(number, operation, patch, entities, &on, beside);
            all.push(Meant { on, beside });
        }
        (all, found)
    }

    /// Whether everything that an operation expects is there.
    fn check(
        &mut self,
        number: usize,
        operation: &Operation,
        patch: &Patch,
        entities: &Entities<'_>,
        on: &[usize],
        beside: Option<usize>,
    ) {
        let (mut context, mut wrong) = (Vec::new(), Vec::new());
        for found in on.iter().filter_map(|&index| entities.get(index)) {
            for expected in operation.expected() {
                let list = if operation.touches(expected) { &mut wrong } else { &mut context };
                list.extend(expected.fails(&found));
            }
        }
        if let Some(beside) = beside.filter(|beside| on.contains(beside)) {
            wrong.push(format!("#{beside} cannot be moved before or after itself"));
        }
        match operation {
            Operation::Replace { old, .. } => match (on, old) {
                ([one], Some(old)) => wrong.extend(other_text(entities.get(*one), old)),
                ([] | [_], _) => {}
                (several, _) => {
                    wrong.push(format!("{} entities are selected, and only one can have this text", several.len()));
                }
            },
            Operation::Text { .. } if patch.operations.len() > 1 => {
                wrong.push("a whole text is the only operation of its patch".to_owned());
            }
            Operation::Text { old: Some(old), .. } if crc32fast::hash(&entities.to_bytes()) != *old => {
                wrong.push("the checksum of the entity text is not the expected one".to_owned());
            }
            _ => {}
        }
        let at = |what: String| format!("operations[{number}]: {what}");
        self.wrong.extend(wrong.into_iter().map(at));
        context.into_iter().map(at).for_each(|what| self.forgive(what));
    }

    /// Says what is not as expected, if that may be.
    fn forgive(&mut self, what: String) {
        match self.search {
            Search::Exact => self.wrong.push(what),
            Search::Guess => self.guesses.push(what),
        }
    }

    /// What a target may mean that means none or too many; or says so with the entities that it may mean.
    fn unclear(
        &mut self,
        number: usize,
        target: &'p Target,
        expected: &[Expected],
        why: String,
        changes: bool,
    ) -> Option<usize> {
        let Target::Match(on) = target else {
            self.wrong.push(format!("operations[{number}]: {why}"));
            return None;
        };
        if let Some(index) = self.guessed.get(on) {
            return Some(*index);
        }
        let taken = &self.taken;
        let all = match self.search == Search::Guess || self.named < TARGETS {
            true => self.finder.candidates(on, expected, |index| !changes || !taken.contains(&index)),
            false => Vec::new(),
        };
        match (self.search, &all[..]) {
            (Search::Guess, [best, others @ ..]) => {
                let as_good = others.iter().take_while(|other| other.is_as_good(best)).count();
                let doubt = if as_good == 0 { String::new() } else { format!(", and {as_good} more have as many") };
                let what = best.shown(&self.finder);
                self.guesses.push(format!("operations[{number}]: {why}; taken: {what}{doubt}"));
                if changes {
                    self.taken.insert(best.index);
                }
                self.guessed.insert(on, best.index);
                Some(best.index)
            }
            (Search::Exact, [_, ..]) => {
                let shown: Vec<String> =
                    all.iter().take(NAMED).map(|one| Candidate::shown(one, &self.finder)).collect();
                let more = all.len().saturating_sub(NAMED);
                let more = if more == 0 { String::new() } else { format!(", or one of {more} more") };
                self.wrong.push(format!("operations[{number}]: {why}; perhaps {}{more}", shown.join(", or ")));
                self.named += 1;
                None
            }
            (_, []) => {
                self.wrong.push(format!("operations[{number}]: {why}"));
                None
            }
        }
    }
}

fn other_text(entity: Option<Entity<'_>>, old: &[u8]) -> Option<String> {
    let entity = entity.filter(|entity| entity.bytes() != old)?;
    Some(format!("#{} has the text {}, and {} was expected", entity.index(), shown(entity.bytes()), shown(old)))
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

    /// Whether an operation changes a pair that it expects.
    fn touches(&self, expected: &Expected) -> bool {
        let is_it = |name: &[u8]| name.eq_ignore_ascii_case(&expected.key.name);
        let Operation::Edit { changes, .. } = self else { return false };
        changes.iter().any(|change| match change {
            Change::Set { key, .. } | Change::Unset { key } => is_it(&key.name),
            Change::Add { key, .. } => is_it(key),
            Change::Rename { key, to } => is_it(&key.name) || is_it(to),
        })
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
