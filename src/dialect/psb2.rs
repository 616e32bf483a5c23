//! 2PSB, the predecessor of BSP2, a relative of it: boxes of 16 bits, as in Quake (`bsp2rmq` of ericw-tools).

pub use super::bsp2::{CLIPNODES, EDGES, FACES, MARKSURFACES, MODELS, PLANES, SURFEDGES, TEXINFO, VERTEXES};
use super::{BSP2, Dialect, LeafRows, Row, VisModel, bsp2, bspx, keys, quake};
use crate::record::{Field, Meaning, index, records, set};

/// 2PSB.
pub static PSB2: Dialect = Dialect {
    name: "2psb",
    title: "Quake (2PSB)",
    versions: &[i32::from_le_bytes(*b"2PSB")],
    rows: &[quake::SAME, &quake::models::<{ bsp2::WideFace::SIZE }>(), bsp2::WIDE, ROWS, bspx::GREY_WIDE],
    visibility: VisModel::Leafs(LeafRows { leaf_size: 32, ..LeafRows::GOLDSRC }),
    ..BSP2
};

keys! {
    NODES: Node = "Lump 5.",
    LEAFS: Leaf = "Lump 10.",
}

const ROWS: &[Row] = &[NODES.row().fixed(1), LEAFS.row().fixed(1)];

records! {
    /// `bsp2rmq_dnode_t`.
    pub struct Node(32) {
        /// The plane that divides it.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face.
        pub first_face: u32 as "firstface" => set("FACES", "face_count"),
        /// How many faces lie on its plane, on both sides.
        pub face_count: u32 as "numfaces",
    }

    /// `bsp2rmq_dleaf_t`. The first one is the solid leaf that all models share.
    pub struct Leaf(32) {
        /// What it holds, as a negative number: -1 empty, -2 solid, -3 water, -4 slime, -5 lava, -6 sky.
        pub contents: i32,
        /// The offset of its row in the visibility lump, in bytes; -1 for none, and 0 at the first leaf, which has
        /// none.
        pub visibility_offset: i32 as "visofs" => Meaning::Offset { lump: "VISIBILITY" },
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face in the marksurfaces.
        pub first_mark_surface: u32 as "firstmarksurface" => set("MARKSURFACES", "mark_surface_count"),
        /// How many faces it sees.
        pub mark_surface_count: u32 as "nummarksurfaces",
        /// How loud water, sky, slime and lava are.
        pub ambient_levels: [u8; 4] as "ambient_level",
    }
}
