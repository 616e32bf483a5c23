//! Writes the lump with edited textures: the bytes after a texture that grows or shrinks move, and the directory is
//! updated.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::{MISSING, Textures};
use crate::bytes::{Relay, word};
use crate::error::{Error, ErrorKind, Place, Result};

/// A place in the lump, and the entries that begin there.
pub(super) struct Held {
    pub(super) range: Range<usize>,
    pub(super) entries: Vec<usize>,
    pub(super) is_damaged: bool,
}

impl Textures<'_> {
    /// The lump with all edits. A texture is written at its old place if no other texture shares its bytes, or if all
    /// that begin there get the same bytes. Otherwise its new bytes are written at the end. The order, and the bytes
    /// between textures, stay. An entry whose offset is past the lump keeps an offset past it, by the same distance if
    /// the offset has to change.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if a texture would begin past 2 GiB; [`ErrorKind::Refused`] if a damaged texture shares
    /// bytes with one that is not edited.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let places = self.places();
        let shared = shared(&places);
        let mut out = Relay::new(&self.bytes);
        let alignment = self.alignment();
        let mut apart: Vec<&Held> = Vec::new();
        for (place, is_shared) in places.iter().zip(shared) {
            if !place.entries.iter().any(|index| self.edits.contains_key(index)) {
                continue;
            }
            match self.common_edit(place).filter(|_| !is_shared) {
                Some(new) => out.replace(place.range.clone(), new, alignment),
                None => apart.push(place),
            }
        }
        let mut starts: HashMap<usize, usize> = HashMap::new();
        for place in apart {
            let mut appended: BTreeMap<&[u8], usize> = BTreeMap::new();
            for index in &place.entries {
                let Some(new) = self.edits.get(index) else { continue };
                if place.is_damaged {
                    let message = "it is damaged, and shares bytes with a texture that is not edited";
                    return Err(super::at(*index, Error::new(ErrorKind::Refused, message)));
                }
                starts.insert(*index, *appended.entry(new).or_insert_with(|| out.append(new, alignment)));
            }
        }
        let mut words = Vec::with_capacity(self.len);
        for index in 0..self.len {
            let start = match starts.get(&index) {
                Some(start) => i32::try_from(*start).ok(),
                None => out.follow(word(&self.bytes, 4 + 4 * index).unwrap_or(MISSING)),
            };
            words.push(start.ok_or_else(|| {
                let place = Place::default().lump("TEXTURES").record(index);
                Error::new(ErrorKind::TooLarge, "a texture would start after 2 GiB").at(place)
            })?);
        }
        let mut out = out.into_bytes();
        words
            .iter()
            .enumerate()
            .for_each(|(at, word)| out[4 + 4 * at..8 + 4 * at].copy_from_slice(&word.to_le_bytes()));
        Ok(out)
    }

    /// The new bytes of all entries at a place, if they are the same.
    fn common_edit(&self, place: &Held) -> Option<&[u8]> {
        let mut edits = place.entries.iter().map(|index| self.edits.get(index));
        let first = edits.next()??;
        edits.all(|other| other.is_some_and(|other| other == first)).then_some(first)
    }
}

/// Which of the sorted places share bytes with others.
pub(super) fn shared(places: &[Held]) -> Vec<bool> {
    let mut shared = vec![false; places.len()];
    let mut furthest: Option<usize> = None;
    for (at, place) in places.iter().enumerate() {
        if let Some(other) = furthest.filter(|other| place.range.start < places[*other].range.end) {
            (shared[at], shared[other]) = (true, true);
        }
        if furthest.is_none_or(|other| places[other].range.end < place.range.end) {
            furthest = Some(at);
        }
    }
    shared
}
