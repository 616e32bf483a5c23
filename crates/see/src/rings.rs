//! Faces that are rings of edges: Quake, GoldSrc, Quake II, Source.

use std::cell::Cell;

use bspkit::bytes::short;
use bspkit::content::polygons::Polygons;
use bspkit::dialect::Role;
use bspkit::{Column, Place, Records, Result};

use crate::builder::{FACE, Key, sentence};
use crate::displacement::Displacements;
use crate::parts::Vertex;
use crate::points::{Point, facing, is_near, unit};
use crate::reading::Reading;
use crate::shape::{Mapping, Shape};

/// How many texels a texture of unknown size is taken to have.
const USUAL: u32 = 64;

pub(crate) fn read(reading: &mut Reading<'_, '_>) -> Result<()> {
    let map = reading.map;
    let polygons = map.polygons()?;
    let faces = map.drawn_faces()?;
    let texinfo = map.records(Role::TexInfo)?;
    let lump = faces.name().to_owned();
    let displacements = Displacements::read(map);
    let normals = Normals::read(map, &faces);
    let primitives = Primitives::read(map);
    let looks = Looks::new(&faces, &texinfo)?;
    let drawn = of_models(&polygons, reading);
    for Drawn { face, model, corners } in drawn {
        let place = || Place::default().lump(&lump).record(face);
        let corners = match corners {
            Ok(corners) => corners,
            Err(error) => {
                reading.builder.findings.add(&FACE, place(), sentence(&error));
                continue;
            }
        };
        let ring = match ring(&corners) {
            Ok(ring) => ring,
            Err(why) => {
                reading.builder.findings.add(&FACE, place(), why);
                continue;
            }
        };
        let texinfo = looks.texinfo.below(face, looks.count);
        if texinfo.is_none() {
            let message = format!("its texinfo {} does not exist", looks.texinfo.get(face));
            reading.builder.findings.add(&FACE, place(), message);
        }
        let Some(facing) = ring else { continue };
        let texture = reading.textures.of(texinfo);
        let size = reading.textures.size(texture).unwrap_or([USUAL; 2]);
        let mapping = Mapping { vectors: looks.texture_vectors(texinfo), size: size.map(f64::from) };
        let displacement = displacements.as_ref().and_then(|all| all.of(face));
        let is_lit = reading.textures.is_lit(texture);
        let spread = reading.lighting.as_ref().map(|lighting| match (is_lit || lighting.has(face), displacement) {
            (false, _) => lighting.plain(),
            (true, Some(_)) => lighting.by_grid(face),
            (true, None) => match looks.light(face, texinfo) {
                Some((vectors, mins)) => lighting.by_vectors(face, vectors, mins),
                None => lighting.by_extents(face, &corners, mapping.vectors),
            },
        });
        let page = spread.as_ref().map(|spread| spread.page);
        let shape = Shape { face, facing, mapping: &mapping, spread: spread.as_ref() };
        let (vertices, triangles, has_colors) = match (&displacements, displacement) {
            (Some(all), Some(displacement)) => match all.mesh(displacement, &corners, &shape) {
                Ok((vertices, triangles)) => (vertices, triangles, true),
                Err(why) => {
                    reading.builder.findings.add(&FACE, place(), why);
                    continue;
                }
            },
            _ => {
                let own = normals.as_ref().and_then(|normals| normals.of(face, corners.len()));
                let vertices = shape.vertices(&corners, own.as_deref());
                let (vertices, triangles) = match primitives.as_ref().and_then(|all| all.of(face, &shape, &vertices)) {
                    Some(mesh) => mesh,
                    None => {
                        let fan = fan(vertices.len());
                        (vertices, fan)
                    }
                };
                (vertices, triangles, false)
            }
        };
        if !reading.add(model, Key { texture, page, has_colors }, &vertices, &triangles) {
            break;
        }
    }
    Ok(())
}

/// A face that is shown.
struct Drawn {
    face: usize,
    model: usize,
    corners: Result<Vec<Point>>,
}

