//! Reading: the end record, then the directory. The files are not read, so listing costs only the directory.

use std::ops::Range;

use super::record::{CENTRAL, CentralHeader, END, EndRecord, LOCAL, LocalHeader, ZIP64_LOCATOR};
use crate::bytes::index;
use crate::record::{Field, Record};
use crate::{Data, Error, ErrorKind, Result};

/// A pakfile as it was read.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) data: Data<'a>,
    pub(super) entries: Vec<Central>,
    /// The directory, up to its last record.
    pub(super) directory: Range<usize>,
    /// The offset of the end record; the length of `data` if there is none yet.
    pub(super) end_at: usize,
    pub(super) end: EndRecord,
    pub(super) is_console: bool,
    /// The comment of a pakfile that has no bytes yet.
    new_comment: Vec<u8>,
}

/// A file's record in the directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Central {
    pub(super) header: CentralHeader,
    /// Where the record is.
    pub(super) at: usize,
    /// Without the comment and, on consoles, without the extra field, which is missing there.
    end: usize,
}

impl Central {
    /// The whole record.
    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.end
    }

    pub(super) fn name(&self) -> Range<usize> {
        let start = self.at + CentralHeader::SIZE;
        start..start + usize::from(self.header.name_length)
    }

    /// From the local header to the end of the data, where engines find both: by the lengths in the directory.
    pub(super) fn claimed(&self) -> Option<(Range<usize>, usize)> {
        let start = index(self.header.local_offset);
        let names = usize::from(self.header.name_length) + usize::from(self.header.extra_length);
        let data = start.checked_add(LocalHeader::SIZE + names)?;
        Some((start..data.checked_add(index(self.header.stored_size))?, data))
    }
}

fn malformed(what: String) -> Error {
    Error::new(ErrorKind::Malformed, what)
}

impl<'a> Source<'a> {
    pub(super) fn empty(comment: &[u8]) -> Self {
        let end = EndRecord {
            signature: END,
            disk: 0,
            directory_disk: 0,
            count_here: 0,
            count: 0,
            directory_size: 0,
            directory_offset: 0,
            // Longer comments do not fit the format.
            comment_length: u16::try_from(comment.len()).unwrap_or(u16::MAX),
        };
        let new_comment = comment[..usize::from(end.comment_length)].to_vec();
        let (data, entries, is_console) = (Data::from(Vec::new()), Vec::new(), is_consoles(comment));
        Source { data, entries, directory: 0..0, end_at: 0, end, is_console, new_comment }
    }

    pub(super) fn parse(data: Data<'a>) -> Result<Self> {
        let (end_at, end) = find_end(&data)?;
        check_end(&data, end_at, &end)?;
        let comment = &data[end_at + EndRecord::SIZE..][..usize::from(end.comment_length)];
        let is_console = is_consoles(comment);
        let start = index(end.directory_offset);
        let mut entries = Vec::with_capacity(usize::from(end.count));
        let mut at = start;
        for number in 0..end.count {
            let entry = central(&data[..end_at], at, is_console).map_err(|what| {
                let message = format!("the pakfile's directory is damaged: file {number} of {} {what}", end.count);
                malformed(message)
            })?;
            at = entry.end;
            entries.push(entry);
        }
        Ok(Source { entries, directory: start..at, end_at, end, is_console, new_comment: Vec::new(), data })
    }

    pub(super) fn comment(&self) -> &[u8] {
        if self.data.is_empty() {
            return &self.new_comment;
        }
        &self.data[self.end_at + EndRecord::SIZE..][..usize::from(self.end.comment_length)]
    }

    pub(super) fn name(&self, index: usize) -> &[u8] {
        &self.data[self.entries[index].name()]
    }

    /// How many bytes after the last record the end record counts as directory; 0 if its count cannot be right.
    pub(super) fn counted_beyond(&self) -> Option<usize> {
        let beyond = index(self.end.directory_size).checked_sub(self.directory.len())?;
        (beyond <= self.end_at.saturating_sub(self.directory.end)).then_some(beyond)
    }

