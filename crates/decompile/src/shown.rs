//! Drawn faces on the walls of cells, and cells cut where two textures meet.

use crate::cells::{Cells, Wall, through};
use crate::drawn::Drawn;
use crate::geometry::{Plane, dot, double_area, is_face, length, mean, minus};
use crate::source::Point;

/// How far a face may be off the plane of a wall, in units.
const OFF: f64 = 0.1;

/// The most edges that are tried for a cut.
const MOST_EDGES: usize = 96;

/// The most parts of a wall that are looked at for a cut.
const MOST_PARTS: usize = 256;

/// Lays faces on the walls that they are the surface of. The numbers of those that have none at all are returned.
/// `look_of` gives for a look the first one that says the same, and `holds` what its texture says of its volume.
pub(crate) fn lay(cells: &mut Cells, faces: &[&Drawn], look_of: &[usize], holds: &[u32]) -> Vec<usize> {
    let mut loose = Vec::new();
    for face in faces {
        let own = holds.get(face.look).copied().unwrap_or(0);
        let look = look_of.get(face.look).copied().unwrap_or(face.look);
        let facing = face.plane.normal;
        let away = facing.map(|part| -part);
        let behind = parts(cells, &face.ring, away, own);
        // Behind the face is what it is the surface of. The surfaces of liquids and of the sky are seen from within,
        // too: what is behind such a face is something else, or nothing.
        let is_its = behind.iter().any(|part| part.is_its);
        let before = if is_its { Vec::new() } else { parts(cells, &face.ring, facing, own) };
        let is_turned = behind.is_empty() || before.iter().any(|part| part.is_its);
        let (all, out) = if is_turned { (before, away) } else { (behind, facing) };
        let mut is_laid = false;
        for Part { cell, mut ring, .. } in all {
            let Some(wall) = wall_at(&mut cells.all[cell].walls, out, &ring) else { continue };
            is_laid = true;
            if is_turned {
                ring.reverse();
            }
            if !is_turned || wall.shown.is_empty() {
                wall.shown.push((look, ring));
            }
        }
        if !is_laid {
            loose.push(face.number);
        }
    }
    loose
}

/// A part of a face with the cell on one side of it.
struct Part {
    cell: usize,
    ring: Vec<Point>,
    /// Whether the cell holds what the texture of the face says.
    is_its: bool,
}

fn parts(cells: &mut Cells, ring: &[Point], toward: Point, own: u32) -> Vec<Part> {
    let found = cells.behind(ring.to_vec(), toward).into_iter();
    let part = |(cell, ring): (Option<usize>, Vec<Point>)| {
        let cell = cell?;
        Some(Part { cell, ring, is_its: cells.all[cell].contents == own })
    };
    found.filter_map(part).collect()
}

fn wall_at<'w>(walls: &'w mut [Wall], out: Point, part: &[Point]) -> Option<&'w mut Wall> {
    let middle = mean(part);
    walls.iter_mut().find(|wall| {
        let plane = wall.plane();
        dot(plane.normal, out) > 0.999 && plane.height(middle).abs() < OFF
    })
}

/// Cuts cells until every wall shows one look. Returns how many walls show more.
pub(crate) fn settle(cells: &mut Cells) -> usize {
    let mut open: Vec<usize> = (0..cells.all.len()).rev().collect();
    let most = cells.all.len().saturating_mul(8).saturating_add(1 << 12);
    let mut left = 0;
    while let Some(cell) = open.pop() {
        let walls = &cells.all[cell].walls;
        let Some(mixed) = walls.iter().position(is_mixed) else { continue };
        let work = walls.iter().map(|wall| wall.shown.len()).sum::<usize>() * MOST_EDGES;
        let cut = if cells.all.len() < most && cells.pay(work) { best(&cells.all[cell].walls, mixed) } else { None };
        match cut.and_then(|(normal, distance)| cells.divide(cell, normal, distance)) {
            Some(new) => open.extend([cell, new]),
            None => {
                left += 1;
                keep_largest(&mut cells.all[cell].walls[mixed]);
                open.push(cell);
            }
        }
    }
    left
}

/// Whether a wall shows two looks.
fn is_mixed(wall: &Wall) -> bool {
    wall.shown.first().is_some_and(|(first, _)| wall.shown.iter().any(|(look, _)| look != first))
}

