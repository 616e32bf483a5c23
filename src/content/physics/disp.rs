//! Physics of displacements: `PHYSDISP`.

use crate::bsp::Bsp;
use crate::bytes::{Data, wide};
use crate::error::{Error, ErrorKind, Place, Result};

const LUMP: &str = "PHYSDISP";
/// The size of a displacement that has no solid.
const NONE: u16 = 0xFFFF;

/// The solids of displacements, one for each or none, as the physics library has written them.
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
    /// Where each solid begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<'a> Bsp<'a> {
    /// The solids of displacements, to be looked at.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the dialect has none; as [`PhysDisp::parse`] and [`Bsp::bytes`].
    pub fn phys_disp(&self) -> Result<PhysDisp<'a>> {
        let slot = self.slot(LUMP)?;
        PhysDisp::parse(self.little_endian(slot.id)?, slot.version.unwrap_or(0))
    }
}

impl<'a> PhysDisp<'a> {
    /// Reads the sizes of a lump: a count and so many numbers, of 16 bits each. One of another version than 0 is believed
    /// where all of it is made up of that: Strata writes 32 bits, and version 2.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for another version where that does not fit, [`ErrorKind::Malformed`] where there is no room
    /// for what it says.
    pub fn parse(bytes: impl Into<Data<'a>>, version: i32) -> Result<Self> {
        let parsed = PhysDisp::read(bytes.into());
        if version == 0 || parsed.as_ref().is_ok_and(|parsed| parsed.rest().is_empty()) {
            return parsed;
        }
        let message = format!("physics of displacements of version {version} are not known, only version 0");
        Err(Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(LUMP)))
    }

    fn read(bytes: Data<'a>) -> Result<Self> {
        let place = Place::default().lump(LUMP);
        let malformed = |message: String| Error::new(ErrorKind::Malformed, message).at(place.clone().offset(0));
        let count = match *bytes {
            [] => 0,
            [low, high, ..] => usize::from(u16::from_le_bytes([low, high])),
            [_] => return Err(malformed("it ends before the number of displacements".into())),
        };
        let sizes = bytes.get(2.min(bytes.len())..(2 + 2 * count).min(bytes.len())).unwrap_or_default();
        if sizes.len() != 2 * count {
            return Err(malformed(format!("there is no room for the sizes of {count} displacements")));
        }
        let mut at = sizes.len() + 2.min(bytes.len());
        let mut starts = vec![at];
        for (disp, size) in sizes.chunks_exact(2).map(|size| u16::from_le_bytes([size[0], size[1]])).enumerate() {
            at += if size == NONE { 0 } else { usize::from(size) };
            if at > bytes.len() {
                let message = format!("there is no room for a solid of {size} bytes");
                let place = place.clone().record(disp).offset(wide(2 + 2 * disp));
                return Err(Error::new(ErrorKind::Malformed, message).at(place));
            }
            starts.push(at);
        }
        Ok(PhysDisp { bytes, starts })
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
        let has_one = self.bytes.get(2 + 2 * disp..4 + 2 * disp)? != NONE.to_le_bytes();
        has_one.then(|| &self.bytes[start..end])
    }

    /// The bytes behind the last solid.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.starts.last().copied().unwrap_or(0)..]
    }

    /// All bytes, as they were.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes.to_vec()
    }
}
