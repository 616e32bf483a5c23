//! Layer 3: lenses on lumps that are no arrays of records.

pub mod bspx;
pub mod disp;
pub mod entities;
pub mod lightgrid;
pub mod lightmap;
pub mod pak;
pub mod palette;
pub mod pattern;
pub mod physics;
pub mod props;
pub mod select;
pub mod texdata;
pub mod texture_names;
pub mod textures;
pub mod visibility;
pub mod wad;
pub mod wal;

use crate::bsp::Bsp;
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Slot, SlotId};

impl<'a> Bsp<'a> {
    /// The entities, to be looked at; [`crate::Draft::entities`] edits them.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the dialect has none; where the lump cannot be read, as [`Bsp::bytes`].
    pub fn entities(&self) -> Result<entities::Entities<'a>> {
        let no_lump = || Error::new(ErrorKind::NotFound, "the map has no entity lump");
        let slot = self.role(Role::Entities).ok_or_else(no_lump)?;
        self.check_entity_packing(slot.id)?;
        entities::Entities::parse(self.bytes(slot.id)?, self.dialect().text)
    }

    /// A lump that claims bytes and has none, as the file ends before it, is not an empty one.
    pub(crate) fn check_there(&self, slot: &Slot) -> Result<()> {
        match slot.bounds.is_damaged() && slot.stored.is_empty() {
            false => Ok(()),
            true => {
                let message = format!("{} {}", slot.name, slot.bounds);
                Err(Error::new(ErrorKind::Malformed, message).at(Place::default().lump(&slot.name)))
            }
        }
    }

    /// Compressed data is no text, whatever the directory says of it.
    pub(crate) fn check_entity_packing(&self, slot: SlotId) -> Result<()> {
        match self.packing_oddity(slot).filter(|_| self.stored(slot).starts_with(b"LZMA")) {
            Some(oddity) => Err(self.odd_packing(slot, oddity)),
            None => Ok(()),
        }
    }
}
