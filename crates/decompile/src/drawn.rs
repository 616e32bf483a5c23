//! What is drawn of a map: flat faces with their textures and coordinates, whatever their lumps are.

use bspkit::content::polygons::Polygons;
use bspkit::dialect::Role;
use bspkit::dialect::quake3::Surface as Kinds;
use bspkit::{Bsp, Column, Records, Result};

use crate::geometry::Plane;
use crate::looks::Look;
use crate::mapping::Mapping;
use crate::models::{range, ranges};
use crate::source::Point;

/// A coordinate that is farther away is damage.
const FARTHEST: f32 = 1_048_576.0;

/// More corners than any surface has.
const MOST: usize = 1 << 16;

/// A face that is drawn: a convex ring, clockwise as seen from its front.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The number of the face or surface.
    pub(crate) number: usize,
    pub(crate) model: usize,
    /// Its texinfo or shader.
    pub(crate) look: usize,
    pub(crate) ring: Vec<Point>,
    pub(crate) plane: Plane,
    /// s and t of its points: in texels, or in shares for the triangles of Quake III.
    pub(crate) mapping: Mapping,
    /// Whether it is a triangle of a surface that is not flat (Quake III): a model, or terrain.
    pub(crate) is_mesh: bool,
    /// Its displacement (Source).
    pub(crate) displacement: Option<usize>,
}

/// The flat faces of the models of a map.
#[derive(Debug, Default)]
pub(crate) struct Faces {
    pub(crate) drawn: Vec<Drawn>,
    /// The numbers of those that cannot be read, and why.
    pub(crate) unread: Vec<(usize, &'static str)>,
}

/// All flat faces of a map.
pub(crate) fn read(map: &Bsp<'_>, looks: &[Look]) -> Result<Faces> {
    match map.role(Role::DrawIndexes) {
        Some(_) => surfaces(map, looks.len()),
        None => rings(map, looks),
    }
}

fn is_near(ring: &[[f32; 3]]) -> bool {
    ring.iter().flatten().all(|part| part.abs() <= FARTHEST)
}

/// The plane of a ring; `None` if it has no area.
pub(crate) fn plane_of(ring: &[Point]) -> Option<Plane> {
    use crate::geometry::{cross, dot, length, minus, plus};
    let first = *ring.first()?;
    let sum =
        ring.windows(2).fold([0.0; 3], |sum, pair| plus(sum, cross(minus(pair[1], first), minus(pair[0], first))));
    let long = length(sum);
    let normal = sum.map(|part| part / long);
    (long > 1e-6).then(|| Plane { normal, distance: dot(normal, crate::geometry::mean(ring)) })
}

/// The corners of a face, or why it has none.
fn ring_of(corners: Result<Vec<[f32; 3]>>) -> std::result::Result<Vec<Point>, &'static str> {
    match corners {
        Err(_) => Err("its edges or vertexes do not exist, or are too many"),
        Ok(corners) if corners.len() < 3 => Err("it has fewer than three corners"),
        Ok(corners) if !is_near(&corners) => Err("a corner of it is outside of every world"),
        Ok(corners) => Ok(corners.iter().map(|corner| corner.map(f64::from)).collect()),
    }
}

fn rings(map: &Bsp<'_>, looks: &[Look]) -> Result<Faces> {
    let polygons: Polygons<'_> = map.polygons()?;
    let faces = map.drawn_faces()?;
    let [texinfo] = faces.columns(["texinfo"])?;
    let displacement = faces.column("displacement").ok();
    let owners = owners(&map.records(Role::Models)?, ["first_face", "face_count"], faces.len());
    let mut found = Faces { drawn: Vec::with_capacity(faces.len()), unread: Vec::new() };
    for (number, corners) in polygons.iter().enumerate() {
        let Some(model) = owners.get(number).copied().flatten() else { continue };
        let look = texinfo.below(number, looks.len()).ok_or("its texinfo does not exist");
        let (ring, look) = match ring_of(corners).and_then(|ring| Ok((ring, look?))) {
            Ok(face) => face,
            Err(why) => {
                found.unread.push((number, why));
                continue;
            }
        };
        // Compilers write faces without an area.
        let (Some(plane), Some(vectors)) = (plane_of(&ring), looks[look].vectors) else { continue };
        let mapping = Mapping::of_vectors(vectors);
        let displacement = displacement.and_then(|column| column.index(number));
        found.drawn.push(Drawn { number, model, look, ring, plane, mapping, is_mesh: false, displacement });
    }
    Ok(found)
}

/// The model of each face.
pub(crate) fn owners(models: &Records<'_>, [first, count]: [&str; 2], faces: usize) -> Vec<Option<usize>> {
    let mut owners = vec![None; faces];
    for (model, range) in ranges(models, first, count, faces).unwrap_or_default().into_iter().enumerate() {
        owners[range].iter_mut().for_each(|owner| *owner = owner.or(Some(model)));
    }
    owners
}

