//! Names of textures wherever a family keeps them: in the textures themselves, in records that name files, or in a list of
//! strings. One list and one way to rename, for all of them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::pattern::Pattern;
use super::texdata::{STRINGS, TABLE, TextureStrings};
use super::textures::Textures;
use crate::bsp::Bsp;
use crate::bytes::{Data, escaped};
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;
use crate::record::{Shape, write_name};

/// The lumps whose records name textures, where those have a field for a name at all: Quake II's texinfo, Quake III's
/// shaders, and its fogs, which name their shader a second time.
const ROLES: [Role; 3] = [Role::Textures, Role::TexInfo, Role::Fogs];

/// The bytes of a name of Source and its NUL (`TEXTURE_NAME_LENGTH`).
const NAME_LENGTH: usize = 128;

/// Names of more bytes are left alone: nothing but damage has them, and strings that overlap could make many of them.
const MOST_BYTES: usize = 1024;

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
    /// The name; the first 127 bytes of a Source map's that is longer, nothing where it cannot be read.
    pub name: Vec<u8>,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// What a renaming did.
///
/// ```
/// use bspkit::content::texture_names::Renaming;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let renamed = map.draft().rename_textures(&Renaming::new("own/*", "own/wall")?)?;
/// assert!(renamed.count > 0 && renamed.left.is_empty());
/// assert_eq!(renamed.merged[0].0, b"own/wall");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Renamed {
    /// How many names the renaming was about.
    pub count: usize,
    /// Why names were left alone: they cannot be read, or not be changed without others.
    pub left: Vec<Error>,
    /// New names that were different ones before, and those.
    pub merged: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// What every name becomes, and the names that do, in lower case.
    names: BTreeMap<Vec<u8>, (Vec<Vec<u8>>, bool)>,
}

impl Renamed {
    fn add(&mut self, old: &[u8], new: Option<&[u8]>) {
        self.count += usize::from(new.is_some());
        let is_new = new.is_some_and(|new| new != old);
        let (olds, any_new) = self.names.entry(new.unwrap_or(old).to_ascii_lowercase()).or_default();
        *any_new |= is_new;
        // A few are enough to say what happened.
        if olds.len() < 4 && !olds.iter().any(|other| other.eq_ignore_ascii_case(old)) {
            olds.push(old.to_vec());
        }
    }

    fn finish(mut self) -> Self {
        let names = std::mem::take(&mut self.names).into_iter();
        let merged = names.filter(|(_, (olds, any_new))| *any_new && olds.len() > 1);
        self.merged = merged.map(|(new, (olds, _))| (new, olds)).collect();
        self
    }
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
        // What is there may stay, whatever it is.
        if new == name {
            return Ok(Some(new));
        }
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

/// Names of records in a lump, or why there are none.
type Named<'b> = (usize, Result<&'b [u8]>);

/// What is left of a lump behind its last whole record: a record that cannot be read.
fn ragged(lump: &str, bytes: usize, record: usize) -> Option<(usize, Error)> {
    let (index, rest) = (bytes / record, bytes % record);
    let message = format!("{rest} bytes are no record of {record}");
    (rest > 0).then(|| (index, Error::new(ErrorKind::Malformed, message).at(Place::default().lump(lump).record(index))))
}

