//! What a map remembers of its slots: which row of the dialect's table describes each, and their bytes, decompressed
//! and little-endian. Each is found when it is first asked for.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use super::Bsp;
use crate::bytes::{ByteOrder, Data, wide};
use crate::dialect::{Facts, Form, Key, List, Row, Span};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Bounds, Slot, SlotId, lzma};
use crate::record::{Record, Table};

/// The most bytes that a map remembers: those of slots that are compressed, or byte-swapped.
const MOST_REMEMBERED: usize = 512 << 20;

/// What a map remembers. It has no borrowed bytes: what is in the file is not copied.
#[derive(Default)]
pub(super) struct Memo {
    slots: OnceLock<Box<[Known]>>,
    /// Whether the map as a whole has the known structs.
    is_usual: OnceLock<bool>,
    /// The size of all slots after decompression, in bytes.
    unpacked_size: OnceLock<u64>,
}

/// What is remembered of a slot.
#[derive(Default)]
struct Known {
    detection: OnceLock<Detection>,
    /// The index of the slot whose decompressed bytes these are: several may share compressed bytes. `None` if there is
    /// no room for them.
    holder: Option<usize>,
    unpacked: OnceLock<Result<Data<'static>, (ErrorKind, String)>>,
    /// Whether there is room for the byte-swapped bytes.
    has_room: bool,
    little_endian: OnceLock<Data<'static>>,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

/// The row that describes a slot, and how sure that is: [`Bsp::detection`].
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let detection = map.detection(map.slot("faces")?);
/// assert_eq!(detection.row.unwrap().lump, "FACES");
/// assert!(detection.likely.is_none(), "the proof of the row holds");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Detection {
    /// The row, or the reason why the content is not known.
    pub row: Result<&'static Row, String>,
    /// If the proof of no row holds: the row that the slot most likely has, good enough for looking at it.
    pub likely: Option<&'static Row>,
    /// The reason why the proof of the likely row fails.
    pub misfit: Option<String>,
    /// Whether the detection needs another lump that cannot be read.
    pub is_unread: bool,
}

impl Detection {
    fn plainly(row: Result<&'static Row, String>) -> Self {
        Detection { row, likely: None, misfit: None, is_unread: false }
    }
}

impl Memo {
    /// For a map with other bytes of some slots. Decompressed bytes of the others are the same.
    pub(super) fn of_pending(&self, map: &Bsp<'_>) -> Memo {
        let memo = Memo::default();
        if let Some(known) = self.slots.get() {
            let new = memo.slots(map);
            for (slot, (old, new)) in map.slots().iter().zip(known.iter().zip(new)) {
                let holder = old.holder.and_then(|holder| known.get(holder));
                if let Some(bytes) = holder.and_then(|holder| holder.unpacked.get())
                    && !map.container().is_pending(slot.id)
                {
                    new.unpacked.get_or_init(|| bytes.clone());
                }
            }
        }
        memo
    }

    fn slots(&self, map: &Bsp<'_>) -> &[Known] {
        self.slots.get_or_init(|| {
            let mut room = lzma::most_in_total(map.container().bytes().len()).min(MOST_REMEMBERED);
            let mut take = |size: usize| {
                let has_room = size <= room;
                room -= if has_room { size } else { 0 };
                has_room
            };
            let mut holders: HashMap<_, Option<usize>> = HashMap::new();
            let known = map.slots().iter().enumerate().map(|(index, slot)| {
                let size = map.decompressed_size(slot.id);
                let holder = size.and_then(|size| {
                    let key = (slot.stored.start, slot.stored.end, size);
                    *holders.entry(key).or_insert_with(|| take(size).then_some(index))
                });
                let has_room = map.byte_order() == ByteOrder::Big && take(map.size(slot));
                Known { holder, has_room, ..Known::default() }
            });
            known.collect()
        })
    }
}

