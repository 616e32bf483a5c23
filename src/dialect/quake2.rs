//! Quake II, version 38, and Kingpin, whose maps are the same container (qfiles.h of the Quake II source).

use super::light::{self, Averages, FaceForm, FaceLight, LightModel, TextureForm, TextureLight};
pub use super::shared::{Edge, Face, Plane, SurfEdge, Vertex};
use super::{
    Dialect, EntityRules, Game, Lump, Magic, Role, Row, VisModel, bspx, checks, classes, follow, keys, lump, only,
};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{FlagKind, FlagNames, Meaning, Name, in_turn, index, index_or_none, planes, records, set};

/// Quake II.
pub static QUAKE2: Dialect = Dialect {
    name: "quake2",
    title: "Quake II",
    magic: Magic::Ident(*b"IBSP"),
    versions: &[38],
    shapes: &[DirectoryShape { first: 8, count: 19, entry: EntryShape::Plain, trailing: 0 }],
    lumps: &LUMPS,
    rows: &[SAME, NARROW, ROWS, bspx::COLOR],
    games: &[
        Game { name: "quake2", title: "Quake II", versions: &[], flags: QUAKE2_FLAGS },
        Game { name: "kingpin", title: "Kingpin", versions: &[], flags: KINGPIN_FLAGS },
    ],
    entity_references: follow::QUAKE2_ENTITIES,
    class_rules: &classes::QUAKE2,
    owned: follow::OWNED_OF_QUAKE2,
    rules: Rules {
        // id's qbsp3, qvis3 and qrad3.
        write_order: &[1, 8, 2, 4, 5, 6, 14, 15, 9, 10, 12, 11, 13, 17, 18, 7, 3, 0, 16],
        ..Rules::PLAIN
    },
    light: LightModel::Faces(&LIGHT),
    text: EntityRules::QUAKE2,
    visibility: VisModel::Clusters,
    opaque_game_lumps: &[],
    compression_caveats: &[],
    bare_paks: &[],
    revision_at: None,
    checksums: &[checks::of_file("quake2", "Quake II", true), checks::ENTITY_KEY],
    beside: &[super::beside::QUAKE2],
    checks: &super::limits::QUAKE2,
    preferred_to: None,
    probe: |_, dialect| Some(dialect.shapes[0]),
};

pub(super) const LUMPS: [Lump; 19] = [
    lump("ENTITIES", Role::Entities),
    lump("PLANES", Role::Planes),
    lump("VERTEXES", Role::Vertexes),
    lump("VISIBILITY", Role::Visibility),
    lump("NODES", Role::Nodes),
    lump("TEXINFO", Role::TexInfo),
    lump("FACES", Role::Faces),
    lump("LIGHTING", Role::Lighting),
    lump("LEAFS", Role::Leafs),
    lump("LEAFFACES", Role::LeafFaces),
    lump("LEAFBRUSHES", Role::LeafBrushes),
    lump("EDGES", Role::Edges),
    lump("SURFEDGES", Role::SurfEdges),
    lump("MODELS", Role::Models),
    lump("BRUSHES", Role::Brushes),
    lump("BRUSHSIDES", Role::BrushSides),
    only("POP"),
    lump("AREAS", Role::Areas),
    lump("AREAPORTALS", Role::AreaPortals),
];

keys! {
    PLANES: Plane = "Lump 1.",
    VERTEXES: Vertex = "Lump 2.",
    NODES: Node = "Lump 4.",
    TEXINFO: TexInfo = "Lump 5.",
    FACES: Face = "Lump 6.",
    LEAFS: Leaf = "Lump 8.",
    LEAFFACES: LeafFace = "Lump 9.",
    LEAFBRUSHES: LeafBrush = "Lump 10.",
    EDGES: Edge = "Lump 11.",
    SURFEDGES: SurfEdge = "Lump 12.",
    MODELS: Model = "Lump 13.",
    BRUSHES: Brush = "Lump 14.",
    BRUSHSIDES: BrushSide = "Lump 15.",
    AREAS: Area = "Lump 17.",
    AREAPORTALS: AreaPortal = "Lump 18.",
}

