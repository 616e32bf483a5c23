//! `records!`: the declaration of structs.

/// The meaning that was given, or none.
macro_rules! meaning {
    () => {
        $crate::record::Meaning::Plain
    };
    ($meaning:expr) => {
        $meaning
    };
}

/// Declares records: `pub struct Name(SIZE) { pub field: type => meaning, … }`, little-endian, without hidden padding.
/// A field without `=>` has no meaning beyond its number.
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

        impl $crate::record::Codec for $name {
            #[inline(always)]
            #[allow(unused_assignments)]
            fn read(bytes: &[u8]) -> Self {
                let bytes = &bytes[..<Self as $crate::record::Field>::SIZE];
                let mut at = 0;
                $(
                    let $field = <$type as $crate::record::Codec>::read(&bytes[at..]);
                    at += <$type as $crate::record::Field>::SIZE;
                )*
                $name { $($field),* }
            }

            #[inline(always)]
            #[allow(unused_assignments)]
            fn write(&self, bytes: &mut [u8]) {
                let bytes = &mut bytes[..<Self as $crate::record::Field>::SIZE];
                let mut at = 0;
                $(
                    $crate::record::Codec::write(&self.$field, &mut bytes[at..]);
                    at += <$type as $crate::record::Field>::SIZE;
                )*
            }
        }

        impl $crate::record::Field for $name {
            const SIZE: usize = 0 $(+ <$type as $crate::record::Field>::SIZE)*;
            const SHAPE: $crate::record::Shape =
                $crate::record::Shape::Record(<$name as $crate::record::Record>::INFO.fields);
        }

        impl $crate::record::Record for $name {
            const INFO: &'static $crate::record::RecordInfo = &$crate::record::RecordInfo {
                name: stringify!($name),
                size: <$name as $crate::record::Field>::SIZE,
                fields: &$crate::record::lay(
                    [$($crate::record::FieldInfo::new(
                        stringify!($field),
                        <$type as $crate::record::Field>::SHAPE,
                        $crate::record::meaning!($($meaning)?),
                    ),)*],
                    [$(<$type as $crate::record::Field>::SIZE,)*],
                ),
                reencode: $crate::record::reencode::<$name>,
                type_id: std::any::TypeId::of::<$name>,
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

pub(crate) use {meaning, records};
