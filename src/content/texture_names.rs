//! Names of textures wherever a family keeps them: in the textures themselves, in records that name files, or in a list of
//! strings. One list and one way to rename, for all of them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::pattern::Pattern;
use super::texdata::{STRINGS, TABLE};
use crate::bsp::Bsp;
use crate::bytes::{Data, escaped};
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;
use crate::record::Shape;

/// The lumps whose records name textures, where those have a field for a name at all: Quake II's texinfo, Quake III's
/// shaders, and its fogs, which name their shader a second time.
const ROLES: [Role; 3] = [Role::Textures, Role::TexInfo, Role::Fogs];

/// The bytes of a name of Source and its NUL (`TEXTURE_NAME_LENGTH`).
const NAME_LENGTH: usize = 128;

/// A name of a texture in a map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let names = map.texture_names()?;
/// assert!(names.iter().any(|name| name.lump == "TEXINFO" && name.name == b"own/sky"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextureName {
    /// The lump that it stands in.
    pub lump: String,
    /// The index of the record.
    pub index: usize,
    /// The name.
    pub name: Vec<u8>,
}

/// A pattern of old names, and what they are to be called.
///
/// ```
/// use bspkit::content::texture_names::Renaming;
/// let renaming = Renaming::new("e1u1/*", "e1u2/{1}")?;
/// assert_eq!(renaming.apply(b"E1U1/metal"), Some(b"e1u2/metal".to_vec()));
/// assert_eq!(renaming.apply(b"e2u1/metal"), None);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Renaming {
    old: Pattern,
    new: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Vec<u8>),
    /// What a wildcard stands for, counted from 0.
    Capture(usize),
}

impl Renaming {
    /// Reads a pattern of whole names and a new name, in which `{1}` is what the first wildcard stands for. All other braces
    /// are letters.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] where a number has no wildcard.
    pub fn new(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Self> {
        let old = Pattern::whole(old);
        let (mut rest, mut text, mut pieces) = (new.as_ref(), Vec::new(), Vec::new());
        while let Some((first, tail)) = rest.split_first() {
            let Some((number, used)) = capture(rest) else {
                text.push(*first);
                rest = tail;
                continue;
            };
            let count = old.wildcards();
            let index = number.checked_sub(1).filter(|index| *index < count).ok_or_else(|| {
                let message = format!("{{{number}}} stands for no wildcard: the old name has {count}");
                Error::new(ErrorKind::Argument, message).hint("*, ** and ? are wildcards, counted from 1")
            })?;
            pieces.extend([Piece::Text(std::mem::take(&mut text)), Piece::Capture(index)]);
            rest = &rest[used..];
        }
        pieces.push(Piece::Text(text));
        Ok(Renaming { old, new: pieces })
    }

    /// The new name of a texture; nothing where the pattern is not about it.
    pub fn apply(&self, name: &[u8]) -> Option<Vec<u8>> {
        let captures = self.old.captures(name)?;
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Capture(index) => captures.get(*index).map_or_else(Vec::new, |range| name[range.clone()].to_vec()),
        };
        Some(self.new.iter().flat_map(piece).collect())
    }

    /// The new name where it fits so many bytes with the NUL behind it.
    fn checked(&self, lump: &str, index: usize, name: &[u8], size: usize) -> Result<Option<Vec<u8>>> {
        let Some(new) = self.apply(name) else { return Ok(None) };
        let why = match new.len() {
            0 => "has no letters".to_owned(),
            _ if new.contains(&0) => "has a NUL".to_owned(),
            len if len >= size => format!("has {len} bytes, and {} are the most", size - 1),
            _ => return Ok(Some(new)),
        };
        let message = format!("`{}` cannot be called `{}`: the new name {why}", escaped(name), escaped(&new));
        Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(lump).record(index)))
    }
}

/// The number of `{12}`, and how many bytes that are.
fn capture(text: &[u8]) -> Option<(usize, usize)> {
    let digits = text.strip_prefix(b"{")?.split(|byte| *byte == b'}').next()?;
    let is_number = !digits.is_empty() && digits.len() + 1 < text.len() && digits.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
    Some((number, digits.len() + 2))
}

/// A field of records that names textures.
struct Names {
    slot: SlotId,
    lump: String,
    record: usize,
    field: Range<usize>,
}

