//! Source, version 17: Vampire: The Masquerade - Bloodlines and the betas of Half-Life 2, a relative of Source.
//!
//! The maps of Bloodlines' unofficial patch were changed by a tool that moved the entities to the end of the file and
//! added ten bytes after them, which repeat the offset of lump 0.

use super::light::{Averages, FaceForm, FaceLight, LightModel, LitFace};
use super::source::fit::{faces_of_this_size, like_the_faces};
use super::source::{self, ColorRgbExp32, PropName, TEXINFO_OF_FACES, of_version};
use super::{Dialect, EntityRules, Key, List, Lump, Row, SOURCE, checks, keys};
use crate::file::Rules;
use crate::record::{Count, Meaning, index, index_or_none, optional_run_of, perhaps, records, run, set};

/// Source, version 17.
pub static SOURCE17: Dialect = Dialect {
    name: "source17",
    title: "Source (version 17: Bloodlines, Half-Life 2 beta)",
    versions: &[17],
    lumps: &LUMPS,
    rows: &ALL_ROWS,
    text: EntityRules::BLOODLINES,
    rules: Rules {
        write_order: &[
            1, 10, 3, 5, 6, 2, 26, 33, 48, 34, 37, 38, 39, 7, 27, 18, 19, 16, 17, 13, 12, 14, 20, 21, 8, 4, 0, 15, 32,
            22, 23, 9, 36, 24, 25, 41, 42, 43, 44, 45, 29, 30, 31, 46, 35, 40,
        ],
        ..SOURCE.rules
    },
    light: LightModel::Faces(&LIGHT),
    opaque_game_lumps: &[],
    compression_caveats: &[(17, source::NEVER_COMPRESSED)],
    bare_paks: &[17],
    checksums: &[checks::SOURCE],
    ..SOURCE
};

const LUMPS: [Lump; 64] =
    source::renamed([(22, "PORTALS"), (23, "CLUSTERS"), (24, "PORTALVERTS"), (25, "CLUSTERPORTALS")]);

keys! {
    FACES: Face = "Lump 7 of Bloodlines.",
    ORIGINALFACES: OriginalFace = "Lump 27 of Bloodlines.",
    PORTALS: Portal = "Lump 22.",
    CLUSTERS: Cluster = "Lump 23. Not as many as the visibility lump has.",
    PORTALVERTS: PortalVert = "Lump 24.",
    CLUSTERPORTALS: ClusterPortal = "Lump 25.",
}

/// The names of the models of detail props.
pub const DETAIL_NAMES: Key<PropName> = Key::list("game:dprp", "names");
/// The detail props.
pub const DETAIL_OBJECTS: Key<DetailObject> = Key::list("game:dprp", "objects");

const DETAILS: &[List] = &[List::of::<PropName>("names"), List::of::<DetailObject>("objects").grouped("leaf")];

const ROWS: &[Row] = &[
    FACES.row().proved(faces_of_this_size),
    ORIGINALFACES.row().proved(like_the_faces),
    PORTALS.row(),
    CLUSTERS.row(),
    PORTALVERTS.row(),
    CLUSTERPORTALS.row().listed(),
    // Some maps have four more bytes after the objects.
    Row::lists("game:dprp", DETAILS).versions(&[2]).proved(|facts, row| of_version(facts, row, &[0, 4])),
];

const ALL_ROWS: [&[Row]; 10] = source::rows_behind(&[ROWS]);

/// The averages are in the face.
const LIGHT: FaceLight = source::light::with_faces(&[FaceForm::of::<Face>(Averages::InFace(0))]);

impl From<Face> for LitFace {
    fn from(face: Face) -> Self {
        LitFace {
            first_edge: face.first_edge,
            edge_count: face.edge_count.into(),
            texinfo: face.texinfo.into(),
            styles: face.styles,
            offset: face.light_offset,
            size: Some(face.luxel_size),
        }
    }
}

