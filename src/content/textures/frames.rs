//! The frames of animated textures, which engines of Quake and GoldSrc find by their names: `+0name` to `+9name`, and
//! `+Aname` to `+Jname` for another state. Engines stop if one before the last is missing (`Mod_LoadTextures`).

use std::collections::BTreeSet;
use std::fmt;

use super::Textures;
use crate::bytes::escaped;

/// Faults at which engines stop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The second letter is not a frame.
    NoFrame(Vec<u8>),
    /// The frame before it is missing.
    NoneBefore(Vec<u8>),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoFrame(name) => write!(f, "`{}` is neither frame 0 to 9 nor A to J", escaped(name)),
            Fault::NoneBefore(name) => write!(f, "`{}` exists, but the frame before it is missing", escaped(name)),
        }
    }
}

/// The faults among the textures of a map, each with the value given with its name. Names that are not frames are
/// ignored. Case does not matter.
pub(crate) fn faults<P: Copy>(names: &[(Vec<u8>, P)]) -> Vec<(P, Fault)> {
    let frames = names.iter().filter(|(name, _)| name.starts_with(b"+"));
    let mut frames: Vec<(Vec<u8>, P)> = frames.map(|(name, place)| (name.to_ascii_uppercase(), *place)).collect();
    let rest = |name: &[u8]| name.get(2..).unwrap_or_default().to_vec();
    frames.sort_by_cached_key(|(name, _)| (rest(name), name.clone()));
    let mut before = None;
    let fault = |(name, place): (Vec<u8>, P)| {
        let (state, number) = match name.get(1) {
            Some(digit @ b'0'..=b'9') => (0, digit - b'0'),
            Some(letter @ b'A'..=b'J') => (1, letter - b'A'),
            _ => return Some((place, Fault::NoFrame(name))),
        };
        let next = match before.replace((rest(&name), state, number)) {
            Some((of, same, last)) if of == rest(&name) && same == state => last + 1,
            _ => 0,
        };
        (number > next).then_some((place, Fault::NoneBefore(name)))
    };
    frames.into_iter().filter_map(fault).collect()
}

impl Textures<'_> {
    /// The faults of the frames of animated textures.
    pub(crate) fn frame_faults(&self) -> BTreeSet<Fault> {
        let names = (0..self.len()).filter_map(|index| Some((self.name(index)?.to_vec(), ())));
        faults(&names.collect::<Vec<_>>()).into_iter().map(|((), fault)| fault).collect()
    }
}
