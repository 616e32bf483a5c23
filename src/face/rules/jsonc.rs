//! Files of StripperCS2: JSON with comments, in which `filter`, `add` and `modify` may be there several times.
//!
//! All filters are applied, then all additions, then all changes. Values are matched with their case, expressions
//! without. Outputs under `io` are matched and written as pairs of Source: the output as key, and target, input,
//! parameter, delay and number of times, divided by commas, as value. Source: the schema of StripperCS2.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::face::records::Members;
use crate::face::report::syntax;
use crate::op::rules::finding as codes;
use crate::op::rules::{Action, At, Expected, Format, Match, Mode, Need, NewPair, Pattern, Rule, Rules, Step, Test};

type Wrong = (At, String);

/// The parts of an output's value, in order.
const PARTS: [&str; 5] = ["targetname", "inputname", "overrideparam", "delay", "timestofire"];
/// What an output that is added has, where nothing is written.
const DEFAULTS: [&str; 5] = ["", "", "", "0", "-1"];

/// Reads a file; what is wrong with it is a finding.
pub(super) fn read(name: &str, text: &[u8]) -> Rules {
    let mut rules = Rules::new(name, Format::Cs2, Mode::Plugin);
    let plain = without_comments(text);
    let read = std::str::from_utf8(&plain)
        .map_err(|error| (at(&plain, error.valid_up_to()), "the file is not UTF-8".to_owned()))
        .and_then(|text| Reader { text, rules: &mut rules }.root());
    if let Err((at, message)) = read {
        rules.find(codes::SYNTAX, at, message);
    }
    rules
}

