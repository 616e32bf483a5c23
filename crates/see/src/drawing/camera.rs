//! Where a picture is taken from.

use std::str::FromStr;

use bspkit::bytes::{amount, rounded};
use bspkit::{Error, ErrorKind, Result};

use super::canvas::Corner;
use super::{Point, corner};
use crate::scene::Scene;

/// What is nearer than this is not drawn, in units.
const NEAREST: f64 = 2.0;

/// Where a picture is taken from.
///
/// ```
/// use bspkit_see::View;
/// assert_eq!("above".parse::<View>()?, View::Above);
/// let view: View = "64,-32,50,90".parse()?;
/// assert_eq!(view, View::From { at: [64.0, -32.0, 50.0], yaw: 90.0, pitch: 0.0 });
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums)]
pub enum View {
    /// From the eyes of a player at the first place where players begin; from above if the map has none.
    Start,
    /// All of the map, straight from above: north is up. Ceilings face down, and are not drawn, and neither
    /// is the sky.
    Above,
    /// From a place, to the horizon by 90 degrees.
    From {
        /// The place, in units.
        at: [f32; 3],
        /// Degrees to the left of east.
        yaw: f32,
        /// Degrees below the horizon.
        pitch: f32,
    },
}

impl FromStr for View {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = || text.split(',').map(|part| part.trim().parse().ok().filter(|number: &f32| number.is_finite()));
        match (text, numbers().collect::<Option<Vec<_>>>().as_deref()) {
            ("start", _) => Ok(View::Start),
            ("above", _) => Ok(View::Above),
            (_, Some([x, y, z, angles @ ..])) if angles.len() <= 2 => {
                let angle = |at: usize| angles.get(at).copied().unwrap_or(0.0);
                Ok(View::From { at: [*x, *y, *z], yaw: angle(0), pitch: angle(1) })
            }
            _ => {
                let message = format!("`{text}` is no view: use start, above or X,Y,Z[,YAW[,PITCH]]");
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

/// A view of a size.
pub(super) struct Camera {
    at: [f64; 3],
    /// Forward, right and up.
    axes: [[f64; 3]; 3],
    middle: [f64; 2],
    /// Pixels for each unit; at a distance of one unit, unless all distances are alike.
    scale: f64,
    is_flat: bool,
}

impl Camera {
    /// `None` for a scene without surfaces.
    pub(super) fn new(scene: &Scene, view: View, size: [usize; 2]) -> Option<Self> {
        let [low, high] = bounds(scene)?;
        let middle = size.map(|side| amount(side) / 2.0);
        let from = match view {
            View::From { at, yaw, pitch } => Some((at, yaw, pitch)),
            View::Start => scene.start.map(|[x, y, z, yaw]| ([x, y, z], yaw, 0.0)),
            View::Above => None,
        };
        if let Some((at, yaw, pitch)) = from {
            let [yaw, pitch] = [yaw, pitch].map(|angle| f64::from(angle).to_radians());
            let forward = [yaw.cos() * pitch.cos(), yaw.sin() * pitch.cos(), -pitch.sin()];
            let right = [yaw.sin(), -yaw.cos(), 0.0];
            let up = [yaw.cos() * pitch.sin(), yaw.sin() * pitch.sin(), pitch.cos()];
            let axes = [forward, right, up];
            return Some(Camera { at: at.map(f64::from), axes, middle, scale: middle[0], is_flat: false });
        }
        let at = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, high[2] + 1.0];
        let fits = |axis: usize| 0.96 * middle[axis] / ((high[axis] - low[axis]) / 2.0).max(1.0);
        let axes = [[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        Some(Camera { at, axes, middle, scale: fits(0).min(fits(1)), is_flat: true })
    }

    /// How far the middle of a triangle is.
    pub(super) fn distance(&self, points: [[f32; 3]; 3]) -> f64 {
        points.iter().map(|point| self.see(*point)[0]).sum::<f64>() / 3.0
    }

    /// Along the axes of the camera.
    fn see(&self, point: [f32; 3]) -> [f64; 3] {
        let away: [f64; 3] = std::array::from_fn(|axis| f64::from(point[axis]) - self.at[axis]);
        self.axes.map(|axis| axis.iter().zip(away).map(|(one, other)| one * other).sum())
    }

    /// Units of the map on a pixel, at a nearness.
    pub(super) fn footprint(&self, near: f64) -> f32 {
        let units = if self.is_flat { 1.0 / self.scale } else { 1.0 / (near * self.scale) };
        rounded(units)
    }

    /// The triangles that are seen of one, which the nearest plane may cut.
    pub(super) fn seen(&self, corners: [Point; 3]) -> Vec<[Corner; 3]> {
        let mut ring: Vec<([f64; 3], [f32; 7])> =
            corners.iter().map(|(point, rest)| (self.see(*point), *rest)).collect();
        if !ring.iter().all(|(place, _)| place.iter().all(|part| part.is_finite())) {
            return Vec::new();
        }
        if !self.is_flat {
            ring = cut(&ring);
        }
        let on: Vec<Corner> = ring.iter().map(|(place, rest)| self.corner(*place, *rest)).collect();
        let fan = on.windows(2).skip(1).filter_map(|pair| Some([*on.first()?, pair[0], pair[1]]));
        fan.collect()
    }

    fn corner(&self, [far, right, up]: [f64; 3], rest: [f32; 7]) -> Corner {
        let [x, y] = self.middle;
        if self.is_flat {
            return corner([x + right * self.scale, y - up * self.scale], -far, 1.0, rest);
        }
        let scale = self.scale / far;
        corner([x + right * scale, y - up * scale], 1.0 / far, 1.0 / far, rest)
    }
}

/// The part of a ring beyond the nearest plane.
fn cut(ring: &[([f64; 3], [f32; 7])]) -> Vec<([f64; 3], [f32; 7])> {
    let mut kept = Vec::with_capacity(ring.len() + 1);
    for (at, one) in ring.iter().enumerate() {
        let next = &ring[(at + 1) % ring.len()];
        if one.0[0] >= NEAREST {
            kept.push(*one);
        }
        if (one.0[0] >= NEAREST) != (next.0[0] >= NEAREST) {
            let share = (NEAREST - one.0[0]) / (next.0[0] - one.0[0]);
            let place = std::array::from_fn(|axis| one.0[axis] + share * (next.0[axis] - one.0[axis]));
            let rest = std::array::from_fn(|part| one.1[part] + rounded(share) * (next.1[part] - one.1[part]));
            kept.push((place, rest));
        }
    }
    kept
}

/// The box around all surfaces.
fn bounds(scene: &Scene) -> Option<[[f64; 3]; 2]> {
    let boxes = scene.places().into_iter().filter_map(|(model, offset)| {
        let corners = scene.models[model].bounds()?;
        Some(corners.map(|corner| std::array::from_fn(|axis| f64::from(corner[axis] + offset[axis]))))
    });
    boxes.reduce(|[low, high]: [[f64; 3]; 2], [other_low, other_high]| {
        [
            std::array::from_fn(|axis| low[axis].min(other_low[axis])),
            std::array::from_fn(|axis| high[axis].max(other_high[axis])),
        ]
    })
}
