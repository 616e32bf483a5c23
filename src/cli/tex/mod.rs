//! `tex`: textures and their names.

mod embed;
mod export;
mod import;
mod list;
mod rename;
mod shelf;
mod strip;
mod wad;
mod wal;

use anyhow::{Error, Result};

use super::context::Context;
use super::save::Edited;
use super::talk::{Code, Job};
use super::{commands, help};

/// Show and change textures: pixels in Quake and GoldSrc maps, WAD and WAL files, and names in all maps
///
/// GLOB selects textures: `wall` (a name), `+*` (`*` matches any bytes except a slash, `?` one such byte), `e1u1/**`
/// (`**` matches any bytes), `=wall?` (a name, without wildcards), `#3` (an index, as `tex list` shows it), `\xff` (a
/// byte, as `tex list` prints it). Case does not matter. Textures that are not edited keep every byte.
///
/// Quake II, Quake III and Source maps have no pixels, only names: of WAL files (Kingpin: TGA files), shaders,
/// materials.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit tex list c1a0.bsp
  bspkit tex export c1a0.bsp images
  bspkit tex import c1a0.bsp images -o out.bsp
  bspkit tex rename base1.bsp 'e1u1/*' 'e1u2/{1}' -o out.bsp
  bspkit tex embed c1a0.bsp halflife.wad -o out.bsp
  bspkit tex strip c1a0.bsp --to c1a0.wad -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    List(list),
    Export(export),
    Import(import),
    Rename(rename),
    Embed(embed),
    Strip(strip),
}

/// Reports what is wrong with a texture or an image, on one line. This is a finding and not a failure of the command.
fn finding(job: &mut Job<'_>, what: &str, error: &Error) {
    let causes = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let separator = if what.is_empty() { "" } else { ": " };
    job.err.extend_from_slice(format!("{what}{separator}{causes}\n").as_bytes());
}

/// The result if nothing is changed because images cannot be imported.
fn refused(bad: usize, what: &str) -> Edited {
    Edited::Nothing(format!("{bad} {what} cannot be imported, so nothing is changed"))
}

/// The result if nothing is changed because the only matching textures cannot be read.
fn nothing_else(bad: usize) -> Edited {
    Edited::Nothing(format!("{bad} of the textures cannot be read, and no others need a change"))
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
