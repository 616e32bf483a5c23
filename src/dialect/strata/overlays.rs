//! Overlays in their four versions, what runs beside them, and names of colors.

use super::{ends_with_its_lists, one_for_one_of, with_known_faces};
use crate::bytes::word;
use crate::dialect::source::{OVERLAY_FADES, Overlay as OverlayV0};
use crate::dialect::source21::OVERLAY_SYSTEM_LEVELS;
use crate::dialect::{Facts, Key, List, Row, keys};
use crate::record::{Field, Name, index, records};

keys! {
    WATEROVERLAYS: WaterOverlay = "Lump 50.",
}

/// Lump 45, version 0: as it was before.
pub const OVERLAYS_V0: Key<OverlayV0> = Key::new(LUMP);
/// Lump 45, version 1.
pub const OVERLAYS_V1: Key<OverlayV1> = Key::new(LUMP);
/// Lump 45, version 2.
pub const OVERLAYS_V2: Key<OverlayV2> = Key::new(LUMP);
/// The faces of all overlays of version 3, one overlay's behind the other's.
pub const OVERLAY_FACES: Key<OverlayFace> = Key::list(LUMP, "faces");
/// The overlays of version 3.
pub const OVERLAYS: Key<Overlay> = Key::list(LUMP, "overlays");
/// The names of colors that the game changes.
pub const COLOR_VARIABLES: Key<ColorVariable> = Key::list("game:clvr", "names");

const LUMP: &str = "OVERLAYS";

/// The numbers of both lists stand before them, that of the overlays first.
const LISTS: &[List] = &[List::counted_at::<OverlayFace>("faces", 4), List::counted_at::<Overlay>("overlays", 0)];

pub(super) const ROWS: &[Row] = &[
    OVERLAYS_V0.row().versions(&[0]),
    OVERLAYS_V1.row().versions(&[1]),
    OVERLAYS_V2.row().versions(&[2]),
    Row::lists(LUMP, LISTS).versions(&[3]).proved(third_version),
    WATEROVERLAYS.row().proved(with_known_faces),
    OVERLAY_FADES.row().proved(one_for_each_overlay),
    OVERLAY_SYSTEM_LEVELS.row().proved(one_for_each_overlay),
    Row::lists("game:clvr", &[List::of::<ColorVariable>("names")]).versions(&[0]).proved(ends_with_its_lists),
];

fn third_version(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    match facts.lump_version() {
        Some(3) => ends_with_its_lists(facts, row),
        version => Err(format!("overlays of version {} are not known", version.unwrap_or(0))),
    }
}

/// As many as there are overlays, of whatever version those are: one lump does not see another's.
fn one_for_each_overlay(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    let size = row.record().map_or(1, |record| record.size);
    let listed = word(&facts.bytes(LUMP), 0).and_then(|count| usize::try_from(count).ok()?.checked_mul(size));
    match listed == Some(facts.len(row.lump)) {
        true => Ok(()),
        false => one_for_one_of(facts, row, LUMP, &[OverlayV0::SIZE, OverlayV1::SIZE, OverlayV2::SIZE], "overlays"),
    }
}

/// Declares structs of overlays that have their faces in them, which differ in how many those may be and in their end.
macro_rules! overlays {
    ($($(#[$meta:meta])* $name:ident($size:literal) [$faces:literal] { $($end:tt)* })* => { $($rest:tt)* }) => {
        records! {
            $(
                $(#[$meta])*
                pub struct $name($size) {
                    /// The number entities know it by (`nId`).
                    pub id: i32,
                    /// How its texture lies (`nTexInfo`).
                    pub texinfo: i32 => index("TEXINFO"),
                    /// The number of its faces in the low 14 bits, its render order in the others
                    /// (`m_nFaceCountAndRenderOrder`).
                    pub face_count_order: u16,
                    /// Of no meaning.
                    pub padding: u16,
                    /// The faces it lies on; those behind the count are garbage (`aFaces`).
                    pub faces: [i32; $faces],
                    /// From where to where u goes (`flU`).
                    pub u: [f32; 2],
                    /// From where to where v goes (`flV`).
                    pub v: [f32; 2],
                    /// Its corners in its plane; the third numbers are the direction of u, and 1 where v is turned
                    /// around (`vecUVPoints`).
                    pub uv_points: [[f32; 3]; 4],
                    /// Where it is (`vecOrigin`).
                    pub origin: [f32; 3],
                    /// Where it faces (`vecBasisNormal`).
                    pub normal: [f32; 3],
                    $($end)*
                }
            )*
            $($rest)*
        }

        $(impl $name {
            /// How many of its faces count.
            pub fn faces_used(&self) -> u16 {
                self.face_count_order & 0x3FFF
            }

            /// What it is drawn before or after, 0 to 3.
            pub fn render_order(&self) -> u16 {
                self.face_count_order >> 14
            }
        })*
    };
}

overlays! {
    /// `doverlay_version1_t`.
    OverlayV1(356) [64] {}

    /// `doverlay_version2_t`.
    OverlayV2(360) [64] {
        /// Its tint and opacity (`clrTint`).
        pub tint: [u8; 4],
    }

    /// `dwateroverlay_t`.
    WaterOverlay(1124) [256] {}

    => {
    /// A number in the list of faces of overlays.
    pub struct OverlayFace(4) {
        /// The face's index.
        pub face: i32 => index("FACES"),
    }

    /// `doverlay_version3_t`.
    pub struct Overlay(108) {
        /// The number entities know it by (`nId`).
        pub id: i32,
        /// How its texture lies (`nTexInfo`).
        pub texinfo: i32 => index("TEXINFO"),
        /// 1 where v is turned around, 2 where the tint is the index of a color's name, from its red down (`iFlags`).
        pub flags: u16,
        /// What it is drawn before or after (`nRenderOrder`).
        pub render_order: u16,
        /// Its first face in the list of faces (`nFaceOffset`).
        pub first_face: i32,
        /// How many faces it lies on (`nFaceCount`).
        pub face_count: i32,
        /// From where to where u goes (`flU`).
        pub u: [f32; 2],
        /// From where to where v goes (`flV`).
        pub v: [f32; 2],
        /// Its corners in its plane (`vecUVPoints`).
        pub uv_points: [[f32; 2]; 4],
        /// The direction of u (`vecBasisU`).
        pub u_direction: [f32; 3],
        /// Where it is (`vecOrigin`).
        pub origin: [f32; 3],
        /// Where it faces (`vecBasisNormal`).
        pub normal: [f32; 3],
        /// Its tint and opacity (`clrTint`).
        pub tint: [u8; 4],
    }

    /// `ColorVarDictLump_t`.
    pub struct ColorVariable(64) {
        /// The name.
        pub name: Name<64>,
    }
    }
}
