//! What kind of surface a texture is for, by flags and by its name.

use bspkit::Bsp;
use bspkit::content::textures::DrawnAs;
use bspkit::record::FlagKind;

use super::named_bits;
use crate::parts::Surface;

/// The bits of a map's game, by what they mean, and whether names have a meaning.
pub(super) struct Kinds {
    sky: u32,
    tool: u32,
    liquid: u32,
    liquid_contents: u32,
    /// One third, two thirds, and by the pixels of the texture.
    third: u32,
    two_thirds: u32,
    glass: u32,
    fence: u32,
    /// Whether engines go by the first letters of names: maps with textures in them.
    by_name: bool,
    /// Whether more of them have a meaning (GoldSrc).
    has_palettes: bool,
}

/// How opaque surfaces are that are not drawn by the game, and those of which only a flag says that they are glass.
const FAINT: f32 = 0.3;
const HALF: f32 = 0.5;

/// The last parts of names that compilers and games know as their own.
const TOOLS: [&[u8]; 18] = [
    b"aaatrigger",
    b"areaportal",
    b"bevel",
    b"caulk",
    b"clip",
    b"clipbevel",
    b"clipbevelbrush",
    b"hint",
    b"hintskip",
    b"nodraw",
    b"nodrawnonsolid",
    b"noclip",
    b"null",
    b"origin",
    b"playerclip",
    b"skip",
    b"solidhint",
    b"trigger",
];

impl Kinds {
    pub(super) fn of(map: &Bsp<'_>) -> Self {
        let surface = |names: &[&str]| named_bits(map, FlagKind::Surface, names);
        Kinds {
            sky: surface(&["SKY", "SKY2D"]),
            tool: surface(&["NODRAW", "HINT", "SKIP", "TRIGGER"]),
            liquid: surface(&["WARP"]),
            liquid_contents: named_bits(map, FlagKind::Contents, &["WATER", "LAVA", "SLIME"]),
            third: surface(&["TRANS33", "WNDW33"]),
            two_thirds: surface(&["TRANS66", "WNDW64"]),
            glass: surface(&["TRANS"]),
            fence: surface(&["ALPHATEST"]),
            by_name: map.has_textures(),
            has_palettes: map.textures().is_ok_and(|textures| textures.has_palettes()),
        }
    }

    /// The kind of a surface, and how opaque it is.
    pub(super) fn surface(&self, name: &[u8], surface: u32, contents: u32) -> (Surface, f32) {
        let lower = name.to_ascii_lowercase();
        let last = lower.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(&lower);
        let has = |bits: u32| surface & bits != 0;
        let is = |drawn: DrawnAs| self.by_name && DrawnAs::by_name(name, self.has_palettes) == drawn;
        let is_liquid = is(DrawnAs::Liquid);
        match () {
            () if has(self.sky) || is(DrawnAs::Sky) => (Surface::Sky, 1.0),
            () if has(self.tool) || TOOLS.contains(&last) => (Surface::Tool, FAINT),
            () if has(self.third) => (Surface::Glass, 1.0 / 3.0),
            () if has(self.two_thirds) => (Surface::Glass, 2.0 / 3.0),
            () if is_liquid || has(self.liquid) || contents & self.liquid_contents != 0 => (Surface::Liquid, 1.0),
            () if has(self.glass) => (Surface::Glass, HALF),
            () if has(self.fence) || is(DrawnAs::Fence) => (Surface::Fence, 1.0),
            () => (Surface::Solid, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(map: &str, name: &str, surface: u32, contents: u32) -> Surface {
        let map = Bsp::open(format!("../../tests/maps/{map}.bsp")).unwrap();
        Kinds::of(&map).surface(name.as_bytes(), surface, contents).0
    }

    #[test]
    fn each_family_has_its_own_flags() {
        assert_eq!(kind("q2/own_rooms", "e1u1/sky1", 4, 0), Surface::Sky);
        assert_eq!(kind("q2/own_rooms", "e1u1/skywall", 0, 0), Surface::Solid);
        assert_eq!(kind("q2/own_rooms", "e1u1/water", 8, 0), Surface::Liquid);
        assert_eq!(kind("q2/own_rooms", "e1u1/water", 8 | 0x10, 0), Surface::Glass);
        assert_eq!(kind("q3/own_rooms", "textures/common/caulk", 0, 0), Surface::Tool);
        assert_eq!(kind("q3/own_rooms", "textures/liquids/w", 0, 0x20), Surface::Liquid);
        assert_eq!(kind("source/room_v20", "tools/toolsskybox", 2, 0), Surface::Sky);
        assert_eq!(kind("source/room_v20", "glass/window", 0x10, 0), Surface::Glass);
    }

    #[test]
    fn maps_with_textures_go_by_names() {
        assert_eq!(kind("q1/own_rooms", "sky4", 0, 0), Surface::Sky);
        assert_eq!(kind("q1/own_rooms", "*lava1", 1, 0), Surface::Liquid);
        assert_eq!(kind("q1/own_rooms", "!water", 0, 0), Surface::Solid);
        assert_eq!(kind("goldsrc/own_rooms", "!water", 0, 0), Surface::Liquid);
        assert_eq!(kind("goldsrc/own_rooms", "{grate", 0, 0), Surface::Fence);
        assert_eq!(kind("goldsrc/own_rooms", "AAATRIGGER", 0, 0), Surface::Tool);
    }
}
