//! Points, planes and convex volumes, in double precision.

use crate::source::Point;

/// Half the length of a face before it is cut: farther than any world reaches.
const FARTHEST: f64 = 1_048_576.0;

/// How far a point may be beyond a plane and still lie on it, while faces are cut.
const ON: f64 = 1e-6;

pub(crate) fn dot(one: Point, other: Point) -> f64 {
    one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
}

pub(crate) fn cross([a, b, c]: Point, [x, y, z]: Point) -> Point {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

pub(crate) fn plus(one: Point, other: Point) -> Point {
    std::array::from_fn(|axis| one[axis] + other[axis])
}

pub(crate) fn minus(one: Point, other: Point) -> Point {
    std::array::from_fn(|axis| one[axis] - other[axis])
}

pub(crate) fn times(point: Point, factor: f64) -> Point {
    point.map(|part| part * factor)
}

pub(crate) fn length(point: Point) -> f64 {
    dot(point, point).sqrt()
}

pub(crate) fn mean(points: &[Point]) -> Point {
    let sum = points.iter().fold([0.0; 3], |sum, point| plus(sum, *point));
    times(sum, 1.0 / bspkit::bytes::amount(points.len().max(1)))
}

/// A plane: the points with `normal * point = distance`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plane {
    pub(crate) normal: Point,
    pub(crate) distance: f64,
}

impl Plane {
    /// The plane of three points, as compilers compute it; `None` if they are in one line.
    pub(crate) fn of_points([a, b, c]: [Point; 3]) -> Option<Self> {
        let normal = cross(minus(a, b), minus(c, b));
        let long = length(normal);
        if !(long.is_finite() && long > 0.0) {
            return None;
        }
        let normal = normal.map(|part| part / long);
        Some(Plane { normal, distance: dot(a, normal) })
    }

    /// How far a point is in front of it.
    pub(crate) fn height(&self, point: Point) -> f64 {
        dot(self.normal, point) - self.distance
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.distance.is_finite() && self.normal.iter().all(|part| part.is_finite()) && length(self.normal) > 0.5
    }

    /// The axis that it faces most.
    pub(crate) fn axis(&self) -> usize {
        let size = self.normal.map(f64::abs);
        (0..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best })
    }

    /// A point on it.
    fn foot(&self) -> Point {
        times(self.normal, self.distance / dot(self.normal, self.normal))
    }

    /// Two directions on it, at right angles, that turn clockwise as seen from its front.
    pub(crate) fn directions(&self) -> [Point; 2] {
        let mut up = [0.0; 3];
        up[if self.axis() == 2 { 0 } else { 2 }] = 1.0;
        let up = minus(up, times(self.normal, dot(up, self.normal)));
        let up = times(up, 1.0 / length(up));
        [up, cross(up, self.normal)]
    }

    pub(crate) fn square(&self) -> Vec<Point> {
        let (foot, [up, right]) = (self.foot(), self.directions());
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(high, wide)| plus(foot, plus(times(up, high * FARTHEST), times(right, wide * FARTHEST))))
            .to_vec()
    }
}

/// What is left of a convex ring at the back of a plane.
pub(crate) fn clip(ring: &[Point], plane: &Plane) -> Vec<Point> {
    let mut kept = Vec::with_capacity(ring.len() + 1);
    for (at, point) in ring.iter().enumerate() {
        let next = ring[(at + 1) % ring.len()];
        let (here, there) = (plane.height(*point), plane.height(next));
        if here <= ON {
            kept.push(*point);
        }
        if (here > ON && there < -ON) || (here < -ON && there > ON) {
            kept.push(plus(*point, times(minus(next, *point), here / (here - there))));
        }
    }
    if kept.len() < 3 { Vec::new() } else { kept }
}

/// Twice the area of a ring, along its normal.
pub(crate) fn double_area(ring: &[Point]) -> f64 {
    let Some(first) = ring.first() else { return 0.0 };
    let sum =
        ring.windows(2).fold([0.0; 3], |sum, pair| plus(sum, cross(minus(pair[0], *first), minus(pair[1], *first))));
    length(sum)
}

/// How long the way around a ring is.
fn around(ring: &[Point]) -> f64 {
    (0..ring.len()).map(|at| length(minus(ring[at], ring[(at + 1) % ring.len()]))).sum()
}

/// Whether a ring is a face: its area is more than that of a line with the width of rounding errors.
pub(crate) fn is_face(ring: &[Point]) -> bool {
    const NARROWEST: f64 = 0.02;
    ring.len() >= 3 && double_area(ring) > NARROWEST * around(ring)
}

/// The face of each side of a convex volume, clockwise as seen from outside; empty where a side bounds nothing.
pub(crate) fn faces(planes: &[Plane]) -> Vec<Vec<Point>> {
    let face = |(at, plane): (usize, &Plane)| {
        let mut ring = plane.square();
        for (other, cut) in planes.iter().enumerate() {
            if other == at || ring.is_empty() {
                continue;
            }
            // Of sides on one plane, the first one has the face.
            if is_same(plane, cut) {
                if other < at {
                    return Vec::new();
                }
                continue;
            }
            ring = clip(&ring, cut);
        }
        ring
    };
    planes.iter().enumerate().map(face).collect()
}

/// Whether two planes are the same one but for rounding errors.
fn is_same(one: &Plane, other: &Plane) -> bool {
    let far = minus(one.normal, other.normal).iter().any(|part| part.abs() > 1e-6);
    !far && (one.distance - other.distance).abs() < 1e-4 * one.distance.abs().max(1.0)
}

/// Whether a face reaches to where it was before it was cut: nothing bounds it.
pub(crate) fn is_open(ring: &[Point]) -> bool {
    ring.iter().flatten().any(|part| part.abs() > FARTHEST * 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(half: f64) -> Vec<Plane> {
        let normal = |axis: usize, sign: f64| std::array::from_fn(|at| if at == axis { sign } else { 0.0 });
        (0..6)
            .map(|at| Plane { normal: normal(at / 2, if at % 2 == 0 { 1.0 } else { -1.0 }), distance: half })
            .collect()
    }

    #[test]
    fn a_cube_has_six_faces_and_a_bevel_none() {
        let mut planes = cube(8.0);
        let edge = 0.5_f64.sqrt();
        planes.push(Plane { normal: [edge, edge, 0.0], distance: 16.0 * edge });
        let found = faces(&planes);
        assert!(found[..6].iter().all(|ring| (double_area(ring) - 512.0).abs() < 1e-6 && is_face(ring)));
        assert!(!is_face(&found[6]) && !is_open(&found[0]));
        // The order of corners is that of points of a side.
        let ring = &found[0];
        let plane = Plane::of_points([ring[0], ring[1], ring[2]]).unwrap();
        assert!((plane.normal[0] - 1.0).abs() < 1e-9, "{plane:?}");
    }

    #[test]
    fn what_nothing_bounds_is_open() {
        assert!(faces(&cube(8.0)[..5]).iter().any(|ring| is_open(ring)));
    }
}
