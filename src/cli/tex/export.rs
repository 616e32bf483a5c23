//! `tex export`: writes textures as PNG files, or to a WAD file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::content::palette::Palette;
use bspkit::content::textures::{LEVELS, Miptex};
use bspkit::face::images::textures::{self, file_name};
use bspkit::face::put::{self, put};

use super::shelf::{Shelf, has_extension, named};
use super::{finding, wad, wal};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::{MapArgs, MapFile};
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Write textures to PNG files with their palettes, or to a WAD file
///
/// If DIR is a file name with .wad, all textures are written to this WAD file, byte for byte: WAD3 for GoldSrc, WAD2
/// for Quake. Several maps give one file with the textures of all; a texture that differs from another one of the same
/// name is reported and left out, and the exit status is 1.
///
/// A file has the name of its texture. Characters that some operating system does not allow in file names are written
/// as `%` and two hex digits. If names differ only in case, the later ones get `~` and a number. Textures whose pixels
/// are in WAD files are left out; export the WAD files instead. A texture that cannot be read is reported, the others
/// are written, and the exit status is 1.
///
/// WAL files and textures in Quake maps have no palette; --palette names it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex export c1a0.bsp images
  bspkit tex export c1a0.bsp images '{*' '#3' --mips
  bspkit tex export goldsrcs textures
  bspkit tex export halflife.wad images '+*'
  bspkit tex export c1a0.bsp c1a0.wad
  bspkit tex export goldsrcs all.wad
  bspkit tex export metal1_1.wal metal1_1.png --palette pics/colormap.pcx"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to, created if it is missing; for several maps, it gets a folder for each. Or a WAD file, or
    /// for a WAL file, a PNG file
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The textures [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Write the mip levels too: NAME.mip1.png to NAME.mip3.png
    #[arg(long)]
    mips: bool,
    /// The palette of WAL files and Quake maps: a PCX picture such as pics/colormap.pcx, or 768 bytes such as
    /// gfx/palette.lmp
    #[arg(long, value_name = "FILE")]
    palette: Option<PathBuf>,
    /// Replace existing files that differ
    #[arg(long)]
    force: bool,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let levels = if args.mips { LEVELS } else { 1 };
    let maps = args.maps.find();
    let is_wal = |map: &MapFile| has_extension(&map.path, "wal");
    if has_extension(&args.folder, "wad") && !args.folder.is_dir() && !maps.iter().any(is_wal) {
        if args.mips || args.palette.is_some() {
            bail!("a WAD file has all mip levels and its palettes: leave out --mips and --palette");
        }
        return wad::export(cx, maps, &args.folder, &args.patterns, args.force);
    }
    // A WAL file may be written to a PNG file.
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
    let names = shelf.names();
    let chosen = names.chosen(&args.patterns, job);
    if chosen.is_empty() && !args.patterns.is_empty() {
        return Ok(job.nothing(&names.nothing(&args.patterns)));
    }
    let folder = &map.place(&args.folder, "");
    let is_bare = |index: &usize| shelf.get(*index).is_ok_and(|it| it.is_some_and(|it| !it.has_palette()));
    let palette = match &args.palette {
        Some(path) => Some(wal::read_palette(path)?),
        None if chosen.iter().any(is_bare) => {
            let message = "textures of Quake have no palette";
            let error = bspkit::Error::new(bspkit::ErrorKind::Argument, message);
            let hint = "name it with --palette: gfx/palette.lmp of the game, or another file of 768 bytes";
            return Err(error.with_hint(hint).into());
        }
        None => None,
    };
    put::folder(folder)?;
    let stems = file_name::stems((0..shelf.len()).map(|index| shelf.name(index)));
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
    let outside = if left > 0 { format!("; left out {left} without pixels") } else { String::new() };
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
