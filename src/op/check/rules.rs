//! Rules that several formats share: faces and models, chains of textures, pairs of planes, boxes of brushes.

use super::code::{
    BRUSH_AXES, FACE_EDGES, INDEX_RANGE, MODEL_FACES, PLANE_KIND, PLANE_PAIR, TEXINFO_CHAIN, TEXINFO_VECTOR,
    TEXTURE_NAME,
};
use super::lumps::{Lumps, range};
use super::sink::{At, Sink};
use crate::dialect::Role;
use crate::record::Shape;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_face_edges(lumps, sink);
    check_model_faces(lumps, sink);
    check_chains(lumps, sink);
    check_portals(lumps, sink);
    check_vectors(lumps, sink);
    check_names(lumps, sink);
    check_types(lumps, sink);
    if lumps.checks().paired_planes {
        check_pairs(lumps, sink);
    }
    if lumps.checks().axial_sides {
        check_axes(lumps, sink);
    }
}

fn check_face_edges(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(faces) = lumps.role(Role::Faces) else { return };
    let Some(counts) = faces.column("edge_count") else { return };
    for face in 0..faces.len() {
        let count = counts.get(face);
        if count < 3 {
            let at = At::lump(faces.name).record(face).offset(counts.at(face)).field("edge_count");
            sink.add(&FACE_EDGES, at, || format!("it has {count} edges"));
        }
    }
}

/// Every face belongs to one model: compilers write them model by model.
fn check_model_faces(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(models), Some(faces)) = (lumps.role(Role::Models), lumps.role(Role::Faces)) else { return };
    let names = [("first_face", "face_count"), ("first_surface", "surface_count")];
    let columns = names.iter().find_map(|(first, count)| Some((models.column(first)?, models.column(count)?)));
    let is_counted = lumps.role_lump(Role::Faces).is_some_and(|lump| lump.misfit.is_none());
    let Some((firsts, counts)) = columns.filter(|_| is_counted && models.len() > 0) else { return };
    let mut next = 0;
    for model in 0..models.len() {
        let (first, count) = (firsts.get(model), counts.get(model));
        if count > 0 && first != next {
            let at = At::lump(models.name).record(model).offset(firsts.at(model));
            sink.add(&MODEL_FACES, at, || format!("its faces begin at {first}, and those before it end at {next}"));
        }
        next = if count > 0 { first.saturating_add(count) } else { next };
    }
    if i64::try_from(faces.len()) != Ok(next) {
        let at = At::lump(models.name);
        sink.add(&MODEL_FACES, at, || format!("the last model's faces end at {next}, and there are {}", faces.len()));
    }
}

/// The frames of an animated texture form a ring or end; the engine counts them until it reaches the first one again. A
/// successor of 0 or less ends the chain.
fn check_chains(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(texinfos) = lumps.role(Role::TexInfo) else { return };
    let Some(column) = texinfos.column("next") else { return };
    let next =
        |index: usize| usize::try_from(column.get(index)).ok().filter(|next| *next > 0 && *next < texinfos.len());
    let mut fates = vec![Fate::Unknown; texinfos.len()];
    let mut path = Vec::new();
    for start in 0..texinfos.len() {
        let mut at = Some(start);
        while let Some(index) = at.filter(|index| fates[*index] == Fate::Unknown) {
            fates[index] = Fate::OnTheWay;
            path.push(index);
            at = next(index);
        }
        // The cycle is the part of the path from the node that was reached again.
        let ring = at.and_then(|end| path.iter().position(|index| *index == end)).unwrap_or(path.len());
        let leads = at.map_or(Fate::Ends, |end| fates[end]);
        let before = if leads == Fate::Ends { Fate::Ends } else { Fate::Lost };
        for (step, index) in path.drain(..).enumerate() {
            fates[index] = if step < ring { before } else { Fate::Ring };
            if fates[index] == Fate::Lost {
                let at = At::lump(texinfos.name).record(index).offset(column.at(index)).field("next");
                sink.add(&TEXINFO_CHAIN, at, || "its frames lead into a ring that does not contain it".into());
            }
        }
    }
}

/// The end of a chain of frames.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unknown,
    OnTheWay,
    /// A last frame.
    Ends,
    /// A ring with the first frame.
    Ring,
    /// A ring without the first frame.
    Lost,
}

/// The vectors that place textures on faces; engines compute sizes from them.
fn check_vectors(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(texinfos) = lumps.role(Role::TexInfo) else { return };
    for field in ["vectors", "light_vectors"] {
        let Some(vectors) = texinfos.column(field) else { continue };
        for index in 0..texinfos.len() {
            if let Some(item) = (0..vectors.items).find(|item| !vectors.float(index, *item).is_finite()) {
                let at = At::lump(texinfos.name).record(index).offset(vectors.at(index)).field(field);
                sink.add(&TEXINFO_VECTOR, at, || format!("number {item} of {field} is {}", vectors.float(index, item)));
            }
        }
    }
}

