//! Volumes of a source, found by their places.

use crate::geometry::{Plane, faces, is_open, minus, plus};
use crate::mapping::{Mapping, of_alignment};
use crate::source::{Brush, Point, Side};

/// A brush of a source as a volume.
#[derive(Debug)]
pub(super) struct Volume {
    pub(super) planes: Vec<Plane>,
    pub(super) contents: u32,
    pub(super) sides: Vec<Seen>,
    mins: Point,
    maxs: Point,
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
        let limit = |pick: fn(f64, f64) -> f64, start: f64| -> Point {
            std::array::from_fn(|axis| corners.iter().fold(start, |limit, corner| pick(limit, corner[axis])))
        };
        let sides = brush.sides.iter().zip(&planes).zip(rings).map(|((side, plane), ring)| {
            let moved = Plane::of_points(side.points).unwrap_or(*plane);
            Seen {
                texture: side.texture.to_ascii_lowercase(),
                ring,
                plane: *plane,
                // In the coordinates of the model, as the faces of the map are.
                mapping: of_alignment(&side.alignment, &moved).from_place(origin),
                in_shares: crate::dress::is_matrix(&side.alignment),
            }
        });
        let sides = sides.collect();
        Some(Volume {
            planes,
            contents,
            sides,
            mins: limit(f64::min, f64::INFINITY),
            maxs: limit(f64::max, f64::NEG_INFINITY),
        })
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
    /// Boxes; each has two others in it, or volumes.
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    mins: Point,
    maxs: Point,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Volumes(std::ops::Range<usize>),
    Nodes(usize, usize),
}

/// How many volumes a box has that is not divided.
const FEW: usize = 4;

impl Space {
    pub(super) fn new(mut volumes: Vec<Volume>) -> Self {
        let mut nodes = Vec::new();
        if !volumes.is_empty() {
            let end = volumes.len();
            build(&mut volumes, 0..end, &mut nodes);
        }
        Space { volumes, nodes }
    }

    /// The volumes whose boxes reach into a box.
    pub(super) fn within(&self, mins: Point, maxs: Point) -> impl Iterator<Item = &Volume> {
        let reaches =
            move |low: &Point, high: &Point| (0..3).all(|axis| low[axis] <= maxs[axis] && high[axis] >= mins[axis]);
        let mut open = if self.nodes.is_empty() { Vec::new() } else { vec![self.nodes.len() - 1] };
        let mut ready = 0..0;
        std::iter::from_fn(move || {
            loop {
                if let Some(at) = ready.next() {
                    let volume: &Volume = &self.volumes[at];
                    if reaches(&volume.mins, &volume.maxs) {
                        return Some(volume);
                    }
                    continue;
                }
                let node = &self.nodes[open.pop()?];
                if reaches(&node.mins, &node.maxs) {
                    match &node.inner {
                        Inner::Volumes(range) => ready = range.clone(),
                        Inner::Nodes(one, other) => open.extend([*one, *other]),
                    }
                }
            }
        })
    }

    /// The box of all volumes.
    pub(super) fn root(&self) -> Option<(Point, Point)> {
        self.nodes.last().map(|node| (node.mins, node.maxs))
    }

    /// The contents at a point; `None` if it is too near to a face.
    pub(super) fn contents(&self, point: Point, epsilon: f64) -> Option<u32> {
        let [low, high] = [minus(point, [epsilon; 3]), plus(point, [epsilon; 3])];
        let mut contents = 0;
        for volume in self.within(low, high) {
            match volume.place(point, epsilon) {
                Where::Inside => contents |= volume.contents,
                Where::Outside => {}
                Where::Between => return None,
            }
        }
        Some(contents)
    }

    /// Whether a point is in any volume or near its faces.
    pub(super) fn is_in(&self, point: Point, near: f64) -> bool {
        let [low, high] = [minus(point, [near; 3]), plus(point, [near; 3])];
        self.within(low, high).any(|volume| volume.place(point, near) != Where::Outside)
    }
}

/// Divides volumes at the middle of their longest side; the last node is the root.
fn build(volumes: &mut [Volume], range: std::ops::Range<usize>, nodes: &mut Vec<Node>) -> usize {
    let all = &mut volumes[range.clone()];
    let mins =
        all.iter().fold([f64::INFINITY; 3], |mins, one| std::array::from_fn(|axis| mins[axis].min(one.mins[axis])));
    let maxs =
        all.iter().fold([f64::NEG_INFINITY; 3], |maxs, one| std::array::from_fn(|axis| maxs[axis].max(one.maxs[axis])));
    let inner = if all.len() <= FEW {
        Inner::Volumes(range)
    } else {
        let long = minus(maxs, mins);
        let axis = (0..3).fold(0, |best, axis| if long[axis] > long[best] { axis } else { best });
        let middle = all.len() / 2;
        let center = |one: &Volume| one.mins[axis] + one.maxs[axis];
        all.select_nth_unstable_by(middle, |one, other| center(one).total_cmp(&center(other)));
        let one = build(volumes, range.start..range.start + middle, nodes);
        let other = build(volumes, range.start + middle..range.end, nodes);
        Inner::Nodes(one, other)
    };
    nodes.push(Node { mins, maxs, inner });
    nodes.len() - 1
}
