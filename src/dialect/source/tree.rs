//! The tree, its leafs, and the areas.

use super::fit::{leafs_of_this_size, nodes_of_this_size, with_known_faces};
use super::light::ColorRgbExp32;
use crate::dialect::shared::Vertex;
use crate::dialect::{Each, Key, Row, keys};
use crate::record::{FlagKind, Meaning, index, index_or_none, records, run, set};

keys! {
    NODES: Node = "Lump 5.",
    LEAFS: Leaf = "Lump 10, version 1, and version 0 of maps before version 19.",
    LEAFFACES: LeafFace = "Lump 16. Displacements are in no leaf.",
    LEAFBRUSHES: LeafBrush = "Lump 17.",
    AREAS: Area = "Lump 20.",
    AREAPORTALS: AreaPortal = "Lump 21.",
    LEAFWATERDATA: LeafWaterData = "Lump 36.",
    CLIPPORTALVERTS: Vertex = "Lump 41.",
    LEAFMINDISTTOWATER: LeafMinDistToWater = "Lump 46: one for each leaf.",
}

/// Lump 10, version 0, of maps from version 19 on: leafs with light in them.
pub const LEAFS_V0: Key<LeafV0> = Key::new("LEAFS");

pub(super) const ROWS: &[Row] = &[
    Row::lens("VISIBILITY", "visibility"),
    NODES.row().fixed(1).summed(nodes_of_this_size),
    LEAFS.row().fixed(1).versions(&[1]).summed(leafs_of_this_size),
    LEAFS_V0.row().fixed(1).versions(&[0]).summed(leafs_of_this_size),
    LEAFFACES.row().listed().proved(with_known_faces),
    LEAFBRUSHES.row().listed().proved(with_known_faces),
    AREAS.row().fixed(1),
    AREAPORTALS.row().fixed(1).proved(with_known_faces),
    LEAFWATERDATA.row(),
    CLIPPORTALVERTS.row(),
    LEAFMINDISTTOWATER.row().parallel("LEAFS", Each::One, &[0xFF]),
];

/// Declares structs of leafs, which differ in their last fields.
macro_rules! leafs {
    ($($(#[$meta:meta])* $name:ident($size:literal) { $($end:tt)* })* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
                    /// `CONTENTS_` flags of all brushes in it.
                    pub contents: i32 => Meaning::Flags(FlagKind::Contents),
                    /// Its cluster of the visibility lump, or -1.
                    pub cluster: i16,
                    /// Its area in the low 9 bits, `LEAF_FLAGS_` in the others.
                    pub area_flags: u16 => Meaning::Bits { lump: "AREAS", mask: 0x1FF },
                    /// Its box, for culling.
                    pub mins: [i16; 3],
                    /// Its box, for culling.
                    pub maxs: [i16; 3],
                    /// Its first face in the leaffaces.
                    pub first_leaf_face: u16 as "firstleafface" => set("LEAFFACES", "leaf_face_count"),
                    /// How many faces it has.
                    pub leaf_face_count: u16 as "numleaffaces",
                    /// Its first brush in the leafbrushes.
                    pub first_leaf_brush: u16 as "firstleafbrush" => set("LEAFBRUSHES", "leaf_brush_count"),
                    /// How many brushes reach into it.
                    pub leaf_brush_count: u16 as "numleafbrushes",
                    /// Its water, -1 for none.
                    pub water: i16 as "leafWaterDataID" => index_or_none("LEAFWATERDATA"),
                    $($end)*
                    /// 0 from Valve's tools.
                    pub padding: u16,
                }
            )*
            $($rest)*
        }

        $(impl $name {
            /// Its area.
            pub fn area(&self) -> u16 {
                self.area_flags & 0x1FF
            }

            /// Its `LEAF_FLAGS_`: 1 where it sees the sky.
            pub fn flags(&self) -> u16 {
                self.area_flags >> 9
            }

            /// Sets the area; only the low 9 bits are used.
            pub fn set_area(&mut self, area: u16) {
                self.area_flags = self.area_flags & !0x1FF | area & 0x1FF;
            }

            /// Sets the `LEAF_FLAGS_`; only the low 7 bits are used.
            pub fn set_flags(&mut self, flags: u16) {
                self.area_flags = self.area_flags & 0x1FF | flags << 9;
            }
        })*
    };
}

leafs! {
    /// `dleaf_t`. The first one of a map is solid and not part of any tree. It has cluster 0 nevertheless.
    Leaf(32) {}

    /// `dleaf_version_0_t`: a leaf with its ambient light.
    LeafV0(56) {
        /// Its ambient light, from the directions x, -x, y, -y, z, -z.
        pub ambient: [ColorRgbExp32; 6] as "m_AmbientLighting",
    }

    => {
    /// `dnode_t`.
    pub struct Node(32) {
        /// The plane that divides it, an even number.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face.
        pub first_face: u16 as "firstface" => set("FACES", "face_count"),
        /// How many faces lie on its plane.
        pub face_count: u16 as "numfaces",
        /// The area of all leafs below it, or -1.
        pub area: i16 => index_or_none("AREAS"),
        /// 0.
        pub padding: i16,
    }

    /// A number of the leaffaces lump.
    pub struct LeafFace(2) {
        /// The face's index.
        pub face: u16 => index("FACES"),
    }

    /// A number of the leafbrushes lump.
    pub struct LeafBrush(2) {
        /// The brush's index.
        pub brush: u16 => index("BRUSHES"),
    }

    /// `darea_t`. The first one is not used.
    pub struct Area(8) {
        /// How many portals lead out of it.
        pub portal_count: i32 as "numareaportals",
        /// The first of them.
        pub first_portal: i32 as "firstareaportal" => set("AREAPORTALS", "portal_count"),
    }

    /// `dareaportal_t`. The first one is not used. Each portal has two entries, one per side.
    pub struct AreaPortal(12) {
        /// The `portalnumber` of the `func_areaportal` that opens it.
        pub key: u16 as "m_PortalKey",
        /// The area it leads to.
        pub other_area: u16 as "otherarea" => index("AREAS"),
        /// Its first corner.
        pub first_vertex: u16 as "m_FirstClipPortalVert" => run("CLIPPORTALVERTS", "vertex_count"),
        /// How many corners it has.
        pub vertex_count: u16 as "m_nClipPortalVerts",
        /// The plane it lies on.
        pub plane: i32 as "planenum" => index("PLANES"),
    }

    /// `dleafwaterdata_t`.
    pub struct LeafWaterData(12) {
        /// The height of its surface.
        pub surface_z: f32 as "surfaceZ",
        /// The height of its ground.
        pub min_z: f32 as "minZ",
        /// The texture of its surface.
        pub surface_texinfo: i16 as "surfaceTexInfoID" => index_or_none("TEXINFO"),
        /// 0.
        pub padding: u16,
    }

    /// A number of the leafmindisttowater lump.
    pub struct LeafMinDistToWater(2) {
        /// The distance of the nearest water in units; 65535 if no water is visible.
        pub distance: u16,
    }
    }
}
