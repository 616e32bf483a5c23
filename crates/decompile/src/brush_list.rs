//! The brushes that a compiler kept beside the map (BSPX `BRUSHLIST`), textured by the faces that are drawn on them.

use std::collections::HashMap;

use bspkit::Bsp;
use bspkit::bytes::index;
use bspkit::content::bspx::Brush;

use crate::contents::flag;
use crate::drawn::Drawn;
use crate::geometry::{Plane, clip, dot, double_area, faces, mean};
use crate::joins::{Face, Volume};
use crate::pieces::MOST_SIDES;
use crate::source::Point;

/// How far a face may be off the plane of a side, in units.
const OFF: f64 = 0.05;

/// Steps for each unit of a normal and of a distance, by which faces are found.
const STEPS: [f64; 2] = [256.0, 4.0];

/// Faces that are looked at for each side and face, on the average.
const TRIES: usize = 256;

/// The faces that are drawn of a model, by their planes.
#[derive(Debug)]
pub(crate) struct OnPlanes<'f> {
    faces: HashMap<[i64; 4], Vec<&'f Drawn>>,
    /// What the textures of looks say.
    holds: &'f [u32],
    /// How many may still be looked at.
    left: usize,
}

fn keys(plane: &Plane) -> Vec<[i64; 4]> {
    let parts = [plane.normal[0], plane.normal[1], plane.normal[2], plane.distance];
    let mut all = vec![[0; 4]];
    for (at, part) in parts.into_iter().enumerate() {
        let scaled = part * STEPS[usize::from(at == 3)];
        let near = [scaled - 0.2, scaled + 0.2].map(f64::round);
        let count = all.len();
        if near[0].to_bits() != near[1].to_bits() {
            all.extend_from_within(..);
        }
        for (which, key) in all.iter_mut().enumerate() {
            key[at] = whole(near[usize::from(which >= count)]);
        }
    }
    all
}

fn whole(value: f64) -> i64 {
    bspkit::bytes::integer(bspkit::bytes::rounded(value)).map_or(0, i64::from)
}

impl<'f> OnPlanes<'f> {
    pub(crate) fn new(all: &[&'f Drawn], holds: &'f [u32]) -> Self {
        let mut faces: HashMap<_, Vec<&Drawn>> = HashMap::new();
        for face in all {
            // Of all keys that are near, one is enough here: those of the side that is asked for are all tried.
            let scaled = [0, 1, 2].map(|axis| (face.plane.normal[axis] * STEPS[0]).round());
            let distance = (face.plane.distance * STEPS[1]).round();
            let key = [scaled[0], scaled[1], scaled[2], distance].map(whole);
            faces.entry(key).or_default().push(face);
        }
        OnPlanes { faces, holds, left: all.len().saturating_mul(TRIES).saturating_add(1 << 16) }
    }

    /// The look that has the largest area on a side of a brush with these contents.
    fn look(&mut self, planes: &[Plane], side: usize, ring: &[Point], contents: u32) -> Option<usize> {
        let mut areas: Vec<(usize, f64)> = Vec::new();
        let plane = &planes[side];
        let flipped = crate::cells::turn(plane);
        // The surfaces of liquids and of the sky are seen from within, too.
        for (plane, is_turned) in [(plane, false), (&flipped, true)] {
            for face in keys(plane).iter().filter_map(|key| self.faces.get(key)).flatten() {
                self.left = self.left.checked_sub(1)?;
                if is_turned && self.holds.get(face.look) != Some(&contents) {
                    continue;
                }
                if dot(face.plane.normal, plane.normal) < 0.999 || plane.height(mean(&face.ring)).abs() > OFF {
                    continue;
                }
                if is_apart(ring, &face.ring) {
                    continue;
                }
                let others = planes.iter().enumerate().filter(|(at, _)| *at != side);
                let part = others.fold(face.ring.clone(), |part, (_, other)| clip(&part, other));
                let area = double_area(&part);
                match areas.iter_mut().find(|(look, _)| *look == face.look) {
                    Some((_, own)) => *own += area,
                    None => areas.push((face.look, area)),
                }
            }
            let best = areas.iter().filter(|(_, area)| *area > 0.1).max_by(|one, other| one.1.total_cmp(&other.1));
            if let Some((look, _)) = best {
                return Some(*look);
            }
        }
        None
    }
}

/// Whether the boxes of two rings do not meet.
fn is_apart(one: &[Point], other: &[Point]) -> bool {
    let limits = |ring: &[Point], axis: usize| {
        let all = ring.iter().map(|corner| corner[axis]);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), part| (low.min(part), high.max(part)))
    };
    (0..3).any(|axis| {
        let ((low, high), (start, end)) = (limits(one, axis), limits(other, axis));
        low > end + OFF || high < start - OFF
    })
}

/// The brushes of each model that the list has.
pub(crate) fn read(map: &Bsp<'_>, faces_of: &[Vec<&Drawn>], holds: &[u32]) -> HashMap<usize, Vec<Volume>> {
    let mut found = HashMap::new();
    let Ok(list) = map.brush_list() else { return found };
    for place in 0..list.len() {
        let Some(model) = list.model(place).map(|head| index(head.model)) else { continue };
        let Some(own) = faces_of.get(model) else { continue };
        let mut faces = OnPlanes::new(own, holds);
        let volumes = list.brushes(place).map(|brush| volume(&brush, &mut faces));
        found.entry(model).or_insert_with(Vec::new).extend(volumes);
    }
    found
}

fn volume(brush: &Brush, on: &mut OnPlanes<'_>) -> Volume {
    let mut planes = crate::cells::box_planes([brush.head.mins, brush.head.maxs]).to_vec();
    planes.extend(brush.planes.iter().map(|plane| (plane.normal, plane.distance)));
    let wide: Vec<Plane> = planes.iter().map(|(normal, distance)| crate::cells::plane(*normal, *distance)).collect();
    // One that is damaged is left to who makes a piece of it.
    let is_good = wide.len() <= MOST_SIDES && wide.iter().all(Plane::is_finite);
    let rings = if is_good { faces(&wide) } else { vec![Vec::new(); wide.len()] };
    let contents = flag(i64::from(brush.head.contents));
    type Ringed = (([f32; 3], f32), Vec<Point>);
    let face = |(at, ((normal, distance), ring)): (usize, Ringed)| Face {
        normal,
        distance,
        look: if ring.is_empty() { None } else { on.look(&wide, at, &ring, contents) },
        ring,
    };
    let faces = planes.into_iter().zip(rings).enumerate().map(face).collect();
    Volume { contents, faces, is_needed: true }
}
