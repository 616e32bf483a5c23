//! Numbers that a patch writes and that mean something else in another map: those of brush models.

use bspkit::content::entities::{Entities, Entity};
use bspkit::dialect::Role;
use bspkit::links::stars;
use bspkit::{Bsp, Result};

use super::{Change, Located, Operation, Patch};

/// The most doubts that are listed.
const MOST: usize = 20;

impl Operation {
    /// The numbers of brush models that it writes, under any key.
    fn models(&self, entities: &Entities<'_>) -> Vec<i64> {
        let of_text = |text: &[u8]| -> Vec<i64> {
            let Ok(read) = Entities::parse(text.to_vec(), *entities.rules()) else { return Vec::new() };
            let values = |entity: Entity<'_>| entity.pairs().flat_map(|pair| stars(pair.value)).collect::<Vec<_>>();
            read.iter().flat_map(values).collect()
        };
        match self {
            Operation::Add { pairs, .. } => pairs.iter().flat_map(|(_, value)| stars(value)).collect(),
            Operation::Edit { changes, .. } => {
                let values = changes.iter().filter_map(|change| match change {
                    Change::Set { value, .. } | Change::Add { value, .. } => Some(value),
                    _ => None,
                });
                values.flat_map(|value| stars(value)).collect()
            }
            Operation::Replace { text, .. } | Operation::AddText { text, .. } | Operation::Text { text, .. } => {
                of_text(text)
            }
            _ => Vec::new(),
        }
    }
}

impl Patch {
    /// The operations that write numbers of brush models, and these.
    fn models<'p>(&'p self, entities: &'p Entities<'_>) -> impl Iterator<Item = (usize, i64)> + 'p {
        let operations = self.operations.iter().enumerate();
        operations.flat_map(|(at, operation)| operation.models(entities).into_iter().map(move |model| (at, model)))
    }

    /// What the patch between two maps says of brush models that are others in the two: their numbers are those of the
    /// new map, and a patch changes no models.
    ///
    /// # Errors
    /// As [`Bsp::entities`].
    pub fn other_models(&self, old: &Bsp<'_>, new: &Bsp<'_>) -> Result<Vec<String>> {
        let is_other = |model: i64| {
            let record = |map: &Bsp<'_>| {
                let slot = map.role(Role::Models)?;
                let (bytes, size) = (map.little_endian(slot.id).ok()?, map.row(slot).ok()?.record()?.size);
                let start = usize::try_from(model).ok()?.checked_mul(size)?;
                bytes.get(start..start.checked_add(size)?).map(<[u8]>::to_vec)
            };
            record(old) != record(new)
        };
        let text = old.entities()?;
        let others = self.models(&text).filter(|(_, model)| is_other(*model));
        let doubt = |(at, model): (usize, i64)| {
            format!("operations[{at}] writes the brush model *{model}, which is another one in the new map, or none")
        };
        Ok(others.take(MOST).map(doubt).collect())
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
        let doubt = |(at, model): (usize, i64)| {
            format!(
                "operations[{at}] writes the brush model *{model}: the map is not the one that the patch was made for, \
                 and may have another model of this number"
            )
        };
        self.patch.models(self.entities).take(MOST).map(doubt).collect()
    }
}
