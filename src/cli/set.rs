//! `set`: changes fields of records.

use anyhow::{Context as _, Result};
use bspkit::face::folder;
use bspkit::face::records::FieldPath;

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::save::{Edited, Save};
use super::talk::Code;

/// Change fields of records
///
/// A VALUE is a number, the bits of a number in hex, a name with escapes, flag names separated by `|`, or JSON for a
/// list, a struct or a whole record. Only the field changes; indices in other records are not updated.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit set base1.bsp 'texinfo[3].texture=e1u1/metal1_1' -o out.bsp
  bspkit set base1.bsp 'texinfo[3].flags=SKY|NODRAW' 'texinfo[3].value=0' --in-place --backup
  bspkit set base1.bsp 'planes[0].normal=[0,0,1]' 'planes[0].distance=-64.5' --dry-run
  bspkit set kingpin.bsp 'texinfo[3].flags=METAL' --game kingpin -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The field, and its new value
    #[arg(value_name = "LUMP[INDEX].FIELD=VALUE", required = true, value_parser = assignment)]
    assignments: Vec<(FieldPath, String)>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, _| {
        let names = folder::names(draft.bsp(), args.game.as_deref())?;
        for (place, value) in &args.assignments {
            place.set(draft, value, names).with_context(|| format!("cannot set {place}"))?;
        }
        Ok(Edited::Done)
    })
}

/// Reads `LUMP[INDEX].FIELD=VALUE`.
fn assignment(text: &str) -> Result<(FieldPath, String)> {
    let (place, value) =
        text.split_once('=').with_context(|| format!("`{text}` has no `=`: write LUMP[INDEX].FIELD=VALUE"))?;
    Ok((place.parse()?, value.to_owned()))
}
