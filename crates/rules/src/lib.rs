//! Rules for entities, from the files that people have: Stripper:Source, as its plug-in reads them, and its relatives.
//!
//! [`Rules::parse`] reads a file, [`Rules::apply`] applies it to the entities of a map: all of it or nothing. What is
//! odd in a file is in [`Rules::findings`]; [`Lint`] also tries the rules on maps.
//!
//! | format | extension | source |
//! |---|---|---|
//! | [`Format::Stripper`] | `.cfg` | `parser.cpp` of alliedmodders/stripper-source |
//! | [`Format::Qmm`] | `.ini` | the documentation of stripper_qmm 2.5, and of the versions before |
//! | [`Format::Lazyripent`] | `.rule` | the documentation of Lazyripent2 |
//! | [`Format::Cs2`] | `.jsonc` | the schema of StripperCS2; [`files::read`] reads it |
//!
//! ```
//! use bspkit_rules::{Format, Mode, Rules};
//! let text = b"filter:\n{\n\"classname\" \"light\"\n}\n";
//! let rules = Rules::parse("global_filters.cfg", text, Format::Stripper, Mode::Plugin)?;
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let mut draft = map.draft();
//! let report = rules.apply(draft.entities()?, "own_rooms")?;
//! assert_eq!(report.matched(), 3);
//! # Ok::<(), bspkit::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod again;
mod apply;
mod bake;
mod convert;
mod difference;
mod doubt;
pub mod files;
mod finder;
mod lazyripent;
mod lint;
mod outputs;
mod pattern;
mod qmm;
pub mod record;
mod stripper;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

pub use again::{Application, Known, Past, Record, Since, State, known};
pub use apply::{Attempt, Effect, apply, attempt};
pub use bake::{Bake, Tried, save};
use bspkit::bytes::{escaped, index};
use bspkit::content::entities::Output;
use bspkit::finding::Severity;
use bspkit::{Error, ErrorKind, Result};
pub use convert::Converted;
pub use difference::{Difference, difference};
pub use doubt::Doubt;
pub use lazyripent::{Act, Verb};
pub use lint::Lint;
pub use pattern::Pattern;
use pattern::{Flavor, Unfit};

/// How a Stripper:Source file is read and applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As the plug-in does, with all that it ignores.
    #[default]
    Plugin,
    /// Refuses what the plug-in would read in another way than it is written; every pair of a filter has to be in an
    /// entity.
    Strict,
    /// As Lumper does.
    Lumper,
}

/// The format of a rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Stripper:Source.
    Stripper,
    /// stripper_qmm, for Quake III and its relatives.
    Qmm,
    /// Lazyripent2, for GoldSrc.
    Lazyripent,
    /// StripperCS2.
    Cs2,
}

impl Rules {
    /// Reads a file; the name is for messages.
    ///
    /// # Errors
    /// [`bspkit::ErrorKind::Argument`] with file, line and column of what the mode refuses; all of it, if there is
    /// more.
    pub fn parse(name: &str, text: &[u8], format: Format, mode: Mode) -> Result<Self> {
        let rules = Rules::read(name, text, format, mode);
        match rules.refusal() {
            Some(error) => Err(error),
            None => Ok(rules),
        }
    }

    /// Reads a file with all its findings, also those that its mode refuses.
    pub fn read(name: &str, text: &[u8], format: Format, mode: Mode) -> Self {
        let mut rules = Rules::new(name, format, mode);
        match (format, mode) {
            _ if text.starts_with(b"\xFF\xFE") || text.starts_with(b"\xFE\xFF") => {
                let at = At { line: 1, column: 1 };
                rules.find(SYNTAX, at, "the file is UTF-16, which no server reads: save it as UTF-8");
            }
            (Format::Stripper, Mode::Lumper) => stripper::read_lumper(&mut rules, text),
            (Format::Stripper, _) => stripper::read(&mut rules, text),
            (Format::Qmm, _) => qmm::read(&mut rules, text),
            (Format::Lazyripent, _) => lazyripent::read(&mut rules, text),
            (Format::Cs2, _) => {
                let at = At { line: 1, column: 1 };
                rules.find(UNSUPPORTED, at, "files of StripperCS2 are JSON, which `files::read` reads");
            }
        }
        rules.findings.sort_by_key(|found| found.at);
        rules
    }
}

// Rules as data, whatever file they are from.

/// The most steps of all regular expressions of a file together.
const MOST_STEPS: usize = 1 << 20;

/// The rules of a file, in the order in which they are applied.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
/// use bspkit_rules::{Format, Mode, Rules};
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
    /// Every test has to hold for the last pair of its key: the program keeps one value for each key.
    Last,
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
    /// That of an output of Source, which a regular expression matches; if the key is empty, one of any name.
    Output(Box<Pattern>),
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
    /// Gives each output of Source that passes one of the tests another name and other parts, and puts it after the
    /// other outputs. It keeps what is not given.
    Outputs {
        /// The tests.
        tests: Vec<Test>,
        /// The name.
        key: Option<Vec<u8>>,
        /// Target, input, parameter, delay and number of times.
        parts: [Option<Vec<u8>>; 5],
    },
}

