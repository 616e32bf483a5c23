//! Overlays in their four versions, what runs beside them, and names of colors.

use super::{ends_with_its_lists, one_for_one_of, with_known_faces};
use crate::bytes::word;
use crate::dialect::source::{FACES_OF_OVERLAY, OVERLAY_FADES, Overlay as OverlayV0, OverlayPlace, overlay_bits};
use crate::dialect::source21::OVERLAY_SYSTEM_LEVELS;
use crate::dialect::{Each, Facts, Key, List, Row, keys};
use crate::record::{Field, Name, index, records, set};

keys! {
    WATEROVERLAYS: WaterOverlay = "Lump 50.",
}

/// Lump 45, version 0: as it was before.
pub const OVERLAYS_V0: Key<OverlayV0> = Key::new(LUMP);
/// Lump 45, version 1.
pub const OVERLAYS_V1: Key<OverlayV1> = Key::new(LUMP);
/// Lump 45, version 2.
pub const OVERLAYS_V2: Key<OverlayV2> = Key::new(LUMP);
/// The faces of all overlays of version 3, overlay by overlay.
pub const OVERLAY_FACES: Key<OverlayFace> = Key::list(LUMP, "faces");
/// The overlays of version 3.
pub const OVERLAYS: Key<Overlay> = Key::list(LUMP, "overlays");
/// The names of colors that the game changes.
pub const COLOR_VARIABLES: Key<ColorVariable> = Key::list("game:clvr", "names");

const LUMP: &str = "OVERLAYS";

/// The counts of both lists come first: overlays, then faces.
const LISTS: &[List] =
    &[List::counted_at::<OverlayFace>("faces", 4).listed(), List::counted_at::<Overlay>("overlays", 0)];

pub(super) const ROWS: &[Row] = &[
    OVERLAYS_V0.row().versions(&[0]),
    OVERLAYS_V1.row().versions(&[1]),
    OVERLAYS_V2.row().versions(&[2]),
    Row::lists(LUMP, LISTS).versions(&[3]).proved(third_version),
    WATEROVERLAYS.row().proved(with_known_faces),
    OVERLAY_FADES.row().parallel("OVERLAYS", Each::One, &[0]).proved(one_for_each_overlay),
    OVERLAY_SYSTEM_LEVELS.row().parallel("OVERLAYS", Each::One, &[0]).proved(one_for_each_overlay),
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

overlay_bits!(OverlayV1, WaterOverlay);

records! {
    /// `doverlay_version1_t`.
    pub struct OverlayV1(356) {
        /// The number entities know it by.
        pub id: i32 as "nId",
        /// How its texture lies.
        pub texinfo: i32 as "nTexInfo" => index("TEXINFO"),
        /// The number of its faces in the low 14 bits, its render order in the others.
        pub face_count_order: u16 as "m_nFaceCountAndRenderOrder",
        /// Of no meaning.
        pub padding: u16,
        /// The faces it is on; entries after the count are garbage.
        pub faces: [i32; 64] as "aFaces" => FACES_OF_OVERLAY,
        ..OverlayPlace,
    }

    /// `doverlay_version2_t`.
    pub struct OverlayV2(360) {
        ..OverlayV1,
        /// Its tint and opacity.
        pub tint: [u8; 4] as "clrTint",
    }

    /// `dwateroverlay_t`.
    pub struct WaterOverlay(1124) {
        /// The number entities know it by.
        pub id: i32 as "nId",
        /// How its texture lies.
        pub texinfo: i32 as "nTexInfo" => index("TEXINFO"),
        /// The number of its faces in the low 14 bits, its render order in the others.
        pub face_count_order: u16 as "m_nFaceCountAndRenderOrder",
        /// Of no meaning.
        pub padding: u16,
        /// The faces it is on; entries after the count are garbage.
        pub faces: [i32; 256] as "aFaces" => FACES_OF_OVERLAY,
        ..OverlayPlace,
    }

    /// A number in the list of faces of overlays.
    pub struct OverlayFace(4) {
        /// The face's index.
        pub face: i32 => index("FACES"),
    }

    /// `doverlay_version3_t`.
    pub struct Overlay(108) {
        /// The number entities know it by.
        pub id: i32 as "nId",
        /// How its texture lies.
        pub texinfo: i32 as "nTexInfo" => index("TEXINFO"),
        /// 1 if v is reversed, 2 where the tint is the index of a color's name, from its red down.
        pub flags: u16 as "iFlags",
        /// What it is drawn before or after.
        pub render_order: u16 as "nRenderOrder",
        /// Its first face in the list of faces.
        pub first_face: i32 as "nFaceOffset" => set("OVERLAYS.faces", "face_count"),
        /// How many faces it lies on.
        pub face_count: i32 as "nFaceCount",
        /// From where to where u goes.
        pub u: [f32; 2] as "flU",
        /// From where to where v goes.
        pub v: [f32; 2] as "flV",
        /// Its corners in its plane.
        pub uv_points: [[f32; 2]; 4] as "vecUVPoints",
        /// The direction of u.
        pub u_direction: [f32; 3] as "vecBasisU",
        /// Where it is.
        pub origin: [f32; 3] as "vecOrigin",
        /// Where it faces.
        pub normal: [f32; 3] as "vecBasisNormal",
        /// Its tint and opacity.
        pub tint: [u8; 4] as "clrTint",
    }

    /// `ColorVarDictLump_t`.
    pub struct ColorVariable(64) {
        /// The name.
        pub name: Name<64>,
    }
}
