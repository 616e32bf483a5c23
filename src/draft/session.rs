//! The entities of a draft as whoever holds them knows them: by a number that an entity keeps while others are added,
//! removed and moved. Scripts and other languages have such handles.
//!
//! Entities that are removed, copied, moved or added one after the other are an [`Arrangement`]: their indices are not
//! counted again each time. It ends where something asks for an index, or for the draft.

use super::Draft;
use crate::bsp::Bsp;
use crate::bytes::wide;
use crate::content::entities::{Arrangement, Beside, Entities, Entity, EntityMut, Ids};
use crate::content::select::Selector;
use crate::error::Result;

/// The most selectors for which it is known from where on an entity may match.
const MOST_SEARCHES: usize = 8;

/// A draft, and the numbers by which its entities are known.
///
/// ```
/// use bspkit::{Bsp, Session};
/// let mut session = Session::new(Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft());
/// let door = session.first("func_door")?.unwrap();
/// let copy = session.duplicate(door)?;
/// let lights = session.select("light")?;
/// session.remove(&lights)?;
/// session.edit(copy, |entity| entity.set("targetname", "door2"))?;
/// assert_eq!(session.index(copy)?, session.index(door)? + 1);
/// assert!(session.look(lights[0], |_| ()).is_err());
/// assert_eq!(session.finish()?.entities()?.len(), 18);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Session<'a> {
    /// Use [`Session::draft`].
    draft: Draft<'a>,
    is_for_any_engine: bool,
    ids: Ids,
    arrangement: Option<Arrangement<'a>>,
    /// Nothing has asked for an index since the last edit of the order.
    is_changing: bool,
    searches: Vec<Search>,
}

/// What [`Session::first`] has found before.
struct Search {
    text: String,
    selector: Selector,
    /// The number of the first entity that may match; nothing: none does.
    from: Option<u32>,
}

/// A change of the order: what to do with an entity.
#[derive(Clone, Copy)]
enum Change {
    Remove,
    Duplicate,
    /// Beside another one: after it, or before it.
    Move(u32, bool),
}

impl<'a> Session<'a> {
    /// A session on a draft.
    pub fn new(draft: Draft<'a>) -> Self {
        Session {
            draft,
            is_for_any_engine: false,
            ids: Ids::default(),
            arrangement: None,
            is_changing: false,
            searches: Vec::new(),
        }
    }

    /// Refuses an edit of an entity only if no engine could read it back ([`Entities::for_any_engine`]).
    #[must_use]
    pub fn for_any_engine(mut self, any: bool) -> Self {
        self.is_for_any_engine = any;
        self
    }

