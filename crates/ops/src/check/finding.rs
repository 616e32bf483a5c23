//! Findings: their codes, whose names never change their meaning, and how they are collected: ten of a kind are kept,
//! the others counted, so that a hostile map cannot fill the memory.

use std::collections::HashMap;
use std::hash::Hash;

use bspkit::bytes::wide;
use bspkit::finding::{Code, Finding, Severity};
use bspkit::near;
use bspkit::{Error, ErrorKind, Place, Result};
use indexmap::IndexMap;

/// The code of this name, in any case.
///
/// ```
/// use bspkit_ops::check::{self, CODES};
/// let code = check::code("index-range")?;
/// assert!(CODES.iter().any(|known| known.name == code.name));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] for an unknown name.
pub fn code(name: &str) -> Result<&'static Code> {
    CODES.iter().copied().find(|code| code.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<_> = CODES.iter().map(|code| code.name).collect();
        Error::new(ErrorKind::Argument, format!("there is no finding `{name}`")).with_hint(near::or_all(
            name,
            &names,
            "the codes are",
        ))
    })
}

/// Findings that count as failures.
///
/// ```
/// use bspkit::finding::Severity;
/// use bspkit_ops::check::{self, Denied};
/// assert_eq!(Denied::by_name("warning")?, Denied::AtLeast(Severity::Warning));
/// assert!(Denied::by_name("warning")?.includes(check::code("limit")?));
/// assert!(!Denied::by_name("entity-nul")?.includes(check::code("limit")?));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// Those of this severity and worse.
    AtLeast(Severity),
    /// Those with this code.
    Code(&'static Code),
}

impl Denied {
    /// Reads the name of a severity or of a code.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown name.
    pub fn by_name(name: &str) -> Result<Self> {
        let severities = [Severity::Note, Severity::Warning, Severity::Error];
        if let Some(severity) = severities.into_iter().find(|it| it.to_string().eq_ignore_ascii_case(name)) {
            return Ok(Denied::AtLeast(severity));
        }
        match &near::near(name, severities.map(|severity| severity.to_string()))[..] {
            [severity, ..] => {
                let message = format!("there is no severity `{name}`");
                Err(Error::new(ErrorKind::Argument, message).with_hint(format!("did you mean {severity}?")))
            }
            [] => code(name).map(Denied::Code),
        }
    }

    /// Whether findings with this code are among them.
    pub fn includes(self, code: &Code) -> bool {
        match self {
            Denied::AtLeast(severity) => code.severity >= severity,
            Denied::Code(denied) => denied == code,
        }
    }
}

macro_rules! codes {
    ($($name:ident = $text:literal, $severity:ident, $meaning:literal;)*) => {
        $(#[doc = $meaning]
        #[allow(unreachable_pub, reason = "some are for other crates")]
        pub static $name: Code =
            Code::new($text, Severity::$severity, $meaning);)*

        /// Every code, by group.
        pub const CODES: &[&Code] = &[$(&$name,)*];
    };
}

