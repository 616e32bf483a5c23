//! VTF files, the textures of Source: the largest image of the first frame (Valve Developer Community, "VTF").

use bspkit::bytes::{ByteOrder, short, word};
use bspkit::{Error, ErrorKind, Result};

use crate::picture::Picture;

/// The most columns and rows.
const MOST_SIDE: usize = 8192;
/// The flag of textures that are the six sides of a cube.
const IS_CUBE: i32 = 0x4000;
/// The tag of the image among the parts of a file of version 7.3 and later.
const IMAGE: [u8; 3] = [0x30, 0, 0];

/// How pixels are stored: the number in the file, and the bytes of a pixel, or of a block of four by four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Bytes of red, green, blue and opacity, in this order of places; a place of 4 is a channel that is not there.
    Bytes { size: usize, places: [usize; 4] },
    /// One number for all colors; the place of the opacity.
    Grey { size: usize, opacity: usize },
    /// 16 bits: the first bit and the number of bits of red, green, blue and opacity, which may have none.
    Sixteen([[u32; 2]; 4]),
    /// Blocks of four by four: of 8 bytes, or of 16 with opacity, which is mixed as colors are, or four bits for each
    /// pixel.
    Blocks { size: usize, is_mixed: bool },
}

impl Format {
    fn of(number: i32) -> Option<Self> {
        let bytes = |size, places| Some(Format::Bytes { size, places });
        match number {
            0 => bytes(4, [0, 1, 2, 3]),
            1 => bytes(4, [3, 2, 1, 0]),
            2 => bytes(3, [0, 1, 2, 4]),
            3 => bytes(3, [2, 1, 0, 4]),
            4 => Some(Format::Sixteen([[0, 5], [5, 6], [11, 5], [0, 0]])),
            5 => Some(Format::Grey { size: 1, opacity: 4 }),
            6 => Some(Format::Grey { size: 2, opacity: 1 }),
            8 => bytes(1, [4, 4, 4, 0]),
            // Blue that means a hole.
            9 => bytes(3, [0, 1, 2, 4]),
            10 => bytes(3, [2, 1, 0, 4]),
            11 => bytes(4, [1, 2, 3, 0]),
            12 => bytes(4, [2, 1, 0, 3]),
            13 | 20 => Some(Format::Blocks { size: 8, is_mixed: false }),
            14 => Some(Format::Blocks { size: 16, is_mixed: false }),
            15 => Some(Format::Blocks { size: 16, is_mixed: true }),
            16 => bytes(4, [2, 1, 0, 4]),
            17 => Some(Format::Sixteen([[11, 5], [5, 6], [0, 5], [0, 0]])),
            18 => Some(Format::Sixteen([[10, 5], [5, 5], [0, 5], [0, 0]])),
            19 => Some(Format::Sixteen([[8, 4], [4, 4], [0, 4], [12, 4]])),
            21 => Some(Format::Sixteen([[10, 5], [5, 5], [0, 5], [15, 1]])),
            _ => None,
        }
    }

    /// The bytes of an image.
    fn len(self, [wide, high]: [usize; 2]) -> usize {
        match self {
            Format::Bytes { size, .. } | Format::Grey { size, .. } => wide * high * size,
            Format::Sixteen(_) => wide * high * 2,
            Format::Blocks { size, .. } => wide.div_ceil(4) * high.div_ceil(4) * size,
        }
    }
}

