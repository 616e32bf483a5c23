//! What follows the last top-level slot: padding, a BSPX block, a trailer, or bytes that no entry names.

use std::ops::Range;

use super::directory::{BloodlinesTrailer, BspxEntry, BspxHeader, EntryFields};
use super::slot::{Slot, SlotId, SlotWords};
use crate::bytes::{align_up, escaped, is_zero};
use crate::record::{Field, Record};

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
