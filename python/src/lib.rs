//! The Python module of bspkit: it takes Python's arguments, calls the library, and gives its results back.

mod entities;
mod entity;
mod errors;
mod light;
mod map;
mod ops;
mod pak;
mod report;
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
    use super::map::{Map, open};
    #[pymodule_export]
    use super::pak::{Pak, PakFile};
    #[pymodule_export]
    use super::report::{Finding, Lump, SaveReport};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::errors::add(module)
    }
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

fn shown_type(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}
