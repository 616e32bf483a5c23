//! Rules as patches, patches as rules, and rules as text of Stripper:Source.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::doubt::{Doubt, Doubts};
use super::lazyripent::{Act, Verb};
use super::stripper::MOST_IN_LINE;
use super::{Action, At, Expected, Format, Match, Mode, Need, NewPair, Rule, Rules, Step, Test};
use bspkit::Result;
use bspkit::bytes::escaped;
use bspkit::content::entities::Key;
use bspkit::content::select::Selector;
use bspkit_ops::patch::{Change, Expected as Pair, Operation, Patch, Target};

// Rules as patches and patches as rules.
//
// A patch means the entities by what they are before it, and does not fit if one of its targets is missing. Rules
// apply one after the other, to whatever matches. What the other side cannot say is named.

type Lost = Vec<(At, String)>;

impl Rules {
    /// The rules as a patch.
    ///
    /// # Errors
    /// None but for expressions beyond the limits of selectors.
    pub fn to_patch(&self) -> Result<Converted<Patch>> {
        let (mut operations, mut lost, mut doubts) = (Vec::new(), Lost::new(), Doubts::default());
        for rule in &self.rules {
            if !rule.maps.is_empty() {
                lost.push((rule.at, format!("the rule is for some maps only: {}", rule.maps.join(", "))));
                continue;
            }
            let select = |more: Option<&NewPair>| -> Result<Target> {
                let any = if self.hides_empty() { NOT_EMPTY } else { ANY };
                let more = more.map(|pair| (pair.key.clone(), any.to_owned()));
                let class_name = rule.on.tests.iter().find_map(class);
                let tests = rule.on.tests.iter().filter(|test| class(test).is_none());
                let filled = |test: &Test| {
                    let is_more = self.hides_empty() && test.is_of_empty();
                    is_more.then(|| (test.key.clone(), NOT_EMPTY.to_owned()))
                };
                let tests =
                    tests.flat_map(|test| [(test.key.clone(), expression(test))].into_iter().chain(filled(test)));
                Ok(Target::Select(Selector::like(class_name, tests.chain(more))?, None))
            };
            if rule.on.tests.iter().filter_map(class).count() > 1 {
                lost.push((rule.at, "a match of two classes".to_owned()));
                continue;
            }
            if let Some(test) = rule.on.tests.iter().find(|test| test.is_negated || is_nothing(test)) {
                lost.push((test.at, format!("a test that no `{}` may pass", escaped(&test.key))));
                continue;
            }
            if let Some(test) = rule.on.tests.iter().find(|test| test.is_of_any_output()) {
                lost.push((test.at, ANY_OUTPUT.to_owned()));
                continue;
            }
            if let Some(test) = rule.on.tests.iter().find(|test| is_beyond(test)) {
                let why = format!("the expression of `{}`, which looks around or refers back", escaped(&test.key));
                lost.push((test.at, why));
                continue;
            }
            let counted = rule.on.with_first().find(|(_, first)| first.is_some() && rule.on.need == Need::Count);
            let misread = counted.map(|(test, _)| (test.at, counts_pairs(test)));
            if let Some(why) = misread.or_else(|| keys_with_case(rule)) {
                lost.push(why);
                continue;
            }
            doubts.add(Doubt::Repeated, rule.at, rule.matches_repeated(true) || rule.sets_repeated());
            doubts.add(Doubt::Case, rule.at, rule.minds_case());
            match &rule.action {
                Action::Add(pairs) => {
                    let pairs = pairs.iter().map(|pair| (pair.key.clone(), pair.value.clone())).collect();
                    operations.push(Operation::Add { pairs, to: None });
                }
                Action::Remove => operations.push(Operation::Remove { on: select(None)?, expect: Vec::new() }),
                Action::Acts(_) | Action::AddFor(..) => {
                    lost.push((rule.at, "the actions of Lazyripent2".to_owned()));
                }
                Action::Modify(steps) => {
                    for step in steps {
                        let (on, change) = match step {
                            Step::Delete(tests) => {
                                let name = |test: &Test| match test.is_of_any_output() {
                                    true => "the removal of outputs of any name".to_owned(),
                                    false => format!("the removal of `{}` by its value", escaped(&test.key)),
                                };
                                lost.extend(tests.iter().map(|test| (test.at, name(test))));
                                continue;
                            }
                            Step::Replace { pairs, .. } => {
                                // Of equal keys the first one counts.
                                let mut keys = HashSet::new();
                                for pair in pairs.iter().filter(|pair| keys.insert(pair.key.to_ascii_lowercase())) {
                                    let change = Change::Set { key: key(&pair.key), value: pair.value.clone() };
                                    let (on, expect) = (select(Some(pair))?, Vec::new());
                                    operations.push(Operation::Edit { on, expect, changes: vec![change] });
                                }
                                continue;
                            }
                            Step::Outputs { .. } => {
                                lost.push((rule.at, OUTPUTS.to_owned()));
                                continue;
                            }
                            Step::Insert(pair) => {
                                (select(None)?, Change::Add { key: pair.key.clone(), value: pair.value.clone() })
                            }
                            Step::Set { pair, .. } => {
                                (select(None)?, Change::Set { key: key(&pair.key), value: pair.value.clone() })
                            }
                        };
                        operations.push(Operation::Edit { on, expect: Vec::new(), changes: vec![change] });
                    }
                }
            }
        }
        doubts.add_order(&self.rules);
        Ok(Converted { result: Patch { entities: None, operations, result: None }, lost, doubts: doubts.list() })
    }

