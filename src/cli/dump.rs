//! `dump`: prints the records of a lump as text.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::face::folder;
use bspkit::face::records::{Format, Lump};
use bspkit::record::FlagNames;
use bspkit::{Bsp, Error, ErrorKind};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::{MapArgs, MapFile};
use super::put::{refuse, spare, stream};
use super::records::formats;
use super::show::{Head, count, json, shown};
use super::talk::{Code, Job};

/// Print the records of a lump as text, without loss
///
/// JSON has one line per record, with an object. CSV has one column per number. A lump without records is printed as
/// bytes. `load` reads all of this back. Floats are the shortest decimals that give the same bits; NaN and infinities
/// are their bits in hex. Names end at their last byte that is not NUL. Flags are printed by name, and bits without a
/// name in hex. If a lump has several lists, each object names its list; LUMP.LIST is one of them.
///
/// For several maps, each map is one line of JSON with its records; with --all, each map has its own folder below DIR,
/// with the name of the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit dump base1.bsp planes > planes.jsonl
  bspkit dump base1.bsp texinfo --format csv > texinfo.csv
  bspkit dump c1m4.bsp game:sprp.props | head -1
  bspkit dump --all base1.bsp folder
  bspkit dump maps models > models.jsonl
  bspkit dump --all maps dumped"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// A lump, or a list in it; with --all: the folder to write every lump to
    #[arg(value_name = "LUMP|DIR")]
    what: PathBuf,
    /// Write a file for every lump, and manifest.json, from which `build` makes the map
    #[arg(long)]
    all: bool,
    /// The format [default: json for a lump with records, else raw]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// With --all: replace existing files
    #[arg(long, requires = "all")]
    force: bool,
}

impl Args {
    fn format(&self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find().json(!args.all);
    if maps.many && !args.all && args.format().is_some_and(|format| format != Format::Json) {
        let error = Error::new(ErrorKind::Argument, "several maps can only be printed as JSON");
        return Err(error.with_hint("--all writes files of any format, with a folder for each map").into());
    }
    if args.all {
        maps.check_folder(&args.what)?;
    }
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        if args.all {
            all(&bsp, map, args, job)?;
            return Ok(Code::Done);
        }
        let names = folder::names(&bsp, args.game.as_deref())?;
        let lump = args.what.to_str().context("the name of a lump is text")?;
        let cannot = || format!("cannot dump {lump} of {}", shown(&map.path));
        let content = Lump::find(&bsp, lump).with_context(cannot)?;
        let format = match maps.many {
            true => Format::Json,
            false => args.format().unwrap_or(content.usual_format()),
        };
        match maps.many {
            true => line(&content, names, map, job),
            false => content.print(format, names, |piece| job.write(piece)),
        }
        .with_context(cannot)?;
        warn_of_rest(&content, format, job);
        Ok(Code::Done)
    })
}

/// The start of the JSON line of a map, before its records.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    lump: &'a str,
    /// The records are added one by one, since there may be millions.
    records: [(); 0],
}

/// Prints all records of a map as one line.
fn line(content: &Lump<'_>, names: FlagNames, map: &MapFile, job: &mut Job<'_>) -> Result<()> {
    let head = Document { head: Head::new(&map.path), lump: content.name(), records: [] };
    let mut head = json(&head, true)?;
    head.truncate(head.len() - b"]}".len());
    let mut is_first = true;
    content.print(Format::Json, names, |records| {
        if records.is_empty() && !is_first {
            return Ok(true);
        }
        let mut text = if is_first { head.clone() } else { b",".to_vec() };
        is_first = false;
        // A record contains no line break.
        let records = records.strip_suffix(b"\n").unwrap_or(records);
        text.extend(records.iter().map(|byte| if *byte == b'\n' { b',' } else { *byte }));
        job.write(&text)
    })?;
    job.write(b"]}\n").map(drop)
}

fn warn_of_rest(lump: &Lump<'_>, format: Format, job: &mut Job<'_>) {
    let rest = lump.rest();
    if format != Format::Raw && rest > 0 {
        let (bytes, are) = (count(rest, "byte", "bytes"), if rest == 1 { "is" } else { "are" });
        let text = format!("{}: {bytes} after the last record {are} not printed; `load` keeps them", lump.name());
        job.warn_here(&text);
    }
}

fn all(bsp: &Bsp<'_>, map: &MapFile, args: &Args, job: &mut Job<'_>) -> Result<()> {
    let folder = &map.place(&args.what, "");
    let cannot = || format!("cannot dump to {}", shown(folder));
    let dump = folder::dump(bsp, args.format(), args.game.as_deref()).with_context(cannot)?;
    fs::create_dir_all(folder).with_context(cannot)?;
    dump.warnings.iter().for_each(|warning| job.warn_here(warning));
    dump.failed.into_iter().for_each(|error| job.fail(&error.into()));
    // Refuse before anything is written, as far as possible.
    for file in &dump.files {
        let path = folder.join(&file.name);
        spare(&path, &map.path).and_then(|()| refuse(&path, args.force)).with_context(cannot)?;
    }
    for file in &dump.files {
        stream(&folder.join(&file.name), args.force, |out| Ok(file.write(bsp, out)?))?;
    }
    job.say(&format!("{}: {}", shown(folder), count(dump.files.len(), "file", "files")));
    Ok(())
}
