//! `lmp import`: lump files into the map.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::op::lmp::LumpFile;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::shown;
use crate::cli::talk::Code;
use bspkit::face::input;

/// Replace lumps of a Source map with those in lump files
///
/// If several files hold the same lump, the highest number in the file name wins, as in the games. If a file name has
/// no number (`_l_0.lmp`), the last argument wins. The lump's version is written to the map's directory. The offsets in
/// a game lump are changed to its place in the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit lmp import source.bsp source_l_0.lmp -o out.bsp
  bspkit lmp import source.bsp source_l_0.lmp --in-place --backup
  bspkit lmp import sources lump_files -o edited"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The lump files; for a folder of maps also the folder that `lmp export` wrote
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    // For several maps, a folder has the lump files of each map.
    let is_folder = |path: &&PathBuf| args.maps.are_many() && path.is_dir();
    let of_all = args.files.iter().filter(|path| !is_folder(path)).cloned().collect::<Vec<_>>();
    of_all.iter().try_for_each(|file| args.save.spare(file))?;
    let of_all = read(of_all)?;
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let mut own = Vec::new();
        for folder in args.files.iter().filter(is_folder) {
            own.extend(read(numbered(&map.place(folder, ""))?)?);
        }
        let mut files: Vec<&(PathBuf, LumpFile)> = of_all.iter().chain(&own).collect();
        if files.is_empty() {
            return Ok(Edited::Nothing("no lump file for this map".to_owned()));
        }
        if files.iter().all(|(path, _)| number(path).is_some()) {
            files.sort_by_key(|(path, _)| number(path));
        }
        for (index, (path, file)) in files.iter().enumerate() {
            if let Some((later, _)) = files[index + 1..].iter().find(|(_, later)| later.id == file.id) {
                job.warn(&format!("{}: {} holds the same lump and overrides it", shown(path), shown(later)));
                continue;
            }
            let warnings = file.import(draft).with_context(|| format!("cannot import {}", shown(path)))?;
            warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(path))));
        }
        Ok(Edited::Done)
    })
}

fn read(paths: Vec<PathBuf>) -> Result<Vec<(PathBuf, LumpFile)>> {
    let file = |path: PathBuf| {
        let cannot = || format!("cannot read {}", shown(&path));
        let bytes = input::read(&path)?;
        let file = LumpFile::parse(&bytes).with_context(cannot)?;
        Ok((path, file))
    };
    paths.into_iter().map(file).collect()
}

/// The lump files of a map, as games look for them: numbered from 0, up to the first missing number.
fn numbered(stem: &Path) -> bspkit::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    loop {
        let mut name = stem.as_os_str().to_owned();
        name.push(format!("_l_{}.lmp", found.len()));
        match PathBuf::from(name) {
            file if input::is_there(&file)? => found.push(file),
            _ => return Ok(found),
        }
    }
}

/// The number in `<map>_l_<number>.lmp`.
fn number(path: &Path) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    stem.rsplit_once("_l_")?.1.parse().ok()
}
