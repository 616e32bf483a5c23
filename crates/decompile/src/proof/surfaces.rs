//! Faces: whether sides of the same texture and alignment cover them.

use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::dialect::Role;

use super::by_source::Models;
use super::kept::plain_name;
use super::space::{Seen, Space};
use super::{Effort, Proof, WrongFace};
use crate::boxes::{grown, of_points};
use crate::drawn::Drawn;
use crate::geometry::{Plane, clip, dot, double_area, mean};
use crate::looks::{Look, is_made};
use crate::mapping::{TEXEL, USUAL};
use crate::models::planes;
use crate::solve::edges;
use crate::source::Point;
use crate::tools::{Family, Flags};

/// How far the corners of a face may be off its sides, in units: compilers join corners that are this near.
const OFF: f64 = 0.55;

/// The share of a face that rounding may leave.
const ROUNDING: f64 = 0.01;

/// The most faces that are named.
const MOST_NAMED: usize = 20;

/// The most pieces that a face is cut into.
const MOST_PIECES: usize = 256;

pub(super) fn judge(
    map: &Bsp<'_>,
    models: &Models,
    drawn: &[Drawn],
    looks: &[Look],
    flags: &Flags,
    effort: &Effort<'_>,
    proof: &mut Proof,
) {
    let unseen = flags.unseen();
    let step = drawn.len().div_ceil(effort.faces.max(1)).max(1);
    let judged = drawn.iter().step_by(step);
    let mut named: Option<Named> = None;
    // No name of a source is that of a texture whose name cannot be read.
    let has_unreadable = map.texture_names().is_ok_and(|names| names.iter().any(|name| name.problem.is_some()));
    for face in judged {
        let Some(space) = models.get(face.model) else { continue };
        let look = &looks[face.look];
        if look.flags & unseen != 0 || face.is_mesh {
            continue;
        }
        let name = match flags.family {
            Family::Quake3 => plain_name(&look.name),
            _ => look.name.to_ascii_lowercase(),
        };
        let size = effort.sizes.and_then(|sizes| sizes(&name)).map(|size| size.map(f64::from));
        let size = size.or(look.size).unwrap_or(USUAL);
        let texels = |in_shares: bool, [s, t]: [f64; 2]| if in_shares { [s * size[0], t * size[1]] } else { [s, t] };
        let off = |side: &Seen, point: Point| {
            let own = texels(side.in_shares, side.mapping.at(point));
            let there = texels(flags.family == Family::Quake3, face.mapping.at(point));
            [own[0] - there[0], own[1] - there[1]]
        };
        // In Quake III the whole of a texture may be added: compilers do it to keep coordinates small.
        let is_its = |side: &Seen, part: &[Point]| {
            let first = off(side, part[0]);
            let whole = match flags.family {
                Family::Quake3 => [0, 1].map(|axis| (first[axis] / size[axis]).round() * size[axis]),
                _ => [0.0; 2],
            };
            part.iter().all(|corner| {
                let off = off(side, *corner);
                (0..2).all(|axis| (off[axis] - whole[axis]).abs() <= TEXEL)
            })
        };
        // The texture under a shader that the compiler made is that of a side of the map there.
        let under =
            if is_made(&name) { named.get_or_insert_with(|| Named::read(map, looks)).at(face) } else { Vec::new() };
        let area = double_area(&face.ring) / 2.0;
        // Water of Source has another material as seen from below.
        let is_beneath =
            |side: &Seen| flags.family == Family::Source && dot(side.plane.normal, face.plane.normal) < 0.0;
        // A map without names of textures has any.
        let is_any = name.is_empty() && !has_unreadable || is_made(&name) && under.is_empty();
        let is_named = |side: &Seen| side.texture == name || under.iter().any(|under| **under == side.texture);
        let rest =
            uncovered(space, face, |side, part| (is_named(side) || is_any || is_beneath(side)) && is_its(side, part));
        let covered = (area - rest).clamp(0.0, area);
        proof.faces.judged += 1;
        proof.faces.area += area;
        let is_whole = rest <= ROUNDING * area + 0.1;
        proof.faces.covered += if is_whole { area } else { covered };
        if is_whole {
            proof.faces.agreeing += 1;
            continue;
        }
        let left = uncovered(space, face, |_, _| true);
        proof.worst_faces.push(WrongFace {
            face: face.number,
            texture: escaped(&name).to_string(),
            point: mean(&face.ring),
            area,
            covered,
            is_covered: left <= ROUNDING * area + 0.1,
        });
        if proof.worst_faces.len() > 4 * MOST_NAMED {
            keep_worst(&mut proof.worst_faces);
        }
    }
    keep_worst(&mut proof.worst_faces);
}

