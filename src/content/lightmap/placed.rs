//! What places the light of each face: the fields of the face, or the entries of BSPX that replace some of them
//! (bspx.txt of FTE, `Mod_LoadFaces`; ericw-tools).
//!
//! `DECOUPLED_LM` has offset and size, `LMOFFSET` the offset alone. `LMSHIFT` and `LMSTYLE` go with `LMOFFSET` if the
//! map has one: then the faces themselves are for readers that know nothing of these entries. Otherwise they count for
//! the light of the faces.

use super::MOST_STYLES;
use super::read::filled;
use super::sizes::USUAL_SHIFT;
use crate::bytes::{Data, word};
use crate::content::lens::Reader;
use crate::dialect::bspx::{DECOUPLED_LM, DecoupledLight, LMOFFSET, LMSHIFT, LMSTYLE, LMSTYLE16};
use crate::dialect::{FaceLight, LightLumps, LitFace};
use crate::error::Result;
use crate::record::{Field as _, Record as _};

/// What a map has for each face beside the faces.
#[derive(Default)]
pub(super) struct Places<'a> {
    offsets: Option<Offsets<'a>>,
    /// A byte for each face.
    shifts: Option<Data<'a>>,
    styles: Option<Styles<'a>>,
}

enum Offsets<'a> {
    Decoupled(Data<'a>),
    Scaled(Data<'a>),
}

/// The same number of styles for each face, in one byte or two.
struct Styles<'a> {
    bytes: Data<'a>,
    each: usize,
    is_wide: bool,
}

/// Where the light of a face is, and how much.
pub(super) struct Placed {
    pub(super) offset: i32,
    /// Columns and rows, if they are stored.
    pub(super) size: Option<[usize; 2]>,
    pub(super) shift: u8,
    pub(super) styles: [u16; MOST_STYLES],
    /// May be more than are in `styles`.
    pub(super) style_count: usize,
}

impl<'a> Places<'a> {
    /// Reads what places the light of a set, for this many faces; `None` if the map has no such set.
    pub(super) fn read(
        from: &Reader<'_, 'a>,
        model: &FaceLight,
        lumps: &LightLumps,
        faces: usize,
    ) -> Result<Option<Self>> {
        let mut places = Places::default();
        if !model.by_extents {
            return Ok(Some(places));
        }
        // Engines leave out what is not for as many faces as the map has.
        let whole = |name: &str, size: usize| -> Result<Option<Data<'a>>> {
            let found = filled(from, name)?.map(|(_, bytes)| bytes);
            Ok(found.filter(|bytes| Some(bytes.len()) == faces.checked_mul(size)))
        };
        let scaled = whole(LMOFFSET.lump(), 4)?;
        let has_own = scaled.is_some();
        places.offsets = match lumps.placed_by {
            None => None,
            Some(name) if name == DECOUPLED_LM.lump() => {
                let Some((_, decoupled)) = filled(from, name)? else { return Ok(None) };
                Some(Offsets::Decoupled(decoupled))
            }
            Some(_) => match scaled {
                Some(scaled) => Some(Offsets::Scaled(scaled)),
                None => return Ok(None),
            },
        };
        if places.offsets.is_some() || !has_own {
            places.shifts = whole(LMSHIFT.lump(), 1)?;
            places.styles = Styles::read(from, faces)?;
        }
        Ok(Some(places))
    }

    /// Where the light of a face is; `None` if nothing says so.
    pub(super) fn of(&self, index: usize, face: &LitFace) -> Option<Placed> {
        let (offset, size) = match &self.offsets {
            None => (face.offset, None),
            Some(Offsets::Scaled(offsets)) => (word(offsets, index.checked_mul(4)?)?, None),
            Some(Offsets::Decoupled(places)) => {
                let record = DecoupledLight::decode(places.get(index.checked_mul(DecoupledLight::SIZE)?..)?)?;
                (record.offset, Some(record.size.map(usize::from)))
            }
        };
        let shift = self.shifts.as_ref().and_then(|shifts| shifts.get(index)).copied().unwrap_or(USUAL_SHIFT);
        let (mut styles, mut style_count) = ([0; MOST_STYLES], 0);
        let mut add = |style: u16| {
            if let Some(place) = styles.get_mut(style_count) {
                *place = style;
            }
            style_count += 1;
        };
        match &self.styles {
            None => face.styles.into_iter().take_while(|style| *style != 255).for_each(|style| add(style.into())),
            Some(own) => own.of(index).for_each(&mut add),
        }
        Some(Placed { offset, size, shift, styles, style_count })
    }
}

impl<'a> Styles<'a> {
    /// Engines prefer the wide ones.
    fn read(from: &Reader<'_, 'a>, faces: usize) -> Result<Option<Self>> {
        for (name, is_wide) in [(LMSTYLE16.lump(), true), (LMSTYLE.lump(), false)] {
            let (Some((_, bytes)), size) = (filled(from, name)?, if is_wide { 2 } else { 1 }) else { continue };
            if bytes.len().is_multiple_of(faces.saturating_mul(size)) {
                return Ok(Some(Styles { each: bytes.len() / (faces * size), bytes, is_wide }));
            }
        }
        Ok(None)
    }

    /// The styles of a face, up to the number that ends them.
    fn of(&self, face: usize) -> impl Iterator<Item = u16> {
        let size = if self.is_wide { 2 } else { 1 };
        let own = self.bytes.get(face * self.each * size..(face + 1) * self.each * size).unwrap_or_default();
        own.chunks_exact(size)
            .map(|style| match style {
                [low, high] => u16::from_le_bytes([*low, *high]),
                [255] => u16::MAX,
                style => style.first().copied().unwrap_or(u8::MAX).into(),
            })
            .take_while(|style| *style != u16::MAX)
    }
}
