//! The lump with changed rows in it.
//!
//! A changed row stands where it stood, what lies behind moves by the difference, and all offsets follow: so the rows
//! stay as tight as they were and in their order, and an edit that is taken back gives the old bytes. A row that others
//! have too, or that lies across others, is written behind the last one instead, and the others keep theirs.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::{LUMP, VisRow, VisSet, Visibility, cluster_word, compress, leaf_word};
use crate::bytes::word;
use crate::dialect::VisModel;
use crate::error::{Error, ErrorKind, Place, Result};

type Key = (VisSet, usize);

/// Changed rows that began at the same place.
struct Group {
    end: usize,
    rows: Vec<Key>,
    /// Whether somebody needs the old bytes.
    is_kept: bool,
}

/// A row that takes another's place.
struct Splice {
    range: Range<usize>,
    new: Vec<u8>,
}

/// Where everything has come to stand.
#[derive(Default)]
pub(super) struct Lay {
    splices: Vec<Splice>,
    /// By how much what lies behind each splice has moved.
    moved: Vec<i64>,
    /// Rows written behind the others, and where they begin from there.
    appended: Vec<u8>,
    begins: HashMap<Key, usize>,
}

impl Visibility<'_> {
    /// The visibility lump with the changed rows in it. Rows by leaf have their offsets in another lump:
    /// [`Visibility::leafs_to_bytes`].
    pub(super) fn to_bytes(&self, lay: &Lay) -> Result<Vec<u8>> {
        let mut bytes = self.bytes.to_vec();
        if let VisModel::Matrix = self.model {
            for ((_, index), row) in &self.changed {
                let start = self.header() + index * self.size;
                bytes[start..start + self.size].copy_from_slice(row.bytes());
            }
            return Ok(bytes);
        }
        bytes.clear();
        let mut at = 0;
        for splice in &lay.splices {
            bytes.extend_from_slice(&self.bytes[at..splice.range.start]);
            bytes.extend_from_slice(&splice.new);
            at = splice.range.end;
        }
        bytes.extend_from_slice(&self.bytes[at..]);
        bytes.extend_from_slice(&lay.appended);
        if let VisModel::Clusters = self.model {
            self.put_offsets(lay, &mut bytes, cluster_word)?;
        }
        Ok(bytes)
    }

    /// The leafs lump with the rows' offsets in it; as it is where rows do not go by leaf.
    pub(super) fn leafs_to_bytes(&self, lay: &Lay) -> Result<Vec<u8>> {
        let mut leafs = self.leafs.to_vec();
        if let VisModel::Leafs(rows) = self.model {
            self.put_offsets(lay, &mut leafs, |_, leaf| leaf_word(rows, leaf))?;
        }
        Ok(leafs)
    }

    /// Writes where each row begins now.
    fn put_offsets(&self, lay: &Lay, bytes: &mut [u8], at: impl Fn(VisSet, usize) -> usize) -> Result<()> {
        let old = |key: Key| match self.model {
            // What stands for no row stays as well.
            VisModel::Leafs(rows) => word(&self.leafs, leaf_word(rows, key.1)),
            _ => self.offset(key.0, key.1),
        };
        for set in self.sets() {
            for index in 0..self.len {
                let Some(offset) = old((*set, index)) else { continue };
                let is_row = self.offset(*set, index).is_some();
                let new = match lay.begins.get(&(*set, index)) {
                    Some(from) => i64::try_from(self.bytes.len() + from).unwrap_or(i64::MAX) + lay.shift(usize::MAX),
                    None => match usize::try_from(offset) {
                        Ok(start) if is_row => i64::from(offset) + lay.shift(start),
                        _ => i64::from(offset),
                    },
                };
                let new = i32::try_from(new).map_err(|_| {
                    let message = format!("row {index} would begin behind 2 GiB");
                    Error::new(ErrorKind::TooLarge, message).at(Place::default().lump(LUMP).record(index))
                })?;
                let at = at(*set, index);
                bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
            }
        }
        Ok(())
    }

    pub(super) fn lay(&self) -> Lay {
        let (groups, mut loose) = self.groups();
        let mut lay = Lay::default();
        let mut places: HashMap<(usize, &VisRow), usize> = HashMap::new();
        for (start, group) in groups {
            let winner = group.rows.first().filter(|_| !group.is_kept).and_then(|key| self.changed.get(key));
            if let Some(winner) = winner {
                lay.splices.push(Splice { range: start..group.end, new: compress(winner.bytes()) });
            }
            let others = group.rows.into_iter().filter(|key| self.changed.get(key) != winner);
            loose.extend(others.map(|key| (key, start)));
        }
        loose.sort_unstable();
        for (key, start) in loose {
            let Some(row) = self.changed.get(&key) else { continue };
            // Those that shared a row and are given the same one share it again.
            let place = *places.entry((start, row)).or_insert_with(|| {
                let place = lay.appended.len();
                lay.appended.extend(compress(row.bytes()));
                place
            });
            lay.begins.insert(key, place);
        }
        let length = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        lay.moved = lay
            .splices
            .iter()
            .scan(0, |moved, splice| {
                *moved += length(splice.new.len()) - length(splice.range.len());
                Some(*moved)
            })
            .collect();
        lay
    }

    /// The changed rows by where they stood, and those that stood nowhere.
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
                // No row takes more than two bytes for each of its own.
                for (at, group) in groups.range_mut(start.saturating_sub(2 * self.size)..end) {
                    let is_own = *at == start && self.changed.contains_key(&(*set, index));
                    group.is_kept |= group.end > start && !is_own;
                }
            }
        }
        (groups, loose)
    }
}

impl Lay {
    /// By how much what began there has moved.
    fn shift(&self, start: usize) -> i64 {
        let before = self.splices.partition_point(|splice| splice.range.end <= start);
        before.checked_sub(1).map_or(0, |last| self.moved[last])
    }
}
