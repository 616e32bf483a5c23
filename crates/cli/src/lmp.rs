//! `lmp`: lump files of Source maps.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::disk::{input, names, put};
use bspkit::{Bsp, ErrorKind};
use bspkit_ops::lmp::LumpFile;
use bspkit_packed::archive;

use super::context::{Context, is_stdin};
use super::talk::{Code, bad_argument};
use super::{commands, help};
use crate::maps::{MapArgs, MapFile, target_path};
use crate::output;
use crate::save::{Edited, Save};
use crate::talk::{Job, count, shown};

/// Write and read lump files, which Source games load instead of the map's lumps
///
/// Games from Episode One to Left 4 Dead 2 load `<map>_l_0.lmp`, `<map>_l_1.lmp` and so on from the folder of a map, up
/// to the first missing number; later files override earlier ones. Games of the 2013 multiplayer branch no longer load
/// them: there the lumps must be imported into the map.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit lmp export c1m1.bsp entities
  bspkit lmp import source.bsp source_l_0.lmp -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    Export(ExportArgs, run_export),
    Import(ImportArgs, run_import),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// `lmp export`: lumps into files.

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
pub(crate) struct ExportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The lumps: numbers, the dialect's names, or roles, in any case
    #[arg(value_name = "LUMP", required = true)]
    lumps: Vec<String>,
    /// The folder to write to, created if it is missing. A single lump can also be written to a file, which is replaced
    #[arg(short, long, value_name = "DIR|FILE", value_parser = output::on_disk())]
    output: Option<PathBuf>,
}

fn run_export(cx: &Context, args: &ExportArgs) -> Result<Code> {
    let is_lump_file =
        |path: &&Path| !path.is_dir() && path.extension().is_some_and(|it| it.eq_ignore_ascii_case("lmp"));
    let maps = args.maps.find();
    args.output.iter().filter(|_| maps.many).try_for_each(|output| maps.check_folder(output))?;
    let single = args.output.as_deref().filter(|path| !maps.many && is_lump_file(path));
    if single.is_some() && args.lumps.len() > 1 {
        let error = bspkit::Error::new(ErrorKind::Argument, "several lumps cannot be written to one file");
        return Err(error.with_hint("name a folder with -o, or one lump").into());
    }
    maps.each(cx, |map, job| export(&cx.open_said(&map.path, job)?, map, single, args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, single: Option<&Path>, args: &ExportArgs, job: &mut Job<'_>) -> Result<Code> {
    let mut files = Vec::new();
    for lump in &args.lumps {
        let cannot = || format!("cannot export {lump} of {}", shown(&map.path));
        let slot = bsp.slot(lump).with_context(cannot)?;
        let file = LumpFile::export(bsp, slot.id).with_context(cannot)?;
        files.push((slot.name.as_str(), file.to_bytes().with_context(cannot)?));
    }
    if single.is_none() && is_stdin(&map.path) {
        bail!("stdin has no file name: use -o FILE");
    }
    // Without `--output` the files go to the folder of the map.
    if args.output.is_none() && archive::part(&map.path).is_some() {
        let message = format!("{} is in an archive, which is not written", shown(&map.path));
        return Err(bad_argument(message, "name a folder with -o"));
    }
    let stem = match &args.output {
        Some(output) if args.maps.are_many() => map.place(output, ""),
        Some(output) => output.join(names::of_map(&map.path)),
        None => names::in_game(&map.path).with_extension(""),
    };
    let target = |number: usize| {
        let mut name = stem.clone().into_os_string();
        name.push(format!("_l_{number}.lmp"));
        single.map_or_else(|| PathBuf::from(name), Path::to_path_buf)
    };
    let targets: Vec<PathBuf> = (0..files.len()).map(target).collect();
    for target in &targets {
        output::spare(target, [&*map.path])?;
        if single.is_none() && target_path(target)?.is_some() {
            let error = bspkit::Error::new(ErrorKind::Refused, format!("{} exists already", shown(target)));
            return Err(error.with_hint("name another folder with -o, or this file for one lump").into());
        }
    }
    if let Some(folder) = stem.parent().filter(|_| single.is_none()) {
        put::folder(folder)?;
    }
    for (target, (name, bytes)) in targets.iter().zip(&files) {
        output::replace(target, [&*map.path], |mut file| file.write_all(bytes))?;
        job.say(&format!("{}: {name}, {}", shown(target), count(bytes.len(), "byte", "bytes")));
    }
    Ok(Code::Done)
}

// `lmp import`: lump files into the map.

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
pub(crate) struct ImportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The lump files, or the folder that `lmp export` wrote
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    save: Save,
}

fn run_import(cx: &Context, args: &ImportArgs) -> Result<Code> {
    // A folder has the lump files of each map, by its name.
    let is_folder = |path: &&PathBuf| path.is_dir();
    let of_all = args.files.iter().filter(|path| !is_folder(path)).cloned().collect::<Vec<_>>();
    of_all.iter().try_for_each(|file| args.save.spare(file))?;
    let of_all = read(of_all)?;
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let mut own = Vec::new();
        for folder in args.files.iter().filter(is_folder) {
            let stem = match args.maps.are_many() {
                true => map.place(folder, ""),
                false => folder.join(names::of_map(&map.path)),
            };
            own.extend(read(numbered(&stem)?)?);
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
