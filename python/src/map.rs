//! A map: a draft that all handles of it share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bspkit::content::entities::{Entities as Text, Ids};
use bspkit::dialect;
use bspkit::op::verify::Verdict;
use bspkit::op::{check, compare, verify};
use bspkit::{Bsp, Draft, Error, ErrorKind, Layout, SaveOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::entities::Entities;
use crate::errors::{ClosedError, Res};
use crate::light::{Light, Textures, Visibility};
use crate::ops;
use crate::pak::Pak;
use crate::report::{Finding, Lump, SaveReport};
use crate::table::{self, Tables};

/// A map, with the edits that are not saved yet.
#[pyclass(frozen, module = "bspkit", name = "Map")]
pub(crate) struct Map {
    pub(crate) shared: Arc<Shared>,
}

/// What all handles of a map share.
pub(crate) struct Shared {
    path: Option<PathBuf>,
    state: Mutex<Option<State>>,
}

/// The draft, and what handles go by.
pub(crate) struct State {
    draft: Draft<'static>,
    ids: Ids,
    /// The arrays that Python has of lumps; their numbers may have changed.
    tables: Tables,
}

impl State {
    fn new(draft: Draft<'static>) -> Self {
        State { draft, ids: Ids::default(), tables: Tables::new() }
    }

    /// The draft with everything that was written into arrays.
    pub(crate) fn draft(&mut self) -> Res<&mut Draft<'static>> {
        table::settle(&mut self.draft, &mut self.tables)?;
        Ok(&mut self.draft)
    }

    /// The entities, and the numbers by which handles know them.
    pub(crate) fn entities(&mut self) -> Res<(&mut Text<'static>, &mut Ids)> {
        let entities = self.draft.entities()?;
        self.ids.fit(entities.len());
        Ok((entities, &mut self.ids))
    }

    /// All handles of entities lose theirs: the text was replaced.
    pub(crate) fn forget_entities(&mut self) {
        self.ids.clear();
    }

    pub(crate) fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

impl Shared {
    /// The name of the map: that of its file without the extension.
    fn name(&self) -> String {
        let name = self.path.as_ref().and_then(|path| path.file_stem());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the map. `work` must not call Python code that uses the same map.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut State) -> Res<T>) -> Res<T> {
        let mut state = self.lock();
        let state =
            state.as_mut().ok_or_else(|| ClosedError::new_err("the map was closed, so it cannot be used any more"))?;
        work(state)
    }

    /// A copy of the draft, to work on while other threads of Python run. It shares all bytes with the map.
    pub(crate) fn snapshot(&self) -> Res<Draft<'static>> {
        self.with(|state| Ok(state.draft()?.clone()))
    }
}

