//! The lump with edited textures: what stands behind one that grows or shrinks moves, and the directory follows.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Textures;
use crate::bytes::align_up;
use crate::error::{Error, ErrorKind, Place, Result};

/// Everything in the lump keeps its place modulo this.
const ALIGNMENT: usize = 4;

impl Textures<'_> {
    /// The lump with all edits. A texture that shares bytes with another one gets bytes of its own at the end; any other is
    /// laid where it stood. Order, and what lies between textures, stay.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] where a texture would begin behind 2 GiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut extents = self.extents();
        extents.sort_by_key(|(range, _)| (range.start, range.end));
        let shared = shared(&extents);
        let mut out = Vec::with_capacity(self.bytes.len());
        // Where old bytes begin to be by how much elsewhere.
        let mut shifts: Vec<(usize, usize)> = Vec::new();
        let mut words: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        for (range, index) in extents.iter().filter(|(_, index)| !shared.contains(index)) {
            let Some(new) = self.edits.get(index) else { continue };
            out.extend_from_slice(&self.bytes[at..range.start]);
            out.extend_from_slice(new);
            if range.end < self.bytes.len() {
                let behind = (range.end + ALIGNMENT - out.len() % ALIGNMENT) % ALIGNMENT;
                out.resize(out.len() + behind, 0);
            }
            at = range.end;
            shifts.push((at, out.len()));
        }
        out.extend_from_slice(&self.bytes[at..]);
        for index in &shared {
            let Some(new) = self.edits.get(index) else { continue };
            out.resize(align_up(out.len(), ALIGNMENT), 0);
            words.push((*index, out.len()));
            out.extend_from_slice(new);
        }
        for (range, index) in &extents {
            if shared.contains(index) && self.edits.contains_key(index) {
                continue;
            }
            // The last one that ends before this one begins says where it is now.
            let before = shifts.partition_point(|(old, _)| *old <= range.start);
            let start = match before.checked_sub(1).map(|before| shifts[before]) {
                Some((old, new)) => range.start - old + new,
                None => range.start,
            };
            words.push((*index, start));
        }
        for (index, start) in words {
            let word = i32::try_from(start).map_err(|_| {
                let place = Place::default().lump("TEXTURES").record(index);
                Error::new(ErrorKind::TooLarge, "a texture would begin behind 2 GiB").at(place)
            })?;
            out[4 + 4 * index..8 + 4 * index].copy_from_slice(&word.to_le_bytes());
        }
        Ok(out)
    }
}

/// Which entries have bytes in common with others; they come sorted by where they begin.
fn shared(extents: &[(Range<usize>, usize)]) -> BTreeSet<usize> {
    let mut shared = BTreeSet::new();
    let mut furthest: Option<&(Range<usize>, usize)> = None;
    for extent in extents {
        if let Some(other) = furthest.filter(|other| extent.0.start < other.0.end) {
            shared.extend([other.1, extent.1]);
        }
        if furthest.is_none_or(|other| other.0.end < extent.0.end) {
            furthest = Some(extent);
        }
    }
    shared
}
