//! `--shard I/N`: one of N parts of the maps.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The number of a part, counted from 1, and the number of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    part: usize,
    parts: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || format!("`{text}` is not a part: write I/N, for example 2/4 for the second of four");
        // `parse` alone would accept a sign.
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let (part, parts) = text.split_once('/').ok_or_else(bad)?;
        let (part, parts) = (number(part).ok_or_else(bad)?, number(parts).ok_or_else(bad)?);
        match (part, parts) {
            (_, 0) => Err("the number of parts must be at least 1: 2/4 is the second of four".to_owned()),
            (0, _) => Err("parts are counted from 1: 2/4 is the second of four".to_owned()),
            (part, parts) if part > parts => Err(format!("there is no part {part} of {parts}")),
            _ => Ok(Shard { part, parts }),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

impl Shard {
    /// The range of this part in a sorted list of `all` items. The parts follow each other without gaps, cover the
    /// list, and their sizes differ by at most one.
    pub(crate) fn range(self, all: usize) -> Range<usize> {
        let (size, larger) = (all / self.parts, all % self.parts);
        let start = |part: usize| part.saturating_mul(size) + part.min(larger);
        start(self.part - 1)..start(self.part)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_disjoint_and_cover_everything(all in 0_usize..5000, parts in 1_usize..200) {
            let ranges: Vec<_> = (1..=parts).map(|part| Shard { part, parts }.range(all)).collect();
            prop_assert_eq!(ranges[0].start, 0);
            prop_assert_eq!(ranges[parts - 1].end, all);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            let sizes = || ranges.iter().map(ExactSizeIterator::len);
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
        }

        #[test]
        fn no_part_is_out_of_bounds(all in 0_usize..50, part in 1_usize.., parts in 1_usize..) {
            let (part, parts) = (part.min(parts), part.max(parts));
            let range = Shard { part, parts }.range(all);
            prop_assert!(range.start <= range.end && range.end <= all);
        }
    }

    #[test]
    fn invalid_parts_are_refused() {
        assert_eq!("2/4".parse(), Ok(Shard { part: 2, parts: 4 }));
        assert_eq!("1/1".parse::<Shard>().unwrap().range(7), 0..7);
        for bad in
            ["", "/", "1", "1/", "/2", "0/4", "5/4", "1/0", "0/0", "-1/4", "+1/4", "1/4/2", "a/b", " 1/2", "1.0/2"]
        {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        assert!("1/99999999999999999999999".parse::<Shard>().is_err());
    }
}
