//! What a text has that is close to a selector which matches nothing.

use std::collections::BTreeMap;

use super::test::{Compare, Test};
use super::{All, Head, Selector};
use crate::content::entities::{Entities, Entity};
use crate::near;

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
