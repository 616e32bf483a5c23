//! Medal of Honor: Allied Assault, version 19, a relative of F.A.K.K.2: brush sides with an index of an equation,
//! terrain, static models, a light grid in three lumps (qfiles.h of OpenMoHAA).
//!
//! The header has a checksum. The engine does not compute it, but only compares it between server and client. All edits
//! here keep it, so edited maps are accepted.

use super::fakk::{self, Shader as OlderShader};
pub use super::fakk::{
    BRUSHES, DRAWINDEXES, DRAWVERTS, LEAFBRUSHES, LEAFSURFACES, MODELS, NODES, PLANES, SURFACES, Surface,
};
use super::quake3::{BrushSide as QuakeBrushSide, Leaf as QuakeLeaf};
use super::{Dialect, FAKK, Facts, Game, Lump, Magic, Role, Row, checks, keys, lump, only};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{Gone, Meaning, Name, index, records, set};

/// Allied Assault.
pub static MOHAA: Dialect = Dialect {
    name: "mohaa",
    title: "Medal of Honor: Allied Assault",
    magic: Magic::Ident(*b"2015"),
    versions: &[19],
    shapes: &[DirectoryShape { first: 12, count: 28, entry: EntryShape::Plain, trailing: 0 }],
    lumps: &LUMPS,
    rows: &[SAME, LEAF_ROWS],
    games: &[Game { name: "mohaa", title: "Medal of Honor", versions: &[], flags: &[] }],
    rules: Rules { write_order: &[0, 1, 8, 9, 12, 11, 7, 6, 13, 4, 3, 15, 2, 14, 5], ..FAKK.rules },
    checksums: &[checks::in_header("mohaa", "Medal of Honor", true)],
    ..FAKK
};

pub(super) const LUMPS: [Lump; 28] = [
    lump("SHADERS", Role::Textures),
    lump("PLANES", Role::Planes),
    lump("LIGHTMAPS", Role::Lighting),
    lump("SURFACES", Role::Faces),
    lump("DRAWVERTS", Role::Vertexes),
    lump("DRAWINDEXES", Role::DrawIndexes),
    lump("LEAFBRUSHES", Role::LeafBrushes),
    lump("LEAFSURFACES", Role::LeafFaces),
    lump("LEAFS", Role::Leafs),
    lump("NODES", Role::Nodes),
    only("SIDEEQUATIONS"),
    lump("BRUSHSIDES", Role::BrushSides),
    lump("BRUSHES", Role::Brushes),
    lump("MODELS", Role::Models),
    lump("ENTITIES", Role::Entities),
    lump("VISIBILITY", Role::Visibility),
    only("LIGHTGRIDPALETTE"),
    only("LIGHTGRIDOFFSETS"),
    only("LIGHTGRIDDATA"),
    only("SPHERELIGHTS"),
    only("SPHERELIGHTVIS"),
    only("LIGHTDEFS"),
    only("TERRAIN"),
    only("TERRAININDEXES"),
    only("STATICMODELDATA"),
    only("STATICMODELDEF"),
    only("STATICMODELINDEXES"),
    only("DUMMY10"),
];

keys! {
    SHADERS: Shader = "Lump 0.",
    LEAFS: Leaf = "Lump 8.",
    SIDEEQUATIONS: SideEquation = "Lump 10.",
    BRUSHSIDES: BrushSide = "Lump 11; 12 before version 19.",
    TERRAININDEXES: TerrainIndex = "Lump 23; 24 before version 19.",
    STATICMODELDEF: StaticModel = "Lump 25; 26 before version 19.",
    STATICMODELINDEXES: StaticModelIndex = "Lump 26; 27 before version 19.",
}

