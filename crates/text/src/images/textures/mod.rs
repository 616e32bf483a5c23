//! Textures as PNG files with a palette.
//!
//! ```
//! use bspkit::content::palette::Palette;
//! use bspkit_text::images::textures::{encode, read, with_palette};
//!
//! let palette = Palette([7; 768]);
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("wall.png");
//! std::fs::write(&path, encode(16, 16, &[1; 256], &palette)?).unwrap();
//! let picture = read(&path)?;
//! assert_eq!(with_palette(&picture, &palette, false)?.pixels, [1; 256]);
//! # Ok::<(), bspkit::Error>(())
//! ```

pub mod file_name;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Limits, Transformations};

use super::{MOST_PIXELS, bad, damaged, from_side, unwritten};
use crate::images::refused;
use bspkit::Result;
use bspkit::content::palette::{Palette, quantize, reduce, reduce_lit};
use bspkit::content::textures::{Image, Miptex};
use bspkit::disk::{input, shown};

/// The content of a PNG file.
///
/// ```
/// use bspkit_text::images::textures::Picture;
/// fn pixels(picture: &Picture) -> u64 {
///     u64::from(picture.width) * u64::from(picture.height)
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Picture {
    /// The number of columns.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The pixels, row by row.
    pub pixels: Pixels,
}

/// The pixels of a picture.
///
/// ```
/// use bspkit_text::images::textures::Pixels;
/// let red = Pixels::True(vec![[255, 0, 0, 255]]);
/// assert!(matches!(red, Pixels::True(pixels) if pixels.len() == 1));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Pixels {
    /// Indices of colors.
    Indexed {
        /// A byte for each pixel.
        pixels: Vec<u8>,
        /// The colors; each index of a pixel has one.
        colors: Vec<[u8; 3]>,
        /// The opacity of the first colors; the others are opaque.
        alpha: Vec<u8>,
    },
    /// Red, green, blue and opacity.
    True(Vec<[u8; 4]>),
}

/// An image with its palette as the bytes of a PNG file.
///
/// # Errors
/// The image is too large, or its number of pixels does not match its size.
pub fn encode(width: u32, height: u32, pixels: &[u8], palette: &Palette) -> Result<Vec<u8>> {
    if pixels.len() > MOST_PIXELS {
        return Err(bad(format!("its {width} by {height} pixels are more than {MOST_PIXELS}")));
    }
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(&palette.0[..]);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header().map_err(unwritten)?;
    writer.write_image_data(pixels).map_err(unwritten)?;
    writer.finish().map_err(unwritten)?;
    Ok(bytes)
}

/// Reads a PNG file of any kind.
///
/// # Errors
/// The file cannot be read, or is not a PNG.
pub fn read(path: &Path) -> Result<Picture> {
    let file = File::open(path).map_err(|error| input::cannot_read(path, error))?;
    decode(BufReader::new(file)).map_err(|error| error.within(format!("cannot read the PNG {}", shown(path))))
}

fn decode(read: impl std::io::BufRead + std::io::Seek) -> Result<Picture> {
    let mut decoder = Decoder::new_with_limits(read, Limits { bytes: 8 * MOST_PIXELS });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info().map_err(damaged)?;
    let (width, height) = info.size();
    let count = from_side(width)?.checked_mul(from_side(height)?).filter(|count| *count <= MOST_PIXELS);
    let Some(count) = count else {
        return Err(bad(format!("its {width} by {height} pixels are more than {MOST_PIXELS}")));
    };
    let is_indexed = info.color_type == ColorType::Indexed;
    decoder.set_transformations(if is_indexed {
        Transformations::IDENTITY
    } else {
        Transformations::normalize_to_color8()
    });
    let mut reader = decoder.read_info().map_err(damaged)?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or_else(|| bad("it is too large"))?];
    let frame = reader.next_frame(&mut bytes).map_err(damaged)?;
    let pixels = if is_indexed {
        let depth = match frame.bit_depth {
            BitDepth::One => 1,
            BitDepth::Two => 2,
            BitDepth::Four => 4,
            _ => 8,
        };
        let line = from_side(width)?;
        let indices: Vec<u8> =
            bytes.chunks(frame.line_size).take(from_side(height)?).flat_map(|row| unpack(row, depth, line)).collect();
        let colors = reader.info().palette.as_deref().unwrap_or(&[]).as_chunks::<3>().0.to_vec();
        if let Some(most) = indices.iter().max().filter(|most| usize::from(**most) >= colors.len()) {
            return Err(bad(format!("a pixel has color {most}, but its palette has {} colors", colors.len())));
        }
        let alpha = reader.info().trns.as_deref().unwrap_or(&[]).to_vec();
        Pixels::Indexed { pixels: indices, colors, alpha }
    } else {
        let channels = frame.color_type.samples();
        let color = |pixel: &[u8]| match *pixel {
            [grey] => [grey, grey, grey, u8::MAX],
            [grey, alpha] => [grey, grey, grey, alpha],
            [red, green, blue] => [red, green, blue, u8::MAX],
            [red, green, blue, alpha, ..] => [red, green, blue, alpha],
            [] => [0; 4],
        };
        Pixels::True(bytes.chunks_exact(channels).take(count).map(color).collect())
    };
    Ok(Picture { width, height, pixels })
}

