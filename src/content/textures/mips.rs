//! Smaller copies of an image (mip levels): half, a quarter and an eighth of its size, in the colours of the palette.

use crate::bytes::index;
use crate::content::palette::{Nearest, Palette};

/// How many sizes a texture has (`MIPLEVELS`).
pub const LEVELS: usize = 4;

/// Pixels as indices of a palette, line by line from the top.
///
/// ```
/// use bspkit::content::textures::Image;
/// let image = Image::new(16, 16, vec![7; 256]).unwrap();
/// assert_eq!((image.width, image.height), (16, 16));
/// assert!(Image::new(16, 16, vec![7; 255]).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// Pixels in a line.
    pub width: u32,
    /// How many lines.
    pub height: u32,
    /// Indices of colours.
    pub pixels: Vec<u8>,
}

impl Image {
    /// An image; `None` if the number of pixels does not fit its size.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let count = index(width).checked_mul(index(height));
        (count == Some(pixels.len())).then_some(Image { width, height, pixels })
    }
}

/// How smaller copies are made.
pub(crate) struct Shrink<'p> {
    palette: &'p Palette,
    /// The colour that means a hole.
    hole: Option<u8>,
    nearest: Nearest<'p>,
}

impl<'p> Shrink<'p> {
    pub(crate) fn new(palette: &'p Palette, hole: Option<u8>) -> Self {
        Shrink { palette, hole, nearest: Nearest::new(palette, hole) }
    }

    /// The smaller copies of an image, the next smaller one first.
    pub(crate) fn all(&mut self, image: &Image) -> [Vec<u8>; LEVELS - 1] {
        std::array::from_fn(|at| self.level(image, at + 1, None))
    }

    /// The copy of a level. If an older image of the same size and its copy are given, pixels that are equal in both
    /// images keep their pixel in the copy.
    pub(crate) fn level(&mut self, image: &Image, level: usize, old: Option<(&[u8], &[u8])>) -> Vec<u8> {
        let (line, side) = (index(image.width), 1 << level);
        let (width, height) = (line >> level, index(image.height) >> level);
        let mut copy = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let rows = (y * side..(y + 1) * side).map(|row| row * line + x * side..row * line + (x + 1) * side);
                let kept = old.filter(|(old, _)| rows.clone().all(|row| old[row.clone()] == image.pixels[row]));
                copy.push(match kept {
                    Some((_, old)) => old[y * width + x],
                    None => self.sample(rows.flat_map(|row| image.pixels[row].iter().copied())),
                });
            }
        }
        copy
    }

    /// The colour for a square: its colour if it has only one, a hole if half of it is a hole, else the colour nearest
    /// to the mean.
    fn sample(&mut self, square: impl Iterator<Item = u8> + Clone) -> u8 {
        let mut first = square.clone();
        let own = first.next().unwrap_or(0);
        if first.all(|index| index == own) {
            return own;
        }
        let (mut sums, mut count, mut holes) = ([0_u32; 3], 0_u32, 0_u32);
        for index in square {
            if Some(index) == self.hole {
                holes += 1;
                continue;
            }
            count += 1;
            sums.iter_mut().zip(self.palette.color(index)).for_each(|(sum, part)| *sum += u32::from(part));
        }
        match self.hole {
            Some(hole) if holes >= count => hole,
            _ => self.nearest.of(sums.map(|sum| u8::try_from((sum + count / 2) / count.max(1)).unwrap_or(u8::MAX))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey() -> Palette {
        Palette(std::array::from_fn(|at| u8::try_from(at / 3).unwrap()))
    }

    #[test]
    fn a_square_becomes_its_mean() {
        let palette = grey();
        let image = Image::new(4, 2, vec![0, 10, 7, 7, 20, 30, 7, 7]).unwrap();
        assert_eq!(Shrink::new(&palette, None).level(&image, 1, None), [15, 7]);
    }

    #[test]
    fn holes_stay_holes_and_give_no_colour() {
        let palette = grey();
        let image = Image::new(4, 2, vec![255, 10, 255, 255, 20, 30, 200, 255]).unwrap();
        assert_eq!(Shrink::new(&palette, Some(255)).level(&image, 1, None), [20, 255]);
        // No mean becomes a hole.
        let bright = Image::new(2, 2, vec![254, 255, 254, 254]).unwrap();
        assert_eq!(Shrink::new(&palette, Some(255)).level(&bright, 1, None), [254]);
    }

    #[test]
    fn only_what_changed_is_made_anew() {
        let palette = grey();
        let old = vec![0, 10, 7, 9, 20, 30, 7, 9];
        let mut new = Image::new(4, 2, old.clone()).unwrap();
        new.pixels[0] = 4;
        let copy = Shrink::new(&palette, None).level(&new, 1, Some((&old, &[99, 98])));
        assert_eq!(copy, [16, 98]);
    }
}
