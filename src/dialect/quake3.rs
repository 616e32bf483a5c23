//! Quake III Arena, version 46, and 47: Return to Castle Wolfenstein, Enemy Territory, Quake Live (qfiles.h of the
//! Quake III Arena source).
//!
//! The directory has 17 entries, or 18 where a newer q3map2 wrote it: Quake Live's advertisements, usually empty. The
//! header does not say which. The 18th entry is taken for one if no lump begins in its place and its values are
//! plausible: the offset is after the header, and neither number is as large as the letters of q3map2's marker, which
//! may be there instead. Eight zeros are not an entry: they are the hole that the first lump of a map with 17 entries
//! left when it moved. The size of the file is not considered, since an edit changes it.

use super::light::{CornerForm, LitSurface, PageLight, SurfaceForm};
use super::{Dialect, EntityRules, Game, LightModel, Lump, Magic, Role, VisModel, checks, classes, follow, lump, only};
use crate::dialect::{Row, keys};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryFields, EntryShape};
use crate::record::{
    FlagKind, FlagNames, Gone, Meaning, Name, in_turn, index, index_or_none, perhaps, planes, records, run, set,
};

/// Quake III Arena.
pub static QUAKE3: Dialect = Dialect {
    name: "quake3",
    title: "Quake III Arena",
    magic: Magic::Ident(*b"IBSP"),
    versions: &[46, 47],
    shapes: &[with_entries(17), with_entries(18)],
    lumps: &LUMPS,
    rows: &[SAME, ROWS],
    // A map of version 47 does not say which game it is for. Only maps of Quake Live were available.
    games: &[
        Game { name: "quake3", title: "Quake III Arena", versions: &[46], flags: FLAGS_QUAKE3 },
        Game { name: "quakelive", title: "Quake Live", versions: &[47], flags: FLAGS_QUAKE3 },
        Game { name: "wolfenstein", title: "Return to Castle Wolfenstein", versions: &[47], flags: WOLFENSTEIN },
        Game { name: "et", title: "Wolfenstein: Enemy Territory", versions: &[47], flags: ENEMY_TERRITORY },
    ],
    entity_references: follow::TO_MODELS,
    class_rules: &classes::QUAKE3,
    owned: follow::OWNED_OF_QUAKE3,
    rules: Rules {
        // id's q3map, and q3map2.
        write_order: &[1, 2, 4, 3, 8, 9, 5, 6, 7, 10, 13, 16, 14, 15, 0, 12, 11, 17],
        ..Rules::PLAIN
    },
    light: LightModel::Pages(&LIGHT),
    text: EntityRules::QUAKE3,
    visibility: VisModel::Matrix,
    opaque_game_lumps: &[],
    compression_caveats: &[],
    bare_paks: &[],
    revision_at: None,
    checksums: &[checks::of_file("quake3", "Quake III", true)],
    beside: &[super::beside::QUAKE3],
    checks: &super::limits::QUAKE3,
    preferred_to: None,
    probe,
};

const LIGHT: PageLight = PageLight {
    lump: "LIGHTMAPS",
    size: 128,
    // `LIGHTMAP_BY_VERTEX`.
    by_vertex: -3,
    surfaces: SurfaceForm::of(SURFACES),
    vertexes: CornerForm::of(DRAWVERTS),
    files: ("lm_", ".tga"),
};

impl From<Surface> for LitSurface {
    fn from(surface: Surface) -> Self {
        LitSurface {
            pages: [surface.lightmap, -1, -1, -1],
            styles: [0, 255, 255, 255],
            first_vertex: surface.first_vertex,
            vertex_count: surface.vertex_count,
        }
    }
}

impl From<DrawVert> for [[f32; 2]; 4] {
    fn from(vertex: DrawVert) -> Self {
        [vertex.lightmap; 4]
    }
}

const fn with_entries(count: usize) -> DirectoryShape {
    DirectoryShape { first: 8, count, entry: EntryShape::Plain, trailing: 0 }
}

