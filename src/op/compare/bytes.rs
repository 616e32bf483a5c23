//! Bytes that are read as nothing else.

use super::Found;
use super::change::{BytesChange, Change};
use crate::bytes::{Data, differences};

pub(super) fn compare([old, new]: &[Data<'_>; 2], found: &mut Found) {
    if old.len() == new.len() {
        for range in differences(old, new) {
            found.touched().bytes += range.len();
            found.add(|| Change::Bytes(BytesChange { old: range.len(), range }));
        }
        return;
    }
    // Bytes were added or removed: everything between the equal start and the equal end.
    let start = differences(old, new).next().map_or(old.len().min(new.len()), |range| range.start);
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (range, old) = (start..new.len() - end, old.len() - end - start);
    found.touched().bytes += range.len().max(old);
    found.add(|| Change::Bytes(BytesChange { range, old }));
}
