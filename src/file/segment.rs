//! Segments: the whole file from front to back.

use std::ops::Range;

use super::slot::{Slot, SlotId};
use super::tail::TailPart;

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
