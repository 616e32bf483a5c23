//! Quake II, version 38, and Kingpin, whose maps are the same container (qfiles.h of the Quake II source).

use super::{Dialect, EntityRules, Lump, Magic, Role, lump, only};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};

/// Quake II.
pub const QUAKE2: Dialect = Dialect {
    name: "quake2",
    title: "Quake II",
    magic: Magic::Ident(*b"IBSP"),
    versions: &[38],
    shapes: &[DirectoryShape { first: 8, count: 19, entry: EntryShape::Plain, behind: 0 }],
    lumps: &LUMPS,
    rules: Rules {
        game_lump: None,
        extra_header: false,
        trailer_lump: None,
        alignments: &[],
        // id's qbsp3, qvis3 and qrad3.
        write_order: &[1, 8, 2, 4, 5, 6, 14, 15, 9, 10, 12, 11, 13, 17, 18, 7, 3, 0, 16],
    },
    text: EntityRules::QUAKE2,
    opaque_game_lumps: &[],
    packing_caveats: &[],
    bare_paks: &[],
    revision_at: None,
    checksummed_by: None,
    probe: |_, dialect| Some(dialect.shapes[0]),
};

const LUMPS: [Lump; 19] = [
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
