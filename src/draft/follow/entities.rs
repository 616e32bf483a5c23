//! Values of entities that refer to records.

use std::collections::BTreeMap;

use super::apply::Changes;
use super::cascade::Needed;
use super::change::Why;
use super::{Followed, Options, refused};
use crate::bsp::{Bsp, Links, Site, star};
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
    pub(crate) key: Vec<u8>,
    /// Which of the pairs with this key it is, from 1 on.
    pub(crate) nth: usize,
    /// The number in it.
    pub(crate) number: i64,
}

/// The values of an entity that refer to records.
pub(crate) fn values(map: &Bsp<'_>, entity: &Entity<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    for reference in map.dialect().entity_references {
        let is_class = reference.class.is_empty() || entity.class() == Some(reference.class.as_bytes());
        for (nth, value) in (1..).zip(entity.all(reference.key)).filter(|_| is_class) {
            let number = match reference.form {
                EntityForm::Starred => star(value),
                EntityForm::Index | EntityForm::Field(_) => {
                    std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok())
                }
            };
            let key = reference.key.as_bytes().to_vec();
            found.extend(number.map(|number| Value { reference, entity: entity.index(), key, nth, number }));
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

pub(super) fn follow(
    map: &Bsp<'_>,
    links: &Links<'_>,
    changes: &Changes,
    options: &Options,
    new: &mut BTreeMap<SlotId, Vec<u8>>,
    followed: &mut Followed,
) -> Result<()> {
    let references = map.dialect().entity_references;
    let change_of = |lump: &str| links.referred(lump).and_then(|site| Some((site, changes.of.get(&site)?)));
    if !references.iter().any(|reference| change_of(reference.lump).is_some()) {
        return Ok(());
    }
    let Some((slot, mut entities)) = read(map)? else { return Ok(()) };
    let (mut needed, mut removed, mut edits) = (Needed::default(), Vec::new(), Vec::new());
    let mut left: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for value in entities.iter().flat_map(|entity| values(map, &entity)) {
        let Some((site, change)) = change_of(value.reference.lump) else { continue };
        let target = &links.sites[site];
        let place = match value.reference.form {
            EntityForm::Field(field) if !change.removes() => {
                debug_assert!(target.record.field(field).is_some());
                continue;
            }
            // The number is needed as long as one record has it.
            EntityForm::Field(field) => {
                let all = numbers(target, field);
                let stays = left.entry(field).or_insert_with(|| {
                    let stays = (0..target.len()).filter(|index| change.place(*index) != Some(super::change::GONE));
                    stays.filter_map(|index| all.get(index).copied()).collect()
                });
                match all.contains(&value.number) && !stays.contains(&value.number) {
                    true => Err(Why::Gone),
                    false => Ok(None),
                }
            }
            EntityForm::Starred | EntityForm::Index => change.index(value.number),
        };
        match place {
            Ok(None) => {}
            Ok(Some(index)) => edits.push((value, index)),
            Err(Why::Gone) if options.cascade => removed.push(value),
            Err(Why::Gone) => {
                let what = || format!("{} {}", target.name, value.number);
                needed.add(what, || format!("ENTITIES[{}].{}", value.entity, value.reference.key));
            }
            Err(why) => {
                let message = format!("ENTITIES[{}].{}: {}", value.entity, value.reference.key, why.text());
                return Err(refused("ENTITIES", message));
            }
        }
    }
    if let Some(error) = needed.into_error() {
        return Err(error);
    }
    for (value, index) in &edits {
        let text = if value.reference.form == EntityForm::Starred { format!("*{index}") } else { index.to_string() };
        entities.get_mut(value.entity)?.set_nth(&value.key, value.nth, text)?;
    }
    for value in removed.iter().rev() {
        entities.get_mut(value.entity)?.unset_nth(&value.key, value.nth)?;
    }
    for key in references.iter().map(|reference| reference.key) {
        let count =
            edits.iter().map(|(value, _)| value).chain(&removed).filter(|value| value.reference.key == key).count();
        followed.note("ENTITIES", key, count);
    }
    if entities.is_edited() {
        new.insert(slot, entities.to_bytes());
    }
    Ok(())
}
