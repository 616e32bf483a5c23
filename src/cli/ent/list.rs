//! `ent list`: entities as they stand in the text.

use std::borrow::Cow;
use std::path::PathBuf;

use anyhow::Result;
use bspkit::content::entities::Entity;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::select::{Choice, DiagnosticJson, diagnostics_json, warn_if_verbose};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::show::{Head, json, text_and_raw};
use crate::cli::talk::Code;

/// Print entities as they stand in the text
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent list dm4.bsp
  bspkit ent list dm4.bsp 'info_player_*' -n
  bspkit ent list dm4.bsp '[targetname]' --json"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Which entities [default: all]
    #[arg(value_name = "SEL")]
    selector: Option<String>,
    /// Print the index of each before it, as a comment
    #[arg(short, long)]
    numbers: bool,
    /// Print JSON: a document for a map, a line for each of a folder
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(serialize_with = "all")]
    entities: Vec<Entity<'a>>,
    diagnostics: Vec<DiagnosticJson>,
}

/// Entities in JSON, one at a time: a text may have a million pairs.
fn all<S: Serializer>(entities: &[Entity<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entities.iter().map(EntityJson))
}

/// An entity in JSON.
pub(super) struct EntityJson<'e, 'a>(pub(super) &'e Entity<'a>);

struct PairsJson<'e, 'a>(&'e Entity<'a>);

#[derive(Serialize)]
struct PairJson<'a> {
    key: Cow<'a, str>,
    value: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_raw: Option<String>,
}

impl Serialize for EntityJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entity = serializer.serialize_struct("Entity", 3)?;
        entity.serialize_field("index", &self.0.index())?;
        entity.serialize_field("span", &self.0.span().map(|span| [span.start, span.end]))?;
        entity.serialize_field("pairs", &PairsJson(self.0))?;
        entity.end()
    }
}

impl Serialize for PairsJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.pairs().map(|pair| {
            let ((key, key_raw), (value, raw)) = (text_and_raw(pair.key), text_and_raw(pair.value));
            PairJson { key, value, raw, key_raw }
        }))
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let choice = args.selector.as_deref().map(Choice::parse).transpose()?;
    let maps = Maps::of(&args.map).json(args.json);
    maps.each(cx, |map, job| {
        let entities = cx.open(&map.path)?.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.as_ref().map_or_else(|| (0..entities.len()).collect(), |choice| choice.of(&entities));
        let chosen = || indices.iter().filter_map(|index| entities.get(*index));
        if args.json {
            let document = Document {
                head: Head::new(&map.path),
                entities: chosen().collect(),
                diagnostics: diagnostics_json(entities.diagnostics()),
            };
            job.line(json(&document, maps.many)?);
        } else {
            if maps.many && !indices.is_empty() {
                job.line(format!("// {}", job.path));
            }
            for entity in chosen() {
                if args.numbers {
                    job.line(format!("// #{}", entity.index()));
                }
                job.line(entity.text());
            }
        }
        match &choice {
            Some(choice) if indices.is_empty() => Ok(job.nothing(&choice.nothing())),
            _ => Ok(Code::Done),
        }
    })
}
