//! The pairs of an entity, each of which can be changed.

use std::fmt;

use rhai::{Dynamic, ImmutableString};

use super::api::{Api, Res};
use super::entities::{Entity, signed};
use super::values::{bytes_of, shown, value_of};
use crate::content::entities::{Entity as Found, EntityMut};
use crate::{Error, ErrorKind, Result};

/// The pairs of an entity as they were when they were asked for.
#[derive(Clone)]
struct Pairs {
    entity: Entity,
    pairs: Vec<(ImmutableString, ImmutableString)>,
}

/// A pair. It is found again by its place, or by its key and its value.
#[derive(Clone)]
pub(super) struct Pair {
    entity: Entity,
    at: usize,
    key: ImmutableString,
    value: ImmutableString,
}

impl Pairs {
    fn of(entity: &mut Entity) -> Res<Pairs> {
        let pairs = entity.look(|found| found.pairs().map(|pair| (shown(pair.key), shown(pair.value))).collect())?;
        Ok(Pairs { entity: entity.clone(), pairs })
    }

    fn iter(self) -> impl Iterator<Item = Res<Dynamic>> {
        let Pairs { entity, pairs } = self;
        let pair = move |(at, (key, value))| Ok(Dynamic::from(Pair { entity: entity.clone(), at, key, value }));
        pairs.into_iter().enumerate().map(pair)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl Pair {
    /// The key, and the number of the pair among those with the same key, from 1.
    fn find(&self, entity: &Found<'_>) -> Result<(Vec<u8>, usize)> {
        let (key, value) = (bytes_of(&self.key), bytes_of(&self.value));
        let pairs: Vec<_> = entity.pairs().collect();
        let is_it = |at: &usize| pairs.get(*at).is_some_and(|pair| pair.key == key && pair.value == value);
        let at = Some(self.at).filter(is_it).or_else(|| (0..pairs.len()).find(is_it));
        let at = at.ok_or_else(|| {
            let message = format!("the entity has no pair `{}` `{}` any more", self.key, self.value);
            Error::new(ErrorKind::NotFound, message)
        })?;
        Ok((key.clone(), pairs[..=at].iter().filter(|pair| pair.key.eq_ignore_ascii_case(&key)).count()))
    }

    fn edit(&self, work: impl Fn(&mut EntityMut<'_, '_>, Vec<u8>, usize) -> Result<()>) -> Res<()> {
        self.entity.edit(|entity| {
            let (key, nth) = self.find(&entity.entity())?;
            work(entity, key, nth)
        })
    }

    fn set_value(&mut self, value: Dynamic) -> Res<()> {
        let value = value_of(&value)?;
        self.edit(|entity, key, nth| entity.set_nth(key, nth, &value))?;
        self.value = shown(&value);
        Ok(())
    }

    fn set_key(&mut self, new: &str) -> Res<()> {
        let new = bytes_of(new);
        self.edit(|entity, key, nth| entity.rename_nth(key, nth, &new))?;
        self.key = shown(&new);
        Ok(())
    }
}

pub(super) fn register(api: &mut Api) {
    api.group("Pairs of an entity");
    api.name::<Pairs>("pairs");
    api.name::<Pair>("pair");
    api.call(
        "e.pairs()",
        "The pairs of an entity in their order, equal keys too, as they are now: `for p in e.pairs()`. Pairs that the \
         loop adds are not visited.",
        Pairs::of,
    );
    api.iterate(|pairs: Pairs| Ok(pairs.iter()));
    api.also("len", |pairs: &mut Pairs| signed(pairs.pairs.len()));
    api.get("p.key", "The key of a pair; `p.key = \"new\"` renames this pair alone.", |pair: &mut Pair| {
        pair.key.clone()
    });
    api.get("p.value", "The value of a pair; `p.value = v` sets this one, also of several equal keys.", {
        |pair: &mut Pair| pair.value.clone()
    });
    api.set("key", |pair: &mut Pair, key: &str| pair.set_key(key));
    api.set("value", Pair::set_value);
    api.call("p.remove()", "Removes this pair alone.", |pair: &mut Pair| {
        pair.edit(|entity, key, nth| entity.unset_nth(key, nth))
    });
    api.also("to_string", |pair: &mut Pair| pair.to_string());
    api.also("to_debug", |pair: &mut Pair| pair.to_string());
}
