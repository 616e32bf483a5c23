//! Points: the contents of their places by the map and by the source.

use bspkit::Bsp;

use super::by_map::ByMap;
use super::by_source::Models;
use super::space::Space;
use super::{Effort, Proof, Random, WrongPoint};
use crate::drawn::Drawn;
use crate::geometry::{length, mean, plus, times};
use crate::models::boxes;
use crate::pieces;
use crate::report::Counts;
use crate::source::Point;
use crate::tools::{Family, Flags};

/// How near to a plane compilers decide by rounding, in units.
const EPSILON: f64 = 0.1;

/// How far from faces and corners points are taken.
const AWAY: f64 = 0.5;

/// How many points are taken around a corner of a map with few faces.
const MOST_ROUNDS: usize = 8;

/// The most points that are named.
const MOST_NAMED: usize = 20;

/// Points of which a tree has solid may be in what a compiler filled. How far space is looked for.
const FAR: f64 = 16.0;

/// Flags that say nothing of what a place holds: compilers add them, take them away, or go by more than the brush.
const NOT_COMPARED: [&str; 19] = [
    "CLIP",
    "DETAIL",
    "STRUCTURAL",
    "TRANSLUCENT",
    "AREAPORTAL",
    "CLUSTERPORTAL",
    "ORIGIN",
    "CURRENT_0",
    "CURRENT_90",
    "CURRENT_180",
    "CURRENT_270",
    "CURRENT_UP",
    "CURRENT_DOWN",
    "MONSTER",
    "DEADMONSTER",
    "LADDER",
    "OPAQUE",
    "TESTFOGVOLUME",
    "NO_WATERJUMP",
];

struct Judge<'j> {
    by_map: &'j ByMap,
    family: Family,
    /// The bit of solid.
    solid: u32,
    /// The bits that are compared where it is not solid.
    compared: u32,
}

pub(super) fn judge(
    map: &Bsp<'_>,
    by_map: &ByMap,
    models: &Models,
    drawn: &[Drawn],
    flags: &Flags,
    effort: &Effort<'_>,
    proof: &mut Proof,
) {
    let not = NOT_COMPARED.iter().fold(0, |bits, name| bits | flags.contents(name));
    let compared = if flags.family == Family::Source { source_bits(flags) } else { !not };
    let solid = match flags.family {
        // Which of the two a leaf has depends on how a compiler fills the outside; faces tell whether sky is seen.
        Family::Quake => flags.contents("SOLID") | flags.contents("SKY"),
        _ => flags.contents("SOLID"),
    };
    let judge = Judge { by_map, family: flags.family, solid, compared };
    let mut random = Random(effort.seed);
    let boxes = boxes(map);
    let share = effort.random_points / models.len().max(1) / 2 + 1;
    for model in 0..models.len() {
        let Some(space) = models.get(model) else { continue };
        let (mins, maxs, count) = match (model, boxes.get(model)) {
            (0, _) => (models.world[0], models.world[1], effort.random_points),
            (_, Some([mins, maxs])) => {
                let wide = |point: [f32; 3], by: f64| point.map(|part| f64::from(part) + by);
                (wide(*mins, -4.0), wide(*maxs, 4.0), share.min(200))
            }
            _ => continue,
        };
        if !mins.iter().chain(&maxs).all(|part| part.abs() < 1e7) {
            continue;
        }
        for _ in 0..count {
            judge.point(model, space, random.within(mins, maxs), proof);
        }
    }
    judge.faces(models, drawn, effort, &mut random, proof);
    judge.brushes(models, effort, proof);
    judge.brushes_of_map(map, models, effort, proof);
}

fn source_bits(flags: &Flags) -> u32 {
    ["SOLID", "WATER", "SLIME", "PLAYERCLIP", "MONSTERCLIP"].iter().fold(0, |bits, name| bits | flags.contents(name))
}

