//! Checksums of maps, which engines compare between server and client, or between a map and a file beside it.

use super::Role;

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

/// How a [`Checksum`] is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// The bytes that a [`Checksum`] covers, always as stored, also if they are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// `Mod_LoadBrushModel` of QuakeWorld's model.c: `checksum`.
pub(super) const QUAKEWORLD: Checksum = of_lumps("quakeworld", "QuakeWorld", Sum::BlockMd4);

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
