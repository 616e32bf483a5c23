//! The lumps of a map for the checks: bytes decompressed once, with the known form of their content, and the numbers in
//! records by the names of their fields.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::bsp::{Bsp, Detection, Links};
use crate::bytes::{ByteOrder, Data};
use crate::dialect::{Checks, Form, Records, Role, Row};
use crate::file::{Slot, SlotId};
use crate::record::{FieldInfo, Number, RecordInfo, Shape};

/// How much is decompressed for a check: a few bytes of a hostile map can decompress to many.
const MOST_DECOMPRESSED: usize = 64 << 20;

/// A slot and its content.
pub(super) struct Lump<'a> {
    pub(super) slot: &'a Slot,
    pub(super) name: &'a str,
    /// Little-endian, if the content is known.
    pub(super) bytes: Data<'a>,
    pub(super) row: Result<&'static Row, String>,
    /// The reason why its number of records is wrong, if it certainly is.
    pub(super) misfit: Option<String>,
    /// Whether a lump from which its struct is detected cannot be read.
    pub(super) is_unread: bool,
    /// Whether its struct does not follow from its own proof.
    pub(super) is_guess: bool,
    /// The records, list by list.
    pub(super) parts: Vec<Records>,
    pub(super) state: State,
}

/// How far the content of a lump could be read.
pub(super) enum State {
    Read,
    /// Its lists do not fit.
    Malformed(String),
    /// It does not decompress.
    Packed(String),
    /// It was left out, as it would take too much memory.
    TooLarge,
    /// It was left out, as nothing depends on it.
    NotWanted,
}

/// All lumps of a map.
pub(super) struct Lumps<'a> {
    pub(super) bsp: &'a Bsp<'a>,
    pub(super) all: Vec<Lump<'a>>,
}

impl<'a> Lumps<'a> {
    /// Reads the lumps that are wanted; others have no bytes.
    pub(super) fn read(bsp: &'a Bsp<'a>, is_wanted: impl Fn(&Slot) -> bool) -> Self {
        let mut room = MOST_DECOMPRESSED;
        // Slots that share compressed bytes share the decompressed ones.
        let mut shared: HashMap<(Range<usize>, usize), Data<'a>> = HashMap::new();
        let read = bsp.slots().iter().map(|slot| {
            if !is_wanted(slot) {
                return (Data::from(Vec::new()), State::NotWanted);
            }
            let unpacked = bsp.decompressed_size(slot.id);
            let is_too_large = unpacked.is_some_and(|size| size > room);
            room = room.saturating_sub(unpacked.unwrap_or(0));
            let none = || Data::from(Vec::new());
            let key = unpacked.map(|size| (slot.stored.clone(), size));
            if let Some(bytes) = key.as_ref().filter(|_| !is_too_large).and_then(|key| shared.get(key)) {
                return (bytes.clone(), State::Read);
            }
            match (!is_too_large).then(|| bsp.bytes(slot.id)) {
                None => (none(), State::TooLarge),
                Some(Ok(bytes)) => {
                    shared.extend(key.map(|key| (key, bytes.clone())));
                    (bytes, State::Read)
                }
                Some(Err(error)) => (none(), State::Packed(error.to_string())),
            }
        });
        let read: Vec<_> = read.collect();
        let is_usual = OnceCell::new();
        let held: HashMap<SlotId, &(Data<'a>, State)> = bsp.slots().iter().map(|slot| slot.id).zip(&read).collect();
        let bytes = |id: SlotId| match held.get(&id) {
            Some((bytes, State::Read)) => Ok(bytes.clone()),
            Some((_, State::Packed(why))) => Err(why.clone()),
            Some((_, State::NotWanted)) => bsp.bytes(id).map_err(|error| error.to_string()),
            _ => Err("it is too large to be decompressed here".to_owned()),
        };
        let detections = bsp.slots().iter().map(|slot| match is_wanted(slot) {
            false => Detection::plainly(Err("it is not looked at".to_owned())),
            true => {
                bsp.detection(slot, &bytes, |facts, _| *is_usual.get_or_init(|| (bsp.dialect().checks.is_usual)(facts)))
            }
        });
        let detections: Vec<_> = detections.collect();
        let all = bsp.slots().iter().zip(read).zip(detections).map(|((slot, (bytes, state)), detection)| {
            let Detection { row, misfit, is_unread, is_guess } = detection;
            let bytes = match (&row, &state) {
                (Ok(row), State::Read) => bsp.byte_swapped(row, bytes, ByteOrder::Big),
                _ => bytes,
            };
            let (parts, state) = match (&row, state) {
                (Ok(row), State::Read) => match row.parts(&bytes) {
                    Ok(parts) => (parts, State::Read),
                    Err(why) => (Vec::new(), State::Malformed(why.to_string())),
                },
                (_, state) => (Vec::new(), state),
            };
            Lump { slot, name: &slot.name, bytes, row, misfit, is_unread, is_guess, parts, state }
        });
        Lumps { bsp, all: all.collect() }
    }

    /// The references between the records that could be read.
    pub(super) fn links(&self) -> Links<'a> {
        let mut links = Links::new(self.bsp);
        for lump in self.all.iter().filter(|lump| matches!(lump.state, State::Read)) {
            match &lump.row {
                Ok(row) if lump.slot.length != 0 || row.record().is_some() => {
                    links.add(lump.slot, row, &lump.parts, &lump.bytes);
                }
                Err(why) if lump.slot.length != 0 => links.add_unknown(lump.slot, why.clone()),
                _ => {}
            }
        }
        links.compile(self.bsp);
        links
    }

