//! Visibility as an image: a square of bits, PBM or PNG. A white pixel means that the place of its row sees the place
//! of its column.
//!
//! ```
//! use bspkit::content::visibility::VisSet;
//! use bspkit_text::images::visibility::{Kind, export, import};
//!
//! let map = bspkit::Bsp::open("../../tests/maps/q3/own_rooms.bsp")?;
//! let visibility = map.visibility()?;
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("vis.png");
//! let file = std::fs::File::create(&path).unwrap();
//! export(&visibility, VisSet::Pvs, Kind::of(&path)?, file)?;
//! let mut draft = map.draft();
//! assert_eq!(import(draft.visibility()?, VisSet::Pvs, &path)?, 0); // no row changed
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Reader, StreamWriter, Transformations};

use super::{bad, damaged, from_side, refused, side as png_side, unread, unwritten};
use bspkit::content::visibility::{VisSet, Visibility};
use bspkit::{Error, ErrorKind, Result};

/// The leafs or clusters that have rows and bits, in order. The solid leaf 0 and the leafs of brush models have none.
pub fn places(visibility: &Visibility<'_>) -> Vec<usize> {
    match visibility.is_empty() {
        true => Vec::new(),
        false => visibility.plain(true).iter().collect(),
    }
}

/// Writes visibility as an image. A row that cannot be read is black, and its error is returned.
///
/// # Errors
/// Writing failed.
pub fn export(visibility: &Visibility<'_>, set: VisSet, kind: Kind, file: impl Write) -> Result<Vec<Error>> {
    let (places, all, none) = (places(visibility), visibility.plain(true), visibility.plain(false));
    let mut unread = Vec::new();
    write(file, kind, places.len(), |index| match visibility.row(set, places[index]) {
        Ok(row) => row.unwrap_or_else(|| all.clone()).bytes().to_vec(),
        Err(error) => {
            unread.push(error);
            none.bytes().to_vec()
        }
    })?;
    Ok(unread)
}

/// Reads visibility from an image, and returns the number of changed rows. A row with the pixels that [`export`] would
/// write keeps its bytes.
///
/// # Errors
/// The file cannot be read, is not an image of this size, or has a pixel that is neither black nor white.
pub fn import(visibility: &mut Visibility<'_>, set: VisSet, file: &Path) -> Result<usize> {
    let places = places(visibility);
    let mut picture = Picture::open(file, places.len())?;
    let mut changed = 0;
    for place in &places {
        let bits = picture.row()?;
        // As in an export, a missing row shows everything, and an unreadable row shows nothing.
        let old = match visibility.row(set, *place) {
            Ok(row) => row.unwrap_or_else(|| visibility.plain(true)),
            Err(_) => visibility.plain(false),
        };
        let mut new = old.clone();
        for (bit, to) in places.iter().enumerate() {
            let sees = bits[bit / 8] & (1 << (bit % 8)) != 0;
            if sees != old.sees(*to) {
                new.set(*to, sees)?;
            }
        }
        if new != old {
            visibility.set_row(set, *place, new)?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// The format of an image, from the extension of its file.
///
/// ```
/// use bspkit_text::images::visibility::Kind;
/// assert_eq!(Kind::of("vis.PNG".as_ref())?, Kind::Png);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Portable bitmap, a bit for each pixel.
    Pbm,
    /// Portable Network Graphics, a bit for each pixel.
    Png,
}

impl Kind {
    /// The format of a file with this name.
    ///
    /// # Errors
    /// The name ends with neither `.png` nor `.pbm`.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "pbm" => Ok(Kind::Pbm),
            "png" => Ok(Kind::Png),
            _ => Err(Error::new(ErrorKind::Argument, "the name of the image must end with .png or .pbm")),
        }
    }
}

/// Writes an image. `row` returns one row after the other as bits, the first one lowest, 1 for white.
fn write(file: impl Write, kind: Kind, side: usize, mut row: impl FnMut(usize) -> Vec<u8>) -> Result<()> {
    let cannot = |error| Error::io("cannot write the image", error);
    let mut file = BufWriter::new(file);
    match kind {
        Kind::Pbm => {
            write!(file, "P4\n{side} {side}\n").map_err(cannot)?;
            for index in 0..side {
                file.write_all(&highest_first(&row(index), side, 0xFF)).map_err(cannot)?;
            }
        }
        Kind::Png => {
            let size = png_side(side)?;
            let mut encoder = Encoder::new(&mut file, size, size);
            encoder.set_color(ColorType::Grayscale);
            encoder.set_depth(BitDepth::One);
            let mut header = encoder.write_header().map_err(unwritten)?;
            let mut pixels: StreamWriter<'_, _> = header.stream_writer().map_err(unwritten)?;
            for index in 0..side {
                pixels.write_all(&highest_first(&row(index), side, 0)).map_err(cannot)?;
            }
            pixels.finish().map_err(unwritten)?;
        }
    }
    file.flush().map_err(cannot)
}

