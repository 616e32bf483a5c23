//! A plan: the file that a save would write, as pieces, with a report of the changes. Nothing here touches the disk.

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

use super::container::{self, Container};
use super::patch::Patch;
use super::{Layout, SegmentKind, Slot, SlotId};
use crate::bytes::{Data, Rope, differences, wide};

/// The result of a draft and a layout. It can be inspected and saved.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = Bsp::parse(&bytes)?;
/// let plan = map.draft().plan(Layout::Keep)?;
/// assert!(plan.is_identity());
/// assert_eq!(plan.to_vec(), bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    container: Container<'a>,
    pieces: Pieces<'a>,
    report: Report,
    layout: Layout,
    /// For the layout patch: how it is written into the old file, or why it cannot be.
    patch: Option<Result<Patch, String>>,
    /// A slot that runs past the end of the file though nothing of its content is known to be missing.
    complete: Option<SlotId>,
}

/// A range of the new file that differs from the same range of the old one.
///
/// ```
/// # use bspkit::{Bsp, Layout};
/// # let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// # let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let changes = draft.plan(Layout::Append)?.changes();
/// assert!(changes.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Bytes from the start of the new file.
    pub range: Range<usize>,
    /// The new content of the range.
    pub kind: ChangeKind,
}

/// The content of a changed range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(tag = "what", rename_all = "lowercase"))]
#[non_exhaustive]
pub enum ChangeKind {
    /// New bytes.
    Written,
    /// Zeros: a hole or padding.
    Zeroed,
    /// Bytes of the old file that were at another offset.
    Moved {
        /// The old offset, in bytes from the start of the old file.
        from: usize,
    },
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangeKind::Written => f.write_str("written"),
            ChangeKind::Zeroed => f.write_str("zeroed"),
            ChangeKind::Moved { from } => write!(f, "moved from {from}"),
        }
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(container: &Container<'a>, pieces: Pieces<'a>, report: Report, layout: Layout) -> Self {
        Plan { container: container.clone(), pieces, report, layout, patch: None, complete: None }
    }

    /// The same for the layout patch.
    pub(super) fn with_patch(self, patch: Result<Patch, String>) -> Self {
        Plan { layout: Layout::Patch, patch: Some(patch), ..self }
    }

    /// Why a plan for [`Layout::Patch`] is not written into the old file, but as a whole.
    ///
    /// ```
    /// use bspkit::{Bsp, Layout};
    /// let mut draft = Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    /// assert_eq!(draft.plan(Layout::Patch)?.whole(), None);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn whole(&self) -> Option<&str> {
        self.patch.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// For the layout patch: how it is written into the old file, or why it cannot be.
    pub(super) fn patch(&self) -> Option<&Result<Patch, String>> {
        self.patch.as_ref()
    }

    pub(super) fn identity(container: &Container<'a>) -> Self {
        let size = container.data.len();
        let mut pieces = Pieces::default();
        pieces.old(0..size);
        let report = Report { size: (size, size), ..Report::default() };
        Plan::new(container, pieces, report, Layout::Keep)
    }

    /// Whether the new file is the same as the old one.
    pub fn is_identity(&self) -> bool {
        self.size() == self.container.data.len() && self.changed().next().is_none()
    }

    /// The size of the file that it writes, in bytes.
    pub fn size(&self) -> usize {
        self.pieces.len()
    }

    /// The layout that it was made with.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The report of the changes, for people.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The map that it was made from.
    pub fn container(&self) -> &Container<'a> {
        &self.container
    }

    /// The plan, where this slot is as whole as can be seen.
    pub(crate) fn with_complete(self, slot: SlotId) -> Self {
        Plan { complete: Some(slot), ..self }
    }

    /// Why saving must be forced ([`super::SaveOptions::force`]): the map is damaged and the plan changes it. That
    /// holds also if the slot that is cut off gets new bytes: afterwards nothing says that the rest is missing. Text of
    /// entities that ends with a whole entity may get them.
    pub fn needs_force(&self) -> Option<String> {
        let is_edited = |slot: &Slot| self.report.edits.iter().any(|edit| edit.slot == slot.id);
        let is_excused = |slot: &&Slot| self.complete == Some(slot.id) && is_edited(slot);
        let slot = self.container.damaged().find(|slot| !is_excused(slot));
        let slot = slot.map(|slot| format!("{} {}", slot.name, slot.bounds));
        let lump = || self.container.cut_game_lump().map(|lump| format!("{}: {}", lump.name, container::OUTSIDE));
        let overwritten = || {
            let name = self.report.overwritten.first()?;
            Some(format!("{name} lies over words of a directory, which change, and its bytes would change with them"))
        };
        slot.or_else(lump).or_else(overwritten).filter(|_| !self.is_identity())
    }

    /// The ranges of the new file that differ from the same range of the old one, in order; if the file becomes
    /// shorter, only [`Plan::size`] shows it.
    ///
    /// Of new bytes over old ones only those that differ are listed; if they differ in many places, one range from the
    /// first to the last of these.
    pub fn changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (range, kind, piece) in self.changed() {
            match piece {
                Piece::New(data) => changes.extend(self.written(range.start, data)),
                Piece::Old(_) | Piece::Zeros(_) => changes.push(Change { range, kind }),
            }
        }
        changes
    }

    /// The pieces that differ from the same range of the old file.
    fn changed(&self) -> impl Iterator<Item = (Range<usize>, ChangeKind, &Piece<'a>)> {
        let mut at = 0;
        self.pieces.iter().filter_map(move |piece| {
            let range = at..at + piece.len();
            at = range.end;
            let old = self.container.data.get(range.clone());
            let kind = match piece {
                Piece::Old(from) if from.start == range.start => return None,
                Piece::Old(from) => ChangeKind::Moved { from: from.start },
                Piece::New(data) if old == Some(data) => return None,
                Piece::New(_) => ChangeKind::Written,
                Piece::Zeros(_) if old.is_some_and(crate::bytes::is_zero) => return None,
                Piece::Zeros(_) => ChangeKind::Zeroed,
            };
            Some((range, kind, piece))
        })
    }

    /// The ranges of new bytes at this offset that differ from the old file.
    fn written(&self, start: usize, new: &[u8]) -> Vec<Change> {
        /// More ranges of a piece are given as one.
        const MOST: usize = 64;
        let old = self.container.data.get(start..).unwrap_or_default();
        let mut ranges: Vec<_> = differences(old, new).take(MOST + 1).collect();
        if ranges.len() > MOST {
            let (from, last) = (ranges[0].start, old.iter().zip(new).rposition(|(old, new)| old != new));
            ranges.clear();
            ranges.push(from..last.map_or(new.len(), |last| last + 1));
        }
        if new.len() > old.len() {
            // The file ends within the piece.
            match ranges.last_mut().filter(|last| last.end == old.len()) {
                Some(last) => last.end = new.len(),
                None => ranges.push(old.len()..new.len()),
            }
        }
        let change =
            |range: Range<usize>| Change { range: start + range.start..start + range.end, kind: ChangeKind::Written };
        ranges.into_iter().map(change).collect()
    }

    /// Writes the whole new file, in blocks of 128 KiB.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        // The buffer stays in the cache, and writes are aligned in the new file. Writes directly from a mapped file
        // take a sixth more time, and writes that end within a page a fifth more.
        const BLOCK: usize = 128 << 10;
        let mut block = Vec::with_capacity(BLOCK);
        for mut bytes in self.parts() {
            while !bytes.is_empty() {
                let (part, rest) = bytes.split_at(bytes.len().min(BLOCK - block.len()));
                block.extend_from_slice(part);
                bytes = rest;
                if block.len() == BLOCK {
                    writer.write_all(&block)?;
                    block.clear();
                }
            }
        }
        writer.write_all(&block)
    }

    /// The whole new file in memory.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        self.parts().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// The whole new file in parts. What is in the old file is not copied.
    pub(crate) fn to_rope(&self) -> Rope<'a> {
        let mut rope = Rope::new();
        for piece in self.pieces.iter() {
            match piece {
                Piece::Old(range) => rope.push(self.container.data.slice(range.clone())),
                Piece::New(data) => rope.push(data.clone()),
                Piece::Zeros(count) => {
                    (0..*count).step_by(ZEROS.len()).for_each(|at| rope.push(&ZEROS[..ZEROS.len().min(count - at)]));
                }
            }
        }
        rope
    }

    /// The new file as a map's bytes, without a copy if nothing changes.
    pub fn to_data(&self) -> Data<'a> {
        if self.is_identity() { self.container.data.clone() } else { Data::from(self.to_vec()) }
    }

    /// The bytes of a range of the new file, in parts, up to the end of the file; the parts are not joined in memory.
    pub fn slice(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let mut at = 0;
        self.parts().filter_map(move |part| {
            let start = at;
            at += part.len();
            let (from, to) = (range.start.max(start), range.end.min(at));
            (from < to).then(|| &part[from - start..to - start])
        })
    }

    /// The bytes of the new file, from front to back.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().flat_map(|piece| {
            let (part, size) = match piece {
                Piece::Old(range) => (&self.container.data[range.clone()], range.len()),
                Piece::New(data) => (&data[..], data.len()),
                Piece::Zeros(count) => (&ZEROS[..ZEROS.len().min(*count)], *count),
            };
            // Only a piece of zeros can be longer than the part.
            let starts = (0..size).step_by(part.len().max(1));
            starts.map(move |start| &part[..part.len().min(size - start)])
        })
    }
}

