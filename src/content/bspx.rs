//! Entries of BSPX that are not arrays: brushes of the models, and light for moving objects. Both are read-only; to
//! change one, set its bytes.

use std::ops::{Deref, Range};

use super::lens::{Content, Reader};
use crate::bytes::{Data, Rope, index, short, wide};
use crate::dialect::bspx::{
    BrushListBrush, BrushListModel, BrushListPlane, LightOctreeHead, LightOctreeLeaf, LightOctreeNode,
};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Field, Record};

const BRUSHES: &str = "bspx:BRUSHLIST";
const OCTREE: &str = "bspx:LIGHTGRID_OCTREE";
const GRIDS: &str = "bspx:LIGHTGRIDS";

impl<'a> Content<'a> for BrushList<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        BrushList::parse(from.bytes(from.slot(BRUSHES)?)?)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(Vec::new())
    }
}

/// The octrees of light of a map: that of `LIGHTGRID_OCTREE`, or those of `LIGHTGRIDS`.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// assert_eq!(map.light_octrees()?.len(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LightOctrees<'a>(Vec<LightOctree<'a>>);

impl<'a> Deref for LightOctrees<'a> {
    type Target = [LightOctree<'a>];

    fn deref(&self) -> &[LightOctree<'a>] {
        &self.0
    }
}

impl<'a> Content<'a> for LightOctrees<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        match from.slot(OCTREE) {
            Ok(slot) => Ok(LightOctrees(vec![LightOctree::parse(from.bytes(slot)?)?])),
            Err(none) => match from.slot(GRIDS) {
                Ok(slot) => LightOctree::parse_all(from.bytes(slot)?).map(LightOctrees),
                Err(_) => Err(none),
            },
        }
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(Vec::new())
    }
}

/// The record at an offset; the offset is moved past it.
fn read<R: Record>(bytes: &[u8], at: &mut usize, lump: &str, what: &str) -> Result<R> {
    let record = bytes.get(*at..).and_then(R::decode).ok_or_else(|| cut(lump, *at, what))?;
    *at += R::SIZE;
    Ok(record)
}

#[cold]
fn cut(lump: &str, at: usize, what: &str) -> Error {
    malformed(lump, at, format!("it ends before {what}"))
}

#[cold]
fn malformed(lump: &str, at: usize, message: String) -> Error {
    Error::new(ErrorKind::Malformed, message).at(Place::default().lump(lump).offset(wide(at)))
}

// `BRUSHLIST`: the brushes from which the map's models were compiled.

/// The only known version.
const VERSION: u32 = 1;

/// The brushes of all models.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
/// let list = map.brush_list()?;
/// assert_eq!((list.len(), list.model(0).unwrap().brush_count), (5, 16));
/// let first = list.brushes(0).next().unwrap();
/// assert_eq!((first.head.contents, first.planes.len()), (-2, 0)); // solid, and nothing but its box
/// assert_eq!(list.to_bytes(), *map.bytes(map.slot("bspx:BRUSHLIST")?.id)?);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BrushList<'a> {
    bytes: Data<'a>,
    models: Vec<Model>,
    /// Where the brushes of all models begin.
    brushes: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Model {
    head: BrushListModel,
    /// The first of its brushes.
    first: usize,
}

/// A brush: its box, and the planes that are not sides of the box.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
/// let list = map.brush_list()?;
/// assert!((0..list.len()).flat_map(|model| list.brushes(model)).all(|brush| brush.head.mins[0] < brush.head.maxs[0]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Brush {
    /// Its box, contents and number of planes.
    pub head: BrushListBrush,
    /// Its planes.
    pub planes: Vec<BrushListPlane>,
}

impl<'a> BrushList<'a> {
    /// Reads an entry to its last byte.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it ends before all that it claims to have, [`ErrorKind::Unsupported`] for another
    /// version.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        let bytes = bytes.into();
        let (mut models, mut brushes, mut at) = (Vec::new(), Vec::new(), 0);
        while at < bytes.len() {
            let head: BrushListModel = read(&bytes, &mut at, BRUSHES, "the end of a model")?;
            if head.version != VERSION {
                let message = format!("brushes of version {} are not known; only version {VERSION} is", head.version);
                let place = Place::default().lump(BRUSHES).record(models.len());
                return Err(Error::new(ErrorKind::Unsupported, message).at(place));
            }
            models.push(Model { head, first: brushes.len() });
            for _ in 0..head.brush_count {
                brushes.push(at);
                let brush: BrushListBrush = read(&bytes, &mut at, BRUSHES, "the end of a brush")?;
                let planes = usize::from(brush.plane_count) * BrushListPlane::SIZE;
                if bytes.len() - at < planes {
                    let message = format!("there is no room for the {} planes of a brush", brush.plane_count);
                    return Err(malformed(BRUSHES, at, message));
                }
                at += planes;
            }
        }
        Ok(BrushList { bytes, models, brushes })
    }

    /// How many models have brushes here.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// The head of a model. `place` is its position in the list, not the model's number.
    pub fn model(&self, place: usize) -> Option<&BrushListModel> {
        self.models.get(place).map(|model| &model.head)
    }

    /// The brushes of a model; `place` is its position in the list. Empty if there is no such model.
    pub fn brushes(&self, place: usize) -> impl Iterator<Item = Brush> {
        let model = self.models.get(place);
        let range = model.map_or(0..0, |model| model.first..model.first + index(model.head.brush_count));
        self.brushes.get(range).unwrap_or_default().iter().filter_map(|at| self.brush(*at))
    }

    fn brush(&self, at: usize) -> Option<Brush> {
        let bytes = self.bytes.get(at..)?;
        let head = BrushListBrush::decode(bytes)?;
        let planes = bytes.get(BrushListBrush::SIZE..)?.chunks_exact(BrushListPlane::SIZE);
        let planes = planes.take(usize::from(head.plane_count)).filter_map(BrushListPlane::decode);
        Some(Brush { head, planes: planes.collect() })
    }

    /// The bytes of the entry, encoded from the decoded structs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for (place, model) in self.models.iter().enumerate() {
            bytes.extend(model.head.encode());
            for brush in self.brushes(place) {
                bytes.extend(brush.head.encode());
                brush.planes.iter().for_each(|plane| bytes.extend(plane.encode()));
            }
        }
        bytes
    }
}

