//! The small tables of a dialect: its lumps with names and roles, keys with the type of their records, fields with
//! another name, names of flags by game, and the form of visibility.

use std::fmt;
use std::marker::PhantomData;

use super::{Dialect, Form, Row};
use crate::error::{Error, ErrorKind, Result};
use crate::near;
use crate::record::{FlagNames, Record};

// The table of lumps that a dialect has: their names and roles.

/// One row of a dialect's table of lumps.
///
/// ```
/// use bspkit::dialect::{QUAKE2, Role};
/// let entities = &QUAKE2.lumps[0];
/// assert_eq!((entities.name, entities.role), ("ENTITIES", Some(Role::Entities)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lump {
    /// The field's name for it, without `LUMP_`.
    pub name: &'static str,
    /// Its role, if other dialects have such a lump too.
    pub role: Option<Role>,
}

pub(super) const fn lump(name: &'static str, role: Role) -> Lump {
    Lump { name, role: Some(role) }
}

pub(super) const fn only(name: &'static str) -> Lump {
    Lump { name, role: None }
}

macro_rules! roles {
    ($($(#[$meta:meta])* $role:ident = $name:literal,)*) => {
        /// The role of a lump, across dialects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Role {
            $($(#[$meta])* $role,)*
        }

        impl Role {
            /// Every role.
            pub const ALL: &[Role] = &[$(Role::$role,)*];

            /// Its name: lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Role::$role => $name,)* }
            }
        }
    };
}

roles! {
    /// The entity text.
    Entities = "entities",
    /// Planes of nodes, faces and brushes.
    Planes = "planes",
    /// Textures: pixels, or the names of shaders and materials with their flags.
    Textures = "textures",
    /// Corners of faces.
    Vertexes = "vertexes",
    /// What is visible from where.
    Visibility = "visibility",
    /// Inner nodes of the tree.
    Nodes = "nodes",
    /// How textures are mapped to faces.
    TexInfo = "texinfo",
    /// Faces, which Quake III calls surfaces.
    Faces = "faces",
    /// Baked light.
    Lighting = "lighting",
    /// Nodes of the collision hulls.
    ClipNodes = "clipnodes",
    /// Leafs of the tree.
    Leafs = "leafs",
    /// Which faces a leaf sees.
    LeafFaces = "leaffaces",
    /// Which brushes a leaf holds.
    LeafBrushes = "leafbrushes",
    /// Pairs of vertexes.
    Edges = "edges",
    /// Edges with their direction, by face.
    SurfEdges = "surfedges",
    /// The world and the brush models.
    Models = "models",
    /// Solid volumes.
    Brushes = "brushes",
    /// Planes of brushes.
    BrushSides = "brushsides",
    /// Areas that portals divide.
    Areas = "areas",
    /// Portals between areas.
    AreaPortals = "areaportals",
    /// Triangles of faces.
    DrawIndexes = "drawindexes",
    /// Volumes of fog.
    Fogs = "fogs",
    /// Light for moving objects.
    LightGrid = "lightgrid",
    /// Lumps of the game code.
    GameLump = "game",
    /// Embedded files.
    Pak = "pak",
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

// Keys: names of lumps that carry the type of their records.

/// A lump, or a list in it, with the type of its records: the argument of [`crate::Bsp::table`] and
/// [`crate::Draft::table`]. The modules of the dialects have one constant per lump.
///
/// ```
/// use bspkit::dialect::quake2;
/// assert_eq!(quake2::FACES.lump(), "FACES");
/// ```
#[derive(Debug)]
pub struct Key<R> {
    pub(super) lump: &'static str,
    list: &'static str,
    record: PhantomData<fn() -> R>,
}

impl<R> Clone for Key<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Key<R> {}

impl<R: Record> Key<R> {
    pub(crate) const fn new(lump: &'static str) -> Self {
        Key::list(lump, "")
    }

    pub(super) const fn list(lump: &'static str, list: &'static str) -> Self {
        Key { lump, list, record: PhantomData }
    }

    /// A row for the lump.
    pub(super) const fn row(self) -> Row {
        Row::new(self.lump, Form::Array(R::INFO))
    }

    /// The lump's name.
    pub const fn lump(&self) -> &'static str {
        self.lump
    }

    /// The list's name; empty where the lump is one array.
    pub fn list_name(&self) -> &'static str {
        self.list
    }
}

/// Declares keys: `NAME: Record = "its doc",` for the lump of that name.
macro_rules! keys {
    ($($name:ident: $record:ty = $doc:literal,)*) => {
        $(
            #[doc = $doc]
            pub const $name: $crate::dialect::Key<$record> = $crate::dialect::Key::new(stringify!($name));
        )*
    };
}
pub(crate) use keys;

// Fields that records of most families have in one form or another: the name of a texture.

/// A field that records answer to, and the path that leads to what it means. The path ends at a name, or at the index
/// of a record that has a name.
///
/// ```
/// use bspkit::dialect::Alias;
/// let paths: Vec<_> = Alias::of("TEXINFO", "texture").map(|alias| alias.path).collect();
/// assert_eq!(paths, ["texdata.name"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// The lump of the records.
    pub lump: &'static str,
    /// The field that they answer to, unless they have a field of this name.
    pub field: &'static str,
    /// The path to what is meant. Of several, the first one counts whose first field the records have.
    pub path: &'static str,
}

