//! Pictures as PNG files.

use bspkit::content::palette::Palette;
use bspkit::{Error, ErrorKind, Result};
use png::{BitDepth, ColorType, Compression, Encoder, Filter};

/// A picture: the bytes of a PNG file.
///
/// ```
/// use bspkit_see::{Alpha, Picture};
/// let picture = Picture::rgba([1, 2], &[255, 0, 0, 255, 0, 0, 255, 40])?;
/// assert_eq!((picture.size, picture.alpha), ([1, 2], Alpha::Smooth));
/// assert!(picture.png.starts_with(b"\x89PNG"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// Columns and rows.
    pub size: [u32; 2],
    /// The file.
    pub png: Vec<u8>,
    /// How opaque its pixels are.
    pub alpha: Alpha,
}

/// How opaque the pixels of a picture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Alpha {
    /// All of them are opaque.
    Opaque,
    /// Each is opaque or a hole.
    Holes,
    /// Some are partly opaque.
    Smooth,
}

impl Picture {
    /// A picture of red, green and blue, row by row.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the number of bytes is not that of the size.
    pub fn rgb(size: [u32; 2], pixels: &[u8]) -> Result<Self> {
        let png = encode(size, ColorType::Rgb, pixels, None, &[])?;
        Ok(Picture { size, png, alpha: Alpha::Opaque })
    }

    /// A picture of red, green, blue and opacity, row by row.
    ///
    /// # Errors
    /// As [`Picture::rgb`].
    pub fn rgba(size: [u32; 2], pixels: &[u8]) -> Result<Self> {
        let alphas = || pixels.as_chunks::<4>().0.iter().map(|pixel| pixel[3]);
        let alpha = match () {
            () if alphas().all(|alpha| alpha == u8::MAX) => Alpha::Opaque,
            () if alphas().all(|alpha| alpha == u8::MAX || alpha == 0) => Alpha::Holes,
            () => Alpha::Smooth,
        };
        let png = match alpha {
            Alpha::Opaque => {
                let opaque: Vec<u8> =
                    pixels.as_chunks::<4>().0.iter().flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
                encode(size, ColorType::Rgb, &opaque, None, &[])?
            }
            _ => encode(size, ColorType::Rgba, pixels, None, &[])?,
        };
        Ok(Picture { size, png, alpha })
    }

    /// A picture whose four channels are not a color.
    pub(crate) fn raw(size: [u32; 2], pixels: &[u8]) -> Result<Self> {
        let png = encode(size, ColorType::Rgba, pixels, None, &[])?;
        Ok(Picture { size, png, alpha: Alpha::Smooth })
    }

    /// A picture of colors of a palette, of which one may be a hole.
    ///
    /// # Errors
    /// As [`Picture::rgb`].
    pub fn indexed(size: [u32; 2], pixels: &[u8], palette: &Palette, hole: Option<u8>) -> Result<Self> {
        let hole = hole.filter(|hole| pixels.contains(hole));
        let opacity: Vec<u8> = hole.map_or_else(Vec::new, |hole| (0..hole).map(|_| u8::MAX).chain([0]).collect());
        let png = encode(size, ColorType::Indexed, pixels, Some(palette), &opacity)?;
        Ok(Picture { size, png, alpha: if hole.is_some() { Alpha::Holes } else { Alpha::Opaque } })
    }
}

fn encode(
    [wide, high]: [u32; 2],
    color: ColorType,
    pixels: &[u8],
    palette: Option<&Palette>,
    opacity: &[u8],
) -> Result<Vec<u8>> {
    let wrong = |error: png::EncodingError| {
        Error::new(ErrorKind::Argument, format!("{wide} by {high} pixels cannot be a PNG")).with_source(error)
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, wide, high);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    if let Some(palette) = palette {
        encoder.set_palette(&palette.0[..]);
    } else {
        encoder.set_filter(Filter::Paeth);
    }
    if !opacity.is_empty() {
        encoder.set_trns(opacity.to_vec());
    }
    let mut writer = encoder.write_header().map_err(wrong)?;
    writer.write_image_data(pixels).map_err(wrong)?;
    writer.finish().map_err(wrong)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_in_the_palette() {
        let palette = Palette([9; 768]);
        let with = Picture::indexed([2, 1], &[255, 3], &palette, Some(255)).unwrap();
        assert_eq!(with.alpha, Alpha::Holes);
        let mut reader = png::Decoder::new(std::io::Cursor::new(&with.png)).read_info().unwrap();
        let trns = reader.info().trns.clone().unwrap();
        assert!(trns.len() == 256 && trns[255] == 0 && trns[..255].iter().all(|alpha| *alpha == 255));
        let mut pixels = [0; 2];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [255, 3]);
        assert_eq!(Picture::indexed([2, 1], &[4, 3], &palette, Some(255)).unwrap().alpha, Alpha::Opaque);
    }

    #[test]
    fn another_number_of_pixels_is_refused() {
        assert!(Picture::rgb([2, 2], &[0; 11]).is_err());
        assert!(Picture::rgb([0, 2], &[]).is_err());
    }
}
