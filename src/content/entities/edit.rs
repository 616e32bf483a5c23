//! Edits of one entity's pairs.

use std::sync::Arc;

use super::entity::unquoted;
use super::splice::Splice;
use super::style::Style;
use super::token::Span;
use super::{Body, Entities, Entity, Own, rule};
use crate::bytes::{escaped, index};
use crate::{Error, ErrorKind, Result};

/// An entity to edit. Each method either makes its edit or gives an error and changes nothing.
///
/// An edit changes only the bytes of its key or value; setting a value to what it is changes nothing. If edits give an
/// entity its original pairs again, it also has its original text again.
///
/// # Errors
/// All methods give [`ErrorKind::Refused`] for keys and values that engines of the dialect could not read back
/// ([`Entities::for_any_engine`] allows those that at least one engine reads), and if the first entity would no longer
/// be worldspawn.
///
/// ```
/// use bspkit::ErrorKind;
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let text = b"{\n\"classname\" \"light\"\n}\n\0";
/// let mut entities = Entities::parse(&text[..], EntityRules::SOURCE)?;
/// let mut light = entities.first_class("light")?;
/// light.set("targetname", "lamp")?;
/// assert_eq!(light.set("message", "say \"hi\"").unwrap_err().kind(), ErrorKind::Refused);
/// assert_eq!(entities.to_bytes(), b"{\n\"classname\" \"light\"\n\"targetname\" \"lamp\"\n}\n\0");
/// entities.first_class("light")?.unset("targetname")?;
/// assert_eq!(entities.to_bytes(), text);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct EntityMut<'e, 'a> {
    pub(super) entities: &'e mut Entities<'a>,
    pub(super) index: usize,
    /// Whether the rules for whole entities are checked later.
    is_unchecked: bool,
}

impl<'e, 'a> EntityMut<'e, 'a> {
    pub(super) fn new(entities: &'e mut Entities<'a>, index: usize) -> Self {
        EntityMut { entities, index, is_unchecked: false }
    }

