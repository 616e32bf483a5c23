//! `completions`: the completion script of a shell.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use super::context::Context;
use super::talk::Code;
use super::{Cli, help};

/// Print the completion script of a shell
///
/// Save it where your shell looks for completions; the examples show the usual file names.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit completions bash > bspkit.bash
  bspkit completions zsh > _bspkit
  bspkit completions fish > bspkit.fish
  bspkit completions powershell > bspkit.ps1"
))]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bspkit", &mut script);
    cx.talk.stdout(&script)?;
    Ok(Code::Done)
}
