//! `tex`: textures, with their pixels or by their names.

mod choose;
mod embed;
mod export;
mod file_name;
mod import;
mod list;
mod rename;
mod shelf;
mod strip;
mod wal;

use anyhow::{Error, Result};

use super::context::Context;
use super::save::Edited;
use super::talk::{Code, Job};
use super::{commands, help};

/// See and change textures: the pixels in Quake and GoldSrc maps, WAD and WAL files, and the names in all maps
///
/// GLOB chooses textures: `wall` (a name), `+*` (`*` is any run of bytes without a slash, `?` one such byte), `e1u1/**`
/// (`**` is any run), `#3` (an index, as `tex list` shows it), `\xff` (a byte, as `tex list` prints it). Case does not
/// matter. What is not edited keeps every byte.
///
/// Quake II, Quake III and Source maps have no pixels in them, only names: of WAL files (Kingpin: TGA files), of
/// shaders, of materials.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit tex list c1a0.bsp
  bspkit tex export c1a0.bsp images
  bspkit tex import c1a0.bsp images -o out.bsp
  bspkit tex rename base1.bsp 'e1u1/*' 'e1u2/{1}' -o out.bsp
  bspkit tex embed c1a0.bsp halflife.wad -o out.bsp"
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

/// Says what is wrong with a texture or an image, on one line: a finding, and no failure of the command.
fn finding(job: &mut Job<'_>, what: &str, error: &Error) {
    let causes = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let separator = if what.is_empty() { "" } else { ": " };
    job.err.extend_from_slice(format!("{what}{separator}{causes}\n").as_bytes());
}

/// That an edit leaves everything as it was, because this many of the textures or images cannot be taken.
fn refused(bad: usize, what: &str) -> Edited {
    Edited::Nothing(format!("{bad} {what} cannot be taken, so nothing is changed"))
}

/// That an edit leaves everything as it was, as there is nothing but what cannot be read.
fn nothing_else(bad: usize) -> Edited {
    Edited::Nothing(format!("{bad} of the textures cannot be read, and there is nothing else to change"))
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
