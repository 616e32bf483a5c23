//! `pack` and `unpack`: a map from a folder, and a folder from a map.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::output::PathJson;
use anyhow::{Context as _, Result, bail};
use bspkit::disk::put;
use bspkit::file::names;
use bspkit::finding::Finding;
use bspkit::{Bsp, Data, Error, ErrorKind, Followed, Layout, Plan, SaveOptions};
use bspkit_game::beside;
use bspkit_text::folder::{Folder, How, Packed, Target, unpack};
use bspkit_text::records::Format;
use serde::Serialize;

use super::context::{Context, Report, is_stdin};
use super::help;
use super::maps::{MapArgs, MapFile, Maps, real_path};
use super::order::{formats, sentence};
use super::output::{self, refuse_archive};
use super::records::NumberArgs;
use super::save::{Findings, write_map};
use super::talk::{Code, Job, count, shown, worded};

// `pack`: a map from a folder.

/// Make a map from a folder that `unpack` wrote, or that was written by hand
///
/// If nothing was edited, the map is the one that was unpacked, byte for byte. Edited files are an edit of that map:
/// nothing else moves, and embedded files are added and removed as the files of their folder. A folder without the
/// folder `original` is a new map: `{"bspkit_manifest": 1, "dialect": "quake2", "lumps": [{"lump": "planes", "file":
/// "planes.jsonl"}]}` is the shortest kind of manifest.json; see docs/schema/manifest.schema.json.
///
/// Numbers of records in all files are those of the original map. If records were added, removed or moved in a file of
/// text, --follow updates everything that refers to them, and --resize leaves it as it is. It is refused without one of
/// them, and if it is not known which record a line is.
///
/// Everything that is wrong is listed, and then no map is written. For several folders, or a folder with unpacked maps
/// in it, each map is saved below the folder of -o.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pack dm4 -o dm4.bsp
  bspkit pack dm4 --dry-run
  bspkit pack dm4 --follow -o dm4.bsp
  bspkit pack unpacked -o maps"
))]
pub(crate) struct Args {
    /// Folders with a manifest.json, or folders of such folders
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Where to save; the file is replaced completely or not at all; `-` is stdout. For several folders: a folder
    #[arg(short, long, value_name = "MAP", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Keep the old file, with this suffix added to its name
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".bak")]
    backup: Option<String>,
    /// Write nothing; print what differs from the original map
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    numbers: NumberArgs,
    /// Print the report as JSON; for several folders, one line for each
    #[arg(long)]
    json: bool,
    /// Save an edit of a damaged map, or one that adds errors; replace a read-only file
    #[arg(long)]
    force: bool,
}

/// The report about a map.
#[derive(Serialize)]
struct Done {
    #[serde(flatten)]
    output: PathJson,
    dialect: &'static str,
    bytes: usize,
    /// Whether it is a new map, and not the original one with edits.
    new: bool,
    edited: Vec<String>,
    /// What the edits do to the original map.
    report: String,
    warnings: Vec<String>,
    /// What is wrong with the map and was not wrong with the original one.
    findings: Vec<Finding>,
    #[serde(flatten)]
    backup: Option<PathJson>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = Maps::unpacked(&args.folders).json(args.json);
    if let Some(output) = args.output.as_deref() {
        if maps.many {
            maps.check_folder(output)?;
        }
        if is_stdin(output) && (maps.many || args.json) {
            bail!("only a single map can be written to stdout, and nothing else");
        }
    }
    let many = maps.many;
    let maps = maps.saving(|map| match &args.output {
        Some(output) if many => Some(map.place(output, "bsp")),
        output => output.clone(),
    });
    maps.each(cx, |map, job| {
        let cannot = || format!("cannot pack {}", shown(&map.path));
        let packed = Folder::read(&map.path)
            .and_then(|folder| folder.pack(args.numbers.of(args.force)))
            .map_err(all)
            .with_context(cannot)?;
        save(packed, map, args, job).with_context(cannot)
    })
}

/// One error for all problems of a folder.
pub(super) fn all(problems: Vec<Error>) -> Error {
    let with_hint = |error: &Error| {
        let hint = error.hint().map(|hint| format!(" ({})", worded(hint))).unwrap_or_default();
        format!("{error}{hint}")
    };
    match <[Error; 1]>::try_from(problems) {
        Ok([error]) => error,
        Err(problems) => {
            let message = format!("the folder has {} problems", problems.len());
            Error::new(ErrorKind::Argument, message).with_list(problems.iter().map(with_hint))
        }
    }
}

