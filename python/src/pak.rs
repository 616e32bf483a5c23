//! The files embedded in a Source map, as a mapping of names to bytes.

use std::path::PathBuf;
use std::sync::Arc;

use bspkit::bytes::escaped;
use bspkit::content::pak::{self as content, Pak as Files, Pattern, Time};
use bspkit::disk::input;
use bspkit::file::lzma::Level;
use bspkit::{Error, ErrorKind};
use bspkit_text::pak::{Extracted, Names, extract, files_in, refuse_twice, sync};
use pyo3::exceptions::{PyKeyError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{Res, detached};
use crate::needs::{self, Filled, Filling};
use crate::shared::Shared;
use crate::text::{Text, shown};

/// The embedded files of a map. Names are compared as engines do: without regard to case, and `\` is `/`.
#[pyclass(frozen, module = "bspkit", name = "_Pak")]
pub(crate) struct Pak {
    shared: Arc<Shared>,
}

/// An embedded file as it is in the map.
#[pyclass(frozen, module = "bspkit")]
pub(crate) struct PakFile {
    bytes: Vec<u8>,
    /// The number of bytes of the file.
    #[pyo3(get)]
    size: usize,
    /// The number of bytes in the map.
    #[pyo3(get)]
    stored_size: usize,
    /// `stored`, `lzma`, or the number of another method.
    #[pyo3(get)]
    method: String,
    #[pyo3(get)]
    crc: u32,
    time: Time,
}

#[pymethods]
impl PakFile {
    /// The name, as it is in the map.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        shown(py, &self.bytes)
    }

    /// The time as a `datetime` without a zone; `None` if the map has none, or one that does not exist.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let class = py.import("datetime")?.getattr("datetime")?;
        Ok(class.call_method1("fromisoformat", (self.time.to_string(),)).ok())
    }

    fn __repr__(&self) -> String {
        format!("<bspkit.PakFile {}, {} bytes, {}>", escaped(&self.bytes), self.size, self.method)
    }
}

impl Pak {
    /// What Python has of it.
    pub(crate) fn open<'py>(py: Python<'py>, shared: &Arc<Shared>) -> Res<Bound<'py, PyAny>> {
        shared.with(|state| Ok(state.draft()?.pak().map(drop)?))?;
        let native = Pak { shared: shared.clone() };
        Ok(py.import("bspkit._pak")?.call_method1("Pak", (native,))?)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Files<'static>) -> Res<T>) -> Res<T> {
        self.shared.with(|state| work(state.draft()?.pak()?))
    }

    fn long<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Files<'static>) -> bspkit::Result<T> + Send,
    ) -> Res<T> {
        self.shared.long(py, |draft| work(draft.pak()?))
    }
}

