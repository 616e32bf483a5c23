//! Selects textures.

use std::ffi::{OsStr, OsString};

use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;

use crate::cli::pairs::unescaped;
use crate::cli::talk::Job;

/// An argument that selects textures.
enum Choice {
    Index(usize),
    Pattern(Pattern),
}

impl Choice {
    fn new(text: &OsStr) -> Self {
        let text = &unescaped(text.as_encoded_bytes())[..];
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

/// The indices of all textures that any pattern matches, in order; all textures if there is no pattern. Warns of a
/// pattern that matches nothing if another one matches.
pub(super) fn chosen(names: &[Option<Vec<u8>>], patterns: &[OsString], job: &mut Job<'_>) -> Vec<usize> {
    if patterns.is_empty() {
        return (0..names.len()).collect();
    }
    let mut is_chosen = vec![false; names.len()];
    let mut idle = Vec::new();
    for pattern in patterns {
        let choice = Choice::new(pattern);
        let about = |(at, name): &(usize, &Option<Vec<u8>>)| choice.matches(*at, name.as_deref());
        let found: Vec<usize> = names.iter().enumerate().filter(about).map(|(at, _)| at).collect();
        if found.is_empty() {
            idle.push(pattern);
        }
        found.into_iter().for_each(|index| is_chosen[index] = true);
    }
    if idle.len() < patterns.len() {
        idle.iter().for_each(|pattern| job.warn_here(&format!("nothing matches {}", text(pattern))));
    }
    (0..names.len()).filter(|index| is_chosen[*index]).collect()
}

/// The message if nothing matches.
pub(super) fn nothing(patterns: &[OsString]) -> String {
    match patterns {
        [] => "no textures".to_owned(),
        patterns => format!("nothing matches {}", patterns.iter().map(|it| text(it)).collect::<Vec<_>>().join(", ")),
    }
}

fn text(argument: &OsStr) -> String {
    escaped(&unescaped(argument.as_encoded_bytes())).to_string()
}

/// A texture in a message.
pub(super) fn named(index: usize, name: Option<&[u8]>) -> String {
    match name {
        Some(name) => format!("texture #{index} `{}`", escaped(name)),
        None => format!("texture #{index}"),
    }
}
