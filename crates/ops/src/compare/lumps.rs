//! Content of lumps: records, light, textures, visibility, collision models, and bytes that are read as nothing else.

use std::collections::HashMap;

use super::change::{
    BytesChange, Change, FieldChange, How, LightChange, LightDifference, RecordChange, RowChange, SolidChange,
    TextureChange, WordChange,
};
use super::models::Models;
use super::{Found, Sides};
use crate::align::{Hunk, hunks, once};
use crate::diff::longest_rise;
use bspkit::bytes::{Data, amount, differences, index};
use bspkit::content::View;
use bspkit::content::lightmap::{Block, Image, Light, LightSet, Luxel};
use bspkit::content::physics::Physics;
use bspkit::content::textures::Textures;
use bspkit::content::visibility::{VisRow, VisSet, Visibility};
use bspkit::dialect::{LightModel, LuxelForm, Row, Span};
use bspkit::record::{Cell, FlagNames, RecordInfo};

// Records of a lump, in one array or in several lists.

pub(super) fn compare_records(
    row: &Row,
    [old, new]: [&[u8]; 2],
    names: FlagNames,
    finds_moved: bool,
    found: &mut Found,
) {
    let (Ok(old_parts), Ok(new_parts)) = (row.parts(old), row.parts(new)) else { return };
    // An empty lump does not have lists.
    let known = if old_parts.len() < new_parts.len() { &new_parts } else { &old_parts };
    for (at, part) in known.iter().enumerate() {
        let (old, new) = (records(old, old_parts.get(at)), records(new, new_parts.get(at)));
        let mut list = List { name: part.list, record: part.record, cells: Vec::new(), names, found };
        let hunks = hunks(old, new, part.record.size);
        let moved = if finds_moved { moved(old, new, part.record, &hunks) } else { Moved::default() };
        hunks.iter().for_each(|hunk| list.add(old, new, hunk, &moved));
    }
}

/// Compares the records of brush models, which are found by their content and not by their numbers.
pub(super) fn compare_models(
    models: &Models,
    record: &'static RecordInfo,
    [old, new]: [&[u8]; 2],
    names: FlagNames,
    found: &mut Found,
) {
    let size = record.size;
    let pairing = models.pairing(new.len() / size);
    let stays = longest_rise(&pairing);
    let mut list = List { name: "", record, cells: Vec::new(), names, found };
    let of = |how, index, from, fields| RecordChange { how, list: "", index, count: 1, from, fields };
    let mut is_kept = vec![false; old.len() / size];
    for (index, from) in pairing.into_iter().enumerate() {
        let both = from.and_then(|from| Some((from, old.get(from * size..(from + 1) * size)?)));
        let Some((from, before)) = both else {
            list.run(of(How::Added, index, None, Vec::new()));
            continue;
        };
        is_kept[from] = true;
        let after = new.get(index * size..(index + 1) * size).unwrap_or_default();
        let elsewhere = Some(from).filter(|from| *from != index);
        if before != after {
            let fields = if list.found.has_room() { list.fields(before, after) } else { Vec::new() };
            list.run(of(How::Changed, index, elsewhere, fields));
        } else if !stays[index] {
            list.run(of(How::Moved, index, Some(from), Vec::new()));
        }
    }
    for index in (0..is_kept.len()).filter(|index| !is_kept[*index]) {
        list.run(of(How::Removed, index, None, Vec::new()));
    }
}

/// Records with the same content at another index.
#[derive(Default)]
struct Moved {
    /// For each new record the old one, if it was moved. Without any that were moved all lists are empty.
    from: Vec<Option<usize>>,
    /// The old ones.
    gone: Vec<bool>,
    /// The new ones that are in their order: records before them were added or removed.
    stays: Vec<bool>,
}

impl Moved {
    fn is_gone(&self, old: usize) -> bool {
        self.gone.get(old).is_some_and(|is_gone| *is_gone)
    }

    fn from(&self, new: usize) -> Option<usize> {
        self.from.get(new).copied().flatten()
    }

    fn stays(&self, new: usize) -> bool {
        self.stays.get(new).is_some_and(|stays| *stays) && self.from(new).is_some()
    }

