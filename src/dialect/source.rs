//! Source, versions 18 to 20: Half-Life 2, Episode One, the Orange Box and everything built on them (bspfile.h of the
//! Source SDK 2013), with Dark Messiah, which writes its version as two numbers of 16 bits.

mod details;
mod displacement;
mod faces;
pub(super) mod fit;
pub(super) mod geometry;
pub(super) mod light;
pub(crate) mod physics;
mod props;
mod surface;
pub(super) mod tree;

pub use super::shared::{Edge, Plane, SurfEdge, Vertex};
use super::{
    Checks, Dialect, EntityRules, Game, LightModel, Lump, Magic, Role, Row, VisModel, checks, classes, follow, limits,
    lump, only,
};
use crate::file::directory::{DirectoryShape, EntryFields, EntryShape};
use crate::file::{Alignment, Rules};
pub(super) use details::of_version;
pub use details::*;
pub use displacement::*;
pub(super) use displacement::{disp_infos, displacements};
pub use faces::*;
pub use geometry::*;
pub(super) use light::samples;
pub use light::*;
use props::props_fit;
pub use props::*;
pub(super) use surface::LATE as LATE_FLAGS;
pub use surface::*;
pub use tree::*;

/// Source before version 21.
pub static SOURCE: Dialect = Dialect {
    name: "source",
    title: "Source",
    magic: Magic::Ident(*b"VBSP"),
    versions: &[18, 19, 20, DARK_MESSIAH],
    shapes: &[DirectoryShape { first: 8, count: 64, entry: EntryShape::Source, trailing: 4 }],
    lumps: &LUMPS,
    rows: &ROWS,
    games: &[
        Game { name: "source", title: "Source", versions: &[20, DARK_MESSIAH], flags: surface::USUAL },
        Game { name: "source19", title: "Source before Episode One", versions: &[17, 18, 19], flags: surface::EARLY },
    ],
    entity_references: follow::SOURCE_ENTITIES,
    class_rules: &classes::SOURCE,
    owned: follow::OWNED_OF_SOURCE,
    rules: Rules {
        game_lump: Some(35),
        trailer_lump: Some(0),
        alignments: &[
            // bspzip -repack and console maps put the pakfile at a multiple of 2048.
            Alignment { lump: 40, bytes: 2048, only_if_it_stood_so: true },
            Alignment { lump: 62, bytes: 16, only_if_it_stood_so: false },
        ],
        // The order of vbsp, vvis and vrad; 32 and 49 are where old tools put them.
        write_order: &[
            1, 10, 56, 52, 51, 55, 3, 5, 6, 2, 26, 33, 48, 34, 47, 37, 38, 39, 7, 58, 11, 27, 18, 19, 16, 17, 13, 12,
            14, 20, 21, 8, 53, 4, 0, 15, 54, 32, 36, 9, 59, 41, 42, 43, 44, 45, 50, 60, 29, 49, 28, 30, 31, 46, 35, 40,
        ],
        ..Rules::PLAIN
    },
    light: LightModel::Faces(&light::LIGHT),
    text: EntityRules::SOURCE,
    visibility: VisModel::Clusters,
    opaque_game_lumps: &[(DARK_MESSIAH, "Dark Messiah's directory of it is laid out in another way")],
    compression_caveats: &[
        (18, NEVER_COMPRESSED),
        (19, NEVER_COMPRESSED),
        // Only engines since 2013, and only those of the multiplayer games, read them; the file does not say which game
        // it is for.
        (
            20,
            "Team Fortress 2, Counter-Strike: Source, Day of Defeat: Source and Half-Life 2: Deathmatch read \
             compressed lumps and files; single-player games with maps of this version do not, and the map does not \
             say which game it is for",
        ),
        (DARK_MESSIAH, NEVER_COMPRESSED),
    ],
    bare_paks: &[18, 19],
    revision_at: Some(1032),
    checksums: &[checks::SOURCE, checks::SOURCE_MD5],
    beside: &[super::beside::SOURCE],
    checks: &CHECKS,
    preferred_to: None,
    probe: |_, dialect| Some(dialect.shapes[0]),
};

pub(super) const CHECKS: Checks =
    Checks { is_usual: fit::is_usual, members: &[("game:sprp", props_fit)], ..limits::SOURCE };

/// For versions older than compression.
pub(super) const NEVER_COMPRESSED: &str =
    "the games with maps of this version are not known to read compressed lumps or files";

const DARK_MESSIAH: i32 = 0x0004_0014;

/// What is known of the lumps; relatives put their own rows before these.
const ROWS: [&[Row]; 9] = [
    DARK_MESSIAHS,
    geometry::ROWS,
    faces::ROWS,
    tree::ROWS,
    light::ROWS,
    displacement::ROWS,
    surface::ROWS,
    props::ROWS,
    details::ROWS,
];

