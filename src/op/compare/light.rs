//! Luxels of faces and pages.

use super::change::{Change, LightChange};
use super::{Found, Sides};
use crate::bytes::Data;
use crate::content::lens::View;
use crate::content::lightmap::{Block, Image, Light, LightSet};
use crate::dialect::LightModel;

/// The light of both maps.
pub(super) struct Both<'s> {
    old: View<Light<'s>>,
    new: View<Light<'s>>,
}

/// Whether a lump holds light.
pub(super) fn is_light(model: LightModel, lump: &str) -> bool {
    match model {
        LightModel::Faces(model) => model.lumps.iter().any(|lumps| lumps.light == lump),
        LightModel::Pages(model) => model.lump == lump,
    }
}

pub(super) fn compare(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let both = sides.light.get_or_init(|| Some(Both { old: sides.old.light().ok()?, new: sides.new.light().ok()? }));
    let Some(Both { old, new }) = both else { return };
    let lump = found.lump.lump.clone();
    for (number, set) in new.sets().iter().enumerate().filter(|(_, set)| set.lump() == lump) {
        let old_number = old.sets().iter().position(|other| other.name() == set.name() && other.lump() == set.lump());
        for (at, block) in set.blocks().iter().enumerate() {
            let before = old_number.and_then(|set| Some((set, old.sets()[set].block_of(block.index())?)));
            let luxels = match before {
                Some((old_set, old_at)) => differing(old, [old_set, old_at], new, [number, at]),
                None => all(block),
            };
            add(found, set, block, luxels);
        }
        let gone = old_number.map(|old_number| &old.sets()[old_number]);
        for block in gone.into_iter().flat_map(LightSet::blocks).filter(|block| set.block_of(block.index()).is_none()) {
            add(found, set, block, all(block));
        }
    }
}

fn add(found: &mut Found, set: &LightSet, block: &Block, luxels: usize) {
    if luxels > 0 {
        found.touched().luxels += luxels;
        let (name, index, is_page) = (set.name(), block.index(), set.is_pages());
        found.add(|| Change::Light(LightChange { set: name, index, is_page, luxels }));
    }
}

/// How many luxels the images of a block have.
fn all(block: &Block) -> usize {
    block.luxels() * block.styles().len() * block.planes()
}

/// How many luxels of a block differ; all of them if its images have other sizes or styles.
fn differing(old: &Light<'_>, [old_set, old_at]: [usize; 2], new: &Light<'_>, [set, at]: [usize; 2]) -> usize {
    let (before, after) = (&old.sets()[old_set].blocks()[old_at], &new.sets()[set].blocks()[at]);
    let shape = |block: &Block| (block.size(), block.styles().len(), block.planes());
    let form = new.sets()[set].form();
    if shape(before) != shape(after) || old.sets()[old_set].form() != form {
        return all(before).max(all(after));
    }
    let images = (0..after.styles().len()).flat_map(|style| (0..after.planes()).map(move |plane| (style, plane)));
    let count = |(style, plane)| {
        let old = old.bytes(Image { set: old_set, block: old_at, style, plane }).unwrap_or_default();
        let new = new.bytes(Image { set, block: at, style, plane }).unwrap_or_default();
        let luxels = old.chunks_exact(form.bytes()).zip(new.chunks_exact(form.bytes()));
        if old == new { 0 } else { luxels.filter(|(old, new)| old != new).count() }
    };
    images.map(count).sum()
}
