//! Files of Lazyripent2: blocks of selectors and actions, and what the actions do.

use std::borrow::Cow;
use std::collections::HashMap;

use super::qmm::{Kind, Token, split};
use super::stripper::shown;
use super::{Action, At, Expected, Match, Need, NewPair, Pair, PairCounts, Rule, Rules, Step, Test};
use crate as rules;
use bspkit::bytes::{escaped, short};

// Files of Lazyripent2: blocks of selectors and actions, for some maps or for all.
//
// Keys and values are matched with their case. An action that does not fit an entity, such as a replacement of a key
// that it does not have, ends the work on the map. Of equal keys of an entity the program keeps the last value. Source:
// the documentation of Lazyripent2, and its `Entity.AddKeyValue`.

/// What an action of Lazyripent2 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// Gives a key another value.
    Replace,
    /// Removes a key.
    Remove,
    /// Adds a key.
    New,
    /// Gives a pair another key, after the other pairs.
    Rename,
    /// Sets bits of a whole number.
    BitSet,
    /// Clears bits of a whole number.
    BitClear,
    /// Adds to a number.
    Add,
    /// Subtracts from a number.
    Sub,
    /// Multiplies a number.
    Mult,
    /// Divides a number.
    Div,
    /// Keeps a value for `{global.NAME}`.
    Store,
}

/// An action of Lazyripent2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Its place.
    pub at: At,
    /// What it does.
    pub verb: Verb,
    /// The key.
    pub key: Vec<u8>,
    /// The value, with references to keys and stored values; for [`Verb::Rename`] the new key.
    pub value: Vec<u8>,
}

/// The words of a block, each with the number of its operands.
#[derive(Clone, Copy)]
enum Word {
    /// With a value or without, and whether it is negated.
    Test(bool, bool),
    Act(Verb, bool),
    NewEntity,
    RemoveEntity,
}

const WORDS: [(&str, Word); 17] = [
    ("match", Word::Test(true, false)),
    ("dont-match", Word::Test(true, true)),
    ("have", Word::Test(false, false)),
    ("dont-have", Word::Test(false, true)),
    ("replace", Word::Act(Verb::Replace, true)),
    ("remove", Word::Act(Verb::Remove, false)),
    ("new", Word::Act(Verb::New, true)),
    ("rename", Word::Act(Verb::Rename, true)),
    ("bit-set", Word::Act(Verb::BitSet, true)),
    ("bit-clear", Word::Act(Verb::BitClear, true)),
    ("add", Word::Act(Verb::Add, true)),
    ("sub", Word::Act(Verb::Sub, true)),
    ("mult", Word::Act(Verb::Mult, true)),
    ("div", Word::Act(Verb::Div, true)),
    ("store", Word::Act(Verb::Store, true)),
    ("new-entity", Word::NewEntity),
    ("remove-entity", Word::RemoveEntity),
];

type Wrong = (At, String);

/// Reads a file up to the first word that is not understood.
pub(super) fn read(rules: &mut Rules, text: &[u8]) {
    let tokens = split(text, &[b"#", b"//"]);
    let tokens = tokens.and_then(|tokens| tokens.into_iter().map(plain_number).collect::<Result<Vec<_>, _>>());
    if let Err((at, message)) = tokens.and_then(|tokens| blocks(rules, tokens.into_iter())) {
        rules.find(rules::SYNTAX, at, message);
    }
}

