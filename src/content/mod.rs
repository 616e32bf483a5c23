//! Layer 3: lenses on lumps that are no arrays of records.

pub mod entities;
pub mod pak;
pub mod select;

use crate::bsp::Bsp;
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Result};

impl<'a> Bsp<'a> {
    /// The entities, to be looked at; [`crate::Draft::entities`] edits them.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the dialect has none; where the lump cannot be read, as [`Bsp::bytes`].
    pub fn entities(&self) -> Result<entities::Entities<'a>> {
        let no_lump = || Error::new(ErrorKind::NotFound, "the map has no entity lump");
        let slot = self.role(Role::Entities).ok_or_else(no_lump)?;
        entities::Entities::parse(self.bytes(slot.id)?, self.dialect().text)
    }
}
