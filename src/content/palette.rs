//! Palettes: 256 colours, and the search for the one nearest to another colour.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::error::{Error, ErrorKind, Result};

/// The bytes of a palette: red, green, blue for each colour.
pub const PALETTE: usize = 768;

/// 256 colours.
///
/// ```
/// use bspkit::content::palette::Palette;
/// let palette = Palette::read(&std::fs::read("tests/maps/src/q2/pics/colormap.pcx")?)?;
/// assert_eq!(palette.color(1), [16, 16, 16]);
/// assert_eq!(palette.nearest([17, 15, 16]), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette(pub [u8; PALETTE]);

impl Palette {
    /// The palette of Quake, which all of its textures share: what `gfx/palette.lmp` of the game has. id Software has
    /// put it into the public domain.
    ///
    /// ```
    /// use bspkit::content::palette::Palette;
    /// assert_eq!((Palette::QUAKE.color(1), Palette::QUAKE.color(255)), ([15, 15, 15], [159, 91, 83]));
    /// ```
    pub const QUAKE: Palette = Palette(*include_bytes!("quake.pal"));

    /// Reads a palette: 768 bytes, or a PCX picture, which ends with a byte 12 and these bytes (`pics/colormap.pcx` of
    /// Quake II).
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is neither.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        const MARK: u8 = 0x0C;
        let is_pcx = bytes.first() == Some(&0x0A);
        let wrong = |message: String| {
            Error::new(ErrorKind::Malformed, message)
                .with_hint("a palette is 768 bytes, or a PCX picture of 256 colours")
        };
        match bytes.split_last_chunk::<PALETTE>() {
            Some(([], colors)) => Ok(Palette(*colors)),
            Some(([.., MARK], colors)) if is_pcx => Ok(Palette(*colors)),
            _ if is_pcx => Err(wrong("the PCX picture has no palette at its end".into())),
            _ => Err(wrong(format!("its {} bytes are not a palette", bytes.len()))),
        }
    }

    /// A colour: red, green, blue.
    pub fn color(&self, index: u8) -> [u8; 3] {
        let (colors, _) = self.0.as_chunks::<3>();
        colors[usize::from(index)]
    }

    /// Every colour.
    pub fn colors(&self) -> impl Iterator<Item = [u8; 3]> {
        self.0.as_chunks::<3>().0.iter().copied()
    }

    /// The first of the colours with the smallest distance.
    pub fn nearest(&self, color: [u8; 3]) -> u8 {
        self.nearest_of(color, |_| true)
    }

    /// The nearest of some of the colours.
    fn nearest_of(&self, color: [u8; 3], is_usable: impl Fn(u8) -> bool) -> u8 {
        let indices = (0..=u8::MAX).filter(|index| is_usable(*index));
        indices.min_by_key(|index| distance(self.color(*index), color)).unwrap_or(0)
    }

    /// The index of exactly this colour.
    pub fn find(&self, color: [u8; 3]) -> Option<u8> {
        (0..=u8::MAX).find(|index| self.color(*index) == color)
    }
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    let squares = one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2));
    squares.sum()
}

/// The first of the colours of Quake's textures that no shadow darkens, up to the last (the last 32 of the colormap).
pub const FIRST_FULLBRIGHT: u8 = 224;

/// Looks up nearest colours, each once.
pub(crate) struct Nearest<'p> {
    palette: &'p Palette,
    usable: RangeInclusive<u8>,
    without: Option<u8>,
    known: HashMap<[u8; 3], u8>,
}

impl<'p> Nearest<'p> {
    pub(crate) fn new(palette: &'p Palette, usable: RangeInclusive<u8>, without: Option<u8>) -> Self {
        Nearest { palette, usable, without, known: HashMap::new() }
    }

    pub(crate) fn of(&mut self, color: [u8; 3]) -> u8 {
        // The table of results is bounded; further distinct colours are searched for each time.
        const MOST: usize = 1 << 16;
        if let Some(index) = self.known.get(&color) {
            return *index;
        }
        let is_usable = |index: u8| self.usable.contains(&index) && Some(index) != self.without;
        let index = self.palette.nearest_of(color, is_usable);
        if self.known.len() < MOST {
            self.known.insert(color, index);
        }
        index
    }
}

/// The pixels in the colours of a palette: the nearest of each.
///
/// ```
/// use bspkit::content::palette::{Palette, reduce};
/// let grey = Palette(std::array::from_fn(|at| u8::try_from(at / 3).unwrap()));
/// assert_eq!(reduce(&[[10, 10, 13], [255, 255, 255]], &grey), [11, 255]);
/// ```
pub fn reduce(pixels: &[[u8; 3]], palette: &Palette) -> Vec<u8> {
    let mut nearest = Nearest::new(palette, 0..=u8::MAX, None);
    pixels.iter().map(|color| nearest.of(*color)).collect()
}

