//! The new content of a slot, and the offsets within it: the inside of the game lump and of the BSPX block is rewritten
//! in the same order, with the same alignment.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::container::{self, Container, Parts};
use super::directory::{BspxEntry, BspxHeader, GameLumpEntry};
use super::place::{Edit, padding, refused};
use super::plan::Pieces;
use super::slot::{Bounds, Slot, SlotId, TailPart};
use crate::bytes::{ByteOrder, is_zero};
use crate::error::Result;
use crate::record::{Field, decode_in};

/// Words that change: their offset in the new file, and their value.
pub(super) type Words = BTreeMap<usize, [u8; 4]>;

/// The new content of a slot, before the slot is placed.
#[derive(Clone, Debug, Default)]
pub(super) struct Content<'a> {
    pub(super) pieces: Pieces<'a>,
    /// The size after decompression, if the bytes are compressed.
    unpacked: Option<usize>,
    /// Words within the content that depend on where it is placed.
    offsets: Vec<InnerOffset>,
    /// Words within the content that change wherever it is placed.
    values: Vec<(usize, [u8; 4])>,
    /// Whether the content seems to hold offsets that could not be read.
    pub(super) is_pinned: bool,
    edited: Vec<SlotId>,
}

/// A word within the content that holds an offset into the same content. Both are relative to its start.
#[derive(Clone, Copy, Debug)]
struct InnerOffset {
    word: usize,
    /// `None` for an empty entry: its offset must only not be past the end of the file.
    target: Option<usize>,
    /// The value of the word.
    old: i32,
    /// Whether it is relative to the content's start, and not to the file's.
    is_relative: bool,
    order: ByteOrder,
}

/// Where content was placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    pub(super) start: usize,
    pub(super) file_end: usize,
}

impl Content<'_> {
    /// Its bytes in the new file.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The words within the content that change with its place.
    pub(super) fn relocate(&self, home: Home, words: &mut Words) {
        for InnerOffset { word, target, old, is_relative, order } in &self.offsets {
            let origin = if *is_relative { home.start } else { 0 };
            let place = match target {
                Some(target) => Some(home.start + target - origin),
                None => {
                    let old = usize::try_from(*old).ok().map(|old| old + origin);
                    old.filter(|old| *old > home.file_end).map(|_| home.file_end - origin)
                }
            };
            if let Some(place) = place.and_then(|place| i32::try_from(place).ok())
                && place != *old
            {
                words.insert(home.start + word, order.word_bytes(place));
            }
        }
        words.extend(self.values.iter().map(|(word, value)| (home.start + word, *value)));
    }

    /// The length words of the slot that holds the content.
    pub(super) fn add_words(&self, slot: &Slot, words: &mut Words) {
        let unpacked = slot.words.unpacked.zip(self.unpacked);
        for (word, size) in [Some((slot.words.length, self.pieces.len())), unpacked].into_iter().flatten() {
            if let Ok(size) = i32::try_from(size) {
                words.insert(word, slot.words.order.word_bytes(size));
            }
        }
    }

    /// Whether an edit of the slot is part of the content.
    pub(super) fn covers(&self, slot: SlotId) -> bool {
        self.edited.contains(&slot)
    }
}

/// The contents of all edited top-level slots, by index, and of the BSPX block.
pub(super) fn contents<'a>(
    container: &Container<'a>,
    edits: &[Edit<'a>],
) -> Result<(BTreeMap<usize, Content<'a>>, Option<Content<'a>>)> {
    let parts = &*container.parts;
    let mut contents = BTreeMap::new();
    let (mut members, mut entries) = (Vec::new(), Vec::new());
    for edit in edits {
        match edit.slot {
            SlotId::Game(_) => members.push(edit),
            SlotId::Bspx(_) => entries.push(edit),
            SlotId::Lump(_) | SlotId::Extra(_) => {
                let index = parts.slots.iter().position(|slot| slot.id == edit.slot);
                if let Some(index) = index {
                    contents.insert(index, whole(parts, index, edit));
                }
            }
        }
    }
    if let (false, Some(lump)) = (members.is_empty(), parts.rules.game_lump) {
        let slot = &parts.slots[lump];
        if let Some(reason) = container.pinned(slot.id) {
            return Err(refused(format!("the game lump cannot be rewritten: {reason}"), &slot.name));
        }
        if contents.contains_key(&lump) {
            return Err(refused("the game lump and one of its members cannot be edited at once", &slot.name));
        }
        let directory = 4 + GameLumpEntry::SIZE * count(parts, SlotId::Game(0));
        let is_new_end = needs_end(container, &members);
        let content = laid_again(container, SlotId::Game(0), &slot.stored, directory, is_new_end, &members);
        refuse_what_cannot_be_measured(parts, &content, slot.stored.start, &members)?;
        contents.insert(lump, content);
    }
    let block = parts.tail.iter().find_map(|part| match part {
        TailPart::Bspx(range) if !entries.is_empty() => Some(range),
        _ => None,
    });
    let bspx = match block {
        None => None,
        Some(range) => {
            refuse_behind_cut(parts, &entries)?;
            let directory = BspxHeader::SIZE + BspxEntry::SIZE * count(parts, SlotId::Bspx(0));
            Some(laid_again(container, SlotId::Bspx(0), range, directory, false, &entries))
        }
    };
    Ok((contents, bspx))
}

