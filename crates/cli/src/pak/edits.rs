//! The `pak` commands that edit: files added, removed and renamed, their order, times and compression.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error as AnyhowError, Result, anyhow, bail};
use bspkit::bytes::escaped;
use bspkit::content::pak::{Moves, Order, Packed, Pak, Time, lookup_name};
use bspkit::content::pattern::Pattern;
use bspkit::disk::input;
use bspkit::disk::names::path;
use bspkit::file::names::path_hazard;
use bspkit::{Data, Error, ErrorKind};
use bspkit_game::assets::{found_by, normal_name};
use bspkit_text::pak::{self, FoundFile, Names, files_in, refuse_twice};
use clap::ValueEnum;

use super::names_of;
use crate::compress::Effort;
use crate::context::{Choice, Context};
use crate::help;
use crate::maps::MapArgs;
use crate::save::{Edited, Save};
use crate::talk::{Code, bad_argument, count, shown};

// `pak add`: embeds new files, and replaces embedded files.

/// Embed files: after the others, or in the place of a file with the same name for engines
///
/// A zip file is embedded as one file. To replace the whole pakfile by it, use `load MAP pak FILE.zip`.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp
  bspkit pak add map.bsp content/ -o out.bsp
  bspkit pak add map.bsp --list files.txt --in-place --backup"
))]
pub(crate) struct AddArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The name in the map, and the file; or a folder: all files in it, with their paths in the folder
    #[arg(value_name = "NAME=FILE|DIR", required_unless_present = "list")]
    files: Vec<OsString>,
    /// A list of files as for bspzip: a line with the name, then a line with the path, and so on
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Keep case and backslashes of names, and embed all files, also .DS_Store, Thumbs.db and .git
    #[arg(long)]
    as_is: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_add(cx: &Context, args: &AddArgs) -> Result<Code> {
    let mut new = Vec::new();
    if let Some(list) = &args.list {
        let cannot = || format!("cannot read the list {}", shown(list));
        new.extend(parse(&input::read(list)?).with_context(cannot)?);
    }
    for argument in &args.files {
        collect(argument, &mut new)?;
    }
    let how = if args.as_is { Names::AsIs } else { Names::Normal };
    args.list.iter().chain(new.iter().map(|new| &new.path)).try_for_each(|file| args.save.spare(file))?;
    if !cx.talk.quiet {
        notices(&new, how).iter().for_each(|notice| cx.talk.stderr(format!("{notice}\n").as_bytes()));
    }
    new.retain(|new| !(new.is_found && how.leaves_out(&new.name).is_some()));
    new.iter_mut().for_each(|new| new.name = how.name(&new.name));
    // Lists that scripts write often name a file twice.
    let mut pairs = HashSet::new();
    new.retain(|new| pairs.insert((lookup_name(&new.name), new.path.clone())));
    refuse_twice(new.iter().map(|new| &*new.name))?;
    let read = |new: New| -> Result<(Vec<u8>, Data<'static>)> {
        let cannot = || format!("cannot read {}", shown(&new.path));
        // Reading a device might never end.
        if !fs::metadata(&new.path).with_context(cannot)?.is_file() {
            return Err(anyhow!("it is not a regular file").context(cannot()));
        }
        let bytes = fs::read(&new.path).with_context(cannot)?;
        Ok((new.name, Data::from(bytes)))
    };
    let files = new.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    if files.is_empty() {
        bail!("there is no file to embed");
    }
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let pak = draft.pak()?;
        let before = pak.len();
        for (name, bytes) in &files {
            let at = pak.add(name, bytes.clone())?;
            if let Some(twin) = pak.find(name).into_iter().find(|twin| *twin != at) {
                let name = escaped(name);
                job.warn_here(&format!(
                    "`{name}` is #{at} now, and #{twin} has the same name to engines, which read one of them"
                ));
            }
        }
        unfindable(files.iter().map(|(name, _)| &name[..])).iter().for_each(|notice| job.warn_here(notice));
        unwritable(&files).iter().for_each(|notice| job.say(notice));
        let added = pak.len() - before;
        let replaced = files.len() - added;
        let others = if replaced > 0 { format!(", {replaced} of them replaced old files") } else { String::new() };
        // Reported after the save, which fails if the pakfile is full.
        let what = format!("{} embedded{others}", count(files.len(), "file", "files"));
        Ok(Edited::With { what, is_whole: true })
    })
}

