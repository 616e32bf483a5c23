//! Compares a saved file with the map from which it was made, and undoes the edit.

use std::borrow::Cow;

use super::{Failure, Law, Spare, Subject, Written, broken, error, save, skipped};
use crate::bsp::Bsp;
use crate::bytes::{Data, Rope, align_up, escaped};
use crate::file::{Bounds, Layout, Segment, SegmentKind, Slot, SlotId};

// Compares a saved file with the map from which it was made: what may be different, and what must not be.

/// One of the two files, with data that is used several times.
struct Side<'b, 'd> {
    bsp: &'b Bsp<'d>,
    segments: Vec<Segment>,
    /// Where the words of all slots are, in order.
    words: Vec<usize>,
    /// The parts that the file was put together from, if that is known.
    parts: Option<&'b Rope<'d>>,
}

impl<'b, 'd> Side<'b, 'd> {
    fn new(bsp: &'b Bsp<'d>, parts: Option<&'b Rope<'d>>) -> Self {
        let words = bsp.slots().iter().map(|slot| slot.words);
        let words = words.flat_map(|words| [Some(words.offset), Some(words.length), words.unpacked]);
        let mut words: Vec<usize> = words.flatten().collect();
        words.sort_unstable();
        Side { bsp, segments: bsp.container().segments(), words, parts }
    }

    /// Whether these bytes are at an offset of the file.
    fn has(&self, offset: usize, bytes: &[u8]) -> bool {
        match self.parts {
            Some(parts) => parts.has(offset, bytes),
            None => self.bytes().get(offset..offset + bytes.len()) == Some(bytes),
        }
    }

    fn bytes(&self) -> &[u8] {
        self.bsp.container().bytes()
    }

    /// The bytes of all segments of a kind. A single segment, which may be most of the file, is not copied.
    fn content(&self, kind: SegmentKind) -> Cow<'_, [u8]> {
        let segments = self.segments.iter().filter(|segment| segment.kind == kind);
        let mut parts = segments.map(|segment| &self.bytes()[segment.range.clone()]);
        let first = parts.next().unwrap_or_default();
        parts.fold(Cow::Borrowed(first), |before, part| joined(before, part))
    }
}

/// Both byte strings joined; the first one without a copy if the second is empty.
fn joined<'a>(first: Cow<'a, [u8]>, second: &[u8]) -> Cow<'a, [u8]> {
    if second.is_empty() { first } else { Cow::Owned([&first, second].concat()) }
}

/// Compares a saved file with the map it was made from: every slot but the edited one has equal bytes and is at an
/// offset that its alignment and the layout allow, no content outside of slots is lost, every offset is right. Without
/// a layout only the content of slots is compared, not their offsets.
///
/// # Errors
/// What differs, in one sentence.
pub fn compare(
    old: &Bsp<'_>,
    saved: &[u8],
    layout: Option<Layout>,
    edit: Option<(SlotId, &[u8])>,
) -> Result<(), String> {
    compare_with(old, (saved, None), layout, edit)
}

/// As [`compare`]. What of the file is the map's own is known and not read.
pub(super) fn differ(
    old: &Bsp<'_>,
    saved: &Written<'_>,
    layout: Option<Layout>,
    edit: Option<(SlotId, &[u8])>,
) -> Result<(), String> {
    compare_with(old, (saved.bytes(), Some(saved.parts())), layout, edit)
}

