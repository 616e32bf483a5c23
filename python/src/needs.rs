//! Files that a Source map refers to: which ones are there, which are missing, which nothing refers to.

use std::path::{Path, PathBuf};

use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::{Bsp, Error, ErrorKind};
use bspkit_game::Game;
use bspkit_game::needs::{self, Choice, Fill, Found, Need, Needs, Options};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{Res, detached};
use crate::shared::{Shared, current};
use crate::text::shown;

/// The game of these paths: folders with a `gameinfo.txt` or that file, folders of other games, archives (`.vpk`, `.pk3`, `.pak`), and lists of names
/// (`.txt`).
fn game(paths: &[PathBuf]) -> bspkit::Result<Option<Game>> {
    let mut game = Game::default();
    for path in paths {
        let is_list = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
        let is_game = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("gameinfo.txt"));
        match path.parent() {
            Some(folder) if is_game && !path.is_dir() => {
                let here = folder.as_os_str().is_empty();
                game.add_game(if here { Path::new(".") } else { folder })?;
            }
            _ if is_list && !path.is_dir() => game.add_names(path)?,
            _ => game.add_game(path)?,
        }
    }
    Ok((!game.is_empty()).then_some(game))
}

/// The name by which engines load a map, and the one that its paths have if that is another one and no name is given.
struct Names {
    own: String,
    paths: Option<Vec<u8>>,
}

impl Names {
    fn of(given: Option<String>, shared: &Shared, map: &Bsp<'_>) -> Self {
        match given {
            Some(own) => Names { own, paths: None },
            None => {
                let own = shared.name();
                let paths = needs::compiled_name(map, own.as_bytes()).ok().flatten();
                Names { own, paths }
            }
        }
    }

    /// Calls `work` with the names and the game.
    fn with_game<T>(
        &self,
        game: Option<&Game>,
        work: impl FnOnce(&Options<'_>) -> bspkit::Result<T>,
    ) -> bspkit::Result<T> {
        let options = Options::new(&self.own).also(self.paths.as_deref());
        work(&game.map_or(options, |game| options.game(game)))
    }

    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let Some(paths) = &self.paths else { return Ok(()) };
        let (paths, own) = (escaped(paths), escaped(self.own.as_bytes()));
        let text = format!(
            "most paths in the map have the name `{paths}`: files by both names are looked for, `{own}` and `{paths}`; \
             the parameter `name` says which one engines load it by"
        );
        warn_of(py, text)
    }
}

pub(crate) fn warn_of(py: Python<'_>, text: String) -> PyResult<()> {
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &std::ffi::CString::new(text).unwrap_or_default(), 2)
}

/// What `find` finds in the map, with the game if one is named. What could not be read is warned of.
fn search<T: Send>(
    py: Python<'_>,
    shared: &Shared,
    name: Option<String>,
    paths: &[PathBuf],
    find: impl Send + FnOnce(&Bsp<'_>, &Options<'_>, bool) -> bspkit::Result<(Needs, T)>,
) -> Res<(Needs, T)> {
    let draft = shared.snapshot()?;
    let (game, names, needs, found) = detached(py, || {
        let (game, map) = (game(paths)?, current(&draft)?);
        let names = Names::of(name, shared, &map);
        let (needs, found) = names.with_game(game.as_ref(), |options| find(&map, options, game.is_some()))?;
        Ok((game, names, needs, found))
    })?;
    names.warn(py)?;
    warn(py, game.as_ref(), &needs)?;
    Ok((needs, found))
}

/// Files and parts of the game that could not be read are warnings.
fn warn(py: Python<'_>, game: Option<&Game>, needs: &Needs) -> PyResult<()> {
    let game = game.into_iter().flat_map(|game| game.faults().iter().cloned());
    let files = needs.faults.iter().map(ToString::to_string);
    for fault in game.chain(files) {
        warn_of(py, fault)?;
    }
    Ok(())
}

fn row<'py>(py: Python<'py>, need: &Need) -> PyResult<Bound<'py, PyAny>> {
    let references: Vec<String> = need.references.iter().map(ToString::to_string).collect();
    let name = shown(py, &need.name)?;
    let class = py.import("bspkit._types")?.getattr("Need")?;
    class.call1((name, need.kind.name(), need.sure.name(), need.found.name(), references))
}