fn blocks(rules: &mut Rules, mut tokens: impl Iterator<Item = Token>) -> Result<(), Wrong> {
    while let Some(token) = tokens.next() {
        let mut maps = Vec::new();
        let open = match token.kind {
            Kind::Open => token,
            Kind::Word if token.text.eq_ignore_ascii_case(b"map") => loop {
                match tokens.next() {
                    Some(next) if next.kind == Kind::Open => break next,
                    Some(next) if next.kind != Kind::Close => {
                        maps.push(String::from_utf8_lossy(&next.text).into_owned())
                    }
                    _ => return Err((token.at, "names of maps and `{` were expected after `map`".to_owned())),
                }
            },
            _ => return Err((token.at, format!("`{{` or `map` was expected instead of {}", shown(&token.text)))),
        };
        let own = block(&mut tokens, open.at, &maps)?;
        let is_filled = |test: &&Test| matches!(&test.value, Expected::IsExactly(value) if value.contains(&b'{'));
        for test in own.iter().flat_map(|rule| &rule.on.tests).filter(is_filled) {
            let message = "a selector whose value refers to a key or a stored value (`{...}`) is not supported by this \
                           program: write the value itself, in a block for each value that is meant";
            rules.find(rules::UNSUPPORTED, test.at, message);
        }
        if let Some((at, key)) = own.iter().find_map(upgraded) {
            let what = "Lazyripent2 makes `angles` of each `angle` before its rules, and this program does not";
            rules.find(rules::ANGLES, at, format!("the rule names `{}`: {what}", escaped(key)));
        }
        for (at, value) in own.iter().flat_map(filled).filter(|(_, value)| has_comment(value)) {
            let what =
                "Lazyripent2 takes it up to a `#` or `//`, where a comment begins, and this program takes all of it";
            rules.find(rules::COMMENT, at, format!("the value {}: {what}", shown(value)));
        }
        rules.rules.extend(own);
    }
    Ok(())
}

/// The values of a rule that Lazyripent2 reads as words once more, to fill in what they refer to (its
/// `SolveForOperations`).
fn filled(rule: &Rule) -> Vec<(At, &[u8])> {
    let tests = rule.on.tests.iter().filter_map(|test| match &test.value {
        Expected::IsExactly(value) => Some((test.at, &value[..])),
        _ => None,
    });
    let (pairs, acts) = match &rule.action {
        Action::Acts(acts) | Action::AddFor(_, acts) => (&[][..], &acts[..]),
        Action::Add(pairs) => (&pairs[1..], &[][..]),
        _ => (&[][..], &[][..]),
    };
    let acts = acts.iter().filter(|act| matches!(act.verb, Verb::Replace | Verb::New));
    let pairs = pairs.iter().map(|pair| (pair.at, &pair.value[..]));
    tests.chain(acts.map(|act| (act.at, &act.value[..]))).chain(pairs).collect()
}

fn has_comment(value: &[u8]) -> bool {
    value.contains(&b'#') || value.windows(2).any(|pair| pair == b"//")
}

/// Where a rule names a key of the entities of a map that Lazyripent2 replaces or makes (its `EntityUpgrader`).
fn upgraded(rule: &Rule) -> Option<(At, &[u8])> {
    let tests = rule.on.tests.iter().map(|test| (test.at, &test.key[..]));
    let acts = if let Action::Acts(acts) = &rule.action { &acts[..] } else { &[] };
    let mut keys = tests.chain(acts.iter().map(|act| (act.at, &act.key[..])));
    keys.find(|(_, key)| matches!(*key, b"angle" | b"angles"))
}

/// A number as .NET prints it: as Rust does, but with an exponent where it is less than 0.0001, or at least
/// 1,000,000,000 (`Number.FormatSingle`).
fn printed(number: f32) -> Vec<u8> {
    let text = format!("{number:E}");
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    match exponent.parse::<i32>() {
        Ok(power @ ..-4) => format!("{digits}E-{:02}", -power).into_bytes(),
        Ok(power @ 9..) => format!("{digits}E+{power:02}").into_bytes(),
        _ => number.to_string().into_bytes(),
    }
}

