//! The entities of a map in scripts: the list, with edits of single ones in time by what they move, and handles.

use rhai::{Array, Dynamic, ImmutableString, Map as Object};

use super::api::{Api, Res, bounded_string, wrong};
use super::values::{bytes_of, kind, number_in, shown, signed, value_of};
use super::{Map, State};
use bspkit::content::entities::{
    Arrangement, Beside, Entities, Entity as EntitiesEntity, Entity as Found, EntityMut, Ids,
};
use bspkit::content::select::Selector;
use bspkit::{Draft, Error, ErrorKind, Result};

// The entities of a map: the list, and handles of its entities.

/// The list of entities.
#[derive(Clone)]
pub(super) struct List(pub(super) Map);

/// An entity: it stays the same one while others are added, removed and moved.
#[derive(Clone)]
pub(super) struct Entity {
    pub(super) map: Map,
    id: u32,
}

pub(super) fn removed() -> Error {
    Error::new(ErrorKind::NotFound, "the entity was removed from the map, so it cannot be used any more")
}

impl Entity {
    /// Looks at the entity.
    pub(super) fn look<T>(&self, work: impl FnOnce(&Found<'_>) -> T) -> Res<T> {
        self.map.look(|state| state.look_at(self.id, work))
    }

    /// Edits the entity.
    pub(super) fn edit<T>(&self, work: impl Fn(&mut EntityMut<'_, '_>) -> Result<T>) -> Res<T> {
        self.map.edit(|state| state.edit_one(self.id, work))
    }

    /// The bytes of the first value of a key.
    pub(super) fn value(&self, key: &str) -> Res<Option<Vec<u8>>> {
        self.look(|entity| entity.get(bytes_of(key)).map(<[u8]>::to_vec))
    }

    fn get(&mut self, key: &str) -> Res<Dynamic> {
        self.look(|entity| {
            let value = match key.contains('\\') {
                true => entity.get(bytes_of(key)),
                false => entity.get(key),
            };
            value.map_or(Dynamic::UNIT, |value| shown(value).into())
        })
    }

    fn set(&mut self, key: &str, value: Dynamic) -> Res<()> {
        let value = value_of(&value)?;
        self.edit(|entity| entity.set(bytes_of(key), &value))
    }

    /// The index among the entities; an error if it was removed.
    pub(super) fn index(&self) -> Res<usize> {
        self.map.look(|state| state.entities()?.1.place(self.id).ok_or_else(removed))
    }

    fn exists(&mut self) -> Res<bool> {
        self.map.look(|state| state.is_present(self.id))
    }

    fn pairs(&self) -> Res<Vec<(Vec<u8>, Vec<u8>)>> {
        self.look(|entity| entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect())
    }

    /// Removes the entity.
    fn remove(&mut self) -> Res<()> {
        // One that was removed before is no error, as for the list.
        self.map.edit(|state| match state.is_present(self.id)? {
            true => state.rearrange(self.id, Change::Remove).map(drop),
            false => Ok(()),
        })
    }

    pub(super) fn is_same(&self, other: &Entity) -> bool {
        self.id == other.id && self.map.is_same(&other.map)
    }

    fn shift(&mut self, other: &Entity, is_after: bool) -> Res<()> {
        if !self.map.is_same(&other.map) {
            return Err(wrong("the two entities are in different maps"));
        }
        self.map.edit(|state| state.rearrange(self.id, Change::Move(other.id, is_after)).map(drop))
    }

    fn duplicate(&mut self) -> Res<Entity> {
        let id = self.map.edit(|state| state.rearrange(self.id, Change::Duplicate)?.ok_or_else(removed))?;
        Ok(Entity { map: self.map.clone(), id })
    }
}

impl List {
    fn len(&self) -> Res<i64> {
        let len = self.0.look(State::count)?;
        Ok(i64::try_from(len).unwrap_or(i64::MAX))
    }

    /// The entity of an index; a negative one counts from the end.
    fn at(&mut self, index: i64) -> Res<Entity> {
        let id = self.0.look(|state| {
            let (entities, ids) = state.entities()?;
            let len = i64::try_from(entities.len()).unwrap_or(i64::MAX);
            let place = usize::try_from(if index < 0 { index.saturating_add(len) } else { index }).ok();
            place.and_then(|place| ids.at(place)).ok_or_else(|| {
                let message = format!("there is no entity {index}: the map has {len}");
                Error::new(ErrorKind::NotFound, message)
            })
        })?;
        Ok(self.entity(id))
    }

    fn entity(&self, id: u32) -> Entity {
        Entity { map: self.0.clone(), id }
    }

    /// The entities that a selector matches, in their order.
    fn select(&self, selector: &str) -> Res<Vec<Entity>> {
        let ids: Vec<u32> = self.0.look(|state| {
            let selector = Selector::parse(selector)?;
            let (entities, ids) = state.entities()?;
            Ok(entities.matching(&selector).into_iter().filter_map(|index| ids.at(index)).collect())
        })?;
        Ok(ids.into_iter().map(|id| self.entity(id)).collect())
    }

