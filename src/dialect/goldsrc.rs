//! GoldSrc, version 30: Half-Life and its kin (bspfile.h of the Half-Life SDK's compilers; ReHLDS).
//!
//! The file begins with the version, followed by 15 entries. Xash3D may add an extra header after them.

use super::light::{self, Averages, FaceForm, FaceLight, LightModel, TextureForm, TextureLight};
pub use super::shared::{Edge, Face, Plane, SurfEdge, Vertex};
use super::{
    Dialect, EntityRules, Game, LeafRows, Lump, Magic, Role, Row, VisModel, bspx, checks, classes, follow, keys, lump,
    xash,
};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{FlagKind, FlagNames, Meaning, in_turn, index, perhaps, records, set};

/// GoldSrc.
pub static GOLDSRC: Dialect = Dialect {
    name: "goldsrc",
    title: "GoldSrc",
    magic: Magic::VersionOnly,
    versions: &[30],
    shapes: &[DirectoryShape { first: 4, count: 15, entry: EntryShape::Plain, trailing: 0 }],
    lumps: &LUMPS,
    rows: &[ROWS, xash::ROWS, bspx::COLOR],
    games: &[
        Game { name: "goldsrc", title: "GoldSrc", versions: &[], flags: GOLDSRC_FLAGS },
        Game { name: "xash", title: "Xash3D", versions: &[], flags: XASH_FLAGS },
    ],
    entity_references: follow::TO_MODELS,
    class_rules: &classes::GOLDSRC,
    owned: follow::OWNED_OF_QUAKE,
    rules: Rules {
        extra_header: true,
        // The compilers of the HLT family and, before them, id's.
        write_order: &[1, 10, 3, 5, 6, 7, 9, 11, 13, 12, 14, 8, 4, 0, 2],
        ..Rules::PLAIN
    },
    light: LightModel::Faces(&LIGHT),
    text: EntityRules::GOLDSRC,
    visibility: VisModel::Leafs(LeafRows::GOLDSRC),
    opaque_game_lumps: &[],
    compression_caveats: &[],
    bare_paks: &[],
    revision_at: None,
    checksums: &[checks::GOLDSRC],
    beside: &[super::beside::GOLDSRC],
    checks: &super::limits::GOLDSRC,
    preferred_to: None,
    probe: |_, dialect| Some(dialect.shapes[0]),
};

pub(super) const LUMPS: [Lump; 15] = [
    lump("ENTITIES", Role::Entities),
    lump("PLANES", Role::Planes),
    lump("TEXTURES", Role::Textures),
    lump("VERTEXES", Role::Vertexes),
    lump("VISIBILITY", Role::Visibility),
    lump("NODES", Role::Nodes),
    lump("TEXINFO", Role::TexInfo),
    lump("FACES", Role::Faces),
    lump("LIGHTING", Role::Lighting),
    lump("CLIPNODES", Role::ClipNodes),
    lump("LEAFS", Role::Leafs),
    lump("MARKSURFACES", Role::LeafFaces),
    lump("EDGES", Role::Edges),
    lump("SURFEDGES", Role::SurfEdges),
    lump("MODELS", Role::Models),
];

// The numbers are those of GoldSrc; Blue Shift exchanges the first two.
keys! {
    PLANES: Plane = "Lump 1.",
    VERTEXES: Vertex = "Lump 3.",
    NODES: Node = "Lump 5.",
    TEXINFO: TexInfo = "Lump 6.",
    FACES: Face = "Lump 7.",
    CLIPNODES: ClipNode = "Lump 9.",
    LEAFS: Leaf = "Lump 10.",
    MARKSURFACES: MarkSurface = "Lump 11.",
    EDGES: Edge = "Lump 12.",
    SURFEDGES: SurfEdge = "Lump 13.",
    MODELS: Model = "Lump 14.",
}

const ROWS: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    PLANES.row(),
    Row::lens("TEXTURES", "textures"),
    VERTEXES.row(),
    Row::lens("VISIBILITY", "visibility"),
    NODES.row().fixed(1),
    TEXINFO.row().proved(|facts, _| match xash::is_extended(facts) {
        false => Ok(()),
        true => Err("its flags have 16 bits".to_owned()),
    }),
    FACES.row(),
    Row::lens("LIGHTING", "light"),
    CLIPNODES.row().proved(|facts, _| match xash::has_wide_clip_nodes(facts) {
        false => Ok(()),
        true => Err("its clip nodes have 12 bytes".to_owned()),
    }),
    LEAFS.row().fixed(1),
    MARKSURFACES.row().listed(),
    EDGES.row().fixed(1),
    SURFEDGES.row(),
    MODELS.row().fixed(1),
];

