//! Words of entities that look like a brush model, where no reference is declared.

use super::Entity;
use crate::bytes::escaped;
use crate::dialect::{Dialect, EntityForm};
use crate::links::{star, stars};

/// A `*` and a number in a key or a value, where no reference is declared: [`Entity::loose_models`].
///
/// ```
/// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
/// let entities = draft.entities()?;
/// let index = entities.add([("classname", "info_x"), ("othermodel", "*2")])?;
/// let entity = entities.get(index).unwrap();
/// let loose = &entity.loose_models(&bspkit::dialect::QUAKE3)[0];
/// assert_eq!(loose.text(&entity), format!("ENTITIES[{index}].othermodel is *2"));
/// assert!(loose.doubt(&entity, "that model is *1 now").ends_with("does not follow: that model is *1 now"));
/// # Ok::<(), bspkit::Error>(())
/// ```
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

impl LooseModel {
    /// What is said of it where models get other numbers: `now` says where the model is that it may name.
    pub fn doubt(&self, entity: &Entity<'_>, now: &str) -> String {
        format!("{}, which may name a model and does not follow: {now}", self.text(entity))
    }

    /// Where it is: the beginning of a sentence.
    pub fn text(&self, entity: &Entity<'_>) -> String {
        let (index, number) = (entity.index(), self.number);
        let pair = entity.pairs_in(self.pair..self.pair + 1).next();
        let [key, value] = pair.map_or([&b""[..]; 2], |pair| [pair.key, pair.value]);
        match self.is_key {
            true => format!("ENTITIES[{index}] has a key with *{number}"),
            false if star(value).is_some() => format!("ENTITIES[{index}].{} is *{number}", escaped(key)),
            false => format!("ENTITIES[{index}].{} has *{number} in it", escaped(key)),
        }
    }

    /// The first 100 of these doubts, and the number of the others: a hostile map may have any number.
    pub fn listed(doubts: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut doubts = doubts.into_iter();
        let mut listed: Vec<String> = doubts.by_ref().take(MOST_LOOSE).collect();
        let more = doubts.count();
        listed.extend((more > 0).then(|| format!("{more} more values may name a model and do not follow")));
        listed
    }
}

/// As many values that may name a model are listed.
const MOST_LOOSE: usize = 100;

impl Entity<'_> {
    /// The words of keys and values that may name a brush model, beside the values of [`Entity::record_values`]: a
    /// value alone, or a part of one, as the parameter of an output. A game may read them or not, so that they cannot
    /// follow, and what they name must not be taken for unused.
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
                found.extend(stars(word).map(|number| LooseModel { lump, pair, is_key, number }));
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
