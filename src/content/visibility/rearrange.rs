//! Visibility of leafs that come into another order.

use std::collections::BTreeMap;

use super::{LUMP, VisRow, VisSet, Visibility, compress, leaf_word};
use crate::bytes::{Relay, word};
use crate::dialect::VisModel;
use crate::error::{Error, ErrorKind, Place, Result};

/// Where the bit of a leaf comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// It is that of an old leaf.
    Old(usize),
    /// The leaf is new, and seen from everywhere.
    Seen,
}

impl Visibility<'_> {
    /// The lump with a bit for each of `columns` in each row, for a map with rows by leaf. The leafs that come with it
    /// have moved already, and still have the offsets of before; they get the new ones.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if a row cannot be read. [`ErrorKind::Refused`] if rows overlap, or, unless this is
    /// forced, if a row is not as this library would write it, since it could not be restored.
    pub(crate) fn rearranged(&self, leafs: &mut [u8], columns: &[Column], is_forced: bool) -> Result<Vec<u8>> {
        let VisModel::Leafs(model) = self.model else { return Ok(self.bytes.to_vec()) };
        let refused = |message: String, leaf: usize| {
            Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(LUMP).record(leaf)))
        };
        let mut rows: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for leaf in 1..self.len {
            if let Some(range) = self.extent(VisSet::Pvs, leaf)? {
                rows.entry(range.start).or_insert((range.end, leaf));
            }
        }
        let bits = Bits::new(columns);
        let (mut relay, mut last) = (Relay::new(&self.bytes), 0);
        for (start, (end, leaf)) in rows {
            if start < last {
                return refused(format!("row {leaf} overlaps the row before it, so that it cannot be changed"), leaf);
            }
            last = end;
            let Some(row) = self.row(VisSet::Pvs, leaf)? else { continue };
            if !is_forced && compress(row.bytes()) != self.bytes[start..end] {
                let message = "it is not stored in the usual form, so that its old bytes could not be restored";
                return refused(format!("row {leaf} cannot be changed: {message}"), leaf)
                    .map_err(|error| error.with_hint(crate::error::Hint::Force));
            }
            let mut new = bits.of(&row);
            let spare = spare(row.bytes(), self.bits);
            if spare.iter().any(|byte| *byte != 0) {
                // They stay where the leafs only change places.
                if new.len() == spare.len() && columns.len() == self.bits {
                    new.iter_mut().zip(spare).for_each(|(new, spare)| *new |= spare);
                } else if !is_forced {
                    let message = "it has bits beyond the last leaf, which would mean leafs";
                    return refused(format!("row {leaf} cannot be changed: {message}"), leaf)
                        .map_err(|error| error.with_hint(crate::error::Hint::Force));
                }
            }
            if new != row.bytes() {
                relay.replace(start..end, &compress(&new), 1);
            }
        }
        for leaf in 1..leafs.len() / model.leaf_size {
            let at = leaf_word(model, leaf);
            let Some(says) = word(leafs, at).filter(|says| *says != -1) else { continue };
            let too_large = || Error::new(ErrorKind::TooLarge, format!("row {leaf} would start after 2 GiB"));
            let now = relay.follow(says).ok_or_else(too_large)?;
            leafs[at..at + 4].copy_from_slice(&now.to_le_bytes());
        }
        Ok(relay.into_bytes())
    }
}

/// The bits of a row that are those of no leaf, with the others cleared.
fn spare(row: &[u8], leafs: usize) -> Vec<u8> {
    let mut spare = row.to_vec();
    let whole = (leafs / 8).min(spare.len());
    spare[..whole].fill(0);
    if let Some(last) = spare.get_mut(whole) {
        *last &= u8::MAX << (leafs % 8);
    }
    spare
}

/// Where the bits of a row go. Only the bits that are set are visited: there are not more of those than the lump has
/// bits, since only zeros are compressed.
struct Bits {
    /// A row in which only new leafs are seen.
    empty: Vec<u8>,
    /// The first new bit of each old leaf.
    first: Vec<Option<usize>>,
    /// The next one of the same leaf after each new bit.
    next: Vec<Option<usize>>,
}

impl Bits {
    fn new(columns: &[Column]) -> Self {
        let leafs = columns.iter().map(|column| if let Column::Old(leaf) = column { leaf + 1 } else { 0 });
        let first = vec![None; leafs.max().unwrap_or(0)];
        let mut bits = Bits { empty: vec![0; columns.len().div_ceil(8)], first, next: vec![None; columns.len()] };
        for (bit, column) in columns.iter().enumerate() {
            match column {
                Column::Old(leaf) => bits.next[bit] = bits.first[*leaf].replace(bit),
                Column::Seen => bits.empty[bit / 8] |= 1 << (bit % 8),
            }
        }
        bits
    }

    /// A row with its bits in the new places.
    fn of(&self, row: &VisRow) -> Vec<u8> {
        let mut new = self.empty.clone();
        for leaf in row.iter() {
            let mut next = self.first.get(leaf).copied().flatten();
            while let Some(bit) = next {
                new[bit / 8] |= 1 << (bit % 8);
                next = self.next[bit];
            }
        }
        new
    }
}
