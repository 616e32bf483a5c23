//! Light on displacements in Source maps: for each luxel of a displaced face the triangle at that luxel
//! ([`SamplePositions`]), and in older maps how much of the second material shows ([`LightmapAlphas`]).
//!
//! The record of a displacement gives the start of its part (`m_iLightmapSamplePositionStart`,
//! `m_iLightmapAlphaStart`). Its face gives the number of luxels: the size in the face is one less in each direction.
//! The methods take both numbers.

use std::ops::Range;

use super::lens::{Content, Reader};
use crate::bytes::{Data, Rope, wide};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Held;

const POSITIONS: &str = "DISP_LIGHTMAP_SAMPLE_POSITIONS";
const ALPHAS: &str = "DISP_LIGHTMAP_ALPHAS";

/// Where on a displacement a luxel lies.
///
/// ```
/// use bspkit::content::disp::SamplePosition;
/// let position = SamplePosition { triangle: 300, weights: [255, 0, 0] };
/// assert_eq!(position.size(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePosition {
    /// The triangle of the displacement, at most 510.
    pub triangle: u16,
    /// Its barycentric coordinates there, each times 255.9.
    pub weights: [u8; 3],
}

impl SamplePosition {
    /// Its size in the file in bytes: 4 for triangles below 255, else 5.
    pub fn size(self) -> usize {
        if self.triangle < 255 { 4 } else { 5 }
    }

    fn encode(self) -> Option<Vec<u8>> {
        let triangle = match self.triangle.checked_sub(255) {
            None => vec![u8::try_from(self.triangle).ok()?],
            Some(more) => vec![255, u8::try_from(more).ok()?],
        };
        Some([&triangle[..], &self.weights].concat())
    }

    /// The first one of the bytes, and how many of them it takes.
    fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        Some(match *bytes {
            [255, more, a, b, c, ..] => (SamplePosition { triangle: 255 + u16::from(more), weights: [a, b, c] }, 5),
            [triangle, a, b, c, ..] if triangle < 255 => {
                (SamplePosition { triangle: triangle.into(), weights: [a, b, c] }, 4)
            }
            _ => return None,
        })
    }
}

/// The positions of the luxels of all displacements.
///
/// ```
/// use bspkit::content::disp::{SamplePosition, SamplePositions};
/// let mut lump = SamplePositions::new(vec![7, 1, 2, 3, 255, 45, 4, 5, 6]);
/// let found: Vec<_> = lump.block(0, 2).collect::<bspkit::Result<_>>()?;
/// assert_eq!(found[1], SamplePosition { triangle: 300, weights: [4, 5, 6] });
/// lump.set(0, 1, SamplePosition { triangle: 301, ..found[1] })?;
/// assert_eq!(lump.bytes(), [7, 1, 2, 3, 255, 46, 4, 5, 6]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SamplePositions<'a> {
    bytes: Held<'a>,
}

/// How much of the second material shows on each luxel of displacements; maps of version 20 and later have none.
///
/// ```
/// use bspkit::content::disp::LightmapAlphas;
/// let mut alphas = LightmapAlphas::new(vec![0, 128, 255]);
/// alphas.set(1, 1, 7)?;
/// assert_eq!(alphas.block(1, 2)?, [128, 7]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LightmapAlphas<'a> {
    bytes: Held<'a>,
}

impl<'a> Content<'a> for SamplePositions<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        from.slot(POSITIONS).and_then(|slot| from.own(slot)).map(SamplePositions::new)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![self.bytes.new_bytes()])
    }
}

impl<'a> Content<'a> for LightmapAlphas<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        from.slot(ALPHAS).and_then(|slot| from.own(slot)).map(LightmapAlphas::new)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![self.bytes.new_bytes()])
    }
}

impl<'a> SamplePositions<'a> {
    /// The positions in a lump.
    pub fn new(bytes: impl Into<Data<'a>>) -> Self {
        SamplePositions { bytes: Held::new(bytes.into()) }
    }

    /// The positions of this many luxels from an offset on, row by row. It ends at the first one that cannot be read.
    pub fn block(&self, start: usize, luxels: usize) -> impl Iterator<Item = Result<SamplePosition>> {
        let bytes = self.bytes.get();
        let mut at = Some(start);
        (0..luxels).map_while(move |luxel| {
            let place = at?;
            let found = bytes.get(place..).and_then(SamplePosition::decode);
            at = found.map(|(_, size)| place + size);
            Some(found.map(|(position, _)| position).ok_or_else(|| cut(POSITIONS, luxel, place)))
        })
    }

    /// Where in the lump the positions of this many luxels are.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if the lump ends before the last of them.
    pub fn extent(&self, start: usize, luxels: usize) -> Result<Range<usize>> {
        let mut end = start;
        for position in self.block(start, luxels) {
            end += position?.size();
        }
        Ok(start..end)
    }

    /// Gives a luxel of a block another position of the same size. A position of another size is refused: all positions
    /// after it would move, and the displacements store where theirs begin.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if the lump ends before it, [`ErrorKind::Refused`] for a position of another size, or
    /// of a triangle above 510.
    pub fn set(&mut self, start: usize, luxel: usize, position: SamplePosition) -> Result<()> {
        let at = self.extent(start, luxel)?.end;
        let old = self.bytes.get().get(at..).and_then(SamplePosition::decode);
        let (_, size) = old.ok_or_else(|| cut(POSITIONS, luxel, at))?;
        let refused = |message: String| {
            let place = Place::default().lump(POSITIONS).record(luxel).offset(wide(at));
            Error::new(ErrorKind::Refused, message).at(place)
        };
        let new = position
            .encode()
            .ok_or_else(|| refused(format!("triangle {} is out of range: 0 to 510", position.triangle)))?;
        if new.len() != size {
            let message = format!("a position of {} bytes does not fit where one of {size} is", new.len());
            return Err(refused(message).with_hint("triangles below 255 take 4 bytes, the others 5"));
        }
        self.bytes.put(at, &new);
        Ok(())
    }

    /// The bytes of the lump.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }
}

impl<'a> LightmapAlphas<'a> {
    /// The values in a lump.
    pub fn new(bytes: impl Into<Data<'a>>) -> Self {
        LightmapAlphas { bytes: Held::new(bytes.into()) }
    }

    /// The values of this many luxels from an offset on, row by row.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if the lump ends before the last of them.
    pub fn block(&self, start: usize, luxels: usize) -> Result<&[u8]> {
        let bytes = self.bytes.get();
        let end = start.checked_add(luxels);
        end.and_then(|end| bytes.get(start..end))
            .ok_or_else(|| cut(ALPHAS, bytes.len().saturating_sub(start), bytes.len()))
    }

    /// Gives a luxel of a block another value.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if the lump ends before it.
    pub fn set(&mut self, start: usize, luxel: usize, alpha: u8) -> Result<()> {
        let at = start.saturating_add(luxel);
        self.block(at, 1).map_err(|_| cut(ALPHAS, luxel, at))?;
        self.bytes.put(at, &[alpha]);
        Ok(())
    }

    /// The bytes of the lump.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }
}

#[cold]
fn cut(lump: &str, luxel: usize, at: usize) -> Error {
    let message = format!("it ends before luxel {luxel} of the block");
    Error::new(ErrorKind::Malformed, message).at(Place::default().lump(lump).offset(wide(at)))
}
