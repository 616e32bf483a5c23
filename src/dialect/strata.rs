//! Strata Source, version 25: Momentum Mod, Portal 2: Community Edition, Portal: Revolution, a relative of Source 21
//! that widened its numbers to 32 bits (the project's own page on the format, "BSP Version 25").
//!
//! The directory, the order of the lumps and all lumps without a row here are the same as in Source 21.

mod displacement;
mod faces;
mod overlays;
mod tree;

use super::checks::{Checks, Limit, bytes, engine, entities, records};
use super::light::{Averages, FaceForm, FaceLight, LightModel};
use super::source::fit::{
    ends_with_its_lists, faces_of_this_size, leafs_of_this_size, like_the_faces, nodes_of_this_size, one_a_face,
    one_a_leaf, one_for_one_of, sides_of_brushes, with_known_faces,
};
use super::source::{self, displacements, light, samples};
use super::{Dialect, EntityRules, Row, SOURCE21, row};
pub use displacement::*;
pub use faces::*;
pub use overlays::*;
pub use tree::*;

/// Strata Source.
pub static STRATA: Dialect = Dialect {
    name: "strata",
    title: "Source (Strata, version 25)",
    versions: &[25],
    rows: &ROWS,
    light: LightModel::Faces(&LIGHT),
    text: EntityRules::STRATA,
    compression_caveats: &[],
    checks: &CHECKS,
    ..SOURCE21
};

const OWN: [&[Row]; 4] = [faces::ROWS, tree::ROWS, displacement::ROWS, overlays::ROWS];

static KEPT: [Row; row::count(SOURCE21.rows, &OWN)] = row::rows(SOURCE21.rows, &OWN);

static ROWS: [&[Row]; 5] = [OWN[0], OWN[1], OWN[2], OWN[3], &KEPT];

/// The averages are before the light, as in the base. In some maps extra bytes follow the light, also as in the base.
const LIGHT: FaceLight = light::with_faces(&[FaceForm::of::<Face>(Averages::BeforeLight)]);

const CHECKS: Checks = Checks { engines: &[engine("strata", "Strata Source", &[], &LIMITS)], ..source::CHECKS };

const LIMITS: [Limit; 29] = [
    records("MODELS", 65_536),
    records("BRUSHES", 131_072),
    records("BRUSHSIDES", 1_310_720),
    entities(20_480).of_compilers(),
    records("TEXDATA", 16_384),
    records("DISPINFO", 262_144),
    records("AREAS", 65_536),
    records("AREAPORTALS", 65_536),
    records("PLANES", 1_048_576),
    records("NODES", 1_048_576),
    records("LEAFS", 1_048_576),
    records("VERTEXES", 1_048_576),
    records("FACES", 1_048_576),
    records("LEAFFACES", 1_048_576),
    records("LEAFBRUSHES", 1_048_576),
    records("VERTNORMALS", 1_048_576),
    records("VERTNORMALINDICES", 1_048_576),
    records("EDGES", 4_096_000),
    records("SURFEDGES", 8_192_000),
    records("LEAFWATERDATA", 32_768),
    bytes("LIGHTING", 0x100_0000),
    bytes("LIGHTING_HDR", 0x100_0000),
    bytes("VISIBILITY", 0x100_0000),
    records("CUBEMAPS", 16_384),
    records("OVERLAYS", 16_384),
    records("WATEROVERLAYS", 16_384),
    bytes("TEXDATA_STRING_DATA", 256_000),
    records("TEXDATA_STRING_TABLE", 1_048_576),
    records("PRIMITIVES", 1_048_576),
];
