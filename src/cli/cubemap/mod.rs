//! `cubemap`: the cube maps of Source maps.

mod list;
mod rename;
mod strip;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// List, remove and rename the cube maps of Source maps
///
/// A cube map is a place in the lump CUBEMAPS, and an embedded image that the game writes for it:
/// `materials/maps/NAME/cX_Y_Z.vtf`, with `.hdr.vtf` for light of the high range.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit cubemap list map.bsp
  bspkit cubemap strip map.bsp -o out.bsp
  bspkit cubemap rename map.bsp own_arena --from old -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    List(list),
    Strip(strip),
    Rename(rename),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
