//! Placement: where every slot of a draft goes, by the rows of the layout table, and which words that changes.
//!
//! The file is seen as *blocks*, the largest stretches that slots cover without a break, with gaps between them and
//! the tail behind. An edit replaces the content of a block that belongs to one slot alone; a slot that shares its
//! bytes is detached. Everything else keeps its bytes and moves at most as a whole.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::container::{Bounds, Container, Parts, Slot, SlotId};
use super::inside::{self, Content, Home, Words};
use super::piece::{Piece, Pieces};
use super::plan::{How, Moved, Plan, Report, SlotEdit};
use super::tail::TailPart;
use super::{Layout, Rules};
use crate::bytes::{Data, align_up, is_zero};
use crate::error::{Error, ErrorKind, Place, Result};

/// The new bytes of one slot.
#[derive(Clone, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) slot: SlotId,
    /// What is to stand in the file.
    pub(crate) stored: Data<'a>,
    /// Where that is compressed: the size after decompression.
    pub(crate) unpacked: Option<usize>,
}

/// The greatest offset: engines read offsets as signed numbers of 32 bits.
const MOST_BYTES: usize = 0x7FFF_FFFF;

/// Places the edits; pure, and without a change the identity.
pub(crate) fn plan<'a>(container: &Container<'a>, edits: &[Edit<'a>], layout: Layout) -> Result<Plan<'a>> {
    if edits.is_empty() && layout != Layout::Repack {
        return Ok(Plan::identity(container));
    }
    let mut sheet = Sheet::new(container, edits)?;
    match layout {
        Layout::Keep | Layout::Append => sheet.lay_in_order(layout)?,
        Layout::Repack => sheet.lay_again()?,
    }
    sheet.lay_tail()?;
    sheet.finish(layout)
}

/// A stretch of the old file that slots, or the header, cover without a break.
struct Block {
    range: Range<usize>,
    /// Indices into the slots.
    slots: Vec<usize>,
    is_header: bool,
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
    fn new(container: &'s Container<'a>, edits: &[Edit<'a>]) -> Result<Self> {
        let parts = &*container.parts;
        let blocks = blocks(parts);
        let (contents, bspx_content) = inside::contents(container, edits)?;
        let mut report = Report { size: (container.data.len(), 0), ..Report::default() };
        for edit in edits {
            if let Some(slot) = container.slot(edit.slot) {
                let sizes = (slot.stored.len(), edit.stored.len());
                report.edits.push(SlotEdit { name: slot.name.clone(), slot: slot.id, sizes, how: How::InPlace });
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
        // Slots that share their bytes, or had none, have no place to be changed in.
        let mut to_the_end = self.homeless();
        for index in 0..self.blocks.len() {
            if self.blocks[index].slots.iter().any(|slot| self.stays_last(*slot)) {
                let (last, others) = to_the_end.into_iter().partition(|slot| self.stays_last(*slot));
                to_the_end = last;
                self.place_at_end(others)?;
                let start = self.blocks[index].range.start;
                self.pieces.zeros((start % 4 + 4 - self.pieces.len() % 4) % 4);
            }
            self.block_starts[index] = self.pieces.len();
            let Block { range, .. } = &self.blocks[index];
            let (range, mut gap) = (range.clone(), self.gap_behind(index));
            if self.ends_before_nothing(index) {
                gap.end = gap.start;
            }
            let Some((slot, content)) = self.sole_edit(index) else {
                self.pieces.old(range);
                self.pieces.old(gap);
                continue;
            };
            let (old, new) = (range.len(), content.len());
            let is_last = index + 1 == self.blocks.len();
            let slack = if new > old && !is_last && is_zero(&self.container.data[gap.clone()]) { gap.len() } else { 0 };
            if is_last || new <= old + slack {
                let how = if is_last {
                    How::Last
                } else if new <= old {
                    How::InPlace
                } else {
                    How::Slack
                };
                self.place_content(slot, how);
                if !is_last {
                    let grown = new.saturating_sub(old);
                    self.pieces.zeros(old.saturating_sub(new));
                    self.pieces.old(gap.start + grown..gap.end);
                }
            } else if layout == Layout::Keep && self.may_shift_behind(index) {
                let missing = new - old - slack;
                let shift = align_up(missing, self.alignment_behind(index));
                self.place_content(slot, How::Shifted(shift));
                self.pieces.zeros(shift - missing);
                self.pieces.old(gap.start + slack..gap.end);
            } else {
                self.pieces.zeros(old);
                self.pieces.old(gap);
                to_the_end.push(slot);
            }
        }
        self.place_at_end(to_the_end)?;
        self.slots_end = self.pieces.len();
        Ok(())
    }

    /// Repack: the dialect's order, each block at its alignment, no gaps.
    fn lay_again(&mut self) -> Result<()> {
        self.refuse_damage("laid again", |slot| self.is_edited(slot))?;
        let order = |slot: &Slot| match slot.id {
            SlotId::Lump(index) if self.stays_last(index) => (usize::MAX, usize::MAX),
            SlotId::Lump(index) => {
                let rank = self.parts.rules.write_order.iter().position(|lump| *lump == index);
                (rank.unwrap_or(usize::MAX), index)
            }
            SlotId::Extra(index) => (usize::MAX, self.parts.shape.count + index),
            _ => (usize::MAX, usize::MAX),
        };
        let mut units: Vec<_> = (0..self.blocks.len())
            .map(|index| {
                let Block { slots, is_header, .. } = &self.blocks[index];
                let last = slots.iter().copied().find(|slot| self.stays_last(*slot));
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
                    let Block { range, slots, .. } = &self.blocks[index];
                    let alignment = slots.iter().map(|slot| self.alignment(&self.parts.slots[*slot])).max();
                    let range = range.clone();
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
        Ok(())
    }

    /// What stands behind the last slot: rows 7 to 10 of the layout table.
    fn lay_tail(&mut self) -> Result<()> {
        let padded = self.container.data.len().is_multiple_of(4);
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
                        let moved = format!("{bytes} bytes behind the last lump, of unknown meaning, moved to {to}");
                        self.report.warnings.push(moved);
                    }
                    self.pieces.old(range);
                    may_pad = false;
                }
                TailPart::UnreadableBspx(_) if !stays => {
                    let message = "the BSPX block behind the last lump cannot be read and so cannot be moved";
                    return Err(refused(message, "bspx").hint("only edits that change no size are possible"));
                }
                TailPart::BspxPadding(_) if stays => self.pieces.old(range),
                TailPart::BspxPadding(_) => {}
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
            self.pieces.zeros(padding(self.pieces.len(), 4));
        }
        Ok(())
    }

    /// Computes every word, writes those that changed, and checks what must hold.
    fn finish(mut self, layout: Layout) -> Result<Plan<'a>> {
        let new_size = self.pieces.len();
        if new_size > MOST_BYTES {
            let message = format!("the file would grow to {new_size} bytes; engines read offsets below 2 GiB only");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        self.report.size.1 = new_size;
        let mut words = BTreeMap::new();
        for (index, slot) in self.parts.slots.iter().enumerate().filter(|(_, slot)| slot.is_top_level()) {
            let offset = self.new_offset(index, slot, new_size)?;
            if offset != slot.offset {
                words.insert(slot.words.offset, offset.to_le_bytes());
                if slot.bounds != Bounds::Empty && !self.is_edited(slot) {
                    let (from, to) = (slot.offset, offset);
                    self.report.moved.push(Moved { name: slot.name.clone(), from, to });
                }
                if let Some(reason) = self.container.pinned(slot.id)
                    && self.contents.get(&index).is_none_or(|content| content.is_pinned)
                {
                    let message = format!("{} cannot be moved: {reason}", slot.name);
                    let advice = if layout == Layout::Repack { "use --layout keep" } else { "use --layout append" };
                    return Err(refused(message, &slot.name).hint(advice));
                }
            }
            self.contents.get(&index).into_iter().for_each(|content| content.add_words(slot, &mut words));
        }
        self.game_lump_words(new_size, &mut words);
        self.bspx_words(new_size, &mut words);
        if let Some(TailPart::Trailer(range)) = self.parts.tail.first()
            && let Some(lump) = self.parts.rules.trailer_lump
            && let Some(offset) = words.get(&self.parts.slots[lump].words.offset).copied()
        {
            words.insert(new_size - range.len(), offset);
        }
        let words: Vec<_> = words.into_iter().collect();
        self.pieces.overwrite(&words);
        Ok(Plan::new(self.container, self.pieces, self.report, layout))
    }

    /// The offsets within the game lump: in its new bytes, and in the old ones where they stay for others to share.
    fn game_lump_words(&self, file_end: usize, words: &mut Words) {
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
            old.relocate(Home { start, file_end }, words);
        }
    }

    fn bspx_words(&self, new_size: usize, words: &mut Words) {
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
        // An entry that points into the lumps before the block moves with what it points at; one that points behind
        // the end keeps its distance.
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
                words.insert(slot.words.offset - range.start + start, moved.to_le_bytes());
            }
        }
    }

    /// The offset of a top-level slot in the new file.
    fn new_offset(&self, index: usize, slot: &Slot, new_size: usize) -> Result<i32> {
        let old_size = self.container.data.len();
        let is_emptied = self.contents.get(&index).is_some_and(|content| content.len() == 0);
        let bounds = if is_emptied { Bounds::Empty } else { slot.bounds };
        let place = match bounds {
            _ if self.detached.contains_key(&index) => self.detached.get(&index).copied(),
            Bounds::Inside | Bounds::Overrun => {
                let block = self.blocks.iter().position(|block| block.slots.contains(&index));
                block.map(|block| self.start_of(index, block))
            }
            // The word of an empty slot stays, unless it would lie past the new end; readers of BSPX take it for
            // the end of a lump.
            Bounds::Empty => {
                let end = if self.bspx_start.is_some() { align_up(self.slots_end, 4) } else { new_size };
                usize::try_from(slot.offset).ok().filter(|old| *old <= old_size && *old > end).map(|_| end)
            }
            Bounds::Outside => self.pushed_out(slot.offset, new_size),
            Bounds::Negative => None,
        };
        let Some(place) = place else { return Ok(slot.offset) };
        i32::try_from(place)
            .map_err(|_| Error::new(ErrorKind::TooLarge, format!("{} would begin past 2 GiB", slot.name)))
    }

    /// What lies behind the end stays there: it moves only where the file grows over it, so that it does not come to
    /// claim bytes by accident.
    fn pushed_out(&self, offset: i32, new_size: usize) -> Option<usize> {
        let offset = usize::try_from(offset).ok().filter(|offset| *offset < new_size)?;
        Some(offset - self.container.data.len() + new_size)
    }

    /// Where a slot of a block begins in the new file.
    fn start_of(&self, slot: usize, block: usize) -> usize {
        self.parts.slots[slot].stored.start - self.blocks[block].range.start + self.block_starts[block]
    }

    fn is_edited(&self, slot: &Slot) -> bool {
        self.report.edits.iter().any(|edit| edit.slot == slot.id)
    }

    /// The slot that has a block for itself.
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

    /// Whether only a last lump that is emptied and the zeros before it follow: then those zeros go with it.
    fn ends_before_nothing(&self, block: usize) -> bool {
        let is_emptied = |(_, content): (usize, &Content<'_>)| content.len() == 0;
        block + 2 == self.blocks.len()
            && self.sole_edit(block + 1).is_some_and(is_emptied)
            && is_zero(&self.container.data[self.gap_behind(block)])
    }

    /// Whether a move of everything behind a block changes no byte of it: no offsets in it that we know or fear.
    fn may_shift_behind(&self, block: usize) -> bool {
        self.blocks[block + 1..].iter().flat_map(|block| &block.slots).all(|slot| {
            let slot = &self.parts.slots[*slot];
            let holds_offsets = self.parts.rules.game_lump.map(SlotId::Lump) == Some(slot.id)
                && !inside::unedited(self.parts, SlotId::Game(0), &slot.stored).is_free_of_offsets();
            self.container.pinned(slot.id).is_none() && !holds_offsets
        })
    }

    fn alignment_behind(&self, block: usize) -> usize {
        let behind = self.blocks[block + 1..].iter().flat_map(|block| &block.slots);
        behind.map(|slot| self.alignment(&self.parts.slots[*slot])).max().unwrap_or(4)
    }

    fn alignment(&self, slot: &Slot) -> usize {
        let Rules { alignments, .. } = self.parts.rules;
        let coarser = alignments.iter().find(|rule| {
            SlotId::Lump(rule.lump) == slot.id
                && !slot.stored.is_empty()
                && (!rule.only_if_it_stood_so || slot.stored.start.is_multiple_of(rule.bytes))
        });
        coarser.map_or(4, |rule| rule.bytes)
    }

    fn place_content(&mut self, slot: usize, how: How) {
        if let Some(content) = self.contents.get(&slot) {
            self.pieces.append(&content.pieces);
        }
        self.set_how(slot, how);
    }

    /// Puts slots behind everything that was laid so far, each at its alignment.
    fn place_at_end(&mut self, slots: Vec<usize>) -> Result<()> {
        for slot in slots {
            if self.contents.get(&slot).is_none_or(|content| content.len() == 0) {
                continue;
            }
            self.refuse_damage("put behind it", |other| self.is_edited(other))?;
            let alignment = self.alignment(&self.parts.slots[slot]);
            self.pieces.zeros(padding(self.pieces.len(), alignment));
            self.detached.insert(slot, self.pieces.len());
            let is_shared = self.blocks.iter().any(|block| block.slots.len() > 1 && block.slots.contains(&slot));
            self.place_content(slot, if is_shared { How::Detached } else { How::Appended });
        }
        Ok(())
    }

    /// Edited slots that have no block for themselves.
    fn homeless(&self) -> Vec<usize> {
        let placed: Vec<usize> = (0..self.blocks.len()).filter_map(|index| self.sole_owner(index)).collect();
        self.contents.keys().copied().filter(|slot| !placed.contains(slot)).collect()
    }

    /// Whether the slot ends where a trailer says its offset, which has to stay so.
    fn stays_last(&self, slot: usize) -> bool {
        matches!(self.parts.tail[..], [TailPart::Trailer(_)])
            && self.parts.rules.trailer_lump == Some(slot)
            && self.parts.slots[slot].stored.end == self.parts.tail_start
    }

    fn set_how(&mut self, slot: usize, how: How) {
        let id = self.parts.slots[slot].id;
        self.report.edits.iter_mut().filter(|edit| edit.slot == id).for_each(|edit| edit.how = how);
    }

    /// Row 11: behind a lump that claims bytes past the end of the file nothing may come to stand.
    fn refuse_damage(&self, what: &str, is_mended: impl Fn(&Slot) -> bool) -> Result<()> {
        let claims = |slot: &&Slot| {
            matches!(slot.bounds, Bounds::Overrun | Bounds::Outside) && slot.is_top_level() && !is_mended(slot)
        };
        match self.parts.slots.iter().find(claims) {
            None => Ok(()),
            Some(slot) => {
                let message = format!("{} {}, so nothing can be {what}", slot.name, slot.bounds);
                Err(refused(message, &slot.name)
                    .hint("only edits that fit their place, or shift what is behind them, are possible"))
            }
        }
    }

    fn ends_with_overrun(&self) -> bool {
        let overruns = |slot: &Slot| slot.bounds == Bounds::Overrun && !self.is_edited(slot);
        self.parts.slots.iter().any(overruns)
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Block(usize),
    Slot(usize),
}

/// The blocks of a file in order; the first is the header with whatever overlaps it. A BSPX entry that points at
/// lumps shares their bytes like any other slot.
fn blocks(parts: &Parts) -> Vec<Block> {
    let in_blocks = |slot: &Slot| slot.is_top_level() || matches!(slot.id, SlotId::Bspx(_));
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

/// The zeros that bring a position to a multiple of `alignment`.
pub(super) fn padding(position: usize, alignment: usize) -> usize {
    align_up(position, alignment) - position
}

pub(super) fn refused(message: impl Into<String>, slot: &str) -> Error {
    Error::new(ErrorKind::Refused, message).at(Place::default().lump(slot))
}

impl<'a> Content<'a> {
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }
}

impl<'a> From<Data<'a>> for Pieces<'a> {
    fn from(data: Data<'a>) -> Self {
        let mut pieces = Pieces::default();
        pieces.push(Piece::New(data));
        pieces
    }
}
