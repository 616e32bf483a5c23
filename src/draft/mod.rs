//! Drafts: pending edits of a map. [`Draft::plan`] places the edited slots, and [`crate::Plan::save`] writes the file.

mod compression;
mod follow;
mod session;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::bsp::{Bsp, ListName, Records};
use crate::bytes::{ByteOrder, Data, Rope};
use crate::content::bspx::{BrushList, LightOctrees};
use crate::content::disp::{LightmapAlphas, SamplePositions};
use crate::content::entities::Entities;
use crate::content::lens::{Access, Lens, Open, Reader, View};
use crate::content::lightgrid::LightGrid;
use crate::content::lightmap::Light;
use crate::content::pak::Pak;
use crate::content::physics::{PhysDisp, Physics, SurfacePhysics};
use crate::content::props::{DetailProps, StaticProps};
use crate::content::texdata::TextureStrings;
use crate::content::texture_names::TextureNames;
use crate::content::textures::Textures;
use crate::content::visibility::Visibility;
use crate::dialect::{Key, Role, Span};
use crate::error::{Error, ErrorKind, Result};
use crate::file::{self, Bounds, Edits, Layout, Plan, SaveOptions, Saved, Slot, SlotId};
use crate::record::{Held, Record, TableMut};
pub use compression::Compression;
use compression::{Stored, refused};
pub use follow::{
    Branch, Branches, Followed, FollowedField, FollowedRecords, Reference, ReferenceTree, References, Splice, Structure,
};
pub use session::Session;

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
    stores: Pending<'a>,
    /// Slots whose compression changes.
    compressions: BTreeMap<SlotId, Stored<'a>>,
    /// Versions of lumps; never equal to the old ones.
    versions: BTreeMap<SlotId, i32>,
    /// Lumps whose records moved, with all that refers to them.
    followed: BTreeSet<String>,
    /// Shapes of brushes that came with their solids from another map.
    brought: BTreeSet<Vec<u8>>,
}

impl<'a> Bsp<'a> {
    /// Starts a draft of this map.
    pub fn draft(&self) -> Draft<'a> {
        let (stores, compressions, versions, followed, brought) = Default::default();
        Draft { bsp: self.clone(), stores, compressions, versions, followed, brought }
    }
}