fn compare_with(
    old: &Bsp<'_>,
    (saved, parts): (&[u8], Option<&Rope<'_>>),
    layout: Option<Layout>,
    edit: Option<(SlotId, &[u8])>,
) -> Result<(), String> {
    // The best interpretation of a damaged directory may change with the size of the file. Then the user must name the
    // dialect.
    let known = old.container().damaged().next().map(|_| old.dialect());
    let mut new = Bsp::from_data(Data::from(saved), known);
    // The caller may have named the dialect of a map that is detected as another one, or not at all.
    let dialect = |map: &Bsp<'_>| map.dialect().name;
    let is_other = |map: &crate::Result<Bsp<'_>>| !map.as_ref().is_ok_and(|map| dialect(map) == dialect(old));
    if is_other(&new) && is_other(&Bsp::from_data(Data::from(old.container().bytes()), None)) {
        new = Bsp::from_data(Data::from(saved), Some(old.dialect()));
    }
    let new = new.map_err(|error| format!("the saved file does not open: {error}"))?;
    let what = |bsp: &Bsp<'_>| (bsp.dialect().name, bsp.version(), bsp.container().shape(), bsp.slots().len());
    if what(&new) != what(old) {
        return Err(format!("the saved file reads as {:?} instead of {:?}", what(&new), what(old)));
    }
    let (was, is) = (Side::new(old, None), Side::new(&new, parts));
    let game_lump = old.dialect().rules.game_lump.map(SlotId::Lump);
    let edits_member = matches!(edit, Some((SlotId::Game(_), _)));
    for (before, after) in old.slots().iter().zip(new.slots()) {
        if edits_member && Some(before.id) == game_lump {
            continue;
        }
        let edited = edit.filter(|(slot, _)| *slot == before.id).map(|(_, bytes)| bytes);
        same_slot(&was, &is, before, after, edited).map_err(|what| format!("{}: {what}", before.name))?;
        if let Some(layout) = layout
            && (edited.is_none() || before.bounds == Bounds::Inside)
        {
            allowed_place(old, before, after, layout, edited.is_some())
                .map_err(|what| format!("{}: {what}", before.name))?;
        }
    }
    same_header(old, &new)?;
    // If the last slot is emptied, the tail follows what was before it.
    let is_strict = layout.is_some() && edit.is_none_or(|(_, bytes)| !bytes.is_empty());
    same_tail(&was, &is, is_strict)?;
    if matches!(layout, None | Some(Layout::Repack)) {
        return Ok(());
    }
    if edit.is_some_and(|(slot, _)| Some(slot) != game_lump) && !edits_member {
        game_lump_stays(old, &new)?;
    }
    same_content(&was, &is)
}

/// The slot has the bytes and the version that it should have.
fn same_slot(
    was: &Side<'_, '_>,
    is: &Side<'_, '_>,
    before: &Slot,
    after: &Slot,
    edited: Option<&[u8]>,
) -> Result<(), String> {
    let (old, new) = (was.bsp, is.bsp);
    if (before.id, &before.name, before.version) != (after.id, &after.name, after.version) {
        return Err("its name or version changed".to_string());
    }
    if let Some(bytes) = edited {
        let new_bytes = new.bytes(after.id).map_err(|error| error.to_string())?;
        return if *new_bytes == *bytes { Ok(()) } else { Err("it does not have its new bytes".to_string()) };
    }
    if before.unpacked != after.unpacked {
        return Err("its unpacked size changed".to_string());
    }
    if old.member_flags(before.id) != new.member_flags(after.id) {
        return Err("its flags changed".to_string());
    }
    // A lump that runs past the end of the file may have fewer bytes, but not more.
    if before.bounds != after.bounds {
        return Err(format!("it was {} and now is {}", before.bounds, after.bounds));
    }
    let (old_bytes, start) = (old.stored(before.id), after.stored.start);
    let mut words: Vec<usize> = words_within(was, before).chain(words_within(is, after)).collect();
    words.sort_unstable();
    let mut at = 0;
    let mut is_same = before.stored.len() == after.stored.len();
    for word in words.into_iter().chain([old_bytes.len()]) {
        is_same = is_same && (at >= word || is.has(start + at, &old_bytes[at..word]));
        at = word + 1;
    }
    if is_same { Ok(()) } else { Err("its bytes changed".to_string()) }
}

/// The bytes of a slot that are words: the directory of a game lump, or the header if a slot overlaps it. They are
/// compared with the slots to which the words belong.
fn words_within(side: &Side<'_, '_>, slot: &Slot) -> impl Iterator<Item = usize> {
    let (start, end) = (slot.stored.start, slot.stored.end);
    let words = &side.words[side.words.partition_point(|word| word + 4 <= start)..];
    let words = words.iter().take_while(move |word| **word < end);
    words.flat_map(|word| *word..word + 4).filter(|at| slot.stored.contains(at)).map(move |at| at - start)
}

/// A slot that moved kept its alignment; a slot that was placed anew begins at a multiple of 4, or of the alignment of
/// its kind.
fn allowed_place(old: &Bsp<'_>, before: &Slot, after: &Slot, layout: Layout, edited: bool) -> Result<(), String> {
    let nested = matches!(before.id, SlotId::Game(_) | SlotId::Bspx(_));
    if nested || before.stored.is_empty() || after.stored.is_empty() || before.offset == after.offset {
        return Ok(());
    }
    if old.container().pinned(before.id).is_some() {
        return Err("it is pinned and moved".to_string());
    }
    let rules = old.dialect().rules.alignments.iter();
    let mut coarser = rules.filter(|rule| SlotId::Lump(rule.lump) == before.id);
    let alignment = coarser.find(|rule| !rule.only_if_it_stood_so || before.stored.start.is_multiple_of(rule.bytes));
    let alignment = alignment.map_or(4, |rule| rule.bytes);
    let (from, to) = (before.stored.start, after.stored.start);
    let is_shared = old.slots().iter().any(|other| {
        let overlaps = other.stored.start < before.stored.end && before.stored.start < other.stored.end;
        overlaps && other.id != before.id && !matches!(other.id, SlotId::Game(_))
    });
    // Overlapping slots are rewritten as one block, whose first slot is aligned.
    if is_shared && layout == Layout::Repack && !edited {
        return Ok(());
    }
    let anew = edited || layout == Layout::Repack;
    let fits = if anew { to % alignment == 0 } else { to % alignment == from % alignment };
    match fits {
        true => Ok(()),
        false => Err(format!("it moved from {from} to {to} against its alignment of {alignment}")),
    }
}

/// Outside of words the header is unchanged; a word changed only if its target did.
fn same_header(old: &Bsp<'_>, new: &Bsp<'_>) -> Result<(), String> {
    let end = old.container().parts.header_end;
    let (before, after) = (&old.container().bytes()[..end], &new.container().bytes()[..end]);
    let may_differ = |at: usize| {
        old.slots().iter().zip(new.slots()).any(|(before, after)| {
            let within = |word: usize| (word..word + 4).contains(&at);
            (within(before.words.offset) && before.offset != after.offset)
                || (within(before.words.length) && before.length != after.length)
                || (before.words.unpacked.is_some_and(within) && before.unpacked != after.unpacked)
        })
    };
    let covered = |at: usize| old.slots().iter().any(|slot| slot.stored.contains(&at));
    match (0..end).find(|at| before[*at] != after[*at] && !may_differ(*at) && !covered(*at)) {
        Some(at) => Err(format!("the header changed at {at}")),
        None => Ok(()),
    }
}

/// Servers compare the bytes of the game lump with those of their clients, and these bytes contain its offset, except
/// on consoles.
fn game_lump_stays(old: &Bsp<'_>, new: &Bsp<'_>) -> Result<(), String> {
    let Some(lump) = old.dialect().rules.game_lump else { return Ok(()) };
    if old.dialect().rules.relative_members {
        return Ok(());
    }
    let (before, after) = (&old.slots()[lump], &new.slots()[lump]);
    match !before.stored.is_empty() && before.offset != after.offset {
        true => Err(format!("the game lump moved from {} to {}", before.offset, after.offset)),
        false => Ok(()),
    }
}

/// No nonzero byte outside of slots is lost.
fn same_content(old: &Side<'_, '_>, new: &Side<'_, '_>) -> Result<(), String> {
    fn named_by_none(side: &Side<'_, '_>) -> impl Iterator<Item = u8> {
        let segments = side.segments.iter().filter(|part| matches!(part.kind, SegmentKind::Gap | SegmentKind::Tail));
        let bytes = segments.flat_map(|segment| &side.bytes()[segment.range.clone()]);
        bytes.copied().filter(|byte| *byte != 0)
    }
    // The padding before a BSPX block is not content: it changes with the place of the block.
    let bspx_padding = old.bsp.container().parts.tail.iter().any(|part| part.is_bspx_padding());
    let mut after = named_by_none(new);
    // A slot that was detached may leave bytes that no slot names any more; none may be missing.
    let is_kept = named_by_none(old).all(|byte| after.any(|other| other == byte));
    match is_kept || bspx_padding {
        true => Ok(()),
        false => Err("bytes that no lump names were lost or changed".to_string()),
    }
}

/// A tail without the zeros before it: whether they are padding depends on where the last lump ends.
fn content(tail: &[u8]) -> &[u8] {
    &tail[tail.iter().take_while(|byte| **byte == 0).count()..]
}

/// The tail after the last slot is complete and at the place where its readers look for it.
fn same_tail(was: &Side<'_, '_>, is: &Side<'_, '_>, is_strict: bool) -> Result<(), String> {
    let (old, new) = (was.bsp, is.bsp);
    let (before, after) = (was.content(SegmentKind::Tail), is.content(SegmentKind::Tail));
    let trailers = (was.content(SegmentKind::Trailer), is.content(SegmentKind::Trailer));
    if trailers.0.is_empty() && !before.is_empty() {
        // Bytes that were not a trailer before may have the right offset by accident.
        let after = joined(after, &trailers.1);
        let both_empty = content(&before).is_empty() && content(&after).is_empty();
        if before != after && !both_empty && (is_strict || !content(&after).ends_with(content(&before))) {
            let (before, after) = (escaped(&before), escaped(&after));
            return Err(format!("the bytes after the last lump changed: {before} became {after}"));
        }
    }
    if !trailers.0.is_empty() && trailers.1.is_empty() {
        return Err("the trailer after the last lump does not repeat the entities' offset".to_string());
    }
    let entities_end_at_trailer = |bsp: &Bsp<'_>| {
        let lump = bsp.dialect().rules.trailer_lump.map(|lump| bsp.slots()[lump].stored.end);
        lump == Some(bsp.container().bytes().len() - 10)
    };
    if !trailers.0.is_empty() && entities_end_at_trailer(old) && !entities_end_at_trailer(new) {
        return Err("the entities do not end where the trailer begins".to_string());
    }
    let size = new.container().bytes().len();
    let ends = new.slots().iter().filter(|slot| slot.is_top_level()).map(|slot| slot.stored.end);
    let at = align_up(ends.fold(new.container().parts.header_end, usize::max), 4);
    let has_block = was.content(SegmentKind::Bspx).len() >= 8 && !old.container().has_immovable();
    if has_block && !new.container().bytes()[at.min(size)..].starts_with(b"BSPX") {
        return Err(format!("the BSPX block is not at {at}"));
    }
    Ok(())
}

