//! `tex export`: pixels into PNG files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use bspkit::content::palette::Palette;
use bspkit::content::textures::{LEVELS, Miptex};
use bspkit::face::images::textures;

use super::choose::{self, named};
use super::shelf::{Shelf, has_extension};
use super::{file_name, finding, wal};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile};
use crate::cli::put::put;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Write the pixels of textures to PNG files with their palettes
///
/// A file is called as its texture; letters that some system would not have in a file's name are `%` and two digits,
/// and of names that differ in nothing but case the later ones have `~` and their index behind them. Textures whose
/// pixels are in WAD files are left out; the WAD files can be exported too. One that cannot be read is named, the rest
/// is written, and the exit status is 1.
///
/// WAL files and the textures in Quake maps have no palette: --palette gives it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex export c1a0.bsp images
  bspkit tex export c1a0.bsp images '{*' '#3' --mips
  bspkit tex export goldsrcs textures
  bspkit tex export halflife.wad images '+*'
  bspkit tex export metal1_1.wal metal1_1.png --palette pics/colormap.pcx"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder, made where it is missing; below it each map of a folder has its own. For a WAL file a PNG file too
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Which textures [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Write the smaller copies too: NAME.mip1.png to NAME.mip3.png
    #[arg(long)]
    mips: bool,
    /// The palette of WAL files and Quake maps: a PCX picture such as pics/colormap.pcx, or 768 bytes such as
    /// gfx/palette.lmp
    #[arg(long, value_name = "FILE")]
    palette: Option<PathBuf>,
    /// Replace files on disk that have other bytes
    #[arg(long)]
    force: bool,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let levels = if args.mips { LEVELS } else { 1 };
    let maps = args.maps.find();
    // One WAL file may become one PNG file.
    if maps.many || !(has_extension(args.maps.first(), "wal") && has_extension(&args.folder, "png")) {
        maps.check_folder(&args.folder)?;
    }
    maps.each(cx, |map, job| match has_extension(&map.path, "wal") {
        true => wal::export(&map.path, &args.folder, args.palette.as_deref(), levels, args.force, job),
        false => shelf(cx, map, args, levels, job),
    })
}

fn shelf(cx: &Context, map: &MapFile, args: &Args, levels: usize, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot export from {}", shown(&map.path));
    let shelf = Shelf::open(cx, &map.path).with_context(cannot)?;
    let chosen = choose::chosen(&shelf.names(), &args.patterns, job);
    if chosen.is_empty() && !args.patterns.is_empty() {
        return Ok(job.nothing(&choose::nothing(&args.patterns)));
    }
    let folder = &map.place(&args.folder, "");
    let is_bare = |index: &usize| shelf.get(*index).is_ok_and(|it| it.is_some_and(|it| !it.has_palette()));
    let palette = match &args.palette {
        Some(path) => Some(wal::read_palette(path)?),
        None if chosen.iter().any(is_bare) => {
            let message = "the textures of Quake have no palettes: --palette gives it";
            let error = bspkit::Error::new(bspkit::ErrorKind::Argument, message);
            return Err(error.with_hint("that is gfx/palette.lmp in the game's files, or a file of 768 bytes").into());
        }
        None => None,
    };
    make_folder(folder)?;
    let stems = file_name::stems(&shelf);
    let (mut written, mut left, mut code) = (0, 0, Code::Done);
    for index in chosen {
        let name = named(index, shelf.name(index));
        let (texture, stem) = match (shelf.get(index), &stems[index]) {
            (Ok(Some(texture)), Some(stem)) if texture.is_embedded() => (texture, stem),
            (Ok(_), _) => {
                left += 1;
                continue;
            }
            (Err(error), _) => {
                finding(job, &name, &error.into());
                code = Code::Found;
                continue;
            }
        };
        match write(&texture, palette.as_ref(), folder, stem, levels, args.force) {
            Ok(()) => written += 1,
            Err(error) => job.fail(&error.context(format!("cannot export {name}"))),
        }
    }
    let outside = if left > 0 { format!("; {left} without pixels left out") } else { String::new() };
    job.say(&format!("{}: {}{outside}", shown(folder), count(written, "texture", "textures")));
    Ok(code)
}

fn write(
    texture: &Miptex<'_>,
    palette: Option<&Palette>,
    folder: &Path,
    stem: &str,
    levels: usize,
    force: bool,
) -> Result<()> {
    let palette = texture.palette().or_else(|| palette.cloned()).ok_or_else(|| anyhow!("it has no palette"))?;
    for level in 0..levels {
        let pixels = texture.pixels(level).ok_or_else(|| anyhow!("it has no level {level}"))?;
        let bytes = textures::encode(texture.width() >> level, texture.height() >> level, pixels, &palette)?;
        put(&folder.join(file_name::with_level(stem, level)), &bytes, force)?;
    }
    Ok(())
}

pub(super) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", shown(folder)))
}
