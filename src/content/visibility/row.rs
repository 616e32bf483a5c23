//! A row of bits.

use crate::error::{Error, ErrorKind, Result};

/// Visibility from one place: a bit for each leaf or cluster.
///
/// ```
/// use bspkit::content::visibility::VisSet;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let row = map.visibility()?.row(VisSet::Pvs, 0)?.unwrap();
/// assert!(row.sees(0));
/// assert!(row.iter().all(|cluster| row.sees(cluster)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VisRow {
    bytes: Vec<u8>,
    /// The leaf or cluster of the first bit: rows per leaf have no bit for leaf 0.
    first: usize,
    count: usize,
}

impl VisRow {
    pub(super) fn new(bytes: Vec<u8>, first: usize, count: usize) -> Self {
        VisRow { bytes, first, count }
    }

    /// A row of this many bytes in which everything or nothing is visible; the bits after the last one are 0.
    pub(super) fn all(sees: bool, size: usize, first: usize, count: usize) -> Self {
        let mut row = VisRow::new(vec![0; size], first, count);
        if sees {
            row.bytes[..count / 8].fill(0xFF);
            (count / 8 * 8..count).for_each(|bit| row.bytes[bit / 8] |= 1 << (bit % 8));
        }
        row
    }

    /// Whether a leaf or cluster is visible; `false` for leaf 0, which has no bit, and for indices out of range.
    pub fn sees(&self, index: usize) -> bool {
        self.bit(index).is_some_and(|bit| self.bytes[bit / 8] & (1 << (bit % 8)) != 0)
    }

    /// Sets whether a leaf or cluster is visible.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the row has no bit for it.
    pub fn set(&mut self, index: usize, sees: bool) -> Result<()> {
        let Some(bit) = self.bit(index) else {
            let (first, end) = (self.first, self.first + self.count);
            let message = format!("a row has no bit for {index}, only from {first} to below {end}");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        let mask = 1 << (bit % 8);
        if sees {
            self.bytes[bit / 8] |= mask;
        } else {
            self.bytes[bit / 8] &= !mask;
        }
        Ok(())
    }

    /// The leafs or clusters that are seen, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let bytes = self.bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
        let bits =
            bytes.flat_map(|(at, byte)| (0..8).filter(move |bit| byte & (1 << bit) != 0).map(move |bit| 8 * at + bit));
        bits.take_while(|bit| *bit < self.count).map(|bit| bit + self.first)
    }

    /// The bits as they are in the file after decompression, with those after the last one.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn is_like(&self, other: &VisRow) -> bool {
        (self.bytes.len(), self.first, self.count) == (other.bytes.len(), other.first, other.count)
    }

    fn bit(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.first).filter(|bit| *bit < self.count)
    }
}
