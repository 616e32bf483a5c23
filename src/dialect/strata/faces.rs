//! Faces and what they and brushes are made of.

use super::{faces_of_this_size, like_the_faces, one_a_face, sides_of_brushes, with_known_faces};
use crate::dialect::shared::WideEdge;
use crate::dialect::{LitFace, Row, keys};
use crate::record::{Meaning, index, index_or_none, records, run};

keys! {
    FACES: Face = "Lump 7.",
    ORIGINALFACES: OriginalFace = "Lump 27: the faces as they were before the tree cut them.",
    FACES_HDR: Face = "Lump 58: the faces again, with other light.",
    FACEIDS: FaceId = "Lump 11: one for each face, or none at all.",
    FACEBRUSHES: FaceBrush = "Lump 22: the brushes of faces that more than one has.",
    FACEBRUSHLIST: FaceBrushList = "Lump 23: one for each face.",
    PRIMITIVES: Primitive = "Lump 37.",
    PRIMINDICES: PrimIndex = "Lump 39.",
    EDGES: WideEdge = "Lump 12.",
    BRUSHSIDES: BrushSide = "Lump 19.",
    VERTNORMALINDICES: VertNormalIndex = "Lump 31: one for each edge of each face, in the order of the faces.",
}

pub(super) const ROWS: &[Row] = &[
    FACES.row().proved(faces_of_this_size),
    ORIGINALFACES.row().proved(like_the_faces),
    FACES_HDR.row().proved(faces_of_this_size),
    FACEIDS.row().proved(one_a_face),
    FACEBRUSHES.row().proved(with_known_faces),
    FACEBRUSHLIST.row().proved(one_a_face),
    PRIMITIVES.row().proved(with_known_faces),
    PRIMINDICES.row().proved(with_known_faces),
    EDGES.row().proved(with_known_faces),
    BRUSHSIDES.row().proved(sides_of_brushes),
    VERTNORMALINDICES.row().proved(with_known_faces),
];

/// Declares structs of faces, which differ in what links mean.
macro_rules! faces {
    ($($(#[$meta:meta])* $name:ident($size:literal) texinfo: $texinfo:expr, original: $original:expr;)* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
                    /// The plane it lies on, facing as it does (`planenum`).
                    pub plane: u32 => index("PLANES"),
                    /// 1 where it faces against its node's plane: the lowest bit of `plane`.
                    pub side: u8,
                    /// 1 on the plane of a node, 0 within a leaf (`onNode`).
                    pub on_node: u8,
                    /// Of no meaning.
                    pub padding: u16,
                    /// Its first edge in the surfedges (`firstedge`).
                    pub first_edge: i32 => run("SURFEDGES", "edge_count"),
                    /// How many edges it has (`numedges`).
                    pub edge_count: i32,
                    /// How its texture lies.
                    pub texinfo: i32 => $texinfo,
                    /// Its displacement, -1 for none (`dispinfo`).
                    pub displacement: i32 => index_or_none("DISPINFO"),
                    /// -1 (`surfaceFogVolumeID`).
                    pub fog_volume: i32,
                    /// The styles of its light; 255 ends them.
                    pub styles: [u8; 4],
                    /// Where in the lighting lump its light begins, behind the averages, in bytes; -1 for none. It may
                    /// be there though the lighting lump is empty (`lightofs`).
                    pub light_offset: i32,
                    /// Its area in square units.
                    pub area: f32,
                    /// The first of its luxels (`m_LightmapTextureMinsInLuxels`).
                    pub luxel_mins: [i32; 2],
                    /// One less than how many luxels it has each way (`m_LightmapTextureSizeInLuxels`).
                    pub luxel_size: [i32; 2],
                    /// The face it was cut from, -1 for none (`origFace`).
                    pub original_face: i32 => $original,
                    /// 1 in the lowest bit for dynamic shadows on it (`m_EnableShadows`), and in the others how many
                    /// primitives it has (`m_NumPrims`).
                    pub shadows_primitive_count: u32,
                    /// Its first primitive (`firstPrimID`); of no meaning where there are none.
                    pub first_primitive: u32,
                    /// Smoothing groups, a bit each.
                    pub smoothing_groups: u32,
                }
            )*
            $($rest)*
        }

        $(impl $name {
            /// How many primitives it has, from [`Self::first_primitive`] on.
            pub fn primitives(&self) -> u32 {
                self.shadows_primitive_count >> 1
            }

            /// Whether dynamic shadows leave it out. The bit says the opposite of what it says in other versions.
            pub fn has_no_dynamic_shadows(&self) -> bool {
                self.shadows_primitive_count & 1 == 0
            }
        })*
    };
}

faces! {
    /// `dface_t`. Seen from its front its vertexes run clockwise.
    Face(72)
    texinfo: index("TEXINFO"), original: index_or_none("ORIGINALFACES");

    /// `dface_t` of the original faces, whose texinfo may lead nowhere, as in earlier versions.
    OriginalFace(72)
    texinfo: Meaning::Plain, original: Meaning::Plain;

    => {
    /// A number of the faceids lump (`dfaceid_t`).
    pub struct FaceId(4) {
        /// The side's id in the editor (`hammerfaceid`).
        pub id: u32,
    }

    /// A number of the facebrushes lump.
    pub struct FaceBrush(4) {
        /// The brush's index.
        pub brush: u32 => index("BRUSHES"),
    }

    /// `dfacebrushlist_t`.
    pub struct FaceBrushList(8) {
        /// How many brushes made the face (`m_nFaceBrushCount`).
        pub count: u32,
        /// Of one brush its index, all bits for a displacement; of more the first in lump 22 (`m_nFaceBrushStart`).
        pub first: u32,
    }

    /// `dprimitive_t`: triangles of a face that its edges do not give.
    pub struct Primitive(20) {
        /// 0 for a list of triangles, 1 for a strip (`type`).
        pub kind: u8,
        /// Of no meaning.
        pub padding: [u8; 3],
        /// Its first index (`firstIndex`).
        pub first_index: u32 => run("PRIMINDICES", "index_count"),
        /// How many indices it has (`indexCount`).
        pub index_count: u32,
        /// Its first vertex (`firstVert`).
        pub first_vertex: u32 => run("PRIMVERTS", "vertex_count"),
        /// How many vertexes it has of its own (`vertCount`).
        pub vertex_count: u32,
    }

    /// A number of the primindices lump.
    pub struct PrimIndex(4) {
        /// A vertex, counted from the first one of the face.
        pub vertex: u32,
    }

    /// `dbrushside_t`.
    pub struct BrushSide(16) {
        /// Its plane, facing out (`planenum`).
        pub plane: u32 => index("PLANES"),
        /// Its texture, -1 for none.
        pub texinfo: i32 => index_or_none("TEXINFO"),
        /// 0, and no link to a displacement (`dispinfo`).
        pub displacement: i32,
        /// Other than 0 where the side was added for collisions.
        pub bevel: u8,
        /// Other than 0 where the brush is thin.
        pub thin: u8,
        /// Of no meaning.
        pub padding: u16,
    }

    /// A number of the vertnormalindices lump.
    pub struct VertNormalIndex(4) {
        /// The normal's index.
        pub normal: u32 => index("VERTNORMALS"),
    }
    }
}

impl From<Face> for LitFace {
    fn from(face: Face) -> Self {
        let [a, b, c, d] = face.styles;
        LitFace {
            first_edge: face.first_edge,
            edge_count: face.edge_count,
            texinfo: face.texinfo,
            styles: [a, b, c, d, 255, 255, 255, 255],
            offset: face.light_offset,
            size: Some(face.luxel_size),
        }
    }
}
