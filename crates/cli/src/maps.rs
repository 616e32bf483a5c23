//! The maps that the arguments name, and the work on each of them.

mod folders;
mod turns;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow};
use bspkit::ErrorKind;
use bspkit::disk::{names as disk_names, put};
use bspkit::file::names;
use bspkit_game::Archive;
use bspkit_packed::archive::{self, Listing};
use bspkit_text::folder::is_unpacked;
use clap::ArgAction;
use clap::builder::{OsStringValueParser, TypedValueParser as _};

use super::context::{Context, is_stdin};
use super::talk::{Code, Job, Shard, count, shown};
use super::words::{SEPARATOR, map_path};
use super::{stop, watch};
use turns::{Tally, Turns};

// The maps that the arguments name. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(crate) struct MapArgs {
    /// Maps, folders of maps, archives, or `-` for stdin
    ///
    /// A map may be compressed (.bsp.bz2, .bsp.gz, .bsp.zst); archives are .pk3, .pk4, .zip, .pak and .vpk. Maps are
    /// the first argument and each one directly after it that ends like one; if the command takes a fixed number of
    /// other arguments, all arguments before these.
    #[arg(value_name = "MAP...", required = true, action = ArgAction::Set, num_args = 1, value_delimiter = SEPARATOR,
        value_parser = OsStringValueParser::new().map(map_path))]
    map: Vec<PathBuf>,
}

impl MapArgs {
    /// The maps that are named.
    pub(crate) fn find(&self) -> Maps {
        let named: Vec<&Path> = self.map.iter().map(PathBuf::as_path).collect();
        Maps::find(&named)
    }

    /// The first argument, which need not be a map.
    pub(crate) fn first(&self) -> &Path {
        self.map.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Whether the arguments name several maps, or a folder.
    pub(crate) fn are_many(&self) -> bool {
        self.map.len() > 1 || are_several(self.first())
    }
}

// The arguments of reading commands. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(crate) struct Reading {
    #[command(flatten)]
    maps: MapArgs,
    /// Print JSON: an indented document for one map, one line for each of several
    #[arg(long)]
    pub(crate) json: bool,
}

impl Reading {
    /// The maps that are named.
    pub(crate) fn maps(&self) -> Maps {
        self.maps.find().json(self.json)
    }

    /// Opens each map and does the work on it; see [`Maps::each`].
    pub(crate) fn each(
        &self,
        cx: &Context,
        work: impl Fn(bspkit::Bsp<'static>, &mut Job<'_>) -> Result<Code> + Sync,
    ) -> Result<Code> {
        self.maps().each(cx, |map, job| work(cx.open_said(&map.path, job)?, job))
    }
}

// What is printed of each of many maps instead of a list, as `grep` does. (A doc comment would become the help of the
// command.)
#[derive(clap::Args)]
pub(crate) struct Brief {
    /// Print only the path of each map that has some
    #[arg(short, long, conflicts_with_all = ["count", "json"])]
    list_maps: bool,
    /// Print only how many there are; with several maps, PATH:COUNT
    #[arg(short, long, conflicts_with = "json")]
    count: bool,
}

impl Brief {
    /// Prints the path or the number; none if neither was asked for.
    pub(crate) fn print(&self, number: impl FnOnce() -> usize, job: &mut Job<'_>) -> Option<Code> {
        if !self.list_maps && !self.count {
            return None;
        }
        let number = number();
        let path = job.file.as_os_str().as_encoded_bytes();
        match (self.list_maps, job.many) {
            (true, _) if number == 0 => {}
            (true, _) => job.line(path),
            (false, true) => job.line([path, format!(":{number}").as_bytes()].concat()),
            (false, false) => job.line(number.to_string()),
        }
        Some(if number == 0 { Code::Nothing } else { Code::Done })
    }
}

/// A map to work on.
pub(crate) struct MapFile {
    pub(crate) path: PathBuf,
    /// The path below the folder that was named; the file name if the map itself was named.
    pub(crate) name: PathBuf,
    /// Where the map is saved, if at all.
    pub(crate) target: Option<PathBuf>,
    /// Whether it is one of several, and whether an earlier map in its folder has the same name apart from the
    /// extension, or a folder with maps has its name without the extension.
    is_one_of_many: bool,
    has_twin: bool,
}

impl MapFile {
    /// A map that an argument names.
    fn named(path: &Path, is_one_of_many: bool) -> Self {
        let name = path.file_name().map_or_else(|| path.to_path_buf(), PathBuf::from);
        MapFile { path: path.to_path_buf(), name, target: None, is_one_of_many, has_twin: false }
    }

