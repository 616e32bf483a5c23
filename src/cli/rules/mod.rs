//! `rules`: rule files for entities.

mod convert;
mod lint;
mod status;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// Check and convert rule files for entities, such as those of Stripper:Source, and print what was applied
///
/// `ent apply` applies them to maps.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit rules lint clean.cfg maps
  bspkit rules convert clean.cfg --to patch
  bspkit rules status maps"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Lint(lint),
    Convert(convert),
    Status(status),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