/// Packed bits, the first one highest, as in images. Unused bits are zero.
fn highest_first(bits: &[u8], side: usize, flip: u8) -> Vec<u8> {
    let mut bytes: Vec<u8> = bits.iter().take(side.div_ceil(8)).map(|byte| byte.reverse_bits() ^ flip).collect();
    bytes.resize(side.div_ceil(8), flip);
    if let Some(last) = bytes.last_mut().filter(|_| !side.is_multiple_of(8)) {
        *last &= !(0xFF >> (side % 8));
    }
    bytes
}

/// An image that is read row by row.
struct Picture {
    side: usize,
    /// The number of the next row.
    next: usize,
    rows: Rows,
}

enum Rows {
    /// Packed bits, 1 for black.
    Packed(Box<dyn Read>),
    /// Digits, 1 for black.
    Plain(Box<dyn BufRead>),
    Png(Box<Reader<BufReader<File>>>),
}

impl Picture {
    /// Opens an image of this many pixels in each dimension.
    fn open(path: &Path, side: usize) -> Result<Self> {
        let kind = Kind::of(path)?;
        if !std::fs::metadata(path).map_err(unread)?.is_file() {
            return Err(bad("it is not a regular file"));
        }
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let (size, rows) = match kind {
            Kind::Pbm => {
                let (plain, size) = pbm_header(&mut file)?;
                (size, if plain { Rows::Plain(Box::new(file)) } else { Rows::Packed(Box::new(file)) })
            }
            Kind::Png => {
                let mut decoder = Decoder::new_with_limits(file, Limits { bytes: 1 << 26 });
                decoder.set_transformations(Transformations::EXPAND);
                decoder.set_ignore_text_chunk(true);
                decoder.set_ignore_iccp_chunk(true);
                let reader = decoder.read_info().map_err(damaged)?;
                let (width, height) = reader.info().size();
                ([from_side(width)?, from_side(height)?], Rows::Png(Box::new(reader)))
            }
        };
        if size != [side, side] {
            let message = format!("it has {} by {} pixels, but the map needs {side} by {side}", size[0], size[1]);
            return Err(refused(message));
        }
        Ok(Picture { side, next: 0, rows })
    }

    /// The next row as bits, the first one lowest, 1 for white.
    fn row(&mut self) -> Result<Vec<u8>> {
        let (side, number) = (self.side, self.next);
        self.next += 1;
        let mut bits = vec![0; side.div_ceil(8)];
        match &mut self.rows {
            Rows::Packed(file) => {
                file.read_exact(&mut bits).map_err(ends)?;
                bits.iter_mut().for_each(|byte| *byte = !byte.reverse_bits());
                if let Some(last) = bits.last_mut().filter(|_| !side.is_multiple_of(8)) {
                    *last &= (1 << (side % 8)) - 1;
                }
            }
            Rows::Plain(file) => {
                for at in 0..side {
                    if digit(file)? == b'0' {
                        bits[at / 8] |= 1 << (at % 8);
                    }
                }
            }
            Rows::Png(reader) => {
                let (color, depth) = reader.output_color_type();
                let (samples, size) = (color.samples(), if depth == BitDepth::Sixteen { 2 } else { 1 });
                // Paint programs may save black and white images in grey or color; transparency does not count.
                let shown = size * (samples.clamp(1, 3) - usize::from(samples == 2));
                let row = reader.next_row().map_err(damaged)?.ok_or_else(|| bad("it ends early"))?;
                for (at, pixel) in row.data().chunks_exact(samples * size).take(side).enumerate() {
                    let all = |byte: u8| pixel[..shown].iter().all(|part| *part == byte);
                    if all(0xFF) {
                        bits[at / 8] |= 1 << (at % 8);
                    } else if !all(0) {
                        let place = format!("the pixel in row {number}, column {at} (from 0)");
                        return Err(refused(format!("{place} is neither black nor white")));
                    }
                }
            }
        }
        Ok(bits)
    }
}

/// A file that ends before its last pixel.
fn ends(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => bad("it ends early"),
        _ => unread(error),
    }
}

/// Reads the header of a PBM file: whether it is plain, with digits, and its size.
fn pbm_header(file: &mut impl BufRead) -> Result<(bool, [usize; 2])> {
    let mut magic = [0; 2];
    file.read_exact(&mut magic).map_err(ends)?;
    let plain = match &magic {
        b"P1" => true,
        b"P4" => false,
        _ => return Err(bad("it is not a PBM")),
    };
    let mut size = [0; 2];
    for number in &mut size {
        *number = word(file)?.parse().map_err(|_| bad("its size is not a number"))?;
    }
    Ok((plain, size))
}

