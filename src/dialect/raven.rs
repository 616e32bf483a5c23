//! Raven's games, a relative of Quake III: Jedi Outcast, Jedi Academy, Soldier of Fortune II. Vertexes and surfaces
//! have light of four styles, and the light grid is an array of indices of distinct points (OpenJK; q3map2).
//!
//! SiN has the same ident and version, with lumps like those of Quake II. The two are distinguished by the sizes of the
//! lumps.

use super::light::{CornerForm, LitSurface, PageLight, SurfaceForm};
use super::quake3::{self, BrushSide as QuakeBrushSide};
pub use super::quake3::{BRUSHES, DRAWINDEXES, FOGS, LEAFBRUSHES, LEAFS, LEAFSURFACES, MODELS, NODES, PLANES, SHADERS};
use super::{Dialect, Game, LightModel, Lump, Magic, QUAKE3, Row, checks, keys, only};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{FlagKind, FlagNames, Gone, Meaning, index, index_or_none, perhaps, records, run};

/// Raven's games.
pub static RAVEN: Dialect = Dialect {
    name: "raven",
    title: "Quake III (Raven)",
    magic: Magic::Ident(*b"RBSP"),
    versions: &[1],
    shapes: &[DirectoryShape { first: 8, count: 18, entry: EntryShape::Plain, trailing: 0 }],
    lumps: &LUMPS,
    rows: &[quake3::SAME, ROWS],
    class_rules: &super::classes::RAVEN,
    games: &[Game { name: "jedi", title: "Jedi Outcast and Jedi Academy", versions: &[], flags: FLAGS }],
    rules: Rules {
        // q3map2.
        write_order: &[1, 2, 4, 3, 8, 9, 5, 6, 7, 10, 13, 16, 14, 15, 17, 0, 12, 11],
        ..QUAKE3.rules
    },
    light: LightModel::Pages(&LIGHT),
    checksums: &[checks::of_file("raven", "Raven's games", true)],
    beside: &[super::beside::RAVEN],
    checks: &super::limits::RAVEN,
    probe: |bytes, dialect| Some(dialect.shapes[0]).filter(|shape| !is_sin(bytes, *shape)),
    ..QUAKE3
};

pub(super) const LIGHT: PageLight = PageLight {
    lump: "LIGHTMAPS",
    size: 128,
    // `LIGHTMAP_BY_VERTEX`.
    by_vertex: -3,
    surfaces: SurfaceForm::of(SURFACES),
    vertexes: CornerForm::of(DRAWVERTS),
    files: ("lm_", ".tga"),
};

const LUMPS: [Lump; 18] = {
    let mut lumps = quake3::LUMPS;
    // The grid is the array of indices, not the points.
    lumps[15] = only("LIGHTGRID");
    lumps[17] = only("LIGHTARRAY");
    lumps
};

keys! {
    BRUSHSIDES: BrushSide = "Lump 9.",
    DRAWVERTS: DrawVert = "Lump 10.",
    SURFACES: Surface = "Lump 13.",
    LIGHTGRID: GridPoint = "Lump 15.",
    LIGHTARRAY: GridIndex = "Lump 17.",
}

const ROWS: &[Row] = &[BRUSHSIDES.row(), DRAWVERTS.row(), SURFACES.row(), LIGHTGRID.row(), LIGHTARRAY.row().placed()];

/// The sizes of the structs from which the dialect is detected, by lump.
const SIZES: [(usize, i32); 6] = [(1, 72), (3, 36), (4, 48), (7, 40), (10, 80), (13, 148)];
const SIZES_OF_SIN: [(usize, i32); 8] = [(1, 20), (2, 12), (4, 28), (8, 28), (11, 4), (12, 4), (13, 48), (14, 12)];

fn is_sin(bytes: &[u8], shape: DirectoryShape) -> bool {
    let lengths: Vec<i32> = shape.entries(bytes).map(|entry| entry.length).collect();
    // Of the lumps with bytes: how many consist of whole structs, and how many do not.
    let count = |sizes: &[(usize, i32)]| {
        let filled = sizes.iter().filter_map(|(lump, size)| Some((*lengths.get(*lump)?, size)));
        let (whole, ragged): (Vec<_>, Vec<_>) =
            filled.filter(|(length, _)| *length > 0).partition(|(length, size)| length % *size == 0);
        (whole.len(), ragged.len())
    };
    count(&SIZES).1 >= 2 && matches!(count(&SIZES_OF_SIN), (4.., 0))
}

impl From<Surface> for LitSurface {
    fn from(surface: Surface) -> Self {
        LitSurface {
            pages: surface.lightmap,
            styles: surface.lightmap_styles,
            first_vertex: surface.first_vertex,
            vertex_count: surface.vertex_count,
        }
    }
}

impl From<DrawVert> for [[f32; 2]; 4] {
    fn from(vertex: DrawVert) -> Self {
        vertex.lightmap
    }
}

