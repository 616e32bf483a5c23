//! `lmp`: lump files of Source maps.

mod export;
mod import;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// Write and read lump files, which Source games load instead of the map's lumps
///
/// Games from Episode One to Left 4 Dead 2 load `<map>_l_0.lmp`, `<map>_l_1.lmp` and so on from the folder of a map, up
/// to the first missing number; later files override earlier ones. Games of the 2013 multiplayer branch no longer load
/// them: there the lumps must be imported into the map.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit lmp export c1m1.bsp entities
  bspkit lmp import source.bsp source_l_0.lmp -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Export(export),
    Import(import),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