/// Whether a slot is this one, and not that of another map.
fn is_same(own: &Slot, other: &Slot) -> bool {
    let facts = |slot: &Slot| (slot.offset, slot.length, slot.version, slot.unpacked, slot.stored.clone(), slot.bounds);
    std::ptr::eq(own, other) || (facts(own) == facts(other) && own.name == other.name)
}

impl<'a> Bsp<'a> {
    /// The row of the dialect's table that describes a slot's content. If several structs are known for a lump, the
    /// struct is detected from how the sizes of the lumps agree.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with a sentence that says why the content is not known.
    pub fn row(&self, slot: &Slot) -> Result<&'static Row> {
        self.detected(slot, |detection| detection.row.clone()).map_err(|why| Error::new(ErrorKind::Unsupported, why))
    }

    /// The row of a slot, and how sure that is. [`Bsp::row`] is enough for who reads the content; checks of a damaged
    /// map look at a likely row too.
    pub fn detection(&self, slot: &Slot) -> Detection {
        self.detected(slot, Detection::clone)
    }

    /// Looks at the row of a slot, and at how sure it is.
    fn detected<T>(&self, slot: &Slot, look: impl FnOnce(&Detection) -> T) -> T {
        match self.known(slot.id).filter(|(own, _)| is_same(own, slot)) {
            Some((_, known)) => look(known.detection.get_or_init(|| self.detect(slot))),
            None => look(&self.detect(slot)),
        }
    }

    fn known(&self, slot: SlotId) -> Option<(&Slot, &Known)> {
        let index = match slot {
            SlotId::Lump(index) => Some(index).filter(|index| self.slots().get(*index).is_some_and(|it| it.id == slot)),
            _ => self.slots().iter().position(|own| own.id == slot),
        }?;
        Some((self.slots().get(index)?, self.memo.slots(self).get(index)?))
    }

    /// If no row fits the lump, but the map as a whole has the known structs, the row of the lump's own version is
    /// taken, provided that the lump is whole records of it.
    fn detect(&self, slot: &Slot) -> Detection {
        let version = self.version();
        let rows = self.dialect().rows_of(&slot.name);
        let rows = rows.filter(|row| row.is_of(version));
        let is_its_version = |row: &&Row| slot.version.is_some_and(|version| row.versions.contains(&version));
        let mut rows: Vec<&'static Row> = rows.collect();
        // Rows of the lump's version come first, then rows of any version.
        rows.sort_by_key(|row| if is_its_version(row) { 0 } else { 1 + usize::from(!row.versions.is_empty()) });
        let unread: RefCell<Option<String>> = RefCell::default();
        // Not all lumps are remembered.
        let read: RefCell<HashMap<SlotId, Result<Data<'_>, String>>> = RefCell::default();
        let miss = |slot: &Slot, error: &str| {
            let why = || format!("its content is detected from {}, which cannot be read: {error}", slot.name);
            unread.borrow_mut().get_or_insert_with(why);
        };
        let len = |name: &str| {
            let other = self.named(name)?;
            if let Some(oddity) = self.compression_oddity(other.id).filter(|_| other.id != slot.id) {
                miss(other, &format!("it {oddity}"));
            }
            Some(self.claimed_len(other))
        };
        let bytes = |name: &str| {
            let other = self.named(name)?;
            let mut read = read.borrow_mut();
            let read = read.entry(other.id).or_insert_with(|| self.bytes(other.id).map_err(|error| error.to_string()));
            read.clone().map_err(|error| miss(other, &error)).ok()
        };
        let own_len = self.claimed_len(slot);
        let is_whole = |row: &Row| row.record().is_some_and(|record| own_len.is_multiple_of(record.size));
        let is_ragged = !rows.iter().any(|row| is_whole(row));
        let is_lump = matches!(slot.id, SlotId::Lump(_));
        let facts = |is_exact, is_likely| Facts {
            dialect: self.dialect(),
            version,
            order: self.byte_order(),
            lump_version: slot.version,
            is_exact,
            is_likely,
            len: &len,
            bytes: &bytes,
        };
        let mut why = None;
        // First require exact sizes, then allow trailing bytes: a ragged lump is still described by its row.
        for (is_exact, row) in [true, false].into_iter().flat_map(|exact| rows.iter().map(move |row| (exact, *row))) {
            // A lump of whole records of one struct is not a ragged lump of another.
            if !is_exact && row.record().is_some() && !is_ragged && !is_whole(row) {
                continue;
            }
            let facts = facts(is_exact, false);
            let holds = match row.proof {
                _ if own_len == 0 => Ok(()),
                Some(proof) => proof(&facts, row),
                None if row.versions.is_empty() || is_its_version(&row) => Ok(()),
                None => Err(format!("its version {} is not known", slot.version.unwrap_or(0))),
            };
            match (holds, row.form) {
                (Ok(()), Form::Opaque(why)) => return Detection::plainly(Err(why.to_owned())),
                (Ok(()), _) => return Detection::plainly(Ok(row)),
                (Err(reason), _) => why = why.or(Some(reason)),
            }
        }
        let unread = unread.take();
        let why = unread.clone().or(why).unwrap_or_else(|| "its content is not known".to_owned());
        let facts = facts(true, true);
        let has_form =
            |row: &Row| row.proof.is_some() && (is_whole(row) || is_ragged && is_lump && row.record().is_some());
        let likely: Vec<&'static Row> = rows.iter().copied().filter(|row| has_form(row)).collect();
        let plain = Detection { is_unread: unread.is_some(), ..Detection::plainly(Err(why.clone())) };
        if likely.is_empty() || !self.memo.is_usual.get_or_init(|| (self.dialect().checks.is_usual)(&facts)) {
            return plain;
        }
        let misfit = |row: &Row| row.proof.and_then(|proof| proof(&facts, row).err());
        let best = |rows: &[&'static Row]| {
            rows.iter().copied().find(|row| misfit(row).is_none()).or_else(|| rows.first().copied())
        };
        let summed = likely.iter().take_while(|row| row.is_summed).count();
        // What is no whole number of records of any struct is looked at by checks, and edited by nothing.
        let row = best(&likely[..summed]).filter(|_| !is_ragged).ok_or(why);
        let likely = best(&likely);
        let misfit = likely.and_then(misfit).filter(|_| unread.is_none());
        Detection { row, likely, misfit, ..plain }
    }

    /// A slot's bytes as [`Bsp::bytes`] returns them, but with all known numbers little-endian, also in a big-endian
    /// file. Records and lenses are read from these.
    ///
    /// # Errors
    /// As [`Bsp::bytes`].
    pub fn little_endian(&self, slot: SlotId) -> Result<Data<'a>> {
        let swapped = |bytes| self.in_little_endian(slot, bytes);
        match self.known(slot).filter(|(_, known)| known.has_room) {
            None => self.bytes(slot).map(swapped),
            Some((_, known)) => match known.little_endian.get() {
                Some(bytes) => Ok(bytes.clone()),
                None => self
                    .bytes(slot)
                    .map(|bytes| known.little_endian.get_or_init(|| swapped(bytes).into_static()).clone()),
            },
        }
    }

    /// Whether the slots of a map decompress to far more than its size: then none of them is decompressed.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if they take more than 64 times the file's size, and more than 64 MiB.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
    /// map.check_total_size()?;
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check_total_size(&self) -> Result<()> {
        let size = |slot: &Slot| wide(self.memory_to_decompress(slot.id));
        let total = *self.memo.unpacked_size.get_or_init(|| self.slots().iter().map(size).sum());
        let most = wide(lzma::most_in_total(self.container().bytes().len()));
        if total <= most {
            return Ok(());
        }
        let message =
            format!("the lumps would take {total} bytes decompressed, more than {most} for a file of this size");
        Err(Error::new(ErrorKind::TooLarge, message)
            .with_hint("several of them may share one compressed piece, or state sizes that they do not have"))
    }

    /// Decompresses a slot.
    pub(super) fn unpacked(&self, slot: SlotId) -> Result<Data<'a>> {
        // One that states too much for itself is refused for that reason.
        if self.memory_to_decompress(slot) > 0 {
            self.check_total_size()?;
        }
        let unpack = || lzma::decompress(&self.stored(slot)).map(Data::from);
        let holder = self.known(slot).and_then(|(_, known)| self.memo.slots(self).get(known.holder?));
        let Some(holder) = holder else { return unpack() };
        let known = holder.unpacked.get_or_init(|| unpack().map_err(|error| (error.kind(), error.to_string())));
        known.clone().map_err(|(kind, message)| Error::new(kind, message))
    }

    /// Converts a slot's bytes from the file's byte order to little-endian.
    pub fn in_little_endian<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
        self.by_row(slot, bytes, ByteOrder::Big)
    }

    /// Converts a slot's bytes from little-endian to the file's byte order.
    pub fn in_own_order<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
        self.by_row(slot, bytes, ByteOrder::Little)
    }

    fn by_row<'b>(&self, slot: SlotId, bytes: Data<'b>, from: ByteOrder) -> Data<'b> {
        if self.byte_order() == ByteOrder::Little {
            return bytes;
        }
        match self.container().slot(slot).and_then(|slot| self.row(slot).ok()) {
            Some(row) => self.byte_swapped(row, bytes, from),
            None => bytes,
        }
    }

    /// The bytes of a lump that this row describes, byte-swapped if the file is big-endian.
    pub(crate) fn byte_swapped<'b>(&self, row: &Row, bytes: Data<'b>, from: ByteOrder) -> Data<'b> {
        match self.byte_order() {
            ByteOrder::Big if row.has_numbers() => {
                let mut bytes = bytes.to_vec();
                row.byte_swap(&mut bytes, from);
                Data::from(bytes)
            }
            _ => bytes,
        }
    }

    /// The ranges of records in a slot's bytes: one for an array, one per list for lists, none for other content.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if a list does not fit; otherwise as [`Bsp::bytes`].
    pub fn spans(&self, slot: &Slot) -> Result<Vec<Span>> {
        match self.row(slot) {
            Ok(row) => self.parts(row, slot, &self.little_endian(slot.id)?),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The records of a lump.
    ///
    /// ```
    /// use bspkit::dialect::quake2;
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// assert_eq!(map.table(quake2::MODELS)?.get(0)?.first_face, 0);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such lump, [`ErrorKind::Unsupported`] if it has other records or
    /// none, [`ErrorKind::Malformed`] if a list does not fit; otherwise as [`Bsp::bytes`].
    pub fn table<R: Record>(&self, key: Key<R>) -> Result<Table<'a, R>> {
        let (slot, row) = self.keyed(key)?;
        let bytes = self.little_endian(slot)?;
        let is_list = |list: &List| list.name == key.list_name() && (list.record.type_id)() == TypeId::of::<R>();
        match row.form {
            // An empty lump does not even have the counts of its lists.
            Form::Lists(lists) if bytes.is_empty() && lists.iter().any(is_list) => Ok(Table::new(key.lump(), bytes)),
            _ => self.part(key, row, &bytes).map(|(part, _)| Table::new(key.lump(), bytes.slice(part))),
        }
    }

    /// The slot of a key and the row that describes it.
    pub(crate) fn keyed<R: Record>(&self, key: Key<R>) -> Result<(SlotId, &'static Row)> {
        let slot = self.slot(key.lump())?;
        let row = self.known_row(slot)?;
        Ok((slot.id, row))
    }

    /// As [`Bsp::row`], with an error that names the slot.
    pub(crate) fn known_row(&self, slot: &Slot) -> Result<&'static Row> {
        self.row(slot).map_err(|why| {
            let message = format!("the content of {} is not known: {why}", slot.name);
            Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(&slot.name))
        })
    }

    /// The range of a key's records in the bytes of its slot, and the offset of their count if they have one.
    pub(crate) fn part<R: Record>(
        &self,
        key: Key<R>,
        row: &'static Row,
        bytes: &[u8],
    ) -> Result<(std::ops::Range<usize>, Option<usize>)> {
        let parts = row.parts(bytes).map_err(|error| error.at(Place::default().lump(key.lump())))?;
        let part = parts.into_iter().find(|part| part.list == key.list_name());
        let part = part.filter(|part| (part.record.type_id)() == TypeId::of::<R>());
        let part = part.ok_or_else(|| self.other_records(key.lump(), row, R::INFO.name))?;
        Ok((part.range, part.count_at))
    }

    fn other_records(&self, lump: &str, row: &Row, asked: &str) -> Error {
        let there = match row.form {
            Form::Array(record) if record.name == asked => "other records of that name".to_owned(),
            Form::Array(record) => format!("records of the type {}", record.name),
            Form::Lists(lists) => {
                let names: Vec<_> = lists.iter().map(|list| format!("{} ({})", list.name, list.record.name)).collect();
                format!("the lists {}", names.join(", "))
            }
            Form::Lens(what) => what.to_owned(),
            Form::Opaque(_) => "bytes".to_owned(),
        };
        let message = format!("{lump} of this map holds {there}, not {asked}");
        Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(lump))
    }

    /// As [`Row::parts`], with an error that names the slot.
    pub(crate) fn parts(&self, row: &Row, slot: &Slot, bytes: &Data<'_>) -> Result<Vec<Span>> {
        row.parts(bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Slot> {
        self.slots().iter().find(|slot| slot.name == name)
    }

    /// The size of a slot in bytes, decompressed. For a truncated slot it is the length that the directory claims: its
    /// type does not depend on the truncation.
    fn claimed_len(&self, slot: &Slot) -> usize {
        match slot.bounds {
            Bounds::Overrun | Bounds::Outside => usize::try_from(slot.length).unwrap_or(0),
            _ => self.size(slot),
        }
    }

    /// The size of a slot in bytes, decompressed.
    pub fn size(&self, slot: &Slot) -> usize {
        self.decompressed_size(slot.id).unwrap_or(slot.stored.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::SOURCE360;
    use crate::{Bsp, Builder, Data, Slot};

    /// Byte-swapping noise twice restores it, in lumps whose numbers are located by other numbers.
    #[test]
    fn noise_that_is_swapped_twice_is_as_it_was() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let mut swapped = 0;
        for len in 0..400_usize {
            let mut noise = || -> Vec<u8> {
                // Small numbers at the start, so that counts mean something.
                (0..len)
                    .map(|at| if at % 4 == 3 { next() % 8 } else { if next() % 4 == 0 { next() } else { 0 } })
                    .collect()
            };
            let lumps = [4, 9, 28, 29, 1, 45].map(|lump| (lump, noise()));
            let builder = Builder::new(&SOURCE360).game_lump(*b"sprp", 6, noise()).game_lump(*b"dprp", 4, noise());
            let builder = lumps.iter().fold(builder, |builder, (lump, bytes)| builder.lump(*lump, bytes.clone()));
            let map = Bsp::from_vec(builder.lump_version(9, 2).build().unwrap()).unwrap();
            for slot in map.slots() {
                let (stored, little) = (map.bytes(slot.id).unwrap(), map.little_endian(slot.id).unwrap());
                swapped += usize::from(*stored != *little);
                assert_eq!(*map.in_own_order(slot.id, Data::clone(&little)), *stored, "{len}: {}", slot.name);
            }
        }
        assert!(swapped > 1000);
    }

    /// Bytes are decompressed once. A map with pending edits shares them, but not those of the edited slots.
    #[test]
    fn a_map_remembers_decompressed_bytes() {
        let map = Bsp::open("tests/maps/source/room_v20_lzma.bsp").unwrap();
        let slots: Vec<_> = map.slots().iter().filter(|slot| map.decompressed_size(slot.id).is_some()).collect();
        let (edited, kept) = (slots[0], slots[1]);
        let at = |map: &Bsp<'_>, slot: &Slot| map.bytes(slot.id).unwrap().as_ptr();
        assert_eq!(at(&map, kept), at(&map.clone(), kept));
        map.bytes(edited.id).unwrap();
        let mut draft = map.draft();
        draft.set(edited.id, b"new".to_vec()).unwrap();
        let view = draft.view().unwrap().unwrap();
        assert_eq!(at(&view, kept), at(&map, kept));
        assert_eq!(&*view.bytes(edited.id).unwrap(), b"new");
        // Slots of another map are looked at as they are.
        let other = Bsp::open("tests/maps/source/room_v21.bsp").unwrap();
        for slot in other.slots() {
            let same = map.slots().iter().find(|own| super::is_same(own, slot));
            assert!(same.is_none_or(|same| same.name == slot.name));
        }
    }

    /// A map that has no room to remember anything reads the same as one that remembers all.
    #[test]
    fn a_result_does_not_depend_on_what_a_map_remembers() {
        let files = ["room_v20_lzma.bsp", "room_v21.bsp"].map(|name| format!("tests/maps/source/{name}"));
        let mut maps = files.map(|file| std::fs::read(file).unwrap()).to_vec();
        let records = (0..4800_u32).map(|at| (at % 251) as u8).collect::<Vec<_>>();
        let builder = Builder::new(&SOURCE360).game_lump(*b"sprp", 6, records.clone());
        let builder = [4, 9, 28, 29, 1].iter().fold(builder, |builder, lump| builder.lump(*lump, records.clone()));
        maps.push(builder.build().unwrap());
        let mut forgotten = 0;
        for file in maps {
            let map = Bsp::from_vec(file.clone()).unwrap();
            let forgetful = |file: &[u8]| {
                let map = Bsp::from_vec(file.to_vec()).unwrap();
                assert!(map.memo.slots.set(map.slots().iter().map(|_| super::Known::default()).collect()).is_ok());
                map
            };
            let other = forgetful(&file);
            for (slot, same) in map.slots().iter().zip(other.slots()) {
                let row =
                    |map: &Bsp<'_>, slot| map.row(slot).map(std::ptr::from_ref).map_err(|error| error.to_string());
                let little = |map: &Bsp<'_>| map.little_endian(slot.id).map(|bytes| bytes.to_vec()).unwrap();
                assert_eq!(row(&map, slot), row(&other, same), "{}", slot.name);
                assert!(*map.bytes(slot.id).unwrap() == *other.bytes(slot.id).unwrap(), "{}", slot.name);
                assert!(little(&map) == little(&other), "{}", slot.name);
                let (first, second) = (other.bytes(slot.id).unwrap(), other.bytes(slot.id).unwrap());
                forgotten += usize::from(first.as_ptr() != second.as_ptr());
                // An edit of one slot leaves the others readable.
                let edited = |map: &Bsp<'_>| -> Vec<Vec<u8>> {
                    let mut draft = map.draft();
                    if draft.set(slot.id, records.clone()).is_err() {
                        return Vec::new();
                    }
                    let Ok(Some(view)) = draft.view() else { return Vec::new() };
                    view.slots().iter().map(|slot| view.little_endian(slot.id).unwrap().to_vec()).collect()
                };
                assert!(edited(&map) == edited(&forgetful(&file)), "{}", slot.name);
            }
        }
        assert!(forgotten > 5, "{forgotten}");
    }
}
