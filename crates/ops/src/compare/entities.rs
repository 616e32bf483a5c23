//! Entities, by identity.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::change::{Change, EntityChange, How, KeyChange, Renumbered};
use super::lumps::compare_bytes_at;
use super::models::Models;
use super::{Found, Sides};
use crate::diff::{longest_rise, paired};
use bspkit::bytes::Data;
use bspkit::content::entities::{Entities, Entity, Pair};

// Entities, by identity.

/// How many pairs of entities are compared to find those that have the most in common.
const MOST_COMPARED: usize = 1 << 22;

pub(super) fn compare_entities(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    // A draft that edits entities knows which are as they were, and nothing is read again.
    if let Some(edited) = sides.open.entities.filter(|edited| edited.is_read_from(old)) {
        let pairing: Vec<_> = (0..edited.len()).map(|index| edited.origin(index)).collect();
        let models = sides.models();
        return differ(
            [&edited.original(), edited],
            &pairing,
            models,
            |index| edited.get(index).is_some_and(|entity| !entity.is_edited()),
            found,
        );
    }
    let texts = [old, new];
    let Ok(old) = Entities::parse(old.clone(), sides.old.entity_rules()) else { return };
    let Ok(new) = Entities::parse(new.clone(), sides.new.entity_rules()) else { return };
    let models = sides.models();
    let number = |model: &[u8]| models.map_or_else(|| Some(model.to_vec()), |models| models.value(model));
    let pairing = paired(&old, &new, MOST_COMPARED, &number);
    differ([&old, &new], &pairing, models, |_| false, found);
    if sides.is_whole && !found.is_empty() {
        between([&old, &new], texts, &pairing, found);
    }
}

/// Compares the text between entities: byte for byte between two that follow each other in both maps, before the first
/// and after the last one; elsewhere without white space, which comes and goes with an entity.
fn between(entities: [&Entities<'_>; 2], [old, new]: [&Data<'_>; 2], pairing: &[Option<usize>], found: &mut Found) {
    let [before, after] = [0, 1].map(|side| gaps(entities[side], [old, new][side].len()));
    let mut is_compared = vec![false; before.len()];
    let mut others = Vec::new();
    for (at, gap) in after.iter().enumerate() {
        // The gap after an entity is that after the same one, if what follows is the same too.
        let from = match at.checked_sub(1) {
            Some(last) => pairing[last].map(|last| last + 1),
            None => Some(0),
        };
        let next = pairing.get(at).copied().unwrap_or((at == pairing.len()).then_some(before.len() - 1));
        match from.filter(|from| next == Some(*from)) {
            Some(from) => {
                is_compared[from] = true;
                let both = [&old[before[from].clone()], &new[gap.clone()]];
                if both[0] != both[1] {
                    compare_bytes_at(both, gap.start, found);
                }
            }
            None => others.push(gap.clone()),
        }
    }
    let text = |bytes: &[u8]| bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<_>>();
    let gone = (0..before.len()).filter(|at| !is_compared[*at]).map(|at| text(&old[before[at].clone()]));
    let gone: Vec<Vec<u8>> = gone.filter(|gone| !gone.is_empty()).collect();
    let come: Vec<_> = others.into_iter().map(|gap| (text(&new[gap.clone()]), gap)).collect();
    let come: Vec<_> = come.into_iter().filter(|(text, _)| !text.is_empty()).collect();
    if gone.iter().ne(come.iter().map(|(text, _)| text)) {
        let place = come.first().map_or(new.len(), |(_, gap)| gap.start);
        compare_bytes_at(
            [&gone.concat(), &come.iter().flat_map(|(text, _)| text).copied().collect::<Vec<_>>()],
            place,
            found,
        );
    }
}

