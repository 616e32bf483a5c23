//! Collision models that an edit leaves behind. Source's compiler makes them from the planes of brushes and the points
//! of displacements, and objects collide with them. An edit of planes or points moves all that goes by these,
//! and not the collision models.

use std::collections::HashSet;

use super::finding::{At, PHYS_MOVED, Sink};
use bspkit::file::{Slot, SlotId};
use bspkit::{Bsp, Column, Draft};

/// The lumps that make the shape of a solid, and the one that has the solids.
struct Solids {
    made_of: &'static [&'static str],
    lump: &'static str,
    /// What a solid is made from: the list of these, and their shapes.
    of: &'static str,
    shapes: fn(&Bsp<'_>) -> Option<Vec<Shape>>,
}

const SOLIDS: [Solids; 2] = [
    Solids { made_of: &["PLANES", "BRUSHSIDES", "BRUSHES"], lump: "PHYSCOLLIDE", of: "BRUSHES", shapes: brushes },
    Solids { made_of: &["DISPINFO", "DISP_VERTS"], lump: "PHYSDISP", of: "DISPINFO", shapes: displacements },
];

/// The bytes of all that makes a shape, in an order that no renumbering changes.
type Shape = Vec<u8>;

/// Whether the shape of a solid follows from a slot.
pub fn places_solids(bsp: &Bsp<'_>, slot: &Slot) -> bool {
    SOLIDS.iter().any(|solids| solids.made_of.contains(&slot.name.as_str()) && has(bsp, solids.lump))
}

/// The bytes of a list without a solid: those of the entry that ends it.
const NO_SOLID: usize = 16;

fn has(bsp: &Bsp<'_>, lump: &str) -> bool {
    let size = |slot: &Slot| bsp.decompressed_size(slot.id).unwrap_or(slot.stored.len());
    bsp.slots().iter().any(|slot| slot.name == lump && size(slot) > NO_SOLID)
}

/// The shapes of some brushes, to whose solids they belong; none if they cannot be read.
pub(crate) fn shapes_of(map: &Bsp<'_>, which: impl Fn(usize) -> bool) -> Vec<Vec<u8>> {
    let shapes = brushes(map).unwrap_or_default().into_iter().enumerate();
    shapes.filter(|(brush, _)| which(*brush)).map(|(_, shape)| shape).collect()
}

/// Finds the brushes and displacements that have a shape after the edits of these slots that none had before, and that
/// came with no solid.
pub(super) fn check_left(draft: &Draft<'_>, new: &Bsp<'_>, touched: &[SlotId], sink: &mut Sink) {
    let old = draft.bsp();
    let is_touched = |slot: &&Slot| touched.contains(&slot.id);
    for solids in &SOLIDS {
        let mut slots = old.slots().iter().filter(is_touched);
        if !slots.any(|slot| solids.made_of.contains(&slot.name.as_str())) || !has(old, solids.lump) {
            continue;
        }
        let (Some(before), Some(after)) = ((solids.shapes)(old), (solids.shapes)(new)) else { continue };
        let before: HashSet<Shape> = before.into_iter().collect();
        let is_left = |shape: &Shape| !before.contains(shape) && !draft.has_solid(shape);
        for (index, _) in after.iter().enumerate().filter(|(_, shape)| is_left(shape)) {
            sink.add(&PHYS_MOVED, At::lump(solids.of).record(index), || {
                format!("its shape is another one; {} has the solid of the old one", solids.lump)
            });
        }
    }
}

/// The most bytes of all shapes. Brushes of a damaged map may share their sides, and would then take far more than
/// the map.
const MOST_BYTES: usize = 1 << 28;

/// The planes of each brush; `None` if they cannot be read.
fn brushes(map: &Bsp<'_>) -> Option<Vec<Shape>> {
    let [brushes, sides, planes] = ["BRUSHES", "BRUSHSIDES", "PLANES"].map(|name| map.records(name).ok());
    let (brushes, sides, planes) = (brushes?, sides?, planes?);
    let [firsts, counts] = brushes.columns(["first_side", "side_count"]).ok()?;
    let [plane_of] = sides.columns(["plane"]).ok()?;
    let [normal, distance] = planes.columns(["normal", "distance"]).ok()?;
    let mut room = MOST_BYTES;
    let shape = |brush| {
        let of = run(firsts.get(brush), counts.get(brush), sides.len());
        room = room.checked_sub(of.len() * 16)?;
        let plane = |side| {
            let plane = usize::try_from(plane_of.get(side)).unwrap_or(usize::MAX);
            floats([(&normal, plane), (&distance, plane)])
        };
        let mut planes: Vec<Vec<u8>> = of.map(plane).collect();
        planes.sort_unstable();
        Some(planes.concat())
    };
    (0..brushes.len()).map(shape).collect()
}

/// The points of each displacement; `None` if they cannot be read. Engines count them on from one to the next.
fn displacements(map: &Bsp<'_>) -> Option<Vec<Shape>> {
    let (displacements, points) = (map.records("DISPINFO").ok()?, map.records("DISP_VERTS").ok()?);
    let [start, power] = displacements.columns(["start", "power"]).ok()?;
    let [direction, distance] = points.columns(["direction", "distance"]).ok()?;
    let mut first = 0;
    let shape = |index| {
        let side = (1_i64 << power.get(index).clamp(0, 8)) + 1;
        let of = run(first, side * side, points.len());
        first += side * side;
        let mut shape = floats([(&start, index)]);
        shape.extend(of.flat_map(|point| floats([(&direction, point), (&distance, point)])));
        shape
    };
    Some((0..displacements.len()).map(shape).collect())
}

/// The records of a run that are there.
fn run(first: i64, count: i64, len: usize) -> std::ops::Range<usize> {
    let within = |at: i64| usize::try_from(at.max(0)).map_or(len, |at| at.min(len));
    within(first)..within(first.saturating_add(count))
}

/// The numbers of some columns, each of its record. The two zeros are one.
fn floats<const N: usize>(columns: [(&Column<'_>, usize); N]) -> Vec<u8> {
    let all = columns.iter().flat_map(|(column, record)| (0..column.items()).map(|item| column.float(*record, item)));
    all.flat_map(|number| (number + 0.0).to_le_bytes()).collect()
}
