//! Light and textures that differ, as pairs of images.

use super::{Items, ROOM_OF_LINES, Section, Sides};
use crate::images::write_png;
use crate::page;
use bspkit::bytes::{index, nearest_byte};
use bspkit::content::lightmap::{Image, Light, LightSet, Luxel};
use bspkit::content::palette::Palette;
use bspkit::content::textures::{Miptex, Textures};
use bspkit::dialect::LuxelForm;
use bspkit::json::base64;
use bspkit_ops::compare::{Change, LightChange, LumpChanges, TextureChange};

// Light that differs, as images: the luxels of faces beside each other, and pages.

/// The most columns and rows of a sheet; one with a larger image is larger.
const SIDE: usize = 512;
/// The most light that a screen shows.
const LIMIT: f64 = 2.0;
/// How often light is halved at most.
const MOST_STOPS: i8 = 12;
/// Where a map has no luxels.
const NOTHING: [u8; 3] = [48, 34, 66];

/// The light of both maps.
type Lights<'l> = [&'l Light<'l>; 2];

pub(super) fn section(sides: &Sides<'_>, room: &mut Room) -> Option<Section> {
    let lumps: Vec<_> = sides.found.lumps.iter().filter(|lump| changes(lump).next().is_some()).collect();
    if lumps.is_empty() {
        return None;
    }
    let count = lumps.iter().map(|lump| changes(lump).count() + lump.more).sum();
    let lights = sides.maps.map(|map| map.light().ok());
    let (mut html, mut left) = (String::new(), 0);
    let parts = lumps.len();
    for lump in lumps {
        let name = page::name(lump.lump.as_bytes());
        html += &format!("<h3><code>{name}</code></h3>\n<p>{}.</p>\n", page::text(&lump.touched.to_string()));
        if let [Some(old), Some(new)] = &lights {
            html += &images([old, new], lump, room);
        }
        let mut items =
            Items::new(super::Room { bytes: ROOM_OF_LINES.bytes / parts, nodes: ROOM_OF_LINES.nodes / parts });
        changes(lump).for_each(|change| {
            items.add(|| format!("<li>{}</li>\n", page::text(&Change::Light(change.clone()).line("").to_string())));
        });
        items.and_more(lump.more);
        left += items.more;
        let (list, more) = items.finish("light");
        html += &format!("<details><summary>Each face or page</summary>\n<ul>\n{list}</ul>\n{more}</details>\n");
    }
    Some(Section { id: "light", title: "Light", count, more: left, html })
}

fn changes(lump: &LumpChanges) -> impl Iterator<Item = &LightChange> {
    lump.changes.iter().filter_map(|change| match change {
        Change::Light(light) => Some(light),
        _ => None,
    })
}

/// The sheets of a lump.
fn images(lights: Lights<'_>, lump: &LumpChanges, room: &mut Room) -> String {
    let (mut all, mut more) = (Vec::new(), 0);
    for cell in changes(lump).flat_map(|change| cells(lights, &lump.lump, change)) {
        match more == 0 && room.reserve(cell.size) {
            true => all.push(cell),
            false => more += 1,
        }
    }
    let sheets = sheets(all);
    let mut html = String::new();
    for (at, sheet) in sheets.iter().enumerate() {
        match sheet.pair(lights).figure(room) {
            Some(figure) => html += &figure,
            None => {
                more += sheets[at..].iter().map(|sheet| sheet.cells.len()).sum::<usize>();
                break;
            }
        }
    }
    html + left_out(more).as_str()
}

/// An image of a face or page that differs, in both maps.
struct Cell {
    images: [Option<Image>; 2],
    size: [usize; 2],
    title: String,
}

