//! What moves together, and what must stay in order: the facts about a lump that no field of a record states. They are
//! declared with the lump's row.

/// The facts about the order of the records of a lump.
///
/// ```
/// use bspkit::dialect::{Each, QUAKE2, SOURCE};
/// let ids = SOURCE.rows_of("FACEIDS").next().unwrap().order.parallel.unwrap();
/// assert_eq!((ids.lump, ids.each), ("FACES", Each::One));
/// assert_eq!(QUAKE2.rows_of("MODELS").next().unwrap().order.fixed, 1);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OrderFacts {
    /// How many records at the start have a special meaning by their index; they do not move, and cannot be removed.
    pub fixed: usize,
    /// Whether records 2n and 2n + 1 are a pair that stays together, the even one first.
    pub paired: bool,
    /// Whether the place of each record is its meaning, such as that of a point in a grid: no record can move, be added
    /// or be removed.
    pub placed: bool,
    /// A field: records with the same number in it follow each other, since engines read them as one group.
    pub grouped: Option<&'static str>,
    /// Whether engines take for the records of a model all those from the lowest to the highest one in its tree.
    pub stretched: bool,
    /// Whether each record only says that something belongs to a list. It is removed with what it names.
    pub listed: bool,
    /// The lump that it runs parallel to.
    pub parallel: Option<Parallel>,
    /// Lumps that its fields refer to, in place of those that the struct names: high dynamic range has its own.
    pub instead: &'static [(&'static str, &'static str)],
    /// What it may refer to, beside what its fields say.
    pub holds: Holds,
    /// Parts that belong to records of another lump.
    pub blocks: Option<Blocks>,
    /// Numbers of records of another lump, in content that is not an array.
    pub places: Option<Places>,
}

impl OrderFacts {
    /// The lump that a field refers to where its struct names this one.
    ///
    /// ```
    /// let faces = bspkit::dialect::SOURCE.rows_of("FACES_HDR").next().unwrap();
    /// assert_eq!(faces.order.instead_of("LIGHTING"), "LIGHTING_HDR");
    /// assert_eq!(faces.order.instead_of("PLANES"), "PLANES");
    /// ```
    pub fn instead_of(&self, usual: &'static str) -> &'static str {
        self.instead.iter().find(|(lump, _)| *lump == usual).map_or(usual, |(_, other)| other)
    }
}

/// What the content of a lump may refer to, beside what fields say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holds {
    /// Nothing.
    Nothing,
    /// Records of these lumps.
    Only(&'static [&'static str]),
    /// It is not known.
    Unknown,
}

/// A lump, or a list in one, whose records belong to those of another lump by their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parallel {
    /// The other lump.
    pub lump: &'static str,
    /// How many records belong to each of the other lump's.
    pub each: Each,
    /// The bytes of a record that comes with a new one of the other lump, repeated to the size of a record.
    pub fill: &'static [u8],
}

/// How many records of a parallel lump belong to each record of the other lump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Each {
    /// One.
    One,
    /// One, of the same struct. A new record is a copy of the other lump's.
    Twin,
    /// The same number for each.
    Several,
    /// The number in this field of the other lump's record.
    Counted(&'static str),
    /// A part of a length that the lump states.
    Part,
}

/// Finds the numbers that refer to records of a lump, in content that is not an array.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Blocks {
    /// The lump with the records.
    pub lump: &'static str,
    /// The blocks in the bytes, with numbers little-endian; `None` if they cannot be read.
    pub find: fn(&[u8]) -> Option<Vec<Block>>,
}

/// A part of a lump that belongs to a record of another lump and is removed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// Its bytes.
    pub range: std::ops::Range<usize>,
    /// The offset of the index, 32 bits.
    pub at: usize,
}

/// Finds numbers that are indices of records of a lump, in content that is not an array. Those within a block need the
/// records only as long as the block is there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Places {
    /// The lump with the records.
    pub lump: &'static str,
    /// The offsets of the numbers, 32 bits each, in ascending order; `None` if the content cannot be read.
    pub find: fn(&[u8]) -> Option<Vec<usize>>,
    /// Takes the parts out whose numbers are at these offsets, which are in ascending order; all other bytes stay where
    /// they are. `None` if that cannot be, and then the content is no longer of use.
    pub remove: fn(&mut [u8], &[usize]) -> Option<()>,
    /// Whether the part with the number at an offset names nothing else of the map, so that another map can have it.
    pub is_apart: fn(&[u8], usize) -> bool,
}

impl OrderFacts {
    pub(super) const NONE: Self = OrderFacts {
        fixed: 0,
        paired: false,
        placed: false,
        grouped: None,
        stretched: false,
        listed: false,
        parallel: None,
        instead: &[],
        holds: Holds::Nothing,
        blocks: None,
        places: None,
    };
}

