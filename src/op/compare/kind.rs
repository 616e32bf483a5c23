//! Kinds of differences, and how many there are of each.

use super::change::How;

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
    /// Collision models: all solids of a brush model.
    pub solids: usize,
    /// Bytes that are read as nothing else.
    pub bytes: usize,
}

/// How many entities, records, files or collision models of a lump something happened to.
///
/// ```
/// use bspkit::op::compare;
/// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
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
    pub(super) fn add(&mut self, how: How, count: usize) {
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
    fn counts(&self) -> [(usize, &'static str, &'static str); 9] {
        [
            (self.entities, "entity", "entities"),
            (self.values, "value", "values"),
            (self.records, "record", "records"),
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
