//! Triangles on a grid of pixels, of which the nearest one is seen.

use bspkit::bytes::{amount, nearest_byte, rounded, whole_part};
use bspkit::{Error, ErrorKind, Result};

/// The most pixels that are looked at, of all triangles together.
const MOST_LOOKED_AT: usize = 1 << 31;

/// A corner of a triangle.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    /// Its column and row.
    pub(super) place: [f64; 2],
    /// What is larger is nearer; it changes evenly over a triangle.
    pub(super) near: f64,
    /// By what `rest` is multiplied, such that it changes evenly.
    pub(super) weight: f64,
    pub(super) rest: [f64; 7],
}

/// A place on a triangle.
pub(super) struct Shade {
    pub(super) near: f64,
    pub(super) rest: [f32; 7],
}

/// What a triangle looks like at a place: red, green and blue up to 255, and how opaque it is; `None` for a hole.
pub(super) type Paint<'p> = &'p dyn Fn(&Shade) -> Option<([f32; 3], f32)>;

/// The pixels.
pub(super) struct Canvas {
    size: [usize; 2],
    colors: Vec<[u8; 3]>,
    near: Vec<f32>,
    left: usize,
}

impl Canvas {
    pub(super) fn new(size: [usize; 2], color: [u8; 3]) -> Self {
        let count = size[0] * size[1];
        Canvas { size, colors: vec![color; count], near: vec![f32::NEG_INFINITY; count], left: MOST_LOOKED_AT }
    }

    /// Draws a triangle where it is the nearest. Its front is seen counterclockwise.
    pub(super) fn triangle(&mut self, corners: [Corner; 3], has_back: bool, paint: Paint<'_>) -> Result<()> {
        let [a, b, c] = corners.map(|corner| corner.place);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        // Rows go down, so that the front has a negative area.
        if !area.is_finite() || area == 0.0 || (area > 0.0 && !has_back) {
            return Ok(());
        }
        let edges = [[b, c], [c, a], [a, b]].map(|[from, to]| Edge::new(from, to, area));
        let rows = corners.map(|corner| corner.place[1]);
        let (top, bottom) =
            (rows.iter().copied().fold(f64::INFINITY, f64::min), rows.iter().copied().fold(0.0, f64::max));
        for row in pixel(top, self.size[1])..pixel(bottom + 1.0, self.size[1]) {
            let y = amount(row) + 0.5;
            let Some(columns) = columns(&edges, y, self.size[0]) else { continue };
            let looked_at = columns.len();
            self.left = self.left.checked_sub(looked_at + 1).ok_or_else(|| {
                Error::new(ErrorKind::TooLarge, "more surfaces lie one over the other than can be drawn in time")
            })?;
            for column in columns {
                let shares = edges.map(|edge| edge.at(amount(column) + 0.5, y));
                self.pixel(row * self.size[0] + column, &corners, shares, paint);
            }
        }
        Ok(())
    }

    fn pixel(&mut self, at: usize, corners: &[Corner; 3], shares: [f64; 3], paint: Paint<'_>) {
        let sum = |of: &dyn Fn(&Corner) -> f64| -> f64 {
            corners.iter().zip(shares).map(|(one, share)| of(one) * share).sum()
        };
        let near = sum(&|corner| corner.near);
        if rounded(near) <= self.near[at] {
            return;
        }
        let weight = sum(&|corner| corner.weight);
        let rest = std::array::from_fn(|part| rounded(sum(&|corner| corner.rest[part]) / weight));
        let Some((color, opacity)) = paint(&Shade { near, rest }) else { return };
        let under = self.colors[at].map(f32::from);
        self.colors[at] =
            std::array::from_fn(|part| nearest_byte(f64::from(under[part] + (color[part] - under[part]) * opacity)));
        if opacity >= 1.0 {
            self.near[at] = rounded(near);
        }
    }

    /// The picture with `by` times `by` pixels as one: red, green, blue.
    pub(super) fn smaller(&self, by: usize) -> Vec<u8> {
        let [columns, rows] = self.size.map(|side| side / by);
        let mut bytes = Vec::with_capacity(columns * rows * 3);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            for part in 0..3 {
                let all = (0..by * by).map(|at| {
                    let (x, y) = (column * by + at % by, row * by + at / by);
                    usize::from(self.colors[y * self.size[0] + x][part])
                });
                bytes.push(nearest_byte(amount(all.sum()) / amount(by * by)));
            }
        }
        bytes
    }
}

/// An edge, as the share of the corner opposite to it: 0 on the edge, 1 in the corner.
#[derive(Clone, Copy)]
struct Edge {
    by_column: f64,
    by_row: f64,
    start: f64,
}

impl Edge {
    fn new(from: [f64; 2], to: [f64; 2], area: f64) -> Self {
        let [by_column, by_row] = [(from[1] - to[1]) / area, (to[0] - from[0]) / area];
        Edge { by_column, by_row, start: -by_column * from[0] - by_row * from[1] }
    }

    fn at(&self, x: f64, y: f64) -> f64 {
        self.by_column * x + self.by_row * y + self.start
    }
}

/// The columns of a row whose middles are within all edges.
fn columns(edges: &[Edge; 3], y: f64, count: usize) -> Option<std::ops::Range<usize>> {
    let (mut low, mut high) = (0.0_f64, amount(count) - 1.0);
    for edge in edges {
        let here = edge.by_row * y + edge.start;
        let meets = -here / edge.by_column - 0.5;
        match edge.by_column {
            by if by > 0.0 => low = low.max(meets),
            by if by < 0.0 => high = high.min(meets),
            _ if here < 0.0 => return None,
            _ => {}
        }
    }
    (low <= high).then(|| pixel(low.ceil(), count)..pixel(high.floor() + 1.0, count))
}

/// A number as a column or row, from 0 to `most`.
fn pixel(value: f64, most: usize) -> usize {
    whole_part(value).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(corners: [[f64; 2]; 3], near: f64, canvas: &mut Canvas, color: f32, opacity: f32) {
        let corner = |place| Corner { place, near, weight: 1.0, rest: [0.0; 7] };
        canvas.triangle(corners.map(corner), false, &|_| Some(([color; 3], opacity))).unwrap();
    }

    #[test]
    fn the_nearest_triangle_is_seen_from_its_front() {
        let mut canvas = Canvas::new([4, 4], [0; 3]);
        let all = [[0.0, 8.0], [8.0, 0.0], [0.0, -8.0]];
        drawn(all, 1.0, &mut canvas, 100.0, 1.0);
        assert_eq!(canvas.colors, [[100; 3]; 16]);
        drawn(all, 0.5, &mut canvas, 200.0, 1.0);
        assert_eq!(canvas.colors, [[100; 3]; 16]);
        drawn([all[0], all[2], all[1]], 2.0, &mut canvas, 200.0, 1.0);
        assert_eq!(canvas.colors, [[100; 3]; 16]);
        drawn(all, 2.0, &mut canvas, 200.0, 0.5);
        assert_eq!(canvas.smaller(2), [150; 12]);
    }

    /// Two triangles share an edge: each pixel is in one of them.
    #[test]
    fn triangles_that_meet_leave_no_gap() {
        let mut canvas = Canvas::new([16, 16], [0; 3]);
        drawn([[0.0, 16.0], [16.0, 16.0], [16.0, 0.0]], 1.0, &mut canvas, 90.0, 1.0);
        drawn([[0.0, 16.0], [16.0, 0.0], [0.0, 0.0]], 1.0, &mut canvas, 90.0, 1.0);
        assert_eq!(canvas.colors, vec![[90; 3]; 256]);
    }
}
