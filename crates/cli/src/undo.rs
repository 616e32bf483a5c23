//! `undo` takes back the last save of a map that has a backup; `backups` lists and removes them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::output::PathJson;
use anyhow::Result;
use bspkit::{Bsp, Error, ErrorKind, Hint, file};
use bspkit_ops::compare::{self, Touched};
use bspkit_packed::{Form, archive};
use serde::Serialize;

use super::context::{Context, Report, is_stdin};
use super::talk::{Code, Job, count, shown};
use super::{commands, help};
use crate::diff::summary;
use crate::maps::{MapArgs, MapFile, Reading};
use crate::save::suffix;

/// Take back the last save that made a backup
///
/// The newest backup of each map takes its place, as the file that it was: MAP.bak, or of several the one with the
/// highest number. What changes is printed. The map as it was until then is gone; --dry-run only prints.
///
/// Whatever changed the map since the backup was made is taken back, also edits without --backup. Other files that an
/// edit changed, such as the .aas file of `--fix-aas`, stay. Maps on stdin and in archives have no backups; that of a
/// compressed map is named, and renamed by hand.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit undo maps --dry-run
  bspkit undo maps
  bspkit undo maps --dry-run --json"
))]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    suffix: SuffixArgs,
    /// Write nothing; print what would change
    #[arg(long)]
    dry_run: bool,
    /// Also replace a read-only map, and take a damaged backup or one of another game
    #[arg(long)]
    force: bool,
}

// The backups that are meant. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
struct SuffixArgs {
    /// The suffix of the backups
    #[arg(long, value_name = "SUFFIX", default_value = ".bak", value_parser = suffix)]
    suffix: String,
}

impl SuffixArgs {
    fn of(&self, map: &MapFile) -> Result<Vec<PathBuf>> {
        if is_stdin(&map.path) {
            return Err(Error::new(ErrorKind::Argument, "stdin has no backups; name a file").into());
        }
        if archive::part(&map.path).is_some() {
            return Err(Error::new(ErrorKind::Argument, "a map in an archive has no backups; name a file").into());
        }
        Ok(file::backups(&map.path, OsStr::new(&self.suffix)).map_err(|error| self.of_missing(&map.path, error))?)
    }
}

impl SuffixArgs {
    /// The error about a map that is gone, with the name of its backup if there is one.
    fn of_missing(&self, map: &Path, error: Error) -> Error {
        let backup = PathBuf::from([map.as_os_str(), OsStr::new(&self.suffix)].into_iter().collect::<OsString>());
        let is_gone = fs::symlink_metadata(map).is_err() && backup.is_file();
        if is_gone { error.with_hint(format!("a backup is there: {}; rename it", shown(&backup))) } else { error }
    }
}

pub(crate) fn run_undo(cx: &Context, args: &UndoArgs) -> Result<Code> {
    args.reading.maps().only_once().each(cx, |map, job| {
        let Some(backup) = args.suffix.of(map)?.pop() else {
            const NONE: &str = "it has no backup";
            if job.json {
                let backup = PathJson::new("backup", None);
                let report = NONE.to_owned();
                job.document(&Undone { map: String::new(), backup, taken_back: false, report, touched: None })?;
            }
            return Ok(job.nothing(NONE));
        };
        if Form::of(&map.path).is_some() {
            let message = format!("{} is compressed: undo is for maps that are not", shown(&map.path));
            let hint = format!("the newest backup is {}: rename it", shown(&backup));
            return Err(Error::new(ErrorKind::Refused, message).with_hint(hint).into());
        }
        let before = cx.open(&backup)?;
        // The map may be the reason: one that cannot be read.
        let now = cx.open(&map.path);
        if !args.force {
            refuse_other(now.as_ref().ok(), &before, &backup)?;
        }
        let (report, touched) = match &now {
            Ok(now) => {
                let found = compare::whole(now, &before, 1);
                let report = if found.lumps.is_empty() { "nothing changes".to_owned() } else { summary(&found) };
                (report, Some(found.touched()))
            }
            Err(error) => (format!("the map cannot be read ({error:#})"), None),
        };
        // No file stays open: systems may refuse to replace it then.
        drop((now, before));
        if !args.dry_run {
            file::take_back(&map.path, &backup, args.force)?;
        }
        job.report(&Undone {
            map: shown(&map.path),
            backup: PathJson::new("backup", Some(&backup)),
            taken_back: !args.dry_run,
            report,
            touched,
        })
    })
}

