//! Records that several dialects share to the last byte.

use crate::record::{index, records};

records! {
    /// `dplane_t`: a point p lies in front where `normal * p - distance > 0`.
    pub struct Plane(20) {
        /// The direction it faces, of length 1.
        pub normal: [f32; 3],
        /// Its distance from the origin in units (`dist`).
        pub distance: f32,
        /// 0 to 2: the normal lies along x, y or z; 3 to 5: mostly along it (`type`).
        pub kind: i32,
    }

    /// `dvertex_t`: a corner of faces.
    pub struct Vertex(12) {
        /// Where it is, in units.
        pub point: [f32; 3],
    }

    /// `dedge_t`: a line between two vertexes. The first one of a map stands for nothing.
    pub struct Edge(4) {
        /// Its ends (`v`).
        pub vertexes: [u16; 2] => index("VERTEXES"),
    }

    /// A number of the surfedges lump: an edge, from its second end to its first one where the number is negative.
    pub struct SurfEdge(4) {
        /// The edge's index, or that times -1.
        pub edge: i32,
    }
}