impl Rules {
    pub(crate) fn new(name: &str, format: Format, mode: Mode) -> Self {
        Rules { name: name.to_owned(), format, mode, rules: Vec::new(), findings: Vec::new(), steps: 0 }
    }

    /// Whether a file with these findings is not applied, and why: everything that its mode refuses.
    pub fn refusal(&self) -> Option<Error> {
        let refused = self.findings.iter().filter(|finding| finding.code.refused_by.contains(&self.mode));
        let mut said = refused.map(|finding| format!("{}:{}: {}", self.name, finding.at, finding.message));
        let error = Error::new(ErrorKind::Argument, said.next()?);
        Some(error.with_list(said))
    }

    pub(crate) fn find(&mut self, code: &'static Code, at: At, message: impl Into<String>) {
        self.findings.push(Finding { code, at, message: message.into() });
    }

    /// Whether the program whose format it is does not see pairs with an empty key or value.
    fn hides_empty(&self) -> bool {
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
    fn whole_pattern(&mut self, at: At, text: &[u8]) -> Option<Box<Pattern>> {
        self.compiled(at, text, Pattern::new(text, Flavor::Ecma))
    }

    fn compiled(&mut self, at: At, text: &[u8], pattern: std::result::Result<Pattern, Unfit>) -> Option<Box<Pattern>> {
        let shown = escaped(text).to_string();
        let (code, offset, why) = match pattern {
            Ok(pattern) if self.steps + pattern.steps <= MOST_STEPS => {
                self.steps += pattern.steps;
                return Some(Box::new(pattern));
            }
            Ok(_) => (UNSUPPORTED, 0, "the expressions of the file are too large together".to_owned()),
            Err(Unfit::Doubtful(offset, why)) => (UNSUPPORTED, offset, why),
            // Only Stripper:Source goes on without the pair.
            Err(Unfit::Invalid(offset, why)) if self.format == Format::Qmm => {
                (SYNTAX, offset, format!("{why}; the plug-in stops at it"))
            }
            Err(Unfit::Invalid(offset, why)) if self.format != Format::Stripper => (SYNTAX, offset, why),
            Err(Unfit::Invalid(offset, why)) => (PATTERN, offset, why),
            Err(Unfit::Unsupported(offset, why)) => {
                (UNSUPPORTED, offset, format!("{why} is not supported by this program"))
            }
        };
        let at = At { column: at.column + offset, ..at };
        self.find(code, at, format!("the regular expression /{shown}/ cannot be used: {why}"));
        None
    }
}

impl Match {
    /// Whether an entity with these pairs matches, and if so whether every test holds.
    fn holds<'p>(&self, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])> + Clone) -> Option<bool> {
        let passes = |test: &Test| pairs.clone().any(|(key, value)| test.passes(key, value)) != test.is_negated;
        match self.need {
            Need::Each => self.tests.iter().all(passes).then_some(true),
            Need::Last => {
                // The keys are exact.
                let last = |test: &Test| pairs.clone().filter(|(key, _)| *key == test.key).last();
                let passes = |test: &Test| last(test).is_some_and(|(key, value)| test.passes(key, value));
                self.tests.iter().all(|test| passes(test) != test.is_negated).then_some(true)
            }
            Need::Count => {
                let is_hit = |(key, value): &(&[u8], &[u8])| self.tests.iter().any(|test| test.passes(key, value));
                let hits = pairs.clone().filter(is_hit).take(self.tests.len()).count();
                (hits == self.tests.len()).then(|| self.tests.iter().all(passes))
            }
        }
    }
}

impl Test {
    /// Whether outputs of every name may pass.
    fn is_of_any_output(&self) -> bool {
        self.key.is_empty() && matches!(self.value, Expected::Output(_))
    }

    /// Whether a pair passes, without the negation.
    fn passes(&self, key: &[u8], value: &[u8]) -> bool {
        let is_key = match self.is_exact {
            _ if self.is_of_any_output() => Output::parse(value).is_some(),
            true => key == self.key,
            false => key.eq_ignore_ascii_case(&self.key),
        };
        is_key
            && match &self.value {
                Expected::Any => true,
                Expected::Nothing => false,
                Expected::Is(other) => value.eq_ignore_ascii_case(other),
                Expected::IsExactly(other) => value == other,
                Expected::Like(pattern) | Expected::Output(pattern) => pattern.is_hit(value),
            }
    }
}

/// What rules did to the entities of a map.
///
/// Entities have the numbers that they had before all rules; added ones have the numbers that follow.
///
/// ```
/// assert_eq!(bspkit_rules::Report::default().matched(), 0);
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
    /// How many pairs it changed.
    pub pairs: PairCounts,
}

/// How many pairs a rule changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PairCounts {
    /// Removed pairs.
    pub removed: usize,
    /// Pairs that got another value.
    pub set: usize,
    /// Added pairs.
    pub added: usize,
}

/// An entity of a report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Who {
    /// Whether a rule added it.
    #[serde(rename = "added", skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    /// Its class, as it was when a rule first matched it.
    #[serde(serialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub class: Option<Vec<u8>>,
    /// Its `targetname`.
    #[serde(rename = "targetname", serialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub name: Option<Vec<u8>>,
}

