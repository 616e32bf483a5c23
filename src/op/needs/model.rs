//! The result: files, what refers to them, and how sure that is.

use std::collections::HashMap;
use std::fmt;

use crate::bytes::escaped;

/// The kind of a file that is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// A material (`.vmt`).
    Material,
    /// A texture (`.vtf`).
    Texture,
    /// A model (`.mdl`).
    Model,
    /// A file that belongs to a model: vertices, strips, physics, animations.
    ModelPart,
    /// A sound (`.wav`, `.mp3`).
    Sound,
    /// A script of sounds or soundscapes, or a list of such scripts.
    SoundScript,
    /// A scene of actors (`.vcd`).
    Scene,
    /// Particle systems (`.pcf`), or a list of such files.
    Particles,
    /// A script of the game's logic (`.nut`, `.lua`).
    Script,
    /// Colour correction (`.raw`).
    Color,
    /// A navigation mesh (`.nav`) or a graph of nodes (`.ain`).
    Navigation,
    /// Anything else.
    Other,
}

impl Kind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Material => "material",
            Kind::Texture => "texture",
            Kind::Model => "model",
            Kind::ModelPart => "model part",
            Kind::Sound => "sound",
            Kind::SoundScript => "sound script",
            Kind::Scene => "scene",
            Kind::Particles => "particles",
            Kind::Script => "script",
            Kind::Color => "color correction",
            Kind::Navigation => "navigation",
            Kind::Other => "other",
        }
    }
}

/// How sure it is that the engine needs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Sure {
    /// Something that may be loaded refers to it, or has its name.
    Possible,
    /// The engine looks for it and does without: files by the name of the map, parts of models that only some have.
    Optional,
    /// It depends on something that the map does not say: a value that looks like a file in a key of no known kind.
    Likely,
    /// The engine loads it.
    Certain,
}

impl Sure {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Sure::Possible => "possible",
            Sure::Optional => "optional",
            Sure::Likely => "likely",
            Sure::Certain => "certain",
        }
    }
}

/// Where a file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Found {
    /// In the pakfile of the map.
    Packed,
    /// In the game.
    Game,
    /// Neither in the pakfile nor in the game, or the game was not given.
    Nowhere,
}

impl Found {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Found::Packed => "packed",
            Found::Game => "game",
            Found::Nowhere => "nowhere",
        }
    }
}

/// A file that the map refers to, itself or by way of other files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Need {
    /// The name as engines look it up ([`crate::content::assets::normal_name`]), with folder and extension:
    /// `materials/own/wall.vmt`.
    pub name: Vec<u8>,
    /// The kind of the file.
    pub kind: Kind,
    /// How sure it is that the engine needs it, over all references and the files between.
    pub sure: Sure,
    /// Where it was found.
    pub found: Found,
    /// Everything that refers to it, at least one. A file to which all references are optional is in the list only if
    /// it was found.
    pub references: Vec<Reference>,
}

/// A place that refers to a file.
///
/// ```
/// use bspkit::op::needs::{self, Options, Reference};
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let needs = needs::find(&map, &Options::new("room_v20"))?;
/// let wall: &Reference = &needs.get("materials/own/wall.vmt").unwrap().references[0];
/// let (file, line) = wall.file().unwrap();
/// assert_eq!((&needs.files[file].name[..], line), (&b"materials/maps/room_v20/own/wall_0_0_0.vmt"[..], Some(3)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reference {
    /// The place.
    pub referrer: Referrer,
    /// The name as it is written there; empty if the name follows from that of the map or of another file.
    pub written: Vec<u8>,
    /// How sure it is that what is at this place makes the engine load the file.
    pub sure: Sure,
}

impl Reference {
    /// The file that has this reference, by its index in [`Needs::files`], and the line; `None` if the map has it.
    pub fn file(&self) -> Option<(usize, Option<usize>)> {
        match self.referrer {
            Referrer::File { index, line } => Some((index, line)),
            _ => None,
        }
    }
}

/// What refers to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Referrer {
    /// A key of an entity.
    Entity {
        /// The index of the entity.
        index: usize,
        /// Its class.
        class: Vec<u8>,
        /// The key, as it is written.
        key: Vec<u8>,
    },
    /// A record of a lump.
    Record {
        /// The name of the lump.
        lump: &'static str,
        /// The index of the record.
        index: usize,
    },
    /// A file that is referred to.
    File {
        /// Its index in [`Needs::files`].
        index: usize,
        /// The line, from 1, if it is a text.
        line: Option<usize>,
    },
    /// The name of the map.
    MapName,
    /// The engine, for every map.
    Engine,
}

/// Without the name of the file for [`Referrer::File`], which [`Needs::referrer`] has.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.referrer.fmt(f)
    }
}

/// Without the name of the file for [`Referrer::File`], which [`Needs::place`] has.
impl fmt::Display for Referrer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Referrer::Entity { index, class, key } => {
                write!(f, "entity {index} ({}), {}", escaped(class), escaped(key))
            }
            Referrer::Record { lump, index } => write!(f, "{lump}, record {index}"),
            Referrer::File { index, line: Some(line) } => write!(f, "file {index}, line {line}"),
            Referrer::File { index, line: None } => write!(f, "file {index}"),
            Referrer::MapName => f.write_str("the name of the map"),
            Referrer::Engine => f.write_str("the engine"),
        }
    }
}

/// A name that is not a file, such as that of a sound in a script, and that no file that was read defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unresolved {
    /// The kind of the file that would define it.
    pub kind: Kind,
    /// The name, as it is written.
    pub name: Vec<u8>,
    /// The place.
    pub referrer: Referrer,
    /// How sure it is that the engine looks for it.
    pub sure: Sure,
}

/// A file, or a part of the map, that could not be read, and was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The file's name or the lump's.
    pub name: Vec<u8>,
    /// Why.
    pub message: String,
}

/// What a map refers to.
///
/// ```
/// use bspkit::op::needs::{self, Needs, Options};
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let needs: Needs = needs::find(&map, &Options::new("room_v20"))?;
/// let floor = needs.get("materials/own/floor.vmt").unwrap();
/// assert_eq!(needs.referrer(&floor.references[0]), "TEXDATA_STRING_TABLE, record 0");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Needs {
    /// The files, in the order in which they were found: what the map names itself comes first.
    pub files: Vec<Need>,
    /// Names that no file defines.
    pub unresolved: Vec<Unresolved>,
    /// What could not be read.
    pub faults: Vec<Fault>,
    /// The indices of the files by their names.
    pub(super) names: HashMap<Vec<u8>, usize>,
}

impl Needs {
    /// The file of a name in the form of [`crate::content::assets::normal_name`].
    pub fn get(&self, name: impl AsRef<[u8]>) -> Option<&Need> {
        self.names.get(name.as_ref()).and_then(|index| self.files.get(*index))
    }

    /// The place of a reference in words, with the name of the file if it is in one.
    pub fn referrer(&self, reference: &Reference) -> String {
        self.place(&reference.referrer)
    }

    /// A place in words, with the name of the file if it is in one.
    pub fn place(&self, referrer: &Referrer) -> String {
        match referrer {
            Referrer::File { index, line } => {
                let name = self.files.get(*index).map_or(&b""[..], |need| &need.name);
                let line = line.map_or_else(String::new, |line| format!(", line {line}"));
                format!("{}{line}", escaped(name))
            }
            _ => referrer.to_string(),
        }
    }
}
