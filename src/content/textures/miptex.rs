//! One texture of Quake or GoldSrc (`miptex_t` of bspfile.h of the Half-Life SDK's compilers, and what ReHLDS reads
//! after it): Quake's has no palette, as the game has one for all.

use std::ops::Range;

use crate::bytes::{index, short};
use crate::content::palette::{FIRST_FULLBRIGHT, Nearest, PALETTE, Palette};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Field, Name, Record, records};

records! {
    /// `miptex_t`: the header before the pixels.
    pub struct MiptexHeader(40) {
        /// Its name, by which engines find it in a WAD file if its pixels are not here.
        pub name: Name<16>,
        /// Pixels in a line.
        pub width: u32,
        /// How many lines.
        pub height: u32,
        /// The offsets of the image and its three smaller copies, from the start of this header; all 0 if the pixels
        /// are in a WAD file.
        pub offsets: [u32; 4],
    }
}

/// Engines read the pixels directly after the header, and the palette after the pixels, whatever the offsets say.
const HEADER: usize = MiptexHeader::SIZE;
/// The number of colours that comes before them.
const COUNT: usize = 2;
/// The padding after the colours, so that the next texture is at a multiple of 4.
const PAD: usize = 2;
/// The colour of holes in textures whose names begin with `{`.
const HOLE: u8 = 255;

/// A texture: its name and size, and its pixels if they are in the map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
/// let textures = map.textures()?;
/// let wall = textures.get(1)?.unwrap();
/// assert_eq!((wall.name(), wall.width(), wall.height()), (&b"OWN_FLOOR"[..], 32, 32));
/// assert_eq!(wall.pixels(3).map(<[u8]>::len), Some(16));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Miptex<'t> {
    bytes: &'t [u8],
    header: MiptexHeader,
    is_embedded: bool,
    has_palette: bool,
}

impl<'t> Miptex<'t> {
    /// Reads the texture of GoldSrc that begins with these bytes; bytes after it do not matter.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is cut off, engines refuse its size, or its offsets differ from the place where
    /// engines read the pixels.
    pub fn read(bytes: &'t [u8]) -> Result<Self> {
        Miptex::read_as(bytes, true)
    }

    /// Reads a texture of Quake, which has no palette.
    ///
    /// # Errors
    /// As [`Miptex::read`].
    pub fn read_bare(bytes: &'t [u8]) -> Result<Self> {
        Miptex::read_as(bytes, false)
    }

    pub(super) fn read_as(bytes: &'t [u8], has_palette: bool) -> Result<Self> {
        let wrong = |why: String| Error::new(ErrorKind::Malformed, why);
        let header = MiptexHeader::decode(bytes)
            .ok_or_else(|| wrong(format!("{} bytes are too few for a header of {HEADER}", bytes.len())))?;
        if header.offsets == [0; LEVELS] {
            return Ok(Miptex { bytes: &bytes[..HEADER], header, is_embedded: false, has_palette });
        }
        check_size(header.width, header.height).map_err(wrong)?;
        let ends = ends(header.width, header.height);
        let there = short(bytes.len());
        let Some(ends) = ends.filter(|ends| ends[LEVELS] <= bytes.len()) else {
            let (width, height) = (header.width, header.height);
            let message = format!("the pixels of {width} by {height} and its smaller copies do not fit {there} bytes");
            return Err(wrong(message));
        };
        for (level, (says, is)) in header.offsets.iter().zip(ends).enumerate() {
            if index(*says) != is {
                let what = if level == 0 { "the image".to_owned() } else { format!("smaller copy {level}") };
                return Err(wrong(format!("the offset of {what} is {says}, and engines read it at {is}")));
            }
        }
        let at = ends[LEVELS];
        if !has_palette {
            return Ok(Miptex { bytes: &bytes[..at], header, is_embedded: true, has_palette });
        }
        let count = bytes.get(at..at + COUNT).and_then(|count| Some(u16::from_le_bytes(*count.first_chunk()?)));
        match count {
            Some(256) => {}
            Some(count) => return Err(wrong(format!("its palette has {count} colours, and engines read 256"))),
            None => return Err(wrong("it ends before its palette".into())),
        }
        let end = at + COUNT + PALETTE;
        if end > bytes.len() {
            let colors = bytes.len() - at - COUNT;
            return Err(wrong(format!("its palette is cut short: {colors} of {PALETTE} bytes are there")));
        }
        // The padding may be missing after the last one.
        Ok(Miptex { bytes: &bytes[..bytes.len().min(end + PAD)], header, is_embedded: true, has_palette })
    }

