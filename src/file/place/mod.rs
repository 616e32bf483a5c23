//! Placement: where every slot of a draft is placed, by the rows of the layout table, and which words change.
//!
//! The file is a sequence of *blocks*: the largest ranges that slots cover without a gap. Gaps are between the blocks,
//! and the tail follows them. An edit replaces the content of a block that has only one slot; a slot that shares its
//! bytes is detached. All other blocks keep their bytes, and move only as a whole.

mod apart;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::container::{Container, Parts};
use super::inside::{self, Content};
use super::patch::Patch;
use super::plan::{How, Piece, Pieces, Plan, Report, SlotEdit, Versioned};
use super::slot::{Slot, SlotId, TailPart};
use super::{Layout, Rules};
use crate::bytes::{Rope, align_up, is_zero};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::slot::Bounds;

/// The new bytes of one slot.
#[derive(Clone, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) slot: SlotId,
    /// The stored bytes.
    pub(crate) stored: Rope<'a>,
    /// The size after decompression if the bytes are compressed; 0 if they no longer are. `None` keeps the word: the
    /// slot was not compressed before either, and no reader uses the word then.
    pub(crate) unpacked: Option<usize>,
}

/// The changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits<'a> {
    pub(crate) slots: Vec<Edit<'a>>,
    /// Versions of lumps.
    pub(crate) versions: Vec<(SlotId, i32)>,
}

/// Places the edits. The result depends only on the input; without edits it is the old file.
pub(crate) fn plan<'a>(container: &Container<'a>, edits: &Edits<'a>, layout: Layout) -> Result<Plan<'a>> {
    if edits.slots.is_empty() && edits.versions.is_empty() && layout != Layout::Repack {
        return Ok(Plan::identity(container));
    }
    if layout == Layout::Patch {
        return patched(container, edits);
    }
    let mut sheet = Sheet::new(container, edits)?;
    match layout {
        Layout::Repack => sheet.lay_again()?,
        _ => sheet.lay_in_order(layout)?,
    }
    sheet.lay_tail()?;
    sheet.refuse_to_move_the_unread()?;
    sheet.finish(layout)
}

/// Patch: edits that change one sector of the old map stay in their places, others go apart from their old bytes.
fn patched<'a>(container: &Container<'a>, edits: &Edits<'a>) -> Result<Plan<'a>> {
    let keep = plan(container, edits, Layout::Keep)?;
    if let Ok(patch) = Patch::of(&keep, false)
        && keep.report().moved.is_empty()
    {
        return Ok(keep.with_patch(Ok(patch)));
    }
    let apart = Sheet::new(container, edits).and_then(|mut sheet| {
        sheet.lay_apart()?;
        sheet.finish(Layout::Patch)
    });
    Ok(match apart {
        Ok(apart) => match Patch::of(&apart, true) {
            Ok(patch) => apart.with_patch(Ok(patch)),
            Err(why) => keep.with_patch(Err(why.to_owned())),
        },
        Err(error) => keep.with_patch(Err(error.to_string())),
    })
}

struct Sheet<'s, 'a> {
    container: &'s Container<'a>,
    parts: &'s Parts,
    blocks: Vec<Block>,
    /// The new content of edited top-level slots, by index into the slots.
    contents: BTreeMap<usize, Content<'a>>,
    bspx_content: Option<Content<'a>>,
    pieces: Pieces<'a>,
    /// Where blocks and detached slots begin in the new file.
    block_starts: Vec<usize>,
    /// How many of the old bytes of a block are in the new file, from its first on.
    kept: Vec<usize>,
    detached: HashMap<usize, usize>,
    bspx_start: Option<usize>,
    /// Where the last top-level slot ends in the new file.
    slots_end: usize,
    report: Report,
}

