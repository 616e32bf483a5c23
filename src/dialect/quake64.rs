//! Quake 64 as the re-release of Quake plays it, a relative of Quake's maps: four letters for a version, and textures
//! whose header has a number more (Ironwail; ericw-tools).

use super::quake::Face;
pub use super::quake::{
    CLIPNODES, EDGES, FACES, LEAFS, MARKSURFACES, MODELS, NODES, PLANES, SURFEDGES, TEXINFO, VERTEXES,
};
use super::{Dialect, QUAKE, Row, bspx, checksum, quake};
use crate::record::Field;

/// Quake 64.
pub static QUAKE64: Dialect = Dialect {
    name: "quake64",
    title: "Quake 64",
    versions: &[i32::from_le_bytes(*b" 46Q")],
    rows: &[ROWS, quake::SAME, &quake::models::<{ Face::SIZE }>(), quake::NARROW, bspx::GREY],
    // Nobody plays QuakeWorld in its maps.
    checksums: &[checksum::ENTITY_KEY],
    ..QUAKE
};

/// Before Quake's own row, which would read a number too few.
const ROWS: &[Row] =
    &[Row::opaque("TEXTURES", "textures of Quake 64 have headers of 44 bytes, which no map at hand has shown")];