    /// The path for output or input that belongs to this map: `base` itself for a single map, otherwise a path below
    /// `base` with the map's name and this extension.
    pub(crate) fn place(&self, base: &Path, extension: &str) -> PathBuf {
        if !self.is_one_of_many {
            return base.to_path_buf();
        }
        let plain = disk_names::in_game(&self.name);
        // `..` is the name of no file.
        let is_dots = matches!(plain.file_stem().map(OsStr::as_encoded_bytes), Some(b"." | b".."));
        let stem = if self.has_twin || is_dots { plain } else { plain.with_extension("") };
        let mut place = base.join(stem).into_os_string();
        if !extension.is_empty() {
            place.push(".");
            place.push(extension);
        }
        place.into()
    }

    /// The same path for writing; if there are several maps, its folder is created.
    pub(crate) fn file_in(&self, base: &Path, extension: &str) -> Result<PathBuf> {
        let place = self.place(base, extension);
        if let Some(folder) = place.parent().filter(|_| self.is_one_of_many) {
            put::folder(folder)?;
        }
        Ok(place)
    }

    /// The same path for reading; `None` if this map is one of several and has no such file.
    pub(crate) fn read_from(&self, base: &Path, extension: &str) -> Option<PathBuf> {
        Some(self.place(base, extension)).filter(|place| !self.is_one_of_many || place.exists())
    }
}

/// Whether a target is a folder: one that is there, or a name with a slash at its end. `-` is stdout always.
pub(crate) fn is_folder(target: &Path) -> bool {
    !is_stdin(target) && target.is_dir() || matches!(target.as_os_str().as_encoded_bytes().last(), Some(b'/' | b'\\'))
}

/// The folder of the game or the author, which is the one above the folder `maps` of a map. A map on stdin or in an
/// archive has none.
pub(crate) fn above_maps(path: &Path) -> Option<PathBuf> {
    if archive::part(path).is_some() {
        return None;
    }
    let real = real_input(path)?;
    let folder = real.parent().filter(|folder| folder.file_name().is_some_and(|it| it.eq_ignore_ascii_case("maps")))?;
    folder.parent().map(Path::to_path_buf)
}

/// Whether a path names several maps: a folder, or an archive.
fn are_several(path: &Path) -> bool {
    !is_stdin(path) && (path.is_dir() || is_archive(path))
}

fn is_archive(path: &Path) -> bool {
    Archive::is_name(path) && path.is_file()
}

/// An argument or a file that cannot be a map.
struct Trouble {
    path: PathBuf,
    /// The path below the folder that was named.
    name: PathBuf,
    error: Error,
    /// Whether it counts as a map: all but a folder without maps.
    is_map: bool,
}

/// The maps that the arguments name, in their order; a folder gives the maps in it.
pub(crate) struct Maps {
    found: Vec<Result<MapFile, Trouble>>,
    /// Whether there may be several maps. Then JSON is one line for each.
    pub(crate) many: bool,
    json: bool,
    at_once: AtOnce,
    /// How many compressed maps and archives the folders have: they are maps only where they are named.
    passed: usize,
}

/// How many maps are processed at once without `--jobs`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtOnce {
    /// One, with several threads.
    One,
    /// One for each core.
    Cores,
    /// This many for each core: most of the time is spent waiting for the disk.
    PerCore(usize),
}

/// Extensions of files that are not folders, though a folder could have such a name.
const FILES: [&str; 26] = [
    "7z", "bsp", "bz2", "csv", "ent", "glb", "gltf", "gz", "hdr", "html", "json", "jsonl", "lmp", "obj", "pak", "pbm",
    "pk3", "pk4", "png", "rar", "txt", "vpk", "wad", "wal", "zip", "zst",
];

impl Maps {
    fn new(many: bool) -> Self {
        Maps { found: Vec::new(), many, json: false, at_once: AtOnce::Cores, passed: 0 }
    }

    /// Finds the maps that these arguments name.
    pub(crate) fn find(arguments: &[&Path]) -> Self {
        let many = arguments.len() > 1 || arguments.iter().any(|path| are_several(path));
        let mut maps = Maps::new(many);
        for path in arguments {
            match !is_stdin(path) && path.is_dir() {
                true => maps.found.append(&mut folders::maps(path, &mut maps.passed)),
                false if is_archive(path) => maps.found.append(&mut in_archive(path)),
                false if super::words::matches_nothing(path) => {
                    let error = anyhow!("no file matches {}", shown(path));
                    let (path, name) = (path.to_path_buf(), path.to_path_buf());
                    maps.found.push(Err(Trouble { path, name, error, is_map: true }));
                }
                false => maps.found.push(Ok(MapFile::named(path, many))),
            }
        }
        if arguments.len() > 1 {
            maps.name_once();
        }
        maps
    }