/// A relative's own rows and these.
pub(super) const fn rows_behind<const N: usize>(own: &[&'static [Row]]) -> [&'static [Row]; N] {
    let mut rows = [ROWS[0]; N];
    let mut at = 0;
    while at < N {
        rows[at] = if at < own.len() { own[at] } else { ROWS[at - own.len()] };
        at += 1;
    }
    rows
}

/// What else is different is not published; the counts in the models are different too.
const DARK_MESSIAHS: &[Row] = &[
    Row::opaque("MODELS", "Dark Messiah's models are said to have 52 bytes, which no known map has")
        .maps(&[DARK_MESSIAH]),
    Row::opaque("TEXINFO", "Dark Messiah's texinfo is said to have 96 bytes, which no known map has")
        .maps(&[DARK_MESSIAH]),
];

pub(super) const LUMPS: [Lump; 64] = [
    lump("ENTITIES", Role::Entities),
    lump("PLANES", Role::Planes),
    lump("TEXDATA", Role::Textures),
    lump("VERTEXES", Role::Vertexes),
    lump("VISIBILITY", Role::Visibility),
    lump("NODES", Role::Nodes),
    lump("TEXINFO", Role::TexInfo),
    lump("FACES", Role::Faces),
    lump("LIGHTING", Role::Lighting),
    only("OCCLUSION"),
    lump("LEAFS", Role::Leafs),
    only("FACEIDS"),
    lump("EDGES", Role::Edges),
    lump("SURFEDGES", Role::SurfEdges),
    lump("MODELS", Role::Models),
    only("WORLDLIGHTS"),
    lump("LEAFFACES", Role::LeafFaces),
    lump("LEAFBRUSHES", Role::LeafBrushes),
    lump("BRUSHES", Role::Brushes),
    lump("BRUSHSIDES", Role::BrushSides),
    lump("AREAS", Role::Areas),
    lump("AREAPORTALS", Role::AreaPortals),
    only("UNUSED0"),
    only("UNUSED1"),
    only("UNUSED2"),
    only("UNUSED3"),
    only("DISPINFO"),
    only("ORIGINALFACES"),
    only("PHYSDISP"),
    only("PHYSCOLLIDE"),
    only("VERTNORMALS"),
    only("VERTNORMALINDICES"),
    only("DISP_LIGHTMAP_ALPHAS"),
    only("DISP_VERTS"),
    only("DISP_LIGHTMAP_SAMPLE_POSITIONS"),
    lump("GAME_LUMP", Role::GameLump),
    only("LEAFWATERDATA"),
    only("PRIMITIVES"),
    only("PRIMVERTS"),
    only("PRIMINDICES"),
    lump("PAKFILE", Role::Pak),
    only("CLIPPORTALVERTS"),
    only("CUBEMAPS"),
    only("TEXDATA_STRING_DATA"),
    only("TEXDATA_STRING_TABLE"),
    only("OVERLAYS"),
    only("LEAFMINDISTTOWATER"),
    only("FACE_MACRO_TEXTURE_INFO"),
    only("DISP_TRIS"),
    only("PHYSCOLLIDESURFACE"),
    only("WATEROVERLAYS"),
    only("LEAF_AMBIENT_INDEX_HDR"),
    only("LEAF_AMBIENT_INDEX"),
    only("LIGHTING_HDR"),
    only("WORLDLIGHTS_HDR"),
    only("LEAF_AMBIENT_LIGHTING_HDR"),
    only("LEAF_AMBIENT_LIGHTING"),
    only("XZIPPAKFILE"),
    only("FACES_HDR"),
    only("MAP_FLAGS"),
    only("OVERLAY_FADES"),
    only("OVERLAY_SYSTEM_LEVELS"),
    only("PHYSLEVEL"),
    only("DISP_MULTIBLEND"),
];

/// The lumps, some of them with another name.
pub(super) const fn renamed<const N: usize>(names: [(usize, &'static str); N]) -> [Lump; 64] {
    let mut lumps = LUMPS;
    let mut at = 0;
    while at < N {
        lumps[names[at].0] = only(names[at].1);
        at += 1;
    }
    lumps
}

/// How plausible the entries of a directory are: an entry with bytes after the header counts for it, another one
/// against it. The end of the file is not considered, since files may be cut off.
pub(super) fn plausible(bytes: &[u8], shape: DirectoryShape) -> isize {
    let vote = |entry: EntryFields| match (usize::try_from(entry.offset), usize::try_from(entry.length)) {
        (_, Ok(0)) => 0,
        (Ok(offset), Ok(_)) if offset >= shape.header_size() => 1,
        _ => -1,
    };
    shape.entries(bytes).map(vote).sum()
}
