//! `lmp export`: lumps into files.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::face::put;
use bspkit::file::replace;
use bspkit::op::lmp::LumpFile;
use bspkit::{Bsp, ErrorKind};

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile, real_path, target_path};
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Write lumps of a Source map to lump files
///
/// The files are named `<map>_l_0.lmp`, `<map>_l_1.lmp` and so on, in the order of the lumps, and are written to the
/// folder of the map, where games look for them. Existing files are not replaced. Lumps are decompressed. The members
/// of a game lump keep their offsets in this map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit lmp export c1m1.bsp entities
  bspkit lmp export c1m1.bsp entities models -o lumps
  bspkit lmp export c1m1.bsp 0 -o c1m1_l_7.lmp
  bspkit lmp export sources entities -o lump_files"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The lumps: numbers, the dialect's names, or roles, in any case
    #[arg(value_name = "LUMP", required = true)]
    lumps: Vec<String>,
    /// The folder to write to, created if it is missing. A single lump can also be written to a file, which is replaced
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let is_lump_file =
        |path: &&Path| !path.is_dir() && path.extension().is_some_and(|it| it.eq_ignore_ascii_case("lmp"));
    let maps = args.maps.find();
    args.output.iter().filter(|_| maps.many).try_for_each(|output| maps.check_folder(output))?;
    let single = args.output.as_deref().filter(|path| !maps.many && is_lump_file(path));
    if single.is_some() && args.lumps.len() > 1 {
        let error = bspkit::Error::new(ErrorKind::Argument, "several lumps cannot be written to one file");
        return Err(error.with_hint("name a folder with -o, or one lump").into());
    }
    maps.each(cx, |map, job| export(&cx.open(&map.path)?, map, single, args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, single: Option<&Path>, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let mut files = Vec::new();
    for lump in &args.lumps {
        let cannot = || format!("cannot export {lump} of {}", shown(&map.path));
        let slot = bsp.slot(lump).with_context(cannot)?;
        let file = LumpFile::export(bsp, slot.id).with_context(cannot)?;
        files.push((slot.name.as_str(), file.to_bytes().with_context(cannot)?));
    }
    // Without `--output` the files go to the folder of the map.
    let stem = match &args.output {
        Some(output) if args.maps.are_many() => map.place(output, ""),
        Some(output) => output.join(map.path.file_stem().unwrap_or_default()),
        None => map.path.with_extension(""),
    };
    let target = |number: usize| {
        let mut name = stem.clone().into_os_string();
        name.push(format!("_l_{number}.lmp"));
        single.map_or_else(|| PathBuf::from(name), Path::to_path_buf)
    };
    let targets: Vec<PathBuf> = (0..files.len()).map(target).collect();
    for target in &targets {
        let real = target_path(target)?;
        if real.is_some() && real == real_path(&map.path)? {
            bail!("{} is the input map: name another file for the lump", shown(target));
        }
        if real.is_some() && single.is_none() {
            let error = bspkit::Error::new(ErrorKind::Refused, format!("{} exists already", shown(target)));
            return Err(error.with_hint("name another folder with -o, or this file for one lump").into());
        }
    }
    if let Some(folder) = stem.parent().filter(|_| single.is_none()) {
        put::folder(folder)?;
    }
    for (target, (name, bytes)) in targets.iter().zip(&files) {
        replace(target, &SaveOptions::default(), |mut file| file.write_all(bytes))?;
        job.say(&format!("{}: {name}, {}", shown(target), count(bytes.len(), "byte", "bytes")));
    }
    Ok(Code::Done)
}
