//! How a map divides space: what is visible from a place, leafs, and brushes that are not drawn but stop players.

use std::collections::HashMap;

use bspkit::bytes::{bits, index, rounded, short};
use bspkit::content::tree::{Tree, owners, planes, range};
use bspkit::content::visibility::{VisSet, Visibility, compress};
use bspkit::dialect::{Role, VisModel};
use bspkit::record::FlagKind;
use bspkit::{Bsp, Column, Place, Records, Result};

use crate::builder::{Findings, LIMIT, OUTSIDE, SPACE, sentence};
use crate::placed::Placed;
use crate::points::single;

/// The most bytes of all rows before they are compressed.
const MOST_OF_ROWS: usize = 1 << 27;

/// The tree of the world, with what each leaf sees.
///
/// ```
/// use bspkit_see::{Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let scene = Scene::read(&map, &Options { spaces: true, ..Options::default() })?;
/// let spaces = scene.spaces.unwrap();
/// assert_eq!(spaces.leafs.len(), map.records("leafs")?.len());
/// assert!(!spaces.rows.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Spaces {
    /// Where the tree begins: a node, or the leaf `-1 - head`.
    pub head: i64,
    /// The planes of the nodes, and their children on both sides, the front first.
    pub nodes: Vec<SpaceNode>,
    /// The leafs.
    pub leafs: Vec<SpaceLeaf>,
    /// Indices of faces, of which each leaf has a range.
    pub faces: Vec<u32>,
    /// For each leaf or cluster its row, `None` if everything is visible from there.
    pub places: Vec<Option<usize>>,
    /// Rows of bits, the lowest bit of the first byte for place 0, compressed as [`compress`] does.
    pub rows: Vec<Vec<u8>>,
    /// The planes of brushes that stop players or monsters and are not drawn, with what they stop.
    pub clips: Vec<Clip>,
}

impl Spaces {
    /// What is in files, little-endian: for each node six floats; for each leaf nine floats, of which the place is -1
    /// if it has none; faces, the row of each place (the highest number for none) and the start of each row as words
    /// of 32 bits; the bytes of the rows; for each clip the number of its planes, and all planes as four floats. Every
    /// number that a map can have is exact as a float.
    pub(crate) fn lists(&self) -> [(&'static str, Vec<u8>); 8] {
        let number = |value: usize| single(value).to_le_bytes();
        let words = |words: &mut dyn Iterator<Item = usize>| words.flat_map(|word| short(word).to_le_bytes()).collect();
        let floats = |floats: &[f32]| floats.iter().flat_map(|part| part.to_le_bytes()).collect::<Vec<u8>>();
        let child = |child: i64| match usize::try_from(child) {
            Ok(node) => single(node),
            Err(_) => -1.0 - single(usize::try_from(-1 - child).unwrap_or(0)),
        };
        let (mut nodes, mut leafs) = (Vec::new(), Vec::new());
        for node in &self.nodes {
            nodes.extend(floats(&node.plane));
            nodes.extend(floats(&node.children.map(child)));
        }
        for leaf in &self.leafs {
            leafs.extend(floats(&leaf.bounds.concat()));
            leafs.extend(leaf.place.map_or((-1.0_f32).to_le_bytes(), number));
            leafs.extend(leaf.faces.map(number).concat());
        }
        let mut end = 0;
        let mut starts = self.rows.iter().map(|row| {
            end += row.len();
            end - row.len()
        });
        [
            ("nodes", nodes),
            ("leafs", leafs),
            ("faces", words(&mut self.faces.iter().map(|face| index(*face)))),
            ("places", words(&mut self.places.iter().map(|row| row.unwrap_or(index(u32::MAX))))),
            ("starts", words(&mut starts)),
            ("rows", self.rows.concat()),
            ("sides", words(&mut self.clips.iter().map(|clip| clip.planes.len()))),
            (
                "planes",
                floats(&self.clips.iter().flat_map(|clip| clip.planes.iter().flatten()).copied().collect::<Vec<_>>()),
            ),
        ]
    }
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SpaceNode {
    /// The direction of its plane, and its distance from the origin in units.
    pub plane: [f32; 4],
    /// Nodes, or leafs as `-1 - leaf`.
    pub children: [i64; 2],
}

/// A leaf of the tree.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SpaceLeaf {
    /// Its box in units.
    pub bounds: [[f32; 3]; 2],
    /// Its place in rows, if it is not solid.
    pub place: Option<usize>,
    /// Its first face in the list, and how many it has.
    pub faces: [usize; 2],
}

/// A brush that is not drawn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Clip {
    /// The names of what it stops, as the dialect has them: `PLAYERCLIP`.
    pub contents: String,
    /// Directions and distances of its sides, which face outward, where its entity is.
    pub planes: Vec<[f32; 4]>,
}

