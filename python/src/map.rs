//! A map: a draft that all handles of it share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bspkit::{Error, ErrorKind, dialect};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::entities::Entities;
use crate::errors::{Res, closed};
use crate::light::{Light, Textures, Visibility};
use crate::pak::Pak;
use crate::report::{Finding, Lump, SaveReport};
use crate::save::{self, Saving};
use crate::shared::{Home, Shared};
use crate::text::Raw;
use crate::{needs, ops, source, structure, table};

/// A map, with the edits that are not saved yet.
#[pyclass(frozen, module = "bspkit", name = "Map")]
pub(crate) struct Map {
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl Map {
    /// The path that the map was opened from, or saved to since; `None` for bytes.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.shared.home().map(|home| home.path)
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
        self.shared.with(|state| Ok(state.session().has(0).map(drop)?))?;
        Ok(Entities::new(&self.shared))
    }

    // `map.entities += [...]` ends with this.
    #[setter]
    fn set_entities(&self, entities: &Bound<'_, PyAny>) -> Res<()> {
        match entities.cast::<Entities>() {
            Ok(entities) if entities.get().is_of(&self.shared) => Ok(()),
            _ => Err(PyTypeError::new_err("entities are replaced by `map.entities[:] = ...`").into()),
        }
    }

    /// The files embedded in a Source map, by name.
    #[getter]
    fn pak<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        Pak::open(py, &self.shared)
    }

    /// The light of faces.
    #[getter]
    fn light<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        Light::open(py, &self.shared)
    }

    /// The textures in a Quake or GoldSrc map.
    #[getter]
    fn textures<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        Textures::open(py, &self.shared)
    }

    /// What is visible from where.
    #[getter]
    fn visibility<'py>(&self, py: Python<'py>) -> Res<Bound<'py, PyAny>> {
        Visibility::open(py, &self.shared)
    }

    /// What differs between this map and a newer one, as saves would write them: `equal`, counts and changes, as the
    /// program's `diff --json` says it.
    #[pyo3(signature = (other, *, most = 1000))]
    fn diff<'py>(&self, py: Python<'py>, other: &Map, most: usize) -> Res<Bound<'py, PyAny>> {
        ops::differences(py, &self.shared, &other.shared, most)
    }

    /// The patch that leads from the entities of this map to those of another one: JSON, for `patch`.
    fn patch_to(&self, py: Python<'_>, other: &Map) -> Res<String> {
        ops::patch_between(py, &self.shared, &other.shared)
    }

    /// Applies a patch of entities, all of it or nothing: JSON, or what `json.loads` makes of it. Entities are found by
    /// name. With `fuzzy` one that is not there, or several times, is the one that has the most of its pairs. With
    /// `base`, the map that the patch was made from, what the patch changes is merged with what changed since then.
    /// The result says what was guessed, which entities are at other places, and that the entities are already what it leads to.
    #[pyo3(signature = (patch, *, fuzzy = false, base = None))]
    fn patch(&self, py: Python<'_>, patch: &Bound<'_, PyAny>, fuzzy: bool, base: Option<&Map>) -> Res<Vec<String>> {
        ops::apply_patch(py, &self.shared, patch, fuzzy, base.map(|base| &*base.shared))
    }

    /// Applies a rule file such as those of Stripper:Source, or the files of a folder of rules that are for this map:
    /// all rules or, after an error, none. The result has for each rule its file, its line and how many entities it
    /// matched. `mode` is `plugin`, `strict` or `lumper`; `name` is the name of the map by which rules name it.
    ///
    /// Applying twice is once: a save writes `MAP.bsp.rules.json`, the record of the program's `ent apply`, and rules that
    /// were applied before match nothing, with a `UserWarning`. `again=True` applies all of them.
    #[pyo3(signature = (path, *, mode = "plugin", name = None, again = false))]
    fn apply_rules<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        mode: &str,
        name: Option<String>,
        again: bool,
    ) -> Res<Vec<Bound<'py, PyAny>>> {
        ops::apply_rules(py, &self.shared, &path, mode, name, again)
    }

    /// The brush models, with the entities that name each, and what belongs to it alone. The first one is the world.
    #[getter]
    fn models<'py>(slf: &Bound<'py, Self>) -> Res<Bound<'py, PyAny>> {
        structure::models(slf)
    }

    /// Removes models: what followed, the entities that named them, the bytes of light.
    fn _remove_models<'py>(
        &self,
        py: Python<'py>,
        numbers: Vec<usize>,
        keep_entity: bool,
        force: bool,
    ) -> Res<(Bound<'py, PyAny>, Vec<usize>, usize)> {
        structure::remove_models(py, &self.shared, &numbers, [keep_entity, force])
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
        structure::copy_model(py, &self.shared, &other.shared, number, entity, force)
    }

    /// The records that nothing needs, by lump.
    fn unused(&self, py: Python<'_>) -> Res<BTreeMap<String, Vec<usize>>> {
        structure::unused(py, &self.shared)
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
        structure::prune(py, &self.shared, &only, &keep, [light, force])
    }

    /// Everything that refers to a record, and everything that it refers to: `map.references("FACES", 12)`.
    fn references<'py>(&self, py: Python<'py>, lump: &str, record: isize) -> Res<Bound<'py, PyAny>> {
        structure::references(py, &self.shared, lump, record)
    }

    /// Brings the records of a lump into another order: record `i` of the new order is `order[i]` of the old one.
    /// Everything that refers to them follows; if something cannot, nothing is changed and the error names it.
    #[pyo3(signature = (lump, order, *, force = false))]
    fn reorder<'py>(&self, py: Python<'py>, lump: &str, order: Vec<isize>, force: bool) -> Res<Bound<'py, PyAny>> {
        structure::edit(py, &self.shared, lump, &order, [false, false, force], |edit, list, order| {
            edit.reorder_list(list, &order)
        })
    }

    /// Replaces records `start` to `stop` of a lump by others, fewer or more; what refers to later ones follows. Here and
    /// below negative numbers count from the end, as in lists.
    ///
    /// The new records are an array such as `table` gives, or bytes with little-endian numbers. `cascade` removes what
    /// needs a removed record too.
    #[pyo3(signature = (lump, start, stop, records, *, cascade = false, force = false))]
    fn splice<'py>(
        &self,
        lump: &str,
        start: isize,
        stop: isize,
        records: &Bound<'py, PyAny>,
        cascade: bool,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        structure::splice(&self.shared, lump, [start, stop], records, [cascade, force])
    }

    /// Adds records before the one of an index; what refers to later ones follows.
    #[pyo3(signature = (lump, index, records, *, force = false))]
    fn insert<'py>(
        &self,
        lump: &str,
        index: isize,
        records: &Bound<'py, PyAny>,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        self.splice(lump, index, index, records, false, force)
    }

    /// Removes a record, or several by their numbers. Parts that nothing else uses go too; a record that something
    /// still needs is refused, or with `cascade` what needs it is removed as well; a field that may be empty is emptied
    /// instead.
    #[pyo3(signature = (lump, records, *, cascade = false, force = false))]
    fn remove<'py>(
        &self,
        lump: &str,
        records: &Bound<'py, PyAny>,
        cascade: bool,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        structure::remove(&self.shared, lump, records, [cascade, force])
    }

    /// Adds copies of records `start` to `stop` after them; without `stop` a copy of one record. A range over the border of
    /// a set, such as the faces of two models, is copied part by part: the copies of each part follow it.
    #[pyo3(signature = (lump, start, stop = None, *, force = false))]
    fn duplicate<'py>(
        &self,
        py: Python<'py>,
        lump: &str,
        start: isize,
        stop: Option<isize>,
        force: bool,
    ) -> Res<Bound<'py, PyAny>> {
        let places = [start, stop.unwrap_or(start)];
        structure::edit(py, &self.shared, lump, &places, [true, false, force], |edit, list, places| {
            let stop = if stop.is_some() { places[1] } else { places[0].saturating_add(1) };
            edit.duplicate_list(list, places[0]..stop)
        })
    }

    /// Gives the map another name: all paths that engines and compilers put together from the old one change, in
    /// embedded files, texts, textures and entities. `old` is the name of the file if it is not given.
    ///
    /// The result has `changes` (place, old, new) and `left`, the places that have the old name and stay.
    #[pyo3(signature = (new, *, old = None, force = false))]
    fn rename<'py>(&self, py: Python<'py>, new: &str, old: Option<String>, force: bool) -> Res<Bound<'py, PyAny>> {
        ops::rename(py, &self.shared, old, new, force)
    }

    /// What a Source map refers to: materials, models, sounds and other files, each with what refers to it.
    ///
    /// `game` is the game's folder (with `gameinfo.txt`), another folder of files, an archive (`.vpk`), a list of names
    /// (`.txt`), or several of these. `name` is the name of the map; without it the name of its file is taken.
    #[pyo3(signature = (*, name = None, game = None))]
    fn needs<'py>(
        &self,
        py: Python<'py>,
        name: Option<String>,
        game: Option<&Bound<'py, PyAny>>,
    ) -> Res<Vec<Bound<'py, PyAny>>> {
        needs::all(py, &self.shared, name, &crate::paths(game)?)
    }

    /// The source that the map was compiled from, as far as it can be brought back: brushes, patches, displacements and
    /// entities, with a report of what is left out. `format` is `quake`, `valve`, `quake3`, `brushdef` or `vmf`; without it
    /// the one that loses nothing. The proof compares the source with the map; `proof = False` leaves it out.
    #[pyo3(signature = (*, format = None, proof = true))]
    fn decompile<'py>(&self, py: Python<'py>, format: Option<&str>, proof: bool) -> Res<Bound<'py, PyAny>> {
        source::of(py, &self.shared, format, proof)
    }

    /// How far the text of a source is that of the map: points and faces that agree, and the first ones that do not.
    fn prove<'py>(&self, py: Python<'py>, text: &[u8], format: &str) -> Res<Bound<'py, PyAny>> {
        source::proven(py, &self.shared, text, format)
    }

    /// The values that a query finds, by the index of the record: `map.get("FACES[texinfo=3].plane")`. Flags are their
    /// names, as the program prints them; `table` has them as numbers.
    fn get<'py>(&self, py: Python<'py>, query: &str) -> Res<Bound<'py, PyDict>> {
        ops::values(py, &self.shared, query)
    }

    /// Sets a field of all records that a query finds: `map.set("FACES[texinfo=3].texinfo=7")`; returns how many.
    fn set(&self, change: &str) -> Res<usize> {
        ops::set_values(&self.shared, change)
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
    fn set_bytes(&self, lump: &str, data: Raw) -> Res<()> {
        self.shared.change(|state| {
            let slot = state.bsp().slot(lump)?.id;
            state.draft()?.set(slot, data.0)?;
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
        if self.shared.is_closed(py)? {
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
            let entities = state.bsp().role(bspkit::dialect::Role::Entities).map(|slot| slot.id);
            let slot = lump.map(|lump| Ok::<_, bspkit::Error>(state.bsp().slot(lump)?.id)).transpose()?;
            if state.is_restructured && slot.is_some() {
                let message =
                    "other lumps follow what was inserted, removed or moved: one lump alone cannot be reverted";
                return Err(Error::new(ErrorKind::Refused, message).with_hint("revert() takes all edits back").into());
            }
            match slot {
                None => {
                    state.draft()?.revert_all();
                    state.is_restructured = false;
                }
                Some(slot) => state.draft()?.revert(slot),
            }
            if slot.is_some() && slot != entities {
                return Ok(());
            }
            // Rules that were applied and are not saved are undone with the entities.
            if !state.draft()?.changes()?.iter().any(|slot| Some(*slot) == entities) {
                *state.baked() = None;
            }
            state.forget_entities();
            Ok(())
        })
    }

    /// Saves the map to `path`, which is replaced as a whole or not at all.
    ///
    /// The map is that file from then on, without pending edits: `map.path` is its path, and edits and saves can follow.
    /// Entities and arrays that Python has stay part of the map.
    ///
    /// Without a path the file is replaced that the map was opened from, or saved to since. `layout` is `keep`, `append`,
    /// `repack` or `patch`; `backup` is a suffix such as `.bak` under which the old file is kept; `dry_run` writes nothing.
    /// `force` saves an edit that adds errors or is of a damaged map, and replaces a file that is read-only or that
    /// another program has changed since.
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
        let home = path.map(Home::new).or_else(|| self.shared.home());
        save::save(py, &self.shared, Saving { home, layout, backup, dry_run, force })
    }

    /// The bytes that a save would write. What a save refuses is refused here too; `force` gives it.
    #[pyo3(signature = (*, layout = "keep", force = false))]
    fn to_bytes<'py>(&self, py: Python<'py>, layout: &str, force: bool) -> Res<Bound<'py, PyBytes>> {
        save::to_bytes(py, &self.shared, layout, force)
    }

    /// What an engine would refuse or a mapper should know, as the program's `check` finds it.
    #[pyo3(signature = (*, engine = None, allow = Vec::new()))]
    fn check(&self, py: Python<'_>, engine: Option<String>, allow: Vec<String>) -> Res<Vec<Finding>> {
        ops::check(py, &self.shared, engine, &allow)
    }

    /// Tests the promises of the library on this map. The result has an entry for each law: `"pass"`, `"skipped: "` with
    /// the reason, or what failed.
    fn verify(&self, py: Python<'_>) -> Res<BTreeMap<&'static str, String>> {
        ops::verify(py, &self.shared)
    }

    /// Closes the map; edits that were not saved are lost. Closing it twice does no harm.
    fn close(&self, py: Python<'_>) -> Res<()> {
        self.shared.close(py)
    }

    /// Whether the map was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> Res<bool> {
        self.shared.is_closed(py)
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> Res<Py<Self>> {
        if slf.get().shared.is_closed(py)? {
            return Err(closed());
        }
        Ok(slf)
    }

    #[pyo3(signature = (*args))]
    fn __exit__(&self, args: &Bound<'_, PyTuple>) -> Res<()> {
        self.shared.close(args.py())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let path = self.shared.home().map(|home| format!("{:?}", home.path.display().to_string()));
        let of = path.as_deref().unwrap_or("bytes");
        match self.shared.with(|state| Ok((state.bsp().dialect().name, state.bsp().version()))) {
            Ok((dialect, version)) => format!("<bspkit.Map {of}, {dialect} {version}>"),
            Err(_) if self.shared.is_closed(py).unwrap_or(false) => format!("<bspkit.Map {of}, closed>"),
            Err(_) => format!("<bspkit.Map {of}, in use>"),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a map cannot be pickled: pickle its bytes (to_bytes), or its path"))
    }
}
