//! `tex import`: reads textures from PNG and WAD files.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::Draft;
use bspkit::content::palette::Palette;
use bspkit::content::textures::Textures;
use bspkit::face::images::textures::{self, file_name};

use super::shelf::{Shelf, has_extension, named};
use super::{finding, refused, wad, wal};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Replace the pixels of textures with those of PNG files or of a WAD file
///
/// The file names are those of `tex export`; other files in a folder are left out. An image must have a palette, which
/// becomes the palette of the texture. Pixels and colors that are the same change nothing. Mip levels are computed
/// again where the image changed: each pixel gets the color of the palette nearest to the mean. NAME.mip1.png and so on
/// replace computed levels. If any image cannot be imported, all such images are reported, nothing is written, and the
/// exit status is 1.
///
/// All textures of a WAD file whose names the map has replace those of the map byte for byte, mip levels and palettes
/// included, also where the map has only the name.
///
/// Textures of Quake maps have no palette: images must have the palette of the game, which --palette names.
///
/// An image has at most 16777216 pixels. With --quantize, transparent pixels become holes (color 255) in textures whose
/// name begins with {. In other cases they become solid, with a warning.
///
/// A WAL file keeps its names, flags and value; its image must have the palette that --palette names. If MAP is a PNG
/// file, a new WAL file is made from it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex import c1a0.bsp images -o out.bsp
  bspkit tex import c1a0.bsp images/sky.png images/+0OWN_BTN.png --in-place --backup
  bspkit tex import goldsrcs textures -o edited
  bspkit tex import c1a0.bsp c1a0.wad -o out.bsp
  bspkit tex import c1a0.bsp photo/sky.png --quantize --resize -o out.bsp
  bspkit tex import metal1_1.wal metal1_1.png --palette pics/colormap.pcx -o new.wal
  bspkit tex import metal1_1.wal --value 300 --flags LIGHT --in-place
  bspkit tex import lamp.png --name e1u1/lamp --palette pics/colormap.pcx -o lamp.wal"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// Images, a folder of images, WAD files; for several maps: the folder that `tex export` wrote, or WAD files
    #[arg(value_name = "DIR|FILE")]
    files: Vec<PathBuf>,
    /// Accept images without the right palette: for WAL files, use the nearest colors of the palette; for others, make
    /// a new palette if the old one does not suffice
    #[arg(long)]
    quantize: bool,
    /// Accept images with another size than the texture
    #[arg(long)]
    resize: bool,
    #[command(flatten)]
    wal: wal::Fields,
    #[command(flatten)]
    save: Save,
}

/// An image for a texture.
struct Found {
    index: usize,
    level: usize,
    path: PathBuf,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.files.iter().chain(args.wal.palette_file()).try_for_each(|file| args.save.spare(file))?;
    if has_extension(args.maps.first(), "wal") || has_extension(args.maps.first(), "png") {
        let how = wal::How { quantizes: args.quantize, resizes: args.resize };
        return wal::import(cx, args.maps.first(), &args.files, &args.wal, how, &args.save);
    }
    if args.files.is_empty() {
        bail!("no image is named: name files or a folder");
    }
    if let Some(file) = args.files.iter().find(|file| args.maps.are_many() && !file.is_dir() && !is_wad(file)) {
        bail!("{} is not a folder: several maps need a folder with images for each", shown(file));
    }
    if args.wal.any() {
        bail!("--name, --next, --flags, --contents, --value and --game are for WAL files, not for maps");
    }
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let of_many = |file: &PathBuf| if is_wad(file) { Some(file.clone()) } else { map.read_from(file, "") };
        let files: Vec<PathBuf> = args.files.iter().filter_map(of_many).collect();
        import(draft, &files, args, job)
    })
}

fn import(draft: &mut Draft<'static>, files: &[PathBuf], args: &Args, job: &mut Job<'_>) -> Result<Edited> {
    let shelf = Shelf::Map(draft.bsp().textures()?);
    let palette = args.wal.given_palette()?;
    if palette.is_some() && matches!(&shelf, Shelf::Map(textures) if textures.has_palettes()) {
        bail!("--palette is for WAL files and Quake maps: the textures of this map have palettes");
    }
    let (wads, files): (Vec<PathBuf>, Vec<PathBuf>) = files.iter().cloned().partition(|file| is_wad(file));
    let (found, mut bad) = find(&shelf, &files, job)?;
    found.iter().try_for_each(|image| args.save.spare(&image.path))?;
    let (names, count_all) = (shelf.names(), found.len() + bad);
    if count_all == 0 && wads.is_empty() {
        return Ok(Edited::Nothing("no image belongs to a texture".into()));
    }
    let textures = draft.textures()?;
    for path in &wads {
        let taken = wad::import(textures, path, args.resize, job)?;
        if taken == 0 && count_all == 0 {
            return Ok(Edited::Nothing(format!("{} has no texture of the map", shown(path))));
        }
    }
    for image in &found {
        if let Err(error) = take_one(textures, image, palette.as_ref(), args, job) {
            let name = named(image.index, names.names[image.index].as_deref());
            finding(job, &format!("{}: {name}", shown(&image.path)), &error);
            bad += 1;
        }
    }
    if bad > 0 {
        return Ok(refused(bad, &format!("of {}", count(count_all, "image", "images"))));
    }
    Ok(Edited::Done)
}

