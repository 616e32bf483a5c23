//! Pieces of maps that keep no brushes (Quake, GoldSrc and their relatives): the solid cells of the trees of their
//! models, put together.

use std::collections::{BTreeMap, HashMap, HashSet};

use bspkit::dialect::Role;
use bspkit::{Bsp, Column, Records, Result};

use crate::brush_list;
use crate::cells::{Cells, Step};
use crate::clips::{self, Hull};
use crate::contents::{flag, is_liquid, named, of_texture, start_of};
use crate::covers;
use crate::drawn::Drawn;
use crate::entities::Given;
use crate::geometry::{cross, dot, mean, plus};
use crate::joins::{Face, Joins, Volume, area, union};
use crate::looks::Look;
use crate::models::{Tree, boxes, planes};
use crate::pieces::{MOST_SIDES, Piece, PieceSide, bounded};
use crate::report::Counts;
use crate::shown;
use crate::source::Point;
use crate::tools::Family;

/// How thick the walls around a world are made, in units.
const RIM: f64 = 16.0;

/// How many corners may be looked at for each node and face of a map. Maps of games take up to 2,000; a tree that was
/// made to take long has cells with as many sides as it has nodes.
const WORK: usize = 1 << 14;

/// How often a node of a hull is met, on the average.
const SHARED: usize = 16;

/// What the models of a map without brushes have in common.
struct Models<'m> {
    tree: Tree,
    planes: Vec<([f32; 3], f32)>,
    /// The contents of the leafs as flags.
    leafs: Vec<u32>,
    boxes: Vec<[[f32; 3]; 2]>,
    /// The boxes of the leafs that are not solid.
    spaces: Vec<[Point; 2]>,
    /// The hull of players.
    clip: Option<Clip>,
    /// The drawn faces of each model.
    faces: Vec<Vec<&'m Drawn>>,
    /// The first look that says the same as a look.
    look_of: Vec<usize>,
    /// The contents that the textures of looks say.
    holds: Vec<u32>,
}

/// The tree that stops players.
struct Clip {
    /// The plane and the children of each node.
    nodes: Vec<(usize, [i64; 2])>,
    /// Where the tree of each model begins.
    heads: Vec<i64>,
    hull: Hull,
}

impl Clip {
    /// `None` if the map has none.
    fn read(map: &Bsp<'_>) -> Option<Self> {
        let (nodes, models) = (map.records(Role::ClipNodes).ok()?, map.records(Role::Models).ok()?);
        let ([plane, children], [heads]) =
            (nodes.columns(["plane", "children"]).ok()?, models.columns(["clip_nodes"]).ok()?);
        let node = |at: usize| (plane.index(at).unwrap_or(usize::MAX), [children.item(at, 0), children.item(at, 1)]);
        let all: Vec<_> = (0..nodes.len()).map(node).collect();
        let hull = if is_of_valve(map) { clips::GOLDSRC } else { clips::QUAKE };
        let heads = (0..models.len()).map(|at| heads.get(at)).collect();
        // Heads of maps without such trees may be any number.
        (!all.is_empty()).then_some(Clip { nodes: all, heads, hull })
    }
}

impl Clip {
    /// Whether a model has a tree of its own there.
    fn is_head(&self, head: i64, model: usize) -> bool {
        usize::try_from(head).is_ok_and(|at| at < self.nodes.len()) && (head > 0 || model == 0)
    }
}

/// Whether a map is one of Half-Life or a relative: their compilers have hulls and names of textures of their own.
fn is_of_valve(map: &Bsp<'_>) -> bool {
    map.dialect().versions.contains(&30)
}

