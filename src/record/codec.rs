//! The codec: every struct reads and writes itself field by field. The caller has checked that there are enough bytes,
//! so nothing here can fail. Everything is inlined, so it is equally fast in a crate that depends on this one, with any
//! profile.

use super::{Number, RecordInfo, Shape};

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
