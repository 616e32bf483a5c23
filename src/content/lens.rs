//! The one way to the content of lumps that are not arrays of records: [`Bsp::lens`] to read, [`crate::Draft::edit`] to
//! edit.

use std::cell::RefCell;
use std::ops::Deref;

use super::bspx::{BrushList, LightOctrees};
use super::disp::{LightmapAlphas, SamplePositions};
use super::entities::Entities;
use super::lightgrid::LightGrid;
use super::lightmap::Light;
use super::pak::Pak;
use super::physics::{PhysDisp, Physics, SurfacePhysics};
use super::props::{DetailProps, StaticProps};
use super::texdata::TextureStrings;
use super::texture_names::TextureNames;
use super::textures::Textures;
use super::visibility::Visibility;
use crate::bsp::Bsp;
use crate::bytes::{Data, Rope};
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Result};
use crate::file::SlotId;
use crate::record::Held;

/// A view of the bytes of one or more lumps that can edit them.
///
/// [`Bsp::lens`] opens one for reading, [`crate::Draft::edit`] opens one for editing. Both have a method with a name
/// for each lens, such as [`Bsp::entities`] and [`crate::Draft::entities`]. The trait is sealed.
///
/// ```
/// use bspkit::content::entities::Entities;
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let entities = map.lens::<Entities>()?;
/// assert_eq!(entities.len(), map.entities()?.len());
/// # Ok::<(), bspkit::Error>(())
/// ```
pub trait Lens<'a>: Content<'a> {
    #[doc(hidden)]
    fn wrap(self) -> Open<'a>;

    #[doc(hidden)]
    fn of<'o>(open: &'o mut Open<'a>) -> Option<&'o mut Self>;

    #[doc(hidden)]
    fn look<'o>(open: &'o Open<'a>) -> Option<&'o Self>;
}

/// The functions of a lens that a draft calls. Other crates cannot name this trait, which seals [`Lens`].
#[doc(hidden)]
pub trait Content<'a>: Sized {
    /// Reads the lens; claims the slots that it can change.
    fn read(from: &Reader<'_, 'a>) -> Result<Self>;

    /// The new bytes of each slot that was claimed, in the order of the claims, with numbers little-endian. `None` for
    /// a slot that is as it was read.
    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>>;
}

macro_rules! lenses {
    ($($name:ident,)*) => {
        /// A lens that a draft holds open.
        #[derive(Clone, Debug)]
        pub enum Open<'a> {
            /// The records of a lump; [`crate::Draft::table`] opens them.
            Records(Held<'a>),
            $(#[doc = concat!("[`", stringify!($name), "`].")] $name(Box<$name<'a>>),)*
        }

        impl<'a> Open<'a> {
            pub(crate) fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
                match self {
                    Open::Records(held) => Ok(vec![held.new_bytes()]),
                    $(Open::$name(lens) => lens.edits(),)*
                }
            }
        }

        $(impl<'a> Lens<'a> for $name<'a> {
            fn wrap(self) -> Open<'a> {
                Open::$name(Box::new(self))
            }

            fn of<'o>(open: &'o mut Open<'a>) -> Option<&'o mut Self> {
                match open {
                    Open::$name(lens) => Some(lens),
                    _ => None,
                }
            }

            fn look<'o>(open: &'o Open<'a>) -> Option<&'o Self> {
                match open {
                    Open::$name(lens) => Some(lens),
                    _ => None,
                }
            }
        })*
    };
}

lenses! {
    Entities, Pak, Light, LightGrid, Visibility, Textures, TextureStrings, TextureNames, StaticProps, DetailProps,
    Physics, SurfacePhysics, PhysDisp, SamplePositions, LightmapAlphas, BrushList, LightOctrees,
}

/// A lens for reading only; [`crate::Draft::edit`] gives one that can be changed.
///
/// ```compile_fail
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// map.entities()?.first_class("worldspawn")?.set("message", "The Place")?; // an edit that would go nowhere
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct View<L>(L);

impl<L> Deref for View<L> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.0
    }
}

