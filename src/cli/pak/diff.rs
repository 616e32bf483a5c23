//! `pak diff`: what differs between the embedded files of two maps.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::face::changes::ComparisonJson;
use bspkit::op::compare::{self, Comparison};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::report::Report;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

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
pub(crate) struct Args {
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
    other: String,
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

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    Maps::file(&args.old).json(args.json).each(cx, |_, job| {
        let read = |path: &PathBuf| {
            let bsp = cx.open(path)?;
            let pak = bsp.pak().with_context(|| format!("cannot read the embedded files of {}", shown(path)))?;
            Ok::<_, anyhow::Error>(pak)
        };
        let mut found = Comparison::default();
        found.lumps.push({
            let (old, new) = (read(&args.old)?, read(&args.new)?);
            compare::paks(&old, &new, usize::MAX)
        });
        let (other, same) = (shown(&args.new), found.touched().is_empty());
        job.report(&Differences { other, same, changes: ComparisonJson::new(&found), found })
    })
}
