//! Lumps as records: which row of the dialect's table a lump goes by, and the records themselves.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;

use super::Bsp;
use crate::bytes::{ByteOrder, Data};
use crate::dialect::{Facts, Form, Key, List, Records, Row};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Bounds, Slot, SlotId};
use crate::record::{Record, Table};

/// What [`Bsp::detection`] says of a lump.
pub(crate) struct Detection {
    pub(crate) row: Result<&'static Row, String>,
    /// Of a row that was chosen though its proof does not hold: why not.
    pub(crate) misfit: Option<String>,
    /// Whether a lump that it is told by cannot be read, so that nothing follows from it.
    pub(crate) is_unread: bool,
}

impl Detection {
    pub(crate) fn plainly(row: Result<&'static Row, String>) -> Self {
        Detection { row, misfit: None, is_unread: false }
    }
}

impl<'a> Bsp<'a> {
    /// The row of the dialect's table that a slot goes by: what is in it. Where several structs are known for a lump,
    /// or others of other games, it is told by how the lumps fit each other.
    ///
    /// # Errors
    /// Why nothing is known of the content: a sentence.
    pub fn row(&self, slot: &Slot) -> Result<&'static Row, String> {
        // Proofs of several rows look at the same lumps, which may have to be decompressed.
        let read: RefCell<HashMap<SlotId, Result<Data<'a>, String>>> = RefCell::default();
        let bytes = |id: SlotId| {
            read.borrow_mut().entry(id).or_insert_with(|| self.bytes(id).map_err(|error| error.to_string())).clone()
        };
        self.detection(slot, &bytes, |_| false).row
    }

    /// As [`Self::row`], from lumps that have been read already; where no row fits a lump and `is_usual` says that the
    /// map as a whole has the structs that are known, the row of the lump's own version, if it is whole records of
    /// that.
    pub(crate) fn detection(
        &self,
        slot: &Slot,
        read: &dyn Fn(SlotId) -> Result<Data<'a>, String>,
        is_usual: impl Fn(&Facts<'_>) -> bool,
    ) -> Detection {
        let version = self.version();
        let rows = self.dialect().rows_of(&slot.name);
        let rows = rows.filter(|row| row.is_of(version));
        let is_its_version = |row: &&Row| slot.version.is_some_and(|version| row.versions.contains(&version));
        let mut rows: Vec<&'static Row> = rows.collect();
        // Those of the lump's version first, then those of any.
        rows.sort_by_key(|row| if is_its_version(row) { 0 } else { 1 + usize::from(!row.versions.is_empty()) });
        let unread: RefCell<Option<String>> = RefCell::default();
        let miss = |slot: &Slot, error: &str| {
            let why = || format!("{}, by which it is told what is in it, cannot be read: {error}", slot.name);
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
        // First as the sizes are, then with a few bytes too many: a ragged lump is still what it is.
        for (is_exact, row) in [true, false].into_iter().flat_map(|exact| rows.iter().map(move |row| (exact, *row))) {
            // Whole records of one struct are not ragged ones of another.
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
        let likely: Vec<&'static Row> = likely.take_while(|_| is_usual(&facts)).collect();
        let misfit = |row: &Row| row.proof.and_then(|proof| proof(&facts, row).err());
        let fits = likely.iter().copied().find(|row| misfit(row).is_none());
        match fits.or(likely.first().copied()) {
            Some(row) => {
                let misfit = misfit(row).filter(|_| unread.is_none());
                Detection { row: Ok(row), misfit, is_unread: unread.is_some() }
            }
            None => Detection { row: Err(why), misfit: None, is_unread: unread.is_some() },
        }
    }

    /// A slot's bytes as [`Bsp::bytes`] gives them, but with all numbers little-endian, also those of a big-endian
    /// file: as far as it is known where numbers are in it. Records and lenses are read from these.
    pub(crate) fn little_endian(&self, slot: SlotId) -> Result<Data<'a>> {
        self.bytes(slot).map(|bytes| self.in_little_endian(slot, bytes))
    }

    /// Other bytes of a slot with their numbers little-endian.
    pub(crate) fn in_little_endian<'b>(&self, slot: SlotId, bytes: Data<'b>) -> Data<'b> {
        self.by_row(slot, bytes, ByteOrder::Big)
    }

    /// The same bytes with their numbers in the order of the file again.
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

    /// Bytes of a lump that goes by a row: those of a big-endian file turned, of another as they are.
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

    /// Where in a slot's bytes records stand, list by list: one for an array, none where there are no records in it.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] where a list does not fit; as [`Bsp::bytes`].
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
    /// [`ErrorKind::NotFound`] where the map has no such lump, [`ErrorKind::Unsupported`] where it has other records or
    /// none, [`ErrorKind::Malformed`] where a list does not fit; as [`Bsp::bytes`].
    pub fn table<R: Record>(&self, key: Key<R>) -> Result<Table<'a, R>> {
        let (slot, row) = self.keyed(key)?;
        let bytes = self.byte_swapped(row, self.bytes(slot)?, ByteOrder::Big);
        let is_list = |list: &List| list.name == key.list_name() && (list.record.type_id)() == TypeId::of::<R>();
        match row.form {
            // Without bytes there are not even the counts of the lists.
            Form::Lists(lists) if bytes.is_empty() && lists.iter().any(is_list) => Ok(Table::new(key.lump(), bytes)),
            _ => self.part(key, row, &bytes).map(|(part, _)| Table::new(key.lump(), bytes.slice(part))),
        }
    }

    /// The slot of a key and the row that it goes by.
    pub(crate) fn keyed<R: Record>(&self, key: Key<R>) -> Result<(SlotId, &'static Row)> {
        let slot = self.slot(key.lump())?;
        let row = self.row(slot).map_err(|why| {
            let message = format!("what is in {} is not known: {why}", slot.name);
            Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(&slot.name))
        })?;
        Ok((slot.id, row))
    }

    /// Where the records of a key stand in the bytes of its slot, and their count where there is one.
    pub(crate) fn part<R: Record>(
        &self,
        key: Key<R>,
        row: &'static Row,
        bytes: &[u8],
    ) -> Result<(std::ops::Range<usize>, Option<usize>)> {
        let malformed = |why: String| Error::new(ErrorKind::Malformed, why).at(Place::default().lump(key.lump()));
        let parts = row.parts(bytes).map_err(malformed)?;
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

    fn parts(&self, row: &Row, slot: &Slot, bytes: &Data<'_>) -> Result<Vec<Records>> {
        let malformed = |why: String| Error::new(ErrorKind::Malformed, why).at(Place::default().lump(&slot.name));
        row.parts(bytes).map_err(malformed)
    }

    fn named(&self, name: &str) -> Option<&Slot> {
        self.slots().iter().find(|slot| slot.name == name)
    }

    /// How many bytes a slot has, decompressed; of one that the file cuts off as many as it claims, as what it is made
    /// of does not depend on where the file ends.
    fn claimed_len(&self, slot: &Slot) -> usize {
        match slot.bounds {
            Bounds::Overrun | Bounds::Outside => usize::try_from(slot.length).unwrap_or(0),
            _ => self.len(slot),
        }
    }

    /// The bytes of a slot, decompressed.
    pub(crate) fn len(&self, slot: &Slot) -> usize {
        self.decompressed_size(slot.id).unwrap_or(slot.stored.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::SOURCE360;
    use crate::{Bsp, Builder, Data};

    /// Noise in lumps whose numbers are found by other numbers: byte-swapped twice it is what it was.
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
