//! Placement: where every slot of a draft is placed, by the rows of the layout table, and which words change.
//!
//! The file is a sequence of *blocks*: the largest ranges that slots cover without a gap. Gaps are between the blocks,
//! and the tail follows them. An edit replaces the content of a block that has only one slot; a slot that shares its
//! bytes is detached. All other blocks keep their bytes, and move only as a whole.

mod blocks;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::container::{Container, Parts};
use super::inside::{self, Content};
use super::piece::{Piece, Pieces};
use super::plan::Plan;
use super::report::{How, Report, SlotEdit, Versioned};
use super::slot::{Slot, SlotId};
use super::tail::TailPart;
use super::{Layout, Rules};
use crate::bytes::{Rope, align_up, is_zero};
use crate::error::{Error, ErrorKind, Place, Result};
use blocks::{Block, blocks};

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
    let mut sheet = Sheet::new(container, edits)?;
    match layout {
        Layout::Keep | Layout::Append => sheet.lay_in_order(layout)?,
        Layout::Repack => sheet.lay_again()?,
    }
    sheet.lay_tail()?;
    sheet.refuse_to_move_the_unread()?;
    sheet.finish(layout)
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
                self.pieces.old(range);
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

        for (_, unit) in units {
            match unit {
                Unit::Slot(slot) => self.place_at_end(vec![slot])?,
                Unit::Block(index) => {
                    let slots = &self.blocks[index].slots;
                    let alignment = slots.iter().map(|slot| self.alignment(&self.parts.slots[*slot])).max();
                    let range = self.live_range(index);
                    let is_emptied = self.sole_edit(index).is_some_and(|(_, content)| content.len() == 0);
                    let alignment = alignment.filter(|_| !is_emptied).unwrap_or(1);
                    self.pieces.zeros(padding(self.pieces.len(), alignment));
                    self.block_starts[index] = self.pieces.len();
                    match self.sole_edit(index) {
                        Some((slot, _)) => self.place_content(slot, How::Repacked),
                        None => self.pieces.old(range),
                    }
                }
            }
        }
        self.slots_end = self.pieces.len();
        for index in 0..self.blocks.len() {
            let gap = &self.container.data[self.gap_behind(index)];
            if !gap.is_empty() {
                self.report.dropped.0 += gap.len();
                self.report.dropped.1 += gap.iter().filter(|byte| **byte != 0).count();
            }
        }
        if let (_, content @ 1..) = self.report.dropped {
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
