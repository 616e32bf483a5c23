//! Light as images: files with the light of many faces or of one, and the index `light.json`.
//!
//! ```
//! use bspkit_text::images::light::{Index, export, import};
//!
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let light = map.light()?;
//! let folder = tempfile::tempdir().unwrap();
//! let export = export(&map, &light, "own_rooms.bsp", false, |_, _, _| true)?;
//! for file in export.files() {
//!     for (name, bytes) in export.encode(file)? {
//!         std::fs::write(folder.path().join(name), bytes).unwrap();
//!     }
//! }
//! std::fs::write(folder.path().join(bspkit_text::images::light::INDEX), export.index()).unwrap();
//!
//! let mut draft = map.draft();
//! let taken = import(draft.light()?, &Index::read(folder.path())?);
//! assert_eq!((taken.changed, taken.faults.len()), (0, 0));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::images::{bad, read_file, read_hdr, read_png, refused, same_color, write_hdr, write_png};
use bspkit::content::lightmap::{Block, Image, Light, LightSet, Luxel};
use bspkit::dialect::LuxelForm;
use bspkit::disk::{input, shown};
use bspkit::{Bsp, Error, ErrorKind, Result};

// `light.json`: the positions of all images in the files of an export.

/// The name of the file with the index, in the folder of an export.
pub const INDEX: &str = "light.json";

/// The value of the member `kind`.
const KIND: &str = "bspkit light";

/// A file with images; `I` is [`Rect`], or its text on one line.
#[derive(Serialize, Deserialize)]
struct Sheet<I> {
    /// The light with the exact numbers of the map: a PNG or a Radiance picture.
    file: String,
    /// A preview PNG, if the file is not a PNG.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    width: usize,
    height: usize,
    images: Vec<I>,
}

/// The light of one lump.
#[derive(Serialize, Deserialize)]
struct Set<I> {
    /// Empty if the map has only one.
    name: String,
    lump: String,
    files: Vec<Sheet<I>>,
}

/// The whole document.
#[derive(Serialize, Deserialize)]
struct Document<I> {
    kind: String,
    version: u32,
    map: String,
    dialect: String,
    sets: Vec<Set<I>>,
    /// The positions of surfaces on the pages. This is for the user; `import` does not read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    surfaces: Vec<I>,
}

/// The place of an image in a file. A page has no style.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Rect {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    face: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<usize>,
    /// The style's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    style: Option<u16>,
    /// The index among the styles of the face, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    nth: usize,
    /// 0, or the number of a direction of a bumped face.
    #[serde(default, skip_serializing_if = "is_zero")]
    plane: usize,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Rect {
    /// Its text, on one line.
    fn to_line(self) -> Result<Box<RawValue>> {
        let text = serde_json::to_string(&self).and_then(RawValue::from_string);
        text.map_err(|error| bad("it cannot be written").with_source(error))
    }
}

/// The content of `light.json`: for each face, the file and the position of its light.
///
/// ```
/// use bspkit_text::images::light::Index;
/// assert!(Index::read("../../tests/maps".as_ref()).is_err()); // there is no light.json
/// ```
pub struct Index {
    folder: PathBuf,
    document: Document<Rect>,
}

impl Index {
    /// Reads the index in a folder.
    ///
    /// # Errors
    /// The file cannot be read, or is not an index.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(INDEX);
        let read = read_file(&path).and_then(|text| {
            let wrong = |error: serde_json::Error| Error::new(ErrorKind::Argument, error.to_string());
            let document: Document<Rect> = serde_json::from_slice(&text).map_err(wrong)?;
            match (&*document.kind, document.version) {
                (KIND, 1) => Ok(document),
                (kind, version) => Err(bad(format!("its kind is `{kind}`, version {version}, which is not supported"))),
            }
        });
        let document = read.map_err(|error| error.within(format!("cannot read {}", shown(&path))))?;
        Ok(Index { folder: folder.to_owned(), document })
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let sheets = self.document.sets.iter().flat_map(|set| &set.files);
        sheets.flat_map(|file| [Some(&file.file), file.shown.as_ref()]).flatten().map(|name| self.folder.join(name))
    }
}

// Writes light as images.

