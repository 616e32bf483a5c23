//! The order and the number of records, with all that refers to them.

use std::collections::BTreeMap;

use bspkit::{Draft, Error, ErrorKind, Followed, Reference, Splice, Structure};
use bspkit_ops::models::{Copying, Gone, Removal};
use bspkit_ops::unused::Unused;
use bspkit_ops::{models, prune};
use bspkit_text::records::list_name;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::errors::{Res, detached};
use crate::map::Map;
use crate::shared::{Shared, current};
use crate::table;
use crate::text::{Text, shown};

/// What refers to a record, and what it refers to.
pub(crate) fn references<'py>(py: Python<'py>, shared: &Shared, lump: &str, record: isize) -> Res<Bound<'py, PyAny>> {
    let draft = shared.snapshot()?;
    let found = detached(py, || {
        let list = list_name(draft.bsp(), lump)?;
        let record = places(&draft, &list, &[record], false)?;
        draft.references_of(&list, record[0])
    })?;
    let types = py.import("bspkit._types")?;
    let class = types.getattr("Reference")?;
    let all = |references: &[Reference]| {
        let row = |one: &Reference| class.call1((&one.lump, one.record, one.count, &one.field));
        references.iter().map(row).collect::<PyResult<Vec<_>>>()
    };
    Ok(types.call_method1("References", (all(&found.by)?, all(&found.to)?))?)
}

/// The places of records by Python's indices: negative ones count from the end. Places between records may be the end.
fn places(draft: &Draft<'static>, list: &str, indices: &[isize], between: bool) -> bspkit::Result<Vec<usize>> {
    let (lump, part) = draft.bsp().list_named(list)?;
    let parts = draft.spans(lump.id)?;
    let is_it = |name: &str| part.is_none_or(|part| part.eq_ignore_ascii_case(name));
    let count: usize = parts.iter().filter(|found| is_it(found.list)).map(|found| found.count()).sum();
    let place = |index: &isize| {
        let from_end = || count.checked_sub(index.unsigned_abs());
        let place = usize::try_from(*index).ok().or_else(from_end);
        place
            .filter(|place| *place < count + usize::from(between))
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("{list} has no record {index}: it has {count}")))
    };
    indices.iter().map(place).collect()
}

/// Edits the order or the number of records; the result says what followed. Indices that stand
/// `between` records may be the end; the other options are `cascade` and `force`.
pub(crate) fn edit<'py>(
    py: Python<'py>,
    shared: &Shared,
    lump: &str,
    indices: &[isize],
    [between, cascade, force]: [bool; 3],
    work: impl FnOnce(Structure<'_, 'static>, &str, Vec<usize>) -> bspkit::Result<Followed> + Send,
) -> Res<Bound<'py, PyAny>> {
    let followed = shared.structural(py, |draft| {
        let list = list_name(draft.bsp(), lump)?;
        let places = places(draft, &list, indices, between)?;
        work(draft.structure().cascade(cascade).force(force).whole(), &list, places)
    })?;
    report(py, &followed)
}

/// Replaces records by others: an array, or bytes with little-endian numbers.
pub(crate) fn splice<'py>(
    shared: &Shared,
    lump: &str,
    range: [isize; 2],
    records: &Bound<'py, PyAny>,
    [cascade, force]: [bool; 2],
) -> Res<Bound<'py, PyAny>> {
    let bytes = bytes_of(shared, lump, records)?;
    let py = records.py();
    let followed = shared.structural(py, |draft| {
        let list = list_name(draft.bsp(), lump)?;
        let places = places(draft, &list, &range, true)?;
        let splice = Splice { range: places[0]..places[1], records: bytes };
        Removal::refuse_alone(draft.bsp(), &list, std::slice::from_ref(&splice))?;
        let edit = draft.structure().cascade(cascade).force(force).whole();
        edit.splice_lists(vec![(&*list, vec![splice])])
    })?;
    report(py, &followed)
}

/// Removes records by their numbers.
pub(crate) fn remove<'py>(
    shared: &Shared,
    lump: &str,
    records: &Bound<'py, PyAny>,
    [cascade, force]: [bool; 2],
) -> Res<Bound<'py, PyAny>> {
    let (py, removed) = (records.py(), numbers(records)?);
    let gone = shared.structural(py, |draft| {
        let list = list_name(draft.bsp(), lump)?;
        let places = places(draft, &list, &removed, false)?;
        models::remove_records(draft, &list, &places, cascade, force)
    })?;
    match gone {
        Gone::Models(removed) => report(py, &removed.followed),
        Gone::Records(followed) => report(py, &followed),
    }
}

/// The records that nothing needs, by lump.
pub(crate) fn unused(py: Python<'_>, shared: &Shared) -> Res<BTreeMap<String, Vec<usize>>> {
    let draft = shared.snapshot()?;
    let found = detached(py, || Unused::of(&current(&draft)?))?;
    Ok(found.lists.into_iter().map(|list| (list.list, list.records)).collect())
}