    /// The rules that do what a patch does. The place of what is lost is the number of the operation, from 1, as line.
    pub fn from_patch(name: &str, patch: &Patch) -> Converted<Rules> {
        let (mut rules, mut lost) = (Rules::new(name, Format::Stripper, Mode::Plugin), Lost::new());
        for (index, operation) in patch.operations.iter().enumerate() {
            let at = At { line: index + 1, column: 1 };
            match rule(at, operation) {
                Ok(rule) => rules.rules.push(rule),
                Err(why) => lost.push((at, why)),
            }
        }
        let mut doubts = Doubts::default();
        for rule in &rules.rules {
            doubts.add(Doubt::Repeated, rule.at, rule.matches_repeated(true) || rule.sets_repeated());
            doubts.add(Doubt::Empty, rule.at, rule.is_of_empty());
        }
        doubts.add_order(&rules.rules);
        Converted { result: rules, lost, doubts: doubts.list() }
    }
}

/// Expressions that match any value, and any but an empty one.
const ANY: &str = "^";
const NOT_EMPTY: &str = "(?s-u)^.";

// What neither a patch nor Stripper can say.
const ANY_OUTPUT: &str = "a test of outputs of any name";
const OUTPUTS: &str = "other parts of the outputs that match, which keep the rest";

impl Match {
    /// The tests, each with the first one of its key if that is another one.
    fn with_first(&self) -> impl Iterator<Item = (&Test, Option<&Test>)> {
        let mut firsts: HashMap<Vec<u8>, &Test> = HashMap::with_capacity(self.tests.len());
        self.tests.iter().map(move |test| match firsts.entry(test.key.to_ascii_lowercase()) {
            Entry::Occupied(first) => (test, Some(*first.get())),
            Entry::Vacant(place) => {
                place.insert(test);
                (test, None)
            }
        })
    }
}

fn counts_pairs(test: &Test) -> String {
    format!("two tests of `{}`: the plug-in counts the pairs that pass any of them", escaped(&test.key))
}

/// A key with capitals whose case matters: selectors and the plug-in ignore it. Keys of maps are in lower case, and
/// outputs are as they are written.
fn keys_with_case(rule: &Rule) -> Option<(At, String)> {
    let has_capitals = |key: &[u8]| key.iter().any(u8::is_ascii_uppercase);
    let is_of_key = |test: &&Test| test.is_exact && !matches!(test.value, Expected::Output(_));
    let of_tests = rule.on.tests.iter().filter(is_of_key).map(|test| (test.at, &test.key));
    let steps = if let Action::Modify(steps) = &rule.action { &steps[..] } else { &[] };
    let of_steps = steps.iter().filter_map(|step| match step {
        Step::Set { pair, is_exact: true } => Some((pair.at, &pair.key)),
        Step::Replace { pairs, is_exact: true } => pairs.first().map(|pair| (pair.at, &pair.key)),
        Step::Delete(tests) => tests.iter().find(is_of_key).map(|test| (test.at, &test.key)),
        _ => None,
    });
    let acts = if let Action::Acts(acts) = &rule.action { &acts[..] } else { &[] };
    let of_acts = acts.iter().filter(|act| act.verb != Verb::New).map(|act| (act.at, &act.key));
    let (at, key) = of_tests.chain(of_steps).chain(of_acts).find(|(_, key)| has_capitals(key))?;
    Some((at, format!("the case of the key `{}`", escaped(key))))
}

