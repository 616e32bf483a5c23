//! Drafts: pending edits of a map. Nothing is placed before [`Draft::plan`], nothing written before
//! [`crate::Plan::save`].

use indexmap::IndexMap;

use crate::bsp::Bsp;
use crate::bytes::{Data, Rope};
use crate::content::entities::Entities;
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{self, Edit, Edits, Layout, Plan, Slot, SlotId, lzma};

/// Pending edits of a map.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// let mut draft = Bsp::parse(&bytes)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let saved = draft.plan(Layout::Keep)?.to_vec();
///
/// let again = Bsp::parse(&saved)?;
/// let worldspawn = again.entities()?.get(0).and_then(|entity| entity.get("message").map(<[u8]>::to_vec));
/// assert_eq!(worldspawn.as_deref(), Some(&b"The Place"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    bsp: Bsp<'a>,
    /// New bytes of slots, decompressed; never equal to the old ones.
    slots: IndexMap<SlotId, Rope<'a>>,
    /// Slots that are to be stored in another way than they were.
    packings: IndexMap<SlotId, Stored<'a>>,
    /// Versions of lumps; never equal to the old ones.
    versions: IndexMap<SlotId, i32>,
    /// The entity text, once somebody asked for it.
    entities: Option<Entities<'a>>,
}

/// How the bytes of a slot are stored.
///
/// ```
/// use bspkit::{Bsp, Builder, Packing, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).compressed_lump(0, b"{\n}\n\0")?.build()?;
/// let map = Bsp::parse(&bytes)?;
/// assert_eq!(map.draft().packing(map.slot("entities")?.id), Packing::Lzma);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// As they are.
    Raw,
    /// Compressed, as [`lzma::pack`] does it.
    Lzma,
}

/// A slot's bytes in a packing that it did not have.
#[derive(Clone, Debug)]
enum Stored<'a> {
    Raw(Data<'a>),
    /// The bytes, and what they were compressed to; other bytes are compressed when the draft is planned.
    Lzma {
        of: Data<'a>,
        packed: Data<'a>,
    },
}

impl<'a> Bsp<'a> {
    /// Begins to edit.
    pub fn draft(&self) -> Draft<'a> {
        let (slots, packings, versions) = Default::default();
        Draft { bsp: self.clone(), slots, packings, versions, entities: None }
    }
}

