//! The size of each face's light, computed from its corners: the one place of this rule, for the lens and for checks.

use super::LightFaultKind;
use super::read::{Textures, filled, record_of, table};
use crate::bsp::Bsp;
use crate::bytes::{index, integer, rounded};
use crate::content::lens::Reader;
use crate::dialect::shared::{Edge, SurfEdge, Vertex, WideEdge};
use crate::dialect::{FaceForm, LightModel, LitFace, Role, Row};
use crate::error::Result;
use crate::record::{Record, Table};

/// The lumps from which the corners of faces are computed.
pub(in crate::content) struct Geometry<'a> {
    surf_edges: Table<'a, SurfEdge>,
    edges: Edges<'a>,
    vertexes: Table<'a, Vertex>,
}

/// Edges with 16-bit or 32-bit numbers.
enum Edges<'a> {
    Narrow(Table<'a, Edge>),
    Wide(Table<'a, WideEdge>),
}

impl<'a> Edges<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let row = from.bsp().role(Role::Edges).and_then(|slot| from.bsp().row(slot).ok());
        let is_wide = row.and_then(Row::record).is_some_and(|record| record == WideEdge::INFO);
        Ok(match is_wide {
            true => Edges::Wide(table(from, Role::Edges)?),
            false => Edges::Narrow(table(from, Role::Edges)?),
        })
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Edges::Narrow(edges) => edges.bytes(),
            Edges::Wide(edges) => edges.bytes(),
        }
    }

    /// The ends of an edge, in the bytes of all edges.
    fn ends(&self, bytes: &[u8], index: usize) -> Option<[u32; 2]> {
        match self {
            Edges::Narrow(_) => Some(record::<Edge>(bytes, index)?.vertexes.map(u32::from)),
            Edges::Wide(_) => Some(record::<WideEdge>(bytes, index)?.vertexes),
        }
    }
}

/// A record, in the bytes of all.
#[inline]
fn record<R: Record>(bytes: &[u8], index: usize) -> Option<R> {
    R::decode(bytes.get(index.checked_mul(R::SIZE)?..)?)
}

impl<'a> Geometry<'a> {
    pub(in crate::content) fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        Ok(Geometry {
            surf_edges: table(from, Role::SurfEdges)?,
            edges: Edges::read(from)?,
            vertexes: table(from, Role::Vertexes)?,
        })
    }

    pub(in crate::content) fn corners(&self, face: &LitFace) -> Option<Vec<[f32; 3]>> {
        let mut corners = Vec::new();
        self.corners_to(face, &mut corners).map(|()| corners)
    }

    /// Puts the corners of a face in place of what `corners` has.
    fn corners_to(&self, face: &LitFace, corners: &mut Vec<[f32; 3]>) -> Option<()> {
        corners.clear();
        let first = usize::try_from(face.first_edge).ok()?;
        let count = usize::try_from(face.edge_count).ok().filter(|count| *count > 0)?;
        let end = first.checked_add(count).filter(|end| *end <= self.surf_edges.len())?;
        let (surf_edges, edges, vertexes) = (self.surf_edges.bytes(), self.edges.bytes(), self.vertexes.bytes());
        let corner = |at: usize| {
            let edge = record::<SurfEdge>(surf_edges, at)?.edge;
            let ends = self.edges.ends(edges, index(edge.unsigned_abs()))?;
            let vertex = if edge < 0 { ends[1] } else { ends[0] };
            Some(record::<Vertex>(vertexes, index(vertex))?.point)
        };
        for at in first..end {
            corners.push(corner(at)?);
        }
        Some(())
    }
}

/// How often all faces together may name each surfedge. Faces have edges of their own.
const MOST_SHARED: usize = 16;

/// How many edges may still be looked at: what all faces take together grows with the surfedges alone.
pub(in crate::content) struct Room(usize);

impl Room {
    pub(in crate::content) fn of(geometry: &Geometry<'_>) -> Self {
        Room(geometry.surf_edges.len().saturating_mul(MOST_SHARED))
    }

    /// Takes the room for the edges of a face.
    pub(in crate::content) fn take(&mut self, face: &LitFace) -> Result<(), LightFaultKind> {
        let edges = usize::try_from(face.edge_count).unwrap_or(0);
        self.0 = self.0.checked_sub(edges).ok_or(LightFaultKind::Shared)?;
        Ok(())
    }
}

/// The sizes of faces' light.
pub(super) struct Sizes<'a> {
    geometry: Geometry<'a>,
    room: Room,
    corners: Vec<[f32; 3]>,
}

impl<'a> Sizes<'a> {
    pub(super) fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let geometry = Geometry::read(from)?;
        let room = Room::of(&geometry);
        Ok(Sizes { geometry, room, corners: Vec::new() })
    }

    /// Columns and rows of a face's light; then those in single precision, if they are others.
    pub(super) fn of(
        &mut self,
        face: &LitFace,
        vectors: &[[f32; 4]; 2],
        shift: u8,
    ) -> Result<([usize; 2], Option<[usize; 2]>), LightFaultKind> {
        let size = self.usual(face, vectors, shift)?;
        let single = extents(self.corners.iter().copied(), vectors, shift, Precision::Single).map(|it| it.luxels);
        Ok((size, single.filter(|other| *other != size)))
    }

    /// Columns and rows of a face's light, as most engines compute them.
    fn usual(&mut self, face: &LitFace, vectors: &[[f32; 4]; 2], shift: u8) -> Result<[usize; 2], LightFaultKind> {
        self.room.take(face)?;
        self.geometry.corners_to(face, &mut self.corners).ok_or(LightFaultKind::Edges)?;
        let found = extents(self.corners.iter().copied(), vectors, shift, Precision::Double);
        found.map(|found| found.luxels).ok_or(LightFaultKind::Size)
    }
}

