//! Words of entities that look like a brush model, in keys that no reference is declared for.

use super::Entity;
use crate::dialect::{Dialect, EntityForm};
use crate::links::star;

/// A key or a value that is `*` and a number, and that no declared reference has: [`Entity::loose_models`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LooseModel {
    /// The lump with the records that it may name.
    pub lump: &'static str,
    /// Its place among all pairs of the entity.
    pub pair: usize,
    /// Whether it is the key of the pair, as in texts with a broken quote.
    pub is_key: bool,
    /// The number in it.
    pub number: i64,
}

impl Entity<'_> {
    /// The keys and values that may name a brush model, beside those of [`Entity::record_values`]. A game may read them
    /// or not, so that they cannot follow, and what they name must not be taken for unused.
    ///
    /// ```
    /// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// let entities = draft.entities()?;
    /// let index = entities.add([("classname", "info_x"), ("model", "*1"), ("othermodel", "*2")])?;
    /// let loose = entities.get(index).unwrap().loose_models(&bspkit::dialect::QUAKE3);
    /// assert_eq!((loose.len(), loose[0].pair, loose[0].number), (1, 2, 2));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn loose_models(&self, dialect: &Dialect) -> Vec<LooseModel> {
        let is_starred = |form: EntityForm| form == EntityForm::Starred;
        let lump = dialect.entity_references.iter().find(|reference| is_starred(reference.form));
        let Some(lump) = lump.map(|reference| reference.lump) else { return Vec::new() };
        let mut found = Vec::new();
        for (pair, text) in self.pairs().enumerate() {
            for (is_key, word) in [(true, text.key), (false, text.value)] {
                found.extend(star(word).map(|number| LooseModel { lump, pair, is_key, number }));
            }
        }
        if !found.is_empty() {
            let known = self.record_values(dialect);
            let is_known =
                |pair: usize| known.iter().any(|value| value.pair == pair && is_starred(value.reference.form));
            found.retain(|model| model.is_key || !is_known(model.pair));
        }
        found
    }
}
