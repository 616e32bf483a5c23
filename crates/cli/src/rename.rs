//! `rename`: gives a map another name.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Error, Result};
use bspkit::Draft;
use bspkit::bytes::escaped;
use bspkit::disk::names;
use bspkit_game::beside::game_folder;
use bspkit_game::rename::{FILES, OldName, Rename, Renamed, old_name as old_name_of};
use bspkit_packed::Form;
use serde::Serialize;

use super::context::{Context, is_stdin};
use super::help;
use super::maps::{MapArgs, MapFile, Maps};
use super::save::{Edited, Save};
use super::talk::{Code, Job, bad_argument, count, shown};

/// The most places that stay and are listed when a map is saved.
const LISTED: usize = 10;

/// Give a map another name, in every path that has it
///
/// Without -o, --in-place and --dry-run every change is listed and nothing is written. NEW has no folder and no
/// extension. Where a path has the old name in lower case, it has the new one so too, as compilers write it. Keys that
/// name a level have NEW as it is given, since some systems distinguish upper and lower case in file names.
///
/// These change: names of embedded files (`materials/maps/OLD/...`, and files that engines look for by the name of the
/// map, such as `maps/OLD.nav`), paths in materials and scripts, names of textures and models, paths in values of
/// entities, and the keys `map`, `nextmap` and `mapname`. Files that are not renamed or edited keep their bytes, their
/// order and their times.
///
/// What cannot be known is listed and stays: other values and lines that have the name, as `changelevel OLD` in a
/// script. Files beside the map that have its name are listed; the program does not rename them.
///
/// If the map has paths with the name NEW already, the renaming is refused, since nothing would part them from those of
/// OLD; --force mixes them.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rename map.bsp own_arena
  bspkit rename map.bsp own_arena --old old -o own_arena.bsp
  bspkit rename map.bsp own_arena --in-place --backup
  bspkit rename dm4.bsp arena --in maps -o edited"
))]
pub(crate) struct Args {
    #[command(flatten)]
    map: MapArgs,
    /// The new name
    #[arg(value_name = "NEW")]
    new: OsString,
    /// The old name [default: that of the file, or the one name that the paths in the map have]
    #[arg(long, value_name = "OLD")]
    old: Option<OsString>,
    /// Also change the keys by which the other maps in this folder lead to the map; they are saved as the map is, so -o
    /// names a folder
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    save: Save,
}

/// The document of a preview.
#[derive(Serialize)]
struct Preview {
    rename: serde_json::Value,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.map.are_many() {
        let message = "several maps cannot have one name".to_owned();
        return Err(bad_argument(message, "name one map, and the folder of the others with --in"));
    }
    let map = args.map.first();
    let old = match old_name(cx, map, args.old.as_deref()) {
        Ok(old) => old,
        Err(error) => return failed(cx, map, args.save.json, error),
    };
    let rename = renaming(&old, &args.new, args.old.is_some())?.merging(args.save.force);
    // A compressed map stays one.
    let file = new_file(&args.new, map);
    let maps = Maps::renamed(map, &file, args.folder.as_deref());
    let is_other = |found: &&MapFile| found.path != map && names::of_map(&found.path).eq_ignore_ascii_case(&args.new);
    if let Some(other) = maps.iter().find(is_other).filter(|_| args.folder.is_some() && !args.save.force) {
        let message = format!("{} has this name already: what leads to it would lead to the other", shown(&other.path));
        return Err(bad_argument(message, "name another NEW, or use --force"));
    }
    let edit = |draft: &mut Draft<'static>, found: &MapFile, job: &mut Job<'_>| -> Result<Task> {
        let is_own = found.path == map;
        let renamed = if is_own { rename.apply(draft)? } else { rename.apply_to_other(draft)? };
        let beside = if is_own && !is_stdin(map) { files(map, &old, &args.new, &rename) } else { Vec::new() };
        if job.json {
            job.extra.insert("rename".to_owned(), json(&renamed, &beside)?);
        }
        Ok(Task { renamed, beside, is_own })
    };
    if !args.save.has_output() {
        let code = maps.json(args.save.json).each(cx, |found, job| {
            let cannot = || format!("cannot rename {}", shown(&found.path));
            let task = edit(&mut cx.open_said(&found.path, job)?.draft(), found, job).with_context(cannot)?;
            if task.has_nothing() && args.old.is_some() && !job.json {
                return Ok(job.nothing(&task.nothing()));
            }
            match job.extra.remove("rename") {
                Some(rename) => job.document(&Preview { rename })?,
                None => task.list(job),
            }
            Ok(task.code())
        })?;
        if !args.save.json && !cx.talk.quiet {
            cx.talk.stderr(b"nothing is written: use -o FILE or --in-place to save\n");
        }
        return Ok(code);
    }
    args.save.each(cx, maps, |draft, found, job| {
        let task = edit(draft, found, job)?;
        match args.save.dry_run {
            true if !job.json => task.list(job),
            _ => task.say(job),
        }
        let is_whole = task.renamed.problems.is_empty();
        if task.has_nothing() && args.old.is_some() {
            return Ok(Edited::Nothing(task.nothing()));
        }
        if task.is_own {
            warn_of_file_name(found, &args.new, job);
        }
        let is_same = task.renamed.changes.is_empty();
        if is_same && is_whole {
            return Ok(Edited::same());
        }
        Ok(Edited::with(is_same, format!("{} renamed", task.renamed.summary()), is_whole))
    })
}

