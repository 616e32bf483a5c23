//! The entities of a map in scripts: the list, with edits of single ones in time by what they move, and handles.

use rhai::{Array, Dynamic, ImmutableString, Map as Object};

use super::Map;
use super::api::{Api, Res, bounded_string, wrong};
use super::values::{bytes_of, kind, number_in, shown, signed, value_of};
use bspkit::content::entities::{Entity as Found, EntityMut};
use bspkit::content::select::Selector;
use bspkit::{Error, ErrorKind, Result};

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

impl Entity {
    /// Looks at the entity.
    pub(super) fn look<T>(&self, work: impl FnOnce(&Found<'_>) -> T) -> Res<T> {
        self.map.look(|state| state.session.look(self.id, work))
    }

    /// Edits the entity.
    pub(super) fn edit<T>(&self, work: impl Fn(&mut EntityMut<'_, '_>) -> Result<T>) -> Res<T> {
        self.map.edit(|state| state.session.edit(self.id, work))
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
        self.map.look(|state| state.session.index(self.id))
    }

    fn exists(&mut self) -> Res<bool> {
        self.map.look(|state| state.session.has(self.id))
    }

    fn pairs(&self) -> Res<Vec<(Vec<u8>, Vec<u8>)>> {
        self.look(|entity| entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect())
    }

    /// Removes the entity.
    fn remove(&mut self) -> Res<()> {
        // One that was removed before is no error, as for the list.
        self.map.edit(|state| state.session.remove(&[self.id]).map(drop))
    }

    pub(super) fn is_same(&self, other: &Entity) -> bool {
        self.id == other.id && self.map.is_same(&other.map)
    }

    fn shift(&mut self, other: &Entity, is_after: bool) -> Res<()> {
        if !self.map.is_same(&other.map) {
            return Err(wrong("the two entities are in different maps"));
        }
        self.map.edit(|state| state.session.shift(self.id, other.id, is_after))
    }

    fn duplicate(&mut self) -> Res<Entity> {
        let id = self.map.edit(|state| state.session.duplicate(self.id))?;
        Ok(Entity { map: self.map.clone(), id })
    }
}

impl List {
    fn len(&self) -> Res<i64> {
        let len = self.0.look(|state| state.session.numbers().map(<[u32]>::len))?;
        Ok(i64::try_from(len).unwrap_or(i64::MAX))
    }

    /// The entity of an index; a negative one counts from the end.
    fn at(&mut self, index: i64) -> Res<Entity> {
        let id = self.0.look(|state| {
            let numbers = state.session.numbers()?;
            let len = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
            let place = usize::try_from(if index < 0 { index.saturating_add(len) } else { index }).ok();
            place.and_then(|place| numbers.get(place).copied()).ok_or_else(|| {
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
        let ids = self.0.look(|state| state.session.select(selector))?;
        Ok(ids.into_iter().map(|id| self.entity(id)).collect())
    }

    /// All entities as they are now. Those that are removed before their turn are left out.
    fn iter(self) -> Res<impl Iterator<Item = Res<Dynamic>>> {
        let all = self.0.look(|state| state.session.numbers().map(<[u32]>::to_vec))?;
        let present = move |id: u32| match self.0.look(|state| state.session.has_still(id)) {
            Ok(true) => Some(Ok(Dynamic::from(self.entity(id)))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        Ok(all.into_iter().filter_map(present))
    }

    /// Adds an entity with these pairs after the last one.
    fn add(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Res<Entity> {
        let id = self.0.edit(|state| state.session.add(pairs))?;
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
        let ids: Vec<u32> = entities.iter().map(|entity| entity.id).collect();
        self.0.edit(|state| state.session.remove(&ids).map(signed))
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
            let found = list.0.look(|state| state.session.first(selector))?;
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
