//! `vis fill`: everything is visible from everywhere.

use std::path::PathBuf;

use anyhow::Result;
use bspkit::face::images::visibility::places;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Make everything visible from everywhere, and heard
///
/// Against things that vanish where they should be seen; the game draws more.
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
        let visibility = draft.visibility()?;
        let places = places(visibility);
        if places.is_empty() {
            job.say(&format!("{}: everything is visible already", job.path));
            return Ok(Edited::Same);
        }
        let all = visibility.plain(true);
        for set in visibility.sets() {
            for place in &places {
                visibility.set_row(*set, *place, all.clone())?;
            }
        }
        Ok(Edited::Done)
    })
}
