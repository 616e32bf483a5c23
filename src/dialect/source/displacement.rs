//! Displacements.

use crate::dialect::{Facts, Row, keys};
use crate::record::{Field, FlagKind, Meaning, Record, index, records};

use super::fit::one_for_each;

keys! {
    DISPINFO: DispInfo = "Lump 26.",
    DISP_LIGHTMAP_ALPHAS: DispLightmapAlpha = "Lump 32, empty from version 20 on.",
    DISP_VERTS: DispVert = "Lump 33.",
    DISP_TRIS: DispTri = "Lump 48.",
    DISP_MULTIBLEND: DispMultiblend = "Lump 63: one for each of lump 33, or none at all.",
}

pub(super) const ROWS: &[Row] = &[
    DISPINFO.row().proved(|facts, row| displacements(facts, row, |info: DispInfo| info.power)),
    DISP_LIGHTMAP_ALPHAS.row(),
    DISP_VERTS.row(),
    Row::lens("DISP_LIGHTMAP_SAMPLE_POSITIONS", "sample positions"),
    DISP_TRIS.row(),
    DISP_MULTIBLEND
        .row()
        .proved(|facts, row| one_for_each(facts, row, "DISP_VERTS", DispVert::SIZE, "vertexes of the displacements")),
];

/// Displacements that have as many vertexes as there are.
pub(in crate::dialect) fn displacements<R: Record>(
    facts: &Facts<'_>,
    row: &Row,
    power: fn(R) -> i32,
) -> Result<(), String> {
    let (bytes, verts) = (facts.own(row), facts.len("DISP_VERTS"));
    if facts.is_exact && bytes.len() % R::SIZE != 0 {
        return Err(format!("its {} bytes are no multiple of {}", bytes.len(), R::SIZE));
    }
    let mut sum = 0_usize;
    for (index, power) in bytes.chunks_exact(R::SIZE).filter_map(R::decode).map(power).enumerate() {
        let side = match power {
            2 => 5,
            3 => 9,
            4 => 17,
            // A power that is none is a fault of its own.
            _ if facts.is_likely => return Ok(()),
            _ => return Err(format!("displacement {index} has the power {power}, not 2, 3 or 4")),
        };
        sum = sum.saturating_add(side * side);
    }
    // Of a ragged lump the last one may be cut off, with a side of 5, 9 or 17.
    let missing = if facts.is_exact { &[0][..] } else { &[0, 25, 81, 289] };
    match missing.iter().any(|cut| (sum + cut).checked_mul(DispVert::SIZE) == Some(verts)) {
        true => Ok(()),
        false => Err(format!("its displacements have {sum} vertexes, which {verts} bytes of them are not")),
    }
}

/// Declares structs of displacements, which differ in fields before the face and before the neighbors.
macro_rules! disp_infos {
    ($($(#[$meta:meta])* $name:ident($size:literal) { $($before_face:tt)* } { $($before_edges:tt)* })* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
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
                    $($before_face)*
                    /// The face it belongs to (`m_iMapFace`).
                    pub face: u16 => index("FACES"),
                    /// Garbage.
                    pub padding: u16,
                    /// Where its alphas begin, before version 20 (`m_iLightmapAlphaStart`).
                    pub first_alpha: i32,
                    /// Where its sample positions begin, in bytes (`m_iLightmapSamplePositionStart`).
                    pub first_sample_position: i32,
                    $($before_edges)*
                    /// What lies across its left, top, right and bottom edge (`m_EdgeNeighbors`).
                    pub edges: [DispEdgeNeighbors; 4],
                    /// What meets it in its lower left, upper left, upper right and lower right corner
                    /// (`m_CornerNeighbors`).
                    pub corners: [DispCornerNeighbors; 4],
                    /// Which of 17 times 17 vertexes may be drawn, a bit each (`m_AllowedVerts`).
                    pub allowed_vertexes: [u32; 10],
                }
            )*
            $($rest)*
        }
    };
}

pub(in crate::dialect) use disp_infos;

disp_infos! {
    /// `ddispinfo_t`.
    DispInfo(176) {} {}

    => {
    /// `CDispNeighbor`: what lies across an edge.
    pub struct DispEdgeNeighbors(12) {
        /// Up to two (`m_SubNeighbors`).
        pub neighbors: [DispSubNeighbor; 2],
    }

    /// `CDispSubNeighbor`. Of one that is not there everything but the 65535 is garbage.
    pub struct DispSubNeighbor(6) {
        /// The displacement, 65535 for none (`m_iNeighbor`).
        pub neighbor: u16 => Meaning::Index { lump: "DISPINFO", none: &[0xFFFF] },
        /// How it is turned against this one, in quarters of a turn (`m_NeighborOrientation`).
        pub orientation: u8,
        /// Where on our edge it is: 0 all of it, 1 from the corner to the middle, 2 from the middle on (`m_Span`).
        pub span: u8,
        /// Where on its edge we are (`m_NeighborSpan`).
        pub neighbor_span: u8,
        /// Garbage.
        pub padding: u8,
    }

    /// `CDispCornerNeighbors`.
    pub struct DispCornerNeighbors(10) {
        /// The displacements; those behind the count are garbage (`m_Neighbors`).
        pub neighbors: [u16; 4],
        /// How many there are (`m_nNeighbors`).
        pub count: u8,
        /// Garbage.
        pub padding: u8,
    }

    /// `CDispVert`.
    pub struct DispVert(20) {
        /// Where it is moved to from its face, of length 1 (`m_vVector`).
        pub direction: [f32; 3],
        /// How far it is moved (`m_flDist`).
        pub distance: f32,
        /// How much of the second texture shows, 0 to 255 (`m_flAlpha`).
        pub alpha: f32,
    }

    /// `CDispTri`.
    pub struct DispTri(2) {
        /// `DISPTRI_TAG_` (`m_uiTags`).
        pub tags: u16 => Meaning::Flags(FlagKind::Triangle),
    }

    /// A number of the displightmapalphas lump: one for each luxel of the faces of displacements.
    pub struct DispLightmapAlpha(1) {
        /// How much of the second texture shows.
        pub alpha: u8,
    }

    /// `CDispMultiBlend`.
    pub struct DispMultiblend(80) {
        /// How much of each of four textures shows (`m_vMultiBlend`).
        pub blend: [f32; 4],
        /// How opaque each is (`m_vAlphaBlend`).
        pub alpha: [f32; 4],
        /// The tint of each (`m_vMultiBlendColors`).
        pub colors: [[f32; 3]; 4],
    }
    }
}
