//! A new name for a map: the paths that engines, compilers and materials put together from the old one change wherever
//! they are, and nothing else does.
//!
//! A path is the map's own if it has a part `maps` and the name of the map after it (`maps/NAME/…`), or if engines look
//! for a file under it by the name of the map ([`FILES`]). Such paths change as names of embedded files, in the texts
//! of materials and scripts, as names of textures and models, and in values of entities. Keys that name a map (`map`,
//! `nextmap`) change too. Everything else that has the name is listed and stays ([`Renamed::left`]).
//!
//! Renaming back gives all lumps their old bytes, unless [`Renamed::respelled`] or [`Renamed::problems`] says
//! otherwise; a compressed file is compressed again by this library, which other programs may do in other bytes.
//!
//! ```
//! use bspkit_game::rename::{self, Renamed, Rename};
//! use bspkit::{Bsp, Layout};
//! let map = Bsp::open("../../tests/maps/source/room_v20.bsp")?;
//! let mut draft = map.draft();
//! let renamed: Renamed = Rename::new("room_v20", "own_arena")?.apply(&mut draft)?;
//! assert_eq!(renamed.summary(), "2 files, 1 path in texts, 1 texture name");
//!
//! let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
//! assert!(saved.texture_names()?.iter().any(|name| name.name == b"maps/own_arena/own/wall_0_0_0"));
//! assert_eq!(rename::owners(&saved)?[0].name, b"own_arena");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod json;
pub(super) mod names;
mod places;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

use bspkit::Bsp;
use bspkit::Draft;
use bspkit::bytes::escaped;
use bspkit::content::pak::lookup_name;
use bspkit::content::texture_names::Renaming;
use bspkit::{Error, ErrorKind, Hint, Result};
pub use names::FILES;
use names::{Names, Scope};
use serde::Serialize;

/// A renaming of a map.
///
/// ```
/// use bspkit_game::rename::Rename;
/// let rename = Rename::new("dm4", "arena")?;
/// assert_eq!(rename.file("maps/dm4.nav"), Some(b"maps/arena.nav".to_vec()));
/// assert_eq!(rename.file("maps/dm4b.nav"), None);
/// assert!(Rename::new("dm4", "two words").is_err());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rename {
    names: Names,
    merges: bool,
}

impl Rename {
    /// A renaming from one name to another, without folder and extension. Where a path has the old name in lower case,
    /// it has the new one so too; elsewhere, and where an entity names a level, it is written as it is given here.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a new name that no engine could load a map by, and for an old one that no path has.
    pub fn new(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Rename { names: Names::new(old.as_ref(), new.as_ref())?, merges: false })
    }

    /// Renames only the files of cube maps, and the paths in materials that name them.
    #[must_use]
    pub fn only_cubemaps(mut self) -> Self {
        self.names.scope = Scope::Cubemaps;
        self
    }

    /// Allows that the map has paths with the new name already. Renaming back would change those too.
    #[must_use]
    pub fn merging(mut self, merges: bool) -> Self {
        self.merges = merges;
        self
    }

    /// The new path of a file that belongs to the map; `None` if it does not.
    pub fn file(&self, path: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        let ranges = self.names.in_file(path.as_ref());
        (!ranges.is_empty()).then(|| self.names.replaced(path.as_ref(), &ranges))
    }

    /// Renames the map. After an error the draft is as it was.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if a new path is too long or in use, if the map has paths with the new name already, and
    /// for an edit that the pakfile or the entity text refuses.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<Renamed> {
        let mut report = self.report();
        draft.transaction(|draft| {
            run(draft, &self.names, &mut report)?;
            if self.merges { Ok(()) } else { self.refuse_mixture(draft, &report) }
        })?;
        report.others = owners(draft.bsp())?;
        report.others.retain(|owner| !self.names.is_old(&owner.name));
        Ok(report)
    }

    /// Changes the values of entities by which another map leads to this one.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a value that engines could not read back.
    pub fn apply_to_other(&self, draft: &mut Draft<'_>) -> Result<Renamed> {
        let mut report = self.report();
        draft.transaction(|draft| places::rename_levels(draft, &self.names, &mut report))?;
        Ok(report)
    }

    fn report(&self) -> Renamed {
        Renamed { old: self.names.old.clone(), new: self.names.new.clone(), ..Renamed::default() }
    }

    /// Refuses a map that had paths with the new name before: nothing would part them from those of the old name. They
    /// are what renaming back would change besides.
    fn refuse_mixture(&self, draft: &mut Draft<'_>, done: &Renamed) -> Result<()> {
        let mut back = Renamed::default();
        run(draft, &self.names.back(), &mut back)?;
        // Without regard to case, since renaming back may write other letters.
        let key = |from: &[u8], to: &[u8]| [from, to].map(<[u8]>::to_ascii_lowercase);
        let mut ours: HashMap<_, usize> = HashMap::new();
        done.changes.iter().for_each(|change| *ours.entry(key(&change.from, &change.to)).or_default() += 1);
        let is_other = |change: &&Change| match ours.get_mut(&key(&change.to, &change.from)) {
            Some(count @ 1..) => {
                *count -= 1;
                false
            }
            _ => true,
        };
        let others: Vec<&Change> = back.changes.iter().filter(is_other).collect();
        let Some(first) = others.first() else { return Ok(()) };
        let name = escaped(&self.names.new);
        let places = if others.len() == 1 { "1 place".to_owned() } else { format!("{} places", others.len()) };
        let from = escaped(&first.from);
        let message = format!("the map has the name `{name}` in {places} already: {}: {from}", first.place);
        let hint = format!("give `{name}` another name first");
        Err(Error::new(ErrorKind::Refused, message).with_hint(Hint::OrForce(hint)))
    }
}