pub(super) const LUMPS: [Lump; 18] = [
    lump("ENTITIES", Role::Entities),
    lump("SHADERS", Role::Textures),
    lump("PLANES", Role::Planes),
    lump("NODES", Role::Nodes),
    lump("LEAFS", Role::Leafs),
    lump("LEAFSURFACES", Role::LeafFaces),
    lump("LEAFBRUSHES", Role::LeafBrushes),
    lump("MODELS", Role::Models),
    lump("BRUSHES", Role::Brushes),
    lump("BRUSHSIDES", Role::BrushSides),
    lump("DRAWVERTS", Role::Vertexes),
    lump("DRAWINDEXES", Role::DrawIndexes),
    lump("FOGS", Role::Fogs),
    lump("SURFACES", Role::Faces),
    lump("LIGHTMAPS", Role::Lighting),
    lump("LIGHTGRID", Role::LightGrid),
    lump("VISIBILITY", Role::Visibility),
    only("ADVERTISEMENTS"),
];

/// The sizes of structs, by lump, which distinguish Quake III from Soldier of Fortune.
const STRUCT_SIZES: [(usize, i32); 5] = [(1, 72), (3, 36), (4, 48), (7, 40), (13, 104)];

/// No map of half a gigabyte is known; four letters, read as a number, are more than that.
const MOST_SENSIBLE: i32 = 1 << 29;

/// Soldier of Fortune has the same magic and version, and 22 lumps of other structs (header 184 bytes).
fn probe(bytes: &[u8], dialect: &'static Dialect) -> Option<DirectoryShape> {
    let [with_17, with_18] = [dialect.shapes[0], dialect.shapes[1]];
    let first_byte = |shape: DirectoryShape| {
        let starts = shape.entries(bytes).filter(|entry| entry.length > 0).map(|entry| entry.offset);
        starts.min().and_then(|start| usize::try_from(start).ok())
    };
    let begins_behind = |shape: DirectoryShape| first_byte(shape).is_none_or(|start| start >= shape.header_size());
    let is_inside = |entry: &EntryFields| {
        let end = i64::from(entry.offset) + i64::from(entry.length);
        entry.offset >= 0 && entry.length >= 0 && i64::try_from(bytes.len()).is_ok_and(|size| end <= size)
    };
    let of_22 = with_entries(22);
    let more = of_22.entries(bytes).skip(17).filter(|entry| entry.length > 0).count();
    if more >= 3 && begins_behind(of_22) && of_22.entries(bytes).filter(is_inside).count() == 22 {
        let entries: Vec<_> = with_17.entries(bytes).collect();
        let ragged = STRUCT_SIZES.iter().filter(|(lump, size)| entries[*lump].length % size != 0);
        if ragged.count() >= 2 {
            return None;
        }
    }
    let header = i32::try_from(with_18.header_size()).unwrap_or(i32::MAX);
    let could_be = |entry: EntryFields| {
        (header..MOST_SENSIBLE).contains(&entry.offset) && (0..MOST_SENSIBLE).contains(&entry.length)
    };
    // No lump may begin in the place of the entry. A lump that begins before it overlaps the directory and is not
    // considered.
    let place = with_17.header_size()..with_18.header_size();
    let begins_there = |entry: &EntryFields| usize::try_from(entry.offset).is_ok_and(|start| place.contains(&start));
    let is_free = !with_17.entries(bytes).any(|entry| entry.length > 0 && begins_there(&entry));
    let has_18 = is_free && with_18.entries(bytes).nth(17).is_some_and(could_be);
    let has_lumps = with_17.entries(bytes).any(|entry| entry.length > 0);
    Some(if has_18 && has_lumps { with_18 } else { with_17 })
}

// The structs of Quake III's lumps (qfiles.h; Quake Live's advertisements by measurement of its maps).

