//! `ent list`: prints entities.

use std::borrow::Cow;

use anyhow::Result;
use bspkit::content::entities::Entity;
use bspkit::face::report::FindingJson;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::select::{Choice, findings, warn_if_verbose};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::text_and_raw;
use crate::cli::talk::{Code, Job};

/// Print entities exactly as in the text
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent list dm4.bsp
  bspkit ent list dm4.bsp 'info_player_*' -n
  bspkit ent list dm4.bsp '[targetname]' --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The entities [default: all]
    #[arg(value_name = "SEL")]
    selector: Option<String>,
    /// Print the index before each entity, as a comment
    #[arg(short, long)]
    numbers: bool,
}

#[derive(Serialize)]
struct List<'a> {
    #[serde(serialize_with = "all")]
    entities: Vec<Entity<'a>>,
    findings: Vec<FindingJson>,
    /// Whether to print the index of each entity.
    #[serde(skip)]
    with_numbers: bool,
}

impl Report for List<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for entity in &self.entities {
            if self.with_numbers {
                job.line(format!("// #{}", entity.index()));
            }
            job.line(entity.bytes());
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.entities.is_empty()).then(|| format!("// {path}"))
    }
}

/// Writes entities as JSON one at a time, since a text may have a million pairs.
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
    args.reading.each(cx, |bsp, job| {
        let entities = bsp.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.as_ref().map_or_else(|| (0..entities.len()).collect(), |choice| choice.of(&entities));
        job.report(&List {
            entities: indices.iter().filter_map(|index| entities.get(*index)).collect(),
            findings: findings(entities.diagnostics()),
            with_numbers: args.numbers,
        })?;
        match &choice {
            Some(choice) if indices.is_empty() => Ok(job.nothing(&choice.nothing(&entities))),
            _ => Ok(Code::Done),
        }
    })
}