impl fmt::Display for SegmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SegmentKind::Header => "header",
            SegmentKind::Slots => "slots",
            SegmentKind::Gap => "gap",
            SegmentKind::Padding => "padding",
            SegmentKind::Bspx => "bspx directory",
            SegmentKind::BspxGap => "bspx gap",
            SegmentKind::Trailer => "trailer",
            SegmentKind::Tail => "tail",
        })
    }
}

// Pieces: a new file as ranges of the old one, new bytes and zeros, without ever building it in memory.

/// What pieces of zeros are written from.
static ZEROS: [u8; 4096] = [0; 4096];

/// A part of a new file.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'a> {
    /// A range of the old file.
    Old(Range<usize>),
    /// New bytes.
    New(Data<'a>),
    /// This many zeros.
    Zeros(usize),
}

impl<'a> Piece<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Piece::Old(range) => range.len(),
            Piece::New(data) => data.len(),
            Piece::Zeros(count) => *count,
        }
    }

    fn split(self, at: usize) -> (Piece<'a>, Piece<'a>) {
        match self {
            Piece::Old(Range { start, end }) => (Piece::Old(start..start + at), Piece::Old(start + at..end)),
            Piece::New(data) => (Piece::New(data.slice(0..at)), Piece::New(data.slice(at..data.len()))),
            Piece::Zeros(count) => (Piece::Zeros(at), Piece::Zeros(count - at)),
        }
    }
}

