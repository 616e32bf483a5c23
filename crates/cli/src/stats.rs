//! `stats`: what a collection of maps has.

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit_ops::statistics::{Count, Kind, Statistics, Tally};
use bspkit_text::rows::{Format, Table};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, ValueEnum};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::talk::{Code, MOST_OF_A_KIND, MOST_OF_ALL, count, json};

/// Count what a collection of maps has: dialects, compilers, lumps, classes, keys, textures, embedded files
///
/// Each row has the number of maps that have it, how often it is in all of them, and its bytes. Names of classes, keys,
/// textures and files are in lower case. Ten rows of a kind are printed, those of the most maps first; with -v all, and
/// with --json and --format too. Compilers are known of maps that name theirs.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit stats maps
  bspkit stats maps --only texture -v
  bspkit stats maps --format csv > maps.csv"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// Only these kinds; can be repeated
    #[arg(long, value_name = "KIND", value_parser = kinds(), action = ArgAction::Append)]
    only: Vec<Kind>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print one row for each name
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<FormatName>,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    let by_name = |name: String| Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or("no such kind");
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).try_map(by_name)
}

/// Rows for other programs.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FormatName {
    /// Comma-separated values; the first line has the names of the columns
    Csv,
    /// One line of JSON for each row
    Jsonl,
}

impl From<FormatName> for Format {
    fn from(format: FormatName) -> Self {
        match format {
            FormatName::Csv => Format::Csv,
            FormatName::Jsonl => Format::JsonLines,
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    maps: u64,
    bytes: u64,
    rows: Vec<Row<'a>>,
    /// How often a name was left out, since there were too many.
    left_out: u64,
}

#[derive(Serialize)]
struct Row<'a> {
    kind: &'static str,
    #[serde(flatten, serialize_with = "bspkit::json::name")]
    name: &'a [u8],
    #[serde(flatten)]
    count: Count,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let all = Mutex::new(Statistics::default());
    let code = args.maps.find().only_once().each(cx, |map, job| {
        let (of_map, problems) = Statistics::of(&cx.open_said(&map.path, job)?);
        problems.iter().for_each(|problem| job.warn_here(&problem.to_string()));
        all.lock().unwrap_or_else(PoisonError::into_inner).add(&of_map);
        Ok(if problems.is_empty() { Code::Done } else { Code::Found })
    })?;
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let wanted = if args.only.is_empty() { &Kind::ALL[..] } else { &args.only };
    let out = match (args.json, args.format) {
        (true, _) => {
            let mut out = json(&document(&all, wanted), false)?;
            out.push(b'\n');
            out
        }
        (_, Some(format)) => written(&all, wanted, format.into())?,
        _ => text(&all, wanted, cx.talk.verbose).into_bytes(),
    };
    cx.talk.stdout(&out)?;
    Ok(code)
}

fn document<'a>(all: &'a Statistics, wanted: &[Kind]) -> Document<'a> {
    let rows = wanted.iter().flat_map(|kind| {
        let rows = all.tally(*kind).sorted().into_iter();
        rows.map(|(name, count)| Row { kind: kind.name(), name, count })
    });
    let left_out = wanted.iter().map(|kind| all.tally(*kind).left_out()).sum();
    Document { version: 1, maps: all.maps, bytes: all.bytes, rows: rows.collect(), left_out }
}

fn written(all: &Statistics, wanted: &[Kind], format: Format) -> Result<Vec<u8>> {
    let mut table = Table::new(format, &["kind", "name", "maps", "count", "bytes"]);
    table.header()?;
    for kind in wanted {
        for (name, Count { maps, count, bytes }) in all.tally(*kind).sorted() {
            table.row(&[kind.name().as_bytes().into(), name.into(), maps.into(), count.into(), bytes.into()])?;
        }
    }
    Ok(table.into_bytes()?)
}

fn text(all: &Statistics, wanted: &[Kind], is_verbose: bool) -> String {
    let maps = usize::try_from(all.maps).unwrap_or(usize::MAX);
    let mut text = format!("{}, {} bytes\n", count(maps, "map", "maps"), all.bytes);
    for kind in wanted.iter().filter(|kind| !all.tally(**kind).is_empty()) {
        text.push('\n');
        text += &table(all.tally(*kind), kind.name(), true, is_verbose);
    }
    text
}

/// A tally as lines with a heading, ten of them without `-v`; nothing if it is empty.
pub(crate) fn table(tally: &Tally, name: &str, has_bytes: bool, is_verbose: bool) -> String {
    let rows = tally.sorted();
    let line = |maps: &str, count: &str, bytes: &str, name: &str| {
        let bytes = if has_bytes { format!(" {bytes:>14}") } else { String::new() };
        format!("{maps:>8} {count:>10}{bytes}  {name}\n")
    };
    let mut text = if rows.is_empty() { String::new() } else { line("maps", "count", "bytes", name) };
    let most = if is_verbose { MOST_OF_ALL } else { MOST_OF_A_KIND };
    for (name, Count { maps, count, bytes }) in rows.iter().take(most) {
        let bytes = if *bytes == 0 { "-".to_owned() } else { bytes.to_string() };
        text += &line(&maps.to_string(), &count.to_string(), &bytes, &escaped(name).to_string());
    }
    if rows.len() > most {
        text += &format!("and {} more{}\n", rows.len() - most, if is_verbose { "" } else { "; -v lists them" });
    }
    if tally.left_out() > 0 {
        text += &format!("names were left out {} times: at most {} are kept\n", tally.left_out(), Tally::MOST);
    }
    text
}
