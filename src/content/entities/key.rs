//! A key, or one of several equal keys of an entity.

use std::borrow::Cow;
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

    /// The key that is meant in an entity. Names of keys may end as if they had a number (`door1#1` in GoldSrc maps):
    /// where an entity has a key of this very name, and not several of the name without the number, the name is meant.
    pub fn of<'k>(&'k self, entity: &Entity<'_>) -> Cow<'k, Key> {
        match self.own_name() {
            Some(name) if entity.all(&self.name).nth(1).is_none() && entity.get(&name).is_some() => {
                Cow::Owned(Key::literal(name))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The name with the number, where there is one: what a key of an entity may be called.
    pub fn own_name(&self) -> Option<Vec<u8>> {
        self.nth.map(|nth| [&self.name[..], format!("#{nth}").as_bytes()].concat())
    }

    /// The values of this key in an entity: all of them, or the one of its number.
    pub fn values<'e>(&self, entity: &Entity<'e>) -> Vec<&'e [u8]> {
        let key = self.of(entity);
        let all = entity.all(&key.name);
        match key.nth {
            None => all.collect(),
            Some(nth) => all.skip(nth.saturating_sub(1)).take(1).collect(),
        }
    }

    /// The first value of this key in an entity, or the one of its number.
    pub fn value<'e>(&self, entity: &Entity<'e>) -> Option<&'e [u8]> {
        let key = self.of(entity);
        let mut all = entity.all(&key.name);
        all.nth(key.nth.map_or(0, |nth| nth.saturating_sub(1)))
    }

    /// As [`Key::value`], for pairs that are not in an entity yet.
    pub(crate) fn value_in<'p>(&self, pairs: &'p [(Vec<u8>, Vec<u8>)]) -> Option<&'p [u8]> {
        let mut all = pairs.iter().filter(|(key, _)| key.eq_ignore_ascii_case(&self.name));
        all.nth(self.nth.map_or(0, |nth| nth.saturating_sub(1))).map(|(_, value)| &value[..])
    }

    /// Sets the value: of the first of several equal keys, or of the one of its number. A missing key is added, and so
    /// is the number after the last one.
    ///
    /// # Errors
    /// As all methods of [`EntityMut`]; [`ErrorKind::NotFound`] for a larger number, and for a number of a missing key.
    pub fn set(&self, entity: &mut EntityMut<'_, '_>, value: &[u8]) -> Result<()> {
        let key = self.of(&entity.entity()).into_owned();
        match (key.nth, entity.entity().all(&key.name).count()) {
            (None, _) => entity.set(&key.name, value),
            (Some(nth), count @ 1..) if nth == count + 1 => entity.push(&key.name, value),
            (Some(nth), _) => entity.set_nth(&key.name, nth, value),
        }
    }

    /// Removes all pairs of the key, or the one of its number, and returns how many there were.
    ///
    /// # Errors
    /// As all methods of [`EntityMut`].
    pub fn unset(&self, entity: &mut EntityMut<'_, '_>) -> Result<usize> {
        let key = self.of(&entity.entity()).into_owned();
        match key.nth {
            None => entity.unset(&key.name),
            Some(nth) if nth > entity.entity().all(&key.name).count() => Ok(0),
            Some(nth) => entity.unset_nth(&key.name, nth).map(|()| 1),
        }
    }

    /// Gives all pairs of the key another key, or the one of its number, and returns how many there were.
    ///
    /// # Errors
    /// As all methods of [`EntityMut`].
    pub fn rename(&self, entity: &mut EntityMut<'_, '_>, new: &[u8]) -> Result<usize> {
        let key = self.of(&entity.entity()).into_owned();
        match key.nth {
            None => entity.rename(&key.name, new),
            Some(nth) if nth > entity.entity().all(&key.name).count() => Ok(0),
            Some(nth) => entity.rename_nth(&key.name, nth, new).map(|()| 1),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", escaped(&self.name))?;
        self.nth.map_or(Ok(()), |nth| write!(f, "#{nth}"))
    }
}
