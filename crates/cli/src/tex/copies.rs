//! The `tex` commands that copy pixels: between maps, WAD files and PNG files.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::Draft;
use bspkit::bytes::escaped;
use bspkit::content::View;
use bspkit::content::palette::Palette;
use bspkit::content::textures::{DrawnAs, LEVELS, Miptex, SKY_SIZE, Textures};
use bspkit::content::wad::Wad;
use bspkit::disk::input;
use bspkit::disk::put::{self, put};
use bspkit_text::images::textures::{self, file_name};

use super::{files, finding, nothing_else, refused};
use crate::context::{Context, Names};
use crate::help;
use crate::maps::{MapArgs, MapFile};
use crate::output;
use crate::save::{Edited, Save};
use crate::talk::{Code, Job, count, shown};

// `tex import`: reads textures from PNG and WAD files.

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
/// Textures of Quake maps have no palette: images must have the palette of the game, which is built in; --palette names
/// another one, such as that of Hexen II. No shadow darkens the last 32 colors of it: with --quantize only a pixel of
/// exactly such a color gets it, and in a mip level only a square of which half has such colors.
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
  bspkit tex import c1a0.bsp photo/sky.png --quantize --any-size -o out.bsp
  bspkit tex import metal1_1.wal metal1_1.png --palette pics/colormap.pcx -o new.wal
  bspkit tex import metal1_1.wal --value 300 --flags LIGHT --in-place
  bspkit tex import lamp.png --name e1u1/lamp --palette pics/colormap.pcx -o lamp.wal"
))]
pub(crate) struct ImportArgs {
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
    any_size: bool,
    #[command(flatten)]
    wal: files::Fields,
    #[command(flatten)]
    save: Save,
}

/// An image for a texture.
struct Found {
    index: usize,
    level: usize,
    path: PathBuf,
}

