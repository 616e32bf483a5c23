//! Three points for a plane, from which a compiler computes the same plane.
//!
//! Mappers put points on a grid, so most planes have whole numbers on them: those are found from the normal alone, as
//! the ratio of its parts is a ratio of whole numbers then. Where there are none, the points have the fewest digits
//! that come back to the same bits.

use bspkit::bytes::rounded;

use crate::geometry::{Plane, cross, dot, length, minus, plus, times};
use crate::source::Point;

/// The largest whole number in the direction of a plane. Larger ones would fit any normal of single precision.
const MOST_PART: f64 = 2048.0;

/// How far apart the points are, at least: rounding turns a plane less if they are far apart.
const APART: f64 = 64.0;

/// Points of whole numbers that are farther away than worlds reach are of no use.
const FARTHEST: f64 = 65_536.0;

/// Grids of whole numbers, halves, quarters, and of tenths.
const GRIDS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 10.0, 16.0];

/// How well points give a plane back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// To the same bits, in double precision.
    Same,
    /// Within the error of a compiler that computes in single precision.
    Near,
    /// Neither: the normal of the map is not of length 1.
    Far,
}

/// Three points on a plane, near a place.
pub(crate) fn points(normal: [f32; 3], distance: f32, near: Point) -> ([Point; 3], Fit) {
    let plane = Plane { normal: normal.map(f64::from), distance: f64::from(distance) };
    if let Some(found) = axial(&plane, distance, near) {
        return (found, fit(found, normal, distance));
    }
    let whole = direction(&plane).and_then(|whole| on_grid(whole, &plane, near, normal, distance));
    if let Some((found, fit)) = whole {
        return (found, fit);
    }
    let mut last = None;
    let plane = Plane { normal: unit(normal), distance: plane.distance };
    for digits in 0..=13 {
        let found = decimal(&plane, near, digits);
        let fit = fit(found, normal, distance);
        if fit == Fit::Same {
            return (found, fit);
        }
        last = Some((found, fit));
    }
    last.unwrap_or(([near; 3], Fit::Far))
}

/// The direction of length 1 that is rounded to a normal: every part is moved by the same share of its last bit. A mere
/// change of the length would carry some parts to the next number.
fn unit(normal: [f32; 3]) -> Point {
    let wide = normal.map(f64::from);
    let last = normal.map(|part| f64::from(part.abs().next_up()) - f64::from(part.abs()));
    let slope: f64 = (0..3).map(|axis| wide[axis].abs() * last[axis]).sum();
    let share = (1.0 - dot(wide, wide)) / (2.0 * slope);
    let moved: Point = std::array::from_fn(|axis| wide[axis] + share * last[axis] * wide[axis].signum());
    let is_its = (0..3).all(|axis| rounded(moved[axis]) == normal[axis]);
    if is_its { moved } else { times(wide, 1.0 / length(wide)) }
}

/// How well points give these numbers back.
fn fit(points: [Point; 3], normal: [f32; 3], distance: f32) -> Fit {
    let Some(plane) = Plane::of_points(points) else { return Fit::Far };
    let is_same = |own: f64, bits: f32| rounded(own) == bits;
    if (0..3).all(|axis| is_same(plane.normal[axis], normal[axis])) && is_same(plane.distance, distance) {
        return Fit::Same;
    }
    let off = |own: f64, other: f32| (own - f64::from(other)).abs();
    let reach = points.iter().flatten().fold(f64::from(distance).abs(), |most, part| most.max(part.abs()));
    let is_near = (0..3).all(|axis| off(plane.normal[axis], normal[axis]) < 3e-7)
        && off(plane.distance, distance) < (reach * 4e-7).max(1e-5);
    if is_near { Fit::Near } else { Fit::Far }
}

/// A number with so many digits behind the point.
pub(crate) fn round_to(value: f64, digits: i32) -> f64 {
    let factor = 10_f64.powi(digits);
    let scaled = (value * factor).round();
    if scaled.abs() < 9e15 { scaled / factor } else { value }
}

