//! Records as arrays of NumPy. An array lies over a `bytearray` with the bytes of a lump in the byte order of the file;
//! what Python writes into it becomes an edit when the map is used next.

use std::collections::BTreeMap;

use bspkit::bytes::ByteOrder;
use bspkit::dialect::Span;
use bspkit::record::{FieldInfo, Meaning, Number, RecordInfo, Shape};
use bspkit::{Data, Draft, ErrorKind, SlotId};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};

use crate::errors::Res;
use crate::shared::State;

/// The array of a lump.
pub(crate) struct Table {
    array: Py<PyByteArray>,
    /// Its bytes as the draft has them.
    known: Data<'static>,
}

/// The arrays of a map by their lumps.
pub(crate) type Tables = BTreeMap<SlotId, Table>;

/// Makes what Python wrote into arrays edits of the draft. Bytes that Python did not change are those of the draft, which
/// may have been edited in another way.
pub(crate) fn settle(draft: &mut Draft<'static>, tables: &mut Tables) -> Res<()> {
    if tables.is_empty() {
        return Ok(());
    }
    Python::attach(|py| {
        for (slot, table) in tables {
            let array = table.array.bind(py);
            let bytes = array.to_vec();
            if bytes != *table.known {
                let mut new = draft.bytes(*slot)?.to_vec();
                let changes = new.iter_mut().zip(bytes.iter().zip(&*table.known));
                changes.filter(|(_, (now, before))| now != before).for_each(|(byte, (now, _))| *byte = *now);
                draft.set(*slot, new)?;
                table.show(py, draft.bytes(*slot)?)?;
            }
        }
        Ok(())
    })
}

/// Makes arrays show the draft. One of a lump that has another length now is not part of the map any more.
pub(crate) fn show(draft: &Draft<'static>, tables: &mut Tables) -> Res<()> {
    if tables.is_empty() {
        return Ok(());
    }
    let mut replaced = Vec::new();
    Python::attach(|py| {
        for (slot, table) in &mut *tables {
            let bytes = draft.bytes(*slot)?;
            match bytes.len() == table.known.len() {
                true if *bytes == *table.known => {}
                true => table.show(py, bytes)?,
                false => replaced.push(*slot),
            }
        }
        Ok::<_, crate::errors::Failure>(())
    })?;
    tables.retain(|slot, _| !replaced.contains(slot));
    Ok(())
}

impl Table {
    fn show(&mut self, py: Python<'_>, bytes: Data<'static>) -> Res<()> {
        self.array.bind(py).set_item(pyo3::types::PySlice::full(py), PyBytes::new(py, &bytes))?;
        self.known = bytes;
        Ok(())
    }
}

/// Whether an array is part of the map.
pub(crate) fn is_held(py: Python<'_>, tables: &Tables, array: &Bound<'_, PyAny>) -> bool {
    tables.values().any(|table| table.array.bind(py).is(array))
}

/// The array of a lump, or of one list of it (`LUMP.LIST`), as the draft has it.
pub(crate) struct Found<'py> {
    part: Span,
    order: ByteOrder,
    array: Bound<'py, PyByteArray>,
}

/// Finds the records of a lump, and gives Python their bytes.
pub(crate) fn open<'py>(py: Python<'py>, state: &mut State, lump: &str) -> Res<Found<'py>> {
    let draft = state.draft()?;
    let (slot, part) = find(draft, lump)?;
    let order = draft.bsp().byte_order();
    Ok(Found { part, order, array: array(py, state, slot)? })
}

impl<'py> Found<'py> {
    /// What NumPy needs: the bytes, and the type of the records.
    pub(crate) fn parts(self, py: Python<'py>) -> Res<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        found.set_item("dtype", dtype(py, self.part.record, self.order)?)?;
        found.set_item("buffer", self.array)?;
        found.set_item("start", self.part.range.start)?;
        found.set_item("count", self.part.count())?;
        Ok(found)
    }
}

