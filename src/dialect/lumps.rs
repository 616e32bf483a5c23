//! The table of lumps that a dialect has: their names and roles.

use std::fmt;

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