/// The number with the fewest digits that is as good.
pub(crate) fn fewest(value: f64, is_good: impl Fn(f64) -> bool) -> f64 {
    (0..=16).map(|digits| round_to(value, digits)).find(|found| is_good(*found)).unwrap_or(value)
}

/// A number of single precision as the shortest decimal that is read as it.
pub(crate) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(0.0)
}

fn axial(plane: &Plane, distance: f32, near: Point) -> Option<[Point; 3]> {
    let axis = plane.axis();
    if plane.normal[axis].abs() != 1.0 {
        return None;
    }
    let mut base = near.map(f64::round);
    base[axis] = shortest(distance) * plane.normal[axis];
    Some(spread(plane, base, |point| point))
}

/// Three points from a place on: steps along the two axes that the plane faces less, each put on the plane by `down`.
fn spread(plane: &Plane, base: Point, down: impl Fn(Point) -> Point) -> [Point; 3] {
    let axis = plane.axis();
    let step = |along: usize| {
        let mut point = base;
        point[(axis + along) % 3] += APART;
        down(point)
    };
    // The first and the last point turn around the second one so that the plane faces its way.
    if plane.normal[axis] > 0.0 { [step(1), down(base), step(2)] } else { [step(2), down(base), step(1)] }
}

fn decimal(plane: &Plane, near: Point, digits: i32) -> [Point; 3] {
    let axis = plane.axis();
    let down = |mut point: Point| {
        point[axis] = 0.0;
        point[axis] = round_to((plane.distance - dot(plane.normal, point)) / plane.normal[axis], digits);
        point
    };
    spread(plane, near.map(f64::round), down)
}

/// The direction of a plane in whole numbers without a common factor; `None` if there are no small ones.
fn direction(plane: &Plane) -> Option<Point> {
    let axis = plane.axis();
    let ratio = plane.normal.map(|part| part / plane.normal[axis].abs());
    let is_whole = |value: f64, factor: f64| (value - value.round()).abs() < 4e-7 * factor;
    let mut factor = 1.0;
    while factor <= MOST_PART {
        let found = ratio.map(|part| part * factor);
        if found.iter().all(|part| is_whole(*part, factor)) {
            let whole = found.map(f64::round);
            let unit = times(whole, 1.0 / length(whole));
            let is_close = (0..3).all(|at| (unit[at] - plane.normal[at]).abs() < 2.5e-7);
            return is_close.then_some(whole);
        }
        factor += 1.0;
    }
    None
}

/// The greatest common divisor of whole numbers, and factors that add them to it.
fn divisor(one: f64, other: f64) -> (f64, f64, f64) {
    let (mut old, mut new) = ((one, 1.0, 0.0), (other, 0.0, 1.0));
    while new.0 != 0.0 {
        let times = (old.0 / new.0).floor();
        (old, new) = (new, (old.0 - times * new.0, old.1 - times * new.1, old.2 - times * new.2));
    }
    if old.0 < 0.0 { (-old.0, -old.1, -old.2) } else { old }
}

