//! Daikatana, version 41, a relative of Quake II with two more lumps (qfiles.h of the game's public source).
//!
//! Leafs have 28 bytes in the one map that was measured and 32 in that source. The size is detected from which of the
//! two divides the lump or, if both do, from the number of leafs in the trees.

use super::quake2::{self, Plane};
pub use super::quake2::{
    AREAPORTALS, AREAS, BRUSHES, BRUSHSIDES, EDGES, FACES, LEAFBRUSHES, LEAFFACES, LEAFS, MODELS, NODES, PLANES,
    SURFEDGES, TEXINFO, VERTEXES,
};
use super::{Dialect, Facts, Game, Key, Lump, QUAKE2, Row, bspx, checks, keys, only};
use crate::bytes::word;
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{Field, FlagKind, FlagNames, Meaning, index, index_or_none, records, set};

/// Daikatana.
pub static DAIKATANA: Dialect = Dialect {
    name: "daikatana",
    title: "Daikatana",
    versions: &[41],
    shapes: &[DirectoryShape { first: 8, count: 21, entry: EntryShape::Plain, trailing: 0 }],
    lumps: &LUMPS,
    rows: &[quake2::SAME, quake2::NARROW, ROWS, bspx::COLOR],
    class_rules: &super::classes::UNKNOWN,
    games: &[Game { name: "daikatana", title: "Daikatana", versions: &[], flags: FLAGS }],
    rules: Rules {
        write_order: &[1, 8, 2, 4, 5, 6, 14, 15, 9, 10, 12, 11, 13, 17, 18, 7, 3, 0, 19, 16, 20],
        ..QUAKE2.rules
    },
    checksums: &[checks::of_file("daikatana", "Daikatana", false)],
    checks: &super::limits::DAIKATANA,
    ..QUAKE2
};

const LUMPS: [Lump; 21] = {
    let mut lumps = [only("EXTSURFINFO"); 21];
    let mut index = 0;
    while index < quake2::LUMPS.len() {
        lumps[index] = quake2::LUMPS[index];
        index += 1;
    }
    lumps[20] = only("PLANEPOLYS");
    lumps
};

keys! {
    EXTSURFINFO: ExtraSurface = "Lump 19.",
    PLANEPOLYS: PlanePoly = "Lump 20: for each plane how many faces lie on it, and then these.",
}

/// Lump 8 where leafs have 32 bytes.
pub const LEAFS_OF_32: Key<LongLeaf> = Key::new("LEAFS");

const ROWS: &[Row] = &[
    LEAFS.row().fixed(1).proved(|facts, _| match has_long_leafs(facts) {
        false => Ok(()),
        true => Err("its leafs have 32 bytes".to_owned()),
    }),
    LEAFS_OF_32.row().fixed(1).proved(|facts, _| match has_long_leafs(facts) {
        true => Ok(()),
        false => Err("its leafs have 28 bytes".to_owned()),
    }),
    EXTSURFINFO.row().parallel("TEXINFO", super::Each::One, &[0]),
    PLANEPOLYS.row().holds(super::Holds::Only(&["PLANES", "FACES"])).proved(faces_of_planes),
];

/// A tree has one leaf more than nodes, and the first leaf is not part of any tree.
fn has_long_leafs(facts: &Facts<'_>) -> bool {
    const SIZES: [usize; 2] = [28, 32];
    let len = facts.len("LEAFS");
    match SIZES.map(|size| len.is_multiple_of(size)) {
        [false, divides] => divides,
        [true, false] => false,
        [true, true] => {
            let leafs = 1 + facts.count("NODES", 28) + facts.count("MODELS", 48);
            let [short, long] = SIZES.map(|size| len / size == leafs);
            long && !short
        }
    }
}

/// One group of numbers for each plane.
fn faces_of_planes(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    let (bytes, planes) = (facts.bytes(row.lump), facts.count("PLANES", Plane::SIZE));
    let next = |at: usize| {
        let count = word(&bytes, at).and_then(|count| usize::try_from(count).ok())?;
        count.checked_mul(4)?.checked_add(at + 4).filter(|end| *end <= bytes.len())
    };
    match (0..planes).try_fold(0, |at, _| next(at)) {
        Some(end) if end == bytes.len() || !facts.is_exact && bytes.len() - end < 4 => Ok(()),
        _ => Err(format!("its {} bytes are not a number of faces and these for each of {planes} planes", bytes.len())),
    }
}

records! {
    /// A number of the planepolys lump: how many faces lie on a plane, or the index of one of them.
    pub struct PlanePoly(4) {
        /// The number of faces on a plane, then this many indices of faces; then the same for the next plane.
        pub number: i32,
    }

    /// The color of a texinfo; there is one for each texinfo, or none at all.
    pub struct ExtraSurface(12) {
        /// Red, green, blue.
        pub color: [f32; 3],
    }

    /// `dleaf_t` of the game's source.
    pub struct LongLeaf(32) {
        /// `CONTENTS_` flags of all brushes in it.
        pub contents: i32 => Meaning::Flags(FlagKind::Contents),
        /// Its cluster of the visibility lump, or -1.
        pub cluster: i16,
        /// Its area.
        pub area: i16 => index("AREAS"),
        /// Its box, for culling.
        pub mins: [i16; 3],
        /// Its box, for culling.
        pub maxs: [i16; 3],
        /// Its first face in the leaffaces.
        pub first_leaf_face: u16 as "firstleafface" => set("LEAFFACES", "leaf_face_count"),
        /// How many faces it sees.
        pub leaf_face_count: u16 as "numleaffaces",
        /// Its first brush in the leafbrushes.
        pub first_leaf_brush: u16 as "firstleafbrush" => set("LEAFBRUSHES", "leaf_brush_count"),
        /// How many brushes reach into it.
        pub leaf_brush_count: u16 as "numleafbrushes",
        /// A brush.
        pub brush: i32 as "brushnum" => index_or_none("BRUSHES"),
    }
}

const FLAGS: FlagNames = &[
    (
        FlagKind::Contents,
        &[
            (1, "SOLID"),
            (2, "WINDOW"),
            (4, "AUX"),
            (8, "LAVA"),
            (0x10, "SLIME"),
            (0x20, "WATER"),
            (0x40, "MIST"),
            (0x80, "CLEAR"),
            (0x100, "NOTSOLID"),
            (0x200, "NOSHOOT"),
            (0x400, "FOG"),
            (0x800, "NITRO"),
            (0x8000, "AREAPORTAL"),
            (0x1_0000, "PLAYERCLIP"),
            (0x2_0000, "MONSTERCLIP"),
            (0x4_0000, "CURRENT_0"),
            (0x8_0000, "CURRENT_90"),
            (0x10_0000, "CURRENT_180"),
            (0x20_0000, "CURRENT_270"),
            (0x40_0000, "CURRENT_UP"),
            (0x80_0000, "CURRENT_DOWN"),
            (0x100_0000, "ORIGIN"),
            (0x200_0000, "MONSTER"),
            (0x400_0000, "DEADMONSTER"),
            (0x800_0000, "DETAIL"),
            (0x1000_0000, "TRANSLUCENT"),
            (0x2000_0000, "LADDER"),
            (0x4000_0000, "NPCCLIP"),
        ],
    ),
    (FlagKind::Surface, quake2::SURFACE),
];