/// The indices in a line, of this many bits each. The first one is in the highest bits.
fn unpack(row: &[u8], depth: usize, line: usize) -> Vec<u8> {
    let each = 8 / depth;
    let mask = u8::MAX >> (8 - depth);
    (0..line).map(|x| row.get(x / each).map_or(0, |byte| byte >> (8 - depth * (x % each + 1)) & mask)).collect()
}

/// Pixels with less opacity are transparent.
const HALF: u8 = 128;

fn is_hole(alpha: &[u8], index: u8) -> bool {
    alpha.get(usize::from(index)).is_some_and(|alpha| *alpha < HALF)
}

impl Picture {
    /// The picture with exactly these colors; `None` if it has no palette or another one.
    pub(super) fn in_palette(&self, palette: &Palette) -> Option<Image> {
        match &self.pixels {
            Pixels::Indexed { pixels, colors, .. }
                if palette.colors().zip(colors).all(|(one, other)| one == *other) =>
            {
                Image::new(self.width, self.height, pixels.clone())
            }
            _ => None,
        }
    }

    /// If the palette has transparent colors, replaces each index by its color and opacity.
    pub fn show_holes(&mut self) {
        let Pixels::Indexed { pixels, colors, alpha } = &self.pixels else { return };
        if !pixels.iter().any(|index| is_hole(alpha, *index)) {
            return;
        }
        let pixel = |index: &u8| {
            let [red, green, blue] = colors[usize::from(*index)];
            [red, green, blue, alpha.get(usize::from(*index)).copied().unwrap_or(u8::MAX)]
        };
        self.pixels = Pixels::True(pixels.iter().map(pixel).collect());
    }

    /// Whether transparent pixels become solid: in a texture without holes, or in a mip level, which has only colors.
    pub fn loses_holes(&self, has_holes: bool, is_copy: bool) -> bool {
        match &self.pixels {
            Pixels::True(pixels) => (is_copy || !has_holes) && pixels.iter().any(|pixel| pixel[3] < HALF),
            Pixels::Indexed { pixels, alpha, .. } => {
                pixels.iter().any(|index| is_hole(alpha, *index) && !(has_holes && *index == u8::MAX))
            }
        }
    }

    /// The color of every pixel.
    pub fn colors(&self) -> Vec<[u8; 3]> {
        match &self.pixels {
            Pixels::Indexed { pixels, colors, .. } => pixels.iter().map(|index| colors[usize::from(*index)]).collect(),
            Pixels::True(pixels) => pixels.iter().map(|[red, green, blue, _]| [*red, *green, *blue]).collect(),
        }
    }
}

// Converts pictures to images of textures: chooses their colors.

/// The color index of holes in textures whose names begin with `{`, and its usual color.
pub const HOLE: u8 = 255;
const BLUE: [u8; 3] = [0, 0, 255];

