//! `LIGHTGRID_OCTREE` and `LIGHTGRIDS`: light at the points of a grid, in an octree whose leafs are boxes of points.

use std::ops::Range;

use super::{GRIDS, LightPoint, OCTREE, cut, malformed, read};
use crate::bytes::{Data, index, short};
use crate::dialect::bspx::{LightOctreeHead, LightOctreeLeaf, LightOctreeNode};
use crate::error::Result;
use crate::record::{Field, Record};

const IS_LEAF: u32 = 1 << 31;
const IS_NOTHING: u32 = 1 << 30;

/// Light at points of a grid.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// let octree = &map.light_octrees()?[0];
/// assert_eq!((octree.head().size, octree.points()), ([24, 8, 6], 1152));
/// let point = octree.at([3, 2, 1])?.expect("it is in the room");
/// assert!(point.samples().next().is_some_and(|sample| sample.style == 0));
/// assert_eq!(octree.to_bytes(), *map.bytes(map.slot("bspx:LIGHTGRID_OCTREE")?.id)?);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LightOctree<'a> {
    bytes: Data<'a>,
    lump: &'static str,
    head: LightOctreeHead,
    nodes: Range<usize>,
    /// Where each leaf begins, and where the last one ends.
    leafs: Vec<usize>,
    points: usize,
}

/// A fault of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OctreeFault {
    /// A node has a child that does not exist; without a node it is the head.
    NoChild(Option<usize>, u32),
    /// A node is reached twice, so that a walk may not end.
    Twice(usize),
}

