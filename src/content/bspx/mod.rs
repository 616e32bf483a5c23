//! Entries of BSPX that are no arrays: brushes of the models, and light for what moves. Both are looked at; what is to
//! change is set as bytes.

mod brush_list;
mod light_point;
mod octree;

pub use brush_list::{Brush, BrushList};
pub use light_point::{LightPoint, LightSample};
pub use octree::{LightOctree, OctreeFault};

use crate::bsp::Bsp;
use crate::bytes::wide;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Record;

const BRUSHES: &str = "bspx:BRUSHLIST";
const OCTREE: &str = "bspx:LIGHTGRID_OCTREE";
const GRIDS: &str = "bspx:LIGHTGRIDS";

impl<'a> Bsp<'a> {
    /// The brushes of the models, from which engines make collisions of any size.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has none; as [`BrushList::parse`] and [`Bsp::bytes`].
    pub fn brush_list(&self) -> Result<BrushList<'a>> {
        BrushList::parse(self.bytes(self.slot(BRUSHES)?.id)?)
    }

    /// The octrees of light: that of `LIGHTGRID_OCTREE`, or those of `LIGHTGRIDS`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has neither; as [`LightOctree::parse`] and [`Bsp::bytes`].
    pub fn light_octrees(&self) -> Result<Vec<LightOctree<'a>>> {
        match self.slot(OCTREE) {
            Ok(slot) => Ok(vec![LightOctree::parse(self.bytes(slot.id)?)?]),
            Err(none) => match self.slot(GRIDS) {
                Ok(slot) => LightOctree::parse_all(self.bytes(slot.id)?),
                Err(_) => Err(none),
            },
        }
    }
}

/// The record at a place, which is moved behind it.
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
