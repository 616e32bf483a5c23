//! The light of faces: whether all of it is in the lump.
//!
//! An empty lump gives no findings: maps that were never lit have offsets of 0, or old values.

use super::code::{LIGHT_EXTENTS, LIGHT_GRID, LIGHT_KIND, LIGHT_PAGE, LIGHT_RANGE, LUMP_UNCHECKED};
use super::lumps::{Column, Lumps, View, range};
use super::sink::{At, Sink};
use crate::bytes::{rounded, short};
use crate::dialect::{LightForm, Role};

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_grid(lumps, sink);
    check_kinds(lumps, sink);
    match lumps.checks().light {
        LightForm::Extents { bytes, unlit, most } => {
            if let Some(faces) = Faces::of(lumps) {
                faces.check(lumps, f64::from(bytes), unlit, most, sink);
            }
        }
        LightForm::Sized { unlit, bumped, lumps: [(usual, light), (high, high_light)] } => {
            let is_there = |name: &str| lumps.lump(name).is_some_and(|lump| !lump.bytes.is_empty());
            let other = if !is_there(high) && !is_there(light) { usual } else { high };
            for (faces, light) in [(usual, light), (other, high_light)] {
                let light = lumps.lump(light).filter(|light| !light.bytes.is_empty());
                if let (Some(faces), Some(light)) = (lumps.named(faces), light) {
                    check_sized(lumps, &faces, (light.name, light.bytes.len()), (unlit, bumped), sink);
                }
            }
        }
        LightForm::Pages { size } => check_pages(lumps, size, sink),
    }
}

/// The columns from which the size of a face's light is computed.
struct Faces<'b> {
    faces: View<'b>,
    first_edge: Column<'b>,
    edge_count: Column<'b>,
    texinfo: Column<'b>,
    styles: Column<'b>,
    offset: Column<'b>,
    surf_edges: View<'b>,
    edge: Column<'b>,
    edges: View<'b>,
    ends: Column<'b>,
    vertexes: View<'b>,
    point: Column<'b>,
    texinfos: View<'b>,
    vectors: Column<'b>,
    flags: Column<'b>,
}

impl<'b> Faces<'b> {
    fn of(lumps: &'b Lumps<'_>) -> Option<Self> {
        let (faces, texinfos) = (lumps.role(Role::Faces)?, lumps.role(Role::TexInfo)?);
        let (surf_edges, edges) = (lumps.role(Role::SurfEdges)?, lumps.role(Role::Edges)?);
        let vertexes = lumps.role(Role::Vertexes)?;
        Some(Faces {
            first_edge: faces.column("first_edge")?,
            edge_count: faces.column("edge_count")?,
            texinfo: faces.column("texinfo")?,
            styles: faces.column("styles")?,
            offset: faces.column("light_offset")?,
            edge: surf_edges.column("edge")?,
            ends: edges.column("vertexes")?,
            point: vertexes.column("point")?,
            vectors: texinfos.column("vectors")?,
            flags: texinfos.column("flags")?,
            faces,
            surf_edges,
            edges,
            vertexes,
            texinfos,
        })
    }