pub(super) fn run_import(cx: &Context, args: &ImportArgs) -> Result<Code> {
    args.files.iter().chain(args.wal.palette_file()).try_for_each(|file| args.save.spare(file))?;
    if has_extension(args.maps.first(), "wal") || has_extension(args.maps.first(), "png") {
        let how = files::How { quantizes: args.quantize, resizes: args.any_size };
        return files::import_wal(cx, args.maps.first(), &args.files, &args.wal, how, &args.save);
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

fn import(draft: &mut Draft<'static>, files: &[PathBuf], args: &ImportArgs, job: &mut Job<'_>) -> Result<Edited> {
    let shelf = Shelf::Map(draft.bsp().textures()?);
    let palette = args.wal.given_palette()?;
    if palette.is_some() && matches!(&shelf, Shelf::Map(textures) if textures.has_palettes()) {
        bail!("--palette is for WAL files and Quake maps: the textures of this map have palettes");
    }
    let (wads, files): (Vec<PathBuf>, Vec<PathBuf>) = files.iter().cloned().partition(|file| is_wad(file));
    let (found, mut bad) = find(&shelf, &files, job)?;
    let is_bare = matches!(&shelf, Shelf::Map(textures) if !textures.has_palettes());
    let palette = palette.or_else(|| (is_bare && !found.is_empty()).then(|| quake(job)));
    found.iter().try_for_each(|image| args.save.spare(&image.path))?;
    let (names, count_all) = (shelf.names(), found.len() + bad);
    if count_all == 0 && wads.is_empty() {
        return Ok(Edited::Nothing("no image belongs to a texture".into()));
    }
    let textures = draft.textures()?;
    let mut from = BTreeMap::new();
    for path in &wads {
        let taken = files::import_wad(textures, path, args.any_size, &mut from, job)?;
        if taken == 0 && count_all == 0 {
            return Ok(Edited::Nothing(format!("{} has no texture of the map", shown(path))));
        }
    }
    for image in &found {
        let before = files::given(&from, textures, image.index);
        if let Err(error) = take_one(textures, image, palette.as_ref(), args, job) {
            let name = named(image.index, names.names[image.index].as_deref());
            finding(job, &format!("{}: {name}", shown(&image.path)), &error);
            bad += 1;
        }
        files::refuse_other(before, textures, image.index, &image.path)?;
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
    args: &ImportArgs,
    job: &mut Job<'_>,
) -> Result<()> {
    let Found { index, level, path } = found;
    let mut picture = textures::read(path)?;
    let texture = textures.get(*index)?.ok_or_else(|| anyhow!("the texture is missing in the map"))?;
    let (width, height) = (texture.width() >> level, texture.height() >> level);
    let is_size = (picture.width, picture.height) == (width, height);
    if !is_size && (!args.any_size || *level > 0) {
        let hint = if *level == 0 { "; --any-size accepts it" } else { "" };
        bail!("it has {} by {} pixels, but the texture {width} by {height}{hint}", picture.width, picture.height);
    }
    if !texture.has_palette() {
        let palette = given.ok_or_else(|| anyhow!("the texture has no palette"))?;
        let image = textures::with_quakes_palette(&picture, palette, args.quantize)?;
        if !is_size {
            warn_of_sky(texture.name(), (picture.width, picture.height), &shown(path), job);
        }
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
    let mut closes = has_holes && texture.image().is_some_and(|image| image.pixels.contains(&textures::HOLE));
    if *level > 0 {
        let palette = texture.palette().ok_or_else(|| anyhow!("the texture has no pixels, so it has no mip levels"))?;
        let image = textures::with_palette(&picture, &palette, args.quantize)?;
        textures.set_level(*index, *level, &image.pixels)?;
        closes = false;
    } else {
        let (image, palette) = textures::with_own_palette(&picture, &texture, args.quantize)?;
        closes &= !image.pixels.contains(&textures::HOLE);
        textures.set_image(*index, &image, Some(&palette))?;
    }
    if loses {
        job.warn(&format!("{}: {SOLID}", shown(path)));
    } else if closes {
        job.warn(&format!(
            "{}: no pixel of it is color {}: the texture has no holes any more",
            shown(path),
            textures::HOLE
        ));
    }
    Ok(())
}

/// A warning for a sky of Quake whose new size not all engines draw.
pub(super) fn warn_of_sky(name: &[u8], size: (u32, u32), what: &dyn std::fmt::Display, job: &mut Job<'_>) {
    if DrawnAs::by_name(name, false) == DrawnAs::Sky && size != SKY_SIZE {
        let (width, height) = SKY_SIZE;
        job.warn(&format!("{what}: not all engines draw a sky that is not {width} by {height} pixels"));
    }
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
        let there = fs::metadata(path).with_context(|| format!("cannot read {}", shown(path)))?;
        if !there.is_dir() {
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

// `tex export`: writes textures as PNG files, or to a WAD file.

/// Write textures to PNG files with their palettes, or to a WAD file
///
/// If -o names a file with .wad, all textures are written to this WAD file, byte for byte: WAD3 for GoldSrc, WAD2
/// for Quake. Several maps give one file with the textures of all; a texture that differs from another one of the same
/// name is reported and left out, and the exit status is 1.
///
/// A file has the name of its texture. Characters that some operating system does not allow in file names are written
/// as `%` and two hex digits. If names differ only in case, the later ones get `~` and a number. Textures whose pixels
/// are in WAD files are left out; export the WAD files instead. A texture that cannot be read is reported, the others
/// are written, and the exit status is 1.
///
/// WAL files have no palette; --palette names it. Textures in Quake maps have that of the game, which is built in;
/// --palette names another one, such as that of Hexen II.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex export c1a0.bsp -o images
  bspkit tex export c1a0.bsp -o images '{*' '#3' --mips
  bspkit tex export goldsrcs -o textures
  bspkit tex export halflife.wad -o images '+*'
  bspkit tex export c1a0.bsp -o c1a0.wad
  bspkit tex export goldsrcs -o all.wad
  bspkit tex export metal1_1.wal -o metal1_1.png --palette pics/colormap.pcx"
))]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The folder to write to, created if it is missing; for several maps, it gets a folder for each. Or a WAD file, or
    /// for a WAL file, a PNG file
    #[arg(short, long, value_name = "DIR|FILE", required = true, value_parser = output::on_disk())]
    output: PathBuf,
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
    overwrite: bool,
}

pub(super) fn run_export(cx: &Context, args: &ExportArgs) -> Result<Code> {
    let levels = if args.mips { LEVELS } else { 1 };
    let maps = args.maps.find();
    let is_wal = |map: &MapFile| has_extension(&map.path, "wal");
    if has_extension(&args.output, "wad") && !args.output.is_dir() && !maps.iter().any(is_wal) {
        if args.mips || args.palette.is_some() {
            bail!("a WAD file has all mip levels and its palettes: leave out --mips and --palette");
        }
        return files::export_wad(cx, maps, &args.output, &args.patterns, args.overwrite);
    }
    // A WAL file may be written to a PNG file.
    if maps.many || !(has_extension(args.maps.first(), "wal") && has_extension(&args.output, "png")) {
        maps.check_folder(&args.output)?;
    }
    maps.each(cx, |map, job| match has_extension(&map.path, "wal") {
        true => files::export_wal(&map.path, &args.output, args.palette.as_deref(), levels, args.overwrite, job),
        false => shelf(cx, map, args, levels, job),
    })
}

fn shelf(cx: &Context, map: &MapFile, args: &ExportArgs, levels: usize, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot export from {}", shown(&map.path));
    let shelf = Shelf::open(cx, &map.path).with_context(cannot)?;
    let names = shelf.names();
    let chosen = names.chosen(&args.patterns, job);
    if chosen.is_empty() && !args.patterns.is_empty() {
        return Ok(job.nothing(&names.nothing(&args.patterns)));
    }
    let folder = &map.place(&args.output, "");
    let is_bare = |index: &usize| shelf.get(*index).is_ok_and(|it| it.is_some_and(|it| !it.has_palette()));
    let palette = match &args.palette {
        Some(path) => Some(files::read_palette(path)?),
        None if chosen.iter().any(is_bare) => Some(quake(job)),
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
        match write(&texture, palette.as_ref(), folder, stem, levels, args.overwrite) {
            Ok(()) => written += 1,
            Err(error) => job.fail(&error.context(format!("cannot export {name}"))),
        }
    }
    let outside = if left > 0 { format!("; left out {left} without pixels") } else { String::new() };
    job.say(&format!("{}: {}{outside}", shown(folder), count(written, "texture", "textures")));
    Ok(code)
}

/// The palette of Quake for textures that have none, which is said: maps of Hexen II look the same.
fn quake(job: &mut Job<'_>) -> Palette {
    job.say(&format!("{}: with the palette of Quake; --palette names another one", job.path));
    Palette::QUAKE
}

fn write(
    texture: &Miptex<'_>,
    palette: Option<&Palette>,
    folder: &Path,
    stem: &str,
    levels: usize,
    overwrite: bool,
) -> Result<()> {
    let palette = texture.palette().or_else(|| palette.cloned()).ok_or_else(|| anyhow!("it has no palette"))?;
    for level in 0..levels {
        let pixels = texture.pixels(level).ok_or_else(|| anyhow!("it has no level {level}"))?;
        let bytes = textures::encode(texture.width() >> level, texture.height() >> level, pixels, &palette)?;
        put(&folder.join(file_name::with_level(stem, level)), &bytes, overwrite)?;
    }
    Ok(())
}

// `tex embed`: copies pixels from WAD files into a map.

/// Embed the pixels of textures into a Quake or GoldSrc map that has only their names
///
/// The first WAD file with a texture of this name is used; case does not matter. Embedded textures stay as they are. A
/// texture that cannot be read, in the map or in the WAD file, is reported; the others are embedded, and the exit
/// status is 1. The key `wad` of worldspawn, with which the game requires the WAD files, is not changed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit tex embed c1a0.bsp halflife.wad -o out.bsp
  bspkit tex embed c1a0.bsp own.wad halflife.wad '+*' '#3' -o out.bsp"
))]
pub(crate) struct EmbedArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// WAD files (*.wad), and the textures [default: all]
    #[arg(value_name = "WAD|GLOB", required = true)]
    wads: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_embed(cx: &Context, args: &EmbedArgs) -> Result<Code> {
    let (paths, patterns): (Vec<OsString>, Vec<OsString>) =
        args.wads.iter().cloned().partition(|text| has_extension(Path::new(text), "wad"));
    if paths.is_empty() {
        bail!("no WAD file is named: name a file that ends with .wad");
    }
    let mut wads: Vec<(PathBuf, Wad<'static>)> = Vec::new();
    for path in paths.into_iter().map(PathBuf::from) {
        args.save.spare(&path)?;
        let wad = open_wad(&path)?;
        wads.push((path, wad));
    }
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let textures = draft.textures()?;
        if let Some((path, wad)) = wads.iter().find(|(_, wad)| wad.has_palettes() != textures.has_palettes()) {
            let (own, with) = if wad.has_palettes() { ("GoldSrc", "have") } else { ("Quake", "have no") };
            bail!("{} is a WAD file of {own}, whose textures {with} palettes: the map is of another game", shown(path));
        }
        let names = names_of(textures);
        let chosen = names.chosen(&patterns, job);
        if chosen.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&patterns)));
        }
        let (mut embedded, mut absent, mut bad) = (0, Vec::new(), 0);
        for index in chosen {
            let name = named(index, names.names[index].as_deref());
            let result = (|| {
                let texture = match textures.get(index) {
                    // A damaged texture claims to have pixels, so it stays as it is.
                    Err(_) if textures.name(index).is_some() => None,
                    texture => texture?,
                };
                let Some(texture) = texture.filter(|texture| !texture.is_embedded()) else { return Ok(()) };
                let (own, size) = (texture.name().to_vec(), (texture.width(), texture.height()));
                let found = wads.iter().find_map(|(path, wad)| match wad.miptex(wad.find(&own)?) {
                    // The name may belong to a picture or a font.
                    Err(error) if error.kind() == bspkit::ErrorKind::NotFound => None,
                    texture => Some((path, texture)),
                });
                let Some((path, from)) = found else {
                    absent.push(own);
                    return Ok(());
                };
                let from = from.with_context(|| shown(path))?;
                if (from.width(), from.height()) != size {
                    let (width, height) = (from.width(), from.height());
                    let text = format!(
                        "{name} has {width} by {height} pixels in {}, but {} by {} in the map",
                        shown(path),
                        size.0,
                        size.1
                    );
                    job.warn_here(&text);
                }
                textures.embed(index, &from)?;
                embedded += 1;
                anyhow::Ok(())
            })();
            if let Err(error) = result {
                finding(job, &name, &error);
                bad += 1;
            }
        }
        if !absent.is_empty() {
            let all = absent.iter().map(|name| escaped(name).to_string()).collect::<Vec<_>>().join(", ");
            job.warn_here(&format!("no WAD file has {all}"));
        }
        match (embedded, absent.is_empty()) {
            (0, true) if bad > 0 => return Ok(nothing_else(bad)),
            (0, true) => return Ok(Edited::same()),
            (0, false) => return Ok(Edited::Nothing("nothing to embed".into())),
            _ => {}
        }
        Ok(Edited::With { what: format!("{} embedded", count(embedded, "texture", "textures")), is_whole: bad == 0 })
    })
}

