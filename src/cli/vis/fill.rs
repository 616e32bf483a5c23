//! `vis fill`: everything is visible from everywhere.

use std::path::PathBuf;

use anyhow::Result;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Make everything visible from everywhere, and heard
///
/// Use it against things that vanish where they should be seen; the game then draws more. Leafs or clusters share one
/// compressed row, so the map does not grow.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis fill dm4.bsp -o out.bsp
  bspkit vis fill maps -o filled"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, Maps::of(&args.map), |draft, _, job| {
        if !draft.visibility()?.fill()? {
            job.say(&format!("{}: everything is visible already", job.path));
            return Ok(Edited::Same);
        }
        Ok(Edited::Done)
    })
}
