//! Files of stripper_qmm: `filter:`, `add:`, and `replace:` with `with:`, in the words of entity text.

use std::collections::HashMap;

use super::stripper::shown;
use super::{Action, At, Expected, Match, Need, NewPair, Rule, Rules, Step, Test};
use crate as rules;
use bspkit::bytes::escaped;

// Files of stripper_qmm: `filter:`, `add:`, and `replace:` with `with:`, in the words of entity text.
//
// An empty value means that the key must not be there, or in `with:` that it is removed. An expression has to match
// the whole value, with its case. Files for versions before 2.5 have lines with `key=value`, and lines with comments.
// An entity has one value for each key, the last one. Source: the documentation of stripper_qmm 2.5 and of the versions
// before, and its `MapEntities`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Filter,
    Add,
    Replace,
    With,
}

const SECTIONS: [(&[u8], Section); 4] = [
    (b"filter:", Section::Filter),
    (b"add:", Section::Add),
    (b"replace:", Section::Replace),
    (b"with:", Section::With),
];

type Wrong = (At, String);

/// Reads a file up to the first word that is not understood.
pub(super) fn read(rules: &mut Rules, text: &[u8]) {
    let tokens = if is_of_lines(text) { Ok(lines(rules, text)) } else { split(text, &[]) };
    let read = tokens.and_then(|tokens| sections(rules, tokens.into_iter()));
    if let Err((at, message)) = read {
        rules.find(rules::SYNTAX, at, message);
    }
}

/// The lines of a text without blanks around them, and without empty lines and comments.
fn plain_lines(text: &[u8]) -> impl Iterator<Item = (At, &[u8])> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n').enumerate().map(|(number, line)| {
        let column = 1 + line.len() - line.trim_ascii_start().len();
        (At { line: number + 1, column }, line.trim_ascii())
    });
    lines.filter(|(_, line)| !(line.is_empty() || matches!(line, [b';' | b'#', ..] | [b'/', b'/', ..])))
}

/// Whether a file is of a version before 2.5: pairs have an equals sign, and none has quotes.
fn is_of_lines(text: &[u8]) -> bool {
    let is_pair = |line: &[u8]| memchr::memchr(b'=', line).is_some_and(|at| at > 0) && !line.starts_with(b"{");
    plain_lines(text).any(|(_, line)| is_pair(line)) && !plain_lines(text).any(|(_, line)| line.starts_with(b"\""))
}

/// The words of such a file. What is neither a header nor a brace nor a pair is ignored.
fn lines(rules: &mut Rules, text: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut is_open = false;
    for (at, line) in plain_lines(text) {
        let mut token = |at, kind, text: &[u8]| tokens.push(Token { at, kind, text: text.to_vec() });
        let pair = memchr::memchr(b'=', line).map(|equals| (equals, &line[..equals], &line[equals + 1..]));
        match (line[0], pair) {
            (b'{', _) if !is_open => token(at, Kind::Open, b"{"),
            (b'}', _) if is_open => token(at, Kind::Close, b"}"),
            (b'{' | b'}', _) => rules.find(rules::IGNORED, at, "no block begins or ends here, so the line is ignored"),
            (_, Some((equals, key, value))) if is_open => {
                token(at, Kind::Quoted, key);
                token(At { column: at.column + equals + 1, ..at }, Kind::Quoted, value);
            }
            _ if !is_open && SECTIONS.iter().any(|(word, _)| line.eq_ignore_ascii_case(word)) => {
                token(at, Kind::Word, line);
            }
            _ => rules.find(rules::IGNORED, at, format!("the line {} is ignored", shown(line))),
        }
        is_open = match line[0] {
            b'{' => true,
            b'}' => false,
            _ => is_open,
        };
    }
    tokens
}

fn sections(rules: &mut Rules, mut tokens: impl Iterator<Item = Token>) -> Result<(), Wrong> {
    let mut section = Section::Filter;
    let mut masks: Vec<(At, Vec<NewPair>)> = Vec::new();
    while let Some(token) = tokens.next() {
        if token.kind == Kind::Open {
            block(rules, section, token.at, pairs(&mut tokens, token.at)?, &mut masks);
            continue;
        }
        let found = SECTIONS.iter().find(|(word, _)| token.text.eq_ignore_ascii_case(word));
        let Some((_, found)) = found.filter(|_| token.kind == Kind::Word) else {
            let expected = "filter:, add:, replace:, with: or `{` was expected";
            return Err((token.at, format!("{expected} instead of {}{}", shown(&token.text), hint(&token.text))));
        };
        section = *found;
    }
    for (at, _) in masks {
        rules.find(rules::UNCLOSED, at, "no `with:` follows this `replace:`, so it does nothing");
    }
    Ok(())
}

/// Older versions had comments, and pairs with an equals sign.
fn hint(word: &[u8]) -> &'static str {
    match word {
        [b';' | b'#', ..] | [b'/', b'/', ..] => "; there are no comments since version 2.5",
        word if word.contains(&b'=') => "; since version 2.5 pairs are written \"key\" \"value\"",
        _ => "",
    }
}

fn pairs(tokens: &mut impl Iterator<Item = Token>, open: At) -> Result<Vec<NewPair>, Wrong> {
    let mut pairs = Vec::new();
    loop {
        let Some(key) = tokens.next() else { return Err((open, "the block is not closed".to_owned())) };
        let value = match key.kind {
            Kind::Close => return Ok(pairs),
            Kind::Open => None,
            Kind::Word if !hint(&key.text).is_empty() => None,
            _ => tokens.next().filter(|value| matches!(value.kind, Kind::Word | Kind::Quoted)),
        };
        let Some(value) = value else {
            let why = hint(&key.text);
            return Err((
                key.at,
                format!("a pair \"key\" \"value\" was expected instead of {}{why}", shown(&key.text)),
            ));
        };
        pairs.push(NewPair { at: value.at, key: key.text, value: value.text });
    }
}

