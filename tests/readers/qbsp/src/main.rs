//! Prints the values that the crate qbsp reads in maps of Quake II and GoldSrc, with bspkit's names for the fields.

#[path = "../../values.rs"]
mod values;

use std::panic::catch_unwind;

use qbsp::data::brush::{BspBrush, BspBrushSide};
use qbsp::data::models::{BspEdge, BspFace, BspModel};
use qbsp::data::nodes::{BoundingBox, BspLeafContentFlags, BspNodeRef, BspNodeSubRef};
use qbsp::data::nodes::{BspClipNode, BspLeaf, BspNode, BspPlane};
use qbsp::data::texture::{BspSurfaceFlags, BspTexInfo};
use qbsp::data::util::UBspValue;
use qbsp::data::visdata::VisDataRef;
use qbsp::data::{LumpDirectory, LumpEntry};
use qbsp::glam::Vec3;
use qbsp::reader::{BspByteReader, BspParseContext, BspValue};
use values::{Values, table};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() {
    for path in std::env::args().skip(1) {
        println!("READ map");
        match catch_unwind(|| read(&path)) {
            Ok(Ok(())) => println!("READ end"),
            Ok(Err(error)) => println!("READ failed map {}", error.to_string().replace('\n', " ")),
            Err(_) => println!("READ failed map it panics"),
        }
    }
}

fn read(path: &str) -> Outcome {
    let bytes = std::fs::read(path)?;
    let nothing = BspParseContext::default();
    let mut reader = BspByteReader::new(&bytes, &nothing);
    let context = BspParseContext { format: reader.read()? };
    let lumps: LumpDirectory = reader.with_context(&context).read()?;
    let map = Map { bytes: &bytes, context: &context };
    match context.format.is_goldsrc() {
        true => map.goldsrc(&lumps),
        false => map.quake2(&lumps),
    }
}

struct Map<'m> {
    bytes: &'m [u8],
    context: &'m BspParseContext,
}

