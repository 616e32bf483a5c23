//! Files that a Source map refers to: which ones are there, which are missing, which nothing refers to.

use std::path::{Path, PathBuf};

use bspkit::bytes::escaped;
use bspkit::content::assets::Files;
use bspkit::content::pattern::Pattern;
use bspkit::face::game::Game;
use bspkit::op::needs::{self, Found, Need, Needs, Options};
use bspkit::{Data, Draft, Error, ErrorKind};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::errors::{Res, detached};
use crate::shared::{Shared, current};

/// A larger file is not embedded. No engine reads a pakfile of 2 GiB.
const MOST_BYTES: usize = 1 << 30;

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

/// What the map needs, with the game if one is named.
struct Searched {
    game: Option<Game>,
    needs: Needs,
}

fn search(draft: &Draft<'static>, name: &str, paths: &[PathBuf]) -> bspkit::Result<Searched> {
    let game = game(paths)?;
    let options = Options::new(name);
    let options = game.as_ref().map_or(options, |game| options.with_game(game));
    let needs = needs::find(&current(draft)?, &options)?;
    Ok(Searched { game, needs })
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
    let (draft, name) = (shared.snapshot()?, name.unwrap_or_else(|| shared.name()));
    let Searched { game, needs } = detached(py, || search(&draft, &name, paths))?;
    warn(py, game.as_ref(), &needs)?;
    Ok(needs.files.iter().map(|need| row(py, need)).collect::<PyResult<_>>()?)
}

/// The files that neither the map nor the game has.
pub(crate) fn missing<'py>(
    py: Python<'py>,
    shared: &Shared,
    name: Option<String>,
    paths: &[PathBuf],
) -> Res<Vec<Bound<'py, PyAny>>> {
    let (draft, name) = (shared.snapshot()?, name.unwrap_or_else(|| shared.name()));
    let Searched { game, needs } = detached(py, || {
        let found = search(&draft, &name, paths)?;
        match found.game {
            Some(_) => Ok(found),
            None => {
                let error = Error::new(ErrorKind::Argument, "which files the game has is not known");
                Err(error.with_hint("name the game's folder, its archives, or a list of names"))
            }
        }
    })?;
    warn(py, game.as_ref(), &needs)?;
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
    let (draft, name) = (shared.snapshot()?, name.unwrap_or_else(|| shared.name()));
    let (Searched { game, needs }, unused) = detached(py, || {
        let (game, map) = (game(paths)?, current(&draft)?);
        let options = Options::new(&name);
        let options = game.as_ref().map_or(options, |game| options.with_game(game));
        let (needs, unused) = needs::unused(&map, &options)?;
        let pak = map.pak()?;
        let row = |file: needs::Unused| {
            let entry = pak.get(file.index)?;
            Some((escaped(entry.name()).to_string(), entry.size(), file.doubt.name(), file.why))
        };
        let unused = unused.into_iter().filter_map(row).collect::<Vec<_>>();
        Ok((Searched { game, needs }, unused))
    })?;
    warn(py, game.as_ref(), &needs)?;
    let class = py.import("bspkit._types")?.getattr("Unused")?;
    Ok(unused.into_iter().map(|row| class.call1(row)).collect::<PyResult<_>>()?)
}

/// Files that can be embedded, without those that are left out.
struct Chosen<'g> {
    from: &'g Game,
    not: Vec<Pattern>,
}

impl Chosen<'_> {
    fn is_excluded(&self, name: &[u8]) -> bool {
        self.not.iter().any(|pattern| pattern.matches(name))
    }
}

impl Files for Chosen<'_> {
    fn has(&self, name: &[u8]) -> bool {
        !self.is_excluded(name) && self.from.has(name)
    }

    fn read(&self, name: &[u8], most: usize) -> bspkit::Result<Option<Data<'_>>> {
        if self.is_excluded(name) { Ok(None) } else { self.from.read(name, most) }
    }
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
    let (stock, packed, found) = shared.long(py, |draft| {
        let stock = game(&filling.game)?;
        let mut from = Game::default();
        filling.from.iter().try_for_each(|place: &PathBuf| from.add(Path::new(place)))?;
        let patterns = |texts: &[String]| texts.iter().map(Pattern::new).collect::<Vec<_>>();
        let (chosen, only) = (Chosen { from: &from, not: patterns(&filling.exclude) }, patterns(&filling.only));
        let options = Options::new(&name);
        let options = stock.as_ref().map_or(options, |game| options.with_game(game));
        let found = needs::fill(&current(draft)?, &options, &chosen)?;
        let mut packed = Vec::new();
        let mut new = draft.pak()?.clone();
        for need in found.found.iter().map(|index| &found.needs.files[*index]) {
            if !only.is_empty() && !only.iter().any(|pattern| pattern.matches(&need.name)) {
                continue;
            }
            let Some(data) = from.read(&need.name, MOST_BYTES)? else { continue };
            new.add(&need.name, Data::from(data.to_vec()))?;
            packed.push(escaped(&need.name).to_string());
        }
        *draft.pak()? = new;
        let missing =
            found.missing.iter().copied().filter(|index| !chosen.is_excluded(&found.needs.files[*index].name));
        Ok((stock, packed, (missing.collect::<Vec<_>>(), found.needs)))
    })?;
    let (missing, needs) = found;
    warn(py, stock.as_ref(), &needs)?;
    let missing = missing.into_iter().map(|index| row(py, &needs.files[index])).collect::<PyResult<_>>()?;
    Ok((packed, missing))
}
