//! Quake III's light grid: light for moving objects, at points of a grid. The worldspawn's `gridsize` and the bounds of
//! the world define the grid (`R_LoadLightGrid` of the Quake III Arena source); the lump does not store its size.

use super::entities::Entities;
use super::lens::{Content, Reader};
use crate::bytes::{Data, Rope, float, whole, wide};
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Held;

const LUMP: &str = "LIGHTGRID";
/// The bytes of a point: ambient and directed light, two bytes for a direction.
const POINT: usize = 8;
/// The offset of the world's bounds in `dmodel_t`.
const BOUNDS: [usize; 2] = [0, 12];

/// The light grid of a map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let grid = draft.light_grid()?;
/// grid.check()?;
/// let [x, y, z] = grid.counts();
/// assert_eq!(grid.index([x - 1, y - 1, z - 1]), Some(grid.len() - 1));
/// let light = [9; 8];
/// grid.set(0, light)?;
/// assert_eq!(grid.get(0)?, light);
/// assert_eq!(draft.changes()?, [map.slot("LIGHTGRID")?.id]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LightGrid<'a> {
    bytes: Held<'a>,
    cell: [f32; 3],
    origin: [f32; 3],
    counts: [usize; 3],
    len: usize,
}

impl<'a> Content<'a> for LightGrid<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let bytes = from.own(from.role(Role::LightGrid)?)?;
        let models = from.bytes(from.role(Role::Models)?)?;
        let bound = |at: usize| Some([float(&models, at)?, float(&models, at + 4)?, float(&models, at + 8)?]);
        let missing = "the map has no model 0 (the world)";
        let no_world = || Error::new(ErrorKind::Malformed, missing).at(Place::default().lump("MODELS"));
        let [mins, maxs] = BOUNDS.map(bound);
        let (mins, maxs) = (mins.ok_or_else(no_world)?, maxs.ok_or_else(no_world)?);
        let mut cell = LightGrid::CELL;
        let entities = Entities::parse_first(from.bytes(from.role(Role::Entities)?)?, from.bsp().entity_rules())?;
        // Engines read every pair of the first entity; the last pair of a key counts.
        for pair in entities.get(0).into_iter().flat_map(|world| world.pairs()) {
            if pair.key.eq_ignore_ascii_case(b"gridsize") {
                read_size(pair.value, &mut cell);
            }
        }
        LightGrid::new(bytes, cell, mins, maxs)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![self.bytes.new_bytes()])
    }
}

impl<'a> LightGrid<'a> {
    /// The distances between points if the worldspawn has no `gridsize`.
    pub const CELL: [f32; 3] = [64.0, 64.0, 128.0];

    /// The grid of a lump, from the distances between points and the bounds of the world.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if these do not define a grid.
    pub fn new(bytes: impl Into<Data<'a>>, cell: [f32; 3], mins: [f32; 3], maxs: [f32; 3]) -> Result<Self> {
        let (mut origin, mut counts, mut len) = ([0.0; 3], [0; 3], 1_usize);
        for axis in 0..3 {
            // In 32-bit floats, operation by operation: other precisions give other counts.
            let size = cell[axis];
            origin[axis] = size * (mins[axis] / size).ceil();
            let last = size * (maxs[axis] / size).floor();
            let count = whole((last - origin[axis]) / size + 1.0);
            let product = count.and_then(|count| len.checked_mul(count));
            (counts[axis], len) = count.zip(product).ok_or_else(|| {
                let (from, to) = (mins[axis], maxs[axis]);
                let message = format!("points that are {size} units apart do not define a grid from {from} to {to}");
                Error::new(ErrorKind::Malformed, message).at(Place::default().lump(LUMP))
            })?;
        }
        Ok(LightGrid { bytes: Held::new(bytes.into()), cell, origin, counts, len })
    }

    /// How many points there are along each axis.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// The distances between points.
    pub fn cell(&self) -> [f32; 3] {
        self.cell
    }

    /// Where the first point is.
    pub fn origin(&self) -> [f32; 3] {
        self.origin
    }

