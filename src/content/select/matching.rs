//! What a selector matches: tests of one key, expressions, classes with wildcards, an index for many selectors, and
//! what is close to a selector that matches nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::{All, Head, Selector};
use crate::content::entities::{Entities, Entity};
use crate::near;

// Tests of one key, and what a selector excludes.

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// The selector in `:not(...)` does not match.
    Not(Selector),
    Key {
        key: Vec<u8>,
        compare: Compare,
    },
}

/// What a value has to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Compare {
    Exists,
    Equal(Vec<u8>),
    Begins(Vec<u8>),
    Ends(Vec<u8>),
    Contains(Vec<u8>),
    Matches(Expression),
    Number(Order, f64),
}

/// How a number compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Test {
    /// As [`Selector::is_of_pairs`].
    pub(super) fn is_of_pairs(&self) -> bool {
        match self {
            Test::Not(selector) => selector.is_of_pairs(),
            Test::Key { .. } => true,
        }
    }

    pub(super) fn holds(&self, entity: &Entity<'_>) -> bool {
        match self {
            Test::Not(selector) => !selector.matches(entity),
            Test::Key { key, compare } => entity.all(key).any(|value| compare.holds(value)),
        }
    }
}

impl Compare {
    pub(crate) fn holds(&self, value: &[u8]) -> bool {
        match self {
            Compare::Exists => true,
            Compare::Equal(other) => value == other,
            Compare::Begins(start) => value.starts_with(start),
            Compare::Ends(end) => value.ends_with(end),
            Compare::Contains(part) => memchr::memmem::find(value, part).is_some(),
            Compare::Matches(expression) => expression.is_match(value),
            Compare::Number(order, number) => one_number(value).is_some_and(|value| order.holds(value, *number)),
        }
    }
}

impl Order {
    /// Whether the first number compares so with the second. One that is not a number never does.
    pub(crate) fn holds<N: PartialOrd>(self, one: N, other: N) -> bool {
        match self {
            Order::Less => one < other,
            Order::LessOrEqual => one <= other,
            Order::Greater => one > other,
            Order::GreaterOrEqual => one >= other,
        }
    }
}

/// The number, if the whole text is one: digits with a sign, a point, an exponent; words for infinity are not numbers.
pub(super) fn one_number(text: &[u8]) -> Option<f64> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let text = std::str::from_utf8(text).ok().filter(|text| text.as_bytes().iter().all(is_part))?;
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

// Regular expressions, in linear time, of bounded size: on the letters of a text in UTF-8, on bytes otherwise.

/// The memory of one compiled expression in bytes: without a limit a short text can need gigabytes.
const MAX_EXPRESSION: usize = 1 << 20;
/// How deep groups of an expression may be nested.
const MAX_GROUPS: u32 = 64;

/// A regular expression with the text it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) ignores_case: bool,
    regex: Regex,
    /// The same for text in UTF-8, where a letter of several bytes is one; `None` if it needs tables of Unicode.
    letters: OnceLock<Option<Regex>>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.ignores_case) == (&other.text, other.ignores_case)
    }
}

impl Expression {
    /// Compiles an expression at this offset of a larger text; the error is the offset of the mistake and the reason.
    pub(crate) fn at((text, at): (&str, usize), ignores_case: bool) -> Result<Self, (usize, String)> {
        Expression::new(text, ignores_case).map_err(|(why, column)| {
            let skipped = text.char_indices().nth(column).map_or(text.len(), |(offset, _)| offset);
            (at + skipped, why)
        })
    }

    /// Whether it matches somewhere in a value.
    pub(crate) fn is_match(&self, value: &[u8]) -> bool {
        self.on(value).is_match(value)
    }

    /// The number of groups; the whole match is one.
    pub(crate) fn groups(&self) -> usize {
        self.regex.captures_len()
    }

