//! Rules for entities.

use super::Policy;
use super::code::{COUNT, ENTITY, KEY, SIZE};
use crate::bsp::Bsp;
use crate::bytes::escaped;
use crate::content::entities::{Entities, Entity};
use crate::dialect::Role;
use crate::op::check::{At, Sink};

pub(super) fn check(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.entities;
    let Some(slot) = bsp.role(Role::Entities) else { return };
    // A text that cannot be read is a finding of `check`.
    let Ok(bytes) = bsp.bytes(slot.id) else { return };
    let at = At::lump(&slot.name);
    if let Some(most) = rules.max_bytes.filter(|most| bytes.len() > *most) {
        sink.add(&SIZE, at, || format!("it has {} bytes, and at most {most} are allowed", bytes.len()));
    }
    let Ok(entities) = Entities::parse(bytes, bsp.entity_rules()) else { return };
    if let Some(most) = rules.max_count.filter(|most| entities.len() > *most) {
        sink.add(&COUNT, at, || format!("it has {} entities, and at most {most} are allowed", entities.len()));
    }
    for selector in rules.required.iter().filter(|selector| entities.select(selector).is_empty()) {
        sink.add(&ENTITY, at, || format!("no entity matches {selector}, which is required"));
    }
    for selector in &rules.forbidden {
        for entity in entities.select(selector).into_iter().filter_map(|index| entities.get(index)) {
            sink.add(&ENTITY, at.record(entity.index()), || {
                format!("{} matches {selector}, which is forbidden", class(&entity))
            });
        }
    }
    for (selector, keys) in &rules.required_keys {
        for entity in entities.select(selector).into_iter().filter_map(|index| entities.get(index)) {
            for key in keys.iter().filter(|key| entity.get(key.as_bytes()).is_none()) {
                sink.add(&KEY, at.record(entity.index()), || {
                    format!("{} has no `{key}`, which is required", class(&entity))
                });
            }
        }
    }
    for (selector, keys) in &rules.forbidden_keys {
        for entity in entities.select(selector).into_iter().filter_map(|index| entities.get(index)) {
            for key in keys.iter().filter(|key| entity.get(key.as_bytes()).is_some()) {
                sink.add(&KEY, at.record(entity.index()), || {
                    format!("{} has `{key}`, which is forbidden", class(&entity))
                });
            }
        }
    }
}

fn class(entity: &Entity<'_>) -> String {
    match entity.class() {
        Some(class) => format!("`{}`", escaped(class)),
        None => "an entity without a class".to_owned(),
    }
}
