//! Area portals and occluders: entities whose brushes the compiler took, and which records know by numbers.

use std::collections::HashMap;

use bspkit::Bsp;
use bspkit::bytes::amount;

use super::displacements::prism;
use crate::boxes::{Boxes, grown, of_points};
use crate::drawn::{Drawn, plane_of};
use crate::dress::Dress;
use crate::entities::{Given, Taken, taken_number};
use crate::mapping::Mapping;
use crate::models::range;
use crate::pieces::Piece;
use crate::report::Counts;
use crate::source::{Entity, Point};

/// Which brushes of the world belong to which area portal.
pub(crate) struct Portals {
    /// The number of an entity, by that of the piece that is its brush.
    found: HashMap<usize, usize>,
}

impl Portals {
    /// By the polygons that the records of portals have: they lie in their brushes.
    pub(crate) fn new(map: &Bsp<'_>, given: &[Given], taken: &[Taken], pieces: &[&Piece]) -> Self {
        let middles: HashMap<i64, Point> = middles(map).unwrap_or_default().into_iter().collect();
        let limits = |piece: &&Piece| grown(of_points(piece.sides.iter().flat_map(|side| &side.ring)), 1.0);
        let boxes = Boxes::new(pieces.iter().map(limits).collect());
        let mut found = HashMap::new();
        for (entity, number) in super::numbers(given, taken, b"func_areaportal", b"portalnumber") {
            let Some(middle) = middles.get(&number) else { continue };
            let near = boxes.within([*middle; 2]).take(16).map(|at| pieces[at].number);
            if let Some(own) = near.filter(|own| !found.contains_key(own)).min() {
                found.insert(own, entity);
            }
        }
        Portals { found }
    }

    /// The entity of a piece.
    pub(crate) fn of(&self, piece: usize) -> Option<usize> {
        self.found.get(&piece).copied()
    }
}

/// The numbers of portals and the middles of their polygons.
fn middles(map: &Bsp<'_>) -> Option<Vec<(i64, Point)>> {
    let (portals, vertexes) = (map.any_records("AREAPORTALS")?, map.any_records("CLIPPORTALVERTS")?);
    let [key, first, count] = portals.columns(["key", "first_vertex", "vertex_count"]).ok()?;
    let [point] = vertexes.columns(["point"]).ok()?;
    let mut left = vertexes.len().saturating_mul(2).saturating_add(portals.len());
    let middle = |at: usize| {
        let range = range(first.get(at), count.get(at), vertexes.len()).filter(|range| !range.is_empty())?;
        left = left.checked_sub(range.len())?;
        let all = amount(range.len());
        let sum = range.fold([0.0; 3], |sum: Point, vertex| {
            let own = point.floats::<3>(vertex, 0);
            std::array::from_fn(|axis| sum[axis] + f64::from(own[axis]))
        });
        Some((key.get(at), sum.map(|part| part / all)))
    };
    Some((0..portals.len()).filter_map(middle).collect())
}

/// Gives each occluder brushes below its polygons.
pub(super) fn occluders(
    map: &Bsp<'_>,
    entities: &mut [Entity],
    taken: &[Taken],
    dress: &mut Dress<'_>,
    counts: &mut Counts,
) {
    let Some(polygons) = polygons(map) else { return };
    for (at, entity) in entities.iter_mut().enumerate() {
        if !entity.class().eq_ignore_ascii_case(b"func_occluder") || !entity.brushes.is_empty() {
            continue;
        }
        let number = taken_number(taken, at, b"occludernumber").and_then(|number| usize::try_from(number).ok());
        let Some(own) = number.and_then(|number| polygons.get(number)).filter(|own| !own.is_empty()) else {
            counts.leave_out("occluder", "its polygons do not exist", at);
            continue;
        };
        for ring in own {
            let Some(plane) = plane_of(ring) else { continue };
            let mapping = Mapping::default_of(&plane, 1.0);
            let face = Drawn {
                number: 0,
                model: 0,
                look: usize::MAX,
                ring: ring.clone(),
                plane,
                mapping,
                is_mesh: false,
                displacement: None,
            };
            let mut brush = prism(&face, dress, b"tools/toolsnodraw");
            // It is not a face of the map: overlays do not lie on it.
            dress.placed.pop();
            if let Some(front) = brush.sides.first_mut() {
                front.texture = b"tools/toolsoccluder".to_vec();
            }
            counts.report.made_count += 1;
            entity.brushes.push(brush);
        }
    }
}

/// The polygons of each occluder.
fn polygons(map: &Bsp<'_>) -> Option<Vec<Vec<Vec<Point>>>> {
    let occluders = map.any_records("OCCLUSION.occluders")?;
    let (polygons, indexes) = (map.any_records("OCCLUSION.polygons")?, map.any_records("OCCLUSION.vertexes")?);
    let vertexes = map.any_records("VERTEXES")?;
    let [first, count] = occluders.columns(["first_polygon", "polygon_count"]).ok()?;
    let [first_vertex, vertex_count] = polygons.columns(["first_vertex", "vertex_count"]).ok()?;
    let ([vertex], [point]) = (indexes.columns(["vertex"]).ok()?, vertexes.columns(["point"]).ok()?);
    let mut left = indexes.len().saturating_mul(2).saturating_add(polygons.len());
    let mut ring = |polygon: usize| -> Option<Vec<Point>> {
        let range = range(first_vertex.get(polygon), vertex_count.get(polygon), indexes.len())?;
        left = left.checked_sub(range.len().max(1)).filter(|_| range.len() >= 3)?;
        range.map(|at| Some(point.floats::<3>(vertex.below(at, vertexes.len())?, 0).map(f64::from))).collect()
    };
    let all = (0..occluders.len()).map(|at| {
        let own = range(first.get(at), count.get(at), polygons.len()).unwrap_or(0..0);
        own.filter_map(&mut ring).collect()
    });
    Some(all.collect())
}
