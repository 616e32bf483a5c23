//! What an edit can change, each with its place and what was there before.

use std::ops::Range;

use crate::content::visibility::VisSet;
use crate::record::Text;

/// Everything that differs in one lump.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LumpChanges {
    /// The lump's name.
    pub lump: String,
    /// Its decompressed bytes before and after.
    pub sizes: (usize, usize),
    /// The complete counts.
    pub touched: Touched,
    /// The first changes.
    pub changes: Vec<Change>,
    /// How many more there are.
    pub more: usize,
}

/// How many things differ, by their kind.
///
/// ```
/// use bspkit::content::visibility::VisSet;
/// use bspkit::op::compare;
/// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.visibility()?.set(VisSet::Pvs, 8, 0, false)?;
/// let touched = compare::draft(&draft, 10)?.touched();
/// assert_eq!((touched.rows, touched.to_string().as_str()), (1, "1 row of visibility"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Touched {
    /// Entities that were added, removed, moved or changed.
    pub entities: usize,
    /// Values of entities that have the same entity in both maps.
    pub values: usize,
    /// Records that were added, removed or changed.
    pub records: usize,
    /// Embedded files.
    pub files: usize,
    /// Luxels: points of light.
    pub luxels: usize,
    /// Textures: names or images.
    pub textures: usize,
    /// Rows of visibility.
    pub rows: usize,
    /// Bytes of lumps that are read as nothing else.
    pub bytes: usize,
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
    /// Bytes that are read as nothing else.
    Bytes(BytesChange),
    /// The version of a lump in the directory: before and after.
    Version(i32, i32),
    /// Whether the lump is compressed now.
    Compression(bool),
    /// The map has this lump in addition, or no longer.
    Lump(How),
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
    /// The keys with other values.
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
}

/// Luxels that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// A texture that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextureChange {
    /// Its index.
    pub index: usize,
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
    /// Their range in the new lump.
    pub range: Range<usize>,
    /// How many bytes they replace.
    pub old: usize,
}

impl Touched {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Touched::default()
    }

    /// The counts with the words for one and for several.
    fn counts(&self) -> [(usize, &'static str, &'static str); 8] {
        [
            (self.entities, "entity", "entities"),
            (self.values, "value", "values"),
            (self.records, "record", "records"),
            (self.files, "file", "files"),
            (self.luxels, "luxel", "luxels"),
            (self.textures, "texture", "textures"),
            (self.rows, "row of visibility", "rows of visibility"),
            (self.bytes, "byte", "bytes"),
        ]
    }
}

impl std::ops::AddAssign for Touched {
    fn add_assign(&mut self, other: Self) {
        self.entities += other.entities;
        self.values += other.values;
        self.records += other.records;
        self.files += other.files;
        self.luxels += other.luxels;
        self.textures += other.textures;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

impl std::fmt::Display for Touched {
    /// `3 entities, 4 values`; counts of 0 are left out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut separator = "";
        for (count, one, more) in self.counts().into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "{separator}{count} {}", if count == 1 { one } else { more })?;
            separator = ", ";
        }
        Ok(())
    }
}