/// Removes records that nothing needs; the result has what was removed. The options are `light` and `force`.
pub(crate) fn prune<'py>(
    py: Python<'py>,
    shared: &Shared,
    only: &[String],
    keep: &[String],
    [light, force]: [bool; 2],
) -> Res<Bound<'py, PyAny>> {
    let pruned = shared.structural(py, |draft| {
        let names = |all: &[String]| all.iter().map(|name| list_name(draft.bsp(), name)).collect();
        let (only, keep): (bspkit::Result<Vec<_>>, bspkit::Result<Vec<_>>) = (names(only), names(keep));
        let options = prune::Options::default().light(light).force(force);
        let options = only?.into_iter().fold(options, prune::Options::only);
        let options = keep?.into_iter().fold(options, prune::Options::keep);
        prune::prune(draft, &options)
    })?;
    let types = py.import("bspkit._types")?;
    let class = types.getattr("PrunedLump")?;
    let lumps = pruned.lumps.iter();
    let lumps = lumps.map(|lump| class.call1((&lump.lump, lump.unit, lump.before, lump.after, lump.bytes)));
    let lumps = lumps.collect::<PyResult<Vec<_>>>()?;
    Ok(types.call_method1("Pruned", (lumps, &pruned.warnings))?)
}

/// The brush models.
pub(crate) fn models<'py>(map: &Bound<'py, Map>) -> Res<Bound<'py, PyAny>> {
    let (py, draft) = (map.py(), map.get().shared.snapshot()?);
    let found = detached(py, || models::list(&current(&draft)?))?;
    let types = py.import("bspkit._types")?;
    let (class, vector) = (types.getattr("Model")?, types.getattr("Vector")?);
    let row = |model: &models::Model| {
        let entities: Vec<usize> = model.entities.iter().map(|entity| entity.index).collect();
        let records = PyDict::new(py);
        model.records.iter().try_for_each(|own| records.set_item(&own.list, own.count))?;
        let [mins, maxs] = [vector.call1(PyTuple::new(py, model.mins)?)?, vector.call1(PyTuple::new(py, model.maxs)?)?];
        class.call1((model.number, mins, maxs, entities, model.faces, records, model.light, model.bytes()))
    };
    let rows = found.iter().map(row).collect::<PyResult<Vec<_>>>()?;
    Ok(py.import("bspkit._models")?.call_method1("Models", (map, rows))?)
}

/// Removes models: what followed, the entities that named them, the bytes of light. The options are `keep_entity` and
/// `force`.
pub(crate) fn remove_models<'py>(
    py: Python<'py>,
    shared: &Shared,
    numbers: &[usize],
    [keep_entity, force]: [bool; 2],
) -> Res<(Bound<'py, PyAny>, Vec<usize>, usize)> {
    let removal = Removal::default().keep_entity(keep_entity).force(force);
    let removed = shared.structural(py, |draft| removal.run(draft, numbers))?;
    Ok((report(py, &removed.followed)?, removed.entities, removed.light))
}

/// Copies a model of another map: what came, as the arguments of `CopiedModel`.
pub(crate) fn copy_model<'py>(
    py: Python<'py>,
    shared: &Shared,
    other: &Shared,
    number: usize,
    entity: &Bound<'_, PyAny>,
    force: bool,
) -> Res<Bound<'py, PyTuple>> {
    let copying = match entity.extract::<bool>() {
        Ok(true) => Copying::default(),
        Ok(false) => Copying::default().without_entity(),
        Err(_) => Copying::default().class(entity.extract::<Text>()?),
    };
    let from = other.snapshot()?;
    let work = |draft: &mut Draft<'static>| copying.force(force).run(draft, &current(&from)?, &[number]);
    let copied = shared.structural(py, work)?;
    let records = PyDict::new(py);
    copied.records.iter().try_for_each(|(list, count)| records.set_item(list, count))?;
    let textures = copied.textures.iter().map(|name| shown(py, name)).collect::<PyResult<Vec<_>>>()?;
    let copy = copied.models.first().cloned().unwrap_or_default();
    Ok((copy.model, &copy.entities, records, copied.light, textures, &copied.warnings).into_pyobject(py)?)
}

/// What followed, as Python's report.
fn report<'py>(py: Python<'py>, followed: &Followed) -> Res<Bound<'py, PyAny>> {
    let fields: Vec<_> = followed.fields.iter().map(|field| (&field.lump, &field.field, field.count)).collect();
    let removed: Vec<_> = followed.removed.iter().map(|removed| (&removed.lump, removed.count)).collect();
    Ok(py.import("bspkit._types")?.call_method1("followed", (fields, removed, &followed.warnings))?)
}

/// The bytes of new records of a lump, with little-endian numbers.
fn bytes_of(shared: &Shared, lump: &str, records: &Bound<'_, PyAny>) -> Res<Vec<u8>> {
    if let Ok(bytes) = records.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let own = shared.with(|state| table::kind(records.py(), state, lump))?;
    let tables = records.py().import("bspkit._tables")?;
    Ok(tables.call_method1("little_endian", (records, own))?.extract()?)
}

/// One number, or several.
fn numbers(records: &Bound<'_, PyAny>) -> Res<Vec<isize>> {
    match records.extract::<isize>() {
        Ok(one) => Ok(vec![one]),
        Err(_) => Ok(records.try_iter()?.map(|number| number?.extract()).collect::<PyResult<_>>()?),
    }
}
