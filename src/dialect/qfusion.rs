//! QFusion (Warsow), a relative of Raven's dialect: the same structs with another ident, pages of 512 luxels, and Quake
//! III's flags with a few more (qfusion; q3map2).

use super::light::PageLight;
pub use super::raven::{
    BRUSHES, BRUSHSIDES, DRAWINDEXES, DRAWVERTS, FOGS, LEAFBRUSHES, LEAFS, LEAFSURFACES, LIGHTARRAY, LIGHTGRID, MODELS,
    NODES, PLANES, SHADERS, SURFACES,
};
use super::{Dialect, EntityRules, Game, LightModel, Magic, RAVEN, quake3, raven};
use crate::record::{FlagKind, FlagNames};

/// QFusion.
pub static QFUSION: Dialect = Dialect {
    name: "qfusion",
    title: "Quake III (QFusion)",
    magic: Magic::Ident(*b"FBSP"),
    class_rules: &super::classes::QFUSION,
    games: &[Game { name: "warsow", title: "Warsow", versions: &[], flags: FLAGS }],
    light: LightModel::Pages(&LIGHT),
    text: EntityRules::QFUSION,
    // The engine compares a checksum, but no source of it was available.
    checksums: &[],
    beside: &[],
    checks: &super::limits::QFUSION,
    probe: |_, dialect| Some(dialect.shapes[0]),
    ..RAVEN
};

const LIGHT: PageLight = PageLight { size: 512, ..raven::LIGHT };

const SURFACE: [(u32, &str); 20] = {
    let mut names = [(0x8_0000, "NOWALLJUMP"); 20];
    let mut index = 0;
    while index < quake3::SURFACE.len() {
        names[index] = quake3::SURFACE[index];
        index += 1;
    }
    names
};

/// The bits from 26 on are a number, the material.
const FLAGS: FlagNames = &[(FlagKind::Contents, quake3::CONTENTS), (FlagKind::Surface, &SURFACE)];
