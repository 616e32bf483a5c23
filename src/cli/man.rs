//! `man`: manual pages, made from the help texts.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::face::put::{self, put};
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::context::Context;
use super::show::{count, shown};
use super::talk::Code;
use super::{Cli, help};

/// Print the manual page of the program, or write one page per command to a folder
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit man > bspkit.1
  bspkit man man1"
))]
pub(crate) struct Args {
    /// The folder to write to: one page for the program and one for each command
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "folder")]
    force: bool,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut program = Cli::command().disable_help_subcommand(true);
    // Gives the commands their full names and the common options.
    program.build();
    let Some(folder) = &args.folder else {
        cx.talk.stdout(&page(program)?)?;
        return Ok(Code::Done);
    };
    let mut pages = Vec::new();
    pages_of(&program, &mut pages)?;
    put::folder(folder)?;
    for (name, page) in &pages {
        put(&folder.join(format!("{name}.1")), page, args.force)?;
    }
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {}\n", shown(folder), count(pages.len(), "page", "pages")).as_bytes());
    }
    Ok(Code::Done)
}

/// The pages of a command and its subcommands, by name: `bspkit-ent-set`.
fn pages_of(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((name.to_owned(), page(command.clone())?));
    command.get_subcommands().try_for_each(|command| pages_of(command, pages))
}

fn page(command: Command) -> Result<Vec<u8>> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("cannot make a manual page")?;
    // Without a date clap_mangen puts the name of the program in its place, and the title of a command has no version.
    let title = format!(".TH {name} 1 \"\" \"bspkit {}\"\n", env!("CARGO_PKG_VERSION"));
    let is_title = |line: &&[u8]| line.starts_with(b".TH ");
    let lines = page.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.flat_map(|line| if is_title(&line) { title.as_bytes() } else { line }).copied().collect())
}
