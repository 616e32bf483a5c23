//! Detail props and their light, and the lists that static props have too.

use super::fit::{ends, ends_with_its_lists};
use super::light::ColorRgbExp32;
use crate::dialect::{Facts, Key, List, Row};
use crate::record::{Name, index, records};

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

const OBJECTS: &[List] =
    &[List::of::<PropName>("names"), List::of::<DetailSprite>("sprites"), List::of::<DetailObject>("objects")];
const LIGHTS: &[List] = &[List::of::<DetailLight>("lights")];

pub(super) const ROWS: &[Row] = &[
    Row::lens("GAME_LUMP", "game lump"),
    Row::lists(LUMP, OBJECTS).versions(&[4]).proved(|facts, row| of_version(facts, row, &[0])),
    Row::lists("game:dplt", LIGHTS).versions(&[0]).proved(ends_with_its_lists),
    Row::lists("game:dplh", LIGHTS).versions(&[0]).proved(ends_with_its_lists),
];

/// Lists that end where the member does, or so many bytes before, and a version of the row's.
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
        /// Its upper left corner in units (`m_UL`).
        pub upper_left: [f32; 2],
        /// Its lower right corner in units (`m_LR`).
        pub lower_right: [f32; 2],
        /// The upper left corner in the texture (`m_TexUL`).
        pub texture_upper_left: [f32; 2],
        /// The lower right corner in the texture (`m_TexLR`).
        pub texture_lower_right: [f32; 2],
    }

    /// `DetailObjectLump_t`, version 4.
    pub struct DetailObject(52) {
        /// Where it stands (`m_Origin`).
        pub origin: [f32; 3],
        /// Pitch, yaw and roll in degrees (`m_Angles`).
        pub angles: [f32; 3],
        /// Its place in the list of names or sprites, by its kind (`m_DetailModel`).
        pub model: u16,
        /// The leaf it stands in (`m_Leaf`).
        pub leaf: u16 => index("LEAFS"),
        /// Its light (`m_Lighting`).
        pub lighting: ColorRgbExp32,
        /// Where the light of its other styles begins; 0 or all bits where there are none (`m_LightStyles`).
        pub first_style: u32,
        /// How many other styles it has (`m_LightStyleCount`).
        pub style_count: u8,
        /// How it sways (`m_SwayAmount`).
        pub sway: u8,
        /// The angle of its shape (`m_ShapeAngle`).
        pub shape_angle: u8,
        /// The size of its shape (`m_ShapeSize`).
        pub shape_size: u8,
        /// How it turns to the viewer (`m_Orientation`).
        pub orientation: u8,
        /// Garbage.
        pub padding: [u8; 3],
        /// 0 model, 1 sprite, 2 cross, 3 three sides (`m_Type`).
        pub kind: u8,
        /// Garbage.
        pub more_padding: [u8; 3],
        /// Its size (`m_flScale`).
        pub scale: f32,
    }

    /// `DetailPropLightstylesLump_t`.
    pub struct DetailLight(5) {
        /// The light.
        pub lighting: ColorRgbExp32,
        /// The style it is of.
        pub style: u8,
    }
}
