//! What differs between two maps, or between a map and its draft: entities, records, embedded files, luxels, textures,
//! visibility, and bytes that are read as nothing else.
//!
//! Only slots whose bytes differ are read, and what is in them is found by the rows of the dialect. Counts are
//! complete, and the first differences of each lump are listed.
//!
//! ```
//! use bspkit::Bsp;
//! use bspkit_ops::compare::{self, Change};
//! let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let mut draft = map.draft();
//! draft.entities()?.first_class("light")?.set("light", "150")?;
//! let found = compare::draft(&draft, 10)?;
//! assert_eq!(found.touched().to_string(), "1 entity, 1 value");
//! let Change::Entity(light) = &found.lumps[0].changes[0] else { unreachable!() };
//! assert_eq!(light.keys[0].new.as_deref(), Some(&b"150"[..]));
//!
//! let saved = Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
//! assert_eq!(compare::maps(&map, &saved, 10)?, found);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod change;
mod entities;
mod files;
mod followed;
mod light;
mod lumps;
mod models;
mod whole;

use std::cell::OnceCell;
use std::collections::HashMap;

use bspkit::bytes::{Data, escaped};
use bspkit::content::entities::Entities;
use bspkit::content::lightmap::Light;
use bspkit::content::looks::Look;
use bspkit::content::pak::Pak;
use bspkit::dialect::{Form, List, Role, Row};
use bspkit::file::{Slot, SlotId};
use bspkit::record::FlagNames;
use bspkit::{Bsp, Compression, Draft, Error, ErrorKind, Result};
pub use change::{
    BytesChange, Change, EntityChange, FieldChange, FileChange, FileContent, How, KeyChange, LightChange,
    LightDifference, LineChange, LumpChanges, ModelsChange, NumbersChange, RecordChange, Renumbered, RowChange,
    SolidChange, TextChange, TextureChange, WordChange,
};
pub(crate) use files::filled_gaps;
pub use files::paks;
pub(crate) use whole::rest_of_header;
pub use whole::{Files, chosen, whole};

/// What differs, lump by lump, in the order of the directories.
///
/// ```
/// use bspkit_ops::compare::{self, Comparison};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(bspkit::dialect::quake2::PLANES, 3, |plane| plane.distance = 8.0)?;
/// let found: Comparison = compare::draft(&draft, 10)?;
/// assert_eq!((found.lumps.len(), found.lumps[0].lump.as_str()), (1, "PLANES"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The lumps that differ; after them, for whole files, the parts of the file around lumps.
    pub lumps: Vec<LumpChanges>,
    /// What the files are, if whole files were compared ([`whole`]).
    pub files: Option<Files>,
}

impl Comparison {
    /// Whether nothing differs: of whole files neither what they are nor a byte that was compared.
    pub fn is_same(&self) -> bool {
        let is_other = |files: &Files| !files.skipped.is_empty() || files.dialects.0 != files.dialects.1;
        self.lumps.is_empty() && !self.files.as_ref().is_some_and(is_other)
    }

    /// The counts of all lumps.
    ///
    /// ```
    /// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
    /// assert!(bspkit_ops::compare::maps(&map, &map, 10)?.touched().is_empty());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn touched(&self) -> Touched {
        let mut touched = Touched::default();
        self.lumps.iter().for_each(|lump| touched += lump.touched);
        touched
    }
}

