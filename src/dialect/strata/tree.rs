//! The tree, its leafs with their light, and the areas.

use super::{leafs_of_this_size, nodes_of_this_size, one_a_leaf, samples, with_known_faces};
use crate::dialect::source::{HDR_SAMPLES, LEAF_AMBIENT_LIGHTING, LEAF_AMBIENT_LIGHTING_HDR, SAMPLES_OF_LEAF};
use crate::dialect::{Each, Row, keys};
use crate::record::{FlagKind, Meaning, index, index_or_none, records, run, set};

keys! {
    NODES: Node = "Lump 5.",
    LEAFS: Leaf = "Lump 10, version 2.",
    LEAFFACES: LeafFace = "Lump 16. Displacements are in no leaf.",
    LEAFBRUSHES: LeafBrush = "Lump 17.",
    AREAPORTALS: AreaPortal = "Lump 21.",
    LEAFWATERDATA: LeafWaterData = "Lump 36.",
    LEAF_AMBIENT_INDEX: LeafAmbientIndex = "Lump 52: one for each leaf.",
    LEAF_AMBIENT_INDEX_HDR: LeafAmbientIndex = "Lump 51: one for each leaf.",
}

pub(super) const ROWS: &[Row] = &[
    NODES.row().fixed(1).summed(nodes_of_this_size),
    LEAFS.row().fixed(1).summed(leafs_of_this_size),
    LEAFFACES.row().listed().proved(with_known_faces),
    LEAFBRUSHES.row().listed().proved(with_known_faces),
    AREAPORTALS.row().fixed(1).proved(with_known_faces),
    LEAFWATERDATA.row().proved(with_known_faces),
    LEAF_AMBIENT_INDEX.row().parallel("LEAFS", Each::One, &[0]).proved(one_a_leaf),
    LEAF_AMBIENT_INDEX_HDR.row().parallel("LEAFS", Each::One, &[0]).instead(HDR_SAMPLES).proved(one_a_leaf),
    LEAF_AMBIENT_LIGHTING.row().proved(|facts, row| samples(facts, row, LEAF_AMBIENT_INDEX, samples_of)),
    LEAF_AMBIENT_LIGHTING_HDR.row().proved(|facts, row| samples(facts, row, LEAF_AMBIENT_INDEX_HDR, samples_of)),
];

fn samples_of(leaf: LeafAmbientIndex) -> i64 {
    leaf.count.into()
}

impl Leaf {
    /// Its area.
    pub fn area(&self) -> u32 {
        self.area_flags & AREA
    }

    /// Its `LEAF_FLAGS_`: 1 where it sees the sky.
    pub fn flags(&self) -> u32 {
        self.area_flags >> AREA.count_ones()
    }

    /// Gives it another area; of the number the low 17 bits.
    pub fn set_area(&mut self, area: u32) {
        self.area_flags = self.area_flags & !AREA | area & AREA;
    }

    /// Gives it other `LEAF_FLAGS_`; of the number the low 15 bits.
    pub fn set_flags(&mut self, flags: u32) {
        self.area_flags = self.area_flags & AREA | flags << AREA.count_ones();
    }
}

/// The bits of an area in [`Leaf::area_flags`].
const AREA: u32 = 0x1_FFFF;

records! {
    /// `dnode_t`.
    pub struct Node(48) {
        /// The plane that divides it, an even number.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [f32; 3],
        /// Its box, for culling.
        pub maxs: [f32; 3],
        /// Its first face.
        pub first_face: u32 as "firstface" => set("FACES", "face_count"),
        /// How many faces lie on its plane.
        pub face_count: u32 as "numfaces",
        /// The area that all below it are in, or -1.
        pub area: i16 => index_or_none("AREAS"),
        /// Of no meaning.
        pub padding: u16,
    }

    /// `dleaf_t`. The first one of a map is solid and not part of any tree. It has cluster 0 nevertheless.
    pub struct Leaf(56) {
        /// `CONTENTS_` flags of all brushes in it.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
        /// Its cluster of the visibility lump, or -1.
        pub cluster: i32,
        /// Its area in the low 17 bits, `LEAF_FLAGS_` in the others.
        pub area_flags: u32 => Meaning::Bits { lump: "AREAS", mask: AREA },
        /// Its box, for culling.
        pub mins: [f32; 3],
        /// Its box, for culling.
        pub maxs: [f32; 3],
        /// Its first face in the leaffaces.
        pub first_leaf_face: u32 as "firstleafface" => set("LEAFFACES", "leaf_face_count"),
        /// How many faces it has.
        pub leaf_face_count: u32 as "numleaffaces",
        /// Its first brush in the leafbrushes.
        pub first_leaf_brush: u32 as "firstleafbrush" => set("LEAFBRUSHES", "leaf_brush_count"),
        /// How many brushes reach into it.
        pub leaf_brush_count: u32 as "numleafbrushes",
        /// Its water, -1 for none.
        pub water: i32 as "leafWaterDataID" => index_or_none("LEAFWATERDATA"),
    }

    /// A number of the leaffaces lump.
    pub struct LeafFace(4) {
        /// The face's index.
        pub face: u32 => index("FACES"),
    }

    /// A number of the leafbrushes lump.
    pub struct LeafBrush(4) {
        /// The brush's index.
        pub brush: u32 => index("BRUSHES"),
    }

    /// `dareaportal_t`. The first one is not used. Each portal has two entries, one per side.
    pub struct AreaPortal(20) {
        /// The `portalnumber` of the `func_areaportal` that opens it.
        pub key: u32 as "m_PortalKey",
        /// The area it leads to.
        pub other_area: u32 as "otherarea" => index("AREAS"),
        /// Its first corner.
        pub first_vertex: u32 as "m_FirstClipPortalVert" => run("CLIPPORTALVERTS", "vertex_count"),
        /// How many corners it has.
        pub vertex_count: u32 as "m_nClipPortalVerts",
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
        pub surface_texinfo: i32 as "surfaceTexInfoID" => index_or_none("TEXINFO"),
    }

    /// `dleafambientindex_t`.
    pub struct LeafAmbientIndex(8) {
        /// How many samples the leaf has.
        pub count: u32 as "ambientSampleCount",
        /// The first of them; where there are none, a leaf that has some.
        pub first: u32 as "firstAmbientSample" => SAMPLES_OF_LEAF,
    }
}
