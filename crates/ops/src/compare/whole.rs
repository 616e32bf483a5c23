//! Whole maps: their lumps, the places of lumps, words of headers and directories, and bytes that no lump covers.

use std::collections::HashMap;
use std::ops::Range;

use super::change::{BytesChange, Change, How, WordChange};
use super::{Comparison, Found, Kind, Sides, is_same_form, kind, lumps, pairs};
use bspkit::Bsp;
use bspkit::bytes::{Data, differences};
use bspkit::dialect::Form;
use bspkit::file::directory::{BspxEntry, BspxHeader, GameLumpEntry};
use bspkit::file::{Segment, SegmentKind, Slot, SlotId};
use bspkit::record::Field;

// Whole maps: their lumps, the places of lumps, and everything in the files around lumps.

/// The two files that were compared.
///
/// ```
/// use bspkit_ops::compare;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let files = compare::whole(&map, &map, 10).files.unwrap();
/// assert!(files.is_equal && files.dialects == ("quake2", "quake2") && files.versions == (38, 38));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Files {
    /// Whether all bytes are equal.
    pub is_equal: bool,
    /// Their sizes in bytes.
    pub sizes: (usize, usize),
    /// The short names of their dialects.
    pub dialects: (&'static str, &'static str),
    /// Their version numbers.
    pub versions: (i32, i32),
    /// The lumps of maps of two dialects that cannot be compared, since their content is not of the same form.
    pub skipped: Vec<String>,
}

/// Everything in which two map files differ. At most `most` differences of each lump are listed. Files that differ in
/// any byte never give an empty list.
///
/// Of maps of two dialects only lumps with content of the same form are compared: entities, embedded files, and lumps
/// of the same name and struct. [`Files::skipped`] names the others.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit_ops::compare::{self, Kind};
/// let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let packed = Bsp::from_vec(map.draft().plan(Layout::Repack)?.to_vec())?;
/// assert!(compare::maps(&map, &packed, 10)?.lumps.is_empty());
/// let found = compare::whole(&map, &packed, 10);
/// assert!(found.touched().is_empty() && found.moved() > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn whole(old: &Bsp<'_>, new: &Bsp<'_>, most: usize) -> Comparison {
    compare(old, new, most, None)
}

/// As [`whole`], of some lumps and parts only: `wanted` is given the kind and the name of each lump.
///
/// ```
/// use bspkit_ops::compare::{self, Kind};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let box_map = bspkit::Bsp::open("../../tests/maps/q2/own_box.bsp")?;
/// let found = compare::chosen(&map, &box_map, 10, &|kind, _| kind == Kind::Entities);
/// assert!(found.lumps.len() == 1 && found.lumps[0].lump == "ENTITIES");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn chosen(old: &Bsp<'_>, new: &Bsp<'_>, most: usize, wanted: &dyn Fn(Kind, &str) -> bool) -> Comparison {
    compare(old, new, most, Some(wanted))
}

/// Which lumps are wanted, by kind and name; `None` for all.
type Wanted<'w> = Option<&'w dyn Fn(Kind, &str) -> bool>;

