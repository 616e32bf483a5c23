//! Directories within the file after the main one: Xash3D's extra header and the game lump.

use super::directory::{Entry, EntryFields, GameLumpEntry, LzmaHeader, XashHeader};
use super::slot::{Slot, SlotId, SlotWords};
use crate::bytes::{ByteOrder, Escaped, escaped, index};
use crate::record::{Field, Record, decode_in};

/// The largest number of members in a game lump; more are taken for other data. Real maps have at most eight.
pub(crate) const MOST_MEMBERS: usize = 1024;

/// The reason why a game lump is not read if its directory claims bytes that the file does not have.
pub(crate) const OUTSIDE: &str = "a member lies outside of the file";

/// The entries of an Xash3D extra header.
pub(crate) const XASH_ENTRIES: usize = 12;

/// The names of Xash3D's extra lumps (bspfile.h of xash3d-fwgs).
const XASH_NAMES: [&str; XASH_ENTRIES] = [
    "LIGHTVECS",
    "FACEINFO",
    "CUBEMAPS",
    "VERTNORMALS",
    "LEAF_LIGHTING",
    "WORLDLIGHTS",
    "COLLISION",
    "AINODES",
    "SHADOWMAP",
    "VERTEX_LIGHT",
    "UNUSED0",
    "UNUSED1",
];

pub(crate) struct ExtraHeader {
    pub(crate) end: usize,
    pub(crate) slots: Vec<Slot>,
}

/// The version of the Xash3D extra header that Xash3D itself reads. XashXT and P2:Savior had others before it.
pub(crate) const XASH_VERSION: i32 = 4;

/// The version of the Xash3D extra header that is at `at`.
pub(crate) fn xash_version(data: &[u8], at: usize) -> Option<i32> {
    let header = XashHeader::decode(data.get(at..)?)?;
    (header.magic == *b"XASH").then_some(header.version)
}

/// Reads the Xash3D extra header at `at`, whose version is supported. The file may end within it.
pub(crate) fn xash_extra(data: &[u8], at: usize) -> ExtraHeader {
    let first = at + XashHeader::SIZE;
    let end = first + XASH_ENTRIES * Entry::SIZE;
    let slots = (0..XASH_ENTRIES).zip(XASH_NAMES).filter_map(|(index, name)| {
        let at = first + index * Entry::SIZE;
        let Entry { offset, length } = Entry::decode(data.get(at..)?)?;
        let fields = EntryFields { offset, length, version: None, unpacked: None };
        let words = SlotWords::plain(at, at + 4);
        Some(Slot::new(SlotId::Extra(index), format!("extra:{name}"), fields, words, data.len()))
    });
    ExtraHeader { end, slots: slots.collect() }
}

/// Reads the directory of a game lump whose bytes are at `base` in a file of `file_size` bytes; the reason if it cannot
/// be read.
///
/// Offsets count from `origin`. A member that is elsewhere in the file is returned as it is; the caller must then not
/// move anything.
pub(crate) fn game_lump(
    lump: &[u8],
    base: usize,
    origin: usize,
    order: ByteOrder,
    file_size: usize,
) -> Result<Vec<Slot>, &'static str> {
    const NO_DIRECTORY: &str = "its directory cannot be read";
    let count = order.word(lump, 0).and_then(|count| usize::try_from(count).ok()).ok_or(NO_DIRECTORY)?;
    let members = 4 + count.min(MOST_MEMBERS) * GameLumpEntry::SIZE;
    if count > MOST_MEMBERS || members > lump.len() {
        return Err(NO_DIRECTORY);
    }
    let mut entries = Vec::with_capacity(count);
    for bytes in lump[4..members].chunks_exact(GameLumpEntry::SIZE) {
        let Some(mut entry) = decode_in::<GameLumpEntry>(order, bytes) else { continue };
        let offset = i32::try_from(origin).ok().and_then(|origin| entry.offset.checked_add(origin));
        entry.offset = offset.ok_or(OUTSIDE)?;
        entries.push(entry);
    }
    // A member normally starts within the lump; the dummies (id 0) that end a compressed list may have any offset.
    let start = |entry: &GameLumpEntry| {
        let start = usize::try_from(entry.offset).ok()?.checked_sub(base)?;
        (members..=lump.len()).contains(&start).then_some(start)
    };

    let mut starts: Vec<usize> = entries.iter().filter_map(start).collect();
    starts.sort_unstable();

    let mut slots = Vec::with_capacity(count);
    for (index, entry) in entries.iter().enumerate() {
        let word = base + 4 + index * GameLumpEntry::SIZE;
        let flags = Some(word + 4);
        let words = SlotWords { flags, origin, order, ..SlotWords::plain(word + 8, word + 12) };
        let (length, unpacked) = if entry.id == 0 {
            (0, 0)
        } else {
            // The stored size of a compressed member is in its header; if that is wrong, it is the room up to the next
            // member.
            let packed = start(entry).filter(|_| entry.flags & 1 != 0).and_then(|at| {
                let end = starts.iter().copied().find(|next| *next > at).unwrap_or(lump.len());
                i32::try_from(lzma_size(&lump[at..end]).unwrap_or(end - at)).ok()
            });
            packed.map_or((entry.length, 0), |packed| (packed, entry.length))
        };
        let version = Some(entry.version.into());
        let fields = EntryFields { offset: entry.offset, length, version, unpacked: Some(unpacked) };
        let slot = Slot::new(SlotId::Game(index), member_name(entry.id), fields, words, file_size);
        if slot.bounds.is_damaged() {
            return Err(OUTSIDE);
        }
        slots.push(slot);
    }
    Ok(slots)
}

/// The size of the directory of a game lump with this many members.
pub(crate) fn directory(members: usize) -> usize {
    4 + members * GameLumpEntry::SIZE
}

/// `game:sprp` for the number made of these four characters.
pub(crate) fn member_name(id: u32) -> String {
    let id = id.to_be_bytes();
    let text: Escaped<'_> = escaped(&id);
    format!("game:{text}")
}

/// The size of a compressed piece with its header, where `room` starts with one that fits.
fn lzma_size(room: &[u8]) -> Option<usize> {
    let header = LzmaHeader::decode(room).filter(|header| header.magic == *b"LZMA")?;
    let size = LzmaHeader::SIZE.checked_add(index(header.packed))?;
    (size <= room.len()).then_some(size)
}