/// The picture for a texture that has its own palette, and the palette. `quantizes` makes a palette for a picture
/// without one.
///
/// # Errors
/// The picture has no palette.
pub fn with_own_palette(picture: &Picture, texture: &Miptex<'_>, quantizes: bool) -> Result<(Image, Palette)> {
    let old = texture.palette();
    match &picture.pixels {
        Pixels::Indexed { pixels, colors, .. } => {
            // Image tools remove unused colors at the end of a palette.
            let mut palette = old.unwrap_or(Palette([0; 768]));
            palette.0.as_chunks_mut::<3>().0.iter_mut().zip(colors).for_each(|(to, from)| *to = *from);
            Ok((image(picture, pixels.clone())?, palette))
        }
        Pixels::True(_) if !quantizes => Err(refused(NO_PALETTE)),
        Pixels::True(pixels) => quantized(picture, pixels, texture, old),
    }
}

/// The picture in the colors of a palette. `quantizes` chooses the nearest ones.
///
/// # Errors
/// The picture has no palette, or another one.
pub fn with_palette(picture: &Picture, palette: &Palette, quantizes: bool) -> Result<Image> {
    in_colors(picture, palette, quantizes.then_some(reduce))
}

/// As [`with_palette`], for textures of Quake: no pixel becomes fullbright that has not exactly such a color.
///
/// # Errors
/// As [`with_palette`].
pub fn with_quakes_palette(picture: &Picture, palette: &Palette, quantizes: bool) -> Result<Image> {
    in_colors(picture, palette, quantizes.then_some(reduce_lit))
}

type ToColors = fn(&[[u8; 3]], &Palette) -> Vec<u8>;

fn in_colors(picture: &Picture, palette: &Palette, quantize: Option<ToColors>) -> Result<Image> {
    match (picture.in_palette(palette), &picture.pixels, quantize) {
        (Some(image), ..) => Ok(image),
        (None, _, Some(quantize)) => image(picture, quantize(&picture.colors(), palette)),
        (None, Pixels::True(_), _) => Err(refused(NO_PALETTE)),
        (None, Pixels::Indexed { .. }, _) => {
            Err(refused("it has another palette than the texture: quantize it, or save it with this palette"))
        }
    }
}

const NO_PALETTE: &str = "it has no palette: save it with indexed colors, or quantize it";

fn image(picture: &Picture, pixels: Vec<u8>) -> Result<Image> {
    let image = Image::new(picture.width, picture.height, pixels);
    image.ok_or_else(|| refused("its number of pixels does not match its size"))
}

fn quantized(
    picture: &Picture,
    pixels: &[[u8; 4]],
    texture: &Miptex<'_>,
    old: Option<Palette>,
) -> Result<(Image, Palette)> {
    let has_holes = texture.name().starts_with(b"{");
    let hole = old.as_ref().map_or(BLUE, |old| old.color(HOLE));
    let is_hole = |pixel: &[u8; 4]| has_holes && (pixel[3] < HALF || pixel[..3] == hole);
    let colors = picture.colors();
    let (before, is_same_size) =
        (texture.pixels(0), (picture.width, picture.height) == (texture.width(), texture.height()));
    // If the palette has all colors, only changed pixels change.
    if let Some(palette) = &old {
        let index = |(at, color): (usize, &[u8; 3])| {
            if is_hole(&pixels[at]) {
                return Some(HOLE);
            }
            let own = before.filter(|_| is_same_size).and_then(|before| before.get(at).copied());
            own.filter(|own| palette.color(*own) == *color).or_else(|| palette.find(*color))
        };
        if let Some(indices) = colors.iter().enumerate().map(index).collect::<Option<Vec<u8>>>() {
            return Ok((image(picture, indices)?, palette.clone()));
        }
    }
    let solid: Vec<[u8; 3]> =
        colors.iter().zip(pixels).filter(|(_, pixel)| !is_hole(pixel)).map(|(color, _)| *color).collect();
    let mut palette = quantize(&solid, if has_holes { usize::from(HOLE) } else { 256 });
    if has_holes {
        // This entry is never chosen: of two equal colors the first one is used.
        let first = palette.color(0);
        palette.0[usize::from(HOLE) * 3..].copy_from_slice(&first);
    }
    let mut indices = reduce(&colors, &palette);
    if has_holes {
        palette.0[usize::from(HOLE) * 3..].copy_from_slice(&hole);
        indices.iter_mut().zip(pixels).filter(|(_, pixel)| is_hole(pixel)).for_each(|(index, _)| *index = HOLE);
    }
    Ok((image(picture, indices)?, palette))
}
