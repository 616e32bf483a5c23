//! `light export`: light as images.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::content::lightmap::{Light, Luxel};
use bspkit::dialect::LuxelForm;
use bspkit::threads::in_parallel;
use clap::ValueEnum;
use serde_json::value::RawValue;

use super::choose::Choice;
use super::index::{self, Index, Rect};
use super::pack::{Place, Sheet, sheets};
use super::{nothing, say_faults};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::image::{write_hdr, write_png};
use crate::cli::maps::{MapFile, Maps};
use crate::cli::put::put;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Write the light as images
///
/// DIR gets `light.json`, which says where in which file the light of each face is, with style and bump plane, and files that
/// are called alike for all games: `page_000.png` and so on, or with --by face `faces/00012_s0.png`, the light of face 12
/// in style 0, and `faces/00012_s0_b1.png` to `_b3` for the directions of bumped faces. Light that a map has twice is
/// in folders of its own: `ldr`, `hdr`, `decoupled`, `rgb`. Source's is in `.hdr`; the `.png` of the same name shows it.
/// Faces whose light is not in the lump are named and left out; the exit status is 1 then.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light export base1.bsp pages
  bspkit light export base1.bsp faces --by face --faces 12,20-25
  bspkit light export maps lights"
))]
pub(super) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// The folder, made where it is missing; below it each map of a folder has its own
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What each file holds; the light of Quake III is in pages in any case
    #[arg(long, value_name = "WHAT", default_value = "page")]
    by: By,
    #[command(flatten)]
    choice: Choice,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The light of many faces
    Page,
    /// One image of one face
    Face,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = Maps::of(&args.map).one_by_one();
    maps.each(cx, |map, job| export(&cx.open(&map.path)?, map, cx.options.jobs(), args, job))
}

fn export(bsp: &Bsp<'_>, map: &MapFile, threads: usize, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let cannot = || format!("cannot export the light of {}", shown(&map.path));
    let light = bsp.light().with_context(cannot)?;
    say_faults(&light, job);
    args.choice.check(&light, job).with_context(cannot)?;
    let sheets = sheets(&light, &args.choice, args.by == By::Face);
    if sheets.is_empty() {
        return Ok(job.nothing(&nothing(bsp, &map.path)?));
    }
    let index = document(bsp, &light, &sheets, &map.path)?;
    let folder = &map.place(&args.folder, "");
    let cannot = || format!("cannot export to {}", shown(folder));
    make_folders(folder, &index).with_context(cannot)?;
    refuse_others(folder, args.force, &index).with_context(cannot)?;
    let written = in_parallel(threads, &sheets, |sheet| write_sheet(&light, sheet, folder, args.force));
    written.into_iter().collect::<Result<Vec<()>>>().with_context(cannot)?;
    let path = folder.join(index::NAME);
    let mut text = serde_json::to_vec_pretty(&index)?;
    text.push(b'\n');
    put(&path, &text, args.force).with_context(cannot)?;
    let images: usize = sheets.iter().map(|sheet| sheet.places.len()).sum();
    let (images, files) = (count(images, "image", "images"), count(sheets.len(), "file", "files"));
    job.say(&format!("{}: {images} in {files}", shown(folder)));
    Ok(job.code)
}

fn document(bsp: &Bsp<'_>, light: &Light<'_>, sheets: &[Sheet], map: &Path) -> Result<Index<Box<RawValue>>> {
    let mut sets: Vec<index::Set<_>> = Vec::new();
    let mut last = None;
    for sheet in sheets {
        let set = &light.sets()[sheet.set];
        if last != Some(sheet.set) {
            let (name, lump) = (set.name().to_owned(), set.lump().to_owned());
            sets.push(index::Set { name, lump, files: Vec::new() });
            last = Some(sheet.set);
        }
        let images = sheet.places.iter().map(|place| rect(light, place).to_line()).collect::<Result<_>>()?;
        let [width, height] = sheet.size;
        let (file, shown) = match set.form() {
            LuxelForm::Rgbe => (format!("{}.hdr", sheet.stem), Some(format!("{}.png", sheet.stem))),
            _ => (format!("{}.png", sheet.stem), None),
        };
        let file = index::Sheet { file, shown, width, height, images };
        if let Some(set) = sets.last_mut() {
            set.files.push(file);
        }
    }
    let surfaces = bsp.surface_light()?.into_iter().map(|surface| {
        let ([x, y], [width, height]) = (surface.at, surface.size);
        let (face, page) = (Some(surface.surface), Some(surface.page));
        Rect { face, page, style: None, nth: 0, plane: 0, x, y, width, height }.to_line()
    });
    Ok(Index {
        kind: index::KIND.to_owned(),
        version: 1,
        map: map.file_name().map(|name| shown(Path::new(name))).unwrap_or_default(),
        dialect: bsp.dialect().name.to_owned(),
        sets,
        surfaces: surfaces.collect::<Result<_>>()?,
    })
}

