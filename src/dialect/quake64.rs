//! Quake 64 in the form that the re-release of Quake reads, a relative of Quake: four letters in place of a version,
//! and a texture header with one more number (Ironwail; ericw-tools).

use super::quake::{self, Face};
pub use super::quake::{
    CLIPNODES, EDGES, FACES, LEAFS, MARKSURFACES, MODELS, NODES, PLANES, SURFEDGES, TEXINFO, VERTEXES,
};
use super::{Dialect, Holds, QUAKE, Row, bspx, checks};
use crate::record::Field;

/// Quake 64.
pub static QUAKE64: Dialect = Dialect {
    name: "quake64",
    title: "Quake 64",
    versions: &[i32::from_le_bytes(*b" 46Q")],
    rows: &[ROWS, quake::SAME, &quake::models::<{ Face::SIZE }>(), quake::NARROW, bspx::GREY],
    // QuakeWorld does not use its maps.
    checksums: &[checks::ENTITY_KEY],
    ..QUAKE
};

/// Listed before Quake's own row, whose header has one number less.
/// They name no records, whatever their headers have.
const ROWS: &[Row] =
    &[Row::opaque("TEXTURES", "textures of Quake 64 have headers of 44 bytes, which no map at hand has shown")
        .holds(Holds::Nothing)];
