//! `records!`: the declaration of structs.

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

pub(crate) use {field, records};
