//! Detail props and their light, and the lists that static props have too.

use super::fit::{ends, ends_with_its_lists};
use super::light::ColorRgbExp32;
use crate::dialect::{Each, Facts, Key, List, Row};
use crate::record::{Count, Meaning, Name, index, optional_run_of, records};

const LUMP: &str = "game:dprp";

/// The names of the models of detail props.
pub const DETAIL_NAMES: Key<PropName> = Key::list(LUMP, "names");
/// The sprites of detail props.
pub const DETAIL_SPRITES: Key<DetailSprite> = Key::list(LUMP, "sprites");
/// The detail props.
pub const DETAIL_OBJECTS: Key<DetailObject> = Key::list(LUMP, "objects");
/// The light of detail props beyond their first style.
pub const DETAIL_LIGHTS: Key<DetailLight> = Key::list("game:dplt", "lights");
/// The light of detail props beyond their first style, of a high range.
pub const DETAIL_LIGHTS_HDR: Key<DetailLight> = Key::list("game:dplh", "lights");

const OBJECTS: &[List] = &[
    List::of::<PropName>("names"),
    List::of::<DetailSprite>("sprites"),
    List::of::<DetailObject>("objects").grouped("leaf"),
];
const LIGHTS: &[List] = &[List::of::<DetailLight>("lights")];
const LIGHTS_HDR: &[List] = &[List::of::<DetailLight>("lights").parallel("game:dplt.lights", Each::One)];

pub(super) const ROWS: &[Row] = &[
    Row::lens("GAME_LUMP", "game lump"),
    Row::lists(LUMP, OBJECTS).versions(&[4]).proved(|facts, row| of_version(facts, row, &[0])),
    Row::lists("game:dplt", LIGHTS).versions(&[0]).proved(ends_with_its_lists),
    Row::lists("game:dplh", LIGHTS_HDR).versions(&[0]).proved(ends_with_its_lists),
];

/// Lists that end at the end of the member or this many bytes before it, for the versions of the row.
pub(in crate::dialect) fn of_version(facts: &Facts<'_>, row: &Row, spare: &[usize]) -> Result<(), String> {
    match facts.lump_version() {
        Some(version) if row.versions.contains(&version) => ends(facts, row, spare),
        version => Err(format!("detail props of version {} are not known", version.unwrap_or(0))),
    }
}

records! {
    /// The name of a model.
    pub struct PropName(128) {
        /// From the game's folder, with its extension.
        pub name: Name<128>,
    }

    /// A leaf that static props are in.
    pub struct PropLeaf(2) {
        /// The leaf's index.
        pub leaf: u16 => index("LEAFS"),
    }

    /// A leaf that static props are in, from version 12 on.
    pub struct PropLeafWide(4) {
        /// The leaf's index.
        pub leaf: u32 => index("LEAFS"),
    }

    /// `DetailSpriteDictLump_t`.
    pub struct DetailSprite(32) {
        /// Its upper left corner in units.
        pub upper_left: [f32; 2] as "m_UL",
        /// Its lower right corner in units.
        pub lower_right: [f32; 2] as "m_LR",
        /// The upper left corner in the texture.
        pub texture_upper_left: [f32; 2] as "m_TexUL",
        /// The lower right corner in the texture.
        pub texture_lower_right: [f32; 2] as "m_TexLR",
    }

    /// `DetailObjectLump_t`, version 4.
    pub struct DetailObject(52) {
        /// Where it is.
        pub origin: [f32; 3] as "m_Origin",
        /// Pitch, yaw and roll in degrees.
        pub angles: [f32; 3] as "m_Angles",
        /// Its place in the list of names or sprites, by its kind.
        pub model: u16 as "m_DetailModel" =>
            Meaning::Either { by: "kind", lists: ["game:dprp.names", "game:dprp.sprites"] },
        /// The leaf it is in.
        pub leaf: u16 as "m_Leaf" => index("LEAFS"),
        /// Its light.
        pub lighting: ColorRgbExp32 as "m_Lighting",
        /// The offset of the light of its other styles; 0 or all bits set for none.
        pub first_style: u32 as "m_LightStyles" => optional_run_of("game:dplt.lights", Count::number("style_count")),
        /// How many other styles it has.
        pub style_count: u8 as "m_LightStyleCount",
        /// How it sways.
        pub sway: u8 as "m_SwayAmount",
        /// The angle of its shape.
        pub shape_angle: u8 as "m_ShapeAngle",
        /// The size of its shape.
        pub shape_size: u8 as "m_ShapeSize",
        /// How it rotates towards the viewer.
        pub orientation: u8 as "m_Orientation",
        /// Garbage.
        pub padding: [u8; 3],
        /// 0 model, 1 sprite, 2 cross, 3 three sides.
        pub kind: u8 as "m_Type",
        /// Garbage.
        pub more_padding: [u8; 3],
        /// Its size.
        pub scale: f32 as "m_flScale",
    }

    /// `DetailPropLightstylesLump_t`.
    pub struct DetailLight(5) {
        /// The light.
        pub lighting: ColorRgbExp32,
        /// Its style.
        pub style: u8,
    }
}
