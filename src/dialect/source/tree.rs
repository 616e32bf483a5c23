//! The tree, its leafs, the areas, and which brushes the solids of a map's physics are made from.

use super::fit::{leafs_of_this_size, nodes_of_this_size, with_known_faces};
use super::light::ColorRgbExp32;
use crate::bytes::word;
use crate::dialect::shared::Vertex;
use crate::dialect::{Block, Each, Key, Places, Row, keys};
use crate::record::{FlagKind, Meaning, index, index_or_none, records, run, set};

// The tree, its leafs, and the areas.

keys! {
    NODES: Node = "Lump 5.",
    LEAFS: Leaf = "Lump 10, version 1, and version 0 of maps before version 19.",
    LEAFFACES: LeafFace = "Lump 16. Displacements are in no leaf.",
    LEAFBRUSHES: LeafBrush = "Lump 17.",
    AREAS: Area = "Lump 20.",
    AREAPORTALS: AreaPortal = "Lump 21.",
    LEAFWATERDATA: LeafWaterData = "Lump 36.",
    CLIPPORTALVERTS: Vertex = "Lump 41.",
    LEAFMINDISTTOWATER: LeafMinDistToWater = "Lump 46: one for each leaf.",
}

/// Lump 10, version 0, of maps from version 19 on: leafs with light in them.
pub const LEAFS_V0: Key<LeafV0> = Key::new("LEAFS");

pub(super) const ROWS: &[Row] = &[
    Row::lens("VISIBILITY", "visibility"),
    NODES.row().fixed(1).summed(nodes_of_this_size),
    LEAFS.row().fixed(1).versions(&[1]).summed(leafs_of_this_size),
    LEAFS_V0.row().fixed(1).versions(&[0]).summed(leafs_of_this_size),
    LEAFFACES.row().listed().proved(with_known_faces),
    LEAFBRUSHES.row().listed().proved(with_known_faces),
    AREAS.row().fixed(1),
    AREAPORTALS.row().fixed(1).proved(with_known_faces),
    LEAFWATERDATA.row(),
    CLIPPORTALVERTS.row(),
    LEAFMINDISTTOWATER.row().parallel("LEAFS", Each::One, &[0xFF]),
];

/// Declares structs of leafs, which differ in their last fields.
macro_rules! leafs {
    ($($(#[$meta:meta])* $name:ident($size:literal) { $($end:tt)* })* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
                    /// `CONTENTS_` flags of all brushes in it.
                    pub contents: i32 => Meaning::Flags(FlagKind::Contents),
                    /// Its cluster of the visibility lump, or -1.
                    pub cluster: i16,
                    /// Its area in the low 9 bits, `LEAF_FLAGS_` in the others.
                    pub area_flags: u16 => Meaning::Bits { lump: "AREAS", mask: 0x1FF },
                    /// Its box, for culling.
                    pub mins: [i16; 3],
                    /// Its box, for culling.
                    pub maxs: [i16; 3],
                    /// Its first face in the leaffaces.
                    pub first_leaf_face: u16 as "firstleafface" => set("LEAFFACES", "leaf_face_count"),
                    /// How many faces it has.
                    pub leaf_face_count: u16 as "numleaffaces",
                    /// Its first brush in the leafbrushes.
                    pub first_leaf_brush: u16 as "firstleafbrush" => set("LEAFBRUSHES", "leaf_brush_count"),
                    /// How many brushes reach into it.
                    pub leaf_brush_count: u16 as "numleafbrushes",
                    /// Its water, -1 for none.
                    pub water: i16 as "leafWaterDataID" => index_or_none("LEAFWATERDATA"),
                    $($end)*
                    /// 0 from Valve's tools.
                    pub padding: u16,
                }
            )*
            $($rest)*
        }

        $(impl $name {
            /// Its area.
            pub fn area(&self) -> u16 {
                self.area_flags & 0x1FF
            }

            /// Its `LEAF_FLAGS_`: 1 where it sees the sky.
            pub fn flags(&self) -> u16 {
                self.area_flags >> 9
            }

            /// Sets the area; only the low 9 bits are used.
            pub fn set_area(&mut self, area: u16) {
                self.area_flags = self.area_flags & !0x1FF | area & 0x1FF;
            }

            /// Sets the `LEAF_FLAGS_`; only the low 7 bits are used.
            pub fn set_flags(&mut self, flags: u16) {
                self.area_flags = self.area_flags & 0x1FF | flags << 9;
            }
        })*
    };
}