keys! {
    SHADERS: Shader = "Lump 1.",
    PLANES: Plane = "Lump 2.",
    NODES: Node = "Lump 3.",
    LEAFS: Leaf = "Lump 4.",
    LEAFSURFACES: LeafSurface = "Lump 5.",
    LEAFBRUSHES: LeafBrush = "Lump 6.",
    MODELS: Model = "Lump 7.",
    BRUSHES: Brush = "Lump 8.",
    BRUSHSIDES: BrushSide = "Lump 9.",
    DRAWVERTS: DrawVert = "Lump 10.",
    DRAWINDEXES: DrawIndex = "Lump 11.",
    FOGS: Fog = "Lump 12.",
    SURFACES: Surface = "Lump 13.",
    LIGHTGRID: GridPoint = "Lump 15.",
    ADVERTISEMENTS: Advertisement = "Lump 17, of Quake Live.",
}

/// Rows that Raven's maps have too.
pub(super) const SAME: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    SHADERS.row(),
    PLANES.row().paired(),
    NODES.row().fixed(1),
    LEAFS.row(),
    LEAFSURFACES.row().listed(),
    LEAFBRUSHES.row().listed(),
    MODELS.row().fixed(1),
    BRUSHES.row(),
    DRAWINDEXES.row(),
    FOGS.row(),
    Row::lens("LIGHTMAPS", "light"),
    Row::lens("VISIBILITY", "visibility"),
];

const ROWS: &[Row] =
    &[BRUSHSIDES.row(), DRAWVERTS.row(), SURFACES.row(), LIGHTGRID.row().placed(), ADVERTISEMENTS.row()];

/// A fog needs its brush: where it has none, Quake III refuses the map.
const BRUSH_OF_FOG: Meaning = Meaning::Index { lump: "BRUSHES", none: &[-1], gone: Gone::Needed };

