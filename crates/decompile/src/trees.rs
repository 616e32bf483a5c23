//! Pieces of maps that keep no brushes (Quake, GoldSrc and their relatives): the solid cells of the trees of their
//! models, put together.

use std::collections::{BTreeMap, HashMap};

use bspkit::dialect::Role;
use bspkit::{Bsp, Result};

use crate::brush_list;
use crate::cells::{Cells, Step};
use crate::contents::{flag, is_liquid, named, of_texture, start_of};
use crate::drawn::Drawn;
use crate::fields::index;
use crate::geometry::{cross, dot, mean, plus};
use crate::joins::{Face, Volume, area, join};
use crate::looks::Look;
use crate::models::{Tree, boxes};
use crate::pieces::{Piece, PieceSide, Planes, bounded};
use crate::report::Counts;
use crate::shown;
use crate::source::Point;

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
    /// The contents that the textures of looks say.
    holds: Vec<u32>,
}

/// The pieces of a map.
pub(crate) fn read(map: &Bsp<'_>, looks: &mut Vec<Look>, counts: &mut Counts) -> Result<Vec<Piece>> {
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
        holds: looks.iter().map(|look| of_texture(&look.name)).collect(),
        tree,
    };
    let mut seen = models.tree.unseen();
    let mut listed = brush_list::read(map, &models.faces);
    let mut pieces: Vec<Piece> = Vec::new();
    for model in 0..models.tree.models() {
        let own = listed.remove(&model).unwrap_or_else(|| volumes(&models, model, &mut seen, counts));
        for volume in own {
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
                Ok(sides) => pieces.push(Piece { number, model, contents: volume.contents, look: None, sides }),
                Err(why) => counts.leave_out("piece", why, number),
            }
        }
    }
    give_looks(&mut pieces, looks);
    give_names(map, &mut pieces, looks, counts)?;
    Ok(pieces)
}

/// Gives a piece of liquid or sky that shows nothing the look of another one: its texture says what it holds.
fn give_looks(pieces: &mut [Piece], looks: &[Look]) {
    let mut usual: HashMap<u32, usize> = HashMap::new();
    let shown = |piece: &Piece| piece.sides.iter().find_map(|side| side.look);
    for piece in pieces.iter() {
        if let Some(look) = shown(piece) {
            usual.entry(piece.contents).or_insert(look);
        }
    }
    let solid = named("SOLID");
    for piece in pieces.iter_mut().filter(|piece| piece.contents != solid && shown(piece).is_none()) {
        let look = usual.get(&piece.contents).copied();
        let Some([s, t]) = look.and_then(|look| looks.get(look)?.vectors) else { continue };
        let facing = cross([s[0], s[1], s[2]].map(f64::from), [t[0], t[1], t[2]].map(f64::from));
        // The side on which it lies best; the others have its texture, too.
        let turned = |side: &PieceSide| dot(facing, side.plane().normal).abs();
        if let Some(side) = piece.sides.iter_mut().max_by(|one, other| turned(one).total_cmp(&turned(other))) {
            side.look = look;
        }
    }
}

/// Names for textures whose names the map does not have: their numbers, and what says the contents of pieces with them.
fn give_names(map: &Bsp<'_>, pieces: &mut [Piece], looks: &mut Vec<Look>, counts: &mut Counts) -> Result<()> {
    if looks.iter().all(|look| !look.name.is_empty()) {
        return Ok(());
    }
    let texinfo = map.records(Role::TexInfo)?;
    let [texture] = texinfo.columns(["texture"])?;
    let is_of_valve = map.dialect().versions.contains(&30);
    let mut made: HashMap<(usize, u32), usize> = HashMap::new();
    for piece in pieces {
        for look in piece.sides.iter_mut().filter_map(|side| side.look.as_mut()) {
            if looks.get(*look).is_none_or(|look| !look.name.is_empty()) {
                continue;
            }
            // Solid and liquid may have the same one.
            let new = made.entry((*look, piece.contents)).or_insert_with(|| {
                counts.note("texture", "the map does not have its name; it has a made one", *look);
                let (start, number) = (start_of(piece.contents, is_of_valve), index(&texture, *look).unwrap_or(0));
                let name = format!("{start}texture_{number}").into_bytes();
                looks.push(Look { name, ..looks[*look].clone() });
                looks.len() - 1
            });
            *look = *new;
        }
    }
    Ok(())
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
    for loose in shown::lay(&mut cells, &models.faces[model], &models.look_of, &models.holds) {
        counts.note("face", "nothing solid or liquid is behind it; no brush shows it", loose);
    }
    shown::drop_slivers(&mut cells);
    for _ in 0..shown::settle(&mut cells) {
        counts.note("side", "it shows several textures, and has one", model);
    }
    let (mut volumes, shared) = neighbors(&mut cells);
    for face in &models.faces[model] {
        touched(&mut cells, &face.ring, |cell| volumes[cell].is_needed = true);
    }
    if cells.is_damaged {
        counts.leave_out("model", "its tree is damaged; parts of it are missing", model);
    }
    let mut joined = join(volumes, shared);
    joined.retain(|volume| volume.is_needed);
    joined
}

/// Finds the cells around the edges of a face. Space may touch a cell in an edge alone, and would be open there.
fn touched(cells: &mut Cells, ring: &[Point], mut found: impl FnMut(usize)) {
    const AWAY: f64 = 0.25;
    for (at, here) in ring.iter().enumerate() {
        for point in [*here, mean(&[*here, ring[(at + 1) % ring.len()]])] {
            for corner in 0..8_u8 {
                let off = [1, 2, 4].map(|bit| if corner & bit == 0 { -AWAY } else { AWAY });
                cells.at(plus(point, off)).into_iter().for_each(&mut found);
            }
        }
    }
}

/// The cells as volumes, with the areas that those of the same contents share.
fn neighbors(cells: &mut Cells) -> (Vec<Volume>, BTreeMap<(usize, usize), f64>) {
    let (mut volumes, mut shared) = (Vec::with_capacity(cells.all.len()), BTreeMap::new());
    for at in 0..cells.all.len() {
        let contents = cells.all[at].contents;
        // Only solid is what compilers fill the outside with.
        let mut is_needed = contents != named("SOLID");
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