    /// The map as it was opened.
    pub fn bsp(&self) -> &Bsp<'a> {
        self.draft.bsp()
    }

    /// The draft, with all edits of entities. Whoever changes the number or the order of entities by it calls
    /// [`Self::forget`].
    ///
    /// # Errors
    /// Those of a text of entities that cannot be read.
    pub fn draft(&mut self) -> Result<&mut Draft<'a>> {
        self.settle()?;
        self.searches.clear();
        Ok(&mut self.draft)
    }

    /// The draft, with all edits.
    ///
    /// # Errors
    /// As [`Self::draft`].
    pub fn finish(mut self) -> Result<Draft<'a>> {
        self.settle()?;
        Ok(self.draft)
    }

    /// The entities, for edits of pairs.
    ///
    /// # Errors
    /// As [`Self::draft`].
    pub fn entities(&mut self) -> Result<&mut Entities<'a>> {
        self.searches.clear();
        self.settled().map(|(entities, _)| entities)
    }

    /// All numbers become invalid: the text was replaced.
    pub fn forget(&mut self) {
        self.arrangement = None;
        self.searches.clear();
        self.ids.clear();
    }

    /// The numbers of all entities, in their order.
    ///
    /// # Errors
    /// As [`Self::draft`].
    pub fn numbers(&mut self) -> Result<&[u32]> {
        self.settled().map(|(_, ids)| ids.all())
    }

    /// Whether an entity is still there.
    ///
    /// # Errors
    /// As [`Self::draft`].
    pub fn has(&mut self, number: u32) -> Result<bool> {
        if self.arrangement.is_none() {
            self.listed()?;
        }
        Ok(self.ids.place(number).is_some())
    }

    /// As [`Self::has`], for an iteration: it cannot go on if the text of all entities was replaced since it began.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] then, besides those of [`Self::draft`].
    pub fn has_still(&mut self, number: u32) -> Result<bool> {
        let is_there = self.has(number)?;
        if self.ids.is_old(number) { Err(Ids::gone(true)) } else { Ok(is_there) }
    }

    /// The index of an entity.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if it was removed, besides those of [`Self::draft`].
    pub fn index(&mut self, number: u32) -> Result<usize> {
        self.settled()?.1.known(number)
    }

    /// Looks at an entity.
    ///
    /// # Errors
    /// As [`Self::index`].
    pub fn look<T>(&mut self, number: u32, work: impl FnOnce(&Entity<'_>) -> T) -> Result<T> {
        let (list, place) = self.list_of(number)?;
        list.get(place).map(|entity| work(&entity)).ok_or_else(|| Ids::gone(false))
    }

    /// Edits the pairs of an entity. `work` is called a second time if it fails where the index is not counted yet, so
    /// that its error says the index.
    ///
    /// # Errors
    /// As [`Self::index`], and those of `work`.
    pub fn edit<T>(&mut self, number: u32, work: impl Fn(&mut EntityMut<'_, 'a>) -> Result<T>) -> Result<T> {
        // One without pairs takes its style from those beside it, and an error says the index.
        let is_styled = self.look(number, |entity| entity.pairs().next().is_some())?;
        let attempt = |session: &mut Self| {
            let (list, place) = session.list_of(number)?;
            list.get_mut(place).and_then(|mut entity| work(&mut entity))
        };
        if !is_styled {
            self.settle()?;
        }
        let mut done = attempt(self);
        if done.is_err() && self.arrangement.is_some() {
            self.settle()?;
            done = attempt(self);
        }
        self.may_match(number);
        done
    }

    /// The entities that a selector matches, in their order.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] for a selector that cannot be read, besides those of [`Self::draft`].
    pub fn select(&mut self, selector: &str) -> Result<Vec<u32>> {
        let selector = Selector::parse(selector)?;
        let (entities, ids) = self.settled()?;
        Ok(entities.matching(&selector).into_iter().filter_map(|index| ids.at(index)).collect())
    }

    /// The first entity that a selector matches. Entities that did not match before are passed over.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn first(&mut self, selector: &str) -> Result<Option<u32>> {
        let mut search = match self.searches.iter().position(|search| search.text == selector) {
            Some(known) => self.searches.remove(known),
            None => self.search(selector)?,
        };
        while let Some(number) = search.from {
            if self.look(number, |entity| search.selector.matches(entity))? {
                break;
            }
            search.from = self.next(number);
        }
        let found = search.from;
        if search.selector.is_of_pairs() {
            self.searches.truncate(MOST_SEARCHES - 1);
            self.searches.insert(0, search);
        }
        Ok(found)
    }

    /// Adds an entity with these pairs after the last one.
    ///
    /// # Errors
    /// As [`Entities::add`].
    pub fn add(&mut self, pairs: &[(impl AsRef<[u8]>, impl AsRef<[u8]>)]) -> Result<u32> {
        // Whoever adds many has them at the end, where it costs nothing to count them.
        let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (key.as_ref(), value.as_ref())).collect();
        let added = self.arrangement.as_mut().and_then(|arrangement| arrangement.add(&pairs).ok());
        let number = match added {
            Some(place) => self.ids.insert(place),
            None => {
                let (entities, ids) = self.settled()?;
                let index = entities.add(pairs)?;
                ids.insert(index)
            }
        };
        self.may_match(number);
        Ok(number)
    }

    /// Copies an entity directly after itself; returns the number of the copy.
    ///
    /// # Errors
    /// As [`Self::index`] and [`Entities::duplicate`].
    pub fn duplicate(&mut self, number: u32) -> Result<u32> {
        self.rearrange(number, Change::Duplicate)?.ok_or_else(|| Ids::gone(false))
    }

    /// Moves an entity directly before another one, or after it.
    ///
    /// # Errors
    /// As [`Self::index`] and [`Entities::move_before`].
    pub fn shift(&mut self, number: u32, other: u32, is_after: bool) -> Result<()> {
        self.rearrange(number, Change::Move(other, is_after)).map(drop)
    }

    /// Removes entities in one step, and returns how many of them were there.
    ///
    /// # Errors
    /// As [`Entities::remove_all`].
    pub fn remove(&mut self, numbers: &[u32]) -> Result<usize> {
        if let [one] = *numbers {
            return match self.has(one)? {
                true => self.rearrange(one, Change::Remove).map(|_| 1),
                false => Ok(0),
            };
        }
        self.searches.clear();
        let (entities, ids) = self.settled()?;
        let mut places: Vec<usize> = numbers.iter().filter_map(|number| ids.place(*number)).collect();
        places.sort_unstable();
        places.dedup();
        entities.remove_all(&places)?;
        let count = places.len();
        ids.remove(places);
        Ok(count)
    }

    /// Brings entities into this order, before all others.
    ///
    /// # Errors
    /// As [`Self::index`] and [`Entities::reorder`].
    pub fn reorder(&mut self, numbers: &[u32]) -> Result<()> {
        self.searches.clear();
        let (entities, ids) = self.settled()?;
        let place = |number: &u32| ids.known(*number);
        let mut order = numbers.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let mut is_named = vec![false; entities.len()];
        order.iter().for_each(|place| is_named[*place] = true);
        order.extend((0..entities.len()).filter(|place| !is_named[*place]));
        entities.reorder(&order)?;
        ids.reorder(&order);
        Ok(())
    }

    /// The entities by their indices, with their numbers.
    fn settled(&mut self) -> Result<(&mut Entities<'a>, &mut Ids)> {
        self.settle()?;
        self.listed()
    }

    /// The same, while there is no arrangement.
    fn listed(&mut self) -> Result<(&mut Entities<'a>, &mut Ids)> {
        let entities = self.draft.entities()?;
        if self.is_for_any_engine {
            entities.for_any_engine();
        }
        self.ids.fit(entities.len());
        Ok((entities, &mut self.ids))
    }

    fn settle(&mut self) -> Result<()> {
        self.is_changing = false;
        if let Some(arrangement) = self.arrangement.take() {
            let numbers = arrangement.numbers();
            *self.draft.entities()? = arrangement.finish();
            self.ids.reorder(&numbers);
        }
        Ok(())
    }

    /// The list that has an entity, and its place there, which need not be its index.
    fn list_of(&mut self, number: u32) -> Result<(&mut Entities<'a>, usize)> {
        if self.arrangement.is_none() {
            self.listed()?;
        }
        let place = self.ids.known(number)?;
        Ok(match &mut self.arrangement {
            Some(arrangement) => (arrangement.by_number(), place),
            None => (self.draft.entities()?, place),
        })
    }

    fn place_of(&mut self, number: u32) -> Result<usize> {
        self.list_of(number).map(|(_, place)| place)
    }

    /// Changes the order, and returns the number of a new entity.
    fn rearrange(&mut self, number: u32, change: Change) -> Result<Option<u32>> {
        let next = self.next(number);
        let new = match self.try_rearrange(number, change)? {
            Some(new) => new,
            None => self.rearrange_settled(number, change)?,
        };
        self.is_changing = true;
        match change {
            Change::Duplicate => new.into_iter().for_each(|new| self.may_match(new)),
            Change::Remove | Change::Move(..) => {
                for search in &mut self.searches {
                    search.from = if search.from == Some(number) { next } else { search.from };
                }
                self.may_match(number);
            }
        }
        Ok(new)
    }

    /// The change in the arrangement; nothing if it may be refused.
    fn try_rearrange(&mut self, number: u32, change: Change) -> Result<Option<Option<u32>>> {
        let is_changing = self.is_changing;
        let place = self.place_of(number)?;
        let target = match change {
            Change::Move(other, _) => Some(self.place_of(other)?),
            _ => None,
        };
        if self.arrangement.is_none() && is_changing {
            self.arrangement = Some(Arrangement::of(self.draft.entities()?.clone()));
        }
        let Some(arrangement) = &mut self.arrangement else { return Ok(None) };
        Ok(match (change, target) {
            (Change::Remove, _) => arrangement.try_remove(place).then(|| {
                self.ids.vanish(number);
                None
            }),
            (Change::Duplicate, _) => arrangement.try_duplicate(place).map(|copy| Some(self.ids.insert(copy))),
            (Change::Move(_, true), Some(target)) => arrangement.try_move(place, Beside::After(target)).then_some(None),
            (Change::Move(..), Some(target)) => arrangement.try_move(place, Beside::Before(target)).then_some(None),
            (Change::Move(..), None) => None,
        })
    }

    /// The change in the list, with the indices of all that follow.
    fn rearrange_settled(&mut self, number: u32, change: Change) -> Result<Option<u32>> {
        let (entities, ids) = self.settled()?;
        let from = ids.known(number)?;
        match change {
            Change::Remove => {
                entities.remove(from)?;
                ids.remove(vec![from]);
                Ok(None)
            }
            Change::Duplicate => entities.duplicate(from).map(|copy| Some(ids.insert(copy))),
            Change::Move(other, is_after) => {
                let target = ids.known(other)?;
                match is_after {
                    true => entities.move_after(from, target)?,
                    false => entities.move_before(from, target)?,
                }
                // The target is one further to the front if the entity was before it.
                let target = if from < target { target - 1 } else { target };
                if number != other {
                    ids.shift(from, target + usize::from(is_after));
                }
                Ok(None)
            }
        }
    }

    /// The entity after another one.
    fn next(&self, number: u32) -> Option<u32> {
        let place = self.ids.place(number)?;
        match &self.arrangement {
            Some(arrangement) => self.ids.at(arrangement.after(place)?),
            None => self.ids.at(place + 1),
        }
    }

    /// A number that is larger for entities further to the end.
    fn rank(&self, number: u32) -> Option<u64> {
        let place = self.ids.place(number)?;
        Some(match &self.arrangement {
            Some(arrangement) => arrangement.rank(place),
            None => wide(place),
        })
    }

    /// An entity was edited: selectors may match that did not before.
    fn may_match(&mut self, number: u32) {
        let Some(rank) = self.rank(number) else { return };
        let mut searches = std::mem::take(&mut self.searches);
        for search in &mut searches {
            if search.from.and_then(|from| self.rank(from)).is_none_or(|from| rank < from) {
                search.from = Some(number);
            }
        }
        self.searches = searches;
    }

    /// A search from the first entity on.
    fn search(&mut self, text: &str) -> Result<Search> {
        let selector = Selector::parse(text)?;
        if self.arrangement.is_none() || !selector.is_of_pairs() {
            self.settled()?;
        }
        let first = self.arrangement.as_ref().map_or(Some(0), Arrangement::first);
        let from = first.and_then(|first| self.ids.at(first));
        Ok(Search { text: text.to_owned(), selector, from })
    }
}