/// What is taken back, or would be.
#[derive(Serialize)]
struct Undone {
    #[serde(skip)]
    map: String,
    /// Null without one.
    #[serde(flatten)]
    backup: PathJson,
    taken_back: bool,
    report: String,
    /// None if the map cannot be read.
    touched: Option<Touched>,
}

impl Report for Undone {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let would = if self.taken_back { "is" } else { "would be" };
        job.line(format!("{} {would} again as in {}: {}", self.map, self.backup, self.report));
        Ok(())
    }
}

/// Refuses a backup that is damaged where the map is not, or not known to be, or that is a map of another game.
fn refuse_other(now: Option<&Bsp<'_>>, before: &Bsp<'_>, backup: &Path) -> Result<(), Error> {
    let is_damaged = |map: &Bsp<'_>| map.container().damaged().next().is_some();
    let old = before.dialect().title;
    let what = match now.map(|now| now.dialect().title) {
        _ if is_damaged(before) && !now.is_some_and(is_damaged) => "is damaged".to_owned(),
        Some(new) if new != old => format!("is a map of {old}, and the map is one of {new}"),
        _ => return Ok(()),
    };
    let hint = Hint::OrForce("name the backups that are meant with --suffix".to_owned());
    Err(Error::new(ErrorKind::Refused, format!("{} {what}", shown(backup))).with_hint(hint))
}

/// List and remove the backups of maps
///
/// A backup is the file that a save with --backup replaced: MAP.bak, then MAP.bak.1 and so on.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit backups list maps
  bspkit backups prune maps --keep 0 --dry-run"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    List(ListArgs, run_list),
    Prune(PruneArgs, run_prune),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

/// List the backups of maps, the oldest first, with their sizes in bytes
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit backups list maps
  bspkit backups list maps --json"
))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    suffix: SuffixArgs,
}

/// The backups of a map, the oldest first.
#[derive(Serialize)]
struct Backups {
    backups: Vec<Backup>,
}

#[derive(Serialize)]
struct Backup {
    #[serde(flatten)]
    file: PathJson,
    byte_count: u64,
}

impl Report for Backups {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        self.backups.iter().for_each(|backup| job.line(format!("{} {}", backup.byte_count, backup.file)));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.backups.is_empty() { Code::Nothing } else { Code::Done }
    }
}

fn run_list(cx: &Context, args: &ListArgs) -> Result<Code> {
    args.reading.maps().only_once().each(cx, |map, job| {
        let found = args.suffix.of(map)?;
        let backups =
            found.iter().map(|path| Ok(Backup { file: PathJson::new("file", Some(path)), byte_count: size(path)? }));
        job.report(&Backups { backups: backups.collect::<Result<_>>()? })
    })
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).map_err(|error| Error::io(format!("cannot read {}", shown(path)), error))?.len())
}

/// Remove the oldest backups of maps
///
/// The newest ones stay, and get their numbers anew.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit backups prune maps --keep 0 --dry-run
  bspkit backups prune maps --keep 0"
))]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    suffix: SuffixArgs,
    /// How many backups of each map stay
    #[arg(long, value_name = "N")]
    keep: usize,
    /// Write nothing; print what would change
    #[arg(long)]
    dry_run: bool,
}

fn run_prune(cx: &Context, args: &PruneArgs) -> Result<Code> {
    args.maps.find().only_once().each(cx, |map, job| {
        let found = args.suffix.of(map)?;
        let gone = &found[..found.len().saturating_sub(args.keep)];
        if gone.is_empty() {
            return Ok(Code::Nothing);
        }
        let bytes = gone.iter().map(|backup| size(backup)).sum::<Result<u64>>()?;
        if !args.dry_run {
            file::remove_backups(&map.path, OsStr::new(&args.suffix.suffix), args.keep)?;
        }
        say(job, args.dry_run, gone.len(), bytes);
        Ok(Code::Done)
    })
}

fn say(job: &mut Job<'_>, dry_run: bool, number: usize, bytes: u64) {
    let (what, removed) = (count(number, "backup", "backups"), if dry_run { "would be removed" } else { "removed" });
    let line = format!("{}: {what} {removed}, {bytes} bytes", job.path);
    job.line(line);
}
