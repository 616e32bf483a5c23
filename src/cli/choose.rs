//! Selects named things of a map: embedded files, textures.

use std::ffi::{OsStr, OsString};

use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::near;

use super::pairs::unescaped;
use super::talk::Job;

/// An argument that selects by index or by name.
pub(crate) enum Choice {
    Index(usize),
    Pattern(Pattern),
}

/// The names that a map has, some of which may be unreadable.
pub(crate) struct Names {
    /// What has these names: `textures`.
    pub(crate) kind: &'static str,
    pub(crate) names: Vec<Option<Vec<u8>>>,
    /// Whether arguments have escapes such as `\xff`.
    pub(crate) has_escapes: bool,
}

impl Choice {
    pub(crate) fn new(text: &[u8]) -> Self {
        if let Some(name) = text.strip_prefix(b"=") {
            return Choice::Pattern(Pattern::literal(name));
        }
        let index = text.strip_prefix(b"#").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        index.map_or_else(|| Choice::Pattern(Pattern::new(text)), Choice::Index)
    }

    fn matches(&self, index: usize, name: Option<&[u8]>) -> bool {
        match self {
            Choice::Index(own) => *own == index,
            Choice::Pattern(pattern) => name.is_some_and(|name| pattern.matches(name)),
        }
    }
}

impl Names {
    /// The indices of the names that an argument matches.
    pub(crate) fn of(&self, argument: &OsStr) -> Vec<usize> {
        let choice = Choice::new(&self.bytes(argument));
        (0..self.names.len()).filter(|at| choice.matches(*at, self.names[*at].as_deref())).collect()
    }

    /// The indices of all names that any pattern matches, in order; all of them if there is no pattern. Warns of a
    /// pattern that matches nothing if another one matches.
    pub(crate) fn chosen(&self, patterns: &[OsString], job: &mut Job<'_>) -> Vec<usize> {
        let found = patterns.iter().map(|pattern| self.of(pattern));
        let found: Vec<Vec<usize>> = found.collect();
        let idle = || patterns.iter().zip(&found).filter(|(_, found)| found.is_empty());
        if idle().count() < patterns.len() {
            idle().for_each(|(pattern, _)| job.warn_here(&self.nothing(std::slice::from_ref(pattern))));
        }
        let mut is_chosen = vec![patterns.is_empty(); self.names.len()];
        found.into_iter().flatten().for_each(|index| is_chosen[index] = true);
        (0..self.names.len()).filter(|index| is_chosen[*index]).collect()
    }

    /// The message if no pattern matches.
    pub(crate) fn nothing(&self, patterns: &[OsString]) -> String {
        if patterns.is_empty() {
            return format!("no {}", self.kind);
        }
        let patterns: Vec<Vec<u8>> = patterns.iter().map(|pattern| self.bytes(pattern)).collect();
        let text = |name: &[u8]| escaped(name).to_string();
        let what = patterns.iter().map(|pattern| text(pattern)).collect::<Vec<_>>().join(", ");
        let close = patterns.iter().flat_map(|pattern| {
            let name: Vec<u8> = pattern.iter().copied().filter(|byte| !b"*?".contains(byte)).collect();
            near(name, self.names.iter().flatten().map(|name| &name[..]))
        });
        match close.map(text).collect::<Vec<_>>().join(" or ") {
            close if close.is_empty() => format!("nothing matches {what}"),
            close => format!("nothing matches {what}; did you mean {close}?"),
        }
    }

    fn bytes(&self, argument: &OsStr) -> Vec<u8> {
        if self.has_escapes { unescaped(argument) } else { argument.as_encoded_bytes().to_vec() }
    }
}
