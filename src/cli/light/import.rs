//! `light import`: images as light.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Error, Result, anyhow, bail};
use bspkit::Draft;
use bspkit::content::lightmap::{Image, Light, Luxel};
use bspkit::dialect::LuxelForm;

use super::export::radiance;
use super::find;
use super::index::{self, Index, Rect, Sheet};
use super::warn_of_copies;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::image::{read_file, read_hdr, read_png, same_color};
use crate::cli::maps::Maps;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Take the light from images that `light export` wrote
///
/// Each image is compared with what an export would write now: a pixel that is the same leaves its luxel as it is, and another
/// one changes that luxel alone, with the average of the face where the map keeps one. Of `.hdr` and `.png` of one name
/// either may be changed, and a file that is not there changes nothing while the other is. Where images have another size or
/// depth or are missing, each is named, nothing is written and the exit status is 1; with --force the others are
/// taken. Where a map has its light in grey and in color, what was painted in one changes the other as much.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light import base1.bsp pages -o out.bsp
  bspkit light import base1.bsp pages --dry-run
  bspkit light import maps lights -o edited"
))]
pub(super) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// The folder with `light.json` and the images; for a folder of maps the one that `light export` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let found = AtomicBool::new(false);
    let read = |folder: &Path| read(folder, &args.save);
    // Of one map, what cannot be read is no fault of that.
    let single = if args.map.is_dir() { None } else { Some(read(&args.folder)?) };
    let code = args.save.each(cx, Maps::of(&args.map), |draft, map, job| {
        let Some(folder) = map.read_from(&args.folder, "") else {
            return Ok(Edited::Nothing("there is no light of its own to take".to_owned()));
        };
        let own = if single.is_none() { Some(read(&folder)?) } else { None };
        let Some(index) = single.as_ref().or(own.as_ref()) else { bail!("there is no {}", index::NAME) };
        let edited = import(draft, index, &folder, args, job)?;
        found.fetch_or(job.code == Code::Found, Ordering::Relaxed);
        Ok(edited)
    })?;
    // What is named is a finding, though the rest was saved.
    Ok(if found.into_inner() { code.max(Code::Found) } else { code })
}

/// Reads what says where in which file the light is.
fn read(folder: &Path, save: &Save) -> Result<Index<Rect>> {
    let path = folder.join(index::NAME);
    save.spare(&path)?;
    let cannot = || format!("cannot read {}", shown(&path));
    let text = read_file(&path).with_context(cannot)?;
    let index: Index<Rect> = serde_json::from_slice(&text).with_context(cannot)?;
    if index.kind != index::KIND || index.version != 1 {
        bail!("{} says it is `{}`, version {}, which is not known", shown(&path), index.kind, index.version);
    }
    for file in index.sets.iter().flat_map(|set| &set.files) {
        let files = [Some(&file.file), file.shown.as_ref()].into_iter().flatten();
        files.map(|name| folder.join(name)).try_for_each(|path| save.spare(&path))?;
    }
    Ok(index)
}

fn import(
    draft: &mut Draft<'static>,
    index: &Index<Rect>,
    folder: &Path,
    args: &Args,
    job: &mut Job<'_>,
) -> Result<Edited> {
    let bsp = draft.bsp().clone();
    let light = draft.light()?;
    let mut import = Import { fresh: light.clone(), light, folder, changed: 0, failed: 0 };
    for set in &index.sets {
        let place = import.fresh.sets().iter().position(|own| own.name() == set.name);
        for sheet in &set.files {
            match place {
                Some(place) => import.sheet(place, sheet, job),
                None => import.fail(&sheet.file, &anyhow!("the map has no light in {}", set.lump), job),
            }
        }
    }
    if import.failed > 0 && !args.save.force {
        let images = count(import.failed, "image", "images");
        return Ok(Edited::Nothing(format!("{images} cannot be taken, so no light is changed")));
    }
    let carried = import.light.carry(&import.fresh);
    if import.changed > 0 {
        warn_of_copies(&bsp, job);
    }
    job.say(&format!("{}: {} changed", job.path, count(import.changed, "luxel", "luxels")));
    if carried > 0 {
        let luxels = count(carried, "luxel", "luxels");
        job.say(&format!("{}: {luxels} of the same light elsewhere changed with them", job.path));
    }
    Ok(Edited::Done)
}

struct Import<'d, 'a, 'f> {
    /// The light as the map has it, and as it becomes.
    fresh: Light<'a>,
    light: &'d mut Light<'a>,
    folder: &'f Path,
    changed: usize,
    failed: usize,
}

/// A file's pixels, as luxels of one form.
enum Pixels {
    Rgb(Vec<u8>),
    Rgbe(Vec<[u8; 4]>),
    /// Luxels with an exponent, as a screen shows them.
    Shown(Vec<u8>),
}

impl Pixels {
    /// What the luxel is to become where it was `old`.
    fn luxel(&self, at: usize, old: Luxel) -> Luxel {
        let color = |pixels: &[u8]| [pixels[3 * at], pixels[3 * at + 1], pixels[3 * at + 2]];
        match (self, old) {
            (Pixels::Rgb(pixels), _) => Luxel::Rgb(color(pixels)),
            (Pixels::Shown(pixels), old) => {
                let color = color(pixels);
                if color == old.shown() { old } else { old.with_shown(color) }
            }
            (Pixels::Rgbe(pixels), Luxel::Rgbe([red, green, blue], exponent)) => {
                let new = pixels[at];
                let [exponent] = exponent.to_le_bytes();
                if same_color(radiance(&[red, green, blue, exponent]), new) { old } else { of_radiance(new) }
            }
            (Pixels::Rgbe(_), old) => old,
        }
    }
}

