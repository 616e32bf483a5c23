//! PNG files: images with a palette, written and read.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bspkit::content::palette::Palette;
use bspkit::content::textures::Image;
use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Limits, Transformations};

use crate::cli::show::shown;

/// No image is larger, neither one that is read nor one that is written, and memory stays bounded.
const MOST_PIXELS: usize = 1 << 24;

/// What a PNG file holds.
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Pixels,
}

pub(super) enum Pixels {
    /// Indices into colours; each index has one, and says how far one sees through it.
    Indexed { pixels: Vec<u8>, colors: Vec<[u8; 3]>, alpha: Vec<u8> },
    /// Colours, and how far one sees through.
    True(Vec<[u8; 4]>),
}

/// An image with its palette as the bytes of a PNG file.
pub(super) fn encode(width: u32, height: u32, pixels: &[u8], palette: &Palette) -> Result<Vec<u8>> {
    if pixels.len() > MOST_PIXELS {
        bail!("its {width} by {height} pixels are more than {MOST_PIXELS}");
    }
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(&palette.0[..]);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// Reads a PNG file of any kind.
pub(super) fn read(path: &Path) -> Result<Picture> {
    let file = File::open(path).with_context(|| format!("cannot read {}", shown(path)))?;
    decode(BufReader::new(file)).with_context(|| format!("{} is no PNG file that can be read", shown(path)))
}

fn decode(read: impl std::io::BufRead + std::io::Seek) -> Result<Picture> {
    let mut decoder = Decoder::new_with_limits(read, Limits { bytes: 8 * MOST_PIXELS });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info()?;
    let (width, height) = info.size();
    let count = usize::try_from(width)?.checked_mul(usize::try_from(height)?).filter(|count| *count <= MOST_PIXELS);
    let Some(count) = count else { bail!("its {width} by {height} pixels are more than {MOST_PIXELS}") };
    let is_indexed = info.color_type == ColorType::Indexed;
    decoder.set_transformations(if is_indexed {
        Transformations::IDENTITY
    } else {
        Transformations::normalize_to_color8()
    });
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size().context("it is too large")?];
    let frame = reader.next_frame(&mut bytes)?;
    let pixels = if is_indexed {
        let depth = match frame.bit_depth {
            BitDepth::One => 1,
            BitDepth::Two => 2,
            BitDepth::Four => 4,
            _ => 8,
        };
        let line = usize::try_from(width)?;
        let indices: Vec<u8> = bytes
            .chunks(frame.line_size)
            .take(usize::try_from(height)?)
            .flat_map(|row| unpack(row, depth, line))
            .collect();
        let colors = reader.info().palette.as_deref().unwrap_or(&[]).as_chunks::<3>().0.to_vec();
        if let Some(most) = indices.iter().max().filter(|most| usize::from(**most) >= colors.len()) {
            bail!("a pixel has colour {most}, and its palette has {}", colors.len());
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

/// The indices in a line, of this many bits each, the first one in the highest bits.
fn unpack(row: &[u8], depth: usize, line: usize) -> Vec<u8> {
    let each = 8 / depth;
    let mask = u8::MAX >> (8 - depth);
    (0..line).map(|x| row.get(x / each).map_or(0, |byte| byte >> (8 - depth * (x % each + 1)) & mask)).collect()
}

/// What is less opaque than this is transparent.
pub(super) const HALF: u8 = 128;

fn is_hole(alpha: &[u8], index: u8) -> bool {
    alpha.get(usize::from(index)).is_some_and(|alpha| *alpha < HALF)
}

impl Picture {
    /// The picture in exactly these colours; nothing where it has no palette, or another one.
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

    /// Takes each pixel for its colour and transparency where a palette has transparent ones.
    pub(super) fn show_holes(&mut self) {
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

    /// Whether pixels are transparent that become solid: in a texture without holes, or in a copy that takes colours
    /// alone.
    pub(super) fn loses_holes(&self, has_holes: bool, is_copy: bool) -> bool {
        match &self.pixels {
            Pixels::True(pixels) => (is_copy || !has_holes) && pixels.iter().any(|pixel| pixel[3] < HALF),
            Pixels::Indexed { pixels, alpha, .. } => {
                pixels.iter().any(|index| is_hole(alpha, *index) && !(has_holes && *index == u8::MAX))
            }
        }
    }

    /// Every pixel's own colour.
    pub(super) fn colors(&self) -> Vec<[u8; 3]> {
        match &self.pixels {
            Pixels::Indexed { pixels, colors, .. } => pixels.iter().map(|index| colors[usize::from(*index)]).collect(),
            Pixels::True(pixels) => pixels.iter().map(|[red, green, blue, _]| [*red, *green, *blue]).collect(),
        }
    }
}
