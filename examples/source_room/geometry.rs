//! A box of a room that a plane divides in two, with a door in the middle: everything is a rectangle that faces along
//! an axis, so that no compiler is needed.

use bspkit::dialect::source::{AreaPortal, Brush, BrushSide, Face, Leaf, Model, Node, Plane, TexInfo};

use crate::records::zeros;

const SOLID: i32 = 1;
/// Units of the world to a luxel.
const LUXEL: f32 = 32.0;

const BUMP_LIGHT: i32 = 0x800;
const NO_DRAW: i32 = 0x80;
const NO_LIGHT: i32 = 0x400;

/// The materials: names, sizes, and how much light comes back.
pub(crate) const FLOOR: i32 = 0;
pub(crate) const CEILING: i32 = 1;
pub(crate) const WALL: i32 = 2;
pub(crate) const DOOR: i32 = 3;
pub(crate) const TOOL: i32 = 4;

#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) mins: [f32; 3],
    pub(crate) maxs: [f32; 3],
}

/// The inside of the room and the outside of its walls.
pub(crate) const ROOM: Bounds = Bounds { mins: [-256.0, -192.0, -64.0], maxs: [256.0, 192.0, 64.0] };
pub(crate) const WORLD: Bounds = Bounds { mins: [-272.0, -208.0, -80.0], maxs: [272.0, 208.0, 80.0] };
/// The door, about its own origin.
const DOOR_BOX: Bounds = Bounds { mins: [-8.0, -32.0, -48.0], maxs: [8.0, 32.0, 48.0] };

/// The leafs of the room: the half where x is positive, and the other.
pub(crate) const HALVES: [u16; 2] = [7, 8];

/// A side of a box: the axis it lies across, and whether it is the one at the larger coordinate.
type Side = (usize, bool);

/// Floor, ceiling, and the walls.
const SIDES: [Side; 6] = [(2, false), (2, true), (1, false), (1, true), (0, false), (0, true)];

#[derive(Default)]
pub(crate) struct Geometry {
    pub(crate) planes: Vec<Plane>,
    pub(crate) vertexes: Vec<[f32; 3]>,
    pub(crate) edges: Vec<[u16; 2]>,
    pub(crate) surf_edges: Vec<i32>,
    pub(crate) tex_infos: Vec<TexInfo>,
    pub(crate) faces: Vec<Face>,
    pub(crate) original_faces: Vec<Face>,
    /// The brush of each face.
    pub(crate) brush_of_face: Vec<u16>,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) normal_indices: Vec<u16>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) leafs: Vec<Leaf>,
    pub(crate) leaf_faces: Vec<u16>,
    pub(crate) leaf_brushes: Vec<u16>,
    pub(crate) brushes: Vec<Brush>,
    pub(crate) brush_sides: Vec<BrushSide>,
    pub(crate) models: Vec<Model>,
    pub(crate) area_portals: Vec<AreaPortal>,
}

impl Geometry {
    pub(crate) fn new() -> Self {
        let mut all = Geometry::default();
        // Edge 0 is not used: its number has no sign.
        all.edges.push([0, 0]);
        all.area_portals.push(zeros::<AreaPortal>());
        // Leaf 0 is not used either, but it has a cluster.
        all.leaf(SOLID, 0, 0, Bounds { mins: [0.0; 3], maxs: [0.0; 3] }, &[], &[]);
        all.room();
        all.door();
        all
    }

