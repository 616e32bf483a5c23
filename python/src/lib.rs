//! The Python module of bspkit: it takes Python's arguments, calls the library, and gives its results back.

mod entities;
mod entity;
mod errors;
mod light;
mod map;
mod needs;
mod open;
mod ops;
mod output;
mod pak;
mod report;
mod save;
mod shared;
mod source;
mod structure;
mod table;
mod text;

use pyo3::prelude::*;

/// Maps of the BSP family: `bspkit.open` gives a map.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::entities::{Entities, EntityIterator};
    #[pymodule_export]
    use super::entity::{Entity, RawPairs};
    #[pymodule_export]
    use super::light::{Light, Textures, Visibility};
    #[pymodule_export]
    use super::map::Map;
    #[pymodule_export]
    use super::open::open;
    #[pymodule_export]
    use super::output::Output;
    #[pymodule_export]
    use super::pak::{Pak, PakFile};
    #[pymodule_export]
    use super::report::{Finding, Lump, SaveReport};
    #[pymodule_export]
    use super::source::{read_source, write_source};

    #[cfg(debug_assertions)]
    #[pymodule_export]
    use super::{planted_call, planted_panic};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        // The package says what is public.
        let names = module.dict();
        if names.contains("__all__")? { names.del_item("__all__") } else { Ok(()) }
    }
}

/// Panics within the work on a map, or without one in work beside Python's other threads. Tests of development builds
/// find out what becomes of it; other builds do not have this function.
#[cfg(debug_assertions)]
#[pyfunction]
#[pyo3(name = "_panic", signature = (map = None))]
fn planted_panic(py: Python<'_>, map: Option<&map::Map>) -> errors::Res<()> {
    match map {
        Some(map) => map.shared.with(|_| panic!("planted in a map")),
        None => errors::detached(py, || panic!("planted beside other threads")),
    }
}

/// Calls a function within the work on a map, as a finalizer may be called. As [`planted_panic`], for tests alone.
#[cfg(debug_assertions)]
#[pyfunction]
#[pyo3(name = "_call")]
fn planted_call<'py>(map: &map::Map, function: &Bound<'py, PyAny>) -> errors::Res<Bound<'py, PyAny>> {
    map.shared.with(|_| Ok(function.call0()?))
}

/// A number of the library as Python has it.
fn signed(number: usize) -> isize {
    isize::try_from(number).unwrap_or(isize::MAX)
}

/// The place that a Python index means; a negative one counts from the end.
fn place(index: isize, len: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(signed(len))? } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

/// One path, several, or none.
fn paths(value: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<std::path::PathBuf>> {
    match value {
        None => Ok(Vec::new()),
        Some(value) => match value.extract() {
            Ok(path) => Ok(vec![path]),
            Err(_) => value.try_iter()?.map(|path| path?.extract()).collect(),
        },
    }
}

fn shown_type(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}