codes! {
    FILE_CUT = "file-cut", Error, "the file ends before the bytes that its directory names: it was cut short";
    LUMP_OUTSIDE = "lump-outside", Error, "the directory names bytes that the file does not have";
    LUMP_IN_HEADER = "lump-in-header", Error, "a lump overlaps the header";
    LUMP_OVERLAP = "lump-overlap", Warning, "two lumps share bytes";
    LUMP_COMPRESSION = "lump-compression", Warning, "a lump and the directory disagree about whether it is compressed";
    LUMP_DECOMPRESS = "lump-decompress", Error, "a compressed lump does not decompress";
    LUMP_RAGGED = "lump-ragged", Error, "the size of a lump is not a multiple of its record size";
    COUNT_MISFIT = "count-misfit", Error, "a lump's record count disagrees with counts stored elsewhere in the map";
    LUMP_EMPTY = "lump-empty", Error, "a lump that engines require is empty";
    LUMP_UNKNOWN = "lump-unknown", Note, "the content of a lump is not known, so it was not checked";
    LUMP_MISFIT = "lump-misfit", Warning, "no known layout fits a lump, so it was not checked";
    LUMP_UNCHECKED = "lump-unchecked", Note, "not all of a lump was checked, as it would take too much memory or time";
    LUMP_VERSION = "lump-version", Error, "a lump has a version that engines stop at";
    BSPX_DIRECTORY = "bspx-directory", Warning, "the directory of the BSPX block cannot be read";
    GAME_DIRECTORY = "game-directory", Warning,
        "the directory within the game lump names other bytes than its own, or cannot be read";
    PAK_DIRECTORY = "pak-directory", Warning, "the directory of the embedded files cannot be read";

    INDEX_RANGE = "index-range", Error, "a number is not an index of a record of the lump that it refers to";
    INDEX_BEYOND = "index-beyond", Warning,
        "a number that no engine needs to be an index is beyond the records that it would be an index of";
    RUN_RANGE = "run-range", Error, "a first index and a count go beyond the lump that they refer to";
    CHILD_RANGE = "child-range", Error, "a child of a node, or the head of a tree, is neither a node nor a leaf";
    UNUSED_RECORDS = "unused-records", Note, "nothing refers to some records of a lump, directly or over others";
    EDGE_RANGE = "edge-range", Error, "a surfedge names an edge that does not exist";

    TREE_CYCLE = "tree-cycle", Error, "a node is reached twice from the head of its tree, or a clip node from itself";
    WORLD_HEAD = "world-head", Error, "the world's tree does not begin with node 0";
    NODE_FACES = "node-faces", Error, "two nodes have the same face";
    LEAF_COUNT = "leaf-count", Warning, "the leaf counts of the models do not add up to the number of leafs";
    LEAF_SOLID = "leaf-solid", Error, "leaf 0 is not the solid leaf, as the engine requires";
    LEAF_EMPTY = "leaf-empty", Error, "the map has no empty leaf, which the engine requires";

    VIS_HEADER = "vis-header", Error, "the visibility lump is shorter than its header says, or of another size";
    VIS_OFFSET = "vis-offset", Error, "the offset of a row of the visibility lump is out of range";
    VIS_ROW = "vis-row", Error, "a row of the visibility lump cannot be decompressed";
    VIS_CLUSTER = "vis-cluster", Error, "the cluster of a leaf or light is not in the visibility lump";

    LIGHT_RANGE = "light-range", Error, "the light of a face goes beyond the lighting lump";
    LIGHT_MOVED = "light-moved", Warning,
        "an edit left the light of a face where it is, but the face has another number of luxels, or begins elsewhere";
    LIGHT_PAGE = "light-page", Error, "a surface's lightmap is not in the lump";
    LIGHT_EXTENTS = "light-extents", Warning, "a lit face is larger than the engine accepts";
    LIGHT_KIND = "light-kind", Error, "a light of the world is of no known kind";
    LIGHT_GRID = "light-grid", Warning, "the size of the light grid does not fit the world, and the engine ignores it";

    ENTITY_MODEL = "entity-model", Error, "the model of an entity or advertisement is not in the map";
    ENTITY_NO_MODEL = "entity-no-model", Error,
        "an entity has no brush model, and engines refuse a map with one of its class without";
    ENTITY_NO_KEY = "entity-no-key", Error,
        "an entity has none of the keys of which its class needs one, and engines refuse the map";
    ENTITY_NO_EXTENT = "entity-no-extent", Warning, "an entity whose class needs a brush model has none";
    ENTITY_TARGET = "entity-target", Note, "no entity of the map has the name that a target or output gives";
    ENTITY_RECORD = "entity-record", Warning,
        "an entity names an area portal or an occluder that the map does not have";
    ENTITY_WORLD = "entity-world", Warning, "the first entity is not worldspawn";
    ENTITY_NO_WORLD = "entity-no-world", Error, "an edit takes away that the first entity is worldspawn";
    ENTITY_NO_SPAWN = "entity-no-spawn", Note, "no entity is a place where players start";
    ENTITY_WORLDS = "entity-worlds", Warning, "an entity after the first one is a worldspawn";
    ENTITY_TWO_CLASSES = "entity-two-classes", Warning,
        "an entity has several classes, of which engines take different ones";
    ENTITY_SYNTAX = "entity-syntax", Warning, "engines may read the entity text in another way than intended";
    ENTITY_STRUCTURE = "entity-structure", Error,
        "engines stop at the entity text: a brace or value is missing, or text is between entities";
    ENTITY_QUOTES = "entity-quotes", Warning, "a word has or touches a quote: quotes seem to be missing";
    ENTITY_BRACE = "entity-brace", Error, "engines read a key or value as a brace";
    ENTITY_TOKEN = "entity-token", Warning, "a key or value is longer than the engine reads";
    ENTITY_SIZE = "entity-size", Error, "an entity has more pairs or bytes than the game accepts";
    ENTITY_CLASS = "entity-class", Error, "an entity has no class, and the loader stops there";
    ENTITY_ENGINES = "entity-engines", Warning, "some engines of the dialect stop here or read it in another way";
    ENTITY_LETTERS = "entity-letters", Note, "engines drop letters of a key or value";
    ENTITY_NUL = "entity-nul", Warning, "no NUL ends the entity text";
    ENTITY_END = "entity-end", Warning,
        "no NUL ends the entity text, and its size is one after which engines have no zero in memory";
    ENTITY_TAIL = "entity-tail", Note, "there are bytes after the NUL that ends the entity text";
    ENTITY_UNREAD = "entity-unread", Warning, "the entity text is too large to be checked";

    LIMIT = "limit", Warning, "a number is above the engine's limit";

    TEXINFO_CHAIN = "texinfo-chain", Error, "the frames of an animated texture never return to the first";
    TEXTURE_NONE = "texture-none", Warning, "the map has no textures, but texinfos name some";
    TEXTURE_NAME = "texture-name", Warning, "the name of a texture is longer than engines accept, or has no end";
    TEXINFO_VECTOR = "texinfo-vector", Warning, "a texture vector is NaN or infinite";
    VERTEX_POINT = "vertex-point", Warning, "a coordinate of a vertex is NaN or infinite";
    TEXTURE_FRAMES = "texture-frames", Error, "an animated texture lacks a frame";
    TEXTURE_PIXELS = "texture-pixels", Warning, "a texture has no pixels, but the engine reads them from its map";
    TEXTURE_MIPS = "texture-mips", Error, "the four sizes of an embedded texture are not directly one after the other";
    TEXTURE_SIZE = "texture-size", Error, "an embedded texture's width or height is not a multiple of 16";
    TEXTURE_SKY = "texture-sky", Warning,
        "a sky of Quake is not 256 by 128 pixels, the only size that all engines draw";
    TEXTURE_PLACE = "texture-place", Error, "a texture is not within the lump";
    FACE_EDGES = "face-edges", Error, "a face has fewer than three edges";
    MODEL_FACES = "model-faces", Warning, "the faces of the models do not follow each other, or do not cover all faces";
    MODEL_BRUSHES = "model-brushes", Warning,
        "the brushes of the models do not follow each other, or do not cover all brushes";
    BRUSH_AXES = "brush-axes", Error,
        "a brush does not begin with its six axial sides, from which the engine makes its box";
    SURFACE_KIND = "surface-kind", Error, "a surface is of no known kind";
    PATCH_SIDE = "patch-side", Warning, "a side of a patch has more points than the engine accepts";
    PATCH_SIZE = "patch-size", Error, "the width and height of a patch do not fit its points";
    SURFACE_TRIANGLES = "surface-triangles", Warning, "the index count of a surface is not a multiple of 3";
    SURFACE_INDEX = "surface-index", Error, "a triangle has a corner that its surface does not have";
    PLANE_NORMAL = "plane-normal", Warning, "the normal of a plane is not of length 1, or its distance is no number";
    PLANE_KIND = "plane-kind", Warning, "the kind of a plane does not agree with its normal";
    PLANE_PAIR = "plane-pair", Warning, "two planes are not the opposite of each other";
    LUMP_PARALLEL = "lump-parallel", Warning, "a lump's record count differs from that of the lump that it belongs to";
    GROUP_ORDER = "group-order", Warning, "records that engines read as one group do not follow each other";
    TWIN_RECORD = "twin-record", Warning, "a face differs from the same one of the list for the other dynamic range";
    NORMAL_ORDER = "normal-order", Warning,
        "edges are not in the order of their faces, so that engines disagree on the normals of corners";
    DISP_VERTS = "disp-verts", Error,
        "the power of a displacement is wrong, or its vertexes or triangles go beyond their lump";
    DISP_FACE = "disp-face", Error,
        "a displacement and its face do not refer to each other, or the face has not four edges";
    STRING_PLACE = "string-place", Error, "a texture's name is outside of the strings, or has no end";
    PHYS_SOLIDS = "phys-solids", Error, "the number or size of a collision model's solids differs from what it states";
    PHYS_MOVED = "phys-moved", Warning,
        "an edit moved planes of a brush or points of a displacement, but its collision model is as it was";
    PHYS_END = "phys-end", Warning, "the entry that ends the collision models is missing";

    CLASS_UNKNOWN = "class-unknown", Warning, "the FGD file of the game does not have a class";
    KEY_UNKNOWN = "key-unknown", Warning, "a key that the FGD file does not have is close to one that it has";
}

