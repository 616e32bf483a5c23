//! What a Source map refers to: materials, models, sounds and all other files, from the map itself and from the files
//! that these files name in turn.
//!
//! The result is a graph: each file that is referred to is there once, with everything that refers to it, how sure that
//! is, and where the file was found ([`Needs`]). Files in the pakfile are read, and those of the game if it is given. A
//! damaged file is a [`Fault`]; it is skipped.
//!
//! ```
//! use bspkit_game::needs::{self, Found, Kind, Options};
//! let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
//! let needs = needs::find(&map, &Options::new("room_v20"))?;
//! let floor = needs.get("materials/own/floor.vmt").unwrap();
//! assert_eq!((floor.kind, floor.found), (Kind::Material, Found::Nowhere));
//! assert_eq!(floor.references[0].to_string(), "TEXDATA_STRING_TABLE, record 0");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod definitions;
mod entities;
mod graph;
mod patches;
mod unused;
mod waiting;

use std::collections::HashMap;
use std::fmt;

use super::rename::owners;
use crate::assets::{Files, PakFiles, normal_name};
use bspkit::Bsp;
use bspkit::bytes::{Data, escaped};
use bspkit::content::pak::Pak;
use bspkit::content::pattern::Pattern;
use bspkit::dialect::Role;
use bspkit::file::names::path_hazard;
use bspkit::{Error, ErrorKind, Result};
use definitions::Definitions;
pub use entities::{Holds, Keys};
use graph::Graph;
use serde::{Serialize, Serializer};
pub use unused::{Doubt, Unused, unused};

/// Where to look for files, and how to read the map.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Options<'o> {
    /// The name of the map without `.bsp`: engines look for some files by it.
    pub map: &'o [u8],
    /// A second name, if it is not known by which one the map is loaded.
    pub also: Option<&'o [u8]>,
    /// The files of the game, if they are available.
    pub game: Option<&'o dyn Files>,
    /// Which key of an entity holds what.
    pub keys: &'o Keys,
}

impl<'o> Options<'o> {
    /// Without a game: only files of the pakfile are read.
    pub fn new(map: &'o (impl AsRef<[u8]> + ?Sized)) -> Self {
        Options { map: map.as_ref(), also: None, game: None, keys: Keys::built_in() }
    }

    /// With a second name: files by either are looked for ([`compiled_name`]).
    #[must_use]
    pub fn also(mut self, name: Option<&'o [u8]>) -> Self {
        self.also = name;
        self
    }

    /// With the files of the game.
    #[must_use]
    pub fn game(mut self, game: &'o dyn Files) -> Self {
        self.game = Some(game);
        self
    }

    /// With another table of keys.
    #[must_use]
    pub fn keys(mut self, keys: &'o Keys) -> Self {
        self.keys = keys;
        self
    }
}

/// The name that most paths in a map have, if it is not that of its file: a copy or a renamed file keeps the paths that
/// the compiler wrote. By which name engines look for files is not known then.
///
/// # Errors
/// Those of a pakfile or of names that cannot be read.
pub fn compiled_name(map: &Bsp<'_>, name: &[u8]) -> Result<Option<Vec<u8>>> {
    let owner = owners(map)?.into_iter().next().map(|owner| owner.name);
    Ok(owner.filter(|owner| !owner.eq_ignore_ascii_case(name)))
}

/// Finds what a map refers to.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a map without a pakfile, which is not one of Source; [`ErrorKind::TooLarge`] for a
/// map that refers to more than 262,144 files, or does so in more than 2,097,152 places.
pub fn find(map: &Bsp<'_>, options: &Options<'_>) -> Result<Needs> {
    if map.role(Role::Pak).is_none() {
        let message = format!("references of {} maps are not known", map.dialect().title);
        let hint = "they are known of Source maps, which have a pakfile";
        return Err(Error::new(ErrorKind::Unsupported, message).with_hint(hint));
    }
    let (pak, fault) = match map.pak() {
        Ok(pak) => ((*pak).clone(), None),
        Err(error) => (Pak::new(b""), Some(error)),
    };
    let packed = PakFiles::new(&pak);
    let (mut graph, _) = grow(map, &pak, &packed, options)?;
    if let Some(error) = fault {
        graph.lose("PAKFILE", &error);
    }
    graph.finish()
}

/// The lumps that name files, or have them.
const NAMING: [&str; 8] = [
    "ENTITIES",
    "TEXDATA_STRING_DATA",
    "TEXDATA_STRING_TABLE",
    "CUBEMAPS",
    "GAME_LUMP",
    "game:sprp",
    "game:dprp",
    "PAKFILE",
];

