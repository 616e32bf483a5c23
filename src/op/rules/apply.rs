//! Rules applied, one after the other, to the pairs of entities. The text is edited afterwards, once (`door`).

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeBounds;

use super::acts::Stored;
use super::again::{self, Effect};
use super::door::{self, Failure};
use super::find::Finder;
use super::lazyripent::Act;
use super::model::{Action, Applied, Match, NewPair, Report, Rule, Rules, Step, Who};
use super::pattern;
use crate::content::entities::{Entities, Entity};
use crate::{Error, ErrorKind, Result};

/// How many entities are listed in a report, for all rules together.
const MOST_LISTED: usize = 1 << 20;

/// How many entities a map may have while rules add some for others; no text may have more.
const MOST_ENTITIES: usize = 131_072;

/// By how many bytes all entities together may grow, where each pair counts for some more: no more than a text of
/// entities may have, which bounds the pairs too.
const MOST_GROWTH: usize = 16 << 20;
const PAIR: usize = 16;

/// A pair of an entity that rules changed or added.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    /// The number of the pair in the entity as it was read.
    pub(super) origin: Option<usize>,
    /// The rule that wrote the value, by its number in the report.
    pub(super) by: Option<usize>,
}

/// The entities on the way through the rules. Their numbers stay.
pub(super) struct Work<'e> {
    pub(super) old: Vec<Entity<'e>>,
    /// The pairs of those that rules changed or added.
    pub(super) changed: BTreeMap<usize, Vec<Pair>>,
    /// The rule that added each one, and the rules that removed entities.
    pub(super) added: Vec<usize>,
    pub(super) removed: HashMap<usize, usize>,
    /// The last rule that changed each one.
    pub(super) changed_by: HashMap<usize, usize>,
    /// What `store` keeps.
    stored: Stored,
    finder: Finder,
    listed: usize,
    /// By how many bytes the entities have grown.
    growth: usize,
}

impl Rules {
    /// Applies all rules to the entities of the map of this name: all of them or, after an error, none.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Refused`] for an edit that no engine of the dialect could read back, or that removes
    /// worldspawn. The message names the rule.
    pub fn apply(&self, entities: &mut Entities<'_>, map: &str) -> Result<Report<'_>> {
        apply([self], entities, map)
    }
}

/// Applies the rules of several files, one file after the other, as [`Rules::apply`].
///
/// # Errors
/// As [`Rules::apply`].
pub fn apply<'r>(
    files: impl IntoIterator<Item = &'r Rules>,
    entities: &mut Entities<'_>,
    map: &str,
) -> Result<Report<'r>> {
    let Attempt { report, entities: done, .. } = attempt(files, .., entities, map)?;
    if let Some(done) = done {
        *entities = done;
    }
    Ok(report)
}

/// What rules would do to a map.
#[derive(Debug)]
pub struct Attempt<'r, 'a> {
    /// What each rule matched and did.
    pub report: Report<'r>,
    /// How much of that is new in the map.
    pub effect: Effect,
    /// The entities after the rules; `None` if nothing changes.
    pub entities: Option<Entities<'a>>,
}

/// Applies a part of the rules that are for a map, numbered over all files, to a copy of its entities.
///
/// # Errors
/// As [`Rules::apply`].
pub fn attempt<'r, 'a>(
    files: impl IntoIterator<Item = &'r Rules>,
    part: impl RangeBounds<usize>,
    entities: &Entities<'a>,
    map: &str,
) -> Result<Attempt<'r, 'a>> {
    let (report, done) = run(files, part, entities, map);
    match done {
        Ok((effect, entities)) => Ok(Attempt { report, effect, entities }),
        Err(failure) => Err(failure.named(&report)),
    }
}

