//! `tex list`: lists textures.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::content::texture_names::TextureName;
use bspkit::face::report::{FindingJson, PlaceJson};
use bspkit::op::check::Severity;
use clap::ArgAction;
use serde::Serialize;

use super::shelf::{Shelf, has_extension, named_as};
use super::wal;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::pairs::unescaped;
use crate::cli::report::Report;
use crate::cli::show::{shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// List textures: their sizes in Quake and GoldSrc maps and WAD files; in other maps, how many records use each name
///
/// A texture that cannot be read is listed with the reason, and the exit status is 1. A texture that is missing in the
/// directory, or whose pixels are in a WAD file, is not an error.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex list c1a0.bsp
  bspkit tex list maps --json
  bspkit tex list base1.bsp --only 'e1u1/*'
  bspkit tex list halflife.wad
  bspkit tex list metal1_1.wal --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The textures [default: all]
    #[arg(long, value_name = "GLOB", action = ArgAction::Append)]
    only: Vec<OsString>,
    /// For WAL files: use the flag names of this game
    #[arg(long, value_name = "NAME", default_value = wal::GAME)]
    game: String,
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
    #[serde(skip)]
    own: &'a [u8],
}

#[derive(Serialize)]
struct Textures<'a> {
    textures: Vec<TextureJson<'a>>,
}

impl Report for Textures<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if !self.textures.is_empty() {
            job.line(format!("{:>6} {:>6} {:>6} {:10}  name", "#", "width", "height", "pixels"));
        }
        for TextureJson { index, width, height, is, problem, own, .. } in &self.textures {
            let number = |size: &Option<u32>| size.map_or_else(|| "-".to_owned(), |size| size.to_string());
            let problem = problem.as_ref().map(|problem| format!("  ({problem})")).unwrap_or_default();
            let (width, height, name) = (number(width), number(height), escaped(own));
            job.line(format!("{index:>6} {width:>6} {height:>6} {is:10}  {name}{problem}").trim_end());
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.textures.is_empty()).then(|| format!("{path}:"))
    }

    fn code(&self) -> Code {
        if self.textures.iter().any(|texture| texture.problem.is_some()) { Code::Found } else { Code::Done }
    }
}

/// A name, and the records of a lump that use it.
#[derive(Serialize)]
struct NameJson<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    lump: &'a str,
    record_count: usize,
    #[serde(skip)]
    own: &'a [u8],
}

#[derive(Serialize)]
struct Names<'a> {
    textures: Vec<NameJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingJson>,
}

impl Report for Names<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if !self.is_empty() {
            job.line(format!("{:>8} {:20}  name", "records", "lump"));
        }
        for NameJson { lump, record_count: records, own, .. } in &self.textures {
            job.line(format!("{records:>8} {lump:20}  {}", escaped(own)));
        }
        for FindingJson { place, message, .. } in &self.findings {
            let lump = place.lump.as_deref().unwrap_or_default();
            job.line(format!("{:>8} {lump:20}  {message}", "-"));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.is_empty()).then(|| format!("{path}:"))
    }

    fn code(&self) -> Code {
        if self.findings.is_empty() { Code::Done } else { Code::Found }
    }
}

impl Names<'_> {
    fn is_empty(&self) -> bool {
        self.textures.is_empty() && self.findings.is_empty()
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.maps().each(cx, |map, job| {
        let cannot = || format!("cannot list the textures in {}", shown(&map.path));
        let path = &map.path;
        if has_extension(path, "wal") {
            return wal::list(path, &args.game, job);
        }
        let bsp = if has_extension(path, "wad") { None } else { Some(cx.open(path)?) };
        match bsp {
            Some(bsp) if !bsp.has_textures() => names(&bsp, args, job).with_context(cannot),
            Some(bsp) => textures(&Shelf::Map(bsp.textures().with_context(cannot)?), args, job),
            None => textures(&Shelf::open(cx, path)?, args, job),
        }
    })
}

fn textures(shelf: &Shelf, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let names = shelf.names();
    let chosen = names.chosen(&args.only, job);
    let texture = |index: usize| {
        let (name, raw) = shelf.name(index).map(text_and_raw).unzip();
        let (size, is, problem) = match shelf.get(index) {
            Ok(None) => (None, if matches!(shelf, Shelf::Map(_)) { "missing" } else { "no texture" }, None),
            Ok(Some(it)) => {
                (Some((it.width(), it.height())), if it.is_embedded() { "embedded" } else { "external" }, None)
            }
            Err(error) => (None, "damaged", Some(message(error))),
        };
        let (width, height) = size.unzip();
        let own = shelf.name(index).unwrap_or_default();
        TextureJson { index, name, raw: raw.flatten(), width, height, is, problem, own }
    };
    let textures = Textures { textures: chosen.into_iter().map(texture).collect() };
    let code = job.report(&textures)?;
    let is_nothing = textures.textures.is_empty() && !args.only.is_empty();
    Ok(if is_nothing { job.nothing(&names.nothing(&args.only)) } else { code })
}

fn names(bsp: &Bsp<'_>, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let patterns: Vec<_> = args.only.iter().map(|text| Pattern::new(unescaped(text))).collect();
    let lump = |name: &TextureName| bsp.slot(&name.lump).map_or("", |slot| slot.name.as_str());
    let found: Vec<TextureName> = bsp.texture_names()?.iter().collect();
    // In the order of the first use.
    let mut seen: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
    let mut names = Names { textures: Vec::new(), findings: Vec::new() };
    for name in &found {
        if let Some(problem) = &name.problem {
            let start = if name.name.is_empty() { String::new() } else { format!("{}...  ", escaped(&name.name)) };
            let place =
                PlaceJson { lump: Some(lump(name).to_owned()), record: Some(name.index), ..PlaceJson::default() };
            let message = format!("{start}(#{}: {problem})", name.index);
            names.findings.push(FindingJson::new("texture-name", Severity::Error, place, message));
            continue;
        }
        if !patterns.is_empty() && !patterns.iter().any(|pattern| pattern.matches(&name.name)) {
            continue;
        }
        let row = *seen.entry((&name.lump, &name.name)).or_insert(names.textures.len());
        match names.textures.get_mut(row) {
            Some(row) => row.record_count += 1,
            None => {
                let (text, raw) = text_and_raw(&name.name);
                names.textures.push(NameJson { name: text, raw, lump: lump(name), record_count: 1, own: &name.name });
            }
        }
    }
    let code = job.report(&names)?;
    let names_in_map = named_as(found.iter().map(|name| Some(&name.name[..])));
    let is_nothing = names.textures.is_empty() && !args.only.is_empty();
    Ok(if is_nothing { job.nothing(&names_in_map.nothing(&args.only)) } else { code })
}

/// The error with its causes, on one line.
pub(super) fn message(error: bspkit::Error) -> String {
    let error = anyhow::Error::new(error);
    error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