/// The names of Quake III's shaders end with a NUL.
fn check_names(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(shaders) = lumps.role(Role::Textures) else { return };
    let Some(name) = shaders.record.field("name") else { return };
    let Shape::Name(size) = name.shape else { return };
    for (index, shader) in shaders.bytes.chunks_exact(shaders.record.size).enumerate() {
        let bytes = shader.get(name.offset..name.offset + size).unwrap_or_default();
        if !bytes.contains(&0) {
            let at = At::lump(shaders.name).record(index).offset(index * shader.len() + name.offset).field("name");
            sink.add(&TEXTURE_NAME, at, || format!("its {size} bytes have no NUL after the name"));
        }
    }
}

/// Portal numbers must be less than the portal count.
fn check_portals(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(portals) = lumps.role(Role::AreaPortals) else { return };
    // Source's have keys of another name, which only entities have to match.
    let Some(numbers) = portals.column("portal") else { return };
    for index in 0..portals.len() {
        let number = numbers.get(index);
        if !usize::try_from(number).is_ok_and(|number| number < portals.len()) {
            let at = At::lump(portals.name).record(index).offset(numbers.at(index)).field("portal");
            sink.add(&INDEX_RANGE, at, || format!("portal is {number}, and there are {}", portals.len()));
        }
    }
}

/// Types 0 to 2 are planes whose normal has exactly 1 or -1 along an axis, for which engines use faster code. Types 3
/// to 5 are all others, by the longest component of the normal (`PlaneTypeForNormal`): 0.99998 is not axial.
fn check_types(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(planes) = lumps.role(Role::Planes) else { return };
    let (Some(normals), Some(kinds)) = (planes.column("normal"), planes.column("kind")) else { return };
    for plane in 0..planes.len() {
        let normal = [0, 1, 2].map(|axis| normals.float(plane, axis).abs());
        let kind = kinds.get(plane);
        let is_axial = normal.contains(&1.0) && normal.iter().filter(|length| **length == 0.0).count() == 2;
        let mut sorted = normal;
        sorted.sort_by(f32::total_cmp);
        let is_good = match usize::try_from(kind) {
            Ok(axis @ 0..=2) => normal[axis] == 1.0,
            // If two lengths are equal, compilers choose either axis, and some the third.
            Ok(axis @ 3..=5) => !is_axial && (normal[axis - 3] == sorted[2] || sorted[2] - sorted[1] < 1e-4),
            _ => false,
        };
        if !is_good {
            let at = At::lump(planes.name).record(plane).offset(kinds.at(plane)).field("kind");
            sink.add(&PLANE_KIND, at, || {
                let [x, y, z] = [0, 1, 2].map(|axis| normals.float(plane, axis));
                format!("its kind is {kind}, and its normal {x} {y} {z}")
            });
        }
    }
}

/// Planes 2k and 2k + 1 face away from each other.
fn check_pairs(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(planes) = lumps.role(Role::Planes) else { return };
    let (Some(normals), Some(distances)) = (planes.column("normal"), planes.column("distance")) else { return };
    for plane in (0..planes.len()).step_by(2) {
        let is_opposite = |axis| normals.float(plane, axis) == -normals.float(plane + 1, axis);
        let is_pair = plane + 1 < planes.len() && (0..3).all(is_opposite);
        if !is_pair || distances.float(plane, 0) != -distances.float(plane + 1, 0) {
            let at = At::lump(planes.name).record(plane).offset(normals.at(plane));
            sink.add(&PLANE_PAIR, at, || format!("plane {} is not its opposite", plane + 1));
        }
    }
}

/// The first six sides face along -x, x, -y, y, -z and z.
fn check_axes(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(brushes), Some(sides)) = (lumps.role(Role::Brushes), lumps.role(Role::BrushSides)) else { return };
    let Some(planes) = lumps.role(Role::Planes) else { return };
    let columns = || {
        Some((
            brushes.column("first_side")?,
            brushes.column("side_count")?,
            sides.column("plane")?,
            planes.column("normal")?,
        ))
    };
    let Some((firsts, counts, side_planes, normals)) = columns() else { return };
    for brush in 0..brushes.len() {
        let (first, count) = (firsts.get(brush), counts.get(brush));
        let at = At::lump(brushes.name).record(brush).offset(firsts.at(brush));
        if count < 6 {
            sink.add(&BRUSH_AXES, at, || format!("it has {count} sides"));
            continue;
        }
        let Some(run) = range(first, count, sides.len()) else { continue };
        let is_wrong = |side: usize| {
            let plane = usize::try_from(side_planes.get(run.start + side)).ok();
            let Some(plane) = plane.filter(|plane| *plane < planes.len()) else { return false };
            let wanted = if side.is_multiple_of(2) { -1.0 } else { 1.0 };
            // The error in real maps is less than a ten-thousandth.
            (normals.float(plane, side / 2) - wanted).abs() > 1e-3
        };
        if let Some(side) = (0..6).find(|side| is_wrong(*side)) {
            sink.add(&BRUSH_AXES, at, || {
                let axis = ["-x", "+x", "-y", "+y", "-z", "+z"][side];
                format!("its side {side} does not face along {axis}")
            });
        }
    }
}
