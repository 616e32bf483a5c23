//! Light in pages, and where on them surfaces lie.

use super::block::Block;
use super::fault::{LightFault, LightFaultKind};
use super::{Light, LightSet, read};
use crate::bsp::Bsp;
use crate::bytes::{Data, integer};
use crate::dialect::{Averages, LightModel, LuxelForm, PageLight};
use crate::error::Result;
use crate::file::SlotId;

/// Where on which page the light of a surface is: the smallest rectangle around its corners there.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let surfaces = map.surface_light()?;
/// assert!(surfaces.iter().all(|surface| surface.page == 0 && surface.at[0] + surface.size[0] <= 128));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurfaceLight {
    /// The surface.
    pub surface: usize,
    /// The page, of the lump or of the files beside the map.
    pub page: usize,
    /// Column and row of its first luxel, on a page of the lump's size.
    pub at: [usize; 2],
    /// Columns and rows.
    pub size: [usize; 2],
}

impl<'a> Bsp<'a> {
    /// Which surfaces are lit by pages, and where on them they lie; nothing for maps without pages.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn surface_light(&self) -> Result<Vec<SurfaceLight>> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(Vec::new()) };
        let (surfaces, vertexes) = (self.table(model.surfaces)?, self.table(model.vertexes)?);
        let mut found = Vec::new();
        for (index, surface) in surfaces.iter().enumerate() {
            let numbers = (surface.lightmap, surface.first_vertex, surface.vertex_count);
            let (Ok(page), Ok(first), Ok(count)) =
                (usize::try_from(numbers.0), usize::try_from(numbers.1), usize::try_from(numbers.2))
            else {
                continue;
            };
            let mut corners = Vec::new();
            for vertex in (first..first.saturating_add(count)).map_while(|vertex| vertexes.get(vertex).ok()) {
                corners.push(vertex.lightmap);
            }
            if let Some((at, size)) = around(&corners, model.size) {
                found.push(SurfaceLight { surface: index, page, at, size });
            }
        }
        Ok(found)
    }

    /// The names of the files with light that the map's surfaces ask for, in the folder beside the map that has its name:
    /// those that have no page in the map itself.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn light_files(&self) -> Result<Vec<String>> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(Vec::new()) };
        if self.slot(model.lump).is_ok_and(|slot| slot.length != 0) {
            return Ok(Vec::new());
        }
        let surfaces = self.table(model.surfaces)?;
        let mut pages: Vec<u16> = surfaces.iter().filter_map(|surface| u16::try_from(surface.lightmap).ok()).collect();
        pages.sort_unstable();
        pages.dedup();
        let (before, behind) = model.files;
        Ok(pages.into_iter().map(|page| format!("{before}{page:04}{behind}")).collect())
    }
}

/// The luxels that corners from 0 to 1 span.
fn around(corners: &[[f32; 2]], page: usize) -> Option<([usize; 2], [usize; 2])> {
    let size = f32::from(u16::try_from(page).ok()?);
    let (mut at, mut extent) = ([0; 2], [0; 2]);
    for axis in 0..2 {
        let values = corners.iter().map(|corner| (corner[axis] * size).clamp(0.0, size));
        let least = values.clone().fold(f32::INFINITY, f32::min);
        let most = values.fold(f32::NEG_INFINITY, f32::max);
        at[axis] = usize::try_from(integer(least.floor())?).ok()?.min(page - 1);
        extent[axis] = usize::try_from(integer(most.ceil())?).ok()?.saturating_sub(at[axis]).max(1);
    }
    Some((at, extent))
}

pub(super) fn read<'a>(
    bsp: &Bsp<'a>,
    bytes: &dyn Fn(SlotId) -> Result<Data<'a>>,
    model: &PageLight,
    light: &mut Light<'a>,
) -> Result<()> {
    let slot = bsp.slot(model.lump)?.id;
    let luxels = bytes(slot)?;
    if luxels.is_empty() {
        return Ok(());
    }
    let form = LuxelForm::Rgb;
    let len = model.size * model.size * form.bytes();
    let pages = luxels.len() / len;
    let page = |index: usize| Block {
        index,
        size: [model.size; 2],
        styles: [0; 8],
        style_count: 1,
        planes: 1,
        offset: index * len,
        len,
        averages: Averages::None,
        face_at: 0,
        has_both: false,
        precision_is_single: false,
    };
    let (mut unlit, mut faults) = (0, Vec::new());
    for (face, surface) in read::by_key(bsp, bytes, model.surfaces)?.iter().enumerate() {
        match usize::try_from(surface.lightmap) {
            Ok(page) if page < pages => {}
            Ok(_) => faults.push(LightFault { face, kind: LightFaultKind::Page { page: surface.lightmap, pages } }),
            Err(_) => unlit += 1,
        }
    }
    let blocks = (0..pages).map(page).collect();
    let lump = light.hold(slot, luxels);
    let (name, lump_name) = ("", model.lump);
    light.sets.push(LightSet { name, lump_name, lump, faces: None, form, is_pages: true, blocks, unlit, faults });
    Ok(())
}