fn save(packed: Packed, map: &MapFile, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let Packed { draft, edited, mut warnings, findings, followed, is_new, .. } = packed;
    let findings = Findings::new(findings);
    if !args.force && !args.dry_run {
        findings.refuse(job)?;
    }
    let plan = draft.plan(Layout::Keep)?;
    let dialect = draft.bsp().dialect();
    warnings.extend(plan.report().warnings.iter().cloned());
    warnings.extend(doubt(&plan, dialect.name));
    warnings.extend(map.target.iter().flat_map(|to| beside::stale(&draft, &plan, to, to)).map(|file| file.to_string()));
    let target = map.target.as_deref().filter(|_| !args.dry_run);
    let mut backup = None;
    if let Some(target) = target {
        refuse_inside(&map.path, target)?;
        let options = args.backup.iter().fold(SaveOptions::default().force(args.force), SaveOptions::backup);
        refuse_archive(target)?;
        if is_stdin(target) {
            plan.check_force(args.force)?;
            job.deliver(&plan.to_data())?;
        } else {
            if job.many {
                target.parent().map_or(Ok(()), put::folder)?;
            }
            let saved = write_map(&plan, target, None, &options, args.force)?;
            warnings.extend(saved.warnings);
            backup = saved.backup;
        }
    }
    let mut is_refused = findings.needs_force() && args.dry_run && !args.force;
    if is_refused {
        warnings.push("saving it needs --force".to_owned());
    }
    if args.dry_run
        && let Err(error) = refusal(&plan, map.target.as_deref().filter(|_| !job.many), args)
    {
        warnings.push(format!("it would not be saved: {error}"));
        is_refused = true;
    }
    warnings.iter().for_each(|warning| job.warn_here(warning));
    findings.say(job);
    let output = PathJson::new("output", map.target.as_deref());
    let report = match () {
        () if edited.is_empty() => String::new(),
        // Words of the header are not in the plan.
        () if plan.is_identity() => edited.join(", "),
        () if followed == Followed::default() => plan.report().to_string(),
        () => format!("{}; {}", plan.report(), sentence(&followed)),
    };
    let done = Done {
        output,
        dialect: dialect.name,
        bytes: plan.size(),
        new: is_new,
        edited,
        report,
        warnings,
        findings: findings.list.clone(),
        backup: backup.as_deref().map(|path| PathJson::new("backup", Some(path))),
    };
    if args.dry_run || args.json {
        let code = job.report(&done)?;
        return Ok(if is_refused { Code::Found } else { code });
    }
    let whole = count(done.bytes, "byte", "bytes");
    let what = match done.edited.len() {
        _ if is_new => "a new map".to_owned(),
        0 => "the original map".to_owned(),
        _ => done.report.clone(),
    };
    let backup = backup.map(|path| format!("; the old file is {}", shown(&path))).unwrap_or_default();
    let place = target.map_or_else(|| job.path.clone(), shown);
    job.say(&format!("{place}: {}, {whole}: {what}{backup}", dialect.title));
    Ok(Code::Done)
}

/// What a save would refuse, for a dry run.
fn refusal(plan: &Plan<'_>, target: Option<&Path>, args: &Args) -> bspkit::Result<()> {
    plan.check_force(args.force)?;
    match target.filter(|target| !is_stdin(target)) {
        Some(target) => plan.check_target(target, &SaveOptions::default().force(args.force)),
        None => Ok(()),
    }
}

/// A warning if the map is not detected as what the manifest says.
fn doubt(plan: &Plan<'_>, dialect: &str) -> Option<String> {
    let data: Data<'_> = plan.to_data();
    match Bsp::from_data(data, None) {
        Ok(found) if found.dialect().name != dialect => {
            Some(format!("the map is detected as a map of {}", found.dialect().title))
        }
        Ok(_) => None,
        Err(error) => Some(format!("the dialect of the map cannot be detected: {error}")),
    }
}

/// Refuses to save over a file of the folder.
fn refuse_inside(folder: &Path, target: &Path) -> Result<()> {
    names::refuse(target)?;
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_inside =
        real_path(parent)?.zip(real_path(folder)?).is_some_and(|(target, folder)| target.starts_with(folder));
    match is_inside {
        true => bail!("{} would be in the folder that is packed: name another place", shown(target)),
        false => Ok(()),
    }
}

impl Report for Done {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let whole = count(self.bytes, "byte", "bytes");
        let what = if self.new { "a new map" } else { "the original map" };
        let edits = if self.edited.is_empty() { String::new() } else { format!(", edited: {}", self.report) };
        job.line(format!("{}: {what}, {whole}{edits}", job.path));
        self.edited.iter().for_each(|edited| job.line(format!("  {edited}")));
        Ok(())
    }
}

// `unpack`: a map as a folder of ordinary files.