fn compare(old: &Bsp<'_>, new: &Bsp<'_>, most: usize, wanted: Wanted<'_>) -> Comparison {
    let [old_bytes, new_bytes] = [old.container().bytes(), new.container().bytes()];
    let is_same_dialect = old.dialect() == new.dialect();
    let mut files = Files {
        is_equal: old_bytes == new_bytes,
        sizes: (old_bytes.len(), new_bytes.len()),
        dialects: (old.dialect().name, new.dialect().name),
        versions: (old.version(), new.version()),
        skipped: Vec::new(),
    };
    let mut lumps = Vec::new();
    if files.is_equal && is_same_dialect {
        return Comparison { lumps, files: Some(files) };
    }
    let sides = Sides { is_whole: true, ..Sides::new(old, new) };
    let is_wanted = |kind, name: &str| wanted.is_none_or(|wanted| wanted(kind, name));
    for (old_slot, new_slot) in if is_same_dialect { pairs(old, new) } else { by_content(old, new) } {
        let found = match (old_slot, new_slot) {
            (Some(old_slot), Some(new_slot)) => {
                let is_wanted = is_wanted(kind(old, old_slot), &old_slot.name);
                both(&sides, [old_slot, new_slot], most, is_wanted)
            }
            (Some(slot), None) if is_same_dialect => Found::whole(old, slot, How::Removed),
            (None, Some(slot)) if is_same_dialect => Found::whole(new, slot, How::Added),
            (Some(slot), None) | (None, Some(slot)) => {
                files.skipped.extend((!slot.stored.is_empty()).then(|| slot.name.clone()));
                continue;
            }
            (None, None) => continue,
        };
        lumps.push(found.lump);
    }
    if is_same_dialect {
        let is_moved = lumps.iter().any(|lump| lump.sizes.0 != lump.sizes.1 || !lump.changes.is_empty());
        lumps.extend(compare_outside(old, new, is_moved, most).into_iter().map(|found| found.lump));
    }
    for lump in &mut lumps {
        let (keeps_content, keeps_place) = (is_wanted(lump.kind, &lump.lump), is_wanted(Kind::Places, &lump.lump));
        lump.changes.retain(|change| match change {
            Change::Place(..) => keeps_place,
            // That of an empty lump.
            Change::Word(word) if word.name == "offset" => keeps_place,
            _ => keeps_content,
        });
        if !keeps_content {
            (lump.touched, lump.hows, lump.more) = Default::default();
        }
    }
    lumps.retain(|lump| !lump.changes.is_empty() || lump.more > 0);
    if lumps.is_empty() && wanted.is_none() && is_same_dialect {
        // Bytes that no rule above looks at: nothing may go unnamed.
        let mut found = Found::part("file", Kind::Gaps, files.sizes, most);
        lumps::compare_bytes([old_bytes, new_bytes], &mut found);
        lumps.push(found.lump);
    }
    Comparison { lumps, files: Some(files) }
}

/// What differs between two slots, with their places and the words of their entries.
fn both(sides: &Sides<'_>, [old, new]: [&Slot; 2], most: usize, is_wanted: bool) -> Found {
    let mut found = Found::new(sides.old, old, most);
    if is_wanted {
        sides.slots(old, new, &mut found);
        let is_packed = sides.old.decompressed_size(old.id).is_some();
        // The same content, compressed in another way.
        if found.is_empty() && is_packed && *sides.old.stored(old.id) != *sides.new.stored(new.id) {
            found.lump.changes.push(Change::Lump(How::Rewritten));
        }
    }
    if sides.old.dialect() == sides.new.dialect() {
        words(sides, [old, new], &mut found);
    }
    found
}

/// The place of a lump, and the words of its entry that say nothing else of what differs.
fn words(sides: &Sides<'_>, [old, new]: [&Slot; 2], found: &mut Found) {
    let mut word = |name: &'static str, old: i64, new: i64, is_implied: bool| {
        if old != new && !is_implied {
            found.lump.changes.push(Change::Word(WordChange { name, old, new }));
        }
    };
    let (was_empty, is_empty) = (old.stored.is_empty(), new.stored.is_empty());
    word("offset", old.offset.into(), new.offset.into(), !(was_empty && is_empty));
    word("length", old.length.into(), new.length.into(), old.stored.len() != new.stored.len());
    let sizes = [(sides.old, old), (sides.new, new)].map(|(bsp, slot)| bsp.decompressed_size(slot.id));
    let unpacked = [old, new].map(|slot| i64::from(slot.unpacked.unwrap_or(0)));
    word("decompressed size", unpacked[0], unpacked[1], sizes[0] != sizes[1]);
    let flags =
        [sides.old.member_flags(old.id), sides.new.member_flags(new.id)].map(|flags| i64::from(flags.unwrap_or(0)));
    word("flags", flags[0], flags[1], (flags[0] ^ flags[1]) == 1 && sizes[0].is_some() != sizes[1].is_some());
    if !was_empty && !is_empty && old.stored.start != new.stored.start {
        found.lump.changes.push(Change::Place(old.stored.start, new.stored.start));
    }
}

