//! Records: fixed-size structs of a file, declared once and read and written by the same derive.
//!
//! `records!` turns a list of fields into a `#[binrw]` struct, checks its size at compile time, and describes it as
//! data: [`RecordInfo`], over which the tests walk. A record is *honest*: any bytes of its size decode and encode to
//! themselves, so that a decoder can never lose what it did not understand.

mod codec;
mod shape;
mod table;
mod text;
mod turn;

use std::any::TypeId;

pub use codec::{Field, Record};
pub use shape::{FieldInfo, FlagKind, Meaning, Name, Number, Shape};
pub(crate) use shape::{index, index_or_none, lay, run, write_name};
pub(crate) use table::Held;
pub use table::{Iter, Table, TableMut};
pub use text::{Cell, FlagNames, Part, Text, flag_names, parse, print};
pub(crate) use turn::{decode_in, encode_in, turn};

/// A record type as data: its fields, and how to try it.
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
    pub(crate) const fn new<R: Record>(name: &'static str, fields: &'static [FieldInfo]) -> Self {
        RecordInfo { name, size: R::SIZE, fields, reencode: reencode::<R>, type_id: TypeId::of::<R> }
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|field| field.name == name)
    }
}

fn reencode<R: Record>(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0; bytes.len() / R::SIZE * R::SIZE];
    for (old, new) in bytes.chunks_exact(R::SIZE).zip(out.chunks_exact_mut(R::SIZE)) {
        if let Some(record) = codec::decode::<R>(old) {
            codec::encode::<R>(&record, new);
        }
    }
    out
}

/// Declares records: `pub struct Name(SIZE) { pub field: type => meaning, … }`, little-endian, without hidden padding;
/// where a field has no meaning beyond its number, none is given.
macro_rules! records {
    ($($(#[$meta:meta])* pub struct $name:ident($size:literal) {
        $($(#[$field_meta:meta])* pub $field:ident: $type:ty $(=> $meaning:expr)?,)*
    })*) => {
        $(
            $(#[$meta])*
            #[binrw::binrw]
            #[brw(little)]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $type,)*
            }

            impl $crate::record::Field for $name {
                const SIZE: usize = 0 $(+ <$type as $crate::record::Field>::SIZE)*;
                const SHAPE: $crate::record::Shape = $crate::record::Shape::Record(<$name as $crate::record::Record>::INFO.fields);
            }

            impl $crate::record::Record for $name {
                const INFO: &'static $crate::record::RecordInfo =
                    &$crate::record::RecordInfo::new::<$name>(stringify!($name), &$crate::record::lay(
                        [$($crate::record::FieldInfo::new(
                            stringify!($field),
                            <$type as $crate::record::Field>::SHAPE,
                            $crate::record::meaning!($($meaning)?),
                        ),)*],
                        [$(<$type as $crate::record::Field>::SIZE,)*],
                    ));
            }

            const _: () = assert!(<$name as $crate::record::Field>::SIZE == $size);
        )*

    };
}

/// The meaning that was given, or none.
macro_rules! meaning {
    () => {
        $crate::record::Meaning::Plain
    };
    ($meaning:expr) => {
        $meaning
    };
}

pub(crate) use {meaning, records};
