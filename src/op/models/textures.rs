//! Textures within a map, and names of materials, that a model needs: by name, and none twice.

use std::collections::HashMap;

use crate::bsp::Bsp;
use crate::bytes::{Data, align_up, short, word};
use crate::content::lens::View;
use crate::content::texdata::STRINGS;
use crate::content::textures::Textures;
use crate::dialect::Role;
use crate::error::Result;
use crate::file::SlotId;

/// The textures of two maps, and those that the target gets.
pub(super) struct NewTextures<'o> {
    theirs: Option<View<Textures<'o>>>,
    own: Option<(SlotId, Data<'o>, View<Textures<'o>>)>,
    places: HashMap<usize, usize>,
    /// The bytes of the new ones; `None` for one that is missing.
    added: Vec<Option<Vec<u8>>>,
    /// The names of the new ones.
    pub(super) names: Vec<Vec<u8>>,
}

impl<'o> NewTextures<'o> {
    pub(super) fn new(from: &'o Bsp<'_>, to: &'o Bsp<'_>) -> Result<Self> {
        let mut textures =
            NewTextures { theirs: None, own: None, places: HashMap::new(), added: Vec::new(), names: Vec::new() };
        if from.has_textures() {
            textures.theirs = Some(from.lens::<Textures<'_>>()?);
        }
        if let Some(slot) = to.role(Role::Textures).filter(|_| to.has_textures()) {
            textures.own = Some((slot.id, to.little_endian(slot.id)?, to.lens::<Textures<'_>>()?));
        }
        Ok(textures)
    }

    /// The number in the target for a texture of the other map; the reason if there can be none.
    pub(super) fn place(&mut self, old: i64) -> Result<i64, String> {
        let (Some(theirs), Some((_, _, own))) = (&self.theirs, &self.own) else {
            return Err("textures within the map cannot be read".to_owned());
        };
        let index = usize::try_from(old).ok().filter(|index| *index < theirs.len());
        let index = index.ok_or_else(|| format!("a texture {old} is named, which is not there"))?;
        if let Some(place) = self.places.get(&index) {
            return Ok(i64::from(short(*place)));
        }
        let texture = theirs.get(index).map_err(|error| format!("the texture {index} cannot be copied: {error}"))?;
        let name = texture.as_ref().map(|texture| texture.name().to_vec());
        let is_same = |at: &usize| match (&name, own.name(*at)) {
            (Some(name), Some(other)) => other.eq_ignore_ascii_case(name),
            (None, None) => own.get(*at).is_ok_and(|texture| texture.is_none()),
            _ => false,
        };
        // Some maps have two of the same name.
        let place =
            std::iter::once(index).filter(|at| *at < own.len()).chain(0..own.len()).find(is_same).unwrap_or_else(
                || {
                    self.added.push(texture.map(|texture| texture.bytes().to_vec()));
                    self.names.push(name.unwrap_or_default());
                    own.len() + self.added.len() - 1
                },
            );
        self.places.insert(index, place);
        Ok(i64::from(short(place)))
    }

    /// The lump with the new textures after the others.
    pub(super) fn lump(&self) -> Option<(SlotId, Vec<u8>)> {
        let (slot, old, own) = self.own.as_ref().filter(|_| !self.added.is_empty())?;
        let (count, directory) = (own.len(), 4 * self.added.len());
        let first = (4 + 4 * count).min(old.len());
        let moved = |at: usize| match word(old, 4 + 4 * at) {
            Some(offset) if offset >= 0 => offset.saturating_add(i32::try_from(directory).unwrap_or(i32::MAX)),
            offset => offset.unwrap_or(-1),
        };
        let mut new = short(count + self.added.len()).to_le_bytes().to_vec();
        (0..count).for_each(|at| new.extend(moved(at).to_le_bytes()));
        new.resize(new.len() + directory, 0xFF);
        new.extend_from_slice(&old[first..]);
        for (at, bytes) in self.added.iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            new.resize(align_up(new.len(), 4), 0);
            let place = 4 + 4 * (count + at);
            let start = short(new.len()).to_le_bytes();
            new[place..place + 4].copy_from_slice(&start);
            new.extend_from_slice(bytes);
        }
        Some((*slot, new))
    }
}

/// The names of materials of two maps, and those that the target gets.
pub(super) struct NewNames<'o> {
    theirs: Data<'o>,
    own: Option<(SlotId, Data<'o>)>,
    /// Where each name of the target begins.
    places: HashMap<Vec<u8>, usize>,
    added: Vec<u8>,
    /// The new ones.
    pub(super) names: Vec<Vec<u8>>,
}

impl<'o> NewNames<'o> {
    pub(super) fn new(from: &Bsp<'o>, to: &Bsp<'o>) -> Result<Self> {
        let slot = |map: &Bsp<'o>| map.slots().iter().find(|slot| slot.name == STRINGS).map(|slot| slot.id);
        let mut names = NewNames {
            theirs: slot(from).map_or_else(|| Ok(Data::from(Vec::new())), |slot| from.little_endian(slot))?,
            own: None,
            places: HashMap::new(),
            added: Vec::new(),
            names: Vec::new(),
        };
        if let Some(slot) = slot(to) {
            let bytes = to.little_endian(slot)?;
            let mut start = 0;
            for name in bytes.split_inclusive(|byte| *byte == 0) {
                if let Some(name) = name.strip_suffix(b"\0") {
                    names.places.entry(name.to_vec()).or_insert(start);
                }
                start += name.len();
            }
            names.own = Some((slot, bytes));
        }
        Ok(names)
    }

    /// The place in the target of the name at an offset of the other map; `None` if it is not one.
    pub(super) fn place(&mut self, old: i64) -> Option<i64> {
        let (_, own) = self.own.as_ref()?;
        let rest = self.theirs.get(usize::try_from(old).ok()?..)?;
        let name = &rest[..rest.iter().position(|byte| *byte == 0)?];
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                // A name before it may have no end.
                if self.added.is_empty() && own.last().is_some_and(|last| *last != 0) {
                    self.added.push(0);
                }
                let place = own.len() + self.added.len();
                self.added.extend_from_slice(name);
                self.added.push(0);
                self.places.insert(name.to_vec(), place);
                self.names.push(name.to_vec());
                place
            }
        };
        i64::try_from(place).ok()
    }

    /// The lump with the new names after the others.
    pub(super) fn lump(&self) -> Option<(SlotId, Vec<u8>)> {
        let (slot, own) = self.own.as_ref().filter(|_| !self.added.is_empty())?;
        Some((*slot, [&own[..], &self.added[..]].concat()))
    }
}