fn key(name: &[u8]) -> Key {
    Key::literal(name)
}

fn is_nothing(test: &Test) -> bool {
    matches!(test.value, Expected::Nothing)
}

/// Whether selectors have no such expression.
fn is_beyond(test: &Test) -> bool {
    matches!(&test.value, Expected::Like(pattern) | Expected::Output(pattern) if pattern.rewritten().is_none())
}

/// The class that a test is about.
fn class(test: &Test) -> Option<&[u8]> {
    match &test.value {
        Expected::Is(value) if test.key.eq_ignore_ascii_case(b"classname") && Selector::is_class(value) => Some(value),
        _ => None,
    }
}

/// The expression of a selector that ignores case.
fn expression(test: &Test) -> String {
    let exact = |value: &[u8], is_exact| {
        let text = exactly(value, is_exact);
        String::from_utf8_lossy(&text[1..text.len() - 1]).into_owned()
    };
    match &test.value {
        Expected::Any | Expected::Nothing => ANY.to_owned(),
        Expected::Is(value) => exact(value, false),
        Expected::IsExactly(value) => exact(value, true),
        // Selectors see letters, rules see bytes.
        Expected::Like(pattern) | Expected::Output(pattern) => {
            let flags = if pattern.is_whole() { "(?-u)(?-i)" } else { "(?-u)" };
            format!("{flags}{}", pattern.rewritten().unwrap_or_default())
        }
    }
}

fn rule(at: At, operation: &Operation) -> std::result::Result<Rule, String> {
    let (on, action) = match operation {
        Operation::Remove { on, expect } => (matching(at, on, expect)?, Action::Remove),
        Operation::Add { to: Some(_), .. } | Operation::AddText { to: Some(_), .. } => {
            return Err("the place of an added entity".to_owned());
        }
        Operation::Add { pairs, to: None } => {
            let pair = |(key, value): &(Vec<u8>, Vec<u8>)| NewPair { at, key: key.clone(), value: value.clone() };
            (Match::default(), Action::Add(pairs.iter().map(pair).collect()))
        }
        Operation::Edit { on, expect, changes } => {
            let mut touched = HashSet::new();
            let steps = changes.iter().map(|change| step(at, change, expect, &mut touched));
            let steps = steps.collect::<std::result::Result<Vec<_>, _>>()?;
            (matching(at, on, expect)?, Action::Modify(steps.into_iter().flatten().collect()))
        }
        Operation::Move { .. } => return Err("a place among the entities".to_owned()),
        Operation::Replace { .. } | Operation::AddText { .. } | Operation::Text { .. } => {
            return Err("text with its spacing and comments".to_owned());
        }
    };
    Ok(Rule { at, maps: Vec::new(), on, action })
}

fn matching(at: At, on: &Target, expect: &[Pair]) -> std::result::Result<Match, String> {
    let test = |key: &[u8], value: Option<&[u8]>| Test {
        at,
        key: key.to_vec(),
        is_exact: false,
        value: value.map_or(Expected::Any, |value| Expected::IsExactly(value.to_vec())),
        is_negated: false,
    };
    let mut tests: Vec<Test> = match on {
        Target::Index(index) if expect.iter().all(|pair| pair.value.is_none()) => {
            return Err(format!("the entity #{index} by its index"));
        }
        Target::Index(_) => Vec::new(),
        Target::Match(on) if on.nth.is_some() && on.count != Some(1) => {
            return Err(format!("which of equal entities is meant ({on})"));
        }
        Target::Match(on) if on.only => return Err(format!("that an entity has no other pairs ({on})")),
        Target::Match(on) => on.pairs.iter().map(|(key, value)| test(key, Some(value))).collect(),
        Target::Select(selector, _) => match selector.pairs() {
            Some(pairs) => {
                // Selectors ignore the case of a class.
                let class = selector
                    .class()
                    .map(|class| Test { value: Expected::Is(class.to_vec()), ..test(b"classname", None) });
                let others = pairs.into_iter().skip(class.iter().len()).map(|(key, value)| test(key, value));
                class.iter().cloned().chain(others).collect()
            }
            None => return Err(format!("the selector {selector}")),
        },
    };
    for pair in expect {
        if let Some(value) = &pair.value {
            let is_same = |test: &Test| test.key.eq_ignore_ascii_case(&pair.key.name);
            let is_equal = |test: &Test| matches!(&test.value, Expected::IsExactly(own) if own == value);
            let is_there = tests.iter().any(|test| is_same(test) && (pair.key.nth.is_none() || is_equal(test)));
            if !is_there {
                tests.push(test(&pair.key.name, Some(value)));
            }
        }
    }
    match tests.is_empty() {
        true => Err("all entities".to_owned()),
        false => Ok(Match { tests, need: Need::Count }),
    }
}