/// Adds the files that an argument names.
fn collect(argument: &OsStr, new: &mut Vec<New>) -> Result<()> {
    let bytes = argument.as_encoded_bytes();
    let parts = bytes.iter().position(|byte| *byte == b'=').map(|at| (&bytes[..at], &bytes[at + 1..]));
    let folder = Path::new(argument);
    match parts {
        _ if folder.is_dir() => {
            let found = files_in(folder)?;
            let is_empty = found.is_empty();
            new.extend(found.into_iter().map(|FoundFile { name, path, .. }| New { name, path, is_found: true }));
            if is_empty {
                bail!("there is no file in {}", shown(folder));
            }
            Ok(())
        }
        Some((name, file)) => {
            new.push(New { name: name.to_vec(), path: path(file)?, is_found: false });
            Ok(())
        }
        None if folder.is_file() => {
            let file = escaped(argument.as_encoded_bytes());
            bail!("{file} needs a name in the map: write NAME={file}; to replace the whole pakfile, use `load MAP pak`")
        }
        None => bail!("{} is neither a folder nor NAME=FILE", escaped(argument.as_encoded_bytes())),
    }
}

/// The notices about files that are left out, and names that change.
fn notices(new: &[New], how: Names) -> Vec<String> {
    let is_left_out = |new: &&New| new.is_found && how.leaves_out(&new.name).is_some();
    let left: Vec<Vec<u8>> = new.iter().filter(is_left_out).map(|new| new.name.clone()).collect();
    let renamed = new.iter().filter(|new| !is_left_out(new) && how.name(&new.name) != new.name);
    let mut notices = left_out(&left, how);
    notices.extend(about(renamed.map(|new| &new.name[..]), RENAMED));
    notices
}

/// The warning about new names of files that no engine looks for.
fn unfindable<'n>(names: impl Iterator<Item = &'n [u8]>) -> Option<String> {
    let name = names.into_iter().find(|name| found_by(name).is_none())?;
    Some(format!("engines look for no file called `{}`, but for `{}`", escaped(name), escaped(&normal_name(name))))
}

/// The notice about files that were asked for by name and that are not extracted.
fn unwritable(files: &[(Vec<u8>, Data<'_>)]) -> Option<String> {
    let why = files.iter().find_map(|(name, _)| path_hazard(name))?;
    let names = files.iter().map(|(name, _)| &name[..]).filter(|name| path_hazard(name).is_some());
    about(names, &format!("is embedded, but `pak extract` does not write it: {why}"))
}

// The list files of bspzip: pairs of lines, a name in the map and a path on disk.

/// A file to embed.
pub(super) struct New {
    pub(super) name: Vec<u8>,
    pub(super) path: PathBuf,
    /// Whether it was found in a folder and not named by the user.
    pub(super) is_found: bool,
}

/// The lines of a list. They end with LF or CRLF; the last line may have no end. A byte order mark at the start is
/// skipped, and so are empty lines at the end.
///
/// # Errors
/// The number of another empty line.
pub(crate) fn lines(text: &[u8]) -> Result<Vec<&[u8]>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    match lines.iter().position(|line| line.is_empty()) {
        Some(at) => bail!("line {} is empty", at + 1),
        None => Ok(lines),
    }
}

/// Reads a list of pairs.
pub(super) fn parse(text: &[u8]) -> Result<Vec<New>> {
    let lines = lines(text)?;
    if !lines.len().is_multiple_of(2) {
        bail!("it has {} lines, but each name needs a path on the next line", lines.len());
    }
    lines
        .chunks_exact(2)
        .map(|pair| Ok(New { name: pair[0].to_vec(), path: local(path(pair[1])?.as_os_str()), is_found: false }))
        .collect()
}

/// A path as this system has it: `\` is `/` where no file has it in its name.
pub(crate) fn local(path: &OsStr) -> PathBuf {
    let has_backslash = path.as_encoded_bytes().contains(&b'\\');
    match path.to_str().filter(|_| !cfg!(windows) && has_backslash && !Path::new(path).exists()) {
        Some(text) => text.replace('\\', "/").into(),
        None => path.into(),
    }
}

// Notices about files whose names change on the way into a map, or that are left out.

/// Why names are stored in another form.
pub(super) const RENAMED: &str =
    "is stored in lower case and with / for \\, which is the same name for engines; --as-is keeps it";

/// Notices about files of a folder that are left out, one for each reason.
pub(super) fn left_out(names: &[Vec<u8>], how: Names) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&[u8]>)> = Vec::new();
    for (name, why) in names.iter().filter_map(|name| Some((&name[..], how.leaves_out(name)?))) {
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((why, vec![name])),
        }
    }
    let notice = |(why, names): &(&str, Vec<&[u8]>)| {
        about(names.iter().copied(), &format!("is left out: {why}; --as-is embeds it"))
    };
    by_reason.iter().filter_map(notice).collect()
}