records! {
    /// `dface_t` of Bloodlines. Seen from its front its vertexes run clockwise.
    pub struct Face(104) {
        /// The average light of each style.
        pub average_light: [ColorRgbExp32; 8] as "m_AvgLightColor",
        /// The plane it lies on, facing as it does.
        pub plane: u16 as "planenum" => index("PLANES"),
        /// 1 where it faces against its node's plane: the lowest bit of `plane`.
        pub side: u8,
        /// 1 on the plane of a node, 0 within a leaf.
        pub on_node: u8 as "onNode",
        /// Its first edge in the surfedges.
        pub first_edge: i32 as "firstedge" => run("SURFEDGES", "edge_count"),
        /// How many edges it has.
        pub edge_count: i16 as "numedges",
        /// How its texture lies.
        pub texinfo: i16 => index("TEXINFO"),
        /// Its displacement, -1 for none.
        pub displacement: i16 as "dispinfo" => index_or_none("DISPINFO"),
        /// 0.
        pub fog_volume: i16 as "surfaceFogVolumeID",
        /// The styles of its light; 255 ends them.
        pub styles: [u8; 8],
        /// More styles, for the day.
        pub day: [u8; 8],
        /// More styles, for the night.
        pub night: [u8; 8],
        /// Where in the lighting lump its light begins, in bytes; -1 for none.
        pub light_offset: i32 as "lightofs" => Meaning::Offset { lump: "LIGHTING" },
        /// Its area in square units.
        pub area: f32,
        /// The first of its luxels.
        pub luxel_mins: [i32; 2] as "LightmapTextureMinsInLuxels",
        /// The number of luxels in each dimension, minus 1.
        pub luxel_size: [i32; 2] as "LightmapTextureSizeInLuxels",
        /// The face it was cut from, -1 for none.
        pub original_face: i32 as "origFace" => index_or_none("ORIGINALFACES"),
        /// Smoothing groups, a bit each.
        pub smoothing_groups: u32,
    }

    /// `dface_t` of Bloodlines' original faces. Their texinfo may be out of range, as in later versions.
    pub struct OriginalFace(104) {
        ..Face with { texinfo: TEXINFO_OF_FACES, original_face: Meaning::Plain },
    }

    /// `dportal_t`: an opening between two clusters.
    pub struct Portal(16) {
        /// Its first corner in the portalverts.
        pub first_vertex: i32 as "firstportalvert" => run("PORTALVERTS", "vertex_count"),
        /// How many corners it has.
        pub vertex_count: i32 as "numportalverts",
        /// The plane it lies on.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The clusters on its sides, in the lump of these and not in that of visibility.
        pub clusters: [u16; 2] as "cluster" => perhaps("CLUSTERS"),
    }

    /// `dcluster_t`.
    pub struct Cluster(8) {
        /// Its first portal in the clusterportals.
        pub first_portal: i32 as "firstportal" => set("CLUSTERPORTALS", "portal_count"),
        /// How many portals it has.
        pub portal_count: i32 as "numportals",
    }

    /// A number of the portalverts lump.
    pub struct PortalVert(2) {
        /// The vertex's index.
        pub vertex: u16 => index("VERTEXES"),
    }

    /// A number of the clusterportals lump.
    pub struct ClusterPortal(2) {
        /// The portal's index; in some maps out of range.
        pub portal: u16 => perhaps("PORTALS"),
    }

    /// `DetailObjectLump_t`, version 2.
    pub struct DetailObject(40) {
        /// Its position.
        pub origin: [f32; 3] as "m_Origin",
        /// Pitch, yaw and roll in degrees.
        pub angles: [f32; 3] as "m_Angles",
        /// Its place in the list of names.
        pub model: u16 as "m_DetailModel" => index("game:dprp.names"),
        /// The leaf it is in.
        pub leaf: u16 as "m_Leaf" => index("LEAFS"),
        /// Its light.
        pub lighting: ColorRgbExp32 as "m_Lighting",
        /// The offset of the light of its other styles, -1 for none.
        pub first_style: i32 as "m_LightStyles" => optional_run_of("game:dplt.lights", Count::number("style_count")),
        /// How many other styles it has.
        pub style_count: u8 as "m_LightStyleCount",
        /// Garbage.
        pub padding: [u8; 3],
    }
}