/// Pieces in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces<'a> {
    list: Vec<Piece<'a>>,
    len: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.list.iter()
    }

    /// Adds a piece. Pieces that are adjacent in the old file are joined.
    pub(crate) fn push(&mut self, piece: Piece<'a>) {
        self.len += piece.len();
        match (self.list.last_mut(), piece) {
            (_, piece) if piece.len() == 0 => {}
            (Some(Piece::Old(last)), Piece::Old(range)) if last.end == range.start => last.end = range.end,
            (Some(Piece::Zeros(last)), Piece::Zeros(count)) => *last += count,
            (_, piece) => self.list.push(piece),
        }
    }

    pub(crate) fn old(&mut self, range: Range<usize>) {
        self.push(Piece::Old(range));
    }

    pub(crate) fn zeros(&mut self, count: usize) {
        self.push(Piece::Zeros(count));
    }

    pub(crate) fn append(&mut self, other: &Pieces<'a>) {
        other.iter().cloned().for_each(|piece| self.push(piece));
    }

    /// Overwrites words at their offsets; `words` are sorted by offset and do not overlap.
    pub(crate) fn overwrite(&mut self, words: &[(usize, [u8; 4])]) {
        let mut words = words.iter().peekable();
        let mut out = Pieces::default();
        // A word may extend over several pieces (a directory entry under an overlapping slot), so the rest of it is
        // skipped in the pieces that follow.
        let mut skip = 0;
        for mut piece in std::mem::take(&mut self.list) {
            if skip > 0 {
                let cut = skip.min(piece.len());
                piece = piece.split(cut).1;
                skip -= cut;
            }
            while let Some((at, bytes)) = words.peek()
                && *at < out.len + piece.len()
            {
                let (before, rest) = piece.split(at - out.len);
                out.push(before);
                out.push(Piece::New(Data::from(bytes.to_vec())));
                let cut = bytes.len().min(rest.len());
                skip = bytes.len() - cut;
                piece = rest.split(cut).1;
                words.next();
            }
            out.push(piece);
        }
        *self = out;
    }
}

