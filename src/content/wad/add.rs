//! New entries. They are laid after all that is there, each at a multiple of 4, and the new directory after them.

use std::collections::HashMap;

use super::{BARE, MIPTEX, Wad, WadEntry, WadHeader};
use crate::bytes::{Data, escaped, index};
use crate::content::textures::{LEVELS, Miptex};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Field, Name, Record};

/// Where lumps begin.
const ALIGNMENT: usize = 4;

impl Wad<'_> {
    /// A file without entries: GoldSrc's, whose textures have palettes, or Quake's.
    pub fn new(has_palettes: bool) -> Wad<'static> {
        let magic = if has_palettes { *b"WAD3" } else { *b"WAD2" };
        let header = WadHeader { magic, count: 0, offset: i32::try_from(WadHeader::SIZE).unwrap_or_default() };
        let bytes = Data::from(header.encode());
        Wad { bytes, header, entries: Vec::new(), names: HashMap::new(), added: Vec::new() }
    }

    /// Adds a texture with its pixels, byte for byte. Returns false, and adds nothing, if an entry of this name has the
    /// same image, smaller copies and palette.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if an entry of this name is another one, for a texture without pixels or without a name,
    /// and for one of another game: with a palette or without; [`ErrorKind::TooLarge`] if the file would be larger than
    /// 2 GiB. As [`Wad::miptex`] if the entry of this name cannot be read.
    pub fn add(&mut self, texture: &Miptex<'_>) -> Result<bool> {
        let name = escaped(texture.name()).to_string();
        let refused = |why: String| Err(Error::new(ErrorKind::Refused, why));
        if texture.has_palette() != self.has_palettes() {
            let has = if texture.has_palette() { "a palette" } else { "no palette" };
            let magic = String::from_utf8_lossy(&self.header.magic).into_owned();
            return refused(format!("`{name}` has {has}, and does not belong into a file of kind {magic}"));
        }
        if !texture.is_embedded() {
            return refused(format!("`{name}` has no pixels"));
        }
        if let Some(at) = self.find(texture.name()) {
            return match is_same(&self.miptex(at)?, texture) {
                true => Ok(false),
                false => refused(format!("the WAD file has another texture with the name `{name}`")),
            };
        }
        let mut own = Name([0; 16]);
        if texture.name().is_empty() || !own.set(texture.name()) {
            return refused(format!("a WAD file cannot have the name `{name}`"));
        }
        let too_large = || Error::new(ErrorKind::TooLarge, "a WAD file cannot be larger than 2 GiB");
        let bytes = texture.bytes().to_vec();
        let start = self.end();
        let directory = (self.entries.len() + 1).saturating_mul(WadEntry::SIZE);
        let end = start.saturating_add(bytes.len()).saturating_add(ALIGNMENT).saturating_add(directory);
        let word = |number: usize| i32::try_from(number).map_err(|_| too_large());
        let (offset, size, _) = (word(start)?, word(bytes.len())?, word(end)?);
        let kind = if self.has_palettes() { MIPTEX } else { BARE };
        let entry = WadEntry { offset, stored: size, size, kind, compression: 0, padding: [0; 2], name: own };
        self.names.insert(texture.name().to_ascii_lowercase(), self.entries.len());
        self.entries.push(entry);
        self.added.push(bytes);
        Ok(true)
    }

    /// Whether textures were added.
    pub fn is_edited(&self) -> bool {
        !self.added.is_empty()
    }

    /// The textures that were added, in their order.
    ///
    /// # Errors
    /// As [`Wad::miptex`].
    pub fn added(&self) -> impl Iterator<Item = Result<Miptex<'_>>> {
        (self.entries.len() - self.added.len()..self.entries.len()).map(|at| self.miptex(at))
    }

    /// The file. Without an addition these are the bytes that were read. A directory at the end of the old file gives
    /// way to the new one; one at another place stays, unused.
    pub fn to_bytes(&self) -> Vec<u8> {
        if !self.is_edited() {
            return self.bytes.to_vec();
        }
        let mut out = self.bytes[..self.old_end()].to_vec();
        for bytes in &self.added {
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
            out.extend_from_slice(bytes);
        }
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        // `add` has checked that both numbers fit.
        let [count, offset] = [self.entries.len(), out.len()].map(|number| i32::try_from(number).unwrap_or_default());
        let header = WadHeader { count, offset, ..self.header };
        out[..WadHeader::SIZE].copy_from_slice(&header.encode());
        self.entries.iter().for_each(|entry| out.extend_from_slice(&entry.encode()));
        out
    }

    /// Where the next entry begins.
    fn end(&self) -> usize {
        let last = self.entries.last().filter(|_| self.is_edited());
        let end = last.map_or_else(|| self.old_end(), |last| place(last.offset) + place(last.stored));
        end.next_multiple_of(ALIGNMENT)
    }

    /// Where the old bytes end that stay: before the directory, if it is the last thing in the file.
    fn old_end(&self) -> usize {
        let start = place(self.header.offset);
        let old = &self.entries[..self.entries.len() - self.added.len()];
        let is_last = start + old.len() * WadEntry::SIZE == self.bytes.len() && start >= WadHeader::SIZE;
        let is_free = old.iter().all(|entry| place(entry.offset).saturating_add(place(entry.stored)) <= start);
        if is_last && is_free { start } else { self.bytes.len() }
    }
}

/// A word as an offset or a size; a negative one is 0.
fn place(word: i32) -> usize {
    u32::try_from(word).map_or(0, index)
}

/// Whether two textures look the same, in all sizes. Padding does not count, nor how the name is written.
fn is_same(one: &Miptex<'_>, other: &Miptex<'_>) -> bool {
    let size = |texture: &Miptex<'_>| (texture.width(), texture.height());
    size(one) == size(other)
        && one.palette() == other.palette()
        && (0..LEVELS).all(|level| one.pixels(level) == other.pixels(level))
}
