//! The parts of a file: slots, which are anything of a map that has bytes and a directory word, the segments that they
//! cut it into, and what follows the last slot.

use std::fmt;
use std::ops::Range;

use super::directory::{BloodlinesTrailer, BspxEntry, BspxHeader, EntryFields};
use crate::bytes::{ByteOrder, align_up, escaped, is_zero};
use crate::record::{Field, Record};

// Slots: anything of a map that has bytes and a directory word.

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

impl Bounds {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Bounds::Inside => "inside",
            Bounds::Empty => "empty",
            Bounds::Overrun => "runs past the end of the file",
            Bounds::Outside => "lies past the end of the file",
            Bounds::Negative => "has a negative offset or length",
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
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

    /// The offsets in the file of its words: that of its offset first, then those that the directory has of its length,
    /// decompressed size, version and flags.
    pub fn word_offsets(&self) -> impl Iterator<Item = usize> + use<> {
        let SlotWords { offset, length, unpacked, version, flags, .. } = self.words;
        [Some(offset), Some(length), unpacked, version, flags].into_iter().flatten()
    }

    /// The flags of a member of the game lump.
    pub(crate) fn flags(&self, file: &[u8]) -> Option<u16> {
        self.words.order.half(file, self.words.flags?)
    }

    /// Whether the slot is top-level, and not within another slot's directory.
    pub fn is_top_level(&self) -> bool {
        matches!(self.id, SlotId::Lump(_) | SlotId::Extra(_))
    }
}

// Segments: the whole file from front to back.

/// A range of the file that the same slots cover.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// let segments = map.container().segments();
/// assert!(segments.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// Bytes from the start of the file; never empty.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: SegmentKind,
    /// All slots that cover it: several if they share bytes, overlap or contain each other.
    pub slots: Vec<SlotId>,
}

/// The kind of a segment.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q2/own_rooms.bsp")?;
/// let map = bspkit::Bsp::parse(&bytes)?;
/// assert_eq!(map.container().segments()[0].kind, bspkit::SegmentKind::Header);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentKind {
    /// Magic, version, directory. Slots may cover it too.
    Header,
    /// One slot or several.
    Slots,
    /// Bytes between slots that no slot covers.
    Gap,
    /// Zeros at the end of the file: at most three, on consoles up to the end of a sector.
    Padding,
    /// Header and directory of a BSPX block.
    Bspx,
    /// Bytes between the entries of a BSPX block, which none of them covers.
    BspxGap,
    /// The offset of lump 0 and the signature after it.
    Trailer,
    /// Bytes after everything, which no entry names.
    Tail,
}

/// The segments of a file, split at the boundaries of all slots and parts.
pub(super) fn sweep(slots: &[Slot], header_end: usize, tail: &[TailPart], size: usize) -> Vec<Segment> {
    let slots: Vec<_> = slots.iter().filter(|slot| !slot.stored.is_empty()).collect();
    let mut boundaries = vec![0, header_end, size];
    boundaries.extend(slots.iter().flat_map(|slot| [slot.stored.start, slot.stored.end]));
    boundaries.extend(tail.iter().map(|part| part.range().start));
    boundaries.sort_unstable();
    boundaries.dedup();

    let segments = boundaries.windows(2).map(|pair| {
        let range = pair[0]..pair[1];
        let covers = |whole: &Range<usize>| whole.start <= range.start && range.end <= whole.end;
        let slots: Vec<SlotId> = slots.iter().filter(|slot| covers(&slot.stored)).map(|slot| slot.id).collect();
        let kind = if range.end <= header_end {
            SegmentKind::Header
        } else if !slots.is_empty() {
            SegmentKind::Slots
        } else {
            let part = tail.iter().find(|part| covers(part.range()));
            part.map_or(SegmentKind::Gap, |part| part.segment_kind(range.start))
        };
        Segment { range, kind, slots }
    });
    segments.collect()
}

impl TailPart {
    fn segment_kind(&self, start: usize) -> SegmentKind {
        match self {
            TailPart::Padding(_) => SegmentKind::Padding,
            TailPart::BspxPadding(_) => SegmentKind::Gap,
            TailPart::Bspx(block) if start > block.start => SegmentKind::BspxGap,
            TailPart::Bspx(_) | TailPart::UnreadableBspx(_) => SegmentKind::Bspx,
            TailPart::Trailer(_) => SegmentKind::Trailer,
            TailPart::Unknown(_) => SegmentKind::Tail,
        }
    }
}

// What follows the last top-level slot: padding, a BSPX block, a trailer, or bytes that no entry names.

/// The largest number of entries in a BSPX block; more are taken for other data. Real maps have fewer than twenty.
const MOST_ENTRIES: usize = 1024;

/// One part of the tail, in file order; the ranges are adjacent and end with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TailPart {
    /// Zeros at the very end, at most three but on consoles.
    Padding(Range<usize>),
    /// The bytes, at most three, that bring a BSPX block to a multiple of 4.
    BspxPadding(Range<usize>),
    /// A BSPX block: header, directory and the entries after it.
    Bspx(Range<usize>),
    /// A BSPX header whose directory cannot be read: it never moves.
    UnreadableBspx(Range<usize>),
    /// The offset of lump 0 and a signature.
    Trailer(Range<usize>),
    /// Bytes that no entry names: an appended zip, text.
    Unknown(Range<usize>),
}

pub(crate) struct Tail {
    pub(crate) parts: Vec<TailPart>,
    /// The entries of the BSPX block.
    pub(crate) slots: Vec<Slot>,
}

