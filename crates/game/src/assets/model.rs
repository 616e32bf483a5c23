//! Models (`.mdl`): what they name. The header is that of `studio.h` of the Source SDK 2013 (`studiohdr_t`, versions 44
//! to 49); version 53 has four bytes more before its name.
//!
//! ```
//! use bspkit_game::assets::model::Model;
//! assert_eq!(Model::parse(b"IDST\x30\0\0\0").unwrap_err().to_string(), "it ends within the header of a model");
//! ```

use bspkit::bytes::Data;
use bspkit::record::{Field, Record};
use bspkit::{Error, ErrorKind, Result};
use structs::{Event, Include, ListAt, ModelHead, ModelRest, NameAt, Sequence, Texture, Texture53};
use structs::{PhysicsHead, Replacement, SolidHead, StripsHead, StripsVersion};

/// More textures (engines take 128), folders, and models or events are not read.
const MOST_TEXTURES: usize = 256;
const MOST_FOLDERS: usize = 64;
const MOST: usize = 4096;

/// A longer name is not read.
const MOST_NAME: usize = 512;

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
    /// Reads what a model names; vertices and animations are not read. Lists that do not fit the file are cut off, but
    /// for that of its materials.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is not a model, or its header or the list of its materials is cut off;
    /// [`ErrorKind::Unsupported`] for a version that is not one of the Source engine.
    pub fn parse<'a>(bytes: impl Into<Data<'a>>) -> Result<Model> {
        let bytes = &*bytes.into();
        if !bytes.starts_with(b"IDST") {
            return Err(Error::new(ErrorKind::Malformed, "it does not begin as a model does, with IDST"));
        }
        let cut = || Error::new(ErrorKind::Malformed, "it ends within the header of a model");
        let version = ModelHead::decode(bytes).ok_or_else(cut)?.version;
        let is_plain = match version {
            44..=49 => true,
            52 | 53 => false,
            _ => {
                let message = format!("its version {version} is not known: models of the Source engine have 44 to 49");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
        let rest = ModelHead::SIZE + if is_plain { 0 } else { NameAt::SIZE };
        let head = ModelRest::decode(bytes.get(rest..).unwrap_or_default()).ok_or_else(cut)?;
        let reader = Reader { bytes };
        let (textures, size) = (head.textures, if is_plain { Texture::SIZE } else { Texture53::SIZE });
        if !reader.has_all(textures, size) {
            let message = format!("its {} textures at {} are not within the file", textures.count(), textures.offset);
            return Err(Error::new(ErrorKind::Malformed, message));
        }
        let mut model = Model { version, part_count: head.parts.count(), ..Model::default() };
        model.textures = match is_plain {
            true => reader.names::<Texture>(head.textures, 0, |texture| texture.name),
            false => reader.names::<Texture53>(head.textures, 0, |texture| texture.name),
        };
        let folders = reader.list::<NameAt>(head.folders, 0).take(MOST_FOLDERS);
        model.folders = folders.filter_map(|(_, name)| reader.name(0, name)).collect();
        let includes = reader.list::<Include>(head.includes, 0);
        model.includes = includes.filter_map(|(at, include)| reader.name(at, include.name)).collect();
        if head.animation_blocks.count > 0 {
            model.animations = reader.name(0, head.animations).filter(|name| !name.is_empty());
        }
        let text = usize::try_from(head.text_offset).ok().zip(usize::try_from(head.text_size).ok());
        let text = text.and_then(|(at, size)| bytes.get(at..at.checked_add(size)?));
        model.text = text.unwrap_or_default().to_vec();
        if is_plain {
            reader.events(head.sequences, &mut model);
        }
        Ok(model)
    }
}

struct Reader<'m> {
    bytes: &'m [u8],
}

