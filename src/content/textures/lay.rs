//! The lump with edited textures: what follows one that grows or shrinks moves, and the directory follows.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{MISSING, Textures};
use crate::bytes::{align_up, word};
use crate::error::{Error, ErrorKind, Place, Result};

/// Everything in the lump keeps its place modulo this.
const ALIGNMENT: usize = 4;

/// A place in the lump, and the entries that begin there.
pub(super) struct Held {
    pub(super) range: Range<usize>,
    pub(super) entries: Vec<usize>,
    pub(super) is_damaged: bool,
}

impl Textures<'_> {
    /// The lump with all edits. A texture is laid where it was if no other has bytes of it, or all that begin there
    /// get the same; any other gets bytes of its own at the end. Order, and what lies between textures, stay. An entry
    /// that is said to begin past the lump stays so, and is said to begin as far past the new one where that needs
    /// another word.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where a texture would begin past 2 GiB; [`ErrorKind::Refused`] where a damaged texture
    /// shares bytes with one that is to stay as it is.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let places = self.places();
        let shared = shared(&places);
        let mut out = Vec::with_capacity(self.bytes.len());
        // Where old bytes begin to be by how much elsewhere.
        let mut shifts: Vec<(usize, usize)> = Vec::new();
        let mut words: Vec<(usize, usize)> = Vec::new();
        let mut apart: Vec<&Held> = Vec::new();
        let mut at = 0;
        for (place, is_shared) in places.iter().zip(shared) {
            if !place.entries.iter().any(|index| self.edits.contains_key(index)) {
                continue;
            }
            let Some(new) = self.common_edit(place).filter(|_| !is_shared) else {
                apart.push(place);
                continue;
            };
            out.extend_from_slice(&self.bytes[at..place.range.start]);
            out.extend_from_slice(new);
            at = place.range.end;
            if at < self.bytes.len() {
                let behind = (at + ALIGNMENT - out.len() % ALIGNMENT) % ALIGNMENT;
                out.resize(out.len() + behind, 0);
            }
            shifts.push((at, out.len()));
        }
        out.extend_from_slice(&self.bytes[at..]);
        for place in &places {
            // The last one that ends before this one begins says where it is now.
            let start = place.range.start;
            let before = shifts.partition_point(|(old, _)| *old <= start);
            let start = match before.checked_sub(1).map(|before| shifts[before]) {
                Some((old, new)) => start - old + new,
                None => start,
            };
            words.extend(place.entries.iter().map(|index| (*index, start)));
        }
        for place in apart {
            let mut laid: BTreeMap<&[u8], usize> = BTreeMap::new();
            for index in &place.entries {
                let Some(new) = self.edits.get(index) else { continue };
                if place.is_damaged {
                    let message = "it is damaged, and shares bytes with a texture that is to stay as it is";
                    return Err(super::at(*index, Error::new(ErrorKind::Refused, message)));
                }
                let start = *laid.entry(new).or_insert_with(|| {
                    out.resize(align_up(out.len(), ALIGNMENT), 0);
                    let start = out.len();
                    out.extend_from_slice(new);
                    start
                });
                words.push((*index, start));
            }
        }
        for (index, start) in words {
            let word = i32::try_from(start).map_err(|_| {
                let place = Place::default().lump("TEXTURES").record(index);
                Error::new(ErrorKind::TooLarge, "a texture would begin behind 2 GiB").at(place)
            })?;
            out[4 + 4 * index..8 + 4 * index].copy_from_slice(&word.to_le_bytes());
        }
        self.keep_outside(&mut out);
        Ok(out)
    }

    /// What all entries of a place are to be, where that is the same.
    fn common_edit(&self, place: &Held) -> Option<&[u8]> {
        let mut edits = place.entries.iter().map(|index| self.edits.get(index));
        let first = edits.next()??;
        edits.all(|other| other.is_some_and(|other| other == first)).then_some(first)
    }

    /// No entry that began past the lump may begin in it because it has grown.
    fn keep_outside(&self, out: &mut [u8]) {
        let size = |bytes: &[u8]| i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let (old, new) = (size(&self.bytes), size(out));
        for index in 0..self.len {
            let says = word(&self.bytes, 4 + 4 * index).unwrap_or(MISSING);
            if (old..new).contains(&i64::from(says)) {
                let word = i32::try_from(i64::from(says) + new - old).unwrap_or(i32::MAX);
                out[4 + 4 * index..8 + 4 * index].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// Which of the places, that come in order, have bytes in common with others.
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
