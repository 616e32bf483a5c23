//! Checks whether a patch fits the entities of a map: finds its entities and compares them with the expectations.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{Change, Expected, Match, Operation, Patch, Spot, Target};
use bspkit::bytes::escaped;
use bspkit::content::entities::{Entities, Entity, Pair};
use bspkit::content::select::Index;
use bspkit::{Error, ErrorKind, Hint, Result};

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

/// What faces say of a patch that is [`Located::already`] in a map.
pub const ALREADY: &str = "the entities are already what the patch leads to";

/// An entity of a patch, and where it was found.
///
/// ```
/// use bspkit_ops::diff::diff;
/// use bspkit_ops::patch::Search;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
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
    /// Whether the map is the one that the patch leads to ([`Patch::result`]), so that nothing is to be done.
    pub already: bool,
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
    /// The map that the patch leads to has it already, and does not change.
    ///
    /// ```
    /// use bspkit_ops::{diff::diff, patch::Search};
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// let (old, mut draft) = (map.entities()?, map.draft());
    /// draft.entities()?.first_class("light")?.set("light", "150")?;
    /// let new = draft.entities()?;
    /// let patch = diff(&old, &*new)?;
    /// assert!(!patch.locate(&old, Search::Exact)?.already);
    /// assert!(patch.locate(&*new, Search::Exact)?.already);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if the patch does not fit; the hint lists all reasons, with entities that may be meant.
    pub fn locate<'p, 'e, 'a>(&'p self, entities: &'e Entities<'a>, search: Search) -> Result<Located<'p, 'e, 'a>> {
        if self.result.is_some_and(|result| crc32fast::hash(&entities.to_bytes()) == result) {
            let (meant, found) = (Vec::new(), Vec::new());
            return Ok(Located { patch: self, entities, meant, found, guesses: Vec::new(), already: true });
        }
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
        Ok(Located { patch: self, entities, meant, found, guesses: fit.guesses, already: false })
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
        let found = self.key.value(entity);
        if found == self.value.as_deref() {
            return None;
        }
        let (index, key) = (entity.index(), &self.key);
        Some(match (found, &self.value) {
            (Some(found), Some(value)) => {
                format!("#{index}: `{key}` is {}, and {} was expected", shown(found), shown(value))
            }
            (Some(found), None) => {
                format!("#{index}: `{key}` is {}, and the key was expected not to be there", shown(found))
            }
            (None, value) => {
                format!("#{index} has no `{key}`, and {} was expected", shown(value.as_deref().unwrap_or_default()))
            }
        })
    }
}

// Finds the entities that targets mean, and those that they may mean.

/// The length of a text in messages.
const SHOWN: usize = 60;
/// The most pairs that a target shows in messages.
const MOST_SHOWN: usize = 6;
/// Above this many comparisons of pairs, nothing is said of entities that may be meant.
const MOST_COMPARED: usize = 1 << 26;

/// The entities of a map, to be found by targets.
pub(crate) struct Finder<'e> {
    pub(super) entities: Vec<Entity<'e>>,
    index: Index<'e>,
    /// The entities by all of their pairs.
    alike: Option<HashMap<Vec<u8>, Vec<usize>>>,
    compared: usize,
}

/// Whether a pair is the number of a brush model, which compilers give.
pub(crate) fn is_brush_model(key: &[u8], value: &[u8]) -> bool {
    key.eq_ignore_ascii_case(b"model") && value.starts_with(b"*")
}

/// Pairs as one text, without numbers of brush models.
fn joined<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> Vec<u8> {
    let mut text = Vec::new();
    for (key, value) in pairs.filter(|(key, value)| !is_brush_model(key, value)) {
        for part in [key, value] {
            text.extend_from_slice(&part.len().to_le_bytes());
            text.extend_from_slice(part);
        }
    }
    text
}

fn of_entity<'e>(entity: &Entity<'e>) -> impl Iterator<Item = (&'e [u8], &'e [u8])> {
    entity.pairs().map(|Pair { key, value, .. }| (key, value))
}

/// An entity that a target may mean.
pub(super) struct Candidate {
    pub(super) index: usize,
    /// How many of the pairs that are looked for it has.
    has: usize,
    of: usize,
}

impl<'e> Finder<'e> {
    pub(crate) fn new(entities: &'e Entities<'_>) -> Self {
        Finder { entities: entities.iter().collect(), index: Index::new(entities), alike: None, compared: 0 }
    }

    /// All entities that have the pairs of a match.
    fn having(&mut self, on: &Match) -> Vec<usize> {
        match on.only {
            true => self.alike(on.pairs.iter().map(|(key, value)| (&key[..], &value[..]))).to_vec(),
            false => self.index.with_pairs(&on.pairs),
        }
    }

