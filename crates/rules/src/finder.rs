//! Finds the entities that a rule may match, by their keys and values, in any case.
//!
//! Rows are only added: an entity that no longer has a pair is still found by it, and the rule is then tried on it.

use std::collections::HashMap;

use super::{Expected, Match, Need, Test};

/// Entities by the keys that rules name.
#[derive(Debug, Default)]
pub(super) struct Finder {
    keys: HashMap<Vec<u8>, Key>,
    /// Whether all keys are of use, and not only those that are there.
    takes_all: bool,
    /// Which call of [`Finder::add`] it is.
    turn: usize,
    lower: Vec<u8>,
}

#[derive(Debug, Default)]
struct Key {
    all: Rows,
    values: HashMap<Vec<u8>, Rows>,
}

/// The numbers of entities, and how often one of them has the key or the pair at most.
#[derive(Debug, Default)]
struct Rows {
    numbers: Vec<usize>,
    most: usize,
    /// How often the entity that was added last in this turn has it.
    run: usize,
    turn: usize,
}

impl Rows {
    fn add(&mut self, turn: usize, number: usize, is_new: bool) {
        if is_new && self.numbers.last() != Some(&number) {
            self.numbers.push(number);
        }
        self.run = if self.turn == turn { self.run + 1 } else { 1 };
        self.turn = turn;
        self.most = self.most.max(self.run);
    }
}

impl Finder {
    /// A finder for these rules.
    pub(super) fn new<'m>(rules: impl Iterator<Item = &'m Match>) -> Self {
        let keys = rules.flat_map(|on| &on.tests).map(|test| (test.key.to_ascii_lowercase(), Key::default()));
        Finder { keys: keys.collect(), ..Finder::default() }
    }

    /// A finder for rules that are not known yet.
    pub(super) fn of_all_keys() -> Self {
        Finder { takes_all: true, ..Finder::default() }
    }

    /// Whether a key is of use.
    pub(super) fn has(&mut self, key: &[u8]) -> bool {
        lower(&mut self.lower, key);
        self.takes_all || self.keys.contains_key(&self.lower)
    }

    /// Adds an entity with its pairs, and whether each pair is new.
    pub(super) fn add<'p>(&mut self, number: usize, pairs: impl Iterator<Item = (&'p [u8], &'p [u8], bool)>) {
        self.turn += 1;
        for (key, value, is_new) in pairs {
            lower(&mut self.lower, key);
            if self.takes_all && !self.keys.contains_key(&self.lower) {
                self.keys.insert(self.lower.clone(), Key::default());
            }
            let Some(rows) = self.keys.get_mut(&self.lower) else { continue };
            rows.all.add(self.turn, number, is_new);
            lower(&mut self.lower, value);
            if let Some(values) = rows.values.get_mut(&self.lower) {
                values.add(self.turn, number, is_new);
            } else {
                rows.values.entry(self.lower.clone()).or_default().add(self.turn, number, is_new);
            }
        }
    }

    /// All entities that may match, in order; `None` if it can be any.
    pub(super) fn candidates(&self, on: &Match) -> Option<Vec<usize>> {
        let mut all: Vec<(Vec<&Rows>, usize)> = Vec::with_capacity(on.tests.len());
        for test in on.tests.iter().filter(|test| !test.is_negated && !test.is_of_any_output()) {
            all.push(self.rows(test));
        }
        let sum: usize = all.iter().map(|(_, most)| most).sum();
        let size = |rows: &Vec<&Rows>| rows.iter().map(|rows| rows.numbers.len()).sum::<usize>();
        let needed = |most: usize| on.need != Need::Count || sum - most < on.tests.len();
        let best = all.iter().filter(|(_, most)| needed(*most)).min_by_key(|(rows, _)| size(rows));
        let chosen: Vec<&Rows> = match best {
            Some((rows, _)) => rows.clone(),
            None if all.is_empty() => return None,
            None => all.into_iter().flat_map(|(rows, _)| rows).collect(),
        };
        let mut numbers: Vec<usize> = chosen.into_iter().flat_map(|rows| &rows.numbers).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }

    /// The rows of the pairs that a test may hold for, and how many of an entity's pairs can be among them.
    fn rows(&self, test: &Test) -> (Vec<&Rows>, usize) {
        let Some(key) = self.keys.get(&test.key.to_ascii_lowercase()) else { return (Vec::new(), 0) };
        match &test.value {
            Expected::Nothing => (Vec::new(), 0),
            Expected::Is(value) | Expected::IsExactly(value) => match key.values.get(&value.to_ascii_lowercase()) {
                Some(rows) => (vec![rows], rows.most),
                None => (Vec::new(), 0),
            },
            // Each value is tried once, however many entities have it.
            Expected::Like(pattern) if pattern.is_caseless => {
                let rows: Vec<&Rows> = key
                    .values
                    .iter()
                    .filter(|(value, _)| pattern.is_match_in_lower(value))
                    .map(|(_, rows)| rows)
                    .collect();
                let most = if rows.is_empty() { 0 } else { key.all.most };
                (rows, most)
            }
            Expected::Like(_) | Expected::Output(_) | Expected::Any => (vec![&key.all], key.all.most),
        }
    }
}

fn lower(into: &mut Vec<u8>, text: &[u8]) {
    into.clear();
    into.extend(text.iter().map(u8::to_ascii_lowercase));
}
