//! Numbers that entities keep while others are added, removed and moved.

use crate::bytes::{index, short};

/// The place of an entity that was removed.
const GONE: u32 = u32::MAX;

/// For each entity a number that it keeps. Handles of entities, in scripts and in other languages, are such numbers.
///
/// Whoever edits [`super::Entities`] says here what was done. Each change takes time linear in the number of entities.
///
/// ```
/// use bspkit::content::entities::Ids;
/// let mut ids = Ids::default();
/// ids.fit(3); // a map with three entities
/// let last = ids.at(2).unwrap();
/// ids.remove(vec![0]);
/// assert_eq!(ids.place(last), Some(1));
/// ```
#[derive(Debug, Default)]
pub struct Ids {
    /// The numbers, in the order of the entities.
    order: Vec<u32>,
    /// The index of the entity of each number.
    places: Vec<u32>,
}

impl Ids {
    /// Gives numbers to all entities if they have none.
    pub fn fit(&mut self, len: usize) {
        if self.order.len() != len {
            self.clear();
            let first = self.places.len();
            self.order = (first..first + len).map(short).collect();
            self.places.extend((0..len).map(short));
        }
    }

    /// Takes the numbers of all entities; they are not given again.
    pub fn clear(&mut self) {
        self.order.clear();
        self.places.fill(GONE);
    }

    /// The index of an entity; nothing if it was removed.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.places.get(index(id)).filter(|place| **place != GONE).map(|place| index(*place))
    }

    /// The number of the entity of an index.
    pub fn at(&self, place: usize) -> Option<u32> {
        self.order.get(place).copied()
    }

    /// The numbers in the order of the entities.
    pub fn all(&self) -> &[u32] {
        &self.order
    }

    /// An entity was put at this index.
    pub fn insert(&mut self, place: usize) -> u32 {
        let id = short(self.places.len());
        self.places.push(GONE);
        self.order.insert(place.min(self.order.len()), id);
        self.renumber(place);
        id
    }

    /// The entities of these indices were removed.
    pub fn remove(&mut self, mut places: Vec<usize>) {
        places.sort_unstable();
        for place in &places {
            if let Some(id) = self.at(*place) {
                self.places[index(id)] = GONE;
            }
        }
        let first = places.first().copied().unwrap_or(self.order.len());
        match places[..] {
            [one] if one < self.order.len() => drop(self.order.remove(one)),
            _ => {
                let mut at = 0;
                self.order.retain(|_| {
                    at += 1;
                    places.binary_search(&(at - 1)).is_err()
                });
            }
        }
        self.renumber(first);
    }

    /// An entity was removed, and those after it keep their indices until [`Ids::reorder`].
    pub(crate) fn vanish(&mut self, id: u32) {
        if let Some(place) = self.places.get_mut(index(id)) {
            *place = GONE;
        }
    }

    /// The entity of one index was moved, and has the other now.
    pub fn shift(&mut self, from: usize, to: usize) {
        if from < self.order.len() && to < self.order.len() {
            let id = self.order.remove(from);
            self.order.insert(to, id);
            self.renumber(from.min(to));
        }
    }

    /// The entities were brought into another order: entity `i` is `order[i]` of the old one.
    pub fn reorder(&mut self, order: &[usize]) {
        self.order = order.iter().filter_map(|place| self.at(*place)).collect();
        self.renumber(0);
    }

    fn renumber(&mut self, from: usize) {
        for (place, id) in self.order.iter().enumerate().skip(from) {
            self.places[index(*id)] = short(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_entities() {
        let mut ids = Ids::default();
        ids.fit(5);
        let third = ids.at(3).unwrap();
        ids.remove(vec![1, 0]);
        assert_eq!((ids.place(0), ids.place(1), ids.place(third)), (None, None, Some(1)));
        let new = ids.insert(1);
        assert_eq!((ids.place(new), ids.place(third)), (Some(1), Some(2)));
        ids.shift(2, 0);
        assert_eq!((ids.place(third), ids.place(2), ids.place(new)), (Some(0), Some(1), Some(2)));
        ids.reorder(&[3, 0, 2, 1]);
        assert_eq!((ids.place(third), ids.place(2), ids.place(new), ids.at(0)), (Some(1), Some(3), Some(2), Some(4)));
        ids.fit(4);
        assert_eq!(ids.place(third), Some(1));
        ids.clear();
        ids.fit(4);
        assert_eq!((ids.place(third), ids.at(0)), (None, Some(6)));
    }
}