leafs! {
    /// `dleaf_t`. The first one of a map is solid and not part of any tree. It has cluster 0 nevertheless.
    Leaf(32) {}

    /// `dleaf_version_0_t`: a leaf with its ambient light.
    LeafV0(56) {
        /// Its ambient light, from the directions x, -x, y, -y, z, -z.
        pub ambient: [ColorRgbExp32; 6] as "m_AmbientLighting",
    }

    => {
    /// `dnode_t`.
    pub struct Node(32) {
        /// The plane that divides it, an even number.
        pub plane: i32 as "planenum" => index("PLANES"),
        /// The children at the front and at the back: a node, or the leaf `-1 - child`.
        pub children: [i32; 2] => Meaning::Child,
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face.
        pub first_face: u16 as "firstface" => set("FACES", "face_count"),
        /// How many faces lie on its plane.
        pub face_count: u16 as "numfaces",
        /// The area of all leafs below it, or -1.
        pub area: i16 => index_or_none("AREAS"),
        /// 0.
        pub padding: i16,
    }

    /// A number of the leaffaces lump.
    pub struct LeafFace(2) {
        /// The face's index.
        pub face: u16 => index("FACES"),
    }

    /// A number of the leafbrushes lump.
    pub struct LeafBrush(2) {
        /// The brush's index.
        pub brush: u16 => index("BRUSHES"),
    }

    /// `darea_t`. The first one is not used.
    pub struct Area(8) {
        /// How many portals lead out of it.
        pub portal_count: i32 as "numareaportals",
        /// The first of them.
        pub first_portal: i32 as "firstareaportal" => set("AREAPORTALS", "portal_count"),
    }

    /// `dareaportal_t`. The first one is not used. Each portal has two entries, one per side.
    pub struct AreaPortal(12) {
        /// The `portalnumber` of the `func_areaportal` that opens it.
        pub key: u16 as "m_PortalKey",
        /// The area it leads to.
        pub other_area: u16 as "otherarea" => index("AREAS"),
        /// Its first corner.
        pub first_vertex: u16 as "m_FirstClipPortalVert" => run("CLIPPORTALVERTS", "vertex_count"),
        /// How many corners it has.
        pub vertex_count: u16 as "m_nClipPortalVerts",
        /// The plane it lies on.
        pub plane: i32 as "planenum" => index("PLANES"),
    }

    /// `dleafwaterdata_t`.
    pub struct LeafWaterData(12) {
        /// The height of its surface.
        pub surface_z: f32 as "surfaceZ",
        /// The height of its ground.
        pub min_z: f32 as "minZ",
        /// The texture of its surface.
        pub surface_texinfo: i16 as "surfaceTexInfoID" => index_or_none("TEXINFO"),
        /// 0.
        pub padding: u16,
    }

    /// A number of the leafmindisttowater lump.
    pub struct LeafMinDistToWater(2) {
        /// The distance of the nearest water in units; 65535 if no water is visible.
        pub distance: u16,
    }
    }
}

// Which brushes the solids of a map's physics are made from: `vbsp` gives each convex piece the number of its brush
// (`SetConvexGameData` in ivp.cpp of the Source SDK 2013), and engines look up the contents of the brush with it. The
// layout of solids is measured: in maps of versions 19 and 20 the pieces of the world and of models have the numbers
// of their brushes there.

const HEAD: usize = 16;
/// The bytes before the surface in solids that begin with `VPHY`.
const HEAD_OF_SOLID: usize = 28;
/// A kind of solid with another layout.
const MOPP: u8 = 1;
/// The bytes before such a solid.
const HEAD_OF_MOPP: usize = 12;
/// The bytes of a node in the tree of pieces.
const NODE: usize = 28;

/// The collision models of models.
pub(in crate::dialect) const PHYSCOLLIDE: Row = with_brushes("PHYSCOLLIDE");

/// Surface models, in the same layout.
pub(super) const PHYSCOLLIDESURFACE: Row = with_brushes("PHYSCOLLIDESURFACE");

const fn with_brushes(lump: &'static str) -> Row {
    let brushes = Places { lump: "BRUSHES", find: brushes_of_pieces, is_apart: is_without_materials };
    Row::lens(lump, "physics").blocks("MODELS", blocks).places(brushes)
}

