//! A map: a draft that all handles of it share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bspkit::face::records::list_name;
use bspkit::op::models::{Copying, Removal};
use bspkit::op::unused::Unused;
use bspkit::op::verify::Verdict;
use bspkit::op::{check, compare, prune, verify};
use bspkit::{Draft, Error, ErrorKind, Layout, SaveOptions, dialect};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::entities::Entities;
use crate::errors::{Res, detached};
use crate::light::{Light, Textures, Visibility};
use crate::ops;
use crate::pak::Pak;
use crate::report::{Finding, Lump, SaveReport};
use crate::shared::{Shared, current};
use crate::structure;
use crate::table;
use crate::text::Text;

/// A map, with the edits that are not saved yet.
#[pyclass(frozen, module = "bspkit", name = "Map")]
pub(crate) struct Map {
    pub(crate) shared: Arc<Shared>,
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
        self.shared.with(|state| Ok(state.bsp().dialect().name))
    }

    /// The version number of the format.
    #[getter]
    fn version(&self) -> Res<i32> {
        self.shared.with(|state| Ok(state.bsp().version()))
    }

    /// The revision of a Source map.
    #[getter]
    fn revision(&self) -> Res<Option<i32>> {
        self.shared.with(|state| Ok(state.bsp().revision()))
    }

    /// The lumps and everything else that has bytes and a name.
    #[getter]
    fn lumps(&self) -> Res<Vec<Lump>> {
        self.shared.with(|state| {
            let bsp = state.bsp();
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
        let text = detached(py, || ops::differences(&old, &new, most))?;
        Ok(py.import("json")?.call_method1("loads", (text,))?)
    }

    /// The patch that leads from the entities of this map to those of another one: JSON, for `patch`.
    fn patch_to(&self, py: Python<'_>, other: &Map) -> Res<String> {
        let (old, new) = (self.shared.snapshot()?, other.shared.snapshot()?);
        detached(py, || ops::patch_between(&old, &new))
    }

    /// Applies a patch of entities, all of it or nothing: JSON, or what `json.loads` makes of it.
    fn patch(&self, py: Python<'_>, patch: &Bound<'_, PyAny>) -> Res<()> {
        let text = match patch.extract::<String>() {
            Ok(text) => text,
            Err(_) => py.import("json")?.call_method1("dumps", (patch,))?.extract()?,
        };
        self.shared.with(|state| ops::apply_patch(state, text.as_bytes()))
    }

    /// Applies a rule file such as those of Stripper:Source, or the files of a folder of rules that are for this map:
    /// all rules or, after an error, none. The result has for each rule its file, its line and how many entities it
    /// matched. `mode` is `plugin`, `strict` or `lumper`; `name` is the name of the map by which rules name it.
    #[pyo3(signature = (path, *, mode = "plugin", name = None))]
    fn apply_rules<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        mode: &str,
        name: Option<String>,
    ) -> Res<Vec<Bound<'py, PyAny>>> {
        let name = name.unwrap_or_else(|| self.shared.name());
        let applied = self.shared.with(|state| ops::apply_rules(state, &path, mode, &name))?;
        let rule = py.import("bspkit._types")?.getattr("AppliedRule")?;
        Ok(applied.into_iter().map(|row| rule.call1(row)).collect::<PyResult<_>>()?)
    }

    /// The brush models, with the entities that name each, and what belongs to it alone. The first one is the world.
    #[getter]
    fn models<'py>(slf: &Bound<'py, Self>) -> Res<Bound<'py, PyAny>> {
        let py = slf.py();
        let draft = slf.get().shared.snapshot()?;
        Ok(py.import("bspkit._models")?.call_method1("Models", (slf, structure::models(py, &draft)?))?)
    }

    /// Removes models: what followed, the entities that named them, the bytes of light.
    fn _remove_models<'py>(
        &self,
        py: Python<'py>,
        numbers: Vec<usize>,
        with_entity: bool,
        force: bool,
    ) -> Res<(Bound<'py, PyAny>, Vec<usize>, usize)> {
        let removal = Removal::default().with_entity(with_entity).force(force);
        let removed = self.shared.structural(py, |draft| removal.run(draft, &numbers))?;
        Ok((structure::report(py, &removed.followed)?, removed.entities, removed.light))
    }

    /// Copies a model of another map: what came, as the arguments of `CopiedModel`. `entity` is a class, true for copies
    /// of the other map's entities, or false for none.
    #[pyo3(signature = (other, number, entity, force))]
    fn _copy_model<'py>(
        &self,
        py: Python<'py>,
        other: &Map,
        number: usize,
        entity: &Bound<'_, PyAny>,
        force: bool,
    ) -> Res<Bound<'py, PyTuple>> {
        let copying = match entity.extract::<bool>() {
            Ok(true) => Copying::default(),
            Ok(false) => Copying::default().without_entity(),
            Err(_) => Copying::default().class(entity.extract::<Text>()?),
        };
        let from = other.shared.snapshot()?;
        let work = |draft: &mut Draft<'static>| copying.force(force).run(draft, &current(&from)?, number);
        structure::copied(py, &self.shared.structural(py, work)?)
    }

    /// The records that nothing needs, by lump.
    fn unused(&self, py: Python<'_>) -> Res<BTreeMap<String, Vec<usize>>> {
        let draft = self.shared.snapshot()?;
        let found = detached(py, || Unused::of(&current(&draft)?))?;
        Ok(found.lists.into_iter().map(|list| (list.list, list.records)).collect())
    }

    /// Removes records that nothing needs, and with `light` the light of no face. `only` and `keep` are names of lumps,
    /// or of lists as `LUMP.list`; `force` goes on where lumps of unknown content may refer to records that move.
    #[pyo3(signature = (*, only = Vec::new(), keep = Vec::new(), light = false, force = false))]
    fn prune<'py>(
        &self,
        py: Python<'py>,
        only: Vec<String>,
        keep: Vec<String>,
        light: bool,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        let pruned = self.shared.structural(py, |draft| {
            let names = |all: Vec<String>| all.iter().map(|name| list_name(draft.bsp(), name)).collect();
            let (only, keep): (bspkit::Result<Vec<_>>, bspkit::Result<Vec<_>>) = (names(only), names(keep));
            let options = prune::Options::default().light(light).force(force);
            let options = only?.into_iter().fold(options, prune::Options::only);
            let options = keep?.into_iter().fold(options, prune::Options::keep);
            prune::prune(draft, &options)
        })?;
        structure::pruned(py, &pruned)
    }

    /// Everything that refers to a record, and everything that it refers to: `map.references("FACES", 12)`.
    fn references<'py>(&self, py: Python<'py>, lump: &str, record: usize) -> Res<Bound<'py, PyAny>> {
        let draft = self.shared.snapshot()?;
        structure::references(py, &draft, lump, record)
    }

    /// Brings the records of a lump into another order: record `i` of the new order is `order[i]` of the old one.
    /// Everything that refers to them follows; if something cannot, nothing is changed and the error names it.
    #[pyo3(signature = (lump, order, *, force = false))]
    fn reorder<'py>(&self, py: Python<'py>, lump: &str, order: Vec<usize>, force: bool) -> Res<Bound<'py, PyAny>> {
        structure::edit(py, &self.shared, lump, [false, force], |edit, list| edit.reorder_list(list, &order))
    }

    /// Replaces records `start` to `stop` of a lump by others, fewer or more; what refers to later ones follows.
    ///
    /// The new records are an array such as `table` gives, or bytes with little-endian numbers. `cascade` removes what
    /// needs a removed record too.
    #[pyo3(signature = (lump, start, stop, records, *, cascade = false, force = false))]
    fn splice<'py>(
        &self,
        lump: &str,
        start: usize,
        stop: usize,
        records: &Bound<'py, PyAny>,
        cascade: bool,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        let bytes = structure::bytes_of(records)?;
        structure::edit(records.py(), &self.shared, lump, [cascade, force], |edit, list| {
            edit.splice_list(list, start..stop, bytes)
        })
    }

    /// Adds records before the one of an index; what refers to later ones follows.
    #[pyo3(signature = (lump, index, records, *, force = false))]
    fn insert<'py>(
        &self,
        lump: &str,
        index: usize,
        records: &Bound<'py, PyAny>,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        self.splice(lump, index, index, records, false, force)
    }

    /// Removes a record, or several by their numbers. Parts that nothing else uses go too; a record that something
    /// still needs is refused, or with `cascade` what needs it is removed as well.
    #[pyo3(signature = (lump, records, *, cascade = false, force = false))]
    fn remove<'py>(
        &self,
        lump: &str,
        records: &Bound<'py, PyAny>,
        cascade: bool,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        let removed = structure::numbers(records)?;
        structure::edit(records.py(), &self.shared, lump, [cascade, force], |edit, list| {
            edit.remove(&[(list, &removed)])
        })
    }

    /// Adds copies of records `start` to `stop` after them; without `stop` a copy of one record.
    #[pyo3(signature = (lump, start, stop = None, *, force = false))]
    fn duplicate<'py>(
        &self,
        py: Python<'py>,
        lump: &str,
        start: usize,
        stop: Option<usize>,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        let stop = stop.unwrap_or_else(|| start.saturating_add(1));
        structure::edit(py, &self.shared, lump, [false, force], |edit, list| edit.duplicate_list(list, start..stop))
    }

    /// Gives the map another name: all paths that engines and compilers put together from the old one change, in
    /// embedded files, texts, textures and entities. `old` is the name of the file if it is not given.
    ///
    /// The result has `changes` (place, old, new) and `left`, the places that have the old name and stay.
    #[pyo3(signature = (new, *, old = None, force = false))]
    fn rename<'py>(&self, py: Python<'py>, new: &str, old: Option<String>, force: bool) -> Res<Bound<'py, PyAny>> {
        let old = old.unwrap_or_else(|| self.shared.name());
        let (changes, left) = self.shared.change(|state| ops::rename(state, &old, new, force))?;
        Ok(py.import("bspkit._types")?.call_method1("Renamed", (changes, left))?)
    }

    /// What a Source map refers to: materials, models, sounds and other files, each with what refers to it.
    #[pyo3(signature = (*, name = None))]
    fn needs<'py>(&self, py: Python<'py>, name: Option<String>) -> Res<Vec<Bound<'py, PyAny>>> {
        let (draft, name) = (self.shared.snapshot()?, name.unwrap_or_else(|| self.shared.name()));
        let found = detached(py, || ops::needs(&draft, &name))?;
        let need = py.import("bspkit._types")?.getattr("Need")?;
        Ok(found.into_iter().map(|row| need.call1(row)).collect::<PyResult<_>>()?)
    }

    /// The values that a query finds, by the index of the record: `map.get("FACES[texinfo=3].plane")`.
    fn get<'py>(&self, py: Python<'py>, query: &str) -> Res<Bound<'py, PyDict>> {
        let draft = self.shared.snapshot()?;
        let found = detached(py, || ops::values(&draft, query))?;
        let (loads, values) = (py.import("json")?.getattr("loads")?, PyDict::new(py));
        for (index, value) in found {
            values.set_item(index, loads.call1((value,))?)?;
        }
        Ok(values)
    }

    /// Sets a field of all records that a query finds: `map.set("FACES[texinfo=3].texinfo=7")`; returns how many.
    fn set(&self, change: &str) -> Res<usize> {
        self.shared.change(|state| ops::set_values(state, change))
    }

    /// The bytes of a lump, decompressed, in the byte order of the file.
    fn bytes<'py>(&self, py: Python<'py>, lump: &str) -> Res<Bound<'py, PyBytes>> {
        let data = self.shared.with(|state| {
            let slot = state.bsp().slot(lump)?.id;
            Ok(state.draft()?.bytes(slot)?)
        })?;
        Ok(PyBytes::new(py, &data))
    }

    /// Replaces the bytes of a lump. Arrays of it show them, and cannot be used any more if their number is another one.
    fn set_bytes(&self, lump: &str, data: Vec<u8>) -> Res<()> {
        self.shared.change(|state| {
            let slot = state.bsp().slot(lump)?.id;
            state.draft()?.set(slot, data)?;
            if state.bsp().role_of(slot) == Some(dialect::Role::Entities) {
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

    /// Whether an array of records is part of the map: `open`, `replaced` by an edit, or the map is `closed`.
    fn _table_state(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> Res<&'static str> {
        if self.shared.is_closed(py) {
            return Ok("closed");
        }
        self.shared.with(|state| Ok(if table::is_held(py, state.tables(), array) { "open" } else { "replaced" }))
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
        self.shared.change(|state| {
            match lump {
                None => state.draft()?.revert_all(),
                Some(lump) => {
                    let slot = state.bsp().slot(lump)?.id;
                    state.draft()?.revert(slot);
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
        detached(py, || {
            let (plan, touched) = (draft.plan(layout)?, compare::draft(&draft, 0)?.touched());
            let findings = check::introduced(&draft, &check::Options::default())?;
            if !force {
                refuse(&findings)?;
            }
            let saved = match &path {
                Some(path) if !dry_run => Some(plan.save_with(path, &options)?),
                _ => None,
            };
            Ok(SaveReport::new(&plan, touched.to_string(), &findings, saved))
        })
    }

    /// The bytes that a save would write.
    #[pyo3(signature = (*, layout = "keep"))]
    fn to_bytes<'py>(&self, py: Python<'py>, layout: &str) -> Res<Bound<'py, PyBytes>> {
        let (draft, layout) = (self.shared.snapshot()?, layout_named(layout)?);
        let bytes = detached(py, || draft.plan(layout).map(|plan| plan.to_vec()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What an engine would refuse or a mapper should know, as the program's `check` finds it.
    #[pyo3(signature = (*, engine = None, allow = Vec::new()))]
    fn check(&self, py: Python<'_>, engine: Option<String>, allow: Vec<String>) -> Res<Vec<Finding>> {
        let draft = self.shared.snapshot()?;
        let findings = detached(py, || {
            let mut options = check::Options::default();
            if let Some(engine) = engine {
                options = options.engine(engine);
            }
            for code in &allow {
                options = options.allow(code)?;
            }
            check::run(&current(&draft)?, &options)
        })?;
        Ok(findings.iter().map(Finding::new).collect())
    }

    /// Tests the promises of the library on this map. The result has an entry for each law: `"pass"`, `"skipped"`, or
    /// what failed.
    fn verify(&self, py: Python<'_>) -> Res<BTreeMap<&'static str, String>> {
        let draft = self.shared.snapshot()?;
        let outcome = detached(py, || current(&draft).map(|bsp| verify::run(&bsp)))?;
        let text = |verdict: &Verdict| match verdict {
            Verdict::Pass => "pass".to_owned(),
            Verdict::Skipped => "skipped".to_owned(),
            Verdict::Fail(what) => format!("fail: {what}"),
            _ => "unknown".to_owned(),
        };
        Ok(outcome.laws.iter().map(|(name, verdict)| (*name, text(verdict))).collect())
    }

    /// Closes the map; edits that were not saved are lost. Closing it twice does no harm.
    fn close(&self, py: Python<'_>) {
        self.shared.close(py);
    }

    /// Whether the map was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.shared.is_closed(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*args))]
    fn __exit__(&self, args: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(args.py());
    }

    fn __repr__(&self) -> String {
        let of = self
            .shared
            .path
            .as_ref()
            .map_or_else(|| "bytes".to_owned(), |path| format!("{:?}", path.display().to_string()));
        match self.shared.with(|state| Ok((state.bsp().dialect().name, state.bsp().version()))) {
            Ok((dialect, version)) => format!("<bspkit.Map {of}, {dialect} {version}>"),
            Err(_) => format!("<bspkit.Map {of}, closed>"),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a map cannot be pickled: pickle its bytes (to_bytes), or its path"))
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