/// What a draft changes. At most `most` differences of each lump are listed.
///
/// # Errors
/// As [`Draft::plan`], without those of placement.
pub fn draft(draft: &Draft<'_>, most: usize) -> Result<Comparison> {
    let (old, view) = (draft.bsp(), draft.view()?);
    let new = view.as_ref().unwrap_or(old);
    // Other lumps may say where light is: light that is open has read them as they are now.
    let is_apart = |slot: &Slot| {
        let role = old.role_of(slot.id);
        light::is_light(old.dialect().light, &slot.name) || matches!(role, Some(Role::Entities | Role::Pak))
    };
    let mut pending = old.slots().iter().filter(|slot| new.container().is_pending(slot.id));
    let is_in_place = pending.all(is_apart);
    let light = draft.opened().filter(|_| is_in_place);
    let open = Open { entities: draft.opened(), light, pak: draft.opened() };
    let sides = Sides { open, ..Sides::new(old, new) };
    let mut lumps = Vec::new();
    for (old_slot, new_slot) in old.slots().iter().zip(new.slots()) {
        let is_pending = new.container().is_pending(old_slot.id);
        let was_packed = old.decompressed_size(old_slot.id).is_some();
        let is_packed = draft.compression(old_slot.id) == Compression::Lzma;
        let compression = (was_packed != is_packed).then_some(Change::Compression(is_packed));
        if !is_pending && compression.is_none() && old_slot.version == new_slot.version {
            continue;
        }
        let mut found = Found::new(old, old_slot, most);
        found.version(old_slot, new_slot);
        found.lump.changes.extend(compression);
        if is_pending {
            sides.compare(old_slot, new_slot, &mut found);
        }
        lumps.push(found.lump);
    }
    Ok(Comparison { lumps, files: None })
}

/// What differs between the lumps of two maps of one dialect. At most `most` differences of each lump are listed. Bytes
/// between lumps and after them are not compared, and neither are the places of lumps: [`whole`] compares these too.
///
/// # Errors
/// [`ErrorKind::Argument`] for maps of different dialects.
pub fn maps(old: &Bsp<'_>, new: &Bsp<'_>, most: usize) -> Result<Comparison> {
    if old.dialect() != new.dialect() {
        let (old, new) = (old.dialect().name, new.dialect().name);
        let message = format!("maps of different dialects cannot be compared: {old} and {new}");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let sides = Sides::new(old, new);
    let mut lumps = Vec::new();
    for pair in pairs(old, new) {
        let found = match pair {
            (Some(old_slot), Some(new_slot)) => {
                let mut found = Found::new(old, old_slot, most);
                sides.slots(old_slot, new_slot, &mut found);
                found
            }
            (Some(slot), None) => Found::whole(old, slot, How::Removed),
            (None, Some(slot)) => Found::whole(new, slot, How::Added),
            (None, None) => continue,
        };
        lumps.extend((!found.is_empty()).then_some(found.lump));
    }
    Ok(Comparison { lumps, files: None })
}

/// The slots of two maps with the same names, in the order of the old map, and then those that only the new one has.
/// Several slots of one name are matched in their order.
fn pairs<'s>(old: &'s Bsp<'_>, new: &'s Bsp<'_>) -> Vec<(Option<&'s Slot>, Option<&'s Slot>)> {
    let mut others: HashMap<&str, Vec<&Slot>> = HashMap::new();
    new.slots().iter().rev().for_each(|slot| others.entry(&slot.name).or_default().push(slot));
    let both = old.slots().iter().map(|slot| (Some(slot), others.get_mut(&*slot.name).and_then(Vec::pop)));
    let mut pairs: Vec<_> = both.collect();
    let mut added: Vec<&Slot> = others.into_values().flatten().collect();
    added.sort_unstable_by_key(|slot| slot.id);
    pairs.extend(added.into_iter().map(|slot| (None, Some(slot))));
    pairs
}

/// Lenses that know what a draft edited, as far as they are open.
#[derive(Clone, Copy, Default)]
struct Open<'s> {
    entities: Option<&'s Entities<'s>>,
    light: Option<&'s Light<'s>>,
    pak: Option<&'s Pak<'s>>,
}