    fn room(&mut self) {
        for (side, brush) in SIDES.into_iter().zip(wall_brushes()) {
            self.brush(brush, |of_brush| (of_brush == opposite(side)).then(|| material(side)));
        }
        let mut rest = WORLD;
        for (index, (axis, is_upper)) in SIDES.into_iter().enumerate() {
            let at = if is_upper { ROOM.maxs[axis] } else { ROOM.mins[axis] };
            // The face looks into the room.
            let first = self.faces.len();
            let (tex_data, original) = (material((axis, is_upper)), self.original_faces.len());
            let whole = flat(ROOM, axis, at);
            let original_face = self.face(whole, (axis, !is_upper), tex_data, -1);
            self.original_faces.push(Face { fog_volume: 0, light_offset: -1, on_node: 0, ..original_face });
            let halves = if axis == 0 { vec![whole] } else { halves(whole).to_vec() };
            for half in halves {
                let mut face = self.face(half, (axis, !is_upper), tex_data, index_of(original));
                // The lamp with a name lights the floor of one half.
                if self.faces.is_empty() {
                    face.styles = [0, 32, 255, 255];
                }
                self.add_face(face, index);
            }

            let (mut inside, mut wall) = (rest, rest);
            (if is_upper { &mut inside.maxs } else { &mut inside.mins })[axis] = at;
            (if is_upper { &mut wall.mins } else { &mut wall.maxs })[axis] = at;
            let leaf = self.leaf(SOLID, -1, 0, wall, &[], &[short(index)]);
            let next = index_of(self.nodes.len()) + 1;
            let children = if is_upper { [-1 - leaf, next] } else { [next, -1 - leaf] };
            self.node((axis, at), children, rest, first);
            rest = inside;
        }
        let none = self.faces.len();
        let [east, west] = halves(ROOM);
        let is_in = |half: Bounds, points: &[[f32; 3]]| {
            points.iter().all(|point| (half.mins[0]..=half.maxs[0]).contains(&point[0]))
        };
        let mut leafs = [0; 2];
        for (half, (leaf, cluster)) in [east, west].into_iter().zip(leafs.iter_mut().zip([0, 1])) {
            let faces = (0..self.faces.len()).filter(|face| is_in(half, &self.points(&self.faces[*face])));
            let faces: Vec<u16> = faces.map(short).collect();
            *leaf = self.leaf(0, cluster, 1, half, &faces, &[]);
        }
        self.node((0, 0.0), leafs.map(|leaf| -1 - leaf), ROOM, none);
        self.model(WORLD, 0, 0);
    }

    fn door(&mut self) {
        let (head_node, first_face, brush) = (self.nodes.len(), self.faces.len(), self.brushes.len());
        self.brush(DOOR_BOX, |_| Some(DOOR));
        let around = Bounds { mins: [-64.0; 3], maxs: [64.0; 3] };
        let mut rest = around;
        for (count, (axis, is_upper)) in SIDES.into_iter().enumerate() {
            let at = if is_upper { DOOR_BOX.maxs[axis] } else { DOOR_BOX.mins[axis] };
            let (first, original) = (self.faces.len(), index_of(self.original_faces.len()));
            let face = self.face(flat(DOOR_BOX, axis, at), (axis, is_upper), DOOR, original);
            let flags = Face { fog_volume: 0, light_offset: -1, on_node: 0, original_face: -1, ..face };
            self.original_faces.push(flags);
            self.add_face(face, brush);
            let (mut inside, mut outside) = (rest, rest);
            (if is_upper { &mut inside.maxs } else { &mut inside.mins })[axis] = at;
            (if is_upper { &mut outside.mins } else { &mut outside.maxs })[axis] = at;
            let outer = -1 - self.leaf(0, -1, 0, outside, &[], &[]);
            let inner = match count {
                5 => -1 - self.leaf(SOLID, -1, 0, inside, &[], &[short(brush)]),
                _ => index_of(self.nodes.len()) + 1,
            };
            self.node((axis, at), if is_upper { [outer, inner] } else { [inner, outer] }, rest, first);
            rest = inside;
        }
        self.model(DOOR_BOX, head_node, first_face);
    }

    /// The number of the plane across an axis that faces up or down it. Planes come in opposite pairs.
    fn plane(&mut self, axis: usize, faces_up: bool, at: f32) -> u16 {
        let (mut up, mut down) = ([0.0; 3], [0.0; 3]);
        (up[axis], down[axis]) = (1.0, -1.0);
        let kind = index_of(axis);
        let plane = Plane { normal: up, distance: at, kind };
        let found = self.planes.iter().position(|other| *other == plane);
        let even = found.unwrap_or_else(|| {
            self.planes.extend([plane, Plane { normal: down, distance: 0.0 - at, kind }]);
            self.planes.len() - 2
        });
        short(even + usize::from(!faces_up))
    }

    fn vertex(&mut self, at: [f32; 3]) -> u16 {
        let found = self.vertexes.iter().position(|other| *other == at);
        short(found.unwrap_or_else(|| {
            self.vertexes.push(at);
            self.vertexes.len() - 1
        }))
    }

