//! Light: of faces and of leafs, and light sources; also where the light of a face is.

use super::faces::{Face, FaceV18};
use super::fit::one_a_leaf;
use super::surface::TexInfo;
use crate::dialect::light::{
    Averages, ExtraLight, FaceForm, FaceLight, LightLumps, LitFace, LuxelForm, TextureForm, TextureLight,
};
use crate::dialect::{Each, Facts, Key, Row, keys};
use crate::record::{Count, Field, FlagKind, Meaning, Order, Record, index_or_none, records};

// Light: of faces and of leafs, and light sources.

keys! {
    LIGHTING: ColorRgbExp32 = "Lump 8. The faces say where the light of each begins, in bytes.",
    LIGHTING_HDR: ColorRgbExp32 = "Lump 53.",
    WORLDLIGHTS: WorldLight = "Lump 15, version 0.",
    WORLDLIGHTS_HDR: WorldLight = "Lump 54, version 0.",
    LEAF_AMBIENT_INDEX: LeafAmbientIndex = "Lump 52: one for each leaf.",
    LEAF_AMBIENT_INDEX_HDR: LeafAmbientIndex = "Lump 51: one for each leaf.",
    LEAF_AMBIENT_LIGHTING: LeafAmbientSample = "Lump 56, where lump 52 says which are whose.",
    LEAF_AMBIENT_LIGHTING_HDR: LeafAmbientSample = "Lump 55, where lump 51 says which are whose.",
    MAP_FLAGS: MapFlags = "Lump 59.",
}

/// Lump 15, version 1.
pub const WORLDLIGHTS_V1: Key<WorldLightV1> = Key::new("WORLDLIGHTS");
/// Lump 54, version 1.
pub const WORLDLIGHTS_HDR_V1: Key<WorldLightV1> = Key::new("WORLDLIGHTS_HDR");
/// Lump 56 of Episode One's time: a cube for each leaf.
pub const LEAF_AMBIENT_CUBES: Key<LeafAmbientCube> = Key::new("LEAF_AMBIENT_LIGHTING");
/// Lump 55 of Episode One's time: a cube for each leaf.
pub const LEAF_AMBIENT_CUBES_HDR: Key<LeafAmbientCube> = Key::new("LEAF_AMBIENT_LIGHTING_HDR");

pub(super) const ROWS: &[Row] = &[
    LIGHTING.row(),
    LIGHTING_HDR.row(),
    WORLDLIGHTS.row().versions(&[0]).proved(lights::<WorldLight>),
    WORLDLIGHTS_V1.row().versions(&[1]).proved(lights::<WorldLightV1>),
    WORLDLIGHTS_HDR.row().versions(&[0]).proved(lights::<WorldLight>),
    WORLDLIGHTS_HDR_V1.row().versions(&[1]).proved(lights::<WorldLightV1>),
    LEAF_AMBIENT_INDEX.row().parallel("LEAFS", Each::One, &[0]).proved(one_a_leaf),
    LEAF_AMBIENT_INDEX_HDR.row().parallel("LEAFS", Each::One, &[0]).instead(HDR_SAMPLES).proved(one_a_leaf),
    LEAF_AMBIENT_LIGHTING.row().proved(|facts, row| samples(facts, row, LEAF_AMBIENT_INDEX, samples_of)),
    LEAF_AMBIENT_LIGHTING_HDR.row().proved(|facts, row| samples(facts, row, LEAF_AMBIENT_INDEX_HDR, samples_of)),
    LEAF_AMBIENT_CUBES
        .row()
        .parallel("LEAFS", Each::One, &[0])
        .proved(|facts, row| cubes(facts, row, LEAF_AMBIENT_INDEX)),
    LEAF_AMBIENT_CUBES_HDR
        .row()
        .parallel("LEAFS", Each::One, &[0])
        .proved(|facts, row| cubes(facts, row, LEAF_AMBIENT_INDEX_HDR)),
    MAP_FLAGS.row().placed(),
];

/// The samples of a leaf, or a leaf that has some; the solid leaf 0 has none.
pub(in crate::dialect) const SAMPLES_OF_LEAF: Meaning = Meaning::RunOr {
    lump: "LEAF_AMBIENT_LIGHTING",
    count: Count::number("count"),
    order: Order::Free,
    unless: 0,
    other: "LEAFS",
    none: 0,
};

/// The samples for high dynamic range.
pub(in crate::dialect) const HDR_SAMPLES: &[(&str, &str)] = &[("LEAF_AMBIENT_LIGHTING", "LEAF_AMBIENT_LIGHTING_HDR")];

