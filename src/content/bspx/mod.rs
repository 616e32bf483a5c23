//! Entries of BSPX that are not arrays: brushes of the models, and light for moving objects. Both are read-only; to
//! change one, set its bytes.

mod brush_list;
mod light_point;
mod octree;

pub use brush_list::{Brush, BrushList};
pub use light_point::{LightPoint, LightSample};
pub use octree::{LightOctree, OctreeFault};

use std::ops::Deref;

use super::lens::{Content, Reader};
use crate::bytes::{Rope, wide};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Record;

const BRUSHES: &str = "bspx:BRUSHLIST";
const OCTREE: &str = "bspx:LIGHTGRID_OCTREE";
const GRIDS: &str = "bspx:LIGHTGRIDS";

impl<'a> Content<'a> for BrushList<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        BrushList::parse(from.bytes(from.slot(BRUSHES)?)?)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(Vec::new())
    }
}

/// The octrees of light of a map: that of `LIGHTGRID_OCTREE`, or those of `LIGHTGRIDS`.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// assert_eq!(map.light_octrees()?.len(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LightOctrees<'a>(Vec<LightOctree<'a>>);

impl<'a> Deref for LightOctrees<'a> {
    type Target = [LightOctree<'a>];

    fn deref(&self) -> &[LightOctree<'a>] {
        &self.0
    }
}

impl<'a> Content<'a> for LightOctrees<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        match from.slot(OCTREE) {
            Ok(slot) => Ok(LightOctrees(vec![LightOctree::parse(from.bytes(slot)?)?])),
            Err(none) => match from.slot(GRIDS) {
                Ok(slot) => LightOctree::parse_all(from.bytes(slot)?).map(LightOctrees),
                Err(_) => Err(none),
            },
        }
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(Vec::new())
    }
}

/// The record at an offset; the offset is moved past it.
fn read<R: Record>(bytes: &[u8], at: &mut usize, lump: &str, what: &str) -> Result<R> {
    let record = bytes.get(*at..).and_then(R::decode).ok_or_else(|| cut(lump, *at, what))?;
    *at += R::SIZE;
    Ok(record)
}

#[cold]
fn cut(lump: &str, at: usize, what: &str) -> Error {
    malformed(lump, at, format!("it ends before {what}"))
}

#[cold]
fn malformed(lump: &str, at: usize, message: String) -> Error {
    Error::new(ErrorKind::Malformed, message).at(Place::default().lump(lump).offset(wide(at)))
}
