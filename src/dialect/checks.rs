//! What checks know of a dialect, as data: what its engines require, how its light is laid out, their limits, and the
//! checksums that they compare.

use std::ops::RangeInclusive;

use super::{Dialect, Facts, Role};
use crate::bytes::ByteOrder;
use crate::error::{Error, ErrorKind, Result};
use crate::near;

// What checks know of a dialect, as data: what its engines require, how its light is laid out, and their limits.

/// The data of a dialect for checks and sums: those of the crate `bspkit-ops`.
///
/// ```
/// use bspkit::dialect::QUAKE2;
/// assert!(QUAKE2.checks.required.contains(&"PLANES"));
/// assert_eq!(QUAKE2.checks.engines[0].name, "quake2");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Checks {
    /// The engines and compilers with their known limits; the stock engine of a version comes first.
    pub engines: &'static [Engine],
    /// Lumps that the engines refuse if they are empty.
    pub required: &'static [&'static str],
    /// The contents that leaf 0 must have, if the engines require them.
    pub first_leaf: Option<i64>,
    /// Whether the world's tree has to begin with node 0, and no two nodes may have the same face.
    pub strict_tree: bool,
    /// How many collision hulls of a model engines read, from its first clip nodes.
    pub hulls: usize,
    /// Whether the number of clip nodes, as the first one of a hull, means that the model has no such hull.
    pub count_is_no_hull: bool,
    /// Whether a map without a leaf of contents 0 is refused.
    pub needs_empty_leaf: bool,
    /// The most texels that a face may extend before an engine refuses the map.
    pub most_extents: Option<u32>,
    /// Whether planes are in pairs of opposite planes, as compilers and tools require.
    pub paired_planes: bool,
    /// Whether the map has the known structs, if other games use the same version with other structs. If it has them, a
    /// lump that fits no struct is broken.
    pub is_usual: fn(&Facts<'_>) -> bool,
    /// Lumps with the lump versions that engines read; they refuse other versions.
    pub versions: &'static [(&'static str, RangeInclusive<i32>)],
    /// Members of the game lump with a check that every layout must pass; the error is the reason.
    pub members: &'static [(&'static str, Member)],
    /// Whether the first six sides of a brush are its box, from which the engine computes its bounds.
    pub axial_sides: bool,
    /// Lumps that tools leave out although others refer to them, with the lump that replaces them, if there is one.
    pub left_out: &'static [(&'static str, Option<&'static str>)],
    /// Which entities the game keeps.
    pub spawn: Spawn,
}

/// Which entities of a map take one of the places that an engine has for them when the map begins. The others have
/// none, or give theirs back at once: the game removes them, or does not have them in its mode.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Spawn {
    /// Classes that the game always removes, or that take no place.
    pub removed: &'static [&'static str],
    /// Classes that the game removes if they have no `targetname`.
    pub removed_without_name: &'static [&'static str],
    /// The bits of `spawnflags` that each keep an entity out of one game mode.
    pub mode_flags: &'static [i64],
    /// The keys that each keep an entity out of one game mode, if their value is not 0.
    pub mode_keys: &'static [&'static str],
    /// The classes that are known to take a place, or beginnings of their names with `*`, if it is not known of all.
    pub known: Option<&'static [&'static str]>,
}

/// Why a member of the game lump, of this version and with these bytes as the file has them, fits no layout. The reason
/// is a sentence; the finding of the check adds code and place.
pub type Member = fn(i32, &[u8], ByteOrder) -> Result<(), String>;

/// An engine, or a family of compilers, with its limits.
///
/// ```
/// let engine = bspkit::dialect::QUAKE2.engine_by_name("quake2")?;
/// assert!(engine.limits.iter().any(|limit| limit.lump == "MODELS" && limit.most == 255));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Engine {
    /// The short name: lower case, no spaces.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The map versions for which it is the stock engine; if empty, all versions of the dialect.
    pub versions: &'static [i32],
    /// Its limits.
    pub limits: &'static [Limit],
    /// The longest value of an entity that it reads completely, in bytes, if other engines read longer ones.
    pub max_token: Option<usize>,
}

/// A limit of an engine.
///
/// ```
/// use bspkit::dialect::{QUAKE2, Unit};
/// let limit = QUAKE2.checks.engines[0].limits.iter().find(|limit| limit.lump == "LIGHTING").unwrap();
/// assert_eq!((limit.most, limit.unit), (0x20_0000, Unit::Bytes));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The lump.
    pub lump: &'static str,
    /// The largest number.
    pub most: usize,
    /// What is counted.
    pub unit: Unit,
    /// Whose limit it is.
    pub whose: Whose,
}

