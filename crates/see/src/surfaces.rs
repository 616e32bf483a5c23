//! The surfaces of Quake III and its relatives: triangles, curved patches, and foliage of Enemy Territory.

use bspkit::bytes::{nearest_byte, short};
use bspkit::dialect::Role;
use bspkit::dialect::quake3::Surface as Kinds;
use bspkit::{Column, Place, Records, Result};

use crate::bezier::{Control, tessellate, triangles};
use crate::builder::{FACE, Key, LIMIT};
use crate::light::Spread;
use crate::parts::Vertex;
use crate::points::{is_near, plus, unit};
use crate::reading::Reading;

/// More corners or indexes than any surface of a real map has.
const MOST: usize = 1 << 16;
/// The most control points of a patch; the engine takes 1,024.
const MOST_OF_PATCH: usize = 4096;
/// The most corners and indexes that all surfaces together may take: those of a damaged map may all name the same ones.
const MOST_LOOKED_AT: usize = 1 << 26;

/// The number of a page for surfaces that are lit by the colors of their vertices (`LIGHTMAP_BY_VERTEX`).
const BY_VERTEX: i64 = -3;

pub(crate) fn read(reading: &mut Reading<'_, '_>) -> Result<()> {
    let surfaces = reading.map.records(Role::Faces)?;
    let corners = reading.map.records(Role::Vertexes)?;
    let indexes = reading.map.records(Role::DrawIndexes)?;
    let lump = surfaces.name().to_owned();
    let reader = Surfaces::new(&surfaces, &corners, &indexes)?;
    let mut left = MOST_LOOKED_AT;
    'all: for (model, faces) in reading.shown() {
        for surface in faces.filter(|surface| *surface < surfaces.len()) {
            let page = reader.page.get(surface);
            let spread = reading.lighting.as_ref().map(|lighting| {
                let own = usize::try_from(page).ok().map(|page| lighting.by_page(page));
                own.flatten().unwrap_or_else(|| lighting.plain())
            });
            let looked_at = reader.looked_at(surface);
            let mesh = reader.mesh(surface, reading.options.detail);
            let made = mesh.as_ref().map_or(0, |mesh| mesh.as_ref().map_or(0, |mesh| mesh.corners.len()));
            match left.checked_sub(looked_at + made) {
                Some(more) => left = more,
                None => {
                    let message = "surfaces share too many vertexes; those that follow are not shown";
                    reading.builder.findings.add(&LIMIT, Place::default().lump(&lump).record(surface), message);
                    break 'all;
                }
            }
            match mesh {
                Ok(Some(mesh)) => {
                    let shader = reader.shader.index(surface);
                    let texture = reading.textures.of(shader);
                    if !reading.textures.has(shader) {
                        let place = Place::default().lump(&lump).record(surface);
                        reading.builder.findings.add(&FACE, place, "its shader does not exist; it is shown in a color");
                    }
                    // Colors of vertices are light.
                    let has_colors = page == BY_VERTEX && reading.options.light;
                    let key = Key { texture, page: spread.as_ref().map(|spread| spread.page), has_colors };
                    let vertices = mesh.vertices(surface, spread.as_ref(), has_colors);
                    if !reading.add(model, key, &vertices, &mesh.triangles) {
                        break 'all;
                    }
                }
                Ok(None) => {}
                Err(why) => reading.builder.findings.add(&FACE, Place::default().lump(&lump).record(surface), why),
            }
        }
    }
    Ok(())
}

/// The lumps of surfaces, by the names of their fields.
struct Surfaces<'r> {
    shader: Column<'r>,
    kind: Column<'r>,
    first_vertex: Column<'r>,
    vertex_count: Column<'r>,
    first_index: Column<'r>,
    index_count: Column<'r>,
    page: Column<'r>,
    patch_size: Column<'r>,
    corners: usize,
    point: Column<'r>,
    texture: Column<'r>,
    light: Column<'r>,
    normal: Column<'r>,
    color: Column<'r>,
    indexes: usize,
    vertex: Column<'r>,
}

/// Corners, and triangles of them, counterclockwise.
struct Mesh {
    corners: Vec<Control>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    fn vertices(&self, surface: usize, spread: Option<&Spread>, has_colors: bool) -> Vec<Vertex> {
        let vertex = |corner: &Control| Vertex {
            point: corner.point,
            normal: unit(corner.normal).unwrap_or([0.0, 0.0, 1.0]),
            texture: corner.texture.map(|part| if part.is_finite() { part } else { 0.0 }),
            light: spread.map_or([0.0; 2], |spread| spread.on_page(corner.light)),
            color: if has_colors { corner.color.map(|part| nearest_byte(f64::from(part))) } else { [255; 4] },
            face: short(surface),
        };
        self.corners.iter().map(vertex).collect()
    }
}

impl<'r> Surfaces<'r> {
    fn new(surfaces: &'r Records<'_>, corners: &'r Records<'_>, indexes: &'r Records<'_>) -> Result<Self> {
        let [shader, kind, first_vertex, vertex_count, first_index] =
            surfaces.columns(["shader", "kind", "first_vertex", "vertex_count", "first_index"])?;
        let [index_count, page, patch_size] = surfaces.columns(["index_count", "lightmap", "patch_size"])?;
        let [point, texture, light, normal, color] =
            corners.columns(["point", "texture", "lightmap", "normal", "color"])?;
        let [vertex] = indexes.columns(["vertex"])?;
        Ok(Surfaces {
            shader,
            kind,
            first_vertex,
            vertex_count,
            first_index,
            index_count,
            page,
            patch_size,
            corners: corners.len(),
            point,
            texture,
            light,
            normal,
            color,
            indexes: indexes.len(),
            vertex,
        })
    }

