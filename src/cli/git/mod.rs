//! `git`: maps in repositories of git.

mod conflicts;
mod install;
mod merge;
pub(crate) mod repository;
mod resolve;
mod textconv;
mod uninstall;

pub(crate) use conflicts::lines as conflict_lines;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// Compare and merge maps in a repository of git
///
/// `git install` writes what git has to know into a repository. Afterwards `git diff` and `git log -p` show what
/// changed in maps as text, and merges and rebases merge maps: entities by identity, records one by one, embedded files
/// by name, and other lumps from the side that changed them. `git resolve` settles conflicts one by one.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit git install
  bspkit git install --write
  bspkit git textconv dm4.bsp
  bspkit git merge base.bsp ours.bsp theirs.bsp -o merged.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Textconv(textconv),
    Merge(merge),
    Resolve(resolve),
    Install(install),
    Uninstall(uninstall),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