    /// The texture without padding from this place on; all else of it stays.
    pub(super) fn padded_up_to(self, end: usize) -> Self {
        let bare = self.palette_at().map_or(self.bytes.len(), |at| at + PALETTE);
        match (bare..self.bytes.len()).contains(&end) {
            true => Miptex { bytes: &self.bytes[..end], ..self },
            false => self,
        }
    }

    /// The header before the pixels.
    pub fn header(&self) -> &MiptexHeader {
        &self.header
    }

    /// Its name, as far as the first NUL.
    pub fn name(&self) -> &'t [u8] {
        let field = &self.bytes[..Name::<16>::SIZE];
        field.split(|byte| *byte == 0).next().unwrap_or(field)
    }

    /// Pixels in a line.
    pub fn width(&self) -> u32 {
        self.header.width
    }

    /// How many lines.
    pub fn height(&self) -> u32 {
        self.header.height
    }

    /// Whether the pixels are in the map; if not, engines look for a texture of this name in WAD files.
    pub fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    /// The pixels of a level: 0 the image, 1 to 3 the smaller copies. `None` if they are not in the map.
    pub fn pixels(&self, level: usize) -> Option<&'t [u8]> {
        self.extent(level).map(|range| &self.bytes[range])
    }

    /// Its image, if the pixels are in the map.
    pub fn image(&self) -> Option<Image> {
        Image::new(self.width(), self.height(), self.pixels(0)?.to_vec())
    }

    /// Whether it is a texture of GoldSrc, where textures with pixels have a palette of their own.
    pub fn has_palette(&self) -> bool {
        self.has_palette
    }

    /// Its palette, if it is in the map.
    pub fn palette(&self) -> Option<Palette> {
        let start = self.palette_at()?;
        Some(Palette(*self.bytes[start..].first_chunk()?))
    }

    /// All of its bytes, with the padding after the palette.
    pub fn bytes(&self) -> &'t [u8] {
        self.bytes
    }

    fn extent(&self, level: usize) -> Option<Range<usize>> {
        let ends = ends(self.width(), self.height()).filter(|_| self.is_embedded)?;
        (level < LEVELS).then(|| ends[level]..ends[level + 1])
    }

    fn palette_at(&self) -> Option<usize> {
        Some(self.extent(LEVELS - 1).filter(|_| self.has_palette)?.end + COUNT)
    }

    /// Its bytes with another image, and another palette if one is given. For a texture of Quake that is the game's
    /// palette: it is used for the smaller copies, and not stored. Equal pixels keep their bytes: only the changed
    /// parts of the smaller copies are computed again, or all of them if the size or the palette changes. Padding
    /// stays.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a size that engines refuse, and if neither the texture nor the caller has a palette.
    pub fn with_image(&self, image: &Image, palette: Option<&Palette>) -> Result<Vec<u8>> {
        let refused = |why: String| Error::new(ErrorKind::Refused, why);
        check_size(image.width, image.height).and_then(|()| image.check()).map_err(refused)?;
        // The game's palette does not change with an image.
        let colors = if self.has_palette { self.palette() } else { palette.cloned() };
        let is_same_size = (image.width, image.height) == (self.width(), self.height());
        if !self.has_palette && is_same_size && self.pixels(0) == Some(&image.pixels[..]) {
            return Ok(self.bytes.to_vec());
        }
        let none = || match self.has_palette {
            true => refused("it has no palette yet".into()),
            false => refused("it has no palette: the game's is needed for its smaller copies".into()),
        };
        let palette = palette.or(colors.as_ref()).ok_or_else(none)?;
        let hole = self.name().starts_with(b"{").then_some(HOLE);
        let mut smaller = Shrink::new(palette, hole);
        // Only textures of Quake have no palette of their own.
        if !self.has_palette {
            smaller = smaller.with_fullbrights();
        }
        let old_image = self.pixels(0).filter(|_| is_same_size);
        // If the image stays, its copies stay too: their maker may have painted them.
        let keeps = old_image.filter(|old| old_image_counts(old, image, colors.as_ref(), palette));
        let mut levels = vec![image.pixels.clone()];
        for level in 1..LEVELS {
            let old = keeps.zip(self.pixels(level));
            levels.push(smaller.level(image, level, old));
        }
        let pad = self.palette_at().and_then(|at| self.bytes.get(at + PALETTE..)).unwrap_or(&[0; PAD]);
        let palette_part = self.has_palette.then_some((palette, pad));
        let mut header = self.header;
        (header.width, header.height) = (image.width, image.height);
        Ok(lay(header, &levels, palette_part))
    }

    /// Its bytes with the pixels of a smaller copy.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if it has no such level, or the level has another number of pixels.
    pub fn with_level(&self, level: usize, pixels: &[u8]) -> Result<Vec<u8>> {
        let there = self.extent(level).filter(|range| range.len() == pixels.len()).ok_or_else(|| {
            let message = format!("{} pixels do not fit level {level}", pixels.len());
            Error::new(ErrorKind::Refused, message)
        })?;
        let mut bytes = self.bytes.to_vec();
        bytes[there].copy_from_slice(pixels);
        Ok(bytes)
    }

    /// Its bytes with another name; the bytes after the name's NUL stay.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a name that does not fit.
    pub fn with_name(&self, name: &[u8]) -> Result<Vec<u8>> {
        let mut header = self.header;
        if !header.name.set(name) {
            return Err(no_room(name));
        }
        Ok(self.with_header(header))
    }

    /// Its bytes with the pixels of another texture; all 16 bytes of its own name stay.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if one of them has a palette of its own and the other has not.
    pub fn with_pixels_of(&self, other: &Miptex<'_>) -> Result<Vec<u8>> {
        match self.has_palette == other.has_palette {
            true => Ok(other.with_header(MiptexHeader { name: self.header.name, ..other.header })),
            false => Err(Error::new(ErrorKind::Refused, "its pixels are for another palette")
                .with_hint("textures of GoldSrc have palettes of their own, and those of Quake do not")),
        }
    }

    /// Its header alone, with offsets of 0: the pixels are in a WAD file.
    pub fn without_pixels(&self) -> Vec<u8> {
        MiptexHeader { offsets: [0; LEVELS], ..self.header }.encode()
    }

    fn with_header(&self, header: MiptexHeader) -> Vec<u8> {
        let mut bytes = header.encode();
        bytes.extend_from_slice(&self.bytes[HEADER..]);
        bytes
    }
}

