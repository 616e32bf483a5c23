//! Faces, the lumps with one record for each face, and primitives.

use super::fit::{faces_of_this_size, like_the_faces, one_a_face};
use super::light::ColorRgbExp32;
use crate::dialect::shared::Vertex;
use crate::dialect::{Each, Key, Row, keys};
use crate::record::{Count, Gone, Meaning, index, index_or_none, optional_run_of, records, run};

keys! {
    FACES: Face = "Lump 7, from version 19 on.",
    ORIGINALFACES: OriginalFace = "Lump 27, from version 19 on: the faces as they were before the tree cut them.",
    FACES_HDR: Face = "Lump 58: the faces again, with other light.",
    FACEIDS: FaceId = "Lump 11: one for each face, or none at all.",
    FACE_MACRO_TEXTURE_INFO: FaceMacroTexture = "Lump 47: one for each face, or none at all.",
    PRIMITIVES: Primitive = "Lump 37.",
    PRIMVERTS: Vertex = "Lump 38.",
    PRIMINDICES: PrimIndex = "Lump 39.",
}

/// Lump 7 of version 18.
pub const FACES_V18: Key<FaceV18> = Key::new("FACES");
/// Lump 27 of version 18.
pub const ORIGINALFACES_V18: Key<OriginalFaceV18> = Key::new("ORIGINALFACES");

/// The light of the faces for high dynamic range.
pub(in crate::dialect) const HDR_LIGHT: &[(&str, &str)] = &[("LIGHTING", "LIGHTING_HDR")];

pub(super) const ROWS: &[Row] = &[
    FACES.row().proved(faces_of_this_size),
    FACES_V18.row().maps(&[18]).proved(faces_of_this_size),
    ORIGINALFACES.row().proved(like_the_faces),
    ORIGINALFACES_V18.row().maps(&[18]).proved(like_the_faces),
    FACES_HDR.row().parallel("FACES", Each::Twin, &[0]).instead(HDR_LIGHT).proved(faces_of_this_size),
    FACEIDS.row().parallel("FACES", Each::One, &[0]).proved(one_a_face),
    FACE_MACRO_TEXTURE_INFO.row().parallel("FACES", Each::One, &[0xFF]).proved(one_a_face),
    PRIMITIVES.row(),
    PRIMVERTS.row(),
    PRIMINDICES.row(),
];

/// How the texture of a face lies from which others were cut: in most maps a number of the table as it was before the
/// compiler made it smaller.
pub(in crate::dialect) const TEXINFO_OF_FACES: Meaning =
    Meaning::Twin { lump: "TEXINFO", list: "FACES", by: "original_face" };

/// The name of a macro texture, 65535 for none.
const NAME_OF_TEXTURE: Meaning =
    Meaning::Index { lump: "TEXDATA_STRING_TABLE", none: &[0xFFFF], gone: Gone::Becomes(0xFFFF) };

records! {
    /// `dface_t`. Seen from its front its vertexes run clockwise.
    pub struct Face(56) {
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
        /// -1 from most tools.
        pub fog_volume: i16 as "surfaceFogVolumeID",
        /// The styles of its light; 255 ends them.
        pub styles: [u8; 4],
        /// The offset of its light in the lighting lump, after the averages, in bytes; -1 for none. It may be there
        /// though the lighting lump is empty.
        pub light_offset: i32 as "lightofs" => Meaning::Offset { lump: "LIGHTING" },
        /// Its area in square units.
        pub area: f32,
        /// The first of its luxels.
        pub luxel_mins: [i32; 2] as "LightmapTextureMinsInLuxels",
        /// The number of luxels in each dimension, minus 1.
        pub luxel_size: [i32; 2] as "LightmapTextureSizeInLuxels",
        /// The face it was cut from, -1 for none.
        pub original_face: i32 as "origFace" => index_or_none("ORIGINALFACES"),
        /// How many primitives it has, in the low 15 bits; the highest bit means no dynamic shadows.
        pub primitive_count: u16 as "m_NumPrims",
        /// Its first primitive; it has no meaning if there are none. Then the face is drawn as a fan of its corners.
        pub first_primitive: u16 as "firstPrimID" =>
            optional_run_of("PRIMITIVES", Count::bits("primitive_count", 0x7FFF, 0)),
        /// Smoothing groups, a bit each.
        pub smoothing_groups: u32,
    }

    /// `dface_t` of the original faces. Their texinfo is that of the faces, or of a table that the compiler made
    /// smaller later, so that it may be out of range.
    pub struct OriginalFace(56) {
        ..Face with { texinfo: TEXINFO_OF_FACES, original_face: Meaning::Plain, first_primitive: Meaning::Plain },
    }

    /// `dface_t` of version 18.
    pub struct FaceV18(72) {
        /// The average light of each style.
        pub average_light: [ColorRgbExp32; 4] as "m_AvgLightColor",
        ..Face,
    }

    /// `dface_t` of the original faces in version 18.
    pub struct OriginalFaceV18(72) {
        /// The average light of each style.
        pub average_light: [ColorRgbExp32; 4] as "m_AvgLightColor",
        ..OriginalFace,
    }

    /// A number of the faceids lump (`dfaceid_t`).
    pub struct FaceId(2) {
        /// The side's id in the editor, as far as it fits 16 bits.
        pub id: u16 as "hammerfaceid",
    }

    /// A number of the face macro texture lump.
    pub struct FaceMacroTexture(2) {
        /// The name of its texture, 65535 for none.
        pub name: u16 as "m_MacroTextureNameID" => NAME_OF_TEXTURE,
    }

    /// `dprimitive_t`: triangles of a face that its edges do not give.
    pub struct Primitive(10) {
        /// 0 for a list of triangles, 1 for a strip.
        pub kind: u8 as "type",
        /// 0.
        pub padding: u8,
        /// Its first index.
        pub first_index: u16 as "firstIndex" => run("PRIMINDICES", "index_count"),
        /// How many indices it has.
        pub index_count: u16 as "indexCount",
        /// Its first vertex.
        pub first_vertex: u16 as "firstVert" => run("PRIMVERTS", "vertex_count"),
        /// How many vertexes it has of its own, mostly none.
        pub vertex_count: u16 as "vertCount",
    }

    /// A number of the primindices lump.
    pub struct PrimIndex(2) {
        /// A vertex, counted from the first one of the face.
        pub vertex: u16,
    }
}

impl Face {
    /// How many primitives it has, from [`Self::first_primitive`] on.
    pub fn primitives(&self) -> u16 {
        self.primitive_count & 0x7FFF
    }

    /// Whether dynamic shadows leave it out.
    pub fn has_no_dynamic_shadows(&self) -> bool {
        self.primitive_count & 0x8000 != 0
    }
}