/// The steps of a change. What a key has is known if the patch expects it, and no earlier change touched it.
fn step(
    at: At,
    change: &Change,
    expect: &[Pair],
    touched: &mut HashSet<Vec<u8>>,
) -> std::result::Result<Vec<Step>, String> {
    let mut is_new = |key: &[u8]| touched.insert(key.to_ascii_lowercase());
    let is_touched = !match change {
        Change::Add { key, .. } => is_new(key),
        Change::Set { key, .. } | Change::Unset { key } => is_new(&key.name),
        // Both are touched.
        Change::Rename { key, to } => is_new(&key.name) & is_new(to),
    };
    let expected = |key: &Key| {
        let expect = expect.iter().filter(|_| !is_touched).find(|pair| pair.key == *key);
        expect.map(|pair| pair.value.as_deref())
    };
    let delete = |key: &[u8], value: Expected| {
        Step::Delete(vec![Test { at, key: key.to_vec(), is_exact: false, value, is_negated: false }])
    };
    let insert = |key: &[u8], value: &[u8]| Step::Insert(NewPair { at, key: key.to_vec(), value: value.to_vec() });
    Ok(match change {
        Change::Add { key, value } => vec![insert(key, value)],
        Change::Set { key, value } => match (key.nth, expected(key)) {
            (None, Some(Some(_))) => {
                let pair = NewPair { at, key: key.name.clone(), value: value.clone() };
                vec![Step::Replace { pairs: vec![pair], is_exact: false }]
            }
            (None, Some(None)) => vec![insert(&key.name, value)],
            (None, None) => {
                vec![Step::Set { pair: NewPair { at, key: key.name.clone(), value: value.clone() }, is_exact: false }]
            }
            (Some(_), _) => return Err(format!("the value of `{key}`, one of equal keys")),
        },
        Change::Unset { key } => match (key.nth, expected(key)) {
            (None, _) => vec![delete(&key.name, Expected::Any)],
            (Some(_), Some(Some(value))) => vec![delete(&key.name, Expected::IsExactly(value.to_vec()))],
            (Some(_), _) => return Err(format!("the removal of `{key}`, one of equal keys")),
        },
        Change::Rename { key, to } => match expected(key) {
            Some(Some(value)) => {
                vec![delete(&key.name, Expected::IsExactly(value.to_vec())), insert(to, value)]
            }
            _ => return Err(format!("the new key of `{key}` without its value")),
        },
    })
}

// Rules as text of Stripper:Source, and what that text cannot say.

/// Something in other words, and what is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted<T> {
    /// The result, without what is lost.
    pub result: T,
    /// What the other format cannot say, each with the place of the rule it is from.
    pub lost: Vec<(At, String)>,
    /// Cases in which the result does something else, if a map has them; each with the first place of a rule for which
    /// that is so.
    pub doubts: Vec<(At, Doubt)>,
}

/// What a pair is for: only a match can be an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Test,
    Value,
}

/// Why a pair cannot be a line of its own; `None` if it can.
pub(super) fn obstacle(key: &[u8], value: &[u8], is_stored: bool) -> Option<String> {
    let has = |text: &[u8], bytes: &[u8]| text.iter().any(|byte| bytes.contains(byte));
    for (what, text) in [("key", key), ("value", value)] {
        if text.is_empty() {
            return Some(format!("the {what} is empty"));
        }
        if has(text, b"\"") {
            return Some(format!("the {what} contains a quote"));
        }
        if has(text, b"\n\r\0") {
            return Some(format!("the {what} contains a line break or a NUL"));
        }
    }
    if value.starts_with(b"/") && value.ends_with(b"/") {
        let why = if is_stored { "the last slash would be cut off" } else { "it would be an expression" };
        return Some(format!("the value begins and ends with a slash, and {why}"));
    }
    let length = key.len() + value.len() + 5;
    (length > MOST_IN_LINE).then(|| format!("the line would have {length} bytes, and {MOST_IN_LINE} are read"))
}

