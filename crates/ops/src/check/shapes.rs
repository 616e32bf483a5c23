//! Faces, brushes and planes by rules that several formats share; surfaces of Quake III, displacements, collision
//! models, entries of BSPX.

use std::ops::Range;

use super::finding::{
    At, BRUSH_AXES, COUNT_MISFIT, FACE_EDGES, INDEX_RANGE, LUMP_MISFIT, LUMP_PARALLEL, MODEL_BRUSHES, MODEL_FACES,
    PATCH_SIDE, PATCH_SIZE, PHYS_END, PHYS_SOLIDS, PLANE_KIND, PLANE_NORMAL, PLANE_PAIR, SURFACE_INDEX, SURFACE_KIND,
    SURFACE_TRIANGLES, Sink, TEXINFO_CHAIN, TEXINFO_VECTOR, TEXTURE_NAME, TREE_CYCLE, VERTEX_POINT,
};
use super::lumps::{Lump, Lumps, range};
use bspkit::bytes::{wide, word};
use bspkit::content::bspx::{BrushList, LightOctree, OctreeFault};
use bspkit::content::physics::{PhysDisp, Physics};
use bspkit::dialect::Role;
use bspkit::dialect::quake3::Surface;
use bspkit::file::SlotId;
use bspkit::finding::Code;
use bspkit::links::Links;
use bspkit::record::{Number, Shape};
use bspkit::{Error, ErrorKind, Records};

// Rules that several formats share: faces and models, chains of textures, pairs of planes, boxes of brushes.

pub(super) fn check_rules(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_face_edges(lumps, sink);
    check_models(lumps, sink);
    check_chains(lumps, sink);
    check_portals(lumps, sink);
    check_finite(lumps, sink);
    check_normals(lumps, sink);
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
    let Ok([counts]) = faces.columns(["edge_count"]) else { return };
    for face in 0..faces.len() {
        let count = counts.get(face);
        if count < 3 {
            let at = At::lump(faces.name()).record(face).offset(counts.at(face)).field("edge_count");
            sink.add(&FACE_EDGES, at, || format!("it has {count} edges"));
        }
    }
}

/// What models have one after the other: its role, the fields of models, the code, and its name.
type Share = (Role, &'static [[&'static str; 2]], &'static Code, &'static str);

/// Every face belongs to one model: compilers write them model by model. So does every brush of Quake III.
const SHARES: [Share; 2] = [
    (Role::Faces, &[["first_face", "face_count"], ["first_surface", "surface_count"]], &MODEL_FACES, "faces"),
    (Role::Brushes, &[["first_brush", "brush_count"]], &MODEL_BRUSHES, "brushes"),
];

fn check_models(lumps: &Lumps<'_>, sink: &mut Sink) {
    for (role, names, code, what) in SHARES {
        let (Some(models), Some(all)) = (lumps.role(Role::Models), lumps.role(role)) else { continue };
        let columns = names.iter().find_map(|names| models.columns(*names).ok());
        let is_counted = lumps.role_lump(role).is_some_and(|lump| lump.misfit.is_none());
        let Some([firsts, counts]) = columns.filter(|_| is_counted && !models.is_empty()) else { continue };
        let mut next = 0;
        for model in 0..models.len() {
            let (first, count) = (firsts.get(model), counts.get(model));
            if count > 0 && first != next {
                let at = At::lump(models.name()).record(model).offset(firsts.at(model));
                sink.add(code, at, || format!("its {what} begin at {first}, and those before it end at {next}"));
            }
            next = if count > 0 { first.saturating_add(count) } else { next };
        }
        if i64::try_from(all.len()) != Ok(next) {
            let at = At::lump(models.name());
            sink.add(code, at, || format!("the last model's {what} end at {next}, and there are {}", all.len()));
        }
    }
}

