//! Where a map's name is: in embedded files, in their texts, in values of entities.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::names::{Kind, Names, ROOTS, Scope};
use super::{Renamed, Spot, there};
use crate::assets::keyvalues::KeyValues;
use crate::assets::sound::name_start;
use crate::assets::utf16::{Order, searchable};
use bspkit::Draft;
use bspkit::bytes::escaped;
use bspkit::content::entities::{Entities, Output};
use bspkit::content::pak::{Entry, Pak, lookup_name};
use bspkit::{Error, ErrorKind, Result};

// Embedded files: their names, the paths in their texts, and the names that stay.

/// A larger file is not searched.
const MOST_SEARCHED: usize = 16 << 20;

/// Renames embedded files and the paths in their texts. Gives the files whose names alone belong to the map.
pub(super) fn rename_pak(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<Moved> {
    let mut moved = Moved::default();
    let Some(pak) = there(draft.pak())? else { return Ok(moved) };
    let mut new_names = Vec::new();
    for file in pak.iter() {
        let ranges = names.in_file(file.name());
        if !ranges.is_empty() {
            let new = names.replaced(file.name(), &ranges);
            report.count(names, file.name(), &ranges);
            report.change(Spot::File { index: file.index() }, file.name(), new.clone());
            new_names.push((file.index(), new));
            if names.in_folders(file.name()).is_empty() {
                moved.add(file.name());
            }
        } else if let Some(at) = in_any_part(names, file.name()) {
            report.leave(Spot::File { index: file.index() }, file.name(), at);
        }
    }
    let texts = texts(pak, names, &moved, report)?;
    if !names.writes {
        return Ok(moved);
    }
    for (index, text) in texts {
        pak.update(index, text)?;
    }
    pak.rename_all(&new_names)?;
    Ok(moved)
}

/// The texts that change, by the index of the file.
fn texts(pak: &Pak<'_>, names: &Names, moved: &Moved, report: &mut Renamed) -> Result<Vec<(usize, Vec<u8>)>> {
    let is_unknown = |file: &Entry<'_, '_>| Kind::of(file.name()) == Kind::Unknown;
    let searched = pak.iter().filter(|file| names.searches(Kind::of(file.name())));
    let (unknown, known): (Vec<_>, Vec<_>) = searched.partition(is_unknown);
    let [mut known, mut unknown] = [known, unknown].map(|files| files.iter().map(Entry::index).collect::<Vec<_>>());
    pak.check_total_size(&known)?;
    if let Err(error) = pak.check_total_size(&[&known[..], &unknown].concat()) {
        let message = format!("{} embedded files of unknown forms are not searched for names", unknown.len());
        report.unsearched.push(Error::new(error.kind(), message).with_source(error));
        unknown.clear();
    }
    known.append(&mut unknown);
    known.sort_unstable();
    let mut found = Vec::new();
    for file in known.iter().filter_map(|index| pak.get(*index)) {
        match search(&file, names, moved, report) {
            Ok(Some(text)) => found.push((file.index(), text)),
            Ok(None) => {}
            // It is not known whether such a file can have names.
            Err(error) if is_unknown(&file) => report.unsearched.push(error),
            Err(error) => report.problems.push(error),
        }
    }
    Ok(found)
}

fn search(file: &Entry<'_, '_>, names: &Names, moved: &Moved, report: &mut Renamed) -> Result<Option<Vec<u8>>> {
    if file.size() > MOST_SEARCHED {
        let message = format!("it has {} bytes, and at most {MOST_SEARCHED} are searched", file.size());
        return Err(unread(file, Error::new(ErrorKind::TooLarge, message)));
    }
    let data = file.data().map_err(|error| unread(file, error))?;
    let text = searchable(&data);
    let kind = match Kind::of(file.name()) {
        Kind::Unknown if memchr::memchr(0, &text).is_some() => Kind::Binary,
        Kind::Unknown => Kind::Text,
        known => known,
    };
    match kind {
        Kind::KeyValues => {
            return rename_encoded(names, moved, file.name(), &data, report).map_err(|error| unread(file, error));
        }
        Kind::Binary => {
            for at in in_bytes(names, &data) {
                report.leave(Spot::Bytes { file: file.name().to_vec(), offset: at }, &data, at);
            }
        }
        Kind::Text => list(file.name(), &text, names.words(&text), report),
        Kind::Unknown | Kind::Other => {}
    }
    Ok(None)
}

/// The error for a file that is not searched.
fn unread(file: &Entry<'_, '_>, error: Error) -> Error {
    let name = bspkit::bytes::escaped(file.name());
    Error::new(error.kind(), format!("`{name}` is not searched for names")).with_source(error)
}

/// Where bytes have `maps/NAME/`.
fn in_bytes(names: &Names, data: &[u8]) -> Vec<usize> {
    let is_slash = |at: Option<&u8>| matches!(at, Some(b'/' | b'\\'));
    let is_path = |at: &usize| {
        let before = at.checked_sub(5).map(|start| &data[start..*at]);
        before.is_some_and(|before| before[..4].eq_ignore_ascii_case(b"maps") && is_slash(before.last()))
            && is_slash(data.get(at + names.old.len()))
    };
    names.words(data).into_iter().map(|word| word.start).filter(is_path).collect()
}

/// Where a path has the old name between other letters than letters and digits.
fn in_any_part(names: &Names, path: &[u8]) -> Option<usize> {
    if names.scope == Scope::Cubemaps {
        return None;
    }
    let spaced =
        |text: &[u8]| text.iter().map(|byte| if b"_-".contains(byte) { b' ' } else { *byte }).collect::<Vec<_>>();
    let plain = Names { old: spaced(&names.old), ..names.clone() };
    // The last place: most often the name of the file.
    plain.words(&spaced(path)).last().map(|word| word.start)
}

// Paths in the texts of embedded files, and references to files that are renamed.

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

/// Where a path in a text or a value has the name of the map. Before that of a sound may be characters that say how it
/// is played.
pub(super) fn in_path(names: &Names, moved: &Moved, path: &[u8]) -> Vec<Range<usize>> {
    let start = name_start(path);
    let found = in_plain_path(names, moved, path);
    match found.is_empty() && start > 0 {
        true => shifted(in_plain_path(names, moved, &path[start..]), start).collect(),
        false => found,
    }
}

fn in_plain_path(names: &Names, moved: &Moved, path: &[u8]) -> Vec<Range<usize>> {
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

/// The text of an embedded file in any encoding with the new paths; `None` if none changes. One in UTF-16 stays so.
fn rename_encoded(
    names: &Names,
    moved: &Moved,
    file: &[u8],
    text: &[u8],
    report: &mut Renamed,
) -> Result<Option<Vec<u8>>> {
    if let Some((order, text)) = Order::decode_whole(text) {
        let new = rename_text(names, moved, file, text.as_bytes(), report)?;
        return new.map(|new| encoded(order, new)).transpose();
    }
    match searchable(text) {
        Cow::Borrowed(text) => rename_text(names, moved, file, text, report),
        Cow::Owned(text) if !names.are_in(&text) => Ok(None),
        Cow::Owned(_) => Err(Error::new(ErrorKind::Malformed, "it is UTF-16 without its mark, or not whole")),
    }
}

fn encoded(order: Order, text: Vec<u8>) -> Result<Vec<u8>> {
    let text = String::from_utf8(text).map_err(|_| Error::new(ErrorKind::Refused, "the new path is not UTF-8"))?;
    Ok(order.encode(&text))
}

/// The text of an embedded file with the new paths; `None` if none changes. What it has of the old name otherwise is
/// listed.
///
/// # Errors
/// As [`KeyValues::parse`].
pub(super) fn rename_text(
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

// Names and paths of the map in values of entities.

/// Keys whose value is a map: the next one of `trigger_changelevel` (Quake, GoldSrc, Source), `target_changelevel`
/// (Quake II), `info_changelevel` (Left 4 Dead), `target_level_change` (Raven), and of worldspawn (Quake II).
const LEVEL_KEYS: [&str; 3] = ["map", "nextmap", "mapname"];

/// The key whose value is a list of files in `scripts/vscripts`.
const SCRIPTS: &[u8] = b"vscripts";

/// Separate the parts of an output of Source, of one that an output adds, and the paths of a list. No path has them.
const SEPARATORS: [u8; 5] = [b',', 0x1b, b':', b';', b'|'];

/// The input whose parameter is a file in `scripts/vscripts`.
const RUN_SCRIPT: &[u8] = b"RunScriptFile";

/// Renames the map in all values.
pub(super) fn rename_entities(draft: &mut Draft<'_>, names: &Names, moved: &Moved, report: &mut Renamed) -> Result<()> {
    let Some(entities) = there(draft.entities())? else { return Ok(()) };
    let ranges = |key: &[u8], value: &[u8]| match () {
        () if is_level(key) => in_level(names, value),
        () if key.eq_ignore_ascii_case(SCRIPTS) => in_words(value, |word| in_script(names, moved, word)),
        () => in_value(names, moved, value),
    };
    change(entities, names, report, ranges, |_| true)
}

/// Where the name of a script has that of the map.
fn in_script(names: &Names, moved: &Moved, script: &[u8]) -> Vec<Range<usize>> {
    let found = moved.in_reference(names, script, &["scripts/vscripts/"]);
    if found.is_empty() { in_path(names, moved, script) } else { found }
}

/// Where a value of any key has the name of the map: in a path, in each path of a list, and in what an output gives an
/// input.
fn in_value(names: &Names, moved: &Moved, value: &[u8]) -> Vec<Range<usize>> {
    let before = std::cell::Cell::new(&b""[..]);
    let separates = |byte: &u8| SEPARATORS.contains(byte);
    // An input may take a command or a pair: words, of which one is a path.
    let is_output = Output::parse(value).is_some();
    in_parts(value, separates, |part| {
        let own = part.trim_ascii_start();
        let find = if before.replace(own).eq_ignore_ascii_case(RUN_SCRIPT) { in_script } else { in_path };
        let found = find(names, moved, own);
        let found = match found.is_empty() && is_output {
            true => in_words(own, |word| in_path(names, moved, word)),
            false => found,
        };
        shifted(found, part.len() - own.len()).collect()
    })
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
                let is_of_level = is_level(pair.key);
                let names = if is_of_level { &names.as_given() } else { names };
                let new = names.replaced(pair.value, &ranges);
                if is_of_level && in_level(&names.back(), &new).len() < ranges.len() {
                    return Err(unsayable(entity.index(), &new));
                }
                report.count(names, pair.value, &ranges);
                report.change(place(), pair.value, new.clone());
                edits.push((entity.index(), pair.key.to_vec(), before + 1, new));
            }
            let is_left = |word: &Range<usize>| is_listed(pair.value) && !ranges.contains(word);
            if let Some(word) = names.words(pair.value).into_iter().find(is_left) {
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

fn in_words<'v>(value: &'v [u8], ranges: impl Fn(&'v [u8]) -> Vec<Range<usize>>) -> Vec<Range<usize>> {
    in_parts(value, u8::is_ascii_whitespace, ranges)
}

/// The ranges in the parts of a value.
fn in_parts<'v>(
    value: &'v [u8],
    is_separator: impl Fn(&u8) -> bool,
    ranges: impl Fn(&'v [u8]) -> Vec<Range<usize>>,
) -> Vec<Range<usize>> {
    let (mut start, mut found) = (0, Vec::new());
    for part in value.split(is_separator) {
        found.extend(shifted(ranges(part), start));
        start += part.len() + 1;
    }
    found
}

fn shifted(ranges: Vec<Range<usize>>, by: usize) -> impl Iterator<Item = Range<usize>> {
    ranges.into_iter().map(move |range| by + range.start..by + range.end)
}
