//! The convex cells into which the tree of a model divides a box.

use crate::geometry::{Plane, clip, cross, dot, double_area, is_open, length, minus};
use crate::source::Point;

/// A cell that would be thinner is not cut off: rounding makes such ones.
pub(crate) const THIN: f64 = 0.03;

/// Half the area that is looked at, in square units.
const LEAST: f64 = 0.05;

/// A side of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Wall {
    /// Facing out of the cell, as the map has it.
    pub(crate) normal: [f32; 3],
    pub(crate) distance: f32,
    pub(crate) ring: Vec<Point>,
    /// Whether it is a side of the box around all.
    pub(crate) is_rim: bool,
    /// The parts of it that show a look.
    pub(crate) shown: Vec<(usize, Vec<Point>)>,
}

impl Wall {
    pub(crate) fn plane(&self) -> Plane {
        plane(self.normal, self.distance)
    }
}

pub(crate) fn plane(normal: [f32; 3], distance: f32) -> Plane {
    Plane { normal: normal.map(f64::from), distance: f64::from(distance) }
}

/// What is on one side of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Node(usize),
    Cell(usize),
    /// Space, or what a damaged tree does not say.
    Nothing,
}

#[derive(Clone, Debug)]
struct Node {
    plane: Plane,
    normal: [f32; 3],
    distance: f32,
    next: [Next; 2],
}

/// A convex volume that is not empty.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) contents: u32,
    pub(crate) walls: Vec<Wall>,
    /// The node that it is at, and on which side; `None` for the root.
    place: Option<(usize, usize)>,
}

/// What a tree has in a direction: where to go on, or what is there.
pub(crate) enum Step {
    Node { normal: [f32; 3], distance: f32, children: [i64; 2] },
    Leaf(u32),
    Damaged,
}

/// The cells of a model in a tree of their own.
#[derive(Debug)]
pub(crate) struct Cells {
    nodes: Vec<Node>,
    root: Next,
    /// The box around all.
    room: [Point; 2],
    pub(crate) all: Vec<Cell>,
    /// Corners that may still be looked at.
    pub(crate) work: usize,
    /// Whether the tree leads to places that do not exist, to a node twice, or takes too long.
    pub(crate) is_damaged: bool,
}

/// The two parts of what was cut, or which one it all is.
enum Cut {
    Front,
    Back,
    Both(Vec<Wall>, Vec<Wall>),
}

impl Cells {
    /// Walks a tree from a child on. `step` says what a child is, and is asked once for each node; `work` is how many
    /// corners may be looked at, now and later.
    pub(crate) fn walk(head: i64, within: [Point; 2], work: usize, mut step: impl FnMut(i64) -> Step) -> Self {
        let mut cells =
            Cells { nodes: Vec::new(), root: Next::Nothing, room: within, all: Vec::new(), work, is_damaged: false };
        let mut open = vec![(head, room(within), None)];
        while let Some((mut child, walls, place)) = open.pop() {
            loop {
                match step(child) {
                    Step::Damaged => cells.is_damaged = true,
                    Step::Leaf(0) => {}
                    Step::Leaf(contents) => cells.put(place, contents, walls),
                    Step::Node { normal, distance, children } => match cells.cut(&walls, normal, distance) {
                        Some(Cut::Front) => {
                            child = children[0];
                            continue;
                        }
                        Some(Cut::Back) => {
                            child = children[1];
                            continue;
                        }
                        Some(Cut::Both(front, back)) => {
                            let node = cells.add_node(place, normal, distance);
                            open.push((children[0], front, Some((node, 0))));
                            open.push((children[1], back, Some((node, 1))));
                        }
                        None => cells.is_damaged = true,
                    },
                }
                break;
            }
        }
        cells
    }

    fn set(&mut self, place: Option<(usize, usize)>, next: Next) {
        match place {
            Some((node, side)) => self.nodes[node].next[side] = next,
            None => self.root = next,
        }
    }

    fn add_node(&mut self, place: Option<(usize, usize)>, normal: [f32; 3], distance: f32) -> usize {
        self.nodes.push(Node { plane: plane(normal, distance), normal, distance, next: [Next::Nothing; 2] });
        self.set(place, Next::Node(self.nodes.len() - 1));
        self.nodes.len() - 1
    }

    fn put(&mut self, place: Option<(usize, usize)>, contents: u32, walls: Vec<Wall>) {
        self.all.push(Cell { contents, walls, place });
        self.set(place, Next::Cell(self.all.len() - 1));
    }