/// What the rules do, and the entities after them; `None` if nothing changes.
pub(super) fn run<'r, 'a>(
    files: impl IntoIterator<Item = &'r Rules>,
    part: impl RangeBounds<usize>,
    entities: &Entities<'a>,
    map: &str,
) -> (Report<'r>, std::result::Result<(Effect, Option<Entities<'a>>), Failure>) {
    let mut report = Report::default();
    for (number, (file, rule)) in rules_for(files, map).enumerate() {
        if part.contains(&number) {
            let (matched, pairs) = (Vec::new(), [0; 3]);
            report.rules.push(Applied { file, rule, matched, count: 0, loose: 0, pairs });
        }
    }
    let mut work = Work::new(entities, report.rules.iter().map(|applied| applied.rule));
    for number in 0..report.rules.len() {
        // What was asked before does not count.
        pattern::gave_up();
        let done = work.run(number, &mut report);
        let done = if pattern::gave_up() { Err(pattern::TOO_MANY.to_owned()) } else { done };
        if let Err(why) = done {
            let error = Error::new(ErrorKind::Refused, why);
            return (report, Err(Failure { error, rule: Some(number) }));
        }
    }
    let done = door::edited(&work, entities);
    let effect = again::effect(&work);
    (report, done.map(|done| (effect, done)))
}

/// The rules that are for a map, with their files, in the order in which they are applied.
pub(super) fn rules_for<'r>(
    files: impl IntoIterator<Item = &'r Rules>,
    map: &str,
) -> impl Iterator<Item = (&'r Rules, &'r Rule)> {
    let of = move |file: &'r Rules| file.rules.iter().filter(|rule| rule.is_for(map)).map(move |rule| (file, rule));
    files.into_iter().flat_map(of)
}

impl Rule {
    fn is_for(&self, map: &str) -> bool {
        self.maps.is_empty() || self.maps.iter().any(|own| own.eq_ignore_ascii_case(map))
    }
}

