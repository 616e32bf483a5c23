//! Textures of drafts: pixels where maps have them, and names everywhere.

use super::Draft;
use crate::content::texture_names::{Renamed, Renaming};
use crate::content::textures::Textures;
use crate::error::Result;

impl<'a> Draft<'a> {
    /// The textures as the draft has them; [`Draft::set_textures`] takes them back.
    ///
    /// # Errors
    /// As [`crate::Bsp::textures`].
    pub fn textures(&self) -> Result<Textures<'a>> {
        self.bsp.textures_of(|slot| self.bytes(slot))
    }

    /// Takes textures: their lump is laid with what was edited.
    ///
    /// # Errors
    /// As [`crate::Bsp::textures`] and [`Textures::to_bytes`].
    pub fn set_textures(&mut self, textures: &Textures<'_>) -> Result<()> {
        let slot = self.bsp.textures_id()?;
        self.set(slot, textures.to_bytes()?)
    }

    /// Gives textures other names wherever the map names them, and says what was done. Either all of the names that can be
    /// changed are or none.
    ///
    /// ```
    /// use bspkit::content::texture_names::Renaming;
    /// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
    /// let mut draft = map.draft();
    /// let renamed = draft.rename_textures(&Renaming::new("textures/own/*", "textures/mine/{1}")?)?;
    /// assert!(renamed.count > 0 && draft.changes()?.len() == 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Refused`] where a new name does not fit, by name; as [`crate::Bsp::texture_names`].
    pub fn rename_textures(&mut self, renaming: &Renaming) -> Result<Renamed> {
        let (lumps, renamed) = self.bsp.with_texture_names(renaming, |slot| self.little_endian(slot))?;
        lumps.into_iter().try_for_each(|(slot, bytes)| self.set_little_endian(slot, bytes))?;
        Ok(renamed)
    }
}