fn rect(light: &Light<'_>, place: &Place) -> Rect {
    let set = &light.sets()[place.image.set];
    let block = &set.blocks()[place.image.block];
    let ([x, y], [width, height]) = (place.at, block.size());
    let index = Some(block.index());
    let (face, page, style) = match set.is_pages() {
        true => (None, index, None),
        false => (index, None, Some(block.styles()[place.image.style])),
    };
    Rect { face, page, style, nth: place.image.style, plane: place.image.plane, x, y, width, height }
}

fn make_folders(folder: &Path, index: &Index<Box<RawValue>>) -> Result<()> {
    fs::create_dir_all(folder)?;
    let files = index.sets.iter().flat_map(|set| &set.files);
    let mut below: Vec<_> = files.filter_map(|file| Path::new(&file.file).parent()).collect();
    below.sort_unstable();
    below.dedup();
    Ok(below.into_iter().try_for_each(|below| fs::create_dir_all(folder.join(below)))?)
}

/// Before anything is written no file may be there.
fn refuse_others(folder: &Path, force: bool, index: &Index<Box<RawValue>>) -> Result<()> {
    let files = index.sets.iter().flat_map(|set| &set.files).flat_map(|file| [Some(&file.file), file.shown.as_ref()]);
    let names = files.flatten().map(String::as_str).chain([index::NAME]);
    match names.map(|name| folder.join(name)).find(|path| !force && path.symlink_metadata().is_ok()) {
        Some(path) => Err(there(&path)),
        None => Ok(()),
    }
}

fn there(path: &Path) -> anyhow::Error {
    let message = format!("{} is there already", shown(path));
    bspkit::Error::new(bspkit::ErrorKind::Refused, message).hint("--force replaces it").into()
}

fn write_sheet(light: &Light<'_>, sheet: &Sheet, folder: &Path, force: bool) -> Result<()> {
    let path = |extension: &str| folder.join(format!("{}.{extension}", sheet.stem));
    let mut png = Vec::new();
    match light.sets()[sheet.set].form() {
        LuxelForm::Rgbe => {
            let pixels = pixels::<4>(light, sheet);
            let light = write_hdr(sheet.size, &pixels.iter().map(radiance).collect::<Vec<_>>());
            put(&path("hdr"), &light, force)?;
            let shown = pixels.iter().flat_map(|[red, green, blue, exponent]| {
                Luxel::Rgbe([*red, *green, *blue], i8::from_le_bytes([*exponent])).shown()
            });
            write_png(&mut png, sheet.size, &shown.collect::<Vec<u8>>())?;
        }
        LuxelForm::Grey => {
            let pixels = pixels::<1>(light, sheet);
            let shown: Vec<u8> = pixels.iter().flat_map(|[grey]| [*grey; 3]).collect();
            write_png(&mut png, sheet.size, &shown)?;
        }
        _ => {
            let pixels = pixels::<3>(light, sheet);
            write_png(&mut png, sheet.size, pixels.as_flattened())?;
        }
    }
    put(&path("png"), &png, force)
}

/// A luxel as a pixel of Radiance, which counts the exponent from 128: 256 of a luxel's light are its 1.
pub(super) fn radiance([red, green, blue, exponent]: &[u8; 4]) -> [u8; 4] {
    [*red, *green, *blue, exponent ^ 0x80]
}

/// The pixels of a sheet, zeros where no image is.
fn pixels<const N: usize>(light: &Light<'_>, sheet: &Sheet) -> Vec<[u8; N]> {
    let [wide, high] = sheet.size;
    let mut pixels = vec![[0; N]; wide * high];
    for Place { image, at: [x, y] } in &sheet.places {
        let columns = light.block(*image).map_or(1, |block| block.size()[0]);
        let (luxels, _) = light.bytes(*image).unwrap_or_default().as_chunks::<N>();
        for (row, line) in luxels.chunks_exact(columns).enumerate() {
            let start = (y + row) * wide + x;
            pixels[start..start + columns].copy_from_slice(line);
        }
    }
    pixels
}