pub(super) fn no_room(name: &[u8]) -> Error {
    let message = format!("`{}` does not fit the 15 bytes of a name", crate::bytes::escaped(name));
    Error::new(ErrorKind::Refused, message)
}

/// Whether parts of the old copies may stay, by comparison with the old image: not if the size or the palette changed.
fn old_image_counts(old: &[u8], new: &Image, old_palette: Option<&Palette>, palette: &Palette) -> bool {
    old == new.pixels || old_palette == Some(palette)
}

/// Engines abort at sizes that are not a multiple of 16.
fn check_size(width: u32, height: u32) -> Result<(), String> {
    let is_good = |size: u32| size > 0 && size.is_multiple_of(16);
    match is_good(width) && is_good(height) {
        true => Ok(()),
        false => Err(format!("its size is {width} by {height}, and engines need multiples of 16")),
    }
}

/// Where the levels begin, and where the last one ends.
fn ends(width: u32, height: u32) -> Option<[usize; LEVELS + 1]> {
    let mut at = [HEADER; LEVELS + 1];
    for level in 0..LEVELS {
        let size = (index(width) >> level).checked_mul(index(height) >> level)?;
        at[level + 1] = at[level].checked_add(size)?;
    }
    // The palette and the padding after the pixels must not overflow either.
    at[LEVELS].checked_add(COUNT + PALETTE + PAD)?;
    Some(at)
}

