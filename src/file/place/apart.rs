//! The layout patch: nothing that the old directory names is written over before the new directory is there.

use std::collections::HashMap;

use super::{How, Sheet, refused};
use crate::bytes::{align_up, is_zero};
use crate::error::Result;
use crate::file::slot::TailPart;

impl Sheet<'_, '_> {
    /// Every edited slot goes into zeros between other slots, or after the end of the old file; its old place becomes
    /// zeros. No other slot moves.
    ///
    /// # Errors
    /// Slots, the tail or an extra header would have to move.
    pub(super) fn lay_apart(&mut self) -> Result<()> {
        self.refuse_what_is_tied()?;
        let (in_gaps, at_end) = self.new_places();
        for index in 0..self.blocks.len() {
            self.block_starts[index] = self.pieces.len();
            let range = self.blocks[index].range.clone();
            match self.sole_edit(index) {
                Some(_) => self.pieces.zeros(range.len()),
                None => self.lay_old(index, range),
            }
            let gap = self.gap_behind(index);
            let Some(slot) = in_gaps.get(&index).copied() else {
                self.pieces.old(gap);
                continue;
            };
            let start = align_up(gap.start, self.alignment(&self.parts.slots[slot]));
            self.pieces.old(gap.start..start);
            self.detached.insert(slot, start);
            self.place_content(slot, How::Slack);
            self.set_how(slot, How::Hole);
            self.pieces.old(self.pieces.len()..gap.end);
        }
        let is_free = self.is_tail_free();
        if !is_free && !at_end.is_empty() {
            // It would be written again with each edit, and the file would grow each time.
            return Err(refused("what follows the last lump would have to move", "tail"));
        }
        self.place_at_end(at_end)?;
        self.slots_end = self.pieces.len();
        if !is_free {
            return self.lay_tail();
        }
        let size = self.container.data.len();
        // The file does not become shorter: what was after its end may be read elsewhere.
        self.pieces.old(self.pieces.len().min(size)..size);
        let alignment = self.parts.rules.end_alignment(size);
        if size.is_multiple_of(alignment) {
            self.pieces.zeros(super::padding(self.pieces.len(), alignment));
        }
        Ok(())
    }

    /// Whether only zeros follow the last slot.
    fn is_tail_free(&self) -> bool {
        self.parts.tail.iter().all(|part| match part {
            TailPart::Padding(range) | TailPart::Unknown(range) => is_zero(&self.container.data[range.clone()]),
            _ => false,
        })
    }

    /// The slots that go into the gap after a block, and those that go to the end.
    fn new_places(&self) -> (HashMap<usize, usize>, Vec<usize>) {
        let (mut in_gaps, mut at_end) = (HashMap::new(), Vec::new());
        for (slot, content) in self.contents.iter().filter(|(_, content)| content.len() > 0) {
            let last = self.blocks.len() - 1;
            // The tail follows the last slot, so that it would have to move.
            let must_stay_last = !self.is_tail_free() && self.sole_owner(last) == Some(*slot);
            let alignment = self.alignment(&self.parts.slots[*slot]);
            let fits = |block: &usize| {
                let gap = self.gap_behind(*block);
                !in_gaps.contains_key(block)
                    && align_up(gap.start, alignment) + content.len() <= gap.end
                    && is_zero(&self.container.data[gap])
            };
            match (0..last).find(fits).filter(|_| !must_stay_last) {
                Some(block) => drop(in_gaps.insert(block, *slot)),
                None => at_end.push(*slot),
            }
        }
        (in_gaps, at_end)
    }

    fn refuse_what_is_tied(&self) -> Result<()> {
        let is_edited = |slot: &usize| self.contents.contains_key(slot);
        let slots = 0..self.parts.slots.len();
        let tied = match () {
            () if self.parts.unread_header.is_some() => "an extra header of an unsupported version may name any bytes",
            () if self.parts.tail.iter().any(|part| matches!(part, TailPart::Trailer(_))) => {
                "a trailer at the end of the file repeats where the entities are"
            }
            () if slots.clone().any(|slot| self.last_rank(slot).is_some()) => "some lumps have to stay last",
            () if slots.filter(is_edited).any(|slot| self.is_first(slot)) => "the lump has to stay first",
            () => return Ok(()),
        };
        Err(refused(tied, "directory"))
    }
}
