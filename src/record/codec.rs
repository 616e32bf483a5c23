//! The reader and writer below the derive: over a slice whose length was checked before, so that they cannot fail
//! and every error branch of the generated code folds away.

use std::io::{self, Read, Seek, SeekFrom, Write};

use binrw::{BinRead, BinWrite, Endian};

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
}

macro_rules! fields {
    ($($type:ty),*) => { $(impl Field for $type { const SIZE: usize = size_of::<$type>(); })* };
}

fields!(u8, i8, u16, i16, u32, i32, f32);

impl<T: Field, const N: usize> Field for [T; N] {
    const SIZE: usize = N * T::SIZE;
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
    /// Decodes the first [`Field::SIZE`] bytes; `None` where there are fewer.
    #[inline]
    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..Self::SIZE)?;
        Self::read_options(&mut Reader { bytes, at: 0 }, Endian::Little, ()).ok()
    }

    /// The record's bytes.
    #[inline]
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::SIZE];
        // The writer cannot fail and the buffer has the record's size.
        let _ = self.write_options(&mut Writer { bytes: &mut bytes, at: 0 }, Endian::Little, ());
        bytes
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Read for Reader<'_> {
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

impl Seek for Reader<'_> {
    #[inline(always)]
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        seek(&mut self.at, to)
    }

    #[inline(always)]
    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(wide(self.at))
    }
}

struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Write for Writer<'_> {
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

impl Seek for Writer<'_> {
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