fn lay(mut header: MiptexHeader, levels: &[Vec<u8>], colors: Option<(&Palette, &[u8])>) -> Vec<u8> {
    let mut at = HEADER;
    for (offset, pixels) in header.offsets.iter_mut().zip(levels) {
        *offset = short(at);
        at += pixels.len();
    }
    let mut bytes = header.encode();
    levels.iter().for_each(|pixels| bytes.extend_from_slice(pixels));
    if let Some((palette, pad)) = colors {
        bytes.extend_from_slice(&256_u16.to_le_bytes());
        bytes.extend_from_slice(&palette.0);
        bytes.extend_from_slice(pad);
    }
    bytes
}

// Smaller copies of an image (mip levels): half, a quarter and an eighth of its size, in the colours of the palette.

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

    /// Whether its pixels still fit its size: the fields can be set one by one.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (Image { width, height, .. }, count) = (self, self.pixels.len());
        match index(self.width).checked_mul(index(self.height)) == Some(count) {
            true => Ok(()),
            false => Err(format!("an image of {width} by {height} pixels has {count}")),
        }
    }
}

/// How smaller copies are made.
pub(crate) struct Shrink<'p> {
    palette: &'p Palette,
    /// The colour that means a hole.
    hole: Option<u8>,
    nearest: Nearest<'p>,
    /// The fullbright colours, if there are any; `nearest` has only the others then.
    bright: Option<Nearest<'p>>,
}

impl<'p> Shrink<'p> {
    pub(crate) fn new(palette: &'p Palette, hole: Option<u8>) -> Self {
        Shrink { palette, hole, nearest: Nearest::new(palette, 0..=u8::MAX, hole), bright: None }
    }

    /// A square is fullbright if half of it is, as it was painted: no other square becomes so.
    pub(crate) fn with_fullbrights(mut self) -> Self {
        self.bright = Some(Nearest::new(self.palette, FIRST_FULLBRIGHT..=u8::MAX, self.hole));
        self.nearest = Nearest::new(self.palette, 0..=FIRST_FULLBRIGHT - 1, self.hole);
        self
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
    /// to the mean; of the fullbright pixels if they are as many as the others.
    fn sample(&mut self, square: impl Iterator<Item = u8> + Clone) -> u8 {
        let mut first = square.clone();
        let own = first.next().unwrap_or(0);
        if first.all(|index| index == own) {
            return own;
        }
        // Of the usual colours, and of those that are fullbright.
        let (mut sums, mut counts, mut holes) = ([[0_u32; 3]; 2], [0_u32; 2], 0_u32);
        for index in square {
            if Some(index) == self.hole {
                holes += 1;
                continue;
            }
            let kind = usize::from(self.bright.is_some() && index >= FIRST_FULLBRIGHT);
            counts[kind] += 1;
            sums[kind].iter_mut().zip(self.palette.color(index)).for_each(|(sum, part)| *sum += u32::from(part));
        }
        let [usual, bright] = counts;
        let mean = |kind: usize| -> [u8; 3] {
            let count = counts[kind];
            sums[kind].map(|sum| u8::try_from((sum + count / 2) / count.max(1)).unwrap_or(u8::MAX))
        };
        match (self.hole, &mut self.bright) {
            (Some(hole), _) if holes >= usual + bright => hole,
            (_, Some(nearest)) if bright >= usual => nearest.of(mean(1)),
            _ => self.nearest.of(mean(0)),
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
    fn only_a_fullbright_square_becomes_fullbright() {
        // Greys of rising brightness, and fullbright colours of one brightness.
        let palette = Palette(std::array::from_fn(|at| match at / 3 {
            index @ 0..224 => u8::try_from(index).unwrap(),
            _ => 250,
        }));
        let image = Image::new(4, 2, vec![223, 240, 240, 240, 222, 221, 240, 220]).unwrap();
        assert_eq!(Shrink::new(&palette, None).with_fullbrights().level(&image, 1, None), [222, 224]);
        let near = Image::new(2, 2, vec![223, 223, 223, 222]).unwrap();
        let brighter = Palette(std::array::from_fn(|at| if at / 3 < 224 { 10 } else { 223 }));
        assert!(Shrink::new(&brighter, None).with_fullbrights().level(&near, 1, None)[0] < 224);
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