    /// Takes from the work that is left; false if there is not so much.
    pub(crate) fn pay(&mut self, corners: usize) -> bool {
        let left = self.work.checked_sub(corners);
        self.work = left.unwrap_or(0);
        left.is_some()
    }

    fn cut(&mut self, walls: &[Wall], normal: [f32; 3], distance: f32) -> Option<Cut> {
        let cutting = plane(normal, distance);
        let corners: usize = walls.iter().map(|wall| wall.ring.len()).sum();
        if !cutting.is_finite() || !self.pay(corners) {
            return None;
        }
        let heights = walls.iter().flat_map(|wall| &wall.ring).map(|corner| cutting.height(*corner));
        let (low, high) = heights.fold((0.0_f64, 0.0_f64), |(low, high), height| (low.min(height), high.max(height)));
        let larger = if high > -low { Cut::Front } else { Cut::Back };
        if high < THIN || low > -THIN {
            return Some(larger);
        }
        let mut cap = cutting.square();
        let touches = |wall: &&Wall| {
            let heights = || wall.ring.iter().map(|corner| cutting.height(*corner));
            heights().any(|height| height < THIN) && heights().any(|height| height > -THIN)
        };
        for wall in walls.iter().filter(touches) {
            if !self.pay(cap.len()) {
                return None;
            }
            cap = clip(&cap, &wall.plane());
        }
        if cap.len() < 3 || is_open(&cap) {
            return Some(larger);
        }
        let back = half(walls, &cutting, normal, distance, cap.clone());
        let (flipped, away) = flipped(normal, distance);
        cap.reverse();
        let front = half(walls, &plane(flipped, away), flipped, away, cap);
        Some(Cut::Both(front, back))
    }

    /// Cuts a cell in two. Its new part is the last one; `None` if the plane does not cut it.
    pub(crate) fn divide(&mut self, cell: usize, normal: [f32; 3], distance: f32) -> Option<usize> {
        let walls = std::mem::take(&mut self.all[cell].walls);
        let Some(Cut::Both(front, back)) = self.cut(&walls, normal, distance) else {
            self.all[cell].walls = walls;
            return None;
        };
        let (place, contents) = (self.all[cell].place, self.all[cell].contents);
        let node = self.add_node(place, normal, distance);
        self.all[cell] = Cell { contents, walls: back, place: Some((node, 1)) };
        self.nodes[node].next[1] = Next::Cell(cell);
        self.put(Some((node, 0)), contents, front);
        Some(self.all.len() - 1)
    }

    /// The cell at a point.
    pub(crate) fn at(&mut self, point: Point) -> Option<usize> {
        let mut next = self.root;
        while let Next::Node(node) = next {
            if !self.pay(1) {
                return None;
            }
            let Node { plane, next: sides, .. } = &self.nodes[node];
            next = sides[usize::from(plane.height(point) <= 0.0)];
        }
        if let Next::Cell(cell) = next { Some(cell) } else { None }
    }

    /// The cells that a convex volume is in, with its part in each, and `None` for space; `None` if there was too
    /// much to do.
    pub(crate) fn within(&mut self, walls: Vec<Wall>) -> Option<Vec<(Option<usize>, Vec<Wall>)>> {
        let (mut found, mut open) = (Vec::new(), vec![(self.root, walls)]);
        while let Some((next, walls)) = open.pop() {
            match next {
                Next::Cell(cell) => found.push((Some(cell), walls)),
                Next::Nothing => found.push((None, walls)),
                Next::Node(node) => {
                    let Node { normal, distance, next, .. } = self.nodes[node];
                    match self.cut(&walls, normal, distance)? {
                        Cut::Front => open.push((next[0], walls)),
                        Cut::Back => open.push((next[1], walls)),
                        Cut::Both(front, back) => open.extend([(next[0], front), (next[1], back)]),
                    }
                }
            }
        }
        Some(found)
    }

    /// Whether a point is in the box around all.
    pub(crate) fn is_in_room(&self, point: Point) -> bool {
        let [mins, maxs] = self.room;
        (0..3).all(|axis| point[axis] > mins[axis] - THIN && point[axis] < maxs[axis] + THIN)
    }

