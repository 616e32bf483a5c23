//! `ent rm`: removes entities.

use anyhow::Result;

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Remove entities; comments around them stay
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent rm dm4.bsp 'light*' -o out.bsp
  bspkit ent rm maps info_null --in-place"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        entities.remove_all(chosen.indices)?;
        Ok(Edited::Done)
    })
}
