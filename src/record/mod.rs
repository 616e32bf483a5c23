//! Records: fixed-size structs of a file, each declared once.
//!
//! `records!` turns a list of fields into a struct with its own codec, checks the size at compile time, and describes
//! the struct as data: [`RecordInfo`], which the tests iterate over. Decoding and encoding a record restores its bytes,
//! for any bytes of its size. So nothing is lost that a decoder does not understand. Structs are `#[binrw]` too, for
//! users of binrw. Nothing here depends on that, and a test compares both codecs.

#[cfg(test)]
pub(crate) mod law;
mod meaning;
mod shape;
mod table;
mod text;

use std::any::TypeId;
use std::ops::Range;

use crate::bytes::ByteOrder;
pub use meaning::{Count, CountForm, FlagKind, Gone, Meaning, Order};
pub(crate) use meaning::{in_turn, index, index_or_none, optional_run_of, perhaps, run, run_of, set};
pub use shape::{FieldInfo, Name, Number, Shape};
pub(crate) use shape::{count, lay, with, write_name};
pub(crate) use table::Held;
pub use table::{Iter, Table, TableMut};
pub(crate) use text::fill;
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

impl RecordInfo {
    /// The field with this name: our name or the engine's.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        shape::find(self.fields, name).map(|(field, _)| field)
    }
}

/// Decodes as many whole records as there are and encodes them again.
pub(crate) fn reencode<R: Record>(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0; bytes.len() / R::SIZE * R::SIZE];
    for (old, new) in bytes.chunks_exact(R::SIZE).zip(out.chunks_exact_mut(R::SIZE)) {
        if let Some(record) = R::decode(old) {
            record.write(new);
        }
    }
    out
}

// `records!`: the declaration of structs.

