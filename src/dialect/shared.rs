//! Records that are the same in several dialects.

use super::LitFace;
use crate::record::{Meaning, index, records, run, set};

records! {
    /// `dplane_t`: a point p is in front of it if `normal * p - distance > 0`.
    pub struct Plane(20) {
        /// The direction it faces, of length 1.
        pub normal: [f32; 3],
        /// Its distance from the origin in units.
        pub distance: f32 as "dist",
        /// 0 to 2: the normal is along x, y or z; 3 to 5: mostly along it.
        pub kind: i32 as "type",
    }

    /// `dvertex_t`: a corner of faces.
    pub struct Vertex(12) {
        /// Where it is, in units.
        pub point: [f32; 3],
    }

    /// `dedge_t`: a line between two vertexes. The first one of a map is not used.
    pub struct Edge(4) {
        /// Its ends.
        pub vertexes: [u16; 2] as "v" => index("VERTEXES"),
    }

    /// A number of the surfedges lump: an edge; if negative, from its second end to its first.
    pub struct SurfEdge(4) {
        /// The edge's index, or that times -1.
        pub edge: i32 => Meaning::Signed { lump: "EDGES" },
    }

    /// `dface_t`. Seen from its front its vertexes run clockwise.
    pub struct Face(20) {
        /// The plane it lies on.
        pub plane: u16 as "planenum" => index("PLANES"),
        /// Other than 0 where it faces against its plane.
        pub side: i16,
        /// Its first edge in the surfedges.
        pub first_edge: i32 as "firstedge" => run("SURFEDGES", "edge_count"),
        /// How many edges it has.
        pub edge_count: i16 as "numedges",
        /// How its texture lies.
        pub texinfo: i16 => index("TEXINFO"),
        /// The styles of its light; 255 ends them.
        pub styles: [u8; 4],
        /// The offset of its light in the lighting lump, in bytes; -1 for none. Some compilers write 0 for none.
        pub light_offset: i32 as "lightofs" => Meaning::Offset { lump: "LIGHTING" },
    }

    /// A face with numbers of 32 bits: `bsp2_dface_t` of BSP2, `dface_tx` of Qbism.
    pub struct WideFace(28) {
        /// The plane it lies on.
        pub plane: u32 as "planenum" => index("PLANES"),
        /// Other than 0 where it faces against its plane.
        pub side: i32,
        /// Its first edge in the surfedges.
        pub first_edge: i32 as "firstedge" => run("SURFEDGES", "edge_count"),
        /// How many edges it has.
        pub edge_count: i32 as "numedges",
        /// How its texture lies.
        pub texinfo: i32 => index("TEXINFO"),
        /// The styles of its light; 255 ends them.
        pub styles: [u8; 4],
        /// Where in the lighting lump its light begins, in bytes; -1 for none.
        pub light_offset: i32 as "lightofs" => Meaning::Offset { lump: "LIGHTING" },
    }

    /// An edge with numbers of 32 bits. The first one of a map is not used.
    pub struct WideEdge(8) {
        /// Its ends.
        pub vertexes: [u32; 2] as "v" => index("VERTEXES"),
    }

    /// A number of 32 bits of the marksurfaces lump.
    pub struct WideMarkSurface(4) {
        /// The face's index.
        pub face: u32 => index("FACES"),
    }

    /// `bsp2_dclipnode_t`: a node of the collision hulls of all models.
    pub struct WideClipNode(12) {
        /// The plane that divides it.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a clip node, or if negative the contents of the volume.
        pub children: [i32; 2] => Meaning::Branch { lump: "CLIPNODES" },
    }

    /// `bsp2_dnode_t` of BSP2, `dnode_tx` of Qbism.
    pub struct WideNode(44) {
        /// The plane that divides it.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [f32; 3],
        /// Its box, for culling.
        pub maxs: [f32; 3],
        /// Its first face.
        pub first_face: u32 as "firstface" => set("FACES", "face_count"),
        /// How many faces lie on its plane, on both sides.
        pub face_count: u32 as "numfaces",
    }
}

impl From<WideFace> for LitFace {
    fn from(face: WideFace) -> Self {
        let [a, b, c, d] = face.styles;
        LitFace {
            first_edge: face.first_edge,
            edge_count: face.edge_count,
            texinfo: face.texinfo,
            styles: [a, b, c, d, 255, 255, 255, 255],
            offset: face.light_offset,
            size: None,
        }
    }
}

impl From<Face> for LitFace {
    fn from(face: Face) -> Self {
        let [a, b, c, d] = face.styles;
        LitFace {
            first_edge: face.first_edge,
            edge_count: face.edge_count.into(),
            texinfo: face.texinfo.into(),
            styles: [a, b, c, d, 255, 255, 255, 255],
            offset: face.light_offset,
            size: None,
        }
    }
}
