//! The light of faces: which set is shown, where each face is on the pages, and the pages as images.

use std::collections::BTreeSet;

use bspkit::content::lightmap::{Luxel, Precision, extents};
use bspkit::dialect::LuxelForm;
use bspkit::{Bsp, Records};

use crate::atlas::{self, BLACK, PLAIN, Page, Place};
use crate::builder::{Findings, LIGHT, LIMIT};
use crate::luxels::Source;
use crate::options::Options;
use crate::parts::{LightImage, LightPages};
use crate::picture::Picture;
use crate::points::{Point, along, single};
use bspkit::bytes::{amount, rounded, short};

/// The most luxels of the images of all styles.
const MOST_DRAWN: usize = 1 << 28;

/// Light with exponents is shown up to this; 1 shows a texture unchanged.
const BRIGHTEST: f32 = 2.0;

/// The light of a map.
pub(crate) struct Lighting<'a> {
    source: Source<'a>,
    pages: Vec<Page>,
    /// The place of each block.
    places: Vec<Option<Place>>,
    /// For each face its own vectors from a point to a luxel, if the map has such.
    vectors: Option<Records<'a>>,
    /// What faces without light show: black in games that draw them so, otherwise the texture as it is.
    unlit: [usize; 2],
}

/// Reads the light of the chosen faces.
pub(crate) fn read<'a>(
    map: &Bsp<'a>,
    options: &Options<'_>,
    is_face: &dyn Fn(usize) -> bool,
    findings: &mut Findings,
) -> Option<Lighting<'a>> {
    let source = Source::read(map, options, findings)?;
    let sizes: Vec<[usize; 2]> = (0..source.len()).map(|block| source.size_for(block, is_face)).collect();
    let (places, pages) = atlas::pack(&sizes);
    let lost = sizes.iter().zip(&places).filter(|(size, place)| **size != [0; 2] && place.is_none()).count();
    if lost > 0 {
        let message = format!("the light of {lost} {} is too large, and is not shown", source.unit());
        findings.add(&LIMIT, source.spot(), message);
    }
    let vectors = source.set().filter(|set| set.placed_by() != set.faces());
    let vectors = vectors.and_then(|set| map.records(set.placed_by()).ok());
    let vectors = vectors.filter(|records| records.column("vectors").ok().is_some());
    // Engines of maps with clip nodes draw faces without light black; those of others draw them bright.
    let is_black = map.role(bspkit::dialect::Role::ClipNodes).is_some();
    let unlit = if is_black { BLACK } else { PLAIN };
    Some(Lighting { source, pages, places, vectors, unlit })
}

/// Where a face is lit: the page, and how its points come to luxels there.
pub(crate) struct Spread {
    pub(crate) page: usize,
    /// Columns and rows of the page.
    size: [f32; 2],
    /// The middle of the first luxel.
    first: [f32; 2],
    how: How,
}

enum How {
    /// The same luxel for all points.
    Fixed,
    /// Luxels by vectors, less the first luxel of the face, of this many steps each.
    /// No point is outside of this many luxels.
    Vectors { vectors: [[f32; 4]; 2], mins: [f64; 2], step: f64, size: [usize; 2] },
    /// A grid of luxels over the face, with this many steps.
    Grid([f32; 2]),
    /// A whole page, by coordinates from 0 to 1.
    Page([f32; 2]),
}

impl Spread {
    /// The coordinates of a point on the page.
    pub(crate) fn of(&self, point: Point) -> [f32; 2] {
        match &self.how {
            How::Vectors { vectors, mins, step, size } => self.at(std::array::from_fn(|axis| {
                let luxel = along(vectors[axis], point) / step - mins[axis];
                // Half a luxel around the middle of the first and the last one.
                if luxel.is_finite() { rounded(luxel.clamp(-0.5, amount(size[axis]) - 0.5)) } else { 0.0 }
            })),
            _ => self.at([0.0; 2]),
        }
    }

