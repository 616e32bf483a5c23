//! The textures in a Quake or GoldSrc map: a directory, then the textures, with pixels or only with a name.
//!
//! Textures that are not edited keep their bytes, and so do bytes that no entry of the directory names.

mod miptex;
mod names;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Weak};

use super::lens::{Content, Reader};
use super::palette::Palette;
use crate::bsp::Bsp;
use crate::bytes::{Data, Relay, Rope, word};
use crate::dialect::{Form, Role};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;
pub(crate) use miptex::Shrink;
pub use miptex::{Image, LEVELS, Miptex, MiptexHeader};
pub use names::{DrawnAs, FrameFault, SKY_SIZE, frame_faults};

/// The dialects' names for the lump's content.
const LENS: &str = "textures";
const BARE: &str = "textures without palettes";
/// Offsets in the directory that mean "no texture".
const MISSING: i32 = -1;
/// The bytes of a name's field.
const NAME: usize = 16;
/// How many bytes edits may add to the lump: far more than any engine loads. It bounds memory if many entries share
/// bytes and each of them gets its own.
const MOST_GROWTH: usize = 1 << 28;

/// The textures in a map, by their index in the directory.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let textures = draft.textures()?;
/// let mut image = textures.get(1)?.and_then(|texture| texture.image()).unwrap();
/// image.pixels[0] ^= 1;
/// textures.set_image(1, &image, None)?;
///
/// let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// assert_eq!(saved.textures()?.get(1)?.and_then(|texture| texture.image()), Some(image));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Textures<'a> {
    bytes: Data<'a>,
    len: usize,
    has_palettes: bool,
    /// Where textures begin, in order.
    starts: Vec<usize>,
    /// New bytes of textures; never equal to the old ones. Entries at one place share them if they are equal.
    edits: BTreeMap<usize, Arc<Vec<u8>>>,
    /// The last edit of each place.
    latest: HashMap<usize, Weak<Vec<u8>>>,
    /// An upper bound of the bytes of all edits.
    held: usize,
}

impl Bsp<'_> {
    /// Whether maps of this dialect have textures in them, and not only names.
    pub fn has_textures(&self) -> bool {
        self.textures_lump().is_ok()
    }

    /// The lump, and whether the textures have palettes.
    fn textures_lump(&self) -> Result<(SlotId, bool)> {
        let row = self.role(Role::Textures).map(|slot| self.row(slot).map(|row| (slot.id, row.form))).transpose()?;
        let slot = match row {
            Some((id, Form::Lens(LENS))) => Some((id, true)),
            Some((id, Form::Lens(BARE))) => Some((id, false)),
            _ => None,
        };
        let none = || {
            let message = format!("maps of {} have no textures in them, only names of textures", self.dialect().title);
            Error::new(ErrorKind::NotFound, message)
        };
        slot.ok_or_else(none)
    }
}

impl<'a> Content<'a> for Textures<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let (slot, has_palettes) = from.bsp().textures_lump()?;
        Textures::parse_as(from.own(slot)?, has_palettes)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![if self.is_edited() { Some(Rope::from(self.to_bytes()?)) } else { None }])
    }
}

impl<'a> Textures<'a> {
    /// Reads the directory of a GoldSrc map's lump; an empty one has no textures.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it does not fit.
    pub fn parse(bytes: impl Into<Data<'a>>) -> Result<Self> {
        Textures::parse_as(bytes.into(), true)
    }

    fn parse_as(bytes: Data<'a>, has_palettes: bool) -> Result<Self> {
        let wrong = |message: String| Error::new(ErrorKind::Malformed, message).at(Place::default().lump("TEXTURES"));
        let count = match word(&bytes, 0) {
            None if bytes.is_empty() => 0,
            None => return Err(wrong(format!("{} bytes are too few for the number of textures", bytes.len()))),
            Some(count) => count,
        };
        let room = bytes.len().saturating_sub(4) / 4;
        let len = usize::try_from(count).ok().filter(|len| *len <= room);
        let len = len.ok_or_else(|| wrong(format!("there is no room for the offsets of {count} textures")))?;
        let starts = Vec::new();
        let mut read =
            Textures { bytes, len, has_palettes, starts, edits: BTreeMap::new(), latest: HashMap::new(), held: 0 };
        let mut starts: Vec<usize> = (0..len).filter_map(|index| read.offset(index).ok().flatten()).collect();
        starts.sort_unstable();
        starts.dedup();
        read.starts = starts;
        Ok(read)
    }

