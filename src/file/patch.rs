//! Patches: a plan that is written into the old file itself, in steps between which the map is whole. A plan for the
//! layout patch says which steps these are.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::SegmentKind;
use super::container::Container;
use super::plan::{ChangeKind, Plan};
use super::save::{Replacing, SaveOptions, Saved};
use super::target::Origin;
use crate::bytes::{is_zero, wide};
use crate::error::Result;

/// Disks write this many bytes as a whole or not at all.
pub(crate) const SECTOR: usize = 512;

/// The ranges of the new file that are written, in three steps, each on the disk before the next one begins. Before the
/// second step the file is the old map, after it the new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    /// Bytes that the old map does not have: zeros between its slots, and what is after its end.
    pub(crate) fill: Vec<Range<usize>>,
    /// What makes it the new map: within one sector.
    pub(crate) switch: Option<Range<usize>>,
    /// Bytes that the new map does not have: the old places of its slots become zeros.
    pub(crate) clear: Vec<Range<usize>>,
}

impl Patch {
    /// The steps of a plan; an error is the reason why it cannot be patched. If slots are apart from their old bytes,
    /// zeros over bytes of the old map are old places of slots.
    pub(super) fn of(plan: &Plan<'_>, is_apart: bool) -> std::result::Result<Self, &'static str> {
        let old = plan.container();
        if plan.size() < old.bytes().len() {
            return Err("the file becomes shorter");
        }
        let (mut patch, mut free) = (Patch::default(), Free::of(old));
        for change in plan.changes() {
            let mut rest = change.range;
            while !rest.is_empty() {
                let (is_free, end) = free.at(rest.start);
                let part = rest.start..end.min(rest.end);
                rest.start = part.end;
                match change.kind {
                    _ if is_free => patch.fill.push(part),
                    ChangeKind::Zeroed if is_apart => patch.clear.push(part),
                    _ => {
                        let switch = patch.switch.get_or_insert(part.clone());
                        *switch = switch.start.min(part.start)..switch.end.max(part.end);
                        if switch.start / SECTOR != (switch.end - 1) / SECTOR {
                            return Err("bytes of the old map in more than one sector of the disk change");
                        }
                    }
                }
            }
        }
        Ok(patch)
    }

    /// How many bytes are written.
    fn size(&self) -> usize {
        self.fill.iter().chain(&self.switch).chain(&self.clear).map(ExactSizeIterator::len).sum()
    }
}

/// Which bytes no slot of a map has, and nothing else that is read.
struct Free<'c, 'a> {
    container: &'c Container<'a>,
    segments: std::vec::IntoIter<super::Segment>,
    /// The segment at which it is, and whether it is free.
    now: (Range<usize>, bool),
}

impl<'c, 'a> Free<'c, 'a> {
    fn of(container: &'c Container<'a>) -> Self {
        Free { container, segments: container.segments().into_iter(), now: (0..0, false) }
    }

    /// Whether the byte at a place is free, and where that ends. Places are asked in order.
    fn at(&mut self, place: usize) -> (bool, usize) {
        while self.now.0.end <= place {
            let Some(segment) = self.segments.next() else { return (true, usize::MAX) };
            let may_be_free = matches!(segment.kind, SegmentKind::Gap | SegmentKind::Padding | SegmentKind::Tail);
            // A gap that is not asked for is not read.
            let is_free = may_be_free && segment.range.end > place;
            let is_free = is_free && is_zero(&self.container.bytes()[segment.range.clone()]);
            self.now = (segment.range, is_free);
        }
        (self.now.1, self.now.0.end)
    }
}

impl Plan<'_> {
    /// Writes the plan into the file that its map was read from; an error of the inner result is the reason why that is
    /// not possible.
    pub(super) fn patch_into(&self, path: &Path, options: &SaveOptions) -> Result<Patched> {
        let patch = match self.patch() {
            Some(Ok(patch)) => patch,
            Some(Err(why)) => return Ok(Err(why.clone())),
            None => return Ok(Err("it was not planned".to_owned())),
        };
        if options.backup.is_some() {
            return Ok(Err("a backup keeps the old file".to_owned()));
        }
        let Some(origin) = self.container().origin.as_deref() else {
            return Ok(Err("the map was not read from a file".to_owned()));
        };
        let replacing = Replacing::of(path, options, Some(origin))?;
        if !replacing.is_from(origin) {
            return Ok(Err("it is not the file that the map was read from, or is read-only".to_owned()));
        }
        if replacing.has_other_names() {
            return Ok(Err("the file has other names (hard links), which would change too".to_owned()));
        }
        let (warning, origin) = replacing.within(self.size(), |file| self.write_steps(patch, file))?;
        let warnings = warning.into_iter().collect();
        Ok(Ok((Saved { written: wide(patch.size()), warnings, ..Saved::default() }, origin)))
    }

