//! A map of Quake III with any number of surfaces.

use bspkit::Builder;
use bspkit::dialect::quake3::{
    BRUSHES, BRUSHSIDES, Brush, BrushSide, DRAWINDEXES, DRAWVERTS, DrawIndex, DrawVert, LEAFBRUSHES, LEAFS,
    LEAFSURFACES, Leaf, LeafBrush, LeafSurface, MODELS, Model, NODES, Node, PLANES, Plane, SHADERS, SURFACES, Shader,
    Surface,
};
use bspkit::dialect::{QUAKE3, Role};
use bspkit::record::Name;

use crate::harness::Outcome;

const SHADERS_OF_IT: usize = 50;
const SIDES: usize = 6;
const IN_LEAF: usize = 20;

/// Surfaces with four vertexes each, a brush with six sides for every twelve of them, and 20 of them in each leaf.
pub(crate) fn map(surfaces: usize) -> Outcome<Vec<u8>> {
    let (brushes, planes) = (surfaces / 12, surfaces / 6 * 2);
    let leafs = surfaces / IN_LEAF;
    let number = |index: usize| i32::try_from(index).unwrap_or(0);
    let shader = |index: usize| {
        let mut name = Name([0; 64]);
        assert!(name.set(format!("own/shader_{index}").as_bytes()));
        Shader { name, surface_flags: 0, content_flags: 1 }
    };
    let plane = |index: usize| {
        let side = if index.is_multiple_of(2) { 1.0 } else { -1.0 };
        Plane { normal: [side, 0.0, 0.0], distance: side * (index / 2) as f32 }
    };
    let node = |index: usize| Node {
        plane: number(index % planes),
        // A list: each node has a leaf at its front.
        children: [-1 - number(index), if index + 1 == leafs { -1 } else { number(index + 1) }],
        mins: [-64; 3],
        maxs: [64; 3],
    };
    let leaf = |index: usize| Leaf {
        cluster: 0,
        area: 0,
        mins: [-64; 3],
        maxs: [64; 3],
        first_leaf_surface: number(index * IN_LEAF),
        leaf_surface_count: number(IN_LEAF),
        first_leaf_brush: number(index.min(brushes - 1)),
        leaf_brush_count: 1,
    };
    let surface = |index: usize| Surface {
        shader: number(index % SHADERS_OF_IT),
        fog: -1,
        kind: Surface::PLANAR,
        first_vertex: number(4 * index),
        vertex_count: 4,
        first_index: number(6 * index),
        index_count: 6,
        lightmap: -1,
        lightmap_at: [0; 2],
        lightmap_size: [0; 2],
        lightmap_origin: [0.0; 3],
        lightmap_vectors: [[0.0; 3]; 3],
        patch_size: [0; 2],
    };
    let vertex = |index: usize| DrawVert {
        point: [index as f32, 0.0, 1.0],
        texture: [0.5; 2],
        lightmap: [0.0; 2],
        normal: [0.0, 0.0, 1.0],
        color: [255; 4],
    };
    let side = |index: usize| BrushSide { plane: number(index % planes), shader: number(index % SHADERS_OF_IT) };
    let brush = |index: usize| Brush { first_side: number(index * SIDES), side_count: number(SIDES), shader: 0 };
    let model = Model {
        mins: [-64.0; 3],
        maxs: [64.0; 3],
        first_surface: 0,
        surface_count: number(surfaces),
        first_brush: 0,
        brush_count: number(brushes),
    };
    let index = |index: usize| DrawIndex { vertex: [0, 1, 2, 0, 2, 3][index % 6] };
    let builder = Builder::new(&QUAKE3)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")?
        .table(SHADERS, &list(SHADERS_OF_IT, shader))?
        .table(PLANES, &list(planes, plane))?
        .table(NODES, &list(leafs, node))?
        .table(LEAFS, &list(leafs, leaf))?
        .table(LEAFSURFACES, &list(surfaces, |at| LeafSurface { surface: number(at) }))?
        .table(LEAFBRUSHES, &list(brushes, |at| LeafBrush { brush: number(at) }))?
        .table(MODELS, &[model])?
        .table(BRUSHES, &list(brushes, brush))?
        .table(BRUSHSIDES, &list(brushes * SIDES, side))?
        .table(DRAWVERTS, &list(4 * surfaces, vertex))?
        .table(DRAWINDEXES, &list(6 * surfaces, index))?
        .table(SURFACES, &list(surfaces, surface))?;
    Ok(builder.build()?)
}

fn list<R>(len: usize, record: impl Fn(usize) -> R) -> Vec<R> {
    (0..len).map(record).collect()
}
