//! Names of textures, wherever a family stores them: in the textures themselves, in records that name files, or in a
//! list of strings. There is one list of names and one way to rename for all families.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::lens::{Content, Reader};
use super::pattern::{Pattern, capture};
use super::texdata::{STRINGS, TABLE, TextureStrings};
use super::textures::{DrawnAs, Textures};
use crate::bytes::{Rope, escaped};
use crate::dialect::{Role, Row};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::near;
use crate::record::{FieldInfo, Held, Shape, write_name};

/// The lumps whose records may have a field with the name of a texture: Quake II's texinfo, Quake III's shaders, and
/// its fogs, which name their shader a second time.
const ROLES: [Role; 3] = [Role::Textures, Role::TexInfo, Role::Fogs];

/// The bytes of a name of Source and its NUL (`TEXTURE_NAME_LENGTH`).
const NAME_LENGTH: usize = 128;

/// The lump of the textures of Quake and GoldSrc.
const TEXTURES: &str = "TEXTURES";

/// Longer names are not renamed: they occur only in damaged maps, and strings that overlap could make many of them.
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
    /// The lump that contains it.
    pub lump: String,
    /// The index of the record.
    pub index: usize,
    /// The name; the first 127 bytes of a longer one of a Source map; empty if it cannot be read.
    pub name: Vec<u8>,
    /// The problem of the name, if it has one.
    pub problem: Option<String>,
}

/// The result of a renaming.
///
/// ```
/// use bspkit::content::texture_names::Renaming;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let renamed = map.draft().texture_names()?.rename(&Renaming::new("own/*", "own/wall")?)?;
/// assert!(renamed.count > 0 && renamed.left.is_empty());
/// assert_eq!(renamed.merged[0].0, b"own/wall");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Renamed {
    /// How many names matched.
    pub count: usize,
    /// How many of these are other names now.
    pub changed: usize,
    /// The reasons why names were not changed: they cannot be read, or share bytes with others.
    pub left: Vec<Error>,
    /// If the pattern matches no name: a sentence about it, and as its hint a pattern or names that may be meant.
    pub unmatched: Option<Error>,
    /// New names that merge several old ones, with the old names.
    pub merged: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// Faults of animated textures that the renaming causes, at which engines of Quake and GoldSrc stop: one sentence
    /// each.
    pub frames: Vec<String>,
    /// Textures that engines of Quake and GoldSrc draw in another way by their new names, such as a wall that becomes
    /// the sky: one sentence for each kind of change.
    pub drawn: Vec<String>,
    /// Old names by resulting name (lower case).
    names: BTreeMap<Vec<u8>, (Vec<Vec<u8>>, bool)>,
}

