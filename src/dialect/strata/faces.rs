//! Faces, brush sides, and their lists.

use super::{faces_of_this_size, like_the_faces, one_a_face, sides_of_brushes, with_known_faces};
use crate::dialect::shared::WideEdge;
use crate::dialect::source::{HDR_LIGHT, TEXINFO_OF_FACES};
use crate::dialect::source21::brushes_of_face;
use crate::dialect::{Each, LitFace, Row, keys};
use crate::record::{Count, Meaning, index, index_or_none, optional_run_of, records, run};

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
    FACES_HDR.row().parallel("FACES", Each::Twin, &[0]).instead(HDR_LIGHT).proved(faces_of_this_size),
    FACEIDS.row().parallel("FACES", Each::One, &[0]).proved(one_a_face),
    FACEBRUSHES.row().listed().proved(with_known_faces),
    FACEBRUSHLIST.row().parallel("FACES", Each::One, &[0]).proved(one_a_face),
    PRIMITIVES.row().proved(with_known_faces),
    PRIMINDICES.row().proved(with_known_faces),
    EDGES.row().fixed(1).proved(with_known_faces),
    BRUSHSIDES.row().summed(sides_of_brushes),
    VERTNORMALINDICES.row().parallel("FACES", Each::Counted("edge_count"), &[0]).proved(with_known_faces),
];

records! {
    /// `dface_t`. Seen from its front its vertexes run clockwise.
    pub struct Face(72) {
        /// The plane it lies on, facing as it does.
        pub plane: u32 as "planenum" => index("PLANES"),
        /// 1 where it faces against its node's plane: the lowest bit of `plane`.
        pub side: u8,
        /// 1 on the plane of a node, 0 within a leaf.
        pub on_node: u8 as "onNode",
        /// Of no meaning.
        pub padding: u16,
        /// Its first edge in the surfedges.
        pub first_edge: i32 as "firstedge" => run("SURFEDGES", "edge_count"),
        /// How many edges it has.
        pub edge_count: i32 as "numedges",
        /// How its texture lies.
        pub texinfo: i32 => index("TEXINFO"),
        /// Its displacement, -1 for none.
        pub displacement: i32 as "dispinfo" => index_or_none("DISPINFO"),
        /// -1.
        pub fog_volume: i32 as "surfaceFogVolumeID",
        /// The styles of its light; 255 ends them.
        pub styles: [u8; 4],
        /// The offset of its light in the lighting lump, after the averages, in bytes; -1 for none. It may be there
        /// though the lighting lump is empty.
        pub light_offset: i32 as "lightofs" => Meaning::Offset { lump: "LIGHTING" },
        /// Its area in square units.
        pub area: f32,
        /// The first of its luxels.
        pub luxel_mins: [i32; 2] as "m_LightmapTextureMinsInLuxels",
        /// The number of luxels in each dimension, minus 1.
        pub luxel_size: [i32; 2] as "m_LightmapTextureSizeInLuxels",
        /// The face it was cut from, -1 for none.
        pub original_face: i32 as "origFace" => index_or_none("ORIGINALFACES"),
        /// 1 in the lowest bit for dynamic shadows on it (`m_EnableShadows`), and in the others how many
        /// primitives it has.
        pub shadows_primitive_count: u32 as "m_NumPrims",
        /// Its first primitive; it has no meaning if there are none.
        pub first_primitive: u32 as "firstPrimID" =>
            optional_run_of("PRIMITIVES", Count::bits("shadows_primitive_count", u32::MAX, 1)),
        /// Smoothing groups, a bit each.
        pub smoothing_groups: u32,
    }

    /// `dface_t` of the original faces, whose texinfo may be out of range, as in earlier versions.
    pub struct OriginalFace(72) {
        ..Face with { texinfo: TEXINFO_OF_FACES, original_face: Meaning::Plain, first_primitive: Meaning::Plain },
    }

    /// A number of the faceids lump (`dfaceid_t`).
    pub struct FaceId(4) {
        /// The side's id in the editor.
        pub id: u32 as "hammerfaceid",
    }

    /// A number of the facebrushes lump.
    pub struct FaceBrush(4) {
        /// The brush's index.
        pub brush: u32 => index("BRUSHES"),
    }

    /// `dfacebrushlist_t`.
    pub struct FaceBrushList(8) {
        /// How many brushes made the face.
        pub count: u32 as "m_nFaceBrushCount",
        /// For one brush its index, all bits set for a displacement; for several the first index in lump 22.
        pub first: u32 as "m_nFaceBrushStart" => brushes_of_face(0xFFFF_FFFF),
    }

    /// `dprimitive_t`: triangles of a face that its edges do not give.
    pub struct Primitive(20) {
        /// 0 for a list of triangles, 1 for a strip.
        pub kind: u8 as "type",
        /// Of no meaning.
        pub padding: [u8; 3],
        /// Its first index.
        pub first_index: u32 as "firstIndex" => run("PRIMINDICES", "index_count"),
        /// How many indices it has.
        pub index_count: u32 as "indexCount",
        /// Its first vertex.
        pub first_vertex: u32 as "firstVert" => run("PRIMVERTS", "vertex_count"),
        /// How many vertexes it has of its own.
        pub vertex_count: u32 as "vertCount",
    }

    /// A number of the primindices lump.
    pub struct PrimIndex(4) {
        /// A vertex, counted from the first one of the face.
        pub vertex: u32,
    }

    /// `dbrushside_t`.
    pub struct BrushSide(16) {
        /// Its plane, facing out.
        pub plane: u32 as "planenum" => index("PLANES"),
        /// Its texture, -1 for none.
        pub texinfo: i32 => index_or_none("TEXINFO"),
        /// 0, and no link to a displacement.
        pub displacement: i32 as "dispinfo",
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

impl Face {
    /// How many primitives it has, from [`Self::first_primitive`] on.
    pub fn primitives(&self) -> u32 {
        self.shadows_primitive_count >> 1
    }

    /// Whether dynamic shadows leave it out. The bit says the opposite of what it says in other versions.
    pub fn has_no_dynamic_shadows(&self) -> bool {
        self.shadows_primitive_count & 1 == 0
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
