//! Static props, as each game has them.
//!
//! The member of the game lump has a version, and for some versions there are several structs: the one that fills the
//! member exactly is used. Structs that no available map confirms stay bytes.

use super::details::{PropLeaf, PropLeafWide, PropName};
use super::fit::ends;
use crate::bytes::ByteOrder;
use crate::dialect::{Facts, Key, List, Row};
use crate::record::{Field, FlagKind, Meaning, Record, index, records, set};

const LUMP: &str = "game:sprp";

/// The names of the models of static props.
pub const PROP_NAMES: Key<PropName> = Key::list(LUMP, "names");
/// The leafs of static props.
pub const PROP_LEAFS: Key<PropLeaf> = Key::list(LUMP, "leafs");
/// The leafs of static props, from version 12 on.
pub const PROP_LEAFS_WIDE: Key<PropLeafWide> = Key::list(LUMP, "leafs");

/// Files with the light of a prop, by its index: of its vertexes, and of its texels (`vrad`); then as on consoles
/// (`MakeX360.cpp` puts `.360` before the extension, its relative `.ps3`).
const LIGHT: &[(&str, &str)] = &[
    ("sp_", ".vhv"),
    ("sp_hdr_", ".vhv"),
    ("texelslighting_", ".ppl"),
    ("sp_", ".360.vhv"),
    ("sp_hdr_", ".360.vhv"),
    ("texelslighting_", ".360.ppl"),
    ("sp_", ".ps3.vhv"),
    ("sp_hdr_", ".ps3.vhv"),
    ("texelslighting_", ".ps3.ppl"),
];

