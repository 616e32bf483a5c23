//! An entity: a mapping of keys to values that keeps equal keys and their order.

use std::sync::Arc;

use bspkit::content::entities::{Entity as Found, EntityMut, Pair};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyString};

use crate::errors::{Failure, Res};
use crate::output::Output;
use crate::shared::Shared;
use crate::text::{Text, shown};

/// An entity of a map. It stays the same one while others are added, removed and moved, and cannot be used any more
/// after an edit that replaces the text of all entities, such as a patch.
///
/// Keys are compared without regard to case, as engines do. Of equal keys, `e[key]` is the first one's value.
#[pyclass(frozen, mapping, module = "bspkit")]
pub(crate) struct Entity {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: u32,
}

fn missing(key: &Text) -> Failure {
    PyKeyError::new_err(bspkit::bytes::escaped(&key.0).to_string()).into()
}

impl Entity {
    pub(crate) fn new(shared: &Arc<Shared>, id: u32) -> Self {
        Entity { shared: shared.clone(), id }
    }

    fn look<T>(&self, work: impl FnOnce(&Found<'_>) -> T) -> Res<T> {
        self.shared.with(|state| Ok(state.session().look(self.id, work)?))
    }

    fn edit<T>(&self, work: impl Fn(&mut EntityMut<'_, '_>) -> bspkit::Result<T>) -> Res<T> {
        self.shared.with(|state| Ok(state.session().edit(self.id, work)?))
    }

    /// Replaces all pairs.
    pub(crate) fn replace(&self, pairs: &[(Text, Text)]) -> Res<()> {
        self.edit(|entity| {
            entity.all_at_once(|entity| {
                let keys: Vec<Vec<u8>> = entity.entity().pairs().map(|pair| pair.key.to_vec()).collect();
                keys.iter().try_for_each(|key| entity.unset(key).map(drop))?;
                pairs.iter().try_for_each(|(key, value)| entity.push(key, value))
            })
        })
    }

    fn value(&self, key: &Text) -> Res<Option<Vec<u8>>> {
        self.look(|entity| entity.get(key).map(<[u8]>::to_vec))
    }

    /// Python's index of one of several equal keys as the library counts them, from 1 on.
    fn nth(&self, key: &Text, n: isize) -> Res<usize> {
        let count = self.look(|entity| entity.all(key).count())?;
        let place = crate::place(n, count).and_then(|place| place.checked_add(1));
        place.ok_or_else(|| {
            let key = bspkit::bytes::escaped(&key.0);
            PyIndexError::new_err(format!("there is no pair {n} of the key {key}: there are {count}")).into()
        })
    }

    pub(crate) fn pairs(&self) -> Res<Vec<(Vec<u8>, Vec<u8>)>> {
        self.look(|entity| entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect())
    }
}

#[pymethods]
impl Entity {
    fn __getitem__<'py>(&self, py: Python<'py>, key: Text) -> Res<Bound<'py, PyString>> {
        match self.value(&key)? {
            Some(value) => Ok(shown(py, &value)?),
            None => Err(missing(&key)),
        }
    }

    fn __setitem__(&self, key: Text, value: Text) -> Res<()> {
        self.edit(|entity| entity.set(&key, &value))
    }

    /// Removes all pairs of a key.
    fn __delitem__(&self, key: Text) -> Res<()> {
        match self.edit(|entity| entity.unset(&key))? {
            0 => Err(missing(&key)),
            _ => Ok(()),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> Res<bool> {
        match key.extract::<Text>() {
            Ok(key) => self.look(|entity| entity.get(key).is_some()),
            Err(_) => Ok(false),
        }
    }

    /// The number of pairs.
    fn __len__(&self) -> Res<usize> {
        self.look(|entity| entity.pairs().len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        Ok(self.keys(py)?.into_pyobject(py)?.into_any().call_method0("__iter__")?)
    }

    /// The value of the first pair of a key, or `default`.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: Text,
        default: Option<Bound<'py, PyAny>>,
    ) -> Res<Option<Bound<'py, PyAny>>> {
        match self.value(&key)? {
            Some(value) => Ok(Some(shown(py, &value)?.into_any())),
            None => Ok(default),
        }
    }

    /// The values of all pairs of a key, in their order.
    fn all<'py>(&self, py: Python<'py>, key: Text) -> Res<Vec<Bound<'py, PyString>>> {
        let values: Vec<Vec<u8>> = self.look(|entity| entity.all(key).map(<[u8]>::to_vec).collect())?;
        Ok(values.iter().map(|value| shown(py, value)).collect::<PyResult<_>>()?)
    }

    /// Adds a pair after the last one, also if there is one of that key.
    fn append(&self, key: Text, value: Text) -> Res<()> {
        self.edit(|entity| entity.push(&key, &value))
    }

    /// Sets the value of the n-th of several equal keys; the first one is 0, the last one -1.
    fn set_nth(&self, key: Text, n: isize, value: Text) -> Res<()> {
        let n = self.nth(&key, n)?;
        self.edit(|entity| entity.set_nth(&key, n, &value))
    }

    /// Removes the n-th of several equal keys; the first one is 0, the last one -1.
    fn remove_nth(&self, key: Text, n: isize) -> Res<()> {
        let n = self.nth(&key, n)?;
        self.edit(|entity| entity.unset_nth(&key, n))
    }

    /// Gives all pairs of a key another key; returns how many there were.
    fn rename_key(&self, old: Text, new: Text) -> Res<usize> {
        self.edit(|entity| entity.rename(&old, &new))
    }

    /// Sets the values of a mapping or of pairs, all of them or none.
    fn update(&self, other: &Bound<'_, PyAny>) -> Res<()> {
        let items = match other.cast::<PyMapping>() {
            Ok(mapping) => mapping.items()?.into_any(),
            Err(_) => other.clone(),
        };
        let pairs = items.try_iter()?.map(|item| item?.extract::<(Text, Text)>()).collect::<PyResult<Vec<_>>>()?;
        self.edit(|entity| {
            entity.all_at_once(|entity| pairs.iter().try_for_each(|(key, value)| entity.set(key, value)))
        })
    }

    /// Removes all pairs of a key and returns the first one's value, or `default`.
    #[pyo3(signature = (key, *default))]
    fn pop<'py>(
        &self,
        py: Python<'py>,
        key: Text,
        default: &Bound<'py, pyo3::types::PyTuple>,
    ) -> Res<Bound<'py, PyAny>> {
        match (self.value(&key)?, default.iter().next()) {
            (Some(value), _) => {
                self.edit(|entity| entity.unset(&key))?;
                Ok(shown(py, &value)?.into_any())
            }
            (None, Some(default)) => Ok(default),
            (None, None) => Err(missing(&key)),
        }
    }

    /// The value of a key; if there is none, `default` is added.
    fn setdefault<'py>(&self, py: Python<'py>, key: Text, default: Text) -> Res<Bound<'py, PyString>> {
        match self.value(&key)? {
            Some(value) => Ok(shown(py, &value)?),
            None => {
                self.edit(|entity| entity.push(&key, &default))?;
                Ok(shown(py, &default.0)?)
            }
        }
    }

    /// The keys in their order; a key that stands there twice is there twice.
    fn keys<'py>(&self, py: Python<'py>) -> Res<Vec<Bound<'py, PyString>>> {
        Ok(self.pairs()?.iter().map(|(key, _)| shown(py, key)).collect::<PyResult<_>>()?)
    }

    /// The values in their order.
    fn values<'py>(&self, py: Python<'py>) -> Res<Vec<Bound<'py, PyString>>> {
        Ok(self.pairs()?.iter().map(|(_, value)| shown(py, value)).collect::<PyResult<_>>()?)
    }

    /// The pairs in their order.
    pub(crate) fn items<'py>(&self, py: Python<'py>) -> Res<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let pair = |pair: Pair<'_>| Ok((shown(py, pair.key)?.into_any(), shown(py, pair.value)?.into_any()));
        Ok(self.look(|entity| entity.pairs().map(pair).collect::<PyResult<_>>())??)
    }

    /// The class name; `None` if there is none.
    #[getter]
    fn classname<'py>(&self, py: Python<'py>) -> Res<Option<Bound<'py, PyString>>> {
        let class = self.look(|entity| entity.class().map(<[u8]>::to_vec))?;
        Ok(class.map(|class| shown(py, &class)).transpose()?)
    }

    /// The number that a value is; `None` if there is no such key or the value is not one number.
    fn number(&self, key: Text) -> Res<Option<f64>> {
        self.look(|entity| entity.number(key))
    }

    /// The three numbers that a value is, as a `Vector`; `None` if there is no such key or the value is not three numbers.
    fn vector<'py>(&self, py: Python<'py>, key: Text) -> Res<Option<Bound<'py, PyAny>>> {
        match self.look(|entity| entity.vector(key))? {
            Some([x, y, z]) => Ok(Some(py.import("bspkit._types")?.call_method1("Vector", (x, y, z))?)),
            None => Ok(None),
        }
    }

    /// The outputs of a Source entity, with their keys: `("OnTrigger", Output(...))`.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> Res<Vec<(Bound<'py, PyAny>, Bound<'py, Output>)>> {
        let pairs = self.pairs()?;
        let found = pairs.iter().filter_map(|(key, value)| Some((key, Output::of(value)?)));
        let pair = |(key, output): (&Vec<u8>, Output)| Ok((shown(py, key)?.into_any(), Bound::new(py, output)?));
        Ok(found.map(pair).collect::<PyResult<_>>()?)
    }

    /// The index of the entity in the map.
    #[getter]
    pub(crate) fn index(&self) -> Res<usize> {
        self.shared.with(|state| Ok(state.session().index(self.id)?))
    }

    /// The pairs as bytes: `e.raw["message"]`, `e.raw.items()`.
    #[getter]
    fn raw(&self) -> RawPairs {
        RawPairs { entity: Entity::new(&self.shared, self.id) }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Entity>()
            .is_ok_and(|other| self.id == other.get().id && Arc::ptr_eq(&self.shared, &other.get().shared))
    }

    fn __hash__(&self) -> u64 {
        // The address of the map and the number of the entity.
        let map = Arc::as_ptr(&self.shared).addr();
        u64::try_from(map).unwrap_or(0).rotate_left(16) ^ u64::from(self.id)
    }

    fn __repr__(&self) -> String {
        let pairs = self.pairs().unwrap_or_default();
        let text: Vec<String> = pairs
            .iter()
            .take(4)
            .map(|(key, value)| format!("{}={}", bspkit::bytes::escaped(key), bspkit::bytes::escaped(value)))
            .collect();
        let more = if pairs.len() > 4 { " ..." } else { "" };
        match self.index() {
            Ok(index) => format!("<bspkit.Entity {index}: {}{more}>", text.join(" ")),
            Err(_) => "<bspkit.Entity, removed>".to_owned(),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("an entity cannot be pickled: pickle its pairs, `e.items()`"))
    }
}

