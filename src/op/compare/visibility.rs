//! Rows of visibility.

use std::collections::HashMap;
use std::ops::Range;

use super::change::{Change, RowChange};
use super::{Found, Sides};
use crate::bytes::{Data, index};
use crate::content::visibility::{VisRow, VisSet, Visibility};

/// The most bytes of rows that are compared; beyond, the lump is compared as bytes.
const MOST_BYTES: usize = 64 << 20;

/// Where a row is in the old lump and in the new one.
type Extents = [Option<Range<usize>>; 2];

pub(super) fn compare(sides: &Sides<'_>, bytes: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.visibility(), sides.new.visibility()) else { return };
    let row_size = new.plain(true).bytes().len();
    let is_alike = old.len() == new.len() && old.plain(true).bytes().len() == row_size;
    if !is_alike || new.len().saturating_mul(row_size).saturating_mul(new.sets().len()) > MOST_BYTES {
        return;
    }
    // Leafs of one cluster share their rows, and rows that differ are the same few in most maps.
    let mut known: HashMap<Extents, Option<[usize; 2]>> = HashMap::new();
    for (set, index) in new.sets().iter().flat_map(|set| (0..new.len()).map(|index| (*set, index))) {
        let extents = [&*old, &*new].map(|side| side.extent(set, index).ok().flatten());
        if let [Some(before), Some(after)] = &extents
            && bytes[0].get(before.clone()) == bytes[1].get(after.clone())
        {
            continue;
        }
        let counts = *known.entry(extents).or_insert_with(|| differing([&old, &new].map(|side| row(side, set, index))));
        if let Some([gained, lost]) = counts {
            found.touched().rows += 1;
            found.add(|| Change::Row(RowChange { set, index, gained, lost }));
        }
    }
}

/// A row; everything is visible where there is none. `None` if it cannot be read.
fn row(visibility: &Visibility<'_>, set: VisSet, index: usize) -> Option<VisRow> {
    Some(visibility.row(set, index).ok()?.unwrap_or_else(|| visibility.plain(true)))
}

/// How many bits only the new row has, and only the old one; `None` if they are equal.
fn differing([old, new]: [Option<VisRow>; 2]) -> Option<[usize; 2]> {
    match (&old, &new) {
        _ if old == new => None,
        (Some(old), Some(new)) => Some([only(new, old), only(old, new)]),
        // The row cannot be read in one of the maps.
        _ => Some([0, 0]),
    }
}

/// How many bits only the first row has.
fn only(row: &VisRow, other: &VisRow) -> usize {
    let bits = row.bytes().iter().zip(other.bytes()).map(|(row, other)| row & !other);
    bits.map(|byte| index(byte.count_ones())).sum()
}