/// Reads what can be read: a map without a tree has no spaces.
pub(crate) fn read(map: &Bsp<'_>, placed: &[Placed], findings: &mut Findings) -> Option<Spaces> {
    let mut spaces = match tree(map) {
        Ok(spaces) => spaces,
        Err(error) => {
            findings.add(&OUTSIDE, Place::default(), format!("leafs are not shown: {}", sentence(&error)));
            return None;
        }
    };
    match map.visibility() {
        Ok(visibility) => read_rows(&visibility, &mut spaces, findings),
        Err(error) if map.role(Role::Visibility).is_none_or(|slot| slot.length == 0) => drop(error),
        Err(error) => findings.fail(&SPACE, &error),
    }
    spaces.clips = clips(map, placed).unwrap_or_default();
    Some(spaces)
}

fn tree(map: &Bsp<'_>) -> Result<Spaces> {
    let (tree, planes) = (Tree::read(map)?, planes(map)?);
    let node = |(plane, children)| SpaceNode { plane: plane_of(&planes, plane), children };
    let leafs = map.records(Role::Leafs)?;
    let [mins, maxs] = leafs.columns(["mins", "maxs"])?;
    let cluster = leafs.column("cluster").ok();
    let by_leaf = matches!(map.dialect().visibility, VisModel::Leafs(_));
    let (faces, ranges) = faces(map, &leafs);
    let leaf = |at: usize| SpaceLeaf {
        bounds: [corner(mins, at), corner(maxs, at)],
        place: match cluster {
            // The solid leaf is the first one.
            _ if by_leaf => (at > 0).then_some(at),
            Some(cluster) => cluster.index(at),
            None => None,
        },
        faces: ranges.get(at).copied().unwrap_or_default(),
    };
    Ok(Spaces {
        head: tree.head(0).unwrap_or(0),
        nodes: (0..).map_while(|at| tree.node(at)).map(node).collect(),
        leafs: (0..leafs.len()).map(leaf).collect(),
        faces,
        ..Spaces::default()
    })
}

/// A corner of a box. Its numbers are whole or not; of the other kind they are 0.
fn corner(column: Column<'_>, at: usize) -> [f32; 3] {
    let floats: [f32; 3] = column.floats(at, 0);
    let whole = |axis: usize| rounded(i32::try_from(column.item(at, axis)).map_or(0.0, f64::from));
    std::array::from_fn(|axis| floats[axis] + whole(axis))
}

/// A plane as four numbers; one that does not exist has no direction.
fn plane_of(planes: &[([f32; 3], f32)], index: usize) -> [f32; 4] {
    planes.get(index).map_or([0.0; 4], |([x, y, z], distance)| [*x, *y, *z, *distance])
}

/// The list of faces in leafs, and the range of each leaf.
fn faces(map: &Bsp<'_>, leafs: &Records<'_>) -> (Vec<u32>, Vec<[usize; 2]>) {
    const NAMES: [[&str; 2]; 3] = [
        ["first_mark_surface", "mark_surface_count"],
        ["first_leaf_face", "leaf_face_count"],
        ["first_leaf_surface", "leaf_surface_count"],
    ];
    let columns = NAMES.into_iter().find_map(|names| leafs.columns(names).ok());
    let (Some([first, count]), Ok(list)) = (columns, map.records(Role::LeafFaces)) else {
        return Default::default();
    };
    let Some(face) = ["face", "surface"].into_iter().find_map(|name| list.column(name).ok()) else {
        return Default::default();
    };
    let faces = (0..list.len()).map(|at| u32::try_from(face.get(at)).unwrap_or(u32::MAX)).collect();
    let range =
        |at: usize| range(first.get(at), count.get(at), list.len()).map_or([0, 0], |range| [range.start, range.len()]);
    (faces, (0..leafs.len()).map(range).collect())
}

