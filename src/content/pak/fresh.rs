//! New and changed files: their headers, made as Valve's writer makes them.

use std::ops::Range;

use super::method::{self, LZMA};
use super::record::{ABOUT_DATA, CENTRAL, CentralHeader, LOCAL, LocalHeader};
use super::{Entry, Node, Pak, Time, write};
use crate::bytes::{self, index};
use crate::record::{Field, Record};
use crate::{Data, Error, ErrorKind, Result};

/// The version of the writer in the records of Valve's writer.
const MADE_BY: u16 = 20;

/// A file with its two headers.
#[derive(Debug)]
pub(super) struct Own<'a> {
    /// The file of the source that it replaces.
    pub(super) origin: Option<u32>,
    pub(super) header: CentralHeader,
    /// The record of the directory, without the offset in it.
    pub(super) central: Vec<u8>,
    /// The local header with the name, at least.
    pub(super) local: Vec<u8>,
    /// The bytes that follow: the data, and the bytes around it in the source.
    pub(super) body: Data<'a>,
    /// The range of the data in them.
    pub(super) payload: Range<usize>,
}

/// Data in stored form, with the fields of the headers that describe it.
#[derive(Debug)]
pub(super) struct Content<'a> {
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) size: u32,
    pub(super) stored: Data<'a>,
}

impl<'a> Content<'a> {
    /// Data that is stored as it is.
    pub(super) fn stored(data: Data<'a>) -> Result<Self> {
        let too_large = |_| Error::new(ErrorKind::TooLarge, format!("{} bytes do not fit a pakfile", data.len()));
        let size = u32::try_from(data.len()).map_err(too_large)?;
        Ok(Content { method: method::STORED, crc: crc32fast::hash(&data), size, stored: data })
    }

    fn version_needed(&self) -> u16 {
        if self.method == LZMA { method::LZMA_NEEDS } else { method::STORED_NEEDS }
    }

    fn stored_size(&self) -> u32 {
        // No file is stored in more bytes than it has.
        u32::try_from(self.stored.len()).unwrap_or(u32::MAX)
    }
}

impl<'a> Own<'a> {
    /// A file as Valve's writer makes it.
    pub(super) fn new(name: &[u8], origin: Option<u32>, content: Content<'a>) -> Result<Self> {
        let header = CentralHeader {
            signature: CENTRAL,
            version_made_by: MADE_BY,
            version_needed: content.version_needed(),
            flags: 0,
            method: content.method,
            time: 0,
            date: 0,
            crc: content.crc,
            stored_size: content.stored_size(),
            size: content.size,
            name_length: name_length(name)?,
            extra_length: 0,
            comment_length: 0,
            disk: 0,
            internal_attributes: 0,
            external_attributes: 0,
            local_offset: 0,
        };
        Ok(Own::with(header, origin, name, &[], content.stored))
    }

    /// A file with other data, or with data that is stored in another way; times, attributes and so on stay.
    pub(super) fn restored(entry: &Entry<'_, 'a>, origin: Option<u32>, content: Content<'a>) -> Self {
        let is_stored_as_before = content.method == entry.record().method;
        let version_needed = if is_stored_as_before { entry.record().version_needed } else { content.version_needed() };
        let header = CentralHeader {
            version_needed,
            flags: entry.record().flags & !ABOUT_DATA,
            method: content.method,
            crc: content.crc,
            stored_size: content.stored_size(),
            size: content.size,
            local_offset: 0,
            ..*entry.record()
        };
        let behind_name = CentralHeader::SIZE + entry.name().len();
        Own::with(header, origin, entry.name(), &entry.central()[behind_name..], content.stored)
    }

    /// The headers' bytes: `rest` is the extra field and the comment.
    fn with(header: CentralHeader, origin: Option<u32>, name: &[u8], rest: &[u8], stored: Data<'a>) -> Self {
        let local = LocalHeader {
            signature: LOCAL,
            version_needed: header.version_needed,
            flags: header.flags,
            method: header.method,
            time: header.time,
            date: header.date,
            crc: header.crc,
            stored_size: header.stored_size,
            size: header.size,
            name_length: header.name_length,
            extra_length: header.extra_length,
        };
        let extra = &rest[..usize::from(header.extra_length)];
        let local = [&local.encode(), name, extra].concat();
        let central = [&header.encode(), name, rest].concat();
        Own { origin, header, central, local, payload: 0..stored.len(), body: stored }
    }

    /// A file with another name or another time, and with all else as it was.
    pub(super) fn altered(pak: &Pak<'a>, at: usize, name: &[u8], Time { date, time }: Time) -> Result<Self> {
        let entry = pak.view(at);
        entry.check_lengths()?;
        let mut header = CentralHeader { name_length: name_length(name)?, date, time, ..*entry.record() };
        header.local_offset = 0;
        let old_name = entry.name().len();
        let central = [&header.encode(), name, &entry.central()[CentralHeader::SIZE + old_name..]].concat();
        let lies = || entry.error(ErrorKind::Refused, "has a local header with another name".to_owned());
        let local = entry.local().filter(|local| usize::from(local.name_length) == old_name).ok_or_else(lies)?;
        // The local header keeps a time of its own, unless the time is what changes.
        let (date, time) = if entry.time() == (Time { date, time }) { (local.date, local.time) } else { (date, time) };
        let head = [&LocalHeader { name_length: header.name_length, date, time, ..local }.encode(), name].concat();
        match &pak.nodes[at] {
            Node::Own(own) => {
                let local = [&head, &own.local[LocalHeader::SIZE + old_name..]].concat();
                let (body, payload) = (own.body.clone(), own.payload.clone());
                Ok(Own { origin: own.origin, header, central, local, body, payload })
            }
            Node::Source(source) => {
                let record = &pak.source.entries[bytes::index(*source)];
                let stored = entry.stored()?.len();
                let start = index(record.header.local_offset) + LocalHeader::SIZE + old_name;
                let misplaced = || write::misplaced(&entry);
                let whole = write::own_extent(&pak.source, record).ok_or_else(misplaced)?;
                let body = pak.source.data.slice(start..whole.end);
                let payload = usize::from(header.extra_length);
                let payload = payload..payload + stored;
                Ok(Own { origin: Some(*source), header, central, local: head, body, payload })
            }
        }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.central[CentralHeader::SIZE..][..usize::from(self.header.name_length)]
    }

    /// The record of the directory with the offset in it.
    pub(super) fn central_at(&self, offset: u32) -> Vec<u8> {
        write::with_offset(&self.central, offset)
    }
}

fn name_length(name: &[u8]) -> Result<u16> {
    u16::try_from(name.len()).map_err(|_| Error::new(ErrorKind::TooLarge, "the name is longer than 65535 bytes"))
}
