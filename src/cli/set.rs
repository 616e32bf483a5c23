//! `set`: one field of a record.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::record::{self, FlagNames};
use bspkit::{Draft, Error, ErrorKind};

use super::context::Context;
use super::help;
use super::maps::Maps;
use super::records::{Assignment, game, parse_value};
use super::save::{Edited, Save};
use super::talk::Code;

/// Change fields of records
///
/// A VALUE is a number, the bits of one in hex, a name with escapes, flags by name with `|` between them, or JSON for a
/// list, a struct or a whole record. Nothing but the field changes: what refers to it by number does not follow.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit set base1.bsp 'texinfo[3].texture=e1u1/metal1_1' -o out.bsp
  bspkit set base1.bsp 'texinfo[3].flags=SKY|NODRAW' 'texinfo[3].value=0' --in-place --backup
  bspkit set base1.bsp 'planes[0].normal=[0,0,1]' 'planes[0].distance=-64.5' --dry-run
  bspkit set kingpin.bsp 'texinfo[3].flags=METAL' --game kingpin -o out.bsp"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// What to set
    #[arg(value_name = "LUMP[INDEX].FIELD=VALUE", required = true, value_parser = Assignment::parse)]
    assignments: Vec<Assignment>,
    /// Whose names flags have
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, Maps::of(&args.map), |draft, _, _| {
        let names = game(draft.bsp(), args.game.as_deref())?.flags;
        for assignment in &args.assignments {
            let place = &assignment.place;
            let dot = if place.field.is_empty() { "" } else { "." };
            let cannot = || format!("cannot set {}[{}]{dot}{}", place.lump, place.index, place.field);
            assign(draft, assignment, names).with_context(cannot)?;
        }
        Ok(Edited::Done)
    })
}

fn assign(draft: &mut Draft<'static>, Assignment { place, value }: &Assignment, names: FlagNames) -> Result<()> {
    let found = place.find(draft.bsp())?;
    // What was set before counts; no assignment changes the size of a lump.
    let mut bytes = draft.little_endian(found.content.slot)?.to_vec();
    let part = found.part;
    let to = &mut bytes[found.place()];
    let parsed = match found.is_single() {
        true => record::parse(part.shape, part.meaning, value, to, names),
        false => parse_value(part.shape, part.meaning, value, to, names),
    };
    parsed.map_err(|why| Error::new(ErrorKind::Argument, why))?;
    draft.set_little_endian(found.content.slot, bytes)?;
    Ok(())
}
