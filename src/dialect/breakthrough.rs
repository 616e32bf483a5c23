//! Medal of Honor: Breakthrough, version 21, a relative of Allied Assault with the ident of the makers of the
//! expansions (OpenMoHAA; bsp_tool).

pub use super::mohaa::{
    BRUSHES, BRUSHSIDES, DRAWINDEXES, DRAWVERTS, LEAFBRUSHES, LEAFS, LEAFSURFACES, MODELS, NODES, PLANES, SHADERS,
    SIDEEQUATIONS, STATICMODELDEF, STATICMODELINDEXES, SURFACES, TERRAININDEXES,
};
use super::{Dialect, MOHAA, Magic};

/// Breakthrough.
pub static BREAKTHROUGH: Dialect = Dialect {
    name: "breakthrough",
    title: "Medal of Honor: Breakthrough",
    magic: Magic::Ident(*b"EALA"),
    versions: &[21],
    ..MOHAA
};