    fn check(&self, lumps: &Lumps<'_>, bytes: f64, unlit: i64, most: Option<u32>, sink: &mut Sink) {
        let Some(light) = lumps.role_lump(Role::Lighting) else { return };
        let len = light.bytes.len();
        // Faces have edges of their own; if all share the same thousands, the map was made to take long.
        let mut room = self.surf_edges.len().saturating_mul(16);
        for face in 0..self.faces.len() {
            let edges = usize::try_from(self.edge_count.get(face)).unwrap_or(0);
            let Some(rest) = room.checked_sub(edges) else {
                return sink.add(&LUMP_UNCHECKED, At::lump(self.faces.name).record(face), || {
                    "its faces share too many edges: from this face on, light was not checked".into()
                });
            };
            room = rest;
            let texinfo = usize::try_from(self.texinfo.get(face)).ok().filter(|index| *index < self.texinfos.len());
            let Some(texinfo) = texinfo.filter(|texinfo| self.flags.get(*texinfo) & unlit == 0) else { continue };
            let offset = self.offset.get(face);
            let count = styles(&self.styles, face);
            let is_lit = offset != -1 && count > 0 && len > 0;
            if !is_lit && most.is_none() {
                continue;
            }
            let Some([wide, high]) = self.luxels(face, texinfo, Precision::Double) else { continue };
            if let Some(most) = most.map(f64::from).filter(|most| (wide.max(high) - 1.0) * 16.0 > *most) {
                let at = At::lump(self.faces.name).record(face);
                sink.add(&LIGHT_EXTENTS, at, || {
                    let extent = (wide.max(high) - 1.0) * 16.0;
                    format!("it extends over {extent} texels; the engine accepts {most}")
                });
            }
            let end = |[wide, high]: [f64; 2]| number(offset) + wide * high * bytes * f64::from(short(count));
            if !is_lit || (offset >= 0 && end([wide, high]) <= f64::from(short(len))) {
                continue;
            }
            // Some compilers summed in single precision throughout, which can give one luxel more or less.
            let other = self.luxels(face, texinfo, Precision::Single);
            if offset < 0 || !other.is_some_and(|size| end(size) <= f64::from(short(len))) {
                let at = At::lump(self.faces.name).record(face).offset(self.offset.at(face)).field("light_offset");
                sink.add(&LIGHT_RANGE, at, || {
                    format!(
                        "its light begins at {offset}, {wide} by {high} luxels in {count} styles, and {} has \
                         {len} bytes",
                        light.name
                    )
                });
            }
        }
    }

    /// Columns and rows of a face's light: the number of steps of 16 texels over which its vertexes extend, plus one.
    /// A texture coordinate is summed in double precision and then rounded, as the original compilers and engines did.
    fn luxels(&self, face: usize, texinfo: usize, precision: Precision) -> Option<[f64; 2]> {
        let run = range(self.first_edge.get(face), self.edge_count.get(face), self.surf_edges.len())?;
        if run.is_empty() {
            return None;
        }
        let mut least = [f32::INFINITY; 2];
        let mut most = [f32::NEG_INFINITY; 2];
        for surf_edge in run {
            let edge = self.edge.get(surf_edge);
            let index = usize::try_from(edge.unsigned_abs()).ok().filter(|index| *index < self.edges.len())?;
            let vertex = usize::try_from(self.ends.item(index, usize::from(edge < 0))).ok()?;
            if vertex >= self.vertexes.len() {
                return None;
            }
            let point = [0, 1, 2].map(|axis| self.point.float(vertex, axis));
            for axis in 0..2 {
                let vector = [0, 1, 2, 3].map(|item| self.vectors.float(texinfo, axis * 4 + item));
                let value = precision.sum(point, vector);
                least[axis] = least[axis].min(value);
                most[axis] = most[axis].max(value);
            }
        }
        let size =
            [0, 1].map(|axis| f64::from((most[axis] / 16.0).ceil()) - f64::from((least[axis] / 16.0).floor()) + 1.0);
        size.iter().all(|size| size.is_finite()).then_some(size)
    }
}

#[derive(Clone, Copy)]
enum Precision {
    Double,
    Single,
}

impl Precision {
    fn sum(self, point: [f32; 3], vector: [f32; 4]) -> f32 {
        let [x, y, z] = point;
        let [s, t, u, offset] = vector;
        match self {
            Precision::Single => x * s + y * t + z * u + offset,
            Precision::Double => {
                let product = |a: f32, b: f32| f64::from(a) * f64::from(b);
                rounded(product(x, s) + product(y, t) + product(z, u) + f64::from(offset))
            }
        }
    }
}

/// How many styles a face has: those before the first 255.
fn styles(column: &Column<'_>, face: usize) -> usize {
    (0..column.items).take_while(|item| column.item(face, *item) != 255).count()
}

/// A number of the file; these have at most 32 bits.
fn number(value: i64) -> f64 {
    i32::try_from(value).map_or(f64::MAX, f64::from)
}