    /// Keeps one of several equal names: a map may be named, and be in a folder that is named. A link is another map.
    fn name_once(&mut self) {
        let (mut folders, mut seen) = (HashMap::new(), HashSet::new());
        self.found.retain(|map| {
            let Some(path) = map.as_ref().ok().map(|map| &map.path).filter(|path| !is_stdin(path)) else { return true };
            let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name());
            let folder: &mut PathBuf = folders.entry(folder.to_owned()).or_insert_with(|| real_folder(folder));
            seen.insert((folder.clone(), name.map(OsStr::to_owned)))
        });
    }

    /// A file that need not be a map; its output is written in the same way.
    pub(crate) fn file(path: &Path) -> Self {
        let mut maps = Maps::new(false).one_by_one();
        maps.found.push(Ok(MapFile::named(path, false)));
        maps
    }

    /// The unpacked maps that these arguments name: folders, or folders of such folders.
    pub(crate) fn unpacked(arguments: &[PathBuf]) -> Self {
        // A folder in which nothing is an unpacked map is named as one folder, and refused as such.
        let inner = |path: &PathBuf| {
            let found = (path.is_dir() && !is_unpacked(path)).then(|| folders::unpacked(path));
            found.filter(|found| found.iter().any(Result::is_ok))
        };
        let inner: Vec<_> = arguments.iter().map(inner).collect();
        let many = arguments.len() > 1 || inner.iter().any(Option::is_some);
        let mut maps = Maps::new(many);
        for (path, inner) in arguments.iter().zip(inner) {
            maps.found.extend(inner.unwrap_or_else(|| vec![Ok(MapFile::named(path, many))]));
        }
        maps
    }

    /// Prints JSON. A map that fails has a document too, with its path and the error.
    pub(crate) fn json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Processes one map at a time, for work that uses several threads for each map.
    pub(crate) fn one_by_one(mut self) -> Self {
        self.at_once = AtOnce::One;
        self
    }

    /// Sets the target of each map. More maps are processed at once, since most of the time is spent waiting for the
    /// disk.
    pub(crate) fn saving(mut self, target: impl Fn(&MapFile) -> Option<PathBuf>) -> Self {
        if self.at_once == AtOnce::Cores {
            self.at_once = AtOnce::PerCore(4);
        }
        self.found.iter_mut().flatten().for_each(|map| map.target = target(map));
        self
    }

    /// Keeps one of several names for the same file. Otherwise that map would be edited several times.
    pub(crate) fn only_once(mut self) -> Self {
        let mut seen = HashSet::new();
        self.found.retain(|map| match map.as_ref().ok().and_then(|map| real_path(&map.path).ok().flatten()) {
            Some(real) => seen.insert(real),
            None => true,
        });
        self
    }

    /// Adds the maps of another folder that have other names; all are sorted by name.
    pub(crate) fn and_others(mut self, others: Maps) -> Self {
        let known: HashSet<PathBuf> = self.iter().map(|map| map.name.clone()).collect();
        self.found
            .extend(others.found.into_iter().filter(|map| map.as_ref().map_or(true, |map| !known.contains(&map.name))));
        self.found.sort_by(|one, other| {
            let name = |found: &Result<MapFile, Trouble>| match found {
                Ok(map) => map.name.clone(),
                Err(trouble) => trouble.name.clone(),
            };
            name(one).cmp(&name(other))
        });
        self
    }

    /// Keeps only some of the maps. There may be several then, even if one or none is left.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&MapFile) -> bool) {
        self.many = true;
        self.found.retain(|found| found.as_ref().map_or(true, &mut keep));
    }

    /// The maps, without the arguments and files that cannot be maps.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &MapFile> {
        self.found.iter().flatten()
    }

    /// Refuses an output or input folder if its name looks like the name of a file, or if two maps would have the same
    /// path in it.
    pub(crate) fn check_folder(&self, folder: &Path) -> Result<()> {
        let refused = |message: String, hint: &str| -> Result<()> {
            Err(bspkit::Error::new(ErrorKind::Argument, message).with_hint(hint).into())
        };
        let is_file = folder.extension().is_some_and(|it| FILES.iter().any(|file| it.eq_ignore_ascii_case(file)));
        match folder.is_dir() {
            false if folder.exists() => return refused(format!("{} is not a folder", shown(folder)), "name a folder"),
            false if is_file && !is_folder(folder) => {
                let message = format!("{} looks like a file name, but a folder is needed", shown(folder));
                return refused(message, "name a folder; a slash at the end makes any name a folder");
            }
            _ => {}
        }
        if !self.many {
            return Ok(());
        }
        let mut seen = HashMap::new();
        for map in self.iter() {
            let place = map.place(Path::new(""), "").into_os_string();
            // In some folders two names that differ in case are those of one file, and one map would replace the other.
            if let Some((other, old)) = seen.insert(place.to_ascii_lowercase(), (map, place.clone())) {
                let (how, hint) = match old == place {
                    true => ("have the same path", "name only one of them, or a folder that contains both"),
                    false => ("have paths that differ only in case", "name only one of them, or rename one"),
                };
                let message = format!("{} and {} {how} in {}", shown(&other.path), shown(&map.path), shown(folder));
                return refused(message, hint);
            }
            if is_stdin(&map.path) {
                let message = "stdin has no file name, so it cannot be saved into a folder".to_owned();
                return refused(message, "name stdin alone, with -o FILE");
            }
        }
        Ok(())
    }

    /// The first of the files to be written that is one of the maps.
    pub(crate) fn written_over(&self, targets: impl IntoIterator<Item = PathBuf>) -> Result<Option<PathBuf>> {
        let inputs: HashSet<PathBuf> = self.iter().filter_map(|map| real_input(&map.path)).collect();
        for target in targets {
            if target_path(&target)?.is_some_and(|real| inputs.contains(&real)) {
                return Ok(Some(target));
            }
        }
        Ok(None)
    }

    /// How many maps this run looks at, if nothing stops it.
    pub(crate) fn of_run(&self, shard: Option<Shard>) -> usize {
        self.order(shard).into_iter().filter(|&index| self.found[index].is_ok()).count()
    }

    /// The arguments and files of this run that cannot be maps, and why.
    pub(crate) fn troubles(&self, shard: Option<Shard>) -> impl Iterator<Item = (&Path, &Error)> {
        let troubles = self.order(shard).into_iter().filter_map(|index| self.found[index].as_ref().err());
        troubles.map(|trouble| (trouble.path.as_path(), &trouble.error))
    }

    /// The maps of this run, in order: all, or the part of `--shard`. For parts, maps are sorted by the names below the
    /// folders, so that the parts do not depend on where the folders are.
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

    /// Does the work on every map and returns the exit status. The output is in the order of the maps. A map that fails
    /// does not stop the others.
    pub(crate) fn each(
        &self,
        cx: &Context,
        work: impl Fn(&MapFile, &mut Job<'_>) -> Result<Code> + Sync,
    ) -> Result<Code> {
        self.run(cx, &work)
    }

    /// Not generic: threads and their order are compiled once, and not once per command.
    fn run(&self, cx: &Context, work: &(dyn Fn(&MapFile, &mut Job<'_>) -> Result<Code> + Sync)) -> Result<Code> {
        if self.many {
            stop::finish_maps_in_progress();
        }
        if self.passed > 0 && !cx.talk.quiet {
            let files = count(self.passed, "compressed map or archive", "compressed maps and archives");
            let text = format!("{files} in the folders: they are read only where they are named\n");
            cx.talk.stderr(text.as_bytes());
        }
        let order = self.order(cx.options.shard);
        let jobs = match self.at_once {
            // To ask for the number of cores takes longer than to open a map.
            _ if order.len() < 2 => 1,
            AtOnce::One => 1,
            AtOnce::PerCore(number) if cx.options.jobs.is_none() => cx.options.jobs() * number,
            AtOnce::Cores | AtOnce::PerCore(_) => cx.options.jobs(),
        };
        let jobs = jobs.min(order.len());
        let turns = Turns::new(&cx.talk, order.len(), jobs, self.json, self.many, cx.options.fail_fast);
        let worker = || {
            while let Some(turn) = turns.take() {
                let (path, map) = match &self.found[order[turn]] {
                    Ok(map) => (&map.path, Ok(map)),
                    Err(trouble) => (&trouble.path, Err(&trouble.error)),
                };
                turns.work(turn, path, |job| map.map(|map| watch::looked_after(work(map, job))));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs {
                // If no more threads can be started, the others do the work.
                if std::thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                    break;
                }
            }
            if turns.has_bar() {
                let _ = std::thread::Builder::new().spawn_scoped(scope, || turns.draw_each_second());
            }
            worker();
        });
        let part = match cx.options.shard.filter(|_| self.many) {
            Some(shard) => format!(", which is part {shard} of {}", self.found.len()),
            None => String::new(),
        };
        let tally: Tally = turns.end(self.many && self.has_maps(), &part)?;
        Ok(tally.code())
    }
}

/// The path of a folder with symbolic links followed. A folder in an archive is not on the disk: those above it are.
fn real_folder(folder: &Path) -> PathBuf {
    let real = |above: &Path| {
        let here = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let real = here.canonicalize().ok().filter(|real| real.is_dir())?;
        Some(real.join(folder.strip_prefix(above).ok()?))
    };
    folder.ancestors().find_map(real).unwrap_or_else(|| folder.to_owned())
}

/// The path of a file that would be replaced, with symbolic links followed.
pub(crate) fn target_path(path: &Path) -> Result<Option<PathBuf>> {
    names::refuse(path)?;
    real_path(path).with_context(|| format!("cannot write {}", shown(path)))
}

/// The path of the file that is read for a map: of a map in an archive, that of the archive.
pub(crate) fn real_input(path: &Path) -> Option<PathBuf> {
    let file = archive::part(path).map_or_else(|| path.to_path_buf(), |(archive, _)| archive);
    real_path(&file).ok().flatten()
}

/// The path of a file, or of the archive that has it, in its own folder: links to folders are followed, and a link to a
/// file is a file of the folder that it is in. `None` for stdin, and if there is no such file.
pub(crate) fn own_place(path: &Path) -> Option<PathBuf> {
    let file = archive::part(path).map_or_else(|| path.to_path_buf(), |(archive, _)| archive);
    if is_stdin(path) || file.is_dir() || !file.is_symlink() {
        return real_path(&file).ok().flatten();
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(file.file_name()?))
}

/// The path of a file that exists, with symbolic links followed.
pub(crate) fn real_path(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        _ if is_stdin(path) => Ok(None),
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// All maps in an archive, sorted by name. Each has the path of the archive, and goes on with its name in it.
fn in_archive(path: &Path) -> Vec<Result<MapFile, Trouble>> {
    let trouble = |error: Error, is_map| Trouble { path: path.to_path_buf(), name: path.to_path_buf(), error, is_map };
    let Listing { maps, left_out } = match archive::maps(path) {
        Ok(listing) => listing,
        Err(error) => return vec![Err(trouble(error.into(), true))],
    };
    if maps.is_empty() && left_out.is_empty() {
        return vec![Err(trouble(anyhow!("there is no map (*.bsp) in {}", shown(path)), false))];
    }
    let map = |name: String| MapFile {
        path: path.join(&name),
        name: name.into(),
        target: None,
        is_one_of_many: true,
        has_twin: false,
    };
    let hazard = |(name, why): (String, &str)| {
        // A name from the root would be that of a file of the system.
        let (path, error) = (
            path.join(name.trim_start_matches(['/', '\\'])),
            anyhow!("{} in {} is left out: {why}", shown(Path::new(&name)), shown(path)),
        );
        Trouble { path, name: name.into(), error, is_map: true }
    };
    maps.into_iter().map(|name| Ok(map(name))).chain(left_out.into_iter().map(|name| Err(hazard(name)))).collect()
}

// A map that is saved under another file name, and the maps that lead to it.

impl Maps {
    /// One map, which is saved under another file name, and the other maps in a folder.
    pub(crate) fn renamed(map: &Path, name: &Path, folder: Option<&Path>) -> Self {
        let mut maps = Maps::find(&[map]);
        let Some(folder) = folder else {
            maps.found.iter_mut().flatten().for_each(|map| map.name = name.to_path_buf());
            return maps;
        };
        let real = |path: &Path| real_path(path).ok().flatten();
        let own = real(map);
        let is_own = |found: &Result<MapFile, Trouble>| found.as_ref().is_ok_and(|found| real(&found.path) == own);
        let (same, others): (Vec<_>, Vec<_>) = folders::maps(folder, &mut 0).into_iter().partition(is_own);
        // In the folder it keeps its place, and only the last part of its name changes.
        let name =
            same.iter().flatten().next().map_or_else(|| name.to_path_buf(), |same| same.name.with_file_name(name));
        maps.found.iter_mut().flatten().for_each(|map| (map.name, map.is_one_of_many) = (name.clone(), true));
        maps.found.extend(others.into_iter().filter(|found| !is_empty_folder(found)));
        maps.many = true;
        maps
    }
}

/// Whether this says that a folder has no maps.
fn is_empty_folder(found: &Result<MapFile, Trouble>) -> bool {
    found.as_ref().is_err_and(|trouble| !trouble.is_map)
}
