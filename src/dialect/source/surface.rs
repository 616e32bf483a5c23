//! Materials, overlays, cubemaps and occluders, the rows of texts and files, and the names of flags.

use super::fit::{ends_with_its_lists, one_for_each, with_known_faces};
use crate::dialect::{Each, Key, List, Row, keys};
use crate::record::{Count, Field, FlagKind, FlagNames, Gone, Meaning, index, index_or_none, records, run};

// Materials, overlays, cubemaps and occluders; also the rows of texts and files.

keys! {
    TEXDATA: TexData = "Lump 2.",
    TEXINFO: TexInfo = "Lump 6.",
    CUBEMAPS: CubemapSample = "Lump 42.",
    TEXDATA_STRING_TABLE: TexDataString = "Lump 44.",
    OVERLAYS: Overlay = "Lump 45.",
    WATEROVERLAYS: WaterOverlay = "Lump 50.",
    OVERLAY_FADES: OverlayFade = "Lump 60: one for each overlay, or none at all.",
}

/// The occluders of lump 9.
pub const OCCLUDERS: Key<Occluder> = Key::list("OCCLUSION", "occluders");
/// The polygons of occluders.
pub const OCCLUDER_POLYGONS: Key<OccluderPolygon> = Key::list("OCCLUSION", "polygons");
/// The corners of occluders.
pub const OCCLUDER_VERTEXES: Key<OccluderVertex> = Key::list("OCCLUSION", "vertexes");

const OCCLUSION: &[List] = &[
    List::of::<Occluder>("occluders"),
    List::of::<OccluderPolygon>("polygons"),
    List::of::<OccluderVertex>("vertexes"),
];

/// Version 1 has occluders of 36 bytes; without occluders it fits as well.
const OCCLUSION_ROW: Row = Row::lists("OCCLUSION", OCCLUSION).versions(&[2]).proved(ends_with_its_lists);

pub(super) const ROWS: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    TEXDATA.row(),
    TEXINFO.row(),
    OCCLUSION_ROW,
    Row::opaque("OCCLUSION", "occluders of version 1, of 36 bytes, are known from one source only")
        .versions(&[1])
        .proved(|facts, row| match facts.lump_version().filter(|version| row.versions.contains(version)) {
            Some(_) if ends_with_its_lists(facts, &OCCLUSION_ROW).is_err() => Ok(()),
            _ => Err("its lists are not those of version 1".to_owned()),
        }),
    CUBEMAPS.row(),
    Row::lens("TEXDATA_STRING_DATA", "strings"),
    TEXDATA_STRING_TABLE.row(),
    OVERLAYS.row().proved(with_known_faces),
    WATEROVERLAYS.row().proved(with_known_faces),
    OVERLAY_FADES
        .row()
        .parallel("OVERLAYS", Each::One, &[0])
        .proved(|facts, row| one_for_each(facts, row, "OVERLAYS", Overlay::SIZE, "overlays")),
    Row::opaque(
        "OVERLAY_SYSTEM_LEVELS",
        "before version 21 only Black Mesa is said to have something here, and other things",
    )
    .maps(&[17, 18, 19, 20, super::DARK_MESSIAH]),
    Row::lens("PAKFILE", "zip"),
    Row::lens("XZIPPAKFILE", "zip"),
    Row::opaque("UNUSED0", UNUSED),
    Row::opaque("UNUSED1", UNUSED),
    Row::opaque("UNUSED2", UNUSED),
    Row::opaque("UNUSED3", UNUSED),
];

const UNUSED: &str = "no map of these versions is known to have anything here";

/// The faces that an overlay is on.
pub(in crate::dialect) const FACES_OF_OVERLAY: Meaning =
    Meaning::Items { lump: "FACES", count: Count::bits("face_count_order", 0x3FFF, 0) };

/// The faces of an overlay; their count is the low 14 bits.
macro_rules! overlay_bits {
    ($($name:ident),*) => {
        $(impl $name {
            /// How many of its faces count.
            pub fn faces_used(&self) -> u16 {
                self.face_count_order & 0x3FFF
            }

            /// Its order of drawing, 0 to 3.
            pub fn render_order(&self) -> u16 {
                self.face_count_order >> 14
            }
        })*
    };
}
pub(in crate::dialect) use overlay_bits;

overlay_bits!(Overlay, WaterOverlay);