/// Declares records: `pub struct Name(SIZE) { pub field: type as "engine_name" => meaning, … }`, little-endian,
/// without hidden padding. A field without `as` has the same name as in the engine. A field without `=>` has no meaning
/// beyond its number. If an array holds several fields of the engine, `as` lists their names.
///
/// `..Other,` includes the fields of another record. The field list contains them directly; the struct contains them as
/// `base` and derefs to it. `..Other with { field: meaning, field as name: meaning }` gives some of them other meanings
/// and names.
macro_rules! records {
    ($($(#[$meta:meta])* pub struct $name:ident($size:literal) {
        $($(#[$doc:meta])* pub $field:ident: $type:ty $(as $engine:literal)? $(=> $meaning:expr)?,)*
        $(..$base:ident $(with { $($old:ident $(as $new:ident)?: $other:expr),* })?,
        $($(#[$more_doc:meta])*
        pub $more:ident: $more_type:ty $(as $more_engine:literal)? $(=> $more_meaning:expr)?,)*)?
    })*) => {
        $(
        $(#[$meta])*
        #[binrw::binrw]
        #[brw(little)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$doc])* $(#[doc = concat!("\n\nThe engine's name: `", $engine, "`.")])? pub $field: $type,)*
            $(
            #[doc = concat!("The fields of [`", stringify!($base), "`].")]
            pub base: $base,
            $($(#[$more_doc])* $(#[doc = concat!("\n\nThe engine's name: `", $more_engine, "`.")])?
            pub $more: $more_type,)*
            )?
        }

        $(
        impl std::ops::Deref for $name {
            type Target = $base;

            #[inline]
            fn deref(&self) -> &$base {
                &self.base
            }
        }

        impl std::ops::DerefMut for $name {
            #[inline]
            fn deref_mut(&mut self) -> &mut $base {
                &mut self.base
            }
        }
        )?

        impl $crate::record::Codec for $name {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let (bytes, mut at) = (&bytes[..<Self as $crate::record::Field>::SIZE], 0);
                // The fields of a struct expression are evaluated in the order in which they are written.
                $name {
                    $($field: $crate::record::next::<$type>(bytes, &mut at),)*
                    $(base: $crate::record::next::<$base>(bytes, &mut at),
                    $($more: $crate::record::next::<$more_type>(bytes, &mut at),)*)?
                }
            }

            #[inline(always)]
            fn write(&self, bytes: &mut [u8]) {
                let (bytes, mut at) = (&mut bytes[..<Self as $crate::record::Field>::SIZE], 0);
                $($crate::record::put::<$type>(&self.$field, bytes, &mut at);)*
                $($crate::record::put::<$base>(&self.base, bytes, &mut at);
                $($crate::record::put::<$more_type>(&self.$more, bytes, &mut at);)*)?
            }
        }

        impl $crate::record::Field for $name {
            const SIZE: usize = 0 $(+ <$type as $crate::record::Field>::SIZE)*
                $(+ <$base as $crate::record::Field>::SIZE $(+ <$more_type as $crate::record::Field>::SIZE)*)?;
            const SHAPE: $crate::record::Shape =
                $crate::record::Shape::Record(<$name as $crate::record::Record>::INFO.fields);
        }

        impl $crate::record::Record for $name {
            const INFO: &'static $crate::record::RecordInfo = {
                const PARTS: &[&[$crate::record::FieldInfo]] = &[
                    &[$($crate::record::field!($field: $type, [$($engine)?], [$($meaning)?]),)*],
                    $(
                    &$crate::record::with::<{ <$base as $crate::record::Record>::INFO.fields.len() }>(
                        <$base as $crate::record::Record>::INFO.fields,
                        &[$($((stringify!($old), concat!("" $(, stringify!($new))?), $other),)*)?],
                    ),
                    &[$($crate::record::field!($more: $more_type, [$($more_engine)?], [$($more_meaning)?]),)*],
                    )?
                ];
                &$crate::record::RecordInfo {
                    name: stringify!($name),
                    size: <$name as $crate::record::Field>::SIZE,
                    fields: &$crate::record::lay::<{ $crate::record::count(PARTS) }>(PARTS),
                    reencode: $crate::record::reencode::<$name>,
                    type_id: std::any::TypeId::of::<$name>,
                }
            };
        }

        const _: () = assert!(<$name as $crate::record::Field>::SIZE == $size);
        )*

        #[cfg(test)]
        mod codecs {
            #[test]
            fn agree() {
                $($crate::record::law::codecs_agree::<super::$name>().unwrap();)*
            }
        }
    };
}
pub(crate) use records;

/// A field as data, with the engine's name and the meaning if they are given.
macro_rules! field {
    ($field:ident: $type:ty, [$($engine:literal)?], []) => {
        $crate::record::field!($field: $type, [$($engine)?], [$crate::record::Meaning::Plain])
    };
    ($field:ident: $type:ty, [$($engine:literal)?], [$meaning:expr]) => {
        $crate::record::FieldInfo {
            name: stringify!($field),
            engine: concat!("" $(, $engine)?),
            offset: 0,
            shape: <$type as $crate::record::Field>::SHAPE,
            meaning: $meaning,
        }
    };
}
pub(crate) use field;

// The codec: every struct reads and writes itself field by field. The caller has checked that there are enough bytes,
// so nothing here can fail. Everything is inlined, so it is equally fast in a crate that depends on this one, with any
// profile.

/// Reading and writing. The trait is private, so that only this crate implements fields and records.
#[doc(hidden)]
pub trait Codec: Sized {
    /// Reads it from its bytes. Callers have checked that there are [`Field::SIZE`].
    fn read(bytes: &[u8]) -> Self;

    /// Writes it over its bytes. Callers have checked that there are [`Field::SIZE`].
    fn write(&self, bytes: &mut [u8]);
}

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

/// Reads the field at `at` and moves `at` past it.
#[inline(always)]
pub(crate) fn next<F: Field>(bytes: &[u8], at: &mut usize) -> F {
    let field = F::read(&bytes[*at..]);
    *at += F::SIZE;
    field
}

/// Writes the field at `at` and moves `at` past it.
#[inline(always)]
pub(crate) fn put<F: Field>(field: &F, bytes: &mut [u8], at: &mut usize) {
    field.write(&mut bytes[*at..]);
    *at += F::SIZE;
}

// Records of big-endian files. Structs are declared and decoded little-endian. Their bytes are byte-swapped when a
// lump is read and when it is written, as the record's `Shape`s say, so that all other code knows one byte order
// only.

/// Byte-swaps every number of whole records in place. Trailing bytes that are less than a record are kept. Applying it
/// twice restores the input.
pub(crate) fn byte_swap(record: &RecordInfo, bytes: &mut [u8]) {
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
