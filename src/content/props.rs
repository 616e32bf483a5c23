//! Props in the game lump of Source maps: models in the world ([`StaticProps`], `game:sprp`) and the small things on
//! the ground ([`DetailProps`], `game:dprp`).
//!
//! Both are views of the lists that the dialect's row of the member has ([`Bsp::row`]): the row says which struct the
//! props have, and where its fields are. A member without such a row stays bytes, and no lens opens it. A prop is given
//! here with the fields that the structs of all games have; [`Bsp::table`] has all fields of one struct.
//!
//! ```
//! use bspkit::{Bsp, Layout};
//! let map = Bsp::open("tests/maps/source/room_v20.bsp")?;
//! let mut draft = map.draft();
//! let props = draft.static_props()?;
//! assert_eq!((props.len(), props.names().next()), (3, Some(&b"models/own/crate.mdl"[..])));
//!
//! props.update(0, |prop| (prop.skin, prop.flags) = (2, 0x10))?;
//! let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
//! assert_eq!(saved.static_props()?.get(0).map(|prop| prop.skin), Some(2));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::ops::Range;
use std::slice::ChunksExact;

use super::lens::{Content, Reader};
#[cfg(doc)]
use crate::bsp::Bsp;
use crate::bytes::Rope;
use crate::dialect::Span;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Field, FieldInfo, Held, RecordInfo, write_name};

/// Declares a lens and its prop. The fields are found in the struct of the map's row by their names.
macro_rules! props {
    (
        $(#[$lens_doc:meta])* $lens:ident: $member:literal, $list:literal;
        $(#[$prop_doc:meta])* $prop:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$lens_doc])*
        #[derive(Clone, Debug)]
        pub struct $lens<'a>(Lists<'a>);

        impl<'a> Content<'a> for $lens<'a> {
            fn read(from: &Reader<'_, 'a>) -> Result<Self> {
                Lists::read(from, $member).map($lens)
            }

            fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
                Ok(vec![self.0.bytes.new_bytes()])
            }
        }

        impl $lens<'_> {
            /// How many props there are.
            pub fn len(&self) -> usize {
                self.0.records($list).len()
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The names of the models, each up to its first NUL.
            pub fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
                self.0.names()
            }

            /// Renames a model. As [`crate::record::Name::set`], it writes the name and clears what is left of the old
            /// one.
            ///
            /// # Errors
            /// [`ErrorKind::NotFound`] if there is no such model; [`ErrorKind::Refused`] if the name has a NUL or more
            /// than 127 bytes.
            pub fn set_name(&mut self, index: usize, name: impl AsRef<[u8]>) -> Result<()> {
                self.0.set_name(index, name.as_ref())
            }

            /// The fields of a prop; `None` if there is no such prop.
            pub fn get(&self, index: usize) -> Option<$prop> {
                let (info, place) = self.0.place($list, index).ok()?;
                $prop::read(info, &self.0.bytes.get()[place])
            }

            /// Changes fields of a prop. The bytes of all other fields stay as they are.
            ///
            /// # Errors
            /// [`ErrorKind::NotFound`] if there is no such prop; [`ErrorKind::Refused`] if a value does not fit its
            /// field.
            pub fn update(&mut self, index: usize, change: impl FnOnce(&mut $prop)) -> Result<()> {
                let (info, place) = self.0.place($list, index)?;
                let mut record = self.0.bytes.get()[place.clone()].to_vec();
                if let Some(mut prop) = $prop::read(info, &record) {
                    change(&mut prop);
                    prop.write(info, &mut record)?;
                    self.0.bytes.put(place.start, &record);
                }
                Ok(())
            }
        }

        $(#[$prop_doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $prop {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $prop {
            fn read(info: &RecordInfo, record: &[u8]) -> Option<Self> {
                Some($prop { $($field: read(info.field(stringify!($field))?, record),)* })
            }

            fn write(&self, info: &RecordInfo, record: &mut [u8]) -> Result<()> {
                $(if let Some(field) = info.field(stringify!($field)) {
                    write(field, &self.$field, record)?;
                })*
                Ok(())
            }
        }
    };
}

