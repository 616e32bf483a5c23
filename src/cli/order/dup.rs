//! `records dup`: duplicates records.

use anyhow::Result;
use bspkit::face::records::list_name;

use super::{Target, done, structure};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::Save;
use crate::cli::talk::Code;

/// Add copies of records after them
///
/// A copy belongs to the same sets as the record that it is a copy of.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records dup base1.bsp 'texinfo[3]' -o out.bsp
  bspkit records dup base1.bsp 'planes[4..6]' --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The records
    #[arg(value_name = "LUMP[RANGE]")]
    records: Target,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let followed = structure(draft, args.save.force).duplicate_list(&list, args.records.range.clone())?;
        Ok(done(&followed, job))
    })
}