/// The images of a face or page that differ.
fn cells(lights: Lights<'_>, lump: &str, change: &LightChange) -> Vec<Cell> {
    let is_set = |set: &LightSet| set.name() == change.set && set.lump() == lump;
    let places = lights.map(|light| {
        let set = light.sets().iter().position(is_set)?;
        Some((set, light.sets()[set].block_of(change.index)?))
    });
    let shape = |side: usize| -> Option<(usize, usize)> {
        let (set, block) = places[side]?;
        let block = &lights[side].sets()[set].blocks()[block];
        Some((block.styles().len(), block.planes()))
    };
    let shapes = [shape(0), shape(1)].map(Option::unwrap_or_default);
    let (styles, planes) = (shapes[0].0.max(shapes[1].0), shapes[0].1.max(shapes[1].1));
    let mut cells = Vec::new();
    for (style, plane) in (0..styles).flat_map(|style| (0..planes).map(move |plane| (style, plane))) {
        let images = [0, 1].map(|side| {
            let (set, block) = places[side]?;
            let image = Image { set, block, style, plane };
            lights[side].bytes(image).map(|_| image)
        });
        let bytes = [0, 1].map(|side| images[side].and_then(|image| lights[side].bytes(image)));
        let sizes = [0, 1].map(|side| images[side].and_then(|image| Some(lights[side].block(image)?.size())));
        let size = [0, 1].map(|axis| sizes.iter().flatten().map(|size| size[axis]).max().unwrap_or(0));
        if bytes[0] != bytes[1] || sizes[0] != sizes[1] {
            cells.push(Cell { images, size, title: title(lights, change, images) });
        }
    }
    cells
}

fn title(lights: Lights<'_>, change: &LightChange, images: [Option<Image>; 2]) -> String {
    if change.is_page {
        return format!("page {}", change.index);
    }
    let style = [1, 0].iter().find_map(|side| {
        let image = images[*side]?;
        Some((*lights[*side].block(image)?.styles().get(image.style)?, image.plane))
    });
    let (style, plane) = style.unwrap_or_default();
    let plane = if plane > 0 { format!(", direction {plane}") } else { String::new() };
    format!("face {}, style {style}{plane}", change.index)
}

/// Puts cells on sheets that are about square, the highest ones first.
fn sheets(mut cells: Vec<Cell>) -> Vec<Sheet> {
    cells.sort_by_key(|cell| std::cmp::Reverse([cell.size[1], cell.size[0]]));
    let area: usize = cells.iter().map(|cell| (cell.size[0] + 1) * (cell.size[1] + 1)).sum();
    let widest = cells.iter().map(|cell| cell.size[0]).max().unwrap_or(0);
    let width = (area + area / 4).isqrt().min(SIDE).max(widest);
    let mut sheets: Vec<Sheet> = Vec::new();
    for cell in cells {
        match sheets.last_mut().filter(|sheet| sheet.fits(cell.size)) {
            Some(sheet) => sheet.put(cell),
            None => {
                let mut sheet = Sheet { width, cells: Vec::new(), at: [0; 2], row: 0 };
                sheet.put(cell);
                sheets.push(sheet);
            }
        }
    }
    sheets
}

/// Cells side by side, row by row.
struct Sheet {
    width: usize,
    cells: Vec<([usize; 2], Cell)>,
    /// The place of the next cell, and the height of its row.
    at: [usize; 2],
    row: usize,
}

impl Sheet {
    /// Where a cell would be: after the last one or in the next row.
    fn place(&self, size: [usize; 2]) -> [usize; 2] {
        if self.at[0] > 0 && self.at[0] + size[0] > self.width { [0, self.at[1] + self.row] } else { self.at }
    }

    fn fits(&self, size: [usize; 2]) -> bool {
        self.place(size)[1] + size[1] <= SIDE
    }

    fn put(&mut self, cell: Cell) {
        let (place, [wide, high]) = (self.place(cell.size), cell.size);
        let row = if place == self.at { self.row } else { 0 };
        // A column and a row are left between cells.
        self.row = row.max(high + 1);
        self.at = [place[0] + wide + 1, place[1]];
        self.cells.push((place, cell));
    }

    /// How often light without an upper limit is halved, so that a screen shows all but the brightest hundredth of it.
    fn stops(&self, lights: Lights<'_>) -> i8 {
        let mut light: Vec<f64> = Vec::new();
        for (side, image) in self.cells.iter().flat_map(|(_, cell)| cell.images.iter().enumerate()) {
            let Some((image, block)) = image.and_then(|image| Some((image, lights[side].block(image)?))) else {
                continue;
            };
            let wide = block.size()[0];
            let luxels = (0..block.luxels()).map(|at| lights[side].luxel(image, [at % wide, at / wide]));
            light.extend(luxels.flatten().filter(|luxel| luxel.form() == LuxelForm::Rgbe).map(brightest));
        }
        light.sort_unstable_by(f64::total_cmp);
        let most = light.get(light.len() * 99 / 100).copied().unwrap_or(0.0);
        (0..MOST_STOPS).find(|stops| most <= LIMIT * f64::from(*stops).exp2()).unwrap_or(MOST_STOPS)
    }

