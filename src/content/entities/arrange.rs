//! Adding, removing and moving whole entities, and the numbers that they keep meanwhile.

use std::collections::HashSet;
use std::sync::Arc;

use super::arrangement::{Arrangement, Beside};
use super::parse::MAX_ENTITIES;
use super::print::{Style, spaces_before};
use super::{Around, Body, Entities, Node, Own, rule};
use crate::bytes::{index, short};
use crate::{Error, ErrorKind, Result};

// Adding, removing and moving whole entities.

impl<'a> Entities<'a> {
    /// Adds an entity after the last one, with the same spacing, and returns its index.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for pairs that no engine of the dialect could read back, and if a mistake in the text
    /// before it would make the entity part of something else.
    pub fn add<K: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, pairs: impl IntoIterator<Item = (K, V)>) -> Result<usize> {
        let pairs: Vec<(K, V)> = pairs.into_iter().collect();
        let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (key.as_ref(), value.as_ref())).collect();
        self.add_pairs(self.ends(), &pairs)
    }

    /// The first and the last one.
    pub(super) fn ends(&self) -> Option<(usize, usize)> {
        self.len().checked_sub(1).map(|last| (0, last))
    }

    /// Adds an entity after the last one. The ends of the order are given, which need not be those of the list.
    pub(super) fn add_pairs(&mut self, ends: Option<(usize, usize)>, pairs: &[(&[u8], &[u8])]) -> Result<usize> {
        let index = self.len();
        self.check_room(ends.map(|(_, last)| last), 1)?;
        for (key, value) in pairs {
            rule::check_pair(&self.rules, index, key, value)?;
        }
        let style = self.style_of(ends.into_iter().flat_map(|(first, last)| [last, first]));
        let body = Body::Own(Arc::new(Own::new(&style, pairs)));
        rule::check_size(&self.rules, None, &self.view_of(index, &body))?;
        self.add_body(ends, body)?;
        Ok(index)
    }

    /// Puts a body after the last one.
    pub(super) fn add_body(&mut self, ends: Option<(usize, usize)>, body: Body) -> Result<()> {
        let index = self.len();
        match ends {
            Some((first, last)) => {
                let around = Some(Arc::new(self.around_like(last, last == first)));
                self.nodes.push(Node { body, around });
                self.part(last, Some(index));
                self.part(index, None);
            }
            None => self.add_first(body)?,
        }
        Ok(())
    }

    /// Copies an entity directly after itself and returns the index of the copy.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer entities, [`ErrorKind::Refused`] for one without a closing brace.
    pub fn duplicate(&mut self, index: usize) -> Result<usize> {
        self.check_index(index)?;
        self.check_room(Some(index), 1)?;
        let copy = self.copy_of(index, index == 0)?;
        self.nodes.insert(index + 1, copy);
        self.part_copy(index + 1);
        Ok(index + 1)
    }

    /// A copy of an entity, whose place is directly after it.
    pub(super) fn copy_of(&self, index: usize, is_first: bool) -> Result<Node> {
        let mut own = Own::spliced(&self.view(index), &[], &[])?;
        own.origin = None;
        let around = Some(Arc::new(self.around_like(index, is_first)));
        Ok(Node { body: Body::Own(Arc::new(own)), around })
    }

    fn part_copy(&mut self, copy: usize) {
        self.part(copy - 1, Some(copy));
        self.part(copy, (copy + 1 < self.len()).then_some(copy + 1));
    }

    /// Copies entities directly after themselves, in one step.
    ///
    /// # Errors
    /// As [`Entities::duplicate`]; nothing is copied then.
    pub fn duplicate_all(&mut self, indices: &[usize]) -> Result<()> {
        let chosen: HashSet<usize> = indices.iter().copied().collect();
        let mut copies = Vec::with_capacity(chosen.len());
        let mut nodes = Vec::with_capacity(self.len() + chosen.len());
        for index in &chosen {
            self.check_index(*index)?;
            self.check_room(Some(*index), chosen.len())?;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            nodes.push(node.clone());
            if chosen.contains(&index) {
                copies.push(nodes.len());
                nodes.push(self.copy_of(index, index == 0)?);
            }
        }
        self.nodes = nodes;
        copies.into_iter().for_each(|copy| self.part_copy(copy));
        Ok(())
    }

    /// Removes an entity with its line; comments around it stay.
    ///
    /// # Errors
    /// As [`Entities::remove_all`].
    pub fn remove(&mut self, index: usize) -> Result<()> {
        self.remove_all(&[index])
    }

    /// Removes entities, in any order, in one step; comments around them stay.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an index that no entity has, [`ErrorKind::Refused`] if the first entity would no
    /// longer be worldspawn. Nothing is removed then.
    pub fn remove_all(&mut self, indices: &[usize]) -> Result<()> {
        match indices {
            [one] if self.arranged_near(&[*one], |list, near| list.remove(near)) => Ok(()),
            _ => self.arranged(|list| list.remove(indices)),
        }
    }

    /// Moves an entity before another one, both by their present index; to itself it is not an edit.
    ///
    /// # Errors
    /// As [`Entities::move_all_before`].
    pub fn move_before(&mut self, index: usize, target: usize) -> Result<()> {
        if index == target { self.check_index(index) } else { self.move_all_before(&[index], target) }
    }

    /// Moves an entity after another one, both by their present index; to itself it is not an edit.
    ///
    /// # Errors
    /// As [`Entities::move_all_before`].
    pub fn move_after(&mut self, index: usize, target: usize) -> Result<()> {
        if index == target { self.check_index(index) } else { self.move_all_after(&[index], target) }
    }

    /// Moves entities before the target, in the order they have in the text.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an index that no entity has, [`ErrorKind::Argument`] if the target is among those
    /// to move, [`ErrorKind::Refused`] if the first entity would no longer be worldspawn or if a missing closing brace
    /// would make it part of another entity. Nothing is moved then.
    pub fn move_all_before(&mut self, indices: &[usize], target: usize) -> Result<()> {
        match indices {
            [one]
                if self.arranged_near(&[*one, target], |list, near| {
                    list.move_all(&near[..1], Beside::Before(near[1]))
                }) =>
            {
                Ok(())
            }
            _ => self.arranged(|list| list.move_all(indices, Beside::Before(target))),
        }
    }

    /// Moves entities after the target, in the order they have in the text.
    ///
    /// # Errors
    /// As [`Entities::move_all_before`].
    pub fn move_all_after(&mut self, indices: &[usize], target: usize) -> Result<()> {
        match indices {
            [one]
                if self
                    .arranged_near(&[*one, target], |list, near| list.move_all(&near[..1], Beside::After(near[1]))) =>
            {
                Ok(())
            }
            _ => self.arranged(|list| list.move_all(indices, Beside::After(target))),
        }
    }

    /// Brings all entities into another order: entity `i` of the new order is `order[i]` of the old one. The
    /// comments before an entity that moves stay before the next one that does not, or at the end of the text.
    ///
    /// ```
    /// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// let entities = draft.entities()?;
    /// let mut order: Vec<usize> = (0..entities.len()).collect();
    /// order[1..].sort_by_key(|index| entities.get(*index).and_then(|entity| entity.class()));
    /// entities.reorder(&order)?;
    /// assert!(entities.iter().skip(1).is_sorted_by_key(|entity| entity.class()));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the order does not have each index once, [`ErrorKind::Refused`] as
    /// [`Entities::move_all_before`]. Nothing is moved then.
    pub fn reorder(&mut self, order: &[usize]) -> Result<()> {
        self.arranged(|list| list.reorder(order))
    }

    /// Removes or moves the first one of these entities, with a look at those beside them alone, so that many such
    /// edits cost no copies of the whole list. `false`, and no edit, where it cannot be done: `arranged` says why.
    fn arranged_near(
        &mut self,
        places: &[usize],
        arrange: impl FnOnce(&mut Arrangement<'a>, &[usize]) -> Result<()>,
    ) -> bool {
        let len = self.len();
        if places.iter().any(|place| *place >= len) {
            return false;
        }
        // An edit looks at the next one, and it parts the last one of the list from what follows the list.
        let mut near: Vec<usize> = places.iter().flat_map(|at| at.saturating_sub(1)..(at + 3).min(len)).collect();
        near.sort_unstable();
        near.dedup();
        let numbers: Vec<usize> = places.iter().filter_map(|place| near.binary_search(place).ok()).collect();
        let all = std::mem::take(&mut self.nodes);
        let few = Entities { nodes: near.iter().map(|place| all[*place].clone()).collect(), ..self.clone() };
        self.nodes = all;
        let mut list = Arrangement::of(few);
        if arrange(&mut list, &numbers).is_err() {
            return false;
        }
        let (few, order) = list.into_parts();
        let is_whole = near.last().is_some_and(|last| last + 1 == len);
        let known = if is_whole { near.len() } else { near.len() - 1 };
        few.nodes.into_iter().take(known).zip(&near).for_each(|(node, place)| self.nodes[*place] = node);
        self.end = few.end;
        let from = places[0];
        let Some(at) = order.iter().position(|number| *number == numbers[0]) else {
            self.nodes.remove(from);
            return true;
        };
        let before = at.checked_sub(1).map(|before| near[order[before]]);
        let to = before.map_or(0, |before| if before < from { before + 1 } else { before });
        match from < to {
            true => self.nodes[from..=to].rotate_left(1),
            false => self.nodes[to..=from].rotate_right(1),
        }
        true
    }

    fn arranged(&mut self, arrange: impl FnOnce(&mut Arrangement<'a>) -> Result<()>) -> Result<()> {
        let mut list = Arrangement::of(self.clone());
        arrange(&mut list)?;
        *self = list.finish();
        Ok(())
    }

    /// Makes sure that a space follows an entity: Quake II reads `}{` as one word.
    pub(super) fn part(&mut self, index: usize, next: Option<usize>) {
        let (lead, trail) = self.around(&self.nodes[index]);
        let next = match next {
            Some(next) => self.around(&self.nodes[next]).0.first().copied().unwrap_or(b'{'),
            None => self.end_bytes().first().copied().unwrap_or(b' '),
        };
        if trail.is_empty() && next > b' ' {
            let around = Around { lead: lead.to_vec(), trail: self.line_break(index) };
            self.nodes[index].around = Some(Arc::new(around));
        }
    }

    /// The first entity of a text without any: it goes after all that is there.
    fn add_first(&mut self, body: Body) -> Result<()> {
        let mut lead = self.end_bytes().to_vec();
        if lead.last().is_some_and(|&last| last != b'\n') {
            lead.push(b'\n');
        }
        let added = Node { body, around: Some(Arc::new(Around { lead, trail: b"\n".to_vec() })) };
        let next = Entities { nodes: vec![added], end: Some(Arc::default()), ..self.clone() };
        let read = Entities::parse(next.to_bytes(), self.rules)?;
        let is_read = read.len() == 1 && read.view(0).pairs().eq(next.view(0).pairs());
        if !is_read {
            return Err(rule::refused("a quote or comment that nothing closes would swallow the entity".to_owned()));
        }
        *self = next;
        Ok(())
    }

    /// Whether entities may be put after another one.
    pub(super) fn check_room(&self, after: Option<usize>, count: usize) -> Result<()> {
        if self.len() + count > MAX_ENTITIES {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("the map would have more than {MAX_ENTITIES} entities"),
            ));
        }
        match after {
            Some(before) if !self.view(before).is_closed() => {
                Err(rule::not_closed(before, "it would swallow what is put after it"))
            }
            _ => Ok(()),
        }
    }

    /// The spacing around an entity that is put after the one of this index.
    fn around_like(&self, index: usize, is_first: bool) -> Around {
        let (lead, trail) = self.around(&self.nodes[index]);
        let blank = lead.iter().all(|&byte| byte <= b' ');
        let lead = match (!is_first && blank, trail.is_empty()) {
            (true, false) => lead.to_vec(),
            (true, true) if !lead.is_empty() => lead.to_vec(),
            (_, true) => self.line_break(index),
            (false, false) => lead[staying(lead)..].to_vec(),
        };
        Around { lead, trail: trail.to_vec() }
    }

    /// The bytes between the entity of this index and the next one.
    fn line_break(&self, index: usize) -> Vec<u8> {
        let text = self.view(index).bytes();
        match memchr::memchr(b'\n', text) {
            Some(at) if text[..at].ends_with(b"\r") => b"\r\n".to_vec(),
            Some(_) => b"\n".to_vec(),
            None => b" ".to_vec(),
        }
    }

    /// The style of the entity beside this index, or the canonical one.
    pub(super) fn style_near(&self, index: usize) -> Style<'_> {
        let beside = [index.checked_sub(1), index.checked_add(1), Some(0)];
        self.style_of(beside.into_iter().flatten())
    }

    /// The style of the first of these entities that has one, or the canonical one.
    fn style_of(&self, beside: impl IntoIterator<Item = usize>) -> Style<'_> {
        let style = |index: usize| self.get(index).as_ref().and_then(Style::of);
        beside.into_iter().find_map(style).unwrap_or_else(Style::canonical)
    }
}

