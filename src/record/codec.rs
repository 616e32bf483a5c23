//! The reader and writer below the derive: over a slice whose length was checked before, so that they cannot fail
//! and every error branch of the generated code folds away.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;

use binrw::{BinRead, BinWrite, Endian};

use super::{Number, RecordInfo, Shape};
use crate::bytes::wide;

/// A type with a fixed size in the file.
///
/// ```
/// use bspkit::record::Field;
/// assert_eq!(<[f32; 3] as Field>::SIZE, 12);
/// ```
pub trait Field {
    /// Its size in bytes.
    const SIZE: usize;
    /// How it lies in the file.
    const SHAPE: Shape;
}

macro_rules! fields {
    ($($type:ty = $number:ident),*) => {
        $(impl Field for $type {
            const SIZE: usize = size_of::<$type>();
            const SHAPE: Shape = Shape::Number(Number::$number);
        })*
    };
}

fields!(u8 = U8, i8 = I8, u16 = U16, i16 = I16, u32 = U32, i32 = I32, f32 = F32);

impl<T: Field, const N: usize> Field for [T; N] {
    const SIZE: usize = N * T::SIZE;
    const SHAPE: Shape = Shape::Array(&T::SHAPE, N);
}

/// A struct of fixed size that reads and writes itself without loss.
///
/// ```
/// use bspkit::file::directory::Entry;
/// use bspkit::record::Record;
/// let entry = Entry::decode(&[160, 0, 0, 0, 8, 0, 0, 0]).unwrap();
/// assert_eq!((entry.offset, entry.length), (160, 8));
/// assert_eq!(entry.encode(), [160, 0, 0, 0, 8, 0, 0, 0]);
/// ```
pub trait Record: Field + Copy + 'static + for<'a> BinRead<Args<'a> = ()> + for<'a> BinWrite<Args<'a> = ()> {
    /// The type as data.
    const INFO: &'static RecordInfo;

    /// Decodes the first [`Field::SIZE`] bytes; `None` where there are fewer.
    fn decode(bytes: &[u8]) -> Option<Self> {
        decode(bytes)
    }

    /// The record's bytes.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::SIZE];
        encode(self, &mut bytes);
        bytes
    }
}

// The derive marks nothing `#[inline]`, and LLVM inlines a function of this size for certain only where it is called
// once. So the first two hold the one call of the derive for all of the crate, and no hint inlines them before it is
// done with them: then they have shrunk to a few moves, and are inlined wherever they are called. A second call of the
// derive with the same reader, a hint here or a body that calls the next two costs 5 to 30 times the speed.

/// Decodes the first bytes; `None` where there are too few.
pub(super) fn decode<R: Record>(bytes: &[u8]) -> Option<R> {
    let bytes = bytes.get(..R::SIZE)?;
    R::read_options(&mut Reader::<()> { bytes, at: 0, site: PhantomData }, Endian::Little, ()).ok()
}

/// Writes a record over the first bytes, of which there are enough.
pub(super) fn encode<R: Record>(record: &R, bytes: &mut [u8]) {
    let bytes = &mut bytes[..R::SIZE];
    // The writer cannot fail and the buffer has the record's size.
    let _ = record.write_options(&mut Writer::<()> { bytes, at: 0, site: PhantomData }, Endian::Little, ());
}

/// As [`decode`], for the only place with this type, such as a closure's: what is not used of the record is not read.
#[inline(always)]
pub(super) fn decode_at<R: Record, Site>(bytes: &[u8]) -> Option<R> {
    let bytes = bytes.get(..R::SIZE)?;
    R::read_options(&mut Reader::<Site> { bytes, at: 0, site: PhantomData }, Endian::Little, ()).ok()
}

/// As [`encode`], for the only place with this type.
#[inline(always)]
pub(super) fn encode_at<R: Record, Site>(record: &R, bytes: &mut [u8]) {
    let bytes = &mut bytes[..R::SIZE];
    let _ = record.write_options(&mut Writer::<Site> { bytes, at: 0, site: PhantomData }, Endian::Little, ());
}

struct Reader<'a, Site> {
    bytes: &'a [u8],
    at: usize,
    site: PhantomData<Site>,
}

impl<Site> Read for Reader<'_, Site> {
    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_exact(buffer)?;
        Ok(buffer.len())
    }

    #[inline(always)]
    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let end = self.at + buffer.len();
        buffer.copy_from_slice(&self.bytes[self.at..end]);
        self.at = end;
        Ok(())
    }
}

impl<Site> Seek for Reader<'_, Site> {
    #[inline(always)]
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        seek(&mut self.at, to)
    }

    #[inline(always)]
    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(wide(self.at))
    }
}

struct Writer<'a, Site> {
    bytes: &'a mut [u8],
    at: usize,
    site: PhantomData<Site>,
}

impl<Site> Write for Writer<'_, Site> {
    #[inline(always)]
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.write_all(buffer)?;
        Ok(buffer.len())
    }

    #[inline(always)]
    fn write_all(&mut self, buffer: &[u8]) -> io::Result<()> {
        let end = self.at + buffer.len();
        self.bytes[self.at..end].copy_from_slice(buffer);
        self.at = end;
        Ok(())
    }

    #[inline(always)]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<Site> Seek for Writer<'_, Site> {
    #[inline(always)]
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        seek(&mut self.at, to)
    }

    #[inline(always)]
    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(wide(self.at))
    }
}

/// Only the error path of the generated code seeks, and always back to a position it asked for.
fn seek(at: &mut usize, to: SeekFrom) -> io::Result<u64> {
    let SeekFrom::Start(to) = to else { return Err(io::ErrorKind::Unsupported.into()) };
    *at = usize::try_from(to).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(to)
}