    /// How many corners and indexes are read for a surface.
    fn looked_at(&self, surface: usize) -> usize {
        let number = |column: &Column<'_>| column.index(surface).unwrap_or(0).min(MOST);
        1 + number(&self.vertex_count) + number(&self.index_count)
    }

    /// A surface; `None` if it has nothing to draw, and a sentence if it cannot be read.
    fn mesh(&self, surface: usize, detail: usize) -> std::result::Result<Option<Mesh>, String> {
        let kind = i32::try_from(self.kind.get(surface)).unwrap_or(-1);
        if kind == Kinds::FLARE {
            return Ok(None);
        }
        let [count, indexes] =
            [&self.vertex_count, &self.index_count].map(|column| column.index(surface).filter(|count| *count <= MOST));
        let (Some(count), Some(indexes)) = (count, indexes) else {
            return Err("its numbers of vertexes and indexes are not valid".to_owned());
        };
        let first = self
            .first_vertex
            .index(surface)
            .filter(|first| first.checked_add(count).is_some_and(|end| end <= self.corners));
        let first = first.ok_or("its vertexes do not exist")?;
        if count == 0 {
            return Ok(None);
        }
        let corners: Vec<Control> = (first..first + count).map(|corner| self.corner(corner)).collect();
        if !corners.iter().all(|corner| is_near(corner.point)) {
            return Err("a vertex is outside of every world".to_owned());
        }
        let size = [0, 1].map(|axis| usize::try_from(self.patch_size.item(surface, axis)).unwrap_or(0));
        if kind == Kinds::PATCH {
            return patch(&corners, size, detail).map(Some);
        }
        let triangles = self.triangles(surface, indexes, count)?;
        let [instances, own] = size;
        if kind == Kinds::FOLIAGE && instances > 0 && own > 0 && instances.checked_add(own) == Some(count) {
            return foliage(&corners, own, &triangles).map(Some);
        }
        Ok(Some(Mesh { corners, triangles }).filter(|mesh| !mesh.triangles.is_empty()))
    }

    fn corner(&self, corner: usize) -> Control {
        let color = |part: usize| u8::try_from(self.color.item(corner, part)).map_or(255.0, f32::from);
        Control {
            point: self.point.floats(corner, 0),
            normal: self.normal.floats(corner, 0),
            texture: self.texture.floats(corner, 0),
            light: self.light.floats(corner, 0),
            color: std::array::from_fn(color),
        }
    }

    /// The triangles of a surface, from clockwise to counterclockwise.
    fn triangles(&self, surface: usize, count: usize, corners: usize) -> std::result::Result<Vec<[u32; 3]>, String> {
        let first = self
            .first_index
            .index(surface)
            .filter(|first| first.checked_add(count).is_some_and(|end| end <= self.indexes));
        let first = first.ok_or("its indexes do not exist")?;
        let corner = |at: usize| self.vertex.index(at).filter(|corner| *corner < corners).map(short);
        let all = (first..first + count - count % 3).map(corner).collect::<Option<Vec<u32>>>();
        let all = all.ok_or("an index of it names no vertex")?;
        Ok(all.as_chunks::<3>().0.iter().map(|[a, b, c]| [*a, *c, *b]).collect())
    }
}

fn patch(corners: &[Control], [wide, high]: [usize; 2], detail: usize) -> std::result::Result<Mesh, String> {
    let is_side = |side: usize| side % 2 == 1 && (3..=MOST_OF_PATCH).contains(&side);
    if !is_side(wide) || !is_side(high) {
        return Err(format!(
            "it is a patch of {wide} by {high} control points; both are odd, 3 or more, and at most {MOST_OF_PATCH}"
        ));
    }
    if wide * high != corners.len() || corners.len() > MOST_OF_PATCH {
        let count = corners.len();
        return Err(format!(
            "it is a patch of {wide} by {high} control points, of at most {MOST_OF_PATCH}, and has {count} vertexes"
        ));
    }
    let (points, columns) = tessellate(corners, [wide, high], detail);
    let triangles = triangles(&points, columns).into_iter().map(|[a, b, c]| [a, c, b].map(short)).collect();
    Ok(Mesh { corners: points, triangles })
}

/// A plant at many places: the corners after its own are where it is.
fn foliage(corners: &[Control], own: usize, triangles: &[[u32; 3]]) -> std::result::Result<Mesh, String> {
    let (plant, places) = corners.split_at(own);
    if places.len().checked_mul(own).is_none_or(|count| count > MOST) {
        return Err(format!("{} plants of {own} vertexes are too many", places.len()));
    }
    if triangles.iter().flatten().any(|corner| *corner >= short(own)) {
        return Err("an index of its plant names no vertex".to_owned());
    }
    let mut mesh = Mesh { corners: Vec::new(), triangles: Vec::new() };
    for place in places {
        let first = short(mesh.corners.len());
        let moved =
            |corner: &Control| Control { point: plus(corner.point, place.point), color: place.color, ..*corner };
        mesh.corners.extend(plant.iter().map(moved));
        mesh.triangles.extend(triangles.iter().map(|triangle| triangle.map(|corner| first + corner)));
    }
    Ok(mesh)
}
