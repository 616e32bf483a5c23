//! Lumps as records: which row of the dialect's table describes a lump, and the records themselves.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;

use super::Bsp;
use crate::bytes::{ByteOrder, Data};
use crate::dialect::{Facts, Form, Key, List, Records, Row};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Bounds, Slot, SlotId};
use crate::record::{Record, Table};

/// The result of [`Bsp::detection`] for a lump.
pub(crate) struct Detection {
    pub(crate) row: Result<&'static Row, String>,
    /// If the row was chosen although its proof failed: the reason.
    pub(crate) misfit: Option<String>,
    /// Whether the detection needs another lump that cannot be read.
    pub(crate) is_unread: bool,
    /// Whether no row fits, and the row is that of a map of the usual structs.
    pub(crate) is_guess: bool,
}

impl Detection {
    pub(crate) fn plainly(row: Result<&'static Row, String>) -> Self {
        Detection { row, misfit: None, is_unread: false, is_guess: false }
    }
}

impl<'a> Bsp<'a> {
    /// The row of the dialect's table that describes a slot's content. If several structs are known for a lump, the
    /// struct is detected from how the sizes of the lumps agree.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with a sentence that says why the content is not known.
    pub fn row(&self, slot: &Slot) -> Result<&'static Row> {
        // The proofs of several rows read the same lumps, which may have to be decompressed.
        let read: RefCell<HashMap<SlotId, Result<Data<'a>, String>>> = RefCell::default();
        let bytes = |id: SlotId| {
            read.borrow_mut().entry(id).or_insert_with(|| self.bytes(id).map_err(|error| error.to_string())).clone()
        };
        self.detection(slot, &bytes, |facts, row| row.is_summed && (self.dialect().checks.is_usual)(facts))
            .row
            .map_err(|why| Error::new(ErrorKind::Unsupported, why))
    }

    /// As [`Self::row`], with lumps that have been read already. If no row fits the lump, but `is_usual` says of a row
    /// that the map as a whole has the known structs, the row of the lump's own version is taken, provided that the
    /// lump is whole records of it.
    pub(crate) fn detection(
        &self,
        slot: &Slot,
        read: &dyn Fn(SlotId) -> Result<Data<'a>, String>,
        is_usual: impl Fn(&Facts<'_>, &Row) -> bool,
    ) -> Detection {
        let version = self.version();
        let rows = self.dialect().rows_of(&slot.name);
        let rows = rows.filter(|row| row.is_of(version));
        let is_its_version = |row: &&Row| slot.version.is_some_and(|version| row.versions.contains(&version));
        let mut rows: Vec<&'static Row> = rows.collect();
        // Rows of the lump's version come first, then rows of any version.
        rows.sort_by_key(|row| if is_its_version(row) { 0 } else { 1 + usize::from(!row.versions.is_empty()) });
        let unread: RefCell<Option<String>> = RefCell::default();
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
            read(other.id).map_err(|error| miss(other, &error)).ok()
        };
        let own_len = self.claimed_len(slot);
        let is_whole = |row: &Row| row.record().is_some_and(|record| own_len.is_multiple_of(record.size));
        let is_ragged = !rows.iter().any(|row| is_whole(row));
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
        let likely = rows.iter().copied().filter(|row| is_whole(row) && row.proof.is_some());
        let likely: Vec<&'static Row> = likely.take_while(|row| is_usual(&facts, row)).collect();
        let misfit = |row: &Row| row.proof.and_then(|proof| proof(&facts, row).err());
        let fits = likely.iter().copied().find(|row| misfit(row).is_none());
        match fits.or(likely.first().copied()) {
            Some(row) => {
                let misfit = misfit(row).filter(|_| unread.is_none());
                Detection { row: Ok(row), misfit, is_unread: unread.is_some(), is_guess: true }
            }
            None => Detection { is_unread: unread.is_some(), ..Detection::plainly(Err(why)) },
        }
    }

    /// A slot's bytes as [`Bsp::bytes`] returns them, but with all known numbers little-endian, also in a big-endian
    /// file. Records and lenses are read from these.
    pub(crate) fn little_endian(&self, slot: SlotId) -> Result<Data<'a>> {
        self.bytes(slot).map(|bytes| self.in_little_endian(slot, bytes))
    }

    /// Converts a slot's bytes from the file's byte order to little-endian.
    pub(crate) fn in_little_endian<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
        self.by_row(slot, bytes, ByteOrder::Big)
    }

    /// Converts a slot's bytes from little-endian to the file's byte order.
    pub(crate) fn in_own_order<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
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
    pub fn records(&self, slot: &Slot) -> Result<Vec<Records>> {
        match self.row(slot) {
            Ok(row) => self.parts(row, slot, &self.byte_swapped(row, self.bytes(slot.id)?, ByteOrder::Big)),
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
        let bytes = self.byte_swapped(row, self.bytes(slot)?, ByteOrder::Big);
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
    pub(crate) fn parts(&self, row: &Row, slot: &Slot, bytes: &Data<'_>) -> Result<Vec<Records>> {
        row.parts(bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))
    }

    fn named(&self, name: &str) -> Option<&Slot> {
        self.slots().iter().find(|slot| slot.name == name)
    }

    /// The size of a slot in bytes, decompressed. For a truncated slot it is the length that the directory claims: its
    /// type does not depend on the truncation.
    fn claimed_len(&self, slot: &Slot) -> usize {
        match slot.bounds {
            Bounds::Overrun | Bounds::Outside => usize::try_from(slot.length).unwrap_or(0),
            _ => self.len(slot),
        }
    }

    /// The size of a slot in bytes, decompressed.
    pub(crate) fn len(&self, slot: &Slot) -> usize {
        self.decompressed_size(slot.id).unwrap_or(slot.stored.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::SOURCE360;
    use crate::{Bsp, Builder, Data};

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
}
