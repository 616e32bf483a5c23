//! The room with Strata's wider numbers: the same lumps, record by record, and an overlay, which only there has a
//! struct of its own length.

use bspkit::dialect::shared::{Edge, WideEdge};
use bspkit::dialect::source::{self, OverlayFade};
use bspkit::dialect::source21::{self, OverlaySystemLevel};
use bspkit::dialect::strata::{
    AreaPortal, BrushSide, Face, FaceBrushList, Leaf, LeafAmbientIndex, Node, Overlay, OverlayFace,
};
use bspkit::record::Record;

use crate::records::{longs, zeros};

/// The versions of lumps that are not 0, but for those that version 21 has too.
pub(crate) const VERSIONS: [(usize, i32); 21] = [
    (5, 1),
    (7, 2),
    (10, 2),
    (12, 1),
    (16, 1),
    (17, 1),
    (19, 1),
    (21, 1),
    (22, 1),
    (23, 1),
    (26, 1),
    (28, 2),
    (31, 1),
    (36, 1),
    (37, 1),
    (39, 1),
    (45, 3),
    (50, 1),
    (51, 1),
    (52, 1),
    (58, 2),
];

/// A lump of version 21 as Strata has it.
pub(crate) fn lump(index: usize, bytes: Vec<u8>) -> Vec<u8> {
    match index {
        5 => each(&bytes, node),
        7 | 27 | 58 => each(&bytes, face),
        10 => each(&bytes, leaf),
        12 => each(&bytes, |edge: Edge| WideEdge { vertexes: edge.vertexes.map(u32::from) }),
        11 | 16 | 17 | 31 => bytes.chunks_exact(2).flat_map(|short| [short[0], short[1], 0, 0]).collect(),
        19 => each(&bytes, side),
        21 => each(&bytes, |_: source::AreaPortal| zeros::<AreaPortal>()),
        23 => each(&bytes, |list: source21::FaceBrushList| FaceBrushList {
            count: list.count.into(),
            first: list.first.into(),
        }),
        28 => vec![0; 4],
        51 | 52 => each(&bytes, |index: source::LeafAmbientIndex| LeafAmbientIndex {
            count: index.count.into(),
            first: index.first.into(),
        }),
        _ => bytes,
    }
}

/// An overlay on both halves of the floor, with the lumps for overlays.
pub(crate) fn overlays() -> [(usize, Vec<u8>); 3] {
    let overlay = Overlay {
        id: 1,
        face_count: 2,
        u: [0.0, 1.0],
        v: [0.0, 1.0],
        uv_points: [[-32.0, -32.0], [-32.0, 32.0], [32.0, 32.0], [32.0, -32.0]],
        u_direction: [1.0, 0.0, 0.0],
        origin: [0.0, 0.0, -64.0],
        normal: [0.0, 0.0, 1.0],
        tint: [255, 128, 0, 255],
        ..zeros()
    };
    let faces = [0, 1].map(|face| OverlayFace { face }.encode()).concat();
    let fade = OverlayFade { min_squared: -1.0, max_squared: 0.0 };
    let levels = OverlaySystemLevel { levels: [0; 4] };
    [(45, [longs(&[1, 2]), faces, overlay.encode()].concat()), (60, fade.encode()), (61, levels.encode())]
}

fn each<N: Record, W: Record>(bytes: &[u8], widen: impl Fn(N) -> W) -> Vec<u8> {
    bytes.chunks_exact(N::SIZE).filter_map(N::decode).flat_map(|record| widen(record).encode()).collect()
}

fn node(node: source::Node) -> Node {
    Node {
        plane: node.plane,
        children: node.children,
        mins: node.mins.map(f32::from),
        maxs: node.maxs.map(f32::from),
        first_face: node.first_face.into(),
        face_count: node.face_count.into(),
        area: node.area,
        padding: 0,
    }
}

fn leaf(leaf: source::Leaf) -> Leaf {
    Leaf {
        contents: leaf.contents,
        cluster: leaf.cluster.into(),
        area_flags: u32::from(leaf.area()) | u32::from(leaf.flags()) << 17,
        mins: leaf.mins.map(f32::from),
        maxs: leaf.maxs.map(f32::from),
        first_leaf_face: leaf.first_leaf_face.into(),
        leaf_face_count: leaf.leaf_face_count.into(),
        first_leaf_brush: leaf.first_leaf_brush.into(),
        leaf_brush_count: leaf.leaf_brush_count.into(),
        water: leaf.water.into(),
    }
}

fn face(face: source::Face) -> Face {
    Face {
        plane: face.plane.into(),
        side: face.side,
        on_node: face.on_node,
        padding: 0,
        first_edge: face.first_edge,
        edge_count: face.edge_count.into(),
        texinfo: face.texinfo.into(),
        displacement: face.displacement.into(),
        fog_volume: face.fog_volume.into(),
        styles: face.styles,
        light_offset: face.light_offset,
        area: face.area,
        luxel_mins: face.luxel_mins,
        luxel_size: face.luxel_size,
        original_face: face.original_face,
        // Shadows fall on it.
        shadows_primitive_count: 1,
        first_primitive: face.first_primitive.into(),
        smoothing_groups: face.smoothing_groups,
    }
}

fn side(side: source::BrushSide) -> BrushSide {
    BrushSide { plane: side.plane.into(), texinfo: side.texinfo.into(), ..zeros() }
}