/// The graph of all references, which can grow on.
fn grow<'f>(
    map: &Bsp<'_>,
    pak: &Pak<'_>,
    packed: &'f dyn Files,
    options: &Options<'f>,
) -> Result<(Graph<'f>, Definitions)> {
    let mut graph = Graph::new(packed, options);
    // What the file does not have may refer to any file.
    for slot in NAMING.iter().filter_map(|lump| map.slot(lump).ok()).filter(|slot| slot.bounds.is_damaged()) {
        graph.lose(&slot.name, &Error::new(ErrorKind::Malformed, slot.bounds.to_string()));
    }
    graph::collect_surfaces(map, &mut graph);
    graph::collect_models(map, &mut graph);
    entities::collect(map, pak, options.keys, &mut graph);
    let mut definitions = Definitions::default();
    definitions.of_map(&mut graph);
    graph::collect_by_name(pak, &mut graph);
    expand(&mut graph, &mut definitions);
    Ok((graph, definitions))
}

/// Reads file after file until no new one is named. Names that other files define come after the files that are known,
/// so that what is sure is read first.
fn expand(graph: &mut Graph<'_>, definitions: &mut Definitions) {
    loop {
        if let Some((wanted, is_first)) = graph.next_wanted() {
            definitions.resolve(graph, wanted, is_first);
        } else if let Some(index) = graph.next() {
            match graph.needs.files[index].kind {
                Kind::Material => graph::expand_materials(graph, index),
                Kind::Model => graph::expand_models(graph, index),
                Kind::ModelPart => graph::expand_part(graph, index),
                Kind::Scene => definitions::expand_scene(graph, index),
                Kind::Other => graph::expand_overview(graph, index),
                _ => {}
            }
        } else {
            return;
        }
    }
}

// The result: files, what refers to them, and how sure that is.

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

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How sure it is that the engine needs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Need {
    /// The name as engines look it up ([`crate::assets::normal_name`]), with folder and extension:
    /// `materials/own/wall.vmt`.
    #[serde(flatten, serialize_with = "bspkit::json::name")]
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
/// use bspkit_game::needs::{self, Options, Reference};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// let needs = needs::find(&map, &Options::new("room_v20"))?;
/// let wall: &Reference = &needs.get("materials/own/wall.vmt").unwrap().references[0];
/// let (file, line) = wall.file().unwrap();
/// assert_eq!((&needs.files[file].name[..], line), (&b"materials/maps/room_v20/own/wall_0_0_0.vmt"[..], Some(3)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reference {
    /// The place.
    #[serde(flatten)]
    pub referrer: Referrer,
    /// The name as it is written there; empty if the name follows from that of the map or of another file.
    #[serde(serialize_with = "bspkit::json::text")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Referrer {
    /// A key of an entity.
    Entity {
        /// The index of the entity.
        #[serde(rename = "entity")]
        index: usize,
        /// Its class.
        #[serde(serialize_with = "bspkit::json::text")]
        class: Vec<u8>,
        /// The key, as it is written.
        #[serde(serialize_with = "bspkit::json::text")]
        key: Vec<u8>,
    },
    /// A record of a lump.
    Record {
        /// The name of the lump.
        lump: &'static str,
        /// The index of the record.
        #[serde(rename = "record")]
        index: usize,
    },
    /// A file that is referred to.
    File {
        /// Its index in [`Needs::files`].
        #[serde(rename = "file")]
        index: usize,
        /// The line, from 1, if it is a text.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<usize>,
    },
    /// The name of the map.
    #[serde(rename = "map name")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unresolved {
    /// The kind of the file that would define it.
    pub kind: Kind,
    /// The name, as it is written.
    #[serde(serialize_with = "bspkit::json::text")]
    pub name: Vec<u8>,
    /// How sure it is that the engine looks for it.
    pub sure: Sure,
    /// The place.
    #[serde(flatten)]
    pub referrer: Referrer,
}

/// A file, or a part of the map, that could not be read, and was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The file's name or the lump's.
    #[serde(serialize_with = "bspkit::json::text")]
    pub name: Vec<u8>,
    /// Why.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is skipped: {}", escaped(&self.name), self.message)
    }
}

/// What a map refers to.
///
/// ```
/// use bspkit_game::needs::{self, Needs, Options};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
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
    /// Whether something of the map itself could not be read, or not whole, so that it may refer to more files.
    pub is_partial: bool,
    /// The indices of the files by their names.
    names: HashMap<Vec<u8>, usize>,
}

