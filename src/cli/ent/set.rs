//! `ent set`: sets values.

use anyhow::Result;
use bspkit::content::entities::{Entities, EntityMut};

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::pairs::{NewPair, NewPairs};
use crate::cli::save::{Edited, Save};
use crate::cli::talk::{Code, Job};

/// Set values; a missing key is added after the other keys of the entity
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent set dm4.bsp 'light[style=32]' light=200 _color=\"1 1 1\" --in-place --backup
  bspkit ent set dm4.bsp '#3' --pair angle -1 --dry-run
  bspkit ent set maps worldspawn 'message=caf\\xe9' -o edited"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pairs: NewPairs,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        for pair in &args.pairs.0 {
            warn_of_equal_keys(entities, chosen.indices, pair, job);
            for index in chosen.indices {
                set(&mut entities.get_mut(*index)?, pair)?;
            }
        }
        Ok(Edited::Done)
    })
}

fn set(entity: &mut EntityMut<'_, '_>, NewPair { key, value }: &NewPair) -> Result<()> {
    match key.nth {
        None => entity.set(&key.name, value)?,
        // The number after the last equal key adds a key, as with a missing key.
        Some(nth) if nth == entity.entity().all(&key.name).count() + 1 => entity.push(&key.name, value)?,
        Some(nth) => entity.set_nth(&key.name, nth, value)?,
    }
    Ok(())
}

fn warn_of_equal_keys(entities: &Entities<'_>, indices: &[usize], pair: &NewPair, job: &mut Job<'_>) {
    let key = pair.key.shown();
    let number = |index: &usize| entities.get(*index).map_or(0, |entity| entity.all(&pair.key.name).count());
    let several: Vec<usize> = indices.iter().filter(|index| number(index) > 1).copied().collect();
    match (pair.key.nth, &several[..]) {
        (Some(_), _) | (_, []) => {}
        (_, [index]) => {
            let number = number(index);
            job.warn_here(&format!(
                "entity #{index} has the key {key} {number} times; only the first is set; KEY#2 sets the second"
            ));
        }
        (_, several) => {
            let number = several.len();
            job.warn_here(&format!(
                "{number} entities have the key {key} several times; only the first is set; KEY#2 sets the second"
            ));
        }
    }
}
