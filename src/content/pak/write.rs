//! Writing: unedited bytes are copied as ranges of the source, in its order; new and changed files get headers as
//! Valve's writer makes them.

use std::ops::Range;

use super::entry::{self, LZMA};
use super::record::{ABOUT_DATA, CENTRAL, CentralHeader, DESCRIPTOR, EndRecord, HAS_DESCRIPTOR, LOCAL, LocalHeader};
use super::{Central, Entry, Method, Node, Pak, Source, Time};
use crate::bytes::{self, index};
use crate::file::lzma::Level;
use crate::record::{Field, Record};
use crate::{Data, Error, ErrorKind, Result, Rope};

// Writing: unedited bytes are copied as ranges of the source, in its order; only offsets are new.

/// Where the offset is in a record of the directory.
const OFFSET_AT: usize = CentralHeader::SIZE - 4;

/// A file has no more bytes than fit its signed offsets.
const MOST_BYTES: usize = 0x7FFF_FFFF;

impl<'a> Pak<'a> {
    /// The pakfile's bytes. Unedited parts share the memory of the bytes that were read.
    ///
    /// Files keep their order before the directory, and new ones follow the last of them; a replaced or renamed file
    /// keeps its position. Bytes that belong to no file stay between the same files.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if a file that is kept is not before the directory, so that it cannot be moved, and if
    /// readers would find another directory in the result;
    /// [`ErrorKind::TooLarge`] for more than 65,535 files or 2 GiB.
    pub fn to_rope(&self) -> Result<Rope<'a>> {
        let source = &*self.source;
        if !self.is_edited() {
            return Ok(Rope::from(source.data.clone()));
        }
        let too_large = |what: String| Error::new(ErrorKind::TooLarge, what);
        let Ok(count) = u16::try_from(self.len()) else {
            return Err(too_large(format!("{} files are more than the 65535 that a pakfile can hold", self.len())));
        };
        self.check_places()?;
        let mut out = Out { source: &source.data, rope: Rope::new(), old: 0..0, new: Vec::new() };
        let offsets = self.put_files(&mut out);
        if out.len() > MOST_BYTES {
            return Err(too_large(format!("the pakfile would have {} bytes, more than 2 GiB", out.len())));
        }
        let start = out.len();
        for (node, offset) in self.nodes.iter().zip(offsets) {
            // Checked above: every file lies before this place.
            let offset = u32::try_from(offset).unwrap_or(u32::MAX);
            match node {
                Node::Own(own) => out.fresh(&own.central_at(offset)),
                Node::Source(at) => {
                    let entry = &source.entries[bytes::index(*at)];
                    match entry.header.local_offset == offset {
                        true => out.old(entry.range()),
                        false => out.fresh(&with_offset(&source.data[entry.range()], offset)),
                    }
                }
            }
        }
        let size = out.len() - start;
        out.old(source.directory.end..source.end_at);
        // Other bytes that the old size counted are still counted.
        let beyond = source.counted_beyond().unwrap_or(0);
        let directory_size = bytes::short(size + beyond);
        let directory_offset = bytes::short(start);
        out.fresh(&EndRecord { count_here: count, count, directory_size, directory_offset, ..source.end }.encode());
        match source.data.is_empty() {
            true => out.fresh(source.comment()),
            false => out.old(source.end_at + EndRecord::SIZE..source.data.len()),
        }
        if out.len() > MOST_BYTES {
            return Err(too_large(format!("the pakfile would have {} bytes, more than 2 GiB", out.len())));
        }
        Ok(out.finish())
    }

    /// Everything before the directory; gives each file's offset.
    fn put_files(&self, out: &mut Out<'_, 'a>) -> Vec<usize> {
        let source = &*self.source;
        let mut offsets = vec![None; self.len()];
        // The nodes that are a file of the source, or replace one.
        let (mut live, mut successor) = (vec![None; source.entries.len()], vec![None; source.entries.len()]);
        for (index, node) in self.nodes.iter().enumerate() {
            match node {
                Node::Source(at) => live[bytes::index(*at)] = Some(index),
                Node::Own(own) => own.origin.into_iter().for_each(|at| successor[bytes::index(at)] = Some(index)),
            }
        }
        if live.iter().all(Option::is_some) && !self.is_sorted {
            // Nothing before the directory changes, so no local header needs to be read.
            out.old(0..source.directory.start);
            for (entry, node) in source.entries.iter().zip(live) {
                node.into_iter().for_each(|node| offsets[node] = Some(index(entry.header.local_offset)));
            }
        } else {
            let (clusters, after) = clusters(source);
            for part in self.parts(clusters, &live, &successor) {
                match part {
                    Part::New(node) => self.put_own(node, out, &mut offsets),
                    Part::Old(cluster) => self.put_cluster(cluster, &live, &successor, out, &mut offsets),
                }
            }
            out.old(after..source.directory.start);
        }
        for node in 0..self.len() {
            self.put_own(node, out, &mut offsets);
        }
        offsets.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// The parts in the order in which they are written: that of the source, or that of the directory. New files that
    /// are written after all others are not among them.
    fn parts(&self, clusters: Vec<Cluster>, live: &[Option<usize>], successor: &[Option<usize>]) -> Vec<Part> {
        let old = clusters.into_iter().map(Part::Old);
        if !self.is_sorted {
            return old.collect();
        }
        let is_new = |node: &usize| matches!(&self.nodes[*node], Node::Own(own) if own.origin.is_none());
        let mut parts: Vec<Part> = old.chain((0..self.len()).filter(is_new).map(Part::New)).collect();
        parts.sort_by_key(|part| match part {
            Part::New(node) => *node,
            Part::Old(cluster) => {
                let nodes = cluster.members.iter().filter_map(|at| live[*at].or(successor[*at]));
                nodes.min().unwrap_or(usize::MAX)
            }
        });
        parts
    }

    /// Writes the files of a cluster that are still there, the bytes before them, and the files that replace others.
    fn put_cluster(
        &self,
        Cluster { gap, range, members }: Cluster,
        live: &[Option<usize>],
        successor: &[Option<usize>],
        out: &mut Out<'_, 'a>,
        offsets: &mut [Option<usize>],
    ) {
        let source = &*self.source;
        out.old(gap);
        if members.iter().any(|at| live[*at].is_some()) {
            let moved = out.len();
            out.old(range.clone());
            for at in members {
                let offset = moved + index(source.entries[at].header.local_offset) - range.start;
                live[at].into_iter().for_each(|node| offsets[node] = Some(offset));
            }
            return;
        }
        // Bytes that only engines read as the end of a removed file may belong to another file.
        let mut end = range.start;
        for at in members {
            let own = own_extent(source, &source.entries[at]).unwrap_or(end..end);
            out.old(end..own.start.max(end));
            end = own.end.max(end);
            successor[at].into_iter().for_each(|node| self.put_own(node, out, offsets));
        }
        out.old(end..range.end);
    }

    /// Writes a new or changed file, unless its bytes are there already.
    fn put_own(&self, node: usize, out: &mut Out<'_, 'a>, offsets: &mut [Option<usize>]) {
        if let Node::Own(own) = &self.nodes[node]
            && offsets[node].is_none()
        {
            offsets[node] = Some(out.len());
            out.fresh(&own.local);
            out.data(own.body.clone());
        }
    }

    fn check_places(&self) -> Result<()> {
        for (index, node) in self.nodes.iter().enumerate() {
            if let Node::Source(at) = node
                && before_directory(&self.source, &self.source.entries[bytes::index(*at)]).is_none()
            {
                return Err(misplaced(&self.view(index)));
            }
        }
        Ok(())
    }
}