    pub(super) fn checks(&self) -> &'static Checks {
        self.bsp.dialect().checks
    }

    pub(super) fn lump(&self, name: &str) -> Option<&Lump<'a>> {
        self.all.iter().find(|lump| lump.name == name)
    }

    /// The lump of a role, or its substitute if it is left out.
    pub(super) fn role_lump(&self, role: Role) -> Option<&Lump<'a>> {
        let lump = self.all.get(self.bsp.dialect().role(role)?)?;
        self.referred(lump.name).or(Some(lump))
    }

    /// The target of numbers that refer to a lump: the lump, or its substitute if it is left out. `None` if there is
    /// neither.
    pub(super) fn referred(&self, name: &str) -> Option<&Lump<'a>> {
        let lump = self.lump(name)?;
        match self.checks().left_out.iter().find(|(left_out, _)| *left_out == name && lump.slot.length == 0) {
            None => Some(lump),
            Some((_, other)) => other.and_then(|other| self.lump(other)),
        }
    }

    /// The records of a lump that is an array of them; an empty lump has no records.
    pub(super) fn named(&self, name: &str) -> Option<View<'_>> {
        View::of(self.lump(name)?)
    }

    /// The records of a role's lump.
    pub(super) fn role(&self, role: Role) -> Option<View<'_>> {
        View::of(self.role_lump(role)?)
    }
}

/// The records of a lump; their numbers are read by the names of the fields.
#[derive(Clone, Copy)]
pub(super) struct View<'b> {
    pub(super) name: &'b str,
    pub(super) bytes: &'b [u8],
    pub(super) record: &'static RecordInfo,
}

impl<'b> View<'b> {
    pub(super) fn of(lump: &'b Lump<'_>) -> Option<Self> {
        let row = lump.row.as_ref().ok()?;
        match (row.form, &lump.state) {
            (Form::Array(record), State::Read) => Some(View { name: lump.name, bytes: &lump.bytes, record }),
            _ => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.record.size
    }

    /// The numbers of a field; `None` if the record has no such field, or the field has no numbers.
    pub(super) fn column(&self, field: &str) -> Option<Column<'b>> {
        Column::new(self.bytes, self.record, self.record.field(field)?)
    }
}

/// A field of every record of a lump.
#[derive(Clone, Copy)]
pub(super) struct Column<'b> {
    bytes: &'b [u8],
    stride: usize,
    offset: usize,
    pub(super) number: Number,
    /// How many numbers it has in each record.
    pub(super) items: usize,
}

impl<'b> Column<'b> {
    fn new(bytes: &'b [u8], record: &RecordInfo, field: &FieldInfo) -> Option<Self> {
        let (number, items) = flatten(field.shape)?;
        Some(Column { bytes, stride: record.size, offset: field.offset, number, items })
    }

    /// The number of a record; 0 if there is no such record, and for floats.
    #[inline]
    pub(super) fn get(&self, record: usize) -> i64 {
        self.item(record, 0)
    }

    /// One of several numbers of a record.
    #[inline]
    pub(super) fn item(&self, record: usize, item: usize) -> i64 {
        self.place(record, item).and_then(|bytes| self.number.integer(bytes)).unwrap_or(0)
    }

    /// One of several floats of a record; 0 if there is none.
    #[inline]
    pub(super) fn float(&self, record: usize, item: usize) -> f32 {
        let bytes = self.place(record, item).and_then(|bytes| bytes.first_chunk().copied());
        f32::from_le_bytes(bytes.unwrap_or_default())
    }

    #[inline]
    fn place(&self, record: usize, item: usize) -> Option<&'b [u8]> {
        let start = record.checked_mul(self.stride)?;
        let record = self.bytes.get(start..start.checked_add(self.stride)?)?;
        record.get(self.offset + item * self.number.size()..)
    }

    /// The offset of a record's field in the lump.
    pub(super) fn at(&self, record: usize) -> usize {
        record * self.stride + self.offset
    }
}

fn flatten(shape: Shape) -> Option<(Number, usize)> {
    match shape {
        Shape::Number(number) => Some((number, 1)),
        Shape::Array(item, count) => flatten(*item).map(|(number, items)| (number, items * count)),
        _ => None,
    }
}

/// `first..first + count` if that is a range below `len`; an empty range may be anywhere.
pub(super) fn range(first: i64, count: i64, len: usize) -> Option<std::ops::Range<usize>> {
    let count = usize::try_from(count).ok()?;
    if count == 0 {
        return Some(0..0);
    }
    let first = usize::try_from(first).ok()?;
    let end = first.checked_add(count)?;
    (end <= len).then_some(first..end)
}