// Collects findings: ten of a kind are kept, the others counted, so that a hostile map cannot fill the memory.

/// The place of a finding in a map.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At<'n> {
    pub(crate) lump: Option<&'n str>,
    pub(crate) record: Option<usize>,
    pub(crate) offset: Option<usize>,
    pub(crate) field: Option<&'n str>,
}

impl<'n> At<'n> {
    pub(crate) fn lump(lump: &'n str) -> Self {
        At { lump: Some(lump), ..At::default() }
    }

    pub(crate) fn record(self, record: usize) -> Self {
        At { record: Some(record), ..self }
    }

    pub(crate) fn offset(self, offset: usize) -> Self {
        At { offset: Some(offset), ..self }
    }

    pub(crate) fn field(self, field: &'n str) -> Self {
        At { field: Some(field), ..self }
    }
}

/// How many findings of a code are listed for a lump.
pub(crate) const LISTED: usize = 10;

/// How many are compared one by one with those of another map.
pub(crate) const COMPARED: usize = 1000;

/// At most this many findings with the same code in the same lump; one more has the number of the others.
///
/// ```
/// use bspkit::finding::Finding;
/// use bspkit_ops::check::{code, few};
/// let found = vec![Finding::new(code("limit")?, bspkit::Place::default(), "too many"); 5];
/// let few = few(found, 2);
/// assert_eq!((few.len(), few[2].count, &*few[2].message), (3, 3, "and 3 more"));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn few(findings: Vec<Finding>, most: usize) -> Vec<Finding> {
    let mut groups: IndexMap<(&str, Option<String>), Group> = IndexMap::new();
    for finding in findings {
        let (code, lump) = (finding.code, finding.place.lump.clone());
        let new = || Group { code, lump: lump.clone(), listed: Vec::new(), total: 0 };
        let group = groups.entry((code.name, lump.clone())).or_insert_with(new);
        group.total += finding.count;
        if group.listed.len() < most {
            group.total -= finding.count - 1;
            group.listed.push(finding);
        }
    }
    Sink { allowed: Vec::new(), most, groups: groups.into_values().collect() }.into_findings()
}