/// As [`reduce`], for textures of Quake: only pixels that have exactly the color of a fullbright one become fullbright.
///
/// ```
/// use bspkit::content::palette::{FIRST_FULLBRIGHT, Palette, reduce_lit};
/// let glow = Palette::QUAKE.color(251);
/// let [near, exact] = reduce_lit(&[glow.map(|part| part ^ 1), glow], &Palette::QUAKE)[..] else { unreachable!() };
/// assert!(near < FIRST_FULLBRIGHT && exact == 251);
/// ```
pub fn reduce_lit(pixels: &[[u8; 3]], palette: &Palette) -> Vec<u8> {
    let mut nearest = Nearest::new(palette, 0..=FIRST_FULLBRIGHT - 1, None);
    let exact: HashMap<[u8; 3], u8> = (FIRST_FULLBRIGHT..=u8::MAX).rev().map(|at| (palette.color(at), at)).collect();
    pixels
        .iter()
        .map(|color| match (nearest.of(*color), exact.get(color)) {
            (usual, Some(bright)) if palette.color(usual) != *color => *bright,
            (usual, _) => usual,
        })
        .collect()
}

/// A palette for pixels: their own colours if they are few enough. Otherwise the colours are divided into boxes, each
/// time at the median of the longest side, and the palette has the mean of each box. It has at most `most` colours; the
/// rest is black.
///
/// ```
/// use bspkit::content::palette::quantize;
/// let palette = quantize(&[[1, 2, 3], [200, 0, 0], [1, 2, 3]], 256);
/// assert_eq!((palette.color(0), palette.color(1), palette.color(2)), ([1, 2, 3], [200, 0, 0], [0, 0, 0]));
/// ```
pub fn quantize(pixels: &[[u8; 3]], most: usize) -> Palette {
    let most = most.min(256);
    let mut colors = pixels.to_vec();
    colors.sort_unstable();
    let mut counted: Vec<([u8; 3], u64)> = Vec::new();
    for color in colors {
        match counted.last_mut() {
            Some((last, count)) if *last == color => *count += 1,
            _ => counted.push((color, 1)),
        }
    }
    let mut boxes: Vec<&mut [([u8; 3], u64)]> = vec![&mut counted];
    while boxes.len() < most {
        let longest = boxes.iter().enumerate().max_by_key(|(_, held)| longest_side(held).1).map(|(at, _)| at);
        let Some(at) = longest.filter(|at| longest_side(boxes[*at]).1 > 0) else { break };
        let held = boxes.swap_remove(at);
        let (side, _) = longest_side(held);
        held.sort_unstable_by_key(|(color, _)| color[side]);
        let (low, high) = held.split_at_mut(median(held));
        boxes.extend([low, high]);
    }
    let mut means: Vec<[u8; 3]> = boxes.iter().filter(|held| !held.is_empty()).map(|held| mean(held)).collect();
    means.sort_unstable();
    let mut palette = Palette([0; PALETTE]);
    for (to, from) in palette.0.as_chunks_mut::<3>().0.iter_mut().zip(means) {
        *to = from;
    }
    palette
}

/// The longest side of a box of colours, and its length.
fn longest_side(colors: &[([u8; 3], u64)]) -> (usize, u8) {
    let length = |side: usize| {
        let values = || colors.iter().map(move |(color, _)| color[side]);
        values().max().unwrap_or(0) - values().min().unwrap_or(0)
    };
    (0..3).map(|side| (side, length(side))).max_by_key(|(_, length)| *length).unwrap_or((0, 0))
}

/// The index that divides the pixels in halves, with at least one colour on either side.
fn median(colors: &[([u8; 3], u64)]) -> usize {
    let half = colors.iter().map(|(_, count)| count).sum::<u64>() / 2;
    let mut seen = 0;
    let passes = |(_, count): &([u8; 3], u64)| {
        seen += count;
        seen > half
    };
    colors.iter().position(passes).unwrap_or(0).clamp(1, colors.len() - 1)
}

fn mean(colors: &[([u8; 3], u64)]) -> [u8; 3] {
    let count = colors.iter().map(|(_, count)| count).sum::<u64>().max(1);
    std::array::from_fn(|side| {
        let sum: u64 = colors.iter().map(|(color, count)| u64::from(color[side]) * count).sum();
        u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_palette_is_whole_or_none() {
        let grey: [u8; PALETTE] = std::array::from_fn(|at| u8::try_from(at / 3).unwrap());
        assert_eq!(Palette::read(&grey).unwrap().color(9), [9, 9, 9]);
        let pcx = |mark: u8| [&[0x0A, 5, 1, 8][..], &[0; 124], &[mark], &grey].concat();
        assert_eq!(Palette::read(&pcx(12)).unwrap(), Palette(grey));
        for bad in [&grey[1..], &[], &pcx(13), &pcx(12)[..128], &pcx(12)[1..]] {
            assert!(Palette::read(bad).is_err(), "{} bytes", bad.len());
        }
    }

    #[test]
    fn colours_that_fit_are_kept_and_others_are_near() {
        let few: Vec<[u8; 3]> = (0..=255).map(|n| [n, 255 - n, n / 2]).collect();
        let palette = quantize(&few, 256);
        assert!(few.iter().all(|color| palette.find(*color).is_some()));
        let many: Vec<[u8; 3]> = (0..=255).flat_map(|n| [[n, 0, 0], [0, n, 0], [0, 0, n]]).collect();
        let palette = quantize(&many, 256);
        let far = many.iter().map(|color| distance(palette.color(palette.nearest(*color)), *color)).max();
        assert!(far.unwrap() <= 16, "{far:?}");
    }
}