/// Three points of a grid on a plane with this direction in whole numbers.
fn on_grid(whole: Point, plane: &Plane, near: Point, normal: [f32; 3], distance: f32) -> Option<([Point; 3], Fit)> {
    let [a, b, c] = whole;
    let long = length(whole);
    let mut best = None;
    for grid in GRIDS {
        let sum = plane.distance * long * grid;
        if (sum - sum.round()).abs() > 0.02 + sum.abs() * 3e-7 {
            continue;
        }
        // Whole solutions of a x + b y + c z = sum: one of them, and two steps between all of them.
        let (g, x, y) = if a == 0.0 && b == 0.0 { (1.0, 0.0, 0.0) } else { divisor(a, b) };
        let (_, high, far) = divisor(g, c);
        let start = times([x * high, y * high, far], sum.round());
        let one = if a == 0.0 && b == 0.0 { [1.0, 0.0, 0.0] } else { [b / g, -a / g, 0.0] };
        let other = [-c * x, -c * y, g];
        let [one, other] = short_steps(one, other);
        let goal = minus(times(near, grid), start);
        let [first, second] = solve(one, other, goal);
        let base = plus(start, plus(times(one, first.round()), times(other, second.round())));
        let far_enough = |step: Point| times(step, (APART * grid / length(step)).ceil());
        let (ahead, aside) = (plus(base, far_enough(one)), plus(base, far_enough(other)));
        let found = match dot(cross(minus(ahead, base), minus(aside, base)), whole) > 0.0 {
            true => [ahead, base, aside],
            false => [aside, base, ahead],
        };
        let found = found.map(|point| times(point, 1.0 / grid));
        if found.iter().flatten().any(|part| part.abs() > FARTHEST) {
            continue;
        }
        match fit(found, normal, distance) {
            Fit::Same => return Some((found, Fit::Same)),
            // Fine grids come near any plane.
            Fit::Near if best.is_none() && grid <= 2.0 => best = Some((found, Fit::Near)),
            _ => {}
        }
    }
    best
}

/// The shortest two steps that reach the same places.
fn short_steps(mut one: Point, mut other: Point) -> [Point; 2] {
    for _ in 0..64 {
        if dot(one, one) > dot(other, other) {
            (one, other) = (other, one);
        }
        let factor = (dot(one, other) / dot(one, one)).round();
        if factor == 0.0 {
            break;
        }
        other = minus(other, times(one, factor));
    }
    [one, other]
}

/// The factors of two steps whose sum is nearest to a goal.
fn solve(one: Point, other: Point, goal: Point) -> [f64; 2] {
    let (oo, op, pp) = (dot(one, one), dot(one, other), dot(other, other));
    let (og, pg) = (dot(one, goal), dot(other, goal));
    let all = oo * pp - op * op;
    [(og * pp - pg * op) / all, (pg * oo - og * op) / all]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::array::uniform3;
    use proptest::prelude::*;

    fn single(plane: &Plane) -> ([f32; 3], f32) {
        (plane.normal.map(rounded), rounded(plane.distance))
    }

    proptest! {
        #[test]
        fn whole_points_are_found(points in uniform3(uniform3(-512_i32..512))) {
            let points = points.map(|point| point.map(f64::from));
            prop_assume!(Plane::of_points(points).is_some());
            let plane = Plane::of_points(points).unwrap();
            let (normal, distance) = single(&plane);
            let (found, fit) = super::points(normal, distance, points[0]);
            prop_assert!(fit != Fit::Far, "{found:?}");
            let back = Plane::of_points(found).unwrap();
            prop_assert!(dot(back.normal, plane.normal) > 0.999_999);
            prop_assert!(points.iter().all(|point| back.height(*point).abs() < 0.01), "{found:?}");
        }
    }

    #[test]
    fn a_slope_has_whole_points() {
        let plane = Plane::of_points([[0.0, 0.0, 64.0], [0.0, 32.0, 0.0], [48.0, 32.0, 0.0]]).unwrap();
        let (normal, distance) = single(&plane);
        let (found, fit) = points(normal, distance, [10.0, 20.0, 30.0]);
        assert!(fit == Fit::Same && found.iter().flatten().all(|part| part.fract() == 0.0), "{found:?}");
    }

    #[test]
    fn an_axial_plane_keeps_its_distance() {
        for (normal, distance) in [([0.0, -1.0, 0.0], 0.1_f32), ([1.0, 0.0, 0.0], -4096.125)] {
            let (found, fit) = points(normal, distance, [1.2, 3.4, 5.6]);
            assert_eq!(fit, Fit::Same, "{found:?}");
        }
    }

    #[test]
    fn a_plane_without_a_grid_comes_back_to_its_bits() {
        let normal = [0.267_261_24_f32, 0.534_522_5, 0.801_783_7];
        let (found, fit) = points(normal, 123.456_78, [0.0; 3]);
        assert_eq!(fit, Fit::Same, "{found:?}");
    }
}
