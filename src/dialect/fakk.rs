//! Heavy Metal: F.A.K.K.2 (version 12) and American McGee's Alice (42), relatives of Quake III with lumps in another
//! order and a checksum in the header, which is kept (qfiles.h of the F.A.K.K.2 SDK, as bsp_tool cites it).
//!
//! No map of either game was available. A struct is used only if the lumps of a map confirm its size: the models
//! together have every surface and brush, and the brushes every side.

use super::light::{CornerForm, LitSurface, PageLight, SurfaceForm};
pub use super::quake3::{
    BRUSHES, BRUSHSIDES, DRAWINDEXES, DRAWVERTS, FOGS, LEAFBRUSHES, LEAFS, LEAFSURFACES, MODELS, NODES, PLANES,
};
use super::quake3::{Brush, Model, Shader as QuakeShader, Surface as QuakeSurface};
use super::{Dialect, Facts, Game, Holds, LightModel, Lump, Magic, QUAKE3, Role, Row, checks, keys, lump, only};
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{Meaning, records};

/// F.A.K.K.2 and Alice.
pub static FAKK: Dialect = Dialect {
    name: "fakk",
    title: "Quake III (F.A.K.K.2 and Alice)",
    magic: Magic::Ident(*b"FAKK"),
    versions: &[12, 42],
    // The checksum is before the entries.
    shapes: &[DirectoryShape { first: 12, count: 20, entry: EntryShape::Plain, trailing: 0 }],
    lumps: &LUMPS,
    rows: &[ROWS],
    class_rules: &super::classes::RITUAL,
    games: &[Game { name: "fakk", title: "F.A.K.K.2 and Alice", versions: &[], flags: &[] }],
    // The order of q3map, applied to the lump numbers of this dialect.
    rules: Rules { write_order: &[0, 1, 8, 9, 11, 10, 7, 6, 13, 4, 3, 15, 2, 16, 14, 12, 5], ..QUAKE3.rules },
    light: LightModel::Pages(&LIGHT),
    checksums: &[checks::in_header("fakk", "F.A.K.K.2 and Alice", false)],
    beside: &[],
    checks: &super::limits::RITUAL,
    probe: |_, dialect| Some(dialect.shapes[0]),
    // Neither their reserved records nor all references are known.
    owned: &[],
    ..QUAKE3
};

const LUMPS: [Lump; 20] = [
    lump("SHADERS", Role::Textures),
    lump("PLANES", Role::Planes),
    lump("LIGHTMAPS", Role::Lighting),
    lump("SURFACES", Role::Faces),
    lump("DRAWVERTS", Role::Vertexes),
    lump("DRAWINDEXES", Role::DrawIndexes),
    lump("LEAFBRUSHES", Role::LeafBrushes),
    lump("LEAFSURFACES", Role::LeafFaces),
    lump("LEAFS", Role::Leafs),
    lump("NODES", Role::Nodes),
    lump("BRUSHSIDES", Role::BrushSides),
    lump("BRUSHES", Role::Brushes),
    lump("FOGS", Role::Fogs),
    lump("MODELS", Role::Models),
    lump("ENTITIES", Role::Entities),
    lump("VISIBILITY", Role::Visibility),
    only("LIGHTGRID"),
    only("ENTLIGHTS"),
    only("ENTLIGHTSVIS"),
    only("LIGHTDEFS"),
];

keys! {
    SHADERS: Shader = "Lump 0.",
    SURFACES: Surface = "Lump 3.",
}

const ROWS: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    SHADERS.row().proved(with_sides_of_8),
    PLANES.row().paired().proved(with_sides_of_8),
    Row::lens("LIGHTMAPS", "light"),
    // Which number of theirs that of a fog is no source says.
    SURFACES.row().proved(with_sides_of_8).holds(Holds::Only(&["FOGS"])),
    DRAWVERTS.row().proved(with_sides_of_8),
    DRAWINDEXES.row().proved(with_sides_of_8),
    LEAFBRUSHES.row().proved(with_sides_of_8),
    LEAFSURFACES.row().proved(with_sides_of_8),
    LEAFS.row().proved(with_sides_of_8),
    NODES.row().fixed(1).proved(with_sides_of_8),
    BRUSHSIDES.row().proved(with_sides_of_8),
    BRUSHES.row().proved(with_sides_of_8),
    FOGS.row().proved(with_sides_of_8),
    MODELS.row().fixed(1).proved(with_sides_of_8),
    Row::lens("VISIBILITY", "visibility"),
    Row::opaque("LIGHTGRID", UNSEEN),
    Row::opaque("ENTLIGHTS", UNSEEN),
    Row::opaque("ENTLIGHTSVIS", UNSEEN),
    Row::opaque("LIGHTDEFS", UNSEEN),
];

/// The reason for lumps whose structs no source states.
pub(super) const UNSEEN: &str = "no available map shows its content";

const LIGHT: PageLight = PageLight {
    lump: "LIGHTMAPS",
    size: 128,
    // `LIGHTMAP_BY_VERTEX`.
    by_vertex: -3,
    surfaces: SurfaceForm::of(SURFACES),
    vertexes: CornerForm::of(DRAWVERTS),
    files: ("lm_", ".tga"),
};

fn with_sides_of_8(facts: &Facts<'_>, _: &Row) -> Result<(), String> {
    shared_out(facts, 8)
}

/// Whether the models together have every surface and brush, and the brushes every side, for sides of this size.
pub(super) fn shared_out(facts: &Facts<'_>, side_size: i64) -> Result<(), String> {
    let models = |number: fn(Model) -> i32| facts.sum(MODELS.lump(), |model: Model| i64::from(number(model)));
    let sides = facts.sum(BRUSHES.lump(), |brush: Brush| i64::from(brush.side_count));
    let sums = [
        (SURFACES.lump(), 108, models(|model| model.surface_count), "surfaces of the models"),
        (BRUSHES.lump(), 12, models(|model| model.brush_count), "brushes of the models"),
        (BRUSHSIDES.lump(), side_size, sides, "sides of the brushes"),
    ];
    for (lump, size, count, what) in sums {
        let len = facts.len(lump);
        if usize::try_from(count.saturating_mul(size)).ok() != Some(len) {
            return Err(format!(
                "no available map shows it, and {lump} is {len} bytes, not {size} for each of the {count} {what}"
            ));
        }
    }
    Ok(())
}

records! {
    /// `dshader_t`: what surfaces and brushes are made of.
    pub struct Shader(76) {
        ..QuakeShader,
        /// How finely patches of it are divided.
        pub subdivisions: i32,
    }

    /// `dsurface_t`: Quake III's with one more number. Medal of Honor has had no lump of fogs since version 19, and has
    /// terrain as kind 5.
    pub struct Surface(108) {
        ..QuakeSurface with { fog: Meaning::Plain },
        /// How finely it is divided.
        pub subdivisions: f32,
    }
}

impl From<Surface> for LitSurface {
    fn from(surface: Surface) -> Self {
        surface.base.into()
    }
}