    /// Whether textures have palettes of their own, as in GoldSrc; in Quake the game has one for all.
    pub fn has_palettes(&self) -> bool {
        self.has_palettes
    }

    /// How many entries the directory has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A texture; `None` if the directory marks it as missing, which is legal.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such entry; [`ErrorKind::Malformed`] if it is outside of the lump, and as
    /// [`Miptex::read`].
    pub fn get(&self, index: usize) -> Result<Option<Miptex<'_>>> {
        if let Some(bytes) = self.edits.get(&index) {
            return Miptex::read_as(bytes, self.has_palettes).map(Some);
        }
        match self.offset(index)? {
            Some(offset) => {
                let texture = self.read_at(offset);
                texture.map(Some).map_err(|error| at(index, error))
            }
            None => Ok(None),
        }
    }

    /// The range of a texture's bytes in the lump that was read; `None` if it is missing or outside of the lump.
    pub fn extent(&self, index: usize) -> Option<Range<usize>> {
        let start = self.offset(index).ok()??;
        let damaged = || damaged_length(&self.bytes[start..]);
        let len = self.read_at(start).map_or_else(|_| damaged(), |texture| texture.bytes().len());
        Some(start..start + len)
    }

    /// The name of an entry, if it can be read, also of a damaged texture.
    pub fn name(&self, index: usize) -> Option<&[u8]> {
        let header = match self.edits.get(&index) {
            Some(bytes) => bytes,
            None => &self.bytes[self.offset(index).ok()??..],
        };
        header.get(..NAME)?.split(|byte| *byte == 0).next()
    }

    /// Gives a texture another image, and another palette if one is given; the size may change. Pixels that stay keep
    /// their pixels in the smaller copies.
    ///
    /// # Errors
    /// As [`Textures::get`] and [`Miptex::with_image`].
    pub fn set_image(&mut self, index: usize, image: &Image, palette: Option<&Palette>) -> Result<()> {
        self.change(index, |texture| texture.with_image(image, palette))
    }

    /// Replaces the pixels of one level: 1 to 3 are the smaller copies; 0 is the image, whose copies then stay as they
    /// are.
    ///
    /// # Errors
    /// As [`Textures::get`] and [`Miptex::with_level`].
    pub fn set_level(&mut self, index: usize, level: usize, pixels: &[u8]) -> Result<()> {
        self.change(index, |texture| texture.with_level(level, pixels))
    }

    /// Gives a texture another name; the bytes after the name's NUL stay. Setting the name that it has is not an edit.
    /// A texture that is damaged after its name can be renamed too.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such texture, [`ErrorKind::Malformed`] if its name is not in the lump,
    /// [`ErrorKind::Refused`] for an empty name and for one of more than 15 bytes.
    pub fn rename(&mut self, index: usize, name: &[u8]) -> Result<()> {
        if self.name(index) == Some(name) {
            return Ok(());
        }
        if name.is_empty() {
            return Err(at(index, Error::new(ErrorKind::Refused, "the new name is empty")));
        }
        if self.get(index).is_ok() {
            return self.change(index, |texture| texture.with_name(name));
        }
        let old = match (self.edits.get(&index), self.offset(index)?) {
            (Some(edited), _) => &edited[..],
            (None, Some(offset)) => &self.bytes[offset..][..damaged_length(&self.bytes[offset..])],
            (None, None) => &[],
        };
        let mut new = old.to_vec();
        let Some(field) = new.get_mut(..NAME) else {
            let message = format!("{} bytes are too few for a name of {NAME}", old.len());
            return Err(at(index, Error::new(ErrorKind::Malformed, message)));
        };
        if !crate::record::write_name(field, name) {
            return Err(miptex::no_room(name));
        }
        let is_same = self.offset(index)?.is_some_and(|offset| self.bytes[offset..].starts_with(&new));
        match is_same {
            true => drop(self.edits.remove(&index)),
            false => self.keep(index, new)?,
        }
        Ok(())
    }

    /// Gives a texture the pixels of another one, for example of a WAD file. The name stays.
    ///
    /// # Errors
    /// As [`Textures::get`] and [`Miptex::with_pixels_of`].
    pub fn embed(&mut self, index: usize, from: &Miptex<'_>) -> Result<()> {
        self.change(index, |texture| texture.with_pixels_of(from))
    }

    /// Removes the pixels of a texture; name and size stay. Engines then look for the pixels in WAD files.
    ///
    /// # Errors
    /// As [`Textures::get`].
    pub fn strip(&mut self, index: usize) -> Result<()> {
        self.change(index, |texture| {
            Ok(if texture.is_embedded() { texture.without_pixels() } else { texture.bytes().to_vec() })
        })
    }

    /// Gives a texture the bytes of another version of it.
    ///
    /// # Errors
    /// As [`Textures::get`]; [`ErrorKind::NotFound`] if the map has no such texture.
    pub fn replace(&mut self, index: usize, new: Vec<u8>) -> Result<()> {
        self.change(index, |_| Ok(new))
    }

    /// Whether a texture differs from what was read.
    pub fn is_edited(&self) -> bool {
        !self.edits.is_empty()
    }

    fn change(&mut self, index: usize, edit: impl FnOnce(&Miptex<'_>) -> Result<Vec<u8>>) -> Result<()> {
        let missing = || Error::new(ErrorKind::NotFound, format!("texture {index} is missing in this map"));
        let texture = self.get(index)?.ok_or_else(missing)?;
        let new = edit(&texture)?;
        let old = self.offset(index)?;
        // Setting the present bytes is not an edit; after a useless offset any bytes are one.
        let is_same = old.and_then(|old| self.read_at(old).ok()).is_some_and(|old| old.bytes() == new);
        match is_same {
            true => drop(self.edits.remove(&index)),
            false => self.keep(index, new)?,
        }
        Ok(())
    }

    /// Stores an edit.
    fn keep(&mut self, index: usize, new: Vec<u8>) -> Result<()> {
        let Some(place) = self.offset(index)? else { return Ok(()) };
        if let Some(known) = self.latest.get(&place).and_then(Weak::upgrade).filter(|known| **known == new) {
            self.edits.insert(index, known);
            return Ok(());
        }
        let most = self.bytes.len().saturating_add(MOST_GROWTH);
        self.held += new.len();
        if self.held > most {
            let all: HashMap<_, _> = self.edits.values().map(|edit| (Arc::as_ptr(edit), edit.len())).collect();
            self.held = all.values().sum::<usize>() + new.len();
        }
        if self.held > most {
            let message =
                format!("the textures would have more than {MOST_GROWTH} bytes of their own beyond the lump's");
            return Err(at(index, Error::new(ErrorKind::TooLarge, message)));
        }
        let new = Arc::new(new);
        self.latest.insert(place, Arc::downgrade(&new));
        self.edits.insert(index, new);
        Ok(())
    }

    /// The texture that begins at an offset. Some compilers wrote no padding: the next texture begins in its place.
    fn read_at(&self, offset: usize) -> Result<Miptex<'_>> {
        let texture = Miptex::read_as(&self.bytes[offset..], self.has_palettes)?;
        let next = self.starts.get(self.starts.partition_point(|start| *start <= offset));
        Ok(next.map_or(texture, |next| texture.padded_up_to(next - offset)))
    }

    /// All offsets in the lump keep their remainder modulo this, if the textures are aligned.
    fn alignment(&self) -> usize {
        const ALIGNMENT: usize = 4;
        if self.starts.iter().all(|start| start.is_multiple_of(ALIGNMENT)) { ALIGNMENT } else { 1 }
    }

    /// Where a texture begins.
    fn offset(&self, index: usize) -> Result<Option<usize>> {
        if index >= self.len {
            let message = format!("there is no texture {index}, only {}", self.len);
            return Err(Error::new(ErrorKind::NotFound, message).at(Place::default().lump("TEXTURES")));
        }
        let says = word(&self.bytes, 4 + 4 * index).unwrap_or(MISSING);
        if says == MISSING {
            return Ok(None);
        }
        let places = 4 + 4 * self.len..self.bytes.len();
        let offset = usize::try_from(says).ok().filter(|offset| places.contains(offset));
        offset.map(Some).ok_or_else(|| {
            let message = format!("its offset is {says}, and textures can be from {} to {}", places.start, places.end);
            at(index, Error::new(ErrorKind::Malformed, message))
        })
    }

    /// The places of the lump where entries begin, in order, with the entries of each. The end of a texture that cannot
    /// be read is not known; only its header counts.
    fn places(&self) -> Vec<Held> {
        let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in 0..self.len {
            if let Ok(Some(offset)) = self.offset(index) {
                places.entry(offset).or_default().push(index);
            }
        }
        let place = |(start, entries): (usize, Vec<usize>)| {
            let texture = self.read_at(start);
            let of_damaged = || damaged_length(&self.bytes[start..]);
            let length = texture.as_ref().map_or_else(|_| of_damaged(), |texture| texture.bytes().len());
            Held { range: start..start + length, entries, is_damaged: texture.is_err() }
        };
        places.into_iter().map(place).collect()
    }

    /// The damaged textures that share bytes with a texture at another place: they cannot be changed alone.
    pub(crate) fn stuck(&self) -> std::collections::BTreeSet<usize> {
        let places = self.places();
        let shared = shared(&places);
        let stuck = places.iter().zip(shared).filter(|(place, is_shared)| place.is_damaged && *is_shared);
        stuck.flat_map(|(place, _)| place.entries.iter().copied()).collect()
    }
}

