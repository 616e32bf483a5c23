//! Pieces of maps that keep no brushes (Quake, GoldSrc and their relatives): the solid cells of the trees of their
//! models, put together.

use std::collections::{BTreeMap, HashMap};

use bspkit::dialect::Role;
use bspkit::{Bsp, Result};

use crate::cells::{Cells, Step};
use crate::contents::{flag, is_liquid};
use crate::drawn::Drawn;
use crate::joins::{Face, Volume, area, join};
use crate::looks::Look;
use crate::models::{Tree, boxes};
use crate::pieces::{Piece, PieceSide, Planes, bounded};
use crate::report::Counts;
use crate::shown;

/// How thick the walls around a world are made, in units.
const RIM: f64 = 16.0;

/// A model of a map that keeps no brushes.
struct Models<'m> {
    tree: Tree,
    planes: Vec<([f32; 3], f32)>,
    /// The contents of the leafs as flags.
    leafs: Vec<u32>,
    boxes: Vec<[[f32; 3]; 2]>,
    /// The drawn faces of each model.
    faces: Vec<Vec<&'m Drawn>>,
    /// The first look that says the same as a look.
    look_of: Vec<usize>,
}

/// The pieces of a map.
pub(crate) fn read(map: &Bsp<'_>, looks: &[Look], counts: &mut Counts) -> Result<Vec<Piece>> {
    let drawn = crate::drawn::read(map, looks)?;
    let leafs = map.records(Role::Leafs)?;
    let [contents] = leafs.columns(["contents"])?;
    let tree = Tree::read(map)?;
    let mut faces = vec![Vec::new(); tree.models()];
    for face in &drawn {
        if let Some(own) = faces.get_mut(face.model) {
            own.push(face);
        }
    }
    let models = Models {
        planes: Planes::read(map)?.all()?,
        leafs: (0..leafs.len()).map(|at| flag(contents.get(at))).collect(),
        boxes: boxes(map),
        faces,
        look_of: same_looks(looks),
        tree,
    };
    let mut seen = models.tree.unseen();
    let mut pieces = Vec::new();
    for model in 0..models.tree.models() {
        for volume in volumes(&models, model, &mut seen, counts) {
            let number = pieces.len();
            let side = |face: Face| PieceSide {
                number,
                normal: face.normal,
                distance: face.distance,
                look: face.look,
                ring: face.ring,
            };
            let sides: Vec<PieceSide> = volume.faces.into_iter().map(side).collect();
            let is_bevel = vec![false; sides.len()];
            match bounded(sides, &is_bevel, counts) {
                Ok(sides) => pieces.push(Piece { number, model, contents: volume.contents, sides }),
                Err(why) => counts.leave_out("piece", why, number),
            }
        }
    }
    Ok(pieces)
}

/// The first look that says the same, for each look.
fn same_looks(looks: &[Look]) -> Vec<usize> {
    let mut first: HashMap<(Vec<u8>, Option<[[u32; 4]; 2]>), usize> = HashMap::new();
    let key =
        |look: &Look| (look.name.to_ascii_lowercase(), look.vectors.map(|rows| rows.map(|row| row.map(f32::to_bits))));
    looks.iter().enumerate().map(|(at, look)| *first.entry(key(look)).or_insert(at)).collect()
}

/// The convex volumes of a model.
fn volumes(models: &Models<'_>, model: usize, seen: &mut [bool], counts: &mut Counts) -> Vec<Volume> {
    let (Some(head), Some([mins, maxs])) = (models.tree.head(model), models.boxes.get(model)) else {
        return Vec::new();
    };
    if !mins.iter().chain(maxs).all(|part| part.abs() < 1e6) {
        counts.leave_out("model", "its box is damaged", model);
        return Vec::new();
    }
    let mins = mins.map(|part| f64::from(part).floor() - RIM);
    let maxs = maxs.map(|part| f64::from(part).ceil() + RIM);
    let step = |child: i64| match (models.tree.leaf(child), models.tree.node(child)) {
        (Some(leaf), _) => models.leafs.get(leaf).map_or(Step::Damaged, |contents| Step::Leaf(*contents)),
        (None, Some((plane, children))) => {
            let is_new = usize::try_from(child).ok().and_then(|node| seen.get_mut(node));
            match (is_new.map(|seen| !std::mem::replace(seen, true)), models.planes.get(plane)) {
                (Some(true), Some((normal, distance))) => Step::Node { normal: *normal, distance: *distance, children },
                _ => Step::Damaged,
            }
        }
        (None, None) => Step::Damaged,
    };
    let mut cells = Cells::walk(head, [mins, maxs], models.planes.len(), step);
    for loose in shown::lay(&mut cells, &models.faces[model], &models.look_of) {
        counts.note("face", "nothing solid or liquid is behind it; no brush shows it", loose);
    }
    shown::drop_slivers(&mut cells);
    for _ in 0..shown::settle(&mut cells) {
        counts.note("side", "it shows several textures, and has one", model);
    }
    let (volumes, shared) = neighbors(&mut cells);
    if cells.is_damaged {
        counts.leave_out("model", "its tree is damaged; parts of it are missing", model);
    }
    let mut joined = join(volumes, shared);
    joined.retain(|volume| volume.is_needed);
    joined
}

/// The cells as volumes, with the areas that those of the same contents share.
fn neighbors(cells: &mut Cells) -> (Vec<Volume>, BTreeMap<(usize, usize), f64>) {
    let (mut volumes, mut shared) = (Vec::with_capacity(cells.all.len()), BTreeMap::new());
    for at in 0..cells.all.len() {
        let contents = cells.all[at].contents;
        let mut is_needed = is_liquid(contents);
        let walls = cells.all[at].walls.clone();
        for wall in walls.iter().filter(|wall| !wall.is_rim) {
            for (other, part) in cells.behind(wall.ring.clone(), wall.plane().normal) {
                let there = other.map_or(0, |other| cells.all[other].contents);
                match other {
                    Some(other) if there == contents && other != at => {
                        // Both find what they share.
                        *shared.entry((at.min(other), at.max(other))).or_insert(0.0) += area(&part) / 2.0;
                    }
                    _ => is_needed |= there == 0 || is_liquid(there),
                }
            }
        }
        let face = |wall: crate::cells::Wall| Face {
            normal: wall.normal,
            distance: wall.distance,
            look: shown::look(&wall),
            ring: wall.ring,
        };
        volumes.push(Volume { contents, faces: walls.into_iter().map(face).collect(), is_needed });
    }
    (volumes, shared)
}
