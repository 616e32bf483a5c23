//! `ent list`: prints entities.

use anyhow::Result;
use bspkit::content::entities::Entity;
use bspkit::face::entities::EntityJson;
use bspkit::face::report::FindingJson;
use serde::{Serialize, Serializer};

use super::select::{Choice, findings, refuse_cut, warn_if_verbose};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
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
    /// Which entities these are; without it, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<&'a str>,
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

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let choice = args.selector.as_deref().map(Choice::parse).transpose()?;
    args.reading.each(cx, |bsp, job| {
        refuse_cut(&bsp, job)?;
        let entities = bsp.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.as_ref().map_or_else(|| (0..entities.len()).collect(), |choice| choice.of(&entities));
        job.report(&List {
            selector: args.selector.as_deref(),
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
