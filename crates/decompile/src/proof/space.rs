//! Volumes of a source, found by their places.

use crate::boxes::{Box3, Boxes, grown, of_points};
use crate::geometry::{Plane, faces, is_open, minus};
use crate::mapping::{Mapping, of_alignment};
use crate::source::{Brush, Point, Side};

/// A brush of a source as a volume.
#[derive(Debug)]
pub(super) struct Volume {
    pub(super) planes: Vec<Plane>,
    pub(super) contents: u32,
    pub(super) sides: Vec<Seen>,
    limits: Box3,
}

/// A side of a volume.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) texture: Vec<u8>,
    pub(super) ring: Vec<Point>,
    pub(super) plane: Plane,
    pub(super) mapping: Mapping,
    /// Whether the mapping gives shares of the texture.
    pub(super) in_shares: bool,
}

/// Where a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    Inside,
    Outside,
    /// So near to a face that rounding decides.
    Between,
}

impl Volume {
    /// A brush, moved; `None` if it has no volume.
    pub(super) fn of(brush: &Brush, contents: u32, origin: Point) -> Option<Self> {
        let plane = |side: &Side| Plane::of_points(side.points.map(|point| minus(point, origin)));
        let planes = brush.sides.iter().map(plane).collect::<Option<Vec<Plane>>>()?;
        let rings = faces(&planes);
        let corners: Vec<Point> = rings.iter().flatten().copied().collect();
        if corners.is_empty() || rings.iter().any(|ring| is_open(ring)) {
            return None;
        }
        let sides = brush.sides.iter().zip(&planes).zip(rings).map(|((side, plane), ring)| {
            let moved = Plane::of_points(side.points).unwrap_or(*plane);
            Seen {
                texture: side.texture.to_ascii_lowercase(),
                ring,
                plane: *plane,
                // In the coordinates of the model, as the faces of the map are.
                mapping: of_alignment(&side.alignment, &moved).seen_from(origin),
                in_shares: crate::dress::is_matrix(&side.alignment),
            }
        });
        let sides = sides.collect();
        Some(Volume { planes, contents, sides, limits: of_points(&corners) })
    }

    pub(super) fn place(&self, point: Point, epsilon: f64) -> Where {
        let highest = self.planes.iter().map(|plane| plane.height(point)).fold(f64::NEG_INFINITY, f64::max);
        match highest {
            _ if highest > epsilon => Where::Outside,
            _ if highest < -epsilon => Where::Inside,
            _ => Where::Between,
        }
    }
}

/// Volumes in a tree of boxes.
#[derive(Debug, Default)]
pub(super) struct Space {
    volumes: Vec<Volume>,
    boxes: Boxes,
}

impl Space {
    pub(super) fn new(volumes: Vec<Volume>) -> Self {
        let boxes = Boxes::new(volumes.iter().map(|volume| volume.limits).collect());
        Space { volumes, boxes }
    }

    /// The volumes whose boxes reach into a box.
    pub(super) fn within(&self, limits: Box3) -> impl Iterator<Item = &Volume> {
        self.boxes.within(limits).map(|number| &self.volumes[number])
    }

    /// All volumes.
    pub(super) fn all(&self) -> &[Volume] {
        &self.volumes
    }

    /// The box of all volumes; `None` without any.
    pub(super) fn whole(&self) -> Option<Box3> {
        self.boxes.whole()
    }

    /// The box of all volumes, and a little around it.
    pub(super) fn limits(&self) -> Option<Box3> {
        let [mins, maxs] = self.boxes.whole()?;
        let wide = minus(maxs, mins).into_iter().fold(0.0, f64::max);
        Some(grown([mins, maxs], wide * 0.01))
    }

    /// The contents at a point; `None` if it is too near to a face.
    pub(super) fn contents(&self, point: Point, epsilon: f64) -> Option<u32> {
        let mut contents = 0;
        for volume in self.within(grown([point; 2], epsilon)).filter(|volume| volume.contents != 0) {
            match volume.place(point, epsilon) {
                Where::Inside => contents |= volume.contents,
                Where::Outside => {}
                Where::Between => return None,
            }
        }
        Some(contents)
    }

    /// Whether a point is in a volume with any of these contents, or near its faces.
    pub(super) fn is_in(&self, point: Point, near: f64, contents: u32) -> bool {
        self.within(grown([point; 2], near))
            .any(|volume| volume.contents & contents != 0 && volume.place(point, near) != Where::Outside)
    }
}