impl<'a> Draft<'a> {
    /// The map that is edited.
    pub fn bsp(&self) -> &Bsp<'a> {
        &self.bsp
    }

    /// A slot's bytes as the draft has them, decompressed.
    ///
    /// # Errors
    /// As [`Bsp::bytes`].
    pub fn bytes(&self, slot: SlotId) -> Result<Data<'a>> {
        match (&self.entities, self.slots.get(&slot)) {
            (Some(entities), _) if Some(slot) == self.entities_id() && entities.is_edited() => {
                Ok(Data::from(entities.to_bytes()))
            }
            (_, Some(bytes)) => Ok(bytes.to_data()),
            _ => self.bsp.bytes(slot),
        }
    }

    /// Gives a slot new bytes, decompressed; the same bytes as before are no edit.
    ///
    /// The bytes of a game lump say offsets as if the lump stayed where it is.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has no such slot.
    pub fn set(&mut self, slot: SlotId, bytes: impl Into<Rope<'a>>) -> Result<()> {
        let bytes = bytes.into();
        self.slot(slot)?;
        if Some(slot) == self.entities_id() {
            self.entities = None;
        }
        // What cannot be decompressed differs from anything.
        if self.bsp.bytes(slot).is_ok_and(|old| bytes == *old) {
            self.slots.shift_remove(&slot);
        } else {
            self.slots.insert(slot, bytes);
        }
        Ok(())
    }

    /// How a slot is to be stored; a slot without bytes is never compressed in the file.
    pub fn packing(&self, slot: SlotId) -> Packing {
        match self.packings.get(&slot) {
            Some(Stored::Raw(_)) => Packing::Raw,
            Some(Stored::Lzma { .. }) => Packing::Lzma,
            None => self.old_packing(slot),
        }
    }

    /// Stores a slot in another way; its bytes stay what they are. What is stored so already keeps its stored bytes,
    /// as other encoders give others.
    ///
    /// The first compressed member of a game lump adds an entry of zeros to the list where none ends it, since readers
    /// need it to measure the last member. It stays when a saved map is decompressed.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has no such slot; [`ErrorKind::Refused`] for slots that are never
    /// compressed as a whole: those of other games than Source's, the game lump, the pakfile; as [`Bsp::bytes`] and
    /// [`lzma::pack`].
    ///
    /// ```
    /// use bspkit::{Bsp, Builder, Layout, Packing, dialect};
    /// let bytes = Builder::new(&dialect::SOURCE).lump(1, [7; 400]).build()?;
    /// let map = Bsp::parse(&bytes)?;
    /// let planes = map.slot("planes")?.id;
    /// let mut draft = map.draft();
    /// draft.set_packing(planes, Packing::Lzma)?;
    /// let saved = draft.plan(Layout::Repack)?.to_vec();
    ///
    /// let packed = Bsp::parse(&saved)?;
    /// assert!(packed.stored(planes).len() < 40);
    /// assert_eq!(*packed.bytes(planes)?, [7; 400]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn set_packing(&mut self, slot: SlotId, packing: Packing) -> Result<()> {
        if let Some(reason) = self.never_packed(slot)? {
            return match packing {
                Packing::Raw => Ok(()),
                Packing::Lzma => Err(refused(reason, &self.bsp, slot)),
            };
        }
        if packing == self.packing(slot) {
            return Ok(());
        }
        if packing == self.old_packing(slot) {
            self.packings.shift_remove(&slot);
            return Ok(());
        }
        let stored = match packing {
            Packing::Raw => Stored::Raw(self.bsp.bytes(slot)?),
            Packing::Lzma => {
                let of = self.bytes(slot)?;
                let packed = Data::from(lzma::pack(&of)?);
                Stored::Lzma { of, packed }
            }
        };
        self.packings.insert(slot, stored);
        Ok(())
    }

    /// As [`Draft::set_packing`] with what somebody else compressed or decompressed: `packed` is `of`, compressed.
    pub(crate) fn set_packed(&mut self, slot: SlotId, of: Data<'a>, packed: Data<'a>) {
        if self.old_packing(slot) == Packing::Raw {
            self.packings.insert(slot, Stored::Lzma { of, packed });
        }
    }

    /// As [`Draft::set_packing`] with what somebody else decompressed.
    pub(crate) fn set_unpacked(&mut self, slot: SlotId, unpacked: Data<'a>) {
        match self.old_packing(slot) {
            Packing::Raw => drop(self.packings.shift_remove(&slot)),
            Packing::Lzma => drop(self.packings.insert(slot, Stored::Raw(unpacked))),
        }
    }

    /// Why a slot cannot be compressed, whatever it holds.
    pub(crate) fn never_packed(&self, id: SlotId) -> Result<Option<&'static str>> {
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

    /// Gives a lump another version in the directory; the one it has is no edit.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has no such slot, [`ErrorKind::Refused`] where the directory has no
    /// version for it, or none that is changed: those of game lump members say how their bytes read.
    ///
    /// ```
    /// use bspkit::{Bsp, Builder, Layout, dialect};
    /// let bytes = Builder::new(&dialect::SOURCE).lump(9, [0; 12]).lump_version(9, 2).build()?;
    /// let mut draft = Bsp::parse(&bytes)?.draft();
    /// draft.set_version(bspkit::SlotId::Lump(9), 1)?;
    /// let saved = draft.plan(Layout::Keep)?.to_vec();
    /// assert_eq!(Bsp::parse(&saved)?.slot("OCCLUSION")?.version, Some(1));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn set_version(&mut self, slot: SlotId, version: i32) -> Result<()> {
        let old = self.slot(slot)?;
        match old.version.filter(|_| old.words.version.is_some()) {
            None => Err(refused("the directory has no version of it that could be changed", &self.bsp, slot)),
            Some(old) if old == version => {
                self.versions.shift_remove(&slot);
                Ok(())
            }
            Some(_) => {
                self.versions.insert(slot, version);
                Ok(())
            }
        }
    }

    /// The entity text, to be edited in place.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the dialect has none; where it cannot be read, as [`Bsp::bytes`].
    pub fn entities(&mut self) -> Result<&mut Entities<'a>> {
        if self.entities.is_none() {
            let id = self.entities_id().ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no entities"))?;
            if !self.slots.contains_key(&id) {
                self.bsp.check_entity_packing(id)?;
            }
            self.entities = Some(Entities::parse(self.bytes(id)?, self.bsp.dialect().text)?);
        }
        self.entities.as_mut().ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no entities"))
    }

    /// Makes several edits or none: an error of `edit` leaves the draft as it was.
    ///
    /// # Errors
    /// Those of `edit`.
    pub fn transaction<T>(&mut self, edit: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.clone();
        edit(self).inspect_err(|_| *self = before)
    }

    /// Forgets the edits of one slot, how it is stored and its version included.
    pub fn revert(&mut self, slot: SlotId) {
        if Some(slot) == self.entities_id() {
            self.entities = None;
        }
        self.slots.shift_remove(&slot);
        self.packings.shift_remove(&slot);
        self.versions.shift_remove(&slot);
    }

    /// Forgets all edits.
    pub fn revert_all(&mut self) {
        self.slots.clear();
        self.packings.clear();
        self.versions.clear();
        self.entities = None;
    }

    /// The slots whose bytes or whose packing differ from the map's, in the order of the directories.
    ///
    /// # Errors
    /// As [`Draft::plan`].
    pub fn changes(&self) -> Result<Vec<SlotId>> {
        Ok(self.edits()?.slots.iter().map(|edit| edit.slot).collect())
    }

    /// Places everything and says what a save would write. Pure: the same draft gives the same plan.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] where the map's state forbids the edit, by name; [`ErrorKind::TooLarge`] where the file
    /// would grow past 2 GiB.
    pub fn plan(&self, layout: Layout) -> Result<Plan<'a>> {
        file::plan(self.bsp.container(), &self.edits()?, layout)
    }

    fn slot(&self, id: SlotId) -> Result<&Slot> {
        let none = || Error::new(ErrorKind::NotFound, format!("the map has no slot {id:?}"));
        self.bsp.container().slot(id).ok_or_else(none)
    }

    fn old_packing(&self, slot: SlotId) -> Packing {
        if self.bsp.unpacked_size(slot).is_some() { Packing::Lzma } else { Packing::Raw }
    }

    fn entities_id(&self) -> Option<SlotId> {
        self.bsp.role(Role::Entities).map(|slot| slot.id)
    }

    fn edits(&self) -> Result<Edits<'a>> {
        let mut slots: IndexMap<SlotId, Option<Rope<'a>>> = self.packings.keys().map(|slot| (*slot, None)).collect();
        slots.extend(self.slots.iter().map(|(slot, bytes)| (*slot, Some(bytes.clone()))));
        if let (Some(entities), Some(id)) = (&self.entities, self.entities_id())
            && entities.is_edited()
        {
            let bytes = entities.to_bytes();
            if !self.bsp.bytes(id).is_ok_and(|old| *old == *bytes) {
                slots.insert(id, Some(Rope::from(bytes)));
            } else if self.packings.contains_key(&id) {
                slots.insert(id, None);
            } else {
                slots.shift_remove(&id);
            }
        }
        slots.sort_unstable_keys();
        let slots = slots.into_iter().map(|(slot, bytes)| self.edit(slot, bytes)).collect::<Result<Vec<_>>>()?;
        let slots = slots.into_iter().flatten().collect();
        Ok(Edits { slots, versions: self.versions.iter().map(|(slot, version)| (*slot, *version)).collect() })
    }

    /// What is to be stored: new bytes, or the old ones in another packing. What was compressed is compressed again.
    fn edit(&self, slot: SlotId, new: Option<Rope<'a>>) -> Result<Option<Edit<'a>>> {
        let (was_packed, is_new) = (self.old_packing(slot) == Packing::Lzma, new.is_some());
        let (bytes, ready) = match (new, self.packings.get(&slot)) {
            (new, Some(Stored::Raw(old))) => {
                let stored = new.unwrap_or_else(|| Rope::from(old.clone()));
                return Ok(Some(Edit { slot, stored, unpacked: Some(0) }));
            }
            (Some(bytes), Some(Stored::Lzma { of, packed })) => {
                let ready = (bytes == **of).then(|| packed.clone());
                (bytes, ready)
            }
            (None, Some(Stored::Lzma { of, packed })) => {
                // The packing may have been asked for when the draft had other bytes.
                let old = self.bsp.bytes(slot)?;
                let ready = (Rope::from(old.clone()) == **of).then(|| packed.clone());
                (Rope::from(old), ready)
            }
            (Some(bytes), None) if was_packed => (bytes, None),
            // A claim that the old bytes did not bear out is not to be made of the new ones.
            (Some(stored), None) => {
                let unpacked = self.bsp.packing_oddity(slot).map(|_| 0);
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
            None => Rope::from(lzma::pack(&bytes.to_data())?),
        };
        Ok(Some(Edit { slot, stored, unpacked }))
    }
}

/// Whether a slot is one of the empty members that end the list of a game lump.
pub(crate) fn is_end(slot: &Slot) -> bool {
    matches!(slot.id, SlotId::Game(_)) && slot.name == file::member_name([0; 4])
}

fn refused(message: &str, bsp: &Bsp<'_>, slot: SlotId) -> Error {
    let name = bsp.container().slot(slot).map_or("", |slot| slot.name.as_str());
    Error::new(ErrorKind::Refused, message).at(Place::default().lump(name))
}
