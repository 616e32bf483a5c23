//! `pak extract`: writes embedded files to disk, only below the named folder.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::pak::{Entry, Pak};
use bspkit::threads::{WORKING_MEMORY, in_parallel_within};

use super::names_of;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile};
use crate::cli::put::put;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};
use bspkit::face::names::path as os_path;
use bspkit::face::pak::paths;

/// Write embedded files below a folder, decompressed
///
/// A file is refused if its name leads out of the folder, if some operating system does not allow the name, or if its
/// path contains a symbolic link. If names differ only in case, the later ones get a number.
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

/// An embedded file, and the path to write it to.
struct Target {
    index: usize,
    path: PathBuf,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find().one_by_one();
    maps.check_folder(&args.folder)?;
    maps.each(cx, |map, job| extract(&cx.open(&map.path)?, map, cx.options.jobs(), args, job))
}

fn extract(bsp: &Bsp<'_>, map: &MapFile, threads: usize, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot extract from {}", shown(&map.path));
    super::damage(bsp).iter().for_each(|damage| job.warn_here(damage));
    let pak = bsp.pak().with_context(cannot)?;
    let names = names_of(&pak);
    let indices = names.chosen(&args.patterns, job);
    if indices.is_empty() && !args.patterns.is_empty() {
        return Ok(job.nothing(&names.nothing(&args.patterns)));
    }
    pak.check_total_size(&indices).with_context(cannot)?;
    let folder = &map.place(&args.folder, "");
    let cannot = || format!("cannot extract to {}", shown(folder));
    fs::create_dir_all(folder).with_context(cannot)?;
    let targets = plan(&pak, &indices, folder, job);
    let memory = |target: &Target| pak.get(target.index).map_or(0, |entry| entry.memory());
    let said = in_parallel_within(threads, WORKING_MEMORY, &targets, memory, |target| {
        pak.get(target.index).map_or(Ok(None), |entry| write(&entry, &target.path, args.force))
    });
    let mut written = 0;
    for (target, said) in targets.iter().zip(said) {
        match said {
            Ok(warning) => {
                written += 1;
                warning.iter().for_each(|text| job.warn_here(text));
            }
            Err(error) => job.fail(&error.context(format!("cannot extract {}", name(&pak, target.index)))),
        }
    }
    job.say(&format!("{}: {}", shown(folder), count(written, "file", "files")));
    Ok(job.code)
}

fn name(pak: &Pak<'_>, index: usize) -> String {
    pak.get(index).map_or(String::new(), |entry| escaped(entry.name()).to_string())
}

/// Finds the path of every file, and creates the folders.
fn plan(pak: &Pak<'_>, indices: &[usize], folder: &Path, job: &mut Job<'_>) -> Vec<Target> {
    let mut folders = HashSet::new();
    let mut targets = Vec::with_capacity(indices.len());
    for place in paths(pak, indices) {
        let Some(entry) = pak.get(place.index) else { continue };
        let placed = place.path.map_err(|why| anyhow!(why)).and_then(|path| {
            let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
            if place.is_folder {
                make_folders(folder, &parts, &mut folders)?;
                return Ok(None);
            }
            let (last, above) = parts.split_last().ok_or_else(|| anyhow!("its name is empty"))?;
            let path = make_folders(folder, above, &mut folders)?.join(os_path(last)?);
            Ok(Some((path, place.first)))
        });
        match placed {
            Ok(None) => {}
            Ok(Some((path, first))) => {
                if let Some(first) = first {
                    let (own, other) = (escaped(entry.name()), name(pak, first));
                    job.warn_here(&format!(
                        "`{own}` has the same name as file #{first}, `{other}`: written to {}",
                        shown(&path)
                    ));
                }
                targets.push(Target { index: entry.index(), path });
            }
            Err(error) => job.fail(&error.context(format!("cannot extract {}", escaped(entry.name())))),
        }
    }
    targets
}

/// Creates the folders of a path below `base`. Symbolic links are refused.
fn make_folders(base: &Path, parts: &[&[u8]], made: &mut HashSet<PathBuf>) -> Result<PathBuf> {
    let mut path = base.to_path_buf();
    for part in parts {
        path.push(os_path(part)?);
        if made.contains(&path) {
            continue;
        }
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => bail!("{} is a symbolic link, which is not followed", shown(&path)),
            Ok(there) if there.is_dir() => {}
            Ok(_) => bail!("{} is a file, but a folder is needed", shown(&path)),
            Err(_) => fs::create_dir(&path).with_context(|| format!("cannot create the folder {}", shown(&path)))?,
        }
        made.insert(path.clone());
    }
    Ok(path)
}

fn write(entry: &Entry<'_, '_>, path: &Path, force: bool) -> Result<Option<String>> {
    let data = entry.data()?;
    put(path, &data, force)?;
    Ok(warning(entry, &data))
}

fn warning(entry: &Entry<'_, '_>, data: &[u8]) -> Option<String> {
    let is_right = entry.has_crc_of(data);
    (!is_right).then(|| format!("`{}` does not have the checksum that the directory states", escaped(entry.name())))
}
