//! Rules as text of Stripper:Source, and what that text cannot say.

use super::finding::At;
use super::lazyripent::Act;
use super::model::{Action, Expected, Match, NewPair, Rules, Step, Test};
use super::stripper::MOST_IN_LINE;
use crate::bytes::escaped;

/// Something in other words, and what is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted<T> {
    /// The result, without what is lost.
    pub result: T,
    /// What the other format cannot say, each with the place of the rule it is from.
    pub lost: Vec<(At, String)>,
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
        for rule in &self.rules {
            if !rule.maps.is_empty() {
                let maps = rule.maps.join(", ");
                let message = format!("the rule is for some maps only; put it into files of their names: {maps}");
                writer.lost.push((rule.at, message));
                continue;
            }
            // A rule without one of its tests would match more.
            let lost = writer.lost.len();
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
            }
        }
        Converted { result: writer.text, lost: writer.lost }
    }
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.extend_from_slice(line.as_bytes());
        self.text.push(b'\n');
    }

    fn tests(&mut self, on: &Match) {
        self.block("", on.tests.iter().map(|test| (test.at, test)), |writer, test| writer.test(test));
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
            Expected::Like(pattern) => [b"/", &pattern.for_plug_in()[..], b"/"].concat(),
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
                    replace.extend(pairs.iter().cloned());
                    pairs.iter().any(|pair| has_key(&insert, &pair.key))
                }
                Step::Insert(pair) => {
                    insert.push(pair.clone());
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