    fn pair(&self, lights: Lights<'_>) -> Pair {
        let end = |axis: usize| self.cells.iter().map(|(at, cell)| at[axis] + cell.size[axis]).max().unwrap_or(1);
        let [width, height] = [end(0), end(1)];
        let stops = self.stops(lights);
        let mut sides = [(); 2].map(|()| Picture::new(width, height, NOTHING));
        let mut difference = vec![[0.0; 3]; width * height];
        for ([left, top], cell) in &self.cells {
            for (x, y) in (0..cell.size[1]).flat_map(|y| (0..cell.size[0]).map(move |x| (x, y))) {
                let at = (top + y) * width + left + x;
                let luxel = |side: usize| lights[side].luxel(cell.images[side]?, [x, y]);
                let luxels = [luxel(0), luxel(1)];
                for (side, luxel) in sides.iter_mut().zip(luxels) {
                    side.pixels[at] = luxel.map_or(NOTHING, |luxel| darker(luxel, stops).shown());
                }
                if luxels[0] != luxels[1] {
                    let [old, new] = luxels.map(|luxel| luxel.map_or([0.0; 3], brightness));
                    difference[at] = std::array::from_fn(|part| (old[part] - new[part]).abs());
                }
            }
        }
        let cells = self.cells.iter().map(|([x, y], cell)| ([*x, *y, cell.size[0], cell.size[1]], cell.title.clone()));
        let title = match &self.cells[..] {
            [(_, only)] => only.title.clone(),
            all => {
                let what = page::counted(all.len(), "image", "images");
                let how = if all.len() > MOST_CELLS { "" } else { "; point at one to see its number" };
                format!("{what} that differ{how}")
            }
        };
        let title = match stops {
            0 => title,
            stops => format!("{title}; shown with 1/{} of the light", 1_u32 << stops),
        };
        Pair { title, sides: sides.map(Some), difference: Some(difference), cells: cells.collect() }
    }
}

fn brightest(luxel: Luxel) -> f64 {
    luxel.linear().into_iter().fold(0.0, f64::max)
}

/// A luxel with its light halved this often, if it has no upper limit.
fn darker(luxel: Luxel, stops: i8) -> Luxel {
    match luxel {
        Luxel::Rgbe(color, exponent) => Luxel::Rgbe(color, exponent.saturating_sub(stops)),
        luxel => luxel,
    }
}

/// Light as a screen would show it if there were no limit; 1 is the brightest value of 8 bits.
fn brightness(luxel: Luxel) -> [f64; 3] {
    match luxel {
        Luxel::Rgbe(..) => luxel.linear().map(|part| (part / LIMIT).powf(1.0 / 2.2)),
        luxel => luxel.shown().map(|part| f64::from(part) / 255.0),
    }
}

// Pairs of images, with the difference between them.

/// The parts of an image with more of them have no names on the page.
const MOST_CELLS: usize = 150;

/// The least brightness of a difference in its image, so that the smallest one is seen.
const LEAST: f64 = 0.25;

/// What the images of a page may have in total.
pub(super) struct Room {
    /// Bytes in base64.
    pub(super) bytes: usize,
    /// Elements.
    pub(super) nodes: usize,
    /// Pixels of one side, which bound the time and memory.
    pub(super) pixels: usize,
}

impl Room {
    /// Reserves pixels; whether there is room for them.
    pub(super) fn reserve(&mut self, [width, height]: [usize; 2]) -> bool {
        take(&mut self.pixels, width.saturating_mul(height))
    }
}

fn take(from: &mut usize, amount: usize) -> bool {
    let has_room = amount <= *from;
    *from -= if has_room { amount } else { 0 };
    has_room
}

/// An image: the number of columns, and its pixels row by row.
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Picture {
    pub(super) fn new(width: usize, height: usize, color: [u8; 3]) -> Self {
        Picture { width, pixels: vec![color; width * height] }
    }

    fn size(&self) -> [usize; 2] {
        [self.width, self.pixels.len() / self.width.max(1)]
    }

    fn png(&self) -> Option<String> {
        let mut png = Vec::new();
        write_png(&mut png, self.size(), self.pixels.as_flattened()).ok()?;
        Some(base64(&png))
    }
}

