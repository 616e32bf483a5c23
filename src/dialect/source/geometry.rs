//! Planes, vertexes, edges, models and brushes.

use super::fit::{sides_of_brushes, with_known_faces};
use super::physics;
use crate::dialect::shared::{Edge, Plane, SurfEdge, Vertex};
use crate::dialect::{Each, Row, keys};
use crate::record::{FlagKind, Meaning, in_turn, index, index_or_none, planes, records};

keys! {
    PLANES: Plane = "Lump 1. Planes come in opposite pairs, an even number and the next one.",
    VERTEXES: Vertex = "Lump 3.",
    EDGES: Edge = "Lump 12.",
    SURFEDGES: SurfEdge = "Lump 13.",
    MODELS: Model = "Lump 14.",
    BRUSHES: Brush = "Lump 18.",
    BRUSHSIDES: BrushSide = "Lump 19, before version 21.",
    VERTNORMALS: VertNormal = "Lump 30.",
    VERTNORMALINDICES: VertNormalIndex = "Lump 31: one for each edge of each face, in the order of the faces.",
}

pub(super) const ROWS: &[Row] = &[
    PLANES.row().paired(),
    VERTEXES.row(),
    EDGES.row().fixed(1).proved(with_known_faces),
    SURFEDGES.row(),
    MODELS.row().fixed(1),
    BRUSHES.row(),
    BRUSHSIDES.row().summed(sides_of_brushes),
    VERTNORMALS.row(),
    VERTNORMALINDICES.row().parallel("FACES", Each::Counted("edge_count"), &[0]),
    PHYSDISP,
    physics::PHYSCOLLIDE,
    physics::PHYSCOLLIDESURFACE,
    Row::opaque("PHYSLEVEL", "no header that is public describes the physics of the level"),
];

/// The collision models of displacements, one for each.
pub(in crate::dialect) const PHYSDISP: Row =
    Row::lens("PHYSDISP", "physics of displacements").parallel("DISPINFO", Each::Part, &[]);

records! {
    /// `dmodel_t`: the world, then the models that entities name `*1`, `*2` and so on. Together they have every face
    /// once, in order.
    pub struct Model(48) {
        /// Its box.
        pub mins: [f32; 3],
        /// Its box.
        pub maxs: [f32; 3],
        /// 0 from Valve's tools.
        pub origin: [f32; 3],
        /// Its tree: a node.
        pub head_node: i32 as "headnode" => Meaning::Child,
        /// Its first face.
        pub first_face: i32 as "firstface" => in_turn("FACES", "face_count"),
        /// How many faces it has.
        pub face_count: i32 as "numfaces",
    }

    /// `dbrush_t`. Together they have every side once, in order.
    pub struct Brush(12) {
        /// Its first side.
        pub first_side: i32 as "firstside" => planes("BRUSHSIDES", "side_count", 0),
        /// How many sides it has.
        pub side_count: i32 as "numsides",
        /// `CONTENTS_` flags.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
    }

    /// `dbrushside_t` before version 21.
    pub struct BrushSide(8) {
        /// Its plane, facing out.
        pub plane: u16 as "planenum" => index("PLANES"),
        /// Its texture, -1 for none.
        pub texinfo: i16 => index_or_none("TEXINFO"),
        /// 0, and no link to a displacement.
        pub displacement: i16 as "dispinfo",
        /// Other than 0 where the side was added for collisions.
        pub bevel: i16,
    }

    /// A normal of a vertex.
    pub struct VertNormal(12) {
        /// Its direction, of length 1.
        pub normal: [f32; 3],
    }

    /// A number of the vertnormalindices lump.
    pub struct VertNormalIndex(2) {
        /// The normal's index.
        pub normal: u16 => index("VERTNORMALS"),
    }
}
