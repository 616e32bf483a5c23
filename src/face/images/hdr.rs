//! Radiance pictures (`.hdr`, `.pic`): red, green, blue and a common exponent, one byte each. Source: the Radiance file
//! formats, "Picture File Format", and color.c of Radiance.

use super::{bad, check_size};
use crate::Result;

/// Red, green, blue and exponent. The value of a color is its byte / 256 * 2^(exponent - 128).
type Pixel = [u8; 4];

/// The widths of lines that may have the newer compression.
const NEW_WAY: std::ops::Range<usize> = 8..0x8000;

/// Writes rows of pixels.
pub(super) fn write_hdr([wide, high]: [usize; 2], pixels: &[Pixel]) -> Vec<u8> {
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
pub(super) fn same_color(old: Pixel, new: Pixel) -> bool {
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
pub(super) fn read_hdr(bytes: &[u8], expected: [usize; 2]) -> Result<Vec<Pixel>> {
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
    use super::*;
    use proptest::prelude::*;

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
}