// Undoing a saved edit: a law that is tested on the files of the other laws.

/// The law that setting the old text in a saved file restores it; tested on every file that the laws of edits save.
#[derive(Default)]
pub(super) struct Undo {
    tried: bool,
    broken: Option<Failure>,
    skipped: Option<Failure>,
}

impl Undo {
    /// Tests it on a file, unless it has failed before.
    pub(super) fn look_at<'a>(&mut self, saved: &Written<'a>, law: impl FnOnce(&Written<'a>) -> Law) {
        if self.broken.is_some() {
            return;
        }
        match law(saved) {
            Ok(()) => self.tried = true,
            Err(failure @ Failure::DoesNotApply(_)) => self.skipped = Some(failure),
            Err(broken) => self.broken = Some(broken),
        }
    }

    pub(super) fn law(&mut self) -> Law {
        match (self.broken.take(), self.tried) {
            (Some(broken), _) => Err(broken),
            (None, true) => Ok(()),
            (None, false) => Err(self.skipped.take().unwrap_or_else(|| skipped("no edit could be tried"))),
        }
    }
}

/// Setting the old text in the saved file gives every slot its old bytes.
pub(super) fn undone<'a>(
    bsp: &Bsp<'a>,
    subject: &Subject,
    (slot, text): (SlotId, &[u8]),
    saved: &Written<'a>,
    layout: Layout,
    spare: &mut Spare<'a>,
) -> Law {
    // If the last lump is emptied again, padding remains where there was none.
    if text.is_empty() {
        return Err(skipped("it has no entity text"));
    }
    let edited = Bsp::from_data(Data::from(saved.bytes()), Some(bsp.dialect())).map_err(error(bsp, "open"))?;
    let parts = save(&edited, subject, slot, text, layout)?;
    let undone = spare.lay(Ok(saved.through(&parts))).map_err(error(&edited, "save"))?;
    differ(bsp, &undone, None, Some((slot, text))).map_err(broken)?;
    spare.give(undone);
    Ok(())
}
