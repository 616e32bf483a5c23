//! Converts pictures to images of textures: chooses their colors.

use super::{HALF, Picture, Pixels};
use crate::Result;
use crate::content::palette::{Palette, quantize, reduce};
use crate::content::textures::{Image, Miptex};
use crate::face::images::refused;

/// The color index of holes in textures whose names begin with `{`, and its usual color.
const HOLE: u8 = 255;
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
    match (picture.in_palette(palette), &picture.pixels) {
        (Some(image), _) => Ok(image),
        (None, _) if quantizes => image(picture, reduce(&picture.colors(), palette)),
        (None, Pixels::True(_)) => Err(refused(NO_PALETTE)),
        (None, Pixels::Indexed { .. }) => {
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
