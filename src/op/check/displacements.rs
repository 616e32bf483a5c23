//! Displacements: whether their vertexes and triangles are there, and whether they and their faces name each other.

use super::code::{DISP_FACE, DISP_VERTS};
use super::lumps::{Lumps, range};
use super::sink::{At, Sink};
use crate::dialect::Role;

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
            if range(first_index, many, count).is_none() {
                sink.add(&DISP_VERTS, at.offset(first.at(index)), || {
                    format!("its {many} {what} begin at {first_index}, and there are {count}")
                });
            }
        }
        if let (Some(view), Some(of_faces)) = (face_view, of_faces) {
            let face = usize::try_from(faces.get(index)).ok().filter(|face| *face < view.len());
            let back = face.map(|face| of_faces.get(face));
            if let (Some(face), Some(back)) = (face, back.filter(|back| usize::try_from(*back) != Ok(index))) {
                sink.add(&DISP_FACE, at.offset(faces.at(index)).field("face"), || {
                    format!("its face {face} has the displacement {back}")
                });
            }
        }
    }
}
