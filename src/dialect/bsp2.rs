//! BSP2, a relative of Quake: numbers of 32 bits where Quake has 16, and boxes of floats (ericw-tools; Quakespasm). The
//! four letters are where Quake has its version, and are read as a version.

use super::light::{self, Averages, FaceForm, FaceLight, LightModel, LuxelForm, TextureForm};
pub use super::quake::{MODELS, PLANES, SURFEDGES, TEXINFO, VERTEXES};
pub use super::shared::{WideClipNode, WideEdge, WideFace, WideMarkSurface, WideNode};
use super::{Dialect, LeafRows, QUAKE, Row, VisModel, bspx, goldsrc, keys, quake};
use crate::record::{Field, Meaning, records, set};

/// BSP2.
pub static BSP2: Dialect = Dialect {
    name: "bsp2",
    title: "Quake (BSP2)",
    versions: &[i32::from_le_bytes(*b"BSP2")],
    rows: &[quake::SAME, &quake::models::<{ WideFace::SIZE }>(), WIDE, ROWS, bspx::GREY_WIDE],
    light: LightModel::Faces(&LIGHT),
    visibility: VisModel::Leafs(LeafRows { leaf_size: 44, ..LeafRows::GOLDSRC }),
    checks: &super::limits::BSP2,
    ..QUAKE
};

keys! {
    NODES: WideNode = "Lump 5.",
    FACES: WideFace = "Lump 7.",
    CLIPNODES: WideClipNode = "Lump 9.",
    LEAFS: Leaf = "Lump 10.",
    MARKSURFACES: WideMarkSurface = "Lump 11.",
    EDGES: WideEdge = "Lump 12.",
}

/// Rows that 2PSB has too.
pub(super) const WIDE: &[Row] = &[FACES.row(), CLIPNODES.row(), MARKSURFACES.row().listed(), EDGES.row().fixed(1)];

const ROWS: &[Row] = &[NODES.row().fixed(1), LEAFS.row().fixed(1)];

const LIGHT: FaceLight = FaceLight {
    luxels: LuxelForm::Grey,
    unread: quake::UNREAD,
    ..light::by_extents(&[FaceForm::of::<WideFace>(Averages::None)], &[TextureForm::of::<goldsrc::TexInfo>()], 0)
};

records! {
    /// `bsp2_dleaf_t`. The first one is the solid leaf that all models share.
    pub struct Leaf(44) {
        /// What it holds, as a negative number: -1 empty, -2 solid, -3 water, -4 slime, -5 lava, -6 sky.
        pub contents: i32,
        /// The offset of its row in the visibility lump, in bytes; -1 for none, and 0 at the first leaf, which has
        /// none.
        pub visibility_offset: i32 as "visofs" => Meaning::Offset { lump: "VISIBILITY" },
        /// Its box, for culling.
        pub mins: [f32; 3],
        /// Its box, for culling.
        pub maxs: [f32; 3],
        /// Its first face in the marksurfaces.
        pub first_mark_surface: u32 as "firstmarksurface" => set("MARKSURFACES", "mark_surface_count"),
        /// How many faces it sees.
        pub mark_surface_count: u32 as "nummarksurfaces",
        /// How loud water, sky, slime and lava are.
        pub ambient_levels: [u8; 4] as "ambient_level",
    }
}