/// The faces of the models that are shown.
fn of_models(polygons: &Polygons<'_>, reading: &Reading<'_, '_>) -> Vec<Drawn> {
    let mut owners = vec![None; polygons.len()];
    for (model, faces) in reading.shown() {
        // A face belongs to one model: where damage gives it to several, the first one has it.
        let faces = faces.start.min(owners.len())..faces.end.min(owners.len());
        owners[faces].iter_mut().for_each(|owner| *owner = owner.or(Some(model)));
    }
    let drawn = polygons.iter().zip(owners).enumerate();
    drawn.filter_map(|(face, (corners, owner))| Some(Drawn { face, model: owner?, corners })).collect()
}

/// The direction that a ring faces; `None` if it has no area, and a sentence if it cannot be drawn.
fn ring(corners: &[Point]) -> std::result::Result<Option<Point>, String> {
    match corners {
        [] | [_] | [_, _] => Err(format!("{} corners are not a face", corners.len())),
        _ if !corners.iter().all(|corner| is_near(*corner)) => Err("a corner is outside of every world".to_owned()),
        _ => Ok(facing(corners)),
    }
}

/// The triangles of a polygon as engines draw it, counterclockwise.
fn fan(corners: usize) -> Vec<[u32; 3]> {
    (1..corners.saturating_sub(1)).map(|corner| [0, corner + 1, corner].map(short)).collect()
}

/// The fields of faces and texinfo that say what a face looks like.
struct Looks<'r> {
    texinfo: Column<'r>,
    count: usize,
    vectors: Column<'r>,
    light_vectors: Option<Column<'r>>,
    luxel_mins: Option<Column<'r>>,
}

impl<'r> Looks<'r> {
    fn new(faces: &'r Records<'_>, texinfo: &'r Records<'_>) -> Result<Self> {
        let [own] = faces.columns(["texinfo"])?;
        let vectors = match texinfo.column("texture_vectors").ok() {
            Some(vectors) => vectors,
            None => texinfo.columns(["vectors"])?[0],
        };
        let light_vectors = texinfo.column("lightmap_vectors").ok();
        let luxel_mins = faces.column("luxel_mins").ok();
        Ok(Looks { texinfo: own, count: texinfo.len(), vectors, light_vectors, luxel_mins })
    }

    fn texture_vectors(&self, texinfo: Option<usize>) -> [[f32; 4]; 2] {
        texinfo.map_or([[0.0; 4]; 2], |texinfo| [0, 4].map(|first| self.vectors.floats(texinfo, first)))
    }

    /// The vectors of the light, and the first luxel, of faces that state them.
    fn light(&self, face: usize, texinfo: Option<usize>) -> Option<([[f32; 4]; 2], [f64; 2])> {
        let (vectors, mins) = (self.light_vectors.as_ref()?, self.luxel_mins.as_ref()?);
        let vectors = texinfo.map_or([[0.0; 4]; 2], |texinfo| [0, 4].map(|first| vectors.floats(texinfo, first)));
        let mins = [0, 1].map(|axis| i32::try_from(mins.item(face, axis)).map_or(0.0, f64::from));
        Some((vectors, mins))
    }
}

/// Normals of the corners of all faces, one for each edge of each face (Source).
struct Normals<'a> {
    normals: Records<'a>,
    indices: Records<'a>,
    /// The first index of each face.
    firsts: Vec<usize>,
}

impl<'a> Normals<'a> {
    fn read(map: &bspkit::Bsp<'a>, faces: &Records<'_>) -> Option<Self> {
        let (normals, indices) = (map.any_records("VERTNORMALS")?, map.any_records("VERTNORMALINDICES")?);
        let edges = faces.column("edge_count").ok()?;
        let mut firsts = Vec::with_capacity(faces.len() + 1);
        let mut next = 0_usize;
        for face in 0..faces.len() {
            firsts.push(next);
            next = next.checked_add(usize::try_from(edges.get(face)).ok()?)?;
        }
        firsts.push(next);
        (next == indices.len()).then_some(Normals { normals, indices, firsts })
    }

    /// The normals of a face; `None` if one is not a direction.
    fn of(&self, face: usize, corners: usize) -> Option<Vec<Point>> {
        let ([normals], [indices]) = (self.normals.columns(["normal"]).ok()?, self.indices.columns(["normal"]).ok()?);
        let range = *self.firsts.get(face)?..*self.firsts.get(face + 1)?;
        if range.len() != corners {
            return None;
        }
        range.map(|at| unit(normals.floats(indices.below(at, self.normals.len())?, 0))).collect()
    }
}

