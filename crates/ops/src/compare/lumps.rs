//! Content of lumps: records, textures, visibility, collision models, and bytes that are read as nothing else.

use std::collections::HashMap;
use std::ops::Range;

use super::change::{
    BytesChange, Change, FieldChange, How, NumbersChange, RecordChange, RowChange, SolidChange, TextureChange,
    WordChange,
};
use super::models::Models;
use super::{Found, Sides};
use super::{followed, light};
use crate::align::{Hunk, hunks, once};
use crate::diff::longest_rise;
use bspkit::bytes::{Data, differences, index};
use bspkit::content::physics::Physics;
use bspkit::content::textures::Textures;
use bspkit::content::visibility::{VisRow, VisSet, Visibility};
use bspkit::dialect::{Row, Span};
use bspkit::record::{Cell, RecordInfo, Shape, Text};

// Records of a lump, in one array or in several lists.

pub(super) fn compare_records(sides: &Sides<'_>, row: &Row, [old, new]: [&[u8]; 2], found: &mut Found) {
    let (Ok(old_parts), Ok(new_parts)) = (row.parts(old), row.parts(new)) else { return };
    // An empty lump does not have lists.
    let known = if old_parts.len() < new_parts.len() { &new_parts } else { &old_parts };
    for (at, part) in known.iter().enumerate() {
        let (old, new) = (records(old, old_parts.get(at)), records(new, new_parts.get(at)));
        let followed = sides.followed().and_then(|all| all.list(&found.lump.lump, part.list));
        let mut list = List::new(part.list, part.record, sides, found);
        let keys = followed.as_ref().map(followed::List::keys);
        let (keys, size) = match &keys {
            Some(keys) => ([&keys[0][..], &keys[1]], followed::KEY),
            None => ([old, new], part.record.size),
        };
        let hunks = hunks(keys[0], keys[1], size);
        let mut moved = Moved::default();
        // A record of one number is not moved: it has another value.
        if sides.is_whole && part.record.fields.len() > 1 {
            moved = self::moved(keys, size, &hunks);
        }
        let pairs = followed.as_ref().map(|_| pairing(new.len() / part.record.size, &hunks, &moved));
        for (index, from) in pairs.iter().flatten().enumerate() {
            if let (Some(from), Some(followed)) = (from, &followed) {
                list.pair([old, new], [*from, index], followed, &mut moved);
            }
        }
        hunks.iter().for_each(|hunk| list.add(old, new, hunk, &moved));
        list.numbers();
    }
}

