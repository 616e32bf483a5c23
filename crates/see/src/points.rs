//! Arithmetic with points.

use bspkit::bytes::{amount, rounded};

/// A point or a direction, in the axes of the map.
pub(crate) type Point = [f32; 3];

/// Points beyond this are damage: engines end their worlds before.
pub(crate) const FARTHEST: f32 = 1_048_576.0;

/// Twice the area of a polygon that is not drawn, in square units.
const NO_AREA: f64 = 1e-6;

/// A count as a float of single precision.
pub(crate) fn single(count: usize) -> f32 {
    rounded(amount(count))
}

/// A function of a point as texinfo states it: x, y, z, offset. The sum is in double precision, as in the engines.
pub(crate) fn along(vector: [f32; 4], point: Point) -> f64 {
    let [x, y, z] = point.map(f64::from);
    let [a, b, c, offset] = vector.map(f64::from);
    x * a + y * b + z * c + offset
}

pub(crate) fn is_near(point: Point) -> bool {
    // A comparison with what is not a number is false.
    point.iter().all(|part| part.abs() <= FARTHEST)
}

pub(crate) fn minus(one: Point, other: Point) -> Point {
    std::array::from_fn(|axis| one[axis] - other[axis])
}

pub(crate) fn plus(one: Point, other: Point) -> Point {
    std::array::from_fn(|axis| one[axis] + other[axis])
}

pub(crate) fn times(point: Point, factor: f32) -> Point {
    point.map(|part| part * factor)
}

pub(crate) fn cross([a, b, c]: Point, [x, y, z]: Point) -> Point {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

/// The direction of length 1; `None` if it has no length.
pub(crate) fn unit(point: Point) -> Option<Point> {
    let wide = point.map(f64::from);
    let length = wide.iter().map(|part| part * part).sum::<f64>().sqrt();
    (length.is_finite() && length > 1e-12).then(|| wide.map(|part| rounded(part / length)))
}

/// The direction that a ring of corners faces: they run clockwise as seen from there. `None` if it has no area.
pub(crate) fn facing(corners: &[Point]) -> Option<Point> {
    let first = corners.first()?.map(f64::from);
    let side = |corner: Point| -> [f64; 3] { std::array::from_fn(|axis| f64::from(corner[axis]) - first[axis]) };
    // The sum of the areas of the triangles, in double precision: corners in one line add nothing.
    let mut sum = [0.0; 3];
    for pair in corners.windows(2) {
        let ([a, b, c], [x, y, z]) = (side(pair[0]), side(pair[1]));
        let area = [b * z - c * y, c * x - a * z, a * y - b * x];
        sum.iter_mut().zip(area).for_each(|(sum, part)| *sum -= part);
    }
    let length = sum.iter().map(|part| part * part).sum::<f64>().sqrt();
    (length.is_finite() && length > NO_AREA).then(|| sum.map(|part| rounded(part / length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clockwise_ring_faces_its_viewer() {
        let ring = [[0.0; 3], [0.0, 8.0, 0.0], [8.0, 8.0, 0.0], [8.0, 0.0, 0.0]];
        assert_eq!(facing(&ring), Some([0.0, 0.0, 1.0]));
        let line = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        assert_eq!(facing(&line), None);
    }

    #[test]
    fn what_is_not_a_number_is_not_near() {
        assert!(is_near([1.0, -2.0, 3.0]));
        assert!(!is_near([f32::NAN, 0.0, 0.0]) && !is_near([0.0, f32::INFINITY, 0.0]));
    }
}