/// The slots of two maps of different dialects: those with content of the same form, by name or role.
fn by_content<'s>(old: &'s Bsp<'_>, new: &'s Bsp<'_>) -> Vec<(Option<&'s Slot>, Option<&'s Slot>)> {
    let is_comparable = |before: &Slot, after: &Slot| match (old.row(before), new.row(after)) {
        // Light and visibility depend on other lumps.
        (Ok(row), Ok(other)) => match kind(old, before) {
            Kind::Entities | Kind::Files => is_same_form(row, other),
            Kind::Records => !matches!(row.form, Form::Opaque(_)) && is_same_form(row, other),
            _ => false,
        },
        _ => false,
    };
    let mut is_taken = vec![false; new.slots().len()];
    let mut pairs = Vec::new();
    for slot in old.slots() {
        let role = old.role_of(slot.id);
        let is_other = |other: &Slot| other.name == slot.name || role.is_some() && new.role_of(other.id) == role;
        let found = new.slots().iter().position(|other| is_other(other) && is_comparable(slot, other));
        let found = found.filter(|at| !std::mem::replace(&mut is_taken[*at], true));
        pairs.push((Some(slot), found.map(|at| &new.slots()[at])));
    }
    let rest = new.slots().iter().zip(is_taken).filter(|(_, is_taken)| !is_taken);
    pairs.extend(rest.map(|(slot, _)| (None, Some(slot))));
    pairs
}

impl Comparison {
    /// How many lumps are at another place.
    pub fn moved(&self) -> usize {
        let is_moved = |change: &Change| matches!(change, Change::Place(..));
        self.lumps.iter().filter(|lump| lump.changes.iter().any(is_moved)).count()
    }
}

// What is in the files besides the content of lumps: words of headers and directories, and bytes that no lump covers.

/// Zeros for alignment: a difference of fewer bytes is not listed where lumps moved.
const ALIGNMENT: usize = 64;

/// The differences around lumps, part by part. `is_moved`: places or sizes of lumps differ, which explains other
/// padding.
pub(super) fn compare_outside(old: &Bsp<'_>, new: &Bsp<'_>, is_moved: bool, most: usize) -> Vec<Found> {
    let mut found = vec![header(old, new, most)];
    found.extend(directories(old, new, most));
    gaps(old, new, is_moved, most, &mut found);
    found.retain(|part| !part.is_empty());
    found
}

/// A directory, or the header: its range in the file, and the ranges of words that are compared in other ways.
struct Directory {
    name: &'static str,
    range: Range<usize>,
    known: Vec<Range<usize>>,
}

impl Directory {
    /// The bytes without the words that are known.
    fn masked(&self, file: &[u8], known: &[Range<usize>]) -> Vec<u8> {
        let mut bytes = file.get(self.range.clone()).unwrap_or_default().to_vec();
        for range in known {
            let (start, end) = (range.start.min(bytes.len()), range.end.min(bytes.len()));
            bytes[start..end].fill(0);
        }
        bytes
    }
}

fn header(old: &Bsp<'_>, new: &Bsp<'_>, most: usize) -> Found {
    let size = |bsp: &Bsp<'_>| bsp.container().header_end();
    let mut found = Found::part("header", Kind::Header, (size(old), size(new)), most);
    let words = [("version", Some(old.version()), Some(new.version())), ("revision", old.revision(), new.revision())];
    for (name, old, new) in words {
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            let (old, new) = (old.into(), new.into());
            found.lump.changes.push(Change::Word(WordChange { name, old, new }));
        }
    }
    found
}

/// The bytes of headers and directories that are not known words.
fn directories(old: &Bsp<'_>, new: &Bsp<'_>, most: usize) -> Vec<Found> {
    let (before, after) = (all(old), all(new));
    let mut parts = Vec::new();
    for new_one in &after {
        let Some(old_one) = before.iter().find(|one| one.name == new_one.name) else { continue };
        if old_one.range.len() != new_one.range.len() {
            // Entries were added or removed, which is said of their lumps.
            continue;
        }
        let known = [&old_one.known[..], &new_one.known[..]].concat();
        let old_bytes = old_one.masked(old.container().bytes(), &known);
        let new_bytes = new_one.masked(new.container().bytes(), &known);
        let mut found = Found::part(new_one.name, Kind::Header, (old_bytes.len(), new_bytes.len()), most);
        at(&mut found, new_one.range.start, &old_bytes, &new_bytes);
        parts.push(found);
    }
    parts
}