    /// How many records of a hunk are listed.
    fn listed(&self, hunk: &Hunk) -> usize {
        let both = hunk.old.len().min(hunk.new.len());
        let is_changed = |at: &usize| !self.is_gone(hunk.old.start + at) && self.from(hunk.new.start + at).is_none();
        let changed = (0..both).filter(is_changed).count();
        let removed = hunk.old.clone().filter(|index| !self.is_gone(*index)).count();
        let others = hunk.new.clone().filter(|index| !self.stays(*index)).count();
        removed + others - changed
    }
}

/// Finds the records that were moved: those that occur once among the old records that differ, and once among the new
/// ones. None if that would make the list of differences longer. A record of one number is not moved: it has another
/// value.
fn moved(old: &[u8], new: &[u8], record: &RecordInfo, hunks: &[Hunk]) -> Moved {
    if record.fields.len() < 2 || hunks.is_empty() {
        return Moved::default();
    }
    let pairs = once(old, new, record.size, hunks);
    if pairs.is_empty() {
        return Moved::default();
    }
    let counts = [old, new].map(|bytes| bytes.len() / record.size);
    let mut moved = Moved { from: vec![None; counts[1]], gone: vec![false; counts[0]], stays: Vec::new() };
    for (old, new) in pairs {
        moved.from[new] = Some(old);
        moved.gone[old] = true;
    }
    moved.stays = longest_rise(&pairing(counts[1], hunks, &moved));
    let by_index = hunks.iter().map(|hunk| hunk.old.len().max(hunk.new.len())).sum::<usize>();
    let listed = hunks.iter().map(|hunk| moved.listed(hunk)).sum::<usize>();
    if listed <= by_index { moved } else { Moved::default() }
}

/// For each new record the old one: between hunks all records are equal.
fn pairing(count: usize, hunks: &[Hunk], moved: &Moved) -> Vec<Option<usize>> {
    let mut pairing = Vec::with_capacity(count);
    let mut old = 0;
    for hunk in hunks {
        pairing.extend((old..hunk.old.start).map(Some));
        pairing.extend(hunk.new.clone().map(|index| moved.from(index)));
        old = hunk.old.end;
    }
    let rest = count - pairing.len();
    pairing.extend((old..old + rest).map(Some));
    pairing
}

/// The bytes of whole records.
fn records<'b>(bytes: &'b [u8], part: Option<&Span>) -> &'b [u8] {
    part.and_then(|part| bytes.get(part.range.start..part.range.start + part.count() * part.record.size))
        .unwrap_or_default()
}

struct List<'f> {
    name: &'static str,
    record: &'static RecordInfo,
    /// The parts of a record; found when the first one differs.
    cells: Vec<Cell>,
    names: FlagNames,
    found: &'f mut Found,
}

impl List<'_> {
    fn add(&mut self, old: &[u8], new: &[u8], hunk: &Hunk, moved: &Moved) {
        let (size, list) = (self.record.size, self.name);
        let both = hunk.old.len().min(hunk.new.len());
        let [mut removed, mut added] = [Vec::new(), Vec::new()];
        for at in 0..both {
            let (from, index) = (hunk.old.start + at, hunk.new.start + at);
            if moved.is_gone(from) || moved.from(index).is_some() {
                removed.push(from);
                added.push(index);
                continue;
            }
            let [old, new] = [(old, from), (new, index)]
                .map(|(bytes, index)| bytes.get(index * size..(index + 1) * size).unwrap_or_default());
            if old == new {
                continue;
            }
            let fields = if self.found.has_room() { self.fields(old, new) } else { Vec::new() };
            self.run(RecordChange { how: How::Changed, list, index, count: 1, from: None, fields });
        }
        removed.extend(hunk.old.start + both..hunk.old.end);
        added.extend(hunk.new.start + both..hunk.new.end);
        // Moved records are listed where they are now.
        let removed = removed.into_iter().filter(|index| !moved.is_gone(*index));
        let removed = removed.map(|index| (How::Removed, index, None));
        let added = added.into_iter().filter(|index| !moved.stays(*index));
        let added = added.map(|index| match moved.from(index) {
            Some(from) => (How::Moved, index, Some(from)),
            None => (How::Added, index, None),
        });
        let mut run: Option<RecordChange> = None;
        for (how, index, from) in removed.chain(added) {
            match run.as_mut().filter(|run| {
                let (next, next_from) = (run.index + run.count, run.from.map(|from| from + run.count));
                (run.how, next, next_from) == (how, index, from)
            }) {
                Some(run) => run.count += 1,
                None => {
                    let next = RecordChange { how, list, index, count: 1, from, fields: Vec::new() };
                    run.replace(next).into_iter().for_each(|run| self.run(run));
                }
            }
        }
        run.into_iter().for_each(|run| self.run(run));
    }

    /// Adds records to which the same happened.
    fn run(&mut self, change: RecordChange) {
        self.found.count(change.how, change.count, |touched| &mut touched.records);
        self.found.add(|| Change::Record(change));
    }

    /// The fields in which two records differ.
    fn fields(&mut self, old: &[u8], new: &[u8]) -> Vec<FieldChange> {
        if self.cells.is_empty() {
            self.cells = Cell::all(self.record.fields);
        }
        let differs = |cell: &&Cell| old.get(cell.place.clone()) != new.get(cell.place.clone());
        let change = |cell: &Cell| {
            let [old, new] = [old, new].map(|record| cell.print(record, self.names));
            FieldChange { field: cell.path.clone(), old, new }
        };
        self.cells.iter().filter(differs).map(change).collect()
    }
}

