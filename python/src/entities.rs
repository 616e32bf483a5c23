//! The list of entities.

use std::sync::{Arc, Mutex, PoisonError};

use bspkit::content::entities::ended;
use bspkit::{Error, ErrorKind};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMapping, PySlice, PyTuple};

use crate::entity::Entity;
use crate::errors::Res;
use crate::shared::{Shared, State};
use crate::text::Text;

/// The entities of a map, in the order of its text. It behaves like a list.
#[pyclass(frozen, sequence, module = "bspkit")]
pub(crate) struct Entities {
    shared: Arc<Shared>,
}

type Pairs = Vec<(Text, Text)>;

impl Entities {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Entities { shared: shared.clone() }
    }

    pub(crate) fn is_of(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    fn entity(&self, id: u32) -> Entity {
        Entity::new(&self.shared, id)
    }

    fn all(&self, ids: Vec<u32>) -> Vec<Entity> {
        ids.into_iter().map(|id| self.entity(id)).collect()
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> Res<T>) -> Res<T> {
        self.shared.with(work)
    }

    fn ids_of(&self, slice: &Bound<'_, PySlice>) -> Res<Vec<u32>> {
        let all = self.with(|state| Ok(state.session().numbers()?.to_vec()))?;
        let found = slice.indices(crate::signed(all.len()))?;
        let places = (0..found.slicelength).map(|n| found.start + crate::signed(n) * found.step);
        Ok(places.filter_map(|place| all.get(usize::try_from(place).ok()?).copied()).collect())
    }

    fn id_at(&self, index: isize) -> Res<u32> {
        self.with(|state| {
            let numbers = state.session().numbers()?;
            let place = crate::place(index, numbers.len());
            place.and_then(|place| numbers.get(place).copied()).ok_or_else(|| {
                let message = format!("there is no entity {index}: the map has {}", numbers.len());
                PyIndexError::new_err(message).into()
            })
        })
    }

    fn add(&self, pairs: Pairs) -> Res<Entity> {
        let id = self.with(|state| Ok(state.session().add(&pairs)?))?;
        Ok(self.entity(id))
    }

    /// Brings entities into this order, before all others.
    fn reorder(&self, wanted: &[u32]) -> Res<()> {
        self.with(|state| Ok(state.session().reorder(wanted)?))
    }

    fn remove_ids(&self, removed: &[u32]) -> Res<()> {
        self.with(|state| Ok(state.session().remove(removed).map(drop)?))
    }

    fn own(&self, entity: &Entity) -> Res<u32> {
        match Arc::ptr_eq(&self.shared, &entity.shared) {
            true => Ok(entity.id),
            false => Err(PyValueError::new_err("the entity is in another map").into()),
        }
    }
}