impl<'e> Work<'e> {
    pub(super) fn new<'r>(entities: &'e Entities<'_>, rules: impl Iterator<Item = &'r Rule>) -> Self {
        let mut finder = Finder::new(rules.map(|rule| &rule.on));
        let old: Vec<Entity<'e>> = entities.iter().collect();
        for entity in &old {
            finder.add(entity.index(), entity.pairs().map(|pair| (pair.key, pair.value, true)));
        }
        Work {
            old,
            changed: BTreeMap::new(),
            added: Vec::new(),
            removed: HashMap::new(),
            changed_by: HashMap::new(),
            stored: Stored::new(),
            finder,
            listed: 0,
            growth: 0,
        }
    }

    /// Applies one rule, by its number in the report.
    ///
    /// # Errors
    /// Why an action does not fit an entity.
    fn run(&mut self, number: usize, report: &mut Report<'_>) -> std::result::Result<(), String> {
        let Applied { file, rule, .. } = report.rules[number];
        match &rule.action {
            Action::Add(pairs) => return self.add(number, pairs, report),
            Action::AddFor(class, acts) if rule.on.tests.is_empty() => {
                return self.add_for(number, class, acts, None, report);
            }
            _ => {}
        }
        let mut matched = Vec::new();
        let all = self.old.len() + self.added.len();
        let candidates = self.finder.candidates(&rule.on).unwrap_or_else(|| (0..all).collect());
        for entity in candidates {
            if self.removed.contains_key(&entity) {
                continue;
            }
            let Some(is_exact) = self.holds(entity, &rule.on, file.hides_empty()) else { continue };
            if !matches!(rule.action, Action::AddFor(..)) {
                self.list(number, entity, report);
            }
            let applied = &mut report.rules[number];
            applied.loose += usize::from(!is_exact);
            match &rule.action {
                Action::Modify(steps) => self.modify(number, entity, steps, file.hides_empty(), applied)?,
                Action::Acts(_) | Action::AddFor(..) => matched.push(entity),
                _ => drop(self.removed.insert(entity, number)),
            }
        }
        match &rule.action {
            Action::Acts(acts) => self.act(number, acts, &matched, report),
            Action::AddFor(class, acts) => {
                matched.into_iter().try_for_each(|of| self.add_for(number, class, acts, Some(of), report))
            }
            _ => Ok(()),
        }
    }

    /// Each action on all entities that matched, then the next one.
    fn act(
        &mut self,
        number: usize,
        acts: &[Act],
        matched: &[usize],
        report: &mut Report<'_>,
    ) -> std::result::Result<(), String> {
        let Applied { file, .. } = report.rules[number];
        for act in acts {
            for &entity in matched {
                let mut stored = std::mem::take(&mut self.stored);
                let (pairs, counts) = (self.pairs_of(entity), &mut report.rules[number].pairs);
                let before = size(pairs);
                let done = act.apply(pairs, None, (&file.name, &mut stored), number, counts);
                let after = size(pairs);
                self.stored = stored;
                done.map_err(|why| format!("#{entity}: {why} (line {})", act.at.line))?;
                self.changed_by.insert(entity, number);
                self.grow(before, after)?;
            }
        }
        matched.iter().for_each(|entity| self.find_again(*entity, |pair| pair.by == Some(number)));
        Ok(())
    }

    /// Adds an entity whose values may refer to those of another one.
    fn add_for(
        &mut self,
        number: usize,
        class: &[u8],
        acts: &[Act],
        of: Option<usize>,
        report: &mut Report<'_>,
    ) -> std::result::Result<(), String> {
        let Applied { file, rule, .. } = report.rules[number];
        // Rules that match what they added would double the entities each time.
        if self.old.len() + self.added.len() >= MOST_ENTITIES {
            return Err(format!("the map would have more than {MOST_ENTITIES} entities"));
        }
        let of = of.map(|of| self.pairs_of(of).clone());
        let class = Pair { key: b"classname".to_vec(), value: class.to_vec(), origin: None, by: Some(number) };
        let mut pairs = vec![class];
        let mut counts = [0; 3];
        for act in acts {
            let stored = (&file.name[..], &mut self.stored);
            let done = act.apply(&mut pairs, of.as_deref(), stored, number, &mut counts);
            done.map_err(|why| format!("the added entity: {why} (line {})", act.at.line))?;
        }
        let pairs = pairs.into_iter().map(|pair| NewPair { at: rule.at, key: pair.key, value: pair.value });
        self.add(number, &pairs.collect::<Vec<_>>(), report)
    }

    /// Counts what an entity has grown by.
    ///
    /// # Errors
    /// All entities together have grown too much.
    fn grow(&mut self, before: usize, after: usize) -> std::result::Result<(), String> {
        self.growth = (self.growth + after).saturating_sub(before);
        match self.growth > MOST_GROWTH {
            true => Err("the rules would write more than any text of entities may have".to_owned()),
            false => Ok(()),
        }
    }

    /// The pairs of an entity, to change them.
    fn pairs_of(&mut self, entity: usize) -> &mut Vec<Pair> {
        let old = &self.old;
        self.changed.entry(entity).or_insert_with(|| {
            let pair = |(at, pair): (usize, crate::content::entities::Pair<'_>)| Pair {
                key: pair.key.to_vec(),
                value: pair.value.to_vec(),
                origin: Some(at),
                by: None,
            };
            old[entity].pairs().enumerate().map(pair).collect()
        })
    }

    fn holds(&self, entity: usize, on: &Match, hides_empty: bool) -> Option<bool> {
        let is_seen = |(key, value): &(&[u8], &[u8])| !hides_empty || !(key.is_empty() || value.is_empty());
        match self.changed.get(&entity) {
            Some(pairs) => on.holds(pairs.iter().map(|pair| (&pair.key[..], &pair.value[..])).filter(is_seen)),
            None => on.holds(self.old[entity].pairs().map(|pair| (pair.key, pair.value)).filter(is_seen)),
        }
    }

    fn list(&mut self, number: usize, entity: usize, report: &mut Report<'_>) {
        let applied = &mut report.rules[number];
        applied.count += 1;
        if self.listed < MOST_LISTED {
            self.listed += 1;
            applied.matched.push(entity);
        }
        report.entities.entry(entity).or_insert_with(|| self.who(entity));
    }

    fn who(&self, entity: usize) -> Who {
        let value = |key: &[u8]| match self.changed.get(&entity) {
            Some(pairs) => pairs.iter().find(|pair| pair.key.eq_ignore_ascii_case(key)).map(|pair| pair.value.clone()),
            None => self.old[entity].get(key).map(<[u8]>::to_vec),
        };
        Who { is_new: entity >= self.old.len(), class: value(b"classname"), name: value(b"targetname") }
    }

    fn add(&mut self, number: usize, pairs: &[NewPair], report: &mut Report<'_>) -> std::result::Result<(), String> {
        let entity = self.old.len() + self.added.len();
        self.added.push(number);
        let by = Some(number);
        let pairs =
            pairs.iter().map(|pair| Pair { key: pair.key.clone(), value: pair.value.clone(), origin: None, by });
        self.changed.insert(entity, pairs.collect());
        self.find_again(entity, |_| true);
        self.list(number, entity, report);
        report.rules[number].pairs[2] += self.changed[&entity].len();
        self.grow(0, size(&self.changed[&entity]))
    }

    /// Adds the pairs of an entity to the finder that are new, with the others of their keys, which are counted.
    fn find_again(&mut self, entity: usize, is_new: impl Fn(&Pair) -> bool) {
        if let Some(pairs) = self.changed.get(&entity) {
            let new: Vec<&Pair> = pairs.iter().filter(|pair| is_new(pair)).collect();
            let is_of_new = |pair: &&Pair| match &new[..] {
                [only] => only.key.eq_ignore_ascii_case(&pair.key),
                _ => true,
            };
            let rows = pairs.iter().filter(is_of_new).map(|pair| (&pair.key[..], &pair.value[..], is_new(pair)));
            self.finder.add(entity, rows);
        }
    }

    fn modify(
        &mut self,
        number: usize,
        entity: usize,
        steps: &[Step],
        hides_empty: bool,
        applied: &mut Applied<'_>,
    ) -> std::result::Result<(), String> {
        let pairs = self.pairs_of(entity);
        let counts = applied.pairs;
        let before = size(pairs);
        for step in steps {
            step.apply(pairs, number, hides_empty, &mut applied.pairs);
        }
        if counts == applied.pairs {
            return Ok(());
        }
        let after = size(pairs);
        self.changed_by.insert(entity, number);
        self.find_again(entity, |pair| pair.by == Some(number));
        self.grow(before, after)
    }
}

