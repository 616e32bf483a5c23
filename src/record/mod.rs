//! Records: fixed-size structs of a file, each declared once.
//!
//! `records!` turns a list of fields into a struct with its own codec, checks the size at compile time, and describes
//! the struct as data: [`RecordInfo`], which the tests iterate over. Decoding and encoding a record restores its bytes,
//! for any bytes of its size. So nothing is lost that a decoder does not understand. With the feature `binrw` structs
//! are `#[binrw]` too, for users of that crate. Nothing here depends on that, and a test compares both codecs.

pub mod declare;
#[cfg(all(test, feature = "binrw"))]
pub(crate) mod law;
mod meaning;
mod shape;
mod table;
mod text;

use std::any::TypeId;
use std::ops::Range;

use crate::bytes::ByteOrder;
use declare::Codec;
pub(crate) use declare::records;
pub use meaning::{Count, CountForm, FlagKind, Gone, Meaning, Order};
pub(crate) use meaning::{in_turn, index, index_or_none, optional_run_of, own_run_of, perhaps, planes, run, set};
pub(crate) use shape::write_name;
pub use shape::{FieldInfo, Name, Number, Shape};
pub(crate) use table::Held;
pub use table::{Iter, Table, TableMut};
pub use text::fill;
pub use text::{Cell, FlagNames, Part, Text, flag_names, parse, print};

/// A record type as data: its fields, and a function that tests its codec.
///
/// ```
/// use bspkit::dialect::quake2::Face;
/// use bspkit::record::Record;
/// let info = Face::INFO;
/// assert_eq!((info.name, info.size), ("Face", 20));
/// let bytes = vec![0xAB; 2 * info.size];
/// assert_eq!((info.reencode)(&bytes), bytes);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RecordInfo {
    /// The type's name.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: usize,
    /// Its fields, in the order of the file.
    pub fields: &'static [FieldInfo],
    /// Decodes as many whole records as there are and encodes them again.
    pub reencode: fn(&[u8]) -> Vec<u8>,
    /// Which Rust type it is.
    pub type_id: fn() -> TypeId,
}

/// Two descriptions are the same if they are of one Rust type, wherever in memory they are.
impl PartialEq for RecordInfo {
    fn eq(&self, other: &Self) -> bool {
        (self.type_id)() == (other.type_id)()
    }
}

impl Eq for RecordInfo {}

impl RecordInfo {
    /// The field with this name: our name or the engine's.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        shape::find(self.fields, name).map(|(field, _)| field)
    }
}

// The codec: every struct reads and writes itself field by field. The caller has checked that there are enough bytes,
// so nothing here can fail. Everything is inlined, so it is equally fast in a crate that depends on this one, with any
// profile.

/// A type with a fixed size in the file: a number, a name, an array of them or a record. Only this crate implements it.
///
/// ```
/// use bspkit::record::Field;
/// assert_eq!(<[f32; 3] as Field>::SIZE, 12);
/// ```
pub trait Field: Codec {
    /// Its size in bytes.
    const SIZE: usize;
    /// Its layout in the file.
    const SHAPE: Shape;
}

macro_rules! fields {
    ($($type:ty = $number:ident),*) => {$(
        impl Field for $type {
            const SIZE: usize = size_of::<$type>();
            const SHAPE: Shape = Shape::Number(Number::$number);
        }

        impl Codec for $type {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(&bytes[..size_of::<$type>()]);
                <$type>::from_le_bytes(own)
            }

            #[inline(always)]
            fn write(&self, bytes: &mut [u8]) {
                bytes[..size_of::<$type>()].copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

fields!(u8 = U8, i8 = I8, u16 = U16, i16 = I16, u32 = U32, i32 = I32, f32 = F32);

impl<T: Field, const N: usize> Field for [T; N] {
    const SIZE: usize = N * T::SIZE;
    const SHAPE: Shape = Shape::Array(&T::SHAPE, N);
}

impl<T: Field, const N: usize> Codec for [T; N] {
    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::SIZE];
        std::array::from_fn(|index| T::read(&bytes[index * T::SIZE..]))
    }

    #[inline(always)]
    fn write(&self, bytes: &mut [u8]) {
        let bytes = &mut bytes[..Self::SIZE];
        self.iter().enumerate().for_each(|(index, item)| item.write(&mut bytes[index * T::SIZE..]));
    }
}

/// A struct of fixed size that reads and writes itself without loss. Only this crate implements it.
///
/// ```
/// use bspkit::file::directory::Entry;
/// use bspkit::record::Record;
/// let entry = Entry::decode(&[160, 0, 0, 0, 8, 0, 0, 0]).unwrap();
/// assert_eq!((entry.offset, entry.length), (160, 8));
/// assert_eq!(entry.encode(), [160, 0, 0, 0, 8, 0, 0, 0]);
/// ```
pub trait Record: Field + Copy + 'static {
    /// The type as data.
    const INFO: &'static RecordInfo;

    /// Decodes the first [`Field::SIZE`] bytes; `None` if there are fewer.
    #[inline]
    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.get(..Self::SIZE).map(Self::read)
    }

    /// The record's bytes.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::SIZE];
        self.write(&mut bytes);
        bytes
    }
}

