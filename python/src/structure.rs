//! The order and the number of records, with all that refers to them.

use std::sync::Arc;

use bspkit::face::records::list_name;
use bspkit::op::{models, prune};
use bspkit::{Draft, Followed, Reference, Structure};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::errors::{Res, detached};
use crate::shared::{Shared, current};
use crate::text::shown;

/// What refers to a record, and what it refers to.
pub(crate) fn references<'py>(
    py: Python<'py>,
    draft: &Draft<'static>,
    lump: &str,
    record: usize,
) -> Res<Bound<'py, PyAny>> {
    let found = detached(py, || draft.references_of(&list_name(draft.bsp(), lump)?, record))?;
    let types = py.import("bspkit._types")?;
    let class = types.getattr("Reference")?;
    let all = |references: &[Reference]| {
        let row = |one: &Reference| class.call1((&one.lump, one.record, one.count, &one.field));
        references.iter().map(row).collect::<PyResult<Vec<_>>>()
    };
    Ok(types.call_method1("References", (all(&found.by)?, all(&found.to)?))?)
}

/// Edits the order or the number of records; the result says what followed. The options are `cascade` and `force`.
pub(crate) fn edit<'py>(
    py: Python<'py>,
    shared: &Arc<Shared>,
    lump: &str,
    [cascade, force]: [bool; 2],
    work: impl FnOnce(Structure<'_, 'static>, &str) -> bspkit::Result<Followed> + Send,
) -> Res<Bound<'py, PyAny>> {
    let followed = shared.structural(py, |draft| {
        let list = list_name(draft.bsp(), lump)?;
        work(draft.structure().cascade(cascade).force(force), &list)
    })?;
    report(py, &followed)
}

/// The brush models.
pub(crate) fn models<'py>(py: Python<'py>, draft: &Draft<'static>) -> Res<Vec<Bound<'py, PyAny>>> {
    let found = detached(py, || models::list(&current(draft)?))?;
    let types = py.import("bspkit._types")?;
    let (class, vector) = (types.getattr("Model")?, types.getattr("Vector")?);
    let row = |model: &models::Model| {
        let entities: Vec<usize> = model.entities.iter().map(|entity| entity.index).collect();
        let records = PyDict::new(py);
        model.records.iter().try_for_each(|own| records.set_item(&own.list, own.count))?;
        let [mins, maxs] = [vector.call1(PyTuple::new(py, model.mins)?)?, vector.call1(PyTuple::new(py, model.maxs)?)?];
        class.call1((model.number, mins, maxs, entities, model.faces, records, model.light, model.bytes()))
    };
    Ok(found.iter().map(row).collect::<PyResult<_>>()?)
}

/// What was removed because nothing needs it.
pub(crate) fn pruned<'py>(py: Python<'py>, pruned: &prune::Pruned) -> Res<Bound<'py, PyAny>> {
    let types = py.import("bspkit._types")?;
    let class = types.getattr("PrunedLump")?;
    let lumps = pruned.lumps.iter();
    let lumps = lumps.map(|lump| class.call1((&lump.lump, lump.unit, lump.before, lump.after, lump.bytes)));
    let lumps = lumps.collect::<PyResult<Vec<_>>>()?;
    Ok(types.call_method1("Pruned", (lumps, &pruned.warnings))?)
}

/// What came with a model of another map.
pub(crate) fn copied<'py>(py: Python<'py>, copied: &models::Copied) -> Res<Bound<'py, PyTuple>> {
    let records = PyDict::new(py);
    copied.records.iter().try_for_each(|(list, count)| records.set_item(list, count))?;
    let textures = copied.textures.iter().map(|name| shown(py, name)).collect::<PyResult<Vec<_>>>()?;
    Ok((copied.model, &copied.entities, records, copied.light, textures, &copied.warnings).into_pyobject(py)?)
}

/// What followed, as Python's report.
pub(crate) fn report<'py>(py: Python<'py>, followed: &Followed) -> Res<Bound<'py, PyAny>> {
    let fields: Vec<_> = followed.fields.iter().map(|field| (&field.lump, &field.field, field.count)).collect();
    let removed: Vec<_> = followed.removed.iter().map(|removed| (&removed.lump, removed.count)).collect();
    Ok(py.import("bspkit._types")?.call_method1("followed", (fields, removed, &followed.warnings))?)
}

/// The bytes of new records, with little-endian numbers.
pub(crate) fn bytes_of(records: &Bound<'_, PyAny>) -> Res<Vec<u8>> {
    if let Ok(bytes) = records.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let tables = records.py().import("bspkit._tables")?;
    Ok(tables.call_method1("little_endian", (records,))?.extract()?)
}

/// One number, or several.
pub(crate) fn numbers(records: &Bound<'_, PyAny>) -> Res<Vec<usize>> {
    match records.extract::<usize>() {
        Ok(one) => Ok(vec![one]),
        Err(_) => Ok(records.try_iter()?.map(|number| number?.extract()).collect::<PyResult<_>>()?),
    }
}
