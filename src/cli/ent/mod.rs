//! `ent`: the entities of a map.

mod add;
mod diff;
mod dup;
mod export;
mod fmt;
mod get;
mod import;
mod list;
mod mv;
mod patch;
mod rename_key;
mod rm;
mod select;
mod set;
mod unset;

use anyhow::Result;
use clap::Subcommand;

use super::help;
use super::options::Options;
use super::talk::{Code, Talk};

/// Read and edit the entities
///
/// SEL chooses entities: `light` (a class), `info_player_*`, `#17` (an index), `*` (all), `[targetname]` (those
/// with this key), `[style=32]`, `[target^=door_]` (begins so), `[target$=_1]` (ends so), `[target*=oor]` (contains
/// this), `[message~/re/i]` (a regular expression; `i`: in any case), `[wait>2]`, `<`, `>=`, `<=` (where the whole value
/// is one number), `:not(SEL)`; these may follow a class or each other. `light,#17` is either. Classes and keys compare
/// without regard to case, values with.
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

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Get(get::Args),
    Set(set::Args),
    Unset(unset::Args),
    RenameKey(rename_key::Args),
    Add(add::Args),
    Dup(dup::Args),
    Rm(rm::Args),
    Mv(mv::Args),
    Export(export::Args),
    Import(import::Args),
    Fmt(fmt::Args),
    Diff(diff::Args),
    Patch(patch::Args),
}

pub(crate) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    match &args.command {
        Command::List(args) => list::run(options, talk, args),
        Command::Get(args) => get::run(options, talk, args),
        Command::Set(args) => set::run(options, talk, args),
        Command::Unset(args) => unset::run(options, talk, args),
        Command::RenameKey(args) => rename_key::run(options, talk, args),
        Command::Add(args) => add::run(options, talk, args),
        Command::Dup(args) => dup::run(options, talk, args),
        Command::Rm(args) => rm::run(options, talk, args),
        Command::Mv(args) => mv::run(options, talk, args),
        Command::Export(args) => export::run(options, talk, args),
        Command::Import(args) => import::run(options, talk, args),
        Command::Fmt(args) => fmt::run(options, talk, args),
        Command::Diff(args) => diff::run(options, talk, args),
        Command::Patch(args) => patch::run(options, talk, args),
    }
}