/// A notice about some files: the first name, and the number of others.
pub(super) fn about<'n>(mut names: impl Iterator<Item = &'n [u8]>, what: &str) -> Option<String> {
    let first = names.next()?;
    let more = match names.count() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "other", "others")),
    };
    Some(format!("note: `{}`{more} {what}", escaped(first)))
}

// `pak sync`: makes the embedded files those of a folder.

/// Make the embedded files those of a folder
///
/// Files whose bytes differ are replaced, files that are missing in the folder are removed, and new files follow the
/// others. A file with the same bytes keeps its name, order, time and compression: after `pak extract`, `pak sync` of
/// the same folder changes nothing. Files that cannot be in a folder, because of their name or because they are
/// damaged, stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak sync map.bsp content --dry-run
  bspkit pak sync map.bsp content --in-place --backup"
))]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder; for several maps, it has a folder for each, as `pak extract` makes them
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Keep case and backslashes of new names, and embed all files, also .DS_Store, Thumbs.db and .git
    #[arg(long)]
    as_is: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_sync(cx: &Context, args: &SyncArgs) -> Result<Code> {
    let names = if args.as_is { Names::AsIs } else { Names::Normal };
    args.save.spare_folder(&args.folder)?;
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        job.lists_all = true;
        let Some(folder) = map.read_from(&args.folder, "") else {
            return Ok(Edited::Nothing("the folder has no folder for this map".to_owned()));
        };
        let pak = draft.pak()?;
        let old: Vec<Vec<u8>> = pak.iter().map(|entry| entry.name().to_vec()).collect();
        let synced = pak::sync(pak, &folder, names)?;
        for (index, why) in &synced.kept {
            job.warn_here(&format!("`{}` stays, since it cannot be in a folder: {why}", escaped(&old[*index])));
        }
        left_out(&synced.left_out, names).iter().for_each(|notice| job.say(notice));
        let renamed = about(synced.renamed.iter().map(|name| &name[..]), RENAMED);
        renamed.iter().for_each(|notice| job.say(notice));
        let (added, changed, removed) = (synced.added, synced.changed, synced.removed);
        let what = format!("{added} added, {changed} changed, {removed} removed, {} as they were", synced.same);
        Ok(Edited::With { what, is_whole: true })
    })
}

// `pak rm`: removes embedded files.

/// Remove embedded files
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak rm map.bsp 'materials/maps/**' -o out.bsp
  bspkit pak rm map.bsp '*.vhv' --in-place --backup"
))]
pub(crate) struct RmArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The files
    #[arg(value_name = "GLOB", required = true)]
    patterns: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_rm(cx: &Context, args: &RmArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let pak = draft.pak()?;
        let names = names_of(pak);
        let indices = names.chosen(&args.patterns, job);
        if indices.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        pak.remove(&indices)?;
        Ok(Edited::Done)
    })
}

// `pak mv`: renames embedded files.