    /// The entities that have these pairs and no others, in the order of the map.
    pub(crate) fn alike<'p>(&mut self, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> &[usize] {
        let entities = &self.entities;
        let alike = self.alike.get_or_insert_with(|| {
            let mut alike: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
            entities.iter().for_each(|entity| alike.entry(joined(of_entity(entity))).or_default().push(entity.index()));
            alike
        });
        alike.get(&joined(pairs)).map_or(&[], Vec::as_slice)
    }

    /// The entities that a target means; or why they are not clear.
    pub(crate) fn find(&mut self, target: &Target) -> Result<Vec<usize>, String> {
        let (found, count) = match target {
            Target::Index(index) if *index < self.entities.len() => return Ok(vec![*index]),
            Target::Index(index) => {
                return Err(format!("there is no entity #{index}: the map has {}", self.entities.len()));
            }
            Target::Match(Match { only: true, nth: Some(nth), count, pairs, .. }) => {
                // Many equal entities are not listed for each of them.
                let all = self.alike(pairs.iter().map(|(key, value)| (&key[..], &value[..])));
                return match all.get(nth.wrapping_sub(1)) {
                    Some(found) if all.len() == count.unwrap_or(all.len()) => Ok(vec![*found]),
                    _ => Err(other_number(target, all.len(), count.unwrap_or(*nth))),
                };
            }
            Target::Match(on) => (self.having(on), Some(on.count.unwrap_or(on.nth.unwrap_or(1).max(1)))),
            Target::Select(selector, count) => (self.index.select(selector), *count),
        };
        match (count, target) {
            (Some(count), _) if count != found.len() => Err(other_number(target, found.len(), count)),
            (None, _) if found.is_empty() => Err(format!("{target} means no entity")),
            (_, Target::Match(Match { nth: Some(nth), .. })) => match found.get(nth.wrapping_sub(1)) {
                Some(found) => Ok(vec![*found]),
                None => Err(other_number(target, found.len(), *nth)),
            },
            _ => Ok(found),
        }
    }

    /// The entity that a place is beside.
    pub(super) fn find_one(&mut self, target: &Target) -> Result<usize, String> {
        match self.find(target)?[..] {
            [one] => Ok(one),
            ref several => Err(format!("{target} means {} entities, and a place needs exactly one", several.len())),
        }
    }

    /// The entities that a target may mean which means none or too many, the best first. They have its class and at
    /// least half of the pairs that are looked for.
    pub(super) fn candidates(
        &mut self,
        on: &Match,
        expected: &[Expected],
        may_be: impl Fn(usize) -> bool,
    ) -> Vec<Candidate> {
        let mut pairs: Vec<(&[u8], &[u8])> = on.pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        pairs.extend(expected.iter().filter_map(|pair| Some((&pair.key.name[..], pair.value.as_deref()?))));
        pairs.sort_unstable();
        pairs.dedup();
        let class = pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(b"classname")).map(|(_, value)| *value);
        let mut all = Vec::new();
        for entity in self.entities.iter().filter(|entity| may_be(entity.index())) {
            let is_class = |class: &[u8]| entity.class().is_some_and(|found| found.eq_ignore_ascii_case(class));
            self.compared += 1;
            if self.compared > MOST_COMPARED {
                return Vec::new();
            }
            if !class.is_none_or(is_class) {
                continue;
            }
            self.compared += pairs.len() * entity.pairs().len();
            let has = pairs.iter().filter(|(key, value)| entity.all(key).any(|found| found == *value)).count();
            if 2 * has >= pairs.len() {
                all.push(Candidate { index: entity.index(), has, of: pairs.len() });
            }
        }
        let distance = |index: usize| on.index.map_or(index, |was| was.abs_diff(index));
        all.sort_by_key(|one| (std::cmp::Reverse(one.has), distance(one.index)));
        all
    }
}

fn other_number(target: &Target, found: usize, expected: usize) -> String {
    let were = if expected == 1 { "was" } else { "were" };
    match target {
        Target::Match(on) if on.nth.is_some() => {
            let all = Match { nth: None, count: Some(expected), ..on.clone() };
            let is = if found == 1 { "is" } else { "are" };
            format!("{all}: there {is} {found}, and {expected} {were} expected")
        }
        _ => format!("{target} means {}, and {expected} {were} expected", number(found)),
    }
}

fn number(entities: usize) -> String {
    match entities {
        0 => "no entity".to_owned(),
        1 => "1 entity".to_owned(),
        several => format!("{several} entities"),
    }
}

impl Candidate {
    /// `#19 light, which has 3 of 4 pairs`
    pub(super) fn shown(&self, finder: &Finder<'_>) -> String {
        let class = finder.entities.get(self.index).and_then(Entity::class).map(|class| format!(" {}", escaped(class)));
        let pairs = finder.entities.get(self.index).map_or(0, |entity| entity.pairs().len());
        let others = match pairs.saturating_sub(self.of) {
            others @ 1.. if self.has == self.of => format!(" and {others} more"),
            _ => String::new(),
        };
        let (index, class, has, of) = (self.index, class.unwrap_or_default(), self.has, self.of);
        format!("#{index}{class}, which has {has} of {of} pairs{others}")
    }

    /// Whether another one is as good by its pairs.
    pub(super) fn is_as_good(&self, other: &Self) -> bool {
        self.has == other.has
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Index(index) => write!(f, "#{index}"),
            Target::Select(selector, _) => write!(f, "{selector}"),
            Target::Match(on) => on.fmt(f),
        }
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.nth, self.count) {
            (Some(nth), Some(count)) if count != 1 => write!(f, "entity {nth} of {count} with")?,
            (Some(nth), None) => write!(f, "entity {nth} of those with")?,
            (None, Some(count)) if count != 1 => f.write_str("entities with")?,
            _ => f.write_str("the entity with")?,
        }
        if self.only {
            f.write_str(if self.pairs.is_empty() { " no pairs" } else { " only" })?;
        }
        let shown_pairs = self.pairs.iter().take(MOST_SHOWN);
        shown_pairs.clone().try_for_each(|(key, value)| write!(f, " {} {}", shown(key), shown(value)))?;
        match self.pairs.len().checked_sub(MOST_SHOWN) {
            Some(more @ 1..) => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}

/// The start of a text, on one line.
pub(super) fn shown(text: &[u8]) -> String {
    let dots = if text.len() > SHOWN { "..." } else { "" };
    format!("`{}{dots}`", escaped(&text[..text.len().min(SHOWN)]))
}
