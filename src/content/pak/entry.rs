//! One file of a pakfile: its name, times and method.

use std::fmt;

use super::record::{CentralHeader, ENCRYPTED, HAS_END_MARKER, LocalHeader, LzmaEntryHeader};
use super::{Node, Pak};
use crate::bytes::{self, escaped, index};
use crate::file::lzma;
use crate::record::{Field, Record};
use crate::{Data, Error, ErrorKind, Result};

// One file of a pakfile.

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

    /// The pakfile that it is in.
    pub(super) fn pak(&self) -> &'p Pak<'a> {
        self.pak
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
            STORED => Method::Stored,
            LZMA => Method::Lzma,
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

    /// Whether the directory states that the data is encrypted, which no engine reads.
    pub fn is_encrypted(&self) -> bool {
        self.header.flags & ENCRYPTED != 0
    }

    /// Whether engines read its data: they know stored and LZMA, and look for the data where the directory's lengths of
    /// names say that it is.
    pub fn is_read_by_engines(&self) -> bool {
        !self.is_encrypted() && !matches!(self.method(), Method::Other(_)) && self.misread().is_none()
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

    /// Whether all that is stored of two files besides their data is the same: method, times, names, attributes, and
    /// fields that only some programs write.
    pub fn is_stored_as(&self, other: &Entry<'_, '_>) -> bool {
        self.form() == other.form()
    }

    /// The record in the directory without the place of the file, and the local header with the name and the extra
    /// field after it: all that is stored of a file besides its data.
    fn form(&self) -> (Vec<u8>, Vec<u8>) {
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
    pub fn stored_range(&self) -> Option<std::ops::Range<usize>> {
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
        if self.is_encrypted() {
            return Err(self.error(ErrorKind::Unsupported, "is encrypted, which no engine reads".to_owned()));
        }
        match self.method() {
            Method::Stored if self.header.size != self.header.stored_size => {
                let (size, stored) = (self.header.size, self.header.stored_size);
                let why = format!("is not compressed and has two sizes: {size} bytes, stored as {stored}");
                Err(self.error(ErrorKind::Malformed, why))
            }
            Method::Stored => Ok((stored, 0)),
            Method::Lzma => match unpack(&stored, self.size(), self.header.flags & HAS_END_MARKER != 0) {
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

// Times of files, as DOS keeps them: two seconds exactly, from 1980 to 2107, without a time zone.

/// The time of a file of a pakfile (PKWARE's APPNOTE.TXT, 4.4.6).
///
/// ```
/// use bspkit::content::pak::{Pak, Time};
/// let mut pak = Pak::new(b"");
/// pak.add("a.txt", "one")?;
/// assert_eq!(pak.get(0).unwrap().time(), Time::NONE);
/// pak.set_time(&[0], Time::parse("2013-06-20T12:34:56")?)?;
/// assert_eq!(pak.get(0).unwrap().time().to_string(), "2013-06-20T12:34:56");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Bits 0 to 4 are the day, 5 to 8 the month, the rest the years since 1980.
    pub date: u16,
    /// Bits 0 to 4 are half of the seconds, 5 to 10 the minutes, the rest the hours.
    pub time: u16,
}

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;
const MONTHS: [u16; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn days_of(year: u16, month: u16) -> u16 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    MONTHS[usize::from(month - 1)] + u16::from(month == 2 && is_leap)
}

impl Time {
    /// Zeros, as Valve's tools write them.
    pub const NONE: Time = Time { date: 0, time: 0 };

    /// Reads `2013-06-20`, `2013-06-20T12:34:56` or the same with a space. An odd second becomes the even one before
    /// it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a text of another form, a date that does not exist, and a year outside of 1980 to
    /// 2107.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Time> {
        let text = text.as_ref();
        let wrong = || {
            let message = format!("`{}` is not a time of a file in a zip", escaped(text));
            Error::new(ErrorKind::Argument, message)
                .with_hint("write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, from 1980 to 2107")
        };
        let text = std::str::from_utf8(text).map_err(|_| wrong())?;
        let (day, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
        let parts = |text: &str, mark: char, lengths: [usize; 3]| -> Option<[u16; 3]> {
            let parts: Vec<&str> = text.split(mark).collect();
            let is_number =
                |(part, length): (&&str, usize)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
            let is_whole = parts.len() == 3 && parts.iter().zip(lengths).all(is_number);
            let numbers: Option<Vec<u16>> = parts.iter().map(|part| part.parse().ok()).collect();
            numbers.filter(|_| is_whole)?.try_into().ok()
        };
        let [year, month, day] = parts(day, '-', [4, 2, 2]).ok_or_else(wrong)?;
        let [hour, minute, second] = parts(clock, ':', [2, 2, 2]).ok_or_else(wrong)?;
        let is_date =
            (1980..=2107).contains(&year) && (1..=12).contains(&month) && day >= 1 && day <= days_of(year, month);
        if !is_date || hour > 23 || minute > 59 || second > 59 {
            return Err(wrong());
        }
        let (date, time) = ((year - 1980) << 9 | month << 5 | day, hour << 11 | minute << 5 | (second / 2));
        Ok(Time { date, time })
    }

    /// The time of these seconds since the start of 1970, in UTC.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a year outside of 1980 to 2107.
    ///
    /// ```
    /// use bspkit::content::pak::Time;
    /// assert_eq!(Time::from_unix(1_371_731_696)?.to_string(), "2013-06-20T12:34:56");
    /// assert!(Time::from_unix(0).is_err());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn from_unix(seconds: u64) -> Result<Time> {
        let wrong = || {
            let message = format!(
                "{seconds} seconds since 1970 are not a time of a file in a zip: it has a year from 1980 to 2107"
            );
            Error::new(ErrorKind::Argument, message)
        };
        let (mut days, clock) = (seconds / SECONDS_OF_DAY, seconds % SECONDS_OF_DAY);
        let (mut year, mut month) = (1970_u16, 1_u16);
        while year <= 2107 && days >= u64::from(days_of(year, month)) {
            days -= u64::from(days_of(year, month));
            (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        }
        let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
        Time::parse(format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", days + 1))
            .map_err(|_| wrong())
    }
}

impl fmt::Display for Time {
    /// `2013-06-20T12:34:56`, also for a date that does not exist; `none` for zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NONE {
            return f.write_str("none");
        }
        let Time { date, time } = self;
        write!(f, "{:04}-{:02}-{:02}T", 1980 + (date >> 9), date >> 5 & 15, date & 31)?;
        write!(f, "{:02}:{:02}:{:02}", time >> 11, time >> 5 & 63, (time & 31) * 2)
    }
}

// Method 14: LZMA with a header of 9 bytes, where lumps have one of 17.

pub(super) const STORED: u16 = 0;
pub(super) const LZMA: u16 = 14;

/// The versions of the format that readers of stored and of LZMA files need, as Valve's writer states them.
pub(super) const STORED_NEEDS: u16 = 10;
pub(super) const LZMA_NEEDS: u16 = 63;

/// The version of the LZMA SDK that Source SDK 2013 states; readers do not look at it.
const SDK: (u8, u8) = (9, 38);

/// Extensions of files that an engine cannot play if they are compressed: it reads them in pieces, which needs a stored
/// file.
const NEVER: [&[u8]; 5] = [b"mp3", b"wav", b"ogg", b"ani", b"vcs"];

/// Whether files of this name must not be compressed.
pub(super) fn is_read_in_pieces(name: &[u8]) -> bool {
    let extension = name.rsplit(|byte| *byte == b'.').next().filter(|extension| extension.len() < name.len());
    extension.is_some_and(|extension| NEVER.iter().any(|never| never.eq_ignore_ascii_case(extension)))
}

/// Decompresses a file and returns how many bytes follow its stream.
///
/// Engines and other readers stop when they have all bytes; a marker that is announced and there is part of the data.
pub(super) fn unpack(stored: &[u8], size: usize, has_marker: bool) -> Result<(Vec<u8>, usize)> {
    let header = LzmaEntryHeader::decode(stored).filter(|header| header.properties_size == 5);
    let malformed = || Error::new(ErrorKind::Malformed, "the LZMA data is damaged: it does not begin with a header");
    let header = header.ok_or_else(malformed)?;
    let stream = &stored[LzmaEntryHeader::SIZE..];
    let marked = has_marker.then(|| lzma::decode_marked(header.properties, stream, size));
    match marked {
        Some(Ok(found)) => Ok(found),
        _ => lzma::decode(header.properties, stream, size),
    }
}

/// Compresses a file.
pub(super) fn pack(bytes: &[u8], level: lzma::Level) -> Result<Vec<u8>> {
    let mut packed = vec![0; LzmaEntryHeader::SIZE];
    let properties = lzma::encode(bytes, lzma::DECLARED_DICTIONARY, level, &mut packed)?;
    let header = LzmaEntryHeader { major: SDK.0, minor: SDK.1, properties_size: 5, properties };
    packed[..LzmaEntryHeader::SIZE].copy_from_slice(&header.encode());
    Ok(packed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (text, date, time) in [
            ("1980-01-01", 0x0021, 0),
            ("2107-12-31 23:59:59", 0xFF9F, 0xBF7D),
            ("2000-02-29T00:00:02", 20 << 9 | 2 << 5 | 29, 1),
        ] {
            assert_eq!(Time::parse(text).unwrap(), Time { date, time }, "{text}");
        }
        for text in [
            "",
            "now",
            "1979-12-31",
            "2108-01-01",
            "2001-02-29",
            "2100-02-29",
            "2000-13-01",
            "2000-1-1",
            "2000-01-01T24:00:00",
            "+200-01-01",
            "2000-01-01T1:00:00",
            "2000-00-01",
            "2000-01-00",
        ] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
        assert_eq!(Time::from_unix(315_532_800).unwrap().to_string(), "1980-01-01T00:00:00");
        assert_eq!(Time::from_unix(951_782_399).unwrap().to_string(), "2000-02-28T23:59:58");
        assert!(Time::from_unix(315_532_799).is_err() && Time::from_unix(u64::MAX).is_err());
    }

    proptest! {
        /// Any two words print, and what is a time reads back.
        #[test]
        fn times_read_back(date in any::<u16>(), time in any::<u16>()) {
            let own = Time { date, time };
            if let Ok(again) = Time::parse(own.to_string()) {
                prop_assert_eq!(again, own);
            }
        }
    }
}