impl<'a> Draft<'a> {
    /// The map that the draft edits.
    pub fn bsp(&self) -> &Bsp<'a> {
        &self.bsp
    }

    /// Opens a lens to edit it in place. It shows all pending edits, and stays open: the next call returns the same
    /// lens.
    ///
    /// If the lens can change what another open lens has read, the other lens is closed: its edits become pending edits
    /// of the draft.
    ///
    /// ```
    /// use bspkit::content::lightmap::{Adjustment, Light};
    /// let mut draft = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?.draft();
    /// let darker = Adjustment { gain: 0.5, ..Adjustment::default() };
    /// draft.edit::<Light>()?.adjust(&darker, |_, _, _| true)?; // or draft.light()?
    /// assert_eq!(draft.changes()?.len(), 1);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bsp::lens`]; also the error of a lens that has to be closed, but cannot be written. That lens stays open.
    pub fn edit<L: Lens<'a>>(&mut self) -> Result<&mut L> {
        let at = match self.stores.open.iter_mut().position(|open| L::of(&mut open.lens).is_some()) {
            Some(at) => at,
            None => self.open_lens(|from| L::read(from).map(L::wrap))?,
        };
        self.stores.open.get_mut(at).and_then(|open| L::of(&mut open.lens)).ok_or_else(not_open)
    }

    /// A lens as it is open for edits, to look at what they did; `None` if it is not open.
    ///
    /// ```
    /// use bspkit::content::entities::Entities;
    /// let mut draft = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.draft();
    /// assert!(draft.opened::<Entities>().is_none());
    /// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
    /// let entities = draft.opened::<Entities>().unwrap();
    /// assert!(entities.get(0).unwrap().is_edited() && !entities.get(1).unwrap().is_edited());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn opened<L: Lens<'a>>(&self) -> Option<&L> {
        self.stores.open.iter().find_map(|open| L::look(&open.lens))
    }

    /// A slot's bytes as the draft has them, decompressed, in the file's byte order.
    ///
    /// # Errors
    /// As [`Bsp::bytes`]; also the error of an open lens that cannot be written. [`ErrorKind::Refused`] for a member of
    /// the game lump after that lump got new bytes, and for the lump after a member did: where members are is known
    /// once the map is saved.
    pub fn bytes(&self, slot: SlotId) -> Result<Data<'a>> {
        match self.new_bytes(slot)? {
            Some(bytes) => Ok(bytes.to_data()),
            None => {
                self.refuse_stale(slot)?;
                self.bsp.bytes(slot)
            }
        }
    }

    /// Refuses the old bytes of a part of the game lump after another part was edited that has these bytes too.
    fn refuse_stale(&self, slot: SlotId) -> Result<()> {
        let Some(lump) = self.bsp.container().game_lump_id() else { return Ok(()) };
        let is_stale = match slot {
            SlotId::Game(_) => self.pending()?.contains_key(&lump),
            _ => slot == lump && self.pending()?.keys().any(|edited| matches!(edited, SlotId::Game(_))),
        };
        match is_stale {
            false => Ok(()),
            true => {
                let message = "another part of the game lump was edited, so its bytes are known once the map is saved";
                Err(refused(message, &self.bsp, slot))
            }
        }
    }

    /// The ranges of records in a slot's bytes as the draft has them: one for an array, one per list for lists, none
    /// for other content.
    ///
    /// # Errors
    /// As [`Bsp::spans`] and [`Draft::bytes`].
    pub fn spans(&self, slot: SlotId) -> Result<Vec<Span>> {
        match self.bsp.row(self.slot(slot)?) {
            Ok(row) => row.parts(&self.bsp.byte_swapped(row, self.bytes(slot)?, ByteOrder::Big)),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The records of a list as the draft has them: [`Bsp::records`].
    ///
    /// # Errors
    /// As [`Bsp::records`] and [`Draft::bytes`].
    pub fn records<'n>(&self, of: impl Into<ListName<'n>>) -> Result<Records<'a>> {
        self.view()?.as_ref().unwrap_or(&self.bsp).records(of)
    }

    /// As [`Draft::set`] with bytes whose numbers are little-endian, whatever the file's byte order is.
    ///
    /// # Errors
    /// As [`Draft::set`].
    pub fn set_little_endian(&mut self, slot: SlotId, bytes: impl Into<Rope<'a>>) -> Result<()> {
        let bytes = self.bsp.in_own_order(slot, bytes.into().to_data());
        self.set(slot, bytes)
    }

    /// Replaces a slot's bytes. They are decompressed bytes with numbers in the file's byte order. The same bytes as
    /// before are not an edit.
    ///
    /// Offsets inside the bytes of a game lump are given as if the lump does not move.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such slot; [`ErrorKind::Refused`] for the entry that ends the list of
    /// a game lump with compressed members, which is always empty; also the error of an open lens that has read the
    /// slot and cannot be written.
    pub fn set(&mut self, slot: SlotId, bytes: impl Into<Rope<'a>>) -> Result<()> {
        let bytes = bytes.into();
        if compression::is_end(self.slot(slot)?) && !bytes.is_empty() {
            return Err(refused("it only ends the list of members, so it must stay empty", &self.bsp, slot));
        }
        // The new bytes replace all edits of a lens that can change only this slot.
        let is_replaced = |access: &Access| access.writes == [slot];
        self.close(|access| !is_replaced(access) && access.reads.contains(&slot))?;
        self.stores.open.retain(|open| !is_replaced(&open.access));
        put(&self.bsp, &mut self.stores.slots, slot, bytes);
        Ok(())
    }

    /// Sets the version of a lump in the directory. The version that it has already is not an edit.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no such slot. [`ErrorKind::Refused`] if the directory has no version for
    /// it, or for a member of the game lump: its version says how its bytes are read.
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
                self.versions.remove(&slot);
                Ok(())
            }
            Some(_) => {
                self.versions.insert(slot, version);
                Ok(())
            }
        }
    }

    /// The records of a lump, for changes in place.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn table<R: Record>(&mut self, key: Key<R>) -> Result<TableMut<'_, 'a, R>> {
        let (slot, row) = self.bsp.keyed(key)?;
        let is_it = |open: &Opened<'a>| matches!(open.lens, Open::Records(_)) && open.access.writes == [slot];
        let at = match self.stores.open.iter().position(is_it) {
            Some(at) => at,
            None => self.open_lens(|from| from.own(slot).map(|bytes| Open::Records(Held::new(bytes))))?,
        };
        let Some(Open::Records(held)) = self.stores.open.get_mut(at).map(|open| &mut open.lens) else {
            return Err(not_open());
        };
        let (range, count_at) = self.bsp.part(key, row, held.get())?;
        Ok(TableMut::new(key.lump(), held, range, count_at))
    }

    /// Changes fields of one record. For many records of a lump [`Draft::table`] is faster.
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
    /// As [`Bsp::table`]; [`ErrorKind::NotFound`] if there is no such record.
    pub fn update<R: Record>(&mut self, key: Key<R>, index: usize, change: impl FnOnce(&mut R)) -> Result<()> {
        self.table(key)?.update(index, change)
    }

    /// Makes all edits or none: if `edit` fails, the draft does not change.
    ///
    /// # Errors
    /// Those of `edit`.
    pub fn transaction<T>(&mut self, edit: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.clone();
        edit(self).inspect_err(|_| *self = before)
    }

    /// Discards the edits of one slot, including its compression and its version. Edits that a lens made in other slots
    /// are kept.
    pub fn revert(&mut self, slot: SlotId) {
        self.stores.open.retain(|open| open.access.writes != [slot]);
        if self.close(|access| access.reads.contains(&slot)).is_err() {
            self.stores.open.retain(|open| !open.access.reads.contains(&slot));
        }
        self.stores.slots.remove(&slot);
        self.compressions.remove(&slot);
        self.versions.remove(&slot);
    }

    /// Discards all edits.
    pub fn revert_all(&mut self) {
        *self = self.bsp.draft();
    }

    /// The slots whose bytes or whose compression differ from the map's, in the order of the directories.
    ///
    /// # Errors
    /// As [`Draft::plan`].
    pub fn changes(&self) -> Result<Vec<SlotId>> {
        Ok(self.edits()?.slots.iter().map(|edit| edit.slot).collect())
    }

    /// Places all slots and returns what a save would write. The same draft always gives the same plan.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if the state of the map does not allow the edit; the message names the reason.
    /// [`ErrorKind::TooLarge`] if the file would grow past 2 GiB.
    pub fn plan(&self, layout: Layout) -> Result<Plan<'a>> {
        let plan = file::plan(self.bsp.container(), &self.edits()?, layout)?;
        self.look_at_shared(&plan)?;
        let cut = self.bsp.role(Role::Entities).filter(|slot| slot.bounds == Bounds::Overrun);
        Ok(match cut.filter(|slot| self.is_complete(slot)) {
            Some(slot) => plan.with_complete(slot.id),
            None => plan,
        })
    }

    /// Whether the text of a lump ends with a whole entity. A compressed lump that is cut off has no text.
    fn is_complete(&self, slot: &Slot) -> bool {
        let is_end = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
        self.bsp.bytes(slot.id).is_ok_and(|text| text.iter().rfind(|byte| !is_end(byte)) == Some(&b'}'))
    }

    /// Saves to `path`, as [`Plan::save_with`] does. The draft is one of the saved file then, without pending edits:
    /// more edits and saves can follow, to the same file or to others. After an error it is as it was.
    ///
    /// ```
    /// use bspkit::{Bsp, Layout};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("rooms.bsp");
    /// std::fs::copy("tests/maps/q2/own_rooms.bsp", &path)?;
    ///
    /// let mut draft = Bsp::open(&path)?.draft();
    /// for message in ["The Place", "Another Place"] {
    ///     draft.entities()?.first_class("worldspawn")?.set("message", message)?;
    ///     draft.save(&path, Layout::Keep)?;
    ///     assert!(draft.changes()?.is_empty());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Draft::plan`] and [`Plan::save`].
    pub fn save(&mut self, path: impl AsRef<Path>, layout: Layout) -> Result<Saved> {
        let (saved, ()) = self.save_with(path, layout, &SaveOptions::default(), |_, _| Ok(()))?;
        Ok(saved)
    }

    /// As [`Draft::save`], with options. `look` is given the draft and the plan before anything is written, and may
    /// refuse them; its result is returned.
    ///
    /// # Errors
    /// As [`Draft::plan`] and [`Plan::save_with`]; the error of `look`.
    pub fn save_with<T>(
        &mut self,
        path: impl AsRef<Path>,
        layout: Layout,
        options: &SaveOptions,
        look: impl FnOnce(&Self, &Plan<'a>) -> Result<T>,
    ) -> Result<(Saved, T)> {
        let plan = self.plan(layout)?;
        let seen = look(self, &plan)?;
        let (saved, origin) = plan.save_to(path.as_ref(), options)?;
        *self = self.bsp.saved(&plan, origin)?.draft();
        Ok((saved, seen))
    }

    /// The map with the pending edits, to look at its content; nothing where no bytes or versions change.
    ///
    /// # Errors
    /// Those of an open lens that cannot be written.
    pub fn view(&self) -> Result<Option<Bsp<'a>>> {
        let bytes = self.pending()?;
        let is_same = bytes.is_empty() && self.versions.is_empty();
        Ok((!is_same).then(|| self.bsp.pending(&bytes, &self.versions)))
    }

    /// Notes the shapes of brushes that come with their solids from another map. The shape of a brush is a form of its
    /// planes that its author chooses; what checks whether each brush has its solid asks [`Draft::has_solid`].
    pub fn bring_solids(&mut self, shapes: impl IntoIterator<Item = Vec<u8>>) {
        self.brought.extend(shapes);
    }

    /// Whether a brush of this shape came with its solid.
    pub fn has_solid(&self, shape: &[u8]) -> bool {
        self.brought.contains(shape)
    }

    /// Whether all that refers to the records of a lump followed an edit of their number.
    pub fn has_followed(&self, lump: &str) -> bool {
        self.followed.contains(lump)
    }

    fn slot(&self, id: SlotId) -> Result<&Slot> {
        let none = || Error::new(ErrorKind::NotFound, format!("the map has no {id}"));
        self.bsp.container().slot(id).ok_or_else(none)
    }

    fn edits(&self) -> Result<Edits<'a>> {
        let mut slots: BTreeMap<_, Option<_>> = self.compressions.keys().map(|slot| (*slot, None)).collect();
        slots.extend(self.pending()?.iter().map(|(slot, bytes)| (*slot, Some(bytes.clone()))));
        let slots = slots.into_iter().map(|(slot, bytes)| self.edit_of(slot, bytes)).collect::<Result<Vec<_>>>()?;
        let slots = slots.into_iter().flatten().collect();
        Ok(Edits { slots, versions: self.versions.iter().map(|(slot, version)| (*slot, *version)).collect() })
    }
}