/// The picture of a file.
///
/// # Errors
/// [`ErrorKind::Malformed`] for a file that is not a VTF or that is cut off; [`ErrorKind::Unsupported`] for one with
/// pixels of a format that is not read, or with the sides of a cube.
pub(crate) fn read(bytes: &[u8]) -> Result<Picture> {
    let wrong = |what: &str| Error::new(ErrorKind::Malformed, format!("the file is no VTF that can be read: {what}"));
    let unknown = |what: String| Error::new(ErrorKind::Unsupported, what);
    let number = |at: usize| word(bytes, at).ok_or_else(|| wrong("its header is cut off"));
    let short_at =
        |at: usize| ByteOrder::Little.half(bytes, at).map(usize::from).ok_or_else(|| wrong("its header is cut off"));
    let byte = |at: usize| bytes.get(at).copied().map(usize::from).ok_or_else(|| wrong("its header is cut off"));
    if !bytes.starts_with(b"VTF\0") {
        return Err(wrong("it begins with other letters"));
    }
    let (version, header) = (number(8)?, number(12)?);
    let size = [short_at(16)?, short_at(18)?];
    let (flags, frames) = (number(20)?, short_at(24)?.max(1));
    if !size.iter().all(|side| (1..=MOST_SIDE).contains(side)) {
        return Err(wrong("its size is not valid"));
    }
    if flags & IS_CUBE != 0 {
        return Err(unknown("the file has the sides of a cube, and not one picture".to_owned()));
    }
    let format = number(52)?;
    let format = Format::of(format)
        .ok_or_else(|| unknown(format!("pixels of the format {format} (of VTF files) are not read")))?;
    let levels = byte(56)?.clamp(1, 16);
    // A small picture is before the image.
    let small = match (Format::of(number(57)?), [byte(61)?, byte(62)?]) {
        (Some(format), size) if !size.contains(&0) => format.len(size),
        _ => 0,
    };
    let depth = if version >= 2 { short_at(63)?.max(1) } else { 1 };
    let start = match version {
        3.. => resource(bytes, header).ok_or_else(|| wrong("it has no image"))?,
        _ => usize::try_from(header)
            .ok()
            .and_then(|header| header.checked_add(small))
            .ok_or_else(|| wrong("its size is not valid"))?,
    };
    // The smaller levels come first; each has all frames and slices.
    let level = |level: usize| size.map(|side| (side >> level).max(1));
    let smaller =
        (1..levels).map(|at| format.len(level(at)).saturating_mul(frames).saturating_mul((depth >> at).max(1)));
    let start = smaller.fold(start, usize::saturating_add);
    let image = start.checked_add(format.len(size)).and_then(|end| bytes.get(start..end));
    let pixels = decode(format, size, image.ok_or_else(|| wrong("its image is cut off"))?);
    Picture::rgba(size.map(short), &pixels)
}

/// The offset of the image in a file with a list of parts.
fn resource(bytes: &[u8], header: i32) -> Option<usize> {
    let count = usize::try_from(word(bytes, 68)?).ok()?.min(64);
    let end = usize::try_from(header).ok()?;
    let entries = (0..count).map(|entry| 80 + 8 * entry).take_while(|at| at + 8 <= end);
    let image = entries.into_iter().find(|at| bytes.get(*at..*at + 3) == Some(&IMAGE[..]))?;
    usize::try_from(word(bytes, image + 4)?).ok()
}

/// Red, green, blue and opacity of each pixel.
fn decode(format: Format, [wide, high]: [usize; 2], bytes: &[u8]) -> Vec<u8> {
    match format {
        Format::Bytes { size, places } => {
            let channel =
                |pixel: &[u8], place: usize| pixel.get(place).copied().filter(|_| place < 4).unwrap_or(u8::MAX);
            bytes.chunks_exact(size).flat_map(|pixel| places.map(|place| channel(pixel, place))).collect()
        }
        Format::Grey { size, opacity } => bytes
            .chunks_exact(size)
            .flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel.get(opacity).copied().unwrap_or(u8::MAX)])
            .collect(),
        Format::Sixteen(parts) => {
            let channel = |pixel: u16, [first, count]: [u32; 2]| match count {
                0 => u8::MAX,
                _ => widened(pixel >> first, count),
            };
            let pixels = bytes.as_chunks::<2>().0.iter().map(|pixel| u16::from_le_bytes(*pixel));
            pixels.flat_map(|pixel| parts.map(|part| channel(pixel, part))).collect()
        }
        Format::Blocks { size, is_mixed } => blocks(size, is_mixed, [wide, high], bytes),
    }
}

/// The lowest bits as a byte: 0 stays 0, and the highest value is 255.
fn widened(bits: u16, count: u32) -> u8 {
    let most = (1_u32 << count) - 1;
    let value = u32::from(bits) & most;
    match count {
        // The highest bits again where there are none.
        5.. => u8::try_from(value << (8 - count) | value >> (2 * count - 8)).unwrap_or(u8::MAX),
        _ => u8::try_from(value * 255 / most).unwrap_or(u8::MAX),
    }
}

/// The three parts of 16 bits, the lowest first, as bytes.
fn five_six_five(bits: u16) -> [u8; 3] {
    [widened(bits, 5), widened(bits >> 5, 6), widened(bits >> 11, 5)]
}

