//! Light, textures and visibility as images, and back.
//!
//! An image that was not changed gives the same bytes as before.

pub mod light;
pub mod textures;
pub mod visibility;

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, Limits, Transformations};

use bspkit::{Error, ErrorKind, Result};

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 28;

/// Reads a file. Pipes and files that are too large are refused.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let there = fs::metadata(path).map_err(unread)?;
    match there.is_file() {
        false => Err(bad("it is not a regular file")),
        true if there.len() > MOST_BYTES => Err(bad(format!("its {} bytes are more than {MOST_BYTES}", there.len()))),
        true => fs::read(path).map_err(unread),
    }
}

/// The most pixels of an image, which is more than the light of any face has.
const MOST_PIXELS: usize = 1 << 24;

/// Refuses a size that is not the expected one, before memory is allocated for it.
fn check_size(found: [usize; 2], expected: [usize; 2]) -> Result<()> {
    let ([wide, high], [columns, rows]) = (found, expected);
    if found != expected {
        return Err(refused(format!("it has {wide} by {high} pixels, but {columns} by {rows} are expected")));
    }
    match wide.checked_mul(high) {
        Some(1..=MOST_PIXELS) => Ok(()),
        _ => Err(bad(format!("{wide} by {high} is not a valid size: it must have 1 to {MOST_PIXELS} pixels"))),
    }
}

/// An error of the system while reading; the caller names the file.
fn unread(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Malformed, message)
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message)
}

/// The width or height of an image as a number of the PNG format.
fn side(pixels: usize) -> Result<u32> {
    u32::try_from(pixels).map_err(|_| bad(format!("{pixels} pixels are too many")))
}

/// The width or height of an image as an index.
fn from_side(pixels: u32) -> Result<usize> {
    usize::try_from(pixels).map_err(|_| bad(format!("{pixels} pixels are too many")))
}

/// The error of a PNG file in plain words.
fn damaged(error: png::DecodingError) -> Error {
    match error {
        png::DecodingError::IoError(_) => bad("it ends early"),
        error if error.to_string().contains("CRC") => bad("a checksum in it is wrong"),
        error => bad("it is not a PNG that can be read").with_source(error),
    }
}

fn unwritten(error: png::EncodingError) -> Error {
    Error::new(ErrorKind::Io, "cannot write the PNG").with_source(error)
}

// PNG: red, green, blue of 8 bits.

/// Writes rows of red, green and blue.
pub(super) fn write_png(to: impl Write, [wide, high]: [usize; 2], pixels: &[u8]) -> Result<()> {
    let mut encoder = Encoder::new(to, side(wide)?, side(high)?);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    // This takes a tenth of the time, for files that are a sixth larger.
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Paeth);
    let mut writer = encoder.write_header().map_err(unwritten)?;
    writer.write_image_data(pixels).map_err(unwritten)?;
    writer.finish().map_err(unwritten)
}

/// Reads rows of red, green and blue. Grey and palette images, which some tools save to make files smaller, are
/// converted to colors. Transparency is ignored.
fn read_png(bytes: &[u8], expected: [usize; 2]) -> Result<Vec<u8>> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: 1 << 28 });
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info().map_err(damaged)?;
    let size = [from_side(info.width)?, from_side(info.height)?];
    check_size(size, expected)?;
    if info.bit_depth == BitDepth::Sixteen {
        return Err(bad("it has 16 bits per channel, but 8 are expected"));
    }
    let mut reader = decoder.read_info().map_err(damaged)?;
    let size = reader.output_buffer_size().ok_or_else(|| bad("it is too large"))?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(damaged)?;
    pixels.truncate(frame.buffer_size());
    Ok(match frame.color_type {
        ColorType::Rgb => pixels,
        ColorType::Rgba => pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
        ColorType::Grayscale => pixels.iter().flat_map(|grey| [*grey; 3]).collect(),
        ColorType::GrayscaleAlpha => pixels.chunks_exact(2).flat_map(|pixel| [pixel[0]; 3]).collect(),
        ColorType::Indexed => return Err(bad("its palette cannot be read")),
    })
}

// Radiance pictures (`.hdr`, `.pic`): red, green, blue and a common exponent, one byte each. Source: the Radiance file
// formats, "Picture File Format", and color.c of Radiance.

/// Red, green, blue and exponent. The value of a color is its byte / 256 * 2^(exponent - 128).
type Pixel = [u8; 4];

/// The widths of lines that may have the newer compression.
const NEW_WAY: std::ops::Range<usize> = 8..0x8000;

