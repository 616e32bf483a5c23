//! `ent diff`: writes the difference between the entities of two maps as a patch.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::face::patch::write;
use bspkit::file::replace;
use bspkit::op::diff::diff;
use bspkit::op::patch::Operation;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{Maps, real_path};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;

/// Write a JSON patch that changes the entities of map A into those of map B
///
/// Entities are matched by identity, not by their position in the text: by hammerid, targetname, model and origin, and
/// by equal pairs. `ent patch A PATCH.json` then produces the entity text of B byte for byte. The exit status is 1 if
/// the maps differ; otherwise the patch has no operations.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent diff dm4.bsp dm4_new.bsp
  bspkit ent diff dm4.bsp dm4_new.bsp -o changes.json"
))]
pub(crate) struct Args {
    /// The map that the patch is for
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The map with the entities that the patch produces
    #[arg(value_name = "B")]
    new: PathBuf,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let read = |path: &PathBuf| {
        let entities = cx.open(path)?.entities();
        entities.with_context(|| format!("cannot read the entities of {}", shown(path)))
    };
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let patch = diff(&old, &new)?;
    let document = write(&patch).into_bytes();
    Maps::file(&args.old).each(cx, |_, job| {
        match &args.output {
            None => drop(job.write(&document)?),
            Some(path) => {
                let cannot = || format!("cannot write {}", shown(path));
                let real = real_path(path).with_context(cannot)?;
                for map in [&args.old, &args.new] {
                    if real.is_some() && real == real_path(map).with_context(cannot)? {
                        bail!("{} is an input map: name another file for the patch", shown(path));
                    }
                }
                replace(path, &SaveOptions::default(), |mut file| file.write_all(&document))?;
            }
        }
        let number = |is: fn(&Operation) -> bool| patch.operations.iter().filter(|operation| is(operation)).count();
        let edited = number(|it| matches!(it, Operation::Edit { .. } | Operation::Replace { .. }));
        let added = number(|it| matches!(it, Operation::Add { .. } | Operation::AddText { .. }));
        let removed = number(|it| matches!(it, Operation::Remove { .. }));
        let moved = number(|it| matches!(it, Operation::Move { .. }));
        job.say(&match &patch.operations[..] {
            [] => "the entities are the same".to_owned(),
            [Operation::Text { .. }] => {
                "the text between entities differs, or too many entities move: the patch has the whole text".to_owned()
            }
            _ => {
                let edited = count(edited, "entity changed", "entities changed");
                format!("{edited}, {added} added, {removed} removed, {moved} moved")
            }
        });
        Ok(if patch.operations.is_empty() { Code::Done } else { Code::Found })
    })
}
