//! What a patch adds to a map that has the same already, as after the patch was applied to it and the map was edited
//! since.

use std::collections::HashSet;

use bspkit::content::entities::Entities;

use super::{Change, Located, Operation};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

impl Located<'_, '_, '_> {
    /// How many of the entities and pairs that the patch adds the map has already, with the same keys and values. They
    /// come a second time. The map that the patch was made for is meant to have them twice; the bytes, those of
    /// [`Located::apply`], say whether it is that one.
    ///
    /// ```
    /// use bspkit_ops::{diff::diff, patch::Search};
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// let (old, mut draft) = (map.entities()?, map.draft());
    /// draft.entities()?.add([("classname", "info_null")])?;
    /// let patch = diff(&old, &*draft.entities()?)?;
    /// let located = patch.locate(&old, Search::Exact)?;
    /// assert_eq!(located.twice(&located.apply()?), 0);
    ///
    /// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    /// let edited = draft.entities()?;
    /// let located = patch.locate(&*edited, Search::Exact)?;
    /// assert_eq!(located.twice(&located.apply()?), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn twice(&self, bytes: &[u8]) -> usize {
        if self.already || self.patch.result.is_some_and(|result| crc32fast::hash(bytes) == result) {
            return 0;
        }
        let all = || self.patch.operations.iter().zip(&self.meant);
        let gone: HashSet<usize> = all()
            .filter(|(operation, _)| matches!(operation, Operation::Remove { .. }))
            .flat_map(|(_, meant)| meant.on.iter().copied())
            .collect();
        let added: Vec<Pairs> = all().filter_map(|(operation, _)| operation.added(self.entities)).collect();
        // Most patches add nothing: then the map is not read for it.
        let old: HashSet<Pairs> = match added.is_empty() {
            true => HashSet::new(),
            false => self.entities.iter().filter(|entity| !gone.contains(&entity.index())).map(pairs).collect(),
        };
        let entities = added.iter().filter(|pairs| old.contains(*pairs)).count();
        let pairs = all().filter_map(|(operation, meant)| match operation {
            Operation::Edit { changes, .. } => Some((changes, &meant.on)),
            _ => None,
        });
        let has = |index: &usize, key: &[u8], value: &[u8]| {
            self.entities.get(*index).is_some_and(|entity| {
                entity.pairs().any(|pair| pair.key.eq_ignore_ascii_case(key) && pair.value == value)
            })
        };
        let pairs = pairs.flat_map(|(changes, on)| changes.iter().map(move |change| (change, on)));
        let pairs = pairs.map(|(change, on)| match change {
            Change::Add { key, value } => on.iter().filter(|index| has(index, key, value)).count(),
            _ => 0,
        });
        entities + pairs.sum::<usize>()
    }
}

fn pairs(entity: bspkit::content::entities::Entity<'_>) -> Pairs {
    entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
}

impl Operation {
    /// The pairs of an added entity.
    fn added(&self, beside: &Entities<'_>) -> Option<Pairs> {
        match self {
            Operation::Add { pairs, .. } => Some(pairs.clone()),
            Operation::AddText { text, .. } => {
                let read = Entities::parse(text.clone(), *beside.rules()).ok()?;
                read.iter().next().map(pairs)
            }
            _ => None,
        }
    }
}