    /// The first match that starts at this offset or after it.
    pub(crate) fn captures<'v>(&self, value: &'v [u8], at: usize) -> Option<Captures<'v>> {
        self.on(value).captures_at(value, at)
    }

    /// The expression for this value.
    fn on(&self, value: &[u8]) -> &Regex {
        if value.is_ascii() || std::str::from_utf8(value).is_err() {
            return &self.regex;
        }
        let compile = || {
            let regex = || builder(&self.text, self.ignores_case).unicode(true).build().ok();
            if is_of_bytes(&self.text) { None } else { regex() }
        };
        self.letters.get_or_init(compile).as_ref().unwrap_or(&self.regex)
    }

    /// Compiles an expression; the error is the reason and its place in the text in characters.
    fn new(text: &str, ignores_case: bool) -> Result<Self, (String, usize)> {
        match builder(text, ignores_case).unicode(false).build() {
            Ok(regex) => Ok(Expression { text: text.to_owned(), ignores_case, regex, letters: OnceLock::new() }),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err((format!("the expression takes more than {MAX_EXPRESSION} bytes when it is compiled"), 0))
            }
            Err(error) => Err(reason(&error.to_string())),
        }
    }
}

/// Whether an expression has escapes that mean bytes or ASCII, or flags. Whether the crate has tables of Unicode for
/// them depends on what else a program is built with.
fn is_of_bytes(text: &str) -> bool {
    let has = |start: char, letters: &str| {
        text.match_indices(start).any(|(at, _)| text[at + 1..].starts_with(|next| letters.contains(next)))
    };
    has('\\', "xuUwWdDsSbBpP") || has('?', "imsxuRU-")
}

fn builder(text: &str, ignores_case: bool) -> RegexBuilder {
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(ignores_case).size_limit(MAX_EXPRESSION).nest_limit(MAX_GROUPS);
    builder
}

/// The last line of the crate's message, and the column of its caret, which it indents by four spaces.
fn reason(said: &str) -> (String, usize) {
    let why = said.lines().last().unwrap_or_default();
    let why = why.strip_prefix("error: ").unwrap_or(why);
    let caret = said.lines().find(|line| line.trim_start().starts_with('^') && line.trim_end().ends_with('^'));
    let column = caret.and_then(|line| line.find('^')).map_or(0, |at| at.saturating_sub(4));
    (format!("the expression cannot be read: {why}"), column)
}

// Classes with `*` and `?` in them.

/// Whether a class matches a pattern, at worst in time proportional to the product of their lengths.
pub(super) fn is_like(class: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // Where to continue if the run that the last `*` matches has to be longer.
    let mut retry = None;
    while at < class.len() {
        match pattern.get(next) {
            Some(b'*') => {
                retry = Some((at, next));
                next += 1;
            }
            Some(letter) if *letter == b'?' || letter.eq_ignore_ascii_case(&class[at]) => {
                at += 1;
                next += 1;
            }
            _ => match &mut retry {
                Some((from, star)) => {
                    *from += 1;
                    (at, next) = (*from, *star + 1);
                }
                None => return false,
            },
        }
    }
    pattern[next..].iter().all(|&letter| letter == b'*')
}

// Entities by their keys and values, for many selectors on one text.

/// An index of entities, made when it is first needed. The beginning of a class, a key, a value and the beginning of a
/// value are looked up. Other tests are tried on all values of their key.
///
/// ```
/// use bspkit::content::select::{Index, Selector};
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let entities = map.entities()?;
/// let mut index = Index::new(&entities);
/// for selector in ["worldspawn", "light*", "#1"] {
///     assert_eq!(index.select(&Selector::parse(selector)?), entities.select(selector)?);
/// }
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Index<'e> {
    entities: Vec<Entity<'e>>,
    /// In lower case.
    classes: Rows<'e>,
    /// By the key in lower case.
    keys: HashMap<Vec<u8>, Rows<'e>>,
    is_made: bool,
}

/// Values with the entities that have them.
#[derive(Default)]
struct Rows<'e> {
    rows: Vec<(Cow<'e, [u8]>, usize)>,
    is_sorted: bool,
}