/// The two maps.
struct Sides<'s> {
    old: &'s Bsp<'s>,
    new: &'s Bsp<'s>,
    /// The new content as a draft edits it, which knows what is as it was.
    open: Open<'s>,
    /// The light of both maps, if it can be read.
    both_lights: OnceCell<Option<light::Both<'s>>>,
    /// The brush models of both maps, if their records differ.
    models: OnceCell<Option<models::Models>>,
    /// Where records moved, if records were added or removed.
    followed: OnceCell<Option<followed::Followed<'s>>>,
    /// What the texinfo or shaders of both maps say.
    looks: OnceCell<[Looks; 2]>,
    /// Whether everything in the files is compared: the order of files, moved records, lines of text.
    is_whole: bool,
}

/// What the texinfo or shaders of a map say, and one of them for each texture.
struct Looks {
    all: Vec<Look>,
    by_texture: HashMap<usize, usize>,
}

impl Looks {
    fn read(map: &Bsp<'_>) -> Self {
        let all = map.looks();
        let by_texture = all.iter().enumerate().filter_map(|(at, look)| Some((look.texture?, at))).collect();
        Looks { all, by_texture }
    }
}

/// A comparison of the content of a lump.
type Compare = fn(&Sides<'_>, &[Data<'_>; 2], &mut Found);

/// The comparisons of content that is not records, by the name that rows have for it.
const CONTENTS: &[(&str, Kind, Compare)] = &[
    ("text", Kind::Entities, entities::compare_entities),
    ("zip", Kind::Files, files::compare_files),
    ("visibility", Kind::Visibility, lumps::compare_visibility),
    ("textures", Kind::Textures, lumps::compare_textures),
    ("textures without palettes", Kind::Textures, lumps::compare_textures),
    ("strings", Kind::Textures, lumps::compare_strings),
    ("physics", Kind::Physics, lumps::compare_physics),
];

/// The kind of a lump's content, by what its dialect knows of it.
fn kind(bsp: &Bsp<'_>, slot: &Slot) -> Kind {
    if light::is_light(bsp.dialect().light, &slot.name) {
        return Kind::Light;
    }
    let form = bsp.dialect().rows_of(&slot.name).next().map(|row| row.form);
    match form {
        Some(Form::Array(_) | Form::Lists(_)) => Kind::Records,
        Some(Form::Lens(what)) => {
            CONTENTS.iter().find(|(name, ..)| *name == what).map_or(Kind::Bytes, |(_, kind, _)| *kind)
        }
        _ => Kind::Bytes,
    }
}

impl<'s> Sides<'s> {
    fn new(old: &'s Bsp<'s>, new: &'s Bsp<'s>) -> Self {
        Sides {
            old,
            new,
            open: Open::default(),
            both_lights: OnceCell::new(),
            models: OnceCell::new(),
            followed: OnceCell::new(),
            looks: OnceCell::new(),
            is_whole: false,
        }
    }
}

