//! `tex rename`: other names, wherever a map names textures.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::texture_names::Renaming;

use super::finding;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::pairs::unescaped;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Give textures other names, in maps of every family
///
/// OLD is a pattern of whole names (case does not matter), and `{1}` in NEW is what its first wildcard stands for. What
/// refers to the textures keeps doing so. A name that does not fit is refused and nothing is written: Quake II has room
/// for 31 bytes, Quake III for 63, GoldSrc for 15, Source for 127. Different names that become one are warned of;
/// an animation (`+0name`, `+1name`) that would lose a frame is refused without --force. `\xff` is a byte and `\\` a
/// backslash, as `tex list` prints them.
///
/// A name that cannot be read is named and left alone; the others change, and the exit status is 1.
///
/// Only the map's own names change, and no files: embedded ones of Source have `pak mv`. Nor do names change that
/// entities give, such as Source's `detailmaterial` (`ent set` does that), nor which surface follows in an animation of
/// Quake II.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex rename base1.bsp 'e1u1/*' 'e1u2/{1}' -o out.bsp
  bspkit tex rename dm4.bsp 'textures/own/**' 'textures/mine/{1}' --in-place --backup
  bspkit tex rename c1a0.bsp aaatrigger clip --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The names that change: `*`, `**` and `?` are wildcards
    #[arg(value_name = "OLD")]
    old: OsString,
    /// What they change to
    #[arg(value_name = "NEW")]
    new: OsString,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let [old, new] = [&args.old, &args.new].map(|text| unescaped(text.as_encoded_bytes()));
    let renaming = Renaming::new(&old, new)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let renamed = draft.texture_names()?.rename(&renaming)?;
        let is_whole = renamed.left.is_empty();
        for error in renamed.left {
            finding(job, "left alone", &error.into());
        }
        for (new, old) in renamed.merged {
            let old = old.iter().map(|name| format!("`{}`", escaped(name))).collect::<Vec<_>>().join(", ");
            job.warn_here(&format!("{old} become one name, `{}`", escaped(&new)));
        }
        if renamed.count == 0 {
            return Ok(Edited::Nothing(format!("no texture is called {}", escaped(&old))));
        }
        Ok(Edited::Told { what: format!("{} renamed", count(renamed.count, "name", "names")), is_whole })
    })
}
