//! Tests of one key, and what a selector excludes.

use std::cmp::Ordering;

use regex::bytes::{Regex, RegexBuilder};

use super::Selector;
use crate::content::entities::Entity;

/// The memory of one compiled expression in bytes: without a limit a short text can need gigabytes.
const MAX_EXPRESSION: usize = 1 << 20;
/// How deep groups of an expression may be nested.
const MAX_GROUPS: u32 = 64;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// The selector in `:not(...)` does not match.
    Not(Selector),
    Key {
        key: Vec<u8>,
        compare: Compare,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Compare {
    Exists,
    Equal(Vec<u8>),
    Begins(Vec<u8>),
    Ends(Vec<u8>),
    Contains(Vec<u8>),
    Matches(Expression),
    Number(Order, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A regular expression with the text it was read from.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    pub(super) ignores_case: bool,
    regex: Regex,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.ignores_case) == (&other.text, other.ignores_case)
    }
}

impl Expression {
    /// Compiles an expression; the error is the reason and its place in the text in characters.
    pub(super) fn new(text: &str, ignores_case: bool) -> Result<Self, (String, usize)> {
        let regex = RegexBuilder::new(text)
            .unicode(false)
            .case_insensitive(ignores_case)
            .size_limit(MAX_EXPRESSION)
            .nest_limit(MAX_GROUPS)
            .build();
        match regex {
            Ok(regex) => Ok(Expression { text: text.to_owned(), ignores_case, regex }),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err((format!("the expression takes more than {MAX_EXPRESSION} bytes when it is compiled"), 0))
            }
            Err(error) => Err(reason(&error.to_string())),
        }
    }
}

/// The last line of the crate's message, and the column of its caret, which it indents by four spaces.
fn reason(said: &str) -> (String, usize) {
    let why = said.lines().last().unwrap_or_default();
    let why = why.strip_prefix("error: ").unwrap_or(why);
    let caret = said.lines().find(|line| line.trim_start().starts_with('^') && line.trim_end().ends_with('^'));
    let column = caret.and_then(|line| line.find('^')).map_or(0, |at| at.saturating_sub(4));
    (format!("the expression cannot be read: {why}"), column)
}

impl Test {
    pub(super) fn holds(&self, entity: &Entity<'_>) -> bool {
        match self {
            Test::Not(selector) => !selector.matches(entity),
            Test::Key { key, compare } => entity.all(key).any(|value| compare.holds(value)),
        }
    }
}

impl Compare {
    pub(super) fn holds(&self, value: &[u8]) -> bool {
        match self {
            Compare::Exists => true,
            Compare::Equal(other) => value == other,
            Compare::Begins(start) => value.starts_with(start),
            Compare::Ends(end) => value.ends_with(end),
            Compare::Contains(part) => memchr::memmem::find(value, part).is_some(),
            Compare::Matches(expression) => expression.regex.is_match(value),
            Compare::Number(order, number) => {
                one_number(value).and_then(|value| value.partial_cmp(number)).is_some_and(|found| order.allows(found))
            }
        }
    }
}

impl Order {
    fn allows(self, found: Ordering) -> bool {
        match self {
            Order::Less => found.is_lt(),
            Order::LessOrEqual => found.is_le(),
            Order::Greater => found.is_gt(),
            Order::GreaterOrEqual => found.is_ge(),
        }
    }
}

/// The number, if the whole text is one: digits with a sign, a point, an exponent; words for infinity are not numbers.
pub(super) fn one_number(text: &[u8]) -> Option<f64> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let text = std::str::from_utf8(text).ok().filter(|text| text.as_bytes().iter().all(is_part))?;
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