struct Group {
    code: &'static Code,
    lump: Option<String>,
    listed: Vec<Finding>,
    total: usize,
}

impl Group {
    /// Leaves what another group does not have: first by the place, then, as records and entities may have moved, by
    /// the words.
    fn subtract(&mut self, old: Group) {
        let more = (self.total - self.listed.len()).saturating_sub(old.total - old.listed.len());
        let place = |found: &Finding| {
            let offset = found.place.offset.filter(|_| found.place.record.is_none());
            (found.place.record, offset, found.place.field.clone())
        };
        let old = retain_new(&mut self.listed, old.listed, place);
        retain_new(&mut self.listed, old, |found| found.message.clone());
        self.total = self.listed.len() + more;
    }
}

/// Removes each new finding that equals an old one, and gives the old ones that equal none.
fn retain_new<K: Eq + Hash>(new: &mut Vec<Finding>, old: Vec<Finding>, key: impl Fn(&Finding) -> K) -> Vec<Finding> {
    let mut by_key: HashMap<K, Vec<Finding>> = HashMap::new();
    for found in old {
        by_key.entry(key(&found)).or_default().push(found);
    }
    new.retain(|found| by_key.get_mut(&key(found)).and_then(Vec::pop).is_none());
    by_key.into_values().flatten().collect()
}

