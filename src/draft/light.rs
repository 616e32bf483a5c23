//! Light in a draft.

use super::Draft;
use crate::content::lightmap::Light;
use crate::error::Result;

impl<'a> Draft<'a> {
    /// The light of faces as the draft has it; what is changed in it comes back by [`Draft::set_light`].
    ///
    /// # Errors
    /// As [`crate::Bsp::light`].
    pub fn light(&self) -> Result<Light<'a>> {
        Light::read(&self.bsp, |slot| self.little_endian(slot))
    }

    /// Takes over light that was edited; lumps of it that were not are left alone.
    ///
    /// ```
    /// use bspkit::content::lightmap::Adjustment;
    /// let mut draft = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?.draft();
    /// let mut light = draft.light()?;
    /// let darker = Adjustment { gain: 0.5, ..Adjustment::default() };
    /// light.adjust(&darker, |_, _, _| true);
    /// draft.set_light(&light)?;
    /// assert_eq!(draft.changes()?.len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Draft::set`].
    pub fn set_light(&mut self, light: &Light<'_>) -> Result<()> {
        light.edits().try_for_each(|(slot, bytes)| self.set_little_endian(slot, bytes.to_vec()))
    }
}