/// The old name of a map: the one that is given, that of its file, or the one that its paths have.
pub(crate) fn old_name(cx: &Context, map: &Path, from: Option<&OsStr>) -> Result<Vec<u8>> {
    if let Some(from) = from {
        return Ok(from.as_encoded_bytes().to_vec());
    }
    if is_stdin(map) {
        return Err(bad_argument("stdin has no name".into(), "--old OLD says what the map is called"));
    }
    let stem = names::of_map(map).as_encoded_bytes().to_vec();
    match old_name_of(&cx.open(map)?, &stem).with_context(|| format!("cannot rename {}", shown(map)))? {
        OldName::Own => Ok(stem),
        OldName::OfPaths(owner) => {
            let (stem, name) = (escaped(&stem), escaped(&owner.name));
            let notice = format!("{}: the paths in it are those of `{name}`, not of `{stem}`", shown(map));
            if !cx.talk.quiet {
                cx.talk.stderr(
                    format!("{notice}; the old name is taken to be {name} (--old {stem} for the other)\n").as_bytes(),
                );
            }
            Ok(owner.name)
        }
        OldName::Unclear(owners) => {
            let list = owners.iter().map(|owner| {
                let (files, textures) =
                    (count(owner.files, "file", "files"), count(owner.textures, "texture", "textures"));
                format!("{} ({files}, {textures})", escaped(&owner.name))
            });
            let list = list.collect::<Vec<_>>().join(", ");
            let message = format!("{} has paths of several maps, and none of `{}`: {list}", shown(map), escaped(&stem));
            Err(bad_argument(message, "--old OLD says which name is the old one"))
        }
    }
}

/// Reports that the old name of a map is not known, as any failure of a map is reported.
pub(crate) fn failed(cx: &Context, map: &Path, json: bool, error: Error) -> Result<Code> {
    let error = Mutex::new(Some(error));
    Maps::find(&[map]).json(json).each(cx, |_, _| match error.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => Ok(Code::Failed),
    })
}

/// The renaming from the old name to the new one. A file can have a name that no map has in its paths.
pub(crate) fn renaming(old: &[u8], new: &OsStr, is_given: bool) -> Result<Rename> {
    Ok(Rename::new(old, new.as_encoded_bytes()).map_err(|error| {
        // An old name that is wrong is so beside any new one.
        match is_given || Rename::new(old, "a").is_ok() {
            true => error,
            false => error.with_hint("the old name is that of the file; --old OLD gives another one"),
        }
    })?)
}

