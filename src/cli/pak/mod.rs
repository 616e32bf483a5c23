//! `pak`: the files embedded in a Source map.

mod add;
mod choose;
mod compress;
mod extract;
mod list;
mod list_file;
mod mv;
mod place;
mod rm;
mod verify;

use anyhow::Result;
use bspkit::Bsp;
use bspkit::dialect::Role;
use clap::Subcommand;

use super::help;
use super::options::Options;
use super::talk::{Code, Talk};

/// Read and edit the embedded files of a Source map
///
/// GLOB chooses files: `materials/my/wall.vmt` (a name), `materials/*.vmt` (in this folder), `materials/**` (in this
/// folder and those in it), `**/wall.vmt` and `*.vmt` (in any folder), `#3` (an index, as `pak list` shows it). Case
/// does not matter, and `\` is `/`, as for the engines. What is not edited keeps every byte.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit pak list map.bsp
  bspkit pak extract map.bsp files '*.vmt'
  bspkit pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp
  bspkit pak rm map.bsp 'materials/maps/**' -o out.bsp
  bspkit pak verify map.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Verify(verify::Args),
    Extract(extract::Args),
    Add(add::Args),
    Rm(rm::Args),
    Mv(mv::Args),
    Compress(compress::Compress),
    Store(compress::Store),
}

/// What is wrong with the place of a map's pakfile, which may seem whole all the same.
pub(super) fn damage(bsp: &Bsp<'_>) -> Option<String> {
    let slot = bsp.role(Role::Pak).filter(|slot| slot.bounds.is_damaged())?;
    Some(format!("{} {}: offset {}, {} bytes", slot.name, slot.bounds, slot.offset, slot.length))
}

pub(crate) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    match &args.command {
        Command::List(args) => list::run(options, talk, args),
        Command::Verify(args) => verify::run(options, talk, args),
        Command::Extract(args) => extract::run(options, talk, args),
        Command::Add(args) => add::run(options, talk, args),
        Command::Rm(args) => rm::run(options, talk, args),
        Command::Mv(args) => mv::run(options, talk, args),
        Command::Compress(args) => compress::compress(options, talk, args),
        Command::Store(args) => compress::store(options, talk, args),
    }
}
