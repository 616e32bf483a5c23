//! `model`: brush models.

mod list;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// List brush models
///
/// A brush model is a part of a map that moves or triggers something: a door, a lift, a trigger. Entities name it `*1`,
/// `*2` and so on. `*0` is the world.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit model list base1.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    List(list),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
