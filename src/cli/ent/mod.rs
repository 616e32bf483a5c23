//! `ent`: the entities of a map.

mod add;
mod apply;
mod diff;
mod dup;
mod edit;
mod export;
mod fmt;
mod get;
mod import;
mod list;
mod listed;
mod mv;
mod patch;
mod rename_key;
mod rm;
mod select;
mod set;
mod unset;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};

/// Read and edit the entities
///
/// SEL selects entities: `light` (a class), `info_player_*`, `#17` (an index), `*` (all), `[targetname]` (has this
/// key), `[style=32]`, `[target^=door_]` (starts with), `[target$=_1]` (ends with), `[target*=oor]` (contains),
/// `[message~/re/i]` (matches a regular expression; `i` ignores case), `[wait>2]`, `<`, `>=`, `<=` (if the value is one
/// number), `:not(SEL)`. These can follow a class or each other. `light,#17` selects both. Case matters in values, but
/// not in classes and keys.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit ent list dm4.bsp light
  bspkit ent get dm4.bsp worldspawn message
  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent list dm4.bsp 'light[style>=32]:not([targetname]),[message~/^the /i]'
  bspkit ent rm maps 'info_null' -o cleaned"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    List(list),
    Get(get),
    Set(set),
    Unset(unset),
    RenameKey(rename_key),
    Add(add),
    Dup(dup),
    Rm(rm),
    Mv(mv),
    Export(export),
    Import(import),
    Edit(edit),
    Fmt(fmt),
    Diff(diff),
    Patch(patch),
    Apply(apply),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}