    /// How many points the grid has; the lump may have more or fewer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Checks that the lump has as many points as the grid; engines ignore a lump that has not. An empty lump is
    /// correct: there is no grid.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with both numbers.
    pub fn check(&self) -> Result<()> {
        let length = self.bytes.get().len();
        if length == 0 || self.len.checked_mul(POINT) == Some(length) {
            return Ok(());
        }
        let [x, y, z] = self.counts;
        let message = format!("the grid has {x} by {y} by {z} points, and {length} bytes are not {POINT} for each");
        let hint = "engines ignore the grid: the world's bounds and `gridsize` define its size";
        Err(Error::new(ErrorKind::Malformed, message).at(Place::default().lump(LUMP)).with_hint(hint))
    }

    /// The index of a point with these coordinates in the grid; x is fastest.
    pub fn index(&self, [x, y, z]: [usize; 3]) -> Option<usize> {
        let is_there = [x, y, z].iter().zip(self.counts).all(|(place, count)| *place < count);
        is_there.then(|| (z * self.counts[1] + y) * self.counts[0] + x)
    }

    /// The coordinates in the grid of the point with this index.
    pub fn place(&self, index: usize) -> Option<[usize; 3]> {
        let [x, y, _] = self.counts;
        (index < self.len).then(|| [index % x, index / x % y, index / x / y])
    }

    /// Where a point of the grid is in the world.
    pub fn position(&self, place: [usize; 3]) -> Option<[f32; 3]> {
        self.index(place)?;
        let mut position = self.origin;
        for (axis, along) in place.into_iter().enumerate() {
            position[axis] += self.cell[axis] * f32::from(u16::try_from(along).ok()?);
        }
        Some(position)
    }

    /// The bytes of a point.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the grid has no such point or the lump ends before it.
    pub fn get(&self, index: usize) -> Result<[u8; POINT]> {
        let start = self.start(index)?;
        self.bytes.get()[start..].first_chunk().copied().ok_or_else(|| self.no_point(index))
    }

    /// Gives a point other bytes.
    ///
    /// # Errors
    /// As [`LightGrid::get`].
    pub fn set(&mut self, index: usize, light: [u8; POINT]) -> Result<()> {
        let start = self.start(index)?;
        self.bytes.put(start, &light);
        Ok(())
    }

    /// The bytes of the lump.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    fn start(&self, index: usize) -> Result<usize> {
        let end = index.checked_add(1).filter(|end| *end <= self.len).and_then(|end| end.checked_mul(POINT));
        let end = end.filter(|end| *end <= self.bytes.get().len());
        end.map(|end| end - POINT).ok_or_else(|| self.no_point(index))
    }

    #[cold]
    fn no_point(&self, index: usize) -> Error {
        let there = self.bytes.get().len() / POINT;
        let message = format!("there is no point {index}: the grid has {} points, the lump {there}", self.len);
        let place = Place::default().lump(LUMP).record(index).offset(wide(self.bytes.get().len()));
        Error::new(ErrorKind::NotFound, message).at(place)
    }
}

/// Reads up to three numbers as `sscanf("%f %f %f")` does; the others keep their value.
fn read_size(text: &[u8], size: &mut [f32; 3]) {
    let mut rest = text.trim_ascii_start();
    for size in size {
        // No useful number is longer.
        let start = rest.len().min(40);
        let number = |end: usize| Some((std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?, end));
        let Some((number, end)) = (1..=start).rev().find_map(number) else { return };
        *size = number;
        rest = rest[end..].trim_ascii_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_far_as_they_go() {
        let read = |text: &str| {
            let mut size = LightGrid::CELL;
            read_size(text.as_bytes(), &mut size);
            size
        };
        assert_eq!(read("32 16\t8"), [32.0, 16.0, 8.0]);
        assert_eq!(read(" 76.800003 1e2"), [76.8, 100.0, 128.0]);
        assert_eq!(read("32x 16 8"), [32.0, 64.0, 128.0]);
        assert_eq!(read(""), LightGrid::CELL);
        assert_eq!(read("\u{e9} 1"), LightGrid::CELL);
    }
}
