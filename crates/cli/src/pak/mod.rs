//! `pak`: the files embedded in a Source map.

pub(super) mod edits;
mod missing;
mod refs;

use std::ffi::OsString;
use std::path::PathBuf;

use crate::output::PathJson;
use anyhow::{Context as _, Error, Result};
use bspkit::bytes::escaped;
use bspkit::content::pak::Pak;
use bspkit::dialect::Role;
use bspkit::finding::{Code as FindingCode, Finding, Severity};
use bspkit::json::members;
use bspkit::{Bsp, ErrorKind, Place};
use bspkit_ops::compare::{self, Comparison};
use bspkit_text::changes::ComparisonJson;
use bspkit_text::pak::{Extracted, extract};
use serde::{Serialize, Serializer};

use super::context::{Context, Names};
use super::talk::Code;
use super::{commands, help};
use crate::context::Report;
use crate::maps::{Brief, MapArgs, MapFile, Maps, Reading};
use crate::talk::{Few, Job, count, shown};

/// Read and edit the embedded files of a Source map
///
/// GLOB selects files: `materials/my/wall.vmt` (a name), `materials/*.vmt` (in this folder), `materials/**` (in this
/// folder and its subfolders), `**/wall.vmt` and `*.vmt` (in any folder), `#3` (an index, as `pak list` shows it),
/// `=what?.vmt` (a name, without wildcards). As in the engines, case does not matter, and `\` is the same as `/`. Files
/// that are not edited keep every byte.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit pak list map.bsp
  bspkit pak extract map.bsp -o files '*.vmt'
  bspkit pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp
  bspkit pak rm map.bsp 'materials/maps/**' -o out.bsp
  bspkit pak verify map.bsp
  bspkit pak refs map.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    List(ListArgs, run_list),
    Verify(VerifyArgs, run_verify),
    Refs(refs::Args, refs::run),
    Extract(ExtractArgs, run_extract),
    Add(edits::AddArgs, edits::run_add),
    Rm(edits::RmArgs, edits::run_rm),
    Mv(edits::MvArgs, edits::run_mv),
    Sync(edits::SyncArgs, edits::run_sync),
    Missing(missing::Args, missing::run),
    Unused(missing::UnusedArgs, missing::run_unused),
    Fill(missing::FillArgs, missing::run_fill),
    Diff(DiffArgs, run_diff),
    SetTime(edits::SetTimeArgs, edits::run_set_time),
    Sort(edits::SortArgs, edits::run_sort),
    Compress(edits::CompressArgs, edits::run_compress),
    Store(edits::StoreArgs, edits::run_store),
}

/// A fault in the position of the pakfile in the map. The pakfile itself may be readable.
pub(super) fn damage(bsp: &Bsp<'_>) -> Option<String> {
    let slot = bsp.role(Role::Pak).filter(|slot| slot.bounds.is_damaged())?;
    Some(format!("{} {}: offset {}, {} bytes", slot.name, slot.bounds, slot.offset, slot.length))
}

/// The names of all embedded files.
fn names_of(pak: &Pak<'_>) -> Names {
    let names = pak.iter().map(|file| Some(file.name().to_vec()));
    Names { kind: "embedded files", names: names.collect(), has_escapes: false }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// `pak list`: lists embedded files.

/// List the embedded files in the order of the zip directory; the files themselves are not read
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak list map.bsp
  bspkit pak list map.bsp '*.vmt'
  bspkit pak list tf/maps -l -- '*.vtf'
  bspkit pak list map.bsp --names > names.txt
  bspkit pak list map.bsp --json"
))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    reading: Reading,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Print only the names, a line for each
    #[arg(long, conflicts_with = "json")]
    names: bool,
    #[command(flatten)]
    brief: Brief,
}

/// An embedded file, in the documents of several commands.
#[derive(Serialize)]
pub(crate) struct Packed<'p> {
    pub(crate) index: usize,
    #[serde(flatten, serialize_with = "bspkit::json::name")]
    pub(crate) name: &'p [u8],
    pub(crate) bytes: usize,
}

impl<'p> Packed<'p> {
    /// The file with this index.
    pub(crate) fn get(pak: &'p Pak<'_>, index: usize) -> Option<Self> {
        pak.get(index).map(|entry| Packed { index, name: entry.name(), bytes: entry.size() })
    }
}

#[derive(Serialize)]
struct List<'a> {
    console: bool,
    #[serde(flatten, serialize_with = "comment")]
    comment: &'a [u8],
    files: Vec<Listed<'a>>,
    #[serde(skip)]
    only_names: bool,
}

fn comment<S: Serializer>(comment: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    members(comment, ["comment", "comment_raw"], serializer)
}

#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    file: Packed<'a>,
    stored: usize,
    method: String,
    crc: String,
    offset: u32,
    time: String,
}