/// The frames of an animated texture form a ring or end; the engine counts them until it reaches the first one again. A
/// successor of 0 or less ends the chain.
fn check_chains(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(texinfos) = lumps.role(Role::TexInfo) else { return };
    let Ok([column]) = texinfos.columns(["next"]) else { return };
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
                let at = At::lump(texinfos.name()).record(index).offset(column.at(index)).field("next");
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

/// Places in space, and the vectors that place textures on faces, from which engines compute sizes.
const FINITE: [(Role, &str, &Code); 5] = [
    (Role::TexInfo, "vectors", &TEXINFO_VECTOR),
    (Role::TexInfo, "light_vectors", &TEXINFO_VECTOR),
    (Role::TexInfo, "texture_vectors", &TEXINFO_VECTOR),
    (Role::TexInfo, "lightmap_vectors", &TEXINFO_VECTOR),
    (Role::Vertexes, "point", &VERTEX_POINT),
];

/// Where a field of floats is in each record; a map may have a million of them.
fn floats(records: &Records<'_>, field: &str) -> Option<Range<usize>> {
    let field = records.info().field(field)?;
    let mut shape = field.shape;
    while let Shape::Array(item, _) = shape {
        shape = *item;
    }
    matches!(shape, Shape::Number(Number::F32)).then(|| field.offset..field.offset + field.shape.size())
}

/// The floats of a field of a record.
fn floats_in<'r>(record: &'r [u8], place: &Range<usize>) -> impl Iterator<Item = f32> + use<'r> {
    let (floats, _) = record.get(place.clone()).unwrap_or_default().as_chunks();
    floats.iter().map(|float| f32::from_le_bytes(*float))
}

fn check_finite(lumps: &Lumps<'_>, sink: &mut Sink) {
    for (role, field, code) in FINITE {
        let Some(records) = lumps.role(role) else { continue };
        let Some(place) = floats(records, field) else { continue };
        for (index, record) in records.iter().enumerate() {
            if let Some(item) = floats_in(record, &place).position(|number| !number.is_finite()) {
                let at = At::lump(records.name()).record(index).offset(index * record.len() + place.start).field(field);
                let number = floats_in(record, &place).nth(item).unwrap_or_default();
                sink.add(code, at, || format!("number {item} of {field} is {number}"));
            }
        }
    }
}

/// A normal has the length 1. The error in 613,000 planes of real maps is below a thousandth.
fn check_normals(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(planes) = lumps.role(Role::Planes) else { return };
    let Some(normal) = floats(planes, "normal") else { return };
    let Some(distance) = floats(planes, "distance") else { return };
    for (plane, record) in planes.iter().enumerate() {
        let Some([x, y, z]) = three(record, normal.start) else { return };
        let far =
            record.get(distance.start..).and_then(|bytes| bytes.first_chunk().copied()).map_or(0.0, f32::from_le_bytes);
        let square = x * x + y * y + z * z;
        // NaN is in no range. Zeros are an unused place.
        let is_right = (0.98..1.02).contains(&square) && far.is_finite();
        if !is_right && [x, y, z, far] != [0.0; 4] {
            let at = At::lump(planes.name()).record(plane).offset(plane * record.len() + normal.start);
            sink.add(&PLANE_NORMAL, at, || format!("its normal is {x} {y} {z}, and its distance {far}"));
        }
    }
}

/// Three floats at an offset of a record.
fn three(record: &[u8], at: usize) -> Option<[f32; 3]> {
    let bytes: &[u8; 12] = record.get(at..)?.first_chunk()?;
    let (floats, _) = bytes.as_chunks();
    Some([0, 1, 2].map(|axis| f32::from_le_bytes(floats[axis])))
}

/// The names of Quake III's shaders, and of textures in Quake II, end with a NUL.
fn check_names(lumps: &Lumps<'_>, sink: &mut Sink) {
    for (role, field) in [(Role::Textures, "name"), (Role::TexInfo, "texture")] {
        let Some(records) = lumps.role(role) else { continue };
        let Some(name) = records.info().field(field) else { continue };
        let Shape::Name(size) = name.shape else { continue };
        for (index, record) in records.iter().enumerate() {
            let bytes = record.get(name.offset..name.offset + size).unwrap_or_default();
            if !bytes.contains(&0) {
                let at = At::lump(records.name()).record(index).offset(index * record.len() + name.offset).field(field);
                sink.add(&TEXTURE_NAME, at, || format!("its {size} bytes have no NUL after the name"));
            }
        }
    }
}