/// Reads the next word of a header and the space after it. Comments are skipped.
fn word(file: &mut impl BufRead) -> Result<String> {
    let mut word = String::new();
    loop {
        let mut byte = [0];
        file.read_exact(&mut byte).map_err(ends)?;
        match byte[0] {
            b'#' => drop(file.skip_until(b'\n').map_err(ends)?),
            byte if byte.is_ascii_whitespace() && word.is_empty() => {}
            byte if byte.is_ascii_whitespace() => return Ok(word),
            byte if byte.is_ascii_digit() && word.len() < 10 => word.push(char::from(byte)),
            _ => return Err(bad("its header is not a PBM header")),
        }
    }
}

/// The next digit of a plain PBM.
fn digit(file: &mut dyn BufRead) -> Result<u8> {
    loop {
        let mut byte = [0];
        file.read_exact(&mut byte).map_err(ends)?;
        match byte[0] {
            b'0' | b'1' => return Ok(byte[0]),
            b'#' => drop(file.skip_until(b'\n').map_err(ends)?),
            byte if byte.is_ascii_whitespace() => {}
            byte => return Err(bad(format!("`{}` is not a pixel of a PBM", char::from(byte).escape_default()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_read_back() {
        let folder = tempfile::tempdir().unwrap();
        for side in [1_usize, 7, 8, 9, 64, 67] {
            let row = |index: usize| -> Vec<u8> {
                let mut bits: Vec<u8> = (0..side.div_ceil(8)).map(|at| (at * 37 + index * 101) as u8).collect();
                if side % 8 > 0 {
                    *bits.last_mut().unwrap() &= (1 << (side % 8)) - 1;
                }
                bits
            };
            for name in ["a.pbm", "a.png"] {
                let path = folder.path().join(name);
                write(File::create(&path).unwrap(), Kind::of(&path).unwrap(), side, &row).unwrap();
                let mut picture = Picture::open(&path, side).unwrap();
                for index in 0..side {
                    assert_eq!(picture.row().unwrap(), row(index), "{name}, {side}, row {index}");
                }
                assert!(Picture::open(&path, side + 1).is_err());
            }
        }
        let path = folder.path().join("plain.pbm");
        std::fs::write(&path, "P1 # by hand\n2\n2\n1 0\n01").unwrap();
        let mut picture = Picture::open(&path, 2).unwrap();
        assert_eq!((picture.row().unwrap(), picture.row().unwrap()), (vec![0b10], vec![0b01]));
        // Paint programs save black and white in other forms; what lies between them has no meaning.
        let path = folder.path().join("painted.png");
        for (color, depth, white) in [
            (ColorType::Grayscale, BitDepth::Eight, 1),
            (ColorType::GrayscaleAlpha, BitDepth::Eight, 1),
            (ColorType::Rgb, BitDepth::Eight, 3),
            (ColorType::Rgba, BitDepth::Sixteen, 6),
        ] {
            let size = color.samples() * if depth == BitDepth::Sixteen { 2 } else { 1 };
            let paint = |odd: Option<u8>| {
                let mut encoder = Encoder::new(File::create(&path).unwrap(), 2, 2);
                encoder.set_color(color);
                encoder.set_depth(depth);
                let mut pixels = vec![0; 4 * size];
                pixels[..white].fill(0xFF);
                if let Some(odd) = odd {
                    pixels[2 * size..2 * size + white].fill(0xFF);
                    pixels[2 * size + white - 1] = odd;
                }
                encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
                Picture::open(&path, 2).unwrap()
            };
            let mut picture = paint(None);
            assert_eq!((picture.row().unwrap(), picture.row().unwrap()), (vec![0b01], vec![0b00]));
            for odd in [1, 120, 0xFE] {
                let mut picture = paint(Some(odd));
                assert_eq!(picture.row().unwrap(), vec![0b01]);
                let message = "the pixel in row 1, column 0 (from 0) is neither black nor white";
                assert_eq!(picture.row().unwrap_err().to_string(), message, "{color:?} {odd}");
            }
        }
        let path = folder.path().join("plain.pbm");
        for bad in ["", "P5 2 2 ", "P1 2 2 1 0 x", "P4 2", "P1 x 2"] {
            std::fs::write(&path, bad).unwrap();
            let read = Picture::open(&path, 2).and_then(|mut picture| picture.row().and_then(|_| picture.row()));
            assert!(read.is_err(), "{bad}");
        }
    }
}
