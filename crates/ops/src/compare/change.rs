//! What an edit can change, each with its place and what was there before.

use std::fmt;
use std::ops::Range;

use super::{Hows, Kind, Touched};
use bspkit::bytes::escaped;
use bspkit::content::visibility::VisSet;
use bspkit::record::Text;

/// Everything that differs in one lump.
///
/// ```
/// use bspkit_ops::compare::{self, LumpChanges};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(bspkit::dialect::quake2::PLANES, 3, |plane| plane.distance = 8.0)?;
/// let found: Vec<LumpChanges> = compare::draft(&draft, 10)?.lumps;
/// let lines: Vec<String> = found[0].lines().map(|line| line.to_string()).collect();
/// assert_eq!(lines, ["PLANES[3]: distance 768 -> 8"]);
/// # Ok::<(), bspkit::Error>(())
/// ```
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
    /// Brush models with other numbers, which do not change the entities or collision models that have them.
    Models(ModelsChange),
    /// Records of which only numbers differ, which follow what they name.
    Numbers(NumbersChange),
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
    /// The index that it had, if it was moved; of a changed one, if it is known and another one.
    pub from: Option<usize>,
    /// The fields with other values.
    pub fields: Vec<FieldChange>,
    /// Of records that were added or removed: the names that the first five of them have, if records of the lump have
    /// names.
    pub names: Vec<Text>,
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
    /// The textures that it names before and after, if it is the number of a texture, texinfo or shader; what is not
    /// UTF-8 is escaped.
    pub textures: Option<[String; 2]>,
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
    /// What is known of its content.
    pub content: FileContent,
    /// Its indices in the directory, if it was moved there.
    pub places: Option<(usize, usize)>,
    /// The lines that differ, if both files are text ([`whole`](super::whole)).
    pub text: Option<TextChange>,
}

impl FileChange {
    /// A file without a name that only one map has.
    pub(super) fn whole(how: How, sizes: (usize, usize)) -> Self {
        let (name, from, places, text) = Default::default();
        FileChange { how, name, from, sizes, content: FileContent::Changed, places, text }
    }
}

/// What is known of the content of a file in both maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum FileContent {
    /// It is another one, or the file is only in one map.
    Changed,
    /// It is the same, byte for byte.
    Same,
    /// It has the same checksum and size; the bytes were not decompressed.
    #[cfg_attr(feature = "json", serde(rename = "same checksum"))]
    SameChecksum,
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
    /// What happened to it.
    pub how: How,
    /// The set of light: `hdr`; empty where a map has only one.
    pub set: &'static str,
    /// The index of the face or page; of a removed one the index that it had.
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
    /// The number that the model had, if it is another one.
    pub from: Option<i32>,
    /// Which of its solids differ, by index.
    pub solids: Vec<usize>,
    /// Whether the text with the materials differs.
    pub text: bool,
}

/// Brush models that have other numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelsChange {
    /// The first models, by their old numbers.
    pub models: Vec<Renumbered>,
    /// How many more there are.
    pub more: usize,
}

/// A brush model that has another number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Renumbered {
    /// Its number before.
    pub old: usize,
    /// Its number after.
    pub new: usize,
    /// Whether its faces say so. If not, its box, its entity or its place among the others does.
    pub is_certain: bool,
}

/// Records that name what they named, which has another place in its list: nothing else of them differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumbersChange {
    /// The list in the lump; empty where the lump is one array.
    pub list: &'static str,
    /// How many records.
    pub count: usize,
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
    /// What happened to it.
    pub how: How,
    /// Its index; of a removed one the index that it had.
    pub index: usize,
    /// The index that it had, if it is at another place among those that stay, or its name or image differs too.
    pub from: Option<usize>,
    /// Its name before; `None` if it is new, or has no name since it is missing.
    pub old: Option<Vec<u8>>,
    /// Its name after; `None` if it is gone, or has no name since it is missing.
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

// Changes as lines of text.

/// Longer values are cut off in a line of text.
const MOST_OF_VALUE: usize = 80;

/// More runs of models with other numbers are counted and not listed.
const MOST_RUNS: usize = 20;

