//! `lmp export`: lumps into files.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bspkit::ErrorKind;
use bspkit::file::replace;
use bspkit::op::lmp::LumpFile;

use crate::cli::help;
use crate::cli::maps::real_path;
use crate::cli::options::Options;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job, Talk};

/// Write lumps of a Source map to lump files
///
/// They are called `<map>_l_0.lmp`, `<map>_l_1.lmp` and so on, in the order of the lumps, and stand beside the map, where
/// games look for them; no file that is there is replaced. Lumps are decompressed. The members of a game lump keep their
/// offsets in this map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit lmp export c1m1.bsp entities
  bspkit lmp export c1m1.bsp entities models -o lumps
  bspkit lmp export c1m1.bsp 0 -o c1m1_l_7.lmp"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Numbers, the dialect's names for lumps or their roles, in any case
    #[arg(value_name = "LUMP", required = true)]
    lumps: Vec<String>,
    /// Where to: a folder, which is made where there is none; for a single lump a file too, which is replaced
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let bsp = options.open(&args.map)?;
    let mut files = Vec::new();
    for lump in &args.lumps {
        let cannot = || format!("cannot export {lump} of {}", shown(&args.map));
        let slot = bsp.slot(lump).with_context(cannot)?;
        let file = LumpFile::export(&bsp, slot.id).with_context(cannot)?;
        files.push((slot.name.as_str(), file.to_bytes().with_context(cannot)?));
    }
    let is_lump_file =
        |path: &&PathBuf| !path.is_dir() && path.extension().is_some_and(|it| it.eq_ignore_ascii_case("lmp"));
    let single = args.output.as_ref().filter(is_lump_file);
    if single.is_some() && files.len() > 1 {
        let error = bspkit::Error::new(ErrorKind::Argument, "several lumps do not go into one file");
        return Err(error.hint("name a folder with -o, or one lump").into());
    }
    let folder = match (&args.output, args.map.parent()) {
        (Some(output), _) => output.as_path(),
        (None, Some(folder)) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut job = Job::new(talk, &args.map);
    let mut targets: Vec<PathBuf> = Vec::new();
    for number in 0..files.len() {
        let mut name = args.map.file_stem().unwrap_or_default().to_owned();
        name.push(format!("_l_{number}.lmp"));
        let target = single.cloned().unwrap_or_else(|| folder.join(name));
        let cannot = || format!("cannot write {}", shown(&target));
        let real = real_path(&target).with_context(cannot)?;
        if real.is_some() && real == real_path(&args.map).with_context(cannot)? {
            bail!("{} is the map: the lump needs a file of its own", shown(&target));
        }
        if real.is_some() && single.is_none() {
            let error = bspkit::Error::new(ErrorKind::Refused, format!("{} is there already", shown(&target)));
            return Err(error.hint("name another folder with -o, or this file for one lump").into());
        }
        targets.push(target);
    }
    if single.is_none() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", shown(folder)))?;
    }
    for (target, (name, bytes)) in targets.iter().zip(&files) {
        replace(target, None, |mut file| file.write_all(bytes))
            .with_context(|| format!("cannot write {}", shown(target)))?;
        job.say(&format!("{}: {name}, {}", shown(target), count(bytes.len(), "byte", "bytes")));
    }
    talk.stderr(&job.err);
    Ok(Code::Done)
}