/// A pixel of Radiance as a luxel; black has no exponent there.
fn of_radiance([red, green, blue, exponent]: [u8; 4]) -> Luxel {
    match exponent {
        0 => Luxel::Rgbe([0; 3], 0),
        exponent => Luxel::Rgbe([red, green, blue], i8::from_le_bytes([exponent ^ 0x80])),
    }
}

impl Import<'_, '_, '_> {
    fn fail(&mut self, file: &str, error: &Error, job: &mut Job<'_>) {
        self.failed += 1;
        find(&format!("{file}: {error:#}"), job);
    }

    /// Takes the files of a sheet that are there.
    fn sheet(&mut self, set: usize, sheet: &Sheet<Rect>, job: &mut Job<'_>) {
        let mut any_is_there = false;
        for file in [Some(&sheet.file), sheet.shown.as_ref()].into_iter().flatten() {
            match self.pixels(set, sheet, file) {
                Ok(None) => {}
                Ok(Some(pixels)) => {
                    any_is_there = true;
                    self.images(set, sheet, file, &pixels, job);
                }
                Err(error) => {
                    any_is_there = true;
                    self.fail(file, &error.context(whose(sheet)), job);
                }
            }
        }
        if !any_is_there {
            self.fail(&sheet.file, &anyhow!("it is not there").context(whose(sheet)), job);
        }
    }

    /// Reads a file; nothing where it is not there.
    fn pixels(&self, set: usize, sheet: &Sheet<Rect>, file: &str) -> Result<Option<Pixels>> {
        let name = Path::new(file);
        if name.components().any(|part| !matches!(part, Component::Normal(_))) {
            bail!("its name leads out of the folder");
        }
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let (bytes, size) = (read_file(&path)?, [sheet.width, sheet.height]);
        let is_hdr = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hdr"));
        Ok(Some(match (self.fresh.sets()[set].form(), is_hdr) {
            (LuxelForm::Rgbe, true) => Pixels::Rgbe(read_hdr(&bytes, size)?),
            (LuxelForm::Rgbe | LuxelForm::Grey, false) => Pixels::Shown(read_png(&bytes, size)?),
            (_, false) => Pixels::Rgb(read_png(&bytes, size)?),
            (_, true) => bail!("this light is in PNGs"),
        }))
    }

    fn images(&mut self, set: usize, sheet: &Sheet<Rect>, file: &str, pixels: &Pixels, job: &mut Job<'_>) {
        for rect in &sheet.images {
            let done = self.place(set, rect).and_then(|image| self.image(image, sheet, rect, pixels));
            match done {
                Ok(changed) => self.changed += changed,
                Err(error) => self.fail(file, &error.context(named(rect)), job),
            }
        }
    }

    /// The image that a rectangle is of, where the map has one of this size.
    fn place(&self, set: usize, rect: &Rect) -> Result<Image> {
        let own = &self.fresh.sets()[set];
        let index = if own.is_pages() { rect.page } else { rect.face };
        let block = index.and_then(|index| own.block_of(index)).context("the map has no light for it")?;
        let image = Image { set, block, style: rect.nth, plane: rect.plane };
        let found = &own.blocks()[block];
        let style = found.styles().get(rect.nth).context("the map has no such style for it")?;
        if rect.style.is_some_and(|number| number != *style) || rect.plane >= found.planes() {
            bail!("the map has other styles for it");
        }
        let [wide, high] = found.size();
        if [wide, high] != [rect.width, rect.height] {
            bail!("it has {} by {} pixels, and {wide} by {high} are expected", rect.width, rect.height);
        }
        Ok(image)
    }

    fn image(&mut self, image: Image, sheet: &Sheet<Rect>, rect: &Rect, pixels: &Pixels) -> Result<usize> {
        let (right, bottom) = (rect.x.checked_add(rect.width), rect.y.checked_add(rect.height));
        if right.is_none_or(|right| right > sheet.width) || bottom.is_none_or(|bottom| bottom > sheet.height) {
            bail!("it reaches out of its file");
        }
        let fresh = &self.fresh;
        let mut clashes = HashSet::new();
        let changed = self.light.update(image, |[x, y], now| {
            let old = fresh.luxel(image, [x, y]).unwrap_or(now);
            let new = pixels.luxel((rect.y + y) * sheet.width + rect.x + x, old);
            // What is the same says nothing, as another image of the same luxel may have changed it.
            if new == old || new == now {
                return now;
            }
            if now != old {
                clashes.insert([x, y]);
                return now;
            }
            new
        });
        match clashes.into_iter().min() {
            None => Ok(changed),
            Some([x, y]) => bail!("pixel {x}, {y} of it changes a luxel that another image changes otherwise"),
        }
    }
}

fn named(rect: &Rect) -> String {
    let what = match (rect.face, rect.page, rect.style) {
        (Some(face), _, Some(style)) => format!("face {face}, style {style}"),
        (Some(face), ..) => format!("face {face}"),
        (None, Some(page), _) => format!("page {page}"),
        (None, None, _) => "an image of nothing".to_owned(),
    };
    if rect.plane == 0 { what } else { format!("{what}, direction {}", rect.plane) }
}

/// Whose light a file has.
fn whose(sheet: &Sheet<Rect>) -> String {
    let mut faces: Vec<usize> = sheet.images.iter().filter_map(|rect| rect.face).collect();
    faces.dedup();
    match (&faces[..], &sheet.images[..]) {
        (_, [rect]) => named(rect),
        ([], _) => "no image".to_owned(),
        ([face], _) => format!("face {face}"),
        ([first, .., last], _) => format!("faces {first} to {last}"),
    }
}