    /// Writes the steps. After an error of the first two the file is as it was, if the disk still takes writes; after
    /// one of the last it is the new map, and the sentence is a warning.
    fn write_steps(&self, patch: &Patch, file: &File) -> io::Result<Option<String>> {
        let write = |ranges: &[Range<usize>]| {
            ranges.iter().try_for_each(|range| self.write_at(range, file))?;
            if ranges.is_empty() { Ok(()) } else { file.sync_data() }
        };
        // The old bytes of a mapped file are gone once they are written over.
        let old = self.container().bytes();
        let switch = patch.switch.clone().map(|range| (range.start, old.get(range).unwrap_or_default().to_vec()));
        if let Err(error) = write(&patch.fill).and_then(|()| write(patch.switch.as_slice())) {
            // The old directory is on the disk before the new bytes go.
            let back = switch.map_or(Ok(()), |(start, bytes)| put(start, &bytes, file).and_then(|()| file.sync_data()));
            return Err(match back.and_then(|()| self.empty(patch, file)) {
                Ok(()) => error,
                Err(other) => io::Error::new(
                    error.kind(),
                    format!("{error}; the file may be the old map with more bytes in it, or the new one: {other}"),
                ),
            });
        }
        let cleared = write(&patch.clear);
        Ok(cleared.err().map(|error| format!("the old place of an edited lump keeps its old bytes: {error}")))
    }

    /// What was zero becomes zero again, and what was not there goes.
    fn empty(&self, patch: &Patch, file: &File) -> io::Result<()> {
        let old = self.container().bytes().len();
        for range in patch.fill.iter().filter(|range| range.start < old) {
            put(range.start, &vec![0; range.end.min(old) - range.start], file)?;
        }
        file.set_len(wide(old))?;
        file.sync_data()
    }

    /// Writes a range of the new file at its place.
    pub(super) fn write_at(&self, range: &Range<usize>, mut file: &File) -> io::Result<()> {
        if range.len() <= SECTOR {
            // One call of the system: a program that is killed has made it or not.
            let parts: Vec<&[u8]> = self.slice(range.clone()).collect();
            return put(range.start, &parts.concat(), file);
        }
        file.seek(SeekFrom::Start(wide(range.start)))?;
        self.slice(range.clone()).try_for_each(|part| file.write_all(part))
    }
}

/// How a file was patched, or why it was not.
pub(super) type Patched = std::result::Result<(Saved, Option<Origin>), String>;