    /// The coordinates of a place on a grid over the face: 0 to 1 along columns and rows.
    pub(crate) fn on_grid(&self, place: [f32; 2]) -> [f32; 2] {
        match self.how {
            How::Grid(steps) => self.at([place[0] * steps[0], place[1] * steps[1]]),
            _ => self.at([0.0; 2]),
        }
    }

    /// The coordinates of a place on a page of the map: 0 to 1. What is nearer to the edge than half a luxel is moved,
    /// as graphics cards do it.
    pub(crate) fn on_page(&self, place: [f32; 2]) -> [f32; 2] {
        match self.how {
            How::Page(size) => self.at(std::array::from_fn(|axis| {
                let luxel = place[axis] * size[axis] - 0.5;
                if luxel.is_finite() { luxel.clamp(0.0, size[axis] - 1.0) } else { 0.0 }
            })),
            _ => self.at([0.0; 2]),
        }
    }

    /// The coordinates of a luxel, counted from the first one.
    fn at(&self, luxel: [f32; 2]) -> [f32; 2] {
        std::array::from_fn(|axis| {
            let place = (self.first[axis] + luxel[axis]) / self.size[axis];
            if place.is_finite() { place } else { 0.0 }
        })
    }
}

impl Lighting<'_> {
    fn spread(&self, page: usize, at: [usize; 2], how: How) -> Spread {
        let size = self.pages[page].size.map(single);
        Spread { page, size, first: at.map(|luxel| single(luxel) + 0.5), how }
    }

    /// The block of a face or page and its place.
    fn of(&self, face: usize) -> Option<(usize, Place)> {
        let block = self.source.block_of(face)?;
        Some((block, self.places[block]?))
    }

    /// Whether a face has luxels.
    pub(crate) fn has(&self, face: usize) -> bool {
        self.of(face).is_some()
    }

    /// The light of a surface that is drawn with its texture as it is.
    pub(crate) fn plain(&self) -> Spread {
        self.spread(0, PLAIN, How::Fixed)
    }

    /// The light of a face without luxels.
    pub(crate) fn none(&self) -> Spread {
        self.spread(0, self.unlit, How::Fixed)
    }

    /// The light of a face that engines find by its extents; the vectors are those of its texture, in texels.
    pub(crate) fn by_extents(&self, face: usize, corners: &[Point], vectors: [[f32; 4]; 2]) -> Spread {
        let Some((block, place)) = self.of(face) else { return self.none() };
        if let Some(own) = self.own_vectors(face) {
            return self.spread(
                place.page,
                place.at,
                How::Vectors { vectors: own, mins: [0.0; 2], step: 1.0, size: place.size },
            );
        }
        let is_single = self.source.is_in_single_precision(block);
        let precision = if is_single { Precision::Single } else { Precision::Double };
        let shift = self.source.shift(block);
        let Some(found) = extents(corners.iter().copied(), &vectors, shift, precision) else { return self.none() };
        let (mins, size) = (found.luxel_mins.map(f64::from), place.size);
        let how = How::Vectors { vectors, mins, step: 2_f64.powi(shift.into()), size };
        self.spread(place.page, place.at, how)
    }

    /// The light of a face that states its first luxel; the vectors are those of its light, in luxels.
    pub(crate) fn by_vectors(&self, face: usize, vectors: [[f32; 4]; 2], mins: [f64; 2]) -> Spread {
        let Some((_, place)) = self.of(face) else { return self.none() };
        self.spread(place.page, place.at, How::Vectors { vectors, mins, step: 1.0, size: place.size })
    }

    /// The light of a displacement, whose luxels are a grid over it.
    pub(crate) fn by_grid(&self, face: usize) -> Spread {
        let Some((block, place)) = self.of(face) else { return self.none() };
        let steps = self.source.size(block).map(|luxels| single(luxels.saturating_sub(1)));
        self.spread(place.page, place.at, How::Grid(steps))
    }

    /// The light on a page of the map; `None` if the map does not have it.
    pub(crate) fn by_page(&self, page: usize) -> Option<Spread> {
        let (block, place) = self.of(page)?;
        Some(self.spread(place.page, place.at, How::Page(self.source.size(block).map(single))))
    }

    fn own_vectors(&self, face: usize) -> Option<[[f32; 4]; 2]> {
        let records = self.vectors.as_ref()?;
        let column = records.column("vectors").ok()?;
        Some([0, 4].map(|first| column.floats(face, first)))
    }

    /// Draws the pages of every style.
    pub(crate) fn draw(&self, is_exact: bool, findings: &mut Findings) -> Option<LightPages> {
        let form = self.source.form();
        let is_exact = is_exact && form == LuxelForm::Rgbe;
        let placed = (0..self.places.len()).filter(|block| self.places[*block].is_some());
        let mut styles: BTreeSet<u16> = placed.flat_map(|block| self.source.styles(block)).copied().collect();
        let base = *styles.first().unwrap_or(&0);
        styles.insert(base);
        let area: usize = self.pages.iter().map(|page| page.size[0] * page.size[1]).sum();
        let most = (MOST_DRAWN / area.max(1)).max(1);
        if styles.len() > most {
            let message = format!("light of {} styles is not shown", styles.len() - most);
            findings.add(&LIMIT, self.source.spot(), message);
        }
        let mut images = Vec::new();
        let kinds = if is_exact { &[false, true][..] } else { &[false][..] };
        for (style, is_exact) in
            styles.into_iter().take(most).flat_map(|style| kinds.iter().map(move |it| (style, *it)))
        {
            for page in 0..self.pages.len() {
                match self.page(style, page, is_exact, style == base) {
                    Ok(picture) => images.push(LightImage { style, page, is_exact, picture }),
                    Err(error) => findings.fail(&LIGHT, &error),
                }
            }
        }
        let brightest = if form == LuxelForm::Rgbe { BRIGHTEST } else { 1.0 };
        let pages = self.pages.iter().map(|page| page.size).collect();
        let set = self.source.set().map_or("", |set| set.name());
        Some(LightPages { set, pages, brightest, images })
    }

    /// The image of a page. That of the style that is shown has the luxel of textures as they are.
    fn page(&self, style: u16, page: usize, is_exact: bool, is_base: bool) -> bspkit::Result<Picture> {
        let [wide, high] = self.pages[page].size;
        let channels = if is_exact { 4 } else { 3 };
        let mut pixels = vec![0; wide * high * channels];
        let form = self.source.form();
        for (block, place) in self.places.iter().enumerate() {
            let Some(place) = place.filter(|place| place.page == page) else { continue };
            let Some(bytes) = self.source.luxels(block, style) else { continue };
            let rows = bytes.chunks_exact((place.size[0] * form.bytes()).max(1));
            for (row, luxels) in rows.enumerate() {
                let start = ((place.at[1] + row) * wide + place.at[0]) * channels;
                let line = &mut pixels[start..start + place.size[0] * channels];
                for (pixel, luxel) in line.chunks_exact_mut(channels).zip(luxels.chunks_exact(form.bytes())) {
                    match pixel {
                        [red, green, blue, exponent] => {
                            [*red, *green, *blue] = [luxel[0], luxel[1], luxel[2]];
                            // From -128 on, as in Radiance files.
                            *exponent = luxel[3] ^ 0x80;
                        }
                        _ => pixel.copy_from_slice(&Luxel::read(form, luxel).shown()),
                    }
                }
            }
        }
        if is_base {
            let start = (PLAIN[1] * wide + PLAIN[0]) * channels;
            let plain = self.plain_luxel(is_exact);
            pixels[start..start + channels].copy_from_slice(&plain[..channels]);
        }
        let size = [short(wide), short(high)];
        if is_exact { Picture::raw(size, &pixels) } else { Picture::rgb(size, &pixels) }
    }

    /// The color that shows a texture unchanged.
    fn plain_luxel(&self, is_exact: bool) -> [u8; 4] {
        if is_exact {
            return [255, 255, 255, 128];
        }
        let luxel = match self.source.form() {
            LuxelForm::Rgbe => Luxel::Rgbe([255; 3], 0),
            _ => Luxel::Rgb([255; 3]),
        };
        let [red, green, blue] = luxel.shown();
        [red, green, blue, 255]
    }
}
