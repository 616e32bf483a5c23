//! WAL files: the textures of Quake II (`miptex_t` of qfiles.h of the Quake II source). Their colours are those of
//! `pics/colormap.pcx`.

use std::ops::Range;

use super::palette::Palette;
use super::textures::{Image, LEVELS, Shrink};
use crate::bytes::{Data, index, short};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Field, FlagKind, Meaning, Name, Record, records};

records! {
    /// `miptex_t`: the header before the pixels.
    pub struct WalHeader(100) {
        /// Its path below `textures/`, without extension.
        pub name: Name<32>,
        /// Pixels in a line.
        pub width: u32,
        /// How many lines.
        pub height: u32,
        /// Where the image and its three smaller copies begin in the file.
        pub offsets: [u32; 4],
        /// The name of the next frame of an animation; empty if there is none.
        pub next_name: Name<32> as "animname",
        /// The flags that compilers give to surfaces with it.
        pub flags: u32 => Meaning::Flags(FlagKind::Surface),
        /// The contents that compilers give to brushes with it.
        pub contents: u32 => Meaning::Flags(FlagKind::Contents),
        /// How much light it gives.
        pub value: i32,
    }
}

/// The bytes of a WAL file.
///
/// ```
/// use bspkit::content::wal::Wal;
/// let bytes = std::fs::read("tests/maps/src/q2/textures/own/wall.wal")?;
/// let mut wal = Wal::parse(bytes.clone())?;
/// assert_eq!((wal.header().name.bytes(), wal.header().width), (&b"own/wall"[..], 64));
/// wal.update(|header| header.value = 300);
/// assert_eq!(wal.bytes().iter().zip(&bytes).filter(|(new, old)| new != old).count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wal<'a> {
    bytes: Data<'a>,
    header: WalHeader,
}

