//! What an edit can change, each with its place and what was there before.

use std::ops::Range;

use super::{Hows, Kind, Touched};
use crate::content::visibility::VisSet;
use crate::record::Text;

/// Everything that differs in one lump.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LumpChanges {
    /// The lump's name. For what is not a lump: `header`, `gap after PLANES`, `padding`; lumps have no such names.
    pub lump: String,
    /// The kind of its content.
    pub kind: Kind,
    /// Its decompressed bytes before and after.
    pub sizes: (usize, usize),
    /// The complete counts.
    pub touched: Touched,
    /// What happened to its entities, records, files or collision models.
    pub hows: Hows,
    /// The first changes.
    pub changes: Vec<Change>,
    /// How many more there are.
    pub more: usize,
}

/// What happened to an entity, a record or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum How {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has other content.
    Changed,
    /// It has another place or name; its content may have changed too.
    Moved,
    /// It has the same content in another form: the spacing of an entity, the compression of a file.
    Rewritten,
}

/// One difference.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// An entity.
    Entity(EntityChange),
    /// A record.
    Record(RecordChange),
    /// An embedded file.
    File(FileChange),
    /// The light of a face, or a page of light.
    Light(LightChange),
    /// A texture.
    Texture(TextureChange),
    /// A row of visibility.
    Row(RowChange),
    /// The collision model of a brush model.
    Solid(SolidChange),
    /// Bytes that are read as nothing else.
    Bytes(BytesChange),
    /// The version of a lump in the directory: before and after.
    Version(i32, i32),
    /// Whether the lump is compressed now.
    Compression(bool),
    /// The map has this lump in addition, or no longer; or its content is compressed in another way.
    Lump(How),
    /// The lump is at another place: its offsets in the files before and after.
    Place(usize, usize),
    /// A word of the header or a directory.
    Word(WordChange),
    /// Zeros between lumps: how many bytes there are before and after.
    Padding(usize, usize),
}

/// An entity that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityChange {
    /// What happened to it.
    pub how: How,
    /// Its index; of a removed one the index that it had.
    pub index: usize,
    /// The index that it had, if it is another one.
    pub from: Option<usize>,
    /// Its class.
    pub class: Option<Vec<u8>>,
    /// Its `targetname`.
    pub name: Option<Vec<u8>>,
    /// The keys with other values; of an added or removed entity all of its pairs.
    pub keys: Vec<KeyChange>,
    /// How many more keys there are.
    pub more: usize,
}

/// A key of an entity that has another value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyChange {
    /// The key.
    pub key: Vec<u8>,
    /// Its value before; `None` if the pair is new.
    pub old: Option<Vec<u8>>,
    /// Its value after; `None` if the pair is gone.
    pub new: Option<Vec<u8>>,
}

/// A record that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordChange {
    /// What happened to it.
    pub how: How,
    /// The list in the lump; empty where the lump is one array.
    pub list: &'static str,
    /// Its index; of a removed one the index that it had.
    pub index: usize,
    /// How many records in a row were added, removed or moved together; 1 for one that changed.
    pub count: usize,
    /// The index that it had, if it was moved.
    pub from: Option<usize>,
    /// The fields with other values.
    pub fields: Vec<FieldChange>,
}

/// A field of a record that has another value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// Its path: `normal[2]`.
    pub field: String,
    /// Its value before.
    pub old: Text,
    /// Its value after.
    pub new: Text,
}

/// An embedded file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChange {
    /// What happened to it.
    pub how: How,
    /// Its name.
    pub name: Vec<u8>,
    /// The name that it had, if it is another one.
    pub from: Option<Vec<u8>>,
    /// Its size in bytes before and after; 0 if the file is missing there.
    pub sizes: (usize, usize),
    /// Its indices in the directory, if it was moved there.
    pub places: Option<(usize, usize)>,
    /// The lines that differ, if both files are text ([`whole`](super::whole)).
    pub text: Option<TextChange>,
}

/// The lines in which two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextChange {
    /// The first places where they differ.
    pub hunks: Vec<LineChange>,
    /// How many more places there are.
    pub more: usize,
    /// How many lines are new, in all.
    pub added: usize,
    /// How many lines are gone, in all.
    pub removed: usize,
}

/// Lines that other lines replace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineChange {
    /// The index of the first line before and after.
    pub at: (usize, usize),
    /// The lines that are gone, without their line breaks.
    pub old: Vec<Vec<u8>>,
    /// The lines that are new.
    pub new: Vec<Vec<u8>>,
}

/// Luxels that differ.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LightChange {
    /// The set of light: `hdr`; empty where a map has only one.
    pub set: &'static str,
    /// The index of the face or page.
    pub index: usize,
    /// Whether it is a page, and not a face.
    pub is_page: bool,
    /// How many luxels differ.
    pub luxels: usize,
    /// By how much they differ; `None` if the images have other sizes.
    pub by: Option<LightDifference>,
}

/// By how much luxels differ. The difference of two luxels is that of the channel that differs most, as it is shown:
/// from 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LightDifference {
    /// The largest difference.
    pub largest: u8,
    /// The mean of all luxels that differ.
    pub mean: f64,
}

/// A collision model that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SolidChange {
    /// What happened to it.
    pub how: How,
    /// Its index in the lump; of a removed one the index that it had.
    pub index: usize,
    /// The brush model that it is for.
    pub model: i32,
    /// Which of its solids differ, by index.
    pub solids: Vec<usize>,
    /// Whether the text with the materials differs.
    pub text: bool,
}

/// A word of the header or a directory that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WordChange {
    /// What it says: `version`, `revision`, `length`.
    pub name: &'static str,
    /// Its value before.
    pub old: i64,
    /// Its value after.
    pub new: i64,
}

/// A texture that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextureChange {
    /// Its index; of a removed one the index that it had.
    pub index: usize,
    /// The index that it had, if it is at another place among those that stay, or its name or image differs too.
    pub from: Option<usize>,
    /// Its name before; `None` if it is new.
    pub old: Option<Vec<u8>>,
    /// Its name after; `None` if it is gone.
    pub new: Option<Vec<u8>>,
    /// Whether its image differs.
    pub image: bool,
}

/// A row of visibility that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowChange {
    /// The set: what is seen, or heard.
    pub set: VisSet,
    /// The leaf or cluster.
    pub index: usize,
    /// How many leafs or clusters are visible that were not.
    pub gained: usize,
    /// How many were visible that are not.
    pub lost: usize,
}

/// Bytes that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BytesChange {
    /// Their range in the new lump; of bytes that are in no lump, in the new file.
    pub range: Range<usize>,
    /// How many bytes they replace.
    pub old: usize,
}