impl<'s, 'a> Sheet<'s, 'a> {
    fn new(container: &'s Container<'a>, edits: &Edits<'a>) -> Result<Self> {
        let parts = &*container.parts;
        let blocks = blocks(parts);
        let (contents, bspx_content) = inside::contents(container, &edits.slots)?;
        let mut report = Report { size: (container.data.len(), 0), ..Report::default() };
        for edit in &edits.slots {
            if let Some(slot) = container.slot(edit.slot) {
                let sizes = (slot.stored.len(), edit.stored.len());
                if slot.bounds.is_damaged() {
                    let warning = format!("{} {}; the file has only {} bytes of it", slot.name, slot.bounds, sizes.0);
                    report.warnings.push(warning);
                }
                report.edits.push(SlotEdit { name: slot.name.clone(), slot: slot.id, sizes, how: How::InPlace });
            }
        }
        for (id, to) in &edits.versions {
            if let Some(Slot { name, version: Some(from), .. }) = container.slot(*id) {
                report.versions.push(Versioned { name: name.clone(), slot: *id, from: *from, to: *to });
            }
        }
        Ok(Sheet {
            container,
            parts,
            block_starts: vec![0; blocks.len()],
            kept: vec![0; blocks.len()],
            blocks,
            contents,
            bspx_content,
            pieces: Pieces::default(),
            detached: HashMap::new(),
            bspx_start: None,
            slots_end: 0,
            report,
        })
    }

    /// Keep and append: file order, each edited slot by the rows of the layout table.
    fn lay_in_order(&mut self, layout: Layout) -> Result<()> {
        // Slots that share their bytes, or had none, cannot be changed in place.
        let mut to_the_end = self.homeless();
        for index in 0..self.blocks.len() {
            let rank = self.blocks[index].slots.iter().filter_map(|slot| self.last_rank(*slot)).max();
            if rank.is_some() {
                let (last, others) = to_the_end.into_iter().partition(|slot| self.last_rank(*slot) >= rank);
                to_the_end = last;
                self.place_at_end(others)?;
                let (start, alignment) =
                    (self.blocks[index].range.start, self.alignment_behind(index.saturating_sub(1)));
                self.pieces.zeros((start % alignment + alignment - self.pieces.len() % alignment) % alignment);
            }
            self.block_starts[index] = self.pieces.len();
            let is_last = index + 1 == self.blocks.len();
            let ends_here = is_last && to_the_end.iter().all(|slot| self.is_emptied(*slot));
            // Bytes at the end that only an emptied slot had are removed: the tail follows the last lump.
            let range = if ends_here { self.live_range(index) } else { self.blocks[index].range.clone() };
            let mut gap = self.gap_behind(index);
            if self.ends_before_nothing(index) {
                gap.end = gap.start;
            }
            if self.sole_edit(index).is_none() {
                self.lay_old(index, range);
                self.pieces.old(gap);
            } else {
                to_the_end.extend(self.lay_edited(index, gap, layout));
            }
        }
        self.place_at_end(to_the_end)?;
        self.slots_end = self.pieces.len();
        Ok(())
    }

    /// Places an edited slot that has its own block, and the gap after it. It returns the slot if it must move to the
    /// end.
    fn lay_edited(&mut self, block: usize, gap: Range<usize>, layout: Layout) -> Option<usize> {
        let (slot, new) = self.sole_edit(block).map(|(slot, content)| (slot, content.len()))?;
        let old = self.blocks[block].range.len();
        if block + 1 == self.blocks.len() {
            // Row 3.
            self.place_content(slot, How::Last);
            return None;
        }
        let may_grow = new > old && self.parts.unread_header.is_none();
        let slack = if may_grow && is_zero(&self.container.data[gap.clone()]) { gap.len() } else { 0 };
        if new <= old {
            // Row 1.
            self.place_content(slot, How::InPlace);
            self.pieces.zeros(old - new);
            self.pieces.old(gap);
        } else if new <= old + slack {
            // Row 2.
            self.place_content(slot, How::Slack);
            self.pieces.old(gap.start + (new - old)..gap.end);
        } else if (layout == Layout::Keep || self.is_first(slot)) && self.may_shift_behind(block) {
            // Row 4.
            let missing = new - old - slack;
            let shift = align_up(missing, self.alignment_behind(block));
            self.place_content(slot, How::Shifted(shift));
            self.pieces.zeros(shift - missing);
            self.pieces.old(gap.start + slack..gap.end);
        } else {
            // Rows 5 and 6.
            self.pieces.zeros(old);
            self.pieces.old(gap);
            return Some(slot);
        }
        None
    }