/// Blocks of four by four pixels: two colors and for each pixel two bits that mix them; in those of 16 bytes the
/// opacity comes first (DXT1, DXT3, DXT5).
fn blocks(size: usize, is_mixed: bool, [wide, high]: [usize; 2], bytes: &[u8]) -> Vec<u8> {
    let mut pixels = vec![0; wide * high * 4];
    let columns = wide.div_ceil(4);
    for (at, block) in bytes.chunks_exact(size).enumerate() {
        let (opacity, colors) = block.split_at(size - 8);
        let Some(colors) = colors.first_chunk() else { continue };
        let mut four = color_block(*colors, size == 8);
        if let Some(opacity) = opacity.first_chunk::<8>() {
            let four_bits = |at: usize| widened(u16::from(opacity[at / 2] >> (4 * (at % 2))), 4);
            let opacity = if is_mixed { opacity_block(*opacity) } else { std::array::from_fn(four_bits) };
            four.iter_mut().zip(opacity).for_each(|(pixel, alpha)| pixel[3] = alpha);
        }
        let [left, top] = [at % columns * 4, at / columns * 4];
        for (index, pixel) in four.into_iter().enumerate() {
            let [x, y] = [left + index % 4, top + index / 4];
            if x < wide && y < high {
                let start = (y * wide + x) * 4;
                pixels[start..start + 4].copy_from_slice(&pixel);
            }
        }
    }
    pixels
}

/// The colors of a block. With holes, a first color that is not larger than the second one means that the fourth is a
/// hole.
fn color_block(bytes: [u8; 8], has_holes: bool) -> [[u8; 4]; 16] {
    let [first, second] = [[bytes[0], bytes[1]], [bytes[2], bytes[3]]].map(u16::from_le_bytes);
    let ends = [first, second].map(|bits| {
        let [blue, green, red] = five_six_five(bits);
        [red, green, blue]
    });
    let mix = |one: u32, other: u32| -> [u8; 4] {
        let part = |channel: usize| {
            let sum = one * u32::from(ends[0][channel]) + other * u32::from(ends[1][channel]);
            u8::try_from(sum / (one + other)).unwrap_or(u8::MAX)
        };
        [part(0), part(1), part(2), u8::MAX]
    };
    let between = if has_holes && first <= second { [mix(1, 1), [0; 4]] } else { [mix(2, 1), mix(1, 2)] };
    let colors = [mix(1, 0), mix(0, 1), between[0], between[1]];
    let bits = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    std::array::from_fn(|pixel| colors[usize::from((bits >> (2 * pixel)).to_le_bytes()[0] & 3)])
}

