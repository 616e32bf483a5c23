//! Cases in which rules and what they are converted to do not do the same. Whether a map has such a case is not known
//! when rules are converted.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use super::finder::Finder;
use super::{Action, At, Expected, Match, Need, Rule, Step, Test};

/// A case in which rules and their conversion differ.
///
/// ```
/// use bspkit_rules::{Doubt, Format, Mode, Rules};
/// let text = b"modify:\n{\nmatch:\n{\n\"classname\" \"light\"\n}\nreplace:\n{\n\"style\" \"0\"\n}\n}\n";
/// let rules = Rules::parse("lights.cfg", text, Format::Stripper, Mode::Plugin)?;
/// assert_eq!(rules.to_patch()?.doubts[0].1, Doubt::Repeated);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Doubt {
    /// An entity has a key several times. Stripper counts and sets all of its values; a patch sets the first one, and
    /// other rules match each test by itself, or by the last value.
    Repeated,
    /// An entity has a pair with an empty value, which Stripper does not see.
    Empty,
    /// A rule is about what an earlier one adds or changes. Rules see what an entity has by then; a patch sees what the
    /// map has.
    Order,
    /// An entity has a key in another case than the rule. Some rules mind the case of keys; Stripper and patches do
    /// not.
    Case,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::Repeated => {
                "entities that have a key several times: the formats differ in which of its values they test and set"
            }
            Doubt::Empty => "pairs with an empty value: Stripper does not see them",
            Doubt::Order => {
                "entities that an earlier rule or operation adds or changes: rules see what they have by then, a patch \
                 what the map has"
            }
            Doubt::Case => "keys of a map in another case than in the rules: only the result takes them for the same",
        })
    }
}

/// Doubts, each with the first place that gives rise to it.
#[derive(Debug, Default)]
pub(super) struct Doubts(BTreeMap<Doubt, At>);

impl Doubts {
    /// Adds a doubt if there is reason for it.
    pub(super) fn add(&mut self, doubt: Doubt, at: At, is_reason: bool) {
        if is_reason {
            self.0.entry(doubt).or_insert(at);
        }
    }

    /// Adds the doubt about the order of rules, if one of them tests what an earlier one writes.
    pub(super) fn add_order(&mut self, rules: &[Rule]) {
        if let Some(at) = dependent(rules) {
            self.add(Doubt::Order, at, true);
        }
    }

    pub(super) fn list(self) -> Vec<(At, Doubt)> {
        self.0.into_iter().map(|(doubt, at)| (at, doubt)).collect()
    }
}

impl Match {
    /// Whether it matters how pairs are counted.
    pub(super) fn counts(&self) -> bool {
        self.tests.len() > 1
    }
}

impl Test {
    /// Whether a pair with an empty value passes.
    pub(super) fn is_of_empty(&self) -> bool {
        match &self.value {
            Expected::Any => true,
            Expected::Like(pattern) => pattern.is_hit(b""),
            _ => false,
        }
    }
}

/// How many added entities are compared with rules; beyond that the order is taken to matter.
const MOST_COMPARED: usize = 1 << 16;

/// The first rule that is about what an earlier one added or changed.
fn dependent(rules: &[Rule]) -> Option<At> {
    let mut added: Vec<Vec<(&[u8], &[u8])>> = Vec::new();
    let mut finder = Finder::new(rules.iter().map(|rule| &rule.on));
    let (mut written, mut compared) = (HashSet::<Vec<u8>>::new(), 0);
    for rule in rules {
        if let Action::Add(pairs) = &rule.action {
            let pairs: Vec<_> = pairs.iter().map(|pair| (&pair.key[..], &pair.value[..])).collect();
            finder.add(added.len(), pairs.iter().map(|(key, value)| (*key, *value, true)));
            added.push(pairs);
            continue;
        }
        let is_written = |test: &Test| match test.is_of_any_output() {
            true => !written.is_empty(),
            false => written.contains(&test.key.to_ascii_lowercase()),
        };
        if rule.on.tests.iter().any(is_written) {
            return Some(rule.at);
        }
        let candidates = finder.candidates(&rule.on).unwrap_or_else(|| (0..added.len()).collect());
        compared += candidates.len();
        let is_hit = |number: &usize| rule.on.holds(added[*number].iter().copied()).is_some();
        if compared > MOST_COMPARED || candidates.iter().any(is_hit) {
            return Some(rule.at);
        }
        match &rule.action {
            Action::Modify(steps) => steps.iter().for_each(|step| written.extend(step.keys())),
            Action::Acts(acts) => written.extend(acts.iter().map(|act| act.key.to_ascii_lowercase())),
            _ => {}
        }
    }
    None
}

impl Step {
    /// The keys that it writes or removes, in lower case.
    fn keys(&self) -> Vec<Vec<u8>> {
        let keys: Vec<&Vec<u8>> = match self {
            Step::Outputs { tests, key, .. } => tests.iter().map(|test| &test.key).chain(key).collect(),
            Step::Delete(tests) => tests.iter().map(|test| &test.key).collect(),
            Step::Replace { pairs, .. } => pairs.iter().map(|pair| &pair.key).collect(),
            Step::Insert(pair) | Step::Set { pair, .. } => vec![&pair.key],
        };
        keys.into_iter().map(|key| key.to_ascii_lowercase()).collect()
    }
}

impl Rule {
    /// Whether pairs with an empty value are matched or removed.
    pub(super) fn is_of_empty(&self) -> bool {
        let removes = |step: &Step| match step {
            Step::Delete(tests) => tests.iter().any(Test::is_of_empty),
            Step::Set { .. } => true,
            _ => false,
        };
        let steps = if let Action::Modify(steps) = &self.action { &steps[..] } else { &[] };
        self.on.tests.iter().any(Test::is_of_empty) || steps.iter().any(removes)
    }

    /// Whether its tests count the pairs of an entity, or each of them holds by itself, and the other way would match
    /// other entities with a key several times. So would any way but its own if only the last values count.
    pub(super) fn matches_repeated(&self, counts: bool) -> bool {
        let is_of_last = |test: &Test| self.on.need == Need::Last && !matches!(test.value, Expected::Any);
        (self.on.need == Need::Count) == counts && self.on.counts() || self.on.tests.iter().any(is_of_last)
    }

    /// Whether the case of a key matters that it tests, sets or removes.
    pub(super) fn minds_case(&self) -> bool {
        let is_exact = |tests: &[Test]| tests.iter().any(|test| test.is_exact);
        let of_step = |step: &Step| match step {
            Step::Delete(tests) | Step::Outputs { tests, .. } => is_exact(tests),
            Step::Replace { pairs, is_exact } => *is_exact && !pairs.is_empty(),
            Step::Set { is_exact, .. } => *is_exact,
            Step::Insert(_) => false,
        };
        is_exact(&self.on.tests)
            || match &self.action {
                Action::Modify(steps) => steps.iter().any(of_step),
                // An action that needs a key, or needs that it is missing.
                Action::Acts(acts) | Action::AddFor(_, acts) => !acts.is_empty(),
                Action::Remove | Action::Add(_) => false,
            }
    }

    /// Whether it changes entities with a key several times in another way than a patch.
    pub(super) fn sets_repeated(&self) -> bool {
        let sets = |step: &Step| match step {
            Step::Set { .. } => true,
            Step::Replace { pairs, .. } => !pairs.is_empty(),
            _ => false,
        };
        match &self.action {
            Action::Modify(steps) => steps.iter().any(sets),
            Action::Acts(acts) => acts.iter().filter_map(super::Act::as_step).any(|step| sets(&step)),
            _ => false,
        }
    }
}
