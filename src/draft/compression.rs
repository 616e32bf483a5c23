//! How slots are stored: raw or compressed. Their decompressed bytes do not change.

use super::Draft;
use crate::bsp::Bsp;
use crate::bytes::{Data, Rope};
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::lzma::Level;
use crate::file::{self, Edit, Slot, SlotId};

/// How the bytes of a slot are stored.
///
/// ```
/// use bspkit::{Bsp, Builder, Compression, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).compressed_lump(0, b"{\n}\n\0")?.build()?;
/// let map = Bsp::parse(&bytes)?;
/// assert_eq!(map.draft().compression(map.slot("entities")?.id), Compression::Lzma);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not compressed.
    Raw,
    /// Compressed, as [`crate::file::lzma::compress`] does it.
    Lzma,
}

/// The new stored bytes of a slot whose compression changes.
#[derive(Clone, Debug)]
pub(super) enum Stored<'a> {
    Raw(Data<'a>),
    /// The bytes, and their compressed form. If the bytes have changed since, they are compressed when the draft is
    /// planned.
    Lzma {
        of: Data<'a>,
        packed: Data<'a>,
    },
}

impl<'a> Draft<'a> {
    /// How a slot will be stored. An empty slot is never compressed in the file.
    pub fn compression(&self, slot: SlotId) -> Compression {
        match self.compressions.get(&slot) {
            Some(Stored::Raw(_)) => Compression::Raw,
            Some(Stored::Lzma { .. }) => Compression::Lzma,
            None => self.old_compression(slot),
        }
    }