records! {
    /// `dshader_t`: what surfaces and brushes are made of.
    pub struct Shader(72) {
        /// Its name, without extension.
        pub name: Name<64>,
        /// `SURF_` flags.
        pub surface_flags: i32 as "surfaceFlags" => Meaning::Flags(FlagKind::Surface),
        /// `CONTENTS_` flags.
        pub content_flags: i32 as "contentFlags" => Meaning::Flags(FlagKind::Contents),
    }

    /// `dplane_t`: a point p lies in front where `normal * p - distance > 0`. Compilers keep a plane beside its
    /// opposite.
    pub struct Plane(16) {
        /// The direction it faces, of length 1.
        pub normal: [f32; 3],
        /// Its distance from the origin in units.
        pub distance: f32 as "dist",
    }

    /// `dnode_t`.
    pub struct Node(36) {
        /// The plane that divides it.
        pub plane: i32 as "planeNum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [i32; 3],
        /// Its box, for culling.
        pub maxs: [i32; 3],
    }

    /// `dleaf_t`.
    pub struct Leaf(48) {
        /// Its cluster of the visibility lump; -1 where nothing sees it.
        pub cluster: i32,
        /// Its area; -1 where it has no cluster.
        pub area: i32,
        /// Its box, for culling.
        pub mins: [i32; 3],
        /// Its box, for culling.
        pub maxs: [i32; 3],
        /// Its first surface in the leafsurfaces.
        pub first_leaf_surface: i32 as "firstLeafSurface" => set("LEAFSURFACES", "leaf_surface_count"),
        /// How many surfaces reach into it.
        pub leaf_surface_count: i32 as "numLeafSurfaces",
        /// Its first brush in the leafbrushes.
        pub first_leaf_brush: i32 as "firstLeafBrush" => set("LEAFBRUSHES", "leaf_brush_count"),
        /// How many brushes reach into it.
        pub leaf_brush_count: i32 as "numLeafBrushes",
    }

    /// A number of the leafsurfaces lump.
    pub struct LeafSurface(4) {
        /// The surface's index.
        pub surface: i32 => index("SURFACES"),
    }

    /// A number of the leafbrushes lump.
    pub struct LeafBrush(4) {
        /// The brush's index.
        pub brush: i32 => index("BRUSHES"),
    }

    /// `dmodel_t`: the world, then the models that entities name `*1`, `*2` and so on. Each surface and brush belongs
    /// to one.
    pub struct Model(40) {
        /// Its box.
        pub mins: [f32; 3],
        /// Its box.
        pub maxs: [f32; 3],
        /// Its first surface.
        pub first_surface: i32 as "firstSurface" => in_turn("SURFACES", "surface_count"),
        /// How many surfaces it has.
        pub surface_count: i32 as "numSurfaces",
        /// Its first brush.
        pub first_brush: i32 as "firstBrush" => in_turn("BRUSHES", "brush_count"),
        /// How many brushes it has.
        pub brush_count: i32 as "numBrushes",
    }

    /// `dbrush_t`.
    pub struct Brush(12) {
        /// Its first side; the first six are its box: -x, +x, -y, +y, -z, +z.
        pub first_side: i32 as "firstSide" => planes("BRUSHSIDES", "side_count", 6),
        /// How many sides it has.
        pub side_count: i32 as "numSides",
        /// The shader whose content flags are the brush's.
        pub shader: i32 as "shaderNum" => index("SHADERS"),
    }

    /// `dbrushside_t`.
    pub struct BrushSide(8) {
        /// Its plane, facing out.
        pub plane: i32 as "planeNum" => index("PLANES"),
        /// Its shader.
        pub shader: i32 as "shaderNum" => index("SHADERS"),
    }

    /// `drawVert_t`: a corner of surfaces, or a control point of a patch.
    pub struct DrawVert(44) {
        /// Where it is, in units.
        pub point: [f32; 3] as "xyz",
        /// Where in the texture.
        pub texture: [f32; 2] as "st",
        /// Where on the lightmap, from 0 to 1.
        pub lightmap: [f32; 2],
        /// The direction it faces.
        pub normal: [f32; 3],
        /// Red, green, blue, alpha.
        pub color: [u8; 4],
    }

    /// A number of the drawindexes lump: a corner of a triangle. Surfaces may share runs of them.
    pub struct DrawIndex(4) {
        /// The vertex, counted from the first one of the surface.
        pub vertex: i32,
    }

    /// `dfog_t`.
    pub struct Fog(72) {
        /// Its shader, by name.
        pub shader: Name<64>,
        /// The brush that it fills; -1 for all of the map, which not all engines know.
        pub brush: i32 as "brushNum" => BRUSH_OF_FOG,
        /// The side of the brush that it is seen from, counted from the brush's first; -1 for none.
        pub visible_side: i32 as "visibleSide",
    }

    /// `dsurface_t`.
    pub struct Surface(104) {
        /// Its shader.
        pub shader: i32 as "shaderNum" => index("SHADERS"),
        /// The fog that it is in, or -1.
        pub fog: i32 as "fogNum" => index_or_none("FOGS"),
        /// 1 planar, 2 patch, 3 triangles, 4 flare, 5 foliage.
        pub kind: i32 as "surfaceType",
        /// Its first vertex.
        pub first_vertex: i32 as "firstVert" => run("DRAWVERTS", "vertex_count"),
        /// How many vertexes it has.
        pub vertex_count: i32 as "numVerts",
        /// Its first index.
        pub first_index: i32 as "firstIndex" => run("DRAWINDEXES", "index_count"),
        /// How many indexes it has, three for each triangle; patches have none.
        pub index_count: i32 as "numIndexes",
        /// The page of its light, in the map or in files beside it; -1 none, -2 white, -3 by vertex, -4 for 2D.
        pub lightmap: i32 as "lightmapNum" => perhaps("LIGHTMAPS"),
        /// Where on the page it begins: x and y; 0 from q3map2.
        pub lightmap_at: [i32; 2] as "lightmapX, lightmapY",
        /// Width and height on the page; 0 from q3map2.
        pub lightmap_size: [i32; 2] as "lightmapWidth, lightmapHeight",
        /// Where in the map the light begins; of a flare where it is.
        pub lightmap_origin: [f32; 3] as "lightmapOrigin",
        /// The steps of the light in the map, then the normal; of a patch its box, of a flare its color.
        pub lightmap_vectors: [[f32; 3]; 3] as "lightmapVecs",
        /// Width and height of a patch in control points, both odd; of foliage how many instances and vertexes.
        pub patch_size: [i32; 2] as "patchWidth, patchHeight",
    }

    /// A point of the light grid, the light for what moves.
    pub struct GridPoint(8) {
        /// Light from everywhere: red, green, blue.
        pub ambient: [u8; 3],
        /// Light from one direction: red, green, blue.
        pub directed: [u8; 3],
        /// That direction: the angle from up, then the one around it, 256 to the circle.
        pub direction: [u8; 2] as "latLong",
    }

    /// An advertisement of Quake Live.
    pub struct Advertisement(128) {
        /// Which one.
        pub cell: i32 as "cellId",
        /// The direction it faces.
        pub normal: [f32; 3],
        /// Its corners.
        pub corners: [[f32; 3]; 4] as "rect",
        /// The brush model that shows it: `*1`.
        pub model: Name<64> => Meaning::Starred { lump: "MODELS" },
    }
}

