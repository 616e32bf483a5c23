//! Light in pages, and the place of each surface on them.

use super::block::Block;
use super::fault::{LightFault, LightFaultKind};
use super::{Light, LightSet, read};
use crate::bsp::Bsp;
use crate::bytes::integer;
use crate::content::lens::Reader;
use crate::dialect::{Averages, LightModel, LitSurface, LuxelForm, PageLight};
use crate::error::Result;

/// The page of a surface's light, and the smallest rectangle around its corners there.
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
    /// The page's number, in the lump or among the files beside the map.
    pub page: usize,
    /// Column and row of its first luxel, on a page of the lump's size.
    pub at: [usize; 2],
    /// Columns and rows.
    pub size: [usize; 2],
}

impl<'a> Bsp<'a> {
    /// The surfaces that are lit by pages, with their place on them; empty for maps without pages.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn surface_light(&self) -> Result<Vec<SurfaceLight>> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(Vec::new()) };
        let from = Reader::of(self);
        let corners = read::records_of(&from, model.vertexes.lump, model.vertexes.record)?;
        let mut corners = corners.chunks_exact(model.vertexes.record.size).map(model.vertexes.read);
        let corners: Vec<_> = std::iter::from_fn(|| corners.next().flatten()).collect();
        let mut found = Vec::new();
        for (index, surface) in surfaces(&from, model)?.into_iter().enumerate() {
            let (first, count) = (usize::try_from(surface.first_vertex), usize::try_from(surface.vertex_count));
            let (Ok(first), Ok(count)) = (first, count) else { continue };
            let own = corners.get(first.min(corners.len())..first.saturating_add(count).min(corners.len()));
            for (style, page) in surface.pages.into_iter().enumerate() {
                let Ok(page) = usize::try_from(page) else { continue };
                let corners = own.unwrap_or_default().iter().map(|corner| corner[style]);
                if let Some((at, size)) = around(corners, model.size) {
                    found.push(SurfaceLight { surface: index, page, at, size });
                }
            }
        }
        Ok(found)
    }

    /// The names of the light files that the map's surfaces need because their page is not in the map. The files are in
    /// a folder beside the map that has the map's name.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn light_files(&self) -> Result<Vec<String>> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(Vec::new()) };
        if self.slot(model.lump).is_ok_and(|slot| slot.length != 0) {
            return Ok(Vec::new());
        }
        let surfaces = surfaces(&Reader::of(self), model)?;
        let pages = surfaces.iter().flat_map(|surface| surface.pages);
        let mut pages: Vec<u16> = pages.filter_map(|page| u16::try_from(page).ok()).collect();
        pages.sort_unstable();
        pages.dedup();
        let (before, after) = model.files;
        Ok(pages.into_iter().map(|page| format!("{before}{page:04}{after}")).collect())
    }
}

/// The fields of every surface that light depends on.
fn surfaces(from: &Reader<'_, '_>, model: &PageLight) -> Result<Vec<LitSurface>> {
    let form = &model.surfaces;
    let records = read::records_of(from, form.lump, form.record)?;
    Ok(records.chunks_exact(form.record.size).filter_map(form.read).collect())
}

/// The range of luxels of corners whose coordinates are from 0 to 1.
fn around(corners: impl Iterator<Item = [f32; 2]> + Clone, page: usize) -> Option<([usize; 2], [usize; 2])> {
    let size = f32::from(u16::try_from(page).ok()?);
    let (mut at, mut extent) = ([0; 2], [0; 2]);
    for axis in 0..2 {
        let values = corners.clone().map(|corner| (corner[axis] * size).clamp(0.0, size));
        let least = values.clone().fold(f32::INFINITY, f32::min);
        let most = values.fold(f32::NEG_INFINITY, f32::max);
        at[axis] = usize::try_from(integer(least.floor())?).ok()?.min(page - 1);
        extent[axis] = usize::try_from(integer(most.ceil())?).ok()?.saturating_sub(at[axis]).max(1);
    }
    Some((at, extent))
}

pub(super) fn read<'a>(from: &Reader<'_, 'a>, model: &PageLight, light: &mut Light<'a>) -> Result<()> {
    let slot = from.slot(model.lump)?;
    let luxels = from.bytes(slot)?;
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
    for (face, surface) in surfaces(from, model)?.iter().enumerate() {
        let is_missing = |page: &i32| usize::try_from(*page).is_ok_and(|page| page >= pages);
        if let Some(page) = surface.pages.into_iter().find(is_missing) {
            faults.push(LightFault { face, kind: LightFaultKind::Page { page, pages } });
        } else if surface.pages.iter().all(|page| *page < 0) {
            unlit += 1;
        }
    }
    let blocks = (0..pages).map(page).collect();
    let lump = light.hold(from, slot, luxels);
    let (name, lump_name) = ("", model.lump);
    light.sets.push(LightSet {
        name,
        lump_name,
        faces_name: model.surfaces.lump,
        lump,
        faces: None,
        form,
        copy_of: None,
        is_pages: true,
        blocks,
        unlit,
        faults,
    });
    Ok(())
}