// Luxels of faces and pages.

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
        _ => false,
    }
}

pub(super) fn compare_light(sides: &Sides<'_>, bytes: &[Data<'_>; 2], found: &mut Found) {
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
            add_light(found, set, block, unequal);
        }
        let gone = old_number.map(|old_number| &old.sets()[old_number]);
        for block in gone.into_iter().flat_map(LightSet::blocks).filter(|block| set.block_of(block.index()).is_none()) {
            add_light(found, set, block, Unequal::other_sizes(all(block)));
        }
    }
}

fn add_light(found: &mut Found, set: &LightSet, block: &Block, unequal: Unequal) {
    let luxels = unequal.luxels;
    if luxels > 0 {
        found.touched().luxels += luxels;
        let (name, index, is_page) = (set.name(), block.index(), set.is_pages());
        found.add(|| Change::Light(LightChange { set: name, index, is_page, luxels, by: unequal.by() }));
    }
}

fn compare_in_place(light: &Light<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let lump = found.lump.lump.clone();
    for set in light.sets().iter().filter(|set| set.lump() == lump) {
        for block in set.blocks() {
            let (start, form) = (block.bytes().start, set.form());
            let luxels = start..start + all(block) * form.bytes();
            let mut unequal = Unequal::default();
            if let (Some(old), Some(new)) = (old.get(luxels.clone()), new.get(luxels)) {
                unequal.count(old, new, form);
            }
            add_light(found, set, block, unequal);
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

// Textures in a map, and lists of their names.

/// A texture's name, and its bytes after the name.
type Texture<'t> = (Option<Vec<u8>>, Option<&'t [u8]>);

pub(super) fn compare_textures(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.textures(), sides.new.textures()) else { return };
    let all = |textures| (0..Textures::len(textures)).map(|index| texture(textures, index)).collect::<Vec<_>>();
    differ(&all(&old), &all(&new), found);
}

fn texture<'t>(textures: &'t Textures<'_>, index: usize) -> Texture<'t> {
    /// How many bytes a name has.
    const NAME: usize = 16;
    let image = textures.get(index).ok().flatten().and_then(|texture| texture.bytes().get(NAME..));
    (textures.name(index).map(<[u8]>::to_vec), image)
}

/// Compares the names of a list.
pub(super) fn compare_strings(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.texture_names(), sides.new.texture_names()) else { return };
    let [old, new] = [old, new].map(|names| names.iter().map(|name| (Some(name.name), None)).collect::<Vec<_>>());
    differ(&old, &new, found);
}

/// Compares textures by their names. What is left of both lists is the same texture under another name if it is at the
/// same place of lists of the same length, or has the same image.
fn differ(old: &[Texture<'_>], new: &[Texture<'_>], found: &mut Found) {
    let pairing = paired(old, new);
    let stays = longest_rise(&pairing);
    let mut is_kept = vec![false; old.len()];
    for (index, from) in pairing.iter().enumerate() {
        from.iter().for_each(|from| is_kept[*from] = true);
        let (before, after) = (from.and_then(|from| old.get(from)), &new[index]);
        if before == Some(after) && stays[index] {
            continue;
        }
        found.touched().textures += 1;
        found.add(|| {
            let (old, image) = before.map_or((None, None), |before| before.clone());
            let from = from.filter(|from| *from != index);
            Change::Texture(TextureChange { index, from, old, new: after.0.clone(), image: image != after.1 })
        });
    }
    for (index, (name, image)) in old.iter().enumerate().filter(|(index, _)| !is_kept[*index]) {
        found.touched().textures += 1;
        let (old, image) = (name.clone(), image.is_some());
        found.add(|| Change::Texture(TextureChange { index, from: None, old, new: None, image }));
    }
}