/// The models of `PHYSCOLLIDE`, up to the entry that ends it.
fn blocks(bytes: &[u8]) -> Option<Vec<Block>> {
    let number = |at: usize| usize::try_from(word(bytes, at)?).ok();
    let (mut blocks, mut at) = (Vec::new(), 0);
    while word(bytes, at + 4).is_some_and(|size| size > 0) {
        let end = (at + HEAD).checked_add(number(at + 4)?)?.checked_add(number(at + 8)?)?;
        if end > bytes.len() {
            return None;
        }
        blocks.push(Block { range: at..end, at });
        at = end;
    }
    Some(blocks)
}

/// The offsets of the numbers of brushes; `None` if a solid has another layout.
fn brushes_of_pieces(bytes: &[u8]) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for block in blocks(bytes)? {
        let mut at = block.range.start + HEAD;
        for _ in 0..word(bytes, block.range.start + 12)? {
            let start = at + 4;
            at = start.checked_add(usize::try_from(word(bytes, at)?).ok()?).filter(|end| *end <= block.range.end)?;
            pieces(&bytes[start..at], start, &mut places)?;
        }
    }
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// The places of the numbers in a solid that begins at an offset of the lump.
fn pieces(solid: &[u8], start: usize, places: &mut Vec<usize>) -> Option<()> {
    let surface = match solid.starts_with(b"VPHY") {
        true if solid.get(6) == Some(&MOPP) => return ledges(solid, start, places),
        true => HEAD_OF_SOLID,
        false => 0,
    };
    let number = |at: usize| word(solid, at);
    if solid.get(surface + 44..surface + 48)? != b"IVPS" {
        return None;
    }
    let step = |from: usize, by: i32| from.checked_add_signed(isize::try_from(by).ok()?);
    let mut open = vec![step(surface, number(surface + 32)?)?];
    // A tree has no more nodes than there is room for.
    for _ in 0..=solid.len() / NODE {
        let Some(node) = open.pop() else { return Some(()) };
        match number(node)? {
            0 => {
                let piece = step(node, number(node + 4)?)?;
                number(piece + 4)?;
                places.push(start + piece + 4);
            }
            right if right > 0 => open.extend([step(node, right)?, node + NODE]),
            _ => return None,
        }
    }
    None
}

/// The places of the numbers in a solid of the other kind, which has its pieces one after the other and the points of
/// all of them after these. Displacements are such solids: each piece is one triangle with two sides, and of no brush.
fn ledges(solid: &[u8], start: usize, places: &mut Vec<usize>) -> Option<()> {
    let at = |at: usize| usize::try_from(word(solid, at)?).ok();
    if solid.get(HEAD_OF_MOPP + 44..HEAD_OF_MOPP + 48)? != b"MOPP" {
        return None;
    }
    let mut ledge = HEAD_OF_MOPP.checked_add(at(HEAD_OF_MOPP + 36)?)?;
    let points = ledge.checked_add(at(ledge)?).filter(|points| *points <= solid.len())?;
    while ledge < points {
        let (size, triangles) = (at(ledge + 8)? >> 8, at(ledge + 12)? & 0xFFFF);
        if ledge.checked_add(at(ledge)?)? != points || size != triangles + 1 {
            return None;
        }
        match (triangles, word(solid, ledge + 4)?) {
            (2, 0) => {}
            // No brush has so few.
            (..4, _) => return None,
            _ => places.push(start + ledge + 4),
        }
        ledge += 16 * size;
    }
    (ledge == points).then_some(())
}

