//! Numbers that a patch writes and that mean something else in another map: those of brush models.

use bspkit::content::entities::Entities;
use bspkit::links::star;

use super::{Change, Located, Operation, is_brush_model};

/// The most doubts that are listed.
const MOST: usize = 20;

impl Operation {
    /// The brush models whose numbers it writes.
    fn models(&self, entities: &Entities<'_>) -> Vec<Vec<u8>> {
        let of_text = |text: &[u8]| -> Vec<Vec<u8>> {
            let Ok(read) = Entities::parse(text.to_vec(), *entities.rules()) else { return Vec::new() };
            let pairs: Vec<_> = read.iter().flat_map(|entity| entity.pairs().collect::<Vec<_>>()).collect();
            pairs.iter().filter(|pair| is_brush_model(pair.key, pair.value)).map(|pair| pair.value.to_vec()).collect()
        };
        let of_pair = |key: &[u8], value: &[u8]| is_brush_model(key, value).then(|| value.to_vec());
        let written: Vec<Vec<u8>> = match self {
            Operation::Add { pairs, .. } => pairs.iter().filter_map(|(key, value)| of_pair(key, value)).collect(),
            Operation::Edit { changes, .. } => {
                let pair = |change: &Change| match change {
                    Change::Set { key, value } => of_pair(&key.name, value),
                    Change::Add { key, value } => of_pair(key, value),
                    _ => None,
                };
                changes.iter().filter_map(pair).collect()
            }
            Operation::Replace { text, .. } | Operation::AddText { text, .. } => of_text(text),
            _ => Vec::new(),
        };
        written.into_iter().filter(|value| star(value).is_some()).collect()
    }
}

impl Located<'_, '_, '_> {
    /// What nothing shows to be right: numbers of brush models that the patch writes, where the map is not the one that
    /// the patch was made for. The bytes are those of [`Located::apply`]. A patch that does not say what it leads to is
    /// taken as one for any map.
    ///
    /// ```
    /// use bspkit_ops::{diff::diff, patch::Search};
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// let (old, mut draft) = (map.entities()?, map.draft());
    /// draft.entities()?.add([("classname", "func_wall"), ("model", "*3")])?;
    /// let patch = diff(&old, &*draft.entities()?)?;
    /// let located = patch.locate(&old, Search::Exact)?;
    /// assert!(located.doubts(&located.apply()?).is_empty());
    ///
    /// let mut other = map.draft();
    /// other.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    /// let other = other.entities()?;
    /// let located = patch.locate(&other, Search::Exact)?;
    /// assert_eq!(located.doubts(&located.apply()?).len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn doubts(&self, bytes: &[u8]) -> Vec<String> {
        let is_other = self.patch.result.is_some_and(|result| crc32fast::hash(bytes) != result);
        if !is_other || self.already {
            return Vec::new();
        }
        let models = self.patch.operations.iter().enumerate().flat_map(|(at, operation)| {
            let models = operation.models(self.entities);
            models.into_iter().map(move |model| (at, model))
        });
        let doubt = |(at, model): (usize, Vec<u8>)| {
            format!(
                "operations[{at}] writes the brush model {}: the map is not the one that the patch was made for, and \
                 may have another model of this number",
                String::from_utf8_lossy(&model)
            )
        };
        models.take(MOST).map(doubt).collect()
    }
}