/// Row 11 for BSPX: nothing may follow an entry that claims bytes past the end of the file. An edited entry without
/// bytes of its own would follow it.
fn refuse_behind_cut(parts: &Parts, edits: &[&Edit<'_>]) -> Result<()> {
    let edit_of = |slot: &Slot| edits.iter().find(|edit| edit.slot == slot.id);
    let cut = children(parts, SlotId::Bspx(0)).find(|slot| slot.bounds == Bounds::Overrun && edit_of(slot).is_none());
    let shares = |slot: &Slot| {
        let overlaps = |other: &Slot| slot.stored.start < other.stored.end && other.stored.start < slot.stored.end;
        slot.stored.is_empty() || parts.slots.iter().any(|other| other.id != slot.id && overlaps(other))
    };
    let is_put_behind = |slot: &Slot| edit_of(slot).is_some_and(|edit| !edit.stored.is_empty()) && shares(slot);
    match cut.filter(|_| children(parts, SlotId::Bspx(0)).any(is_put_behind)) {
        None => Ok(()),
        Some(cut) => {
            let message = format!("{} {}, so nothing can be put after it", cut.name, cut.bounds);
            Err(refused(message, &cut.name).with_hint("edit entries that have bytes of their own"))
        }
    }
}

/// Engines measure a compressed member of the game lump by the place of the next one of the list. An edited one that
/// shared its bytes, or that is after the next one, would be measured wrong.
fn refuse_what_cannot_be_measured(parts: &Parts, game: &Content<'_>, start: usize, edits: &[&Edit<'_>]) -> Result<()> {
    let members: Vec<&Slot> = children(parts, SlotId::Game(0)).collect();
    let place = |slot: &Slot| game.offsets.iter().find(|offset| offset.word == slot.words.offset - start)?.target;
    for edit in edits.iter().filter(|edit| edit.unpacked.is_some_and(|size| size > 0)) {
        let Some(at) = members.iter().position(|slot| slot.id == edit.slot) else { continue };
        let end = place(members[at]).map(|start| start + edit.stored.len());
        let next = members.get(at + 1).and_then(|next| place(next));
        if let Some(next) = next.zip(end).filter(|(next, end)| next < end).map(|_| members[at + 1]) {
            let message = format!("it cannot be compressed: readers measure it by the place of {}", next.name);
            return Err(refused(message, &members[at].name).with_hint("decompress the map, or leave this member raw"));
        }
    }
    Ok(())
}

/// Whether a member becomes compressed and the list has no end entry. That is an entry of zeros after the last member.
/// Readers that measure a compressed member by the offset of the next one need it (source of the SDK's 2013 compilers;
/// seen in all maps with compressed members).
fn needs_end(container: &Container<'_>, edits: &[&Edit<'_>]) -> bool {
    let is_new = |edit: &&&Edit<'_>| {
        let was_raw = container.slot(edit.slot).is_some_and(|slot| slot.unpacked == Some(0));
        was_raw && edit.unpacked.is_some_and(|size| size > 0)
    };
    let entry = |slot: &Slot| decode_in(slot.words.order, &container.data[slot.words.offset - 8..]);
    let id = |slot: &Slot| entry(slot).map(|entry: GameLumpEntry| entry.id);
    edits.iter().any(|edit| is_new(&edit)) && children(&container.parts, SlotId::Game(0)).last().and_then(id) != Some(0)
}

/// A slot's new bytes as given. Offsets in the bytes of a game lump are given as if the lump does not move.
fn whole<'a>(parts: &Parts, index: usize, edit: &Edit<'a>) -> Content<'a> {
    let mut content = Content { unpacked: edit.unpacked, ..Content::default() };
    if parts.rules.game_lump == Some(index) && !edit.stored.is_empty() {
        let base = usize::try_from(parts.slots[index].offset).unwrap_or(0);
        let (origin, order) = (parts.rules.origin(base), parts.shape.order());
        match container::game_lump(&edit.stored.to_data(), base, origin, order, base + edit.stored.len()) {
            Ok(members) => {
                let range = base..base + edit.stored.len();
                content.offsets = members.iter().filter_map(|member| inner_offset(member, &range)).collect();
            }
            Err(_) => content.is_pinned = true,
        }
    }
    content.pieces = Pieces::from(&edit.stored);
    content
}

