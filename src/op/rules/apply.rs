//! Rules applied, one after the other, to the pairs of entities. The text is edited afterwards, once (`door`).

use std::collections::{BTreeMap, HashMap};

use super::door::{self, Failure};
use super::find::Finder;
use super::model::{Action, Applied, Match, NewPair, Report, Rule, Rules, Step, Who};
use crate::Result;
use crate::content::entities::{Entities, Entity};

/// How many entities are listed in a report, for all rules together.
const MOST_LISTED: usize = 1 << 20;

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
    finder: Finder,
    listed: usize,
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
    let (report, done) = run(files, entities, map);
    match done {
        Ok(Some(done)) => *entities = done,
        Ok(None) => {}
        Err(failure) => return Err(failure.named(&report)),
    }
    Ok(report)
}

/// What the rules do, and the entities after them; `None` if nothing changes.
pub(super) fn run<'r, 'a>(
    files: impl IntoIterator<Item = &'r Rules>,
    entities: &Entities<'a>,
    map: &str,
) -> (Report<'r>, std::result::Result<Option<Entities<'a>>, Failure>) {
    let mut report = Report::default();
    for file in files {
        for rule in file.rules.iter().filter(|rule| rule.is_for(map)) {
            let (matched, pairs) = (Vec::new(), [0; 3]);
            report.rules.push(Applied { file, rule, matched, count: 0, loose: 0, pairs });
        }
    }
    let mut work = Work::new(entities, report.rules.iter().map(|applied| applied.rule));
    for number in 0..report.rules.len() {
        work.run(number, &mut report);
    }
    let done = door::edited(&work, entities);
    (report, done)
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
            finder,
            listed: 0,
        }
    }

    /// Applies one rule, by its number in the report.
    fn run(&mut self, number: usize, report: &mut Report<'_>) {
        let Applied { file, rule, .. } = report.rules[number];
        if let Action::Add(pairs) = &rule.action {
            return self.add(number, pairs, report);
        }
        let all = self.old.len() + self.added.len();
        let candidates = self.finder.candidates(&rule.on).unwrap_or_else(|| (0..all).collect());
        for entity in candidates {
            if self.removed.contains_key(&entity) {
                continue;
            }
            let Some(is_exact) = self.holds(entity, &rule.on, file.hides_empty()) else { continue };
            self.list(number, entity, report);
            let applied = &mut report.rules[number];
            applied.loose += usize::from(!is_exact);
            match &rule.action {
                Action::Modify(steps) => self.modify(number, entity, steps, file.hides_empty(), applied),
                _ => drop(self.removed.insert(entity, number)),
            }
        }
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

    fn add(&mut self, number: usize, pairs: &[NewPair], report: &mut Report<'_>) {
        let entity = self.old.len() + self.added.len();
        self.added.push(number);
        let by = Some(number);
        let pairs =
            pairs.iter().map(|pair| Pair { key: pair.key.clone(), value: pair.value.clone(), origin: None, by });
        self.changed.insert(entity, pairs.collect());
        self.find_again(entity, |_| true);
        self.list(number, entity, report);
        report.rules[number].pairs[2] += self.changed[&entity].len();
    }

    /// Adds the pairs of an entity to the finder that are new.
    fn find_again(&mut self, entity: usize, is_new: impl Fn(&Pair) -> bool) {
        if let Some(pairs) = self.changed.get(&entity) {
            self.finder.add(entity, pairs.iter().map(|pair| (&pair.key[..], &pair.value[..], is_new(pair))));
        }
    }

    fn modify(&mut self, number: usize, entity: usize, steps: &[Step], hides_empty: bool, applied: &mut Applied<'_>) {
        let old = &self.old;
        let pairs = self.changed.entry(entity).or_insert_with(|| {
            let pair = |(at, pair): (usize, crate::content::entities::Pair<'_>)| Pair {
                key: pair.key.to_vec(),
                value: pair.value.to_vec(),
                origin: Some(at),
                by: None,
            };
            old[entity].pairs().enumerate().map(pair).collect()
        });
        let counts = applied.pairs;
        for step in steps {
            step.apply(pairs, number, hides_empty, &mut applied.pairs);
        }
        if counts == applied.pairs {
            return;
        }
        self.changed_by.insert(entity, number);
        self.find_again(entity, |pair| pair.by == Some(number));
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

fn same(one: &[u8], other: &[u8], is_exact: bool) -> bool {
    if is_exact { one == other } else { one.eq_ignore_ascii_case(other) }
}