impl<'a> From<&Rope<'a>> for Pieces<'a> {
    fn from(rope: &Rope<'a>) -> Self {
        let mut pieces = Pieces::default();
        rope.parts().cloned().for_each(|part| pieces.push(Piece::New(part)));
        pieces
    }
}

// What a plan changes, in words and numbers.

/// What a plan changes, in words and numbers.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let plan = draft.plan(Layout::Keep)?;
/// assert!(plan.report().to_string().starts_with("ENTITIES"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The edited slots.
    pub edits: Vec<SlotEdit>,
    /// The lumps whose version in the directory changes.
    pub versions: Vec<Versioned>,
    /// Slots that move without being edited.
    pub moved: Vec<Moved>,
    /// The names of slots that are not edited and whose bytes change anyway: they lie over words of a directory,
    /// in a damaged map.
    pub overwritten: Vec<String>,
    /// How many bytes less there are between slots after a repack, and how many of those left out are not zero.
    pub dropped: (usize, usize),
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The size of the file before and after, in bytes.
    pub size: (usize, usize),
}

/// One edited slot of a [`Report`].
///
/// ```
/// # use bspkit::{Bsp, Layout};
/// # let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// # let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let plan = draft.plan(Layout::Keep)?;
/// let edit = &plan.report().edits[0];
/// assert_eq!((edit.name.as_str(), edit.sizes), ("ENTITIES", (1757, 1743)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SlotEdit {
    /// The slot's name.
    #[cfg_attr(feature = "json", serde(rename = "lump"))]
    pub name: String,
    /// Which slot it is.
    #[cfg_attr(feature = "json", serde(skip))]
    pub slot: SlotId,
    /// Its bytes in the file before and after.
    #[cfg_attr(feature = "json", serde(rename = "bytes"))]
    pub sizes: (usize, usize),
    /// How it was placed.
    #[cfg_attr(feature = "json", serde(skip))]
    pub(crate) how: How,
}

/// A lump whose version changes: one line of a [`Report`].
///
/// ```
/// use bspkit::{Bsp, Builder, Layout, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(14, [0; 48]).build()?;
/// let map = Bsp::parse(&bytes)?;
/// let mut draft = map.draft();
/// draft.set_version(map.slot("models")?.id, 1)?;
/// let plan = draft.plan(Layout::Keep)?;
/// let version = &plan.report().versions[0];
/// assert_eq!((version.name.as_str(), version.from, version.to), ("MODELS", 0, 1));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Versioned {
    /// The lump's name.
    pub name: String,
    /// Which lump it is.
    pub slot: SlotId,
    /// Its version before.
    pub from: i32,
    /// Its version after.
    pub to: i32,
}