/// More solids of a model are counted and not listed.
const MOST_SOLIDS: usize = 10;

/// A value, in quotes.
struct Quoted<'v>(&'v [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get(..MOST_OF_VALUE) {
            Some(start) if self.0.len() > MOST_OF_VALUE => write!(f, "\"{}…\"", escaped(start)),
            _ => write!(f, "\"{}\"", escaped(self.0)),
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Added => "added",
            How::Removed => "removed",
            How::Changed => "changed",
            How::Moved => "moved",
            How::Rewritten => "rewritten with the same content",
        })
    }
}

impl LumpChanges {
    /// The changes as lines of text.
    pub fn lines(&self) -> impl Iterator<Item = impl fmt::Display + '_> {
        self.changes.iter().map(|change| change.line(&self.lump))
    }
}

impl Change {
    /// What happened to an entity, a record, a file, light, a texture, a collision model or a lump; `None` for others.
    pub fn how(&self) -> Option<How> {
        match self {
            Change::Entity(entity) => Some(entity.how),
            Change::Record(record) => Some(record.how),
            Change::File(file) => Some(file.how),
            Change::Light(light) => Some(light.how),
            Change::Solid(solid) => Some(solid.how),
            Change::Lump(how) => Some(*how),
            Change::Texture(texture) => Some(texture.how),
            _ => None,
        }
    }

    /// One line of text; `lump` is the name of its lump. [`LumpChanges::lines`] has those of all changes of a lump.
    pub fn line<'c>(&'c self, lump: &'c str) -> impl fmt::Display + 'c {
        Line { change: self, lump }
    }
}

struct Line<'c> {
    change: &'c Change,
    lump: &'c str,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lump = self.lump;
        match self.change {
            Change::Entity(entity) => print_entity(f, entity),
            Change::Record(record) => print_record(f, lump, record),
            Change::File(file) => print_file(f, lump, file),
            Change::Light(light) => print_light(f, lump, light),
            Change::Texture(texture) => print_texture(f, lump, texture),
            Change::Row(row) => {
                let (set, index, gained, lost) = (row.set.name(), row.index, row.gained, row.lost);
                write!(f, "{lump}: {set} of {index}, {gained} more visible, {lost} fewer")
            }
            Change::Solid(solid) => print_solid(f, lump, solid),
            Change::Models(models) => print_models(f, lump, models),
            Change::Bytes(BytesChange { range, old }) => {
                let (start, new) = (range.start, range.len());
                let bytes = |count| format!("{count} byte{}", if count == 1 { "" } else { "s" });
                match (*old, new) {
                    (old, new) if old == new => write!(f, "{lump}: {} at {start}", bytes(new)),
                    (0, new) => write!(f, "{lump}: {} added at {start}", bytes(new)),
                    (old, 0) => write!(f, "{lump}: {} removed at {start}", bytes(old)),
                    _ => write!(f, "{lump}: {} at {start} -> {}", bytes(*old), bytes(new)),
                }
            }
            Change::Numbers(NumbersChange { list, count }) => {
                let dot = if list.is_empty() { "" } else { "." };
                let (s, have) = if *count == 1 { ("", "has") } else { ("s", "have") };
                write!(f, "{lump}{dot}{list}: {count} record{s} {have} other numbers for what moved")
            }
            Change::Version(old, new) => write!(f, "{lump}: version {old} -> {new}"),
            Change::Compression(true) => write!(f, "{lump}: compressed"),
            Change::Compression(false) => write!(f, "{lump}: decompressed"),
            Change::Lump(how) => write!(f, "{lump}: {how}"),
            Change::Place(old, new) => write!(f, "{lump}: moved from {old} to {new}"),
            Change::Word(WordChange { name, old, new }) => write!(f, "{lump}: {name} {old} -> {new}"),
            Change::Padding(old, new) => write!(f, "{lump}: {old} -> {new} bytes of zeros"),
        }
    }
}