impl Bsp<'_> {
    /// The columns and rows that the light of each face has, or would have, with luxels of 16 texels; with the index of
    /// the face: of all faces whose texture may be lit, in dialects where engines compute them from the corners.
    ///
    /// # Errors
    /// Those of a lump that cannot be read.
    pub fn face_sizes(&self) -> Result<Vec<(usize, [usize; 2])>> {
        let mut found = Vec::new();
        let LightModel::Faces(model) = self.dialect().light else { return Ok(found) };
        let from = &Reader::of(self);
        let name = self.role(Role::Faces).map(|slot| slot.name.clone());
        let Some((slot, faces)) = name.filter(|_| model.by_extents).map_or(Ok(None), |name| filled(from, &name))?
        else {
            return Ok(found);
        };
        let form = record_of(self, slot, model.faces, |form: &FaceForm| form.record)?;
        let (textures, mut sizes) = (Textures::read(from, model)?, Sizes::read(from)?);
        for (index, record) in faces.chunks_exact(form.record.size).enumerate() {
            let Some(face) = (form.read)(record) else { continue };
            let Some(texture) = textures.get(face.texinfo).filter(|it| it.flags & (model.unlit | model.unread) == 0)
            else {
                continue;
            };
            match sizes.usual(&face, &texture.vectors, USUAL_SHIFT) {
                Ok(size) => found.push((index, size)),
                Err(LightFaultKind::Shared) => break,
                Err(_) => {}
            }
        }
        Ok(found)
    }
}

// How many luxels a face has in each direction, as engines compute it from its corners.

/// The precision of a compiler's sums. It decides the result for a corner on the edge between two luxels.
///
/// ```
/// use bspkit::content::lightmap::{Precision, extents};
/// let corners = [[0.0; 3], [40.0, 0.0, 0.0], [40.0, 16.0, 0.0]];
/// let vectors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
/// let found = extents(corners, &vectors, 4, Precision::Double).unwrap();
/// assert_eq!((found.luxel_mins, found.luxels), ([0, 0], [4, 2]));
/// assert_eq!(extents(corners, &vectors, 3, Precision::Double).unwrap().luxels, [6, 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Sums in double precision, rounded to single: the original compilers and engines, whose processors had no
    /// registers of single precision.
    Double,
    /// Sums in single precision throughout: a few later compilers.
    Single,
}

/// The size of luxels in most maps, as a power of two: 16 texels.
pub const USUAL_SHIFT: u8 = 4;

/// The part of its texture that a face shows, in luxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extents {
    /// The first luxel in each direction (`texturemins` in luxels).
    pub luxel_mins: [i32; 2],
    /// The number of luxels in each direction: the number of steps plus one.
    pub luxels: [usize; 2],
}

/// Computes the extents of a face from its corners and the vectors of its texinfo (`CalcSurfaceExtents`); `None` if an
/// engine could not compute with them. A luxel has 2 to the power of `shift` texels: 4 means 16.
pub fn extents(
    corners: impl IntoIterator<Item = [f32; 3]>,
    vectors: &[[f32; 4]; 2],
    shift: u8,
    precision: Precision,
) -> Option<Extents> {
    let step = Some(shift).filter(|shift| *shift < 31).map(|shift| f32::from(2_u8).powi(shift.into()))?;
    // The engines' start values: engines ignore corners beyond them too.
    let (mut mins, mut maxs) = ([999_999.0_f32; 2], [-99_999.0_f32; 2]);
    for corner in corners {
        for axis in 0..2 {
            let value = precision.sum(corner, vectors[axis]);
            if value < mins[axis] {
                mins[axis] = value;
            }
            if value > maxs[axis] {
                maxs[axis] = value;
            }
        }
    }
    let mut found = Extents { luxel_mins: [0; 2], luxels: [0; 2] };
    for axis in 0..2 {
        let (first, last) = (integer((mins[axis] / step).floor())?, integer((maxs[axis] / step).ceil())?);
        found.luxel_mins[axis] = first;
        found.luxels[axis] =
            usize::try_from(last.checked_sub(first)?.checked_add(1)?).ok().filter(|count| *count > 0)?;
    }
    Some(found)
}

impl Precision {
    fn sum(self, [x, y, z]: [f32; 3], [s, t, u, offset]: [f32; 4]) -> f32 {
        match self {
            Precision::Single => x * s + y * t + z * u + offset,
            Precision::Double => {
                let product = |a: f32, b: f32| f64::from(a) * f64::from(b);
                rounded(product(x, s) + product(y, t) + product(z, u) + f64::from(offset))
            }
        }
    }
}
