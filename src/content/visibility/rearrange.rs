//! Visibility of leafs that come into another order.

use std::collections::BTreeMap;

use super::{LUMP, VisSet, Visibility, compress, leaf_word};
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
            let mut new = vec![0_u8; columns.len().div_ceil(8)];
            for (bit, column) in columns.iter().enumerate() {
                let is_seen = match column {
                    Column::Old(leaf) => row.sees(*leaf),
                    Column::Seen => true,
                };
                new[bit / 8] |= u8::from(is_seen) << (bit % 8);
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
