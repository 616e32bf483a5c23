//! Embedded files, by name.

use std::collections::HashMap;

use super::change::{BytesChange, Change, FileChange, How, LumpChanges, TextChange};
use super::{Found, Sides, lines};
use crate::bytes::Data;
use crate::content::pak::{Entry, Pak};
use crate::error::Result;
use crate::op::diff::longest_rise;

pub(super) fn compare(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let end = new.len();
    if let (Ok(old), Ok(new)) = (read(old), read(new)) {
        compare_paks([&old, &new], sides.is_whole, end, found);
    }
}

/// Compares a pakfile with the same one as a draft edits it, of which nothing but its files is read.
pub(super) fn compare_edited(edited: &Pak<'_>, found: &mut Found) {
    let end = found.lump.sizes.1;
    compare_paks([&edited.original(), edited], false, end, found);
}

/// What differs between two pakfiles, also of maps of different games: files, their order, how they are stored and
/// their times, and the lines of text files. At most `most` differences are listed.
///
/// ```
/// use bspkit::content::pak::Pak;
/// use bspkit::op::compare;
/// let mut old = Pak::new(b"");
/// old.add("a.txt", "text")?;
/// let mut new = old.clone();
/// new.rename(0, "b.txt")?;
/// let found = compare::paks(&old, &new, 10);
/// assert_eq!(found.changes[0].line("pakfile").to_string(), "pakfile: a.txt -> b.txt, 4 bytes");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn paks(old: &Pak<'_>, new: &Pak<'_>, most: usize) -> LumpChanges {
    let mut found = Found { lump: LumpChanges { lump: "PAKFILE".to_owned(), ..LumpChanges::default() }, most };
    compare_paks([old, new], true, 0, &mut found);
    found.lump
}

/// Compares the files of two pakfiles; the bytes of the new one end at `end`.
fn compare_paks([old, new]: [&Pak<'_>; 2], is_whole: bool, end: usize, found: &mut Found) {
    // Several files of one name are matched in their order.
    let mut known: HashMap<&[u8], Vec<Entry<'_, '_>>> = HashMap::new();
    old.iter().rev().for_each(|entry| known.entry(entry.name()).or_default().push(entry));
    let pairs: Vec<_> = new.iter().map(|entry| (entry, known.get_mut(entry.name()).and_then(Vec::pop))).collect();
    let mut gone: Vec<Entry<'_, '_>> = known.into_values().flatten().collect();
    gone.sort_by_key(Entry::index);
    // Files that are gone and are there under another name, by what the directory says of their content.
    let mut by_content: HashMap<(u32, usize), Vec<usize>> = HashMap::new();
    gone.iter().rev().for_each(|entry| by_content.entry(content(entry)).or_default().push(entry.index()));
    let mut is_moved = vec![false; old.len()];
    let stays = stays(is_whole, &pairs);
    for (entry, before) in pairs {
        let places = before.filter(|_| !stays[entry.index()]).map(|before| (before.index(), entry.index()));
        let (how, before) = match before {
            Some(before) => match difference(&before, &entry) {
                Some(how) => (how, Some(before)),
                None if places.is_some() => (How::Moved, Some(before)),
                None if is_whole && before.form() != entry.form() => (How::Rewritten, Some(before)),
                None => continue,
            },
            None => {
                let moved = by_content.get_mut(&content(&entry)).and_then(Vec::pop).and_then(|index| old.get(index));
                let moved = moved.filter(|before| difference(before, &entry) != Some(How::Changed));
                (if moved.is_some() { How::Moved } else { How::Added }, moved)
            }
        };
        before.iter().for_each(|before| is_moved[before.index()] = true);
        let from =
            before.as_ref().filter(|_| how == How::Moved && places.is_none()).map(|before| before.name().to_vec());
        let sizes = (before.map_or(0, |before| before.size()), entry.size());
        found.count(how, 1, |touched| &mut touched.files);
        let is_listed = is_whole && how == How::Changed && found.has_room();
        let text = before.filter(|_| is_listed).and_then(|before| text(&before, &entry, found.most));
        found.add(|| Change::File(FileChange { how, name: entry.name().to_vec(), from, sizes, places, text }));
    }
    for entry in gone.into_iter().filter(|entry| !is_moved[entry.index()]) {
        let (how, sizes) = (How::Removed, (entry.size(), 0));
        found.count(how, 1, |touched| &mut touched.files);
        let (from, places, text) = Default::default();
        found.add(|| Change::File(FileChange { how, name: entry.name().to_vec(), from, sizes, places, text }));
    }
    if is_whole && old.comment() != new.comment() {
        found.touched().bytes += old.comment().len().max(new.comment().len());
        let range = end.saturating_sub(new.comment().len())..end;
        found.add(|| Change::Bytes(BytesChange { range, old: old.comment().len() }));
    }
}

/// A file of the new map and the one of the old map with its name.
type Both<'e, 'p, 'a> = (Entry<'e, 'a>, Option<Entry<'p, 'a>>);

/// For each new file whether it is in its order. The order counts only if whole maps are compared.
fn stays(is_whole: bool, pairs: &[Both<'_, '_, '_>]) -> Vec<bool> {
    if !is_whole {
        return vec![true; pairs.len()];
    }
    let pairing: Vec<_> = pairs.iter().map(|(_, before)| before.as_ref().map(Entry::index)).collect();
    longest_rise(&pairing)
}

/// The lines that differ, if both files are text.
fn text(old: &Entry<'_, '_>, new: &Entry<'_, '_>, most: usize) -> Option<TextChange> {
    let is_small = old.size().max(new.size()) <= lines::MOST_TEXT;
    let (old, new) = (old.data().ok().filter(|_| is_small)?, new.data().ok()?);
    (lines::is_text(&old) && lines::is_text(&new)).then(|| lines::compare(&old, &new, most))
}

/// A lump without bytes is a pakfile without files.
fn read<'a>(bytes: &Data<'a>) -> Result<Pak<'a>> {
    if bytes.is_empty() { Ok(Pak::new(b"")) } else { Pak::parse(bytes.clone()) }
}

fn content(entry: &Entry<'_, '_>) -> (u32, usize) {
    (entry.crc(), entry.size())
}

/// How two files differ: by their bytes as they are stored, or, if they are stored in different ways, by the checksum
/// and the size in the directory.
fn difference(old: &Entry<'_, '_>, new: &Entry<'_, '_>) -> Option<How> {
    let is_stored_alike = old.method() == new.method() && old.size() == new.size();
    match (old.stored(), new.stored()) {
        (Ok(before), Ok(after)) if is_stored_alike && (std::ptr::eq(&*before, &*after) || *before == *after) => None,
        (Ok(_), Ok(_)) if old.method() != new.method() && content(old) == content(new) => Some(How::Rewritten),
        (Err(_), Err(_)) if is_stored_alike && content(old) == content(new) => None,
        _ => Some(How::Changed),
    }
}
