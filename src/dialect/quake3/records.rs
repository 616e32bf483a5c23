//! The structs of Quake III's lumps (qfiles.h; Quake Live's advertisements by measurement of its maps).

use crate::dialect::{Row, keys};
use crate::record::{FlagKind, Gone, Meaning, Name, in_turn, index, index_or_none, perhaps, records, run, set};

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
pub(in crate::dialect) const SAME: &[Row] = &[
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

pub(super) const ROWS: &[Row] =
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
        pub first_side: i32 as "firstSide" => run("BRUSHSIDES", "side_count"),
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
