//! Physics of displacements: `PHYSDISP`.

use crate::bytes::{Data, Rope, wide};
use crate::content::lens::{Content, Reader};
use crate::error::{Error, ErrorKind, Place, Result};

const LUMP: &str = "PHYSDISP";
/// Versions of the lump with the bytes that its numbers have.
const VERSIONS: [(i32, usize); 2] = [(0, 2), (2, 4)];

/// The solids of displacements, at most one for each, as the physics library has written them.
///
/// ```
/// use bspkit::content::physics::PhysDisp;
/// let lump = [&[3, 0, 2, 0, 0xFF, 0xFF, 1, 0][..], b"abc"].concat();
/// let solids = PhysDisp::parse(lump, 0)?;
/// assert_eq!([0, 1, 2].map(|disp| solids.get(disp)), [Some(&b"ab"[..]), None, Some(b"c")]);
/// assert_eq!((solids.len(), solids.rest()), (3, &[][..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PhysDisp<'a> {
    bytes: Data<'a>,
    /// The bytes of a number.
    width: usize,
    /// Where each solid begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<'a> Content<'a> for PhysDisp<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let slot = from.bsp().slot(LUMP)?;
        PhysDisp::parse(from.bytes(slot.id)?, slot.version.unwrap_or(0))
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(Vec::new())
    }
}

impl<'a> PhysDisp<'a> {
    /// Reads the sizes of a lump: a count and this many numbers, of 16 bits each, or of 32 in version 2 (Strata's).
    /// Another version is accepted if the whole lump fits 16-bit numbers.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for another version that does not fit, [`ErrorKind::Malformed`] if there is no room
    /// for the sizes or solids that it states.
    pub fn parse(bytes: impl Into<Data<'a>>, version: i32) -> Result<Self> {
        let width = VERSIONS.into_iter().find(|(known, _)| *known == version).map(|(_, width)| width);
        let parsed = PhysDisp::read(bytes.into(), width.unwrap_or(2));
        if width.is_some() || parsed.as_ref().is_ok_and(|parsed| parsed.rest().is_empty()) {
            return parsed;
        }
        let message = format!("physics of displacements of version {version} are not known, only versions 0 and 2");
        Err(Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(LUMP)))
    }

    fn read(bytes: Data<'a>, width: usize) -> Result<Self> {
        let place = Place::default().lump(LUMP);
        let malformed = |message: String| Error::new(ErrorKind::Malformed, message).at(place.clone().offset(0));
        let count = match number(&bytes, 0, width) {
            _ if bytes.is_empty() => return Ok(PhysDisp { bytes, width, starts: vec![0] }),
            Some(count) => count,
            None => return Err(malformed("it ends before the number of displacements".into())),
        };
        let end = count.checked_add(1).and_then(|numbers| numbers.checked_mul(width));
        let mut at = end
            .filter(|end| *end <= bytes.len())
            .ok_or_else(|| malformed(format!("there is no room for the sizes of {count} displacements")))?;
        let mut starts = vec![at];
        for disp in 0..count {
            let size = number(&bytes, width * (disp + 1), width).unwrap_or(0);
            let end = if is_none(size, width) { Some(at) } else { at.checked_add(size) };
            at = end.filter(|end| *end <= bytes.len()).ok_or_else(|| {
                let message = format!("there is no room for a solid of {size} bytes");
                let place = place.clone().record(disp).offset(wide(width * (disp + 1)));
                Error::new(ErrorKind::Malformed, message).at(place)
            })?;
            starts.push(at);
        }
        Ok(PhysDisp { bytes, width, starts })
    }

    /// How many displacements there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The solid of a displacement; `None` where it has none.
    pub fn get(&self, disp: usize) -> Option<&[u8]> {
        let (start, end) = (*self.starts.get(disp)?, *self.starts.get(disp + 1)?);
        let size = number(&self.bytes, self.width * (disp + 1), self.width)?;
        (!is_none(size, self.width)).then(|| &self.bytes[start..end])
    }

    /// The lump with the solids of these displacements, in this order; for `None` there is no solid. `None` if there
    /// are too many.
    pub(crate) fn rearranged(&self, displacements: &[Option<usize>]) -> Option<Vec<u8>> {
        let number = |value: usize| match self.width {
            2 => u16::try_from(value).ok().map(|value| value.to_le_bytes().to_vec()),
            _ => u32::try_from(value).ok().map(|value| value.to_le_bytes().to_vec()),
        };
        let solids: Vec<Option<&[u8]>> =
            displacements.iter().map(|disp| disp.and_then(|disp| self.get(disp))).collect();
        let mut bytes = number(solids.len())?;
        for solid in &solids {
            let none = if self.width == 2 { 0xFFFF } else { 0xFFFF_FFFF };
            bytes.extend(number(solid.map_or(none, <[u8]>::len))?);
        }
        solids.into_iter().flatten().for_each(|solid| bytes.extend_from_slice(solid));
        bytes.extend_from_slice(self.rest());
        Some(bytes)
    }

    /// The bytes after the last solid.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.starts.last().copied().unwrap_or(0)..]
    }
}

/// A number of two bytes or four.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?;
    match width {
        2 => bytes.first_chunk().map(|bytes| u16::from_le_bytes(*bytes).into()),
        _ => usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok(),
    }
}

/// Whether the size means that a displacement has no solid: all bits are set.
fn is_none(size: usize, width: usize) -> bool {
    size == if width == 2 { 0xFFFF } else { 0xFFFF_FFFF }
}
