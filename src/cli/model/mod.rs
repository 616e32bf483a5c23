//! `model`: brush models.

mod copy;
mod list;
mod rm;

use anyhow::Result;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};
pub(super) use rm::gone;

/// List, remove and copy brush models
///
/// A brush model is a part of a map that moves or triggers something: a door, a lift, a trigger. Entities name it `*1`,
/// `*2` and so on. `*0` is the world.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit model list base1.bsp
  bspkit model rm base1.bsp '*2' -o out.bsp
  bspkit model copy base1.bsp --from base2.bsp '*1' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    List(list),
    Rm(rm),
    Copy(copy),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}

/// The name of a model: `*2`, or its number.
#[derive(Clone, Copy, Debug)]
struct ModelName(usize);

impl std::str::FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix('*').unwrap_or(text).parse();
        number.map(ModelName).map_err(|_| format!("`{text}` is not the name of a model, such as `*2`"))
    }
}
