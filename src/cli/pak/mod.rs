//! `pak`: the files embedded in a Source map.

mod add;
mod compress;
mod diff;
mod extract;
mod fill;
mod game;
mod list;
pub(super) mod list_file;
mod missing;
mod mv;
mod notices;
mod refs;
mod refs_json;
mod rm;
mod set_time;
mod sort;
mod store;
mod sync;
mod unused;
mod verify;

use anyhow::Result;
use bspkit::Bsp;
use bspkit::content::pak::Pak;
use bspkit::dialect::Role;

use super::choose::Names;
use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// Read and edit the embedded files of a Source map
///
/// GLOB selects files: `materials/my/wall.vmt` (a name), `materials/*.vmt` (in this folder), `materials/**` (in this
/// folder and its subfolders), `**/wall.vmt` and `*.vmt` (in any folder), `#3` (an index, as `pak list` shows it),
/// `=what?.vmt` (a name, without wildcards). As in the engines, case does not matter, and `\` is the same as `/`. Files
/// that are not edited keep every byte.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit pak list map.bsp
  bspkit pak extract map.bsp files '*.vmt'
  bspkit pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp
  bspkit pak rm map.bsp 'materials/maps/**' -o out.bsp
  bspkit pak verify map.bsp
  bspkit pak refs map.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    List(list),
    Verify(verify),
    Refs(refs),
    Extract(extract),
    Add(add),
    Rm(rm),
    Mv(mv),
    Sync(sync),
    Missing(missing),
    Unused(unused),
    Fill(fill),
    Diff(diff),
    SetTime(set_time),
    Sort(sort),
    Compress(compress),
    Store(store),
}

/// A fault in the position of the pakfile in the map. The pakfile itself may be readable.
pub(super) fn damage(bsp: &Bsp<'_>) -> Option<String> {
    let slot = bsp.role(Role::Pak).filter(|slot| slot.bounds.is_damaged())?;
    Some(format!("{} {}: offset {}, {} bytes", slot.name, slot.bounds, slot.offset, slot.length))
}

/// The names of all embedded files.
fn names_of(pak: &Pak<'_>) -> Names {
    let names = pak.iter().map(|file| Some(file.name().to_vec()));
    Names { kind: "embedded files", names: names.collect(), has_escapes: false }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
