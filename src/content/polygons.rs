//! The corners of faces, in the families whose faces are rings of edges: Quake, Quake II, GoldSrc, Source.

use std::ops::Range;

use super::lens::Reader;
use super::lightmap::{Geometry, Room, record_of};
use crate::bsp::{Bsp, Records};
use crate::bytes::Data;
use crate::dialect::{Each, FaceForm, LightModel, Role};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::Slot;

/// The faces of a map as polygons.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let polygons = map.polygons()?;
/// let corners = polygons.get(0)?;
/// assert!(corners.len() >= 3);
/// assert_eq!(polygons.iter().count(), polygons.len());
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Polygons<'a> {
    lump: &'static str,
    faces: Data<'a>,
    form: FaceForm,
    geometry: Geometry<'a>,
}

impl std::fmt::Debug for Polygons<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Polygons").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'a> Bsp<'a> {
    /// The faces that are drawn: those of Source maps without faces for low dynamic range are in the list for the high
    /// one, which consoles have alone.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
    /// assert_eq!(map.drawn_faces()?.name(), "FACES");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bsp::records`].
    pub fn drawn_faces(&self) -> Result<Records<'a>> {
        let usual = self.records(Role::Faces)?;
        Ok(self.twin(&usual).unwrap_or(usual))
    }

    /// The list that is there in place of an empty one: the same records, for light of another dynamic range.
    fn twin(&self, usual: &Records<'_>) -> Option<Records<'a>> {
        let is_twin = |slot: &&Slot| {
            let parallel = self.row(slot).ok().and_then(|row| row.order.parallel);
            parallel.is_some_and(|parallel| parallel.each == Each::Twin && parallel.lump == usual.name())
        };
        let mut filled = self.slots().iter().filter(|slot| usual.is_empty() && slot.length > 0);
        self.any_records(filled.find(is_twin)?.name.as_str())
    }

    /// The corners of all faces that are drawn ([`Bsp::drawn_faces`]).
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for dialects whose faces name their corners in their records (Quake III and its
    /// relatives), and where the structs are not known; [`ErrorKind::NotFound`] where a lump is missing.
    pub fn polygons(&self) -> Result<Polygons<'a>> {
        let LightModel::Faces(model) = self.dialect().light else {
            let message = format!("faces of {} maps are not made of edges", self.dialect().title);
            return Err(Error::new(ErrorKind::Unsupported, message)
                .with_hint("their records name the first of their vertexes, and how many there are"));
        };
        let from = &Reader::of(self);
        let usual = from.role(Role::Faces)?;
        let slot = self.drawn_faces().map_or(usual, |faces| faces.slot());
        let form = record_of(self, slot, model.faces, |form| form.record)?;
        let row = self.container().slot(slot).and_then(|slot| self.row(slot).ok());
        let lump = row.map_or("FACES", |row| row.lump);
        Ok(Polygons { lump, faces: from.bytes(slot)?, form: *form, geometry: Geometry::read(from)? })
    }
}

impl Polygons<'_> {
    /// How many faces there are.
    pub fn len(&self) -> usize {
        self.faces.len() / self.form.record.size
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The corners of a face in units, in the order of its edges.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where there are fewer faces; [`ErrorKind::Malformed`] where the face names an edge or a
    /// vertex that the map does not have.
    pub fn get(&self, face: usize) -> Result<Vec<[f32; 3]>> {
        self.corners(face, &mut Room::of(&self.geometry))
    }

    /// The room for the edges of all faces.
    pub(super) fn room(&self) -> Room {
        Room::of(&self.geometry)
    }

    /// The corners of a face, within the room for all faces.
    pub(super) fn corners(&self, face: usize, room: &mut Room) -> Result<Vec<[f32; 3]>> {
        let error = |kind: ErrorKind, message: &str| {
            Error::new(kind, message).at(Place::default().lump(self.lump).record(face))
        };
        let size = self.form.record.size;
        let record = self.faces.chunks_exact(size).nth(face).and_then(self.form.read);
        let record = record.ok_or_else(|| error(ErrorKind::NotFound, "the map has no such face"))?;
        room.take(&record).map_err(|fault| error(ErrorKind::Malformed, &fault.to_string()))?;
        let corners = self.geometry.corners(&record);
        corners
            .ok_or_else(|| error(ErrorKind::Malformed, "the face names edges or vertexes that the map does not have"))
    }

    /// The corners of each face. What all of them take together grows with the edges of the map: where faces share too
    /// many of them, those that follow are an error ([`ErrorKind::Malformed`]).
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<Vec<[f32; 3]>>> {
        let (all, mut room): (Range<usize>, Room) = (0..self.len(), Room::of(&self.geometry));
        all.map(move |face| self.corners(face, &mut room))
    }
}
