//! Names and paths of the map in values of entities.

use std::ops::Range;

use super::names::Names;
use super::report::{Renamed, Spot};
use super::text::{Moved, in_path};
use super::there;
use crate::bytes::escaped;
use crate::content::entities::Entities;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};

/// Keys whose value is a map: the next one of `trigger_changelevel` (Quake, GoldSrc, Source), `target_changelevel`
/// (Quake II), `info_changelevel` (Left 4 Dead), `target_level_change` (Raven), and of worldspawn (Quake II).
const LEVEL_KEYS: [&str; 3] = ["map", "nextmap", "mapname"];

/// The key whose value is a list of files in `scripts/vscripts`.
const SCRIPTS: &[u8] = b"vscripts";

/// Separate the parts of an output of Source.
const SEPARATORS: [u8; 2] = [b',', 0x1b];

/// Renames the map in all values.
pub(super) fn rename(draft: &mut Draft<'_>, names: &Names, moved: &Moved, report: &mut Renamed) -> Result<()> {
    let Some(entities) = there(draft.entities())? else { return Ok(()) };
    let ranges = |key: &[u8], value: &[u8]| match () {
        () if is_level(key) => in_level(names, value),
        () if key.eq_ignore_ascii_case(SCRIPTS) => {
            in_words(value, |word| moved.in_reference(names, word, &["scripts/vscripts/"]))
        }
        () => in_parts(value, |byte| SEPARATORS.contains(byte), |part| in_path(names, moved, part)),
    };
    change(entities, names, report, ranges, |_| true)
}

/// Renames the map in the values of another map by which it leads to this one.
pub(super) fn rename_levels(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    let Some(entities) = there(draft.entities())? else { return Ok(()) };
    let ranges = |key: &[u8], value: &[u8]| if is_level(key) { in_level(names, value) } else { Vec::new() };
    let is_command = |value: &[u8]| value.to_ascii_lowercase().windows(11).any(|word| word == b"changelevel");
    change(entities, names, report, ranges, is_command)
}

/// Changes values where `ranges` finds the name, and lists other values that have it and for which `is_listed` holds.
fn change(
    entities: &mut Entities<'_>,
    names: &Names,
    report: &mut Renamed,
    ranges: impl Fn(&[u8], &[u8]) -> Vec<Range<usize>>,
    is_listed: impl Fn(&[u8]) -> bool,
) -> Result<()> {
    let mut edits = Vec::new();
    for entity in entities.iter() {
        for (at, pair) in entity.pairs().enumerate() {
            if !names.are_in(pair.value) {
                continue;
            }
            let ranges = ranges(pair.key, pair.value);
            let place = || Spot::Entity { index: entity.index(), key: pair.key.to_vec() };
            if !ranges.is_empty() {
                let before = entity.pairs().take(at).filter(|other| other.key.eq_ignore_ascii_case(pair.key)).count();
                let new = names.replaced(pair.value, &ranges);
                if is_level(pair.key) && in_level(&names.back(), &new).len() < ranges.len() {
                    return Err(unsayable(entity.index(), &new));
                }
                report.count(names, pair.value, &ranges);
                report.change(place(), pair.value, new.clone());
                edits.push((entity.index(), pair.key.to_vec(), before + 1, new));
            } else if let Some(word) = names.words(pair.value).first().filter(|_| is_listed(pair.value)) {
                report.leave(place(), pair.value, word.start);
            }
        }
    }
    if !names.writes {
        return Ok(());
    }
    for (index, key, nth, value) in edits {
        entities.get_mut(index)?.set_nth(key, nth, value)?;
    }
    Ok(())
}

/// The error for a list of levels in which the new name would be read as something else.
fn unsayable(index: usize, value: &[u8]) -> Error {
    let message = format!("entity {index}: `{}` would not name the map: + and $ have a meaning there", escaped(value));
    Error::new(ErrorKind::Refused, message)
}

fn is_level(key: &[u8]) -> bool {
    LEVEL_KEYS.iter().any(|level| key.eq_ignore_ascii_case(level.as_bytes()))
}

/// Where a value that names a map has the old name. In Quake II it may be a list of maps and films, joined by `+`, each
/// with `*` before it (a new unit) and the name of a start after a `$`.
fn in_level(names: &Names, value: &[u8]) -> Vec<Range<usize>> {
    if names.is_old(value) {
        return Vec::from_iter(Some(0..value.len()));
    }
    in_parts(
        value,
        |byte| *byte == b'+',
        |part| {
            let start = usize::from(part.starts_with(b"*"));
            let end = part.iter().position(|byte| *byte == b'$').unwrap_or(part.len()).max(start);
            names.is_old(&part[start..end]).then_some(start..end).into_iter().collect()
        },
    )
}

fn in_words(value: &[u8], ranges: impl Fn(&[u8]) -> Vec<Range<usize>>) -> Vec<Range<usize>> {
    in_parts(value, u8::is_ascii_whitespace, ranges)
}

/// The ranges in the parts of a value.
fn in_parts(
    value: &[u8],
    is_separator: impl Fn(&u8) -> bool,
    ranges: impl Fn(&[u8]) -> Vec<Range<usize>>,
) -> Vec<Range<usize>> {
    let (mut start, mut found) = (0, Vec::new());
    for part in value.split(is_separator) {
        found.extend(ranges(part).into_iter().map(|range| start + range.start..start + range.end));
        start += part.len() + 1;
    }
    found
}
