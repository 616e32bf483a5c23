//! Slots: anything of a map that has bytes and a directory word.

use std::fmt;
use std::ops::Range;

use super::directory::EntryFields;
use crate::bytes::ByteOrder;

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

impl std::fmt::Display for SlotId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SlotId::Lump(index) => write!(f, "lump {index}"),
            SlotId::Extra(index) => write!(f, "extra lump {index}"),
            SlotId::Game(index) => write!(f, "game lump member {index}"),
            SlotId::Bspx(index) => write!(f, "BSPX entry {index}"),
        }
    }
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
    /// The range is empty; its offset has no meaning.
    Empty,
    /// It starts in the file and ends after the end of the file.
    Overrun,
    /// It starts at or after the end of the file.
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
    /// The offset in the directory, in bytes from the start of the file.
    pub offset: i32,
    /// The length in the directory, in bytes.
    pub length: i32,
    /// The slot's own version, where the directory has one.
    pub version: Option<i32>,
    /// The size after decompression in the directory; 0 for slots that are not compressed.
    pub unpacked: Option<i32>,
    /// The range of its bytes in the file: as the directory says, cut at the end of the file.
    pub stored: Range<usize>,
    /// Whether the range in the directory is within the file.
    pub bounds: Bounds,
    pub(crate) words: SlotWords,
}

/// The offsets of a slot's words in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotWords {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) unpacked: Option<usize>,
    /// The version of a lump.
    pub(crate) version: Option<usize>,
    /// Flags and version of a game-lump member, 16 bits each.
    pub(crate) flags: Option<usize>,
    /// The position that the offset is relative to: the start of the file, or on consoles the start of the game lump.
    pub(crate) origin: usize,
    /// Their byte order.
    pub(crate) order: ByteOrder,
}

impl SlotWords {
    /// The words of a little-endian entry with only an offset and a length.
    pub(crate) fn plain(offset: usize, length: usize) -> Self {
        SlotWords { offset, length, unpacked: None, version: None, flags: None, origin: 0, order: ByteOrder::Little }
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

    /// The flags of a member of the game lump.
    pub(crate) fn flags(&self, file: &[u8]) -> Option<u16> {
        self.words.order.half(file, self.words.flags?)
    }

    /// Whether the slot is top-level, and not within another slot's directory.
    pub(crate) fn is_top_level(&self) -> bool {
        matches!(self.id, SlotId::Lump(_) | SlotId::Extra(_))
    }
}