    /// All entities as they are now. Those that are removed before their turn are left out.
    fn iter(self) -> Res<impl Iterator<Item = Res<Dynamic>>> {
        let all = self.0.look(|state| Ok(state.entities()?.1.all().to_vec()))?;
        let present = move |id: u32| match self.0.look(|state| state.is_present(id)) {
            Ok(true) => Some(Ok(Dynamic::from(self.entity(id)))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        Ok(all.into_iter().filter_map(present))
    }

    /// Adds an entity with these pairs after the last one.
    fn add(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Res<Entity> {
        let id = self.0.edit(|state| state.add(pairs))?;
        Ok(self.entity(id))
    }

    /// Adds an entity before the one of an index.
    fn insert(&mut self, index: i64, pairs: &[(Vec<u8>, Vec<u8>)]) -> Res<Entity> {
        let len = self.len()?;
        if !(0..=len).contains(&index) {
            return Err(wrong(format!("an entity can be inserted at 0 to {len}, and not at {index}")));
        }
        let before = if index < len { Some(self.at(index)?) } else { None };
        let mut added = self.add(pairs)?;
        if let Some(before) = before {
            // Without this the entity would stay at the end.
            added.shift(&before, false).inspect_err(|_| drop(self.remove(std::slice::from_ref(&added))))?;
        }
        Ok(added)
    }

    /// Removes entities in one step; those that were removed before do not count.
    fn remove(&self, entities: &[Entity]) -> Res<i64> {
        if entities.iter().any(|entity| !entity.map.is_same(&self.0)) {
            return Err(wrong("an entity of another map cannot be removed"));
        }
        self.0.edit(|state| {
            let (all, ids) = state.entities_mut()?;
            let mut places: Vec<usize> = entities.iter().filter_map(|entity| ids.place(entity.id)).collect();
            places.sort_unstable();
            places.dedup();
            all.remove_all(&places)?;
            let count = i64::try_from(places.len()).unwrap_or(i64::MAX);
            ids.remove(places);
            Ok(count)
        })
    }
}

/// The pairs of a new entity: from an object (`classname` first, then by name), or from an array of `[key, value]`.
fn pairs_of(value: &Dynamic) -> Res<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut size = 0;
    let mut part = |bytes: Vec<u8>| {
        size += bytes.len();
        bounded_string(size).map(|()| bytes)
    };
    if let Some(object) = value.read_lock::<Object>() {
        let mut members: Vec<(&str, &Dynamic)> = object.iter().map(|(key, value)| (key.as_str(), value)).collect();
        members.sort_by_key(|(key, _)| *key != "classname");
        return members.into_iter().map(|(key, value)| Ok((part(bytes_of(key))?, part(value_of(value)?)?))).collect();
    }
    if let Some(array) = value.read_lock::<Array>() {
        let mut pair = |item: &Dynamic| match item.read_lock::<Array>().as_deref().map(|pair| &pair[..]) {
            Some([key, value]) => Ok((part(value_of(key)?)?, part(value_of(value)?)?)),
            _ => Err(wrong(format!("{} is not a pair: write [key, value]", kind(item)))),
        };
        return array.iter().map(&mut pair).collect();
    }
    match value.read_lock::<Entity>() {
        Some(entity) => entity.pairs(),
        None => Err(wrong(format!("{} is not an entity, an object or an array of pairs", kind(value)))),
    }
}

/// The entities of an array.
fn entities_of(array: &Array) -> Res<Vec<Entity>> {
    let entity = |item: &Dynamic| item.read_lock::<Entity>().map(|entity| entity.clone());
    let all = array.iter().map(|item| entity(item).ok_or_else(|| wrong(format!("{} is not an entity", kind(item)))));
    all.collect()
}

fn as_array(entities: Vec<Entity>) -> Array {
    entities.into_iter().map(Dynamic::from).collect()
}

/// `#12 light`.
pub(super) fn name_of(entity: &Entity) -> ImmutableString {
    let index = entity.index();
    let name = entity.look(|found| {
        let class = found.class().map(|class| format!(" {}", bspkit::bytes::escaped(class))).unwrap_or_default();
        format!("#{}{class}", index.unwrap_or_default())
    });
    name.unwrap_or_else(|_| "removed entity".to_owned()).into()
}

pub(super) fn register(api: &mut Api) {
    list(api);
    one(api);
}

fn list(api: &mut Api) {
    api.group("Entities");
    api.name::<List>("entities");
    api.entry(
        "entities",
        "All entities. `for e in entities` visits those that are there when the loop begins, in their order: not those \
         that are added in the loop, and not those that are removed before their turn.",
    );
    api.get("map.entities", "The entities of a map.", |map: &mut Map| List(map.clone()));
    api.entry("entities[index]", "The entity of an index, from 0; -1 is the last one.");
    api.index(List::at);
    api.iterate(List::iter);
    api.call("entities.len()", "How many there are.", |list: &mut List| list.len());
    api.call(
        "entities.select(selector)",
        "An array of the entities that a selector matches, such as `light[style>=32]`.",
        |list: &mut List, selector: &str| list.select(selector).map(as_array),
    );
    api.call("entities.first(selector)", "The first one that a selector matches; `()` if nothing matches.", {
        |list: &mut List, selector: &str| {
            let found = list.0.look(|state| state.first(selector))?;
            Ok::<_, Box<rhai::EvalAltResult>>(found.map_or(Dynamic::UNIT, |id| Dynamic::from(list.entity(id))))
        }
    });
    api.call(
        "entities.add(pairs)",
        "Adds an entity after the last one and returns it. The pairs are an object (`classname` is first, then the \
         keys by name), an array of `[key, value]`, or an entity, which may be of another map.",
        |list: &mut List, pairs: Dynamic| list.add(&pairs_of(&pairs)?),
    );
    api.call(
        "entities.insert(index, pairs)",
        "Adds an entity before the one of this index.",
        |list: &mut List, index: i64, pairs: Dynamic| list.insert(index, &pairs_of(&pairs)?),
    );
    api.call(
        "entities.remove(which)",
        "Removes the entities of an array, or those that a selector matches, and returns their number. This is faster \
         than to remove one after the other.",
        |list: &mut List, which: Array| list.remove(&entities_of(&which)?),
    );
    api.also("remove", |list: &mut List, selector: &str| list.remove(&list.select(selector)?));
}

fn one(api: &mut Api) {
    api.group("One entity");
    api.name::<Entity>("entity");
    api.entry(
        "e.key",
        "The value of a key, the first of several, as a string; `()` if it does not have the key. `e[\"key\"]` is the \
         same, and faster. `e.key = value` sets the value, which may be a string, a number, a vector or an output.",
    );
    api.index(Entity::get);
    api.set_index(Entity::set);
    // The engine has a property of this name for all values.
    api.getter("tag", |e: &mut Entity| e.get("tag"));
    api.set("tag", |e: &mut Entity, value: Dynamic| e.set("tag", value));
    api.call("e.all(key)", "An array of all values of a key.", |e: &mut Entity, key: &str| {
        e.look(|entity| entity.all(bytes_of(key)).map(|value| shown(value).into()).collect::<Array>())
    });
    api.call("e.number(key)", "The value as a number; `()` if it is not one.", |e: &mut Entity, key: &str| {
        e.value(key).map(|value| value.map_or(Dynamic::UNIT, |value| number_in(&value)))
    });
    api.call(
        "e.push(key, value)",
        "Adds a pair after the others, also if the entity has the key.",
        |e: &mut Entity, key: &str, value: Dynamic| {
            let value = value_of(&value)?;
            e.edit(|entity| entity.push(bytes_of(key), &value))
        },
    );
    api.call("e.remove(key)", "Removes all pairs of a key and returns their number.", |e: &mut Entity, key: &str| {
        e.edit(|entity| entity.unset(bytes_of(key)).map(signed))
    });
    api.call("e.rename(old, new)", "Gives all pairs of a key another key, and returns their number.", {
        |e: &mut Entity, old: &str, new: &str| e.edit(|entity| entity.rename(bytes_of(old), bytes_of(new)).map(signed))
    });
    api.call("e.remove()", "Removes the entity. Using it after that is an error.", Entity::remove);
    api.call("e.exists()", "Whether it was not removed.", Entity::exists);
    api.call("e.index()", "Its index among the entities.", |e: &mut Entity| e.index().map(signed));
    api.call("e.matches(selector)", "Whether a selector matches it.", |e: &mut Entity, selector: &str| {
        let selector = Selector::parse(selector).map_err(super::api::fail)?;
        if !selector.is_of_pairs() {
            e.index()?;
        }
        e.look(|entity| selector.matches(entity))
    });
    api.call("e.duplicate()", "Copies it directly after itself and returns the copy.", Entity::duplicate);
    api.call("e.move_before(other)", "Moves it before another entity.", |e: &mut Entity, other: Entity| {
        e.shift(&other, false)
    });
    api.call("e.move_after(other)", "Moves it after another entity.", |e: &mut Entity, other: Entity| {
        e.shift(&other, true)
    });
    api.also("==", |a: Entity, b: Entity| a.is_same(&b));
    api.also("!=", |a: Entity, b: Entity| !a.is_same(&b));
    api.also("to_string", |e: &mut Entity| name_of(e));
    api.also("to_debug", |e: &mut Entity| name_of(e));
}

// The entities of a script, with edits of single ones in time by what they move.
//
// Entities that are removed, copied, moved or added one after the other are an `Arrangement`: their indices are not
// counted again each time. It ends where something asks for an index, or for the draft.

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
    pub(super) fn look_at<T>(&mut self, id: u32, work: impl FnOnce(&EntitiesEntity<'_>) -> T) -> Result<T> {
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
            None => bspkit::bytes::wide(place),
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
