//! `rules status`: the rules that were applied to maps.

use anyhow::Result;
use bspkit::face::rules::record;
use bspkit::op::rules::{Application, Since, State};
use indexmap::IndexMap;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// Print which rules `ent apply` has applied to maps
///
/// The record is MAP.rules.json beside the map. It counts only as long as the map is the one that it tells of.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rules status dm4.bsp
  bspkit rules status maps --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Status {
    state: &'static str,
    #[serde(skip)]
    sentence: &'static str,
    applied: Vec<Application>,
}

impl Report for Status {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let rules: usize = self.applied.iter().map(|one| one.rules.len()).sum();
        let were = if rules == 1 { "rule was" } else { "rules were" };
        match rules {
            0 => job.line(format!("{}: {}", job.path, self.sentence)),
            _ => job.line(format!("{}: {rules} {were} applied, and {}", job.path, self.sentence)),
        }
        for one in &self.applied {
            let mut files: IndexMap<&str, usize> = IndexMap::new();
            one.rules.iter().for_each(|rule| *files.entry(&rule.file).or_default() += 1);
            for (file, rules) in files {
                let file = bspkit::bytes::escaped(file.as_bytes()).to_string();
                job.line(format!("  {file}: {}", count(rules, "rule", "rules")));
            }
        }
        Ok(())
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let record = record::read(job.file)?;
        let (applied, since) = record.in_map(&State::of(&bsp)?);
        let (state, sentence) = match since {
            _ if record.applied.is_empty() => ("none", "no rules are recorded"),
            Since::Same => ("same", "the entities are as they were after that"),
            Since::Edited => ("edited", "the entities were edited since"),
            Since::Other => ("other", "the record is of another map"),
        };
        job.report(&Status { state, sentence, applied: applied.to_vec() })
    })
}
