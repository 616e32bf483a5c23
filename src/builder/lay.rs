//! Builds the file: lumps in order, then the directories inside lumps, then the words of the header.

use super::{Builder, Member, Part};
use crate::bytes::align_up;
use crate::dialect::Magic;
use crate::error::{Error, ErrorKind, Result};
use crate::file::directory::{BloodlinesTrailer, BspxEntry, BspxHeader, Entry, EntryFields, GameLumpEntry, XashHeader};
use crate::record::{Field, Record, encode_in};

/// A lump that was not set.
static NOTHING: Part = Part { bytes: Vec::new(), version: 0, unpacked: 0, gap: Vec::new(), alignment: None };

impl Builder {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a lump that the directory has no entry for, [`ErrorKind::TooLarge`] past 2 GiB.
    pub fn build(&self) -> Result<Vec<u8>> {
        let mut file = vec![0; self.shape.header_size()];
        if !self.extra.is_empty() {
            file.resize(file.len() + XashHeader::SIZE + crate::file::XASH_ENTRIES * Entry::SIZE, 0);
        }
        let mut fields =
            vec![EntryFields { offset: 0, length: 0, version: Some(0), unpacked: Some(0) }; self.shape.count];
        let game_lump = self.dialect.rules.game_lump.filter(|_| !self.members.is_empty());
        for index in self.file_order() {
            let part = self.lumps.get(&index).unwrap_or(&NOTHING);
            let Some(fields) = fields.get_mut(index) else {
                let message = format!("the directory has {} entries, and so no entry {index}", self.shape.count);
                return Err(Error::new(ErrorKind::Argument, message));
            };
            fields.version = Some(part.version);
            file.extend(&part.gap);
            let is_game_lump = game_lump == Some(index);
            if part.bytes.is_empty() && !is_game_lump {
                continue;
            }
            pad(&mut file, part.alignment.unwrap_or(4));
            fields.offset = offset(file.len())?;
            fields.unpacked = Some(offset(part.unpacked)?);
            if is_game_lump {
                self.put_members(&mut file)?;
            } else {
                file.extend(&part.bytes);
            }
            fields.length = offset(file.len())? - fields.offset;
        }
        self.put_extra(&mut file)?;
        self.put_bspx(&mut file)?;
        if self.trailer {
            let entities = self.dialect.rules.trailer_lump.and_then(|lump| fields.get(lump)).map(|lump| lump.offset);
            let entities_offset = u32::try_from(entities.unwrap_or(0)).unwrap_or(0);
            file.extend(BloodlinesTrailer { entities_offset, signature: *b"QnDbTm" }.encode());
        }
        file.extend(&self.tail);
        if self.padded && !self.trailer && self.tail.is_empty() {
            pad(&mut file, self.dialect.rules.end_alignment);
        }
        offset(file.len())?;

        let order = self.shape.order();
        let version_at = self.dialect.version_at();
        if let Magic::Ident(ident) = self.dialect.magic {
            file[..4].copy_from_slice(&ident);
        }
        file[version_at..version_at + 4].copy_from_slice(&order.word_bytes(self.version));
        if let Some(at) = self.dialect.revision_at {
            file[at..at + 4].copy_from_slice(&order.word_bytes(self.revision));
        }
        if let Some(at) = self.dialect.stored_checksum_at() {
            file[at..at + 4].copy_from_slice(&self.checksum.to_le_bytes());
        }
        for (index, fields) in fields.iter().enumerate() {
            let fields = self.entries.get(&index).unwrap_or(fields);
            let (at, entry) = (self.shape.entry_offset(index), self.shape.entry.write(*fields));
            file[at..at + entry.len()].copy_from_slice(&entry);
        }
        Ok(file)
    }

    /// Every lump once: in the order that was set, then in the dialect's order, then by index.
    fn file_order(&self) -> Vec<usize> {
        let mut order = self.order.clone();
        let rest = self.dialect.rules.write_order.iter().copied().chain(self.lumps.keys().copied());
        let known = |index: &usize| *index < self.shape.count || self.lumps.contains_key(index);
        for index in rest.filter(known) {
            if !order.contains(&index) {
                order.push(index);
            }
        }
        order
    }

    fn put_members(&self, file: &mut Vec<u8>) -> Result<()> {
        let (order, base) = (self.shape.order(), file.len());
        let is_relative = self.dialect.rules.relative_members;
        file.extend(order.word_bytes(offset(self.members.len())?));
        let mut at = file.len() + self.members.len() * GameLumpEntry::SIZE;
        let mut stored = Vec::new();
        for Member { id, version, flags, stored: bytes, length } in self.members.iter().cloned() {
            let is_end = id == [0; 4];
            let padding = if is_end { 0 } else { align_up(at, self.members_at) - at };
            stored.resize(stored.len() + padding, 0);
            at += padding;
            let place = match is_relative {
                true => at - base,
                false if is_end => 0,
                false => at,
            };
            let (id, offset, length) = (u32::from_be_bytes(id), offset(place)?, offset(length)?);
            file.extend(encode_in(order, &GameLumpEntry { id, flags, version, offset, length }));
            at += bytes.len();
            stored.extend(bytes);
        }
        file.extend(stored);
        Ok(())
    }

    fn put_extra(&self, file: &mut Vec<u8>) -> Result<()> {
        if self.extra.is_empty() {
            return Ok(());
        }
        let header = self.shape.header_size();
        let mut directory = XashHeader { magic: *b"XASH", version: 4 }.encode();
        for index in 0..crate::file::XASH_ENTRIES {
            let bytes = self.extra.get(&index).map_or(&[][..], |bytes| bytes);
            pad(file, 4);
            let (offset, length) = (offset(file.len())?, offset(bytes.len())?);
            directory.extend(Entry { offset, length }.encode());
            file.extend(bytes);
        }
        file[header..header + directory.len()].copy_from_slice(&directory);
        Ok(())
    }

    fn put_bspx(&self, file: &mut Vec<u8>) -> Result<()> {
        if self.bspx.is_empty() {
            return Ok(());
        }
        pad(file, 4);
        file.extend(BspxHeader { magic: *b"BSPX", count: offset(self.bspx.len())? }.encode());
        let mut at = file.len() + self.bspx.len() * BspxEntry::SIZE;
        for (name, bytes) in &self.bspx {
            let mut entry = BspxEntry { name: [0; 24], offset: offset(at)?, length: offset(bytes.len())? };
            entry.name.iter_mut().zip(name.bytes().take(23)).for_each(|(to, from)| *to = from);
            file.extend(entry.encode());
            at = align_up(at + bytes.len(), 4);
        }
        for (index, (_, bytes)) in self.bspx.iter().enumerate() {
            if index > 0 {
                pad(file, 4);
            }
            file.extend(bytes);
        }
        Ok(())
    }
}

fn pad(file: &mut Vec<u8>, alignment: usize) {
    file.resize(align_up(file.len(), alignment), 0);
}

fn offset(value: usize) -> Result<i32> {
    i32::try_from(value)
        .map_err(|_| Error::new(ErrorKind::TooLarge, format!("{value} bytes do not fit a file of at most 2 GiB")))
}