fn text<S: serde::Serializer>(text: &Option<Vec<u8>>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    bspkit::json::text(text.as_deref().unwrap_or_default(), serializer)
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

// What is wrong or risky in rule files: all codes, and which readings refuse which of them.

/// A kind of finding about rules. Its meaning never changes.
///
/// ```
/// use bspkit_rules::CODES;
/// let code = CODES.iter().find(|code| code.name == "rule-long-line").map(|code| code.refused_by.len());
/// assert_eq!(code, Some(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The name.
    pub name: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// The modes that apply no rule of a file with such a finding.
    pub refused_by: &'static [Mode],
}

macro_rules! codes {
    ($($name:ident = $text:literal, $severity:ident, [$($mode:ident),*], $meaning:literal;)*) => {
        $(pub(crate) const $name: &Code =
            &Code { name: $text, severity: Severity::$severity, meaning: $meaning, refused_by: &[$(Mode::$mode),*] };)*

        /// All kinds of findings about rules.
        pub const CODES: &[&Code] = &[$($name),*];
    };
}

codes! {
    UNSUPPORTED = "rule-unsupported", Error, [Plugin, Strict, Lumper],
        "the rule is valid, and this program cannot do what it says";
    SYNTAX = "rule-syntax", Error, [Plugin, Strict, Lumper], "the file cannot be read as rules";
    PATTERN = "rule-pattern", Error, [Strict],
        "a regular expression does not compile, so its pair is left out and the rule matches more";
    EMPTY_BLOCK = "rule-empty-block", Error, [Strict], "a block without pairs matches every entity";
    UNCLOSED = "rule-unclosed", Error, [Strict], "a block is not closed, so it is never applied";
    LONG_LINE = "rule-long-line", Warning, [Strict], "a line has more than 253 bytes, and its rest is read as a line";
    EMPTY_VALUE = "rule-empty-value", Warning, [Strict], "a pair has an empty key or value, so it is left out";
    SLASHES = "rule-slashes", Warning, [Strict],
        "a value to be stored begins and ends with a slash, and the last one is cut off";
    IGNORED = "rule-ignored", Warning, [Strict], "a line is not a header, a brace, a pair or a comment";
    REST = "rule-rest", Note, [], "text after a pair is ignored, also a comment";
    REPLACED = "rule-replaced", Warning, [Strict], "a later block of the same kind takes the place of this one";
    REPEATED = "rule-repeated", Warning, [Strict], "a block has a key twice, and one of the two pairs does nothing";
    NO_MATCH = "rule-no-match", Warning, [], "the rule matches no entity of the maps";
    NO_MAP = "rule-no-map", Warning, [], "the file or the rule is for maps of other names than those that were given";
    MANY = "rule-many", Warning, [], "the rule matches worldspawn, or half of a map's entities or more";
    REFUSED = "rule-refused", Error, [],
        "a map that the rule would make cannot be read by its engines, so it is not applied";
    TARGET = "rule-target", Warning, [],
        "the rule writes a target or an output for a name that no entity of the map has";
    LEFT = "rule-left", Note, [], "targets or outputs of the map give a name that no entity has after the rule";
    ANGLES = "rule-angles", Warning, [Strict],
        "the rule names `angle` or `angles`: Lazyripent2 makes the second of the first before it applies rules";
    COMMENT = "rule-comment", Warning, [Strict],
        "a value has `#` or `//`: Lazyripent2 takes it up to there, where a comment begins";
    LOOSE = "rule-loose", Warning, [], "an entity matches by equal keys, though not every pair of the rule is in it";
}

/// Where something is in a rule file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct At {
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something wrong or risky in a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub code: &'static Code,
    /// Its place in the file.
    pub at: At,
    /// The fault: a sentence without a capital and a full stop.
    pub message: String,
}

/// A pair of an entity that rules changed or added.
///
/// There may be as many of these as a text has pairs, so that they borrow what they have of the map and of the rules.
#[derive(Clone, Debug)]
struct Pair<'w> {
    key: Cow<'w, [u8]>,
    value: Cow<'w, [u8]>,
    /// The number of the pair in the entity as it was read.
    origin: Option<u32>,
    /// The rule that wrote the value, by its number in the report.
    by: Option<u32>,
}

impl Pair<'_> {
    /// The number of the pair in the entity as it was read.
    fn origin(&self) -> Option<usize> {
        self.origin.map(index)
    }
}

/// The rules that are for a map, with their files, in the order in which they are applied.
fn rules_for<'r>(files: impl IntoIterator<Item = &'r Rules>, map: &str) -> impl Iterator<Item = (&'r Rules, &'r Rule)> {
    let of = move |file: &'r Rules| file.rules.iter().filter(|rule| rule.is_for(map)).map(move |rule| (file, rule));
    files.into_iter().flat_map(of)
}

impl Rule {
    fn is_for(&self, map: &str) -> bool {
        self.maps.is_empty() || self.maps.iter().any(|own| own == map)
    }
}
