//! Tests of one key, and what a selector excludes.

use std::cmp::Ordering;

use super::Selector;
use super::expression::Expression;
use crate::content::entities::Entity;

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
