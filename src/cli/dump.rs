//! `dump`: prints the records of a lump as text.

use anyhow::{Context as _, Result};
use bspkit::face::folder;
use bspkit::face::records::{Format, Lump};
use bspkit::record::FlagNames;
use bspkit::{Error, ErrorKind};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::{MapArgs, MapFile};
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
/// For several maps, each map is one line of JSON with its records. `unpack` writes every lump to a folder.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit dump base1.bsp planes > planes.jsonl
  bspkit dump base1.bsp texinfo --format csv > texinfo.csv
  bspkit dump c1m4.bsp game:sprp.props | head -1
  bspkit dump maps models > models.jsonl"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// A lump, or a list in it
    #[arg(value_name = "LUMP")]
    lump: String,
    /// The format [default: json for a lump with records, else raw]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
}

impl Args {
    fn format(&self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find().json(true);
    if maps.many && args.format().is_some_and(|format| format != Format::Json) {
        let error = Error::new(ErrorKind::Argument, "several maps can only be printed as JSON");
        return Err(error.with_hint("`unpack` writes files of any format, with a folder for each map").into());
    }
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let names = folder::names(&bsp, args.game.as_deref())?;
        let cannot = || format!("cannot dump {} of {}", args.lump, shown(&map.path));
        let content = Lump::find(&bsp, &args.lump).with_context(cannot)?;
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