/// The `bytearray` of a lump: the one that Python has already, with the bytes that the draft has now.
fn array<'py>(py: Python<'py>, state: &mut State, slot: SlotId) -> Res<Bound<'py, PyByteArray>> {
    let bytes = state.draft()?.bytes(slot)?;
    if let Some(table) = state.tables().get_mut(&slot)
        && table.known.len() == bytes.len()
    {
        if *table.known != *bytes {
            table.show(py, bytes)?;
        }
        return Ok(table.array.bind(py).clone());
    }
    let array = PyByteArray::new(py, &bytes);
    state.tables().insert(slot, Table { array: array.clone().unbind(), known: bytes });
    Ok(array)
}

/// The records of a lump, or of one list of it.
fn find(draft: &Draft<'static>, lump: &str) -> Res<(SlotId, Span)> {
    let records = draft.records(lump).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => error.with_hint("use bytes and set_bytes for its bytes"),
        _ => error,
    })?;
    Ok((records.slot(), records.span().clone()))
}

/// The type of NumPy for the records of a lump, with little-endian numbers.
pub(crate) fn kind<'py>(py: Python<'py>, state: &mut State, lump: &str) -> Res<Bound<'py, PyAny>> {
    dtype(py, find(state.draft()?, lump)?.1.record, ByteOrder::Little)
}

/// The type of NumPy for a struct. It is made once.
fn dtype<'py>(py: Python<'py>, record: &'static RecordInfo, order: ByteOrder) -> Res<Bound<'py, PyAny>> {
    let tables = py.import("bspkit._tables")?;
    let known = tables.getattr("dtypes")?.cast_into::<PyDict>().map_err(PyErr::from)?;
    let key = (std::ptr::from_ref(record).addr(), order == ByteOrder::Big);
    if let Some(dtype) = known.get_item(key)? {
        return Ok(dtype);
    }
    let fields = fields(py, record.fields, order)?;
    let dtype = tables.call_method1("struct", (fields, record.name, record.size))?;
    known.set_item(key, &dtype)?;
    Ok(dtype)
}

/// The fields of a struct, each as a dictionary.
fn fields<'py>(py: Python<'py>, all: &'static [FieldInfo], order: ByteOrder) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for field in all {
        let entry = PyDict::new(py);
        entry.set_item("name", field.name)?;
        entry.set_item("engine", if field.engine.is_empty() { field.name } else { field.engine })?;
        entry.set_item("offset", field.offset)?;
        entry.set_item("size", field.shape.size())?;
        entry.set_item("type", shape(py, field.shape, order)?)?;
        entry.set_item("meaning", meaning(field.meaning))?;
        list.append(entry)?;
    }
    Ok(list)
}

/// A type of NumPy: a string, `(type, count)` for an array, or the fields of a struct.
fn shape<'py>(py: Python<'py>, of: Shape, order: ByteOrder) -> PyResult<Bound<'py, PyAny>> {
    let sign = if order == ByteOrder::Big { ">" } else { "<" };
    Ok(match of {
        Shape::Number(number) => {
            let kind = match number {
                Number::U8 => "u1",
                Number::I8 => "i1",
                Number::U16 => "u2",
                Number::I16 => "i2",
                Number::U32 => "u4",
                Number::I32 => "i4",
                _ => "f4",
            };
            format!("{sign}{kind}").into_pyobject(py)?.into_any()
        }
        Shape::Name(size) => format!("S{size}").into_pyobject(py)?.into_any(),
        Shape::Array(item, count) => (shape(py, *item, order)?, count).into_pyobject(py)?.into_any(),
        Shape::Record(all) => fields(py, all, order)?.into_any(),
    })
}

/// What the numbers of a field mean, as a sentence; nothing for quantities.
fn meaning(of: Meaning) -> Option<String> {
    match of {
        Meaning::Index { lump, none: [], .. } => Some(format!("index in {lump}")),
        Meaning::Index { lump, none, .. } => {
            let none: Vec<String> = none.iter().map(ToString::to_string).collect();
            Some(format!("index in {lump}; {} for none", none.join(" or ")))
        }
        Meaning::Run { lump, count, .. } => {
            Some(format!("index in {lump} of the first; `{}` has the count", count.field))
        }
        Meaning::Child => Some("index of a node; for a leaf, the index with all bits inverted".to_owned()),
        Meaning::Flags(kind) => Some(format!("flags: {kind}")),
        _ => None,
    }
}