impl<'m> Reader<'m> {
    /// The records of a list, with their places; its offset counts from a base.
    fn list<R: Record>(&self, list: ListAt, base: usize) -> impl Iterator<Item = (usize, R)> + use<'m, R> {
        let start = usize::try_from(list.offset).ok().and_then(|offset| base.checked_add(offset));
        let bytes = self.bytes;
        (0..list.count()).map_while(move |index| {
            let at = start?.checked_add(index * R::SIZE)?;
            Some((at, R::decode(bytes.get(at..)?)?))
        })
    }

    /// Whether all records of a list of the file are in it.
    fn has_all(&self, list: ListAt, size: usize) -> bool {
        let end = usize::try_from(list.offset).ok().zip(list.count().checked_mul(size));
        list.count() == 0
            || end.and_then(|(start, len)| start.checked_add(len)).is_some_and(|end| end <= self.bytes.len())
    }

    /// The names in the records of a list.
    fn names<R: Record>(&self, list: ListAt, base: usize, name: fn(&R) -> NameAt) -> Vec<Vec<u8>> {
        let records = self.list::<R>(list, base).take(MOST_TEXTURES);
        records.filter_map(|(at, record)| self.name(at, name(&record))).collect()
    }

    /// A name whose offset counts from a base.
    fn name(&self, base: usize, name: NameAt) -> Option<Vec<u8>> {
        let rest = self.bytes.get(base.checked_add_signed(isize::try_from(name.offset).ok()?)?..)?;
        let length = memchr::memchr(0, &rest[..rest.len().min(MOST_NAME)])?;
        Some(rest[..length].to_vec())
    }

    /// Reads the events of all sequences.
    fn events(&self, sequences: ListAt, model: &mut Model) {
        let mut left = MOST;
        for (base, sequence) in self.list::<Sequence>(sequences, 0) {
            for (at, event) in self.list::<Event>(sequence.events, base).take(left) {
                left -= 1;
                let options = event.options.bytes();
                let name = self.name(at, event.name).unwrap_or_default();
                let is_sound =
                    name.ends_with(b"_PLAYSOUND") || (name.is_empty() && SOUND_EVENTS.contains(&event.number));
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
/// assert_eq!(bspkit_game::assets::model::replacements(&file)?, [b"far"]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn replacements(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let cut = || Error::new(ErrorKind::Malformed, "it ends within the header of a file of triangle strips");
    let version = StripsVersion::decode(bytes).ok_or_else(cut)?.version;
    if !matches!(version, 6 | 7 | 107) {
        let message = format!("its version {version} is not known: files of triangle strips have 7");
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let head = StripsHead::decode(bytes).ok_or_else(cut)?;
    let reader = Reader { bytes };
    let mut names = Vec::new();
    for (base, list) in reader.list::<ListAt>(head.replacements, 0) {
        let found = reader.names::<Replacement>(list, base, |row| row.name);
        names.extend(found.into_iter().take(MOST - names.len()));
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
/// let text = bspkit_game::assets::model::physics_text(&file)?;
/// assert_eq!(text, b"break { model own/piece }");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn physics_text(bytes: &[u8]) -> Result<&[u8]> {
    let wrong = |what: &str| Error::new(ErrorKind::Malformed, format!("it is not a physics file of a model: {what}"));
    let head = PhysicsHead::decode(bytes).ok_or_else(|| wrong("it is cut off"))?;
    let size = usize::try_from(head.size).ok().filter(|size| *size >= PhysicsHead::SIZE);
    let mut at = size.ok_or_else(|| wrong("its header has a wrong size"))?;
    for _ in 0..head.solid_count {
        let solid = bytes.get(at..).and_then(SolidHead::decode).and_then(|solid| usize::try_from(solid.size).ok());
        let next = solid.and_then(|size| at.checked_add(SolidHead::SIZE)?.checked_add(size));
        at = next.filter(|next| *next <= bytes.len()).ok_or_else(|| wrong("a solid does not fit the file"))?;
    }
    let text = bytes.get(at..).ok_or_else(|| wrong("it is cut off"))?;
    Ok(text.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// The structs of these files as far as they are read. An offset counts from the struct that has it, except in the
/// header of a model, where it counts from the start of the file.
mod structs {
    use bspkit::record::Name;
    use bspkit::records;

    records! {
        /// The place of a name.
        pub(super) struct NameAt(4) {
            pub(super) offset: i32,
        }

        /// The number and the place of the records of a list.
        pub(super) struct ListAt(8) {
            pub(super) count: i32,
            pub(super) offset: i32,
        }

        /// `studiohdr_t` before its name. Version 53 has the place of a longer name after it.
        pub(super) struct ModelHead(12) {
            pub(super) magic: i32,
            pub(super) version: i32,
            pub(super) checksum: i32,
        }

        /// `studiohdr_t` from its name on.
        pub(super) struct ModelRest(348) {
            pub(super) name: Name<64>,
            pub(super) length: i32,
            /// Eyes, light, the hulls of bones and of sight, and flags.
            pub(super) bounds: [f32; 18],
            pub(super) flags: i32,
            pub(super) bones: ListAt,
            pub(super) bone_controllers: ListAt,
            pub(super) hit_boxes: ListAt,
            pub(super) local_animations: ListAt,
            pub(super) sequences: ListAt,
            pub(super) activity_version: i32,
            pub(super) events_indexed: i32,
            pub(super) textures: ListAt,
            pub(super) folders: ListAt,
            /// The number of references of a skin, of skins, and their place.
            pub(super) skins: [i32; 3],
            pub(super) parts: ListAt,
            pub(super) attachments: ListAt,
            /// The number of nodes, the place of their links and of their names.
            pub(super) nodes: [i32; 3],
            /// Flexes, their controllers and rules, chains, mouths, parameters of poses.
            pub(super) faces: [ListAt; 6],
            pub(super) surface_name: NameAt,
            pub(super) text_offset: i32,
            pub(super) text_size: i32,
            pub(super) locks: ListAt,
            pub(super) mass: f32,
            pub(super) contents: i32,
            pub(super) includes: ListAt,
            pub(super) virtual_model: i32,
            pub(super) animations: NameAt,
            pub(super) animation_blocks: ListAt,
        }

        /// `mstudiotexture_t`.
        pub(super) struct Texture(64) {
            pub(super) name: NameAt,
            pub(super) rest: [i32; 15],
        }

        /// `mstudiotexture_t` of version 53.
        pub(super) struct Texture53(44) {
            pub(super) name: NameAt,
            pub(super) rest: [i32; 10],
        }

        /// `mstudiomodelgroup_t`.
        pub(super) struct Include(8) {
            pub(super) label: NameAt,
            pub(super) name: NameAt,
        }

        /// `mstudioseqdesc_t`.
        pub(super) struct Sequence(212) {
            pub(super) base: i32,
            pub(super) label: NameAt,
            pub(super) activity_name: NameAt,
            pub(super) flags: i32,
            pub(super) activity: i32,
            pub(super) activity_weight: i32,
            pub(super) events: ListAt,
            pub(super) rest: [i32; 45],
        }

        /// `mstudioevent_t`.
        pub(super) struct Event(80) {
            pub(super) cycle: f32,
            pub(super) number: i32,
            pub(super) kind: i32,
            pub(super) options: Name<64>,
            pub(super) name: NameAt,
        }

        /// The first field of `FileHeader_t` of `optimize.h`.
        pub(super) struct StripsVersion(4) {
            pub(super) version: i32,
        }

        /// `FileHeader_t` of `optimize.h`.
        pub(super) struct StripsHead(36) {
            pub(super) version: i32,
            pub(super) cache_size: i32,
            pub(super) bones_of_strip: u16,
            pub(super) bones_of_triangle: u16,
            pub(super) bones_of_vertex: i32,
            pub(super) checksum: i32,
            /// Lists of replacements, one for each level.
            pub(super) replacements: ListAt,
            pub(super) parts: ListAt,
        }

        /// `MaterialReplacementHeader_t`.
        pub(super) struct Replacement(6) {
            pub(super) material: i16,
            pub(super) name: NameAt,
        }

        /// `phyheader_t` of `phyfile.h`.
        pub(super) struct PhysicsHead(16) {
            pub(super) size: i32,
            pub(super) id: i32,
            pub(super) solid_count: i32,
            pub(super) checksum: i32,
        }

        /// The size before each solid of a physics file.
        pub(super) struct SolidHead(4) {
            pub(super) size: i32,
        }
    }

    impl ListAt {
        /// How many records are read.
        pub(super) fn count(self) -> usize {
            usize::try_from(self.count).unwrap_or(0).min(super::MOST)
        }
    }
}
