//! Brush models by their content. Compilers number models in the order of entities, so that one brush entity more gives
//! all later models other numbers.

use std::collections::hash_map::{DefaultHasher, HashMap};
use std::hash::{Hash, Hasher};

use super::change::Renumbered;
use bspkit::Bsp;
use bspkit::bytes::Data;
use bspkit::content::entities::{Entities, Entity};
use bspkit::content::outlines::{Outlines, Point};
use bspkit::dialect::Role;
use bspkit::links::star;

/// What a model of one map is in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Other {
    model: usize,
    /// Whether its box and its faces say so.
    is_certain: bool,
}

/// The models of two maps.
#[derive(Debug, Default)]
pub(super) struct Models {
    /// For each old model the new one.
    others: Vec<Option<Other>>,
}

/// The models of one map.
struct Side {
    /// The box, and the faces; without what cannot be read.
    boxes: Vec<Option<u64>>,
    shapes: Vec<Option<u64>>,
    /// Who has the model, if one entity has it: class and name, class and place.
    owners: Vec<[Option<u64>; 2]>,
}

impl Models {
    /// The models of two maps; `None` if their records are the same, and with them the numbers.
    pub(super) fn find(old: &Bsp<'_>, new: &Bsp<'_>) -> Option<Self> {
        let (before, after) = (old.role(Role::Models)?.id, new.role(Role::Models)?.id);
        let is_same = |(old, new): (Data<'_>, Data<'_>)| *old == *new;
        if is_same((old.stored(before), new.stored(after)))
            || is_same((old.little_endian(before).ok()?, new.little_endian(after).ok()?))
        {
            return None;
        }
        let (old, new) = (Side::read(old)?, Side::read(new)?);
        let mut models = Models { others: vec![None; old.boxes.len()] };
        let mut is_taken = vec![false; new.boxes.len()];
        // The world.
        models.take(0, Other { model: 0, is_certain: true }, &mut is_taken);
        let shape = |side: &Side, model: usize| side.shapes[model];
        models.alone(&old, &new, &mut is_taken, true, shape);
        for owner in [0, 1] {
            let both = |side: &Side, model: usize| Some(hash(&(side.shapes[model]?, side.owners[model][owner]?)));
            models.alone(&old, &new, &mut is_taken, true, both);
        }
        models.alike(&old, &new, &mut is_taken);
        models.alone(&old, &new, &mut is_taken, false, |side, model| side.boxes[model]);
        for owner in [0, 1] {
            models.alone(&old, &new, &mut is_taken, false, |side, model| side.owners[model][owner]);
        }
        models.between(&mut is_taken);
        Some(models)
    }

    fn take(&mut self, old: usize, other: Other, is_taken: &mut [bool]) {
        if let (Some(found), Some(is_taken)) = (self.others.get_mut(old), is_taken.get_mut(other.model)) {
            *found = Some(other);
            *is_taken = true;
        }
    }

    /// Pairs models that alone have something among those that are left.
    fn alone(
        &mut self,
        old: &Side,
        new: &Side,
        is_taken: &mut [bool],
        is_certain: bool,
        what: impl Fn(&Side, usize) -> Option<u64>,
    ) {
        let mut known: HashMap<u64, [Vec<usize>; 2]> = HashMap::new();
        for model in (0..self.others.len()).filter(|model| self.others[*model].is_none()) {
            what(old, model).into_iter().for_each(|what| known.entry(what).or_default()[0].push(model));
        }
        for model in (0..is_taken.len()).filter(|model| !is_taken[*model]) {
            what(new, model).into_iter().for_each(|what| known.entry(what).or_default()[1].push(model));
        }
        for both in known.into_values() {
            if let ([old], [new]) = (&both[0][..], &both[1][..]) {
                self.take(*old, Other { model: *new, is_certain }, is_taken);
            }
        }
    }

    /// Pairs models with the same content. Those with the same number are the same; the others are in their order if
    /// there are as many, and nothing says which is which.
    fn alike(&mut self, old: &Side, new: &Side, is_taken: &mut [bool]) {
        let mut known: HashMap<u64, [Vec<usize>; 2]> = HashMap::new();
        for model in 0..self.others.len() {
            let shape = old.shapes[model];
            if self.others[model].is_some() {
                continue;
            }
            if shape.is_some() && new.shapes.get(model) == Some(&shape) && !is_taken[model] {
                self.take(model, Other { model, is_certain: true }, is_taken);
            } else if let Some(shape) = shape {
                known.entry(shape).or_default()[0].push(model);
            }
        }
        for model in (0..is_taken.len()).filter(|model| !is_taken[*model]) {
            new.shapes[model].into_iter().for_each(|shape| known.entry(shape).or_default()[1].push(model));
        }
        for [old, new] in known.into_values().filter(|[old, new]| old.len() == new.len()) {
            for (old, new) in old.into_iter().zip(new) {
                self.take(old, Other { model: new, is_certain: false }, is_taken);
            }
        }
    }