impl<'s> Sides<'s> {
    /// Where records moved, if records were added or removed.
    fn followed(&self) -> Option<&followed::Followed<'s>> {
        self.followed.get_or_init(|| followed::Followed::read(self.old, self.new)).as_ref()
    }

    /// The light of both maps, if it can be read.
    fn lights(&self) -> Option<&light::Both<'s>> {
        self.both_lights.get_or_init(|| light::Both::read(self.old, self.new)).as_ref()
    }

    /// The texture that a number of a lump's record names in one of the maps, if it names one.
    fn texture(&self, which: usize, lump: &str, number: usize) -> Option<String> {
        let looks = &self.looks.get_or_init(|| [self.old, self.new].map(Looks::read))[which];
        let is_look = self.old.looks_slot().is_some_and(|slot| slot.name == lump);
        let look = match lump {
            _ if is_look => number,
            "TEXTURES" | "TEXDATA" => *looks.by_texture.get(&number)?,
            _ => return None,
        };
        let name = &looks.all.get(look)?.name;
        (!name.is_empty()).then(|| escaped(name).to_string())
    }

    /// How flags are named.
    fn names(&self) -> FlagNames {
        self.old.dialect().game(self.old.version()).flags
    }

    /// The brush models of both maps, if they can have other numbers.
    fn models(&self) -> Option<&models::Models> {
        self.models.get_or_init(|| models::Models::find(self.old, self.new)).as_ref()
    }

    /// Compares two slots of two files.
    fn slots(&self, old: &Slot, new: &Slot, found: &mut Found) {
        found.version(old, new);
        let is_packed = [(self.old, old), (self.new, new)].map(|(bsp, slot)| bsp.decompressed_size(slot.id).is_some());
        if is_packed[0] != is_packed[1] {
            found.lump.changes.push(Change::Compression(is_packed[1]));
        }
        // What is within the game lump are slots, and its own bytes are only their places.
        let has_members = |bsp: &Bsp<'_>| bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
        let is_outer = self.old.role_of(old.id) == Some(Role::GameLump);
        if !(is_outer && has_members(self.old) && has_members(self.new))
            && *self.old.stored(old.id) != *self.new.stored(new.id)
        {
            self.compare(old, new, found);
        }
    }

    /// Compares the content of two slots.
    fn compare(&self, old: &Slot, new: &Slot, found: &mut Found) {
        // A pakfile is large, and little of it is new.
        let pak = self.open.pak.filter(|_| self.old.role_of(old.id) == Some(Role::Pak));
        if let Some(edited) = pak.filter(|pak| pak.is_read_from(&self.old.stored(old.id))) {
            found.lump.sizes = (self.old.size(old), self.new.size(new));
            files::compare_edited(edited, found);
            if !found.lump.touched.is_empty() {
                return;
            }
        }
        // What does not decompress is compared as it is stored.
        let bytes = match (self.old.little_endian(old.id), self.new.little_endian(new.id)) {
            (Ok(old), Ok(new)) => [old, new],
            _ => [self.old.stored(old.id), self.new.stored(new.id)],
        };
        found.lump.sizes = (bytes[0].len(), bytes[1].len());
        if *bytes[0] == *bytes[1] {
            return;
        }
        let rows = (self.old.row(old).ok(), self.new.row(new).ok());
        let row = match rows {
            // An empty lump fits any row.
            (Some(old_row), Some(new_row)) if bytes[1].is_empty() || is_same_form(old_row, new_row) => Some(old_row),
            (Some(_), Some(new_row)) if bytes[0].is_empty() => Some(new_row),
            _ => None,
        };
        if light::is_light(self.old.dialect().light, &old.name) {
            light::compare_light(self, &bytes, found);
            if self.is_whole || found.lump.touched.is_empty() {
                light::compare_rest(self, [&bytes[0], &bytes[1]], found);
            }
        } else if let Some(row) = row {
            let is_models = self.is_whole && self.old.role_of(old.id) == Some(Role::Models);
            match (row.form, self.models().filter(|_| is_models)) {
                (Form::Array(record), Some(models)) => {
                    lumps::compare_models(self, models, record, [&bytes[0], &bytes[1]], found);
                }
                _ => self.by_row(row, &bytes, found),
            }
        }
        if found.lump.touched.is_empty() && !found.has_models() {
            lumps::compare_bytes([&bytes[0], &bytes[1]], found);
        }
    }

    fn by_row(&self, row: &Row, bytes: &[Data<'_>; 2], found: &mut Found) {
        match row.form {
            Form::Array(_) | Form::Lists(_) => {
                lumps::compare_records(self, row, [&bytes[0], &bytes[1]], found);
            }
            Form::Lens(what) => {
                if let Some((.., compare)) = CONTENTS.iter().find(|(name, ..)| *name == what) {
                    compare(self, bytes, found);
                }
            }
            _ => {}
        }
    }
}

