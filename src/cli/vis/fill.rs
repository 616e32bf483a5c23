//! `vis fill`: makes everything visible from everywhere.

use anyhow::Result;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Make everything visible and audible from everywhere
///
/// Use it if things disappear that should be visible; the game then draws more. Leafs or clusters share one compressed
/// row, so the map does not grow.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis fill dm4.bsp -o out.bsp
  bspkit vis fill maps -o filled"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        if !draft.visibility()?.fill()? {
            job.say(&format!("{}: everything is visible already", job.path));
            return Ok(Edited::Same);
        }
        Ok(Edited::Done)
    })
}
