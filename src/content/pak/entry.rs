//! One file of a pakfile.

use std::fmt;

use super::record::{CentralHeader, ENCRYPTED, LocalHeader};
use super::{Node, Pak, Time, method};
use crate::bytes::{self, escaped, index};
use crate::file::lzma;
use crate::record::{Field, Record};
use crate::{Data, Error, ErrorKind, Result};

/// A file of a pakfile, as its record in the directory describes it.
///
/// ```
/// use bspkit::content::pak::{Method, Pak};
/// let mut pak = Pak::new(b"");
/// pak.add("cfg/map.cfg", "sv_gravity 800")?;
/// let entry = pak.get(0).unwrap();
/// assert_eq!((entry.name(), entry.size(), entry.method()), (&b"cfg/map.cfg"[..], 14, Method::Stored));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry<'p, 'a> {
    pak: &'p Pak<'a>,
    index: usize,
    header: CentralHeader,
}

/// How a file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// As it is.
    Stored,
    /// Compressed with LZMA, which the engines of 2013 and later read.
    Lzma,
    /// In a way that no engine reads: 8 is deflate.
    Other(u16),
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Stored => f.write_str("stored"),
            Method::Lzma => f.write_str("lzma"),
            Method::Other(8) => f.write_str("deflate"),
            Method::Other(number) => write!(f, "method {number}"),
        }
    }
}

impl<'p, 'a> Entry<'p, 'a> {
    pub(super) fn new(pak: &'p Pak<'a>, index: usize) -> Self {
        let header = match &pak.nodes[index] {
            Node::Source(at) => pak.source.entries[bytes::index(*at)].header,
            Node::Own(own) => own.header,
        };
        Entry { pak, index, header }
    }

