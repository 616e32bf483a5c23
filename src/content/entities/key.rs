//! A key, or one of several equal keys of an entity.

use std::fmt;

use super::{Entity, EntityMut};
use crate::bytes::{escaped, unescape};
use crate::{Error, ErrorKind, Result};

/// A key, or one of several equal keys of an entity.
///
/// ```
/// use bspkit::content::entities::{Entities, Key};
/// use bspkit::dialect::EntityRules;
///
/// let mut entities = Entities::parse("{ \"OnUser1\" \"a\" \"OnUser1\" \"b\" }\0", EntityRules::SOURCE)?;
/// let key = Key::parse("onuser1#2")?;
/// assert_eq!(key.values(&entities.get(0).unwrap()), [b"b"]);
/// key.set(&mut entities.get_mut(0)?, b"c")?;
/// assert_eq!(entities.to_bytes(), b"{ \"OnUser1\" \"a\" \"OnUser1\" \"c\" }\0");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key; case does not matter.
    pub name: Vec<u8>,
    /// The number among equal keys, from 1; `None` for all of them, or the first.
    pub nth: Option<usize>,
}

impl Key {
    /// A key as it is, without a number.
    pub fn literal(name: impl Into<Vec<u8>>) -> Self {
        Key { name: name.into(), nth: None }
    }

    /// Reads `KEY` or `KEY#2`. `\xNN`, `\n` and `\\` are escapes, as in [`unescape`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for the number 0 and for one that is too large.
    pub fn parse(text: &str) -> Result<Self> {
        let name = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
        match (name.strip_suffix('#'), &text[name.len()..]) {
            (Some(name), digits) if !digits.is_empty() => match digits.parse() {
                Ok(nth @ 1..) => Ok(Key { name: unescape(name), nth: Some(nth) }),
                _ => Err(Error::new(ErrorKind::Argument, "equal keys are counted from 1")),
            },
            _ => Ok(Key::literal(unescape(text))),
        }
    }

    /// The values of this key in an entity: all of them, or the one of its number.
    pub fn values<'e>(&self, entity: &Entity<'e>) -> Vec<&'e [u8]> {
        let all = entity.all(&self.name);
        match self.nth {
            None => all.collect(),
            Some(nth) => all.skip(nth - 1).take(1).collect(),
        }
    }

    /// The first value of this key in an entity, or the one of its number.
    pub fn value<'e>(&self, entity: &Entity<'e>) -> Option<&'e [u8]> {
        let mut all = entity.all(&self.name);
        all.nth(self.nth.map_or(0, |nth| nth - 1))
    }

    /// As [`Key::value`], for pairs that are not in an entity yet.
    pub(crate) fn value_in<'p>(&self, pairs: &'p [(Vec<u8>, Vec<u8>)]) -> Option<&'p [u8]> {
        let mut all = pairs.iter().filter(|(key, _)| key.eq_ignore_ascii_case(&self.name));
        all.nth(self.nth.map_or(0, |nth| nth - 1)).map(|(_, value)| &value[..])
    }

    /// Sets the value: of the first of several equal keys, or of the one of its number. A missing key is added, and so
    /// is the number after the last one.
    ///
    /// # Errors
    /// As all methods of [`EntityMut`]; [`ErrorKind::NotFound`] for a larger number.
    pub fn set(&self, entity: &mut EntityMut<'_, '_>, value: &[u8]) -> Result<()> {
        match self.nth {
            None => entity.set(&self.name, value),
            Some(nth) if nth == entity.entity().all(&self.name).count() + 1 => entity.push(&self.name, value),
            Some(nth) => entity.set_nth(&self.name, nth, value),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escaped(&self.name))?;
        self.nth.map_or(Ok(()), |nth| write!(f, "#{nth}"))
    }
}