    /// Repack: the dialect's order, each block at its alignment, no gaps.
    fn lay_again(&mut self) -> Result<()> {
        self.refuse_damage("rewritten", |slot| self.is_edited(slot))?;
        let order = |slot: &Slot| match slot.id {
            SlotId::Lump(index) => {
                let Rules { write_order, last_lumps, .. } = self.parts.rules;
                let from_the_end = last_lumps.iter().rev().position(|lump| *lump == index);
                match from_the_end.or(self.last_rank(index)) {
                    Some(from_the_end) => (usize::MAX, usize::MAX - from_the_end),
                    None => (write_order.iter().position(|lump| *lump == index).unwrap_or(usize::MAX), index),
                }
            }
            SlotId::Extra(index) => (usize::MAX, self.parts.shape.count + index),
            // A block that only BSPX names must not be last: the BSPX directory follows the last lump.
            _ => (0, 0),
        };
        let mut units: Vec<_> = (0..self.blocks.len())
            .map(|index| {
                let Block { slots, is_header, .. } = &self.blocks[index];
                let last = slots.iter().copied().find(|slot| self.last_rank(*slot).is_some());
                let ranks = slots.iter().copied().filter(|slot| last.is_none_or(|last| last == *slot));
                let rank = ranks.map(|slot| order(&self.parts.slots[slot])).min();
                ((!is_header, rank), Unit::Block(index))
            })
            .collect();
        let homeless = self.homeless().into_iter();
        units.extend(homeless.map(|slot| ((true, Some(order(&self.parts.slots[slot]))), Unit::Slot(slot))));
        units.sort_by_key(|(key, _)| *key);

        // The zeros between lumps that the new file has too.
        let mut kept = 0;
        for (_, unit) in units {
            match unit {
                Unit::Slot(slot) => self.place_at_end(vec![slot])?,
                Unit::Block(index) => {
                    let slots = &self.blocks[index].slots;
                    let alignment = slots.iter().map(|slot| self.alignment(&self.parts.slots[*slot])).max();
                    let range = self.live_range(index);
                    let is_emptied = self.sole_edit(index).is_some_and(|(_, content)| content.len() == 0);
                    let alignment = alignment.filter(|_| !is_emptied).unwrap_or(1);
                    let zeros = padding(self.pieces.len(), alignment);
                    self.pieces.zeros(zeros);
                    kept += zeros;
                    self.block_starts[index] = self.pieces.len();
                    match self.sole_edit(index) {
                        Some((slot, _)) => self.place_content(slot, How::Repacked),
                        None => self.lay_old(index, range),
                    }
                }
            }
        }
        self.slots_end = self.pieces.len();
        for index in 0..self.blocks.len() {
            let gap = &self.container.data[self.gap_behind(index)];
            self.report.dropped.0 += gap.len();
            self.report.dropped.1 += gap.iter().filter(|byte| **byte != 0).count();
        }
        let (gaps, content) = self.report.dropped;
        self.report.dropped.0 = gaps.saturating_sub(kept).max(content);
        if content > 0 {
            let lost = format!(
                "{content} bytes between lumps, which no lump names, are left out; the layout keep would keep them"
            );
            self.report.warnings.push(lost);
        }
        Ok(())
    }