/// A light of either version.
trait Light: Record {
    fn kind(&self) -> i32;
}

impl Light for WorldLight {
    fn kind(&self) -> i32 {
        self.kind
    }
}

impl Light for WorldLightV1 {
    fn kind(&self) -> i32 {
        self.kind
    }
}

/// Lights whose kinds are valid. The lump's version gives their size; Valve's tools write a wrong version for empty
/// lumps.
fn lights<L: Light>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    let bytes = facts.own(row);
    if bytes.len() < L::SIZE || facts.is_exact && !bytes.len().is_multiple_of(L::SIZE) {
        return Err(format!("its {} bytes are not a multiple of {}", bytes.len(), L::SIZE));
    }
    if facts.is_likely {
        return Ok(());
    }
    let strange = bytes.chunks_exact(L::SIZE).filter_map(L::decode).position(|light| !(0..=5).contains(&light.kind()));
    strange.map_or(Ok(()), |index| Err(format!("as lights of {} bytes, light {index} is of no kind there is", L::SIZE)))
}

fn samples_of(leaf: LeafAmbientIndex) -> i64 {
    leaf.count.into()
}

/// Samples to which the index refers, leaf by leaf.
pub(in crate::dialect) fn samples<R: Record>(
    facts: &Facts<'_>,
    row: &Row,
    index: Key<R>,
    of_leaf: fn(R) -> i64,
) -> Result<(), String> {
    let len = facts.len(row.lump);
    one_a_leaf(facts, &index.row())
        .map_err(|why| format!("{} does not say whose its samples are: {why}", index.lump()))?;
    let samples = facts.sum(index.lump(), of_leaf);
    // A ragged lump is not one of whole cubes.
    let is_odd =
        !len.is_multiple_of(LeafAmbientSample::SIZE) && (facts.is_exact || len.is_multiple_of(LeafAmbientCube::SIZE));
    let size = LeafAmbientSample::SIZE;
    let count = if facts.is_exact { len / size } else { len.div_ceil(size) };
    match (is_odd, i64::try_from(count)) {
        (false, Ok(count)) if count >= samples.min(1 << 16) => Ok(()),
        _ => Err(format!("its {len} bytes are not {} for each of {samples} samples", LeafAmbientSample::SIZE)),
    }
}

/// Cubes leaf by leaf, without an index.
fn cubes(facts: &Facts<'_>, row: &Row, index: Key<LeafAmbientIndex>) -> Result<(), String> {
    match facts.len(index.lump()) {
        // Whole samples without an index are not ragged cubes.
        0 if facts.is_exact || !facts.len(row.lump).is_multiple_of(LeafAmbientSample::SIZE) => one_a_leaf(facts, row),
        0 => Err("its samples have no index that says whose they are".to_owned()),
        _ => Err(format!("{} goes with samples, not with cubes", index.lump())),
    }
}

/// Declares the structs of lights, which differ by an offset in their middle.
macro_rules! lights {
    ($($(#[$meta:meta])* $name:ident($size:literal) { $($middle:tt)* })* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
                    /// Where it is.
                    pub origin: [f32; 3],
                    /// How bright it is: red, green, blue.
                    pub intensity: [f32; 3],
                    /// The direction in which it shines.
                    pub normal: [f32; 3],
                    $($middle)*
                    /// The cluster it is in, -1 for none.
                    pub cluster: i32,
                    /// 0 surface, 1 point, 2 spot, 3 sky, 4 quake, 5 ambient light of the sky.
                    pub kind: i32 as "type",
                    /// Its style; from 32 on one that an entity switches.
                    pub style: i32,
                    /// The cosine where a spot begins to fade.
                    pub stop_dot: f32 as "stopdot",
                    /// The cosine where it ends.
                    pub stop_dot2: f32 as "stopdot2",
                    /// How it fades between the two angles.
                    pub exponent: f32,
                    /// Its range; 0 for no limit.
                    pub radius: f32,
                    /// The constant part of its attenuation.
                    pub constant: f32 as "constant_attn",
                    /// The part that is linear in the distance.
                    pub linear: f32 as "linear_attn",
                    /// The part that is quadratic in the distance.
                    pub quadratic: f32 as "quadratic_attn",
                    /// `DWL_FLAGS_`.
                    pub flags: i32 => Meaning::Flags(FlagKind::Light),
                    /// The texinfo of a surface that emits light.
                    pub texinfo: i32 => index_or_none("TEXINFO"),
                    /// The entity it belongs to; 0 from the tools.
                    pub owner: i32,
                }
            )*
            $($rest)*
        }
    };
}

