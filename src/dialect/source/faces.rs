//! Faces, what stands beside each of them, and their primitives.

use super::fit::{faces_of_this_size, like_the_faces, one_a_face};
use super::light::ColorRgbExp32;
use crate::dialect::shared::Vertex;
use crate::dialect::{Key, Row, keys};
use crate::record::{Meaning, index, index_or_none, records, run};

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

pub(super) const ROWS: &[Row] = &[
    FACES.row().proved(faces_of_this_size),
    FACES_V18.row().maps(&[18]).proved(faces_of_this_size),
    ORIGINALFACES.row().proved(like_the_faces),
    ORIGINALFACES_V18.row().maps(&[18]).proved(like_the_faces),
    FACES_HDR.row().proved(faces_of_this_size),
    FACEIDS.row().proved(one_a_face),
    FACE_MACRO_TEXTURE_INFO.row().proved(one_a_face),
    PRIMITIVES.row(),
    PRIMVERTS.row(),
    PRIMINDICES.row(),
];

/// Declares structs of faces, which differ in what stands before the fields that all have and in what links mean.
macro_rules! faces {
    (
        $($(#[$meta:meta])* $name:ident($size:literal) { $($before:tt)* }
        texinfo: $texinfo:expr, original: $original:expr;)*
        => { $($rest:tt)* }
    ) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
                    $($before)*
                    /// The plane it lies on, facing as it does (`planenum`).
                    pub plane: u16 => index("PLANES"),
                    /// 1 where it faces against its node's plane: the lowest bit of `plane`.
                    pub side: u8,
                    /// 1 on the plane of a node, 0 within a leaf (`onNode`).
                    pub on_node: u8,
                    /// Its first edge in the surfedges (`firstedge`).
                    pub first_edge: i32 => run("SURFEDGES", "edge_count"),
                    /// How many edges it has (`numedges`).
                    pub edge_count: i16,
                    /// How its texture lies.
                    pub texinfo: i16 => $texinfo,
                    /// Its displacement, -1 for none (`dispinfo`).
                    pub displacement: i16 => index_or_none("DISPINFO"),
                    /// -1 from most tools (`surfaceFogVolumeID`).
                    pub fog_volume: i16,
                    /// The styles of its light; 255 ends them.
                    pub styles: [u8; 4],
                    /// Where in the lighting lump its light begins, behind the averages, in bytes; -1 for none. It may
                    /// be there though the lighting lump is empty (`lightofs`).
                    pub light_offset: i32,
                    /// Its area in square units.
                    pub area: f32,
                    /// The first of its luxels (`LightmapTextureMinsInLuxels`).
                    pub luxel_mins: [i32; 2],
                    /// One less than how many luxels it has each way (`LightmapTextureSizeInLuxels`).
                    pub luxel_size: [i32; 2],
                    /// The face it was cut from, -1 for none (`origFace`).
                    pub original_face: i32 => $original,
                    /// How many primitives it has, in the low 15 bits; the highest one stands for no dynamic shadows
                    /// (`m_NumPrims`).
                    pub primitive_count: u16,
                    /// Its first primitive (`firstPrimID`); of no meaning where there are none.
                    pub first_primitive: u16,
                    /// Smoothing groups, a bit each.
                    pub smoothing_groups: u32,
                }
            )*
            $($rest)*
        }

        $(impl $name {
            /// How many primitives it has, from [`Self::first_primitive`] on.
            pub fn primitives(&self) -> u16 {
                self.primitive_count & 0x7FFF
            }

            /// Whether dynamic shadows leave it out.
            pub fn has_no_dynamic_shadows(&self) -> bool {
                self.primitive_count & 0x8000 != 0
            }
        })*
    };
}

faces! {
    /// `dface_t`. Seen from its front its vertexes run clockwise.
    Face(56) {}
    texinfo: index("TEXINFO"), original: index_or_none("ORIGINALFACES");

    /// `dface_t` of the original faces. Their texinfo is one of a table that the compiler has since made smaller, so it
    /// may lead nowhere.
    OriginalFace(56) {}
    texinfo: Meaning::Plain, original: Meaning::Plain;

    /// `dface_t` of version 18.
    FaceV18(72) {
        /// The average light of each style (`m_AvgLightColor`).
        pub average_light: [ColorRgbExp32; 4],
    }
    texinfo: index("TEXINFO"), original: index_or_none("ORIGINALFACES");

    /// `dface_t` of the original faces in version 18.
    OriginalFaceV18(72) {
        /// The average light of each style (`m_AvgLightColor`).
        pub average_light: [ColorRgbExp32; 4],
    }
    texinfo: Meaning::Plain, original: Meaning::Plain;

    => {
    /// A number of the faceids lump (`dfaceid_t`).
    pub struct FaceId(2) {
        /// The side's id in the editor, as far as it fits 16 bits (`hammerfaceid`).
        pub id: u16,
    }

    /// A number of the face macro texture lump.
    pub struct FaceMacroTexture(2) {
        /// The name of its texture, 65535 for none (`m_MacroTextureNameID`).
        pub name: u16 => Meaning::Index { lump: "TEXDATA_STRING_TABLE", none: &[0xFFFF] },
    }

    /// `dprimitive_t`: triangles of a face that its edges do not give.
    pub struct Primitive(10) {
        /// 0 for a list of triangles, 1 for a strip (`type`).
        pub kind: u8,
        /// 0.
        pub padding: u8,
        /// Its first index (`firstIndex`).
        pub first_index: u16 => run("PRIMINDICES", "index_count"),
        /// How many indices it has (`indexCount`).
        pub index_count: u16,
        /// Its first vertex (`firstVert`).
        pub first_vertex: u16 => run("PRIMVERTS", "vertex_count"),
        /// How many vertexes it has of its own, mostly none (`vertCount`).
        pub vertex_count: u16,
    }

    /// A number of the primindices lump.
    pub struct PrimIndex(2) {
        /// A vertex, counted from the first one of the face.
        pub vertex: u16,
    }
    }
}