impl Own<'_> {
    /// Whether it is equal to the source.
    pub(super) fn is_as_in(&self, source: &Source<'_>) -> bool {
        let Some(entry) = self.origin.map(|at| &source.entries[bytes::index(at)]) else { return false };
        let whole = own_extent(source, entry).map(|range| &source.data[range]);
        let (head, body) = (&self.local[..], &self.body[..]);
        let is_record = whole.is_some_and(|whole| whole.strip_prefix(head).is_some_and(|rest| rest == body));
        is_record && self.central_at(entry.header.local_offset) == source.data[entry.range()]
    }
}

/// The error for a file whose bytes cannot be moved with the others.
pub(super) fn misplaced(entry: &Entry<'_, '_>) -> Error {
    let why = "is not before the directory, so it cannot be moved with the other files".to_owned();
    entry.error(ErrorKind::Refused, why).with_hint("remove it first")
}

/// A record of the directory with another offset in it.
pub(super) fn with_offset(record: &[u8], offset: u32) -> Vec<u8> {
    let mut record = record.to_vec();
    record[OFFSET_AT..OFFSET_AT + 4].copy_from_slice(&offset.to_le_bytes());
    record
}

/// A file's local header and data by the lengths in the directory, if they are before the directory.
pub(super) fn before_directory(source: &Source<'_>, entry: &Central) -> Option<Range<usize>> {
    entry.claimed().map(|(range, _)| range).filter(|range| range.end <= source.directory.start)
}