// The light at a point of a grid.

/// The number of styles of a point within something solid, which has no light.
const OCCLUDED: u8 = 255;

/// The light at a point of a grid.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// let octree = &map.light_octrees()?[0];
/// let points = (0..octree.len()).flat_map(|leaf| octree.leaf_points(leaf));
/// assert!(points.filter(|point| point.is_occluded()).count() > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LightPoint<'p> {
    bytes: &'p [u8],
    has_sides: bool,
}

/// The light of a style at a point.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms_bspx.bsp")?;
/// let octree = &map.light_octrees()?[0];
/// let point = octree.at([3, 2, 1])?.expect("it is in the room");
/// assert!(point.samples().all(|sample| sample.colors[0] == sample.colors[5]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightSample {
    /// The style.
    pub style: u8,
    /// Red, green and blue of the light from +x, -x, +y, -y, +z and -z. All six are equal if the grid has one light for
    /// all sides.
    pub colors: [Option<[u8; 3]>; 6],
}

impl<'p> LightPoint<'p> {
    /// Reads the point at the start of the bytes: a number of styles, then each style and its light. The error is the
    /// reason.
    fn read(bytes: &'p [u8], has_sides: bool) -> Result<Self, &'static str> {
        const CUT: &str = "it ends before the end of a point";
        let styles = match *bytes.first().ok_or(CUT)? {
            OCCLUDED => 0,
            styles => styles,
        };
        let mut len = 1;
        for _ in 0..styles {
            len += match has_sides {
                false => 4,
                true => {
                    let count = sides(*bytes.get(len + 1).ok_or(CUT)?);
                    2 + 3 * count.ok_or("a point has light for a side other than the six")?
                }
            };
        }
        Ok(LightPoint { bytes: bytes.get(..len).ok_or(CUT)?, has_sides })
    }

    /// How many bytes it has.
    fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it lies within something solid, where there is no light.
    pub fn is_occluded(&self) -> bool {
        self.bytes.first() == Some(&OCCLUDED)
    }

    /// Its light, style by style.
    pub fn samples(&self) -> impl Iterator<Item = LightSample> {
        let (mut rest, has_sides) = (self.bytes.get(1..).unwrap_or_default(), self.has_sides);
        std::iter::from_fn(move || {
            let color = |at: usize| rest.get(at..).and_then(|rest| rest.first_chunk::<3>().copied());
            let style = *rest.first()?;
            let (colors, len) = match has_sides {
                false => ([color(1); 6], 4),
                true => {
                    let (flags, mut at) = (*rest.get(1)?, 2);
                    let colors = [0, 1, 2, 3, 4, 5].map(|side| {
                        let color = color(at).filter(|_| flags >> side & 1 != 0);
                        at += if color.is_some() { 3 } else { 0 };
                        color
                    });
                    (colors, at)
                }
            };
            rest = rest.get(len..)?;
            Some(LightSample { style, colors })
        })
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        let count = bytes.len();
        bytes.push(if self.is_occluded() { OCCLUDED } else { 0 });
        for LightSample { style, colors } in self.samples() {
            bytes[count] += 1;
            bytes.push(style);
            match self.has_sides {
                false => bytes.extend(colors[0].unwrap_or_default()),
                true => {
                    bytes.push((0..6).filter(|side| colors[*side].is_some()).fold(0, |flags, side| flags | 1 << side));
                    bytes.extend(colors.into_iter().flatten().flatten());
                }
            }
        }
    }
}

/// How many sides the bits select.
fn sides(flags: u8) -> Option<usize> {
    (flags < 1 << 6).then(|| (0..6).filter(|side| flags >> side & 1 != 0).count())
}

// `LIGHTGRID_OCTREE` and `LIGHTGRIDS`: light at the points of a grid, in an octree whose leafs are boxes of points.

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
        LightOctreeLeaf::decode(self.bytes.get(*self.leafs.get(leaf)?..*self.leafs.get(leaf.checked_add(1)?)?)?)
    }

    /// The points of a leaf, x fastest and z slowest; empty if there is no such leaf.
    pub fn leaf_points(&self, leaf: usize) -> impl Iterator<Item = LightPoint<'_>> {
        let bounds = leaf.checked_add(1).and_then(|next| Some((*self.leafs.get(leaf)?, *self.leafs.get(next)?)));
        let (start, end) = bounds.map_or((0, 0), |(start, end)| (start + self.leaf_head(), end));
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
