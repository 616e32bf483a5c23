//! Entities, by identity.

use std::collections::{BTreeMap, HashMap};

use super::change::{BytesChange, Change, EntityChange, How, KeyChange, Renumbered};
use super::models::Models;
use super::{Found, Sides};
use crate::bytes::Data;
use crate::content::entities::{Entities, Entity, Pair};
use crate::op::diff::{longest_rise, paired};

// Entities, by identity.

/// How many pairs of entities are compared to find those that have the most in common.
const MOST_COMPARED: usize = 1 << 22;

pub(super) fn compare_entities(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    // A draft that edits entities knows which are as they were, and nothing is read again.
    if let Some(edited) = sides.open.entities.filter(|edited| edited.is_read_from(old)) {
        let pairing: Vec<_> = (0..edited.len()).map(|index| edited.origin(index)).collect();
        let models = sides.models();
        return differ([&edited.original(), edited], &pairing, models, |index| edited.is_as_read(index), found);
    }
    let texts = [old, new];
    let Ok(old) = Entities::parse(old.clone(), sides.old.entity_rules()) else { return };
    let Ok(new) = Entities::parse(new.clone(), sides.new.entity_rules()) else { return };
    let models = sides.models();
    let number = |model: &[u8]| models.map_or_else(|| Some(model.to_vec()), |models| models.value(model));
    let pairing = paired(&old, &new, MOST_COMPARED, &number);
    differ([&old, &new], &pairing, models, |_| false, found);
    if sides.is_whole && !found.is_empty() {
        between([&old, &new], texts, found);
    }
}

/// Compares the text between entities, without white space, and the end of the text.
fn between(entities: [&Entities<'_>; 2], texts: [&Data<'_>; 2], found: &mut Found) {
    let [(old, old_end), (new, new_end)] = [0, 1].map(|side| around(entities[side], texts[side]));
    if old != new || texts[0][old_end..] != texts[1][new_end..] {
        let (old, range) = (texts[0].len() - old_end, new_end..texts[1].len());
        let count = old.max(range.len()).max(1);
        found.touched().bytes += count;
        found.add(|| Change::Bytes(BytesChange { range, old }));
    }
}

/// The text between entities, without white space, and where the last entity ends.
fn around(entities: &Entities<'_>, text: &[u8]) -> (Vec<u8>, usize) {
    let (mut around, mut end) = (Vec::new(), 0);
    for span in entities.iter().filter_map(|entity| entity.span()) {
        let between = text.get(end..span.start).unwrap_or_default();
        around.extend(between.iter().filter(|byte| !byte.is_ascii_whitespace()));
        end = span.end;
    }
    (around, end)
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
            add(found, How::Added, &entity, None, whole(&entity, How::Added));
            continue;
        };
        if !is_moved && before.bytes() == entity.bytes() {
            continue;
        }
        let mut keys = keys(&before, &entity);
        let all = keys.len();
        if let Some(models) = models {
            keys.retain(|change| {
                let other = other_number(models, change);
                renumbered.extend(other);
                other.is_none()
            });
        }
        if keys.is_empty() && all > 0 && !is_moved {
            continue;
        }
        let how = match (is_moved, keys.is_empty()) {
            (true, _) => How::Moved,
            (false, true) => How::Rewritten,
            (false, false) => How::Changed,
        };
        add(found, how, &entity, Some(before.index()), keys);
    }
    for entity in old.iter().filter(|entity| !is_kept[entity.index()]) {
        add(found, How::Removed, &entity, None, whole(&entity, How::Removed));
    }
    found.models(renumbered);
}

/// The other number of a model, if nothing else is another value.
fn other_number(models: &Models, change: &KeyChange) -> Option<Renumbered> {
    let is_model = change.key.eq_ignore_ascii_case(b"model");
    let (old, new) = (change.old.as_ref().filter(|_| is_model)?, change.new.as_ref()?);
    models.renumbered(old, new)
}

fn add(found: &mut Found, how: How, entity: &Entity<'_>, from: Option<usize>, mut keys: Vec<KeyChange>) {
    found.count(how, 1, |touched| &mut touched.entities);
    if !matches!(how, How::Added | How::Removed) {
        found.touched().values += keys.len();
    }
    let most = found.most;
    found.add(|| {
        let more = keys.len().saturating_sub(most);
        keys.truncate(most);
        let (class, name) = (entity.class().map(<[u8]>::to_vec), entity.get("targetname").map(<[u8]>::to_vec));
        let from = from.filter(|from| *from != entity.index() || how == How::Moved);
        Change::Entity(EntityChange { how, index: entity.index(), from, class, name, keys, more })
    });
}

/// All pairs of an entity that only one map has.
fn whole(entity: &Entity<'_>, how: How) -> Vec<KeyChange> {
    let value = |pair: Pair<'_>, is: How| (how == is).then(|| pair.value.to_vec());
    let pairs = entity.pairs();
    let one = |pair: Pair<'_>| KeyChange {
        key: pair.key.to_vec(),
        old: value(pair, How::Removed),
        new: value(pair, How::Added),
    };
    pairs.map(one).collect()
}

/// The values that differ. Of several equal keys, pairs that both have are left out first; the others are matched in
/// their order.
fn keys(old: &Entity<'_>, new: &Entity<'_>) -> Vec<KeyChange> {
    let change = |key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>| KeyChange {
        key: key.to_vec(),
        old: old.map(<[u8]>::to_vec),
        new: new.map(<[u8]>::to_vec),
    };
    let (mut old, mut new): (Vec<_>, Vec<_>) = (old.pairs().collect(), new.pairs().collect());
    if old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old.key == new.key) {
        let both = old.into_iter().zip(new).filter(|(old, new)| old.value != new.value);
        return both.map(|(old, new)| change(new.key, Some(old.value), Some(new.value))).collect();
    }
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - same;
    let end = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
    // Most edits only add or only remove pairs in one place.
    if room == end {
        let removed = old[same..old.len() - end].iter().map(|pair| change(pair.key, Some(pair.value), None));
        let added = new[same..new.len() - end].iter().map(|pair| change(pair.key, None, Some(pair.value)));
        return removed.chain(added).collect();
    }
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
    let mut changes = Vec::new();
    for pair in new {
        match kept.get_mut(&pair).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => changes.push(change(pair.key, rest.get_mut(pair.key).and_then(Vec::pop), Some(pair.value))),
        }
    }
    // Of each key, the values at the end of the old list are left.
    for pair in gone {
        if let Some(value) = rest.get_mut(pair.key).and_then(Vec::pop) {
            changes.push(change(pair.key, Some(value), None));
        }
    }
    changes.extend(orders.into_iter().map(|(key, old, new)| change(key, Some(old), Some(new))));
    changes
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