impl Needs {
    /// The file of a name in the form of [`crate::assets::normal_name`].
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

// What can be packed: files that a map needs, that neither it nor the game has, and that are found elsewhere.

/// What a map needs once files from elsewhere are there too.
///
/// ```
/// use bspkit_game::assets::PakFiles;
/// use bspkit::content::pak::Pak;
/// use bspkit_game::needs::{self, Choice, Options};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?.draft();
/// let mut from = Pak::new(b"");
/// from.add("materials/own/wall.vtf", "pixels")?;
/// let from = PakFiles::new(&from);
/// let fill = needs::fill(draft.bsp(), &Options::new("room_v20"), &from, &Choice::default())?;
/// assert_eq!(fill.embed(draft.pak()?, &from)?, [(fill.found[0], 6)]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fill {
    /// All files that the map refers to. Those of `from` were followed: their references are here as well.
    pub needs: Needs,
    /// The indices of the files that can be packed.
    pub found: Vec<usize>,
    /// The indices of those that are nowhere.
    pub missing: Vec<usize>,
}

impl Fill {
    /// A larger file is not embedded. No engine reads a pakfile of 2 GiB.
    const MOST_BYTES: usize = 1 << 30;

    /// Embeds the files that were found in `from`. The result has their indices in `needs`, and their sizes in bytes. A
    /// file of which only the name is known is left out.
    ///
    /// # Errors
    /// As [`Files::read`] and [`Pak::add`]; the files before are embedded then.
    pub fn embed(&self, pak: &mut Pak<'_>, from: &dyn Files) -> Result<Vec<(usize, usize)>> {
        let mut embedded = Vec::new();
        for index in &self.found {
            let name = &self.needs.files[*index].name;
            let Some(data) = from.read(name, Self::MOST_BYTES)? else { continue };
            embedded.push((*index, data.len()));
            pak.add(name, Data::from(data.to_vec()))?;
        }
        Ok(embedded)
    }
}

/// Which files may be packed.
///
/// ```
/// use bspkit::content::pattern::Pattern;
/// use bspkit_game::needs::Choice;
/// let choice = Choice { exclude: vec![Pattern::new("*.wav")], ..Choice::default() };
/// # assert!(choice.only.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// These alone, if there is one.
    pub only: Vec<Pattern>,
    /// Not these, nor what only they refer to. They are not missing.
    pub exclude: Vec<Pattern>,
}

impl Choice {
    fn is_excluded(&self, name: &[u8]) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(name))
    }

    fn is_asked_for(&self, name: &[u8]) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(name))
    }
}

/// The game, and after it the files that can be packed.
struct Both<'f> {
    game: Option<&'f dyn Files>,
    from: &'f dyn Files,
    choice: &'f Choice,
}

impl Both<'_> {
    fn is_of_game(&self, name: &[u8]) -> bool {
        self.game.is_some_and(|game| game.has(name))
    }

    /// What is not written to a disk is not taken from one either: a map can name any file.
    fn may_be_packed(&self, name: &[u8]) -> bool {
        path_hazard(name).is_none() && !self.choice.is_excluded(name)
    }
}

impl Files for Both<'_> {
    fn has(&self, name: &[u8]) -> bool {
        self.is_of_game(name) || (self.may_be_packed(name) && self.from.has(name))
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        match self.game.filter(|game| game.has(name)) {
            Some(game) => game.read(name, most),
            None if self.may_be_packed(name) => self.from.read(name, most),
            None => Ok(None),
        }
    }
}

/// Finds the files that a map needs, that `choice` allows, that neither it nor the game of `options` has, and that
/// `from` has.
///
/// # Errors
/// As [`find`].
///
/// ```
/// use bspkit_game::assets::PakFiles;
/// use bspkit::content::pak::Pak;
/// use bspkit_game::needs::{self, Choice, Options};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// let mut from = Pak::new(b"");
/// from.add("materials/own/wall.vtf", "pixels")?;
/// from.add("materials/own/other.vmt", "of no use")?;
/// let fill = needs::fill(&map, &Options::new("room_v20"), &PakFiles::new(&from), &Choice::default())?;
/// let names: Vec<&[u8]> = fill.found.iter().map(|index| &fill.needs.files[*index].name[..]).collect();
/// assert_eq!(names, [b"materials/own/wall.vtf"]); // the material that names it is in the map
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn fill(map: &Bsp<'_>, options: &Options<'_>, from: &dyn Files, choice: &Choice) -> Result<Fill> {
    let both = Both { game: options.game, from, choice };
    let needs = find(map, &options.game(&both))?;
    let of = |wanted: Found, is_asked: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
        let files = needs.files.iter().enumerate();
        files.filter(|(_, need)| need.found == wanted && is_asked(&need.name)).map(|(index, _)| index).collect()
    };
    let found = of(Found::Game, &|name| !both.is_of_game(name) && choice.is_asked_for(name));
    let missing = of(Found::Nowhere, &|name| !choice.is_excluded(name));
    Ok(Fill { found, missing, needs })
}