impl Renamed {
    fn add(&mut self, old: &[u8], new: Option<&[u8]>) {
        self.count += usize::from(new.is_some());
        let is_new = new.is_some_and(|new| new != old);
        self.changed += usize::from(is_new);
        let (olds, any_new) = self.names.entry(new.unwrap_or(old).to_ascii_lowercase()).or_default();
        *any_new |= is_new;
        // A few are enough to show the problem.
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

/// The names of the textures of a map. Renaming one changes it wherever the map names the texture.
///
/// ```
/// use bspkit::content::texture_names::Renaming;
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// assert!(map.texture_names()?.iter().any(|name| name.name == b"textures/own/wall"));
/// let mut draft = map.draft();
/// let renamed = draft.texture_names()?.rename(&Renaming::new("textures/own/*", "textures/mine/{1}")?)?;
/// assert!(renamed.count > 0 && draft.changes()?.len() == 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TextureNames<'a> {
    kept: Kept<'a>,
}

/// Where a map stores the names.
#[derive(Clone, Debug)]
enum Kept<'a> {
    Textures(Textures<'a>),
    Strings(TextureStrings<'a>),
    Records(Vec<NamedRecords<'a>>),
}

/// A lump of records with a field that names a texture.
#[derive(Clone, Debug)]
struct NamedRecords<'a> {
    lump: String,
    bytes: Held<'a>,
    record: usize,
    field: Range<usize>,
}

impl<'a> NamedRecords<'a> {
    /// The records of a role, if they have a field for a name.
    fn read(from: &Reader<'_, 'a>, role: Role) -> Result<Option<Self>> {
        let bsp = from.bsp();
        let Some(slot) = bsp.role(role) else { return Ok(None) };
        let record = bsp.row(slot).ok().and_then(Row::record);
        let is_name = |field: &&FieldInfo| matches!(field.shape, Shape::Name(_));
        let field = record.and_then(|record| Some((record, record.fields.iter().find(is_name)?)));
        let Some((record, field)) = field else { return Ok(None) };
        let (bytes, field) = (Held::new(from.own(slot.id)?), field.offset..field.offset + field.shape.size());
        Ok(Some(NamedRecords { lump: slot.name.clone(), bytes, record: record.size, field }))
    }

    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.get().chunks_exact(self.record).map(|record| {
            let field = &record[self.field.clone()];
            field.split(|byte| *byte == 0).next().unwrap_or(field)
        })
    }

    fn ragged(&self) -> Option<(usize, Error)> {
        ragged(&self.lump, self.bytes.get().len(), self.record)
    }

    fn rename(&mut self, renaming: &Renaming, renamed: &mut Renamed) -> Result<()> {
        renamed.left.extend(self.ragged().map(|(_, error)| error));
        let mut fields = Vec::new();
        for (index, old) in self.names().enumerate() {
            let new = renaming.checked(&self.lump, index, old, self.field.len())?;
            renamed.add(old, new.as_deref());
            let Some(new) = new.filter(|new| new != old) else { continue };
            let place = index * self.record + self.field.start..index * self.record + self.field.end;
            let mut field = self.bytes.get()[place.clone()].to_vec();
            // It was checked that it fits.
            write_name(&mut field, &new);
            fields.push((place.start, field));
        }
        fields.into_iter().for_each(|(at, field)| self.bytes.put(at, &field));
        Ok(())
    }
}

/// Names of records in a lump, or why there are none.
type Named<'b> = (usize, Result<&'b [u8]>);

/// The bytes of a lump after its last whole record: a record that cannot be read.
fn ragged(lump: &str, bytes: usize, record: usize) -> Option<(usize, Error)> {
    let (index, rest) = (bytes / record, bytes % record);
    let message = format!("{rest} bytes are not a whole record of {record}");
    (rest > 0).then(|| (index, Error::new(ErrorKind::Malformed, message).at(Place::default().lump(lump).record(index))))
}

impl<'a> Content<'a> for TextureNames<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let bsp = from.bsp();
        if bsp.has_textures() {
            return Textures::read(from).map(|textures| TextureNames { kept: Kept::Textures(textures) });
        }
        if bsp.slot(TABLE).is_ok() {
            return TextureStrings::read(from).map(|strings| TextureNames { kept: Kept::Strings(strings) });
        }
        let found = ROLES.into_iter().filter_map(|role| NamedRecords::read(from, role).transpose());
        let found = found.collect::<Result<Vec<_>>>()?;
        let none = || Error::new(ErrorKind::NotFound, "the map has no known lump with names of textures");
        if found.is_empty() { Err(none()) } else { Ok(TextureNames { kept: Kept::Records(found) }) }
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        match &self.kept {
            Kept::Textures(textures) => textures.edits(),
            Kept::Strings(strings) => strings.edits(),
            Kept::Records(lumps) => Ok(lumps.iter().map(|names| names.bytes.new_bytes()).collect()),
        }
    }
}