lights! {
    /// `dworldlight_t`, version 0 of its lump.
    WorldLight(88) {}

    /// `dworldlight_t`, version 1 of its lump.
    WorldLightV1(100) {
        /// The offset of the point that casts its shadows from its origin.
        pub shadow_cast_offset: [f32; 3],
    }

    => {
    /// `ColorRGBExp32`: each color times two to the power of the exponent.
    pub struct ColorRgbExp32(4) {
        /// Red.
        pub red: u8,
        /// Green.
        pub green: u8,
        /// Blue.
        pub blue: u8,
        /// The power of two.
        pub exponent: i8,
    }

    /// `dleafambientindex_t`.
    pub struct LeafAmbientIndex(4) {
        /// How many samples the leaf has.
        pub count: u16 as "ambientSampleCount",
        /// The first of them; where there are none, a leaf that has some.
        pub first: u16 as "firstAmbientSample" => SAMPLES_OF_LEAF,
    }

    /// `dleafambientlighting_t`: light at a place in a leaf.
    pub struct LeafAmbientSample(28) {
        /// The light from the directions x, -x, y, -y, z, -z.
        pub cube: [ColorRgbExp32; 6],
        /// Its position in the leaf's box: 0 is the lowest coordinate of the box and 255 the highest.
        pub position: [u8; 3] as "x, y, z",
        /// Garbage in some maps.
        pub padding: u8,
    }

    /// `CompressedLightCube`: light in a leaf.
    pub struct LeafAmbientCube(24) {
        /// The light from the directions x, -x, y, -y, z, -z.
        pub cube: [ColorRgbExp32; 6],
    }

    /// `dflagslump_t`.
    pub struct MapFlags(4) {
        /// `LVLFLAGS_`: 1 and 2 if static props have their own light, for low and for high range. From version 21 on
        /// the bits 0x7C say which alphas the light has.
        pub flags: u32 => Meaning::Flags(FlagKind::Map),
    }
    }
}

// Where the light of faces is (vrad of the Source SDK 2013; the bytes after the luxels and Bloodlines' averages
// by how the blocks of real maps follow each other).

pub(super) const LIGHT: FaceLight = with_faces(&[
    FaceForm::of::<Face>(Averages::BeforeLight),
    // No map with light of version 18 is known.
    FaceForm::of::<FaceV18>(Averages::Unknown),
]);

const TEXTURES: &[TextureForm] = &[TextureForm::of::<TexInfo>()];

/// The light with other faces that refer to it.
pub(in crate::dialect) const fn with_faces(faces: &'static [FaceForm]) -> FaceLight {
    FaceLight {
        lumps: &[
            LightLumps { name: "ldr", faces: &["FACES"], light: "LIGHTING", placed_by: None, copied: None },
            // A map that was compiled only for this light has no second faces.
            LightLumps {
                name: "hdr",
                faces: &["FACES_HDR", "FACES"],
                light: "LIGHTING_HDR",
                placed_by: None,
                copied: None,
            },
        ],
        faces,
        textures: TEXTURES,
        by_extents: false,
        unlit: 0,
        unsized_luxels: 0,
        // SURF_SKY2D, SURF_SKY, SURF_NOLIGHT.
        unread: 2 | 4 | 0x400,
        // SURF_BUMPLIGHT.
        bumped: 0x800,
        luxels: LuxelForm::Rgbe,
        // Counter-Strike: Global Offensive and Strata Source: probably how much sunlight a luxel gets.
        extra: Some(ExtraLight { flags: "MAP_FLAGS", mask: 0x7C, bytes: &[(0x04, 1), (0x7C, 4)] }),
    }
}

macro_rules! lit {
    ($($face:ty)*) => {
        $(impl From<$face> for LitFace {
            fn from(face: $face) -> Self {
                let [a, b, c, d] = face.styles;
                LitFace {
                    first_edge: face.first_edge,
                    edge_count: face.edge_count.into(),
                    texinfo: face.texinfo.into(),
                    styles: [a, b, c, d, 255, 255, 255, 255],
                    offset: face.light_offset,
                    size: Some(face.luxel_size),
                }
            }
        })*
    };
}
lit!(Face FaceV18);

impl From<TexInfo> for TextureLight {
    fn from(texinfo: TexInfo) -> Self {
        TextureLight { vectors: texinfo.lightmap_vectors, flags: texinfo.flags }
    }
}
