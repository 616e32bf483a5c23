//! The maps that a command is about, and the work on each of them.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow};
use bspkit::ErrorKind;

use super::context::Context;
use super::options::shard::Shard;
use super::show::shown;
use super::stop;
use super::talk::{Code, Job};
use tally::Tally;
use turns::Turns;

mod bar;
mod tally;
mod turns;

// What commands take that read any number of maps. (A doc comment would become that of the command.)
#[derive(clap::Args)]
pub(crate) struct Reading {
    /// Maps, and folders of maps
    #[arg(value_name = "MAP", required = true)]
    maps: Vec<PathBuf>,
    /// Print JSON: a document for one map, a line for each of several
    #[arg(long)]
    pub(crate) json: bool,
}

impl Reading {
    /// The maps that are named.
    pub(crate) fn maps(&self) -> Maps {
        Maps::find(&self.maps).json(self.json)
    }
}

/// A map to work on.
pub(crate) struct MapFile {
    pub(crate) path: PathBuf,
    /// The path below the folder that was named; the file's name where the map itself was.
    pub(crate) name: PathBuf,
    /// Whether it was found in a folder, and whether another map there has the same name but for the extension.
    is_below: bool,
    has_twin: bool,
}

impl MapFile {
    /// One that an argument names.
    fn named(path: &Path) -> Self {
        let name = path.file_name().map_or_else(|| path.to_path_buf(), PathBuf::from);
        MapFile { path: path.to_path_buf(), name, is_below: false, has_twin: false }
    }

    /// Where what belongs to the map is, in a place that is for one map or for all of a folder: each of these has its
    /// own below that, called as the map is with this extension in the place of its own.
    pub(crate) fn place(&self, base: &Path, extension: &str) -> PathBuf {
        if !self.is_below {
            return base.to_path_buf();
        }
        let stem = if self.has_twin { self.name.clone() } else { self.name.with_extension("") };
        let mut place = base.join(stem).into_os_string();
        if !extension.is_empty() {
            place.push(".");
            place.push(extension);
        }
        place.into()
    }

    /// That place for a file that is to be written; its folder is made where many have one each.
    pub(crate) fn file_in(&self, base: &Path, extension: &str) -> Result<PathBuf> {
        let place = self.place(base, extension);
        if let Some(folder) = place.parent().filter(|_| self.is_below) {
            fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", shown(folder)))?;
        }
        Ok(place)
    }

    /// That place where it is to be read, unless it is one of many that is not there.
    pub(crate) fn read_from(&self, base: &Path, extension: &str) -> Option<PathBuf> {
        Some(self.place(base, extension)).filter(|place| !self.is_below || place.exists())
    }
}

/// What is no map to work on.
struct Trouble {
    path: PathBuf,
    /// The path below the folder that was named.
    name: PathBuf,
    error: Error,
    /// Whether it stands in the place of a map.
    is_map: bool,
}

/// What the arguments name, in their order; folders stand for the maps in them.
pub(crate) struct Maps {
    found: Vec<Result<MapFile, Trouble>>,
    /// Whether there may be several: JSON is one line for each then.
    pub(crate) many: bool,
    /// Whether each map has its line, one that fails too.
    json: bool,
    at_once: AtOnce,
}

/// How many maps are worked on at once where the user does not say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtOnce {
    /// One: the work on it is done by many threads.
    One,
    /// As many as there are cores.
    Cores,
    /// So many for each core: most of the work is waiting for the disk.
    PerCore(usize),
}

impl Maps {
    pub(crate) fn find(arguments: &[PathBuf]) -> Self {
        let mut maps = Maps { found: Vec::new(), many: arguments.len() > 1, json: false, at_once: AtOnce::Cores };
        for path in arguments {
            if !path.is_dir() {
                maps.found.push(Ok(MapFile::named(path)));
                continue;
            }
            maps.many = true;
            let before = maps.found.len();
            maps.walk(path, Path::new(""), &mut HashSet::new());
            if maps.found.len() == before {
                maps.trouble(path, path, anyhow!("there is no map (*.bsp) in {}", shown(path)), false);
            }
        }
        maps
    }

    /// What one argument names: a map, or a folder of maps.
    pub(crate) fn of(argument: &Path) -> Self {
        Maps::find(&[argument.to_path_buf()])
    }

    /// A file that is not a map, or is there beside others: the work on it talks as that on maps does.
    pub(crate) fn file(path: &Path) -> Self {
        Maps { found: vec![Ok(MapFile::named(path))], many: false, json: false, at_once: AtOnce::One }
    }

    /// With JSON each map has a line, one that fails too: the path and the error.
    pub(crate) fn json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// For work that is done by many threads in each map: one map at a time then.
    pub(crate) fn one_by_one(mut self) -> Self {
        self.at_once = AtOnce::One;
        self
    }

    /// For work that is saved: most of that is waiting for the disk.
    pub(crate) fn saving(mut self) -> Self {
        if self.at_once == AtOnce::Cores {
            self.at_once = AtOnce::PerCore(4);
        }
        self
    }

    /// Leaves one of several names for the same map, which would be edited as often otherwise.
    pub(crate) fn only_once(mut self) -> Self {
        let mut seen = HashSet::new();
        self.found.retain(|map| match map.as_ref().ok().and_then(|map| real_path(&map.path).ok().flatten()) {
            Some(real) => seen.insert(real),
            None => true,
        });
        self
    }

