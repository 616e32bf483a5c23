//! The lump with some of its textures.

use super::{MISSING, Textures, lay};
use crate::bytes::{Relay, word};
use crate::error::Result;

impl Textures<'_> {
    /// The lump with only these entries, in their order. Bytes that another entry has stay, and so do bytes that belong
    /// to none. `None` if textures are damaged: what belongs to them is not known.
    pub(crate) fn only(&self, kept: &[bool]) -> Result<Option<Vec<u8>>> {
        let places = self.places();
        let is_damaged = (0..self.len).any(|index| self.offset(index).is_err());
        if is_damaged || self.is_edited() || places.iter().any(|place| place.is_damaged) {
            return Ok(None);
        }
        let shared = lay::shared(&places);
        let left = kept.iter().filter(|kept| **kept).count();
        let mut out = Relay::new(&self.bytes);
        let alignment = self.alignment();
        out.replace(4..4 + 4 * self.len, &vec![0; 4 * left], alignment);
        for (place, is_shared) in places.iter().zip(shared) {
            if !is_shared && !place.entries.iter().any(|index| kept[*index]) {
                out.replace(place.range.clone(), &[], alignment);
            }
        }
        let entries = (0..self.len).filter(|index| kept[*index]).map(|index| word(&self.bytes, 4 + 4 * index));
        let words: Vec<i32> = entries.map(|says| out.follow(says.unwrap_or(MISSING)).unwrap_or(MISSING)).collect();
        let mut out = out.into_bytes();
        let count = i32::try_from(left).unwrap_or(i32::MAX);
        std::iter::once(&count).chain(&words).enumerate().for_each(|(at, word)| {
            out[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        });
        Ok(Some(out))
    }
}