/// The file of a map with this name, compressed as another file is.
fn new_file(name: &OsStr, as_in: &Path) -> PathBuf {
    let ending = as_in.extension().filter(|_| Form::of(as_in).is_some());
    let mut file = OsString::from(name);
    file.push(".bsp");
    if let Some(ending) = ending {
        file.push(".");
        file.push(ending);
    }
    file.into()
}

/// Warns if the saved map has not the name of its file.
fn warn_of_file_name(map: &MapFile, name: &OsStr, job: &mut Job<'_>) {
    let Some(target) = map.target.as_deref().filter(|target| !is_stdin(target)) else { return };
    let wanted = target.with_file_name(new_file(name, target));
    if *target != wanted {
        let message =
            format!("engines find the files of a map by its file name: rename {} to {}", shown(target), shown(&wanted));
        job.warn(&message);
    }
}

/// The JSON of a renaming, with the files beside the map.
pub(crate) fn json(renamed: &Renamed, beside: &[(PathBuf, PathBuf)]) -> Result<serde_json::Value> {
    let mut json = serde_json::to_value(renamed)?;
    let pairs = beside.iter().map(|(old, new)| serde_json::json!({"from": shown(old), "to": shown(new)}));
    json["also_rename"] = pairs.collect();
    Ok(json)
}

/// A renamed map, before it is saved.
pub(crate) struct Task {
    pub(crate) renamed: Renamed,
    /// Files on the disk to be renamed as well.
    beside: Vec<(PathBuf, PathBuf)>,
    is_own: bool,
}

impl Task {
    /// A map in which only cube maps are renamed.
    pub(crate) fn of_cubemaps(renamed: Renamed) -> Self {
        Task { renamed, beside: Vec::new(), is_own: true }
    }

    fn code(&self) -> Code {
        if self.renamed.problems.is_empty() { Code::Done } else { Code::Found }
    }

    /// Whether the map has nothing of the old name.
    pub(crate) fn has_nothing(&self) -> bool {
        self.is_own && self.renamed.changes.is_empty() && self.renamed.problems.is_empty()
    }

    /// The sentence for a map with nothing of the old name.
    pub(crate) fn nothing(&self) -> String {
        if self.renamed.old.eq_ignore_ascii_case(&self.renamed.new) {
            return format!("every path with the name {} is spelled so already", escaped(&self.renamed.old));
        }
        let others: Vec<_> = self.renamed.others.iter().map(|owner| escaped(&owner.name).to_string()).collect();
        let others =
            if others.is_empty() { String::new() } else { format!("; its paths are those of {}", others.join(", ")) };
        format!("nothing has the name {}{others}", escaped(&self.renamed.old))
    }

    /// Prints every change, and everything that stays.
    pub(crate) fn list(&self, job: &mut Job<'_>) {
        let lines = self.lines(usize::MAX);
        if self.is_own || !self.renamed.changes.is_empty() || !lines.is_empty() {
            let (old, new) = (escaped(&self.renamed.old), escaped(&self.renamed.new));
            job.line(format!("{}: {old} -> {new}: {} to rename", job.path, self.renamed.summary()));
        }
        self.renamed.changes.iter().for_each(|change| job.line(format!("  {change}")));
        lines.iter().for_each(|line| job.line(format!("  {line}")));
        self.problems(job);
    }

    /// Prints the first of the places that stay.
    pub(crate) fn say(&self, job: &mut Job<'_>) {
        for line in self.lines(LISTED) {
            job.say(&format!("{}: {line}", job.path));
        }
        self.problems(job);
    }

    fn problems(&self, job: &mut Job<'_>) {
        for problem in self.renamed.problems.iter().chain(&self.renamed.unsearched) {
            let cause = std::error::Error::source(problem).map_or_else(String::new, |cause| format!(": {cause}"));
            job.warn_here(&format!("{problem}{cause}"));
        }
    }

