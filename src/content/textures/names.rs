//! The meaning of a texture's name in engines of Quake and GoldSrc: the way its faces are drawn, and the frames of
//! animations.

use std::collections::BTreeSet;
use std::fmt;

use super::Textures;
use crate::bytes::escaped;

/// The width and height of a sky of Quake, in pixels: two layers side by side. Engines read or expect no other size
/// (`R_InitSky`).
pub const SKY_SIZE: (u32, u32) = (256, 128);

/// The way in which engines of Quake and GoldSrc draw the faces of a texture, by its name alone (`Mod_LoadFaces`).
///
/// ```
/// use bspkit::content::textures::DrawnAs;
/// assert_eq!(DrawnAs::by_name(b"sky4", false), DrawnAs::Sky);
/// assert_eq!(DrawnAs::by_name(b"!water", false), DrawnAs::Wall);
/// assert_eq!(DrawnAs::by_name(b"!water", true), DrawnAs::Liquid);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DrawnAs {
    /// As a wall, with its light.
    Wall,
    /// As a hole to the sky.
    Sky,
    /// As a liquid, whose pixels move, without light.
    Liquid,
    /// As a fence: pixels of color 255 are holes.
    Fence,
}

impl DrawnAs {
    /// The way for a name. GoldSrc, whose textures have palettes, knows more liquids than Quake. Case does not matter:
    /// some engines compare it, others do not.
    pub fn by_name(name: &[u8], has_palettes: bool) -> Self {
        let starts = |start: &&[u8]| name.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
        match () {
            () if starts(&&b"sky"[..]) => DrawnAs::Sky,
            () if starts(&&b"*"[..]) => DrawnAs::Liquid,
            () if has_palettes && [&b"!"[..], b"water", b"laser"].iter().any(starts) => DrawnAs::Liquid,
            () if starts(&&b"{"[..]) => DrawnAs::Fence,
            () => DrawnAs::Wall,
        }
    }
}

impl fmt::Display for DrawnAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DrawnAs::Wall => "a wall",
            DrawnAs::Sky => "the sky",
            DrawnAs::Liquid => "a liquid",
            DrawnAs::Fence => "a fence with holes",
        })
    }
}

// The frames of animated textures, which engines of Quake and GoldSrc find by their names: `+0name` to `+9name`, and
// `+Aname` to `+Jname` for another state. Engines stop if one before the last is missing (`Mod_LoadTextures`).

/// Faults of the frames of animated textures at which engines stop: [`frame_faults`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FrameFault {
    /// The second letter is not a frame.
    NoFrame(Vec<u8>),
    /// The frame before it is missing.
    NoneBefore(Vec<u8>),
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameFault::NoFrame(name) => write!(f, "`{}` is neither frame 0 to 9 nor A to J", escaped(name)),
            FrameFault::NoneBefore(name) => write!(f, "`{}` exists, but the frame before it is missing", escaped(name)),
        }
    }
}

/// The faults among the textures of a map, each with the value given with its name. Names that are not frames are
/// ignored. Case does not matter.
///
/// ```
/// use bspkit::content::textures::frame_faults;
/// let faults = frame_faults(&[(b"+0lava".to_vec(), 4), (b"+2lava".to_vec(), 7)]);
/// assert_eq!((faults.len(), faults[0].0), (1, 7));
/// assert_eq!(faults[0].1.to_string(), "`+2LAVA` exists, but the frame before it is missing");
/// ```
pub fn frame_faults<P: Copy>(names: &[(Vec<u8>, P)]) -> Vec<(P, FrameFault)> {
    let frames = names.iter().filter(|(name, _)| name.starts_with(b"+"));
    let mut frames: Vec<(Vec<u8>, P)> = frames.map(|(name, place)| (name.to_ascii_uppercase(), *place)).collect();
    let rest = |name: &[u8]| name.get(2..).unwrap_or_default().to_vec();
    frames.sort_by_cached_key(|(name, _)| (rest(name), name.clone()));
    let mut before = None;
    let fault = |(name, place): (Vec<u8>, P)| {
        let (state, number) = match name.get(1) {
            Some(digit @ b'0'..=b'9') => (0, digit - b'0'),
            Some(letter @ b'A'..=b'J') => (1, letter - b'A'),
            _ => return Some((place, FrameFault::NoFrame(name))),
        };
        let next = match before.replace((rest(&name), state, number)) {
            Some((of, same, last)) if of == rest(&name) && same == state => last + 1,
            _ => 0,
        };
        (number > next).then_some((place, FrameFault::NoneBefore(name)))
    };
    frames.into_iter().filter_map(fault).collect()
}

impl Textures<'_> {
    /// The way in which the faces of a texture with this name are drawn.
    pub(crate) fn drawn_as(&self, name: &[u8]) -> DrawnAs {
        DrawnAs::by_name(name, self.has_palettes)
    }

    /// The faults of the frames of animated textures.
    pub(crate) fn frame_faults(&self) -> BTreeSet<FrameFault> {
        let names = (0..self.len()).filter_map(|index| Some((self.name(index)?.to_vec(), ())));
        frame_faults(&names.collect::<Vec<_>>()).into_iter().map(|((), fault)| fault).collect()
    }
}
