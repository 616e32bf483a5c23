//! The edges of faces as lines, and the faces of brush models, in every family: by the names and meanings of fields.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::lightmap::Room;
use super::polygons::Polygons;
use crate::bsp::{Bsp, Records};
use crate::bytes::float;
use crate::dialect::Role;
use crate::record::{FieldInfo, Meaning, Shape};

/// How many corners are read of a map in total: faces of a damaged map may all name the same edges.
const MOST_CORNERS: usize = 1 << 21;

/// A point of the map in units.
pub type Point = [f32; 3];

/// The faces of a map, and which of them each model has.
///
/// ```
/// use bspkit::content::outlines::Outlines;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let outlines = Outlines::read(&map);
/// let corners: Vec<_> = outlines.lines(outlines.model(1)).map(|lines| lines.len()).collect();
/// assert_eq!(corners, [4; 6]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Outlines<'a> {
    faces: Option<Faces<'a>>,
    models: Vec<Range<usize>>,
    /// How many corners may still be read.
    left: Cell<usize>,
}

impl std::fmt::Debug for Outlines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlines").field("models", &self.models).finish_non_exhaustive()
    }
}

enum Faces<'a> {
    /// Rings of edges.
    Rings(Polygons<'a>, RefCell<Room>),
    Surfaces(Surfaces<'a>),
}

/// More corners than any surface of a real map has.
const MOST: usize = 1 << 16;

/// Surfaces of Quake III and its relatives: triangles, and patches of control points.
struct Surfaces<'a> {
    surfaces: Records<'a>,
    corners: Records<'a>,
    indexes: Records<'a>,
    first_vertex: &'static FieldInfo,
    vertex_count: &'static FieldInfo,
    first_index: &'static FieldInfo,
    index_count: &'static FieldInfo,
    patch: &'static FieldInfo,
}

impl<'a> Outlines<'a> {
    /// The faces and models of a map; without any where they cannot be read.
    pub fn read(map: &Bsp<'a>) -> Self {
        let faces = match map.polygons() {
            Ok(polygons) => {
                let room = RefCell::new(polygons.room());
                Some(Faces::Rings(polygons, room))
            }
            Err(_) => Surfaces::read(map).map(Faces::Surfaces),
        };
        let all = faces.as_ref().map_or(0, Faces::len);
        // What a model claims beyond the faces that there are is damage.
        let there = |faces: Range<usize>| faces.start.min(all)..faces.end.min(all);
        let models = models(map).unwrap_or_default().into_iter().map(there).collect();
        Outlines { faces, models, left: Cell::new(MOST_CORNERS) }
    }

    /// The faces of a model; 0 is the world.
    pub fn model(&self, index: usize) -> Range<usize> {
        self.models.get(index).cloned().unwrap_or_default()
    }

    /// The faces of the world; all faces if the models cannot be read.
    pub fn world(&self) -> Range<usize> {
        self.models.first().cloned().unwrap_or(0..self.faces.as_ref().map_or(0, Faces::len))
    }

    /// The lines around a face, which is one polygon or several triangles; none if it cannot be read. `None` if too
    /// much of the map was read: faces of real maps share few corners.
    pub fn face(&self, face: usize) -> Option<Vec<[Point; 2]>> {
        let (lines, corners) = match &self.faces {
            _ if self.left.get() == 0 => return None,
            Some(Faces::Rings(polygons, room)) => {
                let room = &mut *room.borrow_mut();
                let lines = ring(&polygons.corners(face, room).unwrap_or_default());
                let corners = lines.len();
                (lines, corners)
            }
            Some(Faces::Surfaces(surfaces)) => {
                (surfaces.lines(face).unwrap_or_default(), surfaces.corners_of(face).unwrap_or(0))
            }
            None => (Vec::new(), 0),
        };
        // A face that cannot be read takes time as well.
        self.left.set(self.left.get().saturating_sub(corners.max(1)));
        Some(lines)
    }

    /// Whether too much of the map was read for more.
    pub fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// The lines of faces, as far as they are read.
    pub fn lines(&self, faces: Range<usize>) -> impl Iterator<Item = Vec<[Point; 2]>> {
        faces.map_while(|face| self.face(face))
    }
}

impl Faces<'_> {
    fn len(&self) -> usize {
        match self {
            Faces::Rings(polygons, _) => polygons.len(),
            Faces::Surfaces(surfaces) => surfaces.surfaces.len(),
        }
    }
}

fn ring(corners: &[Point]) -> Vec<[Point; 2]> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(from, to)| [*from, *to]).collect()
}