/// The bytes of a file as all readers other than engines find it: its local header, its data, its data descriptor. They
/// are removed with the file. Without a local header the length is that of the directory. `None` if the bytes are not
/// before the directory.
pub(super) fn own_extent(source: &Source<'_>, entry: &Central) -> Option<Range<usize>> {
    let Some(local) = source.local(entry) else { return before_directory(source, entry) };
    let start = index(entry.header.local_offset);
    let names = usize::from(local.name_length) + usize::from(local.extra_length);
    let data_end = start + LocalHeader::SIZE + names + index(entry.header.stored_size);
    let descriptor = match local.flags & HAS_DESCRIPTOR != 0 {
        true if source.data.get(data_end..).is_some_and(|rest| rest.starts_with(&DESCRIPTOR)) => 16,
        true => 12,
        false => 0,
    };
    let end = data_end + descriptor;
    (end <= source.directory.start).then_some(start..end)
}

/// All bytes that any reader takes for a part of the file. They stay together as long as the file stays.
pub(super) fn extent(source: &Source<'_>, entry: &Central) -> Option<Range<usize>> {
    let (own, claimed) = (own_extent(source, entry), before_directory(source, entry));
    let end = own.map(|range| range.end).max(claimed.map(|range| range.end))?;
    Some(index(entry.header.local_offset)..end)
}

/// Files whose bytes overlap; they stay or are removed together.
struct Cluster {
    /// The bytes before them that belong to no file.
    gap: Range<usize>,
    range: Range<usize>,
    members: Vec<usize>,
}

/// What is written before the directory: files of the source, or the new file of a node.
enum Part {
    Old(Cluster),
    New(usize),
}

/// The files in the order of their places, and where the last of them ends.
fn clusters(source: &Source<'_>) -> (Vec<Cluster>, usize) {
    let extents = source.entries.iter().enumerate();
    let mut extents: Vec<_> = extents.filter_map(|(at, entry)| Some((extent(source, entry)?, at))).collect();
    extents.sort_by_key(|(range, _)| range.start);
    let mut clusters: Vec<Cluster> = Vec::with_capacity(extents.len());
    let mut end = 0;
    for (range, at) in extents {
        match clusters.last_mut() {
            Some(last) if range.start < end => {
                last.range.end = end.max(range.end);
                last.members.push(at);
            }
            _ => clusters.push(Cluster { gap: end..range.start, range: range.clone(), members: vec![at] }),
        }
        end = end.max(range.end);
    }
    (clusters, end)
}