impl<'a> Listed<'a> {
    fn new(pak: &'a Pak<'_>, index: usize) -> Option<Self> {
        let (file, entry) = (Packed::get(pak, index)?, pak.get(index)?);
        Some(Listed {
            file,
            stored: entry.stored_size(),
            method: entry.method().to_string(),
            crc: format!("{:08x}", entry.crc()),
            offset: entry.record().local_offset,
            time: entry.time().to_string(),
        })
    }
}

impl Report for List<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if self.only_names {
            self.files.iter().for_each(|file| job.line(escaped(file.file.name).to_string()));
            return Ok(());
        }
        if !self.files.is_empty() {
            job.line(format!("{:>6} {:>10} {:>10} {:8} {:8}  name", "#", "bytes", "stored", "method", "crc"));
        }
        for Listed { file: Packed { index, name, bytes }, stored, method, crc, .. } in &self.files {
            let name = escaped(name);
            job.line(format!("{index:>6} {bytes:>10} {stored:>10} {method:8} {crc}  {name}"));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.files.is_empty() && !self.only_names).then(|| format!("{path}:"))
    }
}

fn run_list(cx: &Context, args: &ListArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let file = job.file;
        let cannot = || format!("cannot list the files in {}", shown(file));
        damage(&bsp).iter().for_each(|damage| job.warn_here(damage));
        let pak = bsp.pak().with_context(cannot)?;
        let names = names_of(&pak);
        let indices = names.chosen(&args.patterns, job);
        if let Some(code) = args.brief.print(|| indices.len(), job) {
            return Ok(code);
        }
        let files = indices.iter().filter_map(|index| Listed::new(&pak, *index)).collect();
        let (console, comment) = (pak.is_console(), pak.comment());
        job.report(&List { console, comment, files, only_names: args.names })?;
        match indices.is_empty() && !args.patterns.is_empty() {
            true => Ok(job.nothing(&names.nothing(&args.patterns))),
            false => Ok(Code::Done),
        }
    })
}

// `pak verify`: finds faults in embedded files.

/// Read every embedded file and report what is wrong or odd
///
/// A file is wrong if some engine or zip tool reads other bytes than the directory states, or cannot read it: a stale
/// checksum, damaged data, headers that contradict each other, a name that leads out of its folder, a compressed sound.
/// A file is odd if Valve's tools would not write it so, but all readers read it, or if `pak extract` does not write it
/// because of its name. Odd files do not change the exit status. Ten of a kind are listed; -v lists all.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak verify map.bsp
  bspkit pak verify tf/maps --json > findings.jsonl"
))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Verified {
    ok: bool,
    file_count: usize,
    findings: Vec<Finding>,
}

static UNREADABLE: FindingCode = FindingCode::new("unreadable", Severity::Error, "the embedded files cannot be read");
static BOUNDS: FindingCode = FindingCode::new("bounds", Severity::Error, "the lump is not within the file");

impl Report for Verified {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let wrong = self.findings.iter().filter(|finding| finding.is_error()).count();
        let odd = self.findings.len() - wrong;
        let word = job.talk.verdict(self.ok, if self.ok { "pass" } else { "fail" });
        let mut parts = vec![count(self.file_count, "file", "files")];
        parts.extend((wrong > 0).then(|| format!("{wrong} wrong")));
        parts.extend((odd > 0).then(|| format!("{odd} odd")));
        job.line(format!("{word} {} ({})", job.path, parts.join(", ")));
        let mut few = Few::new(job.talk.verbose);
        for finding in &self.findings {
            if !few.takes(finding.code.name) {
                continue;
            }
            let word = if finding.is_error() { "wrong" } else { "odd" };
            let file = finding.place.file.map_or(String::new(), |index| format!("#{index} "));
            job.line(format!("     {word}: {file}{}", finding.message));
        }
        few.rest().for_each(|rest| job.line(format!("     {rest}")));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.ok { Code::Done } else { Code::Found }
    }
}

fn run_verify(cx: &Context, args: &VerifyArgs) -> Result<Code> {
    args.reading.maps().one_by_one().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let (file_count, mut findings): (usize, Vec<Finding>) = match bsp.pak() {
            Ok(pak) => (pak.len(), pak.check(cx.options.jobs())),
            // A map of another engine has no pakfile, which is not a fault of the map.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::new(error).context(format!("cannot verify the files in {}", shown(&map.path))));
            }
            Err(error) => (0, vec![Finding::new(&UNREADABLE, Place::default(), error.to_string())]),
        };
        findings.extend(damage(&bsp).map(|message| Finding::new(&BOUNDS, Place::default(), message)));
        let ok = !findings.iter().any(Finding::is_error);
        job.report(&Verified { ok, file_count, findings })
    })
}

// `pak extract`: writes embedded files to disk, only below the named folder.

