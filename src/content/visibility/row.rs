//! A row of bits.

use crate::error::{Error, ErrorKind, Result};

/// What is visible from one place: a bit for each leaf or cluster.
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
    /// What the first bit stands for: rows by leaf have none for leaf 0.
    first: usize,
    count: usize,
}

impl VisRow {
    pub(super) fn new(bytes: Vec<u8>, first: usize, count: usize) -> Self {
        VisRow { bytes, first, count }
    }

    /// A row of this many bytes in which all or nothing is seen; the bits after the last one are 0.
    pub(super) fn all(sees: bool, size: usize, first: usize, count: usize) -> Self {
        let mut row = VisRow::new(vec![0; size], first, count);
        if sees {
            row.bytes[..count / 8].fill(0xFF);
            (count / 8 * 8..count).for_each(|bit| row.bytes[bit / 8] |= 1 << (bit % 8));
        }
        row
    }

    /// Whether a leaf or cluster is seen; leaf 0, which has no bit, and what is not there are not.
    pub fn sees(&self, index: usize) -> bool {
        self.bit(index).is_some_and(|bit| self.bytes[bit / 8] & (1 << (bit % 8)) != 0)
    }

    /// Says whether a leaf or cluster is seen.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the row has no bit for it.
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
        (self.first..self.first + self.count).filter(|index| self.sees(*index))
    }

    /// The bits as the file has them once decompressed, those after the last one included.
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
