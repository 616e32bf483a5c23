//! What the games call the bits of a shader's flags (surfaceflags.h of each).

use crate::record::{FlagKind, FlagNames};

pub(in crate::dialect) const CONTENTS: &[(u32, &str)] = &[
    (1, "SOLID"),
    (8, "LAVA"),
    (0x10, "SLIME"),
    (0x20, "WATER"),
    (0x40, "FOG"),
    (0x80, "NOTTEAM1"),
    (0x100, "NOTTEAM2"),
    (0x200, "NOBOTCLIP"),
    (0x8000, "AREAPORTAL"),
    (0x1_0000, "PLAYERCLIP"),
    (0x2_0000, "MONSTERCLIP"),
    (0x4_0000, "TELEPORTER"),
    (0x8_0000, "JUMPPAD"),
    (0x10_0000, "CLUSTERPORTAL"),
    (0x20_0000, "DONOTENTER"),
    (0x40_0000, "BOTCLIP"),
    (0x80_0000, "MOVER"),
    (0x100_0000, "ORIGIN"),
    (0x200_0000, "BODY"),
    (0x400_0000, "CORPSE"),
    (0x800_0000, "DETAIL"),
    (0x1000_0000, "STRUCTURAL"),
    (0x2000_0000, "TRANSLUCENT"),
    (0x4000_0000, "TRIGGER"),
    (0x8000_0000, "NODROP"),
];

pub(in crate::dialect) const SURFACE: &[(u32, &str)] = &[
    (1, "NODAMAGE"),
    (2, "SLICK"),
    (4, "SKY"),
    (8, "LADDER"),
    (0x10, "NOIMPACT"),
    (0x20, "NOMARKS"),
    (0x40, "FLESH"),
    (0x80, "NODRAW"),
    (0x100, "HINT"),
    (0x200, "SKIP"),
    (0x400, "NOLIGHTMAP"),
    (0x800, "POINTLIGHT"),
    (0x1000, "METALSTEPS"),
    (0x2000, "NOSTEPS"),
    (0x4000, "NONSOLID"),
    (0x8000, "LIGHTFILTER"),
    (0x1_0000, "ALPHASHADOW"),
    (0x2_0000, "NODLIGHT"),
    (0x4_0000, "DUST"),
];

pub(super) const QUAKE3: FlagNames = &[(FlagKind::Contents, CONTENTS), (FlagKind::Surface, SURFACE)];

const WOLFENSTEIN_CONTENTS: &[(u32, &str)] = &[
    (1, "SOLID"),
    (4, "LIGHTGRID"),
    (8, "LAVA"),
    (0x10, "SLIME"),
    (0x20, "WATER"),
    (0x40, "FOG"),
    (0x80, "MISSILECLIP"),
    (0x100, "ITEM"),
    (0x1000, "AI_NOSIGHT"),
    (0x2000, "CLIPSHOT"),
    (0x4000, "MOVER"),
    (0x8000, "AREAPORTAL"),
    (0x1_0000, "PLAYERCLIP"),
    (0x2_0000, "MONSTERCLIP"),
    (0x4_0000, "TELEPORTER"),
    (0x8_0000, "JUMPPAD"),
    (0x10_0000, "CLUSTERPORTAL"),
    (0x20_0000, "DONOTENTER"),
    (0x40_0000, "DONOTENTER_LARGE"),
    (0x100_0000, "ORIGIN"),
    (0x200_0000, "BODY"),
    (0x400_0000, "CORPSE"),
    (0x800_0000, "DETAIL"),
    (0x1000_0000, "STRUCTURAL"),
    (0x2000_0000, "TRANSLUCENT"),
    (0x4000_0000, "TRIGGER"),
    (0x8000_0000, "NODROP"),
];

const WOLFENSTEIN_SURFACE: [(u32, &str); 31] = [
    (1, "NODAMAGE"),
    (2, "SLICK"),
    (4, "SKY"),
    (8, "LADDER"),
    (0x10, "NOIMPACT"),
    (0x20, "NOMARKS"),
    (0x40, "CERAMIC"),
    (0x80, "NODRAW"),
    (0x100, "HINT"),
    (0x200, "SKIP"),
    (0x400, "NOLIGHTMAP"),
    (0x800, "POINTLIGHT"),
    (0x1000, "METAL"),
    (0x2000, "NOSTEPS"),
    (0x4000, "NONSOLID"),
    (0x8000, "LIGHTFILTER"),
    (0x1_0000, "ALPHASHADOW"),
    (0x2_0000, "NODLIGHT"),
    (0x4_0000, "WOOD"),
    (0x8_0000, "GRASS"),
    (0x10_0000, "GRAVEL"),
    (0x20_0000, "GLASS"),
    (0x40_0000, "SNOW"),
    (0x80_0000, "ROOF"),
    (0x100_0000, "RUBBLE"),
    (0x200_0000, "CARPET"),
    (0x400_0000, "MONSTERSLICK"),
    (0x800_0000, "MONSLICK_W"),
    (0x1000_0000, "MONSLICK_N"),
    (0x2000_0000, "MONSLICK_E"),
    (0x4000_0000, "MONSLICK_S"),
];

/// One bit has another name, and the last one has a name.
const ENEMY_TERRITORY_SURFACE: [(u32, &str); 32] = {
    let mut flags = [(0x8000_0000, "LANDMINE"); 32];
    let (first, _) = flags.split_at_mut(WOLFENSTEIN_SURFACE.len());
    first.copy_from_slice(&WOLFENSTEIN_SURFACE);
    flags[6] = (0x40, "SPLASH");
    flags
};

pub(super) const WOLFENSTEIN: FlagNames =
    &[(FlagKind::Contents, WOLFENSTEIN_CONTENTS), (FlagKind::Surface, &WOLFENSTEIN_SURFACE)];

pub(super) const ENEMY_TERRITORY: FlagNames =
    &[(FlagKind::Contents, WOLFENSTEIN_CONTENTS), (FlagKind::Surface, &ENEMY_TERRITORY_SURFACE)];
