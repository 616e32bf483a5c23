//! Drafts: pending edits of a map. Nothing is placed before [`Draft::plan`], nothing written before
//! [`crate::Plan::save`].

mod lenses;
mod light;
mod packing;
mod textures;

use indexmap::IndexMap;

use crate::bsp::Bsp;
use crate::bytes::{ByteOrder, Data, Rope};
use crate::content::entities::Entities;
use crate::content::pak::Pak;
use crate::dialect::{Key, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::file::{self, Edits, Layout, Plan, Slot, SlotId};
use crate::record::{Held, Record, TableMut};
pub use packing::Packing;
use packing::{Stored, refused};

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
    /// Lumps whose records somebody asked for.
    tables: IndexMap<SlotId, Held<'a>>,
    /// The entity text, once somebody asked for it.
    entities: Option<Entities<'a>>,
    /// The embedded files, once somebody asked for them.
    pak: Option<Pak<'a>>,
}

impl<'a> Bsp<'a> {
    /// Begins to edit.
    pub fn draft(&self) -> Draft<'a> {
        let (slots, packings, versions, tables) = Default::default();
        Draft { bsp: self.clone(), slots, packings, versions, tables, entities: None, pak: None }
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
        if let Some(pak) = self.pak.as_ref().filter(|pak| Some(slot) == self.pak_id() && pak.is_edited()) {
            return Ok(pak.to_rope()?.to_data());
        }
        if let Some(edited) = self.tables.get(&slot).and_then(Held::edits) {
            return Ok(self.bsp.in_own_order(slot, Data::from(edited.to_vec())));
        }
        match (&self.entities, self.slots.get(&slot)) {
            (Some(entities), _) if Some(slot) == self.entities_id() && entities.is_edited() => {
                Ok(Data::from(entities.to_bytes()))
            }
            (_, Some(bytes)) => Ok(bytes.to_data()),
            _ => self.bsp.bytes(slot),
        }
    }

    /// As [`Draft::bytes`] with all numbers little-endian, which matters for consoles' maps: [`Bsp::little_endian`].
    ///
    /// # Errors
    /// As [`Bsp::bytes`].
    pub fn little_endian(&self, slot: SlotId) -> Result<Data<'a>> {
        self.bytes(slot).map(|bytes| self.bsp.in_little_endian(slot, bytes))
    }

    /// As [`Draft::set`] with bytes whose numbers are little-endian whatever the file's are, as records and lenses give
    /// them.
    ///
    /// ```
    /// use bspkit::{Bsp, Builder, Layout, dialect};
    /// let bytes = Builder::new(&dialect::SOURCE360).lump(13, [0, 0, 0, 7]).build()?;
    /// let mut draft = Bsp::parse(&bytes)?.draft();
    /// draft.set_little_endian(bspkit::SlotId::Lump(13), vec![9, 0, 0, 0])?;
    /// let saved = draft.plan(Layout::Keep)?.to_vec();
    /// assert_eq!(*Bsp::parse(&saved)?.bytes(bspkit::SlotId::Lump(13))?, [0, 0, 0, 9]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Draft::set`].
    pub fn set_little_endian(&mut self, slot: SlotId, bytes: impl Into<Rope<'a>>) -> Result<()> {
        match self.bsp.byte_order() {
            ByteOrder::Little => self.set(slot, bytes),
            ByteOrder::Big => {
                let bytes = self.bsp.in_own_order(slot, bytes.into().to_data());
                self.set(slot, bytes)
            }
        }
    }

    /// Gives a slot new bytes, decompressed, with numbers in the file's byte order; the same bytes as before are no edit.
    ///
    /// The bytes of a game lump say offsets as if the lump stayed where it is.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the map has no such slot.
    pub fn set(&mut self, slot: SlotId, bytes: impl Into<Rope<'a>>) -> Result<()> {
        let bytes = bytes.into();
        self.slot(slot)?;
        self.close_lens(slot);
        // What cannot be decompressed differs from anything.
        if self.bsp.bytes(slot).is_ok_and(|old| bytes == *old) {
            self.slots.shift_remove(&slot);
        } else {
            self.slots.insert(slot, bytes);
        }
        Ok(())
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

    /// The embedded files, to be edited in place.
    ///
    /// ```
    /// use bspkit::{Bsp, Builder, Layout, dialect};
    /// let bytes = Builder::new(&dialect::SOURCE).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").build()?;
    /// let mut draft = Bsp::parse(&bytes)?.draft();
    /// draft.pak()?.set("materials/my/wall.vmt", &b"LightmappedGeneric {}"[..])?;
    /// let saved = draft.plan(Layout::Keep)?.to_vec();
    /// assert_eq!(Bsp::parse(&saved)?.pak()?.len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where the dialect has none; where they cannot be read, as [`Pak::parse`].
    pub fn pak(&mut self) -> Result<&mut Pak<'a>> {
        if self.pak.is_none() {
            self.pak = Some(match self.pak_id().filter(|id| self.slots.contains_key(id)) {
                Some(id) => self.bsp.pak_of(self.bytes(id)?)?,
                None => self.bsp.pak()?,
            });
        }
        self.pak.as_mut().ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no pakfile"))
    }

    /// The records of a lump, to be changed in place.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn table<R: Record>(&mut self, key: Key<R>) -> Result<TableMut<'_, 'a, R>> {
        let (slot, row) = self.bsp.keyed(key)?;
        if !self.tables.contains_key(&slot) {
            let held = Held::new(self.little_endian(slot)?);
            self.tables.insert(slot, held);
        }
        let held = &mut self.tables[&slot];
        let (range, count_at) = self.bsp.part(key, row, held.get())?;
        Ok(TableMut::new(key.lump(), held, range, count_at))
    }

    /// Changes fields of one record. For many of a lump [`Draft::table`] is faster.
    ///
    /// ```
    /// use bspkit::dialect::quake2;
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// draft.update(quake2::PLANES, 3, |plane| plane.distance += 8.0)?;
    /// assert_eq!(draft.changes()?.len(), 1);
    /// draft.update(quake2::PLANES, 3, |plane| plane.distance -= 8.0)?;
    /// assert!(draft.changes()?.is_empty());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bsp::table`]; [`ErrorKind::NotFound`] where there is no such record.
    pub fn update<R: Record>(&mut self, key: Key<R>, index: usize, change: impl FnOnce(&mut R)) -> Result<()> {
        self.table(key)?.update(index, change)
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
        self.close_lens(slot);
        self.slots.shift_remove(&slot);
        self.packings.shift_remove(&slot);
        self.versions.shift_remove(&slot);
    }

    /// Forgets all edits.
    pub fn revert_all(&mut self) {
        self.slots.clear();
        self.packings.clear();
        self.versions.clear();
        self.tables.clear();
        self.entities = None;
        self.pak = None;
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

    /// Forgets what was edited through a lens on the slot.
    fn close_lens(&mut self, slot: SlotId) {
        self.tables.shift_remove(&slot);
        self.entities.take_if(|_| self.bsp.role(Role::Entities).is_some_and(|found| found.id == slot));
        self.pak.take_if(|_| self.bsp.role(Role::Pak).is_some_and(|found| found.id == slot));
    }

    fn slot(&self, id: SlotId) -> Result<&Slot> {
        let none = || Error::new(ErrorKind::NotFound, format!("the map has no slot {id:?}"));
        self.bsp.container().slot(id).ok_or_else(none)
    }

    fn entities_id(&self) -> Option<SlotId> {
        self.bsp.role(Role::Entities).map(|slot| slot.id)
    }

    fn pak_id(&self) -> Option<SlotId> {
        self.bsp.role(Role::Pak).map(|slot| slot.id)
    }

    fn edits(&self) -> Result<Edits<'a>> {
        let mut slots: IndexMap<SlotId, Option<Rope<'a>>> = self.packings.keys().map(|slot| (*slot, None)).collect();
        slots.extend(self.slots.iter().map(|(slot, bytes)| (*slot, Some(bytes.clone()))));
        for (slot, held) in &self.tables {
            let Some(edited) = held.edits() else { continue };
            let edited = self.bsp.in_own_order(*slot, Data::from(edited.to_vec()));
            if !self.bsp.bytes(*slot).is_ok_and(|old| *old == *edited) {
                slots.insert(*slot, Some(Rope::from(edited)));
            } else if self.packings.contains_key(slot) {
                slots.insert(*slot, None);
            } else {
                slots.shift_remove(slot);
            }
        }
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
        if let (Some(pak), Some(id)) = (&self.pak, self.pak_id())
            && pak.is_edited()
        {
            let bytes = pak.to_rope()?;
            if self.bsp.bytes(id).is_ok_and(|old| bytes == *old) {
                slots.shift_remove(&id);
            } else {
                slots.insert(id, Some(bytes));
            }
        }
        slots.sort_unstable_keys();
        let slots = slots.into_iter().map(|(slot, bytes)| self.edit(slot, bytes)).collect::<Result<Vec<_>>>()?;
        let slots = slots.into_iter().flatten().collect();
        Ok(Edits { slots, versions: self.versions.iter().map(|(slot, version)| (*slot, *version)).collect() })
    }
}
