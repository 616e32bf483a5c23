//! The rows of its base that a relative keeps: those of all lumps for which it has no rows of its own. If a lump of the
//! relative may have either layout, the relative lists its rows before the base's instead.

use super::Row;

type Slices = &'static [&'static [Row]];

/// How many rows are kept.
pub(super) const fn count(base: Slices, own: Slices) -> usize {
    let mut found = 0;
    let mut at = [0, 0];
    while let Some(row) = next(base, &mut at) {
        if !has(own, row.lump) {
            found += 1;
        }
    }
    found
}

/// The rows that are kept; as many as [`count`] says.
pub(super) const fn rows<const N: usize>(base: Slices, own: Slices) -> [Row; N] {
    let mut rows = [base[0][0]; N];
    let (mut found, mut at) = (0, [0, 0]);
    while let Some(row) = next(base, &mut at) {
        if !has(own, row.lump) {
            rows[found] = *row;
            found += 1;
        }
    }
    rows
}

const fn has(rows: Slices, lump: &str) -> bool {
    let mut at = [0, 0];
    while let Some(row) = next(rows, &mut at) {
        if is_same(row.lump, lump) {
            return true;
        }
    }
    false
}

/// The row at this position: a slice and an index in it. Moves the position to the next row.
const fn next(rows: Slices, at: &mut [usize; 2]) -> Option<&'static Row> {
    while at[0] < rows.len() {
        if at[1] < rows[at[0]].len() {
            at[1] += 1;
            return Some(&rows[at[0]][at[1] - 1]);
        }
        *at = [at[0] + 1, 0];
    }
    None
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