/// The light of a map as files.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let light = map.light()?;
/// let export = bspkit_text::images::light::export(&map, &light, "own_rooms.bsp", true, |_, block, _| block.index()
/// == 0)?; assert!(export.names().all(|name| name.starts_with("faces/00000")));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Export<'l, 'a> {
    light: &'l Light<'a>,
    sheets: Vec<File>,
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
    pub fn files(&self) -> &[File] {
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
    pub fn encode(&self, sheet: &File) -> Result<Vec<(String, Vec<u8>)>> {
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

fn document(bsp: &Bsp<'_>, light: &Light<'_>, sheets: &[File], map: &str) -> Result<Document<Box<RawValue>>> {
    let mut sets: Vec<Set<_>> = Vec::new();
    let mut last = None;
    for sheet in sheets {
        let set = &light.sets()[sheet.set];
        if last != Some(sheet.set) {
            let (name, lump) = (set.name().to_owned(), set.lump().to_owned());
            sets.push(Set { name, lump, files: Vec::new() });
            last = Some(sheet.set);
        }
        let images = sheet.places.iter().map(|place| rect(light, place).to_line()).collect::<Result<_>>()?;
        let [width, height] = sheet.size;
        let (file, shown) = names(light, sheet);
        let file = Sheet { file, shown, width, height, images };
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
        kind: KIND.to_owned(),
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
fn names(light: &Light<'_>, sheet: &File) -> (String, Option<String>) {
    let png = format!("{}.png", sheet.stem);
    match light.sets()[sheet.set].form() {
        LuxelForm::Rgbe => (format!("{}.hdr", sheet.stem), Some(png)),
        _ => (png, None),
    }
}

/// A luxel as a Radiance pixel, whose exponent is biased by 128. 256 in a luxel is 1 in Radiance.
fn radiance([red, green, blue, exponent]: &[u8; 4]) -> [u8; 4] {
    [*red, *green, *blue, exponent ^ 0x80]
}

/// The pixels of a sheet; zero outside of images.
fn pixels<const N: usize>(light: &Light<'_>, sheet: &File) -> Vec<[u8; N]> {
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

// The files of an export, and the positions of the images in them.

/// A file of an export.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let light = map.light()?;
/// let export = bspkit_text::images::light::export(&map, &light, "own_rooms.bsp", false, |_, _, _| true)?;
/// assert_eq!(export.files()[0].image_count(), light.images().count());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct File {
    /// The path below the folder, without extension.
    stem: String,
    /// Which of the sets it is of.
    set: usize,
    size: [usize; 2],
    places: Vec<Place>,
}

impl File {
    /// The number of images in it.
    pub fn image_count(&self) -> usize {
        self.places.len()
    }
}

/// An image in a file: its first column and row.
#[derive(Clone, Debug)]
struct Place {
    image: Image,
    at: [usize; 2],
}

/// Columns of a page, and rows; a page with a larger image is larger.
const PAGE: usize = 512;

/// The files for the light of a map.
fn sheets(light: &Light<'_>, single: bool, is_chosen: impl Fn(&LightSet, &Block, usize) -> bool) -> Vec<File> {
    let mut sheets = Vec::new();
    for (index, set) in light.sets().iter().enumerate() {
        let folder = if set.name().is_empty() { String::new() } else { format!("{}/", set.name()) };
        let is_meant = |image: &Image| is_chosen(set, &set.blocks()[image.block], image.style);
        let mut shelf = Shelf { folder: &folder, set: index, pages: 0, row: 0, at: [0; 2] };
        let first = sheets.len();
        for image in light.images().filter(|image| image.set == index).filter(is_meant) {
            let block = &set.blocks()[image.block];
            let whole = |stem: String| {
                let place = Place { image, at: [0; 2] };
                File { stem: format!("{folder}{stem}"), set: index, size: block.size(), places: vec![place] }
            };
            if set.is_pages() {
                sheets.push(whole(format!("page_{:03}", block.index())));
            } else if single {
                sheets.push(whole(face_stem(block.index(), block.styles(), image)));
            } else {
                shelf.put(image, block.size(), &mut sheets);
            }
        }
        // Pages end with their last row.
        for sheet in &mut sheets[first..] {
            let bottom = |place: &Place| place.at[1] + light.block(place.image).map_or(0, |block| block.size()[1]);
            sheet.size[1] = sheet.places.iter().map(bottom).max().unwrap_or(1);
        }
    }
    sheets
}

/// `faces/00012_s0`; `_b1` to `_b3` for the directions of bumped faces.
fn face_stem(face: usize, styles: &[u16], image: Image) -> String {
    let style = styles[image.style];
    let again = match styles.iter().take(image.style).filter(|other| **other == style).count() {
        0 => String::new(),
        again => format!("x{again}"),
    };
    let plane = if image.plane == 0 { String::new() } else { format!("_b{}", image.plane) };
    format!("faces/{face:05}_s{style}{again}{plane}")
}

/// Places images side by side in their order, row by row.
struct Shelf<'f> {
    folder: &'f str,
    set: usize,
    pages: usize,
    /// The height of the row that is being filled.
    row: usize,
    at: [usize; 2],
}

impl Shelf<'_> {
    fn put(&mut self, image: Image, [wide, high]: [usize; 2], sheets: &mut Vec<File>) {
        if self.pages > 0 && self.at[0] + wide > PAGE {
            self.at = [0, self.at[1] + self.row];
            self.row = 0;
        }
        // An image that is larger than a page gets a page of its size.
        let is_full = self.at != [0; 2] && self.at[1] + high.max(self.row) > PAGE;
        if self.pages == 0 || is_full || wide > PAGE {
            let stem = format!("{}page_{:03}", self.folder, self.pages);
            sheets.push(File { stem, set: self.set, size: [PAGE.max(wide), PAGE], places: Vec::new() });
            (self.pages, self.at, self.row) = (self.pages + 1, [0; 2], 0);
        }
        if let Some(sheet) = sheets.last_mut() {
            sheet.places.push(Place { image, at: self.at });
        }
        self.at[0] += wide;
        self.row = self.row.max(high);
    }
}

// Reads light from images.

/// The result of an import.
///
/// ```
/// use bspkit_text::images::light::Imported;
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
    let carried = import.light.carry(&import.fresh).unwrap_or_else(|error| {
        import.faults.push(error.to_string());
        0
    });
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
        })?;
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
