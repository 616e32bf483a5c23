//! Lines of text that differ.

use std::collections::HashMap;

use super::change::{LineChange, TextChange};
use crate::bytes::short;
use crate::op::align::aligned;

/// Larger files are not compared line by line.
pub(super) const MOST_TEXT: usize = 4 << 20;

/// How many lines are listed for each change that may be listed.
const LINES: usize = 4;

/// Whether a file seems to be text: it has no control characters but tabs and line breaks.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= MOST_TEXT && bytes.iter().all(|byte| *byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r' | 12))
}

/// The lines that differ; about `most` places are listed. Lines that both texts have once are matched, and what is
/// between them counts as replaced.
pub(super) fn compare(old: &[u8], new: &[u8], most: usize) -> TextChange {
    let (old, new) = (split(old), split(new));
    let mut numbers = HashMap::new();
    let mut number = |lines: &[&'_ [u8]]| -> Vec<u8> {
        let of = |line: &&[u8]| {
            let next = short(numbers.len());
            (*numbers.entry(line.to_vec()).or_insert(next)).to_le_bytes()
        };
        lines.iter().map(of).collect::<Vec<_>>().concat()
    };
    let (old_numbers, new_numbers) = (number(&old), number(&new));
    let mut change = TextChange::default();
    let mut room = most.saturating_mul(LINES);
    for hunk in aligned(&old_numbers, &new_numbers, 4) {
        change.removed += hunk.old.len();
        change.added += hunk.new.len();
        if room == 0 {
            change.more += 1;
            continue;
        }
        let mut listed = |lines: &[&[u8]]| {
            let listed: Vec<Vec<u8>> = lines.iter().take(room).map(|line| line.to_vec()).collect();
            room -= listed.len();
            listed
        };
        let at = (hunk.old.start, hunk.new.start);
        let all = hunk.old.len() + hunk.new.len();
        let (old, new) = (listed(&old[hunk.old]), listed(&new[hunk.new]));
        change.more += usize::from(old.len() + new.len() < all);
        change.hunks.push(LineChange { at, old, new });
    }
    change
}

/// The lines, without line feeds.
fn split(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // A line feed ends a line; nothing is after the last one.
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_that_differ_are_listed_with_their_places() {
        let change = compare(b"a\nb\nc\nd\n", b"a\nx\nc\nd\ne\n", 10);
        assert_eq!((change.added, change.removed, change.more), (2, 1, 0));
        let [first, last] = &change.hunks[..] else { panic!("{change:?}") };
        assert_eq!((first.at, &first.old[..], &first.new[..]), ((1, 1), &[b"b".to_vec()][..], &[b"x".to_vec()][..]));
        assert_eq!((last.at, last.old.len(), &last.new[..]), ((4, 4), 0, &[b"e".to_vec()][..]));
    }

    #[test]
    fn a_text_that_is_all_new_is_cut_off() {
        let [old, new] = ["old", "new"].map(|word| (0..100).map(|line| format!("{word} {line}\n")).collect::<String>());
        let change = compare(old.as_bytes(), new.as_bytes(), 2);
        assert_eq!((change.added, change.removed, change.more), (100, 100, 1));
        assert_eq!(change.hunks.iter().map(|hunk| hunk.old.len() + hunk.new.len()).sum::<usize>(), 8);
    }

    proptest! {
        /// The old text with its hunks replaced is the new one.
        #[test]
        fn hunks_lead_from_one_text_to_the_other(old in "([a-d]\n){0,20}", new in "([a-d]\n){0,20}") {
            let change = compare(old.as_bytes(), new.as_bytes(), 1000);
            let (old, mut made, mut at) = (split(old.as_bytes()), Vec::new(), 0);
            for hunk in &change.hunks {
                made.extend(old[at..hunk.at.0].iter().map(|line| line.to_vec()));
                prop_assert_eq!(made.len(), hunk.at.1);
                made.extend(hunk.new.iter().cloned());
                at = hunk.at.0 + hunk.old.len();
            }
            made.extend(old[at..].iter().map(|line| line.to_vec()));
            prop_assert_eq!(made, split(new.as_bytes()));
        }
    }
}