fn run(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    let moved = places::rename_pak(draft, names, report)?;
    if names.scope == Scope::Cubemaps {
        return Ok(());
    }
    rename_textures(draft, names, report)?;
    rename_models(draft, names, report)?;
    places::rename_entities(draft, names, &moved, report)
}

/// What is `None` where the map has no such content.
fn there<T>(opened: Result<T>) -> Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn rename_textures(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    let Some(textures) = there(draft.texture_names())? else { return Ok(()) };
    for name in textures.iter() {
        let ranges = names.in_folders(&name.name);
        if !ranges.is_empty() {
            report.count(names, &name.name, &ranges);
            let place = Spot::Texture { lump: name.lump, index: name.index };
            report.change(place, &name.name, names.replaced(&name.name, &ranges));
        } else if let Some(word) = names.words(&name.name).first() {
            report.leave(Spot::Texture { lump: name.lump, index: name.index }, &name.name, word.start);
        }
    }
    if !names.writes {
        return Ok(());
    }
    let own = names.clone();
    let renaming = Renaming::by(move |name| {
        let ranges = own.in_folders(name);
        (!ranges.is_empty()).then(|| own.replaced(name, &ranges))
    });
    let renamed = textures.rename(&renaming)?;
    report.problems.extend(renamed.left);
    Ok(())
}

/// Renames models in the lists of props. A list that cannot be read stays.
fn rename_models(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    macro_rules! rename {
        ($lens:ident, $lump:literal) => {
            if let Ok(props) = draft.$lens() {
                let models: Vec<Vec<u8>> = props.names().map(<[u8]>::to_vec).collect();
                for (index, model) in models.into_iter().enumerate() {
                    let ranges = names.in_folders(&model);
                    if !ranges.is_empty() {
                        let new = names.replaced(&model, &ranges);
                        if names.writes {
                            props.set_name(index, &new)?;
                        }
                        report.count(names, &model, &ranges);
                        report.change(Spot::Model { lump: $lump, index }, &model, new);
                    }
                }
            }
        };
    }
    rename!(static_props, "game:sprp");
    rename!(detail_props, "game:dprp");
    Ok(())
}

// What a renaming changes, and what it leaves.

/// The most places that are listed because they stay; the others are counted.
const MOST_LEFT: usize = 1000;

/// The most bytes of a listed text.
const MOST_SHOWN: usize = 160;

