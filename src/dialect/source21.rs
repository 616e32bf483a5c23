//! Source, version 21 and the later ones with the same container (22, 23, Strata's 25): Alien Swarm, Portal 2,
//! Counter-Strike: Global Offensive, a relative of Source that writes its lumps in another order.

use super::{Dialect, L4D2, Lump, SOURCE, source};
use crate::file::Rules;

/// Source from version 21 on.
pub const SOURCE21: Dialect = Dialect {
    name: "source21",
    title: "Source (version 21 and later)",
    versions: &[21, 22, 23, 25],
    lumps: &LUMPS,
    rules: Rules {
        write_order: &[
            59, 6, 2, 43, 44, 10, 17, 1, 18, 19, 14, 5, 20, 21, 4, 0, 29, 26, 62, 3, 12, 13, 7, 58, 33, 48, 63, 28, 9,
            8, 53, 37, 38, 39, 30, 31, 56, 52, 51, 55, 16, 36, 45, 50, 60, 61, 46, 41, 42, 15, 54, 34, 47, 11, 22, 23,
            27, 35, 40,
        ],
        ..SOURCE.rules
    },
    opaque_game_lumps: &[],
    // Strata's version 25 reads them.
    packing_caveats: &[(21, UNREAD), (22, UNREAD), (23, UNREAD)],
    probe: |bytes, dialect| {
        let shape = dialect.shapes[0];
        let reads_better = source::plausible(bytes, L4D2.shapes[0]) > source::plausible(bytes, shape);
        (!(L4D2.versions.contains(&crate::bytes::word(bytes, 4)?) && reads_better)).then_some(shape)
    },
    ..SOURCE
};

pub(super) const UNREAD: &str =
    "Left 4 Dead 2, Portal 2, Counter-Strike: Global Offensive and their kin do not read compressed lumps or files";

const LUMPS: [Lump; 64] = source::renamed([(22, "FACEBRUSHES"), (23, "FACEBRUSHLIST")]);
