//! Light that an edit does not take along: luxels are bytes from an offset on, and how many of them a face reads
//! follows from its corners, its texture axes and its styles. An edit of these makes the face read light of others.

use std::collections::HashMap;

use super::code::LIGHT_MOVED;
use super::sink::{At, Sink};
use crate::bsp::Bsp;
use crate::content::lightmap::{Block, Light, LightSet};
use crate::dialect::{LightModel, Role};
use crate::file::SlotId;

/// The lumps from which the place and the size of light follow, apart from those of all faces.
const PLACES: [Role; 4] = [Role::TexInfo, Role::Vertexes, Role::Edges, Role::SurfEdges];

/// What a face reads: the columns and rows of its images, and their number.
type Size = ([usize; 2], usize);

/// Finds the faces that read other light after an edit of these slots.
pub(super) fn check(old: &Bsp<'_>, new: &Bsp<'_>, touched: &[SlotId], sink: &mut Sink) {
    let LightModel::Faces(model) = old.dialect().light else { return };
    let has_places = |slot: &SlotId| {
        let name = old.container().slot(*slot).map_or("", |slot| &slot.name);
        let is_of_faces = model.lumps.iter().any(|lumps| lumps.faces.contains(&name) || lumps.placed_by == Some(name));
        is_of_faces || old.role_of(*slot).is_some_and(|role| PLACES.contains(&role))
    };
    if !touched.iter().any(has_places) {
        return;
    }
    let (Ok(before), Ok(after)) = (old.light(), new.light()) else { return };
    for (index, set) in after.sets().iter().enumerate() {
        let Some(was) = before.sets().iter().position(|was| was.name() == set.name()) else { continue };
        // What is wrong with the light is also wrong with its copies.
        if set.copy_of().is_none() {
            Sides { lights: [&before, &after], sets: [was, index] }.check(sink);
        }
    }
}

/// The light of a set before and after.
struct Sides<'s, 'a> {
    lights: [&'s Light<'a>; 2],
    sets: [usize; 2],
}

impl Sides<'_, '_> {
    fn check(&self, sink: &mut Sink) {
        let [before, after] = [0, 1].map(|side| &self.lights[side].sets()[self.sets[side]]);
        match self.luxels(0) == self.luxels(1) {
            true => check_places(before, after, sink),
            false => self.check_faces(before, after, sink),
        }
    }

    fn luxels(&self, side: usize) -> &[u8] {
        self.lights[side].luxels(self.sets[side])
    }

    /// Where the light is edited too, a face is at fault if it reads the old light with another size.
    fn check_faces(&self, before: &LightSet, after: &LightSet, sink: &mut Sink) {
        if before.face_count() != after.face_count() {
            return;
        }
        for block in after.blocks() {
            let Some(was) = before.block_of(block.index()).map(|at| &before.blocks()[at]) else { continue };
            let shared = was.bytes().len().min(block.bytes().len());
            let bytes = |side, block: &Block| self.luxels(side).get(block.bytes().start..block.bytes().start + shared);
            let is_same_place = was.bytes().start == block.bytes().start && bytes(0, was) == bytes(1, block);
            if is_same_place && size(was) != size(block) {
                resized(after, block, size(was), sink);
            }
        }
    }
}

/// Where the light is as it was, it has the sizes that faces had: each face begins where light of its size did.
fn check_places(before: &LightSet, after: &LightSet, sink: &mut Sink) {
    let mut sizes: HashMap<usize, Vec<Size>> = HashMap::new();
    for block in before.blocks() {
        let known = sizes.entry(block.bytes().start).or_default();
        // Light at one place has one size in maps of compilers.
        if known.len() < MOST_SIZES && !known.contains(&size(block)) {
            known.push(size(block));
        }
    }
    for block in after.blocks() {
        match sizes.get(&block.bytes().start) {
            Some(known) if known.contains(&size(block)) || known.len() >= MOST_SIZES => {}
            Some(known) => resized(after, block, known[0], sink),
            None => {
                let at = At::lump(after.faces()).record(block.index());
                sink.add(&LIGHT_MOVED, at, || {
                    format!(
                        "its light begins at {}, where that of no lit face began: it may show light of others",
                        block.bytes().start
                    )
                });
            }
        }
    }
}

/// The most sizes that are compared for one place.
const MOST_SIZES: usize = 16;

fn size(block: &Block) -> Size {
    (block.size(), block.styles().len() * block.planes())
}

fn resized(set: &LightSet, block: &Block, (was, old_images): Size, sink: &mut Sink) {
    let at = At::lump(set.faces()).record(block.index());
    let (is, images) = size(block);
    let of = |count: usize| if count == 1 { String::new() } else { format!(" in {count} images") };
    sink.add(&LIGHT_MOVED, at, || {
        format!(
            "it has {} by {} luxels{}, and its light at {} was made for {} by {}{}: it shows light of others",
            is[0],
            is[1],
            of(images),
            block.bytes().start,
            was[0],
            was[1],
            of(old_images)
        )
    });
}