/// The planes of the sides of the map's own brushes with their textures, by their distances.
struct Named {
    all: Vec<(f64, Plane, Vec<u8>)>,
}

impl Named {
    fn read(map: &Bsp<'_>, looks: &[Look]) -> Self {
        let sides = || -> Option<Vec<(f64, Plane, Vec<u8>)>> {
            let (sides, planes) = (map.any_records(Role::BrushSides)?, planes(map).ok()?);
            let [plane, shader] = sides.columns(["plane", "shader"]).ok()?;
            let named = (0..sides.len()).filter_map(|at| {
                let (normal, distance) = planes[plane.below(at, planes.len())?];
                let name = plain_name(&looks[shader.below(at, looks.len())?].name);
                let plane = Plane { normal: normal.map(f64::from), distance: f64::from(distance) };
                (!is_made(&name)).then_some((plane.distance.abs(), plane, name))
            });
            Some(named.collect())
        };
        let mut all = sides().unwrap_or_default();
        all.retain(|(distance, ..)| distance.is_finite());
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        Named { all }
    }

    /// The textures of sides on the plane of a face.
    fn at(&self, face: &Drawn) -> Vec<&Vec<u8>> {
        let at = face.plane.distance.abs();
        let first = self.all.partition_point(|(distance, ..)| *distance < at - OFF);
        let near = self.all[first..].iter().take_while(|(distance, ..)| *distance <= at + OFF);
        near.filter(|(_, plane, _)| lies_on(plane, face)).map(|(.., name)| name).collect()
    }
}

fn keep_worst(all: &mut Vec<WrongFace>) {
    all.sort_by(|one, other| (other.area - other.covered).total_cmp(&(one.area - one.covered)));
    all.truncate(MOST_NAMED);
}

/// The area of a face that no side covers of those that are its.
fn uncovered(space: &Space, face: &Drawn, is_its: impl Fn(&Seen, &[Point]) -> bool) -> f64 {
    let mut rest = vec![face.ring.clone()];
    for volume in space.within(grown(of_points(&face.ring), OFF)) {
        for side in &volume.sides {
            if side.ring.len() < 3 || !lies_on(&side.plane, face) {
                continue;
            }
            let cuts = edges(&side.ring, &side.plane, OFF);
            let mut left = Vec::new();
            for part in rest {
                let within =
                    cuts.iter().fold(part.clone(), |ring, cut| if ring.is_empty() { ring } else { clip(&ring, cut) });
                if double_area(&within) < 1e-3 || left.len() > MOST_PIECES || !is_its(side, &within) {
                    left.push(part);
                    continue;
                }
                // What is outside of each edge in turn is still to be covered.
                let mut inner = part;
                for cut in &cuts {
                    let back = Plane { normal: cut.normal.map(|part| -part), distance: -cut.distance };
                    let outer = clip(&inner, &back);
                    if double_area(&outer) > 1e-3 {
                        left.push(outer);
                    }
                    inner = clip(&inner, cut);
                    if inner.is_empty() {
                        break;
                    }
                }
            }
            rest = left;
            if rest.is_empty() {
                return 0.0;
            }
        }
    }
    rest.iter().map(|part| double_area(part) / 2.0).sum()
}

/// Whether a face is on the plane of a side. It may face the other way: the surface of water is seen from below, too.
fn lies_on(plane: &Plane, face: &Drawn) -> bool {
    dot(plane.normal, face.plane.normal).abs() > 0.999
        && face.ring.iter().all(|corner| plane.height(*corner).abs() < OFF)
}