/// The faces of each model, by the field that is a run of faces.
fn models(map: &Bsp<'_>) -> Option<Vec<Range<usize>>> {
    let models = map.records(Role::Models).ok()?;
    let faces = map.role(Role::Faces)?.name.as_str();
    let (first, count) = models.info().fields.iter().find_map(|field| match field.meaning {
        Meaning::Run { lump, count, .. } if lump == faces => Some((field, models.info().field(count.field)?)),
        _ => None,
    })?;
    let range = |index: usize| {
        let start = self::index(&models, index, first, 0)?;
        Some(start..start.checked_add(self::index(&models, index, count, 0)?)?)
    };
    Some((0..models.len()).map(|index| range(index).unwrap_or_default()).collect())
}

impl<'a> Surfaces<'a> {
    fn read(map: &Bsp<'a>) -> Option<Self> {
        let surfaces = map.records(Role::Faces).ok()?;
        let field = |name: &str| surfaces.info().field(name);
        Some(Surfaces {
            corners: map.records(Role::Vertexes).ok()?,
            indexes: map.records(Role::DrawIndexes).ok()?,
            first_vertex: field("first_vertex")?,
            vertex_count: field("vertex_count")?,
            first_index: field("first_index")?,
            index_count: field("index_count")?,
            patch: field("patch_size")?,
            surfaces,
        })
    }

    /// How many corners are looked at for the lines of a surface.
    fn corners_of(&self, surface: usize) -> Option<usize> {
        let number = |field: &'static FieldInfo| index(&self.surfaces, surface, field, 0);
        Some(number(self.index_count)?.min(MOST).max(number(self.vertex_count)?.min(MOST)))
    }

    fn lines(&self, surface: usize) -> Option<Vec<[Point; 2]>> {
        let number = |field: &'static FieldInfo, item| index(&self.surfaces, surface, field, item);
        let (first, count) = (number(self.first_vertex, 0)?, number(self.vertex_count, 0)?.min(MOST));
        let (first_index, index_count) = (number(self.first_index, 0)?, number(self.index_count, 0)?.min(MOST));
        let corner = |index: usize| point(&self.corners, first.checked_add(index).filter(|_| index < count)?);
        if index_count > 0 {
            let only = self.indexes.info().fields.first()?;
            let corners = (0..index_count).map_while(|at| index(&self.indexes, first_index.checked_add(at)?, only, 0));
            let corners: Vec<usize> = corners.collect();
            let edges = boundary(corners.as_chunks::<3>().0);
            return Some(edges.into_iter().filter_map(|[from, to]| Some([corner(from)?, corner(to)?])).collect());
        }
        let [wide, high] = [number(self.patch, 0)?, number(self.patch, 1)?];
        if wide.checked_mul(high) != Some(count) || wide < 2 || high < 2 {
            return Some(Vec::new());
        }
        // Around the grid of control points.
        let top = (0..wide).chain((1..high).map(|row| row * wide + wide - 1));
        let bottom = (0..wide - 1).rev().map(|column| (high - 1) * wide + column);
        let around = top.chain(bottom).chain((1..high - 1).rev().map(|row| row * wide));
        Some(ring(&around.map(corner).collect::<Option<Vec<_>>>()?))
    }
}

/// The edges that only one triangle has.
fn boundary(triangles: &[[usize; 3]]) -> Vec<[usize; 2]> {
    let edges = |[a, b, c]: &[usize; 3]| [[*a, *b], [*b, *c], [*c, *a]].map(|[a, b]| [a.min(b), a.max(b)]);
    let mut all: Vec<[usize; 2]> = triangles.iter().flat_map(edges).collect();
    all.sort_unstable();
    all.chunk_by(|one, other| one == other).filter(|same| same.len() == 1).map(|same| same[0]).collect()
}

/// An item of a field that is not negative; item 0 of a field that is not an array.
fn index(records: &Records<'_>, record: usize, field: &'static FieldInfo, item: usize) -> Option<usize> {
    let number = match field.shape {
        Shape::Number(number) => number,
        Shape::Array(Shape::Number(number), count) if item < count => *number,
        _ => return None,
    };
    let bytes = records.get(record)?.get(field.offset + item * number.size()..)?;
    usize::try_from(number.integer(bytes)?).ok()
}

/// The field `point`.
fn point(records: &Records<'_>, record: usize) -> Option<Point> {
    let at = records.info().field("point")?.offset;
    let bytes = records.get(record)?;
    Some([float(bytes, at)?, float(bytes, at + 4)?, float(bytes, at + 8)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_of_triangles_has_four_edges() {
        assert_eq!(boundary(&[[0, 1, 2], [2, 1, 3]]), [[0, 1], [0, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn every_family_has_lines() {
        for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
            let map = Bsp::open(format!("tests/maps/{name}.bsp")).unwrap();
            let outlines = Outlines::read(&map);
            let world = outlines.world();
            assert!(!world.is_empty() && world == outlines.model(0), "{name}");
            let drawn = world.filter(|face| outlines.face(*face).unwrap().len() >= 3).count();
            assert!(drawn > 5, "{name}: {drawn} faces");
        }
    }
}