/// Compares the records of brush models, which are found by their content and not by their numbers.
pub(super) fn compare_models(
    sides: &Sides<'_>,
    models: &Models,
    record: &'static RecordInfo,
    [old, new]: [&[u8]; 2],
    found: &mut Found,
) {
    let size = record.size;
    let followed = sides.followed().and_then(|all| all.list(&found.lump.lump, ""));
    let pairing = models.pairing(new.len() / size);
    let stays = longest_rise(&pairing);
    let mut list = List::new("", record, sides, found);
    let of =
        |how, index, from, fields| RecordChange { how, list: "", index, count: 1, from, fields, names: Vec::new() };
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
        let expected = followed.as_ref().and_then(|list| list.followed(before));
        let is_other = before != after;
        let before = expected.as_deref().unwrap_or(before);
        if before == after && is_other {
            list.followed += 1;
        } else if before != after {
            let fields = if list.found.has_room() { list.fields(before, after) } else { Vec::new() };
            list.run(of(How::Changed, index, elsewhere, fields));
        } else if !stays[index] {
            list.run(of(How::Moved, index, Some(from), Vec::new()));
        }
    }
    for index in (0..is_kept.len()).filter(|index| !is_kept[*index]) {
        list.run(of(How::Removed, index, None, Vec::new()));
    }
    list.numbers();
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

    /// Says that a new record is listed in another way.
    fn is_listed(&mut self, new: usize) {
        self.stays.get_mut(new).into_iter().for_each(|stays| *stays = true);
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
/// ones. None if that would make the list of differences longer.
fn moved([old, new]: [&[u8]; 2], size: usize, hunks: &[Hunk]) -> Moved {
    let pairs = once(old, new, size, hunks);
    if pairs.is_empty() {
        return Moved::default();
    }
    let counts = [old, new].map(|bytes| bytes.len() / size);
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

/// How many names of records that only one map has are listed.
const MOST_NAMES: usize = 5;

struct List<'f, 's> {
    name: &'static str,
    record: &'static RecordInfo,
    /// The parts of a record; found when the first one differs.
    cells: Vec<Cell>,
    sides: &'f Sides<'s>,
    found: &'f mut Found,
    /// How many records differ only in numbers, which follow what they name.
    followed: usize,
}

impl<'f, 's> List<'f, 's> {
    fn new(name: &'static str, record: &'static RecordInfo, sides: &'f Sides<'s>, found: &'f mut Found) -> Self {
        List { name, record, cells: Vec::new(), sides, found, followed: 0 }
    }

    /// Adds what differs in a record that is known to be in both maps.
    fn pair(&mut self, bytes: [&[u8]; 2], [from, index]: [usize; 2], followed: &followed::List<'_>, moved: &mut Moved) {
        let size = self.record.size;
        let [old, new] = [(bytes[0], from), (bytes[1], index)]
            .map(|(bytes, index)| bytes.get(index * size..(index + 1) * size).unwrap_or_default());
        // A number that stayed names another record now, if what it named moved.
        if old == new && !followed.names_moved {
            return;
        }
        let expected = followed.followed(old);
        let before = expected.as_deref().unwrap_or(old);
        if before == new {
            self.followed += usize::from(old != new);
            return;
        }
        let (sides, has_room) = (self.sides, self.found.has_room());
        // Numbers that follow what they name are those of the new map.
        let own = [usize::from(expected.is_some()), 1];
        let list = followed.name();
        let differ = self.differ(before, new).filter(|cell| !light::is_at_same(sides, list, cell, [from, index]));
        let mut differ = differ.peekable();
        let is_followed = differ.peek().is_none();
        let fields = differ.filter(|_| has_room).map(|cell| change(cell, before, new, sides, own)).collect();
        if is_followed {
            self.followed += 1;
            return;
        }
        let from = Some(from).filter(|from| *from != index);
        self.run(RecordChange { how: How::Changed, list: self.name, index, count: 1, from, fields, names: Vec::new() });
        moved.is_listed(index);
    }

    /// Adds the records of which only the numbers differ, as one change.
    fn numbers(&mut self) {
        if self.followed > 0 {
            self.found.touched().numbers += self.followed;
            let change = NumbersChange { list: self.name, count: self.followed };
            self.found.lump.changes.push(Change::Numbers(change));
        }
    }

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
            self.run(RecordChange { how: How::Changed, list, index, count: 1, from: None, fields, names: Vec::new() });
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
                    let (fields, names) = (Vec::new(), Vec::new());
                    let next = RecordChange { how, list, index, count: 1, from, fields, names };
                    run.replace(next).into_iter().for_each(|run| self.named_run([old, new], run));
                }
            }
        }
        run.into_iter().for_each(|run| self.named_run([old, new], run));
    }

    /// Adds records that only one map has, with their names.
    fn named_run(&mut self, [old, new]: [&[u8]; 2], mut change: RecordChange) {
        let bytes = match change.how {
            How::Removed => old,
            How::Added => new,
            _ => return self.run(change),
        };
        self.find_cells();
        let name = self.cells.iter().find(|cell| matches!(cell.shape, Shape::Name(_)));
        if let Some(name) = name.filter(|_| self.found.has_room()) {
            let size = self.record.size;
            let records = bytes.chunks_exact(size).skip(change.index).take(change.count.min(MOST_NAMES));
            change.names = records.map(|record| name.print(record, self.sides.names())).collect();
        }
        self.run(change);
    }

    /// Adds records to which the same happened.
    fn run(&mut self, change: RecordChange) {
        self.found.count(change.how, change.count, |touched| &mut touched.records);
        self.found.add(|| Change::Record(change));
    }

    fn find_cells(&mut self) {
        if self.cells.is_empty() {
            self.cells = Cell::all(self.record.fields);
        }
    }

    /// The parts in which two records differ.
    fn differ(&mut self, old: &[u8], new: &[u8]) -> impl Iterator<Item = &Cell> {
        self.find_cells();
        self.cells.iter().filter(move |cell| old.get(cell.place.clone()) != new.get(cell.place.clone()))
    }

    /// The fields in which two records differ.
    fn fields(&mut self, old: &[u8], new: &[u8]) -> Vec<FieldChange> {
        let sides = self.sides;
        self.differ(old, new).map(|cell| change(cell, old, new, sides, [0, 1])).collect()
    }
}

