//! The files of an export, and the positions of the images in them.

use crate::content::lightmap::{Block, Image, Light, LightSet};

/// A file of an export.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let light = map.light()?;
/// let export = bspkit::face::images::light::export(&map, &light, "own_rooms.bsp", false, |_, _, _| true)?;
/// assert_eq!(export.files()[0].image_count(), light.images().count());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The path below the folder, without extension.
    pub(super) stem: String,
    /// Which of the sets it is of.
    pub(super) set: usize,
    pub(super) size: [usize; 2],
    pub(super) places: Vec<Place>,
}

impl Sheet {
    /// The number of images in it.
    pub fn image_count(&self) -> usize {
        self.places.len()
    }
}

/// An image in a file: its first column and row.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) image: Image,
    pub(super) at: [usize; 2],
}

/// Columns of a page, and rows; a page with a larger image is larger.
const PAGE: usize = 512;

/// The files for the light of a map.
pub(super) fn sheets(
    light: &Light<'_>,
    single: bool,
    is_chosen: impl Fn(&LightSet, &Block, usize) -> bool,
) -> Vec<Sheet> {
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
                Sheet { stem: format!("{folder}{stem}"), set: index, size: block.size(), places: vec![place] }
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
fn face_stem(face: usize, styles: &[u8], image: Image) -> String {
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
    fn put(&mut self, image: Image, [wide, high]: [usize; 2], sheets: &mut Vec<Sheet>) {
        if self.pages > 0 && self.at[0] + wide > PAGE {
            self.at = [0, self.at[1] + self.row];
            self.row = 0;
        }
        // An image that is larger than a page gets a page of its size.
        let is_full = self.at != [0; 2] && self.at[1] + high.max(self.row) > PAGE;
        if self.pages == 0 || is_full || wide > PAGE {
            let stem = format!("{}page_{:03}", self.folder, self.pages);
            sheets.push(Sheet { stem, set: self.set, size: [PAGE.max(wide), PAGE], places: Vec::new() });
            (self.pages, self.at, self.row) = (self.pages + 1, [0; 2], 0);
        }
        if let Some(sheet) = sheets.last_mut() {
            sheet.places.push(Place { image, at: self.at });
        }
        self.at[0] += wide;
        self.row = self.row.max(high);
    }
}
