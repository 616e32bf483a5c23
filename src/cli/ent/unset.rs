//! `ent unset`: removes pairs.

use std::ffi::OsString;

use anyhow::Result;

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::pairs::Key;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Remove all pairs of a key; KEY#2 removes only the second of equal keys
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent unset dm4.bsp worldspawn message -o out.bsp
  bspkit ent unset dm4.bsp '*' _color _minlight --in-place --backup=.old"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// The keys
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let keys: Vec<Key> = args.keys.iter().map(|key| Key::parse(key)).collect::<Result<_>>()?;
    args.which.edit(cx, &args.save, |entities, chosen, job| {
        // `KEY#1 KEY#2` means what was first and second before the edit.
        let mut keys: Vec<&Key> = keys.iter().collect();
        keys.sort_by_key(|key| std::cmp::Reverse(key.nth));
        keys.dedup();
        let mut missing = Vec::new();
        for key in &keys {
            let mut removed = 0;
            for index in chosen.indices {
                let mut entity = entities.get_mut(*index)?;
                removed += match key.nth {
                    None => entity.unset(&key.name)?,
                    Some(nth) if nth > entity.entity().all(&key.name).count() => 0,
                    Some(nth) => entity.unset_nth(&key.name, nth).map(|()| 1)?,
                };
            }
            missing.extend((removed == 0).then_some(*key));
        }
        if missing.len() == keys.len() {
            return Ok(Edited::Nothing(chosen.choice.nothing_with(&missing, entities)));
        }
        if !missing.is_empty() {
            job.warn_here(&chosen.choice.nothing_with(&missing, entities));
        }
        Ok(Edited::Done)
    })
}