/// The findings so far.
pub(crate) struct Sink {
    allowed: Vec<&'static Code>,
    /// How many of a code are listed for a lump.
    most: usize,
    groups: Vec<Group>,
}

impl Sink {
    pub(crate) fn new(allowed: &[&'static Code], most: usize) -> Self {
        Sink { allowed: allowed.to_vec(), most, groups: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether findings of this code are left out.
    pub(crate) fn leaves_out(&self, code: &'static Code) -> bool {
        self.allowed.contains(&code)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.groups.iter().any(|group| group.code.severity == Severity::Error)
    }

    /// The findings that an older sink does not have, at most this many of a kind.
    pub(crate) fn without(mut self, old: Sink, most: usize) -> Sink {
        let mut old: HashMap<_, Group> =
            old.groups.into_iter().map(|group| ((group.code.name, group.lump.clone()), group)).collect();
        self.groups.retain_mut(|group| {
            if let Some(old) = old.remove(&(group.code.name, group.lump.clone())) {
                group.subtract(old);
            }
            group.listed.truncate(most);
            group.total > 0
        });
        self
    }

    /// Adds a finding; the sentence is only made if it is listed.
    pub(crate) fn add(&mut self, code: &'static Code, at: At<'_>, message: impl FnOnce() -> String) {
        if let Some(group) = self.counted(code, at) {
            let mut place = Place::default();
            (place.lump, place.record) = (group.lump.clone(), at.record);
            (place.field, place.offset) = (at.field.map(str::to_owned), at.offset.map(wide));
            group.listed.push(Finding::new(code, place, message()));
        }
    }

    /// Counts a finding, and gives its group where the finding is to be listed.
    fn counted(&mut self, code: &'static Code, at: At<'_>) -> Option<&mut Group> {
        if self.allowed.contains(&code) {
            return None;
        }
        // Findings of a kind follow each other, so the group is most often the last one.
        let is_its = |group: &Group| std::ptr::eq(group.code, code) && group.lump.as_deref() == at.lump;
        let index = self.groups.iter().rposition(is_its).unwrap_or_else(|| {
            let lump = at.lump.map(str::to_owned);
            self.groups.push(Group { code, lump, listed: Vec::new(), total: 0 });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        group.total += 1;
        (group.listed.len() < self.most).then_some(group)
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let all = self.groups.into_iter().map(|Group { code, lump, mut listed, total }| {
            let more = total - listed.len();
            if more > 0 {
                let mut place = Place::default();
                place.lump = lump;
                let mut rest = Finding::new(code, place, format!("and {more} more"));
                rest.count = more;
                listed.push(rest);
            }
            listed
        });
        all.flatten().collect()
    }
}