/// Writes rows of pixels.
fn write_hdr([wide, high]: [usize; 2], pixels: &[Pixel]) -> Vec<u8> {
    let mut file = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {high} +X {wide}\n").into_bytes();
    for line in pixels.chunks_exact(wide.max(1)) {
        match u16::try_from(wide) {
            Ok(width) if NEW_WAY.contains(&wide) => {
                file.extend_from_slice(&[2, 2]);
                file.extend_from_slice(&width.to_be_bytes());
                (0..4).for_each(|part| write_part(&mut file, line, part));
            }
            _ => line.iter().for_each(|pixel| file.extend_from_slice(&plain(*pixel))),
        }
    }
    file
}

/// Compresses runs of four bytes or more; other bytes are copied.
fn write_part(file: &mut Vec<u8>, line: &[Pixel], part: usize) {
    let mut at = 0;
    let run = |at: usize| line[at..].iter().take(127).take_while(|pixel| pixel[part] == line[at][part]).count();
    while at < line.len() {
        let same = run(at);
        if same >= 4 {
            file.extend([u8::try_from(128 + same).unwrap_or(u8::MAX), line[at][part]]);
            at += same;
            continue;
        }
        let mut end = at + same;
        while end < line.len() && end - at < 128 && run(end) < 4 {
            end += 1;
        }
        let end = end.min(at + 128);
        file.push(u8::try_from(end - at).unwrap_or(0));
        file.extend(line[at..end].iter().map(|pixel| pixel[part]));
        at = end;
    }
}

/// In a line without compression, a pixel of ones would be read as a run, and some first pixels as the start of a
/// compressed line. This returns the same color with other numbers, which is read as a pixel.
fn plain(pixel: Pixel) -> Pixel {
    match pixel {
        [1, 1, 1, _] | [2, 2, ..] => normal(pixel.map(u16::from), 0),
        pixel => pixel,
    }
}

/// The same color with the largest possible mantissa, rounded down; black if it is too dark.
fn normal([red, green, blue, exponent]: [u16; 4], more: u16) -> Pixel {
    // The parts are doubled, so that the half that some readers add can be expressed.
    let mut parts = [red, green, blue].map(|part| u32::from(2 * part + more));
    let mut exponent = exponent;
    if parts == [0; 3] || [red, green, blue] == [0; 3] {
        return [0; 4];
    }
    while parts.iter().all(|part| *part < 256) {
        if exponent <= 1 {
            return [0; 4];
        }
        parts = parts.map(|part| 2 * part);
        exponent -= 1;
    }
    let [red, green, blue] = parts.map(|part| u8::try_from(part / 2).unwrap_or(u8::MAX));
    [red, green, blue, u8::try_from(exponent).unwrap_or(u8::MAX)]
}

/// Whether two pixels are the same color, even if another tool has read and written one of them: such tools use the
/// largest possible mantissa, and some add a half to what they read.
fn same_color(old: Pixel, new: Pixel) -> bool {
    let wide = old.map(u16::from);
    let is_black = |pixel: Pixel| pixel[3] == 0 || pixel[..3] == [0; 3];
    let same = old == new || (is_black(old) && is_black(new)) || is_equal(old, new);
    same || [normal(wide, 0), normal(wide, 1)].contains(&new)
}

/// Whether two pixels are exactly the same color, possibly with different exponents.
fn is_equal(one: Pixel, other: Pixel) -> bool {
    let (low, high) = if one[3] <= other[3] { (one, other) } else { (other, one) };
    let shift = u32::from(high[3] - low[3]);
    low[3] > 0 && shift < 8 && (0..3).all(|part| u32::from(low[part]) == u32::from(high[part]) << shift)
}

/// Reads rows of pixels, with or without compression.
fn read_hdr(bytes: &[u8], expected: [usize; 2]) -> Result<Vec<Pixel>> {
    let mut rest = bytes;
    let mut line = || -> Result<&[u8]> {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(|| bad("its header does not end"))?;
        let (line, after) = rest.split_at(end);
        rest = &after[1..];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    };
    if !line()?.starts_with(b"#?") {
        return Err(bad("it is not a Radiance picture"));
    }
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let text = String::from_utf8_lossy(line);
        match text.split_once('=') {
            Some(("FORMAT", format)) if format.trim() != "32-bit_rle_rgbe" => {
                return Err(bad(format!("its format is {}, but 32-bit_rle_rgbe is expected", format.trim())));
            }
            Some(("EXPOSURE" | "COLORCORR", value))
                if value.split_ascii_whitespace().any(|part| part.parse() != Ok(1.0_f64)) =>
            {
                return Err(bad(format!("its colors were scaled ({text}): save it without EXPOSURE and COLORCORR")));
            }
            _ => {}
        }
    }
    let text = String::from_utf8_lossy(line()?).into_owned();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (is_upside_down, is_mirrored, high, wide) = match words[..] {
        ["-Y", high, "+X", wide] => (false, false, high, wide),
        ["+Y", high, "+X", wide] => (true, false, high, wide),
        ["-Y", high, "-X", wide] => (false, true, high, wide),
        ["+Y", high, "-X", wide] => (true, true, high, wide),
        _ => return Err(bad(format!("the order of its rows is not known: `{text}`"))),
    };
    let size = [wide, high].map(|number| number.parse::<usize>().unwrap_or(0));
    check_size(size, expected)?;
    let mut pixels = Vec::with_capacity(size[0] * size[1]);
    for _ in 0..size[1] {
        let start = pixels.len();
        rest = read_line(rest, size[0], &mut pixels).ok_or_else(|| bad("it ends before its last row"))?;
        if is_mirrored {
            pixels[start..].reverse();
        }
    }
    if is_upside_down {
        pixels = pixels.chunks_exact(size[0].max(1)).rev().flatten().copied().collect();
    }
    Ok(pixels)
}