/// The pieces of a map, and what is drawn of it.
pub(crate) fn read(map: &Bsp<'_>, drawn: &[Drawn], looks: &mut Vec<Look>, counts: &mut Counts) -> Result<Vec<Piece>> {
    let leafs = map.records(Role::Leafs)?;
    let [contents] = leafs.columns(["contents"])?;
    let tree = Tree::read(map)?;
    let mut faces = vec![Vec::new(); tree.models()];
    for face in drawn {
        if let Some(own) = faces.get_mut(face.model) {
            own.push(face);
        }
    }
    let models = Models {
        planes: planes(map)?,
        leafs: (0..leafs.len()).map(|at| flag(contents.get(at))).collect(),
        boxes: boxes(map),
        spaces: spaces(&leafs)?,
        clip: Clip::read(map),
        faces,
        look_of: same_looks(looks),
        holds: looks.iter().map(|look| of_texture(&look.name)).collect(),
        tree,
    };
    let mut seen = models.tree.unseen();
    let nodes = map.records(Role::Nodes)?.len() + models.clip.as_ref().map_or(0, |clip| clip.nodes.len());
    let mut work = (nodes + drawn.len() + 64).saturating_mul(WORK);
    let mut listed = brush_list::read(map, &models.faces, &models.holds);
    let mut pieces: Vec<Piece> = Vec::new();
    for model in 0..models.tree.models() {
        let own = listed.remove(&model).unwrap_or_else(|| volumes(&models, model, &mut seen, &mut work, counts));
        for volume in own {
            if volume.faces.len() > MOST_SIDES {
                counts.leave_out("brush", "it has too many sides", pieces.len());
                continue;
            }
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
    name_triggers(map, &mut pieces, looks)?;
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
        let flipped = |side: &PieceSide| dot(facing, side.plane().normal).abs();
        if let Some(side) = piece.sides.iter_mut().max_by(|one, other| flipped(one).total_cmp(&flipped(other))) {
            side.look = look;
        }
    }
}

/// Gives the pieces of triggers their texture: compilers take their faces away.
fn name_triggers(map: &Bsp<'_>, pieces: &mut [Piece], looks: &mut Vec<Look>) -> Result<()> {
    let name = if is_of_valve(map) { "aaatrigger" } else { "trigger" };
    let (given, _) = crate::entities::read(map, Family::Quake)?;
    let is_trigger = |entity: &Given| {
        entity
            .get(b"classname")
            .and_then(|class| class.get(..8))
            .is_some_and(|class| class.eq_ignore_ascii_case(b"trigger_"))
    };
    let triggers: HashSet<usize> =
        given.iter().filter(|entity| is_trigger(entity)).filter_map(|entity| entity.model).collect();
    let solid = named("SOLID");
    let is_bare = |piece: &&mut Piece| {
        let is_seen = piece.sides.iter().any(|side| side.look.is_some());
        piece.contents == solid && !is_seen && triggers.contains(&piece.model)
    };
    let look = looks.len();
    for side in pieces.iter_mut().filter(is_bare).flat_map(|piece| &mut piece.sides) {
        side.look = Some(look);
    }
    looks.push(Look { name: name.as_bytes().to_vec(), ..Look::default() });
    Ok(())
}

/// Names for textures whose names the map does not have: their numbers, and what says the contents of pieces with them.
fn give_names(map: &Bsp<'_>, pieces: &mut [Piece], looks: &mut Vec<Look>, counts: &mut Counts) -> Result<()> {
    if looks.iter().all(|look| !look.name.is_empty()) {
        return Ok(());
    }
    let texinfo = map.records(Role::TexInfo)?;
    let [texture] = texinfo.columns(["texture"])?;
    let of_valve = is_of_valve(map);
    let mut made: HashMap<(usize, u32), usize> = HashMap::new();
    for piece in pieces {
        for look in piece.sides.iter_mut().filter_map(|side| side.look.as_mut()) {
            if looks.get(*look).is_none_or(|look| !look.name.is_empty()) {
                continue;
            }
            // Solid and liquid may have the same one.
            let new = made.entry((*look, piece.contents)).or_insert_with(|| {
                counts.note("texture", "the map does not have its name; it has a made one", *look);
                let (start, number) = (start_of(piece.contents, of_valve), texture.index(*look).unwrap_or(0));
                let name = format!("{start}texture_{number}").into_bytes();
                looks.push(Look { name, ..looks[*look].clone() });
                looks.len() - 1
            });
            *look = *new;
        }
    }
    Ok(())
}

/// The boxes of the leafs that are not solid.
fn spaces(leafs: &Records<'_>) -> Result<Vec<[Point; 2]>> {
    let [contents, mins, maxs] = leafs.columns(["contents", "mins", "maxs"])?;
    let is_open = |leaf: &usize| flag(contents.get(*leaf)) != named("SOLID");
    let corner = |column: &Column<'_>, leaf: usize| {
        std::array::from_fn(|axis| {
            // Some dialects have integers here, and others floats.
            let whole = i32::try_from(column.item(leaf, axis)).map_or(0.0, f64::from);
            let part = f64::from(column.float(leaf, axis));
            if part.is_finite() { whole + part } else { 0.0 }
        })
    };
    Ok((0..leafs.len()).filter(is_open).map(|leaf| [corner(&mins, leaf), corner(&maxs, leaf)]).collect())
}

/// The first look that says the same, for each look.
fn same_looks(looks: &[Look]) -> Vec<usize> {
    type Bits = [[u32; 4]; 2];
    let mut first: HashMap<(Vec<u8>, Option<Bits>), usize> = HashMap::new();
    let key =
        |look: &Look| (look.name.to_ascii_lowercase(), look.vectors.map(|rows| rows.map(|row| row.map(f32::to_bits))));
    looks.iter().enumerate().map(|(at, look)| *first.entry(key(look)).or_insert(at)).collect()
}