    /// The maps, without what cannot be one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &MapFile> {
        self.found.iter().flatten()
    }

    /// The first of the files to be written that is one of the maps.
    pub(crate) fn written_over(&self, targets: impl IntoIterator<Item = PathBuf>) -> Result<Option<PathBuf>> {
        let inputs: HashSet<PathBuf> = self.iter().filter_map(|map| real_path(&map.path).ok().flatten()).collect();
        for target in targets {
            let real = real_path(&target).with_context(|| format!("cannot save {}", shown(&target)))?;
            if real.is_some_and(|real| inputs.contains(&real)) {
                return Ok(Some(target));
            }
        }
        Ok(None)
    }

    fn trouble(&mut self, path: &Path, name: &Path, error: Error, is_map: bool) {
        let (path, name) = (path.to_path_buf(), name.to_path_buf());
        self.found.push(Err(Trouble { path, name, error, is_map }));
    }

    /// Adds the maps of a folder and of those in it; `seen` ends loops of symbolic links.
    fn walk(&mut self, folder: &Path, name: &Path, seen: &mut HashSet<PathBuf>) {
        let entries = fs::canonicalize(folder).and_then(|real| match seen.insert(real) {
            true => fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect(),
            false => Ok(Vec::new()),
        });
        let mut entries: Vec<_> = match entries.with_context(|| format!("cannot read {}", shown(folder))) {
            Ok(entries) => entries,
            Err(error) => return self.trouble(folder, name, error, true),
        };
        entries.sort();
        let mut stems = HashSet::new();
        for entry in entries {
            let (path, name) = (folder.join(&entry), name.join(&entry));
            if path.is_dir() {
                self.walk(&path, &name, seen);
            } else if name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp")) {
                // A pipe would be waited for; what cannot be looked at says so when it is opened.
                match fs::metadata(&path) {
                    Ok(there) if !there.is_file() => {
                        let error = bspkit::Error::new(ErrorKind::Io, format!("{} is no file", shown(&path)));
                        self.trouble(&path, &name, error.into(), true);
                    }
                    _ => {
                        let stem = Path::new(&entry).with_extension("").into_os_string();
                        let has_twin = !stems.insert(stem.to_ascii_lowercase());
                        self.found.push(Ok(MapFile { path, name, is_below: true, has_twin }));
                    }
                }
            }
        }
    }

    /// Which of them this run is about, in order: all, or the part that `--shard` asks for. Parts go by the names below
    /// the folders, which are the same wherever the folders stand.
    fn order(&self, shard: Option<Shard>) -> Vec<usize> {
        let all = 0..self.found.len();
        let Some(shard) = shard.filter(|_| self.has_maps()) else { return all.collect() };
        let mut sorted: Vec<usize> = all.collect();
        sorted.sort_by_key(|index| match &self.found[*index] {
            Ok(map) => (&map.name, &map.path),
            Err(trouble) => (&trouble.name, &trouble.path),
        });
        sorted[shard.range(sorted.len())].to_vec()
    }

    fn has_maps(&self) -> bool {
        self.found.iter().any(|found| found.as_ref().map_or_else(|trouble| trouble.is_map, |_| true))
    }

    /// Does the work on every map, and says with what exit status the program ends.
    pub(crate) fn each(
        &self,
        cx: &Context,
        work: impl Fn(&MapFile, &mut Job<'_>) -> Result<Code> + Sync,
    ) -> Result<Code> {
        let tally = self.run(cx, work)?;
        Ok(self.code(&tally))
    }

    /// The exit status by what became of the maps. That there was none is a failure of the run.
    pub(crate) fn code(&self, tally: &Tally) -> Code {
        tally.code(self.many && self.has_maps())
    }

    /// Does the work on every map, on so many at once; what it says comes in the order of the maps, and one that
    /// fails does not stop the others.
    pub(crate) fn run(
        &self,
        cx: &Context,
        work: impl Fn(&MapFile, &mut Job<'_>) -> Result<Code> + Sync,
    ) -> Result<Tally> {
        if self.many {
            stop::finish_maps_at_hand();
        }
        let order = self.order(cx.options.shard);
        let jobs = match self.at_once {
            AtOnce::One => 1,
            AtOnce::PerCore(number) if cx.options.jobs.is_none() => cx.options.jobs() * number,
            AtOnce::Cores | AtOnce::PerCore(_) => cx.options.jobs(),
        };
        let jobs = jobs.min(order.len());
        let turns = Turns::new(&cx.talk, order.len(), jobs, self.json && self.many, cx.options.fail_fast);
        let worker = || {
            while let Some(turn) = turns.take() {
                let (path, map) = match &self.found[order[turn]] {
                    Ok(map) => (&map.path, Ok(map)),
                    Err(trouble) => (&trouble.path, Err(&trouble.error)),
                };
                turns.work(turn, path, |job| map.map(|map| work(map, job)));
            }
        };
        if jobs <= 1 {
            worker();
        } else {
            std::thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(worker))));
        }
        let part = match cx.options.shard.filter(|_| self.many) {
            Some(shard) => format!(", which is part {shard} of {}", self.found.len()),
            None => String::new(),
        };
        turns.end(self.many && self.has_maps(), &part)
    }
}

/// Whether two paths are one file, through symbolic links as well.
pub(crate) fn real_path(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