/// The ranges before, between and after entities: one more than there are entities.
fn gaps(entities: &Entities<'_>, end: usize) -> Vec<Range<usize>> {
    let mut gaps = Vec::with_capacity(entities.len() + 1);
    let mut start = 0;
    for entity in entities.iter() {
        let span = entity.span().unwrap_or(start..start);
        gaps.push(start.min(span.start)..span.start);
        start = span.end;
    }
    gaps.push(start.min(end)..end);
    gaps
}

/// `is_same` knows entities of which nothing differs but perhaps the place.
fn differ(
    [old, new]: [&Entities<'_>; 2],
    pairing: &[Option<usize>],
    models: Option<&Models>,
    is_same: impl Fn(usize) -> bool,
    found: &mut Found,
) {
    let stays = longest_rise(pairing);
    let mut is_kept = vec![false; old.len()];
    let mut renumbered = Vec::new();
    for (index, from) in pairing.iter().enumerate() {
        from.iter().for_each(|from| is_kept[*from] = true);
        let is_moved = !stays[index];
        if from.is_some() && !is_moved && is_same(index) {
            continue;
        }
        let Some(entity) = new.get(index) else { continue };
        let Some(before) = from.and_then(|from| old.get(from)) else {
            let mut keys = Keys::new(found, None);
            whole(&entity, How::Added, &mut keys);
            add(found, How::Added, &entity, None, keys);
            continue;
        };
        if !is_moved && before.bytes() == entity.bytes() {
            continue;
        }
        let mut changes = Keys::new(found, models);
        keys(&before, &entity, &mut changes);
        let is_renumbered = !changes.renumbered.is_empty();
        renumbered.append(&mut changes.renumbered);
        let how = match (is_moved, changes.total) {
            (true, _) => How::Moved,
            (false, 0) if is_renumbered => continue,
            (false, 0) => How::Rewritten,
            (false, _) => How::Changed,
        };
        add(found, how, &entity, Some(before.index()), changes);
    }
    for entity in old.iter().filter(|entity| !is_kept[entity.index()]) {
        let mut keys = Keys::new(found, None);
        whole(&entity, How::Removed, &mut keys);
        add(found, How::Removed, &entity, None, keys);
    }
    found.models(renumbered);
}

/// The keys of an entity that differ: the first ones, and how many there are. Most entities of a large edit are only
/// counted.
struct Keys<'m> {
    list: Vec<KeyChange>,
    total: usize,
    most: usize,
    models: Option<&'m Models>,
    /// Models that have another number, which is not a change.
    renumbered: Vec<Renumbered>,
}

impl<'m> Keys<'m> {
    fn new(found: &Found, models: Option<&'m Models>) -> Self {
        let most = if found.has_room() { found.most } else { 0 };
        Keys { list: Vec::new(), total: 0, most, models, renumbered: Vec::new() }
    }

    fn add(&mut self, key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>) {
        let models = self.models.filter(|_| key.eq_ignore_ascii_case(b"model"));
        if let Some(other) = models.and_then(|models| models.renumbered(old?, new?)) {
            self.renumbered.push(other);
            return;
        }
        self.total += 1;
        if self.list.len() < self.most {
            let [old, new] = [old, new].map(|value| value.map(<[u8]>::to_vec));
            self.list.push(KeyChange { key: key.to_vec(), old, new });
        }
    }
}

fn add(found: &mut Found, how: How, entity: &Entity<'_>, from: Option<usize>, keys: Keys<'_>) {
    let Keys { list: keys, total, .. } = keys;
    found.count(how, 1, |touched| &mut touched.entities);
    if !matches!(how, How::Added | How::Removed) {
        found.touched().values += total;
    }
    found.add(|| {
        let more = total - keys.len();
        let (class, name) = (entity.class().map(<[u8]>::to_vec), entity.get("targetname").map(<[u8]>::to_vec));
        let from = from.filter(|from| *from != entity.index() || how == How::Moved);
        Change::Entity(EntityChange { how, index: entity.index(), from, class, name, keys, more })
    });
}

