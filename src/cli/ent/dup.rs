//! `ent dup`: copies entities.

use anyhow::Result;

use super::select::Which;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Copy each selected entity; the copy follows it directly
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent dup dm4.bsp '#3' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        entities.duplicate_all(chosen.indices)?;
        Ok(Edited::Done)
    })
}