/// Source's faces store their size in luxels, less one in each direction.
fn check_sized(lumps: &Lumps<'_>, faces: &View<'_>, light: (&str, usize), flags: (i64, i64), sink: &mut Sink) {
    let ((light, len), (unlit, bumped)) = (light, flags);
    let Some(texinfos) = lumps.role(Role::TexInfo) else { return };
    let columns = || {
        let (offset, size) = (faces.column("light_offset")?, faces.column("luxel_size")?);
        Some((offset, size, faces.column("styles")?, faces.column("texinfo")?, texinfos.column("flags")?))
    };
    let Some((offsets, sizes, style_columns, texinfo_column, flag_column)) = columns() else { return };
    for face in 0..faces.len() {
        let offset = offsets.get(face);
        let count = styles(&style_columns, face);
        let texinfo = usize::try_from(texinfo_column.get(face)).ok().filter(|texinfo| *texinfo < texinfos.len());
        let Some(texinfo) = texinfo.filter(|_| offset != -1 && count > 0) else { continue };
        let flags = flag_column.get(texinfo);
        if flags & unlit != 0 {
            continue;
        }
        let [wide, high] = [0, 1].map(|item| sizes.item(face, item));
        let images = if flags & bumped != 0 { 4 } else { 1 };
        let styles = i64::try_from(count).unwrap_or(i64::MAX);
        let luxels = wide.saturating_add(1).saturating_mul(high.saturating_add(1));
        let end = luxels.saturating_mul(4 * images).saturating_mul(styles).saturating_add(offset);
        if offset < 0 || wide < 0 || high < 0 || !usize::try_from(end).is_ok_and(|end| end <= len) {
            let at = At::lump(faces.name).record(face).offset(offsets.at(face)).field("light_offset");
            sink.add(&LIGHT_RANGE, at, || {
                format!(
                    "its light begins at {offset}, {} by {} luxels of {images} images in {count} styles, \
                     and {light} has {len} bytes",
                    wide.saturating_add(1),
                    high.saturating_add(1)
                )
            });
        }
    }
}

/// Pages of light; if the lump is empty, they are files beside the map.
fn check_pages(lumps: &Lumps<'_>, size: usize, sink: &mut Sink) {
    let (Some(faces), Some(light)) = (lumps.role(Role::Faces), lumps.role_lump(Role::Lighting)) else { return };
    let Some(pages) = faces.column("lightmap").filter(|_| !light.bytes.is_empty()) else { return };
    let count = light.bytes.len() / size;
    for face in 0..faces.len() {
        // Negative numbers mean light that is not from a page.
        let is_missing = |page: &i64| usize::try_from(*page).is_ok_and(|page| page >= count);
        if let Some(page) = (0..pages.items).map(|item| pages.item(face, item)).find(is_missing) {
            let at = At::lump(faces.name).record(face).offset(pages.at(face)).field("lightmap");
            sink.add(&LIGHT_PAGE, at, || format!("its lightmap is {page}, and {} has {count} pages", light.name));
        }
    }
}

/// The lights of Source's world are of one of six kinds (`emittype_t`).
fn check_kinds(lumps: &Lumps<'_>, sink: &mut Sink) {
    for name in ["WORLDLIGHTS", "WORLDLIGHTS_HDR"] {
        let Some(lights) = lumps.named(name) else { continue };
        let Some(kinds) = lights.column("kind") else { continue };
        for light in (0..lights.len()).filter(|light| !(0..=5).contains(&kinds.get(*light))) {
            let at = At::lump(lights.name).record(light).offset(kinds.at(light)).field("kind");
            sink.add(&LIGHT_KIND, at, || format!("its kind is {}, not 0 to 5", kinds.get(light)));
        }
    }
}

/// The points of the grid fill the box of the world.
fn check_grid(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(points) = lumps.role(Role::LightGrid).filter(|points| points.len() > 0) else { return };
    let at = At::lump(points.name);
    match lumps.bsp.light_grid() {
        Ok(grid) if grid.len() != points.len() => {
            let [x, y, z] = grid.counts();
            let have = points.len();
            sink.add(&LIGHT_GRID, at, || format!("it has {have} points, and the world's box needs {x} by {y} by {z}"));
        }
        Ok(_) => {}
        // Without a world, or if the text cannot be read, there is nothing to compare.
        Err(error) => {
            if error.place().and_then(|place| place.lump.as_deref()) == Some(points.name) {
                sink.add(&LIGHT_GRID, at, || "the world's box and `gridsize` do not define a grid".into());
            }
        }
    }
}
