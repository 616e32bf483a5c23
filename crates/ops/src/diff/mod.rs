//! The patch that makes the entities of one map those of another.

mod pairing;
mod wanted;

use std::cmp::Ordering;

use super::patch::{Expected, Operation, Patch, Spot, Target};
use crate::patch::Change;
use bspkit::Result;
use bspkit::content::entities::{Entities, Entity, Key};
pub use pairing::pair;
pub(super) use pairing::{add_by_place, paired};
pub use wanted::{Content, Wanted, patch_to, patch_to_text, text_of};

/// The patch that makes the entities of one map those of another: applied to the old ones it gives the new lump
/// byte for byte.
///
/// Entities of the two maps are matched by identity, not by position: by `hammerid`, by `targetname` and class, by
/// `model`, by `origin`, and then by the pairs that they have in common. If edits of pairs would not give the same
/// bytes (other spacing, comments, another order of pairs), the patch has the exact text of the entity. If the text
/// between entities is different, it has the whole text.
///
/// The patch names entities as people do, so that it fits other versions of the map as well: by `targetname`, by class
/// and `hammerid` or `origin`, else by all of their pairs. Their indices are in it as hints.
///
/// # Errors
/// Only for texts beyond the limits of [`Entities::parse`].
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
/// use bspkit_ops::diff::diff;
///
/// let old = "{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n\"light\" \"300\"\n}\n\0";
/// let new = old.replace("300", "200");
/// let read = |text: &str| Entities::parse(text.as_bytes().to_vec(), EntityRules::QUAKE2);
/// let patch = diff(&read(old)?, &read(&new)?)?;
/// assert_eq!(patch.operations.len(), 1);
/// assert_eq!(patch.apply(&read(old)?)?, new.as_bytes());
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn diff(old: &Entities<'_>, new: &Entities<'_>) -> Result<Patch> {
    let patch = wanted::named(old, by_index(old, new, &pair(old, new))?);
    let result = (!patch.operations.is_empty()).then(|| crc32fast::hash(&new.to_bytes()));
    Ok(Patch { result, ..patch })
}

/// As [`diff`], with entities by their indices and as many entities as the old map has, for a pairing as [`pair`] finds
/// it.
pub(super) fn by_index(old: &Entities<'_>, new: &Entities<'_>, pairing: &[Option<usize>]) -> Result<Patch> {
    let (old_bytes, bytes) = (old.to_bytes(), new.to_bytes());
    let entities = Some(old.len());
    if old_bytes == bytes {
        return Ok(Patch { entities, operations: Vec::new(), result: None });
    }
    let mut exact = vec![false; new.len()];
    // Two attempts: with edits of pairs; then with exact texts for entities whose pairs gave other bytes.
    for _ in 0..2 {
        let patch = Patch { entities, operations: operations(old, new, pairing, &exact), result: None };
        match patch.applied(old) {
            Ok(done) if done.to_bytes() == bytes => return Ok(patch),
            Ok(done) if done.len() == new.len() => {
                let is_other = |(done, new): (Entity<'_>, Entity<'_>)| done.bytes() != new.bytes();
                exact = done.iter().zip(new.iter()).zip(&exact).map(|(pair, exact)| *exact || is_other(pair)).collect();
            }
            _ => exact.fill(true),
        }
    }
    let operations = vec![Operation::Text { old: Some(crc32fast::hash(&old_bytes)), text: bytes }];
    Ok(Patch { entities, operations, result: None })
}

