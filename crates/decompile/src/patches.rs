//! Curved patches of Quake III and its relatives.

use bspkit::dialect::Role;
use bspkit::dialect::quake3::Surface as Kinds;
use bspkit::{Bsp, Result};

use crate::drawn::{Surfaces, owners};
use crate::looks::Look;
use crate::planes::shortest;
use crate::report::Counts;
use crate::source::{Patch, Point};

/// The patches of each model, in the axes of the model, with the number of their look.
pub(crate) fn read(map: &Bsp<'_>, looks: &[Look], counts: &mut Counts) -> Result<Vec<(usize, usize, Patch)>> {
    let (surfaces, vertexes, indexes) =
        (map.records(Role::Faces)?, map.records(Role::Vertexes)?, map.records(Role::DrawIndexes)?);
    let reader = Surfaces::new(&surfaces, &vertexes, &indexes)?;
    let owners = owners(&map.records(Role::Models)?, ["first_surface", "surface_count"], surfaces.len());
    // Surfaces of a damaged map may all name the same vertexes.
    let (mut found, mut left) = (Vec::new(), vertexes.len().saturating_mul(2));
    for (number, owner) in owners.into_iter().enumerate() {
        let kind = reader.kind.get(number);
        if kind == i64::from(Kinds::FOLIAGE) {
            counts.leave_out("surface", "it is foliage that a compiler planted", number);
        }
        if kind != i64::from(Kinds::PATCH) {
            continue;
        }
        let Some(model) = owner else {
            counts.leave_out("patch", "no model has it", number);
            continue;
        };
        let size = [0, 1].map(|axis| usize::try_from(reader.size.item(number, axis)).unwrap_or(0));
        let [columns, rows] = size;
        let corners = reader.corners(number).filter(|corners| {
            columns.checked_mul(rows) == Some(corners.len()) && size.iter().all(|side| *side >= 3 && side % 2 == 1)
        });
        let (Some(corners), Some(look)) = (corners, reader.shader.below(number, looks.len())) else {
            counts.leave_out("patch", "its control points are damaged", number);
            continue;
        };
        let Some(more) = left.checked_sub(corners.len()) else {
            counts.leave_out("patch", "it has the control points of others", number);
            continue;
        };
        left = more;
        let points = corners.into_iter().map(|([x, y, z], [s, t])| [x, y, z, s, t].map(shortest));
        found.push((model, look, Patch { texture: Vec::new(), size, points: points.collect(), contents: 0 }));
    }
    Ok(found)
}

/// A patch at another place.
pub(crate) fn moved(patch: &Patch, by: Point) -> Patch {
    let moved = |point: &[f64; 5]| {
        let [x, y, z, s, t] = *point;
        [x + by[0], y + by[1], z + by[2], s, t]
    };
    Patch { points: patch.points.iter().map(moved).collect(), ..patch.clone() }
}