props! {
    /// The static props of a map.
    ///
    /// Files in the pakfile are named by the number of a prop (`sp_0.vhv`): props can be changed here, not added or
    /// removed.
    StaticProps: "game:sprp", "props";

    /// The fields that static props have in all games.
    StaticProp {
        /// Where it is, in units.
        origin: [f32; 3],
        /// Pitch, yaw and roll in degrees.
        angles: [f32; 3],
        /// The index of its model in the list of names.
        model: u16,
        /// The index of its first leaf in the list of leafs.
        first_leaf: u16,
        /// How many leafs it is in.
        leaf_count: u16,
        /// 0 not solid, 2 its box, 6 its model's physics.
        solid: u8,
        /// `STATIC_PROP_` flags. The field has 8 bits in most games and 32 in some.
        flags: u32,
        /// Its skin.
        skin: i32,
        /// Where it begins to fade, in units.
        fade_min: f32,
        /// Where it is gone, in units.
        fade_max: f32,
        /// Where its light is taken. Garbage unless a flag says that it is used.
        lighting_origin: [f32; 3],
    }
}

props! {
    /// The detail props of a map: models and sprites that vbsp scatters over some materials.
    DetailProps: "game:dprp", "objects";

    /// The fields that detail props have in all games.
    DetailProp {
        /// Where it is, in units.
        origin: [f32; 3],
        /// Pitch, yaw and roll in degrees.
        angles: [f32; 3],
        /// Its index in the list of names, or of sprites, by its kind.
        model: u16,
        /// The leaf it is in.
        leaf: u16,
    }
}

impl StaticProps<'_> {
    /// The leafs that props are in, which have 16 bits in most games and 32 in Strata.
    pub fn leafs(&self) -> impl ExactSizeIterator<Item = u32> {
        self.0.records("leafs").map(widened)
    }
}

impl DetailProps<'_> {
    /// How many sprites props choose from; 0 in games without them.
    pub fn sprite_count(&self) -> usize {
        self.0.records("sprites").len()
    }
}

/// A number of at most its size; the bytes that it has not are 0.
fn widened<T: Field>(bytes: &[u8]) -> T {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(T::SIZE), 0);
    T::read(&bytes)
}

fn read<T: Field>(field: &FieldInfo, record: &[u8]) -> T {
    widened(&record[field.offset..field.offset + field.shape.size()])
}

fn write<T: Field>(field: &FieldInfo, value: &T, record: &mut [u8]) -> Result<()> {
    let (size, mut bytes) = (field.shape.size(), vec![0; T::SIZE]);
    value.write(&mut bytes);
    let (bytes, rest) = bytes.split_at(size.min(T::SIZE));
    if rest.iter().any(|byte| *byte != 0) {
        let message = format!("the value of {} does not fit: the field of these props has {size} bytes", field.name);
        return Err(Error::new(ErrorKind::Refused, message));
    }
    record[field.offset..field.offset + bytes.len()].copy_from_slice(bytes);
    Ok(())
}

/// A member and the lists in it, as its row has them.
#[derive(Clone, Debug)]
struct Lists<'a> {
    bytes: Held<'a>,
    lists: Vec<Span>,
}

impl<'a> Lists<'a> {
    fn read(from: &Reader<'_, 'a>, member: &str) -> Result<Self> {
        let slot = from.bsp().slot(member)?;
        let row = from.bsp().known_row(slot)?;
        let bytes = from.own(slot.id)?;
        let lists = from.bsp().parts(row, slot, &bytes)?;
        Ok(Lists { bytes: Held::new(bytes), lists })
    }

    fn list(&self, name: &str) -> Option<&Span> {
        self.lists.iter().find(|list| list.list == name)
    }

    /// The bytes of each record of a list; nothing if the struct has no such list.
    fn records(&self, list: &str) -> ChunksExact<'_, u8> {
        let bytes = self.bytes.get();
        self.list(list).map_or([].chunks_exact(1), |list| bytes[list.range.clone()].chunks_exact(list.record.size))
    }

    /// Where a record of a list is.
    fn place(&self, list: &str, index: usize) -> Result<(&'static RecordInfo, Range<usize>)> {
        let found = self.list(list).filter(|list| index < list.count()).map(|list| {
            let start = list.range.start + index * list.record.size;
            (list.record, start..start + list.record.size)
        });
        found.ok_or_else(|| {
            let message = format!("{list} has no record {index}, only {} records", self.records(list).len());
            Error::new(ErrorKind::NotFound, message)
        })
    }

    fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.records("names").map(|field| field.split(|byte| *byte == 0).next().unwrap_or(field))
    }

    fn set_name(&mut self, index: usize, name: &[u8]) -> Result<()> {
        let (_, place) = self.place("names", index)?;
        let mut field = self.bytes.get()[place.clone()].to_vec();
        if !write_name(&mut field, name) {
            let message = format!("the name of a model has at most {} bytes and no NUL", field.len() - 1);
            return Err(Error::new(ErrorKind::Refused, message));
        }
        self.bytes.put(place.start, &field);
        Ok(())
    }
}