/// The operations that make one text the other; with the exact text of an entity if requested.
fn operations(old: &Entities<'_>, new: &Entities<'_>, pairing: &[Option<usize>], exact: &[bool]) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut kept = vec![false; old.len()];
    for (entity, &exact) in new.iter().zip(exact) {
        let Some((index, before)) = pairing[entity.index()].and_then(|index| Some((index, old.get(index)?))) else {
            continue;
        };
        kept[index] = true;
        if before.bytes() == entity.bytes() {
            continue;
        }
        let edit = if exact { None } else { changes(&list(&before), &list(&entity)) };
        let on = Target::Index(index);
        operations.push(match edit {
            Some((expect, changes)) => Operation::Edit { on, expect, changes },
            None => Operation::Replace { on, old: Some(before.bytes().to_vec()), text: entity.bytes().to_vec() },
        });
    }
    let add = |at: usize, to| match new.get(at) {
        Some(entity) if exact[at] => Operation::AddText { text: entity.bytes().to_vec(), to },
        entity => {
            let pairs = entity.iter().flat_map(|entity| entity.pairs());
            Operation::Add { pairs: pairs.map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect(), to }
        }
    };
    arrange(old, pairing, add, &mut operations);
    for before in old.iter().filter(|before| !kept[before.index()]) {
        operations.push(Operation::Remove { on: Target::Index(before.index()), expect: all(&before) });
    }
    operations
}

/// Additions and moves, from front to back; `add` makes the operation for an entity that is new.
fn arrange(
    old: &Entities<'_>,
    pairing: &[Option<usize>],
    add: impl Fn(usize, Option<Spot>) -> Operation,
    operations: &mut Vec<Operation>,
) {
    let stays = longest_rise(pairing);
    let first = stays.iter().position(|stays| *stays).and_then(|at| pairing[at]);
    let behind_all = pairing.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let mut last = None;
    for at in 0..pairing.len() {
        let spot = match (last, first) {
            (Some(last), _) => Some(Spot::After(Target::Index(last))),
            (None, Some(first)) => Some(Spot::Before(Target::Index(first))),
            (None, None) => None,
        };
        let to = spot.clone().filter(|_| at < behind_all);
        match (pairing[at], spot) {
            (Some(index), Some(to)) if !stays[at] => {
                let expect = old.get(index).map(|before| who(&before)).unwrap_or_default();
                operations.push(Operation::Move { on: Target::Index(index), expect, to });
            }
            (None, _) => operations.push(add(at, to)),
            _ => {}
        }
        last = pairing[at].or(last);
    }
}

/// The keys that identify an entity.
const IDENTIFYING: [&[u8]; 5] = [b"classname", b"hammerid", b"targetname", b"model", b"origin"];

/// The identity of an entity, for one that is only moved.
fn who(entity: &Entity<'_>) -> Vec<Expected> {
    let identity = |expected: &Expected| IDENTIFYING.iter().any(|key| expected.key.name.eq_ignore_ascii_case(key));
    all(entity).into_iter().filter(identity).collect()
}

/// Which of the paired entities stay in place: as many as possible; the others move.
pub(super) fn longest_rise(pairing: &[Option<usize>]) -> Vec<bool> {
    let paired = || pairing.iter().flatten();
    if paired().zip(paired().skip(1)).all(|(one, next)| one < next) {
        return pairing.iter().map(Option::is_some).collect();
    }
    // For each length, the position of the smallest index at the end of an increasing sequence of that length, and the
    // position before each.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before = vec![None; pairing.len()];
    for (at, index) in pairing.iter().enumerate().filter_map(|(at, index)| Some((at, (*index)?))) {
        let length = ends.partition_point(|(end, _)| end.cmp(&index) == Ordering::Less);
        before[at] = length.checked_sub(1).map(|length| ends[length].1);
        match ends.get_mut(length) {
            Some(end) => *end = (index, at),
            None => ends.push((index, at)),
        }
    }
    let mut stays = vec![false; pairing.len()];
    let mut next = ends.last().map(|(_, at)| *at);
    while let Some(at) = next {
        stays[at] = true;
        next = before[at];
    }
    stays
}

// The changes that make the pairs of one entity those of another.

/// The most pairs that are compared with each other; entities of games have far fewer.
const MOST_PAIRS: usize = 1024;

type Pair = (Vec<u8>, Vec<u8>);
type List = Vec<Pair>;

/// The pairs of an entity.
fn list(entity: &Entity<'_>) -> List {
    entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
}