/// Rows that maps with indices of 32 bits have too, and Daikatana's.
pub(super) const SAME: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    PLANES.row().paired(),
    VERTEXES.row(),
    Row::lens("VISIBILITY", "visibility"),
    TEXINFO.row(),
    Row::lens("LIGHTING", "light"),
    SURFEDGES.row(),
    MODELS.row().fixed(1),
    // DarkPlaces; other engines go by the leafs alone.
    BRUSHES.row().stretched(),
    Row::lens("POP", "zeros"),
    AREAS.row().fixed(1),
    AREAPORTALS.row().fixed(1),
];

/// Rows with numbers of 16 bits, but for the leafs.
pub(super) const NARROW: &[Row] = &[
    NODES.row().fixed(1),
    FACES.row(),
    LEAFFACES.row().listed(),
    LEAFBRUSHES.row().listed(),
    EDGES.row().fixed(1),
    BRUSHSIDES.row(),
];

const ROWS: &[Row] = &[LEAFS.row().fixed(1)];

/// `SURF_SKY`: it has no light; the compilers leave an offset of 0 there.
pub(super) const UNLIT: i32 = 4;

/// `SURF_WARP`: the first engines give liquids no light, and compilers of that time leave any offset there. Later ones
/// give them light, which Q2PRO (`nolm_mask`) and the engine of the remaster show.
pub(super) const UNREAD: i32 = 8;

const LIGHT: FaceLight = FaceLight {
    unread: UNREAD,
    ..light::by_extents(&[FaceForm::of::<Face>(Averages::None)], &[TextureForm::of::<TexInfo>()], UNLIT)
};

impl From<TexInfo> for TextureLight {
    fn from(texinfo: TexInfo) -> Self {
        TextureLight { vectors: texinfo.vectors, flags: texinfo.flags }
    }
}

