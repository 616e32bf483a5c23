//! Tables: the records of one lump, decoded one at a time.

use std::marker::PhantomData;
use std::ops::Range;

use super::Record;
use crate::bytes::{Data, Rope, short};
use crate::error::{Error, ErrorKind, Place, Result};

/// The records of a lump, read-only. A record is decoded when it is asked for.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// let faces = Bsp::open("tests/maps/q2/own_rooms.bsp")?.table(quake2::FACES)?;
/// assert!(faces.iter().all(|face| face.edge_count >= 3));
/// assert!(faces.get(faces.len()).is_err());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table<'a, R> {
    name: &'static str,
    bytes: Data<'a>,
    records: PhantomData<R>,
}

impl<'a, R: Record> Table<'a, R> {
    pub(crate) fn new(name: &'static str, bytes: Data<'a>) -> Self {
        Table { name, bytes, records: PhantomData }
    }

    /// The records of these bytes, which are little-endian: for lumps whose structs a program declares itself with
    /// [`records!`](crate::records).
    pub fn of(bytes: impl Into<Data<'a>>) -> Self {
        Table::new(R::INFO.name, bytes.into())
    }

    /// How many whole records there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / R::SIZE
    }

    /// Whether it has no whole record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A record.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the valid range.
    #[inline]
    pub fn get(&self, index: usize) -> Result<R> {
        let bytes = index.checked_mul(R::SIZE).and_then(|start| self.bytes.get(start..));
        match bytes.and_then(R::decode) {
            Some(record) => Ok(record),
            None => Err(no_record(self.name, index, self.len())),
        }
    }

    /// Every record.
    pub fn iter(&self) -> Iter<'_, R> {
        Iter { records: self.bytes.chunks_exact(R::SIZE), kind: PhantomData }
    }

    /// The bytes of all whole records.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len() * R::SIZE]
    }

    /// The bytes after the last whole record. Only a ragged lump has any.
    pub fn tail(&self) -> &[u8] {
        &self.bytes[self.len() * R::SIZE..]
    }
}

impl<'t, R: Record> IntoIterator for &'t Table<'_, R> {
    type Item = R;
    type IntoIter = Iter<'t, R>;

    fn into_iter(self) -> Iter<'t, R> {
        self.iter()
    }
}

/// The records of a [`Table`], in order.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.table(quake2::PLANES)?;
/// assert_eq!(planes.iter().len(), planes.len());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Iter<'t, R> {
    records: std::slice::ChunksExact<'t, u8>,
    kind: PhantomData<R>,
}

impl<R: Record> Iterator for Iter<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        R::decode(self.records.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.records.size_hint()
    }
}

impl<R: Record> ExactSizeIterator for Iter<'_, R> {}

/// The records of a lump in a draft, for changes. Setting a record to its old value is not an edit.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// use bspkit::dialect::quake2;
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let mut faces = draft.table(quake2::FACES)?;
/// faces.update(3, |face| face.styles[0] = 32)?;
/// let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// assert_eq!(saved.table(quake2::FACES)?.get(3)?.styles[0], 32);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct TableMut<'d, 'a, R> {
    name: &'static str,
    held: &'d mut Held<'a>,
    /// The range of the whole records in the lump.
    range: Range<usize>,
    /// The offset of their count (four bytes), if they have one.
    count_at: Option<usize>,
    /// The bytes of a record, for comparison.
    buffer: Vec<u8>,
    records: PhantomData<R>,
}

impl<'d, 'a, R: Record> TableMut<'d, 'a, R> {
    pub(crate) fn new(
        name: &'static str,
        held: &'d mut Held<'a>,
        range: Range<usize>,
        count_at: Option<usize>,
    ) -> Self {
        let range = range.start..range.start + range.len() / R::SIZE * R::SIZE;
        TableMut { name, held, range, count_at, buffer: Vec::new(), records: PhantomData }
    }

    /// How many whole records there are.
    pub fn len(&self) -> usize {
        self.range.len() / R::SIZE
    }

    /// Whether it has no whole record.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// A record.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the valid range.
    #[inline]
    pub fn get(&self, index: usize) -> Result<R> {
        let Some(place) = self.place(index) else { return Err(no_record(self.name, index, self.len())) };
        let found = match &self.held.edited {
            Some(bytes) => R::decode(&bytes[place]),
            None => R::decode(&self.held.read[place]),
        };
        found.ok_or_else(|| no_record(self.name, index, self.len()))
    }