/// The content of a block that no edit touches, with the words in it that depend on its place.
pub(super) fn unedited<'a>(parts: &Parts, kind: SlotId, range: &Range<usize>) -> Content<'a> {
    let offsets = children(parts, kind).filter_map(|slot| inner_offset(slot, range)).collect();
    let mut pieces = Pieces::default();
    pieces.old(range.clone());
    Content { pieces, offsets, ..Content::default() }
}

/// The value of a slot's offset word.
fn old_word(slot: &Slot) -> i32 {
    slot.offset.saturating_sub(i32::try_from(slot.words.origin).unwrap_or(i32::MAX))
}

fn inner_offset(slot: &Slot, range: &Range<usize>) -> Option<InnerOffset> {
    let word = slot.words.offset - range.start;
    let offset = usize::try_from(slot.offset).ok();
    let inside = offset.filter(|at| (range.start..=range.end).contains(at)).map(|at| at - range.start);
    let (is_relative, order, old) = (slot.words.origin > 0, slot.words.order, old_word(slot));
    let with = |target| InnerOffset { word, target, old, is_relative, order };
    match (slot.id, slot.bounds) {
        // The offset of an empty member is the end of the member before it, for readers that measure members by
        // offsets.
        (SlotId::Game(_), Bounds::Empty) | (_, Bounds::Inside | Bounds::Overrun) => {
            inside.map(|target| with(Some(target)))
        }
        (_, Bounds::Empty) => Some(with(None)),
        _ => None,
    }
}

/// Rewrites the block at `range` with the edits in it. If the list needs an end entry, one is added: zeros, but on
/// consoles its offset is the end of the last member (`CompressGameLump` of the SDK's bsplib.cpp).
fn laid_again<'a>(
    container: &Container<'a>,
    kind: SlotId,
    range: &Range<usize>,
    directory: usize,
    gets_end: bool,
    edits: &[&Edit<'a>],
) -> Content<'a> {
    let parts = &*container.parts;
    let first = range.start + directory;
    let mut order: Vec<&Slot> = children(parts, kind)
        .filter(|slot| !slot.stored.is_empty() && slot.stored.start >= first && slot.stored.end <= range.end)
        .collect();
    order.sort_by_key(|slot| slot.stored.start);
    // Valve's compressing writer starts every member at a multiple of 4, and readers rely on it (`CompressGameLump`).
    let gets_compressed = edits.iter().any(|edit| edit.unpacked.is_some_and(|size| size > 0));
    let is_aligned = gets_compressed || is_aligned(parts, kind, &order, range.start);
    let edit_of = |slot: &Slot| edits.iter().find(|edit| edit.slot == slot.id);

    let mut content = Content { edited: edits.iter().map(|edit| edit.slot).collect(), ..Content::default() };
    content.pieces.old(range.start..first);
    if gets_end {
        let count = i32::try_from(count(parts, kind) + 1);
        content.values.extend(count.map(|count| (0, parts.shape.order().word_bytes(count))));
        content.pieces.zeros(GameLumpEntry::SIZE);
    }
    // The new offset of each part of the old block, relative to the block's new start.
    let start = content.pieces.len();
    let mut moves: Vec<(Range<usize>, Range<usize>)> = vec![(first..first, start..start)];
    let mut alone = HashSet::new();
    let mut end = first;
    let mut rest = &order[..];
    while let Some((slot, others)) = rest.split_first() {
        let overlapping = others.iter().scan(slot.stored.end, |end, other| {
            let overlaps = other.stored.start < *end;
            *end = (*end).max(other.stored.end);
            overlaps.then_some(*end)
        });
        let (count, cluster_end) = overlapping.fold((1, slot.stored.end), |(count, _), end| (count + 1, end));
        let gap = end..slot.stored.start;
        let is_padding = is_aligned && gap.len() < 4 && is_zero(&container.data[gap.clone()]);
        let is_unmoved = content.pieces.len() == end - range.start;
        let is_compressed = edit_of(slot).is_some_and(|edit| edit.unpacked.is_some_and(|size| size > 0));
        if is_padding || (is_aligned && !is_unmoved) || is_compressed {
            content.pieces.zeros(padding(content.pieces.len(), 4));
        }
        if !is_padding {
            content.pieces.old(gap);
        }
        let start = content.pieces.len();
        alone.extend((count == 1).then_some(slot.id));
        match edit_of(slot).filter(|_| count == 1) {
            Some(edit) => content.pieces.append(&Pieces::from(&edit.stored)),
            None => content.pieces.old(slot.stored.start..cluster_end),
        }
        moves.push((slot.stored.start..cluster_end, start..content.pieces.len()));
        end = cluster_end;
        rest = &rest[count..];
    }
    content.pieces.old(end..range.end);

    let moved = |at: usize| match moves.iter().rev().find(|(old, _)| old.start <= at) {
        None => at - range.start,
        // A part that begins at the end of another one, or in the gap after it, keeps its distance to that end.
        Some((old, new)) if at >= old.end => new.end + (at - old.end),
        Some((old, new)) => new.start + (at - old.start),
    };
    for slot in children(parts, kind) {
        let Some(mut inner) = inner_offset(slot, range) else {
            if let Some(edit) = edit_of(slot) {
                content.put_behind(container, slot, edit, range.start, is_aligned);
            }
            continue;
        };
        match edit_of(slot) {
            Some(edit) if alone.contains(&slot.id) => content.set_words(container, slot, edit, range.start),
            Some(edit) => {
                content.put_behind(container, slot, edit, range.start, is_aligned);
                continue;
            }
            None => {}
        }
        inner.target = inner.target.map(|target| moved(range.start + target));
        content.offsets.push(inner);
    }
    let len = content.pieces.len();
    if let (true, true, Ok(end)) = (gets_end, parts.rules.relative_members, i32::try_from(len)) {
        // Id, flags and version are before it.
        content.values.push((directory + 8, parts.shape.order().word_bytes(end)));
    }
    content
}

