//! `git uninstall`: takes out what `git install` has put into a repository.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::SaveOptions;
use bspkit::file::SideFile;

use super::install::{ATTRIBUTES, LINE, SETTINGS, is_line};
use super::repository::{git, line, top_level};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::show::shown;
use crate::cli::talk::Code;

/// Take out of a repository what git install has put in
///
/// Shows the line of .gitattributes and the settings of the repository that `git install` has written. With --write
/// they are taken out; a .gitattributes with nothing else is removed. Settings with other values stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git uninstall
  bspkit git uninstall --write"
))]
pub(crate) struct Args {
    /// A folder of the repository
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Take it out
    #[arg(long)]
    write: bool,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let top = top_level(&args.folder)?;
    let attributes = top.join(ATTRIBUTES);
    let mut text = String::new();
    let file = SideFile::read(&attributes)?;
    let old = std::str::from_utf8(file.bytes().unwrap_or_default());
    let old = old.with_context(|| format!("{} is not text", shown(&attributes)))?;
    let new: String = old.split_inclusive('\n').filter(|line| !is_line(line)).collect();
    if new != old {
        text += &format!("{ATTRIBUTES}: {LINE}\n");
        if args.write && new.is_empty() {
            std::fs::remove_file(&attributes).with_context(|| format!("cannot remove {}", shown(&attributes)))?;
        } else if args.write {
            file.save(new.as_bytes(), &SaveOptions::default())?;
        }
    }
    for (name, is_run, value) in SETTINGS {
        // A setting that does not exist is an error of git.
        let Ok(old) = git(&top, &["config", "--local", "--get", name]) else { continue };
        let old = line(&old)?;
        // The program may be called by its path.
        let is_own = if is_run { old.ends_with(&format!(" {value}")) } else { old == value };
        if !is_own {
            continue;
        }
        text += &format!("git config --unset {name} \"{old}\"\n");
        if args.write {
            git(&top, &["config", "--local", "--unset", name]).with_context(|| format!("cannot unset {name}"))?;
        }
    }
    cx.talk.stdout(text.as_bytes())?;
    let said = match (text.is_empty(), args.write) {
        (true, _) => "has nothing of git install",
        (false, true) => "has nothing of git install any more",
        (false, false) => "is set up; --write takes this out",
    };
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {said}\n", shown(&args.folder)).as_bytes());
    }
    Ok(Code::Done)
}
