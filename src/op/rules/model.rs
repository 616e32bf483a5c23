//! Rules as data, whatever file they are from.

use std::collections::BTreeMap;

use super::finding::{self, At, Finding};
use super::lazyripent::Act;
use super::pattern::{Flavor, Pattern, Unfit};
use super::{Format, Mode};
use crate::bytes::escaped;
use crate::{Error, ErrorKind};

/// The most steps of all regular expressions of a file together.
const MOST_STEPS: usize = 1 << 20;

/// The rules of a file, in the order in which they are applied.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
/// use bspkit::op::rules::{Format, Mode, Rules};
///
/// let text = "{ \"classname\" \"worldspawn\" }\n{ \"classname\" \"info_null\" }\n\0";
/// let mut entities = Entities::parse(text.as_bytes(), EntityRules::SOURCE)?;
/// let rules = "filter:\n{\n\"classname\" \"/^info_/\"\n}\n";
/// let rules = Rules::parse("clean.cfg", rules.as_bytes(), Format::Stripper, Mode::Plugin)?;
/// let report = rules.apply(&mut entities, "dm1")?;
/// assert_eq!(entities.to_bytes(), b"{ \"classname\" \"worldspawn\" }\n\0");
/// assert_eq!(report.rules[0].matched, [1]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    /// The name of the file, for messages.
    pub name: String,
    /// The format that it was read as.
    pub format: Format,
    /// How it was read.
    pub mode: Mode,
    /// The rules.
    pub rules: Vec<Rule>,
    /// What is wrong or risky in the file.
    pub findings: Vec<Finding>,
    /// The steps of the regular expressions so far.
    steps: usize,
}

/// One rule: which entities it is about, and what it does.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The place of its block.
    pub at: At,
    /// The maps that it is for, by name; empty is all maps.
    pub maps: Vec<String>,
    /// The entities that it is about. Not used by [`Action::Add`].
    pub on: Match,
    /// What it does.
    pub action: Action,
}

/// What a rule does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Removes each entity that matches.
    Remove,
    /// Adds an entity after the last one.
    Add(Vec<NewPair>),
    /// Changes each entity that matches, step by step.
    Modify(Vec<Step>),
    /// Changes the entities that match: the first action for all of them, then the next one. An action that does not
    /// fit an entity is an error.
    Acts(Vec<Act>),
    /// Adds an entity of this class for each one that matches, or one if there are no tests; its values may refer to
    /// those of the entity that matches.
    AddFor(Vec<u8>, Vec<Act>),
}

/// Which entities match.
#[derive(Clone, Debug, Default)]
pub struct Match {
    /// The tests.
    pub tests: Vec<Test>,
    /// How many of them have to hold.
    pub need: Need,
}

/// How many tests of a rule have to hold for an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// As many pairs of the entity as there are tests have to pass any of the tests.
    #[default]
    Count,
    /// Every test has to hold for a pair of the entity.
    Each,
}

/// A test of the pairs of an entity.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its place.
    pub at: At,
    /// The key.
    pub key: Vec<u8>,
    /// Whether the case of the key matters.
    pub is_exact: bool,
    /// What the value has to be.
    pub value: Expected,
    /// Whether no pair may pass.
    pub is_negated: bool,
}

/// What the value of a pair has to be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Expected {
    /// Any value.
    Any,
    /// No value: the expression that was written cannot be read.
    Nothing,
    /// This one, in any case.
    Is(Vec<u8>),
    /// This one.
    IsExactly(Vec<u8>),
    /// One that a regular expression matches.
    Like(Box<Pattern>),
}

/// A pair that a rule writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPair {
    /// Its place.
    pub at: At,
    /// The key.
    pub key: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
}

/// A step of a change of an entity's pairs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Removes each pair that passes one of the tests.
    Delete(Vec<Test>),
    /// Gives each pair with one of the keys the value of the first such key.
    Replace {
        /// The keys with their new values.
        pairs: Vec<NewPair>,
        /// Whether the case of keys matters.
        is_exact: bool,
    },
    /// Adds a pair, whether the key is there already or not.
    Insert(NewPair),
    /// Gives all pairs of a key this value, or adds a pair.
    Set {
        /// The pair.
        pair: NewPair,
        /// Whether the case of keys matters.
        is_exact: bool,
    },
}

impl Rules {
    pub(crate) fn new(name: &str, format: Format, mode: Mode) -> Self {
        Rules { name: name.to_owned(), format, mode, rules: Vec::new(), findings: Vec::new(), steps: 0 }
    }

    /// Whether a file with these findings is not applied, and why: everything that its mode refuses.
    pub fn refusal(&self) -> Option<Error> {
        let refused: Vec<String> = self
            .findings
            .iter()
            .filter(|finding| finding.code.refused_by.contains(&self.mode))
            .map(|finding| format!("{}:{}: {}", self.name, finding.at, finding.message))
            .collect();
        let (first, rest) = refused.split_first()?;
        let error = Error::new(ErrorKind::Argument, first.clone());
        Some(if rest.is_empty() { error } else { error.with_hint(rest.join("\n")) })
    }

    pub(crate) fn find(&mut self, code: &'static finding::Code, at: At, message: impl Into<String>) {
        self.findings.push(Finding { code, at, message: message.into() });
    }

