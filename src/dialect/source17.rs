//! Source, version 17: Vampire: The Masquerade - Bloodlines and the betas of Half-Life 2, a relative of Source.
//!
//! The maps of Bloodlines' unofficial patch went through a tool that moved the entities to the end of the file and
//! signed it: ten bytes behind the last lump, which repeat lump 0's offset.

use super::{Dialect, Lump, SOURCE, source};
use crate::file::Rules;

/// Source, version 17.
pub const SOURCE17: Dialect = Dialect {
    name: "source17",
    title: "Source (version 17: Bloodlines, Half-Life 2 beta)",
    versions: &[17],
    lumps: &LUMPS,
    rules: Rules {
        write_order: &[
            1, 10, 3, 5, 6, 2, 26, 33, 48, 34, 37, 38, 39, 7, 27, 18, 19, 16, 17, 13, 12, 14, 20, 21, 8, 4, 0, 15, 32,
            22, 23, 9, 36, 24, 25, 41, 42, 43, 44, 45, 29, 30, 31, 46, 35, 40,
        ],
        ..SOURCE.rules
    },
    opaque_game_lumps: &[],
    packing_caveats: &[(17, source::NEVER_PACKED)],
    bare_paks: &[17],
    ..SOURCE
};

const LUMPS: [Lump; 64] =
    source::renamed([(22, "PORTALS"), (23, "CLUSTERS"), (24, "PORTALVERTS"), (25, "CLUSTERPORTALS")]);
