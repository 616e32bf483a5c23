//! Paths in the texts of embedded files, and references to files that are renamed.

use std::collections::HashMap;
use std::ops::Range;

use super::files::ROOTS;
use super::names::{Names, Scope};
use super::report::{Renamed, Spot};
use crate::content::assets::keyvalues::KeyValues;
use crate::content::pak::lookup_name;
use crate::error::Result;

/// The embedded files that are renamed by their names alone, as texts can name them: the whole path, in the form in
/// which engines look it up, by itself and without its extension.
#[derive(Debug, Default)]
pub(super) struct Moved(HashMap<Vec<u8>, Vec<u8>>);

impl Moved {
    pub(super) fn add(&mut self, name: &[u8]) {
        let name = lookup_name(name);
        let dot = name.iter().rposition(|byte| *byte == b'.').unwrap_or(name.len());
        self.0.insert(name[..dot].to_vec(), name.clone());
        self.0.insert(name.clone(), name);
    }

    /// Where a reference to one of the files has the name of the map.
    pub(super) fn in_reference(&self, names: &Names, text: &[u8], roots: &[&str]) -> Vec<Range<usize>> {
        let folded = lookup_name(text);
        let in_root = |root: &&str| {
            let file = self.0.get(&[root.as_bytes(), &folded].concat())?;
            let shifted = |range: Range<usize>| Some(range.start.checked_sub(root.len())?..range.end - root.len());
            names.in_file(file).into_iter().map(shifted).collect::<Option<Vec<_>>>()
        };
        roots.iter().find_map(in_root).unwrap_or_default()
    }
}

/// Where a path in a text or a value has the name of the map.
pub(super) fn in_path(names: &Names, moved: &Moved, path: &[u8]) -> Vec<Range<usize>> {
    let ranges = names.in_folders(path);
    let has_folder = || path.iter().any(|byte| matches!(byte, b'/' | b'\\'));
    if ranges.is_empty() && names.scope == Scope::All && has_folder() {
        return moved.in_reference(names, path, &ROOTS);
    }
    ranges
}

/// Whether a file is the overview of the map, whose text names the map and its images, packed or not.
fn is_overview(names: &Names, file: &[u8]) -> bool {
    names.scope == Scope::All
        && lookup_name(file).starts_with(b"resource/overviews/")
        && !names.in_file(file).is_empty()
}

/// Where a key or value of an overview has the name of the map.
fn in_overview(names: &Names, token: &[u8]) -> Vec<Range<usize>> {
    const ROOT: &[u8] = b"materials/";
    if names.is_old(token) {
        return Vec::from_iter(Some(0..token.len()));
    }
    let ranges = names.in_file(&[ROOT, token, b".vmt"].concat());
    ranges.into_iter().filter_map(|range| Some(range.start.checked_sub(ROOT.len())?..range.end - ROOT.len())).collect()
}

/// The text of an embedded file with the new paths; `None` if none changes. What it has of the old name otherwise is
/// listed.
///
/// # Errors
/// As [`KeyValues::parse`].
pub(super) fn rename(
    names: &Names,
    moved: &Moved,
    file: &[u8],
    text: &[u8],
    report: &mut Renamed,
) -> Result<Option<Vec<u8>>> {
    if !names.are_in(text) {
        return Ok(None);
    }
    let read = KeyValues::parse(text)?;
    let is_overview = is_overview(names, file);
    let (mut edits, mut done) = (Vec::new(), Vec::new());
    for pair in read.iter() {
        let tokens = [Some(pair.key_token()), pair.value_token()];
        for token in tokens.into_iter().flatten() {
            let path = &text[token.range()];
            let mut ranges = in_path(names, moved, path);
            if ranges.is_empty() && is_overview {
                ranges = in_overview(names, path);
            }
            if ranges.is_empty() {
                continue;
            }
            let new = names.replaced(path, &ranges);
            report.count(names, path, &ranges);
            report.change(Spot::Text { file: file.to_vec(), line: pair.line() }, path, new.clone());
            done.extend(ranges.iter().map(|range| token.range().start + range.start));
            edits.push((token, new));
        }
    }
    if names.scope == Scope::All {
        list(file, text, names.words(text).into_iter().filter(|word| !done.contains(&word.start)), report);
    }
    if edits.is_empty() { Ok(None) } else { read.with(edits).map(Some) }
}

/// Lists the names in a text that stay.
pub(super) fn list(file: &[u8], text: &[u8], words: impl IntoIterator<Item = Range<usize>>, report: &mut Renamed) {
    let (mut at, mut line) = (0, 1);
    for word in words {
        line += memchr::memchr_iter(b'\n', &text[at..word.start]).count();
        at = word.start;
        report.leave(Spot::Text { file: file.to_vec(), line }, text, word.start);
    }
}