/// How values of entities refer to records.
///
/// ```
/// use bspkit::dialect::{EntityForm, QUAKE3};
/// let models = &QUAKE3.entity_references[0];
/// assert_eq!((models.key, models.lump, models.form), ("model", "MODELS", EntityForm::Starred));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityReference {
    /// The class that has the key; if empty, every class.
    pub class: &'static str,
    /// The key.
    pub key: &'static str,
    /// The lump with the records, or a list of records as `lump.list`.
    pub lump: &'static str,
    /// What the value is.
    pub form: EntityForm,
    /// Whether the entity is nothing without the record, and goes with it; others lose the pair.
    pub is_all: bool,
}

/// The form of a value that refers to a record. Whoever follows references has to know each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityForm {
    /// `*` and the index.
    Starred,
    /// The index.
    Index,
    /// The number that this field of the record has. It stays when records move.
    Field(&'static str),
}

const fn to_models() -> EntityReference {
    EntityReference { class: "", key: "model", lump: "MODELS", form: EntityForm::Starred, is_all: true }
}

const fn by_field(class: &'static str, key: &'static str, field: &'static str) -> EntityReference {
    EntityReference { class, key, lump: "AREAPORTALS", form: EntityForm::Field(field), is_all: false }
}

/// Entities that are brush models.
pub(super) const TO_MODELS: &[EntityReference] = &[to_models()];
/// As above; doors and windows open portals between areas.
pub(super) const QUAKE2_ENTITIES: &[EntityReference] = &[to_models(), by_field("func_areaportal", "style", "portal")];
/// As above; portals have a key of their own, occluders are switched by their index, and overlays by their number.
pub(super) const SOURCE_ENTITIES: &[EntityReference] = &[
    to_models(),
    by_field("", "portalnumber", "key"),
    EntityReference {
        class: "",
        key: "occludernumber",
        lump: "OCCLUSION.occluders",
        form: EntityForm::Index,
        is_all: false,
    },
    // Without a number it would be for the overlay of the number 0.
    EntityReference {
        class: "info_overlay_accessor",
        key: "OverlayID",
        lump: "OVERLAYS",
        form: EntityForm::Field("id"),
        is_all: true,
    },
];

/// Lumps of Quake and GoldSrc whose records serve only those that refer to them.
pub(super) const OWNED_OF_QUAKE: &[&str] = &[
    "PLANES",
    "VERTEXES",
    "NODES",
    "TEXINFO",
    "FACES",
    "CLIPNODES",
    "LEAFS",
    "MARKSURFACES",
    "EDGES",
    "SURFEDGES",
    "MODELS",
    "bspx:FACENORMALS.vectors",
];
/// As above. Areas and their portals are content: entities open portals by numbers.
pub(super) const OWNED_OF_QUAKE2: &[&str] = &[
    "PLANES",
    "VERTEXES",
    "NODES",
    "TEXINFO",
    "FACES",
    "LEAFS",
    "LEAFFACES",
    "LEAFBRUSHES",
    "EDGES",
    "SURFEDGES",
    "MODELS",
    "BRUSHES",
    "BRUSHSIDES",
    "bspx:FACENORMALS.vectors",
];
/// As above. Fogs are content: whatever moves is looked up in all of them.
pub(super) const OWNED_OF_QUAKE3: &[&str] = &[
    "SHADERS",
    "PLANES",
    "NODES",
    "LEAFS",
    "LEAFSURFACES",
    "LEAFBRUSHES",
    "MODELS",
    "BRUSHES",
    "BRUSHSIDES",
    "DRAWVERTS",
    "DRAWINDEXES",
    "SURFACES",
];
/// As above. Displacements, occluders, overlays, lights and props are content.
pub(super) const OWNED_OF_SOURCE: &[&str] = &[
    "PLANES",
    "TEXDATA",
    "VERTEXES",
    "NODES",
    "TEXINFO",
    "FACES",
    "LEAFS",
    "EDGES",
    "SURFEDGES",
    "MODELS",
    "LEAFFACES",
    "LEAFBRUSHES",
    "BRUSHES",
    "BRUSHSIDES",
    "ORIGINALFACES",
    "VERTNORMALS",
    "DISP_VERTS",
    "DISP_TRIS",
    "PRIMITIVES",
    "PRIMVERTS",
    "PRIMINDICES",
    "CLIPPORTALVERTS",
    "TEXDATA_STRING_TABLE",
    "LEAF_AMBIENT_LIGHTING",
    "LEAF_AMBIENT_LIGHTING_HDR",
    "FACEBRUSHES",
    "OCCLUSION.polygons",
    "OCCLUSION.vertexes",
    "OVERLAYS.faces",
    "game:sprp.names",
    "game:sprp.leafs",
    "game:dprp.names",
    "game:dprp.sprites",
    "game:dplt.lights",
];
