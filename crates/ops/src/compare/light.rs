//! Luxels of faces and pages.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::change::{Change, How, LightChange, LightDifference};
use super::lumps::{self, compare_bytes_at};
use super::{Found, Sides};
use bspkit::Bsp;
use bspkit::bytes::{Data, amount};
use bspkit::content::View;
use bspkit::content::lightmap::{Block, Image, Light, LightSet, Luxel};
use bspkit::dialect::{LightModel, LuxelForm};
use bspkit::record::{Cell, Meaning};

/// The light of both maps.
pub(super) struct Both<'s> {
    old: View<Light<'s>>,
    new: View<Light<'s>>,
}

impl<'s> Both<'s> {
    pub(super) fn read(old: &Bsp<'s>, new: &Bsp<'s>) -> Option<Self> {
        Some(Both { old: old.light().ok()?, new: new.light().ok()? })
    }
}

/// Whether a lump holds light.
pub(super) fn is_light(model: LightModel, lump: &str) -> bool {
    match model {
        LightModel::Faces(model) => model.lumps.iter().any(|lumps| lumps.light == lump),
        LightModel::Pages(model) => model.lump == lump,
        _ => false,
    }
}

pub(super) fn compare_light(sides: &Sides<'_>, bytes: &[Data<'_>; 2], found: &mut Found) {
    // A draft that edits light knows where it is, and each face has it at the same place as before.
    if let Some(light) = sides.open.light.filter(|_| bytes[0].len() == bytes[1].len()) {
        return compare_in_place(light, bytes, found);
    }
    let Some(Both { old, new }) = sides.lights() else { return };
    let lump = found.lump.lump.clone();
    let (mut counted, mut gone) = (Counted::default(), Counted::default());
    for (number, set) in new.sets().iter().enumerate().filter(|(_, set)| set.lump() == lump) {
        let old_number = number_of(old, set);
        let faces = sides.followed().filter(|_| !set.is_pages()).and_then(|all| all.list(set.faces(), ""));
        let mut is_seen = vec![false; old_number.map_or(0, |set| old.sets()[set].blocks().len())];
        for (at, block) in set.blocks().iter().enumerate() {
            let from = faces.as_ref().map_or(Some(block.index()), |faces| faces.before(block.index()));
            let before = old_number.and_then(|set| Some((set, old.sets()[set].block_of(from?)?)));
            let (how, unequal) = match before {
                Some((old_set, old_at)) => {
                    is_seen[old_at] = true;
                    (How::Changed, differing(old, [old_set, old_at], new, [number, at], &mut counted))
                }
                None => (How::Added, Unequal::other_sizes(all(block), luxels(set, block), set.form(), &mut counted)),
            };
            add_light(found, set, block, how, unequal);
        }
        let before = old_number.into_iter().flat_map(|number| old.sets()[number].blocks());
        for (block, _) in before.zip(is_seen).filter(|(_, is_seen)| !is_seen) {
            let unequal = Unequal::other_sizes(all(block), luxels(set, block), set.form(), &mut gone);
            add_light(found, set, block, How::Removed, unequal);
        }
    }
}

/// Adds the bytes that are not luxels, where all light is at the same places, or the bytes that no face has, where the
/// light of all faces is the same in the same order. Otherwise it does nothing.
pub(super) fn compare_rest(sides: &Sides<'_>, [old, new]: [&[u8]; 2], found: &mut Found) {
    let Some(Both { old: before, new: after }) = sides.lights() else { return };
    let lump = found.lump.lump.clone();
    let luxels = [before, after].map(|light| {
        let sets = light.sets().iter().filter(|set| set.lump() == lump);
        sets.flat_map(|set| set.blocks().iter().map(|block| luxels(set, block))).collect::<Vec<_>>()
    });
    if old.len() == new.len() && luxels[0] == luxels[1] && !luxels[0].is_empty() {
        let [_, luxels] = luxels;
        return lumps::compare_rest([old, new], luxels, found);
    }
    let [before, after] = [(before, old), (after, new)].map(|(light, bytes)| Rest::of(light, &lump, bytes));
    if before.light != after.light || before.light.is_empty() {
        return;
    }
    let places: BTreeSet<usize> = before.gaps.keys().chain(after.gaps.keys()).copied().collect();
    let mut passed = 0;
    for place in places {
        let gap = |rest: &Rest| rest.gaps.get(&place).cloned();
        let (gone, come) = (gap(&before).unwrap_or(0..0), gap(&after));
        // Where the new map has no such bytes, the change is where they would be.
        let come = come.unwrap_or(place + passed..place + passed);
        passed += come.len();
        let own = [(old, gone), (new, come.clone())].map(|(bytes, range)| bytes.get(range).unwrap_or_default());
        if own[0] != own[1] {
            compare_bytes_at(own, come.start, found);
        }
    }
}

/// The bytes of a lump that no face has, by how many bytes of light are before them.
struct Rest {
    gaps: BTreeMap<usize, Range<usize>>,
    light: Vec<u8>,
}

impl Rest {
    fn of(light: &Light<'_>, lump: &str, bytes: &[u8]) -> Self {
        let sets = light.sets().iter().filter(|set| set.lump() == lump);
        let mut ranges: Vec<_> = sets.flat_map(LightSet::blocks).map(Block::whole).collect();
        ranges.retain(|range| !range.is_empty());
        ranges.sort_by_key(|range| range.start);
        ranges.push(bytes.len()..bytes.len());
        let (mut rest, mut at) = (Rest { gaps: BTreeMap::new(), light: Vec::new() }, 0);
        for range in ranges {
            if range.start > at {
                rest.gaps.insert(rest.light.len(), at..range.start);
            }
            let own = range.start.max(at)..range.end.min(bytes.len());
            rest.light.extend(bytes.get(own).unwrap_or_default());
            at = at.max(range.end);
        }
        rest
    }
}

