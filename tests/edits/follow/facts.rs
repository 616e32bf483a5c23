//! Which numbers of the formats name records, written down a second time: from the formats' descriptions and not from
//! what the library declares, so that a fact that is missing there is missed here.

/// How a field names records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An index.
    One,
    /// An index that is none if it is 0.
    Next,
    /// An index, plus or minus.
    Signed,
    /// A leaf, as a negative number.
    Leaf,
    /// An index in these bits.
    Bits(i64),
    /// An index, if this other field has this number; if that is negative, another one.
    If(&'static str, i64),
    /// The first of a run in order, with the field of the count, its bits, and how far they are shifted.
    Run(&'static str, i64, u32),
    /// As a run in order, which may be empty: if one of its records goes, all do.
    Spare(&'static str, i64, u32),
    /// The first of a set of two or more.
    Several(&'static str),
    /// The first of a set.
    Set(&'static str, i64, u32),
    /// The first of a set that follows that of the record before, with the field of the count.
    Turn(&'static str),
    /// The vertexes or the triangles of a displacement.
    Power(bool),
    /// The first items of an array, with the field of the count and its bits.
    Items(&'static str, i64),
}

use Kind::{Bits, If, Items, Leaf, Next, One, Power, Run, Set, Several, Signed, Spare, Turn};

pub(crate) type Fact = (&'static str, &'static str, Kind, &'static str);

const ALL: i64 = 0xFFFF_FFFF;
const NOT_ONE: i64 = -1;

const TREE: &[Fact] = &[
    ("NODES", "plane", One, "PLANES"),
    ("NODES", "children", One, "NODES"),
    ("NODES", "children", Leaf, "LEAFS"),
    ("MODELS", "head_node", One, "NODES"),
    ("MODELS", "head_node", Leaf, "LEAFS"),
];

/// Faces that are rings of edges.
const EDGES: &[Fact] = &[
    ("NODES", "first_face", Set("face_count", ALL, 0), "FACES"),
    ("MODELS", "first_face", Turn("face_count"), "FACES"),
    ("FACES", "plane", One, "PLANES"),
    ("FACES", "first_edge", Run("edge_count", ALL, 0), "SURFEDGES"),
    ("FACES", "texinfo", One, "TEXINFO"),
    ("SURFEDGES", "edge", Signed, "EDGES"),
    ("EDGES", "vertexes", One, "VERTEXES"),
];

const QUAKE: &[Fact] = &[
    ("CLIPNODES", "plane", One, "PLANES"),
    ("CLIPNODES", "children", One, "CLIPNODES"),
    ("MODELS", "clip_nodes", One, "CLIPNODES"),
    ("LEAFS", "first_mark_surface", Set("mark_surface_count", ALL, 0), "MARKSURFACES"),
    ("MARKSURFACES", "face", One, "FACES"),
];

const BRUSHES: &[Fact] = &[
    ("LEAFS", "first_leaf_face", Set("leaf_face_count", ALL, 0), "LEAFFACES"),
    ("LEAFS", "first_leaf_brush", Set("leaf_brush_count", ALL, 0), "LEAFBRUSHES"),
    ("LEAFFACES", "face", One, "FACES"),
    ("LEAFBRUSHES", "brush", One, "BRUSHES"),
    ("BRUSHES", "first_side", Run("side_count", ALL, 0), "BRUSHSIDES"),
    ("BRUSHSIDES", "plane", One, "PLANES"),
    ("BRUSHSIDES", "texinfo", One, "TEXINFO"),
    ("AREAS", "first_portal", Set("portal_count", ALL, 0), "AREAPORTALS"),
    ("AREAPORTALS", "other_area", One, "AREAS"),
];

const QUAKE2: &[Fact] = &[
    ("TEXINFO", "next", Next, "TEXINFO"),
    ("LEAFS", "area", One, "AREAS"),
    ("LEAFS", "brush", One, "BRUSHES"),
    ("bspx:SURFENVMAP", "map", One, "bspx:ENVMAP"),
];

const QUAKE3: &[Fact] = &[
    ("LEAFS", "first_leaf_surface", Set("leaf_surface_count", ALL, 0), "LEAFSURFACES"),
    ("LEAFS", "first_leaf_brush", Set("leaf_brush_count", ALL, 0), "LEAFBRUSHES"),
    ("LEAFSURFACES", "surface", One, "SURFACES"),
    ("LEAFBRUSHES", "brush", One, "BRUSHES"),
    ("MODELS", "first_surface", Turn("surface_count"), "SURFACES"),
    ("MODELS", "first_brush", Turn("brush_count"), "BRUSHES"),
    ("BRUSHES", "first_side", Run("side_count", ALL, 0), "BRUSHSIDES"),
    ("BRUSHES", "shader", One, "SHADERS"),
    ("BRUSHSIDES", "plane", One, "PLANES"),
    ("BRUSHSIDES", "shader", One, "SHADERS"),
    ("BRUSHSIDES", "surface", One, "SURFACES"),
    ("FOGS", "brush", One, "BRUSHES"),
    ("SURFACES", "shader", One, "SHADERS"),
    ("SURFACES", "fog", One, "FOGS"),
    ("SURFACES", "first_vertex", Run("vertex_count", ALL, 0), "DRAWVERTS"),
    ("SURFACES", "first_index", Run("index_count", ALL, 0), "DRAWINDEXES"),
    ("ADVERTISEMENTS", "model", One, "MODELS"),
    ("LIGHTARRAY", "point", One, "LIGHTGRID"),
];

const SOURCE: &[Fact] = &[
    ("NODES", "area", One, "AREAS"),
    ("LEAFS", "water", One, "LEAFWATERDATA"),
    ("LEAFWATERDATA", "surface_texinfo", One, "TEXINFO"),
    ("TEXINFO", "texdata", One, "TEXDATA"),
    ("TEXDATA", "name", One, "TEXDATA_STRING_TABLE"),
    ("FACES", "displacement", One, "DISPINFO"),
    ("FACES", "original_face", One, "ORIGINALFACES"),
    ("FACES", "first_primitive", Spare("primitive_count", 0x7FFF, 0), "PRIMITIVES"),
    ("FACES_HDR", "plane", One, "PLANES"),
    ("FACES_HDR", "first_edge", Run("edge_count", ALL, 0), "SURFEDGES"),
    ("FACES_HDR", "texinfo", One, "TEXINFO"),
    ("FACES_HDR", "displacement", One, "DISPINFO"),
    ("FACES_HDR", "original_face", One, "ORIGINALFACES"),
    ("FACES_HDR", "first_primitive", Spare("primitive_count", 0x7FFF, 0), "PRIMITIVES"),
    ("ORIGINALFACES", "plane", One, "PLANES"),
    ("ORIGINALFACES", "first_edge", Run("edge_count", ALL, 0), "SURFEDGES"),
    ("ORIGINALFACES", "displacement", One, "DISPINFO"),
    ("PRIMITIVES", "first_index", Run("index_count", ALL, 0), "PRIMINDICES"),
    ("PRIMITIVES", "first_vertex", Run("vertex_count", ALL, 0), "PRIMVERTS"),
    ("VERTNORMALINDICES", "normal", One, "VERTNORMALS"),
    ("DISPINFO", "face", One, "FACES"),
    ("DISPINFO", "first_vertex", Power(false), "DISP_VERTS"),
    ("DISPINFO", "first_triangle", Power(true), "DISP_TRIS"),
    ("DISPINFO", "edges.neighbors.neighbor", One, "DISPINFO"),
    ("DISPINFO", "corners.neighbors", Items("corners.count", 0xFF), "DISPINFO"),
    ("OVERLAYS", "texinfo", One, "TEXINFO"),
    ("OVERLAYS", "faces", Items("face_count_order", 0x3FFF), "FACES"),
    ("OVERLAYS.overlays", "texinfo", One, "TEXINFO"),
    ("OVERLAYS.overlays", "first_face", Set("face_count", ALL, 0), "OVERLAYS.faces"),
    ("OVERLAYS.faces", "face", One, "FACES"),
    ("WATEROVERLAYS", "texinfo", One, "TEXINFO"),
    ("WATEROVERLAYS", "faces", Items("face_count_order", 0x3FFF), "FACES"),
    ("WORLDLIGHTS", "texinfo", One, "TEXINFO"),
    ("WORLDLIGHTS_HDR", "texinfo", One, "TEXINFO"),
    ("AREAPORTALS", "plane", One, "PLANES"),
    ("AREAPORTALS", "first_vertex", Run("vertex_count", ALL, 0), "CLIPPORTALVERTS"),
    ("OCCLUSION.occluders", "first_polygon", Run("polygon_count", ALL, 0), "OCCLUSION.polygons"),
    ("OCCLUSION.occluders", "area", One, "AREAS"),
    ("OCCLUSION.polygons", "first_vertex", Run("vertex_count", ALL, 0), "OCCLUSION.vertexes"),
    ("OCCLUSION.polygons", "plane", One, "PLANES"),
    ("OCCLUSION.vertexes", "vertex", One, "VERTEXES"),
    ("FACE_MACRO_TEXTURE_INFO", "name", One, "TEXDATA_STRING_TABLE"),
    ("LEAF_AMBIENT_INDEX", "first", Set("count", ALL, 0), "LEAF_AMBIENT_LIGHTING"),
    ("LEAF_AMBIENT_INDEX", "first", If("count", 0), "LEAFS"),
    ("LEAF_AMBIENT_INDEX_HDR", "first", Set("count", ALL, 0), "LEAF_AMBIENT_LIGHTING_HDR"),
    ("LEAF_AMBIENT_INDEX_HDR", "first", If("count", 0), "LEAFS"),
    ("FACEBRUSHLIST", "first", If("count", 1), "BRUSHES"),
    ("FACEBRUSHLIST", "first", Several("count"), "FACEBRUSHES"),
    ("FACEBRUSHES", "brush", One, "BRUSHES"),
    ("game:sprp.props", "model", One, "game:sprp.names"),
    ("game:sprp.props", "first_leaf", Set("leaf_count", ALL, 0), "game:sprp.leafs"),
    ("game:sprp.leafs", "leaf", One, "LEAFS"),
    ("game:dprp.objects", "leaf", One, "LEAFS"),
    ("game:dprp.objects", "model", If("kind", 0), "game:dprp.names"),
    ("game:dprp.objects", "model", If("kind", NOT_ONE), "game:dprp.sprites"),
    ("game:dprp.objects", "first_style", Spare("style_count", ALL, 0), "game:dplt.lights"),
    ("PORTALS", "first_vertex", Run("vertex_count", ALL, 0), "PORTALVERTS"),
    ("PORTALS", "plane", One, "PLANES"),
    ("PORTALS", "clusters", One, "CLUSTERS"),
    ("CLUSTERS", "first_portal", Set("portal_count", ALL, 0), "CLUSTERPORTALS"),
    ("CLUSTERPORTALS", "portal", One, "PORTALS"),
    ("PORTALVERTS", "vertex", One, "VERTEXES"),
];

const AREA_9: &[Fact] = &[("LEAFS", "area_flags", Bits(0x1FF), "AREAS")];
const AREA_17: &[Fact] = &[
    ("LEAFS", "area_flags", Bits(0x1_FFFF), "AREAS"),
    ("FACES", "first_primitive", Spare("shadows_primitive_count", ALL, 1), "PRIMITIVES"),
    ("FACES_HDR", "first_primitive", Spare("shadows_primitive_count", ALL, 1), "PRIMITIVES"),
];
const CORNERS: &[Fact] = &[
    ("bspx:FACENORMALS.corners", "normal", One, "bspx:FACENORMALS.vectors"),
    ("bspx:FACENORMALS.corners", "tangent", One, "bspx:FACENORMALS.vectors"),
    ("bspx:FACENORMALS.corners", "bitangent", One, "bspx:FACENORMALS.vectors"),
];

/// The facts of a dialect.
pub(crate) fn facts(dialect: &str) -> impl Iterator<Item = &'static Fact> {
    let all: &[&[Fact]] = match dialect {
        "quake" | "quake64" | "bsp2" | "2psb" | "goldsrc" | "blueshift" => &[TREE, EDGES, QUAKE, CORNERS],
        "quake2" | "qbism" | "daikatana" => &[TREE, EDGES, BRUSHES, QUAKE2, CORNERS],
        "quake3" | "raven" | "qfusion" | "fakk" | "mohaa" | "mohaa-beta" | "breakthrough" => &[TREE, QUAKE3],
        "strata" => &[TREE, EDGES, BRUSHES, SOURCE, AREA_17],
        _ => &[TREE, EDGES, BRUSHES, SOURCE, AREA_9],
    };
    all.iter().copied().flatten()
}

/// Lumps with records that belong to those of another lump by their order: how many for each, or the field of the other
/// lump that has the number.
pub(crate) const BESIDE: &[(&str, &str, Option<&str>)] = &[
    ("FACEIDS", "FACES", None),
    ("FACES_HDR", "FACES", None),
    ("FACE_MACRO_TEXTURE_INFO", "FACES", None),
    ("FACEBRUSHLIST", "FACES", None),
    ("VERTNORMALINDICES", "FACES", Some("edge_count")),
    ("LEAF_AMBIENT_INDEX", "LEAFS", None),
    ("LEAF_AMBIENT_INDEX_HDR", "LEAFS", None),
    ("LEAFMINDISTTOWATER", "LEAFS", None),
    ("OVERLAY_FADES", "OVERLAYS", None),
    ("OVERLAY_SYSTEM_LEVELS", "OVERLAYS", None),
    ("DISP_MULTIBLEND", "DISP_VERTS", None),
    ("EXTSURFINFO", "TEXINFO", None),
    ("bspx:LMSHIFT", "FACES", None),
    ("bspx:LMOFFSET", "FACES", None),
    ("bspx:LMSTYLE", "FACES", None),
    ("bspx:LMSTYLE16", "FACES", None),
    ("bspx:DECOUPLED_LM", "FACES", None),
    ("bspx:SURFENVMAP", "FACES", None),
    ("bspx:VERTEXNORMALS", "VERTEXES", None),
    ("bspx:FACENORMALS.corners", "FACES", Some("edge_count")),
];
