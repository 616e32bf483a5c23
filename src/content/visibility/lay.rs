//! Writes the lump with changed rows.
//!
//! A changed row is written at its old offset, the bytes after it move by the difference, and all offsets are updated.
//! So the rows keep their order and gaps, and undoing an edit gives the old bytes. A row that others share, or that
//! overlaps others, is written after the last one instead, and the others keep theirs.

use std::collections::{BTreeMap, HashMap};

use super::{LUMP, VisRow, VisSet, Visibility, cluster_word, compress, leaf_word};
use crate::bytes::Relay;
use crate::dialect::VisModel;
use crate::error::{Error, ErrorKind, Place, Result};

type Key = (VisSet, usize);

/// Changed rows with the same old offset.
struct Group {
    end: usize,
    rows: Vec<Key>,
    /// Whether another row uses the old bytes.
    is_kept: bool,
}

impl Visibility<'_> {
    /// The visibility lump with the changed rows, and the leafs lump, which has the offsets if rows are per leaf.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if an offset would pass 2 GiB.
    pub(super) fn to_bytes(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        if let VisModel::Matrix = self.model {
            let mut bytes = self.bytes.to_vec();
            for ((_, index), row) in &self.changed {
                let start = self.header() + index * self.size;
                bytes[start..start + self.size].copy_from_slice(row.bytes());
            }
            return Ok((bytes, Vec::new()));
        }
        let (groups, mut loose) = self.groups();
        let mut rows = Relay::new(&self.bytes);
        for (start, group) in groups {
            let winner = group.rows.first().filter(|_| !group.is_kept).and_then(|key| self.changed.get(key));
            if let Some(winner) = winner {
                rows.replace(start..group.end, &compress(winner.bytes()), 1);
            }
            let others = group.rows.into_iter().filter(|key| self.changed.get(key) != winner);
            loose.extend(others.map(|key| (key, start)));
        }
        loose.sort_unstable();
        let mut places: HashMap<(usize, &VisRow), usize> = HashMap::new();
        let mut starts: HashMap<Key, usize> = HashMap::new();
        for (key, start) in loose {
            let Some(row) = self.changed.get(&key) else { continue };
            // Places that shared a row and get equal rows share one again.
            let place = places.entry((start, row)).or_insert_with(|| rows.append(&compress(row.bytes()), 1));
            starts.insert(key, *place);
        }
        let words = self.words(&mut rows, &starts)?;
        let (mut rows, mut leafs) = (rows.into_bytes(), self.leafs.to_vec());
        for ((set, index), word) in words {
            let (bytes, at) = match self.model {
                VisModel::Leafs(model) => (&mut leafs, leaf_word(model, index)),
                _ => (&mut rows, cluster_word(set, index)),
            };
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        Ok((rows, leafs))
    }

    /// The new offsets of all rows. A value that is not the offset of a row stays.
    fn words(&self, rows: &mut Relay<'_>, starts: &HashMap<Key, usize>) -> Result<Vec<(Key, i32)>> {
        let mut words = Vec::new();
        for key in self.sets().iter().flat_map(|set| (0..self.len).map(|index| (*set, index))) {
            let start = match (starts.get(&key), self.offset(key.0, key.1)) {
                (Some(start), _) => i32::try_from(*start).ok(),
                (None, Some(says)) => rows.follow(says),
                (None, None) => continue,
            };
            let too_large = || {
                let place = Place::default().lump(LUMP).record(key.1);
                Error::new(ErrorKind::TooLarge, format!("row {} would start after 2 GiB", key.1)).at(place)
            };
            words.push((key, start.ok_or_else(too_large)?));
        }
        Ok(words)
    }

    /// The changed rows by old offset, and those without one.
    fn groups(&self) -> (BTreeMap<usize, Group>, Vec<(Key, usize)>) {
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        let mut loose = Vec::new();
        for key in self.changed.keys() {
            match self.extent(key.0, key.1) {
                Ok(Some(range)) => {
                    let group = Group { end: range.end, rows: Vec::new(), is_kept: false };
                    groups.entry(range.start).or_insert(group).rows.push(*key);
                }
                // No row, or one that cannot be read.
                Ok(None) | Err(_) => loose.push((*key, usize::MAX)),
            }
        }
        if groups.is_empty() {
            return (groups, loose);
        }
        for set in self.sets() {
            for index in 0..self.len {
                let Some(start) = self.offset(*set, index).and_then(|offset| usize::try_from(offset).ok()) else {
                    continue;
                };
                let end = start.saturating_add(self.span(start, |_, _| {}).0.max(1));
                // A compressed row has at most two bytes per byte.
                for (at, group) in groups.range_mut(start.saturating_sub(2 * self.size)..end) {
                    let is_own = *at == start && self.changed.contains_key(&(*set, index));
                    group.is_kept |= group.end > start && !is_own;
                }
            }
        }
        (groups, loose)
    }
}
