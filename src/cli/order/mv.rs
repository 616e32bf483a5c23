//! `records mv`: moves records.

use anyhow::Result;
use bspkit::face::records::{Lump, list_name};

use super::{Target, done, structure};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::Save;
use crate::cli::talk::Code;

/// Move records to another place in their lump
///
/// Orders that have a meaning are refused: a record whose number is reserved, records of a face or brush that would not
/// be together, planes that would not be in pairs.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records mv base1.bsp 'texinfo[3]' 0 -o out.bsp
  bspkit records mv base1.bsp 'texinfo[3..6]' 10 --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The records
    #[arg(value_name = "LUMP[RANGE]")]
    records: Target,
    /// The number that the first of them gets
    #[arg(value_name = "INDEX")]
    to: usize,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        let lump = Lump::find(draft.bsp(), &list)?;
        let len = lump.records().first().map_or(0, bspkit::dialect::Records::count);
        let range = args.records.range.clone();
        if range.end > len || args.to.saturating_add(range.len()) > len {
            return Err(args.records.outside(len));
        }
        let mut order: Vec<usize> = (0..len).filter(|index| !range.contains(index)).collect();
        order.splice(args.to..args.to, range);
        let followed = structure(draft, args.save.force).reorder_list(&list, &order)?;
        Ok(done(&followed, job))
    })
}
