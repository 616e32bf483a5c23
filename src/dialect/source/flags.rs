//! The names of flags (bspflags.h, bspfile.h and gamebspfile.h of the Source SDKs).

use crate::record::{FlagKind, FlagNames};

/// The bits that mean the same in every version.
macro_rules! contents {
    ($($bit:literal $name:literal),*) => {
        &[
            (1, "SOLID"),
            (2, "WINDOW"),
            (4, "AUX"),
            (8, "GRATE"),
            (0x10, "SLIME"),
            (0x20, "WATER"),
            (0x80, "OPAQUE"),
            (0x100, "TESTFOGVOLUME"),
            $(($bit, $name),)*
            (0x800, "TEAM1"),
            (0x1000, "TEAM2"),
            (0x2000, "IGNORE_NODRAW_OPAQUE"),
            (0x4000, "MOVEABLE"),
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
            (0x400_0000, "DEBRIS"),
            (0x800_0000, "DETAIL"),
            (0x1000_0000, "TRANSLUCENT"),
            (0x2000_0000, "LADDER"),
            (0x4000_0000, "HITBOX"),
        ]
    };
}

/// The bits that mean the same in every version.
macro_rules! surface {
    ($($bit:literal $name:literal),*) => {
        &[
            (1, "LIGHT"),
            (4, "SKY"),
            (8, "WARP"),
            (0x10, "TRANS"),
            (0x80, "NODRAW"),
            (0x100, "HINT"),
            (0x200, "SKIP"),
            (0x400, "NOLIGHT"),
            (0x800, "BUMPLIGHT"),
            (0x1000, "NOSHADOWS"),
            (0x4000, "NOCHOP"),
            (0x8000, "HITBOX"),
            $(($bit, $name),)*
        ]
    };
}

/// Half-Life 2 and before.
pub(super) const EARLY: FlagNames = &[
    (FlagKind::Contents, contents!(0x40 "MIST")),
    (FlagKind::Surface, surface!(2 "SLICK", 0x20 "WET", 0x40 "FLOWING", 0x2000 "NODECALS")),
    LEAF,
    PROP,
    TRIANGLE,
    LIGHT,
    MAP,
];

/// Episode One to the Source SDK 2013.
pub(super) const USUAL: FlagNames = &[
    (FlagKind::Contents, contents!(0x40 "BLOCKLOS")),
    (FlagKind::Surface, surface!(2 "SKY2D", 0x20 "NOPORTAL", 0x40 "TRIGGER", 0x2000 "NODECALS")),
    LEAF,
    PROP,
    TRIANGLE,
    LIGHT,
    MAP,
];

/// Version 21 and later.
pub(in crate::dialect) const LATE: FlagNames = &[
    (FlagKind::Contents, contents!(0x40 "BLOCKLOS", 0x400 "BLOCKLIGHT")),
    (FlagKind::Surface, surface!(2 "SKY2D", 0x20 "NOPORTAL", 0x40 "TRIGGER", 0x2000 "NOPAINT")),
    LEAF,
    PROP,
    TRIANGLE,
    LIGHT,
    MAP,
];

type Names = (FlagKind, &'static [(u32, &'static str)]);

const LEAF: Names = (FlagKind::Leaf, &[(1, "SKY"), (2, "RADIAL"), (4, "SKY2D")]);

const PROP: Names = (
    FlagKind::Prop,
    &[
        (1, "FADES"),
        (2, "USE_LIGHTING_ORIGIN"),
        (4, "NO_DRAW"),
        (8, "IGNORE_NORMALS"),
        (0x10, "NO_SHADOW"),
        (0x20, "SCREEN_SPACE_FADE"),
        (0x40, "NO_PER_VERTEX_LIGHTING"),
        (0x80, "NO_SELF_SHADOWING"),
        (0x100, "NO_PER_TEXEL_LIGHTING"),
    ],
);

const TRIANGLE: Names = (
    FlagKind::Triangle,
    &[(1, "SURFACE"), (2, "WALKABLE"), (4, "BUILDABLE"), (8, "SURFPROP1"), (0x10, "SURFPROP2"), (0x20, "REMOVE")],
);

const LIGHT: Names = (FlagKind::Light, &[(1, "INAMBIENTCUBE")]);

const MAP: Names = (FlagKind::Map, &[(1, "BAKED_STATIC_PROP_LIGHTING_NONHDR"), (2, "BAKED_STATIC_PROP_LIGHTING_HDR")]);
