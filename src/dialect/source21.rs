//! Source, version 21: Alien Swarm, Portal 2, Counter-Strike: Global Offensive, a relative of Source that writes its
//! lumps in another order.

use super::source::fit::{faces_of_this_size, one_for_each, sides_of_brushes};
use super::source::{self, LATE_FLAGS, Overlay, OverlayFade};
use super::{Dialect, Each, Facts, Game, Lump, Row, SOURCE, checks, keys};
use crate::file::Rules;
use crate::record::{Count, Field, Meaning, Order, index, index_or_none, records};

/// Source from version 21 on.
pub static SOURCE21: Dialect = Dialect {
    name: "source21",
    title: "Source (version 21)",
    versions: &[21],
    lumps: &LUMPS,
    rows: &ALL_ROWS,
    games: &[Game { name: "source21", title: "Source from Left 4 Dead 2 on", versions: &[], flags: LATE_FLAGS }],
    rules: Rules {
        write_order: &[
            59, 6, 2, 43, 44, 10, 17, 1, 18, 19, 14, 5, 20, 21, 4, 0, 29, 26, 62, 3, 12, 13, 7, 58, 33, 48, 63, 28, 9,
            8, 53, 37, 38, 39, 30, 31, 56, 52, 51, 55, 16, 36, 45, 50, 60, 61, 46, 41, 42, 15, 54, 34, 47, 11, 22, 23,
            27, 35, 40,
        ],
        ..SOURCE.rules
    },
    opaque_game_lumps: &[],
    compression_caveats: &[(21, UNREAD)],
    checksums: &[checks::SOURCE, checks::SOURCE_BY_OFFSET, checks::SOURCE_MD5],
    ..SOURCE
};

pub(super) const UNREAD: &str =
    "Left 4 Dead 2, Portal 2, Counter-Strike: Global Offensive and their kin do not read compressed lumps or files";

const LUMPS: [Lump; 64] = source::renamed([(22, "FACEBRUSHES"), (23, "FACEBRUSHLIST")]);

keys! {
    BRUSHSIDES: BrushSideV21 = "Lump 19, version 21 and later.",
    FACEBRUSHES: FaceBrush = "Lump 22: the brushes of faces that more than one has.",
    FACEBRUSHLIST: FaceBrushList = "Lump 23: one for each face.",
    OVERLAY_SYSTEM_LEVELS: OverlaySystemLevel = "Lump 61: one for each overlay.",
}

/// These rows come before the base's, so that a lump with another layout is not read by a wrong struct.
pub(super) const ROWS: &[Row] = &[
    Row::opaque("WORLDLIGHTS", LIGHT_MODES).versions(&[2]),
    Row::opaque("WORLDLIGHTS_HDR", LIGHT_MODES).versions(&[2]),
    Row::lens("LIGHTING", "light with alphas").proved(has_alphas),
    Row::lens("LIGHTING_HDR", "light with alphas").proved(has_alphas),
    Row::opaque("LIGHTING", ALPHAS).proved(has_unknown_alphas),
    Row::opaque("LIGHTING_HDR", ALPHAS).proved(has_unknown_alphas),
    BRUSHSIDES.row().summed(sides_of_brushes),
    FACEBRUSHLIST.row().parallel("FACES", Each::One, &[0]).proved(faces_of_this_size),
    FACEBRUSHES.row().listed().proved(behind_its_list),
    OVERLAY_SYSTEM_LEVELS.row().parallel("OVERLAYS", Each::One, &[0]).proved(one_for_each_overlay),
];

const LIGHT_MODES: &str =
    "version 2 is Strata's, whose lights are said to have a mode as well, and either 100 bytes or 104";
const ALPHAS: &str = "the map's flags say that it has more than colors, in a form that no known map has";

const ALL_ROWS: [&[Row]; 10] = source::rows_behind(&[ROWS]);

/// Light of Counter-Strike: Global Offensive may have alphas after the luxels of each face, one or four bytes per
/// luxel. Then the lump is not an array of colors; the faces have the offsets.
fn has_alphas(facts: &Facts<'_>, _: &Row) -> Result<(), String> {
    match alphas(facts) {
        0x04 | 0x7C => Ok(()),
        _ => Err("the map's flags do not say that its light has alphas".to_owned()),
    }
}

fn has_unknown_alphas(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    match alphas(facts) {
        0 => Err("the map's flags do not say that its light has alphas".to_owned()),
        _ => has_alphas(facts, row).map_or(Ok(()), |()| Err("its alphas are known".to_owned())),
    }
}

fn alphas(facts: &Facts<'_>) -> u8 {
    facts.bytes("MAP_FLAGS").first().map_or(0, |flags| flags & 0x7C)
}

/// In Alien Swarm these two lumps have the collision data of props.
fn behind_its_list(facts: &Facts<'_>, _: &Row) -> Result<(), String> {
    faces_of_this_size(facts, &FACEBRUSHLIST.row())
        .map_err(|why| format!("FACEBRUSHLIST does not say whose its brushes are: {why}"))
}

/// Black Mesa has the blends of displacements here.
fn one_for_each_overlay(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    match facts.len("OVERLAY_FADES") {
        0 => one_for_each(facts, row, "OVERLAYS", Overlay::SIZE, "overlays"),
        _ => one_for_each(facts, row, "OVERLAY_FADES", OverlayFade::SIZE, "overlays"),
    }
}

/// The brushes of a face: a run, or one brush; of a displacement none. No engine needs them to draw the face.
pub(super) const fn brushes_of_face(none: i64) -> Meaning {
    let count = Count::number("count");
    Meaning::RunOr { lump: "FACEBRUSHES", count, order: Order::Free, unless: 1, other: "BRUSHES", none }
}

records! {
    /// `dbrushside_t` from version 21 on.
    pub struct BrushSideV21(8) {
        /// Its plane, facing out.
        pub plane: u16 as "planenum" => index("PLANES"),
        /// Its texture, -1 for none.
        pub texinfo: i16 => index_or_none("TEXINFO"),
        /// 0, and no link to a displacement.
        pub displacement: i16 as "dispinfo",
        /// Other than 0 where the side was added for collisions.
        pub bevel: u8,
        /// Other than 0 where the brush is thin.
        pub thin: u8,
    }

    /// A number of the facebrushes lump.
    pub struct FaceBrush(2) {
        /// The brush's index.
        pub brush: u16 => index("BRUSHES"),
    }

    /// `dfacebrushlist_t`.
    pub struct FaceBrushList(4) {
        /// How many brushes made the face.
        pub count: u16 as "m_nFaceBrushCount",
        /// For one brush its index, 65535 for a displacement; for several the first index in lump 22.
        pub first: u16 as "m_nFaceBrushStart" => brushes_of_face(0xFFFF),
    }

    /// `doverlaysystemlevel_t`.
    pub struct OverlaySystemLevel(4) {
        /// The lowest and highest level of processors, then of graphics.
        pub levels: [u8; 4] as "nMinCPULevel, nMaxCPULevel, nMinGPULevel, nMaxGPULevel",
    }
}