/// The bytes that certainly belong to a texture that cannot be read: its header.
fn damaged_length(rest: &[u8]) -> usize {
    rest.len().min(<MiptexHeader as crate::record::Field>::SIZE)
}

fn at(index: usize, error: Error) -> Error {
    error.at(Place::default().lump("TEXTURES").record(index))
}

// Writes the lump with edited textures: the bytes after a texture that grows or shrinks move, and the directory is
// updated.

/// A place in the lump, and the entries that begin there.
struct Held {
    range: Range<usize>,
    entries: Vec<usize>,
    is_damaged: bool,
}

impl Textures<'_> {
    /// The lump with all edits. A texture is written at its old place if no other texture shares its bytes, or if all
    /// that begin there get the same bytes. Otherwise its new bytes are written at the end. The order, and the bytes
    /// between textures, stay. An entry whose offset is past the lump keeps an offset past it, by the same distance if
    /// the offset has to change.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if a texture would begin past 2 GiB; [`ErrorKind::Refused`] if a damaged texture shares
    /// bytes with one that is not edited.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let places = self.places();
        let shared = shared(&places);
        let mut out = Relay::new(&self.bytes);
        let alignment = self.alignment();
        let mut apart: Vec<&Held> = Vec::new();
        for (place, is_shared) in places.iter().zip(shared) {
            if !place.entries.iter().any(|index| self.edits.contains_key(index)) {
                continue;
            }
            match self.common_edit(place).filter(|_| !is_shared) {
                Some(new) => out.replace(place.range.clone(), new, alignment),
                None => apart.push(place),
            }
        }
        let mut starts: HashMap<usize, usize> = HashMap::new();
        for place in apart {
            let mut appended: BTreeMap<&[u8], usize> = BTreeMap::new();
            for index in &place.entries {
                let Some(new) = self.edits.get(index) else { continue };
                if place.is_damaged {
                    let message = "it is damaged, and shares bytes with a texture that is not edited";
                    return Err(at(*index, Error::new(ErrorKind::Refused, message)));
                }
                starts.insert(*index, *appended.entry(new).or_insert_with(|| out.append(new, alignment)));
            }
        }
        let mut words = Vec::with_capacity(self.len);
        for index in 0..self.len {
            let start = match starts.get(&index) {
                Some(start) => i32::try_from(*start).ok(),
                None => out.follow(word(&self.bytes, 4 + 4 * index).unwrap_or(MISSING)),
            };
            words.push(start.ok_or_else(|| {
                let place = Place::default().lump("TEXTURES").record(index);
                Error::new(ErrorKind::TooLarge, "a texture would start after 2 GiB").at(place)
            })?);
        }
        let mut out = out.into_bytes();
        words
            .iter()
            .enumerate()
            .for_each(|(at, word)| out[4 + 4 * at..8 + 4 * at].copy_from_slice(&word.to_le_bytes()));
        Ok(out)
    }

    /// The new bytes of all entries at a place, if they are the same.
    fn common_edit(&self, place: &Held) -> Option<&[u8]> {
        let mut edits = place.entries.iter().map(|index| self.edits.get(index));
        let first = edits.next()??;
        edits.all(|other| other.is_some_and(|other| other == first)).then_some(first)
    }
}