impl Map<'_> {
    fn lump<T: BspValue>(&self, entry: LumpEntry) -> Outcome<Vec<T>> {
        Ok(qbsp::read_lump(self.bytes, entry, "a", self.context)?)
    }

    fn goldsrc(&self, lumps: &LumpDirectory) -> Outcome {
        self.both(lumps, "MARKSURFACES")?;
        table("NODES", NODE, &self.lump::<BspNode>(lumps.nodes)?, |node, to| {
            to.number(node.plane_idx).numbers([side(node.front), side(node.back)]);
            bounds(&node.bound, to);
            to.number(node.face_idx.0).number(node.face_num.0);
        });
        let flags = format!("vectors texture flags&{:x}", BspSurfaceFlags::all().bits());
        table("TEXINFO", &flags, &self.lump::<BspTexInfo>(lumps.tex_info)?, |info, to| {
            projection(info, to);
            to.number(info.texture_idx.0.expect("GoldSrc has it")).number(info.flags.surface_flags.bits());
        });
        let clip_nodes = lumps.clip_nodes.0.ok_or("there are no clip nodes")?;
        table("CLIPNODES", "plane children", &self.lump::<BspClipNode>(clip_nodes)?, |node, to| {
            to.number(node.plane_idx).numbers([side(node.front), side(node.back)]);
        });
        let leaf = format!(
            "contents&{:x} visibility_offset mins maxs first_mark_surface mark_surface_count ambient_levels",
            BspLeafContentFlags::all().bits()
        );
        table("LEAFS", &leaf, &self.lump::<BspLeaf>(lumps.leaves)?, |leaf, to| {
            to.number(leaf.contents.0.bits()).number(visibility(leaf.visdata));
            bounds(&leaf.bound, to);
            let ambience = leaf.ambience.expect("GoldSrc has it");
            to.number(leaf.face_idx.0).number(leaf.face_num.0);
            to.numbers([ambience.water, ambience.sky, ambience.slime, ambience.lava]);
        });
        let model = "mins maxs origin head_node clip_nodes visible_leafs first_face face_count";
        table("MODELS", model, &self.lump::<BspModel>(lumps.models)?, |model, to| {
            let hulls = model.hulls.for_size.expect("GoldSrc has them");
            box_and_origin(model, to);
            to.numbers([model.hulls.root, hulls.small, hulls.large, hulls.unused].map(child));
            to.numbers([model.visleafs.0.expect("GoldSrc has them"), model.first_face, model.num_faces]);
        });
        Ok(())
    }

    fn quake2(&self, lumps: &LumpDirectory) -> Outcome {
        self.both(lumps, "LEAFFACES")?;
        table("NODES", NODE, &self.lump::<BspNode>(lumps.nodes)?, |node, to| {
            to.number(node.plane_idx).numbers([side(node.front), side(node.back)]);
            bounds(&node.bound, to);
            to.number(node.face_idx.0).number(node.face_num.0);
        });
        let info = format!("vectors flags&{:x} value texture next", BspSurfaceFlags::all().bits());
        table("TEXINFO", &info, &self.lump::<BspTexInfo>(lumps.tex_info)?, |info, to| {
            projection(info, to);
            let extra = info.extra_info.0.as_ref().expect("Quake II has it");
            to.number(info.flags.surface_flags.bits()).number(extra.value).name(extra.name.as_str()).number(extra.next);
        });
        let contents = format!("contents&{:x}", BspLeafContentFlags::all().bits());
        let leaf = format!(
            "{contents} cluster area mins maxs first_leaf_face leaf_face_count first_leaf_brush leaf_brush_count"
        );
        table("LEAFS", &leaf, &self.lump::<BspLeaf>(lumps.leaves)?, |leaf, to| {
            to.number(leaf.contents.0.bits()).number(visibility(leaf.visdata));
            to.number(leaf.area.0.expect("Quake II has it"));
            bounds(&leaf.bound, to);
            let brushes = leaf.leaf_brushes.expect("Quake II has them");
            to.numbers([leaf.face_idx, leaf.face_num, brushes.idx, brushes.num].map(|value| value.0));
        });
        let brushes = lumps.leaf_brushes.0.ok_or("there are no leafbrushes")?;
        table("LEAFBRUSHES", "brush", &self.lump::<UBspValue>(brushes)?, |brush, to| {
            to.number(brush.0);
        });
        let model = "mins maxs origin head_node first_face face_count";
        table("MODELS", model, &self.lump::<BspModel>(lumps.models)?, |model, to| {
            box_and_origin(model, to);
            to.number(child(model.hulls.root)).number(model.first_face).number(model.num_faces);
        });
        let (brushes, sides) = (lumps.brushes.0.ok_or("no brushes")?, lumps.brush_sides.0.ok_or("no sides")?);
        let brush = format!("first_side side_count {contents}");
        table("BRUSHES", &brush, &self.lump::<BspBrush>(brushes)?, |brush, to| {
            to.numbers([brush.first_side, brush.num_sides, brush.contents.bits()]);
        });
        table("BRUSHSIDES", "plane texinfo", &self.lump::<BspBrushSide>(sides)?, |side, to| {
            to.numbers([side.plane_idx.0, side.tex_info_idx.0]);
        });
        Ok(())
    }

    /// What both games have alike.
    fn both(&self, lumps: &LumpDirectory, leaf_faces: &str) -> Outcome {
        table("PLANES", "normal distance kind", &self.lump::<BspPlane>(lumps.planes)?, |plane, to| {
            to.floats(plane.normal.to_array()).floats([plane.dist]).number(plane.ty as u32);
        });
        table("VERTEXES", "point", &self.lump::<Vec3>(lumps.vertices)?, |point, to| {
            to.floats(point.to_array());
        });
        let face = "plane side first_edge edge_count texinfo styles light_offset/3";
        table("FACES", face, &self.lump::<BspFace>(lumps.faces)?, |face, to| {
            to.number(face.plane_idx.0).number(face.plane_side.0).number(face.first_edge);
            to.number(face.num_edges.0).number(face.texture_info_idx.0);
            to.numbers(face.lightmap_styles.map(|style| style.0)).number(face.lightmap_offset.pixels);
        });
        let faces = self.lump::<UBspValue>(lumps.mark_surfaces)?;
        table(leaf_faces, "face", &faces, |face, to| {
            to.number(face.0);
        });
        table("EDGES", "vertexes", &self.lump::<BspEdge>(lumps.edges)?, |edge, to| {
            to.numbers([edge.a.0, edge.b.0]);
        });
        table("SURFEDGES", "edge", &self.lump::<i32>(lumps.surf_edges)?, |edge, to| {
            to.number(*edge);
        });
        Ok(())
    }
}

const NODE: &str = "plane children mins maxs first_face face_count";

fn child(child: BspNodeRef) -> i64 {
    match child {
        BspNodeRef::Node(node) => node.into(),
        BspNodeRef::Leaf(leaf) => -1 - i64::from(leaf),
    }
}

fn side(reference: BspNodeSubRef) -> i64 {
    child(*reference)
}

fn visibility(reference: VisDataRef) -> i32 {
    match reference {
        VisDataRef::Cluster(cluster) => cluster.0,
        VisDataRef::Offset(offset) => offset,
    }
}

/// It reads them as if they were unsigned and makes floats of them, which hold them exactly.
fn bounds(bounds: &BoundingBox, to: &mut Values) {
    to.numbers([bounds.min, bounds.max].into_iter().flat_map(|point| point.to_array()).map(|value| value as i64));
}

fn projection(info: &BspTexInfo, to: &mut Values) {
    let projection = &info.projection;
    to.floats(projection.u_axis.to_array()).floats([projection.u_offset]);
    to.floats(projection.v_axis.to_array()).floats([projection.v_offset]);
}

fn box_and_origin(model: &BspModel, to: &mut Values) {
    to.floats([model.bound.min, model.bound.max, model.origin].into_iter().flat_map(|point| point.to_array()));
}