/// Whether two rows say the same of the content.
fn is_same_form(old: &Row, new: &Row) -> bool {
    match (old.form, new.form) {
        (Form::Array(old), Form::Array(new)) => old == new,
        (Form::Lists(old), Form::Lists(new)) => {
            let lists = |lists: &[List]| lists.iter().map(|list| (list.name, list.record)).collect::<Vec<_>>();
            lists(old) == lists(new)
        }
        (Form::Lens(old), Form::Lens(new)) | (Form::Opaque(old), Form::Opaque(new)) => old == new,
        _ => false,
    }
}

/// The differences of a lump so far.
struct Found {
    lump: LumpChanges,
    most: usize,
}

impl Found {
    fn new(bsp: &Bsp<'_>, slot: &Slot, most: usize) -> Self {
        let size = bsp.size(slot);
        let lump = LumpChanges { lump: slot.name.clone(), kind: kind(bsp, slot), ..LumpChanges::default() };
        Found { lump: LumpChanges { sizes: (size, size), ..lump }, most }
    }

    /// The differences in a part of the file that is not a lump.
    fn part(name: &str, kind: Kind, sizes: (usize, usize), most: usize) -> Self {
        Found { lump: LumpChanges { lump: name.to_owned(), kind, sizes, ..LumpChanges::default() }, most }
    }

    /// A lump that is in one of the maps only.
    fn whole(bsp: &Bsp<'_>, slot: &Slot, how: How) -> Self {
        let mut found = Found::new(bsp, slot, 1);
        let size = found.lump.sizes.0;
        found.lump.sizes = if how == How::Added { (0, size) } else { (size, 0) };
        found.lump.touched.bytes = size;
        found.lump.changes.push(Change::Lump(how));
        found
    }

    fn is_empty(&self) -> bool {
        self.lump.changes.is_empty() && self.lump.more == 0
    }

    /// Whether the next change is listed.
    fn has_room(&self) -> bool {
        self.lump.changes.len() < self.most
    }

    /// Adds a change; it is only made if it is listed.
    fn add(&mut self, change: impl FnOnce() -> Change) {
        match self.has_room() {
            true => self.lump.changes.push(change()),
            false => self.lump.more += 1,
        }
    }

    /// Adds the brush models that have other numbers, before what else differs.
    fn models(&mut self, mut models: Vec<Renumbered>) {
        /// More are counted and not listed.
        const MOST: usize = 30_000;
        models.sort_unstable();
        models.dedup();
        let more = models.len().saturating_sub(MOST);
        models.truncate(MOST);
        if !models.is_empty() {
            self.lump.changes.insert(0, Change::Models(ModelsChange { models, more }));
        }
    }

    fn has_models(&self) -> bool {
        self.lump.changes.iter().any(|change| matches!(change, Change::Models(_)))
    }

    /// Counts what happened to entities, records, files or collision models, which are also counted as touched.
    fn count(&mut self, how: How, count: usize, touched: fn(&mut Touched) -> &mut usize) {
        self.lump.hows.add(how, count);
        *touched(&mut self.lump.touched) += count;
    }

    fn touched(&mut self) -> &mut Touched {
        &mut self.lump.touched
    }

    fn version(&mut self, old: &Slot, new: &Slot) {
        if let (Some(old), Some(new)) = (old.version, new.version)
            && old != new
        {
            self.lump.changes.push(Change::Version(old, new));
        }
    }
}

// Kinds of differences, and how many there are of each.

/// The kind of what differs: the content of a lump, or a part of the file around the lumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Kind {
    /// The entity text.
    Entities,
    /// Records.
    Records,
    /// Embedded files.
    Files,
    /// Luxels.
    Light,
    /// Textures, or their names.
    Textures,
    /// Visibility.
    Visibility,
    /// Collision models.
    Physics,
    /// A lump that is read as nothing else.
    #[default]
    Bytes,
    /// Words of the header and the directories that are neither the place nor the size of a lump.
    Header,
    /// Bytes that no lump covers.
    Gaps,
    /// The places of lumps in the file.
    Places,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 11] = [
        Kind::Entities,
        Kind::Records,
        Kind::Files,
        Kind::Light,
        Kind::Textures,
        Kind::Visibility,
        Kind::Physics,
        Kind::Bytes,
        Kind::Header,
        Kind::Gaps,
        Kind::Places,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Entities => "entities",
            Kind::Records => "records",
            Kind::Files => "files",
            Kind::Light => "light",
            Kind::Textures => "textures",
            Kind::Visibility => "visibility",
            Kind::Physics => "physics",
            Kind::Bytes => "bytes",
            Kind::Header => "header",
            Kind::Gaps => "gaps",
            Kind::Places => "places",
        }
    }
}

