//! Medal of Honor: Allied Assault before its release, versions 17 and 18, a relative of the released game. It still has
//! the lump of fogs, so the numbers of later lumps are larger by one, and in version 17 smaller leafs (qfiles.h of
//! OpenMoHAA).

use super::quake3::{FOGS, Leaf as QuakeLeaf};
use super::{Dialect, Key, Lump, MOHAA, Role, Row, keys, lump, mohaa};
use crate::file::Rules;
use crate::record::{records, set};

/// Allied Assault before its release.
pub static MOHAA_BETA: Dialect = Dialect {
    name: "mohaa-beta",
    title: "Medal of Honor: Allied Assault (beta, demo)",
    versions: &[17, 18],
    lumps: &LUMPS,
    rows: &[ROWS, mohaa::SAME],
    rules: Rules { write_order: &[0, 1, 8, 9, 12, 11, 7, 6, 14, 4, 3, 16, 2, 15, 13, 5], ..MOHAA.rules },
    ..MOHAA
};

/// The released game's with the fogs between.
const LUMPS: [Lump; 28] = {
    let mut lumps = mohaa::LUMPS;
    let mut index = lumps.len() - 1;
    while index > FOGS_AT {
        lumps[index] = lumps[index - 1];
        index -= 1;
    }
    lumps[FOGS_AT] = lump("FOGS", Role::Fogs);
    lumps
};

const FOGS_AT: usize = 13;

keys! {
    LEAFS: Leaf = "Lump 8 of version 17.",
}

/// Lump 8 of version 18.
pub const LEAFS_OF_64: Key<mohaa::Leaf> = mohaa::LEAFS;

const ROWS: &[Row] = &[
    FOGS.row().proved(mohaa::with_sides_of_12),
    LEAFS.row().maps(&[17]).proved(mohaa::with_sides_of_12),
    LEAFS_OF_64.row().maps(&[18]).proved(mohaa::with_sides_of_12),
];

records! {
    /// `dleaf_t_ver17`.
    pub struct Leaf(56) {
        ..QuakeLeaf,
        /// Its first number in the terrainindexes.
        pub first_terrain: i32 as "firstTerraPatch" => set("TERRAININDEXES", "terrain_count"),
        /// How many patches of terrain reach into it.
        pub terrain_count: i32 as "numTerraPatches",
    }
}