const fn texture(lump: &'static str, path: &'static str) -> Alias {
    Alias { lump, field: "texture", path }
}

/// What has a texture: in Quake and its relatives by way of texinfo, in Source by way of texinfo and texdata, in Quake
/// III by its shader.
const ALL: &[Alias] = &[
    texture("TEXINFO", "texdata.name"),
    texture("FACES", "texinfo.texture"),
    texture("FACES_HDR", "texinfo.texture"),
    texture("ORIGINALFACES", "texinfo.texture"),
    texture("OVERLAYS", "texinfo.texture"),
    texture("WATEROVERLAYS", "texinfo.texture"),
    texture("BRUSHSIDES", "texinfo.texture"),
    texture("BRUSHSIDES", "shader"),
    texture("BRUSHES", "shader"),
    texture("SURFACES", "shader"),
];

impl Alias {
    /// The meanings of a field of a lump's records.
    pub fn of<'n>(lump: &'n str, field: &'n str) -> impl Iterator<Item = &'static Alias> + use<'n> {
        ALL.iter().filter(move |alias| alias.lump == lump && alias.field.eq_ignore_ascii_case(field))
    }
}

// Games of a dialect that differ only in the names of flags.

/// A game with its names for flags.
///
/// ```
/// use bspkit::dialect::QUAKE2;
/// assert_eq!(QUAKE2.game(38).name, "quake2");
/// assert_eq!(QUAKE2.game_by_name("kingpin")?.title, "Kingpin");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Game {
    /// The short name: lower case, no spaces.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The map versions of this game; if empty, all versions of the dialect.
    pub versions: &'static [i32],
    /// Its names for the bits of flags.
    pub flags: FlagNames,
}

/// Used if a dialect has no games.
const NAMELESS: Game = Game { name: "", title: "", versions: &[], flags: &[] };

impl Dialect {
    /// The game for a map of this version if the user names none.
    pub fn game(&self, version: i32) -> &'static Game {
        let is_its = |game: &&Game| game.versions.is_empty() || game.versions.contains(&version);
        self.games.iter().find(is_its).or(self.games.first()).unwrap_or(&NAMELESS)
    }

    /// The game of this name.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] with the names there are.
    pub fn game_by_name(&self, name: &str) -> Result<&'static Game> {
        self.games.iter().find(|game| game.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<_> = self.games.iter().map(|game| game.name).collect();
            Error::new(ErrorKind::Argument, format!("{} has no game {name}", self.title))
                .with_hint(near::or_all(name, &names, "it has"))
        })
    }
}

// How the visibility lump of a dialect is laid out.

/// How a dialect stores visibility.
///
/// ```
/// use bspkit::dialect::{QUAKE3, SOURCE21, VisModel};
/// assert_eq!(QUAKE3.visibility, VisModel::Matrix);
/// assert_eq!(SOURCE21.visibility, VisModel::Clusters);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VisModel {
    /// A compressed row for each leaf; the leaf has the offset of its row (`dleaf_t::visofs`).
    Leafs(LeafRows),
    /// A count of clusters, then for each the offsets of its two compressed rows (`dvis_t`).
    Clusters,
    /// A count of clusters, the size of a row in bytes, then the rows, not compressed.
    Matrix,
}

/// Where other lumps have the numbers that rows by leaf need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeafRows {
    /// The bytes of a leaf.
    pub leaf_size: usize,
    /// The position of the row's offset in a leaf, 32 bits (`visofs`).
    pub offset_at: usize,
    /// The position in the first model of the number of leafs that have bits, 32 bits (`visleafs`).
    pub count_at: usize,
}

impl LeafRows {
    /// `dleaf_t` and `dmodel_t` of bspfile.h of the Half-Life SDK's compilers, as of Quake's.
    pub(super) const GOLDSRC: Self = LeafRows { leaf_size: 28, offset_at: 4, count_at: 52 };
}