/// An expression that matches this value only, with its case if that matters.
pub(super) fn exactly(value: &[u8], is_exact: bool) -> Vec<u8> {
    let mut text = if is_exact { b"/(?-i)\\A".to_vec() } else { b"/\\A".to_vec() };
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b' ' | b',' | b'!' | b'%' | b'&' | b'\'' | b':' => {
                text.push(*byte);
            }
            other => text.extend_from_slice(format!("\\x{other:02x}").as_bytes()),
        }
    }
    text.extend_from_slice(b"\\z/");
    text
}

struct Writer {
    text: Vec<u8>,
    lost: Vec<(At, String)>,
}

impl Rules {
    /// The rules as text of Stripper:Source.
    pub fn to_stripper(&self) -> Converted<Vec<u8>> {
        let mut writer = Writer { text: Vec::new(), lost: Vec::new() };
        let mut doubts = Doubts::default();
        for rule in &self.rules {
            if !rule.maps.is_empty() {
                let maps = rule.maps.join(", ");
                let message = format!("the rule is for some maps only; put it into files of their names: {maps}");
                writer.lost.push((rule.at, message));
                continue;
            }
            // A rule without one of its tests would match more.
            let lost = writer.lost.len();
            if let Some(why) = keys_with_case(rule) {
                writer.lost.push(why);
                continue;
            }
            let start = writer.text.len();
            match &rule.action {
                Action::Remove => {
                    writer.line("filter:");
                    writer.tests(&rule.on);
                }
                Action::Add(pairs) => {
                    writer.line("add:");
                    writer.pairs("", pairs);
                }
                Action::Modify(steps) => writer.modify(rule.at, &rule.on, steps),
                Action::Acts(acts) => match acts.iter().map(Act::as_step).collect::<Option<Vec<_>>>() {
                    Some(steps) => writer.modify(rule.at, &rule.on, &steps),
                    None => writer.lost.push((rule.at, "actions that calculate or refer to values".to_owned())),
                },
                Action::AddFor(..) => {
                    writer.lost.push((rule.at, "an added entity for each one that matches".to_owned()));
                }
            }
            if writer.lost.len() > lost && !matches!(rule.action, Action::Add(_)) {
                writer.text.truncate(start);
                continue;
            }
            let is_set = self.format != Format::Stripper && rule.sets_repeated();
            doubts.add(Doubt::Repeated, rule.at, is_set || rule.matches_repeated(false));
            doubts.add(Doubt::Case, rule.at, rule.minds_case());
            doubts.add(Doubt::Empty, rule.at, !self.hides_empty() && rule.is_of_empty());
        }
        Converted { result: writer.text, lost: writer.lost, doubts: doubts.list() }
    }
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.extend_from_slice(line.as_bytes());
        self.text.push(b'\n');
    }

    /// The plug-in counts the pairs that pass any test: a test that is there twice would need two pairs.
    fn tests(&mut self, on: &Match) {
        let mut tests: Vec<&Test> = Vec::with_capacity(on.tests.len());
        for (test, first) in on.with_first() {
            match first.filter(|_| on.need != Need::Count) {
                Some(first) if is_equal(first, test) => {}
                Some(_) => self.lost.push((test.at, counts_pairs(test))),
                None => tests.push(test),
            }
        }
        self.block("", tests.into_iter().map(|test| (test.at, test)), |writer, test| writer.test(test));
    }

    /// A block of pairs, each made by a function that says why it cannot be.
    fn block<'i, T: 'i>(
        &mut self,
        indent: &str,
        items: impl Iterator<Item = (At, &'i T)>,
        pair: impl Fn(&Writer, &T) -> Result<(Vec<u8>, Vec<u8>), String>,
    ) {
        self.line(&format!("{indent}{{"));
        for (at, item) in items {
            match pair(self, item) {
                Ok((key, value)) => {
                    let line = [indent.as_bytes(), b"\"", &key, b"\" \"", &value, b"\"\n"].concat();
                    self.text.extend_from_slice(&line);
                }
                Err(why) => self.lost.push((at, why)),
            }
        }
        self.line(&format!("{indent}}}"));
    }

    fn pairs(&mut self, indent: &str, pairs: &[NewPair]) {
        self.block(indent, pairs.iter().map(|pair| (pair.at, pair)), |_, pair| {
            checked(&pair.key, pair.value.clone(), Use::Value)
        });
    }

    fn test(&self, test: &Test) -> Result<(Vec<u8>, Vec<u8>), String> {
        let key = escaped(&test.key);
        if test.is_negated {
            return Err(format!("a test that no `{key}` may pass"));
        }
        if test.is_of_any_output() {
            return Err(ANY_OUTPUT.to_owned());
        }
        let value = match &test.value {
            Expected::Any => b"/^/".to_vec(),
            Expected::Nothing => return Err(format!("a test of `{key}` that nothing passes")),
            Expected::Is(value) if obstacle(&test.key, value, false).is_none() => value.clone(),
            Expected::Is(value) => exactly(value, false),
            Expected::IsExactly(value) => {
                let has_case = value.iter().any(u8::is_ascii_alphabetic);
                match !has_case && obstacle(&test.key, value, false).is_none() {
                    true => value.clone(),
                    false => exactly(value, has_case),
                }
            }
            Expected::Like(pattern) | Expected::Output(pattern) => match pattern.for_plug_in() {
                Some(text) => [b"/", &text[..], b"/"].concat(),
                None => return Err(format!("an expression of `{key}` that the plug-in reads in another way")),
            },
        };
        checked(&test.key, value, Use::Test)
    }

    /// The plug-in deletes, replaces and inserts, in this order and each once.
    fn modify(&mut self, at: At, on: &Match, steps: &[Step]) {
        let (mut delete, mut replace, mut insert) = (Vec::<Test>::new(), Vec::<NewPair>::new(), Vec::<NewPair>::new());
        for step in steps {
            // A step after one that the plug-in takes later may not be about the same key.
            let is_late = match step {
                Step::Delete(tests) => {
                    delete.extend(tests.iter().cloned());
                    tests.iter().any(|test| has_key(&replace, &test.key) || has_key(&insert, &test.key))
                }
                Step::Replace { pairs, .. } => {
                    // Of equal keys in a block the first one counts; a later step overrides an earlier one.
                    replace.retain(|old: &NewPair| !has_key(pairs, &old.key));
                    replace.extend(pairs.iter().cloned());
                    pairs.iter().any(|pair| has_key(&insert, &pair.key))
                }
                Step::Insert(pair) => {
                    insert.push(pair.clone());
                    false
                }
                Step::Outputs { .. } => {
                    self.lost.push((at, OUTPUTS.to_owned()));
                    false
                }
                Step::Set { pair, is_exact } => {
                    let is_late = has_key(&replace, &pair.key) || has_key(&insert, &pair.key);
                    let (at, key) = (pair.at, pair.key.clone());
                    delete.push(Test { at, key, is_exact: *is_exact, value: Expected::Any, is_negated: false });
                    insert.push(pair.clone());
                    is_late
                }
            };
            if is_late {
                let what = "the order of the steps: the plug-in deletes, then replaces, then inserts";
                self.lost.push((at, what.to_owned()));
            }
        }
        self.line("modify:\n{\nmatch:");
        self.tests(on);
        if !delete.is_empty() {
            self.line("delete:");
            self.block("", delete.iter().map(|test| (test.at, test)), |writer, test| writer.test(test));
        }
        for (header, pairs) in [("replace:", &replace), ("insert:", &insert)] {
            if !pairs.is_empty() {
                self.line(header);
                self.pairs("", pairs);
            }
        }
        self.line("}");
    }
}

