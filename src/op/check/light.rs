//! The light of faces: whether all of it is in the lump. The lens of light says where it is and how large.
//!
//! An empty lump gives no findings: maps that were never lit have offsets of 0, or old values.

use super::code::{LIGHT_EXTENTS, LIGHT_GRID, LIGHT_KIND, LIGHT_PAGE, LIGHT_RANGE, LUMP_UNCHECKED};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bytes::index;
use crate::content::lightmap::{LightFault, LightFaultKind, LightSet};
use crate::dialect::{LightModel, Role};

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_grid(lumps, sink);
    check_kinds(lumps, sink);
    check_extents(lumps, sink);
    // What the lens cannot read is found elsewhere: records of no known form, lumps that do not decompress.
    let Ok(light) = lumps.bsp.light() else { return };
    for set in light.sets().iter().filter(|set| !PLACED.contains(&set.name())) {
        for fault in set.faults() {
            if !check_fault(lumps, set, fault, sink) {
                break;
            }
        }
    }
}

/// Light whose places are in a lump of their own: the checks of BSPX look at that lump.
const PLACED: [&str; 2] = ["decoupled", "decoupled_rgb"];

/// Returns false where the faces that follow were not looked at.
fn check_fault(lumps: &Lumps<'_>, set: &LightSet, fault: &LightFault, sink: &mut Sink) -> bool {
    let (code, field) = match fault.kind {
        // Indices that do not exist are found where all references are checked, vectors that are not finite where those
        // of texinfos are.
        LightFaultKind::Texinfo(_) | LightFaultKind::Edges => return true,
        LightFaultKind::Size if matches!(lumps.bsp.dialect().light, LightModel::Faces(it) if it.by_extents) => {
            return true;
        }
        LightFaultKind::Shared => {
            sink.add(&LUMP_UNCHECKED, At::lump(set.faces()).record(fault.face), || fault.kind.to_string());
            return false;
        }
        LightFaultKind::Size | LightFaultKind::Range { .. } => (&LIGHT_RANGE, "light_offset"),
        LightFaultKind::Page { .. } => (&LIGHT_PAGE, "lightmap"),
    };
    let mut at = At::lump(set.faces()).record(fault.face).field(field);
    at.offset = lumps.named(set.faces()).and_then(|faces| Some(faces.column(field)?.at(fault.face)));
    sink.add(code, at, || format!("{}: {}", set.lump(), fault.kind));
    true
}

/// Engines refuse faces that extend over too many texels, lit or not.
fn check_extents(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(most) = lumps.checks().most_extents.map(index) else { return };
    let Some(faces) = lumps.role_lump(Role::Faces) else { return };
    // As above.
    let _ = lumps.bsp.each_face_size(|face, [wide, high]| {
        let extent = (wide.max(high) - 1).saturating_mul(16);
        if extent > most {
            sink.add(&LIGHT_EXTENTS, At::lump(faces.name).record(face), || {
                format!("it extends over {extent} texels; the engine accepts {most}")
            });
        }
    });
}

/// The lights of Source's world are of one of six kinds (`emittype_t`).
fn check_kinds(lumps: &Lumps<'_>, sink: &mut Sink) {
    for name in ["WORLDLIGHTS", "WORLDLIGHTS_HDR"] {
        let Some(lights) = lumps.named(name) else { continue };
        let Some(kinds) = lights.column("kind") else { continue };
        for light in (0..lights.len()).filter(|light| !(0..=5).contains(&kinds.get(*light))) {
            let at = At::lump(lights.name).record(light).offset(kinds.at(light)).field("kind");
            sink.add(&LIGHT_KIND, at, || format!("its kind is {}, not 0 to 5", kinds.get(light)));
        }
    }
}

/// The points of the grid fill the box of the world.
fn check_grid(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(points) = lumps.role(Role::LightGrid).filter(|points| points.len() > 0) else { return };
    let at = At::lump(points.name);
    match lumps.bsp.light_grid() {
        Ok(grid) if grid.len() != points.len() => {
            let [x, y, z] = grid.counts();
            let have = points.len();
            sink.add(&LIGHT_GRID, at, || format!("it has {have} points, and the world's box needs {x} by {y} by {z}"));
        }
        Ok(_) => {}
        // Without a world, or if the text cannot be read, there is nothing to compare.
        Err(error) => {
            if error.place().and_then(|place| place.lump.as_deref()) == Some(points.name) {
                sink.add(&LIGHT_GRID, at, || "the world's box and `gridsize` do not define a grid".into());
            }
        }
    }
}
