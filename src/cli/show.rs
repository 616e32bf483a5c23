//! The text of JSON documents and of counts.

use anyhow::Result;
use serde::Serialize;

pub(crate) use bspkit::face::report::{Head, ValueJson, text_and_raw};
pub(crate) use bspkit::face::shown;

/// An indented document for a single map, one line for each of several.
pub(crate) fn json(document: &impl Serialize, many: bool) -> Result<Vec<u8>> {
    Ok(if many { serde_json::to_vec(document)? } else { serde_json::to_vec_pretty(document)? })
}

/// `3 entities`, `1 entity`.
pub(crate) fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// How many lines of a kind are printed.
const MOST_OF_A_KIND: usize = 10;

/// Lines of several kinds: the first ten of each are printed, and of the rest the number.
#[derive(Default)]
pub(crate) struct Few<'k> {
    counts: Vec<(&'k str, usize)>,
    all: bool,
}

impl<'k> Few<'k> {
    /// With `all` every line is printed.
    pub(crate) fn new(all: bool) -> Self {
        Few { counts: Vec::new(), all }
    }

    /// Whether one more line of a kind is printed. There are few kinds.
    pub(crate) fn takes(&mut self, kind: &'k str) -> bool {
        let at = self.counts.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.counts.push((kind, 0));
            self.counts.len() - 1
        });
        self.counts[at].1 += 1;
        self.all || self.counts[at].1 <= MOST_OF_A_KIND
    }

    /// What is said of the lines that were not printed: a sentence for each kind.
    pub(crate) fn rest(&self) -> impl Iterator<Item = String> {
        let rest = self.counts.iter().map(|(kind, count)| (kind, count.saturating_sub(MOST_OF_A_KIND)));
        let rest = rest.filter(|(_, more)| *more > 0 && !self.all);
        rest.map(|(kind, more)| format!("and {more} more ({kind}); -v lists them"))
    }
}