    /// The index in the directory.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name as it is in the directory.
    pub fn name(&self) -> &'p [u8] {
        self.pak.name(self.index)
    }

    /// How it is stored.
    pub fn method(&self) -> Method {
        match self.header.method {
            method::STORED => Method::Stored,
            method::LZMA => Method::Lzma,
            other => Method::Other(other),
        }
    }

    /// The size in bytes that the directory states, uncompressed.
    pub fn size(&self) -> usize {
        index(self.header.size)
    }

    /// The size in bytes that it takes in the pakfile.
    pub fn stored_size(&self) -> usize {
        index(self.header.stored_size)
    }

    /// The CRC-32 that the directory states. Engines do not check it; some maps have edited files with the CRC of the
    /// old bytes.
    pub fn crc(&self) -> u32 {
        self.header.crc
    }

    /// The time that the directory states.
    pub fn time(&self) -> Time {
        Time { date: self.header.date, time: self.header.time }
    }

    /// The record in the directory. For a new or edited file the offset in it is 0.
    pub fn record(&self) -> &CentralHeader {
        &self.header
    }

    /// The local header, if there is one at the offset that the directory states.
    pub fn local(&self) -> Option<LocalHeader> {
        match &self.pak.nodes[self.index] {
            Node::Source(at) => self.pak.source.local(&self.pak.source.entries[bytes::index(*at)]),
            Node::Own(own) => LocalHeader::decode(&own.local),
        }
    }

    /// The name in the local header, if the file is in the map.
    pub(super) fn local_name(&self) -> Option<&'p [u8]> {
        match &self.pak.nodes[self.index] {
            Node::Source(at) => self.pak.source.local_name(&self.pak.source.entries[bytes::index(*at)]),
            Node::Own(_) => None,
        }
    }

    /// The bytes of the record in the directory.
    pub(super) fn central(&self) -> &'p [u8] {
        match &self.pak.nodes[self.index] {
            Node::Source(at) => &self.pak.source.data[self.pak.source.entries[bytes::index(*at)].range()],
            Node::Own(own) => &own.central,
        }
    }

    /// The record in the directory without the place of the file, and the local header with the name and the extra
    /// field after it: all that is stored of a file besides its data.
    pub(crate) fn form(&self) -> (Vec<u8>, Vec<u8>) {
        const LOCAL_OFFSET: std::ops::Range<usize> = 42..46;
        let mut central = self.central().to_vec();
        central.iter_mut().take(LOCAL_OFFSET.end).skip(LOCAL_OFFSET.start).for_each(|byte| *byte = 0);
        let local = match &self.pak.nodes[self.index] {
            Node::Own(own) => own.local.to_vec(),
            Node::Source(at) => {
                let source = &self.pak.source;
                let start = index(source.entries[bytes::index(*at)].header.local_offset);
                let local = self.local().map_or(0, |local| {
                    LocalHeader::SIZE + usize::from(local.name_length) + usize::from(local.extra_length)
                });
                source.data.get(start..start.saturating_add(local)).unwrap_or_default().to_vec()
            }
        };
        (central, local)
    }

    /// The bytes as they are in the pakfile, where engines look for them: after the local header by the lengths
    /// that the directory states.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if they would be outside of the pakfile, or no local header is before them.
    pub fn stored(&self) -> Result<Data<'a>> {
        let source = &self.pak.source;
        let entry = match &self.pak.nodes[self.index] {
            Node::Own(own) => return Ok(own.body.slice(own.payload.clone())),
            Node::Source(at) => &source.entries[bytes::index(*at)],
        };
        if source.local(entry).is_none() {
            let offset = self.header.local_offset;
            return Err(self.error(ErrorKind::Malformed, format!("has no local header at {offset}")));
        }
        match entry.claimed() {
            Some((range, data)) if range.end <= source.end_at => Ok(source.data.slice(data..range.end)),
            _ => {
                let (size, offset) = (self.header.stored_size, self.header.local_offset);
                Err(self.error(ErrorKind::Malformed, format!("runs past the pakfile's end: {size} bytes at {offset}")))
            }
        }
    }

    /// Where the bytes are in the pakfile that was read, if it is there that engines look for them.
    #[cfg(feature = "json")]
    pub(crate) fn stored_range(&self) -> Option<std::ops::Range<usize>> {
        let Node::Source(at) = &self.pak.nodes[self.index] else { return None };
        let source = &self.pak.source;
        let (range, data) = source.entries[bytes::index(*at)].claimed()?;
        (range.end <= source.end_at).then_some(data..range.end)
    }

    /// The file's bytes, decompressed. The CRC is not checked.
    ///
    /// # Errors
    /// As [`Entry::stored`]; [`ErrorKind::Unsupported`] for a file that is encrypted or stored in a way that no engine
    /// reads; [`ErrorKind::Malformed`] for damaged data and wrong sizes; [`ErrorKind::TooLarge`] if more than
    /// [`MOST_DECOMPRESSED`](crate::file::lzma::MOST_DECOMPRESSED) would be decompressed.
    pub fn data(&self) -> Result<Data<'a>> {
        self.unpacked().map(|(data, _)| data)
    }

    /// The memory that [`Entry::data`] takes in bytes: 0 for a file that is stored as it is.
    pub fn memory(&self) -> usize {
        if self.method() == Method::Lzma { lzma::memory_for(self.size()) } else { 0 }
    }

    /// Whether the CRC is that of these bytes.
    pub fn has_crc_of(&self, data: &[u8]) -> bool {
        crc32fast::hash(data) == self.header.crc
    }

    /// The file's bytes, and how many stored bytes were not needed for them.
    pub(super) fn unpacked(&self) -> Result<(Data<'a>, usize)> {
        let stored = self.stored()?;
        if self.header.flags & ENCRYPTED != 0 {
            return Err(self.error(ErrorKind::Unsupported, "is encrypted, which no engine reads".to_owned()));
        }
        match self.method() {
            Method::Stored if self.header.size != self.header.stored_size => {
                let (size, stored) = (self.header.size, self.header.stored_size);
                let why = format!("is not compressed and has two sizes: {size} bytes, stored as {stored}");
                Err(self.error(ErrorKind::Malformed, why))
            }
            Method::Stored => Ok((stored, 0)),
            Method::Lzma => match method::unpack(&stored, self.size()) {
                Ok((bytes, rest)) => Ok((Data::from(bytes), rest)),
                Err(error) => Err(self.error(error.kind(), "cannot be decompressed".to_owned()).with_source(error)),
            },
            Method::Other(_) => {
                let why = format!("is compressed with {}, which no engine reads", self.method());
                Err(self.error(ErrorKind::Unsupported, why))
            }
        }
    }

    /// By how many bytes engines look for the data later than other readers do.
    pub(super) fn misread(&self) -> Option<i32> {
        let local = self.local().filter(|_| !self.pak.is_console())?;
        let names = |name: u16, extra: u16| i32::from(name) + i32::from(extra);
        let local = names(local.name_length, local.extra_length);
        let central = names(self.header.name_length, self.header.extra_length);
        (local != central).then_some(central - local)
    }

    /// Fails unless all readers find the same bytes as data.
    pub(super) fn check_lengths(&self) -> Result<()> {
        let why = || "has extra fields of two lengths, so engines and other readers find different data".to_owned();
        self.misread().map_or(Ok(()), |_| Err(self.error(ErrorKind::Refused, why())))
    }

    /// An error about this file.
    pub(super) fn error(&self, kind: ErrorKind, why: String) -> Error {
        Error::new(kind, format!("`{}` {why}", escaped(self.name())))
    }
}