/// Whether two tests of a key are the same one.
fn is_equal(one: &Test, other: &Test) -> bool {
    one.is_negated == other.is_negated
        && match (&one.value, &other.value) {
            (Expected::Any, Expected::Any) => true,
            (Expected::Is(one), Expected::Is(other)) | (Expected::IsExactly(one), Expected::IsExactly(other)) => {
                one == other
            }
            _ => false,
        }
}

fn has_key(pairs: &[NewPair], key: &[u8]) -> bool {
    pairs.iter().any(|pair| pair.key.eq_ignore_ascii_case(key))
}

/// A pair as it is written, if the plug-in reads it as it is.
fn checked(key: &[u8], value: Vec<u8>, what: Use) -> Result<(Vec<u8>, Vec<u8>), String> {
    let is_expression = what == Use::Test && value.len() > 2 && value.starts_with(b"/") && value.ends_with(b"/");
    let why = match is_expression {
        // The slashes are those of an expression.
        true => obstacle(key, &value[..value.len() - 1], false).or_else(|| {
            let length = key.len() + value.len() + 5;
            (length > MOST_IN_LINE).then(|| format!("the line would have {length} bytes, and {MOST_IN_LINE} are read"))
        }),
        false => obstacle(key, &value, what == Use::Value),
    };
    match why {
        None => Ok((key.to_vec(), value)),
        Some(why) => {
            let start = &value[..value.len().min(40)];
            Err(format!("the pair `{}` `{}`: {why}", escaped(key), escaped(start)))
        }
    }
}