fn print_entity(f: &mut fmt::Formatter<'_>, entity: &EntityChange) -> fmt::Result {
    write!(f, "entity {}", entity.index)?;
    if let Some(class) = &entity.class {
        write!(f, " {}", escaped(class))?;
    }
    if let Some(name) = &entity.name {
        write!(f, " {}", Quoted(name))?;
    }
    match (entity.how, entity.from) {
        (How::Changed, None) => {}
        (How::Changed, Some(from)) => write!(f, ", {from} before")?,
        (How::Moved, Some(from)) => write!(f, " moved from {from}")?,
        (how, _) => write!(f, " {how}")?,
    }
    let mut separator = ": ";
    let is_whole = matches!(entity.how, How::Added | How::Removed);
    for KeyChange { key, old, new } in &entity.keys {
        if is_whole {
            // Its class and name are there already.
            let value = new.as_ref().or(old.as_ref());
            let is = |name: &str, said: &Option<Vec<u8>>| {
                key.eq_ignore_ascii_case(name.as_bytes()) && said.as_ref() == value
            };
            if !is("classname", &entity.class) && !is("targetname", &entity.name) {
                write!(f, "{separator}{} {}", escaped(key), Quoted(value.map_or(&[], Vec::as_slice)))?;
                separator = "; ";
            }
            continue;
        }
        write!(f, "{separator}{}", escaped(key))?;
        match (old, new) {
            (Some(old), Some(new)) => write!(f, " {} -> {}", Quoted(old), Quoted(new))?,
            (Some(old), None) => write!(f, " {} removed", Quoted(old))?,
            (None, new) => write!(f, " {} added", Quoted(new.as_deref().unwrap_or_default()))?,
        }
        separator = "; ";
    }
    match entity.more {
        0 => Ok(()),
        more => write!(f, "; and {more} more values"),
    }
}

fn print_record(f: &mut fmt::Formatter<'_>, lump: &str, record: &RecordChange) -> fmt::Result {
    let dot = if record.list.is_empty() { "" } else { "." };
    write!(f, "{lump}{dot}{}[{}", record.list, record.index)?;
    if record.count > 1 {
        write!(f, "..{}", record.index + record.count)?;
    }
    f.write_str("]")?;
    match (record.how, record.from) {
        (How::Changed, None) => {}
        (How::Changed, Some(from)) => write!(f, ", {from} before")?,
        (How::Moved, Some(from)) => write!(f, " moved from {from}")?,
        (how, _) => write!(f, " {how}")?,
    }
    let mut separator = ": ";
    for name in &record.names {
        write!(f, "{separator}\"{name}\"")?;
        separator = ", ";
    }
    let unnamed = record.count - record.names.len();
    if !record.names.is_empty() && unnamed > 0 {
        write!(f, " and {unnamed} more")?;
    }
    for field in &record.fields {
        match &field.textures {
            Some([was, is]) => {
                write!(f, "{separator}{} {} \"{was}\" -> {} \"{is}\"", field.field, field.old, field.new)?;
            }
            None => write!(f, "{separator}{} {} -> {}", field.field, field.old, field.new)?,
        }
        separator = "; ";
    }
    Ok(())
}

fn print_file(f: &mut fmt::Formatter<'_>, lump: &str, file: &FileChange) -> fmt::Result {
    let (old, new) = file.sizes;
    if let Some(from) = &file.from {
        write!(f, "{lump}: {} -> {}", escaped(from), escaped(&file.name))?;
        return match file.content {
            FileContent::Changed if old == new => write!(f, " and changed, {new} bytes"),
            FileContent::Changed => write!(f, " and changed, {old} -> {new} bytes"),
            FileContent::Same => write!(f, ", {new} bytes"),
            FileContent::SameChecksum => write!(f, ", {new} bytes with the same checksum"),
        };
    }
    write!(f, "{lump}: {} ", escaped(&file.name))?;
    match (file.how, file.content) {
        (How::Rewritten, FileContent::SameChecksum) => f.write_str("rewritten with the same checksum and size")?,
        (how, _) => write!(f, "{how}")?,
    }
    match file.how {
        How::Added => write!(f, ", {new} bytes"),
        How::Changed if old == new => write!(f, ", {new} bytes"),
        How::Changed => write!(f, ", {old} -> {new} bytes"),
        _ => write!(f, ", {old} bytes"),
    }?;
    match file.places {
        Some((old, new)) => write!(f, ", from place {old} in the list to {new}"),
        None => Ok(()),
    }
}

