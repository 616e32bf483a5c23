//! Luxels of faces and pages.

use std::ops::Range;

use super::change::{Change, LightChange, LightDifference};
use super::{Found, Sides};
use crate::bytes::{Data, amount};
use crate::content::lens::View;
use crate::content::lightmap::{Block, Image, Light, LightSet, Luxel};
use crate::dialect::{LightModel, LuxelForm};

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

pub(super) fn compare(sides: &Sides<'_>, bytes: &[Data<'_>; 2], found: &mut Found) {
    // A draft that edits light knows where it is, and each face has it at the same place as before.
    if let Some(light) = sides.open.light.filter(|_| bytes[0].len() == bytes[1].len()) {
        return compare_in_place(light, bytes, found);
    }
    let both =
        sides.both_lights.get_or_init(|| Some(Both { old: sides.old.light().ok()?, new: sides.new.light().ok()? }));
    let Some(Both { old, new }) = both else { return };
    let lump = found.lump.lump.clone();
    for (number, set) in new.sets().iter().enumerate().filter(|(_, set)| set.lump() == lump) {
        let old_number = old.sets().iter().position(|other| other.name() == set.name() && other.lump() == set.lump());
        for (at, block) in set.blocks().iter().enumerate() {
            let before = old_number.and_then(|set| Some((set, old.sets()[set].block_of(block.index())?)));
            let unequal = match before {
                Some((old_set, old_at)) => differing(old, [old_set, old_at], new, [number, at]),
                None => Unequal::other_sizes(all(block)),
            };
            add(found, set, block, unequal);
        }
        let gone = old_number.map(|old_number| &old.sets()[old_number]);
        for block in gone.into_iter().flat_map(LightSet::blocks).filter(|block| set.block_of(block.index()).is_none()) {
            add(found, set, block, Unequal::other_sizes(all(block)));
        }
    }
}

fn add(found: &mut Found, set: &LightSet, block: &Block, unequal: Unequal) {
    let luxels = unequal.luxels;
    if luxels > 0 {
        found.touched().luxels += luxels;
        let (name, index, is_page) = (set.name(), block.index(), set.is_pages());
        found.add(|| Change::Light(LightChange { set: name, index, is_page, luxels, by: unequal.by() }));
    }
}

fn compare_in_place(light: &Light<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let lump = found.lump.lump.clone();
    for (number, set) in light.sets().iter().enumerate().filter(|(_, set)| set.lump() == lump) {
        for (at, block) in set.blocks().iter().enumerate() {
            let images = images(block).map(|(style, plane)| Image { set: number, block: at, style, plane });
            let ranges = images.filter_map(|image| light.range(image));
            let of = |range: Range<usize>| Some((old.get(range.clone())?, new.get(range)?));
            let mut unequal = Unequal::default();
            ranges.filter_map(of).for_each(|(old, new)| unequal.count(old, new, set.form()));
            add(found, set, block, unequal);
        }
    }
}

/// The styles and planes of a block's images.
fn images(block: &Block) -> impl Iterator<Item = (usize, usize)> {
    let planes = block.planes();
    (0..block.styles().len()).flat_map(move |style| (0..planes).map(move |plane| (style, plane)))
}

/// The luxels of a block that differ.
#[derive(Default)]
struct Unequal {
    luxels: usize,
    /// The largest difference, and all of them added up.
    largest: u8,
    sum: usize,
    is_of_other_size: bool,
}

impl Unequal {
    fn other_sizes(luxels: usize) -> Self {
        Unequal { luxels, is_of_other_size: true, ..Unequal::default() }
    }

    /// Adds the luxels of two images.
    fn count(&mut self, old: &[u8], new: &[u8], form: LuxelForm) {
        if old == new {
            return;
        }
        let luxels = old.chunks_exact(form.bytes()).zip(new.chunks_exact(form.bytes()));
        for (old, new) in luxels.filter(|(old, new)| old != new) {
            let [old, new] = [old, new].map(|bytes| Luxel::read(form, bytes).shown());
            let by = old.into_iter().zip(new).map(|(old, new)| old.abs_diff(new)).max().unwrap_or(0);
            self.luxels += 1;
            self.largest = self.largest.max(by);
            self.sum += usize::from(by);
        }
    }

    fn by(&self) -> Option<LightDifference> {
        let mean = amount(self.sum) / amount(self.luxels.max(1));
        (!self.is_of_other_size).then_some(LightDifference { largest: self.largest, mean })
    }
}

/// How many luxels the images of a block have.
fn all(block: &Block) -> usize {
    block.luxels() * block.styles().len() * block.planes()
}

/// How many luxels of a block differ; all of them if its images have other sizes or styles.
fn differing(old: &Light<'_>, [old_set, old_at]: [usize; 2], new: &Light<'_>, [set, at]: [usize; 2]) -> Unequal {
    let (before, after) = (&old.sets()[old_set].blocks()[old_at], &new.sets()[set].blocks()[at]);
    let shape = |block: &Block| (block.size(), block.styles().len(), block.planes());
    let form = new.sets()[set].form();
    if shape(before) != shape(after) || old.sets()[old_set].form() != form {
        return Unequal::other_sizes(all(before).max(all(after)));
    }
    let mut unequal = Unequal::default();
    for (style, plane) in images(after) {
        let old = old.bytes(Image { set: old_set, block: old_at, style, plane }).unwrap_or_default();
        let new = new.bytes(Image { set, block: at, style, plane }).unwrap_or_default();
        unequal.count(old, new, form);
    }
    unequal
}
