//! `git merge`: merges two edits of the same map.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::file::replace;
use bspkit::op::merge::{Merged, merge};
use bspkit::{Layout, SaveOptions};

use super::conflicts::lines;
use super::repository::{self, is_pointer, pointer_error};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{Maps, real_path};
use crate::cli::save::bad_argument;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Merge two edits of the same map
///
/// Entities are merged by identity and key, records one by one, embedded files by name, and every other lump is taken
/// from the side that changed it. Where one side removes, adds or moves records, the numbers of the other side follow.
/// What both sides changed is a conflict, and so are lumps that do not fit together. Then OURS stays as it
/// is, the conflicts are listed with the values of all three maps, the first ten of them, and the exit status is 1;
/// `git resolve` settles them. Maps of different dialects are not merged.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git merge base.bsp ours.bsp theirs.bsp -o merged.bsp
  bspkit git merge base.bsp ours.bsp theirs.bsp"
))]
pub(crate) struct Args {
    /// The map that both sides were made from
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// Our map; it becomes the merged one, except with -o
    #[arg(value_name = "OURS")]
    ours: PathBuf,
    /// Their map
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
    /// The file for the merged map [default: OURS]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The name of the map in messages, for git, which merges temporary files [default: the file for the merged map]
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let target = args.output.as_ref().unwrap_or(&args.ours);
    let name = args.path.as_ref().unwrap_or(target);
    if let Some(output) = &args.output {
        let real = real_path(output)?;
        if [&args.base, &args.theirs]
            .into_iter()
            .any(|input| real.is_some() && real_path(input).ok() == Some(real.clone()))
        {
            bail!("{} is an input map: name another file", shown(output));
        }
    }
    let open = |path: &Path, what: &str| {
        let opened = cx.open(path).map_err(|error| match std::fs::read(path) {
            Ok(bytes) if is_pointer(&bytes) => pointer_error(),
            _ => error,
        });
        opened.with_context(|| format!("cannot merge {}: {what}", shown(name)))
    };
    // git gives an empty file for the base of a map that both sides have added.
    if std::fs::metadata(&args.base).is_ok_and(|base| base.len() == 0) {
        let message = format!("cannot merge {}: both sides added it, and there is no base", shown(name));
        return Err(bad_argument(message, "keep one of them: git checkout --ours, or --theirs"));
    }
    let (base, ours, theirs) =
        (open(&args.base, "the base")?, open(&args.ours, "ours")?, open(&args.theirs, "theirs")?);
    let merged = merge(&base, &ours, &theirs).with_context(|| format!("cannot merge {}", shown(name)))?;
    Maps::file(name).each(cx, |_, job| {
        if merged.conflicts.is_empty() {
            save(&merged, target)?;
            job.say(&format!("{}: {}", shown(name), summary(&merged)));
            return Ok(Code::Done);
        }
        report(&merged, name, job);
        match &args.path {
            // Choices of an earlier merge of the same maps do not count in this one.
            Some(path) => {
                repository::forget_choices(path)?;
                job.say(&format!("{} stays ours; settle the conflicts with: bspkit git resolve {0}", shown(name)));
            }
            None if args.output.is_some() => job.say(&format!("{} is not written", shown(target))),
            None => job.say(&format!("{} stays as it is", shown(target))),
        }
        Ok(Code::Found)
    })
}

fn save(merged: &Merged<'_>, target: &Path) -> Result<()> {
    let plan = merged.draft.plan(Layout::Keep)?;
    replace(target, &SaveOptions::default(), |mut file| plan.write_to(&mut file))?;
    Ok(())
}

/// How many conflicts are listed.
const SHOWN: usize = 10;

/// Lists the conflicts on stderr: stdout may be that of a command of git whose output is data.
fn report(merged: &Merged<'_>, name: &Path, job: &mut Job<'_>) {
    let conflicts = count(merged.conflicts.len(), "conflict", "conflicts");
    job.say(&format!("{}: {conflicts}", shown(name)));
    for conflict in merged.conflicts.iter().take(SHOWN) {
        lines(conflict).iter().for_each(|line| job.say(line));
    }
    if let Some(more) = merged.conflicts.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        job.say(&format!("  and {more} more"));
    }
}

fn summary(merged: &Merged<'_>) -> String {
    let list = |names: &[String]| names.join(", ");
    match (merged.theirs.is_empty(), merged.both.is_empty()) {
        (true, true) => "merged: nothing of theirs is new".to_owned(),
        (false, true) => format!("merged: {} of theirs", list(&merged.theirs)),
        (true, false) => format!("merged: {} of both sides", list(&merged.both)),
        (false, false) => format!("merged: {} of theirs, {} of both sides", list(&merged.theirs), list(&merged.both)),
    }
}