/// What changed in a part of a record. `of` says whose numbers are before and after: those of the old map (0) or of the
/// new one.
fn change(cell: &Cell, old: &[u8], new: &[u8], sides: &Sides<'_>, of: [usize; 2]) -> FieldChange {
    let [old, new] = [old, new].map(|record| cell.print(record, sides.names()));
    let texture = |which: usize, number: &Text| {
        let (lump, _) = cell.meaning.one()?;
        sides.texture(which, lump, number.to_string().parse().ok()?)
    };
    let textures = texture(of[0], &old).zip(texture(of[1], &new)).map(|(old, new)| [old, new]);
    FieldChange { field: cell.path.clone(), old, new, textures }
}

// Textures in a map, and lists of their names.

/// A texture's name, and its bytes after the name.
type Texture<'t> = (Option<Vec<u8>>, Option<&'t [u8]>);

pub(super) fn compare_textures(sides: &Sides<'_>, bytes: &[Data<'_>; 2], found: &mut Found) {
    let (Ok(old), Ok(new)) = (sides.old.textures(), sides.new.textures()) else { return };
    let all = |textures| (0..Textures::len(textures)).map(|index| texture(textures, index)).collect::<Vec<_>>();
    let differing = differ(&all(&old), &all(&new), found);
    let places = |textures: &Textures<'_>| (0..textures.len()).map(|index| textures.extent(index)).collect::<Vec<_>>();
    let places = [places(&old), places(&new)];
    if sides.is_whole && !differing.is_empty() && places[0] == places[1] {
        let known = differing.into_iter().filter_map(|index| places[1][index].clone()).collect();
        compare_rest([&bytes[0], &bytes[1]], known, found);
    }
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
/// same place of lists of the same length, or has the same image. Returns the indices of the new ones that differ.
fn differ(old: &[Texture<'_>], new: &[Texture<'_>], found: &mut Found) -> Vec<usize> {
    let mut differing = Vec::new();
    let pairing = paired(old, new);
    let stays = longest_rise(&pairing);
    let mut is_kept = vec![false; old.len()];
    for (index, from) in pairing.iter().enumerate() {
        from.iter().for_each(|from| is_kept[*from] = true);
        let (before, after) = (from.and_then(|from| old.get(from)), &new[index]);
        if before == Some(after) && stays[index] {
            continue;
        }
        differing.push(index);
        found.touched().textures += 1;
        found.add(|| {
            let how = if before.is_some() { How::Changed } else { How::Added };
            let (old, image) = before.map_or((None, None), |before| before.clone());
            let from = from.filter(|from| *from != index);
            Change::Texture(TextureChange { how, index, from, old, new: after.0.clone(), image: image != after.1 })
        });
    }
    for (index, (name, image)) in old.iter().enumerate().filter(|(index, _)| !is_kept[*index]) {
        found.touched().textures += 1;
        let (old, image) = (name.clone(), image.is_some());
        let how = How::Removed;
        found.add(|| Change::Texture(TextureChange { how, index, from: None, old, new: None, image }));
    }
    differing
}

/// For each new texture the old one. Of several of one name those stay together that have one place in lists of the
/// same length; the others are paired in their order.
fn paired(old: &[Texture<'_>], new: &[Texture<'_>]) -> Vec<Option<usize>> {
    let stays = |at: usize| old.len() == new.len() && old[at].0 == new[at].0;
    let mut known: HashMap<Option<&[u8]>, Vec<usize>> = HashMap::new();
    let moved = old.iter().enumerate().rev().filter(|(at, _)| !stays(*at));
    moved.for_each(|(at, (name, _))| known.entry(name.as_deref()).or_default().push(at));
    let mut pairing: Vec<Option<usize>> = Vec::with_capacity(new.len());
    for (at, (name, _)) in new.iter().enumerate() {
        pairing.push(if stays(at) { Some(at) } else { known.get_mut(&name.as_deref()).and_then(Vec::pop) });
    }
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

pub(super) fn compare_visibility(sides: &Sides<'_>, bytes: &[Data<'_>; 2], found: &mut Found) {
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
    let (mut is_at_same, mut places) = (true, Vec::new());
    for (set, index) in new.sets().iter().flat_map(|set| (0..new.len()).map(|index| (*set, index))) {
        if sides.is_whole {
            let [before, after] = [&old, &new].map(|visibility| visibility.start(set, index).ok().flatten());
            is_at_same &= before == after;
        }
        let (before, after) = (before.get(set, index), after.get(set, index));
        if before == after {
            continue;
        }
        if sides.is_whole {
            places.extend([&old, &new].into_iter().filter_map(|visibility| visibility.extent(set, index).ok()?));
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
    if sides.is_whole && is_at_same && !found.is_empty() {
        compare_rest([&bytes[0], &bytes[1]], places, found);
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

pub(super) fn compare_bytes([old, new]: [&[u8]; 2], found: &mut Found) {
    compare_bytes_at([old, new], 0, found);
}

/// Adds the bytes outside of ranges that are read as something else, if both lumps have one length.
pub(super) fn compare_rest([old, new]: [&[u8]; 2], mut known: Vec<Range<usize>>, found: &mut Found) {
    if old.len() != new.len() {
        return;
    }
    known.sort_by_key(|range| range.start);
    known.push(new.len()..new.len());
    let mut at = 0;
    for range in known {
        let gap = at..range.start.clamp(at, new.len());
        if old[gap.clone()] != new[gap.clone()] {
            compare_bytes_at([&old[gap.clone()], &new[gap.clone()]], gap.start, found);
        }
        at = at.max(range.end).min(new.len());
    }
}

/// As [`compare_bytes`], for a part of a lump and where it begins in the new one.
pub(super) fn compare_bytes_at([old, new]: [&[u8]; 2], at: usize, found: &mut Found) {
    if old.len() == new.len() {
        for range in differences(old, new) {
            found.touched().bytes += range.len();
            found.add(|| Change::Bytes(BytesChange { old: range.len(), range: at + range.start..at + range.end }));
        }
        return;
    }
    // Bytes were added or removed: everything between the equal start and the equal end.
    let start = differences(old, new).next().map_or(old.len().min(new.len()), |range| range.start);
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (range, old) = (at + start..at + new.len() - end, old.len() - end - start);
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
        // One that gets the name of another is that one's twin, and not the other one.
        assert_eq!(paired("abc", "cbc"), [Some(0), Some(1), Some(2)]);
        assert_eq!(paired("abc", "cab"), [Some(2), Some(0), Some(1)]);
        let other: Vec<Texture<'_>> = vec![(Some(b"x".to_vec()), None), (Some(b"a".to_vec()), None)];
        assert_eq!(super::paired(&[(Some(b"a".to_vec()), None)], &other), [None, Some(0)]);
    }
}
