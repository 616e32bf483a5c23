//! Everything visible from everywhere.

use super::{Visibility, cluster_word, compress, leaf_word};
use crate::bytes::{Data, word};
use crate::dialect::VisModel;
use crate::error::{Error, ErrorKind, Place, Result};

impl Visibility<'_> {
    /// Makes everything visible and audible from everywhere; returns whether that changed anything.
    ///
    /// Compressed rows become one row that all leafs or clusters share, since a row for each of them can make the lump
    /// larger than engines read. Rows of a matrix are not shared, and keep their places.
    ///
    /// ```
    /// use bspkit::Bsp;
    /// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// let lump = map.slot("visibility")?.id;
    /// let mut draft = map.draft();
    /// assert!(draft.visibility()?.fill()?);
    /// assert!(draft.bytes(lump)?.len() < map.bytes(lump)?.len());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if a row of a matrix is missing, [`ErrorKind::TooLarge`] if an offset would pass 2 GiB.
    pub fn fill(&mut self) -> Result<bool> {
        let all = self.plain(true);
        let places: Vec<usize> = if self.is_empty() { Vec::new() } else { all.iter().collect() };
        let keys: Vec<_> = self.sets().iter().flat_map(|set| places.iter().map(|place| (*set, *place))).collect();
        let is_full = |row: Result<Option<_>>| row.is_ok_and(|row| row.is_none_or(|row| row == all));
        if keys.iter().all(|(set, place)| is_full(self.row(*set, *place))) {
            return Ok(false);
        }
        let header = self.header();
        let start = i32::try_from(header).map_err(|_| {
            Error::new(ErrorKind::TooLarge, "rows would begin after 2 GiB").at(Place::default().lump(super::LUMP))
        })?;
        match self.model {
            VisModel::Matrix => {
                keys.into_iter().try_for_each(|(set, place)| self.set_row(set, place, all.clone()))?;
                return Ok(true);
            }
            VisModel::Clusters => {
                let mut bytes = self.bytes[..header].to_vec();
                for (set, place) in keys {
                    let at = cluster_word(set, place);
                    bytes[at..at + 4].copy_from_slice(&start.to_le_bytes());
                }
                bytes.extend(compress(all.bytes()));
                self.bytes = bytes.into();
            }
            VisModel::Leafs(rows) => {
                let mut leafs = self.leafs.to_vec();
                // Rows of leafs that the world does not have are not read, but they must not begin outside the lump.
                for at in (1..self.len).map(|leaf| leaf_word(rows, leaf)) {
                    if word(&leafs, at) != Some(-1) {
                        leafs[at..at + 4].copy_from_slice(&start.to_le_bytes());
                    }
                }
                self.leafs = Data::from(leafs);
                self.bytes = compress(all.bytes()).into();
            }
        }
        self.changed.clear();
        self.is_filled = true;
        Ok(true)
    }
}
