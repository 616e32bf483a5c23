//! Convex volumes put together where they make a convex one.

use std::collections::{BTreeMap, BinaryHeap};

use crate::cells::{plane, volume};
use crate::geometry::{Plane, dot, double_area, faces, is_face, is_open};
use crate::source::Point;

/// How far a corner may be before a plane and still be behind it, in units.
const BEFORE: f64 = 0.02;

/// How far planes of one side may be apart.
const APART: f64 = 0.01;

/// More sides than a volume is given.
const MOST_SIDES: usize = 64;

/// Tries for each volume, on the average.
const TRIES: usize = 256;

/// A side of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    pub(crate) normal: [f32; 3],
    pub(crate) distance: f32,
    pub(crate) ring: Vec<Point>,
    pub(crate) look: Option<usize>,
}

impl Face {
    fn plane(&self) -> Plane {
        plane(self.normal, self.distance)
    }
}

/// A convex volume.
#[derive(Clone, Debug)]
pub(crate) struct Volume {
    pub(crate) contents: u32,
    pub(crate) faces: Vec<Face>,
    /// Whether space is next to it: it is needed.
    pub(crate) is_needed: bool,
}

impl Volume {
    fn size(&self) -> f64 {
        volume(self.faces.iter().map(|face| (&face.ring[..], face.plane())))
    }

    fn is_behind(&self, plane: &Plane) -> bool {
        self.faces.iter().flat_map(|face| &face.ring).all(|corner| plane.height(*corner) < BEFORE)
    }
}

/// The union of two volumes, if it is convex and their looks agree.
fn union(one: &Volume, other: &Volume) -> Option<Volume> {
    let planes = |volume: &Volume| volume.faces.iter().map(Face::plane).collect::<Vec<Plane>>();
    let (own, others) = (planes(one), planes(other));
    let meets = |a: &Plane, b: &Plane| dot(a.normal, b.normal) < 1e-6 - 1.0 && (a.distance + b.distance).abs() < APART;
    let (at, there) = own.iter().enumerate().find_map(|(at, plane)| {
        let there = others.iter().position(|other| meets(plane, other))?;
        Some((at, there))
    })?;
    // If each is behind all sides of the other one, all that these bound is one of the two.
    let is_behind = |volume: &Volume, planes: &[Plane], but: usize| {
        planes.iter().enumerate().all(|(at, plane)| at == but || volume.is_behind(plane))
    };
    if !is_behind(other, &own, at) || !is_behind(one, &others, there) {
        return None;
    }
    let mut all: Vec<Face> = Vec::with_capacity(own.len() + others.len());
    let first = one.faces.iter().enumerate().filter(|(side, _)| *side != at);
    let second = other.faces.iter().enumerate().filter(|(side, _)| *side != there);
    for (_, face) in first.chain(second) {
        let plane = face.plane();
        let is_its = |known: &&mut Face| {
            dot(known.plane().normal, plane.normal) > 1.0 - 1e-6
                && face.ring.iter().all(|corner| known.plane().height(*corner).abs() < BEFORE)
        };
        match all.iter_mut().find(is_its) {
            Some(known) => match (known.look, face.look) {
                (Some(own), Some(other)) if own != other => return None,
                (own, other) => known.look = own.or(other),
            },
            None => all.push(face.clone()),
        }
    }
    if all.len() > MOST_SIDES {
        return None;
    }
    let rings = faces(&all.iter().map(Face::plane).collect::<Vec<_>>());
    if rings.iter().any(|ring| is_open(ring)) {
        return None;
    }
    all.iter_mut().zip(rings).for_each(|(face, ring)| face.ring = ring);
    // A side that is no more one, and shows a look, says that rounding was at work.
    if all.iter().any(|face| !is_face(&face.ring) && face.look.is_some()) {
        return None;
    }
    all.retain(|face| is_face(&face.ring));
    let made = Volume { contents: one.contents, faces: all, is_needed: one.is_needed || other.is_needed };
    let (sum, size) = (one.size() + other.size(), made.size());
    ((size - sum).abs() <= sum.abs() * 1e-3 + 1.0).then_some(made)
}

/// A pair by the area that they share.
#[derive(Clone, Copy, Debug)]
struct Pair {
    area: f64,
    one: usize,
    other: usize,
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.area.total_cmp(&other.area).then(other.one.cmp(&self.one)).then(other.other.cmp(&self.other))
    }
}

/// Puts volumes together, those that share most first. `shared` has the areas between neighbors.
pub(crate) fn join(volumes: Vec<Volume>, shared: BTreeMap<(usize, usize), f64>) -> Vec<Volume> {
    let mut near: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); volumes.len()];
    let mut heap = BinaryHeap::with_capacity(shared.len());
    for ((one, other), area) in shared {
        near[one].insert(other, area);
        near[other].insert(one, area);
        heap.push(Pair { area, one, other });
    }
    let mut left = volumes.len().saturating_mul(TRIES);
    let mut all: Vec<Option<Volume>> = volumes.into_iter().map(Some).collect();
    while let Some(Pair { one, other, .. }) = heap.pop() {
        let (Some(first), Some(second)) = (&all[one], &all[other]) else { continue };
        let Some(more) = left.checked_sub(1) else { break };
        left = more;
        let Some(made) = union(first, second) else { continue };
        let new = all.len();
        all.push(Some(made));
        (all[one], all[other]) = (None, None);
        // The larger list takes the smaller one.
        let (mut list, small) = (std::mem::take(&mut near[one]), std::mem::take(&mut near[other]));
        for (neighbor, area) in small {
            *list.entry(neighbor).or_default() += area;
        }
        list.retain(|neighbor, _| all[*neighbor].is_some());
        for (neighbor, area) in &list {
            near[*neighbor].remove(&one);
            near[*neighbor].remove(&other);
            near[*neighbor].insert(new, *area);
            heap.push(Pair { area: *area, one: (*neighbor).min(new), other: (*neighbor).max(new) });
        }
        near.push(list);
    }
    all.into_iter().flatten().collect()
}

/// The area that is shared, from the parts of walls.
pub(crate) fn area(ring: &[Point]) -> f64 {
    double_area(ring) / 2.0
}
