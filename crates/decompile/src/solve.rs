//! How textures lie on sides that name a shader only: as on what is drawn there (Quake III).

use std::cell::RefCell;

use crate::boxes::{Boxes, grown, of_points};
use crate::drawn::Drawn;
use crate::geometry::{Plane, clip, cross, dot, double_area, length, mean, minus};
use crate::looks::{Look, is_made};
use crate::mapping::Mapping;
use crate::pieces::PieceSide;
use crate::source::Point;

/// How far what is drawn may be off its side, in units: compilers join corners that are this near.
const OFF: f64 = 0.55;

/// What is drawn of a map, by its place.
pub(crate) struct Solver {
    drawn: Vec<Drawn>,
    boxes: Boxes,
    /// The name of each look, in lower case.
    names: Vec<Vec<u8>>,
    /// How much of each drawn triangle lies on sides with its shader.
    explained: RefCell<Vec<f64>>,
}

impl Solver {
    pub(crate) fn new(drawn: Vec<Drawn>, looks: &[Look]) -> Self {
        let boxes = Boxes::new(drawn.iter().map(|face| of_points(&face.ring)).collect());
        let names = looks.iter().map(|look| look.name.to_ascii_lowercase()).collect();
        let explained = RefCell::new(vec![0.0; drawn.len()]);
        Solver { drawn, boxes, names, explained }
    }

    /// How the texture lies on a side of a model; `None` if nothing is drawn there with its shader.
    pub(crate) fn mapping(&self, model: usize, side: &PieceSide) -> Option<Mapping> {
        let name = self.names.get(side.look?)?;
        let plane = side.plane();
        let cuts = edges(&side.ring, &plane, 0.0);
        let mut best: Option<(f64, usize)> = None;
        for number in self.boxes.within(grown(of_points(&side.ring), OFF)) {
            let face = &self.drawn[number];
            let is_its = face.model == model
                && (&self.names[face.look] == name || is_made(&self.names[face.look]))
                && dot(face.plane.normal, plane.normal) > 0.999
                && face.ring.iter().all(|corner| plane.height(*corner).abs() < OFF);
            if !is_its {
                continue;
            }
            let within =
                cuts.iter().fold(face.ring.clone(), |ring, cut| if ring.is_empty() { ring } else { clip(&ring, cut) });
            let area = double_area(&within);
            if let Some(explained) = self.explained.borrow_mut().get_mut(number) {
                *explained += area;
            }
            // The numbers of a large triangle have the smallest errors; it must lie on the side.
            let weight = double_area(&face.ring);
            if area > 1e-3 && area > 0.01 * weight && best.is_none_or(|(most, _)| weight > most) {
                best = Some((weight, number));
            }
        }
        best.map(|(_, number)| self.drawn[number].mapping)
    }

    /// The surfaces of which nothing lies on a side: models and terrain that a compiler merged.
    pub(crate) fn unexplained(&self) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let explained = self.explained.borrow();
        let mut at = 0;
        while at < self.drawn.len() {
            let number = self.drawn[at].number;
            let end = at + self.drawn[at..].iter().take_while(|face| face.number == number).count();
            let all: f64 = self.drawn[at..end].iter().map(|face| double_area(&face.ring)).sum();
            let own: f64 = explained[at..end].iter().sum();
            if own < 0.5 * all {
                found.push(number);
            }
            at = end;
        }
        found
    }
}

/// Planes along the edges of a convex ring, facing out of it, and so far outside.
pub(crate) fn edges(ring: &[Point], plane: &Plane, off: f64) -> Vec<Plane> {
    let middle = mean(ring);
    let edge = |at: usize| {
        let (here, there) = (ring[at], ring[(at + 1) % ring.len()]);
        let along = minus(there, here);
        let long = length(along);
        if long < 1e-6 {
            return None;
        }
        let out = cross(along, plane.normal).map(|part| part / long);
        let out = if dot(out, minus(middle, here)) > 0.0 { out.map(|part| -part) } else { out };
        Some(Plane { normal: out, distance: dot(out, here) + off })
    };
    (0..ring.len()).filter_map(edge).collect()
}
