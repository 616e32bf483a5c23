//! Embedded files, by name.

use std::collections::BTreeSet;

use super::Sides;
use super::desk::{Conflict, Desk, Side, Subject};
use crate::Rope;
use crate::bytes::escaped;
use crate::content::pak::{Entry, Pak, lookup_name};
use crate::error::Result;
use crate::file::Slot;

/// The pakfile with the changes of both sides; where both changed a file it is ours. `None` if nothing can be merged.
pub(super) fn merge<'a>(sides: &Sides<'_, 'a>, slot: &Slot, desk: &mut Desk<'_>) -> Result<Option<Rope<'a>>> {
    let read = |bsp: &crate::Bsp<'a>| Pak::parse(bsp.bytes(slot.id)?);
    let (base, ours, theirs) = match (read(sides.base), read(sides.ours), read(sides.theirs)) {
        (Ok(base), Ok(ours), Ok(theirs)) if !ours.is_console() => (base, ours, theirs),
        _ => {
            desk.refuse(&slot.name, "both sides change it, and its directory cannot be edited");
            return Ok(None);
        }
    };
    if theirs.comment() != base.comment() && theirs.comment() != ours.comment() {
        desk.refuse(&slot.name, "their side changes the comment of the pakfile, and both sides change files");
    }
    let names: BTreeSet<Vec<u8>> =
        [&base, &ours, &theirs].iter().flat_map(|pak| pak.iter().map(|it| lookup_name(it.name()))).collect();
    let mut merged = ours.clone();
    for name in names {
        let found = [&base, &ours, &theirs].map(|pak| pak.find(&name));
        let [in_base, in_ours, in_theirs] = &found;
        let (before, mine, other) = (all(&base, in_base), all(&ours, in_ours), all(&theirs, in_theirs));
        if is_same(&before, &other) || is_same(&mine, &other) {
            continue;
        }
        let shown = escaped(&name).to_string();
        let mut from = other.first();
        if !is_same(&before, &mine) {
            let message = match (mine.is_empty(), other.is_empty()) {
                (true, _) => format!("our side removes `{shown}`, and theirs changes it"),
                (_, true) => format!("our side changes `{shown}`, and theirs removes it"),
                _ => format!("both sides change `{shown}`"),
            };
            let values = [&before, &mine, &other].map(|entries| entries.first().map(summary));
            let can_settle = found.iter().all(|found| found.len() <= 1);
            let conflict = Conflict::lump(&slot.name, message).with(Subject::File(name.clone()), values);
            match desk.decide(Conflict { can_settle, ..conflict }) {
                Side::Ours => continue,
                Side::Theirs => {}
                Side::Base => from = before.first(),
            }
        } else if found.iter().any(|found| found.len() > 1) {
            desk.refuse(&slot.name, format!("their side changes `{shown}`, of which there are several"));
            continue;
        }
        match from {
            None if mine.is_empty() => {}
            None => {
                let index = merged.one(&name)?;
                merged.remove(&[index])?;
            }
            Some(entry) => drop(merged.add(entry.name(), entry.data()?)?),
        }
    }
    Ok(Some(merged.to_rope()?))
}

fn all<'p, 'a>(pak: &'p Pak<'a>, indices: &[usize]) -> Vec<Entry<'p, 'a>> {
    indices.iter().filter_map(|index| pak.get(*index)).collect()
}

/// Whether two lists have the same names and content.
fn is_same(one: &[Entry<'_, '_>], other: &[Entry<'_, '_>]) -> bool {
    let is_equal = |(one, other): (&Entry<'_, '_>, &Entry<'_, '_>)| {
        let stored =
            one.method() == other.method() && one.stored().is_ok_and(|one| other.stored().is_ok_and(|it| *it == *one));
        let data = || one.data().is_ok_and(|one| other.data().is_ok_and(|it| *it == *one));
        one.name() == other.name() && (stored || one.size() == other.size() && data())
    };
    one.len() == other.len() && one.iter().zip(other).all(is_equal)
}

/// What a file is, as a value of a conflict.
fn summary(entry: &Entry<'_, '_>) -> Vec<u8> {
    let sum = entry.data().map_or(0, |data| crc32fast::hash(&data));
    format!("{} bytes, CRC-32 {sum:08x}", entry.size()).into_bytes()
}
