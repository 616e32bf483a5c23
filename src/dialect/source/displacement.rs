//! Displacements.

use crate::dialect::{Each, Facts, Row, keys};
use crate::record::{Count, Field, FlagKind, Gone, Meaning, Record, index, own_run_of, records};

use super::fit::one_for_each;

keys! {
    DISPINFO: DispInfo = "Lump 26.",
    DISP_LIGHTMAP_ALPHAS: DispLightmapAlpha = "Lump 32, empty from version 20 on.",
    DISP_VERTS: DispVert = "Lump 33.",
    DISP_TRIS: DispTri = "Lump 48.",
    DISP_MULTIBLEND: DispMultiblend = "Lump 63: one for each of lump 33, or none at all.",
}

pub(super) const ROWS: &[Row] = &[
    DISPINFO.row().summed(|facts, row| displacements(facts, row, |info: DispInfo| info.power)),
    DISP_LIGHTMAP_ALPHAS.row(),
    DISP_VERTS.row(),
    Row::lens("DISP_LIGHTMAP_SAMPLE_POSITIONS", "sample positions"),
    DISP_TRIS.row(),
    DISP_MULTIBLEND
        .row()
        .parallel("DISP_VERTS", Each::One, &[0])
        .proved(|facts, row| one_for_each(facts, row, "DISP_VERTS", DispVert::SIZE, "vertexes of the displacements")),
];

/// Displacements that together have as many vertexes as the map.
pub(in crate::dialect) fn displacements<R: Record>(
    facts: &Facts<'_>,
    row: &Row,
    power: fn(R) -> i32,
) -> Result<(), String> {
    let (bytes, verts) = (facts.own(row), facts.len("DISP_VERTS"));
    if facts.is_exact && bytes.len() % R::SIZE != 0 {
        return Err(format!("its {} bytes are not a multiple of {}", bytes.len(), R::SIZE));
    }
    let mut sum = 0_usize;
    for (index, power) in bytes.chunks_exact(R::SIZE).filter_map(R::decode).map(power).enumerate() {
        let side = match power {
            2 => 5,
            3 => 9,
            4 => 17,
            // A power that is not valid is reported elsewhere.
            _ if facts.is_likely => return Ok(()),
            _ => return Err(format!("displacement {index} has the power {power}, not 2, 3 or 4")),
        };
        sum = sum.saturating_add(side * side);
    }
    // In a ragged lump the last one may be cut off; its side is 5, 9 or 17.
    let missing = if facts.is_exact { &[0][..] } else { &[0, 25, 81, 289] };
    match missing.iter().any(|cut| (sum + cut).checked_mul(DispVert::SIZE) == Some(verts)) {
        true => Ok(()),
        false => Err(format!("its displacements have {sum} vertexes, which {verts} bytes of them are not")),
    }
}

/// The vertexes of a displacement.
pub(in crate::dialect) const VERTS_OF_DISP: Meaning = own_run_of("DISP_VERTS", Count::vertexes("power"));
/// The triangles of a displacement.
pub(in crate::dialect) const TRIS_OF_DISP: Meaning = own_run_of("DISP_TRIS", Count::triangles("power"));

/// Declares structs of displacements, which differ in fields before the face and before the neighbors.
macro_rules! disp_infos {
    ($(
        $(#[$meta:meta])* $name:ident($size:literal) { $($before_face:tt)* } { $($before_edges:tt)* }
    )* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
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
                    $($before_face)*
                    /// The face it belongs to.
                    pub face: u16 as "m_iMapFace" => index("FACES"),
                    /// Garbage.
                    pub padding: u16,
                    /// Where its alphas begin, before version 20.
                    pub first_alpha: i32 as "m_iLightmapAlphaStart" =>
                        Meaning::Offset { lump: "DISP_LIGHTMAP_ALPHAS" },
                    /// Where its sample positions begin, in bytes.
                    pub first_sample_position: i32 as "m_iLightmapSamplePositionStart" =>
                        Meaning::Offset { lump: "DISP_LIGHTMAP_SAMPLE_POSITIONS" },
                    $($before_edges)*
                    /// Its neighbors across the left, top, right and bottom edge.
                    pub edges: [DispEdgeNeighbors; 4] as "m_EdgeNeighbors",
                    /// Its neighbors at the lower left, upper left, upper right and lower right corner.
                    pub corners: [DispCornerNeighbors; 4] as "m_CornerNeighbors",
                    /// Which of 17 times 17 vertexes may be drawn, a bit each.
                    pub allowed_vertexes: [u32; 10] as "m_AllowedVerts",
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
    /// `CDispNeighbor`: the neighbors across an edge.
    pub struct DispEdgeNeighbors(12) {
        /// Up to two.
        pub neighbors: [DispSubNeighbor; 2] as "m_SubNeighbors",
    }

    /// `CDispSubNeighbor`. If there is no neighbor, all other fields are garbage.
    pub struct DispSubNeighbor(6) {
        /// The displacement, 65535 for none.
        pub neighbor: u16 as "m_iNeighbor" =>
            Meaning::Index { lump: "DISPINFO", none: &[0xFFFF], gone: Gone::Becomes(0xFFFF) },
        /// How it is rotated relative to this one, in quarters of a full rotation.
        pub orientation: u8 as "m_NeighborOrientation",
        /// Where on our edge it is: 0 all of it, 1 from the corner to the middle, 2 from the middle on.
        pub span: u8 as "m_Span",
        /// Where on its edge we are.
        pub neighbor_span: u8 as "m_NeighborSpan",
        /// Garbage.
        pub padding: u8,
    }

    /// `CDispCornerNeighbors`.
    pub struct DispCornerNeighbors(10) {
        /// The displacements; entries after the count are garbage.
        pub neighbors: [u16; 4] as "m_Neighbors" =>
            Meaning::Items { lump: "DISPINFO", count: Count::number("count") },
        /// How many there are.
        pub count: u8 as "m_nNeighbors",
        /// Garbage.
        pub padding: u8,
    }

    /// `CDispVert`.
    pub struct DispVert(20) {
        /// The direction in which it is moved from its face, of length 1.
        pub direction: [f32; 3] as "m_vVector",
        /// How far it is moved.
        pub distance: f32 as "m_flDist",
        /// How much of the second texture shows, 0 to 255.
        pub alpha: f32 as "m_flAlpha",
    }

    /// `CDispTri`.
    pub struct DispTri(2) {
        /// `DISPTRI_TAG_`.
        pub tags: u16 as "m_uiTags" => Meaning::Flags(FlagKind::Triangle),
    }

    /// A number of the displightmapalphas lump: one for each luxel of the faces of displacements.
    pub struct DispLightmapAlpha(1) {
        /// How much of the second texture shows.
        pub alpha: u8,
    }

    /// `CDispMultiBlend`.
    pub struct DispMultiblend(80) {
        /// How much of each of four textures shows.
        pub blend: [f32; 4] as "m_vMultiBlend",
        /// How opaque each is.
        pub alpha: [f32; 4] as "m_vAlphaBlend",
        /// The tint of each.
        pub colors: [[f32; 3]; 4] as "m_vMultiBlendColors",
    }
    }
}