/// The box in which the cells of a model are. Compilers fill the outside of a world with solid up to any distance, so
/// walls are as thick around its space as mappers make them.
fn room(models: &Models<'_>, model: usize, [mins, maxs]: [[f32; 3]; 2]) -> [Point; 2] {
    let (mut low, mut high) = (mins.map(f64::from), maxs.map(f64::from));
    if model == 0 {
        let corners = models.faces[0].iter().flat_map(|face| face.ring.iter().copied());
        let leafs = models.spaces.iter().flatten().copied();
        let all = corners.chain(leafs);
        let (start, end) = all.fold(([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]), |(start, end), point: Point| {
            (
                std::array::from_fn(|axis| point[axis].min(start[axis])),
                std::array::from_fn(|axis| point[axis].max(end[axis])),
            )
        });
        if (0..3).all(|axis| start[axis] <= end[axis]) {
            low = std::array::from_fn(|axis| low[axis].max(start[axis]));
            high = std::array::from_fn(|axis| high[axis].min(end[axis]));
        }
    }
    [low.map(|part| part.floor() - RIM), high.map(|part| part.ceil() + RIM)]
}

/// The convex volumes of a model.
fn volumes(models: &Models<'_>, model: usize, seen: &mut [bool], work: &mut usize, counts: &mut Counts) -> Vec<Volume> {
    let (Some(head), Some([mins, maxs])) = (models.tree.head(model), models.boxes.get(model)) else {
        return Vec::new();
    };
    if !mins.iter().chain(maxs).all(|part| part.abs() < 1e6) {
        counts.leave_out("model", "its box is damaged", model);
        return Vec::new();
    }
    let within = room(models, model, [*mins, *maxs]);
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
    let mut cells = Cells::walk(head, within, *work, step);
    for loose in shown::lay(&mut cells, &models.faces[model], &models.look_of, &models.holds) {
        counts.note("face", "nothing solid or liquid is behind it; no brush shows it", loose);
    }
    shown::drop_slivers(&mut cells);
    for _ in 0..shown::settle(&mut cells) {
        counts.note("side", "it shows several textures, and has one", model);
    }
    let (mut volumes, shared) = neighbors(&mut cells);
    // Faces of the sky have no space before them.
    let is_sky = |face: &&&Drawn| models.holds.get(face.look) == Some(&named("SKY"));
    for face in models.faces[model].iter().filter(|face| !is_sky(face)) {
        touched(&mut cells, &face.ring, |cell| volumes[cell].is_needed = true);
    }
    if cells.is_damaged {
        counts.leave_out("model", "its tree is damaged; parts of it are missing", model);
    }
    let mut joins = Joins::new(volumes, &shared);
    joins.run(union);
    joins.keep_needed();
    joins.run(|one, other| covers::union(&mut cells, one, other));
    let mut found = joins.finish();
    found.extend(clips(models, model, &mut cells, within, counts));
    *work = cells.work;
    found
}

/// The brushes of a model that stop players alone.
fn clips(models: &Models<'_>, model: usize, cells: &mut Cells, within: [Point; 2], counts: &mut Counts) -> Vec<Volume> {
    let Some(clip) = &models.clip else { return Vec::new() };
    let Some(head) = clip.heads.get(model).copied().filter(|head| clip.is_head(*head, model)) else {
        return Vec::new();
    };
    let far = clip.hull.reach() * 2.0;
    let room = [within[0].map(|part| part - far), within[1].map(|part| part + far)];
    // Compilers let hulls share what is equal, so that a node may be met several times.
    let mut left = clip.nodes.len().saturating_mul(SHARED);
    let step = |child: i64| {
        if child < 0 {
            // The sky stops players, too.
            let is_hard = [named("SOLID"), named("SKY")].contains(&flag(child));
            return Step::Leaf(if is_hard { named("SOLID") } else { 0 });
        }
        let Some(more) = left.checked_sub(1) else { return Step::Damaged };
        left = more;
        let node = usize::try_from(child).ok().and_then(|node| clip.nodes.get(node));
        let plane = node.and_then(|(plane, _)| models.planes.get(*plane));
        match (node, plane) {
            (Some((_, children)), Some((normal, distance))) => {
                Step::Node { normal: *normal, distance: *distance, children: *children }
            }
            _ => Step::Damaged,
        }
    };
    let mut hull = Cells::walk(head, room, cells.work, step);
    if hull.is_damaged {
        cells.work = hull.work;
        counts.leave_out("clip", "the tree of the players' hull is damaged; no clip brushes of the model", model);
        return Vec::new();
    }
    let (volumes, shared) = neighbors(&mut hull);
    let mut joins = Joins::new(volumes, &shared);
    joins.run(union);
    joins.keep_needed();
    joins.run(|one, other| covers::union(&mut hull, one, other));
    // What is left is for both.
    (cells.work, hull.work) = (hull.work / 2, hull.work / 2);
    let found = clips::find(cells, &mut hull, joins.finish(), &clip.hull, within);
    cells.work += hull.work;
    for _ in 0..found.left {
        counts.leave_out("clip", "it takes too long to tell whether it is one", model);
    }
    for _ in 0..found.unexplained {
        counts.leave_out("clip", "players cannot be at a place where nothing that is written stops them", model);
    }
    found.brushes
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
