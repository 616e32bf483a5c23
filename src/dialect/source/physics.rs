//! The collision models of maps, and which brushes their solids are made from: `vbsp` gives each convex piece the
//! number of its brush (`SetConvexGameData` in ivp.cpp of the Source SDK 2013), and engines look up the contents of the
//! brush with it. The layout of solids is measured: in maps of versions 19 and 20 the pieces of the world and of models
//! have the numbers of their brushes there.

use std::ops::Range;

use crate::bytes::index;
use crate::dialect::{Block, Places, Row};
use crate::record::{Field, Record, records};

records! {
    /// `dphysmodel_t`: what is before the solids and the text of an entry. The entry that ends the list has no
    /// solids.
    pub(crate) struct PhysicsHead(16) {
        /// The brush model, or -1.
        pub(crate) model: i32 as "modelIndex",
        /// The bytes of all solids.
        pub(crate) solids_size: i32 as "dataSize",
        /// The bytes of the text.
        pub(crate) text_size: i32 as "keydataSize",
        /// How many solids there are.
        pub(crate) solid_count: i32 as "solidCount",
    }

    /// The size before each solid.
    pub(crate) struct SolidHead(4) {
        /// The bytes of the solid that follows.
        pub(crate) size: i32,
    }

    /// The surface of a solid.
    struct Surface(48) {
        mass_center: [f32; 3],
        inertia: [f32; 3],
        radius: f32,
        size_and_deviation: u32,
        /// Where the tree of pieces begins, from the start of the surface.
        tree: i32 as "offset_ledgetree_root",
        /// Where the pieces begin in solids of the other kind.
        pieces: i32 as "offset_ledges",
        unused: i32,
        /// `IVPS`, or `MOPP` in solids of the other kind.
        kind: [u8; 4],
    }

    /// A node in the tree of pieces.
    struct PieceNode(28) {
        /// Where the second child begins, from this node; the first one follows it. 0: a leaf.
        right: i32 as "offset_right_node",
        /// Where the piece of a leaf begins, from this node.
        piece: i32 as "offset_compact_ledge",
        center: [f32; 3],
        radius: f32,
        sizes: [u8; 4] as "box_sizes",
    }

    /// A convex piece; its triangles follow.
    struct Piece(16) {
        /// Where its points begin, from this piece.
        points: i32 as "c_point_offset",
        /// The number of the brush that it is made from.
        brush: i32 as "client_data",
        /// The size in units of 16 bytes, above the lowest 8 bits.
        size_and_flags: u32,
        triangle_count: i16 as "n_triangles",
        unused: i16,
    }

    /// A triangle of a piece.
    struct Triangle(16) {
        /// The material is in the bits 24 to 30.
        numbers: u32,
        edges: [u32; 3],
    }
}

/// The bytes before the surface in solids that begin with `VPHY`.
const HEAD_OF_SOLID: usize = 28;
/// A kind of solid with another layout.
const MOPP: u8 = 1;
/// The bytes before such a solid.
const HEAD_OF_MOPP: usize = 12;
/// Where the number of the brush is in a piece.
const NUMBER: usize = std::mem::offset_of!(Piece, brush);

/// The collision models of models.
pub(in crate::dialect) const PHYSCOLLIDE: Row = with_brushes("PHYSCOLLIDE");

/// Surface models, in the same layout.
pub(super) const PHYSCOLLIDESURFACE: Row = with_brushes("PHYSCOLLIDESURFACE");

const fn with_brushes(lump: &'static str) -> Row {
    let brushes =
        Places { lump: "BRUSHES", find: brushes_of_pieces, remove: remove_pieces, is_apart: is_without_materials };
    Row::lens(lump, "physics").blocks("MODELS", blocks).places(brushes)
}

/// The record at an offset.
fn at<R: Record>(bytes: &[u8], at: usize) -> Option<R> {
    bytes.get(at..).and_then(R::decode)
}

/// The models of `PHYSCOLLIDE`, up to the entry that ends it.
fn blocks(bytes: &[u8]) -> Option<Vec<Block>> {
    let (mut blocks, mut start) = (Vec::new(), 0);
    while let Some(head) = at(bytes, start).filter(|head: &PhysicsHead| head.solids_size > 0) {
        let [solids, text] = [head.solids_size, head.text_size].map(|size| usize::try_from(size).ok());
        let end = (start + PhysicsHead::SIZE).checked_add(solids?)?.checked_add(text?)?;
        if end > bytes.len() {
            return None;
        }
        blocks.push(Block { range: start..end, at: start });
        start = end;
    }
    Some(blocks)
}