/// The same image in both maps; `None` where a map does not have it.
pub(super) struct Pair {
    /// What it shows, as HTML.
    pub(super) title: String,
    pub(super) sides: [Option<Picture>; 2],
    /// The difference of each pixel, from 0 on, if the images can be compared.
    pub(super) difference: Option<Vec<[f64; 3]>>,
    /// Rectangles in it: column, row, width and height, and their names as HTML.
    pub(super) cells: Vec<([usize; 4], String)>,
}

impl Pair {
    /// A figure with the images, beside each other until the script stacks them; `None` if there is no room.
    pub(super) fn figure(&self, room: &mut Room) -> Option<String> {
        let [width, height] = self.sides.iter().flatten().map(Picture::size).next()?;
        let changed = self.difference.as_ref().map(|difference| amplified(difference, width));
        let pictures = [
            ("old", "before", self.sides[0].as_ref()),
            ("new", "after", self.sides[1].as_ref()),
            ("difference", "difference", changed.as_ref()),
        ];
        // Small images are shown in whole multiples of their size.
        let scale = (1080 / width.max(1)).min(720 / height.max(1)).clamp(1, 8);
        let mut views = String::new();
        for (class, caption, picture) in pictures {
            let Some(picture) = picture else { continue };
            let ([columns, rows], png) = (picture.size(), picture.png()?);
            let view = format!(
                "<div class=\"view {class}\"><div class=\"frame\"><img alt=\"{caption}\" width=\"{}\" height=\"{}\" \
                 src=\"data:image/png;base64,{png}\">{}</div><span>{caption}</span></div>\n",
                columns * scale,
                rows * scale,
                self.rectangles([width, height]),
            );
            if !take(&mut room.bytes, view.len()) || !take(&mut room.nodes, page::nodes(&view)) {
                return None;
            }
            views += &view;
        }
        let is_pair = if self.difference.is_some() { " pair" } else { "" };
        let title = &self.title;
        Some(format!(
            "<figure class=\"images{is_pair}\"><figcaption>{title}</figcaption>\n<div class=\"views\">\n{views}</div>\n\
             </figure>\n"
        ))
    }

    /// Rectangles that name their parts of an image.
    fn rectangles(&self, [width, height]: [usize; 2]) -> String {
        if self.cells.is_empty() || self.cells.len() > MOST_CELLS {
            return String::new();
        }
        let cells = self.cells.iter().map(|([x, y, width, height], title)| {
            format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{title}</title></rect>")
        });
        format!("<svg class=\"cells\" viewBox=\"0 0 {width} {height}\">{}</svg>", cells.collect::<String>())
    }
}

/// Differences as an image in which the largest one is the brightest.
fn amplified(difference: &[[f64; 3]], width: usize) -> Picture {
    let most = difference.iter().flatten().copied().fold(0.0, f64::max);
    let shown = |part: f64| match part > 0.0 {
        true => nearest_byte(255.0 * (LEAST + (1.0 - LEAST) * (part / most).min(1.0))),
        false => 0,
    };
    Picture { width, pixels: difference.iter().map(|pixel| pixel.map(shown)).collect() }
}

/// The sentence about images that have no room.
pub(super) fn left_out(figures: usize) -> String {
    match figures {
        0 => String::new(),
        more => format!("<p class=\"more\">… and {}</p>\n", page::counted(more, "more image", "more images")),
    }
}

// Textures that differ: their names, and their images where these are in the map.

pub(super) fn section_textures(sides: &Sides<'_>, room: &mut Room) -> Option<Section> {
    let (mut all, mut more) = (Vec::new(), 0);
    for lump in &sides.found.lumps {
        let before = all.len();
        all.extend(lump.changes.iter().filter_map(|change| match change {
            Change::Texture(texture) => Some((lump.lump.as_str(), texture)),
            _ => None,
        }));
        more += if all.len() > before { lump.more } else { 0 };
    }
    if all.is_empty() {
        return None;
    }
    let mut items = Items::new(ROOM_OF_LINES);
    for (lump, texture) in &all {
        let line = Change::Texture((*texture).clone()).line(lump).to_string();
        items.add(|| format!("<li>{}</li>\n", page::text(&line)));
    }
    items.and_more(more);
    let left = items.more;
    let (list, rest) = items.finish("textures");
    let mut html = format!("<ul>\n{list}</ul>\n{rest}");
    let textures = sides.maps.map(|map| map.textures().ok());
    if let [Some(old), Some(new)] = &textures {
        html += "<div class=\"gallery\">\n";
        let mut more = 0;
        for (_, texture) in all.iter().filter(|(_, texture)| texture.image) {
            match figure([old, new], texture, room) {
                Shown::Nothing => {}
                Shown::Figure(figure) => html += &figure,
                Shown::NoRoom => more += 1,
            }
        }
        html += "</div>\n";
        html += &left_out(more);
    }
    Some(Section { id: "textures", title: "Textures", count: all.len() + more, more: left, html })
}