fn print_light(f: &mut fmt::Formatter<'_>, lump: &str, light: &LightChange) -> fmt::Result {
    let LightChange { how, set, index, is_page, luxels, by } = light;
    let space = if set.is_empty() { "" } else { " " };
    let (what, s) = (if *is_page { "page" } else { "face" }, if *luxels == 1 { "" } else { "s" });
    write!(f, "{lump}: {set}{space}{what} {index}, {luxels} luxel{s}")?;
    match by {
        None if *how == How::Changed => write!(f, ", other size"),
        None => write!(f, " {how}"),
        Some(by) => write!(f, ", by up to {} of 255, {:.1} on average", by.largest, by.mean),
    }
}

fn print_solid(f: &mut fmt::Formatter<'_>, lump: &str, solid: &SolidChange) -> fmt::Result {
    let SolidChange { how, index, model, from, solids, text } = solid;
    write!(f, "{lump}[{index}] of model {model}")?;
    if let Some(from) = from {
        write!(f, ", {from} before")?;
    }
    match how {
        How::Changed => write!(f, ": ")?,
        how => return write!(f, " {how}"),
    }
    let list: Vec<String> = solids.iter().take(MOST_SOLIDS).map(usize::to_string).collect();
    let (s, more) = (if solids.len() == 1 { "" } else { "s" }, solids.len() - list.len());
    match (solids.is_empty(), more) {
        (true, _) => {}
        (false, 0) => write!(f, "solid{s} {}", list.join(", "))?,
        (false, more) => write!(f, "solid{s} {} and {more} more", list.join(", "))?,
    }
    match (text, solids.is_empty()) {
        (true, true) => f.write_str("text"),
        (true, false) => f.write_str(", and the text"),
        (false, _) => Ok(()),
    }
}

/// Models whose numbers follow each other before and after are printed as one.
fn print_models(f: &mut fmt::Formatter<'_>, lump: &str, ModelsChange { models, more }: &ModelsChange) -> fmt::Result {
    let follows = |one: &Renumbered, next: &Renumbered| {
        (one.old + 1, one.new + 1, one.is_certain) == (next.old, next.new, next.is_certain)
    };
    let runs: Vec<&[Renumbered]> = models.chunk_by(follows).collect();
    write!(f, "{lump}: models renumbered")?;
    let mut separator = ": ";
    for run in runs.iter().take(MOST_RUNS) {
        let [Some(first), Some(last)] = [run.first(), run.last()] else { continue };
        let perhaps = if first.is_certain { "" } else { "perhaps " };
        match run.len() {
            1 => write!(f, "{separator}{perhaps}*{} -> *{}", first.old, first.new)?,
            _ => write!(f, "{separator}{perhaps}*{}..*{} -> *{}..*{}", first.old, last.old, first.new, last.new)?,
        }
        separator = ", ";
    }
    match runs.iter().skip(MOST_RUNS).map(|run| run.len()).sum::<usize>() + more {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

fn print_texture(f: &mut fmt::Formatter<'_>, lump: &str, texture: &TextureChange) -> fmt::Result {
    write!(f, "{lump}[{}]: ", texture.index)?;
    let from = texture.from.map(|from| format!(", {from} before")).unwrap_or_default();
    let name = |name: &Option<Vec<u8>>| match name {
        Some(name) => escaped(name).to_string(),
        None => "a missing texture".to_owned(),
    };
    let (old, new) = (name(&texture.old), name(&texture.new));
    match texture.how {
        How::Added => write!(f, "{new} added"),
        How::Removed => write!(f, "{old} removed"),
        _ => {
            let renamed = if old == new { new } else { format!("{old} -> {new}") };
            write!(f, "{renamed}{from}{}", if texture.image { ", other image" } else { "" })
        }
    }
}