    /// What follows the last slot: rows 7 to 10 of the layout table.
    fn lay_tail(&mut self) -> Result<()> {
        let size = self.container.data.len();
        let alignment = self.parts.rules.end_alignment(size);
        let padded = size.is_multiple_of(alignment);
        let mut may_pad = !self.ends_with_overrun();
        for part in &self.parts.tail {
            let range = part.range().clone();
            let stays = self.pieces.len() == range.start;
            match part {
                TailPart::Trailer(_) => {
                    self.pieces.old(range);
                    may_pad = false;
                }
                TailPart::Unknown(_) => {
                    if !stays {
                        let (bytes, to) = (range.len(), self.pieces.len());
                        let moved = format!("{bytes} bytes of unknown meaning after the last lump moved to {to}");
                        self.report.warnings.push(moved);
                    }
                    self.pieces.old(range);
                    may_pad = false;
                }
                TailPart::UnreadableBspx(_) if !stays => {
                    let message = "the BSPX block after the last lump cannot be read, so it cannot be moved";
                    return Err(refused(message, "bspx").with_hint("make an edit that keeps the size"));
                }
                // If the length of the padding is unchanged, keep the original bytes.
                TailPart::BspxPadding(_) if padding(self.pieces.len(), 4) == range.len() => self.pieces.old(range),
                TailPart::BspxPadding(_) => {
                    if !is_zero(&self.container.data[range.clone()]) {
                        let dropped = format!("{} bytes of padding before the BSPX block dropped", range.len());
                        self.report.warnings.push(dropped);
                    }
                }
                TailPart::UnreadableBspx(_) => self.pieces.old(range),
                TailPart::Bspx(_) => {
                    self.pieces.zeros(padding(self.pieces.len(), 4));
                    self.bspx_start = Some(self.pieces.len());
                    match &self.bspx_content {
                        Some(content) => self.pieces.append(&content.pieces),
                        None => self.pieces.old(range),
                    }
                }
                TailPart::Padding(_) if padded => {}
                TailPart::Padding(_) => {
                    if may_pad {
                        self.pieces.old(range);
                    }
                    may_pad = false;
                }
            }
        }
        if padded && may_pad {
            self.pieces.zeros(padding(self.pieces.len(), alignment));
        }
        Ok(())
    }

    /// An unsupported extra header may name any bytes, so nothing outside the edited slots may move.
    fn refuse_to_move_the_unread(&self) -> Result<()> {
        let Some(version) = self.parts.unread_header else { return Ok(()) };
        let is_content = |range: &Range<usize>| {
            let edited = self.contents.keys().map(|slot| &self.parts.slots[*slot].stored);
            edited.into_iter().any(|stored| stored.start <= range.start && range.end <= stored.end)
        };
        let mut at = 0;
        let is_moved = self.pieces.iter().any(|piece| {
            let start = at;
            at += piece.len();
            matches!(piece, Piece::Old(range) if range.start != start && !is_content(range))
        });
        if !is_moved {
            return Ok(());
        }
        let message =
            format!("an Xash3D extra header of the unsupported version {version} may name bytes that would move");
        Err(refused(message, "extra header").with_hint("make an edit that moves nothing"))
    }

    /// Puts the first bytes of a block, as they were.
    fn lay_old(&mut self, block: usize, range: Range<usize>) {
        self.kept[block] = range.len();
        self.pieces.old(range);
    }

    fn place_content(&mut self, slot: usize, how: How) {
        if let Some(content) = self.contents.get(&slot) {
            self.pieces.append(&content.pieces);
        }
        self.set_how(slot, how);
    }

    /// Places slots after everything that has been placed, each at its alignment.
    fn place_at_end(&mut self, slots: Vec<usize>) -> Result<()> {
        for slot in slots {
            if self.is_emptied(slot) {
                continue;
            }
            self.refuse_damage("put after it", |other| self.is_edited(other))?;
            let alignment = self.alignment(&self.parts.slots[slot]);
            self.pieces.zeros(padding(self.pieces.len(), alignment));
            self.detached.insert(slot, self.pieces.len());
            let is_shared = self.blocks.iter().any(|block| block.slots.len() > 1 && block.slots.contains(&slot));
            self.place_content(slot, if is_shared { How::Detached } else { How::Appended });
        }
        Ok(())
    }

