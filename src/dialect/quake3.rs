//! Quake III Arena, version 46, and 47: Return to Castle Wolfenstein, Enemy Territory, Quake Live (qfiles.h of the
//! Quake III Arena source).
//!
//! The directory has 17 entries, or 18 where a newer q3map2 wrote it: Quake Live's advertisements, usually empty. The
//! header does not say which. The 18th entry is taken for one if no lump begins in its place and its values are
//! plausible: the offset is after the header, and neither number is as large as the letters of q3map2's marker, which
//! may be there instead. Eight zeros are not an entry: they are the hole that the first lump of a map with 17 entries
//! left when it moved. The size of the file is not considered, since an edit changes it.

mod flags;
mod records;

pub(super) use flags::{CONTENTS, SURFACE};
pub(super) use records::SAME;
pub use records::*;

use super::light::{CornerForm, LitSurface, PageLight, SurfaceForm};
use super::{
    Dialect, EntityRules, Game, LightModel, Lump, Magic, Role, VisModel, checksum, classes, follow, lump, only,
};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryFields, EntryShape};

/// Quake III Arena.
pub static QUAKE3: Dialect = Dialect {
    name: "quake3",
    title: "Quake III Arena",
    magic: Magic::Ident(*b"IBSP"),
    versions: &[46, 47],
    shapes: &[with_entries(17), with_entries(18)],
    lumps: &LUMPS,
    rows: &[SAME, records::ROWS],
    // A map of version 47 does not say which game it is for. Only maps of Quake Live were available.
    games: &[
        Game { name: "quake3", title: "Quake III Arena", versions: &[46], flags: flags::QUAKE3 },
        Game { name: "quakelive", title: "Quake Live", versions: &[47], flags: flags::QUAKE3 },
        Game { name: "wolfenstein", title: "Return to Castle Wolfenstein", versions: &[47], flags: flags::WOLFENSTEIN },
        Game { name: "et", title: "Wolfenstein: Enemy Territory", versions: &[47], flags: flags::ENEMY_TERRITORY },
    ],
    entity_references: follow::TO_MODELS,
    brush_classes: &classes::QUAKE3,
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
    checksums: &[checksum::of_file("quake3", "Quake III", true)],
    beside: &[super::beside::QUAKE3],
    checks: &super::limits::QUAKE3,
    preferred_to: None,
    probe,
};

const LIGHT: PageLight = PageLight {
    lump: "LIGHTMAPS",
    size: 128,
    surfaces: SurfaceForm::of(SURFACES),
    vertexes: CornerForm::of(DRAWVERTS),
    files: ("lm_", ".tga"),
};

impl From<Surface> for LitSurface {
    fn from(surface: Surface) -> Self {
        LitSurface {
            pages: [surface.lightmap, -1, -1, -1],
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
