//! Brushes that stop players and nothing else: what their hull has solid without a solid place near.
//!
//! A compiler makes the tree of a hull from brushes that it lets grow by the box of a player. Convex parts of that
//! tree, made smaller by the same box, are where brushes may have been. Those that the first hull has as solid are
//! known already; of the others, those are written that explain why a box cannot be at a place.

use crate::cells::{Cells, Wall};
use crate::contents::{is_liquid, named};
use crate::geometry::{Plane, dot, faces, is_face, is_open, mean, plus, times};
use crate::joins::{Face, Volume};
use crate::source::Point;

/// The corners of a player's box, from its origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hull {
    mins: Point,
    maxs: Point,
}

/// The box of players in Quake, and in Half-Life.
pub(crate) const QUAKE: Hull = Hull { mins: [-16.0, -16.0, -24.0], maxs: [16.0, 16.0, 32.0] };
pub(crate) const GOLDSRC: Hull = Hull { mins: [-16.0, -16.0, -36.0], maxs: [16.0, 16.0, 36.0] };

/// How much a box is made smaller before it is said to be free, in units: compilers differ at edges and slopes.
const SLACK: f64 = 1.0;

/// How far from everything solid a place has to be, in units, to say that nothing solid explains it.
const APART: f64 = 3.0;

/// The least volume that is looked at, in cubic units.
const LEAST: f64 = 16.0;

/// Boxes that are tried for each volume.
const TRIES: usize = 96;

impl Hull {
    /// How far a plane moves out when its brush grows by the box.
    fn growth(&self, normal: Point) -> f64 {
        (0..3).map(|axis| (normal[axis] * -self.mins[axis]).max(normal[axis] * -self.maxs[axis])).sum()
    }

    /// The largest distance that anything grows.
    pub(crate) fn reach(&self) -> f64 {
        self.mins.iter().chain(&self.maxs).fold(0.0, |most, part| part.abs().max(most))
    }

    /// Whether a box at a place, made smaller by `slack` units, has nothing solid in it; `None` if there was too much
    /// to do.
    fn is_free(&self, cells: &mut Cells, place: Point, slack: f64) -> Option<bool> {
        let low = plus(plus(place, self.mins), [slack; 3]);
        let high = plus(plus(place, self.maxs), [-slack; 3]);
        let is_hard =
            |cells: &Cells, cell: Option<usize>| cell.is_some_and(|cell| !is_liquid(cells.all[cell].contents));
        let corners = (0..8_u8).map(|corner| -> Point {
            std::array::from_fn(|axis| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] })
        });
        for point in std::iter::once(place).chain(corners) {
            let cell = cells.at(point);
            if is_hard(cells, cell) {
                return Some(false);
            }
        }
        let parts = cells.within(crate::cells::room([low, high]))?;
        Some(!parts.into_iter().any(|(cell, _)| is_hard(cells, cell)))
    }
}

/// A volume without what it grew by; `None` if nothing is left.
fn shrunk(volume: &Volume, hull: &Hull, room: [Point; 2]) -> Option<Volume> {
    let sides = volume.faces.iter().map(|face| {
        let plane = face.plane();
        (face.normal, bspkit::bytes::rounded(plane.distance - hull.growth(plane.normal)))
    });
    // The box around the world is where a compiler fills with solid.
    let rims = crate::cells::room(room).into_iter().map(|wall| (wall.normal, wall.distance));
    let sides: Vec<_> = sides.chain(rims).collect();
    let planes: Vec<Plane> = sides.iter().map(|(normal, distance)| crate::cells::plane(*normal, *distance)).collect();
    let rings = faces(&planes);
    if rings.iter().any(|ring| is_open(ring)) {
        return None;
    }
    let face = |((normal, distance), ring): (([f32; 3], f32), Vec<Point>)| Face { normal, distance, ring, look: None };
    let all: Vec<Face> = sides.into_iter().zip(rings).map(face).filter(|face| is_face(&face.ring)).collect();
    let made = Volume { contents: named("CLIP"), faces: all, is_needed: true };
    (made.faces.len() >= 4 && made.size() > LEAST).then_some(made)
}

fn size(walls: &[Wall]) -> f64 {
    crate::cells::volume(walls.iter().map(|wall| (&wall.ring[..], wall.plane())))
}

/// A volume with each side moved into the solid behind it, so far that a brush may have reached there: as far as what
/// is solid anyway, if all of the way is.
fn grown(volume: &Volume, blocked: &mut Cells, hull: &Hull) -> Option<Volume> {
    let mut grown = volume.clone();
    for at in 0..grown.faces.len() {
        let normal = grown.faces[at].plane().normal;
        let own = hull.growth(normal);
        for far in [own + hull.growth(normal.map(|part| -part)), own] {
            let mut moved = grown.clone();
            moved.faces[at].distance = bspkit::bytes::rounded(moved.faces[at].plane().distance + far);
            let rings = faces(&moved.faces.iter().map(Face::plane).collect::<Vec<_>>());
            if rings.iter().any(|ring| is_open(ring)) {
                continue;
            }
            moved.faces.iter_mut().zip(rings).for_each(|(face, ring)| face.ring = ring);
            let parts = blocked.within(moved.faces.iter().map(Face::wall).collect())?;
            if parts.iter().all(|(cell, _)| cell.is_some()) {
                grown = moved;
                break;
            }
        }
    }
    Some(grown)
}

