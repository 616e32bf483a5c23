//! Packed files to which nothing refers.

use std::collections::{HashMap, HashSet};

use super::{Found, Needs};
use crate::bsp::Bsp;
use crate::content::assets::{Files, normal_name};
use crate::content::pak::{Entry, Pak, is_of_system};
use crate::dialect::Role;
use crate::error::Result;

/// How sure it is that the engine does not need a packed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Doubt {
    /// No engine reads it.
    None,
    /// Nothing refers to it, and all places that refer to files of its kind are known.
    Little,
    /// Code of the game can look for it by its name.
    Much,
}

impl Doubt {
    /// How sure it is, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::None => "certain",
            Doubt::Little => "likely",
            Doubt::Much => "possible",
        }
    }
}

/// A packed file to which nothing refers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unused {
    /// Its index in the pakfile.
    pub index: usize,
    /// How much speaks against that it is unused.
    pub doubt: Doubt,
    /// Why.
    pub why: &'static str,
}

/// Extensions of files to which the map and other files refer by name, and of which code of games rarely has names.
const REFERRED: [&[u8]; 10] = [b"vmt", b"vtf", b"mdl", b"vvd", b"vtx", b"phy", b"ani", b"wav", b"mp3", b"vhv"];

/// Extensions of texts that can have names of files in any form.
const TEXTS: [&[u8]; 8] = [b"nut", b"lua", b"cfg", b"txt", b"res", b"pop", b"vcd", b"rad"];

/// A larger text is not searched for names, and no more bytes in total.
const MOST_OF_TEXT: usize = 4 << 20;
const MOST_OF_TEXTS: usize = 64 << 20;

/// The packed files to which nothing refers, in the order of the pakfile. `needs` is what [`find`](super::find) found
/// in the same map.
///
/// # Errors
/// The pakfile cannot be read.
///
/// ```
/// use bspkit::op::needs::{self, Doubt, Options};
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let mut draft = map.draft();
/// draft.pak()?.add("materials/own/floor.vmt", "LightmappedGeneric {}")?;
/// draft.pak()?.add("materials/own/old.vmt", "LightmappedGeneric {}")?;
/// let map = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// let needs = needs::find(&map, &Options::new("room_v20"))?;
/// let unused = needs::unused(&map, &needs, None)?;
/// assert_eq!((unused.len(), unused[0].doubt), (1, Doubt::Much));
/// assert_eq!(map.pak()?.get(unused[0].index).unwrap().name(), b"materials/own/old.vmt");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn unused(map: &Bsp<'_>, needs: &Needs, game: Option<&dyn Files>) -> Result<Vec<Unused>> {
    let pak = map.pak()?;
    let needed: HashSet<&[u8]> = needs.files.iter().map(|need| &need.name[..]).collect();
    let mut first: HashMap<Vec<u8>, usize> = HashMap::with_capacity(pak.len());
    let mut unused = Vec::new();
    let mut words = None;
    // Files of the game that are not read can refer to packed files.
    let is_blind = game.is_none() && needs.files.iter().any(|need| need.found == Found::Nowhere);
    for entry in pak.iter() {
        let name = normal_name(entry.name());
        let is_first = *first.entry(name.clone()).or_insert(entry.index()) == entry.index();
        if is_first && needed.contains(&name[..]) {
            continue;
        }
        let (doubt, why) = match is_first {
            false => (Doubt::None, "engines find an earlier file of this name"),
            true if entry.name().ends_with(b"/") => (Doubt::None, "it is an entry for a folder"),
            true if is_of_system(&name) => (Doubt::None, "file managers and version control create it"),
            true if is_blind => (Doubt::Much, "nothing packed refers to it; files of the game are not read"),
            true => {
                let words = words.get_or_insert_with(|| words_of(map, &pak));
                doubt_about(&name, game, words)
            }
        };
        unused.push(Unused { index: entry.index(), doubt, why });
    }
    Ok(unused)
}

fn doubt_about(name: &[u8], game: Option<&dyn Files>, words: &HashSet<Vec<u8>>) -> (Doubt, &'static str) {
    if game.is_some_and(|game| game.has(name)) {
        return (Doubt::Much, "it replaces a file of the game");
    }
    let (stem, extension) = parts(name);
    let mut parts = split(stem).peekable();
    if parts.peek().is_some() && parts.all(|part| words.contains(part)) {
        return (Doubt::Much, "its name is in the entities or in a packed text");
    }
    match REFERRED.contains(&extension) {
        true => (Doubt::Little, "nothing refers to it"),
        false => (Doubt::Much, "nothing refers to it, but code of the game can look for such a file"),
    }
}

/// The last part of a name without its extension, and the extension.
fn parts(name: &[u8]) -> (&[u8], &[u8]) {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let dot = last.iter().rposition(|byte| *byte == b'.').unwrap_or(last.len());
    // `box.dx90.vtx` is a part of `box`.
    let stem = last[..dot].split(|byte| *byte == b'.').next().unwrap_or_default();
    (stem, last.get(dot + 1..).unwrap_or_default())
}

/// Words of letters, digits and underscores.
fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').filter(|word| !word.is_empty())
}

/// All words of the entities and of packed texts, in lower case.
fn words_of(map: &Bsp<'_>, pak: &Pak<'_>) -> HashSet<Vec<u8>> {
    let mut words = HashSet::new();
    let mut add = |text: &[u8]| {
        for word in split(&text.to_ascii_lowercase()) {
            if !words.contains(word) {
                words.insert(word.to_vec());
            }
        }
    };
    let slot = map.role(Role::Entities);
    slot.and_then(|slot| map.bytes(slot.id).ok()).iter().for_each(|text| add(text));
    let is_text =
        |entry: &Entry<'_, '_>| TEXTS.contains(&parts(&normal_name(entry.name())).1) && entry.size() <= MOST_OF_TEXT;
    let mut left = MOST_OF_TEXTS;
    for entry in pak.iter().filter(is_text) {
        let Some(rest) = left.checked_sub(entry.size()) else { break };
        left = rest;
        entry.data().iter().for_each(|text| add(text));
    }
    words
}