/// The files that one of the patterns matches; all without a pattern.
fn indices(files: &Files<'_>, patterns: &[String]) -> Vec<usize> {
    if patterns.is_empty() {
        return (0..files.len()).collect();
    }
    let mut found: Vec<usize> = patterns.iter().flat_map(|pattern| files.select(&Pattern::new(pattern))).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn missing(name: &Text) -> crate::errors::Failure {
    PyKeyError::new_err(escaped(&name.0).to_string()).into()
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

    /// Removes the file that `read` gives: the first one that is spelled like this, or else the one whose name is the
    /// same to engines.
    fn remove(&self, name: Text) -> Res<()> {
        self.with(|files| {
            let found = files.find(&name);
            if found.is_empty() {
                return Err(missing(&name));
            }
            let is_spelled = |index: &&usize| files.get(**index).is_some_and(|entry| entry.name() == name.0);
            let one = match found.iter().find(is_spelled) {
                Some(index) => *index,
                None => files.one(&name)?,
            };
            Ok(files.remove(&[one])?)
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
                bytes: entry.name().to_vec(),
                size: entry.size(),
                stored_size: entry.stored_size(),
                method: entry.method().to_string(),
                crc: entry.crc(),
                time: entry.time(),
            };
            Ok(files.iter().map(file).collect())
        })
    }

    /// The names that one of the patterns matches, such as `"*.vmt"`.
    fn select<'py>(&self, py: Python<'py>, patterns: Vec<String>) -> Res<Vec<Bound<'py, PyString>>> {
        let names: Vec<Vec<u8>> = self.with(|files| {
            let found = indices(files, &patterns);
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

    /// Compresses files (`lzma`) or decompresses them (`stored`), each by the last pattern of the policy that matches it;
    /// the result has how many changed and were kept, the bytes before and after, and what failed.
    fn pack(&self, py: Python<'_>, policy: Vec<(String, String)>, level: u8) -> Res<Packed> {
        let level = Level::new(level)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let is_compressing = policy.iter().any(|(_, method)| method == "lzma");
        let packed = self.long(py, move |files| pack(files, &policy, level, threads))?;
        let caveat = self.shared.with(|state| Ok(state.bsp().compression_caveat()))?;
        if let Some(caveat) = caveat.filter(|_| is_compressing && packed.0 > 0) {
            let text = std::ffi::CString::new(caveat).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 3)?;
        }
        Ok(packed)
    }

    /// Sets the time of the files that the patterns match: `2013-06-20T12:34:56`; an empty text for none.
    fn set_time(&self, time: &str, patterns: Vec<String>) -> Res<usize> {
        let time = if time.is_empty() { Time::NONE } else { Time::parse(time)? };
        self.with(|files| {
            let found = indices(files, &patterns);
            files.set_time(&found, time)?;
            Ok(found.len())
        })
    }

    /// Writes files below a folder; returns the paths. What the library refuses is an error after the others are
    /// written.
    fn extract(&self, py: Python<'_>, folder: PathBuf, patterns: Vec<String>, force: bool) -> Res<Vec<PathBuf>> {
        let files = self.with(|files| Ok(files.clone()))?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let done = detached(py, || extract(&files, &indices(&files, &patterns), &folder, threads, force))?;
        let mut written = Vec::with_capacity(done.len());
        let mut failed = Vec::new();
        for Extracted { path, warnings, .. } in done {
            for warning in warnings {
                let text = std::ffi::CString::new(warning).unwrap_or_default();
                PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
            }
            match path {
                Ok(path) => written.push(path),
                Err(error) => failed.push(error),
            }
        }
        let more = failed.len().saturating_sub(1);
        match failed.into_iter().next() {
            None => Ok(written),
            Some(error) if more == 0 => Err(error.into()),
            Some(error) => {
                Err(error.with_hint(format!("{more} more cannot be extracted; the others are written")).into())
            }
        }
    }

    /// Adds all files of a folder, with names from that folder on, or none after an error; returns how many.
    fn add_folder(&self, py: Python<'_>, folder: PathBuf) -> Res<usize> {
        self.long(py, move |files| {
            if folder.is_file() {
                let message = format!("{} is not a folder", folder.display());
                return Err(Error::new(ErrorKind::Argument, message));
            }
            let mut found = files_in(&folder)?;
            found.retain(|file| Names::Normal.leaves_out(&file.name).is_none());
            refuse_twice(found.iter().map(|file| &*file.name))?;
            let mut new = files.clone();
            for file in &found {
                new.add(Names::Normal.name(&file.name), input::read(&file.path)?)?;
            }
            *files = new;
            Ok(found.len())
        })
    }

    /// The files that the map needs and that neither it nor the game has.
    fn missing<'py>(
        &self,
        py: Python<'py>,
        game: &Bound<'py, PyAny>,
        name: Option<String>,
    ) -> Res<Vec<Bound<'py, PyAny>>> {
        needs::missing(py, &self.shared, name, &crate::paths(Some(game))?)
    }

    /// The embedded files that nothing is known to refer to.
    fn unused<'py>(
        &self,
        py: Python<'py>,
        game: Option<&Bound<'py, PyAny>>,
        name: Option<String>,
    ) -> Res<Vec<Bound<'py, PyAny>>> {
        needs::unused(py, &self.shared, name, &crate::paths(game)?)
    }

    /// Embeds the files that the map needs and that neither it nor the game has.
    #[pyo3(signature = (from_, game, name, only, exclude, /))]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        from_: &Bound<'py, PyAny>,
        game: Option<&Bound<'py, PyAny>>,
        name: Option<String>,
        only: Vec<String>,
        exclude: Vec<String>,
    ) -> Res<Filled<'py>> {
        let (from, game) = (crate::paths(Some(from_))?, crate::paths(game)?);
        needs::fill(py, &self.shared, &Filling { name, from, game, only, exclude })
    }

    /// Makes the embedded files those of a folder; returns how many were added, changed and removed.
    fn sync(&self, py: Python<'_>, folder: PathBuf) -> Res<(usize, usize, usize)> {
        let synced = self.long(py, move |files| sync(files, &folder, Names::Normal))?;
        Ok((synced.added, synced.changed, synced.removed))
    }
}

/// How many files changed and were kept, the bytes before and after, and the names of those that failed with the reason.
type Packed = (usize, usize, usize, usize, Vec<(String, String)>);

/// Stores each file by the last pattern that matches it.
fn pack(
    files: &mut Files<'static>,
    policy: &[(String, String)],
    level: Level,
    threads: usize,
) -> bspkit::Result<Packed> {
    let mut chosen = vec![None; files.len()];
    for (pattern, method) in policy {
        if !matches!(&**method, "lzma" | "stored" | "keep") {
            let message = format!("`{method}` is not a way to store a file: they are lzma, stored and keep");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        files.select(&Pattern::new(pattern)).into_iter().for_each(|index| chosen[index] = Some(&**method));
    }
    let of =
        |wanted: &str| -> Vec<usize> { (0..chosen.len()).filter(|index| chosen[*index] == Some(wanted)).collect() };
    let mut new = files.clone();
    let parts = [new.compress(&of("lzma"), threads, level)?, new.store(&of("stored"), threads)?];
    let name = |index| files.get(index).map_or(String::new(), |entry| escaped(entry.name()).to_string());
    let failed = parts.iter().flat_map(|part| &part.failed);
    let failed = failed.map(|(index, error)| (name(*index), error.to_string())).collect();
    let sum = |of: fn(&content::Packed) -> usize| parts.iter().map(of).sum();
    let packed = (sum(|it| it.changed), sum(|it| it.kept), sum(|it| it.bytes.0), sum(|it| it.bytes.1), failed);
    *files = new;
    Ok(packed)
}
