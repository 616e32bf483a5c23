//! Selects embedded files.

use std::ffi::{OsStr, OsString};

use bspkit::bytes::escaped;
use bspkit::content::pak::{Pak, Pattern};

use crate::cli::talk::Job;

/// An argument that selects files.
pub(super) enum Choice {
    Index(usize),
    Pattern(Pattern),
}

impl Choice {
    pub(super) fn new(text: &OsStr) -> Self {
        let text = text.as_encoded_bytes();
        let index = text.strip_prefix(b"#").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        index.map_or_else(|| Choice::Pattern(Pattern::new(text)), Choice::Index)
    }

    /// The indices of the matching files.
    pub(super) fn of(&self, pak: &Pak<'_>) -> Vec<usize> {
        match self {
            Choice::Index(index) => (*index < pak.len()).then_some(*index).into_iter().collect(),
            Choice::Pattern(pattern) => pak.select(pattern),
        }
    }
}

/// The indices of all files that any pattern matches, in order; all files if there is no pattern. Warns of a pattern
/// that matches nothing if another one matches.
pub(super) fn chosen(pak: &Pak<'_>, patterns: &[OsString], job: &mut Job<'_>) -> Vec<usize> {
    if patterns.is_empty() {
        return (0..pak.len()).collect();
    }
    let mut is_chosen = vec![false; pak.len()];
    let mut idle = Vec::new();
    for pattern in patterns {
        let found = Choice::new(pattern).of(pak);
        if found.is_empty() {
            idle.push(pattern);
        }
        found.into_iter().for_each(|index| is_chosen[index] = true);
    }
    if idle.len() < patterns.len() {
        idle.iter().for_each(|pattern| job.warn_here(&format!("nothing matches {}", text(pattern))));
    }
    (0..pak.len()).filter(|index| is_chosen[*index]).collect()
}

/// The message if nothing matches.
pub(super) fn nothing(patterns: &[OsString]) -> String {
    match patterns {
        [] => "no embedded files".to_owned(),
        patterns => format!("nothing matches {}", patterns.iter().map(|it| text(it)).collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn text(argument: &OsStr) -> String {
    escaped(argument.as_encoded_bytes()).to_string()
}
