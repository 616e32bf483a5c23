//! `ent rename-key`: renames keys and keeps their values.

use std::ffi::OsString;

use anyhow::Result;

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::pairs::{key, unescaped};
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Rename a key in all its pairs; OLD#2 renames only the second of equal keys
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent rename-key dm4.bsp '*' _color color -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// The old key
    #[arg(value_name = "OLD")]
    old: OsString,
    /// The new key
    #[arg(value_name = "NEW")]
    new: OsString,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let old = key(&args.old)?;
    let new = unescaped(&args.new);
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        let mut renamed = 0;
        for index in chosen.indices {
            let mut entity = entities.get_mut(*index)?;
            renamed += match old.nth {
                None => entity.rename(&old.name, &new)?,
                Some(nth) if nth > entity.entity().all(&old.name).count() => 0,
                Some(nth) => entity.rename_nth(&old.name, nth, &new).map(|()| 1)?,
            };
        }
        if renamed == 0 {
            return Ok(Edited::Nothing(chosen.choice.nothing_with(&[&old], entities)));
        }
        Ok(Edited::Done)
    })
}