/// Rename embedded files, one or many at once
///
/// In NEW the wildcards `*`, `**` and `?` are the text that those of OLD match, in their order; `{1}` is the text of
/// the first one, as in `tex rename`. `=*.txt` is the file `*.txt` itself. Several moves take place at once, so files
/// can swap their names, and a file goes by the first move that matches it. If a new name is that of another file,
/// nothing is written, and all such names are listed. Files keep their bytes, their order and their times.
///
/// A GLOB without a slash is for the last part of a name: if NEW has no slash either, a file stays in its folder.
///
/// Names in the map and in materials do not change.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak mv map.bsp materials/my/wall.vmt materials/my/floor.vmt -o out.bsp
  bspkit pak mv map.bsp 'materials/maps/old/**' 'materials/maps/new/**' --dry-run
  bspkit pak mv map.bsp '*.txt' '*.cfg' '#0' cfg/first.cfg --in-place --backup"
))]
pub(crate) struct MvArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The files, and their new names byte for byte: a name in any case, `#` and an index, or a GLOB
    #[arg(value_name = "OLD NEW", required = true, num_args = 2..)]
    moves: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

/// The files of a move, with their new names.
fn apply(pak: &Pak<'_>, old: &[u8], new: &[u8]) -> Result<Vec<(usize, Vec<u8>)>> {
    let is_pattern = Pattern::exact(old).is_some() || old.iter().any(|byte| matches!(byte, b'*' | b'?'));
    match Choice::new(old) {
        Choice::Index(index) if index < pak.len() => Ok(vec![(index, new.to_vec())]),
        _ if is_pattern => {
            let moves = Moves::new(old, new)?;
            Ok(pak.iter().filter_map(|entry| Some((entry.index(), moves.apply(entry.name())?))).collect())
        }
        _ => match pak.one(old) {
            Ok(index) => Ok(vec![(index, new.to_vec())]),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        },
    }
}

pub(super) fn run_mv(cx: &Context, args: &MvArgs) -> Result<Code> {
    if !args.moves.len().is_multiple_of(2) {
        let message = format!("{} names are not pairs of OLD and NEW", args.moves.len());
        return Err(bad_argument(message, "quote a GLOB, so that the shell leaves it as it is"));
    }
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let pak = draft.pak()?;
        let mut renamed: HashMap<usize, Vec<u8>> = HashMap::new();
        let mut idle = Vec::new();
        for pair in args.moves.chunks_exact(2) {
            let files = apply(pak, pair[0].as_encoded_bytes(), pair[1].as_encoded_bytes())?;
            if files.is_empty() {
                idle.push(pair[0].clone());
            }
            for (index, new) in files {
                renamed.entry(index).or_insert(new);
            }
        }
        if renamed.is_empty() {
            return Ok(Edited::Nothing(names_of(pak).nothing(&idle)));
        }
        idle.iter().for_each(|old| job.warn_here(&names_of(pak).nothing(std::slice::from_ref(old))));
        let mut renamed: Vec<(usize, Vec<u8>)> = renamed.into_iter().collect();
        renamed.retain(|(index, new)| pak.get(*index).is_some_and(|entry| entry.name() != new));
        renamed.sort_unstable();
        pak.rename_all(&renamed)?;
        unfindable(renamed.iter().map(|(_, new)| &new[..])).iter().for_each(|notice| job.warn_here(notice));
        Ok(Edited::With { what: format!("{} renamed", count(renamed.len(), "file", "files")), is_whole: true })
    })
}

// `pak sort`: puts embedded files in another order.

/// Put embedded files in another order
///
/// The order changes both the zip directory and the place of the files' data; each file keeps all of its bytes. Engines
/// find files by name, so no order is wrong. Each file is compressed by itself, so the size of the map stays, and that
/// of its .bz2 hardly changes. With `type`, materials are together, and a game that reads them reads fewer parts of the
/// map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak sort map.bsp type -o out.bsp
  bspkit pak sort map.bsp name --in-place --backup"
))]
pub(crate) struct SortArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The order
    #[arg(value_name = "ORDER")]
    order: OrderName,
    #[command(flatten)]
    save: Save,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderName {
    /// By name: the files of a folder are together
    Name,
    /// By extension, then by name: the fewest parts to read, and the smallest .bz2 by a little
    Type,
    /// The smallest first
    Size,
}