    /// Pairs the models that are left between two that are known, if as many are left in both maps.
    fn between(&mut self, is_taken: &mut [bool]) {
        let (mut old, mut new) = (0, 0);
        while old < self.others.len() {
            if let Some(other) = self.others[old] {
                (old, new) = (old + 1, other.model + 1);
                continue;
            }
            let left = self.others[old..].iter().take_while(|other| other.is_none()).count();
            let free = is_taken.get(new..).unwrap_or_default().iter().take_while(|is_taken| !**is_taken).count();
            // After the last known one, models may only be added.
            let is_last = old + left == self.others.len();
            if left == free || is_last && left < free {
                for at in 0..left {
                    self.take(old + at, Other { model: new + at, is_certain: old == new }, is_taken);
                }
            }
            old += left;
        }
    }

    /// The new number of an old model.
    pub(super) fn of(&self, model: usize) -> Option<usize> {
        self.others.get(model)?.map(|other| other.model)
    }

    /// For each new model the old one.
    pub(super) fn pairing(&self, count: usize) -> Vec<Option<usize>> {
        let mut pairing = vec![None; count];
        for (old, other) in self.others.iter().enumerate() {
            if let Some(from) = other.and_then(|other| pairing.get_mut(other.model)) {
                *from = Some(old);
            }
        }
        pairing
    }

    /// The new value of a key that names an old model.
    pub(super) fn value(&self, value: &[u8]) -> Option<Vec<u8>> {
        Some(format!("*{}", self.of(number(value)?)?).into_bytes())
    }

    /// The new number of a model, if these values say that it has another one.
    pub(super) fn renumbered(&self, old: &[u8], new: &[u8]) -> Option<Renumbered> {
        self.numbers(number(old)?, number(new)?)
    }

    /// The new number of a model, if it is this one, and another one than before.
    pub(super) fn numbers(&self, old: usize, new: usize) -> Option<Renumbered> {
        let other = (*self.others.get(old)?).filter(|other| other.model == new && old != new)?;
        Some(Renumbered { old, new, is_certain: other.is_certain })
    }
}

/// The number of the model that a value names: `*12`.
fn number(value: &[u8]) -> Option<usize> {
    star(value).and_then(|number| usize::try_from(number).ok())
}

impl Side {
    fn read(map: &Bsp<'_>) -> Option<Self> {
        let records = map.records(Role::Models).ok()?;
        let fields = ["mins", "maxs"].map(|name| records.info().field(name));
        let outlines = Outlines::read(map);
        let (mut boxes, mut shapes) = (Vec::new(), Vec::new());
        for model in 0..records.len() {
            let record = records.get(model).unwrap_or_default();
            let corners = fields.map(|field| record.get(field?.offset..field?.offset + field?.shape.size()));
            let own = corners.iter().all(Option::is_some).then(|| hash(&corners));
            // The world is the same one.
            let shape = if model == 0 { None } else { shape(&outlines, model) };
            boxes.push(own);
            shapes.push(own.zip(shape).map(|both| hash(&both)));
        }
        let mut owners = vec![[None; 2]; records.len()];
        if let Ok(entities) = map.entities() {
            find_owners(&entities, &mut owners);
        }
        Some(Side { boxes, shapes, owners })
    }
}

/// Who has each model. A model that several entities have has no owner.
fn find_owners(entities: &Entities<'_>, owners: &mut [[Option<u64>; 2]]) {
    let mut is_seen = vec![false; owners.len()];
    for entity in entities.iter() {
        let Some(model) = entity.get("model").and_then(number).filter(|model| *model < owners.len()) else { continue };
        let of = |entity: &Entity<'_>, keys: [&str; 2]| {
            let values = keys.map(|key| entity.get(key).filter(|value| !value.is_empty()));
            values.iter().all(Option::is_some).then(|| hash(&(keys, values)))
        };
        owners[model] = match std::mem::replace(&mut is_seen[model], true) {
            true => [None; 2],
            false => [of(&entity, ["classname", "targetname"]), of(&entity, ["classname", "origin"])],
        };
    }
}

/// The faces of a model, in any order and with any first corner; `None` if one cannot be read, or without any.
fn shape(outlines: &Outlines<'_>, model: usize) -> Option<u64> {
    /// Points that are nearer to each other are the same: compilers calculate corners anew.
    const PER_UNIT: f32 = 16.0;
    let near = |point: &Point| point.map(|part| bspkit::bytes::integer((part * PER_UNIT).round()).unwrap_or(i32::MAX));
    let faces = outlines.model(model);
    let (count, mut sum) = (faces.len(), 0_u64);
    for face in faces {
        let lines = outlines.face(face).filter(|lines| !lines.is_empty())?;
        let corners = lines.iter().map(|[from, _]| hash(&near(from))).fold(0, u64::wrapping_add);
        sum = sum.wrapping_add(hash(&(lines.len(), corners)));
    }
    (count > 0).then(|| hash(&(count, sum)))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
