//! Textures of drafts: pixels where maps have them, and names everywhere.

use super::Draft;
use crate::content::textures::Textures;
use crate::error::Result;

impl<'a> Draft<'a> {
    /// The textures as the draft has them; [`Draft::set_textures`] takes them back.
    ///
    /// # Errors
    /// As [`crate::Bsp::textures`].
    pub fn textures(&self) -> Result<Textures<'a>> {
        Textures::parse(self.bytes(self.bsp.textures_id()?)?)
    }

    /// Takes textures: their lump is laid with what was edited.
    ///
    /// # Errors
    /// As [`crate::Bsp::textures`] and [`Textures::to_bytes`].
    pub fn set_textures(&mut self, textures: &Textures<'_>) -> Result<()> {
        let slot = self.bsp.textures_id()?;
        self.set(slot, textures.to_bytes()?)
    }
}
