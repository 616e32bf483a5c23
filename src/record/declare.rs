//! The declaration of records: the macro [`records!`](crate::records), and the functions that its expansion calls.

use std::any::TypeId;

use super::{Field, FieldInfo, Meaning, Record, RecordInfo, Shape};

/// Declares records: structs of a fixed size that read and write themselves without loss.
///
/// `pub struct Name(SIZE) { pub field: type as "engine_name" => meaning, … }`: little-endian, without hidden padding.
/// The size in bytes is compared with that of the fields at compile time. A field is a number of up to 32 bits, a
/// [`Name`](crate::record::Name), an array of fields or a record. A field without `as` has the same name as in the
/// engine. A field without `=>` has no meaning beyond its number. If an array holds several fields of the engine, `as`
/// lists their names.
///
/// `..Other,` includes the fields of another record. The field list contains them directly; the struct contains them as
/// `base` and derefs to it. `..Other with { field: meaning, field as name: meaning }` gives some of them other meanings
/// and names.
///
/// Attributes of the struct stay: `#[binrw::binrw] #[brw(little)]` makes it a field of structs of that crate.
///
/// ```
/// use bspkit::record::{Record, Table};
///
/// bspkit::records! {
///     /// A spawn area of a mod of ours.
///     pub struct Area(16) {
///         /// One corner, in units of the map.
///         pub corner: [f32; 3],
///         /// The team that may spawn there.
///         pub team: i32,
///     }
/// }
///
/// let lump: Vec<u8> = (0..32).collect();
/// let areas = Table::<Area>::of(&lump[..]);
/// assert_eq!((areas.len(), areas.get(1)?.team), (2, 0x1F1E_1D1C));
/// assert_eq!(areas.get(1)?.encode(), lump[16..]);
/// assert_eq!(Area::INFO.field("team").unwrap().offset, 12);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[macro_export]
macro_rules! records {
    (@field $field:ident: $type:ty, [$($engine:literal)?], []) => {
        $crate::records!(@field $field: $type, [$($engine)?], [$crate::record::Meaning::Plain])
    };
    (@field $field:ident: $type:ty, [$($engine:literal)?], [$meaning:expr]) => {
        $crate::record::declare::field::<$type>(stringify!($field), concat!("" $(, $engine)?), $meaning)
    };
    ($($(#[$meta:meta])* $vis:vis struct $name:ident($size:literal) {
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty $(as $engine:literal)? $(=> $meaning:expr)?,)*
        $(..$base:ident $(with { $($old:ident $(as $new:ident)?: $other:expr),* })?,
        $($(#[$more_doc:meta])*
        $more_vis:vis $more:ident: $more_type:ty $(as $more_engine:literal)? $(=> $more_meaning:expr)?,)*)?
    })*) => {
        $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $name {
            $($(#[$doc])* $(#[doc = concat!("\n\nThe engine's name: `", $engine, "`.")])? $field_vis $field: $type,)*
            $(
            #[doc = concat!("The fields of [`", stringify!($base), "`].")]
            $vis base: $base,
            $($(#[$more_doc])* $(#[doc = concat!("\n\nThe engine's name: `", $more_engine, "`.")])?
            $more_vis $more: $more_type,)*
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

        impl $crate::record::declare::Codec for $name {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let (bytes, mut at) = (&bytes[..<Self as $crate::record::Field>::SIZE], 0);
                // The fields of a struct expression are evaluated in the order in which they are written.
                $name {
                    $($field: $crate::record::declare::next::<$type>(bytes, &mut at),)*
                    $(base: $crate::record::declare::next::<$base>(bytes, &mut at),
                    $($more: $crate::record::declare::next::<$more_type>(bytes, &mut at),)*)?
                }
            }

            #[inline(always)]
            fn write(&self, bytes: &mut [u8]) {
                let (bytes, mut at) = (&mut bytes[..<Self as $crate::record::Field>::SIZE], 0);
                $($crate::record::declare::put::<$type>(&self.$field, bytes, &mut at);)*
                $($crate::record::declare::put::<$base>(&self.base, bytes, &mut at);
                $($crate::record::declare::put::<$more_type>(&self.$more, bytes, &mut at);)*)?
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
                    &[$($crate::records!(@field $field: $type, [$($engine)?], [$($meaning)?]),)*],
                    $(
                    &$crate::record::declare::with::<{ <$base as $crate::record::Record>::INFO.fields.len() }>(
                        <$base as $crate::record::Record>::INFO.fields,
                        &[$($((stringify!($old), concat!("" $(, stringify!($new))?), $other),)*)?],
                    ),
                    &[$($crate::records!(@field $more: $more_type, [$($more_engine)?], [$($more_meaning)?]),)*],
                    )?
                ];
                const FIELDS: [$crate::record::FieldInfo; $crate::record::declare::count(PARTS)] =
                    $crate::record::declare::lay(PARTS);
                &$crate::record::declare::record::<$name>(stringify!($name), &FIELDS)
            };
        }

        const _: () = assert!(<$name as $crate::record::Field>::SIZE == $size);
        )*
    };
}

/// [`records!`](crate::records) for structs of this crate: with binrw's codec too, and a test that compares both.
macro_rules! own_records {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident($size:literal) { $($fields:tt)* })*) => {
        $crate::records! {
            $(
            $(#[$meta])*
            #[cfg_attr(feature = "binrw", binrw::binrw, brw(little))]
            $vis struct $name($size) { $($fields)* }
            )*
        }

        #[cfg(all(test, feature = "binrw"))]
        mod codecs {
            #[test]
            fn agree() {
                $($crate::record::law::codecs_agree::<super::$name>().unwrap();)*
            }
        }
    };
}
pub(crate) use own_records as records;

/// Reading and writing. Only `records!` implements it outside of this crate.
///
/// ```
/// use bspkit::record::declare::Codec;
/// assert_eq!(u16::read(&[1, 2]), 0x0201);
/// ```
pub trait Codec: Sized {
    /// Reads it from its bytes. Callers have checked that there are [`Field::SIZE`].
    fn read(bytes: &[u8]) -> Self;

    /// Writes it over its bytes. Callers have checked that there are [`Field::SIZE`].
    fn write(&self, bytes: &mut [u8]);
}

/// A field as data; its offset follows when all fields are laid out.
pub const fn field<F: Field>(name: &'static str, engine: &'static str, meaning: Meaning) -> FieldInfo {
    FieldInfo { name, engine, offset: 0, shape: F::SHAPE, meaning }
}

/// A record as data.
pub const fn record<R: Record>(name: &'static str, fields: &'static [FieldInfo]) -> RecordInfo {
    RecordInfo { name, size: R::SIZE, fields, reencode: reencode::<R>, type_id: TypeId::of::<R> }
}

/// Decodes as many whole records as there are and encodes them again.
pub fn reencode<R: Record>(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0; bytes.len() / R::SIZE * R::SIZE];
    for (old, new) in bytes.chunks_exact(R::SIZE).zip(out.chunks_exact_mut(R::SIZE)) {
        if let Some(record) = R::decode(old) {
            record.write(new);
        }
    }
    out
}
/// Reads the field at `at` and moves `at` past it.
#[inline(always)]
pub fn next<F: Field>(bytes: &[u8], at: &mut usize) -> F {
    let field = F::read(&bytes[*at..]);
    *at += F::SIZE;
    field
}
/// Writes the field at `at` and moves `at` past it.
#[inline(always)]
pub fn put<F: Field>(field: &F, bytes: &mut [u8], at: &mut usize) {
    field.write(&mut bytes[*at..]);
    *at += F::SIZE;
}

