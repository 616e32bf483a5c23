//! The size of each face's light, computed from its corners: the one place of this rule, for the lens and for checks.

use super::extents::{Extents, Precision, extents};
use super::fault::LightFaultKind;
use super::read::{Textures, filled, record_of, table};
use crate::bsp::Bsp;
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
        let is_wide = row.and_then(Row::record).is_some_and(|record| (record.type_id)() == (WideEdge::INFO.type_id)());
        Ok(match is_wide {
            true => Edges::Wide(table(from, Role::Edges)?),
            false => Edges::Narrow(table(from, Role::Edges)?),
        })
    }

    fn get(&self, index: usize) -> Option<[u32; 2]> {
        match self {
            Edges::Narrow(edges) => Some(edges.get(index).ok()?.vertexes.map(u32::from)),
            Edges::Wide(edges) => Some(edges.get(index).ok()?.vertexes),
        }
    }
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
        let corner = |index: usize| {
            let edge = self.surf_edges.get(index).ok()?.edge;
            let ends = self.edges.get(usize::try_from(edge.unsigned_abs()).ok()?)?;
            let vertex = if edge < 0 { ends[1] } else { ends[0] };
            Some(self.vertexes.get(usize::try_from(vertex).ok()?).ok()?.point)
        };
        for index in first..end {
            corners.push(corner(index)?);
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
    ) -> Result<([usize; 2], Option<[usize; 2]>), LightFaultKind> {
        self.room.take(face)?;
        self.geometry.corners_to(face, &mut self.corners).ok_or(LightFaultKind::Edges)?;
        let luxels = |precision| extents(self.corners.iter().copied(), vectors, precision);
        let Extents { luxels: size, .. } = luxels(Precision::Double).ok_or(LightFaultKind::Size)?;
        let single = luxels(Precision::Single).map(|found| found.luxels);
        Ok((size, single.filter(|other| *other != size)))
    }
}

impl Bsp<'_> {
    /// Gives the columns and rows that the light of each face has, or would have: of all faces whose texture may be
    /// lit, in dialects where engines compute them from the corners.
    pub(crate) fn each_face_size(&self, mut give: impl FnMut(usize, [usize; 2])) -> Result<()> {
        let LightModel::Faces(model) = self.dialect().light else { return Ok(()) };
        let from = &Reader::of(self);
        let name = self.role(Role::Faces).map(|slot| slot.name.clone());
        let Some((slot, faces)) = name.filter(|_| model.by_extents).map_or(Ok(None), |name| filled(from, &name))?
        else {
            return Ok(());
        };
        let form = record_of(self, slot, model.faces, |form: &FaceForm| form.record)?;
        let (textures, mut sizes) = (Textures::read(from, model)?, Sizes::read(from)?);
        for (index, record) in faces.chunks_exact(form.record.size).enumerate() {
            let Some(face) = (form.read)(record) else { continue };
            let Some(texture) = textures.get(face.texinfo).filter(|it| it.flags & model.unlit == 0) else { continue };
            match sizes.of(&face, &texture.vectors) {
                Ok((size, _)) => give(index, size),
                Err(LightFaultKind::Shared) => break,
                Err(_) => {}
            }
        }
        Ok(())
    }
}
