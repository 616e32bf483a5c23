//! Convex volumes put together where they make a convex one.

use std::collections::{BTreeMap, BinaryHeap};

use crate::cells::{Wall, plane, volume};
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
    pub(crate) fn plane(&self) -> Plane {
        plane(self.normal, self.distance)
    }

    /// The same as a wall that shows nothing.
    pub(crate) fn wall(&self) -> Wall {
        let (normal, distance, ring) = (self.normal, self.distance, self.ring.clone());
        Wall { normal, distance, ring, is_rim: false, shown: Vec::new() }
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
    pub(crate) fn size(&self) -> f64 {
        volume(self.faces.iter().map(|face| (&face.ring[..], face.plane())))
    }

    pub(crate) fn is_behind(&self, plane: &Plane) -> bool {
        self.faces.iter().flat_map(|face| &face.ring).all(|corner| plane.height(*corner) < BEFORE)
    }
}

/// The union of two volumes, if it is convex and their looks agree.
pub(crate) fn union(one: &Volume, other: &Volume) -> Option<Volume> {
    let planes = |volume: &Volume| volume.faces.iter().map(Face::plane).collect::<Vec<Plane>>();
    let (own, others) = (planes(one), planes(other));
    let meets = |a: &Plane, b: &Plane| dot(a.normal, b.normal) < 1e-6 - 1.0 && (a.distance + b.distance).abs() < APART;
    let (at, there) = own.iter().enumerate().find_map(|(at, plane)| {
        let there = others.iter().position(|other| meets(plane, other))?;
        Some((at, there))
    })?;
    // What shows between them is to stay.
    if one.faces[at].look.is_some() || other.faces[there].look.is_some() {
        return None;
    }
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
    // A side that is not one any more, and shows a look, says that rounding was at work.
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

/// Volumes with their neighbors, while they are put together.
pub(crate) struct Joins {
    all: Vec<Option<Volume>>,
    /// The area that each shares with its neighbors.
    near: Vec<BTreeMap<usize, f64>>,
    heap: BinaryHeap<Pair>,
    /// Pairs that may still be tried.
    left: usize,
}

impl Joins {
    /// `shared` has the areas between neighbors.
    pub(crate) fn new(volumes: Vec<Volume>, shared: &BTreeMap<(usize, usize), f64>) -> Self {
        let mut near: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); volumes.len()];
        for ((one, other), area) in shared {
            near[*one].insert(*other, *area);
            near[*other].insert(*one, *area);
        }
        let left = volumes.len().saturating_mul(TRIES);
        Joins { all: volumes.into_iter().map(Some).collect(), near, heap: BinaryHeap::new(), left }
    }

    /// Puts together what `union` gives, those that share most first, until there is nothing more.
    pub(crate) fn run(&mut self, mut union: impl FnMut(&Volume, &Volume) -> Option<Volume>) {
        for (one, list) in self.near.iter().enumerate().filter(|(one, _)| self.all[*one].is_some()) {
            let pairs = list.iter().filter(|(other, _)| **other > one && self.all[**other].is_some());
            self.heap.extend(pairs.map(|(other, area)| Pair { area: *area, one, other: *other }));
        }
        while let Some(Pair { one, other, .. }) = self.heap.pop() {
            let (Some(first), Some(second)) = (&self.all[one], &self.all[other]) else { continue };
            let Some(more) = self.left.checked_sub(1) else { break };
            self.left = more;
            if let Some(made) = union(first, second) {
                self.replace(one, other, made);
            }
        }
        self.heap.clear();
    }

    fn replace(&mut self, one: usize, other: usize, made: Volume) {
        let new = self.all.len();
        (self.all[one], self.all[other]) = (None, None);
        // The larger list takes the smaller one.
        let (mut list, mut small) = (std::mem::take(&mut self.near[one]), std::mem::take(&mut self.near[other]));
        if list.len() < small.len() {
            std::mem::swap(&mut list, &mut small);
        }
        // What lies within is of no more use.
        let planes: Vec<Plane> = made.faces.iter().map(Face::plane).collect();
        let is_within = |volume: &Volume| planes.iter().all(|plane| volume.is_behind(plane));
        let neighbors: Vec<usize> = list.keys().chain(small.keys()).copied().collect();
        for neighbor in neighbors {
            if self.all[neighbor].as_ref().is_some_and(is_within) {
                self.all[neighbor] = None;
                small.extend(std::mem::take(&mut self.near[neighbor]));
            }
        }
        for (neighbor, area) in small {
            *list.entry(neighbor).or_default() += area;
        }
        list.retain(|neighbor, _| self.all[*neighbor].is_some());
        self.all.push(Some(made));
        for (neighbor, area) in &list {
            self.near[*neighbor].remove(&one);
            self.near[*neighbor].remove(&other);
            self.near[*neighbor].insert(new, *area);
            self.heap.push(Pair { area: *area, one: (*neighbor).min(new), other: (*neighbor).max(new) });
        }
        self.near.push(list);
    }

    /// Forgets what no space is next to.
    pub(crate) fn keep_needed(&mut self) {
        self.all.iter_mut().for_each(|volume| *volume = volume.take().filter(|volume| volume.is_needed));
    }

    pub(crate) fn finish(self) -> Vec<Volume> {
        self.all.into_iter().flatten().collect()
    }
}

