//! `git install`: what git has to know to compare and merge maps.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::SaveOptions;
use bspkit::file::SideFile;

use super::repository::{git, line, top_level};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::show::shown;
use crate::cli::talk::Code;

/// Set up a repository so that git compares and merges maps
///
/// Shows which lines of .gitattributes and which settings of the repository are missing. With --write they are written.
/// Lines of .gitattributes are for all who use the repository; settings are for this clone, so each clone needs this
/// command once. Nothing outside of the repository changes.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git install
  bspkit git install --write"
))]
pub(crate) struct Args {
    /// A folder of the repository
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Write it
    #[arg(long)]
    write: bool,
}

/// The file with the attributes of paths.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// Maps are never changed by git, such as their line ends. Names have letters of any case.
pub(super) const LINE: &str = "*.[bB][sS][pP] -text diff=bspkit merge=bspkit";

/// Settings of the repository, after the program where it is run. Names of maps may begin with a hyphen.
pub(super) const SETTINGS: [(&str, bool, &str); 3] = [
    ("diff.bspkit.textconv", true, "git textconv --"),
    ("merge.bspkit.name", false, "maps of the BSP family"),
    ("merge.bspkit.driver", true, "git merge --path=%P -- %O %A %B"),
];

/// Whether a line of attributes is that of maps.
pub(super) fn is_line(line: &str) -> bool {
    line.split_whitespace().eq(LINE.split_whitespace())
}

/// The program as a shell finds it: its name if that is on the path, or else where it is.
fn program() -> Result<String> {
    let name = format!("bspkit{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(&name).is_file()) {
        return Ok("bspkit".to_owned());
    }
    let own = std::env::current_exe().context("cannot find the program")?;
    let own = own.to_str().context("the path of the program is not UTF-8")?;
    Ok(format!("'{}'", own.replace('\'', r"'\''")))
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let top = top_level(&args.folder)?;
    let attributes = top.join(ATTRIBUTES);
    let mut text = String::new();
    let file = SideFile::read(&attributes)?;
    let old = std::str::from_utf8(file.bytes().unwrap_or_default());
    let old = old.with_context(|| format!("{} is not text", shown(&attributes)))?;
    let is_there = old.lines().any(is_line);
    if !is_there {
        text += &format!("{ATTRIBUTES}: {LINE}\n");
        if args.write {
            let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
            let new = format!("{old}{end}{LINE}\n");
            file.save(new.as_bytes(), &SaveOptions::default())?;
        }
    }
    let program = program()?;
    for (name, is_run, value) in SETTINGS {
        let value = &*if is_run { format!("{program} {value}") } else { value.to_owned() };
        // A setting that does not exist is an error of git.
        let old = git(&top, &["config", "--local", "--get", name]).ok();
        if old.as_deref().and_then(|old| line(old).ok()) == Some(value) {
            continue;
        }
        text += &format!("git config {name} \"{value}\"\n");
        if args.write {
            git(&top, &["config", "--local", name, value]).with_context(|| format!("cannot set {name}"))?;
        }
    }
    cx.talk.stdout(text.as_bytes())?;
    let said = match (text.is_empty(), args.write) {
        (true, _) => "is set up already",
        (false, true) => "is set up",
        (false, false) => "is not set up; --write writes these lines",
    };
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {said}\n", shown(&args.folder)).as_bytes());
    }
    Ok(Code::Done)
}