/// Triangles that the edges of a face do not give (Source).
struct Primitives<'a> {
    faces: Records<'a>,
    primitives: Records<'a>,
    indices: Records<'a>,
    vertexes: Option<Records<'a>>,
    /// How many indices may still be read: faces of a damaged map may all name the same ones.
    left: Cell<usize>,
}

/// The most indices of all primitives together.
const MOST_INDICES: usize = 1 << 22;

/// Lists of triangles; the other kind is a strip.
const LIST: i64 = 0;
const STRIP: i64 = 1;

impl<'a> Primitives<'a> {
    fn read(map: &bspkit::Bsp<'a>) -> Option<Self> {
        Some(Primitives {
            faces: map.drawn_faces().ok()?,
            primitives: map.any_records("PRIMITIVES")?,
            indices: map.any_records("PRIMINDICES")?,
            vertexes: map.any_records("PRIMVERTS"),
            left: Cell::new(MOST_INDICES),
        })
    }

    /// How many primitives a face has: fifteen bits of one field, or all but the lowest bit of another one.
    fn count(&self, face: usize) -> Option<usize> {
        if let Ok(count) = self.faces.column("primitive_count") {
            return usize::try_from(count.get(face) & 0x7FFF).ok();
        }
        usize::try_from(self.faces.column("shadows_primitive_count").ok()?.get(face) >> 1).ok()
    }

    /// The vertices and triangles of a face that has primitives; `None` if it has none, or if they cannot be read: then
    /// it is drawn as a fan.
    fn of(&self, face: usize, shape: &Shape<'_>, corners: &[Vertex]) -> Option<(Vec<Vertex>, Vec<[u32; 3]>)> {
        let count = self.count(face).filter(|count| *count > 0)?;
        let first = self.faces.column("first_primitive").ok()?.below(face, self.primitives.len())?;
        let [kind, first_index, index_count, first_vertex, vertex_count] =
            self.primitives.columns(["kind", "first_index", "index_count", "first_vertex", "vertex_count"]).ok()?;
        let [index] = self.indices.columns(["vertex"]).ok()?;
        let (mut vertices, mut triangles) = (corners.to_vec(), Vec::new());
        for primitive in first..first.checked_add(count).filter(|end| *end <= self.primitives.len())? {
            let number = |column: &Column<'_>| usize::try_from(column.get(primitive)).ok();
            let (start, own) = (number(&first_index)?, number(&vertex_count)?);
            let read = number(&index_count)?;
            self.left.set(self.left.get().checked_sub(read.saturating_add(own).saturating_add(1))?);
            let end = start.checked_add(read).filter(|end| *end <= self.indices.len())?;
            // Indices count the corners of the face, or the vertexes that the primitive has of its own.
            let base = if own > 0 { vertices.len() } else { 0 };
            let most = if own > 0 { own } else { corners.len() };
            if own > 0 {
                let all = self.vertexes.as_ref()?;
                let [point] = all.columns(["point"]).ok()?;
                let first = number(&first_vertex)?;
                let range = first..first.checked_add(own).filter(|end| *end <= all.len())?;
                let points: Vec<Point> = range.map(|at| point.floats(at, 0)).collect();
                if !points.iter().all(|point| is_near(*point)) {
                    return None;
                }
                vertices.extend(points.into_iter().map(|point| shape.vertex(point, shape.facing)));
            }
            let corner = |at: usize| index.below(at, most).map(|corner| short(base + corner));
            let all = (start..end).map(corner).collect::<Option<Vec<u32>>>()?;
            match kind.get(primitive) {
                LIST => triangles.extend(all.as_chunks::<3>().0.iter().map(|[a, b, c]| [*a, *c, *b])),
                // Every second triangle of a strip runs the other way round.
                STRIP => triangles.extend(all.windows(3).enumerate().filter_map(|(at, three)| match (at % 2, three) {
                    (0, [a, b, c]) => Some([*a, *c, *b]),
                    (_, [a, b, c]) => Some([*a, *b, *c]),
                    _ => None,
                })),
                _ => return None,
            }
        }
        (!triangles.is_empty()).then_some((vertices, triangles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polygon_is_a_fan_of_two_triangles_less_than_corners() {
        assert_eq!(fan(5), [[0, 2, 1], [0, 3, 2], [0, 4, 3]]);
        assert!(fan(2).is_empty() && fan(0).is_empty());
    }
}
