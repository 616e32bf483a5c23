//! Displacements.

use super::displacements;
use crate::dialect::source::{TRIS_OF_DISP, VERTS_OF_DISP};
use crate::dialect::{Row, keys};
use crate::record::{Count, FlagKind, Gone, Meaning, index, records};

keys! {
    DISPINFO: DispInfo = "Lump 26.",
}

pub(super) const ROWS: &[Row] =
    &[DISPINFO.row().proved(|facts, row| displacements(facts, row, |info: DispInfo| info.power))];

records! {
    /// `ddispinfo_t`.
    pub struct DispInfo(232) {
        /// The corner of its face where its vertexes begin.
        pub start: [f32; 3] as "startPosition",
        /// Its first vertex.
        pub first_vertex: i32 as "m_iDispVertStart" => VERTS_OF_DISP,
        /// Its first triangle.
        pub first_triangle: i32 as "m_iDispTriStart" => TRIS_OF_DISP,
        /// 2 to 4: it has `2^power + 1` vertexes in each dimension.
        pub power: i32,
        /// The least tessellation; with the highest bit set flags for collisions.
        pub min_tess: u32 as "minTess",
        /// Smoothing angle.
        pub smoothing_angle: f32,
        /// `CONTENTS_` flags.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
        /// The face it belongs to.
        pub face: u32 as "m_iMapFace" => index("FACES"),
        /// 0.
        pub first_alpha: i32 as "m_iLightmapAlphaStart",
        /// Where its sample positions begin, in bytes.
        pub first_sample_position: i32 as "m_iLightmapSamplePositionStart" =>
            Meaning::Offset { lump: "DISP_LIGHTMAP_SAMPLE_POSITIONS" },
        /// Its neighbors across the left, top, right and bottom edge.
        pub edges: [DispEdgeNeighbors; 4] as "m_EdgeNeighbors",
        /// Its neighbors at the lower left, upper left, upper right and lower right corner.
        pub corners: [DispCornerNeighbors; 4] as "m_CornerNeighbors",
        /// Which of 17 times 17 vertexes may be drawn, a bit each.
        pub allowed_vertexes: [u32; 10] as "m_AllowedVerts",
    }

    /// `DispNeighbor_t`: the neighbors across an edge.
    pub struct DispEdgeNeighbors(16) {
        /// Up to two.
        pub neighbors: [DispSubNeighbor; 2],
    }

    /// `DispSubNeighbor_t`. If there is no neighbor, all other fields are garbage.
    pub struct DispSubNeighbor(8) {
        /// The displacement; all bits set for none. No known map shows whether these are 16 or 32 bits.
        pub neighbor: u32 =>
            Meaning::Index { lump: "DISPINFO", none: &[0xFFFF, 0xFFFF_FFFF], gone: Gone::Becomes(0xFFFF) },
        /// How it is rotated relative to this one, in quarters of a full rotation.
        pub orientation: u8 as "neighborOrient",
        /// Where on our edge it is: 0 all of it, 1 from the corner to the middle, 2 from the middle on.
        pub span: u8,
        /// Where on its edge we are.
        pub neighbor_span: u8 as "neighborSpan",
        /// Of no meaning.
        pub padding: u8,
    }

    /// `DispCornerNeighbors_t`.
    pub struct DispCornerNeighbors(20) {
        /// The displacements; entries after the count are garbage.
        pub neighbors: [u32; 4] => Meaning::Items { lump: "DISPINFO", count: Count::number("count") },
        /// How many there are.
        pub count: u8 as "neighborCount",
        /// Of no meaning.
        pub padding: [u8; 3],
    }
}
