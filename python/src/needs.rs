//! Files that a Source map refers to: which ones are there, which are missing, which nothing refers to.

use std::path::{Path, PathBuf};

use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::{Bsp, Error, ErrorKind};
use bspkit_game::Game;
use bspkit_game::needs::{self, Choice, Fill, Found, Need, Needs, Options};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::errors::{Res, detached};
use crate::shared::{Shared, current};

/// The game of these paths: folders with a `gameinfo.txt`, other folders of files, archives (`.vpk`), and lists of names
/// (`.txt`).
fn game(paths: &[PathBuf]) -> bspkit::Result<Option<Game>> {
    let mut game = Game::default();
    for path in paths {
        let is_list = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
        match () {
            () if path.join("gameinfo.txt").is_file() => game.add_game(path)?,
            () if is_list && !path.is_dir() => game.add_names(path)?,
            () => game.add(path)?,
        }
    }
    Ok((!game.is_empty()).then_some(game))
}

/// Calls `work` with the name of the map and the game.
fn with_game<T>(
    name: &str,
    game: Option<&Game>,
    work: impl FnOnce(&Options<'_>) -> bspkit::Result<T>,
) -> bspkit::Result<T> {
    let options = Options::new(name);
    work(&game.map_or(options, |game| options.with_game(game)))
}

/// What `find` finds in the map, with the game if one is named. What could not be read is warned of.
fn search<T: Send>(
    py: Python<'_>,
    shared: &Shared,
    name: Option<String>,
    paths: &[PathBuf],
    find: impl Send + FnOnce(&Bsp<'_>, &Options<'_>, bool) -> bspkit::Result<(Needs, T)>,
) -> Res<(Needs, T)> {
    let (draft, name) = (shared.snapshot()?, name.unwrap_or_else(|| shared.name()));
    let (game, needs, found) = detached(py, || {
        let (game, map) = (game(paths)?, current(&draft)?);
        let (needs, found) = with_game(&name, game.as_ref(), |options| find(&map, options, game.is_some()))?;
        Ok((game, needs, found))
    })?;
    warn(py, game.as_ref(), &needs)?;
    Ok((needs, found))
}

/// Files and parts of the game that could not be read are warnings.
fn warn(py: Python<'_>, game: Option<&Game>, needs: &Needs) -> PyResult<()> {
    let game = game.into_iter().flat_map(|game| game.faults().iter().cloned());
    let files = needs.faults.iter().map(|fault| format!("`{}` is skipped: {}", escaped(&fault.name), fault.message));
    for fault in game.chain(files) {
        let text = std::ffi::CString::new(fault).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
    }
    Ok(())
}

fn row<'py>(py: Python<'py>, need: &Need) -> PyResult<Bound<'py, PyAny>> {
    let references: Vec<String> = need.references.iter().map(ToString::to_string).collect();
    let name = escaped(&need.name).to_string();
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
            Some((escaped(entry.name()).to_string(), entry.size(), file.doubt.name(), file.why))
        };
        Ok((needs, unused.into_iter().filter_map(row).collect::<Vec<_>>()))
    })?;
    let class = py.import("bspkit._types")?.getattr("Unused")?;
    Ok(unused.into_iter().map(|row| class.call1(row)).collect::<PyResult<_>>()?)
}

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
pub(crate) fn fill<'py>(
    py: Python<'py>,
    shared: &Shared,
    filling: &Filling,
) -> Res<(Vec<String>, Vec<Bound<'py, PyAny>>)> {
    let name = filling.name.clone().unwrap_or_else(|| shared.name());
    let (stock, embedded, Fill { needs, missing, .. }) = shared.long(py, |draft| {
        let stock = game(&filling.game)?;
        let mut from = Game::default();
        filling.from.iter().try_for_each(|place: &PathBuf| from.add(Path::new(place)))?;
        let patterns = |texts: &[String]| texts.iter().map(Pattern::new).collect::<Vec<_>>();
        let choice = Choice { only: patterns(&filling.only), exclude: patterns(&filling.exclude) };
        let found = with_game(&name, stock.as_ref(), |options| needs::fill(&current(draft)?, options, &from, &choice))?;
        let mut new = draft.pak()?.clone();
        let embedded = found.embed(&mut new, &from)?;
        *draft.pak()? = new;
        Ok((stock, embedded, found))
    })?;
    warn(py, stock.as_ref(), &needs)?;
    let packed = embedded.into_iter().map(|(index, _)| escaped(&needs.files[index].name).to_string()).collect();
    let missing = missing.into_iter().map(|index| row(py, &needs.files[index])).collect::<PyResult<_>>()?;
    Ok((packed, missing))
}