    /// Whether the program whose format it is does not see pairs with an empty key or value.
    pub(super) fn hides_empty(&self) -> bool {
        self.format == Format::Stripper && self.mode != Mode::Lumper
    }

    /// A regular expression that starts at this place; `None` if it cannot be used, which is a finding.
    pub(crate) fn pattern(&mut self, at: At, text: &[u8]) -> Option<Box<Pattern>> {
        let is_lumper = self.format == Format::Stripper && self.mode == Mode::Lumper;
        if is_lumper && !text.is_ascii() {
            let unfit = Unfit::Unsupported(0, "a letter that is not ASCII, which Lumper reads as UTF-8,".to_owned());
            return self.compiled(at, text, Err(unfit));
        }
        let flavor = if is_lumper { Flavor::DotNet } else { Flavor::Pcre };
        self.compiled(at, text, Pattern::new(text, flavor))
    }

    /// As [`Rules::pattern`], of one that has to match the whole value.
    pub(super) fn whole_pattern(&mut self, at: At, text: &[u8]) -> Option<Box<Pattern>> {
        self.compiled(at, text, Pattern::whole(text))
    }

    fn compiled(&mut self, at: At, text: &[u8], pattern: std::result::Result<Pattern, Unfit>) -> Option<Box<Pattern>> {
        let shown = escaped(text).to_string();
        let (code, offset, why) = match pattern {
            Ok(pattern) if self.steps + pattern.steps <= MOST_STEPS => {
                self.steps += pattern.steps;
                return Some(Box::new(pattern));
            }
            Ok(_) => (finding::UNSUPPORTED, 0, "the expressions of the file are too large together".to_owned()),
            // Only Stripper:Source goes on without the pair.
            Err(Unfit::Invalid(offset, why)) if self.format != Format::Stripper => (finding::SYNTAX, offset, why),
            Err(Unfit::Invalid(offset, why)) => (finding::PATTERN, offset, why),
            Err(Unfit::Unsupported(offset, why)) => {
                (finding::UNSUPPORTED, offset, format!("{why} is not supported by this program"))
            }
        };
        let at = At { column: at.column + offset, ..at };
        self.find(code, at, format!("the regular expression /{shown}/ cannot be used: {why}"));
        None
    }
}

impl Match {
    /// Whether an entity with these pairs matches, and if so whether every test holds.
    pub(super) fn holds<'p>(&self, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])> + Clone) -> Option<bool> {
        let passes = |test: &Test| pairs.clone().any(|(key, value)| test.passes(key, value)) != test.is_negated;
        match self.need {
            Need::Each => self.tests.iter().all(passes).then_some(true),
            Need::Count => {
                let is_hit = |(key, value): &(&[u8], &[u8])| self.tests.iter().any(|test| test.passes(key, value));
                let hits = pairs.clone().filter(is_hit).take(self.tests.len()).count();
                (hits == self.tests.len()).then(|| self.tests.iter().all(passes))
            }
        }
    }
}

impl Test {
    /// Whether a pair passes, without the negation.
    pub(super) fn passes(&self, key: &[u8], value: &[u8]) -> bool {
        let is_key = if self.is_exact { key == self.key } else { key.eq_ignore_ascii_case(&self.key) };
        is_key
            && match &self.value {
                Expected::Any => true,
                Expected::Nothing => false,
                Expected::Is(other) => value.eq_ignore_ascii_case(other),
                Expected::IsExactly(other) => value == other,
                Expected::Like(pattern) => pattern.is_hit(value),
            }
    }
}

/// What rules did to the entities of a map.
///
/// Entities have the numbers that they had before all rules; added ones have the numbers that follow.
///
/// ```
/// assert_eq!(bspkit::op::rules::Report::default().matched(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Report<'r> {
    /// Each rule that is for the map, in the order in which they were applied.
    pub rules: Vec<Applied<'r>>,
    /// The entities that rules matched or added.
    pub entities: BTreeMap<usize, Who>,
}

/// What one rule did.
#[derive(Clone, Debug)]
pub struct Applied<'r> {
    /// The file.
    pub file: &'r Rules,
    /// The rule.
    pub rule: &'r Rule,
    /// The entities that it matched; the one that it added, for [`Action::Add`]. Of very many only the first.
    pub matched: Vec<usize>,
    /// The number of entities that it matched or added.
    pub count: usize,
    /// How many of them matched by equal keys only, so that not every pair of the rule is in them.
    pub loose: usize,
    /// How many pairs it removed, gave another value, and added.
    pub pairs: [usize; 3],
}

/// An entity of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// Whether a rule added it.
    pub is_new: bool,
    /// Its class, as it was when a rule first matched it.
    pub class: Option<Vec<u8>>,
    /// Its `targetname`.
    pub name: Option<Vec<u8>>,
}

impl Report<'_> {
    /// How many entities were matched or added.
    pub fn matched(&self) -> usize {
        self.entities.len()
    }

    /// The places of the rules that matched nothing.
    pub fn unmatched(&self) -> impl Iterator<Item = String> + '_ {
        let unmatched = self.rules.iter().filter(|applied| applied.count == 0);
        unmatched.map(|applied| format!("{}:{}", applied.file.name, applied.rule.at.line))
    }
}