/// The area that is shared, from the parts of walls.
pub(crate) fn area(ring: &[Point]) -> f64 {
    double_area(ring) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with looks on its sides: east, west, north, south, up, down.
    fn cube(mins: [f32; 3], maxs: [f32; 3], looks: [Option<usize>; 6]) -> Volume {
        let planes = crate::cells::box_planes([mins, maxs]);
        let rings = faces(&planes.iter().map(|(normal, distance)| plane(*normal, *distance)).collect::<Vec<_>>());
        let face = |((normal, distance), ring): (_, _), look| Face { normal, distance, ring, look };
        let faces = planes.into_iter().zip(rings).zip(looks).map(|(at, look)| face(at, look)).collect();
        Volume { contents: 1, faces, is_needed: true }
    }

    fn joined(volumes: Vec<Volume>, pairs: &[(usize, usize)]) -> usize {
        let mut joins = Joins::new(volumes, &pairs.iter().map(|pair| (*pair, 1.0)).collect());
        joins.run(union);
        joins.finish().len()
    }

    #[test]
    fn boxes_of_one_size_are_joined() {
        let row = |looks| {
            let at = |x: f32| cube([x, 0.0, 0.0], [x + 8.0, 8.0, 8.0], looks);
            vec![at(0.0), at(8.0), at(16.0), at(24.0)]
        };
        let pairs = [(0, 1), (1, 2), (2, 3)];
        assert_eq!(joined(row([None; 6]), &pairs), 1);
        assert_eq!(joined(row([None, None, Some(1), None, Some(2), None]), &pairs), 1);
    }

    #[test]
    fn boxes_around_a_corner_are_not_joined() {
        let one = cube([0.0; 3], [8.0; 3], [None; 6]);
        for other in [
            cube([8.0, 0.0, 0.0], [16.0, 8.0, 9.0], [None; 6]),
            cube([8.0, 0.0, 0.0], [16.0, 4.0, 8.0], [None; 6]),
            cube([8.0, 2.0, 0.0], [16.0, 10.0, 8.0], [None; 6]),
            cube([9.0, 0.0, 0.0], [16.0, 8.0, 8.0], [None; 6]),
        ] {
            assert_eq!(joined(vec![one.clone(), other], &[(0, 1)]), 2);
        }
    }

    #[test]
    fn boxes_with_two_textures_on_one_side_are_not_joined() {
        let at = |x: f32, look| cube([x, 0.0, 0.0], [x + 8.0, 8.0, 8.0], [None, None, None, None, look, None]);
        let pair = |other| joined(vec![at(0.0, Some(1)), at(8.0, other)], &[(0, 1)]);
        assert_eq!([pair(Some(1)), pair(None), pair(Some(2))], [1, 1, 2]);
    }
}