/// Compares bytes of one length that begin at `start` of the new file.
fn at(found: &mut Found, start: usize, old: &[u8], new: &[u8]) {
    for range in differences(old, new) {
        found.touched().bytes += range.len();
        let old = range.len();
        found.add(|| Change::Bytes(BytesChange { range: start + range.start..start + range.end, old }));
    }
}

/// The header and the directories of a map.
fn all(bsp: &Bsp<'_>) -> Vec<Directory> {
    let header = 0..bsp.container().header_end();
    let mut directories = vec![directory("header", header, bsp)];
    let dialect = bsp.dialect();
    let own = [Some(dialect.version_at()), dialect.revision_at];
    directories[0].known.extend(own.into_iter().flatten().map(|at| at..at + 4));
    directories.extend(game(bsp));
    directories.extend(bspx(bsp));
    directories
}

/// The bytes of a map's header that are neither a version nor words of slots, with zeros for those.
pub(crate) fn rest_of_header(bsp: &Bsp<'_>) -> Vec<u8> {
    let header = &all(bsp)[0];
    header.masked(bsp.container().bytes(), &header.known)
}

/// A directory of which the words of slots are known.
fn directory(name: &'static str, range: Range<usize>, bsp: &Bsp<'_>) -> Directory {
    let words = bsp.slots().iter().flat_map(Slot::word_offsets);
    let within = words.filter(|at| range.contains(at));
    let known = within.map(|at| at - range.start..at - range.start + 4).collect();
    Directory { name, range, known }
}

/// The place of the word that has a slot's offset.
fn first_word(slot: &Slot) -> Option<usize> {
    slot.word_offsets().next()
}

/// The directory of the game lump. The number of members and their names are those of slots.
fn game(bsp: &Bsp<'_>) -> Option<Directory> {
    let members = bsp.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_)));
    let start = members.clone().filter_map(first_word).min()?.checked_sub(8 + 4)?;
    let count = members.clone().count();
    let mut found = directory("game lump directory", start..start + 4 + count * GameLumpEntry::SIZE, bsp);
    found.known.push(0..4);
    found.known.extend((0..count).map(|index| 4 + index * GameLumpEntry::SIZE).map(|at| at..at + 4));
    Some(found)
}

/// The directory of the BSPX block. Names up to the NUL are those of slots.
fn bspx(bsp: &Bsp<'_>) -> Option<Directory> {
    let entries: Vec<&Slot> = bsp.slots().iter().filter(|slot| matches!(slot.id, SlotId::Bspx(_))).collect();
    let name = |slot: &Slot| first_word(slot)?.checked_sub(24);
    let start = entries.iter().filter_map(|slot| name(slot)).min()?.checked_sub(BspxHeader::SIZE)?;
    let mut found = directory("BSPX directory", start..start + BspxHeader::SIZE + entries.len() * BspxEntry::SIZE, bsp);
    let file = bsp.container().bytes();
    for at in entries.iter().filter_map(|slot| name(slot)) {
        let length = file[at..at + 24].iter().position(|byte| *byte == 0).unwrap_or(24);
        found.known.push(at - start..at - start + length);
    }
    Some(found)
}

/// Bytes that no lump covers.
struct Gap<'b> {
    /// The name of what is before it.
    after: String,
    is_last: bool,
    start: usize,
    /// Without the zeros at their end.
    bytes: &'b [u8],
    zeros: usize,
}