impl Judge<'_> {
    fn kind(&self, contents: u32) -> u32 {
        if contents & self.solid != 0 { self.solid } else { contents & self.compared }
    }

    fn point(&self, model: usize, space: &Space, point: Point, proof: &mut Proof) {
        let (Some(map), Some(source)) = (self.by_map.contents(model, point, EPSILON), space.contents(point, EPSILON))
        else {
            proof.points.unclear += 1;
            return;
        };
        let is_same = self.kind(map) == self.kind(source);
        if !is_same && map & self.solid != 0 && !self.is_hole(model, space, point) {
            proof.points.outside += 1;
            return;
        }
        proof.points.judged += 1;
        if is_same {
            proof.points.agreeing += 1;
        } else if proof.worst_points.len() < MOST_NAMED {
            proof.worst_points.push(WrongPoint { point, model, map, source });
        }
    }

    /// Points at the faces of the map, on both sides, and around their corners.
    fn faces(&self, models: &Models, drawn: &[Drawn], effort: &Effort<'_>, random: &mut Random, proof: &mut Proof) {
        let step = drawn.len().div_ceil(effort.faces.max(1)).max(1);
        // Of few faces more is looked at.
        let rounds = (effort.faces / drawn.len().max(1)).clamp(1, MOST_ROUNDS);
        for face in drawn.iter().step_by(step) {
            let Some(space) = models.get(face.model) else { continue };
            let middle = mean(&face.ring);
            for side in [AWAY, -AWAY] {
                self.point(face.model, space, plus(middle, times(face.plane.normal, side)), proof);
            }
            for corner in face.ring.iter().flat_map(|corner| std::iter::repeat_n(corner, rounds)) {
                let off = random.within([-1.0; 3], [1.0; 3]);
                let off = times(off, AWAY / length(off).max(1e-3));
                self.point(face.model, space, plus(*corner, off), proof);
            }
        }
    }

    /// Points in the middle of every brush of the source, and at the sides of some, within the effort: what the
    /// map does not have is there.
    fn brushes(&self, models: &Models, effort: &Effort<'_>, proof: &mut Proof) {
        let spaces = || (0..models.len()).filter_map(|model| Some((model, models.get(model)?)));
        let all = || spaces().flat_map(|(model, space)| space.all().iter().map(move |own| (model, space, own)));
        let sides: usize = all().map(|(_, _, volume)| volume.sides.len()).sum();
        let step = sides.div_ceil(effort.faces.max(1)).max(1);
        for (at, (model, space, volume)) in all().filter(|(_, _, volume)| volume.contents != 0).enumerate() {
            let corners: Vec<Point> = volume.sides.iter().flat_map(|side| &side.ring).copied().collect();
            self.point(model, space, mean(&corners), proof);
            let sides = if at.is_multiple_of(step) { &volume.sides[..] } else { &[] };
            for side in sides.iter().filter(|side| !side.ring.is_empty()) {
                for away in [AWAY, -AWAY] {
                    self.point(model, space, plus(mean(&side.ring), times(side.plane.normal, away)), proof);
                }
            }
        }
    }

    /// The same points of the brushes that the map keeps: what the source does not have is there, also where nothing is
    /// drawn.
    fn brushes_of_map(&self, map: &Bsp<'_>, models: &Models, effort: &Effort<'_>, proof: &mut Proof) {
        let pieces = pieces::read(map, |_| 0, &mut Counts::default()).unwrap_or_default();
        let step = pieces.iter().map(|piece| piece.sides.len()).sum::<usize>().div_ceil(effort.faces.max(1)).max(1);
        for (at, piece) in pieces.iter().enumerate() {
            let Some(space) = models.get(piece.model) else { continue };
            let corners: Vec<Point> = piece.sides.iter().flat_map(|side| &side.ring).copied().collect();
            self.point(piece.model, space, mean(&corners), proof);
            let sides = if at.is_multiple_of(step) { &piece.sides[..] } else { &[] };
            for side in sides.iter().filter(|side| !side.ring.is_empty()) {
                self.point(piece.model, space, plus(mean(&side.ring), times(side.plane().normal, -AWAY)), proof);
            }
        }
    }

    /// Whether space is near a point that is solid by the map, with nothing solid of the source between.
    fn is_hole(&self, model: usize, space: &Space, point: Point) -> bool {
        // Rays that pass a corner at which two brushes meet are not through a hole.
        const WIDE: f64 = 0.3;
        // Some compilers of Quake fill brush models of liquids with solid.
        let filled = if self.family == Family::Quake && model > 0 { u32::MAX } else { self.solid };
        let directions = (0..27).map(|at| [at % 3, at / 3 % 3, at / 9].map(|part| f64::from(part) - 1.0));
        directions.filter(|direction| length(*direction) > 0.0).any(|direction| {
            let mut far = 0.25;
            while far <= FAR {
                let there = plus(point, times(direction, far / length(direction)));
                if space.is_in(there, WIDE, filled) {
                    return false;
                }
                match self.by_map.contents(model, there, 1e-3) {
                    Some(contents) if contents & self.solid == 0 => return true,
                    _ => far += 0.25,
                }
            }
            false
        })
    }
}