#[cold]
fn not_open() -> Error {
    Error::new(ErrorKind::NotFound, "the lens is not open")
}

// The open lenses of a draft. A lens is written into the draft's slots before other code reads these slots.

/// A lens, and the slots that it depends on.
#[derive(Clone, Debug)]
struct Opened<'a> {
    lens: Open<'a>,
    access: Access,
}

impl<'a> Opened<'a> {
    /// The slots that the lens has changed, with their new bytes in the file's byte order.
    fn edits(&self, bsp: &Bsp<'a>) -> Result<Vec<(SlotId, Rope<'a>)>> {
        let new = self.access.writes.iter().zip(self.lens.edits()?);
        let new = new.filter_map(|(slot, bytes)| Some((*slot, bytes?)));
        Ok(match bsp.byte_order() {
            ByteOrder::Little => new.collect(),
            ByteOrder::Big => {
                new.map(|(slot, bytes)| (slot, Rope::from(bsp.in_own_order(slot, bytes.to_data())))).collect()
            }
        })
    }
}

/// What decides the bytes of slots.
#[derive(Clone, Debug, Default)]
struct Stores<'a> {
    /// New bytes of slots, decompressed, in the file's byte order; never equal to the old ones.
    slots: BTreeMap<SlotId, Rope<'a>>,
    /// Open lenses and tables. No open lens can change a slot that another open lens has read.
    open: Vec<Opened<'a>>,
}

