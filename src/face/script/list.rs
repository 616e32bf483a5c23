//! The entities of a script, with edits of single ones in time by what they move.
//!
//! Entities that are removed, copied, moved or added one after the other are an [`Arrangement`]: their indices are not
//! counted again each time. It ends where something asks for an index, or for the draft.

use super::entities::removed;
use super::map::State;
use crate::content::entities::{Arrangement, Beside, Entities, Entity, EntityMut, Ids};
use crate::content::select::Selector;
use crate::{Draft, Result};

/// The most selectors for which it is known from where on an entity may match.
const MOST_SEARCHES: usize = 8;

/// The order of entities while it changes, and what is known of it.
#[derive(Default)]
pub(super) struct Order {
    arrangement: Option<Arrangement<'static>>,
    /// Nothing has asked for an index since the last edit of the order.
    is_changing: bool,
    searches: Vec<Search>,
}

/// What [`State::first`] has found before.
struct Search {
    text: String,
    selector: Selector,
    /// The handle's number of the first entity that may match; nothing: none does.
    from: Option<u32>,
}

/// A change of the order: what to do, by indices or by numbers of the arrangement.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Remove,
    Duplicate,
    Move(u32, bool),
}

impl State {
    /// The draft, with all edits of entities; nothing is known of the entities after that.
    pub(super) fn draft(&mut self) -> Result<&mut Draft<'static>> {
        self.settle_order()?;
        self.order.searches.clear();
        Ok(&mut self.draft)
    }

    /// The entities by their indices, with the numbers by which handles know them.
    pub(super) fn entities(&mut self) -> Result<(&mut Entities<'static>, &mut Ids)> {
        self.settle_order()?;
        self.settled()
    }

    /// As [`State::entities`], while there is no arrangement.
    fn settled(&mut self) -> Result<(&mut Entities<'static>, &mut Ids)> {
        let entities = self.draft.entities()?;
        if self.is_forced {
            entities.for_any_engine();
        }
        self.ids.fit(entities.len());
        Ok((entities, &mut self.ids))
    }

    /// The same, for an edit of many at once.
    pub(super) fn entities_mut(&mut self) -> Result<(&mut Entities<'static>, &mut Ids)> {
        self.order.searches.clear();
        self.entities()
    }

    fn settle_order(&mut self) -> Result<()> {
        self.order.is_changing = false;
        if let Some(arrangement) = self.order.arrangement.take() {
            let numbers = arrangement.numbers();
            *self.draft.entities()? = arrangement.finish();
            self.ids.reorder(&numbers);
        }
        Ok(())
    }

    /// Makes all handles of entities invalid: the text was replaced.
    pub(super) fn forget_entities(&mut self) {
        self.order = Order::default();
        self.ids.clear();
    }

    /// Whether an entity is still there.
    pub(super) fn is_present(&mut self, id: u32) -> Result<bool> {
        if self.order.arrangement.is_none() {
            self.settled()?;
        }
        Ok(self.ids.place(id).is_some())
    }

    /// How many there are.
    pub(super) fn count(&mut self) -> Result<usize> {
        self.entities().map(|(entities, _)| entities.len())
    }

    /// The list that has an entity, and its place there, which need not be its index.
    fn list_of(&mut self, id: u32) -> Result<(&mut Entities<'static>, usize)> {
        if self.order.arrangement.is_none() {
            self.settled()?;
        }
        let place = self.ids.place(id).ok_or_else(removed)?;
        Ok(match &mut self.order.arrangement {
            Some(arrangement) => (arrangement.by_number(), place),
            None => (self.draft.entities()?, place),
        })
    }

    /// Looks at the pairs of an entity.
    pub(super) fn look_at<T>(&mut self, id: u32, work: impl FnOnce(&Entity<'_>) -> T) -> Result<T> {
        let (list, place) = self.list_of(id)?;
        list.get(place).map(|entity| work(&entity)).ok_or_else(removed)
    }

    /// Edits the pairs of an entity.
    pub(super) fn edit_one<T>(&mut self, id: u32, work: impl Fn(&mut EntityMut<'_, '_>) -> Result<T>) -> Result<T> {
        // One without pairs takes its style from those beside it, and an error says the index.
        let is_styled = self.look_at(id, |entity| entity.pairs().next().is_some())?;
        let attempt = |state: &mut Self| {
            let (list, place) = state.list_of(id)?;
            list.get_mut(place).and_then(|mut entity| work(&mut entity))
        };
        if !is_styled {
            self.settle_order()?;
        }
        let mut done = attempt(self);
        if done.is_err() && self.order.arrangement.is_some() {
            self.settle_order()?;
            done = attempt(self);
        }
        self.may_match(id);
        done
    }

    /// Changes the order, and returns the number of a new entity.
    pub(super) fn rearrange(&mut self, id: u32, change: Change) -> Result<Option<u32>> {
        let next = self.next(id);
        let new = match self.try_rearrange(id, change)? {
            Some(new) => new,
            None => self.rearrange_settled(id, change)?,
        };
        self.order.is_changing = true;
        match change {
            Change::Duplicate => new.into_iter().for_each(|new| self.may_match(new)),
            Change::Remove | Change::Move(..) => {
                for search in &mut self.order.searches {
                    search.from = if search.from == Some(id) { next } else { search.from };
                }
                self.may_match(id);
            }
        }
        Ok(new)
    }

    /// The change in the arrangement; nothing if it may be refused.
    fn try_rearrange(&mut self, id: u32, change: Change) -> Result<Option<Option<u32>>> {
        let is_changing = self.order.is_changing;
        let (number, target) = (
            self.place_of(id)?,
            match change {
                Change::Move(other, _) => Some(self.place_of(other)?),
                _ => None,
            },
        );
        if self.order.arrangement.is_none() && is_changing {
            self.order.arrangement = Some(Arrangement::of(self.draft.entities()?.clone()));
        }
        let Some(arrangement) = &mut self.order.arrangement else { return Ok(None) };
        Ok(match (change, target) {
            (Change::Remove, _) => arrangement.try_remove(number).then(|| {
                self.ids.vanish(id);
                None
            }),
            (Change::Duplicate, _) => arrangement.try_duplicate(number).map(|copy| Some(self.ids.insert(copy))),
            (Change::Move(_, true), Some(target)) => {
                arrangement.try_move(number, Beside::After(target)).then_some(None)
            }
            (Change::Move(..), Some(target)) => arrangement.try_move(number, Beside::Before(target)).then_some(None),
            (Change::Move(..), None) => None,
        })
    }

    /// The change in the list, with the indices of all that follow.
    fn rearrange_settled(&mut self, id: u32, change: Change) -> Result<Option<u32>> {
        let (entities, ids) = self.entities()?;
        let place = |ids: &Ids, id| ids.place(id).ok_or_else(removed);
        let from = place(ids, id)?;
        match change {
            Change::Remove => {
                entities.remove(from)?;
                ids.remove(vec![from]);
                Ok(None)
            }
            Change::Duplicate => entities.duplicate(from).map(|copy| Some(ids.insert(copy))),
            Change::Move(other, is_after) => {
                let target = place(ids, other)?;
                match is_after {
                    true => entities.move_after(from, target)?,
                    false => entities.move_before(from, target)?,
                }
                // The target is one further to the front if the entity was before it.
                let target = if from < target { target - 1 } else { target };
                if id != other {
                    ids.shift(from, target + usize::from(is_after));
                }
                Ok(None)
            }
        }
    }

    /// Adds an entity after the last one.
    pub(super) fn add(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Result<u32> {
        // A script that adds many has them at the end, where it costs nothing to count them.
        let few: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let added = self.order.arrangement.as_mut().and_then(|arrangement| arrangement.add(&few).ok());
        let id = match added {
            Some(number) => self.ids.insert(number),
            None => {
                let (entities, ids) = self.entities()?;
                let index = entities.add(few)?;
                ids.insert(index)
            }
        };
        self.may_match(id);
        Ok(id)
    }

    fn place_of(&mut self, id: u32) -> Result<usize> {
        self.list_of(id).map(|(_, place)| place)
    }

    /// The number of the entity after another one.
    fn next(&self, id: u32) -> Option<u32> {
        let place = self.ids.place(id)?;
        match &self.order.arrangement {
            Some(arrangement) => self.ids.at(arrangement.after(place)?),
            None => self.ids.at(place + 1),
        }
    }

    /// A number that is larger for entities further to the end.
    fn rank(&self, id: u32) -> Option<u64> {
        let place = self.ids.place(id)?;
        Some(match &self.order.arrangement {
            Some(arrangement) => arrangement.rank(place),
            None => crate::bytes::wide(place),
        })
    }

    /// An entity was edited: selectors may match that did not before.
    fn may_match(&mut self, id: u32) {
        let Some(rank) = self.rank(id) else { return };
        let mut searches = std::mem::take(&mut self.order.searches);
        for search in &mut searches {
            if search.from.and_then(|from| self.rank(from)).is_none_or(|from| rank < from) {
                search.from = Some(id);
            }
        }
        self.order.searches = searches;
    }

    /// The first entity that a selector matches. Entities that did not match before are passed over.
    pub(super) fn first(&mut self, text: &str) -> Result<Option<u32>> {
        let mut search = match self.order.searches.iter().position(|search| search.text == text) {
            Some(known) => self.order.searches.remove(known),
            None => self.search(text)?,
        };
        while let Some(id) = search.from {
            if self.look_at(id, |entity| search.selector.matches(entity))? {
                break;
            }
            search.from = self.next(id);
        }
        let found = search.from;
        if search.selector.is_of_pairs() {
            self.order.searches.truncate(MOST_SEARCHES - 1);
            self.order.searches.insert(0, search);
        }
        Ok(found)
    }

    /// A search from the first entity on.
    fn search(&mut self, text: &str) -> Result<Search> {
        let selector = Selector::parse(text)?;
        if self.order.arrangement.is_none() || !selector.is_of_pairs() {
            self.entities()?;
        }
        let first = self.order.arrangement.as_ref().map_or(Some(0), Arrangement::first);
        let from = first.and_then(|first| self.ids.at(first));
        Ok(Search { text: text.to_owned(), selector, from })
    }
}
