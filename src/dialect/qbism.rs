//! Qbism, a relative of Quake II with its own ident: numbers of 32 bits where Quake II has 16, and boxes of floats
//! (qfiles.h of q2tools-220; Q2PRO).

use super::light::{self, Averages, FaceForm, FaceLight, LightModel, TextureForm};
pub use super::quake2::{AREAPORTALS, AREAS, BRUSHES, MODELS, PLANES, SURFEDGES, TEXINFO, VERTEXES};
pub use super::shared::{WideEdge, WideFace, WideNode};
use super::{Dialect, Magic, QUAKE2, Row, bspx, keys, quake2};
use crate::record::{FlagKind, Meaning, index, index_or_none, records, set};

/// Qbism.
pub static QBISM: Dialect = Dialect {
    name: "qbism",
    title: "Quake II (Qbism)",
    magic: Magic::Ident(*b"QBSP"),
    rows: &[quake2::SAME, ROWS, bspx::COLOR_WIDE],
    light: LightModel::Faces(&LIGHT),
    checks: &super::limits::QBISM,
    ..QUAKE2
};

keys! {
    NODES: WideNode = "Lump 4.",
    FACES: WideFace = "Lump 6.",
    LEAFS: Leaf = "Lump 8.",
    LEAFFACES: LeafFace = "Lump 9.",
    LEAFBRUSHES: LeafBrush = "Lump 10.",
    EDGES: WideEdge = "Lump 11.",
    BRUSHSIDES: BrushSide = "Lump 15.",
}

const ROWS: &[Row] = &[
    NODES.row().fixed(1),
    FACES.row(),
    LEAFS.row().fixed(1),
    LEAFFACES.row().listed(),
    LEAFBRUSHES.row().listed(),
    EDGES.row().fixed(1),
    BRUSHSIDES.row(),
];

const LIGHT: FaceLight = FaceLight {
    unread: quake2::UNREAD,
    ..light::by_extents(
        &[FaceForm::of::<WideFace>(Averages::None)],
        &[TextureForm::of::<quake2::TexInfo>()],
        quake2::UNLIT,
    )
};

records! {
    /// `dleaf_tx`.
    pub struct Leaf(52) {
        /// `CONTENTS_` flags of all brushes in it.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
        /// Its cluster of the visibility lump, or -1.
        pub cluster: i32,
        /// Its area.
        pub area: i32 => index("AREAS"),
        /// Its box, for culling.
        pub mins: [f32; 3],
        /// Its box, for culling.
        pub maxs: [f32; 3],
        /// Its first face in the leaffaces.
        pub first_leaf_face: u32 as "firstleafface" => set("LEAFFACES", "leaf_face_count"),
        /// How many faces it sees.
        pub leaf_face_count: u32 as "numleaffaces",
        /// Its first brush in the leafbrushes.
        pub first_leaf_brush: u32 as "firstleafbrush" => set("LEAFBRUSHES", "leaf_brush_count"),
        /// How many brushes reach into it.
        pub leaf_brush_count: u32 as "numleafbrushes",
    }

    /// A number of the leaffaces lump.
    pub struct LeafFace(4) {
        /// The face's index.
        pub face: u32 => index("FACES"),
    }

    /// A number of the leafbrushes lump.
    pub struct LeafBrush(4) {
        /// The brush's index.
        pub brush: u32 => index("BRUSHES"),
    }

    /// `dbrushside_tx`.
    pub struct BrushSide(8) {
        /// Its plane, facing out.
        pub plane: u32 as "planenum" => index("PLANES"),
        /// Its texture, -1 for none, as on most maps some have.
        pub texinfo: i32 => index_or_none("TEXINFO"),
    }
}
