//! Embedded files: their names, the paths in their texts, and the names that stay.

use super::files::Kind;
use super::names::{Names, Scope};
use super::report::{Renamed, Spot};
use super::text::{self, Moved};
use super::there;
use crate::content::pak::{Entry, Pak};
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};

/// A larger file is not searched.
const MOST_SEARCHED: usize = 16 << 20;

/// Renames embedded files and the paths in their texts. Gives the files whose names alone belong to the map.
pub(super) fn rename(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<Moved> {
    let mut moved = Moved::default();
    let Some(pak) = there(draft.pak())? else { return Ok(moved) };
    let mut new_names = Vec::new();
    for file in pak.iter() {
        let ranges = names.in_file(file.name());
        if !ranges.is_empty() {
            let new = names.replaced(file.name(), &ranges);
            report.count(names, file.name(), &ranges);
            report.change(Spot::File(file.index()), file.name(), new.clone());
            new_names.push((file.index(), new));
            if names.in_folders(file.name()).is_empty() {
                moved.add(file.name());
            }
        } else if let Some(at) = in_last_part(names, file.name()) {
            report.leave(Spot::File(file.index()), file.name(), at);
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
    let is_searched = |file: &Entry<'_, '_>| Kind::of(file.name()) != Kind::Other;
    let searched: Vec<usize> = pak.iter().filter(is_searched).map(|file| file.index()).collect();
    pak.check_total_size(&searched)?;
    let mut found = Vec::new();
    for file in searched.iter().filter_map(|index| pak.get(*index)) {
        match search(&file, names, moved, report) {
            Ok(Some(text)) => found.push((file.index(), text)),
            Ok(None) => {}
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
    let data = file.data()?;
    match Kind::of(file.name()) {
        Kind::KeyValues => {
            return text::rename(names, moved, file.name(), &data, report).map_err(|error| unread(file, error));
        }
        _ if names.scope == Scope::Cubemaps => {}
        Kind::Binary => {
            for at in in_bytes(names, &data) {
                report.leave(Spot::Bytes { file: file.name().to_vec(), offset: at }, &data, at);
            }
        }
        Kind::Text => text::list(file.name(), &data, names.words(&data), report),
        Kind::Other => {}
    }
    Ok(None)
}

/// The error for a file that is not searched.
fn unread(file: &Entry<'_, '_>, error: Error) -> Error {
    let name = crate::bytes::escaped(file.name());
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

/// Where the last part of a path has the old name between other letters than letters and digits.
fn in_last_part(names: &Names, path: &[u8]) -> Option<usize> {
    if names.scope == Scope::Cubemaps {
        return None;
    }
    let start = path.iter().rposition(|byte| matches!(byte, b'/' | b'\\')).map_or(0, |at| at + 1);
    let spaced: Vec<u8> = path[start..].iter().map(|byte| if b"_-".contains(byte) { b' ' } else { *byte }).collect();
    let plain = Names {
        old: names.old.iter().map(|byte| if b"_-".contains(byte) { b' ' } else { *byte }).collect(),
        ..names.clone()
    };
    plain.words(&spaced).first().map(|word| start + word.start)
}
