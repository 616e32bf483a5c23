//! The files embedded in a Source map, as a mapping of names to bytes.

use std::path::PathBuf;
use std::sync::Arc;

use bspkit::content::pak::{Pak as Files, Pattern};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::Res;
use crate::map::Shared;
use crate::text::{Text, shown};

/// The embedded files of a map. Names are compared as engines do: without regard to case, and `\` is `/`.
#[pyclass(frozen, mapping, module = "bspkit")]
pub(crate) struct Pak {
    shared: Arc<Shared>,
}

/// An embedded file as it is in the map.
#[pyclass(frozen, get_all, module = "bspkit")]
pub(crate) struct PakFile {
    name: String,
    /// The number of bytes of the file.
    size: usize,
    /// The number of bytes in the map.
    stored_size: usize,
    /// `stored`, `lzma`, or the number of another method.
    method: String,
    crc: u32,
}

#[pymethods]
impl PakFile {
    fn __repr__(&self) -> String {
        format!("<bspkit.PakFile {}, {} bytes, {}>", self.name, self.size, self.method)
    }
}

impl Pak {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Pak { shared: shared.clone() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Files<'static>) -> Res<T>) -> Res<T> {
        self.shared.with(|state| work(state.draft()?.pak()?))
    }

    fn indices(files: &Files<'_>, patterns: &[String]) -> Res<Vec<usize>> {
        if patterns.is_empty() {
            return Ok((0..files.len()).collect());
        }
        let mut found = Vec::new();
        for pattern in patterns {
            found.extend(files.select(&Pattern::new(pattern)));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

fn missing(name: &Text) -> crate::errors::Failure {
    PyKeyError::new_err(bspkit::bytes::escaped(&name.0).to_string()).into()
}

#[pymethods]
impl Pak {
    fn __len__(&self) -> Res<usize> {
        self.with(|files| Ok(files.len()))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: Text) -> Res<Bound<'py, PyBytes>> {
        let data = self.with(|files| match files.find(&name).first().and_then(|index| files.get(*index)) {
            Some(entry) => Ok(entry.data()?),
            None => Err(missing(&name)),
        })?;
        Ok(PyBytes::new(py, &data))
    }

    fn __setitem__(&self, name: Text, data: &Bound<'_, PyAny>) -> Res<()> {
        let Ok(data) = data.extract::<Vec<u8>>() else {
            let message = format!("a file is bytes, and not {}; use text.encode()", crate::shown_type(data));
            return Err(PyTypeError::new_err(message).into());
        };
        self.with(|files| Ok(files.add(name, data).map(drop)?))
    }

    fn __delitem__(&self, name: Text) -> Res<()> {
        self.with(|files| match files.find(&name) {
            found if found.is_empty() => Err(missing(&name)),
            found => Ok(files.remove(&found)?),
        })
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> Res<bool> {
        match name.extract::<Text>() {
            Ok(name) => self.with(|files| Ok(!files.find(name).is_empty())),
            Err(_) => Ok(false),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        Ok(self.keys(py)?.into_pyobject(py)?.into_any().call_method0("__iter__")?)
    }

    /// The names in their order.
    fn keys<'py>(&self, py: Python<'py>) -> Res<Vec<Bound<'py, PyString>>> {
        let names: Vec<Vec<u8>> = self.with(|files| Ok(files.iter().map(|entry| entry.name().to_vec()).collect()))?;
        Ok(names.iter().map(|name| shown(py, name)).collect::<PyResult<_>>()?)
    }

    /// The files with their sizes and methods, without reading their bytes.
    fn files(&self) -> Res<Vec<PakFile>> {
        self.with(|files| {
            let file = |entry: bspkit::content::pak::Entry<'_, '_>| PakFile {
                name: String::from_utf8_lossy(entry.name()).into_owned(),
                size: entry.size(),
                stored_size: entry.stored_size(),
                method: entry.method().to_string(),
                crc: entry.crc(),
            };
            Ok(files.iter().map(file).collect())
        })
    }

    /// The names that one of the patterns matches, such as `"*.vmt"`.
    #[pyo3(signature = (*patterns))]
    fn select<'py>(&self, py: Python<'py>, patterns: Vec<String>) -> Res<Vec<Bound<'py, PyString>>> {
        let names: Vec<Vec<u8>> = self.with(|files| {
            let found = Pak::indices(files, &patterns)?;
            Ok(found.into_iter().filter_map(|index| files.get(index)).map(|entry| entry.name().to_vec()).collect())
        })?;
        Ok(names.iter().map(|name| shown(py, name)).collect::<PyResult<_>>()?)
    }

    /// Gives a file another name; its bytes and its position stay.
    fn rename(&self, old: Text, new: Text) -> Res<()> {
        self.with(|files| {
            let index = files.one(old)?;
            Ok(files.rename(index, new)?)
        })
    }

    /// Compresses the files that the patterns match, or all; returns how many became smaller.
    #[pyo3(signature = (*patterns))]
    fn compress(&self, patterns: Vec<String>) -> Res<usize> {
        self.with(|files| {
            let found = Pak::indices(files, &patterns)?;
            Ok(files.compress(&found, 1)?.changed)
        })
    }

    /// Decompresses the files that the patterns match, or all; returns how many were compressed.
    #[pyo3(signature = (*patterns))]
    fn store(&self, patterns: Vec<String>) -> Res<usize> {
        self.with(|files| {
            let found = Pak::indices(files, &patterns)?;
            Ok(files.store(&found, 1)?.changed)
        })
    }

    /// Adds all files of a folder, with names from that folder on; returns how many.
    fn add_folder(&self, folder: PathBuf) -> Res<usize> {
        let mut found = Vec::new();
        walk(&folder, "", &mut found)?;
        self.with(|files| {
            for (name, path) in &found {
                let data = std::fs::read(path).map_err(PyErr::from)?;
                files.add(name, data)?;
            }
            Ok(found.len())
        })
    }

    fn __repr__(&self) -> Res<String> {
        Ok(format!("<bspkit.Pak, {} files>", self.__len__()?))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("embedded files cannot be pickled: pickle dict(map.pak)"))
    }
}

/// The files of a folder in the order of their names, without those that symbolic links lead to.
fn walk(folder: &std::path::Path, before: &str, found: &mut Vec<(String, PathBuf)>) -> Res<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else {
            return Err(crate::entities::wrong(format!("the name of {} is not UTF-8", entry.path().display())));
        };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{before}{name}/"), found)?;
        } else if kind.is_file() {
            found.push((format!("{before}{name}"), entry.path()));
        }
    }
    Ok(())
}
