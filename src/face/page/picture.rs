//! Pairs of images, with the difference between them.

use super::html;
use crate::bytes::nearest_byte;
use crate::face::images::rgb::write_png;
use crate::face::report::base64;

/// The least brightness of a difference in its image, so that the smallest one is seen.
const LEAST: f64 = 0.25;

/// What the images of a page may have in total.
pub(super) struct Room {
    /// Bytes in base64.
    pub(super) bytes: usize,
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
            if !take(&mut room.bytes, view.len()) {
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
        if self.cells.is_empty() {
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
        more => format!("<p class=\"more\">… and {}</p>\n", html::counted(more, "more image", "more images")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let figure = pair.figure(&mut Room { bytes: 1000, pixels: 0 }).unwrap();
        assert_eq!(figure.matches("src=\"data:image/png;base64,").count(), 2);
        assert!(figure.contains("width=\"32\" height=\"16\"") && !figure.contains("pair"));
        assert!(pair.figure(&mut Room { bytes: 20, pixels: 0 }).is_none());
    }
}