/// A rope under construction: adjacent ranges of the source become one part, and so do new bytes.
struct Out<'s, 'a> {
    source: &'s Data<'a>,
    rope: Rope<'a>,
    old: Range<usize>,
    new: Vec<u8>,
}

impl<'a> Out<'_, 'a> {
    fn len(&self) -> usize {
        self.rope.len() + self.old.len() + self.new.len()
    }

    /// Adds bytes of the source.
    fn old(&mut self, range: Range<usize>) {
        if !self.new.is_empty() || self.old.end != range.start {
            self.flush();
            self.old = range;
        } else {
            self.old.end = range.end;
        }
    }

    /// Adds new bytes.
    fn fresh(&mut self, bytes: &[u8]) {
        if !self.old.is_empty() {
            self.flush();
        }
        self.new.extend_from_slice(bytes);
    }

    fn data(&mut self, data: Data<'a>) {
        self.flush();
        self.rope.push(data);
    }

    fn flush(&mut self) {
        self.rope.push(self.source.slice(self.old.clone()));
        self.rope.push(std::mem::take(&mut self.new));
        self.old = self.old.end..self.old.end;
    }

    fn finish(mut self) -> Rope<'a> {
        self.flush();
        self.rope
    }
}

// New and changed files: their headers, made as Valve's writer makes them.

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
        Ok(Content { method: entry::STORED, crc: crc32fast::hash(&data), size, stored: data })
    }

    fn version_needed(&self) -> u16 {
        if self.method == LZMA { entry::LZMA_NEEDS } else { entry::STORED_NEEDS }
    }

    fn stored_size(&self) -> u32 {
        // No file is stored in more bytes than it has.
        u32::try_from(self.stored.len()).unwrap_or(u32::MAX)
    }
}

impl<'a> Own<'a> {
    /// A file as Valve's writer makes it, but for flags that say how its name is read.
    pub(super) fn new(name: &[u8], flags: u16, origin: Option<u32>, content: Content<'a>) -> Result<Self> {
        let header = CentralHeader {
            signature: CENTRAL,
            version_made_by: MADE_BY,
            version_needed: content.version_needed(),
            flags,
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
                let misplaced = || misplaced(&entry);
                let whole = own_extent(&pak.source, record).ok_or_else(misplaced)?;
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
        with_offset(&self.central, offset)
    }
}

fn name_length(name: &[u8]) -> Result<u16> {
    u16::try_from(name.len()).map_err(|_| Error::new(ErrorKind::TooLarge, "the name is longer than 65535 bytes"))
}

// New bytes for a file, in the records that it has.

impl<'a> Pak<'a> {
    /// Gives a file new bytes; all fields of its records that do not describe the data stay: the time, attributes, the
    /// extra field, the comment. A compressed file is compressed again, even if that makes it larger. Setting the bytes
    /// that it has is not an edit. [`Pak::replace`] makes the records anew instead.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files;
    /// [`ErrorKind::Refused`] for a console's pakfile, and if the two headers of the file
    /// contradict each other.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.vmt", "one")?;
    /// pak.update(0, "two")?;
    /// assert_eq!(&*pak.get(0).unwrap().data()?, b"two");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn update(&mut self, index: usize, data: impl Into<Data<'a>>) -> Result<()> {
        let data = data.into();
        self.check_editable()?;
        let entry = self.entry(index)?;
        if entry.data().is_ok_and(|old| *old == *data) {
            return Ok(());
        }
        entry.check_lengths()?;
        let mut content = Content::stored(data)?;
        if entry.method() == Method::Lzma {
            let packed = Data::from(entry::pack(&content.stored, Level::default())?);
            content = Content { method: LZMA, stored: packed, ..content };
        }
        let own = Own::restored(&entry, self.origin(index), content);
        self.nodes[index] = self.settled(own);
        Ok(())
    }
}
