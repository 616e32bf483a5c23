//! Displacements: whether their vertexes and triangles exist, and whether they and their faces refer to each other.

use super::code::{DISP_FACE, DISP_VERTS, INDEX_RANGE};
use super::lumps::{Lumps, View, range};
use super::sink::{At, Sink};
use crate::dialect::Role;
use crate::record::Shape;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(displacements) = lumps.named("DISPINFO").filter(|displacements| displacements.len() > 0) else { return };
    let column = |name| displacements.column(name);
    let counts = ["DISP_VERTS", "DISP_TRIS"].map(|name| lumps.named(name).map(|view| view.len()));
    let columns = || Some((column("power")?, [column("first_vertex")?, column("first_triangle")?], column("face")?));
    let Some((powers, firsts, faces)) = columns() else { return };
    let face_view = lumps.role(Role::Faces);
    let of_faces = face_view.and_then(|view| view.column("displacement"));
    for index in 0..displacements.len() {
        let at = At::lump(displacements.name).record(index);
        let power = powers.get(index);
        // A side of 4, 8 or 16 squares of two triangles.
        let Some(side) = [(2, 4), (3, 8), (4, 16)].into_iter().find(|(of, _)| *of == power).map(|(_, side)| side)
        else {
            sink.add(&DISP_VERTS, at.offset(powers.at(index)).field("power"), || {
                format!("its power is {power}, not 2, 3 or 4")
            });
            continue;
        };
        let wanted: [(&str, i64); 2] = [("vertexes", (side + 1) * (side + 1)), ("triangles", 2 * side * side)];
        for ((first, count), (what, many)) in firsts.iter().zip(counts).zip(wanted) {
            let Some(count) = count else { continue };
            let first_index = first.get(index);
            // A first index that is out of range is already a finding.
            if range(first_index, many, count).is_none() && range(first_index, 1, count).is_some() {
                sink.add(&DISP_VERTS, at.offset(first.at(index)), || {
                    format!("its {many} {what} begin at {first_index}, and the lump has {count}")
                });
            }
        }
        check_corners(&displacements, index, sink);
        if let (Some(view), Some(of_faces)) = (face_view, of_faces) {
            let face = usize::try_from(faces.get(index)).ok().filter(|face| *face < view.len());
            let edges = face.and_then(|face| Some(view.column("edge_count")?.get(face))).filter(|edges| *edges != 4);
            if let (Some(face), Some(edges)) = (face, edges) {
                sink.add(&DISP_FACE, at.offset(faces.at(index)).field("face"), || {
                    format!("its face {face} has {edges} edges, not 4")
                });
            }
            let back = face.map(|face| of_faces.get(face));
            if let (Some(face), Some(back)) = (face, back.filter(|back| usize::try_from(*back) != Ok(index))) {
                sink.add(&DISP_FACE, at.offset(faces.at(index)).field("face"), || {
                    format!("its face {face} has the displacement {back}")
                });
            }
        }
    }
}

/// The neighbors at the corners of a displacement: up to four for each corner, with their number after them.
fn check_corners(displacements: &View<'_>, index: usize, sink: &mut Sink) {
    let Some(field) = displacements.record.field("corners") else { return };
    let Shape::Array(Shape::Record([neighbors, counts, ..]), corners) = field.shape else { return };
    let Shape::Array(Shape::Number(number), most) = neighbors.shape else { return };
    let size = field.shape.size() / corners;
    for corner in 0..corners {
        let start = index * displacements.record.size + field.offset + corner * size;
        let Some(bytes) = displacements.bytes.get(start..start + size) else { return };
        let at = At::lump(displacements.name).record(index).offset(start).field("corners");
        let count = usize::from(bytes[counts.offset]);
        if count > most {
            sink.add(&INDEX_RANGE, at, || format!("corners[{corner}] has {count} neighbors, but room for {most}"));
        }
        for other in bytes.chunks_exact(number.size()).take(count.min(most)) {
            let other = number.integer(other).unwrap_or(-1);
            if !usize::try_from(other).is_ok_and(|other| other < displacements.len()) {
                sink.add(&INDEX_RANGE, at, || {
                    format!("corners[{corner}] has the neighbor {other}, and there are {}", displacements.len())
                });
            }
        }
    }
}