/// What a figure shows of a texture.
enum Shown {
    Figure(String),
    /// The pixels are in no map.
    Nothing,
    NoRoom,
}

fn figure(textures: [&Textures<'_>; 2], change: &TextureChange, room: &mut Room) -> Shown {
    let of = |side: usize, index: Option<usize>| textures[side].get(index?).ok().flatten().filter(Miptex::is_embedded);
    let old = change.old.as_ref().map(|_| change.from.unwrap_or(change.index));
    let both = [of(0, old), of(1, change.new.as_ref().map(|_| change.index))];
    let mut sizes = both.iter().flatten().map(|texture| [index(texture.width()), index(texture.height())]);
    if both.iter().flatten().next().is_none() {
        return Shown::Nothing;
    }
    if !sizes.all(|size| room.reserve(size)) {
        return Shown::NoRoom;
    }
    let sides = both.map(|texture| texture.and_then(|texture| picture(&texture)));
    let difference = match &sides {
        [Some(old), Some(new)] if old.width == new.width && old.pixels.len() == new.pixels.len() => {
            let pixels = old.pixels.iter().zip(&new.pixels);
            let part = |old: u8, new: u8| f64::from(old.abs_diff(new)) / 255.0;
            Some(pixels.map(|(old, new)| std::array::from_fn(|at| part(old[at], new[at]))).collect())
        }
        _ => None,
    };
    let name = change.new.as_ref().or(change.old.as_ref()).map(|name| page::name(name)).unwrap_or_default();
    let pair = Pair { title: format!("<code>{name}</code>"), sides, difference, cells: Vec::new() };
    pair.figure(room).map_or(Shown::NoRoom, Shown::Figure)
}

/// The image of a texture; one without a palette has that of Quake.
fn picture(texture: &Miptex<'_>) -> Option<Picture> {
    let (width, palette) = (index(texture.width()), texture.palette().unwrap_or(Palette::QUAKE));
    Some(Picture { width, pixels: texture.pixels(0)?.iter().map(|pixel| palette.color(*pixel)).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_do_not_overlap() {
        let cell = |at: usize| Cell { images: [None; 2], size: [at % 17 + 1, at % 13 + 1], title: at.to_string() };
        let sheets = sheets((0..5000).map(cell).collect());
        assert_eq!(sheets.iter().map(|sheet| sheet.cells.len()).sum::<usize>(), 5000);
        for sheet in &sheets {
            let mut is_used = vec![false; SIDE * SIDE];
            for ([left, top], cell) in &sheet.cells {
                for at in (0..cell.size[1]).flat_map(|y| (0..cell.size[0]).map(move |x| (top + y) * SIDE + left + x)) {
                    assert!(!std::mem::replace(&mut is_used[at], true), "{}", cell.title);
                }
            }
        }
    }

    #[test]
    fn the_largest_difference_is_the_brightest_and_the_smallest_is_seen() {
        let shown = amplified(&[[0.0, 0.5, 0.000_1]], 1);
        assert_eq!(shown.pixels, [[0, 255, 64]]);
        assert_eq!(amplified(&[[0.0; 3]], 1).pixels, [[0; 3]]);
    }

    #[test]
    fn a_figure_needs_room() {
        let side = || Some(Picture::new(4, 2, [9, 9, 9]));
        let pair = Pair { title: "wall".into(), sides: [side(), side()], difference: None, cells: Vec::new() };
        let figure = pair.figure(&mut Room { bytes: 1000, nodes: 100, pixels: 0 }).unwrap();
        assert_eq!(figure.matches("src=\"data:image/png;base64,").count(), 2);
        assert!(figure.contains("width=\"32\" height=\"16\"") && !figure.contains("pair"));
        assert!(pair.figure(&mut Room { bytes: 20, nodes: 100, pixels: 0 }).is_none());
    }
}