    /// Replaces a record.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the valid range.
    #[inline]
    pub fn set(&mut self, index: usize, record: R) -> Result<()> {
        let Some(place) = self.place(index) else { return Err(no_record(self.name, index, self.len())) };
        match &mut self.held.edited {
            Some(bytes) => record.write(&mut bytes[place]),
            None => self.put(place.start, &record),
        }
        Ok(())
    }

    /// Changes fields of a record.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] with the valid range.
    #[inline]
    pub fn update(&mut self, index: usize, change: impl FnOnce(&mut R)) -> Result<()> {
        let Some(place) = self.place(index) else { return Err(no_record(self.name, index, self.len())) };
        let start = place.start;
        match &mut self.held.edited {
            Some(bytes) => {
                let bytes = &mut bytes[place];
                if let Some(mut record) = R::decode(bytes) {
                    change(&mut record);
                    record.write(bytes);
                }
            }
            None => {
                if let Some(mut record) = R::decode(&self.held.read[place]) {
                    change(&mut record);
                    self.put(start, &record);
                }
            }
        }
        Ok(())
    }

    /// Writes a record over bytes that have not been edited yet. Nothing is copied if the record is the same.
    #[inline(never)]
    fn put(&mut self, at: usize, record: &R) {
        self.buffer.resize(R::SIZE, 0);
        record.write(&mut self.buffer);
        self.held.put(at, &self.buffer);
    }

    /// Adds a record after the last one. Nothing follows: ranges of records that end here do not grow. `Draft::splice`
    /// adds records with all that refers to them.
    pub fn push_without_following(&mut self, record: R) {
        let end = self.range.end;
        let bytes = self.held.edited();
        bytes.splice(end..end, std::iter::repeat_n(0, R::SIZE));
        record.write(&mut bytes[end..]);
        self.range.end += R::SIZE;
        self.say_count();
    }

    /// Removes the records from this index on. Nothing follows: numbers that name them stay. `Draft::splice` removes
    /// records with all that refers to them.
    pub fn truncate_without_following(&mut self, len: usize) {
        if len < self.len() {
            let end = self.range.start + len * R::SIZE;
            self.held.edited().drain(end..self.range.end);
            self.range.end = end;
            self.say_count();
        }
    }

    fn say_count(&mut self) {
        if let Some(count_at) = self.count_at {
            let count = short(self.len());
            self.held.put(count_at, &count.to_le_bytes());
        }
    }

    #[inline]
    fn place(&self, index: usize) -> Option<Range<usize>> {
        // The index is within the range, so nothing overflows.
        (index < self.len()).then(|| {
            let start = self.range.start + index * R::SIZE;
            start..start + R::SIZE
        })
    }
}

#[cold]
fn no_record(name: &str, index: usize, len: usize) -> Error {
    let message = match len.checked_sub(1) {
        None => format!("{name} has no records, and so no record {index}"),
        Some(last) => format!("{name} has the records 0 to {last}, and no record {index}"),
    };
    Error::new(ErrorKind::NotFound, message).at(Place::default().lump(name))
}

/// The original bytes, or an edited copy of them.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    read: Data<'a>,
    edited: Option<Vec<u8>>,
}

impl<'a> Held<'a> {
    pub(crate) fn new(read: Data<'a>) -> Self {
        Held { read, edited: None }
    }

    #[inline]
    pub(crate) fn get(&self) -> &[u8] {
        self.edited.as_deref().unwrap_or(&self.read)
    }

    /// The bytes as they were read.
    pub(crate) fn original(&self) -> &[u8] {
        &self.read
    }

    /// The edited copy, if there is one.
    pub(crate) fn edits(&self) -> Option<&[u8]> {
        self.edited.as_deref()
    }

    /// A clone of the edited copy, if there is one.
    pub(crate) fn new_bytes(&self) -> Option<Rope<'a>> {
        self.edits().map(|bytes| Rope::from(bytes.to_vec()))
    }

    /// Overwrites bytes. Nothing is copied if they are the same already.
    pub(crate) fn put(&mut self, at: usize, new: &[u8]) {
        if !self.get()[at..].starts_with(new) {
            self.edited()[at..at + new.len()].copy_from_slice(new);
        }
    }

    /// The edited copy; it is made if there is none yet.
    pub(crate) fn edited(&mut self) -> &mut Vec<u8> {
        self.edited.get_or_insert_with(|| self.read.to_vec())
    }
}
