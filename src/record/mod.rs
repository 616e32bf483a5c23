//! Records: fixed-size structs of a file, each declared once.
//!
//! `records!` makes of a list of fields a struct with a codec of its own, checks its size at compile time, and describes
//! it as data: [`RecordInfo`], over which the tests walk. A record is *honest*: any bytes of its size decode and encode
//! to themselves, so that a decoder can never lose what it did not understand. Structs are `#[binrw]` too, for whoever
//! has binrw; nothing here goes by that, and a test holds both codecs to each other.

mod byte_swap;
mod codec;
mod declare;
mod shape;
mod table;
mod text;

use std::any::TypeId;

pub(crate) use codec::{Codec, next, put};
pub use codec::{Field, Record};
pub(crate) use declare::{field, records};

pub(crate) use byte_swap::{byte_swap, decode_in, encode_in};
pub use shape::{FieldInfo, FlagKind, Meaning, Name, Number, Shape};
pub(crate) use shape::{count, index, index_or_none, lay, run, with, write_name};
pub(crate) use table::Held;
pub use table::{Iter, Table, TableMut};
pub use text::{Cell, FlagNames, Part, Text, flag_names, parse, print};

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
    /// The field of this name, ours or the engine's.
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