/// Whether no triangle of the piece whose number is there has a material. Materials are numbers of the list in the
/// world's text. Measured in maps of versions 19 to 42: triangles of the world have them, and those of all 662 other
/// models (8,368 triangles) have 0, since the text of such a solid names its material.
fn is_without_materials(bytes: &[u8], at: usize) -> bool {
    const MATERIAL: i32 = 0x7F << 24;
    let count = word(bytes, at + 8).unwrap_or(0) & 0xFFFF;
    let mut triangles = (0..).map(|triangle: usize| word(bytes, at + 12 + 16 * triangle));
    (0..count).all(|_| triangles.next().flatten().is_some_and(|triangle| triangle & MATERIAL == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A solid with a tree of two pieces.
    fn solid() -> Vec<u8> {
        let mut solid = vec![0; HEAD_OF_SOLID + 48 + 2 * 16 + 3 * NODE];
        solid[..4].copy_from_slice(b"VPHY");
        solid[HEAD_OF_SOLID + 44..HEAD_OF_SOLID + 48].copy_from_slice(b"IVPS");
        let mut put = |at: usize, number: i32| solid[at..at + 4].copy_from_slice(&number.to_le_bytes());
        let (pieces, tree) = (HEAD_OF_SOLID + 48, HEAD_OF_SOLID + 48 + 32);
        put(HEAD_OF_SOLID + 32, 48 + 32);
        put(pieces + 4, 7);
        put(pieces + 20, 9);
        put(tree, 56);
        put(tree + 28 + 4, -(32 + 28));
        put(tree + 56 + 4, -(16 + 56));
        solid
    }

    fn lump(solid: &[u8]) -> Vec<u8> {
        let size = i32::try_from(solid.len()).unwrap();
        let head = [0, size + 4, 0, 1, size].map(i32::to_le_bytes).concat();
        [head, solid.to_vec(), [-1, -1, 0, 0].map(i32::to_le_bytes).concat()].concat()
    }

    #[test]
    fn pieces_have_the_numbers_of_their_brushes() {
        let bytes = lump(&solid());
        let places = brushes_of_pieces(&bytes).unwrap();
        assert_eq!(places.iter().map(|at| word(&bytes, *at).unwrap()).collect::<Vec<_>>(), [7, 9]);
    }

    #[test]
    fn a_material_binds_a_piece_to_its_map() {
        let mut bytes = lump(&mopp(&[(12, 7)]));
        let at = brushes_of_pieces(&bytes).unwrap()[0];
        assert!(is_without_materials(&bytes, at));
        bytes[at + 12 + 16 * 11 + 3] = 3;
        assert!(!is_without_materials(&bytes, at));
        bytes[at + 12 + 16 * 11 + 3] = 0x80;
        assert!(is_without_materials(&bytes, at), "the highest bit says that it is virtual");
        assert!(!is_without_materials(&bytes[..at + 20], at), "triangles that are not there");
    }

    /// Pieces, each with a number of triangles and that of a brush.
    fn mopp(pieces: &[(i32, i32)]) -> Vec<u8> {
        let mut solid = vec![0; HEAD_OF_MOPP + 48];
        solid[..8].copy_from_slice(b"VPHY\x00\x01\x01\x00");
        solid[HEAD_OF_MOPP + 36] = 48;
        solid[HEAD_OF_MOPP + 44..].copy_from_slice(b"MOPP");
        let size = |triangles: i32| 16 * (triangles + 1);
        let mut left: i32 = pieces.iter().map(|(triangles, _)| size(*triangles)).sum();
        for (triangles, number) in pieces {
            let head = [left, *number, (triangles + 1) << 8, *triangles].map(i32::to_le_bytes).concat();
            solid.extend([head, vec![0; usize::try_from(16 * triangles).unwrap()]].concat());
            left -= size(*triangles);
        }
        [solid, vec![0; 64]].concat()
    }

    #[test]
    fn triangles_of_terrain_are_of_no_brush() {
        let terrain = mopp(&[(2, 0), (2, 0), (2, 0)]);
        assert_eq!(brushes_of_pieces(&lump(&terrain)), Some(Vec::new()));
        let bytes = lump(&mopp(&[(2, 0), (12, 7), (8, 9)]));
        let places = brushes_of_pieces(&bytes).unwrap();
        assert_eq!(places.iter().map(|at| word(&bytes, *at).unwrap()).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(brushes_of_pieces(&lump(&mopp(&[(2, 5)]))), None);
        assert_eq!(brushes_of_pieces(&lump(&terrain[..100])), None);
        let mut cut = terrain;
        cut[HEAD_OF_MOPP + 48 + 9] = 1;
        assert_eq!(brushes_of_pieces(&lump(&cut)), None);
    }

    #[test]
    fn other_solids_are_not_read() {
        let (mut mopp, mut endless) = (solid(), solid());
        mopp[6] = MOPP;
        let tree = HEAD_OF_SOLID + 48 + 32;
        endless[tree + 28..tree + 32].copy_from_slice(&1_i32.to_le_bytes());
        assert_eq!((brushes_of_pieces(&lump(&mopp)), brushes_of_pieces(&lump(&endless))), (None, None));
        assert_eq!(brushes_of_pieces(&lump(b"VPHY")), None);
        assert_eq!(brushes_of_pieces(&[255; 16]), Some(Vec::new()));
    }
}