    /// An edge in this direction: there, or there the other way round, or new.
    fn surf_edge(&mut self, from: u16, to: u16) -> i32 {
        let find = |edges: &[[u16; 2]], edge| edges.iter().position(|other| *other == edge).map(index_of);
        if let Some(edge) = find(&self.edges, [from, to]) {
            return edge;
        }
        if let Some(edge) = find(&self.edges, [to, from]) {
            return -edge;
        }
        self.edges.push([from, to]);
        index_of(self.edges.len() - 1)
    }

    /// A rectangle with its edges; seen from where it faces, they run clockwise.
    fn face(&mut self, flat: Bounds, (axis, faces_up): Side, tex_data: i32, original_face: i32) -> Face {
        let plane = self.plane(axis, faces_up, flat.mins[axis]);
        let (s, t) = axes(axis);
        let corner = |is_far: [bool; 2]| {
            let mut at = flat.mins;
            at[s] = if is_far[0] { flat.maxs[s] } else { flat.mins[s] };
            at[t] = if is_far[1] { flat.maxs[t] } else { flat.mins[t] };
            at
        };
        let mut corners = [[false, false], [false, true], [true, true], [true, false]].map(corner);
        if !faces_up {
            corners.reverse();
        }
        let first_edge = index_of(self.surf_edges.len());
        let vertexes = corners.map(|corner| self.vertex(corner));
        for (index, from) in vertexes.into_iter().enumerate() {
            let edge = self.surf_edge(from, vertexes[(index + 1) % 4]);
            self.surf_edges.push(edge);
        }
        let luxels = [s, t].map(|axis| ((flat.mins[axis] / LUXEL).floor(), (flat.maxs[axis] / LUXEL).ceil()));
        Face {
            plane,
            side: u8::from(!faces_up),
            on_node: 1,
            first_edge,
            edge_count: 4,
            texinfo: self.tex_info(axis, tex_data),
            displacement: -1,
            fog_volume: -1,
            styles: [0, 255, 255, 255],
            light_offset: -1,
            area: (flat.maxs[s] - flat.mins[s]) * (flat.maxs[t] - flat.mins[t]),
            luxel_mins: luxels.map(|(min, _)| min as i32),
            luxel_size: luxels.map(|(min, max)| (max - min) as i32),
            original_face,
            ..zeros()
        }
    }

    fn add_face(&mut self, face: Face, brush: usize) {
        let normal = self.planes[usize::from(face.plane)].normal;
        let found = self.normals.iter().position(|other| *other == normal);
        let index = found.unwrap_or_else(|| {
            self.normals.push(normal);
            self.normals.len() - 1
        });
        self.normal_indices.extend([short(index); 4]);
        self.brush_of_face.push(short(brush));
        self.faces.push(face);
    }

    /// The corners of a face.
    fn points(&self, face: &Face) -> Vec<[f32; 3]> {
        let first = face.first_edge as usize;
        let edges = &self.surf_edges[first..first + face.edge_count as usize];
        let start = |edge: &i32| self.edges[edge.unsigned_abs() as usize][usize::from(*edge < 0)];
        edges.iter().map(|edge| self.vertexes[usize::from(start(edge))]).collect()
    }

    /// How a material lies on faces across an axis.
    fn tex_info(&mut self, axis: usize, tex_data: i32) -> i16 {
        let (s, t) = axes(axis);
        let along = |axis: usize, scale: f32| {
            let mut vector = [0.0; 4];
            vector[axis] = scale;
            vector
        };
        let flags = match tex_data {
            // Walls that face along y have a bump map.
            WALL if axis == 1 => BUMP_LIGHT,
            TOOL => NO_DRAW | NO_LIGHT,
            _ => 0,
        };
        let tex_info = TexInfo {
            texture_vectors: [along(s, 4.0), along(t, -4.0)],
            lightmap_vectors: [along(s, 1.0 / LUXEL), along(t, 1.0 / LUXEL)],
            flags,
            texdata: tex_data,
        };
        let found = self.tex_infos.iter().position(|other| *other == tex_info);
        found.unwrap_or_else(|| {
            self.tex_infos.push(tex_info);
            self.tex_infos.len() - 1
        }) as i16
    }

