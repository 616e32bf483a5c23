//! Names of materials in Source maps: the lump of strings and the table of their offsets (`TEXDATA_STRING_DATA` and
//! `TEXDATA_STRING_TABLE` of bspfile.h of the Source SDK 2013).

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::lens::{Content, Reader};
use crate::bytes::{Data, Relay, Rope, escaped, wide, word};
use crate::error::{Error, ErrorKind, Place, Result};

/// The lump with the names of materials.
pub const STRINGS: &str = "TEXDATA_STRING_DATA";
/// The lump with the place of each name.
pub const TABLE: &str = "TEXDATA_STRING_TABLE";

/// The bytes of a name and its NUL (`TEXTURE_NAME_LENGTH`).
const MOST: usize = 128;

/// The names of the materials, by the index that texdata gives (`nameStringTableID`).
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let map = Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let mut draft = map.draft();
/// let names = draft.texture_strings()?;
/// let old = names.get(0)?.to_vec();
/// names.rename(0, "own/another_wall")?;
///
/// let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// assert_eq!(saved.texture_strings()?.get(0)?, b"own/another_wall");
/// draft.texture_strings()?.rename(0, old)?;
/// assert!(draft.changes()?.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// A name is written over the old one, and the bytes after it move. If the old one shares bytes with a name that stays,
/// the new one is written after the last string, and its offset in the table changes. All other names keep their bytes.
#[derive(Clone, Debug)]
pub struct TextureStrings<'a> {
    strings: Data<'a>,
    table: Data<'a>,
    /// Names that differ from the bytes.
    changed: BTreeMap<usize, Vec<u8>>,
}

impl<'a> Content<'a> for TextureStrings<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let lump = |name: &str| from.own(from.slot(name)?);
        Ok(TextureStrings::new(lump(STRINGS)?, lump(TABLE)?))
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        if !self.is_edited() {
            return Ok(vec![None, None]);
        }
        let (strings, table) = self.to_bytes()?;
        Ok(vec![Some(Rope::from(strings)), Some(Rope::from(table))])
    }
}

impl<'a> TextureStrings<'a> {
    /// The names in a lump of strings and a table of offsets into it.
    pub fn new(strings: impl Into<Data<'a>>, table: impl Into<Data<'a>>) -> Self {
        TextureStrings { strings: strings.into(), table: table.into(), changed: BTreeMap::new() }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.table.len() / 4
    }

    /// The bytes of the table.
    pub(super) fn table_len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A name: no `materials/` before it, no extension, and letters of any case.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such name, [`ErrorKind::Malformed`] if its offset is not in the strings.
    pub fn get(&self, index: usize) -> Result<&[u8]> {
        match self.changed.get(&index) {
            Some(name) => Ok(name),
            None => self.extent(index).map(|range| &self.strings[range]),
        }
    }

    /// The names that are the same as this one to engines: case does not count.
    pub fn find(&self, name: impl AsRef<[u8]>) -> impl Iterator<Item = usize> {
        (0..self.len())
            .filter(move |index| self.get(*index).is_ok_and(|other| other.eq_ignore_ascii_case(name.as_ref())))
    }