    /// The cells that are behind a ring, if one looks in a direction: with the part of the ring that is before each,
    /// and `None` for space. Nothing if there was too much to do.
    pub(crate) fn behind(&mut self, ring: Vec<Point>, toward: Point) -> Vec<(Option<usize>, Vec<Point>)> {
        let (mut found, mut open) = (Vec::new(), vec![(self.root, ring)]);
        while let Some((next, ring)) = open.pop() {
            let node = match next {
                Next::Node(node) => node,
                Next::Cell(cell) => {
                    found.push((Some(cell), ring));
                    continue;
                }
                Next::Nothing => {
                    found.push((None, ring));
                    continue;
                }
            };
            if !self.pay(ring.len()) {
                self.is_damaged = true;
                return Vec::new();
            }
            let Node { plane, next, .. } = &self.nodes[node];
            let heights = ring.iter().map(|corner| plane.height(*corner));
            let (low, high) =
                heights.fold((0.0_f64, 0.0_f64), |(low, high), height| (low.min(height), high.max(height)));
            if low > -THIN && high < THIN {
                let is_front = dot(plane.normal, toward) > 0.0;
                open.push((next[usize::from(!is_front)], ring));
            } else if low > -THIN {
                open.push((next[0], ring));
            } else if high < THIN {
                open.push((next[1], ring));
            } else {
                let back = clip(&ring, plane);
                let front = clip(&ring, &turn(plane));
                for (next, part) in [(next[0], front), (next[1], back)] {
                    if double_area(&part) > LEAST {
                        open.push((next, part));
                    }
                }
            }
        }
        found
    }
}

pub(crate) fn turn(plane: &Plane) -> Plane {
    Plane { normal: plane.normal.map(|part| -part), distance: -plane.distance }
}

/// A plane that faces the other way.
fn flipped(normal: [f32; 3], distance: f32) -> ([f32; 3], f32) {
    (normal.map(|part| 0.0 - part), 0.0 - distance)
}

/// What of walls is behind a plane, and the cap on it.
fn half(walls: &[Wall], cutting: &Plane, normal: [f32; 3], distance: f32, cap: Vec<Point>) -> Vec<Wall> {
    let mut kept = Vec::with_capacity(walls.len() + 1);
    for wall in walls {
        let ring = clip(&wall.ring, cutting);
        if ring.len() < 3 {
            continue;
        }
        let parts = wall.shown.iter().map(|(look, part)| (*look, clip(part, cutting)));
        let shown = parts.filter(|(_, part)| double_area(part) > LEAST).collect();
        kept.push(Wall { normal: wall.normal, distance: wall.distance, ring, is_rim: wall.is_rim, shown });
    }
    kept.push(Wall { normal, distance, ring: cap, is_rim: false, shown: Vec::new() });
    kept
}

/// The planes of a box, facing out: east, west, north, south, up, down.
pub(crate) fn box_planes([mins, maxs]: [[f32; 3]; 2]) -> [([f32; 3], f32); 6] {
    std::array::from_fn(|at| {
        let (axis, is_high) = (at / 2, at.is_multiple_of(2));
        let mut normal = [0.0; 3];
        normal[axis] = if is_high { 1.0 } else { -1.0 };
        (normal, if is_high { maxs[axis] } else { -mins[axis] })
    })
}

/// The walls of a box.
pub(crate) fn room([mins, maxs]: [Point; 2]) -> Vec<Wall> {
    let all = box_planes([mins, maxs].map(|corner| corner.map(bspkit::bytes::rounded)));
    let rings = crate::geometry::faces(&all.map(|(normal, distance)| plane(normal, distance)));
    let walls = all.into_iter().zip(rings).map(|((normal, distance), ring)| Wall {
        normal,
        distance,
        ring,
        is_rim: true,
        shown: Vec::new(),
    });
    walls.collect()
}

/// The volume within walls.
pub(crate) fn volume<'w>(walls: impl Iterator<Item = (&'w [Point], Plane)> + Clone) -> f64 {
    let Some(base) = walls.clone().find_map(|(ring, _)| ring.first().copied()) else { return 0.0 };
    walls.map(|(ring, plane)| double_area(ring) * -plane.height(base)).sum::<f64>() / 6.0
}

/// A plane through an edge of a wall, at a right angle to the wall; on the grid where it is nearly so.
pub(crate) fn through(here: Point, there: Point, facing: Point) -> Option<([f32; 3], f32)> {
    let normal = cross(minus(there, here), facing);
    let long = length(normal);
    if long.is_nan() || long <= 1e-3 {
        return None;
    }
    let mut normal = normal.map(|part| part / long);
    if let Some(axis) = (0..3).find(|axis| normal[*axis].abs() > 1.0 - 1e-6) {
        let sign = normal[axis].signum();
        normal = [0.0; 3];
        normal[axis] = sign;
    }
    let normal = normal.map(bspkit::bytes::rounded);
    let distance = dot(normal.map(f64::from), here);
    let whole = distance.round();
    let distance = if (distance - whole).abs() < 0.01 { whole } else { distance };
    Some((normal, bspkit::bytes::rounded(distance)))
}
