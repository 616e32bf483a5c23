//! The container: every slot of a map, with the directory words that locate it, in the main directory and in those
//! within the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Rules;
use super::directory::{DirectoryShape, Entry, EntryFields, EntryWords, GameLumpEntry, LzmaHeader, XashHeader};
use super::slot::{self, Bounds, Segment, Slot, SlotId, SlotWords, TailPart};
use super::target::Origin;
use crate::bytes::{ByteOrder, Data, Escaped, Rope, escaped, index};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Field, Record, decode_in};

// The container: every slot of a map, with the directory words that locate it.

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
    /// The file that the bytes were read from.
    pub(crate) origin: Option<Arc<Origin>>,
    /// The bytes of slots that differ from the file's, of a map that is not placed yet.
    pub(crate) pending: Option<Arc<BTreeMap<SlotId, Joined<'a>>>>,
}

/// New bytes of a slot. Their parts are only put together for those who read them.
#[derive(Clone, Debug)]
pub(crate) struct Joined<'a> {
    rope: Rope<'a>,
    data: OnceLock<Data<'static>>,
}

impl<'a> Joined<'a> {
    fn data(&self) -> Data<'a> {
        let mut parts = self.rope.parts();
        match (parts.next(), parts.next()) {
            (Some(one), None) => one.clone(),
            _ => self.data.get_or_init(|| Data::from(self.rope.to_vec())).clone(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) shape: DirectoryShape,
    pub(crate) rules: &'static Rules,
    /// The end of the header, an extra header included.
    pub(crate) header_end: usize,
    pub(crate) slots: Vec<Slot>,
    /// Slots whose own bytes hold offsets that could not be read, with the reason. They never move.
    pub(crate) pinned: Vec<(SlotId, &'static str)>,
    /// The version of an unsupported extra header. It may name any bytes, so nothing outside the edited slots may move.
    pub(crate) unread_header: Option<i32>,
    /// Where the bytes after the last top-level slot begin.
    pub(crate) tail_start: usize,
    pub(crate) tail: Vec<TailPart>,
}

impl<'a> Container<'a> {
    /// Reads the directory and the directories within slots, and nothing else.
    ///
    /// # Errors
    /// [`ErrorKind::NotABsp`] if the file ends within the header.
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
                    origin: 0,
                    order: shape.order(),
                };
                Slot::new(SlotId::Lump(index), lump_name(index), fields, words, size)
            })
            .collect();

        let mut header_end = shape.header_size();
        let extra_version = xash_version(&data, header_end).filter(|_| rules.extra_header);
        if extra_version == Some(XASH_VERSION) {
            let extra = xash_extra(&data, header_end);
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
            let base = lump.stored.start;
            let members = || self::game_lump(&data[lump.stored.clone()], base, rules.origin(base), shape.order(), size);
            let over_header = (lump.stored.start < header_end).then_some("it lies over the header");
            let read = opaque_game_lump.or(over_header).map_or_else(members, Err);
            let directory = lump.stored.start..lump.stored.start + read.as_ref().map_or(0, |it| directory(it.len()));
            let is_shared = |slot: &&Slot| slot.stored.start < directory.end && directory.start < slot.stored.end;
            // A lump that shares the directory's bytes would be changed too.
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
        let slot::Tail { parts: tail, slots: bspx } =
            slot::read(&data, tail_start, &slots, trailer_offset, rules.end_alignment(size));
        slots.extend(bspx);

        let unread_header = extra_version.filter(|version| *version != XASH_VERSION);
        let parts = Parts { shape, rules, header_end, slots, pinned, unread_header, tail_start, tail };
        Ok(Container { data, parts: Arc::new(parts), origin: None, pending: None })
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// The container with other bytes and versions of slots, decompressed: content to be looked at. The places of these
    /// slots are not known yet, so segments and offsets mean nothing.
    pub(crate) fn pending(&self, bytes: &BTreeMap<SlotId, Rope<'a>>, versions: &BTreeMap<SlotId, i32>) -> Self {
        let mut all = self.pending.as_deref().cloned().unwrap_or_default();
        all.extend(bytes.iter().map(|(slot, rope)| (*slot, Joined { rope: rope.clone(), data: OnceLock::new() })));
        let mut parts = Parts::clone(&self.parts);
        for slot in &mut parts.slots {
            if let Some(bytes) = bytes.get(&slot.id) {
                slot.stored = 0..bytes.len();
                slot.length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
                slot.bounds = if bytes.is_empty() { Bounds::Empty } else { Bounds::Inside };
                slot.unpacked = slot.unpacked.map(|_| 0);
                slot.words.flags = None;
            }
            slot.version = versions.get(&slot.id).copied().or(slot.version);
        }
        Container { parts: Arc::new(parts), pending: Some(Arc::new(all)), ..self.clone() }
    }

    /// Whether it is a map with pending edits ([`crate::Draft::view`]): the places of slots in the file are not known
    /// yet.
    pub fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether a slot has pending bytes, which differ from the file's.
    pub fn is_pending(&self, id: SlotId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.contains_key(&id))
    }

    /// Whether a slot has new bytes in several parts: most of them are those of the file, and to read them is to copy
    /// them.
    pub fn is_rope(&self, id: SlotId) -> bool {
        let pending = self.pending.as_ref().and_then(|pending| pending.get(&id));
        pending.is_some_and(|joined| joined.rope.parts().nth(1).is_some())
    }

    /// The bytes of a slot as they are stored.
    pub(crate) fn stored(&self, id: SlotId) -> Data<'a> {
        match self.pending.as_ref().and_then(|pending| pending.get(&id)) {
            Some(joined) => joined.data(),
            None => self.data.slice(self.slot(id).map_or(0..0, |slot| slot.stored.clone())),
        }
    }

    /// The end of the header, an extra header included.
    pub fn header_end(&self) -> usize {
        self.parts.header_end
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

    /// The file from front to back: the segments are adjacent and complete, and each has all slots that cover it.
    pub fn segments(&self) -> Vec<Segment> {
        slot::sweep(&self.parts.slots, self.parts.header_end, &self.parts.tail, self.data.len())
    }

    /// Why a slot may not move: its own bytes hold offsets that cannot be read.
    pub fn pinned(&self, id: SlotId) -> Option<&'static str> {
        self.parts.pinned.iter().find(|(pinned, _)| *pinned == id).map(|(_, reason)| *reason)
    }

    /// Whether some bytes may not move: a pinned slot, or bytes that an unreadable extra header or BSPX block may name.
    pub fn has_immovable(&self) -> bool {
        let unreadable = |part: &TailPart| matches!(part, TailPart::UnreadableBspx(_));
        !self.parts.pinned.is_empty() || self.parts.unread_header.is_some() || self.parts.tail.iter().any(unreadable)
    }

    /// The lump that has members, where maps of this kind have one.
    pub(crate) fn game_lump_id(&self) -> Option<SlotId> {
        self.parts.rules.game_lump.map(SlotId::Lump)
    }

    /// The game lump, if its directory claims bytes that the file does not have.
    pub(crate) fn cut_game_lump(&self) -> Option<&Slot> {
        let (id, _) = self.parts.pinned.iter().find(|(_, reason)| *reason == OUTSIDE)?;
        self.slot(*id)
    }

    /// The slots whose directory entries claim bytes that the file does not have.
    pub fn damaged(&self) -> impl Iterator<Item = &Slot> {
        self.parts.slots.iter().filter(|slot| slot.bounds.is_damaged())
    }
}

// Directories within the file after the main one: Xash3D's extra header and the game lump.

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
pub fn directory(members: usize) -> usize {
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