/// Which of the sorted places share bytes with others.
fn shared(places: &[Held]) -> Vec<bool> {
    let mut shared = vec![false; places.len()];
    let mut furthest: Option<usize> = None;
    for (at, place) in places.iter().enumerate() {
        if let Some(other) = furthest.filter(|other| place.range.start < places[*other].range.end) {
            (shared[at], shared[other]) = (true, true);
        }
        if furthest.is_none_or(|other| places[other].range.end < place.range.end) {
            furthest = Some(at);
        }
    }
    shared
}

// The lump with some of its textures.

impl Textures<'_> {
    /// The lump with only these entries, in their order; an entry beyond the list goes. Bytes that another entry has
    /// stay, and so do bytes that belong to none. `None` if textures are damaged, since what belongs to them is not
    /// known, or were edited.
    ///
    /// # Errors
    /// Those of a lump that is too large.
    pub fn only(&self, kept: &[bool]) -> Result<Option<Vec<u8>>> {
        let places = self.places();
        let is_damaged = (0..self.len).any(|index| self.offset(index).is_err());
        if is_damaged || self.is_edited() || places.iter().any(|place| place.is_damaged) {
            return Ok(None);
        }
        let shared = shared(&places);
        let is_kept = |index: usize| kept.get(index) == Some(&true);
        let left = (0..self.len).filter(|index| is_kept(*index)).count();
        let mut out = Relay::new(&self.bytes);
        let alignment = self.alignment();
        out.replace(4..4 + 4 * self.len, &vec![0; 4 * left], alignment);
        for (place, is_shared) in places.iter().zip(shared) {
            if !is_shared && !place.entries.iter().any(|index| is_kept(*index)) {
                out.replace(place.range.clone(), &[], alignment);
            }
        }
        let entries = (0..self.len).filter(|index| is_kept(*index)).map(|index| word(&self.bytes, 4 + 4 * index));
        let words: Vec<i32> = entries.map(|says| out.follow(says.unwrap_or(MISSING)).unwrap_or(MISSING)).collect();
        let mut out = out.into_bytes();
        let count = i32::try_from(left).unwrap_or(i32::MAX);
        std::iter::once(&count).chain(&words).enumerate().for_each(|(at, word)| {
            out[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        });
        Ok(Some(out))
    }
}