/// The rows of all places; equal ones once, where the map has them once.
fn read_rows(visibility: &Visibility<'_>, spaces: &mut Spaces, findings: &mut Findings) {
    if visibility.is_empty() {
        return;
    }
    let mut known: HashMap<usize, usize> = HashMap::new();
    let size = visibility.len().div_ceil(8);
    for place in 0..visibility.len() {
        let extent = match visibility.extent(VisSet::Pvs, place) {
            Ok(Some(extent)) => extent,
            Ok(None) => {
                spaces.places.push(None);
                continue;
            }
            Err(error) => {
                findings.fail(&SPACE, &error);
                spaces.places.push(None);
                continue;
            }
        };
        if let Some(row) = known.get(&extent.start) {
            spaces.places.push(Some(*row));
            continue;
        }
        if (spaces.rows.len() + 1).saturating_mul(size) > MOST_OF_ROWS {
            let message = format!("visibility of {} places is too large for a page", visibility.len());
            findings.add(&LIMIT, Place::default(), message);
            spaces.rows.clear();
            spaces.places.clear();
            return;
        }
        let Ok(Some(row)) = visibility.row(VisSet::Pvs, place) else {
            spaces.places.push(None);
            continue;
        };
        let mut bits = vec![0_u8; size];
        row.iter().for_each(|seen| {
            if let Some(byte) = bits.get_mut(seen / 8) {
                *byte |= 1 << (seen % 8);
            }
        });
        known.insert(extent.start, spaces.rows.len());
        spaces.places.push(Some(spaces.rows.len()));
        spaces.rows.push(compress(&bits));
    }
}

/// Brushes that only stop somebody, of maps that keep their brushes.
fn clips(map: &Bsp<'_>, placed: &[Placed]) -> Result<Vec<Clip>> {
    let (brushes, sides) = (map.records(Role::Brushes)?, map.records(Role::BrushSides)?);
    let planes = planes(map)?;
    let [first, count] = brushes.columns(["first_side", "side_count"])?;
    let [plane] = sides.columns(["plane"])?;
    let (contents, shader) = (brushes.column("contents").ok(), brushes.column("shader").ok());
    let looks = map.looks();
    let names = map.dialect().game(map.version()).flags.iter().filter(|(kind, _)| *kind == FlagKind::Contents);
    let stops = |(_, name): &&(u32, &str)| name.ends_with("CLIP") && !name.starts_with("NO");
    let stopping: Vec<(u32, &str)> = names.flat_map(|(_, names)| names.iter()).filter(stops).copied().collect();
    let owners = owners(map, brushes.len())?;
    // A model is where its first entity has it; the world does not move.
    let mut places: HashMap<usize, [f32; 3]> = HashMap::from([(0, [0.0; 3])]);
    for (model, origin) in placed.iter().filter_map(|own| Some((own.model?, own.origin))) {
        places.entry(model).or_insert(origin);
    }
    // Brushes of a damaged map may all name the same sides.
    let mut left = sides.len();
    let mut found = Vec::new();
    for (brush, owner) in owners.into_iter().enumerate() {
        let flags = match (contents, shader) {
            (Some(contents), _) => bits(contents.get(brush)),
            (None, Some(shader)) => shader.below(brush, looks.len()).map_or(0, |look| looks[look].content_flags),
            (None, None) => 0,
        };
        let own: Vec<&str> = stopping.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
        // What is solid is seen.
        if own.is_empty() || flags & 1 != 0 {
            continue;
        }
        let Some(range) = range(first.get(brush), count.get(brush), sides.len()) else { continue };
        let Some(rest) = left.checked_sub(range.len()) else { break };
        left = rest;
        let by = owner.and_then(|model| places.get(&model)).copied().unwrap_or_default();
        let moved = |[x, y, z, distance]: [f32; 4]| [x, y, z, distance + x * by[0] + y * by[1] + z * by[2]];
        let planes = range.map(|side| moved(plane_of(&planes, plane.index(side).unwrap_or(usize::MAX)))).collect();
        found.push(Clip { contents: own.join(" "), planes });
    }
    Ok(found)
}
