//! Reads light from images.

use std::collections::HashSet;
use std::path::{Component, Path};

use super::export::radiance;
use super::index::{Index, Rect, Sheet};
use crate::content::lightmap::{Image, Light, Luxel};
use crate::dialect::LuxelForm;
use crate::face::images::hdr::{read_hdr, same_color};
use crate::face::images::rgb::read_png;
use crate::face::images::{bad, read_file, refused};
use crate::face::input;
use crate::{Error, Result};

/// The result of an import.
///
/// ```
/// use bspkit::face::images::light::Imported;
/// fn is_clean(taken: &Imported) -> bool {
///     taken.faults.is_empty()
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The number of changed luxels.
    pub changed: usize,
    /// The number of luxels in other lumps that changed with them, since they repeat the same light.
    pub carried: usize,
    /// Images that cannot be imported: a sentence each.
    pub faults: Vec<String>,
}

/// Reads the light from the files of an index. Each image is compared with what an export would write now; only changed
/// pixels change their luxels.
pub fn import(light: &mut Light<'_>, index: &Index) -> Imported {
    let fresh = light.clone();
    let mut import = Import { light, fresh, folder: &index.folder, changed: 0, faults: Vec::new() };
    for set in &index.document.sets {
        let place = import.fresh.sets().iter().position(|own| own.name() == set.name);
        for sheet in &set.files {
            match place {
                Some(place) => import.sheet(place, sheet),
                None => import.fail(&sheet.file, &refused(format!("the map has no light in {}", set.lump))),
            }
        }
    }
    let carried = import.light.carry(&import.fresh);
    Imported { changed: import.changed, carried, faults: import.faults }
}

struct Import<'l, 'a, 'f> {
    /// The light before the import, and the light that is changed.
    fresh: Light<'a>,
    light: &'l mut Light<'a>,
    folder: &'f Path,
    changed: usize,
    faults: Vec<String>,
}

/// The pixels of a file, as luxels of one format.
enum Pixels {
    Rgb(Vec<u8>),
    Rgbe(Vec<[u8; 4]>),
    /// Luxels with an exponent, as the colors of a preview.
    Shown(Vec<u8>),
}

impl Pixels {
    /// The new value of a luxel with the value `old`.
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

/// A Radiance pixel as a luxel. In Radiance, black has no exponent.
fn of_radiance([red, green, blue, exponent]: [u8; 4]) -> Luxel {
    match exponent {
        0 => Luxel::Rgbe([0; 3], 0),
        exponent => Luxel::Rgbe([red, green, blue], i8::from_le_bytes([exponent ^ 0x80])),
    }
}

impl Import<'_, '_, '_> {
    fn fail(&mut self, file: &str, error: &Error) {
        let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
        let text: Vec<String> = causes.map(ToString::to_string).collect();
        self.faults.push(format!("{file}: {}", text.join(": ")));
    }

    /// Imports the files of a sheet that exist.
    fn sheet(&mut self, set: usize, sheet: &Sheet<Rect>) {
        let mut any_is_there = false;
        for file in [Some(&sheet.file), sheet.shown.as_ref()].into_iter().flatten() {
            match self.pixels(set, sheet, file) {
                Ok(None) => {}
                Ok(Some(pixels)) => {
                    any_is_there = true;
                    self.images(set, sheet, file, &pixels);
                }
                Err(error) => {
                    any_is_there = true;
                    self.fail(file, &error.within(whose(sheet)));
                }
            }
        }
        if !any_is_there {
            self.fail(&sheet.file, &bad("the file does not exist").within(whose(sheet)));
        }
    }

    /// Reads a file; `None` if it does not exist.
    fn pixels(&self, set: usize, sheet: &Sheet<Rect>, file: &str) -> Result<Option<Pixels>> {
        let name = Path::new(file);
        if name.components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(refused("its name leads out of the folder"));
        }
        let path = self.folder.join(name);
        if !input::is_there(&path)? {
            return Ok(None);
        }
        let (bytes, size) = (read_file(&path)?, [sheet.width, sheet.height]);
        let is_hdr = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hdr"));
        Ok(Some(match (self.fresh.sets()[set].form(), is_hdr) {
            (LuxelForm::Rgbe, true) => Pixels::Rgbe(read_hdr(&bytes, size)?),
            (LuxelForm::Rgbe | LuxelForm::Grey, false) => Pixels::Shown(read_png(&bytes, size)?),
            (_, false) => Pixels::Rgb(read_png(&bytes, size)?),
            (_, true) => return Err(refused("this light is in PNG files, not in .hdr files")),
        }))
    }

    fn images(&mut self, set: usize, sheet: &Sheet<Rect>, file: &str, pixels: &Pixels) {
        for rect in &sheet.images {
            let done = self.place(set, rect).and_then(|image| self.image(image, sheet, rect, pixels));
            match done {
                Ok(changed) => self.changed += changed,
                Err(error) => self.fail(file, &error.within(named(rect))),
            }
        }
    }

    /// The image of a rectangle, if the map has it with this size.
    fn place(&self, set: usize, rect: &Rect) -> Result<Image> {
        let own = &self.fresh.sets()[set];
        let index = if own.is_pages() { rect.page } else { rect.face };
        let block =
            index.and_then(|index| own.block_of(index)).ok_or_else(|| refused("the map has no light for it"))?;
        let image = Image { set, block, style: rect.nth, plane: rect.plane };
        let found = &own.blocks()[block];
        let style = found.styles().get(rect.nth).ok_or_else(|| refused("the map has no such style for it"))?;
        if rect.style.is_some_and(|number| number != *style) || rect.plane >= found.planes() {
            return Err(refused("the map has other styles for it"));
        }
        let [wide, high] = found.size();
        if [wide, high] != [rect.width, rect.height] {
            let message = format!("it has {} by {} pixels, but {wide} by {high} are expected", rect.width, rect.height);
            return Err(refused(message));
        }
        Ok(image)
    }

    fn image(&mut self, image: Image, sheet: &Sheet<Rect>, rect: &Rect, pixels: &Pixels) -> Result<usize> {
        let (right, bottom) = (rect.x.checked_add(rect.width), rect.y.checked_add(rect.height));
        if right.is_none_or(|right| right > sheet.width) || bottom.is_none_or(|bottom| bottom > sheet.height) {
            return Err(refused("it reaches out of its file"));
        }
        let fresh = &self.fresh;
        let mut clashes = HashSet::new();
        let changed = self.light.update(image, |[x, y], now| {
            let old = fresh.luxel(image, [x, y]).unwrap_or(now);
            let new = pixels.luxel((rect.y + y) * sheet.width + rect.x + x, old);
            // An unchanged pixel is skipped, since another image of the same luxel may have changed it.
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
            Some([x, y]) => {
                let message =
                    format!("its pixel {x}, {y} and a pixel of another image give one luxel different values");
                Err(refused(message))
            }
        }
    }
}

fn named(rect: &Rect) -> String {
    let what = match (rect.face, rect.page, rect.style) {
        (Some(face), _, Some(style)) => format!("face {face}, style {style}"),
        (Some(face), ..) => format!("face {face}"),
        (None, Some(page), _) => format!("page {page}"),
        (None, None, _) => "an image without a face or page".to_owned(),
    };
    if rect.plane == 0 { what } else { format!("{what}, direction {}", rect.plane) }
}

/// The faces or pages whose light a file has.
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