/// The result of a renaming.
///
/// ```
/// use bspkit_game::rename::Rename;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?.draft();
/// let renamed = Rename::new("room_v20", "own_arena")?.apply(&mut draft)?;
/// assert_eq!(renamed.changes[1].to_string(), "embedded file 2: maps/room_v20.txt -> maps/own_arena.txt");
/// assert_eq!(renamed.left[0].to_string(), "entity 0 message: a room (room_v20), own fixture");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Renamed {
    /// The old name.
    #[serde(serialize_with = "bspkit::json::text")]
    pub old: Vec<u8>,
    /// The new name.
    #[serde(serialize_with = "bspkit::json::text")]
    pub new: Vec<u8>,
    /// Every name and path that changes.
    pub changes: Vec<Change>,
    /// The places that have the old name and stay, at most 1,000: nothing says whether they mean the map.
    pub left: Vec<Left>,
    /// How many more there are.
    pub more_left: usize,
    /// Other maps whose own paths are in the map, which stay.
    #[serde(rename = "other_maps")]
    pub others: Vec<Owner>,
    /// How many spellings of the old name renaming back does not restore, because they have capitals.
    pub respelled: usize,
    /// What cannot be read, and stays.
    #[serde(serialize_with = "json::problems")]
    pub problems: Vec<Error>,
    /// Embedded files of unknown forms that are not searched: too large, or damaged.
    #[serde(rename = "not_searched", serialize_with = "json::problems")]
    pub unsearched: Vec<Error>,
}

/// A name or path that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Where it is.
    #[serde(flatten)]
    pub place: Spot,
    /// The old name or path.
    #[serde(flatten, serialize_with = "json::from")]
    pub from: Vec<u8>,
    /// The new one.
    #[serde(flatten, serialize_with = "json::to")]
    pub to: Vec<u8>,
}

/// A place that has the old name and stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Left {
    /// Where it is.
    #[serde(flatten)]
    pub place: Spot,
    /// The text around the name, at most 160 bytes.
    #[serde(flatten, serialize_with = "json::text")]
    pub text: Vec<u8>,
}

/// A map whose own paths are in a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Owner {
    /// The name of the map, in lower case.
    #[serde(serialize_with = "bspkit::json::text")]
    pub name: Vec<u8>,
    /// How many embedded files are below its folder.
    pub files: usize,
    /// How many textures are.
    pub textures: usize,
}

/// A place in a map that can have the name of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Spot {
    /// The name of an embedded file.
    File {
        /// The index of the file.
        index: usize,
    },
    /// A line of an embedded text.
    #[serde(rename = "path in texts")]
    Text {
        /// The line, from 1.
        line: usize,
        /// The name of the file.
        #[serde(flatten, serialize_with = "json::file")]
        file: Vec<u8>,
    },
    /// Bytes of an embedded file that is not a text.
    Bytes {
        /// The offset in bytes.
        offset: usize,
        /// The name of the file.
        #[serde(flatten, serialize_with = "json::file")]
        file: Vec<u8>,
    },
    /// The name of a texture.
    #[serde(rename = "texture name")]
    Texture {
        /// The index of the record.
        index: usize,
        /// The lump.
        lump: String,
    },
    /// The name of a model in a list of props.
    Model {
        /// The index in the list.
        index: usize,
        /// The lump.
        lump: &'static str,
    },
    /// A value of an entity.
    #[serde(rename = "value")]
    Entity {
        /// The index of the entity.
        index: usize,
        /// The key.
        #[serde(flatten, serialize_with = "json::key")]
        key: Vec<u8>,
    },
}

impl Spot {
    /// What has the name there.
    pub fn kind(&self) -> &'static str {
        match self {
            Spot::File { .. } => "file",
            Spot::Text { .. } => "path in texts",
            Spot::Bytes { .. } => "bytes",
            Spot::Texture { .. } => "texture name",
            Spot::Model { .. } => "model",
            Spot::Entity { .. } => "value",
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::File { index } => write!(f, "embedded file {index}"),
            Spot::Text { file, line } => write!(f, "{}:{line}", escaped(file)),
            Spot::Bytes { file, offset } => write!(f, "{} at {offset}", escaped(file)),
            Spot::Texture { lump, index } => write!(f, "{lump} {index}"),
            Spot::Model { lump, index } => write!(f, "{lump} model {index}"),
            Spot::Entity { index, key } => write!(f, "entity {index} {}", escaped(key)),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.place, escaped(&self.from), escaped(&self.to))
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, escaped(&self.text))
    }
}

