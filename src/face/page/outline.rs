//! The edges of faces as lines, for the view from above. Every family is read by the names and meanings of fields.

use std::cell::Cell;
use std::ops::Range;

use crate::bsp::Bsp;
use crate::bytes::{Data, float};
use crate::content::polygons::Polygons;
use crate::dialect::Role;
use crate::record::{FieldInfo, Meaning, RecordInfo, Shape};

/// How many lines are read of a map in total: faces of a damaged map may all name the same edges.
const MOST_LINES: usize = 1 << 22;

/// A point of the map in units.
pub(super) type Point = [f32; 3];

/// The faces of a map, and which of them each model has.
pub(super) struct Outlines<'a> {
    faces: Option<Faces<'a>>,
    models: Vec<Range<usize>>,
    left: Cell<usize>,
}

enum Faces<'a> {
    /// Rings of edges.
    Rings(Polygons<'a>),
    Surfaces(Surfaces<'a>),
}

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
    pub(super) fn read(map: &Bsp<'a>) -> Self {
        let faces = match map.polygons() {
            Ok(polygons) => Some(Faces::Rings(polygons)),
            Err(_) => Surfaces::read(map).map(Faces::Surfaces),
        };
        let all = faces.as_ref().map_or(0, Faces::len);
        // What a model claims beyond the faces that there are is damage.
        let there = |faces: Range<usize>| faces.start.min(all)..faces.end.min(all);
        let models = models(map).unwrap_or_default().into_iter().map(there).collect();
        Outlines { faces, models, left: Cell::new(MOST_LINES) }
    }

    /// The faces of a model; 0 is the world.
    pub(super) fn model(&self, index: usize) -> Range<usize> {
        self.models.get(index).cloned().unwrap_or_default()
    }

    /// The faces of the world; all faces if the models cannot be read.
    pub(super) fn world(&self) -> Range<usize> {
        self.models.first().cloned().unwrap_or(0..self.faces.as_ref().map_or(0, Faces::len))
    }

    /// The lines around a face, which is one polygon or several triangles; none if it cannot be read.
    pub(super) fn face(&self, face: usize) -> Vec<[Point; 2]> {
        let lines = match &self.faces {
            _ if self.left.get() == 0 => Vec::new(),
            Some(Faces::Rings(polygons)) => ring(&polygons.get(face).unwrap_or_default()),
            Some(Faces::Surfaces(surfaces)) => surfaces.lines(face).unwrap_or_default(),
            None => Vec::new(),
        };
        // A face that cannot be read takes time as well.
        self.left.set(self.left.get().saturating_sub(lines.len().max(1)));
        lines
    }
}

impl Faces<'_> {
    fn len(&self) -> usize {
        match self {
            Faces::Rings(polygons) => polygons.len(),
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
    let models = Records::read(map, Role::Models)?;
    let faces = map.role(Role::Faces)?.name.as_str();
    let (first, count) = models.record.fields.iter().find_map(|field| match field.meaning {
        Meaning::Run { lump, count, .. } if lump == faces => Some((field, models.record.field(count.field)?)),
        _ => None,
    })?;
    let range = |index: usize| {
        let start = models.index(index, first, 0)?;
        Some(start..start.checked_add(models.index(index, count, 0)?)?)
    };
    Some((0..models.len()).map(|index| range(index).unwrap_or_default()).collect())
}

impl<'a> Surfaces<'a> {
    fn read(map: &Bsp<'a>) -> Option<Self> {
        let surfaces = Records::read(map, Role::Faces)?;
        let field = |name: &str| surfaces.record.field(name);
        Some(Surfaces {
            corners: Records::read(map, Role::Vertexes)?,
            indexes: Records::read(map, Role::DrawIndexes)?,
            first_vertex: field("first_vertex")?,
            vertex_count: field("vertex_count")?,
            first_index: field("first_index")?,
            index_count: field("index_count")?,
            patch: field("patch_size")?,
            surfaces,
        })
    }

    fn lines(&self, surface: usize) -> Option<Vec<[Point; 2]>> {
        /// More corners than any surface of a real map has.
        const MOST: usize = 1 << 16;
        let number = |field: &'static FieldInfo, item| self.surfaces.index(surface, field, item);
        let (first, count) = (number(self.first_vertex, 0)?, number(self.vertex_count, 0)?.min(MOST));
        let (first_index, index_count) = (number(self.first_index, 0)?, number(self.index_count, 0)?.min(MOST));
        let corner = |index: usize| self.corners.point(first.checked_add(index).filter(|_| index < count)?);
        if index_count > 0 {
            let corners = (0..index_count).map_while(|at| self.indexes.number(first_index.checked_add(at)?));
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

/// The records of a lump, read by the names of their fields.
struct Records<'a> {
    bytes: Data<'a>,
    record: &'static RecordInfo,
}

impl<'a> Records<'a> {
    fn read(map: &Bsp<'a>, role: Role) -> Option<Self> {
        let slot = map.role(role)?;
        let record = map.row(slot).ok()?.record()?;
        Some(Records { bytes: map.little_endian(slot.id).ok()?, record })
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.record.size
    }

    /// An item of a field that is not negative; item 0 of a field that is not an array.
    fn index(&self, record: usize, field: &'static FieldInfo, item: usize) -> Option<usize> {
        let number = match field.shape {
            Shape::Number(number) => number,
            Shape::Array(Shape::Number(number), count) if item < count => *number,
            _ => return None,
        };
        let at = record.checked_mul(self.record.size)?.checked_add(field.offset + item * number.size())?;
        usize::try_from(number.integer(self.bytes.get(at..)?)?).ok()
    }

    /// The only field of a record.
    fn number(&self, record: usize) -> Option<usize> {
        self.index(record, self.record.fields.first()?, 0)
    }

    /// The field `point`.
    fn point(&self, record: usize) -> Option<Point> {
        let offset = self.record.field("point")?.offset;
        let at = record.checked_mul(self.record.size)?.checked_add(offset)?;
        Some([float(&self.bytes, at)?, float(&self.bytes, at + 4)?, float(&self.bytes, at + 8)?])
    }
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
            let drawn = world.filter(|face| outlines.face(*face).len() >= 3).count();
            assert!(drawn > 5, "{name}: {drawn} faces");
        }
    }
}