/// For each new texture the old one. Several of one name are paired in their order.
fn paired(old: &[Texture<'_>], new: &[Texture<'_>]) -> Vec<Option<usize>> {
    let mut known: HashMap<Option<&[u8]>, Vec<usize>> = HashMap::new();
    old.iter().enumerate().rev().for_each(|(at, (name, _))| known.entry(name.as_deref()).or_default().push(at));
    let mut pairing: Vec<Option<usize>> =
        new.iter().map(|(name, _)| known.get_mut(&name.as_deref()).and_then(Vec::pop)).collect();
    let mut is_left = vec![false; old.len()];
    known.into_values().flatten().for_each(|at| is_left[at] = true);
    if old.len() == new.len() {
        for (at, from) in pairing.iter_mut().enumerate() {
            if from.is_none() && std::mem::take(&mut is_left[at]) {
                *from = Some(at);
            }
        }
    }
    let mut images: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, image) in
        old.iter().enumerate().rev().filter(|(at, _)| is_left[*at]).filter_map(|(at, one)| Some((at, one.1?)))
    {
        images.entry(image).or_default().push(at);
    }
    for (from, (_, image)) in pairing.iter_mut().zip(new).filter(|(from, _)| from.is_none()) {
        *from = image.and_then(|image| images.get_mut(image)?.pop());
    }
    pairing
}

// Rows of visibility.

/// The most bytes of rows that are compared; beyond, the lump is compared as bytes.
const MOST_BYTES: usize = 64 << 20;

pub(super) fn compare_visibility(sides: &Sides<'_>, _: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.visibility(), sides.new.visibility()) else { return };
    let row_size = new.plain(true).bytes().len();
    if sides.is_whole && old.len() != new.len() {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (old, new) = (number(old.len()), number(new.len()));
        found.add(|| Change::Word(WordChange { name: "leafs or clusters", old, new }));
    }
    let is_alike = old.len() == new.len() && old.plain(true).bytes().len() == row_size;
    if !is_alike || new.len().saturating_mul(row_size).saturating_mul(new.sets().len()) > MOST_BYTES {
        return;
    }
    let (mut before, mut after) = (Rows::new(&old), Rows::new(&new));
    for (set, index) in new.sets().iter().flat_map(|set| (0..new.len()).map(|index| (*set, index))) {
        let (before, after) = (before.get(set, index), after.get(set, index));
        if before == after {
            continue;
        }
        found.touched().rows += 1;
        found.add(|| {
            let (gained, lost) = match (before, after) {
                (Some(before), Some(after)) => (only(after, before), only(before, after)),
                // The row cannot be read in one of the maps.
                _ => (0, 0),
            };
            Change::Row(RowChange { set, index, gained, lost })
        });
    }
}

/// The rows of a map, one after the other. Neighbors often share a row, which is read once.
struct Rows<'v> {
    visibility: &'v Visibility<'v>,
    start: Option<usize>,
    row: Option<VisRow>,
}

impl<'v> Rows<'v> {
    fn new(visibility: &'v Visibility<'v>) -> Self {
        Rows { visibility, start: None, row: None }
    }

    /// A row; without one everything is visible. `None` if it cannot be read.
    fn get(&mut self, set: VisSet, index: usize) -> Option<&VisRow> {
        let start = self.visibility.start(set, index).ok().flatten();
        if start.is_none() || start != self.start {
            let row = self.visibility.row(set, index).ok();
            self.row = row.map(|row| row.unwrap_or_else(|| self.visibility.plain(true)));
            self.start = start;
        }
        self.row.as_ref()
    }
}

/// How many bits only the first row has.
fn only(row: &VisRow, other: &VisRow) -> usize {
    let bits = row.bytes().iter().zip(other.bytes()).map(|(row, other)| row & !other);
    bits.map(|byte| index(byte.count_ones())).sum()
}