/// The opacity of the pixels of a block: two ends, and three bits for each pixel that mix them.
fn opacity_block(bytes: [u8; 8]) -> [u8; 16] {
    let [first, second] = [bytes[0], bytes[1]].map(u32::from);
    let level = |code: u32| {
        let mixed = match code {
            0 => first,
            1 => second,
            code if first > second => ((8 - code) * first + (code - 1) * second) / 7,
            6 => 0,
            7 => 255,
            code => ((6 - code) * first + (code - 1) * second) / 5,
        };
        u8::try_from(mixed).unwrap_or(u8::MAX)
    };
    let mut bits = [0; 8];
    bits[..6].copy_from_slice(&bytes[2..]);
    let bits = u64::from_le_bytes(bits);
    std::array::from_fn(|pixel| level(u32::from((bits >> (3 * pixel)).to_le_bytes()[0] & 7)))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A file of version 7.2 with one image and a smaller level.
    pub(super) fn file(format: i32, size: [u16; 2], smaller: usize, image: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 80];
        bytes[..4].copy_from_slice(b"VTF\0");
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(4, &7_u32.to_le_bytes());
        put(8, &2_u32.to_le_bytes());
        put(12, &80_u32.to_le_bytes());
        put(16, &size[0].to_le_bytes());
        put(18, &size[1].to_le_bytes());
        put(24, &1_u16.to_le_bytes());
        put(52, &format.to_le_bytes());
        put(56, &[if smaller > 0 { 2 } else { 1 }]);
        put(57, &(-1_i32).to_le_bytes());
        put(63, &1_u16.to_le_bytes());
        bytes.extend(vec![0xEE; smaller]);
        bytes.extend_from_slice(image);
        bytes
    }

    fn pixels(picture: &Picture) -> Vec<u8> {
        let mut reader = png::Decoder::new(Cursor::new(&picture.png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    }

    #[test]
    fn the_largest_level_is_read() {
        let file = file(3, [2, 2], 3, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let picture = read(&file).unwrap();
        assert_eq!(pixels(&picture), [3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10]);
    }

    #[test]
    fn blocks_mix_two_colors() {
        // White and black; the four pixels of each row are the four mixes.
        let block = [0xFF, 0xFF, 0, 0, 0xE4, 0xE4, 0xE4, 0xE4];
        let picture = read(&file(13, [4, 4], 8, &block)).unwrap();
        let row = [255, 255, 255, 0, 0, 0, 170, 170, 170, 85, 85, 85];
        assert_eq!(pixels(&picture), row.repeat(4));
        // The other way round the third is the mean and the fourth a hole.
        let holes = [0, 0, 0xFF, 0xFF, 0xE4, 0xE4, 0xE4, 0xE4];
        let picture = read(&file(13, [4, 4], 0, &holes)).unwrap();
        let row = [0, 0, 0, 255, 255, 255, 255, 255, 127, 127, 127, 255, 0, 0, 0, 0];
        assert_eq!(pixels(&picture), row.repeat(4));
    }

    #[test]
    fn opacity_is_before_the_colors() {
        // The codes 0 to 7, three bits each, from the lowest on.
        let codes = (0..8_u64).fold(0, |bits, code| bits | code << (3 * code)).to_le_bytes();
        let block = |ends: [u8; 2]| opacity_block([ends[0], ends[1], codes[0], codes[1], codes[2], 0, 0, 0]);
        assert_eq!(block([255, 0])[..8], [255, 0, 218, 182, 145, 109, 72, 36]);
        assert_eq!(block([0, 255])[..8], [0, 255, 51, 102, 153, 204, 0, 255]);
        let both = [&[255, 0, 0, 0, 0, 0, 0, 0][..], &[0xFF, 0xFF, 0, 0, 0, 0, 0, 0]].concat();
        let picture = read(&file(15, [4, 4], 0, &both)).unwrap();
        assert_eq!(pixels(&picture), [255; 48]);
    }

    #[test]
    fn opacity_may_be_four_bits_for_each_pixel() {
        let both = [&[0xF0, 0x80, 0, 0, 0, 0, 0, 0][..], &[0xFF, 0xFF, 0, 0, 0, 0, 0, 0]].concat();
        let picture = read(&file(14, [4, 4], 0, &both)).unwrap();
        let opacity: Vec<u8> = pixels(&picture).chunks(4).map(|pixel| pixel[3]).collect();
        assert_eq!(opacity[..5], [0, 255, 0, 136, 0]);
    }

    /// Red, green, blue and opacity of the lowest, a middle and the highest bits.
    #[test]
    fn pixels_of_16_bits_and_of_8_are_read() {
        let pixel = |format: i32, bytes: &[u8]| pixels(&read(&file(format, [1, 1], 0, bytes)).unwrap());
        assert_eq!(pixel(4, &[0x1F, 0]), [255, 0, 0]);
        assert_eq!(pixel(17, &[0x1F, 0]), [0, 0, 255]);
        assert_eq!(pixel(18, &[0, 0x7C]), [255, 0, 0]);
        assert_eq!(pixel(19, &[0x21, 0x83]), [51, 34, 17, 136]);
        assert_eq!(pixel(21, &[0xE0, 0x03]), [0, 255, 0, 0]);
        assert_eq!(pixel(8, &[7]), [255, 255, 255, 7]);
        assert_eq!(pixel(9, &[1, 2, 3]), [1, 2, 3]);
        assert_eq!(pixel(10, &[1, 2, 3]), [3, 2, 1]);
    }

    /// A format that is not read is an error, and no missing texture.
    #[test]
    fn other_formats_are_named() {
        let error = read(&file(24, [1, 1], 0, &[0; 8])).unwrap_err();
        assert!(error.to_string().contains("the format 24"), "{error}");
        let mut cube = file(3, [1, 1], 0, &[0; 3]);
        cube[20..24].copy_from_slice(&IS_CUBE.to_le_bytes());
        assert!(read(&cube).unwrap_err().to_string().contains("cube"));
    }

    #[test]
    fn no_file_is_a_panic() {
        let good = file(15, [8, 8], 16, &[7; 64]);
        assert!(read(&good).is_ok());
        for cut in 0..good.len() {
            assert!(read(&good[..cut]).is_err());
        }
        for at in 0..80 {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = read(&bad);
            }
        }
    }
}