impl Step {
    /// Changes the pairs of an entity; counts those that were removed, changed and added.
    fn apply(&self, pairs: &mut Vec<Pair>, number: usize, hides_empty: bool, counts: &mut [usize; 3]) {
        let is_seen = |pair: &Pair| !hides_empty || !(pair.key.is_empty() || pair.value.is_empty());
        let by = Some(number);
        let inserted = |pair: &NewPair| Pair { key: pair.key.clone(), value: pair.value.clone(), origin: None, by };
        let mut set = |pair: &mut Pair, value: &[u8]| {
            if pair.value != value {
                (pair.value, pair.by) = (value.to_vec(), by);
                counts[1] += 1;
            }
        };
        match self {
            Step::Delete(tests) => {
                let before = pairs.len();
                let is_hit = |pair: &Pair| tests.iter().any(|test| test.passes(&pair.key, &pair.value));
                pairs.retain(|pair| !is_seen(pair) || !is_hit(pair));
                counts[0] += before - pairs.len();
            }
            Step::Replace { pairs: new, is_exact } => {
                for pair in pairs.iter_mut().filter(|pair| is_seen(pair)) {
                    if let Some(new) = new.iter().find(|new| same(&new.key, &pair.key, *is_exact)) {
                        set(pair, &new.value);
                    }
                }
            }
            Step::Insert(pair) => {
                pairs.push(inserted(pair));
                counts[2] += 1;
            }
            Step::Set { pair: new, is_exact } => {
                let mut is_there = false;
                for pair in pairs.iter_mut().filter(|pair| same(&new.key, &pair.key, *is_exact)) {
                    is_there = true;
                    set(pair, &new.value);
                }
                if !is_there {
                    pairs.push(inserted(new));
                    counts[2] += 1;
                }
            }
        }
    }
}

/// What pairs take, with what they take beside their bytes.
fn size(pairs: &[Pair]) -> usize {
    pairs.iter().map(|pair| pair.key.len() + pair.value.len() + PAIR).sum()
}

fn same(one: &[u8], other: &[u8], is_exact: bool) -> bool {
    if is_exact { one == other } else { one.eq_ignore_ascii_case(other) }
}
