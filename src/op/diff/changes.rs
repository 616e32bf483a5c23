//! The changes that make the pairs of one entity those of another.

use crate::content::entities::Entity;
use crate::op::patch::{Change, Expected, PairKey};

/// The most pairs that are compared with each other; entities of games have far fewer.
const MOST_PAIRS: usize = 1024;

pub(super) type Pair = (Vec<u8>, Vec<u8>);
pub(super) type List = Vec<Pair>;

/// The pairs of an entity.
pub(super) fn list(entity: &Entity<'_>) -> List {
    entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
}

/// The key of a pair, with a number if there are equal keys.
fn key(list: &List, at: usize) -> PairKey {
    let name = &list[at].0;
    let is_equal = |(other, _): &&Pair| other.eq_ignore_ascii_case(name);
    let nth = list[..=at].iter().filter(is_equal).count();
    let is_alone = list.iter().filter(is_equal).count() == 1;
    PairKey { name: name.clone(), nth: (!is_alone).then_some(nth) }
}

fn expected(list: &List, at: usize) -> Expected {
    Expected { key: key(list, at), value: Some(list[at].1.clone()) }
}

/// All pairs of an entity, up to a number that is enough to identify it.
pub(super) fn all(entity: &Entity<'_>) -> Vec<Expected> {
    let mut list = list(entity);
    list.truncate(MOST_PAIRS);
    (0..list.len()).map(|at| expected(&list, at)).collect()
}

/// The changes and what they expect; `None` if no changes give the pairs in their order.
pub(super) fn changes(old: &List, new: &List) -> Option<(Vec<Expected>, Vec<Change>)> {
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
                false => Change::Set { key: PairKey { name: name.clone(), nth: None }, value: value.clone() },
            });
            if !is_there(old) {
                expect.push(Expected { key: PairKey { name: name.clone(), nth: None }, value: None });
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