fn take_one(
    textures: &mut Textures<'static>,
    found: &Found,
    given: Option<&Palette>,
    args: &Args,
    job: &mut Job<'_>,
) -> Result<()> {
    let Found { index, level, path } = found;
    let mut picture = textures::read(path)?;
    let texture = textures.get(*index)?.ok_or_else(|| anyhow!("the texture is missing in the map"))?;
    let (width, height) = (texture.width() >> level, texture.height() >> level);
    let is_size = (picture.width, picture.height) == (width, height);
    if !is_size && (!args.resize || *level > 0) {
        let hint = if *level == 0 { "; --resize accepts it" } else { "" };
        bail!("it has {} by {} pixels, but the texture {width} by {height}{hint}", picture.width, picture.height);
    }
    if !texture.has_palette() {
        let palette = given.ok_or_else(|| anyhow!("textures of Quake have no palette: name it with --palette"))?;
        let image = textures::with_palette(&picture, palette, args.quantize)?;
        let set = match level {
            0 => textures.set_image(*index, &image, Some(palette)),
            level => textures.set_level(*index, *level, &image.pixels),
        };
        return Ok(set?);
    }
    let has_holes = texture.name().starts_with(b"{");
    if has_holes && args.quantize {
        picture.show_holes();
    }
    let loses = picture.loses_holes(has_holes, *level > 0);
    if *level > 0 {
        let palette = texture.palette().ok_or_else(|| anyhow!("the texture has no pixels, so it has no mip levels"))?;
        let image = textures::with_palette(&picture, &palette, args.quantize)?;
        textures.set_level(*index, *level, &image.pixels)?;
    } else {
        let (image, palette) = textures::with_own_palette(&picture, &texture, args.quantize)?;
        textures.set_image(*index, &image, Some(&palette))?;
    }
    if loses {
        job.warn(&format!("{}: {SOLID}", shown(path)));
    }
    Ok(())
}

fn is_wad(path: &Path) -> bool {
    has_extension(path, "wad") && !path.is_dir()
}

/// The warning about transparent pixels that become solid.
pub(super) const SOLID: &str =
    "its transparent pixels become solid: holes are color 255 in textures whose name begins with {";

/// The files in a folder, in order.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", shown(path));
    let entries = fs::read_dir(path).with_context(cannot)?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().with_context(cannot)?;
    files.sort();
    Ok(files)
}

/// The images for textures, for each texture the largest first, and the number of named files without a texture.
fn find(shelf: &Shelf, paths: &[PathBuf], job: &mut Job<'_>) -> Result<(Vec<Found>, usize)> {
    let stems = file_name::stems((0..shelf.len()).map(|index| shelf.name(index)));
    let stems = stems.into_iter().enumerate().filter_map(|(index, stem)| Some((stem?.to_ascii_lowercase(), index)));
    let stems: HashMap<String, usize> = stems.collect();
    let lookup = |path: &Path| {
        let (stem, level) = file_name::parse(path)?;
        let index = *stems.get(&stem.to_ascii_lowercase())?;
        Some(Found { index, level, path: path.to_path_buf() })
    };
    let (mut found, mut bad) = (Vec::new(), 0);
    for path in paths {
        if !path.is_dir() {
            match lookup(path) {
                Some(image) => found.push(image),
                None => {
                    bad += 1;
                    finding(job, &shown(path), &anyhow!("no texture of the map has a file of this name"));
                }
            }
            continue;
        }
        for file in files(path)? {
            match lookup(&file) {
                Some(image) => found.push(image),
                None => job.warn(&format!("{}: left out: no texture has this name", shown(&file))),
            }
        }
    }
    found.sort_by_key(|image| (image.index, image.level));
    let is_twice = |pair: &&[Found]| (pair[0].index, pair[0].level) == (pair[1].index, pair[1].level);
    if let Some([one, other]) = found.windows(2).find(is_twice) {
        bail!("{} and {} are for the same texture: leave one out", shown(&one.path), shown(&other.path));
    }
    Ok((found, bad))
}
