//! Pictures of a square of bits, row by row: PBM and PNG. What is visible is white.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Reader, StreamWriter, Transformations};

/// The file formats, detected from a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pbm,
    Png,
}

impl Kind {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "pbm" => Ok(Kind::Pbm),
            "png" => Ok(Kind::Png),
            _ => bail!("a picture's name ends with .png or .pbm"),
        }
    }
}

/// Writes a picture; `row` gives each row in turn as bits, the first one lowest, 1 for white.
pub(super) fn write(
    file: impl Write,
    kind: Kind,
    side: usize,
    mut row: impl FnMut(usize) -> Result<Vec<u8>>,
) -> Result<()> {
    let mut file = BufWriter::new(file);
    match kind {
        Kind::Pbm => {
            write!(file, "P4\n{side} {side}\n")?;
            for index in 0..side {
                let bits = row(index)?;
                file.write_all(&turned(&bits, side, 0xFF))?;
            }
        }
        Kind::Png => {
            let size = u32::try_from(side)?;
            let mut encoder = Encoder::new(&mut file, size, size);
            encoder.set_color(ColorType::Grayscale);
            encoder.set_depth(BitDepth::One);
            let mut header = encoder.write_header()?;
            let mut pixels: StreamWriter<'_, _> = header.stream_writer()?;
            for index in 0..side {
                pixels.write_all(&turned(&row(index)?, side, 0))?;
            }
            pixels.finish()?;
        }
    }
    Ok(file.flush()?)
}

/// Bits with the first one highest, as pictures have them, those after the last one zero.
fn turned(bits: &[u8], side: usize, flip: u8) -> Vec<u8> {
    let mut bytes: Vec<u8> = bits.iter().take(side.div_ceil(8)).map(|byte| byte.reverse_bits() ^ flip).collect();
    bytes.resize(side.div_ceil(8), flip);
    if let Some(last) = bytes.last_mut().filter(|_| !side.is_multiple_of(8)) {
        *last &= !(0xFF >> (side % 8));
    }
    bytes
}

/// A picture that is read row by row.
pub(super) struct Picture {
    side: usize,
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
    /// Opens a picture of this many pixels in each direction.
    pub(super) fn open(path: &Path, side: usize) -> Result<Self> {
        let kind = Kind::of(path)?;
        if !std::fs::metadata(path)?.is_file() {
            bail!("it is no plain file");
        }
        let mut file = BufReader::new(File::open(path)?);
        let (size, rows) = match kind {
            Kind::Pbm => {
                let (plain, size) = pbm_header(&mut file)?;
                (size, if plain { Rows::Plain(Box::new(file)) } else { Rows::Packed(Box::new(file)) })
            }
            Kind::Png => {
                let mut decoder = Decoder::new_with_limits(file, Limits { bytes: 1 << 26 });
                decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
                let reader = decoder.read_info().context("it is no PNG that can be read")?;
                let (width, height) = reader.info().size();
                ([usize::try_from(width)?, usize::try_from(height)?], Rows::Png(Box::new(reader)))
            }
        };
        if size != [side, side] {
            bail!("it has {} by {} pixels, and the map needs {side} by {side}", size[0], size[1]);
        }
        Ok(Picture { side, rows })
    }

    /// The next row as bits, the first one lowest, 1 for white.
    pub(super) fn row(&mut self) -> Result<Vec<u8>> {
        let side = self.side;
        let mut bits = vec![0; side.div_ceil(8)];
        match &mut self.rows {
            Rows::Packed(file) => {
                file.read_exact(&mut bits).context("it ends early")?;
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
                let samples = reader.output_color_type().0.samples();
                let row = reader.next_row()?.context("it ends early")?;
                for (at, pixel) in row.data().chunks_exact(samples).take(side).enumerate() {
                    // Paint programs save greys and colors where black and white were.
                    let colors = &pixel[..samples.clamp(1, 3) - usize::from(samples == 2)];
                    if colors.iter().all(|color| *color >= 128) {
                        bits[at / 8] |= 1 << (at % 8);
                    }
                }
            }
        }
        Ok(bits)
    }
}

/// Reads a PBM file's header: whether it has digits, and its size.
fn pbm_header(file: &mut impl BufRead) -> Result<(bool, [usize; 2])> {
    let mut magic = [0; 2];
    file.read_exact(&mut magic).context("it is empty")?;
    let plain = match &magic {
        b"P1" => true,
        b"P4" => false,
        _ => bail!("it is no PBM"),
    };
    let mut size = [0; 2];
    for number in &mut size {
        *number = word(file)?.parse().context("its size is no number")?;
    }
    Ok((plain, size))
}

/// The next word of a header, with the one space after it; comments are left out.
fn word(file: &mut impl BufRead) -> Result<String> {
    let mut word = String::new();
    loop {
        let mut byte = [0];
        file.read_exact(&mut byte).context("its header ends early")?;
        match byte[0] {
            b'#' => drop(file.skip_until(b'\n')?),
            byte if byte.is_ascii_whitespace() && word.is_empty() => {}
            byte if byte.is_ascii_whitespace() => return Ok(word),
            byte if byte.is_ascii_digit() && word.len() < 10 => word.push(char::from(byte)),
            _ => bail!("its header is no PBM's"),
        }
    }
}

/// The next digit of a plain PBM.
fn digit(file: &mut dyn BufRead) -> Result<u8> {
    loop {
        let mut byte = [0];
        file.read_exact(&mut byte).context("it ends early")?;
        match byte[0] {
            b'0' | b'1' => return Ok(byte[0]),
            b'#' => drop(file.skip_until(b'\n')?),
            byte if byte.is_ascii_whitespace() => {}
            byte => bail!("`{}` is no pixel of a PBM", char::from(byte).escape_default()),
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
                write(File::create(&path).unwrap(), Kind::of(&path).unwrap(), side, |index| Ok(row(index))).unwrap();
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
        for bad in ["", "P5 2 2 ", "P1 2 2 1 0 x", "P4 2", "P1 x 2"] {
            std::fs::write(&path, bad).unwrap();
            let read = Picture::open(&path, 2).and_then(|mut picture| picture.row().and_then(|_| picture.row()));
            assert!(read.is_err(), "{bad}");
        }
    }
}
