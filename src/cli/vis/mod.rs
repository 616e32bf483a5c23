//! `vis`: what is visible from where.

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

/// Show and change what is visible from where
///
/// A map says for each leaf (Quake, GoldSrc) or cluster of leafs (Quake II, Quake III, Source) which others may be seen
/// from there: the PVS; Quake II and Source say also which may be heard: the PHS, which Source calls PAS.
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

/// Which rows are meant.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    /// What is seen
    Pvs,
    /// What is heard (Quake II, Source)
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