/// Where the solids of all models are.
fn solids(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut solids = Vec::new();
    for block in blocks(bytes)? {
        let head: PhysicsHead = at(bytes, block.range.start)?;
        let mut solid = block.range.start + PhysicsHead::SIZE;
        for _ in 0..head.solid_count {
            let size = usize::try_from(at::<SolidHead>(bytes, solid)?.size).ok()?;
            let start = solid + SolidHead::SIZE;
            solid = start.checked_add(size).filter(|end| *end <= block.range.end)?;
            solids.push(start..solid);
        }
    }
    Some(solids)
}

/// The offsets of the numbers of brushes; `None` if a solid has another layout.
fn brushes_of_pieces(bytes: &[u8]) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for solid in solids(bytes)? {
        pieces(&bytes[solid.clone()], solid.start, &mut places)?;
    }
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// The places of the numbers in a solid that begins at an offset of the lump.
fn pieces(solid: &[u8], start: usize, places: &mut Vec<usize>) -> Option<()> {
    if is_mopp(solid) {
        return ledges(solid, start, places);
    }
    let mut open = vec![tree(solid)?];
    // A tree has no more nodes than there is room for.
    for _ in 0..=solid.len() / PieceNode::SIZE {
        let Some(place) = open.pop() else { return Some(()) };
        let node: PieceNode = at(solid, place)?;
        match node.right {
            0 => {
                let piece = step(place, node.piece)?;
                at::<Piece>(solid, piece)?;
                places.push(start + piece + NUMBER);
            }
            right if right > 0 => open.extend([step(place, right)?, place + PieceNode::SIZE]),
            _ => return None,
        }
    }
    None
}

fn is_mopp(solid: &[u8]) -> bool {
    solid.starts_with(b"VPHY") && solid.get(6) == Some(&MOPP)
}

/// Where the tree of pieces begins in a solid that is not of the other kind.
fn tree(solid: &[u8]) -> Option<usize> {
    let first = if solid.starts_with(b"VPHY") { HEAD_OF_SOLID } else { 0 };
    let surface: Surface = at(solid, first).filter(|surface: &Surface| surface.kind == *b"IVPS")?;
    step(first, surface.tree)
}

fn step(from: usize, by: i32) -> Option<usize> {
    from.checked_add_signed(isize::try_from(by).ok()?)
}

/// Takes pieces out of the trees of solids. What only they had stays, as bytes to which nothing leads; their numbers
/// become 0, so that these bytes do not depend on what the number was at last. Spheres and
/// hulls around several pieces stay as large as they were: they only say where it is worth to look.
fn remove_pieces(bytes: &mut [u8], gone: &[usize]) -> Option<()> {
    for solid in solids(bytes)? {
        let from = |at: usize| gone.partition_point(|gone| *gone < at);
        let own: Vec<usize> = gone[from(solid.start)..from(solid.end)].iter().map(|gone| gone - solid.start).collect();
        if !own.is_empty() {
            prune_tree(&mut bytes[solid], &own)?;
        }
    }
    for number in gone {
        bytes.get_mut(*number..number + 4)?.fill(0);
    }
    Some(())
}

/// Writes the tree of a solid anew, in the place of the old one: without the pieces whose numbers are at these offsets,
/// and without nodes that would have one child.
fn prune_tree(solid: &mut [u8], gone: &[usize]) -> Option<()> {
    const NODE: usize = PieceNode::SIZE;
    // The code of the other kind names its pieces too.
    let root = tree(solid).filter(|_| !is_mopp(solid))?;
    // The nodes, each with the number of its second child: the first one follows it.
    let mut nodes: Vec<(PieceNode, Option<usize>)> = Vec::new();
    let mut open = vec![root];
    while let Some(place) = open.pop() {
        let node: PieceNode = at(solid, place).filter(|_| place == root + NODE * nodes.len())?;
        let right = if node.right == 0 { None } else { Some(step(place, node.right)?) };
        open.extend(right.into_iter().flat_map(|right| [right, place + NODE]));
        let number = right.map_or(Some(None), |right| right.checked_sub(root).map(|by| Some(by / NODE)))?;
        nodes.push((node, number));
    }
    let mut stays = vec![false; nodes.len()];
    for (index, (node, right)) in nodes.iter().enumerate().rev() {
        stays[index] = match right {
            Some(right) => *stays.get(index + 1)? || *stays.get(*right)?,
            None => gone.binary_search(&(step(root + NODE * index, node.piece)? + NUMBER)).is_err(),
        };
    }
    let mut new: Vec<PieceNode> = Vec::new();
    let mut open = if stays[0] { vec![(0, None)] } else { return None };
    while let Some((mut index, parent)) = open.pop() {
        while let Some(right) = nodes[index].1.filter(|right| stays[index + 1] != stays[*right]) {
            index = if stays[index + 1] { index + 1 } else { right };
        }
        let by = |from: usize, to: usize| Some(i32::try_from(NODE * to).ok()? - i32::try_from(NODE * from).ok()?);
        if let Some(parent) = parent {
            new.get_mut::<usize>(parent)?.right = by(parent, new.len())?;
        }
        let (mut node, right) = nodes[index];
        if node.piece != 0 {
            // It is relative to the node, which has another place.
            node.piece = node.piece.checked_add(by(new.len(), index)?)?;
        }
        open.extend(right.into_iter().flat_map(|right| [(right, Some(new.len())), (index + 1, None)]));
        new.push(node);
    }
    let tree = solid.get_mut(root..root + NODE * nodes.len())?;
    tree.fill(0);
    tree.chunks_exact_mut(NODE).zip(new).for_each(|(to, node)| to.copy_from_slice(&node.encode()));
    Some(())
}