/// Writes bytes at a place, in one call of the system if it takes them all.
fn put(start: usize, bytes: &[u8], mut file: &File) -> io::Result<()> {
    file.seek(SeekFrom::Start(wide(start)))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Bsp, Layout, SlotId};

    type Edit = fn(&mut Vec<u8>);

    const MAPS: [&str; 8] = [
        "q1/own_rooms",
        "goldsrc/own_rooms",
        "q2/own_rooms",
        "q2/own_rooms_bspx",
        "q3/own_rooms",
        "source/room_v20",
        "source/room_v21",
        "source/room_l4d2",
    ];

    fn contents(map: &Bsp<'_>) -> Vec<(SlotId, Vec<u8>)> {
        map.slots().iter().map(|slot| (slot.id, map.bytes(slot.id).unwrap().to_vec())).collect()
    }

    /// The sectors of a range.
    fn sectors(range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let range = range.clone();
        (range.start / SECTOR..range.end.div_ceil(SECTOR))
            .map(move |sector| range.start.max(sector * SECTOR)..range.end.min((sector + 1) * SECTOR))
    }

    /// Every state that a crash can leave: of a step that is not on the disk any sectors, all of the steps before, none
    /// of those after.
    fn states(old: &[u8], new: &[u8], patch: &Patch) -> Vec<(Vec<u8>, bool)> {
        let mut states = vec![(old.to_vec(), false)];
        let mut done = old.to_vec();
        let steps = [(&patch.fill[..], false), (patch.switch.as_slice(), true), (&patch.clear[..], true)];
        for (ranges, is_new) in steps {
            let sectors: Vec<Range<usize>> = ranges.iter().flat_map(sectors).collect();
            let mut write = |is_written: &dyn Fn(usize) -> bool| {
                let mut state = done.clone();
                for (nth, sector) in sectors.iter().enumerate().filter(|(nth, _)| is_written(*nth)) {
                    state.resize(state.len().max(sector.end), 0);
                    state[sector.clone()].copy_from_slice(&new[sector.clone()]);
                    let _ = nth;
                }
                // A switch that was not written leaves the old map.
                states.push((state.clone(), is_new && (ranges != patch.switch.as_slice() || is_written(0))));
                state
            };
            for nth in 0..sectors.len() {
                write(&|other| other < nth);
                write(&|other| other == nth);
                write(&|other| other % 7 == nth % 7);
            }
            done = write(&|_| true);
        }
        states
    }

    #[test]
    fn every_crash_leaves_the_old_map_or_the_new_one() {
        let (mut patched, mut in_holes) = (0, 0);
        for name in MAPS {
            let bytes = std::fs::read(format!("tests/maps/{name}.bsp")).unwrap();
            let mut map = Bsp::from_vec(bytes).unwrap();
            // A lump that grows, the same one again, smaller, one that was moved already; a byte of a large lump.
            let edits: [(&str, Edit); 7] = [
                ("entities", |text| drop(text.splice(0..0, b"// a comment that takes more room\n".repeat(30)))),
                ("entities", |text| text.truncate(text.len() / 2)),
                ("planes", |planes| planes.extend_from_within(..40)),
                ("entities", |text| text.extend_from_within(..)),
                ("lighting", |light| light.iter_mut().for_each(|byte| *byte ^= 0x55)),
                ("planes", |planes| planes.rotate_left(20)),
                ("vertexes", |vertexes| vertexes[3] ^= 1),
            ];
            for (lump, edit) in edits {
                let Some(slot) = map.slot(lump).ok().map(|slot| slot.id) else { continue };
                let mut draft = map.draft();
                let mut new = map.bytes(slot).unwrap().to_vec();
                edit(&mut new);
                draft.set(slot, new.clone()).unwrap();
                let plan = draft.plan(Layout::Patch).unwrap();
                let (old, file) = (map.container().bytes(), plan.to_vec());
                let after = Bsp::from_vec(file.clone()).unwrap();
                crate::verify::compare(&map, &file, Some(Layout::Patch), Some((slot, &new))).unwrap();
                if let Some(Ok(patch)) = plan.patch() {
                    patched += 1;
                    in_holes += usize::from(plan.report().to_string().contains("zeros between"));
                    assert!(plan.report().moved.is_empty(), "{name}, {lump}");
                    let known = [contents(&map), contents(&after)];
                    for (state, is_new) in states(old, &file, patch) {
                        let state = Bsp::from_vec(state).unwrap();
                        assert_eq!(contents(&state), known[usize::from(is_new)], "{name}, {lump}, {is_new}");
                    }
                    assert_eq!(states(old, &file, patch).last().unwrap().0, file);
                }
                map = after;
            }
        }
        assert!(patched >= 48 && in_holes >= 8, "{patched}, {in_holes}");
    }

    /// The faults that the test above is for: steps in another order, and a switch of two sectors.
    #[test]
    fn steps_in_another_order_are_seen() {
        let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
        let mut draft = map.draft();
        let slot = map.slot("entities").unwrap().id;
        draft.set(slot, map.bytes(slot).unwrap().repeat(2)).unwrap();
        let plan = draft.plan(Layout::Patch).unwrap();
        let patch = plan.patch().unwrap().as_ref().unwrap().clone();
        let (old, new) = (map.container().bytes(), plan.to_vec());
        let known = [contents(&map), contents(&Bsp::parse(&new).unwrap())];
        let broken = |patch: &Patch| {
            let is_broken = |(state, is_new): &(Vec<u8>, bool)| {
                Bsp::parse(state).is_ok_and(|map| contents(&map) != known[usize::from(*is_new)])
            };
            states(old, &new, patch).iter().filter(|state| is_broken(state)).count()
        };
        assert_eq!(broken(&patch), 0);
        let early = Patch { fill: patch.clear.clone(), clear: patch.fill.clone(), ..patch.clone() };
        assert!(broken(&early) > 0, "old bytes are cleared before the switch");
        let two: BTreeSet<usize> = patch.switch.iter().flat_map(sectors).map(|sector| sector.start / SECTOR).collect();
        assert_eq!(two.len(), 1);
        let late = Patch { switch: Some(patch.switch.clone().unwrap().start..new.len()), ..Patch::default() };
        assert!(broken(&late) > 0, "all is written at once");
    }
}
