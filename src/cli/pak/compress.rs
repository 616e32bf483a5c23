//! `pak compress`: compresses embedded files. Also the code that `pak store` shares with it.

use std::collections::HashSet;
use std::ffi::OsString;

use anyhow::{Error, Result};
use bspkit::content::pak::{Packed, Pak};

use super::names_of;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Compress embedded files with LZMA if that makes them smaller
///
/// Files of the types mp3, wav, ogg, ani and vcs stay as they are, since engines cannot read them compressed.
/// Compressed files stay byte for byte. Team Fortress 2, the other games of its engine and their relatives read such
/// maps; Left 4 Dead, Portal 2, Counter-Strike: Global Offensive and older games do not.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak compress map.bsp -o out.bsp
  bspkit pak compress map.bsp '*.vtf' '*.vmt' --not 'materials/skybox/**' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
}

// The arguments of both commands. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(super) struct Which {
    #[command(flatten)]
    maps: MapArgs,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Except these files; can be repeated
    #[arg(long, value_name = "GLOB")]
    not: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    each(cx, &args.which, true, Pak::compress)
}

pub(super) type Work<'a> = fn(&mut Pak<'a>, &[usize], usize) -> bspkit::Result<Packed>;

pub(super) fn each(cx: &Context, args: &Which, is_compressing: bool, work: Work<'static>) -> Result<Code> {
    args.save.each(cx, args.maps.find().one_by_one(), |draft, _, job| {
        job.lists_all = true;
        let caveat = draft.bsp().compression_caveat().filter(|_| is_compressing);
        let pak = draft.pak()?;
        let names = names_of(pak);
        let mut indices = names.chosen(&args.patterns, job);
        let not: HashSet<usize> = args.not.iter().flat_map(|pattern| names.of(pattern)).collect();
        indices.retain(|index| !not.contains(index));
        if indices.is_empty() {
            let excepted = !not.is_empty();
            let what = if excepted { "--not excludes all files".to_owned() } else { names.nothing(&args.patterns) };
            return Ok(Edited::Nothing(what));
        }
        let Packed { changed, bytes: (before, after), failed, .. } = work(pak, &indices, cx.options.jobs())?;
        for (index, error) in failed {
            job.warn_here(&format!("file #{index} stays as it is: {:#}", Error::new(error)));
        }
        if let Some(caveat) = caveat.filter(|_| changed > 0) {
            job.warn_here(caveat);
        }
        let files = count(indices.len(), "file", "files");
        let done = if is_compressing { "compressed" } else { "stored" };
        job.say(&format!("{}: {changed} of {files} {done}, {before} -> {after} bytes", job.path));
        Ok(Edited::Done)
    })
}
