//! `ent add`: adds an entity.

use anyhow::Result;
use bspkit::content::assign::Assignment;

use super::select::refuse_cut;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::pairs::NewPairs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Add an entity after the last one, with its pairs in the given order
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent add dm4.bsp classname=light origin=\"0 0 64\" light=300 -o out.bsp
  bspkit ent add dm4.bsp classname=light targetname={classname}_1 -o out.bsp
  bspkit ent add maps classname=info_null --pair angle -1 -o edited"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    pairs: NewPairs,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let pairs = Assignment::new_pairs(&args.pairs.read()?)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        if !pairs.iter().any(|(key, _)| key.eq_ignore_ascii_case(b"classname")) {
            job.warn_here("the new entity has no classname; games skip it or stop");
        }
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        entities.add(pairs.iter().map(|(key, value)| (key, value)))?;
        Ok(Edited::Done)
    })
}
