//! Files of stripper_qmm: `filter:`, `add:`, and `replace:` with `with:`, in the words of entity text.
//!
//! An empty value means that the key must not be there, or in `with:` that it is removed. An expression has to match
//! the whole value, with its case. Source: the documentation of stripper_qmm 2.5.

use super::finding::{self, At};
use super::model::{Action, Expected, Match, Need, NewPair, Rule, Rules, Step, Test};
use super::stripper::shown;
use super::tokens::{Kind, Token, split};

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
    let read = split(text, &[]).and_then(|tokens| sections(rules, tokens.into_iter()));
    if let Err((at, message)) = read {
        rules.find(finding::SYNTAX, at, message);
    }
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
        rules.find(finding::UNCLOSED, at, "no `with:` follows this `replace:`, so it does nothing");
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

fn block(rules: &mut Rules, section: Section, at: At, pairs: Vec<NewPair>, masks: &mut Vec<(At, Vec<NewPair>)>) {
    let rule = |on, action| Rule { at, maps: Vec::new(), on, action };
    match section {
        Section::Replace => masks.push((at, pairs)),
        _ if pairs.is_empty() => rules.find(finding::IGNORED, at, "the block has no pairs and is ignored"),
        Section::Filter => {
            let on = mask(rules, pairs);
            rules.rules.push(rule(on, Action::Remove));
        }
        Section::Add => {
            let class = pairs.iter().find(|pair| pair.key == b"classname");
            if let Some(pair) = pairs.iter().find(|pair| pair.value.is_empty()) {
                rules.find(finding::SYNTAX, pair.at, "the value of an added entity is empty");
            } else if class.is_some_and(|class| class.value == b"worldspawn") {
                rules.find(finding::UNSUPPORTED, at, "a worldspawn before all other entities cannot be added");
            } else if class.is_none() {
                rules.find(finding::IGNORED, at, "the entity has no classname and is not added");
            } else {
                rules.rules.push(rule(Match::default(), Action::Add(pairs)));
            }
        }
        Section::With if masks.is_empty() => {
            rules.find(finding::IGNORED, at, "no `replace:` is before this `with:`, so it does nothing");
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
    Match { tests, need: Need::Each }
}