/// Rows among which all entities are that a test can hold for, and the test.
type Candidates<'r, 'e> = (&'r [(Cow<'e, [u8]>, usize)], Option<&'r Compare>);

impl<'e> Index<'e> {
    /// An index of these entities.
    pub fn new(entities: &'e Entities<'_>) -> Self {
        let entities = entities.iter().collect();
        Index { entities, classes: Rows::default(), keys: HashMap::new(), is_made: false }
    }

    /// As [`Entities::select`].
    pub fn select(&mut self, selector: &Selector) -> Vec<usize> {
        let mut found: Vec<usize> = selector.either.iter().flat_map(|all| self.all(all)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The entities that have all these pairs.
    pub fn with_pairs(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<usize> {
        let test =
            |(key, value): &(Vec<u8>, Vec<u8>)| Test::Key { key: key.clone(), compare: Compare::Equal(value.clone()) };
        let all = All { head: Head::Any, tests: pairs.iter().map(test).collect() };
        self.select(&Selector { either: vec![all] })
    }

    /// What holds together; an entity may be there several times.
    fn all(&mut self, all: &All) -> Vec<usize> {
        if let Head::Index(index) = all.head {
            let found = self.entities.get(index).filter(|entity| all.matches(entity));
            return found.map(|_| index).into_iter().collect();
        }
        self.make();
        let tests = || all.tests.iter().filter_map(Test::key);
        for (key, compare) in tests() {
            if let (Some(rows), true) = (self.keys.get_mut(&key.to_ascii_lowercase()), compare.is_sorted()) {
                rows.sort();
            }
        }
        let head: Option<Candidates<'_, '_>> = match &all.head {
            Head::Class(pattern) => {
                let literal = pattern.iter().position(|letter| b"*?".contains(letter)).unwrap_or(pattern.len());
                Some((self.classes.beginning(&pattern[..literal].to_ascii_lowercase()), None))
            }
            _ => None,
        };
        let keys = tests().map(|(key, compare)| {
            let rows = self.keys.get(&key.to_ascii_lowercase());
            (rows.map_or(&[][..], |rows| rows.candidates(compare)), Some(compare))
        });
        let fits = |index: &usize| all.matches(&self.entities[*index]);
        match head.into_iter().chain(keys).min_by_key(|(rows, _)| rows.len()) {
            Some((rows, test)) => {
                let passes = |value: &[u8]| test.is_none_or(|compare| compare.holds(value));
                rows.iter().filter(|(value, _)| passes(value)).map(|(_, index)| *index).filter(fits).collect()
            }
            None => (0..self.entities.len()).filter(fits).collect(),
        }
    }

    fn make(&mut self) {
        if std::mem::replace(&mut self.is_made, true) {
            return;
        }
        let mut lower = Vec::new();
        for (index, entity) in self.entities.iter().enumerate() {
            if let Some(class) = entity.class() {
                self.classes.rows.push((class.to_ascii_lowercase().into(), index));
            }
            for pair in entity.pairs() {
                lower.clear();
                lower.extend(pair.key.iter().map(u8::to_ascii_lowercase));
                let row = (Cow::Borrowed(pair.value), index);
                match self.keys.get_mut(&lower) {
                    Some(rows) => rows.rows.push(row),
                    None => drop(self.keys.insert(lower.clone(), Rows { rows: vec![row], is_sorted: false })),
                }
            }
        }
        self.classes.sort();
    }
}

impl<'e> Rows<'e> {
    fn sort(&mut self) {
        if !std::mem::replace(&mut self.is_sorted, true) {
            self.rows.sort_unstable();
        }
    }

    fn candidates(&self, compare: &Compare) -> &[(Cow<'e, [u8]>, usize)] {
        match compare {
            Compare::Equal(value) => self.between(|found| found < &value[..], |found| found <= &value[..]),
            Compare::Begins(start) => self.beginning(start),
            _ => &self.rows,
        }
    }

    fn beginning(&self, start: &[u8]) -> &[(Cow<'e, [u8]>, usize)] {
        self.between(|found| found < start, |found| found < start || found.starts_with(start))
    }

    /// The rows of sorted ones that are not before a place, but before another one.
    fn between(&self, start: impl Fn(&[u8]) -> bool, end: impl Fn(&[u8]) -> bool) -> &[(Cow<'e, [u8]>, usize)] {
        let place = |is_before: &dyn Fn(&[u8]) -> bool| self.rows.partition_point(|(value, _)| is_before(value));
        &self.rows[place(&start)..place(&end)]
    }
}

impl Test {
    fn key(&self) -> Option<(&[u8], &Compare)> {
        match self {
            Test::Not(_) => None,
            Test::Key { key, compare } => Some((key, compare)),
        }
    }
}

impl Compare {
    /// Whether the values that pass follow each other where they are sorted.
    fn is_sorted(&self) -> bool {
        matches!(self, Compare::Equal(_) | Compare::Begins(_))
    }
}

// What a text has that is close to a selector which matches nothing.

impl Entities<'_> {
    /// If a selector matches nothing: the classes, keys or values that are closest to the first one that it names and
    /// no entity has, and how many entities have them. Empty if nothing is close.
    ///
    /// ```
    /// use bspkit::content::select::Selector;
    /// let entities = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.entities()?;
    /// assert_eq!(entities.near(&Selector::parse("path_conrer")?), [(b"path_corner".to_vec(), 2)]);
    /// assert_eq!(entities.near(&Selector::parse("path_corner[orign]")?), [(b"origin".to_vec(), 2)]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn near(&self, selector: &Selector) -> Vec<(Vec<u8>, usize)> {
        let found = selector.either.iter().map(|all| self.near_all(all));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The keys of these entities that are closest to a key, and how many entities have them.
    pub fn near_key(&self, key: impl AsRef<[u8]>, among: &[usize]) -> Vec<(Vec<u8>, usize)> {
        let entities = among.iter().filter_map(|index| self.get(*index));
        closest(key.as_ref(), entities.flat_map(|entity| keys(&entity)))
    }

    fn near_all(&self, all: &All) -> Vec<(Vec<u8>, usize)> {
        let of_head = All { head: all.head.clone(), tests: Vec::new() };
        let mut chosen: Vec<Entity<'_>> = self.iter().filter(|entity| of_head.matches(entity)).collect();
        if let (Head::Class(class), true) = (&all.head, chosen.is_empty()) {
            let name: Vec<u8> = class.iter().copied().filter(|byte| !b"*?".contains(byte)).collect();
            return closest(&name, self.iter().filter_map(|entity| Some(entity.class()?.to_vec())));
        }
        for test in &all.tests {
            let before = chosen.clone();
            chosen.retain(|entity| test.holds(entity));
            let Test::Key { key, compare } = test else { continue };
            if !chosen.is_empty() {
                continue;
            }
            let values = || before.iter().flat_map(|entity| entity.all(key));
            return match compare {
                Compare::Equal(value) if values().next().is_some() => closest(value, values().map(<[u8]>::to_vec)),
                _ => closest(key, before.iter().flat_map(keys)),
            };
        }
        Vec::new()
    }
}

/// The keys of an entity in lower case, each once.
fn keys(entity: &Entity<'_>) -> Vec<Vec<u8>> {
    let mut keys: Vec<_> = entity.pairs().map(|pair| pair.key.to_ascii_lowercase()).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// The closest of all names, with how often they occur.
fn closest(name: &[u8], all: impl Iterator<Item = Vec<u8>>) -> Vec<(Vec<u8>, usize)> {
    let mut counts = BTreeMap::<Vec<u8>, usize>::new();
    all.for_each(|name| *counts.entry(name).or_default() += 1);
    let close: Vec<Vec<u8>> = near(name, counts.keys()).into_iter().cloned().collect();
    close.into_iter().map(|name| (counts[&name], name)).map(|(count, name)| (name, count)).collect()
}