/// How many things differ, by their kind.
///
/// ```
/// use bspkit::content::visibility::VisSet;
/// use bspkit_ops::compare;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
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
    /// Records of which only numbers changed, for records that moved in their list.
    pub numbers: usize,
    /// Embedded files.
    pub files: usize,
    /// Luxels: points of light.
    pub luxels: usize,
    /// Textures: names or images.
    pub textures: usize,
    /// Rows of visibility.
    pub rows: usize,
    /// Collision models: all solids of a brush model.
    pub solids: usize,
    /// Bytes that are read as nothing else.
    pub bytes: usize,
}

impl Touched {
    /// This many bytes of a file that is not a map.
    pub fn of_bytes(bytes: usize) -> Self {
        Touched { bytes, ..Touched::default() }
    }
}

/// How many entities, records, files or collision models of a lump something happened to.
///
/// ```
/// use bspkit_ops::compare;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.entities()?.add([("classname", "light")])?;
/// draft.entities()?.first_class("light")?.set("light", "150")?;
/// let found = compare::draft(&draft, 10)?;
/// assert_eq!(found.lumps[0].hows.to_string(), "1 added, 1 changed");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Hows {
    /// New ones.
    pub added: usize,
    /// Those that are gone.
    pub removed: usize,
    /// Those with other content.
    pub changed: usize,
    /// Those at another place or with another name.
    pub moved: usize,
    /// Those with the same content in another form.
    pub rewritten: usize,
}

impl Hows {
    /// Counts this many more.
    fn add(&mut self, how: How, count: usize) {
        *match how {
            How::Added => &mut self.added,
            How::Removed => &mut self.removed,
            How::Changed => &mut self.changed,
            How::Moved => &mut self.moved,
            How::Rewritten => &mut self.rewritten,
        } += count;
    }
}

impl std::fmt::Display for Hows {
    /// `3 added, 1 moved`; counts of 0 are left out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [
            (self.added, "added"),
            (self.removed, "removed"),
            (self.changed, "changed"),
            (self.moved, "moved"),
            (self.rewritten, "rewritten"),
        ];
        let mut separator = "";
        for (count, how) in counts.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{count} {how}")?;
            separator = ", ";
        }
        Ok(())
    }
}

impl Touched {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Touched::default()
    }

    /// The counts with the words for one and for several.
    fn counts(&self) -> [(usize, &'static str, &'static str); 10] {
        [
            (self.entities, "entity", "entities"),
            (self.values, "value", "values"),
            (self.records, "record", "records"),
            (self.numbers, "record with other numbers for what moved", "records with other numbers for what moved"),
            (self.files, "file", "files"),
            (self.luxels, "luxel", "luxels"),
            (self.textures, "texture", "textures"),
            (self.rows, "row of visibility", "rows of visibility"),
            (self.solids, "collision model", "collision models"),
            (self.bytes, "byte", "bytes"),
        ]
    }
}

impl std::ops::AddAssign for Touched {
    fn add_assign(&mut self, other: Self) {
        self.entities += other.entities;
        self.values += other.values;
        self.records += other.records;
        self.numbers += other.numbers;
        self.files += other.files;
        self.luxels += other.luxels;
        self.textures += other.textures;
        self.rows += other.rows;
        self.solids += other.solids;
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
