//! Writes light as images.

use serde_json::value::RawValue;

use super::index::{self, Document, Rect};
use super::pack::{Place, Sheet, sheets};
use crate::content::lightmap::{Block, Light, LightSet, Luxel};
use crate::dialect::LuxelForm;
use crate::face::images::bad;
use crate::face::images::hdr::write_hdr;
use crate::face::images::rgb::write_png;
use crate::{Bsp, Result};

/// The light of a map as files.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let light = map.light()?;
/// let export = bspkit::face::images::light::export(&map, &light, "own_rooms.bsp", true, |_, block, _| block.index()
/// == 0)?; assert!(export.names().all(|name| name.starts_with("faces/00000")));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Export<'l, 'a> {
    light: &'l Light<'a>,
    sheets: Vec<Sheet>,
    index: Vec<u8>,
}

/// Arranges the light of a map in files: pages with the light of many faces, or with `single` a file for each image.
/// `is_chosen` selects light by its set, its face or page, and the index among the styles of the face. `map` is the
/// name of the map in the index.
///
/// # Errors
/// The surfaces of the map cannot be read.
pub fn export<'l, 'a>(
    bsp: &Bsp<'_>,
    light: &'l Light<'a>,
    map: &str,
    single: bool,
    is_chosen: impl Fn(&LightSet, &Block, usize) -> bool,
) -> Result<Export<'l, 'a>> {
    let sheets = sheets(light, single, is_chosen);
    let document = document(bsp, light, &sheets, map)?;
    let index = serde_json::to_vec_pretty(&document);
    let mut index = index.map_err(|error| bad("the index cannot be written").with_source(error))?;
    index.push(b'\n');
    Ok(Export { light, sheets, index })
}

impl Export<'_, '_> {
    /// The files; empty if no light was selected.
    pub fn files(&self) -> &[Sheet] {
        &self.sheets
    }

    /// The names of all files in the folder except the index, with `/` between folders.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.sheets.iter().flat_map(|sheet| {
            let (file, shown) = names(self.light, sheet);
            [Some(file), shown].into_iter().flatten()
        })
    }

    /// The text of the index.
    pub fn index(&self) -> &[u8] {
        &self.index
    }

    /// The name and the bytes of a file, and those of its preview PNG if the file is not a PNG.
    ///
    /// # Errors
    /// The image is too large.
    pub fn encode(&self, sheet: &Sheet) -> Result<Vec<(String, Vec<u8>)>> {
        let (light, mut png) = (self.light, Vec::new());
        let (file, shown) = names(light, sheet);
        match light.sets()[sheet.set].form() {
            LuxelForm::Rgbe => {
                let pixels = pixels::<4>(light, sheet);
                let hdr = write_hdr(sheet.size, &pixels.iter().map(radiance).collect::<Vec<_>>());
                let colors = pixels.iter().flat_map(|[red, green, blue, exponent]| {
                    Luxel::Rgbe([*red, *green, *blue], i8::from_le_bytes([*exponent])).shown()
                });
                write_png(&mut png, sheet.size, &colors.collect::<Vec<u8>>())?;
                return Ok([(file, hdr)].into_iter().chain(shown.map(|name| (name, png))).collect());
            }
            LuxelForm::Grey => {
                let pixels = pixels::<1>(light, sheet);
                let colors: Vec<u8> = pixels.iter().flat_map(|[grey]| [*grey; 3]).collect();
                write_png(&mut png, sheet.size, &colors)?;
            }
            _ => write_png(&mut png, sheet.size, pixels::<3>(light, sheet).as_flattened())?,
        }
        Ok(vec![(file, png)])
    }
}

fn document(bsp: &Bsp<'_>, light: &Light<'_>, sheets: &[Sheet], map: &str) -> Result<Document<Box<RawValue>>> {
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
        let (file, shown) = names(light, sheet);
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
    Ok(Document {
        kind: index::KIND.to_owned(),
        version: 1,
        map: map.to_owned(),
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

/// The name of the file of a sheet, and that of its preview PNG if the file is not a PNG.
fn names(light: &Light<'_>, sheet: &Sheet) -> (String, Option<String>) {
    let png = format!("{}.png", sheet.stem);
    match light.sets()[sheet.set].form() {
        LuxelForm::Rgbe => (format!("{}.hdr", sheet.stem), Some(png)),
        _ => (png, None),
    }
}

/// A luxel as a Radiance pixel, whose exponent is biased by 128. 256 in a luxel is 1 in Radiance.
pub(super) fn radiance([red, green, blue, exponent]: &[u8; 4]) -> [u8; 4] {
    [*red, *green, *blue, exponent ^ 0x80]
}

/// The pixels of a sheet; zero outside of images.
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