impl Surface {
    /// The [kind](Surface::kind) of flat surfaces, in triangles (`MST_PLANAR`).
    pub const PLANAR: i32 = 1;
    /// The kind of curved ones, by control points (`MST_PATCH`).
    pub const PATCH: i32 = 2;
    /// The kind of triangles in any position: models that were compiled into the map (`MST_TRIANGLE_SOUP`).
    pub const TRIANGLES: i32 = 3;
    /// The kind of flares, which have no vertexes (`MST_FLARE`).
    pub const FLARE: i32 = 4;
    /// Foliage of Enemy Territory: a plant at many places (`MST_FOLIAGE`).
    pub const FOLIAGE: i32 = 5;
}

// What the games call the bits of a shader's flags (surfaceflags.h of each).

pub(super) const CONTENTS: &[(u32, &str)] = &[
    (1, "SOLID"),
    (8, "LAVA"),
    (0x10, "SLIME"),
    (0x20, "WATER"),
    (0x40, "FOG"),
    (0x80, "NOTTEAM1"),
    (0x100, "NOTTEAM2"),
    (0x200, "NOBOTCLIP"),
    (0x8000, "AREAPORTAL"),
    (0x1_0000, "PLAYERCLIP"),
    (0x2_0000, "MONSTERCLIP"),
    (0x4_0000, "TELEPORTER"),
    (0x8_0000, "JUMPPAD"),
    (0x10_0000, "CLUSTERPORTAL"),
    (0x20_0000, "DONOTENTER"),
    (0x40_0000, "BOTCLIP"),
    (0x80_0000, "MOVER"),
    (0x100_0000, "ORIGIN"),
    (0x200_0000, "BODY"),
    (0x400_0000, "CORPSE"),
    (0x800_0000, "DETAIL"),
    (0x1000_0000, "STRUCTURAL"),
    (0x2000_0000, "TRANSLUCENT"),
    (0x4000_0000, "TRIGGER"),
    (0x8000_0000, "NODROP"),
];

pub(super) const SURFACE: &[(u32, &str)] = &[
    (1, "NODAMAGE"),
    (2, "SLICK"),
    (4, "SKY"),
    (8, "LADDER"),
    (0x10, "NOIMPACT"),
    (0x20, "NOMARKS"),
    (0x40, "FLESH"),
    (0x80, "NODRAW"),
    (0x100, "HINT"),
    (0x200, "SKIP"),
    (0x400, "NOLIGHTMAP"),
    (0x800, "POINTLIGHT"),
    (0x1000, "METALSTEPS"),
    (0x2000, "NOSTEPS"),
    (0x4000, "NONSOLID"),
    (0x8000, "LIGHTFILTER"),
    (0x1_0000, "ALPHASHADOW"),
    (0x2_0000, "NODLIGHT"),
    (0x4_0000, "DUST"),
];

