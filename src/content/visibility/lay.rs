//! Writes the lump with changed rows: compressed, and in another order.

use std::collections::{BTreeMap, HashMap};

use super::{LUMP, VisRow, VisSet, Visibility, cluster_word, leaf_word};
use crate::bytes::{Relay, wide, word};
use crate::dialect::VisModel;
use crate::error::{Error, ErrorKind, Place, Result};

// Writes the lump with changed rows.
//
// A changed row is written at its old offset, the bytes after it move by the difference, and all offsets are updated.
// So the rows keep their order and gaps, and undoing an edit gives the old bytes. A row that others share, or that
// overlaps others, is written after the last one instead, and the others keep theirs.

type Key = (VisSet, usize);

/// Changed rows with the same old offset.
struct Group {
    end: usize,
    rows: Vec<Key>,
    /// Whether another row uses the old bytes.
    is_kept: bool,
}

impl Visibility<'_> {
    /// The visibility lump with the changed rows, and the leafs lump, which has the offsets if rows are per leaf.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if an offset would pass 2 GiB.
    pub(super) fn to_bytes(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        if let VisModel::Matrix = self.model {
            let mut bytes = self.bytes.to_vec();
            for ((_, index), row) in &self.changed {
                let start = self.header() + index * self.size;
                bytes[start..start + self.size].copy_from_slice(row.bytes());
            }
            return Ok((bytes, Vec::new()));
        }
        let (groups, mut loose) = self.groups();
        let mut rows = Relay::new(&self.bytes);
        for (start, group) in groups {
            let winner = group.rows.first().filter(|_| !group.is_kept).and_then(|key| self.changed.get(key));
            if let Some(winner) = winner {
                rows.replace(start..group.end, &compress(winner.bytes()), 1);
            }
            let others = group.rows.into_iter().filter(|key| self.changed.get(key) != winner);
            loose.extend(others.map(|key| (key, start)));
        }
        loose.sort_unstable();
        let mut places: HashMap<(usize, &VisRow), usize> = HashMap::new();
        let mut starts: HashMap<Key, usize> = HashMap::new();
        for (key, start) in loose {
            let Some(row) = self.changed.get(&key) else { continue };
            // Places that shared a row and get equal rows share one again.
            let place = places.entry((start, row)).or_insert_with(|| rows.append(&compress(row.bytes()), 1));
            starts.insert(key, *place);
        }
        let words = self.words(&mut rows, &starts)?;
        let (mut rows, mut leafs) = (rows.into_bytes(), self.leafs.to_vec());
        for ((set, index), word) in words {
            let (bytes, at) = match self.model {
                VisModel::Leafs(model) => (&mut leafs, leaf_word(model, index)),
                _ => (&mut rows, cluster_word(set, index)),
            };
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        Ok((rows, leafs))
    }

    /// The new offsets of all rows. A value that is not the offset of a row stays.
    fn words(&self, rows: &mut Relay<'_>, starts: &HashMap<Key, usize>) -> Result<Vec<(Key, i32)>> {
        let mut words = Vec::new();
        for key in self.sets().iter().flat_map(|set| (0..self.len).map(|index| (*set, index))) {
            let start = match (starts.get(&key), self.offset(key.0, key.1)) {
                (Some(start), _) => i32::try_from(*start).ok(),
                (None, Some(says)) => rows.follow(says),
                (None, None) => continue,
            };
            let too_large = || {
                let place = Place::default().lump(LUMP).record(key.1);
                Error::new(ErrorKind::TooLarge, format!("row {} would start after 2 GiB", key.1)).at(place)
            };
            words.push((key, start.ok_or_else(too_large)?));
        }
        Ok(words)
    }

    /// The changed rows by old offset, and those without one.
    fn groups(&self) -> (BTreeMap<usize, Group>, Vec<(Key, usize)>) {
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        let mut loose = Vec::new();
        for key in self.changed.keys() {
            match self.extent(key.0, key.1) {
                Ok(Some(range)) => {
                    let group = Group { end: range.end, rows: Vec::new(), is_kept: false };
                    groups.entry(range.start).or_insert(group).rows.push(*key);
                }
                // No row, or one that cannot be read.
                Ok(None) | Err(_) => loose.push((*key, usize::MAX)),
            }
        }
        if groups.is_empty() {
            return (groups, loose);
        }
        for set in self.sets() {
            for index in 0..self.len {
                let Some(start) = self.offset(*set, index).and_then(|offset| usize::try_from(offset).ok()) else {
                    continue;
                };
                let end = start.saturating_add(self.span(start, |_, _| {}).0.max(1));
                // A compressed row has at most two bytes per byte.
                for (at, group) in groups.range_mut(start.saturating_sub(2 * self.size)..end) {
                    let is_own = *at == start && self.changed.contains_key(&(*set, index));
                    group.is_kept |= group.end > start && !is_own;
                }
            }
        }
        (groups, loose)
    }
}

