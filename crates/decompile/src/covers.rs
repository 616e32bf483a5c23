//! Larger volumes around two, where all that they take in is solid, too: brushes of mappers overlap.

use crate::cells::{Cells, turn};
use crate::geometry::{Plane, clip, dot, faces, is_face, is_open, mean, plus, times};
use crate::joins::{Face, Volume};
use crate::source::Point;

/// How far a corner may be off a plane and still be on it, in units.
const ON: f64 = 0.02;

/// How much larger than two volumes one around them may be: those that are larger have space in them, nearly always.
const LARGER: f64 = 8.0;

/// More sides than a volume is given.
const MOST_SIDES: usize = 32;

fn is_same(one: &Plane, other: &Plane) -> bool {
    dot(one.normal, other.normal) > 1.0 - 1e-6 && (one.distance - other.distance).abs() < ON
}

/// The volume that the sides of two volumes bound which both are behind.
fn around(one: &Volume, other: &Volume) -> Option<Volume> {
    let mut all: Vec<Face> = Vec::with_capacity(one.faces.len() + other.faces.len());
    for (faces, volume) in [(&one.faces, other), (&other.faces, one)] {
        for face in faces {
            let plane = face.plane();
            if !volume.is_behind(&plane) {
                continue;
            }
            match all.iter_mut().find(|known| is_same(&known.plane(), &plane)) {
                Some(known) => match (known.look, face.look) {
                    (Some(own), Some(other)) if own != other => return None,
                    (own, other) => known.look = own.or(other),
                },
                None => all.push(face.clone()),
            }
        }
    }
    if all.len() < 4 || all.len() > MOST_SIDES {
        return None;
    }
    let rings = faces(&all.iter().map(Face::plane).collect::<Vec<_>>());
    if rings.iter().any(|ring| is_open(ring)) {
        return None;
    }
    all.iter_mut().zip(rings).for_each(|(face, ring)| face.ring = ring);
    all.retain(|face| is_face(&face.ring));
    let made = Volume { contents: one.contents, faces: all, is_needed: one.is_needed || other.is_needed };
    let (sum, size) = (one.size() + other.size(), made.size());
    (made.faces.len() >= 4 && size > 0.0 && size < sum * LARGER).then_some(made)
}

/// The volume around two, if it has nothing in it but what they hold, and every side shows one look.
pub(crate) fn union(cells: &mut Cells, one: &Volume, other: &Volume) -> Option<Volume> {
    let mut made = around(one, other)?;
    let contents = made.contents;
    let corners: Vec<Point> = made.faces.iter().flat_map(|face| face.ring.iter().copied()).collect();
    if !corners.iter().all(|corner| cells.is_in_room(*corner)) {
        return None;
    }
    // Most have space near a corner or a side.
    let middle = mean(&corners);
    let centers = made.faces.iter().map(|face| mean(&face.ring));
    let near = |point: Point| plus(times(point, 0.97), times(middle, 0.03));
    let points: Vec<Point> = std::iter::once(middle).chain(corners.iter().copied().chain(centers).map(near)).collect();
    if !points.into_iter().all(|point| cells.at(point).is_some_and(|cell| cells.all[cell].contents == contents)) {
        return None;
    }
    let planes: Vec<Plane> = made.faces.iter().map(Face::plane).collect();
    for (cell, _) in cells.within(made.faces.iter().map(Face::wall).collect())? {
        let cell = cell.filter(|cell| cells.all[*cell].contents == contents)?;
        for wall in &cells.all[cell].walls {
            let plane = wall.plane();
            let at = planes.iter().position(|own| is_same(own, &plane));
            for (look, ring) in &wall.shown {
                if !is_within(ring, &plane, &planes) {
                    continue;
                }
                // What shows within is to stay, and a side shows one look.
                let face = &mut made.faces[at?];
                if face.look.is_some_and(|own| own != *look) {
                    return None;
                }
                face.look = Some(*look);
            }
        }
    }
    Some(made)
}

/// Whether a part of a ring is within a convex volume or on its sides.
fn is_within(ring: &[Point], plane: &Plane, planes: &[Plane]) -> bool {
    let flipped = turn(plane);
    let cuts = planes.iter().filter(|own| !is_same(own, plane) && !is_same(own, &flipped));
    let part = cuts.fold(ring.to_vec(), |part, cut| if part.is_empty() { part } else { clip(&part, cut) });
    is_face(&part)
}
