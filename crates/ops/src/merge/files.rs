//! Embedded files, by name.

use std::collections::{BTreeMap, BTreeSet};

use super::{Conflict, Desk, Side, Sides, Subject};
use bspkit::bytes::escaped;
use bspkit::content::pak::{Entry, Pak, lookup_name};
use bspkit::file::Slot;
use bspkit::{Result, Rope};

/// The pakfile with the changes of both sides; where both changed a file it is ours. `None` if nothing can be merged.
pub(super) fn merge<'a>(sides: &Sides<'_, 'a>, slot: &Slot, desk: &mut Desk<'_>) -> Result<Option<Rope<'a>>> {
    let read = |bsp: &bspkit::Bsp<'a>| Pak::parse(bsp.bytes(slot.id)?);
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
    let settled = moves([&base, &ours, &theirs], &slot.name, desk);
    let mut merged = ours.clone();
    for name in names {
        let found = [&base, &ours, &theirs].map(|pak| pak.find(&name));
        if let Some(side) = settled.get(&name) {
            let from = [&base, &ours, &theirs][*side];
            put(&mut merged, &name, all(from, &from.find(&name)).first(), found[1].is_empty())?;
            continue;
        }
        let [in_base, in_ours, in_theirs] = &found;
        let (before, mine, other) = (all(&base, in_base), all(&ours, in_ours), all(&theirs, in_theirs));
        if is_same_file(&before, &other) || is_same_file(&mine, &other) {
            continue;
        }
        let shown = escaped(&name).to_string();
        let mut from = other.first();
        if !is_same_file(&before, &mine) {
            let message = match (mine.is_empty(), other.is_empty()) {
                (true, _) => format!("our side removes `{shown}`, and theirs changes it"),
                (_, true) => format!("our side changes `{shown}`, and theirs removes it"),
                _ => format!("both sides change `{shown}`"),
            };
            let values = [&before, &mine, &other].map(|entries| entries.first().map(summary_of_files));
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
        put(&mut merged, &name, from, mine.is_empty())?;
    }
    Ok(Some(merged.to_rope()?))
}

/// Gives the merged pakfile a file as another one has it.
fn put<'a>(merged: &mut Pak<'a>, name: &[u8], from: Option<&Entry<'_, 'a>>, is_absent: bool) -> Result<()> {
    match from {
        None if is_absent => {}
        None => {
            let index = merged.one(name)?;
            merged.remove(&[index])?;
        }
        Some(entry) => drop(merged.add(entry.name(), entry.data()?)?),
    }
    Ok(())
}

/// The files of other names that one side has given to files of the base, by the old names.
fn moved(base: &Pak<'_>, side: &Pak<'_>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let content = |entry: &Entry<'_, '_>| (entry.crc(), entry.size());
    // Content of several files does not tell which one was moved.
    let alone = |pak: &Pak<'_>, other: &Pak<'_>| {
        let mut known: BTreeMap<_, Option<Vec<u8>>> = BTreeMap::new();
        for entry in pak.iter() {
            let name = Some(lookup_name(entry.name())).filter(|name| other.find(name).is_empty());
            known.entry(content(&entry)).and_modify(|one| *one = None).or_insert(name);
        }
        known
    };
    let new = alone(side, base);
    let pairs = alone(base, side).into_iter().filter_map(|(content, old)| Some((old?, new.get(&content)?.clone()?)));
    pairs.collect()
}

/// Files that one side moved, and the other side removed or moved elsewhere: for the names that this is about, the map
/// whose file the merged one gets.
fn moves(paks: [&Pak<'_>; 3], lump: &str, desk: &mut Desk<'_>) -> BTreeMap<Vec<u8>, usize> {
    let [base, ours, theirs] = paks;
    let (mine, other) = (moved(base, ours), moved(base, theirs));
    let mut settled = BTreeMap::new();
    let names: BTreeSet<&Vec<u8>> = mine.keys().chain(other.keys()).collect();
    for old in names {
        let (one, two) = (mine.get(old), other.get(old));
        let is_gone = [ours, theirs].iter().all(|pak| pak.find(old).is_empty());
        if one == two || !is_gone {
            continue;
        }
        let shown = escaped(old);
        let message = match (one.map(|name| escaped(name)), two.map(|name| escaped(name))) {
            (Some(one), Some(two)) => format!("our side moves `{shown}` to `{one}`, and theirs to `{two}`"),
            (Some(one), None) => format!("our side moves `{shown}` to `{one}`, and theirs removes it"),
            (None, Some(two)) => format!("our side removes `{shown}`, and theirs moves it to `{two}`"),
            (None, None) => continue,
        };
        let values = [Some(old), one, two].map(Option::<&Vec<u8>>::cloned);
        let conflict = Conflict::lump(lump, message).with(Subject::File(old.clone()), values);
        let side = match desk.decide(conflict) {
            Side::Base => 0,
            Side::Ours => 1,
            Side::Theirs => 2,
        };
        for name in [Some(old), one, two].into_iter().flatten() {
            settled.insert(name.clone(), side);
        }
    }
    settled
}

fn all<'p, 'a>(pak: &'p Pak<'a>, indices: &[usize]) -> Vec<Entry<'p, 'a>> {
    indices.iter().filter_map(|index| pak.get(*index)).collect()
}

/// Whether two lists have the same names and content.
fn is_same_file(one: &[Entry<'_, '_>], other: &[Entry<'_, '_>]) -> bool {
    let is_equal = |(one, other): (&Entry<'_, '_>, &Entry<'_, '_>)| {
        let stored =
            one.method() == other.method() && one.stored().is_ok_and(|one| other.stored().is_ok_and(|it| *it == *one));
        let data = || one.data().is_ok_and(|one| other.data().is_ok_and(|it| *it == *one));
        one.name() == other.name() && (stored || one.size() == other.size() && data())
    };
    one.len() == other.len() && one.iter().zip(other).all(is_equal)
}

/// What a file is, as a value of a conflict.
fn summary_of_files(entry: &Entry<'_, '_>) -> Vec<u8> {
    let sum = entry.data().map_or(0, |data| crc32fast::hash(&data));
    format!("{} bytes, CRC-32 {sum:08x}", entry.size()).into_bytes()
}