fn gaps(old: &Bsp<'_>, new: &Bsp<'_>, is_moved: bool, most: usize, found: &mut Vec<Found>) {
    let (before, after) = (unowned(old), unowned(new));
    let zeros = |gaps: &[Gap<'_>]| gaps.iter().map(|gap| gap.zeros).sum::<usize>();
    let (zeros_before, zeros_after) = (zeros(&before), zeros(&after));
    let mut rest: HashMap<&str, Vec<&Gap<'_>>> = HashMap::new();
    let mut equal: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for gap in before.iter().rev().filter(|gap| !gap.bytes.is_empty()) {
        rest.entry(&gap.after).or_default().push(gap);
    }
    let mut others = Vec::new();
    for gap in after.iter().filter(|gap| !gap.bytes.is_empty()) {
        match rest.get_mut(&*gap.after).and_then(Vec::pop) {
            Some(before) => found.push(differ(Some(before), Some(gap), most)),
            None => others.push(gap),
        }
    }
    let mut gone: Vec<&Gap<'_>> = rest.into_values().flatten().collect();
    gone.sort_unstable_by_key(|gap| gap.start);
    gone.iter().enumerate().rev().for_each(|(at, gap)| equal.entry(gap.bytes).or_default().push(at));
    let mut is_kept = vec![false; gone.len()];
    for gap in others {
        // The same bytes after another lump.
        let moved = equal.get_mut(gap.bytes).and_then(Vec::pop);
        moved.iter().for_each(|at| is_kept[*at] = true);
        found.push(differ(moved.map(|at| gone[at]), Some(gap), most));
    }
    for (gap, _) in gone.into_iter().zip(is_kept).filter(|(_, is_kept)| !is_kept) {
        found.push(differ(Some(gap), None, most));
    }
    let is_explained = is_moved || found.iter().any(|part| !part.is_empty());
    if zeros_before.abs_diff(zeros_after) > if is_explained { ALIGNMENT } else { 0 } {
        let mut padding = Found::part("padding", Kind::Gaps, (zeros_before, zeros_after), most);
        padding.lump.changes.push(Change::Padding(zeros_before, zeros_after));
        found.push(padding);
    }
}

/// Compares two gaps, of which one may be missing.
fn differ(old: Option<&Gap<'_>>, new: Option<&Gap<'_>>, most: usize) -> Found {
    let bytes_of = |gap: Option<&Gap<'_>>| Data::from(gap.map_or(&[][..], |gap| gap.bytes).to_vec());
    let name = match new.or(old) {
        Some(Gap { is_last: true, .. }) => "tail".to_owned(),
        Some(gap) => format!("gap after {}", gap.after),
        None => String::new(),
    };
    let both = [bytes_of(old), bytes_of(new)];
    let mut found = Found::part(&name, Kind::Gaps, (both[0].len(), both[1].len()), most);
    if *both[0] != *both[1] {
        lumps::compare_bytes([&both[0], &both[1]], &mut found);
        let start = new.or(old).map_or(0, |gap| gap.start);
        for change in &mut found.lump.changes {
            if let Change::Bytes(bytes) = change {
                bytes.range = bytes.range.start + start..bytes.range.end + start;
            }
        }
    } else if let (Some(old), Some(new)) = (old, new)
        && old.after != new.after
    {
        found.lump.changes.push(Change::Place(old.start, new.start));
    }
    found
}

/// The bytes that no slot covers and that are not a directory, in the order of the file.
fn unowned<'b>(bsp: &'b Bsp<'_>) -> Vec<Gap<'b>> {
    let (file, segments) = (bsp.container().bytes(), bsp.container().segments());
    let directories = all(bsp);
    let members = bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
    let game_lump = bsp.dialect().rules.game_lump.map(SlotId::Lump).filter(|_| members);
    let entries = bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Bspx(_)));
    let is_unowned = |segment: &Segment| match segment.kind {
        SegmentKind::Gap | SegmentKind::Padding | SegmentKind::BspxGap | SegmentKind::Tail => true,
        SegmentKind::Bspx => !entries,
        // The offset of the entities, and a signature that is always the same.
        SegmentKind::Trailer | SegmentKind::Header => false,
        SegmentKind::Slots => matches!(&segment.slots[..], [only] if Some(*only) == game_lump),
        _ => true,
    };
    let mut names: HashMap<usize, &str> = directories.iter().map(|one| (one.range.end, one.name)).collect();
    names.extend(bsp.slots().iter().filter(|slot| !slot.stored.is_empty()).map(|slot| (slot.stored.end, &*slot.name)));
    let mut gaps = Vec::new();
    for segment in segments.iter().filter(|segment| is_unowned(segment)) {
        // The directory of the game lump is within a segment of its own.
        let inside = directories.iter().find(|one| segment.range.contains(&one.range.start));
        let start = inside.map_or(segment.range.start, |one| one.range.end.min(segment.range.end));
        let all = &file[start..segment.range.end];
        let length = all.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let after = names.get(&start).map_or_else(|| format!("{start}"), |name| (*name).to_owned());
        let is_last = segment.range.end == file.len();
        debug_assert!(all[length..].iter().all(|byte| *byte == 0), "zeros at the end");
        gaps.push(Gap { after, is_last, start, bytes: &all[..length], zeros: all.len() - length });
    }
    gaps
}
