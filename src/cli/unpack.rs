//! `unpack`: a map as a folder of ordinary files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::face::folder::{How, Target, unpack};
use bspkit::face::records::Format;
use bspkit::file::names;
use bspkit::{Bsp, Error, ErrorKind};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::{MapArgs, MapFile, real_path};
use super::records::formats;
use super::report::Report;
use super::show::{count, shown};
use super::talk::{Code, Job};

/// Take a map apart into a folder of ordinary files
///
/// Entities become text (.ent), embedded files become files, light, textures and visibility become images, small
/// lumps with records become JSON lines, and other lumps become files of bytes. manifest.json names them. The folder
/// `original` holds everything else, so that `pack` gives the very same map again, byte for byte. Edited files change
/// only what they must. Two unpacks of a map are the same folder.
///
/// For several maps, each map has its own folder below DIR, with the name of the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit unpack dm4.bsp dm4
  bspkit unpack c1m4.bsp c1m4 --text faces --format csv
  bspkit unpack maps unpacked --force"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to: a new or an empty one
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The format of records [default: json]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Write the records of this lump as text even if it is larger than 64 KiB; `all` is every lump
    #[arg(long, value_name = "LUMP")]
    text: Vec<String>,
    /// Write light, textures and visibility as bytes, and not as images
    #[arg(long)]
    no_images: bool,
    /// Use the flag names of this game [default: those of the dialect]
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// Replace the files of an unpacked map, or add files to a folder that is not empty
    #[arg(long)]
    force: bool,
    /// Write nothing; print the files that would be written
    #[arg(long)]
    dry_run: bool,
    /// Print the files as JSON; for several maps, one line for each
    #[arg(long)]
    json: bool,
}

/// A file of the folder.
#[derive(Serialize)]
struct FileJson {
    name: String,
    bytes: usize,
}

/// What was written.
#[derive(Serialize)]
struct Done {
    folder: String,
    dry_run: bool,
    files: Vec<FileJson>,
    warnings: Vec<String>,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find().json(args.json);
    maps.check_folder(&args.folder)?;
    let mut how = How::default();
    (how.format, how.text, how.game) = (args.format, args.text.clone(), args.game.clone());
    how.no_images = args.no_images;
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let folder = map.place(&args.folder, "");
        take_apart(&bsp, map, &folder, &how, args, job)
            .with_context(|| format!("cannot unpack {} to {}", shown(&map.path), shown(&folder)))
    })
}

fn take_apart(bsp: &Bsp<'_>, map: &MapFile, folder: &Path, how: &How, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    names::refuse(folder)?;
    refuse(folder, &map.path, args.force)?;
    let mut files = Vec::new();
    let mut target = Target::new(folder);
    let unpacked = unpack(bsp, how, |name, bytes| {
        files.push(FileJson { name: name.to_owned(), bytes: bytes.len() });
        if args.dry_run { Ok(()) } else { target.write(name, bytes) }
    })?;
    if !args.dry_run {
        target.finish()?;
    }
    unpacked.warnings.iter().for_each(|warning| job.warn_here(warning));
    let done = Done { folder: shown(folder), dry_run: args.dry_run, files, warnings: unpacked.warnings };
    if args.json || args.dry_run {
        return job.report(&done);
    }
    job.say(&format!("{}: {}", shown(folder), count(done.files.len(), "file", "files")));
    Ok(Code::Done)
}

impl Report for Done {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        self.files.iter().for_each(|file| job.line(format!("{:>12}  {}", file.bytes, file.name)));
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

/// Refuses a folder that is not empty, except with `force`.
fn refuse(folder: &Path, map: &Path, force: bool) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
        Ok(there) if there.is_symlink() => bail!("it is a symbolic link, which is not followed"),
        Ok(there) if !there.is_dir() => bail!("it is not a folder"),
        Ok(_) => {}
    }
    if fs::read_dir(folder)?.next().is_none() {
        return Ok(());
    }
    if !force {
        let error = Error::new(ErrorKind::Refused, "the folder is not empty");
        return Err(error.with_hint("--force replaces the files in it").into());
    }
    let is_inside = real_path(map)?.zip(real_path(folder)?).is_some_and(|(map, folder)| map.starts_with(folder));
    if is_inside {
        bail!("the map itself is in the folder");
    }
    Ok(())
}
