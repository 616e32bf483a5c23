//! The tree of a map with its planes, and which leafs and brushes belong to which model, in every family.
//!
//! Quake III says it in the records of models; in the other families a model has a tree of its own, and the leafs of it
//! name the brushes.

use std::ops::Range;

use crate::bsp::{Bsp, Records};
use crate::dialect::Role;
use crate::error::Result;

/// The tree of a map as numbers.
///
/// ```
/// use bspkit::{Bsp, content::tree::Tree};
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let tree = Tree::read(&map)?;
/// let leafs = tree.leafs_of(0, &mut tree.unseen());
/// assert_eq!(tree.models(), map.records("models")?.len());
/// assert!(leafs.len() > 10 && leafs.iter().all(|leaf| *leaf < map.records("leafs").unwrap().len()));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct Tree {
    /// The plane and the children of each node.
    nodes: Vec<(usize, [i64; 2])>,
    leafs: usize,
    /// Where the tree of each model begins; for Quake III, whose models but the world have none, `None`.
    heads: Vec<Option<i64>>,
}

impl Tree {
    /// Reads it.
    ///
    /// # Errors
    /// As [`Bsp::records`], for nodes, leafs and models.
    pub fn read(map: &Bsp<'_>) -> Result<Self> {
        let nodes = map.records(Role::Nodes)?;
        let [plane, children] = nodes.columns(["plane", "children"])?;
        let nodes = (0..nodes.len()).map(|at| {
            // A plane that does not exist is found by who looks it up.
            let plane = plane.index(at).unwrap_or(usize::MAX);
            (plane, [children.item(at, 0), children.item(at, 1)])
        });
        let models = map.records(Role::Models)?;
        let head = ["head_node", "head_nodes"].into_iter().find_map(|name| models.column(name).ok());
        let heads = (0..models.len()).map(|at| match head {
            Some(head) => Some(head.get(at)),
            None => (at == 0).then_some(0),
        });
        Ok(Tree { nodes: nodes.collect(), leafs: map.records(Role::Leafs)?.len(), heads: heads.collect() })
    }

    /// How many models there are.
    pub fn models(&self) -> usize {
        self.heads.len()
    }

    /// Where the tree of a model begins: a node, or the leaf `-1 - head`; `None` for a model without a tree.
    pub fn head(&self, model: usize) -> Option<i64> {
        self.heads.get(model).copied().flatten()
    }

    /// A node: its plane and children; `None` if the tree has no such node.
    pub fn node(&self, child: i64) -> Option<(usize, [i64; 2])> {
        self.nodes.get(usize::try_from(child).ok()?).copied()
    }

    /// The leaf that a child is; `None` for nodes and leafs that do not exist.
    pub fn leaf(&self, child: i64) -> Option<usize> {
        usize::try_from(-1 - child).ok().filter(|leaf| *leaf < self.leafs)
    }

    /// The leafs of a model, from the front to the back. `seen` holds nodes that were walked before: a damaged tree may
    /// lead to a node twice.
    pub fn leafs_of(&self, model: usize, seen: &mut [bool]) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), Vec::from_iter(self.head(model)));
        while let Some(child) = open.pop() {
            if let Some(leaf) = self.leaf(child) {
                found.push(leaf);
            } else if let Some((_, children)) = self.node(child) {
                let number = usize::try_from(child).unwrap_or(0);
                if let Some(seen) = seen.get_mut(number)
                    && !std::mem::replace(seen, true)
                {
                    open.extend([children[1], children[0]]);
                }
            }
        }
        found
    }

    /// Marks for [`Tree::leafs_of`].
    pub fn unseen(&self) -> Vec<bool> {
        vec![false; self.nodes.len()]
    }
}

/// The ranges of a field and its count in the records of models, within a list of this length; `None` if models have no
/// such fields.
pub fn ranges(models: &Records<'_>, first: &str, count: &str, len: usize) -> Option<Vec<Range<usize>>> {
    let [first, count] = models.columns([first, count]).ok()?;
    Some((0..models.len()).map(|at| range(first.get(at), count.get(at), len).unwrap_or(0..0)).collect())
}

/// The brushes in each leaf.
///
/// ```
/// use bspkit::{Bsp, content::tree::LeafBrushes};
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let lists = LeafBrushes::read(&map).unwrap();
/// assert!((0..map.records("leafs")?.len()).any(|leaf| !lists.of(leaf).is_empty()));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct LeafBrushes {
    firsts: Vec<Range<usize>>,
    brushes: Vec<usize>,
}

impl LeafBrushes {
    /// Reads them; `None` if the map has no such list.
    pub fn read(map: &Bsp<'_>) -> Option<Self> {
        let (leafs, list) = (map.records(Role::Leafs).ok()?, map.records(Role::LeafBrushes).ok()?);
        let [brush] = list.columns(["brush"]).ok()?;
        let [first, count] = leafs.columns(["first_leaf_brush", "leaf_brush_count"]).ok()?;
        let brushes = (0..list.len()).map(|at| brush.index(at).unwrap_or(usize::MAX)).collect();
        let firsts = (0..leafs.len()).map(|at| range(first.get(at), count.get(at), list.len()).unwrap_or(0..0));
        Some(LeafBrushes { firsts: firsts.collect(), brushes })
    }

    /// The brushes of a leaf; none for a leaf that does not exist.
    pub fn of(&self, leaf: usize) -> &[usize] {
        self.firsts.get(leaf).map_or(&[], |range| &self.brushes[range.clone()])
    }
}

/// The model that each brush belongs to: by the ranges of the models, or by the leafs of their trees. Brushes that no
/// model has are `None`.
///
/// # Errors
/// As [`Bsp::records`].
pub fn owners(map: &Bsp<'_>, brushes: usize) -> Result<Vec<Option<usize>>> {
    let mut owners = vec![None; brushes];
    let models = map.records(Role::Models)?;
    if let Some(ranges) = ranges(&models, "first_brush", "brush_count", brushes) {
        for (model, range) in ranges.into_iter().enumerate() {
            owners[range].iter_mut().for_each(|owner| *owner = owner.or(Some(model)));
        }
        return Ok(owners);
    }
    let tree = Tree::read(map)?;
    let Some(lists) = LeafBrushes::read(map) else { return Ok(owners) };
    let mut seen = tree.unseen();
    // Leafs of a damaged map may all name the same brushes.
    let mut left = lists.brushes.len().saturating_add(tree.leafs);
    for model in 0..tree.models() {
        for leaf in tree.leafs_of(model, &mut seen) {
            let list = lists.of(leaf);
            let Some(more) = left.checked_sub(list.len()) else { return Ok(owners) };
            left = more;
            for brush in list {
                if let Some(owner) = owners.get_mut(*brush) {
                    *owner = owner.or(Some(model));
                }
            }
        }
    }
    Ok(owners)
}

/// A range of records, if a list of this length has all of them.
pub fn range(first: i64, count: i64, len: usize) -> Option<Range<usize>> {
    let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
    Some(first..first.checked_add(count).filter(|end| *end <= len)?)
}

/// The planes of a map, by their numbers: directions, and distances from the origin in units.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = bspkit::content::tree::planes(&map)?;
/// assert_eq!(planes.len(), map.records("planes")?.len());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`Bsp::records`].
pub fn planes(map: &Bsp<'_>) -> Result<Vec<([f32; 3], f32)>> {
    let planes = map.records(Role::Planes)?;
    let [normal, distance] = planes.columns(["normal", "distance"])?;
    Ok((0..planes.len()).map(|at| (normal.floats(at, 0), distance.float(at, 0))).collect())
}
