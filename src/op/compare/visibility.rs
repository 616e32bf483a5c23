//! Rows of visibility.

use super::change::{Change, RowChange};
use super::{Found, Sides};
use crate::bytes::{Data, index};
use crate::content::visibility::{VisRow, VisSet, Visibility};

/// The most bytes of rows that are compared; beyond, the lump is compared as bytes.
const MOST_BYTES: usize = 64 << 20;

pub(super) fn compare(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.visibility(), sides.new.visibility()) else { return };
    let row_size = new.plain(true).bytes().len();
    let is_alike = old.len() == new.len() && old.plain(true).bytes().len() == row_size;
    if !is_alike || new.len().saturating_mul(row_size).saturating_mul(new.sets().len()) > MOST_BYTES {
        return;
    }
    for (set, index) in new.sets().iter().flat_map(|set| (0..new.len()).map(|index| (*set, index))) {
        let [before, after] = [&*old, &*new].map(|side| row(side, set, index));
        if before == after {
            continue;
        }
        let (gained, lost) = match (before, after) {
            (Some(before), Some(after)) => (only(&after, &before), only(&before, &after)),
            // The row cannot be read in one of the maps.
            _ => (0, 0),
        };
        found.touched().rows += 1;
        found.add(|| Change::Row(RowChange { set, index, gained, lost }));
    }
}

/// A row; everything is visible where there is none.
fn row(visibility: &Visibility<'_>, set: VisSet, index: usize) -> Option<VisRow> {
    Some(visibility.row(set, index).ok()?.unwrap_or_else(|| visibility.plain(true)))
}

/// How many bits only the first row has.
fn only(row: &VisRow, other: &VisRow) -> usize {
    let bits = row.bytes().iter().zip(other.bytes()).map(|(row, other)| row & !other);
    bits.map(|byte| index(byte.count_ones())).sum()
}
