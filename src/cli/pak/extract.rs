//! `pak extract`: writes embedded files to disk, only below the named folder.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::face::pak::{Extracted, extract};

use super::names_of;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile};
use crate::cli::show::{Few, count, shown};
use crate::cli::talk::{Code, Job};

/// Write embedded files below a folder, decompressed
///
/// A file is refused, and the others are written, if its name leads out of the folder, if some operating system does
/// not allow the name, if the name has a meaning to programs (a part of it begins with `.`, `-` or `~`; short names of
/// Windows; programs; characters that are not shown), or if its path contains a symbolic link. The exit status is 2
/// then. If names differ only in case, the later ones get a number.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak extract map.bsp files
  bspkit pak extract map.bsp files '*.vmt' 'sound/**'
  bspkit pak extract tf/maps files"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to, created if it is missing; for several maps, it gets a folder for each
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Replace existing files that differ
    #[arg(long)]
    force: bool,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find().one_by_one();
    maps.check_folder(&args.folder)?;
    maps.each(cx, |map, job| of_map(&cx.open(&map.path)?, map, cx.options.jobs(), args, job))
}

fn of_map(bsp: &Bsp<'_>, map: &MapFile, threads: usize, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot extract from {}", shown(&map.path));
    super::damage(bsp).iter().for_each(|damage| job.warn_here(damage));
    let pak = bsp.pak().with_context(cannot)?;
    let names = names_of(&pak);
    let indices = names.chosen(&args.patterns, job);
    if indices.is_empty() && !args.patterns.is_empty() {
        return Ok(job.nothing(&names.nothing(&args.patterns)));
    }
    let folder = &map.place(&args.folder, "");
    let extracted = extract(&pak, &indices, folder, threads, args.force).with_context(cannot)?;
    let (mut written, mut refused) = (0, 0);
    let mut few = Few::new(job.talk.verbose);
    for Extracted { path, warnings, .. } in extracted {
        warnings.iter().filter(|_| few.takes("warnings")).for_each(|text| job.warn_here(text));
        match path {
            Ok(_) => written += 1,
            Err(error) => {
                refused += 1;
                match few.takes("not written") {
                    true => job.fail(&error.into()),
                    false => job.code = Code::Failed,
                }
            }
        }
    }
    few.rest().for_each(|rest| job.warn_here(&rest));
    let others = if refused > 0 { format!(", {refused} not written") } else { String::new() };
    job.say(&format!("{}: {}{others}", shown(folder), count(written, "file", "files")));
    Ok(job.code)
}
