//! `vis`: visibility.

mod export;
mod fill;
mod import;
mod stat;

use anyhow::Result;
use bspkit::content::visibility::VisSet;
use clap::ValueEnum;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// Show and change visibility: which parts of a map are visible from which
///
/// The PVS lists, for each leaf (Quake, GoldSrc) or cluster of leafs (Quake II, Quake III, Source), which others may be
/// visible from there. Quake II and Source also have the PHS, which lists those that may be heard; Source calls it PAS.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit vis stat maps
  bspkit vis export dm4.bsp vis.png
  bspkit vis import dm4.bsp vis.png -o out.bsp
  bspkit vis fill dm4.bsp -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Stat(stat),
    Export(export),
    Import(import),
    Fill(fill),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}

/// The set of rows: visible or audible.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    /// What is visible
    Pvs,
    /// What is audible (Quake II, Source)
    Phs,
}

impl From<Set> for VisSet {
    fn from(set: Set) -> Self {
        match set {
            Set::Pvs => VisSet::Pvs,
            Set::Phs => VisSet::Phs,
        }
    }
}