/// Write embedded files below a folder, decompressed
///
/// A file is refused, and the others are written, if its name leads out of the folder, if some operating system does
/// not allow the name, if the name has a meaning to programs (a part of it begins with `.`, `-` or `~`; short names of
/// Windows; programs; characters that are not shown), or if its path contains a symbolic link. The exit status is 2
/// then. If names differ only in case, the later ones get a number. A file whose bytes do not have the checksum that
/// the directory states is written, and the exit status is 1.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak extract map.bsp -o files
  bspkit pak extract map.bsp -o files '*.vmt' 'sound/**'
  bspkit pak extract tf/maps -o files"
))]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to, created if it is missing; for several maps, it gets a folder for each
    #[arg(short, long, value_name = "DIR", required = true, value_parser = crate::output::on_disk())]
    output: PathBuf,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Replace existing files that differ
    #[arg(long)]
    overwrite: bool,
}

fn run_extract(cx: &Context, args: &ExtractArgs) -> Result<Code> {
    let maps = args.maps.find().one_by_one();
    maps.check_folder(&args.output)?;
    maps.each(cx, |map, job| of_map(&cx.open(&map.path)?, map, cx.options.jobs(), args, job))
}

fn of_map(bsp: &Bsp<'_>, map: &MapFile, threads: usize, args: &ExtractArgs, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot extract from {}", shown(&map.path));
    damage(bsp).iter().for_each(|damage| job.warn_here(damage));
    let pak = bsp.pak().with_context(cannot)?;
    let names = names_of(&pak);
    let indices = names.chosen(&args.patterns, job);
    if indices.is_empty() && !args.patterns.is_empty() {
        return Ok(job.nothing(&names.nothing(&args.patterns)));
    }
    let folder = &map.place(&args.output, "");
    let extracted = extract(&pak, &indices, folder, threads, args.overwrite).with_context(cannot)?;
    let (mut written, mut refused) = (0, 0);
    let mut few = Few::new(job.talk.verbose);
    for Extracted { path, warnings, is_doubtful, .. } in extracted {
        if is_doubtful {
            job.code = job.code.max(Code::Found);
        }
        warnings.iter().filter(|_| few.takes("warnings")).for_each(|text| job.warn_here(text));
        match path {
            Ok(_) => written += 1,
            Err(error) => {
                refused += 1;
                match few.takes("not written") {
                    true => job.fail(&error.into()),
                    false => job.code = Code::Failed,
                }
            }
        }
    }
    few.rest().for_each(|rest| job.warn_here(&rest));
    let others = if refused > 0 { format!(", {refused} not written") } else { String::new() };
    job.say(&format!("{}: {}{others}", shown(folder), count(written, "file", "files")));
    Ok(job.code)
}

// `pak diff`: what differs between the embedded files of two maps.

/// List the embedded files that differ between two maps
///
/// A file is added, removed or changed in B, has another name or another place in the list, or has the same bytes
/// stored in another way or with another time. The maps can be of different games. The exit status is 1 if anything
/// differs.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak diff old.bsp new.bsp
  bspkit pak diff old.bsp new.bsp --json"
))]
pub(crate) struct DiffArgs {
    /// The old map
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The new map
    #[arg(value_name = "B")]
    new: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Differences {
    #[serde(flatten)]
    other: PathJson,
    same: bool,
    #[serde(flatten)]
    changes: ComparisonJson,
    #[serde(skip)]
    found: Comparison,
}

impl Report for Differences {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for lump in &self.found.lumps {
            lump.changes.iter().for_each(|change| job.line(change.line(&lump.lump).to_string()));
        }
        let files = self.found.touched().files;
        let what = if self.same { "no file differs".to_owned() } else { count(files, "file differs", "files differ") };
        job.say(&format!("{}, {}: {what}", job.path, self.other));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.same { Code::Done } else { Code::Found }
    }
}

fn run_diff(cx: &Context, args: &DiffArgs) -> Result<Code> {
    Maps::file(&args.old).json(args.json).each(cx, |_, job| {
        let mut read = |path: &PathBuf| {
            let bsp = cx.open(path)?;
            damage(&bsp).iter().for_each(|damage| job.warn(&format!("{}: {damage}", shown(path))));
            let pak = bsp.pak().with_context(|| format!("cannot read the embedded files of {}", shown(path)))?;
            Ok::<_, anyhow::Error>(pak)
        };
        let mut found = Comparison::default();
        found.lumps.push({
            let (old, new) = (read(&args.old)?, read(&args.new)?);
            compare::paks(&old, &new, usize::MAX)
        });
        let (other, same) = (PathJson::new("other", Some(&args.new)), found.touched().is_empty());
        job.report(&Differences { other, same, changes: ComparisonJson::new(&found), found })
    })
}