/// The pairs of a new entity: a mapping, another entity, or pairs in their order.
fn pairs_of(value: &Bound<'_, PyAny>) -> Res<Pairs> {
    if let Ok(entity) = value.cast::<Entity>() {
        return Ok(entity.get().pairs()?.into_iter().map(|(key, value)| (Text(key), Text(value))).collect());
    }
    let items = match value.cast::<PyMapping>() {
        Ok(mapping) => mapping.items()?.into_any(),
        Err(_) => value.clone(),
    };
    let mut pairs = Pairs::new();
    let wrong = || PyTypeError::new_err("an entity is made of pairs of a key and a value");
    for item in items.try_iter()? {
        let item = item?;
        let is_pair = item.cast::<PyTuple>().is_ok() || item.cast::<PyList>().is_ok();
        let pair = if is_pair { item.extract::<Vec<Bound<'_, PyAny>>>()? } else { Vec::new() };
        let [key, value] = <[_; 2]>::try_from(pair).map_err(|_| wrong())?;
        pairs.push((key.extract::<Text>()?, value.extract::<Text>()?));
    }
    Ok(pairs)
}

#[pymethods]
impl Entities {
    fn __len__(&self) -> Res<usize> {
        self.with(|state| Ok(state.session().numbers()?.len()))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> Res<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            return Ok(self.all(self.ids_of(slice)?).into_pyobject(py)?.into_any());
        }
        let index: isize = index.extract()?;
        Ok(self.entity(self.id_at(index)?).into_pyobject(py)?.into_any())
    }

    fn __delitem__(&self, index: &Bound<'_, PyAny>) -> Res<()> {
        let ids = match index.cast::<PySlice>() {
            Ok(slice) => self.ids_of(slice)?,
            Err(_) => vec![self.id_at(index.extract()?)?],
        };
        self.remove_ids(&ids)
    }

    /// Replaces the pairs of an entity, which stays the same one, or the entities of a slice by new ones.
    fn __setitem__(&self, index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Res<()> {
        let Ok(slice) = index.cast::<PySlice>() else {
            let old = self.entity(self.id_at(index.extract()?)?);
            // An exchange of two (`e[1], e[2] = e[2], e[1]`) would give both places the same pairs.
            if let Some(other) = value.cast::<Entity>().ok().map(|other| other.get())
                && self.own(other).is_ok()
                && other.id != old.id
                && other.index().is_ok()
            {
                let message = "an entity of this list cannot be at another place, too";
                let hint =
                    "assign its pairs (`e[i] = e[j].items()`), use `move`, or exchange with a slice (`e[i:j] = [...]`)";
                return Err(Error::new(ErrorKind::Refused, message).with_hint(hint).into());
            }
            return old.replace(&pairs_of(value)?);
        };
        let new = value.try_iter()?.map(|pairs| pairs_of(&pairs?)).collect::<Res<Vec<Pairs>>>()?;
        let len = self.__len__()?;
        let found = slice.indices(crate::signed(len))?;
        let old = self.ids_of(slice)?;
        if found.step != 1 {
            let message =
                "only entities that follow each other can be replaced at once: the step of the slice is not 1";
            return Err(PyValueError::new_err(message).into());
        }
        let next = usize::try_from(found.start).unwrap_or(0) + old.len();
        let mut wanted =
            self.with(|state| Ok(state.session().numbers()?.iter().take(next).copied().collect::<Vec<_>>()))?;
        let kept = wanted.len();
        let added = new.into_iter().try_for_each(|pairs| {
            wanted.push(self.add(pairs)?.id);
            Ok(())
        });
        let done = added.and_then(|()| self.reorder(&wanted)).and_then(|()| self.remove_ids(&old));
        done.inspect_err(|_| drop(self.remove_ids(&wanted[kept..])))
    }

    /// Sorts the entities after the first one, which is worldspawn, by what `key` gives for each. Equal ones stay in
    /// their order. After an error nothing is changed.
    #[pyo3(signature = (*, key, reverse = false))]
    fn sort(&self, key: &Bound<'_, PyAny>, reverse: bool) -> Res<()> {
        let py = key.py();
        let ids = self.with(|state| Ok(state.session().numbers()?.to_vec()))?;
        let keys = ids.iter().skip(1).map(|id| Ok((key.call1((self.entity(*id),))?, *id)));
        let keys = pyo3::types::PyList::new(py, keys.collect::<PyResult<Vec<_>>>()?)?;
        let options = pyo3::types::PyDict::new(py);
        options.set_item("key", py.import("operator")?.call_method1("itemgetter", (0,))?)?;
        options.set_item("reverse", reverse)?;
        keys.call_method("sort", (), Some(&options))?;
        let sorted: Vec<(Bound<'_, PyAny>, u32)> = keys.extract()?;
        let sorted = sorted.into_iter().map(|(_, id)| id);
        self.reorder(&ids.first().copied().into_iter().chain(sorted).collect::<Vec<u32>>())
    }

    /// All entities as they are now. Those that are removed before their turn are left out; new ones are not in it.
    fn __iter__(&self) -> Res<EntityIterator> {
        let ids = self.with(|state| Ok(state.session().numbers()?.to_vec()))?;
        Ok(EntityIterator { shared: self.shared.clone(), ids: Mutex::new(ids.into_iter()) })
    }

    fn __contains__(&self, entity: &Bound<'_, PyAny>) -> Res<bool> {
        match entity.cast::<Entity>() {
            Ok(entity) => Ok(self.own(entity.get()).is_ok() && entity.get().index().is_ok()),
            Err(_) => Ok(false),
        }
    }

    /// The entities that a selector matches: `"light"`, `"light[style>=32]"`, `"*[targetname]"`.
    fn select(&self, selector: Text) -> Res<Vec<Entity>> {
        let ids = self.with(|state| Ok(state.session().select(&selector.as_selector())?))?;
        Ok(self.all(ids))
    }

    /// The first entity of a class; an error if there is none.
    fn first(&self, class_: Text) -> Res<Entity> {
        let id = self.with(|state| {
            let index = state.entities()?.first_class(&class_)?.index();
            Ok(state.session().numbers()?[index])
        })?;
        Ok(self.entity(id))
    }

    /// Adds an entity after the last one: a mapping, pairs in their order, or an entity, which is copied.
    fn append(&self, pairs: &Bound<'_, PyAny>) -> Res<Entity> {
        self.add(pairs_of(pairs)?)
    }

    /// Adds an entity before the one of an index.
    fn insert(&self, index: isize, pairs: &Bound<'_, PyAny>) -> Res<Entity> {
        let len = self.__len__()?;
        let index = if index < 0 { index.saturating_add(crate::signed(len)).max(0) } else { index };
        let before = usize::try_from(index).ok().filter(|index| *index < len);
        let before = before.map(|index| self.id_at(crate::signed(index))).transpose()?;
        let added = self.append(pairs)?;
        if let Some(before) = before {
            let moved = self.r#move(&added, Some(&self.entity(before)), None);
            if let Err(error) = moved {
                self.remove_ids(&[added.id])?;
                return Err(error);
            }
        }
        Ok(added)
    }

    /// Adds several entities after the last one. After an error nothing is changed.
    fn extend(&self, all: &Bound<'_, PyAny>) -> Res<()> {
        let all = all.try_iter()?.map(|pairs| pairs_of(&pairs?)).collect::<Res<Vec<Pairs>>>()?;
        let mut added = Vec::new();
        self.with(|state| {
            let done = all.iter().try_for_each(|pairs| state.session().add(pairs).map(|id| added.push(id)));
            match done {
                Ok(()) => Ok(()),
                Err(error) => {
                    state.session().remove(&added)?;
                    Err(error.into())
                }
            }
        })
    }

    /// Removes an entity, or several in one step.
    fn remove(&self, entity: &Bound<'_, PyAny>) -> Res<()> {
        if let Ok(entity) = entity.cast::<Entity>() {
            let id = self.own(entity.get())?;
            return match self.with(|state| Ok(state.session().remove(&[id])?))? {
                0 => entity.get().index().map(drop),
                _ => Ok(()),
            };
        }
        let mut removed = Vec::new();
        for entity in entity.try_iter()? {
            removed.push(self.own(entity?.cast::<Entity>().map_err(PyErr::from)?.get())?);
        }
        self.remove_ids(&removed)
    }

    /// Removes the entity of an index and returns its pairs.
    #[pyo3(signature = (index = -1), text_signature = "($self, index=-1)")]
    fn pop<'py>(&self, py: Python<'py>, index: isize) -> Res<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let entity = self.entity(self.id_at(index)?);
        let items = entity.items(py)?;
        self.remove_ids(&[entity.id])?;
        Ok(items)
    }

    /// The index of an entity, if it is `start` or later, and before `stop`.
    #[pyo3(signature = (entity, start = 0, stop = None))]
    fn index(&self, entity: &Entity, start: isize, stop: Option<isize>) -> Res<usize> {
        self.own(entity)?;
        let (index, len) = (entity.index()?, self.__len__()?);
        let bound = |bound: isize| {
            let bound = if bound < 0 { bound.saturating_add(crate::signed(len)).max(0) } else { bound };
            usize::try_from(bound).unwrap_or(0)
        };
        match index >= bound(start) && stop.is_none_or(|stop| index < bound(stop)) {
            true => Ok(index),
            false => Err(PyValueError::new_err(format!("entity {index} is not between these indices")).into()),
        }
    }

    /// 1 for an entity of the map, and 0 for all else.
    fn count(&self, entity: &Bound<'_, PyAny>) -> Res<usize> {
        Ok(usize::from(self.__contains__(entity)?))
    }

    fn __reversed__(&self) -> Res<EntityIterator> {
        let ids: Vec<u32> = self.with(|state| Ok(state.session().numbers()?.iter().rev().copied().collect()))?;
        Ok(EntityIterator { shared: self.shared.clone(), ids: Mutex::new(ids.into_iter()) })
    }

    fn __iadd__(&self, all: &Bound<'_, PyAny>) -> Res<()> {
        self.extend(all)
    }

    /// Adds a copy of an entity after it.
    fn duplicate(&self, entity: &Entity) -> Res<Entity> {
        let id = self.own(entity)?;
        let id = self.with(|state| Ok(state.session().duplicate(id)?))?;
        Ok(self.entity(id))
    }

    /// Moves an entity directly before or after another one.
    #[pyo3(signature = (entity, *, before = None, after = None))]
    fn r#move(&self, entity: &Entity, before: Option<&Entity>, after: Option<&Entity>) -> Res<()> {
        let (other, is_after) = match (before, after) {
            (Some(other), None) => (other, false),
            (None, Some(other)) => (other, true),
            _ => {
                return Err(
                    PyTypeError::new_err("name the entity `before` or `after` which it is moved, one of both").into()
                );
            }
        };
        let (id, other) = (self.own(entity)?, self.own(other)?);
        self.with(|state| Ok(state.session().shift(id, other, is_after)?))
    }

    /// The whole text, as bytes.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyBytes>> {
        let text = self.with(|state| Ok(state.entities()?.to_bytes()))?;
        Ok(PyBytes::new(py, &text))
    }

    /// Replaces the whole text. Entities that Python has can then not be used any more. A text that is too large to be
    /// read is refused. One without a NUL at its end gets as many as the text of the file has.
    #[setter]
    fn set_text(&self, text: Text) -> Res<()> {
        self.with(|state| {
            let draft = state.draft()?;
            let role = bspkit::dialect::Role::Entities;
            let slot = draft.bsp().role(role).map(|slot| slot.id);
            let slot = slot.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("the map has no {role}")))?;
            let text = ended(text.0, draft.bsp().bytes(slot).ok().as_deref());
            bspkit::content::entities::Entities::parse(&text[..], draft.bsp().entity_rules())?;
            draft.set(slot, text)?;
            state.forget_entities();
            Ok(())
        })
    }

    /// What is wrong with the text, as sentences.
    #[getter]
    fn diagnostics(&self) -> Res<Vec<String>> {
        self.with(|state| Ok(state.entities()?.diagnostics().iter().map(ToString::to_string).collect()))
    }

    fn __repr__(&self) -> String {
        self.__len__().map_or_else(|_| "<bspkit.Entities, closed>".into(), |len| format!("<bspkit.Entities, {len}>"))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("entities cannot be pickled: pickle [e.items() for e in entities]"))
    }
}

/// An iterator of entities.
#[pyclass(frozen, module = "bspkit")]
pub(crate) struct EntityIterator {
    shared: Arc<Shared>,
    ids: Mutex<std::vec::IntoIter<u32>>,
}

#[pymethods]
impl EntityIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> Res<Option<Entity>> {
        let next = self.shared.with(|state| {
            // Locked only where the map is, so that no thread waits here for one that waits for the map.
            let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
            for id in ids.by_ref() {
                if state.session().has_still(id)? {
                    return Ok(Some(id));
                }
            }
            Ok(None)
        })?;
        Ok(next.map(|id| Entity::new(&self.shared, id)))
    }

    fn __repr__(&self) -> String {
        format!("<bspkit.EntityIterator, {} left>", self.ids.lock().unwrap_or_else(PoisonError::into_inner).len())
    }
}
