//! The patch that makes the entities of one map those of another.

mod wanted;

use std::cmp::Ordering;
use std::collections::HashMap;

use super::patch::{Expected, Operation, Patch, Spot, Target};
use crate::Result;
use crate::content::entities::{Entities, Entity};
use crate::op::patch::{Change, PairKey};
pub use wanted::{Content, Wanted, patch_to, patch_to_text, text_of};

/// Above this many comparisons of pairs, the entities of a class that nothing else identifies are paired in order.
const MOST_COMPARED: usize = 1 << 26;

/// The time of each addition and move depends on the number of entities: above this product the patch has the whole
/// text.
const MOST_ARRANGED: usize = 1 << 27;

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
/// use bspkit::op::diff::diff;
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
    Ok(wanted::named(old, by_index(old, new)?))
}

/// As [`diff`], with entities by their indices and as many entities as the old map has.
pub(super) fn by_index(old: &Entities<'_>, new: &Entities<'_>) -> Result<Patch> {
    let (old_bytes, bytes) = (old.to_bytes(), new.to_bytes());
    let entities = Some(old.len());
    if old_bytes == bytes {
        return Ok(Patch { entities, operations: Vec::new() });
    }
    let pairing = pair(old, new);
    let mut exact = vec![false; new.len()];
    // Two attempts: with edits of pairs; then with exact texts for entities whose pairs gave other bytes.
    for _ in 0..2 {
        let patch = Patch { entities, operations: operations(old, new, &pairing, &exact) };
        let arranged = |operation: &&Operation| {
            matches!(operation, Operation::Add { .. } | Operation::AddText { .. } | Operation::Move { .. })
        };
        if patch.operations.iter().filter(arranged).count().saturating_mul(old.len() + new.len()) > MOST_ARRANGED {
            break;
        }
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
    Ok(Patch { entities, operations })
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

// Matches the entities of two maps.

/// The keys that identify an entity.
const IDENTIFYING: [&[u8]; 5] = [b"classname", b"hammerid", b"targetname", b"model", b"origin"];

struct Pairing<'e, 'a> {
    old: &'e Entities<'a>,
    new: &'e Entities<'a>,
    /// For each new entity the old one.
    found: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

/// For each entity of the new map, in order, the index of the old one that it is: by `hammerid`, by `targetname` and
/// class, by `model`, by `origin`, and then by the pairs that they have in common. `None` for one that is new.
///
/// ```
/// use bspkit::content::entities::Entities;
/// let parse = |text: &'static str| Entities::parse(text, bspkit::dialect::EntityRules::QUAKE2);
/// let old = parse("{\n\"classname\" \"light\"\n\"light\" \"300\"\n}\n")?;
/// let new = parse("{\n\"classname\" \"info_null\"\n}\n{\n\"classname\" \"light\"\n\"light\" \"200\"\n}\n")?;
/// assert_eq!(bspkit::op::diff::pair(&old, &new), [None, Some(0)]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn pair(old: &Entities<'_>, new: &Entities<'_>) -> Vec<Option<usize>> {
    paired(old, new, MOST_COMPARED)
}

/// [`pair`], with another limit: above `most_compared` comparisons of pairs, the entities of a class that nothing else
/// identifies are paired in order.
pub(super) fn paired(old: &Entities<'_>, new: &Entities<'_>, most_compared: usize) -> Vec<Option<usize>> {
    let (found, is_taken) = (vec![None; new.len()], vec![false; old.len()]);
    let mut pairing = Pairing { old, new, found, is_taken };
    let world = |entities: &Entities<'_>| {
        let class = entities.get(0).and_then(|first| first.class().map(<[u8]>::to_vec));
        class.is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn"))
    };
    if world(old) && world(new) {
        pairing.take(0, 0);
    }
    pairing.by_place();
    pairing.by(|entity| Some(vec![entity.bytes()]));
    pairing.by(|entity| Some(vec![entity.get("hammerid")?]));
    pairing.by(|entity| Some(vec![entity.get("targetname")?, entity.class()?]));
    pairing.by(|entity| Some(vec![entity.get("model").filter(|model| model.starts_with(b"*"))?, entity.class()?]));
    pairing.by(|entity| Some(vec![entity.get("origin")?, entity.class()?]));
    pairing.by(|entity| Some(vec![entity.get("origin")?]));
    pairing.by_likeness(most_compared);
    pairing.found
}

impl<'e> Pairing<'e, '_> {
    fn take(&mut self, new: usize, old: usize) {
        self.found[new] = Some(old);
        self.is_taken[old] = true;
    }

    /// The ones that are not paired yet.
    fn rest(&self) -> (Vec<Entity<'e>>, Vec<Entity<'e>>) {
        let (old, new) = (self.old, self.new);
        let old = old.iter().filter(|entity| !self.is_taken[entity.index()]).collect();
        (old, new.iter().filter(|entity| self.found[entity.index()].is_none()).collect())
    }

    /// Pairs entities with the same text. Those that are there once are found wherever they are; of several that are
    /// alike, each is paired with the one at its place between these, so that an edit of one is not one of another.
    fn by_place(&mut self) {
        let (old, new) = (self.old, self.new);
        let mut counts: HashMap<&[u8], [usize; 2]> = HashMap::new();
        old.iter().for_each(|entity| counts.entry(entity.bytes()).or_default()[0] += 1);
        new.iter().for_each(|entity| counts.entry(entity.bytes()).or_default()[1] += 1);
        let is_alone = |entity: &Entity<'_>| counts.get(entity.bytes()) == Some(&[1, 1]);
        let known: HashMap<&[u8], usize> =
            old.iter().filter(is_alone).map(|entity| (entity.bytes(), entity.index())).collect();
        for entity in new.iter() {
            let from = known.get(entity.bytes()).copied().filter(|from| !self.is_taken[*from]);
            if let Some(from) = from.filter(|_| self.found[entity.index()].is_none()) {
                self.take(entity.index(), from);
            }
        }
        let stays = longest_rise(&self.found);
        let kept = (0..new.len()).filter(|at| stays[*at]).filter_map(|at| Some((self.found[at]?, at)));
        let mut before = (0, 0);
        for after in kept.collect::<Vec<_>>().into_iter().chain([(old.len(), new.len())]) {
            self.between(before, after);
            before = (after.0 + 1, after.1 + 1);
        }
    }

    /// Pairs entities with the same text between two places of both maps: as far as they follow each other from the
    /// start and from the end, and, if there are as many in both maps, those at the same places.
    fn between(&mut self, before: (usize, usize), after: (usize, usize)) {
        let (old, new) = (self.old, self.new);
        let (many, more) = (after.0 - before.0, after.1 - before.1);
        let mut is_pair = |one: usize, other: usize| {
            let text = |entities: &'e Entities<'_>, index: usize| entities.get(index).map(|entity| entity.bytes());
            let is_same = self.found[other].is_none() && !self.is_taken[one] && text(old, one) == text(new, other);
            if is_same {
                self.take(other, one);
            }
            is_same
        };
        let least = many.min(more);
        let start = (0..least).take_while(|at| is_pair(before.0 + at, before.1 + at)).count();
        let end = (1..=least - start).take_while(|at| is_pair(after.0 - at, after.1 - at)).count();
        if many == more {
            (start..least - end).for_each(|at| _ = is_pair(before.0 + at, before.1 + at));
        }
    }

    /// Pairs entities with equal identities; several with the same identity are paired in order.
    fn by(&mut self, identify: impl Fn(&Entity<'e>) -> Option<Vec<&'e [u8]>>) {
        let (old, new) = self.rest();
        let mut known: HashMap<Vec<&[u8]>, Vec<usize>> = HashMap::new();
        for entity in old.iter().rev() {
            if let Some(identity) = identify(entity) {
                known.entry(identity).or_default().push(entity.index());
            }
        }
        for entity in &new {
            if let Some(old) = identify(entity).and_then(|identity| known.get_mut(&identity)?.pop()) {
                self.take(entity.index(), old);
            }
        }
    }

    /// Pairs the entities of a class that have the most pairs in common, if these are at least half of their pairs.
    fn by_likeness(&mut self, most_compared: usize) {
        let (old, new) = self.rest();
        let mut known: HashMap<Option<Vec<u8>>, Vec<&Entity<'e>>> = HashMap::new();
        let class = |entity: &Entity<'_>| entity.class().map(<[u8]>::to_ascii_lowercase);
        old.iter().for_each(|entity| known.entry(class(entity)).or_default().push(entity));
        let mut groups: HashMap<Option<Vec<u8>>, Vec<&Entity<'e>>> = HashMap::new();
        new.iter().for_each(|entity| groups.entry(class(entity)).or_default().push(entity));
        for (class, group) in groups {
            let Some(known) = known.get(&class) else { continue };
            let pairs =
                |entities: &[&Entity<'_>]| entities.iter().map(|entity| entity.pairs().len() + 1).sum::<usize>();
            if pairs(known).saturating_mul(pairs(&group)) > most_compared {
                known.iter().zip(&group).for_each(|(old, new)| self.take(new.index(), old.index()));
                continue;
            }
            let mut likes = Vec::new();
            for (old, new) in known.iter().flat_map(|old| group.iter().map(move |new| (old, new))) {
                let common = common(old, new);
                if 2 * common >= old.pairs().len().max(new.pairs().len()) {
                    likes.push((common, old.index(), new.index()));
                }
            }
            likes.sort_by_key(|&(common, old, new)| (std::cmp::Reverse(common), old, new));
            for (_, old, new) in likes {
                if !self.is_taken[old] && self.found[new].is_none() {
                    self.take(new, old);
                }
            }
        }
    }
}

/// How many pairs two entities have in common.
fn common(old: &Entity<'_>, new: &Entity<'_>) -> usize {
    old.pairs().filter(|pair| new.all(pair.key).any(|value| value == pair.value)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::EntityRules;

    fn paired(old: &str, new: &str) -> Vec<Option<usize>> {
        let read = |letters: &str| {
            let text: String = letters.chars().map(|letter| format!("{{\n\"classname\" \"{letter}\"\n}}\n")).collect();
            Entities::parse(text.into_bytes(), EntityRules::QUAKE2).unwrap()
        };
        super::paired(&read(old), &read(new), 1 << 20)
    }

    /// Each letter is an entity, and equal letters are alike.
    #[test]
    fn alike_entities_are_paired_by_their_places() {
        let all = |places: &[usize]| places.iter().map(|place| Some(*place)).collect::<Vec<_>>();
        assert_eq!(paired("waab", "waab"), all(&[0, 1, 2, 3]));
        assert_eq!(paired("waab", "wxab"), [Some(0), None, Some(2), Some(3)]);
        assert_eq!(paired("waab", "waxb"), [Some(0), Some(1), None, Some(3)]);
        assert_eq!(paired("waaaab", "wxaayb"), [Some(0), None, Some(2), Some(3), None, Some(5)]);
        assert_eq!(paired("waaab", "waab"), all(&[0, 1, 2, 4]));
        assert_eq!(paired("wabaca", "wabca"), all(&[0, 1, 2, 4, 5]));
        assert_eq!(paired("wab", "wba"), all(&[0, 2, 1]));
    }
}