/// The pairs of an entity as bytes.
#[pyclass(frozen, mapping, module = "bspkit")]
pub(crate) struct RawPairs {
    entity: Entity,
}

#[pymethods]
impl RawPairs {
    fn __getitem__<'py>(&self, py: Python<'py>, key: Text) -> Res<Bound<'py, PyBytes>> {
        match self.entity.value(&key)? {
            Some(value) => Ok(PyBytes::new(py, &value)),
            None => Err(missing(&key)),
        }
    }

    fn __setitem__(&self, key: Text, value: Text) -> Res<()> {
        self.entity.__setitem__(key, value)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> Res<bool> {
        match key.extract::<Text>() {
            Ok(key) => Ok(self.entity.value(&key)?.is_some()),
            Err(_) => Ok(false),
        }
    }

    fn __len__(&self) -> Res<usize> {
        self.entity.__len__()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        let keys: Vec<_> = self.items(py)?.into_iter().map(|(key, _)| key).collect();
        Ok(keys.into_pyobject(py)?.into_any().call_method0("__iter__")?)
    }

    /// The values of all pairs of a key.
    fn all<'py>(&self, py: Python<'py>, key: Text) -> Res<Vec<Bound<'py, PyBytes>>> {
        self.entity.look(|entity| entity.all(key).map(|value| PyBytes::new(py, value)).collect())
    }

    /// The pairs in their order.
    fn items<'py>(&self, py: Python<'py>) -> Res<Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
        let pair = |(key, value): &(Vec<u8>, Vec<u8>)| (PyBytes::new(py, key), PyBytes::new(py, value));
        Ok(self.entity.pairs()?.iter().map(pair).collect())
    }

    fn __repr__(&self) -> String {
        self.entity.__repr__().replacen("Entity", "RawPairs", 1)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("pairs cannot be pickled: pickle `e.raw.items()`"))
    }

    /// The text of the entity, braces included.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyBytes>> {
        self.entity.look(|entity| PyBytes::new(py, entity.bytes()))
    }
}
