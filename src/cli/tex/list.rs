//! `tex list`: what textures there are, and what they are called.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::content::texture_names::TextureName;
use clap::ArgAction;
use serde::Serialize;

use super::shelf::{Shelf, has_extension};
use super::{choose, wal};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::pairs::unescaped;
use crate::cli::show::{Head, json, shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// List textures: in Quake and GoldSrc maps and WAD files what each is, in other maps each name and how often it is given
///
/// A texture that cannot be read is listed with the reason, and the exit status is 1. That one is missing in the directory, or
/// has its pixels in a WAD file, is legal.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex list c1a0.bsp
  bspkit tex list maps --json
  bspkit tex list base1.bsp --only 'e1u1/*'
  bspkit tex list halflife.wad
  bspkit tex list metal1_1.wal --json"
))]
pub(crate) struct Args {
    /// Maps, folders of maps, WAD and WAL files
    #[arg(value_name = "MAP", required = true)]
    maps: Vec<PathBuf>,
    /// Which textures [default: all]
    #[arg(long, value_name = "GLOB", action = ArgAction::Append)]
    only: Vec<OsString>,
    /// Whose names flags of WAL files have
    #[arg(long, value_name = "NAME", default_value = wal::GAME)]
    game: String,
    /// Print JSON: a document for a map, a line for each of several
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    #[serde(flatten)]
    head: Head<'a>,
    textures: Vec<T>,
}

/// A texture of a Quake or GoldSrc map or a WAD file.
#[derive(Serialize)]
struct TextureJson<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A name that records of a lump give.
#[derive(Serialize)]
struct NameJson<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    lump: &'a str,
    records: usize,
}

/// A name that cannot be read, or that no engine reads.
#[derive(Serialize)]
struct ProblemJson<'a> {
    /// Where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    lump: &'a str,
    index: usize,
    problem: &'a str,
}

#[derive(Serialize)]
struct NamesDocument<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    textures: Vec<NameJson<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [ProblemJson<'a>],
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = Maps::find(&args.maps).json(args.json);
    maps.each(cx, |map, job| {
        let cannot = || format!("cannot list the textures in {}", shown(&map.path));
        let path = &map.path;
        if has_extension(path, "wal") {
            return wal::list(path, &args.game, args.json, maps.many, job);
        }
        let bsp = if has_extension(path, "wad") { None } else { Some(cx.open(path)?) };
        match bsp {
            Some(bsp) if !bsp.has_textures() => names(&bsp, args, path, maps.many, job).with_context(cannot),
            Some(bsp) => textures(&Shelf::Map(bsp.textures().with_context(cannot)?), args, path, maps.many, job),
            None => textures(&Shelf::open(cx, path)?, args, path, maps.many, job),
        }
    })
}

fn textures(shelf: &Shelf, args: &Args, path: &std::path::Path, many: bool, job: &mut Job<'_>) -> Result<Code> {
    let chosen = choose::chosen(&shelf.names(), &args.only, job);
    let mut rows = Vec::with_capacity(chosen.len());
    for index in chosen {
        let (name, raw) = shelf.name(index).map(text_and_raw).unzip();
        let (size, is, problem) = match shelf.get(index) {
            Ok(None) => (None, if matches!(shelf, Shelf::Map(_)) { "missing" } else { "no texture" }, None),
            Ok(Some(it)) => {
                (Some((it.width(), it.height())), if it.is_embedded() { "embedded" } else { "external" }, None)
            }
            Err(error) => (None, "damaged", Some(message(error))),
        };
        let (width, height) = size.unzip();
        rows.push(TextureJson { index, name, raw: raw.flatten(), width, height, is, problem });
    }
    let code = if rows.iter().any(|row| row.problem.is_some()) { Code::Found } else { Code::Done };
    let is_empty = rows.is_empty();
    if args.json {
        job.line(json(&Document { head: Head::new(path), textures: rows }, many)?);
    } else if !is_empty {
        heading(many, job);
        job.line(format!("{:>6} {:>6} {:>6} {:10}  name", "#", "width", "height", "pixels"));
        for TextureJson { index, width, height, is, problem, .. } in &rows {
            let number = |size: &Option<u32>| size.map_or_else(|| "-".to_owned(), |size| size.to_string());
            let name = shelf.name(*index).map_or_else(String::new, |name| escaped(name).to_string());
            let problem = problem.as_ref().map(|problem| format!("  ({problem})")).unwrap_or_default();
            let (width, height) = (number(width), number(height));
            job.line(format!("{index:>6} {width:>6} {height:>6} {is:10}  {name}{problem}").trim_end());
        }
    }
    Ok(if is_empty && !args.only.is_empty() { job.nothing(&choose::nothing(&args.only)) } else { code })
}

fn names(bsp: &Bsp<'_>, args: &Args, path: &std::path::Path, many: bool, job: &mut Job<'_>) -> Result<Code> {
    let patterns: Vec<_> = args.only.iter().map(|text| Pattern::new(unescaped(text.as_encoded_bytes()))).collect();
    let names: Vec<TextureName> = bsp.texture_names()?.iter().collect();
    // In the order in which they come first.
    let mut seen: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
    let mut rows: Vec<(&TextureName, usize)> = Vec::new();
    let mut problems: Vec<ProblemJson<'_>> = Vec::new();
    for name in &names {
        if let Some(problem) = &name.problem {
            let text = (!name.name.is_empty()).then(|| text_and_raw(&name.name).0);
            let lump = bsp.slot(&name.lump).map_or("", |slot| slot.name.as_str());
            problems.push(ProblemJson { name: text, lump, index: name.index, problem });
            continue;
        }
        if !patterns.is_empty() && !patterns.iter().any(|pattern| pattern.matches(&name.name)) {
            continue;
        }
        let row = *seen.entry((&name.lump, &name.name)).or_insert(rows.len());
        match rows.get_mut(row) {
            Some((_, count)) => *count += 1,
            None => rows.push((name, 1)),
        }
    }
    if args.json {
        let name = |(name, records): &(&TextureName, usize)| {
            let (records, lump) = (*records, bsp.slot(&name.lump).map_or("", |slot| slot.name.as_str()));
            let (text, raw) = text_and_raw(&name.name);
            NameJson { name: text.into_owned().into(), raw, lump, records }
        };
        let textures = rows.iter().map(name).collect();
        let path = Head::new(path);
        job.line(json(&NamesDocument { head: path, textures, problems: &problems }, many)?);
    } else if !rows.is_empty() || !problems.is_empty() {
        heading(many, job);
        job.line(format!("{:>8} {:20}  name", "records", "lump"));
        for (name, count) in &rows {
            job.line(format!("{count:>8} {:20}  {}", name.lump, escaped(&name.name)));
        }
        for ProblemJson { name, lump, index, problem } in &problems {
            let name = name.as_ref().map(|name| format!("{name}...  ")).unwrap_or_default();
            job.line(format!("{:>8} {lump:20}  {name}(#{index}: {problem})", "-"));
        }
    }
    let is_nothing = rows.is_empty() && !args.only.is_empty();
    let code = if problems.is_empty() { Code::Done } else { Code::Found };
    Ok(if is_nothing { job.nothing(&choose::nothing(&args.only)) } else { code })
}

fn heading(many: bool, job: &mut Job<'_>) {
    if many {
        job.line(format!("{}:", job.path));
    }
}

/// The error with its causes, on one line.
pub(super) fn message(error: bspkit::Error) -> String {
    let error = anyhow::Error::new(error);
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
