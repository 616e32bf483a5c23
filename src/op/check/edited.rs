//! What an edit of entities or of the pakfile makes wrong. Only what it touched is looked at: nothing is parsed again,
//! and no other lump is read unless touched entities refer to it.

use super::entities::Looked;
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
    let edit = edited.filter(|_| has_entities).map(|new| Edit::of(view, new));
    let sides = |bsp, is_new| {
        let mut sink = Sink::new(&options.allowed, sink::COMPARED);
        check(bsp, edit.as_ref(), is_new, touched, engine, &mut sink);
        sink
    };
    let new = sides(view, true);
    Some(if new.is_empty() { Vec::new() } else { new.without(sides(old, false)).into_findings() })
}

/// An entity that is on one side only, or on both and not the same: the index before and the index now.
#[derive(Clone, Copy)]
struct Touched {
    before: Option<usize>,
    now: Option<usize>,
    /// How many first and last pairs are the same on both sides.
    first: usize,
    last: usize,
    /// Whether it has a pair that differs and says to which records it refers, or that it has to.
    is_of_records: bool,
}

/// An edit of entities.
struct Edit<'e, 'a> {
    old: Entities<'a>,
    new: &'e Entities<'a>,
    touched: Vec<Touched>,
    /// Whether names of entities were edited, or what calls entities by their names.
    is_of_targets: bool,
    /// Whether the game keeps as many entities as before, since nothing was edited by which it chooses.
    keeps_as_many: bool,
}

impl<'e, 'a> Edit<'e, 'a> {
    fn of(bsp: &Bsp<'_>, new: &'e Entities<'a>) -> Self {
        let old = new.original();
        let mut is_kept = vec![false; old.len()];
        let mut edit = Edit { old, new, touched: Vec::new(), is_of_targets: false, keeps_as_many: true };
        for index in 0..new.len() {
            let before = new.origin(index);
            before.into_iter().for_each(|before| is_kept[before] = true);
            if !new.is_as_read(index) {
                edit.touch(bsp, before, Some(index));
            }
        }
        for (before, _) in is_kept.iter().enumerate().filter(|(_, is_kept)| !**is_kept) {
            edit.touch(bsp, Some(before), None);
        }
        edit
    }

    /// Adds an entity. Of one with as many pairs as before, the pairs that differ are what was edited; of others those
    /// between the first and the last that do.
    fn touch(&mut self, bsp: &Bsp<'_>, before: Option<usize>, now: Option<usize>) {
        let old = before.and_then(|before| self.old.get(before));
        let new = now.and_then(|now| self.new.get(now));
        let is_one = old.is_some() != new.is_some();
        let mut touched = Touched { before, now, first: 0, last: 0, is_of_records: is_one };
        self.keeps_as_many &= !is_one;
        let mode_keys = bsp.dialect().checks.spawn.mode_keys;
        let mut look = |pair: Pair<'_>| {
            touched.is_of_records |= entities::is_of_records(bsp, &pair);
            self.is_of_targets = self.is_of_targets || entities::is_of_targets(&pair);
            let mut choosing = ["classname", "targetname", "spawnflags"].iter().chain(mode_keys);
            let is_choosing = choosing.any(|name| pair.key.eq_ignore_ascii_case(name.as_bytes()));
            self.keeps_as_many = self.keeps_as_many && !is_choosing;
        };
        let (Some(old), Some(new)) = (&old, &new) else {
            old.iter().chain(&new).flat_map(Entity::pairs).for_each(look);
            self.touched.push(touched);
            return;
        };
        let (old_len, new_len) = (old.pairs().len(), new.pairs().len());
        let room = old_len.min(new_len);
        let is_same = |at: usize| old.has_pair_of(at, new, at);
        let first = (0..room).take_while(|at| is_same(*at)).count();
        let is_same_from_end = |at: usize| old.has_pair_of(old_len - 1 - at, new, new_len - 1 - at);
        let last = (0..room - first).take_while(|at| is_same_from_end(*at)).count();
        let is_edited = |at: &usize| old_len != new_len || !is_same(*at);
        for (entity, end) in [(old, old_len - last), (new, new_len - last)] {
            (first..end).filter(is_edited).flat_map(|at| entity.pairs_in(at..at + 1)).for_each(&mut look);
        }
        (touched.first, touched.last) = (first, last);
        self.touched.push(touched);
    }

    fn side(&self, is_new: bool) -> &Entities<'a> {
        if is_new { self.new } else { &self.old }
    }

    /// The touched entities of one side, each with the pairs that differ.
    fn these(&self, is_new: bool) -> impl Iterator<Item = Looked<'_>> + Clone {
        let side = self.side(is_new);
        self.touched.iter().filter_map(move |touched| {
            let entity = side.get(if is_new { touched.now } else { touched.before }?)?;
            let pairs = touched.first..entity.pairs().len() - touched.last;
            Some(Looked { entity, pairs, is_of_records: touched.is_of_records })
        })
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
    let refers = edit.is_some_and(|edit| edit.these(is_new).any(|looked| looked.has_references(bsp)));
    let lumps = Lumps::read(bsp, |slot| refers && entities::refer_to(bsp, &slot.name));
    if let (Some(edit), Some(slot)) = (edit, bsp.role(Role::Entities)) {
        let (links, side) = (lumps.links(), edit.side(is_new));
        entities::check_these(&lumps, &links, engine, &slot.name, side, edit.these(is_new), sink);
        if edit.is_of_targets {
            entities::check_targets(&slot.name, side, sink);
        }
    }
    let Some(engine) = engine else { return };
    let is_touched = |lump: &str| {
        let mut slots = bsp.slots().iter().filter(|slot| slot.name == lump);
        slots.any(|slot| touched.contains(&slot.id))
    };
    let counts = edit.is_some_and(|edit| !edit.keeps_as_many);
    let limits = engine.limits.iter().filter(|limit| is_touched(limit.lump) && (counts || limit.unit != Unit::InGame));
    limits::check_these(&lumps, engine, limits, edit.map(|edit| edit.side(is_new)), sink);
}
