//! The values of the records, with bspkit's names for the fields.

use vbsp::{Bsp, Face, Vector};

#[path = "../../values.rs"]
mod values;

use values::{Values, table};

pub fn print(map: &Bsp) {
    table("PLANES", "normal distance kind", &map.planes, |plane, to| {
        to.floats(point(plane.normal)).floats([plane.dist]).number(plane.ty);
    });
    let data = "reflectivity name width height view_width view_height";
    table("TEXDATA", data, &map.textures_data, |data, to| {
        to.floats(point(data.reflectivity)).number(data.name_string_table_id);
        to.numbers([data.width, data.height, data.view_width, data.view_height]);
    });
    let info = "texture_vectors lightmap_vectors flags texdata";
    table("TEXINFO", info, &map.textures_info, |info, to| {
        to.floats(info.texture_transforms_u).floats(info.texture_transforms_v);
        to.floats(info.light_map_scale).floats(info.light_map_transform);
        to.number(info.flags.bits()).number(info.texture_data_index);
    });
    table("TEXDATA_STRING_TABLE", "offset", &map.texture_string_tables, |offset, to| {
        to.number(*offset);
    });
    table("VERTEXES", "point", &map.vertices, |vertex, to| {
        to.floats(point(vertex.position));
    });
    let node = "plane children mins maxs first_face face_count area";
    table("NODES", node, &map.nodes, |node, to| {
        to.number(node.plane_index).numbers(node.children).numbers(node.mins).numbers(node.maxs);
        to.number(node.first_face).number(node.face_count).number(node.area);
    });
    // It sorts them by cluster.
    let leaf =
        "contents cluster area_flags mins maxs first_leaf_face leaf_face_count first_leaf_brush leaf_brush_count water";
    table("?LEAFS", leaf, map.leaves.iter(), |leaf, to| {
        to.number(leaf.contents).number(leaf.cluster).number(leaf.area_and_flags).numbers(leaf.mins).numbers(leaf.maxs);
        to.number(leaf.first_leaf_face).number(leaf.leaf_face_count);
        to.number(leaf.first_leaf_brush).number(leaf.leaf_brush_count).number(leaf.leaf_watter_data_id);
    });
    table("LEAFFACES", "face", &map.leaf_faces, |face, to| {
        to.number(face.face);
    });
    table("LEAFBRUSHES", "brush", &map.leaf_brushes, |brush, to| {
        to.number(brush.brush);
    });
    let model = "mins maxs origin head_node first_face face_count";
    table("MODELS", model, &map.models, |model, to| {
        to.floats([model.mins, model.maxs, model.origin].into_iter().flat_map(point));
        to.numbers([model.head_node, model.first_face, model.face_count]);
    });
    table("BRUSHES", "first_side side_count contents", &map.brushes, |brush, to| {
        to.numbers([brush.brush_side, brush.num_brush_sides, brush.flags.bits()]);
    });
    table("BRUSHSIDES", "plane texinfo displacement bevel", &map.brush_sides, |side, to| {
        to.number(side.plane).numbers([side.texture_info, side.displacement_info, side.bevel]);
    });
    table("EDGES", "vertexes", &map.edges, |edge, to| {
        to.numbers([edge.start_index, edge.end_index]);
    });
    table("FACES", FACE, &map.faces, face);
    table("ORIGINALFACES", FACE, &map.original_faces, face);
    let displacement = "start first_vertex first_triangle power min_tess smoothing_angle contents \
         face first_alpha first_sample_position allowed_vertexes";
    table("DISPINFO", displacement, &map.displacements, |info, to| {
        to.floats(point(info.start_position));
        to.numbers([info.displacement_vertex_start, info.displacement_triangle_tag_start, info.power]);
        to.number(info.minimum_tesselation).floats([info.smoothing_angle]).number(info.contents);
        to.number(info.map_face).number(info.lightmap_alpha_start).number(info.lightmap_sample_position_start);
        to.numbers(info.allowed_vertices);
    });
    table("DISP_VERTS", "direction distance alpha", &map.displacement_vertices, |vertex, to| {
        to.floats(point(vertex.vector)).floats([vertex.distance, vertex.alpha]);
    });
}

const FACE: &str = "plane side on_node first_edge edge_count texinfo displacement fog_volume styles light_offset area \
     luxel_mins luxel_size original_face primitive_count first_primitive smoothing_groups";

fn face(face: &Face, to: &mut Values) {
    to.number(face.plane_num).number(face.side).number(face.on_node).number(face.first_edge);
    to.numbers([face.num_edges, face.texture_info, face.displacement_info, face.surface_fog_volume_id]);
    to.numbers(face.styles).number(face.light_offset).floats([face.area]);
    to.numbers(face.light_map_texture_min).numbers(face.light_map_texture_size).number(face.original_face);
    to.number(face.primitive_count).number(face.first_primitive_index).number(face.smoothing_groups);
}

fn point(point: Vector) -> [f32; 3] {
    [point.x, point.y, point.z]
}
