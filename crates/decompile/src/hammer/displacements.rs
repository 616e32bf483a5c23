//! Displacements: a map keeps their faces and grids, and not their brushes. Each gets a flat brush below its face, of
//! which a compiler takes the face alone.

use bspkit::bytes::{bits, rounded};
use bspkit::{Bsp, Column, Records};

use crate::drawn::Drawn;
use crate::dress::{Dress, Placed, luxel};
use crate::geometry::{Plane, mean, plus, times};
use crate::mapping::{Mapping, USUAL};
use crate::models::range;
use crate::planes::{round_to, shortest};
use crate::report::Counts;
use crate::source::{Brush, Displacement, Format, Point, Side};

/// How thick the brushes are, in units.
const THICK: f64 = 8.0;

/// Flags of triangles in maps, and what they are in sources: walkable, buildable, left out.
const TAGS: [(i64, u32); 3] = [(2, 1), (4, 8), (0x20, 64)];

/// Bits of the number of least tessellation, if it has flags: no physics, no hulls, no rays.
const FLAGS: u32 = 0xE;
const HAS_FLAGS: u32 = 0x8000_0000;

pub(super) fn read(map: &Bsp<'_>, faces: &[Drawn], dress: &mut Dress<'_>, counts: &mut Counts) -> Vec<Brush> {
    let Some(infos) = map.any_records("DISPINFO") else { return Vec::new() };
    let (Some(verts), Some(tris)) = (map.any_records("DISP_VERTS"), map.any_records("DISP_TRIS")) else {
        counts.leave_out("displacement", "the map has no points of displacements", 0);
        return Vec::new();
    };
    let mut is_made = vec![false; infos.len()];
    let mut found = Vec::new();
    let mut left = verts.len();
    for face in faces {
        let Some(number) = face.displacement.filter(|number| *number < infos.len()) else { continue };
        // A face of a damaged map may name the displacement of another one.
        if std::mem::replace(&mut is_made[number], true) {
            continue;
        }
        let made = grid(&infos, &verts, &tris, number, face).filter(|_| face.ring.len() == 4);
        match made.filter(|grid| grid.distances.len() <= left) {
            Some(grid) => {
                left -= grid.distances.len();
                if grid.triangle_tags.is_empty() {
                    counts.leave_out("displacement", "the tags of its triangles do not exist", number);
                }
                let mut brush = prism(face, dress, b"tools/toolsnodraw");
                if let Some(front) = brush.sides.first_mut() {
                    front.displacement = Some(Box::new(grid));
                }
                found.push(brush);
            }
            None => counts.leave_out("displacement", "its points or its face are damaged", number),
        }
    }
    let rest = is_made.iter().enumerate().filter(|(_, is_made)| !**is_made);
    rest.for_each(|(number, _)| counts.leave_out("displacement", "no face has it", number));
    found
}

fn grid(infos: &Records<'_>, verts: &Records<'_>, tris: &Records<'_>, at: usize, face: &Drawn) -> Option<Displacement> {
    let [start, power, first, first_tri, allowed] =
        infos.columns(["start", "power", "first_vertex", "first_triangle", "allowed_vertexes"]).ok()?;
    let [direction, distance, alpha] = verts.columns(["direction", "distance", "alpha"]).ok()?;
    let [tags] = tris.columns(["tags"]).ok()?;
    let power = u32::try_from(power.get(at)).ok().filter(|power| (2..=4).contains(power))?;
    let side = (1_i64 << power) + 1;
    let points = range(first.get(at), side * side, verts.len())?;
    let triangles = range(first_tri.get(at), 2 * (side - 1) * (side - 1), tris.len()).unwrap_or(0..0);
    let point = |column: &Column<'_>, at: usize| -> Point { column.floats::<3>(at, 0).map(shortest) };
    let normal = face.plane.normal.map(|part| round_to(part, 6));
    let tag = |at: usize| {
        let own = tags.get(at);
        TAGS.iter().filter(|(bit, _)| own & bit != 0).fold(0, |all, (_, bit)| all | bit)
    };
    let words = infos.column("min_tess").ok().map_or(0, |column| bits(column.get(at)));
    let found = Displacement {
        power,
        start: start.floats::<3>(at, 0).map(shortest),
        flags: if words & HAS_FLAGS != 0 { words & FLAGS } else { 0 },
        elevation: 0.0,
        is_subdivided: false,
        normals: points.clone().map(|at| point(&direction, at)).collect(),
        distances: points.clone().map(|at| shortest(distance.float(at, 0))).collect(),
        offsets: points.clone().map(|_| [0.0; 3]).collect(),
        offset_normals: points.clone().map(|_| normal).collect(),
        alphas: points.map(|at| shortest(alpha.float(at, 0))).collect(),
        triangle_tags: triangles.map(tag).collect(),
        allowed_vertexes: std::array::from_fn(|item| bits(allowed.item(at, item)).cast_signed()),
    };
    let is_finite = found.normals.iter().flatten().chain(&found.distances).all(|part| part.is_finite());
    is_finite.then_some(found)
}

/// A flat brush below a face; the face is its first side.
pub(super) fn prism(face: &Drawn, dress: &mut Dress<'_>, others: &[u8]) -> Brush {
    let id = dress.id();
    let look = dress.looks.get(face.look).cloned().unwrap_or_default();
    let down = times(face.plane.normal, -THICK);
    let ring: Vec<Point> = face.ring.iter().map(|corner| corner.map(|part| shortest(rounded(part)))).collect();
    let deep: Vec<Point> = ring.iter().map(|corner| plus(*corner, down).map(|part| round_to(part, 4))).collect();
    let middle = plus(mean(&face.ring), times(down, 0.5));
    let [a, b, c] = [0, 1, 2].map(|at| ring[at]);
    let front = side([a, b, c], middle, &dress.name(&look.name), Some(&face.mapping), dress);
    let mut sides = vec![Side { lightmap_scale: Some(luxel(Some(&look))), ..front }];
    sides.push(side([deep[2], deep[1], deep[0]], middle, others, None, dress));
    for (at, below) in deep.iter().enumerate() {
        let next = ring[(at + 1) % ring.len()];
        sides.push(side([next, ring[at], *below], middle, others, None, dress));
    }
    let front = Placed { id: sides[0].id, model: face.model, ring: face.ring.clone(), plane: face.plane };
    dress.placed.push(front);
    Brush { id, sides }
}

/// A side through three points that faces away from a place.
fn side(points: [Point; 3], inside: Point, texture: &[u8], mapping: Option<&Mapping>, dress: &mut Dress<'_>) -> Side {
    let [a, b, c] = points;
    let plane = Plane::of_points(points);
    let points = if plane.is_some_and(|plane| plane.height(inside) > 0.0) { [c, b, a] } else { points };
    let plane = Plane::of_points(points).unwrap_or(Plane { normal: [0.0, 0.0, 1.0], distance: a[2] });
    let mapping = mapping.copied().filter(|mapping| mapping.is_finite() && mapping.has_axes());
    let mapping = mapping.unwrap_or_else(|| Mapping::default_of(&plane, 1.0));
    Side {
        id: dress.id(),
        points,
        texture: texture.to_vec(),
        alignment: mapping.alignment(Format::Vmf, &plane, USUAL),
        numbers: None,
        lightmap_scale: Some(16.0),
        smoothing_groups: 0,
        displacement: None,
    }
}