pub(super) fn run_sort(cx: &Context, args: &SortArgs) -> Result<Code> {
    let order = match args.order {
        OrderName::Name => Order::Name,
        OrderName::Type => Order::Type,
        OrderName::Size => Order::Size,
    };
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let pak = draft.pak()?;
        let before: Vec<Vec<u8>> = pak.iter().map(|entry| entry.name().to_vec()).collect();
        pak.sort(order)?;
        let moved = pak.iter().zip(&before).filter(|(entry, name)| entry.name() != *name).count();
        if args.save.dry_run && !args.save.json {
            for entry in pak.iter() {
                let name = bspkit::bytes::escaped(entry.name());
                job.line(format!("  #{} {name}, {} bytes", entry.index(), entry.size()));
            }
        }
        let what = format!("{moved} of {} files have another place in the directory", pak.len());
        Ok(Edited::With { what, is_whole: true })
    })
}

// `pak set-time`: gives embedded files another time.

/// Set the time that the zip directory states for embedded files
///
/// TIME is `none` (zeros, as Valve's tools write them), `2013-06-20`, `2013-06-20T12:34:56`, `@1371731696` (seconds
/// since 1970 in UTC: `@$SOURCE_DATE_EPOCH`), or `like:NAME` (the time of that embedded file). A zip keeps years from
/// 1980 to 2107, in steps of two seconds and without a time zone. All other bytes of the files stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak set-time map.bsp none -o out.bsp
  bspkit pak set-time map.bsp @1371731696 'materials/**' --in-place
  bspkit pak set-time map.bsp like:materials/my/wall.vmt '*.vmt' --dry-run"
))]
pub(crate) struct SetTimeArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The time
    #[arg(value_name = "TIME")]
    time: OsString,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

/// A time, or the file that has it.
enum Wanted {
    Time(Time),
    Like(Vec<u8>),
}

impl Wanted {
    fn parse(text: &[u8]) -> bspkit::Result<Self> {
        if let Some(name) = text.strip_prefix(b"like:") {
            return Ok(Wanted::Like(name.to_vec()));
        }
        if let Some(seconds) = text.strip_prefix(b"@") {
            let number = std::str::from_utf8(seconds).ok().and_then(|digits| digits.parse().ok());
            let wrong = || {
                let message = format!("`{}` is not a number of seconds", escaped(seconds));
                Error::new(ErrorKind::Argument, message).with_hint("@ needs the seconds since 1970: @1371731696")
            };
            return Time::from_unix(number.ok_or_else(wrong)?).map(Wanted::Time);
        }
        if text == b"none" { Ok(Wanted::Time(Time::NONE)) } else { Time::parse(text).map(Wanted::Time) }
    }

    fn of(&self, pak: &Pak<'_>) -> bspkit::Result<Time> {
        match self {
            Wanted::Time(time) => Ok(*time),
            Wanted::Like(name) => Ok(pak.get(pak.one(name)?).map_or(Time::NONE, |entry| entry.time())),
        }
    }
}

pub(super) fn run_set_time(cx: &Context, args: &SetTimeArgs) -> Result<Code> {
    let wanted = Wanted::parse(args.time.as_encoded_bytes())?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let pak = draft.pak()?;
        let names = names_of(pak);
        let indices = names.chosen(&args.patterns, job);
        if indices.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        let time = wanted.of(pak)?;
        let mut changed = 0;
        for entry in indices.iter().filter_map(|index| pak.get(*index)).filter(|entry| entry.time() != time) {
            changed += 1;
            if args.save.dry_run && !args.save.json {
                job.line(format!("  {}: {} -> {time}, {} bytes", escaped(entry.name()), entry.time(), entry.size()));
            }
        }
        pak.set_time(&indices, time)?;
        let what = format!("{changed} of {} set to {time}", count(indices.len(), "time", "times"));
        Ok(Edited::With { what, is_whole: true })
    })
}