/// A slot that moves: one line of a [`Report`].
///
/// ```
/// # use bspkit::{Bsp, Layout};
/// # let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// # let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let plan = draft.plan(Layout::Keep)?;
/// assert!(plan.report().moved.iter().all(|moved| (moved.offsets.1 - moved.offsets.0) % 4 == 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Moved {
    /// The slot's name.
    #[cfg_attr(feature = "json", serde(rename = "lump"))]
    pub name: String,
    /// Its offset before and after.
    #[cfg_attr(feature = "json", serde(rename = "offset"))]
    pub offsets: (i32, i32),
}

/// How an edited slot was placed: the rows of the layout table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    InPlace,
    Slack,
    Hole,
    Last,
    Shifted(usize),
    Appended,
    Detached,
    Repacked,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More edits than this are summed up.
        const MANY: usize = 8;
        let mut separator = "";
        if self.edits.len() > MANY {
            let sum = |size: fn(&SlotEdit) -> usize| self.edits.iter().map(size).map(wide).sum::<u64>();
            let (before, after) = (sum(|edit| edit.sizes.0), sum(|edit| edit.sizes.1));
            write!(f, "{} lumps {before} -> {after} bytes", self.edits.len())?;
            separator = "; ";
        } else {
            for SlotEdit { name, sizes: (before, after), how, .. } in &self.edits {
                write!(f, "{separator}{name} {before} -> {after} bytes, {how}")?;
                separator = "; ";
            }
        }
        for Versioned { name, from, to, .. } in &self.versions {
            write!(f, "{separator}{name} version {from} -> {to}")?;
            separator = "; ";
        }
        match &self.moved[..] {
            [] => {}
            [Moved { name, offsets: (from, to) }] => write!(f, "{separator}{name} moved from {from} to {to}")?,
            moved => {
                write!(f, "{separator}{} lumps moved", moved.len())?;
                let distance = |moved: &Moved| i64::from(moved.offsets.1) - i64::from(moved.offsets.0);
                if moved.windows(2).all(|pair| distance(&pair[0]) == distance(&pair[1])) {
                    write!(f, " by {}", distance(&moved[0]))?;
                }
            }
        }
        if !self.moved.is_empty() {
            separator = "; ";
        }
        if self.dropped.0 > 0 {
            let (bytes, content) = self.dropped;
            write!(f, "{separator}dropped {bytes} bytes between lumps, {content} of them not zero")?;
            separator = "; ";
        }
        match (self.size, separator) {
            ((before, after), "") if before == after => f.write_str("nothing changes"),
            ((before, after), _) if before == after => Ok(()),
            ((before, after), _) => write!(f, "{separator}file {before} -> {after} bytes"),
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::InPlace => f.write_str("in place"),
            How::Slack => f.write_str("in place, into the zeros after it"),
            How::Hole => f.write_str("moved into zeros between lumps"),
            How::Last => f.write_str("in place at the end"),
            How::Shifted(by) => write!(f, "in place, what follows it moves by {by}"),
            How::Appended => f.write_str("moved to the end"),
            How::Detached => f.write_str("copied to the end, others share its old bytes"),
            How::Repacked => f.write_str("rewritten"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bsp, Layout};

    /// Records the length of each write.
    #[derive(Default)]
    struct Writes {
        bytes: Vec<u8>,
        lengths: Vec<usize>,
    }

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.extend_from_slice(bytes);
            self.lengths.push(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn blocks_are_whole_and_hold_the_file() {
        let map = Bsp::open("tests/maps/q2/own_rooms_bspx.bsp").unwrap();
        let light = map.slot("lighting").unwrap().id;
        for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
            let mut draft = map.draft();
            draft.set(light, vec![7; 500_001]).unwrap();
            let plan = draft.plan(layout).unwrap();
            let mut writes = Writes::default();
            plan.write_to(&mut writes).unwrap();
            assert_eq!(writes.bytes.len(), plan.size());
            assert_eq!(writes.bytes, plan.to_vec());
            let (last, whole) = writes.lengths.split_last().unwrap();
            assert!(whole.len() >= 3 && whole.iter().all(|length| *length == 128 << 10), "{whole:?}, {last}");
        }
    }
}
