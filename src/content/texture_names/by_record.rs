//! Names by the record that they belong to.

use super::{Kept, TABLE, TEXTURES, TextureNames};

impl TextureNames<'_> {
    /// The lumps for which [`TextureNames::of_records`] may have names.
    pub(crate) const NAMED: [&'static str; 2] = [TEXTURES, TABLE];

    /// The names of the records of a lump, if they are not fields of these records; empty for one that cannot be read.
    /// Numbers that refer to the lump refer to these names.
    pub(crate) fn of_records(&self, lump: &str) -> Option<Vec<Vec<u8>>> {
        let len = match &self.kept {
            Kept::Textures(textures) if lump == TEXTURES => textures.len(),
            Kept::Strings(strings) if lump == TABLE => strings.len(),
            _ => return None,
        };
        let mut names = vec![Vec::new(); len];
        for name in self.iter() {
            if let Some(place) = names.get_mut(name.index) {
                *place = name.name;
            }
        }
        Some(names)
    }
}