records! {
    /// `dbrushside_t`.
    pub struct BrushSide(12) {
        ..QuakeBrushSide,
        /// A surface on it, or -1; no engine reads it, and some compilers left garbage here.
        pub surface: i32 as "drawSurfNum" => Meaning::Perhaps { lump: "SURFACES", gone: Gone::Forgotten(-1) },
    }

    /// `mapVert_t`: a corner of surfaces, or a control point of a patch.
    pub struct DrawVert(80) {
        /// Where it is, in units.
        pub point: [f32; 3] as "xyz",
        /// Where in the texture.
        pub texture: [f32; 2] as "st",
        /// Its position on the lightmap of each style, from 0 to 1; garbage for unused styles.
        pub lightmap: [[f32; 2]; 4],
        /// The direction it faces.
        pub normal: [f32; 3],
        /// Red, green, blue, alpha of each style.
        pub color: [[u8; 4]; 4],
    }

    /// `dsurface_t`.
    pub struct Surface(148) {
        /// Its shader.
        pub shader: i32 as "shaderNum" => index("SHADERS"),
        /// The fog that it is in, or -1.
        pub fog: i32 as "fogNum" => index_or_none("FOGS"),
        /// 1 planar, 2 patch, 3 triangles, 4 flare.
        pub kind: i32 as "surfaceType",
        /// Its first vertex.
        pub first_vertex: i32 as "firstVert" => run("DRAWVERTS", "vertex_count"),
        /// How many vertexes it has.
        pub vertex_count: i32 as "numVerts",
        /// Its first index.
        pub first_index: i32 as "firstIndex" => run("DRAWINDEXES", "index_count"),
        /// How many indexes it has, three for each triangle; patches have none.
        pub index_count: i32 as "numIndexes",
        /// The styles of its lightmaps; 255 for none, 254 for one that is not used.
        pub lightmap_styles: [u8; 4] as "lightmapStyles",
        /// The styles of its vertexes' light.
        pub vertex_styles: [u8; 4] as "vertexStyles",
        /// The page of each style's light, in the map or in files beside it; -1 none, -2 white, -3 by vertex, -4 for
        /// 2D.
        pub lightmap: [i32; 4] as "lightmapNum" => perhaps("LIGHTMAPS"),
        /// Where on the page each style begins: the columns.
        pub lightmap_x: [i32; 4] as "lightmapX",
        /// Where on the page each style begins: the rows.
        pub lightmap_y: [i32; 4] as "lightmapY",
        /// Width and height on the page.
        pub lightmap_size: [i32; 2] as "lightmapWidth, lightmapHeight",
        /// Where the light begins, in the coordinates of the map; for a flare its position.
        pub lightmap_origin: [f32; 3] as "lightmapOrigin",
        /// The steps from luxel to luxel in the map, then the normal; for a patch its box, for a flare its color.
        pub lightmap_vectors: [[f32; 3]; 3] as "lightmapVecs",
        /// Width and height of a patch in control points, both odd.
        pub patch_size: [i32; 2] as "patchWidth, patchHeight",
    }

    /// Light for moving objects; several places of the grid may share one.
    pub struct GridPoint(30) {
        /// Light from everywhere, of each style: red, green, blue.
        pub ambient: [[u8; 3]; 4],
        /// Light from one direction, of each style: red, green, blue.
        pub directed: [[u8; 3]; 4],
        /// The styles; 255 for none.
        pub styles: [u8; 4],
        /// The direction: the angle from up, then the one around it, 256 to the circle.
        pub direction: [u8; 2] as "latLong",
    }

    /// A place of the light grid.
    pub struct GridIndex(2) {
        /// The index of its point.
        pub point: u16 => index("LIGHTGRID"),
    }
}

/// surfaceflags.h of OpenJK. The lowest five bits of a surface's flags are a number, its material.
const FLAGS: FlagNames = &[
    (
        FlagKind::Contents,
        &[
            (1, "SOLID"),
            (2, "LAVA"),
            (4, "WATER"),
            (8, "FOG"),
            (0x10, "PLAYERCLIP"),
            (0x20, "MONSTERCLIP"),
            (0x40, "BOTCLIP"),
            (0x80, "SHOTCLIP"),
            (0x100, "BODY"),
            (0x200, "CORPSE"),
            (0x400, "TRIGGER"),
            (0x800, "NODROP"),
            (0x1000, "TERRAIN"),
            (0x2000, "LADDER"),
            (0x4000, "ABSEIL"),
            (0x8000, "OPAQUE"),
            (0x1_0000, "OUTSIDE"),
            (0x2_0000, "SLIME"),
            (0x4_0000, "LIGHTSABER"),
            (0x8_0000, "TELEPORTER"),
            (0x10_0000, "ITEM"),
            (0x800_0000, "DETAIL"),
            (0x1000_0000, "INSIDE"),
            (0x8000_0000, "TRANSLUCENT"),
        ],
    ),
    (
        FlagKind::Surface,
        &[
            (0x2000, "SKY"),
            (0x4000, "SLICK"),
            (0x8000, "METALSTEPS"),
            (0x1_0000, "FORCEFIELD"),
            (0x4_0000, "NODAMAGE"),
            (0x8_0000, "NOIMPACT"),
            (0x10_0000, "NOMARKS"),
            (0x20_0000, "NODRAW"),
            (0x40_0000, "NOSTEPS"),
            (0x80_0000, "NODLIGHT"),
            (0x100_0000, "NOMISCENTS"),
            (0x200_0000, "FORCESIGHT"),
        ],
    ),
];
