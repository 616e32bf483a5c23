//! GoldSrc, version 30: Half-Life and its kin (bspfile.h of the Half-Life SDK's compilers; ReHLDS).
//!
//! The version alone begins the file, then 15 entries. Xash3D may add an extra header behind it.

use super::{Dialect, EntityRules, LeafRows, Lump, Magic, Role, VisModel, blueshift, lump};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};

/// GoldSrc.
pub const GOLDSRC: Dialect = Dialect {
    name: "goldsrc",
    title: "GoldSrc",
    magic: Magic::VersionOnly,
    versions: &[30],
    shapes: &[DirectoryShape { first: 4, count: 15, entry: EntryShape::Plain, behind: 0 }],
    lumps: &LUMPS,
    rows: &[],
    games: &[],
    rules: Rules {
        game_lump: None,
        extra_header: true,
        trailer_lump: None,
        alignments: &[],
        // The HLT family of compilers, as id's before them.
        write_order: &[1, 10, 3, 5, 6, 7, 9, 11, 13, 12, 14, 8, 4, 0, 2],
    },
    text: EntityRules::GOLDSRC,
    visibility: VisModel::Leafs(LeafRows::GOLDSRC),
    opaque_game_lumps: &[],
    packing_caveats: &[],
    bare_paks: &[],
    revision_at: None,
    checksummed_by: None,
    probe: |bytes, dialect| (!blueshift::is_swapped(bytes)).then_some(dialect.shapes[0]),
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
