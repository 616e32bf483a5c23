//! Models (`.mdl`): what they name. The header is that of `studio.h` of the Source SDK 2013 (`studiohdr_t`, versions 44
//! to 49); version 53 has four bytes more before its name.
//!
//! ```
//! use bspkit::content::assets::model::Model;
//! assert_eq!(Model::parse(b"IDST\x30\0\0\0").unwrap_err().to_string(), "it ends within the header of a model");
//! ```

use crate::bytes::{Data, index, word};
use crate::error::{Error, ErrorKind, Result};

/// More textures (engines take 128), folders, and models or events are not read.
const MOST_TEXTURES: usize = 256;
const MOST_FOLDERS: usize = 64;
const MOST: usize = 4096;

/// A longer name is not read.
const MOST_NAME: usize = 512;

/// The bytes of an event of a sequence (`mstudioevent_t`), and of a sequence (`mstudioseqdesc_t`).
const EVENT: usize = 80;
const SEQUENCE: usize = 212;

/// Events that play a sound and name it: `CL_EVENT_SOUND`, `SCRIPT_EVENT_SOUND`, `SCRIPT_EVENT_SOUND_VOICE`.
const SOUND_EVENTS: [i32; 3] = [5004, 1004, 1008];

/// What a model names.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Model {
    /// The version of the format.
    pub version: i32,
    /// The names of its materials, without folder.
    pub textures: Vec<Vec<u8>>,
    /// The folders below `materials` in which these are looked for, in this order.
    pub folders: Vec<Vec<u8>>,
    /// Models whose animations it uses, by their paths.
    pub includes: Vec<Vec<u8>>,
    /// The file of its animations, if it has one.
    pub animations: Option<Vec<u8>>,
    /// How many parts its body has; a model without any has no vertices.
    pub part_count: usize,
    /// Its key values, a text that starts with `mdlkeyvalue`.
    pub text: Vec<u8>,
    /// The sounds that its sequences play: names of files or of entries in sound scripts.
    pub sounds: Vec<Vec<u8>>,
    /// The particle systems that its sequences create.
    pub particles: Vec<Vec<u8>>,
    /// The options of all other events of its sequences, in which code of games may find names.
    pub options: Vec<Vec<u8>>,
}

impl Model {
    /// Reads what a model names; vertices and animations are not read. Lists that do not fit the file are cut off.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is not a model or its header is cut off; [`ErrorKind::Unsupported`] for a version
    /// that is not one of the Source engine.
    pub fn parse<'a>(bytes: impl Into<Data<'a>>) -> Result<Model> {
        let bytes = &*bytes.into();
        if !bytes.starts_with(b"IDST") {
            return Err(Error::new(ErrorKind::Malformed, "it does not begin as a model does, with IDST"));
        }
        let cut = || Error::new(ErrorKind::Malformed, "it ends within the header of a model");
        let version = word(bytes, 4).ok_or_else(cut)?;
        let shift = match version {
            44..=49 => 0,
            52 | 53 => 4,
            _ => {
                let message = format!("its version {version} is not known: models of the Source engine have 44 to 49");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
        word(bytes, 356 + shift).ok_or_else(cut)?;
        let reader = Reader { bytes, shift };
        let texture_size = if shift > 0 { 44 } else { 64 };
        let mut model = Model { version, part_count: reader.count(232), ..Model::default() };
        model.textures =
            reader.list(204, texture_size).take(MOST_TEXTURES).filter_map(|at| reader.name_from(at, at)).collect();
        model.folders = reader.list(212, 4).take(MOST_FOLDERS).filter_map(|at| reader.name_from(at, 0)).collect();
        model.includes = reader.list(336, 8).filter_map(|at| reader.name_from(at + 4, at)).collect();
        if reader.count(352) > 0 {
            model.animations = reader.name_from(348 + shift, 0).filter(|name| !name.is_empty());
        }
        let text = reader.at(312).zip(reader.at(316)).and_then(|(at, size)| bytes.get(at..at.checked_add(size)?));
        model.text = text.unwrap_or_default().to_vec();
        if shift == 0 {
            reader.events(&mut model);
        }
        Ok(model)
    }
}

/// The fields of the header, by their offsets in versions 44 to 49.
struct Reader<'m> {
    bytes: &'m [u8],
    shift: usize,
}

impl<'m> Reader<'m> {
    fn at(&self, field: usize) -> Option<usize> {
        u32::try_from(word(self.bytes, field + self.shift)?).ok().map(index)
    }

    fn count(&self, field: usize) -> usize {
        self.at(field).unwrap_or(0).min(MOST)
    }

