//! Values of entities that refer to records.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::cascade::Needed;
use super::change::{Change, GONE, Why};
use super::outside::Outside;
use super::{FollowedRecords, refused};
use crate::bsp::{Bsp, Site, star};
use crate::content::entities::{Entities, Entity};
use crate::dialect::{EntityForm, EntityReference, Role};
use crate::error::Result;
use crate::file::SlotId;
use crate::record::Shape;

/// The entities of a map; `None` if it has no text.
pub(crate) fn read<'a>(map: &Bsp<'a>) -> Result<Option<(SlotId, Entities<'a>)>> {
    let Some(slot) = map.role(Role::Entities).filter(|slot| slot.length != 0) else { return Ok(None) };
    Ok(Some((slot.id, Entities::parse(map.bytes(slot.id)?, map.entity_rules())?)))
}

/// A value of an entity that refers to a record.
pub(crate) struct Value {
    pub(crate) reference: &'static EntityReference,
    pub(crate) entity: usize,
    /// Its place among all pairs of the entity.
    pub(crate) pair: usize,
    /// The number in it.
    pub(crate) number: i64,
}

/// The values of an entity that refer to records.
pub(crate) fn values(map: &Bsp<'_>, entity: &Entity<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    for reference in map.dialect().entity_references {
        let is_class = reference.class.is_empty() || entity.class() == Some(reference.class.as_bytes());
        let is_key = |key: &[u8]| is_class && key.eq_ignore_ascii_case(reference.key.as_bytes());
        for (at, pair) in entity.pairs().enumerate().filter(|(_, pair)| is_key(pair.key)) {
            let number = match reference.form {
                EntityForm::Starred => star(pair.value),
                EntityForm::Index | EntityForm::Field(_) => {
                    std::str::from_utf8(pair.value).ok().and_then(|value| value.trim().parse().ok())
                }
            };
            found.extend(number.map(|number| Value { reference, entity: entity.index(), pair: at, number }));
        }
    }
    found
}

/// The numbers that a field of all records of a site has.
pub(crate) fn numbers(site: &Site<'_>, field: &str) -> Vec<i64> {
    let Some(field) = site.record.field(field) else { return Vec::new() };
    let Shape::Number(number) = field.shape else { return Vec::new() };
    (0..site.len()).filter_map(|index| number.integer(site.record(index).get(field.offset..)?)).collect()
}

/// The numbers in a field of removed records that no other record has.
fn goes(site: &Site<'_>, field: &str, change: &Change) -> HashSet<i64> {
    let (mut gone, mut stays) = (HashSet::new(), HashSet::new());
    for (index, number) in numbers(site, field).into_iter().enumerate() {
        let to = if change.place(index) == Some(GONE) { &mut gone } else { &mut stays };
        to.insert(number);
    }
    gone.retain(|number| !stays.contains(number));
    gone
}

pub(super) fn follow(outside: Outside<'_, '_>) -> Result<()> {
    let Outside { map, links, changes, options, new: new_bytes, followed } = outside;
    let references = map.dialect().entity_references;
    let change_of = |lump: &str| links.referred(lump).and_then(|site| Some((site, changes.of.get(&site)?)));
    if !references.iter().any(|reference| change_of(reference.lump).is_some()) {
        return Ok(());
    }
    let Some((slot, mut entities)) = read(map)? else { return Ok(()) };
    let mut needed = Needed::default();
    // The new texts of values by entity and pair; `None` if the pair is removed.
    let mut edits: BTreeMap<usize, BTreeMap<usize, Option<String>>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut whole: BTreeSet<usize> = BTreeSet::new();
    // The numbers in fields that go.
    let mut gone: BTreeMap<&str, HashSet<i64>> = BTreeMap::new();
    for value in entities.iter().flat_map(|entity| values(map, &entity)) {
        let Some((site, change)) = change_of(value.reference.lump) else { continue };
        let target = &links.sites[site];
        let place = match value.reference.form {
            EntityForm::Field(field) if !change.removes() => {
                debug_assert!(target.record.field(field).is_some());
                continue;
            }
            EntityForm::Field(field) => {
                let gone = gone.entry(field).or_insert_with(|| goes(target, field, change));
                if gone.contains(&value.number) { Err(Why::Gone) } else { Ok(None) }
            }
            EntityForm::Starred | EntityForm::Index => change.index(value.number),
        };
        let new = match place {
            Ok(None) => continue,
            Ok(Some(index)) if value.reference.form == EntityForm::Starred => Some(format!("*{index}")),
            Ok(Some(index)) => Some(index.to_string()),
            // The first entity is the world.
            Err(Why::Gone) if options.cascade && value.reference.is_all && value.entity > 0 => {
                whole.insert(value.entity);
                continue;
            }
            Err(Why::Gone) if options.cascade => None,
            Err(Why::Gone) => {
                let what = || format!("{} {}", target.name, value.number);
                needed.add(what, || format!("ENTITIES[{}].{}", value.entity, value.reference.key));
                continue;
            }
            Err(why) => {
                let message = format!("ENTITIES[{}].{}: {}", value.entity, value.reference.key, why.text());
                return Err(refused("ENTITIES", message));
            }
        };
        *counts.entry(value.reference.key).or_default() += 1;
        edits.entry(value.entity).or_default().insert(value.pair, new);
    }
    if let Some(error) = needed.into_error() {
        return Err(error);
    }
    for (entity, pairs) in &edits {
        let set = pairs.iter().filter_map(|(pair, new)| Some((*pair, new.as_ref()?.as_bytes())));
        let removed = pairs.iter().filter(|(_, new)| new.is_none()).map(|(pair, _)| *pair);
        entities.get_mut(*entity)?.set_values(&set.collect::<Vec<_>>())?;
        entities.get_mut(*entity)?.remove(&removed.collect::<Vec<_>>())?;
    }
    if !whole.is_empty() {
        entities.remove_all(&whole.iter().copied().collect::<Vec<_>>())?;
        followed.removed.push(FollowedRecords { lump: "ENTITIES".to_owned(), count: whole.len() });
    }
    for (key, count) in counts {
        followed.note("ENTITIES", key, count);
    }
    if entities.is_edited() {
        new_bytes.insert(slot, entities.to_bytes());
    }
    Ok(())
}