/// Portal numbers must be less than the portal count.
fn check_portals(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(portals) = lumps.role(Role::AreaPortals) else { return };
    // Source's have keys of another name, which only entities have to match.
    let Ok([numbers]) = portals.columns(["portal"]) else { return };
    for index in 0..portals.len() {
        let number = numbers.get(index);
        if !usize::try_from(number).is_ok_and(|number| number < portals.len()) {
            let at = At::lump(portals.name()).record(index).offset(numbers.at(index)).field("portal");
            sink.add(&INDEX_RANGE, at, || format!("portal is {number}, and there are {}", portals.len()));
        }
    }
}

/// Types 0 to 2 are planes whose normal has exactly 1 or -1 along an axis, for which engines use faster code. Types 3
/// to 5 are all others, by the longest component of the normal (`PlaneTypeForNormal`): 0.99998 is not axial.
fn check_types(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(planes) = lumps.role(Role::Planes) else { return };
    let Ok([normals, kinds]) = planes.columns(["normal", "kind"]) else { return };
    for plane in 0..planes.len() {
        let normal = [0, 1, 2].map(|axis| normals.float(plane, axis).abs());
        let kind = kinds.get(plane);
        let is_axial = normal.contains(&1.0) && normal.iter().filter(|length| **length == 0.0).count() == 2;
        let mut sorted = normal;
        sorted.sort_by(f32::total_cmp);
        let is_good = match usize::try_from(kind) {
            Ok(axis @ 0..=2) => normal[axis] == 1.0 && sorted[1] < 1e-3,
            // If two lengths are equal, compilers choose either axis, and some the third.
            Ok(axis @ 3..=5) => !is_axial && (normal[axis - 3] == sorted[2] || sorted[2] - sorted[1] < 1e-4),
            _ => false,
        };
        if !is_good {
            let at = At::lump(planes.name()).record(plane).offset(kinds.at(plane)).field("kind");
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
    let Ok([normals, distances]) = planes.columns(["normal", "distance"]) else { return };
    for plane in (0..planes.len()).step_by(2) {
        let is_opposite = |axis| normals.float(plane, axis) == -normals.float(plane + 1, axis);
        let is_pair = plane + 1 < planes.len() && (0..3).all(is_opposite);
        if !is_pair || distances.float(plane, 0) != -distances.float(plane + 1, 0) {
            let at = At::lump(planes.name()).record(plane).offset(normals.at(plane));
            sink.add(&PLANE_PAIR, at, || format!("plane {} is not its opposite", plane + 1));
        }
    }
}

/// The first six sides face along -x, x, -y, y, -z and z.
fn check_axes(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(brushes), Some(sides)) = (lumps.role(Role::Brushes), lumps.role(Role::BrushSides)) else { return };
    let Some(planes) = lumps.role(Role::Planes) else { return };
    let Ok([firsts, counts]) = brushes.columns(["first_side", "side_count"]) else { return };
    let (Ok([side_planes]), Ok([normals])) = (sides.columns(["plane"]), planes.columns(["normal"])) else { return };
    for brush in 0..brushes.len() {
        let (first, count) = (firsts.get(brush), counts.get(brush));
        let at = At::lump(brushes.name()).record(brush).offset(firsts.at(brush));
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

// Quake III's surfaces: known kinds, patches with the right number of points, triangles with corners that exist.
//
// Surfaces may share runs of indexes, and the first index of a surface without indexes has no meaning: both are legal.

/// The visible side of a fog's brush; -1 for none. A fog without a brush is everywhere.
fn check_fogs(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(fogs), Some(brushes)) = (lumps.role(Role::Fogs), lumps.role(Role::Brushes)) else { return };
    let Ok([of, sides]) = fogs.columns(["brush", "visible_side"]) else { return };
    let Ok([counts]) = brushes.columns(["side_count"]) else { return };
    for fog in 0..fogs.len() {
        let side = sides.get(fog);
        let brush = usize::try_from(of.get(fog)).ok().filter(|brush| *brush < brushes.len());
        if let Some(count) = brush.map(|brush| counts.get(brush)).filter(|count| !(-1..*count).contains(&side)) {
            let at = At::lump(fogs.name()).record(fog).offset(sides.at(fog)).field("visible_side");
            sink.add(&INDEX_RANGE, at, || format!("visible_side is {side}, and its brush has {count}"));
        }
    }
}

/// The most points of a patch (`MAX_PATCH_VERTS`).
const MOST_POINTS: i64 = 1024;
/// The most points of a side (`MAX_PATCH_SIZE`, 32, which is even).
const MOST_SIDE: i64 = 31;

pub(super) fn check_surfaces(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_fogs(lumps, sink);
    let (Some(surfaces), Some(indexes)) = (lumps.role(Role::Faces), lumps.role(Role::DrawIndexes)) else { return };
    let names = ["kind", "vertex_count", "patch_size", "first_index", "index_count"];
    let Ok([kinds, vertexes, patches, firsts, counts]) = surfaces.columns(names) else { return };
    let extremes = Extremes::of(indexes.lump());
    for surface in 0..surfaces.len() {
        let at = At::lump(surfaces.name()).record(surface);
        let vertexes = vertexes.get(surface);
        let kind = i32::try_from(kinds.get(surface)).unwrap_or(0);
        if !(Surface::PLANAR..=Surface::FOLIAGE).contains(&kind) {
            sink.add(&SURFACE_KIND, at.offset(kinds.at(surface)).field("kind"), || format!("its kind is {kind}"));
            continue;
        }
        if kind == Surface::PATCH {
            let [width, height] = [0, 1].map(|item| patches.item(surface, item));
            let is_side = |side: i64| side >= 3 && side % 2 == 1;
            let points = width.saturating_mul(height);
            if width.max(height) > MOST_SIDE {
                sink.add(&PATCH_SIDE, at.offset(patches.at(surface)).field("patch_size"), || {
                    format!("it is a patch of {width} by {height} points; a side can have {MOST_SIDE}")
                });
            }
            if !is_side(width) || !is_side(height) || points != vertexes || points > MOST_POINTS {
                sink.add(&PATCH_SIZE, at.offset(patches.at(surface)).field("patch_size"), || {
                    format!("it is a patch of {width} by {height} points, and has {vertexes}")
                });
            }
        }
        if kind == Surface::PATCH || kind == Surface::FLARE {
            continue;
        }
        if counts.get(surface) % 3 != 0 {
            sink.add(&SURFACE_TRIANGLES, at.offset(counts.at(surface)).field("index_count"), || {
                format!("its triangles have {} corners", counts.get(surface))
            });
        }
        let Some(run) = range(firsts.get(surface), counts.get(surface), indexes.len()) else { continue };
        if run.is_empty() {
            continue;
        }
        let (least, most) = extremes.within(run);
        if least < 0 || i64::from(most) >= vertexes {
            sink.add(&SURFACE_INDEX, at.offset(firsts.at(surface)).field("first_index"), || {
                format!("its triangles have corners from {least} to {most}, and it has {vertexes} vertexes")
            });
        }
    }
}

/// The least and the largest index of any run, found by blocks: surfaces may share runs as long as the lump, and there
/// may be many of them.
struct Extremes<'b> {
    bytes: &'b [u8],
    /// Of 64 indexes each.
    small: Vec<(i32, i32)>,
    /// Of 4,096 each.
    large: Vec<(i32, i32)>,
}

const SMALL: usize = 64;
const LARGE: usize = SMALL * SMALL;
const NONE: (i32, i32) = (i32::MAX, i32::MIN);

impl<'b> Extremes<'b> {
    fn of(bytes: &'b [u8]) -> Self {
        let small: Vec<_> = bytes
            .chunks(SMALL * 4)
            .map(|block| {
                block
                    .chunks_exact(4)
                    .filter_map(|bytes| word(bytes, 0))
                    .fold(NONE, |sum, index| both(sum, (index, index)))
            })
            .collect();
        let large = small.chunks(SMALL).map(|block| block.iter().copied().fold(NONE, both)).collect();
        Extremes { bytes, small, large }
    }

    fn within(&self, run: std::ops::Range<usize>) -> (i32, i32) {
        let (mut at, mut found) = (run.start, NONE);
        while at < run.end {
            let fits = |size: usize| at.is_multiple_of(size) && at + size <= run.end;
            let (size, next) = if fits(LARGE) {
                (LARGE, self.large.get(at / LARGE).copied())
            } else if fits(SMALL) {
                (SMALL, self.small.get(at / SMALL).copied())
            } else {
                (1, word(self.bytes, at * 4).map(|index| (index, index)))
            };
            found = both(found, next.unwrap_or(NONE));
            at += size;
        }
        found
    }
}

fn both(one: (i32, i32), other: (i32, i32)) -> (i32, i32) {
    (one.0.min(other.0), one.1.max(other.1))
}

// Collision models: whether their blocks end, and whether solids have the number and size that is stated.

pub(super) fn check_physics(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    if let Some(lump) = lumps.lump("PHYSCOLLIDE").filter(|lump| !lump.bytes.is_empty()) {
        check_end(lump, sink);
        // A lump that cannot be read at all has lost its end.
        if let Ok(physics) = Physics::parse(lump.bytes.clone()) {
            for index in 0..physics.len() {
                if let Some(error) = physics.solids(index).err() {
                    sink.add(&PHYS_SOLIDS, At::lump(lump.name).record(index), || error.to_string());
                }
            }
        }
    }
    for (slot, name, parallel) in &links.parts {
        let lump = lumps.all.iter().find(|lump| lump.slot.id == *slot && !lump.bytes.is_empty());
        let Some((lump, to)) = lump.zip(links.referred(parallel.lump)) else { continue };
        let (at, count) = (At::lump(name), links.sites[to].len());
        match PhysDisp::parse(lump.bytes.clone(), lump.slot.version.unwrap_or(0)) {
            Ok(solids) if !solids.is_empty() && solids.len() != count => sink.add(&LUMP_PARALLEL, at, || {
                format!("it has solids of {} records, and {} has {count}", solids.len(), parallel.lump)
            }),
            Err(error) if error.kind() == ErrorKind::Malformed => sink.add(&PHYS_SOLIDS, at, || error.to_string()),
            _ => {}
        }
    }
}

/// Collision models are one after the other, each with four numbers before it: its model, the bytes of its solids, the
/// bytes of its text, and the number of solids. An entry with the model -1 ends them.
fn check_end(lump: &Lump<'_>, sink: &mut Sink) {
    const HEADER: usize = 16;
    let mut at = 0;
    loop {
        let number = |index: usize| word(&lump.bytes, at + index * 4);
        let header = number(3).and_then(|_| Some((number(0)?, number(1)?, number(2)?)));
        let place = At::lump(lump.name).offset(at);
        let Some((model, data, keys)) = header else {
            return sink.add(&PHYS_END, place, || "the lump ends without the entry of model -1".into());
        };
        if model == -1 {
            return;
        }
        let size = |size: i32| usize::try_from(size).ok();
        let sizes = size(data).zip(size(keys));
        let next = sizes.and_then(|(data, keys)| (at + HEADER).checked_add(data)?.checked_add(keys));
        let Some(next) = next.filter(|next| *next <= lump.bytes.len()) else {
            return sink.add(&PHYS_END, place, || format!("the solids of model {model} go beyond the lump"));
        };
        at = next;
    }
}

// Entries of BSPX: their number of records, which has to match other lumps, and their references.
//
// Engines ignore an entry that does not fit its map, so they read nothing outside of it; but its effect is missing.

pub(super) fn check_bspx(lumps: &Lumps<'_>, sink: &mut Sink) {
    for lump in lumps.all.iter().filter(|lump| matches!(lump.slot.id, SlotId::Bspx(_)) && !lump.bytes.is_empty()) {
        check_fit(lumps, lump, sink);
        match lump.name {
            "bspx:BRUSHLIST" => check_brushes(lump, sink),
            "bspx:LIGHTGRID_OCTREE" => {
                check_octrees(lump, LightOctree::parse(lump.bytes.clone()).map(|one| vec![one]), sink)
            }
            "bspx:LIGHTGRIDS" => check_octrees(lump, LightOctree::parse_all(lump.bytes.clone()), sink),
            _ => {}
        }
    }
}

/// An entry whose row does not fit: its number of records differs from the faces, vertexes, luxels or edges.
fn check_fit(lumps: &Lumps<'_>, lump: &Lump<'_>, sink: &mut Sink) {
    let mut proved = lumps.bsp.dialect().rows_of(lump.name).filter(|row| row.proof.is_some()).peekable();
    if proved.peek().is_none() || lump.slot.bounds.is_damaged() {
        return;
    }
    if let Err(why) = lumps.bsp.row(lump.slot) {
        let is_cut = proved.any(|row| row.parts(&lump.bytes).is_err());
        sink.add(if is_cut { &LUMP_MISFIT } else { &LUMP_PARALLEL }, At::lump(lump.name), || why.to_string());
    }
}

fn check_brushes(lump: &Lump<'_>, sink: &mut Sink) {
    let list = match BrushList::parse(lump.bytes.clone()) {
        Ok(list) => list,
        Err(error) => return misfit(lump, &error, sink),
    };
    for (place, head) in (0..list.len()).filter_map(|place| Some((place, list.model(place)?))) {
        let at = At::lump(lump.name).record(place);
        let planes: u64 = list.brushes(place).map(|brush| wide(brush.planes.len())).sum();
        if planes != u64::from(head.plane_count) {
            let said = head.plane_count;
            sink.add(&COUNT_MISFIT, at, || format!("its brushes have {planes} planes, and it states {said}"));
        }
    }
}

fn check_octrees(lump: &Lump<'_>, octrees: Result<Vec<LightOctree<'_>>, Error>, sink: &mut Sink) {
    let octrees = match octrees {
        Ok(octrees) => octrees,
        Err(error) => return misfit(lump, &error, sink),
    };
    for (place, fault) in octrees.iter().enumerate().filter_map(|(place, octree)| Some((place, octree.fault()?))) {
        let at = At::lump(lump.name).record(place);
        match fault {
            OctreeFault::NoChild(node, child) => sink.add(&INDEX_RANGE, at, || {
                let from = node.map_or("its head".to_owned(), |node| format!("node {node}"));
                format!(
                    "{from} has the child {child:#x}, and there are {} nodes and {} leafs",
                    octrees[place].nodes().count(),
                    octrees[place].len()
                )
            }),
            OctreeFault::Twice(node) => sink.add(&TREE_CYCLE, at, || format!("node {node} is reached twice")),
            _ => {}
        }
    }
}

fn misfit(lump: &Lump<'_>, error: &Error, sink: &mut Sink) {
    sink.add(&LUMP_MISFIT, At::lump(lump.name), || error.to_string());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn extremes_are_those_of_the_run(seed in 0..1000_i32, start in 0..9000_usize, len in 1..9000_usize) {
            let indexes: Vec<i32> = (0..20_000).map(|index: i32| index.wrapping_mul(7919 + seed) % 5000).collect();
            let bytes: Vec<u8> = indexes.iter().flat_map(|index| index.to_le_bytes()).collect();
            let run = &indexes[start..start + len];
            let wanted = (*run.iter().min().unwrap(), *run.iter().max().unwrap());
            prop_assert_eq!(Extremes::of(&bytes).within(start..start + len), wanted);
        }
    }
}
