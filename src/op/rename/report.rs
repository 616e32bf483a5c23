//! What a renaming changes, and what it leaves.

use std::fmt;
use std::ops::Range;

use super::names::Names;
use crate::bytes::escaped;
use crate::error::Error;

/// The most places that are listed because they stay; the others are counted.
const MOST_LEFT: usize = 1000;

/// The most bytes of a listed text.
const MOST_SHOWN: usize = 160;

/// The result of a renaming.
///
/// ```
/// use bspkit::op::rename::Rename;
/// let mut draft = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?.draft();
/// let renamed = Rename::new("room_v20", "own_arena")?.apply(&mut draft)?;
/// assert_eq!(renamed.changes[1].to_string(), "embedded file 2: maps/room_v20.txt -> maps/own_arena.txt");
/// assert_eq!(renamed.left[0].to_string(), "entity 0 message: a room (room_v20), own fixture");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Renamed {
    /// The old name.
    pub old: Vec<u8>,
    /// The new name.
    pub new: Vec<u8>,
    /// Every name and path that changes.
    pub changes: Vec<Change>,
    /// The places that have the old name and stay, at most 1,000: nothing says whether they mean the map.
    pub left: Vec<Left>,
    /// How many more there are.
    pub more_left: usize,
    /// Other maps whose own paths are in the map, which stay.
    pub others: Vec<Owner>,
    /// How many spellings of the old name renaming back does not restore, because they have capitals.
    pub respelled: usize,
    /// What cannot be read, and stays.
    pub problems: Vec<Error>,
}

/// A name or path that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Where it is.
    pub place: Spot,
    /// The old name or path.
    pub from: Vec<u8>,
    /// The new one.
    pub to: Vec<u8>,
}

/// A place that has the old name and stays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// Where it is.
    pub place: Spot,
    /// The text around the name, at most 160 bytes.
    pub text: Vec<u8>,
}

/// A map whose own paths are in a map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// The name of the map, in lower case.
    pub name: Vec<u8>,
    /// How many embedded files are below its folder.
    pub files: usize,
    /// How many textures are.
    pub textures: usize,
}

/// A place in a map that can have the name of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spot {
    /// The name of an embedded file, by its index.
    File(usize),
    /// A line of an embedded text, from 1.
    Text {
        /// The name of the file.
        file: Vec<u8>,
        /// The line.
        line: usize,
    },
    /// Bytes of an embedded file that is not a text.
    Bytes {
        /// The name of the file.
        file: Vec<u8>,
        /// The offset in bytes.
        offset: usize,
    },
    /// The name of a texture.
    Texture {
        /// The lump.
        lump: String,
        /// The index of the record.
        index: usize,
    },
    /// The name of a model in a list of props.
    Model {
        /// The lump.
        lump: &'static str,
        /// The index in the list.
        index: usize,
    },
    /// A value of an entity.
    Entity {
        /// The index of the entity.
        index: usize,
        /// The key.
        key: Vec<u8>,
    },
}

impl Spot {
    /// What has the name there.
    pub fn kind(&self) -> &'static str {
        match self {
            Spot::File(_) => "file",
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
            Spot::File(index) => write!(f, "embedded file {index}"),
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
    pub(super) fn count(&mut self, names: &Names, text: &[u8], ranges: &[Range<usize>]) {
        self.respelled += ranges.iter().filter(|range| !names.comes_back(&text[(*range).clone()])).count();
    }

    pub(super) fn change(&mut self, place: Spot, from: &[u8], to: Vec<u8>) {
        if from != to {
            self.changes.push(Change { place, from: from.to_vec(), to });
        }
    }

    /// Notes a place that stays. `text` is the line or value, and `at` the name in it.
    pub(super) fn leave(&mut self, place: Spot, text: &[u8], at: usize) {
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