/// The key of a pair, with a number if there are equal keys.
fn key(list: &List, at: usize) -> Key {
    let name = &list[at].0;
    let is_equal = |(other, _): &&Pair| other.eq_ignore_ascii_case(name);
    let nth = list[..=at].iter().filter(is_equal).count();
    let is_alone = list.iter().filter(is_equal).count() == 1;
    Key { name: name.clone(), nth: (!is_alone).then_some(nth) }
}

fn expected(list: &List, at: usize) -> Expected {
    Expected { key: key(list, at), value: Some(list[at].1.clone()) }
}

/// All pairs of an entity, up to a number that is enough to identify it.
fn all(entity: &Entity<'_>) -> Vec<Expected> {
    let mut list = list(entity);
    list.truncate(MOST_PAIRS);
    (0..list.len()).map(|at| expected(&list, at)).collect()
}

/// The changes and what they expect; `None` if no changes give the pairs in their order.
fn changes(old: &List, new: &List) -> Option<(Vec<Expected>, Vec<Change>)> {
    if old == new || old.len().max(new.len()) > MOST_PAIRS {
        return None;
    }
    let mut expect: Vec<Expected> = Vec::new();
    if let Some(at) = old.iter().position(|(key, _)| key.eq_ignore_ascii_case(b"classname")) {
        expect.push(expected(old, at));
    }
    let mut changes = Vec::new();
    let mut work = old.clone();
    let is_like = |(old, new): (&Pair, &Pair)| old.0 == new.0 || old.1 == new.1;
    if old.len() == new.len() && old.iter().zip(new).all(is_like) {
        for (at, (to, value)) in new.iter().enumerate() {
            if work[at].0 != *to {
                changes.push(Change::Rename { key: key(&work, at), to: to.clone() });
                work[at].0.clone_from(to);
            } else if work[at].1 != *value {
                changes.push(Change::Set { key: key(&work, at), value: value.clone() });
                work[at].1.clone_from(value);
            } else {
                continue;
            }
            expect.push(expected(old, at));
        }
    } else {
        let (found, added) = matched(old, new)?;
        for (&at, (_, value)) in found.iter().zip(new).filter(|(at, (_, value))| old[**at].1 != *value) {
            changes.push(Change::Set { key: key(&work, at), value: value.clone() });
            work[at].1.clone_from(value);
            expect.push(expected(old, at));
        }
        for at in (0..old.len()).rev().filter(|at| found.binary_search(at).is_err()) {
            changes.push(Change::Unset { key: key(&work, at) });
            work.remove(at);
            expect.push(expected(old, at));
        }
        for (name, value) in added {
            let is_there = |list: &List| list.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
            changes.push(match is_there(&work) {
                true => Change::Add { key: name.clone(), value: value.clone() },
                false => Change::Set { key: Key::literal(name.clone()), value: value.clone() },
            });
            if !is_there(old) {
                expect.push(Expected { key: Key::literal(name.clone()), value: None });
            }
            work.push((name.clone(), value.clone()));
        }
    }
    let mut seen: Vec<Expected> = Vec::with_capacity(expect.len());
    expect.into_iter().for_each(|one| {
        if !seen.contains(&one) {
            seen.push(one)
        }
    });
    Some((seen, changes))
}

/// The old pairs of the first new ones, and the new pairs after them; `None` if pairs change places.
fn matched<'n>(old: &List, new: &'n List) -> Option<(Vec<usize>, &'n [Pair])> {
    let mut found: Vec<usize> = Vec::new();
    for (at, pair) in new.iter().enumerate() {
        let start = found.last().map_or(0, |last| last + 1);
        // Of equal keys, the one that has the value already, if enough others are left.
        let same = old[start..].iter().position(|other| other == pair);
        let next = same.or_else(|| old[start..].iter().position(|(key, _)| *key == pair.0));
        match next {
            Some(next) => found.push(start + next),
            None if new[at..].iter().all(|(key, _)| !old[start..].iter().any(|(other, _)| other == key)) => {
                return Some((found, &new[at..]));
            }
            None => return None,
        }
    }
    Some((found, &[]))
}