    fn set_how(&mut self, slot: usize, how: How) {
        let id = self.parts.slots[slot].id;
        self.report.edits.iter_mut().filter(|edit| edit.slot == id).for_each(|edit| edit.how = how);
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Block(usize),
    Slot(usize),
}

/// The number of zeros that align a position to `alignment`.
pub(super) fn padding(position: usize, alignment: usize) -> usize {
    align_up(position, alignment) - position
}

pub(super) fn refused(message: impl Into<String>, slot: &str) -> Error {
    Error::new(ErrorKind::Refused, message).at(Place::default().lump(slot))
}

// Blocks: ranges of the file that slots cover without a gap, and how each may be placed.

/// A range of the old file that slots, or the header, cover without a gap.
struct Block {
    range: Range<usize>,
    /// Indices into the slots.
    slots: Vec<usize>,
    is_header: bool,
}

/// The blocks of a file in order; the first is the header with everything that overlaps it. A BSPX entry that points at
/// lumps shares their bytes like any other slot, and so does a member of the game lump that lies elsewhere.
fn blocks(parts: &Parts) -> Vec<Block> {
    let is_elsewhere = |slot: &Slot| parts.pinned.iter().any(|(id, _)| *id == slot.id);
    let in_blocks = |slot: &Slot| match slot.id {
        SlotId::Lump(_) | SlotId::Extra(_) | SlotId::Bspx(_) => true,
        SlotId::Game(_) => is_elsewhere(slot),
    };
    let mut order: Vec<(Range<usize>, usize)> = parts
        .slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| in_blocks(slot) && !slot.stored.is_empty() && slot.stored.start < parts.tail_start)
        .map(|(index, slot)| (slot.stored.start..slot.stored.end.min(parts.tail_start), index))
        .collect();
    order.sort_by_key(|(stored, _)| stored.start);
    let mut blocks = vec![Block { range: 0..parts.header_end, slots: Vec::new(), is_header: true }];
    for (stored, index) in order {
        match blocks.last_mut().filter(|block| stored.start < block.range.end) {
            Some(block) => {
                block.range.end = block.range.end.max(stored.end);
                block.slots.push(index);
            }
            None => blocks.push(Block { range: stored, slots: vec![index], is_header: false }),
        }
    }
    blocks
}