    /// A brush; sides without a material of their own are never seen.
    fn brush(&mut self, bounds: Bounds, material: impl Fn(Side) -> Option<i32>) {
        let first_side = index_of(self.brush_sides.len());
        for (axis, is_upper) in SIDES {
            let at = if is_upper { bounds.maxs[axis] } else { bounds.mins[axis] };
            let plane = self.plane(axis, is_upper, at);
            let texinfo = self.tex_info(axis, material((axis, is_upper)).unwrap_or(TOOL));
            self.brush_sides.push(BrushSide { plane, texinfo, displacement: 0, bevel: 0 });
        }
        self.brushes.push(Brush { first_side, side_count: 6, contents: SOLID });
    }

    /// A node with the faces from `first_face` on, which lie on its plane.
    fn node(&mut self, (axis, at): (usize, f32), children: [i32; 2], bounds: Bounds, first_face: usize) {
        let plane = i32::from(self.plane(axis, true, at));
        let face_count = short(self.faces.len() - first_face);
        let Bounds { mins, maxs } = bounds;
        let (mins, maxs) = (mins.map(|at| at as i16), maxs.map(|at| at as i16));
        let first_face = short(first_face);
        self.nodes.push(Node { plane, children, mins, maxs, first_face, face_count, area: 0, padding: 0 });
    }

    fn leaf(&mut self, contents: i32, cluster: i16, area: u16, bounds: Bounds, faces: &[u16], brushes: &[u16]) -> i32 {
        self.leafs.push(Leaf {
            contents,
            cluster,
            area_flags: area,
            mins: bounds.mins.map(|at| at as i16),
            maxs: bounds.maxs.map(|at| at as i16),
            first_leaf_face: short(self.leaf_faces.len()),
            leaf_face_count: short(faces.len()),
            first_leaf_brush: short(self.leaf_brushes.len()),
            leaf_brush_count: short(brushes.len()),
            water: -1,
            padding: 0,
        });
        self.leaf_faces.extend(faces);
        self.leaf_brushes.extend(brushes);
        index_of(self.leafs.len() - 1)
    }

    /// A model of everything from a node and a face on.
    fn model(&mut self, bounds: Bounds, head_node: usize, first_face: usize) {
        let Bounds { mins, maxs } = bounds;
        let face_count = index_of(self.faces.len() - first_face);
        let (head_node, first_face) = (index_of(head_node), index_of(first_face));
        self.models.push(Model { mins, maxs, origin: [0.0; 3], head_node, first_face, face_count });
    }
}

/// The two axes along a face across this one, so that the three are right-handed.
fn axes(axis: usize) -> (usize, usize) {
    ((axis + 1) % 3, (axis + 2) % 3)
}

fn opposite((axis, is_upper): Side) -> Side {
    (axis, !is_upper)
}

fn material(side: Side) -> i32 {
    match side {
        (2, false) => FLOOR,
        (2, true) => CEILING,
        _ => WALL,
    }
}

/// Floor and ceiling reach under and over the walls, of which those along x reach behind the others.
fn wall_brushes() -> [Bounds; 6] {
    SIDES.map(|(axis, is_upper)| {
        let mut brush = WORLD;
        for inner in axis + 1..3 {
            (brush.mins[inner], brush.maxs[inner]) = (ROOM.mins[inner], ROOM.maxs[inner]);
        }
        if is_upper {
            brush.mins[axis] = ROOM.maxs[axis];
        } else {
            brush.maxs[axis] = ROOM.mins[axis];
        }
        brush
    })
}

/// What of a box lies on a plane across it.
fn flat(mut bounds: Bounds, axis: usize, at: f32) -> Bounds {
    (bounds.mins[axis], bounds.maxs[axis]) = (at, at);
    bounds
}

/// The part where x is positive, and the other.
fn halves(whole: Bounds) -> [Bounds; 2] {
    let (mut east, mut west) = (whole, whole);
    (east.mins[0], west.maxs[0]) = (0.0, 0.0);
    [east, west]
}

fn short(index: usize) -> u16 {
    index as u16
}

fn index_of(index: usize) -> i32 {
    index as i32
}