/// The look with the largest area of a wall.
pub(crate) fn look(wall: &Wall) -> Option<usize> {
    let area = |look: usize| -> f64 {
        wall.shown.iter().filter(|(own, _)| *own == look).map(|(_, part)| double_area(part)).sum()
    };
    let first = wall.shown.first()?.0;
    if !is_mixed(wall) {
        return Some(first);
    }
    let looks = wall.shown.iter().take(MOST_PARTS).map(|(look, _)| (*look, area(*look)));
    looks
        .fold(None, |best: Option<(usize, f64)>, one| best.filter(|best| best.1 >= one.1).or(Some(one)))
        .map(|best| best.0)
}

fn keep_largest(wall: &mut Wall) {
    let look = look(wall);
    wall.shown.retain(|(own, _)| Some(*own) == look);
}

/// The plane that cuts the fewest faces and leaves the fewest looks on both of its sides.
fn best(walls: &[Wall], mixed: usize) -> Option<([f32; 3], f32)> {
    let wall = &walls[mixed];
    let facing = wall.plane().normal;
    type Cut = ([f32; 3], f32);
    let mut found: Option<((usize, f64), Cut)> = None;
    let parts = &wall.shown[..wall.shown.len().min(MOST_PARTS)];
    let edges = parts.iter().flat_map(|(_, part)| (0..part.len()).map(|at| (part[at], part[(at + 1) % part.len()])));
    let mut tried: Vec<([f32; 3], f32)> = Vec::new();
    for (here, there) in edges {
        if tried.len() >= MOST_EDGES {
            break;
        }
        if length(minus(here, there)) < 0.5 {
            continue;
        }
        let Some(cut) = through(here, there, facing) else { continue };
        let is_known = |(normal, distance): &([f32; 3], f32)| {
            let same = dot(normal.map(f64::from), cut.0.map(f64::from));
            let (own, other) = (f64::from(*distance), f64::from(cut.1));
            (same > 1.0 - 1e-6 && (own - other).abs() < 0.05) || (same < 1e-6 - 1.0 && (own + other).abs() < 0.05)
        };
        if tried.iter().any(is_known) {
            continue;
        }
        tried.push(cut);
        let plane = crate::cells::plane(cut.0, cut.1);
        if let Some(score) = score(walls, parts, &plane)
            && found.as_ref().is_none_or(|(best, _)| score.0 < best.0 || (score.0 == best.0 && score.1 > best.1))
        {
            found = Some((score, cut));
        }
    }
    found.map(|(_, cut)| cut)
}

/// Where a part is: before a plane, behind it, or both.
fn sides(part: &[Point], plane: &Plane) -> [bool; 2] {
    let heights = || part.iter().map(|corner| plane.height(*corner));
    [heights().any(|height| height > OFF), heights().any(|height| height < -OFF)]
}

/// The faces that a plane cuts and the looks that it leaves on both sides, and the smaller area of the two sides;
/// `None` if all is on one side.
fn score(walls: &[Wall], parts: &[(usize, Vec<Point>)], plane: &Plane) -> Option<(usize, f64)> {
    let (mut areas, mut looks) = ([0.0; 2], [Vec::new(), Vec::new()]);
    for (look, part) in parts {
        let area = double_area(part);
        for (side, _) in sides(part, plane).into_iter().enumerate().filter(|(_, is_there)| *is_there) {
            areas[side] += area;
            if !looks[side].contains(look) {
                looks[side].push(*look);
            }
        }
    }
    if areas.iter().any(|area| *area <= 0.0) {
        return None;
    }
    let cuts = walls.iter().flat_map(|wall| wall.shown.iter().take(MOST_PARTS));
    let cuts = cuts.filter(|(_, part)| sides(part, plane) == [true; 2]).count();
    let shared = looks[0].iter().filter(|look| looks[1].contains(look)).count();
    Some((cuts + 2 * shared, areas[0].min(areas[1])))
}

/// Parts that are so narrow that rounding made them say nothing.
pub(crate) fn drop_slivers(cells: &mut Cells) {
    let walls = cells.all.iter_mut().flat_map(|cell| &mut cell.walls);
    walls.for_each(|wall| wall.shown.retain(|(_, part)| is_face(part)));
}
