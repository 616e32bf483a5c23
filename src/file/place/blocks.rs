//! Blocks: ranges of the file that slots cover without a gap, and how each may be placed.

use std::ops::Range;

use super::{Sheet, refused};
use crate::bytes::is_zero;
use crate::error::Result;
use crate::file::Rules;
use crate::file::container::Parts;
use crate::file::inside::Content;
use crate::file::slot::{Bounds, Slot, SlotId};
use crate::file::tail::TailPart;

/// A range of the old file that slots, or the header, cover without a gap.
pub(super) struct Block {
    pub(super) range: Range<usize>,
    /// Indices into the slots.
    pub(super) slots: Vec<usize>,
    pub(super) is_header: bool,
}

/// The blocks of a file in order; the first is the header with everything that overlaps it. A BSPX entry that points at
/// lumps shares their bytes like any other slot, and so does a member of the game lump that lies elsewhere.
pub(super) fn blocks(parts: &Parts) -> Vec<Block> {
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
    pub(super) fn is_edited(&self, slot: &Slot) -> bool {
        self.report.edits.iter().any(|edit| edit.slot == slot.id)
    }

    /// The slot, if the block has only one.
    pub(super) fn sole_owner(&self, block: usize) -> Option<usize> {
        let Block { slots, is_header, .. } = &self.blocks[block];
        match slots[..] {
            [slot] if !is_header => Some(slot),
            _ => None,
        }
    }

    pub(super) fn sole_edit(&self, block: usize) -> Option<(usize, &Content<'a>)> {
        let slot = self.sole_owner(block)?;
        Some((slot, self.contents.get(&slot)?))
    }

    pub(super) fn gap_behind(&self, block: usize) -> Range<usize> {
        let end = self.blocks[block].range.end;
        end..self.blocks.get(block + 1).map_or(end, |next| next.range.start)
    }

    /// Whether a slot is empty in the new file.
    pub(super) fn is_emptied(&self, slot: usize) -> bool {
        self.contents.get(&slot).is_none_or(|content| content.len() == 0)
    }

    /// A block's range up to the end of the last slot that keeps its bytes.
    pub(super) fn live_range(&self, block: usize) -> Range<usize> {
        let Block { range, slots, is_header } = &self.blocks[block];
        let kept = slots.iter().filter(|slot| !self.contents.contains_key(slot));
        let floor = if *is_header { self.parts.header_end } else { range.start };
        let end = kept.map(|slot| self.parts.slots[*slot].stored.end.min(range.end)).max();
        range.start..end.unwrap_or(floor).max(floor)
    }

    /// Whether only a last lump that is emptied and the zeros before it follow: then those zeros go with it.
    pub(super) fn ends_before_nothing(&self, block: usize) -> bool {
        let is_emptied = |(_, content): (usize, &Content<'_>)| content.len() == 0;
        block + 2 == self.blocks.len()
            && self.sole_edit(block + 1).is_some_and(is_emptied)
            && is_zero(&self.container.data[self.gap_behind(block)])
    }

    /// Whether everything after a block can move without a change of its bytes: it holds no known or possible offsets.
    pub(super) fn may_shift_behind(&self, block: usize) -> bool {
        let mut after = self.blocks[block + 1..].iter().flat_map(|block| &block.slots);
        self.parts.unread_header.is_none()
            && after.all(|slot| {
                let slot = &self.parts.slots[*slot];
                let rules = self.parts.rules;
                let holds_offsets = !rules.relative_members && rules.game_lump.map(SlotId::Lump) == Some(slot.id);
                self.container.pinned(slot.id).is_none() && !holds_offsets
            })
    }

    pub(super) fn alignment_behind(&self, block: usize) -> usize {
        let after = self.blocks[block + 1..].iter().flat_map(|block| &block.slots);
        after.map(|slot| self.alignment(&self.parts.slots[*slot])).max().unwrap_or(4)
    }

    pub(super) fn alignment(&self, slot: &Slot) -> usize {
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
    pub(super) fn homeless(&self) -> Vec<usize> {
        let placed: Vec<usize> = (0..self.blocks.len()).filter_map(|index| self.sole_owner(index)).collect();
        self.contents.keys().copied().filter(|slot| !placed.contains(slot)).collect()
    }

    /// Whether it is the lump that must be first.
    pub(super) fn is_first(&self, slot: usize) -> bool {
        self.parts.rules.first_lump == Some(slot)
    }

    /// Which of the slots that stay last it is, if it is one: it ends where a trailer says its offset, which has to
    /// stay so, or readers want it after all others, where it is.
    pub(super) fn last_rank(&self, slot: usize) -> Option<usize> {
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
    pub(super) fn refuse_damage(&self, what: &str, is_mended: impl Fn(&Slot) -> bool) -> Result<()> {
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

    pub(super) fn ends_with_overrun(&self) -> bool {
        let overruns = |slot: &Slot| slot.bounds == Bounds::Overrun && !self.is_edited(slot);
        self.parts.slots.iter().any(overruns)
    }
}
