//! Physics of Source maps: the solids of brush models ([`Physics`], `PHYSCOLLIDE`) and of displacements ([`PhysDisp`],
//! `PHYSDISP`).
//!
//! Solids are in the physics library's own format, and stay as they are. The text after them names their materials, and
//! can be changed.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut, Range};

use super::lens::{Content, Reader};
use crate::bytes::{Data, Relay, Rope, wide};
use crate::dialect::source::physics::{PhysicsHead, SolidHead};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Field, Record};

const LUMP: &str = "PHYSCOLLIDE";
const SURFACES: &str = "PHYSCOLLIDESURFACE";

/// The solids and texts of brush models.
///
/// ```
/// use bspkit::{Bsp, Builder, Layout, dialect};
/// # let number = |number: i32| number.to_le_bytes();
/// # let text = b"solid { }\0";
/// # let solids = [&number(4)[..], b"VPHY"].concat();
/// # let header = [0, 8, 10, 1].map(number).concat();
/// # let end = [-1, -1, 0, 0].map(number).concat();
/// # let lump = [header, solids, text.to_vec(), end].concat();
/// # let bytes = Builder::new(&dialect::SOURCE).lump(0, "{}\n\0").lump(29, lump).build()?;
/// let map = Bsp::parse(&bytes)?;
/// let mut draft = map.draft();
/// let physics = draft.physics()?;
/// assert_eq!((physics.len(), physics.model(0)?, physics.text(0)?), (1, 0, &b"solid { }"[..]));
/// assert!(physics.solids(0)?.eq([b"VPHY"]));
/// physics.set_text(0, "materialtable { \"default\" \"1\" }")?;
///
/// let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// assert_eq!(saved.physics()?.text(0)?, b"materialtable { \"default\" \"1\" }");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Physics<'a> {
    bytes: Data<'a>,
    /// Where each entry begins.
    starts: Vec<usize>,
    /// The offset of the entry that ends the list, or the end of the bytes.
    end: usize,
    /// Texts that differ from the bytes, with the NULs after them.
    changed: BTreeMap<usize, Vec<u8>>,
}

/// The ranges of the parts of an entry.
struct Parts {
    solids: Range<usize>,
    text: Range<usize>,
}

/// The surface models of a map: the lump `PHYSCOLLIDESURFACE` has the layout of [`Physics`], which it dereferences to.
///
/// ```
/// use bspkit::{Bsp, Builder, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(0, "{}\n\0").build()?;
/// assert!(Bsp::parse(&bytes)?.surface_physics()?.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SurfacePhysics<'a>(Physics<'a>);

impl<'a> Deref for SurfacePhysics<'a> {
    type Target = Physics<'a>;

    fn deref(&self) -> &Physics<'a> {
        &self.0
    }
}

impl DerefMut for SurfacePhysics<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> Content<'a> for Physics<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        Physics::parse(from.own(from.slot(LUMP)?)?)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![if self.is_edited() { Some(Rope::from(self.to_bytes()?)) } else { None }])
    }
}

impl<'a> Content<'a> for SurfacePhysics<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        Physics::parse(from.own(from.slot(SURFACES)?)?).map(SurfacePhysics)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        self.0.edits()
    }
}

impl<'a> Physics<'a> {
    /// Walks the entries of a lump.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if an entry claims more bytes than the lump has: entries after it cannot be found.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        let bytes = bytes.into();
        let (mut starts, mut at) = (Vec::new(), 0);
        // Engines stop at the first entry without solids, which has -1 for its model and their size.
        while let Some(head) = head(&bytes, at).filter(|head| head.solids_size > 0) {
            let parts = parts(&bytes, at).ok_or_else(|| {
                let (solids, text) = (head.solids_size, head.text_size);
                let message = format!("there is no room for solids of {solids} bytes and a text of {text}");
                let place = Place::default().lump(LUMP).record(starts.len()).offset(wide(at));
                Error::new(ErrorKind::Malformed, message).at(place)
            })?;
            starts.push(at);
            at = parts.text.end;
        }
        Ok(Physics { bytes, starts, end: at, changed: BTreeMap::new() })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The brush model that an entry is for (`modelIndex`).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where there is no such entry.
    pub fn model(&self, index: usize) -> Result<i32> {
        self.head(index).map(|head| head.model)
    }

    /// The solids of an entry.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such entry, [`ErrorKind::Malformed`] if the sizes of its solids do not
    /// add up to the size that it states.
    pub fn solids(&self, index: usize) -> Result<impl Iterator<Item = &[u8]>> {
        let range = self.parts(index)?.solids;
        let (bytes, says) = (&self.bytes[range.clone()], self.head(index)?.solid_count);
        let malformed = |message: String, at: usize| {
            let place = Place::default().lump(LUMP).record(index).offset(wide(at));
            Err(Error::new(ErrorKind::Malformed, message).at(place))
        };
        let (mut at, mut count) = (0, 0);
        while at < bytes.len() {
            let Some(end) = solid_end(bytes, at) else {
                let solid = bytes.get(at..).and_then(SolidHead::decode);
                let size = solid.map_or("without a size".into(), |solid| format!("of {} bytes", solid.size));
                return malformed(format!("there is no room for solid {count} {size}"), range.start + at);
            };
            (at, count) = (end, count + 1);
        }
        if usize::try_from(says) != Ok(count) {
            return malformed(format!("it says it has {says} solids, and {count} are there"), range.start - 4);
        }
        let mut at = 0;
        Ok(std::iter::from_fn(move || {
            let end = solid_end(bytes, at)?;
            let solid = &bytes[at + SolidHead::SIZE..end];
            at = end;
            Some(solid)
        }))
    }

