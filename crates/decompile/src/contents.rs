//! What leafs of Quake and its relatives hold, as flags: there it is a negative number, and the other families have
//! flags.

use crate::source::Brush;

/// Names and flags, in the order of the numbers from -2 on (bspfile.h of id's tools, const.h of Half-Life).
const NAMES: [&str; 15] = [
    "SOLID",
    "WATER",
    "SLIME",
    "LAVA",
    "SKY",
    "ORIGIN",
    "CLIP",
    "CURRENT_0",
    "CURRENT_90",
    "CURRENT_180",
    "CURRENT_270",
    "CURRENT_UP",
    "CURRENT_DOWN",
    "TRANSLUCENT",
    "LADDER",
];

/// The flag of a number that a leaf or a clip node has; 0 for what is empty, and for numbers that mean nothing.
pub(crate) fn flag(number: i64) -> u32 {
    let at = usize::try_from(number.saturating_neg().saturating_sub(2)).ok().filter(|at| *at < NAMES.len());
    at.map_or(0, |at| 1 << at)
}

/// The flag with a name; 0 if no flag has it.
pub(crate) fn named(name: &str) -> u32 {
    NAMES.iter().position(|own| *own == name).map_or(0, |at| 1 << at)
}

/// Textures and the contents that compilers give their brushes, by the beginning of their names; the first one counts
/// (`TextureContents` of the compilers for Half-Life, `Brush_GetContents` of those for Quake).
const BY_TEXTURE: [(&str, &str); 20] = [
    ("sky", "SKY"),
    ("*lava", "LAVA"),
    ("!lava", "LAVA"),
    ("*slime", "SLIME"),
    ("!slime", "SLIME"),
    ("!cur_90", "CURRENT_90"),
    ("!cur_0", "CURRENT_0"),
    ("!cur_180", "CURRENT_180"),
    ("!cur_270", "CURRENT_270"),
    ("!cur_up", "CURRENT_UP"),
    ("!cur_dwn", "CURRENT_DOWN"),
    ("*", "WATER"),
    ("!", "WATER"),
    ("origin", "ORIGIN"),
    ("clip", "CLIP"),
    ("ladder", "LADDER"),
    ("translucent", "TRANSLUCENT"),
    ("@", "TRANSLUCENT"),
    ("hint", ""),
    ("trigger", "SOLID"),
];

/// The contents that a compiler gives a brush whose sides have this texture.
pub(crate) fn of_texture(name: &[u8]) -> u32 {
    let starts = |start: &str| name.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start.as_bytes()));
    let found = BY_TEXTURE.iter().find(|(start, _)| starts(start));
    named(found.map_or("SOLID", |(_, name)| name))
}

/// How the name of a texture begins that says these contents, in Quake or in Valve's games.
pub(crate) fn start_of(contents: u32, is_of_valve: bool) -> &'static str {
    let fits = |(start, name): &&(&str, &str)| {
        contents & named(name) != 0
            && !(is_of_valve && start.starts_with('*'))
            && (is_of_valve || !start.starts_with('!'))
    };
    if contents == named("SOLID") { "" } else { BY_TEXTURE.iter().find(fits).map_or("", |(start, _)| start) }
}

/// The contents that a compiler gives a brush: those of the side that is not simply solid.
pub(crate) fn of_brush(brush: &Brush) -> u32 {
    let solid = named("SOLID");
    let all = brush.sides.iter().map(|side| of_texture(&side.texture));
    all.fold(solid, |found, own| if found == solid { own } else { found })
}

/// The flags of what fills a place without holding anybody up.
pub(crate) fn is_liquid(contents: u32) -> bool {
    contents != 0 && contents & (named("SOLID") | named("SKY")) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_flags() {
        for (number, name) in [(-2, "SOLID"), (-3, "WATER"), (-6, "SKY"), (-8, "CLIP"), (-16, "LADDER")] {
            assert!(flag(number) == named(name) && flag(number) != 0, "{name}");
        }
        assert!([0, -1, 7, -17, i64::MIN, i64::MAX].into_iter().all(|number| flag(number) == 0));
        assert!(is_liquid(flag(-4)) && !is_liquid(flag(-2)) && !is_liquid(flag(-6)) && !is_liquid(0));
    }

    #[test]
    fn textures_say_contents() {
        for (texture, name) in
            [("*LAVA1", "LAVA"), ("!water", "WATER"), ("*teleport", "WATER"), ("SKY1", "SKY"), ("wall", "SOLID")]
        {
            assert_eq!(of_texture(texture.as_bytes()), named(name), "{texture}");
        }
    }
}
