//! Entities by their keys and values, for many selectors on one text.

use std::borrow::Cow;
use std::collections::HashMap;

use super::test::{Compare, Test};
use super::{All, Head, Selector};
use crate::content::entities::{Entities, Entity};

/// An index of entities, made when it is first needed. The beginning of a class, a key, a value and the beginning of a
/// value are looked up. Other tests are tried on all values of their key.
pub(crate) struct Index<'e> {
    entities: Vec<Entity<'e>>,
    /// In lower case.
    classes: Rows<'e>,
    /// By the key in lower case.
    keys: HashMap<Vec<u8>, Rows<'e>>,
    is_made: bool,
}

/// Values with the entities that have them.
#[derive(Default)]
struct Rows<'e> {
    rows: Vec<(Cow<'e, [u8]>, usize)>,
    is_sorted: bool,
}

/// Rows among which all entities are that a test can hold for, and the test.
type Candidates<'r, 'e> = (&'r [(Cow<'e, [u8]>, usize)], Option<&'r Compare>);

impl<'e> Index<'e> {
    pub(crate) fn new(entities: &'e Entities<'_>) -> Self {
        let entities = entities.iter().collect();
        Index { entities, classes: Rows::default(), keys: HashMap::new(), is_made: false }
    }

    /// As [`Entities::select`].
    pub(crate) fn select(&mut self, selector: &Selector) -> Vec<usize> {
        let mut found: Vec<usize> = selector.either.iter().flat_map(|all| self.all(all)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The entities that have all these pairs.
    pub(crate) fn with_pairs(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<usize> {
        let test =
            |(key, value): &(Vec<u8>, Vec<u8>)| Test::Key { key: key.clone(), compare: Compare::Equal(value.clone()) };
        let all = All { head: Head::Any, tests: pairs.iter().map(test).collect() };
        self.select(&Selector { either: vec![all] })
    }

    /// What holds together; an entity may be there several times.
    fn all(&mut self, all: &All) -> Vec<usize> {
        if let Head::Index(index) = all.head {
            let found = self.entities.get(index).filter(|entity| all.matches(entity));
            return found.map(|_| index).into_iter().collect();
        }
        self.make();
        let tests = || all.tests.iter().filter_map(Test::key);
        for (key, compare) in tests() {
            if let (Some(rows), true) = (self.keys.get_mut(&key.to_ascii_lowercase()), compare.is_sorted()) {
                rows.sort();
            }
        }
        let head: Option<Candidates<'_, '_>> = match &all.head {
            Head::Class(pattern) => {
                let literal = pattern.iter().position(|letter| b"*?".contains(letter)).unwrap_or(pattern.len());
                Some((self.classes.beginning(&pattern[..literal].to_ascii_lowercase()), None))
            }
            _ => None,
        };
        let keys = tests().map(|(key, compare)| {
            let rows = self.keys.get(&key.to_ascii_lowercase());
            (rows.map_or(&[][..], |rows| rows.candidates(compare)), Some(compare))
        });
        let fits = |index: &usize| all.matches(&self.entities[*index]);
        match head.into_iter().chain(keys).min_by_key(|(rows, _)| rows.len()) {
            Some((rows, test)) => {
                let passes = |value: &[u8]| test.is_none_or(|compare| compare.holds(value));
                rows.iter().filter(|(value, _)| passes(value)).map(|(_, index)| *index).filter(fits).collect()
            }
            None => (0..self.entities.len()).filter(fits).collect(),
        }
    }

    fn make(&mut self) {
        if std::mem::replace(&mut self.is_made, true) {
            return;
        }
        let mut lower = Vec::new();
        for (index, entity) in self.entities.iter().enumerate() {
            if let Some(class) = entity.class() {
                self.classes.rows.push((class.to_ascii_lowercase().into(), index));
            }
            for pair in entity.pairs() {
                lower.clear();
                lower.extend(pair.key.iter().map(u8::to_ascii_lowercase));
                let row = (Cow::Borrowed(pair.value), index);
                match self.keys.get_mut(&lower) {
                    Some(rows) => rows.rows.push(row),
                    None => drop(self.keys.insert(lower.clone(), Rows { rows: vec![row], is_sorted: false })),
                }
            }
        }
        self.classes.sort();
    }
}

impl<'e> Rows<'e> {
    fn sort(&mut self) {
        if !std::mem::replace(&mut self.is_sorted, true) {
            self.rows.sort_unstable();
        }
    }

    fn candidates(&self, compare: &Compare) -> &[(Cow<'e, [u8]>, usize)] {
        match compare {
            Compare::Equal(value) => self.between(|found| found < &value[..], |found| found <= &value[..]),
            Compare::Begins(start) => self.beginning(start),
            _ => &self.rows,
        }
    }

    fn beginning(&self, start: &[u8]) -> &[(Cow<'e, [u8]>, usize)] {
        self.between(|found| found < start, |found| found < start || found.starts_with(start))
    }

    /// The rows of sorted ones that are not before a place, but before another one.
    fn between(&self, start: impl Fn(&[u8]) -> bool, end: impl Fn(&[u8]) -> bool) -> &[(Cow<'e, [u8]>, usize)] {
        let place = |is_before: &dyn Fn(&[u8]) -> bool| self.rows.partition_point(|(value, _)| is_before(value));
        &self.rows[place(&start)..place(&end)]
    }
}

impl Test {
    fn key(&self) -> Option<(&[u8], &Compare)> {
        match self {
            Test::Not(_) => None,
            Test::Key { key, compare } => Some((key, compare)),
        }
    }
}

impl Compare {
    /// Whether the values that pass follow each other where they are sorted.
    fn is_sorted(&self) -> bool {
        matches!(self, Compare::Equal(_) | Compare::Begins(_))
    }
}