/// The stores, and the new bytes that follow from them, which a save needs several times. Whatever can change the
/// stores has them from `deref_mut`, where the bytes are forgotten.
#[derive(Clone, Debug, Default)]
struct Pending<'a> {
    stores: Stores<'a>,
    bytes: OnceLock<Arc<BTreeMap<SlotId, Rope<'a>>>>,
}

impl<'a> Deref for Pending<'a> {
    type Target = Stores<'a>;

    fn deref(&self) -> &Stores<'a> {
        &self.stores
    }
}

impl<'a> DerefMut for Pending<'a> {
    fn deref_mut(&mut self) -> &mut Stores<'a> {
        self.bytes.take();
        &mut self.stores
    }
}

impl<'a> Draft<'a> {
    /// Opens a lens, with the pending edits of all slots that it reads, and closes the open lenses that conflict with
    /// it.
    fn open_lens(&mut self, read: impl FnOnce(&Reader<'_, 'a>) -> Result<Open<'a>>) -> Result<usize> {
        let new = |slot| Ok(self.new_bytes(slot)?.map(|bytes| bytes.to_data()));
        let from = Reader::new(&self.bsp, &new);
        let lens = read(&from)?;
        let access = from.into_access();
        self.close(|other| other.conflicts(&access))?;
        self.stores.open.push(Opened { lens, access });
        Ok(self.stores.open.len() - 1)
    }