    /// Compresses or decompresses a slot; its decompressed bytes do not change. A slot that is stored in this way
    /// already keeps its stored bytes, since other encoders give other bytes.
    ///
    /// The first compressed member of a game lump adds an entry of zeros to the end of the list if it has none, since
    /// readers need it to measure the last member. The entry is kept when a saved map is decompressed.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such slot; [`ErrorKind::Refused`] for slots that are never compressed
    /// as a whole: slots of games without Source's engine, the game lump, the pakfile; otherwise as [`Bsp::bytes`] and
    /// [`crate::file::lzma::compress`].
    ///
    /// ```
    /// use bspkit::{Bsp, Builder, Layout, Compression, dialect};
    /// let bytes = Builder::new(&dialect::SOURCE).lump(1, [7; 400]).build()?;
    /// let map = Bsp::parse(&bytes)?;
    /// let planes = map.slot("planes")?.id;
    /// let mut draft = map.draft();
    /// draft.set_compression(planes, Compression::Lzma)?;
    /// let saved = draft.plan(Layout::Repack)?.to_vec();
    ///
    /// let packed = Bsp::parse(&saved)?;
    /// assert!(packed.stored(planes).len() < 40);
    /// assert_eq!(*packed.bytes(planes)?, [7; 400]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn set_compression(&mut self, slot: SlotId, compression: Compression) -> Result<()> {
        if let Some(reason) = self.never_compressed(slot)? {
            return match compression {
                Compression::Raw => Ok(()),
                Compression::Lzma => Err(refused(reason, &self.bsp, slot)),
            };
        }
        if compression == self.compression(slot) {
            return Ok(());
        }
        if compression == self.old_compression(slot) {
            self.compressions.remove(&slot);
            return Ok(());
        }
        let stored = match compression {
            Compression::Raw => Stored::Raw(self.bsp.bytes(slot)?),
            Compression::Lzma => {
                let of = self.bytes(slot)?;
                let packed = Data::from(self.bsp.pack(&of, Level::default())?);
                Stored::Lzma { of, packed }
            }
        };
        self.compressions.insert(slot, stored);
        Ok(())
    }

    /// As [`Draft::set_compression`], with bytes that the caller has compressed already: `packed` is the compressed
    /// form of `of`.
    pub(crate) fn set_compressed(&mut self, slot: SlotId, of: Data<'a>, packed: Data<'a>) {
        if self.old_compression(slot) == Compression::Raw {
            self.compressions.insert(slot, Stored::Lzma { of, packed });
        }
    }

    /// As [`Draft::set_compression`], with bytes that the caller has decompressed already.
    pub(crate) fn set_decompressed(&mut self, slot: SlotId, unpacked: Data<'a>) {
        match self.old_compression(slot) {
            Compression::Raw => drop(self.compressions.remove(&slot)),
            Compression::Lzma => drop(self.compressions.insert(slot, Stored::Raw(unpacked))),
        }
    }

    /// Why a slot cannot be compressed, whatever its bytes are.
    pub(crate) fn never_compressed(&self, id: SlotId) -> Result<Option<&'static str>> {
        let slot = self.slot(id)?;
        let role = self.bsp.role_of(id);
        Ok(match id {
            SlotId::Lump(_) if slot.words.unpacked.is_none() => Some("no engine of this family reads compressed lumps"),
            SlotId::Lump(_) if role == Some(Role::GameLump) => Some("the game lump is compressed member by member"),
            SlotId::Lump(_) if role == Some(Role::Pak) => Some("the pakfile is compressed file by file"),
            SlotId::Game(_) if is_end(slot) => Some("it only ends the list of members"),
            SlotId::Lump(_) | SlotId::Game(_) => None,
            _ => Some("no engine reads it compressed"),
        })
    }

    pub(super) fn old_compression(&self, slot: SlotId) -> Compression {
        if self.bsp.decompressed_size(slot).is_some() { Compression::Lzma } else { Compression::Raw }
    }

    /// The edit of a slot: new bytes, or the old bytes with the other compression. A slot that was compressed is
    /// compressed again.
    pub(super) fn edit_of(&self, slot: SlotId, new: Option<Rope<'a>>) -> Result<Option<Edit<'a>>> {
        let (was_packed, is_new) = (self.old_compression(slot) == Compression::Lzma, new.is_some());
        let (bytes, ready) = match (new, self.compressions.get(&slot)) {
            (new, Some(Stored::Raw(old))) => {
                let stored = new.unwrap_or_else(|| Rope::from(old.clone()));
                return Ok(Some(Edit { slot, stored, unpacked: Some(0) }));
            }
            (Some(bytes), Some(Stored::Lzma { of, packed })) => {
                let ready = (bytes == **of).then(|| packed.clone());
                (bytes, ready)
            }
            (None, Some(Stored::Lzma { of, packed })) => {
                // The draft may have had other bytes when the compression was set.
                let old = self.bsp.bytes(slot)?;
                let ready = (Rope::from(old.clone()) == **of).then(|| packed.clone());
                (Rope::from(old), ready)
            }
            (Some(bytes), None) if was_packed => (bytes, None),
            // If the old bytes did not agree with the directory's claim, the claim is not repeated for the new bytes.
            (Some(stored), None) => {
                let unpacked = self.bsp.compression_oddity(slot).map(|_| 0);
                return Ok(Some(Edit { slot, stored, unpacked }));
            }
            (None, None) => return Ok(None),
        };
        if bytes.is_empty() {
            let edit = Edit { slot, stored: bytes, unpacked: was_packed.then_some(0) };
            return Ok((was_packed || is_new).then_some(edit));
        }
        let unpacked = Some(bytes.len());
        let stored = match ready {
            Some(packed) => Rope::from(packed),
            None => Rope::from(self.bsp.pack(&bytes.to_data(), Level::default())?),
        };
        Ok(Some(Edit { slot, stored, unpacked }))
    }
}

/// Whether a slot is one of the empty members that end the list of a game lump.
pub(super) fn is_end(slot: &Slot) -> bool {
    matches!(slot.id, SlotId::Game(_)) && slot.name == file::member_name(0)
}

pub(super) fn refused(message: &str, bsp: &Bsp<'_>, slot: SlotId) -> Error {
    let name = bsp.container().slot(slot).map_or("", |slot| slot.name.as_str());
    Error::new(ErrorKind::Refused, message).at(Place::default().lump(name))
}
