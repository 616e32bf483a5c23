//! Lenses on lumps that are not arrays of records.

/// Declares the iterator of a lens that gives its items by index: `iter`, and `for item in &lens`.
macro_rules! iterator {
    ($(#[$doc:meta])* $name:ident: $lens:ident => $item:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<'l, 'a> {
            lens: &'l $lens<'a>,
            range: std::ops::Range<usize>,
        }

        impl<'l, 'a> Iterator for $name<'l, 'a> {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                self.range.next().map(|index| self.lens.view(index))
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.range.size_hint()
            }

            fn nth(&mut self, n: usize) -> Option<Self::Item> {
                self.range.nth(n).map(|index| self.lens.view(index))
            }
        }

        impl DoubleEndedIterator for $name<'_, '_> {
            fn next_back(&mut self) -> Option<Self::Item> {
                self.range.next_back().map(|index| self.lens.view(index))
            }
        }

        impl ExactSizeIterator for $name<'_, '_> {}

        impl<'l, 'a> IntoIterator for &'l $lens<'a> {
            type Item = $item;
            type IntoIter = $name<'l, 'a>;

            fn into_iter(self) -> $name<'l, 'a> {
                $name { lens: self, range: 0..self.len() }
            }
        }
    };
}

pub mod assign;
pub mod bspx;
pub mod disp;
mod doubts;
pub mod entities;
pub(crate) mod grammar;
pub(crate) mod lens;
pub mod lightgrid;
pub mod lightmap;
pub mod looks;
pub mod outlines;
pub mod pak;
pub mod palette;
pub mod pattern;
pub mod physics;
pub mod polygons;
pub mod props;
pub mod select;
pub mod texdata;
pub mod texture_names;
pub mod textures;
pub mod tree;
pub mod visibility;
pub mod wad;
pub mod wal;

use crate::bsp::Bsp;
use crate::dialect::{EntityRules, Role};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::{Slot, SlotId};
pub use lens::{Lens, View};

impl<'a> Bsp<'a> {
    /// How the engines of this map read its entity text; depends on the dialect and the version of the lump.
    pub fn entity_rules(&self) -> EntityRules {
        let version = self.role(Role::Entities).and_then(|slot| slot.version);
        self.dialect().text.of_version(version.unwrap_or_default())
    }

    /// Fails for a lump that claims bytes and has none because the file ends before it: that is not an empty lump.
    pub(crate) fn check_there(&self, slot: &Slot) -> Result<()> {
        match slot.bounds.is_damaged() && slot.stored.is_empty() {
            false => Ok(()),
            true => {
                let message = format!("{} {}", slot.name, slot.bounds);
                Err(Error::new(ErrorKind::Malformed, message).at(Place::default().lump(&slot.name)))
            }
        }
    }

    /// Fails for compressed data, which is not text, whatever the directory says.
    pub(crate) fn check_entity_compression(&self, slot: SlotId) -> Result<()> {
        match self.compression_oddity(slot).filter(|_| self.stored(slot).starts_with(b"LZMA")) {
            Some(oddity) => Err(self.odd_compression(slot, oddity)),
            None => Ok(()),
        }
    }
}
