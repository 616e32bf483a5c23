//! The container: every slot of a map with the words that say where it is.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::directory::{DirectoryShape, EntryFields, EntryWords};
use super::nested;
use super::tail::{self, TailPart};
use super::{Rules, Segment, segment};
use crate::bytes::Data;
use crate::error::{Error, ErrorKind, Result};

/// Names one slot of a map.
///
/// ```
/// use bspkit::SlotId;
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// assert_eq!(map.slot("entities")?.id, SlotId::Lump(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SlotId {
    /// An entry of the lump directory.
    Lump(usize),
    /// An entry of Xash3D's extra header.
    Extra(usize),
    /// A member of the game lump.
    Game(usize),
    /// An entry of the BSPX block.
    Bspx(usize),
}

/// Whether the range that a directory entry claims lies in the file.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// assert!(map.slots().iter().all(|slot| slot.bounds != bspkit::Bounds::Overrun));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bounds {
    /// It does.
    Inside,
    /// It is empty; its offset means nothing.
    Empty,
    /// It starts in the file and ends behind it.
    Overrun,
    /// It starts at or behind the end of the file.
    Outside,
    /// Its offset or length is negative.
    Negative,
}

impl Bounds {
    /// Whether the entry claims bytes that the file does not have.
    pub fn is_damaged(self) -> bool {
        matches!(self, Bounds::Overrun | Bounds::Outside | Bounds::Negative)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bounds::Inside => "inside",
            Bounds::Empty => "empty",
            Bounds::Overrun => "runs past the end of the file",
            Bounds::Outside => "lies past the end of the file",
            Bounds::Negative => "has a negative offset or length",
        })
    }
}

/// Anything of a map that has bytes and a directory word: a lump, a member of the game lump, a BSPX entry.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// let planes = map.slot("planes")?;
/// assert_eq!(planes.stored.len() % 20, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Slot {
    /// Which slot it is.
    pub id: SlotId,
    /// Its name: the dialect's for a lump, `game:sprp`, `bspx:RGBLIGHTING`.
    pub name: String,
    /// The offset as the directory says it, in bytes from the start of the file.
    pub offset: i32,
    /// The length as the directory says it, in bytes.
    pub length: i32,
    /// The slot's own version, where the directory has one.
    pub version: Option<i32>,
    /// The size after decompression as the directory says it; 0 for slots that are not compressed.
    pub unpacked: Option<i32>,
    /// The bytes of the file that belong to it: what the directory says, as far as the file reaches.
    pub stored: Range<usize>,
    /// Whether the directory's claim lies in the file.
    pub bounds: Bounds,
    pub(crate) words: SlotWords,
}

/// Where in the file the words of a slot stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotWords {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) unpacked: Option<usize>,
    /// The version of a lump.
    pub(crate) version: Option<usize>,
    /// Flags and version of a game-lump member, 16 bits each.
    pub(crate) flags: Option<usize>,
}

impl SlotWords {
    /// Those of an entry that says no more than where and how long.
    pub(crate) fn plain(offset: usize, length: usize) -> Self {
        SlotWords { offset, length, unpacked: None, version: None, flags: None }
    }
}

impl Slot {
    pub(crate) fn new(id: SlotId, name: String, fields: EntryFields, words: SlotWords, file_size: usize) -> Self {
        let EntryFields { offset, length, version, unpacked } = fields;
        let (stored, bounds) = match (usize::try_from(offset), usize::try_from(length)) {
            (_, Ok(0)) => (0..0, Bounds::Empty),
            (Ok(start), Ok(length)) if start < file_size => {
                let end = start.saturating_add(length);
                let bounds = if end > file_size { Bounds::Overrun } else { Bounds::Inside };
                (start..end.min(file_size), bounds)
            }
            (Ok(_), Ok(_)) => (0..0, Bounds::Outside),
            _ => (0..0, Bounds::Negative),
        };
        Slot { id, name, offset, length, version, unpacked, stored, bounds, words }
    }

    /// Whether the slot stands in the file by itself and not within another one's directory.
    pub(crate) fn is_top_level(&self) -> bool {
        matches!(self.id, SlotId::Lump(_) | SlotId::Extra(_))
    }
}

/// A map as a container of slots; cloning it is cheap.
///
/// Most users want [`crate::Bsp`], which knows the dialect as well.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// assert_eq!(map.container().slots().len(), 19);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Container<'a> {
    pub(crate) data: Data<'a>,
    pub(crate) parts: Arc<Parts>,
}

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) shape: DirectoryShape,
    pub(crate) rules: &'static Rules,
    /// The end of the header, an extra header included.
    pub(crate) header_end: usize,
    pub(crate) slots: Vec<Slot>,
    /// Slots whose own bytes hold offsets that could not be read, with the reason: they never move.
    pub(crate) pinned: Vec<(SlotId, &'static str)>,
    /// Where the bytes behind the last top-level slot begin.
    pub(crate) tail_start: usize,
    pub(crate) tail: Vec<TailPart>,
}

