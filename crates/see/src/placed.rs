//! What is in a map at a place: entities and props.

use bspkit::bytes::rounded;

/// An entity or a prop.
///
/// ```
/// use bspkit_see::{Options, Scene, What};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// let scene = Scene::read(&map, &Options::default())?;
/// let props: Vec<_> = scene.placed.iter().filter(|placed| placed.what == What::Prop).collect();
/// assert_eq!((props.len(), &*props[0].name), (3, "models/own/crate.mdl"));
/// assert!(scene.placed[0].pairs.iter().any(|(key, value)| key == "classname" && value == "worldspawn"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Placed {
    /// What it is.
    pub what: What,
    /// Its number among its kind.
    pub index: usize,
    /// The class of an entity; the model of a prop.
    pub name: String,
    /// The keys and values of an entity, in their order; the fields of a prop. Bytes that are not UTF-8 are escaped.
    pub pairs: Vec<(String, String)>,
    /// Where it is, in units.
    pub origin: [f32; 3],
    /// Pitch, yaw and roll in degrees. Brush models do not turn: there the key has another meaning.
    pub angles: [f32; 3],
    /// How large it is along each axis of its model; 1 for the size of the model.
    pub scale: [f32; 3],
    /// The brush model of an entity.
    pub model: Option<usize>,
}

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum What {
    /// An entity.
    Entity,
    /// A static prop.
    Prop,
}

impl Placed {
    /// Its rotation as a quaternion of length 1, x, y, z, w: roll around x, then pitch around y, then yaw around z.
    pub fn rotation(&self) -> [f32; 4] {
        let half = self.angles.map(|angle| (f64::from(angle) / 2.0).to_radians());
        let ([sp, sy, sr], [cp, cy, cr]) = (half.map(f64::sin), half.map(f64::cos));
        let rotated = [
            cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
            cy * cp * cr + sy * sp * sr,
        ];
        let length = rotated.iter().map(|part| part * part).sum::<f64>().sqrt();
        if length.is_finite() && length > 0.5 {
            rotated.map(|part| rounded(part / length))
        } else {
            [0.0, 0.0, 0.0, 1.0]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotated(angles: [f32; 3], point: [f32; 3]) -> [f32; 3] {
        let placed = Placed {
            what: What::Prop,
            index: 0,
            name: String::new(),
            pairs: Vec::new(),
            origin: [0.0; 3],
            angles,
            scale: [1.0; 3],
            model: None,
        };
        let [x, y, z, w] = placed.rotation();
        // q * p * conjugate(q), by the usual formula.
        let u = [x, y, z];
        let dot: f32 = (0..3).map(|axis| u[axis] * point[axis]).sum();
        let length: f32 = u.iter().map(|part| part * part).sum();
        let cross = crate::points::cross(u, point);
        std::array::from_fn(|axis| {
            (2.0 * dot * u[axis] + (w * w - length) * point[axis] + 2.0 * w * cross[axis] + 0.0).round()
        })
    }

    /// As `AngleVectors` of the engines: yaw turns to the left, pitch down, roll to the right.
    #[test]
    fn angles_turn_as_in_the_engines() {
        assert_eq!(rotated([0.0, 90.0, 0.0], [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
        assert_eq!(rotated([90.0, 0.0, 0.0], [1.0, 0.0, 0.0]), [0.0, 0.0, -1.0]);
        assert_eq!(rotated([0.0, 0.0, 90.0], [0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
        // The yaw is around the map's axis, whatever the pitch is.
        assert_eq!(rotated([90.0, 90.0, 0.0], [0.0, 0.0, 1.0]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn what_is_not_an_angle_does_not_turn() {
        let mut placed = Placed {
            what: What::Entity,
            index: 0,
            name: String::new(),
            pairs: Vec::new(),
            origin: [0.0; 3],
            angles: [f32::NAN, 0.0, 0.0],
            scale: [1.0; 3],
            model: None,
        };
        assert_eq!(placed.rotation(), [0.0, 0.0, 0.0, 1.0]);
        placed.angles = [f32::MAX; 3];
        let length: f32 = placed.rotation().iter().map(|part| part * part).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
}