    /// Gives a material another name; setting the name that it has is not an edit. Other texdata with the old name keep
    /// it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such name, [`ErrorKind::Refused`] for one with a NUL in it or of more
    /// than 127 bytes.
    pub fn rename(&mut self, index: usize, name: impl AsRef<[u8]>) -> Result<()> {
        let name = name.as_ref();
        self.check(index)?;
        // The present name may stay, even if it breaks the rules.
        if self.extent(index).is_ok_and(|old| self.strings[old] == *name) {
            self.changed.remove(&index);
            return Ok(());
        }
        if name.len() >= MOST || name.contains(&0) {
            let message = format!("the name of a material has at most {} bytes and no NUL", MOST - 1);
            return Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(STRINGS)));
        }
        self.changed.insert(index, name.to_vec());
        Ok(())
    }

    /// Whether a name differs from what was read.
    pub fn is_edited(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The problems, in order: offsets that are not in the strings, names without an end, names that are too long or
    /// occur twice.
    pub fn problems(&self) -> Vec<Error> {
        let mut found = Vec::new();
        let mut first: HashMap<Vec<u8>, usize> = HashMap::new();
        for index in 0..self.len() {
            let wrong = |message: String| {
                let place = Place::default().lump(TABLE).record(index);
                Error::new(ErrorKind::Malformed, message).at(place)
            };
            match self.get(index) {
                Err(error) => found.push(error),
                Ok(name) if name.len() >= MOST => {
                    found.push(wrong(format!("the name has {} bytes; at most {} are possible", name.len(), MOST - 1)));
                }
                Ok(name) => match first.entry(name.to_ascii_lowercase()) {
                    std::collections::hash_map::Entry::Vacant(entry) => drop(entry.insert(index)),
                    std::collections::hash_map::Entry::Occupied(entry) => {
                        let name = escaped(name);
                        found.push(wrong(format!("{name} is also the name of {}", entry.get())));
                    }
                },
            }
            let has_no_end = !self.changed.contains_key(&index)
                && self.extent(index).is_ok_and(|range| range.end == self.strings.len());
            if has_no_end {
                found.push(wrong("no NUL ends the name".into()));
            }
        }
        found
    }

    /// Both lumps with the changed names: the strings and the table. A string is written over if no other name uses its
    /// bytes, or if all its names change to the same one; strings after it move. If it is shared or missing, the new
    /// one is written after the last string. An offset past the old end of the strings stays past the new end.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if a string would begin after 2 GiB.
    fn to_bytes(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let in_place = self.in_place();
        let mut strings = Relay::new(&self.strings);
        in_place.values().for_each(|(range, name)| strings.replace(range.clone(), name, 1));
        let mut appended: HashMap<(Option<usize>, &[u8]), usize> = HashMap::new();
        let mut starts: HashMap<usize, usize> = HashMap::new();
        for (index, name) in &self.changed {
            let start = self.start(*index);
            if start.is_some_and(|start| in_place.contains_key(&start)) {
                continue;
            }
            // Names that shared a string, and are equal now, share one again.
            let start = *appended.entry((start, name)).or_insert_with(|| {
                // A last string without an end would continue in the new one.
                if strings.last().is_some_and(|last| last != 0) {
                    strings.append(&[0], 1);
                }
                strings.append(&[name, &[0][..]].concat(), 1)
            });
            starts.insert(*index, start);
        }
        let mut table = self.table.to_vec();
        for (index, entry) in table.chunks_exact_mut(4).enumerate() {
            let start = match (starts.get(&index), word(entry, 0)) {
                (Some(start), _) => i32::try_from(*start).ok(),
                (None, says) => strings.follow(says.unwrap_or(-1)),
            };
            let start = start.ok_or_else(|| {
                let message = format!("name {index} would start after 2 GiB");
                Error::new(ErrorKind::TooLarge, message).at(Place::default().lump(STRINGS))
            })?;
            entry.copy_from_slice(&start.to_le_bytes());
        }
        Ok((strings.into_bytes(), table))
    }

    /// The strings that are written over, by their offsets, with their new bytes. No other name, kept or changed to
    /// something else, uses their bytes.
    fn in_place(&self) -> BTreeMap<usize, (Range<usize>, &[u8])> {
        if self.changed.is_empty() {
            return BTreeMap::new();
        }
        // Strings that share bytes share their end. Kept here: their start, if it is the same, and their new name, if
        // it is the same.
        let mut ends: BTreeMap<usize, Option<(usize, &[u8])>> = BTreeMap::new();
        for index in 0..self.len() {
            let Ok(range) = self.extent(index) else { continue };
            let wanted = self.changed.get(&index).map(|name| (range.start, &name[..]));
            let one = ends.entry(range.end).or_insert(wanted);
            if *one != wanted {
                *one = None;
            }
        }
        let places = ends.into_iter().filter_map(|(end, one)| Some((one?.0..end, one?.1)));
        // A string without an end gets one from a new string after it.
        let is_closed =
            |(range, name): &(Range<usize>, &[u8])| range.end < self.strings.len() || name.len() == range.len();
        places.filter(is_closed).map(|(range, name)| (range.start, (range, name))).collect()
    }

    /// The offset of a name, if it is in the strings.
    fn start(&self, index: usize) -> Option<usize> {
        let says = word(&self.table, 4 * index)?;
        usize::try_from(says).ok().filter(|start| *start < self.strings.len())
    }

    /// Where a name is in the strings.
    fn extent(&self, index: usize) -> Result<Range<usize>> {
        self.check(index)?;
        let start = self.start(index).ok_or_else(|| {
            let says = word(&self.table, 4 * index).unwrap_or(-1);
            let message = format!("name {index} begins at {says}, and the strings have {} bytes", self.strings.len());
            let place = Place::default().lump(TABLE).record(index).offset(wide(4 * index));
            Error::new(ErrorKind::Malformed, message).at(place)
        })?;
        let rest = &self.strings[start..];
        Ok(start..start + memchr::memchr(0, rest).unwrap_or(rest.len()))
    }

    /// The bytes of all names, each with the NUL that ends it; `None` if an offset is not in the strings.
    pub fn extents(&self) -> Option<Vec<Range<usize>>> {
        let whole = |range: Range<usize>| range.start..(range.end + 1).min(self.strings.len());
        (0..self.len()).map(|index| self.extent(index).ok().map(whole)).collect()
    }

    fn check(&self, index: usize) -> Result<()> {
        if index < self.len() {
            return Ok(());
        }
        let message = format!("there is no name {index}, only {}", self.len());
        Err(Error::new(ErrorKind::NotFound, message).at(Place::default().lump(TABLE)))
    }
}