impl<'a> Container<'a> {
    /// Reads the directory and the directories within slots; costs nothing beyond those.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] where the file ends within the header.
    pub(crate) fn parse(
        data: Data<'a>,
        shape: DirectoryShape,
        rules: &'static Rules,
        lump_name: impl Fn(usize) -> String,
        opaque_game_lump: Option<&'static str>,
    ) -> Result<Self> {
        let size = data.len();
        if size < shape.header_size() {
            let message = format!("the file ends within its header: {size} of {} bytes", shape.header_size());
            return Err(Error::new(ErrorKind::NotABsp, message));
        }
        let EntryWords { offset, length, version, unpacked } = shape.entry.words();
        let mut slots: Vec<Slot> = shape
            .entries(&data)
            .enumerate()
            .map(|(index, fields)| {
                let entry = shape.entry_offset(index);
                let words = SlotWords {
                    offset: entry + offset,
                    length: entry + length,
                    unpacked: unpacked.map(|field| entry + field),
                    version: version.map(|field| entry + field),
                    flags: None,
                };
                Slot::new(SlotId::Lump(index), lump_name(index), fields, words, size)
            })
            .collect();

        let mut header_end = shape.header_size();
        if rules.extra_header
            && let Some(extra) = nested::xash_extra(&data, header_end)
        {
            header_end = extra.end;
            slots.extend(extra.slots);
            if size < header_end {
                let message = format!("the file ends within its extra header: {size} of {header_end} bytes");
                return Err(Error::new(ErrorKind::NotABsp, message));
            }
        }

        let mut pinned = Vec::new();
        let game_lump = rules.game_lump.and_then(|index| slots.get(index)).filter(|slot| !slot.stored.is_empty());
        if let Some(lump) = game_lump {
            let id = lump.id;
            let members = || nested::game_lump(&data[lump.stored.clone()], lump.stored.start, size);
            let read = opaque_game_lump.map_or_else(members, Err);
            let directory = lump.stored.start..lump.stored.start + read.as_ref().map_or(0, |it| nested::directory(it));
            let is_shared = |slot: &&Slot| slot.stored.start < directory.end && directory.start < slot.stored.end;
            // Whoever shares the directory's bytes would see its offsets change.
            if slots.iter().filter(|slot| slot.id != id).any(|slot| is_shared(&slot)) {
                pinned.push((id, "another lump shares the bytes of its directory"));
            }
            let block = lump.stored.clone();
            match read {
                Ok(members) => {
                    let first = directory.end;
                    let is_outside = |member: &&Slot| {
                        let Range { start, end } = member.stored;
                        start < end && (start < first || end > block.end)
                    };
                    for member in members.iter().filter(is_outside) {
                        pinned.push((member.id, "it lies outside of the game lump"));
                    }
                    if members.iter().any(|member| is_outside(&member)) {
                        pinned.push((id, "a member lies outside of it"));
                    }
                    slots.extend(members);
                }
                Err(reason) => pinned.push((id, reason)),
            }
        }

        let tail_start = slots.iter().map(|slot| slot.stored.end).max().unwrap_or(0).max(header_end);
        let trailer_offset = rules.trailer_lump.and_then(|index| slots.get(index)).map(|slot| slot.offset);
        let tail::Tail { parts: tail, slots: bspx } = tail::read(&data, tail_start, &slots, trailer_offset);
        slots.extend(bspx);

        let parts = Parts { shape, rules, header_end, slots, pinned, tail_start, tail };
        Ok(Container { data, parts: Arc::new(parts) })
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// How the lump directory is laid out.
    pub fn shape(&self) -> DirectoryShape {
        self.parts.shape
    }

    /// Every slot: lumps by index, then extra lumps, game-lump members and BSPX entries in the order of their
    /// directories.
    pub fn slots(&self) -> &[Slot] {
        &self.parts.slots
    }

    /// The slot of this id.
    pub fn slot(&self, id: SlotId) -> Option<&Slot> {
        match id {
            SlotId::Lump(index) => self.parts.slots.get(index).filter(|slot| slot.id == id),
            _ => self.parts.slots.iter().find(|slot| slot.id == id),
        }
    }

    /// The file from front to back: adjacent, complete, each segment with all slots that cover it.
    pub fn segments(&self) -> Vec<Segment> {
        segment::sweep(self)
    }

    /// Why a slot may not move: its own bytes hold offsets that cannot be read.
    pub fn pinned(&self, id: SlotId) -> Option<&'static str> {
        self.parts.pinned.iter().find(|(pinned, _)| *pinned == id).map(|(_, reason)| *reason)
    }

    /// Whether anything may not move: a pinned slot, or a BSPX block that cannot be read.
    pub fn has_immovable(&self) -> bool {
        let unreadable = |part: &TailPart| matches!(part, TailPart::UnreadableBspx(_));
        !self.parts.pinned.is_empty() || self.parts.tail.iter().any(unreadable)
    }

    /// The slots whose directory entries claim bytes that the file does not have.
    pub fn damaged(&self) -> impl Iterator<Item = &Slot> {
        self.parts.slots.iter().filter(|slot| slot.bounds.is_damaged())
    }
}