impl<'a> Bsp<'a> {
    /// The names of textures, in the order of the lumps and of the records in them; several records may give the same one. A
    /// name that cannot be read is there with its problem.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] where nothing in the map is known to name textures; as [`Bsp::bytes`].
    pub fn texture_names(&self) -> Result<Vec<TextureName>> {
        let mut names = Vec::new();
        let mut add = |lump: &str, (index, name): Named<'_>| {
            let (name, problem) = match name {
                Ok(name) if lump == STRINGS && name.len() >= NAME_LENGTH => {
                    let message = format!("the name has {} bytes, and {} are the most", name.len(), NAME_LENGTH - 1);
                    (&name[..NAME_LENGTH - 1], Some(message))
                }
                Ok(name) => (name, None),
                Err(error) => (&[][..], Some(error.to_string())),
            };
            names.push(TextureName { lump: lump.to_owned(), index, name: name.to_vec(), problem });
        };
        if self.has_textures() {
            let textures = self.textures()?;
            (0..textures.len()).filter_map(|index| named(&textures, index)).for_each(|name| add("TEXTURES", name));
            return Ok(names);
        }
        if let Ok(table) = self.slot(TABLE) {
            let strings = self.texture_strings()?;
            (0..strings.len()).for_each(|index| add(STRINGS, (index, strings.get(index))));
            let rest = ragged(TABLE, self.bytes(table.id)?.len(), 4);
            rest.into_iter().for_each(|(index, error)| add(STRINGS, (index, Err(error))));
            return Ok(names);
        }
        for field in self.texture_fields()? {
            let bytes = self.little_endian(field.slot)?;
            let records = bytes.chunks_exact(field.record).enumerate();
            records.for_each(|(index, record)| add(&field.lump, (index, Ok(field.name(record)))));
            let rest = ragged(&field.lump, bytes.len(), field.record);
            rest.into_iter().for_each(|(index, error)| add(&field.lump, (index, Err(error))));
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

    /// The lumps with other names, and what was done; `bytes` are the lumps as an edit has them.
    pub(crate) fn with_texture_names(
        &self,
        renaming: &Renaming,
        bytes: impl Fn(SlotId) -> Result<Data<'a>>,
    ) -> Result<(BTreeMap<SlotId, Vec<u8>>, Renamed)> {
        let (mut lumps, mut renamed) = (BTreeMap::new(), Renamed::default());
        if let Ok(slot) = self.textures_id() {
            let mut textures = self.textures_of(&bytes)?;
            rename_textures(&mut textures, renaming, &mut renamed)?;
            if textures.is_edited() {
                lumps.insert(slot, textures.to_bytes()?);
            }
            return Ok((lumps, renamed.finish()));
        }
        if let Ok(table) = self.slot(TABLE) {
            let mut strings = self.texture_strings_of(&bytes)?;
            rename_strings(&mut strings, renaming, &mut renamed)?;
            let rest = ragged(TABLE, bytes(table.id)?.len(), 4);
            renamed.left.extend(rest.map(|(_, error)| error));
            if strings.is_edited() {
                let (names, offsets) = strings.to_bytes()?;
                lumps.extend([(self.slot(STRINGS)?.id, names), (table.id, offsets)]);
            }
            return Ok((lumps, renamed.finish()));
        }
        for names in self.texture_fields()? {
            let mut bytes = bytes(names.slot)?.to_vec();
            renamed.left.extend(ragged(&names.lump, bytes.len(), names.record).map(|(_, error)| error));
            for (index, record) in bytes.chunks_exact_mut(names.record).enumerate() {
                let old = names.name(record).to_vec();
                let new = renaming.checked(&names.lump, index, &old, names.field.len())?;
                renamed.add(&old, new.as_deref());
                // That it fits was seen before.
                let _ = new.is_some_and(|new| write_name(&mut record[names.field.clone()], &new));
            }
            lumps.insert(names.slot, bytes);
        }
        Ok((lumps, renamed.finish()))
    }
}

/// The name of a texture, where there is one.
fn named<'t>(textures: &'t Textures<'_>, index: usize) -> Option<Named<'t>> {
    match (textures.name(index), textures.get(index)) {
        (Some(name), _) => Some((index, Ok(name))),
        (None, Ok(_)) => None,
        (None, Err(error)) => Some((index, Err(error))),
    }
}

fn rename_textures(textures: &mut Textures<'_>, renaming: &Renaming, renamed: &mut Renamed) -> Result<()> {
    let stuck = textures.stuck();
    for index in 0..textures.len() {
        let old = match named(textures, index) {
            Some((_, Ok(name))) => name.to_vec(),
            Some((_, Err(error))) => {
                renamed.left.push(error);
                continue;
            }
            None => continue,
        };
        let new = renaming.checked("TEXTURES", index, &old, 16)?;
        if stuck.contains(&index) && new.as_ref().is_some_and(|new| *new != old) {
            let message = format!("`{}` is damaged and shares bytes with another texture", escaped(&old));
            renamed
                .left
                .push(Error::new(ErrorKind::Refused, message).at(Place::default().lump("TEXTURES").record(index)));
            renamed.add(&old, None);
            continue;
        }
        renamed.add(&old, new.as_deref());
        if let Some(new) = new {
            textures.rename(index, &new)?;
        }
    }
    Ok(())
}

fn rename_strings(strings: &mut TextureStrings<'_>, renaming: &Renaming, renamed: &mut Renamed) -> Result<()> {
    for index in 0..strings.len() {
        let name = match strings.get(index) {
            Ok(name) if name.len() <= MOST_BYTES => name,
            Ok(name) => {
                let message = format!("the name has {} bytes, and {} are the most", name.len(), NAME_LENGTH - 1);
                let place = Place::default().lump(STRINGS).record(index);
                renamed.left.push(Error::new(ErrorKind::Malformed, message).at(place));
                continue;
            }
            Err(error) => {
                renamed.left.push(error);
                continue;
            }
        };
        let new = renaming.checked(STRINGS, index, name, NAME_LENGTH)?;
        renamed.add(name, new.as_deref());
        if let Some(new) = new {
            strings.rename(index, new)?;
        }
    }
    Ok(())
}