/// Joins gaps; each of them may end or begin with a word.
pub(super) fn append_parted(left: &mut Vec<u8>, gap: &[u8]) {
    if left.last().is_some_and(|&last| last > b' ') && gap.first().is_some_and(|&first| first > b' ') {
        left.push(b' ');
    }
    left.extend_from_slice(gap);
}

/// How many of the bytes before an entity are not its own indent or space.
pub(super) fn staying(lead: &[u8]) -> usize {
    let spaces = spaces_before(lead);
    let start = lead.len() - spaces;
    match memchr::memrchr(b'\n', &lead[start..]) {
        _ if start == 0 => 0,
        Some(at) => start + at + 1,
        None => lead.len(),
    }
}

// Numbers that entities keep while others are added, removed and moved.

/// The place of an entity that was removed.
const GONE: u32 = u32::MAX;

/// For each entity a number that it keeps.
///
/// Whoever edits [`super::Entities`] says here what was done. Each change takes time linear in the number of entities.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The numbers, in the order of the entities.
    order: Vec<u32>,
    /// The index of the entity of each number.
    places: Vec<u32>,
    /// The numbers before this one were taken from all entities at once.
    oldest: usize,
}

impl Ids {
    /// Gives numbers to all entities if they have none.
    pub(crate) fn fit(&mut self, len: usize) {
        if self.order.len() != len {
            self.clear();
            let first = self.places.len();
            self.order = (first..first + len).map(short).collect();
            self.places.extend((0..len).map(short));
        }
    }

