//! The contents of points by the map's own tree.

use std::cell::Cell;
use std::collections::HashMap;

use bspkit::bytes::bits;
use bspkit::dialect::Role;
use bspkit::{Bsp, Result};

use crate::geometry::Plane;
use crate::looks::Look;
use crate::models::{LeafBrushes, Tree, planes, range};
use crate::source::Point;
use crate::tools::Family;

/// The tree of a map with its planes.
pub(super) struct ByMap {
    tree: Tree,
    planes: Vec<Plane>,
    /// The flags of the contents of each leaf; none in Quake III.
    flags: Vec<u32>,
    /// The brushes in each leaf, in families that have them.
    lists: Option<LeafBrushes>,
    /// The bit of solid.
    solid: u32,
    /// The planes and contents of the map's own brushes.
    brushes: Vec<(Vec<usize>, u32)>,
    /// The brushes of models without a tree (Quake III).
    of_models: Vec<std::ops::Range<usize>>,
    /// How many brushes may still be looked at: every leaf of a damaged map may have all of them.
    left: Cell<usize>,
}

/// How many brushes are looked at. For a large map these are some ten million.
const MOST_LOOKED_AT: usize = 1 << 27;

impl ByMap {
    pub(super) fn read(map: &Bsp<'_>, looks: &[Look], solid: u32) -> Result<Self> {
        let planes = planes(map)?;
        let plane = |(normal, distance): ([f32; 3], f32)| Plane {
            normal: normal.map(f64::from),
            distance: f64::from(distance),
        };
        let records = map.records(Role::Leafs)?;
        let contents = records.column("contents").ok();
        let is_number = crate::assemble::family(map) == Family::Quake;
        let flag = |number: i64| if is_number { crate::contents::flag(number) } else { bits(number) };
        let flags = contents.map(|contents| (0..records.len()).map(|at| flag(contents.get(at))).collect());
        let of_models = map.records(Role::Models).ok().and_then(|models| {
            let brushes = map.records(Role::Brushes).ok()?.len();
            crate::models::ranges(&models, "first_brush", "brush_count", brushes)
        });
        Ok(ByMap {
            tree: Tree::read(map)?,
            planes: planes.into_iter().map(plane).collect(),
            flags: flags.unwrap_or_default(),
            lists: LeafBrushes::read(map),
            solid,
            brushes: brushes(map, looks).unwrap_or_default(),
            of_models: of_models.unwrap_or_default(),
            left: Cell::new(MOST_LOOKED_AT),
        })
    }

    /// The contents at a point of a model; `None` if it is too near to a plane, or if the map is damaged there.
    pub(super) fn contents(&self, model: usize, point: Point, epsilon: f64) -> Option<u32> {
        let Some(mut child) = self.tree.head(model) else {
            let own = self.of_models.get(model).cloned().unwrap_or(0..0);
            return self.in_brushes(own, point, epsilon);
        };
        // A damaged tree may have a circle.
        for _ in 0..4096 {
            if let Some(leaf) = self.tree.leaf(child) {
                // Flags of a leaf are those of all brushes that reach into it, but solid ones fill it.
                let flags = self.flags.get(leaf).copied().unwrap_or(0);
                return match &self.lists {
                    Some(lists) if flags & self.solid == 0 => {
                        self.in_brushes(lists.of(leaf).iter().copied(), point, epsilon)
                    }
                    _ => Some(flags),
                };
            }
            let (plane, [front, back]) = self.tree.node(child)?;
            let height = self.planes.get(plane)?.height(point);
            if height.abs() <= epsilon {
                return None;
            }
            child = if height > 0.0 { front } else { back };
        }
        None
    }

    fn in_brushes(&self, all: impl IntoIterator<Item = usize>, point: Point, epsilon: f64) -> Option<u32> {
        let (mut found, mut left) = (0, self.left.get());
        for (planes, contents) in all.into_iter().filter_map(|brush| self.brushes.get(brush)) {
            left = left.checked_sub(1)?;
            self.left.set(left);
            let heights =
                planes.iter().map(|plane| self.planes.get(*plane).map_or(f64::NAN, |plane| plane.height(point)));
            let highest = heights.fold(f64::NEG_INFINITY, f64::max);
            if planes.is_empty() || highest > epsilon {
                continue;
            }
            if highest >= -epsilon {
                return None;
            }
            found |= contents;
        }
        Some(found)
    }
}

/// The planes and contents of the brushes of a map.
fn brushes(map: &Bsp<'_>, looks: &[Look]) -> Option<Vec<(Vec<usize>, u32)>> {
    let (brushes, sides) = (map.records(Role::Brushes).ok()?, map.records(Role::BrushSides).ok()?);
    let [first, count] = brushes.columns(["first_side", "side_count"]).ok()?;
    let [plane] = sides.columns(["plane"]).ok()?;
    let (contents, shader) = (brushes.column("contents").ok(), brushes.column("shader").ok());
    let mut left = sides.len().saturating_mul(2);
    let brush = |at: usize| {
        let range = range(first.get(at), count.get(at), sides.len()).unwrap_or(0..0);
        let range = if range.len() <= left { range } else { 0..0 };
        left -= range.len();
        let own = match (contents, shader) {
            (Some(contents), _) => bits(contents.get(at)),
            (None, Some(shader)) => shader.index(at).and_then(|look| looks.get(look)).map_or(0, |look| look.contents),
            (None, None) => 0,
        };
        (range.map(|side| plane.index(side).unwrap_or(usize::MAX)).collect(), own)
    };
    Some((0..brushes.len()).map(brush).collect())
}

/// What compilers take for the contents of brushes whose text does not say them: by the textures on all sides together,
/// as the brushes of the map have them.
#[derive(Debug, Default)]
pub(super) struct ByTextures {
    /// By the model and the textures: the class of an entity decides too.
    all: HashMap<(usize, Vec<Vec<u8>>), u32>,
    one: HashMap<Vec<u8>, u32>,
}

impl ByTextures {
    /// Adds a brush of the map.
    pub(super) fn add(&mut self, model: usize, textures: Vec<Vec<u8>>, contents: u32) {
        for texture in &textures {
            self.one.entry(texture.clone()).and_modify(|own| *own &= contents).or_insert(contents);
        }
        // Brushes of the same textures may be detail or not.
        self.all.entry((model, sorted(textures))).and_modify(|own| *own &= contents).or_insert(contents);
    }

    pub(super) fn of(&self, model: usize, textures: Vec<Vec<u8>>) -> u32 {
        let by_one = textures.iter().filter_map(|texture| self.one.get(texture)).fold(0, |all, own| all | own);
        self.all.get(&(model, sorted(textures))).copied().unwrap_or(by_one)
    }
}

fn sorted(mut textures: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    textures.sort();
    textures.dedup();
    textures
}