/// What a Source map refers to: name, kind, how sure, where it was found, and what refers to it.
pub(crate) fn all<'py>(
    py: Python<'py>,
    shared: &Shared,
    name: Option<String>,
    paths: &[PathBuf],
) -> Res<Vec<Bound<'py, PyAny>>> {
    let (needs, ()) = search(py, shared, name, paths, |map, options, _| Ok((needs::find(map, options)?, ())))?;
    Ok(needs.files.iter().map(|need| row(py, need)).collect::<PyResult<_>>()?)
}

/// The files that neither the map nor the game has.
pub(crate) fn missing<'py>(
    py: Python<'py>,
    shared: &Shared,
    name: Option<String>,
    paths: &[PathBuf],
) -> Res<Vec<Bound<'py, PyAny>>> {
    let (needs, ()) = search(py, shared, name, paths, |map, options, has_game| {
        if !has_game {
            let error = Error::new(ErrorKind::Argument, "which files the game has is not known");
            return Err(error.with_hint("name the game's folder, its archives, or a list of names"));
        }
        Ok((needs::find(map, options)?, ()))
    })?;
    let missing = needs.files.iter().filter(|need| need.found == Found::Nowhere);
    Ok(missing.map(|need| row(py, need)).collect::<PyResult<_>>()?)
}

/// The embedded files that nothing is known to refer to.
pub(crate) fn unused<'py>(
    py: Python<'py>,
    shared: &Shared,
    name: Option<String>,
    paths: &[PathBuf],
) -> Res<Vec<Bound<'py, PyAny>>> {
    let (_, unused) = search(py, shared, name, paths, |map, options, _| {
        let (needs, unused) = needs::unused(map, options)?;
        let pak = map.pak()?;
        let row = |file: needs::Unused| {
            let entry = pak.get(file.index)?;
            Some((entry.name().to_vec(), entry.size(), file.doubt.name(), file.why, file.index))
        };
        Ok((needs, unused.into_iter().filter_map(row).collect::<Vec<_>>()))
    })?;
    let class = py.import("bspkit._types")?.getattr("Unused")?;
    let row = |(name, size, doubt, why, index): (Vec<u8>, usize, &str, String, usize)| {
        class.call1((shown(py, &name)?, size, doubt, why, index))
    };
    Ok(unused.into_iter().map(row).collect::<PyResult<_>>()?)
}

/// The names of the files that `fill` has embedded, and what is still missing.
pub(crate) type Filled<'py> = (Vec<Bound<'py, PyString>>, Vec<Bound<'py, PyAny>>);

/// The arguments of `fill`.
pub(crate) struct Filling {
    pub(crate) name: Option<String>,
    pub(crate) from: Vec<PathBuf>,
    pub(crate) game: Vec<PathBuf>,
    pub(crate) only: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

/// Embeds the files that a map needs and that neither it nor the game has, from other places. The result has the names
/// of embedded files, and what is still missing.
pub(crate) fn fill<'py>(py: Python<'py>, shared: &Shared, filling: &Filling) -> Res<Filled<'py>> {
    let draft = shared.snapshot()?;
    let (stock, from, names, found) = detached(py, || {
        let stock = game(&filling.game)?;
        let mut from = Game::default();
        filling.from.iter().try_for_each(|place: &PathBuf| from.add(Path::new(place)))?;
        let patterns = |texts: &[String]| texts.iter().map(Pattern::new).collect::<Vec<_>>();
        let choice = Choice { only: patterns(&filling.only), exclude: patterns(&filling.exclude) };
        let map = current(&draft)?;
        let names = Names::of(filling.name.clone(), shared, &map);
        let found = names.with_game(stock.as_ref(), |options| needs::fill(&map, options, &from, &choice))?;
        Ok((stock, from, names, found))
    })?;
    // A warning may be an error, and then nothing is embedded.
    names.warn(py)?;
    warn(py, stock.as_ref(), &found.needs)?;
    let embedded = shared.long(py, |draft| {
        let mut new = draft.pak()?.clone();
        let embedded = found.embed(&mut new, &from)?;
        *draft.pak()? = new;
        Ok(embedded)
    })?;
    let Fill { needs, missing, .. } = found;
    let packed = embedded.iter().map(|(index, _)| shown(py, &needs.files[*index].name));
    let packed = packed.collect::<PyResult<_>>()?;
    let missing = missing.into_iter().map(|index| row(py, &needs.files[index])).collect::<PyResult<_>>()?;
    Ok((packed, missing))
}
