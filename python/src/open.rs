//! Opening maps.

use std::path::PathBuf;
use std::sync::Arc;

use bspkit::{Bsp, Error, ErrorKind, dialect};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Res, detached};
use crate::map::Map;
use crate::shared::{Home, Shared};

/// Opens a map: a path, its bytes, or a file that is open for reading.
///
/// `dialect` names the dialect, such as `"quake2"`; without it the dialect is detected.
///
/// The whole file is read. With `map` it is mapped, which is faster for large files of which little is used: then no
/// other program may write into the file while the map is open, and one that shortens it ends Python by a signal.
#[pyfunction]
#[pyo3(signature = (source, *, dialect = None, map = false))]
pub(crate) fn open(py: Python<'_>, source: &Bound<'_, PyAny>, dialect: Option<&str>, map: bool) -> Res<Map> {
    let dialect = dialect.map(dialect::by_name).transpose()?;
    let (path, bytes) = read(source)?;
    let opened = detached(py, || match (bytes, &path) {
        (Some(bytes), _) => Bsp::from_data(bytes.into(), dialect),
        (None, Some(path)) if map => Bsp::open_mapped(path, dialect),
        (None, Some(path)) => match dialect {
            Some(dialect) => Bsp::open_as(path, dialect),
            None => Bsp::open(path),
        },
        (None, None) => Err(Error::new(ErrorKind::Argument, "nothing to open")),
    })?;
    Ok(Map { shared: Arc::new(Shared::new(path.map(Home::new), opened.draft())) })
}

/// The path or the bytes of what is opened.
fn read(source: &Bound<'_, PyAny>) -> Res<(Option<PathBuf>, Option<Vec<u8>>)> {
    if let Ok(bytes) = source.cast::<PyBytes>() {
        return Ok((None, Some(bytes.as_bytes().to_vec())));
    }
    if source.hasattr("read")? {
        let bytes = source.call_method0("read")?;
        let bytes = bytes
            .extract::<Vec<u8>>()
            .map_err(|_| PyTypeError::new_err("the file is open for text; open it with mode \"rb\""))?;
        return Ok((None, Some(bytes)));
    }
    if let Ok(path) = source.extract::<PathBuf>() {
        return Ok((Some(path), None));
    }
    if let Ok(bytes) = source.extract::<Vec<u8>>() {
        return Ok((None, Some(bytes)));
    }
    let message = format!("a map is opened from a path, bytes or a file, and not from {}", crate::shown_type(source));
    Err(PyTypeError::new_err(message).into())
}
