//! `tex rename`: renames textures wherever a map names them.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::texture_names::Renaming;

use super::finding;
use super::shelf::named_as;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::pairs::unescaped;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Rename textures, in maps of every game
///
/// OLD is a pattern for whole names; case does not matter. `{1}` in NEW is the text that its first wildcard matched.
/// Records keep their textures. A name that is too long is refused and nothing is written: the limit is 31 bytes in
/// Quake II, 63 in Quake III, 15 in GoldSrc, 127 in Source. If different names become one name, a warning says so. An
/// animation (`+0name`, `+1name`) that would lose a frame is refused without --force. `\xff` is a byte and `\\` a
/// backslash, as `tex list` prints them.
///
/// A name that cannot be read is reported and stays as it is; the others change, and the exit status is 1.
///
/// Files are not renamed; for embedded files of Source use `pak mv`. Names in entities, such as `detailmaterial` of
/// Source, do not change; use `ent set`. The next frame in an animation of Quake II does not change either.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex rename base1.bsp 'e1u1/*' 'e1u2/{1}' -o out.bsp
  bspkit tex rename dm4.bsp 'textures/own/**' 'textures/mine/{1}' --in-place --backup
  bspkit tex rename c1a0.bsp aaatrigger clip --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The old names; `*`, `**` and `?` are wildcards
    #[arg(value_name = "OLD")]
    old: OsString,
    /// The new name
    #[arg(value_name = "NEW")]
    new: OsString,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let [old, new] = [&args.old, &args.new].map(|text| unescaped(text));
    let renaming = Renaming::new(&old, new)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let renamed = draft.texture_names()?.rename(&renaming)?;
        let is_whole = renamed.left.is_empty();
        for error in renamed.left {
            finding(job, "not renamed", &error.into());
        }
        for (new, old) in renamed.merged {
            let old = old.iter().map(|name| format!("`{}`", escaped(name))).collect::<Vec<_>>().join(", ");
            job.warn_here(&format!("{old} become one name, `{}`", escaped(&new)));
        }
        if renamed.count == 0 {
            let names: Vec<_> = draft.texture_names()?.iter().map(|name| name.name).collect();
            let names = named_as(names.iter().map(|name| Some(&name[..])));
            return Ok(Edited::Nothing(names.nothing(std::slice::from_ref(&args.old))));
        }
        Ok(Edited::With { what: format!("{} renamed", count(renamed.count, "name", "names")), is_whole })
    })
}