records! {
    /// `dnode_t`.
    pub struct Node(28) {
        /// The plane that divides it.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face.
        pub first_face: u16 as "firstface" => set("FACES", "face_count"),
        /// How many faces lie on its plane, on both sides.
        pub face_count: u16 as "numfaces",
    }

    /// `texinfo_t`.
    pub struct TexInfo(76) {
        /// How s and t come from a point: x, y, z, offset, in texels.
        pub vectors: [[f32; 4]; 2] as "vecs",
        /// `SURF_` flags.
        pub flags: i32 => Meaning::Flags(FlagKind::Surface),
        /// The strength of its light.
        pub value: i32,
        /// The texture below `textures/`, without extension.
        pub texture: Name<32>,
        /// The next frame of its animation, -1 for none; engines take 0 for none too.
        pub next: i32 as "nexttexinfo" => Meaning::Next { lump: "TEXINFO" },
    }

    /// `dleaf_t`.
    pub struct Leaf(28) {
        /// `CONTENTS_` flags of all brushes in it.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
        /// Its cluster of the visibility lump, or -1.
        pub cluster: i16,
        /// Its area.
        pub area: i16 => index("AREAS"),
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face in the leaffaces.
        pub first_leaf_face: u16 as "firstleafface" => set("LEAFFACES", "leaf_face_count"),
        /// How many faces it sees.
        pub leaf_face_count: u16 as "numleaffaces",
        /// Its first brush in the leafbrushes.
        pub first_leaf_brush: u16 as "firstleafbrush" => set("LEAFBRUSHES", "leaf_brush_count"),
        /// How many brushes reach into it.
        pub leaf_brush_count: u16 as "numleafbrushes",
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

    /// `dmodel_t`: the world, then the models that entities name `*1`, `*2` and so on.
    pub struct Model(48) {
        /// Its box.
        pub mins: [f32; 3],
        /// Its box.
        pub maxs: [f32; 3],
        /// 0 from id's tools.
        pub origin: [f32; 3],
        /// Its tree: a node, or the leaf `-1 - head_node`.
        pub head_node: i32 as "headnode" => Meaning::Child,
        /// Its first face.
        pub first_face: i32 as "firstface" => in_turn("FACES", "face_count"),
        /// How many faces it has.
        pub face_count: i32 as "numfaces",
    }

    /// `dbrush_t`.
    pub struct Brush(12) {
        /// Its first side.
        pub first_side: i32 as "firstside" => planes("BRUSHSIDES", "side_count", 0),
        /// How many sides it has.
        pub side_count: i32 as "numsides",
        /// `CONTENTS_` flags.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
    }

    /// `dbrushside_t`.
    pub struct BrushSide(4) {
        /// Its plane, facing out.
        pub plane: u16 as "planenum" => index("PLANES"),
        /// Its texture, -1 for none, as on most maps some have.
        pub texinfo: i16 => index_or_none("TEXINFO"),
    }

    /// `darea_t`. The first one is not used.
    pub struct Area(8) {
        /// How many portals lead out of it.
        pub portal_count: i32 as "numareaportals",
        /// The first of them.
        pub first_portal: i32 as "firstareaportal" => set("AREAPORTALS", "portal_count"),
    }

    /// `dareaportal_t`. The first one is not used. Each portal has two entries, one per side.
    pub struct AreaPortal(8) {
        /// The number by which its `func_areaportal` opens it.
        pub portal: i32 as "portalnum",
        /// The area it leads to.
        pub other_area: i32 as "otherarea" => index("AREAS"),
    }
}

const CONTENTS: &[(u32, &str)] = &[
    (1, "SOLID"),
    (2, "WINDOW"),
    (4, "AUX"),
    (8, "LAVA"),
    (0x10, "SLIME"),
    (0x20, "WATER"),
    (0x40, "MIST"),
    // The re-release.
    (0x2000, "NO_WATERJUMP"),
    (0x4000, "PROJECTILECLIP"),
    (0x8000, "AREAPORTAL"),
    (0x1_0000, "PLAYERCLIP"),
    (0x2_0000, "MONSTERCLIP"),
    (0x4_0000, "CURRENT_0"),
    (0x8_0000, "CURRENT_90"),
    (0x10_0000, "CURRENT_180"),
    (0x20_0000, "CURRENT_270"),
    (0x40_0000, "CURRENT_UP"),
    (0x80_0000, "CURRENT_DOWN"),
    (0x100_0000, "ORIGIN"),
    (0x200_0000, "MONSTER"),
    (0x400_0000, "DEADMONSTER"),
    (0x800_0000, "DETAIL"),
    (0x1000_0000, "TRANSLUCENT"),
    (0x2000_0000, "LADDER"),
];

pub(super) const SURFACE: &[(u32, &str)] = &[
    (1, "LIGHT"),
    (2, "SLICK"),
    (4, "SKY"),
    (8, "WARP"),
    (0x10, "TRANS33"),
    (0x20, "TRANS66"),
    (0x40, "FLOWING"),
    (0x80, "NODRAW"),
    (0x100, "HINT"),
    (0x200, "SKIP"),
    // The re-release and KMQuake II.
    (0x200_0000, "ALPHATEST"),
    (0x1000_0000, "N64_UV"),
    (0x2000_0000, "SCROLLX"),
    (0x4000_0000, "SCROLLY"),
    (0x8000_0000, "SCROLLFLIP"),
];

const QUAKE2_FLAGS: FlagNames = &[(FlagKind::Contents, CONTENTS), (FlagKind::Surface, SURFACE)];

/// The header of Kingpin's SDK.
const KINGPIN_FLAGS: FlagNames = &[
    (FlagKind::Contents, CONTENTS),
    (
        FlagKind::Surface,
        &[
            (1, "LIGHT"),
            (2, "SLICK"),
            (4, "SKY"),
            (8, "WARP"),
            (0x10, "TRANS33"),
            (0x20, "TRANS66"),
            (0x40, "FLOWING"),
            (0x80, "NODRAW"),
            (0x100, "BURNT"),
            (0x400, "SPECULAR"),
            (0x800, "DIFFUSE"),
            (0x1000, "ALPHA"),
            (0x2000, "MIRROR"),
            (0x4000, "WNDW33"),
            (0x8000, "WNDW64"),
            (0x8_0000, "WATER"),
            (0x10_0000, "CONCRETE"),
            (0x20_0000, "FABRIC"),
            (0x40_0000, "GRAVEL"),
            (0x80_0000, "METAL"),
            (0x100_0000, "METAL_L"),
            (0x200_0000, "SNOW"),
            (0x400_0000, "TILE"),
            (0x800_0000, "WOOD"),
            (0x1000_0000, "REFLECT_FAKE"),
            (0x2000_0000, "REFLECT_LIGHT"),
        ],
    ),
];
