//! `ent diff`: writes the difference between the entities of two maps as a patch or as rules.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::face::patch::write;
use bspkit::file::replace;
use bspkit::op::diff::diff;
use bspkit::op::patch::{Operation, Patch};
use bspkit::op::rules::{Difference, difference};
use clap::ValueEnum;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{Maps, real_path, target_path};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;

/// Write a patch or rules that change the entities of map A into those of map B
///
/// Entities are matched by identity, not by their position in the text: by hammerid, targetname, model and origin, and
/// by equal pairs. `ent patch A PATCH.json` then produces the entity text of B byte for byte. The exit status is 1 if
/// the maps differ; otherwise the patch has no operations.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent diff dm4.bsp dm4_new.bsp
  bspkit ent diff dm4.bsp dm4_new.bsp -o changes.json
  bspkit ent diff dm4.bsp dm4_new.bsp --as stripper -o dm4.cfg"
))]
pub(crate) struct Args {
    /// The map that the patch is for
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The map with the entities that the patch produces
    #[arg(value_name = "B")]
    new: PathBuf,
    /// The format: a patch for `ent patch`, or rules for the plug-in of Stripper and `ent apply`
    #[arg(long = "as", value_name = "FORMAT", default_value = "patch")]
    form: Form,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// JSON
    Patch,
    /// Stripper:Source; what it cannot say is listed, and the exit status is 2 then
    Stripper,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let read = |path: &PathBuf| {
        let entities = cx.open(path)?.entities();
        entities.with_context(|| format!("cannot read the entities of {}", shown(path)))
    };
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let (document, said, lost, is_same) = match args.form {
        Form::Patch => {
            let patch = diff(&old, &new)?;
            (write(&patch).into_bytes(), said_of(&patch), Vec::new(), patch.operations.is_empty())
        }
        Form::Stripper => {
            let Difference { text, counts, lost } = difference(&old, &new);
            let is_same = counts == [0; 3] && lost.is_empty();
            (text, numbers(counts), lost, is_same)
        }
    };
    Maps::file(&args.old).each(cx, |_, job| {
        match &args.output {
            None => drop(job.write(&document)?),
            Some(path) => {
                let real = target_path(path)?;
                for map in [&args.old, &args.new] {
                    if real.is_some() && real == real_path(map)? {
                        bail!("{} is an input map: name another file", shown(path));
                    }
                }
                replace(path, &SaveOptions::default(), |mut file| file.write_all(&document))?;
            }
        }
        job.say(if is_same { "the entities are the same" } else { &said });
        lost.iter().for_each(|what| job.warn(&format!("Stripper cannot say: {what}")));
        Ok(match (is_same, lost.is_empty()) {
            (true, _) => Code::Done,
            (false, true) => Code::Found,
            (false, false) => Code::Failed,
        })
    })
}

fn said_of(patch: &Patch) -> String {
    if let [Operation::Text { .. }] = &patch.operations[..] {
        return "the text between entities differs, or too many entities move: the patch has the whole text".to_owned();
    }
    let number = |is: fn(&Operation) -> bool| patch.operations.iter().filter(|operation| is(operation)).count();
    let edited = number(|it| matches!(it, Operation::Edit { .. } | Operation::Replace { .. }));
    let added = number(|it| matches!(it, Operation::Add { .. } | Operation::AddText { .. }));
    let removed = number(|it| matches!(it, Operation::Remove { .. }));
    let moved = number(|it| matches!(it, Operation::Move { .. }));
    format!("{}, {moved} moved", numbers([edited, added, removed]))
}

fn numbers([edited, added, removed]: [usize; 3]) -> String {
    format!("{}, {added} added, {removed} removed", count(edited, "entity changed", "entities changed"))
}
