//! `records rm`: removes records.

use anyhow::Result;
use bspkit::face::records::{Lump, list_name};
use bspkit::op::models::Removal;

use super::{Target, done, structure};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::model::gone;
use crate::cli::save::Save;
use crate::cli::talk::Code;

/// Remove records
///
/// Lists of what belongs together get shorter, and parts that nothing else uses go too: the sides of a brush, and all
/// that only a model has. A record that something still needs is refused with what needs it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit records rm base1.bsp 'brushes[7]' -o out.bsp
  bspkit records rm base1.bsp 'leaffaces[10..12]' --in-place --backup
  bspkit records rm base1.bsp 'texinfo[3]' --cascade --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The records
    #[arg(value_name = "LUMP[RANGE]")]
    records: Target,
    /// Remove what needs them too; a field that may be empty is emptied
    #[arg(long)]
    cascade: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let list = list_name(draft.bsp(), &args.records.list)?;
        // A model goes with all that only it has.
        if Removal::is_of(draft.bsp(), &list) {
            let removal = Removal::default().force(args.save.force);
            let removal = if args.cascade { removal } else { removal.refuse_named() };
            let len = Lump::find(draft.bsp(), &list)?.records().first().map_or(0, bspkit::dialect::Records::count);
            if args.records.range.end > len {
                return Err(args.records.outside(len));
            }
            return Ok(gone(&removal.run(draft, &args.records.range.clone().collect::<Vec<_>>())?, job));
        }
        let edit = structure(draft, args.save.force).cascade(args.cascade);
        let followed = edit.splice_list(&list, args.records.range.clone(), Vec::new())?;
        Ok(done(&followed, job))
    })
}