// A collection of textures with pixels: a Quake or GoldSrc map, or a WAD file.

pub(super) enum Shelf {
    Map(View<Textures<'static>>),
    Wad(Wad<'static>),
}

/// Whether a path has this extension, in any case.
pub(super) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

pub(super) fn open_wad(path: &Path) -> Result<Wad<'static>> {
    let bytes = input::read(path)?;
    Wad::parse(bytes).with_context(|| format!("cannot open {}", shown(path)))
}

/// The names of the textures of a map.
pub(super) fn names_of(textures: &Textures<'_>) -> Names {
    named_as((0..textures.len()).map(|index| textures.name(index)))
}

/// Names of textures, which arguments give with escapes.
pub(super) fn named_as<'n>(names: impl Iterator<Item = Option<&'n [u8]>>) -> Names {
    let names = names.map(|name| name.map(<[u8]>::to_vec)).collect();
    Names { kind: "textures", names, has_escapes: true }
}

/// A texture in a message.
pub(super) fn named(index: usize, name: Option<&[u8]>) -> String {
    match name {
        Some(name) => format!("texture #{index} `{}`", escaped(name)),
        None => format!("texture #{index}"),
    }
}

impl Shelf {
    pub(super) fn open(cx: &Context, path: &Path) -> Result<Self> {
        if has_extension(path, "wad") {
            return open_wad(path).map(Shelf::Wad);
        }
        Ok(Shelf::Map(cx.open(path)?.textures()?))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Shelf::Map(textures) => textures.len(),
            Shelf::Wad(wad) => wad.entries().len(),
        }
    }

    pub(super) fn name(&self, index: usize) -> Option<&[u8]> {
        match self {
            Shelf::Map(textures) => textures.name(index),
            Shelf::Wad(wad) => wad.entries().get(index).map(|entry| entry.name.bytes()),
        }
    }

    pub(super) fn names(&self) -> Names {
        named_as((0..self.len()).map(|index| self.name(index)))
    }

    /// A texture; `None` if a legal entry has no texture.
    pub(super) fn get(&self, index: usize) -> bspkit::Result<Option<Miptex<'_>>> {
        match self {
            Shelf::Map(textures) => textures.get(index),
            Shelf::Wad(wad) => match wad.miptex(index) {
                // WAD files may also hold pictures and fonts.
                Err(error) if error.kind() == bspkit::ErrorKind::NotFound => Ok(None),
                texture => texture.map(Some),
            },
        }
    }
}