impl<'a> Content<'a> {
    /// A slot that has no bytes of its own in the block gets new bytes after all others.
    fn put_behind(&mut self, container: &Container<'a>, slot: &Slot, edit: &Edit<'a>, start: usize, is_aligned: bool) {
        self.set_words(container, slot, edit, start);
        if edit.stored.is_empty() {
            return;
        }
        self.pieces.zeros(if is_aligned { padding(self.pieces.len(), 4) } else { 0 });
        let target = Some(self.pieces.len());
        let (is_relative, order) = (slot.words.origin > 0, slot.words.order);
        let old = old_word(slot);
        self.offsets.push(InnerOffset { word: slot.words.offset - start, target, old, is_relative, order });
        self.pieces.append(&Pieces::from(&edit.stored));
    }

    /// The words of an edited slot of the block: its length, and in a game lump whether it is compressed.
    fn set_words(&mut self, container: &Container<'a>, slot: &Slot, edit: &Edit<'a>, start: usize) {
        let length = edit.unpacked.filter(|size| *size > 0).unwrap_or(edit.stored.len());
        let order = slot.words.order;
        self.values.extend(i32::try_from(length).map(|length| (slot.words.length - start, order.word_bytes(length))));
        if let Some((at, unpacked)) = slot.words.flags.zip(edit.unpacked)
            && let (Some(old), Some(&[_, _, high, low])) = (slot.flags(&container.data), container.data.get(at..at + 4))
        {
            let new = if unpacked > 0 { old | 1 } else { old & !1 };
            let [first, second] = order.half_bytes(new);
            self.values.extend((new != old).then_some((at - start, [first, second, high, low])));
        }
    }
}

/// Whether the parts of a block are aligned to 4 on purpose. BSPX blocks are, unless an offset shows otherwise. Game
/// lumps are only if padding shows it, and always on consoles (`CompressGameLump`).
fn is_aligned(parts: &Parts, kind: SlotId, order: &[&Slot], start: usize) -> bool {
    let all_at_4 = order.iter().all(|slot| (slot.stored.start - start).is_multiple_of(4));
    let is_padded =
        order.windows(2).any(|pair| (1..4).contains(&pair[1].stored.start.saturating_sub(pair[0].stored.end)));
    all_at_4 && (is_padded || parts.rules.relative_members || matches!(kind, SlotId::Bspx(_)))
}

/// The slots of the same kind: members of the game lump, or BSPX entries.
fn children(parts: &Parts, kind: SlotId) -> impl Iterator<Item = &Slot> {
    let kind = std::mem::discriminant(&kind);
    parts.slots.iter().filter(move |slot| std::mem::discriminant(&slot.id) == kind)
}

fn count(parts: &Parts, kind: SlotId) -> usize {
    children(parts, kind).count()
}
