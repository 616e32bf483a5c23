//! Rows of visibility.

use super::change::{Change, RowChange, WordChange};
use super::{Found, Sides};
use crate::bytes::{Data, index};
use crate::content::visibility::{VisRow, VisSet, Visibility};

/// The most bytes of rows that are compared; beyond, the lump is compared as bytes.
const MOST_BYTES: usize = 64 << 20;

pub(super) fn compare(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.visibility(), sides.new.visibility()) else { return };
    let row_size = new.plain(true).bytes().len();
    if sides.is_whole && old.len() != new.len() {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (old, new) = (number(old.len()), number(new.len()));
        found.add(|| Change::Word(WordChange { name: "leafs or clusters", old, new }));
    }
    let is_alike = old.len() == new.len() && old.plain(true).bytes().len() == row_size;
    if !is_alike || new.len().saturating_mul(row_size).saturating_mul(new.sets().len()) > MOST_BYTES {
        return;
    }
    let (mut before, mut after) = (Rows::new(&old), Rows::new(&new));
    for (set, index) in new.sets().iter().flat_map(|set| (0..new.len()).map(|index| (*set, index))) {
        let (before, after) = (before.get(set, index), after.get(set, index));
        if before == after {
            continue;
        }
        found.touched().rows += 1;
        found.add(|| {
            let (gained, lost) = match (before, after) {
                (Some(before), Some(after)) => (only(after, before), only(before, after)),
                // The row cannot be read in one of the maps.
                _ => (0, 0),
            };
            Change::Row(RowChange { set, index, gained, lost })
        });
    }
}

/// The rows of a map, one after the other. Neighbors often share a row, which is read once.
struct Rows<'v> {
    visibility: &'v Visibility<'v>,
    start: Option<usize>,
    row: Option<VisRow>,
}

impl<'v> Rows<'v> {
    fn new(visibility: &'v Visibility<'v>) -> Self {
        Rows { visibility, start: None, row: None }
    }

    /// A row; without one everything is visible. `None` if it cannot be read.
    fn get(&mut self, set: VisSet, index: usize) -> Option<&VisRow> {
        let start = self.visibility.start(set, index).ok().flatten();
        if start.is_none() || start != self.start {
            let row = self.visibility.row(set, index).ok();
            self.row = row.map(|row| row.unwrap_or_else(|| self.visibility.plain(true)));
            self.start = start;
        }
        self.row.as_ref()
    }
}

/// How many bits only the first row has.
fn only(row: &VisRow, other: &VisRow) -> usize {
    let bits = row.bytes().iter().zip(other.bytes()).map(|(row, other)| row & !other);
    bits.map(|byte| index(byte.count_ones())).sum()
}