impl<'v, L> IntoIterator for &'v View<L>
where
    &'v L: IntoIterator,
{
    type Item = <&'v L as IntoIterator>::Item;
    type IntoIter = <&'v L as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> Bsp<'a> {
    /// Opens a lens for reading; [`crate::Draft::edit`] opens one for editing.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the map has no lump for it; [`ErrorKind::Malformed`], [`ErrorKind::Unsupported`] or
    /// [`ErrorKind::TooLarge`] if the lump cannot be read.
    pub fn lens<L: Lens<'a>>(&self) -> Result<View<L>> {
        L::read(&Reader::of(self)).map(View)
    }
}

/// The slots that a lens depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// The slots that were read, with those that it can change.
    pub(crate) reads: Vec<SlotId>,
    /// The slots that it can change.
    pub(crate) writes: Vec<SlotId>,
}

impl Access {
    /// Whether one of two lenses can change what the other has read.
    pub(crate) fn conflicts(&self, other: &Access) -> bool {
        let is_in = |slots: &[SlotId], others: &[SlotId]| slots.iter().any(|slot| others.contains(slot));
        is_in(&self.writes, &other.reads) || is_in(&other.writes, &self.reads)
    }
}

/// The new bytes that a draft has for a slot, in the file's byte order; `None` if the slot has the map's bytes.
type NewBytes<'r, 'a> = &'r dyn Fn(SlotId) -> Result<Option<Data<'a>>>;

/// The source of a lens: a map, or a draft of it. Records which slots are read.
pub struct Reader<'r, 'a> {
    bsp: &'r Bsp<'a>,
    new: NewBytes<'r, 'a>,
    access: RefCell<Access>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(crate) fn new(bsp: &'r Bsp<'a>, new: NewBytes<'r, 'a>) -> Self {
        Reader { bsp, new, access: RefCell::default() }
    }

    /// Reads a map as it is.
    pub(crate) fn of(bsp: &'r Bsp<'a>) -> Self {
        Reader::new(bsp, &|_| Ok(None))
    }

    pub(crate) fn into_access(self) -> Access {
        self.access.into_inner()
    }

    pub(crate) fn bsp(&self) -> &'r Bsp<'a> {
        self.bsp
    }

    /// A slot's bytes, with numbers little-endian.
    pub(crate) fn bytes(&self, slot: SlotId) -> Result<Data<'a>> {
        let bytes = match self.new_bytes(slot)? {
            Some(bytes) => bytes,
            None => self.bsp.bytes(slot)?,
        };
        Ok(self.bsp.in_little_endian(slot, bytes))
    }

    /// The bytes that a draft has for a slot instead of the map's, in the file's byte order.
    pub(crate) fn new_bytes(&self, slot: SlotId) -> Result<Option<Data<'a>>> {
        note(&mut self.access.borrow_mut().reads, slot);
        (self.new)(slot)
    }

    /// Claims a slot that the lens can change; [`Content::edits`] returns bytes in the order of the claims.
    pub(crate) fn claim(&self, slot: SlotId) {
        let mut access = self.access.borrow_mut();
        note(&mut access.reads, slot);
        note(&mut access.writes, slot);
    }

    /// The bytes of a slot that the lens can change. A slot that lies past the end of the file is not an empty one.
    pub(crate) fn own(&self, slot: SlotId) -> Result<Data<'a>> {
        self.bsp.container().slot(slot).map_or(Ok(()), |slot| self.bsp.check_there(slot))?;
        self.claim(slot);
        self.bytes(slot)
    }

    /// The slot of a role.
    pub(crate) fn role(&self, role: Role) -> Result<SlotId> {
        let missing = || Error::new(ErrorKind::NotFound, format!("the map has no {role}"));
        self.bsp.role(role).map(|slot| slot.id).ok_or_else(missing)
    }

    /// The slot of a name, as [`Bsp::slot`] finds it.
    pub(crate) fn slot(&self, name: &str) -> Result<SlotId> {
        self.bsp.slot(name).map(|slot| slot.id)
    }
}

fn note(slots: &mut Vec<SlotId>, slot: SlotId) {
    if !slots.contains(&slot) {
        slots.push(slot);
    }
}
