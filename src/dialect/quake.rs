//! Quake, version 29, a relative of GoldSrc, whose format derives from it. The differences: light of one byte per
//! luxel, and textures without palettes (bspfile.h of id's tools for Quake; Quakespasm).
//!
//! Hexen II's maps have the same version. Only the struct of their models is different. It is detected from the size of
//! the lump or, if both sizes divide it, from the faces that the models name.

pub use super::goldsrc::{
    CLIPNODES, ClipNode, EDGES, Edge, FACES, Face, LEAFS, Leaf, MARKSURFACES, MODELS, MarkSurface, Model, NODES, Node,
    PLANES, Plane, SURFEDGES, SurfEdge, TEXINFO, TexInfo, VERTEXES, Vertex,
};
use super::light::{self, Averages, FaceForm, FaceLight, LightModel, LuxelForm, TextureForm};
use super::{Dialect, EntityRules, Facts, GOLDSRC, Game, Row, bspx, checks, goldsrc};
use crate::bytes::word;
use crate::file::Rules;
use crate::record::Field;

/// Quake.
pub static QUAKE: Dialect = Dialect {
    name: "quake",
    title: "Quake",
    versions: &[29],
    rows: &[SAME, &models::<{ Face::SIZE }>(), NARROW, bspx::GREY],
    class_rules: &super::classes::QUAKE,
    games: &[Game { name: "quake", title: "Quake", versions: &[], flags: goldsrc::GOLDSRC_FLAGS }],
    rules: Rules { extra_header: false, ..GOLDSRC.rules },
    light: LightModel::Faces(&LIGHT),
    text: EntityRules::QUAKE,
    beside: &[super::beside::QUAKE],
    checksums: &[checks::QUAKEWORLD, checks::QUAKEWORLD2, checks::ENTITY_KEY],
    checks: &super::limits::QUAKE,
    probe: |_, dialect| Some(dialect.shapes[0]),
    ..GOLDSRC
};

/// Rows that maps with indices of 32 bits have too.
pub(super) const SAME: &[Row] = &[
    Row::lens("ENTITIES", "text"),
    PLANES.row(),
    Row::lens("TEXTURES", "textures without palettes"),
    VERTEXES.row(),
    Row::lens("VISIBILITY", "visibility"),
    TEXINFO.row(),
    Row::lens("LIGHTING", "light"),
    SURFEDGES.row(),
];

/// The models of maps whose faces have this size in bytes.
pub(super) const fn models<const FACE: usize>() -> [Row; 2] {
    [
        MODELS.row().fixed(1).proved(|facts, _| match has_models_of_hexen(facts, FACE) {
            false => Ok(()),
            true => Err("its models have 80 bytes".to_owned()),
        }),
        Row::opaque("MODELS", "models of Hexen II have heads of eight trees; no known map has them").proved(
            |facts, _| match has_models_of_hexen(facts, FACE) {
                true => Ok(()),
                false => Err("its models have 64 bytes".to_owned()),
            },
        ),
    ]
}

/// Rows of maps with indices of 16 bits.
pub(super) const NARROW: &[Row] = &[
    NODES.row().fixed(1),
    FACES.row(),
    CLIPNODES.row(),
    LEAFS.row().fixed(1),
    MARKSURFACES.row().listed(),
    EDGES.row().fixed(1),
];

/// `TEX_SPECIAL`, of sky and liquids: compilers give them no light. Quakespasm (`Mod_LoadFaces`) reads what there is
/// whatever the flag says, and other engines do not.
pub(super) const UNREAD: i32 = 1;

const LIGHT: FaceLight = FaceLight {
    luxels: LuxelForm::Grey,
    unread: UNREAD,
    ..light::by_extents(&[FaceForm::of::<Face>(Averages::None)], &[TextureForm::of::<TexInfo>()], 0)
};

fn has_models_of_hexen(facts: &Facts<'_>, face_size: usize) -> bool {
    const SIZES: [usize; 2] = [64, 80];
    let len = facts.len("MODELS");
    match SIZES.map(|size| len.is_multiple_of(size)) {
        [false, divides] => divides,
        [true, false] => false,
        [true, true] => {
            let faces = facts.count("FACES", face_size);
            let models = facts.bytes("MODELS");
            let runs = |size: usize| {
                models.chunks_exact(size).map(move |model| {
                    let number = |at: usize| word(model, at).and_then(|number| usize::try_from(number).ok());
                    number(size - 8).zip(number(size - 4))
                })
            };
            let fits = |size: usize| runs(size).all(|run| run.is_some_and(|(first, count)| first + count <= faces));
            // Every face belongs to one model, and the faces of a model follow those of the model before it.
            let in_order = |size: usize| {
                let next = |next: usize, run: Option<(usize, usize)>| {
                    run.filter(|(first, _)| *first == next).map(|(first, count)| first + count)
                };
                runs(size).try_fold(0, next) == Some(faces)
            };
            match SIZES.map(fits) {
                [true, true] => {
                    let [quake, hexen] = SIZES.map(in_order);
                    hexen && !quake
                }
                [quake, hexen] => hexen && !quake,
            }
        }
    }
}
