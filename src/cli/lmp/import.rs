//! `lmp import`: lump files into the map.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bspkit::op::lmp::LumpFile;

use crate::cli::help;
use crate::cli::options::Options;
use crate::cli::save::{Edited, Save};
use crate::cli::show::shown;
use crate::cli::talk::{Code, Talk};

/// Replace lumps of a Source map by those in lump files
///
/// Of several files for one lump the one with the highest number in its name wins, as in the games; where a name has no
/// number (`_l_0.lmp`) the last one named. The lump's version goes into the map's directory. The offsets in a game lump
/// are moved to where the map's own stands.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit lmp import source.bsp source_l_0.lmp -o out.bsp
  bspkit lmp import source.bsp source_l_0.lmp --in-place --backup"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// The lump files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let mut files = Vec::new();
    for path in &args.files {
        let cannot = || format!("cannot read {}", shown(path));
        let bytes = std::fs::read(path).with_context(cannot)?;
        files.push((path, LumpFile::parse(&bytes).with_context(cannot)?));
    }
    if files.iter().all(|(path, _)| number(path).is_some()) {
        files.sort_by_key(|(path, _)| number(path));
    }
    args.save.each(options, talk, &args.map, |draft, job| {
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

/// The number in `<map>_l_<number>.lmp`.
fn number(path: &Path) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    stem.rsplit_once("_l_")?.1.parse().ok()
}