/// Opens a map: a path, its bytes, or a file that is open for reading.
///
/// `dialect` names the dialect, such as `"quake2"`; without it the dialect is detected.
#[pyfunction]
#[pyo3(signature = (source, *, dialect = None))]
pub(crate) fn open(py: Python<'_>, source: &Bound<'_, PyAny>, dialect: Option<&str>) -> Res<Map> {
    let dialect = dialect.map(dialect::by_name).transpose()?;
    let (path, bytes) = read(source)?;
    let opened = py.detach(|| match (bytes, &path) {
        (Some(bytes), _) => Bsp::from_data(bytes.into(), dialect),
        (None, Some(path)) => match dialect {
            Some(dialect) => Bsp::open_as(path, dialect),
            None => Bsp::open(path),
        },
        (None, None) => Err(Error::new(ErrorKind::Argument, "nothing to open")),
    });
    Ok(Map { shared: Arc::new(Shared { path, state: Mutex::new(Some(State::new(opened?.draft()))) }) })
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

fn layout_named(name: &str) -> Res<Layout> {
    match name {
        "keep" => Ok(Layout::Keep),
        "append" => Ok(Layout::Append),
        "repack" => Ok(Layout::Repack),
        _ => {
            Err(Error::new(ErrorKind::Argument, format!("`{name}` is not a layout: they are keep, append and repack"))
                .into())
        }
    }
}

#[pymethods]
impl Map {
    /// The path that the map was opened from; `None` for bytes.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.shared.path.clone()
    }

    /// The name of the dialect, such as `quake3`.
    #[getter]
    fn dialect(&self) -> Res<&'static str> {
        self.shared.with(|state| Ok(state.draft.bsp().dialect().name))
    }

    /// The version number of the format.
    #[getter]
    fn version(&self) -> Res<i32> {
        self.shared.with(|state| Ok(state.draft.bsp().version()))
    }

    /// The revision of a Source map.
    #[getter]
    fn revision(&self) -> Res<Option<i32>> {
        self.shared.with(|state| Ok(state.draft.bsp().revision()))
    }

    /// The lumps and everything else that has bytes and a name.
    #[getter]
    fn lumps(&self) -> Res<Vec<Lump>> {
        self.shared.with(|state| {
            let bsp = state.draft.bsp();
            Ok(bsp.slots().iter().map(|slot| Lump::new(bsp, slot)).collect())
        })
    }

    /// The entities.
    #[getter]
    fn entities(&self) -> Res<Entities> {
        self.shared.with(|state| state.entities().map(drop))?;
        Ok(Entities::new(&self.shared))
    }

    /// The files embedded in a Source map, by name.
    #[getter]
    fn pak<'py>(slf: &Bound<'py, Self>) -> Res<Bound<'py, PyAny>> {
        slf.get().shared.with(|state| Ok(state.draft()?.pak().map(drop)?))?;
        let native = Pak::new(&slf.get().shared);
        Ok(slf.py().import("bspkit._pak")?.call_method1("Pak", (native,))?)
    }

    /// The light of faces.
    #[getter]
    fn light<'py>(slf: &Bound<'py, Self>) -> Res<Bound<'py, PyAny>> {
        slf.get().shared.with(|state| Ok(state.draft()?.light().map(drop)?))?;
        let native = Light { shared: slf.get().shared.clone() };
        Ok(slf.py().import("bspkit._light")?.call_method1("Light", (native,))?)
    }

    /// The textures in a Quake or GoldSrc map.
    #[getter]
    fn textures<'py>(slf: &Bound<'py, Self>) -> Res<Bound<'py, PyAny>> {
        slf.get().shared.with(|state| Ok(state.draft()?.textures().map(drop)?))?;
        let native = Textures { shared: slf.get().shared.clone() };
        Ok(slf.py().import("bspkit._light")?.call_method1("Textures", (native,))?)
    }

    /// What is visible from where.
    #[getter]
    fn visibility<'py>(slf: &Bound<'py, Self>) -> Res<Bound<'py, PyAny>> {
        slf.get().shared.with(|state| Ok(state.draft()?.visibility().map(drop)?))?;
        let native = Visibility { shared: slf.get().shared.clone() };
        Ok(slf.py().import("bspkit._light")?.call_method1("Visibility", (native,))?)
    }

    /// What differs between this map and a newer one: counts and changes, as the program's `diff --json` says it.
    #[pyo3(signature = (other, *, most = 1000))]
    fn diff<'py>(&self, py: Python<'py>, other: &Map, most: usize) -> Res<Bound<'py, PyAny>> {
        let (old, new) = (self.shared.snapshot()?, other.shared.snapshot()?);
        let text = py.detach(|| ops::differences(&old, &new, most))?;
        Ok(py.import("json")?.call_method1("loads", (text,))?)
    }

    /// The patch that leads from the entities of this map to those of another one: JSON, for `patch`.
    fn patch_to(&self, py: Python<'_>, other: &Map) -> Res<String> {
        let (old, new) = (self.shared.snapshot()?, other.shared.snapshot()?);
        Ok(py.detach(|| ops::patch_between(&old, &new))?)
    }

    /// Applies a patch of entities, all of it or nothing: JSON, or what `json.loads` makes of it.
    fn patch(&self, py: Python<'_>, patch: &Bound<'_, PyAny>) -> Res<()> {
        let text = match patch.extract::<String>() {
            Ok(text) => text,
            Err(_) => py.import("json")?.call_method1("dumps", (patch,))?.extract()?,
        };
        self.shared.with(|state| ops::apply_patch(state, text.as_bytes()))
    }

    /// Applies a rule file such as those of Stripper:Source; returns for each rule its line and how many entities it
    /// matched. `mode` is `plugin`, `strict` or `lumper`.
    #[pyo3(signature = (path, *, mode = "plugin"))]
    fn apply_rules(&self, path: PathBuf, mode: &str) -> Res<Vec<(usize, usize)>> {
        let name = self.shared.name();
        self.shared.with(|state| ops::apply_rules(state, &path, mode, &name))
    }

    /// Gives the map another name: all paths that engines and compilers put together from the old one change, in
    /// embedded files, texts, textures and entities. `old` is the name of the file if it is not given.
    ///
    /// The result has `changes` (place, old, new) and `left`, the places that have the old name and stay.
    #[pyo3(signature = (new, *, old = None, force = false))]
    fn rename<'py>(&self, py: Python<'py>, new: &str, old: Option<String>, force: bool) -> Res<Bound<'py, PyAny>> {
        let old = old.unwrap_or_else(|| self.shared.name());
        let (changes, left) = self.shared.with(|state| ops::rename(state, &old, new, force))?;
        Ok(py.import("bspkit._types")?.call_method1("Renamed", (changes, left))?)
    }

    /// What a Source map refers to: materials, models, sounds and other files, each with what refers to it.
    #[pyo3(signature = (*, name = None))]
    fn needs<'py>(&self, py: Python<'py>, name: Option<String>) -> Res<Vec<Bound<'py, PyAny>>> {
        let (draft, name) = (self.shared.snapshot()?, name.unwrap_or_else(|| self.shared.name()));
        let found = py.detach(|| ops::needs(&draft, &name))?;
        let need = py.import("bspkit._types")?.getattr("Need")?;
        Ok(found.into_iter().map(|row| need.call1(row)).collect::<PyResult<_>>()?)
    }

    /// The values that a query finds, by the index of the record: `map.get("FACES[texinfo=3].plane")`.
    fn get<'py>(&self, py: Python<'py>, query: &str) -> Res<Bound<'py, PyDict>> {
        let draft = self.shared.snapshot()?;
        let found = py.detach(|| ops::values(&draft, query))?;
        let (loads, values) = (py.import("json")?.getattr("loads")?, PyDict::new(py));
        for (index, value) in found {
            values.set_item(index, loads.call1((value,))?)?;
        }
        Ok(values)
    }

    /// Sets a field of all records that a query finds: `map.set("FACES[texinfo=3].texinfo=7")`; returns how many.
    fn set(&self, change: &str) -> Res<usize> {
        self.shared.with(|state| ops::set_values(state, change))
    }

    /// The bytes of a lump, decompressed, in the byte order of the file.
    fn bytes<'py>(&self, py: Python<'py>, lump: &str) -> Res<Bound<'py, PyBytes>> {
        let data = self.shared.with(|state| {
            let slot = state.draft.bsp().slot(lump)?.id;
            Ok(state.draft()?.bytes(slot)?)
        })?;
        Ok(PyBytes::new(py, &data))
    }

    /// Replaces the bytes of a lump. Arrays of it show the new bytes only when they are asked for again.
    fn set_bytes(&self, lump: &str, data: Vec<u8>) -> Res<()> {
        self.shared.with(|state| {
            let slot = state.draft.bsp().slot(lump)?.id;
            state.draft()?.set(slot, data)?;
            state.tables.remove(&slot);
            if state.draft.bsp().role_of(slot) == Some(dialect::Role::Entities) {
                state.forget_entities();
            }
            Ok(())
        })
    }

    /// The records of a lump as a structured array of NumPy. What is written into it is an edit of the map.
    ///
    /// Of a lump with several lists name one: `"LUMP.LIST"`. Arrays of the same lump share their bytes.
    fn table<'py>(slf: &Bound<'py, Self>, lump: &str) -> Res<Bound<'py, PyAny>> {
        let py = slf.py();
        let parts = slf.get().shared.with(|state| table::open(py, state, lump))?.parts(py)?;
        Ok(py.import("bspkit._tables")?.call_method1("table", (slf, parts))?)
    }

    /// The names of the lumps whose bytes a save would change.
    #[getter]
    fn changed(&self) -> Res<Vec<String>> {
        self.shared.with(|state| {
            let draft = state.draft()?;
            let name = |slot| draft.bsp().container().slot(slot).map(|slot| slot.name.clone());
            Ok(draft.changes()?.into_iter().filter_map(name).collect())
        })
    }

    /// Discards all edits, or those of one lump.
    #[pyo3(signature = (lump = None))]
    fn revert(&self, lump: Option<&str>) -> Res<()> {
        self.shared.with(|state| {
            match lump {
                None => {
                    state.draft.revert_all();
                    state.tables.clear();
                }
                Some(lump) => {
                    let slot = state.draft.bsp().slot(lump)?.id;
                    state.draft.revert(slot);
                    state.tables.remove(&slot);
                }
            }
            state.forget_entities();
            Ok(())
        })
    }

    /// Saves the map to `path`, which is replaced as a whole or not at all.
    ///
    /// Without a path the file that the map was opened from is replaced. `layout` is `keep`, `append` or `repack`;
    /// `backup` is a suffix such as `.bak` under which the old file is kept; `dry_run` writes nothing; `force` saves an
    /// edit of a damaged map, and replaces a read-only file.
    #[pyo3(signature = (path = None, *, layout = "keep", backup = None, dry_run = false, force = false))]
    fn save(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        layout: &str,
        backup: Option<String>,
        dry_run: bool,
        force: bool,
    ) -> Res<SaveReport> {
        let layout = layout_named(layout)?;
        let path = path.or_else(|| self.shared.path.clone());
        if path.is_none() && !dry_run {
            let message = "the map was opened from bytes: give save a path, or use to_bytes";
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
        let draft = self.shared.snapshot()?;
        let mut options = SaveOptions::default().force(force);
        if let Some(suffix) = backup {
            options = options.backup(suffix);
        }
        let report = py.detach(|| {
            let (plan, touched) = (draft.plan(layout)?, compare::draft(&draft, 0)?.touched());
            let findings = check::introduced(&draft, &check::Options::default())?;
            if !force {
                refuse(&findings)?;
            }
            let saved = match &path {
                Some(path) if !dry_run => Some(plan.save_with(path, &options)?),
                _ => None,
            };
            Ok::<_, Error>(SaveReport::new(&plan, touched.to_string(), &findings, saved))
        });
        Ok(report?)
    }

    /// The bytes that a save would write.
    #[pyo3(signature = (*, layout = "keep"))]
    fn to_bytes<'py>(&self, py: Python<'py>, layout: &str) -> Res<Bound<'py, PyBytes>> {
        let (draft, layout) = (self.shared.snapshot()?, layout_named(layout)?);
        let bytes = py.detach(|| draft.plan(layout).map(|plan| plan.to_vec()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What an engine would refuse or a mapper should know, as the program's `check` finds it.
    #[pyo3(signature = (*, engine = None, allow = Vec::new()))]
    fn check(&self, py: Python<'_>, engine: Option<String>, allow: Vec<String>) -> Res<Vec<Finding>> {
        let draft = self.shared.snapshot()?;
        let findings = py.detach(|| {
            let mut options = check::Options::default();
            if let Some(engine) = engine {
                options = options.engine(engine);
            }
            for code in &allow {
                options = options.allow(code)?;
            }
            check::run(&current(&draft)?, &options)
        });
        Ok(findings?.iter().map(Finding::new).collect())
    }

    /// Tests the promises of the library on this map. The result has an entry for each law: `"pass"`, `"skipped"`, or
    /// what failed.
    fn verify(&self, py: Python<'_>) -> Res<BTreeMap<&'static str, String>> {
        let draft = self.shared.snapshot()?;
        let outcome = py.detach(|| current(&draft).map(|bsp| verify::run(&bsp)))?;
        let text = |verdict: &Verdict| match verdict {
            Verdict::Pass => "pass".to_owned(),
            Verdict::Skipped => "skipped".to_owned(),
            Verdict::Fail(what) => format!("fail: {what}"),
            _ => "unknown".to_owned(),
        };
        Ok(outcome.laws.iter().map(|(name, verdict)| (*name, text(verdict))).collect())
    }

    /// Closes the map; edits that were not saved are lost. Closing it twice does no harm.
    fn close(&self) {
        *self.shared.lock() = None;
    }

    /// Whether the map was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.shared.lock().is_none()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, pyo3::types::PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let of = self
            .shared
            .path
            .as_ref()
            .map_or_else(|| "bytes".to_owned(), |path| format!("{:?}", path.display().to_string()));
        match &*self.shared.lock() {
            Some(state) => {
                format!("<bspkit.Map {of}, {} {}>", state.draft.bsp().dialect().name, state.draft.bsp().version())
            }
            None => format!("<bspkit.Map {of}, closed>"),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a map cannot be pickled: pickle its bytes (to_bytes), or its path"))
    }
}

/// The map as a save would write it.
pub(crate) fn current(draft: &Draft<'static>) -> bspkit::Result<Bsp<'static>> {
    let plan = draft.plan(Layout::Keep)?;
    if plan.is_identity() {
        Ok(draft.bsp().clone())
    } else {
        Bsp::from_data(plan.to_data(), Some(draft.bsp().dialect()))
    }
}

/// Refuses a save whose edits add errors to the map.
fn refuse(findings: &[check::Finding]) -> bspkit::Result<()> {
    let mut errors = findings.iter().filter(|finding| finding.code.severity == check::Severity::Error);
    match errors.next() {
        Some(first) => {
            let message = format!("the edit would add errors to the map, such as {first}");
            Err(Error::new(ErrorKind::Refused, message).with_hint(bspkit::Hint::Force))
        }
        None => Ok(()),
    }
}