/// The keys and rows of the versions, each with its struct and leafs; then the rows of structs that no available map
/// confirms, whose props stay bytes.
macro_rules! versions {
    (
        $($(#[$meta:meta])* $key:ident: $prop:ident, $leaf:ident, $versions:expr, $proof:expr;)*
        @untested $($other:expr, $why:literal $(, $other_proof:expr)?;)*
    ) => {
        $(
            $(#[$meta])*
            pub const $key: Key<$prop> = Key::list(LUMP, "props");
        )*

        pub(super) const ROWS: &[Row] = &[
            $({
                const LISTS: &[List] = &[
                    List::of::<PropName>("names"),
                    List::of::<$leaf>("leafs").listed(),
                    List::of::<$prop>("props").files(LIGHT),
                ];
                Row::lists(LUMP, LISTS).versions($versions).proved($proof)
            },)*
            $(Row::opaque(LUMP, concat!($why, "; no map was available to test this struct"))
                .versions($other)
                $(.proved($other_proof))?,)*
        ];
    };
}

versions! {
    /// The static props of version 4 (Bloodlines, early Half-Life 2).
    STATIC_PROPS_V4: StaticPropV4, PropLeaf, &[4], fills;
    /// The static props of version 5 (Half-Life 2).
    STATIC_PROPS_V5: StaticPropV5, PropLeaf, &[5], fills;
    /// The static props of version 6 (Episode One, Orange Box).
    STATIC_PROPS_V6: StaticPropV6, PropLeaf, &[6], fills;
    /// The static props of version 7 (Left 4 Dead).
    STATIC_PROPS_V7: StaticPropV7, PropLeaf, &[7], fills;
    /// The static props of version 8 (Left 4 Dead, early Left 4 Dead 2).
    STATIC_PROPS_V8: StaticPropV8, PropLeaf, &[8], fills;
    /// The static props of version 9 (Left 4 Dead 2, Alien Swarm, Portal 2).
    STATIC_PROPS_V9: StaticPropV9, PropLeaf, &[9], fills;
    /// The static props of version 10 (Team Fortress 2, Source SDK 2013), and of version 7 with 72 bytes (Team Fortress
    /// 2 for a while, Black Mesa).
    STATIC_PROPS_V10: StaticPropV10, PropLeaf, &[7, 10], fills;
    /// The static props of version 10 with 76 bytes (Counter-Strike: Global Offensive).
    STATIC_PROPS_V10_CSGO: StaticPropV10Csgo, PropLeaf, &[10], fills;
    /// The static props of version 11 (Counter-Strike: Global Offensive).
    STATIC_PROPS_V11: StaticPropV11, PropLeaf, &[11], scaled;
    /// The static props of version 12 (Strata).
    STATIC_PROPS_V12: StaticPropV11, PropLeafWide, &[12], fills;
    /// The static props of version 13 (Strata).
    STATIC_PROPS_V13: StaticPropV13, PropLeafWide, &[13], fills;

    @untested
    &[5], "its props are The Ship's, of 188 bytes", of_size::<188>;
    &[6], "its props are Bloody Good Time's, of 192 bytes", of_size::<192>;
    &[6], "its props are Dark Messiah's, of 136 bytes", of_size::<136>;
    &[9], "its props are Dear Esther's, of 76 bytes", of_size::<76>;
    &[11], "its props are Black Mesa's, of 76 bytes", of_size::<76>;
    &[6], "its lists do not end with it, as if it had one more list, which Vindictus has";
    &[7], "its lists do not end with it, as if it had one more list, which Zeno Clash and Vindictus have";
    &[11], "its props have no scale, as Black Mesa's";
}

/// Lists that end at the end of the member, for the versions of the row: only size and version distinguish the structs.
fn fills(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    its_version(facts, row)?;
    ends(facts, row, &[0])
}

fn its_version(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    match facts.lump_version() {
        Some(version) if row.versions.contains(&version) => Ok(()),
        Some(version) => Err(format!("static props of version {version} are not known")),
        None => Err("static props have a version, and these have none".to_owned()),
    }
}

/// Black Mesa has props of the same version and size, with flags in place of the scale.
fn scaled(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    fills(facts, row)?;
    let bytes = facts.own(row);
    let props = row.parts(&bytes).map_err(|error| error.to_string())?.pop().map_or(0..0, |props| props.range);
    let mut props = bytes[props].chunks_exact(StaticPropV11::SIZE).filter_map(StaticPropV11::decode);
    match props.all(|prop| prop.uniform_scale.is_normal()) {
        true => Ok(()),
        false => Err("not all of its props have a scale, so that they could be Black Mesa's".to_owned()),
    }
}

/// How many entries a list has that starts here, and where it ends.
fn list(bytes: &[u8], at: usize, size: usize) -> Option<(usize, usize)> {
    list_in(ByteOrder::Little, bytes, at, size)
}

fn list_in(order: ByteOrder, bytes: &[u8], at: usize, size: usize) -> Option<(usize, usize)> {
    let count = usize::try_from(order.word(bytes, at)?).ok()?;
    Some((count, count.checked_mul(size)?.checked_add(at + 4)?)).filter(|(_, end)| *end <= bytes.len())
}

/// Whether the lists fit the member in any way: names, leafs, and props of any size, up to its end, or with one more
/// list between or after them as in some games.
pub(in crate::dialect) fn props_fit(version: i32, bytes: &[u8], order: ByteOrder) -> Result<(), String> {
    let list = |at, size| list_in(order, bytes, at, size);
    let Some((_, names)) = list(0, PropName::SIZE).filter(|_| (4..=13).contains(&version)) else {
        let count = order.word(bytes, 0).unwrap_or(0);
        let why = format!("its {} bytes have no room for {count} names", bytes.len());
        return if (4..=13).contains(&version) { Err(why) } else { Ok(()) };
    };
    let fills = |at: usize| {
        let Some(count) = order.word(bytes, at).and_then(|count| usize::try_from(count).ok()) else { return false };
        let rest = bytes.len() - at - 4;
        if count == 0 || rest / count < 56 {
            return count == 0 && rest == 0;
        }
        let sizes = (56..=256).step_by(4).map_while(|size| rest.checked_sub(count.checked_mul(size)?));
        let scale = 16;
        sizes.into_iter().any(|left| {
            left == 0 || list(bytes.len() - left, scale).is_some_and(|(of, end)| of <= count && end == bytes.len())
        })
    };
    let begins = [Some(names), list(names, PropName::SIZE).map(|(_, end)| end)];
    let mut leafs =
        begins.into_iter().flatten().flat_map(|at| [PropLeaf::SIZE, PropLeafWide::SIZE].map(|size| list(at, size)));
    match leafs.any(|leafs| leafs.is_some_and(|(_, end)| fills(end))) {
        true => Ok(()),
        false => Err("its numbers of leafs and props do not fit its size, whatever size props have".to_owned()),
    }
}

/// Whether props of this size in bytes fill the member.
fn of_size<const SIZE: usize>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    its_version(facts, row)?;
    let bytes = facts.own(row);
    let leafs = list(&bytes, 0, PropName::SIZE).and_then(|(_, names)| list(&bytes, names, PropLeaf::SIZE));
    match leafs.and_then(|(_, leafs)| list(&bytes, leafs, SIZE)) {
        Some((count, end)) if count > 0 && end == bytes.len() => Ok(()),
        _ => Err(format!("its props do not have {SIZE} bytes each")),
    }
}

records! {
    /// `StaticPropLumpV4_t`.
    pub struct StaticPropV4(56) {
        /// Its position.
        pub origin: [f32; 3] as "m_Origin",
        /// Pitch, yaw and roll in degrees.
        pub angles: [f32; 3] as "m_Angles",
        /// Its model's place in the list of names.
        pub model: u16 as "m_PropType" => index("game:sprp.names"),
        /// Its first leaf in the list of leafs.
        pub first_leaf: u16 as "m_FirstLeaf" => set("game:sprp.leafs", "leaf_count"),
        /// How many leafs it is in.
        pub leaf_count: u16 as "m_LeafCount",
        /// 0 not solid, 2 its box, 6 its model's physics.
        pub solid: u8 as "m_Solid",
        /// `STATIC_PROP_` flags.
        pub flags: u8 as "m_Flags" => Meaning::Flags(FlagKind::Prop),
        /// Its skin.
        pub skin: i32 as "m_Skin",
        /// The distance at which it begins to fade.
        pub fade_min: f32 as "m_FadeMinDist",
        /// The distance at which it is invisible.
        pub fade_max: f32 as "m_FadeMaxDist",
        /// The point at which its light is computed, if a flag is set.
        pub lighting_origin: [f32; 3] as "m_LightingOrigin",
    }

    /// `StaticPropLumpV5_t`.
    pub struct StaticPropV5(60) {
        ..StaticPropV4,
        /// A factor for the distances of fading.
        pub fade_scale: f32 as "m_flForcedFadeScale",
    }

    /// `StaticPropLumpV6_t`.
    pub struct StaticPropV6(64) {
        ..StaticPropV5,
        /// The lowest and highest level of DirectX it is for, 0 for any.
        pub dx_levels: [u16; 2] as "m_nMinDXLevel, m_nMaxDXLevel",
    }

    /// `StaticPropLumpV7_t` of Left 4 Dead.
    pub struct StaticPropV7(68) {
        ..StaticPropV6,
        /// Its tint and opacity.
        pub modulation: [u8; 4] as "m_DiffuseModulation",
    }

    /// `StaticPropLumpV8_t`.
    pub struct StaticPropV8(68) {
        ..StaticPropV5,
        /// The lowest and highest level of processors, then of graphics.
        pub levels: [u8; 4] as "m_nMinCPULevel, m_nMaxCPULevel, m_nMinGPULevel, m_nMaxGPULevel",
        /// Its tint and opacity.
        pub modulation: [u8; 4] as "m_DiffuseModulation",
    }

    /// `StaticPropLumpV9_t`.
    pub struct StaticPropV9(72) {
        ..StaticPropV8,
        /// 1 if the Xbox 360 leaves it out.
        pub disable_x360: u8 as "m_bDisableX360",
        /// Garbage.
        pub padding: [u8; 3],
    }

    /// `StaticPropLumpV10_t` of Team Fortress 2 and the Source SDK 2013. The byte that is flags in others is garbage.
    pub struct StaticPropV10(72) {
        ..StaticPropV6 with { flags as garbage: Meaning::Plain },
        /// `STATIC_PROP_` flags.
        pub flags: u32 as "m_Flags" => Meaning::Flags(FlagKind::Prop),
        /// The size of its lightmap.
        pub lightmap_size: [u16; 2] as "m_nLightmapResolutionX, m_nLightmapResolutionY",
    }

    /// `StaticPropLump_t` of version 10, of Counter-Strike: Global Offensive.
    pub struct StaticPropV10Csgo(76) {
        ..StaticPropV9,
        /// More flags: 1 no shadow depth, 2 no cascaded shadows, 4 light bounces off it, 8 tinted since version 11.
        pub flags_ex: u32 as "m_FlagsEx",
    }

    /// `StaticPropLump_t` of version 11, of Counter-Strike: Global Offensive; of version 12, of Strata.
    pub struct StaticPropV11(80) {
        ..StaticPropV10Csgo,
        /// Its size against its model's.
        pub uniform_scale: f32 as "m_UniformScale",
    }

    /// `StaticPropLump_t` of version 13, of Strata.
    pub struct StaticPropV13(88) {
        ..StaticPropV10Csgo,
        /// Its size against its model's, in each dimension.
        pub scale: [f32; 3] as "m_Scale",
    }
}