/// Reads a row and returns the bytes after it; `None` if it is cut off or too long.
fn read_line<'b>(bytes: &'b [u8], wide: usize, pixels: &mut Vec<Pixel>) -> Option<&'b [u8]> {
    if let [2, 2, high, low, rest @ ..] = bytes
        && NEW_WAY.contains(&wide)
        && usize::from(u16::from_be_bytes([*high, *low])) == wide
    {
        return read_parts(rest, wide, pixels);
    }
    let (mut rest, mut shift) = (bytes, 0_u32);
    let end = pixels.len() + wide;
    let start = pixels.len();
    while pixels.len() < end {
        let (pixel, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        match *pixel {
            // A run of the previous pixel. Consecutive runs are digits of one count.
            [1, 1, 1, count] if pixels.len() > start => {
                let count = usize::from(count).checked_shl(shift).filter(|count| *count <= end - pixels.len())?;
                let last = *pixels.last()?;
                pixels.extend(std::iter::repeat_n(last, count));
                shift += 8;
            }
            pixel => {
                pixels.push(pixel);
                shift = 0;
            }
        }
    }
    Some(rest)
}

fn read_parts<'b>(bytes: &'b [u8], wide: usize, pixels: &mut Vec<Pixel>) -> Option<&'b [u8]> {
    let start = pixels.len();
    pixels.resize(start + wide, [0; 4]);
    let mut rest = bytes;
    for part in 0..4 {
        let mut at = start;
        while at < start + wide {
            let (&code, after) = rest.split_first()?;
            let count = usize::from(if code > 128 { code - 128 } else { code });
            let line = pixels.get_mut(at..at + count).filter(|line| !line.is_empty())?;
            if code > 128 {
                let (&value, after) = after.split_first()?;
                line.iter_mut().for_each(|pixel| pixel[part] = value);
                rest = after;
            } else {
                let (values, after) = after.split_at_checked(count)?;
                line.iter_mut().zip(values).for_each(|(pixel, value)| pixel[part] = *value);
                rest = after;
            }
            at += count;
        }
    }
    Some(rest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            (wide, pixels) in (1_usize..300).prop_flat_map(|wide| {
                (Just(wide), prop::collection::vec(prop::array::uniform4(0_u8..4), wide * 2))
            }),
        ) {
            let file = write_hdr([wide, 2], &pixels);
            let read = read_hdr(&file, [wide, 2]).unwrap();
            if wide >= 8 {
                prop_assert_eq!(&read, &pixels);
            }
            prop_assert!(pixels.iter().zip(&read).all(|(old, new)| same_color(*old, *new)));
            for cut in [file.len() - 1, file.len() / 2, 20] {
                prop_assert!(read_hdr(&file[..cut], [wide, 2]).is_err());
            }
        }

        /// As a tool that computes with floats writes what it read.
        #[test]
        fn another_tool_s_numbers_are_the_same_color(pixel: [u8; 4], half in 0_u8..2) {
            let [red, green, blue, exponent] = pixel;
            let scale = (f64::from(exponent) - 136.0).exp2();
            let read = [red, green, blue].map(|part| (f64::from(part) + 0.5 * f64::from(half)) * scale);
            let most = read.into_iter().fold(0.0, f64::max);
            let mut power = -128;
            while most >= f64::from(power).exp2() {
                power += 1;
            }
            let new = match exponent == 0 || [red, green, blue] == [0; 3] || most < 1e-32 {
                true => [0; 4],
                false => {
                    let parts = read.map(|part| (part * 256.0 / f64::from(power).exp2()) as u8);
                    [parts[0], parts[1], parts[2], (power + 128) as u8]
                }
            };
            prop_assert!(most < 1e-32 || same_color(pixel, new), "{:?} {:?}", pixel, new);
        }
    }

    #[test]
    fn other_colors_differ() {
        for (old, new) in [([10, 20, 30, 128], [10, 20, 31, 128]), ([160, 80, 48, 124], [161, 80, 48, 124])] {
            assert!(!same_color(old, new));
        }
        assert!(same_color([10, 5, 3, 128], [160, 80, 48, 124]));
        assert!(!same_color([10, 5, 3, 128], [160, 80, 49, 124]));
        assert!(same_color([0, 0, 0, 130], [0; 4]));
    }

    #[test]
    fn every_way_is_read() {
        let head = |line: &str| format!("#?RGBE\nSOFTWARE=x\nEXPOSURE=1.0\n\n{line}\n").into_bytes();
        let flat = [head("-Y 1 +X 2"), vec![1, 2, 3, 4, 5, 6, 7, 8]].concat();
        assert_eq!(read_hdr(&flat, [2, 1]).unwrap(), [[1, 2, 3, 4], [5, 6, 7, 8]]);
        let old = [head("-Y 1 +X 3"), vec![1, 2, 3, 4, 1, 1, 1, 2]].concat();
        assert_eq!(read_hdr(&old, [3, 1]).unwrap(), [[1, 2, 3, 4]; 3]);
        let mirrored = [head("+Y 2 -X 2"), (0..16).map(|byte| 3 + byte).collect()].concat();
        let pixels = [[15, 16, 17, 18], [11, 12, 13, 14], [7, 8, 9, 10], [3, 4, 5, 6]];
        assert_eq!(read_hdr(&mirrored, [2, 2]).unwrap(), pixels);
        let too_long = [head("-Y 1 +X 3"), vec![1, 2, 3, 4, 1, 1, 1, 3]].concat();
        assert!(read_hdr(&too_long, [3, 1]).is_err());
        let scaled = b"#?RADIANCE\nEXPOSURE=2\n\n-Y 1 +X 1\n\0\0\0\0";
        assert!(read_hdr(scaled, [1, 1]).unwrap_err().to_string().contains("scaled"));
        let xyz = b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n\0\0\0\0";
        assert!(read_hdr(xyz, [1, 1]).unwrap_err().to_string().contains("xyze"));
        assert!(read_hdr(b"#?RADIANCE\n\n-Y 9999999999 +X 9999999999\n", [1, 1]).is_err());
    }

    #[test]
    fn what_is_written_reads_back_rgb() {
        let pixels: Vec<u8> = (0..5 * 3 * 3).collect();
        let mut file = Vec::new();
        write_png(&mut file, [5, 3], &pixels).unwrap();
        assert_eq!(read_png(&file, [5, 3]).unwrap(), pixels);
        let error = read_png(&file, [3, 5]).unwrap_err().to_string();
        assert_eq!(error, "it has 5 by 3 pixels, but 3 by 5 are expected");
        assert!(read_png(&file[..40], [5, 3]).is_err());
        assert!(read_png(b"GIF89a", [5, 3]).is_err());
    }

    #[test]
    fn other_kinds_of_color_are_taken() {
        let read = |color, depth, palette: Option<&'static [u8]>, data: &[u8]| {
            let mut file = Vec::new();
            let mut encoder = Encoder::new(&mut file, 2, 1);
            encoder.set_color(color);
            encoder.set_depth(depth);
            palette.into_iter().for_each(|palette| encoder.set_palette(palette));
            let mut writer = encoder.write_header().unwrap();
            writer.write_image_data(data).unwrap();
            writer.finish().unwrap();
            read_png(&file, [2, 1])
        };
        let eight = BitDepth::Eight;
        assert_eq!(read(ColorType::Grayscale, eight, None, &[7, 9]).unwrap(), [7, 7, 7, 9, 9, 9]);
        assert_eq!(read(ColorType::Rgba, eight, None, &[1, 2, 3, 0, 4, 5, 6, 9]).unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(read(ColorType::GrayscaleAlpha, eight, None, &[1, 0, 2, 0]).unwrap(), [1, 1, 1, 2, 2, 2]);
        let palette = Some(&[1, 2, 3, 4, 5, 6][..]);
        assert_eq!(read(ColorType::Indexed, eight, palette, &[1, 0]).unwrap(), [4, 5, 6, 1, 2, 3]);
        assert_eq!(read(ColorType::Indexed, BitDepth::One, palette, &[0x80]).unwrap(), [4, 5, 6, 1, 2, 3]);
        let deep = read(ColorType::Rgb, BitDepth::Sixteen, None, &[0; 12]).unwrap_err();
        assert!(deep.to_string().contains("16 bits"));
    }
}