/// A number without quotes is kept as a number of 32 bits: `100.50` means `100.5`.
///
/// # Errors
/// The lexer of Lazyripent2 stops at a number without a point that no `int` of .NET has, whatever its sign, and at a
/// point without digits on both sides.
fn plain_number(token: Token) -> Result<Token, Wrong> {
    let digits = token.text.strip_prefix(b"-").unwrap_or(&token.text);
    let is_number =
        digits.iter().any(u8::is_ascii_digit) && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !is_number || token.kind != Kind::Word {
        return Ok(token);
    }
    let wrong = |what: &str| Err((token.at, format!("the number {} {what}", shown(&token.text))));
    let parts: Vec<&[u8]> = digits.split(|byte| *byte == b'.').collect();
    let is_whole = parts.len() == 1;
    if parts.len() > 2 || parts.iter().any(|part| part.is_empty()) {
        return wrong("needs digits on both sides of one point, or quotes if it is a text");
    }
    if is_whole && std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i32>().ok()).is_none() {
        return wrong("is too large: Lazyripent2 reads none above 2147483647 without quotes or a point");
    }
    match number(&token.text) {
        Some(number) => Ok(Token { text: printed(number), ..token }),
        None => wrong("is too large for 32 bits; write it with quotes if it is a text"),
    }
}

fn block(tokens: &mut impl Iterator<Item = Token>, at: At, maps: &[String]) -> Result<Vec<Rule>, Wrong> {
    let (mut tests, mut acts) = (Vec::new(), Vec::new());
    let (mut class, mut removes) = (None, false);
    loop {
        let Some(word) = tokens.next() else { return Err((at, "the block is not closed".to_owned())) };
        if word.kind == Kind::Close {
            break;
        }
        let lower = word.text.to_ascii_lowercase();
        let known = WORDS.iter().find(|(name, _)| name.as_bytes() == lower).filter(|_| word.kind == Kind::Word);
        let Some((name, what)) = known else {
            let words: Vec<&str> = WORDS.iter().map(|(name, _)| *name).collect();
            return Err((word.at, format!("{} is not a selector or action: {}", shown(&word.text), words.join(", "))));
        };
        let mut operand = |what: &str| match tokens.next() {
            Some(next) if matches!(next.kind, Kind::Word | Kind::Quoted) => Ok(next),
            _ => Err((word.at, format!("{what} was expected after `{name}`"))),
        };
        match what {
            Word::Test(has_value, is_negated) => {
                let key = operand("a key")?;
                let value = if *has_value { Expected::IsExactly(operand("a value")?.text) } else { Expected::Any };
                let test = Test { at: key.at, key: key.text, is_exact: true, value, is_negated: *is_negated };
                // An entity without the key is not selected by `dont-match` either.
                if *has_value && *is_negated {
                    tests.push(Test { value: Expected::Any, is_negated: false, ..test.clone() });
                }
                tests.push(test);
            }
            Word::Act(verb, has_value) => {
                let key = operand("a key")?;
                let value = if *has_value { operand("a value")? } else { word.clone() };
                check(*verb, &value)?;
                acts.push(Act { at: word.at, verb: *verb, key: key.text, value: value.text });
            }
            Word::NewEntity => class = Some(operand("a class")?.text),
            Word::RemoveEntity => removes = true,
        }
    }
    let need = |is_met: bool, what: &str| if is_met { Ok(()) } else { Err((at, what.to_owned())) };
    need(class.is_none() || !removes, "a block cannot both add and remove entities")?;
    let is_store = |act: &Act| act.verb == Verb::Store;
    need(!removes || acts.iter().all(is_store), "a block with remove-entity can have no other actions than store")?;
    need(class.is_some() || !tests.is_empty(), "the block has no selector, so it would match every entity")?;
    need(class.is_some() || removes || !acts.is_empty(), "the block has no action")?;
    let is_of_old = |act: &&Act| matches!(act.verb, Verb::Replace | Verb::Remove);
    if let (Some(_), Some(act)) = (&class, acts.iter().find(is_of_old)) {
        return Err((act.at, "a block with new-entity cannot replace or remove keys".to_owned()));
    }
    let is_class = |act: &&Act| act.verb == Verb::New && act.key == b"classname";
    if let (Some(_), Some(act)) = (&class, acts.iter().find(is_class)) {
        return Err((act.at, "the added entity has the key `classname` already".to_owned()));
    }
    let action = match class {
        None if removes && acts.is_empty() => Action::Remove,
        None => Action::Acts(acts),
        Some(class) if tests.is_empty() && acts.iter().all(Act::is_plain_new) => {
            let pair = |act: Act| NewPair { at: act.at, key: act.key, value: act.value };
            let first = NewPair { at, key: b"classname".to_vec(), value: class };
            Action::Add([first].into_iter().chain(acts.into_iter().map(pair)).collect())
        }
        Some(class) => Action::AddFor(class, acts),
    };
    let rule = Rule { at, maps: maps.to_vec(), on: Match { tests, need: Need::Last }, action };
    let stores_first = removes && matches!(rule.action, Action::Acts(_));
    let removal = stores_first.then(|| Rule { action: Action::Remove, ..rule.clone() });
    Ok([rule].into_iter().chain(removal).collect())
}

