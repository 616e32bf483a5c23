//! `ent set`: sets, calculates and rewrites values.

use anyhow::Result;
use bspkit::content::assign::{Assigned, Assignment};
use bspkit::content::entities::Entities;
use bspkit::{Error, ErrorKind};

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::pairs::NewPairs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// The most values that are listed because they stay as they are; the others are only counted.
const LISTED: usize = 10;

/// Set, calculate and rewrite values
///
/// KEY=VALUE sets a value; a missing key is added after the other keys of the entity. KEY+=V, -=, *= and /= calculate
/// with each number of the value: with one number, or with as many as the value has (`origin*="-1 1 1"`).
/// KEY~s/OLD/NEW/ replaces the first match of a regular expression, with `g` after it all matches, with `i` in any
/// case; NEW has the groups as {1}, {2} and the whole match as {0}. In each VALUE, V and NEW, {KEY} is the value of
/// another key; write \{ for a brace. Calculations are exact, and numbers keep the way they are written. A value that
/// cannot be calculated stays as it is, with a warning.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent set dm4.bsp 'light[style=32]' light=200 _color=\"1 1 1\" --in-place --backup
  bspkit ent set dm4.bsp light 'light*=1.5' 'origin+=0 0 8' -o out.bsp
  bspkit ent set dm4.bsp '[origin]' 'origin*=-1 1 1' --strict -o mirrored.bsp
  bspkit ent set dm4.bsp '[target]' 'target~s/^p([0-9]+)$/path_{1}/i' --dry-run
  bspkit ent set dm4.bsp '[targetname]' 'message={targetname} is closed' -o out.bsp
  bspkit ent set dm4.bsp '#3' --pair angle -1 --dry-run
  bspkit ent set maps worldspawn 'message=caf\\xe9' -o edited"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pairs: NewPairs,
    /// Write nothing if a value of a selected entity is missing or cannot be calculated
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let assignments = args.pairs.read()?;
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        assignments.iter().for_each(|assignment| warn_of_equal_keys(entities, chosen.indices, assignment, job));
        let done = entities.assign(chosen.indices, &assignments)?;
        if args.strict && done.left_in_total > 0 {
            return Err(strictly(&done).into());
        }
        warn_of_left(&done, job);
        match done.entities {
            0 if done.left_in_total > 0 => Ok(Edited::Nothing("no value was changed".to_owned())),
            0 => Ok(Edited::Nothing(format!("no value of {} matches", chosen.choice.text))),
            _ => Ok(Edited::Done),
        }
    })
}

/// The error where no value may stay.
fn strictly(done: &Assigned) -> Error {
    let first = done.left.first().map(ToString::to_string).unwrap_or_default();
    let values = count(done.left_in_total, "value stays as it is", "values stay as they are");
    Error::new(ErrorKind::Refused, format!("{values}; {first}")).with_hint("leave out --strict to change the others")
}

/// Warns of values that stay as they are: lists the first ones and counts the others.
fn warn_of_left(done: &Assigned, job: &mut Job<'_>) {
    done.left.iter().take(LISTED).for_each(|left| job.warn_here(&left.to_string()));
    if done.left_in_total > LISTED {
        let more = count(done.left_in_total - LISTED, "more value stays as it is", "more values stay as they are");
        job.warn_here(&more);
    }
}

fn warn_of_equal_keys(entities: &Entities<'_>, indices: &[usize], assignment: &Assignment, job: &mut Job<'_>) {
    let key = assignment.key();
    let number = |index: &usize| entities.get(*index).map_or(0, |entity| entity.all(&key.name).count());
    let several: Vec<usize> = indices.iter().filter(|index| number(index) > 1).copied().collect();
    match (key.nth, &several[..]) {
        (Some(_), _) | (_, []) => {}
        (_, [index]) => {
            let number = number(index);
            job.warn_here(&format!(
                "entity #{index} has the key `{key}` {number} times; only the first is set; KEY#2 sets the second"
            ));
        }
        (_, several) => {
            let number = several.len();
            job.warn_here(&format!(
                "{number} entities have the key `{key}` several times; only the first is set; KEY#2 sets the second"
            ));
        }
    }
}
