//! Displacements.

use super::displacements;
use crate::dialect::{Row, keys};
use crate::record::{FlagKind, Meaning, index, records};

keys! {
    DISPINFO: DispInfo = "Lump 26.",
}

pub(super) const ROWS: &[Row] =
    &[DISPINFO.row().proved(|facts, row| displacements(facts, row, |info: DispInfo| info.power))];

records! {
    /// `ddispinfo_t`.
    pub struct DispInfo(232) {
        /// The corner of its face where its vertexes begin (`startPosition`).
        pub start: [f32; 3],
        /// Its first vertex (`m_iDispVertStart`).
        pub first_vertex: i32 => index("DISP_VERTS"),
        /// Its first triangle (`m_iDispTriStart`).
        pub first_triangle: i32 => index("DISP_TRIS"),
        /// 2 to 4: it has `2^power + 1` vertexes each way.
        pub power: i32,
        /// The least tessellation; with the highest bit set flags for collisions (`minTess`).
        pub min_tess: u32,
        /// Smoothing angle.
        pub smoothing_angle: f32,
        /// `CONTENTS_` flags.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
        /// The face it belongs to (`m_iMapFace`).
        pub face: u32 => index("FACES"),
        /// 0 (`m_iLightmapAlphaStart`).
        pub first_alpha: i32,
        /// Where its sample positions begin, in bytes (`m_iLightmapSamplePositionStart`).
        pub first_sample_position: i32,
        /// What lies across its left, top, right and bottom edge (`m_EdgeNeighbors`).
        pub edges: [DispEdgeNeighbors; 4],
        /// What meets it in its lower left, upper left, upper right and lower right corner (`m_CornerNeighbors`).
        pub corners: [DispCornerNeighbors; 4],
        /// Which of 17 times 17 vertexes may be drawn, a bit each (`m_AllowedVerts`).
        pub allowed_vertexes: [u32; 10],
    }

    /// `DispNeighbor_t`: what lies across an edge.
    pub struct DispEdgeNeighbors(16) {
        /// Up to two (`neighbors`).
        pub neighbors: [DispSubNeighbor; 2],
    }

    /// `DispSubNeighbor_t`. Of one that is not there everything but the number is garbage.
    pub struct DispSubNeighbor(8) {
        /// The displacement; all bits for none, of which no map at hand shows whether it is 16 of them or 32.
        pub neighbor: u32 => Meaning::Index { lump: "DISPINFO", none: &[0xFFFF, 0xFFFF_FFFF] },
        /// How it is turned against this one, in quarters of a turn (`neighborOrient`).
        pub orientation: u8,
        /// Where on our edge it is: 0 all of it, 1 from the corner to the middle, 2 from the middle on (`span`).
        pub span: u8,
        /// Where on its edge we are (`neighborSpan`).
        pub neighbor_span: u8,
        /// Of no meaning.
        pub padding: u8,
    }

    /// `DispCornerNeighbors_t`.
    pub struct DispCornerNeighbors(20) {
        /// The displacements; those behind the count are garbage (`neighbors`).
        pub neighbors: [u32; 4],
        /// How many there are (`neighborCount`).
        pub count: u8,
        /// Of no meaning.
        pub padding: [u8; 3],
    }
}
