//! Displacements: whether their sizes are possible, and whether they and their faces refer to each other.

use super::code::{DISP_FACE, DISP_VERTS};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::dialect::Role;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(displacements) = lumps.named("DISPINFO").filter(|displacements| displacements.len() > 0) else { return };
    let column = |name| displacements.column(name);
    let (Some(powers), Some(faces)) = (column("power"), column("face")) else { return };
    let face_view = lumps.role(Role::Faces);
    let of_faces = face_view.and_then(|view| view.column("displacement"));
    for index in 0..displacements.len() {
        let at = At::lump(displacements.name).record(index);
        let power = powers.get(index);
        // A side of 4, 8 or 16 squares.
        if !(2..=4).contains(&power) {
            sink.add(&DISP_VERTS, at.offset(powers.at(index)).field("power"), || {
                format!("its power is {power}, not 2, 3 or 4")
            });
            continue;
        }
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
