//! The compression of rows: a byte other than 0 is stored as it is; a 0 is followed by the number of zeros
//! (`CompressVis` and `DecompressVis` of id's tools).

use crate::bytes::wide;
use crate::error::{Error, ErrorKind, Place, Result};

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
