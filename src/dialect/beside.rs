//! Files that lie beside a map and go by what is in it: what engines read in place of lumps, what was made for the map
//! as it was, and what holds a sum of it. An edit of the map does not change them.

use super::Role;

/// A file beside a map, and what makes it stale.
///
/// ```
/// use bspkit::dialect::{QUAKE, QUAKE3};
/// let of_quake = QUAKE.beside.iter().copied().flatten();
/// assert!(of_quake.clone().any(|file| (file.folder, file.after) == ("maps/", ".lit")));
/// assert!(QUAKE3.beside.iter().copied().flatten().any(|file| file.after == ".aas"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Beside {
    /// Its folder, from the folder of the game: `maps/` is that of the map.
    pub folder: &'static str,
    /// What follows the name of the map. A `*` is the checksum of the entities ([`Sum::Crc16`](super::Sum::Crc16)) in
    /// four digits, `#` a number, from 0 on.
    pub after: &'static str,
    /// Edits that make it stale; the first one that fits is said.
    pub stale: &'static [Stale],
}

/// Edits that make a file stale, and the effect.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stale {
    /// The edits.
    pub by: By,
    /// What follows the name of the file in a sentence.
    pub says: &'static str,
}

/// A kind of edit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum By {
    /// Any edit.
    Any,
    /// One that changes the size of the map.
    Size,
    /// One of the content of lumps with these roles or names.
    Content(&'static [Role], &'static [&'static str]),
    /// One of the lump whose index is in the head of the file (a lump file of Source).
    LumpFile,
    /// One after which players need other files.
    Needs,
}

const fn file(folder: &'static str, after: &'static str, stale: &'static [Stale]) -> Beside {
    Beside { folder, after, stale }
}

const fn stale(by: By, says: &'static str) -> Stale {
    Stale { by, says }
}

/// The extension of the files of areas for the bots of Quake III, which hold the checksum of the whole map.
pub const AREAS: &str = ".aas";

const ENTITIES: By = By::Content(&[Role::Entities], &[]);

/// What players and bots walk on.
const GROUND: By = By::Content(
    &[
        Role::Entities,
        Role::Planes,
        Role::Nodes,
        Role::ClipNodes,
        Role::Leafs,
        Role::Models,
        Role::Brushes,
        Role::BrushSides,
    ],
    &["PHYSCOLLIDE", "PHYSDISP", "DISPINFO", "DISP_VERTS", "DISP_TRIS", "game:sprp"],
);

/// What visibility compilers number leafs by.
const TREE: By = By::Content(&[Role::Planes, Role::Nodes, Role::Leafs], &[]);

const WALKED: &str = "is of the map before this edit: bots may go wrong until it is made again";

/// `SV_SpawnServer` of DarkPlaces, FTE and Quakespasm (`external_ents`), Yamagi Quake II (`sv_entfile`), Q2PRO
/// (`map_override_path`).
const TEXT: Beside = file(
    "maps/",
    ".ent",
    &[stale(
        ENTITIES,
        "replaces the entities of the map in engines that read such files: this edit has no effect there while it \
         lies there",
    )],
);

/// Quakespasm, Yamagi Quake II and Q2PRO look for it first.
const TEXT_BY_SUM: Beside = file(
    "maps/",
    "@*.ent",
    &[stale(ENTITIES, "is found by the checksum of the entities as they were: engines do not read it with this edit")],
);

/// Input and output of compilers.
const PORTALS: Beside = file(
    "maps/",
    ".prt",
    &[stale(TREE, "has the portals of the map before this edit: do not calculate visibility by it")],
);

/// Quake. `.lit` and `.vis` are read by DarkPlaces, FTE, Quakespasm and most others, `.lux` by FTE, `.dlit` by
/// DarkPlaces. The leafs and the visibility in a `.vis` file are those of VisPatch, with transparent water.
pub(super) const QUAKE: &[Beside] = &[
    TEXT,
    TEXT_BY_SUM,
    file("maps/", ".lit", &[stale(LIGHT, REPLACES_LIGHT), stale(LIT, OLD_FACES)]),
    file("maps/", ".lux", &[stale(LIGHT, OLD_DIRECTIONS), stale(LIT, OLD_FACES)]),
    file("maps/", ".dlit", &[stale(LIGHT, OLD_DIRECTIONS), stale(LIT, OLD_FACES)]),
    file(
        "maps/",
        ".vis",
        &[
            stale(
                By::Content(&[Role::Visibility, Role::Leafs], &[]),
                "replaces visibility and leafs of the map in engines that read it: this edit has no effect there while \
                 it lies there",
            ),
            stale(
                By::Content(&[Role::LeafFaces, Role::Nodes, Role::Models], &[]),
                "has the leafs of the map before this edit, which engines read in place of its own: make it again",
            ),
        ],
    ),
    file("maps/", ".way", &[stale(GROUND, WALKED)]),
    file("bots/navigation/", ".nav", &[stale(GROUND, WALKED)]),
    PORTALS,
];

const LIGHT: By = By::Content(
    &[Role::Lighting],
    &["bspx:RGBLIGHTING", "bspx:LIGHTING_E5BGR9", "bspx:LIGHTINGDIR", "bspx:LMSHIFT", "bspx:LMOFFSET", "bspx:LMSTYLE"],
);
const LIT: By = By::Content(&[Role::Faces, Role::TexInfo, Role::Vertexes, Role::Edges, Role::SurfEdges], &[]);
const REPLACES_LIGHT: &str =
    "replaces the light of the map in engines that read it: this edit has no effect there while it lies there";
const OLD_DIRECTIONS: &str = "has the directions of the light before this edit: make it again";
const OLD_FACES: &str = "has light for the faces before this edit: make it again if their light has moved";

/// GoldSrc: Xash3D reads the `.ent` file unless it is older than the map, DarkPlaces and FTE always. The engine makes
/// its graph of nodes again if the map is newer (`CGraph::CheckNODFile` of the game's code). The bots of Condition Zero
/// compare the size of the map (`LoadNavigationMap`).
pub(super) const GOLDSRC: &[Beside] = &[
    file(
        "maps/",
        ".ent",
        &[
            stale(
                ENTITIES,
                "replaces the entities of the map in engines that read such files (Xash3D only until the map is \
                 newer): this edit has no effect there while it lies there",
            ),
            stale(By::Any, "is older than the map then: Xash3D reads the entities of the map and not this file"),
        ],
    ),
    file("maps/", ".nav", &[stale(By::Size, OTHER_SIZE), stale(GROUND, WALKED)]),
    file("maps/graphs/", ".nod", &[stale(By::Any, OLDER)]),
    file("maps/graphs/", ".nrp", &[stale(By::Any, OLDER)]),
    RESOURCES,
    PORTALS,
];

const OTHER_SIZE: &str = "holds the size of the map before this edit: games say that it is out of date";
const OLDER: &str = "is older than the map then: the game makes it again when it loads the map";

const RESOURCES: Beside =
    file("maps/", ".res", &[stale(By::Needs, "does not list the files that players need after this edit")]);

/// Quake II and its rerelease.
pub(super) const QUAKE2: &[Beside] =
    &[TEXT, TEXT_BY_SUM, file("bots/navigation/", ".nav", &[stale(GROUND, WALKED)]), PORTALS];

/// Quake III (`.aas`: `AAS_LoadAASFile` of be_aas_file.c). q3map2 calculates light by the surfaces of the `.srf` file.
pub(super) const QUAKE3: &[Beside] = &[
    file(
        "maps/",
        AREAS,
        &[stale(By::Any, "holds a checksum of the whole map, so bots will refuse it: build it again")],
    ),
    TEXT,
    PORTALS,
    file(
        "maps/",
        ".srf",
        &[stale(
            By::Content(&[Role::Faces], &[]),
            "numbers the surfaces of the map before this edit: do not calculate light by it",
        )],
    ),
];

/// The games of Raven (`CNavigator::Load`).
pub(super) const RAVEN: &[Beside] = &[
    file(
        "maps/",
        ".nav",
        &[stale(By::Any, "holds a checksum of the whole map: the game does not take it and makes its own")],
    ),
    PORTALS,
];

/// Source: lump files (`CMapLoadHelper::Init`, in engines from Episode One to Left 4 Dead 2), areas for bots
/// (`CNavMesh::Load`), nodes (`CAI_NetworkManager::IsAIFileCurrent`), the list for players (`CDownloadListGenerator`),
/// and the copy that clients load by `sv_downloadurl`.
pub(super) const SOURCE: &[Beside] = &[
    file(
        "maps/",
        "_l_#.lmp",
        &[stale(By::LumpFile, "in games that read lump files: this edit has no effect there while it lies there")],
    ),
    file("maps/", ".nav", &[stale(By::Size, OTHER_SIZE), stale(GROUND, WALKED)]),
    file("maps/graphs/", ".ain", &[stale(By::Any, OLDER)]),
    file(
        "maps/",
        ".bsp.bz2",
        &[stale(By::Any, "is the map before this edit, which servers give to players: compress the new map")],
    ),
    RESOURCES,
    PORTALS,
];