impl<'a> LightOctree<'a> {
    /// Reads the entry `LIGHTGRID_OCTREE` to the end of its leafs.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Malformed`] if it ends before all that it claims to have.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        LightOctree::read(bytes.into(), OCTREE)
    }

    /// Reads the entry `LIGHTGRIDS`: several octrees whose light has sides, each with its size before it.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_all(bytes: impl Into<Data<'a>>) -> Result<Vec<Self>> {
        let (bytes, mut at, mut found) = (bytes.into(), 0, Vec::new());
        while at < bytes.len() {
            let size = number(&bytes, &mut at, GRIDS, "the size of a grid")?;
            let end = at.checked_add(size).filter(|end| *end <= bytes.len());
            let end =
                end.ok_or_else(|| malformed(GRIDS, at, format!("there is no room for a grid of {size} bytes")))?;
            found.push(LightOctree::read(bytes.slice(at..end), GRIDS)?);
            at = end;
        }
        Ok(found)
    }

    fn read(bytes: Data<'a>, lump: &'static str) -> Result<Self> {
        let mut at = 0;
        let head: LightOctreeHead = read(&bytes, &mut at, lump, "the number of nodes")?;
        let size = index(head.node_count).checked_mul(LightOctreeNode::SIZE).filter(|size| *size <= bytes.len() - at);
        let size =
            size.ok_or_else(|| malformed(lump, at, format!("there is no room for {} nodes", head.node_count)))?;
        let nodes = at..at + size;
        at = nodes.end;
        let count = number(&bytes, &mut at, lump, "the number of leafs")?;
        let mut octree = LightOctree { bytes, lump, head, nodes, leafs: vec![at], points: 0 };
        for _ in 0..count {
            let leaf: LightOctreeLeaf = read(&octree.bytes, &mut at, lump, "the end of a leaf")?;
            if octree.has_sides() {
                at += 1;
            }
            let points = octree.volume(&leaf).filter(|points| *points <= octree.bytes.len().saturating_sub(at));
            let points = points
                .ok_or_else(|| malformed(lump, at, format!("there is no room for a leaf of {:?} points", leaf.size)))?;
            for _ in 0..points {
                at += octree.point(at)?.size();
            }
            octree.points += points;
            octree.leafs.push(at);
        }
        Ok(octree)
    }

    /// The place of the points, their maximum number of styles, and the start of the tree.
    pub fn head(&self) -> &LightOctreeHead {
        &self.head
    }

    /// The nodes.
    pub fn nodes(&self) -> impl Iterator<Item = LightOctreeNode> {
        (0..self.node_count()).filter_map(|node| self.node(node))
    }

    /// How many leafs there are.
    pub fn len(&self) -> usize {
        self.leafs.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many points all leafs have.
    pub fn points(&self) -> usize {
        self.points
    }

    /// A leaf's box.
    pub fn leaf(&self, leaf: usize) -> Option<LightOctreeLeaf> {
        LightOctreeLeaf::decode(self.bytes.get(*self.leafs.get(leaf)?..*self.leafs.get(leaf + 1)?)?)
    }

    /// The points of a leaf, x fastest and z slowest; empty if there is no such leaf.
    pub fn leaf_points(&self, leaf: usize) -> impl Iterator<Item = LightPoint<'_>> {
        let start = self.leafs.get(leaf).map_or(0, |start| start + self.leaf_head());
        let end = self.leafs.get(leaf + 1).copied().unwrap_or(0);
        let mut at = start;
        std::iter::from_fn(move || {
            let point = self.point(at).ok().filter(|_| at < end)?;
            at += point.size();
            Some(point)
        })
    }

    /// The point with this index in each direction; `None` if the grid has no point there.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Malformed`] if the tree names a missing node or has a cycle.
    pub fn at(&self, cell: [u32; 3]) -> Result<Option<LightPoint<'_>>> {
        let mut child = self.head.root;
        // A walk with more steps than nodes has reached one of them twice.
        for _ in 0..=self.node_count() {
            if child & IS_LEAF != 0 {
                return Ok(self.in_leaf(index(child & !IS_LEAF), cell));
            }
            if child & IS_NOTHING != 0 {
                return Ok(None);
            }
            let missing = || malformed(self.lump, 0, format!("its tree has no node {child}"));
            let node = self.node(index(child)).ok_or_else(missing)?;
            let [x, y, z] = [0, 1, 2].map(|axis| usize::from(cell[axis] >= node.middle[axis]));
            child = node.children[4 * x + 2 * y + z];
        }
        Err(malformed(self.lump, 0, "its tree has a cycle".to_owned()))
    }

    /// The first fault of the tree; `None` if it has none.
    pub fn fault(&self) -> Option<OctreeFault> {
        let (count, leafs) = (self.node_count(), self.len());
        let mut seen = vec![false; count];
        let mut waiting = Vec::new();
        let mut visit = |from: Option<usize>, child: u32, waiting: &mut Vec<usize>| {
            let node = index(child);
            match child {
                _ if child & IS_LEAF != 0 && index(child & !IS_LEAF) >= leafs => {
                    Some(OctreeFault::NoChild(from, child))
                }
                _ if child & (IS_LEAF | IS_NOTHING) != 0 => None,
                _ if node >= count => Some(OctreeFault::NoChild(from, child)),
                _ if seen[node] => Some(OctreeFault::Twice(node)),
                _ => {
                    seen[node] = true;
                    waiting.push(node);
                    None
                }
            }
        };
        let mut fault = visit(None, self.head.root, &mut waiting);
        while let Some((place, node)) =
            waiting.pop().filter(|_| fault.is_none()).and_then(|at| Some((at, self.node(at)?)))
        {
            fault = node.children.into_iter().find_map(|child| visit(Some(place), child, &mut waiting));
        }
        fault
    }

    /// The bytes after the last leaf.
    pub fn rest(&self) -> &[u8] {
        self.leafs.last().and_then(|end| self.bytes.get(*end..)).unwrap_or_default()
    }

    /// The bytes of the octree, encoded from the decoded structs; in `LIGHTGRIDS` without the size before it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        bytes.extend(self.head.encode());
        self.nodes().for_each(|node| bytes.extend(node.encode()));
        bytes.extend(short(self.len()).to_le_bytes());
        for leaf in 0..self.len() {
            bytes.extend(self.leaf(leaf).iter().flat_map(Record::encode));
            if self.has_sides() {
                bytes.extend(self.leafs.get(leaf).and_then(|start| self.bytes.get(start + LightOctreeLeaf::SIZE)));
            }
            self.leaf_points(leaf).for_each(|point| point.encode(&mut bytes));
        }
        bytes.extend(self.rest());
        bytes
    }

    fn has_sides(&self) -> bool {
        self.lump == GRIDS
    }

    /// The bytes of a leaf before its points. `LIGHTGRIDS` has one byte more, for the largest number of styles of a
    /// point.
    fn leaf_head(&self) -> usize {
        LightOctreeLeaf::SIZE + usize::from(self.has_sides())
    }

    fn node_count(&self) -> usize {
        self.nodes.len() / LightOctreeNode::SIZE
    }

    fn volume(&self, leaf: &LightOctreeLeaf) -> Option<usize> {
        let sizes = leaf.size.map(|size| usize::try_from(size).ok());
        sizes.into_iter().try_fold(1_usize, |volume, size| volume.checked_mul(size?))
    }

    fn node(&self, node: usize) -> Option<LightOctreeNode> {
        let at = node.checked_mul(LightOctreeNode::SIZE)?;
        LightOctreeNode::decode(self.bytes.get(self.nodes.clone())?.get(at..)?)
    }

    /// The point whose bytes begin here.
    fn point(&self, at: usize) -> Result<LightPoint<'_>> {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        LightPoint::read(bytes, self.has_sides()).map_err(|why| malformed(self.lump, at, why.to_owned()))
    }

    fn in_leaf(&self, leaf: usize, cell: [u32; 3]) -> Option<LightPoint<'_>> {
        let LightOctreeLeaf { mins, size } = self.leaf(leaf)?;
        let mut place = [0; 3];
        for axis in 0..3 {
            let step = i64::from(cell[axis]) - i64::from(mins[axis]);
            place[axis] = usize::try_from(step).ok().filter(|_| step < i64::from(size[axis]))?;
        }
        let [wide, high] = [usize::try_from(size[0]).ok()?, usize::try_from(size[1]).ok()?];
        self.leaf_points(leaf).nth((place[2] * high + place[1]) * wide + place[0])
    }
}

fn number(bytes: &[u8], at: &mut usize, lump: &str, what: &str) -> Result<usize> {
    let number = bytes.get(*at..).and_then(|rest| rest.first_chunk().copied());
    let number = number.ok_or_else(|| cut(lump, *at, what))?;
    *at += 4;
    Ok(index(u32::from_le_bytes(number)))
}