impl<'a> Wal<'a> {
    /// Reads a file; its levels may be anywhere after the header, and must not overlap.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if the header or a level does not fit the file.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        let bytes = bytes.into();
        let wrong = |message: String| Error::new(ErrorKind::Malformed, message);
        let header = WalHeader::decode(&bytes)
            .ok_or_else(|| wrong(format!("{} bytes are too few for a header of {}", bytes.len(), WalHeader::SIZE)))?;
        let WalHeader { width, height, offsets, .. } = header;
        if width == 0 || height == 0 {
            return Err(wrong(format!("its size is {width} by {height}")));
        }
        let mut extents = Vec::with_capacity(LEVELS);
        for (level, at) in offsets.iter().enumerate() {
            let extent = extent(&header, level).filter(|range| range.end <= bytes.len());
            extents.push(extent.ok_or_else(|| {
                let len = bytes.len();
                wrong(format!("level {level} of {width} by {height} at {at} does not fit the file's {len} bytes"))
            })?);
        }
        extents.sort_by_key(|range| (range.start, range.end));
        let mut end = WalHeader::SIZE;
        for range in extents.into_iter().filter(|range| !range.is_empty()) {
            if range.start < end {
                let message = format!("a level at {} overlaps the bytes before it, which end at {end}", range.start);
                return Err(wrong(message));
            }
            end = range.end;
        }
        Ok(Wal { bytes, header })
    }

    /// A new file: the image, its smaller copies and a header without flags.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a size that is not a multiple of 16, as the game's tools need it, or a name that does
    /// not fit.
    pub fn new(name: &[u8], image: &Image, palette: &Palette) -> Result<Wal<'static>> {
        image.check().map_err(|why| Error::new(ErrorKind::Refused, why))?;
        let mut header = WalHeader {
            name: Name([0; 32]),
            width: 0,
            height: 0,
            offsets: [0; LEVELS],
            next_name: Name([0; 32]),
            flags: 0,
            contents: 0,
            value: 0,
        };
        if !header.name.set(name) {
            let message = format!("`{}` does not fit the 31 bytes of a name", crate::bytes::escaped(name));
            return Err(Error::new(ErrorKind::Refused, message));
        }
        lay(header, image, palette, &[])
    }

    /// The header before the pixels.
    pub fn header(&self) -> &WalHeader {
        &self.header
    }

    /// The pixels of a level: 0 the image, 1 to 3 the smaller copies.
    pub fn pixels(&self, level: usize) -> Option<&[u8]> {
        (level < LEVELS).then(|| extent(&self.header, level)).flatten().and_then(|range| self.bytes.get(range))
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Changes names, flags and value; sizes and offsets stay.
    pub fn update(&mut self, change: impl FnOnce(&mut WalHeader)) {
        let WalHeader { width, height, offsets, .. } = self.header;
        change(&mut self.header);
        self.header = WalHeader { width, height, offsets, ..self.header };
        let mut bytes = self.bytes.to_vec();
        bytes[..WalHeader::SIZE].copy_from_slice(&self.header.encode());
        self.bytes = bytes.into();
    }

    /// Replaces the image. Pixels that stay keep their pixels in the smaller copies. An image of another size is
    /// written with new offsets; the bytes after the last level stay after it.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for another size that is not a multiple of 16.
    pub fn set_image(&mut self, image: &Image, palette: &Palette) -> Result<()> {
        image.check().map_err(|why| Error::new(ErrorKind::Refused, why))?;
        if (image.width, image.height) != (self.header.width, self.header.height) {
            let end = (0..LEVELS).filter_map(|level| Some(extent(&self.header, level)?.end)).max();
            let tail = end.and_then(|end| self.bytes.get(end..)).unwrap_or(&[]).to_vec();
            *self = lay(self.header, image, palette, &tail)?;
            return Ok(());
        }
        let mut bytes = self.bytes.to_vec();
        let mut smaller = Shrink::new(palette, None);
        for level in 0..LEVELS {
            let old = self.pixels(0).zip(self.pixels(level));
            let pixels = if level == 0 { image.pixels.clone() } else { smaller.level(image, level, old) };
            if let Some(to) = extent(&self.header, level).and_then(|range| bytes.get_mut(range)) {
                to.copy_from_slice(&pixels);
            }
        }
        self.bytes = bytes.into();
        Ok(())
    }

    /// Replaces the pixels of a smaller copy.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if their number is not that of the level.
    pub fn set_level(&mut self, level: usize, pixels: &[u8]) -> Result<()> {
        let wrong = || Error::new(ErrorKind::Refused, format!("{} pixels do not fit level {level}", pixels.len()));
        let range = (level < LEVELS).then(|| extent(&self.header, level)).flatten();
        let range = range.filter(|range| range.len() == pixels.len()).ok_or_else(wrong)?;
        let mut bytes = self.bytes.to_vec();
        bytes[range].copy_from_slice(pixels);
        self.bytes = bytes.into();
        Ok(())
    }
}

/// The range of a level in the file.
fn extent(header: &WalHeader, level: usize) -> Option<Range<usize>> {
    let size = (index(header.width) >> level).checked_mul(index(header.height) >> level)?;
    let start = index(header.offsets[level]);
    Some(start..start.checked_add(size)?)
}

fn lay(mut header: WalHeader, image: &Image, palette: &Palette, tail: &[u8]) -> Result<Wal<'static>> {
    (header.width, header.height) = (image.width, image.height);
    let is_good = |size: u32| size > 0 && size.is_multiple_of(16);
    if !is_good(image.width) || !is_good(image.height) {
        let message =
            format!("its size is {} by {}, and the game's tools need multiples of 16", image.width, image.height);
        return Err(Error::new(ErrorKind::Refused, message));
    }
    let mut pixels = image.pixels.clone();
    header.offsets[0] = short(WalHeader::SIZE);
    for (at, level) in Shrink::new(palette, None).all(image).into_iter().enumerate() {
        header.offsets[at + 1] = short(WalHeader::SIZE + pixels.len());
        pixels.extend(level);
    }
    let bytes = [header.encode(), pixels, tail.to_vec()].concat();
    Ok(Wal { bytes: bytes.into(), header })
}
