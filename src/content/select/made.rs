//! Selectors made by the program, and selectors as pairs: rules of other formats in both directions.

use super::expression::Expression;
use super::test::{Compare, Test};
use super::{All, Head, Selector};
use crate::{Error, ErrorKind, Result};

/// A key, and the value that is tested, if it is not any value.
type Tested<'s> = (&'s [u8], Option<&'s [u8]>);

impl Selector {
    /// The entities of a class, or of all classes, in which for each key a value matches the expression, whatever the
    /// case.
    pub(crate) fn like(class: Option<&[u8]>, tests: impl IntoIterator<Item = (Vec<u8>, String)>) -> Result<Self> {
        let test = |(key, text): (Vec<u8>, String)| match Expression::at((&text, 0), true) {
            Ok(expression) => Ok(Test::Key { key, compare: Compare::Matches(expression) }),
            Err((_, why)) => Err(Error::new(ErrorKind::Argument, why)),
        };
        let tests = tests.into_iter().map(test).collect::<Result<_>>()?;
        let head = class.map_or(Head::Any, |class| Head::Class(class.to_vec()));
        Ok(Selector { either: vec![All { head, tests }] })
    }

    /// Whether a class means itself in a selector.
    pub(crate) fn is_class(class: &[u8]) -> bool {
        !class.is_empty() && !class.iter().any(|letter| b"*?".contains(letter))
    }

    /// The class and the values that are tested, and keys that have to be there with any value; `None` if there are
    /// other tests.
    pub(crate) fn pairs(&self) -> Option<Vec<Tested<'_>>> {
        let [all] = &self.either[..] else { return None };
        let mut pairs = Vec::new();
        match &all.head {
            Head::Any => {}
            Head::Class(class) if Selector::is_class(class) => {
                pairs.push((&b"classname"[..], Some(&class[..])));
            }
            _ => return None,
        }
        for test in &all.tests {
            match test {
                Test::Key { key, compare: Compare::Equal(value) } => pairs.push((key, Some(value))),
                Test::Key { key, compare: Compare::Exists } => pairs.push((key, None)),
                _ => return None,
            }
        }
        Some(pairs)
    }
}
