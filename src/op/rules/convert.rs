//! Rules as patches and patches as rules.
//!
//! A patch means the entities by what they are before it, and does not fit if one of its targets is missing. Rules
//! apply one after the other, to whatever matches. What the other side cannot say is named.

use super::finding::At;
use super::model::{Action, Expected, Match, Need, NewPair, Rule, Rules, Step, Test};
use super::write::{Converted, exactly};
use super::{Format, Mode};
use crate::Result;
use crate::bytes::escaped;
use crate::content::select::Selector;
use crate::op::patch::{Change, Expected as Pair, Operation, PairKey, Patch, Target};

type Lost = Vec<(At, String)>;

impl Rules {
    /// The rules as a patch.
    ///
    /// # Errors
    /// None but for expressions beyond the limits of selectors.
    pub fn to_patch(&self) -> Result<Converted<Patch>> {
        let (mut operations, mut lost) = (Vec::new(), Lost::new());
        for rule in &self.rules {
            if !rule.maps.is_empty() {
                lost.push((rule.at, format!("the rule is for some maps only: {}", rule.maps.join(", "))));
                continue;
            }
            let select = |more: Option<&NewPair>| -> Result<Target> {
                let more = more.map(|pair| (pair.key.clone(), "^".to_owned()));
                let class_name = rule.on.tests.iter().find_map(class);
                let tests = rule.on.tests.iter().filter(|test| class(test).is_none());
                let tests = tests.map(|test| (test.key.clone(), expression(test)));
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
            if let Some(test) = rule.on.tests.iter().find(|test| is_beyond(test)) {
                let why = format!("the expression of `{}`, which looks around or refers back", escaped(&test.key));
                lost.push((test.at, why));
                continue;
            }
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
                                let name =
                                    |test: &Test| format!("the removal of `{}` by its value", escaped(&test.key));
                                lost.extend(tests.iter().map(|test| (test.at, name(test))));
                                continue;
                            }
                            Step::Replace { pairs, .. } => {
                                for pair in pairs {
                                    let change = Change::Set { key: key(&pair.key), value: pair.value.clone() };
                                    let (on, expect) = (select(Some(pair))?, Vec::new());
                                    operations.push(Operation::Edit { on, expect, changes: vec![change] });
                                }
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
        Ok(Converted { result: Patch { entities: None, operations }, lost })
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
        Converted { result: rules, lost }
    }
}

fn key(name: &[u8]) -> PairKey {
    PairKey { name: name.to_vec(), nth: None }
}

fn is_nothing(test: &Test) -> bool {
    matches!(test.value, Expected::Nothing)
}

/// Whether selectors have no such expression.
fn is_beyond(test: &Test) -> bool {
    matches!(&test.value, Expected::Like(pattern) if pattern.rewritten().is_none())
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
        Expected::Any | Expected::Nothing => "^".to_owned(),
        Expected::Is(value) => exact(value, false),
        Expected::IsExactly(value) => exact(value, true),
        // Selectors see letters, rules see bytes.
        Expected::Like(pattern) => format!("(?-u){}", pattern.rewritten().unwrap_or_default()),
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
            let steps =
                changes.iter().map(|change| step(at, change, expect)).collect::<std::result::Result<Vec<_>, _>>()?;
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
            Some(pairs) => pairs.into_iter().map(|(key, value)| test(key, value)).collect(),
            None => return Err(format!("the selector {selector}")),
        },
    };
    for pair in expect {
        if let Some(value) = &pair.value {
            let is_same = |test: &Test| test.key.eq_ignore_ascii_case(&pair.key.name);
            if pair.key.nth.is_some() || !tests.iter().any(is_same) {
                tests.push(test(&pair.key.name, Some(value)));
            }
        }
    }
    match tests.is_empty() {
        true => Err("all entities".to_owned()),
        false => Ok(Match { tests, need: Need::Count }),
    }
}

/// The steps of a change. What a key has is known if the patch expects it.
fn step(at: At, change: &Change, expect: &[Pair]) -> std::result::Result<Vec<Step>, String> {
    let expected = |key: &PairKey| expect.iter().find(|pair| pair.key == *key).map(|pair| pair.value.as_deref());
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
            (Some(_), _) => return Err(format!("the value of {key}, one of equal keys")),
        },
        Change::Unset { key } => match (key.nth, expected(key)) {
            (None, _) => vec![delete(&key.name, Expected::Any)],
            (Some(_), Some(Some(value))) => vec![delete(&key.name, Expected::IsExactly(value.to_vec()))],
            (Some(_), _) => return Err(format!("the removal of {key}, one of equal keys")),
        },
        Change::Rename { key, to } => match expected(key) {
            Some(Some(value)) => {
                vec![delete(&key.name, Expected::IsExactly(value.to_vec())), insert(to, value)]
            }
            _ => return Err(format!("the new key of {key} without its value")),
        },
    })
}