    /// The name in a file's local header.
    pub(super) fn local_name(&self, entry: &Central) -> Option<&[u8]> {
        let name = index(entry.header.local_offset).checked_add(LocalHeader::SIZE)?;
        let length = usize::from(self.local(entry)?.name_length);
        self.data.get(name..name.checked_add(length)?)
    }

    /// The local header of a file, where there is one.
    pub(super) fn local(&self, entry: &Central) -> Option<LocalHeader> {
        let header = LocalHeader::decode(self.data.get(index(entry.header.local_offset)..)?)?;
        (header.signature == LOCAL).then_some(header)
    }
}

/// Whether a comment marks the zip as a console's.
fn is_consoles(comment: &[u8]) -> bool {
    comment.starts_with(b"XZP2")
}

fn central(data: &[u8], at: usize, is_console: bool) -> Result<Central, &'static str> {
    let header = data.get(at..).and_then(CentralHeader::decode).ok_or("is cut off")?;
    if header.signature != CENTRAL {
        return Err("has no record there");
    }
    let extra = if is_console { 0 } else { header.extra_length };
    let lengths = [header.name_length, extra, header.comment_length].map(usize::from);
    let end = at + CentralHeader::SIZE + lengths.iter().sum::<usize>();
    if end > data.len() {
        return Err("is cut off");
    }
    if [header.stored_size, header.size, header.local_offset].contains(&u32::MAX) {
        return Err("is of zip64, which no engine reads");
    }
    Ok(Central { header, at, end })
}

/// The last end record; if its comment contains another one by chance, the one that fits the directory.
fn find_end(data: &[u8]) -> Result<(usize, EndRecord)> {
    let ends = memchr::memmem::rfind_iter(data, &END);
    let whole = ends.filter_map(|at| {
        let end = EndRecord::decode(&data[at..])?;
        (at + EndRecord::SIZE + usize::from(end.comment_length) <= data.len()).then_some((at, end))
    });
    // A file within the pakfile may be a zip itself, so an end record far from the end is not searched for.
    let near = |at: usize| data.len() - at <= EndRecord::SIZE + usize::from(u16::MAX);
    let (mut last, mut empty) = (None, None);
    for (at, end) in whole.take_while(|(at, _)| near(*at)) {
        match check_end(data, at, &end) {
            // Zeros would match an empty directory anywhere.
            Ok(()) if end.count == 0 && index(end.directory_offset) != at => empty = empty.or(Some((at, end))),
            Ok(()) => return Ok((at, end)),
            Err(_) => last = last.or(Some((at, end))),
        }
    }
    let last = empty.or(last);
    last.ok_or_else(|| {
        let is_cut = data.starts_with(&LOCAL) || data.starts_with(&CENTRAL);
        let why = if is_cut { "is cut off" } else { "is not a zip" };
        malformed(format!("the pakfile {why}: it has no end record"))
    })
}

fn check_end(data: &[u8], at: usize, end: &EndRecord) -> Result<()> {
    let unsupported = |what: &str| Err(Error::new(ErrorKind::Unsupported, format!("the pakfile is {what}")));
    let has_locator = at.checked_sub(20).is_some_and(|before| data[before..].starts_with(&ZIP64_LOCATOR));
    if has_locator || end.directory_offset == u32::MAX || end.directory_size == u32::MAX {
        return unsupported("a zip64 file, which no engine reads");
    }
    if end.disk != 0 || end.directory_disk != 0 || end.count_here != end.count {
        return unsupported("one part of a zip on several disks, which no engine reads");
    }
    let (start, size) = (index(end.directory_offset), index(end.directory_size));
    let claim = || format!("the directory of {size} bytes at {start}");
    if start > at {
        return Err(malformed(format!("the pakfile is cut off: {} is after the end record at {at}", claim())));
    }
    if end.count > 0 && !data[start..at].starts_with(&CENTRAL) {
        let shift = at.checked_sub(size).filter(|real| data[*real..].starts_with(&CENTRAL));
        let why = shift.map_or(String::new(), |real| format!("; one that nothing points to begins at {real}"));
        return Err(malformed(format!("the pakfile contradicts itself: {} is not there{why}", claim())));
    }
    Ok(())
}
