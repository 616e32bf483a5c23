//! Lenses that reach over more than one lump.

use super::Draft;
use crate::content::texdata::{STRINGS, TABLE, TextureStrings};
use crate::content::visibility::Visibility;
use crate::dialect::{Role, VisModel};
use crate::error::{Error, ErrorKind, Result};
use crate::file::SlotId;

impl<'a> Draft<'a> {
    /// The visibility as the draft has it; [`Draft::set_visibility`] takes it back.
    ///
    /// # Errors
    /// As [`crate::Bsp::visibility`].
    pub fn visibility(&self) -> Result<Visibility<'a>> {
        self.bsp.visibility_of(|slot| self.little_endian(slot))
    }

    /// Takes the visibility: its lump, and where rows go by leaf the offset of every leaf's row.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has no such lump, [`ErrorKind::Refused`] where the draft has fewer leafs than
    /// the visibility; as [`Visibility::to_bytes`].
    pub fn set_visibility(&mut self, visibility: &Visibility<'_>) -> Result<()> {
        if visibility.model() != self.bsp.dialect().visibility {
            return Err(Error::new(ErrorKind::Refused, "the visibility is that of another kind of map"));
        }
        let (slot, bytes) = (self.lump_of(Role::Visibility)?, visibility.to_bytes()?);
        if let VisModel::Leafs(_) = visibility.model() {
            let leafs = self.lump_of(Role::Leafs)?;
            let new = visibility.leafs_to_bytes(&self.little_endian(leafs)?)?;
            self.set_little_endian(leafs, new)?;
        }
        self.set_little_endian(slot, bytes)
    }

    /// The names of materials as the draft has them; [`Draft::set_texture_strings`] takes them back.
    ///
    /// # Errors
    /// As [`crate::Bsp::texture_strings`].
    pub fn texture_strings(&self) -> Result<TextureStrings<'a>> {
        self.bsp.texture_strings_of(|slot| self.little_endian(slot))
    }

    /// Takes the names of materials: the strings, and the table of where each begins.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has no such lumps; as [`TextureStrings::to_bytes`].
    pub fn set_texture_strings(&mut self, names: &TextureStrings<'_>) -> Result<()> {
        let (first, second) = (self.bsp.slot(STRINGS)?.id, self.bsp.slot(TABLE)?.id);
        let (strings, table) = names.to_bytes()?;
        self.set_little_endian(first, strings)?;
        self.set_little_endian(second, table)
    }

    fn lump_of(&self, role: Role) -> Result<SlotId> {
        let missing = || Error::new(ErrorKind::NotFound, format!("the map has no {role}"));
        self.bsp.role(role).map(|slot| slot.id).ok_or_else(missing)
    }
}
