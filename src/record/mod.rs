//! Records: fixed-size structs of a file, declared once and read and written by the same derive.
//!
//! `records!` turns a list of fields into a `#[binrw]` struct, checks its size at compile time and enters it in
//! the module's list, over which the tests walk. A record is *honest*: any bytes of its size decode and encode to
//! themselves, so that a decoder can never lose what it did not understand.

mod codec;

pub use codec::{Field, Record};

/// What a test needs to know of a record type.
///
/// ```
/// let info = bspkit::file::directory::RECORDS[0];
/// let bytes = vec![0xAB; info.size];
/// assert_eq!((info.reencode)(&bytes), bytes);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecordInfo {
    /// The type's name.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: usize,
    /// Decodes bytes of that size and encodes them again.
    pub reencode: fn(&[u8]) -> Vec<u8>,
}

/// Declares records: `pub struct Name(SIZE) { pub field: type, … }`, little-endian, without hidden padding.
///
/// Also declares `RECORDS`, the list of the [`RecordInfo`] of all of them.
macro_rules! records {
    ($($(#[$meta:meta])* pub struct $name:ident($size:literal) { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)* })*) => {
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
            }

            impl $crate::record::Record for $name {}

            const _: () = assert!(<$name as $crate::record::Field>::SIZE == $size);
        )*

        /// Every record type of this module.
        pub const RECORDS: &[$crate::record::RecordInfo] = &[
            $($crate::record::RecordInfo {
                name: stringify!($name),
                size: $size,
                reencode: $crate::record::reencode::<$name>,
            },)*
        ];
    };
}

pub(crate) use records;

pub(crate) fn reencode<R: Record>(bytes: &[u8]) -> Vec<u8> {
    R::decode(bytes).map(|record| record.encode()).unwrap_or_default()
}