// Records of big-endian files. Structs are declared and decoded little-endian. Their bytes are byte-swapped when a
// lump is read and when it is written, as the record's `Shape`s say, so that all other code knows one byte order
// only.

/// Byte-swaps every number of whole records in place. Trailing bytes that are less than a record are kept. Applying it
/// twice restores the input.
pub fn byte_swap(record: &RecordInfo, bytes: &mut [u8]) {
    let mut numbers = Vec::new();
    find(record.fields, 0, &mut numbers);
    if numbers.is_empty() {
        return;
    }
    for record in bytes.chunks_exact_mut(record.size) {
        numbers.iter().for_each(|number| record[number.clone()].reverse());
    }
}

/// Finds the ranges of numbers of more than one byte.
fn find(fields: &[FieldInfo], start: usize, numbers: &mut Vec<Range<usize>>) {
    fields.iter().for_each(|field| find_in(field.shape, start + field.offset, numbers));
}

fn find_in(shape: Shape, at: usize, numbers: &mut Vec<Range<usize>>) {
    match shape {
        Shape::Number(number) if number.size() > 1 => numbers.push(at..at + number.size()),
        Shape::Number(_) | Shape::Name(_) => {}
        Shape::Array(item, count) => (0..count).for_each(|index| find_in(*item, at + index * item.size(), numbers)),
        Shape::Record(fields) => find(fields, at, numbers),
    }
}

/// Decodes a record of a file with this byte order; `None` if there are too few bytes.
pub(crate) fn decode_in<R: Record>(order: ByteOrder, bytes: &[u8]) -> Option<R> {
    match order {
        ByteOrder::Little => R::decode(bytes),
        ByteOrder::Big => {
            let mut bytes = bytes.get(..R::SIZE)?.to_vec();
            byte_swap(R::INFO, &mut bytes);
            R::decode(&bytes)
        }
    }
}

/// The bytes of a record in a file with this byte order.
pub(crate) fn encode_in<R: Record>(order: ByteOrder, record: &R) -> Vec<u8> {
    let mut bytes = record.encode();
    if order == ByteOrder::Big {
        byte_swap(R::INFO, &mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{ALL, Form, Row};
    use crate::file::directory::{GameLumpEntry, SourceEntry};

    #[test]
    fn records_are_byte_swapped_by_their_fields() {
        let bytes: Vec<u8> = (1..=16).collect();
        let entry: SourceEntry = decode_in(ByteOrder::Big, &bytes).unwrap();
        assert_eq!((entry.offset, entry.unpacked), (0x0102_0304, 0x0D0E_0F10));
        assert_eq!(encode_in(ByteOrder::Big, &entry), bytes);
        let bytes = b"sprp\0\x01\0\x06\0\0\0\x64\0\0\0\x07";
        let member: GameLumpEntry = decode_in(ByteOrder::Big, bytes).unwrap();
        assert_eq!((member.id, member.flags, member.version), (u32::from_be_bytes(*b"sprp"), 1, 6));
        assert_eq!((member.offset, member.length), (100, 7));
    }

    /// For every record type: byte-swapping twice restores the input, and trailing bytes are kept.
    #[test]
    fn byte_swapping_twice_restores_the_input() {
        let rows = ALL.iter().flat_map(|dialect| dialect.rows.iter().copied().flatten());
        let of_row = |row: &Row| match row.form {
            Form::Array(record) => vec![record],
            Form::Lists(lists) => lists.iter().map(|list| list.record).collect(),
            _ => Vec::new(),
        };
        for record in rows.flat_map(of_row) {
            let old: Vec<u8> = (0_u8..=255).cycle().take(3 * record.size - 1).collect();
            let mut bytes = old.clone();
            byte_swap(record, &mut bytes);
            assert_eq!(bytes[2 * record.size..], old[2 * record.size..], "{}", record.name);
            let is_wide = |field: &FieldInfo| {
                let mut numbers = Vec::new();
                find_in(field.shape, 0, &mut numbers);
                !numbers.is_empty()
            };
            assert_eq!(bytes != old, record.fields.iter().any(is_wide), "{}", record.name);
            byte_swap(record, &mut bytes);
            assert_eq!(bytes, old, "{}", record.name);
        }
    }
}