    /// The text of an entry, without the NULs after it (`keydata`).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where there is no such entry.
    pub fn text(&self, index: usize) -> Result<&[u8]> {
        let whole = self.whole_text(index)?;
        Ok(&whole[..text_len(whole)])
    }

    /// Gives an entry another text; the NULs after the old one stay after it, and one is added if there was no text.
    /// Setting the text that it has is not an edit.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such entry, [`ErrorKind::Refused`] for a text with a NUL in it.
    pub fn set_text(&mut self, index: usize, text: impl AsRef<[u8]>) -> Result<()> {
        let text = text.as_ref();
        let old = &self.bytes[self.parts(index)?.text];
        if *text == old[..text_len(old)] {
            self.changed.remove(&index);
            return Ok(());
        }
        if text.contains(&0) {
            let place = Place::default().lump(LUMP).record(index);
            return Err(Error::new(ErrorKind::Refused, "a text ends at its first NUL").at(place));
        }
        let after: &[u8] = if old.is_empty() { &[0] } else { &old[text_len(old)..] };
        self.changed.insert(index, [text, after].concat());
        Ok(())
    }

    /// Whether a text differs from what was read.
    pub fn is_edited(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The bytes after the last entry: the entry that ends the list, usually `-1 -1 0 0`, and the bytes after it.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.end..]
    }

    /// The lump with the changed texts and their new sizes.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a text of more than 2 GiB.
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Relay::new(&self.bytes);
        for (index, text) in &self.changed {
            let (start, parts) = (self.start(*index)?, self.parts(*index)?);
            let size = i32::try_from(text.len()).map_err(|_| {
                let place = Place::default().lump(LUMP).record(*index);
                Error::new(ErrorKind::TooLarge, "the text has more than 2 GiB").at(place)
            })?;
            let head = PhysicsHead { text_size: size, ..self.head(*index)? };
            bytes.replace(start..start + PhysicsHead::SIZE, &head.encode(), 1);
            bytes.replace(parts.text, text, 1);
        }
        Ok(bytes.into_bytes())
    }

    fn whole_text(&self, index: usize) -> Result<&[u8]> {
        match self.changed.get(&index) {
            Some(text) => Ok(text),
            None => self.parts(index).map(|parts| &self.bytes[parts.text]),
        }
    }

    fn start(&self, index: usize) -> Result<usize> {
        self.starts.get(index).copied().ok_or_else(|| {
            let message = format!("there is no entry {index}, only {}", self.len());
            Error::new(ErrorKind::NotFound, message).at(Place::default().lump(LUMP))
        })
    }

    fn head(&self, index: usize) -> Result<PhysicsHead> {
        let none = PhysicsHead { model: -1, solids_size: 0, text_size: 0, solid_count: 0 };
        // `parse` found them.
        self.start(index).map(|start| head(&self.bytes, start).unwrap_or(none))
    }

    fn parts(&self, index: usize) -> Result<Parts> {
        let none = Parts { solids: 0..0, text: 0..0 };
        // `parse` found them.
        self.start(index).map(|start| parts(&self.bytes, start).unwrap_or(none))
    }
}

fn head(bytes: &[u8], start: usize) -> Option<PhysicsHead> {
    bytes.get(start..).and_then(PhysicsHead::decode)
}

/// The parts of the entry that begins there; `None` if the lump ends before the last of them.
fn parts(bytes: &[u8], start: usize) -> Option<Parts> {
    let (head, first) = (head(bytes, start)?, start + PhysicsHead::SIZE);
    let solids = first..first.checked_add(usize::try_from(head.solids_size).ok()?)?;
    let text = solids.end..solids.end.checked_add(usize::try_from(head.text_size).ok()?)?;
    (text.end <= bytes.len()).then_some(Parts { solids, text })
}

/// The end of the solid that begins there; `None` if the lump ends before.
fn solid_end(bytes: &[u8], at: usize) -> Option<usize> {
    let size = usize::try_from(SolidHead::decode(bytes.get(at..)?)?.size).ok()?;
    (at + SolidHead::SIZE).checked_add(size).filter(|end| *end <= bytes.len())
}

/// The bytes of a text before the NULs at its end.
fn text_len(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

// Physics of displacements: `PHYSDISP`.

const DISP_LUMP: &str = "PHYSDISP";
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
        let slot = from.bsp().slot(DISP_LUMP)?;
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
        Err(Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(DISP_LUMP)))
    }

    fn read(bytes: Data<'a>, width: usize) -> Result<Self> {
        let place = Place::default().lump(DISP_LUMP);
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
