//! Displacements of Source, and the triangles that some of its faces have.

use super::finding::{At, DISP_FACE, DISP_VERTS, INDEX_RANGE, SURFACE_INDEX, SURFACE_KIND, Sink};
use super::lumps::{Lumps, range};
use bspkit::dialect::Role;
use bspkit::{Column, Records};

// Displacements: whether their sizes are possible, and whether they and their faces refer to each other.

pub(super) fn check_displacements(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(displacements) = lumps.named("DISPINFO").filter(|displacements| !displacements.is_empty()) else { return };
    let Ok([powers, faces]) = displacements.columns(["power", "face"]) else { return };
    check_samples(lumps, displacements, sink);
    let all = lumps.role(Role::Faces);
    let of_faces = all.and_then(|all| Some((all, all.columns(["displacement", "edge_count"]).ok()?)));
    if let Some((all, [of_faces, _])) = &of_faces {
        check_named(all, of_faces, displacements, &faces, sink);
    }
    for index in 0..displacements.len() {
        let at = At::lump(displacements.name()).record(index);
        let power = powers.get(index);
        // A side of 4, 8 or 16 squares.
        if !(2..=4).contains(&power) {
            sink.add(&DISP_VERTS, at.offset(powers.at(index)).field("power"), || {
                format!("its power is {power}, not 2, 3 or 4")
            });
            continue;
        }
        if let Some((all, [of_faces, edge_counts])) = of_faces {
            let face = usize::try_from(faces.get(index)).ok().filter(|face| *face < all.len());
            let edges = face.map(|face| edge_counts.get(face)).filter(|edges| *edges != 4);
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

/// A face that names the displacement of another one.
fn check_named(
    all: &Records<'_>,
    of_faces: &Column<'_>,
    displacements: &Records<'_>,
    faces: &Column<'_>,
    sink: &mut Sink,
) {
    for face in 0..all.len() {
        let named = of_faces.get(face);
        let back = of_faces.below(face, displacements.len()).map(|named| faces.get(named));
        if let Some(back) = back.filter(|back| usize::try_from(*back) != Ok(face)) {
            let at = At::lump(all.name()).record(face).offset(of_faces.at(face)).field("displacement");
            sink.add(&DISP_FACE, at, || format!("it has the displacement {named}, which is that of face {back}"));
        }
    }
}

/// The places of luxels of a displacement begin within their lump. How many there are follows from no number.
fn check_samples(lumps: &Lumps<'_>, displacements: &Records<'_>, sink: &mut Sink) {
    const LUMP: &str = "DISP_LIGHTMAP_SAMPLE_POSITIONS";
    let Some(len) = lumps.lump(LUMP).map(|lump| lump.bytes.len()).filter(|len| *len > 0) else { return };
    let Ok([firsts]) = displacements.columns(["first_sample_position"]) else { return };
    for index in 0..displacements.len() {
        let first = firsts.get(index);
        if usize::try_from(first).is_ok_and(|first| first <= len) {
            continue;
        }
        let at = At::lump(displacements.name()).record(index).offset(firsts.at(index)).field("first_sample_position");
        sink.add(&INDEX_RANGE, at, || format!("first_sample_position is {first}, and {LUMP} has {len} bytes"));
    }
}

// Primitives: triangles of a face that its edges do not give.

/// The kinds of primitives: a list of triangles, and a strip.
const KINDS: [i64; 2] = [0, 1];

pub(super) fn check_primitives(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(faces), Some(primitives)) = (lumps.role(Role::Faces), lumps.named("PRIMITIVES")) else { return };
    let Some(indices) = lumps.named("PRIMINDICES") else { return };
    let Ok([corners]) = indices.columns(["vertex"]) else { return };
    let Ok([edges, owned, starts]) = faces.columns(["edge_count", "primitive_count", "first_primitive"]) else {
        return;
    };
    let Ok([kinds, firsts, counts]) = primitives.columns(["kind", "first_index", "index_count"]) else { return };
    // Faces of a damaged map may share primitives, and these indices.
    let mut left = indices.len().saturating_mul(4);
    for face in 0..faces.len() {
        // The highest bit says something else.
        let Some(own) = range(starts.get(face), owned.get(face) & 0x7FFF, primitives.len()) else { continue };
        for primitive in own {
            let at = At::lump(primitives.name()).record(primitive);
            let kind = kinds.get(primitive);
            if !KINDS.contains(&kind) {
                sink.add(&SURFACE_KIND, at.offset(kinds.at(primitive)).field("kind"), || format!("its kind is {kind}"));
                continue;
            }
            let Some(run) = range(firsts.get(primitive), counts.get(primitive), indices.len()) else { continue };
            left = match left.checked_sub(run.len()) {
                Some(left) => left,
                None => return,
            };
            if let Some(index) = run.into_iter().find(|index| corners.get(*index) >= edges.get(face)) {
                let at = At::lump(indices.name()).record(index).offset(corners.at(index)).field("vertex");
                let (corner, edges) = (corners.get(index), edges.get(face));
                sink.add(&SURFACE_INDEX, at, || format!("vertex is {corner}, and face {face} has {edges} edges"));
            }
        }
    }
}