/// What a player's hull gives.
pub(crate) struct Found {
    /// Clip brushes.
    pub(crate) brushes: Vec<Volume>,
    /// How many volumes may have been such brushes, and were too much to look at.
    pub(crate) left: usize,
    /// How many volumes have a place where no player can be, though neither a brush nor anything solid is there.
    pub(crate) unexplained: usize,
}

/// Clip brushes from the volumes of a player's hull, whose cells are `blocked`; `cells` are those of the first hull.
pub(crate) fn find(
    cells: &mut Cells,
    blocked: &mut Cells,
    mut volumes: Vec<Volume>,
    hull: &Hull,
    room: [Point; 2],
) -> Found {
    let (mut brushes, mut left): (Vec<Volume>, usize) = (Vec::new(), 0);
    volumes.sort_by(|one, other| other.size().total_cmp(&one.size()));
    for volume in &volumes {
        match made(cells, blocked, volume, hull, room, &brushes) {
            Some(made) => brushes.extend(made),
            None => left += 1,
        }
    }
    let (mut unexplained, mut unknown) = (0, 0);
    for volume in &volumes {
        match is_explained(cells, volume, hull, &brushes) {
            Some(is_explained) => unexplained += usize::from(!is_explained),
            None => unknown += 1,
        }
    }
    // Most volumes that there is no time for now were counted before.
    Found { brushes, left: left.max(unknown), unexplained }
}

/// Whether something explains why no player can be in the middle of a volume, as far from its sides as compilers
/// differ; `None` if there was too much to do.
fn is_explained(cells: &mut Cells, volume: &Volume, hull: &Hull, brushes: &[Volume]) -> Option<bool> {
    let corners: Vec<Point> = volume.faces.iter().flat_map(|face| face.ring.iter().copied()).collect();
    let place = mean(&corners);
    let is_deep = volume.faces.iter().all(|face| face.plane().height(place) < -APART);
    let near = |clip: &Volume| {
        let height = |face: &Face| face.plane().height(place) - hull.growth(face.plane().normal);
        clip.faces.iter().all(|face| height(face) < APART)
    };
    Some(!is_deep || brushes.iter().any(near) || !hull.is_free(cells, place, -APART)?)
}

/// The clip brush that a volume is of, if it is of one; the outer `None` if there was too much to do.
fn made(
    cells: &mut Cells,
    blocked: &mut Cells,
    volume: &Volume,
    hull: &Hull,
    room: [Point; 2],
    found: &[Volume],
) -> Option<Option<Volume>> {
    let Some(made) = shrunk(&grown(volume, blocked, hull)?, hull, room) else { return Some(None) };
    Some(is_needed(cells, &made, hull, found)?.then_some(made))
}

/// Whether a box would be free at a place where a brush would stop it, and none that was found before does.
fn is_needed(cells: &mut Cells, made: &Volume, hull: &Hull, found: &[Volume]) -> Option<bool> {
    let parts = cells.within(made.faces.iter().map(Face::wall).collect())?;
    let is_space = |cell: Option<usize>| cell.is_none_or(|cell| is_liquid(cells.all[cell].contents));
    let open: Vec<Vec<Wall>> =
        parts.into_iter().filter(|(cell, part)| is_space(*cell) && size(part) > LEAST).map(|(_, part)| part).collect();
    let mut tries = TRIES;
    for part in open {
        let corners: Vec<Point> = part.iter().flat_map(|wall| wall.ring.iter().copied()).collect();
        let middle = mean(&corners);
        let inner = corners.iter().map(|corner| plus(times(*corner, 0.9), times(middle, 0.1)));
        for point in std::iter::once(middle).chain(inner) {
            for off in 0..9_u8 {
                let Some(more) = tries.checked_sub(1) else { return Some(false) };
                // The place itself, and the corners of all places from which a box reaches it.
                let place: Point = std::array::from_fn(|axis| match (off, off >> axis & 1) {
                    (8, _) => point[axis],
                    (_, 0) => point[axis] - hull.mins[axis] - SLACK,
                    _ => point[axis] - hull.maxs[axis] + SLACK,
                });
                let stops = |clip: &Volume| {
                    let height = |face: &Face| {
                        let plane = face.plane();
                        dot(plane.normal, place) - plane.distance - hull.growth(plane.normal)
                    };
                    clip.faces.iter().all(|face| height(face) < SLACK)
                };
                if found.iter().any(stops) {
                    continue;
                }
                tries = more;
                if hull.is_free(cells, place, SLACK)? {
                    return Some(true);
                }
            }
        }
    }
    Some(false)
}