    /// The position among the entities.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The entity as it is now.
    pub fn entity(&self) -> Entity<'_> {
        self.entities.view(self.index)
    }

    /// The value of the first `classname`.
    pub fn class(&self) -> Option<&[u8]> {
        self.entity().class()
    }

    /// The first value of a key. Case does not matter.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.entity().get(key)
    }

    /// Makes several edits that are one: what is true of the whole entity, as that it has a class, is checked after the
    /// last of them. After an error the entity is as it was before all of them.
    ///
    /// ```
    /// use bspkit::content::entities::Entities;
    /// use bspkit::dialect::EntityRules;
    ///
    /// let mut entities = Entities::parse("{\n\"classname\" \"light\"\n}\n\0", EntityRules::SOURCE)?;
    /// let mut light = entities.first_class("light")?;
    /// assert!(light.unset("classname").is_err());
    /// light.all_at_once(|light| {
    ///     light.unset("classname")?;
    ///     light.push("classname", "light_spot")
    /// })?;
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn all_at_once(&mut self, edit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let old = self.entities.nodes[self.index].body.clone();
        let was_unchecked = std::mem::replace(&mut self.is_unchecked, true);
        let done = edit(self);
        self.is_unchecked = was_unchecked;
        let result = done.and_then(|()| if was_unchecked { Ok(()) } else { self.check_against(&old) });
        if result.is_err() {
            self.entities.nodes[self.index].body = old;
        }
        result
    }

    /// Sets the value of a key, the first of several; adds the pair if there is none.
    pub fn set(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let pair = self.entity().pairs().position(|pair| pair.key.eq_ignore_ascii_case(key));
        match pair {
            Some(pair) => self.set_value(pair, value),
            None => self.push(key, value),
        }
    }

    /// Sets the `n`-th value of a key, counted from 1.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer, besides those of all edits.
    pub fn set_nth(&mut self, key: impl AsRef<[u8]>, n: usize, value: impl AsRef<[u8]>) -> Result<()> {
        let pair = self.nth(key.as_ref(), n)?;
        self.set_value(pair, value.as_ref())
    }

    /// Adds a pair after the last one, with the same spacing; other pairs of the same key stay.
    pub fn push(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.push_all(&[(key.as_ref(), value.as_ref())])
    }

    /// Adds pairs after the last one.
    pub(crate) fn push_all(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<()> {
        pairs.iter().try_for_each(|(key, value)| self.check_pair(Some(key), value))?;
        let entity = self.entity();
        if let Some(last) = entity.pairs.last()
            && is_unterminated(&entity, last.value)
        {
            return Err(rule::refused("the last value has no closing quote and would swallow the new pair".to_owned())
                .at(rule::place(self.index))
                .with_hint("set that value first: this adds its quotes"));
        }
        let style = Style::of(&entity).unwrap_or_else(|| self.entities.style_near(self.index));
        let own = Own::with_pairs(&entity, &style, pairs)?;
        self.commit(own)
    }

    /// Refuses a key or value that engines of the dialect could not read back.
    pub(crate) fn check_pair(&self, key: Option<&[u8]>, value: &[u8]) -> Result<()> {
        key.map_or(Ok(()), |key| rule::check_key(&self.entities.rules, self.index, key))?;
        rule::check_value(&self.entities.rules, self.index, value)
    }

    /// Removes all pairs of a key and returns their number. Comments stay.
    pub fn unset(&mut self, key: impl AsRef<[u8]>) -> Result<usize> {
        let pairs = self.find(key.as_ref());
        self.remove(&pairs)?;
        Ok(pairs.len())
    }

    /// Removes the `n`-th pair of a key, counted from 1.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer, besides those of all edits.
    pub fn unset_nth(&mut self, key: impl AsRef<[u8]>, n: usize) -> Result<()> {
        let pair = self.nth(key.as_ref(), n)?;
        self.remove(&[pair])
    }

    /// Gives all pairs of a key another key and returns their number.
    pub fn rename(&mut self, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<usize> {
        let pairs = self.find(old.as_ref());
        self.rename_pairs(&pairs, new.as_ref())?;
        Ok(pairs.len())
    }

    /// Gives the `n`-th pair of a key, counted from 1, another key.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer, besides those of all edits.
    pub fn rename_nth(&mut self, old: impl AsRef<[u8]>, n: usize, new: impl AsRef<[u8]>) -> Result<()> {
        let pair = self.nth(old.as_ref(), n)?;
        self.rename_pairs(&[pair], new.as_ref())
    }

    fn set_value(&mut self, pair: usize, value: &[u8]) -> Result<()> {
        self.set_values(&[(pair, value)])
    }

    /// Sets the values of pairs, by their places among all pairs, which ascend.
    pub(crate) fn set_values(&mut self, values: &[(usize, &[u8])]) -> Result<()> {
        let entity = self.entity();
        let mut splices = Vec::with_capacity(values.len());
        for &(pair, value) in values {
            let Some(splice) = Splice::token(&entity, entity.pairs[pair].value, value) else { continue };
            rule::check_value(&self.entities.rules, self.index, value)?;
            splices.push(splice);
        }
        if splices.is_empty() {
            return Ok(());
        }
        let own = Own::spliced(&entity, &splices, &[])?;
        self.commit(own)
    }

    fn rename_pairs(&mut self, pairs: &[usize], new: &[u8]) -> Result<()> {
        let entity = self.entity();
        let splices: Vec<_> =
            pairs.iter().filter_map(|&pair| Splice::token(&entity, entity.pairs[pair].key, new)).collect();
        if splices.is_empty() {
            return Ok(());
        }
        rule::check_key(&self.entities.rules, self.index, new)?;
        let own = Own::spliced(&entity, &splices, &[])?;
        self.commit(own)
    }

    /// Removes pairs by their places among all pairs, which ascend.
    pub(crate) fn remove(&mut self, pairs: &[usize]) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        let entity = self.entity();
        let own = Own::spliced(&entity, &Splice::removal(&entity, pairs), pairs)?;
        self.commit(own)
    }

    /// The indices of a key's pairs.
    fn find(&self, key: &[u8]) -> Vec<usize> {
        let pairs = self.entity();
        pairs.pairs().enumerate().filter(|(_, pair)| pair.key.eq_ignore_ascii_case(key)).map(|(at, _)| at).collect()
    }

    fn nth(&self, key: &[u8], n: usize) -> Result<usize> {
        let pairs = self.find(key);
        n.checked_sub(1).and_then(|at| pairs.get(at).copied()).ok_or_else(|| {
            let (key, count) = (escaped(key), pairs.len());
            Error::new(ErrorKind::NotFound, format!("no pair {n} of key `{key}`: the entity has {count}"))
                .at(rule::place(self.index))
        })
    }

    /// Replaces the text by the edited one, if the rules for whole entities allow it.
    fn commit(&mut self, mut own: Own) -> Result<()> {
        let entities = &mut *self.entities;
        let node = &entities.nodes[self.index];
        own.origin = match &node.body {
            Body::Source(origin) => Some(*origin),
            Body::Own(old) => old.origin,
        };
        let body = match own.origin {
            Some(origin) if has_pairs_of_source(entities, origin, &own) => Body::Source(origin),
            _ => Body::Own(Arc::new(own)),
        };
        self.put(body)
    }

    /// Replaces the body, if the rules for whole entities allow it.
    pub(super) fn put(&mut self, body: Body) -> Result<()> {
        let old = std::mem::replace(&mut self.entities.nodes[self.index].body, body);
        let result = if self.is_unchecked { Ok(()) } else { self.check_against(&old) };
        if result.is_err() {
            self.entities.nodes[self.index].body = old;
        }
        result
    }

    fn check_against(&self, old: &Body) -> Result<()> {
        let (before, after) = (self.entities.view_of(self.index, old), self.entity());
        rule::check_size(&self.entities.rules, Some(&before), &after)?;
        match self.index == 0 && rule::is_world(Some(&before)) && !rule::is_world(Some(&after)) {
            true => Err(rule::not_the_world(&self.entities.rules)),
            false => Ok(()),
        }
    }
}

fn has_pairs_of_source(entities: &Entities<'_>, origin: u32, own: &Own) -> bool {
    let (bytes, pairs) = (&entities.source.data[..], entities.source.pairs(index(origin)));
    let syntax = &entities.rules.syntax;
    let same = |one: Span, other: Span| {
        unquoted(&own.text[one.range()], syntax).0 == unquoted(&bytes[other.range()], syntax).0
    };
    own.pairs.len() == pairs.len()
        && own.pairs.iter().zip(pairs).all(|(own, old)| same(own.key, old.key) && same(own.value, old.value))
}

fn is_unterminated(entity: &Entity<'_>, span: Span) -> bool {
    !unquoted(&entity.bytes[span.range()], entity.syntax).1
}