/// Rows that older versions have too.
pub(super) const SAME: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    SHADERS.row().proved(with_sides_of_12),
    PLANES.row().paired().proved(with_sides_of_12),
    Row::lens("LIGHTMAPS", "light"),
    SURFACES.row().proved(with_sides_of_12),
    DRAWVERTS.row().proved(with_sides_of_12),
    DRAWINDEXES.row().proved(with_sides_of_12),
    LEAFBRUSHES.row().proved(with_sides_of_12),
    LEAFSURFACES.row().proved(with_sides_of_12),
    NODES.row().fixed(1).proved(with_sides_of_12),
    SIDEEQUATIONS.row().proved(with_sides_of_12),
    BRUSHSIDES.row().proved(with_sides_of_12),
    BRUSHES.row().proved(with_sides_of_12),
    MODELS.row().fixed(1).proved(with_sides_of_12),
    Row::lens("VISIBILITY", "visibility"),
    Row::opaque("LIGHTGRIDPALETTE", fakk::UNSEEN),
    Row::opaque("LIGHTGRIDOFFSETS", fakk::UNSEEN),
    Row::opaque("LIGHTGRIDDATA", fakk::UNSEEN),
    Row::opaque("SPHERELIGHTS", fakk::UNSEEN),
    Row::opaque("SPHERELIGHTVIS", fakk::UNSEEN),
    Row::opaque("LIGHTDEFS", fakk::UNSEEN),
    Row::opaque("TERRAIN", "a source states 388 bytes per patch of terrain, which no available map confirms"),
    TERRAININDEXES.row().proved(with_sides_of_12),
    Row::opaque("STATICMODELDATA", fakk::UNSEEN),
    STATICMODELDEF.row().proved(with_sides_of_12),
    STATICMODELINDEXES.row().proved(with_sides_of_12),
    Row::opaque("DUMMY10", fakk::UNSEEN),
];

/// Leafs since version 18.
pub(super) const LEAF_ROWS: &[Row] = &[LEAFS.row().proved(with_sides_of_12)];

pub(super) fn with_sides_of_12(facts: &Facts<'_>, _: &Row) -> Result<(), String> {
    fakk::shared_out(facts, 12)
}

records! {
    /// `dshader_t`: what surfaces and brushes are made of.
    pub struct Shader(140) {
        ..OlderShader,
        /// An image that defines where shots pass through.
        pub fence_mask: Name<64> as "fenceMaskImage",
    }

    /// `dleaf_t`.
    pub struct Leaf(64) {
        ..QuakeLeaf,
        /// Its first number in the terrainindexes.
        pub first_terrain: i32 as "firstTerraPatch" => set("TERRAININDEXES", "terrain_count"),
        /// How many patches of terrain reach into it.
        pub terrain_count: i32 as "numTerraPatches",
        /// Its first number in the staticmodelindexes.
        pub first_static_model: i32 as "firstStaticModel" => set("STATICMODELINDEXES", "static_model_count"),
        /// How many static models reach into it.
        pub static_model_count: i32 as "numStaticModels",
    }

    /// `dsideequation_t`: how a texture lies on a side.
    pub struct SideEquation(32) {
        /// How s comes from a point: x, y, z, offset.
        pub s: [f32; 4] as "fSeq",
        /// How t comes from a point: x, y, z, offset.
        pub t: [f32; 4] as "fTeq",
    }

    /// `dbrushside_t`.
    pub struct BrushSide(12) {
        ..QuakeBrushSide,
        /// Its equation, of sides with a fence mask; 0 for none (`CMod_LoadBrushSides`).
        pub equation: i32 as "equationNum" =>
            Meaning::Index { lump: "SIDEEQUATIONS", none: &[0], gone: Gone::Becomes(0) },
    }

    /// A number of the terrainindexes lump.
    pub struct TerrainIndex(2) {
        /// The patch of terrain.
        pub patch: u16,
    }

    /// `cStaticModel_t`: a static model.
    pub struct StaticModel(164) {
        /// The model's file.
        pub model: Name<128>,
        /// Its position.
        pub origin: [f32; 3],
        /// Its rotation, in degrees.
        pub angles: [f32; 3],
        /// Its size, 1 for that of the file.
        pub scale: f32,
        /// Its first byte in the staticmodeldata.
        pub first_vertex_data: i32 as "firstVertexData",
        /// How many vertexes have light there.
        pub vertex_data_count: i32 as "numVertexData",
    }

    /// A number of the staticmodelindexes lump.
    pub struct StaticModelIndex(2) {
        /// The static model's index.
        pub model: u16 => index("STATICMODELDEF"),
    }
}
