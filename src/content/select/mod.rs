//! Selectors: choose the entities for an edit.

mod expression;
mod index;
mod like;
mod made;
mod near;
mod parse;
mod print;
mod test;

use std::str::FromStr;

use crate::content::entities::Entity;
use crate::{Error, Result};
pub(crate) use expression::Expression;
pub(crate) use index::Index;
use like::is_like;
pub(crate) use parse::compared;
pub(crate) use test::Compare;
use test::Test;

/// A choice of entities: a class, an index, and tests of keys.
///
/// | selector | entities |
/// |---|---|
/// | `light` | of this class; case does not matter |
/// | `info_player_*` | of classes like this: `*` is any run of bytes, `?` is one |
/// | `*` | all of them |
/// | `#17` | the one of this index |
/// | `[targetname]` | that have this key; case does not matter |
/// | `[style=32]` | where the key has this value, byte for byte |
/// | `[target^=door_]` | where the value begins with this |
/// | `[target$=_1]` | where the value ends with this |
/// | `[target*=oor]` | where the value contains this |
/// | `[message~/re/]`, `[message~/re/i]` | where a regular expression matches in the value; `i` ignores case |
/// | `[wait>2]`, `<`, `>=`, `<=` | where the whole value is one number, and the comparison is true |
/// | `light:not([style])` | that the selector in the parentheses does not match |
/// | `light,#17` | that either matches |
///
/// Tests and `:not(...)` may follow a class, an index or each other, and all have to hold. If an entity has a key
/// several times, one of its values has to pass. A value ends at the `]`, or is in quotes; `\xNN`, `\n` and `\\` are
/// escapes, as in [`unescape`](crate::bytes::unescape). Spaces may be around commas and parentheses.
///
/// Regular expressions are those of the crate `regex`, on bytes and in time linear in the value: `.` is any byte except
/// a line break, `\xe9` the byte, `\d` and `\w` are ASCII, and `\/` is a slash.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::content::select::Selector;
/// use bspkit::dialect::EntityRules;
///
/// let text = b"{ \"classname\" \"worldspawn\" } { \"classname\" \"light_spot\" \"target\" \"door_1\" }\0";
/// let entities = Entities::parse(&text[..], EntityRules::SOURCE)?;
/// let selector = Selector::parse("light*[target^=door_]")?;
/// assert_eq!(entities.select(&selector), [1]);
/// # Ok::<(), bspkit::Error>(())
/// ```
/// [`Display`](std::fmt::Display) prints a selector that reads back as the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// One of these has to match; there is at least one.
    either: Vec<All>,
}

/// Conditions that all have to hold: without a head and tests it matches everything.
#[derive(Clone, Debug, Default, PartialEq)]
struct All {
    head: Head,
    tests: Vec<Test>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Head {
    #[default]
    Any,
    Index(usize),
    Class(Vec<u8>),
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if it cannot be read; the hint marks the place.
    pub fn parse(text: &str) -> Result<Self> {
        parse::parse(text)
    }

    /// Whether it goes by what an entity has alone, and not by its index.
    pub(crate) fn is_of_pairs(&self) -> bool {
        let is_of_pairs = |all: &All| !matches!(all.head, Head::Index(_)) && all.tests.iter().all(Test::is_of_pairs);
        self.either.iter().all(is_of_pairs)
    }

    /// Whether an entity is among those selected.
    pub fn matches(&self, entity: &Entity<'_>) -> bool {
        self.either.iter().any(|all| all.matches(entity))
    }
}

impl Default for Selector {
    /// All entities.
    fn default() -> Self {
        Selector { either: vec![All::default()] }
    }
}

impl FromStr for Selector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Selector::parse(text)
    }
}

impl All {
    fn matches(&self, entity: &Entity<'_>) -> bool {
        let head = match &self.head {
            Head::Any => true,
            Head::Index(index) => entity.index() == *index,
            Head::Class(pattern) => entity.class().is_some_and(|class| is_like(class, pattern)),
        };
        head && self.tests.iter().all(|test| test.holds(entity))
    }
}
