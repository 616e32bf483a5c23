//! Records: fixed-size structs of a file, each declared once.
//!
//! `records!` turns a list of fields into a struct with its own codec, checks the size at compile time, and describes
//! the struct as data: [`RecordInfo`], which the tests iterate over. Decoding and encoding a record restores its bytes,
//! for any bytes of its size. So nothing is lost that a decoder does not understand. Structs are `#[binrw]` too, for
//! users of binrw. Nothing here depends on that, and a test compares both codecs.

mod byte_swap;
mod cells;
mod codec;
mod declare;
mod meaning;
mod shape;
mod table;
mod text;

use std::any::TypeId;

pub(crate) use codec::{Codec, next, put};
pub use codec::{Field, Record};
pub(crate) use declare::{field, records};

pub(crate) use byte_swap::{byte_swap, decode_in, encode_in};
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

#[cfg(test)]
pub(crate) mod law;