/// The text with blanks in place of comments, so that every offset stays.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut plain = text.to_vec();
    let blank = |range: &mut [u8]| range.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    let mut at = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    blank(&mut plain[..at]);
    while at < text.len() {
        let rest = &text[at..];
        let length = match rest {
            [b'"', inner @ ..] => {
                let mut is_escaped = false;
                let end = inner.iter().position(|byte| {
                    let ends = *byte == b'"' && !is_escaped;
                    is_escaped = *byte == b'\\' && !is_escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            [b'/', b'/', ..] => {
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                blank(&mut plain[at..at + length]);
                length
            }
            [b'/', b'*', ..] => {
                let length = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                blank(&mut plain[at..at + length]);
                length
            }
            _ => 1,
        };
        at += length;
    }
    plain
}

/// The place of an offset.
fn at(text: &[u8], offset: usize) -> At {
    let before = &text[..offset.min(text.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    At { line: memchr::memchr_iter(b'\n', before).count() + 1, column: before.len() - start + 1 }
}

struct Reader<'t, 'r> {
    text: &'t str,
    rules: &'r mut Rules,
}

impl<'t> Reader<'t, '_> {
    /// The place of a part of the text.
    fn at(&self, part: &str) -> At {
        let offset = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        at(self.text.as_bytes(), offset)
    }

    fn wrong<T>(&self, raw: &RawValue, what: &str) -> Result<T, Wrong> {
        Err((self.at(raw.get()), what.to_owned()))
    }

    fn root(&mut self) -> Result<(), Wrong> {
        let raw: &'t RawValue = serde_json::from_str(self.text)
            .map_err(|error| (At { line: error.line(), column: error.column().max(1) }, syntax(&error)))?;
        let mut lists: [Vec<&'t RawValue>; 3] = Default::default();
        for (name, value) in self.members(raw)? {
            let place = ["filter", "add", "modify"].iter().position(|known| *known == name);
            match place {
                Some(place) => lists[place].extend(self.items(value)),
                None if name == "$schema" => {}
                None => {
                    return self.wrong(value, &format!("there is no `{name}` here: filter, add and modify are known"));
                }
            }
        }
        let [filters, adds, changes] = lists;
        for raw in filters {
            let on = self.matching(raw)?;
            self.push(raw, on, Action::Remove);
        }
        for raw in adds {
            let pairs = self.pairs(raw)?;
            self.push(raw, Match::default(), Action::Add(pairs));
        }
        changes.into_iter().try_for_each(|raw| self.modify(raw))
    }

    fn push(&mut self, raw: &RawValue, on: Match, action: Action) {
        let at = self.at(raw.get());
        self.rules.rules.push(Rule { at, maps: Vec::new(), on, action });
    }

    fn members(&self, raw: &'t RawValue) -> Result<Vec<(String, &'t RawValue)>, Wrong> {
        match serde_json::from_str(raw.get()) {
            Ok(Members(members)) => Ok(members),
            Err(_) => self.wrong(raw, "an object was expected"),
        }
    }

    /// The items of a list; anything else is one item.
    fn items(&self, raw: &'t RawValue) -> Vec<&'t RawValue> {
        serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw])
    }

    fn modify(&mut self, raw: &'t RawValue) -> Result<(), Wrong> {
        let (mut on, mut delete) = (Match { tests: Vec::new(), need: Need::Each }, Vec::new());
        let (mut replace, mut insert) = (Vec::new(), Vec::new());
        for (name, value) in self.members(raw)? {
            match name.as_str() {
                "match" => on.tests.extend(self.matching(value)?.tests),
                "delete" => delete.extend(self.matching(value)?.tests),
                "replace" => replace.extend(self.pairs(value)?),
                "insert" => insert.extend(self.pairs(value)?),
                _ => {
                    return self.wrong(
                        value,
                        &format!("there is no `{name}` here: match, replace, delete and insert are known"),
                    );
                }
            }
        }
        if on.tests.is_empty() {
            let at = self.at(raw.get());
            self.rules.find(codes::EMPTY_BLOCK, at, "nothing is to be matched, so every entity is changed");
        }
        let set = |pair| Step::Set { pair, is_exact: false };
        let steps = replace.into_iter().map(set).chain([Step::Delete(delete)]);
        // An output is added beside others of the same name.
        let insert = insert
            .into_iter()
            .map(|pair: NewPair| if pair.key.starts_with(b"On") { Step::Insert(pair) } else { set(pair) });
        let action = Action::Modify(steps.chain(insert).collect());
        self.push(raw, on, action);
        Ok(())
    }

    fn matching(&mut self, raw: &'t RawValue) -> Result<Match, Wrong> {
        let mut tests = Vec::new();
        for (name, value) in self.members(raw)? {
            if name == "io" {
                for item in self.items(value) {
                    tests.push(self.output_test(item)?);
                }
                continue;
            }
            let text = self.string(value)?;
            let at = self.at(value.get());
            let is_pattern = text.len() >= 3 && text.starts_with('/') && text.ends_with('/');
            let value = match is_pattern.then(|| &text[1..text.len() - 1]) {
                Some(inner) => self.pattern(At { column: at.column + 2, ..at }, inner),
                None => Expected::IsExactly(text.into_bytes()),
            };
            tests.push(Test { at, key: name.into_bytes(), is_exact: false, value, is_negated: false });
        }
        if tests.is_empty() {
            let at = self.at(raw.get());
            self.rules.find(codes::EMPTY_BLOCK, at, "the object is empty and matches every entity");
        }
        Ok(Match { tests, need: Need::Each })
    }

    /// An expression; one that does not compile stops StripperCS2.
    fn pattern(&mut self, at: At, text: &str) -> Expected {
        let pattern: Option<Box<Pattern>> = self.rules.pattern(at, text.as_bytes());
        pattern.map_or(Expected::Nothing, Expected::Like)
    }

    fn string(&self, raw: &RawValue) -> Result<String, Wrong> {
        serde_json::from_str(raw.get()).or_else(|_| self.wrong(raw, "a string was expected"))
    }

    fn pairs(&mut self, raw: &'t RawValue) -> Result<Vec<NewPair>, Wrong> {
        let mut pairs = Vec::new();
        for (name, value) in self.members(raw)? {
            if name == "io" {
                for item in self.items(value) {
                    let (key, parts) = self.output(item)?;
                    let parts =
                        parts.into_iter().zip(DEFAULTS).map(|(part, default)| part.unwrap_or(default.to_owned()));
                    let value = parts.collect::<Vec<_>>().join(",").into_bytes();
                    pairs.push(NewPair { at: self.at(item.get()), key, value });
                }
                continue;
            }
            let at = self.at(value.get());
            pairs.push(NewPair { at, key: name.into_bytes(), value: self.string(value)?.into_bytes() });
        }
        Ok(pairs)
    }

    /// The name of an output, and the parts of its value that are written.
    fn output(&mut self, raw: &'t RawValue) -> Result<(Vec<u8>, [Option<String>; 5]), Wrong> {
        let (mut key, mut parts) = (None, [const { None }; 5]);
        for (name, value) in self.members(raw)? {
            let text = match serde_json::from_str(value.get()) {
                Ok(Value::String(text)) => text,
                Ok(Value::Number(number)) => number.to_string(),
                _ => return self.wrong(value, "a string or a number was expected"),
            };
            match PARTS.iter().position(|part| *part == name) {
                Some(place) => parts[place] = Some(text),
                None if name == "outputname" => key = Some(text.into_bytes()),
                None if name == "targettype" => {
                    let at = self.at(value.get());
                    self.rules.find(codes::UNSUPPORTED, at, "`targettype` is of Source 2 only");
                }
                None => {
                    return self.wrong(
                        value,
                        &format!("there is no `{name}` in an output: outputname, {}, targettype", PARTS.join(", ")),
                    );
                }
            }
        }
        match key {
            Some(key) => Ok((key, parts)),
            None => self.wrong(raw, "`outputname` is missing"),
        }
    }

    /// An output as a test of a pair: what is not written can be anything.
    fn output_test(&mut self, raw: &'t RawValue) -> Result<Test, Wrong> {
        let (key, parts) = self.output(raw)?;
        let at = self.at(raw.get());
        let literal = |text: String| text.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
        let parts = parts.into_iter().zip(PARTS).map(|(part, name)| match part {
            None => "[^,\\x1b]*".to_owned(),
            // Numbers are written in several ways: 1, 1.0, 1.00.
            Some(number) if name == "delay" && !number.contains(['.', 'e', 'E']) => {
                format!("{}(?:\\.0*)?", literal(number))
            }
            Some(number) if name == "delay" => format!("{}0*", literal(number)),
            Some(text) => literal(text),
        });
        let text = format!("\\A{}\\z", parts.collect::<Vec<_>>().join("[,\\x1b]"));
        let value = self.pattern(at, &text);
        Ok(Test { at, key, is_exact: false, value, is_negated: false })
    }
}