/// All pairs of an entity that only one map has.
fn whole(entity: &Entity<'_>, how: How, changes: &mut Keys<'_>) {
    for pair in entity.pairs() {
        let value = |is: How| (how == is).then_some(pair.value);
        changes.add(pair.key, value(How::Removed), value(How::Added));
    }
}

/// The values that differ. Of several equal keys, pairs that both have are left out first; the others are matched in
/// their order.
fn keys(old: &Entity<'_>, new: &Entity<'_>, changes: &mut Keys<'_>) {
    let both = || old.pairs().zip(new.pairs());
    let (old_len, new_len) = (old.pairs().len(), new.pairs().len());
    if old_len == new_len && both().all(|(old, new)| old.key == new.key) {
        let others = both().filter(|(old, new)| old.value != new.value);
        others.for_each(|(old, new)| changes.add(new.key, Some(old.value), Some(new.value)));
        return;
    }
    let same = both().take_while(|(old, new)| old == new).count();
    let room = old_len.min(new_len) - same;
    let ends = old.pairs().rev().zip(new.pairs().rev()).take(room);
    let end = ends.take_while(|(old, new)| old == new).count();
    // Most edits only add or only remove pairs in one place.
    if room == end {
        old.pairs_in(same..old_len - end).for_each(|pair| changes.add(pair.key, Some(pair.value), None));
        new.pairs_in(same..new_len - end).for_each(|pair| changes.add(pair.key, None, Some(pair.value)));
        return;
    }
    let (mut old, mut new): (Vec<_>, Vec<_>) = (old.pairs().collect(), new.pairs().collect());
    let orders = other_orders([&old, &new]);
    old.drain(..same);
    new.drain(..same);
    let mut equal: HashMap<Pair<'_>, usize> = HashMap::new();
    new.iter().for_each(|pair| *equal.entry(*pair).or_default() += 1);
    let mut kept: HashMap<Pair<'_>, usize> = HashMap::new();
    let mut rest: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
    let mut gone = Vec::new();
    for pair in old {
        match equal.get_mut(&pair).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                *kept.entry(pair).or_default() += 1;
            }
            None => gone.push(pair),
        }
    }
    gone.iter().rev().for_each(|pair| rest.entry(pair.key).or_default().push(pair.value));
    for pair in new {
        match kept.get_mut(&pair).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => changes.add(pair.key, rest.get_mut(pair.key).and_then(Vec::pop), Some(pair.value)),
        }
    }
    // Of each key, the values at the end of the old list are left.
    for pair in gone {
        if let Some(value) = rest.get_mut(pair.key).and_then(Vec::pop) {
            changes.add(pair.key, Some(value), None);
        }
    }
    orders.into_iter().for_each(|(key, old, new)| changes.add(key, Some(old), Some(new)));
}

/// A value in the place of another one of equal keys.
type Swapped<'e> = (&'e [u8], &'e [u8], &'e [u8]);

/// The values of equal keys that are the same ones in another order, which has a meaning: engines use the first or the
/// last one, or all of them one after the other.
fn other_orders<'e>(both: [&[Pair<'e>]; 2]) -> Vec<Swapped<'e>> {
    let [old, new] = both.map(|pairs| {
        let mut values: BTreeMap<Vec<u8>, Vec<Pair<'e>>> = BTreeMap::new();
        pairs.iter().for_each(|pair| values.entry(pair.key.to_ascii_lowercase()).or_default().push(*pair));
        values
    });
    let sorted = |pairs: &[Pair<'e>]| {
        let mut all: Vec<_> = pairs.iter().map(|pair| (pair.key, pair.value)).collect();
        all.sort_unstable();
        all
    };
    let mut swapped = Vec::new();
    for (key, before) in &old {
        let Some(after) = new.get(key).filter(|after| before.len() > 1 && sorted(before) == sorted(after)) else {
            continue;
        };
        let others = before.iter().zip(after).filter(|(before, after)| before.value != after.value);
        swapped.extend(others.map(|(before, after)| (after.key, before.value, after.value)));
    }
    swapped
}