/// What an operand has to be, as far as that is known before a map is.
fn check(verb: Verb, value: &Token) -> Result<(), Wrong> {
    let wrong = |what: &str| Err((value.at, format!("{what} was expected instead of {}", shown(&value.text))));
    match verb {
        Verb::BitSet | Verb::BitClear if bits(&value.text).is_none() => {
            wrong("b and six digits 0 or 1, such as b000101,")
        }
        Verb::Add | Verb::Sub | Verb::Mult | Verb::Div if number(&value.text).is_none() => wrong("a number"),
        _ => Ok(()),
    }
}

/// `b000101`.
pub(super) fn bits(text: &[u8]) -> Option<i32> {
    let digits = text.strip_prefix(b"b").filter(|digits| digits.len() == 6)?;
    i32::from_str_radix(std::str::from_utf8(digits).ok()?, 2).ok()
}

pub(super) fn number(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text).ok()?.trim().parse().ok().filter(|number: &f32| number.is_finite())
}

impl Act {
    fn is_plain_new(&self) -> bool {
        self.verb == Verb::New && !self.value.contains(&b'{')
    }

    /// The same as steps, if the value refers to nothing. A step does not fail if it does not fit.
    pub(super) fn as_step(&self) -> Option<Step> {
        let at = self.at;
        let pair = || NewPair { at, key: self.key.clone(), value: self.value.clone() };
        if self.value.contains(&b'{') {
            return None;
        }
        match self.verb {
            Verb::Replace => Some(Step::Replace { pairs: vec![pair()], is_exact: true }),
            Verb::New => Some(Step::Insert(pair())),
            Verb::Remove => {
                let (key, value) = (self.key.clone(), Expected::Any);
                Some(Step::Delete(vec![Test { at, key, is_exact: true, value, is_negated: false }]))
            }
            _ => None,
        }
    }
}

// The actions of Lazyripent2 on the entities that a block matches: each action on all of them, then the next one.

/// Values that `store` keeps, by file and name.
pub(super) type Stored = HashMap<(String, Vec<u8>), Vec<u8>>;