// The compression of rows: a byte other than 0 is stored as it is; a 0 is followed by the number of zeros
// (`CompressVis` and `DecompressVis` of id's tools).

const ZERO_RUN: &str = "has a run of 0 zeros";
const CUT: &str = "runs past the end of the lump";

/// Compresses a row as compilers do: runs of at most 255 zeros, the last one up to the row's end.
///
/// ```
/// use bspkit::content::visibility::compress;
/// assert_eq!(compress(&[7, 0, 0, 0, 9, 0]), [7, 0, 3, 9, 0, 1]);
/// ```
pub fn compress(row: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(row.len());
    let mut rest = row;
    while let Some((&byte, remaining)) = rest.split_first() {
        out.push(byte);
        rest = remaining;
        if byte == 0 {
            let more = remaining.iter().take(254).take_while(|byte| **byte == 0).count();
            out.push(u8::try_from(more + 1).unwrap_or(u8::MAX));
            rest = &remaining[more..];
        }
    }
    out
}

/// Decompresses a row of this many bytes, and says how many compressed bytes it took. A run that passes the row's end
/// is cut there: compilers of the HLT family compress longer rows than engines read.
///
/// ```
/// use bspkit::content::visibility::decompress;
/// assert_eq!(decompress(&[7, 0, 9, 1, 2, 3], 4)?, (vec![7, 0, 0, 0], 3));
/// assert!(decompress(&[7, 0, 0], 4).is_err());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Malformed`] with the offset if the bytes end before the row does, or a run has the length 0.
pub fn decompress(bytes: &[u8], len: usize) -> Result<(Vec<u8>, usize)> {
    let mut row = Vec::with_capacity(len.min(bytes.len()));
    let (used, end) = walk(bytes, len, |byte, count| row.extend(std::iter::repeat_n(byte, count)));
    let malformed = |why: &str| {
        let message = format!("the row {why}");
        Error::new(ErrorKind::Malformed, message).at(Place::default().offset(wide(used)))
    };
    end.map(|()| (row, used)).map_err(malformed)
}

/// Walks through a row; returns its compressed bytes, up to the byte that cannot be read, and the reason if there is
/// one.
pub(super) fn walk(bytes: &[u8], len: usize, mut emit: impl FnMut(u8, usize)) -> (usize, Result<(), &'static str>) {
    let (mut used, mut left) = (0, len);
    while left > 0 {
        let count = match bytes[used..] {
            [0, 0, ..] => return (used + 2, Err(ZERO_RUN)),
            [] | [0] => return (bytes.len(), Err(CUT)),
            [0, count, ..] => usize::from(count).min(left),
            [_, ..] => 1,
        };
        emit(bytes[used], count);
        used += if bytes[used] == 0 { 2 } else { 1 };
        left -= count;
    }
    (used, Ok(()))
}

// Visibility of leafs that come into another order.

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_row_survives(row in proptest::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 0..2000)) {
            let packed = compress(&row);
            prop_assert_eq!(decompress(&packed, row.len()).unwrap(), (row, packed.len()));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, len in 0usize..5000) {
            if let Ok((row, used)) = decompress(&bytes, len) {
                prop_assert_eq!(row.len(), len);
                prop_assert!(used <= bytes.len());
                prop_assert!(compress(&row).len() <= 2 * len);
            }
        }
    }

    #[test]
    fn runs_end_at_255_and_at_the_end_of_the_row() {
        assert_eq!(compress(&[0; 600]), [0, 255, 0, 255, 0, 90]);
        assert_eq!(compress(&[0; 255]), [0, 255]);
        assert!(compress(&[]).is_empty());
    }

    #[test]
    fn a_length_from_a_header_costs_nothing() {
        assert!(decompress(&[0, 255, 1], usize::MAX).is_err());
    }
}