const FLAGS_QUAKE3: FlagNames = &[(FlagKind::Contents, CONTENTS), (FlagKind::Surface, SURFACE)];

const WOLFENSTEIN_CONTENTS: &[(u32, &str)] = &[
    (1, "SOLID"),
    (4, "LIGHTGRID"),
    (8, "LAVA"),
    (0x10, "SLIME"),
    (0x20, "WATER"),
    (0x40, "FOG"),
    (0x80, "MISSILECLIP"),
    (0x100, "ITEM"),
    (0x1000, "AI_NOSIGHT"),
    (0x2000, "CLIPSHOT"),
    (0x4000, "MOVER"),
    (0x8000, "AREAPORTAL"),
    (0x1_0000, "PLAYERCLIP"),
    (0x2_0000, "MONSTERCLIP"),
    (0x4_0000, "TELEPORTER"),
    (0x8_0000, "JUMPPAD"),
    (0x10_0000, "CLUSTERPORTAL"),
    (0x20_0000, "DONOTENTER"),
    (0x40_0000, "DONOTENTER_LARGE"),
    (0x100_0000, "ORIGIN"),
    (0x200_0000, "BODY"),
    (0x400_0000, "CORPSE"),
    (0x800_0000, "DETAIL"),
    (0x1000_0000, "STRUCTURAL"),
    (0x2000_0000, "TRANSLUCENT"),
    (0x4000_0000, "TRIGGER"),
    (0x8000_0000, "NODROP"),
];

const WOLFENSTEIN_SURFACE: [(u32, &str); 31] = [
    (1, "NODAMAGE"),
    (2, "SLICK"),
    (4, "SKY"),
    (8, "LADDER"),
    (0x10, "NOIMPACT"),
    (0x20, "NOMARKS"),
    (0x40, "CERAMIC"),
    (0x80, "NODRAW"),
    (0x100, "HINT"),
    (0x200, "SKIP"),
    (0x400, "NOLIGHTMAP"),
    (0x800, "POINTLIGHT"),
    (0x1000, "METAL"),
    (0x2000, "NOSTEPS"),
    (0x4000, "NONSOLID"),
    (0x8000, "LIGHTFILTER"),
    (0x1_0000, "ALPHASHADOW"),
    (0x2_0000, "NODLIGHT"),
    (0x4_0000, "WOOD"),
    (0x8_0000, "GRASS"),
    (0x10_0000, "GRAVEL"),
    (0x20_0000, "GLASS"),
    (0x40_0000, "SNOW"),
    (0x80_0000, "ROOF"),
    (0x100_0000, "RUBBLE"),
    (0x200_0000, "CARPET"),
    (0x400_0000, "MONSTERSLICK"),
    (0x800_0000, "MONSLICK_W"),
    (0x1000_0000, "MONSLICK_N"),
    (0x2000_0000, "MONSLICK_E"),
    (0x4000_0000, "MONSLICK_S"),
];

/// One bit has another name, and the last one has a name.
const ENEMY_TERRITORY_SURFACE: [(u32, &str); 32] = {
    let mut flags = [(0x8000_0000, "LANDMINE"); 32];
    let (first, _) = flags.split_at_mut(WOLFENSTEIN_SURFACE.len());
    first.copy_from_slice(&WOLFENSTEIN_SURFACE);
    flags[6] = (0x40, "SPLASH");
    flags
};

const WOLFENSTEIN: FlagNames = &[(FlagKind::Contents, WOLFENSTEIN_CONTENTS), (FlagKind::Surface, &WOLFENSTEIN_SURFACE)];

const ENEMY_TERRITORY: FlagNames =
    &[(FlagKind::Contents, WOLFENSTEIN_CONTENTS), (FlagKind::Surface, &ENEMY_TERRITORY_SURFACE)];