/// The records of surfaces and their vertexes.
pub(crate) struct Surfaces<'r> {
    pub(crate) kind: Column<'r>,
    pub(crate) shader: Column<'r>,
    pub(crate) size: Column<'r>,
    first_vertex: Column<'r>,
    vertex_count: Column<'r>,
    first_index: Column<'r>,
    index_count: Column<'r>,
    vertexes: usize,
    point: Column<'r>,
    texture: Column<'r>,
    indexes: usize,
    vertex: Column<'r>,
}

impl<'r> Surfaces<'r> {
    pub(crate) fn new(surfaces: &'r Records<'_>, vertexes: &'r Records<'_>, indexes: &'r Records<'_>) -> Result<Self> {
        let [kind, shader, size] = surfaces.columns(["kind", "shader", "patch_size"])?;
        let [first_vertex, vertex_count, first_index, index_count] =
            surfaces.columns(["first_vertex", "vertex_count", "first_index", "index_count"])?;
        let [point, texture] = vertexes.columns(["point", "texture"])?;
        let [vertex] = indexes.columns(["vertex"])?;
        Ok(Surfaces {
            kind,
            shader,
            size,
            first_vertex,
            vertex_count,
            first_index,
            index_count,
            vertexes: vertexes.len(),
            point,
            texture,
            indexes: indexes.len(),
            vertex,
        })
    }

    /// The points of a surface with their coordinates; `None` if they do not exist or are damaged.
    pub(crate) fn corners(&self, surface: usize) -> Option<Vec<([f32; 3], [f32; 2])>> {
        let range = range(self.first_vertex.get(surface), self.vertex_count.get(surface), self.vertexes)?;
        if range.len() > MOST {
            return None;
        }
        let all: Vec<_> = range.map(|at| (self.point.floats(at, 0), self.texture.floats(at, 0))).collect();
        let is_good =
            |(point, texture): &([f32; 3], [f32; 2])| is_near(&[*point]) && texture.iter().all(|part| part.is_finite());
        all.iter().all(is_good).then_some(all)
    }

    /// The points and triangles of a surface, or why it has none. `left` is how many may still be looked at.
    fn mesh(&self, surface: usize, left: &mut usize) -> std::result::Result<Mesh, &'static str> {
        let corners = self.corners(surface).ok_or("its vertexes do not exist or are damaged")?;
        let triangles =
            self.triangles(surface, corners.len()).ok_or("its indexes do not exist, or name no vertexes")?;
        let more = left.checked_sub(corners.len() + triangles.len() * 3);
        *left = more.ok_or("it shares too many vertexes with others")?;
        Ok(Mesh { corners, triangles })
    }

    /// The triangles of a surface as indices of its points; `None` if they do not exist.
    fn triangles(&self, surface: usize, corners: usize) -> Option<Vec<[usize; 3]>> {
        let range = range(self.first_index.get(surface), self.index_count.get(surface), self.indexes)?;
        if range.len() > MOST * 3 {
            return None;
        }
        let all = range.map(|at| self.vertex.below(at, corners)).collect::<Option<Vec<usize>>>()?;
        Some(all.as_chunks::<3>().0.to_vec())
    }
}

/// The points of a surface with their coordinates, and triangles of their indices.
struct Mesh {
    corners: Vec<([f32; 3], [f32; 2])>,
    triangles: Vec<[usize; 3]>,
}

/// The most corners that are looked at of all surfaces: those of a damaged map may all name the same ones.
const MOST_LOOKED_AT: usize = 1 << 25;

fn surfaces(map: &Bsp<'_>, looks: usize) -> Result<Faces> {
    let (surfaces, vertexes, indexes) =
        (map.records(Role::Faces)?, map.records(Role::Vertexes)?, map.records(Role::DrawIndexes)?);
    let reader = Surfaces::new(&surfaces, &vertexes, &indexes)?;
    let owners = owners(&map.records(Role::Models)?, ["first_surface", "surface_count"], surfaces.len());
    let (mut found, mut left) = (Faces::default(), MOST_LOOKED_AT);
    for (number, owner) in owners.iter().enumerate() {
        let kind = reader.kind.get(number);
        let is_mesh = kind == i64::from(Kinds::TRIANGLES);
        let is_its = is_mesh || kind == i64::from(Kinds::PLANAR);
        let (Some(model), true) = (owner, is_its) else { continue };
        let look = reader.shader.below(number, looks).ok_or("its shader does not exist");
        let (look, Mesh { corners, triangles }) =
            match look.and_then(|look| Ok((look, reader.mesh(number, &mut left)?))) {
                Ok(surface) => surface,
                Err(why) => {
                    found.unread.push((number, why));
                    continue;
                }
            };
        for triangle in triangles {
            let ring: Vec<Point> = triangle.iter().map(|corner| corners[*corner].0.map(f64::from)).collect();
            let Some(plane) = plane_of(&ring) else { continue };
            let corner = |at: usize| corners[triangle[at]];
            let points = [0, 1, 2].map(|at| corner(at).0.map(f64::from));
            let values = [0, 1, 2].map(|at| corner(at).1.map(f64::from));
            let Some(mapping) = Mapping::through(points, values) else { continue };
            found.drawn.push(Drawn { number, model: *model, look, ring, plane, mapping, is_mesh, displacement: None });
        }
    }
    Ok(found)
}