    /// Takes the numbers of all entities; they are not given again.
    pub(crate) fn clear(&mut self) {
        self.order.clear();
        self.places.fill(GONE);
        self.oldest = self.places.len();
    }

    /// The index of an entity, or why it has none.
    pub(crate) fn known(&self, id: u32) -> Result<usize> {
        self.place(id).ok_or_else(|| Ids::gone(self.is_old(id)))
    }

    /// The error of a number whose entity is not there any more; `is_old` if all entities lost their numbers.
    pub(crate) fn gone(is_old: bool) -> Error {
        let message = match is_old {
            true => "an edit replaced the text of all entities: take this one from the map again",
            false => "the entity was removed from the map, so it cannot be used any more",
        };
        Error::new(ErrorKind::NotFound, message)
    }

    /// Whether all entities lost their numbers since this one was given.
    pub(crate) fn is_old(&self, id: u32) -> bool {
        index(id) < self.oldest
    }

    /// The index of an entity; nothing if it was removed.
    pub(crate) fn place(&self, id: u32) -> Option<usize> {
        self.places.get(index(id)).filter(|place| **place != GONE).map(|place| index(*place))
    }

    /// The number of the entity of an index.
    pub(crate) fn at(&self, place: usize) -> Option<u32> {
        self.order.get(place).copied()
    }