// The lump with more textures.

impl Textures<'_> {
    /// The lump as it was read with other textures after its own: each is its bytes, or `None` for one that is missing.
    /// What was edited is left out.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
    /// let textures = map.textures()?;
    /// let one = textures.get(1)?.map(|texture| texture.bytes().to_vec());
    /// let more = bspkit::content::textures::Textures::parse(textures.with(&[one, None])?)?;
    /// assert_eq!(more.len(), textures.len() + 2);
    /// assert_eq!(more.name(textures.len()), textures.name(1));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if a texture would begin past 2 GiB.
    pub fn with(&self, added: &[Option<Vec<u8>>]) -> Result<Vec<u8>> {
        let old = &self.bytes;
        let count = self.len + added.len();
        let short = |number: usize, texture: usize| {
            let too_large = || {
                let place = Place::default().lump("TEXTURES").record(texture);
                Error::new(ErrorKind::TooLarge, "a texture would start after 2 GiB").at(place)
            };
            i32::try_from(number).map_err(|_| too_large())
        };
        let by = short(4 * added.len(), 0)?;
        let mut new = short(count, count)?.to_le_bytes().to_vec();
        for at in 0..self.len {
            let moved = match word(old, 4 + 4 * at) {
                Some(offset) if offset >= 0 => offset.saturating_add(by),
                offset => offset.unwrap_or(MISSING),
            };
            new.extend(moved.to_le_bytes());
        }
        new.extend(MISSING.to_le_bytes().repeat(added.len()));
        new.extend_from_slice(old.get(4 + 4 * self.len..).unwrap_or_default());
        for (at, bytes) in added.iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            new.resize(new.len().next_multiple_of(4), 0);
            let place = 4 + 4 * (self.len + at);
            let start = short(new.len(), self.len + at)?.to_le_bytes();
            new[place..place + 4].copy_from_slice(&start);
            new.extend_from_slice(bytes);
        }
        Ok(new)
    }
}
