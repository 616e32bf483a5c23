//! Embedded files, by name.

use std::collections::HashMap;

use super::change::{Change, FileChange, How};
use super::{Found, Sides};
use crate::bytes::Data;
use crate::content::pak::{Entry, Pak};
use crate::error::Result;

pub(super) fn compare(_: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (read(old), read(new)) else { return };
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
    for (entry, before) in pairs {
        let (how, before) = match before {
            Some(before) => match difference(&before, &entry) {
                Some(how) => (how, Some(before)),
                None => continue,
            },
            None => {
                let moved = by_content.get_mut(&content(&entry)).and_then(Vec::pop).and_then(|index| old.get(index));
                let moved = moved.filter(|before| difference(before, &entry) != Some(How::Changed));
                (if moved.is_some() { How::Moved } else { How::Added }, moved)
            }
        };
        before.iter().for_each(|before| is_moved[before.index()] = true);
        let from = before.as_ref().filter(|_| how == How::Moved).map(|before| before.name().to_vec());
        let sizes = (before.map_or(0, |before| before.size()), entry.size());
        found.touched().files += 1;
        found.add(|| Change::File(FileChange { how, name: entry.name().to_vec(), from, sizes }));
    }
    for entry in gone.into_iter().filter(|entry| !is_moved[entry.index()]) {
        let (how, sizes) = (How::Removed, (entry.size(), 0));
        found.touched().files += 1;
        found.add(|| Change::File(FileChange { how, name: entry.name().to_vec(), from: None, sizes }));
    }
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
        (Ok(before), Ok(after)) if is_stored_alike && *before == *after => None,
        (Ok(_), Ok(_)) if old.method() != new.method() && content(old) == content(new) => Some(How::Rewritten),
        (Err(_), Err(_)) if is_stored_alike && content(old) == content(new) => None,
        _ => Some(How::Changed),
    }
}