/// Of equal keys in a block the last one counts, in the order of the first ones. Old versions kept all of them.
fn last_of_each(rules: &mut Rules, pairs: Vec<NewPair>) -> Vec<NewPair> {
    let mut kept: Vec<NewPair> = Vec::with_capacity(pairs.len());
    let mut places = HashMap::new();
    for pair in pairs {
        let place = *places.entry(pair.key.clone()).or_insert(kept.len());
        let Some(old) = kept.get_mut(place) else {
            kept.push(pair);
            continue;
        };
        let message = format!(
            "the block has the key `{}` again in line {}: this pair does nothing, but old versions of the plug-in take \
             both",
            escaped(&pair.key),
            pair.at.line
        );
        rules.find(rules::REPEATED, old.at, message);
        *old = pair;
    }
    kept
}

fn block(rules: &mut Rules, section: Section, at: At, pairs: Vec<NewPair>, masks: &mut Vec<(At, Vec<NewPair>)>) {
    let pairs = last_of_each(rules, pairs);
    let rule = |on, action| Rule { at, maps: Vec::new(), on, action };
    match section {
        Section::Replace => masks.push((at, pairs)),
        _ if pairs.is_empty() => rules.find(rules::IGNORED, at, "the block has no pairs and is ignored"),
        Section::Filter => {
            let on = mask(rules, pairs);
            rules.rules.push(rule(on, Action::Remove));
        }
        Section::Add => {
            let class = pairs.iter().find(|pair| pair.key == b"classname");
            if let Some(pair) = pairs.iter().find(|pair| pair.value.is_empty()) {
                rules.find(rules::SYNTAX, pair.at, "the value of an added entity is empty");
            } else if class.is_some_and(|class| class.value == b"worldspawn") {
                rules.find(rules::UNSUPPORTED, at, "a worldspawn before all other entities cannot be added");
            } else if class.is_none() {
                rules.find(rules::IGNORED, at, "the entity has no classname and is not added");
            } else {
                rules.rules.push(rule(Match::default(), Action::Add(pairs)));
            }
        }
        Section::With if masks.is_empty() => {
            rules.find(rules::IGNORED, at, "no `replace:` is before this `with:`, so it does nothing");
        }
        Section::With => {
            let step = |pair: &NewPair| match pair.value.is_empty() {
                true => Step::Delete(vec![test(pair, Expected::Any, false)]),
                false => Step::Set { pair: pair.clone(), is_exact: true },
            };
            let steps: Vec<Step> = pairs.iter().map(step).collect();
            for (at, pairs) in masks.drain(..) {
                let on = mask(rules, pairs);
                let action = Action::Modify(steps.clone());
                rules.rules.push(Rule { at, maps: Vec::new(), on, action });
            }
        }
    }
}

fn test(pair: &NewPair, value: Expected, is_negated: bool) -> Test {
    Test { at: pair.at, key: pair.key.clone(), is_exact: true, value, is_negated }
}

fn mask(rules: &mut Rules, pairs: Vec<NewPair>) -> Match {
    let mut tests = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let value = match &pair.value[..] {
            [] => Expected::Any,
            [b'/', inner @ .., b'/'] => {
                let at = At { column: pair.at.column + 2, ..pair.at };
                rules.whole_pattern(at, inner).map_or(Expected::Nothing, Expected::Like)
            }
            value => Expected::IsExactly(value.to_vec()),
        };
        tests.push(test(&pair, value, pair.value.is_empty()));
    }
    Match { tests, need: Need::Last }
}

// The words of rule files that are not read line by line.

/// A word of a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) at: At,
    pub(super) kind: Kind,
    pub(super) text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Word,
    /// Between quotes.
    Quoted,
}

/// Splits a text at blanks, braces and quotes; what begins with one of `comments` goes to the end of its line, and a
/// byte order mark is left out. The error is a quote that is not closed.
pub(super) fn split(text: &[u8], comments: &[&[u8]]) -> Result<Vec<Token>, (At, String)> {
    let mut tokens = Vec::new();
    let is_comment = |rest: &[u8]| comments.iter().any(|comment| rest.starts_with(comment));
    let first = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let (mut line, mut start, mut at) = (1, first, first);
    while let Some(&byte) = text.get(at) {
        let place = At { line, column: at - start + 1 };
        let rest = &text[at..];
        let mut token = |kind, text: &[u8]| tokens.push(Token { at: place, kind, text: text.to_vec() });
        let length = match byte {
            b'\n' => {
                (line, start) = (line + 1, at + 1);
                1
            }
            _ if byte <= b' ' => 1,
            b'{' | b'}' => {
                token(if byte == b'{' { Kind::Open } else { Kind::Close }, &rest[..1]);
                1
            }
            b'"' => {
                let Some(length) = memchr::memchr(b'"', &rest[1..]) else {
                    return Err((place, "a closing quote was expected".to_owned()));
                };
                let inner = &rest[1..=length];
                token(Kind::Quoted, inner);
                line += memchr::memchr_iter(b'\n', inner).count();
                start = memchr::memrchr(b'\n', inner).map_or(start, |end| at + end + 2);
                length + 2
            }
            _ if is_comment(rest) => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            _ => {
                let is_end = |at: &usize| rest[*at] <= b' ' || b"{}\"".contains(&rest[*at]) || is_comment(&rest[*at..]);
                let length = (0..rest.len()).find(is_end).unwrap_or(rest.len());
                token(Kind::Word, &rest[..length]);
                length
            }
        };
        at += length;
    }
    Ok(tokens)
}
