//! The files embedded in a Source map, as a mapping of names to bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bspkit::content::pak::{Pak as Files, Pattern};
use bspkit::face::pak::{Names, files_in, paths, sync};
use bspkit::{Error, ErrorKind};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::Res;
use crate::map::Shared;
use crate::text::{Text, shown};

/// The embedded files of a map. Names are compared as engines do: without regard to case, and `\` is `/`.
#[pyclass(frozen, module = "bspkit", name = "_Pak")]
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

    fn read<'py>(&self, py: Python<'py>, name: Text) -> Res<Bound<'py, PyBytes>> {
        let data = self.with(|files| match files.find(&name).first().and_then(|index| files.get(*index)) {
            Some(entry) => Ok(entry.data()?),
            None => Err(missing(&name)),
        })?;
        Ok(PyBytes::new(py, &data))
    }

    fn write(&self, name: Text, data: Vec<u8>) -> Res<()> {
        self.with(|files| Ok(files.add(name, data).map(drop)?))
    }

    /// Removes all files of a name.
    fn remove(&self, name: Text) -> Res<()> {
        self.with(|files| match files.find(&name) {
            found if found.is_empty() => Err(missing(&name)),
            found => Ok(files.remove(&found)?),
        })
    }

    fn has(&self, name: Text) -> Res<bool> {
        self.with(|files| Ok(!files.find(name).is_empty()))
    }

    /// The names in their order.
    fn names<'py>(&self, py: Python<'py>) -> Res<Vec<Bound<'py, PyString>>> {
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
    fn compress(&self, patterns: Vec<String>) -> Res<usize> {
        self.with(|files| {
            let found = Pak::indices(files, &patterns)?;
            Ok(files.compress(&found, 1)?.changed)
        })
    }

    /// Decompresses the files that the patterns match, or all; returns how many were compressed.
    fn store(&self, patterns: Vec<String>) -> Res<usize> {
        self.with(|files| {
            let found = Pak::indices(files, &patterns)?;
            Ok(files.store(&found, 1)?.changed)
        })
    }

    /// Writes files below a folder; returns the paths. A name that leads out of the folder is refused.
    fn extract(&self, py: Python<'_>, folder: PathBuf, patterns: Vec<String>) -> Res<Vec<PathBuf>> {
        let files = self.with(|files| Ok(files.clone()))?;
        let found = Pak::indices(&files, &patterns)?;
        Ok(py.detach(|| extract(&files, &found, &folder))?)
    }

    /// Adds all files of a folder, with names from that folder on; returns how many.
    fn add_folder(&self, folder: PathBuf) -> Res<usize> {
        let found: Vec<_> =
            files_in(&folder)?.into_iter().filter(|file| !Names::Normal.leaves_out(&file.name)).collect();
        self.with(|files| {
            for file in &found {
                files.add(Names::Normal.name(&file.name), std::fs::read(&file.path)?)?;
            }
            Ok(found.len())
        })
    }

    /// Makes the embedded files those of a folder; returns how many were added, changed and removed.
    fn sync(&self, folder: PathBuf) -> Res<(usize, usize, usize)> {
        let synced = self.with(|files| Ok(sync(files, &folder, Names::Normal)?))?;
        Ok((synced.added, synced.changed, synced.removed))
    }
}

fn extract(files: &Files<'_>, indices: &[usize], folder: &Path) -> bspkit::Result<Vec<PathBuf>> {
    let cannot = |path: &Path, error: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot write {}", path.display())).with_source(error)
    };
    files.check_total_size(indices)?;
    let mut written = Vec::new();
    for placed in paths(files, indices) {
        let Some(entry) = files.get(placed.index) else { continue };
        let name = bspkit::bytes::escaped(entry.name());
        let path =
            placed.path.map_err(|why| Error::new(ErrorKind::Refused, format!("cannot extract {name}: {why}")))?;
        let path = String::from_utf8(path)
            .map_err(|_| Error::new(ErrorKind::Unsupported, format!("cannot extract {name}: its name is not UTF-8")))?;
        let mut below = folder.to_path_buf();
        for part in path.split('/') {
            below.push(part);
            // A link in the folder could lead out of it.
            if below.symlink_metadata().is_ok_and(|there| there.is_symlink()) {
                let message = format!("cannot extract {name}: {} is a symbolic link", below.display());
                return Err(Error::new(ErrorKind::Refused, message));
            }
        }
        let above = if placed.is_folder { Some(&*below) } else { below.parent() };
        std::fs::create_dir_all(above.unwrap_or(folder)).map_err(|error| cannot(&below, error))?;
        if !placed.is_folder {
            std::fs::write(&below, entry.data()?).map_err(|error| cannot(&below, error))?;
            written.push(below);
        }
    }
    Ok(written)
}