/// The places of the numbers in a solid of the other kind, which has its pieces one after the other and the points of
/// all of them after these. Displacements are such solids: each piece is one triangle with two sides, and of no brush.
fn ledges(solid: &[u8], start: usize, places: &mut Vec<usize>) -> Option<()> {
    let surface: Surface = at(solid, HEAD_OF_MOPP).filter(|surface: &Surface| surface.kind == *b"MOPP")?;
    let size = |size: i32| usize::try_from(size).ok();
    let mut ledge = HEAD_OF_MOPP.checked_add(size(surface.pieces)?)?;
    let points = ledge.checked_add(size(at::<Piece>(solid, ledge)?.points)?)?;
    if points > solid.len() {
        return None;
    }
    while ledge < points {
        let piece: Piece = at(solid, ledge)?;
        let (units, triangles) = (index(piece.size_and_flags >> 8), usize::try_from(piece.triangle_count).ok()?);
        if ledge.checked_add(size(piece.points)?)? != points || units != triangles + 1 {
            return None;
        }
        match (triangles, piece.brush) {
            (2, 0) => {}
            // No brush has so few.
            (..4, _) => return None,
            _ => places.push(start + ledge + NUMBER),
        }
        ledge += Piece::SIZE + Triangle::SIZE * triangles;
    }
    (ledge == points).then_some(())
}

/// Whether no triangle of the piece whose number is there has a material. Materials are numbers of the list in the
/// world's text. Measured in maps of versions 19 to 42: triangles of the world have them, and those of all 662 other
/// models (8,368 triangles) have 0, since the text of such a solid names its material.
fn is_without_materials(bytes: &[u8], number: usize) -> bool {
    const MATERIAL: u32 = 0x7F << 24;
    let start = number.saturating_sub(NUMBER);
    let Some(piece) = at::<Piece>(bytes, start) else { return false };
    let first = start + Piece::SIZE;
    let mut triangles = (0..).map(|triangle: usize| at::<Triangle>(bytes, first + Triangle::SIZE * triangle));
    (0..piece.triangle_count).all(|_| triangles.next().flatten().is_some_and(|of| of.numbers & MATERIAL == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::word;

    /// A solid with a tree of two pieces.
    fn solid() -> Vec<u8> {
        let mut solid = vec![0; HEAD_OF_SOLID + 48 + 2 * 16 + 3 * PieceNode::SIZE];
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
    fn pieces_go_with_their_brushes() {
        let bytes = lump(&solid());
        let places = brushes_of_pieces(&bytes).unwrap();
        let before = places.clone();
        for (gone, left) in [(0, 9), (1, 7)] {
            let mut new = bytes.clone();
            remove_pieces(&mut new, &places[gone..=gone]).unwrap();
            let places = brushes_of_pieces(&new).unwrap();
            assert_eq!(places.iter().map(|at| word(&new, *at).unwrap()).collect::<Vec<_>>(), [left]);
            assert_eq!((new.len(), word(&new, before[gone])), (bytes.len(), Some(0)));
        }
        assert_eq!(remove_pieces(&mut bytes.clone(), &places), None, "a solid has a piece");
        let mut endless = solid();
        let tree = HEAD_OF_SOLID + 48 + 32;
        endless[tree + 28..tree + 32].copy_from_slice(&(-28_i32).to_le_bytes());
        assert_eq!(prune_tree(&mut endless, &[]), None);
        let mut mopp = lump(&mopp(&[(12, 7), (8, 9)]));
        let places = brushes_of_pieces(&mopp).unwrap();
        assert_eq!(remove_pieces(&mut mopp, &places[..1]), None);
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
