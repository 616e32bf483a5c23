//! What an edit of entities or of the pakfile makes wrong. Only what it touched is looked at: nothing is parsed again,
//! and no other lump is read unless touched entities refer to it.

use super::lumps::Lumps;
use super::sink::{self, Sink};
use super::{Finding, Options, entities, limits};
use crate::bsp::Bsp;
use crate::content::entities::{Entities, Entity, Pair};
use crate::dialect::{Engine, Role, Unit};
use crate::draft::Draft;
use crate::file::SlotId;

/// The findings that an edit adds; `None` if it touched anything else, or if it is not known what of it is new.
pub(super) fn introduced(
    draft: &Draft<'_>,
    view: &Bsp<'_>,
    touched: &[SlotId],
    engine: Option<&'static Engine>,
    options: &Options,
) -> Option<Vec<Finding>> {
    let (old, edited) = (draft.bsp(), draft.open_content().entities);
    let is_read_from = |slot| {
        let bytes = old.bytes(slot).ok();
        edited.zip(bytes).is_some_and(|(edited, bytes)| edited.is_read_from(&bytes))
    };
    let is_known = |slot: &SlotId| match old.role_of(*slot) {
        Some(Role::Entities) => is_read_from(*slot) && view.container().slot(*slot).is_some_and(|slot| slot.length > 0),
        // Its own lens wrote it, and no record or entity depends on it.
        Some(Role::Pak) => view.container().is_rope(*slot),
        _ => false,
    };
    if !touched.iter().all(is_known) {
        return None;
    }
    let has_entities = touched.iter().any(|slot| old.role_of(*slot) == Some(Role::Entities));
    let edit = edited.filter(|_| has_entities).map(Edit::of);
    let sides = |bsp, is_new| {
        let mut sink = Sink::new(&options.allowed, sink::COMPARED);
        check(bsp, edit.as_ref(), is_new, touched, engine, &mut sink);
        sink
    };
    let new = sides(view, true);
    Some(if new.is_empty() { Vec::new() } else { new.without(sides(old, false)).into_findings() })
}

/// An entity that is on one side only, or on both and not the same: the index before, the index now, and the first
/// pair that differs.
#[derive(Clone, Copy)]
struct Touched {
    before: Option<usize>,
    now: Option<usize>,
    from: usize,
}

/// An edit of entities.
struct Edit<'e, 'a> {
    old: Entities<'a>,
    new: &'e Entities<'a>,
    touched: Vec<Touched>,
}

impl<'e, 'a> Edit<'e, 'a> {
    fn of(new: &'e Entities<'a>) -> Self {
        let old = new.original();
        let mut is_kept = vec![false; old.len()];
        let mut touched = Vec::new();
        for index in 0..new.len() {
            let before = new.origin(index);
            before.into_iter().for_each(|before| is_kept[before] = true);
            if !new.is_as_read(index) {
                let from = match (before.and_then(|before| old.get(before)), new.get(index)) {
                    (Some(old), Some(new)) => old.pairs().zip(new.pairs()).take_while(|(old, new)| old == new).count(),
                    _ => 0,
                };
                touched.push(Touched { before, now: Some(index), from });
            }
        }
        let gone = is_kept.iter().enumerate().filter(|(_, is_kept)| !**is_kept);
        touched.extend(gone.map(|(before, _)| Touched { before: Some(before), now: None, from: 0 }));
        Edit { old, new, touched }
    }

    fn side(&self, is_new: bool) -> &Entities<'a> {
        if is_new { self.new } else { &self.old }
    }

    /// The touched entities of one side, each with its first pair that differs.
    fn these(&self, is_new: bool) -> impl Iterator<Item = (Entity<'_>, usize)> + Clone {
        let side = self.side(is_new);
        self.touched.iter().filter_map(move |touched| {
            let index = if is_new { touched.now } else { touched.before };
            Some((side.get(index?)?, touched.from))
        })
    }

    /// Whether the edit changed a pair that is so: one of a new or removed entity, or one that is not the same before
    /// and now. Of entities with as many pairs as before these are the pairs that differ; otherwise all from the first
    /// one that does.
    fn changed(&self, is_so: impl Fn(&Pair<'_>) -> bool) -> bool {
        self.touched.iter().any(|touched| {
            let before = touched.before.and_then(|index| self.old.get(index));
            let now = touched.now.and_then(|index| self.new.get(index));
            match (before, now) {
                (Some(before), Some(now)) if before.pairs().len() == now.pairs().len() => {
                    let mut pairs = before.pairs().zip(now.pairs()).skip(touched.from);
                    pairs.any(|(before, now)| before != now && (is_so(&before) || is_so(&now)))
                }
                (before, now) => {
                    let mut sides = before.into_iter().chain(now);
                    sides.any(|entity| entity.pairs().skip(touched.from).any(|pair| is_so(&pair)))
                }
            }
        })
    }

    /// Whether names of entities were edited, or what calls entities by their names.
    fn is_of_targets(&self) -> bool {
        self.changed(entities::is_of_targets)
    }

    /// Whether the game keeps as many entities as before, since nothing was edited by which it chooses.
    fn keeps_as_many(&self, bsp: &Bsp<'_>) -> bool {
        let spawn = &bsp.dialect().checks.spawn;
        let is_choosing = |pair: &Pair<'_>| {
            let mut keys = ["classname", "targetname", "spawnflags"].iter().chain(spawn.mode_keys);
            keys.any(|name| pair.key.eq_ignore_ascii_case(name.as_bytes()))
        };
        self.touched.iter().all(|touched| touched.before.is_some() && touched.now.is_some())
            && !self.changed(is_choosing)
    }
}

fn check(
    bsp: &Bsp<'_>,
    edit: Option<&Edit<'_, '_>>,
    is_new: bool,
    touched: &[SlotId],
    engine: Option<&'static Engine>,
    sink: &mut Sink,
) {
    let refers = edit.is_some_and(|edit| edit.these(is_new).any(|(entity, _)| entities::has_references(bsp, &entity)));
    let lumps = Lumps::read(bsp, |slot| refers && entities::refer_to(bsp, &slot.name));
    if let (Some(edit), Some(slot)) = (edit, bsp.role(Role::Entities)) {
        let (links, side) = (lumps.links(), edit.side(is_new));
        entities::check_these(&lumps, &links, engine, &slot.name, side, edit.these(is_new), sink);
        if edit.is_of_targets() {
            entities::check_targets(&slot.name, side, sink);
        }
    }
    let Some(engine) = engine else { return };
    let is_touched = |lump: &str| {
        let mut slots = bsp.slots().iter().filter(|slot| slot.name == lump);
        slots.any(|slot| touched.contains(&slot.id))
    };
    let counts = edit.is_some_and(|edit| !edit.keeps_as_many(bsp));
    let limits = engine.limits.iter().filter(|limit| is_touched(limit.lump) && (counts || limit.unit != Unit::InGame));
    limits::check_these(&lumps, engine, limits, edit.map(|edit| edit.side(is_new)), sink);
}