records! {
    /// `dtexdata_t`.
    pub struct TexData(32) {
        /// The reflectivity: red, green, blue.
        pub reflectivity: [f32; 3],
        /// Its name.
        pub name: i32 as "nameStringTableID" => index("TEXDATA_STRING_TABLE"),
        /// Its width in texels.
        pub width: i32,
        /// Its height in texels.
        pub height: i32,
        /// The width again.
        pub view_width: i32,
        /// The height again.
        pub view_height: i32,
    }

    /// `texinfo_t`.
    pub struct TexInfo(72) {
        /// How s and t come from a point: x, y, z, offset, in texels.
        pub texture_vectors: [[f32; 4]; 2] as "textureVecsTexelsPerWorldUnits",
        /// The same in luxels.
        pub lightmap_vectors: [[f32; 4]; 2] as "lightmapVecsLuxelsPerWorldUnits",
        /// `SURF_` flags.
        pub flags: i32 => Meaning::Flags(FlagKind::Surface),
        /// Its material, -1 for none.
        pub texdata: i32 => Meaning::Index { lump: "TEXDATA", none: &[-1], gone: Gone::Needed },
    }

    /// A number of the texdatastringtable lump.
    pub struct TexDataString(4) {
        /// Where in lump 43 the name begins, in bytes.
        pub offset: i32 => Meaning::Offset { lump: "TEXDATA_STRING_DATA" },
    }

    /// `dcubemapsample_t`.
    pub struct CubemapSample(16) {
        /// Its position.
        pub origin: [i32; 3],
        /// 0 for 32 texels, else `2^(size - 1)`.
        pub size: u8,
        /// 0.
        pub padding: [u8; 3],
    }

    /// The position of an overlay and the mapping of its texture: the last fields of several versions of overlays.
    pub struct OverlayPlace(88) {
        /// The range of u.
        pub u: [f32; 2] as "flU",
        /// The range of v.
        pub v: [f32; 2] as "flV",
        /// Its corners in its plane; the third numbers are the direction of u, and 1 if v is reversed.
        pub uv_points: [[f32; 3]; 4] as "vecUVPoints",
        /// Where it is.
        pub origin: [f32; 3] as "vecOrigin",
        /// Its normal.
        pub normal: [f32; 3] as "vecBasisNormal",
    }

    /// `doverlay_t`.
    pub struct Overlay(352) {
        /// The number by which entities refer to it.
        pub id: i32 as "nId",
        /// How its texture lies.
        pub texinfo: i16 as "nTexInfo" => index("TEXINFO"),
        /// The number of its faces in the low 14 bits, its render order in the others.
        pub face_count_order: u16 as "m_nFaceCountAndRenderOrder",
        /// The faces it is on; entries after the count are garbage.
        pub faces: [i32; 64] as "aFaces" => FACES_OF_OVERLAY,
        ..OverlayPlace,
    }

    /// `dwateroverlay_t`.
    pub struct WaterOverlay(1120) {
        /// The number by which entities refer to it.
        pub id: i32 as "nId",
        /// How its texture lies.
        pub texinfo: i16 as "nTexInfo" => index("TEXINFO"),
        /// The number of its faces in the low 14 bits, its render order in the others.
        pub face_count_order: u16 as "m_nFaceCountAndRenderOrder",
        /// The faces it is on; entries after the count are garbage.
        pub faces: [i32; 256] as "aFaces" => FACES_OF_OVERLAY,
        ..OverlayPlace,
    }

    /// `doverlayfade_t`.
    pub struct OverlayFade(8) {
        /// The square of the distance at which it begins to fade.
        pub min_squared: f32 as "flFadeDistMinSq",
        /// The square of the distance at which it is invisible.
        pub max_squared: f32 as "flFadeDistMaxSq",
    }

    /// `doccluderdata_t`.
    pub struct Occluder(40) {
        /// 1 if it is switched off.
        pub flags: i32,
        /// The first of its polygons.
        pub first_polygon: i32 as "firstpoly" => run("OCCLUSION.polygons", "polygon_count"),
        /// How many it has.
        pub polygon_count: i32 as "polycount",
        /// Its box.
        pub mins: [f32; 3],
        /// Its box.
        pub maxs: [f32; 3],
        /// Its area.
        pub area: i32 => index_or_none("AREAS"),
    }

    /// `doccluderpolydata_t`.
    pub struct OccluderPolygon(12) {
        /// The first of its corners.
        pub first_vertex: i32 as "firstvertexindex" => run("OCCLUSION.vertexes", "vertex_count"),
        /// How many it has.
        pub vertex_count: i32 as "vertexcount",
        /// The plane it lies on.
        pub plane: i32 as "planenum" => index("PLANES"),
    }

    /// A corner of an occluder.
    pub struct OccluderVertex(4) {
        /// The vertex's index.
        pub vertex: i32 => index("VERTEXES"),
    }
}

