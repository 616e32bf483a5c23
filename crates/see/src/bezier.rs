//! Curved patches of Quake III: grids of control points, three by three of which are a biquadratic surface.

use crate::points::{Point, cross, minus, unit};

/// What a control point has, and every point of the surface too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Control {
    pub(crate) point: Point,
    pub(crate) normal: Point,
    pub(crate) texture: [f32; 2],
    pub(crate) light: [f32; 2],
    pub(crate) color: [f32; 4],
}

impl Control {
    fn weighted(all: [(f32, &Control); 3]) -> Control {
        fn sum<const N: usize>(all: &[(f32, &Control); 3], part: fn(&Control) -> [f32; N]) -> [f32; N] {
            std::array::from_fn(|axis| all.iter().map(|(weight, control)| weight * part(control)[axis]).sum())
        }
        Control {
            point: sum(&all, |control| control.point),
            normal: sum(&all, |control| control.normal),
            texture: sum(&all, |control| control.texture),
            light: sum(&all, |control| control.light),
            color: sum(&all, |control| control.color),
        }
    }
}

/// The points of a patch with these columns and rows of control points, both odd, and this many pieces for each three
/// of them; and the columns of the result. Normals have the length 1 where they have a direction.
pub(crate) fn tessellate(controls: &[Control], [wide, high]: [usize; 2], pieces: usize) -> (Vec<Control>, usize) {
    // First along the rows, then along the columns of what came out.
    let rows: Vec<Control> = controls.chunks_exact(wide).flat_map(|row| curve(row, pieces)).collect();
    let columns = (wide - 1) / 2 * pieces + 1;
    let lines = (high - 1) / 2 * pieces + 1;
    let mut points = vec![Control::default(); columns * lines];
    for column in 0..columns {
        let line: Vec<Control> = (0..high).map(|row| rows[row * columns + column]).collect();
        for (row, point) in curve(&line, pieces).into_iter().enumerate() {
            points[row * columns + column] = point;
        }
    }
    for point in &mut points {
        point.normal = unit(point.normal).unwrap_or([0.0; 3]);
    }
    (points, columns)
}

/// The points of a chain of curves of three control points each, which share their ends.
fn curve(controls: &[Control], pieces: usize) -> Vec<Control> {
    let mut points = Vec::with_capacity(controls.len() / 2 * pieces + 1);
    for three in controls.windows(3).step_by(2) {
        let [from, middle, to] = three else { continue };
        for piece in 0..pieces {
            let t = crate::points::single(piece) / crate::points::single(pieces);
            let weights = [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t];
            points.push(Control::weighted([(weights[0], from), (weights[1], middle), (weights[2], to)]));
        }
    }
    points.extend(controls.last());
    points
}

/// The triangles of a grid, clockwise as the engine has them; those without an area are left out.
pub(crate) fn triangles(points: &[Control], columns: usize) -> Vec<[usize; 3]> {
    let mut found = Vec::new();
    for row in 0..(points.len() / columns).saturating_sub(1) {
        for column in 0..columns - 1 {
            let corner = row * columns + column;
            let below = corner + columns;
            found.extend([[corner, below, corner + 1], [corner + 1, below, below + 1]]);
        }
    }
    let has_area = |[a, b, c]: &[usize; 3]| {
        let side = |to: usize| minus(points[to].point, points[*a].point);
        unit(cross(side(*b), side(*c))).is_some()
    };
    found.retain(has_area);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, y: f32, z: f32) -> Control {
        Control { point: [x, y, z], texture: [x, y], ..Control::default() }
    }

    /// A quarter of a pipe: its control points are on the square around the circle.
    fn pipe() -> Vec<Control> {
        (0..3_u8).map(f32::from).flat_map(|y| [at(0.0, y, 0.0), at(0.0, y, 1.0), at(1.0, y, 1.0)]).collect()
    }

    #[test]
    fn a_curve_goes_through_its_ends_and_not_through_its_middle() {
        let (points, columns) = tessellate(&pipe(), [3, 3], 4);
        assert_eq!((points.len(), columns), (25, 5));
        assert_eq!(points[0].point, [0.0; 3]);
        assert_eq!(points[24].point, [1.0, 2.0, 1.0]);
        // A quarter of each end and half of the middle.
        assert_eq!(points[2].point, [0.25, 0.0, 0.75]);
        assert_eq!(points[2].texture, [0.25, 0.0]);
    }

    #[test]
    fn finer_patches_come_nearer_to_the_same_area() {
        let area = |pieces: usize| {
            let (points, columns) = tessellate(&pipe(), [3, 3], pieces);
            let area = |[a, b, c]: &[usize; 3]| {
                let [a, b, c] = [a, b, c].map(|corner| points[*corner].point);
                let [x, y, z] = cross(minus(b, a), minus(c, a));
                (x * x + y * y + z * z).sqrt() / 2.0
            };
            triangles(&points, columns).iter().map(area).sum::<f32>()
        };
        // The arc of a parabola with these ends is 1.6232 long, and the pipe is 2 long.
        let [coarse, fine] = [area(2), area(32)];
        assert!(coarse < fine && (fine - 2.0 * 1.6232).abs() < 0.01, "{coarse} {fine}");
    }

    #[test]
    fn triangles_without_an_area_are_left_out() {
        let flat: Vec<Control> = (0..9).map(|_| at(1.0, 1.0, 1.0)).collect();
        let (points, columns) = tessellate(&flat, [3, 3], 2);
        assert!(triangles(&points, columns).is_empty());
    }
}