    /// The places of the records of a list, whose number is at a field and whose offset follows.
    fn list(&self, field: usize, size: usize) -> impl Iterator<Item = usize> + use<'m> {
        let start = self.at(field + 4).unwrap_or(usize::MAX);
        let (count, end) = (self.count(field), self.bytes.len());
        (0..count).map_while(move |index| {
            let at = start.checked_add(index * size)?;
            (at.checked_add(size)? <= end).then_some(at)
        })
    }

    /// The name whose offset from a base is at a place.
    fn name_from(&self, at: usize, base: usize) -> Option<Vec<u8>> {
        let offset = isize::try_from(word(self.bytes, at)?).ok()?;
        let rest = self.bytes.get(base.checked_add_signed(offset)?..)?;
        let length = memchr::memchr(0, &rest[..rest.len().min(MOST_NAME)])?;
        Some(rest[..length].to_vec())
    }

    /// Reads the events of all sequences.
    fn events(&self, model: &mut Model) {
        let mut left = MOST;
        for sequence in self.list(188, SEQUENCE) {
            let field = |at: usize| word(self.bytes, sequence + at).and_then(|value| usize::try_from(value).ok());
            let (Some(count), Some(start)) = (field(24), field(28)) else { continue };
            for event in 0..count.min(left) {
                left -= 1;
                let start = sequence.checked_add(start).and_then(|start| start.checked_add(event * EVENT));
                let Some(bytes) = start.and_then(|at| self.bytes.get(at..at.checked_add(EVENT)?)) else { break };
                let options = bytes[12..76].split(|byte| *byte == 0).next().unwrap_or_default();
                let number = word(bytes, 4).unwrap_or(0);
                let name = start.and_then(|at| self.name_from(at + 76, at)).unwrap_or_default();
                let is_sound = name.ends_with(b"_PLAYSOUND") || (name.is_empty() && SOUND_EVENTS.contains(&number));
                let first = options.split(|byte| *byte == b' ').next().unwrap_or_default();
                match () {
                    () if is_sound => model.sounds.push(options.trim_ascii().to_vec()),
                    () if name == b"AE_CL_CREATE_PARTICLE_EFFECT" => model.particles.push(first.to_vec()),
                    () => model.options.push(options.to_vec()),
                }
            }
        }
        for names in [&mut model.sounds, &mut model.particles, &mut model.options] {
            names.sort();
            names.dedup();
            names.retain(|name| !name.is_empty());
        }
    }
}

/// The names of the materials that replace others at a distance, without folder: those of all levels in a file of
/// triangle strips (`.vtx`, `optimize.h`: the list of replacements that the header names, for each level). A list that
/// does not fit the file is cut off.
///
/// # Errors
/// [`ErrorKind::Malformed`] if the header is cut off; [`ErrorKind::Unsupported`] for a version that is not known.
///
/// ```
/// let mut file = vec![0; 50];
/// for (at, word) in [(0, 7), (20, 1), (24, 36), (36, 1), (40, 8)] {
///     file[at..at + 4].copy_from_slice(&i32::to_le_bytes(word)); // one level, whose list is at 36, its row at 44
/// }
/// file[46..50].copy_from_slice(&i32::to_le_bytes(6)); // the name follows the row
/// file.extend(b"far\0");
/// assert_eq!(bspkit::content::assets::model::replacements(&file)?, [b"far"]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn replacements(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    const LIST: usize = 8;
    const ROW: usize = 6;
    let cut = || Error::new(ErrorKind::Malformed, "it ends within the header of a file of triangle strips");
    let version = word(bytes, 0).ok_or_else(cut)?;
    if !matches!(version, 6 | 7 | 107) {
        let message = format!("its version {version} is not known: files of triangle strips have 7");
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    word(bytes, 32).ok_or_else(cut)?;
    let reader = Reader { bytes, shift: 0 };
    let mut names = Vec::new();
    for list in reader.list(20, LIST) {
        let field = |at: usize| word(bytes, at).and_then(|value| usize::try_from(value).ok());
        let (Some(count), Some(start)) = (field(list), field(list + 4)) else { continue };
        let rows = (0..count.min(MOST_TEXTURES)).map_while(|index| list.checked_add(start)?.checked_add(index * ROW));
        names.extend(rows.filter_map(|row| reader.name_from(row + 2, row)).take(MOST - names.len().min(MOST)));
    }
    names.sort();
    names.dedup();
    names.retain(|name| !name.is_empty());
    Ok(names)
}

/// The text at the end of a model's physics (`.phy`), which names the models into which it breaks.
///
/// # Errors
/// [`ErrorKind::Malformed`] if it is not such a file.
///
/// ```
/// let file = [&16i32.to_le_bytes()[..], &[0; 12], b"break { model own/piece }\0"].concat();
/// let text = bspkit::content::assets::model::physics_text(&file)?;
/// assert_eq!(text, b"break { model own/piece }");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn physics_text(bytes: &[u8]) -> Result<&[u8]> {
    let wrong = |what: &str| Error::new(ErrorKind::Malformed, format!("it is not a physics file of a model: {what}"));
    let size = |at: usize| word(bytes, at).and_then(|size| usize::try_from(size).ok());
    let mut at = size(0).filter(|header| *header >= 16).ok_or_else(|| wrong("its header has a wrong size"))?;
    for _ in 0..size(8).unwrap_or(0) {
        let next = size(at).and_then(|length| at.checked_add(4)?.checked_add(length));
        at = next.filter(|next| *next <= bytes.len()).ok_or_else(|| wrong("a solid does not fit the file"))?;
    }
    let text = bytes.get(at..).ok_or_else(|| wrong("it is cut off"))?;
    Ok(text.split(|byte| *byte == 0).next().unwrap_or_default())
}