impl TextureNames<'_> {
    /// The names, in the order of the lumps and of the records in them; several records may have the same one. A name
    /// that cannot be read is listed with its problem.
    pub fn iter(&self) -> impl Iterator<Item = TextureName> {
        let mut names = Vec::new();
        let mut add = |lump: &str, (index, name): Named<'_>| {
            let (name, problem) = match name {
                Ok(name) if lump == STRINGS && name.len() >= NAME_LENGTH => {
                    let message =
                        format!("the name has {} bytes; at most {} are possible", name.len(), NAME_LENGTH - 1);
                    (&name[..NAME_LENGTH - 1], Some(message))
                }
                Ok(name) => (name, None),
                Err(error) => (&[][..], Some(error.to_string())),
            };
            names.push(TextureName { lump: lump.to_owned(), index, name: name.to_vec(), problem });
        };
        match &self.kept {
            Kept::Textures(textures) => {
                (0..textures.len()).filter_map(|index| named(textures, index)).for_each(|name| add(TEXTURES, name));
            }
            Kept::Strings(strings) => {
                (0..strings.len()).for_each(|index| add(STRINGS, (index, strings.get(index))));
                let rest = ragged(TABLE, strings.table_len(), 4);
                rest.into_iter().for_each(|(index, error)| add(STRINGS, (index, Err(error))));
            }
            Kept::Records(lumps) => {
                for names in lumps {
                    names.names().enumerate().for_each(|(index, name)| add(&names.lump, (index, Ok(name))));
                    names.ragged().into_iter().for_each(|(index, error)| add(&names.lump, (index, Err(error))));
                }
            }
        }
        names.into_iter()
    }

    /// Renames textures. After an error no name has changed.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if a new name does not fit; the message has the name.
    pub fn rename(&mut self, renaming: &Renaming) -> Result<Renamed> {
        let (mut kept, mut renamed) = (self.kept.clone(), Renamed::default());
        match &mut kept {
            Kept::Textures(textures) => rename_textures(textures, renaming, &mut renamed)?,
            Kept::Strings(strings) => {
                rename_strings(strings, renaming, &mut renamed)?;
                renamed.left.extend(ragged(TABLE, strings.table_len(), 4).map(|(_, error)| error));
            }
            Kept::Records(lumps) => lumps.iter_mut().try_for_each(|names| names.rename(renaming, &mut renamed))?,
        }
        if renamed.count == 0 {
            renamed.unmatched = renaming.unmatched(self.iter().map(|name| name.name));
        }
        self.kept = kept;
        Ok(renamed.finish())
    }
}

/// The name of a texture, if there is one.
fn named<'t>(textures: &'t Textures<'_>, index: usize) -> Option<Named<'t>> {
    match (textures.name(index), textures.get(index)) {
        (Some(name), _) => Some((index, Ok(name))),
        (None, Ok(_)) => None,
        (None, Err(error)) => Some((index, Err(error))),
    }
}

fn rename_textures(textures: &mut Textures<'_>, renaming: &Renaming, renamed: &mut Renamed) -> Result<()> {
    let (stuck, before) = (textures.stuck(), textures.frame_faults());
    let mut drawn: BTreeMap<(DrawnAs, DrawnAs), Vec<Vec<u8>>> = BTreeMap::new();
    for index in 0..textures.len() {
        let old = match named(textures, index) {
            Some((_, Ok(name))) => name.to_vec(),
            Some((_, Err(error))) => {
                renamed.left.push(error);
                continue;
            }
            None => continue,
        };
        let new = renaming.checked(TEXTURES, index, &old, 16)?;
        if stuck.contains(&index) && new.as_ref().is_some_and(|new| *new != old) {
            let message = format!("`{}` is damaged and shares bytes with another texture", escaped(&old));
            renamed
                .left
                .push(Error::new(ErrorKind::Refused, message).at(Place::default().lump(TEXTURES).record(index)));
            renamed.add(&old, None);
            continue;
        }
        renamed.add(&old, new.as_deref());
        if let Some(new) = new {
            let [was, is] = [&old, &new].map(|name| textures.drawn_as(name));
            if was != is {
                drawn.entry((was, is)).or_default().push(new.clone());
            }
            textures.rename(index, &new)?;
        }
    }
    renamed.frames.extend(textures.frame_faults().difference(&before).map(ToString::to_string));
    renamed.drawn.extend(drawn.iter().map(|((was, is), names)| drawn_otherwise(*was, *is, names)));
    Ok(())
}

/// The sentence about textures that are drawn in another way by their new names.
fn drawn_otherwise(was: DrawnAs, is: DrawnAs, names: &[Vec<u8>]) -> String {
    // A few are enough to show the problem.
    let shown = names.iter().take(4).map(|name| format!("`{}`", escaped(name))).collect::<Vec<_>>().join(", ");
    let more = if names.len() > 4 { format!(" and {} more", names.len() - 4) } else { String::new() };
    format!("engines draw {shown}{more} as {is} by the new name, and not as {was}")
}

