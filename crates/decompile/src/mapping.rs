//! How a texture lies on a plane, and the forms that editors have for it.

use bspkit::bytes::rounded;

use crate::geometry::{Plane, cross, dot, length, minus, plus, times};
use crate::planes::{fewest, shortest};
use crate::source::{Alignment, Format, Point};

/// s and t of a point: `x * a + y * b + z * c + d`, in texels or in shares of the texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mapping {
    pub(crate) rows: [[f64; 4]; 2],
}

/// Columns and rows of a texture whose size is not known.
pub(crate) const USUAL: [f64; 2] = [64.0; 2];

/// How far coordinates may be off, in texels.
pub(crate) const TEXEL: f64 = 0.01;

/// The texture axes for planes that face up, down, east, west, north and south.
const AXES: [[Point; 3]; 6] = [
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    [[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
    [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
];

/// The axes of a texture that compilers take for a plane (`TextureAxisFromPlane`).
pub(crate) fn standard_axes(normal: Point) -> [Point; 2] {
    let mut best = (0.0, 0);
    for (at, [facing, ..]) in AXES.iter().enumerate() {
        let facing = dot(normal, *facing);
        if facing > best.0 {
            best = (facing, at);
        }
    }
    let [_, s, t] = AXES[best.1];
    [s, t]
}

/// The axes of brush primitives for a plane (`ComputeAxisBase`).
fn matrix_axes(normal: Point) -> [Point; 2] {
    let [x, y, z] = normal.map(|part| if part.abs() < 1e-6 { 0.0 } else { part });
    let (high, turn) = (-z.atan2((x * x + y * y).sqrt()), y.atan2(x));
    let s = [-turn.sin(), turn.cos(), 0.0];
    let t = [-high.sin() * turn.cos(), -high.sin() * turn.sin(), -high.cos()];
    [s, t]
}

impl Mapping {
    /// As compilers write it into maps.
    pub(crate) fn of_vectors(vectors: [[f32; 4]; 2]) -> Self {
        Mapping { rows: vectors.map(|row| row.map(shortest)) }
    }

    /// What a compiler lays on a plane without anything said.
    pub(crate) fn default_of(plane: &Plane, scale: f64) -> Self {
        let row = |[x, y, z]: Point| [x / scale, y / scale, z / scale, 0.0];
        Mapping { rows: standard_axes(plane.normal).map(row) }
    }

    /// s and t of a point.
    pub(crate) fn at(&self, point: Point) -> [f64; 2] {
        self.rows.map(|[a, b, c, d]| dot([a, b, c], point) + d)
    }

    /// The same for points that were moved.
    pub(crate) fn moved(&self, by: Point) -> Self {
        let row = |[a, b, c, d]: [f64; 4]| {
            let exact = d - dot([a, b, c], by);
            [a, b, c, fewest(exact, |value| (value - exact).abs() < 1e-7 * exact.abs().max(1.0))]
        };
        if by == [0.0; 3] { *self } else { Mapping { rows: self.rows.map(row) } }
    }

    /// The same seen from a place: of a point there it has what the mapping has of the point itself.
    pub(crate) fn seen_from(&self, place: Point) -> Self {
        Mapping { rows: self.rows.map(|[a, b, c, d]| [a, b, c, d + dot([a, b, c], place)]) }
    }

    /// With other units: texels from shares, and shares from texels.
    pub(crate) fn scaled(&self, factors: [f64; 2]) -> Self {
        let [s, t] = self.rows;
        Mapping { rows: [s.map(|part| part * factors[0]), t.map(|part| part * factors[1])] }
    }

    /// The mapping that has these values at three points, and no slope off their plane; `None` if they are in one line.
    pub(crate) fn through(points: [Point; 3], values: [[f64; 2]; 3]) -> Option<Self> {
        let [one, other] = [minus(points[1], points[0]), minus(points[2], points[0])];
        let normal = cross(one, other);
        let all = dot(normal, normal);
        if !(all.is_finite() && all > 1e-9) {
            return None;
        }
        // The slopes along the two edges give the slope on the plane.
        let duals = [times(cross(other, normal), 1.0 / all), times(cross(normal, one), 1.0 / all)];
        let row = |at: usize| {
            let [along, aside] = [values[1][at] - values[0][at], values[2][at] - values[0][at]];
            let slope = plus(times(duals[0], along), times(duals[1], aside));
            let [a, b, c] = slope;
            [a, b, c, values[0][at] - dot(slope, points[0])]
        };
        Some(Mapping { rows: [row(0), row(1)] })
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.rows.iter().flatten().all(|part| part.is_finite() && part.abs() < 1e9)
    }

    /// Whether both of its axes have a length.
    pub(crate) fn has_axes(&self) -> bool {
        self.rows.iter().all(|[a, b, c, _]| length([*a, *b, *c]) > 1e-9)
    }

    /// Whether it lays a picture on a plane, and not a line.
    pub(crate) fn is_flat(&self, plane: &Plane) -> bool {
        let [s, t] = self.rows.map(|[a, b, c, _]| [a, b, c]);
        dot(cross(s, t), plane.normal).abs() > 1e-9 * (length(s) * length(t)).max(1e-12)
    }

    /// Whether another one has the same at some points, within what is one for the eye.
    pub(crate) fn is_near(&self, other: &Self, mut points: impl Iterator<Item = Point>) -> bool {
        points.all(|point| {
            let ([s, t], [other_s, other_t]) = (self.at(point), other.at(point));
            (s - other_s).abs() <= TEXEL && (t - other_t).abs() <= TEXEL
        })
    }

    /// In the form of a format, or what comes near it where the format cannot say it. `self` is in texels, and `size`
    /// is that of the texture, for the formats that need it.
    pub(crate) fn alignment(&self, format: Format, plane: &Plane, size: [f64; 2]) -> Alignment {
        match format {
            Format::Valve | Format::Vmf => self.axes(),
            Format::BrushDef => self.scaled(size.map(|side| 1.0 / side)).matrix(plane),
            Format::Quake | Format::Quake3 => self.standard(plane),
        }
    }

    fn axes(&self) -> Alignment {
        let mut scales = [1.0; 2];
        let mut axes = [[0.0; 4]; 2];
        for ((row, scale), axis) in self.rows.into_iter().zip(&mut scales).zip(&mut axes) {
            let [a, b, c, d] = row;
            let long = length([a, b, c]);
            if long > 0.0 {
                *scale = fewest(1.0 / long, |value| (value * long - 1.0).abs() < 2e-7);
            }
            let part = |value: f64| {
                let bits = rounded(value);
                fewest(value * *scale, |found| rounded(found / *scale) == bits)
            };
            *axis = [part(a), part(b), part(c), d];
        }
        Alignment::Axes { axes, rotation: 0.0, scale: scales }
    }

    pub(crate) fn matrix(&self, plane: &Plane) -> Alignment {
        let [x, y] = matrix_axes(plane.normal);
        // The plane at its distance from the origin has a share of the offset.
        let foot = times(plane.normal, plane.distance);
        let row = |[a, b, c, d]: [f64; 4]| {
            let slope = [a, b, c];
            // Coordinates of vertexes are of single precision.
            let near = |value: f64, by: f64| fewest(value, |found| (found - value).abs() < by);
            [near(dot(slope, x), 1e-8), near(dot(slope, y), 1e-8), near(d + dot(slope, foot), 1e-6)]
        };
        Alignment::Matrix(self.rows.map(row))
    }

    fn standard(&self, plane: &Plane) -> Alignment {
        let [s, t] = standard_axes(plane.normal);
        let axis_of = |axis: Point| (0..3).find(|at| axis[*at] != 0.0).unwrap_or(0);
        let (along, aside) = (axis_of(s), axis_of(t));
        let off = 3 - along - aside;
        // On the plane, what is off the two axes is a function of them.
        let flat = self.rows.map(|row| {
            let share = row[off] / plane.normal[off];
            [
                row[along] - share * plane.normal[along],
                row[aside] - share * plane.normal[aside],
                row[3] + share * plane.distance,
            ]
        });
        let (sign_s, sign_t) = (s[along], t[aside]);
        let [[a, b, shift_s], [c, d, shift_t]] = flat;
        let turn = (sign_s * b).atan2(sign_s * a);
        let (sine, cosine) = turn.sin_cos();
        let long = sign_t * (cosine * d - sine * c);
        let wide = (a * a + b * b).sqrt();
        let near = |value: f64| fewest(value, |found| (found - value).abs() < 1e-6 * value.abs().max(1e-3));
        let scale = |slope: f64| if slope.abs() > 1e-9 { near(1.0 / slope) } else { 1.0 };
        let degrees = turn.to_degrees();
        let rotation = fewest(degrees, |found| (found - degrees).abs() < 2e-5);
        let offset = [shift_s, shift_t].map(|shift| fewest(shift, |found| (found - shift).abs() < 1e-5));
        Alignment::Standard { offset, rotation, scale: [scale(wide), scale(long)] }
    }
}

/// What a compiler makes of an alignment on a plane: in texels, or in shares for a matrix.
pub(crate) fn of_alignment(alignment: &Alignment, plane: &Plane) -> Mapping {
    let by = |scale: f64| if scale == 0.0 { 1.0 } else { scale };
    match *alignment {
        Alignment::Axes { axes, scale, .. } => {
            let row = |at: usize| {
                let ([a, b, c, d], scale) = (axes[at], by(scale[at]));
                [a / scale, b / scale, c / scale, d]
            };
            Mapping { rows: [row(0), row(1)] }
        }
        Alignment::Matrix(rows) => {
            let [x, y] = matrix_axes(plane.normal);
            let row = |[a, b, c]: [f64; 3]| {
                let [p, q, r] = plus(times(x, a), times(y, b));
                [p, q, r, c]
            };
            Mapping { rows: rows.map(row) }
        }
        Alignment::Standard { offset, rotation, scale } => {
            let [s, t] = standard_axes(plane.normal);
            let axis_of = |axis: Point| (0..3).find(|at| axis[*at] != 0.0).unwrap_or(0);
            let (along, aside) = (axis_of(s), axis_of(t));
            let (sine, cosine) = rotation.to_radians().sin_cos();
            let row = |at: usize| {
                let axis = [s, t][at];
                let mut row = [0.0; 4];
                row[along] = (cosine * axis[along] - sine * axis[aside]) / by(scale[at]);
                row[aside] = (sine * axis[along] + cosine * axis[aside]) / by(scale[at]);
                row[3] = offset[at];
                row
            };
            Mapping { rows: [row(0), row(1)] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(mapping: &Mapping, other: &Mapping, plane: &Plane) -> bool {
        let [one, two] = plane.directions();
        let foot = times(plane.normal, plane.distance);
        let points = [foot, plus(foot, times(one, 300.0)), plus(foot, times(two, -200.0))];
        points.iter().all(|point| {
            let (a, b) = (mapping.at(*point), other.at(*point));
            (a[0] - b[0]).abs() < 1e-3 && (a[1] - b[1]).abs() < 1e-3
        })
    }

    #[test]
    fn every_form_says_the_same() {
        let plane = Plane::of_points([[0.0, 0.0, 64.0], [0.0, 32.0, 0.0], [48.0, 32.0, 0.0]]).unwrap();
        for (rotation, scale) in [(0.0, [1.0, 1.0]), (30.0, [0.5, -2.0]), (-135.0, [-1.0, 0.25])] {
            let given = Alignment::Standard { offset: [3.0, -7.5], rotation, scale };
            let mapping = of_alignment(&given, &plane);
            assert!(mapping.is_flat(&plane) && mapping.is_finite());
            for format in Format::ALL {
                let found = mapping.alignment(format, &plane, [64.0, 128.0]);
                let mut back = of_alignment(&found, &plane);
                if format == Format::BrushDef {
                    back = back.scaled([64.0, 128.0]);
                }
                assert!(agree(&mapping, &back, &plane), "{format:?} {found:?} {rotation}");
            }
        }
    }

    #[test]
    fn a_slanted_texture_has_no_standard_form() {
        let plane = Plane { normal: [0.0, 0.0, 1.0], distance: 8.0 };
        let slanted = Mapping { rows: [[1.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]] };
        let found = of_alignment(&slanted.alignment(Format::Quake, &plane, USUAL), &plane);
        assert!(!slanted.is_near(&found, [[64.0, 32.0, 8.0]].into_iter()));
    }

    #[test]
    fn three_points_give_a_mapping() {
        let points = [[0.0, 0.0, 8.0], [64.0, 0.0, 8.0], [0.0, 64.0, 8.0]];
        let mapping = Mapping::through(points, [[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]]).unwrap();
        let [s, t] = mapping.at([32.0, 32.0, 8.0]);
        assert!((s - 0.5).abs() < 1e-9 && (t - 0.75).abs() < 1e-9);
        assert!(Mapping::through([points[0]; 3], [[0.0; 2]; 3]).is_none());
    }
}
