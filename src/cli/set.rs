//! `set`: changes fields of records.

use anyhow::{Context as _, Result};
use bspkit::face::folder;
use bspkit::face::records::parse_value;
use bspkit::op::query::FieldChange;

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::save::{Edited, Save};
use super::talk::Code;

/// Change fields of records
///
/// LUMP[INDEX].FIELD=VALUE changes a field of one record. `[10..20]`, `[*]` and tests choose several: `[side=1]`,
/// `[distance>8]`, `<`, `>=`, `<=`, `[texture~/re/i]`, `[texture^=e1u1/]` (starts with), `$=` (ends with), `*=`
/// (contains), `[flags&SKY]` (one of these flags is set). They can follow each other, `:not([...])` excludes, and a
/// comma is for either. A field that is an index may be followed: `[texinfo.texture=sky]`. `bspkit get` takes the same
/// queries and prints the records.
///
/// A VALUE is a number, the bits of a number in hex, a name with escapes, flag names separated by `|`, or JSON for a
/// list, a struct or a whole record. `+=`, `-=`, `*=` and `/=` calculate with each number of the field, `|=`, `&=` and
/// `^=` combine flags; `&=~SKY` removes one. Only the field changes; indices in other records are not updated.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit set base1.bsp 'texinfo[3].texture=e1u1/metal1_1' -o out.bsp
  bspkit set base1.bsp 'texinfo[3].flags=SKY|NODRAW' 'texinfo[3].value=0' --in-place --backup
  bspkit set base1.bsp 'texinfo[texture~/water/i].flags|=WARP' -o out.bsp
  bspkit set base1.bsp 'texinfo[flags&SKY].flags&=~LIGHT' --dry-run
  bspkit set base1.bsp 'faces[texinfo.texture=e1u1/sky].light_offset=-1' --dry-run
  bspkit set base1.bsp 'planes[0].normal=[0,0,1]' 'models[1..].origin+=0 0 8' --dry-run
  bspkit set kingpin.bsp 'texinfo[3].flags=METAL' --game kingpin -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The field, and its new value
    #[arg(value_name = "LUMP[INDEX].FIELD=VALUE", required = true)]
    changes: Vec<String>,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let changes = args.changes.iter().map(|text| FieldChange::parse(text)).collect::<bspkit::Result<Vec<_>>>()?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let names = folder::names(draft.bsp(), args.game.as_deref())?;
        let mut idle = Vec::new();
        for change in &changes {
            let changed = change.apply_with(draft, names, parse_value);
            if changed.with_context(|| format!("cannot set {}", change.query()))? == 0 {
                idle.push(change.query().to_string());
            }
        }
        let what = format!("nothing matches {}", idle.join(" or "));
        match idle.len() {
            0 => Ok(Edited::Done),
            count if count == changes.len() => Ok(Edited::Nothing(what)),
            _ => {
                job.warn_here(&what);
                Ok(Edited::Done)
            }
        }
    })
}