/// Whose limit a [`Limit`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Whose {
    /// The engine's: it refuses more, or the numbers of the format end there.
    Engine,
    /// The limit of the compilers that make maps for the engine; the engine itself may take more.
    Compiler,
    /// The engine's, where this file of a game does not set another one.
    Game(&'static str),
}

impl Limit {
    /// The same limit as one that a file of a game may set.
    pub(super) const fn of_game(self, file: &'static str) -> Self {
        Limit { whose: Whose::Game(file), ..self }
    }

    /// The same limit as one of compilers.
    pub(super) const fn of_compilers(self) -> Self {
        Limit { whose: Whose::Compiler, ..self }
    }
}

/// What a [`Limit`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The records of a lump.
    Records,
    /// Its bytes.
    Bytes,
    /// The entities of the entity text.
    Entities,
    /// The entities that a game has at once when the map begins, without the world: those that the game keeps in the
    /// game mode that has the most ([`Spawn`]).
    InGame,
    /// The entries of a directory of textures.
    Textures,
    /// The edges of a face.
    FaceEdges,
    /// The different values of this key.
    Values(&'static str),
    /// The entities of this class.
    OfClass(&'static str),
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unit::Values(key) => return write!(f, "different values of {key}"),
            Unit::OfClass(class) => return write!(f, "entities of the class {class}"),
            Unit::Records => "records",
            Unit::Bytes => "bytes",
            Unit::Entities => "entities",
            Unit::InGame => "entities in the game at once",
            Unit::Textures => "textures",
            Unit::FaceEdges => "edges in a face",
        })
    }
}

pub(super) const fn engine(
    name: &'static str,
    title: &'static str,
    versions: &'static [i32],
    limits: &'static [Limit],
) -> Engine {
    Engine { name, title, versions, limits, max_token: None }
}

impl Engine {
    /// The longest value that it reads, in bytes.
    pub(super) const fn tokens(self, most: usize) -> Self {
        Engine { max_token: Some(most), ..self }
    }
}

pub(super) const fn records(lump: &'static str, most: usize) -> Limit {
    Limit { lump, most, unit: Unit::Records, whose: Whose::Engine }
}

pub(super) const fn bytes(lump: &'static str, most: usize) -> Limit {
    Limit { lump, most, unit: Unit::Bytes, whose: Whose::Engine }
}

pub(super) const fn entities(most: usize) -> Limit {
    Limit { lump: "ENTITIES", most, unit: Unit::Entities, whose: Whose::Engine }
}

pub(super) const fn in_game(most: usize) -> Limit {
    Limit { lump: "ENTITIES", most, unit: Unit::InGame, whose: Whose::Engine }
}

/// The different values of a key.
pub(super) const fn values(key: &'static str, most: usize) -> Limit {
    Limit { lump: "ENTITIES", most, unit: Unit::Values(key), whose: Whose::Engine }
}

/// The entities of a class.
pub(super) const fn of_class(class: &'static str, most: usize) -> Limit {
    Limit { lump: "ENTITIES", most, unit: Unit::OfClass(class), whose: Whose::Engine }
}

pub(super) const fn face_edges(most: usize) -> Limit {
    Limit { lump: "FACES", most, unit: Unit::FaceEdges, whose: Whose::Engine }
}

pub(super) const fn textures(most: usize) -> Limit {
    Limit { lump: "TEXTURES", most, unit: Unit::Textures, whose: Whose::Engine }
}

impl Dialect {
    /// The engine for a map of this version if the user names none.
    pub fn engine(&self, version: i32) -> Option<&'static Engine> {
        let is_its = |engine: &&Engine| engine.versions.is_empty() || engine.versions.contains(&version);
        self.checks.engines.iter().find(is_its)
    }

    /// The engine of this name.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] with the names there are.
    pub fn engine_by_name(&self, name: &str) -> Result<&'static Engine> {
        self.checks.engines.iter().find(|engine| engine.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<_> = self.checks.engines.iter().map(|engine| engine.name).collect();
            Error::new(ErrorKind::Argument, format!("no engine for {} is called {name}", self.title))
                .with_hint(near::or_all(name, &names, "the engines are"))
        })
    }
}

// Checksums of maps, which engines compare between server and client, or between a map and a file beside it.

/// A sum of a map that engines compare.
///
/// ```
/// use bspkit::dialect::{Checksum, Covers, Sum, QUAKE3};
/// let Checksum { sum, covers, is_verified, .. } = QUAKE3.checksums[0];
/// assert_eq!((sum, covers, is_verified), (Sum::BlockMd4, Covers::File, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checksum {
    /// The short name: lower case, no spaces.
    pub name: &'static str,
    /// Who compares it.
    pub title: &'static str,
    /// How it is computed.
    pub sum: Sum,
    /// Of which bytes.
    pub covers: Covers,
    /// The effect if it stays or changes.
    pub use_of: Use,
    /// Whether the engine's source or output confirms it; otherwise it is known only from other programs.
    pub is_verified: bool,
}