impl Renamed {
    /// How many files, lines, textures, models and values change: the words of a summary, without those that are 0.
    pub fn summary(&self) -> String {
        let kinds = [
            ("file", "files"),
            ("path in texts", "paths in texts"),
            ("texture name", "texture names"),
            ("model", "models"),
            ("value", "values"),
        ];
        let counted = kinds.iter().filter_map(|(one, more)| {
            let count = self.changes.iter().filter(|change| change.place.kind() == *one).count();
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { more }))
        });
        let counted: Vec<String> = counted.collect();
        if counted.is_empty() { "nothing".to_owned() } else { counted.join(", ") }
    }

    /// Counts the spellings that renaming back does not restore.
    fn count(&mut self, names: &Names, text: &[u8], ranges: &[Range<usize>]) {
        self.respelled += ranges.iter().filter(|range| !names.comes_back(&text[(*range).clone()])).count();
    }

    fn change(&mut self, place: Spot, from: &[u8], to: Vec<u8>) {
        if from != to {
            self.changes.push(Change { place, from: from.to_vec(), to });
        }
    }

    /// Notes a place that stays. `text` is the line or value, and `at` the name in it.
    fn leave(&mut self, place: Spot, text: &[u8], at: usize) {
        if self.left.len() >= MOST_LEFT {
            self.more_left += 1;
            return;
        }
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let start = text[..at].iter().rposition(is_end).map_or(0, |end| end + 1).max(at.saturating_sub(MOST_SHOWN / 2));
        let end = text[at..].iter().position(is_end).map_or(text.len(), |length| at + length);
        let text = text[start..end.min(start + MOST_SHOWN)].trim_ascii().to_vec();
        self.left.push(Left { place, text });
    }
}

// The maps whose own paths a map has: the name that it was compiled with.

/// The old name of a map, where it is not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OldName {
    /// The name that it has now: its paths are by this name, or there are none.
    Own,
    /// The one name that its paths have, which is another one.
    OfPaths(Owner),
    /// Its paths have several names, and none of them is the one that it has now.
    Unclear(Vec<Owner>),
}

/// The old name of a map that is called `own` now.
///
/// ```
/// use bspkit_game::rename::{OldName, old_name};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// assert_eq!(old_name(&map, b"Room_V20")?, OldName::Own);
/// assert!(matches!(old_name(&map, b"copy")?, OldName::OfPaths(owner) if owner.name == b"room_v20"));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`owners`].
pub fn old_name(map: &Bsp<'_>, own: &[u8]) -> Result<OldName> {
    let mut owners = owners(map)?;
    let is_own = owners.iter().any(|owner| owner.name.eq_ignore_ascii_case(own));
    Ok(match owners.len() {
        0 => OldName::Own,
        _ if is_own => OldName::Own,
        1 => OldName::OfPaths(owners.swap_remove(0)),
        _ => OldName::Unclear(owners),
    })
}

/// The maps whose folders below `materials/maps` and `maps` are in a map, by the names of its embedded files and
/// textures. A compiled Source map has its own; most files first.
///
/// # Errors
/// Those of a pakfile or of names that cannot be read.
pub fn owners(bsp: &Bsp<'_>) -> Result<Vec<Owner>> {
    let mut found: BTreeMap<Vec<u8>, Owner> = BTreeMap::new();
    let mut count = |name: &[u8], prefix: &[u8], count: fn(&mut Owner) -> &mut usize| {
        let name = lookup_name(name);
        let Some(rest) = name.strip_prefix(prefix) else { return };
        let Some(end) = rest.iter().position(|byte| *byte == b'/').filter(|end| *end > 0) else { return };
        let name = rest[..end].to_vec();
        let owner = found.entry(name.clone()).or_insert(Owner { name, files: 0, textures: 0 });
        *count(owner) += 1;
    };
    if let Some(pak) = there(bsp.pak())? {
        pak.iter().for_each(|file| count(file.name(), b"materials/maps/", |owner| &mut owner.files));
    }
    if let Some(names) = there(bsp.texture_names())? {
        names.iter().for_each(|name| count(&name.name, b"maps/", |owner| &mut owner.textures));
    }
    let mut found: Vec<Owner> = found.into_values().collect();
    found.sort_by_key(|owner| std::cmp::Reverse(owner.files + owner.textures));
    Ok(found)
}