// Collision models of brush models.

pub(super) fn compare_physics(sides: &Sides<'_>, [old, new]: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (Physics::parse(old.clone()), Physics::parse(new.clone())) else { return };
    let model = |physics: &Physics<'_>, index: usize| physics.model(index).unwrap_or(-1);
    let models = sides.models();
    // The number that the model of an old entry has now.
    let now = |index: usize| match (model(&old, index), models) {
        (number @ 0.., Some(models)) => models.of(usize::try_from(number).ok()?)?.try_into().ok(),
        (number, _) => Some(number),
    };
    // Several entries for one model are matched in their order.
    let mut known: HashMap<i32, Vec<usize>> = HashMap::new();
    let (mut gone, mut renumbered) = (Vec::new(), Vec::new());
    for index in (0..old.len()).rev() {
        match now(index) {
            Some(number) => known.entry(number).or_default().push(index),
            None => gone.push(index),
        }
    }
    let whole = |how: How, index: usize, model: i32| {
        let (from, solids, text) = Default::default();
        SolidChange { how, index, model, from, solids, text }
    };
    for index in 0..new.len() {
        let number = model(&new, index);
        let Some(before) = known.get_mut(&number).and_then(Vec::pop) else {
            add_physics(found, whole(How::Added, index, number));
            continue;
        };
        let (solids, text) = (solids(&old, before, &new, index), old.text(before).ok() != new.text(index).ok());
        let from = Some(model(&old, before)).filter(|from| *from != number);
        if text || !solids.is_empty() {
            let how = How::Changed;
            add_physics(found, SolidChange { how, index, model: number, from, solids, text });
        } else if let (Some(models), Some(from)) = (models, from.and_then(|from| usize::try_from(from).ok())) {
            renumbered.extend(usize::try_from(number).ok().and_then(|number| models.numbers(from, number)));
        }
    }
    gone.extend(known.into_values().flatten());
    gone.sort_unstable();
    gone.into_iter().for_each(|index| add_physics(found, whole(How::Removed, index, model(&old, index))));
    found.models(renumbered);
}

fn add_physics(found: &mut Found, change: SolidChange) {
    found.count(change.how, 1, |touched| &mut touched.solids);
    found.add(|| Change::Solid(change));
}

/// The solids that differ, also those that only one of the models has. Without any if they cannot be read.
fn solids(old: &Physics<'_>, before: usize, new: &Physics<'_>, index: usize) -> Vec<usize> {
    let (Ok(mut old), Ok(mut new)) = (old.solids(before), new.solids(index)) else { return Vec::new() };
    let both = std::iter::from_fn(|| match (old.next(), new.next()) {
        (None, None) => None,
        (old, new) => Some(old != new),
    });
    both.enumerate().filter(|(_, differs)| *differs).map(|(index, _)| index).collect()
}

// Bytes that are read as nothing else.

pub(super) fn compare_bytes([old, new]: &[Data<'_>; 2], found: &mut Found) {
    if old.len() == new.len() {
        for range in differences(old, new) {
            found.touched().bytes += range.len();
            found.add(|| Change::Bytes(BytesChange { old: range.len(), range }));
        }
        return;
    }
    // Bytes were added or removed: everything between the equal start and the equal end.
    let start = differences(old, new).next().map_or(old.len().min(new.len()), |range| range.start);
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (range, old) = (start..new.len() - end, old.len() - end - start);
    found.touched().bytes += range.len().max(old);
    found.add(|| Change::Bytes(BytesChange { range, old }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_are_paired_by_name() {
        let list = |names: &str| {
            let one = |name: char| (Some(vec![name as u8]), Some(&b"image"[..0]));
            names.chars().map(one).collect::<Vec<_>>()
        };
        let paired = |old, new| paired(&list(old), &list(new));
        assert_eq!(paired("abcd", "bcd"), [Some(1), Some(2), Some(3)]);
        assert_eq!(paired("abcd", "axcd"), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(paired("aab", "ab"), [Some(0), Some(2)]);
        let other: Vec<Texture<'_>> = vec![(Some(b"x".to_vec()), None), (Some(b"a".to_vec()), None)];
        assert_eq!(super::paired(&[(Some(b"a".to_vec()), None)], &other), [None, Some(0)]);
    }
}