fn rename_strings(strings: &mut TextureStrings<'_>, renaming: &Renaming, renamed: &mut Renamed) -> Result<()> {
    for index in 0..strings.len() {
        let name = match strings.get(index) {
            Ok(name) if name.len() <= MOST_BYTES => name,
            Ok(name) => {
                let message = format!("the name has {} bytes; at most {} are possible", name.len(), NAME_LENGTH - 1);
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

// Names by the record that they belong to.

impl TextureNames<'_> {
    /// The lumps for which [`TextureNames::of_records`] may have names.
    pub(crate) const NAMED: [&'static str; 2] = [TEXTURES, TABLE];

    /// The names of the records of a lump, if they are not fields of these records; empty for one that cannot be read.
    /// Numbers that refer to the lump refer to these names.
    pub(crate) fn of_records(&self, lump: &str) -> Option<Vec<Vec<u8>>> {
        let len = match &self.kept {
            Kept::Textures(textures) if lump == TEXTURES => textures.len(),
            Kept::Strings(strings) if lump == TABLE => strings.len(),
            _ => return None,
        };
        let mut names = vec![Vec::new(); len];
        for name in self.iter() {
            if let Some(place) = names.get_mut(name.index) {
                *place = name.name;
            }
        }
        Some(names)
    }
}

// What a renaming does: the new name of each old one.

/// A pattern of old names, and the new name; or any function of names.
///
/// ```
/// use bspkit::content::texture_names::Renaming;
/// let renaming = Renaming::new("e1u1/*", "e1u2/{1}")?;
/// assert_eq!(renaming.apply(b"E1U1/metal"), Some(b"e1u2/metal".to_vec()));
/// assert_eq!(renaming.apply(b"e2u1/metal"), None);
///
/// let lower = Renaming::by(|name| Some(name.to_ascii_lowercase()));
/// assert_eq!(lower.apply(b"E1U1/Metal"), Some(b"e1u1/metal".to_vec()));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone)]
pub struct Renaming(How);

#[derive(Clone)]
enum How {
    Pattern { text: Vec<u8>, old: Pattern, new: Vec<Piece> },
    Index { index: usize, new: Vec<u8> },
    Function(Arc<Function>),
}

type Function = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

#[derive(Clone, Debug)]
enum Piece {
    Text(Vec<u8>),
    /// The match of a wildcard, counted from 0.
    Capture(usize),
}

impl fmt::Debug for Renaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            How::Pattern { old, new, .. } => f.debug_struct("Renaming").field("old", old).field("new", new).finish(),
            How::Index { index, new } => f.debug_struct("Renaming").field("index", index).field("new", new).finish(),
            How::Function(_) => f.write_str("Renaming"),
        }
    }
}

impl Renaming {
    /// Reads a pattern of whole names and a new name, in which `{1}` is the text that the first wildcard matches. All
    /// other braces are letters. `*` and `?` stop at a slash, `**` does not: `textures/*` matches `textures/own`, and
    /// `textures/**` matches `textures/own/wall` too. After `=` there is a name without wildcards: `=*lava1`
    /// is the texture `*lava1` of Quake. A pattern that matches nothing renames nothing, and [`Renamed::unmatched`]
    /// says so.
    ///
    /// ```
    /// use bspkit::content::texture_names::Renaming;
    /// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
    /// let mut draft = map.draft();
    /// let names = draft.texture_names()?;
    /// let none = names.rename(&Renaming::new("textures/*", "other/{1}")?)?.unmatched.unwrap();
    /// assert_eq!(none.hint().unwrap().to_string(), "`*` stops at a slash; did you mean textures/**?");
    /// assert!(names.rename(&Renaming::new("textures/**", "other/{1}")?)?.count > 0);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no wildcard with that number.
    pub fn new(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Self> {
        let source = old.as_ref().to_vec();
        let old = Pattern::exact(&source).map_or_else(|| Pattern::whole(&source), Pattern::literal);
        let new = Self::pieces(new.as_ref(), old.wildcards())?;
        Ok(Renaming(How::Pattern { text: source, old, new }))
    }

    /// The texture of an index gets a new name, in maps of Quake and GoldSrc: one of two textures of the same name. In
    /// other maps records have the names, and no texture has an index.
    ///
    /// ```
    /// use bspkit::content::texture_names::Renaming;
    /// let mut draft = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?.draft();
    /// assert_eq!(draft.texture_names()?.rename(&Renaming::at(1, "wall2")?)?.changed, 1);
    /// let name = draft.texture_names()?.iter().find(|name| name.index == 1).unwrap().name;
    /// assert_eq!(name, b"wall2");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the new name has a wildcard's number (`{1}`).
    pub fn at(index: usize, new: impl AsRef<[u8]>) -> Result<Self> {
        Self::pieces(new.as_ref(), 0)?;
        Ok(Renaming(How::Index { index, new: new.as_ref().to_vec() }))
    }

    /// The parts of a new name, for an old one with this many wildcards.
    fn pieces(new: &[u8], count: usize) -> Result<Vec<Piece>> {
        let (mut rest, mut text, mut pieces) = (new, Vec::new(), Vec::new());
        while let Some((first, tail)) = rest.split_first() {
            let Some((number, used)) = capture(rest) else {
                text.push(*first);
                rest = tail;
                continue;
            };
            let index = number.checked_sub(1).filter(|index| *index < count).ok_or_else(|| {
                let message = format!("{{{number}}} is not a wildcard of the old name, which has {count}");
                Error::new(ErrorKind::Argument, message).with_hint("*, ** and ? are wildcards, counted from 1")
            })?;
            pieces.extend([Piece::Text(std::mem::take(&mut text)), Piece::Capture(index)]);
            rest = &rest[used..];
        }
        pieces.push(Piece::Text(text));
        Ok(pieces)
    }

    /// One name, and the new one as it is written.
    pub(crate) fn exact(old: &[u8], new: &[u8]) -> Self {
        Renaming(How::Pattern { text: old.to_vec(), old: Pattern::literal(old), new: vec![Piece::Text(new.to_vec())] })
    }

    /// A function that gives the new name of a texture, or `None` if it keeps its name.
    pub fn by(new_name: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Renaming(How::Function(Arc::new(new_name)))
    }

    /// The sentence about a pattern that matches none of these names.
    fn unmatched(&self, names: impl Iterator<Item = Vec<u8>>) -> Option<Error> {
        let text = match &self.0 {
            How::Pattern { text, .. } => text,
            How::Index { index, .. } => {
                return Some(Error::new(ErrorKind::NotFound, format!("no texture with a name has the index {index}")));
            }
            How::Function(_) => return None,
        };
        let error = Error::new(ErrorKind::NotFound, format!("no texture has a name like `{}`", escaped(text)));
        let names: Vec<Vec<u8>> = names.collect();
        let deep = Pattern::deep(text).filter(|(_, deep)| names.iter().any(|name| deep.matches(name)));
        Some(match deep {
            Some((deep, _)) => error.with_hint(format!("`*` stops at a slash; did you mean {}?", escaped(&deep))),
            None => near::or_none(error, text, names),
        })
    }

    /// The new name of a texture; `None` if the pattern does not match, or if the texture is meant by its index.
    pub fn apply(&self, name: &[u8]) -> Option<Vec<u8>> {
        let (old, new) = match &self.0 {
            How::Pattern { old, new, .. } => (old, new),
            How::Index { .. } => return None,
            How::Function(new_name) => return new_name(name),
        };
        let captures = old.captures(name)?;
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Capture(index) => captures.get(*index).map_or_else(Vec::new, |range| name[range.clone()].to_vec()),
        };
        Some(new.iter().flat_map(piece).collect())
    }

    /// The new name, if it fits this many bytes with the NUL after it.
    fn checked(&self, lump: &str, index: usize, name: &[u8], size: usize) -> Result<Option<Vec<u8>>> {
        let new = match &self.0 {
            How::Index { index: own, new } => (lump == TEXTURES && *own == index).then(|| new.clone()),
            _ => self.apply(name),
        };
        let Some(new) = new else { return Ok(None) };
        // The present name may stay, even if it breaks the rules.
        if new == name {
            return Ok(Some(new));
        }
        let why = match new.len() {
            0 => "is empty".to_owned(),
            _ if new.contains(&0) => "has a NUL".to_owned(),
            len if len >= size => format!("has {len} bytes; at most {} are possible", size - 1),
            _ => return Ok(Some(new)),
        };
        let message = format!("`{}` cannot be called `{}`: the new name {why}", escaped(name), escaped(&new));
        Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(lump).record(index)))
    }
}