impl Act {
    /// Changes the pairs of an entity; values refer to the pairs of `of`, or to those of the entity itself. Counts the
    /// pairs that were removed, changed and added.
    ///
    /// # Errors
    /// Why the action does not fit the entity.
    pub(super) fn apply<'w>(
        &'w self,
        pairs: &mut Vec<Pair<'w>>,
        of: Option<&[Pair<'w>]>,
        (file, stored): (&str, &mut Stored),
        by: usize,
        counts: &mut PairCounts,
    ) -> Result<(), String> {
        let by = Some(short(by));
        let find = |pairs: &[Pair<'_>], key: &[u8]| pairs.iter().rposition(|pair| *pair.key == *key);
        // A pair that it writes is the only one of its key.
        if !matches!(self.verb, Verb::New | Verb::Remove | Verb::Store) {
            let last = find(pairs, &self.key);
            let before = pairs.len();
            let mut at = 0..;
            pairs.retain(|pair| at.next() == last || *pair.key != self.key);
            counts.removed += before - pairs.len();
        }
        let need = || find(pairs, &self.key).ok_or_else(|| format!("the entity has no key `{}`", escaped(&self.key)));
        let lacks = |key: &[u8]| match find(pairs, key) {
            Some(_) => Err(format!("the entity has the key `{}` already", escaped(key))),
            None => Ok(()),
        };
        let new = |key: &'w [u8], value: Cow<'w, [u8]>| Pair { key: key.into(), value, origin: None, by };
        let set = |pair: &mut Pair<'w>, value: Vec<u8>, counts: &mut PairCounts| {
            counts.set += usize::from(*pair.value != value);
            (pair.value, pair.by) = (value.into(), by);
        };
        match self.verb {
            Verb::Replace => {
                let at = need()?;
                let value = solved(&self.value, of.unwrap_or(pairs), (file, stored))?;
                set(&mut pairs[at], value, counts);
            }
            Verb::New => {
                lacks(&self.key)?;
                let value = solved(&self.value, of.unwrap_or(pairs), (file, stored))?;
                pairs.push(new(&self.key, value.into()));
                counts.added += 1;
            }
            Verb::Remove => {
                need()?;
                let before = pairs.len();
                pairs.retain(|pair| *pair.key != self.key);
                counts.removed += before - pairs.len();
            }
            Verb::Rename => {
                let at = need()?;
                lacks(&self.value)?;
                let pair = pairs.remove(at);
                pairs.push(new(&self.value, pair.value));
                (counts.removed, counts.added) = (counts.removed + 1, counts.added + 1);
            }
            Verb::Store => {
                let at = need()?;
                stored.insert((file.to_owned(), self.value.clone()), pairs[at].value.to_vec());
            }
            Verb::BitSet | Verb::BitClear => {
                let at = need()?;
                let text = std::str::from_utf8(&pairs[at].value).ok().and_then(|text| text.trim().parse::<i32>().ok());
                let (old, mask) = text.zip(bits(&self.value)).ok_or_else(|| not_a(&pairs[at], "whole number"))?;
                let value = if self.verb == Verb::BitSet { old | mask } else { old & !mask };
                set(&mut pairs[at], value.to_string().into_bytes(), counts);
            }
            Verb::Add | Verb::Sub | Verb::Mult | Verb::Div => {
                let at = need()?;
                let numbers = number(&pairs[at].value).zip(number(&self.value));
                let (old, other) = numbers.ok_or_else(|| not_a(&pairs[at], "number"))?;
                let value = match self.verb {
                    Verb::Add => old + other,
                    Verb::Sub => old - other,
                    Verb::Mult => old * other,
                    _ => old / other,
                };
                if !value.is_finite() {
                    return Err(format!("the result for `{}` is not a number", escaped(&self.key)));
                }
                set(&mut pairs[at], printed(value), counts);
            }
        }
        Ok(())
    }
}

fn not_a(pair: &Pair<'_>, what: &str) -> String {
    format!("the value `{}` of `{}` is not a {what}", escaped(&pair.value), escaped(&pair.key))
}

/// A value with `{key}` and `{global.name}` filled in; `\{` is a brace.
fn solved(value: &[u8], pairs: &[Pair<'_>], (file, stored): (&str, &Stored)) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\\' if after.first() == Some(&b'{') => {
                out.push(b'{');
                rest = &after[1..];
            }
            b'{' => {
                let Some(end) = memchr::memchr(b'}', after) else {
                    return Err(format!("a `}}` was expected in `{}`", escaped(value)));
                };
                let name = after[..end].trim_ascii();
                rest = &after[end + 1..];
                let found = match name.strip_prefix(b"global.") {
                    Some(name) => stored.get(&(file.to_owned(), name.to_vec())).map(Vec::as_slice),
                    None => pairs.iter().rfind(|pair| *pair.key == *name).map(|pair| &pair.value[..]),
                };
                match found {
                    Some(found) => out.extend_from_slice(found),
                    None => return Err(format!("`{{{}}}` is not known", escaped(name))),
                }
            }
            other => out.push(*other),
        }
        if out.len() > MOST_VALUE {
            return Err(format!("the value of `{}` would be too long", escaped(value)));
        }
    }
    Ok(out)
}

/// More than any engine reads; without a limit, values that refer to values double with each action.
const MOST_VALUE: usize = 1 << 16;
