//! Displacements of Source: a face of four corners as a grid of points that are moved (`CCoreDispInfo` of the Source
//! SDK 2013).

use bspkit::bytes::{nearest_byte, short};
use bspkit::{Bsp, Records};

use crate::parts::Vertex;
use crate::points::{Point, cross, is_near, minus, plus, times, unit};
use crate::shape::{Shape, share};

/// The displacements of a map.
pub(crate) struct Displacements<'a> {
    infos: Records<'a>,
    verts: Records<'a>,
    /// The displacement of each face that has one.
    faces: Vec<Option<usize>>,
}

impl<'a> Displacements<'a> {
    /// The displacements; `None` if the map has none.
    pub(crate) fn read(map: &Bsp<'a>) -> Option<Self> {
        let (infos, verts) = (map.any_records("DISPINFO")?, map.any_records("DISP_VERTS")?);
        let faces = map.drawn_faces().ok()?;
        let own = faces.column("displacement").ok()?;
        let faces = (0..faces.len()).map(|face| own.below(face, infos.len())).collect();
        Some(Displacements { infos, verts, faces })
    }

    /// The displacement of a face.
    pub(crate) fn of(&self, face: usize) -> Option<usize> {
        self.faces.get(face).copied().flatten()
    }

    /// The vertices of a displacement, and its triangles, counterclockwise; a sentence if it cannot be read.
    pub(crate) fn mesh(
        &self,
        displacement: usize,
        corners: &[Point],
        shape: &Shape<'_>,
    ) -> Result<(Vec<Vertex>, Vec<[u32; 3]>), String> {
        let [start, first, power] =
            self.infos.columns(["start", "first_vertex", "power"]).map_err(|error| error.to_string())?;
        let [direction, distance, alpha] =
            self.verts.columns(["direction", "distance", "alpha"]).map_err(|error| error.to_string())?;
        let side: usize = match power.get(displacement) {
            2 => 5,
            3 => 9,
            4 => 17,
            power => return Err(format!("its displacement {displacement} has the power {power}, not 2, 3 or 4")),
        };
        let Ok(corners) = <[Point; 4]>::try_from(corners) else {
            return Err(format!("its displacement {displacement} is on {} corners, not on 4", corners.len()));
        };
        let first = usize::try_from(first.get(displacement)).ok();
        let first = first.filter(|first| first.checked_add(side * side).is_some_and(|end| end <= self.verts.len()));
        let first = first.ok_or_else(|| format!("the vertexes of its displacement {displacement} do not exist"))?;
        let corners = from_start(corners, start.floats(displacement, 0));
        let mut vertices = Vec::with_capacity(side * side);
        for row in 0..side {
            let ends =
                [mix(corners[0], corners[1], share(row, side - 1)), mix(corners[3], corners[2], share(row, side - 1))];
            for column in 0..side {
                let at = first + row * side + column;
                let flat = mix(ends[0], ends[1], share(column, side - 1));
                let point = plus(flat, times(direction.floats(at, 0), distance.float(at, 0)));
                if !is_near(point) {
                    return Err(format!("a vertex of its displacement {displacement} is outside of every world"));
                }
                let place = [share(column, side - 1), share(row, side - 1)];
                let opacity = nearest_byte(f64::from(alpha.float(at, 0)).clamp(0.0, 255.0));
                vertices.push(Vertex {
                    point,
                    light: shape.spread.map_or([0.0; 2], |spread| spread.on_grid(place)),
                    color: [255, 255, 255, opacity],
                    // The texture lies as on the flat face.
                    ..shape.vertex(flat, shape.facing)
                });
            }
        }
        let triangles = triangles(side);
        smooth(&mut vertices, &triangles, shape.facing);
        Ok((vertices, triangles))
    }
}

/// The corners in their order, from the one that is nearest to the start on.
fn from_start(corners: [Point; 4], start: Point) -> [Point; 4] {
    let distance = |corner: &Point| minus(*corner, start).iter().map(|part| part * part).sum::<f32>();
    let nearest = (0..4).min_by(|one, other| distance(&corners[*one]).total_cmp(&distance(&corners[*other])));
    std::array::from_fn(|at| corners[(nearest.unwrap_or(0) + at) % 4])
}

fn mix(from: Point, to: Point, share: f32) -> Point {
    plus(from, times(minus(to, from), share))
}

/// The triangles of a grid, counterclockwise: the diagonals of neighbors cross.
fn triangles(side: usize) -> Vec<[u32; 3]> {
    let mut found = Vec::with_capacity(2 * (side - 1) * (side - 1));
    for corner in (0..side - 1).flat_map(|row| (0..side - 1).map(move |column| row * side + column)) {
        let [right, below, across] = [corner + 1, corner + side, corner + side + 1];
        let pair = match corner % 2 {
            1 => [[corner, below, right], [right, below, across]],
            _ => [[corner, below, across], [corner, across, right]],
        };
        // The engine's are clockwise.
        found.extend(pair.map(|[a, b, c]| [a, c, b].map(short)));
    }
    found
}

/// Gives each vertex the mean direction of the triangles around it, by their area.
fn smooth(vertices: &mut [Vertex], triangles: &[[u32; 3]], facing: Point) {
    let mut sums = vec![[0.0; 3]; vertices.len()];
    for triangle in triangles {
        let corners = triangle.map(bspkit::bytes::index);
        let [a, b, c] = corners.map(|corner| vertices[corner].point);
        let area = cross(minus(b, a), minus(c, a));
        corners.into_iter().for_each(|corner| sums[corner] = plus(sums[corner], area));
    }
    for (vertex, sum) in vertices.iter_mut().zip(sums) {
        vertex.normal = unit(sum).unwrap_or(facing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_begin_at_the_start() {
        let corners = [[0.0; 3], [0.0, 8.0, 0.0], [8.0, 8.0, 0.0], [8.0, 0.0, 0.0]];
        let rotated = from_start(corners, [7.9, 8.0, 0.1]);
        assert_eq!(rotated, [corners[2], corners[3], corners[0], corners[1]]);
    }

    #[test]
    fn a_grid_is_covered_once() {
        let found = triangles(5);
        assert_eq!(found.len(), 32);
        let area = |[a, b, c]: &[u32; 3]| {
            let at = |corner: u32| [f64::from(corner % 5), f64::from(corner / 5)];
            let ([ax, ay], [bx, by], [cx, cy]) = (at(*a), at(*b), at(*c));
            ((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2.0
        };
        assert!(found.iter().all(|triangle| area(triangle) == 0.5), "all run the same way round");
        // Each inner corner of an even number has eight triangles, and of an odd one four.
        let count = |corner: u32| found.iter().flatten().filter(|it| **it == corner).count();
        assert_eq!([6, 7, 8, 12].map(count), [8, 4, 8, 8]);
    }
}