/// How a [`Checksum`] is computed. Whoever computes sums has to know all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `Com_BlockChecksum`: the four words of an MD4 combined by XOR; for several lumps, the words of each.
    BlockMd4,
    /// A CRC-32 over the lumps in order, which starts with all bits set and is not inverted at the end.
    Crc32,
    /// An MD5 over the lumps in order.
    Md5,
    /// Not computed: a number that the compiler wrote into the header, and that edits keep.
    Stored,
    /// A CRC-16 (polynomial 0x1021, starts with all bits set, not reflected).
    Crc16,
}

/// The bytes that a [`Checksum`] covers, always as stored, also if they are compressed. Whoever computes sums has to
/// know all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// The whole file.
    File,
    /// The lumps of the directory.
    Lumps {
        /// Lumps with these roles are left out.
        without: &'static [Role],
        /// In the order of their offsets, not in the order of the directory.
        by_offset: bool,
    },
    /// The entity text without its last byte.
    EntityText,
    /// 32 bits at this offset in the header.
    Header(usize),
}

/// What a [`Checksum`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Use {
    /// Clients whose map has another one are rejected.
    Clients,
    /// Servers let clients with it in as well, but clients send another one.
    Servers,
    /// It is part of the name of a file, `<map>@<sum>.ent`, whose entities are loaded instead of the map's.
    FileName,
}

/// The header of F.A.K.K.2 and its kin: `checksum` of qfiles.h, after the version.
pub(super) const fn in_header(name: &'static str, title: &'static str, is_verified: bool) -> Checksum {
    Checksum { sum: Sum::Stored, covers: Covers::Header(8), ..of_file(name, title, is_verified) }
}

const WITHOUT_ENTITIES: Covers = Covers::Lumps { without: &[Role::Entities], by_offset: false };

/// `CM_LoadMap` of Quake II and III and their kin: the bytes of the file.
pub(super) const fn of_file(name: &'static str, title: &'static str, is_verified: bool) -> Checksum {
    Checksum { name, title, sum: Sum::BlockMd4, covers: Covers::File, use_of: Use::Clients, is_verified }
}

const fn of_lumps(name: &'static str, title: &'static str, sum: Sum) -> Checksum {
    Checksum { name, title, sum, covers: WITHOUT_ENTITIES, use_of: Use::Clients, is_verified: true }
}

/// `Mod_LoadBrushModel` of QuakeWorld's model.c: `checksum`. Clients send the second one (`CL_ParseServerInfo`), and
/// servers take both (`SV_PreSpawn_f`).
pub(super) const QUAKEWORLD: Checksum =
    Checksum { use_of: Use::Servers, ..of_lumps("quakeworld", "QuakeWorld", Sum::BlockMd4) };

/// `Mod_LoadBrushModel` of QuakeWorld's model.c: `checksum2`, which lets visibility be patched.
pub(super) const QUAKEWORLD2: Checksum = Checksum {
    covers: Covers::Lumps { without: &[Role::Entities, Role::Visibility, Role::Leafs, Role::Nodes], by_offset: false },
    ..of_lumps("quakeworld2", "QuakeWorld (second sum, without visibility)", Sum::BlockMd4)
};

/// `CRC_MapFile` of ReHLDS, whose callers do not invert it.
pub(super) const GOLDSRC: Checksum = of_lumps("goldsrc", "GoldSrc", Sum::Crc32);

/// `CRC_MapFile` of the Source SDK's bsplib.cpp.
pub(super) const SOURCE: Checksum = of_lumps("source", "Source", Sum::Crc32);

/// The same with the lumps in the order of their offsets, as an open reimplementation for CS:GO has it.
pub(super) const SOURCE_BY_OFFSET: Checksum = Checksum {
    covers: Covers::Lumps { without: &[Role::Entities], by_offset: true },
    is_verified: false,
    ..of_lumps("csgo", "Counter-Strike: Global Offensive", Sum::Crc32)
};

/// `MD5_MapFile`, as implemented in programs for Counter-Strike: Source servers.
pub(super) const SOURCE_MD5: Checksum =
    Checksum { is_verified: false, ..of_lumps("source-md5", "current multiplayer games of Source", Sum::Md5) };

/// The key of Quakespasm, Yamagi Quake II and Q2PRO.
pub(super) const ENTITY_KEY: Checksum = Checksum {
    name: "entity-key",
    title: "entity files of Quakespasm, Yamagi Quake II and Q2PRO",
    sum: Sum::Crc16,
    covers: Covers::EntityText,
    use_of: Use::FileName,
    is_verified: true,
};