// The names of flags (bspflags.h, bspfile.h and gamebspfile.h of the Source SDKs).

/// The bits that mean the same in every version.
macro_rules! contents {
    ($($bit:literal $name:literal),*) => {
        &[
            (1, "SOLID"),
            (2, "WINDOW"),
            (4, "AUX"),
            (8, "GRATE"),
            (0x10, "SLIME"),
            (0x20, "WATER"),
            (0x80, "OPAQUE"),
            (0x100, "TESTFOGVOLUME"),
            $(($bit, $name),)*
            (0x800, "TEAM1"),
            (0x1000, "TEAM2"),
            (0x2000, "IGNORE_NODRAW_OPAQUE"),
            (0x4000, "MOVEABLE"),
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
            (0x400_0000, "DEBRIS"),
            (0x800_0000, "DETAIL"),
            (0x1000_0000, "TRANSLUCENT"),
            (0x2000_0000, "LADDER"),
            (0x4000_0000, "HITBOX"),
        ]
    };
}

/// The bits that mean the same in every version.
macro_rules! surface {
    ($($bit:literal $name:literal),*) => {
        &[
            (1, "LIGHT"),
            (4, "SKY"),
            (8, "WARP"),
            (0x10, "TRANS"),
            (0x80, "NODRAW"),
            (0x100, "HINT"),
            (0x200, "SKIP"),
            (0x400, "NOLIGHT"),
            (0x800, "BUMPLIGHT"),
            (0x1000, "NOSHADOWS"),
            (0x4000, "NOCHOP"),
            (0x8000, "HITBOX"),
            $(($bit, $name),)*
        ]
    };
}

/// Half-Life 2 and before.
pub(super) const EARLY: FlagNames = &[
    (FlagKind::Contents, contents!(0x40 "MIST")),
    (FlagKind::Surface, surface!(2 "SLICK", 0x20 "WET", 0x40 "FLOWING", 0x2000 "NODECALS")),
    LEAF,
    PROP,
    TRIANGLE,
    LIGHT,
    MAP,
];

/// Episode One to the Source SDK 2013.
pub(super) const USUAL: FlagNames = &[
    (FlagKind::Contents, contents!(0x40 "BLOCKLOS")),
    (FlagKind::Surface, surface!(2 "SKY2D", 0x20 "NOPORTAL", 0x40 "TRIGGER", 0x2000 "NODECALS")),
    LEAF,
    PROP,
    TRIANGLE,
    LIGHT,
    MAP,
];

/// Version 21 and later.
pub(in crate::dialect) const LATE: FlagNames = &[
    (FlagKind::Contents, contents!(0x40 "BLOCKLOS", 0x400 "BLOCKLIGHT")),
    (FlagKind::Surface, surface!(2 "SKY2D", 0x20 "NOPORTAL", 0x40 "TRIGGER", 0x2000 "NOPAINT")),
    LEAF,
    PROP,
    TRIANGLE,
    LIGHT,
    MAP,
];

type Names = (FlagKind, &'static [(u32, &'static str)]);

const LEAF: Names = (FlagKind::Leaf, &[(1, "SKY"), (2, "RADIAL"), (4, "SKY2D")]);

const PROP: Names = (
    FlagKind::Prop,
    &[
        (1, "FADES"),
        (2, "USE_LIGHTING_ORIGIN"),
        (4, "NO_DRAW"),
        (8, "IGNORE_NORMALS"),
        (0x10, "NO_SHADOW"),
        (0x20, "SCREEN_SPACE_FADE"),
        (0x40, "NO_PER_VERTEX_LIGHTING"),
        (0x80, "NO_SELF_SHADOWING"),
        (0x100, "NO_PER_TEXEL_LIGHTING"),
    ],
);

const TRIANGLE: Names = (
    FlagKind::Triangle,
    &[(1, "SURFACE"), (2, "WALKABLE"), (4, "BUILDABLE"), (8, "SURFPROP1"), (0x10, "SURFPROP2"), (0x20, "REMOVE")],
);

const LIGHT: Names = (FlagKind::Light, &[(1, "INAMBIENTCUBE")]);

const MAP: Names = (FlagKind::Map, &[(1, "BAKED_STATIC_PROP_LIGHTING_NONHDR"), (2, "BAKED_STATIC_PROP_LIGHTING_HDR")]);