// `pak compress`: compresses embedded files. Also the code that `pak store` shares with it.

/// Compress embedded files with LZMA if that makes them smaller
///
/// Files of the types mp3, wav, ogg, ani and vcs stay as they are, since engines cannot read them compressed.
/// Compressed files stay byte for byte. Team Fortress 2, the other games of its engine and their relatives read such
/// maps; Left 4 Dead, Portal 2, Counter-Strike: Global Offensive and older games do not.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak compress map.bsp -o out.bsp
  bspkit pak compress map.bsp '*.vtf' '*.vmt' --not 'materials/skybox/**' -o out.bsp"
))]
pub(crate) struct CompressArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    effort: Effort,
}

// The arguments of both commands. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct Which {
    #[command(flatten)]
    maps: MapArgs,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Except these files; can be repeated
    #[arg(long, value_name = "GLOB")]
    not: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_compress(cx: &Context, args: &CompressArgs) -> Result<Code> {
    each(cx, &args.which, true, |pak, files, threads| pak.compress(files, threads, args.effort.level))
}

fn each(
    cx: &Context,
    args: &Which,
    is_compressing: bool,
    work: impl Fn(&mut Pak<'static>, &[usize], usize) -> bspkit::Result<Packed> + Sync,
) -> Result<Code> {
    args.save.each(cx, args.maps.find().one_by_one(), |draft, _, job| {
        job.lists_all = true;
        let caveat = draft.bsp().compression_caveat().filter(|_| is_compressing);
        let pak = draft.pak()?;
        let names = names_of(pak);
        let mut indices = names.chosen(&args.patterns, job);
        let not: HashSet<usize> = args.not.iter().flat_map(|pattern| names.of(pattern)).collect();
        indices.retain(|index| !not.contains(index));
        if indices.is_empty() {
            let excepted = !not.is_empty();
            let what = if excepted { "--not excludes all files".to_owned() } else { names.nothing(&args.patterns) };
            return Ok(Edited::Nothing(what));
        }
        let Packed { changed, bytes: (before, after), failed, .. } = work(pak, &indices, cx.options.jobs())?;
        for (index, error) in failed {
            job.warn_here(&format!("file #{index} stays as it is: {:#}", AnyhowError::new(error)));
        }
        if let Some(caveat) = caveat.filter(|_| changed > 0) {
            job.warn_here(caveat);
        }
        let files = count(indices.len(), "file", "files");
        let done = if is_compressing { "compressed" } else { "stored" };
        job.say(&format!("{}: {changed} of {files} {done}, {before} -> {after} bytes", job.path));
        Ok(Edited::Done)
    })
}

// `pak store`: decompresses embedded files.

/// Store embedded files without compression
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak store map.bsp -o out.bsp
  bspkit pak store map.bsp 'sound/**' --in-place --backup"
))]
pub(crate) struct StoreArgs {
    #[command(flatten)]
    which: Which,
}

pub(super) fn run_store(cx: &Context, args: &StoreArgs) -> Result<Code> {
    each(cx, &args.which, false, Pak::store)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_pairs_of_lines() {
        let pairs = |text: &str| -> Vec<_> {
            let list = parse(text.as_bytes()).unwrap();
            list.into_iter().map(|new| (String::from_utf8(new.name).unwrap(), new.path)).collect()
        };
        let path = if cfg!(windows) { "c:\\d" } else { "c:/d" };
        let expected = [("a b".to_owned(), PathBuf::from(path)), ("e".to_owned(), PathBuf::from("f"))];
        assert_eq!(pairs("a b\r\nc:\\d\r\ne\r\nf\r\n"), expected);
        assert_eq!(pairs("a b\nc:\\d\ne\nf"), expected);
        assert_eq!(pairs("\u{FEFF}a b\nc:\\d\ne\nf"), expected);
        assert_eq!(pairs(""), []);
        assert!(parse(b"a\nb\nc\n").is_err());
        assert!(parse(b"a\nb\n\n\nc\nd\n").is_err());
    }
}