    /// The numbers in the order of the entities.
    pub(crate) fn all(&self) -> &[u32] {
        &self.order
    }

    /// An entity was put at this index.
    pub(crate) fn insert(&mut self, place: usize) -> u32 {
        let id = short(self.places.len());
        self.places.push(GONE);
        self.order.insert(place.min(self.order.len()), id);
        self.renumber(place);
        id
    }

    /// The entities of these indices were removed.
    pub(crate) fn remove(&mut self, mut places: Vec<usize>) {
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
    pub(crate) fn shift(&mut self, from: usize, to: usize) {
        if from < self.order.len() && to < self.order.len() {
            let id = self.order.remove(from);
            self.order.insert(to, id);
            self.renumber(from.min(to));
        }
    }

    /// The entities were brought into another order: entity `i` is `order[i]` of the old one.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
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
    use crate::dialect::EntityRules;

    /// Edits with a look at those beside an entity give what edits of the whole list give, and the same errors.
    #[test]
    fn an_edit_of_one_entity_is_that_of_the_list() {
        let world = "{\n'classname' 'worldspawn'\n}\n";
        let texts = [
            "{\n'a' '1'\n}\n// of b\n{'b' '2'}{'c' '3'}\n\n{'d' '4'} // of d\n{'e' '5'}\n{'f' '6'}\n\0",
            "{'a' '1'}{'b' '2'}{'c' '3'}{'d' '4'}{'e' '5'}{'f' '6'}rest",
            "{'a' '1'} x {'b' '2'} y {'c' '3'} z {'d' '4'}\n{'e' '5'}\n{'f' '6' // the end",
        ]
        .map(|text| format!("{world}{text}").replace('\'', "\""));
        let (mut edited, mut refused) = (0, 0);
        for text in &texts {
            for first in [None, Some(2), Some(6)] {
                let mut start = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
                first.into_iter().for_each(|first| drop(start.remove(first)));
                let len = start.len();
                let mut compare = |places: &[usize],
                                   near: &dyn Fn(&mut Entities<'_>) -> Result<()>,
                                   to: Option<Beside>| {
                    let (mut one, mut other) = (start.clone(), start.clone());
                    let done = near(&mut one);
                    let arranged = other.arranged(|list| match to {
                        None => list.remove(places),
                        Some(to) => list.move_all(places, to),
                    });
                    assert_eq!(done.map_err(|error| error.to_string()), arranged.map_err(|error| error.to_string()));
                    assert_eq!(one.to_bytes(), other.to_bytes(), "{text} {places:?}");
                    let is_edited = one.to_bytes() != start.to_bytes();
                    (edited, refused) = (edited + usize::from(is_edited), refused + usize::from(!is_edited));
                };
                for from in 0..=len {
                    compare(&[from], &|entities| entities.remove(from), None);
                    for target in (0..=len).filter(|target| *target != from) {
                        let before = |entities: &mut Entities<'_>| entities.move_before(from, target);
                        compare(&[from], &before, Some(Beside::Before(target)));
                        let after = |entities: &mut Entities<'_>| entities.move_after(from, target);
                        compare(&[from], &after, Some(Beside::After(target)));
                    }
                }
                for index in 0..len {
                    let (mut one, mut other) = (start.clone(), start.clone());
                    let done = one.duplicate(index).map(|copy| assert_eq!(copy, index + 1));
                    assert_eq!(done.is_ok(), other.duplicate_all(&[index]).is_ok());
                    assert_eq!(one.to_bytes(), other.to_bytes());
                }
            }
        }
        assert!(edited > 200 && refused > 100, "{edited} {refused}");
    }

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