/// Reads the tail that begins at `start`; `trailer_offset` is the offset that a trailer would repeat, and padding fills
/// the file to a multiple of `end_alignment`.
pub(crate) fn read(
    data: &[u8],
    start: usize,
    slots: &[Slot],
    trailer_offset: Option<i32>,
    end_alignment: usize,
) -> Tail {
    let size = data.len();
    if let Some(trailer) = trailer_offset.and_then(|offset| trailer(data, start, offset)) {
        let padding = (start < trailer.start).then_some(TailPart::Unknown(start..trailer.start));
        let parts = padding.into_iter().chain([TailPart::Trailer(trailer)]).collect();
        return Tail { parts, slots: Vec::new() };
    }
    let mut tail = Tail { parts: Vec::new(), slots: Vec::new() };
    let mut rest = start;
    if let Some(at) = bspx_place(data, start, slots) {
        if at - start > 3 {
            // It was found only by the offset of an empty lump, so its place after a move is unknown.
            return Tail { parts: vec![TailPart::UnreadableBspx(start..size)], slots: Vec::new() };
        }
        if at > start {
            tail.parts.push(TailPart::BspxPadding(start..at));
        }
        let table = |entries: &[Slot]| at + BspxHeader::SIZE + entries.len() * BspxEntry::SIZE;
        // An entry that overlaps the block's own directory, or partly the lumps, could not keep its bytes in a move.
        let is_sane = |entries: &Vec<Slot>| {
            let torn = |range: &Range<usize>| range.start < table(entries) && range.end > start;
            !entries.iter().map(|entry| &entry.stored).any(torn)
        };
        match bspx_entries(data, at).filter(is_sane) {
            Some(entries) => {
                let table = table(&entries);
                let end = entries.iter().map(|slot| &slot.stored).filter(|range| range.start >= table);
                let end = end.map(|range| range.end).max().unwrap_or(table);
                tail.parts.push(TailPart::Bspx(at..end));
                tail.slots = entries;
                rest = end;
            }
            None => {
                tail.parts.push(TailPart::UnreadableBspx(at..size));
                rest = size;
            }
        }
    }
    if rest < size {
        let is_padding = size - rest < end_alignment && is_zero(&data[rest..]);
        // A block that no reader finds. A move might bring it to a place where readers look.
        let is_lost_bspx = data[rest..].windows(4).take(4).any(|window| window == b"BSPX");
        tail.parts.push(match () {
            () if is_padding => TailPart::Padding(rest..size),
            () if is_lost_bspx => TailPart::UnreadableBspx(rest..size),
            () => TailPart::Unknown(rest..size),
        });
    }
    tail
}

/// The ten bytes of a Bloodlines trailer at the end of the file, if only padding is between them and the last lump.
fn trailer(data: &[u8], start: usize, offset: i32) -> Option<Range<usize>> {
    let at = data.len().checked_sub(BloodlinesTrailer::SIZE).filter(|at| (start..start + 4).contains(at))?;
    let trailer = BloodlinesTrailer::decode(&data[at..])?;
    let says_so = trailer.signature == *b"QnDbTm" && u32::try_from(offset) == Ok(trailer.entities_offset);
    says_so.then_some(at..data.len())
}

/// The possible offsets of a BSPX header: the first multiple of 4 after all lumps. Readers differ in whether the offset
/// of an empty lump counts.
fn bspx_place(data: &[u8], start: usize, slots: &[Slot]) -> Option<usize> {
    let empty = slots.iter().filter(|slot| slot.is_top_level()).filter_map(|slot| usize::try_from(slot.offset).ok());
    let with_empty = empty.filter(|at| *at <= data.len()).max().unwrap_or(0).max(start);
    [start, with_empty]
        .map(|end| align_up(end, 4))
        .into_iter()
        .find(|at| data.get(*at..).is_some_and(|rest| rest.starts_with(b"BSPX")))
}

/// The entries of the BSPX block at `at`; `None` if there is no room for them.
fn bspx_entries(data: &[u8], at: usize) -> Option<Vec<Slot>> {
    let header = BspxHeader::decode(&data[at..])?;
    let count = usize::try_from(header.count).ok().filter(|count| *count <= MOST_ENTRIES)?;
    let first = at + BspxHeader::SIZE;
    let table = data.get(first..first + count * BspxEntry::SIZE)?;
    let entries = table.chunks_exact(BspxEntry::SIZE).enumerate().filter_map(|(index, bytes)| {
        let BspxEntry { name, offset, length } = BspxEntry::decode(bytes)?;
        let at = first + index * BspxEntry::SIZE;
        let fields = EntryFields { offset, length, version: None, unpacked: None };
        let words = SlotWords::plain(at + 24, at + 28);
        let name = format!("bspx:{}", escaped(until_nul(&name)));
        Some(Slot::new(SlotId::Bspx(index), name, fields, words, data.len()))
    });
    Some(entries.collect())
}

fn until_nul(name: &[u8]) -> &[u8] {
    &name[..name.iter().position(|byte| *byte == 0).unwrap_or(name.len())]
}

impl TailPart {
    pub(crate) fn range(&self) -> &Range<usize> {
        match self {
            TailPart::Padding(range)
            | TailPart::BspxPadding(range)
            | TailPart::Bspx(range)
            | TailPart::UnreadableBspx(range)
            | TailPart::Trailer(range)
            | TailPart::Unknown(range) => range,
        }
    }

    pub(crate) fn is_bspx_padding(&self) -> bool {
        matches!(self, TailPart::BspxPadding(_))
    }
}
