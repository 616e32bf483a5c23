//! Words: the new values of the directory words after placement.

use std::collections::BTreeMap;

use super::{Sheet, refused};
use crate::bytes::align_up;
use crate::error::{Error, ErrorKind, Hint, Result};
use crate::file::Layout;
use crate::file::inside::{self, Home, Words};
use crate::file::plan::{Moved, Plan, Versioned};
use crate::file::slot::{Bounds, Slot, SlotId, TailPart};

/// The largest offset: engines read offsets as signed 32-bit numbers.
const MOST_BYTES: usize = 0x7FFF_FFFF;

impl<'a> Sheet<'_, 'a> {
    /// Computes every word, writes those that changed, and checks the result.
    pub(super) fn finish(mut self, layout: Layout) -> Result<Plan<'a>> {
        let new_size = self.pieces.len();
        if new_size > MOST_BYTES {
            let message = format!("the file would grow to {new_size} bytes; engines read offsets below 2 GiB only");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        self.report.size.1 = new_size;
        self.refuse_to_feed_the_cut(new_size)?;
        self.check_bspx_place(new_size)?;
        let mut words = BTreeMap::new();
        for (index, slot) in self.parts.slots.iter().enumerate().filter(|(_, slot)| slot.is_top_level()) {
            let offset = self.new_offset(index, slot, new_size)?;
            if offset != slot.offset {
                words.insert(slot.words.offset, slot.words.order.word_bytes(offset));
                if slot.bounds != Bounds::Empty && !self.is_edited(slot) {
                    self.report.moved.push(Moved { name: slot.name.clone(), offsets: (slot.offset, offset) });
                }
                if let Some(reason) = self.container.pinned(slot.id)
                    && self.contents.get(&index).is_none_or(|content| content.is_pinned)
                {
                    let message = format!("{} cannot be moved: {reason}", slot.name);
                    let hint = if layout == Layout::Repack { Hint::Keep } else { Hint::Append };
                    return Err(refused(message, &slot.name).with_hint(hint));
                }
            }
            self.contents.get(&index).into_iter().for_each(|content| content.add_words(slot, &mut words));
        }
        for Versioned { slot, to, .. } in &self.report.versions {
            let found = self.container.slot(*slot);
            let word = found.and_then(|slot| Some((slot.words.version?, slot.words.order.word_bytes(*to))));
            words.extend(word);
        }
        for (index, slot) in self.parts.slots.iter().enumerate() {
            let block = self.blocks.iter().position(|block| block.slots.contains(&index));
            if let (SlotId::Game(_), Some(block)) = (slot.id, block)
                && self.start_of(index, block) != slot.stored.start
            {
                return Err(refused(
                    format!("{} cannot be moved: it is outside of the game lump", slot.name),
                    &slot.name,
                ));
            }
        }
        self.game_lump_words(new_size, &mut words);
        self.bspx_words(new_size, &mut words);
        if let Some(TailPart::Trailer(range)) = self.parts.tail.last()
            && let Some(lump) = self.parts.rules.trailer_lump
            && let Some(offset) = words.get(&self.parts.slots[lump].words.offset).copied()
        {
            words.insert(new_size - range.len(), offset);
        }
        self.find_overwritten(&words);
        let words: Vec<_> = words.into_iter().collect();
        self.pieces.overwrite(&words);
        Ok(Plan::new(self.container, self.pieces, self.report, layout))
    }

    /// Slots that lie over the directory, or over that of the game lump, change with its words.
    fn find_overwritten(&mut self, words: &Words) {
        // The game lump's own words are in it, unless it lies over the directory and is not read.
        let is_apart = |slot: &usize| self.parts.slots[*slot].stored.start >= self.parts.header_end;
        let game_lump = self.parts.rules.game_lump.filter(is_apart);
        for (index, block) in self.blocks.iter().enumerate() {
            for slot in block.slots.iter().filter(|slot| !self.contents.contains_key(slot) && Some(**slot) != game_lump)
            {
                let old = self.parts.slots[*slot].stored.start;
                let new = self.start_of(*slot, index);
                let range = new..new + self.parts.slots[*slot].stored.len();
                let differs = |(at, word): (&usize, &[u8; 4])| {
                    let bytes = (*at..).zip(word).filter(|(at, _)| range.contains(at));
                    bytes.into_iter().any(|(at, byte)| self.container.data.get(at - new + old) != Some(byte))
                };
                if words.range(range.start.saturating_sub(3)..range.end).any(differs) {
                    self.report.overwritten.push(self.parts.slots[*slot].name.clone());
                }
            }
        }
    }

    /// Row 11 for members of the game lump: the file must not grow over bytes that a member claims past the end.
    fn refuse_to_feed_the_cut(&self, new_size: usize) -> Result<()> {
        match self.container.cut_game_lump().filter(|_| new_size > self.container.data.len()) {
            None => Ok(()),
            Some(lump) => {
                let message =
                    format!("a member of {} claims bytes past the end of the file, which cannot grow", lump.name);
                Err(refused(message, &lump.name).with_hint("make an edit that does not make the file larger"))
            }
        }
    }

    /// Readers look for BSPX after the last lump, so the last lump must end where the block begins.
    fn check_bspx_place(&self, new_size: usize) -> Result<()> {
        let Some(start) = self.bspx_start else { return Ok(()) };
        let mut end = self.parts.header_end;
        for (index, slot) in self.parts.slots.iter().enumerate() {
            let length = self.contents.get(&index).map_or(slot.stored.len(), |content| content.len());
            let is_in_block = || self.blocks.iter().any(|block| block.slots.contains(&index));
            end = match slot.id {
                _ if length == 0 => end,
                SlotId::Lump(_) | SlotId::Extra(_) => {
                    end.max(usize::try_from(self.new_offset(index, slot, new_size)?).unwrap_or(0) + length)
                }
                // A member that is elsewhere in the file never moves.
                SlotId::Game(_) if is_in_block() => end.max(slot.stored.end),
                SlotId::Game(_) | SlotId::Bspx(_) => end,
            };
        }
        match align_up(end, 4) == start {
            true => Ok(()),
            false => Err(refused("the BSPX block would not follow the last lump, where readers look for it", "bspx")
                .with_hint(Hint::Repack)),
        }
    }

    /// The offsets within the game lump: in its new bytes, and in the old bytes if other slots still share them.
    pub(super) fn game_lump_words(&self, file_end: usize, words: &mut Words) {
        let Some(slot) = self.parts.rules.game_lump else { return };
        let block = self.blocks.iter().position(|block| block.slots.contains(&slot));
        let sole = block.is_some_and(|block| self.sole_owner(block) == Some(slot));
        let content = self.contents.get(&slot);
        let start = match self.detached.get(&slot) {
            Some(start) => Some(*start),
            None => block.filter(|_| sole).map(|block| self.start_of(slot, block)),
        };
        if let (Some(content), Some(start)) = (content, start) {
            content.relocate(Home { start, file_end }, words);
        }
        if let Some(block) = block.filter(|_| content.is_none() || !sole) {
            let start = self.start_of(slot, block);
            let old = inside::unedited(self.parts, SlotId::Game(0), &self.parts.slots[slot].stored);
            // What only edited slots had is not in the new file.
            let end = self.block_starts[block] + self.kept[block];
            let mut in_old = Words::new();
            old.relocate(Home { start, file_end }, &mut in_old);
            words.extend(in_old.into_iter().filter(|(at, _)| at + 4 <= end));
        }
    }

    pub(super) fn bspx_words(&self, new_size: usize, words: &mut Words) {
        let Some(start) = self.bspx_start else { return };
        let Some(range) = self.parts.tail.iter().find_map(|part| match part {
            TailPart::Bspx(range) => Some(range),
            _ => None,
        }) else {
            return;
        };
        let unedited;
        let content = match &self.bspx_content {
            Some(content) => content,
            None => {
                unedited = inside::unedited(self.parts, SlotId::Bspx(0), range);
                &unedited
            }
        };
        content.relocate(Home { start, file_end: new_size }, words);
        // An entry that points into the lumps before the block moves with these lumps; one that points past the end
        // keeps its distance to the end.
        for slot in self.parts.slots.iter().filter(|slot| matches!(slot.id, SlotId::Bspx(_))) {
            let at = usize::try_from(slot.offset).unwrap_or(0);
            let moved = match slot.bounds {
                _ if content.covers(slot.id) => None,
                Bounds::Outside => self.pushed_out(slot.offset, new_size),
                Bounds::Inside | Bounds::Overrun if at < range.start => {
                    let block = self.blocks.iter().position(|block| block.range.contains(&at));
                    block.map(|block| at - self.blocks[block].range.start + self.block_starts[block])
                }
                _ => None,
            };
            if let Some(moved) = moved.and_then(|moved| i32::try_from(moved).ok())
                && moved != slot.offset
            {
                words.insert(slot.words.offset - range.start + start, slot.words.order.word_bytes(moved));
            }
        }
    }

    /// The offset of a top-level slot in the new file.
    pub(super) fn new_offset(&self, index: usize, slot: &Slot, new_size: usize) -> Result<i32> {
        let old_size = self.container.data.len();
        let is_emptied = self.contents.get(&index).is_some_and(|content| content.len() == 0);
        let bounds = if is_emptied { Bounds::Empty } else { slot.bounds };
        let place = match bounds {
            _ if self.detached.contains_key(&index) => self.detached.get(&index).copied(),
            Bounds::Inside | Bounds::Overrun => {
                let block = self.blocks.iter().position(|block| block.slots.contains(&index));
                block.map(|block| self.start_of(index, block))
            }
            // The word of an empty slot is kept, unless it would be past the new end; readers of BSPX use it as the end
            // of a lump.
            Bounds::Empty => {
                let ends = (align_up(self.parts.tail_start, 4), align_up(self.slots_end, 4));
                let old = usize::try_from(slot.offset).ok();
                let (old_end, end) = match old.filter(|old| self.bspx_start.is_some() && *old <= ends.0) {
                    Some(_) => ends,
                    None => (old_size, new_size),
                };
                old.filter(|old| *old <= old_end && *old > end).map(|_| end)
            }
            Bounds::Outside => self.pushed_out(slot.offset, new_size),
            Bounds::Negative => None,
        };
        let Some(place) = place else { return Ok(slot.offset) };
        i32::try_from(place)
            .map_err(|_| Error::new(ErrorKind::TooLarge, format!("{} would start past 2 GiB", slot.name)))
    }

    /// An offset past the end stays past the end. It changes only if the file would grow over it; otherwise the entry
    /// would claim bytes by accident.
    pub(super) fn pushed_out(&self, offset: i32, new_size: usize) -> Option<usize> {
        let offset = usize::try_from(offset).ok().filter(|offset| *offset < new_size)?;
        Some(offset - self.container.data.len() + new_size)
    }

    /// Where a slot of a block begins in the new file.
    pub(super) fn start_of(&self, slot: usize, block: usize) -> usize {
        self.parts.slots[slot].stored.start - self.blocks[block].range.start + self.block_starts[block]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::place::Edits;
    use crate::{Bsp, Builder, dialect};

    /// Planted faults: a placement that leaves a gap before BSPX, and one that forgets how long the last lump is.
    #[test]
    fn bspx_that_does_not_follow_the_last_lump_is_refused() {
        let builder = Builder::new(&dialect::QUAKE2).lump(0, "{\n}\n\0").lump(1, [1; 40]).order(&[0, 1]);
        let map = Bsp::from_vec(builder.bspx("RGBLIGHTING", [7; 5]).build().unwrap()).unwrap();
        let finished = |fault: fn(&mut Sheet<'_, '_>)| {
            let mut sheet = Sheet::new(map.container(), &Edits::default()).unwrap();
            sheet.lay_in_order(Layout::Keep).unwrap();
            sheet.lay_tail().unwrap();
            fault(&mut sheet);
            sheet.finish(Layout::Keep).map(|plan| plan.is_identity()).map_err(|error| error.to_string())
        };
        assert_eq!(finished(|_| ()), Ok(true));
        let gap = finished(|sheet| sheet.bspx_start = sheet.bspx_start.map(|start| start + 4)).unwrap_err();
        assert!(gap.contains("would not follow the last lump"), "{gap}");
        let moved = finished(|sheet| sheet.block_starts.iter_mut().for_each(|start| *start += 4)).unwrap_err();
        assert!(moved.contains("would not follow the last lump"), "{moved}");
    }
}