impl<'a> Sheet<'_, 'a> {
    fn is_edited(&self, slot: &Slot) -> bool {
        self.report.edits.iter().any(|edit| edit.slot == slot.id)
    }

    /// The slot, if the block has only one.
    fn sole_owner(&self, block: usize) -> Option<usize> {
        let Block { slots, is_header, .. } = &self.blocks[block];
        match slots[..] {
            [slot] if !is_header => Some(slot),
            _ => None,
        }
    }

    fn sole_edit(&self, block: usize) -> Option<(usize, &Content<'a>)> {
        let slot = self.sole_owner(block)?;
        Some((slot, self.contents.get(&slot)?))
    }

    fn gap_behind(&self, block: usize) -> Range<usize> {
        let end = self.blocks[block].range.end;
        end..self.blocks.get(block + 1).map_or(end, |next| next.range.start)
    }

    /// Whether a slot is empty in the new file.
    fn is_emptied(&self, slot: usize) -> bool {
        self.contents.get(&slot).is_none_or(|content| content.len() == 0)
    }

    /// A block's range up to the end of the last slot that keeps its bytes.
    fn live_range(&self, block: usize) -> Range<usize> {
        let Block { range, slots, is_header } = &self.blocks[block];
        let kept = slots.iter().filter(|slot| !self.contents.contains_key(slot));
        let floor = if *is_header { self.parts.header_end } else { range.start };
        let end = kept.map(|slot| self.parts.slots[*slot].stored.end.min(range.end)).max();
        range.start..end.unwrap_or(floor).max(floor)
    }

    /// Whether only a last lump that is emptied and the zeros before it follow: then those zeros go with it.
    fn ends_before_nothing(&self, block: usize) -> bool {
        let is_emptied = |(_, content): (usize, &Content<'_>)| content.len() == 0;
        block + 2 == self.blocks.len()
            && self.sole_edit(block + 1).is_some_and(is_emptied)
            && is_zero(&self.container.data[self.gap_behind(block)])
    }

    /// Whether everything after a block can move without a change of its bytes: it holds no known or possible offsets.
    fn may_shift_behind(&self, block: usize) -> bool {
        let mut after = self.blocks[block + 1..].iter().flat_map(|block| &block.slots);
        self.parts.unread_header.is_none()
            && after.all(|slot| {
                let slot = &self.parts.slots[*slot];
                let rules = self.parts.rules;
                let holds_offsets = !rules.relative_members && rules.game_lump.map(SlotId::Lump) == Some(slot.id);
                self.container.pinned(slot.id).is_none() && !holds_offsets
            })
    }

    fn alignment_behind(&self, block: usize) -> usize {
        let after = self.blocks[block + 1..].iter().flat_map(|block| &block.slots);
        after.map(|slot| self.alignment(&self.parts.slots[*slot])).max().unwrap_or(4)
    }

    fn alignment(&self, slot: &Slot) -> usize {
        let Rules { alignments, .. } = self.parts.rules;
        let coarser = alignments.iter().find(|rule| {
            let stood_so = !slot.stored.is_empty() && slot.stored.start.is_multiple_of(rule.bytes);
            // An empty lump needs a place only if it gets bytes.
            let is_there = !slot.stored.is_empty() || self.is_edited(slot);
            SlotId::Lump(rule.lump) == slot.id && if rule.only_if_it_stood_so { stood_so } else { is_there }
        });
        coarser.map_or(4, |rule| rule.bytes)
    }

    /// Edited slots that have no block for themselves.
    fn homeless(&self) -> Vec<usize> {
        let placed: Vec<usize> = (0..self.blocks.len()).filter_map(|index| self.sole_owner(index)).collect();
        self.contents.keys().copied().filter(|slot| !placed.contains(slot)).collect()
    }

    /// Whether it is the lump that must be first.
    fn is_first(&self, slot: usize) -> bool {
        self.parts.rules.first_lump == Some(slot)
    }

    /// Which of the slots that stay last it is, if it is one: it ends where a trailer says its offset, which has to
    /// stay so, or readers want it after all others, where it is.
    fn last_rank(&self, slot: usize) -> Option<usize> {
        let Rules { trailer_lump, last_lumps, .. } = *self.parts.rules;
        let stored = &self.parts.slots[slot].stored;
        let has_trailer = matches!(self.parts.tail[..], [TailPart::Trailer(_)]) && trailer_lump == Some(slot);
        let rank = |slot: usize| last_lumps.iter().position(|last| *last == slot);
        let own = rank(slot);
        let is_before = |(index, other): (usize, &Slot)| {
            other.stored.start < stored.end || rank(index).is_some_and(|rank| Some(rank) > own)
        };
        let mut others = self.parts.slots.iter().enumerate();
        let stands_last = own.is_some() && (stored.is_empty() || others.all(is_before));
        own.filter(|_| stands_last).or((has_trailer && stored.end == self.parts.tail_start).then_some(0))
    }

    /// Row 11: nothing may be placed after a lump that claims bytes past the end of the file.
    fn refuse_damage(&self, what: &str, is_mended: impl Fn(&Slot) -> bool) -> Result<()> {
        let claims = |slot: &&Slot| {
            matches!(slot.bounds, Bounds::Overrun | Bounds::Outside) && slot.is_top_level() && !is_mended(slot)
        };
        match self.parts.slots.iter().find(claims) {
            None => Ok(()),
            Some(slot) => {
                let message = format!("{} {}, so nothing can be {what}", slot.name, slot.bounds);
                Err(refused(message, &slot.name)
                    .with_hint("make an edit that fits its place or shifts what follows it"))
            }
        }
    }

    fn ends_with_overrun(&self) -> bool {
        let overruns = |slot: &Slot| slot.bounds == Bounds::Overrun && !self.is_edited(slot);
        self.parts.slots.iter().any(overruns)
    }
}