/// Faces with special textures have no light, though some tools leave an offset in them. Faces with Xash3D's flags for
/// luxels of other sizes are treated in the same way: their number of luxels is not computed here, and no map with them
/// was available.
const LIGHT: FaceLight = FaceLight {
    unsized_luxels: XASH_LUXELS,
    ..light::by_extents(
        &[FaceForm::of::<Face>(Averages::None)],
        &[TextureForm::of::<TexInfo>(), TextureForm::of::<xash::TexInfoXash>()],
        1 | XASH_LUXELS,
    )
};

const XASH_LUXELS: i32 = 2 | 4 | 8;

impl From<TexInfo> for TextureLight {
    fn from(texinfo: TexInfo) -> Self {
        TextureLight { vectors: texinfo.vectors, flags: texinfo.flags }
    }
}

records! {
    /// `dnode_t`.
    pub struct Node(24) {
        /// The plane that divides it.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i16; 2] => Meaning::Child,
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
    pub struct TexInfo(40) {
        /// How s and t come from a point: x, y, z, offset, in texels.
        pub vectors: [[f32; 4]; 2] as "vecs",
        /// The index of its texture in the texture lump's directory.
        pub texture: i32 as "miptex" => index("TEXTURES"),
        /// `TEX_` flags.
        pub flags: i32 => Meaning::Flags(FlagKind::Surface),
    }

    /// `dclipnode_t`: a node of the collision hulls of all models.
    pub struct ClipNode(8) {
        /// The plane that divides it.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a clip node, or if negative the contents of the volume.
        pub children: [i16; 2] => Meaning::Branch { lump: "CLIPNODES" },
    }

    /// `dleaf_t`. The first one is the solid leaf that all models share.
    pub struct Leaf(28) {
        /// What it holds, as a negative number: -1 empty, -2 solid, -3 water, -4 slime, -5 lava, -6 sky.
        pub contents: i32,
        /// Where in the visibility lump its row begins, in bytes; -1 for none, and 0 at the first leaf, which has none.
        pub visibility_offset: i32 as "visofs" => Meaning::Offset { lump: "VISIBILITY" },
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face in the marksurfaces.
        pub first_mark_surface: u16 as "firstmarksurface" => set("MARKSURFACES", "mark_surface_count"),
        /// How many faces it sees.
        pub mark_surface_count: u16 as "nummarksurfaces",
        /// How loud water, sky, slime and lava are.
        pub ambient_levels: [u8; 4] as "ambient_level",
    }

    /// A number of the marksurfaces lump.
    pub struct MarkSurface(2) {
        /// The face's index.
        pub face: u16 => index("FACES"),
    }

    /// `dmodel_t`: the world, then the models that entities name `*1`, `*2` and so on.
    pub struct Model(64) {
        /// Its box.
        pub mins: [f32; 3],
        /// Its box.
        pub maxs: [f32; 3],
        /// 0 from the known tools.
        pub origin: [f32; 3],
        /// Its tree: a node, or the leaf `-1 - head_node`.
        pub head_node: i32 as "headnode" => Meaning::Child,
        /// The first clip nodes of its three hulls (`headnode[1]` to `[3]`). For a missing hull real maps have -1 or
        /// the number of clip nodes; if the map has no clip nodes the values are arbitrary.
        pub clip_nodes: [i32; 3] => perhaps("CLIPNODES"),
        /// How many leafs it has without the first one; those of the world have rows of visibility.
        pub visible_leafs: i32 as "visleafs" => Meaning::Share { lump: "LEAFS", skip: 1 },
        /// Its first face.
        pub first_face: i32 as "firstface" => in_turn("FACES", "face_count"),
        /// How many faces it has.
        pub face_count: i32 as "numfaces",
    }
}

pub(super) const GOLDSRC_FLAGS: FlagNames = &[(FlagKind::Surface, &[(1, "SPECIAL")])];

/// The bits that xash3d-fwgs reads.
const XASH_FLAGS: FlagNames = &[(
    FlagKind::Surface,
    &[(1, "SPECIAL"), (2, "WORLD_LUXELS"), (4, "AXIAL_LUXELS"), (8, "EXTRA_LIGHTMAP"), (0x40, "SCROLL")],
)];