    /// What stays, and what is to be done besides.
    fn lines(&self, most: usize) -> Vec<String> {
        let Renamed { left, more_left, others, respelled, .. } = &self.renamed;
        let mut lines: Vec<String> = left.iter().take(most).map(|left| format!("not changed: {left}")).collect();
        let more = left.len().saturating_sub(most) + more_left;
        if more > 0 {
            let hint = if most < left.len() { "; --dry-run lists them" } else { "" };
            lines.push(format!("not changed: {more} more{hint}"));
        }
        for owner in others {
            let (files, textures) =
                (count(owner.files, "file", "files"), count(owner.textures, "texture name", "texture names"));
            lines.push(format!("not changed: {files} and {textures} of another map, {}", escaped(&owner.name)));
        }
        if *respelled > 0 {
            let names = count(*respelled, "name is", "names are");
            lines.push(format!("{names} written in other letters; renaming back does not restore the capitals"));
        }
        let beside = self.beside.iter().map(|(old, new)| format!("also rename: {} -> {}", shown(old), shown(new)));
        lines.extend(beside);
        lines
    }
}

// Files on the disk that engines find by the name of a map.

/// The most files of a folder that are looked at.
const MOST: usize = 100_000;

/// The files beside a map that have its name, with their new paths: in its folder, and, if that is called `maps`, in
/// all folders where engines look for files of a map. Engines go by the name of the file: those of the old name in the
/// paths come after, and are of another map if it is there.
fn files(map: &Path, old: &[u8], new: &OsStr, rename: &Rename) -> Vec<(PathBuf, PathBuf)> {
    let folder = map.parent().unwrap_or(Path::new(""));
    let stem = names::of_map(map).as_encoded_bytes();
    let is_of_file = stem.eq_ignore_ascii_case(old);
    let by_file = Rename::new(stem, new.as_encoded_bytes()).ok().filter(|_| !is_of_file);
    let other = names::path(&[old, b".bsp"].concat()).ok().map(|other| folder.join(other));
    let by_paths = Some(rename).filter(|_| is_of_file || !other.is_some_and(|other| other.exists()));
    let renames: Vec<&Rename> = by_file.iter().chain(by_paths).collect();
    let game = game_folder(map);
    let mut folders: Vec<&str> =
        FILES.iter().map(|(before, _)| before.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    folders.sort_unstable();
    folders.dedup();
    let (mut found, mut taken) = (Vec::new(), HashSet::new());
    for name in folders {
        let place = match (name.strip_prefix("maps"), &game) {
            (Some(below), _) => folder.join(below.trim_start_matches('/')),
            (None, Some(game)) => game.join(name),
            (None, None) => continue,
        };
        for rename in &renames {
            found.extend(in_folder(&place, name, rename).into_iter().filter(|(_, to)| taken.insert(to.clone())));
        }
    }
    // Another map is not a file of this one.
    found.retain(|(old, _)| old != map && !old.extension().is_some_and(|end| end.eq_ignore_ascii_case("bsp")));
    found.sort();
    found
}

/// The files of one folder, which engines know by this name.
fn in_folder(place: &Path, name: &str, rename: &Rename) -> Vec<(PathBuf, PathBuf)> {
    let here = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    let Ok(entries) = fs::read_dir(here) else { return Vec::new() };
    let renamed = |entry: fs::DirEntry| {
        let file = entry.file_name();
        let path = [name.as_bytes(), b"/", file.as_encoded_bytes()].concat();
        // A folder of the map is known by the files in it.
        let inner: &[u8] = if entry.path().is_dir() { b"/x" } else { b"" };
        let new = rename.file([&path, inner].concat())?;
        let new = new.strip_suffix(inner)?.rsplit(|byte| *byte == b'/').next()?.to_vec();
        let new = String::from_utf8(new).ok()?;
        (OsStr::new(&new) != file).then(|| (place.join(&file), place.join(new)))
    };
    entries.take(MOST).flatten().filter_map(renamed).collect()
}