    /// Closes lenses and writes their edits into the slots. After an error all of them are still open.
    fn close(&mut self, is_meant: impl Fn(&Access) -> bool) -> Result<()> {
        let meant = self.stores.open.iter().filter(|open| is_meant(&open.access));
        let edits = meant.map(|open| open.edits(&self.bsp)).collect::<Result<Vec<_>>>()?;
        self.stores.open.retain(|open| !is_meant(&open.access));
        for (slot, bytes) in edits.into_iter().flatten() {
            put(&self.bsp, &mut self.stores.slots, slot, bytes);
        }
        Ok(())
    }

    /// The new bytes of a slot, in the file's byte order; `None` if they are the map's own bytes.
    fn new_bytes(&self, slot: SlotId) -> Result<Option<Rope<'a>>> {
        // At most one open lens can change a slot.
        if let Some(open) = self.stores.open.iter().find(|open| open.access.writes.contains(&slot))
            && let Some((_, bytes)) = open.edits(&self.bsp)?.into_iter().find(|(own, _)| *own == slot)
        {
            return Ok(Some(bytes));
        }
        Ok(self.stores.slots.get(&slot).cloned())
    }

    /// The new bytes of all slots that differ from the map's.
    fn pending(&self) -> Result<Arc<BTreeMap<SlotId, Rope<'a>>>> {
        if let Some(bytes) = self.stores.bytes.get() {
            return Ok(Arc::clone(bytes));
        }
        let mut slots = self.stores.slots.clone();
        for open in &self.stores.open {
            for (slot, bytes) in open.edits(&self.bsp)? {
                put(&self.bsp, &mut slots, slot, bytes);
            }
        }
        Ok(Arc::clone(self.stores.bytes.get_or_init(|| Arc::new(slots))))
    }
}

/// Replaces a slot's bytes. The map's own bytes are not an edit. A slot that cannot be decompressed differs from all
/// bytes.
fn put<'a>(bsp: &Bsp<'a>, slots: &mut BTreeMap<SlotId, Rope<'a>>, slot: SlotId, bytes: Rope<'a>) {
    if bsp.bytes(slot).is_ok_and(|old| bytes == *old) {
        slots.remove(&slot);
    } else {
        slots.insert(slot, bytes);
    }
}

// Named methods for each lens: one on `Bsp` that reads, and one on `Draft` that edits in place.

macro_rules! doors {
    ($($(#[$doc:meta])* $name:ident: $lens:ident;)*) => {
        impl<'a> Bsp<'a> {
            $($(#[$doc])*
            ///
            #[doc = concat!("To look at; [`Draft::", stringify!($name), "`] edits it.")]
            ///
            /// # Errors
            /// As [`Bsp::lens`].
            pub fn $name(&self) -> Result<View<$lens<'a>>> {
                self.lens()
            })*
        }

        impl<'a> Draft<'a> {
            $($(#[$doc])*
            ///
            /// To edit in place, as [`Draft::edit`] says.
            ///
            /// # Errors
            /// As [`Draft::edit`].
            pub fn $name(&mut self) -> Result<&mut $lens<'a>> {
                self.edit()
            })*
        }
    };
}

doors! {
    /// The entity text.
    entities: Entities;
    /// The pakfile of a Source map: its embedded files. An empty lump is a pakfile without files.
    pak: Pak;
    /// The light of faces.
    light: Light;
    /// The light grid of a Quake III map.
    light_grid: LightGrid;
    /// The visible set, and the audible set, of each cluster or leaf.
    visibility: Visibility;
    /// The textures in a Quake or GoldSrc map.
    textures: Textures;
    /// The names of textures, in whichever lump the map has them.
    texture_names: TextureNames;
    /// The names of materials in a Source map, by the name index of texdata.
    texture_strings: TextureStrings;
    /// The static props of a Source map (`game:sprp`).
    static_props: StaticProps;
    /// The detail props of a Source map (`game:dprp`).
    detail_props: DetailProps;
    /// The collision models of a Source map (`PHYSCOLLIDE`).
    physics: Physics;
    /// The surface models of a Source map (`PHYSCOLLIDESURFACE`).
    surface_physics: SurfacePhysics;
    /// The collision models of displacements (`PHYSDISP`).
    phys_disp: PhysDisp;
    /// The position of each luxel on its displacement (`DISP_LIGHTMAP_SAMPLE_POSITIONS`).
    sample_positions: SamplePositions;
    /// The share of the second material in each luxel of a displacement (`DISP_LIGHTMAP_ALPHAS`).
    lightmap_alphas: LightmapAlphas;
    /// The brushes of the models (BSPX `BRUSHLIST`).
    brush_list: BrushList;
    /// The light of points in space (BSPX `LIGHTGRID_OCTREE`, or `LIGHTGRIDS`).
    light_octrees: LightOctrees;
}