/// The number of the set of the old map that another set is compared with.
fn number_of(old: &Light<'_>, set: &LightSet) -> Option<usize> {
    old.sets().iter().position(|other| other.name() == set.name() && other.lump() == set.lump())
}

fn add_light(found: &mut Found, set: &LightSet, block: &Block, how: How, unequal: Unequal) {
    let luxels = unequal.luxels;
    if luxels > 0 {
        found.touched().luxels += unequal.fresh;
        let (name, index, is_page) = (set.name(), block.index(), set.is_pages());
        found.add(|| Change::Light(LightChange { how, set: name, index, is_page, luxels, by: unequal.by() }));
    }
}

fn compare_in_place(light: &Light<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let lump = found.lump.lump.clone();
    let mut counted = Counted::default();
    for set in light.sets().iter().filter(|set| set.lump() == lump) {
        for block in set.blocks() {
            let (luxels, form) = (luxels(set, block), set.form());
            let (start, mut unequal) = (luxels.start, Unequal::default());
            if let (Some(old), Some(new)) = (old.get(luxels.clone()), new.get(luxels)) {
                unequal.count([old, new], start, form, &mut counted);
            }
            add_light(found, set, block, How::Changed, unequal);
        }
    }
}

/// The bytes of a block's luxels in its lump.
fn luxels(set: &LightSet, block: &Block) -> Range<usize> {
    let start = block.bytes().start;
    start..start + all(block) * set.form().bytes()
}

/// The styles and planes of a block's images.
fn images(block: &Block) -> impl Iterator<Item = (usize, usize)> {
    let planes = block.planes();
    (0..block.styles().len()).flat_map(move |style| (0..planes).map(move |plane| (style, plane)))
}

/// The luxels of a lump that are counted, by where they begin: several faces may show the same ones.
#[derive(Default)]
struct Counted(Vec<u64>);

impl Counted {
    /// Whether it was not counted before.
    fn add(&mut self, at: usize) -> bool {
        let (word, bit) = (at / 64, 1 << (at % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}

/// The luxels of a block that differ.
#[derive(Default)]
struct Unequal {
    luxels: usize,
    /// Those of them that no other face has shown.
    fresh: usize,
    /// The largest difference, and all of them added up.
    largest: u8,
    sum: usize,
    is_of_other_size: bool,
}

impl Unequal {
    /// Luxels without others to compare with, and where those of the lump are.
    fn other_sizes(luxels: usize, bytes: Range<usize>, form: LuxelForm, counted: &mut Counted) -> Self {
        let own = bytes.len() / form.bytes().max(1);
        let fresh = bytes.step_by(form.bytes().max(1)).filter(|at| counted.add(*at)).count();
        Unequal { luxels, fresh: fresh + luxels.saturating_sub(own), is_of_other_size: true, ..Unequal::default() }
    }

    /// Adds the luxels of two images, of which the new one begins here.
    fn count(&mut self, [old, new]: [&[u8]; 2], start: usize, form: LuxelForm, counted: &mut Counted) {
        if old == new {
            return;
        }
        let luxels = old.chunks_exact(form.bytes()).zip(new.chunks_exact(form.bytes()));
        let luxels = luxels.zip((start..).step_by(form.bytes()));
        for ((old, new), at) in luxels.filter(|((old, new), _)| old != new) {
            self.fresh += usize::from(counted.add(at));
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
fn differing(
    old: &Light<'_>,
    [old_set, old_at]: [usize; 2],
    new: &Light<'_>,
    [set, at]: [usize; 2],
    counted: &mut Counted,
) -> Unequal {
    let (before, after) = (&old.sets()[old_set].blocks()[old_at], &new.sets()[set].blocks()[at]);
    let shape = |block: &Block| (block.size(), block.styles().len(), block.planes());
    let form = new.sets()[set].form();
    if shape(before) != shape(after) || old.sets()[old_set].form() != form {
        let own = luxels(&new.sets()[set], after);
        return Unequal::other_sizes(all(before).max(all(after)), own, form, counted);
    }
    let mut unequal = Unequal::default();
    let images = images(after).zip((after.bytes().start..).step_by((after.luxels() * form.bytes()).max(1)));
    for ((style, plane), start) in images {
        let old = old.bytes(Image { set: old_set, block: old_at, style, plane }).unwrap_or_default();
        let new = new.bytes(Image { set, block: at, style, plane }).unwrap_or_default();
        unequal.count([old, new], start, form, counted);
    }
    unequal
}

/// Whether a part of two records of a list is the place of the same light.
pub(super) fn is_at_same(sides: &Sides<'_>, list: &str, cell: &Cell, [from, index]: [usize; 2]) -> bool {
    if !matches!(cell.meaning, Meaning::Offset { .. }) {
        return false;
    }
    let Some(Both { old, new }) = sides.lights() else { return false };
    let mut sets = (0..new.sets().len()).filter(|set| new.sets()[*set].placed_by() == list).peekable();
    sets.peek().is_some()
        && sets.all(|number| {
            let set = &new.sets()[number];
            let Some(old_number) = number_of(old, set) else { return false };
            match (old.sets()[old_number].block_of(from), set.block_of(index)) {
                (Some(before), Some(at)) => {
                    let counted = &mut Counted::default();
                    differing(old, [old_number, before], new, [number, at], counted).luxels == 0
                }
                (before, at) => before == at,
            }
        })
}