/// The total number of fields in the parts of a record.
pub const fn count(parts: &[&[FieldInfo]]) -> usize {
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// The fields of all parts, in order and without padding.
pub const fn lay<const N: usize>(parts: &[&[FieldInfo]]) -> [FieldInfo; N] {
    let mut fields = [NO_FIELD; N];
    let (mut part, mut index, mut offset) = (0, 0, 0);
    while part < parts.len() {
        let mut next = 0;
        while next < parts[part].len() {
            fields[index] = parts[part][next];
            fields[index].offset = offset;
            offset += fields[index].shape.size();
            (index, next) = (index + 1, next + 1);
        }
        part += 1;
    }
    fields
}

const NO_FIELD: FieldInfo =
    FieldInfo { name: "", engine: "", offset: 0, shape: Shape::Name(0), meaning: Meaning::Plain };

/// The fields of another record, some of them with another meaning, and with another name unless that name is empty.
pub const fn with<const N: usize>(
    base: &[FieldInfo],
    others: &[(&'static str, &'static str, Meaning)],
) -> [FieldInfo; N] {
    let (mut fields, mut other) = ([NO_FIELD; N], 0);
    fields.copy_from_slice(base);
    while other < others.len() {
        let (old, new, meaning) = others[other];
        let mut index = 0;
        while !is_same(fields[index].name, old) {
            index += 1; // An unknown name makes the index leave the array, which is a compile error.
        }
        fields[index].meaning = meaning;
        if !new.is_empty() {
            (fields[index].name, fields[index].engine) = (new, "");
        }
        other += 1;
    }
    fields
}

const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}