/// Take a map apart into a folder of ordinary files
///
/// Entities become text (.ent), embedded files become files, light, textures and visibility become images, small
/// lumps with records become JSON lines, and other lumps become files of bytes. manifest.json names them. The folder
/// `original` holds everything else, so that `pack` gives the very same map again, byte for byte. Edited files change
/// only what they must. Two unpacks of a map are the same folder.
///
/// For several maps, each map has its own folder below that of -o, with the name of the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit unpack dm4.bsp -o dm4
  bspkit unpack c1m4.bsp -o c1m4 --text faces --format csv
  bspkit unpack maps -o unpacked --overwrite"
))]
pub(crate) struct UnpackArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to: a new or an empty one; for several maps, it gets a folder for each
    #[arg(short, long, value_name = "DIR", required = true, value_parser = output::on_disk())]
    output: PathBuf,
    /// The format of records [default: json]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Write the records of this lump as text even if it is larger than 64 KiB; `all` is every lump
    #[arg(long, value_name = "LUMP")]
    text: Vec<String>,
    /// Write light, textures and visibility as bytes, and not as images
    #[arg(long)]
    no_images: bool,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "GAME")]
    flag_names: Option<String>,
    /// Replace existing files: those of an unpacked map, or of another folder that is not empty
    #[arg(long)]
    overwrite: bool,
    /// Write nothing; print the files that would be written
    #[arg(long)]
    dry_run: bool,
    /// Print the files as JSON; for several maps, one line for each
    #[arg(long)]
    json: bool,
}

/// A file of the folder.
#[derive(Serialize)]
struct FileJson {
    name: String,
    bytes: usize,
}

/// What was written.
#[derive(Serialize)]
struct UnpackDone {
    #[serde(flatten)]
    folder: PathJson,
    dry_run: bool,
    files: Vec<FileJson>,
    warnings: Vec<String>,
}

pub(crate) fn run_unpack(cx: &Context, args: &UnpackArgs) -> Result<Code> {
    let maps = args.maps.find().json(args.json);
    maps.check_folder(&args.output)?;
    let mut how = How::default();
    (how.format, how.text, how.game) = (args.format, args.text.clone(), args.flag_names.clone());
    how.no_images = args.no_images;
    maps.each(cx, |map, job| {
        let bsp = cx.open_said(&map.path, job)?;
        let folder = map.place(&args.output, "");
        take_apart(&bsp, map, &folder, &how, args, job)
            .with_context(|| format!("cannot unpack {} to {}", shown(&map.path), shown(&folder)))
    })
}

fn take_apart(
    bsp: &Bsp<'_>,
    map: &MapFile,
    folder: &Path,
    how: &How,
    args: &UnpackArgs,
    job: &mut Job<'_>,
) -> Result<Code> {
    names::refuse(folder)?;
    refuse(folder, &map.path, args.overwrite)?;
    let mut files = Vec::new();
    let mut target = Target::new(folder);
    let unpacked = unpack(bsp, how, |name, bytes| {
        files.push(FileJson { name: name.to_owned(), bytes: bytes.len() });
        if args.dry_run { Ok(()) } else { target.write(name, bytes) }
    })?;
    if !args.dry_run {
        target.finish()?;
    }
    unpacked.warnings.iter().for_each(|warning| job.warn_here(warning));
    let done = UnpackDone {
        folder: PathJson::new("folder", Some(folder)),
        dry_run: args.dry_run,
        files,
        warnings: unpacked.warnings,
    };
    if args.json || args.dry_run {
        return job.report(&done);
    }
    job.say(&format!("{}: {}", shown(folder), count(done.files.len(), "file", "files")));
    Ok(Code::Done)
}

impl Report for UnpackDone {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        self.files.iter().for_each(|file| job.line(format!("{:>12}  {}", file.bytes, file.name)));
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

/// Refuses a folder that is not empty, except with `overwrite`.
fn refuse(folder: &Path, map: &Path, overwrite: bool) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
        Ok(there) if there.is_symlink() => bail!("it is a symbolic link, which is not followed"),
        Ok(there) if !there.is_dir() => bail!("it is not a folder"),
        Ok(_) => {}
    }
    if fs::read_dir(folder)?.next().is_none() {
        return Ok(());
    }
    if !overwrite {
        let error = Error::new(ErrorKind::Refused, "the folder is not empty");
        return Err(error.with_hint("--overwrite replaces the files in it").into());
    }
    let is_inside = real_path(map)?.zip(real_path(folder)?).is_some_and(|(map, folder)| map.starts_with(folder));
    if is_inside {
        bail!("the map itself is in the folder");
    }
    Ok(())
}