impl Names {
    fn name<'b>(&self, record: &'b [u8]) -> &'b [u8] {
        let field = &record[self.field.clone()];
        field.split(|byte| *byte == 0).next().unwrap_or(field)
    }
}

impl<'a> Bsp<'a> {
    /// The names of textures, in the order of the lumps and of the records in them; several records may give the same one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where nothing in the map is known to name textures; as [`Bsp::bytes`].
    pub fn texture_names(&self) -> Result<Vec<TextureName>> {
        let mut names = Vec::new();
        let mut add = |lump: &str, index, name: &[u8]| {
            names.push(TextureName { lump: lump.to_owned(), index, name: name.to_vec() });
        };
        if self.has_textures() {
            let textures = self.textures()?;
            let named = (0..textures.len()).filter_map(|index| Some((index, textures.name(index)?)));
            named.for_each(|(index, name)| add("TEXTURES", index, name));
            return Ok(names);
        }
        if self.slot(TABLE).is_ok() {
            let strings = self.texture_strings()?;
            let named = (0..strings.len()).filter_map(|index| Some((index, strings.get(index).ok()?)));
            named.for_each(|(index, name)| add(STRINGS, index, name));
            return Ok(names);
        }
        for field in self.texture_fields()? {
            let bytes = self.bytes(field.slot)?;
            let records = bytes.chunks_exact(field.record).enumerate();
            records.for_each(|(index, record)| add(&field.lump, index, field.name(record)));
        }
        Ok(names)
    }

    fn texture_fields(&self) -> Result<Vec<Names>> {
        let names = |role: &Role| {
            let slot = self.role(*role)?;
            let record = self.row(slot).ok()?.record()?;
            let field = record.fields.iter().find(|field| matches!(field.shape, Shape::Name(_)))?;
            let place = field.offset..field.offset + field.shape.size();
            Some(Names { slot: slot.id, lump: slot.name.clone(), record: record.size, field: place })
        };
        let found: Vec<_> = ROLES.iter().filter_map(names).collect();
        let none = || Error::new(ErrorKind::NotFound, "nothing in the map is known to name textures");
        if found.is_empty() { Err(none()) } else { Ok(found) }
    }

    /// The lumps with other names, and how many names are other ones; `bytes` are the lumps as an edit has them.
    pub(crate) fn with_texture_names(
        &self,
        renaming: &Renaming,
        bytes: impl Fn(SlotId) -> Result<Data<'a>>,
    ) -> Result<(BTreeMap<SlotId, Vec<u8>>, usize)> {
        let (mut lumps, mut count) = (BTreeMap::new(), 0);
        if let Ok(slot) = self.textures_id() {
            let mut textures = self.textures_of(&bytes)?;
            for index in 0..textures.len() {
                let name = textures.name(index).map(<[u8]>::to_vec);
                let new = name.map(|name| renaming.checked("TEXTURES", index, &name, 16)).transpose()?.flatten();
                if let Some(new) = new {
                    textures.rename(index, &new)?;
                    count += 1;
                }
            }
            lumps.insert(slot, textures.to_bytes()?);
            return Ok((lumps, count));
        }
        if let Ok(table) = self.slot(TABLE) {
            let mut strings = self.texture_strings_of(&bytes)?;
            for index in 0..strings.len() {
                let Ok(name) = strings.get(index) else { continue };
                let Some(new) = renaming.checked(STRINGS, index, name, NAME_LENGTH)? else { continue };
                strings.rename(index, new)?;
                count += 1;
            }
            if strings.is_edited() {
                let (names, offsets) = strings.to_bytes()?;
                lumps.extend([(self.slot(STRINGS)?.id, names), (table.id, offsets)]);
            }
            return Ok((lumps, count));
        }
        for names in self.texture_fields()? {
            let mut bytes = bytes(names.slot)?.to_vec();
            for (index, record) in bytes.chunks_exact_mut(names.record).enumerate() {
                let new = renaming.checked(&names.lump, index, names.name(record), names.field.len())?;
                let Some(new) = new else { continue };
                let field = &mut record[names.field.clone()];
                // What stands behind the new NUL stays.
                if field.split(|byte| *byte == 0).next() != Some(&new[..]) {
                    field[..new.len()].copy_from_slice(&new);
                    field[new.len()] = 0;
                }
                count += 1;
            }
            lumps.insert(names.slot, bytes);
        }
        Ok((lumps, count))
    }
}
